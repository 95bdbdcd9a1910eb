/// Callbacks whose last digits are noise, as with another libm or a simulation inside: no step fails where the iteration cannot come closer,
/// and results are as without noise. The problems have a chosen solution (problems/manufactured.h), with states and outputs or without.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/manufactured.h"

enum { STEPS = 320 };

/// A problem and its own callbacks, and how many units in the last place some of them are off by at most.
typedef struct noisy {
  manufactured problem; ///< the first, so that the other callbacks may have it
  as_problem_def def;
  double ulps;
} noisy;

/// splitmix64
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The same number is always shaken alike.
static int shake(const noisy *n, int code, double *x, int count) {
  for (int i = 0; i < count; ++i) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    const double part = (double)(int64_t)mix(bits + (uint64_t)i) / 0x1p63; // -1..1
    x[i] += part * n->ulps * 0x1p-52 * (1.0 + fabs(x[i])); // what is summed up is about 1
  }
  return code;
}

static int velocities(const noisy *n) {
  return n->problem.space == AS_SPACE_RN ? 4 : MANUFACTURED_NV;
}

static int noisy_force(const as_point *at, double *out, void *user) {
  const noisy *n = user;
  return shake(n, n->def.force(at, out, user), out, velocities(n));
}

static int noisy_constraint(const as_point *at, double *out, void *user) {
  const noisy *n = user;
  return shake(n, n->def.constraint(at, out, user), out, n->def.n_lambda);
}

static int noisy_state_rate(const as_point *at, double *out, void *user) {
  const noisy *n = user;
  return shake(n, n->def.state_rate(at, out, user), out, n->def.n_x);
}

static int noisy_output(const as_point *at, double *out, void *user) {
  const noisy *n = user;
  return shake(n, n->def.output(at, out, user), out, n->def.n_y);
}

static as_problem_def describe(noisy *n) {
  n->def = manufactured_def(&n->problem);
  as_problem_def def = n->def;
  def.force = noisy_force;
  if (def.constraint) def.constraint = noisy_constraint;
  if (def.state_rate) def.state_rate = noisy_state_rate;
  if (def.output) def.output = noisy_output;
  def.user = n;
  return def;
}

/// The largest error of v' over a run.
static double error_of(noisy *n, as_method method, double h, long *failed) {
  const as_problem_def def = describe(n);
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_statistics count;
  as_error error = {0};
  double q[MANUFACTURED_NQ], v[MANUFACTURED_NV], vdot[MANUFACTURED_NV], x[MANUFACTURED_NX];
  double largest = 0.0;
  how.method = method;
  how.rho_inf = 0.5;
  how.newton.rtol = 1e-10;
  manufactured_exact(&n->problem, 0.0, q, v, NULL, NULL, NULL);
  manufactured_exact_states(0.0, x, NULL, NULL);
  const as_initial initial = {.q = q, .v = v, .x = n->problem.states ? x : NULL};
  assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
  assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_OK);
  assert_int_equal(as_integrator_start(integrator, &initial, NULL, &error), AS_OK);
  for (int i = 0; i < STEPS; ++i) {
    if (as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
    const as_state *now = as_integrator_state(integrator);
    manufactured_exact(&n->problem, now->t, NULL, NULL, vdot, NULL, NULL);
    for (int k = 0; k < velocities(n); ++k) largest = fmax(largest, fabs(now->vdot[k] - vdot[k]));
  }
  as_integrator_statistics(integrator, &count, NULL);
  *failed = count.failed_steps;
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return largest;
}

/// An iteration that cannot come below the noise has not diverged: it is not damped, and no step is taken in parts with compliant
/// constraints, which makes errors of ten times the method's.
static void test_noise_is_no_divergence(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  static const as_space_kind spaces[] = {AS_SPACE_RN, AS_SPACE_R3SO3, AS_SPACE_SE3};
  for (int k = 0; k < 24; ++k) {
    noisy n = {.problem = {.space = spaces[k % 3],
                           .holonomic = true,
                           .nonholonomic = k / 6 % 2 == 1,
                           .mass_varies = true,
                           .general = true,
                           .states = k / 12 == 0}};
    long failed, quietly;
    const as_method method = methods[k / 3 % 2];
    const double quiet = error_of(&n, method, 1.0 / STEPS, &quietly);
    n.ulps = 64.0;
    const double loud = error_of(&n, method, 1.0 / STEPS, &failed);
    assert_true(quietly == 0 && failed == 0);
    assert_true(loud < 1.1 * quiet);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_noise_is_no_divergence)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
