/// Builds a model: numbers bodies and rows, finds the blocks' patterns and each entry's place in them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"
#include "model/blocks.h"
#include "model/inertia.h"
#include "model/model.h"
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

// ---- copies of what the builder has -----------------------------------------------------------------

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
  m->n_beams = b->n_beams;
  m->n_stations = b->n_stations;
  m->beam = copy_array(b->beam, b->n_beams, sizeof *m->beam);
  m->station = copy_array(b->station, b->n_stations, sizeof *m->station);
  m->element = asi_calloc((size_t)b->n_elements, sizeof *m->element);
  const int held = asi_blocks_held(b);
  if (held < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The delays of sampled blocks are too many periods.");
  m->u0 = asi_calloc((size_t)b->n_parameters + (size_t)b->n_turns + (size_t)held, sizeof *m->u0);
  if (!m->body || !m->body_place || !m->frame || !m->joint || !m->force || !m->element || !m->u0 ||
      !m->beam || !m->station)
    return asi_fail_memory(error);
  if (b->n_parameters > 0) memcpy(m->u0, b->parameter, (size_t)b->n_parameters * sizeof *m->u0);
  const as_status status = copy_curves(m, b, error);
  return status ? status : asi_superelements_copy(m, b, error);
}

// ---- numbers ----------------------------------------------------------------------------------------

static as_status number_bodies(as_model *m, const as_builder *b, as_error *error) {
  for (int i = 0; i < b->n_bodies; ++i) {
    asi_body *body = &m->body[i];
    *body = b->body[i].body;
    if (b->body[i].is_node) continue;
    body->q = m->nq;
    body->v = m->n;
    m->nq += body->n == 6 ? 7 : 3;
    m->n += body->n;
  }
  const as_status status = asi_superelements_number(m, b, error);
  if (status) return status;
  m->q0 = asi_calloc((size_t)m->nq, sizeof(double));
  m->v0 = asi_calloc((size_t)m->n, sizeof(double));
  if (m->q0 == NULL || m->v0 == NULL) return asi_fail_memory(error);
  for (int i = 0; i < b->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    const asi_body_start *start = &b->body[i];
    if (body->node) continue;
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
  m->initial = (as_initial){.q = m->q0, .v = m->v0, .u = m->u0};
  return asi_model_note_given(m, b, error);
}

static as_status number_rows(as_model *m, const as_builder *b, as_error *error) {
  for (int i = 0; i < b->n_elements; ++i) {
    asi_placed *p = &m->element[i];
    p->e = b->element[i];
    p->data = m->data + p->e.data;
    if (p->e.n_bodies > m->most_bodies) m->most_bodies = p->e.n_bodies;
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

// ---- shapes -----------------------------------------------------------------------------------------

static bool has_world_axes(const asi_node *node) {
  for (int i = 0; i < 9; ++i)
    if (node->Q[i] != (i % 4 == 0 ? 1.0 : 0.0)) return false;
  return true;
}

static asi_body_role role_of(const as_model *m, int body) {
  if (body < 0) return ASI_ROLE_GROUND;
  const asi_node *node = m->body[body].node;
  if (node && (m->body[body].n == 6 || !has_world_axes(node))) return ASI_ROLE_NODE;
  if (node) return ASI_ROLE_NODE_POINT;
  if (m->body[body].n < 6) return ASI_ROLE_POINT;
  return m->body[body].se3 ? ASI_ROLE_SE3 : ASI_ROLE_R3SO3;
}

/// Columns that a body can be moved along, as bits.
static unsigned char freedom_of(const as_model *m, int body) {
  unsigned bits = 0;
  for (int k = 0; body >= 0 && k < m->body[body].n; ++k)
    if (asi_body_place_of(&m->body[body], k) >= 0) bits |= 1u << k;
  return (unsigned char)bits;
}

/// Flags 3 rows x 3 columns if any of them is, or if `also`.
static void fill_block(bool *m, int columns, int row, int rows, int col, bool also) {
  bool any = also;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 3; ++j) any = any || m[(row + i) * columns + col + j];
  for (int i = 0; i < rows && any; ++i)
    for (int j = 0; j < 3; ++j) m[(row + i) * columns + col + j] = true;
}

/// Flags 3 rows of a column if any of them is.
static void fill_column(bool *m, int columns, int row, int col) {
  bool *at = m + row * columns + col;
  const bool any = at[0] || at[columns] || at[2 * columns];
  for (int i = 0; i < 3; ++i) at[i * columns] = any;
}

static bool any_in(const bool *m, int columns, int row, int rows, int col) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 3; ++j)
      if (m[(row + i) * columns + col + j]) return true;
  return false;
}

