// Two problems on R^2 with the same motion, q = (exp(t), exp(-2t)), and the same unsymmetric mass
//
//     M = [ q1              q2 - exp(-2t) ]
//         [ sin(q1-exp(t))  q1 q2         ]
//
// whose multipliers do not enter linearly. With
//
//     s(mu) = [ exp(t) (q1 v2 + 2 q2 v1) + exp(2t) q1 mu                    ]
//             [ exp(-t) (q2 v2/2 - 2 q1 v1 q2 v2 + q2 mu^2)                 ]
//
// the first, section 8 of Jay, Negrut, "A second order extension of the generalized-alpha method for
// constrained systems in mechanics", 2008, is
//
//     f = s(lambda) + (-q1 v2 psi - 2, -q1 q2 v1 psi^3 + exp(3t))
//     g = q1^2 q2 - 1,   k = q1 v1 v2 + 2,   lambda = exp(-t),   psi = exp(t)
//
// and the second, (7.1) of Jay, "Convergence of the generalized-alpha method for constrained systems
// in mechanics with nonholonomic constraints", 2011, without g,
//
//     f = s(psi),   k = v1^2 v2 + 6 q1 q2 v1 - 4,   psi = exp(-t)
#include <math.h>

#include "paper_problems.h"

// ---- shared

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)user;
  const double *q = at->q;
  as_matrix_add(m, 0, 0, q[0]);
  as_matrix_add(m, 0, 1, q[1] - exp(-2.0 * at->t));
  as_matrix_add(m, 1, 0, sin(q[0] - exp(at->t)));
  as_matrix_add(m, 1, 1, q[0] * q[1]);
  return AS_DONE;
}

/// s(mu)
static void shared_force(const as_point *at, double mu, double *out) {
  const double *q = at->q;
  const double *v = at->v;
  double e = exp(at->t);
  out[0] = e * (q[0] * v[1] + 2.0 * q[1] * v[0]) + e * e * q[0] * mu;
  out[1] = (0.5 * q[1] * v[1] - 2.0 * q[0] * v[0] * q[1] * v[1] + q[1] * mu * mu) / e;
}

/// M's and s's derivatives by q and v, added to those blocks that are wanted.
static void shared_jacobian(const as_point *at, double mu, as_block_set wanted, as_matrix *blocks) {
  const double *q = at->q;
  const double *v = at->v;
  double e = exp(at->t);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
    const double *a = at->vdot;
    double d[4] = {a[0], a[1], cos(q[0] - e) * a[0] + q[1] * a[1], q[0] * a[1]};
    as_matrix_add_block(&blocks[AS_BLOCK_MA_Q], 0, 0, 2, 2, d);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    double d[4] = {e * v[1] + e * e * mu, 2.0 * e * v[0], -2.0 * v[0] * q[1] * v[1] / e,
                   (0.5 * v[1] - 2.0 * q[0] * v[0] * v[1] + mu * mu) / e};
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 0, 0, 2, 2, d);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    double d[4] = {2.0 * e * q[1], e * q[0], -2.0 * q[0] * q[1] * v[1] / e,
                   (0.5 * q[1] - 2.0 * q[0] * v[0] * q[1]) / e};
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 0, 0, 2, 2, d);
  }
}

/// ds/dmu
static void shared_by_multiplier(const as_point *at, double mu, as_matrix *block) {
  double e = exp(at->t);
  as_matrix_add(block, 0, 0, e * e * at->q[0]);
  as_matrix_add(block, 1, 0, 2.0 * at->q[1] * mu / e);
}

static as_problem_def shared_def(void) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  static const as_block given[] = {AS_BLOCK_MA_Q,  AS_BLOCK_F_Q, AS_BLOCK_F_V,
                                   AS_BLOCK_F_PSI, AS_BLOCK_K_Q, AS_BLOCK_K_V};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_psi = 1;
  def.scleronomic = true;
  def.force_kind = AS_FORCE_GENERAL;
  def.mass = mass;
  for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
    def.block[given[i]].source = AS_BLOCK_GIVEN;
  }
  return def;
}

void exponential_coordinates(double t, double *q, double *v, double *a) {
  q[0] = exp(t), q[1] = exp(-2.0 * t);
  v[0] = q[0], v[1] = -2.0 * q[1];
  a[0] = q[0], a[1] = 4.0 * q[1];
}

// ---- with holonomic and nonholonomic constraints

