/// Predicts the unknowns of a step by extrapolation from those of the last ones.
#ifndef ALPHASTEP_CORE_PREDICTOR_H
#define ALPHASTEP_CORE_PREDICTOR_H

#include <stdbool.h>

enum {
  ASI_MOST_POINTS = 4,
  ASI_MOST_PARASITIC_ROOTS = 3,
  ASI_HISTORY = ASI_MOST_POINTS + ASI_MOST_PARASITIC_ROOTS
};

typedef struct asi_predictor {
  int size;          ///< unknowns
  int n;             ///< how many of them, from the first, tell which way predicts best
  const double *per; ///< n, and one more: 1 / their typical sizes
  int count;         ///< points in the history
  int points;        ///< points that a polynomial goes through: its order plus one
  bool
      extrapolates_parasites; ///< what errors do later is extrapolated instead, and a cubic polynomial
  double t[ASI_HISTORY];      ///< newest first [s]
  double *z[ASI_HISTORY];
  int n_parasitic_roots; ///< how many roots of the method errors ring on with; 0: it is not known
  double parasitic_roots
      [1 +
       ASI_MOST_PARASITIC_ROOTS]; ///< the polynomial that has these roots, from its highest power, 1, on
} asi_predictor;

/// Forgets everything.
void asi_predictor_reset(asi_predictor *p);
/// Takes over the unknowns at time t, and gives the oldest ones for others to be written to.
double *asi_predictor_push(asi_predictor *p, double t, double *z);
/// Extrapolates to time t.
void asi_predictor_extrapolate(const asi_predictor *p, double t, double *z);
/// Compares what one order less, this order, one order more and parasitic modes would have predicted for time t with what
/// came out, and takes the best from now on. Call before the new unknowns are pushed.
void asi_predictor_learn(asi_predictor *p, double t, const double *z);

#endif