/// Notes which 3 x 3 blocks there are before asi_se3_transform() spreads them.
static void note_blocks(asi_scatter_map *shape, const asi_element_flags *f) {
  const int columns = 6 * shape->n_bodies;
  for (int i = 0; i < 2 * shape->n_bodies; ++i)
    for (int j = 0; j < 2 * shape->n_bodies; ++j) {
      shape->f_q_block[i][j] = any_in(f->f_q, columns, 3 * i, 3, 3 * j);
      shape->f_v_block[i][j] = any_in(f->f_v, columns, 3 * i, 3, 3 * j);
    }
}

/// What asi_se3_transform() does to the patterns.
static void spread_flags(const asi_scatter_map *shape, asi_element_flags *f) {
  const int columns = 6 * shape->n_bodies;
  for (int b = 0; b < shape->n_bodies; ++b) {
    if (shape->role[b] != ASI_ROLE_SE3) continue;
    const int first = 6 * b;
    bool pulled = f->force;
    for (int r = 0; r < shape->n_rows; ++r) {
      const bool moves = any_in(f->g_q, columns, r, 1, first);
      pulled = pulled || moves;
      fill_block(f->g_q, columns, r, 1, first, false);
      fill_block(f->gdot_q, columns, r, 1, first, false);
      fill_block(f->gdot_q, columns, r, 1, first + 3, moves);
    }
    for (int r = 0; r < shape->n_velocity_rows; ++r) {
      const bool moves = any_in(f->k_v, columns, r, 1, first);
      pulled = pulled || moves;
      fill_block(f->k_v, columns, r, 1, first, false);
      fill_block(f->k_q, columns, r, 1, first, false);
      fill_block(f->k_q, columns, r, 1, first + 3, moves);
    }
    for (int k = 0; k < shape->n_read; ++k) fill_column(f->f_lambda, shape->n_read, first, k);
    for (int k = 0; k < columns; k += 3) { // rows of this body, columns of others
      fill_block(f->f_q, columns, first, 3, k, pulled && k == first + 3);
      fill_block(f->f_v, columns, first, 3, k, false);
    }
    for (int k = 0; k < columns; k += 3) { // columns of this body
      fill_block(f->f_q, columns, k, 3, first + 3, any_in(f->f_v, columns, k, 3, first));
      fill_block(f->f_q, columns, k, 3, first, false);
      fill_block(f->f_v, columns, k, 3, first, false);
    }
  }
}

/// Whether a body can be moved that way.
static bool is_there(const asi_scatter_map *shape, int column) {
  return shape->freedom[column / 6] & (1u << (column % 6));
}

typedef struct local_size {
  int rows, columns;
} local_size;

/// How large an element's matrix is.
static local_size block_size(const asi_scatter_map *shape, int block) {
  const int all = 6 * shape->n_bodies;
  switch ((asi_local_block)block) {
  case ASI_F_Q:
  case ASI_F_V: return (local_size){all, all};
  case ASI_G_Q:
  case ASI_GDOT_Q:
  case ASI_REACTION: return (local_size){shape->n_rows, all};
  case ASI_K_Q:
  case ASI_K_V:
  case ASI_VELOCITY_REACTION: return (local_size){shape->n_velocity_rows, all};
  case ASI_F_LAMBDA: return (local_size){all, shape->n_read};
  case ASI_LOCAL_BLOCKS: break;
  }
  return (local_size){0, 0};
}

