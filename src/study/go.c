/// Runs, and the threads that share them out, with those of other processes if there are any. A run is a function of the study and its number alone: each has its own machine, integrator
/// and channels.
#define _GNU_SOURCE // sched_getaffinity
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alphastep/results.h"
#include "base/error.h"
#include "base/file.h"
#include "study/study.h"

enum { MOST_THREADS = 1000 };

int as_study_processors(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
#endif
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}

// ---- one run ----------------------------------------------------------------------------------------

/// What a thread has for its runs.
typedef struct worker {
  as_study *study;
  as_messages *messages;
  asi_arena arena; ///< for settings
  asi_measure *measure;
  int *place; ///< of each column among the channels of the run
  double *value;
  as_study_outcome outcome;
  double t;
  const char *message;
  as_error error;
} worker;

static bool is_ending(void *user) {
  const worker *w = user;
  const as_study_def *def = &w->study->def;
  if (w->study->guest && asi_study_guest_is_over(w->study->guest)) return true;
  return def->interrupt && def->interrupt(def->interrupt_user);
}

static as_status take_row(double t, const double *row, int n, void *user, as_error *error) {
  worker *w = user;
  (void)n, (void)error;
  w->t = t;
  for (int i = 0; i < w->study->def.n_results; ++i)
    asi_measure_add(&w->measure[i], t, row[w->place[w->study->column[i]]]);
  return AS_OK;
}

/// A sentence without the folder of the model file, which may be another when a study is resumed.
static const char *without_folder(const as_study *s, const char *text) {
  const size_t n = strlen(s->folder);
  return strncmp(text, s->folder, n) == 0 ? text + n : text;
}

static as_status fail_run(worker *w, const char *message) {
  w->outcome = AS_STUDY_FAILED;
  w->message = message;
  for (int i = 0; i < w->study->def.n_results; ++i) w->value[i] = (double)NAN;
  return AS_OK;
}

/// Whether a machine was read from the files that the study began with. Others, which only some runs read, may be anything.
static as_status check_files(const as_study *s, const as_machine *m, as_error *error) {
  for (int i = 0; i < m->n_files; ++i)
    for (int k = 0; k < s->n_files; ++k) {
      if (strcmp(m->files[i].path, s->files[k].path) != 0) continue;
      if (m->files[i].size == s->files[k].size && m->files[i].digest == s->files[k].digest)
        continue;
      return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL,
                      "`%.300s` has changed since the study began.", m->files[i].path);
    }
  return AS_OK;
}

static as_run_def define_run(worker *w, const as_machine *m) {
  const as_study *s = w->study;
  as_run_def def = as_default_run_def();
  def.integrator = m->simulation.integrator;
  def.integrator.interrupt = is_ending;
  def.integrator.interrupt_user = w;
  def.t_end = m->simulation.t_end;
  def.max_steps = m->simulation.max_steps;
  def.channels = s->column_name;
  def.n_channels = s->n_columns;
  def.interval = m->output.interval;
  def.times = m->output.times;
  def.n_times = m->output.n_times;
  if (!isnan(s->def.interval)) {
    def.interval = s->def.interval;
    def.n_times = 0;
  }
  def.every_step = true; // extremes between output times count, too
  def.rules = m->rules;
  return def;
}

/// Where the columns are among the channels; false: one is not there.
static bool find_columns(worker *w, const as_run *run) {
  const as_channels *channels = as_run_channels(run);
  for (int i = 0; i < w->study->n_columns; ++i) {
    int c = as_channels_count(channels) - 1;
    while (c >= 0 && strcmp(as_channels_get(channels, c).name, w->study->column_name[i]) != 0) --c;
    w->place[i] = c;
    if (c < 0) return false;
  }
  return true;
}

/// Runs a machine. AS_OK: it is over, whatever came of it.
static as_status run_machine(worker *w, const as_machine *m) {
  const as_study *s = w->study;
  as_run *run = NULL;
  if (isnan(m->simulation.t_end))
    return fail_run(w, "There is no t_end, so there is nothing to run.");
  const as_run_def def = define_run(w, m);
  as_status status = as_run_create(m->model, &def, &run, &w->error);
  if (status == AS_OK && !find_columns(w, run)) {
    as_run_destroy(run);
    return fail_run(w, "A channel of a result is not there.");
  }
  for (int i = 0; i < s->def.n_results; ++i)
    w->measure[i] = asi_measure_begin(&s->def.results[i], def.t_end);
  if (status == AS_OK) status = as_run_go(run, take_row, w, NULL, &w->error);
  as_run_destroy(run);
  if (status == AS_ERR_MEMORY || status == AS_INTERRUPTED) return status;
  if (as_status_is_failure(status)) return fail_run(w, w->error.message);
  w->outcome = status == AS_STOPPED ? AS_STUDY_STOPPED : AS_STUDY_DONE;
  w->message = status == AS_STOPPED ? w->error.message : "";
  for (int i = 0; i < s->def.n_results; ++i) w->value[i] = asi_measure_end(&w->measure[i]);
  return AS_OK;
}

