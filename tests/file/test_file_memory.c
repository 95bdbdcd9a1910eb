/// Memory while a file is read: wherever it runs out there is AS_ERR_MEMORY, a message and no leak.
///
/// The linker sends every malloc, calloc, realloc and free through the functions here (-Wl,--wrap). libyaml's own go
/// another way; libyaml looks after itself.
#define _POSIX_C_SOURCE 200809L // mkdtemp, ftruncate
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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
#include "plugins.h"
#include "share.h"

static const char *told; ///< by the last machine that was loaded

static as_status load(const char *path, const char *const *settings, int n) {
  static as_messages messages;
  static char whole[4096];
  as_machine *m = NULL;
  snprintf(whole, sizeof whole, "%s", files_path(path));
  const as_status status = as_machine_load(whole, settings, n, &m, &messages);
  if ((status == AS_OK) != (m != NULL) || (status == AS_OK) != (messages.n == 0))
    fail_msg("%s, %d messages", as_status_name(status), messages.n);
  if (status == AS_ERR_MEMORY)
    assert_string_equal(messages.message[0].text, "error: out of memory");
  told = messages.n > 0 ? messages.message[0].text : "";
  as_machine_destroy(m);
  return status;
}

/// Returns how many allocations there are.
static long fail_each(const char *path, const char *const *settings, int n, as_status expected,
                      long stride) {
  const long live = memory.live;
  for (long k = 1, count = 0;; k += stride) {
    if (!share_has(count++)) continue;
    memory.fail_on = true;
    memory.fail_at = k;
    memory.failed = 0;
    const as_status status = load(path, settings, n);
    memory.fail_at = 0;
    assert_int_equal(memory.live, live);
    if (memory.failed == 0) {
      assert_int_equal(status, expected);
      return k;
    }
    // The assembly may get by without an allocation that failed; a file that cannot be read for want of memory is
    // refused as such.
    if (status != AS_ERR_MEMORY && status != AS_ERR_FILE && status != expected)
      fail_msg("allocation %ld of %s: %s, %s", k, path, as_status_name(status), told);
  }
}

static void test_good(void **state) {
  (void)state;
  const char *const settings[] = {"parameters.m=7", "bodies.bob.velocity=[m, 0, 0]",
                                  "simulate.tol=null"};
  const long n = fail_each("tests/files/good/everything.yaml", settings, 3, AS_OK, 1);
  const long k = fail_each("examples/machines/chain/model.yaml", NULL, 0, AS_OK, 1);
  print_message("  %ld and %ld allocations\n", n, k);
  assert_true(n > 100 && k > 50);
}

static void test_wrong(void **state) {
  (void)state;
  (void)fail_each("tests/files/good/blocks.yaml", NULL, 0, AS_OK, 43);
  (void)fail_each("tests/files/wrong/blocks.yaml", NULL, 0, AS_ERR_ARGUMENT, 3);
  (void)fail_each("tests/files/good/elements.yaml", NULL, 0, AS_OK, 7);
  (void)fail_each("tests/files/good/events.yaml", NULL, 0, AS_OK, 3);
  (void)fail_each("tests/files/wrong/event_formulas.yaml", NULL, 0, AS_ERR_ARGUMENT, 3);
  (void)fail_each("tests/files/good/superelement.yaml", NULL, 0, AS_OK, 5);
  (void)fail_each("tests/files/good/switches.yaml", NULL, 0, AS_OK, 3);
  (void)fail_each("tests/files/good/beams.yaml", NULL, 0, AS_OK, 37);
  (void)fail_each("tests/files/good/formulas.yaml", NULL, 0, AS_OK, 3);
  (void)fail_each("tests/files/wrong/repeat.yaml", NULL, 0, AS_ERR_ARGUMENT, 1);
  (void)fail_each("tests/files/wrong/names.yaml", NULL, 0, AS_ERR_ARGUMENT, 1);
  (void)fail_each("tests/files/wrong/include_wrong.yaml", NULL, 0, AS_ERR_ARGUMENT, 1);
}

/// Tyres, roads, starts at rest, flexible bodies, mirrored groups.
static void test_newer(void **state) {
  (void)state;
  const char *const rough[] = {"roads.slope={type: rough, class: C, seed: 1, start: 3}",
                               "start=null"};
  const char *const table[] = {
      "roads.slope={type: table, height: {x: [-9, 9], y: [-9, 9], z: [[0, 0], [0.1, 0]]}}",
      "start=null"};
  const long n = fail_each("tests/files/rolling.yaml", NULL, 0, AS_OK, 3);
  (void)fail_each("tests/files/rolling.yaml", rough, 2, AS_OK, 1);
  (void)fail_each("tests/files/rolling.yaml", table, 2, AS_OK, 1);
  const long k = fail_each("examples/machines/flexible-satellite/model.yaml", NULL, 0, AS_OK, 3);
  (void)fail_each("tests/files/mirror.yaml", NULL, 0, AS_OK, 37);
  print_message("  %ld and %ld allocations\n", n, k);
}

