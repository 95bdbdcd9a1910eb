/// What the files of `alphastep study` share.
///
/// study_arguments.c  options, and the study that they and the file make
/// study.c            the folder, the runs
/// study_text.c       the table on a terminal, the summary
/// study_page.c       the page
#ifndef ALPHASTEP_CLI_STUDY_H
#define ALPHASTEP_CLI_STUDY_H

#include <stdio.h>

#include "alphastep/folder.h"
#include "alphastep/study.h"
#include "machine.h"
#include "progress.h"

/// What the command line says.
typedef struct study_request {
  machine_request machine;   ///< its model is the study file, the model file or the folder
  as_study_parameter *sweep; ///< n_sweeps, of --sweep and --draw
  int n_sweeps;
  as_study_result *result; ///< n_results, of --result
  int n_results;
  const char *runs, *seed, *interval, *threads, *run; ///< NULL: not given
  bool no_mpi;
  as_plugin_policy policy;
  char **copied; ///< n_copied texts that belong to it
  int n_copied;
} study_request;

/// Reads the arguments. Complains.
cli_exit study_arguments(int argc, char **argv, study_request *r);
void study_arguments_free(study_request *r);
/// Reads a study or model file, adds what the command line says and makes the study. Complains.
cli_exit study_open(const study_request *r, const char *path, const char *model,
                    const as_study_def *base, as_study **out);

typedef struct study_job {
  const study_request *request;
  as_study *study;
  const char *file; ///< what messages call it
  const char *folder;
  char *table, *definition, *summary, *state, *page, *results; ///< paths
  as_folder_lock *lock;
  progress progress;
  long before;         ///< runs that were over when it began
  as_study_host *host; ///< NULL: no other processes take part
  int threads;
  int processes, lost; ///< that took part, this one among them; that went away while they made runs
  const char *status, *message;
  bool made, begun;
  double seconds;
} study_job;

void study_write_summary(FILE *out, const void *job);
/// The table with what the terminal has room for, and results over all runs.
void study_print(const study_job *j);
void study_write_page(FILE *out, const void *job);

#endif
