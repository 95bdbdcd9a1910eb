/// Bodies: what their numbers in q and v mean, their inertia, gravity.
#ifndef ALPHASTEP_ELEMENTS_BODY_H
#define ALPHASTEP_ELEMENTS_BODY_H

#include "alphastep/model.h"
#include "elements/node.h"

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
} asi_body;

/// Where a column of the body stands in v; -1: it cannot be moved that way. Only for k < n.
static inline int asi_body_place_of(const asi_body *body, int k) {
  return body->node ? body->node->at[k] : body->v + k;
}

/// Refuses a tensor that no body can have; `name` is for the sentence.
as_status asi_inertia_check(const double J[9], const char *name, as_error *error);

/// Reads a body's pose, and its velocity unless v is NULL.
void asi_body_motion(const asi_body *body, const double *q, const double *v, as_body_motion *out);

extern const as_body_motion asi_ground_motion;

/// f0 of the body alone, body->n numbers: gravity and gyroscopic terms. `omega` is that of `at`.
void asi_body_force(const asi_body *body, const as_body_motion *at, const double *omega,
                    const double *gravity, double *out);
/// Its derivatives, 3 x 3 by rows: of the torque by omega; on SE(3) of the force by u, omega and theta.
void asi_body_torque_by_turning(const asi_body *body, const double *omega, double out[9]);
void asi_body_force_by_velocity(const asi_body *body, const as_body_motion *at, double by_u[9],
                                double by_omega[9]);
void asi_body_force_by_turn(const asi_body *body, const as_body_motion *at, const double *gravity,
                            double out[9]);

double asi_body_kinetic(const asi_body *body, const as_body_motion *at);

#endif
