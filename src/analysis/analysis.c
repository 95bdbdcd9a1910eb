/// An analysis: its memory, its starts, and what all of them do.
#include "analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"

as_analysis_def as_default_analysis_def(void) {
  return (as_analysis_def){.cookie = ASI_COOKIE(as_analysis_def),
                           .max_iterations = 3000,
                           .stability_limit = 600,
                           .shortest_part = 1e-6};
}

static as_status check_def(const as_analysis_def *def, as_error *error) {
  if (def->max_iterations < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "max_iterations",
                    "max_iterations = %d is not positive.", def->max_iterations);
  if (!(def->shortest_part > 0.0 && def->shortest_part < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "shortest_part",
                    "shortest_part = %g is not between 0 and 1.", def->shortest_part);
  return AS_OK;
}

/// [AN.2] the iteration matrix of statics; the identities of x and y are put on the diagonal when it is
/// assembled. The first term is w M.
static int statics_terms(const as_problem *p, asi_term *term) {
  const int n = p->n, l = n + p->def.n_lambda, x = l + p->def.n_psi, y = x + p->def.n_x;
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  const as_block by_lambda = additive ? AS_BLOCK_G_Q : AS_BLOCK_F_LAMBDA;
  const as_block by_psi = additive ? AS_BLOCK_K_V : AS_BLOCK_F_PSI;
  const double sign = additive ? 1.0 : -1.0;
  int i = 0;
  term[i++] = (asi_term){0, 0, AS_BLOCK_M, false, ASI_CHAIN_IDENTITY, 1.0};
  term[i++] = (asi_term){0, 0, AS_BLOCK_F_Q, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){0, n, by_lambda, additive, ASI_CHAIN_IDENTITY, sign};
  term[i++] = (asi_term){0, l, by_psi, additive, ASI_CHAIN_IDENTITY, sign};
  term[i++] = (asi_term){0, x, AS_BLOCK_F_X, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){0, y, AS_BLOCK_F_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){n, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_IDENTITY, 1.0};
  term[i++] = (asi_term){l, 0, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, 1.0};
  term[i++] = (asi_term){x, 0, AS_BLOCK_PHI_Q, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, n, AS_BLOCK_PHI_LAMBDA, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, l, AS_BLOCK_PHI_PSI, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, x, AS_BLOCK_PHI_X, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){x, y, AS_BLOCK_PHI_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, 0, AS_BLOCK_CHI_Q, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, n, AS_BLOCK_CHI_LAMBDA, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, l, AS_BLOCK_CHI_PSI, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, x, AS_BLOCK_CHI_X, false, ASI_CHAIN_IDENTITY, -1.0};
  term[i++] = (asi_term){y, y, AS_BLOCK_CHI_Y, false, ASI_CHAIN_IDENTITY, -1.0};
  return i;
}

/// Lays out all arrays; a first pass counts.
static void lay_out(as_analysis *a, asi_layout *layout) {
  const as_problem *p = a->problem;
  double **const array[] = {&a->here.force, &a->trial.force, &a->mode,     &a->work,
                            &a->way,        &a->tangent,     &a->direction};
  double **const place[] = {&a->q_start, &a->q_before, &a->q_predicted};
  asi_kinematics_lay_out(&a->kin, layout);
  asi_values_lay_out(&a->now, p, layout);
  asi_values_lay_out(&a->kept, p, layout);
  for (int i = 0; i < 2; ++i) asi_values_lay_out(&a->places[i], p, layout);
  for (int i = 0; i < 7; ++i) *array[i] = asi_layout_take(layout, (size_t)p->n);
  for (int i = 0; i < 3; ++i) *place[i] = asi_layout_take(layout, (size_t)p->nq);
  a->step = asi_layout_take(layout, asi_total_size(p));
  a->by_value = asi_layout_take(layout, asi_total_size(p));
  a->u_kept = asi_layout_take(layout, (size_t)p->def.n_u);
  a->u_start = asi_layout_take(layout, (size_t)p->def.n_u);
}

static as_status create_parts(as_analysis *a, as_error *error) {
  const as_problem *p = a->problem;
  asi_layout layout = {0};
  a->kin.problem = p;
  lay_out(a, &layout);
  a->arena = asi_calloc(layout.used, sizeof(double));
  a->was_inactive = asi_calloc((size_t)a->kin.redundancy.rows, sizeof(bool));
  if (a->arena == NULL || a->was_inactive == NULL) return asi_fail_memory(error);
  layout = (asi_layout){.memory = a->arena};
  lay_out(a, &layout);
  const as_status status = asi_kinematics_create(&a->kin, false, error);
  if (status) return status;
  asi_term terms[ASI_MAX_TERMS];
  return asi_system_init(&a->statics, p, &a->kin.tangent, ASI_UNKNOWNS_ONE_STAGE,
                         (int)asi_total_size(p), terms, statics_terms(p, terms), &a->kin.kkt,
                         error);
}

as_status as_analysis_create(const as_problem *problem, const as_analysis_def *def,
                             as_analysis **out, as_error *error) {
  if (problem == NULL || def == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_analysis_create needs a problem, a description and a place for the "
                    "analysis.");
  *out = NULL;
  as_status status = ASI_CHECK_DEFINITION(as_analysis_def, def, error);
  if (status == AS_OK) status = check_def(def, error);
  if (status) return status;
  as_analysis *a = asi_calloc(1, sizeof *a);
  if (a == NULL) return asi_fail_memory(error);
  a->def = *def;
  a->problem = problem;
  status = create_parts(a, error);
  if (status) {
    as_analysis_destroy(a);
    return status;
  }
  *out = a;
  return AS_OK;
}

void as_analysis_destroy(as_analysis *a) {
  if (a == NULL) return;
  asi_system_free(&a->statics);
  asi_kinematics_free(&a->kin);
  free(a->was_inactive);
  free(a->arena);
  free(a);
}

const as_state *as_analysis_state(const as_analysis *a) { return &a->state; }

as_status asi_analysis_interrupted(const as_analysis *a, double t) {
  if (a->def.interrupt == NULL || !a->def.interrupt(a->def.interrupt_user)) return AS_OK;
  return asi_fail(a->kin.eval.error, AS_INTERRUPTED, t, NULL, "Interrupted at t = %.9g s.", t);
}

as_status asi_analysis_start(as_analysis *a, const as_initial *initial, as_error *error) {
  if (a == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The analysis is NULL.");
  const as_problem *p = a->problem;
  asi_kinematics *s = &a->kin;
  const as_status status = asi_check_initial(p, initial, error);
  if (status) return status;
  a->here.at = a->places[0];
  a->trial.at = a->places[1];
  s->eval.error = error;
  s->mass_known = false;
  s->compliance = 0.0;
  asi_set_active(s, initial->active);
  const asi_values *at = &a->here.at;
  for (int i = 0; i < p->def.n_u; ++i) s->eval.u[i] = initial->u ? initial->u[i] : 0.0;
  for (int i = 0; i < p->def.n_x; ++i) at->x[i] = initial->x ? initial->x[i] : 0.0;
  for (int i = 0; i < p->def.n_y; ++i) at->y[i] = initial->y ? initial->y[i] : 0.0;
  memset(at->v, 0, (size_t)p->n * sizeof(double));
  memcpy(at->q, initial->q, (size_t)p->nq * sizeof(double));
  as_space_normalize(p->space, at->q);
  const as_status projected = asi_analysis_project(a, initial->t, at->q);
  if (projected == AS_OK) asi_follow(s, initial->t, at);
  return projected;
}

void asi_analysis_keep_signals(as_analysis *a) {
  memcpy(a->u_kept, a->kin.eval.u, (size_t)a->problem->def.n_u * sizeof(double));
}

void asi_analysis_restore_signals(as_analysis *a) {
  memcpy(a->kin.eval.u, a->u_kept, (size_t)a->problem->def.n_u * sizeof(double));
}

as_status asi_analysis_project(as_analysis *a, double t, double *q) {
  asi_kinematics *s = &a->kin;
  as_start_report report;
  if (a->problem->def.n_lambda == 0) return AS_OK;
  memcpy(s->q_given, q, (size_t)a->problem->nq * sizeof(double));
  return asi_project_position(s, t, s->q_given, q, true, &report);
}

as_status asi_analysis_rank(as_analysis *a, double t, const asi_values *at, int *freedom) {
  asi_kinematics *s = &a->kin;
  *freedom = a->problem->n;
  if (s->redundancy.rows == 0) return AS_OK;
  s->redundancy.norm_known = false;
  const as_point point = {.t = t, .q = at->q, .v = at->v, .x = at->x, .y = at->y};
  const as_status status =
      asi_find_redundancy(s, &point, asi_redundancy_near(s), ASI_MOST_REDUNDANT);
  if (status) return status;
  *freedom -= s->redundancy.rows - s->eval.n_inactive - s->redundancy.n_redundant;
  if (s->redundancy.n_redundant > 0) s->compliance = ASI_ANALYSIS_COMPLIANCE;
  return AS_OK;
}

void asi_analysis_show(as_analysis *a, double t, const asi_values *at) {
  const as_problem *p = a->problem;
  const asi_values *now = &a->now;
  asi_copy_values(p, at, now);
  memcpy(now->a, at->vdot, (size_t)p->n * sizeof(double));
  memcpy(now->w, at->xdot, (size_t)p->def.n_x * sizeof(double));
  a->state = (as_state){.t = t,
                        .q = now->q,
                        .v = now->v,
                        .vdot = now->vdot,
                        .a = now->a,
                        .lambda = now->lambda,
                        .psi = now->psi,
                        .x = now->x,
                        .xdot = now->xdot,
                        .w = now->w,
                        .y = now->y,
                        .u = a->kin.eval.u};
  asi_analysis_keep_signals(a);
}
