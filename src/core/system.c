/// Sums Jacobian blocks into a matrix over a fixed pattern, see system.h.
#include "core/system.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lie/space.h"

// ---- patterns -----------------------------------------------------------------------------------

/// The rows that may be nonzero in one column: each is stamped with the column and appended once.
typedef struct row_list {
  int *stamp; ///< per row: 1 + the last column that had it
  int *row;
  int count;
} row_list;

static void list_row(row_list *list, int row, int column) {
  if (list->stamp[row] == column + 1) return;
  list->stamp[row] = column + 1;
  list->row[list->count++] = row;
}

static int compare_int(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/// Lists the rows of column j.
typedef void list_column_fn(row_list *list, int j, const void *context);

/// Builds a pattern from its columns: one pass to count, one to write.
static as_status build_pattern(asi_pattern *p, int rows, int cols, list_column_fn *list_column,
                               const void *context, as_error *error) {
  row_list list = {0};
  *p = (asi_pattern){.rows = rows, .cols = cols};
  list.stamp = asi_calloc((size_t)rows, sizeof(int));
  list.row = asi_calloc((size_t)rows, sizeof(int));
  p->col_start = asi_calloc((size_t)cols + 1, sizeof(int));
  bool ok = list.stamp && list.row && p->col_start;
  for (int pass = 0; pass < 2 && ok; ++pass) {
    memset(list.stamp, 0, (size_t)rows * sizeof(int));
    for (int j = 0; j < cols; ++j) {
      list.count = 0;
      list_column(&list, j, context);
      p->col_start[j + 1] = p->col_start[j] + list.count;
      if (pass == 0) continue;
      qsort(list.row, (size_t)list.count, sizeof(int), compare_int);
      memcpy(p->row + p->col_start[j], list.row, (size_t)list.count * sizeof(int));
    }
    if (pass == 0) {
      p->row = asi_calloc((size_t)p->col_start[cols], sizeof(int));
      ok = p->row != NULL;
    }
  }
  free(list.stamp);
  free(list.row);
  return ok ? AS_OK : asi_fail_memory(error);
}

// ---- T and T B_n^T ------------------------------------------------------------------------------

typedef struct t_bt_context {
  const as_problem *problem;
  const asi_pattern *t;
} t_bt_context;

/// Column i of T B^T is a sum of the T columns that row i of B names.
static void list_t_bt_column(row_list *list, int i, const void *context) {
  const t_bt_context *c = context;
  const asi_row_view *b = &c->problem->g_q_rows;
  for (int s = b->start[i]; s < b->start[i + 1]; ++s)
    for (int k = c->t->col_start[b->col[s]]; k < c->t->col_start[b->col[s] + 1]; ++k)
      list_row(list, c->t->row[k], i);
}

as_status asi_motion_init(asi_motion *m, const as_problem *p, bool with_bt, as_error *error) {
  const int nnz = asi_space_tangent_nnz(p->space);
  m->t_pattern = (asi_pattern){.rows = p->n, .cols = p->n};
  m->t_pattern.col_start = asi_calloc((size_t)p->n + 1, sizeof(int));
  m->t_pattern.row = asi_calloc((size_t)nnz, sizeof(int));
  if (m->t_pattern.col_start == NULL || m->t_pattern.row == NULL) return asi_fail_memory(error);
  asi_space_tangent_pattern(p->space, m->t_pattern.col_start, m->t_pattern.row);
  as_status status = asi_matrix_init(&m->t, &m->t_pattern, error);
  if (status == AS_OK && with_bt) {
    const t_bt_context context = {p, &m->t_pattern};
    status = build_pattern(&m->t_bt_pattern, p->n, p->def.n_lambda, list_t_bt_column, &context,
                           error);
    if (status == AS_OK) status = asi_matrix_init(&m->t_bt, &m->t_bt_pattern, error);
  }
  return status;
}

void asi_motion_free(asi_motion *m) {
  asi_matrix_free(&m->t);
  asi_matrix_free(&m->t_bt);
  asi_pattern_free(&m->t_pattern);
  asi_pattern_free(&m->t_bt_pattern);
}

void asi_motion_update(asi_motion *m, const as_problem *p, const double *xi, const as_matrix *b_n) {
  asi_space_tangent_fill(p->space, xi, m->t.value);
  if (b_n == NULL) return;
  asi_matrix_clear(&m->t_bt);
  for (int i = 0; i < m->t_bt.cols; ++i) {
    for (int s = p->g_q_rows.start[i]; s < p->g_q_rows.start[i + 1]; ++s) {
      const int j = p->g_q_rows.col[s];
      const double b = b_n->value[p->g_q_rows.position[s]];
      for (int k = m->t.col_start[j]; k < m->t.col_start[j + 1]; ++k)
        as_matrix_add(&m->t_bt, m->t.row[k], i, b * m->t.value[k]);
    }
  }
}

// ---- columns of a term --------------------------------------------------------------------------

static const as_matrix *via_matrix(const asi_motion *motion, asi_via via) {
  if (via == ASI_VIA_T) return &motion->t;
  if (via == ASI_VIA_T_BT) return &motion->t_bt;
  return NULL;
}

static int term_columns(const as_problem *p, const asi_term *term) {
  const asi_pattern *block = &p->pattern[term->block];
  if (term->via == ASI_VIA_T_BT) return p->def.n_lambda;
  return term->transposed ? block->rows : block->cols;
}

/// Adds factor * (column j of the term's block, or of its transpose) to `column`.
static void add_block_column(const as_problem *p, const asi_term *term, const as_matrix *block,
                             int j, double factor, double *column) {
  double *out = column + term->row;
  if (term->transposed) {
    const asi_row_view *view = term->block == AS_BLOCK_G_Q ? &p->g_q_rows : &p->k_v_rows;
    for (int s = view->start[j]; s < view->start[j + 1]; ++s)
      out[view->col[s]] += factor * block->value[view->position[s]];
  } else {
    for (int k = block->col_start[j]; k < block->col_start[j + 1]; ++k)
      out[block->row[k]] += factor * block->value[k];
  }
}

void asi_system_assemble(asi_system *s, const as_matrix *blocks, const asi_motion *motion) {
  for (int j = 0; j < s->size; ++j) {
    const int begin = s->pattern.col_start[j], end = s->pattern.col_start[j + 1];
    for (int k = begin; k < end; ++k) s->column[s->pattern.row[k]] = 0.0;
    for (int i = 0; i < s->n_terms; ++i) {
      const asi_term *term = &s->term[i];
      const int local = j - term->col;
      if (local < 0 || local >= term_columns(s->problem, term) || term->factor == 0.0) continue;
      const as_matrix *block = &blocks[term->block];
      const as_matrix *via = via_matrix(motion, term->via);
      if (via == NULL) {
        add_block_column(s->problem, term, block, local, term->factor, s->column);
      } else {
        for (int k = via->col_start[local]; k < via->col_start[local + 1]; ++k)
          add_block_column(s->problem, term, block, via->row[k], term->factor * via->value[k],
                           s->column);
      }
    }
    for (int k = begin; k < end; ++k) s->value[k] = s->column[s->pattern.row[k]];
  }
}

// ---- the system ---------------------------------------------------------------------------------

static void list_block_column(row_list *list, const as_problem *p, const asi_term *term, int j,
                              int column) {
  const asi_pattern *block = &p->pattern[term->block];
  if (term->transposed) {
    const asi_row_view *view = term->block == AS_BLOCK_G_Q ? &p->g_q_rows : &p->k_v_rows;
    for (int s = view->start[j]; s < view->start[j + 1]; ++s)
      list_row(list, term->row + view->col[s], column);
  } else {
    for (int k = block->col_start[j]; k < block->col_start[j + 1]; ++k)
      list_row(list, term->row + block->row[k], column);
  }
}

typedef struct system_context {
  const asi_system *system;
  const asi_motion *motion;
} system_context;

/// The structural rows of column j; the diagonal is always among them.
static void list_system_column(row_list *list, int j, const void *context) {
  const system_context *c = context;
  const asi_system *s = c->system;
  list_row(list, j, j);
  for (int i = 0; i < s->n_terms; ++i) {
    const asi_term *term = &s->term[i];
    const int local = j - term->col;
    if (local < 0 || local >= term_columns(s->problem, term)) continue;
    const as_matrix *via = via_matrix(c->motion, term->via);
    if (via == NULL) {
      list_block_column(list, s->problem, term, local, j);
    } else {
      for (int k = via->col_start[local]; k < via->col_start[local + 1]; ++k)
        list_block_column(list, s->problem, term, via->row[k], j);
    }
  }
}

as_status asi_system_init(asi_system *s, const as_problem *p, const asi_motion *motion, int size,
                          const asi_term *terms, int n_terms, as_error *error) {
  assert(n_terms <= ASI_MAX_TERMS);
  *s = (asi_system){.problem = p, .size = size};
  for (int i = 0; i < n_terms; ++i)
    if (p->present & AS_BLOCK_BIT(terms[i].block)) s->term[s->n_terms++] = terms[i];
  const system_context context = {s, motion};
  const as_status status =
      build_pattern(&s->pattern, size, size, list_system_column, &context, error);
  if (status) return status;
  s->value = asi_calloc((size_t)asi_pattern_nnz(&s->pattern), sizeof(double));
  s->column = asi_calloc((size_t)size, sizeof(double));
  if (s->value == NULL || s->column == NULL) return asi_fail_memory(error);
  return asi_dense_create(size, s->pattern.col_start, s->pattern.row, &s->solver, error);
}

void asi_system_free(asi_system *s) {
  if (s->solver) s->solver->ops->destroy(s->solver);
  asi_pattern_free(&s->pattern);
  free(s->value);
  free(s->column);
  *s = (asi_system){0};
}

void asi_system_set_factors(asi_system *s, const asi_term *terms, int n_terms) {
  int kept = 0;
  for (int i = 0; i < n_terms; ++i)
    if (s->problem->present & AS_BLOCK_BIT(terms[i].block)) s->term[kept++].factor = terms[i].factor;
  assert(kept == s->n_terms);
}
