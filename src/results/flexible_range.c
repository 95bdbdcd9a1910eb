/// What is said of a flexible body that has left the range of one linear body: which limit, and by how much.
#include "results/flexible_range.h"

#include <stdio.h>

bool asi_flexible_range_text(const as_model *model, const as_state *state, as_flexible_id id,
                             char *text, size_t size) {
  as_flexible_range r;
  char why[160];
  if (as_model_flexible_range(model, state, id, &r)) return false;
  if (!(r.spin <= 0.2 * r.frequency))
    snprintf(why, sizeof why,
             "turns at %.3g rad/s, more than a fifth of its first frequency %.3g rad/s", r.spin,
             r.frequency);
  else if (!(r.deflection <= 0.1 * r.size))
    snprintf(why, sizeof why, "deflects by %.3g m, more than a tenth of its size %.3g m",
             r.deflection, r.size);
  else if (!(r.turn <= 0.2))
    snprintf(why, sizeof why, "has a node that is turned by %.3g rad, more than 0.2 rad", r.turn);
  else
    snprintf(why, sizeof why,
             "carries an axial force of %.3g N, more than a twentieth of its buckling load, about "
             "%.3g N",
             r.axial, r.buckling);
  snprintf(text, size,
           "Flexible body \"%.60s\" %s at t = %.6g s: its linear deformation does not stiffen or "
           "buckle; cut the part into two to four bodies, or see docs/elements/flexible.md.",
           as_model_flexible_name(model, id), why, state->t);
  return true;
}
