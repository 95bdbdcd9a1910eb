/// The columns of a linear system, [LI.1] to [LI.4]: each free component and each input is set to one, completed by the constraints, and
/// gives dv', dlambda, dpsi, dx' and dy by one dense factorization.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"

// Entries of A below this many times their round-off are zero.
#define NOISE 4.0

asi_linear_column asi_linear_column_at(const asi_linear *l, int j) {
  double *at = l->full + (size_t)j * (size_t)l->height;
  return (asi_linear_column){.xi = at,
                             .dv = at + l->n,
                             .dvdot = at + 2 * l->n,
                             .multiplier = at + 3 * l->n,
                             .dx = at + 3 * l->n + l->rows,
                             .dxdot = at + 3 * l->n + l->rows + l->nx,
                             .dy = at + 3 * l->n + l->rows + 2 * l->nx};
}

static void multiply_dense(const double *c, int rows, int cols, double factor, const double *x,
                           double *out) {
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows && x[j] != 0.0; ++i)
      out[i] += factor * c[(size_t)j * (size_t)rows + (size_t)i] * x[j];
}

static void multiply(const asi_linear *l, as_block block, double factor, const double *x,
                     double *out) {
  const as_matrix *m = &l->s->kin.block[block];
  if (m->value && m->cols > 0) asi_matrix_multiply_add(m, factor, x, out);
}

/// [LI.4] xi, dv and dx of a state.
static void complete(const asi_linear *l, const asi_linear_rows *r, int j, double *work) {
  const asi_linear_column to = asi_linear_column_at(l, j);
  const as_linear_state state = l->state[j];
  const int m = l->s->kin.problem->def.n_lambda;
  double *rate = work + l->rows;
  if (state.kind == AS_LINEAR_STATE) {
    to.dx[state.index] = 1.0;
    return;
  }
  memset(rate, 0, (size_t)l->rows * sizeof *rate);
  if (state.kind == AS_LINEAR_INPUT || state.kind == AS_LINEAR_RATE)
    for (int i = 0; i < m; ++i) rate[i] = -l->moves[(size_t)state.index * (size_t)m + (size_t)i];
  if (state.kind == AS_LINEAR_POSITION) to.xi[state.index] = 1.0;
  if (state.kind == AS_LINEAR_VELOCITY) to.dv[state.index] = 1.0;
  if (state.kind == AS_LINEAR_POSITION || state.kind == AS_LINEAR_INPUT) {
    asi_tangent_complete(&l->position, rate, to.xi, work);
    asi_axes_from(&l->axes, to.xi);
    memset(rate, 0, (size_t)l->rows * sizeof *rate);
  }
  multiply_dense(r->c_q, l->rows, l->n, -1.0, to.xi, rate);
  asi_tangent_complete(&l->velocity, rate, to.dv, work);
  asi_axes_from(&l->axes, to.dv);
}

/// [LI.1]
static void position_rate(const asi_linear *l, const asi_linear_column *of, double *out) {
  as_space_bracket(l->s->kin.problem->space, l->s->stepper.now.v, of->xi, out);
  for (int i = 0; i < l->n; ++i) out[i] = of->dv[i] - out[i];
}

