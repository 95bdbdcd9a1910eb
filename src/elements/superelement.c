/// The equations of a linear structure.
///
///     M u'' = factor(t) load + M S g - K u - C u'       F_Q = -K, F_V = -C
///     kinetic energy u'^T M u' / 2      potential u^T K u / 2 - g^T S^T M (X + u)      dissipated u'^T C u'
///
/// S holds the displacements of the coordinates when all nodes are moved by one along world axes, W those when
/// they are turned about them at the origin: a displacement along e of a node at X has e . axis and
/// (axis x X) . e, a rotation about e has 0 and e . axis. X are the nodes' positions, seen as displacements.
/// Momentum is S^T M u', angular momentum W^T M u': to first order in u, as the structure itself is.
#include "elements/superelement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/problem.h"
#include "base/error.h"
#include "elements/vector.h"
#include "linalg/matrix.h"
#include "linalg/sparse.h"

// ---- making -----------------------------------------------------------------------------------------

static double *copy_numbers(const double *from, int n) {
  double *to = asi_calloc((size_t)n, sizeof(double));
  if (to && from && n > 0) memcpy(to, from, (size_t)n * sizeof(double));
  return to;
}

/// y = A x
static void multiply(const as_sparse *A, const double *x, double *y) {
  const as_matrix view = asi_sparse_view(A);
  memset(y, 0, (size_t)A->rows * sizeof(double));
  asi_matrix_multiply_add(&view, 1.0, x, y);
}

