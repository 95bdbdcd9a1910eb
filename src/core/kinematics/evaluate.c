/// Calls a problem's callbacks, see evaluate.h.
///
/// What a problem does not give is differenced: blocks by central differences over a colouring of
/// their pattern, derivatives along the motion by a fourth-order formula.
#include "core/kinematics/evaluate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"

// ---- checks -------------------------------------------------------------------------------------

as_quantity asi_function_quantity(asi_function function) {
  switch (function) {
  case ASI_FN_MA:
  case ASI_FN_F: return AS_QUANTITY_V;
  case ASI_FN_G:
  case ASI_FN_GDOT: return AS_QUANTITY_LAMBDA;
  case ASI_FN_K: return AS_QUANTITY_PSI;
  case ASI_FN_PHI: return AS_QUANTITY_X;
  case ASI_FN_CHI: return AS_QUANTITY_Y;
  }
  return AS_QUANTITY_V;
}

as_status asi_eval_code(asi_evaluator *e, int code, const char *callback, const as_point *at) {
  if (code == 0) return AS_OK;
  const as_problem_def *def = &e->problem->def;
  const as_status status = code > 0 ? AS_ERR_RETRY : AS_ERR_CALLBACK;
  const double t = at->t;
  char culprit[64] = "", why[320] = "";
  if (def->explain) def->explain(at, code, why, sizeof why, def->user);
  if (def->describe && (code > AS_RETRY || code < AS_FATAL))
    def->describe(AS_QUANTITY_CODE, code, culprit, sizeof culprit, def->user);
  if (culprit[0] != '\0')
    return asi_fail(e->error, status, t, culprit, "At t = %.9g s %s cannot be evaluated%s%s.", t,
                    culprit, why[0] ? ": " : "", why);
  if (why[0])
    return asi_fail(e->error, status, t, callback,
                    "The %s callback could not be evaluated at t = %.9g s: %s.", callback, t, why);
  if (code > 0)
    return asi_fail(e->error, status, t, callback,
                    "The %s callback could not be evaluated at t = %.9g s (it returned %d).",
                    callback, t, code);
  return asi_fail(e->error, status, t, callback,
                  "The %s callback reported a fatal failure at t = %.9g s (it returned %d).",
                  callback, t, code);
}

/// What a problem that names things says of a number that is not finite; false: nothing.
static bool explain_number(const asi_evaluator *e, const as_point *at) {
  const as_problem_def *def = &e->problem->def;
  char why[320] = "";
  if (def->explain) def->explain(at, AS_DONE, why, sizeof why, def->user);
  if (why[0])
    (void)asi_fail(e->error, AS_ERR_NONFINITE, at->t, NULL, "At t = %.9g s %s.", at->t, why);
  return why[0] != '\0';
}

/// Not finite if one of the numbers is not; nor if they are so large that one has to look closely.
ASI_TWICE static double sum_of(const double *value, int n) {
  asi_simd2 sum[4] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 4; ++k) sum[k] += asi_simd_load(value + i + 2 * k);
  double rest = 0.0;
  for (; i < n; ++i) rest += value[i];
  const asi_simd2 all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return all[0] + all[1] + rest;
}

