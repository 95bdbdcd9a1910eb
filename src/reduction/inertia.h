/// The inertia arrays of a flexible body, by sums over the mesh.
#ifndef ALPHASTEP_REDUCTION_INERTIA_H
#define ALPHASTEP_REDUCTION_INERTIA_H

#include "reduction/mesh_index.h"

/// Arrays of as_flexible_data, taken here and freed by asi_inertia_free.
typedef struct asi_inertia {
  double *P, *A0, *A, *H0, *H, *J0, *J1, *J2, *M;
} asi_inertia;

/// psi: x->n x n, by columns; rigid: x->n x 6 about node 0. `exact`: with J2.
as_status asi_inertia_init(asi_inertia *out, const asi_mesh_index *x, const double *rigid,
                           const double *psi, int n, bool exact, as_error *error);
void asi_inertia_free(asi_inertia *a);

#endif
