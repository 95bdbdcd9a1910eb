/// Roads of tyres in a machine's scene.
#ifndef ALPHASTEP_REPORT_ROAD_SCENE_H
#define ALPHASTEP_REPORT_ROAD_SCENE_H

#include <stdbool.h>

#include "alphastep/file.h"

enum { ASI_ROAD_POINTS = 1001 }; ///< at most

/// The road below force `force` as a strip on the ground, whose ASI_ROAD_POINTS points are written to `points`; false: that is no tyre,
/// another one before it rolls on the same road, or the file draws a strip of its own.
bool asi_road_shape(const as_machine *machine, int force, as_shape *out, double *points);

#endif
