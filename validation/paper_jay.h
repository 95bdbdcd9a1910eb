/// The experiments with the SOI2 method of Jay and Negrut, see paper_jay_runs.c.
#ifndef ALPHASTEP_VALIDATION_PAPER_JAY_H
#define ALPHASTEP_VALIDATION_PAPER_JAY_H

#include "paper_problems.h"
#include "papers.h"

/// The numbers that a run gives: errors, a's error against the acceleration at t_n itself, and how much the
/// energy has changed.
enum { Y, Z, A, LAMBDA, PSI, A_AT_T, ENERGY };

/// How a starts.
typedef enum jay_start {
  FROM_V_DOT, ///< from v'_0
  SHIFTED,    ///< from v'_0 + D h v''_0
  IMPLICIT,   ///< by (10) of Jay and Negrut
} jay_start;

typedef struct jay_setting {
  paper_problem_fn *problem;
  double step;      ///< h, or the length H of two steps H/3 and 2H/3 [s]
  bool alternating; ///< H/3, 2H/3, H/3, ...
  bool corrections; ///< when the step changes
  jay_start first;
  bool reevaluate; ///< M_alpha is evaluated again instead of kept
  double rho_inf;  ///< 0: 0.2
  double hht;      ///< alpha of Hilber, Hughes and Taylor's set instead; 0: Chung and Hulbert's
  double t_end;    ///< [s]; 0: 1 s
  int from, to;    ///< the steps between which the rate of forgetting is measured
  int output;      ///< of which variable
} jay_setting;

/// The errors at t = 1 of the problems with the motion q = (exp(t), exp(-2t)).
paper_measure_fn jay_errors;
/// The largest ones over the steps up to t_end.
paper_measure_fn jay_largest;
/// The rolling disk, at t = 10.
paper_measure_fn jay_disk;
paper_trace_fn jay_trace_energy; ///< its energy over time, less that at the start

/// The factor by which what an inaccurate first a adds becomes smaller in a step, the geometric mean over some steps.
paper_measure_fn jay_forgetting;
/// The difference over its first value, in decades, and what several rates would give.
enum { MEASURED, BY_ALPHA_M, BY_GAMMA, BY_ALPHA_F };
paper_trace_fn jay_trace_forgetting;

#endif