/// What a callback computes, in words: of a component with a name.
static const char *words_of(const char *callback) {
  static const char *const words[][2] = {{"force", "the force on"},
                                         {"constraint", "the position of"},
                                         {"constraint_rate", "the velocity of"},
                                         {"constraint_acceleration", "the acceleration of"},
                                         {"nonholonomic", "the velocity of"},
                                         {"nonholonomic_acceleration", "the acceleration of"},
                                         {"state_rate", "the rate of"}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
    if (strcmp(callback, words[i][0]) == 0) return words[i][1];
  return "the value of";
}

static as_status check_vector(asi_evaluator *e, const char *callback, asi_function function,
                              const double *value, const as_point *at) {
  const int n = asi_function_size(e->problem, function);
  for (int i = 0; i < n; ++i) {
    if (isfinite(value[i])) continue;
    char name[64];
    if (explain_number(e, at)) return AS_ERR_NONFINITE;
    asi_component_name(e->problem, asi_function_quantity(function), i, name, sizeof name);
    if (e->problem->def.describe)
      return asi_fail(e->error, AS_ERR_NONFINITE, at->t, name, "At t = %.9g s %s %s is %s.", at->t,
                      words_of(callback), name, isnan(value[i]) ? "no number" : "infinite");
    return asi_fail(e->error, AS_ERR_NONFINITE, at->t, name,
                    "The %s callback returned %g for %s at t = %.9g s.", callback, value[i], name,
                    at->t);
  }
  return AS_OK;
}

/// Of an entry of a block that is not finite.
static as_status fail_entry(asi_evaluator *e, const char *callback, as_block block, int row,
                            int column, double value, const as_point *at) {
  static const as_quantity quantity[] = {
      [ASI_ARG_Q] = AS_QUANTITY_V,     [ASI_ARG_V] = AS_QUANTITY_V,
      [ASI_ARG_VDOT] = AS_QUANTITY_V,  [ASI_ARG_LAMBDA] = AS_QUANTITY_LAMBDA,
      [ASI_ARG_PSI] = AS_QUANTITY_PSI, [ASI_ARG_X] = AS_QUANTITY_X,
      [ASI_ARG_Y] = AS_QUANTITY_Y};
  const asi_block_info info = asi_block_describe(block);
  char by[64], of[64];
  if (explain_number(e, at)) return AS_ERR_NONFINITE;
  if (e->problem->def.describe == NULL)
    return asi_fail(e->error, AS_ERR_NONFINITE, at->t, info.name,
                    "The %s callback returned %g for entry (%d, %d) of block %s at t = %.9g s.",
                    callback, value, row, column, info.name, at->t);
  asi_component_name(e->problem, asi_function_quantity(info.function), row, of, sizeof of);
  asi_component_name(e->problem, quantity[info.argument], column, by, sizeof by);
  return asi_fail(e->error, AS_ERR_NONFINITE, at->t, of,
                  "At t = %.9g s the derivative of the equation of %s by that of %s is %s.", at->t,
                  of, by, isnan(value) ? "no number" : "infinite");
}

static as_status check_matrix(asi_evaluator *e, const char *callback, as_block block,
                              const as_matrix *m, const as_point *at) {
  const char *name = asi_block_describe(block).name;
  if (m->stray)
    return asi_fail(e->error, AS_ERR_ARGUMENT, at->t, name,
                    "The %s callback wrote entry (%d, %d) of block %s, which is outside its "
                    "pattern.",
                    callback, m->stray_row, m->stray_col, name);
  const int nnz = m->col_start[m->cols];
  const bool suspicious = !isfinite(sum_of(m->value, nnz));
  for (int j = 0; j < m->cols && suspicious; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      if (!isfinite(m->value[k]))
        return fail_entry(e, callback, block, m->row[k], j, m->value[k], at);
  return AS_OK;
}

static as_status call_vector(asi_evaluator *e, as_vector_fn *callback, const char *name,
                             asi_function function, const as_point *at, double *out) {
  const as_status status = asi_eval_code(e, callback(at, out, e->problem->def.user), name, at);
  return status ? status : check_vector(e, name, function, out, at);
}

// ---- constraints that are left out at present ---------------------------------------------------

/// Sets the components of rows that are left out to zero; `first` is the row of the first component.
static void mask_vector(const asi_evaluator *e, int first, int count, double *value) {
  for (int i = 0; i < count && e->n_left_out > 0; ++i)
    if (e->left_out[first + i]) value[i] = 0.0;
}

static void mask_blocks(const asi_evaluator *e, as_block_set wanted, as_matrix *blocks) {
  static const as_block constraint_blocks[] = {AS_BLOCK_G_Q, AS_BLOCK_GDOT_Q, AS_BLOCK_K_Q,
                                               AS_BLOCK_K_V};
  for (int b = 0; b < 4 && e->n_left_out > 0; ++b) {
    const as_block block = constraint_blocks[b];
    const as_matrix *m = &blocks[block];
    if (!(wanted & AS_BLOCK_BIT(block))) continue;
    const bool *left_out = e->left_out + (b < 2 ? 0 : e->problem->def.n_lambda);
    for (int k = 0; k < m->col_start[m->cols]; ++k)
      if (left_out[m->row[k]]) m->value[k] = 0.0;
  }
}

// ---- functions ----------------------------------------------------------------------------------

as_block_set asi_eval_needs(const as_problem *p, asi_function function) {
  as_block_set needs = 0;
  if (function == ASI_FN_MA) needs = AS_BLOCK_BIT(AS_BLOCK_M);
  if (function == ASI_FN_F && p->def.force_kind == AS_FORCE_ADDITIVE)
    needs = AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  if (function == ASI_FN_GDOT && p->def.constraint_rate == NULL) needs = AS_BLOCK_BIT(AS_BLOCK_G_Q);
  return needs & p->present;
}

/// [DI.1] F'(0) = (F(-2e) - 8 F(-e) + 8 F(e) - F(2e)) / (12 e) + O(e^4)
static const double stencil_place[4] = {-2.0, -1.0, 1.0, 2.0};
static const double stencil_weight[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};

/// The increment of [DI.1] in time.
double asi_time_increment(const asi_evaluator *e, const double *v) {
  const as_problem *p = e->problem;
  double scale = p->def.time_scale;
  if (isnan(scale)) {
    scale = 1.0 / e->rate;
    for (int i = 0; i < p->n; ++i) scale = fmin(scale, p->typical[i] / fabs(v[i]));
  }
  return 1e-3 * scale;
}

/// Adds g_t, by differences in t alone.
static as_status add_time_derivative(asi_evaluator *e, const as_point *at, double *out) {
  const as_problem *p = e->problem;
  const double increment = asi_time_increment(e, at->v);
  for (int s = 0; s < 4; ++s) {
    as_point moved = {.t = at->t + stencil_place[s] * increment, .q = at->q};
    const as_status status =
        call_vector(e, p->def.constraint, "constraint", ASI_FN_G, &moved, e->moved_value);
    if (status) return status;
    for (int i = 0; i < p->def.n_lambda; ++i)
      out[i] += stencil_weight[s] / increment * e->moved_value[i];
  }
  return AS_OK;
}

/// Without a callback: B v + g_t.
static as_status constraint_rate(asi_evaluator *e, const as_point *at, const as_matrix *blocks,
                                 double *out) {
  const as_problem *p = e->problem;
  if (p->def.constraint_rate)
    return call_vector(e, p->def.constraint_rate, "constraint_rate", ASI_FN_GDOT, at, out);
  memset(out, 0, (size_t)p->def.n_lambda * sizeof(double));
  asi_panels_multiply_add(&p->panels[AS_BLOCK_G_Q], blocks[AS_BLOCK_G_Q].value, 1.0, at->v, out);
  return p->def.scleronomic ? AS_OK : add_time_derivative(e, at, out);
}

/// [GA.1] f = f0 - B^T lambda - k_v^T psi if additive
static void add_constraint_forces(asi_evaluator *e, const as_point *at, const as_matrix *blocks,
                                  double *out) {
  const as_problem *p = e->problem;
  if (p->def.force_kind == AS_FORCE_GENERAL) return;
  if (p->def.n_lambda > 0)
    e->constraint_force = asi_panels_multiply_transposed_add_sized_by(
        e->pool, &p->panels[AS_BLOCK_G_Q], blocks[AS_BLOCK_G_Q].value, -1.0, at->lambda, out,
        p->typical);
  if (p->def.n_psi > 0)
    asi_panels_multiply_transposed_add(&p->panels[AS_BLOCK_K_V], blocks[AS_BLOCK_K_V].value, -1.0,
                                       at->psi, out);
}

static as_status force(asi_evaluator *e, const as_point *at, const as_matrix *blocks, double *out) {
  const as_problem *p = e->problem;
  ++e->count->force_evaluations;
  const as_status status = call_vector(e, p->def.force, "force", ASI_FN_F, at, out);
  if (status == AS_OK) add_constraint_forces(e, at, blocks, out);
  return status;
}

static as_status call_function(asi_evaluator *e, asi_function function, const as_point *at,
                               const as_matrix *blocks, double *out) {
  const as_problem *p = e->problem;
  as_point point = *at;
  switch (function) {
  case ASI_FN_MA:
    memset(out, 0, (size_t)p->n * sizeof(double));
    asi_panels_multiply_add_by(e->pool, &p->panels[AS_BLOCK_M], blocks[AS_BLOCK_M].value, 1.0,
                               at->vdot, out);
    return AS_OK;
  case ASI_FN_F:
    point.vdot = NULL;
    point.u = e->u;
    return force(e, &point, blocks, out);
  case ASI_FN_G:
    ++e->count->constraint_evaluations;
    point = (as_point){.t = at->t, .q = at->q};
    return call_vector(e, p->def.constraint, "constraint", function, &point, out);
  case ASI_FN_GDOT:
    ++e->count->constraint_evaluations;
    point = (as_point){.t = at->t, .q = at->q, .v = at->v};
    return constraint_rate(e, &point, blocks, out);
  case ASI_FN_K:
    ++e->count->constraint_evaluations;
    point = (as_point){.t = at->t, .q = at->q, .v = at->v};
    return call_vector(e, p->def.nonholonomic, "nonholonomic", function, &point, out);
  case ASI_FN_PHI:
    point.u = e->u;
    return call_vector(e, p->def.state_rate, "state_rate", function, &point, out);
  case ASI_FN_CHI:
    point.u = e->u;
    return call_vector(e, p->def.output, "output", function, &point, out);
  }
  return AS_OK;
}

static void mask_function(const asi_evaluator *e, asi_function function, double *out) {
  const as_problem_def *def = &e->problem->def;
  if (function == ASI_FN_G || function == ASI_FN_GDOT) mask_vector(e, 0, def->n_lambda, out);
  if (function == ASI_FN_K) mask_vector(e, def->n_lambda, def->n_psi, out);
}

as_status asi_eval_function(asi_evaluator *e, asi_function function, const as_point *at,
                            const as_matrix *blocks, double *out) {
  const as_status status = call_function(e, function, at, blocks, out);
  if (status == AS_OK) mask_function(e, function, out);
  return status;
}

as_status asi_eval_force_change(asi_evaluator *e, const as_point *at, const double *u_before,
                                double *out) {
  const as_problem_def *def = &e->problem->def;
  const int code = def->force_change(at, u_before, out, def->user);
  const as_status status = asi_eval_code(e, code, "force_change", at);
  return status ? status : check_vector(e, "force", ASI_FN_F, out, at);
}

/// [DI.1] with F(s) at q o exp(s v), t + s, fixed v
as_status asi_eval_along_motion(asi_evaluator *e, asi_function function, const as_point *at,
                                double increment, double *out) {
  const as_problem *p = e->problem;
  const int n = asi_function_size(p, function);
  double *direction = e->work[0].argument, *value = e->work[0].plus;
  memset(out, 0, (size_t)n * sizeof(double));
  for (int s = 0; s < 4; ++s) {
    const double time = stencil_place[s] * increment;
    for (int i = 0; i < p->n; ++i) direction[i] = time * at->v[i];
    as_space_move(p->space, at->q, direction, e->moved_q);
    as_point moved = {.t = at->t + time, .q = e->moved_q, .v = at->v};
    as_status status = asi_eval_blocks(e, &moved, asi_eval_needs(p, function), e->moved);
    if (status == AS_OK) status = asi_eval_function(e, function, &moved, e->moved, value);
    if (status) return status;
    for (int i = 0; i < n; ++i) out[i] += stencil_weight[s] / increment * value[i];
  }
  return AS_OK;
}

as_status asi_eval_constraint_acceleration(asi_evaluator *e, const as_point *at, double *out) {
  as_vector_fn *callback = e->problem->def.constraint_acceleration;
  const as_point point = {.t = at->t, .q = at->q, .v = at->v};
  const double increment = asi_time_increment(e, at->v);
  if (callback == NULL) return asi_eval_along_motion(e, ASI_FN_GDOT, &point, increment, out);
  ++e->count->constraint_evaluations;
  const as_status status =
      call_vector(e, callback, "constraint_acceleration", ASI_FN_GDOT, &point, out);
  mask_vector(e, 0, e->problem->def.n_lambda, out);
  return status;
}

as_status asi_eval_nonholonomic_acceleration(asi_evaluator *e, const as_point *at, double *out) {
  as_vector_fn *callback = e->problem->def.nonholonomic_acceleration;
  const as_point point = {.t = at->t, .q = at->q, .v = at->v};
  const double increment = asi_time_increment(e, at->v);
  if (callback == NULL) return asi_eval_along_motion(e, ASI_FN_K, &point, increment, out);
  ++e->count->constraint_evaluations;
  const as_status status =
      call_vector(e, callback, "nonholonomic_acceleration", ASI_FN_K, &point, out);
  mask_vector(e, e->problem->def.n_lambda, e->problem->def.n_psi, out);
  return status;
}

// ---- blocks -------------------------------------------------------------------------------------

static as_status eval_mass(asi_evaluator *e, const as_point *at, as_matrix *m) {
  const as_point point = {.t = at->t, .q = at->q};
  ++e->count->mass_evaluations;
  asi_matrix_clear(m);
  const as_status status =
      asi_eval_code(e, e->problem->def.mass(&point, m, e->problem->def.user), "mass", &point);
  return status ? status : check_matrix(e, "mass", AS_BLOCK_M, m, &point);
}

static as_status eval_given(asi_evaluator *e, const as_point *at, as_block_set wanted,
                            as_matrix *blocks) {
  const as_problem *p = e->problem;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (wanted & AS_BLOCK_BIT(block)) asi_matrix_clear(&blocks[block]);
  as_point point = *at;
  point.u = e->u;
  as_status status =
      asi_eval_code(e, p->def.jacobian(&point, wanted, blocks, p->def.user), "jacobian", &point);
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (wanted & AS_BLOCK_BIT(block))
      status = check_matrix(e, "jacobian", (as_block)block, &blocks[block], &point);
  return status;
}

/// Where an argument stands in a point.
static const double **argument_of(as_point *at, asi_argument argument) {
  switch (argument) {
  case ASI_ARG_Q: return &at->q;
  case ASI_ARG_V: return &at->v;
  case ASI_ARG_VDOT: return &at->vdot;
  case ASI_ARG_LAMBDA: return &at->lambda;
  case ASI_ARG_PSI: return &at->psi;
  case ASI_ARG_X: return &at->x;
  case ASI_ARG_Y: return &at->y;
  }
  return NULL;
}

void asi_increments(const as_problem *p, asi_argument argument, const as_point *at, double relative,
                    double *out) {
  as_point point = *at;
  const double *value = *argument_of(&point, argument);
  const int size = asi_argument_size(p, argument);
  for (int j = 0; j < size; ++j) {
    const double typical = argument <= ASI_ARG_VDOT ? p->typical[j] : 1.0;
    out[j] = relative * (argument == ASI_ARG_Q ? typical : fmax(fabs(value[j]), typical));
  }
}

/// Scratch for a block: B and k_v may be differenced while another block is.
static asi_difference_work *work_for(asi_evaluator *e, as_block block) {
  return &e->work[block == AS_BLOCK_G_Q || block == AS_BLOCK_K_V];
}

as_status asi_eval_moved(asi_evaluator *e, as_block block, const as_point *at, const int *columns,
                         int n_columns, double factor, const double *increment, double *out) {
  const as_problem *p = e->problem;
  const asi_block_info info = asi_block_describe(block);
  asi_difference_work *work = work_for(e, block);
  as_point moved = *at;
  const double **argument = argument_of(&moved, info.argument);
  const int size = asi_argument_size(p, info.argument);
  const bool on_group = info.argument == ASI_ARG_Q;
  for (int j = 0; j < size; ++j) work->argument[j] = on_group ? 0.0 : (*argument)[j];
  for (int c = 0; c < n_columns; ++c) work->argument[columns[c]] += factor * increment[columns[c]];
  if (on_group) as_space_move(p->space, at->q, work->argument, work->q);
  *argument = on_group ? work->q : work->argument;
  const as_block_set needs = asi_eval_needs(p, info.function);
  as_status status = needs ? asi_eval_blocks(e, &moved, needs, e->moved) : AS_OK;
  if (status) return status;
  return asi_eval_function(e, info.function, &moved, e->moved, out);
}

/// [DI.2] column j = (F(+e_j) - F(-e_j)) / (2 e_j), all columns of a colour at once
static as_status eval_differenced(asi_evaluator *e, const as_point *at, as_block block,
                                  as_matrix *m) {
  const as_problem *p = e->problem;
  const asi_block_info info = asi_block_describe(block);
  const asi_colouring *colours = &p->colouring[block];
  const as_block_set needs = asi_eval_needs(p, info.function) & ~AS_BLOCK_BIT(AS_BLOCK_M);
  asi_difference_work *work = work_for(e, block);
  // cbrt(eps) balances truncation and round-off; differences of differences are noisier.
  const double best = (needs & ~p->given) ? 1e-4 : cbrt(DBL_EPSILON);
  const double relative = e->relative > 0.0 ? e->relative : best;
  double *increment = work->argument + asi_total_size(p); // second half of the array
  asi_increments(p, info.argument, at, relative, increment);
  for (int colour = 0; colour < colours->n_colours; ++colour) {
    const int *columns = colours->column + colours->start[colour];
    const int n_columns = colours->start[colour + 1] - colours->start[colour];
    as_status status = asi_eval_moved(e, block, at, columns, n_columns, 1.0, increment, work->plus);
    if (status == AS_OK)
      status = asi_eval_moved(e, block, at, columns, n_columns, -1.0, increment, work->minus);
    if (status) return status;
    for (int c = 0; c < n_columns; ++c) {
      const int j = columns[c];
      for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
        m->value[k] = (work->plus[m->row[k]] - work->minus[m->row[k]]) / (2.0 * increment[j]);
    }
  }
  return AS_OK;
}

as_status asi_eval_blocks(asi_evaluator *e, const as_point *at, as_block_set wanted,
                          as_matrix *blocks) {
  const as_problem *p = e->problem;
  const as_block_set joined = wanted & AS_BLOCKS_JOIN_INERTIA;
  as_status status = AS_OK;
  wanted &= p->present;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_M)) status = eval_mass(e, at, &blocks[AS_BLOCK_M]);
  if (status == AS_OK && (wanted & p->given))
    status = eval_given(e, at, (wanted & p->given) | joined, blocks);
  const as_block_set differenced = wanted & ~p->given & ~AS_BLOCK_BIT(AS_BLOCK_M);
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (differenced & AS_BLOCK_BIT(block))
      status = eval_differenced(e, at, (as_block)block, &blocks[block]);
  if (status == AS_OK) mask_blocks(e, wanted, blocks);
  return status;
}