/// A block and a force of a plugin, all well and with a mistake.
static void test_plugins(void **state) {
  (void)state;
  static as_messages messages;
  static const char *const keys[] = {"shift: 1", "shift: 1, gain: -1"};
  for (int wrong = 0; wrong < 2; ++wrong) {
    char text[1024];
    as_status status = AS_ERR_MEMORY;
    const long live = memory.live;
    snprintf(text, sizeof text,
             "alphastep: 1\n"
             "bodies: {m: {mass: 1, inertia: [1, 1, 1]}}\n"
             "forces: {f: {type: plugin, file: test_plugin.so, plugin: bush, parameters: {k: 3}, "
             "bodies: [ground, m], point: [0, 0, 0]}}\n"
             "blocks: {b: {type: plugin, file: test_plugin.so, plugin: wild, period: 0.1, inputs: "
             "{p: bodies.m.position.x, v: blocks.b.one}, start: {one: 2}, parameters: {%s}}}\n",
             keys[wrong]);
    memory.fail_on = true;
    memory.failed = 1;
    for (long k = 1; memory.failed > 0; ++k) {
      as_machine *m = NULL;
      memory.fail_at = k;
      memory.failed = 0;
      status = plugins_load(text, &m, &messages);
      memory.fail_at = 0;
      assert_true((status == AS_OK) == (m != NULL) && (status == AS_OK) == (messages.n == 0));
      as_machine_destroy(m);
      assert_int_equal(memory.live, live);
      if (memory.failed > 0 && status != AS_ERR_MEMORY && status != AS_ERR_FILE &&
          status != (wrong ? AS_ERR_ARGUMENT : AS_OK))
        fail_msg("allocation %ld: %s: %s", k, as_status_name(status),
                 status ? messages.message[0].text : "");
    }
    assert_int_equal(status, wrong ? AS_ERR_ARGUMENT : AS_OK);
  }
}

/// Blocks of every sort, samples and an event that sets states: once a run has begun no step takes memory.
static void test_blocks_in_steps(void **state) {
  (void)state;
  static as_messages messages;
  as_machine *m = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  assert_int_equal(
      as_machine_load(files_path("tests/files/good/blocks.yaml"), NULL, 0, &m, &messages), AS_OK);
  if (as_integrator_create(as_model_problem(m->model), &m->simulation.integrator, &integrator,
                           &error) ||
      as_integrator_start(integrator, as_model_initial(m->model), NULL, &error) ||
      as_integrator_advance(integrator, 0.03, &error))
    fail_msg("%s", error.message);
  const long taken = memory.taken;
  if (as_integrator_advance(integrator, 0.5, &error)) fail_msg("%s", error.message);
  assert_int_equal(memory.taken, taken);
  as_integrator_destroy(integrator);
  as_machine_destroy(m);
}

/// A table in a file of 64 MiB, which is read (and holds no number), and of a byte more, which is refused: nothing is left of either.
static void test_large_table(void **state) {
  (void)state;
  static as_messages messages;
  char folder[] = "/tmp/alphastep-XXXXXX", csv[64], model[64];
  assert_non_null(mkdtemp(folder));
  snprintf(csv, sizeof csv, "%s/table.csv", folder);
  snprintf(model, sizeof model, "%s/model.yaml", folder);
  FILE *text = fopen(model, "wb");
  assert_non_null(text);
  fputs("alphastep: 1\ntables: {soft: {file: table.csv}}\n", text);
  fclose(text);
  const long live = memory.live;
  for (int more = 0; more < 2; ++more) {
    as_machine *m = NULL;
    FILE *file = fopen(csv, "wb"); // a file of holes
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (64 << 20) + more), 0);
    fclose(file);
    assert_int_equal(as_machine_load(model, NULL, 0, &m, &messages), AS_ERR_ARGUMENT);
    bool found = false;
    for (int i = 0; i < messages.n; ++i)
      found = found || strstr(messages.message[i].text, "has more than 64 MiB");
    assert_int_equal(found, more);
    assert_int_equal(memory.live, live);
    remove(csv);
  }
  remove(model);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_good),
                                     cmocka_unit_test(test_wrong),
                                     cmocka_unit_test(test_newer),
                                     cmocka_unit_test(test_plugins),
                                     cmocka_unit_test(test_blocks_in_steps),
                                     cmocka_unit_test(test_large_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
