/// Text that is written piece by piece into a room that may be too small, as snprintf does.
#ifndef ALPHASTEP_FILE_SINK_H
#define ALPHASTEP_FILE_SINK_H

#include <stddef.h>

typedef struct asi_sink {
  char *text;
  size_t room;
  size_t length; ///< of all that was written, whether there was room or not
} asi_sink;

void asi_put(asi_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