static int both_force(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q;
  const double *v = at->v;
  double psi = at->psi[0];
  shared_force(at, at->lambda[0], out);
  out[0] += -q[0] * v[1] * psi - 2.0;
  out[1] += -q[0] * q[1] * v[0] * psi * psi * psi + exp(3.0 * at->t);
  return AS_DONE;
}

static int both_constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->q[0] * at->q[1] - 1.0;
  return AS_DONE;
}

static int both_constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 2.0 * at->q[0] * at->q[1] * at->v[0] + at->q[0] * at->q[0] * at->v[1];
  return AS_DONE;
}

static int both_constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  const double *v = at->v;
  out[0] = 2.0 * at->q[1] * v[0] * v[0] + 4.0 * at->q[0] * v[0] * v[1];
  return AS_DONE;
}

static int both_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->v[0] * at->v[1] + 2.0;
  return AS_DONE;
}

static int both_nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[0] * at->v[0] * at->v[1];
  return AS_DONE;
}

static int both_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  const double *q = at->q;
  const double *v = at->v;
  const double *psi = at->psi; // NULL where no wanted block depends on it
  bool forces = wanted & (AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V));
  shared_jacobian(at, forces ? at->lambda[0] : 0.0, wanted, blocks);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    double cube = psi[0] * psi[0] * psi[0];
    double d[4] = {-v[1] * psi[0], 0.0, -q[1] * v[0] * cube, -q[0] * v[0] * cube};
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 0, 0, 2, 2, d);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    double d[4] = {0.0, -q[0] * psi[0], -q[0] * q[1] * psi[0] * psi[0] * psi[0], 0.0};
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 0, 0, 2, 2, d);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA)) {
    shared_by_multiplier(at, at->lambda[0], &blocks[AS_BLOCK_F_LAMBDA]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_PSI)) {
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 0, 0, -q[0] * v[1]);
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 1, 0, -3.0 * q[0] * q[1] * v[0] * psi[0] * psi[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, 2.0 * q[0] * q[1]);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, q[0] * q[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 0, 2.0 * (q[1] * v[0] + q[0] * v[1]));
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 1, 2.0 * q[0] * v[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 0, v[0] * v[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, q[0] * v[1]);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 1, q[0] * v[0]);
  }
  return AS_DONE;
}

as_status exponential_problem(as_problem **out, as_error *error) {
  as_problem_def def = shared_def();
  def.n_lambda = 1;
  def.force = both_force;
  def.constraint = both_constraint;
  def.constraint_rate = both_constraint_rate;
  def.constraint_acceleration = both_constraint_acceleration;
  def.nonholonomic = both_nonholonomic;
  def.nonholonomic_acceleration = both_nonholonomic_acceleration;
  def.jacobian = both_jacobian;
  def.block[AS_BLOCK_F_LAMBDA].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_GIVEN;
  return as_problem_create(&def, out, error);
}

// ---- with a nonholonomic constraint only

static int lone_force(const as_point *at, double *out, void *user) {
  (void)user;
  shared_force(at, at->psi[0], out);
  return AS_DONE;
}

static int lone_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q;
  const double *v = at->v;
  out[0] = v[0] * v[0] * v[1] + 6.0 * q[0] * q[1] * v[0] - 4.0;
  return AS_DONE;
}

static int lone_nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 6.0 * at->v[0] * (at->v[0] * at->q[1] + at->q[0] * at->v[1]);
  return AS_DONE;
}

static int lone_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  const double *q = at->q;
  const double *v = at->v;
  bool forces = wanted & (AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V));
  shared_jacobian(at, forces ? at->psi[0] : 0.0, wanted, blocks);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_PSI)) {
    shared_by_multiplier(at, at->psi[0], &blocks[AS_BLOCK_F_PSI]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 0, 6.0 * q[1] * v[0]);
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 1, 6.0 * q[0] * v[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, 2.0 * v[0] * v[1] + 6.0 * q[0] * q[1]);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 1, v[0] * v[0]);
  }
  return AS_DONE;
}

as_status exponential_nonholonomic_problem(as_problem **out, as_error *error) {
  as_problem_def def = shared_def();
  def.force = lone_force;
  def.nonholonomic = lone_nonholonomic;
  def.nonholonomic_acceleration = lone_nonholonomic_acceleration;
  def.jacobian = lone_jacobian;
  return as_problem_create(&def, out, error);
}
