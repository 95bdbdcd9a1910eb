/// Reads Matrix Market files.
///
///     %%MatrixMarket matrix coordinate real symmetric
///     % a comment
///     3 3 2            rows, columns, entries that follow
///     1 1  2.5         row, column (from 1), value; symmetric: only on and below the diagonal
///     3 1 -1e3
///
/// `array` has the line `rows columns` and then one value a line, column by column; symmetric: each column from
/// its diagonal on. Blank lines and comments may stand anywhere behind the head. Nothing is guessed: what is
/// not as announced is refused, with its line.
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/sparse.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

/// The text, and the line that is being read.
typedef struct reader {
  const char *at, *end; ///< what has not been read
  const char *line, *line_end;
  int number; ///< of the line, from 1
  const char *name;
  as_error *error;
} reader;

static as_status refuse(const reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static as_status refuse(const reader *r, const char *format, ...) {
  char sentence[256];
  va_list arguments;
  va_start(arguments, format);
  asi_format(sentence, sizeof sentence, format, arguments); // NOLINT(clang-analyzer-valist.*)
  va_end(arguments);
  return asi_fail(r->error, AS_ERR_FILE, (double)NAN, NULL, "%.200s:%d: %s", r->name, r->number,
                  sentence);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Takes the next line, without its end; false if there is none.
static bool next_line(reader *r) {
  if (r->at == r->end) return false;
  const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
  r->line = r->at;
  r->line_end = stop ? stop : r->end;
  r->at = stop ? stop + 1 : r->end;
  ++r->number;
  return true;
}

/// The next line that is neither blank nor a comment.
static bool next_content(reader *r) {
  while (next_line(r)) {
    while (r->line < r->line_end && is_space(*r->line)) ++r->line;
    if (r->line < r->line_end && *r->line != '%') return true;
  }
  return false;
}

enum { WORD = 64 };

/// Takes the next word of the line, cut to WORD - 1 characters; false at the end of the line.
static bool next_word(reader *r, char word[WORD]) {
  size_t n = 0;
  while (r->line < r->line_end && is_space(*r->line)) ++r->line;
  for (; r->line < r->line_end && !is_space(*r->line); ++r->line)
    if (n < WORD - 1) word[n++] = isprint((unsigned char)*r->line) ? *r->line : '?';
  word[n] = '\0';
  return n > 0;
}

static as_status read_count(reader *r, const char *what, long long least, long long most,
                            int *out) {
  char word[WORD];
  long long value = 0;
  if (!next_word(r, word)) return refuse(r, "The %s is missing.", what);
  const char *digit = word;
  for (; *digit >= '0' && *digit <= '9' && value <= most; ++digit)
    value = 10 * value + (*digit - '0');
  if (digit == word || (*digit != '\0' && value <= most))
    return refuse(r, "The %s \"%s\" is not a whole number.", what, word);
  if (value < least || value > most)
    return refuse(r, "The %s is %s; it must be from %lld to %lld.", what, word, least, most);
  *out = (int)value;
  return AS_OK;
}

/// Digits, perhaps a point and more of them, perhaps an exponent.
static bool is_number(const char *word) {
  const char *c = word + (*word == '+' || *word == '-');
  int digits = 0;
  for (; *c >= '0' && *c <= '9'; ++c) ++digits;
  if (*c == '.')
    for (++c; *c >= '0' && *c <= '9'; ++c) ++digits;
  if (digits == 0) return false;
  if (*c == '\0') return true;
  if (strchr("eEdD", *c) == NULL) return false;
  c += c[1] == '+' || c[1] == '-' ? 2 : 1;
  digits = 0;
  for (; *c >= '0' && *c <= '9'; ++c) ++digits;
  return digits > 0 && *c == '\0';
}

/// strtod() with a point, whatever the locale has.
static double to_number(const char *word) {
  char text[WORD + 16];
  const char *point = localeconv()->decimal_point;
  size_t n = 0;
  for (; *word && n < WORD; ++word) {
    if (*word == '.')
      for (const char *p = point; *p && n < WORD + 8; ++p) text[n++] = *p;
    else
      text[n++] = *word == 'd' || *word == 'D' ? 'e' : *word;
  }
  text[n] = '\0';
  return strtod(text, NULL);
}

static as_status read_value(reader *r, bool integer, double *out) {
  char word[WORD];
  if (!next_word(r, word)) return refuse(r, "The value is missing.");
  if (!is_number(word) || strlen(word) == WORD - 1)
    return refuse(r, "\"%s\" is not a number.", word);
  *out = to_number(word);
  if (!isfinite(*out)) return refuse(r, "The number %s is too large.", word);
  if (integer && *out != floor(*out))
    return refuse(r, "The number %s is not an integer, as the head says.", word);
  return AS_OK;
}

static as_status end_line(reader *r) {
  char word[WORD];
  return next_word(r, word) ? refuse(r, "\"%s\" is too much on this line.", word) : AS_OK;
}

// ---- the head ---------------------------------------------------------------------------------------

typedef struct head {
  bool array, integer, symmetric;
  int rows, cols, count;
} head;

static bool is(const char *word, const char *expected) {
  for (; *word && *expected; ++word, ++expected)
    if (tolower((unsigned char)*word) != *expected) return false;
  return *word == *expected;
}

static as_status read_kind(reader *r, head *h) {
  char word[5][WORD];
  if (!next_line(r)) {
    r->number = 1;
    return refuse(r, "The file is empty.");
  }
  for (int i = 0; i < 5; ++i)
    if (!next_word(r, word[i]) && i == 0) break;
  if (!is(word[0], "%%matrixmarket"))
    return refuse(r, "A Matrix Market file begins with %%%%MatrixMarket.");
  if (!is(word[1], "matrix")) return refuse(r, "It holds a \"%s\", not a matrix.", word[1]);
  h->array = is(word[2], "array");
  if (!h->array && !is(word[2], "coordinate"))
    return refuse(r, "The format \"%s\" is neither coordinate nor array.", word[2]);
  h->integer = is(word[3], "integer");
  if (is(word[3], "complex") || is(word[3], "pattern"))
    return refuse(r, "A %s matrix is of no use here: real and integer ones are.", word[3]);
  if (!h->integer && !is(word[3], "real"))
    return refuse(r, "The field \"%s\" is neither real nor integer.", word[3]);
  h->symmetric = is(word[4], "symmetric");
  if (is(word[4], "skew-symmetric") || is(word[4], "hermitian"))
    return refuse(r, "A %s matrix is of no use here: general and symmetric ones are.", word[4]);
  if (!h->symmetric && !is(word[4], "general"))
    return refuse(r, "The symmetry \"%s\" is neither general nor symmetric.", word[4]);
  return end_line(r);
}

/// How many values follow; a file that is too short for them is refused before memory is taken.
static as_status read_sizes(reader *r, head *h) {
  if (!next_content(r)) return refuse(r, "The file ends before the size of the matrix.");
  as_status status = read_count(r, "number of rows", 1, AS_SPARSE_ROWS, &h->rows);
  if (status == AS_OK) status = read_count(r, "number of columns", 1, AS_SPARSE_ROWS, &h->cols);
  if (status == AS_OK && h->symmetric && h->rows != h->cols)
    return refuse(r, "A symmetric matrix cannot be %d x %d.", h->rows, h->cols);
  const long long most = 1000000000, shortest = h->array ? 2 : 6; // "1\n" and "1 1 1\n"
  if (status == AS_OK && h->array) {
    const long long n = h->rows, all = h->symmetric ? n * (n + 1) / 2 : n * h->cols;
    if (all > most) return refuse(r, "An array of %d x %d has too many entries.", h->rows, h->cols);
    h->count = (int)all;
  } else if (status == AS_OK) {
    status = read_count(r, "number of entries", 0, most, &h->count);
  }
  if (status == AS_OK) status = end_line(r);
  if (status == AS_OK && h->count > (r->end - r->at + 1) / shortest)
    return refuse(r, "%d entries are announced, more than the rest of the file can hold.",
                  h->count);
  return status;
}

// ---- entries ----------------------------------------------------------------------------------------

static as_status read_coordinates(reader *r, const head *h, as_entry *out, size_t *n) {
  for (int k = 0; k < h->count; ++k) {
    as_entry e = {0};
    if (!next_content(r)) return refuse(r, "The file ends after %d of %d entries.", k, h->count);
    as_status status = read_count(r, "row", 1, h->rows, &e.row);
    if (status == AS_OK) status = read_count(r, "column", 1, h->cols, &e.col);
    if (status == AS_OK) status = read_value(r, h->integer, &e.value);
    if (status == AS_OK) status = end_line(r);
    if (status) return status;
    if (h->symmetric && e.row < e.col)
      return refuse(r, "Entry (%d, %d) is above the diagonal of a symmetric matrix.", e.row, e.col);
    --e.row;
    --e.col;
    out[(*n)++] = e;
    if (h->symmetric && e.row != e.col) out[(*n)++] = (as_entry){e.col, e.row, e.value};
  }
  return AS_OK;
}

static as_status read_array(reader *r, const head *h, as_entry *out, size_t *n) {
  int k = 0;
  for (int j = 0; j < h->cols; ++j)
    for (int i = h->symmetric ? j : 0; i < h->rows; ++i, ++k) {
      double value = 0.0;
      if (!next_content(r)) return refuse(r, "The file ends after %d of %d values.", k, h->count);
      as_status status = read_value(r, h->integer, &value);
      if (status == AS_OK) status = end_line(r);
      if (status) return status;
      if (value == 0.0) continue;
      out[(*n)++] = (as_entry){i, j, value};
      if (h->symmetric && i != j) out[(*n)++] = (as_entry){j, i, value};
    }
  return AS_OK;
}

as_status as_sparse_parse(const char *text, size_t size, const char *name, as_sparse **out,
                          as_error *error) {
  reader r = {.at = text, .end = text + size, .name = name, .error = error};
  head h = {0};
  size_t n = 0;
  *out = NULL;
  as_status status = read_kind(&r, &h);
  if (status == AS_OK) status = read_sizes(&r, &h);
  if (status) return status;
  as_entry *entries = asi_calloc(2 * (size_t)h.count, sizeof *entries);
  if (entries == NULL) return asi_fail_memory(error);
  status = h.array ? read_array(&r, &h, entries, &n) : read_coordinates(&r, &h, entries, &n);
  if (status == AS_OK && next_content(&r))
    status = refuse(&r, "There are more than the %d entries announced.", h.count);
  if (status == AS_OK) status = as_sparse_create(h.rows, h.cols, entries, n, out, error);
  free(entries);
  return status;
}

// ---- files ------------------------------------------------------------------------------------------

/// Reads all that is left of a file, or as far as it is text; NULL if memory runs out.
static char *read_all(FILE *file, size_t *size) {
  size_t room = 0;
  char *text = NULL;
  *size = 0;
  for (size_t got = 1, more = 1; more > 0; *size += got) {
    if (*size == room) {
      room = 2 * room + 65536;
      char *grown = realloc(text, room);
      if (grown == NULL) {
        free(text);
        return NULL;
      }
      text = grown;
    }
    got = fread(text + *size, 1, room - *size, file);
    more = memchr(text + *size, '\0', got) ? 0 : got;
  }
  return text;
}

as_status as_sparse_read(const char *path, as_sparse **out, as_error *error) {
  *out = NULL;
  errno = 0;
  const char *why;
  FILE *file = asi_file_open(path, &why);
  if (file == NULL && errno == ENOMEM) return asi_fail_memory(error);
  if (file == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be opened: %s.", path,
                    why);
  size_t size;
  char *text = read_all(file, &size);
  const bool failed = ferror(file) != 0;
  const int code = errno;
  fclose(file);
  as_status status = AS_OK;
  if (text == NULL)
    status = asi_fail_memory(error);
  else if (failed)
    status = asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be read: %s.", path,
                      strerror(code));
  else
    status = as_sparse_parse(text, size, path, out, error);
  free(text);
  return status;
}
