/// An interface node of a flexible body as a body: what its frame and its elastic coordinates make of it.
#ifndef ALPHASTEP_ELEMENTS_VIEW_H
#define ALPHASTEP_ELEMENTS_VIEW_H

#include "alphastep/element.h"
#include "base/export.h"

typedef struct asi_view {
  int body;       ///< number of the frame
  int q, v;       ///< where the numbers of the frame begin
  int z_q, z_v;   ///< where its elastic coordinates begin: six, or three
  bool rotates;   ///< it has rotations
  double rest[3]; ///< X_i - X_0
} asi_view;

/// What its motion and the forces on it are made of.
typedef struct asi_view_now {
  bool rotates;
  double R0[9], omega0[3];
  double r[3], E[9]; ///< pose in the frame
  double u[3], w[3]; ///< d
  double z1[6];      ///< z'
  double T[9];       ///< T(w)
  double J[18];      ///< D_z r, 3 x 6
  double Jz1[3];     ///< J z'
  double spin[9];    ///< D_w (T z_w')
  double Hz1[18];    ///< D_z (J z'), 3 x 6
} asi_view_now;

/// v may be NULL.
void asi_view_look(const asi_view *view, const double *q, const double *v, asi_view_now *now);
void asi_view_motion(const asi_view *view, const double *q, const double *v, as_body_motion *out);
/// Its rotation to world, w x y z, with a continuous sign.
ASI_IO void asi_view_quaternion(const asi_view *view, const double *q, double out[4]);
/// v' in world axes and omega' in its own.
ASI_IO void asi_view_acceleration(const asi_view *view, const double *q, const double *v,
                                  const double *vdot, double out[6]);

/// P^T x: a wrench on the node (force in world axes, torque in its own), or a row by its motion, on the frame, to which it is added,
/// and on z.
void asi_view_spread(const asi_view_now *now, const double x[6], double frame[6], double z[6]);
/// Adds x^T D_q(P w) at fixed w, a row by the node's velocity: to what is by the frame's rotation and by z.
void asi_view_add_rate(const asi_view_now *now, const double x[6], double turn[3], double z[6]);
/// The node's acceleration (v', omega') at w' = 0 beside that of the frame: D_q(P w) w.
void asi_view_bias(const asi_view_now *now, double out[6]);
/// D_q (P^T f) at a fixed wrench: by the frame's rotation and z (9 columns), of its torque and of z (9 rows).
void asi_view_curvature(const asi_view_now *now, const double f[6], double out[81]);

#endif
