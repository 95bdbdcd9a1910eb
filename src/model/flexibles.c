/// Flexible bodies in a model: their numbers, their entries in the problem's blocks, what is asked about them.
///
/// A frame is an ordinary body, perhaps with lumped masses of beams; its mass and inertia of the flexible body stand here. Rows of a
/// column are those of the frame, which follow each other, and those of z, which do too: two places say where they are.
#include "model/flexibles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "linalg/sparse.h"

// ---- copies -----------------------------------------------------------------------------------------

void asi_flexible_free(asi_flexible *f) {
  as_flexible_destroy(f->data);
  free(f->z0);
  free(f->z1);
  free(f->load);
  free(f->place);
}

void asi_flexibles_free(asi_flexible *flexible, int n) {
  for (int i = 0; i < n; ++i) asi_flexible_free(&flexible[i]);
  free(flexible);
}

static void *duplicate(const void *from, int count, size_t size) {
  void *to = asi_calloc((size_t)count, size);
  if (to && count > 0) memcpy(to, from, (size_t)count * size);
  return to;
}

bool asi_flexibles_copy(const asi_flexible *from, int n, asi_flexible **out, int *n_out) {
  *n_out = 0;
  *out = asi_calloc((size_t)n, sizeof **out);
  if (*out == NULL) return false;
  for (int i = 0; i < n; ++i) {
    asi_flexible *to = &(*out)[(*n_out)++];
    const int count = from[i].data->coordinate_count;
    *to = from[i];
    to->place = NULL;
    to->data = NULL;
    to->z0 = duplicate(from[i].z0, count, sizeof(double));
    to->z1 = duplicate(from[i].z1, count, sizeof(double));
    to->load = duplicate(from[i].load, from[i].n_loads, sizeof *to->load);
    if (!to->z0 || !to->z1 || !to->load || as_flexible_copy(from[i].data, &to->data, NULL))
      return false;
  }
  return true;
}

void asi_flexibles_set_curves(as_model *m) {
  for (int i = 0; i < m->n_flexibles; ++i)
    for (int k = 0; k < m->flexible[i].n_loads; ++k) {
      asi_curve_ref *ref = &m->flexible[i].load[k].factor;
      ref->curve = ref->index >= 0 ? &m->curve[ref->index] : NULL;
    }
}

// ---- building ---------------------------------------------------------------------------------------

asi_view asi_flexible_view(const asi_flexible *f, int node) {
  const as_flexible_data *d = f->data;
  asi_view view = {.body = f->body, .q = f->q, .v = f->v, .rotates = d->interface_rotations[node]};
  int first = 0;
  for (int i = 1; i < node; ++i) first += d->interface_rotations[i] ? 6 : 3;
  view.z_q = f->z_q + first;
  view.z_v = f->z_v + first;
  asi_sum(d->interface_positions[node], -1.0, d->interface_positions[0], view.rest);
  return view;
}

as_status asi_flexibles_number(as_model *m, const as_builder *b, as_error *error) {
  m->view = asi_calloc((size_t)m->n_bodies, sizeof *m->view);
  if (m->view == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_flexibles; ++i) {
    asi_flexible *f = &m->flexible[i];
    f->q = m->body[f->body].q;
    f->v = m->body[f->body].v;
    f->z_q = m->nq;
    f->z_v = m->n;
    if (f->data->coordinate_count > AS_SPARSE_ROWS - m->nq)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The model has more than %d coordinates.", (int)AS_SPARSE_ROWS);
    m->nq += f->data->coordinate_count;
    m->n += f->data->coordinate_count;
  }
  for (int i = 0; i < m->n_bodies; ++i) {
    if (b->body[i].flexible == 0 || m->body[i].flexible) continue;
    const asi_flexible *f = &m->flexible[b->body[i].flexible - 1];
    m->view[i] = asi_flexible_view(f, i - f->body);
    m->body[i].view = &m->view[i];
    m->body[i].q = m->view[i].z_q;
    m->body[i].v = m->view[i].z_v;
  }
  return AS_OK;
}

void asi_flexibles_start(const as_model *m) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    const size_t size = (size_t)f->data->coordinate_count * sizeof(double);
    if (size == 0) continue;
    memcpy(m->q0 + f->z_q, f->z0, size);
    memcpy(m->v0 + f->z_v, f->z1, size);
  }
}

/// The number in v of a column: six of the frame, n of z.
static int component(const asi_flexible *f, int i) { return i < 6 ? f->v + i : f->z_v + i - 6; }

