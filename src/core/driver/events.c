/// Events: what happens when functions of the state cross zero.
///
/// After a step the sign of each function at its end is compared with the sign it had; a crossing is located
/// on the dense output, and the earliest comes first. An action that changes something ends the step there:
/// the interpolated state becomes the current one, is made consistent with what holds from now on, and the
/// next step is a first one, looking forward only. So second order holds across events.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/driver/integrator.h"

// An event that changes something this many times in a row, each time sooner than the last and within this share
// of the time since the first, will never end; nor will one that comes steadily sooner, if the next time would be
// too close to be seen.
#define ZENO_SHARE 1e-7
#define ZENO_GAP 1e-10
enum { ZENO_COUNT = 5 };

// What may be left of a function at its event after the state was brought onto the constraints, in terms of its
// values around it. If more is left, it has jumped.
#define LEFT_OVER 1e-3

// A step longer than this share of the time in which a function crosses zero twice in the same direction may hide some.
#define STEP_IN_PERIOD 0.5
// [EV.6] A function that comes closer to zero within a step than this share of its smaller end is looked at there.
#define DIP_MARGIN 0.5

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

as_status asi_events_create(as_integrator *s, as_error *error) {
  const as_problem *p = s->kin.problem;
  const int n_own = s->def.n_events, n = n_own + p->def.n_events;
  const size_t rows = (size_t)s->kin.redundancy.rows;
  if (n_own < 0 || (n_own > 0 && s->def.events == NULL))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "events",
                    "n_events = %d, but events is NULL or the number is negative.", n_own);
  if (!isnan(s->def.event_tolerance) && !(s->def.event_tolerance > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "event_tolerance",
                    "event_tolerance = %g s is not a positive number.", s->def.event_tolerance);
  s->event = asi_calloc(2 * (size_t)n, sizeof *s->event); // behind it a copy
  s->holds = asi_calloc(rows, sizeof(bool));
  s->was_inactive = asi_calloc(rows, sizeof(bool));
  if (!s->event || !s->holds || !s->was_inactive) return asi_fail_memory(error);
  for (int i = 0; i < n; ++i) {
    struct asi_event *e = &s->event[i];
    e->def = i < n_own ? s->def.events[i] : p->event[i - n_own];
    const bool timed = e->def.period != 0.0;
    if (e->def.value == NULL && !timed)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "value", "Event %d has no function.", i);
    if (timed && !(asi_is_clock(e->def.offset, e->def.period) && e->def.value == NULL &&
                   e->def.direction == 0))
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, "period",
          "Event %d happens every %g s from %g s on: it needs a positive period that "
          "is not lost in the digits of the offset, and neither a function nor a direction.",
          i, e->def.period, e->def.offset);
    if (e->def.direction < -1 || e->def.direction > 1)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "direction",
                      "The direction of event %d is %d, not -1, 0 or 1.", i, e->def.direction);
    if (e->def.condition && (e->def.direction != 1 || timed))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "condition",
                      "Event %d is a condition: it needs a function and the direction +1.", i);
    if (e->def.name)
      snprintf(e->name, sizeof e->name, "\"%s\"", e->def.name);
    else
      snprintf(e->name, sizeof e->name, "%d", i);
    e->def.name = e->name;
  }
  s->def.events = NULL;
  s->def.n_events = n;
  return AS_OK;
}

void asi_events_keep(as_integrator *s) {
  const size_t n = (size_t)s->def.n_events;
  memcpy(s->event + n, s->event, n * sizeof *s->event);
}

void asi_events_take_back(as_integrator *s) {
  const size_t n = (size_t)s->def.n_events;
  memcpy(s->event, s->event + n, n * sizeof *s->event);
}

void asi_events_free(as_integrator *s) {
  free(s->event);
  free(s->holds);
  free(s->was_inactive);
}

void asi_events_visit(as_integrator *s, asi_archive *a) {
  asi_archive_bool(a, &s->has_pending_events);
  asi_archive_double(a, &s->processed_until);
  asi_archive_doubles(a, s->impulse, (size_t)s->kin.redundancy.rows);
  asi_archive_int(a, &s->report.index, -1, s->def.n_events - 1);
  asi_archive_int(a, &s->report.direction, -1, 1);
  asi_archive_double(a, &s->report.t);
  asi_archive_count(a, &s->report.count);
  s->report.impulse = s->impulse;
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    asi_archive_int(a, &e->sign, -1, 1);
    asi_archive_double(a, &e->from);
    asi_archive_doubles(a, e->past_t, 2);
    asi_archive_doubles(a, e->past, 2);
    asi_archive_int(a, &e->n_past, 0, 2);
    asi_archive_double(a, &e->first);
    asi_archive_double(a, &e->last);
    asi_archive_double(a, &e->gap);
    asi_archive_double(a, &e->ratio);
    asi_archive_int(a, &e->quick, 0, ZENO_COUNT);
  }
}

