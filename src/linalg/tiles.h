/// Large fronts, eliminated and solved by tiles of a few rows and columns that stay in registers, see kernels.h.
///
/// An entry is what it is there, to the last bit: pivots are subtracted from it one after the other, in the same order. Only
/// which entries come next is different: those of a tile, all pivots at once, instead of all entries, one pivot after the other.
/// So the results do not depend on the size of tiles, nor on the processor: those with AVX2 take twice as many columns.
#ifndef ALPHASTEP_LINALG_TILES_H
#define ALPHASTEP_LINALG_TILES_H

#include "linalg/kernels.h"

/// Four numbers; processors without AVX2 take them as two pairs.
typedef double asi_simd4 __attribute__((vector_size(32), aligned(8), may_alias));

/// Tiles have so many rows, and of columns four or, with AVX2, eight.
enum { ASI_TILE_ROWS = 4 };

/// A tile of `rows` times 4 `quads` columns minus L times U, count pivots in ascending order.
ASI_INLINED void subtract_tile(double *restrict tile, int stride, const double *restrict L,
                               int width, const double *restrict U, int length, int count, int rows,
                               int quads) {
  asi_simd4 sum[ASI_TILE_ROWS][2];
  ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) ASI_UNROLL(2)
  for (int j = 0; j < quads; ++j) sum[i][j] = *(const asi_simd4 *)(tile + i * stride + 4 * j);
  ASI_UNROLL(1)
  for (int k = 0; k < count; ++k) {
    ASI_UNROLL(4)
    for (int i = 0; i < rows; ++i) {
      const double l = L[i * width + k];
      const asi_simd4 factor = {l, l, l, l};
      ASI_UNROLL(2)
      for (int j = 0; j < quads; ++j)
        sum[i][j] -= factor * *(const asi_simd4 *)(U + k * length + 4 * j);
    }
  }
  ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) ASI_UNROLL(2)
  for (int j = 0; j < quads; ++j) *(asi_simd4 *)(tile + i * stride + 4 * j) = sum[i][j];
}

/// One column of a tile.
ASI_INLINED void subtract_column(double *restrict tile, int stride, const double *restrict L,
                                 int width, const double *restrict U, int length, int count,
                                 int rows) {
  double sum[ASI_TILE_ROWS];
  ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) sum[i] = tile[i * stride];
  ASI_UNROLL(1)
  for (int k = 0; k < count; ++k) ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) sum[i] -= L[i * width + k] * U[k * length];
  ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) tile[i * stride] = sum[i];
}

/// Some rows of n columns minus L times U.
ASI_INLINED void subtract_strip(double *restrict S, int stride, const double *restrict L, int width,
                                const double *restrict U, int length, int count, int rows, int n,
                                int quads) {
  int j = 0;
  for (; j + 4 * quads <= n; j += 4 * quads)
    subtract_tile(S + j, stride, L, width, U + j, length, count, rows, quads);
  if (quads > 1 && j + 4 <= n) {
    subtract_tile(S + j, stride, L, width, U + j, length, count, rows, 1);
    j += 4;
  }
  for (; j < n; ++j) subtract_column(S + j, stride, L, width, U + j, length, count, rows);
}

/// S -= L U: m rows of n columns, count pivots.
ASI_INLINED void subtract_product(double *restrict S, int stride, const double *restrict L,
                                  int width, const double *restrict U, int length, int count, int m,
                                  int n, int quads) {
  int i = 0;
  for (; i + ASI_TILE_ROWS <= m; i += ASI_TILE_ROWS)
    subtract_strip(S + i * stride, stride, L + i * width, width, U, length, count, ASI_TILE_ROWS, n,
                   quads);
  for (; i < m; ++i)
    subtract_strip(S + i * stride, stride, L + i * width, width, U, length, count, 1, n, quads);
}

