/// Scatter maps: which entries of an element's small matrices are there, by its kind and what its bodies are.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/build.h"

static bool has_world_axes(const asi_node *node) {
  for (int i = 0; i < 9; ++i)
    if (node->Q[i] != (i % 4 == 0 ? 1.0 : 0.0)) return false;
  return true;
}

static asi_body_role role_of(const as_model *m, int body) {
  if (body < 0) return ASI_ROLE_GROUND;
  const asi_node *node = m->body[body].node;
  if (m->body[body].view) return ASI_ROLE_VIEW;
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

/// Puts frames of nodes of flexible bodies behind the element's bodies, if they are not among these.
static as_status add_frames(const as_model *m, asi_placed *p, asi_scatter_map *shape,
                            as_error *error) {
  shape->n_bodies = p->e.n_bodies;
  for (int k = 0; k < p->e.n_bodies; ++k) {
    shape->frame[k] = -1;
    const asi_view *view = p->e.body[k] >= 0 ? m->body[p->e.body[k]].view : NULL;
    if (view == NULL) continue;
    int slot = 0;
    while (slot < shape->n_bodies && p->e.body[slot] != view->body) ++slot;
    if (slot == AS_ELEMENT_BODIES)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "A joint or force on \"%s\" has too many bodies: nodes of flexible bodies "
                      "count with their frames, and there may be %d.",
                      asi_names_get(&m->names[ASI_SORT_BODY], p->e.body[k]),
                      (int)AS_ELEMENT_BODIES);
    p->e.body[slot] = view->body;
    shape->frame[k] = (signed char)slot;
    if (slot == shape->n_bodies) ++shape->n_bodies;
  }
  return AS_OK;
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

/// How large an element's matrix is.
asi_local_size asi_local_block_size(const asi_scatter_map *shape, int block) {
  const int all = 6 * shape->n_bodies;
  switch ((asi_local_block)block) {
  case ASI_F_Q:
  case ASI_F_V: return (asi_local_size){all, all};
  case ASI_G_Q:
  case ASI_GDOT_Q:
  case ASI_REACTION: return (asi_local_size){shape->n_rows, all};
  case ASI_K_Q:
  case ASI_K_V:
  case ASI_VELOCITY_REACTION: return (asi_local_size){shape->n_velocity_rows, all};
  case ASI_F_LAMBDA: return (asi_local_size){all, shape->n_read};
  case ASI_LOCAL_BLOCKS: break;
  }
  return (asi_local_size){0, 0};
}

/// Whether an entry's row and column, as far as they are a body's, are there.
static bool is_entry(const asi_scatter_map *shape, int block, int i, int j) {
  const bool forces = block == ASI_F_Q || block == ASI_F_V || block == ASI_F_LAMBDA;
  return (!forces || is_there(shape, i)) && (block == ASI_F_LAMBDA || is_there(shape, j));
}

/// How many rows from i on have entries in three columns and go to successive rows of the problem's block.
static int strip_rows(const asi_scatter_map *shape, int block, asi_local_size size,
                      const bool *entry, int i, int j) {
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
static void list_strips(asi_scatter_map *shape, int block, asi_local_size size, bool *left) {
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
    const asi_local_size size = asi_local_block_size(shape, k);
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
  if (shape->n_states > 0) offers |= ASI_WANT_STATE_RATE | ASI_WANT_STATE_TANGENTS;
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
  if (shape->n_bodies > m->most_bodies) m->most_bodies = shape->n_bodies;
  shape->n_rows = flags.n_rows;
  shape->n_velocity_rows = flags.n_velocity_rows;
  shape->n_read = flags.n_read;
  shape->n_states = flags.n_states;
  shape->force = flags.force;
  shape->theirs = flags.theirs;
  for (int i = 0; i < shape->n_bodies; ++i) {
    shape->se3 = shape->se3 || shape->role[i] == ASI_ROLE_SE3;
    shape->node = shape->node || shape->role[i] == ASI_ROLE_NODE;
    shape->view = shape->view || shape->role[i] == ASI_ROLE_VIEW;
  }
  if (shape->view) asi_view_spread_flags(shape, flags.n_bodies, &flags);
  note_blocks(shape, &flags);
  spread_flags(shape, &flags);
  asi_node_spread(shape, &flags);
  const as_status status = list_entries(shape, &flags, m->n_blocks, error);
  shape->offers = offers_of(m, shape);
  return status;
}

/// Who touches a body first.
as_status asi_build_find_first(as_model *m, as_error *error) {
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

as_status asi_build_find_shapes(as_model *m, const as_builder *b, as_error *error) {
  int room = 0;
  for (int i = 0; i < m->n_elements; ++i) {
    asi_placed *p = &m->element[i];
    asi_scatter_map wanted = {.pattern = p->e.pattern};
    const as_status added = add_frames(m, p, &wanted, error);
    if (added) return added;
    for (int k = 0; k < wanted.n_bodies; ++k) {
      wanted.role[k] = role_of(m, p->e.body[k]);
      wanted.freedom[k] = freedom_of(m, p->e.body[k]);
    }
    int s = 0;
    while (s < m->n_shapes &&
           (m->shape[s].pattern != wanted.pattern || m->shape[s].n_bodies != wanted.n_bodies ||
            memcmp(m->shape[s].frame, wanted.frame, sizeof wanted.frame) != 0 ||
            memcmp(m->shape[s].role, wanted.role, sizeof wanted.role) != 0 ||
            memcmp(m->shape[s].freedom, wanted.freedom, sizeof wanted.freedom) != 0))
      ++s;
    p->shape = s;
    const as_status status = s < m->n_shapes ? AS_OK : add_shape(m, b, &wanted, &room, error);
    if (status) return status;
  }
  return AS_OK;
}
