/// See fe_text.h.
#include "file/fe_text.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

asi_fe_text asi_fe_text_begin(const char *text, size_t size, const char *name, as_error *error) {
  return (asi_fe_text){.at = text, .end = text + size, .name = name, .error = error};
}

as_status asi_fe_refuse(const asi_fe_text *t, const char *format, ...) {
  char sentence[256];
  va_list arguments;
  va_start(arguments, format);
  asi_format(sentence, sizeof sentence, format, arguments); // NOLINT(clang-analyzer-valist.*)
  va_end(arguments);
  for (char *c = sentence; *c; ++c)
    if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) *c = '?';
  return asi_fail(t->error, AS_ERR_FILE, (double)NAN, NULL, "%.200s:%d: %s", t->name, t->number,
                  sentence);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static asi_fe_word trim(asi_fe_word w) {
  while (w.n > 0 && is_blank(w.at[0])) {
    ++w.at;
    --w.n;
  }
  while (w.n > 0 && is_blank(w.at[w.n - 1])) --w.n;
  return w;
}

bool asi_fe_next_line(asi_fe_text *t) {
  while (t->at < t->end) {
    const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
    t->line = t->at;
    t->line_end = stop ? stop : t->end;
    t->at = stop ? stop + 1 : t->end;
    ++t->number;
    if (trim((asi_fe_word){t->line, (size_t)(t->line_end - t->line)}).n > 0) return true;
  }
  return false;
}

bool asi_fe_next_word(asi_fe_text *t, bool blanks, asi_fe_word *out) {
  while (blanks && t->line < t->line_end && is_blank(*t->line)) ++t->line;
  if (t->line >= t->line_end) return false;
  const char *to = t->line;
  while (to < t->line_end && *to != ',' && !(blanks && is_blank(*to))) ++to;
  *out = trim((asi_fe_word){t->line, (size_t)(to - t->line)});
  while (blanks && to < t->line_end && is_blank(*to)) ++to; // up to the comma
  t->line = to < t->line_end && *to == ',' ? to + 1 : to;
  return true;
}

asi_fe_word asi_fe_columns(const asi_fe_text *t, size_t from, size_t n) {
  const size_t length = (size_t)(t->line_end - t->line);
  if (from >= length) return (asi_fe_word){t->line_end, 0};
  return trim((asi_fe_word){t->line + from, n < length - from ? n : length - from});
}

bool asi_fe_is(asi_fe_word w, const char *word) {
  return strlen(word) == w.n && strncasecmp(w.at, word, w.n) == 0;
}

bool asi_fe_whole(asi_fe_word w, long *out) {
  size_t i = w.n > 0 && (w.at[0] == '-' || w.at[0] == '+');
  long long value = 0;
  if (i == w.n || w.n - i > 18) return false;
  for (; i < w.n; ++i) {
    if (w.at[i] < '0' || w.at[i] > '9') return false;
    value = 10 * value + (w.at[i] - '0');
  }
  *out = (long)(w.at[0] == '-' ? -value : value);
  return value <= LONG_MAX;
}

enum { LONGEST = 60 };

bool asi_fe_number(asi_fe_word w, double *out) {
  char text[LONGEST + 24];
  const char *point = localeconv()->decimal_point;
  size_t n = 0, i = 0;
  int digits = 0;
  if (w.n > LONGEST || strlen(point) > 16) return false;
  if (i < w.n && (w.at[i] == '-' || w.at[i] == '+')) text[n++] = w.at[i++];
  for (; i < w.n && w.at[i] >= '0' && w.at[i] <= '9'; ++digits) text[n++] = w.at[i++];
  if (i < w.n && w.at[i] == '.') {
    for (const char *p = point; *p; ++p) text[n++] = *p;
    for (++i; i < w.n && w.at[i] >= '0' && w.at[i] <= '9'; ++digits) text[n++] = w.at[i++];
  }
  if (digits == 0) return false;
  if (i < w.n) {
    const char c = w.at[i];
    const bool letter = c == 'e' || c == 'E' || c == 'd' || c == 'D';
    i += letter;
    text[n++] = 'e';
    if (i < w.n && (w.at[i] == '-' || w.at[i] == '+'))
      text[n++] = w.at[i++];
    else if (!letter)
      return false;
    if (i == w.n) return false;
    for (; i < w.n; ++i) {
      if (w.at[i] < '0' || w.at[i] > '9') return false;
      text[n++] = w.at[i];
    }
  }
  text[n] = '\0';
  *out = strtod(text, NULL);
  return isfinite(*out);
}

int asi_fe_shown(asi_fe_word w) { return w.n < 30 ? (int)w.n : 30; }

as_status asi_fe_read_file(const char *path, char **text, size_t *size, as_error *error) {
  const char *why;
  *text = NULL;
  *size = 0;
  FILE *file = asi_file_open(path, &why);
  if (file == NULL)
    return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be opened: %s.", path,
                    why);
  size_t room = 0, got = 1;
  bool memory = true;
  while (memory && got > 0) {
    if (*size == room) {
      room = 2 * room + 65536;
      char *grown = realloc(*text, room);
      memory = grown != NULL;
      if (!memory) break;
      *text = grown;
    }
    got = fread(*text + *size, 1, room - *size, file);
    *size += got;
  }
  const bool failed = ferror(file) != 0;
  const int code = errno;
  fclose(file);
  if (memory && !failed) return AS_OK;
  free(*text);
  *text = NULL;
  if (!memory) return asi_fail_memory(error);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.200s cannot be read: %s.", path,
                  strerror(code));
}
