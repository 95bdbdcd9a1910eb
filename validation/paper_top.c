// The heavy top on R^3 x SO(3): q = (x, R), the centre of mass and the rotation from body to world;
// v = (x', Omega), Omega in the body frame. In the body the centre of mass is X from the pivot:
//
//     m x'' - lambda = m gravity
//     J Omega' + Omega x J Omega + X x R^T lambda = 0
//     0 = -x + R X                                      B = (-I, -R X~)
//
// Section 5 of Arnold, Bruels, Cardona, "Error analysis of generalized-alpha Lie group time
// integration methods for constrained mechanical systems", Numer. Math., 2014. SI units.
//
// Reference: a body that turns about its pivot, with the inertia P = J + m (|X|^2 I - X X^T) there:
//
//     P Omega' = -Omega x P Omega + X x R^T m gravity,   p' = p o (0, Omega)/2 for its quaternion p
//     x = R X,   lambda = m (x'' - gravity),   x'' = R (Omega' x X + Omega x (Omega x X))
#include <math.h>

#include "paper_problems.h"
#include "vector3.h"

static const double MASS = 15.0;                                // [kg]
static const double INERTIA[3] = {0.234375, 0.46875, 0.234375}; // J, principal [kg m^2]
static const double CENTRE[3] = {0.0, 1.0, 0.0};                // X [m]
static const double GRAVITY[3] = {0.0, 0.0, -9.81};             // [m/s^2]

// ---- the problem

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, MASS);
    as_matrix_add(m, 3 + i, 3 + i, INERTIA[i]);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)user;
  const double *omega = at->v + 3;
  double momentum[3];
  for (int i = 0; i < 3; i++) {
    out[i] = MASS * GRAVITY[i];
    momentum[i] = INERTIA[i] * omega[i];
  }
  cross3(momentum, omega, out + 3); // -Omega x J Omega
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  (void)user;
  double r[9];
  rotation33(at->q + 3, r);
  apply33(r, CENTRE, out);
  for (int i = 0; i < 3; i++) out[i] -= at->q[i];
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  double r[9], speed[3];
  rotation33(at->q + 3, r);
  cross3(at->v + 3, CENTRE, speed);
  apply33(r, speed, out);
  for (int i = 0; i < 3; i++) out[i] -= at->v[i];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  double r[9], u[3];
  rotation33(at->q + 3, r);
  cross3(at->v + 3, CENTRE, u);
  cross3(at->v + 3, u, u);
  apply33(r, u, out);
  return AS_DONE;
}

/// Along q o exp(eps w), w = (w_x, w_R), R changes by eps R w_R~ and R^T u by -eps w_R~ R^T u.
static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  const double *omega = at->v + 3;
  double r[9], centre[9], u[3], a[9], b[9];
  rotation33(at->q + 3, r);
  skew3(CENTRE, centre);

  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) { // D_q (-X~ R^T lambda) = -X~ (R^T lambda)~
    apply33_transposed(r, at->lambda, u);
    skew3(u, a);
    multiply33(-1.0, centre, a, b);
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 3, 3, 3, 3, b);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) { // (J Omega)~ - Omega~ J
    for (int i = 0; i < 3; i++) u[i] = INERTIA[i] * omega[i];
    skew3(u, a);
    skew3(omega, b);
    for (int i = 0; i < 9; i++) a[i] -= b[i] * INERTIA[i % 3];
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 3, 3, 3, 3, a);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) { // (-I, -R X~)
    multiply33(-1.0, r, centre, a);
    for (int i = 0; i < 3; i++) as_matrix_add(&blocks[AS_BLOCK_G_Q], i, i, -1.0);
    as_matrix_add_block(&blocks[AS_BLOCK_G_Q], 0, 3, 3, 3, a);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) { // (0, -R (Omega x X)~)
    cross3(omega, CENTRE, u);
    skew3(u, a);
    multiply33(-1.0, r, a, b);
    as_matrix_add_block(&blocks[AS_BLOCK_GDOT_Q], 0, 3, 3, 3, b);
  }
  return AS_DONE;
}

