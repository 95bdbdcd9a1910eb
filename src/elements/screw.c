/// Rows with the angle phi of frame B against frame A about z, see coordinate.c.
///
/// Where the z axes do not agree, B is reached from A by a turn about z by phi and a bend about an axis across z, in either
/// order: with the quaternion (w, x, y, z) of B against A, s = 4 w z and c = 2 (w^2 - z^2), so phi = 2 atan2(z, w).
///
/// A screw's second body advances as it turns, by p a radian from s_0 at angle 0:
///
///     g = p phi - (s - s_0),   s = z_a . (P_b - P_a)        lambda is the force along z on the second body,
///                                                           -p lambda the torque about z
///
/// The row is that of separation.c and p phi. phi is known up to whole turns: it is taken within
/// half a turn of (s - s_0)/p, so the row is smooth until it errs by half a turn, and means the same on each of
/// them. That a step does not slip into the next is seen to when it ends, see coupling.c.
#include "alphastep/problem.h"
#include "elements/coordinate.h"
#include "elements/why.h"

int asi_twist_row(const asi_pair *pair, double factor, double near, const as_element_input *in,
                  const as_element_output *out, int r) {
  const asi_coordinate about_z = {ASI_COORDINATE_ANGLE, 2};
  const as_element_input two = {.t = in->t, .body = {pair->a, pair->b}};
  asi_measure x;
  if (!asi_measure_coordinate(&x, about_z, &two, &pair->A, &pair->B, near))
    return asi_retry(in, ASI_WHY_ANGLE);
  if (out->g) out->g[r] += factor * x.value;
  if (out->rate) out->rate[r] += factor * x.rate;
  if (out->acceleration) out->acceleration[r] += factor * x.acceleration;
  for (int i = 0; i < ASI_PAIR && out->g_q; ++i) out->g_q[r * ASI_PAIR + i] += factor * x.q[i];
  for (int i = 0; i < ASI_PAIR && out->gdot_q; ++i)
    out->gdot_q[r * ASI_PAIR + i] += factor * x.rate_q[i];
  if (out->f_q) asi_measure_curvature(&x, factor * in->lambda[r], out->f_q);
  return AS_DONE;
}

int asi_screw_row(const asi_pair *pair, double advance, double offset, const as_element_input *in,
                  const as_element_output *out, int r) {
  const asi_row along_z = {ASI_ROW_SEPARATION, 2, 0, 1};
  double near = 0.0;
  asi_separation_row(pair, along_z, in, out, r);
  if (out->g) {
    out->g[r] += offset;
    near = -out->g[r] / advance; // the angle where g = 0
  }
  return asi_twist_row(pair, advance, near, in, out, r);
}
