/// Extrapolation through the last points.
///
/// Polynomials go through one to four points, with Lagrange's weights, so that steps may differ.
///
/// What Newton's method leaves of an error goes on: where constraints, or stiff springs, rule a motion, it comes back in
/// each step after, with the roots that the method has for infinite frequencies. They are negative: it alternates from step to
/// step with the other sign, and a polynomial through such points is far off where the next one is. With E z_n = z_{n+1},
/// R the polynomial with these roots and equal steps
///
///     [NW.13]  R(E) (E - 1)^4 z = 0
///
/// for all parasitic modes and for cubic polynomials: the newest z follows from those before.
#include "core/stepper/predictor.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

void asi_predictor_reset(asi_predictor *p) {
  p->count = 0;
  p->points = 2;
  p->extrapolates_parasites = false;
}

double *asi_predictor_push(asi_predictor *p, double t, double *z) {
  double *const oldest = p->z[ASI_HISTORY - 1];
  for (int i = ASI_HISTORY - 1; i > 0; --i) {
    p->z[i] = p->z[i - 1];
    p->t[i] = p->t[i - 1];
  }
  p->z[0] = z;
  p->t[0] = t;
  if (p->count < ASI_HISTORY) ++p->count;
  return oldest;
}

/// [NW.6] weight_i = prod_{j != i} (t - t_j) / (t_i - t_j)
static void polynomial_weights(const asi_predictor *p, int points, double t, double *weight) {
  for (int i = 0; i < points; ++i) {
    weight[i] = 1.0;
    for (int j = 0; j < points; ++j)
      if (j != i) weight[i] *= (t - p->t[j]) / (p->t[i] - p->t[j]);
  }
}

/// [NW.13] the coefficients of R(E) (E - 1)^4 but the first, with the other sign
static void parasitic_weights(const asi_predictor *p, double *weight) {
  double power[1 + ASI_HISTORY] = {0.0};
  memcpy(power, p->parasitic_roots, (size_t)(1 + p->n_parasitic_roots) * sizeof(double));
  for (int k = 0; k < ASI_MOST_POINTS; ++k)
    for (int i = p->n_parasitic_roots + k + 1; i > 0; --i) power[i] -= power[i - 1];
  for (int i = 0; i < p->n_parasitic_roots + ASI_MOST_POINTS; ++i) weight[i] = -power[i + 1];
}

static int smaller(int a, int b) { return a < b ? a : b; }

/// Whether the last points that an extrapolation of parasitic modes takes are as far from each other as the newest is from t.
static bool may_be_parasitic(const asi_predictor *p, double t) {
  const double h = t - p->t[0];
  const int points = p->n_parasitic_roots + ASI_MOST_POINTS;
  bool equal = p->n_parasitic_roots > 0 && p->count >= points;
  for (int i = 1; i < points && equal; ++i) equal = fabs(p->t[i - 1] - p->t[i] - h) <= 1e-6 * h;
  return equal;
}

/// What the points make of component k, and of the next one, for a constant number of points.
ASI_INLINED asi_simd2 two_at(const asi_predictor *p, const double *weight, int points, int k) {
  asi_simd2 sum = asi_simd_splat(weight[0]) * asi_simd_load(p->z[0] + k);
#pragma GCC unroll 7
  for (int i = 1; i < points; ++i) sum += asi_simd_splat(weight[i]) * asi_simd_load(p->z[i] + k);
  return sum;
}

static double one_at(const asi_predictor *p, const double *weight, int points, int k) {
  double sum = 0.0;
  for (int i = 0; i < points; ++i) sum += weight[i] * p->z[i][k];
  return sum;
}

ASI_INLINED void extrapolate(const asi_predictor *of, const double *weight, int points, double *z) {
  const asi_predictor copy = *of, *const p = &copy; // nothing that is stored changes it
  for (int k = 0; k + 1 < p->size; k += 2) asi_simd_store(z + k, two_at(p, weight, points, k));
  if (p->size % 2) z[p->size - 1] = one_at(p, weight, points, p->size - 1);
}

