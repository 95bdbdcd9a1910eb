/// Times that a model knows: where motions, factors and forces by formula bend or jump by the clock.
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "elements/plugin_force.h"
#include "model/blocks.h"
#include "model/model.h"

// What rounding may do to a time.
#define ROUND_OFF (4.0 * DBL_EPSILON)

static bool has_times(const asi_curve *c) {
  return c->formula ? asi_formula_has_times(c->formula) : c->of_time && c->n > 0;
}

as_status asi_model_find_times(as_model *m, as_error *error) {
  m->timed = asi_calloc((size_t)m->n_curves, sizeof(int));
  if (m->timed == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_curves; ++i)
    if (has_times(&m->curve[i])) m->timed[m->n_timed++] = i;
  return AS_OK;
}

/// The next point of a table over the time; a kink is bracketed as in a formula.
static asi_known_time next_point(const asi_curve *c, double t) {
  bool kink = false;
  double point = asi_curve_point(c, t - ROUND_OFF * fabs(t), true, &kink);
  if (!kink) point = asi_curve_point(c, t, true, &kink);
  const double off = kink && isfinite(point) ? 2.0 * ROUND_OFF * fabs(point) : 0.0;
  return (asi_known_time){point - off, point + off, true};
}

static void next_time(double t, const double *u, as_known_time *out, void *user) {
  const as_model *m = user;
  asi_known_time first = {(double)INFINITY, (double)INFINITY, true};
  for (int i = 0; i < m->n_timed; ++i) {
    const asi_curve *c = &m->curve[m->timed[i]];
    const asi_known_time next =
        c->formula ? asi_formula_next_time(c->formula, t, u) : next_point(c, t);
    asi_known_time_join(&first, &next);
  }
  *out = (as_known_time){first.before, first.after, first.bends};
}

as_time_fn *asi_model_next_time(const as_model *m) { return m->n_timed > 0 ? next_time : NULL; }

bool asi_model_is_autonomous(const as_model *m) {
  for (int i = 0; i < m->n_curves; ++i) {
    const asi_curve *c = &m->curve[i];
    if (c->formula ? asi_formula_uses_time(c->formula) : c->of_time) return false;
  }
  for (int i = 0; m->blocks && i < m->blocks->n_linear; ++i)
    if (m->blocks->linear[i].plugin && m->blocks->linear[i].plugin->reads_time) return false;
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_placed *p = &m->element[m->force[i]];
    if (p->e.type == &asi_plugin_force_type &&
        ((const asi_plugin_force_data *)p->data)->force->reads_time)
      return false;
  }
  for (int i = 0; i < m->n_shapes; ++i)
    if (m->shape[i].theirs) return false; // it is given the time
  return true;
}
