/// Sums Jacobian blocks into a matrix over a fixed pattern, see system.h.
#include "core/kinematics/system.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"
#include "core/kinematics/ordering.h"
#include "lie/space.h"

const as_block_set asi_multiplier_blocks =
    AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA) | AS_BLOCK_BIT(AS_BLOCK_F_PSI) |
    AS_BLOCK_BIT(AS_BLOCK_PHI_LAMBDA) | AS_BLOCK_BIT(AS_BLOCK_PHI_PSI) |
    AS_BLOCK_BIT(AS_BLOCK_CHI_LAMBDA) | AS_BLOCK_BIT(AS_BLOCK_CHI_PSI);

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
  const asi_tangent_map *motion;
} t_bt_context;

/// Column i of T B^T is a sum of the T columns that row i of B names.
static void list_t_bt_column(row_list *list, int i, const void *context) {
  const t_bt_context *c = context;
  const asi_row_view *b = &c->problem->g_q_rows;
  const asi_pattern *t = &c->motion->t_pattern;
  for (int s = b->start[i]; s < b->start[i + 1]; ++s)
    for (int k = t->col_start[b->col[s]]; k < t->col_start[b->col[s] + 1]; ++k)
      list_row(list, t->row[k], i);
}

static void visit_t_bt(asi_block_product_builder *p, const void *context) {
  const t_bt_context *c = context;
  const asi_row_view *b = &c->problem->g_q_rows;
  const asi_pattern *t = &c->motion->t_pattern;
  for (int i = 0; i < c->problem->def.n_lambda; ++i)
    for (int s = b->start[i]; s < b->start[i + 1]; ++s)
      for (int k = t->col_start[b->col[s]]; k < t->col_start[b->col[s] + 1]; ++k)
        asi_add_product(p, t->row[k], i, k, b->position[s]);
}

as_status asi_tangent_map_init(asi_tangent_map *m, const as_problem *p, bool with_bt,
                               as_error *error) {
  const int nnz = asi_space_tangent_nnz(p->space);
  m->t_pattern = (asi_pattern){.rows = p->n, .cols = p->n};
  m->t_pattern.col_start = asi_calloc((size_t)p->n + 1, sizeof(int));
  m->t_pattern.row = asi_calloc((size_t)nnz, sizeof(int));
  if (m->t_pattern.col_start == NULL || m->t_pattern.row == NULL) return asi_fail_memory(error);
  asi_space_tangent_pattern(p->space, m->t_pattern.col_start, m->t_pattern.row);
  as_status status = asi_matrix_init(&m->t, &m->t_pattern, error);
  if (status == AS_OK) status = asi_panels_init(&m->t_panels, &m->t_pattern, error);
  if (status || !with_bt) return status;
  const t_bt_context context = {p, m};
  status =
      build_pattern(&m->t_bt_pattern, p->n, p->def.n_lambda, list_t_bt_column, &context, error);
  if (status == AS_OK) status = asi_matrix_init(&m->t_bt, &m->t_bt_pattern, error);
  if (status == AS_OK)
    status =
        asi_products_build(&m->t_times_bt, &m->t_bt_pattern, true, visit_t_bt, &context, error);
  if (status == AS_OK)
    status = asi_zeros_find(&m->t_bt_zeros, &m->t_times_bt, 1, &m->t_bt_pattern, error);
  if (status == AS_OK)
    status =
        asi_product_parts_make(&m->t_bt_parts, m->pool, &m->t_times_bt, 1, &m->t_bt_pattern, error);
  return status;
}

void asi_tangent_map_free(asi_tangent_map *m) {
  asi_products_free(&m->t_times_bt);
  asi_product_parts_free(&m->t_bt_parts);
  asi_zeros_free(&m->t_bt_zeros);
  asi_matrix_free(&m->t);
  asi_matrix_free(&m->second);
  asi_panels_free(&m->t_panels);
  asi_matrix_free(&m->t_bt);
  asi_pattern_free(&m->t_pattern);
  asi_pattern_free(&m->t_bt_pattern);
}

/// T B_n^T in parts.
typedef struct t_bt_work {
  asi_tangent_map *motion;
  const as_matrix *b_n;
} t_bt_work;

