/// Parameter studies: one machine many times, each time with other values; of each run a few numbers are kept.
///
///     const char *const values[] = {"600", "1200", "2400"};
///     const as_study_parameter damping = {.path = "parameters.damping", .list = values, .count = 3};
///     const as_study_result comfort = {.measure = AS_STUDY_RMS, .channel = "bodies.body.acceleration.z", .from = 1.0, .to = NAN};
///     as_study_def def = as_default_study_def();
///     def.model = "car.yaml";
///     def.parameters = &damping, def.n_parameters = 1;
///     def.results = &comfort, def.n_results = 1;
///     as_study_create(&def, &study, &messages);
///     as_study_go(study, 0, &error);                      // on all processors
///     for (long i = 0; i < as_study_runs(study); ++i) printf("%g\n", as_study_run_get(study, i).value[0]);
///
/// Parameters with lists and ranges make a grid, of which the last one varies fastest; if there are random ones, too, each point of the
/// grid is run `draws` times, and draw number k is the same at each of them. What a run gives depends neither on the number of threads
/// nor on the order in which they take runs. docs/studies.md has the definitions.
#ifndef ALPHASTEP_STUDY_H
#define ALPHASTEP_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "alphastep/export.h"
#include "alphastep/file.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what is to be run ------------------------------------------------------------------------------

/// How the values of a parameter are given.
typedef enum as_study_spread {
  AS_STUDY_LIST, ///< `list`, `count` of them
  AS_STUDY_COUNT, ///< `count` values from `from` to `to`, both included; at equal ratios if `logarithmic`
  AS_STUDY_STEP,    ///< from + k step, up to `to`
  AS_STUDY_UNIFORM, ///< random, any number from `from` to `to` as likely
  AS_STUDY_NORMAL,  ///< random, by Gauss's distribution: `mean`, `deviation`
} as_study_spread;

typedef struct as_study_parameter {
  const char *path; ///< of a value in the model file, as as_machine_load() takes it: `parameters.k`
  as_study_spread spread;
  const char *const *list; ///< each as it would stand in the file, in YAML
  int count;
  double from, to, step;
  bool logarithmic;
  double mean, deviation;
} as_study_parameter;

/// What is kept of a channel.
typedef enum as_study_measure {
  AS_STUDY_MAX,
  AS_STUDY_MIN,
  AS_STUDY_MAX_ABS, ///< the largest absolute value
  AS_STUDY_RMS,     ///< root mean square over time
  AS_STUDY_MEAN,    ///< mean over time
  AS_STUDY_LAST,    ///< the last value
} as_study_measure;

/// What it is called in study files: `max_abs`; "" if there is none.
AS_API const char *as_study_measure_name(as_study_measure measure);

typedef struct as_study_result {
  const char
      *name; ///< NULL: measure, channel and window, as in `rms:bodies.body.acceleration.z@1:10`
  as_study_measure measure;
  const char *channel; ///< that selects one channel, see alphastep/results.h
  double from, to;     ///< the times that count [s]; NAN: from the start, to the end
} as_study_result;

/// Hears of each run that is over; by one thread at a time.
typedef void as_study_progress_fn(long over, long runs, void *user);

/// A study. From as_default_study_def(). Everything is copied.
typedef struct as_study_def {
  unsigned cookie;   ///< set by as_default_study_def(): leave it as it is
  const char *title; ///< NULL: none
  const char *model; ///< path of the model file, required
  const char *
      text; ///< its text_size bytes instead, then `model` is what messages call it; NULL: the file is read
  size_t text_size;
  const char *const *settings; ///< n_settings, `path=value`, of all runs
  int n_settings;
  const as_study_parameter *parameters; ///< n_parameters; without any there is one run
  int n_parameters;
  const as_study_result *results; ///< n_results > 0
  int n_results;
  int draws; ///< how often random parameters are drawn at each point of the grid; 0: there are none
  unsigned long long seed; ///< of random parameters
  double interval; ///< between the rows that results are made of [s]; NAN: as the model file says
  const as_plugin_policy *plugins; ///< NULL: none; has to outlive the study, as what it points to
  as_study_progress_fn *progress;  ///< may be NULL
  void *progress_user;
  as_interrupt_fn *interrupt; ///< asked by all threads; may be NULL
  void *interrupt_user;
} as_study_def;

AS_API as_study_def as_default_study_def(void);

/// A study file (YAML or JSON), see docs/studies.md.
typedef struct as_study_file as_study_file;

/// Reads a study file. A model file, which has a key `alphastep` and no `alphastep-study`, is a study of it without parameters and
/// results, to which these can be added. Failures are those of as_machine_load().
AS_API as_status as_study_file_load(const char *path, as_study_file **out, as_messages *messages);
AS_API void as_study_file_destroy(as_study_file *file);
/// What it says; it points into the file.
AS_API as_study_def as_study_file_def(const as_study_file *file);
AS_API bool as_study_file_is_model(const as_study_file *file);

// ---- studies ----------------------------------------------------------------------------------------

enum { AS_STUDY_RUNS = 10000000 }; ///< the most that a study has

typedef struct as_study as_study;

/// Finds all values, reads the model with those of the first run (if it cannot be read with these, of the one in the middle, then of the
/// last) and looks for the channels. AS_ERR_ARGUMENT, AS_ERR_FILE and AS_ERR_MEMORY: `messages` says why.
AS_API as_status as_study_create(const as_study_def *def, as_study **out, as_messages *messages);
AS_API void as_study_destroy(as_study *study);

/// Keeps runs that are over in a file from now on, each when it is over. With `resume` it takes up those that are there first;
/// AS_ERR_ARGUMENT with a sentence if they are of another study or of files that have changed since. To be called before go.
AS_API as_status as_study_keep(as_study *study, const char *path, bool resume, bool no_sync,
                               as_error *error);
