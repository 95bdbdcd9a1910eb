/// Runs: steps to the end, rows at their own times.
///
/// Steps and rows have nothing to do with each other: the integrator takes the steps to t_end one by one; rows are interpolated in the
/// step that they lie in, and what depends on accelerations or reactions is solved for there. A step that was rescued in parts is known only from the start of its last part on: before that,
/// rows come from Hermite's cubic over what is missing, which is as accurate as over a whole step.
///
/// The work of dampers, forces and motions is added up once a step by the trapezoidal rule, and from the last
/// step to the time of a row. Where an event has changed something, the step's sum ends with the power before it and
/// the next begins with the power after it; energy that the event has taken counts as dissipated, energy that it has
/// brought in as work.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/quantities.h"
#include "alphastep/recording.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/memory_file.h"
#include "core/driver/integrator.h"
#include "results/accuracy.h"
#include "results/balance.h"
#include "results/channels.h"
#include "results/rules.h"

#define DEFAULT_ROWS 500.0 // and one at the start

/// A copy of the variables that channels depend on.
typedef struct copy {
  double t;
  double *q, *v, *vdot, *lambda, *psi;
} copy;

struct as_run {
  const as_model *model;
  as_run_def def;
  double *times; ///< def.n_times
  as_integrator *integrator;
  as_channels *channels;
  bool metered;     ///< energies are looked at after each step
  bool energies;    ///< they are wanted
  bool drifting;    ///< drift is wanted
  bool reads_rates; ///< channels depend on v', lambda or psi
  bool started;
  bool partial; ///< t is inside the last step: what follows a step has not been done
  bool default_interval;
  double t;        ///< how far it came [s]
  double row_t;    ///< when the last row was [s]
  long next;       ///< number of the next row
  long iterations; ///< of Newton, so far
  as_meter meter;
  bool jumped;            ///< the last step ended with an event that changed something:
  as_meter after;         ///< the meter behind it
  asi_watch *watch;       ///< NULL: there are no rules
  asi_accuracy *accuracy; ///< NULL: errors are not estimated
  as_view view;
  asi_flow flow; ///< what the balance of energies is compared with
  copy before;   ///< the end of the last step but one
  double *row;
  double *poses;    ///< of the row; NULL: not wanted
  double *middle;   ///< nq + n: for asi_flow_watch()
  double *xi;       ///< n
  double *velocity; ///< n: projected
  as_start_report report;
  as_start_change *change; ///< n_changes: what the start has changed of what was given
  int n_changes;
  as_csv_mark mark; ///< of the caller's table
};

as_run_def as_default_run_def(void) {
  return (as_run_def){.cookie = ASI_COOKIE(as_run_def),
                      .integrator = as_default_integrator_def(),
                      .t_end = (double)NAN,
                      .interval = (double)NAN};
}

// ---- create -----------------------------------------------------------------------------------------

static as_status check_def(const as_run_def *def, as_error *error) {
  if (!(def->t_end > 0.0 && isfinite(def->t_end)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "t_end",
                    "t_end = %g s is not a positive number.", def->t_end);
  if (!isnan(def->interval) && !(def->interval > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "interval",
                    "The output interval of %g s is not positive.", def->interval);
  // Smaller numbers lose digits, and are zero where steps are computed: there would be rows without end.
  const double interval = isnan(def->interval) ? def->t_end / DEFAULT_ROWS : def->interval;
  if (!(def->t_end >= DBL_MIN && interval >= DBL_MIN))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "t_end",
                    "t_end = %g s with an output interval of %g s is too small to compute with: "
                    "both must be %g s or more.",
                    def->t_end, interval, DBL_MIN);
  if (def->n_times == 0 && def->t_end / def->interval > 1e9)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "interval",
                    "An output interval of %g s would give more than 1e9 rows up to t_end = %g s.",
                    def->interval, def->t_end);
  for (int i = 0; i < def->n_times; ++i) {
    const double least = i > 0 ? def->times[i - 1] : -1.0;
    if (!(def->times[i] >= 0.0 && def->times[i] <= def->t_end && def->times[i] > least))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "times",
                      "Output time %d, %g s, is not between the one before and t_end = %g s.", i,
                      def->times[i], def->t_end);
  }
  return AS_OK;
}