/// Whether an entry's row and column, as far as they are a body's, are there.
static bool is_entry(const asi_scatter_map *shape, int block, int i, int j) {
  const bool forces = block == ASI_F_Q || block == ASI_F_V || block == ASI_F_LAMBDA;
  return (!forces || is_there(shape, i)) && (block == ASI_F_LAMBDA || is_there(shape, j));
}

/// How many rows from i on have entries in three columns and go to successive rows of the problem's block.
static int strip_rows(const asi_scatter_map *shape, int block, local_size size, const bool *entry,
                      int i, int j) {
  const bool forces = block == ASI_F_Q || block == ASI_F_V;
  const asi_body_role role = shape->role[i / 6];
  if (block >= ASI_F_LAMBDA) return 0;
  if (forces && (role == ASI_ROLE_NODE || role == ASI_ROLE_NODE_POINT)) return 0;
  int rows = 0;
  for (int r = i; r < size.rows && (!forces || r / 6 == i / 6); ++r, ++rows) {
    const bool *at = entry + r * size.columns + j;
    if (!at[0] || !at[1] || !at[2]) break;
  }
  return rows;
}

/// Takes the entries of strips out of those that are left.
static void list_strips(asi_scatter_map *shape, int block, local_size size, bool *left) {
  for (int j = 0; j + 3 <= size.columns; j += 3)
    for (int i = 0; i < size.rows; ++i) {
      const int rows = strip_rows(shape, block, size, left, i, j), corner = i * size.columns + j;
      if (rows < 2) continue;
      shape->strip[block][shape->n_strips[block]++] =
          (asi_strip){(unsigned short)corner, (unsigned short)rows};
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < rows; ++r) {
          const int entry = corner + r * size.columns + c;
          shape->local[block][shape->count[block]++] = (unsigned short)entry;
          left[entry] = false;
        }
    }
}

static as_status list_entries(asi_scatter_map *shape, const asi_element_flags *f, int n_blocks,
                              as_error *error) {
  const bool *const flags[ASI_LOCAL_BLOCKS] = {f->f_q, f->f_v,      f->g_q, f->gdot_q, f->k_q,
                                               f->k_v, f->f_lambda, f->g_q, f->k_v};
  bool left[AS_ELEMENT_COLUMNS * AS_ELEMENT_COLUMNS];
  for (int k = 0; k < n_blocks; ++k) {
    const local_size size = block_size(shape, k);
    const int all = size.rows * size.columns;
    shape->bytes[k] = (size_t)all * sizeof(double);
    shape->local[k] = asi_calloc((size_t)all, sizeof *shape->local[k]);
    shape->strip[k] = asi_calloc((size_t)all / 6, sizeof *shape->strip[k]);
    if (shape->local[k] == NULL || shape->strip[k] == NULL) return asi_fail_memory(error);
    for (int e = 0; e < all; ++e)
      left[e] = flags[k][e] && is_entry(shape, k, e / size.columns, e % size.columns);
    list_strips(shape, k, size, left);
    for (int e = 0; e < all; ++e)
      if (left[e]) shape->local[k][shape->count[k]++] = (unsigned short)e;
    shape->written[k] = shape->count[k];
    for (int e = 0; e < all; ++e)
      if (flags[k][e] && !is_entry(shape, k, e / size.columns, e % size.columns))
        shape->local[k][shape->written[k]++] = (unsigned short)e;
  }
  return AS_OK;
}

/// In a general model the constraint forces of an element are part of its force.
static unsigned offers_of(const as_model *m, const asi_scatter_map *shape) {
  const bool rows = shape->n_rows > 0, velocity_rows = shape->n_velocity_rows > 0;
  unsigned offers = 0;
  if (shape->force || (m->general && (rows || velocity_rows))) offers |= ASI_WANT_FORCE;
  if (rows) offers |= ASI_WANT_G | ASI_WANT_RATE | ASI_WANT_ACCELERATION;
  if (velocity_rows) offers |= ASI_WANT_K | ASI_WANT_K_RATE;
  for (int k = 0; k < m->n_blocks; ++k)
    if (shape->count[k] > 0) offers |= asi_block_want[k];
  return offers;
}

