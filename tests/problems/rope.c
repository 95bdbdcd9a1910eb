#include "problems/rope.h"

#include <string.h>

static const as_space_part space = {AS_SPACE_RN, ROPE_N};
enum { LX = ROPE_N - 3, LY = ROPE_N - 2 }; // the last point

/// The point that a coordinate is of.
static int point_of(int i) { return i / 3; }

static double mass_of(const rope *r, double t, int i) {
  const bool light = i % 3 == 2 && i / 3 % 2 == 1 && t < r->heavy_from;
  return light ? 0.0 : 1.0 + 0.1 * point_of(i);
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  for (int i = 0; i < ROPE_N; ++i) as_matrix_add(m, i, i, mass_of(user, at->t, i));
  return AS_DONE;
}

static const double second[] = {1.0, -2.0, 1.0}; // a second difference

static double output_of(const as_point *at) { return 0.2 * at->q[LY] + at->x[0]; }

static int force(const as_point *at, double *f, void *user) {
  const rope *r = user;
  if (at->t >= r->fails_from) return AS_RETRY;
  for (int i = 0; i < ROPE_N; ++i) {
    f[i] = i % 3 == 2 ? 0.0 : -r->damping * at->v[i];
    if (i % 3 == 1) f[i] -= 9.81 * (1.0 + 0.1 * point_of(i));
  }
  for (int i = 1; i < ROPE_POINTS; ++i) { // bends in y
    double bend = 0.0;
    for (int k = 0; k < 3 && k <= i; ++k) bend += second[k] * at->q[3 * (i - k) + 1];
    for (int k = 0; k < 3 && k <= i; ++k) f[3 * (i - k) + 1] -= r->stiffness * second[k] * bend;
  }
  if (r->senses) {
    f[LX] -= 0.5 * at->x[0];
    f[LY] -= 0.3 * at->y[0] + 0.1 * at->x[1];
  }
  return AS_DONE;
}

/// The way from the point before in the plane, of positions or velocities.
static void way(const double *x, int i, double *d) {
  for (int k = 0; k < 2; ++k) d[k] = x[3 * i + k] - (i > 0 ? x[3 * i - 3 + k] : 0.0);
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

static int constraint(const as_point *at, double *g, void *user) {
  (void)user;
  for (int i = 0; i < ROPE_POINTS; ++i) {
    double d[2];
    way(at->q, i, d);
    g[2 * i] = at->q[3 * i + 2];
    g[2 * i + 1] = 0.5 * (dot(d, d) - 1.0);
  }
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *g, void *user) {
  (void)user;
  for (int i = 0; i < ROPE_POINTS; ++i) {
    double d[2], w[2];
    way(at->q, i, d);
    way(at->v, i, w);
    g[2 * i] = at->v[3 * i + 2];
    g[2 * i + 1] = dot(d, w);
  }
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *g, void *user) {
  (void)user;
  for (int i = 0; i < ROPE_POINTS; ++i) {
    double w[2];
    way(at->v, i, w);
    g[2 * i] = 0.0;
    g[2 * i + 1] = dot(w, w);
  }
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = at->v[LX] + 0.3 * at->q[LY] * at->v[LY];
  return AS_DONE;
}

static int state_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = (at->q[LX] - at->x[0]) / 0.1;
  out[1] = at->v[LY] - at->x[1] + at->y[0];
  return AS_DONE;
}

static int output(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = output_of(at);
  return AS_DONE;
}

/// Rows 2 i + 1 with x_i - x_(i-1), and rows 2 i with `across` in z.
static void add_rows(as_matrix *m, const double *x, double across) {
  for (int i = 0; i < ROPE_POINTS; ++i) {
    double d[2];
    way(x, i, d);
    as_matrix_add(m, 2 * i, 3 * i + 2, across);
    for (int k = 0; k < 2; ++k) {
      as_matrix_add(m, 2 * i + 1, 3 * i + k, d[k]);
      if (i > 0) as_matrix_add(m, 2 * i + 1, 3 * i - 3 + k, -d[k]);
    }
  }
}

