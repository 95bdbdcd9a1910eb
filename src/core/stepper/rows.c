/// Redundant constraints along a run: whether the rows that are left out still hold after a step, and whether others should be
/// left out.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/stepper/stepper.h"

int asi_unknowns_that_count(const asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int rows = p->def.n_lambda + p->def.n_psi, left_out = s->kin->eval.n_left_out;
  const int multipliers = s->unknowns - s->stages * p->n - p->def.n_x - p->def.n_y;
  return left_out > 0 ? s->unknowns - (int)((long long)left_out * multipliers / rows) : s->unknowns;
}

/// The largest |value| in units of its row among those that are left out, or are not.
static double largest_of(const asi_stepper *s, const double *value, int first, int count,
                         bool implied) {
  const asi_redundancy *r = &s->kin->redundancy;
  double largest = 0.0;
  for (int i = first; i < first + count; ++i)
    if (!s->kin->eval.inactive[i] && r->implied[i] == implied)
      largest = asi_max_nan(largest, fabs(value[i]) / sqrt(r->inverse_D2[i]));
  return largest;
}

/// g, k and, where there is both, g_t + B v of all rows at the end of the step, into r->image and r->history.
static as_status evaluate_rows(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const as_point at = {.t = s->t1, .q = s->next.q, .v = s->next.v};
  double *value = s->kin->redundancy.image, *rate = s->kin->redundancy.seen;
  const int m = p->def.n_lambda, k = p->def.n_psi;
  as_status status = AS_OK;
  memset(rate, 0, (size_t)m * sizeof(double));
  if (m > 0) status = asi_eval_function(&s->kin->eval, ASI_FN_G, &at, s->kin->block, value);
  if (status == AS_OK && k > 0)
    status = asi_eval_function(&s->kin->eval, ASI_FN_K, &at, s->kin->block, value + m);
  if (status == AS_OK && m > 0 && k > 0)
    status = asi_blocks(s->kin, &at, asi_eval_needs(p, ASI_FN_GDOT));
  if (status == AS_OK && m > 0 && k > 0)
    status = asi_eval_function(&s->kin->eval, ASI_FN_GDOT, &at, s->kin->block, rate);
  return status;
}

as_status asi_rows_check(asi_stepper *s, bool *hold) {
  const as_problem *p = s->kin->problem;
  const asi_redundancy *r = &s->kin->redundancy;
  const int m = p->def.n_lambda, k = p->def.n_psi;
  *hold = true;
  if (r->n_implied == 0) return AS_OK;
  asi_rows_update(s->kin, true);
  const as_status status = evaluate_rows(s);
  asi_rows_update(s->kin, false);
  if (status) return status;
  const double length = r->length > 0.0 ? r->length : p->length;
  const double speed = asi_max_motion(p, s->next.v) * p->length,
               slack = s->expert.rows_hold + asi_rows_slack(s->kin);
  // Index-3 leaves velocities off the constraints.
  const double rate = fmax(largest_of(s, r->seen, 0, m, false), largest_of(s, r->seen, 0, m, true));
  *hold =
      largest_of(s, r->image, 0, m, true) <=
          slack * length + s->expert.rows_hold_like * largest_of(s, r->image, 0, m, false) &&
      largest_of(s, r->image, m, k, true) <=
          slack * speed + s->expert.rows_hold_like * (rate + largest_of(s, r->image, m, k, false));
  return AS_OK;
}

as_status asi_rows_fail(asi_stepper *s) {
  const asi_redundancy *r = &s->kin->redundancy;
  const int m = s->kin->problem->def.n_lambda;
  int worst = -1;
  for (int i = 0; i < r->rows; ++i)
    if (r->implied[i] && !s->kin->eval.inactive[i] &&
        (worst < 0 || !(fabs(r->image[i]) / sqrt(r->inverse_D2[i]) <=
                        fabs(r->image[worst]) / sqrt(r->inverse_D2[worst]))))
      worst = i;
  char name[64];
  asi_component_name(s->kin->problem, worst < m ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                     worst < m ? worst : worst - m, name, sizeof name);
  return asi_fail(s->kin->eval.error, AS_ERR_RETRY, s->t1, name,
                  "The constraints contradict each other at t = %.9g s: the others leave %s no "
                  "freedom, and it is off by %.3g.",
                  s->t1, name, fabs(r->image[worst]));
}

