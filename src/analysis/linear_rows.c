/// The constraint rows about a state: their derivatives along the motion [LI.3], the tangent spaces of positions and velocities [LI.4],
/// and singular positions [LI.5].
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"
#include "lie/space.h"

// Derivatives along the motion: differences of four points, this many times asi_time_increment() apart.
#define ALONG 1.0
// Rotations are rather free than positions, spinning bodies rather dependent: weights of components.
#define POSITION_WEIGHT 4.0
#define SPIN_WEIGHT 16.0
// Components of v that follow in positions should follow in velocities, too.
#define FOLLOWS_WEIGHT 100.0
// Rows that others imply here, but not close by.
#define SINGULAR_LIMIT 1e-6

void asi_linear_add_dense(const as_matrix *m, double factor, double *out, int rows, int first) {
  for (int j = 0; m->value && j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      out[(size_t)j * (size_t)rows + (size_t)(first + m->row[k])] += factor * m->value[k];
}

static const as_block_set row_blocks =
    1u << AS_BLOCK_G_Q | 1u << AS_BLOCK_GDOT_Q | 1u << AS_BLOCK_K_Q | 1u << AS_BLOCK_K_V;

static void add_rows(const asi_linear *l, double factor, double *c, double *c_q) {
  const as_matrix *block = l->s->kin.block;
  const int psi = l->s->kin.problem->def.n_lambda;
  if (c) asi_linear_add_dense(&block[AS_BLOCK_G_Q], factor, c, l->rows, 0);
  if (c) asi_linear_add_dense(&block[AS_BLOCK_K_V], factor, c, l->rows, psi);
  asi_linear_add_dense(&block[AS_BLOCK_GDOT_Q], factor, c_q, l->rows, 0);
  asi_linear_add_dense(&block[AS_BLOCK_K_Q], factor, c_q, l->rows, psi);
}

bool asi_linear_is_zero(const double *x, int n) {
  for (int i = 0; i < n; ++i)
    if (x[i] != 0.0) return false;
  return true;
}

/// [LI.3] The rows' derivatives along the motion, over q o exp(e v + e^2 v' / 2), v + e v', t + e.
static as_status differentiate_rows(asi_linear *l, asi_linear_rows *r) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double place[] = {2.0, -2.0, 1.0, -1.0};
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const double *v = s->stepper.now.v, *vdot = s->stepper.now.vdot;
  if (p->def.scleronomic && asi_linear_is_zero(v, l->n) && asi_linear_is_zero(vdot, l->n))
    return AS_OK;
  const double e = ALONG * asi_time_increment(&s->kin.eval, v);
  as_point point = asi_linear_point(l);
  point.q = l->moved.q;
  point.v = l->moved.v;
  for (int k = 0; k < 4; ++k) {
    const double h = place[k] * e;
    for (int i = 0; i < l->n; ++i) l->moved.a[i] = h * v[i] + 0.5 * h * h * vdot[i];
    as_space_move(p->space, s->stepper.now.q, l->moved.a, l->moved.q);
    for (int i = 0; i < l->n; ++i) l->moved.v[i] = v[i] + h * vdot[i];
    point.t = s->stepper.t + h;
    const as_status status = asi_blocks(&s->kin, &point, row_blocks);
    if (status) return status;
    add_rows(l, weight[k] / e, r->c_dot, r->c_q_dot);
  }
  return AS_OK;
}

as_status asi_linear_fill_rows(asi_linear *l, asi_linear_rows *r) {
  const as_point point = asi_linear_point(l);
  as_status status = differentiate_rows(l, r);
  if (status == AS_OK) status = asi_blocks(&l->s->kin, &point, row_blocks);
  if (status == AS_OK) add_rows(l, 1.0, r->c, r->c_q);
  return status;
}

