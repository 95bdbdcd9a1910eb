/// MAT files of version 4, which MATLAB and Octave load: a row of matrices.
#ifndef ALPHASTEP_CLI_MAT_H
#define ALPHASTEP_CLI_MAT_H

#include <stdio.h>

typedef enum mat_type { MAT_DOUBLE = 0, MAT_TEXT = 51 } mat_type;

/// What stands before the elements of a matrix, which follow column by column: 8 bytes for a number, one for a character.
void mat_head(FILE *out, const char *name, mat_type type, long rows, long columns);
/// A whole matrix of numbers, stored by columns.
void mat_matrix(FILE *out, const char *name, const double *values, long rows, long columns);
/// Lines of text as a matrix of characters.
void mat_lines(FILE *out, const char *name, const char *const *line, long n);

#endif
