/// Steps of order 6: their order in every variable, at their ends and inside; errors against the tolerance and what they cost;
/// machines that they are not for; events, samples, saved states.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "core/driver/integrator.h"
#include "problems/automatic.h"

static const double pi = 3.14159265358979323846;
static const as_method methods[] = {AS_METHOD_INDEX2, AS_METHOD_INDEX3, AS_METHOD_SOI2};

static void check(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static as_integrator_def high(double rtol) {
  as_integrator_def def = as_default_integrator_def();
  def.order = 6;
  def.tolerance.rtol = rtol;
  return def;
}

static automatic_problem *open_named(const char *name) {
  for (int i = 0; i < automatic_count(); ++i)
    if (strcmp(automatic_name(i), name) == 0) return automatic_open(i);
  fail_msg("there is no problem %s", name);
  return NULL;
}

/// What steps of second order spend, in iterations of Newton's method (docs/performance.md): factorizations are of matrices with stiffness.
static double spent_by_method(const as_statistics *w) {
  return (double)w->newton_iterations + 3.0 * (double)w->factorizations;
}

/// What steps of order 6 spend, [EX.5].
static double spent_high(const as_statistics *w) {
  return (double)w->newton_iterations + (double)w->factorizations;
}

// ---- order --------------------------------------------------------------------------------------------

/// The largest errors with steps of one size, so many to each of the times that are looked at, whatever the tolerance; the method
/// takes none of them.
static void errors_with(const automatic_problem *p, as_method method, double per_time,
                        double *off) {
  as_problem *problem = NULL;
  as_integrator *s = NULL;
  as_error error;
  as_integrator_def def = high(0.9);
  def.method = method;
  def.tolerance.max_step = def.tolerance.first_step =
      (p->t_end - p->t0) / (AUTOMATIC_TIMES * per_time);
  check(as_problem_create(&p->def, &problem, &error), &error);
  check(as_integrator_create(problem, &def, &s, &error), &error);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0, .x = p->x0};
  check(as_integrator_start(s, &initial, NULL, &error), &error);
  s->high.wait = 1000000;
  memset(off, 0, AUTOMATIC_VARIABLES * sizeof(double));
  for (int i = 0; i < AUTOMATIC_TIMES; ++i) {
    double at[AUTOMATIC_VARIABLES];
    check(as_integrator_advance(s, p->times[i], &error), &error);
    automatic_compare(p, as_problem_space(problem), as_integrator_state(s), i, at);
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) off[k] = fmax(off[k], at[k]);
  }
  assert_false(s->high.by_method);
  as_statistics w;
  check(as_integrator_statistics(s, &w, &error), &error);
  assert_int_equal(w.rejected_steps, 0);
  as_integrator_destroy(s);
  as_problem_destroy(problem);
}

static void orders_are(const char *name, as_method method, double per_time, double least) {
  automatic_problem *p = open_named(name);
  double coarse[AUTOMATIC_VARIABLES], fine[AUTOMATIC_VARIABLES];
  errors_with(p, method, per_time, coarse);
  errors_with(p, method, 2.0 * per_time, fine);
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) {
    if (p->count[k] == 0) continue;
    const double order = log2(coarse[k] / fine[k]);
    if (!(order >= least && coarse[k] > 1e-11 && coarse[k] < 1e-2))
      fail_msg("%s, method %d, %s: errors %.2e, %.2e, order %.2f where %.1f is expected", name,
               (int)method, automatic_variable_name(k), coarse[k], fine[k], order, least);
  }
  automatic_close(p);
}