/// Whether the files that the study began with can be read.
static bool can_read_files(const as_study *s) {
  const char *why;
  bool all = true;
  for (int i = s->def.text ? 1 : 0; i < s->n_files && all; ++i) { // the first is the model
    FILE *file = asi_file_open(s->files[i].path, &why);
    all = file != NULL;
    if (file) fclose(file);
  }
  return all;
}

/// Makes a run. What is not its own fault ends the study: for want of memory, or because the model file is another one or cannot be read.
static as_status make_run(worker *w, long number) {
  const as_study *s = w->study;
  as_machine *m = NULL;
  w->t = (double)NAN;
  asi_arena_reset(&w->arena);
  const char *const *settings = asi_study_settings(s, number, &w->arena);
  if (settings == NULL) return asi_fail_memory(&w->error);
  as_status status = asi_study_load(s, settings, &m, w->messages);
  // A file that only this run wants may be missing; those of the study are there, or the study ends. What was short for a moment, as
  // files that are open, is tried again.
  if (status == AS_ERR_FILE && !can_read_files(s))
    return asi_fail(&w->error, AS_ERR_FILE, (double)NAN, NULL, "%.900s",
                    w->messages->message[0].text);
  if (status == AS_ERR_FILE) status = asi_study_load(s, settings, &m, w->messages);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(&w->error);
  if (status) return fail_run(w, without_folder(s, w->messages->message[0].text));
  status = check_files(s, m, &w->error);
  if (status == AS_OK) status = run_machine(w, m);
  as_machine_destroy(m);
  return status;
}

// ---- threads ----------------------------------------------------------------------------------------

static bool take_memory(worker *w) {
  w->messages = asi_calloc(1, sizeof *w->messages);
  w->measure = asi_calloc((size_t)w->study->def.n_results, sizeof *w->measure);
  w->place = asi_calloc((size_t)w->study->n_columns, sizeof *w->place);
  w->value = asi_calloc((size_t)w->study->def.n_results, sizeof *w->value);
  return w->messages && w->measure && w->place && w->value;
}

static void give_back(worker *w) {
  free(w->messages);
  free(w->measure);
  free(w->place);
  free(w->value);
  asi_arena_free(&w->arena);
}

void asi_study_end(as_study *s, as_status status, const as_error *error) {
  s->ending = true;
  if (as_status_is_failure(s->status) || s->status == status) return;
  s->status = status;
  if (as_status_is_failure(status)) s->error = *error;
}

long asi_study_take_run(as_study *s, int holder) {
  while (s->next < s->runs && (s->record[s->next].outcome != AS_STUDY_WAITING ||
                               s->record[s->next].holder != ASI_STUDY_NOBODY))
    ++s->next;
  if (s->ending || s->next >= s->runs) return -1;
  s->record[s->next].holder = holder;
  return s->next++;
}

void asi_study_finish_run(as_study *s, long run) {
  as_error error;
  const as_status status = asi_study_keep_run(s, run, &error);
  if (status) asi_study_end(s, status, &error);
  if (status == AS_OK && s->def.progress)
    s->def.progress(s->runs - s->count_of[AS_STUDY_WAITING], s->runs, s->def.progress_user);
}

/// The number of the next run; -1: there is none. The mutex is held, but while it waits.
static long next_run(worker *w) {
  as_study *s = w->study;
  if (s->guest) {
    pthread_mutex_unlock(&s->mutex);
    const long run = asi_study_guest_take(s->guest, is_ending, w);
    pthread_mutex_lock(&s->mutex);
    return s->ending || run >= s->runs ? -1 : run;
  }
  long run = asi_study_take_run(s, ASI_STUDY_HERE);
  // Runs that other processes make come back if these are lost.
  while (run < 0 && s->host && !s->ending && s->count_of[AS_STUDY_WAITING] > 0) {
    asi_study_host_await(s->host);
    if (is_ending(w)) asi_study_end(s, AS_INTERRUPTED, NULL);
    run = asi_study_take_run(s, ASI_STUDY_HERE);
  }
  return run;
}

