/// The descriptor form of a linear system, E z' = A z + B u, with all components, multipliers and outputs as unknowns.
///
/// [LI.12] z = (s, r, dx, u, u', dlambda, dpsi, dy), where s = T xi and r = T dv are seen in the axes of [LI.6]. At rest
///
///     s' = r
///     M r' = (f_q - (M v')_q) s + f_v r + f_lambda dlambda + ...
///     0 = B s,    0 = c_q s + k_v r  (nonholonomic rows),    dx' = ...,    dy = ...
///
/// in the rows kept. Along a motion the rows change: s' and r' of the neighbour do not stay in the tangent spaces as they are now. What the
/// dependent components differ by for that reason is added, zero in the free ones:
///
///     B d_s = B' xi - B T^T (w x s)
///     C d_r = c_q' xi + C' dv - C T^T (w x r) - c_q T^T (w x s + d_s)
///
///     s' = T (dv - [v, xi]) + w x s + d_s
///     T M T^T r' = T (... + M T^T (w x r + d_r)),    and v' likewise in rows of x and y
///
/// So the free components of z obey x' = A x + B u of the reduced system exactly, at rest and in motion.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"

typedef struct form {
  asi_linear *l;
  asi_linear_rows rows;
  as_descriptor out; ///< what is being made
  double *e, *a, *b;
  int x, inputs, multipliers, y; ///< where these begin
  int *row;                      ///< of constraints, as many as multipliers
  double *xi, *dv, *along, *wxi, *wdv, *residual, *work, *force;
} form;

static double *column_of(const form *f, double *m, int j) {
  return m + (size_t)j * (size_t)f->out.n;
}

static void add_rows(const form *f, const double *c, double factor, const double *x, double *out) {
  const int rows = f->l->rows;
  for (int j = 0; j < f->l->n; ++j)
    for (int i = 0; i < rows && x[j] != 0.0; ++i)
      out[i] += factor * c[(size_t)j * (size_t)rows + (size_t)i] * x[j];
}

static void add_block(const form *f, as_block block, double factor, const double *x, double *out) {
  const as_matrix *m = &f->l->s->kin.block[block];
  if (m->value && m->cols > 0) asi_matrix_multiply_add(m, factor, x, out);
}

/// out = T^T (w x seen)
static void turning(const form *f, const double *seen, double *out) {
  memset(out, 0, (size_t)f->l->n * sizeof *out);
  asi_axes_add_turning(&f->l->axes, seen, out);
  asi_axes_from(&f->l->axes, out);
}

/// Rows of f, phi and chi for increments xi and dv, and for an acceleration that is known; f->force is theirs in own axes.
static void fill_functions(const form *f, const double *xi, const double *dv,
                           const double *acceleration, double *a) {
  memset(f->force, 0, (size_t)f->l->n * sizeof *f->force);
  add_block(f, AS_BLOCK_F_Q, 1.0, xi, f->force);
  add_block(f, AS_BLOCK_MA_Q, -1.0, xi, f->force);
  add_block(f, AS_BLOCK_F_V, 1.0, dv, f->force);
  add_block(f, AS_BLOCK_M, -1.0, acceleration, f->force);
  asi_axes_to(&f->l->axes, f->force);
  for (int i = 0; i < f->l->n; ++i) a[f->l->n + i] += f->force[i];
  add_block(f, AS_BLOCK_PHI_Q, 1.0, xi, a + f->x);
  add_block(f, AS_BLOCK_PHI_V, 1.0, dv, a + f->x);
  add_block(f, AS_BLOCK_PHI_VDOT, 1.0, acceleration, a + f->x);
  add_block(f, AS_BLOCK_CHI_Q, 1.0, xi, a + f->y);
  add_block(f, AS_BLOCK_CHI_V, 1.0, dv, a + f->y);
  add_block(f, AS_BLOCK_CHI_VDOT, 1.0, acceleration, a + f->y);
}

