/// A process that writes results.h5 as fast as it can is killed, again and again, at any moment: the file is whole each
/// time, and there is no row missing that was flushed. An argument says how often.
#define _DEFAULT_SOURCE // fork, kill, nanosleep, mkdtemp, MAP_ANONYMOUS

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/results_file.h"
#include "machines.h"
#include "rig.h"

enum { BODIES = 12 };

static long kills = 60;
static char folder[64], path[96], other[2][104];
static volatile long *flushed; ///< rows, told by the child

static double made_up(long row, int place) { return (double)row / 3.0 + 7.0 * place; }

static as_model *build(as_channels **channels) {
  static const char *const chosen[] = {"bodies.*.velocity", "energy"};
  as_builder *b = machine_builder(0, 0, 0);
  const double zero[3] = {0, 0, 0};
  as_error error;
  for (int i = 0; i < BODIES; ++i) {
    char name[16];
    snprintf(name, sizeof name, "p%d", i);
    machine_point(b, name, 1.0, zero, zero);
  }
  as_model *model = machine_build(b);
  if (as_channels_create(model, chosen, 2, channels, &error)) fail_msg("%s", error.message);
  return model;
}

/// Rows without end, flushed after a few each; goes on with a file if there is one.
static void write_rows(const as_results_writer_def *def, long rows) {
  as_results_writer *results = NULL;
  const int n = as_channels_count(def->channels);
  double row[64], poses[BODIES * AS_POSE];
  as_status status = rows == 0 ? as_results_writer_create(path, def, &results, NULL)
                               : as_results_writer_continue(path, def, rows, &results, NULL);
  for (long i = rows; status == AS_OK; ++i) {
    for (int k = 0; k < n; ++k) row[k] = made_up(i, k);
    for (int k = 0; k < BODIES * AS_POSE; ++k) poses[k] = made_up(i, 100 + k);
    status = as_results_writer_row(results, (double)i, row, n, poses, NULL);
    if (status == AS_OK && i % (1 + i % 5) == 0) {
      status = as_results_writer_flush(results, NULL);
      *flushed = as_results_writer_rows(results);
    }
  }
  _exit(9); // it was not killed
}

/// Reads all of it; returns how many rows there are.
static long look(const as_channels *channels) {
  as_error error;
  as_results_reader *r = NULL;
  if (as_results_reader_open(path, &r, &error)) fail_msg("%s", error.message);
  const long rows = as_results_reader_rows(r);
  double *out = calloc((size_t)rows + 1, sizeof *out);
  assert_int_equal(as_results_reader_time(r, out, &error), AS_OK);
  for (long i = 0; i < rows; ++i) assert_true(out[i] == (double)i);
  for (int c = 0; c < as_channels_count(channels); ++c) {
    const int at = as_results_reader_find(r, as_channels_get(channels, c).name);
    if (as_results_reader_read(r, at, out, &error)) fail_msg("%s", error.message);
    for (long i = 0; i < rows; ++i) assert_true(out[i] == made_up(i, c));
  }
  free(out);
  as_results_reader_close(r);
  return rows;
}

/// 0 ... most - 1.
static long choose(long most) {
  static uint64_t x = 1;
  x = x * 6364136223846793005u + 1442695040888963407u;
  return (long)(x >> 33) % most;
}

static void rest(long microseconds) {
  const struct timespec pause = {0, 1000 * microseconds};
  nanosleep(&pause, NULL);
}

static void test_kills(void **state) {
  (void)state;
  as_channels *channels = NULL;
  as_model *model = build(&channels);
  as_results_writer_def def = as_default_results_writer_def();
  def.model = model;
  def.channels = channels;
  long rows = 0, grown = 0;
  for (long k = 0; k < kills; ++k) {
    *flushed = rows;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) write_rows(&def, rows);
    // Once there is something new, in three of four cases; else whenever it is.
    for (int i = 0; k % 4 && *flushed == rows && i < 300000; ++i) rest(1000);
    rest(choose(20000));
    kill(child, SIGKILL);
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status));
    if (access(path, F_OK) != 0) { // it was not even made
      assert_int_equal(rows, 0);
      continue;
    }
    const long now = look(channels);
    assert_true(now >= *flushed);
    grown += now > rows;
    rows = now < 3000 ? now * choose(101) / 100 : 0; // cut off, or begin anew
  }
  assert_true(grown >= kills / 2);
  print_message("%ld kills, %ld of them with new rows\n", kills, grown);
  as_channels_destroy(channels);
  as_model_destroy(model);
}

static int begin(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "killed-XXXXXX");
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/results.h5", folder);
  snprintf(other[0], sizeof other[0], "%s.new", path);
  snprintf(other[1], sizeof other[1], "%s.copy", path);
  void *shared =
      mmap(NULL, sizeof *flushed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  flushed = shared;
  return shared == MAP_FAILED ? -1 : 0;
}

static int end(void **state) {
  (void)state;
  remove(path);
  for (int i = 0; i < 2; ++i) remove(other[i]);
  return rmdir(folder);
}

int main(int argc, char **argv) {
  if (argc > 1) kills = strtol(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills)};
  return cmocka_run_group_tests(tests, begin, end);
}
