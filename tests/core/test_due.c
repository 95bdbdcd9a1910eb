/// Things that are due at a time: samples next to output times, samples and event functions that fail once, and
/// what lies behind the time that is asked for.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"

/// A mass on a spring with a held force, and what is counted.
typedef struct mass_on_spring {
  int samples;
  double latest; ///< the latest time at which the force was asked for [s]
  double fails;  ///< the sample or the event function fails once, from then on; infinity: never [s]
} mass_on_spring;

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int pull(const as_point *at, double *f, void *user) {
  mass_on_spring *x = user;
  x->latest = fmax(x->latest, at->t);
  f[0] = 1e-3 * (at->u[0] - at->q[0]);
  return AS_DONE;
}

static int fail_once(mass_on_spring *x, double t) {
  if (!(t >= x->fails)) return AS_DONE;
  x->fails = (double)INFINITY;
  return AS_FATAL;
}

static int sample(const as_point *at, double *u, void *user) {
  mass_on_spring *x = user;
  const int code = fail_once(x, at->t);
  if (code == AS_DONE) ++x->samples;
  u[0] = 1000.0 * sin(3.0 * at->t);
  return code;
}

static as_integrator *open_spring(mass_on_spring *x, double period, double delay,
                                  as_integrator_def how, as_problem **problem) {
  static const as_space_part line = {AS_SPACE_RN, 1};
  const as_sampler_def sampler = {.period = period, .delay = delay, .count = 1, .sample = sample};
  const double q = 1000.0;
  as_problem_def def = as_default_problem_def();
  as_integrator *integrator = NULL;
  def.parts = &line;
  def.n_parts = def.n_u = def.n_samplers = 1;
  def.mass_constant = true;
  def.mass = unit_mass;
  def.force = pull;
  def.samplers = &sampler;
  def.user = x;
  assert_int_equal(as_problem_create(&def, problem, NULL), AS_OK);
  assert_int_equal(as_integrator_create(*problem, &how, &integrator, NULL), AS_OK);
  assert_int_equal(as_integrator_start(integrator, &(as_initial){.q = &q}, NULL, NULL), AS_OK);
  return integrator;
}

