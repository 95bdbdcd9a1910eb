/// What events.c and crossings.c share.
#ifndef ALPHASTEP_CORE_DRIVER_EVENTS_H
#define ALPHASTEP_CORE_DRIVER_EVENTS_H

#include "core/driver/integrator.h"

struct asi_event {
  as_event_def def; ///< its name stands below
  char name[64];
  int sign;                  ///< of the function after `settled`; 0: not known
  double from;               ///< where that was looked at; crossings are looked for behind it [s]
  double end;                ///< the function at the end of the last step
  double size;               ///< the larger of its values around the last crossing
  double left;               ///< what is left of it there
  double past_t[2], past[2]; ///< the function where the last steps ended, the latest first [s]
  int n_past;                ///< how many there are
  double root;               ///< where it crosses zero in that step; infinity: nowhere [s]
  double first;              ///< when it first changed something; NAN: not yet [s]
  double last;               ///< when it last did [s]
  double gap;                ///< between the last two times [s]
  double ratio;              ///< of that to the one before
  int quick;                 ///< how often in a row in no time
  enum {
    HAS_NOT, ///< jumped
    BARELY,  ///< at zero; it will hold by the motion
    CLEARLY,
  } jumped; ///< a condition that holds by a jump, and has not happened yet
  double
      seen[2]; ///< when it was last crossed without a change, falling and rising; NAN: not yet [s]
  bool warned; ///< that steps are long against that
};

// crossings.c -------------------------------------------------------------------------------------

/// Whether it happens at given times.
bool asi_event_is_timed(const struct asi_event *e);
/// The function at a point; it has to be finite.
as_status asi_event_evaluate(as_integrator *s, const struct asi_event *e, const as_state *at,
                             double *value);
/// On which side of zero a value is; a condition does not hold at zero.
int asi_event_side(const struct asi_event *e, double x);
/// How close together two times may be to be the same [s].
double asi_event_time_tolerance(const as_integrator *s);
/// Notes the function where a step has ended, for [EV.6].
void asi_event_note(struct asi_event *e, double t, double value);
/// The sign of a function at the current state; a condition that holds by a jump waits with its old sign until it has happened.
/// `is_left`: it is left over from an event that has just happened.
as_status asi_event_take_sign(as_integrator *s, struct asi_event *e, bool is_left);
/// Looks for crossings behind `settled` in the last step; `next` is the earliest.
as_status asi_events_find_crossings(as_integrator *s, double *next);

#endif
