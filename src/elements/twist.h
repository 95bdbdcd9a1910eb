/// The angle of one frame against another about z, with its derivatives: what springs, screws, gears and
/// constant-velocity joints turn by.
#ifndef ALPHASTEP_ELEMENTS_TWIST_H
#define ALPHASTEP_ELEMENTS_TWIST_H

#include <stdbool.h>

#include "elements/rows.h"

/// What is wanted of an angle besides its value.
enum { ASI_TWIST_TANGENT = 1, ASI_TWIST_RATE = 2, ASI_TWIST_ACCELERATION = 4 };

/// A sum of two axes rows and its derivatives.
typedef struct asi_axes_sum {
  double value, rate, acceleration, q[ASI_PAIR], rate_q[ASI_PAIR];
} asi_axes_sum;

typedef struct asi_twist_now {
  double value; ///< [rad]
  double rate, acceleration;
  double q[ASI_PAIR], rate_q[ASI_PAIR];
  // What they are made of, see twist.c.
  asi_axes_sum s, c;
  double n, m[ASI_PAIR];
} asi_twist_now;

/// Measures the angle, within half a turn of `near`, and what else is wanted (rate_q with tangent and rate).
/// False where there is none: the z axes are opposite.
bool asi_twist_measure(const asi_pair *pair, double near, unsigned wanted, asi_twist_now *out);

/// Angle of B against A about z, within half a turn of `near`; `near` where there is none.
double asi_twist(const as_body_motion *a, const as_body_motion *b, const asi_frame_now *A,
                 const asi_frame_now *B, double near);

/// Adds -torque D_q (value_q^T), 12 x 12; needs the tangent.
void asi_twist_curvature(const asi_pair *pair, const asi_twist_now *x, double torque, double *f_q);

/// One row: adds factor times the angle, within half a turn of `near`, to row r. AS_DONE or AS_RETRY.
int asi_twist_row(const asi_pair *pair, double factor, double near, const as_element_input *in,
                  const as_element_output *out, int r);

/// Brings an angle within half a turn of another.
double asi_unwrap(double angle, double near);

#endif
