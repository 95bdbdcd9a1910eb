/// A heavy top on R^3xSO(3), as in [ABC] section 5 but slower, with a reaction wheel.
///
/// Centre of mass at X in the body frame; the tip stays at the origin. The wheel spins about the unit
/// axis e of the body with the angular momentum x1 (beyond what it has at rest in the body), which
/// the torque y changes; x2 is the filtered rate of turn about e, and y is fed the angular
/// acceleration as well:
///
///     m p'' = m gravity + lambda,   0 = -p + R X
///     J W' = -W x (J W + x1 e) - y e - X x R^T lambda
///     x1' = y,   x2' = (e . W - x2) / tau,   y = K x2 + D e . W'
///
/// Reference: (quaternion, W, x1, x2) about the tip:
///     (J_0 + D e e^T) W' = -W x (J_0 W + x1 e) - K x2 e + m X x R^T gravity
/// with J_0 = J + m (|X|^2 I - X X^T).
#include <math.h>

#include "problems/mechatronic.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

typedef struct top {
  double m;    ///< [kg]
  double J[9]; ///< about the centre of mass [kg m^2]
  double X[3]; ///< [m]
  double e[3];
  double g;         ///< along -z [m/s^2]
  double K, D, tau; ///< [N m s], [kg m^2], [s]
} top;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const top *c = user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, c->m);
  }
  as_matrix_add_block(m, 3, 3, 3, 3, c->J);
  return AS_DONE;
}

/// -W x (J W + x1 e) - y e
static void torque(const top *c, const double *J, const double *W, double x1, double y,
                   double *out) {
  double wheel[3];
  gyroscopic_torque(J, W, out);
  vec_cross(c->e, W, wheel);
  for (int i = 0; i < 3; i++) {
    out[i] += x1 * wheel[i] - y * c->e[i];
  }
}

static int force(const as_point *at, double *out, void *user) {
  const top *c = user;
  out[0] = out[1] = 0.0;
  out[2] = -c->m * c->g;
  torque(c, c->J, at->v + 3, at->x[0], at->y[0], out + 3);
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const top *c = user;
  double R[9];
  mat_from_quaternion(at->q + 3, R);
  mat_vec(R, c->X, out);
  for (int i = 0; i < 3; i++) {
    out[i] -= at->q[i];
  }
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const top *c = user;
  double R[9], turn[3];
  mat_from_quaternion(at->q + 3, R);
  vec_cross(at->v + 3, c->X, turn);
  mat_vec(R, turn, out);
  for (int i = 0; i < 3; i++) {
    out[i] -= at->v[i];
  }
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const top *c = user;
  double R[9], turn[3];
  mat_from_quaternion(at->q + 3, R);
  vec_cross(at->v + 3, c->X, turn);
  vec_cross(at->v + 3, turn, turn);
  mat_vec(R, turn, out);
  return AS_DONE;
}

static int state_rate(const as_point *at, double *out, void *user) {
  const top *c = user;
  out[0] = at->y[0];
  out[1] = (vec_dot(c->e, at->v + 3) - at->x[1]) / c->tau;
  return AS_DONE;
}

static int output(const as_point *at, double *out, void *user) {
  const top *c = user;
  out[0] = c->K * at->x[1] + c->D * vec_dot(c->e, at->vdot + 3);
  return AS_DONE;
}

static void mechanical_blocks(const top *c, const as_point *at, as_block_set wanted,
                              as_matrix *blocks) {
  double R[9], skew[9], other[9], product[9], turn[3];
  mat_from_quaternion(at->q + 3, R);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) { // of -X x R^T lambda
    mat_t_vec(R, at->lambda, turn);
    mat_skew(-1.0, c->X, skew);
    mat_skew(1.0, turn, other);
    mat_mat(1.0, skew, other, product);
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 3, 3, 3, 3, product);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    gyroscopic_tangent(c->J, at->v + 3, other);
    mat_skew(at->x[0], c->e, skew);
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 3, 3, 3, 3, other);
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 3, 3, 3, 3, skew);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_X)) {
    vec_cross(c->e, at->v + 3, turn);
    as_matrix_add_block(&blocks[AS_BLOCK_F_X], 3, 0, 3, 1, turn);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    for (int i = 0; i < 3; i++) {
      as_matrix_add(&blocks[AS_BLOCK_G_Q], i, i, -1.0);
    }
    mat_skew(-1.0, c->X, skew);
    mat_mat(1.0, R, skew, product);
    as_matrix_add_block(&blocks[AS_BLOCK_G_Q], 0, 3, 3, 3, product);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    vec_cross(at->v + 3, c->X, turn);
    mat_skew(-1.0, turn, skew);
    mat_mat(1.0, R, skew, product);
    as_matrix_add_block(&blocks[AS_BLOCK_GDOT_Q], 0, 3, 3, 3, product);
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const top *c = user;
  mechanical_blocks(c, at, wanted, blocks);
  for (int i = 0; i < 3; i++) {
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Y))
      as_matrix_add(&blocks[AS_BLOCK_F_Y], 3 + i, 0, -c->e[i]);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_V))
      as_matrix_add(&blocks[AS_BLOCK_PHI_V], 1, 3 + i, c->e[i] / c->tau);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_VDOT))
      as_matrix_add(&blocks[AS_BLOCK_CHI_VDOT], 0, 3 + i, c->D * c->e[i]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_X))
    as_matrix_add(&blocks[AS_BLOCK_PHI_X], 1, 1, -1.0 / c->tau);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_Y)) as_matrix_add(&blocks[AS_BLOCK_PHI_Y], 0, 0, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_X)) as_matrix_add(&blocks[AS_BLOCK_CHI_X], 0, 1, c->K);
  return AS_DONE;
}

