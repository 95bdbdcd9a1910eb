// summary.json: what was run, how, and how it ended. All but the last member is the same whenever the same is run.
#define _POSIX_C_SOURCE 200809L // open_memstream

#include <math.h>
#include <stdlib.h>

#include "alphastep/version.h"
#include "base/json.h"
#include "changes.h"
#include "error_table.h"
#include "job.h"
#include "json.h"

static const char *method_name(as_method method) {
  switch (method) {
  case AS_METHOD_INDEX3: return "index3";
  case AS_METHOD_SOI2: return "soi2";
  case AS_METHOD_INDEX2: break;
  }
  return "index2";
}

static void write_strings(FILE *out, const char *const *text, int n) {
  putc('[', out);
  for (int i = 0; i < n; i++) {
    if (i > 0) fputs(", ", out);
    asi_json_text(out, text[i]);
  }
  putc(']', out);
}

static void write_options(FILE *out, const as_machine *machine) {
  const as_simulation *simulation = &machine->simulation;
  const as_integrator_def *how = &simulation->integrator;
  bool automatic = isnan(how->step);
  json_object o = json_begin(out, 2);
  json_add_string(&o, "method", method_name(how->method));
  json_add_number(&o, "rho_inf", how->rho_inf);
  if (how->order > 2) json_add_number(&o, "order", how->order);
  json_add_number(&o, "step", how->step);
  if (automatic) {
    json_add_number(&o, "rtol", how->tolerance.rtol);
    json_add_number(&o, "min_step", how->tolerance.min_step);
    json_add_number(&o, "max_step", how->tolerance.max_step);
  }
  json_add_number(&o, "t_end", simulation->t_end);
  json_add_number(&o, "max_steps", (double)simulation->max_steps);
  json_add_number(&o, "interval", machine->output.interval);
  json_add_number(&o, "times", machine->output.n_times);
  json_end(&o);
}

char *summary_options(const as_machine *machine) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  write_options(out, machine);
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

static void write_machine(FILE *out, const job *j) {
  const as_model *model = j->machine->model;
  json_object o = json_begin(out, 2);
  json_add_number(&o, "bodies", as_model_bodies(model));
  json_add_number(&o, "joints", as_model_joints(model));
  json_add_number(&o, "forces", as_model_forces(model));
  if (j->started) {
    json_add_number(&o, "degrees_of_freedom", j->start.degrees_of_freedom);
    json_add_number(&o, "redundant_rows", j->start.n_redundant);
    json_add_number(&o, "gap", j->start.position_residual);
  }
  json_end(&o);
}

static void write_statistics(FILE *out, const job *j) {
  as_statistics s = {0};
  double position = (double)NAN, velocity = (double)NAN;
  (void)as_integrator_statistics(as_run_integrator(j->run), &s, NULL);
  if (as_integrator_drift(as_run_integrator(j->run), &position, &velocity, NULL) != AS_OK)
    position = velocity = (double)NAN;
  json_object o = json_begin(out, 2);
  json_add_number(&o, "steps", (double)s.steps);
  json_add_number(&o, "failed_steps", (double)s.failed_steps);
  json_add_number(&o, "rejected_steps", (double)s.rejected_steps);
  json_add_number(&o, "newton_iterations", (double)s.newton_iterations);
  json_add_number(&o, "factorizations", (double)s.factorizations);
  json_add_number(&o, "solves", (double)s.solves);
  json_add_number(&o, "force_evaluations", (double)s.force_evaluations);
  json_add_number(&o, "jacobian_evaluations", (double)s.jacobian_evaluations);
  json_add_number(&o, "last_step", s.last_step);
  json_add_number(&o, "position_drift", position);
  json_add_number(&o, "velocity_drift", velocity);
  json_end(&o);
}

/// The first events; a run keeps no more.
static void write_events(FILE *out, const as_run *run) {
  long n = as_run_events(run);
  putc('[', out);
  for (long i = 0; i < n && i < AS_RUN_EVENTS; i++) {
    as_event_record event = as_run_event(run, i);
    if (i > 0) putc(',', out);
    fputs("\n    {\"t\": ", out);
    asi_json_number(out, event.t);
    fputs(", \"name\": ", out);
    asi_json_text(out, event.name);
    fprintf(out, ", \"direction\": \"%s\"", event.direction > 0 ? "rising" : "falling");
    double off = as_run_event_error(run, i);
    if (!isnan(off)) {
      fputs(", \"error\": ", out);
      asi_json_number(out, error_table_rounded(off));
    }
    if (event.message != NULL) {
      fputs(", \"message\": ", out);
      asi_json_text(out, event.message);
    }
    putc('}', out);
  }
  putc(']', out);
}

static void write_largest(FILE *out, const job *j) {
  static const char *const name[WATCHED] = {"energy.balance", "drift.position", "drift.velocity"};
  json_object o = json_begin(out, 2);
  for (int i = 0; i < WATCHED; i++) {
    if (j->column[i] >= 0) json_add_number(&o, name[i], j->worst[i]);
  }
  json_end(&o);
}

static void write_members(FILE *out, const job *j) {
  json_object o = json_begin(out, 0);
  json_add_string(&o, "status", j->status);
  json_add_string(&o, "message", j->message);
  json_add_string(&o, "version", as_version());
  json_add_string(&o, "model", j->request->model);
  json_add_string(&o, "title", j->machine->title);
  json_key(&o, "settings");
  write_strings(out, j->request->settings, j->request->n_settings);
  json_key(&o, "warnings");
  write_strings(out, (const char *const *)j->warning, j->n_warnings);
  json_key(&o, "options");
  write_options(out, j->machine);
  json_key(&o, "machine");
  write_machine(out, j);
  int n_changes;
  const as_start_change *change = as_run_start_changes(j->run, &n_changes);
  changes_write(&o, j->machine->model, change, n_changes);
  json_add_number(&o, "t", j->t);
  json_add_number(&o, "rows", (double)j->rows);
  json_add_number(&o, "channels", as_channels_count(as_run_channels(j->run)));
  json_add_number(&o, "number_of_events", (double)as_run_events(j->run));
  json_key(&o, "events");
  write_events(out, j->run);
  json_key(&o, "largest");
  write_largest(out, j);
  if (j->machine->simulation.accuracy) {
    json_key(&o, "accuracy");
    error_table_write(out, j);
  }
  json_key(&o, "statistics");
  write_statistics(out, j);
  if (!isnan(j->resumed_at)) json_add_number(&o, "resumed_at", j->resumed_at);
  json_key(
      &o,
      "seconds"); // by the wall clock: with the digest the only thing that differs from run to run
  asi_json_number(out, j->seconds);
  json_end(&o);
}

void summary_write(FILE *out, const void *user) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (memory) write_members(memory, user);
  if (memory && fclose(memory) == 0)
    asi_json_seal(out, text);
  else
    cli_note_incomplete();
  free(text);
}
