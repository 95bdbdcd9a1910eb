/// Constraint rows between two frames: what joints are made of.
///
/// Frame A is on the first body, B on the second. A frame's origin p and axes a_k are vectors in its body,
/// fixed or given functions of time. Of such a vector, with W = omega x a + a' its rate seen from the body,
///
///     u = R a      u' = R W      u'' = R (omega x (omega x a) + 2 omega x a' + a'')   at omega' = 0
///     D_q u = -R a~ dtheta       D_q u' = -R W~ dtheta
///
/// All rows are "first less second": with f = -g_q^T lambda the multiplier is the force along, or the torque
/// about, the row's direction that the first body exerts on the second, at the origin of frame B.
#ifndef ALPHASTEP_ELEMENTS_ROWS_H
#define ALPHASTEP_ELEMENTS_ROWS_H

#include "alphastep/element.h"

/// A frame fixed to a body, in the body's axes from the centre of mass.
typedef struct asi_frame {
  double p[3];    ///< origin
  double axis[9]; ///< axis k is axis + 3 k
} asi_frame;

/// A frame at a time: each with its first and second derivative.
typedef struct asi_frame_now {
  const double *p, *p1, *p2;
  const double *axis, *axis1, *axis2;
} asi_frame_now;

/// Derivatives of what does not move: the rate of such a vector is known by this address.
extern const double asi_at_rest[9];

/// The frame when it does not move against its body.
static inline asi_frame_now asi_frame_at_rest(const asi_frame *frame) {
  return (asi_frame_now){frame->p, asi_at_rest, asi_at_rest, frame->axis, asi_at_rest, asi_at_rest};
}

/// Columns of a pair of bodies: dx and dtheta of the first, then of the second.
enum { ASI_XA = 0, ASI_TA = 3, ASI_XB = 6, ASI_TB = 9, ASI_PAIR = 12 };

/// Two bodies, two frames, and what rows share. Filled by asi_pair_init().
typedef struct asi_pair {
  const as_body_motion *a, *b;
  asi_frame_now A, B;
  double D[3];         ///< P_a - P_b, world
  double wa[3], wb[3]; ///< rates of p, from the bodies; only if rates are wanted
  double D1[3];        ///< rate of D
  double D2[3];        ///< second derivative at v' = 0; only if accelerations are wanted
  double S[9];         ///< R_a^T R_b; only after asi_pair_turn()
} asi_pair;

/// When rows need D, the difference of the origins.
typedef enum asi_need {
  ASI_NEED_NOTHING, ///< never, nor its rates
  ASI_NEED_VALUE,   ///< only for g itself
  ASI_NEED_ALWAYS,  ///< for tangents too
} asi_need;

void asi_pair_init(asi_pair *pair, const as_element_input *in, const as_element_output *out,
                   const asi_frame_now *A, const asi_frame_now *B, asi_need need);

/// What axes rows need besides.
void asi_pair_turn(asi_pair *pair);

/// Rate W of a vector of a body, from the body.
void asi_local_rate(const as_body_motion *body, const double *a, const double *a1, double *out);
/// The second derivative of R a at v' = 0, from the body and in the world.
void asi_local_acceleration(const as_body_motion *body, const double *a, const double *a1,
                            const double *a2, double *out);
void asi_world_acceleration(const as_body_motion *body, const double *a, const double *a1,
                            const double *a2, double *out);

typedef enum asi_row_kind {
  ASI_ROW_POINT,      ///< three rows: the origins coincide, world axes
  ASI_ROW_AXES,       ///< an axis of A is perpendicular to one of B
  ASI_ROW_SEPARATION, ///< P_b lies in the plane of P_a across an axis of A
  ASI_ROW_DISTANCE,   ///< |P_a - P_b| is given
  ASI_ROW_TWIST,      ///< B is not turned against A about z
  ASI_ROW_SCREW,      ///< B advances along z as it turns about it
} asi_row_kind;

typedef struct asi_row {
  signed char kind; ///< asi_row_kind
  signed char i;    ///< axis of A
  signed char j;    ///< axis of B
  signed char sign;
} asi_row;

/// Each adds its rows from row r on; multipliers are in->lambda[r].
void asi_point_rows(const asi_pair *pair, const as_element_input *in, const as_element_output *out,
                    int r);
void asi_axes_row(const asi_pair *pair, asi_row row, const as_element_input *in,
                  const as_element_output *out, int r);
void asi_separation_row(const asi_pair *pair, asi_row row, const as_element_input *in,
                        const as_element_output *out, int r);
/// `length` and its two derivatives. AS_RETRY where the points coincide.
int asi_distance_row(const asi_pair *pair, const double length[3], const as_element_input *in,
                     const as_element_output *out, int r);

/// C = D_q D, 3 x 12.
void asi_distance_gradient(const asi_pair *pair, double *C);

/// Adds factor times the angle of B against A about z, within half a turn of `near`. AS_RETRY where there is none.
int asi_twist_row(const asi_pair *pair, double factor, double near, const as_element_input *in,
                  const as_element_output *out, int r);
/// Displacement along z = offset + advance * angle. AS_RETRY where there is no angle.
int asi_screw_row(const asi_pair *pair, double advance, double offset, const as_element_input *in,
                  const as_element_output *out, int r);

/// -D_q (g_q^T lambda) of an axes row, into a 12 x 12 matrix; torsional springs use it too.
void asi_axes_curvature(const asi_pair *pair, asi_row row, double lambda, double *f_q);

#endif
