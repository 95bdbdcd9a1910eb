/// Redundant constraints in a run: steps are solved with an independent set of rows, reactions are of least norm.
///
/// Where rows imply each other, [B; k_v]^T lambda is determined but lambda is not. Rows that a search (redundancy.c) finds
/// to be implied by the others are therefore left out of a run, as if they did not hold, and their multipliers stay zero: the
/// motion is that of the machine without these rows, to the last bit. That they hold is looked at after each step.
///
/// What is shown is another choice of multipliers, which favours no row:
///
///     [RE.7]  minimise sum_i w_i lambda_i^2   subject to   [B; k_v]^T lambda = the constraint force
///
/// with weights w that make it the sum of squares of joint forces plus squares of joint torques over the squares of
/// lengths. Forces that depend on multipliers (friction) are given these, too, in every iteration.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/integrator.h"

// [RE.8] e of the matrix that multipliers of least norm are found with, and how often its solution is refined at the most.
#define LEAST_NORM_COMPLIANCE 1e-8
enum { MAX_REFINEMENTS = 50 };
// [RE.10] e that takes rows for implied which are so by `rounded` only, over its square; how often it is refined then.
#define ROUNDED_COMPLIANCE 1e4
enum { ROUNDED_REFINEMENTS = 8 };
// Refined until a change is smaller than this, relative to the largest.
#define REFINED 1e-13
// Rows that are left out may be off by this share of the machine's lengths or speeds, or by this times what the others are
// off by.
#define HOLDS 1e-7
#define HOLDS_LIKE 1e3
// [RE.10] The same for rows that are implied by `rounded` only, in units of that: a hinge that is off by 1 at the start is off by 2
// half a turn later, and levers count.
#define HOLDS_ROUNDED 30.0
// sigma/sigma_1 of rows that are implied where positions are known to Newton's tolerance only: in a choice that may leave out
// fewer, which is made where a step has moved by 1e-4 of the machine's lengths or more, and in others.
#define IMPLIED_LATER 1e-6
#define IMPLIED_ALONG 1e-5
// The response of the rows that are kept has grown by this since they were chosen: others may be better.
#define MUCH_LARGER 3.0

// ---- which rows are left out -------------------------------------------------------------------------

void asi_rows_update(as_integrator *s, bool all) {
  const asi_redundancy *r = &s->redundancy;
  s->eval.n_left_out = 0;
  for (int i = 0; i < r->rows; ++i) {
    const bool implied = !all && r->n_implied > 0 && r->implied[i];
    s->eval.left_out[i] = s->eval.inactive[i] || implied;
    s->eval.n_left_out += s->eval.left_out[i];
  }
}

void asi_rows_clear(const as_integrator *s, double *multiplier) {
  for (int i = 0; i < s->redundancy.rows && s->eval.n_left_out > 0; ++i)
    if (s->eval.left_out[i]) multiplier[i] = 0.0;
}

void asi_rows_take_all(as_integrator *s) {
  s->redundancy.n_implied = 0;
  s->redundancy.close = false;
  asi_rows_update(s, false);
}

void asi_rows_leave_out(as_integrator *s) {
  asi_redundancy *r = &s->redundancy;
  r->n_implied = r->n_redundant;
  r->close = r->n_nearly > 0;
  for (int i = 0; i < r->rows; ++i) r->implied[i] = false;
  for (int i = 0; i < r->n_redundant; ++i) r->implied[r->found[i]] = true;
  r->response = 0.0; // not known yet
  asi_rows_update(s, false);
}

/// The system of [RE.8], made when it is needed for the first time.
static as_status least_norm_create(as_integrator *s) {
  const as_problem *p = s->problem;
  asi_term terms[4];
  const int l = p->n + p->def.n_lambda;
  if (s->redundancy.least.solver) return AS_OK;
  terms[0] = (asi_term){0, p->n, AS_BLOCK_G_Q, true, ASI_VIA_IDENTITY, 1.0};
  terms[1] = (asi_term){0, l, AS_BLOCK_K_V, true, ASI_VIA_IDENTITY, 1.0};
  terms[2] = (asi_term){p->n, 0, AS_BLOCK_G_Q, false, ASI_VIA_IDENTITY, 1.0};
  terms[3] = (asi_term){l, 0, AS_BLOCK_K_V, false, ASI_VIA_IDENTITY, 1.0};
  const as_status status = asi_system_init(&s->redundancy.least, p, &s->motion, l + p->def.n_psi,
                                           terms, 4, s->eval.error);
  if (status) asi_system_free(&s->redundancy.least);
  return status;
}

