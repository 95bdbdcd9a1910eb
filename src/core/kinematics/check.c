/// Checks a problem's formulas against differences, see alphastep/check.h.
///
/// Columns of a block that claim no row in common are moved together, each by a random increment, so
/// that
///
///     F(+e) - F(-e)  =  2 entry_ij e_j  in a row i that column j claims,  0  in a row nobody claims
///
/// holds if and only if the entries and the pattern are right (but for accidents of measure zero).
/// Where it does not, each half of the columns is moved, and so on to find the entry. A block without
/// entries takes one group, a dense one n.
#include "alphastep/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "core/kinematics/evaluate.h"
#include "core/kinematics/probe_points.h"

// ---- faults ---------------------------------------------------------------------------------------

/// Round-off that a difference of two function values may have, over the size of their terms: of
/// formulas, and of functions that rest on differences themselves.
#define ROUND_OFF (1e3 * DBL_EPSILON)
#define ROUND_OFF_NESTED 4e-9
/// The increment for what these rest on: larger than the best for smooth functions of small numbers.
#define INCREMENT_NESTED 1e-4
/// The error of a block that the library differences, over the size of terms per typical move.
#define DIFFERENCED_ERROR 1e-6
#define DIFFERENCED_ERROR_NESTED 1e-4

typedef enum fault_kind {
  FAULT_ENTRY,   ///< of a given block
  FAULT_OUTSIDE, ///< of its pattern
  FAULT_ZERO,    ///< a block that is not
  FAULT_VALUE,   ///< of a function
  FAULT_MASS,
  FAULT_TIME,
  FAULT_TOGETHER, ///< of the evaluate callback
} fault_kind;

typedef struct checker {
  const as_problem *problem;
  const as_check_def *def;
  as_check_report report;
  fault_kind kind;      ///< of report.fault, and
  double fault_error;   ///< how large it is
  as_quantity quantity; ///< what its row is
  asi_sampler sample;
  as_statistics count;
  asi_evaluator eval;
  double *memory;    ///< of the arrays that follow, each as long as all unknowns together
  double *increment; ///< of each column
  double *value[4];  ///< the function at -2, -1, 1, 2 increments
  double *slope;     ///< of each row: what differences say, times the increment of its column
  double *noise;     ///< by how much that may be off
  double *scale;     ///< the size of the terms that make up the function's row
  int *indices;      ///< of the arrays that follow, likewise
  int *columns;      ///< that are moved together
  int *claimed_by;   ///< the column that claims a row, or -1
  int *position;     ///< of that entry in the matrix
  int *done;         ///< columns that have been moved
} checker;

static as_status checker_init(checker *c, const as_problem *p, const as_check_def *def,
                              as_error *error) {
  *c = (checker){.problem = p, .def = def};
  as_check_report *r = &c->report;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) r->block[block] = (double)NAN;
  r->constraint_rate = r->constraint_acceleration = r->nonholonomic_acceleration = (double)NAN;
  r->mass_constant = r->scleronomic = r->evaluate = (double)NAN;
  r->fault = (as_check_fault){.row = -1, .col = -1, .t = (double)NAN};
  as_status status = asi_sampler_init(&c->sample, p, def, error);
  if (status == AS_OK) status = asi_evaluator_init(&c->eval, p, &c->count, error);
  if (status == AS_OK && def->near.u)
    memcpy(c->eval.u, def->near.u, (size_t)p->def.n_u * sizeof(double));
  if (status) return status;
  c->eval.relative = INCREMENT_NESTED;
  const size_t size = asi_total_size(p);
  c->memory = asi_calloc(8 * size, sizeof(double));
  c->indices = asi_calloc(4 * size, sizeof(int));
  if (c->memory == NULL || c->indices == NULL) return asi_fail_memory(error);
  double **const arrays[] = {&c->increment, &c->value[0], &c->value[1], &c->value[2],
                             &c->value[3],  &c->slope,    &c->noise,    &c->scale};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) *arrays[i] = c->memory + i * size;
  int **const index_arrays[] = {&c->columns, &c->claimed_by, &c->position, &c->done};
  for (size_t i = 0; i < sizeof index_arrays / sizeof index_arrays[0]; ++i)
    *index_arrays[i] = c->indices + i * size;
  return AS_OK;
}

