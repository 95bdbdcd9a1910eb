/// What a machine does, see quantities.h: energies, momenta, powers, gaps.
#include "alphastep/quantities.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/block_row.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/flexibles.h"
#include "model/inertia.h"
#include "model/look.h"

void asi_look_at(const as_model *m, const as_state *state, const asi_placed *p,
                 as_body_motion body[AS_ELEMENT_BODIES], as_element_input *in) {
  in->t = state->t;
  in->lambda = state->lambda ? state->lambda + p->row : NULL;
  in->psi = state->psi ? state->psi + p->velocity_row : NULL;
  in->u = state->u ? state->u : m->u0;
  in->x = state->x;
  in->y = state->y;
  in->read = state->lambda ? state->lambda + p->read_row : NULL;
  in->why = NULL;
  in->state = asi_element_states(m, p, state->x);
  for (int b = 0; b < p->e.n_bodies; ++b) {
    asi_model_motion(m, p->e.body[b], state->q, state->v, &body[b]);
    in->body[b] = &body[b];
  }
}

as_element_input asi_look(const as_model *m, const as_state *state, const asi_placed *p,
                          as_body_motion body[AS_ELEMENT_BODIES]) {
  as_element_input in = {.t = state->t};
  asi_look_at(m, state, p, body, &in);
  return in;
}

/// The block of a formula: inputs of sampled linear systems have no signal.
static int block_of(const as_model *m, int element) {
  const asi_block_row *row = m->element[element].data;
  if (row->signal >= 0) return m->blocks->signal[row->signal].block;
  for (int i = 0; i < m->blocks->n_linear; ++i)
    for (int j = 0; j < m->blocks->linear[i].system.n_inputs; ++j)
      if (m->blocks->linear[i].element[j] == element) return m->blocks->linear[i].block;
  return -1;
}

const char *asi_element_name(const as_model *m, int element, asi_entity_kind *sort) {
  int number = 0;
  if (m->element[element].e.type == &asi_block_row_type) {
    *sort = ASI_SORT_BLOCK;
    return asi_names_get(&m->names[ASI_SORT_BLOCK], block_of(m, element));
  }
  *sort = ASI_SORT_BEAM;
  for (int i = 0; i < m->n_beams; ++i)
    if (element >= m->beam[i].element && element < m->beam[i].element + m->beam[i].n)
      return asi_names_get(&m->names[ASI_SORT_BEAM], i);
  *sort = ASI_SORT_JOINT;
  while (number < m->n_joints && m->joint[number].element != element) ++number;
  if (number < m->n_joints) return asi_names_get(&m->names[ASI_SORT_JOINT], number);
  *sort = ASI_SORT_FORCE;
  number = 0;
  while (number < m->n_forces && m->force[number] != element) ++number;
  assert(number < m->n_forces);
  return asi_names_get(&m->names[ASI_SORT_FORCE], number);
}

as_status asi_fail_element(const as_model *m, int element, const as_state *state, as_error *error) {
  asi_entity_kind sort;
  char why[320] = "";
  const char *name = asi_element_name(m, element, &sort);
  const as_point at = {.t = state->t,
                       .q = state->q,
                       .v = state->v,
                       .lambda = state->lambda,
                       .psi = state->psi,
                       .x = state->x,
                       .y = state->y,
                       .u = state->u};
  asi_model_explain(&at, ASI_BLAMED + element, why, sizeof why, (void *)(uintptr_t)m);
  return asi_fail(error, AS_ERR_RETRY, state->t, name,
                  "The %s \"%s\" could not be evaluated at t = %.9g s: %s.",
                  asi_entity_kind_name(sort), name, state->t,
                  why[0] ? why : "its power or its energy is no finite number");
}

/// Forces that depend on reactions need them.
static as_status check_read(const as_model *m, int element, const as_state *state,
                            as_error *error) {
  if (m->element[element].e.n_read == 0 || state->lambda) return AS_OK;
  asi_entity_kind sort;
  const char *name = asi_element_name(m, element, &sort);
  return asi_fail(error, AS_ERR_ARGUMENT, state->t, name,
                  "The %s \"%s\" depends on reactions: it needs a state with lambda.",
                  asi_entity_kind_name(sort), name);
}

as_status asi_check_joint(const as_model *m, as_joint_id joint, as_error *error) {
  if (joint.index >= 0 && joint.index < m->n_joints) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no joint %d.", joint.index);
}

void as_model_body_motion(const as_model *m, const as_state *state, as_body_id body,
                          as_body_motion *out) {
  asi_model_motion(m, body.index, state->q, state->v, out);
}

