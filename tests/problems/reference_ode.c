/// Gragg's extrapolated midpoint rule with fixed steps.
///
/// The explicit midpoint rule with an even number of substeps has an error expansion in even powers
/// of the substep. Eight results, with 2, 4, ... 16 substeps, are extrapolated to zero by Aitken
/// and Neville: order 16. Increments instead of values are extrapolated, which keeps the round-off
/// of a step proportional to the step. Hairer, Norsett, Wanner: Solving ODEs I, section II.9.
#include "problems/reference_ode.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { COLUMNS = 8 };

/// Takes y over H with m substeps; writes the increment.
static void midpoint(reference_rhs *rhs, const void *context, int n, double t, double H, int m,
                     const double *y, double *increment) {
  double h = H / m;
  double before[REFERENCE_MAX] = {0}, at[REFERENCE_MAX], dy[REFERENCE_MAX];
  double *now = increment;
  rhs(t, y, dy, context);
  for (int i = 0; i < n; i++) {
    now[i] = h * dy[i];
  }
  for (int k = 1; k < m; k++) {
    for (int i = 0; i < n; i++) {
      at[i] = y[i] + now[i];
    }
    rhs(t + k * h, at, dy, context);
    for (int i = 0; i < n; i++) {
      double next = before[i] + 2.0 * h * dy[i];
      before[i] = now[i];
      now[i] = next;
    }
  }
}

void reference_ode(reference_rhs *rhs, const void *context, int n, double t0, double t1,
                   double max_step, double *y) {
  assert(n <= REFERENCE_MAX && max_step > 0.0);
  int steps = (int)ceil(fabs(t1 - t0) / max_step);
  double table[COLUMNS][REFERENCE_MAX];
  double lost[REFERENCE_MAX] = {0}; // what y + increment rounded off (Kahan)
  for (int s = 0; s < steps; s++) {
    double t = t0 + (t1 - t0) * s / steps;
    double H = (t1 - t0) / steps;
    // Row k holds T(k,0), overwritten by T(k,1), T(k,2), ... from the bottom up.
    for (int k = 0; k < COLUMNS; k++) {
      midpoint(rhs, context, n, t, H, 2 * (k + 1), y, table[k]);
    }
    for (int j = 1; j < COLUMNS; j++) {
      for (int k = COLUMNS - 1; k >= j; k--) {
        double ratio = (double)(k + 1) / (double)(k + 1 - j);
        for (int i = 0; i < n; i++) {
          table[k][i] += (table[k][i] - table[k - 1][i]) / (ratio * ratio - 1.0);
        }
      }
    }
    for (int i = 0; i < n; i++) {
      double increment = table[COLUMNS - 1][i] - lost[i];
      double sum = y[i] + increment;
      lost[i] = (sum - y[i]) - increment;
      y[i] = sum;
    }
  }
}

void reference_solve(int n, double *a, double *b) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) {
        pivot = i;
      }
    }
    for (int j = 0; j < n; j++) {
      double swap = a[k * n + j];
      a[k * n + j] = a[pivot * n + j];
      a[pivot * n + j] = swap;
    }
    double swap = b[k];
    b[k] = b[pivot];
    b[pivot] = swap;
    for (int i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (int j = k; j < n; j++) {
        a[i * n + j] -= factor * a[k * n + j];
      }
      b[i] -= factor * b[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      b[i] -= a[i * n + j] * b[j];
    }
    b[i] /= a[i * n + i];
  }
}

void reference_put(double *to, const double *from, int n) {
  if (to != NULL) {
    memcpy(to, from, (size_t)n * sizeof *to);
  }
}
