/// A point in R^3 that falls with a prescribed speed: a constraint that is not linear in v, as in
/// Appell's machine, with the force along k_v after Chetaev.
///
///     m v' = (0, 0, -m g) - 2 psi v,    0 = k = |v|^2 - s^2,    s = speed + swing sin(W t)
///
/// Reference: the motion stays in a vertical plane. With the angle phi between v and the downward
/// vertical, phi' = -g sin(phi)/s; psi = m (g cos(phi) - s')/(2 s). If s is constant,
/// tan(phi/2) = tan(phi0/2) exp(-g t/s), and the path is (s^2/g)(phi0 - phi) ahead and
/// (s^2/g) log(sin(phi0)/sin(phi)) down.
#include <math.h>

#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"

typedef struct faller {
  double m;         ///< [kg]
  double g;         ///< [m/s^2]
  double speed;     ///< [m/s]
  double swing;     ///< [m/s]
  double frequency; ///< W [rad/s]
} faller;

static double speed_at(const faller *c, double t) {
  return c->speed + c->swing * sin(c->frequency * t);
}

static double speed_rate(const faller *c, double t) {
  return c->swing * c->frequency * cos(c->frequency * t);
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const faller *c = user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, c->m);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at;
  const faller *c = user;
  out[0] = 0.0;
  out[1] = 0.0;
  out[2] = -c->m * c->g;
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  const double *v = at->v;
  double s = speed_at(user, at->t);
  out[0] = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] - s * s;
  return AS_DONE;
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  out[0] = -2.0 * speed_at(user, at->t) * speed_rate(user, at->t);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  for (int i = 0; i < 3; i++) {
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) { // of -k_v^T psi
      as_matrix_add(&blocks[AS_BLOCK_F_V], i, i, -2.0 * at->psi[0]);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
      as_matrix_add(&blocks[AS_BLOCK_K_V], 0, i, 2.0 * at->v[i]);
    }
  }
  return AS_DONE;
}

/// The solution from phi and from the path ahead and down.
static void put_fall(const nonholonomic_problem *p, double t, double phi, double ahead, double down,
                     double *q, double *v, double *vdot, double *psi) {
  const faller *c = p->def.user;
  const double *q0 = p->q0, *v0 = p->v0;
  double level = hypot(v0[0], v0[1]), x = v0[0] / level, y = v0[1] / level;
  double s = speed_at(c, t), sdot = speed_rate(c, t), turn = -c->g * sin(phi);
  double a_ahead = sdot * sin(phi) + turn * cos(phi);
  double a_down = sdot * cos(phi) - turn * sin(phi);
  reference_put(q, (double[]){q0[0] + x * ahead, q0[1] + y * ahead, q0[2] - down}, 3);
  reference_put(v, (double[]){x * s * sin(phi), y * s * sin(phi), -s * cos(phi)}, 3);
  reference_put(vdot, (double[]){x * a_ahead, y * a_ahead, -a_down}, 3);
  reference_put(psi, (double[]){c->m * (c->g * cos(phi) - sdot) / (2.0 * s)}, 1);
}

static double angle_at_start(const nonholonomic_problem *p) {
  return atan2(hypot(p->v0[0], p->v0[1]), -p->v0[2]);
}

/// y = (phi, ahead, down)
static void fall_rhs(double t, const double *y, double *dy, const void *context) {
  const faller *c = context;
  double s = speed_at(c, t);
  dy[0] = -c->g * sin(y[0]) / s;
  dy[1] = s * sin(y[0]);
  dy[2] = s * cos(y[0]);
}

static void exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *psi) {
  (void)lambda;
  double y[3] = {angle_at_start(p), 0.0, 0.0};
  reference_ode(fall_rhs, p->def.user, 3, p->t0, t, 0.02, y);
  put_fall(p, t, y[0], y[1], y[2], q, v, vdot, psi);
}

static void constant_exact(const nonholonomic_problem *p, double t, double *q, double *v,
                           double *vdot, double *lambda, double *psi) {
  (void)lambda;
  const faller *c = p->def.user;
  double s = c->speed, phi0 = angle_at_start(p);
  double phi = 2.0 * atan(tan(0.5 * phi0) * exp(-c->g * (t - p->t0) / s));
  put_fall(p, t, phi, s * s / c->g * (phi0 - phi), s * s / c->g * log(sin(phi0) / sin(phi)), q, v,
           vdot, psi);
}

// Instances.

static const as_space_part space[] = {{AS_SPACE_RN, 3}};
static const double start_q[] = {0.0, 0.5, 1.0};
static const double start_v[] = {2.0, 1.0, 2.0}; // |v| = 3

#define FALLER(parameters)                                                                         \
  .parts = space, .n_parts = 1, .n_psi = 1, .mass_constant = true, .mass = mass, .force = force,   \
  .nonholonomic = nonholonomic, .nonholonomic_acceleration = nonholonomic_acceleration,            \
  .jacobian = jacobian,                                                                            \
  .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_ZERO},                                            \
            [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},                                           \
            [AS_BLOCK_K_Q] = {.source = AS_BLOCK_ZERO},                                            \
            [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},                                          \
  .time_scale = 0.3, .user = &(parameters)

const nonholonomic_problem *nonholonomic_speed_constant(void) {
  static faller parameters = {.m = 1.5, .g = 9.81, .speed = 3.0};
  static nonholonomic_problem problem = {
      .name = "speed_constant",
      .def = {FALLER(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 1.5,
      .q0 = start_q,
      .v0 = start_v,
      .exact = constant_exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_speed_varied(void) {
  static faller parameters = {.m = 1.5, .g = 9.81, .speed = 3.0, .swing = 1.0, .frequency = 4.0};
  static nonholonomic_problem problem = {
      .name = "speed_varied",
      .def = {FALLER(parameters)},
      .t0 = 0.0,
      .t_end = 1.5,
      .q0 = start_q,
      .v0 = start_v,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
