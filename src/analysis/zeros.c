/// Transmission zeros of a linear system: where the rank of [A - s, B; C, D] drops.
///
/// [LI.13] Outputs that D does not reach take states out: with the rows of D compressed to [D_1; 0] and C_2 V = [0 S], S regular,
///
///     A, B, C, D  <-  A_11, B_1, [C_11; A_21], [D_1; B_2]
///
/// has the same zeros and fewer states. Repeated until D has full row rank, then with the transposed system until D is regular; the zeros are the
/// eigenvalues of A - B D^-1 C.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/response.h"
#include "analysis/linearization.h"
#include "analysis/modes.h"
#include "base/error.h"

void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info, size_t jobu_length, size_t jobvt_length);

// A singular value below this part of the largest entry is zero.
#define RANK_LIMIT 1e-10
enum { MOST_SCALINGS = 20 };

/// [A B; C D] in one square array with `high` rows, by columns: n states, then m inputs or p outputs.
typedef struct pencil {
  int n, m, p, high;
  double *x;
  double *turned, *part, *u, *vt, *sigma, *work;
  int work_size;
  double limit;
} pencil;

static double *at(const pencil *z, int i, int j) {
  return z->x + (size_t)j * (size_t)z->high + (size_t)i;
}

static bool take(pencil *z, const as_linear_system *s) {
  *z = (pencil){.n = s->n, .m = s->m, .p = s->p, .high = s->n + (s->m > s->p ? s->m : s->p) + 1};
  const size_t all = (size_t)z->high * (size_t)z->high;
  z->work_size = 10 * z->high + 64;
  double **const square[] = {&z->x, &z->turned, &z->part, &z->u, &z->vt};
  for (size_t i = 0; i < sizeof square / sizeof square[0]; ++i)
    if ((*square[i] = asi_calloc(all, sizeof(double))) == NULL) return false;
  z->sigma = asi_calloc((size_t)z->high, sizeof(double));
  z->work = asi_calloc((size_t)z->work_size, sizeof(double));
  return z->sigma && z->work;
}

static void release(pencil *z) {
  double *const all[] = {z->x, z->turned, z->part, z->u, z->vt, z->sigma, z->work};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
}

static void fill(pencil *z, const as_linear_system *s) {
  for (int j = 0; j < z->n + z->m; ++j)
    for (int i = 0; i < z->n + z->p; ++i) {
      const double *from = i < z->n ? (j < z->n ? s->a : s->b) : (j < z->n ? s->c : s->d);
      const int rows = i < z->n ? z->n : z->p;
      *at(z, i, j) = from[(size_t)(j < z->n ? j : j - z->n) * (size_t)rows +
                          (size_t)(i < z->n ? i : i - z->n)];
    }
}

static double largest_in(const pencil *z, bool row, int k) {
  double most = 0.0;
  const int end = row ? z->n + z->m : z->n + z->p;
  for (int i = 0; i < end; ++i) {
    if (i == k && k < z->n) continue;
    most = fmax(most, fabs(row ? *at(z, k, i) : *at(z, i, k)));
  }
  return most;
}

static void scale(const pencil *z, bool row, int k, int power) {
  const int end = row ? z->n + z->m : z->n + z->p;
  for (int i = 0; i < end; ++i) {
    double *x = row ? at(z, k, i) : at(z, i, k);
    *x = ldexp(*x, power);
  }
}

/// Scales states, inputs and outputs by powers of two: row and column of a state have one size, those of inputs and outputs that of the largest.
static void balance(pencil *z) {
  double size = 0.0;
  for (int pass = 0; pass < MOST_SCALINGS; ++pass) {
    bool changed = false;
    size = 0.0;
    for (int k = 0; k < z->n; ++k) {
      const double row = largest_in(z, true, k), column = largest_in(z, false, k);
      const int power =
          row > 0.0 && column > 0.0 ? (int)lround(0.5 * (log2(column) - log2(row))) : 0;
      scale(z, true, k, power);
      scale(z, false, k, -power);
      changed = changed || power != 0;
    }
    for (int j = 0; j < z->n; ++j)
      for (int i = 0; i < z->n; ++i) size = fmax(size, fabs(*at(z, i, j)));
    if (size == 0.0) size = 1.0;
    for (int k = 0; k < z->m; ++k) {
      const double most = largest_in(z, false, z->n + k);
      if (most > 0.0) scale(z, false, z->n + k, (int)lround(log2(size / most)));
    }
    for (int k = 0; k < z->p; ++k) {
      const double most = largest_in(z, true, z->n + k);
      if (most > 0.0) scale(z, true, z->n + k, (int)lround(log2(size / most)));
    }
    if (!changed) break;
  }
  z->limit = RANK_LIMIT * size;
}

/// Singular values and both sides of rows i0 .. i0 + rows, columns j0 .. j0 + columns; returns the rank, -1: no convergence.
static int decompose(pencil *z, int i0, int rows, int j0, int columns) {
  int info = 0, rank = 0;
  const int least = rows < columns ? rows : columns;
  if (least == 0) return 0;
  for (int j = 0; j < columns; ++j)
    memcpy(z->part + (size_t)j * (size_t)rows, at(z, i0, j0 + j), (size_t)rows * sizeof(double));
  dgesvd_("A", "A", &rows, &columns, z->part, &rows, z->sigma, z->u, &rows, z->vt, &columns,
          z->work, &z->work_size, &info, 1, 1);
  if (info != 0) return -1;
  while (rank < least && z->sigma[rank] > z->limit) ++rank;
  return rank;
}

