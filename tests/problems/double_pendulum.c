/// The planar double pendulum in its angles from below, q = (theta1, theta2): a mass M(q).
///
/// With c = m2 l1 l2, d = theta1 - theta2:
///
///     M = [ (m1 + m2) l1^2   c cos(d) ]    f = [ -c sin(d) w2^2 - (m1 + m2) g l1 sin(theta1) ]
///         [ c cos(d)         m2 l2^2  ]        [  c sin(d) w1^2 - m2 g l2 sin(theta2)        ]
///
/// and the same with a slider: a third coordinate s of mass ms on a spring k follows the tip,
///
///     ms s'' = -k s - lambda,    0 = s - l1 sin(theta1) - l2 sin(theta2)
///
/// so that B = (-p', 1) with p = (l1 cos(theta1), l2 cos(theta2)). Reference: s eliminated,
/// (M + ms p p') w' = f - p (ms p''w + k s).
#include <math.h>
#include <stdbool.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct double_pendulum {
  double m[2];      ///< [kg]
  double l[2];      ///< [m]
  double g;         ///< [m/s^2]
  double slider;    ///< mass of the slider [kg]; 0 without one
  double stiffness; ///< of its spring [N/m]
} double_pendulum;

/// What M, f and their derivatives are made of.
typedef struct terms {
  double c_cos;      ///< m2 l1 l2 cos(d)
  double c_sin;      ///< m2 l1 l2 sin(d)
  double inertia[2]; ///< diagonal of M
  double weight[2];  ///< g l1 (m1 + m2), g l2 m2
} terms;

static terms terms_at(const double_pendulum *p, const double *q) {
  double c = p->m[1] * p->l[0] * p->l[1];
  double both = p->m[0] + p->m[1];
  return (terms){
      .c_cos = c * cos(q[0] - q[1]),
      .c_sin = c * sin(q[0] - q[1]),
      .inertia = {both * p->l[0] * p->l[0], p->m[1] * p->l[1] * p->l[1]},
      .weight = {both * p->g * p->l[0], p->m[1] * p->g * p->l[1]},
  };
}

static void pendulum_force(const double_pendulum *p, const double *q, const double *v,
                           double *out) {
  terms k = terms_at(p, q);
  out[0] = -k.c_sin * v[1] * v[1] - k.weight[0] * sin(q[0]);
  out[1] = k.c_sin * v[0] * v[0] - k.weight[1] * sin(q[1]);
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  const double_pendulum *p = user;
  terms k = terms_at(p, at->q);
  as_matrix_add(m, 0, 0, k.inertia[0]);
  as_matrix_add(m, 0, 1, k.c_cos);
  as_matrix_add(m, 1, 0, k.c_cos);
  as_matrix_add(m, 1, 1, k.inertia[1]);
  if (p->slider > 0.0) {
    as_matrix_add(m, 2, 2, p->slider);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const double_pendulum *p = user;
  pendulum_force(p, at->q, at->v, out);
  if (p->slider > 0.0) {
    out[2] = -p->stiffness * at->q[2];
  }
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const double_pendulum *p = user;
  out[0] = at->q[2] - p->l[0] * sin(at->q[0]) - p->l[1] * sin(at->q[1]);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const double_pendulum *p = user;
  const double *q = at->q, *v = at->v;
  out[0] = v[2] - p->l[0] * cos(q[0]) * v[0] - p->l[1] * cos(q[1]) * v[1];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const double_pendulum *p = user;
  const double *q = at->q, *v = at->v;
  out[0] = p->l[0] * sin(q[0]) * v[0] * v[0] + p->l[1] * sin(q[1]) * v[1] * v[1];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const double_pendulum *p = user;
  const double *q = at->q, *v = at->v;
  terms k = terms_at(p, q);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_MA_Q];
    for (int i = 0; i < 2; i++) {
      as_matrix_add(b, i, 0, -k.c_sin * at->vdot[1 - i]);
      as_matrix_add(b, i, 1, k.c_sin * at->vdot[1 - i]);
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_F_Q];
    as_matrix_add(b, 0, 0, -k.c_cos * v[1] * v[1] - k.weight[0] * cos(q[0]));
    as_matrix_add(b, 0, 1, k.c_cos * v[1] * v[1]);
    as_matrix_add(b, 1, 0, k.c_cos * v[0] * v[0]);
    as_matrix_add(b, 1, 1, -k.c_cos * v[0] * v[0] - k.weight[1] * cos(q[1]));
    if (p->slider > 0.0) {
      as_matrix_add(b, 0, 0, -p->l[0] * sin(q[0]) * at->lambda[0]);
      as_matrix_add(b, 1, 1, -p->l[1] * sin(q[1]) * at->lambda[0]);
      as_matrix_add(b, 2, 2, -p->stiffness);
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    as_matrix *b = &blocks[AS_BLOCK_F_V];
    as_matrix_add(b, 0, 1, -2.0 * k.c_sin * v[1]);
    as_matrix_add(b, 1, 0, 2.0 * k.c_sin * v[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_G_Q];
    as_matrix_add(b, 0, 0, -p->l[0] * cos(q[0]));
    as_matrix_add(b, 0, 1, -p->l[1] * cos(q[1]));
    as_matrix_add(b, 0, 2, 1.0);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_GDOT_Q];
    as_matrix_add(b, 0, 0, p->l[0] * sin(q[0]) * v[0]);
    as_matrix_add(b, 0, 1, p->l[1] * sin(q[1]) * v[1]);
  }
  return AS_DONE;
}

