#include "file/sink.h"

#include <stdarg.h>
#include <stdio.h>

void asi_put(asi_sink *sink, const char *format, ...) {
  va_list arguments;
  const size_t left = sink->length < sink->room ? sink->room - sink->length : 0;
  va_start(arguments, format);
  const int n = vsnprintf(left > 0 ? sink->text + sink->length : NULL, left, format, arguments);
  va_end(arguments);
  if (n > 0) sink->length += (size_t)n;
}
