/// The experiments of Arnold, Bruels, Cardona, see paper_abc_runs.c.
#ifndef ALPHASTEP_VALIDATION_PAPER_ABC_H
#define ALPHASTEP_VALIDATION_PAPER_ABC_H

#include "papers.h"

/// The method and how it starts.
typedef enum abc_variant {
  PLAIN,     ///< index-3 from v_0 = v(t_0), a_0 = v'(t_0)
  SHIFTED,   ///< index-3 from v_0 = v(t_0), a_0 = v'(t_0) + D h v''(t_0)
  PERTURBED, ///< index-3 with v_0 perturbed as well
  INDEX2,    ///< stabilized index-2 from v_0 = v(t_0), a_0 = v'(t_0)
} abc_variant;

typedef struct abc_setting {
  abc_variant variant;
  double rho_inf; ///< [-]
  double step;    ///< h [s]
  double t_end;   ///< [s]
  double x0;      ///< the pendulum's first coordinate at the start [m]
  bool loose;     ///< Newton's tolerances are a hundred times as large
} abc_setting;

/// The recursion of index-3 multipliers: the largest 2-norm of (T+^-1 T0)^n, the n where it is, the largest
/// sizes in the second row of such a power, and the largest entry n (n-1)/2 rho_inf^(n-2) of the powers of the
/// Jordan block.
enum { GROWTH, GROWTH_STEP, ROW_1, ROW_2, ROW_3, JORDAN };
paper_measure_fn abc_amplification;
/// The same for the stabilized index-2 form: GROWTH, and the spectral radius.
enum { RADIUS = GROWTH_STEP };
paper_measure_fn abc_index2_amplification;
/// The largest relative distance of the largest norms from 0.9/(1 - rho_inf^(1/4)), for rho_inf from 0.3 to 0.99.
paper_measure_fn abc_fit;
/// Norms of the powers against n.
enum { TRACE_INDEX3, TRACE_INDEX2 };
paper_trace_fn abc_trace_amplification;
/// Against rho_inf: the largest norm, the formula's relative error and the paper's limit for it [%].
enum { TRACE_NORM, TRACE_FORMULA, TRACE_LIMIT };
paper_trace_fn abc_trace_fit;

/// The pendulum: the largest error of lambda, the step where it is, the largest one after 100 steps.
enum { PENDULUM_LAMBDA, PENDULUM_STEP, PENDULUM_LATER };
paper_measure_fn abc_pendulum;
paper_trace_fn abc_trace_pendulum; ///< exact less numerical lambda

/// The pendulum's energy that is lost until t_end; its change over time [J].
paper_measure_fn abc_energy;
paper_trace_fn abc_trace_energy;

/// q = t^3: the largest difference between the error of lambda and (T+^-1 T0)^n E_0.
paper_measure_fn abc_cubic;
enum { TRACE_ERROR, TRACE_RECURSION };
paper_trace_fn abc_trace_cubic;

/// The heavy top: the largest error of lambda in the first 60 steps, the step where it is, the largest errors of
/// q and lambda and the largest eta beyond the transient phase, at mesh points n >= 0.1 s/h + 1.
enum { TRANSIENT_LAMBDA, TRANSIENT_STEP, LATER_Q, LATER_LAMBDA, LATER_ETA };
paper_measure_fn abc_top;
/// The heavy top: x_3 and lambda at t_end.
enum { END_X3, END_LAMBDA };
paper_measure_fn abc_top_end;
/// LATER_LAMBDA with loose tolerances over that with the usual ones.
paper_measure_fn abc_top_loose;
/// lambda_3 of the method and of the reference, |eta|, and x_3, lambda_1, lambda_2 of the method.
enum { TRACE_LAMBDA, TRACE_REFERENCE, TRACE_ETA, TRACE_X3, TRACE_LAMBDA_1, TRACE_LAMBDA_2 };
paper_trace_fn abc_trace_top;

#endif
