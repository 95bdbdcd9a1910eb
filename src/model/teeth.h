/// Where the teeth of a coupling are, and the force between them.
#ifndef ALPHASTEP_MODEL_TEETH_H
#define ALPHASTEP_MODEL_TEETH_H

#include "elements/coupling.h"
#include "model/builder.h"

/// Two joints whose wheels mesh; or a pinion and a rack.
typedef struct asi_mesh {
  const char *kind, *name; ///< for messages
  as_joint_id joint[2];
  int wheel[2];     ///< which body of each joint
  bool rack;        ///< otherwise two wheels
  double factor[2]; ///< of the wheels' coordinates in the sum that is coupled
  double radius;    ///< of the pinion of a rack, perhaps negative [m]
  const as_tooth_def *tooth;
} asi_mesh;

/// Turns a coupling of the joints' coordinates into one of the wheels alone, with the force between their teeth, where
/// that is wanted and known. Otherwise it stays as it is; `remark` is what was assumed, NULL: nothing.
as_status asi_builder_teeth(const as_builder *b, const asi_mesh *mesh, asi_coupling *c,
                            const char **remark, as_error *error);

#endif
