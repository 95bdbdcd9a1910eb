#include "linalg/residual.h"

#include <float.h>
#include <math.h>

double asi_backward_error(const asi_equations *e, const double *x, double *residual,
                          double *magnitude) {
  double size = 0.0, largest = 0.0;
  for (int i = 0; i < e->n; ++i) {
    residual[i] = e->b[i];
    magnitude[i] = fabs(e->b[i]);
    if (fabs(x[i]) > size) size = fabs(x[i]);
  }
  for (int j = 0; j < e->n; ++j) {
    for (int k = e->col_start[j]; k < e->col_start[j + 1]; ++k) {
      const double product = e->value[k] * x[j];
      residual[e->row[k]] -= product;
      magnitude[e->row[k]] += fabs(product);
    }
  }
  for (int i = 0; i < e->n; ++i) {
    const double scale = magnitude[i] + 1e-6 * size * e->row_scale[i] + DBL_MIN;
    const double error = fabs(residual[i]) / scale;
    if (!(error < (double)INFINITY)) return (double)INFINITY;
    largest = fmax(largest, error);
  }
  return largest;
}

bool asi_satisfies(const asi_equations *e, const double *x, double tolerance, double *residual,
                   double *magnitude) {
  return asi_backward_error(e, x, residual, magnitude) <= tolerance;
}
