/// What beams do: forces, strains and stresses of sections, deflections.
///
/// [BE.11] An element exerts (f_A, f_B) on its ends, of which the elastic part is f_A = N_A and f_B = -N_B. Loads, weight and inertia
/// between the nodes act there too, by what the element and the lumped mass of its bodies give them, q_A and q_B. So the sections at its
/// ends carry N_A + q_A and N_B - q_B, which are of second order.
#include <math.h>
#include <string.h>

#include "alphastep/beam.h"
#include "base/error.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "model/look.h"
#include "model/model.h"

int as_model_beams(const as_model *m) { return m->n_beams; }

as_beam_id as_model_find_beam(const as_model *m, const char *name) {
  const int number = asi_names_find(&m->names[ASI_SORT_BEAM], name);
  return (as_beam_id){number >= 0 ? number : AS_NO_BEAM.index};
}

const char *as_model_beam_name(const as_model *m, as_beam_id beam) {
  return asi_names_get(&m->names[ASI_SORT_BEAM], beam.index);
}

int as_model_beam_stations(const as_model *m, as_beam_id beam) {
  return beam.index >= 0 && beam.index < m->n_beams ? m->beam[beam.index].n + 1 : -1;
}

as_body_id as_model_beam_node(const as_model *m, as_beam_id beam, int station) {
  if (station < 0 || station >= as_model_beam_stations(m, beam)) return AS_NO_BODY;
  return (as_body_id){m->station[m->beam[beam.index].station + station].body};
}

// ---- forces -----------------------------------------------------------------------------------------

/// v' and omega' of an end; zeros where they are not known.
static void accelerate(const as_model *m, const as_state *state, int body, const as_body_motion *at,
                       double a[6]) {
  memset(a, 0, 6 * sizeof *a);
  if (body < 0 || state->vdot == NULL || asi_body_is_node(&m->body[body])) return;
  memcpy(a, state->vdot + m->body[body].v, 6 * sizeof *a);
  if (!m->body[body].se3) return;
  double u[3], local[3];
  asi_rotate_back(at->R, at->v, u);
  asi_copy(a, local);
  asi_add_cross(1.0, at->omega, u, local);
  asi_rotate(at->R, local, a);
}

/// q of an end of the element: force in world axes, torque about its body's centre of mass in body axes.
static int between(const as_model *m, const as_state *state, const asi_placed *p,
                   const as_element_input *in, int end, double q[6]) {
  const asi_beam *b = p->data;
  double a[ASI_PAIR], force[ASI_PAIR] = {0}, M[ASI_PAIR * ASI_PAIR] = {0};
  const as_element_output out = {.force = force};
  const bool moves = state->vdot != NULL;
  for (int e = 0; e < 2; ++e) accelerate(m, state, p->e.body[e], in->body[e], a + 6 * e);
  if (b->heavy) asi_beam_add_inertia(b, in, &out);
  const int code = b->loaded ? asi_beam_add_load(b, in, &out) : AS_DONE;
  if (b->heavy && moves) asi_beam_inertia(in, NULL, &(as_element_inertia){.M = M}, b);
  memcpy(q, force + 6 * end, 6 * sizeof *q);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < ASI_PAIR && moves; ++j) q[i] -= M[(6 * end + i) * ASI_PAIR + j] * a[j];
  asi_add(b->lumped[end], b->gravity, q);
  if (!moves || p->e.body[end] < 0) return code;
  const double *omega = in->body[end]->omega;
  double momentum[3], rate[3];
  asi_add(-b->lumped[end], a + 6 * end, q);
  asi_rotate(b->turned[end], a + 6 * end + 3, rate);
  asi_rotate(b->turned[end], omega, momentum);
  asi_add(-1.0, rate, q + 3);
  asi_add_cross(-1.0, omega, momentum, q + 3);
  return code;
}

