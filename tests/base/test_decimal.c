/// Shortest decimals: read back they are the same numbers, printf needs as many digits, and of these they are the nearest.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"

enum { NUMBERS = 100000 };

static double number_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static int digits_in(const char *text) {
  int n = 0, zeros = 0;
  bool first = true;
  for (; *text && *text != 'e'; ++text) {
    if (*text < '0' || *text > '9' || (first && *text == '0')) continue;
    first = false;
    ++n;
    zeros = *text == '0' ? zeros + 1 : 0;
  }
  return n - zeros;
}

/// How many digits printf needs for x, and what it writes then.
static int least_digits(double x, char text[40]) {
  for (int digits = 1;; ++digits) {
    snprintf(text, 40, "%.*g", digits, x);
    if (digits == 17 || strtod(text, NULL) == x) return digits;
  }
}

static void check(double x) {
  char text[ASI_DECIMAL + 1], printed[40];
  const size_t n = asi_decimal(text, x);
  assert_true(n < sizeof text);
  text[n] = '\0';
  const int least = least_digits(x, printed);
  if (strtod(text, NULL) != x || digits_in(text) > least)
    fail_msg("%a is written as %s; printf has %s", x, text, printed);
  // At the lower end of a power of two there may be a shorter one that printf does not find.
  if (digits_in(text) == least && least < 17 && strcmp(text, printed) != 0 &&
      (strchr(text, 'e') != NULL) == (strchr(printed, 'e') != NULL))
    fail_msg("%a is written as %s, nearer is %s", x, text, printed);
}

static void test_any_number(void **state) {
  (void)state;
  uint64_t s = 88172645463325252u;
  for (int i = 0; i < NUMBERS; ++i) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    if ((s >> 52 & 0x7ff) != 0x7ff) check(number_of(s));
  }
}

/// Each power of two and its neighbours: there the intervals are lopsided.
static void test_powers_of_two(void **state) {
  (void)state;
  for (uint64_t exponent = 0; exponent < 0x7ff; ++exponent)
    for (int i = -1; i <= 1; ++i)
      if (exponent > 0 || i > 0) check(number_of((exponent << 52) + (uint64_t)i));
}

/// What people write, and what follows from it by a little arithmetic.
static void test_plain_numbers(void **state) {
  (void)state;
  for (int i = 1; i < NUMBERS; ++i) {
    check(i);
    check(i / 1000.0);
    check(i * 0.001);
    check(i * 1e-9);
    check(i * 1e17);
  }
}

static void test_layout(void **state) {
  (void)state;
  static const struct {
    double x;
    const char *text;
  } of[] = {{0.0, "0"},
            {-0.0, "-0"},
            {1.0, "1"},
            {-1.5, "-1.5"},
            {0.1, "0.1"},
            {1.0 / 3.0, "0.3333333333333333"},
            {100.0, "100"},
            {12.25, "12.25"},
            {1e-4, "0.0001"},
            {1.5e-5, "1.5e-05"},
            {1e16, "10000000000000000"},
            {1e17, "1e+17"},
            {1e23, "1e+23"},
            {9007199254740993.0, "9007199254740992"},
            {5e-324, "5e-324"},
            {2.2250738585072014e-308, "2.2250738585072014e-308"},
            {-1.7976931348623157e308, "-1.7976931348623157e+308"},
            {(double)INFINITY, "inf"},
            {-(double)INFINITY, "-inf"},
            {-(double)NAN, "nan"}};
  for (size_t i = 0; i < sizeof of / sizeof *of; ++i) {
    char text[ASI_DECIMAL + 1];
    const size_t n = asi_decimal(text, of[i].x);
    text[n] = '\0';
    assert_string_equal(text, of[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_number),
      cmocka_unit_test(test_powers_of_two),
      cmocka_unit_test(test_plain_numbers),
      cmocka_unit_test(test_layout),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
