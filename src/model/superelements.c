/// Superelements in a model: their numbers, their entries in the problem's blocks, what is asked about them.
#include <string.h>

#include "base/error.h"
#include "linalg/sparse.h"
#include "model/superelements.h"

// ---- building ---------------------------------------------------------------------------------------

as_status asi_superelements_copy(as_model *m, const as_builder *b, as_error *error) {
  m->superelement = asi_calloc((size_t)b->n_superelements, sizeof *m->superelement);
  if (m->superelement == NULL) return asi_fail_memory(error);
  while (m->n_superelements < b->n_superelements) {
    const int i = m->n_superelements++;
    asi_superelement *s = &m->superelement[i];
    if (!asi_superelement_copy(s, &b->superelement[i])) return asi_fail_memory(error);
    s->factor.curve = s->factor.index >= 0 ? &m->curve[s->factor.index] : NULL;
  }
  return AS_OK;
}

as_status asi_superelements_number(as_model *m, const as_builder *b, as_error *error) {
  for (int i = 0; i < m->n_superelements; ++i) {
    asi_superelement *s = &m->superelement[i];
    s->q = m->nq;
    s->v = m->n;
    if (s->n > AS_SPARSE_ROWS - m->nq)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                      "The model has more than %d coordinates.", (int)AS_SPARSE_ROWS);
    m->nq += s->n;
    m->n += s->n;
  }
  m->node = asi_calloc((size_t)m->n_bodies, sizeof *m->node);
  if (m->node == NULL) return asi_fail_memory(error);
  for (int i = 0; i < m->n_bodies; ++i) {
    const asi_body_start *start = &b->body[i];
    if (!start->is_node) continue;
    const asi_superelement *s = &m->superelement[start->superelement];
    m->node[i] = asi_superelement_node(s, start->node);
    m->body[i].node = &m->node[i];
    m->body[i].q = s->q;
    m->body[i].v = s->v;
  }
  return AS_OK;
}

void asi_superelements_start(const as_model *m) {
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    memcpy(m->q0 + s->q, s->u0, (size_t)s->n * sizeof(double));
    memcpy(m->v0 + s->v, s->v0, (size_t)s->n * sizeof(double));
  }
}

static void record(as_recorder *r, const as_sparse *matrix, int first) {
  for (int j = 0; matrix && j < matrix->cols; ++j)
    for (int k = matrix->col_start[j]; k < matrix->col_start[j + 1]; ++k)
      asi_recorder_add(r, first + matrix->row[k], first + j);
}

void asi_superelements_record(const as_model *m, as_recorder *f_q, as_recorder *f_v) {
  for (int i = 0; i < m->n_superelements; ++i) {
    record(f_q, m->superelement[i].K, m->superelement[i].v);
    record(f_v, m->superelement[i].C, m->superelement[i].v);
  }
}

/// Where the entries stand in a block; NULL if memory runs out.
static int *find_places(const as_sparse *matrix, int first, const as_matrix *block) {
  int *place = asi_calloc((size_t)asi_sparse_nnz(matrix), sizeof(int));
  for (int j = 0; place && j < matrix->cols; ++j)
    for (int k = matrix->col_start[j]; k < matrix->col_start[j + 1]; ++k)
      place[k] = as_matrix_position(block, first + matrix->row[k], first + j);
  return place;
}

as_status asi_superelements_place(as_model *m, const as_matrix *f_q, const as_matrix *f_v,
                                  as_error *error) {
  for (int i = 0; i < m->n_superelements; ++i) {
    asi_superelement *s = &m->superelement[i];
    if (s->K) s->K_place = find_places(s->K, s->v, f_q);
    if (s->C) s->C_place = find_places(s->C, s->v, f_v);
    if ((s->K && !s->K_place) || (s->C && !s->C_place)) return asi_fail_memory(error);
  }
  return AS_OK;
}

size_t asi_superelements_mass_entries(const as_model *m) {
  size_t count = 0;
  for (int i = 0; i < m->n_superelements; ++i)
    count += (size_t)asi_sparse_nnz(m->superelement[i].M);
  return count;
}

void asi_superelements_mass(const as_model *m, int count, int *col_start, int *row, double *value) {
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    for (int j = 0; j < s->n; ++j) {
      for (int k = s->M->col_start[j]; k < s->M->col_start[j + 1]; ++k) {
        row[count] = s->v + s->M->row[k];
        value[count++] = s->M->value[k];
      }
      col_start[s->v + j + 1] = count;
    }
  }
}

/// The coordinates of a node count as a body when unknowns are ordered, others each as one of its own.
void asi_superelements_groups(const as_model *m, int next, double length, int *body,
                              double *typical) {
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    for (int k = 0; k < s->n; ++k) {
      body[s->v + k] = -1;
      typical[s->v + k] = length;
    }
    for (int k = 0; k < s->n_nodes; ++k) {
      bool any = false;
      for (int c = 0; c < 6; ++c) {
        const int coordinate = s->node[k].coordinate[c];
        if (coordinate < 0) continue;
        body[s->v + coordinate] = next;
        if (c >= 3) typical[s->v + coordinate] = 1.0;
        any = true;
      }
      next += any;
    }
    for (int k = 0; k < s->n; ++k)
      if (body[s->v + k] < 0) body[s->v + k] = next++;
  }
}

// ---- evaluation -------------------------------------------------------------------------------------

int asi_superelements_force(const as_model *m, const as_point *at, double *out) {
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    const int code = asi_superelement_force(s, at->t, at->q + s->q, at->v + s->v, out + s->v);
    const int number = ASI_BLAMED + m->n_elements + i;
    if (code) return code > 0 ? number : -number;
  }
  return AS_DONE;
}

static void subtract(const as_sparse *matrix, const int *place, double *value) {
  const int n = asi_sparse_nnz(matrix);
  for (int k = 0; k < n; ++k) value[place[k]] -= matrix->value[k];
}

void asi_superelements_blocks(const as_model *m, as_block_set wanted, as_matrix *blocks) {
  for (int i = 0; i < m->n_superelements; ++i) {
    const asi_superelement *s = &m->superelement[i];
    if (s->K && (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)))
      subtract(s->K, s->K_place, blocks[AS_BLOCK_F_Q].value);
    if (s->C && (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)))
      subtract(s->C, s->C_place, blocks[AS_BLOCK_F_V].value);
  }
}

// ---- questions --------------------------------------------------------------------------------------

static const asi_superelement *get(const as_model *m, as_superelement_id id) {
  return id.index >= 0 && id.index < m->n_superelements ? &m->superelement[id.index] : NULL;
}

int as_model_superelements(const as_model *m) { return m->n_superelements; }

as_superelement_id as_model_find_superelement(const as_model *m, const char *name) {
  const int number = asi_names_find(&m->names[ASI_SORT_SUPERELEMENT], name);
  return (as_superelement_id){number >= 0 ? number : ASI_NONE};
}
const char *as_model_superelement_name(const as_model *m, as_superelement_id id) {
  return asi_names_get(&m->names[ASI_SORT_SUPERELEMENT], id.index);
}
int as_model_superelement_size(const as_model *m, as_superelement_id id) {
  return get(m, id) ? get(m, id)->n : -1;
}
int as_model_superelement_q(const as_model *m, as_superelement_id id) {
  return get(m, id) ? get(m, id)->q : -1;
}
int as_model_superelement_v(const as_model *m, as_superelement_id id) {
  return get(m, id) ? get(m, id)->v : -1;
}