static void checker_free(checker *c) {
  asi_sampler_free(&c->sample);
  asi_evaluator_free(&c->eval);
  free(c->memory);
  free(c->indices);
}

/// Beyond the tolerance if the numbers differ by more than noise and relatively by more than that.
static double relative_error(const checker *c, double given, double differenced, double noise) {
  const double difference = fabs(given - differenced);
  const double size = fmax(fabs(given), fabs(differenced));
  return difference == 0.0 ? 0.0 : difference / fmax(size, noise / c->def->tolerance);
}

/// Takes an error into a field of the report and, if it is one, the fault: the first formula's stays.
static void note(checker *c, double *worst, double error, fault_kind kind, as_quantity quantity,
                 as_check_fault fault) {
  if (!(error <= *worst)) *worst = error; // NAN at first
  if (error <= c->def->tolerance) return;
  const char *first = c->report.fault.what;
  if (first != NULL && (first != fault.what || error <= c->fault_error)) return;
  c->report.fault = fault;
  c->fault_error = error;
  c->kind = kind;
  c->quantity = quantity;
}

/// Says what was found.
static as_status verdict(const checker *c, as_error *error) {
  const as_check_fault *f = &c->report.fault;
  if (f->what == NULL) return AS_OK;
  char name[64];
  asi_component_name(c->problem, c->quantity, f->row, name, sizeof name);
  switch (c->kind) {
  case FAULT_ENTRY:
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                    "Block %s, row %d (%s), column %d: the jacobian callback gives %.9g, "
                    "differences give %.9g at t = %.9g s.",
                    f->what, f->row, name, f->col, f->given, f->differenced, f->t);
  case FAULT_OUTSIDE:
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                    "Block %s, row %d (%s), column %d is outside the block's pattern, but "
                    "differences give %.9g at t = %.9g s.",
                    f->what, f->row, name, f->col, f->differenced, f->t);
  case FAULT_ZERO:
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                    "Block %s is declared AS_BLOCK_ZERO, but in row %d (%s), column %d differences "
                    "give %.9g at t = %.9g s.",
                    f->what, f->row, name, f->col, f->differenced, f->t);
  case FAULT_VALUE:
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                    "Row %d (%s): the %s callback gives %.9g, differences give %.9g at t = %.9g s.",
                    f->row, name, f->what, f->given, f->differenced, f->t);
  case FAULT_MASS:
    return asi_fail(
        error, AS_ERR_ARGUMENT, f->t, name,
        "The problem says mass_constant, but row %d (%s), column %d of M is %.9g at the "
        "given point and %.9g at one near it, t = %.9g s.",
        f->row, name, f->col, f->given, f->differenced, f->t);
  case FAULT_TIME:
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                    "The problem says scleronomic, but the constraint in row %d (%s) changes from "
                    "%.9g to %.9g between t = %.9g s and %.9g s at the same q and v.",
                    f->row, name, f->given, f->differenced, c->def->near.t, f->t);
  case FAULT_TOGETHER:
    if (f->col >= 0)
      return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                      "Block %s, row %d (%s), column %d: the evaluate callback gives %.9g, the "
                      "jacobian callback %.9g at t = %.9g s.",
                      f->what, f->row, name, f->col, f->given, f->differenced, f->t);
    return asi_fail(error, AS_ERR_ARGUMENT, f->t, name,
                    "Row %d (%s): the evaluate callback gives %.9g, the %s callback %.9g at "
                    "t = %.9g s.",
                    f->row, name, f->given, f->what, f->differenced, f->t);
  }
  return AS_OK;
}

// ---- blocks ---------------------------------------------------------------------------------------

