/// results.h5, written by a process of its own: HDF5 does not survive a failure inside itself, as when memory runs out. Whatever
/// becomes of it, the run goes on to save its table and its state.
#ifndef ALPHASTEP_CLI_RECORDER_H
#define ALPHASTEP_CLI_RECORDER_H

#include <sys/types.h>

#include "alphastep/results_file.h"

typedef struct recorder recorder;

/// Starts the process, which makes the file, or goes on with it behind its first `rows` rows (-1: a new one).
as_status recorder_start(const char *path, const as_results_writer_def *def, long rows,
                         recorder **out, as_error *error);
/// Hands a row over. A failure may show only later.
as_status recorder_row(recorder *r, double t, const double *row, const double *poses,
                       const double *errors, const double *pose_errors, as_error *error);
/// Brings all rows into the file.
as_status recorder_flush(recorder *r, as_error *error);
/// Brings all rows into the file and ends the process; NULL is fine.
as_status recorder_close(recorder *r, as_error *error);
/// In a process that was forked for HDF5: it lives no longer than who started it, and signals from the terminal are not for it.
void recorder_settle_down(pid_t starter);

#endif
