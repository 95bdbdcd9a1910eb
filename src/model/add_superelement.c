/// Adds superelements and their nodes to a builder.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "linalg/sparse.h"
#include "model/builder.h"

as_superelement_def as_default_superelement_def(void) {
  return (as_superelement_def){.cookie = ASI_COOKIE(as_superelement_def),
                               .quaternion = {1.0, 0.0, 0.0, 0.0}};
}

/// An entry, 0 where none is stored.
static double entry_of(const as_sparse *m, int row, int col) {
  const as_matrix view = asi_sparse_view(m);
  const int position = as_matrix_position(&view, row, col);
  return position >= 0 ? m->value[position] : 0.0;
}

static as_status check_size(const as_sparse *m, int rows, int cols, const char *what,
                            const char *name, as_error *error) {
  if (m == NULL || (m->rows == rows && m->cols == cols)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The %s of superelement \"%s\" is %d x %d instead of %d x %d.", what, name,
                  m->rows, m->cols, rows, cols);
}

static as_status check_symmetry(const as_sparse *m, const char *what, const char *name,
                                as_error *error) {
  double largest = 0.0;
  for (int k = 0; m && k < asi_sparse_nnz(m); ++k) largest = fmax(largest, fabs(m->value[k]));
  for (int j = 0; m && j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k) {
      const double mirrored = entry_of(m, j, m->row[k]);
      if (!(fabs(m->value[k] - mirrored) <= 1e-9 * largest))
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The %s of superelement \"%s\" is not symmetric: (%d, %d) is %.9g, (%d, "
                        "%d) is %.9g.",
                        what, name, m->row[k], j, m->value[k], j, m->row[k], mirrored);
    }
  return AS_OK;
}

/// What every positive semidefinite matrix fulfils: m_ii >= 0 and m_ij^2 <= m_ii m_jj.
static as_status check_mass(const as_sparse *m, const char *name, as_error *error) {
  double *diagonal = asi_calloc((size_t)m->rows, sizeof(double));
  if (diagonal == NULL) return asi_fail_memory(error);
  as_status status = AS_OK;
  for (int i = 0; i < m->rows && status == AS_OK; ++i) {
    diagonal[i] = entry_of(m, i, i);
    if (!(diagonal[i] >= 0.0))
      status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The mass of superelement \"%s\" has the negative entry %g at (%d, %d).",
                        name, diagonal[i], i, i);
  }
  for (int j = 0; j < m->cols && status == AS_OK; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1] && status == AS_OK; ++k) {
      const int i = m->row[k];
      if (!(fabs(m->value[k]) <= (1.0 + 1e-9) * sqrt(diagonal[i]) * sqrt(diagonal[j])))
        status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                          "The mass of superelement \"%s\" is not positive semidefinite: (%d, %d) "
                          "is %g between the diagonal entries %g and %g.",
                          name, i, j, m->value[k], diagonal[i], diagonal[j]);
    }
  free(diagonal);
  return status;
}

static as_status check_numbers(const double *x, int n, const char *what, const char *name,
                               as_error *error) {
  for (int i = 0; x && i < n; ++i)
    if (!isfinite(x[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "Component %d of the %s of superelement \"%s\" is %g.", i, what, name, x[i]);
  return AS_OK;
}

/// Each coordinate may belong to one node, once.
static as_status check_nodes(const as_superelement_def *def, const char *name, as_error *error) {
  const int n = def->mass->rows;
  as_status status = AS_OK;
  if (def->n_nodes < 0 || (def->n_nodes > 0 && def->node == NULL))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The superelement \"%s\" has %d nodes, but no list of them.", name,
                    def->n_nodes);
  int *owner = asi_calloc((size_t)n, sizeof(int)); // 1 + number of the node
  if (owner == NULL) return asi_fail_memory(error);
  for (int i = 0; i < def->n_nodes && status == AS_OK; ++i) {
    const as_superelement_node *node = &def->node[i];
    for (int k = 0; k < 6 && status == AS_OK; ++k) {
      const int c = node->coordinate[k];
      if (k < 3 && !isfinite(node->position[k]))
        status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                          "Node %d of superelement \"%s\" has the position %g.", i, name,
                          node->position[k]);
      else if (c < -1 || c >= n)
        status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                          "Node %d of superelement \"%s\" has coordinate %d, which is none of 0 to "
                          "%d and not -1.",
                          i, name, c, n - 1);
      else if (c >= 0 && owner[c] > 0)
        status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                          "Coordinate %d of superelement \"%s\" belongs to node %d and to node %d.",
                          c, name, owner[c] - 1, i);
      else if (c >= 0)
        owner[c] = i + 1;
    }
  }
  free(owner);
  return status;
}

static as_status check_frame(const as_superelement_def *def, const char *name, double Q[9],
                             as_error *error) {
  as_status status = check_numbers(def->position, 3, "position", name, error);
  if (status == AS_OK) status = check_numbers(def->quaternion, 4, "quaternion", name, error);
  if (status) return status;
  double q[4];
  memcpy(q, def->quaternion, sizeof q);
  const double size = sqrt(asi_dot(q, q) + q[3] * q[3]);
  if (!(fabs(size - 1.0) <= 1e-6))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The quaternion of superelement \"%s\" has the length %.9g instead of 1.", name,
                    size);
  asi_so3_normalize(q);
  asi_so3_matrix(q, Q);
  return AS_OK;
}

