/// A pendulum that just makes it over the top, with automatic steps: given a tolerance, not a step.
///
/// It nearly stops at the top and rushes through the bottom. Prints the state every 0.4 s, interpolated, with the
/// size of the last step; then for three tolerances the work and how far the end is from the exact one.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double l = 1.0;  // [m], a mass of 1 kg
static const double g = 9.81; // [m/s^2]

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  as_matrix_add(out, 0, 0, 1.0);
  as_matrix_add(out, 1, 1, 1.0);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = 0.0;
  f[1] = -g;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - l * l) / 2.0;
  return AS_DONE;
}

/// The angle from the bottom after t, by classical Runge-Kutta steps of 10 us.
static double exact_angle(double t, double rate) {
  const int n = (int)lround(t / 1e-5);
  const double h = t / n;
  double phi = 0.0;
  for (int i = 0; i < n; ++i) {
    const double a1 = -g / l * sin(phi), r2 = rate + h / 2.0 * a1;
    const double a2 = -g / l * sin(phi + h / 2.0 * rate), r3 = rate + h / 2.0 * a2;
    const double a3 = -g / l * sin(phi + h / 2.0 * r2), r4 = rate + h * a3;
    const double a4 = -g / l * sin(phi + h * r3);
    phi += h / 6.0 * (rate + 2.0 * r2 + 2.0 * r3 + r4);
    rate += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  return phi;
}

static as_status run(const as_problem *problem, double rtol, bool print, as_error *error) {
  as_integrator_def how = as_default_integrator_def(); // steps are automatic
  how.tolerance.rtol = rtol;
  as_integrator *integrator = NULL;
  const double rate = sqrt(4.0 * g / l + 1.0); // 1 rad/s is left at the top
  const double q0[] = {0.0, -l}, v0[] = {rate * l, 0.0};
  as_statistics work = {0};
  as_status status = as_integrator_create(problem, &how, &integrator, error);
  if (status == AS_OK)
    status = as_integrator_start(integrator, &(as_initial){.q = q0, .v = v0}, NULL, error);
  if (print) printf("  t [s]     x [m]     y [m]  speed [m/s]  tension [N]  step [ms]\n");
  const as_state *s = status == AS_OK ? as_integrator_state(integrator) : NULL;
  for (int i = 1; i <= 8 && status == AS_OK; ++i) {
    status = as_integrator_advance(integrator, 0.4 * i, error);
    if (status == AS_OK) status = as_integrator_statistics(integrator, &work, error);
    if (print && status == AS_OK)
      printf("%7.1f  %8.4f  %8.4f  %11.4f  %11.4f  %9.1f\n", s->t, s->q[0], s->q[1],
             hypot(s->v[0], s->v[1]), s->lambda[0] * l, 1e3 * work.last_step);
  }
  if (status == AS_OK && !print) {
    const double phi = exact_angle(3.2, rate);
    printf("%7.0e  %5ld  %8ld  %10ld  %10.1e\n", rtol, work.steps, work.rejected_steps,
           work.newton_iterations, hypot(s->q[0] - l * sin(phi), s->q[1] + l * cos(phi)));
  }
  as_integrator_destroy(integrator);
  return status;
}

int main(void) {
  const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def description = as_default_problem_def();
  description.parts = &plane;
  description.n_parts = description.n_lambda = 1;
  description.mass_constant = description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = constraint;
  as_error error;
  as_problem *problem = NULL;
  as_status status = as_problem_create(&description, &problem, &error);
  if (status == AS_OK) status = run(problem, 1e-4, true, &error);
  printf("\n   rtol  steps  rejected  iterations   error [m]\n");
  for (int digits = 2; digits <= 6 && status == AS_OK; digits += 2)
    status = run(problem, pow(10.0, -digits), false, &error);
  if (status) fprintf(stderr, "%s\n", error.message);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