/// Subtracts `count` rows of P from some rows beside or below it, n columns of each, whose first entries become L.
ASI_INLINED void eliminate_rows(double *restrict row, int stride, const double *restrict P,
                                int length, const double *restrict inverse, int count, int rows,
                                int n, int quads) {
  const int block = 4 * quads;
  for (int c = 0; c < count; c += block) {
    const int end = c + block < n ? c + block : n, last = c + block < count ? c + block : count;
    subtract_strip(row + c, stride, row, stride, P + c, length, c, rows, end - c, quads);
    for (int k = c; k < last; ++k)
      for (int i = 0; i < rows; ++i) {
        const double l = row[i * stride + k] * inverse[k];
        for (int j = k + 1; j < end; ++j) row[i * stride + j] -= l * P[k * length + j];
        row[i * stride + k] = l;
      }
  }
  const int done = (count + block - 1) / block * block;
  if (done < n)
    subtract_strip(row + done, stride, row, stride, P + done, length, count, rows, n - done, quads);
}

/// The largest size that an entry has while l[k] u[k length] is subtracted from it, if it is more than `size`.
ASI_INLINED double largest_on_the_way(double entry, const double *l, const double *u, int length,
                                      int count, double size) {
  size = larger(fabs(entry), size);
  for (int k = 0; k < count; ++k) {
    entry -= l[k] * u[k * length];
    size = larger(fabs(entry), size);
  }
  return size;
}

/// The first part of eliminate_front() of kernels.h: P becomes L11 \ U11 and U12.
ASI_INLINED bool eliminate_large_pivots(double *restrict P, int w, int r, double least,
                                        double *size, int *swap, bool *searched, bool *doubtful,
                                        double *restrict inverse, int quads) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  *searched = false;
  for (int i = 0; i < w; ++i) {
    double *const row = P + i * length;
    const double diagonal = row[i];
    eliminate_rows(row, length, P, length, inverse, i, 1, length, quads);
    const double most = largest_on_the_way(diagonal, row, P + i, length, i, size[i]);
    const double pivot = fabs(row[i]);
    const bool doubt = is_doubtful(pivot, most, largest_of(row, i, length));
    if (doubt && !(pivot > least * most && pivot > GOOD_PIVOT * largest_of(row, i, width))) {
      size[i] = most;
      *searched = true;
      return search_pivots(P, w, length, i, least, size, swap, inverse, doubtful);
    }
    if (doubt) *doubtful = true;
    inverse[i] = 1.0 / row[i];
  }
  return true;
}

/// The second part: rows from ... end - 1 of L become those of L21, and L21 U12 is subtracted from these rows of S. Returns the largest
/// multiplier among them.
ASI_INLINED double eliminate_large_rows(const double *restrict P, double *restrict L,
                                        const remains *to, int w, int r, int from, int end,
                                        const double *restrict inverse, const int *rest,
                                        double *all_sizes, int quads) {
  const int width = w + (w & 1), length = width + r + (r & 1), split = to->split;
  const double *const U = P + w;
  int i = from;
  for (; i + ASI_TILE_ROWS <= end; i += ASI_TILE_ROWS)
    eliminate_rows(L + i * width, width, P, length, inverse, w, ASI_TILE_ROWS, w, quads);
  for (; i < end; ++i) eliminate_rows(L + i * width, width, P, length, inverse, w, 1, w, quads);
  for (i = from; i < end; ++i) {
    const int n = i - split;
    const double diagonal =
        i < split ? to->S[i * (to->stride + 1)] : to->beyond[n * (to->beyond_stride + 1)];
    all_sizes[rest[i]] =
        largest_on_the_way(diagonal, L + i * width, U + i, length, w, all_sizes[rest[i]]);
  }
  const int near = end < split ? end : split, far = from > split ? from : split;
  if (from < near)
    subtract_product(to->S + from * to->stride, to->stride, L + from * width, width, U, length, w,
                     near - from, r, quads);
  if (far < end) {
    const double *const others = L + far * width;
    subtract_product(to->below + (far - split) * to->below_stride, to->below_stride, others, width,
                     U, length, w, end - far, split, quads);
    subtract_product(to->beyond + (far - split) * to->beyond_stride, to->beyond_stride, others,
                     width, U + split, length, w, end - far, r - split, quads);
  }
  double largest = 0.0;
  for (i = from; i < end; ++i) largest = larger(largest_of(L + i * width, 0, width), largest);
  return largest;
}