/// Right sides of [LI.2], [LI.3] and [LI.11] for dv', multipliers, dy.
static void right_side(const asi_linear *l, const asi_linear_rows *r, int j, double *out,
                       double *work) {
  const asi_linear_column of = asi_linear_column_at(l, j);
  const int n = l->n, rank = l->velocity.rank;
  double *rate = work, *rows = work + n, *y = out + n + l->n_multipliers;
  multiply(l, AS_BLOCK_F_Q, 1.0, of.xi, out);
  multiply(l, AS_BLOCK_MA_Q, -1.0, of.xi, out);
  multiply(l, AS_BLOCK_F_V, 1.0, of.dv, out);
  multiply(l, AS_BLOCK_F_X, 1.0, of.dx, out);
  multiply(l, AS_BLOCK_CHI_Q, 1.0, of.xi, y);
  multiply(l, AS_BLOCK_CHI_V, 1.0, of.dv, y);
  multiply(l, AS_BLOCK_CHI_X, 1.0, of.dx, y);
  position_rate(l, &of, rate);
  memset(rows, 0, (size_t)l->rows * sizeof *rows);
  multiply_dense(r->c_q_dot, l->rows, n, -1.0, of.xi, rows);
  multiply_dense(r->c_q, l->rows, n, -1.0, rate, rows);
  multiply_dense(r->c_dot, l->rows, n, -1.0, of.dv, rows);
  const int input = j - l->out.n_states, m = l->s->kin.problem->def.n_lambda;
  for (int i = 0; i < m && input >= 0; ++i)
    rows[i] -= l->moves[(size_t)input * (size_t)m + (size_t)i];
  for (int k = 0; k < rank; ++k) out[n + k] = rows[l->velocity.row[k]];
  for (int k = 0; k < l->n_multipliers - rank; ++k)
    for (int i = 0; i < n; ++i)
      out[n + rank + k] += l->null_q[(size_t)k * (size_t)n + (size_t)i] * of.xi[i];
  if (input < 0) return;
  const double *from = l->input + (size_t)input * (size_t)(n + l->nx + l->ny);
  for (int i = 0; i < n; ++i) out[i] += from[i];
  for (int i = 0; i < l->ny; ++i) y[i] += from[n + l->nx + i];
}

static void add_column(const as_matrix *m, int at, double factor, double *out) {
  for (int e = m->value ? m->col_start[at] : 0; m->value && e < m->col_start[at + 1]; ++e)
    out[m->row[e]] += factor * m->value[e];
}

/// The matrix of [LI.2], [LI.3] and [LI.11].
static void fill_matrix(const asi_linear *l, const asi_linear_rows *r, double *k, int size) {
  const as_problem *p = l->s->kin.problem;
  const as_matrix *block = l->s->kin.block;
  const int n = l->n, rank = l->velocity.rank, m = p->def.n_lambda, y = n + l->n_multipliers;
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  const size_t high = (size_t)size;
  asi_linear_add_dense(&block[AS_BLOCK_M], 1.0, k, size, 0);
  for (int i = 0; i < l->n_multipliers; ++i) {
    const int row = l->multiplier[i], at = row < m ? row : row - m;
    double *column = k + (size_t)(n + i) * high;
    for (int j = 0; j < n; ++j) {
      const double x = asi_linear_entry(r->c, l->rows, row, j);
      if (i < rank) k[(size_t)j * high + (size_t)(n + i)] = x;
      if (additive) column[j] = x;
    }
    if (!additive)
      add_column(&block[row < m ? AS_BLOCK_F_LAMBDA : AS_BLOCK_F_PSI], at, -1.0, column);
    add_column(&block[row < m ? AS_BLOCK_CHI_LAMBDA : AS_BLOCK_CHI_PSI], at, -1.0, column + y);
    for (int j = 0; j < l->n_multipliers - rank; ++j)
      column[n + rank + j] = l->null[(size_t)j * (size_t)l->rows + (size_t)row];
  }
  if (l->ny == 0) return;
  asi_linear_add_dense(&block[AS_BLOCK_F_Y], -1.0, k + (size_t)y * high, size, 0);
  asi_linear_add_dense(&block[AS_BLOCK_CHI_VDOT], -1.0, k, size, y);
  asi_linear_add_dense(&block[AS_BLOCK_CHI_Y], -1.0, k + (size_t)y * high, size, y);
  for (int i = 0; i < l->ny; ++i) k[(size_t)(y + i) * high + (size_t)(y + i)] += 1.0;
}

