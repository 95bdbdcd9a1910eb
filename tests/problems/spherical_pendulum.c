/// The spherical pendulum, twice: in R^3 with a constraint, and in angles (theta, phi) with M(q).
///
///     m r'' = (0, 0, -m g) - lambda r,    0 = (|r|^2 - l^2) / 2
///     r = l (sin(theta) cos(phi), sin(theta) sin(phi), -cos(theta))
///     m l^2 diag(1, sin^2) (theta'', phi'') =
///         (m l^2 sin cos phi'^2 - m g l sin, -2 m l^2 sin cos theta' phi')
///
/// Reference: the angular momentum h = sin^2 phi' [1/s] is kept, so that
/// theta'' = h^2 cos/sin^3 - g/l sin and phi' = h/sin^2; lambda = m (|r'|^2 - g z)/l^2.
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct spherical {
  double m; ///< [kg]
  double l; ///< [m]
  double g; ///< [m/s^2]
} spherical;

static spherical parameters = {.m = 1.0, .l = 1.0, .g = 9.81};

// Reference.

typedef struct reduced {
  double h;       ///< sin^2(theta) phi'
  double gravity; ///< g/l
} reduced;

/// y = (theta, theta', phi)
static void reduced_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const reduced *r = context;
  double s = sin(y[0]), c = cos(y[0]);
  dy[0] = y[1];
  dy[1] = r->h * r->h * c / (s * s * s) - r->gravity * s;
  dy[2] = r->h / (s * s);
}

/// The angles and their first and second derivatives at t, from those at t0.
static void solve_angles(const spherical *c, double t0, double t, const double *q0,
                         const double *v0, double *q, double *v, double *vdot) {
  double s0 = sin(q0[0]);
  reduced r = {.h = s0 * s0 * v0[1], .gravity = c->g / c->l};
  double y[3] = {q0[0], v0[0], q0[1]};
  double dy[3];
  reference_ode(reduced_rhs, &r, 3, t0, t, 0.04, y);
  reduced_rhs(t, y, dy, &r);
  q[0] = y[0];
  q[1] = y[2];
  v[0] = dy[0];
  v[1] = dy[2];
  vdot[0] = dy[1];
  vdot[1] = -2.0 * dy[2] * dy[0] * cos(y[0]) / sin(y[0]);
}

