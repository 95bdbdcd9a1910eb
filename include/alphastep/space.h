/// Configuration spaces: products of R^n, SO(3), R^3 x SO(3) and SE(3).
///
/// A configuration q is an element of a Lie group G, stored as numbers (quaternions for rotations);
/// a velocity v lives in its Lie algebra, seen from the body: q' = q o v~. R^n is one of the groups
/// (composition is addition), not a special case.
///
/// | part            | q                          | v                                    |
/// |-----------------|----------------------------|--------------------------------------|
/// | AS_SPACE_RN     | n numbers                  | n numbers                            |
/// | AS_SPACE_SO3    | w x y z (unit quaternion)  | angular velocity, body frame         |
/// | AS_SPACE_R3SO3  | position, w x y z          | velocity in world, angular in body   |
/// | AS_SPACE_SE3    | position, w x y z          | velocity in body, angular in body    |
///
/// A quaternion takes body to world. All functions are pure: they allocate nothing and may be called
/// from several threads. Output arrays may be the same as input arrays.
#ifndef ALPHASTEP_SPACE_H
#define ALPHASTEP_SPACE_H

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum as_space_kind {
  AS_SPACE_RN,    ///< R^n: 1 number in q and 1 in v per dimension
  AS_SPACE_SO3,   ///< rotations: 4 in q, 3 in v
  AS_SPACE_R3SO3, ///< position and rotation, uncoupled: 7 in q, 6 in v
  AS_SPACE_SE3,   ///< rigid motions: 7 in q, 6 in v
} as_space_kind;

/// A run of equal factors of a product space.
typedef struct as_space_part {
  as_space_kind kind;
  int count; ///< AS_SPACE_RN: the dimension; otherwise the number of copies, > 0
} as_space_part;

typedef struct as_space as_space;

/// Makes the product of the parts, in their order. Copies `parts`.
AS_API as_status as_space_create(const as_space_part *parts, int n_parts, as_space **out,
                                 as_error *error);
AS_API void as_space_destroy(as_space *space);

AS_API int as_space_nq(const as_space *space); ///< how many numbers store a configuration
AS_API int as_space_nv(const as_space *space); ///< the dimension of the space

AS_API void as_space_identity(const as_space *space, double *q);
AS_API void as_space_compose(const as_space *space, const double *q1, const double *q2,
                             double *out);                                         ///< q1 o q2
AS_API void as_space_inverse(const as_space *space, const double *q, double *out); ///< q^-1

AS_API void as_space_exp(const as_space *space, const double *xi, double *q); ///< exp(xi)
/// log(q): the xi with exp(xi) = q and rotation angles in [0, pi].
AS_API void as_space_log(const as_space *space, const double *q, double *xi);
/// q o exp(xi), with quaternions of length one to round-off.
AS_API void as_space_move(const as_space *space, const double *q, const double *xi, double *out);
/// log(q0^-1 o q1): the xi that moves q0 to q1.
AS_API void as_space_difference(const as_space *space, const double *q0, const double *q1,
                                double *xi);

/// The tangent operator T(xi), defined by exp(xi + d) = exp(xi) o exp(T(xi) d + O(d^2)), times v.
AS_API void as_space_tangent(const as_space *space, const double *xi, const double *v, double *out);
/// T(xi)^-1 times v; rotation angles must be below 2 pi.
AS_API void as_space_tangent_inverse(const as_space *space, const double *xi, const double *v,
                                     double *out);
/// The Lie bracket [a, b]; zero on R^n.
AS_API void as_space_bracket(const as_space *space, const double *a, const double *b, double *out);

/// Refuses a q that is not finite or whose quaternions are further than 1e-6 from length one.
AS_API as_status as_space_check(const as_space *space, const double *q, as_error *error);
/// Scales each quaternion of q to length one.
AS_API void as_space_normalize(const as_space *space, double *q);

#ifdef __cplusplus
}
#endif

#endif
