/// Comma-separated values: what is read and what is refused.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "file/csv.h"

/// Reads and compares all numbers; a NAN ends what is expected.
static void expect(const char *text, int x, int y, const double *expected) {
  const int column[2] = {x, y};
  const asi_csv csv = asi_csv_parse(text, strlen(text), column);
  if (csv.number == NULL) fail_msg("\"%s\": line %d: %s", text, csv.line, csv.sentence);
  int n = 0;
  for (; !isnan(expected[n]); ++n)
    if (n >= 2 * csv.n || csv.number[n] != expected[n])
      fail_msg("\"%s\": number %d is not %g", text, n, expected[n]);
  assert_int_equal(n, 2 * csv.n);
  free(csv.number);
}

static void refuse(const char *text, int x, int y, int line, const char *sentence) {
  const int column[2] = {x, y};
  const asi_csv csv = asi_csv_parse(text, strlen(text), column);
  assert_null(csv.number);
  assert_int_equal(csv.n, 0);
  assert_string_equal(csv.sentence, sentence);
  assert_int_equal(csv.line, line);
}

static void test_read(void **state) {
  (void)state;
  const double pairs[] = {0, 1, 2, -3.5, (double)NAN};
  expect("0,1\n2,-3.5", 1, 2, pairs);
  expect("x,y\n0,1\n2,-3.5\n", 1, 2, pairs);
  expect("\xef\xbb\xbf# c\r\n\r\n  x ; y \r\n0;1\r\n 2 ; -3.5 ;\r\n\r\n", 1, 2, pairs);
  expect("time force\n0\t1\n+2.   -.35e1\n", 1, 2, pairs);
  expect("a,b,c\n0,n/a,1\n2,,-3.5\n", 1, 3, pairs);
  expect("9,1,0\n9,2,-3.5\n", 2, 2, (double[]){1, 1, 2, 2, (double)NAN});
  expect("-3.5,2\n1,0\n", 1, 2, (double[]){-3.5, 2, 1, 0, (double)NAN});
  expect("1,0\n-3.5,2\n", 2, 1, (double[]){0, 1, 2, -3.5, (double)NAN});
}

static void test_refused(void **state) {
  (void)state;
  refuse("", 1, 2, 0, "it needs two rows of numbers at least");
  refuse("x,y\n0,1\n", 1, 2, 0, "it needs two rows of numbers at least");
  refuse("x,y\nz,w\n0,1\n1,2\n", 1, 2, 2, "\"z\" in column 1 is no number");
  refuse("x,1\n1,2\n2,3\n", 1, 2, 1, "\"x\" in column 1 is no number");
  refuse("# c\n0,1\n1,\n", 1, 2, 3, "\"\" in column 2 is no number");
  refuse("0,1\n1\n", 1, 2, 2, "there is no column 2");
  refuse("0,1\n0,1\n", 1, 2, 2, "x must increase, but 0 follows 0");
  refuse("0;1,5\n1;2,5\n", 1, 2, 1, "\"1,5\" in column 2 is no number");
  refuse("0,1\n1,1e999\n", 1, 2, 2, "a number is too large");
  refuse("0,1\n1,nan\n", 1, 2, 2, "\"nan\" in column 2 is no number");
  refuse("0,1\n1,0x10\n", 1, 2, 2, "\"0x10\" in column 2 is no number");
  refuse("0,1\n1,\x01\xc3\xa4\n", 1, 2, 2, "\"???\" in column 2 is no number");
}

/// Zeros inside, and a million rows but not one more.
static void test_limits(void **state) {
  (void)state;
  const int column[2] = {1, 2};
  const char zero[] = "0,1\n1,2\0003\n";
  asi_csv csv = asi_csv_parse(zero, sizeof zero - 1, column);
  assert_string_equal(csv.sentence, "\"2?3\" in column 2 is no number");
  const size_t room = 16 * ((size_t)ASI_CSV_ROWS + 1);
  char *text = malloc(room);
  size_t used = 0;
  for (int i = 0; i <= ASI_CSV_ROWS; ++i) {
    if (i == ASI_CSV_ROWS) {
      csv = asi_csv_parse(text, used, column);
      assert_int_equal(csv.n, ASI_CSV_ROWS);
      free(csv.number);
    }
    char digits[8];
    int n = 0;
    for (int rest = i; n == 0 || rest > 0; rest /= 10) digits[n++] = (char)('0' + rest % 10);
    while (n > 0) text[used++] = digits[--n];
    for (const char *rest = ",1\n"; *rest; ++rest) text[used++] = *rest;
  }
  csv = asi_csv_parse(text, used, column);
  assert_null(csv.number);
  assert_int_equal(csv.line, ASI_CSV_ROWS + 1);
  assert_string_equal(csv.sentence, "more than 1000000 rows");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
