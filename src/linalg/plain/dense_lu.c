/// Dense factors and singular values without any library, see dense_lu.h: for boards and FMUs, where libc and libm are all there is.
///
/// LU has partial pivoting and goes by columns. The condition is Hager's estimate of |A^-1|, with Higham's improvements (N. J. Higham, Accuracy
/// and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, algorithm 15.1). Singular values come from one-sided Jacobi rotations, which
/// make the columns of A V orthogonal.
#include "linalg/dense_lu.h"

#include <float.h>
#include <math.h>
#include <string.h>

const int asi_lu_call_factor = 0, asi_lu_call_solve = 0;
const char *const asi_lu_backend = "dense LU";

enum { MOST_ESTIMATES = 5, MOST_SWEEPS = 60 };

static void exchange(double *a, double *b) {
  const double kept = *a;
  *a = *b;
  *b = kept;
}

static int largest(const double *x, int from, int n) {
  int at = from;
  for (int i = from + 1; i < n; ++i)
    if (fabs(x[i]) > fabs(x[at])) at = i;
  return at;
}

int asi_lu_factor(int n, double *a, int *pivot) {
  const size_t rows = (size_t)n;
  int first_zero = 0;
  for (int k = 0; k < n; ++k) {
    double *const column = a + (size_t)k * rows;
    const int at = largest(column, k, n);
    pivot[k] = at + 1;
    if (!(fabs(column[at]) > 0.0)) { // NaN, too
      if (first_zero == 0) first_zero = k + 1;
      continue;
    }
    if (at != k)
      for (size_t j = 0; j < rows; ++j)
        exchange(&a[j * rows + (size_t)k], &a[j * rows + (size_t)at]);
    for (int i = k + 1; i < n; ++i) column[i] /= column[k];
    for (int j = k + 1; j < n; ++j) {
      double *const other = a + (size_t)j * rows;
      const double factor = other[k];
      if (factor == 0.0) continue;
      for (int i = k + 1; i < n; ++i) other[i] -= factor * column[i];
    }
  }
  return first_zero;
}

void asi_lu_solve(int n, const double *lu, const int *pivot, double *b) {
  for (int k = 0; k < n; ++k) exchange(&b[k], &b[pivot[k] - 1]);
  for (int k = 0; k < n; ++k) {
    const double *const column = lu + (size_t)k * (size_t)n;
    for (int i = k + 1; i < n; ++i) b[i] -= b[k] * column[i];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double *const column = lu + (size_t)k * (size_t)n;
    b[k] /= column[k];
    for (int i = 0; i < k; ++i) b[i] -= b[k] * column[i];
  }
}

/// Solves A^T x = b in place.
static void solve_transposed(int n, const double *lu, const int *pivot, double *b) {
  for (int k = 0; k < n; ++k) {
    const double *const column = lu + (size_t)k * (size_t)n;
    for (int i = 0; i < k; ++i) b[k] -= column[i] * b[i];
    b[k] /= column[k];
  }
  for (int k = n - 1; k >= 0; --k) {
    const double *const column = lu + (size_t)k * (size_t)n;
    for (int i = k + 1; i < n; ++i) b[k] -= column[i] * b[i];
  }
  for (int k = n - 1; k >= 0; --k) exchange(&b[k], &b[pivot[k] - 1]);
}

static double sum_of_sizes(const double *x, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += fabs(x[i]);
  return sum;
}

double asi_lu_rcond(int n, const double *lu, const int *pivot, double norm, double *work,
                    int *integer_work) {
  double *const x = work, *const z = work + n;
  double inverse = 0.0;
  (void)integer_work;
  for (int i = 0; i < n; ++i) x[i] = 1.0 / n;
  for (int round = 0, last = -1; round < MOST_ESTIMATES; ++round) {
    asi_lu_solve(n, lu, pivot, x);
    const double estimate = sum_of_sizes(x, n);
    if (!isfinite(estimate)) return 0.0;
    if (estimate <= inverse) break;
    inverse = estimate;
    for (int i = 0; i < n; ++i) z[i] = x[i] < 0.0 ? -1.0 : 1.0;
    solve_transposed(n, lu, pivot, z);
    const int at = largest(z, 0, n);
    if (at == last) break;
    last = at;
    memset(x, 0, (size_t)n * sizeof *x);
    x[at] = 1.0;
  }
  // A vector of alternating signs sees what cancels in the others.
  for (int i = 0; i < n; ++i) x[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + (double)i / (n > 1 ? n - 1 : 1));
  asi_lu_solve(n, lu, pivot, x);
  inverse = fmax(inverse, 2.0 * sum_of_sizes(x, n) / (3.0 * n));
  return isfinite(inverse) && norm > 0.0 ? 1.0 / (norm * inverse) : 0.0;
}

