/// Roads: heights z(x, y) with slopes and curvatures, for tyres.
#ifndef ALPHASTEP_ELEMENTS_ROAD_H
#define ALPHASTEP_ELEMENTS_ROAD_H

#include "alphastep/tyre.h"
#include "elements/curve.h"

enum { ASI_ROAD_BANDS = 100 }; ///< waves of a rough road

/// A wave of a rough road: amplitudes of sin(k X) and cos(k X), in the middle and across.
typedef struct asi_wave {
  double k; ///< [rad/m]
  double middle[2], across[2];
} asi_wave;

/// A road that is no formula and no table; const once made, in one piece of memory. A curve may hold one.
typedef struct asi_road {
  as_road_kind kind;
  double level;    ///< z of a plane at x = y = 0, of others what all is counted from
  double slope[2]; ///< of a plane
  double start, ramp, half_track, height, length;
  int n_waves;
  asi_wave wave[];
} asi_road;

/// Makes one of a checked description; NULL if memory runs out. free() ends it.
asi_road *asi_road_make(const as_road_def *def);
asi_road *asi_road_copy(const asi_road *from);

/// z, z_x, z_y, z_xx, z_xy, z_yy; the last three only if `curved`. `road` NULL: the plane z = 0. AS_RETRY where there is no
/// road.
ASI_IO int asi_road_height(const asi_curve *road, const as_element_input *in, double x, double y,
                           bool curved, double out[6]);
/// Whether its slope is the same everywhere.
ASI_IO bool asi_road_is_plane(const asi_curve *road);

#endif
