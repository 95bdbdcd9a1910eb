/// Forces that depend on the multipliers of redundant rows, as friction in redundant joints does: they are given those of least norm [RE.7].
///
/// [LI.11] With C = [B; k_v], a basis N of the null space of C^T and the weights w, lambda is of least norm where N^T w lambda = 0, which is
/// where w lambda = C z for some z. The neighbour's is so too, with its own null space: C^T dN = -(dC)^T N, and
///
///     N^T w dlambda = -dN^T w lambda = -dN^T C z = N^T (dC z),    dC z = D_q (C z) xi
///
/// These rows stand beside those that are kept, and all multipliers are unknowns.
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"

/// A null vector of C^T: 1 in a row that others imply, minus its shares in the rows kept.
static void find_null_vector(const asi_linear *l, const double *c, int row, double *null,
                             double *share) {
  const asi_tangent *t = &l->velocity;
  asi_linear_share(l, c, row, share);
  memset(null, 0, (size_t)l->rows * sizeof *null);
  for (int k = 0; k < t->rank; ++k) null[t->row[k]] = -share[k];
  null[row] = 1.0;
}

/// z with C z = w lambda.
static void find_motion(const asi_linear *l, double *z, double *weighted, double *work) {
  const int m = l->s->kin.problem->def.n_lambda;
  const double *w = l->s->kin.redundancy.norm_weight;
  for (int i = 0; i < l->rows; ++i) weighted[i] = w[i] * (i < m ? l->lambda[i] : l->psi[i - m]);
  memset(z, 0, (size_t)l->n * sizeof *z);
  asi_tangent_complete(&l->velocity, weighted, z, work);
  asi_axes_from(&l->axes, z);
}

static void list_multipliers(asi_linear *l) {
  const asi_tangent *t = &l->velocity;
  memcpy(l->multiplier, t->row, (size_t)t->rank * sizeof *l->multiplier);
  l->n_multipliers = t->rank;
  for (int row = 0; row < l->rows && l->sees; ++row) {
    bool known = l->s->kin.eval.inactive[row];
    for (int k = 0; k < t->rank; ++k) known = known || t->row[k] == row;
    if (!known) l->multiplier[l->n_multipliers++] = row;
  }
}

as_status asi_linear_find_sharing(asi_linear *l, const double *c) {
  const size_t n = (size_t)l->n, rows = (size_t)l->rows;
  l->multiplier = asi_calloc(rows + 1, sizeof *l->multiplier);
  if (l->multiplier == NULL) return asi_fail_memory(l->s->kin.eval.error);
  list_multipliers(l);
  const int kept = l->velocity.rank;
  const size_t shared = (size_t)(l->n_multipliers - kept);
  if (shared == 0) return AS_OK;
  double *bend = asi_calloc(rows * n + 2 * rows + 2 * n, sizeof *bend);
  l->null = asi_calloc(shared * rows, sizeof *l->null);
  l->null_q = asi_calloc(shared * n, sizeof *l->null_q);
  if (bend == NULL || l->null == NULL || l->null_q == NULL) {
    free(bend);
    return asi_fail_memory(l->s->kin.eval.error);
  }
  double *z = bend + rows * n, *work = z + n, *weighted = work + rows;
  find_motion(l, z, weighted, work);
  const as_status status = asi_linear_bend(l, z, bend);
  for (size_t k = 0; k < shared && status == AS_OK; ++k) {
    double *null = l->null + k * rows, *along = l->null_q + k * n;
    find_null_vector(l, c, l->multiplier[(size_t)kept + k], null, work);
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < rows; ++i) along[j] += null[i] * bend[j * rows + i];
    for (size_t i = 0; i < rows; ++i) null[i] *= l->s->kin.redundancy.norm_weight[i];
  }
  free(bend);
  return status;
}
