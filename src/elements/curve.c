/// Curves: tables are cubic between their points, by values and slopes there (Hermite), or straight.
///
/// With u = (x - x_i)/h, h = x_{i+1} - x_i, d = (y_{i+1} - y_i)/h and slopes s, between two points
///
///     y = y_i + h u (s_i + u ((3 d - 2 s_i - s_{i+1}) + u (s_i + s_{i+1} - 2 d)))
///
/// Spline: slopes such that second derivatives agree at the points and vanish at the ends. Monotone: the
/// weighted harmonic mean of the neighbouring d (Fritsch and Butland), zero where d changes its sign. Linear: s = d;
/// at a point of the table, where the slope jumps, it is that of the piece to the right.
#include "elements/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/gauss.h"
#include "elements/road.h"
#include "elements/surface.h"

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
  if (def->interpolation != AS_SPLINE && def->interpolation != AS_MONOTONE &&
      def->interpolation != AS_LINEAR)
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

double asi_monotone_slope(double h0, double d0, double h1, double d1) {
  const double w0 = 2.0 * h1 + h0, w1 = h1 + 2.0 * h0;
  return d0 * d1 > 0.0 ? (w0 + w1) / (w0 / d0 + w1 / d1) : 0.0;
}

static void monotone_slopes(asi_curve *c) {
  const int n = c->n;
  for (int i = 0; i < n; ++i) {
    const int left = i > 0 ? i - 1 : 0, right = i + 1 < n ? i : n - 2;
    const double h0 = c->x[left + 1] - c->x[left], h1 = c->x[right + 1] - c->x[right];
    const double d0 = (c->y[left + 1] - c->y[left]) / h0, d1 = (c->y[right + 1] - c->y[right]) / h1;
    c->slope[i] = left == right ? d0 : asi_monotone_slope(h0, d0, h1, d1);
  }
}

/// Of the piece to the right of each point; the last point has that of the last piece.
static void linear_slopes(asi_curve *c) {
  for (int i = 0; i < c->n; ++i) {
    const int k = i + 1 < c->n ? i : i - 1;
    c->slope[i] = (c->y[k + 1] - c->y[k]) / (c->x[k + 1] - c->x[k]);
  }
}

/// One piece at u in [0, 1]: value, derivatives and the integral from its left end.
static void piece(const asi_curve *c, int i, double u, double out[4]) {
  const double h = c->x[i + 1] - c->x[i], d = (c->y[i + 1] - c->y[i]) / h;
  const double s = c->slope[i], s1 = c->slope[i + 1];
  const bool straight = c->given.interpolation == AS_LINEAR;
  const double a = straight ? 0.0 : 3.0 * d - 2.0 * s - s1, b = straight ? 0.0 : s + s1 - 2.0 * d;
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
  c->given.formula = NULL;
  if (c->n == 0) return AS_OK;
  memcpy(c->x, def->x, (size_t)c->n * sizeof(double));
  memcpy(c->y, def->y, (size_t)c->n * sizeof(double));
  if (def->interpolation == AS_MONOTONE)
    monotone_slopes(c);
  else if (def->interpolation == AS_LINEAR)
    linear_slopes(c);
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
  *c = (asi_curve){.given = from->given, .of_time = from->of_time};
  if (from->formula) {
    c->formula = asi_formula_copy(from->formula);
    return c->formula ? AS_OK : asi_fail_memory(error);
  }
  if (from->surface) {
    c->surface = asi_surface_copy(from->surface);
    return c->surface ? AS_OK : asi_fail_memory(error);
  }
  if (from->road) {
    c->road = asi_road_copy(from->road);
    return c->road ? AS_OK : asi_fail_memory(error);
  }
  const as_status status = take(c, from->n, error);
  if (status == AS_OK && c->n > 0) memcpy(c->x, from->x, 4 * (size_t)c->n * sizeof(double));
  return status;
}

bool asi_curves_copy(const asi_curve *from, int n, asi_curve **out, int *n_out) {
  *n_out = 0;
  *out = asi_calloc((size_t)n, sizeof **out);
  for (; *out && *n_out < n; ++*n_out)
    if (asi_curve_copy(&(*out)[*n_out], &from[*n_out], NULL)) return false;
  return *out != NULL;
}

void asi_curve_free(asi_curve *c) {
  free(c->x);
  free(c->surface);
  free(c->road);
  free(c->formula);
  *c = (asi_curve){0};
}

int asi_find_piece(const double *x, int n, double at) {
  int low = 0, high = n - 1; // x[low] <= at <= x[high]
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (x[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  return low;
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
  const int low = asi_find_piece(c->x, c->n, x);
  piece(c, low, (x - c->x[low]) / (c->x[low + 1] - c->x[low]), out);
  out[3] += c->integral[low];
}

int asi_curve_evaluate(const asi_curve *c, double x, double out[3]) {
  if (c->formula) return asi_formula_at(c->formula, x, out);
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

double asi_curve_point(const asi_curve *c, double x, bool up, bool *kink) {
  *kink = c->given.interpolation == AS_LINEAR;
  const double none = up ? (double)INFINITY : -(double)INFINITY;
  const int last = c->n - 1;
  if (c->n == 0 || (up ? !(x < c->x[last]) : !(x > c->x[0]))) return none;
  if (up ? x < c->x[0] : x > c->x[last]) return c->x[up ? 0 : last];
  const int i = asi_find_piece(c->x, c->n, x);
  return up ? c->x[i + 1] : c->x[c->x[i] < x ? i : i - 1];
}

static double value_at(double x, const void *data) {
  double out[3] = {0};
  asi_curve_evaluate(data, x, out);
  return out[0];
}

double asi_curve_integral(const asi_curve *c, double x) {
  enum { PIECES = 64 };
  if (c->given.function) return asi_gauss(value_at, c, 0.0, x, PIECES);
  if (c->n == 0) return x * (c->given.constant + c->given.slope * x / 2.0);
  double at[4], zero[4];
  table(c, x, at);
  table(c, 0.0, zero);
  return at[3] - zero[3];
}

int asi_curve_formulas(const asi_curve *c, const asi_formula **out) {
  if (c == NULL || c->formula == NULL) return 0;
  *out = c->formula;
  return 1;
}
