// One coordinate without freedom:
//
//     M = 1,  f0 = 0,  0 = g(t,q) = q - t^3
//
// so that q = t^3, v = 3 t^2, v' = 6 t and, from v' = -lambda, lambda = -6 t. The numerical error
// of lambda is nothing but what the recursion of the multipliers makes of the starting values; see
// Arnold, Bruels, Cardona, Numer. Math., 2014.
#include "paper_problems.h"

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at, (void)user;
  out[0] = 0.0;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] - at->t * at->t * at->t;
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[0] - 3.0 * at->t * at->t;
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -6.0 * at->t;
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at, (void)user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, 1.0);
  return AS_DONE;
}

as_status cubic_problem(as_problem **out, as_error *error) {
  as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = true;
  def.mass = mass;
  def.force = force;
  def.constraint = constraint;
  def.constraint_rate = constraint_rate;
  def.constraint_acceleration = constraint_acceleration;
  def.jacobian = jacobian;
  def.block[AS_BLOCK_F_Q].source = AS_BLOCK_ZERO;
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
  def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_ZERO;
  return as_problem_create(&def, out, error);
}

double cubic_multiplier(double t) { return -6.0 * t; }
