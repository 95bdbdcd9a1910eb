/// NumPy's .npz: a ZIP file, not compressed, with one array in each of its files.
#ifndef ALPHASTEP_CLI_NPZ_H
#define ALPHASTEP_CLI_NPZ_H

#include <stdbool.h>
#include <stdio.h>

/// An array: numbers by columns, or lines of text.
typedef struct npz_array {
  const char *name;
  const double *values; ///< rows x columns; NULL: text
  long rows, columns;
  const char *const *line; ///< rows of them
} npz_array;

/// Writes arrays. False: memory has run out.
bool npz_write(FILE *out, const npz_array *array, int n);

#endif
