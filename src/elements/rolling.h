/// Disks and spheres that roll on a plane, and skates.
#ifndef ALPHASTEP_ELEMENTS_ROLLING_H
#define ALPHASTEP_ELEMENTS_ROLLING_H

#include "elements/joint.h"

/// Frame A: the plane is across its z. Frame B: centre, a disk's axis is its z.
typedef struct asi_rolling {
  asi_joint joint; ///< its frames only
  double radius;
} asi_rolling;

/// Frame A: the plane is across its z. Frame B: the blade is along its x.
typedef struct asi_skate {
  asi_joint joint; ///< its frames only
} asi_skate;

extern const as_element_type asi_rolling_disk_type;
extern const as_element_type asi_rolling_sphere_type;
extern const as_element_type asi_skate_type;

#endif
