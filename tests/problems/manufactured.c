#include "problems/manufactured.h"

#include <math.h>
#include <string.h>

#include "problems/rotation.h"

enum {
  NQ = MANUFACTURED_NQ,
  NV = MANUFACTURED_NV,
  NG = MANUFACTURED_NLAMBDA,
  NX = MANUFACTURED_NX,
  NY = MANUFACTURED_NY,
};

static int size_v(const manufactured *m) { return m->space == AS_SPACE_RN ? 4 : 6; }
static int size_lambda(const manufactured *m) {
  return !m->holonomic ? 0 : m->space == AS_SPACE_RN ? 1 : 2;
}
static int size_psi(const manufactured *m) { return m->nonholonomic ? 1 : 0; }

// ---- the chosen motion -----------------------------------------------------------------------------

/// A function of time and its first two derivatives.
typedef struct jet {
  double x, d, dd;
} jet;

/// offset + slope t + size sin(rate t + phase)
static jet wave(double t, double offset, double slope, double size, double rate, double phase) {
  const double s = size * sin(rate * t + phase), c = size * cos(rate * t + phase);
  return (jet){offset + slope * t + s, slope + rate * c, -rate * rate * s};
}

void manufactured_exact(const manufactured *m, double t, double *q, double *v, double *vdot,
                        double *lambda, double *psi) {
  const jet p[4] = {
      {sinh(t), cosh(t), sinh(t)},
      wave(t, 0.0, 0.0, 0.6, 2.1, 0.4),
      wave(t, 0.0, 0.2, 0.5, 1.7, 1.6),
      wave(t, 0.0, 0.3, 0.4, 2.6, -0.5),
  };
  if (lambda != NULL && m->holonomic) {
    lambda[0] = 1.0 + 0.5 * sin(2.0 * t);
    if (m->space != AS_SPACE_RN) lambda[1] = -0.7 + 0.4 * cos(1.6 * t);
  }
  if (psi != NULL && m->nonholonomic) psi[0] = 0.3 + 0.6 * cos(1.8 * t);

  const int n_p = m->space == AS_SPACE_RN ? 4 : 3;
  for (int i = 0; i < n_p; ++i) {
    if (q != NULL) q[i] = p[i].x;
    if (v != NULL) v[i] = p[i].d;
    if (vdot != NULL) vdot[i] = p[i].dd;
  }
  if (m->space == AS_SPACE_RN) return;

  // R = rotation by yaw about e3, then by roll about the body's e1.
  const jet yaw = wave(t, 0.2, 0.5, 0.7, 1.9, 0.0), roll = wave(t, 0.0, 0.0, 0.6, 2.3, 1.2);
  const double ca = cos(0.5 * yaw.x), sa = sin(0.5 * yaw.x);
  const double cb = cos(0.5 * roll.x), sb = sin(0.5 * roll.x);
  const double s = sin(roll.x), c = cos(roll.x);
  const double quaternion[4] = {ca * cb, ca * sb, sa * sb, sa * cb};
  const double omega[3] = {roll.d, yaw.d * s, yaw.d * c};
  const double omega_dot[3] = {roll.dd, yaw.dd * s + yaw.d * roll.d * c,
                               yaw.dd * c - yaw.d * roll.d * s};
  if (q != NULL) memcpy(q + 3, quaternion, sizeof quaternion);
  if (v != NULL) memcpy(v + 3, omega, sizeof omega);
  if (vdot != NULL) memcpy(vdot + 3, omega_dot, sizeof omega_dot);
  if (m->space == AS_SPACE_R3SO3) return;

  // SE(3): u = R^T p', u' = R^T p'' - Omega x u.
  const double rate[3] = {p[0].d, p[1].d, p[2].d}, second[3] = {p[0].dd, p[1].dd, p[2].dd};
  double R[9], u[3], turn[3];
  mat_from_quaternion(quaternion, R);
  mat_t_vec(R, rate, u);
  vec_cross(omega, u, turn);
  if (v != NULL) memcpy(v, u, sizeof u);
  if (vdot != NULL) {
    mat_t_vec(R, second, vdot);
    for (int i = 0; i < 3; ++i) vdot[i] -= turn[i];
  }
}

