/// Predicts the unknowns of a step by extrapolation from those of the last ones.
#ifndef ALPHASTEP_CORE_PREDICTOR_H
#define ALPHASTEP_CORE_PREDICTOR_H

enum { ASI_HISTORY = 4 };

typedef struct asi_predictor {
  int size;              ///< unknowns
  int n;                 ///< how many of them, from the first, tell which order predicts best
  int count;             ///< points in the history
  int points;            ///< points that are extrapolated from: the order plus one
  double t[ASI_HISTORY]; ///< newest first [s]
  double *z[ASI_HISTORY];
} asi_predictor;

/// Forgets everything.
void asi_predictor_reset(asi_predictor *p);
/// Takes over the unknowns at time t, and gives the oldest ones for others to be written to.
double *asi_predictor_push(asi_predictor *p, double t, double *z);
/// Extrapolates to time t.
void asi_predictor_extrapolate(const asi_predictor *p, double t, double *z);
/// Compares what one order less, this order and one order more would have predicted for time t with what
/// came out, and takes the best from now on. Call before the new unknowns are pushed.
void asi_predictor_learn(asi_predictor *p, double t, const double *z);

#endif
