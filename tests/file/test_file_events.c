/// Events of model files: a file with all keys against numbers worked out by hand, the trebuchet with all methods,
/// and what the machine knows about its events.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"

static as_machine *load(const char *path, const char *const *settings, int n) {
  static as_messages messages;
  as_machine *m = NULL;
  if (as_machine_load(files_path(path), settings, n, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  return m;
}

static void near(double value, double wanted, double tolerance) {
  if (!(fabs(value - wanted) <= tolerance))
    fail_msg("%.17g is not %.17g to %.3g", value, wanted, tolerance);
}

enum { MOST_ROWS = 600, COLUMNS = 18 };

typedef struct record {
  int n, messages;
  double t[MOST_ROWS], row[MOST_ROWS][COLUMNS];
} record;

static as_status keep(double t, const double *row, int n, void *user, as_error *error) {
  record *r = user;
  (void)error;
  assert_true(r->n < MOST_ROWS && n <= COLUMNS);
  r->t[r->n] = t;
  memcpy(r->row[r->n++], row, (size_t)n * sizeof *row);
  return AS_OK;
}

static void hear(const as_event_record *event, void *user) {
  record *r = user;
  r->messages += event->message != NULL && strcmp(event->message, "it bounces") == 0;
}

static as_run *open_run(const as_machine *m, as_method method, record *r) {
  as_error error;
  as_run *run = NULL;
  as_run_def def = as_default_run_def();
  def.integrator = m->simulation.integrator;
  def.integrator.method = method;
  def.t_end = m->simulation.t_end;
  def.channels = m->output.channels;
  def.n_channels = m->output.n_channels;
  def.interval = m->output.interval;
  def.times = m->output.times;
  def.n_times = m->output.n_times;
  def.rules = m->rules;
  def.happened = hear;
  def.happened_user = r;
  if (as_run_create(m->model, &def, &run, &error)) fail_msg("%s", error.message);
  r->n = r->messages = 0;
  return run;
}

/// A ball falls for a second, bounces with half its speed and is caught when it comes down again. A puck is hit at 0.5 s
/// (it goes with 1 m/s and turns with 0.5 rad/s) and docks 1.5 m further, where a blow cannot move it.
static void test_all_keys(void **state) {
  (void)state;
  static record r;
  as_machine *m = load("tests/files/good/events.yaml", NULL, 0);
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  assert_int_equal(as_rules_count(m->rules), 6);
  assert_string_equal(as_rules_name(m->rules, 2), "hit");
  assert_string_equal(as_rules_message(m->rules, 0), "it bounces");
  assert_null(as_rules_message(m->rules, 1));
  for (int k = 0; k < 3; ++k) {
    as_error error;
    as_run *run = open_run(m, methods[k], &r);
    assert_int_equal(as_run_go(run, keep, &r, NULL, &error), AS_STOPPED);
    assert_non_null(strstr(error.message, "\"end\""));
    // time, height and speed of the ball, speed and spin of the puck; the last row is where it stops
    static const double right[7][5] = {
        {0, 5, 0, 0, 0},        {0.4, 4.2, -4, 0, 0}, {0.6, 3.2, -6, 1, 0.5}, {1.2, 0.8, 3, 1, 0.5},
        {1.6, 1.2, -1, 1, 0.5}, {2.2, 0, 0, 0, 0.5},  {2.5, 0, 0, 0, 0.5}};
    assert_int_equal(r.n, 7);
    assert_int_equal(r.messages, 1);
    for (int i = 0; i < 7; ++i) {
      near(r.t[i], right[i][0], 1e-15);
      near(r.row[i][0], right[i][1], 1e-12);
      near(r.row[i][1], right[i][2], 1e-12);
      near(r.row[i][2], 0.0, 1e-12);
      near(r.row[i][3], right[i][3], 1e-12);
      near(r.row[i][4], 0.0, 1e-12);
      near(r.row[i][5], right[i][4], 1e-12);
    }
    static const double count[6] = {1, 1, 1, 1, 1, 1}, when[6] = {1, 1.5, 0.5, 2, 2, 2.5};
    for (int i = 0; i < 6; ++i) {
      near(r.row[6][6 + 2 * i], count[i], 0.0);
      near(r.row[6][7 + 2 * i], when[i], 1e-12);
    }
    const as_state *s = as_integrator_state(as_run_integrator(run));
    near(s->u[as_model_find_parameter(m->model, "mode").index], 1.0, 0.0);
    near(s->u[as_model_find_parameter(m->model, "kick").index], 0.0, 0.0); // kick*mode of before
    as_run_destroy(run);
  }
  as_machine_destroy(m);
}

/// Only what events set is a parameter of the model, with the value that a setting gives it.
static void test_parameters(void **state) {
  (void)state;
  static const char *const settings[] = {"parameters.kick=3"};
  as_machine *m = load("tests/files/good/events.yaml", settings, 1);
  assert_int_equal(as_model_parameters(m->model), 2);
  assert_true(as_model_find_parameter(m->model, "e").index < 0);
  near(as_model_initial(m->model)->u[as_model_find_parameter(m->model, "kick").index], 3.0, 0.0);
  for (int i = 0; i < m->n_parameters; ++i) assert_true(m->parameters[i].used);
  assert_false(as_model_joint_is_active(m->model, as_model_find_joint(m->model, "dock")));
  assert_true(as_model_joint_is_active(m->model, as_model_find_joint(m->model, "table")));
  as_machine_destroy(m);
}

/// A force by formula reads a parameter that events set, at conditions with a table and with a distance: 6 N on 2 kg
/// until 4.5 m/s (1.5 s), 3 N until 5.8125 m (2 s), then nothing.
static void test_live(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "parameters: {thrust: 6}\n"
      "tables:\n"
      "  plan: {points: [[0, 1], [10, 11]], interpolation: linear}\n"
      "bodies: {rocket: {type: point, mass: 2}}\n"
      "frames: {pad: {body: ground}, nose: {body: rocket}}\n"
      "forces: {engine: {type: load, body: rocket, force: [thrust, 0, 0]}}\n"
      "events:\n"
      "  half: {when: plan(bodies.rocket.velocity.x) - 5.5, times: 1, set: {thrust: thrust/2}}\n"
      "  none: {when: frames.nose.distance.pad - 5.8125, set: {thrust: 0}}\n"
      "simulate: {t_end: 3, step: 0.07}\n"
      "output: {interval: 0.25, channels: [bodies.rocket.velocity.x, bodies.rocket.acceleration.x, "
      "energy.work, energy.balance]}\n";
  static record r;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  static as_messages messages;
  as_machine *m = NULL;
  if (as_machine_parse(text, sizeof text - 1, "rocket.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  for (int k = 0; k < 3; ++k) {
    as_error error;
    as_run *run = open_run(m, methods[k], &r);
    if (as_run_go(run, keep, &r, NULL, &error)) fail_msg("%s", error.message);
    assert_int_equal(as_run_events(run), 2);
    near(as_run_event(run, 0).t, 1.5, 1e-12);
    near(as_run_event(run, 1).t, 2.0, 1e-12);
    for (int i = 0; i < r.n; ++i) {
      const double t = r.t[i], v = 3.0 * fmin(t, 1.5) + 1.5 * fmax(0.0, fmin(t - 1.5, 0.5));
      near(r.row[i][0], v, 1e-11);
      near(r.row[i][2], v * v, 1e-10);
      near(r.row[i][3], 0.0, 1e-10);
      if (i != 6 && i != 8) near(r.row[i][1], t < 1.5 ? 3.0 : t < 2.0 ? 1.5 : 0.0, 1e-10);
    }
    as_run_destroy(run);
  }
  as_machine_destroy(m);
}

/// The range of the trebuchet converges with the square of the step, with all methods; 269.95556 m by expected.py.
static void test_trebuchet(void **state) {
  (void)state;
  static record r;
  static const char *const settings[2][3] = {
      {"simulate={t_end: 20, step: 2e-3}",
       "output={interval: 1, channels: [bodies.stone.position.x]}"},
      {"simulate={t_end: 20, step: 1e-3}",
       "output={interval: 1, channels: [bodies.stone.position.x]}"}};
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  for (int k = 0; k < 3; ++k) {
    double wrong[2];
    for (int i = 0; i < 2; ++i) {
      as_error error;
      as_machine *m = load("examples/machines/trebuchet/model.yaml", settings[i], 2);
      as_run *run = open_run(m, methods[k], &r);
      const as_status status = as_run_go(run, keep, &r, NULL, &error);
      if (status != AS_STOPPED) fail_msg("%s", error.message);
      assert_int_equal(as_run_events(run), 3);
      wrong[i] = fabs(r.row[r.n - 1][0] - 269.95556);
      as_run_destroy(run);
      as_machine_destroy(m);
    }
    if (!(wrong[0] < 0.5 && wrong[1] < wrong[0] / 3.4))
      fail_msg("method %d: off by %g m, then by %g m", (int)methods[k], wrong[0], wrong[1]);
  }
}

// ---- blocks that switch -------------------------------------------------------------------------------

/// A thermostat, T' = (5 - T)/2 + 20 heat: switches are events of the run, between those of rules, at ln 1.25, ln(8/7) and ln(13/12),
/// twice, behind each other.
static void test_switches_are_events(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "bodies: {mass: {type: point, mass: 1}}\n"
      "blocks:\n"
      "  heat: {type: held, when: [blocks.T < 19, blocks.T > 21], to: [1, 0]}\n"
      "  T: {type: state, rate: 0.5*(5 - blocks.T) + 20*blocks.heat, start: 15}\n"
      "events: {half: {when: t - 0.5}}\n"
      "simulate: {t_end: 1, step: 0.001}\n"
      "output: {interval: 0.25, channels: [blocks.T, events.half.count]}\n";
  static record r;
  static as_messages messages;
  as_machine *m = NULL;
  if (as_machine_parse(text, sizeof text - 1, "thermostat.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  as_error error;
  as_run *run = open_run(m, AS_METHOD_INDEX2, &r);
  if (as_run_go(run, keep, &r, NULL, &error)) fail_msg("%s", error.message);
  const double first = 2.0 * log(1.25), second = first + 2.0 * log(8.0 / 7.0);
  const double times[] = {0.0, first, 0.5, second, second + 2.0 * log(13.0 / 12.0)};
  static const char *const names[] = {"blocks.heat", "blocks.heat", "half", "blocks.heat",
                                      "blocks.heat"};
  assert_int_equal(as_run_events(run), 5);
  for (int i = 0; i < 5; ++i) {
    const as_event_record event = as_run_event(run, i);
    assert_string_equal(event.name, names[i]);
    near(event.t, times[i], 1e-6);
    assert_int_equal(event.rule < 0, i != 2);
  }
  as_run_destroy(run);
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_keys),
                                     cmocka_unit_test(test_parameters), cmocka_unit_test(test_live),
                                     cmocka_unit_test(test_trebuchet),
                                     cmocka_unit_test(test_switches_are_events)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
