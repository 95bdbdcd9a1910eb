// What a run's folder keeps, see resume.h. Texts in results.h5:
//
//   model, include 1, ...   the model file and what it includes
//   path                    the model file as it was given
//   setting 1, ...          what `--set` said
//   options                 what came of it, as JSON
//   files                   a line for each file that was read: digest, size, path
#define _POSIX_C_SOURCE 200809L // strdup, access, open_memstream

#include "resume.h"

#include <errno.h>
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

/// What the machine was read from; NULL: memory has run out.
static char *list_files(const as_machine *machine) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  for (int i = 0; i < machine->n_files; i++) {
    const as_file_digest *file = &machine->files[i];
    fprintf(out, "%016llx %llu ", file->digest, file->size);
    for (const char *c = file->path; *c != '\0'; c++) putc(*c == '\n' ? '?' : *c, out);
    putc('\n', out);
  }
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

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
  char *options = summary_options(machine), *files = list_files(machine);
  texts[n++] = (as_named_text){"path", r->model};
  texts[n++] = (as_named_text){"options", options};
  texts[n++] = (as_named_text){"files", files};
  texts[n++] = (as_named_text){"scene", scene};
  as_results_writer_def def = as_default_results_writer_def();
  def.model = machine->model;
  def.channels = as_run_channels(j->run);
  def.errors = machine->simulation.accuracy;
  def.title = machine->title;
  def.texts = texts;
  def.n_texts = n;
  def.no_sync = r->no_sync;
  snprintf(error->message, sizeof error->message, "Out of memory.");
  status = options == NULL || files == NULL
               ? AS_ERR_MEMORY
               : recorder_start(j->results_file, &def, -1, &j->results, error);
  free(options);
  free(files);
  as_scene_free(scene);
  return status;
}

cli_exit resume_create(job *j) {
  size_t most = (size_t)j->machine->n_sources + (size_t)j->request->n_settings + 4;
  as_named_text *texts = calloc(most, sizeof *texts);
  char(*labels)[LABEL] = calloc(most, sizeof *labels);
  as_error error = {.message = "Out of memory."};
  as_status status = AS_ERR_MEMORY;
  if (texts != NULL && labels != NULL) status = create(j, texts, labels, &error);
  free(texts);
  free(labels);
  if (status == AS_OK) return CLI_DONE;
  cli_complain("%s", error.message);
  return cli_judge(status);
}

// ---- what a run is known by

static void take_in(unsigned long long *hash, const void *data, size_t size) {
  const unsigned char *byte = data;
  for (size_t i = 0; i < size; i++) *hash = (*hash ^ byte[i]) * 1099511628211u; // FNV-1a
}

static void take_in_number(unsigned long long *hash, unsigned long long number) {
  unsigned char byte[8];
  for (int i = 0; i < 8; i++) byte[i] = (unsigned char)(number >> (8 * i));
  take_in(hash, byte, sizeof byte);
}

/// What may be other than it was when a run is resumed.
static bool is_free(const char *setting) {
  return strncmp(setting, "simulate.t_end=", 15) == 0 ||
         strncmp(setting, "simulate.max_steps=", 19) == 0;
}

unsigned long long resume_tag(const job *j) {
  unsigned long long hash = 14695981039346656037u;
  for (int i = 0; i < j->machine->n_files; i++) {
    take_in_number(&hash, j->machine->files[i].size);
    take_in_number(&hash, j->machine->files[i].digest);
  }
  for (int i = 0; i < j->request->n_settings; i++) {
    const char *setting = j->request->settings[i];
    if (!is_free(setting)) take_in(&hash, setting, strlen(setting) + 1);
  }
  return hash;
}

// ---- resuming

/// What cannot be done with a folder.
static const char *verb(bool looks) { return looks ? "looked at" : "resumed"; }

static cli_exit open_results(const char *folder, bool looks, as_results_reader **out) {
  char *path = folder_path(folder, "results.h5");
  if (path == NULL) return cli_complain_memory();
  as_error error;
  as_status status = as_results_reader_open(path, out, &error);
  free(path);
  if (status == AS_OK) return CLI_DONE;
  cli_complain("`%s` cannot be %s: %s", folder, verb(looks), error.message);
  return cli_judge(status);
}

