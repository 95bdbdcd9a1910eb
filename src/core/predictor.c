/// Extrapolation through the last points, with Lagrange's weights, so that steps may differ.
#include "core/predictor.h"

#include <math.h>
#include <string.h>

#include "base/two.h"

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

/// The square of what the points miss of z.
ASI_INLINED double miss(const asi_predictor *p, const double *weight, int points, const double *z) {
  asi_two sum = asi_both(0.0);
  for (int k = 0; k + 1 < p->n; k += 2) {
    const asi_two error = asi_load_two(z + k) - two_at(p, weight, points, k);
    sum += error * error;
  }
  const double last = p->n % 2 ? z[p->n - 1] - one_at(p, weight, points, p->n - 1) : 0.0;
  return sum[0] + sum[1] + last * last;
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
  const int current = usable_points(p);
  int best = current;
  double least = (double)INFINITY;
  for (int points = current - 1; points <= current + 1; ++points) {
    if (points < 1 || points > p->count) continue;
    double weight[ASI_HISTORY], sum;
    weights(p, points, t, weight);
    switch (points) {
    case 1: sum = miss(p, weight, 1, z); break;
    case 2: sum = miss(p, weight, 2, z); break;
    case 3: sum = miss(p, weight, 3, z); break;
    default: sum = miss(p, weight, ASI_HISTORY, z);
    }
    if (sum < least) {
      least = sum;
      best = points;
    }
  }
  p->points = best;
}
