/// The force element of a tyre on a road: the ground, then the wheel's body.
#ifndef ALPHASTEP_ELEMENTS_TYRE_H
#define ALPHASTEP_ELEMENTS_TYRE_H

#include "alphastep/element.h"
#include "base/export.h"
#include "elements/magic.h"
#include "elements/road.h"

enum { ASI_TYRE_STATES = 2 }; ///< u and v

/// The element's data.
typedef struct asi_tyre {
  as_tyre tyre;
  double center[3], axis[3]; ///< in the wheel's body
  double crown;              ///< radius of the cross-section [m]
  double side;               ///< 1: as it was measured, -1: on the other side
  bool steady;               ///< it has no states
  asi_curve_ref road;        ///< none: the plane z = 0
} asi_tyre;

extern const as_element_type asi_tyre_type;

/// AS_DONE or why there is no contact to be looked at.
int asi_tyre_look(const asi_tyre *tyre, const as_element_input *in, as_tyre_contact *out);

#endif
