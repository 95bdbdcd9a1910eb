/// Small dense matrices at work: eliminates the pivots of one front and solves with its factors, see fronts.h.
///
/// Rows are worked on as pairs of numbers, from an even place to an even length. All functions here are
/// inlined with constant numbers of pivots w and others r for the usual sizes: their loops then disappear. What
/// was just stored as single numbers is not loaded as pairs: processors wait for that.
#ifndef ALPHASTEP_LINALG_KERNELS_H
#define ALPHASTEP_LINALG_KERNELS_H

#include <math.h>
#include <stdbool.h>

#include "base/simd.h"

// A small pivot of this fraction of its row in P is taken as it comes; else a larger one is searched in its column.
#define GOOD_PIVOT 1e-2
// [LS.1] A pivot below this fraction of what it was made of, of its row or of its column may cost digits.
#define SMALL_PIVOT 1e-5
// Three pivots are taken at once if the volume that their rows span is above this fraction of what it could be.
#define SMALLEST_VOLUME 1e-3

// Clang unrolls loops of constant length as it is. It would unroll those of any length, too, one in the other: minutes to
// compile, and slower.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" // of loops elsewhere that may be of any length
#define ASI_UNROLL(times)
#else
#define ASI_PRAGMA(text) _Pragma(#text)
#define ASI_UNROLL(times) ASI_PRAGMA(GCC unroll times)
#endif

ASI_INLINED double larger(double a, double b) { return a > b ? a : b; }

/// row -= l other, from an even place on, n numbers with n even
ASI_INLINED void subtract(double *row, double l, const double *other, int from, int n) {
  const asi_simd2 factor = asi_simd_splat(l);
  if (__builtin_constant_p(n)) {
    ASI_UNROLL(16)
    for (int j = from; j < n; j += 2)
      asi_simd_store(row + j, asi_simd_load(row + j) - factor * asi_simd_load(other + j));
  } else {
    ASI_UNROLL(8)
    for (int j = from; j < n; j += 2)
      asi_simd_store(row + j, asi_simd_load(row + j) - factor * asi_simd_load(other + j));
  }
}

