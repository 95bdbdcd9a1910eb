/// A problem at a point: blocks and functions evaluated once, linear systems factorized and solved in units of the machine,
/// which constraints hold.
#include "core/kinematics/kinematics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/simd.h"
#include "base/text.h"

// ---- memory -------------------------------------------------------------------------------------------

double *asi_layout_take(asi_layout *layout, size_t count) {
  double *const place = layout->memory ? layout->memory + layout->used : NULL;
  layout->used += count + count % 2;
  return place;
}

void asi_values_lay_out(asi_values *x, const as_problem *p, asi_layout *layout) {
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, nx = (size_t)p->def.n_x;
  x->q = asi_layout_take(layout, (size_t)p->nq);
  x->v = asi_layout_take(layout, n);
  x->vdot = asi_layout_take(layout, n);
  x->a = asi_layout_take(layout, n);
  x->lambda = asi_layout_take(layout, m);
  x->psi = asi_layout_take(layout, (size_t)p->def.n_psi);
  x->eta = asi_layout_take(layout, m);
  x->x = asi_layout_take(layout, nx);
  x->xdot = asi_layout_take(layout, nx);
  x->w = asi_layout_take(layout, nx);
  x->y = asi_layout_take(layout, (size_t)p->def.n_y);
}

void asi_kinematics_lay_out(asi_kinematics *s, asi_layout *layout) {
  const as_problem *p = s->problem;
  const size_t n = (size_t)p->n, nq = (size_t)p->nq, m = (size_t)p->def.n_lambda;
  const size_t rows = m + (size_t)p->def.n_psi;
  const size_t all = n + rows + (size_t)p->def.n_x + (size_t)p->def.n_y;
  asi_redundancy *r = &s->redundancy;
  r->rows = (int)rows;
  r->column_scale = asi_layout_take(layout, n);
  r->inverse_D2 = asi_layout_take(layout, rows);
  r->inverse_d2 = asi_layout_take(layout, rows);
  r->per_row = asi_layout_take(layout, rows);
  r->probe = asi_layout_take(layout, n + rows);
  r->image = asi_layout_take(layout, n + rows);
  r->force = asi_layout_take(layout, n);
  r->norm_weight = asi_layout_take(layout, rows);
  r->favour = asi_layout_take(layout, rows);
  r->shown = asi_layout_take(layout, rows);
  r->seen = asi_layout_take(layout, rows);
  s->given.rows = asi_layout_take(layout, m + rows);
  s->target = asi_layout_take(layout, rows);
  s->q_given = asi_layout_take(layout, nq);
  s->q_best = asi_layout_take(layout, nq);
  s->move = asi_layout_take(layout, n);
  s->work = asi_layout_take(layout, n);
  s->multiplier = asi_layout_take(layout, rows);
  s->change = asi_layout_take(layout, all);
  s->rhs = asi_layout_take(layout, all);
  s->noted = asi_layout_take(layout, (size_t)p->def.n_u);
}

as_status asi_kinematics_create(asi_kinematics *s, bool with_bt, as_error *error) {
  const as_problem *p = s->problem;
  as_status status = asi_evaluator_init(&s->eval, p, &s->statistics, error);
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (p->present & AS_BLOCK_BIT(block))
      status = asi_matrix_init(&s->block[block], &p->pattern[block], error);
  if (status == AS_OK) status = asi_evaluator_use_threads(&s->eval, s->pool, error);
  s->tangent.pool = s->pool;
  if (status == AS_OK) status = asi_tangent_map_init(&s->tangent, p, with_bt, error);
  if (status == AS_OK)
    status = asi_kinematics_make_systems(s, &s->kkt, &s->projection, &s->consistent, error);
  return status ? status : asi_redundancy_init(s, error);
}

void asi_kinematics_free(asi_kinematics *s) {
  asi_system_free(&s->kkt);
  asi_system_free(&s->projection);
  asi_system_free(&s->consistent);
  asi_tangent_map_free(&s->tangent);
  asi_evaluator_free(&s->eval);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) asi_matrix_free(&s->block[block]);
  asi_redundancy_free(&s->redundancy);
}