static as_status add_shape(as_model *m, const as_builder *b, const asi_scatter_map *wanted,
                           int *room, as_error *error) {
  void *array = m->shape;
  if (!asi_grow(&array, m->n_shapes, room, sizeof *m->shape)) return asi_fail_memory(error);
  m->shape = array;
  asi_scatter_map *shape = &m->shape[m->n_shapes++];
  *shape = *wanted;
  asi_element_flags flags = b->pattern[shape->pattern];
  shape->n_bodies = flags.n_bodies;
  shape->n_rows = flags.n_rows;
  shape->n_velocity_rows = flags.n_velocity_rows;
  shape->n_read = flags.n_read;
  shape->force = flags.force;
  shape->theirs = flags.theirs;
  for (int i = 0; i < shape->n_bodies; ++i) {
    shape->se3 = shape->se3 || shape->role[i] == ASI_ROLE_SE3;
    shape->node = shape->node || shape->role[i] == ASI_ROLE_NODE;
  }
  note_blocks(shape, &flags);
  spread_flags(shape, &flags);
  asi_node_spread(shape, &flags);
  const as_status status = list_entries(shape, &flags, m->n_blocks, error);
  shape->offers = offers_of(m, shape);
  return status;
}

/// Who touches a body first.
static as_status find_first(as_model *m, as_error *error) {
  bool *touched = asi_calloc((size_t)m->n_bodies, sizeof(bool));
  m->untouched = asi_calloc((size_t)m->n_bodies, sizeof(int));
  if (touched && m->untouched) {
    for (int i = 0; i < m->n_elements; ++i)
      for (int b = 0; b < m->element[i].e.n_bodies; ++b) {
        const int body = m->element[i].e.body[b];
        if (body < 0 || touched[body]) continue;
        touched[body] = true;
        m->element[i].first |= 1u << b;
      }
    for (int i = 0; i < m->n_bodies; ++i)
      if (!touched[i]) m->untouched[m->n_untouched++] = i;
  }
  free(touched);
  return touched && m->untouched ? AS_OK : asi_fail_memory(error);
}

static as_status find_shapes(as_model *m, const as_builder *b, as_error *error) {
  int room = 0;
  for (int i = 0; i < m->n_elements; ++i) {
    asi_placed *p = &m->element[i];
    asi_scatter_map wanted = {.pattern = p->e.pattern};
    for (int k = 0; k < p->e.n_bodies; ++k) {
      wanted.role[k] = role_of(m, p->e.body[k]);
      wanted.freedom[k] = freedom_of(m, p->e.body[k]);
    }
    int s = 0;
    while (s < m->n_shapes &&
           (m->shape[s].pattern != wanted.pattern ||
            memcmp(m->shape[s].role, wanted.role, sizeof wanted.role) != 0 ||
            memcmp(m->shape[s].freedom, wanted.freedom, sizeof wanted.freedom) != 0))
      ++s;
    p->shape = s;
    const as_status status = s < m->n_shapes ? AS_OK : add_shape(m, b, &wanted, &room, error);
    if (status) return status;
  }
  return AS_OK;
}

// ---- patterns and positions -------------------------------------------------------------------------

/// The number in v of a row or column of an element's matrix.
static int component(const as_model *m, const asi_placed *p, int i) {
  return asi_body_place_of(&m->body[p->e.body[i / 6]], i % 6);
}

typedef struct spot {
  int row, col;
} spot;

/// Row and column in the problem's block of an entry of an element's matrix.
static spot place_of(const as_model *m, const asi_placed *p, int block, int entry) {
  const int columns = block_size(&m->shape[p->shape], block).columns;
  const int i = entry / columns, j = entry % columns;
  switch ((asi_local_block)block) {
  case ASI_F_Q:
  case ASI_F_V: return (spot){component(m, p, i), component(m, p, j)};
  case ASI_G_Q:
  case ASI_GDOT_Q: return (spot){p->row + i, component(m, p, j)};
  case ASI_K_Q:
  case ASI_K_V: return (spot){p->velocity_row + i, component(m, p, j)};
  case ASI_F_LAMBDA: return (spot){component(m, p, i), p->read_row + j};
  case ASI_REACTION: return (spot){component(m, p, j), p->row + i};
  case ASI_VELOCITY_REACTION: return (spot){component(m, p, j), p->velocity_row + i};
  case ASI_LOCAL_BLOCKS: break;
  }
  return (spot){0, 0};
}