/// row -= l other, n numbers
ASI_INLINED void subtract_all(double *row, double l, const double *other, int n) {
  subtract(row, l, other, 0, n & ~1);
  if (n & 1) row[n - 1] -= l * other[n - 1];
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

/// Subtracts pivot rows 0 ... count - 1 from row i of P; returns the largest size that its diagonal has on the way, if that
/// is more than `size`.
ASI_INLINED double eliminate_row(double *row, int i, const double *P, const double *inverse,
                                 int length, int count, double size) {
  size = larger(fabs(row[i]), size);
  ASI_UNROLL(16)
  for (int k = 0; k < count; ++k) {
    eliminate_entry(row, k, P + k * length, inverse[k], length);
    size = larger(fabs(row[i]), size);
  }
  return size;
}

/// The largest entry of a row from the diagonal on, in pairs.
ASI_INLINED double largest_of(const double *row, int i, int n) {
  asi_simd2 largest = asi_simd_splat(0.0);
  ASI_UNROLL(16)
  for (int j = (i + 1) & ~1; j < n; j += 2)
    largest = asi_simd_max(asi_simd_abs(asi_simd_load(row + j)), largest);
  return larger(largest[0], largest[1]);
}

/// Whether digits may be lost with a pivot: it is what is left of something much larger, or much smaller than its row.
ASI_INLINED bool is_doubtful(double pivot, double size, double largest) {
  return !(pivot > SMALL_PIVOT * size && pivot > SMALL_PIVOT * largest);
}

/// Brings the row whose entry of column k is the largest beside its size to row k.
static void exchange(double *P, int w, int length, int k, int *swap, double *size) {
  double most = -1.0;
  int best = k;
  for (int i = k; i < w; ++i) {
    const double part = fabs(P[i * length + k]) / size[i];
    if (part > most) best = i;
    most = larger(part, most);
  }
  for (int j = 0; best != k && j < length; ++j) {
    const double kept = P[k * length + j];
    P[k * length + j] = P[best * length + j];
    P[best * length + j] = kept;
  }
  const double kept = size[k];
  size[k] = size[best];
  size[best] = kept;
  *swap = best;
}

/// Goes on from row `from`, which is done, with a search for pivots. False if one is next to nothing beside what it
/// was made of, or not a number.
static bool search_pivots(double *P, int w, int length, int from, double least, double *size,
                          int *swap, double *inverse, bool *doubtful) {
  for (int k = 0; k < from; ++k) swap[k] = k;
  for (int i = from; i < w; ++i) { // row `from` is done
    double *const row = P + i * length;
    size[i] = larger(largest_of(row, i > from ? 0 : from, w + (w & 1)), size[i]);
    if (i > from) size[i] = eliminate_row(row, i, P, inverse, length, from, size[i]);
  }
  for (int k = from; k < w; ++k) {
    double *const row = P + k * length;
    exchange(P, w, length, k, &swap[k], size);
    const double pivot = fabs(row[k]);
    if (!(pivot > least * size[k])) return false;
    if (is_doubtful(pivot, size[k], largest_of(row, k, length))) *doubtful = true;
    inverse[k] = 1.0 / row[k];
    for (int i = k + 1; i < w; ++i) eliminate_entry(P + i * length, k, row, inverse[k], length);
  }
  return true;
}

/// Where what a front leaves is: the rows of S before `split`, and of the others the columns before it and those from
/// it on.
typedef struct remains {
  double *restrict S, *restrict below, *restrict beyond;
  int stride, below_stride, beyond_stride;
  int split; ///< r, if S is in one piece
} remains;

/// Notes how large the diagonal entries are that a front works on.
ASI_INLINED void note_sizes(const remains *to, int r, const int *rest, double *size) {
  ASI_UNROLL(8)
  for (int i = 0; i < to->split; ++i)
    size[rest[i]] = larger(fabs(to->S[i * (to->stride + 1)]), size[rest[i]]);
  ASI_UNROLL(8)
  for (int i = to->split; i < r; ++i)
    size[rest[i]] =
        larger(fabs(to->beyond[(i - to->split) * (to->beyond_stride + 1)]), size[rest[i]]);
}

/// Eliminates the w pivots of a front, L following P: P becomes L11 \ U11 and U12, L becomes L21, and L21 U12
/// is subtracted from S. False if a pivot is too small, or not a number. *searched: rows of P were exchanged as `swap` says.
ASI_INLINED bool eliminate_front(double *restrict P, const remains *to, int w, int r, double least,
                                 double *size, int *swap, bool *searched, bool *doubtful,
                                 double *restrict inverse, const int *rest, double *all_sizes) {
  const int width = w + (w & 1), columns = r + (r & 1), length = width + columns;
  double *const L = P + w * length;
  *searched = false;
  ASI_UNROLL(16)
  for (int i = 0; i < w; ++i) {
    double *const row = P + i * length;
    const double most = eliminate_row(row, i, P, inverse, length, i, size[i]), pivot = fabs(row[i]);
    const bool doubt = is_doubtful(pivot, most, largest_of(row, i, length));
    if (doubt && !(pivot > least * most && pivot > GOOD_PIVOT * largest_of(row, i, width))) {
      size[i] = most;
      *searched = true;
      if (!search_pivots(P, w, length, i, least, size, swap, inverse, doubtful)) return false;
      break;
    }
    if (doubt) *doubtful = true;
    inverse[i] = 1.0 / row[i];
  }
  note_sizes(to, r, rest, all_sizes);
  for (int i = 0; i < to->split; ++i) {
    double *const row = L + i * width, *const left = to->S + i * to->stride;
    double most = all_sizes[rest[i]];
    ASI_UNROLL(16)
    for (int k = 0; k < w; ++k) { // both at once: one does not wait for its own results alone
      const double l = eliminate_entry(row, k, P + k * length, inverse[k], width);
      subtract(left, l, P + k * length + w, 0, columns);
      most = larger(fabs(left[i]), most);
    }
    all_sizes[rest[i]] = most;
  }
  for (int i = to->split; i < r; ++i) {
    const int n = i - to->split;
    double *const row = L + i * width;
    for (int k = 0; k < w; ++k) {
      const double l = eliminate_entry(row, k, P + k * length, inverse[k], width);
      const double *const other = P + k * length + w;
      subtract_all(to->below + n * to->below_stride, l, other, to->split);
      subtract_all(to->beyond + n * to->beyond_stride, l, other + to->split, r - to->split);
      all_sizes[rest[i]] =
          larger(fabs(to->beyond[n * (to->beyond_stride + 1)]), all_sizes[rest[i]]);
    }
  }
  double largest = 0.0;
  ASI_UNROLL(16)
  for (int i = 0; i < r; ++i) largest = larger(largest_of(L + i * width, 0, width), largest);
  if (!(largest * SMALL_PIVOT < 1.0)) *doubtful = true;
  return true;
}

/// The inverse of the 3 x 3 matrix at the head of three rows, by cofactors, if it may be used: |det| is not small
/// beside the product of the rows' lengths, so that little is lost, and no pivot would be too small if it
/// came last.
ASI_INLINED bool invert_three(const double *P, int length, double inverse[3][3]) {
  const double *const a = P, *const b = P + length, *const c = P + 2 * length;
  inverse[0][0] = b[1] * c[2] - b[2] * c[1];
  inverse[1][0] = b[2] * c[0] - b[0] * c[2];
  inverse[2][0] = b[0] * c[1] - b[1] * c[0];
  const double det = a[0] * inverse[0][0] + a[1] * inverse[1][0] + a[2] * inverse[2][0];
  const double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
  const double bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
  const double cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  inverse[0][1] = c[1] * a[2] - c[2] * a[1];
  inverse[1][1] = c[2] * a[0] - c[0] * a[2];
  inverse[2][1] = c[0] * a[1] - c[1] * a[0];
  inverse[0][2] = a[1] * b[2] - a[2] * b[1];
  inverse[1][2] = a[2] * b[0] - a[0] * b[2];
  inverse[2][2] = a[0] * b[1] - a[1] * b[0];
  if (!(det * det > SMALLEST_VOLUME * SMALLEST_VOLUME * aa * bb * cc)) return false;
  const double factor = 1.0 / det;
  ASI_UNROLL(3)
  for (int i = 0; i < 3; ++i) {
    ASI_UNROLL(3)
    for (int j = 0; j < 3; ++j) inverse[i][j] *= factor;
  }
  return true;
}

/// x0 y0 + x1 y1 + x2 y2, n numbers of rows y0, y1, y2 that stand `length` apart; n is 1 or 2
ASI_INLINED asi_simd2 combine(const double *x, const double *y, int length, int n) {
  if (n == 1) return (asi_simd2){x[0] * y[0] + x[1] * y[length] + x[2] * y[2 * length], 0.0};
  return asi_simd_splat(x[0]) * asi_simd_load(y) +
         asi_simd_splat(x[1]) * asi_simd_load(y + length) +
         asi_simd_splat(x[2]) * asi_simd_load(y + 2 * length);
}

/// row -= l X, n numbers: X has three rows.
ASI_INLINED void subtract_three(double *row, const double *l, const double *X, int length, int n) {
  ASI_UNROLL(16)
  for (int j = 0; j + 1 < n; j += 2)
    asi_simd_store(row + j, asi_simd_load(row + j) - combine(l, X + j, length, 2));
  if (n & 1) row[n - 1] -= combine(l, X + n - 1, length, 1)[0];
}

/// Eliminates three pivots at once: with their matrix P11, of P = [P11 P12], P becomes [P11^-1 X], X = P11^-1 P12,
/// L stays as it is, and L X is subtracted from S. False, and nothing has changed, if P11 is not to be inverted.
ASI_INLINED bool eliminate_three(double *restrict P, const remains *to, int r,
                                 double *pivot_inverse, bool *doubtful, const int *rest,
                                 double *all_sizes) {
  const int length = 4 + r + (r & 1);
  const double *const L = P + 3 * length;
  double *const X = P + 3, inverse[3][3];
  if (!invert_three(P, length, inverse)) return false;
  asi_simd2 largest = asi_simd_splat(0.0);
  ASI_UNROLL(16)
  for (int j = 0; j < r; j += 2) {
    const int n = r - j > 1 ? 2 : 1;
    asi_simd2 x[3];
    ASI_UNROLL(3)
    for (int k = 0; k < 3; ++k) {
      x[k] = combine(inverse[k], X + j, length, n);
      largest = asi_simd_max(asi_simd_abs(x[k]), largest);
    }
    ASI_UNROLL(3)
    for (int k = 0; k < 3; ++k)
      if (n == 2)
        asi_simd_store(X + k * length + j, x[k]);
      else
        X[k * length + j] = x[k][0];
  }
  ASI_UNROLL(3)
  for (int i = 0; i < 3; ++i) {
    ASI_UNROLL(3)
    for (int j = 0; j < 3; ++j) P[i * length + j] = inverse[i][j];
    pivot_inverse[i] = inverse[i][i];
  }
  const double most = larger(fabs(inverse[0][0]), larger(fabs(inverse[1][1]), fabs(inverse[2][2])));
  const double below = largest_of(L, 0, 4 * r);
  if (!(larger(larger(largest[0], largest[1]), most * below) * SMALL_PIVOT < 1.0)) *doubtful = true;
  note_sizes(to, r, rest, all_sizes);
  ASI_UNROLL(8)
  for (int i = 0; i < to->split; ++i) {
    double *const row = to->S + i * to->stride;
    subtract_three(row, L + 4 * i, X, length, r);
  }
  ASI_UNROLL(8)
  for (int i = to->split; i < r; ++i) {
    const int k = i - to->split;
    subtract_three(to->below + k * to->below_stride, L + 4 * i, X, length, to->split);
    subtract_three(to->beyond + k * to->beyond_stride, L + 4 * i, X + to->split, length,
                   r - to->split);
  }
  note_sizes(to, r, rest, all_sizes);
  return true;
}

/// x . y
ASI_INLINED double dot(const double *x, const double *y, int n) {
  double even = 0.0, odd = 0.0;
  ASI_UNROLL(8)
  for (int j = 0; j + 1 < n; j += 2) {
    even += x[j] * y[j];
    odd += x[j + 1] * y[j + 1];
  }
  return n & 1 ? even + x[n - 1] * y[n - 1] + odd : even + odd;
}

/// Solves with the L of a front: its pivots in p, their part of the others subtracted from q: the first `split` of
/// them, and the others in `more`.
ASI_INLINED void forward_front(const double *restrict P, int w, int r, int split,
                               double *restrict p, double *restrict q, double *restrict more) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  const double *const L = P + w * length;
  ASI_UNROLL(16)
  for (int j = 0; j < w; ++j) {
    ASI_UNROLL(16)
    for (int k = j + 1; k < w; ++k) p[k] -= P[k * length + j] * p[j];
  }
  ASI_UNROLL(8)
  for (int k = 0; k < split; ++k) q[k] -= dot(L + k * width, p, w);
  ASI_UNROLL(8)
  for (int k = split; k < r; ++k) more[k - split] -= dot(L + k * width, p, w);
}

