/// Flexible bodies in model files: what is read, channels, what is refused, a run that goes on, a run that leaves the range of one body.
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

#include "alphastep/flexible_file.h"
#include "elements/vector.h"
#include "files.h"
#include "flexible_part.h"
#include "rig.h"

static char folder[] = "/tmp/alphastep_flexible_XXXXXX", model_path[64];

static int make_folder(void **state) {
  (void)state;
  char path[64];
  as_error error = {0};
  if (mkdtemp(folder) == NULL) return -1;
  part_def def = part_blade(0.2, 0.5, 8, 2);
  def.beta = 1e-5;
  part blade = part_make(&def);
  snprintf(path, sizeof path, "%s/blade.h5", folder);
  snprintf(model_path, sizeof model_path, "%s/model.yaml", folder);
  const as_status status = as_flexible_write(path, blade.data, &error);
  part_free(&blade);
  return status;
}

static int remove_folder(void **state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "%s/blade.h5", folder);
  unlink(path);
  unlink(model_path);
  return rmdir(folder);
}

static void write_model(const char *text) {
  FILE *file = fopen(model_path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static as_machine *load(const char *text) {
  as_machine *machine;
  as_messages messages;
  write_model(text);
  if (as_machine_load(model_path, NULL, 0, &machine, &messages) != AS_OK)
    fail_msg("%s", messages.n > 0 ? messages.message[0].text : "refused");
  return machine;
}

static void expect(const char *text, const char *words) {
  as_machine *machine;
  as_messages messages;
  write_model(text);
  assert_int_not_equal(as_machine_load(model_path, NULL, 0, &machine, &messages), AS_OK);
  bool found = false;
  for (int i = 0; i < messages.n; ++i)
    found = found || strstr(messages.message[i].text, words) != NULL;
  if (!found) fail_msg("\"%s\" is not said, but: %s", words, messages.message[0].text);
}

#define HUB                                                                                        \
  "bodies:\n"                                                                                      \
  "  hub: {mass: 2, inertia: [0.1, 0.1, 0.1]}\n"
#define MACHINE                                                                                    \
  "alphastep: 1\n"                                                                                 \
  "gravity: [0, 0, -9.81]\n" HUB "flexible:\n"                                                     \
  "  blade:\n"                                                                                     \
  "    file: blade.h5\n"                                                                           \
  "    points: [1, 100]\n"                                                                         \
  "    loads: [[100, 0, 3, 0]]\n"                                                                  \
  "    following_loads: [[50, 0, 0, 1], [51, 0, 0, 1]]\n"                                          \
  "    factor: \"sin(10*t)\"\n"                                                                    \
  "joints:\n"                                                                                      \
  "  axle: {type: revolute, bodies: [ground, hub], point: [0, 0, 0], axis: [0, 0, 1]}\n"           \
  "  weld: {type: fixed, bodies: [hub, blade.root], point: [0.2, 0, 0]}\n"                         \
  "blocks:\n"                                                                                      \
  "  height: {type: signal, formula: bodies.blade.tip.position.z}\n"                               \
  "simulate: {t_end: 0.1, step: 1e-3}\n"

typedef struct rows {
  int n, count;
  double last[256];
  char warning[512];
  int warnings;
} rows;

static as_status take_row(double t, const double *row, int n, void *user, as_error *error) {
  rows *r = user;
  (void)t;
  (void)error;
  assert_true(n <= 256);
  r->n = n;
  ++r->count;
  memcpy(r->last, row, (size_t)n * sizeof *row);
  return AS_OK;
}

static void hear(as_log_level level, const char *message, void *user) {
  rows *r = user;
  if (level != AS_LOG_WARNING) return;
  ++r->warnings;
  snprintf(r->warning, sizeof r->warning, "%s", message);
}

/// Runs to the end, or in two parts with a saved run between them.
static void run(const as_machine *machine, const char *const *channels, int n, double until,
                double middle, rows *out) {
  char path[64];
  as_run_def def = as_default_run_def();
  as_run *now;
  as_error error = {0};
  *out = (rows){0};
  snprintf(path, sizeof path, "%s/saved.bin", folder);
  def.integrator.step = 1e-3;
  def.integrator.log = hear;
  def.integrator.log_user = out;
  def.t_end = middle > 0.0 ? middle : until;
  def.interval = 0.01;
  def.channels = channels;
  def.n_channels = n;
  for (int part_number = 0; part_number < (middle > 0.0 ? 2 : 1); ++part_number) {
    if (as_run_create(machine->model, &def, &now, &error)) fail_msg("%s", error.message);
    if (part_number > 0 && as_run_load_file(now, path, &error)) fail_msg("%s", error.message);
    if (as_run_go(now, take_row, out, NULL, &error)) fail_msg("%s", error.message);
    if (as_run_save_file(now, path, &error)) fail_msg("%s", error.message);
    as_run_destroy(now);
    def.t_end = until;
  }
  unlink(path);
}

static double channel(const as_machine *machine, const char *name, const rows *r,
                      const char *const *channels, int n) {
  as_channels *all;
  as_error error;
  double value = (double)NAN;
  if (as_channels_create(machine->model, channels, n, &all, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_channels_count(all), r->n);
  for (int i = 0; i < r->n; ++i)
    if (strcmp(as_channels_get(all, i).name, name) == 0) value = r->last[i];
  as_channels_destroy(all);
  if (isnan(value)) fail_msg("there is no channel %s", name);
  return value;
}

static void test_channels(void **state) {
  (void)state;
  static const char *const names[] = {"flexible.blade",      "bodies.blade.tip.position",
                                      "bodies.blade.root.*", "energy",
                                      "blocks.height",       "bodies.hub.quaternion"};
  enum { N = sizeof names / sizeof names[0] };
  as_machine *machine = load(MACHINE);
  rows whole, parts;
  run(machine, names, N, 0.1, 0.0, &whole);
  run(machine, names, N, 0.1, 0.05, &parts);
  assert_int_equal(whole.count, 11);
  for (int i = 0; i < whole.n; ++i) assert_near("resumed", parts.last[i], whole.last[i], 0.0);
#define AT(name) channel(machine, name, &whole, names, N)
  assert_near("balance", AT("energy.balance"), 0.0, 1e-4);
  assert_near("formula", AT("blocks.height"), AT("bodies.blade.tip.position.z"), 1e-12);
  assert_true(fabs(AT("flexible.blade.z3.value")) > 1e-5);
  // Mass point 100 is near the tip: its place follows from deflection and frame; its stress from the bending there.
  assert_true(fabs(AT("flexible.blade.100.deflection.z")) > 1e-5);
  assert_near("place", AT("flexible.blade.100.position.z"), AT("flexible.blade.100.deflection.z"),
              0.01);
  assert_near("mises", AT("flexible.blade.1.mises"), fabs(AT("flexible.blade.1.stress_xx")), 1e-3);
  assert_true(AT("flexible.blade.1.mises") > 1e4);
#undef AT
  as_machine_destroy(machine);
}

/// Pose, start and inertia as they are written.
static void test_keys(void **state) {
  (void)state;
  as_machine *machine = load(
      "alphastep: 1\n"
      "flexible:\n  blade: {file: blade.h5, position: [1, 2, 3], rotation: {axis: [0, 0, 1], "
      "angle_deg: 90}, velocity: [0, 0, 4], start: [1e-3, 0, 0, 0, 0, 0, 0, 2e-3], rate: [0, 0, 0, "
      "0, 0, 0, 0, 5], inertia: lower order}\n");
  const as_model *m = machine->model;
  const as_flexible_id id = as_model_find_flexible(m, "blade");
  const as_initial *start = as_model_initial(m);
  as_body_motion root, tip;
  const as_state at = {.q = start->q, .v = start->v};
  assert_null(as_model_flexible_data(m, id)->J2);
  assert_near("z1", start->q[as_model_flexible_q(m, id)], 1e-3, 0.0);
  assert_near("z8", start->q[as_model_flexible_q(m, id) + 7], 2e-3, 0.0);
  assert_near("rate", start->v[as_model_flexible_v(m, id) + 7], 5.0, 0.0);
  // The root is at (0.2, 0, 0) of the mesh, the tip 0.5 m behind it; what was along x is along y.
  as_model_body_motion(m, &at, as_model_find_body(m, "blade.root"), &root);
  as_model_body_motion(m, &at, as_model_find_body(m, "blade.tip"), &tip);
  assert_near("root", root.x[0], 1.0, 1e-12);
  assert_near("root", root.x[1], 2.2, 1e-12);
  assert_near("root", root.v[2], 4.0, 0.0);
  assert_near("tip", tip.x[1], 2.701, 1e-12);
  as_machine_destroy(machine);
}

static void test_refused(void **state) {
  (void)state;
#define ONE(keys) "alphastep: 1\n" HUB "flexible:\n  blade: {" keys "}\n"
  expect(ONE("file: none.h5"), "none.h5");
  expect(ONE("position: [0, 0, 0]"), "file");
  expect(ONE("file: model.yaml"), "model.yaml");
  expect(ONE("file: blade.h5, points: [100000]"), "show node 100000");
  expect(ONE("file: blade.h5, points: [1.5]"), "no number of a point");
  expect(ONE("file: blade.h5, loads: [[7, 1]]"), "4");
  expect(ONE("file: blade.h5, loads: [[-7, 1, 0, 0]]"), "load at node -7");
  expect(ONE("file: blade.h5, start: [1, 2]"), "8 elastic coordinates, but its start has 2");
  expect(ONE("file: blade.h5, inertia: none"), "lower order");
  expect(ONE("file: blade.h5, quaternion: [2, 0, 0, 0]"), "length");
  expect(ONE("file: blade.h5") "joints:\n  a: {type: fixed, bodies: [hub, blade.tipp]}\n",
         "blade.tip");
  expect(
      ONE("file: blade.h5") "beams:\n  b: {line: {points: [[0.7, 0, 0], [1, 0, 0]]}, elements: 1, "
                            "section: {type: circle, diameter: 0.01}, material: steel, first: "
                            "blade.tip}\n",
      "blade.tip");
#undef ONE
}

static void test_range(void **state) {
  (void)state;
  static const char *const names[] = {"drift"};
  as_machine *machine = load(
      "alphastep: 1\n"
      "flexible:\n  blade: {file: blade.h5, velocity: [0, 12, 0], angular_velocity: [0, 0, 60]}\n");
  rows r;
  run(machine, names, 1, 0.05, 0.0, &r);
  assert_int_equal(r.warnings, 1);
  assert_non_null(strstr(r.warning, "\"blade\" turns at 60 rad/s, more than a fifth"));
  as_machine_destroy(machine);
  machine =
      load("alphastep: 1\nflexible:\n  blade: {file: blade.h5, angular_velocity: [0, 0, 20]}\n");
  run(machine, names, 1, 0.05, 0.0, &r);
  assert_int_equal(r.warnings, 0);
  as_machine_destroy(machine);
}

/// Where `value` of an elastic coordinate (from 0 on) at the start lets the body leave its range; NULL: it stays.
static void expect_range(int coordinate, double value, const char *words) {
  static const char *const names[] = {"drift"};
  char text[512];
  double z[8] = {0.0};
  rows r;
  z[coordinate] = value;
  snprintf(text, sizeof text,
           "alphastep: 1\nflexible:\n  blade: {file: blade.h5, start: [%.17g, %.17g, %.17g, %.17g, "
           "%.17g, %.17g, %.17g, %.17g]}\n",
           z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7]);
  as_machine *machine = load(text);
  run(machine, names, 1, 1e-7, 0.0, &r);
  as_machine_destroy(machine);
  if (words && strstr(r.warning, words) == NULL)
    fail_msg("z%d = %g: \"%s\" is not said, but: %s", coordinate + 1, value, words, r.warning);
  if (r.warnings != (words ? 1 : 0))
    fail_msg("z%d = %g: %d warnings, the last: %s", coordinate + 1, value, r.warnings, r.warning);
}

/// The blade of 0.5 m, pulled, bent and turned at its tip: a tenth of its length, 0.2 rad, a twentieth of Euler's load pi^2 EI/(4 L^2),
/// which the estimate from mass and frequency meets within 0.2 %.
static void test_deformed_range(void **state) {
  (void)state;
  const double euler = 9.869604401089358 * 116.6666666666667 / (4.0 * 0.25),
               pull = 0.05 * euler / (1.4e7 / 0.5), side = 0.05, turn = 0.2;
  static const char tenth[] = "more than a tenth of its size 0.5 m",
                    node[] = "more than 0.2 rad at t",
                    load_limit[] = "more than a twentieth of its buckling load";
  for (int sign = -1; sign <= 1; sign += 2) {
    expect_range(0, 0.99 * sign * pull, NULL);
    expect_range(0, 1.01 * sign * pull, load_limit);
    for (int k = 1; k < 3; ++k) {
      expect_range(k, 0.999 * sign * side, NULL);
      expect_range(k, 1.001 * sign * side, tenth);
    }
    for (int k = 3; k < 6; ++k) {
      expect_range(k, 0.999 * sign * turn, NULL);
      expect_range(k, 1.001 * sign * turn, node);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_channels),       cmocka_unit_test(test_keys),
      cmocka_unit_test(test_refused),        cmocka_unit_test(test_range),
      cmocka_unit_test(test_deformed_range),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
