/// Taking steps: one that leaves everything as it was if it fails, one that is rescued, many to a given time.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/denormals.h"
#include "base/error.h"
#include "base/text.h"
#include "core/driver/integrator.h"

void asi_accept_step(as_integrator *s) {
  const double t0 = s->stepper.t;
  asi_stepper_accept(&s->stepper);
  asi_publish(s, s->stepper.t, &s->stepper.now);
  s->has_pending_events = true;
  s->processed_until = t0;
}

/// Tries one step.
static as_status try_step(as_integrator *s, double h, double t1, double e) {
  const as_status status = asi_solve_step(&s->stepper, h, t1, e);
  if (status == AS_OK) asi_control_note(s);
  if (status == AS_OK) asi_accept_step(s);
  return status;
}

enum { MAX_SPLITS = 6 };

/// [RE.5] A step that has failed with `status` is tried again with more compliance, which carries it over
/// a singular position, and then its first 0.6: a half would meet the singular point again. What follows that part is a step of its own.
static as_status rescue_step(as_integrator *s, double h, double t1, as_status status) {
  static const double compliance[] = {1e-4, 1e-2};
  for (int splits = 0;; ++splits) {
    for (int i = 0; i < 2 && s->kin.redundancy.rows > 0; ++i)
      if (status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE)
        status = try_step(s, h, t1, compliance[i]);
    if (as_status_is_recoverable(status) && s->stepper.path.count > 0) { // [NW.15]
      s->stepper.path.leads = !s->stepper.path.leads;
      status = try_step(s, h, t1, s->stepper.base_compliance);
      if (status) s->stepper.path.leads = !s->stepper.path.leads;
    }
    if (as_status_is_recoverable(status) && s->kin.redundancy.rows > 0) { // [NW.17]
      s->stepper.damping.insists = true;
      status = try_step(s, h, t1, s->stepper.base_compliance);
      s->stepper.damping.insists = false;
    }
    if (!as_status_is_recoverable(status) || splits == MAX_SPLITS) return status;
    t1 = s->stepper.t + 0.6 * h;
    h = t1 - s->stepper.t;
    status = try_step(s, h, t1, s->stepper.base_compliance);
    if (!as_status_is_recoverable(status)) return status;
  }
}

/// After a step to t1 has failed for good: adds to its error which constraint rows are close to dependent where it
/// began, or where they are closest if they cannot hold at t1. The search measures the rows anew: what it has changed is put back from
/// the snapshot.
static void explain_failure(as_integrator *s, double t1, as_status status, as_error *error) {
  const asi_redundancy usual = s->kin.redundancy;
  if (error == NULL || usual.rows == 0 ||
      (status != AS_ERR_SINGULAR && status != AS_ERR_CONVERGENCE && status != AS_ERR_TOLERANCE))
    return;
  as_error ignored;
  s->kin.eval.error = &ignored;
  const bool locked = asi_is_out_of_reach(s, t1);
  // There rows are known to be dependent, but the position is not exact.
  const double near = (locked ? 100.0 : 10.0) * asi_redundancy_near(&s->kin);
  const double t = locked ? t1 : s->stepper.t;
  const double *const q = locked ? s->stepper.next.q : s->stepper.now.q;
  const as_point here = {
      .t = t, .q = q, .v = s->stepper.now.v, .x = s->stepper.next.x, .y = s->stepper.next.y};
  const as_status found = asi_find_redundancy(&s->kin, &here, near, usual.n_redundant + 8);
  // Rows that are redundant everywhere say nothing about where it failed.
  const asi_redundancy *r = &s->kin.redundancy;
  const int count = r->n_nearly > 0 ? r->n_nearly : r->n_redundant;
  const int *rows = r->n_nearly > 0 ? r->found + r->n_redundant : r->found;
  if (found == AS_OK && (r->n_nearly > 0 || count > usual.n_redundant)) {
    char names[600] = "";
    const as_problem_def *def = &s->kin.problem->def;
    const as_point at = {.t = t, .q = q, .v = s->stepper.now.v, .u = s->kin.eval.u};
    if (def->describe_redundancy)
      def->describe_redundancy(&at, rows, count, r->group, names, sizeof names, def->user);
    else
      asi_name_rows(s->kin.problem, rows, count, names, sizeof names);
    // Where Newton's method or elimination happened to stop says less.
    if (locked)
      asi_print(error->message, sizeof error->message,
                "No position satisfies all constraints at t = %.9g s.", t1);
    const bool stopped = strncmp(error->message, "The equations", 13) == 0;
    char *const detail = stopped ? strstr(error->message, ": ") : NULL;
    if (detail) strcpy(detail, ".");
    const size_t used = strlen(error->message);
    asi_print(error->message + used, sizeof error->message - used,
              locked ? " Where they are closest, %s%s."
                     : " The step began close to a singular position: %s%s.",
              names,
              def->describe_redundancy ? ""
              : count == 1             ? " follows from the others"
                                       : " follow from the others");
  }
  s->kin.eval.error = error;
  s->kin.redundancy = usual;
  asi_snapshot_restore(s);
}