// ---- numbers in typical sizes ------------------------------------------------------------------------

double asi_max_nan(double a, double b) { return isnan(a) || b <= a ? a : b; }

/// The largest |x_i| weight_i; NaN if there is one. No weights: 1.
ASI_INLINED double largest_of(const double *x, const double *weight, int n) {
  asi_simd2 largest[2] = {{0.0, 0.0}, {0.0, 0.0}}, sum[2] = {{0.0, 0.0}, {0.0, 0.0}};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 2; ++k) {
      const asi_simd2 by = weight ? asi_simd_load(weight + i + 2 * k) : asi_simd_splat(1.0);
      const asi_simd2 size = asi_simd_abs(asi_simd_load(x + i + 2 * k)) * by;
      largest[k] = asi_simd_max(size, largest[k]);
      sum[k] += size;
    }
  const asi_simd2 both = asi_simd_max(largest[0], largest[1]), all = sum[0] + sum[1];
  double most = both[0] > both[1] ? both[0] : both[1], total = all[0] + all[1];
  for (; i < n; ++i) {
    const double size = fabs(x[i]) * (weight ? weight[i] : 1.0);
    most = size > most ? size : most;
    total += size;
  }
  return isnan(total) ? total : most; // no comparison sees NaN
}

double asi_max_abs(const double *x, int n) { return largest_of(x, NULL, n); }

static double max_weighed(const double *x, const double *weight, int n) {
  return largest_of(x, weight, n);
}

double asi_max_motion(const as_problem *p, const double *x) {
  return max_weighed(x, p->per_typical, p->n);
}

double asi_max_position(const as_problem *p, const double *q) {
  return max_weighed(q, p->per_typical_q, p->nq);
}

double asi_max_force(const as_problem *p, const double *f) {
  return max_weighed(f, p->typical, p->n);
}

/// max typical_i |m_ij| typical_j, which stands on the diagonal, since M is positive; not finite if one of these is not
double asi_max_mass(const as_problem *p, const as_matrix *m) {
  const double *typical = p->typical;
  double most = 0.0, sum = 0.0;
  for (int j = 0; j < m->cols; ++j) {
    const int from = m->col_start[j], to = m->col_start[j + 1];
    if (from == to) continue;
    const int guess = from + j - m->row[from];
    int k = guess >= from && guess < to ? guess : from; // it is there if rows follow each other
    while (m->row[k] < j && k + 1 < to) ++k;
    while (m->row[k] > j && k > from) --k;
    if (m->row[k] != j) continue;
    const double x = fabs(m->value[k]) * typical[j] * typical[j];
    most = x > most ? x : most;
    sum += x;
  }
  return most + 0.0 * sum;
}

void asi_copy_values(const as_problem *p, const asi_values *from, const asi_values *to) {
  const size_t n = (size_t)p->n * sizeof(double), m = (size_t)p->def.n_lambda * sizeof(double);
  const size_t nx = (size_t)p->def.n_x * sizeof(double);
  memcpy(to->q, from->q, (size_t)p->nq * sizeof(double));
  memcpy(to->v, from->v, n);
  memcpy(to->vdot, from->vdot, n);
  memcpy(to->a, from->a, n);
  memcpy(to->lambda, from->lambda, m);
  memcpy(to->psi, from->psi, (size_t)p->def.n_psi * sizeof(double));
  memcpy(to->eta, from->eta, m);
  memcpy(to->x, from->x, nx);
  memcpy(to->xdot, from->xdot, nx);
  memcpy(to->w, from->w, nx);
  memcpy(to->y, from->y, (size_t)p->def.n_y * sizeof(double));
}

void asi_log(const asi_kinematics *s, as_log_level level, const char *format, ...) {
  if (s->log == NULL) return;
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  asi_format(message, sizeof message, format, arguments);
  va_end(arguments);
  s->log(level, message, s->log_user);
}

// ---- a point ------------------------------------------------------------------------------------------

