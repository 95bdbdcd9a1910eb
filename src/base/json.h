/// JSON that may stand inside an HTML page, and text of such a page.
#ifndef ALPHASTEP_BASE_JSON_H
#define ALPHASTEP_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/export.h"

/// How many bytes the character at the beginning of a text has in UTF-8; 0: it is none.
size_t asi_utf8_size(const char *text);

/// A text in quotes. What could end a script element, < > & and U+2028, U+2029, is written as \u003c ...; a byte that
/// is not UTF-8 counts as U+FFFD. NULL: null.
ASI_IO void asi_json_text(FILE *out, const char *text);
/// Whether a text is one JSON object and nothing else.
ASI_IO bool asi_json_is_object(const char *text);
/// Writes JSON that is ready, with the same characters made harmless: outside of texts it has none of them.
ASI_IO void asi_json_copy(FILE *out, const char *json);
/// The same up to a place in it.
ASI_IO void asi_json_copy_part(FILE *out, const char *json, const char *end);
/// The shortest decimal that reads back as x; null if there is no number. Needs the C locale.
ASI_IO void asi_json_number(FILE *out, double x);
/// [a, b, ...]
ASI_IO void asi_json_numbers(FILE *out, const double *x, int n);

/// Writes an object with one member more, `digest`, of all that stands before it.
void asi_json_seal(FILE *out, const char *object);
/// Whether a text is as it was sealed, or was not.
ASI_IO bool asi_json_is_whole(const char *text);

/// Text of an HTML page, or of an attribute in double quotes.
ASI_IO void asi_html_text(FILE *out, const char *text);

#endif
