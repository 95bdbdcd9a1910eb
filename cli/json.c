// JSON, see json.h. The command never calls setlocale(): printf and strtod use a decimal point everywhere.
#include "json.h"

json_object json_begin(FILE *out, int indent) {
  putc('{', out);
  return (json_object){out, indent + 2, false};
}

void json_key(json_object *object, const char *key) {
  fprintf(object->out, "%s\n%*s", object->filled ? "," : "", object->indent, "");
  object->filled = true;
  asi_json_text(object->out, key);
  fputs(": ", object->out);
}

void json_add_string(json_object *object, const char *key, const char *text) {
  json_key(object, key);
  asi_json_text(object->out, text);
}

void json_add_number(json_object *object, const char *key, double x) {
  json_key(object, key);
  asi_json_number(object->out, x);
}

void json_end(json_object *object) {
  if (object->filled) fprintf(object->out, "\n%*s", object->indent - 2, "");
  putc('}', object->out);
}
