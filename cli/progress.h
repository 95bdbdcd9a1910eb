/// How far a run is, on a terminal.
#ifndef ALPHASTEP_CLI_PROGRESS_H
#define ALPHASTEP_CLI_PROGRESS_H

#include <stdbool.h>

/// Seconds of a clock that only goes forward.
double progress_clock(void);

typedef struct progress {
  bool shown; ///< stderr is a terminal, and it is wanted
  double t_end;
  double began; ///< by the clock [s]
  double last;  ///< when it was last shown
  int width;    ///< of the last line
} progress;

progress progress_begin(double t_end, bool wanted);
/// Shows percent, simulated time, speed and what is left, at most ten times a second.
void progress_show(progress *p, double t);
/// The same of runs: `over` of t_end are, `failed` of them have failed; `before` were when it began.
void progress_show_runs(progress *p, long over, long failed, long before);
/// Takes the line away.
void progress_end(progress *p);

#endif