// ---- times ----------------------------------------------------------------------------------------

static bool is_timed(const struct asi_event *e) { return e->def.period > 0.0; }

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
    if (is_timed(e)) next = fmin(next, timed_next(e, t));
  }
  return next;
}

// ---- the functions --------------------------------------------------------------------------------

static as_point point_of(const as_state *state) {
  return (as_point){.t = state->t,
                    .q = state->q,
                    .v = state->v,
                    .vdot = state->vdot,
                    .lambda = state->lambda,
                    .psi = state->psi,
                    .x = state->x,
                    .y = state->y,
                    .u = state->u};
}

static as_status evaluate(as_integrator *s, const struct asi_event *e, const as_point *at,
                          double *value) {
  *value = (double)NAN;
  const int code = e->def.value(at, value, e->def.user);
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
  const as_point at = point_of(&s->state);
  return status ? status : evaluate(s, e, &at, value);
}

static int sign_of(double x) { return (x > 0.0) - (x < 0.0); }

/// On which side of zero a value is; a condition does not hold at zero.
static int side_of(const struct asi_event *e, double x) {
  return e->def.condition && x == 0.0 ? -1 : sign_of(x);
}

static double time_tolerance(const as_integrator *s) {
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
  as_point at = point_of(&s->state);
  at.t = s->stepper.t + d;
  at.q = moved->q;
  at.v = moved->v;
  at.x = moved->x;
  return evaluate(s, e, &at, value);
}

static void forget_past(struct asi_event *e) { e->n_past = 0; }

static void note_past(struct asi_event *e, double t, double value) {
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
  if (is_timed(e)) return AS_OK;
  as_status status = evaluate_at(s, e, s->stepper.t, &value);
  e->sign = sign_of(value);
  e->seen[0] = e->seen[1] = (double)NAN;
  forget_past(e);
  note_past(e, s->stepper.t, value);
  const bool is_small = is_left && fabs(value) <= LEFT_OVER * e->size;
  if (status || !(is_small || e->sign == 0)) return status;
  if (is_small && e->def.condition && e->size > 0.0) {
    e->sign = 1;
    return AS_OK;
  }
  double d = fmax(100.0 * time_tolerance(s), 1e-11 * fmax(1.0, fabs(s->stepper.t)));
  for (int tries = 0; tries < 6 && status == AS_OK; ++tries, d *= 10.0) {
    status = evaluate_ahead(s, e, d, &ahead);
    if (tries == 0) e->sign = sign_of(ahead - value);
    e->from = s->stepper.t + d;
    if (e->sign == 0 || sign_of(ahead) == e->sign) break;
  }
  return status;
}

