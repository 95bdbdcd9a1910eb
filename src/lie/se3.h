/// Rigid motions: q = (position, quaternion), v = (translation, rotation), both in the body frame.
///
/// Every output may be the same array as an input. The formulas and their labels stand in
/// docs/lie-groups.md.
#ifndef ALPHASTEP_LIE_SE3_H
#define ALPHASTEP_LIE_SE3_H

void asi_se3_compose(const double *q1, const double *q2, double *out); ///< q1 o q2
void asi_se3_inverse(const double *q, double *out);                    ///< q^-1
void asi_se3_between(const double *q0, const double *q1, double *out); ///< q0^-1 o q1

void asi_se3_exp(const double *xi, double *q);
void asi_se3_log(const double *q, double *xi); ///< the angle is in [0, pi]
void asi_se3_move(const double *q, const double *xi,
                  double *out); ///< q o exp(xi), its rotation of length 1

/// The blocks of T(xi) = [T U; 0 T], each 3 x 3 and stored by rows.
void asi_se3_tangent(const double *xi, double *t, double *u);
void asi_se3_tangent_times(const double *xi, const double *v, double *out); ///< T(xi) v
void asi_se3_tangent_solve(const double *xi, const double *v, double *out); ///< T(xi)^-1 v

void asi_se3_bracket(const double *a, const double *b, double *out); ///< [a, b]

#endif
