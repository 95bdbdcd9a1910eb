/// Functions of one variable: tables, straight lines, C functions; values, derivatives, integrals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elements/curve.h"

static asi_curve make(const as_curve *def) {
  asi_curve c;
  as_error error;
  if (asi_curve_init(&c, def, "The curve", &error)) fail_msg("%s", error.message);
  return c;
}

static double value(const asi_curve *c, double x, int derivative) {
  double out[3];
  assert_int_equal(asi_curve_evaluate(c, x, out), AS_DONE);
  return out[derivative];
}

static int wave(double x, double out[3], void *user) {
  (void)user;
  out[0] = sin(x);
  out[1] = cos(x);
  out[2] = -sin(x);
  return AS_DONE;
}

/// Derivatives agree with differences of what they are derivatives of; the value with that of the integral.
static void check_consistent(const asi_curve *c, double from, double to) {
  const double e = 1e-5;
  for (int i = 0; i <= 40; ++i) {
    const double x = from + (to - from) * (i + 0.37) / 41.0;
    for (int k = 0; k < 2; ++k)
      assert_true(fabs((value(c, x + e, k) - value(c, x - e, k)) / (2.0 * e) - value(c, x, k + 1)) <
                  1e-6);
    const double slope = (asi_curve_integral(c, x + e) - asi_curve_integral(c, x - e)) / (2.0 * e);
    assert_true(fabs(slope - value(c, x, 0)) < 1e-6);
  }
  assert_true(fabs(asi_curve_integral(c, 0.0)) < 1e-14);
}

static void test_line_and_function(void **state) {
  (void)state;
  asi_curve line = make(&(as_curve){.constant = 2.0, .slope = -3.0});
  check_consistent(&line, -2.0, 2.0);
  assert_true(value(&line, 2.0, 0) == -4.0);
  asi_curve function = make(&(as_curve){.function = wave});
  check_consistent(&function, -3.0, 3.0);
  assert_true(fabs(asi_curve_integral(&function, 2.0) - (1.0 - cos(2.0))) < 1e-12);
}

enum { POINTS = 9 };

static void test_spline(void **state) {
  (void)state;
  double x[POINTS], y[POINTS];
  for (int i = 0; i < POINTS; ++i) {
    x[i] = -1.0 + i * (0.2 + 0.02 * i);
    y[i] = sin(2.0 * x[i]);
  }
  asi_curve c = make(&(as_curve){.x = x, .y = y, .n = POINTS});
  check_consistent(&c, -1.5, x[POINTS - 1] + 0.5);
  for (int i = 0; i < POINTS; ++i) {
    assert_true(fabs(value(&c, x[i], 0) - y[i]) < 1e-14);
    for (int k = 1; k < 3; ++k) // two continuous derivatives, at the ends too
      assert_true(fabs(value(&c, x[i] + 1e-9, k) - value(&c, x[i] - 1e-9, k)) < 1e-6);
  }
  assert_true(fabs(value(&c, 0.5, 0) - sin(1.0)) < 1e-2);
  asi_curve_free(&c);
}

static void test_monotone(void **state) {
  (void)state;
  const double x[] = {0.0, 1.0, 1.2, 2.0, 5.0}, y[] = {0.0, 0.0, 3.0, 3.1, 3.1};
  asi_curve c = make(&(as_curve){.x = x, .y = y, .n = 5, .interpolation = AS_MONOTONE});
  double last = -1e-15;
  for (int i = 0; i <= 500; ++i) {
    const double now = value(&c, 0.01 * i, 0);
    assert_true(now >= last - 1e-14 && now <= 3.1 + 1e-14);
    last = now;
  }
  for (int i = 0; i < 5; ++i) {
    assert_true(fabs(value(&c, x[i], 0) - y[i]) < 1e-14);
    assert_true(fabs(value(&c, x[i] + 1e-9, 1) - value(&c, x[i] - 1e-9, 1)) < 1e-5);
  }
  asi_curve_free(&c);
}

/// Straight pieces: by hand, and at a point of the table the slope of the piece to its right, at the last one that to
/// its left.
static void test_linear(void **state) {
  (void)state;
  const double x[] = {-1.0, 0.5, 2.0, 4.0}, y[] = {0.0, 3.0, 3.0, -1.0};
  const double slope[] = {2.0, 0.0, -2.0, -2.0};
  asi_curve c = make(&(as_curve){.x = x, .y = y, .n = 4, .interpolation = AS_LINEAR});
  for (int i = 0; i < 4; ++i) {
    assert_true(value(&c, x[i], 0) == y[i]);
    assert_true(value(&c, x[i], 1) == slope[i]);
    assert_true(value(&c, x[i], 2) == 0.0);
  }
  const double place[] = {-2.0, -0.25, 1.0, 3.0, 5.0}, expected[] = {-2.0, 1.5, 3.0, 1.0, -3.0};
  for (int i = 0; i < 5; ++i) assert_true(fabs(value(&c, place[i], 0) - expected[i]) < 1e-15);
  check_consistent(&c, -3.0, 6.0);
  // From 0 to 3: a trapezium 2 to 3 over 0.5, 3 over 1.5, and 3 to 1 over 1.
  assert_true(fabs(asi_curve_integral(&c, 3.0) - (1.25 + 4.5 + 2.0)) < 1e-14);
  asi_curve copy;
  as_error error;
  assert_int_equal(asi_curve_copy(&copy, &c, &error), AS_OK);
  asi_curve_free(&c);
  assert_true(value(&copy, 3.0, 0) == 1.0);
  asi_curve_free(&copy);
}

/// Two points make a straight line, with any interpolation.
static void test_two_points(void **state) {
  (void)state;
  const double x[] = {1.0, 3.0}, y[] = {2.0, -2.0};
  for (int k = 0; k < 3; ++k) {
    asi_curve c = make(&(as_curve){.x = x, .y = y, .n = 2, .interpolation = (as_interpolation)k});
    for (int i = -10; i <= 10; ++i) assert_true(fabs(value(&c, i, 0) - (4.0 - 2.0 * i)) < 1e-12);
    check_consistent(&c, -1.0, 5.0);
    asi_curve_free(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_line_and_function),
                                     cmocka_unit_test(test_spline), cmocka_unit_test(test_monotone),
                                     cmocka_unit_test(test_linear),
                                     cmocka_unit_test(test_two_points)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