as_status asi_blocks(asi_kinematics *s, const as_point *at, as_block_set wanted) {
  if (s->mass_known) wanted &= ~AS_BLOCK_BIT(AS_BLOCK_M);
  const as_status status = wanted ? asi_eval_blocks(&s->eval, at, wanted, s->block) : AS_OK;
  if (status == AS_OK && (wanted & AS_BLOCK_BIT(AS_BLOCK_M))) {
    const as_matrix *mass = &s->block[AS_BLOCK_M];
    s->mass_size = asi_max_mass(s->problem, mass);
    s->mass_known = s->problem->def.mass_constant;
  }
  return status;
}

as_status asi_functions(asi_kinematics *s, const as_point *at, double *const out[ASI_FUNCTIONS],
                        as_block_set wanted) {
  const as_problem *p = s->problem;
  as_block_set needs = 0;
  for (int f = 0; f < ASI_FUNCTIONS; ++f)
    if (out[f]) needs |= asi_eval_needs(p, (asi_function)f);
  const as_block_set joined = wanted & AS_BLOCKS_JOIN_INERTIA;
  if (asi_eval_together(&s->eval, at, out, ((needs | wanted) & p->given) | joined, s->block)) {
    const as_status status = asi_blocks(s, at, (needs | wanted) & ~(p->given | joined));
    return status ? status : asi_eval_complete(&s->eval, at, out, s->block);
  }
  as_status status = asi_blocks(s, at, needs);
  for (int f = 0; f < ASI_FUNCTIONS && status == AS_OK; ++f)
    if (out[f]) status = asi_eval_function(&s->eval, (asi_function)f, at, s->block, out[f]);
  return status ? status : asi_blocks(s, at, wanted & ~needs);
}

void asi_finish_rows(const asi_kinematics *s, double *r, int first, int count, double factor,
                     double *largest, double *left) {
  const double *const per_row = s->redundancy.per_row + first;
  *largest = fmax(*largest, asi_max_abs(r, count));
  *left = fmax(*left, max_weighed(r, per_row, count));
  for (int i = 0; i < count; ++i) r[i] *= factor;
}

// ---- linear systems -----------------------------------------------------------------------------------

/// Names the unknown in a column of a system: v', lambda, psi, and then index-2's eta or SOI2's second
/// stage.
static void unknown_name(const as_problem *p, int columns, int column, char *text, size_t size) {
  const int psi = p->n + p->def.n_lambda, eta = psi + p->def.n_psi;
  const int states = columns - p->def.n_x - p->def.n_y; // kkt and projection have none
  if (columns == p->def.n_lambda) column += p->n;       // eta alone
  if (states >= eta && column >= states) {
    const bool is_x = column < states + p->def.n_x;
    asi_component_name(p, is_x ? AS_QUANTITY_X : AS_QUANTITY_Y,
                       column - states - (is_x ? 0 : p->def.n_x), text, size);
    return;
  }
  if (columns == 2 * eta) column %= eta;
  if (column < p->n)
    asi_component_name(p, AS_QUANTITY_V, column, text, size);
  else if (column < psi)
    asi_component_name(p, AS_QUANTITY_LAMBDA, column - p->n, text, size);
  else if (column < eta)
    asi_component_name(p, AS_QUANTITY_PSI, column - psi, text, size);
  else
    asi_component_name(p, AS_QUANTITY_LAMBDA, column - eta, text, size);
}

static as_status fail_singular(asi_kinematics *s, const asi_system *system, double t,
                               const char *what, int culprit) {
  char name[ASI_LOOP_NAME];
  unknown_name(s->problem, system->size, culprit, name, sizeof name);
  return asi_fail(
      s->eval.error, AS_ERR_SINGULAR, t, name,
      "The equations for %s are singular at t = %.9g s: %s is not determined by them (a "
      "redundant constraint, a motion without inertia, or an algebraic loop of gain one).",
      what, t, name);
}

/// Puts one, in its units, on the diagonal of a system.
static void put_one(asi_system *system, int i) {
  system->value[system->diagonal[i]] = 1.0 / (system->row_unit[i] * system->column_unit[i]);
}

