/// Patterns and compressed-column matrices shared by the callbacks' blocks and the solvers.
#ifndef ALPHASTEP_LINALG_MATRIX_H
#define ALPHASTEP_LINALG_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "alphastep/matrix.h"
#include "alphastep/status.h"

/// A pattern that owns its arrays.
typedef struct asi_pattern {
  int rows;
  int cols;
  bool dense;
  int *col_start; ///< cols + 1
  int *row;       ///< col_start[cols], increasing within a column
} asi_pattern;

/// The same pattern seen by rows: row i holds the columns col[start[i]] ... with their values at
/// position[start[i]] ... of the column-wise value array.
typedef struct asi_row_view {
  int *start;
  int *col;
  int *position;
} asi_row_view;

/// Copies and checks `given` (empty: dense); `name` is for messages.
as_status asi_pattern_init(asi_pattern *p, int rows, int cols, as_pattern given, const char *name,
                           as_error *error);
void asi_pattern_free(asi_pattern *p);
bool asi_pattern_equal(const asi_pattern *a, const asi_pattern *b);
int asi_pattern_nnz(const asi_pattern *p);

as_status asi_row_view_init(asi_row_view *view, const asi_pattern *p, as_error *error);
void asi_row_view_free(asi_row_view *view);

/// A matrix over `p` with values of its own; freed by asi_matrix_free.
as_status asi_matrix_init(as_matrix *m, const asi_pattern *p, as_error *error);
void asi_matrix_free(as_matrix *m);
/// All values zero, no stray entry.
void asi_matrix_clear(as_matrix *m);

/// Collects entries in any order, each as often as it comes: memory goes with the different ones.
struct as_recorder {
  int rows;
  int cols;
  int64_t *entry; ///< col * rows + row
  size_t count;
  size_t capacity;
  bool failed; ///< memory ran out
};

void asi_recorder_add(as_recorder *r, int row, int col);
/// The entries as a pattern, with arrays of its own.
as_status asi_recorder_pattern(as_recorder *r, asi_pattern *out, as_error *error);
void asi_recorder_free(as_recorder *r);

void asi_matrix_multiply_add(const as_matrix *m, double factor, const double *x, double *y);

#endif