/// Does the function rest on something that the library differences?
static bool is_nested(const as_problem *p, asi_function function) {
  const as_block_set needs = asi_eval_needs(p, function) & ~AS_BLOCK_BIT(AS_BLOCK_M);
  return (needs & ~p->given) != 0 ||
         (function == ASI_FN_GDOT && p->def.constraint_rate == NULL && !p->def.scleronomic);
}

/// [DI.1] for the columns that are moved, times their increments; the two central differences in it
/// tell how good it is.
static as_status difference(checker *c, as_block block, const as_point *at, const int *columns,
                            int n_columns) {
  static const double factor[4] = {-2.0, -1.0, 1.0, 2.0};
  const asi_function function = asi_block_describe(block).function;
  const double round_off = is_nested(c->problem, function) ? ROUND_OFF_NESTED : ROUND_OFF;
  for (int s = 0; s < 4; ++s) {
    const as_status status = asi_eval_moved(&c->eval, block, at, columns, n_columns, factor[s],
                                            c->increment, c->value[s]);
    if (status) return status;
  }
  const int rows = asi_function_size(c->problem, function);
  for (int i = 0; i < rows; ++i) {
    const double narrow = (c->value[2][i] - c->value[1][i]) / 2.0;
    const double wide = (c->value[3][i] - c->value[0][i]) / 4.0;
    c->slope[i] = (4.0 * narrow - wide) / 3.0;
    c->noise[i] = fabs(narrow - wide) + round_off * c->scale[i];
  }
  return AS_OK;
}

/// scale_i = |F_i| + sum_j |entry_ij| size_j, for q the size of its largest number; and not much below
/// that of other rows: terms may cancel exactly.
static as_status measure_scale(checker *c, as_block block, const as_point *at, const as_matrix *m) {
  const as_status status =
      asi_eval_moved(&c->eval, block, at, NULL, 0, 0.0, c->increment, c->scale);
  if (status) return status;
  double per_increment = 1.0 / c->def->increment;
  if (asi_block_describe(block).argument == ASI_ARG_Q)
    for (int i = 0; i < c->problem->nq; ++i)
      per_increment = fmax(per_increment, fabs(at->q[i]) / c->def->increment);
  for (int i = 0; i < m->rows; ++i) c->scale[i] = fabs(c->scale[i]);
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      c->scale[m->row[k]] += fabs(m->value[k]) * c->increment[j] * per_increment;
  double largest = 0.0;
  for (int i = 0; i < m->rows; ++i) largest = fmax(largest, c->scale[i]);
  for (int i = 0; i < m->rows; ++i) c->scale[i] = fmax(c->scale[i], 1e-3 * largest);
  return AS_OK;
}

/// Lets a column claim its rows. False, and nothing is claimed, if one of them is taken.
static bool claim(checker *c, const as_matrix *m, int column) {
  for (int k = m->col_start[column]; k < m->col_start[column + 1]; ++k)
    if (c->claimed_by[m->row[k]] >= 0) return false;
  for (int k = m->col_start[column]; k < m->col_start[column + 1]; ++k) {
    c->claimed_by[m->row[k]] = column;
    c->position[m->row[k]] = k;
  }
  return true;
}

static void release_rows(checker *c, int rows) {
  for (int i = 0; i < rows; ++i) c->claimed_by[i] = -1;
}

static as_block_source declared_source(const as_problem *p, as_block block) {
  const as_block_set bit = AS_BLOCK_BIT(block);
  if (!(p->present & bit)) return AS_BLOCK_ZERO;
  return p->given & bit ? AS_BLOCK_GIVEN : AS_BLOCK_DIFFERENCED;
}