/// A step that leaves everything as it was if it fails, with the error of its first attempt.
static as_status take_safe_step(as_integrator *s, double h, double t1, as_error *error) {
  s->kin.eval.error = error;
  s->stepper.newton_rtol = isnan(s->def.newton.rtol) ? 1e-8 : s->def.newton.rtol;
  s->stepper.controlled = false;
  const asi_newton_history seen = s->stepper.history;
  asi_system *const active = s->stepper.active;
  const as_status status = try_step(s, h, t1, s->stepper.base_compliance);
  if (!as_status_is_recoverable(status)) return status;
  s->stepper.history = seen;
  s->stepper.active = active;
  asi_snapshot_take(s);
  as_error ignored;
  const double t0 = s->stepper.t;
  s->kin.eval.error = &ignored;
  const as_status rescued = rescue_step(s, h, t1, status);
  s->kin.eval.error = error;
  if (rescued == AS_OK) {
    asi_log(
        &s->kin, AS_LOG_INFO,
        "The step from t = %.9g s to %.9g s could be taken only with compliant constraints or in "
        "parts, the first of them to %.9g s: %s",
        t0, t1, s->stepper.t, error ? error->message : "it failed at first.");
    return AS_OK;
  }
  const as_statistics statistics = s->kin.statistics; // work was done, but no step
  asi_snapshot_restore(s);
  s->kin.statistics = statistics;
  explain_failure(s, t1, status, error);
  s->stepper.factor_h = (double)NAN;
  return status;
}

/// Lets events and samples of the last step happen that lie at or before `until`. AS_STOPPED: an event asked
/// to stop.
static as_status process_events_until(as_integrator *s, double until, as_error *error) {
  if (!s->has_pending_events) return AS_OK;
  const asi_float_mode mode = asi_flush_denormals();
  as_status status = AS_OK;
  s->kin.eval.error = error;
  if (s->def.n_events > 0) status = asi_events_act(s, until);
  if (status == AS_OK && until >= s->stepper.t) {
    bool jumped = false, passed = false;
    if (s->kin.problem->def.next_time) status = asi_times_pass(s, &passed);
    if (status == AS_OK && passed && s->def.n_events > 0) status = asi_events_act(s, s->stepper.t);
    if (status == AS_OK && s->kin.problem->def.n_samplers > 0) status = asi_zoh_act(s, &jumped);
    if (status == AS_OK && jumped) status = asi_events_look(s);
    s->has_pending_events = status != AS_OK;
  }
  if (status && status != AS_STOPPED) // not somewhere on the way to an event
    asi_interpolation_show(s, fmax(fmin(until, s->stepper.t),
                                   s->stepper.last.known ? s->stepper.last.t0 : s->stepper.t));
  asi_restore_denormals(mode);
  return status;
}

