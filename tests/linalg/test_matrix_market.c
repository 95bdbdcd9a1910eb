/// Sparse matrices: made of entries, read from Matrix Market texts and files; every refusal with its line.
#define _POSIX_C_SOURCE 200809L // setenv
#include <locale.h>
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
#include "rig.h"

static as_sparse *parse(const char *text) {
  as_error error;
  as_sparse *m = NULL;
  if (as_sparse_parse(text, strlen(text), "test.mtx", &m, &error)) fail_msg("%s", error.message);
  return m;
}

/// Compares with a dense matrix by rows; entries that are not stored are zero.
static void assert_matrix(const as_sparse *m, int rows, int cols, const double *expected,
                          int stored) {
  assert_int_equal(m->rows, rows);
  assert_int_equal(m->cols, cols);
  assert_int_equal(m->col_start[cols], stored);
  double found[64] = {0};
  for (int j = 0; j < cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k) {
      assert_true(k == m->col_start[j] || m->row[k] > m->row[k - 1]);
      found[m->row[k] * cols + j] = m->value[k];
    }
  for (int i = 0; i < rows * cols; ++i) assert_true(found[i] == expected[i]);
}

static void test_coordinate(void **state) {
  (void)state;
  as_sparse *m = parse("%%MatrixMarket matrix coordinate real general\n"
                       "% a comment\n\n"
                       "  3 2 5  \r\n"
                       "3 1 -1.5e2\n"
                       "1 2 .25\n"
                       "% another one\n"
                       "\t1\t1\t+2.D+01\n"
                       "\n"
                       "3 1 50\n"    // at one place with the first: added up
                       "2 2 0\n\n"); // a zero is kept
  const double expected[] = {20, 0.25, 0, 0, -100, 0};
  assert_matrix(m, 3, 2, expected, 4);
  as_sparse_destroy(m);
  m = parse(
      "%%matrixmarket MATRIX Coordinate INTEGER Symmetric\n2 2 2\n1 1 4\n2 1 -3"); // no newline
  assert_matrix(m, 2, 2, (const double[]){4, -3, -3, 0}, 3);
  as_sparse_destroy(m);
  m = parse("%%MatrixMarket matrix coordinate real general\n2 3 0\n");
  assert_matrix(m, 2, 3, (const double[]){0, 0, 0, 0, 0, 0}, 0);
  as_sparse_destroy(m);
}