static void multiply_t_bt_part(int part, int thread, void *context) {
  const t_bt_work *w = context;
  asi_tangent_map *m = w->motion;
  const asi_product_plan plan = asi_product_part(&m->t_bt_parts, &m->t_times_bt, 0, part);
  (void)thread;
  if (m->t_bt_zeros.entry == NULL) asi_product_part_clear(&m->t_bt_parts, part, m->t_bt.value);
  asi_products_add(&plan, 1.0, m->t.value, w->b_n->value, m->t_bt.value);
}

void asi_tangent_map_update(asi_tangent_map *m, const as_problem *p, const double *xi,
                            const as_matrix *b_n) {
  asi_space_tangent_fill(p->space, xi, m->t.value);
  if (b_n == NULL) return;
  if (m->t_bt_parts.n_parts > 0) {
    t_bt_work w = {m, b_n};
    if (m->t_bt_zeros.entry) asi_zeros_clear(&m->t_bt_zeros, m->t_bt.value);
    asi_pool_run(m->pool, m->t_bt_parts.n_parts, multiply_t_bt_part, &w);
    return;
  }
  asi_zeros_clear(&m->t_bt_zeros, m->t_bt.value);
  asi_products_add(&m->t_times_bt, 1.0, m->t.value, b_n->value, m->t_bt.value);
}

// ---- the system ---------------------------------------------------------------------------------

static const as_matrix *via_matrix(const asi_tangent_map *motion, asi_chain_factor via) {
  if (via == ASI_CHAIN_T) return &motion->t;
  if (via == ASI_CHAIN_T_BT) return &motion->t_bt;
  if (via == ASI_CHAIN_SECOND) return &motion->second;
  return NULL;
}

static int term_columns(const as_problem *p, const asi_term *term) {
  const asi_pattern *block = &p->pattern[term->block];
  if (term->via == ASI_CHAIN_T_BT) return p->def.n_lambda;
  return term->transposed ? block->rows : block->cols;
}

/// A sum of terms, or a part of it.
typedef struct assembly {
  asi_system *s;
  const as_matrix *blocks;
  const asi_tangent_map *motion;
  bool clears_all; ///< each part its entries
} assembly;

/// part < 0: all
static void add_terms(const assembly *a, int part) {
  asi_system *s = a->s;
  for (int i = 0; i < s->n_terms; ++i) {
    const asi_term *term = &s->term[i];
    const as_matrix *via = via_matrix(a->motion, term->via);
    if (term->factor == 0.0) continue;
    const double *block = a->blocks[term->block].value;
    const asi_product_plan plan =
        part < 0 ? s->products[i] : asi_product_part(&s->parts, &s->products[i], i, part);
    if (via)
      asi_products_add(&plan, term->factor, block, via->value, s->value);
    else
      asi_products_copy(&plan, term->factor, block, s->value);
  }
}

static void assemble_part(int part, int thread, void *context) {
  const assembly *a = context;
  (void)thread;
  if (a->clears_all) asi_product_part_clear(&a->s->parts, part, a->s->value);
  add_terms(a, part);
}

void asi_system_assemble(asi_system *s, const as_matrix *blocks, const asi_tangent_map *motion) {
  bool complete = true;
  for (int i = 0; i < s->n_terms; ++i) complete = complete && s->term[i].factor != 0.0;
  const bool in_parts = s->parts.n_parts > 0, all = !complete || s->zeros.entry == NULL;
  assembly a = {s, blocks, motion, all};
  if (!all)
    asi_zeros_clear(&s->zeros, s->value);
  else if (!in_parts)
    memset(s->value, 0, (size_t)asi_pattern_nnz(&s->pattern) * sizeof(double));
  if (in_parts)
    asi_pool_run(s->pool, s->parts.n_parts, assemble_part, &a);
  else
    add_terms(&a, -1);
}

void asi_system_set_units(asi_system *s) {
  const asi_pattern *p = &s->pattern;
  for (int j = 0; j < s->size; ++j)
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k)
      s->unit[k] = s->row_unit[p->row[k]] * s->column_unit[j];
}

// Numbers are shared out in so many parts for each thread, if they are so many.
enum { PARTS_PER_THREAD = 2, LEAST_NUMBERS = 8192 };

/// to = from * unit, n numbers.
typedef struct scaling {
  double *to;
  const double *from, *unit;
  int n, n_parts;
} scaling;

ASI_TWICE static void scale_part(int part, int thread, void *context) {
  const scaling *w = context;
  const int end = part + 1 == w->n_parts ? w->n : w->n / w->n_parts * (part + 1);
  double *const to = w->to;
  const double *const from = w->from, *const unit = w->unit;
  (void)thread;
#pragma GCC unroll 4
  for (int k = w->n / w->n_parts * part; k < end; ++k) to[k] = from[k] * unit[k];
}