static void state_rate(const asi_linear *l, int j) {
  const asi_linear_column of = asi_linear_column_at(l, j);
  const int m = l->s->kin.problem->def.n_lambda;
  multiply(l, AS_BLOCK_PHI_Q, 1.0, of.xi, of.dxdot);
  multiply(l, AS_BLOCK_PHI_V, 1.0, of.dv, of.dxdot);
  multiply(l, AS_BLOCK_PHI_VDOT, 1.0, of.dvdot, of.dxdot);
  multiply(l, AS_BLOCK_PHI_LAMBDA, 1.0, of.multiplier, of.dxdot);
  multiply(l, AS_BLOCK_PHI_PSI, 1.0, of.multiplier + m, of.dxdot);
  multiply(l, AS_BLOCK_PHI_X, 1.0, of.dx, of.dxdot);
  multiply(l, AS_BLOCK_PHI_Y, 1.0, of.dy, of.dxdot);
  const int input = j - l->out.n_states;
  if (input < 0) return;
  const double *from = l->input + (size_t)input * (size_t)(l->n + l->nx + l->ny) + l->n;
  for (int i = 0; i < l->nx; ++i) of.dxdot[i] += from[i];
}

/// [LI.6] The rates of the states that a column makes.
static void read_rates(const asi_linear *l, int j, double *out, double *work) {
  const asi_linear_column of = asi_linear_column_at(l, j);
  double *rate = work, *acceleration = work + l->n, *seen = work + 2 * l->n;
  position_rate(l, &of, rate);
  memcpy(acceleration, of.dvdot, (size_t)l->n * sizeof *acceleration);
  asi_axes_to(&l->axes, rate);
  asi_axes_to(&l->axes, acceleration);
  memcpy(seen, of.xi, (size_t)l->n * sizeof *seen);
  asi_axes_to(&l->axes, seen);
  asi_axes_add_turning(&l->axes, seen, rate);
  memcpy(seen, of.dv, (size_t)l->n * sizeof *seen);
  asi_axes_to(&l->axes, seen);
  asi_axes_add_turning(&l->axes, seen, acceleration);
  const int input = j - l->out.n_states;
  for (int i = 0; i < l->out.n_states; ++i) {
    const as_linear_state state = l->state[i];
    switch (state.kind) {
    case AS_LINEAR_POSITION: out[i] = rate[state.index]; break;
    case AS_LINEAR_VELOCITY: out[i] = acceleration[state.index]; break;
    case AS_LINEAR_STATE: out[i] = of.dxdot[state.index]; break;
    case AS_LINEAR_INPUT:
      out[i] = input < 0 && l->state[j].kind == AS_LINEAR_RATE && l->state[j].index == state.index;
      break;
    case AS_LINEAR_RATE: out[i] = input == state.index; break;
    case AS_LINEAR_LAMBDA:
    case AS_LINEAR_PSI:
    case AS_LINEAR_OUTPUT: break; // no states
    }
  }
}

/// The size of increments, in typical ones.
static double size_of(const asi_linear *l, const double *x) {
  const double *typical = l->s->kin.problem->typical;
  double most = 0.0;
  for (int j = 0; j < l->n; ++j) most = fmax(most, fabs(x[j]) / typical[j]);
  return most;
}

/// What round-off is measured by: all entries of rows, as if they had the same sign, for increments of typical size.
typedef struct noise {
  double *by_xi,
      *by_dv; ///< n + rank: of forces, then of derivatives of rows along the motion, which are differences
  double *xi, *dv; ///< n_states: how large the increments of each column are
  double *y;       ///< size
  double speed, rate;
} noise;

