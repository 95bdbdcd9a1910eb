// A mass on a spring, damped by an actuator that an acceleration feedback commands:
//
//     m q'' = -k q + g_a
//     x' = -sigma x - b q''                   a filter of the measured acceleration
//     y = (g_d, g_a),   g_d = x               the force that is wanted
//                       g_a = tanh(g_d)       the force that is exerted, at most 1 N
//
// m = k = 1, sigma = 0.1, b = 1.4 (SI units). The first application of Bruels, Arnold, "The
// generalized-alpha scheme as a linear multistep integrator: toward a general mechatronic simulator",
// J. Comput. Nonlinear Dynamics, 2008.
//
// Reference: with q'' and y eliminated, q'' = -q + tanh(x), x' = -sigma x + b (q - tanh(x)).
#include <math.h>

#include "paper_problems.h"

#define SIGMA 0.1 // [1/s]

// ---- the problem

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->q[0] + at->y[1];
  return AS_DONE;
}

/// `user` points to sigma, here and below.
static int state_rate(const as_point *at, double *out, void *user) {
  out[0] = -*(const double *)user * at->x[0] - SPRING_GAIN * at->vdot[0];
  return AS_DONE;
}

static int output(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->x[0];
  out[1] = tanh(at->y[0]);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, -1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Y)) as_matrix_add(&blocks[AS_BLOCK_F_Y], 0, 1, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_VDOT)) {
    as_matrix_add(&blocks[AS_BLOCK_PHI_VDOT], 0, 0, -SPRING_GAIN);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_X)) {
    as_matrix_add(&blocks[AS_BLOCK_PHI_X], 0, 0, -*(const double *)user);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_X)) as_matrix_add(&blocks[AS_BLOCK_CHI_X], 0, 0, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_Y)) {
    double g = tanh(at->y[0]);
    as_matrix_add(&blocks[AS_BLOCK_CHI_Y], 1, 0, 1.0 - g * g);
  }
  return AS_DONE;
}

static as_status make(double *sigma, as_problem **out, as_error *error) {
  static const as_block given[] = {AS_BLOCK_F_Q,   AS_BLOCK_F_Y,   AS_BLOCK_PHI_VDOT,
                                   AS_BLOCK_PHI_X, AS_BLOCK_CHI_X, AS_BLOCK_CHI_Y};
  static const as_block zero[] = {AS_BLOCK_F_V,   AS_BLOCK_F_X,     AS_BLOCK_PHI_Q,
                                  AS_BLOCK_PHI_V, AS_BLOCK_PHI_Y,   AS_BLOCK_CHI_Q,
                                  AS_BLOCK_CHI_V, AS_BLOCK_CHI_VDOT};
  as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.n_x = 1;
  def.n_y = 2;
  def.mass_constant = true;
  def.mass = mass;
  def.force = force;
  def.state_rate = state_rate;
  def.output = output;
  def.jacobian = jacobian;
  def.user = sigma;
  for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
    def.block[given[i]].source = AS_BLOCK_GIVEN;
  }
  for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++) {
    def.block[zero[i]].source = AS_BLOCK_ZERO;
  }
  return as_problem_create(&def, out, error);
}

as_status spring_problem(as_problem **out, as_error *error) {
  static double sigma = SIGMA;
  return make(&sigma, out, error);
}

as_status spring_unfiltered_problem(as_problem **out, as_error *error) {
  static double sigma = 0.0;
  return make(&sigma, out, error);
}

// ---- the reference

spring_motion spring_start(void) { return (spring_motion){.q = 5.0, .v = 0.0, .x = 0.0}; }

static spring_motion slope(spring_motion at) {
  double acceleration = -at.q + tanh(at.x);
  return (spring_motion){at.v, acceleration, -SIGMA * at.x - SPRING_GAIN * acceleration};
}

/// a + h b
static spring_motion moved(spring_motion a, double h, spring_motion b) {
  return (spring_motion){a.q + h * b.q, a.v + h * b.v, a.x + h * b.x};
}

void spring_advance(spring_motion *motion, double h) {
  const double longest = 1e-3; // [s]; RK4's error at t = 5 s is then below 1e-12
  int n = (int)ceil(h / longest);
  double s = h / n;
  for (int i = 0; i < n; i++) {
    spring_motion k1 = slope(*motion);
    spring_motion k2 = slope(moved(*motion, 0.5 * s, k1));
    spring_motion k3 = slope(moved(*motion, 0.5 * s, k2));
    spring_motion k4 = slope(moved(*motion, s, k3));
    motion->q += s / 6.0 * (k1.q + 2.0 * k2.q + 2.0 * k3.q + k4.q);
    motion->v += s / 6.0 * (k1.v + 2.0 * k2.v + 2.0 * k3.v + k4.v);
    motion->x += s / 6.0 * (k1.x + 2.0 * k2.x + 2.0 * k3.x + k4.x);
  }
}