// ---- multipliers of least norm ---------------------------------------------------------------------

/// [RE.8] e
static double least_norm_compliance(const asi_redundancy *r) {
  return fmax(LEAST_NORM_COMPLIANCE, ROUNDED_COMPLIANCE * r->rounded * r->rounded);
}

as_status asi_least_norm_prepare(as_integrator *s, double t, const double *q, const double *v) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const as_point at = {.t = t, .q = q, .v = v};
  as_status status = least_norm_create(s);
  if (status) return status;
  const asi_system *system = &r->least;
  asi_system_forget(&s->redundancy.least); // what is shown must not depend on what was shown before
  asi_rows_update(s, true);
  status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V));
  if (status == AS_OK) {
    asi_system_assemble(&s->redundancy.least, s->block, &s->motion);
    for (int j = 0; j < p->n; ++j)
      system->value[system->diagonal[j]] = 1.0 / (r->column_scale[j] * r->column_scale[j]);
    for (int i = 0; i < r->rows; ++i)
      system->value[system->diagonal[p->n + i]] = -least_norm_compliance(r) * r->norm_weight[i];
    status = asi_factor(s, &s->redundancy.least, t, "the reactions of redundant joints");
  }
  asi_rows_update(s, false);
  return status;
}

/// The largest multiplier, by the weights of [RE.7].
static double multiplier_size(const asi_redundancy *r, const double *lambda) {
  double largest = 0.0;
  for (int i = 0; i < r->rows; ++i)
    largest = asi_worse(largest, r->norm_weight[i] * lambda[i] * lambda[i]);
  return sqrt(largest);
}

/// [RE.8] With G = [B; k_v], y = x/e and any H > 0 the solution of [RE.7] has G^T lambda = F, G y = w lambda. It is found
/// by repeating
///
///     [H G^T; G -e w] (dx, dlambda) = (F - G^T lambda, e w lambda - G x)
as_status asi_least_norm(as_integrator *s, double *lambda, double *psi) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const asi_system *system = &r->least;
  const int n = p->n, m = p->def.n_lambda;
  double *z = r->probe, *force = r->force, *image = r->image, *step = s->kkt_rhs;
  const size_t all = (size_t)system->size * sizeof(double);
  memset(z, 0, all);
  memcpy(z + n, lambda, (size_t)m * sizeof(double));
  memcpy(z + n + m, psi, (size_t)p->def.n_psi * sizeof(double));
  asi_system_multiply(system, z, image);
  memcpy(force, image, (size_t)n * sizeof(double));
  memset(z, 0, all);
  memset(image, 0, all);
  double change = (double)INFINITY;
  const int most = r->rounded > 0.0 ? ROUNDED_REFINEMENTS : MAX_REFINEMENTS;
  for (int i = 0; i < most; ++i) {
    for (int j = 0; j < n; ++j)
      step[j] = force[j] - (image[j] - system->value[system->diagonal[j]] * z[j]);
    for (int j = n; j < system->size; ++j) step[j] = -image[j];
    const as_status status = asi_solve(s, &s->redundancy.least, s->t, step);
    if (status) return status;
    for (int j = 0; j < system->size; ++j) z[j] += step[j];
    const double before = change;
    change = multiplier_size(r, step + n);
    if (!(change > REFINED * multiplier_size(r, z + n)) || (i > 2 && change >= before)) break;
    asi_system_multiply(system, z, image);
  }
  for (int i = 0; i < r->rows; ++i)
    if (!s->eval.inactive[i]) *(i < m ? lambda + i : psi + i - m) = z[n + i];
  return AS_OK;
}

as_status asi_least_norm_at(as_integrator *s, double t, const double *q, const double *v,
                            double *lambda, double *psi) {
  const as_statistics saved = s->statistics;
  as_status status = asi_least_norm_prepare(s, t, q, v);
  if (status == AS_OK) status = asi_least_norm(s, lambda, psi);
  s->statistics = saved; // output is not the integrator's work
  return status;
}

// ---- whether the choice is still good -----------------------------------------------------------------

