// A point mass on a massless rod in Cartesian coordinates q = (x, y):
//
//     M = m I,  f0 = (0, -m g),  0 = g(q) = (x^2 + y^2 - l^2)/2,  B = (x, y)
//
// m = l = 1, g = 9.81 (SI units). Example 1 of Arnold, Bruels, Cardona, "Error analysis of
// generalized-alpha Lie group time integration methods for constrained mechanical systems",
// Numer. Math., 2014.
//
// Reference: x = sin(angle), y = -cos(angle) with angle'' = -g sin(angle); the rod's force gives
// lambda = rate^2 + g cos(angle).
#include <math.h>

#include "paper_problems.h"

static const double GRAVITY = 9.81;

// ---- the problem

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at, (void)user;
  out[0] = 0.0;
  out[1] = -GRAVITY;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
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

as_status pendulum_problem(as_problem **out, as_error *error) {
  as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = true;
  def.scleronomic = true;
  def.mass = mass;
  def.force = force;
  def.constraint = constraint;
  def.constraint_rate = constraint_rate;
  def.constraint_acceleration = constraint_acceleration;
  def.jacobian = jacobian;
  def.block[AS_BLOCK_F_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
  def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_GIVEN;
  return as_problem_create(&def, out, error);
}

// ---- the reference

pendulum_motion pendulum_start(double x0) {
  // rate^2/2 - g cos(angle) = 1/2 - g
  double cosine = sqrt(1.0 - x0 * x0);
  return (pendulum_motion){asin(x0), sqrt(1.0 - 2.0 * GRAVITY * (1.0 - cosine))};
}

static pendulum_motion slope(double angle, double rate) {
  return (pendulum_motion){rate, -GRAVITY * sin(angle)};
}

void pendulum_advance(pendulum_motion *motion, double h) {
  const double longest = 5e-4; // [s]; RK4's error at t = 2 s is then below 1e-12
  int n = (int)ceil(h / longest);
  double s = h / n;
  for (int i = 0; i < n; i++) {
    double p = motion->angle;
    double w = motion->rate;
    pendulum_motion k1 = slope(p, w);
    pendulum_motion k2 = slope(p + 0.5 * s * k1.angle, w + 0.5 * s * k1.rate);
    pendulum_motion k3 = slope(p + 0.5 * s * k2.angle, w + 0.5 * s * k2.rate);
    pendulum_motion k4 = slope(p + s * k3.angle, w + s * k3.rate);
    motion->angle = p + s / 6.0 * (k1.angle + 2.0 * k2.angle + 2.0 * k3.angle + k4.angle);
    motion->rate = w + s / 6.0 * (k1.rate + 2.0 * k2.rate + 2.0 * k3.rate + k4.rate);
  }
}

void pendulum_coordinates(const pendulum_motion *motion, double *q, double *v) {
  q[0] = sin(motion->angle);
  q[1] = -cos(motion->angle);
  v[0] = motion->rate * cos(motion->angle);
  v[1] = motion->rate * sin(motion->angle);
}

double pendulum_multiplier(const pendulum_motion *motion) {
  return motion->rate * motion->rate + GRAVITY * cos(motion->angle);
}