static cli_exit refuse(const job *j, const char *why) {
  cli_complain("`%s` cannot be resumed: %s", j->folder, why);
  return CLI_USAGE;
}

/// Copies a text of the results; false: there is none, or, if errno is ENOMEM then, memory has run out.
static bool copy_text(kept *k, as_results_reader *reader, const char *name) {
  const char *text = as_results_reader_text(reader, name);
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
  const char **settings = calloc((size_t)n + (size_t)r->n_settings + 4, sizeof *settings);
  if (settings == NULL) return cli_complain_memory();
  for (int i = 0; i < n; i++) settings[i] = k->text[1 + i];
  for (int i = 0; i < r->n_settings; i++) settings[n + i] = r->settings[i];
  k->settings = r->settings;
  r->settings = settings;
  r->n_settings += n;
  return CLI_DONE;
}

cli_exit resume_find(machine_request *r, kept *k) {
  for (int i = 0; i < r->n_settings; i++) {
    if (!r->looks && is_free(r->settings[i])) continue;
    if (r->looks)
      cli_complain("`--set %s`: a run's folder is looked at with its own settings; give the model "
                   "file to change them.",
                   r->settings[i]);
    else
      cli_complain("`--set %s`: a run is resumed with its own settings; only `simulate.t_end` and "
                   "`simulate.max_steps` may be others.",
                   r->settings[i]);
    return CLI_USAGE;
  }
  as_results_reader *reader = NULL;
  cli_exit status = open_results(r->resume, r->looks, &reader);
  if (status != CLI_DONE) return status;
  char name[LABEL];
  bool found = copy_text(k, reader, "path");
  for (int i = 1; found && copy_text(k, reader, label(name, "setting", i)); i++) continue;
  const bool no_memory = errno == ENOMEM; // behind the last setting there is none
  as_results_reader_close(reader);
  if (no_memory) return cli_complain_memory();
  if (!found) {
    cli_complain("`%s` cannot be %s: its results.h5 does not say which model file was run.",
                 r->resume, verb(r->looks));
    return CLI_USAGE;
  }
  if (r->model != NULL) return join_settings(r, k);
  r->model = k->text[0];
  if (access(r->model, F_OK) == 0) return join_settings(r, k);
  if (r->looks) {
    cli_complain("`%s` cannot be looked at: its model file `%s` is not there.", r->resume,
                 r->model);
    return CLI_OUTPUT;
  }
  cli_complain("`%s` cannot be resumed: its model file `%s` is not there; say where it is with "
               "`alphastep run --resume %s MODEL`.",
               r->resume, r->model, r->resume);
  return CLI_OUTPUT;
}

void resume_free(kept *k) {
  for (int i = 0; i < k->n; i++) free(k->text[i]);
  free(k->text);
  free((void *)k->settings);
}

/// Whether all files that the machine was read from are what they were, byte for byte; they may have moved.
static cli_exit compare_files(const job *j, as_results_reader *reader) {
  const as_machine *machine = j->machine;
  const char *line = as_results_reader_text(reader, "files");
  if (line == NULL && errno == ENOMEM) return cli_complain_memory();
  for (int i = 0; i <= machine->n_files && line != NULL; i++) {
    unsigned long long digest = 0, size = 0;
    int length = (int)strcspn(line, "\n"), path = 0;
    bool then = sscanf(line, "%16llx %llu %n", &digest, &size, &path) == 2 && path > 0;
    bool now = i < machine->n_files;
    const as_file_digest *file = now ? &machine->files[i] : NULL;
    if (!then && !now) return CLI_DONE;
    if (!then || !now || digest != file->digest || size != file->size) {
      cli_complain("`%s` cannot be %s: `%.*s` is not what it was when that run began.", j->folder,
                   verb(j->request->looks), now ? (int)strlen(file->path) : length - path,
                   now ? file->path : line + path);
      return CLI_USAGE;
    }
    line += length + (line[length] == '\n');
  }
  return refuse(j, "its results.h5 does not say which files were read.");
}

