/// Compressed-column matrices over a fixed pattern, see matrix.h.
#include "linalg/matrix.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int as_matrix_position(const as_matrix *m, int row, int col) {
  if (row < 0 || row >= m->rows || col < 0 || col >= m->cols) return -1;
  if (m->dense) return col * m->rows + row;
  int low = m->col_start[col], high = m->col_start[col + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (m->row[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low < m->col_start[col + 1] && m->row[low] == row ? low : -1;
}

void as_matrix_add(as_matrix *m, int row, int col, double x) {
  const int position = as_matrix_position(m, row, col);
  if (position >= 0) {
    m->value[position] += x;
  } else if (m->recorder && row >= 0 && row < m->rows && col >= 0 && col < m->cols) {
    asi_recorder_add(m->recorder, row, col);
  } else if (!m->stray) {
    m->stray = true;
    m->stray_row = row;
    m->stray_col = col;
  }
}

void as_matrix_add_block(as_matrix *m, int row, int col, int rows, int cols, const double *x) {
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) as_matrix_add(m, row + i, col + j, x[i * cols + j]);
}

static as_status check_pattern(int rows, int cols, as_pattern given, const char *name,
                               as_error *error) {
  if (given.col_start == NULL || given.row == NULL) {
    asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
             "The pattern of block %s has only one of col_start and row.", name);
    return AS_ERR_ARGUMENT;
  }
  if (given.col_start[0] != 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The pattern of block %s starts at %d instead of 0.", name, given.col_start[0]);
  for (int j = 0; j < cols; ++j) {
    if (given.col_start[j + 1] < given.col_start[j])
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The pattern of block %s has a negative count in column %d.", name, j);
    int last = -1;
    for (int p = given.col_start[j]; p < given.col_start[j + 1]; ++p) {
      if (given.row[p] <= last || given.row[p] >= rows)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The pattern of block %s has row %d out of order or range in column %d.",
                        name, given.row[p], j);
      last = given.row[p];
    }
  }
  return AS_OK;
}

as_status asi_pattern_init(asi_pattern *p, int rows, int cols, as_pattern given, const char *name,
                           as_error *error) {
  *p = (asi_pattern){.rows = rows, .cols = cols};
  p->dense = given.col_start == NULL && given.row == NULL;
  if (!p->dense) {
    const as_status status = check_pattern(rows, cols, given, name, error);
    if (status) return status;
  } else if ((double)rows * (double)cols > (double)INT_MAX) {
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Block %s is dense with %.3g entries: give its pattern.", name,
                    (double)rows * (double)cols);
  }
  const int nnz = p->dense ? rows * cols : given.col_start[cols];
  p->col_start = asi_calloc((size_t)cols + 1, sizeof(int));
  p->row = asi_calloc((size_t)nnz, sizeof(int));
  if (p->col_start == NULL || p->row == NULL) {
    asi_pattern_free(p);
    return asi_fail_memory(error);
  }
  for (int j = 0; j <= cols; ++j) p->col_start[j] = p->dense ? j * rows : given.col_start[j];
  for (int k = 0; k < nnz; ++k) p->row[k] = p->dense ? k % rows : given.row[k];
  return AS_OK;
}

void asi_pattern_free(asi_pattern *p) {
  free(p->col_start);
  free(p->row);
  *p = (asi_pattern){0};
}

bool asi_pattern_equal(const asi_pattern *a, const asi_pattern *b) {
  const size_t columns = (size_t)a->cols + 1, entries = (size_t)asi_pattern_nnz(a);
  return a->rows == b->rows && a->cols == b->cols &&
         memcmp(a->col_start, b->col_start, columns * sizeof(int)) == 0 &&
         memcmp(a->row, b->row, entries * sizeof(int)) == 0;
}

int asi_pattern_nnz(const asi_pattern *p) { return p->col_start ? p->col_start[p->cols] : 0; }