/// The same; a condition that holds by a jump waits with its old sign until it has happened.
static as_status take_sign(as_integrator *s, struct asi_event *e, bool is_left) {
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

static as_status follow_jumps(as_integrator *s);

as_status asi_events_look(as_integrator *s) {
  as_status status = AS_OK;
  for (int i = 0; i < s->def.n_events && status == AS_OK; ++i)
    status = take_sign(s, &s->event[i], false);
  if (status == AS_OK) status = follow_jumps(s);
  asi_publish(s, s->stepper.t, &s->stepper.now);
  return status;
}

as_status asi_events_start(as_integrator *s) {
  for (int i = 0; i < s->def.n_events; ++i) {
    s->event[i].first = s->event[i].last = (double)NAN;
    s->event[i].gap = s->event[i].ratio = (double)NAN;
    s->event[i].quick = 0;
    s->event[i].warned = false;
    s->event[i].sign = -1;
  }
  return asi_events_look(s);
}

// ---- crossings ------------------------------------------------------------------------------------

/// [EV.3] The end of a bracket in which the function leaves its old sign, not longer than the tolerance:
/// regula falsi after Illinois, halved where three steps together gain too little.
static as_status locate(as_integrator *s, struct asi_event *e, double b, double fb) {
  const double tolerance = time_tolerance(s);
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
    const int moves = side_of(e, fc) == e->sign ? -1 : 1;
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
  if (e->n_past == 0 || t1 - t0 <= time_tolerance(s)) return AS_OK;
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
  bool crosses = e->sign * side_of(e, e->end) <= 0;
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
static as_status find_crossings(as_integrator *s, double *next) {
  *next = (double)INFINITY;
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    e->root = (double)INFINITY;
    if (is_timed(e)) {
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

as_status asi_events_pending(as_integrator *s, bool *pending) {
  double next = 0.0;
  const as_status status = find_crossings(s, &next);
  *pending = isfinite(next);
  return status;
}

// ---- actions --------------------------------------------------------------------------------------

static void copy(double *to, const double *from, int n) {
  memcpy(to, from, (size_t)n * sizeof(double));
}

static void copy_values(const as_problem *p, const asi_values *to, const as_state *from) {
  copy(to->q, from->q, p->nq);
  copy(to->v, from->v, p->n);
  copy(to->vdot, from->vdot, p->n);
  copy(to->lambda, from->lambda, p->def.n_lambda);
  copy(to->psi, from->psi, p->def.n_psi);
  copy(to->x, from->x, p->def.n_x);
  copy(to->xdot, from->xdot, p->def.n_x);
  copy(to->y, from->y, p->def.n_y);
}

/// Held signals as actions leave them, and as they were, for a change that fails.
static double *u_after(const as_integrator *s) {
  return s->held + 4 * (size_t)s->kin.problem->def.n_u;
}
static double *u_before(const as_integrator *s) {
  return s->held + 5 * (size_t)s->kin.problem->def.n_u;
}

/// Calls the actions of all events at `t`; what they ask for together, and the first that asks to stop.
static as_status call_actions(as_integrator *s, double t, double tolerance, int *wish,
                              const struct asi_event **stopper) {
  const as_problem *p = s->kin.problem;
  asi_interpolation_show(s, t);
  as_status shown = asi_interpolation_complete(s, false, true);
  if (shown == AS_OK) shown = asi_show_reactions(s);
  if (shown) return shown;
  const as_point at = point_of(&s->state);
  copy_values(p, &s->stepper.next, &s->state);
  copy(u_after(s), s->kin.eval.u, p->def.n_u);
  for (int i = 0; i < s->kin.redundancy.rows; ++i) {
    s->holds[i] = !s->kin.eval.inactive[i];
    s->restitution[i] = (double)NAN;
  }
  *wish = AS_EVENT_CONTINUE;
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    const bool happens = e->root <= t + tolerance && !is_timed(e);
    const as_status status = happens ? evaluate(s, e, &at, &e->left) : AS_OK;
    if (status) return status;
  }
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    if (!(e->root <= t + tolerance)) continue;
    as_event event = {.index = i,
                      .direction = -e->sign,
                      .at = &at,
                      .q = s->stepper.next.q,
                      .v = s->stepper.next.v,
                      .x = s->stepper.next.x,
                      .u = u_after(s),
                      .active = s->holds,
                      .restitution = s->restitution};
    const int answer = e->def.act ? e->def.act(&event, e->def.user) : AS_EVENT_STOP;
    if (answer < AS_FATAL) return asi_eval_code(&s->kin.eval, answer, "event", &at);
    if (answer < 0 || answer > (AS_EVENT_CHANGE | AS_EVENT_STOP))
      return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, t, e->name,
                      "The action of event %s failed at t = %.9g s (it returned %d).", e->name, t,
                      answer);
    if ((answer & AS_EVENT_STOP) && !(*wish & AS_EVENT_STOP)) *stopper = e;
    *wish |= answer;
    s->report.index = i;
    s->report.direction = event.direction;
    s->report.t = t;
    ++s->report.count;
  }
  return AS_OK;
}

/// Refuses what actions may have written.
static as_status check_change(as_integrator *s, double t) {
  const as_problem *p = s->kin.problem;
  const struct {
    const char *name;
    const double *value;
    int n;
  } parts[] = {{"v", s->stepper.next.v, p->n},
               {"x", s->stepper.next.x, p->def.n_x},
               {"u", u_after(s), p->def.n_u}};
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < parts[k].n; ++i)
      if (!isfinite(parts[k].value[i]))
        return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, t, parts[k].name,
                        "An event has set %s[%d] to %g at t = %.9g s.", parts[k].name, i,
                        parts[k].value[i], t);
  for (int i = 0; i < s->kin.redundancy.rows; ++i)
    if (!(isnan(s->restitution[i]) || (s->restitution[i] >= 0.0 && s->restitution[i] <= 1.0)))
      return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, t, "restitution",
                      "An event has set the restitution of row %d to %g at t = %.9g s: it is not "
                      "between 0 and 1.",
                      i, s->restitution[i], t);
  return as_space_check(p->space, s->stepper.next.q, s->kin.eval.error);
}

