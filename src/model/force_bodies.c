/// Which bodies a force acts on.
#include "alphastep/quantities.h"
#include "model/model.h"

int as_model_force_bodies(const as_model *m, as_force_id force, as_body_id *body, int most) {
  if (force.index < 0 || force.index >= m->n_forces) return 0;
  const asi_placed *p = &m->element[m->force[force.index]];
  for (int i = 0; i < p->e.n_bodies && i < most; ++i) body[i] = (as_body_id){p->e.body[i]};
  return p->e.n_bodies;
}
