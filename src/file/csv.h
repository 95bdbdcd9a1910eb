/// Two or three columns of a table in a text: comma-separated values and their relatives.
///
/// A row is a line of fields; between them stand semicolons if its first row of numbers has one, else commas if it has
/// one, else tabs or blanks. Numbers are decimal, with a point. The first row may hold titles. Empty lines and lines
/// that begin with # do not count.
#ifndef ALPHASTEP_FILE_CSV_H
#define ALPHASTEP_FILE_CSV_H

#include <stdbool.h>
#include <stddef.h>

enum {
  ASI_CSV_ROWS = 1000000,
  ASI_CSV_COLUMNS = 3,    ///< the most that are read
  ASI_CSV_SENTENCE = 160, ///< with the zero behind it
};

typedef struct asi_csv {
  double *number; ///< n pairs or triples; free with free()
  int n;
  int line;                        ///< where something is wrong, from 1; 0: nowhere in particular
  char sentence[ASI_CSV_SENTENCE]; ///< what it is; empty: nothing
  int no_memory;
} asi_csv;

/// Takes the n numbers of a row; false: no more.
typedef bool asi_csv_fn(const double *number, int n, void *user);

/// Reads all columns of all rows; `line` is also that of a row that was not taken. It keeps no numbers.
asi_csv asi_csv_rows(const char *text, size_t size, asi_csv_fn *take, void *user);

/// Reads the columns numbered from 1 of `size` characters; the first must increase. Needs the C locale. Without
/// number there is a sentence, or no memory.
asi_csv asi_csv_parse(const char *text, size_t size, const int column[2]);
/// The same of three columns, in any order.
asi_csv asi_csv_parse_points(const char *text, size_t size, const int column[3]);

#endif
