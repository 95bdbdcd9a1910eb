/// Runs: steps to the end, rows at their own times.
///
/// Steps and rows have nothing to do with each other: the integrator takes the steps to t_end one by one; rows are interpolated in the
/// step that they lie in, and what depends on accelerations or reactions is solved for there.
///
/// The work of dampers, forces and motions is added up once a step by the trapezoidal rule, and from the last
/// step to the time of a row. Where an event has changed something, the step's sum ends with the power before it and
/// the next begins with the power after it; energy that the event has taken counts as dissipated, energy that it has
/// brought in as work.
#include <math.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "base/error.h"
#include "results/accuracy.h"
#include "results/beam_spin.h"
#include "results/flexible_range.h"
#include "results/run.h"

/// When row `i` is due; infinity: there is none.
double asi_run_row_time(const as_run *run, long i) {
  if (run->def.n_times > 0) return i < run->def.n_times ? run->times[i] : (double)INFINITY;
  const double t = (double)i * run->def.interval, end = run->def.t_end;
  if (t < end * (1.0 - 1e-9)) return t;
  // The first one that is not before the end is at the end.
  return (double)(i - 1) * run->def.interval < end * (1.0 - 1e-9) ? end : (double)INFINITY;
}

/// The state at a time inside the last step; index-3 velocities are brought onto the constraints.
static as_status show(as_run *run, double t, as_state *out, as_error *error) {
  as_integrator *s = run->integrator;
  s->kin.eval.error = error;
  asi_interpolation_show(s, t);
  as_status status = asi_interpolation_complete(s, true, run->reads_rates);
  if (status == AS_OK && run->reads_rates) status = asi_show_reactions(s);
  *out = s->state;
  if (status == AS_OK && run->def.integrator.method == AS_METHOD_INDEX3) {
    status = as_integrator_velocity(s, run->velocity, error);
    out->v = run->velocity;
  }
  return status;
}

/// How well constraints hold in the state that is shown; the velocities are those that are integrated.
static as_status note_drift(as_run *run, as_error *error) {
  return as_integrator_drift(run->integrator, &run->view.position_drift, &run->view.velocity_drift,
                             error);
}

/// Says once of each flexible body that it has left the range of one linear body, of each beam that its mesh spins too fast.
static void note_ranges(as_run *run, const as_state *state) {
  const as_model *m = run->model;
  char text[512];
  for (int i = 0; i < m->n_flexibles + m->n_beams; ++i) {
    const int beam = i - m->n_flexibles;
    if (run->left[i] ||
        !(beam < 0 ? asi_flexible_range_text(m, state, (as_flexible_id){i}, text, sizeof text)
                   : asi_beam_spin_text(m, state, beam, text, sizeof text)))
      continue;
    run->left[i] = true;
    asi_log(&run->integrator->kin, AS_LOG_WARNING, "%s", text);
  }
}

/// [EX.6] Steps of order 6 are long: what flows up to a time inside one is not a straight line between its ends. The meter goes there by
/// the three points of Gauss's rule.
static as_status meter_inside(as_run *run, as_meter *meter, double t, as_error *error) {
  static const double place[] = {0.11270166537925831, 0.5, 0.88729833462074169},
                      weight[] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};
  as_integrator *s = run->integrator;
  const double from = meter->t, h = t - from;
  if (!(s->stepper.last.has_middle && meter->started && from >= s->stepper.last.t0 && h > 0.0))
    return AS_OK;
  for (int i = 0; i < 3; ++i) {
    as_power now;
    as_status status = as_integrator_interpolate(s, from + place[i] * h, error);
    if (status == AS_OK) status = as_model_power(run->model, &s->state, &now, error);
    if (status) return status;
    meter->dissipated += weight[i] * h * now.dissipated;
    meter->forces += weight[i] * h * now.forces;
    meter->motions += weight[i] * h * now.motions;
  }
  meter->t = t;
  return AS_OK;
}