/// What components weigh where some are chosen to follow.
static void weigh(const asi_linear *l, double *weight) {
  const as_problem *p = l->s->kin.problem;
  const as_space *space = p->space;
  for (int i = 0; i < l->n; ++i) weight[i] = p->typical[i];
  int at = 0;
  for (int part = 0; part < space->n_parts; ++part) {
    const as_space_kind kind = space->parts[part].kind;
    const int ahead = kind == AS_SPACE_SO3 ? 0 : 3;
    for (int i = 0; i < space->parts[part].count; ++i) {
      if (kind == AS_SPACE_RN) {
        ++at;
        continue;
      }
      const bool spins = !asi_linear_is_zero(l->s->stepper.now.v + at + ahead, 3);
      for (int k = 0; k < ahead; ++k) weight[at + k] *= POSITION_WEIGHT;
      for (int k = ahead; k < ahead + 3; ++k) weight[at + k] *= spins ? SPIN_WEIGHT : 1.0;
      at += ahead + 3;
    }
  }
}

/// Rows by columns in the axes that are wanted: c T^T, row by row.
static void rows_in_axes(const asi_linear *l, const double *c, double *out) {
  memcpy(out, c, (size_t)l->rows * (size_t)l->n * sizeof *out);
  for (int i = 0; l->axes.n_turned > 0 && i < l->rows; ++i) {
    double *row = l->moved.a;
    for (int j = 0; j < l->n; ++j) row[j] = c[(size_t)j * (size_t)l->rows + (size_t)i];
    asi_axes_to(&l->axes, row);
    for (int j = 0; j < l->n; ++j) out[(size_t)j * (size_t)l->rows + (size_t)i] = row[j];
  }
}

as_status asi_linear_find_tangents(asi_linear *l, const double *c, const asi_linear *like) {
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const size_t size = (size_t)l->rows * (size_t)l->n;
  const int m = p->def.n_lambda;
  double *seen = asi_calloc(size + 1, sizeof *seen), *upper = asi_calloc(size + 1, sizeof *upper);
  double *weight = asi_calloc((size_t)l->n + 1, sizeof *weight);
  as_status status = seen && upper && weight ? AS_OK : asi_fail_memory(s->kin.eval.error);
  if (status == AS_OK) {
    rows_in_axes(l, c, seen);
    for (int j = 0; j < l->n; ++j)
      memcpy(upper + (size_t)j * (size_t)m, seen + (size_t)j * (size_t)l->rows,
             (size_t)m * sizeof *upper);
  }
  if (status == AS_OK && like) {
    if (asi_tangent_copy(&l->position, &like->position) ||
        asi_tangent_copy(&l->velocity, &like->velocity))
      status = asi_fail_memory(s->kin.eval.error);
    if (status == AS_OK) status = asi_tangent_update(&l->position, upper, m);
    if (status == AS_OK) status = asi_tangent_update(&l->velocity, seen, l->rows);
  } else if (status == AS_OK) {
    const int rank = l->rows - s->kin.eval.n_inactive - s->kin.redundancy.n_redundant;
    const double limit = fmax(s->kin.redundancy.limit, ASI_REDUNDANT);
    weigh(l, weight);
    status = asi_tangent_init(&l->position, upper, m, l->n, weight, limit,
                              p->def.n_psi == 0 && m > 0 ? rank : -1, s->kin.eval.error);
    for (int k = 0; status == AS_OK && k < l->position.rank; ++k)
      weight[l->position.order[k]] *= FOLLOWS_WEIGHT;
    if (status == AS_OK)
      status = asi_tangent_init(&l->velocity, seen, l->rows, l->n, weight, limit,
                                l->rows > 0 ? rank : -1, s->kin.eval.error);
  }
  free(seen);
  free(upper);
  free(weight);
  return status;
}

// ---- singular positions -----------------------------------------------------------------------------

double asi_linear_entry(const double *c, int rows, int row, int component) {
  return c[(size_t)component * (size_t)rows + (size_t)row];
}

void asi_linear_share(const asi_linear *l, const double *c, int row, double *share) {
  const asi_tangent *t = &l->velocity;
  const int r = t->rank, one = 1;
  int info = 0;
  double *seen = l->moved.a;
  for (int j = 0; j < l->n; ++j) seen[j] = asi_linear_entry(c, l->rows, row, j);
  asi_axes_to(&l->axes, seen);
  for (int k = 0; k < r; ++k) share[k] = seen[t->order[k]];
  if (r > 0) dgetrs_("T", &r, &one, t->factor, &r, t->pivot, share, &r, &info, 1);
}

