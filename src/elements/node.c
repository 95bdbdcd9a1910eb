/// Kinematics of a node of a superelement.
///
///     x = x_0 + Q u      R = Q exp(theta~)      v = Q u'      omega = T(theta) theta'
///
/// with T as in docs/lie-groups.md: exp(theta + d) = exp(theta) exp(T d + ...). With b, c the coefficients of
/// T = I - b theta~ + c theta~ theta~ and p, r their rates (b changes by p theta.d, c by r theta.d),
///
///     D (T y) = b y~ - p (theta x y) theta^T - c ((theta x y)~ + theta~ y~) + r (theta x (theta x y)) theta^T
///
/// and of T^T y the same with the signs of b and p reversed.
#include "elements/node.h"

#include <stddef.h>

#include "elements/vector.h"
#include "lie/rotation.h"

void asi_node_gather(const asi_node *node, int shift, const double *from, double out[6]) {
  for (int k = 0; k < 6; ++k) out[k] = node->at[k] >= 0 ? from[node->at[k] + shift] : 0.0;
}

void asi_node_motion(const asi_node *node, const double *q, const double *v, as_body_motion *out) {
  double u[6], w[6] = {0}, quaternion[4], turned[9];
  asi_node_gather(node, node->shift, q, u);
  if (v) asi_node_gather(node, 0, v, w);
  asi_rotate(node->Q, u, out->x);
  asi_add(1.0, node->x, out->x);
  asi_so3_exp(u + 3, quaternion);
  asi_so3_matrix(quaternion, turned);
  asi_multiply(node->Q, turned, out->R);
  asi_rotate(node->Q, w, out->v);
  asi_so3_tangent_times(u + 3, w + 3, out->omega);
}

void asi_node_quaternion(const asi_node *node, const double *q, double out[4]) {
  double u[6], turn[4];
  asi_node_gather(node, node->shift, q, u);
  asi_so3_from_matrix(node->Q, out);
  asi_so3_exp(u + 3, turn);
  asi_so3_compose(out, turn, out);
}

/// omega' = T theta'' + D(T theta') theta'
void asi_node_acceleration(const asi_node *node, const double *q, const double *v,
                           const double *vdot, double out[6]) {
  double u[6], w[6], a[6], rate[9], turned[3];
  asi_node_gather(node, node->shift, q, u);
  asi_node_gather(node, 0, v, w);
  asi_node_gather(node, 0, vdot, a);
  asi_rotate(node->Q, a, out);
  asi_so3_tangent_times(u + 3, a + 3, out + 3);
  asi_tangent_rate(u + 3, w + 3, false, rate);
  asi_rotate(rate, w + 3, turned);
  asi_add(1.0, turned, out + 3);
}

void asi_tangent_rate(const double *theta, const double *y, bool transposed, double out[9]) {
  const double sign = transposed ? 1.0 : -1.0;
  double b, c, p, r, cross[3], cross2[3];
  const double s = asi_dot(theta, theta);
  asi_so3_coefficients(s, &b, &c);
  asi_so3_coefficient_rates(s, &p, &r);
  asi_cross(theta, y, cross);
  asi_cross(theta, cross, cross2);
  for (int i = 0; i < 9; ++i) out[i] = 0.0;
  asi_add_skew(-sign * b, y, out, 3);
  asi_add_outer(sign * p, cross, theta, out, 3);
  asi_add_skew(-c, cross, out, 3);
  asi_add_skew_skew(-c, theta, y, out, 3);
  asi_add_outer(r, cross2, theta, out, 3);
}