/// Whether actions have changed the function of an event that has happened, or the state that it sees.
static as_status find_jump(as_integrator *s, const struct asi_event *e, bool *jumped) {
  as_point at = point_of(&s->state);
  double value = 0.0;
  at.q = s->stepper.next.q;
  at.v = s->stepper.next.v;
  at.x = s->stepper.next.x;
  at.u = u_after(s);
  const as_status status = evaluate(s, e, &at, &value);
  *jumped = value != e->left;
  return status;
}

/// Ends the last step at t: the interpolated state there becomes the current one.
static void cut_step(as_integrator *s, double t) {
  const asi_values *now = &s->stepper.now;
  asi_interpolation_keep_end(s);
  s->stepper.t = t; // the dense output still knows where the step ended
  copy_values(s->kin.problem, now, &s->state);
  copy(now->a, now->vdot, s->kin.problem->n);
  copy(now->w, now->xdot, s->kin.problem->def.n_x);
  s->stepper.a_offset = s->stepper.w_offset = 0.0;
  s->stepper.first = s->stepper.forward = true;
  if (s->stepper.last.known) // a part of a step is no reason for larger ones
    s->control.h = fmin(s->control.h, s->stepper.last.h);
  asi_publish(s, t, now);
}

static as_status check_zeno(as_integrator *s, struct asi_event *e, double t) {
  const double gap = t - e->last, since = t - e->first, ratio = gap / e->gap;
  const double least = ZENO_GAP * fmax(1.0, fabs(t));
  const bool sooner = ratio < 1.0 - 1e-5;
  const bool steadily = sooner && ratio <= 2.0 * e->ratio && ratio >= 0.5 * e->ratio;
  const bool quick = (sooner && gap <= ZENO_SHARE * since) || gap <= least;
  if (isnan(e->first)) e->first = t;
  e->last = t;
  e->gap = gap;
  e->ratio = ratio;
  e->quick = quick ? e->quick + 1 : 0;
  if (e->quick < ZENO_COUNT && !(steadily && gap * ratio <= least)) return AS_OK;
  e->quick = 0;
  return asi_fail(s->kin.eval.error, AS_ERR_ZENO, t, e->name,
                  "Event %s happens again and again in no time at t = %.12g s, the last time after "
                  "%.3g s: %s.",
                  e->name, t, gap,
                  e->def.condition
                      ? "what it does ends the condition that it waits for; give it a hysteresis"
                      : "let it come to rest, for example by activating a constraint");
}

/// Makes what the actions at t have changed the current state.
static as_status change(as_integrator *s, double t, double tolerance) {
  const as_problem *p = s->kin.problem;
  as_status status = check_change(s, t);
  for (int i = 0; i < s->def.n_events && status == AS_OK; ++i) {
    struct asi_event *e = &s->event[i];
    bool jumped = false;
    if (e->root <= t + tolerance && !is_timed(e)) status = find_jump(s, e, &jumped);
    if (jumped) e->size = 0.0;
  }
  if (status) return status;
  cut_step(s, t);
  copy(s->stepper.next.vdot, s->stepper.now.vdot, p->n);
  copy(s->stepper.next.lambda, s->stepper.now.lambda, p->def.n_lambda);
  copy(s->stepper.next.psi, s->stepper.now.psi, p->def.n_psi);
  copy(s->stepper.next.xdot, s->stepper.now.xdot, p->def.n_x);
  copy(s->stepper.next.y, s->stepper.now.y, p->def.n_y);
  s->processed_until = t;
  copy(u_before(s), s->kin.eval.u, p->def.n_u);
  copy(s->kin.eval.u, u_after(s), p->def.n_u);
  status = asi_restart(s, s->holds, s->restitution);
  if (status) copy(s->kin.eval.u, u_before(s), p->def.n_u);
  as_status zeno = AS_OK; // the others take their signs all the same
  for (int i = 0; i < s->def.n_events && status == AS_OK; ++i) {
    struct asi_event *e = &s->event[i];
    const bool happened = e->root <= t + tolerance;
    e->root = (double)INFINITY;
    if (happened && e->def.condition) e->sign = 1;
    status = take_sign(s, e, happened);
    if (status == AS_OK && happened && zeno == AS_OK && !is_timed(e)) zeno = check_zeno(s, e, t);
  }
  asi_publish(s, s->stepper.t, &s->stepper.now);
  return status ? status : zeno;
}