/// q[i] -= row i . x for some rows, n numbers each; the sums are those of dot().
ASI_INLINED void subtract_dots(double *q, const double *row, int stride, const double *x, int n,
                               int rows) {
  asi_simd2 sum[ASI_TILE_ROWS];
  ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) sum[i] = asi_simd_splat(0.0);
  ASI_UNROLL(2)
  for (int j = 0; j + 1 < n; j += 2) {
    const asi_simd2 both = asi_simd_load(x + j);
    ASI_UNROLL(4)
    for (int i = 0; i < rows; ++i) sum[i] += asi_simd_load(row + i * stride + j) * both;
  }
  ASI_UNROLL(4)
  for (int i = 0; i < rows; ++i) {
    const double even = sum[i][0], odd = sum[i][1];
    q[i] -= n & 1 ? even + row[i * stride + n - 1] * x[n - 1] + odd : even + odd;
  }
}

/// The same for m rows.
ASI_INLINED void subtract_matrix_vector(double *q, const double *A, int stride, const double *x,
                                        int m, int n) {
  int i = 0;
  for (; i + ASI_TILE_ROWS <= m; i += ASI_TILE_ROWS)
    subtract_dots(q + i, A + i * stride, stride, x, n, ASI_TILE_ROWS);
  for (; i < m; ++i) subtract_dots(q + i, A + i * stride, stride, x, n, 1);
}

/// q[i] -= row i . x for some rows, one entry after the other: from x[0] on, or from x[n - 1] down.
ASI_INLINED void subtract_sequences(double *q, const double *row, int stride, const double *x,
                                    int n, bool down, int rows) {
  double sum[2 * ASI_TILE_ROWS];
  ASI_UNROLL(8)
  for (int i = 0; i < rows; ++i) sum[i] = q[i];
  for (int k = 0; k < n; ++k) {
    const int j = down ? n - 1 - k : k;
    ASI_UNROLL(8)
    for (int i = 0; i < rows; ++i) sum[i] -= row[i * stride + j] * x[j];
  }
  ASI_UNROLL(8)
  for (int i = 0; i < rows; ++i) q[i] = sum[i];
}

/// Solves with the unit triangle of L11: some pivots at a time, those before them subtracted first.
ASI_INLINED void forward_triangle(const double *restrict P, int length, int w, double *restrict p) {
  enum { ROWS = 2 * ASI_TILE_ROWS };
  for (int i = 0; i < w; i += ROWS) {
    const int last = i + ROWS < w ? i + ROWS : w;
    if (last == i + ROWS)
      subtract_sequences(p + i, P + i * length, length, p, i, false, ROWS);
    else
      for (int k = i; k < last; ++k)
        subtract_sequences(p + k, P + k * length, length, p, i, false, 1);
    for (int j = i; j < last; ++j)
      for (int k = j + 1; k < last; ++k) p[k] -= P[k * length + j] * p[j];
  }
}

/// The same with U11, from the last pivot on.
ASI_INLINED void backward_triangle(const double *restrict P, const double *restrict inverse,
                                   int length, int w, double *restrict p) {
  enum { ROWS = 2 * ASI_TILE_ROWS };
  for (int end = w; end > 0; end -= ROWS) {
    const int i = end > ROWS ? end - ROWS : 0;
    if (end - i == ROWS)
      subtract_sequences(p + i, P + i * length + end, length, p + end, w - end, true, ROWS);
    else
      for (int k = i; k < end; ++k)
        subtract_sequences(p + k, P + k * length + end, length, p + end, w - end, true, 1);
    for (int j = end - 1; j >= i; --j) {
      p[j] *= inverse[j];
      for (int k = i; k < j; ++k) p[k] -= P[k * length + j] * p[j];
    }
  }
}

/// forward_front() of kernels.h.
ASI_INLINED void forward_large(const double *restrict P, int w, int r, int split,
                               double *restrict p, double *restrict q, double *restrict more) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  const double *const L = P + w * length;
  forward_triangle(P, length, w, p);
  subtract_matrix_vector(q, L, width, p, split, w);
  if (split < r) subtract_matrix_vector(more, L + split * width, width, p, r - split, w);
}

/// backward_front() of kernels.h.
ASI_INLINED void backward_large(const double *restrict P, const double *restrict inverse, int w,
                                int r, int split, double *restrict p, const double *restrict q,
                                const double *restrict more) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  subtract_matrix_vector(p, P + w, length, q, w, split);
  if (split < r) subtract_matrix_vector(p, P + w + split, length, more, w, r - split);
  backward_triangle(P, inverse, length, w, p);
}

#endif