/// The error of a row after difference().
static double row_error(const checker *c, as_block block, const as_matrix *m, int i) {
  const int j = c->claimed_by[i];
  const double given = j < 0 ? 0.0 : m->value[c->position[i]] * c->increment[j];
  double noise = c->noise[i];
  if (j >= 0 && declared_source(c->problem, block) == AS_BLOCK_DIFFERENCED) {
    const asi_function function = asi_block_describe(block).function;
    noise += (is_nested(c->problem, function) ? DIFFERENCED_ERROR_NESTED : DIFFERENCED_ERROR) *
             c->scale[i] * c->def->increment;
  }
  return relative_error(c, given, c->slope[i], noise);
}

/// Notes what the rows show when one column was moved.
static void note_column(checker *c, as_block block, const as_point *at, const as_matrix *m,
                        int column) {
  const asi_block_info info = asi_block_describe(block);
  const as_block_source source = declared_source(c->problem, block);
  for (int i = 0; i < m->rows; ++i) {
    const bool inside = c->claimed_by[i] >= 0;
    // What the library has differenced is not to blame for what a wrong pattern does to it.
    if (inside && source == AS_BLOCK_DIFFERENCED) continue;
    const fault_kind kind = inside                    ? FAULT_ENTRY
                            : source == AS_BLOCK_ZERO ? FAULT_ZERO
                                                      : FAULT_OUTSIDE;
    note(c, &c->report.block[block], row_error(c, block, m, i), kind,
         asi_function_quantity(info.function),
         (as_check_fault){info.name, i, column, inside ? m->value[c->position[i]] : 0.0,
                          c->slope[i] / c->increment[column], at->t});
  }
}

/// Moves columns that claim different rows; if something is wrong, each half of them, and so on.
static as_status inspect(checker *c, as_block block, const as_point *at, const as_matrix *m,
                         const int *columns, int n_columns) {
  as_status status = difference(c, block, at, columns, n_columns);
  if (status) return status;
  double worst = 0.0;
  release_rows(c, m->rows);
  for (int k = 0; k < n_columns; ++k) claim(c, m, columns[k]);
  for (int i = 0; i < m->rows; ++i) {
    const double error = row_error(c, block, m, i);
    if (!(error <= worst) && !isnan(worst)) worst = error; // NAN stays
  }
  if (worst <= c->def->tolerance) {
    if (!(worst <= c->report.block[block])) c->report.block[block] = worst; // NAN at first
    return AS_OK;
  }
  if (n_columns == 1) {
    note_column(c, block, at, m, columns[0]);
    return AS_OK;
  }
  const int half = n_columns / 2;
  status = inspect(c, block, at, m, columns, half);
  return status ? status : inspect(c, block, at, m, columns + half, n_columns - half);
}

/// Moves columns until none is left, as many at a time as claim different rows. `m` holds the block.
static as_status compare_block(checker *c, as_block block, const as_point *at, const as_matrix *m) {
  const asi_block_info info = asi_block_describe(block);
  asi_increments(c->problem, info.argument, at, c->def->increment, c->increment);
  for (int j = 0; j < m->cols; ++j) c->increment[j] *= fabs(asi_draw(&c->sample.state));
  as_status status = measure_scale(c, block, at, m);
  memset(c->done, 0, (size_t)m->cols * sizeof(int));
  for (int first = 0; first < m->cols && status == AS_OK; ++first) {
    if (c->done[first]) continue;
    int n_columns = 0;
    release_rows(c, m->rows);
    for (int j = first; j < m->cols; ++j) {
      if (c->done[j] || !claim(c, m, j)) continue;
      c->done[j] = 1;
      c->columns[n_columns++] = j;
    }
    status = inspect(c, block, at, m, c->columns, n_columns);
  }
  return status;
}