// ---- all at once --------------------------------------------------------------------------------

/// M v', and g' where only B v says it, are made of blocks.
static bool is_product(const as_problem *p, asi_function function) {
  return function == ASI_FN_MA || (function == ASI_FN_GDOT && p->def.constraint_rate == NULL);
}

/// An evaluation in parts.
typedef struct evaluation_parts {
  const as_problem_def *def;
  const as_point *at;
  const as_evaluation *out;
  int *code;
} evaluation_parts;

static void evaluate_part(int part, int thread, void *context) {
  const evaluation_parts *w = context;
  (void)thread;
  w->code[part] = w->def->evaluate_part(w->at, w->out, part, w->def->user);
}

/// Whether a problem has been evaluated at once, by threads if it has parts for them.
static bool evaluate_wanted(asi_evaluator *e, const as_point *at, const as_evaluation *wanted) {
  const as_problem_def *def = &e->problem->def;
  if (e->part_code == NULL) return def->evaluate(at, wanted, def->user) == AS_DONE;
  evaluation_parts w = {def, at, wanted, e->part_code};
  bool done = true;
  asi_pool_run(e->pool, def->n_evaluate_parts, evaluate_part, &w);
  for (int i = 0; i < def->n_evaluate_parts; ++i) done = done && w.code[i] == AS_DONE;
  return done;
}