/// [LI.5] A row that the kept ones imply, C_r = s^T C, must do so close by: s^T D_q (C w) z = D_q (C_r w) z for tangent w and z.
static as_status check_implied(asi_linear *l, const double *c, double *bend, double *factor,
                               double *z) {
  as_integrator *s = l->s;
  const asi_tangent *t = &l->velocity;
  const int r = t->rank;
  for (int row = 0; row < l->rows; ++row) {
    bool kept = s->kin.eval.inactive[row];
    for (int k = 0; k < r; ++k) kept = kept || t->row[k] == row;
    if (kept) continue;
    double *share = factor;
    asi_linear_share(l, c, row, share);
    for (int column = 0; column < 2; ++column) { // two tangent directions that differ everywhere
      double sum = 0.0, size = 0.0;
      for (int j = 0; j < l->n; ++j) z[j] = 0.0;
      for (int j = r; j < l->n; ++j)
        z[t->order[j]] = s->kin.problem->typical[t->order[j]] * cos(1.7 * j + column);
      asi_tangent_complete(t, NULL, z, l->moved.v);
      asi_axes_from(&l->axes, z);
      for (int j = 0; j < l->n; ++j) // what the row itself makes of typical sizes
        size += fabs(asi_linear_entry(c, l->rows, row, j)) * s->kin.problem->typical[j];
      for (int k = -1; k < r; ++k) {
        const int at = k < 0 ? row : t->row[k];
        const double factor_k = k < 0 ? -1.0 : share[k];
        for (int j = 0; j < l->n; ++j) {
          const double product = factor_k * asi_linear_entry(bend, l->rows, at, j) * z[j];
          sum += product;
          size += fabs(product);
        }
      }
      if (fabs(sum) <= SINGULAR_LIMIT * size) continue;
      char name[64];
      const int m = s->kin.problem->def.n_lambda;
      asi_component_name(s->kin.problem, row < m ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                         row < m ? row : row - m, name, sizeof name);
      return asi_fail(s->kin.eval.error, AS_ERR_SINGULAR, s->stepper.t, name,
                      "The position at t = %.9g s is singular: here %s is implied by other "
                      "constraints, but not close by, so there is no linear motion about it.",
                      s->stepper.t, name);
    }
  }
  return AS_OK;
}

as_status asi_linear_bend(asi_linear *l, const double *w, double *bend) {
  as_point point = asi_linear_point(l);
  double *still = asi_calloc((size_t)l->n, sizeof *still);
  as_status status = still ? AS_OK : asi_fail_memory(l->s->kin.eval.error);
  for (int k = 0; k < 2 && status == AS_OK; ++k) {
    point.v = k == 0 ? w : still;
    status = asi_blocks(&l->s->kin, &point, row_blocks);
    if (status == AS_OK) add_rows(l, k == 0 ? 1.0 : -1.0, NULL, bend);
  }
  free(still);
  return status;
}

as_status asi_linear_check_singular(asi_linear *l, const double *c) {
  as_integrator *s = l->s;
  const asi_tangent *t = &l->velocity;
  if (t->rank + s->kin.eval.n_inactive >= l->rows || t->rank == l->n) return AS_OK;
  const size_t n = (size_t)l->n, rows = (size_t)l->rows;
  double *bend = asi_calloc(rows * n, sizeof *bend), *factor = asi_calloc(rows + n, sizeof *factor);
  double *z = asi_calloc(n, sizeof *z);
  as_status status = bend && factor && z ? AS_OK : asi_fail_memory(s->kin.eval.error);
  if (status == AS_OK) {
    double *w = factor; // scratch here
    for (int j = t->rank; j < l->n; ++j)
      w[t->order[j]] = s->kin.problem->typical[t->order[j]] * sin(2.3 * j + 1.0);
    asi_tangent_complete(t, NULL, w, l->moved.v);
    asi_axes_from(&l->axes, w);
    status = asi_linear_bend(l, w, bend);
  }
  if (status == AS_OK) status = check_implied(l, c, bend, factor, z);
  free(bend);
  free(factor);
  free(z);
  return status;
}