int asi_svd_work(int m, int n) {
  (void)m;
  return n;
}

/// Makes columns p and q of a orthogonal by a rotation, and turns v with them. Returns whether they were not so before. A column shorter than
/// `least` is round-off.
static int rotate(int m, int n, double *a, double *v, int p, int q, double least) {
  double *const x = a + (size_t)p * (size_t)m, *const y = a + (size_t)q * (size_t)m;
  double xx = 0.0, yy = 0.0, xy = 0.0;
  for (int i = 0; i < m; ++i) {
    xx += x[i] * x[i];
    yy += y[i] * y[i];
    xy += x[i] * y[i];
  }
  if (!(fmin(xx, yy) > least * least)) return 0;
  if (!(fabs(xy) > fmax(10.0, sqrt(m)) * DBL_EPSILON * sqrt(xx) * sqrt(yy))) return 0;
  const double zeta = (yy - xx) / (2.0 * xy);
  const double t = copysign(1.0, zeta) / (fabs(zeta) + hypot(1.0, zeta));
  const double c = 1.0 / hypot(1.0, t), s = c * t;
  double *const vp = v + (size_t)p * (size_t)n, *const vq = v + (size_t)q * (size_t)n;
  for (int i = 0; i < m; ++i) {
    const double kept = x[i];
    x[i] = c * kept - s * y[i];
    y[i] = s * kept + c * y[i];
  }
  for (int i = 0; i < n; ++i) {
    const double kept = vp[i];
    vp[i] = c * kept - s * vq[i];
    vq[i] = s * kept + c * vq[i];
  }
  return 1;
}

/// Columns of v and their sigma in falling order.
static void sort_columns(int n, double *sigma, double *v) {
  for (int k = 0; k < n; ++k) {
    int at = k;
    for (int i = k + 1; i < n; ++i)
      if (sigma[i] > sigma[at]) at = i;
    if (at == k) continue;
    exchange(&sigma[k], &sigma[at]);
    for (int i = 0; i < n; ++i)
      exchange(&v[(size_t)k * (size_t)n + (size_t)i], &v[(size_t)at * (size_t)n + (size_t)i]);
  }
}

int asi_svd_right(int m, int n, double *a, double *sigma, double *vt, double *work, int work_size) {
  (void)work;
  (void)work_size;
  double *const v = vt;
  memset(v, 0, (size_t)n * (size_t)n * sizeof *v);
  for (int k = 0; k < n; ++k) v[(size_t)k * ((size_t)n + 1)] = 1.0;
  double squares = 0.0;
  for (size_t i = 0; i < (size_t)m * (size_t)n; ++i) squares += a[i] * a[i];
  const double least = DBL_EPSILON * sqrt(squares);
  int turned = 1, sweep = 0;
  for (; turned && sweep < MOST_SWEEPS; ++sweep) {
    turned = 0;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) turned |= rotate(m, n, a, v, p, q, least);
  }
  for (int k = 0; k < n; ++k) {
    double sum = 0.0;
    for (int i = 0; i < m; ++i)
      sum += a[(size_t)k * (size_t)m + (size_t)i] * a[(size_t)k * (size_t)m + (size_t)i];
    sigma[k] = sqrt(sum);
  }
  sort_columns(n, sigma, v);
  for (int i = 0; i < n; ++i) // columns of V are rows of V^T
    for (int j = 0; j < i; ++j)
      exchange(&vt[(size_t)j * (size_t)n + (size_t)i], &vt[(size_t)i * (size_t)n + (size_t)j]);
  return turned;
}
