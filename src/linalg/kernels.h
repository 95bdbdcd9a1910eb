/// Small dense matrices at work: eliminates the pivots of one front and solves with its factors, see fronts.h.
///
/// Rows are worked on as pairs of numbers, from an even place to an even length. All functions here are
/// inlined with constant numbers of pivots w and others r for the usual sizes: their loops then disappear. What
/// was just stored as single numbers is not loaded as pairs: processors wait for that.
#ifndef ALPHASTEP_LINALG_KERNELS_H
#define ALPHASTEP_LINALG_KERNELS_H

#include <math.h>
#include <stdbool.h>

#include "base/two.h"

// A pivot of this fraction of what is expected of it is taken as it comes; of a smaller one's column the
// largest entry is searched, and below that fraction none is used.
#define GOOD_PIVOT 1e-2
#define SMALLEST_PIVOT 1e-12
// Three pivots are taken at once if the volume that their rows span is above this fraction of what it could be.
#define SMALLEST_VOLUME 1e-3

#ifdef __clang__ // loops of any length are not unrolled, which is as it should be
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/// row -= l other, from an even place on, n numbers with n even
ASI_INLINED void subtract(double *row, double l, const double *other, int from, int n) {
  const asi_two factor = asi_both(l);
  if (__builtin_constant_p(n)) {
#pragma GCC unroll 16
    for (int j = from; j < n; j += 2)
      asi_store_two(row + j, asi_load_two(row + j) - factor * asi_load_two(other + j));
  } else {
#pragma GCC unroll 8
    for (int j = from; j < n; j += 2)
      asi_store_two(row + j, asi_load_two(row + j) - factor * asi_load_two(other + j));
  }
}

/// sum (x weight)^2
ASI_INLINED double weighted_square(const double *x, const double *weight, int n) {
  asi_two sum = asi_both(0.0);
#pragma GCC unroll 16
  for (int j = 0; j + 1 < n; j += 2) {
    const asi_two product = asi_load_two(x + j) * asi_load_two(weight + j);
    sum += product * product;
  }
  if (n & 1) {
    const double last = x[n - 1] * weight[n - 1];
    return sum[0] + sum[1] + last * last;
  }
  return sum[0] + sum[1];
}

/// Subtracts a pivot row from a row of P or of L, of which n numbers (even) are wanted; l takes the place of the
/// entry that it eliminates. Since rows are worked on from an even place on, an entry that is done may change:
/// l is written after that.
ASI_INLINED double eliminate_entry(double *row, int k, const double *pivot_row, double inverse,
                                   int n) {
  const double l = row[k] * inverse;
  subtract(row, l, pivot_row, (k + 1) & ~1, n);
  row[k] = l;
  return l;
}

/// Subtracts pivot rows 0 ... count - 1 from a row of P.
ASI_INLINED void eliminate_row(double *row, const double *P, const double *inverse, int length,
                               int count) {
#pragma GCC unroll 16
  for (int k = 0; k < count; ++k) eliminate_entry(row, k, P + k * length, inverse[k], length);
}

/// Brings the row with the largest entry of column k to row k.
static void exchange(double *P, int w, int length, int k, int *swap) {
  int best = k;
  for (int i = k + 1; i < w; ++i)
    if (fabs(P[i * length + k]) > fabs(P[best * length + k])) best = i;
  for (int j = 0; best != k && j < length; ++j) {
    const double kept = P[k * length + j];
    P[k * length + j] = P[best * length + j];
    P[best * length + j] = kept;
  }
  *swap = best;
}

/// Goes on from row `from`, which is done, with a search for pivots. False if
/// one is too small, or not a number.
static bool search_pivots(double *P, int w, int length, int from, const double *scale, int *swap,
                          double *inverse, double *growth) {
  for (int k = 0; k < from; ++k) swap[k] = k;
  for (int i = from + 1; i < w; ++i) eliminate_row(P + i * length, P, inverse, length, from);
  for (int k = from; k < w; ++k) {
    double *const row = P + k * length;
    exchange(P, w, length, k, &swap[k]);
    const double size = fabs(row[k] * scale[k]);
    if (!(size > SMALLEST_PIVOT)) return false;
    *growth += size * size;
    inverse[k] = 1.0 / row[k];
    for (int i = k + 1; i < w; ++i) eliminate_entry(P + i * length, k, row, inverse[k], length);
  }
  return true;
}