static void scale_numbers(asi_pool *pool, double *to, const double *from, const double *unit,
                          int n) {
  scaling w = {to, from, unit, n,
               n < LEAST_NUMBERS ? 1 : PARTS_PER_THREAD * asi_pool_threads(pool)};
  asi_pool_run(pool, w.n_parts, scale_part, &w);
}

static void scale(asi_system *s) {
  scale_numbers(s->pool, s->scaled, s->value, s->unit, asi_pattern_nnz(&s->pattern));
}

as_status asi_system_factor(asi_system *s, int *culprit) {
  scale(s);
  return s->solver->ops->factor(s->solver, s->scaled, culprit);
}

as_status asi_system_solve(asi_system *s, double *b) {
  scale_numbers(s->pool, b, b, s->row_unit, s->size);
  const as_status status = s->solver->ops->solve(s->solver, b);
  scale_numbers(s->pool, b, b, s->column_unit, s->size);
  return status;
}

void asi_system_multiply(const asi_system *s, const double *x, double *out) {
  const asi_pattern *p = &s->pattern;
  memset(out, 0, (size_t)s->size * sizeof(double));
  for (int j = 0; j < s->size; ++j)
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k)
      out[p->row[k]] += s->value[k] * x[j];
}

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
  const asi_tangent_map *motion;
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

typedef struct term_context {
  const asi_system *system;
  const asi_term *term;
  const as_matrix *via;
} term_context;

static int length_of(const asi_pattern *p, int j) { return p->col_start[j + 1] - p->col_start[j]; }

/// The products of column `col` of the system: (column j of the term's block) times entry `right` of via.
static void visit_block_column(asi_block_product_builder *p, const term_context *c, int j, int col,
                               int right) {
  const as_problem *problem = c->system->problem;
  const asi_pattern *block = &problem->pattern[c->term->block];
  if (c->term->transposed) {
    const asi_row_view *view =
        c->term->block == AS_BLOCK_G_Q ? &problem->g_q_rows : &problem->k_v_rows;
    for (int s = view->start[j]; s < view->start[j + 1]; ++s) {
      // Rows of a run come from columns of the same length; others would only be equally far apart by chance.
      if (s > view->start[j] &&
          length_of(block, view->col[s]) != length_of(block, view->col[s - 1]))
        asi_end_run(p);
      asi_add_product(p, c->term->row + view->col[s], col, view->position[s], right);
    }
  } else {
    for (int k = block->col_start[j]; k < block->col_start[j + 1]; ++k)
      asi_add_product(p, c->term->row + block->row[k], col, k, right);
  }
}

static void visit_term(asi_block_product_builder *p, const void *context) {
  const term_context *c = context;
  const int cols = term_columns(c->system->problem, c->term);
  for (int j = 0; j < cols; ++j) {
    const int col = c->term->col + j;
    if (c->via == NULL) {
      visit_block_column(p, c, j, col, 0);
    } else {
      for (int k = c->via->col_start[j]; k < c->via->col_start[j + 1]; ++k)
        visit_block_column(p, c, c->via->row[k], col, k);
    }
  }
}

/// What it takes to factorize and to solve once.
static double work_of(const asi_solver *solver) {
  asi_solver_info info;
  solver->ops->info(solver, &info);
  return info.factor_operations + info.solve_operations;
}

/// Replaces a solver by blocks by one with bodies first, if that is less work.
static as_status try_bodies_first(asi_system *s, as_error *error) {
  asi_elimination graph = {0};
  asi_solver *other = NULL;
  as_status status = asi_order_bodies_first(s->problem, s->size, &graph, error);
  if (status == AS_OK && graph.order)
    status =
        asi_frontal_create(s->size, s->pattern.col_start, s->pattern.row, &graph, &other, error);
  asi_elimination_free(&graph);
  if (other == NULL) return status;
  asi_solver *worse = other;
  if (work_of(other) < work_of(s->solver)) {
    worse = s->solver;
    s->solver = other;
  }
  worse->ops->destroy(worse);
  return AS_OK;
}

