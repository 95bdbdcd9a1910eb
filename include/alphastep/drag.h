/// Drag: the force of a fluid on a body.
#ifndef ALPHASTEP_DRAG_H
#define ALPHASTEP_DRAG_H

#include "alphastep/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// With u the velocity of a point against the fluid, -(viscous u + density/2 |u| A u), where A has the drag areas along the axes
/// of a frame. From as_default_drag_def().
typedef struct as_drag_def {
  unsigned cookie;  ///< set by as_default_drag_def(): leave it as it is
  const char *name; ///< NULL: `force 3`
  as_frame_id
      frame; ///< its origin is the point, its axes are those of `area`; AS_NO_FRAME: from what follows
  as_body_id body;
  double point[3]; ///< in the world at the starting pose [m]; NAN: the body's centre of mass
  double area
      [3]; ///< drag coefficient times area, along x y z, without a frame of the world at the start [m^2]
  double viscous; ///< in all directions [N s/m]
  double density; ///< of the fluid; 1.225: air at sea level [kg/m^3]
  double wind[3]; ///< velocity of the fluid, world axes [m/s]
} as_drag_def;

AS_API as_drag_def as_default_drag_def(void);

AS_API as_status as_builder_add_drag(as_builder *builder, const as_drag_def *def, as_force_id *id,
                                     as_error *error);

#ifdef __cplusplus
}
#endif

#endif