/// Makes all runs that are not over, by so many threads at a time (0: one for each processor). AS_OK, also if runs have failed;
/// AS_INTERRUPTED, then runs that were under way are not over and the same call goes on; AS_ERR_FILE: runs cannot be kept, or the model
/// file has changed meanwhile; AS_ERR_MEMORY.
AS_API as_status as_study_go(as_study *study, int threads, as_error *error);
/// How many processors this process may use.
AS_API int as_study_processors(void);

// ---- many processes ---------------------------------------------------------------------------------

/// A process that deals out the runs of its study to others, its guests, as these ask, beside its own threads. They may be on other machines.
/// A guest that is lost costs the time of the runs that it was making: others make them again. What comes out does not depend on who has
/// made a run.
typedef struct as_study_host as_study_host;

/// Listens at a port of its own. AS_ERR_FILE: there is none.
AS_API as_status as_study_host_create(as_study_host **out, as_error *error);
/// Guests that are waiting end.
AS_API void as_study_host_destroy(as_study_host *host);
/// Waits until so many guests have come, but not much longer than so many seconds.
AS_API void as_study_host_wait(as_study_host *host, int guests, double seconds);
/// What guests have to know, one line. It has a secret: whoever knows it may take part.
AS_API const char *as_study_host_address(const as_study_host *host);
AS_API int as_study_host_joined(const as_study_host *host); ///< how many guests have come
AS_API int
as_study_host_lost(const as_study_host *host); ///< how many went away while they made runs
/// as_study_go() with guests. `host` may be NULL.
AS_API as_status as_study_go_with(as_study *study, int threads, as_study_host *host,
                                  as_error *error);

/// The other side, in another process.
typedef struct as_study_guest as_study_guest;

/// Goes to a host and waits until it deals out runs. AS_STOPPED: it has none. AS_ERR_FILE: it is not to be reached.
AS_API as_status as_study_guest_create(const char *address, as_study_guest **out, as_error *error);
AS_API void as_study_guest_destroy(as_study_guest *guest);
/// Whether the host went away without a word.
AS_API bool as_study_guest_is_alone(const as_study_guest *guest);
/// Makes runs for the host with so many threads (0: one for each processor) until there are no more. `study` is the same as there, made
/// from the same files: AS_ERR_ARGUMENT with a sentence if it is not. AS_ERR_FILE: the host is gone, or a file of the model has changed;
/// AS_INTERRUPTED, AS_ERR_MEMORY: the host goes on without this process.
AS_API as_status as_study_join(as_study *study, int threads, as_study_guest *guest,
                               as_error *error);

// ---- what came of it --------------------------------------------------------------------------------

AS_API long as_study_runs(const as_study *study);
AS_API const char *as_study_title(const as_study *study); ///< NULL: none
/// The model file, and the n files in all that the model was read from.
AS_API const char *as_study_model(const as_study *study);
AS_API const as_file_digest *as_study_files(const as_study *study, int *n);
/// n sentences about what was read, such as keys of a tyre's file that nobody knows.
AS_API const char *const *as_study_warnings(const as_study *study, int *n);
AS_API int as_study_parameters(const as_study *study);
AS_API int as_study_results(const as_study *study);
AS_API as_study_parameter as_study_parameter_get(const as_study *study, int parameter);
/// Its name is never NULL.
AS_API as_study_result as_study_result_get(const as_study *study, int result);
AS_API const char *as_study_result_unit(const as_study *study, int result); ///< `-`: none

typedef enum as_study_outcome {
  AS_STUDY_WAITING, ///< it is not over
  AS_STUDY_DONE,
  AS_STUDY_STOPPED, ///< by an event; results are those up to there
  AS_STUDY_FAILED,  ///< it has no results: they are NAN
} as_study_outcome;

AS_API const char *as_study_outcome_name(as_study_outcome outcome);

/// One run. What it points to belongs to the study.
typedef struct as_study_run {
  as_study_outcome outcome;
  double t;            ///< how far it came [s]; NAN: it did not begin
  const double *value; ///< of each result
  const char *message; ///< why it stopped or failed; "": nothing to say
} as_study_run;

/// Runs are counted from 0 here, and from 1 in tables.
AS_API as_study_run as_study_run_get(const as_study *study, long run);
/// How many have this outcome.
AS_API long as_study_count(const as_study *study, as_study_outcome outcome);
/// The value of a parameter in a run, as text. Writes at most `size` bytes, the last a zero, as snprintf does.
AS_API int as_study_setting(const as_study *study, long run, int parameter, char *text,
                            size_t size);
/// The same as a number; NAN: it is none.
AS_API double as_study_number(const as_study *study, long run, int parameter);
/// How many values of its own a parameter has in the grid; 0: it is random.
AS_API long as_study_values(const as_study *study, int parameter);

/// A result over all runs where it is a number.
typedef struct as_study_summary {
  long runs;
  double least, largest; ///< NAN: there are none
  long least_run, largest_run;
  double mean, deviation; ///< deviation: with runs - 1; NAN for one run
} as_study_summary;

AS_API as_study_summary as_study_summarize(const as_study *study, int result);

/// Comma-separated values, a line per run that is over, by their numbers: run, parameters, results, status, t [s], message.
AS_API void as_study_write_table(FILE *out, const as_study *study);
/// The same as an HDF5 file, study.h5 of docs/studies.md. AS_ERR_MEMORY; whether `out` could be written it knows itself.
AS_API as_status as_study_write_hdf5(FILE *out, const as_study *study, as_error *error);
/// The study as a study file in JSON, with the model's path from the root.
AS_API void as_study_write_definition(FILE *out, const as_study *study);

#ifdef __cplusplus
}
#endif

#endif
