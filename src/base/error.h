/// Filling an as_error: used by every layer.
#ifndef ALPHASTEP_BASE_ERROR_H
#define ALPHASTEP_BASE_ERROR_H

#include <math.h>
#include <stddef.h>

#include "alphastep/status.h"
#include "base/export.h"

/// Fills `error` (if not NULL) with a status, a time (NAN: none), a component ("" or NULL: none) and
/// a sentence made like printf's; returns `status`.
ASI_IO as_status asi_fail(as_error *error, as_status status, double t, const char *component,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/// AS_ERR_MEMORY with the usual sentence.
static inline as_status asi_fail_memory(as_error *error) {
  asi_fail(error, AS_ERR_MEMORY, (double)NAN, NULL, "Out of memory.");
  return AS_ERR_MEMORY;
}

/// Clears what a failed first attempt may have left; returns AS_OK.
ASI_IO as_status asi_error_clear(as_error *error);

/// calloc() that refuses sizes that overflow and never returns NULL for a count of zero.
ASI_IO void *asi_calloc(size_t count, size_t size);

#endif
