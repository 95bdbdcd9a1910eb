/// Where events are: their known times, the signs of their functions, and where these cross zero.
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "core/driver/events.h"

// What may be left of a function at its event after the state was brought onto the constraints, in terms of its
// values around it. If more is left, it has jumped.
#define LEFT_OVER 1e-3

// [EV.6] A function that comes closer to zero within a step than this share of its smaller end is looked at there.
#define DIP_MARGIN 0.5

bool asi_event_is_timed(const struct asi_event *e) { return e->def.period > 0.0; }

/// Whether two times of an event are the same to round-off.
static double time_slack(const struct asi_event *e, double t) {
  const double period = e->def.period;
  return fmin(fmax(1e-10 * period, 1e-11 * fmax(1.0, fabs(t))), 1e-3 * period);
}

/// [EV.5] the first of offset + k period, k = 0, 1, ..., behind t
static double timed_next(const struct asi_event *e, double t) {
  const double after = t + time_slack(e, t), offset = e->def.offset, period = e->def.period;
  double k = fmax(0.0, floor((after - offset) / period) - 1.0);
  while (offset + k * period <= after && k < 0x1p53) k += 1.0;
  return offset + k * period;
}

double asi_events_next(const as_integrator *s, double t) {
  double next = (double)INFINITY;
  for (int i = 0; i < s->def.n_events; ++i) {
    const struct asi_event *e = &s->event[i];
    as_known_time known = {(double)INFINITY, (double)INFINITY, true};
    if (e->def.next_time) e->def.next_time(t, s->kin.eval.u, &known, e->def.user);
    if (known.after > t) next = fmin(next, known.after);
    if (asi_event_is_timed(e)) next = fmin(next, timed_next(e, t));
  }
  return next;
}

as_status asi_event_evaluate(as_integrator *s, const struct asi_event *e, const as_state *at,
                             double *value) {
  *value = (double)NAN;
  const int code = e->def.value(at, value, e->def.user);
  if (code < AS_FATAL || code > AS_RETRY) {
    const as_point point = as_state_point(at);
    return asi_eval_code(&s->kin.eval, code, "event", &point);
  }
  if (code != AS_DONE)
    return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, at->t, e->name,
                    "The function of event %s failed at t = %.9g s (it returned %d).", e->name,
                    at->t, code);
  if (!isfinite(*value))
    return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, at->t, e->name,
                    "The function of event %s is %g at t = %.9g s.", e->name, *value, at->t);
  return AS_OK;
}

/// At a time inside the last step, which is shown.
static as_status evaluate_at(as_integrator *s, const struct asi_event *e, double t, double *value) {
  asi_interpolation_show(s, t);
  as_status status = asi_interpolation_complete(s, false, !e->def.reads_motion_only);
  if (status == AS_OK) status = asi_show_reactions(s);
  return status ? status : asi_event_evaluate(s, e, &s->state, value);
}

static int sign_of(double x) { return (x > 0.0) - (x < 0.0); }

/// On which side of zero a value is; a condition does not hold at zero.
int asi_event_side(const struct asi_event *e, double x) {
  return e->def.condition && x == 0.0 ? -1 : sign_of(x);
}

double asi_event_time_tolerance(const as_integrator *s) {
  const double least = 4.0 * DBL_EPSILON * fmax(fabs(s->stepper.t), fabs(s->processed_until));
  return isnan(s->def.event_tolerance) ? least : fmax(s->def.event_tolerance, least);
}

/// A function a little after the current state, along the motion.
static as_status evaluate_ahead(as_integrator *s, const struct asi_event *e, double d,
                                double *value) {
  const as_problem *p = s->kin.problem;
  const asi_values *now = &s->stepper.now, *moved = &s->shown;
  for (int i = 0; i < p->n; ++i) {
    s->scratch.move[i] = d * now->v[i] + 0.5 * d * d * now->vdot[i];
    moved->v[i] = now->v[i] + d * now->vdot[i];
  }
  for (int i = 0; i < p->def.n_x; ++i) moved->x[i] = now->x[i] + d * now->xdot[i];
  as_space_move(p->space, now->q, s->scratch.move, moved->q);
  asi_publish(s, s->stepper.t, now);
  const as_status status = asi_show_reactions(s);
  if (status) return status;
  as_state at = s->state;
  at.t = s->stepper.t + d;
  at.q = moved->q;
  at.v = moved->v;
  at.x = moved->x;
  return asi_event_evaluate(s, e, &at, value);
}