static as_status check_block(checker *c, as_block block) {
  const as_problem *p = c->problem;
  const asi_block_info info = asi_block_describe(block);
  const int rows = asi_function_size(p, info.function), cols = asi_argument_size(p, info.argument);
  as_matrix blocks[AS_BLOCK_COUNT] = {0};
  asi_pattern none = {0};
  as_status status = AS_OK;
  const asi_pattern *pattern = &p->pattern[block];
  if (!(p->present & AS_BLOCK_BIT(block))) {
    none = (asi_pattern){.rows = rows, .cols = cols};
    none.col_start = asi_calloc((size_t)cols + 1, sizeof(int));
    pattern = &none;
    if (none.col_start == NULL) status = asi_fail_memory(c->eval.error);
  }
  if (status == AS_OK) status = asi_matrix_init(&blocks[block], pattern, c->eval.error);
  for (int k = 0; k < c->def->n_points && status == AS_OK; ++k) {
    const as_point at = asi_sampler_point(&c->sample, k);
    status = asi_eval_blocks(&c->eval, &at, AS_BLOCK_BIT(block), blocks);
    if (status == AS_OK) status = compare_block(c, block, &at, &blocks[block]);
    if (c->report.block[block] > c->def->tolerance) break; // found at this point
  }
  asi_matrix_free(&blocks[block]);
  asi_pattern_free(&none);
  return status;
}

/// Is there something that this block can be compared with?
static bool is_comparable(const as_problem *p, as_block block) {
  const asi_block_info info = asi_block_describe(block);
  if (asi_function_size(p, info.function) == 0 || asi_argument_size(p, info.argument) == 0)
    return false;
  if (block == AS_BLOCK_M) return false;
  if (block == AS_BLOCK_MA_Q && p->def.mass_constant) return false; // the flag is checked
  if (p->def.force_kind == AS_FORCE_ADDITIVE &&
      (block == AS_BLOCK_F_LAMBDA || block == AS_BLOCK_F_PSI))
    return false;
  return true;
}

// ---- functions and flags --------------------------------------------------------------------------

/// A callback that is the time derivative of a function along the motion.
typedef struct rate {
  const char *name;
  asi_function of;    ///< what it is the derivative of
  as_block moved;     ///< a block of that function
  as_block direction; ///< what v is multiplied with in it
  as_status (*eval)(asi_evaluator *e, const as_point *at, double *out);
} rate;

static as_status eval_constraint_rate(asi_evaluator *e, const as_point *at, double *out) {
  return asi_eval_function(e, ASI_FN_GDOT, at, e->moved, out);
}

static const rate constraint_rate = {"constraint_rate", ASI_FN_G, AS_BLOCK_G_Q, AS_BLOCK_G_Q,
                                     eval_constraint_rate};
static const rate constraint_acceleration = {"constraint_acceleration", ASI_FN_GDOT,
                                             AS_BLOCK_GDOT_Q, AS_BLOCK_G_Q,
                                             asi_eval_constraint_acceleration};
static const rate nonholonomic_acceleration = {"nonholonomic_acceleration", ASI_FN_K, AS_BLOCK_K_V,
                                               AS_BLOCK_K_V, asi_eval_nonholonomic_acceleration};

/// Compares at one point. The increment in time is halved to see how good the differences are. `blocks`
/// has room for the one that v is multiplied with.
static as_status compare_rate(checker *c, const rate *r, double *worst, const as_point *at,
                              as_matrix *blocks) {
  const as_problem *p = c->problem;
  const as_matrix *m = &blocks[r->direction];
  const int rows = asi_function_size(p, r->of);
  const double time = asi_time_increment(&c->eval, at->v);
  double *given = c->value[0], *coarse = c->value[1], *fine = c->value[2];
  for (int j = 0; j < p->n; ++j)
    c->increment[j] = c->def->increment * (p->typical[j] + fabs(at->v[j]));
  as_status status = asi_eval_blocks(&c->eval, at, AS_BLOCK_BIT(r->direction), blocks);
  if (status == AS_OK) status = measure_scale(c, r->moved, at, m);
  if (status == AS_OK) status = r->eval(&c->eval, at, given);
  if (status == AS_OK) status = asi_eval_along_motion(&c->eval, r->of, at, time, coarse);
  if (status == AS_OK) status = asi_eval_along_motion(&c->eval, r->of, at, 0.5 * time, fine);
  const double round_off = is_nested(p, r->of) ? ROUND_OFF_NESTED : ROUND_OFF;
  for (int i = 0; i < rows && status == AS_OK; ++i) {
    const double noise = fabs(coarse[i] - fine[i]) + round_off * c->scale[i] / time;
    note(c, worst, relative_error(c, given[i], coarse[i], noise), FAULT_VALUE,
         asi_function_quantity(r->of),
         (as_check_fault){r->name, i, -1, given[i], coarse[i], at->t});
  }
  return status;
}