/// Steps end at the times that are looked at, or these lie anywhere in them.
static void test_orders(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    orders_are("heavy_top_slow", methods[m], 2.0, 5.5);
    orders_are("heavy_top_slow", methods[m], 1.7, 5.0);
  }
  orders_are("heavy_top_fast", AS_METHOD_INDEX2, 8.0, 5.5);
  orders_are("double_pendulum", AS_METHOD_INDEX2, 5.0, 5.5);
  orders_are("car_axis", AS_METHOD_INDEX2, 10.3, 5.0);
  orders_are("slider_crank", AS_METHOD_INDEX3, 3.0, 5.5);
  orders_are("chaplygin_sleigh", AS_METHOD_INDEX2, 1.0, 5.5);
  orders_are("chaplygin_sleigh", AS_METHOD_INDEX2, 1.3, 5.0);
  orders_are("controlled_spring", AS_METHOD_INDEX2, 1.0, 5.5);
  orders_are("controlled_spring", AS_METHOD_INDEX3, 1.3, 5.0);
}

// ---- tolerance and cost ---------------------------------------------------------------------------------

static double worst(const automatic_run *r) {
  double most = 0.0;
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) most = fmax(most, r->overall[k]);
  return most;
}

static automatic_run run(const automatic_problem *p, int order, as_method method, double rtol) {
  as_integrator_def def = high(rtol);
  def.order = order;
  def.method = method;
  const automatic_run r = automatic_integrate(p, &def, AUTOMATIC_TIMES);
  check(r.status, &r.error);
  return r;
}

/// On smooth machines errors are below the tolerance, and what they cost is less than half of what second order does.
static void test_smooth(void **state) {
  (void)state;
  static const char *const names[] = {"swinging_pendulum", "double_pendulum", "heavy_top_slow",
                                      "heavy_top_fast",    "andrews",         "car_axis",
                                      "slider_crank",      "chaplygin_sleigh"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    automatic_problem *p = open_named(names[i]);
    const automatic_run second = run(p, 2, AS_METHOD_INDEX2, 1e-6);
    for (int m = 0; m < 3; ++m)
      for (double rtol = 1e-4; rtol > 1e-9; rtol *= 1e-2) {
        const automatic_run r = run(p, 6, methods[m], rtol);
        if (!(worst(&r) <= 5.0 * rtol))
          fail_msg("%s, method %d: error %.2e with rtol = %g", names[i], (int)methods[m], worst(&r),
                   rtol);
        if (rtol < 2e-6 && rtol > 5e-7 &&
            !(spent_high(&r.work) < 0.5 * spent_by_method(&second.work)))
          fail_msg("%s, method %d: %.0f, where second order spends %.0f", names[i], (int)methods[m],
                   spent_high(&r.work), spent_by_method(&second.work));
      }
    automatic_close(p);
  }
}

/// A stiff spring, and positions in which a four-bar is flat, are left to the method.
static void test_not_for(void **state) {
  (void)state;
  automatic_problem *stiff = open_named("stiff_pendulum"), *flat = open_named("four_bar");
  for (int m = 0; m < 3; ++m)
    for (double rtol = 1e-4; rtol > 5e-7; rtol *= 0.1) {
      const automatic_run second = run(stiff, 2, methods[m], rtol),
                          r = run(stiff, 6, methods[m], rtol);
      if (!(worst(&r) <= 5.0 * rtol &&
            spent_by_method(&r.work) < 1.5 * spent_by_method(&second.work)))
        fail_msg("stiff pendulum, method %d, rtol %g: error %.2e, spent %.0f and %.0f",
                 (int)methods[m], rtol, worst(&r), spent_by_method(&r.work),
                 spent_by_method(&second.work));
    }
  for (int i = 0; i < 20; ++i) {
    const double rtol = 1e-5 * pow(0.6, i % 10);
    const automatic_run r = run(flat, 6, methods[i % 3], rtol);
    if (!(worst(&r) <= 5.0 * rtol))
      fail_msg("four-bar, method %d, rtol %g: error %.2e", (int)methods[i % 3], rtol, worst(&r));
  }
  automatic_close(stiff);
  automatic_close(flat);
}

// ---- events and samples ---------------------------------------------------------------------------------

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

