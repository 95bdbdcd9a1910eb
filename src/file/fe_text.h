/// Lines and fields of the texts that finite-element programs write, with errors by line.
#ifndef ALPHASTEP_FILE_FE_TEXT_H
#define ALPHASTEP_FILE_FE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "alphastep/status.h"

/// A text, and the line that is being read.
typedef struct asi_fe_text {
  const char *at, *end; ///< what has not been read
  const char *line;     ///< what is left of the line, without its end
  const char *line_end;
  int number; ///< of the line, from 1
  const char *name;
  as_error *error;
} asi_fe_text;

/// Part of a line, without blanks around it.
typedef struct asi_fe_word {
  const char *at;
  size_t n;
} asi_fe_word;

asi_fe_text asi_fe_text_begin(const char *text, size_t size, const char *name, as_error *error);
/// AS_ERR_FILE with `file:line: ` before the sentence.
as_status asi_fe_refuse(const asi_fe_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// The next line that is not blank; false if there is none.
bool asi_fe_next_line(asi_fe_text *t);
/// The next field of the line: between commas, or between blanks if `blanks`. False at the end of the line.
bool asi_fe_next_word(asi_fe_text *t, bool blanks, asi_fe_word *out);
/// Columns from ... from + n - 1 of a line of fixed fields; perhaps empty.
asi_fe_word asi_fe_columns(const asi_fe_text *t, size_t from, size_t n);
/// Whether a word is this one, whatever its capitals.
bool asi_fe_is(asi_fe_word w, const char *word);
bool asi_fe_whole(asi_fe_word w, long *out);    ///< a whole number of at most 18 digits
bool asi_fe_number(asi_fe_word w, double *out); ///< finite; exponents with e, d, or a sign alone
/// Its length for "%.*s", cut.
int asi_fe_shown(asi_fe_word w);
/// Reads a whole file, to be freed.
as_status asi_fe_read_file(const char *path, char **text, size_t *size, as_error *error);

#endif