void asi_flexibles_record(const as_model *m, int first, as_recorder *r) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    const int size = 6 + f->data->coordinate_count;
    for (int j = first; j < size; ++j)
      for (int k = 0; k < size; ++k) asi_recorder_add(r, component(f, k), component(f, j));
  }
}

/// Where rows begin in each column of a pattern; columns before `first` have none.
static void find_places(const asi_flexible *f, const asi_pattern *p, int first, int *place) {
  const as_matrix at = asi_matrix_over(p);
  for (int j = first; j < 6 + f->data->coordinate_count; ++j) {
    place[2 * j] = as_matrix_position(&at, f->v, component(f, j));
    place[2 * j + 1] =
        f->data->coordinate_count > 0 ? as_matrix_position(&at, f->z_v, component(f, j)) : 0;
  }
}

as_status asi_flexibles_place(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                              const asi_pattern *mass, const asi_pattern *mass_q, as_error *error) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    asi_flexible *f = &m->flexible[i];
    const size_t size = 2 * (6 + (size_t)f->data->coordinate_count);
    f->place = asi_calloc(ASI_FLEXIBLE_BLOCKS * size, sizeof(int));
    if (f->place == NULL) return asi_fail_memory(error);
    find_places(f, mass, 0, f->place + ASI_FLEXIBLE_M * size);
    find_places(f, mass_q, 3, f->place + ASI_FLEXIBLE_MA_Q * size);
    find_places(f, &pattern[ASI_F_Q], 3, f->place + ASI_FLEXIBLE_F_Q * size);
    find_places(f, &pattern[ASI_F_V], 3, f->place + ASI_FLEXIBLE_F_V * size);
  }
  return AS_OK;
}

// A mode is as large as what makes the part move by the machine's length, in the mean of its mass.
void asi_flexibles_groups(const as_model *m, double length, int *body, double *typical) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    const as_flexible_data *d = f->data;
    const int n = d->coordinate_count;
    for (int k = 0; k < n; ++k) {
      body[f->z_v + k] = body[f->v];
      typical[f->z_v + k] = length;
      if (k >= n - d->mode_count)
        typical[f->z_v + k] = length * sqrt(d->mass / d->M[(size_t)k * (size_t)(n + 1)]);
    }
    int at = f->z_v;
    for (int node = 1; node < d->interface_count; ++node) {
      for (int c = 3; c < 6 && d->interface_rotations[node]; ++c) typical[at + c] = 1.0;
      at += d->interface_rotations[node] ? 6 : 3;
    }
  }
}

// ---- evaluation -------------------------------------------------------------------------------------

/// Where a flexible body is; `frame` holds the motion of its frame. v may be NULL.
static asi_flexible_point look(const as_model *m, const asi_flexible *f, const double *q,
                               const double *v, as_body_motion *frame) {
  asi_body_motion(&m->body[f->body], q, v, frame);
  return (asi_flexible_point){frame->R, frame->omega, q + f->z_q, v ? v + f->z_v : NULL};
}

static asi_flexible_block block_of(const asi_flexible *f, asi_flexible_block_kind kind,
                                   double *value) {
  const size_t size = 2 * (6 + (size_t)f->data->coordinate_count);
  return (asi_flexible_block){value, f->place + (size_t)kind * size};
}

int asi_flexibles_evaluate(const as_model *m, const as_point *at, double *force,
                           as_block_set wanted, as_matrix *blocks) {
  const bool by_q = wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q), by_v = wanted & AS_BLOCK_BIT(AS_BLOCK_F_V);
  if (!force && !by_q && !by_v) return AS_DONE;
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    const asi_body *body = &m->body[f->body];
    as_body_motion frame;
    const asi_flexible_point p = look(m, f, at->q, at->v, &frame);
    asi_flexible_block f_q =
        block_of(f, ASI_FLEXIBLE_F_Q, by_q ? blocks[AS_BLOCK_F_Q].value : NULL);
    asi_flexible_block f_v =
        block_of(f, ASI_FLEXIBLE_F_V, by_v ? blocks[AS_BLOCK_F_V].value : NULL);
    const asi_body_output own = {force, f_q.value, f_v.value};
    asi_body_evaluate(body, &m->body_place[f->body], &frame, frame.omega, m->gravity, &own);
    if (force) asi_flexible_force(f, &p, m->gravity, force + f->v, force + f->z_v);
    if (by_q || by_v) asi_flexible_add_tangents(f, &p, m->gravity, f_q, f_v);
    const int number = ASI_BLAMED + m->n_elements + m->n_superelements + i;
    const int code =
        asi_flexible_add_loads(f, &p, at->t, force ? force + f->v : NULL,
                               force ? force + f->z_v : NULL, by_q ? &f_q : NULL, NULL);
    if (code) return code > 0 ? number : -number;
  }
  return AS_DONE;
}

