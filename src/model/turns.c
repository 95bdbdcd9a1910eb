/// Whether steps of a model keep screws and gears in mesh, see elements/coupling.c, and angles that formulas read in
/// sight, see angles.c.
#include "alphastep/problem.h"
#include "elements/coupling.h"
#include "model/look.h"

static bool is_meshed(as_joint_kind kind) {
  return kind == AS_JOINT_SCREW || kind == AS_JOINT_COUPLING;
}

static int check_step(const as_point *from, const as_point *to, const bool *inactive, int *row,
                      void *user) {
  const as_model *m = user;
  *row = -1;
  if (m->n_turns > 0 && asi_model_turns_too_far(m, from, to)) return AS_RETRY;
  const as_state at[2] = {{.t = from->t, .q = from->q, .v = from->v},
                          {.t = to->t, .q = to->q, .v = to->v}};
  for (int i = 0; i < m->n_joints; ++i) {
    if (!is_meshed(m->joint[i].kind)) continue;
    const asi_placed *p = &m->element[m->joint[i].element];
    const int meshing = p->row + p->e.n_rows - 1;
    if (inactive[meshing]) continue;
    as_body_motion before[AS_ELEMENT_BODIES], after[AS_ELEMENT_BODIES];
    const as_element_input first = asi_look(m, &at[0], p, before),
                           second = asi_look(m, &at[1], p, after);
    const asi_coupling coupling = m->joint[i].kind == AS_JOINT_SCREW
                                      ? asi_coupling_of_screw(p->data)
                                      : *(const asi_coupling *)p->data;
    if (!asi_coupling_slips(&coupling, &first, &second)) continue;
    *row = meshing;
    return AS_RETRY;
  }
  return AS_DONE;
}

as_step_fn *asi_model_check_step(const as_model *m) {
  for (int i = 0; i < m->n_joints; ++i)
    if (is_meshed(m->joint[i].kind)) return check_step;
  return m->n_turns > 0 ? check_step : NULL;
}
