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
#include "core/kinematics/kinematics.h"

// [RE.8] e of the matrix that multipliers of least norm are found with, and how often its solution is refined at the most.
#define LEAST_NORM_COMPLIANCE 1e-8
enum { MAX_REFINEMENTS = 50 };
// [RE.10] e that takes rows for implied which are so by `rounded` only, over its square; how often it is refined then.
#define ROUNDED_COMPLIANCE 1e4
enum { ROUNDED_REFINEMENTS = 8 };
// Refined until a change is smaller than this, relative to the largest.
#define REFINED 1e-13
// [RE.10] The same for rows that are implied by `rounded` only, in units of that: a hinge that is off by 1 at the start is off by 2
// half a turn later, and levers count.
#define HOLDS_ROUNDED 30.0

// ---- which rows are left out -------------------------------------------------------------------------

void asi_rows_update(asi_kinematics *s, bool all) {
  const asi_redundancy *r = &s->redundancy;
  s->eval.n_left_out = 0;
  for (int i = 0; i < r->rows; ++i) {
    const bool implied = !all && r->n_implied > 0 && r->implied[i];
    s->eval.left_out[i] = s->eval.inactive[i] || implied;
    s->eval.n_left_out += s->eval.left_out[i];
  }
}

void asi_rows_clear(const asi_kinematics *s, double *multiplier) {
  for (int i = 0; i < s->redundancy.rows && s->eval.n_left_out > 0; ++i)
    if (s->eval.left_out[i]) multiplier[i] = 0.0;
}

void asi_rows_take_all(asi_kinematics *s) {
  s->redundancy.n_implied = 0;
  s->redundancy.close = false;
  asi_rows_update(s, false);
}

void asi_rows_leave_out(asi_kinematics *s) {
  asi_redundancy *r = &s->redundancy;
  r->n_implied = r->n_redundant;
  r->close = r->n_nearly > 0;
  for (int i = 0; i < r->rows; ++i) r->implied[i] = false;
  for (int i = 0; i < r->n_redundant; ++i) r->implied[r->found[i]] = true;
  r->response = 0.0; // not known yet
  asi_rows_update(s, false);
}

/// The system of [RE.8], made when it is needed for the first time.
static as_status least_norm_create(asi_kinematics *s) {
  const as_problem *p = s->problem;
  asi_term terms[4];
  const int l = p->n + p->def.n_lambda;
  if (s->redundancy.least.solver) return AS_OK;
  terms[0] = (asi_term){0, p->n, AS_BLOCK_G_Q, true, ASI_CHAIN_IDENTITY, 1.0};
  terms[1] = (asi_term){0, l, AS_BLOCK_K_V, true, ASI_CHAIN_IDENTITY, 1.0};
  terms[2] = (asi_term){p->n, 0, AS_BLOCK_G_Q, false, ASI_CHAIN_IDENTITY, 1.0};
  terms[3] = (asi_term){l, 0, AS_BLOCK_K_V, false, ASI_CHAIN_IDENTITY, 1.0};
  const as_status status =
      asi_system_init(&s->redundancy.least, p, &s->tangent, ASI_UNKNOWNS_LEAST_NORM,
                      l + p->def.n_psi, terms, 4, NULL, s->eval.error);
  if (status) asi_system_free(&s->redundancy.least);
  return status;
}

// ---- multipliers of least norm ---------------------------------------------------------------------

/// [RE.8] e
static double least_norm_compliance(const asi_redundancy *r) {
  return fmax(LEAST_NORM_COMPLIANCE, ROUNDED_COMPLIANCE * r->rounded * r->rounded);
}

as_status asi_least_norm_prepare(asi_kinematics *s, double t, const double *q, const double *v) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const as_point at = {.t = t, .q = q, .v = v};
  as_status status = least_norm_create(s);
  if (status) return status;
  const asi_system *system = &r->least;
  s->redundancy.t = t;
  asi_system_forget(&s->redundancy.least); // what is shown must not depend on what was shown before
  asi_rows_update(s, true);
  status = asi_blocks(s, &at, AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V));
  if (status == AS_OK) {
    asi_system_assemble(&s->redundancy.least, s->block, &s->tangent);
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
    largest = asi_max_nan(largest, r->norm_weight[i] * lambda[i] * lambda[i]);
  return sqrt(largest);
}

/// [RE.8] With G = [B; k_v], y = x/e and any H > 0 the solution of [RE.7] has G^T lambda = F, G y = w lambda. It is found
/// by repeating
///
///     [H G^T; G -e w] (dx, dlambda) = (F - G^T lambda, e w lambda - G x)
as_status asi_least_norm(asi_kinematics *s, double *lambda, double *psi) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const asi_system *system = &r->least;
  const int n = p->n, m = p->def.n_lambda;
  double *z = r->probe, *force = r->force, *image = r->image, *step = s->rhs;
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
    const as_status status = asi_solve(s, &s->redundancy.least, r->t, step);
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

as_status asi_least_norm_at(asi_kinematics *s, double t, const double *q, const double *v,
                            double *lambda, double *psi) {
  const as_statistics saved = s->statistics;
  as_status status = asi_least_norm_prepare(s, t, q, v);
  if (status == AS_OK) status = asi_least_norm(s, lambda, psi);
  s->statistics = saved; // output is not the integrator's work
  return status;
}

// ---- whether the choice is still good -----------------------------------------------------------------

double asi_rows_slack(const asi_kinematics *s) { return HOLDS_ROUNDED * s->redundancy.rounded; }

// ---- what is shown, and seen by forces ----------------------------------------------------------------

bool asi_forces_see_least_norm(const asi_kinematics *s) {
  return s->redundancy.n_implied > 0 && (s->problem->present & asi_multiplier_blocks);
}

// ---- what that adds to a matrix -----------------------------------------------------------------------

// A null vector whose forces are smaller than this, relative to those of the row that it stands for, changes none.
#define NO_FORCE 1e-5

/// q <- a null vector of [B; k_v]^T, e_row without what lies in the range of [B; k_v], by [RE.8]: twice through
/// e (G H^-1 G^T + e w)^-1 w. Its weighted norm is one.
static as_status find_null_vector(asi_kinematics *s, double t, int row, double *q) {
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
static as_status find_change(asi_kinematics *s, asi_system *system, double t, int j, int row,
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
static void weigh_null_vectors(const asi_kinematics *s, asi_low_rank *u, int rank) {
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
static int sets_of(const asi_system *system) {
  return system->unknowns == ASI_UNKNOWNS_TWO_STAGES ? 2 : 1;
}

as_status asi_sharing_reserve(asi_kinematics *s, asi_system *system) {
  if (system->sharing == NULL || !asi_forces_see_least_norm(s)) return AS_OK;
  return asi_low_rank_reserve(system->sharing, sets_of(system) * s->redundancy.n_implied)
             ? asi_fail_memory(s->eval.error)
             : AS_OK;
}

/// [RE.9] Forces see P lambda, with P = I - Q K^-1 Q^T w, K = Q^T w Q and a basis Q of the null space of [B; k_v]^T, so that
/// the matrix is A + U K^-1 V, with U = f_lambda Q and V = Q^T w, where A has f_lambda alone.
as_status asi_factor_shared(asi_kinematics *s, asi_system *system, double t, const char *what) {
  const asi_redundancy *r = &s->redundancy;
  asi_low_rank *const u = system->sharing;
  as_status status = asi_factor(s, system, t, what);
  if (status || u == NULL || !asi_forces_see_least_norm(s)) return status;
  const int stride = s->problem->n + r->rows, sets = sets_of(system);
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