void manufactured_exact_states(double t, double *x, double *xdot, double *y) {
  const jet chosen[NX] = {wave(t, 0.0, 0.1, 0.5, 1.9, 0.3), wave(t, 0.3, 0.0, 0.4, 2.2, 1.5)};
  for (int i = 0; i < NX; ++i) {
    if (x != NULL) x[i] = chosen[i].x;
    if (xdot != NULL) xdot[i] = chosen[i].d;
  }
  if (y == NULL) return;
  y[0] = wave(t, 0.2, 0.0, 0.6, 1.5, 0.0).x;
  y[1] = wave(t, 0.0, 0.0, 0.7, 2.4, 2.0).x;
}

// ---- constraints -----------------------------------------------------------------------------------

/// Makes a row for (velocity in world, angular velocity in body) one for the space's velocity.
static void row_to_space(const manufactured *m, const double *R, double *row) {
  if (m->space != AS_SPACE_SE3) return;
  double body[3];
  mat_t_vec(R, row, body);
  memcpy(row, body, sizeof body);
}

/// G(q) and its gradient, NG rows of NV. Bodies: the distance of a point off the centre from a fixed one,
/// and a direction coupled with a position.
static void eval_G(const manufactured *m, const double *q, double *G, double *gradient) {
  memset(gradient, 0, NG * NV * sizeof *gradient);
  if (m->space == AS_SPACE_RN) {
    G[0] = q[1] + 0.5 * q[2] * q[2] + (0.3 * sin(q[0]) + 0.2) * q[3];
    gradient[0] = 0.3 * cos(q[0]) * q[3];
    gradient[1] = 1.0;
    gradient[2] = q[2];
    gradient[3] = 0.3 * sin(q[0]) + 0.2;
    return;
  }
  static const double point[3] = {0.3, 0.5, -0.4}, anchor[3] = {0.5, -1.2, 0.7};
  static const double arm[3] = {0.4, 0.2, 0.9}, axis[3] = {0.5, 0.8, 0.3};
  double R[9], r[3], body[3];
  mat_from_quaternion(q + 3, R);
  mat_vec(R, point, r);
  for (int i = 0; i < 3; ++i) r[i] += q[i] - anchor[i];
  G[0] = 0.5 * vec_dot(r, r);
  memcpy(gradient, r, sizeof r);
  mat_t_vec(R, r, body);
  vec_cross(point, body, gradient + 3); // r . R (theta x point) = theta . (point x R^T r)
  row_to_space(m, R, gradient);

  mat_t_vec(R, axis, body);
  G[1] = vec_dot(body, arm) + 0.4 * q[1] * q[2];
  gradient[NV + 1] = 0.4 * q[2];
  gradient[NV + 2] = 0.4 * q[1];
  vec_cross(arm, body, gradient + NV + 3);
  row_to_space(m, R, gradient + NV);
}

/// K(q,v) and its gradient by v. Bodies: a fin, with a slip that goes with the spin.
static void eval_K(const manufactured *m, const double *q, const double *v, double *K,
                   double *gradient) {
  if (m->space == AS_SPACE_RN) {
    *K = v[2] + q[1] * v[3] - 0.5 * q[2] * v[0] + 0.2 * v[1] * v[3];
    gradient[0] = -0.5 * q[2];
    gradient[1] = 0.2 * v[3];
    gradient[2] = 1.0;
    gradient[3] = q[1] + 0.2 * v[1];
    return;
  }
  static const double fin[3] = {0.3, -0.2, 0.9};
  double R[9], rate[3], side[3];
  mat_from_quaternion(q + 3, R);
  memcpy(rate, v, sizeof rate);
  if (m->space == AS_SPACE_SE3) mat_vec(R, v, rate);
  mat_vec(R, fin, side);
  const double *omega = v + 3;
  *K = vec_dot(side, rate) + 0.5 * omega[2] + 0.3 * q[1] * omega[0] + 0.2 * omega[1] * rate[1];
  for (int i = 0; i < 3; ++i) gradient[i] = side[i];
  gradient[1] += 0.2 * omega[1];
  gradient[3] = 0.3 * q[1];
  gradient[4] = 0.2 * rate[1];
  gradient[5] = 0.5;
  row_to_space(m, R, gradient);
}

