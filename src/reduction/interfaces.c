/// See interfaces.h.
///
/// A rigid set follows: u = u_i + theta_i x (X - X_i), and rotations are theta_i. An average does not: with weights w of sum 1 and mean
/// X_c of the set's nodes,
///
///     theta_i = J^-1 sum w (X - X_c) x u    J = sum w (|X - X_c|^2 I - (X - X_c)(X - X_c)^T)
///     u_i = sum w u + theta_i x (X_i - X_c)
///
/// are constraints C u = (u_i, theta_i) on the inside of the mesh. Both give rigid motions as they are.
#include "reduction/interfaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reduction/dense.h"

// The least of the moments of a set's nodes, of the largest, below which they are on a line.
#define COLLINEAR 1e-8

enum { MOST_NAME = 256 }; // characters with the zero, as files of bodies have them

/// Nodes of one interface, by their place in the mesh, and what their weights make of them.
typedef struct set {
  const as_interface *given;
  int *node;
  double *weight;
  double centre[3];
  double J[9];
  bool collinear;
} set;

static as_status refuse(as_error *error, const as_interface *i, const char *what) {
  asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, i->name, "The interface \"%.60s\" %s.", i->name,
           what);
  return AS_ERR_ARGUMENT;
}

static as_status measure_set(const asi_mesh_index *x, set *s, as_error *error) {
  const int n = s->given->node_count;
  double total = 0.0;
  for (int k = 0; k < n; ++k) {
    const double w = s->given->weights ? s->given->weights[k] : 1.0;
    if (!(w >= 0.0) || !isfinite(w))
      return refuse(error, s->given, "has a weight that is negative");
    s->weight[k] = w;
    total += w;
  }
  if (!(total > 0.0)) return refuse(error, s->given, "has no weights above zero");
  for (int k = 0; k < n; ++k) {
    s->weight[k] /= total;
    for (int c = 0; c < 3; ++c) s->centre[c] += s->weight[k] * x->position[s->node[k]][c];
  }
  for (int k = 0; k < n; ++k) {
    double r[3], square = 0.0;
    for (int c = 0; c < 3; ++c) {
      r[c] = x->position[s->node[k]][c] - s->centre[c];
      square += r[c] * r[c];
    }
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        s->J[3 * a + b] += s->weight[k] * ((a == b ? square : 0.0) - r[a] * r[b]);
  }
  double copy[9], lambda[3];
  memcpy(copy, s->J, sizeof copy);
  if (!asi_dense_eigen(3, copy, lambda)) return asi_fail_memory(error);
  s->collinear = !(lambda[0] > COLLINEAR * lambda[2]);
  return AS_OK;
}

static void set_free(set *s) {
  free(s->node);
  free(s->weight);
}

static as_status find_set(const asi_mesh_index *x, const as_interface *given, set *s,
                          as_error *error) {
  *s = (set){.given = given};
  if (given->name == NULL || given->name[0] == '\0')
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "An interface has no name.");
  if (strpbrk(given->name, "./") != NULL)
    return refuse(error, given, "has a '.' or a '/' in its name, which models do not take");
  if (strlen(given->name) >= MOST_NAME) return refuse(error, given, "has too long a name");
  if (given->node_count < 1 || given->nodes == NULL) return refuse(error, given, "has no nodes");
  if (given->attachment == AS_ATTACH_NODE && given->node_count != 1)
    return refuse(error, given, "is to be a node and has several");
  s->node = asi_calloc((size_t)given->node_count, sizeof *s->node);
  s->weight = asi_calloc((size_t)given->node_count, sizeof *s->weight);
  if (s->node == NULL || s->weight == NULL) return asi_fail_memory(error);
  for (int k = 0; k < given->node_count; ++k) {
    s->node[k] = asi_mesh_find(x, given->nodes[k]);
    if (s->node[k] < 0)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, given->name,
                      "The interface \"%.60s\" has node %ld, which the mesh has not.", given->name,
                      given->nodes[k]);
  }
  return measure_set(x, s, error);
}

/// How many of the directions from ... to - 1 of a node are unknowns.
static int count_unknowns(const asi_mesh_index *x, int node, int from, int to) {
  int count = 0;
  for (int d = from; d < to; ++d) count += x->mesh->unknowns[node][d] >= 0;
  return count;
}

static as_status take_node(asi_interfaces *t, const asi_mesh_index *x, const set *s, int i,
                           as_error *error) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the set was found
  const int node = s->node[0];
  const int moves = count_unknowns(x, node, 0, 3), turns = count_unknowns(x, node, 3, 6);
  if (moves != 3 || (turns != 0 && turns != 3))
    return refuse(error, s->given,
                  "is a node that has only some of its displacements or rotations as unknowns");
  t->rotations[i] = turns == 3;
  if (i == 0 && turns == 0)
    return refuse(
        error, s->given,
        "is the frame of the body and needs rotations, which its node has not: tie a set of "
        "nodes to it, rigid or averaging");
  return AS_OK;
}

