/// Elements that have mass, in a model: M(q) = M_bodies + sum of M_e(q), with D_q (M v') of each.
///
/// An element writes M for velocities (v world, omega body), which are those of the bodies that it may be on. What rigid motions
/// do to M is all that momenta need: with p = M w, the momentum of a body is (p_v, p_omega), so that
///
///     linear = sum p_v      angular = sum x_b x p_v + R_b p_omega      mass = e . sum p_v for v = e everywhere
///     m c x: with all bodies turned by e about the origin, sum p_v = e x m c
#include "model/inertia.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "model/flexibles.h"
#include "model/look.h"
#include "model/strips.h"

// ---- build ------------------------------------------------------------------------------------------

static as_status check_bodies(const as_model *m, int element, as_error *error) {
  const asi_element *e = &m->element[element].e;
  for (int k = 0; k < e->n_bodies; ++k) {
    const asi_body *body = e->body[k] >= 0 ? &m->body[e->body[k]] : NULL;
    if (body == NULL || !(body->se3 || asi_body_is_node(body))) continue;
    asi_entity_kind sort;
    const char *name = asi_element_name(m, element, &sort);
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The %s \"%s\" has mass and is on body \"%s\", %s; it has to be on bodies on "
                    "R^3xSO(3), which is the default.",
                    asi_entity_kind_name(sort), name,
                    asi_names_get(&m->names[ASI_SORT_BODY], e->body[k]),
                    body->view   ? "a node of a flexible body, but its frame"
                    : body->node ? "a node of a superelement"
                                 : "which is on SE(3)");
  }
  return AS_OK;
}

/// The number in v of a row or column; -1: it cannot be moved that way.
static int component(const as_model *m, const asi_element *e, int i) {
  const int body = e->body[i / 6];
  return body >= 0 && i % 6 < m->body[body].n ? m->body[body].v + i % 6 : -1;
}

typedef void visit_fn(void *user, int local, int row, int col);

/// Calls `visit` for each entry that there can be.
static void visit_entries(const as_model *m, const asi_element *e, const bool *flags,
                          visit_fn *visit, void *user) {
  const int columns = 6 * e->n_bodies;
  for (int k = 0; k < columns * columns; ++k) {
    const int row = component(m, e, k / columns), col = component(m, e, k % columns);
    if (flags[k] && row >= 0 && col >= 0) visit(user, k, row, col);
  }
}

static void record(void *user, int local, int row, int col) {
  (void)local;
  asi_recorder_add(user, row, col);
}

typedef struct placing {
  as_matrix over;
  asi_inertia_entry *out;
  int n;
} placing;

static void place(void *user, int local, int row, int col) {
  placing *p = user;
  p->out[p->n++] = (asi_inertia_entry){local, as_matrix_position(&p->over, row, col), 0};
}

/// Whether six rows of a body and three columns are there, and columns of the problem's block are as far from each other.
static bool place_strip(const as_model *m, const asi_element *e, const bool *flags, int local,
                        placing *p) {
  const int columns = 6 * e->n_bodies, i = local / columns, j = local % columns;
  const int row = component(m, e, i), col = component(m, e, j);
  if (i % 6 || j % 3 || e->n_bodies != 2 || row < 0 || col < 0) return false;
  for (int k = 0; k < 18; ++k) {
    const int down = k / 3, right = k % 3;
    if (!flags[local + down * columns + right] || component(m, e, i + down) != row + down ||
        component(m, e, j + right) != col + right)
      return false;
  }
  int at[3];
  for (int k = 0; k < 3; ++k) at[k] = as_matrix_position(&p->over, row, col + k);
  if (at[2] - at[1] != at[1] - at[0]) return false;
  p->out[p->n++] = (asi_inertia_entry){local, at[0], at[1] - at[0]};
  return true;
}

