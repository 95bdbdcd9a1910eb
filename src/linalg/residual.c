#include "linalg/residual.h"

#include <math.h>

bool asi_satisfies(const asi_equations *e, const double *x, double tolerance, double round_off,
                   double *residual, double *magnitude) {
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
  size *= round_off;
  for (int i = 0; i < e->n; ++i) {
    const double allowed = tolerance * magnitude[i] + size * e->row_scale[i];
    if (!(fabs(residual[i]) <= allowed && allowed < (double)INFINITY)) return false;
  }
  return true;
}