static void test_array(void **state) {
  (void)state;
  as_sparse *m = parse("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n0\n5\n6e0\n");
  assert_matrix(m, 2, 3, (const double[]){1, 3, 5, 2, 0, 6}, 5);
  as_sparse_destroy(m);
  m = parse("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  assert_matrix(m, 3, 3, (const double[]){1, 2, 3, 2, 4, 5, 3, 5, 6}, 9);
  as_sparse_destroy(m);
}

/// Sets a locale with a decimal comma, one of the system's or one made here; false if there is none.
static bool set_comma(void) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "it_IT.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (setlocale(LC_ALL, names[i])) return true;
  // NOLINTNEXTLINE(cert-env33-c)
  const int made = system("mkdir -p locales && test -d locales/de_DE.UTF-8 || "
                          "localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 >/dev/null 2>&1");
  return made == 0 && setenv("LOCPATH", "locales", 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
}

static void check_numbers(void) {
  as_sparse *m = parse("%%MatrixMarket matrix array real general\n4 1\n"
                       "0.1\n-1.7976931348623157e308\n4.9406564584124654e-324\n123456789.123\n");
  assert_true(m->value[0] == 0.1);
  assert_true(m->value[1] == -1.7976931348623157e308);
  assert_true(m->value[2] == 4.9406564584124654e-324);
  assert_true(m->value[3] == 123456789.123);
  as_sparse_destroy(m);
}

/// Numbers are read as C has them, also where the decimal point is a comma.
static void test_numbers(void **state) {
  (void)state;
  check_numbers();
  if (!set_comma()) {
    print_message("  no locale with a decimal comma\n");
    return;
  }
  assert_true(strtod("1,5", NULL) == 1.5);
  check_numbers();
  setlocale(LC_ALL, "C");
}

#define HEAD "%%MatrixMarket matrix coordinate real general\n"
#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n"
#define ARRAY "%%MatrixMarket matrix array real general\n"

static const struct {
  const char *text, *sentence;
} refused[] = {
    {"", "test.mtx:1: The file is empty."},
    {"1 1 1\n", "test.mtx:1: A Matrix Market file begins with %%MatrixMarket."},
    {"\n", "test.mtx:1: A Matrix Market file begins with %%MatrixMarket."},
    {"%%MatrixMarket\n", "test.mtx:1: It holds a \"\", not a matrix."},
    {"%%MatrixMarket vector coordinate real general\n",
     "test.mtx:1: It holds a \"vector\", not a matrix."},
    {"%%MatrixMarket matrix dense real general\n",
     "test.mtx:1: The format \"dense\" is neither coordinate nor array."},
    {"%%MatrixMarket matrix coordinate complex general\n",
     "test.mtx:1: A complex matrix is of no use here: real and integer ones are."},
    {"%%MatrixMarket matrix coordinate pattern general\n",
     "test.mtx:1: A pattern matrix is of no use here: real and integer ones are."},
    {"%%MatrixMarket matrix coordinate double general\n",
     "test.mtx:1: The field \"double\" is neither real nor integer."},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n",
     "test.mtx:1: A skew-symmetric matrix is of no use here: general and symmetric ones are."},
    {"%%MatrixMarket matrix coordinate real Hermitian\n",
     "test.mtx:1: A Hermitian matrix is of no use here: general and symmetric ones are."},
    {"%%MatrixMarket matrix coordinate real diagonal\n",
     "test.mtx:1: The symmetry \"diagonal\" is neither general nor symmetric."},
    {"%%MatrixMarket matrix coordinate real general 5\n",
     "test.mtx:1: \"5\" is too much on this line."},
    {HEAD "% only a comment\n", "test.mtx:2: The file ends before the size of the matrix."},
    {HEAD "0 1 1\n1 1 1\n", "test.mtx:2: The number of rows is 0; it must be from 1 to 10000000."},
    {HEAD "1 99999999999999999999 1\n",
     "test.mtx:2: The number of columns is 99999999999999999999; it must be from 1 to 10000000."},
    {HEAD "-2 2 1\n", "test.mtx:2: The number of rows \"-2\" is not a whole number."},
    {HEAD "2.0 2 1\n", "test.mtx:2: The number of rows \"2.0\" is not a whole number."},
    {HEAD "2 2\n", "test.mtx:2: The number of entries is missing."},
    {HEAD "2 2 1 1\n1 1 1\n", "test.mtx:2: \"1\" is too much on this line."},
    {HEAD "2 2 1000000000\n1 1 1\n", "test.mtx:2: 1000000000 entries are announced, more than the "
                                     "rest of the file can hold."},
    {HEAD "2 2 2\n1 1 1.00000\n\n", "test.mtx:4: The file ends after 1 of 2 entries."},
    {HEAD "2 2 1\n1 1 1\n2 2 1\n", "test.mtx:4: There are more than the 1 entries announced."},
    {HEAD "2 2 1\n3 1 1\n", "test.mtx:3: The row is 3; it must be from 1 to 2."},
    {HEAD "2 2 1\n1 0 1\n", "test.mtx:3: The column is 0; it must be from 1 to 2."},
    {HEAD "2 2 1\n1 1  \n", "test.mtx:3: The value is missing."},
    {HEAD "2 2 1\n1 1 nan\n", "test.mtx:3: \"nan\" is not a number."},
    {HEAD "2 2 1\n1 1 inf\n", "test.mtx:3: \"inf\" is not a number."},
    {HEAD "2 2 1\n1 1 0x10\n", "test.mtx:3: \"0x10\" is not a number."},
    {HEAD "2 2 1\n1 1 1,5\n", "test.mtx:3: \"1,5\" is not a number."},
    {HEAD "2 2 1\n1 1 1e\n", "test.mtx:3: \"1e\" is not a number."},
    {HEAD "2 2 1\n1 1 1e999\n", "test.mtx:3: The number 1e999 is too large."},
    {HEAD "2 2 1\n1 1 1 0\n", "test.mtx:3: \"0\" is too much on this line."},
    {HEAD "2 2 2\n1 1 1.5e308\n1 1 1.5e308\n", "The sum of the entries at (0, 0) is too large."},
    {SYMMETRIC "2 3 1\n1 1 1\n", "test.mtx:2: A symmetric matrix cannot be 2 x 3."},
    {SYMMETRIC "2 2 1\n1 2 1\n",
     "test.mtx:3: Entry (1, 2) is above the diagonal of a symmetric matrix."},
    {ARRAY "2 2\n1\n2\n3\n\n", "test.mtx:6: The file ends after 3 of 4 values."},
    {ARRAY "10000000 10000000\n1\n",
     "test.mtx:2: An array of 10000000 x 10000000 has too many entries."},
    {ARRAY "2 2\n1 2\n3 4\n\n", "test.mtx:3: \"2\" is too much on this line."},
    {"%%MatrixMarket matrix array integer general\n1 1\n1.5\n",
     "test.mtx:3: The number 1.5 is not an integer, as the head says."},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
    as_error error = {0};
    as_sparse *m = (as_sparse *)&error; // must become NULL
    const as_status status =
        as_sparse_parse(refused[i].text, strlen(refused[i].text), "test.mtx", &m, &error);
    if (strcmp(error.message, refused[i].sentence) != 0 || m != NULL || status == AS_OK)
      fail_msg("%s says \"%s\" instead of \"%s\"", refused[i].text, error.message,
               refused[i].sentence);
  }
}