static as_status check_rate(checker *c, const rate *r, double *worst) {
  as_matrix blocks[AS_BLOCK_COUNT] = {0};
  as_status status = AS_OK;
  const int cols = c->problem->n;
  int *no_columns = NULL;
  if (c->problem->present & AS_BLOCK_BIT(r->direction)) {
    status =
        asi_matrix_init(&blocks[r->direction], &c->problem->pattern[r->direction], c->eval.error);
  } else {
    no_columns = asi_calloc((size_t)cols + 1, sizeof(int));
    if (no_columns == NULL) status = asi_fail_memory(c->eval.error);
    blocks[r->direction] = (as_matrix){
        .rows = asi_function_size(c->problem, r->of), .cols = cols, .col_start = no_columns};
  }
  for (int k = 0; k < c->def->n_points && status == AS_OK; ++k) {
    const as_point at = asi_sampler_point(&c->sample, k);
    status = compare_rate(c, r, worst, &at, blocks);
  }
  asi_matrix_free(&blocks[r->direction]);
  free(no_columns);
  return status;
}

static as_status check_mass_constant(checker *c) {
  const asi_pattern *pattern = &c->problem->pattern[AS_BLOCK_M];
  as_matrix first[AS_BLOCK_COUNT] = {0}, other[AS_BLOCK_COUNT] = {0};
  const as_block_set bit = AS_BLOCK_BIT(AS_BLOCK_M);
  const as_matrix *a = &first[AS_BLOCK_M], *b = &other[AS_BLOCK_M];
  as_status status = asi_matrix_init(&first[AS_BLOCK_M], pattern, c->eval.error);
  if (status == AS_OK) status = asi_matrix_init(&other[AS_BLOCK_M], pattern, c->eval.error);
  if (status == AS_OK) status = asi_eval_blocks(&c->eval, &c->def->near, bit, first);
  double largest = 0.0;
  for (int k = 0; k < asi_pattern_nnz(pattern) && status == AS_OK; ++k)
    largest = fmax(largest, fabs(a->value[k]));
  for (int point = 0; point < c->def->n_points && status == AS_OK; ++point) {
    const as_point at = asi_sampler_point(&c->sample, point);
    status = asi_eval_blocks(&c->eval, &at, bit, other);
    for (int j = 0; j < b->cols && status == AS_OK; ++j)
      for (int k = b->col_start[j]; k < b->col_start[j + 1]; ++k)
        note(c, &c->report.mass_constant,
             relative_error(c, a->value[k], b->value[k], ROUND_OFF * largest), FAULT_MASS,
             AS_QUANTITY_V,
             (as_check_fault){"mass_constant", b->row[k], j, a->value[k], b->value[k], at.t});
  }
  asi_matrix_free(&first[AS_BLOCK_M]);
  asi_matrix_free(&other[AS_BLOCK_M]);
  return status;
}

/// Compares g or k at the same q and v at two times.
static as_status check_scleronomic(checker *c, asi_function function) {
  const int rows = asi_function_size(c->problem, function);
  as_status status = AS_OK;
  for (int k = 0; k < c->def->n_points && rows > 0 && status == AS_OK; ++k) {
    const as_point at = asi_sampler_point(&c->sample, k);
    as_point before = at;
    before.t = c->def->near.t;
    status = asi_eval_function(&c->eval, function, &before, c->eval.moved, c->value[0]);
    if (status == AS_OK)
      status = asi_eval_function(&c->eval, function, &at, c->eval.moved, c->value[1]);
    for (int i = 0; i < rows && status == AS_OK; ++i)
      note(c, &c->report.scleronomic, relative_error(c, c->value[0][i], c->value[1][i], 0.0),
           FAULT_TIME, asi_function_quantity(function),
           (as_check_fault){"scleronomic", i, -1, c->value[0][i], c->value[1][i], at.t});
  }
  return status;
}

