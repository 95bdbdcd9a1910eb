/// A run in a file: what it remembers, then its integrator.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory_file.h"
#include "model/plugin_blocks.h"
#include "results/accuracy.h"
#include "results/run.h"

static const char magic[16] = "alphastep run\n";
enum { FORMAT = 7 };

static uint64_t digest_names(const as_channels *c) {
  return asi_checksum((const unsigned char *)c->text, c->text_used);
}

static uint64_t digest_events(const as_rules *rules) {
  return rules ? asi_checksum((const unsigned char *)rules->names.text, rules->names.used) : 0;
}

/// What has to be the same here and there, each with a name.
static as_status serialize_facts(as_run *run, asi_archive *a, as_error *error) {
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

static void serialize_report(as_start_report *r, asi_archive *a) {
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

static void serialize_text(char *text, size_t size, asi_archive *a) {
  for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    for (size_t k = 0; k < sizeof word; ++k)
      word |= (uint64_t)(unsigned char)text[i + k] << (8 * k);
    asi_archive_word(a, &word);
    for (size_t k = 0; k < sizeof word; ++k) text[i + k] = (char)(unsigned char)(word >> (8 * k));
  }
  text[size - 1] = '\0';
}

/// The end of a run that an event has stopped, for whoever has not heard of it.
static void serialize_stop(as_run *run, asi_archive *a) {
  as_error *e = &run->stop;
  _Static_assert(sizeof e->message % 8 == 0 && sizeof e->component % 8 == 0, "whole words");
  asi_archive_bool(a, &run->stop_kept);
  if (!run->stop_kept || a->damaged) return;
  asi_archive_bool(a, &run->stop_row);
  asi_archive_double(a, &e->t);
  serialize_text(e->component, sizeof e->component, a);
  serialize_text(e->message, sizeof e->message, a);
  e->status = AS_STOPPED;
}

/// All that a run remembers besides what its integrator does.
static void serialize_memory(as_run *run, asi_archive *a) {
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
  serialize_report(&run->report, a);
  asi_channels_serialize(run->channels, a);
  if (run->watch) asi_watch_serialize(run->watch, a);
  serialize_stop(run, a);
}

/// What blocks remember besides the integrator's x and u; of the state that it is at.
static as_status serialize_blocks(as_run *run, asi_archive *a, as_error *error) {
  const bool reads = a->mode == ASI_ARCHIVE_READ;
  return asi_plugin_memory_serialize(
      run->model, reads ? NULL : as_integrator_state(run->integrator)->u, a, error);
}

static as_status fail_load(as_error *error, const char *why) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "The saved run cannot be used: %s.", why);
}

/// Bytes of a run: what it remembers itself with the run alongside, and its integrator.
static as_status measure(as_run *run, size_t *own, size_t *core, as_error *error) {
  asi_archive count = {.mode = ASI_ARCHIVE_COUNT};
  (void)serialize_facts(run, &count, NULL); // only reading may fail
  serialize_memory(run, &count);
  as_status status = serialize_blocks(run, &count, error);
  *core = 0;
  if (status == AS_OK) status = as_integrator_save(run->integrator, NULL, core, error);
  if (status == AS_OK && run->accuracy) {
    size_t finer = 0, finer_core = 0;
    asi_accuracy_serialize(run->accuracy, &count);
    status = measure(asi_accuracy_finer(run->accuracy), &finer, &finer_core, error);
    count.used += sizeof(uint64_t) + finer + finer_core;
  }
  *own = count.used;
  return status;
}

/// Writes a run that has been measured; its integrator, of `core` bytes, comes last.
static as_status put(as_run *run, asi_archive *a, size_t core, as_error *error) {
  (void)serialize_facts(run, a, NULL);
  serialize_memory(run, a);
  const as_status kept = serialize_blocks(run, a, error);
  if (kept) return kept;
  if (run->accuracy) {
    as_run *finer = asi_accuracy_finer(run->accuracy);
    size_t own, finer_core;
    as_status status = measure(finer, &own, &finer_core, error);
    uint64_t size = finer_core;
    asi_accuracy_serialize(run->accuracy, a);
    asi_archive_word(a, &size);
    if (status == AS_OK) status = put(finer, a, finer_core, error);
    if (status) return status;
  }
  const as_status status = as_integrator_save(run->integrator, a->data + a->used, &core, error);
  a->used += core;
  return status;
}

void as_run_set_mark(as_run *run, as_csv_mark mark) { run->mark = mark; }
void as_run_keep_stop(as_run *run, bool keep) {
  run->stop_kept = keep && run->stop.status == AS_STOPPED;
}
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
  if (!(run->def.interval > 0.0 && run->t >= 0.0 && run->row_t <= run->t))
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
  as_status status = serialize_facts(run, a, error);
  if (status) return status;
  serialize_memory(run, a);
  if (!a->damaged) status = serialize_blocks(run, a, error);
  if (status) return status;
  if (run->accuracy) {
    uint64_t size = 0;
    asi_accuracy_serialize(run->accuracy, a);
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
  if (run->next > 0 && asi_run_row_time(run, run->next - 1) != run->row_t) {
    --run->next;
    run->stop_row = true; // of a run that was stopped there it stays until that goes on
  }
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
