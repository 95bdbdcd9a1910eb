/// The pendulum in Cartesian coordinates, [ABC] Example 1: q = (x, y) in R^2.
///
///     m q'' = (0, -m g) - lambda (x, y),    0 = (x^2 + y^2 - l^2) / 2
///
/// Reference in the angle from below: theta'' = -g/l sin(theta),
/// lambda = m (theta'^2 + g/l cos(theta)).
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct pendulum {
  double m; ///< [kg]
  double l; ///< [m]
  double g; ///< [m/s^2]
} pendulum;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const pendulum *c = user;
  as_matrix_add(m, 0, 0, c->m);
  as_matrix_add(m, 1, 1, c->m);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at;
  const pendulum *c = user;
  out[0] = 0.0;
  out[1] = -c->m * c->g;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  out[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - c->l * c->l);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->v[0] + at->q[1] * at->v[1];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  for (int i = 0; i < 2; i++) {
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_F_Q], i, i, -at->lambda[0]);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, i, at->q[i]);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, i, at->v[i]);
    }
  }
  return AS_DONE;
}

/// y = (theta, theta')
static void angle_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const pendulum *c = context;
  dy[0] = y[1];
  dy[1] = -c->g / c->l * sin(y[0]);
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const pendulum *c = p->def.user;
  // theta' = (r x r')/l^2
  double y[2] = {atan2(p->q0[0], -p->q0[1]),
                 (p->q0[0] * p->v0[1] - p->q0[1] * p->v0[0]) / (c->l * c->l)};
  double dy[2];
  reference_ode(angle_rhs, c, 2, p->t0, t, 0.05, y);
  angle_rhs(t, y, dy, c);
  double s = c->l * sin(y[0]), k = c->l * cos(y[0]);
  double w = y[1], wdot = dy[1];
  reference_put(q, (double[]){s, -k}, 2);
  reference_put(v, (double[]){k * w, s * w}, 2);
  reference_put(vdot, (double[]){k * wdot - s * w * w, s * wdot + k * w * w}, 2);
  reference_put(lambda, (double[]){c->m * (w * w + c->g / c->l * cos(y[0]))}, 1);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const pendulum *c = p->def.user;
  return 0.5 * c->m * (v[0] * v[0] + v[1] * v[1]) + c->m * c->g * q[1];
}

static pendulum parameters = {.m = 1.0, .l = 1.0, .g = 9.81};
static const as_space_part space[] = {{AS_SPACE_RN, 2}};

// Everything but the name and the starting values.
#define PENDULUM                                                                                   \
  .def =                                                                                           \
      {                                                                                            \
          .parts = space,                                                                          \
          .n_parts = 1,                                                                            \
          .n_lambda = 1,                                                                           \
          .mass_constant = true,                                                                   \
          .scleronomic = true,                                                                     \
          .mass = mass,                                                                            \
          .force = force,                                                                          \
          .constraint = constraint,                                                                \
          .constraint_rate = constraint_rate,                                                      \
          .constraint_acceleration = constraint_acceleration,                                      \
          .jacobian = jacobian,                                                                    \
          .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_F_V] = {.source = AS_BLOCK_ZERO},                                    \
                    [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},                               \
          .time_scale = 1.0,                                                                       \
          .user = &parameters,                                                                     \
  },                                                                                               \
  .t0 = 0.0, .t_end = 2.0, .exact = exact, .energy = energy

const test_problem *problem_pendulum(void) {
  static const double q0[] = {0.2, -0.9797958971132712};
  static const double v0[] = {0.7612172366071899, 0.15538281775825558};
  static test_problem problem = {.name = "pendulum", PENDULUM, .q0 = q0, .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_pendulum_bottom(void) {
  static const double q0[] = {0.0, -1.0};
  static const double v0[] = {1.0, 0.0};
  static test_problem problem = {.name = "pendulum_bottom", PENDULUM, .q0 = q0, .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_pendulum_horizontal(void) {
  static const double q0[] = {-1.0, 0.0};
  static const double v0[] = {0.0, 0.0};
  static test_problem problem = {.name = "pendulum_horizontal", PENDULUM, .q0 = q0, .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

/// At the bottom theta'^2 = 4 g/l + 1: 1 rad/s is left at the top, of 6.3 rad/s.
const test_problem *problem_pendulum_over_top(void) {
  static const double q0[] = {0.0, -1.0};
  static const double v0[] = {6.343500610861483, 0.0};
  static test_problem problem = {.name = "pendulum_over_top", PENDULUM, .q0 = q0, .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