/// Eliminates the w pivots of a front, L following P: P becomes L11 \ U11 and U12, L becomes L21, and L21 U12
/// is subtracted from S, whose rows stand `stride` apart. False if a pivot is too small, or not a number.
/// Growth is that of the pivots and of the first `inside` rows of S. Pivots above `enough` are taken as they come. *searched: rows of P were exchanged as `swap` says.
ASI_INLINED bool eliminate_front(double *restrict P, double *restrict S, int stride, int inside,
                                 int w, int r, const double *enough, const double *scale,
                                 const double *weight, int *swap, bool *searched,
                                 double *restrict inverse, double *growth) {
  const int width = w + (w & 1), columns = r + (r & 1), length = width + columns;
  double *const L = P + w * length;
  double sum = 0.0;
  *searched = false;
#pragma GCC unroll 16
  for (int i = 0; i < w; ++i) {
    double *const row = P + i * length;
    eliminate_row(row, P, inverse, length, i);
    const double size = row[i] * scale[i];
    if (!(fabs(row[i]) > enough[i])) {
      *searched = true;
      if (!search_pivots(P, w, length, i, scale, swap, inverse, &sum)) return false;
      break;
    }
    sum += size * size;
    inverse[i] = 1.0 / row[i];
  }
  for (int i = 0; i < r; ++i) {
    double *const row = L + i * width, *const rest = S + i * stride;
#pragma GCC unroll 16
    for (int k = 0; k < w; ++k) { // both at once: one does not wait for its own results alone
      const double l = eliminate_entry(row, k, P + k * length, inverse[k], width);
      subtract(rest, l, P + k * length + w, 0, columns);
    }
    if (i < inside) sum += weight[i] * weight[i] * weighted_square(rest, weight, columns);
  }
  *growth = sum;
  return true;
}

/// The inverse of the 3 x 3 matrix at the head of three rows, by cofactors, if it may be used: |det| is not small
/// beside the product of the rows' lengths, so that little is lost, and each pivot would be more than enough if it
/// came last.
ASI_INLINED bool invert_three(const double *P, int length, const double *enough,
                              double inverse[3][3]) {
  const double *const a = P, *const b = P + length, *const c = P + 2 * length;
  inverse[0][0] = b[1] * c[2] - b[2] * c[1];
  inverse[1][0] = b[2] * c[0] - b[0] * c[2];
  inverse[2][0] = b[0] * c[1] - b[1] * c[0];
  const double det = a[0] * inverse[0][0] + a[1] * inverse[1][0] + a[2] * inverse[2][0];
  const double lengths = (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) *
                         (b[0] * b[0] + b[1] * b[1] + b[2] * b[2]) *
                         (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
  inverse[0][1] = c[1] * a[2] - c[2] * a[1];
  inverse[1][1] = c[2] * a[0] - c[0] * a[2];
  inverse[2][1] = c[0] * a[1] - c[1] * a[0];
  inverse[0][2] = a[1] * b[2] - a[2] * b[1];
  inverse[1][2] = a[2] * b[0] - a[0] * b[2];
  inverse[2][2] = a[0] * b[1] - a[1] * b[0];
  bool ok = det * det > SMALLEST_VOLUME * SMALLEST_VOLUME * lengths;
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) ok = ok & (fabs(det) > enough[k] * fabs(inverse[k][k]));
  const double factor = 1.0 / det;
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i)
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) inverse[i][j] *= factor;
  return ok;
}

/// Eliminates three pivots at once: with their matrix P11, of P = [P11 P12], P becomes [P11^-1 X], X = P11^-1 P12,
/// L stays as it is, and L X is subtracted from S. False, and nothing has changed, if P11 is not to be inverted.
ASI_INLINED bool eliminate_three(double *restrict P, double *restrict S, int stride, int inside,
                                 int r, const double *enough, const double *scale,
                                 const double *weight, double *growth) {
  const int columns = r + (r & 1), length = 4 + columns;
  const double *const L = P + 3 * length;
  double inverse[3][3], sum = 0.0;
  if (!invert_three(P, length, enough, inverse)) return false;
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) {
    const double size = P[k * (length + 1)] * scale[k];
    sum += size * size;
  }
  double *const X = P + 3;