/// Of bending, and of -B^T lambda and -k_v^T psi: rows turn with q.
static void add_stiffness(const rope *r, const as_point *at, as_matrix *m) {
  for (int i = 0; i < ROPE_N; ++i) {
    const double lambda = i % 3 == 2 ? 0.0 : at->lambda[2 * (i / 3) + 1];
    as_matrix_add(m, i, i, -lambda);
    if (i < 3) continue;
    as_matrix_add(m, i - 3, i - 3, -lambda);
    as_matrix_add(m, i, i - 3, lambda);
    as_matrix_add(m, i - 3, i, lambda);
  }
  for (int i = 1; i < ROPE_POINTS; ++i)
    for (int k = 0; k < 3 && k <= i; ++k)
      for (int j = 0; j < 3 && j <= i; ++j)
        as_matrix_add(m, 3 * (i - k) + 1, 3 * (i - j) + 1, -r->stiffness * second[k] * second[j]);
  if (r->rolls) as_matrix_add(m, LY, LY, -0.3 * at->psi[0]);
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *b, void *user) {
  const rope *r = user;
  const struct {
    as_block block;
    int row, col;
    double value;
  } single[] = {{AS_BLOCK_F_X, LX, 0, -0.5},
                {AS_BLOCK_F_X, LY, 1, -0.1},
                {AS_BLOCK_F_Y, LY, 0, -0.3},
                {AS_BLOCK_PHI_Q, 0, LX, 10.0},
                {AS_BLOCK_PHI_X, 0, 0, -10.0},
                {AS_BLOCK_PHI_X, 1, 1, -1.0},
                {AS_BLOCK_PHI_V, 1, LY, 1.0},
                {AS_BLOCK_PHI_Y, 1, 0, 1.0},
                {AS_BLOCK_CHI_Q, 0, LY, 0.2},
                {AS_BLOCK_CHI_X, 0, 0, 1.0},
                {AS_BLOCK_K_V, 0, LX, 1.0},
                {AS_BLOCK_K_V, 0, LY, at->q ? 0.3 * at->q[LY] : 0.0},
                {AS_BLOCK_K_Q, 0, LY, at->v ? 0.3 * at->v[LY] : 0.0}};
  for (size_t i = 0; i < sizeof single / sizeof single[0]; ++i)
    if (wanted & AS_BLOCK_BIT(single[i].block))
      as_matrix_add(&b[single[i].block], single[i].row, single[i].col, single[i].value);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) add_stiffness(r, at, &b[AS_BLOCK_F_Q]);
  for (int i = 0; i < ROPE_N && (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)); ++i)
    as_matrix_add(&b[AS_BLOCK_F_V], i, i, i % 3 == 2 ? 0.0 : -r->damping);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) add_rows(&b[AS_BLOCK_G_Q], at->q, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) add_rows(&b[AS_BLOCK_GDOT_Q], at->v, 0.0);
  return AS_DONE;
}

/// Whether an entry of a block may be other than zero.
static bool has_entry(as_block block, int row, int col) {
  const int point = row / 2;
  switch (block) {
  case AS_BLOCK_M:
  case AS_BLOCK_F_V: return row == col;
  case AS_BLOCK_F_Q:
    return row == col || row == col + 3 || col == row + 3 ||
           (row % 3 == 1 && (row == col + 6 || col == row + 6));
  case AS_BLOCK_G_Q:
  case AS_BLOCK_GDOT_Q:
    return row % 2 == 0 ? col == 3 * point + 2 : col / 3 == point || col / 3 == point - 1;
  case AS_BLOCK_K_V: return col == LX || col == LY;
  case AS_BLOCK_K_Q: return col == LY;
  case AS_BLOCK_F_X: return row == (col == 0 ? LX : LY);
  case AS_BLOCK_F_Y: return row == LY;
  case AS_BLOCK_PHI_Q: return row == 0 && col == LX;
  case AS_BLOCK_PHI_V: return row == 1 && col == LY;
  case AS_BLOCK_PHI_X: return row == col;
  case AS_BLOCK_PHI_Y: return row == 1;
  case AS_BLOCK_CHI_Q: return col == LY;
  case AS_BLOCK_CHI_X: return col == 0;
  default: return false;
  }
}

