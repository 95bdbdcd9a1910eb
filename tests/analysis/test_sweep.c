/// Sweeps: equilibria followed along a parameter, against closed forms, and what happens where they end.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "machines.h"
#include "rig.h"
#include "snapping.h"

enum { MOST = 64 };

/// What a sweep delivered.
typedef struct record {
  const bench *x;
  double value[MOST];
  double y[MOST]; ///< height of the body "apex", or angle of "lower"
  as_equilibrium found[MOST];
  int count;
  int stop_at; ///< -1: never
  double parameter;
} record;

static void expect(as_status status, as_status wanted, const as_error *error) {
  if (status != wanted)
    fail_msg("%s instead of %s: %s", as_status_name(status), as_status_name(wanted),
             error->message);
}

// ---- shallow truss --------------------------------------------------------------------------------

static double truss_unbalanced(double y, const void *load) {
  return truss_load(y) - *(const double *)load;
}

static int record_height(double value, const as_state *state, const as_equilibrium *found,
                         void *user) {
  record *r = user;
  assert_true(r->count < MOST && state->t == value);
  r->value[r->count] = value;
  r->y[r->count] = bench_body(r->x, state, "apex").x[1];
  r->found[r->count] = *found;
  return r->count++ == r->stop_at;
}

static void truss_stops_at_its_limit(void **state) {
  (void)state;
  double y_limit, values[21];
  const double limit = truss_limit(&y_limit);
  for (int i = 0; i <= 20; ++i) values[i] = limit * i / 15.5;
  bench x = truss_make(false);
  record r = {.x = &x, .stop_at = -1};
  as_sweep_def def = as_default_sweep_def();
  as_sweep_report report;
  def.values = values;
  def.n_values = 21;
  def.receive = record_height;
  def.user = &r;
  expect(as_analysis_sweep(x.analysis, as_model_initial(x.model), &def, &report, &x.error),
         AS_ERR_CONVERGENCE, &x.error);
  printf("  %s\n", x.error.message);
  assert_non_null(strstr(x.error.message, "body \"apex\""));
  assert_true(report.n_done == r.count && r.count == 16);
  for (int i = 0; i < 16; ++i) {
    const double exact = bench_root(truss_unbalanced, &values[i], truss_h, y_limit);
    // At rest, drawn, the load is zero and the root is at the end of its interval.
    assert_near("height", r.y[i], exact, 1e-13);
    assert_int_equal(r.found[i].stability, AS_STABLE);
    assert_false(r.found[i].jumped);
  }
  // It is lost at the limit load, to the shortest part of a step.
  printf("  limit %.12g, last %.12g, lost between %.12g and %.12g\n", limit, report.last,
         report.lost[0], report.lost[1]);
  assert_true(report.lost[0] <= limit * (1.0 + 1e-12) && limit <= report.lost[1] * (1.0 + 1e-12));
  assert_true(report.lost[1] - report.lost[0] < 2e-6 * limit / 15.0);
  // The state is the last equilibrium.
  const as_state *s = as_analysis_state(x.analysis);
  assert_true(s->t == report.last);
  assert_near("height", bench_body(&x, s, "apex").x[1], y_limit, 1e-3);
  assert_near("balance", truss_load(bench_body(&x, s, "apex").x[1]), s->t, 1e-11);
  bench_free(&x);
}

static void truss_snaps_through(void **state) {
  (void)state;
  double y_limit, values[41];
  const double limit = truss_limit(&y_limit);
  for (int i = 0; i <= 20; ++i) values[i] = limit * i / 15.5;
  for (int i = 1; i <= 20; ++i) values[20 + i] = limit * (20 - 3 * i) / 15.5; // and back
  bench x = truss_make(false);
  record r = {.x = &x, .stop_at = -1};
  as_sweep_def def = as_default_sweep_def();
  as_sweep_report report;
  def.values = values;
  def.n_values = 41;
  def.receive = record_height;
  def.user = &r;
  def.jump = true;
  expect(as_analysis_sweep(x.analysis, as_model_initial(x.model), &def, &report, &x.error), AS_OK,
         &x.error);
  assert_int_equal(report.n_done, 41);
  assert_int_equal(report.n_jumps, 2);
  int jumps = 0;
  for (int i = 0; i < 41; ++i) {
    jumps += r.found[i].jumped;
    const bool above = jumps != 1;
    const double exact = above ? bench_root(truss_unbalanced, &values[i], y_limit, 4.0 * truss_h)
                               : bench_root(truss_unbalanced, &values[i], -4.0 * truss_h, -y_limit);
    assert_near("height", r.y[i], exact, 1e-13);
    assert_int_equal(r.found[i].stability, AS_STABLE);
    // Loads beyond the limit only.
    if (r.found[i].jumped) assert_true(fabs(values[i]) > limit * (1.0 - 1e-9));
  }
  assert_int_equal(jumps, 2);
  bench_free(&x);
}