static bool make_copy(copy *c, const as_problem *p) {
  c->q = asi_calloc((size_t)p->nq, sizeof(double));
  c->v = asi_calloc((size_t)p->n, sizeof(double));
  c->vdot = asi_calloc((size_t)p->n, sizeof(double));
  c->lambda = asi_calloc((size_t)p->def.n_lambda, sizeof(double));
  c->psi = asi_calloc((size_t)p->def.n_psi, sizeof(double));
  return c->q && c->v && c->vdot && c->lambda && c->psi;
}

static void free_copy(copy *c) {
  free(c->q);
  free(c->v);
  free(c->vdot);
  free(c->lambda);
  free(c->psi);
}

/// The integrator, with the caller's events, those of the rules behind them, and those of plugins' blocks.
static as_status create_integrator(as_run *run, as_error *error) {
  const int given = run->def.integrator.n_events, n = as_rules_count(run->def.rules);
  const int plugins = as_model_events(run->model, NULL);
  as_integrator_def how = run->def.integrator;
  if (isnan(how.tolerance.span)) how.tolerance.span = run->def.t_end;
  if (n + plugins == 0)
    return as_integrator_create(as_model_problem(run->model), &how, &run->integrator, error);
  if (n > 0 && run->def.rules->model != run->model)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "rules",
                    "The rules were made for another model.");
  for (int i = 0; i < n; ++i) {
    const asi_rule *rule = &run->def.rules->rule[i];
    if (rule->every > 0.0 && run->def.t_end / rule->every > 1e9)
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, "every",
          "Event \"%s\", every %g s, would happen more than 1e9 times up to t_end = %g s.",
          asi_names_get(&run->def.rules->names, i), rule->every, run->def.t_end);
  }
  as_status status = n > 0 ? asi_watch_create(run->def.rules, &run->watch, error) : AS_OK;
  if (status) return status;
  as_event_def *events = asi_calloc((size_t)given + (size_t)n + (size_t)plugins, sizeof *events);
  if (events == NULL) return asi_fail_memory(error);
  if (given > 0) memcpy(events, how.events, (size_t)given * sizeof *events);
  if (n > 0) asi_watch_events(run->watch, events + given);
  as_model_events(run->model, events + given + n);
  how.events = events;
  how.n_events = given + n + plugins;
  status = as_integrator_create(as_model_problem(run->model), &how, &run->integrator, error);
  free(events);
  return status;
}

static as_status create_parts(as_run *run, as_error *error) {
  const as_problem *p = as_model_problem(run->model);
  as_status status = create_integrator(run, error);
  if (status == AS_OK) run->integrator->late_reactions = true; // show() asks for them
  if (status == AS_OK)
    status = as_channels_create_with(run->model, run->def.rules, run->def.channels,
                                     run->def.n_channels, &run->channels, error);
  if (status) return status;
  for (int i = 0; i < run->channels->n_sources; ++i) {
    const asi_source_kind kind = run->channels->source[i].kind;
    run->energies = run->energies || kind == ASI_SOURCE_ENERGY;
    run->drifting = run->drifting || kind == ASI_SOURCE_DRIFT;
    run->reads_rates = run->reads_rates || asi_source_reads_rates(run->model, kind);
  }
  run->times = asi_calloc((size_t)run->def.n_times, sizeof(double));
  run->row = asi_calloc((size_t)run->channels->n, sizeof(double));
  run->middle = asi_calloc((size_t)p->nq + (size_t)p->n, sizeof(double));
  run->xi = asi_calloc((size_t)p->n, sizeof(double));
  run->velocity = asi_calloc((size_t)p->n, sizeof(double));
  if (run->def.poses) {
    run->poses = asi_calloc((size_t)run->model->n_bodies * AS_POSE, sizeof(double));
    if (!run->poses) return asi_fail_memory(error);
  }
  if (!run->times || !run->row || !run->middle || !run->xi || !run->velocity ||
      !make_copy(&run->before, p))
    return asi_fail_memory(error);
  if (run->def.n_times > 0)
    memcpy(run->times, run->def.times, (size_t)run->def.n_times * sizeof(double));
  if (run->def.accuracy)
    status = asi_accuracy_create(run->model, &run->def, run->channels, &run->accuracy, error);
  if (status) return status;
  run->default_interval = isnan(run->def.interval);
  if (run->default_interval) run->def.interval = run->def.t_end / DEFAULT_ROWS;
  run->def.channels = NULL; // neither is needed again
  run->def.times = NULL;
  return AS_OK;
}

