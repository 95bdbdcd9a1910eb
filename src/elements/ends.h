/// The two frames that a force element acts between, fixed to their bodies or moved against them in a given way.
#ifndef ALPHASTEP_ELEMENTS_ENDS_H
#define ALPHASTEP_ELEMENTS_ENDS_H

#include "elements/joint.h"

typedef struct asi_ends {
  asi_frame frame[2];
  asi_frame_motion motion[2];
} asi_ends;

/// Both at a time. Points into itself: not to be copied.
typedef struct asi_ends_now {
  asi_frame_now A, B;
  double store[2][36];
} asi_ends_now;

/// AS_DONE or what a curve returns.
int asi_ends_move(const asi_ends *ends, double t, asi_ends_now *now);

/// Power of the forces f on two bodies, 12 numbers.
double asi_pair_power(const as_element_input *in, const double *f);

#endif
