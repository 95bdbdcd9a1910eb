/// Events: what happens when functions of the state cross zero.
///
/// After a step the sign of each function at its end is compared with the sign it had; a crossing is located
/// on the dense output, and the earliest comes first. An action that changes something ends the step there:
/// the interpolated state becomes the current one, is made consistent with what holds from now on, and the
/// next step is a first one, looking forward only. So second order holds across events.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/denormals.h"
#include "base/error.h"
#include "core/driver/events.h"

// An event that changes something this many times in a row, each time sooner than the last and within this share
// of the time since the first, will never end; nor will one that comes steadily sooner, if the next time would be
// too close to be seen.
#define ZENO_SHARE 1e-7
#define ZENO_GAP 1e-10
enum { ZENO_COUNT = 5 };

// A step longer than this share of the time in which a function crosses zero twice in the same direction may hide some.
#define STEP_IN_PERIOD 0.5

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
  s->event = asi_calloc((size_t)n, sizeof *s->event);
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

void asi_events_free(as_integrator *s) {
  free(s->event);
  free(s->holds);
  free(s->was_inactive);
}

void asi_events_serialize(as_integrator *s, asi_archive *a) {
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

static as_status follow_jumps(as_integrator *s);

as_status asi_events_look(as_integrator *s) {
  as_status status = AS_OK;
  for (int i = 0; i < s->def.n_events && status == AS_OK; ++i)
    status = asi_event_take_sign(s, &s->event[i], false);
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
static double *u_after(const as_integrator *s) { return s->held.after_event; }
static double *u_before(const as_integrator *s) { return s->held.before_event; }

/// Calls the actions of all events at `t`; what they ask for together, and the first that asks to stop.
static as_status call_actions(as_integrator *s, double t, double tolerance, int *wish,
                              const struct asi_event **stopper) {
  const as_problem *p = s->kin.problem;
  asi_interpolation_show(s, t);
  as_status shown = asi_interpolation_complete(s, false, true);
  if (shown == AS_OK) shown = asi_show_reactions(s);
  if (shown) return shown;
  const as_state at = s->state;
  copy_values(p, &s->stepper.next, &s->state);
  copy(u_after(s), s->kin.eval.u, p->def.n_u);
  for (int i = 0; i < s->kin.redundancy.rows; ++i) {
    s->holds[i] = !s->kin.eval.inactive[i];
    s->restitution[i] = (double)NAN;
  }
  *wish = AS_EVENT_CONTINUE;
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    const bool happens = e->root <= t + tolerance && !asi_event_is_timed(e);
    const as_status status = happens ? asi_event_evaluate(s, e, &at, &e->left) : AS_OK;
    if (status) return status;
  }
  for (int i = 0; i < s->def.n_events; ++i) {
    struct asi_event *e = &s->event[i];
    if (!(e->root <= t + tolerance)) continue;
    as_event event = {.index = i,
                      .direction = -e->sign,
                      .state = &at,
                      .q = s->stepper.next.q,
                      .v = s->stepper.next.v,
                      .x = s->stepper.next.x,
                      .u = u_after(s),
                      .active = s->holds,
                      .restitution = s->restitution};
    const int answer = e->def.act ? e->def.act(&event, e->def.user) : AS_EVENT_STOP;
    if (answer < AS_FATAL) {
      const as_point point = as_state_point(&at);
      return asi_eval_code(&s->kin.eval, answer, "event", &point);
    }
    if (answer < 0 || answer > (AS_EVENT_CHANGE | AS_EVENT_STOP))
      return asi_fail(s->kin.eval.error, AS_ERR_CALLBACK, t, e->name,
                      "The action of event %s failed at t = %.9g s (it returned %d).", e->name, t,
                      answer);
    if ((answer & AS_EVENT_STOP) && !(*wish & AS_EVENT_STOP)) *stopper = e;
    *wish |= answer;
    if (s->happened && answer != AS_EVENT_CONTINUE) {
      const as_status heard = s->happened(i, event.direction, t, s->happened_user);
      if (heard) return heard;
    }
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
  as_state at = s->state;
  double value = 0.0;
  at.q = s->stepper.next.q;
  at.v = s->stepper.next.v;
  at.x = s->stepper.next.x;
  at.u = u_after(s);
  const as_status status = asi_event_evaluate(s, e, &at, &value);
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
    if (e->root <= t + tolerance && !asi_event_is_timed(e)) status = find_jump(s, e, &jumped);
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
    status = asi_event_take_sign(s, e, happened);
    if (status == AS_OK && happened && zeno == AS_OK && !asi_event_is_timed(e))
      zeno = check_zeno(s, e, t);
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
    const double t = s->stepper.t, tolerance = asi_event_time_tolerance(s);
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
    if (e->from >= s->stepper.t || asi_event_is_timed(e)) continue; // a very short step
    e->sign = asi_event_side(e, e->end);
    asi_event_note(e, s->stepper.t, e->end);
    const as_status status = e->sign == 0 ? asi_event_take_sign(s, e, false) : AS_OK;
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
    const double tolerance = asi_event_time_tolerance(s);
    double next = 0.0;
    int wish = AS_EVENT_CONTINUE;
    const struct asi_event *stopper = NULL;
    as_status status = asi_events_find_crossings(s, &next);
    if (status) return status;
    if (!isfinite(next) || next > until) return until >= s->stepper.t ? settle_signs(s) : AS_OK;
    status = call_actions(s, next, tolerance, &wish, &stopper);
    if (status) return status;
    if (wish & AS_EVENT_CHANGE) {
      status = change(s, next, tolerance);
      if (status == AS_OK) status = follow_jumps(s);
    } else {
      for (int i = 0; i < s->def.n_events; ++i)
        if (s->event[i].root <= next + tolerance && !asi_event_is_timed(&s->event[i]))
          cross(s, &s->event[i], next);
      s->processed_until = next;
      if (next == s->stepper.t) status = settle_signs(s);
    }
    if (status == AS_OK && stopper) status = stop(s, stopper, next);
    if (status) return status;
  }
  return AS_OK;
}

/// What an event that sets them would do, at the time that is shown.
static as_status set_signals(as_integrator *s, const double *u) {
  const double t = s->state.t;
  const bool is_cut = t < s->stepper.t; // what was due at its end is not
  asi_interpolation_show(s, t);
  as_status status = asi_interpolation_complete(s, false, true);
  if (status == AS_OK) status = asi_show_reactions(s);
  if (status) return status;
  copy_values(s->kin.problem, &s->stepper.next, &s->state);
  copy(u_after(s), u, s->kin.problem->def.n_u);
  for (int i = 0; i < s->kin.redundancy.rows; ++i) {
    s->holds[i] = !s->kin.eval.inactive[i];
    s->restitution[i] = (double)NAN;
  }
  for (int i = 0; i < s->def.n_events; ++i) s->event[i].root = (double)INFINITY;
  status = change(s, t, 0.0);
  if (status == AS_OK) status = follow_jumps(s);
  if (status == AS_OK && is_cut) s->has_pending_events = false;
  return status;
}

as_status as_integrator_set_signals(as_integrator *s, const double *u, as_error *error) {
  as_status status = asi_check_started(s, error);
  if (status) return status;
  for (int i = 0; i < s->kin.problem->def.n_u; ++i)
    if (!isfinite(u[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, "u",
                      "The held signal %d cannot be %g at t = %.9g s.", i, u[i], s->state.t);
  if (s->state.t < s->stepper.t && !(s->has_pending_events && s->processed_until <= s->state.t))
    return asi_fail(
        error, AS_ERR_ARGUMENT, s->state.t, "t",
        "Signals cannot be set at t = %.9g s: what happens behind that, up to %.9g s, has "
        "happened already.",
        s->state.t, s->stepper.t);
  const asi_float_mode mode = asi_flush_denormals();
  s->kin.eval.error = error;
  asi_snapshot_take(s);
  status = set_signals(s, u);
  if (as_status_is_failure(status)) asi_snapshot_restore(s);
  asi_restore_denormals(mode);
  return status ? status : asi_error_clear(error);
}

as_event_report as_integrator_event(const as_integrator *s) { return s->report; }
