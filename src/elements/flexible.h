/// The equations of a linear flexible body, see flexible.c.
#ifndef ALPHASTEP_ELEMENTS_FLEXIBLE_H
#define ALPHASTEP_ELEMENTS_FLEXIBLE_H

#include "alphastep/flexible_body.h"
#include "base/export.h"
#include "elements/curve.h"

/// A force on a point of the mesh.
typedef struct asi_flexible_load {
  int point;       ///< its place among the points of the mesh
  double force[3]; ///< [N]
  bool follows;    ///< in the axes of the frame, else of the world
  asi_curve_ref factor;
} asi_flexible_load;

typedef struct asi_flexible {
  as_flexible_data *data;
  int body;        ///< number of the frame; those of the other nodes follow
  int q, v;        ///< where the numbers of the frame begin
  int z_q, z_v;    ///< where its elastic coordinates begin
  bool moving;     ///< the rates of these were given
  double *z0, *z1; ///< n: coordinates and rates at the start
  asi_flexible_load *load;
  int n_loads;
  as_flexible_range range;
  int *
      place; ///< only in a model: for each block and each of 6 + n columns, where rows of the frame and of z begin in its values
} asi_flexible;

typedef enum asi_flexible_block_kind {
  ASI_FLEXIBLE_M,
  ASI_FLEXIBLE_MA_Q,
  ASI_FLEXIBLE_F_Q,
  ASI_FLEXIBLE_F_V,
  ASI_FLEXIBLE_BLOCKS
} asi_flexible_block_kind;

/// Where it is evaluated: what it reads of q and v.
typedef struct asi_flexible_point {
  const double *R; ///< of the frame
  const double *omega, *z, *z1;
} asi_flexible_point;

/// A matrix by columns, of which the rows of the frame and those of z stand apart. NULL: not wanted.
typedef struct asi_flexible_block {
  double *value;
  const int *place; ///< 2 for each column
} asi_flexible_block;

/// Adds M(q) to 6 + n columns: sets the rows and columns of z, adds to those of the frame.
void asi_flexible_mass(const asi_flexible *f, const asi_flexible_point *at, asi_flexible_block M);
/// Adds factor D_q (M a): `a` in world axes of the frame, of omega and of z; columns 3 and on.
void asi_flexible_add_mass_rate(const asi_flexible *f, const asi_flexible_point *at, double factor,
                                const double *a, const double *alpha, const double *z2,
                                asi_flexible_block out);
/// f: weight, stiffness, damping and what is quadratic in velocities, adds to six numbers of the frame, sets n of z.
void asi_flexible_force(const asi_flexible *f, const asi_flexible_point *at, const double *gravity,
                        double *frame, double *z);
/// Adds D_q and D_v of it; columns 3 and on.
void asi_flexible_add_tangents(const asi_flexible *f, const asi_flexible_point *at,
                               const double *gravity, asi_flexible_block f_q,
                               asi_flexible_block f_v);
/// For what loads bring in: the frame's velocity, world, and where it is added [W].
typedef struct asi_flexible_power {
  const double *v;
  double *sum;
} asi_flexible_power;

/// Loads at the time t: adds their force, its D_q, and their power; NULL: not wanted. AS_DONE or what a curve returns.
int asi_flexible_add_loads(const asi_flexible *f, const asi_flexible_point *at, double t,
                           double *frame, double *z, const asi_flexible_block *f_q,
                           const asi_flexible_power *power);

/// Its momentum in world axes, and that about the frame's origin in the frame's axes.
void asi_flexible_momentum(const asi_flexible *f, const asi_flexible_point *at, const double *v,
                           double linear[3], double angular[3]);
double asi_flexible_kinetic(const asi_flexible *f, const asi_flexible_point *at, const double *v);
/// z^T K z / 2, and z'^T C z'.
double asi_flexible_strain_energy(const asi_flexible *f, const double *z);
double asi_flexible_dissipation(const asi_flexible *f, const double *z1);
/// m times the centre of mass against the frame, in its axes.
void asi_flexible_center(const asi_flexible *f, const double *z, double out[3]);
/// Displacement of a point of the mesh, frame axes.
void asi_flexible_deflection(const as_flexible_data *d, int point, const double *z, double out[3]);

#endif
