/// Detects the patterns of a problem's blocks, see alphastep/check.h.
///
/// M and given blocks: their callback fills a matrix that only records. Differenced blocks: an entry is
/// where moving a component changes a row at all. What does not depend on the component is computed
/// from the same numbers and agrees in every bit: no tolerance is needed, unless the function rests on
/// differences itself, whose round-off depends on more.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/check.h"
#include "base/definition.h"
#include "base/error.h"
#include "core/kinematics/evaluate.h"
#include "core/kinematics/probe_points.h"

struct as_patterns {
  asi_pattern pattern[AS_BLOCK_COUNT];
};

void as_patterns_destroy(as_patterns *patterns) {
  if (patterns == NULL) return;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) asi_pattern_free(&patterns->pattern[block]);
  free(patterns);
}

/// What looking for patterns needs besides the problem.
typedef struct detector {
  asi_sampler sample;
  as_statistics count;
  asi_evaluator eval;
  as_recorder recorder[AS_BLOCK_COUNT];
  as_matrix recording[AS_BLOCK_COUNT]; ///< without pattern and values
  double *memory;
  double *increment, *plus, *minus;
  double *noise; ///< changes of each row that mean nothing
  double *terms; ///< the size of the terms of each constraint
  int *indices;
  int *columns;    ///< that are moved together
  int *claimed_by; ///< the interval of columns that claims a row, or -1
  int *done;       ///< intervals that have been moved
} detector;

static as_status detector_init(detector *d, const as_problem *p, const as_check_def *how,
                               const int *no_columns, as_error *error) {
  *d = (detector){0};
  as_status status = asi_sampler_init(&d->sample, p, how, error);
  if (status == AS_OK) status = asi_evaluator_init(&d->eval, p, &d->count, error);
  if (status) return status;
  const size_t size = asi_total_size(p);
  d->memory = asi_calloc(5 * size, sizeof(double));
  d->indices = asi_calloc(3 * size, sizeof(int));
  if (d->memory == NULL || d->indices == NULL) return asi_fail_memory(error);
  d->columns = d->indices;
  d->claimed_by = d->columns + size;
  d->done = d->claimed_by + size;
  d->increment = d->memory;
  d->plus = d->increment + size;
  d->minus = d->plus + size;
  d->noise = d->minus + size;
  d->terms = d->noise + size;
  d->eval.relative = how->increment;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    const asi_block_info info = asi_block_describe((as_block)block);
    const int rows = asi_function_size(p, info.function);
    const int cols = asi_argument_size(p, info.argument);
    d->recorder[block] = (as_recorder){.rows = rows, .cols = cols};
    d->recording[block] = (as_matrix){
        .rows = rows, .cols = cols, .col_start = no_columns, .recorder = &d->recorder[block]};
  }
  return AS_OK;
}

static void detector_free(detector *d) {
  asi_sampler_free(&d->sample);
  asi_evaluator_free(&d->eval);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) asi_recorder_free(&d->recorder[block]);
  free(d->memory);
  free(d->indices);
}

/// Round-off in what is made of differences: B^T lambda + k_v^T psi in f, and g_t + B v. An entry of B
/// or k_v has that of its row's terms, |B| |q|, over the increment.
static void measure_noise(detector *d, asi_function function, const as_point *at) {
  const as_problem *p = d->sample.problem;
  const as_block base[] = {AS_BLOCK_G_Q, AS_BLOCK_K_V};
  double q_size = 1.0;
  for (int i = 0; i < p->nq; ++i) q_size = fmax(q_size, fabs(at->q[i]));
  const double round_off = 1e2 * DBL_EPSILON * q_size;
  memset(d->noise, 0, (size_t)asi_function_size(p, function) * sizeof(double));
  for (int b = 0; b < 2; ++b) {
    if (!(asi_eval_needs(p, function) & AS_BLOCK_BIT(base[b]))) continue;
    const as_matrix *m = &d->eval.moved[base[b]];
    const double *multiplier = b == 0 ? at->lambda : at->psi;
    const bool given = p->given & AS_BLOCK_BIT(base[b]);
    memset(d->terms, 0, (size_t)m->rows * sizeof(double));
    for (int k = 0; k < m->col_start[m->cols]; ++k) d->terms[m->row[k]] += fabs(m->value[k]);
    for (int j = 0; j < m->cols; ++j) {
      for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k) {
        const int i = m->row[k];
        const double size = given ? 0.0 : round_off / d->eval.relative * d->terms[i];
        if (function == ASI_FN_F) d->noise[j] += size * fabs(multiplier[i]);
        if (function == ASI_FN_GDOT) d->noise[i] += size * fabs(at->v[j]);
      }
    }
    for (int i = 0; i < m->rows && function == ASI_FN_GDOT && !p->def.scleronomic; ++i)
      d->noise[i] += round_off / asi_time_increment(&d->eval, at->v) * d->terms[i];
  }
}

