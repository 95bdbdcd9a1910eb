/// Patterns of the problem's blocks, and the place of each entry of an element in them.
#include <stdlib.h>

#include "base/error.h"
#include "model/build.h"
#include "model/flexibles.h"
#include "model/superelements.h"

/// The number in v of a row or column of an element's matrix.
static int component(const as_model *m, const asi_placed *p, int i) {
  return asi_body_place_of(&m->body[p->e.body[i / 6]], i % 6);
}

typedef struct spot {
  int row, col;
} spot;

/// Row and column in the problem's block of an entry of an element's matrix.
static spot place_of(const as_model *m, const asi_placed *p, int block, int entry) {
  const int columns = asi_local_block_size(&m->shape[p->shape], block).columns;
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
int asi_pattern_of(int block) { return block == ASI_REACTION ? ASI_F_LAMBDA : block; }

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

as_status asi_build_find_patterns(const as_model *m, asi_pattern pattern[ASI_LOCAL_BLOCKS],
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
  asi_flexibles_record(m, 3, &record[ASI_F_Q]);
  asi_flexibles_record(m, 3, &record[ASI_F_V]);
  for (int i = 0; i < m->n_elements; ++i) {
    const asi_placed *p = &m->element[i];
    const asi_scatter_map *shape = &m->shape[p->shape];
    for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k)
      for (int e = 0; e < shape->count[k]; ++e) {
        const spot at = place_of(m, p, k, shape->local[k][e]);
        asi_recorder_add(&record[asi_pattern_of(k)], at.row, at.col);
      }
  }
  for (int k = 0; k < ASI_LOCAL_BLOCKS; ++k) {
    if (status == AS_OK && record[k].rows > 0 && record[k].cols > 0)
      status = asi_recorder_pattern(&record[k], &pattern[k], error);
    asi_recorder_free(&record[k]);
  }
  return status;
}

as_matrix asi_matrix_over(const asi_pattern *p) {
  return (as_matrix){.rows = p->rows, .cols = p->cols, .col_start = p->col_start, .row = p->row};
}

static void find_columns(const asi_pattern *p, int row, int col, bool there, int position[3]) {
  const as_matrix m = asi_matrix_over(p);
  for (int j = 0; j < 3; ++j) position[j] = there ? as_matrix_position(&m, row, col + j) : -1;
}

void asi_build_place_bodies(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS]) {
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

as_status asi_build_place_elements(as_model *m, const asi_pattern pattern[ASI_LOCAL_BLOCKS],
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
      const as_matrix matrix = asi_matrix_over(&pattern[asi_pattern_of(k)]);
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
  bool is[ASI_ROLE_VIEW + 1] = {false};
  for (int k = 0; k < p->e.n_bodies; ++k) is[m->shape[p->shape].role[k]] = true;
  *se3 = is[ASI_ROLE_SE3];
  return !m->general && asi_is_ball(p->e.type, p->data) && !is[ASI_ROLE_POINT] &&
         !is[ASI_ROLE_NODE] && !is[ASI_ROLE_NODE_POINT] && !is[ASI_ROLE_VIEW] &&
         !(*se3 && is[ASI_ROLE_R3SO3]);
}

as_status asi_build_place_balls(as_model *m, as_error *error) {
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
as_status asi_build_find_mass(as_model *m, asi_pattern *pattern, as_error *error) {
  *pattern = (asi_pattern){.rows = m->n, .cols = m->n};
  pattern->col_start = asi_calloc((size_t)m->n + 1, sizeof(int));
  const size_t most = 3 * (size_t)m->n + asi_superelements_mass_entries(m);
  pattern->row = asi_calloc(most, sizeof(int));
  m->mass = asi_calloc(most, sizeof(double));
  if (!pattern->col_start || !pattern->row || !m->mass) return asi_fail_memory(error);
  int count = 0;
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body *body = &m->body[i];
    for (int j = 0; j < body->n && !asi_body_is_node(body); ++j) {
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
