/// A four-bar driven by a DC motor with a current loop inside a speed loop.
///
///     M(q) q'' = f(q, q') + (k i, 0, -c q_2') - B^T lambda          (angles of crank, coupler, rocker)
///     0 = a cos q_0 + b cos q_1 - c cos q_2 - d,   0 = a sin q_0 + b sin q_1 - c sin q_2       (loop)
///     L i' = u - R i - k q_0',   z' = i_wanted - i                       (x: current, integral of its error)
///     i_wanted = s (w - q_0'),   u = P (i_wanted - i) + I z              (y: wanted current, voltage)
///
/// The voltage is an output that uses another output. Blocks are differenced.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double a = 0.3, b = 1.0, c = 0.8, d = 0.9; // crank, coupler, rocker, ground [m]
static const double m0 = 1.0, m1 = 2.0, m2 = 1.5;       // uniform rods [kg]
static const double g = 9.81;                           // [m/s^2]
static const double load = 0.5;                         // damper at the rocker [N m s]
static const double L = 0.02, R = 1.0, k = 0.8;         // [H], [ohm], [N m/A]
static const double P = 0.5, I = 20.0;                  // current loop [V/A], [V/(A s)]
static const double w = 6.0, gain = 4.0;                // speed loop [rad/s], [A s]

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)user;
  const double coupling = 0.5 * m1 * a * b * cos(at->q[0] - at->q[1]);
  as_matrix_add(out, 0, 0, (m0 / 3.0 + m1) * a * a);
  as_matrix_add(out, 0, 1, coupling);
  as_matrix_add(out, 1, 0, coupling);
  as_matrix_add(out, 1, 1, m1 * b * b / 3.0);
  as_matrix_add(out, 2, 2, m2 * c * c / 3.0);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  (void)user;
  const double *q = at->q, *v = at->v, coupling = 0.5 * m1 * a * b * sin(q[0] - q[1]);
  f[0] = -coupling * v[1] * v[1] - (0.5 * m0 + m1) * g * a * cos(q[0]) + k * at->x[0];
  f[1] = coupling * v[0] * v[0] - 0.5 * m1 * g * b * cos(q[1]);
  f[2] = -0.5 * m2 * g * c * cos(q[2]) - load * v[2];
  return AS_DONE;
}

static int loop(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q;
  out[0] = a * cos(q[0]) + b * cos(q[1]) - c * cos(q[2]) - d;
  out[1] = a * sin(q[0]) + b * sin(q[1]) - c * sin(q[2]);
  return AS_DONE;
}

static int motor(const as_point *at, double *xdot, void *user) {
  (void)user;
  const double current = at->x[0], wanted = at->y[0], voltage = at->y[1];
  xdot[0] = (voltage - R * current - k * at->v[0]) / L;
  xdot[1] = wanted - current;
  return AS_DONE;
}

static int controller(const as_point *at, double *y, void *user) {
  (void)user;
  y[0] = gain * (w - at->v[0]);
  y[1] = P * (at->y[0] - at->x[0]) + I * at->x[1];
  return AS_DONE;
}

/// Integrates to t in steps of h and prints a line.
static as_status run(const as_problem *problem, double h, double t, as_error *error) {
  const double q0[3] = {1.5, 0.8, 1.8}; // about: the start moves it onto the loop
  as_integrator_def how = as_default_integrator_def();
  how.step = h;
  as_integrator *integrator = NULL;
  as_status status = as_integrator_create(problem, &how, &integrator, error);
  if (status == AS_OK)
    status = as_integrator_start(integrator, &(as_initial){.q = q0}, NULL, error);
  if (status == AS_OK) status = as_integrator_advance(integrator, t, error);
  if (status == AS_OK) {
    const as_state *s = as_integrator_state(integrator);
    const double bearing = sqrt(s->lambda[0] * s->lambda[0] + s->lambda[1] * s->lambda[1]);
    printf("%4.1f %7.4f %11.4f %11.4f %11.4f %11.4f %11.4f\n", t, h, s->q[0], s->v[0], s->x[0],
           s->y[1], bearing);
  }
  as_integrator_destroy(integrator);
  return status;
}

int main(void) {
  const as_space_part angles = {AS_SPACE_RN, 3};
  as_problem_def description = as_default_problem_def();
  description.parts = &angles;
  description.n_parts = 1;
  description.n_lambda = 2;
  description.n_x = 2;
  description.n_y = 2;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = loop;
  description.state_rate = motor;
  description.output = controller;
  as_error error;
  as_problem *problem = NULL;
  as_status status = as_problem_create(&description, &problem, &error);
  printf("t [s]  h [s] crank [rad] crank rad/s current [A] voltage [V] bearing [N]\n");
  const double times[] = {0.2, 1.0, 3.0};
  for (int i = 0; i < 3; ++i)
    for (double h = 2e-3; h > 4e-4 && status == AS_OK; h /= 2.0)
      status = run(problem, h, times[i], &error);
  if (status) fprintf(stderr, "%s\n", error.message);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
