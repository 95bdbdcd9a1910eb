/// Reads comma-separated values, see csv.h.
#include "file/csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum { MOST_DIGITS = 400 }; // of a number

/// A line, without its end.
typedef struct line {
  const char *at;
  size_t n;
} line;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static line trim(line l) {
  while (l.n > 0 && is_blank(l.at[0])) {
    ++l.at;
    --l.n;
  }
  while (l.n > 0 && is_blank(l.at[l.n - 1])) --l.n;
  return l;
}

/// Field number k, from 1; false: there are fewer. A separator ' ' means tabs and blanks.
static bool field(line l, char separator, int k, line *out) {
  const char *end = l.at + l.n, *from = l.at;
  for (;; --k) {
    const char *to = from;
    while (to < end && (separator == ' ' ? !is_blank(*to) : *to != separator)) ++to;
    if (k == 1) {
      *out = trim((line){from, (size_t)(to - from)});
      return true;
    }
    if (to == end) return false;
    from = to + 1;
    while (separator == ' ' && from < end && is_blank(*from)) ++from;
  }
}

/// A whole field as a number.
static bool is_number(line f, double *out) {
  char text[MOST_DIGITS + 1];
  const bool sign = f.n > 0 && (f.at[0] == '-' || f.at[0] == '+');
  if (f.n == 0 || f.n > MOST_DIGITS || memchr(f.at, '\0', f.n)) return false;
  memcpy(text, f.at, f.n);
  text[f.n] = '\0';
  const size_t n = asi_scan_number(text + sign, out);
  if (text[0] == '-') *out = -*out;
  return n > 0 && n + sign == f.n;
}

static char separator_of(line l) {
  return memchr(l.at, ';', l.n) ? ';' : memchr(l.at, ',', l.n) ? ',' : ' ';
}

/// Which columns are read.
typedef struct wanted {
  const int *column;
  int n;
  bool increases; ///< the first one has to
} wanted;

static bool grow(asi_csv *csv, int *room, int columns) {
  if (csv->n < *room) return true;
  const int more = 2 * *room + 64;
  double *grown = realloc(csv->number, (size_t)columns * (size_t)more * sizeof *grown);
  if (grown == NULL) {
    csv->no_memory = 1;
    return false;
  }
  csv->number = grown;
  *room = more;
  return true;
}

/// Says what is wrong; false, for callers that end with it.
static bool refuse(asi_csv *csv, const char *sentence) {
  snprintf(csv->sentence, sizeof csv->sentence, "%s", sentence);
  return false;
}

/// What a field is in place of a number, as far as it can be printed.
static bool refuse_field(asi_csv *csv, line f, int column) {
  char text[41];
  size_t n = 0;
  for (; n < f.n && n + 1 < sizeof text; ++n)
    text[n] = f.at[n] >= 0x20 && f.at[n] < 0x7f ? f.at[n] : '?';
  text[n] = '\0';
  snprintf(csv->sentence, sizeof csv->sentence, "\"%s\" in column %d is no number", text, column);
  return false;
}

static bool take_row(asi_csv *csv, int *room, line l, char separator, const wanted *w) {
  double x[ASI_CSV_COLUMNS] = {0.0};
  char sentence[ASI_CSV_SENTENCE];
  for (int k = 0; k < w->n; ++k) {
    line f;
    if (!field(l, separator, w->column[k], &f)) {
      snprintf(sentence, sizeof sentence, "there is no column %d", w->column[k]);
      return refuse(csv, sentence);
    }
    if (!is_number(f, &x[k])) return refuse_field(csv, f, w->column[k]);
    if (!isfinite(x[k])) return refuse(csv, "a number is too large");
  }
  const double before = csv->n > 0 ? csv->number[(size_t)w->n * ((size_t)csv->n - 1)] : 0.0;
  if (w->increases && csv->n > 0 && !(x[0] > before)) {
    snprintf(sentence, sizeof sentence, "x must increase, but %g follows %g", x[0], before);
    return refuse(csv, sentence);
  }
  if (csv->n == ASI_CSV_ROWS) return refuse(csv, "more than 1000000 rows");
  if (!grow(csv, room, w->n)) return false;
  memcpy(csv->number + (size_t)w->n * (size_t)csv->n, x, (size_t)w->n * sizeof *x);
  ++csv->n;
  return true;
}

