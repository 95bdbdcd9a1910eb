/// A bead on the wire y = x^2/2 with Coulomb friction, regularised: a force that is not linear in
/// lambda. The bead drags a carriage that moves in x only, so M = diag(m_x, m_y).
///
///     M q'' = (0, -m_y g) - B^T lambda - mu S T (1, x),    0 = y - x^2/2,    B = (-x, 1)
///     S = sqrt(lambda^2 + delta^2),   T = tanh(v_t / eps),   v_t = (v_x + x v_y) / sqrt(1 + x^2)
///
/// The normal force has the size |lambda| |B|, and the tangent is (1, x)/|B|: |B| cancels.
///
/// Reference: the motion in x. Along q the speed is v_t = x' sqrt(1 + x^2), and y'' - x x'' = x'^2
/// gives a scalar equation for lambda, which is solved by Newton's method:
///
///     0 = g + x'^2 + lambda (x^2/m_x + 1/m_y) - mu T S x (1/m_x - 1/m_y)
///     x'' = (x lambda - mu S T) / m_x
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct wire {
  double mx, my; ///< [kg]
  double g;      ///< [m/s^2]
  double mu;     ///< coefficient of friction [-]
  double eps;    ///< speed at which friction is fully developed [m/s]
  double delta;  ///< rounds |lambda| off [N]
} wire;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const wire *c = user;
  as_matrix_add(m, 0, 0, c->mx);
  as_matrix_add(m, 1, 1, c->my);
  return AS_DONE;
}

static double speed(const double *q, const double *v) {
  return (v[0] + q[0] * v[1]) / sqrt(1.0 + q[0] * q[0]);
}

static int force(const as_point *at, double *out, void *user) {
  const wire *c = user;
  double x = at->q[0], lambda = at->lambda[0];
  double friction = c->mu * hypot(lambda, c->delta) * tanh(speed(at->q, at->v) / c->eps);
  out[0] = x * lambda - friction;
  out[1] = -c->my * c->g - lambda - friction * x;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[1] - 0.5 * at->q[0] * at->q[0];
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[1] - at->q[0] * at->v[0];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->v[0] * at->v[0];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const wire *c = user;
  double x = at->q[0];
  const double *v = at->v;
  const double tangent[2] = {1.0, x};
  double w = sqrt(1.0 + x * x);
  if (wanted &
      (AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V) | AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA))) {
    double lambda = at->lambda[0];
    double S = hypot(lambda, c->delta);
    double T = tanh(speed(at->q, v) / c->eps);
    double slope = (1.0 - T * T) / c->eps; // dT/dv_t
    for (int i = 0; i < 2; i++) {
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
        double speed_x = v[1] / w - speed(at->q, v) * x / (w * w); // dv_t/dx
        double direct = i == 0 ? lambda : -c->mu * S * T;
        as_matrix_add(&blocks[AS_BLOCK_F_Q], i, 0,
                      direct - c->mu * S * slope * speed_x * tangent[i]);
      }
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
        for (int j = 0; j < 2; j++) {
          as_matrix_add(&blocks[AS_BLOCK_F_V], i, j,
                        -c->mu * S * slope * tangent[i] * tangent[j] / w);
        }
      }
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA)) {
        as_matrix_add(&blocks[AS_BLOCK_F_LAMBDA], i, 0,
                      (i == 0 ? x : -1.0) - c->mu * lambda / S * T * tangent[i]);
      }
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, -x);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, 1.0);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 0, -v[0]);
  }
  return AS_DONE;
}

/// x'' and lambda from x and x'.
static void solve_multiplier(const wire *c, double x, double rate, double *second, double *lambda) {
  double T = tanh(rate * sqrt(1.0 + x * x) / c->eps);
  double weight = x * x / c->mx + 1.0 / c->my;
  double coupling = c->mu * T * x * (1.0 / c->mx - 1.0 / c->my);
  double l = -(c->g + rate * rate) / weight;
  // |coupling| < weight: the equation is monotone. Newton gains two digits at once and more later.
  for (int k = 0; k < 8; k++) {
    double S = hypot(l, c->delta);
    l -= (c->g + rate * rate + l * weight - coupling * S) / (weight - coupling * l / S);
  }
  *lambda = l;
  *second = (x * l - c->mu * hypot(l, c->delta) * T) / c->mx;
}

/// y = (x, x')
static void x_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  double lambda;
  dy[0] = y[1];
  solve_multiplier(context, y[0], y[1], &dy[1], &lambda);
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const wire *c = p->def.user;
  double y[2] = {p->q0[0], p->v0[0]}, second, multiplier;
  // tanh has a pole at v_t = i eps pi/2, about 0.03 s off where the bead turns.
  reference_ode(x_rhs, c, 2, p->t0, t, 0.005, y);
  double x = y[0], rate = y[1];
  solve_multiplier(c, x, rate, &second, &multiplier);
  reference_put(q, (double[]){x, 0.5 * x * x}, 2);
  reference_put(v, (double[]){rate, x * rate}, 2);
  reference_put(vdot, (double[]){second, rate * rate + x * second}, 2);
  reference_put(lambda, &multiplier, 1);
}

const test_problem *problem_friction_wire(void) {
  static wire parameters = {.mx = 1.5, .my = 1.0, .g = 9.81, .mu = 0.3, .eps = 0.2, .delta = 2.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 2}};
  static const double q0[] = {1.0, 0.5};
  static const double v0[] = {0.5, 0.5};
  static test_problem problem = {
      .name = "friction_wire",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 1,
              .mass_constant = true,
              .scleronomic = true,
              .force_kind = AS_FORCE_GENERAL,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_LAMBDA] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 0.2,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 1.5,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
