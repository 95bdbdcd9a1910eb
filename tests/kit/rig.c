#include "rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

const as_method rig_methods[3] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};

rig rig_make(const as_problem_def *def, const as_integrator_def *how, const as_initial *initial) {
  rig r = {0};
  as_status status = as_problem_create(def, &r.problem, &r.error);
  if (status == AS_OK) status = as_integrator_create(r.problem, how, &r.integrator, &r.error);
  if (status == AS_OK) status = as_integrator_start(r.integrator, initial, NULL, &r.error);
  if (status) fail_msg("%s: %s", as_status_name(status), r.error.message);
  return r;
}

void rig_free(rig *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->problem);
}

const as_state *rig_advance_to(rig *r, double t, as_status status) {
  const as_status found = as_integrator_advance(r->integrator, t, &r->error);
  if (found != status)
    fail_msg("%s instead of %s on the way to t = %g: %s", as_status_name(found),
             as_status_name(status), t, r->error.message);
  return as_integrator_state(r->integrator);
}

const as_state *rig_advance(rig *r, double t) {
  const as_state *s = rig_advance_to(r, t, AS_OK);
  assert_true(s->t == t);
  return s;
}

as_integrator_def rig_how(as_method method, double step, const as_event_def *events, int n_events) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.step = step;
  how.events = events;
  how.n_events = n_events;
  return how;
}

void assert_near(const char *what, double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("%s: %.15g instead of %.15g, off by %.3g, more than %.3g", what, found, expected,
             found - expected, tolerance);
}
