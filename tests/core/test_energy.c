/// Invariants over long runs: energy, constraints at both levels, unit quaternions.
///
/// With rho_inf = 1 nothing is damped: the energy error of a conservative system is O(h^2) and
/// hardly grows (index-2: a drift of about h^3 t is seen). Index-3 needs damping: with rho_inf = 1
/// long runs break down, so it is looked at over a short time only. With rho_inf < 1 motions of
/// Omega = w h lose energy at O(Omega^3) w t.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/problems.h"

enum { MAX_SIZE = 32 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_names[] = {"index-3", "index-2"};

// ---- one run ------------------------------------------------------------------------------------

/// Largest values over a run.
typedef struct extremes {
  double energy;         ///< |E - E_0|, with the projected velocity
  double first_quarter;  ///< the same over the first quarter of the time
  double last_quarter;   ///< and over the last one
  double position_drift; ///< |g|
  double velocity_drift; ///< |g_t + B v| of the raw velocity
  double quaternion;     ///< | |quaternion| - 1 |
} extremes;

/// | |quaternion| - 1 |, the largest in q
static double quaternion_error(const as_problem_def *def, const double *q) {
  double worst = 0.0;
  for (int i = 0; i < def->n_parts; ++i) {
    const as_space_part *part = &def->parts[i];
    if (part->kind == AS_SPACE_RN) q += part->count;
    for (int k = 0; part->kind != AS_SPACE_RN && k < part->count; ++k) {
      q += part->kind == AS_SPACE_SO3 ? 0 : 3;
      const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
      worst = fmax(worst, fabs(length - 1.0));
      q += 4;
    }
  }
  return worst;
}

static void stop_if(as_status status, const test_problem *p, const as_error *error) {
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error->message);
}

static extremes integrate(const test_problem *p, const as_integrator_def *def, double h,
                          double duration) {
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  extremes e = {0};
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  stop_if(as_problem_create(&p->def, &problem, &error), p, &error);
  stop_if(as_integrator_create(problem, def, &integrator, &error), p, &error);
  stop_if(as_integrator_start(integrator, &initial, NULL, &error), p, &error);
  assert_true(as_space_nq(as_problem_space(problem)) <= MAX_SIZE);
  const as_state *s = as_integrator_state(integrator);
  const double start = p->energy ? p->energy(p, s->q, s->v) : 0.0;
  const long n = lround(duration / h);
  for (long i = 0; i < n; ++i) {
    double v[MAX_SIZE];
    double now[2];
    stop_if(as_integrator_step(integrator, h, &error), p, &error);
    stop_if(as_integrator_velocity(integrator, v, &error), p, &error);
    stop_if(as_integrator_drift(integrator, &now[0], &now[1], &error), p, &error);
    const double change = p->energy ? fabs(p->energy(p, s->q, v) - start) : 0.0;
    e.energy = fmax(e.energy, change);
    if (i < n / 4) e.first_quarter = fmax(e.first_quarter, change);
    if (i >= n - n / 4) e.last_quarter = fmax(e.last_quarter, change);
    e.position_drift = fmax(e.position_drift, now[0]);
    e.velocity_drift = fmax(e.velocity_drift, now[1]);
    e.quaternion = fmax(e.quaternion, quaternion_error(&p->def, s->q));
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return e;
}

static as_integrator_def description(as_method method, double rho_inf) {
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.rho_inf = rho_inf;
  return def;
}

// ---- energy -------------------------------------------------------------------------------------

typedef struct energy_case {
  const test_problem *(*problem)(void);
  double h;
  double short_time; ///< for the order [s]
  double long_time;  ///< for the growth [s]; 0: chaotic, not looked at
  double growth;     ///< how much larger the last quarter may be than the first
} energy_case;

static const energy_case cases[] = {
    {problem_double_pendulum, 0.005, 3.0, 0.0, 0.0},
    {problem_spherical_pendulum_angles, 0.01, 1.5, 40.0, 1.1},
    {problem_pendulum, 0.01, 1.5, 40.0, 1.5},
    {problem_pendulum_bottom, 0.01, 1.5, 40.0, 1.5},
    {problem_pendulum_horizontal, 0.01, 1.5, 40.0, 1.1},
    {problem_spherical_pendulum, 0.01, 1.5, 40.0, 1.1},
    {problem_double_pendulum_slider, 0.01, 1.5, 40.0, 1.1},
    {problem_free_rotation, 0.01, 1.5, 40.0, 1.1},
    {problem_free_body, 0.01, 1.5, 40.0, 1.1},
    {problem_heavy_top_slow, 0.01, 1.5, 40.0, 1.1},
    {problem_heavy_top_fast, 0.0005, 0.1, 2.0, 1.3},
    {problem_heavy_top_slow_se3, 0.01, 1.5, 40.0, 1.1},
    {problem_heavy_top_fast_se3, 0.0005, 0.1, 2.0, 1.5},
    {problem_two_bodies, 0.01, 1.5, 40.0, 3.0},     // irregular motion: the quarters
    {problem_two_bodies_se3, 0.01, 1.5, 40.0, 3.0}, // differ
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static int check_growth(const energy_case *c, int method, double rho_inf) {
  const test_problem *p = c->problem();
  const as_integrator_def def = description(methods[method], rho_inf);
  const extremes e = integrate(p, &def, c->h, c->long_time);
  printf("%-26s %s rho_inf = %g: %.3e in the first, %.3e in the last quarter\n", p->name,
         method_names[method], rho_inf, e.first_quarter, e.last_quarter);
  if (e.last_quarter <= c->growth * e.first_quarter) return 0;
  print_error("%s, %s, rho_inf = %g: the energy error grows from %g to %g, more than %g times\n",
              p->name, method_names[method], rho_inf, e.first_quarter, e.last_quarter, c->growth);
  return 1;
}

static void test_energy_does_not_grow(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < N_CASES; ++i)
    if (cases[i].long_time > 0.0) failures += check_growth(&cases[i], 1, 1.0);
  assert_int_equal(failures, 0);
}

static void test_damped_energy(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < N_CASES; ++i)
    for (int k = 0; k < 2; ++k)
      if (cases[i].long_time > 0.0) failures += check_growth(&cases[i], k, 0.8);
  assert_int_equal(failures, 0);
}

