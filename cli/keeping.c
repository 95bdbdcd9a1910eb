// What a run's folder keeps, see keeping.h. Texts in results.h5:
//
//   model, include 1, ...   the model file and what it includes
//   path                    the model file as it was given
//   setting 1, ...          what `--set` said
//   options                 what came of it, as JSON
#define _POSIX_C_SOURCE 200809L // strdup, access

#include "keeping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/report.h"
#include "folder.h"

enum { LABEL = 32 };

/// `what i`, or `what` for i = 0.
static const char *label(char text[LABEL], const char *what, int i) {
  if (i == 0) {
    snprintf(text, LABEL, "%s", what);
  } else {
    snprintf(text, LABEL, "%s %d", what, i);
  }
  return text;
}

static const char *source_label(char text[LABEL], int i) {
  return label(text, i == 0 ? "model" : "include", i);
}

// ---- creating

static as_status create(job *j, as_named_text *texts, char (*labels)[LABEL], as_error *error) {
  const as_machine *machine = j->machine;
  const machine_request *r = j->request;
  int n = 0;
  for (int i = 0; i < machine->n_sources; i++, n++) {
    texts[n] = (as_named_text){source_label(labels[n], i), machine->sources[i].text};
  }
  for (int i = 0; i < r->n_settings; i++, n++) {
    texts[n] = (as_named_text){label(labels[n], "setting", i + 1), r->settings[i]};
  }
  char *scene = NULL; // for reports
  as_status status = as_scene_text(machine, &scene, error);
  if (status != AS_OK) return status;
  char *options = summary_options(machine);
  texts[n++] = (as_named_text){"path", r->model};
  texts[n++] = (as_named_text){"options", options != NULL ? options : ""};
  texts[n++] = (as_named_text){"scene", scene};
  as_results_def def = as_default_results_def();
  def.model = machine->model;
  def.channels = as_run_channels(j->run);
  def.errors = machine->simulation.accuracy;
  def.title = machine->title;
  def.texts = texts;
  def.n_texts = n;
  status = as_results_create(j->recording, &def, &j->results, error);
  free(options);
  as_scene_free(scene);
  return status;
}

cli_exit keeping_create(job *j) {
  size_t most = (size_t)j->machine->n_sources + (size_t)j->request->n_settings + 3;
  as_named_text *texts = calloc(most, sizeof *texts);
  char(*labels)[LABEL] = calloc(most, sizeof *labels);
  as_error error = {.message = "Out of memory."};
  as_status status = AS_ERR_MEMORY;
  if (texts != NULL && labels != NULL) status = create(j, texts, labels, &error);
  free(texts);
  free(labels);
  if (status == AS_OK) return CLI_DONE;
  cli_complain("%s", error.message);
  return status == AS_ERR_MEMORY ? CLI_SIMULATION : CLI_OUTPUT;
}

// ---- what a run is known by

static void take_in(unsigned long long *hash, const char *text) {
  for (const char *c = text;; c++) {
    *hash = (*hash ^ (unsigned char)*c) * 1099511628211u; // FNV-1a
    if (*c == '\0') break;
  }
}

/// What may be other than it was when a run is resumed.
static bool is_free(const char *setting) {
  return strncmp(setting, "simulate.t_end=", 15) == 0 ||
         strncmp(setting, "simulate.max_steps=", 19) == 0;
}

unsigned long long keeping_tag(const job *j) {
  unsigned long long hash = 14695981039346656037u;
  for (int i = 0; i < j->machine->n_sources; i++) take_in(&hash, j->machine->sources[i].text);
  for (int i = 0; i < j->request->n_settings; i++) {
    if (!is_free(j->request->settings[i])) take_in(&hash, j->request->settings[i]);
  }
  return (hash ^ j->machine->data) * 1099511628211u;
}

// ---- resuming

static cli_exit open_recording(const char *folder, as_recording **out) {
  char *path = folder_path(folder, "results.h5");
  if (path == NULL) return cli_complain_memory();
  as_error error;
  as_status status = as_recording_open(path, out, &error);
  free(path);
  if (status == AS_OK) return CLI_DONE;
  cli_complain("`%s` cannot be resumed: %s", folder, error.message);
  return CLI_OUTPUT;
}

static cli_exit refuse(const job *j, const char *why) {
  cli_complain("`%s` cannot be resumed: %s", j->folder, why);
  return CLI_USAGE;
}

/// Copies a text of the recording; false: there is none.
static bool copy_text(kept *k, as_recording *recording, const char *name) {
  const char *text = as_recording_text(recording, name);
  if (text == NULL) return false;
  char **grown = realloc(k->text, ((size_t)k->n + 1) * sizeof *grown);
  if (grown == NULL) return false;
  k->text = grown;
  k->text[k->n] = strdup(text);
  return k->text[k->n++] != NULL;
}

