/// Events: something happens when a function of the state crosses zero.
///
///     static int height(const as_state *now, double *out, void *user) { *out = now->q[2]; return AS_DONE; }
///     static int bounce(as_event *event, void *user) {
///       event->restitution[0] = 0.8; // the floor, a constraint row that is not active, is struck
///       return AS_EVENT_CHANGE;
///     }
///     const as_event_def event = {.name = "impact", .value = height, .direction = -1, .act = bounce};
///     def.events = &event;
///     def.n_events = 1;
///
/// A crossing is a change of sign between the ends of a step; zero belongs to the side that is entered. It
/// is located on the dense output. A function that touches zero, or crosses it more than twice within a step, is not
/// noticed: bound the steps if that matters. One that is zero where an integration starts, or where an event
/// has just changed something, has the sign that it takes right after.
#ifndef ALPHASTEP_EVENT_H
#define ALPHASTEP_EVENT_H

#include <stdbool.h>

#include "alphastep/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What an action returns: one of these or AS_EVENT_CHANGE | AS_EVENT_STOP; a negative number is a failure.
enum {
  AS_EVENT_CONTINUE = 0, ///< nothing has changed
  AS_EVENT_CHANGE =
      1, ///< the state, a parameter or the active constraints have: start anew from here
  AS_EVENT_STOP = 2, ///< return to the caller, with AS_STOPPED
};

/// An event as its action sees it.
typedef struct as_event {
  int index;     ///< which one of the events
  int direction; ///< +1: the function rises, -1: it falls
  const as_state
      *state;          ///< just before, complete: also for as_model_...() of alphastep/quantities.h
  double *q, *v, *x;   ///< the state just after: as before, to be changed
  double *u;           ///< held signals from now on, likewise; a sampled one until its next sample
  bool *active;        ///< n_lambda + n_psi: which constraints hold from now on
  double *restitution; ///< n_lambda + n_psi: NAN; 0 to 1: the constraint is struck, see below
} as_event;

typedef int as_event_fn(as_event *event, void *user);

/// Writes one number that depends on a state.
typedef int as_event_value_fn(const as_state *state, double *out, void *user);

/// What happens to velocities at an event that returns AS_EVENT_CHANGE: the least mass-weighted change that
/// satisfies all active constraints, that is, the impulses of the joints; constraints that are struck take
/// part, active or not, and their rate g_t + B v (or k) after it is -restitution times that before.
typedef struct as_event_def {
  const char *name;         ///< for messages; NULL: its number; copied
  as_event_value_fn *value; ///< writes one number; the state is complete
  int direction;            ///< +1: rising only, -1: falling only, 0: both
  as_event_fn *act;         ///< NULL: stop
  void *user;               ///< passed to all of them
  /// The function reads t, q, v, x and u alone: v', lambda, psi and y are not found inside steps, which takes time.
  bool reads_motion_only;
  /// The function is a condition, which holds where it is positive: the event happens where it begins to hold, also by a
  /// jump at another event, at a sample or at a known time, and at the start if it holds there; direction +1.
  bool condition;
  /// > 0: it happens at t = offset + k period instead, k = 0, 1, ..., behind the start; `value` is NULL, its direction +1 [s]
  double period;
  double offset; ///< [s]
  /// Times at which the function turns or jumps by t alone, as a problem's next_time; automatic steps end there. Both times
  /// are the same: behind the jump. May be NULL.
  as_time_fn *next_time;
} as_event_def;

/// The last event that happened.
typedef struct as_event_report {
  int index;     ///< -1: none since start
  int direction; ///< +1: rising, -1: falling
  double t;      ///< [s]
  long count;    ///< of all events since start
  const double
      *impulse; ///< n_lambda + n_psi: of the constraints, at the last change; sign as lambda
} as_event_report;

#ifdef __cplusplus
}
#endif

#endif
