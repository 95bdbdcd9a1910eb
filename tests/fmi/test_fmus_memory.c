/// Memory while FMUs are written, read and run in machines: wherever it runs out there is a status, no leak, and no file left behind. What an FMU of
/// ours does inside is seen by fmu_memory.c.
#define _POSIX_C_SOURCE 200809L // mkdtemp, setenv
#include <dirent.h>
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
#include "alphastep/fmu.h"
#include "alphastep/io.h"
#include "counting.h"
#include "share.h"

static char folder[] = "/tmp/alphastep-XXXXXX";
static as_messages messages;

static const char *in_folder(const char *name) {
  static char path[2][100];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(in_folder(name), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int files(void) {
  int n = 0;
  DIR *list = opendir(folder);
  assert_non_null(list);
  while (readdir(list)) ++n;
  closedir(list);
  return n;
}

/// Whether a status is one that memory may bring about.
static bool is_likely(as_status status) {
  return status == AS_OK || status == AS_ERR_MEMORY || status == AS_ERR_FILE;
}

static as_status export_it(const char *to) {
  as_fmu_def def = as_default_fmu_def();
  as_error error = {0};
  def.model = in_folder("half.yaml");
  return as_fmu_export(&def, in_folder(to), NULL, &messages, &error);
}

static void test_export(void **state) {
  (void)state;
  const long live = memory.live;
  const int n = files();
  long k = 1, count = 0;
  for (memory.failed = 1; memory.failed > 0; ++k) {
    if (!share_has(count++)) continue;
    memory.fail_on = true;
    memory.fail_at = k;
    memory.failed = 0;
    const as_status status = export_it("new.fmu");
    memory.fail_at = 0;
    // The C library takes two texts, which are ours to free.
    if (memory.live > live || memory.live < live - 2)
      fail_msg("allocation %ld of an export: %ld blocks are left", k, memory.live - live);
    memory.live = live;
    if (!is_likely(status) || (memory.failed == 0 && status))
      fail_msg("allocation %ld of an export: %s", k, as_status_name(status));
    assert_int_equal(files(), n + (status == AS_OK));
    remove(in_folder("new.fmu"));
  }
  print_message("  %ld allocations of an export\n", k);
  assert_true(k > 100);
}

/// Loads a machine with FMUs of both kinds of coupling, runs it a little, saves it.
static as_status go(void) {
  const as_plugin_policy policy = {.fmus = true};
  as_machine *m = NULL;
  as_integrator *s = NULL;
  as_error error = {0};
  as_status status = as_machine_load_with(in_folder("whole.yaml"), NULL, 0, &policy, &m, &messages);
  assert_true((status == AS_OK) == (m != NULL));
  if (m)
    status =
        as_integrator_create(as_model_problem(m->model), &m->simulation.integrator, &s, &error);
  if (status == AS_OK) status = as_integrator_start(s, as_model_initial(m->model), NULL, &error);
  if (status == AS_OK) status = as_integrator_advance(s, 0.05, &error);
  size_t size = 0;
  if (status == AS_OK) status = as_integrator_save(s, NULL, &size, &error);
  as_integrator_destroy(s);
  as_machine_destroy(m);
  return status;
}

static void test_import(void **state) {
  (void)state;
  assert_int_equal(export_it("half.fmu"), AS_OK);
  write_file(
      "whole.yaml",
      "alphastep: 1\n"
      "bodies: {m: {mass: 1, inertia: [1, 1, 1], position: [0.3, 0, 0]}}\n"
      "joints: {rail: {type: prismatic, bodies: [ground, m], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
      "fmus:\n"
      "  h: {file: half.fmu, every: 0.01, coupling: iterate, parameters: {parameters.c: 3}, "
      "inputs: {blocks.x: bodies.m.position.x}}\n"
      "  l: {file: half.fmu, every: 0.01, inputs: {blocks.x: bodies.m.position.x}}\n"
      "forces: {f: {type: load, body: m, force: [blocks.h.blocks_y + blocks.l.blocks_y, 0, 0]}}\n"
      "simulate: {t_end: 1, step: 0.01}\n");
  const int n = files();
  const long live = memory.live;
  long k = 1, count = 0;
  for (memory.failed = 1; memory.failed > 0; k += 3) {
    if (!share_has(count++)) continue;
    memory.fail_on = k % 2 == 0; // one, or all from there on
    memory.fail_at = k;
    memory.failed = 0;
    const as_status status = go();
    memory.fail_at = 0;
    if (memory.live > live || memory.live < live - 2) // of realpath()
      fail_msg("allocation %ld of an import: %ld blocks are left", k, memory.live - live);
    memory.live = live;
    if (!is_likely(status) || (memory.failed == 0 && status))
      fail_msg("allocation %ld of an import: %s, %s", k, as_status_name(status),
               messages.n > 0 ? messages.message[0].text : "");
    if (files() != n) fail_msg("allocation %ld leaves a folder behind", k);
  }
  print_message("  %ld allocations of an import\n", k);
  assert_true(k > 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_export), cmocka_unit_test(test_import)};
  if (mkdtemp(folder) == NULL || setenv("TMPDIR", folder, 1)) return 1;
  write_file(
      "half.yaml",
      "alphastep: 1\n"
      "parameters: {c: 2}\n"
      "bodies: {z: {mass: 1, inertia: [1, 1, 1]}}\n"
      "joints: {other: {type: prismatic, bodies: [ground, z], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
      "blocks:\n"
      "  x: {type: input, start: 0.3}\n"
      "  y: {type: signal, formula: \"40*(bodies.z.position.x - blocks.x) + "
      "c*bodies.z.velocity.x\"}\n"
      "forces: {b: {type: load, body: z, force: [-blocks.y, 0, 0]}}\n"
      "simulate: {t_end: 1, step: 0.01}\n"
      "output: {channels: [blocks.y]}\n");
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(in_folder("half.yaml"));
  remove(in_folder("whole.yaml"));
  remove(in_folder("half.fmu"));
  rmdir(folder);
  return failed;
}
