/// Interface nodes of a mesh: which unknowns follow them, and of which they are the mean.
#ifndef ALPHASTEP_REDUCTION_INTERFACES_H
#define ALPHASTEP_REDUCTION_INTERFACES_H

#include "reduction/mesh_index.h"

typedef struct asi_interfaces {
  const as_interface *given;
  int count;
  double (*position)[3]; ///< [m]
  bool *rotations;
  int *column; ///< where the coordinates of each begin, the frame's first; count + 1
  int *owner;  ///< of an unknown: the interface that it follows; -1: it is inside
  int *inside; ///< of an unknown: its number among those inside; -1
  int n_inside;
  int averages; ///< interfaces that are averages
  double *C;    ///< n_inside x 6 averages: C^T by columns
  int springs;  ///< that hold the mesh while averages do not: see held.h
  int spring[9];
} asi_interfaces;

as_status asi_interfaces_init(asi_interfaces *t, const asi_mesh_index *x,
                              const as_reduction_def *def, as_error *error);
void asi_interfaces_free(asi_interfaces *t);
/// How an unknown follows direction d of its interface node.
double asi_interface_follow(const asi_interfaces *t, const asi_mesh_index *x, int unknown, int d);

#endif
