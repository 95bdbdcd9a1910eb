/// Coordinates of one frame against another with their gradients, and forces along them.
#ifndef ALPHASTEP_ELEMENTS_COORDINATE_H
#define ALPHASTEP_ELEMENTS_COORDINATE_H

#include "base/export.h"
#include "elements/joint.h"

/// A sum of axes rows or separation rows: value, rate and gradients of both; second derivative at v' = 0.
typedef struct asi_row_sum {
  double value, rate, acceleration, q[ASI_PAIR], rate_q[ASI_PAIR];
} asi_row_sum;

/// What is wanted of a sum besides its value; the rest is zero.
enum {
  ASI_SUM_RATE = 1,
  ASI_SUM_Q = 2,
  ASI_SUM_RATE_Q = 4,
  ASI_SUM_ACCELERATION = 8,
  ASI_SUM_TANGENTS = ASI_SUM_RATE | ASI_SUM_Q | ASI_SUM_RATE_Q,
};

asi_row_sum asi_axes_sum(const asi_pair *pair, const asi_row *rows, int n,
                         const as_element_input *in, unsigned wanted);

/// What coordinates of a kind, their rates and second derivatives are called, and their units.
typedef struct asi_family {
  const char *name, *unit, *rate_name, *rate_unit, *acceleration_name;
} asi_family;

ASI_IO asi_family asi_coordinate_family(asi_coordinate_kind kind);
/// The letter behind a coordinate's name: several that follow each other and have one name are its components. '\0': it
/// is the only one.
ASI_IO char asi_coordinate_letter(const asi_coordinate *all, int n, int i);

/// A coordinate c of B against A where it was measured.
typedef struct asi_measure {
  asi_pair pair;
  asi_coordinate of;
  double value, rate;       ///< c, c'
  double acceleration;      ///< c'' at v' = 0
  double q[ASI_PAIR];       ///< c_q
  double rate_q[ASI_PAIR];  ///< D_q c'
  asi_row_sum sine, cosine; ///< of an angle
  double n, m[ASI_PAIR];    ///< of an angle, see coordinate.c
} asi_measure;

/// Measures a displacement, or an angle within half a turn of `near`. False where an angle is undefined.
bool asi_measure_coordinate(asi_measure *x, asi_coordinate of, const as_element_input *in,
                            const asi_frame_now *A, const asi_frame_now *B, double near);

/// The same without rates, their derivatives and accelerations.
bool asi_measure_place(asi_measure *x, asi_coordinate of, const as_element_input *in,
                       const asi_frame_now *A, const asi_frame_now *B, double near);

/// The value alone, or the rate alone; the same in every bit.
bool asi_coordinate_value(asi_coordinate of, const as_element_input *in, const asi_frame_now *A,
                          const asi_frame_now *B, double near, bool rate, double *out);

/// Adds -force D_q c_q^T, 12 x 12.
void asi_measure_curvature(const asi_measure *x, double force, double *f_q);

/// Brings an angle within half a turn of another; where it is opposite, half a turn behind it.
double asi_unwrap(double angle, double near);

/// Adds the force of a law against c and its tangents; law: S, S_c, S_c'.
void asi_act_along(const asi_measure *x, const double law[3], const as_element_output *out);

#endif