// In R^3.

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const spherical *c = user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, c->m);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at;
  const spherical *c = user;
  out[0] = 0.0;
  out[1] = 0.0;
  out[2] = -c->m * c->g;
  return AS_DONE;
}

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static int constraint(const as_point *at, double *out, void *user) {
  const spherical *c = user;
  out[0] = 0.5 * (dot(at->q, at->q) - c->l * c->l);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = dot(at->q, at->v);
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = dot(at->v, at->v);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  for (int i = 0; i < 3; i++) {
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

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const spherical *c = p->def.user;
  const double *r0 = p->q0, *v0 = p->v0;
  double rho = hypot(r0[0], r0[1]), l = c->l;
  double angles0[2] = {atan2(rho, -r0[2]), atan2(r0[1], r0[0])};
  double rates0[2] = {v0[2] / rho, (r0[0] * v0[1] - r0[1] * v0[0]) / (rho * rho)};
  double angles[2], rates[2], second[2];
  solve_angles(c, p->t0, t, angles0, rates0, angles, rates, second);

  // r = l (sin cos(phi), sin sin(phi), -cos), along the unit vectors out, side and up.
  double s = sin(angles[0]), k = cos(angles[0]);
  const double out[2] = {cos(angles[1]), sin(angles[1])}, side[2] = {-out[1], out[0]};
  double w = rates[0], f = rates[1];
  double position[3] = {l * s * out[0], l * s * out[1], -l * k};
  double v_out = l * k * w, v_side = l * s * f;
  double velocity[3] = {v_out * out[0] + v_side * side[0], v_out * out[1] + v_side * side[1],
                        l * s * w};
  double a_out = l * (k * second[0] - s * w * w - s * f * f);
  double a_side = l * (s * second[1] + 2.0 * k * w * f);
  double acceleration[3] = {a_out * out[0] + a_side * side[0], a_out * out[1] + a_side * side[1],
                            l * (s * second[0] + k * w * w)};
  double multiplier = c->m * (dot(velocity, velocity) - c->g * position[2]) / (l * l);
  reference_put(q, position, 3);
  reference_put(v, velocity, 3);
  reference_put(vdot, acceleration, 3);
  reference_put(lambda, &multiplier, 1);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const spherical *c = p->def.user;
  return 0.5 * c->m * dot(v, v) + c->m * c->g * q[2];
}

const test_problem *problem_spherical_pendulum(void) {
  static const as_space_part space[] = {{AS_SPACE_RN, 3}};
  static const double q0[] = {0.8414709848078965, 0.0, -0.5403023058681398}; // theta = 1
  static const double v0[] = {0.0, 1.5, 0.0};
  static test_problem problem = {
      .name = "spherical_pendulum",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 1,
              .mass_constant = true,
              .scleronomic = true,
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

// In angles.

static int angles_mass(const as_point *at, as_matrix *m, void *user) {
  const spherical *c = user;
  double inertia = c->m * c->l * c->l, s = sin(at->q[0]);
  as_matrix_add(m, 0, 0, inertia);
  as_matrix_add(m, 1, 1, inertia * s * s);
  return AS_DONE;
}

static int angles_force(const as_point *at, double *out, void *user) {
  const spherical *c = user;
  double inertia = c->m * c->l * c->l;
  double s = sin(at->q[0]), k = cos(at->q[0]);
  out[0] = inertia * s * k * at->v[1] * at->v[1] - c->m * c->g * c->l * s;
  out[1] = -2.0 * inertia * s * k * at->v[0] * at->v[1];
  return AS_DONE;
}

static int angles_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const spherical *c = user;
  double inertia = c->m * c->l * c->l;
  double s = sin(at->q[0]), k = cos(at->q[0]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_MA_Q], 1, 0, 2.0 * inertia * s * k * at->vdot[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    const double *v = at->v;
    double cos2 = k * k - s * s;
    as_matrix *b = &blocks[AS_BLOCK_F_Q];
    as_matrix_add(b, 0, 0, inertia * cos2 * v[1] * v[1] - c->m * c->g * c->l * k);
    as_matrix_add(b, 1, 0, -2.0 * inertia * cos2 * v[0] * v[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    as_matrix *b = &blocks[AS_BLOCK_F_V];
    as_matrix_add(b, 0, 1, 2.0 * inertia * s * k * at->v[1]);
    as_matrix_add(b, 1, 0, -2.0 * inertia * s * k * at->v[1]);
    as_matrix_add(b, 1, 1, -2.0 * inertia * s * k * at->v[0]);
  }
  return AS_DONE;
}

static void angles_exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                         double *lambda) {
  (void)lambda;
  double angles[2], rates[2], second[2];
  solve_angles(p->def.user, p->t0, t, p->q0, p->v0, angles, rates, second);
  reference_put(q, angles, 2);
  reference_put(v, rates, 2);
  reference_put(vdot, second, 2);
}

static double angles_energy(const test_problem *p, const double *q, const double *v) {
  const spherical *c = p->def.user;
  double s = sin(q[0]);
  return 0.5 * c->m * c->l * c->l * (v[0] * v[0] + s * s * v[1] * v[1]) -
         c->m * c->g * c->l * cos(q[0]);
}

const test_problem *problem_spherical_pendulum_angles(void) {
  static const as_space_part space[] = {{AS_SPACE_RN, 2}};
  static const double q0[] = {1.0, 0.0};
  static const double v0[] = {0.0, 1.7825926586671819}; // 1.5 / sin(1)
  static test_problem problem = {
      .name = "spherical_pendulum_angles",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .scleronomic = true,
              .mass = angles_mass,
              .force = angles_force,
              .jacobian = angles_jacobian,
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
      .exact = angles_exact,
      .energy = angles_energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