/// The largest |value| in units of its row among those that are left out, or are not.
static double largest_of(const as_integrator *s, const double *value, int first, int count,
                         bool implied) {
  const asi_redundancy *r = &s->redundancy;
  double largest = 0.0;
  for (int i = first; i < first + count; ++i)
    if (!s->eval.inactive[i] && r->implied[i] == implied)
      largest = asi_worse(largest, fabs(value[i]) / sqrt(r->inverse_D2[i]));
  return largest;
}

/// g, k and, where there is both, g_t + B v of all rows at the end of the step, into r->image and r->seen.
static as_status evaluate_rows(as_integrator *s) {
  const as_problem *p = s->problem;
  const as_point at = {.t = s->t1, .q = s->next.q, .v = s->next.v};
  double *value = s->redundancy.image, *rate = s->redundancy.seen;
  const int m = p->def.n_lambda, k = p->def.n_psi;
  as_status status = AS_OK;
  memset(rate, 0, (size_t)m * sizeof(double));
  if (m > 0) status = asi_eval_function(&s->eval, ASI_FN_G, &at, s->block, value);
  if (status == AS_OK && k > 0)
    status = asi_eval_function(&s->eval, ASI_FN_K, &at, s->block, value + m);
  if (status == AS_OK && m > 0 && k > 0)
    status = asi_blocks(s, &at, asi_eval_needs(p, ASI_FN_GDOT));
  if (status == AS_OK && m > 0 && k > 0)
    status = asi_eval_function(&s->eval, ASI_FN_GDOT, &at, s->block, rate);
  return status;
}

double asi_rows_slack(const as_integrator *s) { return HOLDS_ROUNDED * s->redundancy.rounded; }

as_status asi_rows_check(as_integrator *s, bool *hold) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const int m = p->def.n_lambda, k = p->def.n_psi;
  *hold = true;
  if (r->n_implied == 0) return AS_OK;
  asi_rows_update(s, true);
  const as_status status = evaluate_rows(s);
  asi_rows_update(s, false);
  if (status) return status;
  const double length = r->length > 0.0 ? r->length : p->length;
  const double speed = asi_max_motion(p, s->next.v) * p->length, slack = HOLDS + asi_rows_slack(s);
  // Index-3 leaves velocities off the constraints.
  const double rate = fmax(largest_of(s, r->seen, 0, m, false), largest_of(s, r->seen, 0, m, true));
  *hold = largest_of(s, r->image, 0, m, true) <=
              slack * length + HOLDS_LIKE * largest_of(s, r->image, 0, m, false) &&
          largest_of(s, r->image, m, k, true) <=
              slack * speed + HOLDS_LIKE * (rate + largest_of(s, r->image, m, k, false));
  return AS_OK;
}

as_status asi_rows_fail(as_integrator *s) {
  const asi_redundancy *r = &s->redundancy;
  const int m = s->problem->def.n_lambda;
  int worst = -1;
  for (int i = 0; i < r->rows; ++i)
    if (r->implied[i] && !s->eval.inactive[i] &&
        (worst < 0 || !(fabs(r->image[i]) / sqrt(r->inverse_D2[i]) <=
                        fabs(r->image[worst]) / sqrt(r->inverse_D2[worst]))))
      worst = i;
  char name[64];
  asi_component_name(s->problem, worst < m ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                     worst < m ? worst : worst - m, name, sizeof name);
  return asi_fail(s->eval.error, AS_ERR_RETRY, s->t1, name,
                  "The constraints contradict each other at t = %.9g s: the others leave %s no "
                  "freedom, and it is off by %.3g.",
                  s->t1, name, fabs(r->image[worst]));
}

/// A repeatable number between -1 and 1, different for each i.
static double scatter(int i) { return cos(1.0 + 2.3 * i + 0.7 * i * i); }

/// How large multipliers the rows that are kept need for the forces that multipliers of up to one, at random, make of the rows
/// that are left out, both in units of rows, by the factors of the step; 0: not known. It is large where they are close to
/// dependent, and others would not be.
static double response_of(as_integrator *s) {
  const asi_redundancy *r = &s->redundancy;
  const as_point at = {.t = s->t1, .q = s->now.q, .v = s->now.v};
  const int n = s->problem->n;
  double *const x = s->residual, *const y = r->image, largest = 0.0;
  as_error ignored, *const error = s->eval.error;
  memset(x, 0, (size_t)s->active->size * sizeof(double));
  for (int i = 0; i < r->rows; ++i)
    y[i] = s->eval.inactive[i] || !r->implied[i] ? 0.0 : scatter(i) / sqrt(r->inverse_D2[i]);
  s->eval.error = &ignored;
  s->at_trial = 0; // B is one of all rows, now
  asi_rows_update(s, true);
  as_status status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V));
  asi_rows_update(s, false);
  if (status == AS_OK) asi_rows_force(s, y, x);
  if (status == AS_OK) status = asi_solve(s, s->active, s->t1, x);
  s->eval.error = error;
  for (int i = 0; i < r->rows && status == AS_OK; ++i)
    largest = fmax(largest, fabs(x[n + i]) * sqrt(r->inverse_D2[i]));
  return largest;
}

