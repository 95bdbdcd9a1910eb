/// Sentences in room of a fixed size: what does not fit is left out from the end of a word on, and `...` says so.
#ifndef ALPHASTEP_BASE_TEXT_H
#define ALPHASTEP_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "base/export.h"

/// vsnprintf() that cuts at a word.
ASI_IO void asi_format(char *out, size_t size, const char *format, va_list arguments);
/// The same like snprintf().
void asi_print(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// A sentence that is put together.
typedef struct asi_text {
  char *out;
  size_t size, used;
} asi_text;

ASI_IO asi_text asi_text_begin(char *out, size_t size);
ASI_IO void asi_text_add(asi_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