static as_status check_superelement(const as_superelement_def *def, const char *name, double Q[9],
                                    as_error *error) {
  if (def->mass == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The superelement \"%s\" has no mass matrix.", name);
  const int n = def->mass->rows;
  const struct {
    const as_sparse *m;
    const char *what;
  } square[3] = {{def->mass, "mass"}, {def->stiffness, "stiffness"}, {def->damping, "damping"}};
  as_status status = AS_OK;
  for (int i = 0; i < 3 && status == AS_OK; ++i) {
    status = check_size(square[i].m, n, n, square[i].what, name, error);
    if (status == AS_OK) status = check_symmetry(square[i].m, square[i].what, name, error);
  }
  if (status == AS_OK) status = check_size(def->load, n, 1, "load", name, error);
  if (status == AS_OK) status = check_mass(def->mass, name, error);
  if (status == AS_OK) status = check_numbers(def->displacement, n, "displacement", name, error);
  if (status == AS_OK) status = check_numbers(def->velocity, n, "velocity", name, error);
  if (status == AS_OK) status = check_frame(def, name, Q, error);
  return status ? status : check_nodes(def, name, error);
}

as_status as_builder_add_superelement(as_builder *b, const as_superelement_def *def,
                                      as_superelement_id *id, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_superelement_def, def, error);
  if (made) return made;
  char store[32], what[96];
  const char *name = asi_builder_name(b, ASI_SORT_SUPERELEMENT, def->name, store);
  const asi_mark mark = asi_builder_mark(b);
  double Q[9];
  as_status status = check_superelement(def, name, Q, error);
  if (status) return status;
  void *array = b->superelement;
  if (!asi_grow(&array, b->n_superelements, &b->room_superelements, sizeof *b->superelement))
    return asi_fail_memory(error);
  b->superelement = array;
  asi_superelement *s = &b->superelement[b->n_superelements];
  if (!asi_superelement_init(s, def, Q, b->gravity)) status = asi_fail_memory(error);
  snprintf(what, sizeof what, "The factor of superelement \"%.48s\"", name);
  if (status == AS_OK) status = asi_builder_curve(b, def->factor, what, NULL, &s->factor, error);
  if (status == AS_OK)
    status =
        asi_names_add(&b->names[ASI_SORT_SUPERELEMENT], ASI_SORT_SUPERELEMENT, def->name, error);
  if (status) {
    asi_superelement_free(s);
    asi_builder_reset(b, mark);
    return status;
  }
  if (id) *id = (as_superelement_id){b->n_superelements};
  ++b->n_superelements;
  return AS_OK;
}

// ---- nodes ------------------------------------------------------------------------------------------

static as_status check_node(const as_builder *b, const as_node_def *def, const char *name,
                            as_error *error) {
  if (def->superelement.index < 0 || def->superelement.index >= b->n_superelements)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The body \"%s\" is a node of superelement %d, which is not there.", name,
                    def->superelement.index);
  const asi_superelement *s = &b->superelement[def->superelement.index];
  const char *whole = asi_names_get(&b->names[ASI_SORT_SUPERELEMENT], def->superelement.index);
  if (def->node < 0 || def->node >= s->n_nodes)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The body \"%s\" is node %d of superelement \"%s\", which has %d.", name,
                    def->node, whole, s->n_nodes);
  bool moves = false;
  for (int k = 0; k < 6; ++k) moves = moves || s->node[def->node].coordinate[k] >= 0;
  if (!moves)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The body \"%s\" is node %d of superelement \"%s\", which has no coordinates.",
                    name, def->node, whole);
  for (int i = 0; i < b->n_bodies; ++i) {
    const asi_body_start *other = &b->body[i];
    if (other->is_node && other->superelement == def->superelement.index &&
        other->node == def->node)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The body \"%s\" is node %d of superelement \"%s\", as body \"%s\" is.", name,
                      def->node, whole, asi_names_get(&b->names[ASI_SORT_BODY], i));
  }
  return AS_OK;
}

as_status as_builder_add_node(as_builder *b, const as_node_def *def, as_body_id *id,
                              as_error *error) {
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_BODY, def->name, store);
  as_status status = check_node(b, def, name, error);
  if (status) return status;
  const asi_superelement *s = &b->superelement[def->superelement.index];
  const int *coordinate = s->node[def->node].coordinate;
  const bool turns = coordinate[3] >= 0 || coordinate[4] >= 0 || coordinate[5] >= 0;
  asi_body_start start = {.quaternion = {1.0, 0.0, 0.0, 0.0},
                          .is_node = true,
                          .superelement = def->superelement.index,
                          .node = def->node};
  start.body.n = turns ? 6 : 3;
  start.body.round = true;
  const asi_node node =
      asi_superelement_node(s, def->node); // in the builder coordinates begin at 0
  asi_node_motion(&node, s->u0, s->v0, &start.at);
  void *array = b->body;
  if (!asi_grow(&array, b->n_bodies, &b->room_bodies, sizeof *b->body))
    return asi_fail_memory(error);
  b->body = array;
  status = asi_names_add(&b->names[ASI_SORT_BODY], ASI_SORT_BODY, def->name, error);
  if (status) return status;
  b->body[b->n_bodies] = start;
  if (id) *id = (as_body_id){b->n_bodies};
  ++b->n_bodies;
  return AS_OK;
}