// ---- buckling, with the load in the caller's memory ------------------------------------------------

static int set_load(double value, void *user) {
  record *r = user;
  r->parameter = value;
  return value > 1e6;
}

static int record_tilt(double value, const as_state *state, const as_equilibrium *found,
                       void *user) {
  record *r = user;
  assert_true(r->count < MOST && state->t == 3.0 && r->parameter == value);
  r->value[r->count] = value;
  r->y[r->count] = 0.5 * 3.14159265358979323846 - bench_angle(r->x, state, "lower");
  r->found[r->count] = *found;
  return r->count++ == r->stop_at;
}

/// A perfect column stays straight along the whole path; it loses its stability at P = 2 k / l = 16.
static as_sweep_def load_sweep(const double *values, int n, record *r) {
  as_sweep_def def = as_default_sweep_def();
  def.values = values;
  def.n_values = n;
  def.set = set_load;
  def.receive = record_tilt;
  def.user = r;
  return def;
}

static void perfect_column_changes_stability(void **state) {
  (void)state;
  record r = {.stop_at = -1};
  bench x = column_make(0.0, &r.parameter);
  r.x = &x;
  double values[17];
  for (int i = 0; i < 17; ++i) values[i] = 0.75 + 2.0 * i;
  as_sweep_def def = load_sweep(values, 17, &r);
  as_initial initial = *as_model_initial(x.model);
  initial.t = 3.0;
  expect(as_analysis_sweep(x.analysis, &initial, &def, NULL, &x.error), AS_OK, &x.error);
  assert_int_equal(r.count, 17);
  for (int i = 0; i < 17; ++i) {
    assert_near("tilt", r.y[i], 0.0, 1e-14);
    assert_int_equal(r.found[i].stability, values[i] < 16.0 ? AS_STABLE : AS_UNSTABLE);
    assert_near("kappa", r.found[i].softest, 3.0 * (8.0 - 0.5 * values[i]) / 0.25, 1e-10);
  }
  bench_free(&x);
}

typedef struct leaning {
  double rest, load;
} leaning;

/// 2 k (tilt - rest) = P l sin tilt
static double leaning_torque(double tilt, const void *user) {
  const leaning *d = user;
  return 8.0 * (tilt - d->rest) - 0.5 * d->load * sin(tilt);
}

/// A column that leans a little goes over into the buckled shape.
static void leaning_column_bends(void **state) {
  (void)state;
  record r = {.stop_at = -1};
  bench x = column_make(0.02, &r.parameter);
  r.x = &x;
  double values[31];
  for (int i = 0; i < 31; ++i) values[i] = 0.75 * i;
  as_sweep_def def = load_sweep(values, 31, &r);
  as_initial initial = *as_model_initial(x.model);
  as_sweep_report report;
  initial.t = 3.0;
  expect(as_analysis_sweep(x.analysis, &initial, &def, &report, &x.error), AS_OK, &x.error);
  printf("  %d equilibria for 31 values\n", report.equilibria);
  for (int i = 0; i < 31; ++i) {
    const leaning d = {0.02, values[i]};
    assert_near("tilt", r.y[i], bench_root(leaning_torque, &d, 0.01, 3.0), 1e-13);
    assert_int_equal(r.found[i].stability, AS_STABLE);
  }
  assert_true(r.y[30] > 1.0);
  bench_free(&x);
}

