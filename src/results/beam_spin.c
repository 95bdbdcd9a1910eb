/// Beams that are made to spin while a machine runs, by motions or torques, see beam_spin.h. What they start with is looked at by the builder.
#include "results/beam_spin.h"

#include <math.h>
#include <stdio.h>

#include "elements/vector.h"
#include "model/model.h"

/// All of a beam turns at least as fast: where it only vibrates or is held, a station is slow.
static double slowest(const as_model *m, const as_state *state, const asi_beam_parts *beam) {
  double least = (double)INFINITY;
  for (int i = 0; i <= beam->n; ++i) {
    as_body_motion at;
    asi_model_motion(m, m->station[beam->station + i].body, state->q, state->v, &at);
    least = fmin(least, asi_norm(at.omega));
  }
  return least;
}

bool asi_beam_spin_text(const as_model *model, const as_state *state, int beam, char *text,
                        size_t size) {
  const asi_beam_parts *b = &model->beam[beam];
  const double spin = b->most_spin < (double)INFINITY ? slowest(model, state, b) : 0.0;
  if (spin <= b->most_spin) return false;
  snprintf(text, size,
           "Beam \"%.60s\" turns at %.4g rad/s at t = %.6g s, faster than its first frequency of "
           "about %.4g rad/s, and has %d element%s: so coarse a mesh may be unstable by itself; it "
           "needs %d or more.",
           asi_names_get(&model->names[ASI_SORT_BEAM], beam), spin, state->t, b->most_spin, b->n,
           b->n > 1 ? "s" : "", ASI_SPINNING_ELEMENTS);
  return true;
}
