#include "chain.h"

#include <stdlib.h>
#include <string.h>

// ---- vectors --------------------------------------------------------------------------------------

static void rotation(const double *quaternion, double R[9]) {
  const double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
  R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}

/// out += factor * R a
static void add_rotated(const double R[9], const double *a, double factor, double *out) {
  for (int i = 0; i < 3; ++i)
    out[i] += factor * (R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2]);
}

static void rotate_back(const double R[9], const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

static void cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// ---- functions ------------------------------------------------------------------------------------

static int mass(const as_point *at, as_matrix *m, void *user) {
  const chain *c = user;
  (void)at;
  for (int i = 0; i < c->n_links; ++i) { // the pattern is the diagonal
    double *diagonal = m->value + 6 * i;
    diagonal[0] = diagonal[1] = diagonal[2] = c->mass;
    diagonal[3] = c->inertia_axial;
    diagonal[4] = diagonal[5] = c->inertia_lateral;
  }
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  const chain *c = user;
  const double difference = c->inertia_lateral - c->inertia_axial;
  for (int i = 0; i < c->n_links; ++i) {
    const double *v = at->v + 6 * i, *omega = v + 3;
    double *out = f + 6 * i;
    for (int k = 0; k < 6; ++k) out[k] = -c->damping * v[k];
    out[2] -= c->mass * c->gravity;
    // -Omega x J Omega
    out[4] += difference * omega[0] * omega[2];
    out[5] -= difference * omega[0] * omega[1];
  }
  return AS_DONE;
}

/// Adds, for link i, what both of its ends contribute to g: +(x + R s_-) to g_i, -(x + R s_+) to g_{i+1}.
static int constraint(const as_point *at, double *g, void *user) {
  const chain *c = user;
  const double half = c->length / 2.0;
  memset(g, 0, 3 * (size_t)c->n_links * sizeof(double));
  for (int i = 0; i < c->n_links; ++i) {
    const double *q = at->q + 7 * i;
    double R[9];
    rotation(q + 3, R);
    for (int k = 0; k < 3; ++k) {
      g[3 * i + k] += q[k] - half * R[3 * k];
      if (i + 1 < c->n_links) g[3 * (i + 1) + k] -= q[k] + half * R[3 * k];
    }
  }
  return AS_DONE;
}

/// d/dt (x + R s) = x' + R (Omega x s), Omega x s = s (0, Omega_z, -Omega_y) for s along x.
static int constraint_rate(const as_point *at, double *out, void *user) {
  const chain *c = user;
  const double half = c->length / 2.0;
  memset(out, 0, 3 * (size_t)c->n_links * sizeof(double));
  for (int i = 0; i < c->n_links; ++i) {
    const double *v = at->v + 6 * i, turn[3] = {0.0, half * v[5], -half * v[4]};
    double R[9];
    rotation(at->q + 7 * i + 3, R);
    for (int k = 0; k < 3; ++k) out[3 * i + k] += v[k];
    add_rotated(R, turn, -1.0, out + 3 * i);
    if (i + 1 == c->n_links) break;
    for (int k = 0; k < 3; ++k) out[3 * (i + 1) + k] -= v[k];
    add_rotated(R, turn, -1.0, out + 3 * (i + 1));
  }
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const chain *c = user;
  const double half = c->length / 2.0;
  memset(out, 0, 3 * (size_t)c->n_links * sizeof(double));
  for (int i = 0; i < c->n_links; ++i) {
    const double *omega = at->v + 6 * i + 3, turn[3] = {0.0, half * omega[2], -half * omega[1]};
    double R[9], twice[3];
    rotation(at->q + 7 * i + 3, R);
    cross(omega, turn, twice);
    add_rotated(R, twice, -1.0, out + 3 * i);
    if (i + 1 < c->n_links) add_rotated(R, twice, -1.0, out + 3 * (i + 1));
  }
  return AS_DONE;
}

// ---- Jacobian blocks --------------------------------------------------------------------------------

/// F_Q: -B^T lambda turns link i by -s_- x R^T lambda_i + s_+ x R^T lambda_{i+1}; along a rotation
/// R^T lambda changes by (R^T lambda)~ theta. With s along x: half e_x~ (R^T sum)~, sum = lambda_i + lambda_{i+1}.
static void fill_f_q(const chain *c, const as_point *at, double *value) {
  const double half = c->length / 2.0;
  for (int i = 0; i < c->n_links; ++i, value += 9) {
    double R[9], sum[3], w[3];
    rotation(at->q + 7 * i + 3, R);
    for (int k = 0; k < 3; ++k)
      sum[k] = at->lambda[3 * i + k] + (i + 1 < c->n_links ? at->lambda[3 * (i + 1) + k] : 0.0);
    rotate_back(R, sum, w);
    // e_x~ w~ = [0 0 0; w_y -w_x 0; w_z 0 -w_x], by columns
    const double block[9] = {0, w[1], w[2], 0, -w[0], 0, 0, 0, -w[0]};
    for (int k = 0; k < 9; ++k) value[k] = half * block[k];
  }
}

/// F_V: damping, and the derivative of -Omega x J Omega.
static void fill_f_v(const chain *c, const as_point *at, double *value) {
  const double difference = c->inertia_lateral - c->inertia_axial;
  for (int i = 0; i < c->n_links; ++i, value += 12) {
    const double *omega = at->v + 6 * i + 3;
    for (int k = 0; k < 3; ++k) value[k] = -c->damping;
    value[3] = -c->damping; // column Omega_x: rows 3, 4, 5
    value[4] = difference * omega[2];
    value[5] = -difference * omega[1];
    value[6] = 0.0; // column Omega_y
    value[7] = -c->damping;
    value[8] = -difference * omega[0];
    value[9] = 0.0; // column Omega_z
    value[10] = difference * omega[0];
    value[11] = -c->damping;
  }
}

/// The columns of link i in a constraint block: rows of joint i, then of joint i + 1 unless it is the last.
/// G_Q has x' columns too. `a` is what turns with R: (0 0; half e_z, -half e_y) for G_Q.
static void fill_g_q(const chain *c, const as_point *at, double *value) {
  const double half = c->length / 2.0;
  for (int i = 0; i < c->n_links; ++i) {
    const int both = i + 1 < c->n_links;
    double R[9];
    rotation(at->q + 7 * i + 3, R);
    for (int k = 0; k < 3; ++k) {
      *value++ = 1.0;
      if (both) *value++ = -1.0;
    }
    // -R s~ theta for s_- = -half e_x: columns 0, -half R e_z, half R e_y; the same for -(R s_+).
    for (int k = 0; k < 3; ++k)
      for (int end = 0; end <= both; ++end)
        for (int r = 0; r < 3; ++r)
          *value++ = k == 0 ? 0.0 : k == 1 ? half * R[3 * r + 2] : -half * R[3 * r + 1];
  }
}

/// GDOT_Q: -R (Omega x s)~ theta, Omega x s_- = -half (0, Omega_z, -Omega_y).
static void fill_gdot_q(const chain *c, const as_point *at, double *value) {
  const double half = c->length / 2.0;
  for (int i = 0; i < c->n_links; ++i) {
    const int both = i + 1 < c->n_links;
    const double *omega = at->v + 6 * i + 3, u[3] = {0.0, half * omega[2], -half * omega[1]};
    double R[9];
    rotation(at->q + 7 * i + 3, R);
    for (int k = 0; k < 3; ++k) {
      const double e[3] = {k == 0, k == 1, k == 2};
      double ue[3], column[3] = {0, 0, 0};
      cross(u, e, ue); // -R (-u)~ e = R u~ e
      add_rotated(R, ue, 1.0, column);
      for (int end = 0; end <= both; ++end)
        for (int r = 0; r < 3; ++r) *value++ = column[r];
    }
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const chain *c = user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) fill_f_q(c, at, blocks[AS_BLOCK_F_Q].value);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) fill_f_v(c, at, blocks[AS_BLOCK_F_V].value);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) fill_g_q(c, at, blocks[AS_BLOCK_G_Q].value);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) fill_gdot_q(c, at, blocks[AS_BLOCK_GDOT_Q].value);
  return AS_DONE;
}