static as_status take_rigid(asi_interfaces *t, const asi_mesh_index *x, const set *s, int i,
                            as_error *error) {
  bool turns = false;
  for (int k = 0; k < s->given->node_count; ++k)
    turns = turns || count_unknowns(x, s->node[k], 3, 6) == 3;
  t->rotations[i] = true;
  if (s->collinear && !turns)
    return refuse(
        error, s->given,
        "has nodes on one line and without rotations, which do not know how it turns: give it "
        "three or more that are not");
  return AS_OK;
}

/// Inverse of a symmetric 3 x 3 matrix.
static void invert(const double a[9], double out[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int r = (i + 1) % 3, s = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      out[3 * i + j] = a[3 * r + c] * a[3 * s + d] - a[3 * r + d] * a[3 * s + c];
    }
  const double det = a[0] * out[0] + a[1] * out[1] + a[2] * out[2];
  for (int i = 0; i < 9; ++i) out[i] /= det;
}

/// Rows of C by the displacement of one node along d: (u_i, theta_i).
static void average_row(const set *s, const double inverse[9], const double *at,
                        const double *position, double w, int d, double out[6]) {
  double r[3], turn[3] = {0}, arm[3];
  for (int c = 0; c < 3; ++c) {
    r[c] = at[c] - s->centre[c];
    arm[c] = position[c] - s->centre[c];
  }
  turn[(d + 1) % 3] = r[(d + 2) % 3]; // r x e_d
  turn[(d + 2) % 3] = -r[(d + 1) % 3];
  double *theta = out + 3;
  for (int a = 0; a < 3; ++a) {
    theta[a] = 0.0;
    for (int b = 0; b < 3; ++b) theta[a] += w * inverse[3 * a + b] * turn[b];
  }
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    out[a] = (a == d ? w : 0.0) + theta[b] * arm[c] - theta[c] * arm[b];
  }
}

static as_status take_average(asi_interfaces *t, const asi_mesh_index *x, const set *s, int i,
                              as_error *error) {
  t->rotations[i] = true;
  if (s->collinear)
    return refuse(
        error, s->given,
        "has nodes on one line, whose mean rotation is not known: give it three or more that "
        "are not");
  for (int k = 0; k < s->given->node_count; ++k)
    if (count_unknowns(x, s->node[k], 0, 3) != 3)
      return refuse(error, s->given, "has a node without its three displacements");
  ++t->averages;
  return AS_OK;
}

static as_status own_unknowns(asi_interfaces *t, const asi_mesh_index *x, const set *s, int i,
                              as_error *error) {
  for (int k = 0; k < s->given->node_count; ++k)
    for (int d = 0; d < 6; ++d) {
      const int u = x->mesh->unknowns[s->node[k]][d];
      if (u < 0) continue;
      if (t->owner[u] >= 0)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, s->given->name,
                        "Node %ld belongs to the interfaces \"%.60s\" and \"%.60s\".",
                        s->given->nodes[k], t->given[t->owner[u]].name, s->given->name);
      t->owner[u] = i;
    }
  return AS_OK;
}

/// Three nodes of a set far from one line: the two farthest from each other, about, and the one farthest from their line.
static void choose_springs(asi_interfaces *t, const asi_mesh_index *x, const set *s) {
  int chosen[3] = {0};
  for (int pass = 0; pass < 3; ++pass) {
    const double *a = x->position[s->node[chosen[0]]], *b = x->position[s->node[chosen[1]]];
    double most = -1.0;
    for (int k = 0; k < s->given->node_count; ++k) {
      const double *p = x->position[s->node[k]];
      double e[3], r[3], size = 0.0;
      for (int c = 0; c < 3; ++c) {
        r[c] = p[c] - (pass == 0 ? s->centre[c] : a[c]);
        e[c] = b[c] - a[c];
      }
      for (int c = 0; c < 3; ++c) {
        const double cross = r[(c + 1) % 3] * e[(c + 2) % 3] - r[(c + 2) % 3] * e[(c + 1) % 3];
        size += pass < 2 ? r[c] * r[c] : cross * cross;
      }
      if (size > most) {
        most = size;
        chosen[pass] = k;
      }
    }
  }
  t->springs = 9;
  for (int k = 0; k < 3; ++k)
    for (int d = 0; d < 3; ++d)
      t->spring[3 * k + d] = t->inside[x->mesh->unknowns[s->node[chosen[k]]][d]];
}

/// Rows of C of one average; they follow those before.
static void fill_average(asi_interfaces *t, const asi_mesh_index *x, const set *s, int i,
                         int which) {
  double inverse[9], row[6];
  invert(s->J, inverse);
  for (int k = 0; k < s->given->node_count; ++k)
    for (int d = 0; d < 3; ++d) {
      const size_t u = (size_t)t->inside[x->mesh->unknowns[s->node[k]][d]];
      average_row(s, inverse, x->position[s->node[k]], t->position[i], s->weight[k], d, row);
      for (int c = 0; c < 6; ++c) t->C[(size_t)(6 * which + c) * (size_t)t->n_inside + u] += row[c];
    }
  if (which == 0) choose_springs(t, x, s);
}

