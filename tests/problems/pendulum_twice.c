/// The pendulum with two constraint rows, redundant or contradictory, see loops.h.
///
///     m q'' = (0, -m g) - (s_1 lambda_1 + s_2 lambda_2) q,    0 = s_i (x^2 + y^2 - l_i^2) / 2
///
/// Reference in the angle from below: theta'' = -g/l sin(theta), and a single row's multiplier
/// Lambda = m (theta'^2 + g/l cos(theta)) = s_1 lambda_1 + s_2 lambda_2.
#include <math.h>

#include "problems/loops_build.h"
#include "problems/reference_ode.h"

typedef struct pendulum {
  double m;     ///< [kg]
  double g;     ///< [m/s^2]
  double s[2];  ///< scales of the rows
  double l2[2]; ///< l_i^2 [m^2]
} pendulum;

static int mass(const as_point *at, as_matrix *m, void *user) {
  const pendulum *c = user;
  (void)at;
  as_matrix_add(m, 0, 0, c->m);
  as_matrix_add(m, 1, 1, c->m);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  (void)at;
  out[0] = 0.0;
  out[1] = -c->m * c->g;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  for (int i = 0; i < 2; ++i)
    out[i] = c->s[i] * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - c->l2[i]) / 2.0;
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  for (int i = 0; i < 2; ++i) out[i] = c->s[i] * (at->q[0] * at->v[0] + at->q[1] * at->v[1]);
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const pendulum *c = user;
  for (int i = 0; i < 2; ++i) out[i] = c->s[i] * (at->v[0] * at->v[0] + at->v[1] * at->v[1]);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const pendulum *c = user;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q))
        as_matrix_add(&blocks[AS_BLOCK_F_Q], j, j, -c->s[i] * at->lambda[i]);
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q))
        as_matrix_add(&blocks[AS_BLOCK_G_Q], i, j, c->s[i] * at->q[j]);
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q))
        as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], i, j, c->s[i] * at->v[j]);
    }
  return AS_DONE;
}

/// y = (theta, theta')
static void angle_rhs(double t, const double *y, double *dy, const void *context) {
  const pendulum *c = context;
  (void)t;
  dy[0] = y[1];
  dy[1] = -c->g / sqrt(c->l2[0]) * sin(y[0]);
}

static void angle_at(const test_problem *p, double t, double *y) {
  const pendulum *c = p->def.user;
  y[0] = atan2(p->q0[0], -p->q0[1]);
  y[1] = (p->q0[0] * p->v0[1] - p->q0[1] * p->v0[0]) / c->l2[0];
  reference_ode(angle_rhs, c, 2, p->t0, t, 0.05, y);
}

void loops_pendulum_twice_lambda(const test_problem *p, double t, const double d[2],
                                 double lambda[2]) {
  const pendulum *c = p->def.user;
  double y[2], sum = 0.0;
  angle_at(p, t, y);
  const double single = c->m * (y[1] * y[1] + c->g / sqrt(c->l2[0]) * cos(y[0]));
  for (int i = 0; i < 2; ++i) sum += c->s[i] * c->s[i] * d[i] * d[i];
  for (int i = 0; i < 2; ++i) lambda[i] = single * c->s[i] * d[i] * d[i] / sum;
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const pendulum *c = p->def.user;
  double y[2], dy[2];
  angle_at(p, t, y);
  angle_rhs(t, y, dy, c);
  const double l = sqrt(c->l2[0]), s = l * sin(y[0]), k = l * cos(y[0]);
  const double w = y[1], bend = dy[1];
  reference_put(q, (double[]){s, -k}, 2);
  reference_put(v, (double[]){k * w, s * w}, 2);
  reference_put(vdot, (double[]){k * bend - s * w * w, s * bend + k * w * w}, 2);
  const double d[2] = {sqrt(c->m) / (c->s[0] * l), sqrt(c->m) / (c->s[1] * l)};
  if (lambda != NULL) loops_pendulum_twice_lambda(p, t, d, lambda);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const pendulum *c = p->def.user;
  return c->m * ((v[0] * v[0] + v[1] * v[1]) / 2.0 + c->g * q[1]);
}

static test_problem *make(const char *name, pendulum parameters) {
  static const as_space_part space[] = {{AS_SPACE_RN, 2}};
  static const double q0[] = {0.2, -0.9797958971132712};
  static const double v0[] = {0.7612172366071899, 0.15538281775825558};
  static const int joint[] = {0, 1}; // two rods side by side, so that each row has its own scale
  test_problem *p = loops_new(name);
  pendulum *c = loops_take(p, 1, sizeof *c);
  *c = parameters;
  as_problem_def *def = &p->def;
  def->cookie = as_default_problem_def().cookie;
  def->parts = space;
  def->n_parts = 1;
  def->n_lambda = 2;
  def->mass_constant = true;
  def->scleronomic = true;
  def->mass = mass;
  def->force = force;
  def->constraint = constraint;
  def->constraint_rate = constraint_rate;
  def->constraint_acceleration = constraint_acceleration;
  def->jacobian = jacobian;
  def->block[AS_BLOCK_F_Q].source = AS_BLOCK_GIVEN;
  def->block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
  def->block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def->block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_GIVEN;
  def->joint = joint;
  def->time_scale = 1.0;
  def->user = c;
  p->t_end = 2.0;
  p->q0 = q0;
  p->v0 = v0;
  p->energy = energy;
  return p;
}

test_problem *loops_pendulum_twice(void) {
  test_problem *p =
      make("pendulum_twice", (pendulum){.m = 1.0, .g = 9.81, .s = {1.0, 3.0}, .l2 = {1.0, 1.0}});
  p->exact = exact;
  return p;
}

test_problem *loops_pendulum_contradictory(void) {
  return make("pendulum_contradictory",
              (pendulum){.m = 1.0, .g = 9.81, .s = {2.0, 2.0}, .l2 = {1.0, 1.1}});
}