/// The time c at which constraints are compared with the chosen motion.
static double clock_time(const manufactured *m, const as_point *at) {
  return m->moving ? at->t : asinh(at->q[0]);
}

static int constraint(const as_point *at, double *out, void *user) {
  const manufactured *m = user;
  double q[NQ], G[NG], G_chosen[NG], gradient[NG * NV];
  manufactured_exact(m, clock_time(m, at), q, NULL, NULL, NULL, NULL);
  eval_G(m, at->q, G, gradient);
  eval_G(m, q, G_chosen, gradient);
  for (int i = 0; i < size_lambda(m); ++i) out[i] = G[i] - G_chosen[i];
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  const manufactured *m = user;
  double q[NQ], v[NV], K, K_chosen, gradient[NV];
  manufactured_exact(m, clock_time(m, at), q, v, NULL, NULL, NULL);
  eval_K(m, at->q, at->v, &K, gradient);
  eval_K(m, q, v, &K_chosen, gradient);
  out[0] = K - K_chosen;
  return AS_DONE;
}

/// B, NG rows of NV.
static void eval_B(const manufactured *m, const as_point *at, double *B) {
  double G[NG];
  eval_G(m, at->q, G, B);
  if (m->moving) return;
  // B = D_q G - d/dt G(c) D_q c
  double q[NQ], v[NV], chosen[NG * NV], R[9];
  double clock[NV] = {1.0 / sqrt(1.0 + at->q[0] * at->q[0])};
  manufactured_exact(m, clock_time(m, at), q, v, NULL, NULL, NULL);
  eval_G(m, q, G, chosen);
  if (m->space != AS_SPACE_RN) {
    mat_from_quaternion(at->q + 3, R);
    row_to_space(m, R, clock);
  }
  for (int i = 0; i < size_lambda(m); ++i) {
    double rate = 0.0;
    for (int j = 0; j < size_v(m); ++j) rate += chosen[i * NV + j] * v[j];
    for (int j = 0; j < size_v(m); ++j) B[i * NV + j] -= rate * clock[j];
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const manufactured *m = user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    double B[NG * NV];
    eval_B(m, at, B);
    for (int i = 0; i < size_lambda(m); ++i)
      as_matrix_add_block(&blocks[AS_BLOCK_G_Q], i, 0, 1, size_v(m), B + i * NV);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    double K, gradient[NV];
    eval_K(m, at->q, at->v, &K, gradient);
    as_matrix_add_block(&blocks[AS_BLOCK_K_V], 0, 0, 1, size_v(m), gradient);
  }
  return AS_DONE;
}

// ---- mass and force --------------------------------------------------------------------------------

