/// The tangent space of constraints, by components: some are free, the others follow from them.
///
/// [LI.4] C z = r with the rows kept and z = (d, f), dependent and free: C_d d = r - C_f f. Rows are chosen by a QR factorization of C^T with
/// column pivoting, components by one of the rows kept, scaled by weights.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"

void asi_tangent_free(asi_tangent *t) {
  free(t->order);
  free(t->row);
  free(t->factor);
  free(t->pivot);
  free(t->rest);
  *t = (asi_tangent){0};
}

/// QR with column pivoting of the m x n matrix a, which is lost: the order of its columns, and the diagonal of R.
static as_status pivoted_qr(double *a, int m, int n, int *order, double *diagonal,
                            as_error *error) {
  const int k = m < n ? m : n;
  int info = 0, size = -1;
  double wanted = 0.0, *tau = asi_calloc((size_t)k + 1, sizeof *tau);
  memset(order, 0, (size_t)n * sizeof *order);
  if (tau == NULL) return asi_fail_memory(error);
  dgeqp3_(&m, &n, a, &m, order, tau, &wanted, &size, &info);
  size = (int)wanted;
  double *work = asi_calloc((size_t)size + 1, sizeof *work);
  if (work) dgeqp3_(&m, &n, a, &m, order, tau, work, &size, &info);
  free(tau);
  free(work);
  if (work == NULL) return asi_fail_memory(error);
  for (int i = 0; i < n; ++i) --order[i];
  for (int i = 0; i < k; ++i) diagonal[i] = fabs(a[(size_t)i * (size_t)m + (size_t)i]);
  return AS_OK;
}

static int compare(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// Chooses rows: scaled to length one, transposed.
static as_status choose_rows(asi_tangent *t, const double *c, int rows, int n, const double *weight,
                             double limit, int rank, double *a, double *diagonal, int *order,
                             as_error *error) {
  for (int i = 0; i < rows; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) {
      const double x = c[(size_t)j * (size_t)rows + (size_t)i] * weight[j];
      a[(size_t)i * (size_t)n + (size_t)j] = x;
      sum += x * x;
    }
    for (int j = 0; j < n && sum > 0.0; ++j) a[(size_t)i * (size_t)n + (size_t)j] /= sqrt(sum);
  }
  const as_status status = pivoted_qr(a, n, rows, order, diagonal, error);
  if (status) return status;
  const int most = rows < n ? rows : n;
  t->rank = 0;
  while (t->rank < most && diagonal[t->rank] > limit * diagonal[0]) ++t->rank;
  if (rank >= 0) t->rank = rank < most ? rank : most;
  memcpy(t->row, order, (size_t)t->rank * sizeof *order);
  qsort(t->row, (size_t)t->rank, sizeof *t->row, compare);
  return AS_OK;
}

static as_status choose_components(asi_tangent *t, const double *c, int rows, const double *weight,
                                   double *a, double *diagonal, as_error *error) {
  const int n = t->n;
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < t->rank; ++k)
      a[(size_t)j * (size_t)t->rank + (size_t)k] =
          c[(size_t)j * (size_t)rows + (size_t)t->row[k]] * weight[j];
  if (t->rank == 0) {
    for (int j = 0; j < n; ++j) t->order[j] = j;
    return AS_OK;
  }
  const as_status status = pivoted_qr(a, t->rank, n, t->order, diagonal, error);
  qsort(t->order, (size_t)t->rank, sizeof *t->order, compare);
  qsort(t->order + t->rank, (size_t)(n - t->rank), sizeof *t->order, compare);
  return status;
}

static bool take(asi_tangent *t, int n, int rows) {
  const size_t most = (size_t)(rows < n ? rows : n);
  t->n = n;
  t->order = asi_calloc((size_t)n, sizeof *t->order);
  t->row = asi_calloc(most, sizeof *t->row);
  t->pivot = asi_calloc(most, sizeof *t->pivot);
  t->factor = asi_calloc(most * most, sizeof *t->factor);
  t->rest = asi_calloc(most * (size_t)n, sizeof *t->rest);
  return t->order && t->row && t->pivot && t->factor && t->rest;
}

as_status asi_tangent_update(asi_tangent *t, const double *c, int rows) {
  const int r = t->rank;
  int info = 0;
  for (int j = 0; j < t->n; ++j)
    for (int k = 0; k < r; ++k) {
      const double x = c[(size_t)t->order[j] * (size_t)rows + (size_t)t->row[k]];
      if (j < r)
        t->factor[(size_t)j * (size_t)r + (size_t)k] = x;
      else
        t->rest[(size_t)(j - r) * (size_t)r + (size_t)k] = x;
    }
  if (r > 0) dgetrf_(&r, &r, t->factor, &r, t->pivot, &info);
  return info == 0 ? AS_OK : AS_ERR_SINGULAR;
}

as_status asi_tangent_init(asi_tangent *t, const double *c, int rows, int n, const double *weight,
                           double limit, int rank, as_error *error) {
  *t = (asi_tangent){0};
  const size_t size = (size_t)(n > rows ? n : rows);
  double *a = asi_calloc((size_t)n * (size_t)rows + 1, sizeof *a);
  double *diagonal = asi_calloc(size + 1, sizeof *diagonal);
  int *order = asi_calloc(size + 1, sizeof *order);
  as_status status = AS_OK;
  if (!take(t, n, rows) || a == NULL || diagonal == NULL || order == NULL)
    status = asi_fail_memory(error);
  if (status == AS_OK && rows > 0)
    status = choose_rows(t, c, rows, n, weight, limit, rank, a, diagonal, order, error);
  if (status == AS_OK) status = choose_components(t, c, rows, weight, a, diagonal, error);
  free(a);
  free(diagonal);
  free(order);
  if (status) return status;
  if (asi_tangent_update(t, c, rows))
    return asi_fail(error, AS_ERR_SINGULAR, (double)NAN, NULL,
                    "The constraint matrix could not be factorized.");
  return AS_OK;
}

as_status asi_tangent_copy(asi_tangent *t, const asi_tangent *from) {
  *t = (asi_tangent){0};
  if (!take(t, from->n, from->rank)) return AS_ERR_MEMORY;
  t->rank = from->rank;
  memcpy(t->order, from->order, (size_t)t->n * sizeof *t->order);
  memcpy(t->row, from->row, (size_t)t->rank * sizeof *t->row);
  return AS_OK;
}

void asi_tangent_complete(const asi_tangent *t, const double *r, double *z, double *work) {
  const int rank = t->rank, one = 1;
  int info = 0;
  if (rank == 0) return;
  for (int k = 0; k < rank; ++k) work[k] = r ? r[t->row[k]] : 0.0;
  for (int j = rank; j < t->n; ++j) {
    const double x = z[t->order[j]], *column = t->rest + (size_t)(j - rank) * (size_t)rank;
    for (int k = 0; k < rank && x != 0.0; ++k) work[k] -= column[k] * x;
  }
  dgetrs_("N", &rank, &one, t->factor, &rank, t->pivot, work, &rank, &info, 1);
  for (int k = 0; k < rank; ++k) z[t->order[k]] = work[k];
}
