#include "base/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/file.h"

size_t asi_utf8_size(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (c[0] < 0x80) return 1;
  const size_t n = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
  if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
  for (size_t i = 1; i < n; ++i)
    if ((c[i] & 0xc0) != 0x80) return 0;
  const bool is_long = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  const bool is_half = c[0] == 0xed && c[1] > 0x9f; // of a pair of UTF-16
  return is_long || is_half || (c[0] == 0xf4 && c[1] > 0x8f) ? 0 : n;
}

/// Writes one character, made harmless; returns how many bytes it had.
static size_t put_character(FILE *out, const char *text) {
  const size_t n = asi_utf8_size(text);
  const unsigned char c = (unsigned char)*text;
  const bool separator =
      strncmp(text, "\xe2\x80\xa8", 3) == 0 || strncmp(text, "\xe2\x80\xa9", 3) == 0;
  if (n == 0)
    fputs("\\ufffd", out);
  else if (separator)
    fprintf(out, "\\u202%c", (unsigned char)text[2] == 0xa8 ? '8' : '9');
  else if (c == '<' || c == '>' || c == '&' || c == 0x7f || (c < 0x20 && c != '\n'))
    fprintf(out, "\\u%04x", (unsigned)c);
  else
    fwrite(text, 1, n, out);
  return n > 0 ? n : 1;
}

void asi_json_text(FILE *out, const char *text) {
  if (text == NULL) {
    fputs("null", out);
    return;
  }
  putc('"', out);
  while (*text) {
    if (*text == '"' || *text == '\\') putc('\\', out);
    if (*text == '\n') {
      fputs("\\n", out);
      ++text;
    } else {
      text += put_character(out, text);
    }
  }
  putc('"', out);
}

void asi_json_copy(FILE *out, const char *json) {
  asi_json_copy_part(out, json, json + strlen(json));
}

void asi_json_copy_part(FILE *out, const char *json, const char *end) {
  while (json < end) {
    if (*json == '\t' || *json == '\r') {
      putc(' ', out);
      ++json;
    } else {
      json += put_character(out, json);
    }
  }
}

void asi_json_number(FILE *out, double x) {
  if (!isfinite(x)) {
    fputs("null", out);
    return;
  }
  char text[ASI_DECIMAL] = "";
  const size_t n = asi_decimal(text, x);
  fwrite(text, 1, n, out);
}

void asi_json_numbers(FILE *out, const double *x, int n) {
  putc('[', out);
  for (int i = 0; i < n; ++i) {
    if (i > 0) putc(',', out);
    asi_json_number(out, x[i]);
  }
  putc(']', out);
}

void asi_html_text(FILE *out, const char *text) {
  while (*text) {
    const size_t n = asi_utf8_size(text);
    const unsigned char c = (unsigned char)*text;
    if (n == 0 || c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
      fputs("\xef\xbf\xbd", out);
    else if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
      fprintf(out, "&#%u;", (unsigned)c);
    else
      fwrite(text, 1, n, out);
    text += n > 0 ? n : 1;
  }
}

// ---- checking ---------------------------------------------------------------------------------------

enum { MOST_DEPTH = 64 };

static const char *skip_space(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') ++at;
  return at;
}

/// Each returns what follows, NULL if it is not what it should be.
static const char *skip_text(const char *at) {
  if (*at != '"') return NULL;
  for (++at; *at != '"'; ++at) {
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at != '\\') continue;
    if (*++at == 'u') {
      if (strspn(at + 1, "0123456789abcdefABCDEF") < 4) return NULL;
    } else if (*at == '\0' || strchr("\"\\/bfnrt", *at) == NULL) {
      return NULL;
    }
  }
  return at + 1;
}

static const char *skip_number(const char *at) {
  static const char digits[] = "0123456789";
  if (*at == '-') ++at;
  size_t n = strspn(at, digits);
  if (n == 0 || (*at == '0' && n > 1)) return NULL;
  at += n;
  if (*at == '.') {
    n = strspn(at + 1, digits);
    if (n == 0) return NULL;
    at += n + 1;
  }
  if (*at != 'e' && *at != 'E') return at;
  at += at[1] == '+' || at[1] == '-' ? 2 : 1;
  n = strspn(at, digits);
  return n > 0 ? at + n : NULL;
}

static const char *skip_value(const char *at, int depth);

/// A list, or an object with its keys.
static const char *skip_members(const char *at, int depth) {
  const bool object = *at == '{';
  const char end = object ? '}' : ']';
  if (depth == MOST_DEPTH) return NULL;
  at = skip_space(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (object) {
      at = skip_text(at);
      if (at) at = skip_space(at);
      if (at == NULL || *at != ':') return NULL;
      at = skip_space(at + 1);
    }
    at = skip_value(at, depth + 1);
    if (at) at = skip_space(at);
    if (at == NULL || (*at != ',' && *at != end)) return NULL;
    if (*at == end) return at + 1;
    at = skip_space(at + 1);
  }
}

static const char *skip_value(const char *at, int depth) {
  static const char *const words[] = {"true", "false", "null"};
  if (*at == '{' || *at == '[') return skip_members(at, depth);
  if (*at == '"') return skip_text(at);
  for (int i = 0; i < 3; ++i)
    if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
  return skip_number(at);
}

bool asi_json_is_object(const char *text) {
  const char *at = skip_space(text);
  if (*at != '{') return false;
  at = skip_value(at, 0);
  return at && *skip_space(at) == '\0';
}

// ---- digests ----------------------------------------------------------------------------------------

static const char SEAL[] = ",\n  \"digest\": \"";

static unsigned long long digest_of(const char *text, size_t size) {
  asi_digest digest = asi_digest_begin();
  asi_digest_add(&digest, text, size);
  return asi_digest_end(&digest);
}

void asi_json_seal(FILE *out, const char *object) {
  const char *end = strrchr(object, '}');
  size_t size = end ? (size_t)(end - object) : 0;
  while (size > 0 && strchr("\n ", object[size - 1])) --size;
  fwrite(object, 1, size, out);
  fprintf(out, "%s%016llx\"\n}\n", SEAL, digest_of(object, size));
}

bool asi_json_is_whole(const char *text) {
  const char *seal = NULL;
  for (const char *c = text; (c = strstr(c, SEAL)) != NULL; ++c) seal = c;
  if (seal == NULL) return true;
  char *end = NULL;
  const unsigned long long told = strtoull(seal + strlen(SEAL), &end, 16);
  return end == seal + strlen(SEAL) + 16 && strcmp(end, "\"\n}\n") == 0 &&
         told == digest_of(text, (size_t)(seal - text));
}
