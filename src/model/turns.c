/// Whether steps of a model keep screws and gears in mesh, see elements/coupling.c, angles that formulas read in
/// sight, see angles.c, and springs from turning over, see elements/spring.c.
#include "alphastep/problem.h"
#include "elements/coupling.h"
#include "elements/spring.h"
#include "model/look.h"

static bool is_meshed(as_joint_kind kind) {
  return kind == AS_JOINT_SCREW || kind == AS_JOINT_COUPLING;
}

/// The mass that the ends of an element have against each other.
static double reduced_mass(const as_model *m, const asi_placed *p) {
  double inverse = 0.0;
  for (int k = 0; k < 2; ++k)
    if (p->e.body[k] != AS_GROUND) inverse += 1.0 / m->body[p->e.body[k]].mass;
  return 1.0 / inverse;
}

/// [EL.1] The element of a spring that has turned over, or -1. The stiffness at rest tells cheaply which springs a step follows.
static int springs_turn_over(const as_model *m, const as_state at[2]) {
  const double h = at[1].t - at[0].t;
  for (int i = 0; i < m->n_forces; ++i) {
    const asi_placed *p = &m->element[m->force[i]];
    if (p->e.type != &asi_spring_type) continue;
    const asi_spring *spring = p->data;
    const double mass = reduced_mass(m, p);
    const bool linear = spring->law.spring.curve == NULL && spring->law.both.curve == NULL;
    if (spring->law.rest == 0.0 || (linear && spring->law.stiffness * h * h < mass)) continue;
    as_body_motion before[AS_ELEMENT_BODIES], after[AS_ELEMENT_BODIES];
    const as_element_input from = asi_look(m, &at[0], p, before),
                           to = asi_look(m, &at[1], p, after);
    if (asi_spring_turns_over(spring, &from, &to, mass, h)) return m->force[i];
  }
  return -1;
}

static int check_step(const as_point *from, const as_point *to, const bool *inactive, int *row,
                      void *user) {
  const as_model *m = user;
  *row = -1;
  const int joint = asi_model_turns_too_far(m, from, to);
  if (joint >= 0) return ASI_BLAMED + m->joint[joint].element;
  const as_state at[2] = {{.t = from->t, .q = from->q, .v = from->v, .u = from->u},
                          {.t = to->t, .q = to->q, .v = to->v, .u = to->u}};
  const int spring = springs_turn_over(m, at);
  if (spring >= 0) return ASI_BLAMED + spring;
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
  for (int i = 0; i < m->n_forces; ++i)
    if (m->element[m->force[i]].e.type == &asi_spring_type) return check_step;
  return m->n_turns > 0 ? check_step : NULL;
}
