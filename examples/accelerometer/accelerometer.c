/// Acceleration feedback at the same instant: a pendulum whose tangential acceleration is measured and fed
/// back as a force.
///
///     m q'' = (0, -m g) + y_1 e - lambda q,   0 = (q . q - l^2) / 2,   e = (-q_1, q_0) / l
///     y_0 = e . q''              (the accelerometer)
///     y_1 = kappa m y_0          (the controller)
///
/// The force needs the acceleration and the acceleration needs the force: an algebraic loop of gain kappa,
/// which is solved with the step. In the angle: l angle'' = -g / (1 - kappa) sin(angle), the motion of a
/// pendulum without a loop under the gravity g / (1 - kappa); its tension is another. At kappa = 1 there
/// is no solution.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

typedef struct pendulum {
  double kappa; // [-]
  double g;     // [m/s^2]
} pendulum;

static const double m = 2.0; // [kg]
static const double l = 1.5; // [m]

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  as_matrix_add(out, 0, 0, m);
  as_matrix_add(out, 1, 1, m);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  const pendulum *p = user;
  f[0] = -at->y[1] * at->q[1] / l;
  f[1] = -m * p->g + at->y[1] * at->q[0] / l;
  return AS_DONE;
}

static int rod(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - l * l) / 2.0;
  return AS_DONE;
}

static int output(const as_point *at, double *y, void *user) {
  const pendulum *p = user;
  y[0] = (at->q[0] * at->vdot[1] - at->q[1] * at->vdot[0]) / l;
  y[1] = p->kappa * m * at->y[0];
  return AS_DONE;
}

typedef struct result {
  double first; ///< tangential acceleration at the start [m/s^2]
  double angle; ///< at the end [rad]
  double pull;  ///< of the rod, at the end [N]
} result;

/// Released at rest, 1 rad from below; three seconds.
static as_status run(pendulum p, result *r, as_error *error) {
  const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def description = as_default_problem_def();
  description.parts = &plane;
  description.n_parts = 1;
  description.n_lambda = 1;
  description.n_y = 2;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = rod;
  description.output = output;
  description.user = &p;
  as_integrator_def how = as_default_integrator_def();
  how.step = 0.002; // [s]
  const double q0[2] = {l * sin(1.0), -l * cos(1.0)};
  const as_initial initial = {.t = 0.0, .q = q0};
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_status status = as_problem_create(&description, &problem, error);
  if (status == AS_OK) status = as_integrator_create(problem, &how, &integrator, error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, error);
  if (status == AS_OK) {
    r->first = as_integrator_state(integrator)->y[0];
    status = as_integrator_advance(integrator, 3.0, error);
  }
  if (status == AS_OK) {
    const as_state *s = as_integrator_state(integrator);
    r->angle = atan2(s->q[0], -s->q[1]);
    r->pull = s->lambda[0] * l;
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status;
}

int main(void) {
  const double g = 9.81, gains[] = {-1.0, 0.0, 0.3, 0.6, 0.9};
  as_error error;
  as_status status = AS_OK;
  printf("gain   first acc.  expected   angle [rad]  without loop  difference  rod [N]\n");
  for (int i = 0; i < 5 && status == AS_OK; ++i) {
    const double kappa = gains[i], expected = -g * sin(1.0) / (1.0 - kappa);
    result with = {0}, without = {0};
    status = run((pendulum){kappa, g}, &with, &error);
    if (status == AS_OK) status = run((pendulum){0.0, g / (1.0 - kappa)}, &without, &error);
    if (status == AS_OK)
      printf("%4.1f %11.6f %10.6f %12.7f %13.7f %11.1e %9.5f\n", kappa, with.first, expected,
             with.angle, without.angle, fabs(with.angle - without.angle), with.pull);
  }
  if (status) fprintf(stderr, "%s\n", error.message);
  return status ? 1 : 0;
}
