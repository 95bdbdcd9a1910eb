/// A rigid body on which nothing acts, on SO(3) and on SE(3).
///
///     J W' = -W x J W,    on SE(3) also m u' = -m W x u with x' = R u
///
/// Reference: Euler's equations with the quaternion; the centre of mass goes straight. A body that
/// turns about its middle axis is close to a saddle, where round-off in W would grow 10^6-fold with
/// each flip. For J = diag(I1, I2, I3) its rates are therefore kept as s, w2, u with
///
///     s = sqrt(c) w1 + sqrt(a) w3,   s' = -k w2 s       a = (I3 - I2)/I1,  c = (I2 - I1)/I3
///     u = sqrt(c) w1 - sqrt(a) w3,   u' = +k w2 u       k = sqrt(a c)
///     w2' = (I3 - I1)/I2 w1 w3
///
/// whose relative errors do not grow.
#include <math.h>
#include <string.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

typedef struct free_body {
  double m;    ///< [kg]; 0: on SO(3), where J is diagonal
  double J[9]; ///< body frame [kg m^2]
} free_body;

/// How many numbers of q and v come before the rotation.
static int offset(const free_body *c) { return c->m > 0.0 ? 3 : 0; }

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const free_body *c = user;
  int o = offset(c);
  for (int i = 0; i < o; i++) {
    as_matrix_add(m, i, i, c->m);
  }
  as_matrix_add_block(m, o, o, 3, 3, c->J);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const free_body *c = user;
  int o = offset(c);
  const double *omega = at->v + o;
  gyroscopic_torque(c->J, omega, out + o);
  if (o > 0) {
    vec_cross(at->v, omega, out);
    for (int i = 0; i < 3; i++) {
      out[i] *= c->m;
    }
  }
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const free_body *c = user;
  int o = offset(c);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    as_matrix *b = &blocks[AS_BLOCK_F_V];
    double x[9];
    gyroscopic_tangent(c->J, at->v + o, x);
    as_matrix_add_block(b, o, o, 3, 3, x);
    if (o > 0) {
      mat_skew(-c->m, at->v + o, x);
      as_matrix_add_block(b, 0, 0, 3, 3, x);
      mat_skew(c->m, at->v, x);
      as_matrix_add_block(b, 0, 3, 3, 3, x);
    }
  }
  return AS_DONE;
}

/// W' = -J^-1 (W x J W)
static void angular_acceleration(const free_body *c, const double *omega, double *out) {
  double J[9];
  gyroscopic_torque(c->J, omega, out);
  memcpy(J, c->J, sizeof J);
  reference_solve(3, J, out);
}

/// y = (quaternion, W)
static void rotation_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  quaternion_rate(y, y + 4, dy);
  angular_acceleration(context, y + 4, dy + 4);
}

/// sqrt(a), sqrt(c) of the head of the file.
static void saddle(const free_body *b, double *root_a, double *root_c) {
  *root_a = sqrt((b->J[8] - b->J[4]) / b->J[0]);
  *root_c = sqrt((b->J[4] - b->J[0]) / b->J[8]);
}

/// (s, w2, u) from W, in place.
static void to_saddle(const free_body *b, double *w) {
  double root_a, root_c;
  saddle(b, &root_a, &root_c);
  double w1 = w[0], w3 = w[2];
  w[0] = root_c * w1 + root_a * w3;
  w[2] = root_c * w1 - root_a * w3;
}

/// W from (s, w2, u), in place.
static void from_saddle(const free_body *b, double *w) {
  double root_a, root_c;
  saddle(b, &root_a, &root_c);
  double s = w[0], u = w[2];
  w[0] = 0.5 * (s + u) / root_c;
  w[2] = 0.5 * (s - u) / root_a;
}