as_status asi_evaluator_use_threads(asi_evaluator *e, asi_pool *pool, as_error *error) {
  e->pool = pool;
  if (asi_pool_threads(pool) < 2 || e->problem->def.evaluate_part == NULL) return AS_OK;
  e->part_code = asi_calloc((size_t)e->problem->def.n_evaluate_parts, sizeof(int));
  return e->part_code ? AS_OK : asi_fail_memory(error);
}

bool asi_eval_together(asi_evaluator *e, const as_point *at, double *const out[ASI_FUNCTIONS],
                       as_block_set given, as_matrix *blocks) {
  const as_problem *p = e->problem;
  if (p->def.evaluate == NULL) return false;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (given & AS_BLOCK_BIT(block)) asi_matrix_clear(&blocks[block]);
  as_point point = *at;
  point.u = e->u;
  const as_evaluation wanted = {.force = out[ASI_FN_F],
                                .constraint = out[ASI_FN_G],
                                .constraint_rate =
                                    is_product(p, ASI_FN_GDOT) ? NULL : out[ASI_FN_GDOT],
                                .nonholonomic = out[ASI_FN_K],
                                .state_rate = out[ASI_FN_PHI],
                                .output = out[ASI_FN_CHI],
                                .block_set = given,
                                .blocks = blocks};
  if (!evaluate_wanted(e, &point, &wanted)) return false;
  double sum = 0.0;
  bool stray = false;
  for (int f = 0; f < ASI_FUNCTIONS; ++f)
    if (out[f] && !is_product(p, (asi_function)f))
      sum += sum_of(out[f], asi_function_size(p, (asi_function)f));
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    if (!(given & AS_BLOCK_BIT(block))) continue;
    sum += sum_of(blocks[block].value, asi_pattern_nnz(&p->pattern[block]));
    stray = stray || blocks[block].stray;
  }
  mask_blocks(e, given, blocks);
  return isfinite(sum) && !stray;
}