static as_status write_row(as_run *run, double t, as_row_fn *row, void *user, as_error *error) {
  as_state state;
  const bool behind = run->jumped && asi_is_reached(run->integrator->stepper.t, t);
  as_meter meter = behind ? run->after : run->meter;
  as_status status = run->energies ? meter_inside(run, &meter, t, error) : AS_OK;
  if (status == AS_OK) status = show(run, behind ? run->integrator->stepper.t : t, &state, error);
  if (status == AS_OK && run->drifting) status = note_drift(run, error);
  if (status == AS_OK && run->energies) status = as_meter_update(&meter, run->model, &state, error);
  if (status) return status;
  run->view.state = &state;
  run->view.dissipated = meter.dissipated;
  run->view.work = meter.forces + meter.motions;
  run->view.events = run->watch ? asi_watch_show(run->watch, t) : NULL;
  note_ranges(run, &state);
  status = as_channels_evaluate(run->channels, &run->view, run->row, error);
  for (int i = 0; run->poses && i < run->model->n_bodies; ++i)
    asi_body_pose(run->model, &state, i, run->poses + (ptrdiff_t)AS_POSE * i);
  run->row_t = t;
  if (run->accuracy && status == AS_OK)
    asi_accuracy_row(run->accuracy, t, run->row, run->poses, run->view.events);
  return status ? status : row(t, run->row, run->channels->n, user, error);
}

/// All rows that are due at or before a time.
static as_status write_rows(as_run *run, double until, as_row_fn *row, void *user,
                            as_error *error) {
  as_status status = AS_OK;
  for (double t; (t = asi_run_row_time(run, run->next)) <= until && status == AS_OK;) {
    status = write_row(run, t, row, user, error);
    if (status == AS_OK) ++run->next;
  }
  return status;
}

/// One more row, where a run ends before its time or a step ends; it does not count, so that a run that goes on has none there.
static as_status write_uncounted_row(as_run *run, double t, as_row_fn *row, void *user,
                                     as_error *error) {
  const double regular = run->row_t;
  as_status status = AS_OK;
  if (!asi_is_reached(t, regular)) status = write_row(run, t, row, user, error);
  run->row_t = regular;
  return status;
}

/// What channels say of the last step.
static void note_step(as_run *run) {
  const as_integrator *s = run->integrator;
  as_view *view = &run->view;
  if (run->partial) return;
  view->h = s->kin.statistics.last_step;
  view->error = isnan(run->def.integrator.step) ? s->kin.statistics.error : 0.0;
  view->newton_iterations = (double)(s->kin.statistics.newton_iterations - run->iterations);
  run->iterations = s->kin.statistics.newton_iterations;
}

/// [ST.11] Powers at the start of a step that begins with a blow are not those of its motion: those at its end stand for them.
static as_status note_blow(as_run *run, as_error *error) {
  as_integrator *s = run->integrator;
  if (!run->metered || s->stepper.blow.kinetic[1] == run->flow.blow) return AS_OK;
  const double end =
      fmin(nextafter(s->stepper.t, s->stepper.last.t0), s->stepper.last.t0 + s->stepper.last.h);
  as_status status = as_integrator_interpolate(s, fmax(s->stepper.last.t0, end), error);
  if (status == AS_OK)
    status = as_model_power(run->model, as_integrator_state(s), &run->meter.power, error);
  run->flow.power = run->meter.power;
  return status;
}

/// Shows the state just before the end of the last step, where it jumps. At a sample that steps go on behind that is known.
static as_status show_before(as_integrator *s, double until, as_error *error) {
  if (!s->stepper.first) {
    asi_interpolation_show_end(
        s); // powers are those of the run's multipliers, as at the end of any step
    return AS_OK;
  }
  // Just before it; the end of the step, where inputs were switched behind it.
  const double just_before =
      fmin(nextafter(until, s->stepper.last.t0), s->stepper.last.t0 + s->stepper.last.h);
  return as_integrator_interpolate(s, fmax(s->stepper.last.t0, just_before), error);
}

