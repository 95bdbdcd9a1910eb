/// How the library says that something went wrong: a status and one sentence.
///
/// The library never prints and never exits. A function that can fail returns an as_status and,
/// if the caller passes an as_error, fills it with a sentence that names the component, the time,
/// the value and the limit.
#ifndef ALPHASTEP_STATUS_H
#define ALPHASTEP_STATUS_H

#include <stdbool.h>

#include "alphastep/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Failures are positive. What is negative has ended a call early because somebody asked for it: the state is good, and the same call
/// goes on.
typedef enum as_status {
  AS_INTERRUPTED = -2, ///< the interrupt callback asked to stop, after the last whole step
  AS_STOPPED = -1,     ///< an event asked to stop; the state is the one there
  AS_OK = 0,
  AS_ERR_ARGUMENT,     ///< the caller's mistake: a wrong size, a missing callback, a bad number
  AS_ERR_UNSUPPORTED,  ///< a combination that is not offered; the message says why
  AS_ERR_MEMORY,       ///< an allocation failed
  AS_ERR_CALLBACK,     ///< a callback reported a fatal failure (returned a negative number)
  AS_ERR_RETRY,        ///< a callback asked for another point (returned a positive number)
  AS_ERR_NONFINITE,    ///< a callback or a solution produced NaN or infinity
  AS_ERR_CONVERGENCE,  ///< Newton's method did not converge
  AS_ERR_SINGULAR,     ///< a linear system could not be solved
  AS_ERR_TOLERANCE,    ///< a step would have to be smaller than the smallest one allowed
  AS_ERR_INCONSISTENT, ///< the starting values cannot be brought onto the constraints
  AS_ERR_ZENO,         ///< an event happens again and again in no time
  AS_ERR_FILE,         ///< a file cannot be read or written, or is not what it should be
} as_status;

/// One failure. `message` is a whole sentence; `t` and `component` repeat its key facts.
typedef struct as_error {
  as_status status;
  double t;           ///< time of the failure [s]; NAN where there is none
  char component[64]; ///< e.g. `lambda[3]` or the name the problem gives it; "" where there is none
  char message[1024]; ///< one sentence, or two
} as_error;

/// The constant's own name, e.g. "AS_ERR_SINGULAR".
AS_API const char *as_status_name(as_status status);

/// True of what went wrong: not of AS_OK, AS_STOPPED and AS_INTERRUPTED.
static inline bool as_status_is_failure(as_status status) { return status > AS_OK; }

/// True if the same call may succeed with a smaller step: AS_ERR_RETRY, AS_ERR_NONFINITE,
/// AS_ERR_CONVERGENCE and AS_ERR_SINGULAR.
AS_API bool as_status_is_recoverable(as_status status);

/// How loud a message for the log callback is.
typedef enum as_log_level { AS_LOG_INFO, AS_LOG_WARNING } as_log_level;

/// Receives the library's remarks; nothing is ever printed by the library itself.
typedef void as_log_fn(as_log_level level, const char *message, void *user);

/// Says whether to stop.
typedef bool as_interrupt_fn(void *user);

#ifdef __cplusplus
}
#endif

#endif
