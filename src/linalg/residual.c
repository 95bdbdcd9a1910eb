#include "linalg/residual.h"

#include <float.h>
#include <math.h>

double asi_backward_error(const asi_equations *e, const double *x, double *residual,
                          double *magnitude) {
  double size = 0.0;
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
  double largest = 0.0;
  for (int i = 0; i < e->n; ++i) {
    const double scale = magnitude[i] + 1e-6 * size * e->row_scale[i] + DBL_MIN;
    const double error = fabs(residual[i]) / scale;
    if (isnan(error)) return error;
    if (error > largest) largest = error;
  }
  return largest;
}
