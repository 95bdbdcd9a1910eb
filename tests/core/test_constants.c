/// The table of numerical constants: the page shows it as it is, a run is what the numbers say, and nonsense is refused.
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
#include "core/stepper/constants.h"
#include "problems/problems.h"

/// The number in the second column of the row of docs/constants.md that begins with a name; NAN: there is none.
static double shown(FILE *page, const char *name, const char *label) {
  char line[1000], head[100], mark[32];
  snprintf(head, sizeof head, "| `%s` | ", name);
  snprintf(mark, sizeof mark, "| [%s] |", label);
  rewind(page);
  while (fgets(line, sizeof line, page))
    if (strncmp(line, head, strlen(head)) == 0 && strstr(line, mark))
      return strtod(line + strlen(head), NULL);
  return (double)NAN;
}

static void test_page(void **state) {
  (void)state;
  FILE *page = fopen(SOURCE_DIR "/docs/constants.md", "r");
  assert_non_null(page);
  int count = 0, rows = 0;
  const asi_constant *row = asi_constants(&count);
  assert_int_equal(sizeof(as_expert), (size_t)(count + 1) * sizeof(double)); // and the cookie
  for (int i = 0; i < count; ++i) {
    if (!(shown(page, row[i].name, row[i].label) == row[i].value))
      fail_msg("docs/constants.md does not show %s = %g [%s]", row[i].name, row[i].value,
               row[i].label);
    assert_true(strlen(row[i].why) > 10 && strlen(row[i].measured) > 5);
    assert_int_equal(row[i].offset, (size_t)(i + 1) * sizeof(double));
  }
  char line[1000];
  rewind(page);
  while (fgets(line, sizeof line, page)) rows += strncmp(line, "| `", 3) == 0;
  fclose(page);
  assert_int_equal(rows, count);
}

/// Steps, iterations and factorizations of a pendulum.
static as_statistics work_of(const as_integrator_def *how) {
  const test_problem *of = problem_pendulum();
  as_problem *p = NULL;
  as_integrator *s = NULL;
  as_error error;
  as_statistics work = {0};
  const as_initial from = {.q = of->q0, .v = of->v0};
  if (as_problem_create(&of->def, &p, &error) || as_integrator_create(p, how, &s, &error) ||
      as_integrator_start(s, &from, NULL, &error) || as_integrator_advance(s, 1.0, &error) ||
      as_integrator_statistics(s, &work, &error))
    fail_msg("%s", error.message);
  as_integrator_destroy(s);
  as_problem_destroy(p);
  return work;
}

/// The defaults are what no numbers at all are; others are taken, and copied.
static void test_taken(void **state) {
  (void)state;
  as_integrator_def how = as_default_integrator_def();
  const as_statistics plain = work_of(&how);
  as_expert expert = as_default_expert();
  how.expert = &expert;
  const as_statistics same = work_of(&how);
  assert_true(same.steps == plain.steps && same.newton_iterations == plain.newton_iterations);
  expert.step_safety = 0.5; // half the size
  assert_true((double)work_of(&how).steps > 1.3 * (double)plain.steps);
  expert = as_default_expert();
  how.step = 0.01;
  how.expert = NULL;
  const as_statistics fixed = work_of(&how);
  expert.newton_accuracy = 1e-6;
  how.expert = &expert;
  assert_true(work_of(&how).newton_iterations > fixed.newton_iterations);
}

static void test_refused(void **state) {
  (void)state;
  const test_problem *of = problem_pendulum();
  as_problem *p = NULL;
  as_integrator *s = NULL;
  as_error error;
  assert_int_equal(as_problem_create(&of->def, &p, &error), AS_OK);
  as_integrator_def how = as_default_integrator_def();
  as_expert expert = {0};
  how.expert = &expert;
  assert_int_equal(as_integrator_create(p, &how, &s, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "as_default_expert"));
  static const double bad[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
  for (int k = 0; k < 4; ++k) {
    expert = as_default_expert();
    expert.vibration_motion = bad[k];
    assert_int_equal(as_integrator_create(p, &how, &s, &error), AS_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "expert.vibration_motion"));
    assert_null(s);
  }
  expert = as_default_expert();
  expert.parasite_opposite = -0.5; // this one is negative
  assert_int_equal(as_integrator_create(p, &how, &s, &error), AS_OK);
  as_integrator_destroy(s);
  as_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_page), cmocka_unit_test(test_taken),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