// Reference.

/// The tip's x and what its derivatives are made of: x' = p . w, x'' = p . w' + bias.
typedef struct tip {
  double x;
  double p[2];
  double bias;
} tip;

static tip tip_at(const double_pendulum *c, const double *q, const double *v) {
  const double s[2] = {c->l[0] * sin(q[0]), c->l[1] * sin(q[1])};
  return (tip){
      .x = s[0] + s[1],
      .p = {c->l[0] * cos(q[0]), c->l[1] * cos(q[1])},
      .bias = -s[0] * v[0] * v[0] - s[1] * v[1] * v[1],
  };
}

/// y = (theta1, theta2, w1, w2)
static void angles_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const double_pendulum *c = context;
  terms k = terms_at(c, y);
  tip x = tip_at(c, y, y + 2);
  double f[2];
  pendulum_force(c, y, y + 2, f);
  double pull = c->slider * x.bias + c->stiffness * x.x;
  f[0] -= x.p[0] * pull;
  f[1] -= x.p[1] * pull;
  double m00 = k.inertia[0] + c->slider * x.p[0] * x.p[0];
  double m01 = k.c_cos + c->slider * x.p[0] * x.p[1];
  double m11 = k.inertia[1] + c->slider * x.p[1] * x.p[1];
  double determinant = m00 * m11 - m01 * m01;
  dy[0] = y[2];
  dy[1] = y[3];
  dy[2] = (m11 * f[0] - m01 * f[1]) / determinant;
  dy[3] = (m00 * f[1] - m01 * f[0]) / determinant;
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const double_pendulum *c = p->def.user;
  bool slider = c->slider > 0.0;
  double y[4] = {p->q0[0], p->q0[1], p->v0[0], p->v0[1]};
  double dy[4];
  reference_ode(angles_rhs, c, 4, p->t0, t, 0.02, y);
  angles_rhs(t, y, dy, c);
  reference_put(q, y, 2);
  reference_put(v, y + 2, 2);
  reference_put(vdot, dy + 2, 2);
  if (slider) {
    tip x = tip_at(c, y, y + 2);
    double velocity = x.p[0] * y[2] + x.p[1] * y[3];
    double acceleration = x.p[0] * dy[2] + x.p[1] * dy[3] + x.bias;
    double multiplier = -c->slider * acceleration - c->stiffness * x.x;
    reference_put(q != NULL ? q + 2 : NULL, &x.x, 1);
    reference_put(v != NULL ? v + 2 : NULL, &velocity, 1);
    reference_put(vdot != NULL ? vdot + 2 : NULL, &acceleration, 1);
    reference_put(lambda, &multiplier, 1);
  }
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const double_pendulum *c = p->def.user;
  terms k = terms_at(c, q);
  double kinetic =
      0.5 * (k.inertia[0] * v[0] * v[0] + k.inertia[1] * v[1] * v[1]) + k.c_cos * v[0] * v[1];
  double potential = -k.weight[0] * cos(q[0]) - k.weight[1] * cos(q[1]);
  if (c->slider > 0.0) {
    kinetic += 0.5 * c->slider * v[2] * v[2];
    potential += 0.5 * c->stiffness * q[2] * q[2];
  }
  return kinetic + potential;
}

const test_problem *problem_double_pendulum(void) {
  static double_pendulum parameters = {.m = {1.0, 1.0}, .l = {1.0, 1.0}, .g = 9.81};
  static const as_space_part space[] = {{AS_SPACE_RN, 2}};
  static const double q0[] = {1.5707963267948966, 1.5707963267948966};
  static const double v0[] = {0.0, 0.0};
  static test_problem problem = {
      .name = "double_pendulum",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_MA_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 1.0,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 2.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_double_pendulum_slider(void) {
  static double_pendulum parameters = {
      .m = {1.0, 0.7}, .l = {0.8, 1.1}, .g = 9.81, .slider = 0.5, .stiffness = 6.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 3}};
  // s = 0.8 sin(0.9) + 1.1 sin(-0.4), s' = 0.8 cos(0.9) 0.3 - 1.1 cos(-0.4) 0.7
  static const double q0[] = {0.9, -0.4, 0.19830135116247116};
  static const double v0[] = {0.3, -0.7, -0.560030572997262};
  static test_problem problem = {
      .name = "double_pendulum_slider",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 1,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_MA_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 1.0,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 2.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
