/// Ball joints, straight into the blocks of a problem.
#ifndef ALPHASTEP_ELEMENTS_BALL_H
#define ALPHASTEP_ELEMENTS_BALL_H

#include "elements/joint.h"

/// Where ball joints write: NULL is not wanted.
typedef struct asi_ball_output {
  double *g, *rate, *acceleration; ///< all rows
  double *g_q, *gdot_q;            ///< values of blocks; set: nobody else writes to these rows
  double *f_q;                     ///< likewise; added to
} asi_ball_output;

/// A joint's rows, and where its entries are in the values of blocks: of each body that moves three columns dtheta, of
/// three rows each; then, in each row of g_q, the entries dx of these bodies. On SE(3) columns dx stand before columns
/// dtheta in g_q, and in f_q columns have six rows, of the force and of the torque.
typedef struct asi_ball_place {
  int row;
  const int *g_q, *gdot_q, *f_q;
} asi_ball_place;

/// Whether a joint is one, and nothing but this.
bool asi_is_ball(const as_element_type *type, const void *data);

/// The same as the joint's own evaluation, for bodies on R^3 x SO(3) and for bodies on SE(3); NULL is the ground.
typedef void asi_ball_fn(const asi_joint *joint, const as_body_motion *const body[2],
                         const double *lambda, const asi_ball_place *place,
                         const asi_ball_output *out);
asi_ball_fn asi_ball_evaluate, asi_se3_ball_evaluate;

#endif