/// Which pattern a local block's entries are in: two go into F_LAMBDA.
static int pattern_of(int block) { return block == ASI_REACTION ? ASI_F_LAMBDA : block; }

static void record_block(as_recorder *r, int row, int col) {
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) asi_recorder_add(r, row + i, col + j);
}

static bool has_gravity(const as_model *m) {
  return m->gravity[0] != 0.0 || m->gravity[1] != 0.0 || m->gravity[2] != 0.0;
}

static void record_bodies(const as_model *m, as_recorder *f_q, as_recorder *f_v) {
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    const int x = body->v, turn = x + 3;
    if (body->n == 6 && !body->round) record_block(f_v, turn, turn);
    if (!body->se3) continue;
    record_block(f_v, x, x);
    record_block(f_v, x, turn);
    if (has_gravity(m)) record_block(f_q, x, turn);
  }
}

static as_status find_patterns(const as_model *m, asi_pattern pattern[ASI_LOCAL_BLOCKS],
                               as_error *error) {
  as_recorder record[ASI_LOCAL_BLOCKS] = {{0}};
  as_status status = AS_OK;
  record[ASI_F_Q] = record[ASI_F_V] = (as_recorder){.rows = m->n, .cols = m->n};
  record[ASI_G_Q] = record[ASI_GDOT_Q] = (as_recorder){.rows = m->n_lambda, .cols = m->n};
  record[ASI_K_Q] = record[ASI_K_V] = (as_recorder){.rows = m->n_psi, .cols = m->n};
  if (m->general) {
    record[ASI_F_LAMBDA] = (as_recorder){.rows = m->n, .cols = m->n_lambda};
    record[ASI_VELOCITY_REACTION] = (as_recorder){.rows = m->n, .cols = m->n_psi};
  }
  record_bodies(m, &record[ASI_F_Q], &record[ASI_F_V]);
  asi_superelements_record(m, &record[ASI_F_Q], &record[ASI_F_V]);
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *p = &m->element[i];
    const asi_scatter_map *shape = &m->shape[p->shape];
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k)
      for (int e = 0; e < shape->count[k]; ++e) {
        const spot at = place_of(m, p, k, shape->local[k][e]);
        asi_recorder_add(&record[pattern_of(k)], at.row, at.col);
      }
  }
  for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k) {
    if (status == AS_OK && record[k].rows > 0 && record[k].cols > 0)
      status = asi_recorder_pattern(&record[k], &pattern[k], error);
    asi_recorder_free(&record[k]);
  }
  return status;
}

static as_matrix matrix_over(const asi_pattern *p) {
  return (as_matrix){.rows = p->rows, .cols = p->cols, .col_start = p->col_start, .row = p->row};
}

static void find_columns(const asi_pattern *p, int row, int col, bool there, int position[3]) {
  const as_matrix m = matrix_over(p);
  for (int j = 0; j < 3; ++j) position[j] = there ? as_matrix_position(&m, row, col + j) : -1;
}

static void place_bodies(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS]) {
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    asi_body_place *place = &m->body_place[i];
    const int x = body->v, turn = x + 3;
    const asi_pattern *f_v = &pattern[ASI_F_V];
    find_columns(f_v, turn, turn, body->n == 6 && !body->round, place->turn_turn);
    find_columns(f_v, x, x, body->se3, place->move_move);
    find_columns(f_v, x, turn, body->se3, place->move_turn);
    find_columns(&pattern[ASI_F_Q], x, turn, body->se3 && has_gravity(m), place->pull);
  }
}

static as_status place_elements(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                                as_error *error) {
  size_t total = 0;
  for (int i = 0; i < m->n_elements; ++i)
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k) {
      m->element[i].position[k] = total;
      total += (size_t)m->shape[m->element[i].shape].count[k];
    }
  m->position = asi_calloc(total, sizeof(int));
  if (m->position == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *p = &m->element[i];
    const asi_scatter_map *shape = &m->shape[p->shape];
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k) {
      const as_matrix matrix = matrix_over(&pattern[pattern_of(k)]);
      for (int e = 0; e < shape->count[k]; ++e) {
        const spot at = place_of(m, p, k, shape->local[k][e]);
        m->position[p->position[k] + (size_t)e] = as_matrix_position(&matrix, at.row, at.col);
      }
    }
  }
  return AS_OK;
}

