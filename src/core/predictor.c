/// Extrapolation through the last points, with Lagrange's weights, so that steps may differ.
#include "core/predictor.h"

#include <math.h>

#include "base/two.h"

void asi_predictor_reset(asi_predictor *p) {
  p->count = 0;
  p->points = 2;
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
static void weights(const asi_predictor *p, int points, double t, double *weight) {
  for (int i = 0; i < points; ++i) {
    weight[i] = 1.0;
    for (int j = 0; j < points; ++j)
      if (j != i) weight[i] *= (t - p->t[j]) / (p->t[i] - p->t[j]);
  }
}

static int usable_points(const asi_predictor *p) {
  return p->points < p->count ? p->points : p->count;
}

/// What the points make of component k, and of the next one, for a constant number of points.
ASI_INLINED asi_two two_at(const asi_predictor *p, const double *weight, int points, int k) {
  asi_two sum = asi_both(weight[0]) * asi_load_two(p->z[0] + k);
#pragma GCC unroll 4
  for (int i = 1; i < points; ++i) sum += asi_both(weight[i]) * asi_load_two(p->z[i] + k);
  return sum;
}

static double one_at(const asi_predictor *p, const double *weight, int points, int k) {
  double sum = 0.0;
  for (int i = 0; i < points; ++i) sum += weight[i] * p->z[i][k];
  return sum;
}

ASI_INLINED void extrapolate(const asi_predictor *of, const double *weight, int points, double *z) {
  const asi_predictor copy = *of, *const p = &copy; // nothing that is stored changes it
  for (int k = 0; k + 1 < p->size; k += 2) asi_store_two(z + k, two_at(p, weight, points, k));
  if (p->size % 2) z[p->size - 1] = one_at(p, weight, points, p->size - 1);
}

enum { CHOICES = 3 };

/// The squares of what `fewest` points miss of z, and one and two more.
ASI_INLINED void misses(const asi_predictor *p, double weight[CHOICES][ASI_HISTORY], int fewest,
                        const double *z, double square[CHOICES]) {
  asi_two sum[CHOICES] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  for (int k = 0; k + 1 < p->n; k += 2)
#pragma GCC unroll 3
    for (int c = 0; c < CHOICES; ++c) {
      const asi_two error = asi_load_two(z + k) - two_at(p, weight[c], fewest + c, k);
      sum[c] += error * error;
    }
  for (int c = 0; c < CHOICES; ++c) {
    const int k = p->n - 1;
    const double last = p->n % 2 ? z[k] - one_at(p, weight[c], fewest + c, k) : 0.0;
    square[c] = sum[c][0] + sum[c][1] + last * last;
  }
}

void asi_predictor_extrapolate(const asi_predictor *p, double t, double *z) {
  const int points = usable_points(p);
  double weight[ASI_HISTORY];
  weights(p, points, t, weight);
  switch (points) {
  case 1: extrapolate(p, weight, 1, z); break;
  case 2: extrapolate(p, weight, 2, z); break;
  case 3: extrapolate(p, weight, 3, z); break;
  default: extrapolate(p, weight, ASI_HISTORY, z);
  }
}

void asi_predictor_learn(asi_predictor *p, double t, const double *z) {
  const int current = usable_points(p), fewest = current < ASI_HISTORY - 1 ? 1 : ASI_HISTORY - 2;
  double weight[CHOICES][ASI_HISTORY] = {{0.0}}, square[CHOICES], least = (double)INFINITY;
  for (int c = 0; c < CHOICES && fewest + c <= p->count; ++c) weights(p, fewest + c, t, weight[c]);
  if (fewest == 1)
    misses(p, weight, 1, z, square);
  else
    misses(p, weight, ASI_HISTORY - 2, z, square);
  int best = current;
  for (int points = fewest; points < fewest + CHOICES; ++points) {
    if (points < current - 1 || points > current + 1 || points > p->count) continue;
    if (!(square[points - fewest] < least)) continue;
    least = square[points - fewest];
    best = points;
  }
  p->points = best;
}
