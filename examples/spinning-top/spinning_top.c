/// A spinning top on R^3 x SO(3): a rigid body whose tip is held at the origin.
///
///     m x'' = m gravity + lambda
///     J Omega' = -Omega x J Omega - X x R^T lambda
///     0 = R X - x                                  X: from the tip to the centre of mass
///
/// so B = (-I, -R X~). f0, g, B, their rates and the derivative of the constraint force are given by
/// formula. Integrated twice, with index-3 and with index-2, to show what the two do.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double mass_ = 15.0; // [kg]
static const double inertia[3] = {0.234375, 0.46875,
                                  0.234375};        // [kg m^2], about the centre of mass
static const double X[3] = {0.0, 1.0, 0.0};         // [m]
static const double gravity[3] = {0.0, 0.0, -9.81}; // [m/s^2]

/// Rotation matrix of the quaternion at q + 3, by rows.
static void rotation(const double *q, double R[9]) {
  const double w = q[3], x = q[4], y = q[5], z = q[6];
  const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 9; ++i) R[i] = r[i];
}

static void cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static void multiply(const double R[9], const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) {
    as_matrix_add(m, i, i, mass_);
    as_matrix_add(m, 3 + i, 3 + i, inertia[i]);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  (void)user;
  const double *omega = at->v + 3;
  const double momentum[3] = {inertia[0] * omega[0], inertia[1] * omega[1], inertia[2] * omega[2]};
  cross(momentum, omega, f + 3);
  for (int i = 0; i < 3; ++i) f[i] = mass_ * gravity[i];
  return AS_DONE;
}

static int constraint(const as_point *at, double *g, void *user) {
  (void)user;
  double R[9], tip[3];
  rotation(at->q, R);
  multiply(R, X, tip);
  for (int i = 0; i < 3; ++i) g[i] = tip[i] - at->q[i];
  return AS_DONE;
}

static int rate(const as_point *at, double *out, void *user) {
  (void)user;
  double R[9], wX[3];
  rotation(at->q, R);
  cross(at->v + 3, X, wX);
  multiply(R, wX, out);
  for (int i = 0; i < 3; ++i) out[i] -= at->v[i];
  return AS_DONE;
}

static int acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  double R[9], wX[3], wwX[3];
  rotation(at->q, R);
  cross(at->v + 3, X, wX);
  cross(at->v + 3, wX, wwX);
  multiply(R, wwX, out);
  return AS_DONE;
}

/// The block G_Q = B = (-I, -R X~).
static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  double R[9];
  rotation(at->q, R);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    for (int j = 0; j < 3; ++j) {
      const double e[3] = {j == 0, j == 1, j == 2};
      double eX[3], column[3];
      cross(e, X, eX); // -X~ e_j
      multiply(R, eX, column);
      as_matrix_add(&blocks[AS_BLOCK_G_Q], j, j, -1.0);
      as_matrix_add_block(&blocks[AS_BLOCK_G_Q], 0, 3 + j, 3, 1, column);
    }
  }
  return AS_DONE;
}

static double energy(const double *q, const double *v) {
  double sum = -mass_ * gravity[2] * q[2];
  for (int i = 0; i < 3; ++i) sum += (mass_ * v[i] * v[i] + inertia[i] * v[3 + i] * v[3 + i]) / 2;
  return sum;
}

static as_status run(const as_problem *problem, as_method method, as_error *error) {
  const double q0[7] = {0, 1, 0, 1, 0, 0, 0};
  const double v0[6] = {4.61538, 0, 0, 0, 150, -4.61538}; // [m/s], [rad/s] in the body
  const as_initial initial = {.t = 0.0, .q = q0, .v = v0};
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.rho_inf = 0.9;
  how.step = 1e-3; // [s]
  as_integrator *integrator = NULL;
  as_statistics statistics;
  double v[6], drift[2];
  as_status status = as_integrator_create(problem, &how, &integrator, error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, error);
  if (status == AS_OK) status = as_integrator_advance(integrator, 1.0, error);
  if (status == AS_OK) status = as_integrator_statistics(integrator, &statistics, error);
  if (status == AS_OK) status = as_integrator_drift(integrator, &drift[0], &drift[1], error);
  if (status == AS_OK) status = as_integrator_velocity(integrator, v, error);
  if (status == AS_OK) {
    const as_state *s = as_integrator_state(integrator);
    printf("%s\n", method == AS_METHOD_INDEX3 ? "index-3" : "index-2");
    printf("  position [m]        %11.6f %11.6f %11.6f\n", s->q[0], s->q[1], s->q[2]);
    printf("  reaction [N]        %11.4f %11.4f %11.4f\n", s->lambda[0], s->lambda[1],
           s->lambda[2]);
    printf("  energy [J]          %11.4f (started with %.4f)\n", energy(s->q, v), energy(q0, v0));
    printf("  constraint          |g| = %.1e, |g'| = %.1e\n", drift[0], drift[1]);
    printf("  work                %ld steps, %ld Newton iterations, %ld factorizations\n",
           statistics.steps, statistics.newton_iterations, statistics.factorizations);
  }
  as_integrator_destroy(integrator);
  return status;
}

int main(void) {
  const as_space_part body = {AS_SPACE_R3SO3, 1};
  as_problem_def description = as_default_problem_def();
  description.parts = &body;
  description.n_parts = 1;
  description.n_lambda = 3;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = constraint;
  description.constraint_rate = rate;
  description.constraint_acceleration = acceleration;
  description.jacobian = jacobian;
  description.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;

  as_error error;
  as_problem *problem = NULL;
  as_status status = as_problem_create(&description, &problem, &error);
  if (status == AS_OK) status = run(problem, AS_METHOD_INDEX3, &error);
  if (status == AS_OK) status = run(problem, AS_METHOD_INDEX2, &error);
  if (status) fprintf(stderr, "%s\n", error.message);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
