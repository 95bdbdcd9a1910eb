/// The semi-active damper and its inverse against values that were computed without this library, tests/files/semi-active.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "rig.h"

enum { MOST_ROWS = 256, COLUMNS = 6 };

typedef struct numbers {
  double row[MOST_ROWS][COLUMNS];
  int rows;
} numbers;

/// A file of numbers with one line of names.
static const numbers *read_numbers(const char *name) {
  static numbers all;
  char path[256];
  snprintf(path, sizeof path, "tests/files/semi-active/%s.csv", name);
  char *text = files_read(path);
  all.rows = 0;
  for (char *line = strchr(text, '\n') + 1; *line; ++all.rows) {
    assert_true(all.rows < MOST_ROWS);
    for (int k = 0;; ++k) {
      assert_true(k < COLUMNS);
      all.row[all.rows][k] = strtod(line, &line);
      if (*line++ != ',') break;
    }
  }
  free(text);
  return &all;
}

// ---- the inverse ------------------------------------------------------------------------------------

/// The current that a block finds.
static double current_for(double force, double speed, const char *rest) {
  char text[1024];
  as_error error;
  snprintf(text, sizeof text,
           "alphastep: 1\n"
           "bodies: {m: {type: point, mass: 1}}\n"
           "blocks: {i: {type: semi_active_inverse, force: %.17g, speed: %.17g%s}}\n",
           force, speed, rest);
  as_machine *machine = files_parse(text);
  const as_model *m = machine->model;
  as_integrator *integrator = NULL;
  const as_integrator_def def = machine->simulation.integrator;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  const double found =
      as_model_signal_value(m, as_integrator_state(integrator), as_model_find_signal(m, "i", NULL));
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
  return found;
}

/// Its formula, by another program.
static void test_inverse(void **state) {
  (void)state;
  const numbers *all = read_numbers("inverse");
  assert_int_equal(all->rows, 49);
  for (int i = 0; i < all->rows; ++i) {
    const double *row = all->row[i];
    assert_near("current", current_for(row[0], row[1], ", stroke: 0"), row[2], 1e-10);
  }
}

/// What the damper gives at a constant speed, up to 1 m/s, asks for the current that it has, where the relief stage of the valve is open
/// and the current is no limit.
static void test_round_trip(void **state) {
  (void)state;
  const numbers *all = read_numbers("characteristic");
  int open = 0;
  assert_int_equal(all->rows, 98);
  for (int i = 0; i < all->rows; ++i) {
    const double *row = all->row[i];
    const double gas = 4e5 * pow(1.2e-4 / (1.2e-4 + 3.8e-4 * row[0]), 1.3);
    const double opens = 1.5e5 + 3.75e6 * row[2] / 1.6;
    char stroke[64];
    if (row[3] - gas < opens || fabs(row[1]) > 1.0 || row[2] > 1.5) continue;
    snprintf(stroke, sizeof stroke, ", stroke: %g", row[0]);
    assert_near("current", current_for(row[5], row[1], stroke), row[2], 0.06);
    ++open;
  }
  assert_true(open >= 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inverse),
      cmocka_unit_test(test_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