/// The column of one component of s (`of_position`) or r.
static void fill_motion(const form *f, int j, bool of_position) {
  const asi_linear *l = f->l;
  const int n = l->n, m = l->s->kin.problem->def.n_lambda;
  const asi_linear_rows *c = &f->rows;
  double *a = column_of(f, f->a, of_position ? j : n + j);
  double *e = column_of(f, f->e, of_position ? j : n + j);
  const size_t all = (size_t)n * sizeof *f->xi;
  double *unit = f->work;
  memset(f->xi, 0, all);
  memset(f->dv, 0, all);
  memset(f->wxi, 0, all);
  memset(f->wdv, 0, all);
  memset(f->along, 0, all);
  memset(f->residual, 0, (size_t)l->rows * sizeof *f->residual);
  memset(unit, 0, all);
  unit[j] = 1.0;
  turning(f, unit, of_position ? f->wxi : f->wdv);
  memcpy(of_position ? f->xi : f->dv, unit, all);
  asi_axes_from(&l->axes, of_position ? f->xi : f->dv);
  if (of_position) { // s' without r, and d_s
    as_space_bracket(l->s->kin.problem->space, l->s->stepper.now.v, f->xi, f->force);
    asi_axes_to(&l->axes, f->force);
    for (int i = 0; i < n; ++i) a[i] -= f->force[i];
    asi_axes_add_turning(&l->axes, unit, a);
    add_rows(f, c->c_dot, 1.0, f->xi, f->residual);
    add_rows(f, c->c, -1.0, f->wxi, f->residual);
    asi_tangent_complete(&l->position, f->residual, f->along, f->work);
    for (int i = 0; i < n; ++i) a[i] += f->along[i];
    asi_axes_from(&l->axes, f->along);
    for (int i = 0; i < n; ++i) f->wxi[i] += f->along[i];
    e[j] = 1.0;
  } else {
    a[j] = 1.0;
  }
  memset(f->residual, 0, (size_t)l->rows * sizeof *f->residual);
  add_rows(f, c->c_q_dot, 1.0, f->xi, f->residual);
  add_rows(f, c->c_dot, 1.0, f->dv, f->residual);
  add_rows(f, c->c, -1.0, f->wdv, f->residual);
  add_rows(f, c->c_q, -1.0, f->wxi, f->residual);
  memset(f->along, 0, all);
  asi_tangent_complete(&l->velocity, f->residual, f->along, f->work);
  asi_axes_from(&l->axes, f->along);
  for (int i = 0; i < n; ++i) f->along[i] = -(f->along[i] + f->wdv[i]); // v' beyond T^T r'
  fill_functions(f, f->xi, f->dv, f->along, a);
  memset(f->residual, 0, (size_t)l->rows * sizeof *f->residual);
  add_rows(f, c->c_q, 1.0, f->xi, f->residual);
  add_rows(f, c->c, 1.0, f->dv, f->residual);
  const int rank = l->velocity.rank;
  for (int k = 0; k < rank; ++k) { // holonomic rows are those of positions
    const int row = f->row[k];
    double position = 0.0;
    for (int i = 0; i < n && row < m; ++i)
      position += asi_linear_entry(c->c, l->rows, row, i) * f->xi[i];
    a[f->multipliers + k] = row < m ? position : f->residual[row];
  }
  for (int k = 0; k < l->n_multipliers - rank; ++k)
    for (int i = 0; i < n; ++i)
      a[f->multipliers + rank + k] -= l->null_q[(size_t)k * (size_t)n + (size_t)i] * f->xi[i];
  if (of_position) return;
  memset(f->force, 0, all); // the part of r' in E
  add_block(f, AS_BLOCK_M, 1.0, f->dv, f->force);
  asi_axes_to(&l->axes, f->force);
  memcpy(e + n, f->force, all);
  add_block(f, AS_BLOCK_PHI_VDOT, -1.0, f->dv, e + f->x);
  add_block(f, AS_BLOCK_CHI_VDOT, -1.0, f->dv, e + f->y);
}