/// Which rows change with which of the intervals of `width` columns? Candidates are the rows that
/// changed with twice that width, the columns of `wide`. Intervals without a common candidate are moved
/// together.
static as_status halve(detector *d, as_block block, const as_point *at, int64_t width,
                       const asi_pattern *wide, as_recorder *found) {
  const asi_function function = asi_block_describe(block).function;
  for (int c = 0; c < found->cols; ++c) // those without candidates need not be moved
    d->done[c] = wide->col_start[c / 2] == wide->col_start[c / 2 + 1];
  for (int first = 0; first < found->cols; ++first) {
    if (d->done[first]) continue;
    int n_columns = 0;
    for (int i = 0; i < wide->rows; ++i) d->claimed_by[i] = -1;
    for (int c = first; c < found->cols; ++c) {
      const int begin = wide->col_start[c / 2], end = wide->col_start[c / 2 + 1];
      bool is_free = !d->done[c];
      for (int k = begin; k < end && is_free; ++k) is_free = d->claimed_by[wide->row[k]] < 0;
      if (!is_free) continue;
      d->done[c] = 1;
      for (int k = begin; k < end; ++k) d->claimed_by[wide->row[k]] = c;
      for (int64_t j = c * width; j < (c + 1) * width && j < d->recorder[block].cols; ++j)
        d->columns[n_columns++] = (int)j;
    }
    as_status status =
        asi_eval_moved(&d->eval, block, at, d->columns, n_columns, 1.0, d->increment, d->plus);
    if (status == AS_OK)
      status =
          asi_eval_moved(&d->eval, block, at, d->columns, n_columns, -1.0, d->increment, d->minus);
    if (status) return status;
    measure_noise(d, function, at);
    for (int i = 0; i < wide->rows; ++i)
      if (d->claimed_by[i] >= 0 && fabs(d->plus[i] - d->minus[i]) > d->noise[i])
        asi_recorder_add(found, i, d->claimed_by[i]);
  }
  return AS_OK;
}

/// Moves all columns, then halves, quarters ... that the rows which changed can depend on: with few
/// entries per row, much less work than column by column. Random increments do not cancel.
static as_status detect_differenced(detector *d, as_block block, const as_point *at) {
  const asi_block_info info = asi_block_describe(block);
  const int rows = d->recorder[block].rows, cols = d->recorder[block].cols;
  asi_increments(d->sample.problem, info.argument, at, d->sample.def->increment, d->increment);
  for (int j = 0; j < cols; ++j) d->increment[j] *= fabs(asi_draw(&d->sample.state));
  asi_pattern wide;
  as_status status = asi_pattern_init(&wide, rows, 1, (as_pattern){0}, info.name, d->eval.error);
  int64_t width = 1;
  while (width < cols) width *= 2;
  for (; width > 0 && status == AS_OK; width /= 2) {
    as_recorder found = {.rows = rows, .cols = (int)((cols + width - 1) / width)};
    status = halve(d, block, at, width, &wide, &found);
    asi_pattern_free(&wide);
    if (status == AS_OK) status = asi_recorder_pattern(&found, &wide, d->eval.error);
    asi_recorder_free(&found);
  }
  for (int j = 0; j < cols && status == AS_OK; ++j)
    for (int k = wide.col_start[j]; k < wide.col_start[j + 1]; ++k)
      asi_recorder_add(&d->recorder[block], wide.row[k], j);
  asi_pattern_free(&wide);
  return status;
}