/// What comes before every step: what is left of the last one, and the question whether to go on.
static as_status before_step(as_integrator *s, as_error *error) {
  const as_status status = process_events_until(s, s->stepper.t, error);
  if (status || s->def.interrupt == NULL || !s->def.interrupt(s->def.interrupt_user)) return status;
  asi_publish(s, s->stepper.t, &s->stepper.now);
  return asi_fail(error, AS_INTERRUPTED, s->stepper.t, NULL,
                  "The integration was interrupted at t = %.9g s.", s->stepper.t);
}

/// Tells the caller of a step that was taken.
static as_status tell_step(as_integrator *s, as_error *error) {
  const as_status shown = s->def.step_taken ? asi_show_reactions(s) : AS_OK;
  if (shown) return shown;
  if (s->def.step_taken) {
    s->def.step_taken(&s->state, s->def.step_user);
    s->kin.eval.error = error; // it may have asked for other times, with an error of its own
    if (s->state.t != s->stepper.t) asi_interpolation_show(s, s->stepper.t);
  }
  return asi_error_clear(error);
}

/// A step that flushes denormals.
static as_status take_step(as_integrator *s, double h, double t1, as_error *error) {
  as_status status = before_step(s, error);
  if (status) return status;
  const asi_float_mode mode = asi_flush_denormals();
  status = take_safe_step(s, h, t1, error);
  asi_restore_denormals(mode);
  return status ? status : tell_step(s, error);
}

static double mesh_point(const as_integrator *s) {
  return s->mesh.t0 + (double)s->mesh.count * s->mesh.h;
}

/// Whether the last step has ended at a known time, and a jump there is behind it.
static bool is_behind_jump(const as_integrator *s) { return s->stepper.t == s->mesh.jump; }

// Known times closer to a mesh point than this share of a step are on it.
#define ON_MESH 1e-9

static bool is_on_mesh(const as_integrator *s) {
  const double off = s->stepper.t - mesh_point(s);
  return off == 0.0 || (is_behind_jump(s) && fabs(off) <= ON_MESH * s->mesh.h);
}

/// Whether a part of a step is left to do.
static bool is_in_parts(const as_integrator *s) {
  const double last = mesh_point(s), h = s->mesh.h;
  const bool parted = is_behind_jump(s) || (!s->stepper.forward && s->stepper.last_h < 0.9 * h);
  return parted && s->stepper.t > last && s->stepper.t < last + h;
}

// [SC.16] A part of a step that is shorter than this share of it is joined to the step next to it.
#define SHORT_PART 0.1

/// [SC.16] A step to mesh point i, at `end`, ends at the first known time in it instead, or a little behind it. *end: where;
/// *count: the last mesh point up to there.
static double part_step(const as_integrator *s, double h, bool is_last, double *end, long *count) {
  const double most = s->mesh.h, until = *end + (is_last ? ON_MESH : SHORT_PART) * most;
  const as_known_time jump = asi_times_jump(s, until);
  if (!(jump.before <= until)) return h;
  const double off = jump.before - *end;
  *end = jump.before;
  if (fabs(off) <= ON_MESH * most) return h;
  if (off < 0.0) --*count;
  return *end - s->stepper.t;
}

/// Steps from the current time to t: `most` at the most, the last one stretched or shortened. Ends early
/// where an event has changed something. Mesh points are multiplied, not summed up, and go on where an earlier
/// call has left them: interruptions do not show in the last bit.
static as_status take_steps(as_integrator *s, double most, double t, as_error *error) {
  const asi_mesh was = s->mesh;
  const double began = s->stepper.t;
  if (!(s->mesh.h == most && (is_on_mesh(s) || is_in_parts(s)))) {
    s->mesh.t0 = s->stepper.t;
    s->mesh.h = most;
    s->mesh.count = 0;
  }
  const double t0 = s->mesh.t0;
  const long n = (long)fmax((double)s->mesh.count + 1.0, round((t - t0) / most));
  for (long i = s->mesh.count + 1; i <= n; ++i) {
    double end = i < n ? t0 + (double)i * most : t;
    const double rest = t - (t0 + (double)(n - 1) * most);
    const double whole = i < n || fabs(rest - most) <= 1e-9 * most ? most : rest;
    if (is_behind_jump(s) && i < n && end - s->stepper.t < SHORT_PART * most) continue;
    double h = is_on_mesh(s) ? whole : end - s->stepper.t;
    long count = i;
    if (s->kin.problem->def.next_time) h = part_step(s, h, i == n, &end, &count);
    as_status status = take_step(s, h, end, error);
    if (status == AS_OK && s->stepper.t == end) s->mesh.count = count;
    if (status && s->stepper.t == began) s->mesh = was;
    if (status == AS_OK) status = process_events_until(s, s->stepper.t, error);
    if (status) return status;
    if (s->stepper.t != end || s->kin.statistics.steps >= s->most_steps) return AS_OK;
  }
  return AS_OK;
}

