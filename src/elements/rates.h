/// Rates of frame B against frame A, linear in the velocities: what friction acts against and what velocity rows are
/// made of.
#ifndef ALPHASTEP_ELEMENTS_RATES_H
#define ALPHASTEP_ELEMENTS_RATES_H

#include "elements/joint.h"
#include "elements/rows.h"

/// A rate c = by_v . v and its derivatives.
typedef struct asi_rate {
  double value;
  double change; ///< d/dt c at v' = 0
  double by_v[ASI_PAIR];
  double by_q[ASI_PAIR]; ///< D_q c at fixed v
} asi_rate;

/// Two frames that do not move against their bodies, with everything that rates need.
asi_pair asi_rate_pair(const as_element_input *in, const asi_frame frame[2]);

/// Rate of the displacement along an axis of A, or angular velocity about an axis of A or of B.
void asi_rate_evaluate(const asi_pair *pair, asi_coordinate what, asi_rate *out);
/// Adds D_q(-by_v^T tau) at fixed tau to a 12 x 12 matrix.
void asi_rate_curvature(const asi_pair *pair, asi_coordinate what, double tau, double *f_q);

#endif