static void forget_past(struct asi_event *e) { e->n_past = 0; }

void asi_event_note(struct asi_event *e, double t, double value) {
  e->past_t[1] = e->past_t[0];
  e->past[1] = e->past[0];
  e->past_t[0] = t;
  e->past[0] = value;
  e->n_past = e->n_past < 2 ? e->n_past + 1 : 2;
}

/// The sign of a function at the current state. Where it is zero, that of its increase right after; so too, if it
/// `is_left` over from an event that has just happened and did not make it jump: but a condition holds then.
static as_status find_sign(as_integrator *s, struct asi_event *e, bool is_left) {
  double value = 0.0, ahead = 0.0;
  e->sign = -1; // of one at given times: it rises there
  e->from = s->stepper.t;
  if (asi_event_is_timed(e)) return AS_OK;
  as_status status = evaluate_at(s, e, s->stepper.t, &value);
  e->sign = sign_of(value);
  e->seen[0] = e->seen[1] = (double)NAN;
  forget_past(e);
  asi_event_note(e, s->stepper.t, value);
  const bool is_small = is_left && fabs(value) <= LEFT_OVER * e->size;
  if (status || !(is_small || e->sign == 0)) return status;
  if (is_small && e->def.condition && e->size > 0.0) {
    e->sign = 1;
    return AS_OK;
  }
  double d = fmax(100.0 * asi_event_time_tolerance(s), 1e-11 * fmax(1.0, fabs(s->stepper.t)));
  for (int tries = 0; tries < 6 && status == AS_OK; ++tries, d *= 10.0) {
    status = evaluate_ahead(s, e, d, &ahead);
    if (tries == 0) e->sign = sign_of(ahead - value);
    e->from = s->stepper.t + d;
    if (e->sign == 0 || sign_of(ahead) == e->sign) break;
  }
  return status;
}

/// The same; a condition that holds by a jump waits with its old sign until it has happened.
as_status asi_event_take_sign(as_integrator *s, struct asi_event *e, bool is_left) {
  const int before = e->sign;
  const as_status status = find_sign(s, e, is_left);
  e->jumped = HAS_NOT;
  if (!e->def.condition) return status;
  e->sign = e->sign > 0 ? 1 : -1;
  if (before > 0 || e->sign < 0) return status;
  if (status == AS_OK) e->jumped = e->from > s->stepper.t ? BARELY : CLEARLY;
  e->sign = -1;
  return status;
}

/// [EV.3] The end of a bracket in which the function leaves its old sign, not longer than the tolerance:
/// regula falsi after Illinois, halved where three steps together gain too little.
static as_status locate(as_integrator *s, struct asi_event *e, double b, double fb) {
  const double tolerance = asi_event_time_tolerance(s);
  double a = fmax(s->processed_until, e->from), fa = 0.0, width = b - a;
  int moved = 0; // which end moved last: -1: a, 1: b
  as_status status = evaluate_at(s, e, a, &fa);
  e->size = fmax(fabs(fa), fabs(fb));
  for (int i = 1; status == AS_OK && b - a > tolerance; ++i) {
    double c = a + 0.5 * (b - a), fc = 0.0;
    const bool halve = i % 3 == 0 && b - a > 0.5 * width;
    if (!halve && fa * e->sign > 0.0 && fb * e->sign <= 0.0) {
      c = b - fb * (b - a) / (fb - fa);
      // Not closer to an end than the tolerance asks: the bracket is to shrink from both sides.
      c = fmin(fmax(c, a + 0.5 * tolerance), b - 0.5 * tolerance);
    }
    if (!(c > a && c < b)) break;
    status = evaluate_at(s, e, c, &fc);
    const int moves = asi_event_side(e, fc) == e->sign ? -1 : 1;
    // An end that stays where it is for the second time counts half.
    const double weight = moves == moved ? 0.5 : 1.0;
    if (moves < 0) {
      a = c;
      fa = fc;
      fb *= weight;
    } else {
      b = c;
      fb = fc;
      fa *= weight;
    }
    moved = halve ? 0 : moves;
    if (i % 3 == 0) width = b - a;
  }
  e->root = s->stepper.t - b <= tolerance ? s->stepper.t : b;
  return status;
}

