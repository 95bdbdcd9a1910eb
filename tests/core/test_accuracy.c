/// Automatic steps keep what they promise: errors are about the tolerance and fall in proportion to it, and with order 2 in
/// the number of steps, in every variable; a stiff vibration is damped, not followed. The table of docs/automatic-steps.md
/// is what comes out.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problems/automatic.h"

enum { TOLERANCES = 5 };
static const double tolerances[TOLERANCES] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

typedef struct series {
  double steps[TOLERANCES];
  double overall[AUTOMATIC_VARIABLES][TOLERANCES];
  double worst[TOLERANCES];  ///< of these
  double at_end[TOLERANCES]; ///< of the worst variable
} series;

static series make_series(const automatic_problem *p, as_method method) {
  series s = {.at_end = {0}};
  for (int i = 0; i < TOLERANCES; ++i) {
    as_integrator_def def = as_default_integrator_def();
    def.method = method;
    def.tolerance.rtol = tolerances[i];
    const automatic_run r = automatic_integrate(p, &def, AUTOMATIC_TIMES);
    if (r.status) fail_msg("%s: %s: %s", p->name, as_status_name(r.status), r.error.message);
    s.steps[i] = (double)r.work.steps;
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) {
      s.overall[k][i] = r.overall[k];
      s.worst[i] = fmax(s.worst[i], r.overall[k]);
      s.at_end[i] = fmax(s.at_end[i], r.at_end[k]);
    }
  }
  return s;
}

/// How many tolerances count: with 1e-7 the stiff spring's vibration, which steps resolve by then, is in its force in index-3 form.
static int count_of(const automatic_problem *p, as_method method) {
  const bool vibrates = method == AS_METHOD_INDEX3 && strcmp(p->name, "stiff_pendulum") == 0;
  return vibrates ? TOLERANCES - 1 : TOLERANCES;
}

/// Fitted slopes of an error against the steps, at least `order`, and against rtol, 1 to `slope_off`; ten times less
/// rtol never makes it more than twice as large. Returns how often that fails.
static int check(const automatic_problem *p, int n, const char *what, const series *s,
                 const double *error, double order, double slope_off) {
  const double by_steps = -automatic_slope(s->steps, error, n);
  const double by_rtol = automatic_slope(tolerances, error, n);
  double growth = 0.0;
  for (int i = 1; i < n; ++i) growth = fmax(growth, error[i] / error[i - 1]);
  printf("%-18s %-6s", p->name, what);
  for (int i = 0; i < TOLERANCES; ++i) printf(" %8.1e/%-5.0f", error[i], s->steps[i]);
  printf(" slopes %.2f %.2f, growth %.2f\n", by_steps, by_rtol, growth);
  int failures = 0;
  if (!(by_steps >= order)) {
    print_error("%s: the error of %s falls with order %.2f < %g in the steps\n", p->name, what,
                by_steps, order);
    ++failures;
  }
  if (!(fabs(by_rtol - 1.0) <= slope_off)) {
    print_error("%s: the error of %s falls like rtol^%.2f, not rtol\n", p->name, what, by_rtol);
    ++failures;
  }
  if (!(growth <= 2.0)) {
    print_error("%s: the error of %s grows by %.2f where rtol falls\n", p->name, what, growth);
    ++failures;
  }
  return failures;
}

/// The end error is the tolerance times a constant near one; and the numbers are those of the table, which holds them for all
/// problems and methods: errors to a factor of 4, over all tolerances to one of 1.5, steps to a tenth. Andrews' mechanism makes of round-off
/// in its functions errors from 0.16 to 0.38 rtol at 1e-6 (`tools/portable ... libm`), since they pass through zero.
static int check_table(const automatic_problem *p, as_method method, const series *s) {
  static const char *const names[] = {
      [AS_METHOD_INDEX3] = "index-3", [AS_METHOD_INDEX2] = "index-2", [AS_METHOD_SOI2] = "SOI2"};
  char begin[80], line[1024];
  snprintf(begin, sizeof begin, "| %s | %s |", p->name, names[method]);
  FILE *page = fopen(SOURCE_DIR "/docs/automatic-steps.md", "r");
  assert_non_null(page);
  bool found = false;
  while (!found && fgets(line, sizeof line, page)) found = strncmp(line, begin, strlen(begin)) == 0;
  fclose(page);
  if (!found) fail_msg("docs/automatic-steps.md has no line \"%s\"", begin);
  int failures = 0, n = 0;
  double apart = 0.0; // of logarithms
  char *at = line + strlen(begin);
  for (int i = 0; i < TOLERANCES; ++i) {
    const double constant = strtod(at, &at), steps = strtod(at + 1, &at);
    const double is = s->at_end[i] / tolerances[i];
    at += 2;
    if (i >= count_of(p, method)) continue;
    ++n;
    apart += log(is / constant);
    if (is > 0.05 && is < 20.0 && is < 4.0 * constant && is > 0.25 * constant &&
        fabs(s->steps[i] / steps - 1.0) < 0.1)
      continue;
    print_error("%s, %s, rtol %.0e: error %.2g rtol in %g steps, docs/automatic-steps.md has %g "
                "in %g\n",
                p->name, names[method], tolerances[i], is, s->steps[i], constant, steps);
    ++failures;
  }
  if (!(fabs(apart) < n * log(1.5))) {
    print_error("%s, %s: errors are %.2f times those of docs/automatic-steps.md\n", p->name,
                names[method], exp(apart / n));
    ++failures;
  }
  return failures;
}