as_status asi_row_view_init(asi_row_view *view, const asi_pattern *p, as_error *error) {
  const int nnz = asi_pattern_nnz(p);
  view->start = asi_calloc((size_t)p->rows + 2, sizeof(int));
  view->col = asi_calloc((size_t)nnz, sizeof(int));
  view->position = asi_calloc((size_t)nnz, sizeof(int));
  if (view->start == NULL || view->col == NULL || view->position == NULL) {
    asi_row_view_free(view);
    return asi_fail_memory(error);
  }
  // start[i + 1] counts row i, shifted by one while filling so that it ends as row i's start.
  for (int k = 0; k < nnz; ++k) ++view->start[p->row[k] + 2];
  for (int i = 0; i < p->rows; ++i) view->start[i + 2] += view->start[i + 1];
  for (int j = 0; j < p->cols; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      const int slot = view->start[p->row[k] + 1]++;
      view->col[slot] = j;
      view->position[slot] = k;
    }
  }
  return AS_OK;
}

void asi_row_view_free(asi_row_view *view) {
  free(view->start);
  free(view->col);
  free(view->position);
  *view = (asi_row_view){0};
}

as_status asi_matrix_init(as_matrix *m, const asi_pattern *p, as_error *error) {
  *m = (as_matrix){.rows = p->rows,
                   .cols = p->cols,
                   .col_start = p->col_start,
                   .row = p->row,
                   .dense = p->dense,
                   .stray_row = -1,
                   .stray_col = -1};
  m->value = asi_calloc((size_t)asi_pattern_nnz(p), sizeof(double));
  return m->value ? AS_OK : asi_fail_memory(error);
}

void asi_matrix_free(as_matrix *m) {
  free(m->value);
  m->value = NULL;
}

void asi_matrix_clear(as_matrix *m) {
  if (m->value) memset(m->value, 0, (size_t)m->col_start[m->cols] * sizeof(double));
  m->stray = false;
  m->stray_row = m->stray_col = -1;
}

static int compare_entries(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/// Sorts the entries and keeps each once.
static void compact(as_recorder *r) {
  if (r->count == 0) return;
  qsort(r->entry, r->count, sizeof r->entry[0], compare_entries);
  size_t kept = 1;
  for (size_t k = 1; k < r->count; ++k)
    if (r->entry[k] != r->entry[kept - 1]) r->entry[kept++] = r->entry[k];
  r->count = kept;
}

void asi_recorder_add(as_recorder *r, int row, int col) {
  if (r->failed) return;
  if (r->count == r->capacity) {
    compact(r);
    // With few repetitions more room is needed, also so that the next sort is far off.
    if (r->count >= r->capacity / 2) {
      const size_t capacity = 2 * r->capacity + 64;
      int64_t *entry =
          capacity > SIZE_MAX / sizeof *entry ? NULL : realloc(r->entry, capacity * sizeof *entry);
      r->failed = entry == NULL;
      if (r->failed) return;
      r->entry = entry;
      r->capacity = capacity;
    }
  }
  r->entry[r->count++] = (int64_t)col * r->rows + row;
}

as_status asi_recorder_pattern(as_recorder *r, asi_pattern *out, as_error *error) {
  *out = (asi_pattern){.rows = r->rows, .cols = r->cols};
  compact(r);
  if (r->failed || r->count > INT_MAX) return asi_fail_memory(error);
  out->col_start = asi_calloc((size_t)r->cols + 1, sizeof(int));
  out->row = asi_calloc(r->count, sizeof(int));
  if (out->col_start == NULL || out->row == NULL) {
    asi_pattern_free(out);
    return asi_fail_memory(error);
  }
  for (size_t k = 0; k < r->count; ++k) {
    ++out->col_start[r->entry[k] / r->rows + 1];
    out->row[k] = (int)(r->entry[k] % r->rows);
  }
  for (int j = 0; j < r->cols; ++j) out->col_start[j + 1] += out->col_start[j];
  return AS_OK;
}

void asi_recorder_free(as_recorder *r) {
  free(r->entry);
  *r = (as_recorder){0};
}

void asi_matrix_multiply_add(const as_matrix *m, double factor, const double *x, double *y) {
  for (int j = 0; j < m->cols; ++j) {
    const double s = factor * x[j];
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k) y[m->row[k]] += m->value[k] * s;
  }
}