as_status as_run_create(const as_model *model, const as_run_def *def, as_run **out,
                        as_error *error) {
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_run_def, def, error);
  if (status == AS_OK) status = check_def(def, error);
  if (status) return status;
  as_run *run = asi_calloc(1, sizeof *run);
  if (run == NULL) return asi_fail_memory(error);
  run->model = model;
  run->def = *def;
  status = create_parts(run, error);
  if (status) {
    as_run_destroy(run);
    return status;
  }
  *out = run;
  return AS_OK;
}

void as_run_destroy(as_run *run) {
  if (run == NULL) return;
  as_integrator_destroy(run->integrator);
  as_channels_destroy(run->channels);
  asi_watch_destroy(run->watch);
  asi_accuracy_destroy(run->accuracy);
  free(run->times);
  free(run->row);
  free(run->poses);
  free(run->middle);
  free(run->xi);
  free(run->velocity);
  free_copy(&run->before);
  as_start_changes_free(run->change);
  free(run);
}

const as_channels *as_run_channels(const as_run *run) { return run->channels; }
as_integrator *as_run_integrator(as_run *run) { return run->integrator; }
const double *as_run_poses(const as_run *run) { return run->poses; }
long as_run_rows(const as_run *run) { return run->next; }

const as_start_change *as_run_start_changes(const as_run *run, int *n) {
  *n = run->n_changes;
  return run->change;
}

long as_run_events(const as_run *run) { return run->watch ? run->watch->n_happened : 0; }

as_event_record as_run_event(const as_run *run, long number) {
  const bool kept = number >= 0 && number < as_run_events(run) && number < AS_RUN_EVENTS;
  return kept ? run->watch->list[number] : (as_event_record){0};
}

const double *asi_run_shown_events(const as_run *run) { return run->view.events; }

// ---- estimated errors -------------------------------------------------------------------------------

const double *as_run_errors(const as_run *run) {
  return run->accuracy ? asi_accuracy_errors(run->accuracy) : NULL;
}

const double *as_run_pose_errors(const as_run *run) {
  return run->accuracy && run->poses ? asi_accuracy_errors(run->accuracy) + run->channels->n : NULL;
}

as_channel_error as_run_channel_error(const as_run *run, int channel) {
  const double nothing = (double)NAN;
  return run->accuracy ? asi_accuracy_channel(run->accuracy, channel)
                       : (as_channel_error){nothing, nothing, nothing, nothing, nothing};
}

as_accuracy as_run_accuracy(const as_run *run) {
  return run->accuracy ? asi_accuracy_report(run->accuracy, run->t)
                       : (as_accuracy){.until = (double)NAN, .step = (double)NAN};
}

/// How many of the first events are of the same rule.
static long count_alike(const as_run *run, long first, int rule) {
  long count = 0;
  for (long i = 0; i < first; ++i) count += run->watch->list[i].rule == rule;
  return count;
}

double as_run_event_error(const as_run *run, long number) {
  const as_event_record event = as_run_event(run, number);
  if (run->accuracy == NULL || event.name == NULL) return (double)NAN;
  const as_run *finer = asi_accuracy_finer(run->accuracy);
  const long before = count_alike(run, number, event.rule);
  const long n = as_run_events(finer) < AS_RUN_EVENTS ? as_run_events(finer) : AS_RUN_EVENTS;
  long seen = 0;
  for (long i = 0; i < n; ++i) {
    if (finer->watch->list[i].rule != event.rule || seen++ < before) continue;
    return asi_accuracy_estimate(event.t, finer->watch->list[i].t);
  }
  return (double)NAN;
}

// ---- rows -------------------------------------------------------------------------------------------

/// When row `i` is due; infinity: there is none.
static double time_of_row(const as_run *run, long i) {
  if (run->def.n_times > 0) return i < run->def.n_times ? run->times[i] : (double)INFINITY;
  const double t = (double)i * run->def.interval, end = run->def.t_end;
  if (t < end * (1.0 - 1e-9)) return t;
  // The first one that is not before the end is at the end.
  return (double)(i - 1) * run->def.interval < end * (1.0 - 1e-9) ? end : (double)INFINITY;
}