static void test_files(void **state) {
  (void)state;
  char name[] = "matrix_market_XXXXXX.mtx";
  as_error error = {0};
  as_sparse *m = NULL;
  snprintf(name, sizeof name, "matrix_market_%06lx.mtx",
           (unsigned long)(uintptr_t)&error & 0xffffff);
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  fputs(SYMMETRIC "3 3 4\n1 1 2\n2 2 2\n3 3 2\n3 1 -1\n", file);
  assert_int_equal(fclose(file), 0);
  const as_status status = as_sparse_read(name, &m, &error);
  remove(name);
  if (status) fail_msg("%s", error.message);
  assert_matrix(m, 3, 3, (const double[]){2, 0, -1, 0, 2, 0, -1, 0, 2}, 5);
  as_sparse_destroy(m);
  assert_int_equal(as_sparse_read("no/such/file.mtx", &m, &error), AS_ERR_FILE);
  assert_null(m);
  assert_string_equal(error.message,
                      "no/such/file.mtx cannot be opened: No such file or directory.");
  assert_int_equal(as_sparse_read(".", &m, &error), AS_ERR_FILE);
  assert_string_equal(error.message,
                      ". cannot be opened: it is no file, but a folder, a device or a pipe.");
}

static void test_entries(void **state) {
  (void)state;
  as_error error = {0};
  as_sparse *m = NULL;
  const as_entry outside = {2, 0, 1.0}, endless = {0, 1, (double)INFINITY};
  assert_int_equal(as_sparse_create(2, 2, &outside, 1, &m, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "Entry (2, 0) is outside a matrix of 2 x 2.");
  assert_int_equal(as_sparse_create(2, 2, &endless, 1, &m, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "Entry (0, 1) is inf.");
  assert_int_equal(as_sparse_create(0, 2, NULL, 0, &m, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message,
                      "A matrix of 0 x 2 is not possible: 1 to 10000000 rows and columns are.");
  assert_null(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coordinate), cmocka_unit_test(test_array),
      cmocka_unit_test(test_numbers),    cmocka_unit_test(test_refused),
      cmocka_unit_test(test_files),      cmocka_unit_test(test_entries)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
