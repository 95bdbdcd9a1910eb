/// Known times: inputs that bend or jump by the clock, and events at given times. Automatic steps end there, given ones where
/// inputs may jump.
///
/// Where functions may jump, a step ends just before it, and the next one begins just behind it as after a sample: v', lambda,
/// psi, x' and y are solved for anew. So second order holds across switches.
#include <math.h>

#include "core/driver/integrator.h"

// [SC.10] What is closer than this share of the proposed step is now.
#define CLOSE 1e-9

static double close(const as_integrator *s) {
  const double h = isnan(s->control.h) ? s->mesh.h : s->control.h;
  return isnan(h) ? 0.0 : CLOSE * h;
}

/// The next known time of the problem that is not now.
static as_known_time of_problem(const as_integrator *s, double t) {
  const as_problem_def *def = &s->kin.problem->def;
  as_known_time found = {(double)INFINITY, (double)INFINITY, true};
  if (def->next_time) def->next_time(t, s->kin.eval.u, &found, def->user);
  return found;
}

double asi_times_next(const as_integrator *s) {
  const double from = s->stepper.t + close(s);
  const double input = of_problem(s, from).before, event = asi_events_next(s, from);
  const double next = fmin(input, event);
  return next > s->stepper.t ? next
                             : (double)INFINITY; // never the way back, whatever a callback says
}

as_known_time asi_times_jump(const as_integrator *s, double until) {
  const as_known_time none = {(double)INFINITY, (double)INFINITY, true};
  if (s->kin.problem->def.next_time == NULL) return none;
  as_known_time next = of_problem(s, s->stepper.t + close(s));
  while (next.before <= until && next.after > s->stepper.t) {
    if (!next.bends && next.before > s->stepper.t) return next;
    const double from = next.after;
    next = of_problem(s, from);
    if (!(next.after > from)) break;
  }
  return none;
}

as_status asi_times_pass(as_integrator *s, bool *passed) {
  const double t = s->stepper.t, until = t + close(s);
  double behind = t;
  *passed = false;
  as_known_time next = of_problem(s, behind);
  while (next.before <= until && next.after > behind) {
    behind = next.after;
    *passed = *passed || (isnan(s->def.step) ? next.after > next.before : !next.bends);
    next = of_problem(s, behind);
  }
  if (!*passed) return AS_OK;
  asi_interpolation_keep_end(s);
  s->stepper.t = behind;
  const as_status status = asi_restart_forces(s);
  s->control.h = (double)NAN; // what went well before says nothing about what comes
  s->mesh.jump = s->stepper.t;
  if (status) s->stepper.t = t;
  return status;
}

// Values that differ by less than this share of their size have not jumped.
#define NO_JUMP 1e-10

static bool is_same(const double *a, const double *b, int n) {
  const double most = NO_JUMP * fmax(asi_max_abs(a, n), asi_max_abs(b, n));
  for (int i = 0; i < n; ++i)
    if (!(fabs(a[i] - b[i]) <= most)) return false;
  return true;
}

static bool has_jumped(const as_problem *p, const asi_values *a, const asi_values *b) {
  return !is_same(a->vdot, b->vdot, p->n) || !is_same(a->lambda, b->lambda, p->def.n_lambda) ||
         !is_same(a->psi, b->psi, p->def.n_psi) || !is_same(a->xdot, b->xdot, p->def.n_x) ||
         !is_same(a->y, b->y, p->def.n_y);
}

as_status asi_times_start(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  // There is no last step: its values are free.
  const asi_values *given = &s->stepper.last.from, *before = &s->stepper.last.to;
  as_error *const error = s->kin.eval.error;
  const double t = s->stepper.t;
  const as_known_time next = of_problem(s, t);
  bool passed = false;
  if (!(next.before <= t && next.after > t && !next.bends)) return AS_OK;
  asi_copy_values(p, &s->stepper.now, given);
  s->stepper.t = next.before;
  s->kin.eval.error = NULL;
  const as_status left = asi_restart_forces(s);
  s->kin.eval.error = error;
  asi_copy_values(p, &s->stepper.now, before);
  asi_copy_values(p, given, &s->stepper.now);
  s->stepper.t = t;
  s->stepper.forward = false;
  const as_status status = asi_times_pass(s, &passed);
  if (status || left || has_jumped(p, &s->stepper.now, before)) return status;
  asi_copy_values(p, given, &s->stepper.now);
  s->stepper.t = t;
  s->stepper.forward = false;
  s->mesh.jump = (double)NAN;
  asi_publish(s, t, &s->stepper.now);
  return AS_OK;
}
