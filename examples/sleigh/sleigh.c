/// Chaplygin's sleigh: a rigid body on ice with a knife edge that cannot slip sideways.
///
///     m x'' = psi sin(phi),  m y'' = -psi cos(phi),  J phi'' = psi a       (centre of mass, heading)
///     0 = -x' sin(phi) + y' cos(phi) - a phi'                              (knife edge, a behind it)
///
/// A nonholonomic constraint: it restricts velocities, not positions. Released with a spin, the sleigh turns
/// its rotation into forward motion. All three methods; the exact solution is known.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double m = 1.0; // [kg]
static const double J = 0.5; // about the centre of mass [kg m^2]
static const double a = 0.4; // from the knife edge forward to the centre of mass [m]

static int mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  as_matrix_add(out, 0, 0, m);
  as_matrix_add(out, 1, 1, m);
  as_matrix_add(out, 2, 2, J);
  return AS_DONE;
}

/// Nothing pushes it; the library adds -k_v^T psi.
static int force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = f[1] = f[2] = 0.0;
  return AS_DONE;
}

static int knife_edge(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = -at->v[0] * sin(at->q[2]) + at->v[1] * cos(at->q[2]) - a * at->v[2];
  return AS_DONE;
}

static as_status run(const as_problem *problem, as_method method, const char *name,
                     as_error *error) {
  const double q0[3] = {a, 0.0, 0.0}, v0[3] = {0.0, a * 2.0, 2.0}; // spinning at 2 rad/s
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.step = 0.01; // [s]
  as_integrator *integrator = NULL;
  as_status status = as_integrator_create(problem, &how, &integrator, error);
  const as_initial initial = {.t = 0.0, .q = q0, .v = v0};
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, error);
  if (status == AS_OK) status = as_integrator_advance(integrator, 5.0, error);
  if (status == AS_OK) {
    // u = forward speed, w = spin: m u' = m a w^2, (J + m a^2) w' = -m a u w.
    const double c = m * a * a / (J + m * a * a), W = 2.0, U = a * W / sqrt(c);
    const double t = 5.0, exact_u = U * tanh(sqrt(c) * W * t), exact_w = W / cosh(sqrt(c) * W * t);
    const as_state *s = as_integrator_state(integrator);
    const double phi = s->q[2], u = s->v[0] * cos(phi) + s->v[1] * sin(phi), w = s->v[2];
    const double energy = (m * (s->v[0] * s->v[0] + s->v[1] * s->v[1]) + J * w * w) / 2.0;
    printf("%-8s %9.6f %9.6f %9.6f %9.5f %9.5f  %8.1e %8.1e %10.6f %9.5f\n", name, s->q[0], s->q[1],
           phi, u, w, u - exact_u, w - exact_w, energy, s->psi[0]);
  }
  as_integrator_destroy(integrator);
  return status;
}

int main(void) {
  const as_space_part plane = {AS_SPACE_RN, 3};
  as_problem_def description = as_default_problem_def();
  description.parts = &plane;
  description.n_parts = 1;
  description.n_psi = 1;
  description.mass_constant = true;
  description.scleronomic = true;
  description.mass = mass;
  description.force = force;
  description.nonholonomic = knife_edge;
  as_error error;
  as_problem *problem = NULL;
  as_status status = as_problem_create(&description, &problem, &error);
  printf(
      "method       x [m]     y [m]  heading   u [m/s] w [rad/s]   u error  w error   energy [J] "
      "  side [N]\n");
  if (status == AS_OK) status = run(problem, AS_METHOD_INDEX3, "index-3", &error);
  if (status == AS_OK) status = run(problem, AS_METHOD_INDEX2, "index-2", &error);
  if (status == AS_OK) status = run(problem, AS_METHOD_SOI2, "SOI2", &error);
  if (status) fprintf(stderr, "%s\n", error.message);
  as_problem_destroy(problem);
  return status ? 1 : 0;
}
