/// Linear flexible bodies: what is left of a finite-element mesh after reduction, for a body that travels and turns.
///
/// Interface nodes 0 ... k are where joints and forces hold the part. Node 0 is the frame: an ordinary body of the machine, pose (x0, R0). At rest
/// the frames of all nodes are parallel to the axes of the mesh. A point of the mesh that is at X at rest moves to
///
///     x = x0 + R0 (X - X_0 + Psi(X) z)
///
/// z are n elastic coordinates, in this order: for each interface node 1 ... k its six log coordinates (or its three displacements), then the
/// fixed-interface modes. Node i is at the pose H_i = H_0 exp(d0_i + z_i), d0_i = (X_i - X_0, 0), with the order (translation, rotation) of SE(3)
/// in alphastep/space.h; a node that has displacements only is at X_i - X_0 + z_i in node 0. Columns of Psi are those of these coordinates.
/// Equations: docs/flexible-bodies.md.
#ifndef ALPHASTEP_FLEXIBLE_H
#define ALPHASTEP_FLEXIBLE_H

#include <stdbool.h>

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A flexible body in SI units, in body axes. Arrays are stored by rows; the last index runs fastest. To be read only.
///
/// With S the unit translations of the mesh, W_0 its rotations about node 0 and W_j = -(Psi_j)~ the part of them that grows with z_j:
///
///     m = S^T M S    P = S^T M Psi    A0 = S^T M W_0    A_j = S^T M W_j    H0 = W_0^T M Psi    H_j = W_j^T M Psi
///     J0 = W_0^T M W_0    J_j = W_0^T M W_j    J_ij = W_i^T M W_j    M_r = Psi^T M Psi    K_r = Psi^T K Psi
typedef struct as_flexible_data {
  int interface_count;                    ///< interface nodes, the frame included: 1 or more
  const char *const *interface_names;     ///< each differs from the others
  const double (*interface_positions)[3]; ///< X_i at rest, in the coordinates of the mesh [m]
  const bool *
      interface_rotations; ///< whether node i has rotations, else displacements only; the frame has
  int mode_count;          ///< fixed-interface modes
  int coordinate_count;    ///< n: 6 or 3 of each node 1 ... k, and mode_count
  double mass;             ///< m [kg]
  const double *P;         ///< 3 x n [kg, kg m]
  const double *A0;        ///< 3 x 3 [kg m]
  const double *A;         ///< n x 3 x 3: A_j
  const double *H0;        ///< 3 x n
  const double *H;         ///< n x 3 x n: H_j
  const double *J0;        ///< 3 x 3, about node 0 [kg m^2]
  const double *J1;        ///< n x 3 x 3: J_j
  const double *J2;        ///< n x n x 3 x 3: J_ij; NULL: inertia of lower order
  const double *M;         ///< n x n, symmetric, positive definite
  const double *K;         ///< n x n, symmetric, positive definite: node 0 is held
  const double *C;         ///< n x n, symmetric; NULL: no damping

  // For loads, results and drawings; the equations of motion do not need them.
  int mesh_count;                    ///< points of the mesh that were kept; 0: none
  const long *mesh_ids;              ///< their numbers in the finite-element program, increasing
  const double (*mesh_positions)[3]; ///< X at rest, in the coordinates of the mesh [m]
  const double *mesh_shapes;         ///< mesh_count x 3 x n: translations Psi(X)
  int triangle_count;                ///< of the surface
  const int (*triangles)[3]; ///< points by their place in the list, counter-clockwise from outside
  int stress_count;
  const long *stress_ids; ///< points with a stress by their numbers, increasing
  const double
      *stress_matrices; ///< stress_count x 6 x n: xx yy zz xy yz zx, body axes [Pa]; NULL: none
} as_flexible_data;

/// Whether sizes agree, numbers are finite, M, K, C, J0 symmetric (to 1e-9), m and diagonals positive, names different, triangles inside the list.
AS_API as_status as_flexible_check(const as_flexible_data *data, as_error *error);

/// A copy of its own, checked first; to be destroyed.
AS_API as_status as_flexible_copy(const as_flexible_data *data, as_flexible_data **out,
                                  as_error *error);

/// Of what this library has made: copies, reductions, what was loaded. NULL is left alone.
AS_API void as_flexible_destroy(as_flexible_data *data);

#ifdef __cplusplus
}
#endif

#endif