/// W' for z = (quaternion, W, x1, x2), and R.
static void turning(const top *c, const double *z, double *R, double *Wdot) {
  double J0[9], matrix[9], down[3], weight[3];
  const double gravity[3] = {0.0, 0.0, -c->m * c->g}, X2 = vec_dot(c->X, c->X);
  mat_from_quaternion(z, R);
  for (int i = 0; i < 9; i++) {
    const int row = i / 3, col = i % 3;
    J0[i] = c->J[i] + c->m * ((row == col ? X2 : 0.0) - c->X[row] * c->X[col]);
    matrix[i] = J0[i] + c->D * c->e[row] * c->e[col];
  }
  torque(c, J0, z + 4, z[7], c->K * z[8], Wdot);
  mat_t_vec(R, gravity, down);
  vec_cross(c->X, down, weight);
  for (int i = 0; i < 3; i++) {
    Wdot[i] += weight[i];
  }
  reference_solve(3, matrix, Wdot);
}

static void rhs(double t, const double *z, double *dz, const void *context) {
  (void)t;
  const top *c = context;
  double R[9];
  quaternion_rate(z, z + 4, dz);
  turning(c, z, R, dz + 4);
  dz[7] = c->K * z[8] + c->D * vec_dot(c->e, dz + 4);
  dz[8] = (vec_dot(c->e, z + 4) - z[8]) / c->tau;
}

static void exact(const mechatronic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *x, double *y) {
  const top *c = p->def.user;
  double z[9], R[9], Wdot[3], position[3], turn[3], twice[3], acceleration[3], velocity[3];
  reference_put(z, p->q0 + 3, 4);
  reference_put(z + 4, p->v0 + 3, 3);
  reference_put(z + 7, p->x0, 2);
  reference_ode(rhs, c, 9, p->t0, t, 0.02, z);
  double length = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2] + z[3] * z[3]);
  for (int i = 0; i < 4; i++) {
    z[i] /= length;
  }
  turning(c, z, R, Wdot);
  mat_vec(R, c->X, position);
  vec_cross(z + 4, c->X, turn);
  mat_vec(R, turn, velocity);
  vec_cross(z + 4, turn, twice);
  vec_cross(Wdot, c->X, turn);
  for (int i = 0; i < 3; i++) {
    turn[i] += twice[i];
  }
  mat_vec(R, turn, acceleration);
  reference_put(q, position, 3);
  reference_put(v, velocity, 3);
  reference_put(vdot, acceleration, 3);
  if (q) reference_put(q + 3, z, 4);
  if (v) reference_put(v + 3, z + 4, 3);
  if (vdot) reference_put(vdot + 3, Wdot, 3);
  reference_put(
      lambda,
      (double[]){c->m * acceleration[0], c->m * acceleration[1], c->m * (acceleration[2] + c->g)},
      3);
  reference_put(x, z + 7, 2);
  reference_put(y, (double[]){c->K * z[8] + c->D * vec_dot(c->e, Wdot)}, 1);
}

const mechatronic_problem *mechatronic_wheel_top(void) {
  static top parameters = {.m = 15.0,
                           .J = {0.234375, 0.0, 0.0, 0.0, 0.46875, 0.0, 0.0, 0.0, 0.234375},
                           .X = {0.0, 1.0, 0.0},
                           .e = {0.6, 0.0, 0.8},
                           .g = 9.81,
                           .K = 8.0,
                           .D = 3.0,
                           .tau = 0.1};
  static const as_space_part space[] = {{AS_SPACE_R3SO3, 1}};
  // v = W x X
  static const double q0[] = {0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  static const double v0[] = {1.5, 0.0, 0.5, 0.5, 12.0, -1.5}, x0[] = {2.0, 0.0};
  static mechatronic_problem problem = {
      .name = "wheel_top",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 3,
              .n_x = 2,
              .n_y = 1,
              .mass_constant = true,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .state_rate = state_rate,
              .output = output,
              .jacobian = jacobian,
              .block = {MECHATRONIC_GIVEN(F_Q), MECHATRONIC_GIVEN(F_V), MECHATRONIC_GIVEN(F_X),
                        MECHATRONIC_GIVEN(F_Y), MECHATRONIC_GIVEN(G_Q), MECHATRONIC_GIVEN(GDOT_Q),
                        MECHATRONIC_ZERO(PHI_Q), MECHATRONIC_GIVEN(PHI_V),
                        MECHATRONIC_ZERO(PHI_VDOT), MECHATRONIC_ZERO(PHI_LAMBDA),
                        MECHATRONIC_GIVEN(PHI_X), MECHATRONIC_GIVEN(PHI_Y), MECHATRONIC_ZERO(CHI_Q),
                        MECHATRONIC_ZERO(CHI_V), MECHATRONIC_GIVEN(CHI_VDOT),
                        MECHATRONIC_ZERO(CHI_LAMBDA), MECHATRONIC_GIVEN(CHI_X),
                        MECHATRONIC_ZERO(CHI_Y)},
              .time_scale = 0.1,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 1.0,
      .steps = 1000,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