static void add_forces(const asi_linear *l, as_block block, double *out) {
  const as_matrix *m = &l->s->kin.block[block];
  const double *typical = l->s->kin.problem->typical;
  for (int j = 0; m->value && j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      out[m->row[k]] += fabs(m->value[k]) * typical[j];
}

static void add_row_sizes(const asi_linear *l, const double *c, double factor, double *out) {
  const double *typical = l->s->kin.problem->typical;
  for (int j = 0; j < l->n; ++j)
    for (int k = 0; k < l->velocity.rank && factor > 0.0; ++k)
      out[l->n + k] +=
          factor * typical[j] * fabs(asi_linear_entry(c, l->rows, l->velocity.row[k], j));
}

static void measure_noise(const asi_linear *l, const asi_linear_rows *r, noise *x) {
  const double *v = l->s->stepper.now.v;
  add_forces(l, AS_BLOCK_F_Q, x->by_xi);
  add_forces(l, AS_BLOCK_MA_Q, x->by_xi);
  add_forces(l, AS_BLOCK_F_V, x->by_dv);
  x->speed = size_of(l, v);
  x->rate = x->speed > 0.0 ? 1.0 / asi_time_increment(&l->s->kin.eval, v) : 0.0;
  add_row_sizes(l, r->c, x->rate, x->by_dv);
  add_row_sizes(l, r->c, x->rate * x->speed, x->by_xi);
  add_row_sizes(l, r->c_q, x->rate, x->by_xi);
  for (int j = 0; j < l->out.n_states; ++j) {
    const asi_linear_column of = asi_linear_column_at(l, j);
    x->xi[j] = size_of(l, of.xi);
    x->dv[j] = size_of(l, of.dv);
  }
}

/// Entries of A that are round-off become zero: what is free stays free. `k`: the factors.
static void clear_noise(const asi_linear *l, const double *k, const int *pivot, int size,
                        const noise *x) {
  const int states = l->out.n_states, one = 1, known = l->n + l->velocity.rank;
  int info = 0;
  for (int i = 0; i < states; ++i) {
    const as_linear_state state = l->state[i];
    double by_xi = x->speed, by_dv = 1.0;
    if (state.kind == AS_LINEAR_POSITION) {
      by_xi *= l->s->kin.problem->typical[state.index];
      by_dv *= l->s->kin.problem->typical[state.index];
    } else if (state.kind == AS_LINEAR_VELOCITY) {
      memset(x->y, 0, (size_t)size * sizeof *x->y);
      x->y[state.index] = 1.0;
      asi_axes_from(&l->axes, x->y);
      dgetrs_("T", &size, &one, k, &size, pivot, x->y, &size, &info, 1);
      by_xi = by_dv = 0.0;
      for (int m = 0; m < known; ++m) {
        by_xi += fabs(x->y[m]) * x->by_xi[m];
        by_dv += fabs(x->y[m]) * x->by_dv[m];
      }
    } else {
      continue;
    }
    for (int j = 0; j < states; ++j) {
      double *entry = l->a + (size_t)j * (size_t)states + (size_t)i;
      const double limit = NOISE * DBL_EPSILON * (by_xi * x->xi[j] + by_dv * x->dv[j]);
      if (fabs(*entry) <= limit) *entry = 0.0;
    }
  }
}

static as_status clear(const asi_linear *l, const asi_linear_rows *r, const double *k,
                       const int *pivot, int size) {
  const size_t known = (size_t)(l->n + l->rows), states = (size_t)l->out.n_states;
  double *store = asi_calloc(2 * known + 2 * states + (size_t)size, sizeof *store);
  if (store == NULL) return asi_fail_memory(l->s->kin.eval.error);
  noise x = {.by_xi = store, .by_dv = store + known, .xi = store + 2 * known};
  x.dv = x.xi + states;
  x.y = x.dv + states;
  measure_noise(l, r, &x);
  clear_noise(l, k, pivot, size, &x);
  free(store);
  return AS_OK;
}

static as_status solve_columns(asi_linear *l, const asi_linear_rows *r, double *work) {
  as_integrator *s = l->s;
  const int size = l->n + l->n_multipliers + l->ny;
  const size_t high = (size_t)size;
  double *k = asi_calloc(high * high + 1, sizeof *k);
  double *b = asi_calloc(high * (size_t)l->columns + 1, sizeof *b);
  int *pivot = asi_calloc(high + 1, sizeof *pivot), info = 0;
  as_status status = k && b && pivot ? AS_OK : asi_fail_memory(s->kin.eval.error);
  if (status == AS_OK) {
    fill_matrix(l, r, k, size);
    for (int j = 0; j < l->columns; ++j) right_side(l, r, j, b + (size_t)j * high, work);
    dgetrf_(&size, &size, k, &size, pivot, &info);
    if (info == 0) dgetrs_("N", &size, &l->columns, k, &size, pivot, b, &size, &info, 1);
    if (info != 0)
      status = asi_fail(s->kin.eval.error, AS_ERR_SINGULAR, s->stepper.t, NULL,
                        "The linear motion at t = %.9g s is not determined: the matrix of "
                        "accelerations and multipliers is singular.",
                        s->stepper.t);
  }
  for (int j = 0; status == AS_OK && j < l->columns; ++j) {
    const asi_linear_column to = asi_linear_column_at(l, j);
    const double *x = b + (size_t)j * high;
    memcpy(to.dvdot, x, (size_t)l->n * sizeof *x);
    for (int i = 0; i < l->n_multipliers; ++i) to.multiplier[l->multiplier[i]] = x[l->n + i];
    memcpy(to.dy, x + l->n + l->n_multipliers, (size_t)l->ny * sizeof *x);
    state_rate(l, j);
    double *out = j < l->out.n_states
                      ? l->a + (size_t)j * (size_t)l->out.n_states
                      : l->b + (size_t)(j - l->out.n_states) * (size_t)l->out.n_states;
    read_rates(l, j, out, work);
  }
  if (status == AS_OK && l->columns > 0 && size > 0) status = clear(l, r, k, pivot, size);
  free(k);
  free(b);
  free(pivot);
  return status;
}

static bool take_columns(asi_linear *l) {
  const size_t states =
      (size_t)(2 * l->n - l->position.rank - l->velocity.rank + l->nx + 2 * l->n_driving);
  const size_t all = states + (size_t)l->out.n_inputs;
  l->out.n_states = (int)states;
  l->columns = (int)all;
  l->state = asi_calloc(states + 1, sizeof *l->state);
  l->a = asi_calloc(states * states + 1, sizeof *l->a);
  l->b = asi_calloc(states * (size_t)l->out.n_inputs + 1, sizeof *l->b);
  l->full = asi_calloc((size_t)l->height * all + 1, sizeof *l->full);
  if (!l->state || !l->a || !l->b || !l->full) return false;
  int at = 0;
  for (int j = l->position.rank; j < l->n; ++j)
    l->state[at++] = (as_linear_state){AS_LINEAR_POSITION, l->position.order[j]};
  for (int j = l->velocity.rank; j < l->n; ++j)
    l->state[at++] = (as_linear_state){AS_LINEAR_VELOCITY, l->velocity.order[j]};
  for (int j = 0; j < l->nx; ++j) l->state[at++] = (as_linear_state){AS_LINEAR_STATE, j};
  for (int j = 0; j < l->out.n_inputs; ++j) {
    if (!l->driving[j]) continue;
    l->state[at++] = (as_linear_state){AS_LINEAR_INPUT, j};
    l->state[at++] = (as_linear_state){AS_LINEAR_RATE, j};
  }
  return true;
}

as_status asi_linear_find_columns(asi_linear *l, const as_linearization_def *def,
                                  const asi_linear *like) {
  as_integrator *s = l->s;
  const size_t size = (size_t)l->rows * (size_t)l->n, n = (size_t)l->n;
  double *store = asi_calloc(4 * size + 4 * n + 2 * (size_t)l->rows + 1, sizeof *store);
  if (store == NULL) return asi_fail_memory(s->kin.eval.error);
  asi_linear_rows r = {store, store + size, store + 2 * size, store + 3 * size};
  double *work = store + 4 * size;
  const as_point point = asi_linear_point(l);
  asi_rows_update(&s->kin, true);
  as_status status = asi_linear_fill_rows(l, &r);
  if (status == AS_OK) status = asi_linear_find_tangents(l, r.c, like);
  if (status == AS_OK && !like) status = asi_linear_check_singular(l, r.c);
  if (status == AS_OK) status = asi_linear_find_sharing(l, r.c);
  if (status == AS_OK) status = asi_linear_find_inputs(l, def);
  if (status == AS_OK) status = asi_blocks(&s->kin, &point, s->kin.problem->present);
  if (status == AS_OK && !take_columns(l)) status = asi_fail_memory(s->kin.eval.error);
  for (int j = 0; j < l->out.n_states && status == AS_OK; ++j) complete(l, &r, j, work);
  if (status == AS_OK) status = solve_columns(l, &r, work);
  asi_rows_update(&s->kin, false);
  free(store);
  return status;
}
