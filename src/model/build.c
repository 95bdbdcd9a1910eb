/// Builds a model: copies what the builder has, numbers bodies and rows, has the rest done.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/build.h"
#include "model/flexibles.h"
#include "model/inertia.h"
#include "model/superelements.h"

as_block asi_global_block(asi_local_block block) {
  static const as_block global[ASI_LOCAL_BLOCKS] = {
      AS_BLOCK_F_Q, AS_BLOCK_F_V,      AS_BLOCK_G_Q,      AS_BLOCK_GDOT_Q, AS_BLOCK_K_Q,
      AS_BLOCK_K_V, AS_BLOCK_F_LAMBDA, AS_BLOCK_F_LAMBDA, AS_BLOCK_F_PSI};
  return global[block];
}

const unsigned asi_block_want[ASI_LOCAL_BLOCKS] = {ASI_WANT_F_Q,      ASI_WANT_F_V, ASI_WANT_G_Q,
                                                   ASI_WANT_GDOT_Q,   ASI_WANT_K_Q, ASI_WANT_K_V,
                                                   ASI_WANT_F_LAMBDA, ASI_WANT_G_Q, ASI_WANT_K_V};

/// Copies an array of `count` things; NULL if memory runs out.
static void *copy_array(const void *from, int count, size_t size) {
  void *to = asi_calloc((size_t)count, size);
  if (to && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

static as_status copy_curves(as_model *m, const as_builder *b, as_error *error) {
  m->data = asi_calloc(b->data_used, 1);
  if (m->data == NULL || !asi_curves_copy(b->curve, b->n_curves, &m->curve, &m->n_curves) ||
      !asi_curves_copy(b->table, b->n_tables, &m->table, &m->n_tables))
    return asi_fail_memory(error);
  asi_curves_set_tables(m->curve, m->n_curves, m->table);
  if (b->data_used > 0) memcpy(m->data, b->data, b->data_used);
  for (int i = 0; i < b->n_places; ++i) {
    const asi_curve_ref ref = {b->place[i].curve, &m->curve[b->place[i].curve]};
    memcpy(m->data + b->place[i].offset, &ref, sizeof ref);
  }
  return AS_OK;
}

static as_status copy_parts(as_model *m, const as_builder *b, as_error *error) {
  asi_copy(b->gravity, m->gravity);
  m->n_bodies = b->n_bodies;
  m->n_frames = b->n_frames;
  m->n_joints = b->n_joints;
  m->n_forces = b->n_forces;
  m->n_elements = b->n_elements;
  m->n_parameters = b->n_parameters;
  for (int s = 0; s < ASI_SORTS; ++s) {
    const as_status status = asi_names_copy(&m->names[s], &b->names[s], error);
    if (status) return status;
  }
  m->body = asi_calloc((size_t)b->n_bodies, sizeof *m->body);
  m->body_place = asi_calloc((size_t)b->n_bodies, sizeof *m->body_place);
  m->frame = copy_array(b->frame, b->n_frames, sizeof *m->frame);
  m->joint = copy_array(b->joint, b->n_joints, sizeof *m->joint);
  m->force = copy_array(b->force, b->n_forces, sizeof *m->force);
  m->n_roads = b->n_roads;
  m->road = copy_array(b->road, b->n_roads, sizeof *m->road);
  m->n_beams = b->n_beams;
  m->n_stations = b->n_stations;
  m->beam = copy_array(b->beam, b->n_beams, sizeof *m->beam);
  m->station = copy_array(b->station, b->n_stations, sizeof *m->station);
  m->flexible_part = copy_array(b->flexible_part, b->n_flexible_parts, sizeof *m->flexible_part);
  m->element = asi_calloc((size_t)b->n_elements, sizeof *m->element);
  const int held = asi_blocks_held(b);
  if (held < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The delays of sampled blocks are too many periods.");
  m->u0 = asi_calloc((size_t)b->n_parameters + (size_t)b->n_turns + (size_t)held, sizeof *m->u0);
  if (!m->body || !m->body_place || !m->frame || !m->joint || !m->force || !m->element || !m->u0 ||
      !m->beam || !m->station || !m->flexible_part || !m->road)
    return asi_fail_memory(error);
  if (b->n_parameters > 0) memcpy(m->u0, b->parameter, (size_t)b->n_parameters * sizeof *m->u0);
  const as_status status = copy_curves(m, b, error);
  if (status == AS_OK &&
      !asi_flexibles_copy(b->flexible, b->n_flexibles, &m->flexible, &m->n_flexibles))
    return asi_fail_memory(error);
  asi_flexibles_set_curves(m);
  return status ? status : asi_superelements_copy(m, b, error);
}

static as_status number_bodies(as_model *m, const as_builder *b, as_error *error) {
  for (int i = 0; i < b->n_bodies; ++i) {
    asi_body *body = &m->body[i];
    *body = b->body[i].body;
    if (b->body[i].is_node) continue;
    const int flexible = b->body[i].flexible - 1;
    body->flexible = flexible >= 0 && b->flexible[flexible].body == i;
    if (flexible >= 0 && !body->flexible) continue;
    body->q = m->nq;
    body->v = m->n;
    m->nq += body->n == 6 ? 7 : 3;
    m->n += body->n;
  }
  as_status status = asi_superelements_number(m, b, error);
  if (status == AS_OK) status = asi_flexibles_number(m, b, error);
  if (status) return status;
  m->q0 = asi_calloc((size_t)m->nq, sizeof(double));
  m->v0 = asi_calloc((size_t)m->n, sizeof(double));
  if (m->q0 == NULL || m->v0 == NULL) return asi_fail_memory(error);
  for (int i = 0; i < b->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    const asi_body_start *start = &b->body[i];
    if (asi_body_is_node(body)) continue;
    asi_copy(start->at.x, m->q0 + body->q);
    if (body->se3)
      asi_rotate_back(start->at.R, start->at.v, m->v0 + body->v);
    else
      asi_copy(start->at.v, m->v0 + body->v);
    if (body->n < 6) continue;
    memcpy(m->q0 + body->q + 3, start->quaternion, sizeof start->quaternion);
    asi_copy(start->at.omega, m->v0 + body->v + 3);
  }
  asi_superelements_start(m);
  asi_flexibles_start(m);
  m->initial = (as_initial){.q = m->q0, .v = m->v0, .u = m->u0};
  return asi_model_note_given(m, b, error);
}

static as_status number_rows(as_model *m, const as_builder *b, as_error *error) {
  for (int i = 0; i < b->n_elements; ++i) {
    asi_placed *p = &m->element[i];
    p->e = b->element[i];
    p->data = m->data + p->e.data;
    p->descriptor = asi_descriptor_of(p->e.type);
    p->row = m->n_lambda;
    p->velocity_row = m->n_psi;
    m->n_lambda += p->e.n_rows;
    m->n_psi += p->e.n_velocity_rows;
    if (p->e.n_read == 0) continue;
    m->general = true;
    p->read_row = m->element[m->joint[p->e.reads].element].row; // itself, or one before it
  }
  m->n_blocks = m->general ? ASI_LOCAL_BLOCKS : m->n_psi > 0 ? ASI_F_LAMBDA : ASI_K_Q;
  m->row_joint = asi_calloc((size_t)m->n_lambda + (size_t)m->n_psi, sizeof(int));
  m->active = asi_calloc((size_t)m->n_lambda + (size_t)m->n_psi, sizeof(bool));
  if (m->row_joint == NULL || m->active == NULL) return asi_fail_memory(error);
  for (int j = 0; j < m->n_joints; ++j) {
    const asi_placed *p = &m->element[m->joint[j].element];
    for (int r = 0; r < p->e.n_rows; ++r) m->row_joint[p->row + r] = j;
    for (int r = 0; r < p->e.n_velocity_rows; ++r)
      m->row_joint[m->n_lambda + p->velocity_row + r] = j;
    if (m->joint[j].released) m->initial.active = m->active;
  }
  for (int r = 0; r < m->n_lambda + m->n_psi; ++r)
    m->active[r] = !m->joint[m->row_joint[r]].released;
  return AS_OK;
}

static as_status place_all(as_model *m, const as_builder *b, as_error *error) {
  asi_pattern pattern[ASI_LOCAL_BLOCKS] = {{0}}, mass = {0}, mass_q = {0};
  as_status status = asi_build_find_patterns(m, pattern, error);
  if (status == AS_OK) status = asi_build_place_elements(m, pattern, error);
  if (status == AS_OK) status = asi_build_place_balls(m, error);
  if (status == AS_OK) asi_build_place_bodies(m, pattern);
  const as_matrix f_q = asi_matrix_over(&pattern[ASI_F_Q]),
                  f_v = asi_matrix_over(&pattern[ASI_F_V]);
  if (status == AS_OK) status = asi_superelements_place(m, &f_q, &f_v, error);
  if (status == AS_OK) status = asi_build_find_mass(m, &mass, error);
  if (status == AS_OK) status = asi_inertia_place(m, b, &mass, &mass_q, error);
  if (status == AS_OK) status = asi_flexibles_place(m, pattern, &mass, &mass_q, error);
  if (status == AS_OK) status = asi_build_problem(m, pattern, &mass, &mass_q, error);
  for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k) asi_pattern_free(&pattern[k]);
  asi_pattern_free(&mass);
  asi_pattern_free(&mass_q);
  return status;
}

as_status as_builder_build(const as_builder *b, as_model **out, as_error *error) {
  if (out == NULL || b == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_builder_build needs a builder and a place for the model.");
  *out = NULL;
  if (b->n_bodies + b->n_superelements == 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The model has no bodies.");
  as_model *m = asi_calloc(1, sizeof *m);
  if (m == NULL) return asi_fail_memory(error);
  as_status status = copy_parts(m, b, error);
  if (status == AS_OK) status = number_bodies(m, b, error);
  if (status == AS_OK) status = number_rows(m, b, error);
  if (status == AS_OK) status = asi_model_make_turns(m, b, error);
  if (status == AS_OK) status = asi_blocks_number(m, b, error);
  if (status == AS_OK) status = asi_model_find_times(m, error);
  if (status == AS_OK) status = asi_build_find_first(m, error);
  if (status == AS_OK) status = asi_build_find_shapes(m, b, error);
  if (status == AS_OK) status = asi_build_parts(m, error);
  if (status == AS_OK) status = place_all(m, b, error);
  if (status == AS_OK) status = asi_blocks_guess(m, error);
  if (status) {
    as_model_destroy(m);
    return status;
  }
  *out = m;
  return AS_OK;
}

void as_model_destroy(as_model *m) {
  if (m == NULL) return;
  as_problem_destroy(m->problem);
  for (int s = 0; s < ASI_SORTS; ++s) asi_names_free(&m->names[s]);
  for (int i = 0; i < m->n_curves; ++i) asi_curve_free(&m->curve[i]);
  for (int i = 0; i < m->n_tables; ++i) asi_curve_free(&m->table[i]);
  for (int i = 0; i < m->n_shapes; ++i)
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k) {
      free(m->shape[i].local[k]);
      free(m->shape[i].strip[k]);
    }
  for (int i = 0; i < m->n_superelements; ++i) asi_superelement_free(&m->superelement[i]);
  free(m->superelement);
  free(m->node);
  asi_flexibles_free(m->flexible, m->n_flexibles);
  free(m->view);
  free(m->flexible_part);
  free(m->shape);
  free(m->body);
  free(m->body_place);
  free(m->untouched);
  free(m->frame);
  free(m->joint);
  free(m->force);
  free(m->road);
  free(m->beam);
  free(m->station);
  free(m->element);
  free(m->position);
  free(m->ball);
  free(m->curve);
  free(m->table);
  free(m->data);
  free(m->mass);
  free(m->massive);
  free(m->inertia);
  free(m->row_joint);
  free(m->active);
  free(m->q0);
  free(m->v0);
  free(m->keep);
  free(m->given);
  free(m->u0);
  free(m->turn);
  free(m->turn_joint);
  free(m->timed);
  asi_blocks_free(m->blocks);
  free(m->part_of_body);
  free(m->part_start);
  free(m->part_element);
  free(m);
}