/// What an event at the end of the last step did to energies: the meter goes on behind it. A sample is no event, but
/// forces jump there, too.
static as_status note_jump(as_run *run, double until, as_error *error) {
  as_integrator *s = run->integrator;
  as_energy before, after;
  run->jumped = s->stepper.last.jumped && until == s->stepper.t;
  run->after = run->meter;
  if (!run->jumped || !run->metered) return AS_OK;
  as_status status = meter_inside(run, &run->after, until, error);
  if (status == AS_OK) status = show_before(s, until, error);
  const as_state *state = as_integrator_state(s);
  if (status == AS_OK) status = as_meter_update(&run->after, run->model, state, error);
  if (status == AS_OK) status = as_model_energy(run->model, state, &before, error);
  if (status == AS_OK) status = as_integrator_interpolate(s, until, error);
  if (status == AS_OK) status = as_meter_update(&run->after, run->model, state, error);
  if (status == AS_OK) status = as_model_energy(run->model, state, &after, error);
  if (status) return status;
  const double gain = after.kinetic + after.potential - before.kinetic - before.potential;
  run->after.dissipated += fmax(0.0, -gain);
  run->after.forces += fmax(0.0, gain);
  return AS_OK;
}

/// Says what of the start is not as it was given.
static as_status note_changes(as_run *run, as_error *error) {
  const as_integrator_def *how = &run->def.integrator;
  const as_status status =
      as_model_start_changes(run->model, as_integrator_state(run->integrator), &run->report,
                             &run->change, &run->n_changes, error);
  if (status == AS_OK)
    asi_tell_start_changes(run->model, run->change, run->n_changes, how->log, how->log_user);
  return status;
}

/// Energies that nobody wants may be missing: then nobody is told that they do not balance.
static as_status give_up_meter(as_run *run, as_status status, as_error *error) {
  if (status == AS_OK || run->energies) return status;
  run->metered = false;
  return asi_error_clear(error);
}

static as_status start(as_run *run, as_error *error) {
  as_integrator *s = run->integrator;
  as_energy energy = {0};
  as_status status = as_integrator_start(s, as_model_initial(run->model), &run->report, error);
  if (status == AS_OK) status = note_changes(run, error);
  run->metered = status == AS_OK;
  if (status == AS_OK) status = as_model_energy(run->model, as_integrator_state(s), &energy, error);
  if (status == AS_OK)
    status = as_meter_update(&run->meter, run->model, as_integrator_state(s), error);
  if (run->metered) status = give_up_meter(run, status, error);
  if (status) return status;
  note_step(run);
  run->view.h = run->view.error = run->view.newton_iterations = 0.0; // no step yet
  if (run->watch) status = asi_watch_follow(run->watch, as_integrator_state(s), error);
  if (status) return status;
  run->view.start_energy = energy.kinetic + energy.potential;
  run->flow = asi_flow_begin(&energy, &run->meter);
  run->t = s->stepper.t;
  run->started = true;
  if (run->accuracy) asi_accuracy_follow(run->accuracy, run->t, 0.0);
  return AS_OK;
}

/// What follows a step: rows, work, angles. If `until` is inside it, only rows: the rest waits for a run that goes
/// further, which then is as if it had not been looked at in between.
static as_status finish_step(as_run *run, double until, as_row_fn *row, void *user,
                             as_error *error) {
  as_integrator *s = run->integrator;
  if (run->accuracy) asi_accuracy_follow(run->accuracy, until, s->kin.statistics.last_step);
  note_step(run);
  as_status status = give_up_meter(run, note_blow(run, error), error);
  if (status == AS_OK) status = give_up_meter(run, note_jump(run, until, error), error);
  if (status == AS_OK) status = write_rows(run, until, row, user, error);
  if (run->jumped) run->meter = run->after;
  if (status == AS_OK && run->metered && until >= s->stepper.t)
    status = give_up_meter(run, meter_inside(run, &run->meter, until, error), error);
  if (status == AS_OK) status = as_integrator_interpolate(s, until, error);
  if (status) return status;
  const as_state *state = as_integrator_state(s);
  run->t = until;
  run->partial = until < s->stepper.t;
  if (run->metered && !run->partial)
    status = as_meter_update(&run->meter, run->model, state, error);
  if (status == AS_OK && run->metered && !run->partial)
    status = asi_flow_watch(&run->flow, run->integrator, run->model, &run->meter, state,
                            run->view.start_energy, until >= run->def.t_end, run->middle, run->kept,
                            error);
  status = give_up_meter(run, status, error);
  if (status == AS_OK && !run->partial) status = as_channels_follow(run->channels, state, error);
  if (status == AS_OK && !run->partial && run->watch)
    status = asi_watch_follow(run->watch, state, error);
  if (run->watch) asi_watch_commit(run->watch, run->def.happened, run->def.happened_user);
  return status;
}

