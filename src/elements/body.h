/// Bodies: what their numbers in q and v mean, their inertia, gravity.
#ifndef ALPHASTEP_ELEMENTS_BODY_H
#define ALPHASTEP_ELEMENTS_BODY_H

#include "alphastep/model.h"
#include "elements/node.h"
#include "elements/view.h"

typedef struct asi_body {
  double mass;
  double J[9];          ///< about the centre of mass, body axes
  int q, v;             ///< where its numbers begin
  int n;                ///< velocity components: 6, or 3 of a point mass
  bool se3;             ///< translations are seen from the body
  bool round;           ///< J is a multiple of the identity: no gyroscopic torque
  bool principal;       ///< J is diagonal
  double com[3];        ///< centre of mass in the frame that the user gave
  const asi_node *node; ///< NULL, or what it is a node of: then mass and J are zero
  const asi_view *view; ///< NULL, or likewise a node of a flexible body, but its frame
  bool flexible;        ///< the frame of a flexible body, whose equations stand there
} asi_body;

/// Whether its inertia and its numbers stand elsewhere: in a superelement or a flexible body.
static inline bool asi_body_is_node(const asi_body *body) { return body->node || body->view; }

/// Where a column of the body stands in v; -1: it cannot be moved that way. Only for k < n.
static inline int asi_body_place_of(const asi_body *body, int k) {
  if (body->view) return body->view->z_v + k;
  return body->node ? body->node->at[k] : body->v + k;
}

/// Refuses a tensor that no body can have; `name` is for the sentence.
as_status asi_inertia_check(const double J[9], const char *name, as_error *error);

/// Reads a body's pose, and its velocity unless v is NULL.
void asi_body_motion(const asi_body *body, const double *q, const double *v, as_body_motion *out);

extern const as_body_motion asi_ground_motion;

/// Where a body's own 3 x 3 blocks begin, column by column; -1: there is none.
typedef struct asi_body_place {
  int turn_turn[3]; ///< F_V: torque by omega
  int move_move[3]; ///< F_V, SE(3): force by u
  int move_turn[3]; ///< F_V, SE(3): force by omega
  int pull[3];      ///< F_Q, SE(3): weight by theta
} asi_body_place;

/// Where the equations of bodies write; NULL: not wanted.
typedef struct asi_body_output {
  double *force;     ///< of all bodies: gravity and gyroscopic terms
  double *f_q, *f_v; ///< the values of these blocks
} asi_body_output;

/// Sets what the equations of a body that is no node have of their own. `omega` is that of `at`.
void asi_body_evaluate(const asi_body *body, const asi_body_place *place, const as_body_motion *at,
                       const double *omega, const double *gravity, const asi_body_output *out);

double asi_body_kinetic(const asi_body *body, const as_body_motion *at);

#endif
