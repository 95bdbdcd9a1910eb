// JSON, see json.h. The command never calls setlocale(): printf and strtod use a decimal point everywhere.
#include "json.h"

#include <math.h>
#include <stdlib.h>

void json_string(FILE *out, const char *text) {
  putc('"', out);
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < 0x20) {
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
