/// What the files of runs share.
///
/// run.c         steps, rows, the work of forces
/// run_create.c  create and destroy, what a run says of itself
/// run_save.c    a run in a file
#ifndef ALPHASTEP_RESULTS_RUN_H
#define ALPHASTEP_RESULTS_RUN_H

#include "alphastep/results_file.h"
#include "core/driver/integrator.h"
#include "results/balance.h"
#include "results/channels.h"
#include "results/rules.h"

struct as_run {
  const as_model *model;
  as_run_def def;
  double *times; ///< def.n_times
  as_integrator *integrator;
  as_channels *channels;
  bool metered;     ///< energies are looked at after each step
  bool energies;    ///< they are wanted
  bool drifting;    ///< drift is wanted
  bool reads_rates; ///< channels depend on v', lambda or psi
  bool started;
  bool partial; ///< t is inside the last step: what follows a step has not been done
  bool default_interval;
  double t;        ///< how far it came [s]
  double row_t;    ///< when the last row was [s]
  long next;       ///< number of the next row
  long iterations; ///< of Newton, so far
  as_meter meter;
  bool jumped;            ///< the last step ended with an event that changed something:
  as_meter after;         ///< the meter behind it
  asi_watch *watch;       ///< NULL: there are neither rules nor blocks that switch
  asi_accuracy *accuracy; ///< NULL: errors are not estimated
  as_view view;
  asi_flow flow; ///< what the balance of energies is compared with
  double *row;
  double *poses;            ///< of the row; NULL: not wanted
  asi_kept_potential *kept; ///< likewise
  double *middle;           ///< nq + n: for asi_flow_watch()
  double *velocity;         ///< n: projected
  as_start_report report;
  as_start_change *change; ///< n_changes: what the start has changed of what was given
  int n_changes;
  as_error stop;  ///< status AS_STOPPED: the event that the last go ended with
  bool stop_kept; ///< the next go ends with it once more
  bool stop_row;  ///< it has a row that does not count for a run that goes on
  bool *left; ///< of each flexible body, then of each beam: what its warning is about has been told
  as_csv_mark mark; ///< of the caller's table
};

/// When row `i` is due; infinity: there is none.
double asi_run_row_time(const as_run *run, long i);

#endif
