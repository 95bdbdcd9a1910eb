/// A pendulum in R^2 whose pivot is moved along (s(t), 0), s = A sin(w t): a rheonomic constraint.
///
///     m q'' = (0, -m g) - lambda (x - s, y),    0 = ((x - s)^2 + y^2 - l^2) / 2
///
/// Reference in the angle from below: l theta'' = -g sin(theta) - s'' cos(theta).
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct driven {
  double m; ///< [kg]
  double l; ///< [m]
  double g; ///< [m/s^2]
  double A; ///< amplitude of the pivot [m]
  double w; ///< its frequency [rad/s]
} driven;

/// The pivot's s, s', s''.
typedef struct pivot {
  double s;
  double rate;
  double acceleration;
} pivot;

static pivot pivot_at(const driven *c, double t) {
  double sine = sin(c->w * t);
  return (pivot){c->A * sine, c->A * c->w * cos(c->w * t), -c->A * c->w * c->w * sine};
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const driven *c = user;
  as_matrix_add(m, 0, 0, c->m);
  as_matrix_add(m, 1, 1, c->m);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at;
  const driven *c = user;
  out[0] = 0.0;
  out[1] = -c->m * c->g;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const driven *c = user;
  double x = at->q[0] - pivot_at(c, at->t).s, y = at->q[1];
  out[0] = 0.5 * (x * x + y * y - c->l * c->l);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  pivot b = pivot_at(user, at->t);
  out[0] = (at->q[0] - b.s) * (at->v[0] - b.rate) + at->q[1] * at->v[1];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  pivot b = pivot_at(user, at->t);
  double vx = at->v[0] - b.rate, vy = at->v[1];
  out[0] = vx * vx + vy * vy - (at->q[0] - b.s) * b.acceleration;
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  pivot b = pivot_at(user, at->t);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, -at->lambda[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 1, 1, -at->lambda[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, at->q[0] - b.s);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, at->q[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 0, at->v[0] - b.rate);
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 1, at->v[1]);
  }
  return AS_DONE;
}

/// y = (theta, theta')
static void angle_rhs(double t, const double *y, double *dy, const void *context) {
  const driven *c = context;
  dy[0] = y[1];
  dy[1] = -(c->g * sin(y[0]) + pivot_at(c, t).acceleration * cos(y[0])) / c->l;
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const driven *c = p->def.user;
  pivot b = pivot_at(c, p->t0);
  double x0 = p->q0[0] - b.s, vx0 = p->v0[0] - b.rate;
  double y[2] = {atan2(x0, -p->q0[1]), (x0 * p->v0[1] - p->q0[1] * vx0) / (c->l * c->l)};
  double dy[2];
  reference_ode(angle_rhs, c, 2, p->t0, t, 0.05, y);
  angle_rhs(t, y, dy, c);
  b = pivot_at(c, t);
  double s = c->l * sin(y[0]), k = c->l * cos(y[0]);
  double w = y[1], wdot = dy[1];
  reference_put(q, (double[]){b.s + s, -k}, 2);
  reference_put(v, (double[]){b.rate + k * w, s * w}, 2);
  reference_put(vdot, (double[]){b.acceleration + k * wdot - s * w * w, s * wdot + k * w * w}, 2);
  // The force balance along the rod.
  double tension = c->m * (c->l * w * w + c->g * cos(y[0]) - b.acceleration * sin(y[0]));
  reference_put(lambda, (double[]){tension / c->l}, 1);
}

const test_problem *problem_driven_pendulum(void) {
  static driven parameters = {.m = 1.2, .l = 0.9, .g = 9.81, .A = 0.15, .w = 6.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 2}};
  // From below, where the pivot's velocity is A w = 0.9: theta' = 1.
  static const double q0[] = {0.0, -0.9};
  static const double v0[] = {1.8, 0.0};
  static test_problem problem = {
      .name = "driven_pendulum",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 1,
              .mass_constant = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_ZERO},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 0.2,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 2.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
