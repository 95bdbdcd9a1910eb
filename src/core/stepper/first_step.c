/// What a first step, and an index-3 step of another size, begin with: rates of v', lambda, psi, x' and y at its start by
/// differences, and the correction that makes index-3 multipliers second order from the first step on.
#include <math.h>
#include <string.h>

#include "core/stepper/stepper.h"

static void add_difference(double *rate, double factor, const double *next, const double *now,
                           int n) {
  for (int i = 0; i < n; ++i) rate[i] += factor * (next[i] - now[i]);
}

/// v', lambda, psi, x' and y where the motion is at t + e, to second order: q o exp(e v + e^2 v'/2),
/// v + e v', x + e x'. Adds factor times the result to the rates.
static as_status add_neighbour(asi_stepper *s, const asi_values *now, double e, double factor) {
  const as_problem *p = s->kin->problem;
  const asi_values *next = &s->next;
  for (int i = 0; i < p->n; ++i) {
    s->xi[i] = e * now->v[i] + 0.5 * e * e * now->vdot[i];
    next->v[i] = now->v[i] + e * now->vdot[i];
  }
  for (int i = 0; i < p->def.n_x; ++i) next->x[i] = now->x[i] + e * now->xdot[i];
  as_space_move(p->space, now->q, s->xi, next->q);
  memcpy(next->vdot, now->vdot, (size_t)p->n * sizeof(double));
  memcpy(next->lambda, now->lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(next->psi, now->psi, (size_t)p->def.n_psi * sizeof(double));
  memcpy(next->xdot, now->xdot, (size_t)p->def.n_x * sizeof(double));
  memcpy(next->y, now->y, (size_t)p->def.n_y * sizeof(double));
  const as_status status = asi_solve_acceleration(s->kin, s->t + e, next, 0);
  if (status) return status;
  add_difference(s->rate.vdot, factor, next->vdot, now->vdot, p->n);
  add_difference(s->rate.lambda, factor, next->lambda, now->lambda, p->def.n_lambda);
  add_difference(s->rate.psi, factor, next->psi, now->psi, p->def.n_psi);
  add_difference(s->rate.xdot, factor, next->xdot, now->xdot, p->def.n_x);
  add_difference(s->rate.y, factor, next->y, now->y, p->def.n_y);
  return AS_OK;
}

static void clear_rates(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  memset(s->rate.vdot, 0, (size_t)p->n * sizeof(double));
  memset(s->rate.lambda, 0, (size_t)p->def.n_lambda * sizeof(double));
  memset(s->rate.psi, 0, (size_t)p->def.n_psi * sizeof(double));
  memset(s->rate.xdot, 0, (size_t)p->def.n_x * sizeof(double));
  memset(s->rate.y, 0, (size_t)p->def.n_y * sizeof(double));
}

/// How far from the start v' is looked at: h, or, if accelerations are so large that h does not resolve
/// the motion, the time in which they move something by a hundredth of its typical size.
static double neighbour_distance(const as_problem *p, const asi_values *now, double h) {
  double e = h;
  for (int i = 0; i < p->n; ++i) e = fmin(e, sqrt(0.02 * p->typical[i] / fabs(now->vdot[i])));
  return e;
}

/// Whether a step of h resolves the states: h times the row sums of |phi_x| does not exceed one. If not, x'' is
/// that of a transient which the step jumps over, and so may v'' be.
static as_status resolves_states(asi_stepper *s, const asi_values *now, double h, bool *yes) {
  const as_problem *p = s->kin->problem;
  *yes = true;
  if (!(p->present & AS_BLOCK_BIT(AS_BLOCK_PHI_X))) return AS_OK;
  const as_point at = {.t = s->t,
                       .q = now->q,
                       .v = now->v,
                       .vdot = now->vdot,
                       .lambda = now->lambda,
                       .psi = now->psi,
                       .x = now->x,
                       .y = now->y};
  const as_status status = asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_PHI_X));
  if (status) return status;
  const as_matrix *m = &s->kin->block[AS_BLOCK_PHI_X];
  memset(s->rate.xdot, 0, (size_t)p->def.n_x * sizeof(double)); // row sums, for a moment
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      s->rate.xdot[m->row[k]] += fabs(m->value[k]);
  *yes = h * asi_max_abs(s->rate.xdot, p->def.n_x) <= 1.0;
  return AS_OK;
}