/// Rows i0 on <- U^T rows, U being rows x rows, over all columns.
static void turn_rows(pencil *z, int i0, int rows, const double *u) {
  for (int j = 0; j < z->n + z->m; ++j) {
    for (int i = 0; i < rows; ++i) {
      double sum = 0.0;
      for (int k = 0; k < rows; ++k)
        sum += u[(size_t)i * (size_t)rows + (size_t)k] * *at(z, i0 + k, j);
      z->sigma[i] = sum;
    }
    memcpy(at(z, i0, j), z->sigma, (size_t)rows * sizeof(double));
  }
}

/// States x <- V^T x, V having the rows of vt in the reverse order: what the last ones were comes first.
static void turn_states(pencil *z) {
  const int n = z->n;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) // V by columns
      z->u[(size_t)k * (size_t)n + (size_t)i] = z->vt[(size_t)i * (size_t)n + (size_t)(n - 1 - k)];
  turn_rows(z, 0, n, z->u);
  for (int i = 0; i < n + z->p; ++i) {
    for (int k = 0; k < n; ++k) {
      double sum = 0.0;
      for (int j = 0; j < n; ++j) sum += *at(z, i, j) * z->u[(size_t)k * (size_t)n + (size_t)j];
      z->sigma[k] = sum;
    }
    for (int k = 0; k < n; ++k) *at(z, i, k) = z->sigma[k];
  }
}

/// Takes out the last `count` states: their equations become outputs, which follow `kept` others.
static void take_out_states(pencil *z, int kept, int count) {
  const int n = z->n, left = n - count, p = kept + count;
  // Rows in the order: states that stay, outputs kept, equations of states that go. Columns: states that stay, inputs.
  for (int j = 0; j < n + z->m; ++j) {
    if (j >= left && j < n) continue;
    double *column = at(z, 0, j);
    memcpy(z->sigma, column + left, (size_t)count * sizeof(double));
    memmove(column + left, column + n, (size_t)kept * sizeof(double));
    memcpy(column + left + kept, z->sigma, (size_t)count * sizeof(double));
  }
  for (int j = 0; j < z->m; ++j)
    memmove(at(z, 0, left + j), at(z, 0, n + j), (size_t)(left + p) * sizeof(double));
  z->n = left;
  z->p = p;
}

/// Until D has full row rank. False: no convergence.
static bool reduce(pencil *z) {
  for (;;) {
    const int rank = decompose(z, z->n, z->p, z->n, z->m);
    if (rank < 0) return false;
    if (rank == z->p) return true;
    if (z->m > 0) turn_rows(z, z->n, z->p, z->u);
    for (int j = 0; j < z->m; ++j)
      for (int i = rank; i < z->p; ++i) *at(z, z->n + i, z->n + j) = 0.0;
    const int seen = decompose(z, z->n + rank, z->p - rank, 0, z->n);
    if (seen < 0) return false;
    if (seen > 0) turn_states(z);
    if (seen == 0)
      z->p = rank;
    else
      take_out_states(z, rank, seen);
  }
}

static void transpose(pencil *z) {
  const int rows = z->n + z->p, columns = z->n + z->m;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i)
      z->turned[(size_t)i * (size_t)z->high + (size_t)j] = *at(z, i, j);
  double *x = z->x;
  z->x = z->turned;
  z->turned = x;
  const int m = z->m;
  z->m = z->p;
  z->p = m;
}

/// Eigenvalues of A - B D^-1 C.
static int find(pencil *z, double *re, double *im) {
  const int n = z->n, m = z->m;
  int info = 0, *pivot = asi_calloc((size_t)m + 1, sizeof *pivot);
  if (pivot == NULL) return -2;
  for (int j = 0; j < m; ++j)
    memcpy(z->u + (size_t)j * (size_t)m, at(z, n, n + j), (size_t)m * sizeof(double));
  for (int j = 0; j < n; ++j)
    memcpy(z->vt + (size_t)j * (size_t)m, at(z, n, j), (size_t)m * sizeof(double));
  if (m > 0) dgetrf_(&m, &m, z->u, &m, pivot, &info);
  if (m > 0 && info == 0) dgetrs_("N", &m, &n, z->u, &m, pivot, z->vt, &m, &info, 1);
  free(pivot);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double sum = *at(z, i, j);
      for (int k = 0; k < m; ++k)
        sum -= *at(z, i, n + k) * z->vt[(size_t)j * (size_t)m + (size_t)k];
      z->part[(size_t)j * (size_t)n + (size_t)i] = sum;
    }
  if (info != 0) return -1;
  const int failed = n > 0 ? asi_eigenvalues(z->part, n, RANK_LIMIT, re, im) : 0;
  return failed == 0 ? n : failed < 0 ? -2 : -1;
}

as_status as_transmission_zeros(const as_linear_system *s, double *re, double *im, int *count,
                                as_error *error) {
  if (s == NULL || re == NULL || im == NULL || count == NULL || s->n < 0 || s->m < 0 || s->p < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "Transmission zeros need a system and a place for them.");
  pencil z;
  *count = 0;
  if (!take(&z, s)) {
    release(&z);
    return asi_fail_memory(error);
  }
  int found = 0;
  if (s->m > 0 && s->p > 0) {
    fill(&z, s);
    balance(&z);
    bool good = reduce(&z);
    transpose(&z);
    good = good && reduce(&z);
    transpose(&z);
    found = good ? find(&z, re, im) : -1;
  }
  release(&z);
  if (found == -2) return asi_fail_memory(error);
  if (found < 0)
    return asi_fail(error, AS_ERR_SINGULAR, (double)NAN, NULL,
                    "The zeros could not be found: LAPACK did not converge.");
  *count = found;
  return AS_OK;
}