/// Lets the prediction begin anew with these multipliers.
static void predict_from(as_integrator *s, const double *from) {
  const as_problem *p = s->problem;
  const size_t m = (size_t)p->def.n_lambda, k = (size_t)p->def.n_psi;
  const int stride = p->n + s->redundancy.rows;
  const bool two = s->def.method == AS_METHOD_SOI2 && m > 0;
  if (s->predictor.count == 0) return;
  s->predictor.count = s->predictor.points = 1;
  s->predictor.rings = false;
  for (int stage = 0; stage <= (two ? stride : 0); stage += stride) {
    double *const multiplier = s->predictor.z[0] + stage + p->n;
    memcpy(multiplier, from, (m + k) * sizeof(double));
    if (s->def.method == AS_METHOD_INDEX2) memset(multiplier + m + k, 0, m * sizeof(double));
  }
}

/// The multipliers of now and of the step before that do without the rows that are left out:
/// [M G^T; G 0] (x, lambda') = (G^T lambda, 0)
/// Those that forces have seen stay, and are only predicted so.
static as_status change_multipliers(as_integrator *s) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda;
  const asi_values *values[] = {&s->now, &s->last.from};
  const as_point at = {.t = s->t, .q = s->now.q, .v = s->now.v};
  asi_system *system = asi_projection_system(s);
  double *rhs = s->kkt_rhs, *old = s->redundancy.image;
  as_status status = asi_blocks(s, &at, asi_system_blocks(system));
  if (status) return status;
  asi_system_assemble(system, s->block, &s->motion);
  status = asi_factor(s, system, s->t, "other reactions of redundant joints");
  asi_rows_update(s, true);
  if (status == AS_OK) status = asi_blocks(s, &at, asi_system_blocks(system));
  for (int i = 0; i < (s->last.known ? 2 : 1) && status == AS_OK; ++i) {
    memcpy(old, values[i]->lambda, (size_t)m * sizeof(double));
    memcpy(old + m, values[i]->psi, (size_t)p->def.n_psi * sizeof(double));
    memset(rhs, 0, (size_t)system->size * sizeof(double));
    asi_rows_force(s, old, rhs);
    status = asi_solve(s, system, s->t, rhs);
    if (status) break;
    if (i == 0) predict_from(s, rhs + n);
    if (asi_forces_see_least_norm(s)) break;
    memcpy(values[i]->lambda, rhs + n, (size_t)m * sizeof(double));
    memcpy(values[i]->psi, rhs + n + m, (size_t)p->def.n_psi * sizeof(double));
  }
  asi_rows_update(s, false);
  return status;
}

/// Whether the rows found are those that are left out.
static bool are_the_same(const asi_redundancy *r) {
  bool same = r->n_redundant == r->n_implied;
  for (int i = 0; i < r->n_redundant && same; ++i) same = r->implied[r->found[i]];
  return same;
}

as_status asi_rows_choose(as_integrator *s, double t, const double *q, const double *v, bool fewer,
                          bool *changed) {
  asi_redundancy *r = &s->redundancy;
  const int count = r->n_implied;
  *changed = false;
  r->limit = fewer ? IMPLIED_LATER : IMPLIED_ALONG;
  if (r->rounded > 0.0) r->limit = fmax(r->limit, asi_redundancy_rounded(s));
  as_status status = asi_find_redundancy(s, t, q, v, asi_redundancy_near(s), count + 8);
  r->limit = ASI_REDUNDANT;
  if (status || are_the_same(r)) return status;
  if (r->n_redundant > count || (r->n_redundant < count && !fewer)) return AS_OK;
  memcpy(r->old_implied, r->implied, (size_t)r->rows * sizeof(bool));
  if (r->n_redundant < count) r->rounded = fmin(r->rounded, r->found_rounded);
  asi_rows_leave_out(s);
  status = change_multipliers(s);
  if (status) { // a singular position: the others stay
    s->redundancy.n_implied = count;
    memcpy(r->implied, r->old_implied, (size_t)r->rows * sizeof(bool));
    asi_rows_update(s, false);
    return status;
  }
  *changed = s->b_lost = true;
  s->factor_h = (double)NAN;
  return AS_OK;
}

