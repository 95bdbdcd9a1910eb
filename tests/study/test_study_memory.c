/// Memory while a study is read, made and run: wherever it runs out there is AS_ERR_MEMORY, a sentence and no leak, and runs that are over
/// stay so.
#define _POSIX_C_SOURCE 200809L // mkdtemp
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
#include "counting.h"
#include "files.h"
#include "share.h"

static as_messages messages;
static char folder[] = "/tmp/study-XXXXXX";
static char file[64], state[64];

static as_status try_study(void) {
  as_study_file *f = NULL;
  as_study *s = NULL;
  as_error error = {.status = AS_OK};
  as_status status = as_study_file_load(file, &f, &messages);
  if (status == AS_OK) {
    const as_study_def def = as_study_file_def(f);
    status = as_study_create(&def, &s, &messages);
  }
  if (status == AS_ERR_MEMORY)
    assert_string_equal(messages.message[0].text, "error: out of memory");
  if (status == AS_OK) {
    status = as_study_keep(s, state, access(state, F_OK) == 0, true, &error);
    if (status == AS_OK) status = as_study_go(s, 1, &error);
    if (status == AS_ERR_MEMORY) assert_string_equal(error.message, "Out of memory.");
    if (status == AS_OK) {
      assert_int_equal(as_study_count(s, AS_STUDY_DONE), 2);
      assert_int_equal(as_study_count(s, AS_STUDY_FAILED), 1);
    }
  }
  as_study_destroy(s);
  as_study_file_destroy(f);
  return status;
}

static void test_memory(void **unused) {
  (void)unused;
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/study.yaml", folder);
  snprintf(state, sizeof state, "%s/state.bin", folder);
  FILE *out = fopen(file, "w");
  assert_non_null(out);
  fprintf(out,
          "alphastep-study: 1\ntitle: A study\nmodel: %s\nset: {simulate.step: 0.1}\n"
          "parameters:\n  simulate.t_end: [0.2, -1, 0.3]\n  simulate.rho_inf: {from: 0.8, to: 0.8, "
          "count: 1}\n"
          "results:\n  x: {max: bodies.bob.position.x}\n  y: {rms: bodies.bob.position.y}\n",
          files_path("examples/machines/pendulum/model.yaml"));
  fclose(out);
  const long live = memory.live;
  memory.fail_on = false; // one at a time: what is over is kept, the rest is made the next time
  long k = 1;
  for (long count = 0;; k += 1) {
    if (!share_has(count++)) continue;
    if (k % 3 == 0) (void)remove(state);
    memory.fail_at = k;
    memory.failed = 0;
    const as_status status = try_study();
    memory.fail_at = 0;
    assert_int_equal(memory.live, live);
    if (memory.failed == 0 && k % 3 == 0) {
      assert_int_equal(status, AS_OK);
      break;
    }
    if (status != AS_OK && status != AS_ERR_MEMORY && status != AS_ERR_FILE)
      fail_msg("allocation %ld: %s", k, as_status_name(status));
  }
  print_message("  %ld allocations\n", k);
  assert_true(k > 100);
  (void)remove(state);
  (void)remove(file);
  (void)rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
