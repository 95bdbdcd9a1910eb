/// The papers' experiments, as a table of rows.
///
/// A row is one number. A run is one computation; it gives the numbers of one or several rows and
/// is made at most once. Each paper has a file of its own that holds its rows and runs.
#ifndef ALPHASTEP_CLI_PAPERS_H
#define ALPHASTEP_CLI_PAPERS_H

#include <stdbool.h>

#include "alphastep/status.h"

enum { PAPER_OUTPUTS = 3 }; ///< the most numbers that a run gives
enum { PAPER_NONE = -1 };   ///< instead of a run's index

/// Writes up to PAPER_OUTPUTS numbers to `out`.
typedef as_status paper_measure_fn(const void *setting, double *out, as_error *error);

typedef struct paper_run {
  paper_measure_fn *measure;
  const void *setting; ///< passed to measure
  int twice;           ///< the same run with twice the step, or PAPER_NONE
} paper_run;

/// How a measured number is judged.
typedef enum paper_judge {
  PAPER_WITHIN,  ///< within 1 % of what is expected
  PAPER_AT_MOST, ///< not above what is expected
} paper_judge;

typedef struct paper_row {
  const char *id; ///< stable; words joined by `-`
  const char *what;
  int run;
  int output;       ///< which of the run's numbers
  double published; ///< as printed in the paper; NAN: it prints none
  double expected;  ///< recomputed independently of this library
  paper_judge judge;
} paper_row;

typedef struct paper {
  const char *citation; ///< authors and year
  const char *title;
  const paper_row *rows;
  int n_rows;
  const paper_run *runs;
  int n_runs;
} paper;

extern const paper paper_abc;

#endif