/// M, n x n by rows: a constant tridiagonal matrix, and perhaps w w^T with w(t,q).
static void eval_M(const manufactured *m, double t, const double *q, double *M) {
  const int n = size_v(m);
  double w[NV] = {0};
  if (m->mass_varies) {
    w[0] = 0.5 * sin(t + q[0]);
    w[1] = 0.3 * cos(q[2] + 2.0 * t);
    w[2] = 0.4 * q[1];
    w[3] = 0.3;
    if (m->space != AS_SPACE_RN) {
      double R[9];
      mat_from_quaternion(q + 3, R);
      w[3] = 0.4 * R[0];
      w[4] = 0.3 * R[5] + 0.2;
      w[5] = 0.5 * R[7];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double constant = i == j ? 1.0 + 0.2 * i : i == j + 1 || j == i + 1 ? 0.2 : 0.0;
      M[i * n + j] = constant + w[i] * w[j];
    }
}

static int mass(const as_point *at, as_matrix *out, void *user) {
  const manufactured *m = user;
  const int n = size_v(m);
  double M[NV * NV];
  eval_M(m, at->t, at->q, M);
  as_matrix_add_block(out, 0, 0, n, n, M);
  return AS_DONE;
}

/// Adds `sign` times r, what the constraints exert.
static void add_reaction(const manufactured *m, const as_point *at, double sign, double *out) {
  const double cubic = m->general ? 0.2 : 0.0;
  double friction = 0.0;
  if (m->holonomic) {
    double B[NG * NV];
    eval_B(m, at, B);
    for (int i = 0; i < size_lambda(m); ++i) {
      const double x = at->lambda[i], push = x + cubic * x * x * x;
      friction += 0.2 * sqrt(1.0 + x * x);
      for (int j = 0; j < size_v(m); ++j) out[j] += sign * push * B[i * NV + j];
    }
  }
  if (m->nonholonomic) {
    double K, gradient[NV];
    eval_K(m, at->q, at->v, &K, gradient);
    const double x = at->psi[0], push = x + cubic * x * x * x;
    friction += 0.2 * sqrt(1.0 + x * x);
    for (int j = 0; j < size_v(m); ++j) out[j] += sign * push * gradient[j];
  }
  if (m->general)
    for (int j = 0; j < size_v(m); ++j) out[j] += sign * friction * at->v[j];
}

/// How far q is from q_chosen, NV numbers: differences of positions, and half the axial vector of
/// R_chosen^T R - R^T R_chosen.
static void eval_stretch(const manufactured *m, const double *q_chosen, const double *q,
                         double *out) {
  for (int i = 0; i < 4; ++i) out[i] = q[i] - q_chosen[i];
  if (m->space == AS_SPACE_RN) return;
  double R_chosen[9], R[9], S[9];
  mat_from_quaternion(q_chosen + 3, R_chosen);
  mat_from_quaternion(q + 3, R);
  mat_t_mat(R_chosen, R, S);
  out[3] = 0.5 * (S[7] - S[5]);
  out[4] = 0.5 * (S[2] - S[6]);
  out[5] = 0.5 * (S[3] - S[1]);
}

static int force(const as_point *at, double *out, void *user) {
  const manufactured *m = user;
  const int n = size_v(m);
  double q[NQ], v[NV], vdot[NV], lambda[NG], psi[1], M[NV * NV], stretch[NV];
  manufactured_exact(m, at->t, q, v, vdot, lambda, psi);
  const as_point chosen = {.t = at->t, .q = q, .v = v, .lambda = lambda, .psi = psi};
  eval_M(m, at->t, q, M);
  eval_stretch(m, q, at->q, stretch);
  for (int i = 0; i < n; ++i) {
    const double x = at->v[i];
    out[i] = -0.5 * (x - v[i]) - 0.1 * (x * x * x - v[i] * v[i] * v[i]) - 4.0 * stretch[i];
    for (int j = 0; j < n; ++j) out[i] += M[i * n + j] * vdot[j];
  }
  if (m->states) {
    static const double E[NV][NX] = {{0.4, 0.2},  {-0.3, 0.5}, {0.2, -0.4},
                                     {0.5, -0.2}, {0.3, 0.3},  {-0.2, 0.4}};
    static const double F[NV][NY] = {{0.2, 0.5}, {0.4, 0.3},  {-0.3, 0.2},
                                     {0.3, 0.2}, {-0.2, 0.3}, {0.4, -0.2}};
    double x[NX], y[NY];
    manufactured_exact_states(at->t, x, NULL, y);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < NX; ++j) out[i] -= E[i][j] * (at->x[j] - x[j]);
      for (int j = 0; j < NY; ++j) out[i] -= F[i][j] * (at->y[j] - y[j]);
    }
  }
  add_reaction(m, &chosen, 1.0, out);
  if (m->general) add_reaction(m, at, -1.0, out);
  return AS_DONE;
}

// ---- states and outputs ----------------------------------------------------------------------------