// ---- patterns and the rest ----------------------------------------------------------------------------

typedef struct pattern_writer {
  int *col_start, *row;
  int cols, count;
} pattern_writer;

static void end_column(pattern_writer *w) { w->col_start[++w->cols] = w->count; }

/// Appends rows first, first + 1, ... first + n - 1.
static void add_rows(pattern_writer *w, int first, int n) {
  for (int k = 0; k < n; ++k) w->row[w->count++] = first + k;
}

/// Columns of link i: `moves` entries for each x' column, `turns` for each Omega column.
static as_pattern write_pattern(const chain *c, as_block block, int **memory) {
  const int n = c->n_links;
  pattern_writer w = {.col_start = *memory, .row = *memory + 6 * n + 1};
  w.col_start[0] = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 6; ++k) {
      const int joints = i + 1 < n ? 2 : 1;
      const bool turns = k >= 3;
      switch ((int)block) {
      case AS_BLOCK_M: add_rows(&w, 6 * i + k, 1); break;
      case AS_BLOCK_F_Q:
        if (turns) add_rows(&w, 6 * i + 3, 3);
        break;
      case AS_BLOCK_F_V:
        if (turns)
          add_rows(&w, 6 * i + 3, 3);
        else
          add_rows(&w, 6 * i + k, 1);
        break;
      case AS_BLOCK_G_Q:
        for (int j = 0; j < joints; ++j) add_rows(&w, 3 * (i + j) + (turns ? 0 : k), turns ? 3 : 1);
        break;
      case AS_BLOCK_GDOT_Q:
        if (turns) add_rows(&w, 3 * i, 3 * joints);
        break;
      default: break;
      }
      end_column(&w);
    }
  }
  *memory = w.row + w.count;
  return (as_pattern){w.col_start, w.row};
}

