/// A problem's functions and Jacobian blocks at a state, for callers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/linearization.h"
#include "base/error.h"
#include "core/kinematics/evaluate.h"

void as_problem_describe(const as_problem *problem, as_quantity quantity, int index, char *text,
                         size_t size) {
  asi_component_name(problem, quantity, index, text, size);
}

as_sizes as_problem_sizes(const as_problem *problem) {
  const as_problem_def *def = &problem->def;
  return (as_sizes){.q = problem->nq,
                    .v = problem->n,
                    .lambda = def->n_lambda,
                    .psi = def->n_psi,
                    .x = def->n_x,
                    .y = def->n_y,
                    .u = def->n_u};
}

as_status as_problem_blocks(const as_problem *problem, const as_state *at, as_block_set wanted,
                            as_matrix blocks[AS_BLOCK_COUNT], as_error *error) {
  if (problem == NULL || at == NULL || blocks == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_blocks needs a problem, a state and a place for the blocks.");
  memset(blocks, 0, AS_BLOCK_COUNT * sizeof *blocks);
  as_statistics count = {0};
  asi_evaluator e;
  as_status status = asi_evaluator_init(&e, problem, &count, error);
  wanted &= problem->present;
  for (int b = 0; b < AS_BLOCK_COUNT && status == AS_OK; ++b)
    if (wanted & AS_BLOCK_BIT(b)) status = asi_matrix_init(&blocks[b], &problem->pattern[b], error);
  for (int i = 0; e.u && i < problem->def.n_u; ++i) e.u[i] = at->u ? at->u[i] : 0.0;
  const as_point point = {.t = at->t,
                          .q = at->q,
                          .v = at->v,
                          .vdot = at->vdot,
                          .lambda = at->lambda,
                          .psi = at->psi,
                          .x = at->x,
                          .y = at->y,
                          .u = e.u};
  if (status == AS_OK) status = asi_eval_blocks(&e, &point, wanted, blocks);
  asi_evaluator_free(&e);
  if (status) as_blocks_free(blocks);
  return status;
}

static as_status value_of(asi_evaluator *e, asi_function function, const as_point *point,
                          as_matrix *blocks, double *out) {
  if (out == NULL || asi_function_size(e->problem, function) == 0) return AS_OK;
  const as_status status = asi_eval_blocks(e, point, asi_eval_needs(e->problem, function), blocks);
  return status ? status : asi_eval_function(e, function, point, blocks, out);
}

as_status as_problem_values(const as_problem *problem, const as_state *at, const as_values *out,
                            as_error *error) {
  if (problem == NULL || at == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_problem_values needs a problem, a state and a place for the values.");
  as_matrix blocks[AS_BLOCK_COUNT];
  const as_block_set needed =
      AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  as_status status = as_problem_blocks(problem, at, needed, blocks, error);
  if (status) return status;
  as_statistics count = {0};
  asi_evaluator e;
  double *inertia = asi_calloc((size_t)problem->n, sizeof *inertia);
  status = asi_evaluator_init(&e, problem, &count, error);
  if (inertia == NULL && status == AS_OK) status = asi_fail_memory(error);
  for (int i = 0; e.u && i < problem->def.n_u; ++i) e.u[i] = at->u ? at->u[i] : 0.0;
  const as_point point = {.t = at->t,
                          .q = at->q,
                          .v = at->v,
                          .vdot = at->vdot,
                          .lambda = at->lambda,
                          .psi = at->psi,
                          .x = at->x,
                          .y = at->y,
                          .u = e.u};
  double *const value[ASI_FUNCTIONS] = {out->unbalanced ? inertia : NULL,
                                        out->unbalanced,
                                        out->constraint,
                                        out->constraint_rate,
                                        out->nonholonomic,
                                        out->state_rate,
                                        out->output};
  for (int f = 0; f < ASI_FUNCTIONS && status == AS_OK; ++f)
    status = value_of(&e, (asi_function)f, &point, blocks, value[f]);
  for (int i = 0; i < problem->n && out->unbalanced && status == AS_OK; ++i)
    out->unbalanced[i] -= inertia[i];
  asi_evaluator_free(&e);
  as_blocks_free(blocks);
  free(inertia);
  return status;
}

void as_blocks_free(as_matrix blocks[AS_BLOCK_COUNT]) {
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) asi_matrix_free(&blocks[b]);
}