static void keep(copy *to, const as_state *from, const as_problem *p) {
  const size_t n = (size_t)p->n * sizeof(double);
  to->t = from->t;
  memcpy(to->q, from->q, (size_t)p->nq * sizeof(double));
  memcpy(to->v, from->v, n);
  memcpy(to->vdot, from->vdot, n);
  memcpy(to->lambda, from->lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(to->psi, from->psi, (size_t)p->def.n_psi * sizeof(double));
}

static void mix(double *out, double theta, const double *from, const double *to, int n) {
  for (int i = 0; i < n; ++i) out[i] = from[i] + theta * (to[i] - from[i]);
}

/// [DO.1], [DO.2] over the part of a step that the integrator has forgotten: from `before` to where it begins to know.
static void show_forgotten(as_run *run, double t) {
  const as_problem *p = as_model_problem(run->model);
  as_integrator *s = run->integrator;
  const asi_values *to = &s->stepper.last.from, *out = &s->shown;
  const copy *from = &run->before;
  const double h = s->stepper.last.t0 - from->t, theta = (t - from->t) / h, rest = 1.0 - theta;
  const bool straight =
      asi_jumps_over(s, s->stepper.last.t0, to->q, from->vdot, to->vdot); // [DO.3]
  const double change = straight ? theta : theta * theta * (3.0 - 2.0 * theta);
  const double begin = straight ? 0.0 : theta * rest * rest * h;
  const double end = straight ? 0.0 : -theta * theta * rest * h;
  as_space_difference(p->space, from->q, to->q, run->xi);
  as_space_tangent_inverse(p->space, run->xi, to->v, run->velocity);
  for (int i = 0; i < p->n; ++i) {
    run->xi[i] = change * run->xi[i] + begin * from->v[i] + end * run->velocity[i];
    out->v[i] =
        from->v[i] + change * (to->v[i] - from->v[i]) + begin * from->vdot[i] + end * to->vdot[i];
  }
  as_space_move(p->space, from->q, run->xi, out->q);
  mix(out->vdot, theta, from->vdot, to->vdot, p->n);
  mix(out->lambda, theta, from->lambda, to->lambda, p->def.n_lambda);
  mix(out->psi, theta, from->psi, to->psi, p->def.n_psi);
  const double *u = s->stepper.last.jumped ? s->stepper.last.u : s->state.u;
  asi_publish(s, t, out);
  s->state.u = u;
}

/// The state at a time inside the last step; index-3 velocities are brought onto the constraints.
static as_status show(as_run *run, double t, as_state *out, as_error *error) {
  as_integrator *s = run->integrator;
  const double known = s->stepper.last.known ? s->stepper.last.t0 : s->stepper.t;
  s->kin.eval.error = error;
  asi_interpolation_show(s, fmax(t, known));
  if (t < known) show_forgotten(run, t);
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
  as_statistics now;
  const as_status status = as_integrator_statistics(run->integrator, &now, error);
  run->view.position_drift = now.position_drift;
  run->view.velocity_drift = now.velocity_drift;
  return status;
}

static as_status write_row(as_run *run, double t, as_row_fn *row, void *user, as_error *error) {
  as_state state;
  const bool behind = run->jumped && asi_is_reached(run->integrator->stepper.t, t);
  as_meter meter = behind ? run->after : run->meter;
  as_status status = show(run, behind ? run->integrator->stepper.t : t, &state, error);
  if (status == AS_OK && run->drifting) status = note_drift(run, error);
  if (status == AS_OK && run->energies) status = as_meter_update(&meter, run->model, &state, error);
  if (status) return status;
  run->view.state = &state;
  run->view.dissipated = meter.dissipated;
  run->view.work = meter.forces + meter.motions;
  run->view.events = run->watch ? asi_watch_show(run->watch, t) : NULL;
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
  for (double t; (t = time_of_row(run, run->next)) <= until && status == AS_OK;) {
    status = write_row(run, t, row, user, error);
    if (status == AS_OK) ++run->next;
  }
  return status;
}

// ---- steps ------------------------------------------------------------------------------------------

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
    asi_interpolation_show_end(s);
    return asi_show_reactions(s);
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
  as_status status = show_before(s, until, error);
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
  keep(&run->before, as_integrator_state(s), as_model_problem(run->model));
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
  if (status == AS_OK) status = as_integrator_interpolate(s, until, error);
  if (status) return status;
  const as_state *state = as_integrator_state(s);
  run->t = until;
  run->partial = until < s->stepper.t;
  if (run->jumped) run->meter = run->after;
  if (run->metered && !run->partial)
    status = as_meter_update(&run->meter, run->model, state, error);
  if (status == AS_OK && run->metered && !run->partial)
    status = asi_flow_watch(&run->flow, run->integrator, run->model, &run->meter, state,
                            run->view.start_energy, until >= run->def.t_end, run->middle, error);
  status = give_up_meter(run, status, error);
  if (status == AS_OK && !run->partial) status = as_channels_follow(run->channels, state, error);
  if (status == AS_OK && !run->partial && run->watch)
    status = asi_watch_follow(run->watch, state, error);
  if (run->watch) asi_watch_commit(run->watch, run->def.happened, run->def.happened_user);
  if (!run->partial) keep(&run->before, state, as_model_problem(run->model));
  if (run->def.progress) run->def.progress(until, run->def.progress_user);
  return status;
}