void asi_flexibles_mass(const as_model *m, const as_point *at, double *value) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    as_body_motion frame;
    const asi_flexible_point p = look(m, f, at->q, NULL, &frame);
    asi_flexible_mass(f, &p, block_of(f, ASI_FLEXIBLE_M, value));
  }
}

void asi_flexibles_mass_rate(const as_model *m, const as_point *at, double *value) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    as_body_motion frame;
    const asi_flexible_point p = look(m, f, at->q, NULL, &frame);
    asi_flexible_add_mass_rate(f, &p, 1.0, at->vdot + f->v, at->vdot + f->v + 3, at->vdot + f->z_v,
                               block_of(f, ASI_FLEXIBLE_MA_Q, value));
  }
}

// ---- quantities -------------------------------------------------------------------------------------

void asi_flexibles_energy(const as_model *m, const as_state *state, as_energy *out) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    as_body_motion frame;
    double c[3], world[3];
    const asi_flexible_point p = look(m, f, state->q, state->v, &frame);
    out->kinetic += asi_flexible_kinetic(f, &p, frame.v);
    out->potential += asi_flexible_strain_energy(f, p.z);
    asi_flexible_center(f, p.z, c);
    asi_rotate(frame.R, c, world);
    asi_add(f->data->mass, frame.x, world);
    out->potential -= asi_dot(m->gravity, world);
  }
}

void asi_flexibles_momentum(const as_model *m, const as_state *state, as_momentum *out) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    as_body_motion frame;
    double linear[3], angular[3], c[3], world[3];
    const asi_flexible_point p = look(m, f, state->q, state->v, &frame);
    asi_flexible_momentum(f, &p, frame.v, linear, angular);
    asi_flexible_center(f, p.z, c);
    asi_rotate(frame.R, c, world);
    out->mass += f->data->mass;
    asi_add(f->data->mass, frame.x, world);
    asi_add(1.0, world, out->center_of_mass);
    asi_add(1.0, linear, out->linear);
    asi_rotate(frame.R, angular, world);
    asi_add(1.0, world, out->angular);
    asi_add_cross(1.0, frame.x, linear, out->angular);
  }
}

as_status asi_flexibles_power(const as_model *m, const as_state *state, as_power *out,
                              as_error *error) {
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    const char *name = asi_names_get(&m->names[ASI_SORT_FLEXIBLE], i);
    as_body_motion frame;
    const asi_flexible_point p = look(m, f, state->q, state->v, &frame);
    double power[2] = {0.0, 0.0};
    out->dissipated += asi_flexible_dissipation(f, p.z1);
    if (asi_flexible_add_loads(f, &p, state->t, NULL, NULL, NULL,
                               &(asi_flexible_power){frame.v, power}))
      return asi_fail(error, AS_ERR_RETRY, state->t, name,
                      "A load of flexible body \"%s\" could not be evaluated at t = %.9g s.", name,
                      state->t);
    out->forces += power[0];
  }
  return AS_OK;
}

double asi_flexibles_change(const as_model *m, const double *v, const double *old) {
  double sum = 0.0;
  for (int i = 0; i < m->n_flexibles; ++i) {
    const asi_flexible *f = &m->flexible[i];
    double d[6];
    for (int k = 0; k < 6; ++k) d[k] = v[f->v + k] - old[f->v + k];
    sum += f->data->mass * asi_dot(d, d);
    for (int k = 0; k < 3; ++k) sum += d[3 + k] * asi_dot(f->data->J0 + 3 * k, d + 3);
  }
  return sum;
}

// ---- questions --------------------------------------------------------------------------------------

static const asi_flexible *get(const as_model *m, as_flexible_id id) {
  return id.index >= 0 && id.index < m->n_flexibles ? &m->flexible[id.index] : NULL;
}

int as_model_flexibles(const as_model *m) { return m->n_flexibles; }

as_flexible_id as_model_find_flexible(const as_model *m, const char *name) {
  const int number = asi_names_find(&m->names[ASI_SORT_FLEXIBLE], name);
  return (as_flexible_id){number >= 0 ? number : AS_NO_FLEXIBLE.index};
}