/// Where the entries go: strips, and what is left.
static void place_entries(const as_model *m, const asi_element *e, const bool *flags, placing *p) {
  const int columns = 6 * e->n_bodies;
  bool left[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  memcpy(left, flags, (size_t)columns * (size_t)columns * sizeof *left);
  for (int k = 0; k < columns * columns; ++k)
    if (left[k] && place_strip(m, e, left, k, p))
      for (int i = 0; i < 18; ++i) left[k + i / 3 * columns + i % 3] = false;
  visit_entries(m, e, left, place, p);
}

static as_matrix over(const asi_pattern *p) {
  return (as_matrix){.rows = p->rows, .cols = p->cols, .col_start = p->col_start, .row = p->row};
}

/// The pattern of M with the elements' entries, and the bodies' values in it.
static as_status widen(as_model *m, asi_pattern *mass, as_recorder *r, as_error *error) {
  asi_pattern wide = {0};
  for (int j = 0; j < m->n; ++j)
    for (int k = mass->col_start[j]; k < mass->col_start[j + 1]; ++k)
      asi_recorder_add(r, mass->row[k], j);
  const as_status status = asi_recorder_pattern(r, &wide, error);
  if (status) return status;
  const as_matrix at = over(&wide);
  double *value = asi_calloc((size_t)asi_pattern_nnz(&wide), sizeof *value);
  for (int j = 0; value && j < m->n; ++j)
    for (int k = mass->col_start[j]; k < mass->col_start[j + 1]; ++k)
      value[as_matrix_position(&at, mass->row[k], j)] = m->mass[k];
  asi_pattern_free(mass);
  *mass = wide;
  free(m->mass);
  m->mass = value;
  m->n_mass = (size_t)asi_pattern_nnz(mass);
  return value ? AS_OK : asi_fail_memory(error);
}

static size_t count_flags(const bool *flags, int n) {
  size_t count = 0;
  for (int i = 0; i < n; ++i) count += flags[i];
  return count;
}

static as_status list_massive(as_model *m, const as_builder *b, size_t *entries, as_error *error) {
  for (int i = 0; i < m->n_elements; ++i) m->n_massive += m->element[i].e.inertia != NULL;
  if (m->n_massive == 0) return AS_OK;
  m->massive = asi_calloc((size_t)m->n_massive, sizeof *m->massive);
  if (m->massive == NULL) return asi_fail_memory(error);
  *entries = 0;
  m->joins_inertia = m->n_flexibles == 0;
  for (int i = 0, n = 0; i < m->n_elements; ++i) {
    const asi_element *e = &m->element[i].e;
    if (e->inertia == NULL) continue;
    const as_status status = check_bodies(m, i, error);
    if (status) return status;
    const int size = 36 * e->n_bodies * e->n_bodies;
    m->massive[n++].element = i;
    m->joins_inertia = m->joins_inertia && e->type == &asi_beam_type;
    *entries += count_flags(b->pattern[e->pattern].M, size) +
                count_flags(b->pattern[e->pattern].Ma_q, size);
  }
  return AS_OK;
}

as_status asi_inertia_place(as_model *m, const as_builder *b, asi_pattern *mass,
                            asi_pattern *mass_q, as_error *error) {
  size_t entries = 0;
  as_status status = list_massive(m, b, &entries, error);
  if (status || m->n_massive + m->n_flexibles == 0) return status;
  as_recorder wide = {.rows = m->n, .cols = m->n}, by_q = wide;
  for (int i = 0; i < m->n_massive; ++i) {
    const asi_element *e = &m->element[m->massive[i].element].e;
    visit_entries(m, e, b->pattern[e->pattern].M, record, &wide);
    visit_entries(m, e, b->pattern[e->pattern].Ma_q, record, &by_q);
  }
  asi_flexibles_record(m, 0, &wide);
  asi_flexibles_record(m, 3, &by_q);
  status = widen(m, mass, &wide, error);
  if (status == AS_OK) status = asi_recorder_pattern(&by_q, mass_q, error);
  asi_recorder_free(&wide);
  asi_recorder_free(&by_q);
  if (status) return status;
  m->inertia = asi_calloc(entries, sizeof *m->inertia);
  if (m->inertia == NULL) return asi_fail_memory(error);
  size_t used = 0;
  for (int i = 0; i < m->n_massive; ++i) {
    asi_massive *x = &m->massive[i];
    const asi_element *e = &m->element[x->element].e;
    placing p = {over(mass), m->inertia + used, 0};
    place_entries(m, e, b->pattern[e->pattern].M, &p);
    x->first = used;
    x->n_M = p.n;
    p.over = over(mass_q);
    place_entries(m, e, b->pattern[e->pattern].Ma_q, &p);
    x->n_Ma_q = p.n - x->n_M;
    used += (size_t)p.n;
  }
  return AS_OK;
}

// ---- evaluation -------------------------------------------------------------------------------------

/// Bodies of the element at hand, which are those of the next one, too, in a line of them.
typedef struct seen {
  as_body_motion body[AS_ELEMENT_BODIES];
  int number[AS_ELEMENT_BODIES]; ///< ASI_NONE: none yet
} seen;

static void begin(seen *s) {
  for (int b = 0; b < AS_ELEMENT_BODIES; ++b) s->number[b] = ASI_NONE;
}

/// Finds a body's motion among the last ones, or makes it.
static void see(const as_model *m, const as_point *at, int body, int place, seen *s) {
  if (s->number[place] == body) return;
  int from = place + 1;
  while (from < AS_ELEMENT_BODIES && s->number[from] != body) ++from;
  if (from < AS_ELEMENT_BODIES)
    s->body[place] = s->body[from];
  else
    asi_model_motion(m, body, at->q, at->v, &s->body[place]);
  s->number[place] = body;
}

/// Where the element is; what held signals and blocks give is there too.
static void look(const as_model *m, const as_point *at, const asi_placed *p, seen *s,
                 as_element_input *in) {
  in->t = at->t;
  in->u = at->u;
  in->x = at->x;
  in->y = at->y;
  in->why = NULL;
  in->acceleration = NULL;
  asi_element_point(at, p, in);
  for (int b = 0; b < p->e.n_bodies; ++b) {
    see(m, at, p->e.body[b], b, s);
    in->body[b] = &s->body[b];
  }
}

static int blame(int code, int element) {
  return code > 0 ? ASI_BLAMED + element : -(ASI_BLAMED + element);
}

static void scatter(const asi_inertia_entry *entry, int n, const double *from, double *to) {
  for (int k = 0; k < n; ++k) {
    double *const at = to + entry[k].position;
    const int step = entry[k].step;
    if (step > 0)
      asi_add_strip(from + entry[k].local, ASI_PAIR, at, at + step, at + 2 * step);
    else
      *at += from[entry[k].local];
  }
}

int asi_inertia_mass(const as_model *m, const as_point *at, double *value) {
  seen bodies;
  double M[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  begin(&bodies);
  for (int i = 0; i < m->n_massive; ++i) {
    const asi_massive *x = &m->massive[i];
    const asi_placed *p = &m->element[x->element];
    as_element_input in;
    look(m, at, p, &bodies, &in);
    memset(M, 0, 36 * (size_t)p->e.n_bodies * (size_t)p->e.n_bodies * sizeof *M);
    const int code = p->e.inertia(&in, NULL, &(as_element_inertia){.M = M}, p->data);
    if (code) return blame(code, x->element);
    scatter(m->inertia + x->first, x->n_M, M, value);
  }
  return AS_DONE;
}

void asi_inertia_acceleration(const as_model *m, const asi_element *e, const double *vdot,
                              double *a) {
  for (int b = 0; b < e->n_bodies; ++b, a += 6) {
    const asi_body *body = e->body[b] >= 0 ? &m->body[e->body[b]] : NULL;
    for (int k = 0; k < 6; ++k) a[k] = body && k < body->n ? vdot[body->v + k] : 0.0;
  }
}

int asi_inertia_blocks(const as_model *m, const as_point *at, double *value) {
  seen bodies;
  double Ma_q[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS], a[AS_ELEMENT_COLUMNS];
  begin(&bodies);
  for (int i = 0; i < m->n_massive; ++i) {
    const asi_massive *x = &m->massive[i];
    const asi_placed *p = &m->element[x->element];
    const int columns = 6 * p->e.n_bodies;
    as_element_input in;
    look(m, at, p, &bodies, &in);
    asi_inertia_acceleration(m, &p->e, at->vdot, a);
    memset(Ma_q, 0, (size_t)columns * (size_t)columns * sizeof *Ma_q);
    const int code = p->e.inertia(&in, a, &(as_element_inertia){.Ma_q = Ma_q}, p->data);
    if (code) return blame(code, x->element);
    scatter(m->inertia + x->first + x->n_M, x->n_Ma_q, Ma_q, value);
  }
  return AS_DONE;
}

// ---- quantities -------------------------------------------------------------------------------------

/// M of an element at a state; false: it could not be evaluated.
static bool take_mass(const as_model *m, const as_state *state, int element,
                      as_body_motion body[AS_ELEMENT_BODIES], double *M) {
  const asi_placed *p = &m->element[element];
  const as_element_input in = asi_look(m, state, p, body);
  memset(M, 0, 36 * (size_t)p->e.n_bodies * (size_t)p->e.n_bodies * sizeof *M);
  return p->e.inertia(&in, NULL, &(as_element_inertia){.M = M}, p->data) == AS_DONE;
}

static void multiply(const double *M, int n, const double *w, double *out) {
  for (int i = 0; i < n; ++i) {
    out[i] = 0.0;
    for (int j = 0; j < n; ++j) out[i] += M[i * n + j] * w[j];
  }
}

static void gather(const as_body_motion *body, int n_bodies, double *w) {
  for (int b = 0; b < n_bodies; ++b) {
    asi_copy(body[b].v, w + 6 * b);
    asi_copy(body[b].omega, w + 6 * b + 3);
  }
}

bool asi_inertia_energy(const as_model *m, const as_state *state, as_energy *out, int *failed) {
  as_body_motion body[AS_ELEMENT_BODIES];
  double M[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS], w[AS_ELEMENT_COLUMNS], p[AS_ELEMENT_COLUMNS];
  for (int i = 0; i < m->n_massive; ++i) {
    *failed = m->massive[i].element;
    const int n_bodies = m->element[*failed].e.n_bodies;
    if (!take_mass(m, state, *failed, body, M)) return false;
    gather(body, n_bodies, w);
    multiply(M, 6 * n_bodies, w, p);
    for (int k = 0; k < 6 * n_bodies; ++k) out->kinetic += w[k] * p[k] / 2.0;
  }
  return true;
}

/// The linear momentum of an element whose bodies all move with `turn` about the origin, or along `shift`.
static void rigid_momentum(const double *M, const as_body_motion *body, int n_bodies,
                           const double *shift, const double *turn, double *linear) {
  double w[AS_ELEMENT_COLUMNS] = {0}, p[AS_ELEMENT_COLUMNS];
  for (int b = 0; b < n_bodies; ++b) {
    asi_copy(shift, w + 6 * b);
    asi_add_cross(1.0, turn, body[b].x, w + 6 * b);
    asi_rotate_back(body[b].R, turn, w + 6 * b + 3);
  }
  multiply(M, 6 * n_bodies, w, p);
  asi_set(0.0, 0.0, 0.0, linear);
  for (int b = 0; b < n_bodies; ++b) asi_add(1.0, p + 6 * b, linear);
}

void asi_inertia_momentum(const as_model *m, const as_state *state, as_momentum *out) {
  static const double none[3] = {0.0, 0.0, 0.0};
  as_body_motion body[AS_ELEMENT_BODIES];
  double M[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS], w[AS_ELEMENT_COLUMNS], p[AS_ELEMENT_COLUMNS];
  for (int i = 0; i < m->n_massive; ++i) {
    const int n_bodies = m->element[m->massive[i].element].e.n_bodies;
    if (!take_mass(m, state, m->massive[i].element, body, M)) continue;
    gather(body, n_bodies, w);
    multiply(M, 6 * n_bodies, w, p);
    for (int b = 0; b < n_bodies; ++b) {
      double turned[3];
      asi_rotate(body[b].R, p + 6 * b + 3, turned);
      asi_add(1.0, p + 6 * b, out->linear);
      asi_add_cross(1.0, body[b].x, p + 6 * b, out->angular);
      asi_add(1.0, turned, out->angular);
    }
    for (int k = 0; k < 3; ++k) {
      const double e[3] = {k == 0, k == 1, k == 2};
      double shifted[3], turned[3];
      rigid_momentum(M, body, n_bodies, e, none, shifted);
      rigid_momentum(M, body, n_bodies, none, e, turned);
      if (k == 0) out->mass += shifted[0];
      // e_k x m c has m c_(k+1) along e_(k+2)
      out->center_of_mass[(k + 1) % 3] += turned[(k + 2) % 3];
    }
  }
}