void asi_predictor_extrapolate(const asi_predictor *p, double t, double *z) {
  const bool extrapolates_parasites = p->extrapolates_parasites && may_be_parasitic(p, t);
  const int points = extrapolates_parasites ? p->n_parasitic_roots + ASI_MOST_POINTS
                                            : smaller(p->points, p->count);
  double weight[ASI_HISTORY];
  if (extrapolates_parasites)
    parasitic_weights(p, weight);
  else
    polynomial_weights(p, points, t, weight);
  switch (points) {
  case 1: extrapolate(p, weight, 1, z); break;
  case 2: extrapolate(p, weight, 2, z); break;
  case 3: extrapolate(p, weight, 3, z); break;
  case 4: extrapolate(p, weight, 4, z); break;
  case 6: extrapolate(p, weight, 6, z); break;
  default: extrapolate(p, weight, ASI_HISTORY, z);
  }
}

enum { CHOICES = 3 };

/// The squares of what `fewest` points miss of z, and one and two more.
ASI_INLINED void misses(const asi_predictor *p, double weight[CHOICES][ASI_HISTORY], int fewest,
                        const double *z, double square[CHOICES]) {
  asi_simd2 sum[CHOICES] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  for (int k = 0; k + 1 < p->n; k += 2)
#pragma GCC unroll 3
    for (int c = 0; c < CHOICES; ++c) {
      const asi_simd2 error = asi_simd_load(z + k) - two_at(p, weight[c], fewest + c, k);
      const asi_simd2 relative = error * asi_simd_load(p->per + k);
      sum[c] += relative * relative;
    }
  for (int c = 0; c < CHOICES; ++c) {
    const int k = p->n - 1;
    const double last = p->n % 2 ? (z[k] - one_at(p, weight[c], fewest + c, k)) * p->per[k] : 0.0;
    square[c] = sum[c][0] + sum[c][1] + last * last;
  }
}

/// The square of what the extrapolation of parasitic modes misses of z, for a constant number of points.
ASI_INLINED double parasitic_misses(const asi_predictor *p, int points, const double *z) {
  double weight[ASI_HISTORY];
  asi_simd2 sum = asi_simd_splat(0.0);
  parasitic_weights(p, weight);
  for (int k = 0; k + 1 < p->n; k += 2) {
    const asi_simd2 error =
        (asi_simd_load(z + k) - two_at(p, weight, points, k)) * asi_simd_load(p->per + k);
    sum += error * error;
  }
  const int k = p->n - 1;
  const double last = p->n % 2 ? (z[k] - one_at(p, weight, points, k)) * p->per[k] : 0.0;
  return sum[0] + sum[1] + last * last;
}

/// Learns the number of points; the square of what they miss.
static double learn_points(asi_predictor *p, double t, const double *z) {
  const int current = smaller(p->points, p->count), fewest = current < ASI_MOST_POINTS - 1 ? 1 : 2;
  double weight[CHOICES][ASI_HISTORY] = {{0.0}}, square[CHOICES], least = (double)INFINITY;
  for (int c = 0; c < CHOICES && fewest + c <= p->count; ++c)
    polynomial_weights(p, fewest + c, t, weight[c]);
  if (fewest == 1)
    misses(p, weight, 1, z, square);
  else
    misses(p, weight, 2, z, square);
  p->points = current;
  for (int points = fewest; points < fewest + CHOICES && points <= p->count; ++points) {
    if (points < current - 1 || points > current + 1) continue;
    if (!(square[points - fewest] < least)) continue;
    least = square[points - fewest];
    p->points = points;
  }
  return least;
}

void asi_predictor_learn(asi_predictor *p, double t, const double *z) {
  const double least = learn_points(p, t, z);
  p->extrapolates_parasites = false;
  if (!may_be_parasitic(p, t)) return;
  p->extrapolates_parasites =
      (p->n_parasitic_roots == ASI_MOST_PARASITIC_ROOTS
           ? parasitic_misses(p, ASI_MOST_PARASITIC_ROOTS + ASI_MOST_POINTS, z)
           : parasitic_misses(p, p->n_parasitic_roots + ASI_MOST_POINTS, z)) < least;
}