static as_status check_steps(const as_run *run, as_error *error) {
  const as_integrator *s = run->integrator;
  if (run->def.max_steps == 0 || s->kin.statistics.steps < run->def.max_steps) return AS_OK;
  return asi_fail(error, AS_ERR_TOLERANCE, s->stepper.t, "max_steps",
                  "%ld steps were taken up to t = %.9g s, as many as allowed.",
                  s->kin.statistics.steps, s->stepper.t);
}

/// What a run ends with that an event stops. Whoever saves it from now on may be gone before the caller has heard of it.
static as_status stop(as_run *run, const as_error *why, as_row_fn *row, void *user,
                      as_error *error) {
  const double t = run->integrator->state.t;
  if (run->accuracy) asi_accuracy_stop(run->accuracy, t);
  run->stop_row = !asi_is_reached(t, run->row_t);
  const as_status status = write_uncounted_row(run, t, row, user, error);
  if (status) return status;
  *error = run->stop = *why;
  run->stop_kept = true;
  return AS_STOPPED;
}

// A step below this share of the run has shrunk to nothing.
#define NO_STEP 1e-9

/// The rows up to a failure, and one of the state that it could not go on from: the end of the last good step, or inside
/// it where an event has failed.
static void write_failure(as_run *run, double failed_at, as_row_fn *row, void *user) {
  const double end = run->integrator->stepper.t;
  double t = failed_at > run->t && failed_at < end ? failed_at : end;
  // Steps that have shrunk to nothing have nothing but round-off in their accelerations and reactions. Inside them both are solved for.
  const double h = end - run->integrator->stepper.last.t0, middle = end - 0.5 * h;
  if (t == end && h < NO_STEP * run->def.t_end && middle < end && middle > end - h) t = middle;
  if (write_rows(run, t, row, user, NULL) == AS_OK)
    (void)write_uncounted_row(run, t, row, user, NULL);
}

/// What is left to do after a failure: the reason, and the events that did happen before it.
static as_status fail(as_run *run, as_status status, as_error *error) {
  if (run->watch == NULL) return status;
  asi_watch_fail(run->watch, status, error);
  asi_watch_commit(run->watch, run->def.happened, run->def.happened_user);
  return status;
}

as_status as_run_go(as_run *run, as_row_fn *row, void *user, as_start_report *report,
                    as_error *error) {
  as_integrator *s = run->integrator;
  as_status status = AS_OK;
  as_error own;
  if (error == NULL) error = &own;
  if (run->stop_kept) {
    run->stop_kept = false;
    if (report) *report = run->report;
    *error = run->stop;
    return AS_STOPPED;
  }
  run->stop.status = AS_OK;
  if (!run->started) status = start(run, error);
  if (report) *report = run->report;
  if (status) return fail(run, status, error);
  status = write_rows(run, run->t, row, user, error);
  while (status == AS_OK && run->t < run->def.t_end) {
    if (!run->partial) status = check_steps(run, error);
    if (status) {
      write_failure(run, run->t, row, user);
      return status;
    }
    const as_status step = as_integrator_step_towards(s, run->def.t_end, error);
    if (step == AS_INTERRUPTED) return step;
    if (step != AS_OK && step != AS_STOPPED) {
      status = fail(run, step, error);
      write_failure(run, error->t, row, user);
      return status;
    }
    const as_error why = *error;
    const double until = s->state.t;
    status = finish_step(run, until, row, user, error);
    if (status == AS_OK && step == AS_STOPPED)
      status = stop(run, &why, row, user, error);
    else if (status == AS_OK && run->def.every_step)
      status = write_uncounted_row(run, until, row, user, error);
    if (run->def.progress) run->def.progress(until, run->def.progress_user);
  }
  run->stop_kept = false;
  if (status == AS_OK) asi_error_clear(error);
  return status;
}
