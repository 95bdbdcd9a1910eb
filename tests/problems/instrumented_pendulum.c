/// A pendulum in Cartesian coordinates, q = (q1, q2), with sensors and actuators.
///
///     m q'' = (0, -m g) + T e + N q - lambda q,   0 = (q1^2 + q2^2 - l^2) / 2,   e = (-q2, q1) / l
///
/// with a tangential force T and a radial one N l from its controller. In the angle from below, where
/// q = l (sin, -cos), e = (cos, sin):
///
///     m l angle'' = -m g sin(angle) + T,   lambda = m (angle'^2 + g/l cos(angle)) + N
///
/// Three of them:
/// - accelerometer: y1 = e . q'', y2 = kappa m A tanh(y1 / A) (an algebraic loop of gain kappa),
///   x' = (y1 - x) / tau, T = y2 - c x. The reference solves the loop by Newton's method.
/// - force sensor: x' = (lambda - x) / tau, y = kappa (x + s lambda), T = -y e . q', N = r y. The
///   loop through lambda is linear.
/// - circuit: L x' = u - R x - k w, w = e . q' / l, u = U sin(t) + y, y = -D w; T = k x / l. With
///   epsilon = L / R = 1e-6 the solution without initial layer is x = F - epsilon F' +
///   O(epsilon^2), F = (u - k w) / R.
#include <math.h>

#include "problems/mechatronic.h"
#include "problems/reference_ode.h"

typedef enum kind { ACCELEROMETER, FORCE_SENSOR, CIRCUIT } kind;

typedef struct pendulum {
  kind kind;
  double m;             ///< [kg]
  double l;             ///< [m]
  double g;             ///< [m/s^2]
  double kappa;         ///< loop gain [-], or of the brake [s/m^2]
  double A;             ///< accelerometer: where it saturates [m/s^2]
  double tau;           ///< of the filter [s]
  double c;             ///< accelerometer: [kg]
  double s, r;          ///< force sensor: feed-through, and radial gain
  double U, R, L, k, D; ///< circuit
} pendulum;

// ---- mechanics ------------------------------------------------------------------------------------

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const pendulum *c = user;
  as_matrix_add(m, 0, 0, c->m);
  as_matrix_add(m, 1, 1, c->m);
  return AS_DONE;
}

static double across(const pendulum *c, const double *q, const double *u) {
  return (q[0] * u[1] - q[1] * u[0]) / c->l; // e . u
}

/// T and N.
static void controlled(const pendulum *c, const as_point *at, double *T, double *N) {
  *N = 0.0;
  if (c->kind == ACCELEROMETER) {
    *T = at->y[1] - c->c * at->x[0];
  } else if (c->kind == FORCE_SENSOR) {
    *T = -at->y[0] * across(c, at->q, at->v);
    *N = c->r * at->y[0];
  } else {
    *T = c->k * at->x[0] / c->l;
  }
}

