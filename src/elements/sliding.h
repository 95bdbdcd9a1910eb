/// Velocity rows as sums of factors times rates: k = sum of h(sigma) c, where the sigma are products of axes.
#ifndef ALPHASTEP_ELEMENTS_SLIDING_H
#define ALPHASTEP_ELEMENTS_SLIDING_H

#include "elements/rates.h"

/// sigma = (axis i of A) . (axis j of B): value, rate, gradient.
typedef struct asi_cosine {
  double value, rate, q[ASI_PAIR];
} asi_cosine;

asi_cosine asi_cosine_of(const asi_pair *pair, int i, int j);

/// A velocity row that is being added up.
typedef struct asi_sliding {
  const asi_pair *pair;
  const as_element_output *out;
  double psi; ///< its multiplier; 0 where f_q is not wanted
  int row;
} asi_sliding;

/// k += factor c
void asi_sliding_add(const asi_sliding *k, double factor, asi_coordinate what, const asi_rate *c);
/// The factor of c has the slope `slope` along sigma.
void asi_sliding_slope(const asi_sliding *k, double slope, const asi_cosine *sigma,
                       const asi_rate *c);

#endif
