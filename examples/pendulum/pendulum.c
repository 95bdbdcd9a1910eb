/// A pendulum in Cartesian coordinates: the smallest constrained problem.
///
///     m x'' = -x lambda,  m y'' = -m g - y lambda,  0 = (x^2 + y^2 - l^2) / 2
///
/// Only M, f0 and g are given; everything else is differenced. Prints t, x, y, the rod's tension
/// lambda l and the energy error.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double m = 1.0;  // [kg]
static const double l = 1.0;  // [m]
static const double g = 9.81; // [m/s^2]

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  as_matrix_add(out, 0, 0, m);
  as_matrix_add(out, 1, 1, m);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = 0.0;
  f[1] = -m * g;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - l * l) / 2.0;
  return AS_DONE;
}

static double energy(const as_state *s) {
  return m / 2.0 * (s->v[0] * s->v[0] + s->v[1] * s->v[1]) + m * g * s->q[1];
}

int main(void) {
  const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def description = as_default_problem_def();
  description.parts = &plane;
  description.n_parts = 1;
  description.n_lambda = 1;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = constraint;

  as_integrator_def how = as_default_integrator_def();
  how.step = 1e-3; // [s]

  as_error error;
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  const double q0[] = {-1.0, 0.0}; // horizontal, at rest
  const as_initial initial = {.t = 0.0, .q = q0};

  as_status status = as_problem_create(&description, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, &how, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  if (status == AS_OK) {
    const as_state *s = as_integrator_state(integrator);
    const double energy0 = energy(s);
    printf("  t [s]         x [m]         y [m]   tension [N]  energy error [J]\n");
    for (int i = 0; i <= 10 && status == AS_OK; ++i) {
      status = as_integrator_advance(integrator, 0.2 * i, &error);
      printf("%7.1f  %12.8f  %12.8f  %12.8f  %16.2e\n", s->t, s->q[0], s->q[1], s->lambda[0] * l,
             energy(s) - energy0);
    }
  }
  if (status) fprintf(stderr, "%s\n", error.message);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
