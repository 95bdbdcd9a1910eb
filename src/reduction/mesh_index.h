/// A mesh whose nodes and unknowns have found each other, in SI units, and the checks of what is to be reduced.
#ifndef ALPHASTEP_REDUCTION_MESH_INDEX_H
#define ALPHASTEP_REDUCTION_MESH_INDEX_H

#include "alphastep/reduction.h"

typedef struct asi_mesh_index {
  const as_mesh *mesh;
  int n;                    ///< unknowns
  int *sorted;              ///< nodes by their ids
  double (*position)[3];    ///< of nodes [m]
  int *node;                ///< of an unknown
  unsigned char *direction; ///< of an unknown: 0 ... 5
  as_sparse *K, *M;         ///< [N/m, N m, ...], [kg, ...]
} asi_mesh_index;

/// Checks matrices and nodes and makes the index.
as_status asi_mesh_index_init(asi_mesh_index *x, const as_reduction_def *def, as_error *error);
void asi_mesh_index_free(asi_mesh_index *x);
/// The node with an id; -1: there is none.
int asi_mesh_find(const asi_mesh_index *x, long id);
/// Displacements of all unknowns by the six rigid motions about a point, n x 6.
void asi_mesh_rigid(const asi_mesh_index *x, const double about[3], double *out);
/// Refuses a mesh that is held, and a mass that is none. info receives mass and residual; rigid is asi_mesh_rigid() about `about`; inertia
/// receives its 6 x 6 mass matrix.
as_status asi_mesh_check_rigid(const asi_mesh_index *x, const double about[3], const double *rigid,
                               double inertia[36], as_reduction_info *info, as_error *error);

#endif