static void add_column(const as_matrix *m, int at, double factor, double *out) {
  for (int e = m->value ? m->col_start[at] : 0; m->value && e < m->col_start[at + 1]; ++e)
    out[m->row[e]] += factor * m->value[e];
}

/// The column of a component of x or y, or of a multiplier: what its blocks add to f, phi and chi.
static void fill_others(const form *f, int column, as_block by_f, as_block by_phi, as_block by_chi,
                        int at, const double *force) {
  const as_matrix *block = f->l->s->kin.block;
  double *a = column_of(f, f->a, column);
  memset(f->force, 0, (size_t)f->l->n * sizeof *f->force);
  if (force)
    for (int i = 0; i < f->l->n; ++i) f->force[i] = force[i];
  else
    add_column(&block[by_f], at, 1.0, f->force);
  asi_axes_to(&f->l->axes, f->force);
  for (int i = 0; i < f->l->n; ++i) a[f->l->n + i] += f->force[i];
  add_column(&block[by_phi], at, 1.0, a + f->x);
  add_column(&block[by_chi], at, 1.0, a + f->y);
}

static void fill_multipliers(const form *f) {
  const asi_linear *l = f->l;
  const as_problem *p = l->s->kin.problem;
  const int m = p->def.n_lambda, rank = l->velocity.rank;
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  for (int k = 0; k < l->n_multipliers; ++k) {
    const int row = l->multiplier[k], column = f->multipliers + k;
    for (int i = 0; i < l->n && additive; ++i)
      f->along[i] = -asi_linear_entry(f->rows.c, l->rows, row, i);
    if (row < m)
      fill_others(f, column, AS_BLOCK_F_LAMBDA, AS_BLOCK_PHI_LAMBDA, AS_BLOCK_CHI_LAMBDA, row,
                  additive ? f->along : NULL);
    else
      fill_others(f, column, AS_BLOCK_F_PSI, AS_BLOCK_PHI_PSI, AS_BLOCK_CHI_PSI, row - m,
                  additive ? f->along : NULL);
    for (int j = 0; j < l->n_multipliers - rank; ++j)
      column_of(f, f->a, column)[f->multipliers + rank + j] =
          l->null[(size_t)j * (size_t)l->rows + (size_t)row];
  }
}

/// Inputs, and the states of those that move constraints.
static void fill_inputs(const form *f) {
  const asi_linear *l = f->l;
  const int m = l->s->kin.problem->def.n_lambda;
  int at = f->inputs;
  for (int k = 0; k < l->out.n_inputs; ++k) {
    double *b = column_of(f, f->b, k);
    const double *from = l->input + (size_t)k * (size_t)(l->n + l->nx + l->ny);
    memcpy(f->force, from, (size_t)l->n * sizeof *from);
    asi_axes_to(&l->axes, f->force);
    memcpy(b + l->n, f->force, (size_t)l->n * sizeof *from);
    for (int i = 0; i < l->nx; ++i) b[f->x + i] = from[l->n + i];
    for (int i = 0; i < l->ny; ++i) b[f->y + i] = from[l->n + l->nx + i];
    if (!l->driving[k]) continue;
    for (int i = 0; i < l->velocity.rank; ++i)
      if (f->row[i] < m)
        column_of(f, f->a, at)[f->multipliers + i] =
            l->moves[(size_t)k * (size_t)m + (size_t)f->row[i]];
    column_of(f, f->e, at)[at] = column_of(f, f->e, at + 1)[at + 1] = 1.0;
    column_of(f, f->a, at + 1)[at] = 1.0;
    b[at + 1] = 1.0;
    at += 2;
  }
}