/// Finds the patterns of the blocks `wanted`. The description's other blocks have patterns, right or
/// empty; empty ones must not enter the functions that are differenced.
static as_status detect(const as_problem_def *def, const as_check_def *how, as_block_set wanted,
                        const int *no_columns, as_patterns *out, as_error *error) {
  as_problem *p = NULL;
  detector d = {0};
  as_status status = as_problem_create(def, &p, error);
  if (status) return status;
  status = detector_init(&d, p, how, no_columns, error);
  wanted &= p->present;
  const as_block_set recorded = wanted & (p->given | AS_BLOCK_BIT(AS_BLOCK_M));
  for (int k = 0; k < how->n_points && status == AS_OK; ++k) {
    const as_point at = asi_sampler_point(&d.sample, k);
    status = asi_eval_blocks(&d.eval, &at, recorded, d.recording);
    for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
      if (wanted & ~recorded & AS_BLOCK_BIT(block))
        status = detect_differenced(&d, (as_block)block, &at);
  }
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (wanted & AS_BLOCK_BIT(block))
      status = asi_recorder_pattern(&d.recorder[block], &out->pattern[block], error);
  detector_free(&d);
  as_problem_destroy(p);
  return status;
}

/// Points blocks to the patterns found so far.
static void use_patterns(as_problem_def *def, const as_patterns *found, as_block_set blocks) {
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if ((blocks & AS_BLOCK_BIT(block)) && found->pattern[block].col_start != NULL)
      def->block[block].pattern =
          (as_pattern){found->pattern[block].col_start, found->pattern[block].row};
}

/// How many columns the widest block may have.
static as_status count_columns(const as_problem_def *def, size_t *count, as_error *error) {
  as_space *space = NULL;
  const as_status status = as_space_create(def->parts, def->n_parts, &space, error);
  if (status) return status;
  const int sizes[] = {as_space_nv(space), def->n_lambda, def->n_psi, def->n_x, def->n_y};
  *count = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
    if (sizes[i] > 0 && (size_t)sizes[i] > *count) *count = (size_t)sizes[i];
  as_space_destroy(space);
  return AS_OK;
}

as_status as_problem_detect(as_problem_def *def, const as_check_def *how, as_patterns **out,
                            as_error *error) {
  if (out) *out = NULL;
  if (def == NULL || how == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_detect needs two descriptions and a place for the patterns.");
  as_status status = ASI_CHECK_DEFINITION(as_problem_def, def, error);
  if (status == AS_OK) status = ASI_CHECK_DEFINITION(as_check_def, how, error);
  size_t n_columns;
  if (status == AS_OK) status = count_columns(def, &n_columns, error);
  if (status) return status;
  int *no_columns = asi_calloc(n_columns + 1, sizeof(int)); // a pattern without entries
  as_patterns *found = asi_calloc(1, sizeof *found);
  if (no_columns == NULL || found == NULL) status = asi_fail_memory(error);

  // What is missing, and of that what others need: f needs B and k_v, M v' needs M.
  as_problem_def work = *def;
  as_block_set missing = 0;
  as_block_set first =
      AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    const as_pattern given = def->block[block].pattern;
    if (given.col_start != NULL || given.row != NULL) continue;
    missing |= AS_BLOCK_BIT(block);
    if (def->block[block].source == AS_BLOCK_GIVEN) first |= AS_BLOCK_BIT(block);
    work.block[block].pattern = (as_pattern){no_columns, no_columns};
  }
  if (status == AS_OK) status = detect(&work, how, missing & first, no_columns, found, error);
  if (status == AS_OK) {
    use_patterns(&work, found, missing);
    status = detect(&work, how, missing & ~first, no_columns, found, error);
  }
  free(no_columns);
  if (status) {
    as_patterns_destroy(found);
    return status;
  }
  use_patterns(def, found, missing);
  *out = found;
  return AS_OK;
}
