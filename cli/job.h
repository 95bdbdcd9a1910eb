/// One run of `alphastep run`: what it works on and what is known of it.
#ifndef ALPHASTEP_CLI_JOB_H
#define ALPHASTEP_CLI_JOB_H

#include <stdio.h>

#include "alphastep/folder.h"
#include "alphastep/results.h"
#include "alphastep/results_file.h"
#include "machine.h"
#include "progress.h"
#include "recorder.h"

enum { MOST_WARNINGS = 20 }; // in a summary

/// Channels that are watched: the largest size of each goes into the summary.
enum { WATCH_BALANCE, WATCH_POSITION, WATCH_VELOCITY, WATCHED };

typedef struct job {
  const machine_request *request;
  as_machine *machine;
  as_run *run;
  as_csv *csv;
  recorder *results;
  const char *folder;
  char *table, *results_file, *summary, *state; ///< paths of the files
  progress progress;
  double flushed;     ///< when, by the clock [s]
  double flush_pause; ///< until the next time [s]
  const char *status;
  const char *message;
  char *warning[MOST_WARNINGS];
  int n_warnings;
  as_folder_lock *lock; ///< of the folder
  bool made;            ///< the folder was made for this run
  bool begun;           ///< there is a summary that says `running`
  bool started;         ///< a row was written
  bool broken;          ///< one could not be
  as_start_report start;
  long rows;
  double t;              ///< how far it came [s]
  double last_row;       ///< when it was [s]
  double resumed_at;     ///< where an earlier run is taken up [s]; NAN: it begins
  int column[WATCHED];   ///< -1: not among the channels
  double worst[WATCHED]; ///< largest absolute value
  double seconds;        ///< that it took
} job;

/// Takes in a value of a channel that is watched; NAN stays.
void job_watch(job *j, int channel, double value);
/// Writes the summary of a job.
void summary_write(FILE *out, const void *job);
/// The options that a machine is run with, as JSON; to be freed. NULL: memory has run out.
char *summary_options(const as_machine *machine);

#endif