/// Settings of then before those of now.
static cli_exit join_settings(machine_request *r, kept *k) {
  int n = k->n - 1; // the first text is the path
  const char **settings = calloc((size_t)n + (size_t)r->n_settings + 1, sizeof *settings);
  if (settings == NULL) return cli_complain_memory();
  for (int i = 0; i < n; i++) settings[i] = k->text[1 + i];
  for (int i = 0; i < r->n_settings; i++) settings[n + i] = r->settings[i];
  k->settings = r->settings;
  r->settings = settings;
  r->n_settings += n;
  return CLI_DONE;
}

cli_exit keeping_find(machine_request *r, kept *k) {
  for (int i = 0; i < r->n_settings; i++) {
    if (is_free(r->settings[i])) continue;
    cli_complain("`--set %s`: a run is resumed with its own settings; only `simulate.t_end` and "
                 "`simulate.max_steps` may be others.",
                 r->settings[i]);
    return CLI_USAGE;
  }
  as_recording *recording = NULL;
  cli_exit status = open_recording(r->resume, &recording);
  if (status != CLI_DONE) return status;
  char name[LABEL];
  bool found = copy_text(k, recording, "path");
  for (int i = 1; found && copy_text(k, recording, label(name, "setting", i)); i++) continue;
  as_recording_close(recording);
  if (!found) {
    cli_complain("`%s` cannot be resumed: its results.h5 does not say which model file was run.",
                 r->resume);
    return CLI_USAGE;
  }
  if (r->model != NULL) return join_settings(r, k);
  r->model = k->text[0];
  if (access(r->model, F_OK) == 0) return join_settings(r, k);
  cli_complain("`%s` cannot be resumed: its model file `%s` is not there; say where it is with "
               "`alphastep run --resume %s MODEL`.",
               r->resume, r->model, r->resume);
  return CLI_OUTPUT;
}

void keeping_free(kept *k) {
  for (int i = 0; i < k->n; i++) free(k->text[i]);
  free(k->text);
  free((void *)k->settings);
}

/// Whether the model file and what it includes are what they were.
static cli_exit compare_sources(const job *j, as_recording *recording) {
  const as_machine *machine = j->machine;
  char name[LABEL];
  for (int i = 0; i <= machine->n_sources; i++) {
    const char *then = as_recording_text(recording, source_label(name, i));
    const char *now = i < machine->n_sources ? machine->sources[i].text : NULL;
    if (then == NULL && now == NULL) continue;
    if (then != NULL && now != NULL && strcmp(then, now) == 0) continue;
    cli_complain("`%s` cannot be resumed: `%s` is not what it was when that run began.", j->folder,
                 machine->sources[i < machine->n_sources ? i : 0].path);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

/// The largest values of the rows that are kept.
static bool look_back(job *j, as_recording *recording, long rows) {
  long all = as_recording_rows(recording);
  double *value = calloc((size_t)all + 1, sizeof *value);
  bool ok = value != NULL && rows <= all;
  for (int i = 0; i < WATCHED && ok; i++) {
    if (j->column[i] < 0) continue;
    const char *name = as_channels_get(as_run_channels(j->run), j->column[i]).name;
    ok = as_recording_read(recording, as_recording_find(recording, name), value, NULL) == AS_OK;
    for (long row = 0; row < rows && ok; row++) {
      j->worst[i] = fmax(j->worst[i], fabs(value[row]));
    }
  }
  free(value);
  return ok;
}

/// Opens the files behind the rows that the state has given.
static cli_exit open_files(job *j) {
  as_results_def def = as_default_results_def();
  def.model = j->machine->model;
  def.channels = as_run_channels(j->run);
  def.errors = j->machine->simulation.accuracy;
  as_error error;
  long rows = as_run_rows(j->run);
  // results.h5 is only read until there are new rows, results.csv is cut at once.
  as_status status = as_results_continue(j->recording, &def, rows, &j->results, &error);
  if (status == AS_OK) {
    status = as_csv_continue(j->table, def.channels, rows, &j->csv, &error);
  }
  if (status == AS_OK) return folder_replace(j->summary, summary_write, j);
  cli_complain("`%s` cannot be resumed: %s", j->folder, error.message);
  return CLI_OUTPUT;
}

cli_exit keeping_resume(job *j) {
  as_recording *recording = NULL;
  cli_exit status = open_recording(j->folder, &recording);
  if (status != CLI_DONE) return status;
  status = compare_sources(j, recording);
  as_error error;
  if (status == CLI_DONE && as_run_load_file(j->run, j->state, &error) != AS_OK) {
    status = refuse(j, error.message);
  }
  if (status == CLI_DONE && !look_back(j, recording, as_run_rows(j->run))) {
    status = refuse(j, "its results.h5 has fewer rows than its state.bin.");
  }
  as_recording_close(recording);
  if (status != CLI_DONE) return status;
  j->started = true;
  j->resumed_at = as_integrator_state(as_run_integrator(j->run))->t;
  return open_files(j);
}
