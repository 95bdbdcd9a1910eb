/// Runs a test problem and measures its errors: what the order tests share.
#ifndef TESTS_OBSERVE_H
#define TESTS_OBSERVE_H

#include "alphastep/alphastep.h"
#include "problems/problems.h"

/// Errors against the exact solution: root of the sum of squares over components and the times looked
/// at.
typedef struct errors {
  double q;      ///< of the group's logarithm of the difference
  double v;      ///< raw
  double vdot;   ///< at t
  double a;      ///< against v' at t + a_offset
  double lambda; ///< 0 if there are no constraints
  double eta;    ///< size of eta itself, index-2 only
} errors;

/// Integrates `p` with the given description (its step is replaced by h) to each of the `n_times`
/// times and sums up the errors there. Fails the test on any failure of the library.
errors observe(const test_problem *p, as_integrator_def def, double h, const double *times,
               int n_times);

/// log2 of the ratio of two errors.
double observed_order(double coarse, double fine);

#endif
