/// A node of a superelement as a body: x = x_0 + Q u, R = Q exp(theta~).
#ifndef ALPHASTEP_ELEMENTS_NODE_H
#define ALPHASTEP_ELEMENTS_NODE_H

#include "alphastep/element.h"
#include "base/export.h"

typedef struct asi_node {
  int at[6];   ///< where its coordinates stand in v; -1: it does not move that way
  int shift;   ///< from there to where they stand in q
  double x[3]; ///< at u = 0, world
  double Q[9]; ///< the superelement's axes, to world
} asi_node;

/// Its six coordinates, or their rates, out of q or v; zeros where it has none.
void asi_node_gather(const asi_node *node, int shift, const double *from, double out[6]);

/// Its motion; v may be NULL.
void asi_node_motion(const asi_node *node, const double *q, const double *v, as_body_motion *out);

/// Its rotation to world, w x y z, with a continuous sign.
ASI_IO void asi_node_quaternion(const asi_node *node, const double *q, double out[4]);
/// v' in world axes and omega' in its own.
ASI_IO void asi_node_acceleration(const asi_node *node, const double *q, const double *v,
                                  const double *vdot, double out[6]);

/// D_theta (T(theta) y), or of T(theta)^T y: 3 x 3 by rows.
void asi_tangent_rate(const double *theta, const double *y, bool transposed, double out[9]);

#endif
