/// One row: the second body of a screw advances as it turns, by p a radian from s_0 at angle 0.
///
///     g = p phi - (s - s_0),   s = z_a . (P_b - P_a)        lambda is the force along z on the second body,
///                                                           -p lambda the torque about z
///
/// The row is that of separation.c and p times that of twist.c. phi is known up to whole turns: it is taken within
/// half a turn of (s - s_0)/p, so the row is smooth until it errs by half a turn, and means the same on each of
/// them. That a step does not slip into the next is seen to when it ends, see coupling.c.
#include "elements/twist.h"

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