/// Solves with the U of a front for its pivots; the others, in q, are known.
ASI_INLINED void backward_front(const double *restrict P, const double *restrict inverse, int w,
                                int r, int split, double *restrict p, const double *restrict q,
                                const double *restrict more) {
  const int length = w + (w & 1) + r + (r & 1);
  ASI_UNROLL(16)
  for (int k = 0; k < w; ++k) {
    p[k] -= dot(P + k * length + w, q, split);
    if (split < r) p[k] -= dot(P + k * length + w + split, more, r - split);
  }
  ASI_UNROLL(16)
  for (int j = w - 1; j >= 0; --j) {
    p[j] *= inverse[j];
    ASI_UNROLL(16)
    for (int k = 0; k < j; ++k) p[k] -= P[k * length + j] * p[j];
  }
}

/// The same with the inverse of three pivots' matrix.
ASI_INLINED void forward_three(const double *restrict P, int r, int split, double *restrict p,
                               double *restrict q, double *restrict more) {
  const int length = 4 + r + (r & 1);
  const double *const L = P + 3 * length, a = p[0], b = p[1], c = p[2];
  ASI_UNROLL(3)
  for (int k = 0; k < 3; ++k)
    p[k] = P[k * length] * a + P[k * length + 1] * b + P[k * length + 2] * c;
  ASI_UNROLL(8)
  for (int k = 0; k < split; ++k) q[k] -= dot(L + 4 * k, p, 3);
  ASI_UNROLL(8)
  for (int k = split; k < r; ++k) more[k - split] -= dot(L + 4 * k, p, 3);
}

ASI_INLINED void backward_three(const double *restrict P, int r, int split, double *restrict p,
                                const double *restrict q, const double *restrict more) {
  const int length = 4 + r + (r & 1);
  ASI_UNROLL(3)
  for (int k = 0; k < 3; ++k) {
    p[k] -= dot(P + k * length + 3, q, split);
    if (split < r) p[k] -= dot(P + k * length + 3 + split, more, r - split);
  }
}

#endif