static double product(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// x^T A x
static double square(const as_sparse *A, const double *x) {
  double sum = 0.0;
  for (int j = 0; j < A->cols; ++j)
    for (int k = A->col_start[j]; k < A->col_start[j + 1]; ++k)
      sum += x[A->row[k]] * A->value[k] * x[j];
  return sum;
}

static void node_position(const asi_superelement *s, int node, double *x) {
  asi_rotate(s->Q, s->node[node].position, x);
  asi_add(1.0, s->x, x);
}

/// Column k of [S W]; n numbers.
static void rigid_motion(const asi_superelement *s, int k, double *out) {
  memset(out, 0, (size_t)s->n * sizeof(double));
  double axis[3] = {0};
  axis[k % 3] = 1.0;
  for (int i = 0; i < s->n_nodes; ++i) {
    double x[3], move[3], turn[3] = {0}, local_move[3], local_turn[3];
    node_position(s, i, x);
    asi_copy(axis, k < 3 ? move : turn);
    if (k >= 3) asi_cross(axis, x, move);
    asi_rotate_back(s->Q, move, local_move);
    asi_rotate_back(s->Q, turn, local_turn);
    const int *coordinate = s->node[i].coordinate;
    for (int c = 0; c < 6; ++c)
      if (coordinate[c] >= 0) out[coordinate[c]] = c < 3 ? local_move[c] : local_turn[c - 3];
  }
}

/// Sums of a column of M S: mass moved along axis k, and with which moment in direction l at u = 0.
static double moment_at_rest(const asi_superelement *s, const double *momentum, int k, int l) {
  double sum = 0.0;
  for (int i = 0; i < s->n_nodes; ++i) {
    double x[3];
    node_position(s, i, x);
    for (int c = 0; c < 3; ++c) // its local axis c is column c of Q
      if (s->node[i].coordinate[c] >= 0)
        sum += momentum[s->node[i].coordinate[c]] * s->Q[3 * k + c] * x[l];
  }
  return sum;
}

/// M S and M W, and from them the mass, its centre and the weight.
static bool find_mass(asi_superelement *s, const double *gravity) {
  double *motion = asi_calloc((size_t)s->n, sizeof(double));
  if (motion == NULL) return false;
  int heaviest = 0;
  double mass[3];
  for (int k = 0; k < 6; ++k) {
    double *momentum = s->rigid + (size_t)k * (size_t)s->n;
    rigid_motion(s, k, motion);
    multiply(s->M, motion, momentum);
    if (k >= 3) continue;
    mass[k] = product(motion, momentum, s->n);
    if (mass[k] > mass[heaviest]) heaviest = k; // nodes may be held in the other directions
    for (int i = 0; i < s->n; ++i) s->weight[i] += gravity[k] * momentum[i];
    s->weight_at_rest += gravity[k] * moment_at_rest(s, momentum, k, k);
  }
  free(motion);
  s->mass = mass[heaviest];
  for (int l = 0; l < 3; ++l)
    s->center[l] = moment_at_rest(s, s->rigid + (size_t)heaviest * (size_t)s->n, heaviest, l);
  return true;
}

bool asi_superelement_init(asi_superelement *s, const as_superelement_def *def, const double Q[9],
                           const double *gravity) {
  const int n = def->mass->rows;
  *s = (asi_superelement){.n = n, .n_nodes = def->n_nodes, .factor = {-1, NULL}};
  asi_copy(def->position, s->x);
  memcpy(s->Q, Q, sizeof s->Q);
  s->M = asi_sparse_copy(def->mass);
  if (def->stiffness) s->K = asi_sparse_copy(def->stiffness);
  if (def->damping) s->C = asi_sparse_copy(def->damping);
  if (def->load) s->load = copy_numbers(NULL, n);
  s->weight = copy_numbers(NULL, n);
  s->rigid = asi_calloc(6 * (size_t)n, sizeof(double));
  s->u0 = copy_numbers(def->displacement, n);
  s->v0 = copy_numbers(def->velocity, n);
  s->displaced = def->displacement != NULL;
  s->moving = def->velocity != NULL;
  s->node = asi_calloc((size_t)def->n_nodes, sizeof *s->node);
  if (!s->M || (def->stiffness && !s->K) || (def->damping && !s->C) || (def->load && !s->load) ||
      !s->weight || !s->rigid || !s->u0 || !s->v0 || !s->node)
    return false;
  if (def->n_nodes > 0) memcpy(s->node, def->node, (size_t)def->n_nodes * sizeof *s->node);
  for (int k = 0; def->load && k < asi_sparse_nnz(def->load); ++k)
    s->load[def->load->row[k]] = def->load->value[k];
  return find_mass(s, gravity);
}

bool asi_superelement_copy(asi_superelement *s, const asi_superelement *from) {
  const int n = from->n;
  *s = *from;
  s->M = asi_sparse_copy(from->M);
  s->K = from->K ? asi_sparse_copy(from->K) : NULL;
  s->C = from->C ? asi_sparse_copy(from->C) : NULL;
  s->load = from->load ? copy_numbers(from->load, n) : NULL;
  s->weight = copy_numbers(from->weight, n);
  s->rigid = copy_numbers(from->rigid, 6 * n);
  s->u0 = copy_numbers(from->u0, n);
  s->v0 = copy_numbers(from->v0, n);
  s->node = asi_calloc((size_t)from->n_nodes, sizeof *s->node);
  s->K_place = s->C_place = NULL;
  if (s->node && from->n_nodes > 0)
    memcpy(s->node, from->node, (size_t)from->n_nodes * sizeof *s->node);
  return s->M && (s->K || !from->K) && (s->C || !from->C) && (s->load || !from->load) &&
         s->weight && s->rigid && s->u0 && s->v0 && s->node;
}

void asi_superelement_free(asi_superelement *s) {
  as_sparse_destroy(s->M);
  as_sparse_destroy(s->K);
  as_sparse_destroy(s->C);
  free(s->load);
  free(s->weight);
  free(s->rigid);
  free(s->u0);
  free(s->v0);
  free(s->node);
  free(s->K_place);
  free(s->C_place);
  *s = (asi_superelement){0};
}

asi_node asi_superelement_node(const asi_superelement *s, int node) {
  asi_node out = {.shift = s->q - s->v};
  node_position(s, node, out.x);
  memcpy(out.Q, s->Q, sizeof out.Q);
  for (int k = 0; k < 6; ++k) {
    const int coordinate = s->node[node].coordinate[k];
    out.at[k] = coordinate >= 0 ? s->v + coordinate : -1;
  }
  return out;
}

// ---- evaluation -------------------------------------------------------------------------------------

static int load_factor(const asi_superelement *s, double t, double *out) {
  double value[3] = {1.0, 0.0, 0.0};
  const int code = s->factor.curve ? asi_curve_evaluate(s->factor.curve, t, value) : AS_DONE;
  *out = value[0];
  return code;
}

int asi_superelement_force(const asi_superelement *s, double t, const double *q, const double *v,
                           double *out) {
  memcpy(out, s->weight, (size_t)s->n * sizeof(double));
  if (s->K) {
    const as_matrix K = asi_sparse_view(s->K);
    asi_matrix_multiply_add(&K, -1.0, q, out);
  }
  if (s->C) {
    const as_matrix C = asi_sparse_view(s->C);
    asi_matrix_multiply_add(&C, -1.0, v, out);
  }
  if (s->load == NULL) return AS_DONE;
  double factor;
  const int code = load_factor(s, t, &factor);
  for (int i = 0; i < s->n; ++i) out[i] += factor * s->load[i];
  return code;
}

double asi_superelement_kinetic(const asi_superelement *s, const double *v) {
  return square(s->M, v) / 2.0;
}

double asi_superelement_potential(const asi_superelement *s, const double *q) {
  const double strain = s->K ? square(s->K, q) / 2.0 : 0.0;
  return strain - s->weight_at_rest - product(s->weight, q, s->n);
}

bool asi_superelement_power(const asi_superelement *s, double t, const double *v,
                            as_element_power *out) {
  double factor = 0.0;
  *out = (as_element_power){.dissipated = s->C ? square(s->C, v) : 0.0};
  if (s->load == NULL) return true;
  if (load_factor(s, t, &factor)) return false;
  out->supplied = factor * product(s->load, v, s->n);
  return true;
}

void asi_superelement_momentum(const asi_superelement *s, const double *q, const double *v,
                               double *mass, double center[3], double linear[3],
                               double angular[3]) {
  *mass += s->mass;
  for (int k = 0; k < 3; ++k) {
    const double *moved = s->rigid + (size_t)k * (size_t)s->n;
    const double *turned = s->rigid + (size_t)(3 + k) * (size_t)s->n;
    center[k] += s->center[k] + product(moved, q, s->n);
    linear[k] += product(moved, v, s->n);
    angular[k] += product(turned, v, s->n);
  }
}
