/// Curves: tables are cubic between their points, by values and slopes there (Hermite).
///
/// With u = (x - x_i)/h, h = x_{i+1} - x_i, d = (y_{i+1} - y_i)/h and slopes s, between two points
///
///     y = y_i + h u (s_i + u ((3 d - 2 s_i - s_{i+1}) + u (s_i + s_{i+1} - 2 d)))
///
/// Spline: slopes such that second derivatives agree at the points and vanish at the ends. Monotone: the
/// weighted harmonic mean of the neighbouring d (Fritsch and Butland), zero where d changes its sign.
#include "elements/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static as_status check(const as_curve *def, const char *what, as_error *error) {
  if (!isfinite(def->constant) || !isfinite(def->slope))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s has the constant %g and the slope %g.", what, def->constant, def->slope);
  if (def->n < 0 || def->n == 1 || (def->n > 0 && (def->x == NULL || def->y == NULL)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s has a table of %d points: it needs two at least, x and y.", what, def->n);
  for (int i = 0; i < def->n; ++i) {
    if (!isfinite(def->x[i]) || !isfinite(def->y[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "%s has the point (%g, %g) in its table.", what, def->x[i], def->y[i]);
    if (i > 0 && !(def->x[i] > def->x[i - 1]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "%s has a table whose x does not increase from %g to %g.", what,
                      def->x[i - 1], def->x[i]);
  }
  if (def->interpolation != AS_SPLINE && def->interpolation != AS_MONOTONE)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s has the unknown interpolation %d.", what, (int)def->interpolation);
  return AS_OK;
}

/// h_i s_{i-1} + 2 (h_{i-1} + h_i) s_i + h_{i-1} s_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i), and
/// 2 s_0 + s_1 = 3 d_0 likewise at the end: by elimination, `upper` is scratch.
static void spline_slopes(asi_curve *c, double *upper) {
  const int n = c->n;
  for (int i = 0; i < n; ++i) {
    double low = 1.0, middle = 2.0, high = 1.0, right;
    const double h0 = i > 0 ? c->x[i] - c->x[i - 1] : 0.0;
    const double h1 = i + 1 < n ? c->x[i + 1] - c->x[i] : 0.0;
    const double d0 = i > 0 ? (c->y[i] - c->y[i - 1]) / h0 : 0.0;
    const double d1 = i + 1 < n ? (c->y[i + 1] - c->y[i]) / h1 : 0.0;
    if (i == 0) {
      low = 0.0;
      right = 3.0 * d1;
    } else if (i + 1 == n) {
      high = 0.0;
      right = 3.0 * d0;
    } else {
      low = h1;
      middle = 2.0 * (h0 + h1);
      high = h0;
      right = 3.0 * (h1 * d0 + h0 * d1);
    }
    const double pivot = middle - (i > 0 ? low * upper[i - 1] : 0.0);
    upper[i] = high / pivot;
    c->slope[i] = (right - (i > 0 ? low * c->slope[i - 1] : 0.0)) / pivot;
  }
  for (int i = n - 2; i >= 0; --i) c->slope[i] -= upper[i] * c->slope[i + 1];
}

static void monotone_slopes(asi_curve *c) {
  const int n = c->n;
  for (int i = 0; i < n; ++i) {
    const int left = i > 0 ? i - 1 : 0, right = i + 1 < n ? i : n - 2;
    const double h0 = c->x[left + 1] - c->x[left], h1 = c->x[right + 1] - c->x[right];
    const double d0 = (c->y[left + 1] - c->y[left]) / h0, d1 = (c->y[right + 1] - c->y[right]) / h1;
    const double w0 = 2.0 * h1 + h0, w1 = h1 + 2.0 * h0;
    c->slope[i] = d0 * d1 > 0.0 ? (w0 + w1) / (w0 / d0 + w1 / d1) : 0.0;
    if (left == right) c->slope[i] = d0;
  }
}

/// One piece at u in [0, 1]: value, derivatives and the integral from its left end.
static void piece(const asi_curve *c, int i, double u, double out[4]) {
  const double h = c->x[i + 1] - c->x[i], d = (c->y[i + 1] - c->y[i]) / h;
  const double s = c->slope[i], a = 3.0 * d - 2.0 * s - c->slope[i + 1],
               b = s + c->slope[i + 1] - 2.0 * d;
  out[0] = c->y[i] + h * u * (s + u * (a + u * b));
  out[1] = s + u * (2.0 * a + 3.0 * u * b);
  out[2] = (2.0 * a + 6.0 * u * b) / h;
  out[3] = h * u * (c->y[i] + h * u * (s / 2.0 + u * (a / 3.0 + u * b / 4.0)));
}

static as_status take(asi_curve *c, int n, as_error *error) {
  c->n = n;
  if (n == 0) return AS_OK;
  c->x = asi_calloc(4 * (size_t)n, sizeof(double));
  if (c->x == NULL) return asi_fail_memory(error);
  c->y = c->x + n;
  c->slope = c->y + n;
  c->integral = c->slope + n;
  return AS_OK;
}

as_status asi_curve_init(asi_curve *c, const as_curve *def, const char *what, as_error *error) {
  *c = (asi_curve){0};
  as_status status = check(def, what, error);
  if (status == AS_OK) status = take(c, def->function ? 0 : def->n, error);
  if (status) return status;
  c->given = *def;
  c->given.x = c->given.y = NULL;
  if (c->n == 0) return AS_OK;
  memcpy(c->x, def->x, (size_t)c->n * sizeof(double));
  memcpy(c->y, def->y, (size_t)c->n * sizeof(double));
  if (def->interpolation == AS_MONOTONE)
    monotone_slopes(c);
  else
    spline_slopes(c, c->integral);
  c->integral[0] = 0.0;
  for (int i = 0; i + 1 < c->n; ++i) {
    double out[4];
    piece(c, i, 1.0, out);
    c->integral[i + 1] = c->integral[i] + out[3];
  }
  return AS_OK;
}

as_status asi_curve_copy(asi_curve *c, const asi_curve *from, as_error *error) {
  *c = (asi_curve){.given = from->given};
  const as_status status = take(c, from->n, error);
  if (status == AS_OK && c->n > 0) memcpy(c->x, from->x, 4 * (size_t)c->n * sizeof(double));
  return status;
}

void asi_curve_free(asi_curve *c) {
  free(c->x);
  *c = (asi_curve){0};
}

/// A table's value, derivatives and its integral from x[0].
static void table(const asi_curve *c, double x, double out[4]) {
  const int last = c->n - 1;
  const int end = x < c->x[0] ? 0 : x > c->x[last] ? last : -1;
  if (end >= 0) {
    const double e = x - c->x[end], y = c->y[end], s = c->slope[end];
    out[0] = y + s * e;
    out[1] = s;
    out[2] = 0.0;
    out[3] = c->integral[end] + e * (y + s * e / 2.0);
    return;
  }
  int low = 0, high = last; // x[low] <= x <= x[high]
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (c->x[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  piece(c, low, (x - c->x[low]) / (c->x[low + 1] - c->x[low]), out);
  out[3] += c->integral[low];
}

int asi_curve_evaluate(const asi_curve *c, double x, double out[3]) {
  if (c->given.function) return c->given.function(x, out, c->given.user);
  if (c->n > 0) {
    double all[4];
    table(c, x, all);
    memcpy(out, all, 3 * sizeof(double));
    return 0;
  }
  out[0] = c->given.constant + c->given.slope * x;
  out[1] = c->given.slope;
  out[2] = 0.0;
  return 0;
}

/// A C function's integral: Gauss' rule with four points in 64 pieces.
static double integrate(const asi_curve *c, double x) {
  static const double node[2] = {0.33998104358485626, 0.86113631159405258};
  static const double weight[2] = {0.65214515486254614, 0.34785484513745386};
  enum { PIECES = 64 };
  const double half = x / (2.0 * PIECES);
  double sum = 0.0;
  for (int i = 0; i < PIECES; ++i)
    for (int k = 0; k < 4; ++k) {
      double out[3] = {0};
      const double place = (2.0 * i + 1.0 + (k % 2 ? 1.0 : -1.0) * node[k / 2]) * half;
      c->given.function(place, out, c->given.user);
      sum += weight[k / 2] * out[0];
    }
  return sum * half;
}

double asi_curve_integral(const asi_curve *c, double x) {
  if (c->given.function) return integrate(c, x);
  if (c->n == 0) return x * (c->given.constant + c->given.slope * x / 2.0);
  double at[4], zero[4];
  table(c, x, at);
  table(c, 0.0, zero);
  return at[3] - zero[3];
}
