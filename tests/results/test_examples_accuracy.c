/// With the default tolerance positions of all example machines are right to 1e-3 of their size and reactions to 1e-2, as
/// docs/automatic-steps.md says. The reference is a run of the same machine with a tenth of the tolerance: a difference of
/// 0.9 of the bound is one error.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problems/examples.h"

/// The four-bars in a row lie flat at these times: there joints depend on each other, and reactions within some milliseconds of them
/// differ by how a step meets them.
static const double flat[] = {0.7148, 1.2283, 2.6566, 3.1702, 4.5996,
                              5.1131, 6.5419, 7.0555, 8.4845, 8.9983};
static const example_windows flat_windows = {flat, sizeof flat / sizeof flat[0], 5e-3};

static const char *const machines[] = {
    "andrews",      "chain",        "double-pendulum", "four-bar",    "free-body", "governor",
    "heavy-top",    "landing-gear", "pendulum",        "quarter-car", "robot-arm", "stewart",
    "rolling-disk", "slider-crank", "sleigh",          "trebuchet"};

// Where constraints prescribe positions, their errors are what Newton's method leaves.
static const double LEAST_SHOWN = 1e-7;

static bool is_like(double x, double shown, double factor) {
  return fmax(x, shown) < LEAST_SHOWN || (x < factor * shown && x > shown / factor);
}

/// Errors that the page shows are right to a factor of 2 (they are differences of two runs), steps to a tenth. At singular positions round-off
/// decides where steps end, and libm on round-off: 4.
static bool is_shown(const char *name, const example_accuracy *a, bool singular) {
  char begin[80], line[1024];
  snprintf(begin, sizeof begin, "| %s |", name);
  FILE *page = fopen(SOURCE_DIR "/docs/automatic-steps.md", "r");
  assert_non_null(page);
  bool found = false;
  while (!found && fgets(line, sizeof line, page))
    found = strncmp(line, begin, strlen(begin)) == 0 && strtod(line + strlen(begin), NULL) > 0.0;
  fclose(page);
  if (!found) return false;
  char *at = line + strlen(begin);
  const double steps = strtod(at, &at), position = strtod(at + 2, &at);
  const double reaction = a->reaction.off > 0.0 ? strtod(at + 2, &at) : 0.0;
  const double factor = singular ? 4.0 : 2.0;
  return fabs((double)a->steps / steps - 1.0) < 0.1 && is_like(a->position.off, position, factor) &&
         is_like(a->reaction.off, reaction, factor);
}

static int check(const char *path, const char *name, const example_windows *windows) {
  const double rtol = as_default_integrator_def().tolerance.rtol;
  const example_accuracy a = example_compare(path, AS_METHOD_INDEX2, rtol, 0.1 * rtol, windows);
  if (a.status) fail_msg("%s: %s", name, a.message);
  printf("%-20s %6ld steps, %5ld rows: %.1e (%s), %.1e (%s)\n", name, a.steps, a.rows,
         a.position.off, a.position.name, a.reaction.off, a.reaction.name);
  assert_true(a.rows > 20);
  const bool shown = is_shown(name, &a, windows != NULL);
  if (!shown) print_error("%s: docs/automatic-steps.md shows other numbers\n", name);
  if (a.position.off <= 0.9e-3 && a.reaction.off <= 0.9e-2) return shown ? 0 : 1;
  print_error("%s: %s is off by %.2g at %g s, %s by %.2g at %g s\n", name, a.position.name,
              a.position.off, a.position.time, a.reaction.name, a.reaction.off, a.reaction.time);
  return 1;
}

static void test_default_tolerance(void **state) {
  (void)state;
  int failures = 0;
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; ++i) {
    char path[1024];
    snprintf(path, sizeof path, SOURCE_DIR "/examples/machines/%s/model.yaml", machines[i]);
    failures += check(path, machines[i], NULL);
  }
  failures += check(SOURCE_DIR "/examples/machines/landing-gear/extension.yaml",
                    "landing-gear/extension", NULL);
  failures +=
      check(SOURCE_DIR "/examples/machines/n-four-bar/model.yaml", "n-four-bar", &flat_windows);
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_default_tolerance)};
  return cmocka_run_group_tests_name("examples_accuracy", tests, NULL, NULL);
}