static int force(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  double T, N;
  controlled(c, at, &T, &N);
  out[0] = -T * at->q[1] / c->l + N * at->q[0];
  out[1] = -c->m * c->g + T * at->q[0] / c->l + N * at->q[1];
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

// ---- states and outputs ---------------------------------------------------------------------------

static double voltage(const pendulum *c, double t, double y) { return c->U * sin(t) + y; }

static int state_rate(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  if (c->kind == ACCELEROMETER)
    out[0] = (at->y[0] - at->x[0]) / c->tau;
  else if (c->kind == FORCE_SENSOR)
    out[0] = (at->lambda[0] - at->x[0]) / c->tau;
  else
    out[0] =
        (voltage(c, at->t, at->y[0]) - c->R * at->x[0] - c->k * across(c, at->q, at->v) / c->l) /
        c->L;
  return AS_DONE;
}

static double saturated(const pendulum *c, double a) {
  return c->kappa * c->m * c->A * tanh(a / c->A);
}

static double saturated_slope(const pendulum *c, double a) {
  const double e = cosh(a / c->A);
  return c->kappa * c->m / (e * e);
}

static int output(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  if (c->kind == ACCELEROMETER) {
    out[0] = across(c, at->q, at->vdot);
    out[1] = saturated(c, at->y[0]);
  } else if (c->kind == FORCE_SENSOR) {
    out[0] = c->kappa * (at->x[0] + c->s * at->lambda[0]);
  } else {
    out[0] = -c->D * across(c, at->q, at->v) / c->l;
  }
  return AS_DONE;
}

// ---- Jacobian blocks ------------------------------------------------------------------------------

static void add(as_block_set wanted, as_matrix *blocks, as_block block, int row, int col,
                double value) {
  if (wanted & AS_BLOCK_BIT(block)) as_matrix_add(&blocks[block], row, col, value);
}

/// Row 0 of a block: factor times the derivative of e . u by q, or by u.
static void add_across(const pendulum *c, as_block_set wanted, as_matrix *blocks, as_block by_q,
                       as_block by_u, const as_point *at, const double *u, double factor) {
  add(wanted, blocks, by_q, 0, 0, factor * u[1] / c->l);
  add(wanted, blocks, by_q, 0, 1, -factor * u[0] / c->l);
  add(wanted, blocks, by_u, 0, 0, -factor * at->q[1] / c->l);
  add(wanted, blocks, by_u, 0, 1, factor * at->q[0] / c->l);
}

static void force_blocks(const pendulum *c, const as_point *at, as_block_set wanted,
                         as_matrix *blocks) {
  const double *q = at->q, *v = at->v, e[2] = {-q[1] / c->l, q[0] / c->l};
  double T, N;
  controlled(c, at, &T, &N);
  add(wanted, blocks, AS_BLOCK_F_Q, 0, 1, -T / c->l);
  add(wanted, blocks, AS_BLOCK_F_Q, 1, 0, T / c->l);
  for (int i = 0; i < 2; i++) {
    add(wanted, blocks, AS_BLOCK_F_Q, i, i, N - at->lambda[0]);
    if (c->kind == ACCELEROMETER) {
      add(wanted, blocks, AS_BLOCK_F_X, i, 0, -c->c * e[i]);
      add(wanted, blocks, AS_BLOCK_F_Y, i, 1, e[i]);
    } else if (c->kind == CIRCUIT) {
      add(wanted, blocks, AS_BLOCK_F_X, i, 0, c->k / c->l * e[i]);
    } else { // T = -y e . v
      add(wanted, blocks, AS_BLOCK_F_Q, i, 0, -at->y[0] * e[i] * v[1] / c->l);
      add(wanted, blocks, AS_BLOCK_F_Q, i, 1, at->y[0] * e[i] * v[0] / c->l);
      for (int j = 0; j < 2; j++) {
        add(wanted, blocks, AS_BLOCK_F_V, i, j, -at->y[0] * e[i] * e[j]);
      }
      add(wanted, blocks, AS_BLOCK_F_Y, i, 0, -across(c, q, v) * e[i] + c->r * q[i]);
    }
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const pendulum *c = user;
  for (int i = 0; i < 2; i++) {
    add(wanted, blocks, AS_BLOCK_G_Q, 0, i, at->q[i]);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q))
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, i, at->v[i]);
  }
  if (wanted & (AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V) |
                AS_BLOCK_BIT(AS_BLOCK_F_X) | AS_BLOCK_BIT(AS_BLOCK_F_Y)))
    force_blocks(c, at, wanted, blocks);
  if (c->kind == ACCELEROMETER) {
    add(wanted, blocks, AS_BLOCK_PHI_X, 0, 0, -1.0 / c->tau);
    add(wanted, blocks, AS_BLOCK_PHI_Y, 0, 0, 1.0 / c->tau);
    if (wanted & (AS_BLOCK_BIT(AS_BLOCK_CHI_Q) | AS_BLOCK_BIT(AS_BLOCK_CHI_VDOT)))
      add_across(c, wanted, blocks, AS_BLOCK_CHI_Q, AS_BLOCK_CHI_VDOT, at, at->vdot, 1.0);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_Y))
      as_matrix_add(&blocks[AS_BLOCK_CHI_Y], 1, 0, saturated_slope(c, at->y[0]));
  } else if (c->kind == FORCE_SENSOR) {
    add(wanted, blocks, AS_BLOCK_PHI_X, 0, 0, -1.0 / c->tau);
    add(wanted, blocks, AS_BLOCK_PHI_LAMBDA, 0, 0, 1.0 / c->tau);
    add(wanted, blocks, AS_BLOCK_CHI_X, 0, 0, c->kappa);
    add(wanted, blocks, AS_BLOCK_CHI_LAMBDA, 0, 0, c->kappa * c->s);
  } else {
    add(wanted, blocks, AS_BLOCK_PHI_X, 0, 0, -c->R / c->L);
    add(wanted, blocks, AS_BLOCK_PHI_Y, 0, 0, 1.0 / c->L);
    if (wanted & (AS_BLOCK_BIT(AS_BLOCK_PHI_Q) | AS_BLOCK_BIT(AS_BLOCK_PHI_V)))
      add_across(c, wanted, blocks, AS_BLOCK_PHI_Q, AS_BLOCK_PHI_V, at, at->v, -c->k / c->l / c->L);
    if (wanted & (AS_BLOCK_BIT(AS_BLOCK_CHI_Q) | AS_BLOCK_BIT(AS_BLOCK_CHI_V)))
      add_across(c, wanted, blocks, AS_BLOCK_CHI_Q, AS_BLOCK_CHI_V, at, at->v, -c->D / c->l);
  }
  return AS_DONE;
}