/// Blocks where they are worth while, else dense LU for small or full matrices and KLU for the others.
static as_status make_solver(asi_system *s, as_error *error) {
  const int n = s->size;
  const int *col_start = s->pattern.col_start, *row = s->pattern.row;
  const bool small = n < ASI_MIN_SPARSE;
  const bool full = !small && (double)col_start[n] > 0.5 * (double)n * (double)n;
  asi_elimination graph = {0};
  as_status status = full ? AS_OK : asi_order_by_graph(s->problem, n, &graph, error);
  if (status == AS_OK && graph.order)
    status = asi_frontal_create(n, col_start, row, &graph, &s->solver, error);
  if (status == AS_OK && s->solver)
    status = try_bodies_first(s, error);
  else if (status == AS_OK && (small || full))
    status = asi_dense_create(n, col_start, row, &s->solver, error);
  else if (status == AS_OK)
    status = asi_sparse_lu_create(
        n, col_start, row, graph.order,
        ASI_ORDER_GIVEN | ASI_ORDER_NATURAL | ASI_ORDER_AMD | ASI_ORDER_COLAMD, &s->solver, error);
  asi_elimination_free(&graph);
  return status;
}

/// The pattern, where the diagonal is in it, and the solver: those of `like` where they are the same.
static as_status find_pattern(asi_system *s, const asi_tangent_map *motion, const asi_system *like,
                              as_error *error) {
  const system_context context = {s, motion};
  as_status status =
      build_pattern(&s->pattern, s->size, s->size, list_system_column, &context, error);
  if (status) return status;
  if (like && like->solver && asi_pattern_equal(&s->pattern, &like->pattern)) {
    asi_pattern_free(&s->pattern);
    s->borrows_pattern = true;
    s->pattern = like->pattern;
    s->diagonal = like->diagonal;
    return AS_OK;
  }
  const as_matrix matrix = {
      .rows = s->size, .cols = s->size, .col_start = s->pattern.col_start, .row = s->pattern.row};
  s->diagonal = asi_calloc((size_t)s->size, sizeof(int));
  if (!s->diagonal) return asi_fail_memory(error);
  for (int j = 0; j < s->size; ++j) s->diagonal[j] = as_matrix_position(&matrix, j, j);
  return AS_OK;
}

static bool has_terms_of(const asi_system *s, const asi_system *like) {
  if (!s->borrows_pattern || s->n_terms != like->n_terms) return false;
  for (int i = 0; i < s->n_terms; ++i) {
    const asi_term *a = &s->term[i], *b = &like->term[i];
    if (a->row != b->row || a->col != b->col || a->block != b->block ||
        a->transposed != b->transposed || a->via != b->via)
      return false;
  }
  return true;
}

/// Where the products of the terms go: as in `like` where the terms are the same.
static as_status plan_products(asi_system *s, const asi_tangent_map *motion, const asi_system *like,
                               as_error *error) {
  s->borrows_products = has_terms_of(s, like);
  if (s->borrows_products) {
    memcpy(s->products, like->products, sizeof s->products);
    s->zeros = like->zeros;
    s->parts = like->parts;
    return AS_OK;
  }
  as_status status = AS_OK;
  for (int i = 0; i < s->n_terms && status == AS_OK; ++i) {
    const term_context one = {s, &s->term[i], via_matrix(motion, s->term[i].via)};
    status =
        asi_products_build(&s->products[i], &s->pattern, one.via != NULL, visit_term, &one, error);
  }
  if (status == AS_OK)
    status = asi_zeros_find(&s->zeros, s->products, s->n_terms, &s->pattern, error);
  return status ? status
                : asi_product_parts_make(&s->parts, s->pool, s->products, s->n_terms, &s->pattern,
                                         error);
}

static as_status take_values(asi_system *s, as_error *error) {
  const as_problem *p = s->problem;
  const size_t nnz = (size_t)asi_pattern_nnz(&s->pattern), size = (size_t)s->size;
  s->value = asi_calloc(nnz, sizeof(double));
  s->scaled = asi_calloc(nnz, sizeof(double));
  s->unit = asi_calloc(nnz, sizeof(double));
  s->unit_rows = asi_calloc((size_t)(p->def.n_lambda + p->def.n_psi), sizeof(double));
  s->row_unit = asi_calloc(size, sizeof(double));
  s->column_unit = asi_calloc(size, sizeof(double));
  return s->value && s->scaled && s->unit && s->unit_rows && s->row_unit && s->column_unit
             ? AS_OK
             : asi_fail_memory(error);
}