as_status as_model_force(const as_model *m, const as_state *state, as_force_id force, int body,
                         as_wrench *out, as_error *error) {
  if (force.index < 0 || force.index >= m->n_forces)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no force %d.",
                    force.index);
  const asi_placed *p = &m->element[m->force[force.index]];
  if (body < 0 || body >= p->e.n_bodies)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The force \"%s\" has no body %d: it has %d.",
                    asi_names_get(&m->names[ASI_SORT_FORCE], force.index), body, p->e.n_bodies);
  const as_status status = check_read(m, m->force[force.index], state, error);
  if (status) return status;
  as_body_motion motion[AS_ELEMENT_BODIES];
  double f[AS_ELEMENT_COLUMNS] = {0};
  const as_element_input in = asi_look(m, state, p, motion);
  const as_element_output want = {.force = f};
  if (p->e.type->evaluate(&in, &want, p->data))
    return asi_fail_element(m, m->force[force.index], state, error);
  asi_copy(f + 6 * body, out->force);
  asi_rotate(motion[body].R, f + 6 * body + 3, out->torque);
  return AS_OK;
}

/// Whether an element keeps its potential for asi_model_energy_near().
static bool keeps_potential(const asi_placed *p) {
  return p->descriptor->law && asi_law_stores_by_formula(p->descriptor->law(p->data));
}

int asi_model_kept_potentials(const as_model *m) {
  int n = 0;
  for (int i = 0; i < m->n_elements; ++i) n += keeps_potential(&m->element[i]);
  return n;
}

as_status asi_model_energy_near(const as_model *m, const as_state *state, asi_kept_potential *kept,
                                as_energy *out, as_error *error) {
  as_body_motion body[AS_ELEMENT_BODIES];
  *out = (as_energy){0};
  for (int i = 0; i < m->n_bodies; ++i) {
    asi_model_motion(m, i, state->q, state->v, &body[0]);
    out->kinetic += asi_body_kinetic(&m->body[i], &body[0]);
    out->potential -= m->body[i].mass * asi_dot(m->gravity, body[0].x);
  }
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    out->kinetic += asi_superelement_kinetic(s, state->v + s->v);
    out->potential += asi_superelement_potential(s, state->q + s->q);
  }
  asi_flexibles_energy(m, state, out);
  int failed;
  if (!asi_inertia_energy(m, state, out, &failed)) return asi_fail_element(m, failed, state, error);
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *p = &m->element[i];
    if (p->e.type->potential == NULL) continue;
    const as_element_input in = asi_look(m, state, p, body);
    const double energy = kept && keeps_potential(p)
                              ? p->descriptor->potential_near(p->data, &in, kept++)
                              : p->e.type->potential(&in, p->data);
    if (!isfinite(energy)) return asi_fail_element(m, i, state, error);
    out->potential += energy;
  }
  return AS_OK;
}

as_status as_model_energy(const as_model *m, const as_state *state, as_energy *out,
                          as_error *error) {
  return asi_model_energy_near(m, state, NULL, out, error);
}

/// The part of a row's rate that is not its gradient times the velocities.
static double explicit_rate(const asi_placed *p, const as_element_input *in, double rate,
                            const double *gradient) {
  for (int b = 0; b < p->e.n_bodies; ++b) {
    const double *line = gradient + 6 * b;
    rate -= asi_dot(line, in->body[b]->v) + asi_dot(line + 3, in->body[b]->omega);
  }
  return rate;
}

/// What a prescribed motion brings in: -lambda . B v = lambda . g_t, since g' = g_t + B v = 0; of velocity
/// rows -psi . k_v v = psi . (k - k_v v).
static bool motion_power(const asi_placed *p, const as_element_input *in, double *out) {
  double rate[AS_ELEMENT_ROWS] = {0}, g_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS] = {0};
  double k[AS_ELEMENT_ROWS] = {0}, k_v[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS] = {0};
  const as_element_output want = {.rate = rate, .g_q = g_q, .k = k, .k_v = k_v};
  const int columns = 6 * p->e.n_bodies;
  if (p->e.type->evaluate(in, &want, p->data)) return false;
  for (int r = 0; r < p->e.n_rows; ++r)
    *out += in->lambda[r] * explicit_rate(p, in, rate[r], g_q + r * columns);
  for (int r = 0; r < p->e.n_velocity_rows; ++r)
    *out += in->psi[r] * explicit_rate(p, in, k[r], k_v + r * columns);
  return true;
}

