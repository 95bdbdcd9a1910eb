/// A joint: a point of the second body runs on an ellipse in the x-y plane of the first.
#ifndef OWN_ELEMENT_ELLIPSE_H
#define OWN_ELEMENT_ELLIPSE_H

#include <alphastep/alphastep.h>

typedef struct ellipse {
  double center[3]; ///< on the first body, from its centre of mass, body axes [m]
  double half[2];   ///< half axes along x and y of the first body [m]
  double point[3];  ///< on the second body, from its centre of mass, body axes [m]
} ellipse;

extern const as_element_type ellipse_type;

#endif