static as_status check_steps(const as_run *run, as_error *error) {
  const as_integrator *s = run->integrator;
  if (run->def.max_steps == 0 || s->kin.statistics.steps < run->def.max_steps) return AS_OK;
  return asi_fail(error, AS_ERR_TOLERANCE, s->stepper.t, "max_steps",
                  "%ld steps were taken up to t = %.9g s, as many as allowed.",
                  s->kin.statistics.steps, s->stepper.t);
}

/// One more row where a run ends before its time; it does not count, so that a run that goes on has none there.
static as_status write_last_row(as_run *run, double t, as_row_fn *row, void *user,
                                as_error *error) {
  const double regular = run->row_t;
  as_status status = AS_OK;
  if (!asi_is_reached(t, regular)) status = write_row(run, t, row, user, error);
  run->row_t = regular;
  return status;
}

/// The rows up to a failure, and one of the state that it could not go on from: the end of the last good step, or inside
/// it where an event has failed.
static void write_failure(as_run *run, double failed_at, as_row_fn *row, void *user) {
  const double end = run->integrator->stepper.t;
  const double t = failed_at > run->t && failed_at < end ? failed_at : end;
  if (write_rows(run, t, row, user, NULL) == AS_OK) (void)write_last_row(run, t, row, user, NULL);
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
    status = finish_step(run, s->state.t, row, user, error);
    if (status == AS_OK && step == AS_STOPPED) {
      if (run->accuracy) asi_accuracy_stop(run->accuracy, s->state.t);
      status = write_last_row(run, s->state.t, row, user, error);
      return status ? status : AS_STOPPED;
    }
  }
  if (status == AS_OK) asi_error_clear(error);
  return status;
}

// ---- saving -----------------------------------------------------------------------------------------

static const char magic[16] = "alphastep run\n";
enum { FORMAT = 5 };

static uint64_t digest_names(const as_channels *c) {
  return asi_checksum((const unsigned char *)c->text, c->text_used);
}

static uint64_t digest_events(const as_rules *rules) {
  return rules ? asi_checksum((const unsigned char *)rules->names.text, rules->names.used) : 0;
}

/// What has to be the same here and there, each with a name.
static as_status visit_facts(as_run *run, asi_archive *a, as_error *error) {
  const size_t bytes = (size_t)run->def.n_times * sizeof(double);
  const struct {
    const char *name;
    uint64_t value;
  } facts[] = {
      {"the model or its settings", run->def.tag},
      {"the channels", digest_names(run->channels)},
      {"the output times", asi_checksum((const unsigned char *)run->times, bytes)},
      {"what is recorded", (uint64_t)(run->poses != NULL) + 2 * (uint64_t)(run->accuracy != NULL)},
      {"the events", digest_events(run->def.rules)},
  };
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i) {
    uint64_t value = facts[i].value;
    asi_archive_word(a, &value);
    if (a->mode == ASI_ARCHIVE_READ && !a->damaged && value != facts[i].value)
      return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                      "The saved run is another one: %s differed there.", facts[i].name);
  }
  return AS_OK;
}

static void visit_copy(copy *c, const as_problem *p, asi_archive *a) {
  asi_archive_double(a, &c->t);
  asi_archive_doubles(a, c->q, (size_t)p->nq);
  asi_archive_doubles(a, c->v, (size_t)p->n);
  asi_archive_doubles(a, c->vdot, (size_t)p->n);
  asi_archive_doubles(a, c->lambda, (size_t)p->def.n_lambda);
  asi_archive_doubles(a, c->psi, (size_t)p->def.n_psi);
}