/// Whether an element is a ball joint between rigid bodies on the same space, or the ground; *se3: on SE(3).
static bool is_ball(const as_model *m, const asi_placed *p, bool *se3) {
  bool is[ASI_ROLE_NODE_POINT + 1] = {false};
  for (int k = 0; k < p->e.n_bodies; ++k) is[m->shape[p->shape].role[k]] = true;
  *se3 = is[ASI_ROLE_SE3];
  return !m->general && asi_is_ball(p->e.type, p->data) && !is[ASI_ROLE_POINT] &&
         !is[ASI_ROLE_NODE] && !is[ASI_ROLE_NODE_POINT] && !(*se3 && is[ASI_ROLE_R3SO3]);
}

static as_status place_balls(as_model *m, as_error *error) {
  int count = 0;
  bool se3;
  for (int i = 0; i < m->n_elements; ++i) count += is_ball(m, &m->element[i], &se3);
  m->ball = asi_calloc((size_t)count, sizeof *m->ball);
  if (m->ball == NULL) return asi_fail_memory(error);
  asi_ball *ball = m->ball;
  for (int i = 0; i < m->n_elements; ++i) {
    asi_placed *p = &m->element[i];
    const bool moves[2] = {p->e.body[0] >= 0, p->e.body[1] >= 0};
    if (!is_ball(m, p, &se3)) continue;
    *ball =
        asi_ball_place(p->data, se3, p->row, moves, m->position + p->position[ASI_G_Q],
                       m->position + p->position[ASI_GDOT_Q], m->position + p->position[ASI_F_Q]);
    p->ball = ball++;
  }
  return AS_OK;
}

/// M: masses on the diagonal, inertia tensors without their zeros.
static as_status find_mass(as_model *m, asi_pattern *pattern, as_error *error) {
  *pattern = (asi_pattern){.rows = m->n, .cols = m->n};
  pattern->col_start = asi_calloc((size_t)m->n + 1, sizeof(int));
  const size_t most = 3 * (size_t)m->n + asi_superelements_mass_entries(m);
  pattern->row = asi_calloc(most, sizeof(int));
  m->mass = asi_calloc(most, sizeof(double));
  if (!pattern->col_start || !pattern->row || !m->mass) return asi_fail_memory(error);
  int count = 0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    for (int j = 0; j < body->n && !body->node; ++j) {
      for (int k = j < 3 ? j : 3; k < (j < 3 ? j + 1 : 6); ++k) {
        const double x = j < 3 ? body->mass : body->J[3 * (k - 3) + j - 3];
        if (x == 0.0 && k != j) continue;
        m->mass[count] = x;
        pattern->row[count++] = body->v + k;
      }
      pattern->col_start[body->v + j + 1] = count;
    }
  }
  asi_superelements_mass(m, count, pattern->col_start, pattern->row, m->mass);
  m->n_mass = (size_t)pattern->col_start[m->n];
  return AS_OK;
}

// ---- the problem ------------------------------------------------------------------------------------

/// An element with rows and the bodies it joins, for numbering joints by what they join.
typedef struct pairing {
  int low, high, element;
} pairing;

static int compare_pairings(const void *a, const void *b) {
  const pairing *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return (x->high > y->high) - (x->high < y->high);
}