cli_exit resume_spare(const char *folder, const char *output) {
  char *path = folder_path(folder, "results.h5");
  if (path == NULL) return cli_complain_memory();
  as_results_reader *reader = NULL;
  as_error error;
  const as_status status = as_results_reader_open(path, &reader, &error);
  const char *line = status == AS_OK ? as_results_reader_text(reader, "files") : NULL;
  bool same = false;
  for (; line && *line && !same; line += line[0] == '\n') {
    int length = (int)strcspn(line, "\n"), from = 0;
    char *file = strndup(line, (size_t)length);
    if (file && sscanf(file, "%*16x %*u %n", &from) == 0 && from > 0)
      same = folder_same_file(file + from, output);
    free(file);
    line += length;
  }
  as_results_reader_close(reader);
  free(path);
  if (!same) return CLI_DONE; // what is wrong with the results is said where they are read
  cli_complain("`%s` is a file that the run in `%s` was read from: choose another one with `-o`.",
               output, folder);
  return CLI_USAGE;
}

/// The largest values of the rows that are kept.
static bool look_back(job *j, as_results_reader *reader, long rows) {
  long all = as_results_reader_rows(reader);
  double *value = calloc((size_t)all + 1, sizeof *value);
  bool ok = value != NULL && rows <= all;
  for (int i = 0; i < WATCHED && ok; i++) {
    if (j->column[i] < 0) continue;
    const char *name = as_channels_get(as_run_channels(j->run), j->column[i]).name;
    ok = as_results_reader_read(reader, as_results_reader_find(reader, name), value, NULL) == AS_OK;
    for (long row = 0; row < rows && ok; row++) job_watch(j, i, value[row]);
  }
  free(value);
  return ok;
}

/// Opens the files behind the rows that the state has given.
static cli_exit open_files(job *j) {
  as_results_writer_def def = as_default_results_writer_def();
  def.model = j->machine->model;
  def.channels = as_run_channels(j->run);
  def.errors = j->machine->simulation.accuracy;
  def.no_sync = j->request->no_sync;
  as_error error;
  long rows = as_run_rows(j->run);
  // results.h5 is only read until there are new rows, results.csv is cut at once.
  as_status status = recorder_start(j->results_file, &def, rows, &j->results, &error);
  if (status == AS_OK) {
    status = as_csv_continue(j->table, def.channels, rows, &j->csv, &error);
  }
  if (status == AS_OK) return folder_replace(j->summary, !j->request->no_sync, summary_write, j);
  cli_complain("`%s` cannot be resumed: %s", j->folder, error.message);
  return cli_judge(status);
}

/// Whether results.h5 and results.csv are those of the state, and undamaged.
static cli_exit check_files(job *j, as_results_reader *reader) {
  as_error error;
  as_status status = as_results_reader_check(reader, &error);
  if (status == AS_OK) status = as_csv_verify(j->table, as_run_mark(j->run), &error);
  if (status == AS_OK) {
    if (look_back(j, reader, as_run_rows(j->run))) return CLI_DONE;
    return refuse(j, "its results.h5 has fewer rows than its state.bin.");
  }
  cli_complain("`%s` cannot be resumed: %s", j->folder, error.message);
  return cli_judge(status);
}

cli_exit resume_look(const machine_request *r, const as_machine *machine, unsigned long long *tag) {
  job j = {.request = r, .machine = (as_machine *)(size_t)machine, .folder = r->resume};
  as_results_reader *reader = NULL;
  cli_exit status = open_results(r->resume, true, &reader);
  if (status == CLI_DONE) status = compare_files(&j, reader);
  as_results_reader_close(reader);
  *tag = resume_tag(&j);
  return status;
}

cli_exit resume_run(job *j) {
  as_results_reader *reader = NULL;
  cli_exit status = folder_lock(j->folder, &j->lock);
  if (status == CLI_DONE) status = open_results(j->folder, false, &reader);
  if (status != CLI_DONE) return status;
  status = compare_files(j, reader);
  as_error error;
  as_status loaded = status == CLI_DONE ? as_run_load_file(j->run, j->state, &error) : AS_OK;
  if (loaded != AS_OK) {
    refuse(j, error.message);
    status = cli_judge(loaded);
  }
  if (status == CLI_DONE) status = check_files(j, reader);
  as_results_reader_close(reader);
  if (status != CLI_DONE) return status;
  j->started = true;
  j->resumed_at = as_integrator_state(as_run_integrator(j->run))->t;
  return open_files(j);
}
