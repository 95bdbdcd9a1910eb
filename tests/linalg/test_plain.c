/// What the library has instead of LAPACK and AMD (src/linalg/plain) beside them: factors, solutions, condition numbers, singular values and
/// orders of random and of singular matrices.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linalg/dense_lu.h"
#include "linalg/minimum_degree.h"

// The same functions under other names.
#define asi_lu_call_factor plain_lu_call_factor
#define asi_lu_call_solve plain_lu_call_solve
#define asi_lu_backend plain_lu_backend
#define asi_lu_factor plain_lu_factor
#define asi_lu_solve plain_lu_solve
#define asi_lu_rcond plain_lu_rcond
#define asi_svd_work plain_svd_work
#define asi_svd_right plain_svd_right
#define asi_minimum_degree plain_minimum_degree
#undef ALPHASTEP_LINALG_DENSE_LU_H
#undef ALPHASTEP_LINALG_MINIMUM_DEGREE_H
#include "linalg/plain/dense_lu.c"
#include "linalg/plain/minimum_degree.c"
#undef asi_lu_factor
#undef asi_lu_solve
#undef asi_lu_rcond
#undef asi_svd_work
#undef asi_svd_right
#undef asi_minimum_degree

enum { MOST = 40 };

static uint64_t seed;

/// Between -1 and 1.
static double draw(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static void fill(double *a, int count) {
  for (int i = 0; i < count; ++i) a[i] = draw();
}

static void assert_close(double a, double b, double tolerance) {
  if (!(fabs(a - b) <= tolerance)) print_error("%.17g and %.17g\n", a, b);
  assert_true(fabs(a - b) <= tolerance);
}

static double norm_of(const double *a, int n) {
  double norm = 0.0;
  for (int j = 0; j < n; ++j) norm = fmax(norm, sum_of_sizes(a + (size_t)j * (size_t)n, n));
  return norm;
}

static void test_factors(void **state) {
  (void)state;
  for (int n = 1; n <= MOST; ++n) {
    double a[MOST * MOST], b[MOST * MOST], x[MOST], y[MOST], work[4 * MOST];
    int p[MOST], r[MOST], integers[MOST];
    fill(a, n * n);
    if (n % 3 == 0) // badly scaled
      for (int i = 0; i < n; ++i) a[i * n + n / 2] *= 1e-9;
    memcpy(b, a, sizeof a);
    fill(x, n);
    memcpy(y, x, sizeof x);
    const double norm = norm_of(a, n);
    assert_int_equal(asi_lu_factor(n, a, p), 0);
    assert_int_equal(plain_lu_factor(n, b, r), 0);
    assert_memory_equal(p, r, (size_t)n * sizeof(int));
    for (int i = 0; i < n * n; ++i) assert_close(a[i], b[i], 1e-10);
    asi_lu_solve(n, a, p, x);
    plain_lu_solve(n, b, r, y);
    const double condition = asi_lu_rcond(n, a, p, norm, work, integers);
    for (int i = 0; i < n; ++i)
      assert_true(fabs(x[i] - y[i]) <= 1e-14 / condition * sum_of_sizes(x, n));
    // Both are estimates from below of |A^-1|.
    const double ratio = plain_lu_rcond(n, b, r, norm, work, integers) / condition;
    assert_true(ratio > 0.3 && ratio < 3.0);
  }
}

static void test_singular(void **state) {
  (void)state;
  double a[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1}, b[9] = {1, 2, 3, 0, 0, 0, 1, 0, 1};
  double nan[4] = {(double)NAN, 1, 1, 1};
  int pivot[3];
  assert_int_equal(plain_lu_factor(3, a, pivot), 2);
  assert_int_equal(plain_lu_factor(3, b, pivot), 2);
  double regular[4] = {1e-200, 0, 0, 1}, work[8];
  assert_int_equal(plain_lu_factor(2, regular, pivot), 0);
  assert_true(plain_lu_rcond(2, regular, pivot, 1.0, work, pivot) < 1e-190);
  assert_true(plain_lu_factor(2, nan, pivot) != 0 || isnan(nan[3]));
}

/// A = U diag(s) V^T with given s, so that values and vectors are known.
static void test_singular_values(void **state) {
  (void)state;
  for (int n = 1; n <= 12; ++n)
    for (int m = n / 2 + 1; m <= 3 * n; m += n) {
      double a[36 * 12], b[36 * 12], c[36 * 12], s[12], t[12], vt[144], wt[144], work[1000];
      const int least = m < n ? m : n;
      fill(a, m * n);
      if (n > 2) // one column that depends on others, one that nearly does
        for (int i = 0; i < m; ++i) {
          a[i + m] = 2.0 * a[i];
          if (n > 4) a[i + 3 * m] = a[i + 2 * m] + 1e-9 * a[i + 3 * m];
        }
      memcpy(b, a, sizeof a);
      memcpy(c, a, sizeof a);
      assert_int_equal(asi_svd_right(m, n, a, s, vt, work, asi_svd_work(m, n)), 0);
      assert_int_equal(plain_svd_right(m, n, b, t, wt, work, plain_svd_work(m, n)), 0);
      for (int k = 0; k < least; ++k) assert_close(s[k], t[k], 1e-13 * s[0]);
      for (int k = 0; k < n; ++k) { // |A v_k| = s_k, and V^T V = 1
        double length = 0.0;
        for (int i = 0; i < m; ++i) {
          double sum = 0.0;
          for (int j = 0; j < n; ++j) sum += c[i + j * m] * wt[k + j * n];
          length += sum * sum;
        }
        assert_close(sqrt(length), k < least ? s[k] : 0.0, 1e-13 * s[0]);
        for (int l = 0; l <= k; ++l) {
          double product = 0.0;
          for (int j = 0; j < n; ++j) product += wt[k + j * n] * wt[l + j * n];
          assert_close(product, k == l ? 1.0 : 0.0, 1e-13);
        }
      }
    }
}

/// Entries that elimination in this order adds to a grid of w x w nodes.
static int fill_of(const int *order, int w) {
  const int n = w * w;
  static bool near[400][400];
  int count = 0;
  memset(near, 0, sizeof near);
  for (int i = 0; i < n; ++i) {
    if (i % w) near[i][i - 1] = near[i - 1][i] = true;
    if (i >= w) near[i][i - w] = near[i - w][i] = true;
  }
  bool gone[400] = {false};
  for (int k = 0; k < n; ++k) {
    const int x = order[k];
    assert_true(x >= 0 && x < n && !gone[x]);
    gone[x] = true;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j)
        if (near[x][i] && near[x][j] && !gone[i] && !gone[j] && !near[i][j]) {
          near[i][j] = near[j][i] = true;
          ++count;
        }
  }
  return count;
}

static void test_order(void **state) {
  (void)state;
  enum { W = 20, N = W * W };
  int start[N + 1] = {0}, row[2 * N], plain[N], amd[N], natural[N], count = 0;
  for (int i = 0; i < N; ++i) { // one triangle
    if (i % W) row[count++] = i - 1;
    if (i >= W) row[count++] = i - W;
    start[i + 1] = count;
    natural[i] = i;
  }
  assert_true(plain_minimum_degree(N, start, row, plain));
  assert_true(asi_minimum_degree(N, start, row, amd));
  const int without = fill_of(natural, W), with = fill_of(plain, W);
  assert_true(2 * with < without);
  assert_true(with < 2 * fill_of(amd, W));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_factors), cmocka_unit_test(test_singular),
      cmocka_unit_test(test_singular_values), cmocka_unit_test(test_order)};
  return cmocka_run_group_tests_name("plain", tests, NULL, NULL);
}
