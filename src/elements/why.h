/// Why an element cannot be evaluated.
#ifndef ALPHASTEP_ELEMENTS_WHY_H
#define ALPHASTEP_ELEMENTS_WHY_H

#include <stdio.h>

#include "alphastep/element.h"
#include "alphastep/problem.h"

/// AS_RETRY; the reason goes to those who ask for it.
static inline int asi_retry(const as_element_input *in, const char *why) {
  if (in->why) snprintf(in->why, AS_ELEMENT_WHY, "%s", why);
  return AS_RETRY;
}

#define ASI_WHY_POINTS "two points are in one place: their distance has no direction there"
#define ASI_WHY_ANGLE                                                                              \
  "its axes stand across or against each other: the angle about them has no value there"

#endif