/// q'' = -q + u
static int spring(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = -at->q[0] + (at->u ? at->u[0] : 0.0);
  return AS_DONE;
}

static int position(const as_state *at, double *value, void *user) {
  (void)user;
  *value = at->q[0];
  return AS_DONE;
}

static int turn_back(as_event *event, void *user) {
  (void)user;
  event->v[0] = -event->v[0];
  return AS_EVENT_CHANGE;
}

static int switch_force(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = at->q[0] > 0.0 ? 0.5 : -0.5;
  return AS_DONE;
}

static as_problem *oscillator(const as_sampler_def *sampler) {
  static const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  as_problem *problem = NULL;
  as_error error;
  def.parts = &line;
  def.n_parts = 1;
  def.mass_constant = true;
  def.mass = mass;
  def.force = spring;
  def.n_u = sampler ? 1 : 0;
  def.samplers = sampler;
  def.n_samplers = sampler ? 1 : 0;
  check(as_problem_create(&def, &problem, &error), &error);
  return problem;
}

/// A mass on a spring that is thrown back where it would pass the middle: q = |cos t|.
static void test_events(void **state) {
  (void)state;
  static const as_event_def events[] = {{.value = position, .act = turn_back}};
  as_problem *problem = oscillator(NULL);
  as_integrator_def def = high(1e-8);
  as_integrator *s = NULL;
  as_error error;
  const double q0 = 1.0, v0 = 0.0;
  def.events = events;
  def.n_events = 1;
  check(as_integrator_create(problem, &def, &s, &error), &error);
  check(as_integrator_start(s, &(as_initial){.q = &q0, .v = &v0}, NULL, &error), &error);
  for (int i = 1; i <= 200; ++i) {
    check(as_integrator_advance(s, 0.1 * i, &error), &error);
    const double off = as_integrator_state(s)->q[0] - fabs(cos(0.1 * i));
    if (!(fabs(off) < 3e-8)) fail_msg("t = %g: q is off by %.2e", 0.1 * i, off);
  }
  assert_int_equal(as_integrator_event(s).count, 6);
  assert_true(fabs(as_integrator_event(s).t - 5.5 * pi) < 3e-8);
  as_integrator_destroy(s);
  as_problem_destroy(problem);
}

/// Between samples q = u + (q_k - u) cos(t - t_k) + v_k sin(t - t_k).
static void test_samples(void **state) {
  (void)state;
  const as_sampler_def sampler = {.period = 0.7, .first = 0, .count = 1, .sample = switch_force};
  as_problem *problem = oscillator(&sampler);
  for (int m = 0; m < 3; ++m) {
    as_integrator_def def = high(1e-8);
    as_integrator *s = NULL;
    as_error error;
    const double q0 = 1.0, v0 = 0.0;
    double q = q0, v = v0;
    def.method = methods[m];
    check(as_integrator_create(problem, &def, &s, &error), &error);
    check(as_integrator_start(s, &(as_initial){.q = &q0, .v = &v0}, NULL, &error), &error);
    for (int k = 0; k < 30; ++k) {
      const double u = q > 0.0 ? 0.5 : -0.5, c = cos(0.7), d = sin(0.7);
      const double next = u + (q - u) * c + v * d;
      v = v * c - (q - u) * d;
      q = next;
      check(as_integrator_advance(s, 0.7 * (k + 1), &error), &error);
      const double off = as_integrator_state(s)->q[0] - q;
      if (!(fabs(off) < 5e-8))
        fail_msg("method %d, sample %d: q is off by %.2e", (int)methods[m], k, off);
    }
    as_integrator_destroy(s);
  }
  as_problem_destroy(problem);
}

// ---- saved states ---------------------------------------------------------------------------------------