/// [EV.1] Rows that are left out are empty and get a one on the diagonal: their multipliers do not change.
static void close_empty_rows(const asi_kinematics *s, asi_system *system) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda, rows = m + p->def.n_psi;
  const bool eta_alone = system->unknowns == ASI_UNKNOWNS_ETA;
  // Where the rows stand once more: index-2's eta, SOI2's second stage.
  int again = 0, rows_again = 0;
  if (system->unknowns == ASI_UNKNOWNS_WITH_ETA) again = p->n + rows, rows_again = m;
  if (system->unknowns == ASI_UNKNOWNS_TWO_STAGES) again = 2 * p->n + rows, rows_again = rows;
  for (int i = 0; i < m && eta_alone; ++i)
    if (s->eval.left_out[i]) put_one(system, i);
  for (int i = 0; i < rows && !eta_alone; ++i) {
    if (!s->eval.left_out[i]) continue;
    put_one(system, p->n + i);
    if (i < rows_again) put_one(system, again + i);
  }
}

/// The power of two below x: what it scales is not rounded.
static double power_of_two(double x) { return x > 0.0 && isfinite(x) ? ldexp(1.0, ilogb(x)) : 1.0; }

/// [SZ.3] Units of v' are typical sizes, those of rows and multipliers make B and M about one: rows of motion d_i/|M|, columns of
/// v' d_j, rows of constraints and columns of eta 1/|B d|, columns of multipliers |M|/|B d|; as powers of two.
static void set_units(const asi_kinematics *s, asi_system *system) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = s->redundancy.rows, stride = n + rows;
  const bool eta_alone = system->unknowns == ASI_UNKNOWNS_ETA;
  const bool stages = system->unknowns == ASI_UNKNOWNS_TWO_STAGES;
  const int n_eta = system->unknowns == ASI_UNKNOWNS_WITH_ETA ? m : 0;
  const bool least =
      system->unknowns == ASI_UNKNOWNS_LEAST_NORM; // it has lengths in the place of M
  const double mass = power_of_two(least ? p->length * p->length : s->mass_size);
  const size_t row_bytes = (size_t)rows * sizeof(double);
  if (system->unit_mass == mass && memcmp(system->unit_rows, s->redundancy.per_row, row_bytes) == 0)
    return;
  system->unit_mass = mass;
  memcpy(system->unit_rows, s->redundancy.per_row, row_bytes);
  for (int i = 0; i < system->size; ++i) {
    const int k = eta_alone ? stride + i : stages ? i % stride : i;
    double row = 1.0, column = 1.0;
    if (k < n) {
      column = power_of_two(p->typical[k]);
      row = column / mass;
    } else if (k < stride) {
      row = power_of_two(s->redundancy.per_row[k - n]);
      column = row * mass;
    } else if (eta_alone || k < stride + n_eta) {
      row = column = power_of_two(s->redundancy.per_row[k - stride]);
    }
    system->row_unit[i] = row;
    system->column_unit[i] = column;
  }
  asi_system_set_units(system);
}

static as_status factor(asi_kinematics *s, asi_system *system, double t, const char *what) {
  int culprit = 0;
  if (system->sharing) system->sharing->rank = 0;
  if (s->eval.n_left_out > 0) close_empty_rows(s, system);
  if (system->unknowns != ASI_UNKNOWNS_ETA)
    ++s->statistics.factorizations; // it goes with another one
  const as_status status = asi_system_factor(system, &culprit);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(s->eval.error);
  return status ? fail_singular(s, system, t, what, culprit) : AS_OK;
}

as_status asi_factor(asi_kinematics *s, asi_system *system, double t, const char *what) {
  set_units(s, system);
  return factor(s, system, t, what);
}

as_status asi_factor_as_is(asi_kinematics *s, asi_system *system, double t, const char *what) {
  for (int i = 0; i < system->size; ++i) system->row_unit[i] = system->column_unit[i] = 1.0;
  system->unit_mass = (double)NAN;
  asi_system_set_units(system);
  return factor(s, system, t, what);
}