/// A repeatable number between -1 and 1, different for each i.
static double scatter(int i) { return cos(1.0 + 2.3 * i + 0.7 * i * i); }

/// How large multipliers the rows that are kept need for the forces that multipliers of up to one, at random, make of the rows
/// that are left out, both in units of rows, by the factors of the step; 0: not known. It is large where they are close to
/// dependent, and others would not be.
static double response_of(asi_stepper *s) {
  const asi_redundancy *r = &s->kin->redundancy;
  const as_point at = {.t = s->t1, .q = s->now.q, .v = s->now.v};
  const int n = s->kin->problem->n;
  double *const x = s->residual, *const y = r->image, largest = 0.0;
  as_error ignored, *const error = s->kin->eval.error;
  memset(x, 0, (size_t)s->active->size * sizeof(double));
  for (int i = 0; i < r->rows; ++i)
    y[i] = s->kin->eval.inactive[i] || !r->implied[i] ? 0.0 : scatter(i) / sqrt(r->inverse_D2[i]);
  s->kin->eval.error = &ignored;
  s->at_trial = 0; // B is one of all rows, now
  asi_rows_update(s->kin, true);
  as_status status =
      asi_blocks(s->kin, &at, AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V));
  asi_rows_update(s->kin, false);
  if (status == AS_OK) asi_rows_force(s->kin, y, x);
  if (status == AS_OK) status = asi_solve(s->kin, s->active, s->t1, x);
  s->kin->eval.error = error;
  for (int i = 0; i < r->rows && status == AS_OK; ++i)
    largest = fmax(largest, fabs(x[n + i]) * sqrt(r->inverse_D2[i]));
  return largest;
}

/// Lets the prediction begin anew with these multipliers.
static void predict_from(asi_stepper *s, const double *from) {
  const as_problem *p = s->kin->problem;
  const size_t m = (size_t)p->def.n_lambda, k = (size_t)p->def.n_psi;
  const int stride = p->n + s->kin->redundancy.rows;
  const bool two = s->def->method == AS_METHOD_SOI2 && m > 0;
  if (s->predictor.count == 0) return;
  s->predictor.count = s->predictor.points = 1;
  s->predictor.extrapolates_parasites = false;
  for (int stage = 0; stage <= (two ? stride : 0); stage += stride) {
    double *const multiplier = s->predictor.z[0] + stage + p->n;
    memcpy(multiplier, from, (m + k) * sizeof(double));
    if (s->def->method == AS_METHOD_INDEX2) memset(multiplier + m + k, 0, m * sizeof(double));
  }
}

/// The multipliers of now and of the step before that do without the rows that are left out:
/// [M G^T; G 0] (x, lambda') = (G^T lambda, 0)
/// Those that forces have seen stay, and are only predicted so.
static as_status change_multipliers(asi_stepper *s) {
  const as_problem *p = s->kin->problem;
  const int n = p->n, m = p->def.n_lambda;
  const asi_values *values[] = {&s->now, &s->last.from};
  const as_point at = {.t = s->t, .q = s->now.q, .v = s->now.v};
  asi_system *system = asi_projection_system(s->kin);
  double *rhs = s->kkt_rhs, *old = s->kin->redundancy.image;
  as_status status = asi_blocks(s->kin, &at, asi_system_blocks(system));
  if (status) return status;
  asi_system_assemble(system, s->kin->block, &s->kin->tangent);
  status = asi_factor(s->kin, system, s->t, "other reactions of redundant joints");
  asi_rows_update(s->kin, true);
  if (status == AS_OK) status = asi_blocks(s->kin, &at, asi_system_blocks(system));
  for (int i = 0; i < (s->last.known ? 2 : 1) && status == AS_OK; ++i) {
    memcpy(old, values[i]->lambda, (size_t)m * sizeof(double));
    memcpy(old + m, values[i]->psi, (size_t)p->def.n_psi * sizeof(double));
    memset(rhs, 0, (size_t)system->size * sizeof(double));
    asi_rows_force(s->kin, old, rhs);
    status = asi_solve(s->kin, system, s->t, rhs);
    if (status) break;
    if (i == 0) predict_from(s, rhs + n);
    if (asi_forces_see_least_norm(s->kin)) break;
    memcpy(values[i]->lambda, rhs + n, (size_t)m * sizeof(double));
    memcpy(values[i]->psi, rhs + n + m, (size_t)p->def.n_psi * sizeof(double));
  }
  asi_rows_update(s->kin, false);
  return status;
}

