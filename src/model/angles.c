/// Angles that formulas read: they go on beyond half a turn.
///
/// A model has no memory that changes, but its problem's held signals are one: behind the parameters there is one signal
/// for each such angle, which holds what it was at the end of the last step. A formula sees the angle within half a turn
/// of that. So it is continuous, and what it is at the end of a step does not change when the signal is set to it.
#include <math.h>

#include "base/error.h"
#include "model/measures.h"
#include "model/model.h"

/// The angle and its rate, within half a turn of what its signal says.
static int look_at(const as_model *m, int k, const as_point *at, const double *near, double *angle,
                   double *rate) {
  as_body_motion body[2];
  asi_gauge gauge = m->turn[k];
  as_element_input in = {.t = at->t, .u = at->u};
  for (int e = 0; e < 2; ++e) {
    asi_model_motion(m, gauge.body[e], at->q, at->v, &body[e]);
    in.body[e] = &body[e];
    gauge.body[e] = e;
  }
  const int code = asi_gauge_value(&gauge, &in, NULL, near, angle);
  if (code || rate == NULL) return code;
  gauge.rate = true;
  return asi_gauge_value(&gauge, &in, NULL, near, rate);
}

/// Out holds the signals as they were.
static int follow(const as_point *at, double *out, void *user) {
  const as_model *m = user;
  double *const turn = out + m->n_parameters;
  for (int k = 0; k < m->n_turns; ++k) {
    double angle = 0.0;
    if (look_at(m, k, at, turn, &angle, NULL) == AS_DONE) turn[k] = angle;
  }
  return AS_DONE;
}

as_vector_fn *asi_model_follow(const as_model *m) { return m->n_turns > 0 ? follow : NULL; }

/// What a body turns by between two points, and that by its angular velocities, at the most [rad]; bodies that are not rigid: much.
static double turn_of(const as_model *m, int body, const as_point *from, const as_point *to) {
  if (body < 0) return 0.0;
  const asi_body *b = &m->body[body];
  if (asi_body_is_node(b) || b->n != 6) return HUGE_VAL;
  const double *p = from->q + b->q + 3, *q = to->q + b->q + 3, *w = from->v + b->v + 3;
  const double *z = to->v + b->v + 3, h = to->t - from->t;
  double apart = 0.0, both = 0.0, w2 = 0.0, z2 = 0.0;
  for (int i = 0; i < 4; ++i) {
    apart += (p[i] - q[i]) * (p[i] - q[i]);
    both += (p[i] + q[i]) * (p[i] + q[i]);
  }
  for (int i = 0; i < 3; ++i) {
    w2 += w[i] * w[i];
    z2 += z[i] * z[i];
  }
  // Quaternions are 2 sin(turn/4) apart, which for less than 1 rad is above 0.98 turn/2.
  return 2.05 * sqrt(fmin(apart, both)) + 0.5 * h * (sqrt(w2) + sqrt(z2));
}

/// Whether a joint turns so little that its angle need not be looked at.
static bool turns_little(const as_model *m, int k, const as_point *from, const as_point *to) {
  const asi_gauge *g = &m->turn[k];
  if (g->of.kind != ASI_COORDINATE_ANGLE || g->ends.motion[0].turn.curve ||
      g->ends.motion[1].turn.curve)
    return false;
  return turn_of(m, g->body[0], from, to) + turn_of(m, g->body[1], from, to) < 1.0;
}

int asi_model_turns_too_far(const as_model *m, const as_point *from, const as_point *to) {
  const double h = to->t - from->t, quarter = 1.5707963267948966;
  for (int k = 0; k < m->n_turns; ++k) {
    double angle[2], rate[2];
    const double *near = from->u + m->n_parameters;
    if (turns_little(m, k, from, to)) continue;
    if (look_at(m, k, from, near, &angle[0], &rate[0]) ||
        look_at(m, k, to, near, &angle[1], &rate[1]))
      continue;
    const double expected = angle[0] + 0.5 * h * (rate[0] + rate[1]);
    if (!(expected - angle[1] < quarter && angle[1] - expected < quarter)) return m->turn_joint[k];
  }
  return -1;
}

// ---- making -----------------------------------------------------------------------------------------

static void resolve(const as_model *m, asi_frame_motion *motion) {
  asi_curve_ref *const ref[4] = {&motion->shift[0], &motion->shift[1], &motion->shift[2],
                                 &motion->turn};
  for (int k = 0; k < 4; ++k) ref[k]->curve = ref[k]->index >= 0 ? &m->curve[ref[k]->index] : NULL;
}

as_status asi_model_make_turns(as_model *m, const as_builder *b, as_error *error) {
  m->turn = asi_calloc((size_t)b->n_turns, sizeof *m->turn);
  m->turn_joint = asi_calloc((size_t)b->n_turns, sizeof *m->turn_joint);
  if (m->turn == NULL || m->turn_joint == NULL) return asi_fail_memory(error);
  m->n_turns = b->n_turns;
  for (int k = 0; k < b->n_turns; ++k) {
    asi_coordinate all[AS_JOINT_COORDINATES];
    asi_joint_coordinates(b->joint[b->turn[k].joint].kind, all);
    m->turn[k] = asi_joint_gauge(b, b->turn[k].joint, all[b->turn[k].coordinate]);
    m->turn[k].turn = k;
    m->turn_joint[k] = b->turn[k].joint;
    m->u0[m->n_parameters + k] = b->joint[b->turn[k].joint].start[b->turn[k].coordinate];
    for (int e = 0; e < 2; ++e) resolve(m, &m->turn[k].ends.motion[e]);
  }
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *p = &m->element[i];
    if (p->descriptor->set_turns) p->descriptor->set_turns(m->data + p->e.data, m->n_parameters);
  }
  const as_point start = {.q = m->q0, .v = m->v0, .u = m->u0};
  (void)follow(&start, m->u0, m);
  return AS_OK;
}