static void callbacks_may_stop_or_refuse(void **state) {
  (void)state;
  record r = {.stop_at = 2};
  bench x = column_make(0.0, &r.parameter);
  r.x = &x;
  const double values[5] = {1, 2, 3, 4, 5}, beyond[2] = {1.0, 1e7};
  as_sweep_def def = load_sweep(values, 5, &r);
  as_initial initial = *as_model_initial(x.model);
  as_sweep_report report;
  initial.t = 3.0;
  expect(as_analysis_sweep(x.analysis, &initial, &def, &report, &x.error), AS_STOPPED, &x.error);
  assert_int_equal(report.n_done, 3);
  assert_true(r.parameter == 3.0);
  r.stop_at = -1;
  def.values = beyond;
  def.n_values = 2;
  expect(as_analysis_sweep(x.analysis, &initial, &def, &report, &x.error), AS_ERR_RETRY, &x.error);
  printf("  %s\n", x.error.message);
  assert_non_null(strstr(x.error.message, "cannot be set to 1"));
  assert_true(r.parameter == report.last && r.parameter <= 1e6 && r.parameter > 9e5);
  bench_free(&x);
}

static void nonsense_is_refused(void **state) {
  (void)state;
  bench x = truss_make(false);
  const double values[2] = {0.0, (double)NAN};
  as_sweep_def def = as_default_sweep_def();
  const as_initial *initial = as_model_initial(x.model);
  assert_int_equal(as_analysis_sweep(x.analysis, initial, &def, NULL, &x.error), AS_ERR_ARGUMENT);
  def.values = values;
  def.n_values = 2;
  assert_int_equal(as_analysis_sweep(x.analysis, initial, &def, NULL, &x.error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(x.error.message, "values[1]"));
  assert_int_equal(as_analysis_sweep(NULL, initial, &def, NULL, &x.error), AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_sweep(x.analysis, NULL, &def, NULL, &x.error), AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_sweep(x.analysis, initial, NULL, NULL, &x.error), AS_ERR_ARGUMENT);
  bench_free(&x);
}

static int expect_turns(double value, const as_state *state, const as_equilibrium *found,
                        void *user) {
  const bool by_parameter = state->t == 0.0 && value != 0.0; // then u[0] is the parameter
  (void)user;
  assert_near("turns", state->u[by_parameter ? 1 : 0], 0.5 * value, 1e-11);
  assert_int_equal(found->stability, AS_STABLE);
  return 0;
}

/// A moment t, or a parameter, against a spring by formula that knows all turns: phi = t/2, found from rest and followed.
static void wind_up(bool by_parameter) {
  const double values[] = {50.0, 51.0, 60.0, 20.0, 0.0, -90.0};
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id shaft = bench_link(b, "shaft", 1.0, 1.0, -0.5, 0, 0, false);
  const as_joint_id pin = machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, shaft,
                                        (double[]){0, 0, 0}, (double[]){0, 0, 1});
  as_error error;
  as_sweep_def def = as_default_sweep_def();
  if (by_parameter && as_builder_add_parameter(b, "M", 3.0, NULL, &error))
    fail_msg("%s", error.message);
  bench_actuator(b, pin, by_parameter ? "M - 2*joints.pin.angle" : "t - 2*joints.pin.angle");
  bench x = bench_make(b);
  if (by_parameter) def.signal = as_model_find_parameter(x.model, "M").index;
  as_sweep_report report;
  def.values = values;
  def.n_values = 6;
  def.receive = expect_turns;
  expect(as_analysis_sweep(x.analysis, as_model_initial(x.model), &def, &report, &x.error), AS_OK,
         &x.error);
  assert_int_equal(report.n_done, 6);
  const as_state *s = as_analysis_state(x.analysis);
  assert_true(s->t == (by_parameter ? 0.0 : -90.0));
  if (by_parameter) assert_true(s->u[def.signal] == -90.0);
  def.signal = 7;
  assert_int_equal(
      as_analysis_sweep(x.analysis, as_model_initial(x.model), &def, &report, &x.error),
      AS_ERR_ARGUMENT);
  assert_non_null(strstr(x.error.message, "no held signal u[7]"));
  bench_free(&x);
}

static void spring_is_wound_up(void **state) {
  (void)state;
  wind_up(false);
  wind_up(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(truss_stops_at_its_limit),
      cmocka_unit_test(truss_snaps_through),
      cmocka_unit_test(perfect_column_changes_stability),
      cmocka_unit_test(leaning_column_bends),
      cmocka_unit_test(callbacks_may_stop_or_refuse),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(spring_is_wound_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
