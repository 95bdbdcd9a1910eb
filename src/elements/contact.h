/// Contact of a sphere or a point with a plane.
#ifndef ALPHASTEP_ELEMENTS_CONTACT_H
#define ALPHASTEP_ELEMENTS_CONTACT_H

#include "elements/coefficient.h"
#include "elements/penalty.h"
#include "elements/rows.h"

typedef struct asi_contact {
  asi_penalty law;
  asi_frame frame[2]; ///< z of the first is the plane's normal, the second's origin the centre
  double radius;
  bool rubs;
  asi_coefficient friction;
  double slip_speed; ///< of the regularisation
} asi_contact;

extern const as_element_type asi_contact_type;

#endif