/// Equal steps to the next sample; after an interruption, or a known time, between two samples they stay what they were.
static double step_to_sample(const as_integrator *s, double most, double gap) {
  const double n = fmax(1.0, ceil(gap / most - 1e-9)), equal = gap / n, h = s->mesh.h;
  const double left = (s->stepper.t + gap - mesh_point(s)) / h;
  const bool parted =
      is_behind_jump(s) && !is_on_mesh(s) && is_in_parts(s) && fabs(left - round(left)) <= 1e-6;
  return parted || fabs(equal - h) <= 1e-9 * equal ? h : equal;
}

/// Whether there is a step to take on the way to t.
static bool is_on_the_way(const as_integrator *s, double t) {
  return s->stepper.t < t && s->kin.statistics.steps < s->most_steps;
}

/// Behind a known time that is t to round-off, t is now.
static bool reach_behind_jump(as_integrator *s, double most, double t) {
  if (!is_behind_jump(s) || !(t - s->stepper.t <= ON_MESH * most)) return false;
  s->stepper.t = s->mesh.jump = t;
  asi_publish(s, t, &s->stepper.now);
  return true;
}

/// Steps of a given size to t; from sample to sample they are equal. A first step after an event that would
/// be short, and much shorter than the next, passes t instead by a whole step, and the state at t is
/// interpolated.
static as_status advance_by(as_integrator *s, double most, double t, bool exactly,
                            as_error *error) {
  const bool sampled = s->kin.problem->def.n_samplers > 0;
  as_status status = process_events_until(s, t, error);
  s->kin.eval.error = error;
  if (status == AS_OK && !s->stepper.last.known && s->stepper.t < t) status = asi_times_start(s);
  while (is_on_the_way(s, t) && status == AS_OK && !reach_behind_jump(s, most, t)) {
    const double next = sampled ? asi_zoh_next(s) : (double)INFINITY;
    const double gap = fmin(next, t) - s->stepper.t;
    // A sample next to t is at t.
    const double end = sampled && asi_zoh_is_at(s, next, t) ? t : fmin(next, t);
    const bool passes = !exactly && !sampled && s->stepper.forward && gap < 0.5 * most &&
                        !is_behind_jump(s) && isinf(asi_times_jump(s, t + most).before);
    if (passes) {
      status = take_step(s, gap + most, t + most, error);
      if (status == AS_OK) status = process_events_until(s, t, error);
    } else {
      status = take_steps(s, sampled ? step_to_sample(s, most, gap) : most, end, error);
    }
  }
  return status;
}

/// The state shows reactions of least norm when a call ends, also where it fails.
static as_status finish(as_integrator *s, as_status status, as_error *error) {
  if (s->late_reactions) return status;
  s->kin.eval.error = status ? NULL : error; // the first failure is what is told
  const as_status shown = asi_show_reactions(s);
  return status ? status : shown;
}

/// An automatic step.
static as_status take_automatic_step(as_integrator *s, double stop, double hint, as_error *error) {
  as_status status = before_step(s, error);
  if (status) return status;
  const double next = s->kin.problem->def.n_samplers > 0 ? asi_zoh_next(s) : (double)INFINITY;
  const asi_float_mode mode = asi_flush_denormals();
  s->kin.eval.error = error;
  bool passed = false;
  if (!s->stepper.last.known) status = asi_times_pass(s, &passed); // a switch at the start
  // A sample next to the time that is asked for is at it.
  const bool at_hint = asi_zoh_is_at(s, next, hint);
  const double end = fmin(at_hint ? hint : fmin(stop, next), asi_times_next(s));
  if (status == AS_OK)
    status =
        s->def.order > 2 ? asi_extrapolated_step(s, end, hint) : asi_automatic_step(s, end, hint);
  if (status) {
    asi_snapshot_take(s);
    explain_failure(s, s->stepper.t1, status, error);
  }
  asi_restore_denormals(mode);
  return status ? status : tell_step(s, error);
}

