/// A pole on a cart, held upright by a controller that measures the cart's place and the pole's angle.
///
///     m_c s'' = u + lambda d_x,   m_b b'' = (0, -m_b g) - lambda d,   d = b - (s, 0)     (cart s, bob b)
///     0 = (d . d - l^2) / 2                                                              (the pole)
///     x' = A x + B u + L (s - x_0, angle - x_2)                     (x estimates s, s', angle, angle')
///     y = u = -K x                                                                       (the force)
///
/// A, B: the motion linearized about upright. K: an LQR gain, L: an observer's. The observer starts from
/// zero: it has to find out where the pole is while the pole falls.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double mc = 1.0, mb = 0.2; // cart and bob [kg]
static const double l = 0.5;            // [m]
static const double g = 9.81;           // [m/s^2]
static const double K[4] = {-3.16228, -4.30243, -38.9331, -8.36426};
static const double L[4][2] = {
    {8.56402, -0.12585}, {31.67916, -2.49138}, {-0.12585, 13.85792}, {-0.33044, 91.02889}};

/// From upright.
static double angle(const double *q) { return atan2(q[1] - q[0], q[2]); }

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  as_matrix_add(out, 0, 0, mc);
  as_matrix_add(out, 1, 1, mb);
  as_matrix_add(out, 2, 2, mb);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = at->y[0];
  f[1] = 0.0;
  f[2] = -mb * g;
  return AS_DONE;
}

static int pole(const as_point *at, double *out, void *user) {
  (void)user;
  const double dx = at->q[1] - at->q[0], dy = at->q[2];
  out[0] = (dx * dx + dy * dy - l * l) / 2.0;
  return AS_DONE;
}

static int observer(const as_point *at, double *xdot, void *user) {
  (void)user;
  const double *x = at->x, u = at->y[0];
  xdot[0] = x[1];
  xdot[1] = (u - mb * g * x[2]) / mc;
  xdot[2] = x[3];
  xdot[3] = ((mc + mb) * g * x[2] - u) / (mc * l);
  for (int i = 0; i < 4; ++i)
    xdot[i] += L[i][0] * (at->q[0] - x[0]) + L[i][1] * (angle(at->q) - x[2]);
  return AS_DONE;
}

static int controller(const as_point *at, double *y, void *user) {
  (void)user;
  y[0] = -(K[0] * at->x[0] + K[1] * at->x[1] + K[2] * at->x[2] + K[3] * at->x[3]);
  return AS_DONE;
}

int main(void) {
  const as_space_part space = {AS_SPACE_RN, 3};
  as_problem_def description = as_default_problem_def();
  description.parts = &space;
  description.n_parts = 1;
  description.n_lambda = 1;
  description.n_x = 4;
  description.n_y = 1;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = pole;
  description.state_rate = observer;
  description.output = controller;

  as_integrator_def how = as_default_integrator_def();
  how.step = 0.005; // [s]

  const double lean = 0.2; // [rad]
  const double q0[3] = {0.0, l * sin(lean), l * cos(lean)};
  const as_initial initial = {.t = 0.0, .q = q0}; // at rest; x = 0: the controller knows nothing
  const double times[] = {0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0};

  as_error error;
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_status status = as_problem_create(&description, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, &how, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  printf("t [s]  cart [m]  angle [rad]  estimate   force [N]  pole [N]\n");
  for (size_t i = 0; i < sizeof times / sizeof times[0] && status == AS_OK; ++i) {
    if (i > 0) status = as_integrator_advance(integrator, times[i], &error);
    const as_state *s = as_integrator_state(integrator);
    if (status == AS_OK)
      printf("%5.2f %9.5f %12.6f %9.6f %11.5f %9.5f\n", s->t, s->q[0], angle(s->q), s->x[2],
             s->y[0], -s->lambda[0] * l);
  }
  if (status) fprintf(stderr, "%s\n", error.message);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