as_status top_problem(as_problem **out, as_error *error) {
  as_space_part body = {AS_SPACE_R3SO3, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &body;
  def.n_parts = 1;
  def.n_lambda = 3;
  def.mass_constant = true;
  def.scleronomic = true;
  def.mass = mass;
  def.force = force;
  def.constraint = constraint;
  def.constraint_rate = constraint_rate;
  def.constraint_acceleration = constraint_acceleration;
  def.jacobian = jacobian;
  def.block[AS_BLOCK_F_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_GIVEN;
  return as_problem_create(&def, out, error);
}

// ---- the reference

top_motion top_start(void) {
  return (top_motion){.quaternion = {1.0, 0.0, 0.0, 0.0}, .omega = {0.0, 150.0, -4.61538}};
}

/// The time derivative of a motion.
static top_motion slope(const top_motion *motion) {
  const double *p = motion->quaternion;
  const double *w = motion->omega;
  double r[9], weight[3], moment[3], spin[3], momentum[3], inertia[3];
  rotation33(p, r);
  apply33_transposed(r, GRAVITY, weight);
  cross3(CENTRE, weight, moment);
  // X is a unit vector along a principal axis, so that P is diagonal too.
  for (int i = 0; i < 3; i++) {
    inertia[i] = INERTIA[i] + MASS * (1.0 - CENTRE[i] * CENTRE[i]);
    momentum[i] = inertia[i] * w[i];
  }
  cross3(momentum, w, spin);
  top_motion d;
  for (int i = 0; i < 3; i++) d.omega[i] = (spin[i] + MASS * moment[i]) / inertia[i];
  d.quaternion[0] = 0.5 * (-p[1] * w[0] - p[2] * w[1] - p[3] * w[2]);
  d.quaternion[1] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
  d.quaternion[2] = 0.5 * (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]);
  d.quaternion[3] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
  return d;
}

/// motion += s d
static void add(top_motion *motion, double s, const top_motion *d) {
  for (int i = 0; i < 4; i++) motion->quaternion[i] += s * d->quaternion[i];
  for (int i = 0; i < 3; i++) motion->omega[i] += s * d->omega[i];
}

void top_advance(top_motion *motion, double h) {
  const double longest =
      2.5e-5; // [s]; RK4's error at t = 1 s is then 5e-10 in q and v, 6e-8 in lambda
  const double at[4] = {0.0, 0.5, 0.5, 1.0};
  const double weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  int n = (int)ceil(h / longest - 1e-6);
  double s = h / n;
  for (int i = 0; i < n; i++) {
    top_motion start = *motion;
    top_motion k = {{0.0}, {0.0}};
    for (int stage = 0; stage < 4; stage++) {
      top_motion here = start;
      add(&here, at[stage] * s, &k);
      k = slope(&here);
      add(motion, weight[stage] * s, &k);
    }
    double *p = motion->quaternion;
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int j = 0; j < 4; j++) p[j] /= length;
  }
}

void top_coordinates(const top_motion *motion, double *q, double *v) {
  double r[9], speed[3];
  rotation33(motion->quaternion, r);
  apply33(r, CENTRE, q);
  cross3(motion->omega, CENTRE, speed);
  apply33(r, speed, v);
  for (int i = 0; i < 4; i++) q[3 + i] = motion->quaternion[i];
  for (int i = 0; i < 3; i++) v[3 + i] = motion->omega[i];
}

void top_multipliers(const top_motion *motion, double *lambda) {
  const double *w = motion->omega;
  double r[9], u[3], turn[3], sum[3];
  rotation33(motion->quaternion, r);
  top_motion d = slope(motion);
  cross3(d.omega, CENTRE, turn);
  cross3(w, CENTRE, u);
  cross3(w, u, u);
  for (int i = 0; i < 3; i++) sum[i] = turn[i] + u[i];
  apply33(r, sum, lambda);
  for (int i = 0; i < 3; i++) lambda[i] = MASS * (lambda[i] - GRAVITY[i]);
}

double top_distance(const double *q, const top_motion *motion) {
  const double *a = q + 3;
  const double *b = motion->quaternion;
  double r[9], x[3];
  rotation33(b, r);
  apply33(r, CENTRE, x);
  // a^-1 o b = (w, u) turns by the angle 2 atan2(|u|, |w|).
  double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  double u[3];
  cross3(a + 1, b + 1, u);
  for (int i = 0; i < 3; i++) u[i] = a[0] * b[1 + i] - b[0] * a[1 + i] - u[i];
  double angle = 2.0 * atan2(sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]), fabs(w));
  double sum = angle * angle;
  for (int i = 0; i < 3; i++) sum += (q[i] - x[i]) * (q[i] - x[i]);
  return sqrt(sum);
}
