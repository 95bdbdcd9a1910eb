/// The papers' experiments, as a table of rows, and their figures.
///
/// A row is one number. A run is one computation; it gives the numbers of one or several rows and
/// is made at most once. A figure shows what comes out of several runs. Each paper has a file that
/// holds its rows, runs and figures. What the papers claim, and which rows and figures show whether it holds, is
/// in paper_claims.c.
#ifndef ALPHASTEP_VALIDATION_PAPERS_H
#define ALPHASTEP_VALIDATION_PAPERS_H

#include <stdbool.h>

#include "alphastep/plot.h"
#include "alphastep/status.h"

enum { PAPER_OUTPUTS = 8 };   ///< the most numbers that a run gives
enum { PAPER_POINTS = 1024 }; ///< the most points of a curve
enum { PAPER_NONE = -1 };     ///< instead of a run's index

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
  PAPER_NUMBER,       ///< the same; it is not an error and has no order
  PAPER_VALUE,        ///< within 1e-6: a value of the solution, not an error
  PAPER_SECOND_ORDER, ///< within 1 %, and the observed order is at least 1.9
  PAPER_AT_MOST,      ///< not above what is expected
  PAPER_ORDER,        ///< the observed order is at least 1.9; what the error should be is not known
  PAPER_SHOWN,        ///< not at all: it depends on more than the method
} paper_judge;

typedef struct paper_row {
  const char *id; ///< stable; words joined by `-`
  const char *what;
  int run;
  int output;       ///< which of the run's numbers
  double published; ///< as printed in the paper; NAN: it prints none
  double expected;  ///< recomputed independently of this library; NAN: it is not judged
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
  bool published
      [AS_PLOT_CURVES]; ///< errors against the step: the numbers that the paper prints instead
  int n_panels;
  paper_panel panel[AS_PLOT_PANELS];
} paper_figure;

// ---- claims

/// What becomes of a claim if its rows are as expected.
typedef enum paper_verdict {
  PAPER_HOLDS,
  PAPER_CORRECTED, ///< it holds with a correction
  PAPER_FAILS,     ///< it does not hold
  PAPER_UNCHECKED, ///< it cannot be repeated
  PAPER_OWN, ///< repeated with data of our own, since the paper gives none; tests elsewhere look after the numbers
} paper_verdict;

enum { PAPER_CLAIM_ROWS = 6, PAPER_CLAIM_FIGURES = 2 }; ///< at most

/// Texts have the markup of plot.h. In `finding`, `[ID]` stands for the number of a row that is measured and
/// `[ID:order]` for its order.
typedef struct paper_claim {
  const char *id; ///< stable; words joined by `-`
  const char *title;
  const char *where; ///< in the paper
  const char *says;  ///< what the paper claims
  paper_verdict verdict;
  const char *finding;                      ///< what is measured, and what has to be corrected
  const char *rows[PAPER_CLAIM_ROWS];       ///< ids or their first words
  const char *figures[PAPER_CLAIM_FIGURES]; ///< names
} paper_claim;

// ---- papers

typedef struct paper {
  const char *name;     ///< short
  const char *citation; ///< authors and year
  const char *title;
  const char *subject; ///< what it is about
  const paper_claim *claims;
  int n_claims;
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
extern const paper paper_car; ///< the same paper's car (paper_car.c)
extern const paper paper_ch;  ///< Chung, Hulbert (paper_ch.c)

enum { N_PAPERS = 6 };
extern const paper *const all_papers[N_PAPERS];

/// Their claims (paper_claims.c).
enum {
  N_ABC_CLAIMS = 14,
  N_JN_CLAIMS = 8,
  N_J_CLAIMS = 5,
  N_BA_CLAIMS = 9,
  N_CAR_CLAIMS = 6,
  N_CH_CLAIMS = 3
};
extern const paper_claim abc_claims[N_ABC_CLAIMS];
extern const paper_claim jn_claims[N_JN_CLAIMS];
extern const paper_claim j_claims[N_J_CLAIMS];
extern const paper_claim ba_claims[N_BA_CLAIMS];
extern const paper_claim car_claims[N_CAR_CLAIMS];
extern const paper_claim ch_claims[N_CH_CLAIMS];

// ---- measuring

/// What the library does that no paper claims (paper_claims.c), with the markup of plot.h.
enum { N_BEYOND = 4 };
extern const char *const papers_beyond[N_BEYOND];

/// What came out of a run.
typedef struct run_result {
  bool made;
  as_status status;
  as_error error; ///< why it failed, if it did
  double out[PAPER_OUTPUTS];
} run_result;

/// Makes the run if that has not been done yet; `results` has a place for each run of the paper.
const run_result *paper_make_run(const paper *source, int run, run_result *results);

#define PAPER_WITHIN_SHARE 0.01 ///< relative distance to the expected number that is ok,
#define PAPER_VALUE_SHARE 1e-6  ///< that of values of a solution,
#define PAPER_LEAST_ORDER 1.9   ///< and the least observed order that counts as second

/// A row and what is known about it.
typedef struct paper_entry {
  const paper *source;
  const paper_row *row;
  double measured; ///< NAN: the run failed
  double order;    ///< NAN: none
  bool ok;
} paper_entry;

/// Makes the runs that a row needs.
paper_entry paper_measure(const paper *source, const paper_row *row, run_result *results);

/// Is `name` the id, or its first words?
bool paper_names(const char *name, const char *id);

typedef struct paper_points {
  double x[PAPER_POINTS];
  double y[PAPER_POINTS];
  int n;
} paper_points;

/// A figure ready to be drawn: a plot, and the points that its curves refer to.
typedef struct paper_drawing {
  as_plot plot;
  paper_points points[AS_PLOT_PANELS][AS_PLOT_CURVES];
} paper_drawing;

/// Makes the runs that a figure needs.
as_status paper_figure_prepare(const paper *source, const paper_figure *figure, run_result *results,
                               paper_drawing *out, as_error *error);

#endif
