/// Automatic steps keep what they promise: errors fall with the tolerance, and with order 2 in the number of
/// steps, in every variable; a stiff vibration is damped, not followed.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "problems/automatic.h"

enum { TOLERANCES = 5 };
static const double tolerances[TOLERANCES] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7};

typedef struct series {
  double steps[TOLERANCES];
  double overall[AUTOMATIC_VARIABLES][TOLERANCES];
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
      s.at_end[i] = fmax(s.at_end[i], r.at_end[k]);
    }
  }
  return s;
}

/// Fitted slopes of an error against the steps, at least `order`, and against rtol, at least 1/2; ten times less
/// rtol never makes it more than twice as large. Returns how often that fails. With the largest rtol errors can be
/// a fifth of the motion: where order is asked for it is left out.
static int check(const automatic_problem *p, const char *what, const series *s, const double *error,
                 double order) {
  const double by_steps = -automatic_slope(s->steps + 1, error + 1, TOLERANCES - 1);
  const double by_rtol = automatic_slope(tolerances, error, TOLERANCES);
  double growth = 0.0;
  for (int i = 1; i < TOLERANCES; ++i) growth = fmax(growth, error[i] / error[i - 1]);
  printf("%-18s %-6s", p->name, what);
  for (int i = 0; i < TOLERANCES; ++i) printf(" %8.1e/%-5.0f", error[i], s->steps[i]);
  printf(" slopes %.2f %.2f, growth %.2f\n", by_steps, by_rtol, growth);
  int failures = 0;
  if (!(by_steps >= order)) {
    print_error("%s: the error of %s falls with order %.2f < %g in the steps\n", p->name, what,
                by_steps, order);
    ++failures;
  }
  if (!(by_rtol >= 0.5)) {
    print_error("%s: the error of %s falls like rtol^%.2f, not rtol^0.5\n", p->name, what, by_rtol);
    ++failures;
  }
  if (!(growth <= 2.0)) {
    print_error("%s: the error of %s grows by %.2f where rtol falls\n", p->name, what, growth);
    ++failures;
  }
  return failures;
}

static int check_problem(const automatic_problem *p, as_method method) {
  const series s = make_series(p, method);
  int failures = 0;
  for (int k = 0; k < AUTOMATIC_VARIABLES; ++k)
    if (p->count[k] > 0) failures += check(p, automatic_variable_name(k), &s, s.overall[k], 1.8);
  // At one time alone errors may pass through zero: the tolerance is to be followed there, no more.
  return failures + check(p, "end", &s, s.at_end, 0.0);
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
  static const char *const names[] = {"double_pendulum", "heavy_top_slow", "andrews"};
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

/// The spring vibrates with 10000 rad/s or more: two seconds of it, with one step for each radian, would be 20000
/// steps. SOI2 takes about as many of them as index-2: the spring acts on both of its stages.
static void test_stiff_vibration_is_not_followed(void **state) {
  (void)state;
  for (int i = 0; i < automatic_count(); ++i) {
    if (strcmp(automatic_name(i), "stiff_pendulum") != 0) continue;
    automatic_problem *p = automatic_open(i);
    const series s = make_series(p, AS_METHOD_INDEX2), soi2 = make_series(p, AS_METHOD_SOI2);
    automatic_close(p);
    assert_true(s.steps[0] < 300.0);
    assert_true(s.steps[TOLERANCES - 1] < 4000.0);
    for (int k = 0; k < TOLERANCES; ++k) assert_true(soi2.steps[k] < 1.2 * s.steps[k]);
    return;
  }
  fail_msg("there is no stiff pendulum");
}

/// [SC.9] Andrews' squeezer has one freedom, and most of v''' is what its constraints bend the motion by: with all of that
/// counted, 643 steps were taken where 380 give the same error.
static void test_constraints_take_up_errors(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  for (int i = 0; i < automatic_count(); ++i) {
    if (strcmp(automatic_name(i), "andrews") != 0) continue;
    automatic_problem *p = automatic_open(i);
    for (int m = 0; m < 3; ++m) {
      const series s = make_series(p, methods[m]);
      assert_true(s.steps[2] < 450.0 && s.at_end[2] < 3e-3);
    }
    automatic_close(p);
    return;
  }
  fail_msg("there is no squeezer");
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