/// Joints between the same two bodies count as one when unknowns are ordered: a driven joint is still a leaf.
static as_status group_joints(const as_model *m, int *joint, as_error *error) {
  pairing *list = asi_calloc((size_t)m->n_joints, sizeof *list);
  if (list == NULL) return asi_fail_memory(error);
  int count = 0;
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_element *e = &m->element[i].e;
    if (e->n_rows == 0) continue;
    const int a = e->body[0], b = e->n_bodies == 2 ? e->body[1] : -2 - i;
    list[count++] = (pairing){a < b ? a : b, a < b ? b : a, i};
  }
  if (count > 0) qsort(list, (size_t)count, sizeof *list, compare_pairings);
  int group = -1;
  for (int k = 0; k < count; ++k) {
    if (k == 0 || list[k].low != list[k - 1].low || list[k].high != list[k - 1].high) ++group;
    const asi_placed *p = &m->element[list[k].element];
    for (int r = 0; r < p->e.n_rows; ++r) joint[p->row + r] = group;
  }
  free(list);
  return AS_OK;
}

/// Runs of bodies on the same space, then superelements; `parts` has room for one per body and superelement.
static int list_parts(const as_model *m, as_space_part *parts) {
  int n = 0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    if (body->node) continue;
    const as_space_kind kind = body->n < 6 ? AS_SPACE_RN
                               : body->se3 ? AS_SPACE_SE3
                                           : AS_SPACE_R3SO3;
    const int count = kind == AS_SPACE_RN ? 3 : 1;
    if (n > 0 && parts[n - 1].kind == kind)
      parts[n - 1].count += count;
    else
      parts[n++] = (as_space_part){kind, count};
  }
  for (int i = 0; i < m->n_superelements; ++i)
    parts[n++] = (as_space_part){AS_SPACE_RN, m->superelement[i].n};
  return n;
}

/// Where no joint says how large a machine is: the largest radius of gyration, or how far its points are from the origin, over
/// their number: about a link of a chain.
static double length_of_bodies(const as_model *m) {
  double gyration = 0.0, apart = 0.0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    if (body->node) continue;
    for (int k = 0; k < 3 && body->n == 6 && body->mass > 0.0; ++k)
      gyration = fmax(gyration, sqrt(fabs(body->J[4 * k]) / body->mass));
    apart = fmax(apart, asi_norm(m->q0 + body->q));
  }
  const double length = gyration > 0.0 ? gyration : apart / m->n_bodies;
  return isfinite(length) ? length
                          : 0.0; // numbers too large to compute with are told of by the run
}

/// A length of the machine: how far its frames and bodies lie from each other, roughly; `far` is the joint that says so.
static double typical_length(const as_model *m, int *far) {
  double largest = 0.0;
  *far = ASI_NONE;
  for (int i = 0; i < m->n_joints; ++i) {
    const asi_placed *p = &m->element[m->joint[i].element];
    const asi_joint *joint = p->data;
    for (int s = 0; s < 2 && m->joint[i].ours; ++s) {
      if (p->e.body[s] < 0 || asi_norm(joint->frame[s].p) <= largest) continue;
      largest = asi_norm(joint->frame[s].p);
      *far = i;
    }
  }
  if (!(largest > 0.0)) largest = length_of_bodies(m);
  return largest > 0.0 ? largest : 1.0;
}

static as_status fail_far(const as_model *m, int joint, double length, as_error *error) {
  const char *name = asi_names_get(&m->names[ASI_SORT_JOINT], joint);
  return asi_fail(
      error, AS_ERR_ARGUMENT, (double)NAN, name,
      "The joint \"%s\" is %g m from the centre of mass of one of its bodies: that is too far.",
      name, length);
}

static void set_block(as_problem_def *def, as_block block, const asi_pattern *pattern) {
  const bool empty = pattern->col_start == NULL || asi_pattern_nnz(pattern) == 0;
  def->block[block].source = empty ? AS_BLOCK_ZERO : AS_BLOCK_GIVEN;
  if (!empty) def->block[block].pattern = (as_pattern){pattern->col_start, pattern->row};
}