// ---- all at once --------------------------------------------------------------------------------

/// Notes where what was evaluated at once differs from what was evaluated one by one.
static void compare_together(checker *c, const as_point *at, const as_matrix *together,
                             const as_matrix *single) {
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    const as_matrix *one = &together[block], *other = &single[block];
    const asi_block_info info = asi_block_describe((as_block)block);
    for (int j = 0; j < one->cols && (c->problem->given & AS_BLOCK_BIT(block)); ++j)
      for (int k = one->col_start[j]; k < one->col_start[j + 1]; ++k)
        note(c, &c->report.evaluate, relative_error(c, one->value[k], other->value[k], 0.0),
             FAULT_TOGETHER, asi_function_quantity(info.function),
             (as_check_fault){info.name, one->row[k], j, one->value[k], other->value[k], at->t});
  }
}

/// The same for a function that was evaluated at once.
static as_status compare_function(checker *c, asi_function function, const as_point *at,
                                  const as_matrix *blocks, const double *together) {
  static const char *const names[ASI_FUNCTIONS] = {
      "mass", "force", "constraint", "constraint_rate", "nonholonomic", "state_rate", "output"};
  double *single = c->value[2];
  const as_status status = asi_eval_function(&c->eval, function, at, blocks, single);
  for (int i = 0; i < asi_function_size(c->problem, function) && status == AS_OK; ++i)
    note(c, &c->report.evaluate, relative_error(c, together[i], single[i], 0.0), FAULT_TOGETHER,
         asi_function_quantity(function),
         (as_check_fault){names[function], i, -1, together[i], single[i], at->t});
  return status;
}

/// All functions that there are: where asi_eval_together() is to write.
static void place_functions(checker *c, double *out[ASI_FUNCTIONS]) {
  const as_problem *p = c->problem;
  double *next = c->value[0];
  for (int f = ASI_FN_F; f < ASI_FUNCTIONS; ++f) {
    const int size = asi_function_size(p, (asi_function)f);
    out[f] = size == 0 ? NULL : f == ASI_FN_GDOT ? c->value[1] : next;
    if (f != ASI_FN_GDOT) next += size;
  }
}

/// Where nothing could be evaluated at once.
static as_status say_why_not(checker *c, const as_point *at, double *const out[ASI_FUNCTIONS],
                             const as_matrix *blocks) {
  for (int f = ASI_FN_F; f < ASI_FUNCTIONS; ++f) {
    const as_status status =
        out[f] ? asi_eval_function(&c->eval, (asi_function)f, at, blocks, out[f]) : AS_OK;
    if (status) return status;
  }
  return asi_fail(c->eval.error, AS_ERR_CALLBACK, at->t, "evaluate",
                  "The evaluate callback could not be evaluated at t = %.9g s, the single "
                  "callbacks could.",
                  at->t);
}

/// The same for F_Q with -MA_Q in it. What has been evaluated one by one is joined alike.
static as_status compare_joined(checker *c, const as_point *at, as_matrix *together,
                                as_matrix *single) {
  const as_matrix *by_q = &single[AS_BLOCK_MA_Q];
  if (!c->problem->joins_inertia) return AS_OK;
  for (int j = 0; j < by_q->cols; ++j)
    for (int k = by_q->col_start[j]; k < by_q->col_start[j + 1]; ++k)
      as_matrix_add(&single[AS_BLOCK_F_Q], by_q->row[k], j, -by_q->value[k]);
  const as_status status =
      asi_eval_blocks(&c->eval, at, AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCKS_JOIN_INERTIA, together);
  if (status == AS_OK) compare_together(c, at, together, single);
  return status;
}