/// A wrench on a body as seen from a section on it.
static void to_section(const as_body_motion *body, const asi_frame *f, const double q[6],
                       double out[6]) {
  double force[3], torque[3];
  asi_rotate_back(body->R, q, force);
  asi_copy(q + 3, torque);
  asi_add_cross(-1.0, f->p, force, torque);
  for (int k = 0; k < 3; ++k) {
    out[k] = asi_dot(f->axis + 3 * k, force);
    out[3 + k] = asi_dot(f->axis + 3 * k, torque);
  }
}

static as_status section_force(const as_model *m, const as_state *state, int element, int end,
                               double out[6], as_error *error) {
  const asi_placed *p = &m->element[element];
  const asi_beam *b = p->data;
  as_body_motion body[AS_ELEMENT_BODIES];
  double ends[2][ASI_BEAM], strain[ASI_BEAM], q[6], seen[6];
  const as_element_input in = asi_look(m, state, p, body);
  if (asi_beam_ends(b, &in, ends, strain) || between(m, state, p, &in, end, q))
    return asi_fail_element(m, element, state, error);
  to_section(&body[end], &b->frame[end], q, seen);
  for (int k = 0; k < 6; ++k) out[k] = ends[end][k] + (end ? -seen[k] : seen[k]);
  return AS_OK;
}

// ---- sections ---------------------------------------------------------------------------------------

/// Where a station is.
static void stand(const as_model *m, const as_state *state, const asi_station *s, double *x,
                  double *R) {
  as_body_motion body;
  double p[3];
  asi_model_motion(m, s->body, state->q, state->v, &body);
  asi_rotate(body.R, s->frame.p, p);
  asi_sum(body.x, 1.0, p, x);
  for (int k = 0; k < 3; ++k) {
    double axis[3];
    asi_rotate(body.R, s->frame.axis + 3 * k, axis);
    asi_set(axis[0], axis[1], axis[2], p);
    for (int i = 0; i < 3; ++i) R[3 * i + k] = p[i];
  }
}

static void deflect(const as_model *m, const as_state *state, const asi_station *first,
                    const asi_station *s, const double *x, double *out) {
  double root[3], R[9], now[3], then[3];
  stand(m, state, first, root, R);
  asi_sum(x, -1.0, root, now);
  asi_rotate_back(R, now, out);
  asi_sum(s->position, -1.0, first->position, then);
  for (int k = 0; k < 3; ++k) out[k] -= asi_dot(first->axes + 3 * k, then);
}

/// E (stretch + z bend_y - y bend_z), at the outline's fibres and the largest of all.
static void set_stress(const asi_station *s, const as_beam_state *at, double stress[5]) {
  const double y = s->half[0], z = s->half[1], E = s->modulus;
  const double top = at->bend[1] * z, left = -at->bend[2] * y;
  const double most = s->round ? hypot(top, left) : fabs(top) + fabs(left);
  stress[0] = E * (at->strain[0] + top);
  stress[1] = E * (at->strain[0] - top);
  stress[2] = E * (at->strain[0] + left);
  stress[3] = E * (at->strain[0] - left);
  stress[4] = E * (at->strain[0] + copysign(most, at->strain[0]));
}

as_status as_model_beam_state(const as_model *m, const as_state *state, as_beam_id beam,
                              int station, as_beam_state *out, as_error *error) {
  if (station < 0 || station >= as_model_beam_stations(m, beam))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no station %d of beam %d.",
                    station, beam.index);
  const asi_beam_parts *parts = &m->beam[beam.index];
  const asi_station *s = &m->station[parts->station + station];
  const bool last = station == parts->n;
  double N[6], strain[6] = {0};
  const as_status status = section_force(m, state, parts->element + station - last, last, N, error);
  if (status) return status;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) strain[i] += s->compliance[6 * i + j] * N[j];
  stand(m, state, s, out->position, out->R);
  asi_copy(N, out->force);
  asi_copy(N + 3, out->moment);
  asi_copy(strain, out->strain);
  asi_copy(strain + 3, out->bend);
  deflect(m, state, &m->station[parts->station], s, out->position, out->deflection);
  set_stress(s, out, out->stress);
  return AS_OK;
}
