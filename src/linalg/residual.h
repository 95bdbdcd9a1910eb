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

/// Whether |b - A x|_i <= tolerance (|A| |x| + |b|)_i + round_off row_scale_i max |x| in each row: a relative change of A and b by
/// `tolerance` makes x exact, but for what round-off makes of the largest unknown (Oettli and Prager; Arioli, Demmel and
/// Duff). False if x is not finite. `residual` receives b - A x, `magnitude` is scratch; n numbers each.
bool asi_satisfies(const asi_equations *e, const double *x, double tolerance, double round_off,
                   double *residual, double *magnitude);

#endif