/// Whether a row holds titles: nothing in the columns is a number.
static bool is_title(line l, const wanted *w) {
  double number;
  line f;
  const char separator = separator_of(l);
  for (int k = 0; k < w->n; ++k)
    if (field(l, separator, w->column[k], &f) && is_number(f, &number)) return false;
  return true;
}

static asi_csv parse(const char *text, size_t size, const wanted *w) {
  asi_csv csv = {0};
  const char *at = text, *end = text + size;
  char separator = '\0';
  int room = 0, rows = 0;
  bool good = true;
  if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) at += 3;
  while (good && at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    const line l = trim((line){at, (size_t)(stop - at)});
    at = stop < end ? stop + 1 : end;
    ++csv.line;
    if (l.n == 0 || l.at[0] == '#') continue;
    if (rows++ == 0 && is_title(l, w)) continue;
    if (separator == '\0') separator = separator_of(l);
    good = take_row(&csv, &room, l, separator, w);
  }
  if (good) csv.line = 0;
  if (good && csv.n < 2) good = refuse(&csv, "it needs two rows of numbers at least");
  if (!good) {
    free(csv.number);
    csv.number = NULL;
    csv.n = 0;
  }
  return csv;
}

asi_csv asi_csv_parse(const char *text, size_t size, const int column[2]) {
  return parse(text, size, &(wanted){column, 2, true});
}

asi_csv asi_csv_parse_points(const char *text, size_t size, const int column[3]) {
  return parse(text, size, &(wanted){column, 3, false});
}

enum { MOST_COLUMNS = 100000 };

/// All fields of a line as numbers; the field that is none is told.
static bool take_all(asi_csv *csv, line l, char separator, double **number, int *room, int *n) {
  const char *end = l.at + l.n, *from = l.at;
  for (*n = 0;;) {
    const char *to = from;
    while (to < end && (separator == ' ' ? !is_blank(*to) : *to != separator)) ++to;
    const line f = trim((line){from, (size_t)(to - from)});
    if (*n == *room) {
      const int more = 2 * *room + 16;
      double *grown = realloc(*number, (size_t)more * sizeof *grown);
      if (grown == NULL) {
        csv->no_memory = 1;
        return false;
      }
      *number = grown;
      *room = more;
    }
    if (!is_number(f, &(*number)[*n])) return refuse_field(csv, f, *n + 1);
    if (!isfinite((*number)[*n])) return refuse(csv, "a number is too large");
    if (++*n > MOST_COLUMNS) return refuse(csv, "more than 100000 columns");
    if (to == end) return true;
    from = to + 1;
    while (separator == ' ' && from < end && is_blank(*from)) ++from;
  }
}

/// Whether no field of a line is a number.
static bool is_all_title(line l, char separator) {
  double number;
  line f;
  for (int k = 1; field(l, separator, k, &f); ++k)
    if (is_number(f, &number)) return false;
  return true;
}

asi_csv asi_csv_rows(const char *text, size_t size, asi_csv_fn *take, void *user) {
  asi_csv csv = {0};
  const char *at = text, *end = text + size;
  char separator = '\0';
  double *number = NULL;
  int room = 0, rows = 0, n;
  bool good = true;
  if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) at += 3;
  while (good && at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    const line l = trim((line){at, (size_t)(stop - at)});
    at = stop < end ? stop + 1 : end;
    ++csv.line;
    if (l.n == 0 || l.at[0] == '#') continue;
    if (rows++ == 0 && is_all_title(l, separator_of(l))) continue;
    if (separator == '\0') separator = separator_of(l);
    good = take_all(&csv, l, separator, &number, &room, &n) && take(number, n, user);
  }
  if (good) csv.line = 0;
  free(number);
  return csv;
}
