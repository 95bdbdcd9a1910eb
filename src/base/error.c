#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "alphastep/version.h"
#include "base/printable.h"
#include "base/text.h"

const char *as_version(void) { return AS_VERSION; }

const char *as_status_name(as_status status) {
  switch (status) {
  case AS_OK: return "AS_OK";
  case AS_ERR_ARGUMENT: return "AS_ERR_ARGUMENT";
  case AS_ERR_UNSUPPORTED: return "AS_ERR_UNSUPPORTED";
  case AS_ERR_MEMORY: return "AS_ERR_MEMORY";
  case AS_ERR_CALLBACK: return "AS_ERR_CALLBACK";
  case AS_ERR_RETRY: return "AS_ERR_RETRY";
  case AS_ERR_NONFINITE: return "AS_ERR_NONFINITE";
  case AS_ERR_CONVERGENCE: return "AS_ERR_CONVERGENCE";
  case AS_ERR_SINGULAR: return "AS_ERR_SINGULAR";
  case AS_ERR_ZENO: return "AS_ERR_ZENO";
  case AS_ERR_FILE: return "AS_ERR_FILE";
  case AS_STOPPED: return "AS_STOPPED";
  case AS_INTERRUPTED: return "AS_INTERRUPTED";
  case AS_ERR_TOLERANCE: return "AS_ERR_TOLERANCE";
  case AS_ERR_INCONSISTENT: return "AS_ERR_INCONSISTENT";
  }
  return "unknown status";
}

bool as_status_is_recoverable(as_status status) {
  return status == AS_ERR_RETRY || status == AS_ERR_NONFINITE || status == AS_ERR_CONVERGENCE ||
         status == AS_ERR_SINGULAR;
}

as_status asi_fail(as_error *error, as_status status, double t, const char *component,
                   const char *format, ...) {
  if (error == NULL) return status;
  error->status = status;
  error->t = t;
  snprintf(error->component, sizeof error->component, "%s", component ? component : "");
  va_list arguments;
  va_start(arguments, format);
  asi_format(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  asi_make_printable(error->message);
  return status;
}

void *asi_calloc(size_t count, size_t size) {
  if (size > 0 && count > SIZE_MAX / size) return NULL;
  return calloc(count > 0 ? count : 1, size > 0 ? size : 1);
}

as_status asi_error_clear(as_error *error) {
  if (error) {
    error->status = AS_OK;
    error->t = (double)NAN;
    error->component[0] = error->message[0] = '\0';
  }
  return AS_OK;
}
