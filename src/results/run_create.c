/// Runs are made, and say what they are: their channels, events and estimated errors.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "model/look.h"
#include "results/accuracy.h"
#include "results/run.h"

#define DEFAULT_ROWS 500.0 // and one at the start

as_run_def as_default_run_def(void) {
  return (as_run_def){.cookie = ASI_COOKIE(as_run_def),
                      .integrator = as_default_integrator_def(),
                      .t_end = (double)NAN,
                      .interval = (double)NAN};
}

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

/// Rules that happen too often to get anywhere.
static as_status check_rules(const as_run_def *def, as_error *error) {
  for (int i = 0; i < as_rules_count(def->rules); ++i) {
    const asi_rule *rule = &def->rules->rule[i];
    if (rule->every > 0.0 && def->t_end / rule->every > 1e9)
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, "every",
          "Event \"%s\", every %g s, would happen more than 1e9 times up to t_end = %g s.",
          asi_names_get(&def->rules->names, i), rule->every, def->t_end);
  }
  return AS_OK;
}

static as_status create_integrator(as_run *run, as_error *error) {
  as_integrator_def how = run->def.integrator;
  if (isnan(how.tolerance.span)) how.tolerance.span = run->def.t_end;
  const as_status status = check_rules(&run->def, error);
  return status ? status
                : asi_watched_integrator(run->model, run->def.rules, &how, &run->watch,
                                         &run->integrator, error);
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
    const asi_source source = run->channels->source[i];
    run->energies = run->energies || source.kind == ASI_SOURCE_ENERGY;
    run->drifting = run->drifting || source.kind == ASI_SOURCE_DRIFT;
    run->reads_rates = run->reads_rates || asi_source_reads_rates(run->model, source);
  }
  run->times = asi_calloc((size_t)run->def.n_times, sizeof(double));
  run->row = asi_calloc((size_t)run->channels->n, sizeof(double));
  run->middle = asi_calloc((size_t)p->nq + (size_t)p->n, sizeof(double));
  run->velocity = asi_calloc((size_t)p->n, sizeof(double));
  run->left =
      asi_calloc((size_t)(run->model->n_flexibles + run->model->n_beams), sizeof *run->left);
  if (!run->left) return asi_fail_memory(error);
  if (run->def.poses) {
    run->poses = asi_calloc((size_t)run->model->n_bodies * AS_POSE, sizeof(double));
    if (!run->poses) return asi_fail_memory(error);
  }
  const int n_kept = asi_model_kept_potentials(run->model);
  run->kept = asi_calloc((size_t)n_kept + 1, sizeof *run->kept);
  for (int i = 0; run->kept && i < n_kept; ++i) run->kept[i].at = (double)NAN;
  if (!run->kept || !run->times || !run->row || !run->middle || !run->velocity)
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
  free(run->kept);
  free(run->velocity);
  as_start_changes_free(run->change);
  free(run->left);
  free(run);
}

const as_channels *as_run_channels(const as_run *run) { return run->channels; }
as_integrator *as_run_integrator(as_run *run) { return run->integrator; }
const double *as_run_poses(const as_run *run) { return run->poses; }
long as_run_rows(const as_run *run) { return run->next + (run->stop_kept && run->stop_row); }

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

/// How many of the first events are of the same rule or block.
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
