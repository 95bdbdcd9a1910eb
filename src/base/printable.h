/// What may be shown on a terminal: text that a file brings must not command it, end a line or turn it around.
#ifndef ALPHASTEP_BASE_PRINTABLE_H
#define ALPHASTEP_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/// Whether the character at `text` can be printed; writes its length in bytes. Not: control characters (also those of
/// ISO 8859, U+0080 to U+009F), line separators, marks of writing direction, bytes that are not UTF-8.
ASI_IO bool asi_printable(const char *text, size_t *length);
/// Puts ? in place of each character that cannot be printed.
ASI_IO void asi_make_printable(char *text);

#endif