static void test_energy_order(void **state) {
  (void)state;
  const double rho_inf[] = {1.0, 0.8};
  int failures = 0;
  for (int i = 0; i < N_CASES; ++i) {
    const energy_case *c = &cases[i];
    const test_problem *p = c->problem();
    for (int k = 0; k < 4; ++k) {
      const as_integrator_def def = description(methods[k % 2], rho_inf[k / 2]);
      const double coarse = integrate(p, &def, c->h, c->short_time).energy;
      const double fine = integrate(p, &def, c->h / 2.0, c->short_time).energy;
      const double order = log2(coarse / fine);
      printf("%-26s %s rho_inf = %g: %.3e %.3e order %.3f\n", p->name, method_names[k % 2],
             rho_inf[k / 2], coarse, fine, order);
      if (order >= 1.9 && order <= 2.2) continue;
      print_error("%s, %s, rho_inf = %g: the energy error falls from %g to %g, order %.3f\n",
                  p->name, method_names[k % 2], rho_inf[k / 2], coarse, fine, order);
      ++failures;
    }
  }
  assert_int_equal(failures, 0);
}

// The trapezoidal rule keeps the linear oscillator's energy exactly.
static void test_oscillator_energy_is_exact(void **state) {
  (void)state;
  const test_problem *p = problem_oscillator();
  const as_integrator_def def = description(AS_METHOD_INDEX2, 1.0);
  const double energy = p->energy(p, p->q0, p->v0);
  const extremes e = integrate(p, &def, 0.1, 100.0);
  if (!(e.energy <= 1e-12 * energy)) fail_msg("off by %g of %g", e.energy, energy);
}