/// [ST.5] v'' = (v'(t + e) - v'(t - e)) / (2 e); where t - e cannot be evaluated,
/// (v'(t + 0.01 e) - v'(t)) / (0.01 e)
as_status asi_start_rates_from(asi_stepper *s, const asi_values *now, double h, double reach) {
  clear_rates(s);
  bool resolved = true;
  const as_status checked = resolves_states(s, now, h, &resolved);
  clear_rates(s);
  if (checked || !resolved) return checked;
  if (!s->def->improved_start && !s->def->perturbed_start) return AS_OK;
  const double e = neighbour_distance(s->kin->problem, now, reach);
  as_status status = AS_ERR_RETRY;
  if (!s->forward) {
    status = add_neighbour(s, now, e, 0.5 / e);
    if (status == AS_OK) status = add_neighbour(s, now, -e, -0.5 / e);
  }
  if (!as_status_is_recoverable(status)) return status;
  clear_rates(s);
  return add_neighbour(s, now, 0.01 * e, 100.0 / e);
}

as_status asi_start_rates(asi_stepper *s, double h, double reach) {
  return asi_start_rates_from(s, &s->now, h, reach);
}

as_point asi_point_at_start(const asi_stepper *s, const double *v) {
  return (as_point){.t = s->t,
                    .q = s->now.q,
                    .v = v,
                    .vdot = s->now.vdot,
                    .lambda = s->now.lambda,
                    .psi = s->now.psi,
                    .x = s->now.x,
                    .y = s->now.y};
}

/// [ST.6] B dv = -(g_t + B (v - l/h)), k_v dv = -k: the right sides;
/// l/h = h^2 {[1/6 - (1/2 - beta) d_n/h - beta (1 + d_{n+1}/h)] v'' + [v,v']/12}
as_status asi_index3_rows(asi_stepper *s, const double *vddot, const double *v) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda;
  const double h = s->h, beta = s->c.beta;
  const double factor = 1.0 / 6.0 - (0.5 - beta) * s->d0 / h - beta * (1.0 + s->d1 / h);
  double *gdot = s->kkt_rhs + n, *k = gdot + m, *less = s->xi;
  as_space_bracket(p->space, v, s->now.vdot, less);
  for (int i = 0; i < n; ++i)
    less[i] = vddot ? v[i] - h * h * (factor * vddot[i] + less[i] / 12.0) : v[i];
  const as_point at = asi_point_at_start(s, v), late = asi_point_at_start(s, less);
  as_status status =
      asi_blocks(s->kin, &at, asi_eval_needs(p, ASI_FN_GDOT) | asi_eval_needs(p, ASI_FN_K));
  if (status == AS_OK)
    status = asi_eval_function(&s->kin->eval, ASI_FN_GDOT, &late, s->kin->block, gdot);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_function(&s->kin->eval, ASI_FN_K, &at, s->kin->block, k);
  for (int i = 0; i < m + p->def.n_psi; ++i) gdot[i] = -gdot[i];
  return status;
}

as_status asi_index3_blocks(asi_stepper *s, const double *v) {
  const as_point at = asi_point_at_start(s, v);
  return asi_blocks(s->kin, &at,
                    asi_projection_blocks | AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA) |
                        AS_BLOCK_BIT(AS_BLOCK_F_PSI));
}

// A step may begin at a singular position: then the correction is found with so much compliance, [RE.5].
#define SINGULAR_COMPLIANCE 1e-8

/// [ST.6] M dv - f_lambda mu - f_psi nu = 0, with these rows
as_status asi_index3_velocity(asi_stepper *s, const double *vddot, double *v) {
  const int n = s->kin->problem->n;
  double *rhs = s->kkt_rhs;
  const bool sees = asi_forces_see_least_norm(s->kin);
  as_status status = sees ? asi_least_norm_prepare(s->kin, s->t, s->now.q, v) : AS_OK;
  if (status == AS_OK) status = asi_index3_rows(s, vddot, v);
  if (status == AS_OK) status = asi_index3_blocks(s, v);
  if (status) return status;
  memset(rhs, 0, (size_t)n * sizeof(double));
  for (int tries = 0; tries < 2; ++tries) {
    asi_system_assemble(&s->kin->kkt, s->kin->block, &s->kin->tangent);
    asi_add_compliance(s->kin, &s->kin->kkt,
                       tries == 0 ? s->kin->compliance
                                  : fmax(s->kin->compliance, SINGULAR_COMPLIANCE));
    status = asi_factor_shared(s->kin, &s->kin->kkt, s->t, "the corrected velocity");
    if (status != AS_ERR_SINGULAR) break;
  }
  if (status) return status;
  status = asi_solve(s->kin, &s->kin->kkt, s->t, rhs);
  if (status) return status;
  for (int i = 0; i < n; ++i) v[i] += rhs[i];
  return AS_OK;
}
