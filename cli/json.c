// JSON, see json.h. The command never calls setlocale(): printf and strtod use a decimal point everywhere.
#include "json.h"

#include <math.h>
#include <stdlib.h>

/// How many bytes the character at the beginning of a text has in UTF-8; 0: it is none.
static size_t character_size(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  if (c[0] < 0x80) return 1;
  size_t n = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
  if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
  for (size_t i = 1; i < n; i++) {
    if ((c[i] & 0xc0) != 0x80) return 0;
  }
  bool is_long = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  bool is_half = c[0] == 0xed && c[1] > 0x9f; // of a pair of UTF-16
  return is_long || is_half || (c[0] == 0xf4 && c[1] > 0x8f) ? 0 : n;
}

/// Names of files need not be UTF-8, JSON must be: a byte that is not counts as U+FFFD.
void json_string(FILE *out, const char *text) {
  putc('"', out);
  for (size_t n; *text != '\0'; text += n > 0 ? n : 1) {
    unsigned char c = (unsigned char)*text;
    n = character_size(text);
    if (n != 1) {
      fprintf(out, "%.*s", n > 0 ? (int)n : 3, n > 0 ? text : "\xef\xbf\xbd");
    } else if (c < 0x20) {
      fprintf(out, "\\u%04x", (unsigned)c);
    } else {
      if (c == '"' || c == '\\') putc('\\', out);
      putc(c, out);
    }
  }
  putc('"', out);
}

void json_number(FILE *out, double x) {
  if (!isfinite(x)) {
    fputs("null", out);
    return;
  }
  if (x == floor(x) && fabs(x) < 1e15) {
    fprintf(out, "%.0f", x);
    return;
  }
  char text[32];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    if (strtod(text, NULL) == x) break;
  }
  fputs(text, out);
}

json_object json_begin(FILE *out, int indent) {
  putc('{', out);
  return (json_object){out, indent + 2, false};
}

void json_key(json_object *object, const char *key) {
  fprintf(object->out, "%s\n%*s", object->filled ? "," : "", object->indent, "");
  object->filled = true;
  json_string(object->out, key);
  fputs(": ", object->out);
}

void json_add_string(json_object *object, const char *key, const char *text) {
  json_key(object, key);
  if (text == NULL) {
    fputs("null", object->out);
  } else {
    json_string(object->out, text);
  }
}

void json_add_number(json_object *object, const char *key, double x) {
  json_key(object, key);
  json_number(object->out, x);
}

void json_end(json_object *object) {
  if (object->filled) fprintf(object->out, "\n%*s", object->indent - 2, "");
  putc('}', object->out);
}
