#include "base/text.h"

#include <stdio.h>
#include <string.h>

/// Ends a text that was cut off behind its last whole word, with `...`. Nothing is left of a first word that is too long
/// but what fits; a character of several bytes is not torn.
static void end_at_word(char *out, size_t size) {
  static const char dots[] = " ...";
  if (size <= sizeof dots) return;
  size_t end = size - sizeof dots;
  size_t word = end;
  while (word > 0 && out[word] != ' ') --word;
  if (word > 0) end = word;
  while (word == 0 && end > 0 && ((unsigned char)out[end] & 0xc0) == 0x80) --end;
  while (end > 0 && out[end - 1] == ' ') --end;
  memcpy(out + end, dots, sizeof dots);
}

void asi_format(char *out, size_t size, const char *format, va_list arguments) {
  const int needed = vsnprintf(out, size, format, arguments);
  if (needed >= 0 && (size_t)needed >= size && size > 0) end_at_word(out, size);
}

void asi_print(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  asi_format(out, size, format, arguments);
  va_end(arguments);
}

asi_text asi_text_begin(char *out, size_t size) {
  if (size > 0) out[0] = '\0';
  return (asi_text){out, size, 0};
}

void asi_text_add(asi_text *text, const char *format, ...) {
  if (text->used >= text->size) return; // it was cut already
  va_list arguments;
  va_start(arguments, format);
  const int needed = vsnprintf(text->out + text->used, text->size - text->used, format, arguments);
  va_end(arguments);
  if (needed < 0) return;
  const size_t used = text->used + (size_t)needed;
  if (used >= text->size && text->size > 0) end_at_word(text->out, text->size);
  text->used = used < text->size ? used : text->size;
}
