/// Estimated errors of a run: a second, finer run of the same machine goes alongside and is compared row by row.
///
/// [AC.1] The finer run has half the steps: of a fixed step h/2; of automatic ones a tolerance that is TIGHTER times
/// smaller, and never more than half of the step that the run itself takes there. The error of a second-order
/// method is then RATIO = 4 times smaller, and
///
///     error = (value - finer value) * RATIO / (RATIO - 1)
///
/// The finer run is led on step by step behind the run; what it gives ahead of the run's rows waits in a queue.
#ifndef ALPHASTEP_RESULTS_ACCURACY_H
#define ALPHASTEP_RESULTS_ACCURACY_H

#include "alphastep/results.h"
#include "base/archive.h"

typedef struct asi_accuracy asi_accuracy;

/// Makes the finer run of `def`; the model and the channels of the run itself have to outlive it.
as_status asi_accuracy_create(const as_model *model, const as_run_def *def,
                              const as_channels *channels, asi_accuracy **out, as_error *error);
void asi_accuracy_destroy(asi_accuracy *a);
as_run *asi_accuracy_finer(const asi_accuracy *a);

/// Leads the finer run to time t, where a step of size h has ended (0: there was none). What goes wrong there is noted.
void asi_accuracy_follow(asi_accuracy *a, double t, double h);
/// The run was stopped by an event at t: lets the finer run find it, too.
void asi_accuracy_stop(asi_accuracy *a, double t);
/// Compares a row. `poses` may be NULL; `events` are counts and times, NULL: there are none.
void asi_accuracy_row(asi_accuracy *a, double t, const double *row, const double *poses,
                      const double *events);

/// [AC.1]
double asi_accuracy_estimate(double value, double finer);
/// Of the last row: of the channels, then of the poses. NAN: not known.
const double *asi_accuracy_errors(const asi_accuracy *a);
as_channel_error asi_accuracy_channel(const asi_accuracy *a, int channel);
/// `t`: how far the run itself came.
as_accuracy asi_accuracy_report(const asi_accuracy *a, double t);

/// All but the finer run itself.
void asi_accuracy_serialize(asi_accuracy *a, asi_archive *archive);

/// Of a run, while it gives a row: counts and times of its events (run.c).
const double *asi_run_shown_events(const as_run *run);

#endif