as_status asi_eval_complete(asi_evaluator *e, const as_point *at, double *const out[ASI_FUNCTIONS],
                            const as_matrix *blocks) {
  const as_problem *p = e->problem;
  for (int f = 0; f < ASI_FUNCTIONS; ++f) {
    const asi_function function = (asi_function)f;
    if (out[f] == NULL) continue;
    if (is_product(p, function)) {
      const as_status status = asi_eval_function(e, function, at, blocks, out[f]);
      if (status) return status;
      continue;
    }
    const bool rows = function == ASI_FN_G || function == ASI_FN_GDOT || function == ASI_FN_K;
    if (rows) ++e->count->constraint_evaluations;
    mask_function(e, function, out[f]);
    if (function != ASI_FN_F) continue;
    ++e->count->force_evaluations;
    add_constraint_forces(e, at, blocks, out[f]);
  }
  return AS_OK;
}

// ---- memory -------------------------------------------------------------------------------------

size_t asi_total_size(const as_problem *p) {
  return (size_t)p->n + (size_t)p->def.n_lambda + (size_t)p->def.n_psi + (size_t)p->def.n_x +
         (size_t)p->def.n_y;
}

as_status asi_evaluator_init(asi_evaluator *e, const as_problem *p, as_statistics *count,
                             as_error *error) {
  *e = (asi_evaluator){.problem = p, .count = count, .error = error, .rate = 1.0};
  const size_t all = asi_total_size(p);
  bool ok = true;
  for (int level = 0; level < 2; ++level) {
    asi_difference_work *w = &e->work[level];
    w->q = asi_calloc((size_t)p->nq, sizeof(double));
    w->argument = asi_calloc(2 * all, sizeof(double));
    w->plus = asi_calloc(all, sizeof(double));
    w->minus = asi_calloc(all, sizeof(double));
    ok = ok && w->q && w->argument && w->plus && w->minus;
  }
  e->moved_q = asi_calloc((size_t)p->nq, sizeof(double));
  e->moved_value = asi_calloc(all, sizeof(double));
  e->u = asi_calloc((size_t)p->def.n_u, sizeof(double));
  const size_t rows = (size_t)p->def.n_lambda + (size_t)p->def.n_psi;
  e->inactive = asi_calloc(rows, sizeof(bool));
  e->left_out = asi_calloc(rows, sizeof(bool));
  ok = ok && e->moved_q && e->moved_value && e->u && e->inactive && e->left_out;
  const as_block needed[] = {AS_BLOCK_M, AS_BLOCK_G_Q, AS_BLOCK_K_V};
  for (size_t i = 0; i < sizeof needed / sizeof needed[0] && ok; ++i)
    if (p->present & AS_BLOCK_BIT(needed[i]))
      ok = asi_matrix_init(&e->moved[needed[i]], &p->pattern[needed[i]], error) == AS_OK;
  return ok ? AS_OK : asi_fail_memory(error);
}

void asi_evaluator_free(asi_evaluator *e) {
  for (int level = 0; level < 2; ++level) {
    free(e->work[level].q);
    free(e->work[level].argument);
    free(e->work[level].plus);
    free(e->work[level].minus);
  }
  free(e->moved_q);
  free(e->moved_value);
  free(e->u);
  free(e->part_code);
  free(e->inactive);
  free(e->left_out);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) asi_matrix_free(&e->moved[block]);
}