static void shut(as_integrator *integrator, as_problem *problem) {
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

/// Output times that are summed up drift away from sample times that are multiplied.
static void test_samples_next_to_outputs(void **state) {
  (void)state;
  for (int mode = 0; mode < 4; ++mode) {
    mass_on_spring x = {.fails = (double)INFINITY};
    as_problem *problem = NULL;
    as_integrator_def how = as_default_integrator_def();
    how.tolerance.land = mode == 1;
    if (mode > 1) how.step = mode == 2 ? 1.0 : 1e-2;
    as_integrator *integrator = open_spring(&x, 1e-3, 0.0, how, &problem);
    double t = 0.0;
    for (int i = 0; i < 8000; ++i) {
      t += 1e-3;
      assert_int_equal(as_integrator_advance(integrator, t, NULL), AS_OK);
      assert_true(as_integrator_state(integrator)->t == t);
    }
    assert_int_equal(x.samples, 8001);
    as_statistics work;
    assert_int_equal(as_integrator_statistics(integrator, &work, NULL), AS_OK);
    assert_true(work.last_step > 0.9e-3);
    shut(integrator, problem);
  }
}

/// A sample that fails is taken when the run goes on.
static void test_failed_sample(void **state) {
  (void)state;
  for (int mode = 0; mode < 2; ++mode) {
    double q[2];
    for (int with = 0; with < 2; ++with) {
      mass_on_spring x = {.fails = with ? 0.25 : (double)INFINITY};
      as_problem *problem = NULL;
      as_integrator_def how = as_default_integrator_def();
      if (mode) how.step = 0.02;
      as_integrator *integrator = open_spring(&x, 0.1, 0.0, how, &problem);
      if (with) assert_int_equal(as_integrator_advance(integrator, 1.0, NULL), AS_ERR_CALLBACK);
      assert_int_equal(as_integrator_advance(integrator, 1.0, NULL), AS_OK);
      assert_int_equal(x.samples, 11);
      q[with] = as_integrator_state(integrator)->q[0];
      shut(integrator, problem);
    }
    assert_true(q[0] == q[1]);
  }
}

/// A start that fails leaves results that wait for their delay.
static void test_waiting_results(void **state) {
  (void)state;
  double u[2];
  for (int with = 0; with < 2; ++with) {
    mass_on_spring x = {.fails = (double)INFINITY};
    as_problem *problem = NULL;
    as_integrator_def how = as_default_integrator_def();
    how.step = 0.01;
    as_integrator *integrator = open_spring(&x, 0.1, 0.05, how, &problem);
    assert_int_equal(as_integrator_advance(integrator, 0.42, NULL), AS_OK);
    const double q = 0.0;
    if (with) {
      x.fails = 7.0;
      assert_int_equal(
          as_integrator_start(integrator, &(as_initial){.t = 7.0, .q = &q}, NULL, NULL),
          AS_ERR_CALLBACK);
      assert_true(as_integrator_state(integrator)->t == 0.42);
    }
    assert_int_equal(as_integrator_advance(integrator, 0.48, NULL), AS_OK);
    u[with] = as_integrator_state(integrator)->u[0];
    shut(integrator, problem);
  }
  assert_true(fabs(u[0] - 1000.0 * sin(3.0 * 0.4)) < 1e-9 && u[1] == u[0]);
}

/// With `land` the first step, too, looks no further than t.
static void test_nothing_behind(void **state) {
  (void)state;
  mass_on_spring x = {.fails = (double)INFINITY};
  as_problem *problem = NULL;
  as_integrator_def how = as_default_integrator_def();
  how.tolerance.land = true;
  as_integrator *integrator = open_spring(&x, 100.0, 0.0, how, &problem);
  assert_int_equal(as_integrator_advance(integrator, 1.0, NULL), AS_OK);
  assert_true(x.latest <= 1.0);
  shut(integrator, problem);
}

static int refuses(const as_state *at, double *out, void *user) {
  *out = at->q[0] - 990.0;
  return fail_once(user, at->t);
}

static int ignore(as_event *event, void *user) {
  (void)event, (void)user;
  return AS_EVENT_CONTINUE;
}

/// Where an event function fails behind t, the state is the one at t, and the run can go on.
static void test_failed_event(void **state) {
  (void)state;
  mass_on_spring x = {.fails = (double)INFINITY}, function = {.fails = 0.5};
  as_problem *problem = NULL;
  const as_event_def event = {.value = refuses, .act = ignore, .user = &function};
  as_integrator_def how = as_default_integrator_def();
  how.events = &event;
  how.n_events = 1;
  as_integrator *integrator = open_spring(&x, 100.0, 0.0, how, &problem);
  assert_int_equal(as_integrator_advance(integrator, 0.49, NULL), AS_ERR_CALLBACK);
  assert_true(as_integrator_state(integrator)->t == 0.49);
  assert_int_equal(as_integrator_advance(integrator, 0.49, NULL), AS_OK);
  assert_int_equal(as_integrator_advance(integrator, 2.0, NULL), AS_OK);
  shut(integrator, problem);
}

/// A start a bit behind the time of a sample is at it up to 1e-10 of the period, or 1e-11 of the time if that is more, but
/// not more than a thousandth of the period.
static void test_start_at_a_sample(void **state) {
  (void)state;
  const struct {
    double period, t, slack;
  } cases[] = {{1.0, 2.0, 1e-10}, {1.0, 100.0, 1e-9}, {1e-3, 0.5, 1e-11}, {1e-9, 1.0, 1e-12}};
  for (int i = 0; i < 8; ++i) {
    mass_on_spring x = {.fails = (double)INFINITY};
    as_integrator_def how = as_default_integrator_def();
    as_problem *problem = NULL;
    const double T = cases[i / 2].period, q = 1000.0, off = i % 2 ? 1.2 : 0.9;
    const double t = cases[i / 2].t + off * cases[i / 2].slack;
    how.step = 0.1 * T;
    as_integrator *integrator = open_spring(&x, T, 0.0, how, &problem);
    const as_initial initial = {.t = t, .q = &q};
    x.samples = 0;
    assert_int_equal(as_integrator_start(integrator, &initial, NULL, NULL), AS_OK);
    assert_int_equal(as_integrator_advance(integrator, t + 0.2 * T, NULL), AS_OK);
    if (x.samples != (off < 1.0)) fail_msg("case %d: %d samples", i, x.samples);
    shut(integrator, problem);
  }
}

static int count_events(as_event *event, void *user) {
  (void)event;
  ++*(int *)user;
  return AS_EVENT_CONTINUE;
}

/// A start a bit before the time of an event by the clock: up to the same limits that one is past.
static void test_start_before_an_event(void **state) {
  (void)state;
  const struct {
    double period, t, slack;
  } cases[] = {{1.0, 2.0, 1e-10}, {1.0, 100.0, 1e-9}, {1e-3, 0.5, 1e-11}, {1e-9, 1.0, 1e-12}};
  for (int i = 0; i < 8; ++i) {
    mass_on_spring x = {.fails = (double)INFINITY};
    int count = 0;
    as_integrator_def how = as_default_integrator_def();
    as_problem *problem = NULL;
    const double T = cases[i / 2].period, q = 1000.0, off = i % 2 ? 1.2 : 0.9;
    const double t = cases[i / 2].t - off * cases[i / 2].slack;
    const as_event_def event = {.name = "clock", .period = T, .act = count_events, .user = &count};
    how.step = 0.1 * T;
    how.events = &event;
    how.n_events = 1;
    as_integrator *integrator = open_spring(&x, T, 0.0, how, &problem);
    const as_initial initial = {.t = t, .q = &q};
    assert_int_equal(as_integrator_start(integrator, &initial, NULL, NULL), AS_OK);
    count = 0;
    assert_int_equal(as_integrator_advance(integrator, t + 0.2 * T, NULL), AS_OK);
    if (count != (off > 1.0)) fail_msg("case %d: %d events", i, count);
    shut(integrator, problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samples_next_to_outputs),
      cmocka_unit_test(test_failed_sample),
      cmocka_unit_test(test_waiting_results),
      cmocka_unit_test(test_nothing_behind),
      cmocka_unit_test(test_failed_event),
      cmocka_unit_test(test_start_at_a_sample),
      cmocka_unit_test(test_start_before_an_event),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
