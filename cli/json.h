/// JSON objects, written piece by piece; texts and numbers in them by base/json.h.
#ifndef ALPHASTEP_CLI_JSON_H
#define ALPHASTEP_CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"

/// An object that is being written, one member after the other, each on its own line.
typedef struct json_object {
  FILE *out;
  int indent;
  bool filled;
} json_object;

json_object json_begin(FILE *out, int indent);
/// Writes comma, line feed and `"key": `; the value follows.
void json_key(json_object *object, const char *key);
void json_add_string(json_object *object, const char *key, const char *text); ///< NULL: null
void json_add_number(json_object *object, const char *key, double x);
void json_end(json_object *object);

#endif