/// Whether the rows found are those that are left out.
static bool are_the_same(const asi_redundancy *r) {
  bool same = r->n_redundant == r->n_implied;
  for (int i = 0; i < r->n_redundant && same; ++i) same = r->implied[r->found[i]];
  return same;
}

as_status asi_rows_choose(asi_stepper *s, double t, const double *q, const double *v, bool fewer,
                          bool *changed) {
  asi_redundancy *r = &s->kin->redundancy;
  const int count = r->n_implied;
  *changed = false;
  r->limit = fewer ? s->expert.rows_implied : s->expert.rows_implied_along;
  if (r->rounded > 0.0) r->limit = fmax(r->limit, asi_redundancy_rounded(s->kin));
  const as_point at = {.t = t, .q = q, .v = v, .x = s->next.x, .y = s->next.y};
  as_status status = asi_find_redundancy(s->kin, &at, asi_redundancy_near(s->kin), count + 8);
  r->limit = ASI_REDUNDANT;
  if (status || are_the_same(r)) return status;
  if (r->n_redundant > count || (r->n_redundant < count && !fewer)) return AS_OK;
  memcpy(r->old_implied, r->implied, (size_t)r->rows * sizeof(bool));
  if (r->n_redundant < count) r->rounded = fmin(r->rounded, r->found_rounded);
  asi_rows_leave_out(s->kin);
  status = change_multipliers(s);
  if (status) { // a singular position: the others stay
    s->kin->redundancy.n_implied = count;
    memcpy(r->implied, r->old_implied, (size_t)r->rows * sizeof(bool));
    asi_rows_update(s->kin, false);
    return status;
  }
  *changed = s->b_lost = true;
  asi_jump_forget(s);
  s->factor_h = (double)NAN;
  return AS_OK;
}

as_status asi_rows_doubt(asi_stepper *s) {
  bool changed = false;
  as_error ignored, *const error = s->kin->eval.error;
  s->kin->eval.error = &ignored;
  const as_status status = asi_rows_choose(s, s->t, s->now.q, s->now.v, false, &changed);
  s->kin->eval.error = error;
  s->kin->redundancy.doubtful = false;
  return as_status_is_recoverable(status) ? AS_OK : status; // with the rows at hand, then
}

void asi_rows_watch(asi_stepper *s) {
  asi_redundancy *r = &s->kin->redundancy;
  if (r->n_implied == 0 || s->factor_age > 0) return;
  const double response = response_of(s);
  r->doubtful = r->response > 0.0 && response > s->expert.rows_response * r->response;
  if (r->doubtful || r->response == 0.0 || response < r->response) r->response = response;
}

as_status asi_see_least_norm(asi_stepper *s, double *lambda, double *psi) {
  asi_redundancy *r = &s->kin->redundancy;
  if (!asi_forces_see_least_norm(s->kin)) return AS_OK;
  if (!r->prepared) {
    const as_status status = asi_least_norm_prepare(s->kin, s->t1, s->next.q, s->next.v);
    if (status) return status;
    r->prepared = true;
  }
  return asi_least_norm(s->kin, lambda, psi);
}