static void place(asi_interfaces *t, const asi_mesh_index *x, const set *s, int i, double length) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the set was found
  const double *at = s->given->attachment == AS_ATTACH_NODE ? x->position[s->node[0]] : s->centre;
  for (int c = 0; c < 3; ++c)
    t->position[i][c] = s->given->position && s->given->attachment != AS_ATTACH_NODE
                            ? length * s->given->position[c]
                            : at[c];
}

static as_status take_sets(asi_interfaces *t, const asi_mesh_index *x, const as_reduction_def *def,
                           set *sets, as_error *error) {
  as_status status = AS_OK;
  for (int i = 0; i < t->count && status == AS_OK; ++i) {
    const as_interface *given = &t->given[i];
    status = find_set(x, given, &sets[i], error);
    for (int k = 0; k < i && status == AS_OK; ++k)
      if (strcmp(given->name, t->given[k].name) == 0)
        status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, given->name,
                          "Two interfaces are called \"%.60s\".", given->name);
    if (status) return status;
    place(t, x, &sets[i], i, def->length);
    if (given->attachment == AS_ATTACH_AVERAGE)
      status = take_average(t, x, &sets[i], i, error);
    else
      status = given->attachment == AS_ATTACH_RIGID ? take_rigid(t, x, &sets[i], i, error)
                                                    : take_node(t, x, &sets[i], i, error);
    if (status == AS_OK) status = own_unknowns(t, x, &sets[i], i, error);
    t->column[i + 1] = t->column[i] + (t->rotations[i] ? 6 : 3);
  }
  return status;
}

/// Numbers what is inside; what belongs to averages is.
static as_status fill_inside(asi_interfaces *t, const asi_mesh_index *x, const set *sets,
                             as_error *error) {
  for (int u = 0; u < x->n; ++u) {
    if (t->owner[u] >= 0 && t->given[t->owner[u]].attachment == AS_ATTACH_AVERAGE) t->owner[u] = -1;
    t->inside[u] = t->owner[u] < 0 ? t->n_inside++ : -1;
  }
  t->C = asi_calloc((size_t)t->n_inside * 6 * (size_t)t->averages, sizeof *t->C);
  if (t->C == NULL) return asi_fail_memory(error);
  for (int i = 0, which = 0; i < t->count; ++i)
    if (t->given[i].attachment == AS_ATTACH_AVERAGE) fill_average(t, x, &sets[i], i, which++);
  return AS_OK;
}

as_status asi_interfaces_init(asi_interfaces *t, const asi_mesh_index *x,
                              const as_reduction_def *def, as_error *error) {
  *t = (asi_interfaces){.given = def->interfaces, .count = def->interface_count};
  if (t->count < 1 || t->given == NULL)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, NULL,
        "A flexible body needs an interface: the node, or the nodes, where it is held.");
  const size_t count = (size_t)t->count;
  set *sets = asi_calloc(count, sizeof *sets);
  t->position = asi_calloc(count, sizeof *t->position);
  t->rotations = asi_calloc(count, sizeof *t->rotations);
  t->column = asi_calloc(count + 1, sizeof *t->column);
  t->owner = asi_calloc((size_t)x->n, sizeof *t->owner);
  t->inside = asi_calloc((size_t)x->n, sizeof *t->inside);
  as_status status = sets && t->position && t->rotations && t->column && t->owner && t->inside
                         ? AS_OK
                         : asi_fail_memory(error);
  for (int u = 0; u < x->n && status == AS_OK; ++u) t->owner[u] = -1;
  if (status == AS_OK) status = take_sets(t, x, def, sets, error);
  if (status == AS_OK) status = fill_inside(t, x, sets, error);
  for (size_t i = 0; i < count && sets; ++i) set_free(&sets[i]);
  free(sets);
  return status;
}

void asi_interfaces_free(asi_interfaces *t) {
  free(t->position);
  free(t->rotations);
  free(t->column);
  free(t->owner);
  free(t->inside);
  free(t->C);
  *t = (asi_interfaces){0};
}

double asi_interface_follow(const asi_interfaces *t, const asi_mesh_index *x, int unknown, int d) {
  const int own = x->direction[unknown], i = t->owner[unknown];
  if (own == d) return 1.0;
  if (d < 3 || own >= 3) return 0.0;
  const double *at = x->position[x->node[unknown]], *from = t->position[i];
  const int axis = d - 3, next = (own + 1) % 3, last = (own + 2) % 3;
  if (axis == next) return at[last] - from[last];
  return axis == last ? -(at[next] - from[next]) : 0.0;
}