static void visit_channels(as_channels *c, asi_archive *a) {
  asi_archive_double(a, &c->t);
  asi_archive_bool(a, &c->followed);
  for (int i = 0; i < c->n_sources; ++i)
    if (c->source[i].kind == ASI_SOURCE_COORDINATES)
      asi_archive_doubles(a, c->values + c->source[i].first, 2 * (size_t)AS_JOINT_COORDINATES);
}

/// What has happened, and what conditions remember.
static void visit_watch(asi_watch *w, asi_archive *a) {
  for (int i = 0; i < w->rules->n; ++i) {
    asi_rule_state *s = &w->state[i];
    asi_archive_count(a, &s->count);
    asi_archive_double(a, &s->time);
    if (s->channels) visit_channels(s->channels, a);
  }
  asi_archive_count(a, &w->n_happened);
  for (long i = 0; i < w->n_happened && i < AS_RUN_EVENTS && !a->damaged; ++i) {
    as_event_record *event = &w->list[i];
    asi_archive_int(a, &event->rule, 0, w->rules->n - 1);
    asi_archive_int(a, &event->direction, -1, 1);
    asi_archive_double(a, &event->t);
    event->name = as_rules_name(w->rules, event->rule);
    event->message = as_rules_message(w->rules, event->rule);
  }
}

static void visit_report(as_start_report *r, asi_archive *a) {
  double *const number[] = {&r->position_residual, &r->velocity_residual, &r->position_change,
                            &r->velocity_change,   &r->position_drift,    &r->velocity_drift};
  int *const count[] = {&r->position_iterations, &r->velocity_iterations, &r->degrees_of_freedom,
                        &r->n_redundant, &r->n_nearly_redundant};
  for (size_t i = 0; i < sizeof number / sizeof number[0]; ++i) asi_archive_double(a, number[i]);
  for (size_t i = 0; i < sizeof count / sizeof count[0]; ++i)
    asi_archive_int(a, count[i], 0, INT_MAX);
  if (a->mode != ASI_ARCHIVE_READ) return;
  r->redundant = NULL;
  r->position_rows = r->velocity_rows = NULL;
}

/// All that a run remembers besides what its integrator does.
static void visit_memory(as_run *run, asi_archive *a) {
  as_meter *m = &run->meter;
  as_view *v = &run->view;
  double *const number[] = {&run->t,
                            &run->row_t,
                            &run->def.interval,
                            &m->t,
                            &m->power.dissipated,
                            &m->power.forces,
                            &m->power.motions,
                            &m->dissipated,
                            &m->forces,
                            &m->motions,
                            &v->start_energy,
                            &v->h,
                            &v->newton_iterations,
                            &v->error,
                            &v->position_drift,
                            &v->velocity_drift,
                            &run->flow.least,
                            &run->flow.most,
                            &run->flow.kinetic,
                            &run->flow.size,
                            &run->flow.turned_over,
                            &run->flow.power.dissipated,
                            &run->flow.power.forces,
                            &run->flow.power.motions,
                            &run->flow.t,
                            &run->flow.start,
                            &run->flow.since,
                            &run->flow.blow,
                            &run->flow.vibration,
                            &run->flow.shaken_at,
                            &run->flow.unresolved[0],
                            &run->flow.unresolved[1]};
  for (size_t i = 0; i < sizeof number / sizeof number[0]; ++i) asi_archive_double(a, number[i]);
  asi_archive_count(a, &run->flow.steps);
  asi_archive_int(a, &run->flow.shaken, 0, as_model_problem(run->model)->n - 1);
  asi_archive_bool(a, &run->flow.told);
  asi_archive_bool(a, &run->metered);
  asi_archive_bool(a, &m->started);
  asi_archive_bool(a, &run->partial);
  uint64_t mark[2] = {run->mark.bytes, run->mark.digest};
  for (int i = 0; i < 2; ++i) asi_archive_word(a, &mark[i]);
  run->mark = (as_csv_mark){mark[0], mark[1]};
  asi_archive_count(a, &run->next);
  asi_archive_count(a, &run->iterations);
  visit_report(&run->report, a);
  visit_copy(&run->before, as_model_problem(run->model), a);
  visit_channels(run->channels, a);
  if (run->watch) visit_watch(run->watch, a);
}

static as_status fail_load(as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "The saved run cannot be used: %s.", why);
}

