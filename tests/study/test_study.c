/// Studies by the library: the same numbers from any number of threads, against runs by themselves; rows at every step; what is refused.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "study/study.h"

static const char EVENTS[] = "tests/files/good/events.yaml";
static as_messages messages;

static as_study_def define(as_study_parameter *p, as_study_result *r) {
  static const char *const values[] = {"0.5", "1", "1.5", "2", "2.5"};
  static char path[4096];
  snprintf(path, sizeof path, "%s", files_path("examples/machines/pendulum/model.yaml"));
  *p = (as_study_parameter){.path = "simulate.t_end", .list = values, .count = 5};
  *r = (as_study_result){.measure = AS_STUDY_LAST,
                         .channel = "bodies.bob.position.x",
                         .from = (double)NAN,
                         .to = (double)NAN};
  as_study_def def = as_default_study_def();
  def.model = path;
  def.parameters = p;
  def.n_parameters = 1;
  def.results = r;
  def.n_results = 1;
  return def;
}

static void note(long over, long runs, void *user) {
  long *last = user;
  assert_true(over == *last + 1 && over <= runs);
  *last = over;
}

static bool after_two(void *user) { return *(const long *)user >= 2; }

/// The last x of a machine that runs by itself.
static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)n, (void)error;
  *(double *)user = row[0];
  return AS_OK;
}

static double run_alone(const char *path, const char *setting) {
  as_machine *m = NULL;
  as_run *run = NULL;
  as_error error;
  const char *const channel[] = {"bodies.bob.position.x"};
  double x = 0.0;
  assert_int_equal(as_machine_load(path, &setting, 1, &m, &messages), AS_OK);
  as_run_def def = as_default_run_def();
  def.integrator = m->simulation.integrator;
  def.t_end = m->simulation.t_end;
  def.channels = channel;
  def.n_channels = 1;
  assert_int_equal(as_run_create(m->model, &def, &run, &error), AS_OK);
  assert_int_equal(as_run_go(run, keep_row, &x, NULL, &error), AS_OK);
  as_run_destroy(run);
  as_machine_destroy(m);
  return x;
}

static void test_threads(void **unused) {
  (void)unused;
  as_study_parameter p;
  as_study_result r;
  as_error error;
  double first[5];
  for (int threads = 1; threads <= 9; threads += 2) {
    long over = 0;
    as_study *s = NULL;
    as_study_def def = define(&p, &r);
    def.progress = note;
    def.progress_user = &over;
    assert_int_equal(as_study_create(&def, &s, &messages), AS_OK);
    assert_int_equal(as_study_runs(s), 5);
    assert_int_equal(as_study_go(s, threads, &error), AS_OK);
    assert_true(over == 5 && as_study_count(s, AS_STUDY_DONE) == 5);
    for (int i = 0; i < 5; ++i) {
      const as_study_run run = as_study_run_get(s, i);
      if (threads == 1) {
        char setting[80];
        snprintf(setting, sizeof setting, "simulate.t_end=%s", p.list[i]);
        first[i] = run_alone(def.model, setting);
      }
      assert_true(run.outcome == AS_STUDY_DONE && run.t == as_study_number(s, i, 0));
      assert_true(run.value[0] == first[i]); // the same bits
    }
    assert_int_equal(as_study_go(s, threads, &error), AS_OK); // nothing is left to do
    assert_int_equal(over, 5);
    as_study_destroy(s);
  }
}