static as_status make_problem(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
                              const asi_pattern *mass, const asi_pattern *mass_q, as_error *error) {
  as_problem_def def = as_default_problem_def();
  as_space_part *parts =
      asi_calloc((size_t)m->n_bodies + (size_t)m->n_superelements, sizeof *parts);
  int *body = asi_calloc((size_t)m->n, sizeof(int));
  int *joint = asi_calloc((size_t)m->n_lambda, sizeof(int));
  double *typical = asi_calloc((size_t)m->n, sizeof(double));
  bool *vector = asi_calloc((size_t)m->n, sizeof(bool));
  asi_pattern of_blocks[AS_BLOCK_COUNT] = {{0}};
  as_status status = AS_OK;
  if (!parts || !body || !joint || !typical || !vector) status = asi_fail_memory(error);
  def.n_u = m->n_parameters + m->n_turns;
  if (status == AS_OK) status = asi_blocks_describe(m, &def, of_blocks, error);
  if (status == AS_OK) status = group_joints(m, joint, error);
  if (status == AS_OK) {
    int far;
    const double length = typical_length(m, &far);
    int n_groups = 0;
    for (int i = 0; i < m->n_bodies; ++i) {
      if (m->body[i].node) continue;
      vector[m->body[i].v] = m->body[i].n == 3;
      for (int k = 0; k < m->body[i].n; ++k) {
        body[m->body[i].v + k] = n_groups;
        typical[m->body[i].v + k] = k < 3 ? length : 1.0;
      }
      ++n_groups;
    }
    asi_superelements_groups(m, n_groups, length, body, typical);
    def.parts = parts;
    def.n_parts = list_parts(m, parts);
    def.n_lambda = m->n_lambda;
    def.n_psi = m->n_psi;
    def.force_kind = m->general ? AS_FORCE_GENERAL : AS_FORCE_ADDITIVE;
    def.mass_constant = m->n_massive == 0;
    def.scleronomic = true;
    for (int i = 0; i < m->n_elements; ++i)
      if (m->element[i].e.rheonomic) def.scleronomic = false;
    asi_model_callbacks(&def, m);
    def.check_step = asi_model_check_step(m);
    def.follow = asi_model_follow(m);
    def.next_time = asi_model_next_time(m);
    def.autonomous = asi_model_is_autonomous(m);
    set_block(&def, AS_BLOCK_M, mass);
    if (m->n_massive > 0) set_block(&def, AS_BLOCK_MA_Q, mass_q);
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k)
      if (pattern_of(k) == k) set_block(&def, asi_global_block((asi_local_block)k), &pattern[k]);
    for (int k = AS_BLOCK_F_X; k < AS_BLOCK_COUNT && m->blocks; ++k)
      if (k <= AS_BLOCK_F_Y || k >= AS_BLOCK_PHI_Q) set_block(&def, (as_block)k, &of_blocks[k]);
    def.body = body;
    def.joint = joint;
    def.reaction = m->row_joint;
    def.typical = typical;
    def.vector = vector;
    def.user = m;
    status = isfinite(length) ? as_problem_create(&def, &m->problem, error)
                              : fail_far(m, far, length, error);
  }
  for (int k = 0; k < AS_BLOCK_COUNT; ++k) asi_pattern_free(&of_blocks[k]);
  free(parts);
  free(body);
  free(joint);
  free(typical);
  free(vector);
  return status;
}

static as_status place_all(as_model *m, const as_builder *b, as_error *error) {
  asi_pattern pattern[ASI_LOCAL_BLOCKS] = {{0}}, mass = {0}, mass_q = {0};
  as_status status = find_patterns(m, pattern, error);
  if (status == AS_OK) status = place_elements(m, pattern, error);
  if (status == AS_OK) status = place_balls(m, error);
  if (status == AS_OK) place_bodies(m, pattern);
  const as_matrix f_q = matrix_over(&pattern[ASI_F_Q]), f_v = matrix_over(&pattern[ASI_F_V]);
  if (status == AS_OK) status = asi_superelements_place(m, &f_q, &f_v, error);
  if (status == AS_OK) status = find_mass(m, &mass, error);
  if (status == AS_OK) status = asi_inertia_place(m, b, &mass, &mass_q, error);
  if (status == AS_OK) status = make_problem(m, pattern, &mass, &mass_q, error);
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
  if (status == AS_OK) status = find_first(m, error);
  if (status == AS_OK) status = find_shapes(m, b, error);
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
  free(m->shape);
  free(m->body);
  free(m->body_place);
  free(m->untouched);
  free(m->frame);
  free(m->joint);
  free(m->force);
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
  free(m);
}