/// A run that is saved after every step and loaded into another integrator ends with the same bits.
static void goes_on(const char *name, double rtol) {
  automatic_problem *p = open_named(name);
  as_problem *problem = NULL;
  as_integrator *s[2] = {NULL, NULL};
  as_error error;
  const as_integrator_def def = high(rtol);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0, .x = p->x0};
  check(as_problem_create(&p->def, &problem, &error), &error);
  for (int i = 0; i < 2; ++i) check(as_integrator_create(problem, &def, &s[i], &error), &error);
  check(as_integrator_start(s[0], &initial, NULL, &error), &error);
  size_t room = 0;
  check(as_integrator_save(s[0], NULL, &room, &error), &error);
  room *= 2;
  void *const bytes = malloc(room);
  assert_non_null(bytes);
  bool seen[2] = {false, false};
  for (int i = 0; i < 120; ++i) {
    size_t size = room;
    check(as_integrator_next(s[0], &error), &error);
    const double inside = s[0]->stepper.last.t0 + 0.3 * s[0]->stepper.last.h;
    if (i % 2 == 0) check(as_integrator_interpolate(s[0], inside, &error), &error);
    seen[s[0]->high.by_method] = true;
    check(as_integrator_save(s[0], bytes, &size, &error), &error);
    check(as_integrator_load(s[1], bytes, size, &error), &error);
    for (int k = 0; k < 2; ++k) // inside the step that was saved
      check(as_integrator_interpolate(s[k], s[k]->stepper.last.t0 + 0.8 * s[k]->stepper.last.h,
                                      &error),
            &error);
    assert_memory_equal(as_integrator_state(s[0])->q, as_integrator_state(s[1])->q,
                        (size_t)as_space_nq(as_problem_space(problem)) * sizeof(double));
    for (int k = 0; k < 2; ++k) {
      for (int j = 0; j < 2; ++j) check(as_integrator_next(s[k], &error), &error);
      check(as_integrator_interpolate(s[k], s[k]->stepper.last.t0 + 0.6 * s[k]->stepper.last.h,
                                      &error),
            &error);
    }
    const as_state *a = as_integrator_state(s[0]), *b = as_integrator_state(s[1]);
    assert_memory_equal(&a->t, &b->t, sizeof(double));
    assert_memory_equal(a->q, b->q,
                        (size_t)as_space_nq(as_problem_space(problem)) * sizeof(double));
    assert_memory_equal(a->v, b->v, (size_t)p->count[AUTOMATIC_V] * sizeof(double));
    assert_memory_equal(a->lambda, b->lambda, (size_t)p->count[AUTOMATIC_LAMBDA] * sizeof(double));
  }
  assert_true(seen[false] && seen[true]);
  free(bytes);
  for (int i = 0; i < 2; ++i) as_integrator_destroy(s[i]);
  as_problem_destroy(problem);
  automatic_close(p);
}

static void test_saved(void **state) {
  (void)state;
  goes_on("heavy_top_fast", 1e-6);
  goes_on("double_pendulum", 1e-8);
  goes_on("stiff_pendulum", 1e-6);
}

// ---- what is refused --------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  as_problem *problem = oscillator(NULL);
  as_integrator *s = NULL;
  as_error error;
  as_integrator_def def = high(1e-6);
  def.order = 4;
  assert_int_equal(as_integrator_create(problem, &def, &s, &error), AS_ERR_ARGUMENT);
  assert_string_equal(
      error.message,
      "order = 4 is neither 2, the method's own, nor 6, that of extrapolated steps.");
  def.order = 6;
  def.step = 0.01;
  assert_int_equal(as_integrator_create(problem, &def, &s, &error), AS_ERR_ARGUMENT);
  assert_string_equal(
      error.message, "Steps of order 6 are automatic: leave the step of 0.01 s out, or the order.");
  as_problem_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders),  cmocka_unit_test(test_smooth),
      cmocka_unit_test(test_not_for), cmocka_unit_test(test_events),
      cmocka_unit_test(test_samples), cmocka_unit_test(test_saved),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
