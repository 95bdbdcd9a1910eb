/// A problem and its integrator for a test: what the event tests share.
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include "alphastep/alphastep.h"

typedef struct rig {
  as_problem *problem;
  as_integrator *integrator;
  as_error error;
} rig;

/// Creates both and starts. Fails the test if the library does.
rig rig_make(const as_problem_def *def, const as_integrator_def *how, const as_initial *initial);
void rig_free(rig *r);

/// Advances and must arrive; returns the state.
const as_state *rig_advance(rig *r, double t);
/// Advances and must end with `status`; returns the state.
const as_state *rig_advance_to(rig *r, double t, as_status status);

/// A def with the method, the step (NAN: automatic) and the events.
as_integrator_def rig_how(as_method method, double step, const as_event_def *events, int n_events);

extern const as_method rig_methods[3];

/// Fails unless |found - expected| <= tolerance, and shows all three.
void assert_near(const char *what, double found, double expected, double tolerance);

#endif
