/// Extrapolation through the last points, with Lagrange's weights, so that steps may differ.
#include "core/predictor.h"

#include <math.h>
#include <string.h>

void asi_predictor_reset(asi_predictor *p) {
  p->count = 0;
  p->points = 2;
}

void asi_predictor_push(asi_predictor *p, double t, const double *z) {
  double *oldest = p->z[ASI_HISTORY - 1];
  for (int i = ASI_HISTORY - 1; i > 0; --i) {
    p->z[i] = p->z[i - 1];
    p->t[i] = p->t[i - 1];
  }
  p->z[0] = oldest;
  p->t[0] = t;
  memcpy(oldest, z, (size_t)p->size * sizeof(double));
  if (p->count < ASI_HISTORY) ++p->count;
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

void asi_predictor_extrapolate(const asi_predictor *p, double t, double *z) {
  const int points = usable_points(p);
  double weight[ASI_HISTORY];
  weights(p, points, t, weight);
  for (int k = 0; k < p->size; ++k) z[k] = weight[0] * p->z[0][k];
  for (int i = 1; i < points; ++i)
    for (int k = 0; k < p->size; ++k) z[k] += weight[i] * p->z[i][k];
}

void asi_predictor_learn(asi_predictor *p, double t, const double *z) {
  const int current = usable_points(p);
  int best = current;
  double least = (double)INFINITY;
  for (int points = current - 1; points <= current + 1; ++points) {
    if (points < 1 || points > p->count) continue;
    double weight[ASI_HISTORY], sum = 0.0;
    weights(p, points, t, weight);
    for (int k = 0; k < p->n; ++k) {
      double error = z[k];
      for (int i = 0; i < points; ++i) error -= weight[i] * p->z[i][k];
      sum += error * error;
    }
    if (sum < least) {
      least = sum;
      best = points;
    }
  }
  p->points = best;
}