/// [EV.6] where the parabola through three points has its extremum, and its value there; t0 < t1, and the third point is
/// before or between them. Outside: t0.
static double turning_point(double t0, double f0, double t1, double f1, double t2, double f2,
                            double *value) {
  const double d1 = (f1 - f0) / (t1 - t0), d2 = (f0 - f2) / (t0 - t2);
  const double c = (d1 - d2) / (t1 - t2);
  const double t = 0.5 * (t0 + t1) - 0.5 * d1 / c;
  const bool inside = t > t0 && t < t1; // NaN is outside
  *value = inside ? f0 + (t - t0) * (d1 + c * (t - t1)) : f0;
  return inside ? t : t0;
}

/// Whether a function that has its old sign at the end of the step has the other one in between: looks where the parabola
/// through its last values turns, if it comes near zero there. *t, *value: such a place.
static as_status find_dip(as_integrator *s, struct asi_event *e, double *t, double *value,
                          bool *found) {
  *found = false;
  const double t0 = fmax(s->processed_until, e->from), t1 = s->stepper.t,
               least = DIP_MARGIN * fabs(e->end);
  double f0 = e->past[0], at = e->past_t[1], f = e->past[1], turn = 0.0;
  as_status status = AS_OK;
  if (e->n_past == 0 || t1 - t0 <= asi_event_time_tolerance(s)) return AS_OK;
  const bool whole = t0 == e->past_t[0];
  if (!whole) status = evaluate_at(s, e, t0, &f0);
  if (!whole || e->n_past < 2) { // nothing before: look into the middle
    at = 0.5 * (t0 + t1);
    if (status == AS_OK) status = evaluate_at(s, e, at, &f);
    *found = status == AS_OK && f * e->sign < 0.0;
    *t = at;
    *value = f;
  }
  if (status || *found) return status;
  *t = turning_point(t0, f0, t1, e->end, at, f, &turn);
  if (!(*t > t0 && turn * e->sign <= fmin(least, DIP_MARGIN * fabs(f0)))) return AS_OK;
  status = evaluate_at(s, e, *t, value);
  *found = status == AS_OK && *value * e->sign < 0.0;
  return status;
}

/// Where a function crosses zero in the last step.
static as_status find_root(as_integrator *s, struct asi_event *e) {
  as_status status = evaluate_at(s, e, s->stepper.t, &e->end);
  if (status || e->sign == 0 || !(e->from < s->stepper.t)) return status;
  double b = s->stepper.t, fb = e->end;
  bool crosses = e->sign * asi_event_side(e, e->end) <= 0;
  if (!crosses) {
    status = find_dip(s, e, &b, &fb, &crosses);
    if (status || !crosses) return status;
    if (e->def.direction * e->sign > 0) { // the way back is what counts
      e->sign = -e->sign;
      e->from = b;
      b = s->stepper.t;
      fb = e->end;
    }
  }
  return e->def.direction * e->sign <= 0 ? locate(s, e, b, fb) : AS_OK;
}

/// Looks for crossings behind `settled` in the last step; `next` is the earliest.
as_status asi_events_find_crossings(as_integrator *s, double *next) {
  *next = (double)INFINITY;
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    e->root = (double)INFINITY;
    if (asi_event_is_timed(e)) {
      const double t = timed_next(e, s->processed_until);
      if (t <= s->stepper.t + time_slack(e, t)) e->root = fmin(t, s->stepper.t);
    } else {
      const as_status status = find_root(s, e);
      if (status) return status;
    }
    *next = fmin(*next, e->root);
  }
  asi_publish(s, s->stepper.t, &s->stepper.now);
  return AS_OK;
}