#pragma GCC unroll 16
  for (int j = 0; j + 1 < r; j += 2) {
    asi_two u[3];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) u[k] = asi_load_two(X + k * length + j);
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k)
      asi_store_two(X + k * length + j, asi_both(inverse[k][0]) * u[0] +
                                            asi_both(inverse[k][1]) * u[1] +
                                            asi_both(inverse[k][2]) * u[2]);
  }
  if (r & 1) {
    const double a = X[r - 1], b = X[length + r - 1], c = X[2 * length + r - 1];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k)
      X[k * length + r - 1] = inverse[k][0] * a + inverse[k][1] * b + inverse[k][2] * c;
  }
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i)
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) P[i * length + j] = inverse[i][j];
#pragma GCC unroll 2
  for (int i = 0; i < r; ++i) {
    double *const rest = S + i * stride;
    const double *const l = L + 4 * i;
#pragma GCC unroll 16
    for (int j = 0; j + 1 < r; j += 2) {
      const asi_two product = asi_both(l[0]) * asi_load_two(X + j) +
                              asi_both(l[1]) * asi_load_two(X + length + j) +
                              asi_both(l[2]) * asi_load_two(X + 2 * length + j);
      asi_store_two(rest + j, asi_load_two(rest + j) - product);
    }
    if (r & 1)
      rest[r - 1] -= l[0] * X[r - 1] + l[1] * X[length + r - 1] + l[2] * X[2 * length + r - 1];
    if (i < inside) sum += weight[i] * weight[i] * weighted_square(rest, weight, r);
  }
  *growth = sum;
  return true;
}

/// x . y
ASI_INLINED double dot(const double *x, const double *y, int n) {
  double even = 0.0, odd = 0.0;
#pragma GCC unroll 8
  for (int j = 0; j + 1 < n; j += 2) {
    even += x[j] * y[j];
    odd += x[j + 1] * y[j + 1];
  }
  return n & 1 ? even + x[n - 1] * y[n - 1] + odd : even + odd;
}

/// Solves with the L of a front: its pivots in p, their part of the others subtracted from q.
ASI_INLINED void forward_front(const double *restrict P, int w, int r, double *restrict p,
                               double *restrict q) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  const double *const L = P + w * length;
#pragma GCC unroll 16
  for (int j = 0; j < w; ++j)
#pragma GCC unroll 16
    for (int k = j + 1; k < w; ++k) p[k] -= P[k * length + j] * p[j];
#pragma GCC unroll 8
  for (int k = 0; k < r; ++k) q[k] -= dot(L + k * width, p, w);
}

/// Solves with the U of a front for its pivots; the others, in q, are known.
ASI_INLINED void backward_front(const double *restrict P, const double *restrict inverse, int w,
                                int r, double *restrict p, const double *restrict q) {
  const int length = w + (w & 1) + r + (r & 1);
#pragma GCC unroll 16
  for (int k = 0; k < w; ++k) p[k] -= dot(P + k * length + w, q, r);
#pragma GCC unroll 16
  for (int j = w - 1; j >= 0; --j) {
    p[j] *= inverse[j];
#pragma GCC unroll 16
    for (int k = 0; k < j; ++k) p[k] -= P[k * length + j] * p[j];
  }
}

/// The same with the inverse of three pivots' matrix.
ASI_INLINED void forward_three(const double *restrict P, int r, double *restrict p,
                               double *restrict q) {
  const int length = 4 + r + (r & 1);
  const double *const L = P + 3 * length, a = p[0], b = p[1], c = p[2];
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k)
    p[k] = P[k * length] * a + P[k * length + 1] * b + P[k * length + 2] * c;
#pragma GCC unroll 8
  for (int k = 0; k < r; ++k) q[k] -= dot(L + 4 * k, p, 3);
}

ASI_INLINED void backward_three(const double *restrict P, int r, double *restrict p,
                                const double *restrict q) {
  const int length = 4 + r + (r & 1);
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) p[k] -= dot(P + k * length + 3, q, r);
}

#endif