static int check_problem(const automatic_problem *p, as_method method) {
  const series s = make_series(p, method);
  const int n = count_of(p, method);
  int failures = 0;
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k)
    if (p->count[k] > 0)
      failures += check(p, n, automatic_variable_name(k), &s, s.overall[k], 1.8, 0.15);
  failures += check(p, n, "worst", &s, s.worst, 1.8, 0.1);
  // At one time alone errors may pass through zero: the tolerance is to be followed there, no more.
  failures += check(p, n, "end", &s, s.at_end, 0.0, 0.15);
  return failures + check_table(p, method, &s);
}

static void test_index2(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < automatic_count(); ++i) {
    automatic_problem *p = automatic_open(i);
    failures += check_problem(p, AS_METHOD_INDEX2);
    automatic_close(p);
  }
  assert_int_equal(failures, 0);
}

static void check_some(as_method method) {
  static const char *const names[] = {"double_pendulum", "heavy_top_slow", "andrews",
                                      "stiff_pendulum"};
  int failures = 0, found = 0;
  for (int i = 0; i < automatic_count(); ++i) {
    bool wanted = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k)
      wanted = wanted || strcmp(automatic_name(i), names[k]) == 0;
    if (!wanted) continue;
    automatic_problem *p = automatic_open(i);
    failures += check_problem(p, method);
    automatic_close(p);
    ++found;
  }
  assert_int_equal(found, sizeof names / sizeof names[0]);
  assert_int_equal(failures, 0);
}

static void test_index3(void **state) {
  (void)state;
  check_some(AS_METHOD_INDEX3);
}

static void test_soi2(void **state) {
  (void)state;
  check_some(AS_METHOD_SOI2);
}

static automatic_run run_with(const automatic_problem *p, as_method method, double rtol) {
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.tolerance.rtol = rtol;
  const automatic_run r = automatic_integrate(p, &def, AUTOMATIC_TIMES);
  if (r.status) fail_msg("%s: %s: %s", p->name, as_status_name(r.status), r.error.message);
  return r;
}

static automatic_problem *open_named(const char *name) {
  for (int i = 0; i < automatic_count(); ++i)
    if (strcmp(automatic_name(i), name) == 0) return automatic_open(i);
  fail_msg("there is no %s", name);
  return NULL;
}

/// The spring vibrates with 10000 rad/s or more: two seconds of it, with one step for each radian, would be 20000
/// steps. SOI2 takes about as many of them as index-2: the spring acts on both of its stages.
static void test_stiff_vibration_is_not_followed(void **state) {
  (void)state;
  static const double rtol[] = {3e-2, 6.5e-3, 1.4e-3, 3e-4, 6.5e-5}, most[] = {300, 0, 0, 0, 4000};
  automatic_problem *p = open_named("stiff_pendulum");
  for (int i = 0; i < 5; ++i) {
    const automatic_run index2 = run_with(p, AS_METHOD_INDEX2, rtol[i]);
    const automatic_run soi2 = run_with(p, AS_METHOD_SOI2, rtol[i]);
    const double steps = (double)index2.work.steps;
    printf("rtol %.1e: index-2 %ld steps, SOI2 %ld\n", rtol[i], index2.work.steps, soi2.work.steps);
    if (most[i] > 0.0) assert_true(steps < most[i]);
    assert_true((double)soi2.work.steps < 1.2 * steps);
  }
  automatic_close(p);
}

/// [SC.9] Andrews' squeezer has one freedom, and most of e_v is what its constraints bend the motion by: with all of that
/// counted, 643 steps were taken where 380 give the same error.
static void test_constraints_take_up_errors(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  automatic_problem *p = open_named("andrews");
  for (int m = 0; m < 3; ++m) {
    const automatic_run r = run_with(p, methods[m], 1.392e-3);
    assert_true(r.work.steps < 450);
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k) assert_true(r.at_end[k] < 3.3e-3);
  }
  automatic_close(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_index2),
      cmocka_unit_test(test_index3),
      cmocka_unit_test(test_soi2),
      cmocka_unit_test(test_stiff_vibration_is_not_followed),
      cmocka_unit_test(test_constraints_take_up_errors),
  };
  return cmocka_run_group_tests_name("accuracy", tests, NULL, NULL);
}
