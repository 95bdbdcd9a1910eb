/// The drag of a fluid at a point of a body, the element's only one.
#ifndef ALPHASTEP_ELEMENTS_DRAG_H
#define ALPHASTEP_ELEMENTS_DRAG_H

#include "elements/joint.h"

typedef struct asi_drag {
  asi_frame frame; ///< its axes are those of `half`
  asi_frame_motion motion;
  double half[3]; ///< density/2 times the drag areas [kg/m]
  double viscous; ///< [N s/m]
  double wind[3]; ///< world [m/s]
} asi_drag;

extern const as_element_type asi_drag_type;

/// Flags by rows of 6: f_q and f_v; all false on entry.
void asi_drag_pattern(const asi_drag *drag, bool *f_q, bool *f_v);

#endif