// ---- reference ------------------------------------------------------------------------------------

/// What belongs to z = (angle, angle', x): angle'', lambda, x' and y. The circuit's x is found
/// here.
typedef struct motion {
  double wdot, lambda, x, x_rate, y[2];
} motion;

static motion motion_at(const pendulum *c, double t, const double *z) {
  const double w = z[1], weight = -c->g * sin(z[0]); // tangential, per mass
  const double tension = c->m * (w * w + c->g / c->l * cos(z[0]));
  motion s = {.lambda = tension, .x = z[2]};
  if (c->kind == ACCELEROMETER) {
    // m a = m weight + y2(a) - c x
    double a = weight;
    for (int i = 0; i < 50; i++) {
      a -= (c->m * (a - weight) - saturated(c, a) + c->c * s.x) / (c->m - saturated_slope(c, a));
    }
    s.y[0] = a;
    s.y[1] = saturated(c, a);
    s.wdot = a / c->l;
    s.x_rate = (a - s.x) / c->tau;
  } else if (c->kind == FORCE_SENSOR) {
    // lambda = tension + r y, y = kappa (x + s lambda)
    s.y[0] = c->kappa * (s.x + c->s * tension) / (1.0 - c->kappa * c->s * c->r);
    s.lambda += c->r * s.y[0];
    s.wdot = (weight - s.y[0] * c->l * w / c->m) / c->l;
    s.x_rate = (s.lambda - s.x) / c->tau;
  } else {
    // x = F - epsilon F', F' = (U cos(t) - (D + k) w') / R, m l^2 w' = m l weight + k x
    const double epsilon = c->L / c->R, b = (c->D + c->k) / c->R, inertia = c->m * c->l * c->l;
    const double F = (c->U * sin(t)) / c->R - b * w;
    s.x = (F - epsilon * (c->U * cos(t) / c->R - b * weight / c->l)) /
          (1.0 - epsilon * b * c->k / inertia);
    s.y[0] = -c->D * w;
    s.wdot = weight / c->l + c->k * s.x / inertia;
    s.x_rate = 0.0; // not integrated
  }
  return s;
}

static void rhs(double t, const double *z, double *dz, const void *context) {
  const motion s = motion_at(context, t, z);
  dz[0] = z[1];
  dz[1] = s.wdot;
  dz[2] = s.x_rate;
}

static void exact(const mechatronic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *x, double *y) {
  const pendulum *c = p->def.user;
  double z[3] = {atan2(p->q0[0], -p->q0[1]), across(c, p->q0, p->v0) / c->l, p->x0[0]};
  reference_ode(rhs, c, 3, p->t0, t, 0.02, z);
  const motion s = motion_at(c, t, z);
  const double sine = c->l * sin(z[0]), cosine = c->l * cos(z[0]), w = z[1];
  reference_put(q, (double[]){sine, -cosine}, 2);
  reference_put(v, (double[]){cosine * w, sine * w}, 2);
  reference_put(vdot, (double[]){cosine * s.wdot - sine * w * w, sine * s.wdot + cosine * w * w},
                2);
  reference_put(lambda, &s.lambda, 1);
  reference_put(x, &s.x, 1);
  reference_put(y, s.y, p->def.n_y);
}

// ---- instances ------------------------------------------------------------------------------------

static const as_space_part space[] = {{AS_SPACE_RN, 2}};

// Everything of a description but the blocks.
#define PENDULUM(parameters, outputs)                                                              \
  .parts = space, .n_parts = 1, .n_lambda = 1, .n_x = 1, .n_y = (outputs), .mass_constant = true,  \
  .scleronomic = true, .mass = mass, .force = force, .constraint = constraint,                     \
  .constraint_rate = constraint_rate, .constraint_acceleration = constraint_acceleration,          \
  .state_rate = state_rate, .output = output, .jacobian = jacobian, .time_scale = 0.2,             \
  .user = &(parameters)

#define MECHANICS MECHATRONIC_GIVEN(F_Q), MECHATRONIC_GIVEN(G_Q), MECHATRONIC_GIVEN(GDOT_Q)

