/// Matrices from texts of comma-separated values and from MAT files of version 4.
#ifndef ALPHASTEP_FILE_MATRIX_H
#define ALPHASTEP_FILE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

enum { ASI_MATRIX_NUMBERS = 100000000, ASI_MATRIX_SENTENCE = 200 };

typedef struct asi_matrix {
  double *number; ///< by rows; NULL: there is none; free with free()
  int rows, columns;
  int line; ///< where something is wrong, from 1; 0: nowhere in particular
  char sentence[ASI_MATRIX_SENTENCE]; ///< what it is; empty: nothing
  bool no_memory;
} asi_matrix;

/// Reads all rows of `size` characters; separators, titles and lines that do not count are those of csv.h. Needs the C locale.
asi_matrix asi_matrix_of_csv(const char *text, size_t size);

/// Reads a variable of a MAT file of version 4: real numbers of any of its types, full or sparse, in either order of bytes.
/// NULL in number and no sentence: there is no such variable. Whatever it reads is whole up to there.
asi_matrix asi_matrix_of_mat(const void *bytes, size_t size, const char *name);

#endif