static void fill(const form *f) {
  const asi_linear *l = f->l;
  for (int j = 0; j < l->n; ++j) fill_motion(f, j, true);
  for (int j = 0; j < l->n; ++j) fill_motion(f, j, false);
  for (int j = 0; j < l->nx; ++j) {
    fill_others(f, f->x + j, AS_BLOCK_F_X, AS_BLOCK_PHI_X, AS_BLOCK_CHI_X, j, NULL);
    column_of(f, f->e, f->x + j)[f->x + j] = 1.0;
  }
  for (int j = 0; j < l->ny; ++j) {
    fill_others(f, f->y + j, AS_BLOCK_F_Y, AS_BLOCK_PHI_Y, AS_BLOCK_CHI_Y, j, NULL);
    column_of(f, f->a, f->y + j)[f->y + j] -= 1.0;
  }
  fill_multipliers(f);
  fill_inputs(f);
}

/// Takes out of a row what lies in those before it, twice; returns the length that is left.
static double take_out(const double *basis, int count, int n, double *row) {
  double square = 0.0;
  for (int k = 0; k < 2 * count; ++k) {
    const double *of = basis + (size_t)(k % count) * (size_t)n;
    double product = 0.0;
    for (int i = 0; i < n; ++i) product += of[i] * row[i];
    for (int i = 0; i < n; ++i) row[i] -= product * of[i];
  }
  for (int i = 0; i < n; ++i) square += row[i] * row[i];
  return sqrt(square);
}

/// Rows of positions that are kept, then as many nonholonomic ones as velocities need: each time the one of which most is left.
static as_status choose_rows(const form *f, as_error *error) {
  const asi_linear *l = f->l;
  const int n = l->n, m = l->s->kin.problem->def.n_lambda, rank = l->velocity.rank;
  memcpy(f->row, l->position.row, (size_t)l->position.rank * sizeof *f->row);
  if (m == l->rows) return AS_OK;
  double *basis = asi_calloc((size_t)(rank + 1) * (size_t)n, sizeof *basis);
  double *row = basis ? basis + (size_t)rank * (size_t)n : NULL;
  if (basis == NULL) return asi_fail_memory(error);
  for (int k = 0; k < rank; ++k) {
    double most = -1.0;
    const int first = k < l->position.rank ? f->row[k] : m;
    const int end = k < l->position.rank ? first + 1 : l->rows;
    for (int i = first; i < end; ++i) {
      double length = 0.0;
      for (int j = 0; j < n; ++j) {
        row[j] = asi_linear_entry(f->rows.c, l->rows, i, j) * l->s->kin.problem->typical[j];
        length += row[j] * row[j];
      }
      const double left = take_out(basis, k, n, row), share = left / sqrt(length);
      if (!(share > most)) continue;
      most = share;
      f->row[k] = i;
      for (int j = 0; j < n; ++j) basis[(size_t)k * (size_t)n + (size_t)j] = row[j] / left;
    }
  }
  free(basis);
  return AS_OK;
}

static void name_unknowns(const form *f, as_linear_state *unknown, int *place) {
  const asi_linear *l = f->l;
  const int m = l->s->kin.problem->def.n_lambda;
  for (int j = 0; j < l->n; ++j) {
    unknown[j] = (as_linear_state){AS_LINEAR_POSITION, j};
    unknown[l->n + j] = (as_linear_state){AS_LINEAR_VELOCITY, j};
  }
  for (int j = 0; j < l->nx; ++j) unknown[f->x + j] = (as_linear_state){AS_LINEAR_STATE, j};
  for (int k = 0, at = f->inputs; k < l->out.n_inputs; ++k) {
    if (!l->driving[k]) continue;
    unknown[at++] = (as_linear_state){AS_LINEAR_INPUT, k};
    unknown[at++] = (as_linear_state){AS_LINEAR_RATE, k};
  }
  for (int k = 0; k < l->n_multipliers; ++k) {
    const int row = l->multiplier[k];
    unknown[f->multipliers + k] = row < m ? (as_linear_state){AS_LINEAR_LAMBDA, row}
                                          : (as_linear_state){AS_LINEAR_PSI, row - m};
  }
  for (int j = 0; j < l->ny; ++j) unknown[f->y + j] = (as_linear_state){AS_LINEAR_OUTPUT, j};
  for (int i = 0; i < l->out.n_states; ++i)
    for (int j = 0; j < f->out.n; ++j)
      if (unknown[j].kind == l->state[i].kind && unknown[j].index == l->state[i].index)
        place[i] = j;
}