static void test_interrupt(void **unused) {
  (void)unused;
  as_study_parameter p;
  as_study_result r;
  as_error error;
  char folder[] = "/tmp/study-XXXXXX", state[64];
  assert_non_null(mkdtemp(folder));
  snprintf(state, sizeof state, "%s/state.bin", folder);
  as_study *s = NULL;
  long over = 0;
  as_study_def def = define(&p, &r);
  def.progress = note;
  def.progress_user = &over;
  def.interrupt = after_two;
  def.interrupt_user = &over;
  assert_int_equal(as_study_create(&def, &s, &messages), AS_OK);
  assert_int_equal(as_study_keep(s, state, false, true, &error), AS_OK);
  assert_int_equal(as_study_keep(s, state, false, true, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_study_go(s, 1, &error), AS_INTERRUPTED);
  assert_int_equal(as_study_count(s, AS_STUDY_DONE), 2);
  over = -10; // the same call goes on
  def.interrupt = NULL;
  as_study_destroy(s);
  // In another process as it were; and with other results it is another study.
  over = 2;
  assert_int_equal(as_study_create(&def, &s, &messages), AS_OK);
  assert_int_equal(as_study_keep(s, state, true, true, &error), AS_OK);
  assert_int_equal(as_study_count(s, AS_STUDY_DONE), 2);
  assert_int_equal(as_study_go(s, 2, &error), AS_OK);
  assert_int_equal(over, 5);
  as_study_destroy(s);
  r.measure = AS_STUDY_MAX;
  assert_int_equal(as_study_create(&def, &s, &messages), AS_OK);
  assert_int_equal(as_study_keep(s, state, true, true, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "are others"));
  as_study_destroy(s);
  remove(state);
  rmdir(folder);
}

static void expect_refused(const as_study_def *def, const char *says) {
  as_study *s = NULL;
  assert_int_not_equal(as_study_create(def, &s, &messages), AS_OK);
  assert_null(s);
  assert_int_equal(messages.n, 1);
  if (strstr(messages.message[0].text, says) == NULL) fail_msg("%s", messages.message[0].text);
}

static void test_refused(void **unused) {
  (void)unused;
  as_study_parameter p;
  as_study_result r;
  const as_study_def good = define(&p, &r);
  as_study_def def = good;
  def.cookie = 0;
  expect_refused(&def, "as_default_study_def");
  def = good;
  def.model = NULL;
  expect_refused(&def, "needs a model file");
  def = good;
  def.n_results = 0;
  expect_refused(&def, "needs a result");
  def = good;
  def.seed = 1ull << 60;
  expect_refused(&def, "above 2^53");
  def = good;
  def.interval = 0.0;
  expect_refused(&def, "is not positive");
  def = good;
  def.draws = 3;
  expect_refused(&def, "no parameter is random");
  p.path = "simulate.t_end=1";
  expect_refused(&good, "has no path");
  p.path = "simulate.t_end";
  p.count = 0;
  expect_refused(&good, "has no values");
  p = (as_study_parameter){.path = p.path,
                           .spread = AS_STUDY_COUNT,
                           .count = 2,
                           .from = -1.0,
                           .to = 1.0,
                           .logarithmic = true};
  expect_refused(&good, "both negative");
  p.logarithmic = false;
  p.to = (double)NAN;
  expect_refused(&good, "finite");
  (void)define(&p, &r);
  r.name = "a\nb";
  expect_refused(&good, "can be printed");
  r.name = NULL;
  r.from = 100.0;
  expect_refused(&good, "begins at 100 s");
}

// ---- rows at every step -----------------------------------------------------------------------------

typedef struct rows {
  int n, columns;
  double t[5000], last[5000][8];
} rows;

static as_status add_row(double t, const double *row, int n, void *user, as_error *error) {
  rows *r = user;
  (void)error;
  assert_true(r->n < 5000 && n <= 8);
  assert_true(r->n == 0 || t > r->t[r->n - 1]);
  r->t[r->n] = t;
  memcpy(r->last[r->n++], row, (size_t)n * sizeof *row);
  r->columns = n;
  return AS_OK;
}

/// The rows of a run at every step are those of one without, to the bit, and one at the end of each step.
static void compare_rows(const char *path, const char *setting, const char *const *channels,
                         int n_channels) {
  static rows with, without;
  rows *const each[2] = {&without, &with};
  long steps = 0, counted[2];
  for (int i = 0; i < 2; ++i) {
    as_run *run = NULL;
    as_error error;
    as_statistics statistics;
    as_machine *m = files_load(path, &setting, 1);
    as_run_def def = as_default_run_def();
    def.integrator = m->simulation.integrator;
    def.t_end = m->simulation.t_end;
    def.interval = 0.0237;
    def.channels = channels;
    def.n_channels = n_channels;
    def.rules = m->rules;
    def.every_step = i == 1;
    each[i]->n = 0;
    assert_int_equal(as_run_create(m->model, &def, &run, &error), AS_OK);
    const as_status status = as_run_go(run, add_row, each[i], NULL, &error);
    if (as_status_is_failure(status)) fail_msg("%s", error.message);
    counted[i] = as_run_rows(run);
    as_integrator_statistics(as_run_integrator(run), &statistics, NULL);
    steps = statistics.steps;
    as_run_destroy(run);
    as_machine_destroy(m);
  }
  assert_int_equal(counted[0], counted[1]);
  // Some steps end at an output time.
  assert_true(with.n > without.n && with.n <= without.n + steps && with.n >= steps);
  int k = 0;
  for (int i = 0; i < without.n; ++i, ++k) {
    while (k < with.n && with.t[k] != without.t[i]) ++k;
    assert_true(k < with.n);
    assert_memory_equal(with.last[k], without.last[i], (size_t)with.columns * sizeof(double));
  }
}

static void test_every_step(void **unused) {
  (void)unused;
  const char *const pendulum[] = {"bodies.bob.position.x", "bodies.bob.acceleration.z",
                                  "energy.balance", "energy.dissipated"};
  compare_rows("examples/machines/pendulum/model.yaml", "simulate.t_end=1", pendulum, 4);
  const char *const bob[] = {"energy.balance", "energy.kinetic", "energy.dissipated"};
  compare_rows("examples/machines/trebuchet/model.yaml", "simulate.t_end=30", bob, 3); // stops
  compare_rows(EVENTS, "simulate.t_end=2.5", bob, 3);
}

// ---- measures ---------------------------------------------------------------------------------------

static double measure(as_study_measure kind, double from, double to, int n,
                      const double (*row)[2]) {
  const as_study_result r = {.measure = kind, .channel = "x", .from = from, .to = to};
  asi_measure m = asi_measure_begin(&r, 10.0);
  for (int i = 0; i < n; ++i) asi_measure_add(&m, row[i][0], row[i][1]);
  return asi_measure_end(&m);
}

static void assert_near(double found, double expected) {
  if (!(fabs(found - expected) < 1e-14)) fail_msg("%.17g, not %.17g", found, expected);
}

static void test_measures(void **unused) {
  (void)unused;
  const double no = (double)NAN;
  // A jump at 3, where two rows have the same time; rows at uneven times.
  const double row[][2] = {{0, 1}, {1, 3}, {3, -1}, {3, 2}, {4, 2}, {8, -6}};
  assert_true(measure(AS_STUDY_MAX, no, no, 6, row) == 3.0);
  assert_true(measure(AS_STUDY_MIN, no, no, 6, row) == -6.0);
  assert_true(measure(AS_STUDY_MAX_ABS, no, 5.0, 6, row) == 3.0);
  assert_true(measure(AS_STUDY_MAX, 3.5, no, 6, row) == 2.0);
  assert_true(measure(AS_STUDY_LAST, no, no, 6, row) == -6.0);
  assert_true(measure(AS_STUDY_LAST, no, 3.0, 6, row) == 2.0);
  assert_true(isnan(measure(AS_STUDY_LAST, 5.0, 6.0, 6, row)));
  assert_true(isnan(measure(AS_STUDY_MAX, 9.0, no, 6, row)));
  assert_true(isnan(measure(AS_STUDY_MEAN, 9.0, no, 6, row)));
  assert_true(isnan(measure(AS_STUDY_RMS, no, no, 1, row)));
  // [SD.1] 2 + 2 + 2 - 8 over 8 s; from 0.5 to 5 s the line is 2 ... 0 at the ends.
  assert_near(measure(AS_STUDY_MEAN, no, no, 6, row), -2.0 / 8.0);
  assert_near(measure(AS_STUDY_MEAN, 0.5, 5.0, 6, row), (1.25 + 2.0 + 2.0 + 1.0) / 4.5);
  // [SD.2]
  assert_near(measure(AS_STUDY_RMS, no, no, 6, row), sqrt((5.0 + 10.0 + 4.0 + 80.0) / 8.0));
  assert_near(measure(AS_STUDY_RMS, 0.5, 5.0, 6, row), sqrt((0.5 * 6.5 + 10.0 + 4.0 + 2.0) / 4.5));
  const double late[][2] = {{0, no}, {1, no}, {2, 5}, {3, 4}};
  assert_true(measure(AS_STUDY_MAX, no, no, 4, late) == 5.0);
  assert_true(measure(AS_STUDY_MIN, no, no, 4, late) == 4.0);
  assert_true(isnan(measure(AS_STUDY_MEAN, no, no, 4, late)));
  assert_near(measure(AS_STUDY_MEAN, 2.0, no, 4, late), 4.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads),  cmocka_unit_test(test_interrupt),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_every_step),
      cmocka_unit_test(test_measures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
