/// A model that starts elsewhere than it was built: positions, states, outputs and held signals of another state, velocities as they were
/// given. A velocity is given in the world, an angular velocity in the body's axes; both stay what they are there. And wheels that
/// start rolling.
#include <string.h>

#include "alphastep/tyre.h"
#include "core/kinematics/problem.h"
#include "elements/tyre.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/model.h"

/// What is given of a body is where it is now.
static void move_body(as_model *m, int i, const as_state *at) {
  const asi_body *body = &m->body[i];
  as_body_motion before, now;
  double arm[3];
  if (asi_body_is_node(body)) return;
  asi_model_motion(m, i, m->q0, m->v0, &before);
  asi_model_motion(m, i, at->q, m->v0, &now);
  asi_rotate(now.R, body->com, arm);
  asi_sum(now.x, -1.0, arm, m->given[i].position);
  if (body->n == 6) memcpy(m->given[i].quaternion, at->q + body->q + 3, 4 * sizeof(double));
  if (body->se3) asi_rotate_back(now.R, before.v, m->v0 + body->v);
}

void as_model_start_elsewhere(as_model *m, const as_state *at) {
  const as_problem_def *n = &m->problem->def;
  for (int i = 0; i < m->n_bodies; ++i) move_body(m, i, at);
  memcpy(m->q0, at->q, (size_t)m->nq * sizeof(double));
  if (n->n_u > 0) memcpy(m->u0, at->u, (size_t)n->n_u * sizeof(double));
  if (n->n_x > 0) memcpy(m->blocks->x0, at->x, (size_t)n->n_x * sizeof(double));
  if (n->n_y > 0) memcpy(m->blocks->y0, at->y, (size_t)n->n_y * sizeof(double));
}

/// Adds to the spin of a tyre's wheel what is missing.
static void roll(as_model *m, int element, const as_tyre_contact *contact) {
  const asi_placed *p = &m->element[element];
  const asi_tyre *tyre = p->data;
  const int i = p->e.body[1];
  double *omega = m->v0 + m->body[i].v + 3;
  const double missing = contact->speed[0] / contact->rolling_radius - asi_dot(omega, tyre->axis);
  asi_sum(omega, missing, tyre->axis, omega);
  asi_copy(omega, m->given[i].angular_velocity);
  m->given[i].what |= AS_GIVEN_ANGULAR_VELOCITY;
  for (int k = 3; k < 6; ++k) m->keep[m->body[i].v + k] &= (unsigned char)~AS_START_FREE_VELOCITY;
}

as_status as_model_start_rolling(as_model *m, int *wheels, as_error *error) {
  const as_state at = {.q = m->q0, .v = m->v0, .x = m->initial.x, .y = m->initial.y, .u = m->u0};
  *wheels = 0;
  for (int f = 0; f < m->n_forces; ++f) {
    as_tyre_contact contact;
    if (!as_model_is_tyre(m, (as_force_id){f}) ||
        asi_body_is_node(&m->body[m->element[m->force[f]].e.body[1]]))
      continue;
    const as_status status = as_model_tyre(m, &at, (as_force_id){f}, &contact, error);
    if (status) return status;
    roll(m, m->force[f], &contact);
    ++*wheels;
  }
  return AS_OK;
}