/// How far a point is from the chosen solution; lambda and psi are zero where there are none.
typedef struct deviation {
  double q[NV], v[NV], vdot[NV], lambda[NG], psi, x[NX], y[NY];
  double x_cubed, y_cubed; ///< of the first components: x^3 - x(t)^3
} deviation;

static deviation deviation_of(const manufactured *m, const as_point *at) {
  deviation d = {0};
  double q[NQ], v[NV], vdot[NV], lambda[NG], psi[1], x[NX], y[NY];
  manufactured_exact(m, at->t, q, v, vdot, lambda, psi);
  manufactured_exact_states(at->t, x, NULL, y);
  eval_stretch(m, q, at->q, d.q);
  for (int i = 0; i < size_v(m); ++i) {
    d.v[i] = at->v[i] - v[i];
    d.vdot[i] = at->vdot[i] - vdot[i];
  }
  for (int i = 0; i < size_lambda(m); ++i) d.lambda[i] = at->lambda[i] - lambda[i];
  if (m->nonholonomic) d.psi = at->psi[0] - psi[0];
  for (int i = 0; i < NX; ++i) d.x[i] = at->x[i] - x[i];
  for (int i = 0; i < NY; ++i) d.y[i] = at->y[i] - y[i];
  d.x_cubed = at->x[0] * at->x[0] * at->x[0] - x[0] * x[0] * x[0];
  d.y_cubed = at->y[0] * at->y[0] * at->y[0] - y[0] * y[0] * y[0];
  return d;
}

static int state_rate(const as_point *at, double *out, void *user) {
  const deviation d = deviation_of(user, at);
  manufactured_exact_states(at->t, NULL, out, NULL);
  out[0] += -1.5 * d.x[0] + 0.8 * d.x[1] - 0.2 * d.x_cubed + 0.4 * d.q[1] + 0.3 * d.vdot[0] +
            0.2 * d.psi - 0.3 * d.lambda[0];
  out[1] += -0.8 * d.x[0] - d.x[1] + 0.5 * d.v[1] + 0.3 * d.y[0] - 0.4 * d.y[1];
  return AS_DONE;
}

static int output(const as_point *at, double *out, void *user) {
  const deviation d = deviation_of(user, at);
  manufactured_exact_states(at->t, NULL, NULL, out);
  out[0] += 0.5 * d.x[0] + 0.3 * d.q[2] - 0.4 * d.y_cubed;
  out[1] += 0.2 * d.vdot[0] + 0.1 * d.vdot[1] + 0.15 * d.lambda[0] - 0.1 * d.lambda[1] +
            0.15 * d.psi + 0.3 * d.v[0] - 0.25 * d.x[1] + 0.3 * d.y[0];
  return AS_DONE;
}

// ---- description -----------------------------------------------------------------------------------

as_problem_def manufactured_def(manufactured *m) {
  static const as_space_part r4 = {AS_SPACE_RN, 4}, r3so3 = {AS_SPACE_R3SO3, 1},
                             se3 = {AS_SPACE_SE3, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = m->space == AS_SPACE_RN ? &r4 : m->space == AS_SPACE_SE3 ? &se3 : &r3so3;
  def.n_parts = 1;
  def.n_lambda = size_lambda(m);
  def.n_psi = size_psi(m);
  def.mass_constant = !m->mass_varies;
  def.scleronomic = !m->moving;
  def.force_kind = m->general ? AS_FORCE_GENERAL : AS_FORCE_ADDITIVE;
  def.mass = mass;
  def.force = force;
  if (m->holonomic) {
    def.constraint = constraint;
    def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  }
  if (m->nonholonomic) {
    def.nonholonomic = nonholonomic;
    def.block[AS_BLOCK_K_V].source = AS_BLOCK_GIVEN;
  }
  if (m->holonomic || m->nonholonomic) def.jacobian = jacobian;
  if (m->states) {
    def.n_x = NX;
    def.n_y = NY;
    def.state_rate = state_rate;
    def.output = output;
  }
  def.time_scale = 1.0;
  def.user = m;
  return def;
}
