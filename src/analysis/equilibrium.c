/// Static equilibrium: the one found from a start, and what can be said of it.
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/error.h"

// Who has moved less than this, in typical sizes, is where the search began.
#define SAME_PLACE 1e-7
// How far an unstable equilibrium is pushed off, in typical sizes, and how often.
#define PUSH 0.01
enum { MOST_PUSHES = 10 };

/// Refuses nonholonomic constraints that do not allow rest, as a prescribed speed does.
static as_status check_rest(as_analysis *a, double t) {
  const as_problem *p = a->problem;
  const asi_values *at = &a->here.at;
  const as_point point = {.t = t, .q = at->q, .v = at->v};
  double *k = a->step;
  if (p->def.n_psi == 0) return AS_OK;
  const as_status status = asi_eval_function(&a->kin.eval, ASI_FN_K, &point, a->kin.block, k);
  if (status) return status;
  for (int i = 0; i < p->def.n_psi; ++i) {
    if (fabs(k[i]) <= 1e-10) continue;
    char name[64];
    asi_component_name(p, AS_QUANTITY_PSI, i, name, sizeof name);
    return asi_fail(a->kin.eval.error, AS_ERR_INCONSISTENT, t, name,
                    "There is no rest at t = %.9g s: %s is %.3g at zero velocity.", t, name, k[i]);
  }
  return AS_OK;
}

/// How far a->here is from the start, in typical sizes.
static double way_from_start(as_analysis *a) {
  const as_problem *p = a->problem;
  double way = 0.0;
  as_space_difference(p->space, a->q_start, a->here.at.q, a->way);
  for (int i = 0; i < p->n; ++i) way = fmax(way, fabs(a->way[i]) / p->typical[i]);
  return way;
}

static double mass_product(as_analysis *a, const double *x, const double *y) {
  double sum = 0.0;
  memset(a->work, 0, (size_t)a->problem->n * sizeof(double));
  asi_matrix_multiply_add(&a->kin.block[AS_BLOCK_M], 1.0, x, a->work);
  for (int i = 0; i < a->problem->n; ++i) sum += a->work[i] * y[i];
  return sum;
}

as_status asi_judge(as_analysis *a, double t, as_equilibrium *found) {
  const as_problem *p = a->problem;
  const asi_values *at = &a->here.at;
  as_status status = asi_analysis_rank(a, t, at, &found->degrees_of_freedom);
  if (status) return status;
  found->n_redundant = a->kin.redundancy.n_redundant;
  status = asi_stability(a, t, found);
  double velocity = 0.0;
  if (status == AS_OK)
    status = asi_drift(&a->kin, t, at->q, at->v, &found->position_drift, &velocity);
  found->unbalanced = asi_max_abs(a->here.force, p->n);
  way_from_start(a);
  found->moved = sqrt(fabs(mass_product(a, a->way, a->way)));
  return status;
}

/// A step along the softest direction, towards where the search came from.
static as_status push_off(as_analysis *a, double t) {
  const as_problem *p = a->problem;
  double longest = 0.0;
  for (int i = 0; i < p->n; ++i) longest = fmax(longest, fabs(a->mode[i]) / p->typical[i]);
  const double back = -mass_product(a, a->mode, a->way); // a->way leads from the start to here
  memset(a->step, 0, asi_total_size(p) * sizeof(double));
  memcpy(a->step, a->mode, (size_t)p->n * sizeof(double));
  const as_status status = asi_statics_move(a, t, (back < 0.0 ? -PUSH : PUSH) / longest);
  if (status == AS_OK) asi_statics_accept(a, t);
  return status;
}

as_status asi_find_equilibrium(as_analysis *a, double t, as_equilibrium *found) {
  memcpy(a->q_start, a->here.at.q, (size_t)a->problem->nq * sizeof(double));
  for (int pushes = 0;; ++pushes) {
    as_status status = asi_statics_settle(a, t, &found->iterations);
    if (status == AS_OK) status = asi_judge(a, t, found);
    if (status) return status;
    if (found->stability != AS_UNSTABLE || way_from_start(a) <= SAME_PLACE || pushes == MOST_PUSHES)
      return AS_OK;
    status = push_off(a, t);
    if (status) return status;
    found->pushed = true;
  }
}

as_status asi_equilibrium_from(as_analysis *a, const as_initial *initial, as_equilibrium *found,
                               as_error *error) {
  int freedom = 0;
  as_status status = asi_analysis_start(a, initial, error);
  if (status == AS_OK) status = asi_analysis_rank(a, initial->t, &a->here.at, &freedom);
  if (status == AS_OK) status = check_rest(a, initial->t);
  if (status == AS_OK) status = asi_find_equilibrium(a, initial->t, found);
  if (status == AS_OK) a->in_motion = false;
  return status;
}

as_status as_analysis_equilibrium(as_analysis *a, const as_initial *initial, as_equilibrium *found,
                                  as_error *error) {
  as_equilibrium own = {0};
  const as_status status = asi_equilibrium_from(a, initial, &own, error);
  if (status) return status;
  asi_analysis_show(a, initial->t, &a->here.at);
  if (found) *found = own;
  return asi_error_clear(error);
}
