/// Sparse matrices made of entries: sorted by counting, first by rows, then by columns, which keeps the order
/// of entries at one place; so their sum is the same each time.
#include "linalg/sparse.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static as_status check_entries(int rows, int cols, const as_entry *entries, size_t n,
                               as_error *error) {
  if (rows < 1 || cols < 1 || rows > AS_SPARSE_ROWS || cols > AS_SPARSE_ROWS)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A matrix of %d x %d is not possible: 1 to %d rows and columns are.", rows,
                    cols, (int)AS_SPARSE_ROWS);
  if (n > INT_MAX / 2)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A matrix has %zu entries, more than %d.", n, INT_MAX / 2);
  for (size_t k = 0; k < n; ++k) {
    const as_entry *e = &entries[k];
    if (e->row < 0 || e->row >= rows || e->col < 0 || e->col >= cols)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "Entry (%d, %d) is outside a matrix of %d x %d.", e->row, e->col, rows, cols);
    if (!isfinite(e->value))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "Entry (%d, %d) is %g.", e->row,
                      e->col, e->value);
  }
  return AS_OK;
}

/// A stable sort by row, or by column; `start` has room for one number more than there are.
static void sort_entries(const as_entry *from, size_t n, bool by_column, int count, int *start,
                         as_entry *to) {
  memset(start, 0, ((size_t)count + 1) * sizeof(int));
  for (size_t k = 0; k < n; ++k) ++start[(by_column ? from[k].col : from[k].row) + 1];
  for (int i = 0; i < count; ++i) start[i + 1] += start[i];
  for (size_t k = 0; k < n; ++k) to[start[by_column ? from[k].col : from[k].row]++] = from[k];
}

/// Sorted entries, those at one place added up.
static void compress(const as_entry *sorted, size_t n, as_sparse *m) {
  int count = 0;
  for (size_t k = 0; k < n; ++k) {
    const bool same =
        k > 0 && sorted[k].row == sorted[k - 1].row && sorted[k].col == sorted[k - 1].col;
    if (same) {
      m->value[count - 1] += sorted[k].value;
      continue;
    }
    m->row[count] = sorted[k].row;
    m->value[count++] = sorted[k].value;
    ++m->col_start[sorted[k].col + 1];
  }
  for (int j = 0; j < m->cols; ++j) m->col_start[j + 1] += m->col_start[j];
}

/// Numbers that are finite may have a sum that is not; then there is no matrix.
static as_status check_sums(as_sparse **m, as_error *error) {
  for (int j = 0; j < (*m)->cols; ++j)
    for (int k = (*m)->col_start[j]; k < (*m)->col_start[j + 1]; ++k) {
      if (isfinite((*m)->value[k])) continue;
      const int row = (*m)->row[k];
      as_sparse_destroy(*m);
      *m = NULL;
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The sum of the entries at (%d, %d) is too large.", row, j);
    }
  return AS_OK;
}

static as_sparse *make(int rows, int cols, size_t n) {
  as_sparse *m = asi_calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  m->rows = rows;
  m->cols = cols;
  m->col_start = asi_calloc((size_t)cols + 1, sizeof(int));
  m->row = asi_calloc(n, sizeof(int));
  m->value = asi_calloc(n, sizeof(double));
  if (m->col_start && m->row && m->value) return m;
  as_sparse_destroy(m);
  return NULL;
}

as_status as_sparse_create(int rows, int cols, const as_entry *entries, size_t n, as_sparse **out,
                           as_error *error) {
  *out = NULL;
  const as_status status = check_entries(rows, cols, entries, n, error);
  if (status) return status;
  as_entry *work = asi_calloc(2 * n, sizeof *work);
  int *start = asi_calloc((size_t)(rows > cols ? rows : cols) + 1, sizeof(int));
  as_sparse *m = make(rows, cols, n);
  if (work && start && m) {
    sort_entries(entries, n, false, rows, start, work + n);
    sort_entries(work + n, n, true, cols, start, work);
    compress(work, n, m);
    *out = m;
  } else {
    as_sparse_destroy(m);
  }
  free(work);
  free(start);
  if (*out == NULL) return asi_fail_memory(error);
  return check_sums(out, error);
}

void as_sparse_destroy(as_sparse *m) {
  if (m == NULL) return;
  free(m->col_start);
  free(m->row);
  free(m->value);
  free(m);
}

as_sparse *asi_sparse_copy(const as_sparse *from) {
  const size_t n = (size_t)asi_sparse_nnz(from);
  as_sparse *m = make(from->rows, from->cols, n);
  if (m == NULL) return NULL;
  memcpy(m->col_start, from->col_start, ((size_t)from->cols + 1) * sizeof(int));
  if (n > 0) memcpy(m->row, from->row, n * sizeof(int));
  if (n > 0) memcpy(m->value, from->value, n * sizeof(double));
  return m;
}

as_sparse *asi_sparse_part(const as_sparse *from, const int *index, int n) {
  size_t count = 0;
  for (int j = 0; j < from->cols; ++j)
    for (int k = from->col_start[j]; k < from->col_start[j + 1] && index[j] >= 0; ++k)
      count += index[from->row[k]] >= 0;
  as_sparse *m = make(n, n, count);
  if (m == NULL) return NULL;
  int at = 0;
  for (int j = 0; j < from->cols; ++j) {
    if (index[j] < 0) continue;
    for (int k = from->col_start[j]; k < from->col_start[j + 1]; ++k) {
      if (index[from->row[k]] < 0) continue;
      m->row[at] = index[from->row[k]];
      m->value[at++] = from->value[k];
    }
    m->col_start[index[j] + 1] = at;
  }
  return m;
}
