/// Products by panels against products entry by entry, on patterns of all kinds.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linalg/panels.h"

enum { MOST = 60 };

static unsigned seed;

static double random_number(void) {
  seed = 1103515245u * seed + 12345u;
  return (double)(seed >> 8) / 8388608.0 - 1.0;
}

/// A pattern from flags by columns.
static asi_pattern pattern_of(int rows, int cols, bool flag[MOST][MOST]) {
  static int col_start[MOST + 1], row[MOST * MOST];
  int count = 0;
  for (int j = 0; j < cols; ++j) {
    col_start[j] = count;
    for (int i = 0; i < rows; ++i)
      if (flag[j][i]) row[count++] = i;
  }
  col_start[cols] = count;
  return (asi_pattern){.rows = rows, .cols = cols, .col_start = col_start, .row = row};
}

static void compare(const double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i) assert_true(fabs(a[i] - b[i]) <= 1e-13);
}

/// All products; returns how many panels there were.
static int check(const asi_pattern *p) {
  asi_panels panels;
  double value[MOST * MOST] = {0}, x[MOST], other[MOST], y[MOST], wanted[MOST];
  assert_int_equal(asi_panels_init(&panels, p, NULL), AS_OK);
  for (int k = 0; k < p->col_start[p->cols]; ++k) value[k] = random_number();
  for (int i = 0; i < MOST; ++i) {
    x[i] = random_number();
    other[i] = random_number();
    y[i] = wanted[i] = random_number();
  }
  for (int j = 0; j < p->cols; ++j)
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k)
      wanted[p->row[k]] += 0.7 * value[k] * x[j];
  asi_panels_multiply_add(&panels, value, 0.7, x, y);
  compare(y, wanted, MOST);

  double largest[2] = {0.0, 0.0}, unit[MOST];
  for (int j = 0; j < MOST; ++j) unit[j] = 0.5 + 0.1 * j;
  for (int j = 0; j < p->cols; ++j) {
    double a = 0.0, b = 0.0;
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      a += value[k] * x[p->row[k]];
      b += value[k] * other[p->row[k]];
    }
    wanted[j] -= 0.3 * a;
    largest[0] = fmax(largest[0], fabs(a) * unit[j]);
    largest[1] = fmax(largest[1], fabs(b) * unit[j]);
  }
  const double size[2] = {
      asi_panels_multiply_transposed_add_sized(&panels, value, -0.3, x, y, unit),
      asi_panels_transposed_size(&panels, value, other, unit)};
  compare(y, wanted, MOST);
  compare(size, largest, 2);
  if (p->col_start[p->cols] > 0) {
    other[p->row[0]] = (double)NAN;
    assert_true(isnan(asi_panels_transposed_size(&panels, value, other, unit)));
    value[0] = (double)INFINITY;
    assert_true(isnan(asi_panels_transposed_size(&panels, value, x, unit)));
  }
  const int count = panels.count;
  asi_panels_free(&panels);
  return count;
}

/// Six columns a body, three rows a joint.
static void test_chain(void **state) {
  (void)state;
  static bool flag[MOST][MOST];
  memset(flag, 0, sizeof flag);
  for (int body = 0; body < 5; ++body)
    for (int joint = body; joint <= body + 1 && joint < 5; ++joint)
      for (int i = 0; i < 3; ++i) {
        flag[6 * body + i][3 * joint + i] = true;
        for (int k = 3; k < 6; ++k) flag[6 * body + k][3 * joint + i] = true;
      }
  const asi_pattern p = pattern_of(15, 30, flag);
  assert_int_equal(check(&p), 10); // two a body
}

static void test_diagonals(void **state) {
  (void)state;
  static bool flag[MOST][MOST];
  for (int n = 1; n <= 9; ++n) {
    memset(flag, 0, sizeof flag);
    for (int i = 0; i < n; ++i) flag[i][i + 2] = true;
    const asi_pattern p = pattern_of(n + 2, n, flag);
    assert_int_equal(check(&p), 1);
  }
}

static void test_dense(void **state) {
  (void)state;
  static bool flag[MOST][MOST];
  memset(flag, 1, sizeof flag);
  for (int rows = 1; rows <= 20; ++rows)
    for (int cols = 1; cols <= 4; ++cols) {
      const asi_pattern p = pattern_of(rows, cols, flag);
      assert_int_equal(check(&p), 1);
    }
}

/// Three columns with rows in two groups that are apart: those of joints that do not follow each other.
static void test_groups(void **state) {
  (void)state;
  static bool flag[MOST][MOST];
  for (int first = 1; first <= 6; ++first)
    for (int second = 1; second <= 6; ++second)
      for (int gap = 0; gap < 4; ++gap) {
        memset(flag, 0, sizeof flag);
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < first + second; ++i) flag[j][2 + i + (i < first ? 0 : gap)] = true;
        const asi_pattern p = pattern_of(first + second + 5, 3, flag);
        assert_int_equal(check(&p), 1);
      }
}

static void test_anything(void **state) {
  (void)state;
  static bool flag[MOST][MOST];
  for (int round = 0; round < 400; ++round) {
    seed = (unsigned)round;
    const int rows = 1 + round % 23, cols = 1 + round % 17;
    const double share = 0.5 * random_number();
    for (int j = 0; j < cols; ++j) {
      const bool alike = j > 0 && random_number() > -0.4, shifted = random_number() > 0.3;
      for (int i = 0; i < rows; ++i)
        flag[j][i] = !alike    ? random_number() > share
                     : shifted ? i > 0 && flag[j - 1][i - 1]
                               : flag[j - 1][i];
    }
    const asi_pattern p = pattern_of(rows, cols, flag);
    check(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),  cmocka_unit_test(test_diagonals), cmocka_unit_test(test_dense),
      cmocka_unit_test(test_groups), cmocka_unit_test(test_anything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