const mechatronic_problem *mechatronic_accelerometer(void) {
  static pendulum parameters = {.kind = ACCELEROMETER,
                                .m = 1.5,
                                .l = 0.8,
                                .g = 9.81,
                                .kappa = 0.6,
                                .A = 10.0,
                                .tau = 0.3,
                                .c = 0.5};
  static const double q0[] = {0.64, -0.48}, v0[] = {0.6, 0.8}, x0[] = {1.0};
  static mechatronic_problem problem = {
      .name = "accelerometer",
      .def = {PENDULUM(parameters, 2),
              .block = {MECHANICS, MECHATRONIC_ZERO(F_V), MECHATRONIC_GIVEN(F_X),
                        MECHATRONIC_GIVEN(F_Y), MECHATRONIC_ZERO(PHI_Q), MECHATRONIC_ZERO(PHI_V),
                        MECHATRONIC_ZERO(PHI_VDOT), MECHATRONIC_ZERO(PHI_LAMBDA),
                        MECHATRONIC_GIVEN(PHI_X), MECHATRONIC_GIVEN(PHI_Y),
                        MECHATRONIC_GIVEN(CHI_Q), MECHATRONIC_ZERO(CHI_V),
                        MECHATRONIC_GIVEN(CHI_VDOT), MECHATRONIC_ZERO(CHI_LAMBDA),
                        MECHATRONIC_ZERO(CHI_X), MECHATRONIC_GIVEN(CHI_Y)}},
      .t0 = 0.0,
      .t_end = 2.0,
      .steps = 400,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const mechatronic_problem *mechatronic_force_sensor(void) {
  static pendulum parameters = {.kind = FORCE_SENSOR,
                                .m = 1.5,
                                .l = 0.8,
                                .g = 9.81,
                                .kappa = 0.05,
                                .tau = 0.1,
                                .s = 0.5,
                                .r = 4.0};
  static const double q0[] = {0.64, -0.48}, v0[] = {0.6, 0.8}, x0[] = {5.0};
  static mechatronic_problem problem = {
      .name = "force_sensor",
      .def = {PENDULUM(parameters, 1),
              .block = {MECHANICS, MECHATRONIC_GIVEN(F_V), MECHATRONIC_ZERO(F_X),
                        MECHATRONIC_GIVEN(F_Y), MECHATRONIC_ZERO(PHI_Q), MECHATRONIC_ZERO(PHI_V),
                        MECHATRONIC_ZERO(PHI_VDOT), MECHATRONIC_GIVEN(PHI_LAMBDA),
                        MECHATRONIC_GIVEN(PHI_X), MECHATRONIC_ZERO(PHI_Y), MECHATRONIC_ZERO(CHI_Q),
                        MECHATRONIC_ZERO(CHI_V), MECHATRONIC_ZERO(CHI_VDOT),
                        MECHATRONIC_GIVEN(CHI_LAMBDA), MECHATRONIC_GIVEN(CHI_X),
                        MECHATRONIC_ZERO(CHI_Y)}},
      .t0 = 0.0,
      .t_end = 2.0,
      .steps = 400,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const mechatronic_problem *mechatronic_circuit(void) {
  static pendulum parameters = {.kind = CIRCUIT,
                                .m = 1.5,
                                .l = 0.8,
                                .g = 9.81,
                                .U = 4.0,
                                .R = 2.0,
                                .L = 2e-6,
                                .k = 1.2,
                                .D = 0.5};
  // x0 on the slow solution: F - epsilon F' at t = 0 with w = 1/0.8.
  static const double q0[] = {0.64, -0.48}, v0[] = {0.6, 0.8};
  static const double x0[] = {-1.0625114674184342};
  static mechatronic_problem problem = {
      .name = "circuit",
      .def = {PENDULUM(parameters, 1),
              .block = {MECHANICS, MECHATRONIC_ZERO(F_V), MECHATRONIC_GIVEN(F_X),
                        MECHATRONIC_ZERO(F_Y), MECHATRONIC_GIVEN(PHI_Q), MECHATRONIC_GIVEN(PHI_V),
                        MECHATRONIC_ZERO(PHI_VDOT), MECHATRONIC_ZERO(PHI_LAMBDA),
                        MECHATRONIC_GIVEN(PHI_X), MECHATRONIC_GIVEN(PHI_Y),
                        MECHATRONIC_GIVEN(CHI_Q), MECHATRONIC_GIVEN(CHI_V),
                        MECHATRONIC_ZERO(CHI_VDOT), MECHATRONIC_ZERO(CHI_LAMBDA),
                        MECHATRONIC_ZERO(CHI_X), MECHATRONIC_ZERO(CHI_Y)}},
      .t0 = 0.0,
      .t_end = 2.0,
      .steps = 1000,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
