/// The matrices that callbacks fill: compressed columns over a fixed pattern.
#ifndef ALPHASTEP_MATRIX_H
#define ALPHASTEP_MATRIX_H

#include <stdbool.h>

#include "alphastep/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where a matrix may be nonzero: column j holds the rows row[col_start[j]] ...
/// row[col_start[j+1] - 1], strictly increasing. Both NULL: everywhere (a dense matrix).
typedef struct as_pattern {
  const int *col_start; ///< cols + 1 numbers, the first 0
  const int *row;       ///< col_start[cols] numbers
} as_pattern;

/// Notes where entries are added, for as_problem_detect() in alphastep/check.h.
typedef struct as_recorder as_recorder;

/// A matrix over a pattern. A callback finds it filled with zeros and adds its entries, either with
/// as_matrix_add() or straight into `value` at positions it has looked up once.
typedef struct as_matrix {
  int rows;
  int cols;
  const int *col_start; ///< cols + 1 numbers
  const int *row;       ///< row of each value
  double *value;        ///< col_start[cols] numbers
  bool dense;           ///< every entry is in the pattern: value[j * rows + i] is entry (i, j)
  bool stray;           ///< an entry was added outside the pattern, the first one here:
  int stray_row;
  int stray_col;
  as_recorder *recorder; ///< NULL, but while patterns are detected: then there is no `value`
} as_matrix;

/// Where entry (row, col) stands in `value`, or -1 if it is outside the pattern.
AS_API int as_matrix_position(const as_matrix *m, int row, int col);

/// Adds x to entry (row, col). An entry outside the pattern is remembered and reported by the
/// library as an error once the callback returns.
AS_API void as_matrix_add(as_matrix *m, int row, int col, double x);

/// Adds the rows x cols matrix `x`, stored by rows, with its corner at (row, col).
AS_API void as_matrix_add_block(as_matrix *m, int row, int col, int rows, int cols,
                                const double *x);

#ifdef __cplusplus
}
#endif

#endif