as_status asi_rows_doubt(as_integrator *s) {
  bool changed = false;
  as_error ignored, *const error = s->eval.error;
  s->eval.error = &ignored;
  const as_status status = asi_rows_choose(s, s->t, s->now.q, s->now.v, false, &changed);
  s->eval.error = error;
  s->redundancy.doubtful = false;
  return as_status_is_recoverable(status) ? AS_OK : status; // with the rows at hand, then
}

void asi_rows_watch(as_integrator *s) {
  asi_redundancy *r = &s->redundancy;
  if (r->n_implied == 0 || s->factor_age > 0) return;
  const double response = response_of(s);
  r->doubtful = r->response > 0.0 && response > MUCH_LARGER * r->response;
  if (r->doubtful || r->response == 0.0 || response < r->response) r->response = response;
}

// ---- what is shown, and seen by forces ----------------------------------------------------------------

as_status asi_show_reactions(as_integrator *s) {
  const as_problem *p = s->problem;
  double *const lambda = s->redundancy.shown, *const psi = lambda + p->def.n_lambda;
  if (s->redundancy.n_implied == 0 || s->state.lambda == lambda) return AS_OK;
  memcpy(lambda, s->state.lambda, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(psi, s->state.psi, (size_t)p->def.n_psi * sizeof(double));
  const as_status status = asi_least_norm_at(s, s->state.t, s->state.q, s->state.v, lambda, psi);
  if (status) return status;
  s->state.lambda = lambda;
  s->state.psi = psi;
  return AS_OK;
}

bool asi_forces_see_least_norm(const as_integrator *s) {
  return s->redundancy.n_implied > 0 && (s->problem->present & asi_multiplier_blocks);
}

as_status asi_see_least_norm(as_integrator *s, double *lambda, double *psi) {
  asi_redundancy *r = &s->redundancy;
  if (!asi_forces_see_least_norm(s)) return AS_OK;
  if (!r->prepared) {
    const as_status status = asi_least_norm_prepare(s, s->t1, s->next.q, s->next.v);
    if (status) return status;
    r->prepared = true;
  }
  return asi_least_norm(s, lambda, psi);
}

// ---- what that adds to a matrix -----------------------------------------------------------------------

// A null vector whose forces are smaller than this, relative to those of the row that it stands for, changes none.
#define NO_FORCE 1e-5

/// q <- a null vector of [B; k_v]^T, e_row without what lies in the range of [B; k_v], by [RE.8]: twice through
/// e (G H^-1 G^T + e w)^-1 w. Its weighted norm is one.
static as_status find_null_vector(as_integrator *s, double t, int row, double *q) {
  const asi_redundancy *r = &s->redundancy;
  const int n = s->problem->n;
  double *const probe = r->probe, *const y = probe + n;
  double square = 0.0;
  memset(y, 0, (size_t)r->rows * sizeof(double));
  y[row] = 1.0;
  for (int pass = 0; pass < 2; ++pass) {
    memset(probe, 0, (size_t)n * sizeof(double));
    for (int i = 0; i < r->rows; ++i) y[i] *= -least_norm_compliance(r) * r->norm_weight[i];
    const as_status status = asi_solve(s, &s->redundancy.least, t, probe);
    if (status) return status;
  }
  for (int i = 0; i < r->rows; ++i) square += r->norm_weight[i] * y[i] * y[i];
  for (int i = 0; i < r->rows; ++i) q[i] = square > 0.0 ? y[i] / sqrt(square) : 0.0;
  return AS_OK;
}

/// D_j = A^-1 U_j with U_j = -(columns of multipliers) q, but for rows of constraints; zero where q makes no force. *any: it makes one.
static as_status find_change(as_integrator *s, asi_system *system, double t, int j, int row,
                             bool *any) {
  const asi_low_rank *u = system->sharing;
  const int rows = u->width, first = u->from[j], own = first + row;
  double *const x = u->work, *const change = u->change + (size_t)j * (size_t)u->size;
  double force = 0.0, one = 0.0;
  memset(x, 0, (size_t)u->size * sizeof(double));
  memcpy(x + first, u->row + (size_t)j * (size_t)rows, (size_t)rows * sizeof(double));
  asi_system_multiply(system, x, change);
  for (int i = 0; i < u->size; ++i) {
    change[i] = i >= first && i < first + rows ? 0.0 : -change[i];
    force = fmax(force, fabs(change[i]) * system->row_unit[i]);
  }
  for (int k = system->pattern.col_start[own]; k < system->pattern.col_start[own + 1]; ++k)
    if (system->pattern.row[k] != own)
      one = fmax(one, fabs(system->value[k] * x[own]) * system->row_unit[system->pattern.row[k]]);
  if (force > NO_FORCE * one) {
    *any = true;
    return asi_solve(s, system, t, change);
  }
  memset(change, 0, (size_t)u->size * sizeof(double));
  return AS_OK;
}

/// K = Q^T w Q, for null vectors of one set of multipliers, and V = Q^T w
static void weigh_null_vectors(const as_integrator *s, asi_low_rank *u, int rank) {
  const double *const w = s->redundancy.norm_weight;
  for (int j = 0; j < rank; ++j)
    for (int i = 0; i < rank; ++i) {
      const double *const a = u->row + (size_t)i * (size_t)u->width;
      const double *const b = u->row + (size_t)j * (size_t)u->width;
      double sum = 0.0;
      for (int k = 0; k < u->width && u->from[i] == u->from[j]; ++k) sum += w[k] * a[k] * b[k];
      u->small[(size_t)j * (size_t)rank + (size_t)i] = sum;
    }
  for (int j = 0; j < rank; ++j)
    for (int k = 0; k < u->width; ++k) u->row[(size_t)j * (size_t)u->width + (size_t)k] *= w[k];
}

/// How many sets of multipliers a system has: SOI2's stages have their own.
static int sets_of(const as_integrator *s, const asi_system *system) {
  const bool stages = s->def.method == AS_METHOD_SOI2 && s->problem->def.n_lambda > 0;
  return stages && system == &s->step ? 2 : 1;
}

as_status asi_sharing_reserve(as_integrator *s) {
  asi_system *const systems[] = {&s->step,       &s->shared,     &s->kkt,
                                 &s->consistent, &s->output.kkt, &s->output.consistent};
  if (!asi_forces_see_least_norm(s)) return AS_OK;
  for (int i = 0; i < 6; ++i)
    if (systems[i]->sharing &&
        asi_low_rank_reserve(systems[i]->sharing, sets_of(s, systems[i]) * s->redundancy.n_implied))
      return asi_fail_memory(s->eval.error);
  return AS_OK;
}

/// [RE.9] Forces see P lambda, with P = I - Q K^-1 Q^T w, K = Q^T w Q and a basis Q of the null space of [B; k_v]^T, so that
/// the matrix is A + U K^-1 V, with U = f_lambda Q and V = Q^T w, where A has f_lambda alone.
as_status asi_factor_shared(as_integrator *s, asi_system *system, double t, const char *what) {
  const asi_redundancy *r = &s->redundancy;
  asi_low_rank *const u = system->sharing;
  as_status status = asi_factor(s, system, t, what);
  if (status || u == NULL || !asi_forces_see_least_norm(s)) return status;
  const int stride = s->problem->n + r->rows, sets = sets_of(s, system);
  if (asi_low_rank_reserve(u, sets * r->n_implied)) return asi_fail_memory(s->eval.error);
  int rank = 0;
  bool any = false;
  for (int row = 0; row < r->rows; ++row)
    for (int set = 0; set < sets && r->implied[row] && !s->eval.inactive[row]; ++set, ++rank) {
      double *const q = u->row + (size_t)rank * (size_t)u->width;
      u->from[rank] = s->problem->n + set * stride;
      if (set == 0)
        status = find_null_vector(s, t, row, q);
      else
        memcpy(q, q - u->width, (size_t)u->width * sizeof(double));
      if (status == AS_OK) status = find_change(s, system, t, rank, row, &any);
      if (status) return status;
    }
  if (!any) return AS_OK;
  weigh_null_vectors(s, u, rank);
  (void)asi_low_rank_factor(u, rank); // if it is singular, A alone has to do
  return AS_OK;
}
