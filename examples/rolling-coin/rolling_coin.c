/// A coin that rolls on a table without slipping: a rigid disk on R^3 x SO(3).
///
/// Let n be its axis (its own z axis) in world axes, u the unit vector in the disk that points up as far as
/// it can, r the radius. Then the coin touches the table at x - r u, and
///
///     0 = x_z - r u_z                                  holonomic: it stays on the table
///     0 = (x' + omega x (-r u))_{x,y}                  nonholonomic: the touching point does not slide
///
/// Only M, f0, g and k are given; Jacobians are differenced. Wobbling, the coin runs along a curl.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double mass_ = 0.01;   // [kg]
static const double radius = 0.012; // [m]
static const double gravity = 9.81; // [m/s^2]
static const double across = 0.25;  // inertia about a diameter over m r^2
static const double along = 0.5;    // inertia about the axis over m r^2

static void rotate(const double *q, const double *a, double *out) {
  const double w = q[3], x = q[4], y = q[5], z = q[6];
  const double t[3] = {2 * (y * a[2] - z * a[1]), 2 * (z * a[0] - x * a[2]),
                       2 * (x * a[1] - y * a[0])};
  out[0] = a[0] + w * t[0] + y * t[2] - z * t[1];
  out[1] = a[1] + w * t[1] + z * t[0] - x * t[2];
  out[2] = a[2] + w * t[2] + x * t[1] - y * t[0];
}

/// The direction from the touching point to the centre.
static void upward(const double *q, double u[3]) {
  double n[3];
  rotate(q, (const double[]){0, 0, 1}, n);
  const double length = sqrt(1.0 - n[2] * n[2]);
  u[0] = -n[2] * n[0] / length;
  u[1] = -n[2] * n[1] / length;
  u[2] = length;
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  const double mr2 = mass_ * radius * radius;
  const double diagonal[6] = {mass_, mass_, mass_, across * mr2, across * mr2, along * mr2};
  for (int i = 0; i < 6; ++i) as_matrix_add(m, i, i, diagonal[i]);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  (void)user;
  const double *w = at->v + 3, difference = (along - across) * mass_ * radius * radius;
  f[0] = f[1] = 0.0;
  f[2] = -mass_ * gravity;
  f[3] = -difference * w[1] * w[2]; // -Omega x J Omega
  f[4] = difference * w[0] * w[2];
  f[5] = 0.0;
  return AS_DONE;
}

static int on_table(const as_point *at, double *g, void *user) {
  (void)user;
  double u[3];
  upward(at->q, u);
  g[0] = at->q[2] - radius * u[2];
  return AS_DONE;
}

static int no_slip(const as_point *at, double *k, void *user) {
  (void)user;
  double u[3], w[3];
  upward(at->q, u);
  rotate(at->q, at->v + 3, w); // omega in world axes
  k[0] = at->v[0] - radius * (w[1] * u[2] - w[2] * u[1]);
  k[1] = at->v[1] - radius * (w[2] * u[0] - w[0] * u[2]);
  return AS_DONE;
}

static double energy(const as_state *s) {
  const double mr2 = mass_ * radius * radius, *v = s->v;
  return mass_ * (gravity * s->q[2] + (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2) +
         mr2 * (across * (v[3] * v[3] + v[4] * v[4]) + along * v[5] * v[5]) / 2;
}

int main(void) {
  const as_space_part body = {AS_SPACE_R3SO3, 1};
  const double typical[6] = {radius, radius, radius, 1, 1, 1};
  as_problem_def description = as_default_problem_def();
  description.parts = &body;
  description.n_parts = 1;
  description.n_lambda = 1;
  description.n_psi = 2;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.constraint = on_table;
  description.nonholonomic = no_slip;
  description.typical = typical;

  as_integrator_def how = as_default_integrator_def();
  how.step = 1e-3; // [s]

  as_error error;
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_start_report report;
  // Its axis leans by 0.3 rad from the horizontal y axis; the touching point runs at 0.4 m/s. q and v need
  // not fit the constraints: the start is projected onto them.
  const double lean = 0.3, half = (acos(0.0) - lean) / 2.0;
  const double q0[7] = {0, 0, radius * cos(lean), cos(half), sin(half), 0, 0};
  const double v0[6] = {0.4, 0, 0, 0, 0, -0.4 / radius};
  const as_initial initial = {.t = 0.0, .q = q0, .v = v0};

  as_status status = as_problem_create(&description, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, &how, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, &report, &error);
  if (status == AS_OK) {
    const as_state *s = as_integrator_state(integrator);
    const double energy0 = energy(s);
    printf("degrees of freedom: %d\n", report.degrees_of_freedom);
    printf("  t [s]     x [mm]     y [mm]  height [mm]  normal force / weight  energy error / "
           "energy\n");
    for (int i = 0; i <= 8 && status == AS_OK; ++i) {
      status = as_integrator_advance(integrator, 0.05 * i, &error);
      printf("%7.2f  %9.3f  %9.3f  %11.4f  %21.5f  %21.1e\n", s->t, 1e3 * s->q[0], 1e3 * s->q[1],
             1e3 * s->q[2], -s->lambda[0] / (mass_ * gravity), energy(s) / energy0 - 1.0);
    }
  }
  if (status) fprintf(stderr, "%s\n", error.message);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