/// Bytes of a run: what it remembers itself with the run alongside, and its integrator.
static as_status measure(as_run *run, size_t *own, size_t *core, as_error *error) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  (void)visit_facts(run, &count, NULL); // only reading may fail
  visit_memory(run, &count);
  *core = 0;
  as_status status = as_integrator_save(run->integrator, NULL, core, error);
  if (status == AS_OK && run->accuracy) {
    size_t finer = 0, finer_core = 0;
    asi_accuracy_visit(run->accuracy, &count);
    status = measure(asi_accuracy_finer(run->accuracy), &finer, &finer_core, error);
    count.used += sizeof(uint64_t) + finer + finer_core;
  }
  *own = count.used;
  return status;
}

/// Writes a run that has been measured; its integrator, of `core` bytes, comes last.
static as_status put(as_run *run, asi_archive *a, size_t core, as_error *error) {
  (void)visit_facts(run, a, NULL);
  visit_memory(run, a);
  if (run->accuracy) {
    as_run *finer = asi_accuracy_finer(run->accuracy);
    size_t own, finer_core;
    as_status status = measure(finer, &own, &finer_core, error);
    uint64_t size = finer_core;
    asi_accuracy_visit(run->accuracy, a);
    asi_archive_word(a, &size);
    if (status == AS_OK) status = put(finer, a, finer_core, error);
    if (status) return status;
  }
  const as_status status = as_integrator_save(run->integrator, a->data + a->used, &core, error);
  a->used += core;
  return status;
}

void as_run_set_mark(as_run *run, as_csv_mark mark) { run->mark = mark; }
as_csv_mark as_run_mark(const as_run *run) { return run->mark; }

as_status as_run_save_file(as_run *run, const char *path, as_error *error) {
  if (!run->started)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The run has not been started.");
  size_t own, core;
  as_status status = measure(run, &own, &core, error);
  if (status) return status;
  asi_memory_file file;
  status = asi_memory_file_make(&file, magic, FORMAT, own + core, error);
  if (status) return status;
  status = put(run, &file.body, core, error);
  if (status == AS_OK) status = asi_memory_file_write(&file, path, !run->def.no_sync, error);
  asi_memory_file_free(&file);
  return status;
}

/// Whether what was read can be gone on with.
static as_status check_loaded(const as_run *run, double interval, as_error *error) {
  const double t_end = run->def.t_end;
  if (!(run->def.interval > 0.0 && run->t >= 0.0 && run->row_t <= run->t &&
        isfinite(run->before.t)))
    return fail_load(error, "its contents make no sense");
  if (!run->default_interval && run->def.interval != interval)
    return asi_fail(
        error, AS_ERR_FILE, (double)NAN, NULL,
        "The saved run is another one: its output interval is %.12g s, here it is %.12g s.",
        run->def.interval, interval);
  if (!(run->t <= t_end))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The saved run is at t = %.9g s already, behind t_end = %.9g s.", run->t,
                    t_end);
  if (run->def.n_times == 0 && t_end / run->def.interval > 1e9)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "With t_end = %.9g s the saved run would give more than 1e9 rows.", t_end);
  return AS_OK;
}

/// Reads a run whose integrator has `core` bytes; SIZE_MAX: all that are left.
static as_status take(as_run *run, asi_archive *a, size_t core, as_error *error) {
  const double interval = run->def.interval;
  as_status status = visit_facts(run, a, error);
  if (status) return status;
  visit_memory(run, a);
  if (run->accuracy) {
    uint64_t size = 0;
    asi_accuracy_visit(run->accuracy, a);
    asi_archive_word(a, &size);
    if (!a->damaged) status = take(asi_accuracy_finer(run->accuracy), a, (size_t)size, error);
    if (status) return status;
  }
  if (core == SIZE_MAX && !a->damaged) core = a->size - a->used;
  if (a->damaged || core > a->size - a->used) return fail_load(error, "its contents make no sense");
  status = check_loaded(run, interval, error);
  if (status == AS_OK) status = as_integrator_load(run->integrator, a->data + a->used, core, error);
  if (status) return status;
  a->used += core;
  run->started = true;
  // A row at an end that is none any more.
  if (run->next > 0 && time_of_row(run, run->next - 1) != run->row_t) --run->next;
  return AS_OK;
}

as_status as_run_load_file(as_run *run, const char *path, as_error *error) {
  if (run->started)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A saved run is loaded into a run that has not been started.");
  asi_memory_file file;
  as_status status = asi_memory_file_read(&file, path, magic, FORMAT, error);
  if (status == AS_OK) status = take(run, &file.body, SIZE_MAX, error);
  asi_memory_file_free(&file);
  return status;
}