static as_status make(form *f, as_error *error) {
  asi_linear *l = f->l;
  as_integrator *s = l->s;
  const as_point point = asi_linear_point(l);
  const size_t size = (size_t)l->rows * (size_t)l->n, n = (size_t)l->n;
  double *store = asi_calloc(4 * size + 7 * n + 2 * (size_t)l->rows + 2, sizeof *store);
  if (store == NULL) return asi_fail_memory(error);
  f->rows = (asi_linear_rows){store, store + size, store + 2 * size, store + 3 * size};
  double **const line[] = {&f->xi, &f->dv, &f->along, &f->wxi, &f->wdv, &f->force, &f->work};
  double *next = store + 4 * size;
  for (size_t i = 0; i < sizeof line / sizeof line[0]; ++i, next += n) *line[i] = next;
  f->residual = next + l->rows; // work is as long as n and as many rows
  s->kin.eval.error = error;
  asi_rows_update(&s->kin, true);
  as_status status = asi_linear_fill_rows(l, &f->rows);
  if (status == AS_OK) status = choose_rows(f, error);
  if (status == AS_OK) status = asi_blocks(&s->kin, &point, s->kin.problem->present);
  if (status == AS_OK) fill(f);
  asi_rows_update(&s->kin, false);
  s->kin.eval.error = NULL;
  free(store);
  return status;
}

as_status as_descriptor_create(as_linearization *linearization, as_descriptor **out,
                               as_error *error) {
  if (linearization == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_descriptor_create needs a linearization and a place for the result.");
  *out = NULL;
  asi_linear *l = linearization->inside;
  form f = {.l = l, .x = 2 * l->n};
  f.inputs = f.x + l->nx;
  f.multipliers = f.inputs + 2 * l->n_driving;
  f.y = f.multipliers + l->n_multipliers;
  f.out.n = f.y + l->ny;
  f.out.n_inputs = l->out.n_inputs;
  f.out.n_multipliers = l->n_multipliers;
  const size_t n = (size_t)f.out.n;
  as_linear_state *unknown = asi_calloc(n + 1, sizeof *unknown);
  int *place = asi_calloc((size_t)l->out.n_states + 1, sizeof *place);
  f.row = asi_calloc((size_t)l->rows + 1, sizeof *f.row);
  f.e = asi_calloc(n * n + 1, sizeof *f.e);
  f.a = asi_calloc(n * n + 1, sizeof *f.a);
  f.b = asi_calloc(n * (size_t)f.out.n_inputs + 1, sizeof *f.b);
  as_descriptor *d = asi_calloc(1, sizeof *d);
  as_status status = AS_OK;
  if (!unknown || !place || !f.row || !f.e || !f.a || !f.b || !d) status = asi_fail_memory(error);
  if (status == AS_OK) status = make(&f, error);
  if (status == AS_OK) name_unknowns(&f, unknown, place);
  free(f.row);
  f.out.unknown = unknown;
  f.out.place = place;
  f.out.e = f.e;
  f.out.a = f.a;
  f.out.b = f.b;
  if (d) *d = f.out;
  if (status == AS_OK) {
    *out = d;
    return AS_OK;
  }
  free(unknown);
  free(place);
  free(f.e);
  free(f.a);
  free(f.b);
  free(d);
  return status;
}

void as_descriptor_destroy(as_descriptor *d) {
  if (d == NULL) return;
  free((void *)(size_t)d->unknown);
  free((void *)(size_t)d->place);
  free((void *)(size_t)d->e);
  free((void *)(size_t)d->a);
  free((void *)(size_t)d->b);
  free(d);
}
