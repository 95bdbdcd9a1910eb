/// From a mesh of finite elements to a flexible body: Craig and Bampton's reduction of sparse mass and stiffness matrices.
///
///     as_reduction_def def = as_default_reduction_def();
///     def.mass = M; def.stiffness = K; def.mesh = &mesh;
///     def.interfaces = (as_interface[]){{"big", AS_ATTACH_RIGID, n_big, big}, {"small", AS_ATTACH_RIGID, n_small, small}};
///     def.interface_count = 2;
///     def.modes = 10;
///     as_flexible_data *rod;
///     if (as_reduce(&def, &rod, NULL, &error)) puts(error.message);
///
/// docs/flexible-bodies.md has the equations, and what is checked.
#ifndef ALPHASTEP_REDUCTION_H
#define ALPHASTEP_REDUCTION_H

#include <stdbool.h>

#include "alphastep/export.h"
#include "alphastep/flexible.h"
#include "alphastep/sparse.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The nodes of a mesh, and which unknowns of the matrices are theirs.
typedef struct as_mesh {
  int node_count;
  const long *ids;              ///< each differs from the others
  const double (*positions)[3]; ///< [length unit]
  const int (*unknowns)
      [6]; ///< rows, from 0, of displacements along x, y, z and rotations about them; -1: none
  int triangle_count;         ///< of the surface, for drawing
  const long (*triangles)[3]; ///< ids of nodes, counter-clockwise from outside
} as_mesh;

/// How an interface node holds the mesh.
typedef enum as_attachment {
  AS_ATTACH_NODE,  ///< it is a node of the mesh
  AS_ATTACH_RIGID, ///< the nodes of a set move with it as a rigid body
  AS_ATTACH_AVERAGE, ///< it moves with the mean displacement and rotation of a set, which stays as soft as it is
} as_attachment;

typedef struct as_interface {
  const char *name;
  as_attachment attachment;
  int node_count;
  const long *nodes;     ///< ids
  const double *weights; ///< of the nodes, e.g. their parts of the surface; NULL: equal
  const double *
      position; ///< where the interface node is [length unit]; NULL: at the (weighted) mean of its nodes
} as_interface;

/// What is to be reduced, and how. From as_default_reduction_def(); nothing is copied.
typedef struct as_reduction_def {
  unsigned cookie;                ///< set by as_default_reduction_def(): leave it as it is
  const as_sparse *mass;          ///< required: both triangles
  const as_sparse *stiffness;     ///< required: both triangles, free in space
  const as_mesh *mesh;            ///< required
  const as_interface *interfaces; ///< the first is the frame of the body
  int interface_count;
  int modes;        ///< fixed-interface modes to keep; -1: by frequency
  double frequency; ///< keeps those below [Hz]; NAN: by number
  double length;    ///< unit of length of all that is given [m]
  double
      force; ///< unit of force [N]; times are in s, so that the unit of mass is force s^2 / length
  int damping_count;
  const double *
      damping_ratios; ///< of the modes of the body with its frame held, the lowest first; the last for all others; NULL: none
  double rayleigh_mass;      ///< C = this M + that K [1/s]
  double rayleigh_stiffness; ///< [s]
  bool lower_order;          ///< without J_ij
  int point_count;
  const long *points; ///< ids of nodes that are kept for loads and results
  int most_points; ///< of the mesh for drawing; a surface with more nodes is thinned; 0: none are kept but `points`
  int stress_count;
  const long *stress_ids; ///< of points with stresses, increasing
  const as_sparse
      *stress; ///< 6 stress_count rows (xx yy zz xy yz zx of each) for all unknowns; NULL: none
} as_reduction_def;

AS_API as_reduction_def as_default_reduction_def(void);

/// What has been found; SI units, axes of the mesh.
typedef struct as_reduction_info {
  int nodes, unknowns;
  double mass;          ///< [kg]
  double centre[3];     ///< of mass [m]
  double inertia[3][3]; ///< about it [kg m^2]
  double
      residual; ///< the largest |K r| / (|K| |r|) of six rigid motions r: 0 for a mesh that is free
  int modes;    ///< that were kept
} as_reduction_info;

/// Reduces. AS_ERR_ARGUMENT with a sentence if the matrices are not those of a free body, do not fit the mesh, or interfaces do not;
/// AS_ERR_SINGULAR if something is loose though all interfaces are held. `info` may be NULL. Needs LAPACK.
AS_API as_status as_reduce(const as_reduction_def *def, as_flexible_data **out,
                           as_reduction_info *info, as_error *error);

/// Frequencies [Hz] of a flexible body by itself, increasing: coordinate_count of them; with its frame held, or free in space (then
/// without the six of rigid motions). Needs LAPACK.
AS_API as_status as_flexible_frequencies(const as_flexible_data *data, bool is_free, double *out,
                                         as_error *error);

#ifdef __cplusplus
}
#endif

#endif