// The spectral radius for rho_inf = 0.8 at Omega = 0.5 is 0.99996011083551: every step takes its
// square from the oscillator's energy, seen over whole periods.
static void test_oscillator_energy_decay(void **state) {
  (void)state;
  enum { WINDOW = 1257, STEPS = 4 * WINDOW }; // Omega * 1257 = 100 periods to 1e-4
  const test_problem *p = problem_oscillator();
  const as_integrator_def def = description(AS_METHOD_INDEX2, 0.8);
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  double sum[4] = {0.0};
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  stop_if(as_problem_create(&p->def, &problem, &error), p, &error);
  stop_if(as_integrator_create(problem, &def, &integrator, &error), p, &error);
  stop_if(as_integrator_start(integrator, &initial, NULL, &error), p, &error);
  const as_state *s = as_integrator_state(integrator);
  for (int i = 0; i < STEPS; ++i) {
    stop_if(as_integrator_step(integrator, 0.5 / 3.0, &error), p, &error); // w = 3
    sum[i / WINDOW] += p->energy(p, s->q, s->v);
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  const double expected = pow(0.99996011083551, 2.0 * WINDOW);
  for (int i = 2; i < 4; ++i) {
    if (!(fabs(sum[i] / sum[i - 1] / expected - 1.0) <= 1e-4))
      fail_msg("the energy falls to %.9g in %d steps, expected %.9g", sum[i] / sum[i - 1], WINDOW,
               expected);
  }
}

// ---- constraints --------------------------------------------------------------------------------

typedef struct drift_case {
  const test_problem *(*problem)(void);
  double h;
  double time;
  bool subgroup; ///< the constraints bound a subgroup: v stays on them by itself
} drift_case;

static const drift_case drift_cases[] = {
    {problem_pendulum, 0.01, 20.0, false},
    {problem_pendulum_horizontal, 0.01, 20.0, false},
    {problem_spherical_pendulum, 0.01, 20.0, false},
    {problem_driven_pendulum, 0.01, 20.0, false},
    {problem_double_pendulum_slider, 0.01, 20.0, false},
    {problem_friction_wire, 0.005, 5.0, false},
    {problem_slider_crank, 0.01, 20.0, false},
    {problem_car_axis, 0.001, 3.0, false},
    {problem_andrews, 1e-5, 0.03, false},
    {problem_heavy_top_slow, 0.01, 20.0, false},
    {problem_heavy_top_fast, 0.0005, 1.0, false},
    {problem_heavy_top_slow_se3, 0.01, 20.0, true},
    {problem_heavy_top_fast_se3, 0.0005, 1.0, true},
    {problem_two_bodies, 0.01, 5.0, false},
    {problem_two_bodies_se3, 0.01, 5.0, false},
};
enum { N_DRIFT_CASES = sizeof drift_cases / sizeof drift_cases[0] };

/// A run that solves each step as well as round-off allows.
static extremes drift_of(const drift_case *c, int method, double h) {
  const test_problem *p = c->problem();
  as_integrator_def def = description(methods[method], 0.8);
  def.newton.rtol = 1e-13;
  def.newton.reuse = false;
  const extremes e = integrate(p, &def, h, c->time);
  printf("%-26s %s h = %-7g: g %.1e g' %.1e quaternion %.1e\n", p->name, method_names[method], h,
         e.position_drift, e.velocity_drift, e.quaternion);
  return e;
}

static int check_below(const char *problem, const char *what, double value, double bound) {
  if (value <= bound) return 0;
  print_error("%s: %s is %g > %g\n", problem, what, value, bound);
  return 1;
}

static void test_index2_drift(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < N_DRIFT_CASES; ++i) {
    const drift_case *c = &drift_cases[i];
    const char *name = c->problem()->name;
    const extremes e = drift_of(c, 1, c->h);
    failures += check_below(name, "|g|", e.position_drift, 1e-14);
    failures += check_below(name, "|g'|", e.velocity_drift, 1e-13);
    failures += check_below(name, "| |quaternion| - 1 |", e.quaternion, 5e-16);
  }
  assert_int_equal(failures, 0);
}

/// g is met to round-off; v is off by O(h^2), on purpose.
static void test_index3_drift(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < N_DRIFT_CASES; ++i) {
    const drift_case *c = &drift_cases[i];
    const char *name = c->problem()->name;
    const extremes e = drift_of(c, 0, c->h), fine = drift_of(c, 0, c->h / 2.0);
    failures += check_below(name, "|g|", e.position_drift, 1e-14);
    failures += check_below(name, "| |quaternion| - 1 |", e.quaternion, 5e-16);
    if (c->subgroup) {
      failures += check_below(name, "|g'|", e.velocity_drift, 1e-9);
    } else {
      const double order = log2(e.velocity_drift / fine.velocity_drift);
      failures += check_below(name, "order of g' - 2", fabs(order - 2.0), 0.1);
    }
  }
  assert_int_equal(failures, 0);
}

/// The default tolerance of 1e-8 on v' leaves h 1e-8 |v'| in g' and h^2 1e-8 |v'| in g.
static void test_default_drift(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < N_DRIFT_CASES; ++i) {
    const drift_case *c = &drift_cases[i];
    const test_problem *p = c->problem();
    const as_integrator_def def = as_default_integrator_def();
    const extremes e = integrate(p, &def, c->h, c->time);
    printf("%-26s default: g %.1e g' %.1e\n", p->name, e.position_drift, e.velocity_drift);
    failures += check_below(p->name, "|g|", e.position_drift, 1e-10);
    failures += check_below(p->name, "|g'|", e.velocity_drift, 1e-7);
  }
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_energy_does_not_grow),
      cmocka_unit_test(test_damped_energy),
      cmocka_unit_test(test_energy_order),
      cmocka_unit_test(test_oscillator_energy_is_exact),
      cmocka_unit_test(test_oscillator_energy_decay),
      cmocka_unit_test(test_index2_drift),
      cmocka_unit_test(test_index3_drift),
      cmocka_unit_test(test_default_drift),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
