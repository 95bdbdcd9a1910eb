/// Rotations: unit quaternions (w, x, y, z) and rotation vectors.
///
/// A quaternion takes body to world; a rotation vector is an angle [rad] times a unit axis.
/// Matrices are 3 x 3, stored by rows. Every output may be the same array as an input. The formulas
/// and their labels stand in docs/lie-groups.md.
#ifndef ALPHASTEP_LIE_ROTATION_H
#define ALPHASTEP_LIE_ROTATION_H

#include "base/export.h"

static inline double asi_dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void asi_cross3(const double *a, const double *b, double *out) {
  const double x = a[1] * b[2] - a[2] * b[1];
  const double y = a[2] * b[0] - a[0] * b[2];
  const double z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/// [LG.2] R = I + 2 a x~ + 2 x~^2
static inline void asi_so3_matrix(const double *q, double *r) {
  const double a = q[0], x = q[1], y = q[2], z = q[3];
  const double x2 = 2.0 * x, y2 = 2.0 * y, z2 = 2.0 * z;
  r[0] = 1.0 - (y2 * y + z2 * z);
  r[1] = x2 * y - a * z2;
  r[2] = x2 * z + a * y2;
  r[3] = x2 * y + a * z2;
  r[4] = 1.0 - (x2 * x + z2 * z);
  r[5] = y2 * z - a * x2;
  r[6] = x2 * z - a * y2;
  r[7] = y2 * z + a * x2;
  r[8] = 1.0 - (x2 * x + y2 * y);
}

void asi_so3_compose(const double *q1, const double *q2, double *out);     ///< q1 o q2
void asi_so3_inverse(const double *q, double *out);                        ///< q^-1
void asi_so3_normalize(double *q);                                         ///< q / |q|
ASI_IO void asi_so3_rotate(const double *q, const double *v, double *out); ///< R v: body to world
void asi_so3_rotate_back(const double *q, const double *v, double *out);   ///< R^T v: world to body

ASI_IO void asi_so3_from_matrix(const double *r, double *q); ///< R to q

void asi_so3_exp(const double *w, double *q);
void asi_so3_log(const double *q, double *w);                     ///< the angle |w| is in [0, pi]
void asi_so3_move(const double *q, const double *w, double *out); ///< q o exp(w), of length 1
/// Two of them, as they would be one by one; all is read before anything is written.
void asi_so3_move_two(const double *q1, const double *w1, const double *q2, const double *w2,
                      double *out1, double *out2);

/// The coefficients of T at the squared angle s: b = (1 - cos th)/th^2, c = (th - sin th)/th^3.
void asi_so3_coefficients(double s, double *b, double *c);
/// p = 2 db/ds and r = 2 dc/ds.
void asi_so3_coefficient_rates(double s, double *p, double *r);

void asi_so3_tangent(const double *w, double *t);                                     ///< T(w)
void asi_so3_tangent_times(const double *w, const double *v, double *out);            ///< T(w) v
void asi_so3_tangent_transposed_times(const double *w, const double *v, double *out); ///< T(w)^T v
void asi_so3_tangent_solve(const double *w, const double *v, double *out);            ///< T(w)^-1 v
void asi_so3_tangent_transposed_solve(const double *w, const double *v, double *out); ///< T(w)^-T v

#endif