static as_status superelement_power(const as_model *m, const as_state *state, as_power *out,
                                    as_error *error) {
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    const char *name = asi_names_get(&m->names[ASI_SORT_SUPERELEMENT], i);
    as_element_power power;
    if (!asi_superelement_power(s, state->t, state->v + s->v, &power))
      return asi_fail(error, AS_ERR_RETRY, state->t, name,
                      "The load of superelement \"%s\" could not be evaluated at t = %.9g s.", name,
                      state->t);
    out->dissipated += power.dissipated;
    out->forces += power.supplied;
  }
  return AS_OK;
}

as_status as_model_power(const as_model *m, const as_state *state, as_power *out, as_error *error) {
  *out = (as_power){0};
  as_status status = superelement_power(m, state, out, error);
  if (status == AS_OK) status = asi_flexibles_power(m, state, out, error);
  if (status) return status;
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *p = &m->element[i];
    const bool moves = p->e.rheonomic || p->e.n_velocity_rows > 0;
    if (p->e.type->power == NULL && !moves) continue;
    if (p->e.type->power) status = check_read(m, i, state, error);
    if (status) return status;
    as_body_motion body[AS_ELEMENT_BODIES];
    as_element_power power = {0};
    const as_element_input in = asi_look(m, state, p, body);
    if (p->e.type->power) p->e.type->power(&in, &power, p->data);
    out->dissipated += power.dissipated;
    out->forces += power.supplied;
    const bool known = (p->e.n_rows == 0 || in.lambda) && (p->e.n_velocity_rows == 0 || in.psi);
    const bool driven = moves && known && p->e.n_rows + p->e.n_velocity_rows > 0;
    if (!isfinite(power.dissipated) || !isfinite(power.supplied) ||
        (driven && !motion_power(p, &in, &out->motions)))
      return asi_fail_element(m, i, state, error);
  }
  return AS_OK;
}

as_status as_meter_update(as_meter *meter, const as_model *m, const as_state *state,
                          as_error *error) {
  as_power now;
  const as_status status = as_model_power(m, state, &now, error);
  if (status) return status;
  if (meter->started) {
    const double half = (state->t - meter->t) / 2.0;
    meter->dissipated += half * (meter->power.dissipated + now.dissipated);
    meter->forces += half * (meter->power.forces + now.forces);
    meter->motions += half * (meter->power.motions + now.motions);
  }
  meter->started = true;
  meter->t = state->t;
  meter->power = now;
  return AS_OK;
}

void as_model_momentum(const as_model *m, const as_state *state, as_momentum *out) {
  *out = (as_momentum){0};
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    as_body_motion at;
    double spin[3], world[3];
    asi_model_motion(m, i, state->q, state->v, &at);
    asi_rotate(body->J, at.omega, spin);
    asi_rotate(at.R, spin, world);
    out->mass += body->mass;
    asi_add(body->mass, at.x, out->center_of_mass);
    asi_add(body->mass, at.v, out->linear);
    asi_add_cross(body->mass, at.x, at.v, out->angular);
    asi_add(1.0, world, out->angular);
  }
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    asi_superelement_momentum(s, state->q + s->q, state->v + s->v, &out->mass, out->center_of_mass,
                              out->linear, out->angular);
  }
  asi_flexibles_momentum(m, state, out);
  asi_inertia_momentum(m, state, out);
  for (int k = 0; k < 3 && out->mass > 0.0; ++k) out->center_of_mass[k] /= out->mass;
}

as_status as_model_gap(const as_model *m, const as_state *state, as_joint_id joint, as_gap *out,
                       as_error *error) {
  const as_status status = asi_check_joint(m, joint, error);
  if (status) return status;
  const int element = m->joint[joint.index].element;
  const asi_placed *p = &m->element[element];
  double g[AS_ELEMENT_ROWS] = {0}, rate[AS_ELEMENT_ROWS] = {0}, k[AS_ELEMENT_ROWS] = {0};
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = asi_look(m, state, p, body);
  const as_element_output want = {.g = g, .rate = rate, .k = k};
  if (p->e.type->evaluate(&in, &want, p->data)) return asi_fail_element(m, element, state, error);
  *out = (as_gap){0};
  for (int r = 0; r < p->e.n_rows; ++r) {
    out->position = fmax(out->position, fabs(g[r]));
    out->velocity = fmax(out->velocity, fabs(rate[r]));
  }
  for (int r = 0; r < p->e.n_velocity_rows; ++r) out->velocity = fmax(out->velocity, fabs(k[r]));
  return AS_OK;
}
