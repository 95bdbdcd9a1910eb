/// What the C library may do to a run: memory that runs out gives AS_ERR_MEMORY and no leak, a row needs none, and a
/// printf that writes commas does not show in a table.
///
/// The linker sends every malloc, calloc, realloc, free and snprintf through the functions here (-Wl,--wrap).
#define _DEFAULT_SOURCE // fileno, mkstemps

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

#include "alphastep/io.h"
#include "counting.h"
#include "machines.h"
#include "rig.h"
#include "share.h"

static bool commas; ///< for points, as in many locales

int __wrap_snprintf(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int __wrap_snprintf(char *to, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(to, size, format, arguments);
  va_end(arguments);
  for (char *c = to; commas && size > 0 && *c; ++c)
    if (*c == '.') *c = ',';
  return n;
}

// ---- a machine ----------------------------------------------------------------------------------------

static const char *const everything[] = {"*"};
static const double origin[3] = {0, 0, 0}, axis[3] = {0, 0, 1};

/// Two links, a spring and a frame.
static as_model *build(void) {
  as_builder *b = machine_builder(0, -9.81, 0);
  as_body_def def = machine_round_body("upper", 1.0, 0.1, false);
  def.position[0] = 0.5;
  const as_body_id upper = machine_body(b, &def);
  def = machine_round_body("lower", 1.0, 0.1, true);
  def.position[0] = 1.5;
  const as_body_id lower = machine_body(b, &def);
  machine_joint(b, "hook", AS_JOINT_REVOLUTE, AS_GROUND, upper, origin, axis);
  machine_joint(b, "knee", AS_JOINT_SPHERICAL, upper, lower, (double[]){1, 0, 0}, NULL);
  as_spring_def spring = as_default_spring_def();
  as_frame_def frame = as_default_frame_def();
  as_error error;
  spring.body[0] = AS_GROUND;
  spring.body[1] = lower;
  spring.point[0][1] = 2.0;
  spring.point[1][0] = 2.0;
  spring.stiffness = 10.0;
  frame.body = lower;
  if (as_builder_add_parameter(b, "p", 1.0, NULL, &error) ||
      as_builder_add_spring(b, &spring, NULL, &error) ||
      as_builder_add_frame(b, &frame, NULL, &error))
    fail_msg("%s", error.message);
  return machine_build(b);
}

/// Events with all kinds of actions in the middle of the run.
static as_status make_rules(const as_model *m, as_rules **out, as_error *error) {
  static const as_joint_id knee = {1};
  static const as_rule_setting set = {.parameter = {0}, .value = "p + bodies.lower.position.x"};
  as_rule_impulse hit = as_default_rule_impulse();
  hit.body = (as_body_id){0};
  hit.force[1] = "p/10";
  as_rule_def rule[3] = {as_default_rule_def(), as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "hit";
  rule[0].when = "joints.hook.angle + 0.004";
  rule[0].only_if = "t > 0.01";
  rule[0].message = "it is hit";
  rule[0].impulse = &hit;
  rule[0].n_impulse = 1;
  rule[1].name = "open";
  rule[1].when = "t - 0.0301";
  rule[1].release = &knee;
  rule[1].set = &set;
  rule[1].n_release = rule[1].n_set = 1;
  rule[2].name = "close";
  rule[2].when = "t - 0.0302";
  rule[2].activate = rule[2].strike = &knee;
  rule[2].n_activate = rule[2].n_strike = 1;
  rule[2].gap = 0.1;
  return as_rules_create(m, &(as_rules_def){.rule = rule, .n = 3}, out, error);
}

static as_run_def how(as_method method) {
  as_run_def def = as_default_run_def();
  def.integrator.method = method;
  def.integrator.step = 1e-3;
  def.t_end = 0.05;
  def.interval = 7e-4;
  def.channels = everything;
  def.n_channels = 1;
  return def;
}

// ---- nothing allocates --------------------------------------------------------------------------------

/// Allocations when the first row came, and when the last one did.
typedef struct seen {
  long first, last;
  int rows;
} seen;

static as_status note(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)error;
  seen *s = user;
  if (s->rows++ == 0) s->first = memory.taken;
  s->last = memory.taken;
  return AS_OK;
}

static void test_no_allocation(void **state) {
  (void)state;
  as_model *m = build();
  for (int i = 0; i < 3; ++i) {
    as_run_def def = how(rig_methods[i]);
    as_run *run = NULL;
    as_rules *rules = NULL;
    as_error error;
    seen s = {0};
    if (make_rules(m, &rules, &error)) fail_msg("%s", error.message);
    def.rules = rules;
    if (as_run_create(m, &def, &run, &error) || as_run_go(run, note, &s, NULL, &error))
      fail_msg("%s", error.message);
    assert_int_equal(s.rows, 73);
    assert_int_equal(as_run_events(run), 3);
    assert_int_equal(s.last, s.first);
    as_run_destroy(run);
    as_rules_destroy(rules);
  }
  as_model_destroy(m);
}

// ---- a decimal comma ------------------------------------------------------------------------------------

static void test_commas(void **state) {
  (void)state;
  static const char *const one[] = {"solver.h"};
  as_model *m = build();
  as_channels *c = NULL;
  as_csv *csv = NULL;
  as_error error;
  static const char path[] = "commas.csv";
  char text[200] = "";
  if (as_channels_create(m, one, 1, &c, &error)) fail_msg("%s", error.message);
  commas = true;
  as_status status = as_csv_create(path, c, &csv, &error);
  if (status == AS_OK) status = as_csv_row(1.25, (double[]){-3.5e-300}, 1, csv, &error);
  if (status == AS_OK) status = as_csv_close(csv, &error);
  commas = false;
  if (status) fail_msg("%s", error.message);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  assert_string_equal(text, "time [s],solver.h [s]\n1.25,-3.5e-300\n");
  fclose(file);
  remove(path);
  as_channels_destroy(c);
  as_model_destroy(m);
}

// ---- memory runs out ------------------------------------------------------------------------------------

/// Makes all there is and takes it away again.
static as_status make_all(const as_model *m, as_error *error) {
  static const char table[] = "out-of-memory.csv";
  as_run_def def = how(AS_METHOD_INDEX3);
  as_run *run = NULL;
  as_csv *csv = NULL;
  as_survey *survey = NULL;
  as_rules *rules = NULL;
  as_status status = make_rules(m, &rules, error);
  def.rules = rules;
  if (status == AS_OK) status = as_run_create(m, &def, &run, error);
  if (status == AS_OK) status = as_csv_create(table, as_run_channels(run), &csv, error);
  if (status == AS_OK) status = as_run_go(run, as_csv_row, csv, NULL, error);
  if (status == AS_OK) status = as_survey_create(m, &def.integrator, 1.0, &survey, error);
  as_survey_destroy(survey);
  as_csv_close(csv, NULL);
  remove(table);
  as_run_destroy(run);
  as_rules_destroy(rules);
  return status;
}

static void test_out_of_memory(void **state) {
  (void)state;
  as_model *m = build();
  as_error error;
  const long live = memory.live, before = memory.taken;
  if (make_all(m, &error)) fail_msg("%s", error.message);
  const long needed = memory.taken - before;
  assert_int_equal(memory.live, live);
  for (long n = 1; n <= needed; ++n) {
    if (!share_has(n)) continue;
    memory.fail_on = true;
    memory.fail_at = n;
    const as_status status = make_all(m, &error);
    memory.fail_at = 0;
    if (status != AS_ERR_MEMORY)
      fail_msg("allocation %ld of %ld fails, but the status is %s: %s", n, needed,
               as_status_name(status), error.message);
    if (memory.live != live)
      fail_msg("allocation %ld of %ld fails: %ld blocks leak", n, needed, memory.live - live);
  }
  print_message("  %ld allocations\n", needed);
  as_model_destroy(m);
}

// ---- memory runs out around HDF5 ------------------------------------------------------------------------

/// A run, its saved state, results of its last row; all read back.
static as_status keep_all(const as_model *m, const char *path, const char *saved, as_error *error) {
  as_run_def def = as_default_run_def();
  def.t_end = 0.01;
  def.accuracy = true;
  def.poses = true;
  def.channels = everything;
  def.n_channels = 1;
  def.interval = 1e-3;
  double poses[2 * AS_POSE] = {0}, row[200] = {0}, out[8];
  as_run *run = NULL, *again = NULL;
  as_results_writer *results = NULL;
  as_results_reader *reader = NULL;
  seen s = {0};
  as_status status = as_run_create(m, &def, &run, error);
  if (status == AS_OK) status = as_run_go(run, note, &s, NULL, error);
  if (status == AS_OK) status = as_run_save_file(run, saved, error);
  if (status == AS_OK) status = as_run_create(m, &def, &again, error);
  if (status == AS_OK) status = as_run_load_file(again, saved, error);
  if (status == AS_OK) {
    const as_named_text text = {"model", "nothing"};
    as_results_writer_def what = as_default_results_writer_def();
    what.model = m;
    what.channels = as_run_channels(run);
    what.title = "title";
    what.texts = &text;
    what.n_texts = 1;
    what.errors = true;
    what.no_sync = true;
    status = as_results_writer_create(path, &what, &results, error);
    const int n = as_channels_count(as_run_channels(run));
    if (status == AS_OK) status = as_results_writer_row(results, 0.0, row, n, poses, error);
    const as_status closed = as_results_writer_close(results, status == AS_OK ? error : NULL);
    if (status == AS_OK) status = closed;
  }
  if (status == AS_OK) status = as_results_reader_open(path, &reader, error);
  if (status == AS_OK) status = as_results_reader_read(reader, 3, out, error);
  if (status == AS_OK) status = as_results_reader_poses(reader, 1, out, error);
  if (status == AS_OK && as_results_reader_text(reader, "model") == NULL) status = AS_ERR_MEMORY;
  as_results_reader_close(reader);
  as_run_destroy(again);
  as_run_destroy(run);
  return status;
}

/// HDF5 takes its own memory; of what is ours each fifth fails in turn. A file that could not be made is told as such.
static void test_out_of_memory_reader(void **state) {
  (void)state;
  char path[32] = "libc-XXXXXX.h5", saved[32] = "libc-XXXXXX.bin";
  close(mkstemps(path, 3));
  close(mkstemps(saved, 4));
  as_model *m = build();
  as_error error;
  if (keep_all(m, path, saved, &error)) fail_msg("%s", error.message);
  const long live = memory.live, before = memory.taken;
  if (keep_all(m, path, saved, &error)) fail_msg("%s", error.message);
  const long needed = memory.taken - before;
  assert_int_equal(memory.live, live);
  for (long n = 1; n <= needed; n += 5) {
    memory.fail_on = true;
    memory.fail_at = n;
    const as_status status = keep_all(m, path, saved, &error);
    memory.fail_at = 0;
    if (status != AS_ERR_MEMORY && status != AS_ERR_FILE)
      fail_msg("allocation %ld of %ld fails, but the status is %s: %s", n, needed,
               as_status_name(status), error.message);
    if (memory.live != live)
      fail_msg("allocation %ld of %ld fails: %ld blocks leak", n, needed, memory.live - live);
  }
  print_message("  %ld allocations\n", needed);
  as_model_destroy(m);
  remove(path);
  remove(saved);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_commas),
      cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_out_of_memory_reader)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