/// A run of a guest goes to its host. The mutex is held, but while it is sent.
static void hand_over(worker *w, long run) {
  as_study *s = w->study;
  size_t size;
  unsigned char *bytes = asi_study_pack(s, run, &size);
  if (bytes == NULL) {
    (void)asi_fail_memory(&w->error);
    asi_study_end(s, AS_ERR_MEMORY, &w->error);
    return;
  }
  pthread_mutex_unlock(&s->mutex);
  asi_study_guest_hand_over(s->guest, bytes, size);
  free(bytes);
  pthread_mutex_lock(&s->mutex);
}

/// Takes over a run that is over, unless it has come from elsewhere. The mutex is held.
static void take_over(worker *w, long run) {
  as_study *s = w->study;
  if (s->record[run].outcome != AS_STUDY_WAITING) return;
  if (!asi_study_note(s, run, w->outcome, w->t, w->value, w->message)) {
    (void)asi_fail_memory(&w->error);
    asi_study_end(s, AS_ERR_MEMORY, &w->error);
  } else if (s->guest) {
    hand_over(w, run);
  } else {
    asi_study_finish_run(s, run);
  }
}

static void *work(void *user) {
  as_study *s = user;
  worker w = {.study = s};
  const bool ready = take_memory(&w);
  pthread_mutex_lock(&s->mutex);
  if (!ready) {
    (void)asi_fail_memory(&w.error);
    asi_study_end(s, AS_ERR_MEMORY, &w.error);
  }
  for (long number; (number = next_run(&w)) >= 0;) {
    pthread_mutex_unlock(&s->mutex);
    const as_status status = is_ending(&w) ? AS_INTERRUPTED : make_run(&w, number);
    pthread_mutex_lock(&s->mutex);
    if (status == AS_OK)
      take_over(&w, number);
    else
      asi_study_end(s, status, &w.error);
  }
  pthread_mutex_unlock(&s->mutex);
  give_back(&w);
  return NULL;
}

/// Works with so many threads until there are no more runs. This one works, too. Where there are no more threads to be had, those that
/// are there do.
static as_status run_threads(as_study *s, int threads, as_error *error) {
  const long waiting = s->count_of[AS_STUDY_WAITING];
  long n = threads > 0 ? threads : as_study_processors();
  n = n > MOST_THREADS ? MOST_THREADS : n;
  n = n > waiting ? waiting : n;
  pthread_t *thread = asi_calloc((size_t)(n > 0 ? n : 1), sizeof *thread);
  if (thread == NULL) return asi_fail_memory(error);
  long begun = 0;
  while (begun < n - 1 && pthread_create(&thread[begun], NULL, work, s) == 0) ++begun;
  (void)work(s);
  for (long i = 0; i < begun; ++i) pthread_join(thread[i], NULL);
  free(thread);
  return AS_OK;
}

static void begin(as_study *s) {
  s->next = 0;
  s->ending = false;
  s->status = AS_OK;
  for (long i = 0; i < s->runs; ++i) s->record[i].holder = ASI_STUDY_NOBODY;
}

/// How it went: what threads have met, if not `status`.
static as_status judge(const as_study *s, as_status status, as_error *error) {
  if (status) return status;
  if (as_status_is_failure(s->status) && error) *error = s->error;
  return s->status;
}

as_status as_study_go_with(as_study *s, int threads, as_study_host *host, as_error *error) {
  begin(s);
  as_status status = host ? asi_study_host_open(host, s, error) : AS_OK;
  if (status) return status;
  s->host = host;
  status = run_threads(s, threads, error);
  if (host) asi_study_host_close(host);
  s->host = NULL;
  status = judge(s, status, error);
  if (as_status_is_failure(status)) return status;
  const as_status synced = asi_study_sync(s, error);
  if (synced) return synced;
  return status ? status : asi_error_clear(error);
}

as_status as_study_go(as_study *s, int threads, as_error *error) {
  return as_study_go_with(s, threads, NULL, error);
}

as_status asi_study_work_for(as_study *s, as_study_guest *guest, int threads, as_error *error) {
  begin(s);
  s->guest = guest;
  as_status status = run_threads(s, threads, error);
  s->guest = NULL;
  status = judge(s, status, error);
  return status ? status : asi_error_clear(error);
}
