/// Which points of a mesh are kept for loads, results and drawings.
#ifndef ALPHASTEP_REDUCTION_DRAWING_H
#define ALPHASTEP_REDUCTION_DRAWING_H

#include "reduction/mesh_index.h"

typedef struct asi_drawing {
  int count;
  int *node; ///< places in the mesh, by increasing ids
  int triangle_count;
  int (*triangles)[3]; ///< places in that list
} asi_drawing;

as_status asi_drawing_init(asi_drawing *d, const asi_mesh_index *x, const as_reduction_def *def,
                           as_error *error);
void asi_drawing_free(asi_drawing *d);

#endif