static as_status check_together(checker *c) {
  const as_problem *p = c->problem;
  as_matrix together[AS_BLOCK_COUNT] = {{0}}, single[AS_BLOCK_COUNT] = {{0}};
  double *out[ASI_FUNCTIONS] = {NULL};
  as_status status = AS_OK;
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block) {
    if (!(p->present & AS_BLOCK_BIT(block))) continue;
    status = asi_matrix_init(&together[block], &p->pattern[block], c->eval.error);
    if (status == AS_OK)
      status = asi_matrix_init(&single[block], &p->pattern[block], c->eval.error);
  }
  const as_block_set needs = asi_eval_needs(p, ASI_FN_F) | asi_eval_needs(p, ASI_FN_GDOT);
  place_functions(c, out);
  for (int k = 0; k < c->def->n_points && status == AS_OK; ++k) {
    const as_point at = asi_sampler_point(&c->sample, k);
    status = asi_eval_blocks(&c->eval, &at, p->given | needs, single);
    if (status == AS_OK) status = asi_eval_blocks(&c->eval, &at, needs & ~p->given, together);
    if (status == AS_OK && !asi_eval_together(&c->eval, &at, out, p->given, together))
      status = say_why_not(c, &at, out, single);
    if (status == AS_OK) status = asi_eval_complete(&c->eval, &at, out, together);
    if (status == AS_OK) compare_together(c, &at, together, single);
    for (int f = ASI_FN_F; f < ASI_FUNCTIONS && status == AS_OK; ++f)
      if (out[f]) status = compare_function(c, (asi_function)f, &at, single, out[f]);
    if (status == AS_OK) status = compare_joined(c, &at, together, single);
  }
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    asi_matrix_free(&together[block]);
    asi_matrix_free(&single[block]);
  }
  return status;
}

/// First what everything else rests on.
static as_status check_all(checker *c) {
  const as_problem *p = c->problem;
  as_check_report *r = &c->report;
  as_status status = AS_OK;
  if (p->def.scleronomic) status = check_scleronomic(c, ASI_FN_G);
  if (status == AS_OK && p->def.scleronomic) status = check_scleronomic(c, ASI_FN_K);
  if (status == AS_OK && p->def.mass_constant) status = check_mass_constant(c);
  const as_block base[] = {AS_BLOCK_G_Q, AS_BLOCK_K_V};
  for (size_t i = 0; i < sizeof base / sizeof base[0] && status == AS_OK; ++i)
    if (is_comparable(p, base[i])) status = check_block(c, base[i]);
  if (status == AS_OK && p->def.n_lambda > 0 && p->def.constraint_rate)
    status = check_rate(c, &constraint_rate, &r->constraint_rate);
  if (status == AS_OK && p->def.n_lambda > 0 && p->def.constraint_acceleration)
    status = check_rate(c, &constraint_acceleration, &r->constraint_acceleration);
  if (status == AS_OK && p->def.n_psi > 0 && p->def.nonholonomic_acceleration)
    status = check_rate(c, &nonholonomic_acceleration, &r->nonholonomic_acceleration);
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (block != AS_BLOCK_G_Q && block != AS_BLOCK_K_V && is_comparable(p, (as_block)block))
      status = check_block(c, (as_block)block);
  if (status == AS_OK && p->def.evaluate) status = check_together(c);
  return status;
}

as_status as_problem_check(const as_problem *problem, const as_check_def *def,
                           as_check_report *report, as_error *error) {
  if (problem == NULL || def == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_check needs a problem and a description of the check.");
  const as_status made = ASI_CHECK_DEFINITION(as_check_def, def, error);
  if (made) return made;
  checker c;
  as_status status = checker_init(&c, problem, def, error);
  if (status == AS_OK) status = check_all(&c);
  if (status == AS_OK) status = verdict(&c, error);
  if (report) *report = c.report;
  checker_free(&c);
  return status;
}
