/// Stops in a joint coordinate.
#ifndef ALPHASTEP_ELEMENTS_STOP_H
#define ALPHASTEP_ELEMENTS_STOP_H

#include "elements/ends.h"
#include "elements/penalty.h"

typedef struct asi_stop {
  asi_penalty law;
  asi_ends ends;
  asi_coordinate coordinate;
  double lower, upper; ///< -INFINITY, INFINITY: none
  double near;         ///< an angle is looked at within half a turn of this
} asi_stop;

extern const as_element_type asi_stop_type;

#endif
