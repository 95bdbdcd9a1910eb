/// Sparse matrices of numbers: made of entries, or read from Matrix Market files.
///
///     as_sparse *stiffness;
///     if (as_sparse_read("bar_K.mtx", &stiffness, &error)) puts(error.message);
#ifndef ALPHASTEP_SPARSE_H
#define ALPHASTEP_SPARSE_H

#include <stddef.h>

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { AS_SPARSE_ROWS = 10000000 }; ///< the most rows or columns of a matrix

/// A matrix by compressed columns: column j holds the rows row[col_start[j]] ... row[col_start[j+1] - 1],
/// strictly increasing, and their values. To be read only.
typedef struct as_sparse {
  int rows;
  int cols;
  int *col_start; ///< cols + 1 numbers, the first 0
  int *row;
  double *value;
} as_sparse;

typedef struct as_entry {
  int row; ///< from 0
  int col;
  double value;
} as_entry;

/// Makes a matrix of `n` entries in any order; those at one place are added up, zeros are kept. Refuses
/// places outside the matrix and values that are not finite.
AS_API as_status as_sparse_create(int rows, int cols, const as_entry *entries, size_t n,
                                  as_sparse **out, as_error *error);
AS_API void as_sparse_destroy(as_sparse *matrix);

/// Reads a Matrix Market file: `matrix`, `coordinate` or `array`, `real` or `integer`, `general` or
/// `symmetric` (the other triangle is filled in). Entries of `coordinate` at one place are added up, zeros
/// of `array` are left out. Numbers have a decimal point whatever the locale; exponents may be written
/// with e or d. Failures are AS_ERR_FILE with a sentence that begins with `file:line: `.
AS_API as_status as_sparse_read(const char *path, as_sparse **out, as_error *error);
/// The same from memory; `name` stands for the file in messages.
AS_API as_status as_sparse_parse(const char *text, size_t size, const char *name, as_sparse **out,
                                 as_error *error);

#ifdef __cplusplus
}
#endif

#endif