/// Names the unknown that is farthest out: the first that is not finite, or the largest.
static as_status fail_solution(asi_kinematics *s, const asi_system *system, double t,
                               const double *x) {
  char name[64];
  int worst = 0;
  for (int i = 1; i < system->size && isfinite(x[worst]); ++i)
    if (!(fabs(x[i]) <= fabs(x[worst]))) worst = i;
  unknown_name(s->problem, system->size, worst, name, sizeof name);
  return asi_fail(s->eval.error, AS_ERR_SINGULAR, t, name,
                  "The equations at t = %.9g s cannot be solved accurately: %s comes out as %.3g. "
                  "Masses, stiffnesses or lengths there are too far apart in size.",
                  t, name, x[worst]);
}

as_status asi_solve(asi_kinematics *s, asi_system *system, double t, double *b) {
  if (system->unknowns != ASI_UNKNOWNS_ETA) ++s->statistics.solves;
  const as_status status = asi_system_solve(system, b);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(s->eval.error);
  if (status) return fail_solution(s, system, t, b);
  if (system->sharing && system->sharing->rank > 0) asi_low_rank_apply(system->sharing, b);
  return AS_OK;
}

// ---- what is given, what holds ------------------------------------------------------------------------

as_status asi_check_initial(const as_problem *p, const as_initial *initial, as_error *error) {
  if (initial == NULL || initial->q == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "q", "A start needs a configuration q.");
  if (!isfinite(initial->t))
    return asi_fail(error, AS_ERR_ARGUMENT, initial->t, "t", "The starting time %g is not finite.",
                    initial->t);
  const as_problem_def *def = &p->def;
  const struct {
    const char *name;
    const double *value;
    int n;
  } given[] = {{"x", initial->x, def->n_x},
               {"y", initial->y, def->n_y},
               {"u", initial->u, def->n_u},
               {"lambda", initial->lambda, def->n_lambda},
               {"psi", initial->psi, def->n_psi}};
  for (size_t k = 0; k < sizeof given / sizeof given[0]; ++k)
    for (int i = 0; given[k].value && i < given[k].n; ++i)
      if (!isfinite(given[k].value[i]))
        return asi_fail(error, AS_ERR_ARGUMENT, initial->t, given[k].name,
                        "The starting value of %s[%d] is %g.", given[k].name, i, given[k].value[i]);
  for (int i = 0; initial->v && i < p->n; ++i) {
    if (isfinite(initial->v[i])) continue;
    char name[64];
    asi_component_name(p, AS_QUANTITY_V, i, name, sizeof name);
    return asi_fail(error, AS_ERR_ARGUMENT, initial->t, name, "The starting velocity of %s is %g.",
                    name, initial->v[i]);
  }
  return as_space_check(p->space, initial->q, error);
}

/// Lists names of rows, up to eight of them.
void asi_name_rows(const as_problem *p, const int *rows, int count, char *text, size_t size) {
  asi_text list = asi_text_begin(text, size);
  for (int i = 0; i < count && i < 8; ++i) {
    const bool holonomic = rows[i] < p->def.n_lambda;
    char name[64];
    asi_component_name(p, holonomic ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                       holonomic ? rows[i] : rows[i] - p->def.n_lambda, name, sizeof name);
    asi_text_add(&list, "%s%s", i > 0 ? ", " : "", name);
  }
  if (count > 8) asi_text_add(&list, ", ...");
}

/// [EV.1] constraints that do not hold have empty rows and no multipliers
void asi_set_active(asi_kinematics *s, const bool *active) {
  s->eval.n_inactive = 0;
  for (int i = 0; i < s->redundancy.rows; ++i) {
    s->eval.inactive[i] = active != NULL && !active[i];
    s->eval.n_inactive += s->eval.inactive[i];
  }
  asi_rows_update(s, false);
}

void asi_follow(asi_kinematics *s, double t, const asi_values *at) {
  const as_problem_def *def = &s->problem->def;
  if (def->follow == NULL) return;
  const as_point point = {.t = t, .q = at->q, .v = at->v, .x = at->x, .u = s->eval.u};
  memcpy(s->noted, s->eval.u, (size_t)def->n_u * sizeof(double));
  if (def->follow(&point, s->noted, def->user) != AS_DONE) return;
  for (int i = 0; i < def->n_u; ++i)
    if (isfinite(s->noted[i])) s->eval.u[i] = s->noted[i];
}