/// y = (quaternion, s, w2, u)
static void saddle_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const free_body *b = context;
  double root_a, root_c, omega[3];
  saddle(b, &root_a, &root_c);
  memcpy(omega, y + 4, sizeof omega);
  from_saddle(b, omega);
  quaternion_rate(y, omega, dy);
  dy[4] = -root_a * root_c * y[5] * y[4];
  dy[5] = (b->J[8] - b->J[0]) / b->J[4] * omega[0] * omega[2];
  dy[6] = root_a * root_c * y[5] * y[6];
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  (void)lambda;
  const free_body *c = p->def.user;
  int o = offset(c);
  double y[7];
  memcpy(y, p->q0 + o, 4 * sizeof *y);
  memcpy(y + 4, p->v0 + o, 3 * sizeof *y);
  if (o > 0) {
    reference_ode(rotation_rhs, c, 7, p->t0, t, 0.05, y);
  } else {
    to_saddle(c, y + 4);
    reference_ode(saddle_rhs, c, 7, p->t0, t, 0.05, y);
    from_saddle(c, y + 4);
  }
  double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
  for (int i = 0; i < 4; i++) {
    y[i] /= length;
  }

  double q1[7], v1[6], a1[6];
  memcpy(q1 + o, y, 4 * sizeof *y);
  memcpy(v1 + o, y + 4, 3 * sizeof *y);
  angular_acceleration(c, y + 4, a1 + o);
  if (o > 0) {
    double R[9], velocity[3];
    mat_from_quaternion(p->q0 + o, R);
    mat_vec(R, p->v0, velocity);
    for (int i = 0; i < 3; i++) {
      q1[i] = p->q0[i] + (t - p->t0) * velocity[i];
    }
    mat_from_quaternion(y, R);
    mat_t_vec(R, velocity, v1);
    vec_cross(v1, y + 4, a1);
  }
  reference_put(q, q1, o + 4);
  reference_put(v, v1, o + 3);
  reference_put(vdot, a1, o + 3);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  (void)q;
  const free_body *c = p->def.user;
  int o = offset(c);
  double momentum[3];
  mat_vec(c->J, v + o, momentum);
  double sum = 0.5 * vec_dot(v + o, momentum);
  return o > 0 ? sum + 0.5 * c->m * vec_dot(v, v) : sum;
}

#define FREE_BODY                                                                                  \
  .n_parts = 1, .mass_constant = true, .scleronomic = true, .mass = mass, .force = force,          \
  .jacobian = jacobian, .time_scale = 0.2,                                                         \
  .block = {                                                                                       \
      [AS_BLOCK_F_Q] = {.source = AS_BLOCK_ZERO}, [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN}}

const test_problem *problem_free_rotation(void) {
  static free_body parameters = {.J = {1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.5}};
  static const as_space_part space[] = {{AS_SPACE_SO3, 1}};
  // About the middle axis: the body flips over after about 3.6 s, and again every 7.2 s.
  static const double q0[] = {1.0, 0.0, 0.0, 0.0};
  static const double v0[] = {0.01, 5.0, 0.01};
  static test_problem problem = {.name = "free_rotation",
                                 .def = {FREE_BODY, .parts = space, .user = &parameters},
                                 .t0 = 0.0,
                                 .t_end = 5.0,
                                 .q0 = q0,
                                 .v0 = v0,
                                 .exact = exact,
                                 .energy = energy};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_free_body(void) {
  static free_body parameters = {.m = 1.3,
                                 .J = {0.3, 0.02, -0.04, 0.02, 0.5, 0.03, -0.04, 0.03, 0.42}};
  static const as_space_part space[] = {{AS_SPACE_SE3, 1}};
  static const double q0[] = {0.4, -0.3, 0.2, 0.5, -0.5, 0.5, 0.5};
  static const double v0[] = {1.0, -0.5, 0.3, 1.5, -2.0, 3.0};
  static test_problem problem = {.name = "free_body",
                                 .def = {FREE_BODY, .parts = space, .user = &parameters},
                                 .t0 = 0.0,
                                 .t_end = 2.0,
                                 .q0 = q0,
                                 .v0 = v0,
                                 .exact = exact,
                                 .energy = energy};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