const char *as_model_flexible_name(const as_model *m, as_flexible_id id) {
  return asi_names_get(&m->names[ASI_SORT_FLEXIBLE], id.index);
}

const as_flexible_data *as_model_flexible_data(const as_model *m, as_flexible_id id) {
  return get(m, id) ? get(m, id)->data : NULL;
}

int as_model_flexible_q(const as_model *m, as_flexible_id id) {
  return get(m, id) ? get(m, id)->z_q : -1;
}

int as_model_flexible_v(const as_model *m, as_flexible_id id) {
  return get(m, id) ? get(m, id)->z_v : -1;
}

as_body_id as_model_flexible_node(const as_model *m, as_flexible_id id, int node) {
  const asi_flexible *f = get(m, id);
  if (f == NULL || node < 0 || node >= f->data->interface_count) return AS_NO_BODY;
  return (as_body_id){f->body + node};
}

static int find_number(const long *all, int n, long number) {
  int low = 0, high = n - 1;
  while (low <= high) {
    const int middle = low + (high - low) / 2;
    if (all[middle] == number) return middle;
    if (all[middle] < number)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

int as_flexible_point(const as_flexible_data *d, long number) {
  return find_number(d->mesh_ids, d->mesh_count, number);
}

int as_flexible_stress_point(const as_flexible_data *d, long number) {
  return find_number(d->stress_ids, d->stress_count, number);
}

void as_model_flexible_point(const as_model *m, const as_state *state, as_flexible_id id, int point,
                             as_flexible_point_state *out) {
  const asi_flexible *f = get(m, id);
  as_body_motion frame;
  double p[3], moved[3];
  const asi_flexible_point at = look(m, f, state->q, state->v, &frame);
  asi_flexible_deflection(f->data, point, at.z, out->deflection);
  asi_sum(f->data->mesh_positions[point], -1.0, f->data->interface_positions[0], p);
  asi_add(1.0, out->deflection, p);
  asi_rotate(frame.R, p, out->position);
  asi_add(1.0, frame.x, out->position);
  asi_set(0.0, 0.0, 0.0, moved);
  if (at.z1) asi_flexible_deflection(f->data, point, at.z1, moved);
  asi_add_cross(1.0, frame.omega, p, moved);
  asi_rotate(frame.R, moved, out->velocity);
  asi_add(1.0, frame.v, out->velocity);
}

void as_model_flexible_stress(const as_model *m, const as_state *state, as_flexible_id id,
                              int point, double out[7]) {
  const asi_flexible *f = get(m, id);
  const int n = f->data->coordinate_count;
  const double *z = state->q + f->z_q,
               *S = f->data->stress_matrices + 6 * (size_t)point * (size_t)n;
  for (int k = 0; k < 6; ++k) {
    out[k] = 0.0;
    for (int j = 0; j < n; ++j) out[k] += S[k * n + j] * z[j];
  }
  const double xy = out[0] - out[1], yz = out[1] - out[2], zx = out[2] - out[0];
  out[6] = sqrt((xy * xy + yz * yz + zx * zx) / 2.0 + 3.0 * asi_dot(out + 3, out + 3));
}

bool as_model_flexible_range(const as_model *m, const as_state *state, as_flexible_id id,
                             as_flexible_range *out) {
  const asi_flexible *f = get(m, id);
  const as_flexible_data *d = f->data;
  const size_t n = (size_t)d->coordinate_count;
  const double *z = state->q + f->z_q;
  *out = f->range;
  out->spin = asi_norm(state->v + f->v + 3);
  for (int node = 1, at = 0; node < d->interface_count; ++node) {
    double along[3], force[3] = {0};
    asi_sum(d->interface_positions[node], -1.0, d->interface_positions[0], along);
    const double length = asi_norm(along);
    for (size_t r = 0; r < 3; ++r)
      for (size_t j = 0; j < n; ++j) force[r] += d->K[((size_t)at + r) * n + j] * z[j];
    out->deflection = fmax(out->deflection, asi_norm(z + at));
    if (length > 0.0) out->axial = fmax(out->axial, fabs(asi_dot(force, along)) / length);
    if (d->interface_rotations[node]) out->turn = fmax(out->turn, asi_norm(z + at + 3));
    at += d->interface_rotations[node] ? 6 : 3;
  }
  return out->spin <= 0.2 * out->frequency && out->deflection <= 0.1 * out->size &&
         out->turn <= 0.2 && out->axial <= 0.05 * out->buckling;
}