bool chain_init(chain *c, int n_links) {
  *c = (chain){.n_links = n_links,
               .length = 1.0,
               .mass = 1.0,
               .inertia_axial = 0.00125,
               .inertia_lateral = 0.0839583333333333333,
               .gravity = 9.81,
               .part = {AS_SPACE_R3SO3, n_links}};
  // Five patterns with at most 24 rows per link and 6 columns each.
  c->pattern = malloc(sizeof(int) * (5 * (6 * (size_t)n_links + 1) + 75 * (size_t)n_links));
  if (c->pattern == NULL) return false;
  as_problem_def *def = &c->def;
  *def = as_default_problem_def();
  def->parts = &c->part;
  def->n_parts = 1;
  def->n_lambda = 3 * n_links;
  def->mass_constant = true;
  def->scleronomic = true;
  def->mass = mass;
  def->force = force;
  def->constraint = constraint;
  def->constraint_rate = constraint_rate;
  def->constraint_acceleration = constraint_acceleration;
  def->jacobian = jacobian;
  def->user = c;
  const as_block blocks[] = {AS_BLOCK_M, AS_BLOCK_F_Q, AS_BLOCK_F_V, AS_BLOCK_G_Q, AS_BLOCK_GDOT_Q};
  int *memory = c->pattern;
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) {
    def->block[blocks[i]].source = AS_BLOCK_GIVEN;
    def->block[blocks[i]].pattern = write_pattern(c, blocks[i], &memory);
  }
  return true;
}

void chain_free(chain *c) {
  free(c->pattern);
  c->pattern = NULL;
}

void chain_straight(const chain *c, double *q) {
  memset(q, 0, 7 * (size_t)c->n_links * sizeof(double));
  for (int i = 0; i < c->n_links; ++i) {
    q[7 * i] = (i + 0.5) * c->length;
    q[7 * i + 3] = 1.0;
  }
}

void chain_tip(const chain *c, const double *q, double tip[3]) {
  const double *last = q + 7 * (c->n_links - 1);
  double R[9];
  rotation(last + 3, R);
  for (int k = 0; k < 3; ++k) tip[k] = last[k] + c->length / 2.0 * R[3 * k];
}

double chain_energy(const chain *c, const double *q, const double *v) {
  double sum = 0.0;
  for (int i = 0; i < c->n_links; ++i, q += 7, v += 6) {
    sum += c->mass * (c->gravity * q[2] + (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2.0);
    sum +=
        (c->inertia_axial * v[3] * v[3] + c->inertia_lateral * (v[4] * v[4] + v[5] * v[5])) / 2.0;
  }
  return sum;
}