static void set_pattern(rope *r, as_block block, int rows, int cols) {
  int *const col_start = r->pattern[block].col_start, *const row = r->pattern[block].row, n = 0;
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i)
      if (has_entry(block, i, j)) row[n++] = i;
    col_start[j + 1] = n;
  }
  r->def.block[block] = (as_block_def){n > 0 ? AS_BLOCK_GIVEN : AS_BLOCK_ZERO, {col_start, row}};
}

static void set_patterns(rope *r) {
  const int n = ROPE_N, m = ROPE_ROWS, n_psi = r->def.n_psi, n_x = r->def.n_x, n_y = r->def.n_y;
  set_pattern(r, AS_BLOCK_M, n, n);
  r->def.block[AS_BLOCK_MA_Q].source = AS_BLOCK_ZERO;
  set_pattern(r, AS_BLOCK_F_Q, n, n);
  set_pattern(r, AS_BLOCK_F_V, n, n);
  set_pattern(r, AS_BLOCK_G_Q, m, n);
  set_pattern(r, AS_BLOCK_GDOT_Q, m, n);
  set_pattern(r, AS_BLOCK_K_V, n_psi, n);
  set_pattern(r, AS_BLOCK_K_Q, n_psi, n);
  set_pattern(r, AS_BLOCK_F_X, n, n_x);
  set_pattern(r, AS_BLOCK_F_Y, n, n_y);
  const int cols[] = {n, n, n, m, n_psi, n_x, n_y};
  for (int i = 0; i < 7; ++i) {
    set_pattern(r, (as_block)(AS_BLOCK_PHI_Q + i), n_x, cols[i]);
    set_pattern(r, (as_block)(AS_BLOCK_CHI_Q + i), n_y, cols[i]);
  }
}

void rope_init(rope *r) {
  for (int i = 0; i < ROPE_N; ++i) {
    r->body[i] = i / 6;
    const double along[] = {0.8, -0.6, 0.0}, across[] = {0.6, 0.8, 0.0};
    r->q0[i] = (1 + point_of(i)) * along[i % 3];
    r->v0[i] = 2.0 * (1 + point_of(i)) * across[i % 3];
  }
  // What holds coordinates without mass is far from their bodies: no pivot is found in these.
  for (int i = 0; i < ROPE_ROWS; ++i) r->joint[i] = r->heavy_from > 0.0 && i % 4 == 2 ? 0 : i / 4;
  r->def = as_default_problem_def();
  r->def.parts = &space;
  r->def.n_parts = 1;
  r->def.n_lambda = ROPE_ROWS;
  r->def.n_psi = r->rolls ? 1 : 0;
  r->def.n_x = r->senses ? 2 : 0;
  r->def.n_y = r->senses ? 1 : 0;
  r->def.mass_constant = false;
  r->def.scleronomic = true;
  r->def.mass = mass;
  r->def.force = force;
  r->def.constraint = constraint;
  r->def.constraint_rate = constraint_rate;
  r->def.constraint_acceleration = constraint_acceleration;
  r->def.nonholonomic = r->rolls ? nonholonomic : NULL;
  r->def.state_rate = r->senses ? state_rate : NULL;
  r->def.output = r->senses ? output : NULL;
  r->def.jacobian = jacobian;
  r->def.body = r->body;
  r->def.joint = r->joint;
  r->def.user = r;
  set_patterns(r);
}