static as_status stop(as_integrator *s, const struct asi_event *e, double t) {
  asi_interpolation_show(s, t);
  as_status status = asi_interpolation_complete(s, false, true);
  if (status == AS_OK) status = asi_show_reactions(s);
  if (status) return status;
  return asi_fail(s->kin.eval.error, AS_STOPPED, t, e->name,
                  "Event %s stopped the integration at t = %.12g s.", e->name, t);
}

/// Conditions that hold by a jump happen where they are, then those that follow from them, until there are none. Those that are
/// at zero wait for the others, which may change the way that they go.
static as_status follow_jumps(as_integrator *s) {
  as_status status = AS_OK;
  while (status == AS_OK) {
    const double t = s->stepper.t, tolerance = time_tolerance(s);
    int wish = AS_EVENT_CONTINUE, most = HAS_NOT;
    const struct asi_event *stopper = NULL;
    for (int i = 0; i < s->def.n_events; ++i)
      if ((int)s->event[i].jumped > most) most = (int)s->event[i].jumped;
    if (most == HAS_NOT) break;
    for (int i = 0; i < s->def.n_events; ++i)
      s->event[i].root = (int)s->event[i].jumped == most ? t : (double)INFINITY;
    status = call_actions(s, t, tolerance, &wish, &stopper);
    if (status) break;
    for (int i = 0; i < s->def.n_events; ++i) {
      struct asi_event *e = &s->event[i];
      if ((int)e->jumped != most) continue;
      if (!(wish & AS_EVENT_CHANGE)) e->sign = 1;
      e->size = 0.0;
      e->jumped = HAS_NOT;
    }
    if (wish & AS_EVENT_CHANGE) status = change(s, t, tolerance);
    if (status == AS_OK && stopper) status = stop(s, stopper, t);
  }
  return status;
}

/// The step is over: what the functions are at its end they are from now on.
static as_status settle_signs(as_integrator *s) {
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    if (e->from >= s->stepper.t || is_timed(e)) continue; // a very short step
    e->sign = side_of(e, e->end);
    note_past(e, s->stepper.t, e->end);
    const as_status status = e->sign == 0 ? take_sign(s, e, false) : AS_OK;
    if (status) return status;
  }
  s->processed_until = s->stepper.t;
  asi_publish(s, s->stepper.t, &s->stepper.now);
  return AS_OK;
}

/// What is behind a crossing that has changed nothing: the other sign. [EV.6] sees two crossings in a step, no more.
static void cross(as_integrator *s, struct asi_event *e, double t) {
  double *const last = &e->seen[e->sign < 0];
  const double period = t - *last;
  *last = t;
  e->sign = -e->sign;
  if (e->warned || !(s->stepper.last.h > STEP_IN_PERIOD * period)) return;
  e->warned = true;
  asi_log(
      &s->kin, AS_LOG_WARNING,
      "Event %s came back after %.3g s at t = %.9g s, and the step there is %.3g s long: it may "
      "happen unnoticed in other steps. Bound the steps by max_step, or give its times by "
      "`every`.",
      e->name, period, t, s->stepper.last.h);
}

as_status asi_events_act(as_integrator *s, double until) {
  while (s->processed_until < s->stepper.t) {
    const double tolerance = time_tolerance(s);
    double next = 0.0;
    int wish = AS_EVENT_CONTINUE;
    const struct asi_event *stopper = NULL;
    as_status status = find_crossings(s, &next);
    if (status) return status;
    if (!isfinite(next) || next > until) return until >= s->stepper.t ? settle_signs(s) : AS_OK;
    status = call_actions(s, next, tolerance, &wish, &stopper);
    if (status) return status;
    if (wish & AS_EVENT_CHANGE) {
      status = change(s, next, tolerance);
      if (status == AS_OK) status = follow_jumps(s);
    } else {
      for (int i = 0; i < s->def.n_events; ++i)
        if (s->event[i].root <= next + tolerance && !is_timed(&s->event[i]))
          cross(s, &s->event[i], next);
      s->processed_until = next;
      if (next == s->stepper.t) status = settle_signs(s);
    }
    if (status == AS_OK && stopper) status = stop(s, stopper, next);
    if (status) return status;
  }
  return AS_OK;
}

as_event_report as_integrator_event(const as_integrator *s) { return s->report; }
