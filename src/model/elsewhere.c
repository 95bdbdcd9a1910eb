/// A model that starts elsewhere than it was built: positions, states, outputs and held signals of another state, velocities as they were
/// given. A velocity is given in the world, an angular velocity in the body's axes; both stay what they are there.
#include <string.h>

#include "core/kinematics/problem.h"
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