// ---- what a caller may ask ------------------------------------------------------------------------

static as_status fail_standing(const as_integrator *s, double h, as_error *error) {
  return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, "step",
                  "A step of %g s from t = %.9g s does not move forward in time.", h, s->stepper.t);
}

as_status as_integrator_step(as_integrator *s, double h, as_error *error) {
  const as_status status = asi_check_started(s, error);
  if (status) return status;
  const double t = s->stepper.t + h;
  if (!(h > 0.0 && isfinite(h) && t > s->stepper.t)) return fail_standing(s, h, error);
  return finish(s, advance_by(s, h, t, true, error), error);
}

as_status as_integrator_next(as_integrator *s, as_error *error) {
  as_status status = asi_check_started(s, error);
  if (status) return status;
  if (!isnan(s->def.step)) return as_integrator_step(s, s->def.step, error);
  status = process_events_until(s, s->stepper.t, error);
  if (status == AS_OK) status = take_automatic_step(s, (double)INFINITY, (double)INFINITY, error);
  if (status == AS_OK) status = process_events_until(s, s->stepper.t, error);
  return finish(s, status, error);
}

as_status as_integrator_interpolate(as_integrator *s, double t, as_error *error) {
  const as_status status = asi_check_started(s, error);
  if (status) return status;
  const double t0 = s->stepper.last.known ? s->stepper.last.t0 : s->stepper.t;
  if (!(t >= t0 && t <= s->stepper.t))
    return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, "t",
                    "t = %.9g s is not inside the last step, from %.9g s to %.9g s.", t, t0,
                    s->stepper.t);
  s->kin.eval.error = error;
  asi_interpolation_show(s, t);
  const as_status completed = asi_interpolation_complete(s, true, true);
  return completed ? completed : finish(s, AS_OK, error);
}

/// Goes towards t: one step, or what is left of the last one, or all the way.
static as_status go(as_integrator *s, double t, bool one_step, as_error *error) {
  as_status status = asi_check_started(s, error);
  if (status) return status;
  const double h = s->def.step;
  if (!(t >= s->state.t && isfinite(t)))
    return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, "t",
                    "Cannot advance from t = %.9g s to %.9g s: time runs forward.", s->state.t, t);
  if (!isnan(h) && !((t - s->stepper.t) / h < 9e15))
    return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, "step",
                    "From t = %.9g s to %.9g s there are too many steps of %g s.", s->stepper.t, t,
                    h);
  const bool inside = s->state.t < s->stepper.t;
  s->most_steps = one_step ? s->kin.statistics.steps + (inside ? 0 : 1) : LONG_MAX;
  if (!isnan(h)) status = advance_by(s, h, t, false, error);
  const double last = s->def.tolerance.land ? t : (double)INFINITY;
  if (isnan(h)) status = process_events_until(s, t, error);
  while (isnan(h) && is_on_the_way(s, t) && status == AS_OK) {
    status = take_automatic_step(s, last, t, error);
    if (status == AS_OK) status = process_events_until(s, t, error);
  }
  s->most_steps = LONG_MAX;
  if (status) return finish(s, status, error);
  asi_interpolation_show(s, fmin(t, s->stepper.t));
  status = asi_interpolation_complete(s, true, true);
  if (status == AS_OK) status = finish(s, AS_OK, error);
  return status ? status : asi_error_clear(error);
}

as_status as_integrator_advance(as_integrator *s, double t, as_error *error) {
  return go(s, t, false, error);
}

as_status as_integrator_step_towards(as_integrator *s, double t, as_error *error) {
  return go(s, t, true, error);
}
