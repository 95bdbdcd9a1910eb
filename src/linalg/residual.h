/// How well a solution satisfies its equations.
#ifndef ALPHASTEP_LINALG_RESIDUAL_H
#define ALPHASTEP_LINALG_RESIDUAL_H

#include <stdbool.h>

/// A x = b.
typedef struct asi_equations {
  int n;
  const int *col_start, *row;
  const double *value;
  const double *row_scale; ///< the largest entry of each row, roughly
  const double *b;
} asi_equations;

/// The largest |b - A x|_i / ((|A| |x| + |b|)_i + 1e-6 |A_i| |x|): a relative change of A and b that small makes x
/// exact, but for rows whose terms are all next to nothing. Infinite if x is not finite. `residual` receives
/// b - A x, `magnitude` is scratch; n numbers each.
double asi_backward_error(const asi_equations *e, const double *x, double *residual,
                          double *magnitude);

/// Whether that is at most `tolerance`.
bool asi_satisfies(const asi_equations *e, const double *x, double tolerance, double *residual,
                   double *magnitude);

#endif
