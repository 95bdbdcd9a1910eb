/// The papers' experiments, as a table of rows, and their figures.
///
/// A row is one number. A run is one computation; it gives the numbers of one or several rows and
/// is made at most once. A figure shows what comes out of several runs. Each paper has a file that
/// holds its rows, runs and figures.
#ifndef ALPHASTEP_CLI_PAPERS_H
#define ALPHASTEP_CLI_PAPERS_H

#include <stdbool.h>

#include "alphastep/plot.h"
#include "alphastep/status.h"
#include "cli.h"

enum { PAPER_OUTPUTS = 6 };  ///< the most numbers that a run gives
enum { PAPER_POINTS = 256 }; ///< the most points of a curve
enum { PAPER_NONE = -1 };    ///< instead of a run's index

// ---- rows and runs

/// Writes up to PAPER_OUTPUTS numbers to `out`.
typedef as_status paper_measure_fn(const void *setting, double *out, as_error *error);

typedef struct paper_run {
  paper_measure_fn *measure;
  const void *setting; ///< passed to measure
  int twice;           ///< the same run with twice the step, or PAPER_NONE
} paper_run;

/// How a measured number is judged.
typedef enum paper_judge {
  PAPER_WITHIN,       ///< within 1 % of what is expected
  PAPER_VALUE,        ///< within 1e-6: a value of the solution, not an error
  PAPER_SECOND_ORDER, ///< the same, and the observed order is at least 1.9
  PAPER_AT_MOST,      ///< not above what is expected
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

// ---- figures

/// Writes a number over time, the one that a curve asks for by `output`: up to PAPER_POINTS points, how
/// many to `n`.
typedef as_status paper_trace_fn(const void *setting, int output, double *t, double *out, int *n,
                                 as_error *error);

/// A curve belongs to a run: its trace or, in a plot of orders, one of its numbers, which is
/// followed through the runs with twice the step, four times the step and so on.
typedef struct paper_curve {
  int run; ///< PAPER_NONE: the panel does not have this curve
  int output;
} paper_curve;

typedef struct paper_panel {
  const char *title;
  const char *y_label;
  paper_curve curve[AS_PLOT_CURVES];
} paper_panel;

typedef struct paper_figure {
  const char *name; ///< the first words of the rows that it shows; its file is NAME.svg
  const char *title;
  const char *note;
  const char *x_label;
  paper_trace_fn *trace; ///< NULL: errors against the step
  double step;           ///< of the curves' runs; unused by traces
  bool smooth;           ///< traces are lines without dots
  bool same_scale;       ///< the panels have the same range of y
  int n_curves;
  const char *label[AS_PLOT_CURVES];
  int n_panels;
  paper_panel panel[AS_PLOT_PANELS];
} paper_figure;

// ---- papers

typedef struct paper {
  const char *citation; ///< authors and year
  const char *title;
  const paper_row *rows;
  int n_rows;
  const paper_run *runs;
  int n_runs;
  const paper_figure *figures;
  int n_figures;
} paper;

extern const paper paper_abc; ///< Arnold, Bruels, Cardona (paper_abc.c)
extern const paper paper_jn;  ///< Jay, Negrut (paper_jay.c)
extern const paper paper_j;   ///< Jay (paper_jay.c)
extern const paper paper_ba;  ///< Bruels, Arnold (paper_ba.c)

/// What came out of a run.
typedef struct run_result {
  bool made;
  as_status status;
  double out[PAPER_OUTPUTS];
} run_result;

/// Makes the run if that has not been done yet; `results` has a place for each run of the paper. A
/// failure is complained about in the name of `id`.
const run_result *paper_make_run(const paper *source, int run, const char *id, run_result *results);

/// Makes the runs that a figure needs and writes it to DIRECTORY/NAME.svg. Complains.
cli_exit figure_draw(const paper *source, const paper_figure *figure, const char *directory,
                     run_result *results);

#endif
