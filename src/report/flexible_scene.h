/// The meshes of flexible bodies in a scene.
#ifndef ALPHASTEP_REPORT_FLEXIBLE_SCENE_H
#define ALPHASTEP_REPORT_FLEXIBLE_SCENE_H

#include <stdbool.h>
#include <stdio.h>

#include "alphastep/flexible_body.h"

/// One body as a JSON object: its name, its frame's body, its bounds and places of the points in the frame, triangles, shapes (3 n numbers of each
/// point) and, where all points have them, stress matrices (6 n). Points are put together where there are too many. False: memory
/// has run out.
bool asi_flexible_scene(FILE *out, const char *name, int body, const as_flexible_data *data);

#endif
