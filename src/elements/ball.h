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

/// A point of a body, and where the body's columns begin in the values of blocks, which have three rows each.
typedef struct asi_ball_end {
  double P[3]; ///< s p, see ball.c
  bool moves;  ///< it is not on the ground
  int g_turn[3], gdot_turn[3], f_turn[3];
  int g_move[3]; ///< R^3 x SO(3): an entry in each row; SE(3): columns as well
  int f_move[3]; ///< SE(3): of the force and of the torque
} asi_ball_end;

typedef struct asi_ball asi_ball;

/// The same as the joint's own evaluation; bodies that are the ground are not looked at.
typedef void asi_ball_fn(const asi_ball *ball, const as_body_motion *first,
                         const as_body_motion *second, const double *lambda,
                         const asi_ball_output *out);

/// All that an evaluation takes, close together.
struct asi_ball {
  asi_ball_fn *evaluate;
  int row;
  asi_ball_end end[2];
};

/// Whether a joint is one, and nothing but this.
bool asi_is_ball(const as_element_type *type, const void *data);

/// Positions are those of the entries of the joint's blocks: of each body that moves three columns dtheta, of three rows
/// each; then, in each row of g_q, the entries dx of these bodies. On SE(3) columns dx stand before columns dtheta in g_q,
/// and in f_q columns have six rows.
asi_ball asi_ball_place(const asi_joint *joint, bool se3, int row, const bool moves[2],
                        const int *g_q, const int *gdot_q, const int *f_q);

#endif