as_status asi_system_init(asi_system *s, const as_problem *p, const asi_tangent_map *motion,
                          asi_unknowns unknowns, int size, const asi_term *terms, int n_terms,
                          const asi_system *like, as_error *error) {
  assert(n_terms <= ASI_MAX_TERMS);
  *s = (asi_system){.problem = p, .unknowns = unknowns, .size = size, .unit_mass = (double)NAN};
  s->pool = motion->pool;
  for (int i = 0; i < n_terms; ++i) {
    if (!(p->present & AS_BLOCK_BIT(terms[i].block))) continue;
    asi_term *term = &s->term[s->n_terms++];
    *term = terms[i];
    if (term->via == ASI_CHAIN_T && !motion->second.value && asi_space_is_linear(p->space))
      term->via = ASI_CHAIN_IDENTITY;
  }
  as_status status = find_pattern(s, motion, like, error);
  if (status == AS_OK) status = take_values(s, error);
  if (status == AS_OK) status = plan_products(s, motion, like, error);
  if (status) return status;
  if (s->borrows_pattern && like->solver->ops->twin)
    status = like->solver->ops->twin(like->solver, &s->solver, error);
  else
    status = make_solver(s, error);
  if (status == AS_OK && motion->pool && s->solver->ops->use_threads)
    status = s->solver->ops->use_threads(s->solver, motion->pool, error);
  if (status || !(asi_system_blocks(s) & asi_multiplier_blocks)) return status;
  s->sharing = asi_low_rank_create(size, p->def.n_lambda + p->def.n_psi);
  return s->sharing ? AS_OK : asi_fail_memory(error);
}

void asi_system_free(asi_system *s) {
  if (s->solver) s->solver->ops->destroy(s->solver);
  asi_low_rank_destroy(s->sharing);
  if (!s->borrows_products) {
    for (int i = 0; i < s->n_terms; ++i) asi_products_free(&s->products[i]);
    asi_zeros_free(&s->zeros);
    asi_product_parts_free(&s->parts);
  }
  if (!s->borrows_pattern) {
    asi_pattern_free(&s->pattern);
    free(s->diagonal);
  }
  free(s->value);
  free(s->scaled);
  free(s->unit);
  free(s->unit_rows);
  free(s->row_unit);
  free(s->column_unit);
  *s = (asi_system){0};
}

void asi_system_set_factors(asi_system *s, const asi_term *terms, int n_terms) {
  int kept = 0;
  for (int i = 0; i < n_terms; ++i)
    if (s->problem->present & AS_BLOCK_BIT(terms[i].block))
      s->term[kept++].factor = terms[i].factor;
  assert(kept == s->n_terms);
}

void asi_system_leave_out(asi_system *s, as_block block) {
  for (int i = 0; i < s->n_terms; ++i)
    if (s->term[i].block == block) s->term[i].factor = 0.0;
}

void asi_system_forget(asi_system *s) {
  if (s->solver && s->solver->ops->forget) s->solver->ops->forget(s->solver);
}

void asi_system_serialize(asi_system *s, asi_archive *a) {
  if (s->solver == NULL) return;
  const int nnz = asi_pattern_nnz(&s->pattern);
  asi_archive_doubles(a, s->value, (size_t)nnz);
  asi_archive_doubles(a, s->row_unit, (size_t)s->size);
  asi_archive_doubles(a, s->column_unit, (size_t)s->size);
  if (a->mode == ASI_ARCHIVE_READ) {
    s->unit_mass = (double)NAN;
    asi_system_set_units(s);
  }
  bool current = true; // what was factorized is what was assembled last
  for (int k = 0; k < nnz && a->mode != ASI_ARCHIVE_READ && current; ++k)
    current = s->scaled[k] == s->value[k] * s->unit[k];
  asi_archive_bool(a, &current);
  if (current && a->mode == ASI_ARCHIVE_READ) scale(s);
  if (!current) asi_archive_doubles(a, s->scaled, (size_t)nnz);
  if (!a->damaged) s->solver->ops->serialize(s->solver, s->scaled, a);
  if (!a->damaged && s->sharing) asi_low_rank_serialize(s->sharing, a);
}

as_block_set asi_system_blocks(const asi_system *s) {
  as_block_set set = 0;
  for (int i = 0; i < s->n_terms; ++i)
    if (s->term[i].factor != 0.0) set |= AS_BLOCK_BIT(s->term[i].block);
  return s->joins_inertia ? set | AS_BLOCKS_JOIN_INERTIA : set;
}
