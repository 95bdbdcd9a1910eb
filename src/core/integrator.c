/// The integrator's memory, and what a caller may ask of it. initial.c starts it, step.c steps it.
#include "core/integrator.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/two.h"

// ---- small tools shared by the integrator's files -------------------------------------------------

double asi_worse(double a, double b) { return isnan(a) || b <= a ? a : b; }

/// The largest |x_i| weight_i; NaN if there is one. No weights: 1.
ASI_INLINED double largest_of(const double *x, const double *weight, int n) {
  asi_two largest[2] = {{0.0, 0.0}, {0.0, 0.0}}, sum[2] = {{0.0, 0.0}, {0.0, 0.0}};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 2; ++k) {
      const asi_two by = weight ? asi_load_two(weight + i + 2 * k) : asi_both(1.0);
      const asi_two size = asi_sizes(asi_load_two(x + i + 2 * k)) * by;
      largest[k] = asi_larger(size, largest[k]);
      sum[k] += size;
    }
  const asi_two both = asi_larger(largest[0], largest[1]), all = sum[0] + sum[1];
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

double asi_max_mass(const as_problem *p, const as_matrix *m) {
  double most = 0.0;
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      most = asi_worse(most, fabs(m->value[k]) * p->typical[m->row[k]] * p->typical[j]);
  return most;
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

void asi_log(const as_integrator *s, as_log_level level, const char *format, ...) {
  if (s->def.log == NULL) return;
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  asi_format(message, sizeof message, format, arguments);
  va_end(arguments);
  s->def.log(level, message, s->def.log_user);
}

as_status asi_blocks(as_integrator *s, const as_point *at, as_block_set wanted) {
  if (s->mass_known) wanted &= ~AS_BLOCK_BIT(AS_BLOCK_M);
  const as_status status = wanted ? asi_eval_blocks(&s->eval, at, wanted, s->block) : AS_OK;
  if (status == AS_OK && (wanted & AS_BLOCK_BIT(AS_BLOCK_M))) {
    const as_matrix *mass = &s->block[AS_BLOCK_M];
    s->mass_size = asi_max_mass(s->problem, mass);
    s->mass_known = s->problem->def.mass_constant;
  }
  return status;
}

as_status asi_functions(as_integrator *s, const as_point *at, double *const out[ASI_FUNCTIONS],
                        as_block_set wanted) {
  const as_problem *p = s->problem;
  as_block_set needs = 0;
  for (int f = 0; f < ASI_FUNCTIONS; ++f)
    if (out[f]) needs |= asi_eval_needs(p, (asi_function)f);
  if (asi_eval_together(&s->eval, at, out, (needs | wanted) & p->given, s->block)) {
    const as_status status = asi_blocks(s, at, (needs | wanted) & ~p->given);
    return status ? status : asi_eval_complete(&s->eval, at, out, s->block);
  }
  as_status status = asi_blocks(s, at, needs);
  for (int f = 0; f < ASI_FUNCTIONS && status == AS_OK; ++f)
    if (out[f]) status = asi_eval_function(&s->eval, (asi_function)f, at, s->block, out[f]);
  return status ? status : asi_blocks(s, at, wanted & ~needs);
}

void asi_finish_rows(const as_integrator *s, double *r, int first, int count, double factor,
                     double *largest, double *left) {
  const double *const per_row = s->redundancy.per_row + first;
  *largest = fmax(*largest, asi_max_abs(r, count));
  *left = fmax(*left, max_weighed(r, per_row, count));
  for (int i = 0; i < count; ++i) r[i] *= factor;
}

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

static as_status fail_singular(as_integrator *s, const asi_system *system, double t,
                               const char *what, int culprit) {
  char name[64];
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
static void close_empty_rows(const as_integrator *s, asi_system *system) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda, rows = m + p->def.n_psi;
  // Where the rows stand once more: index-2's eta, SOI2's second stage.
  int again = 0;
  if (system == &s->step && s->def.method == AS_METHOD_INDEX2) again = p->n + rows;
  if (system == &s->step && s->def.method == AS_METHOD_SOI2 && m > 0) again = 2 * p->n + rows;
  const int rows_again = s->def.method == AS_METHOD_INDEX2 ? m : rows;
  for (int i = 0; i < m && system == &s->eta; ++i)
    if (s->eval.left_out[i]) put_one(system, i);
  for (int i = 0; i < rows && system != &s->eta; ++i) {
    if (!s->eval.left_out[i]) continue;
    put_one(system, p->n + i);
    if (again > 0 && i < rows_again) put_one(system, again + i);
  }
}

/// The power of two below x: what it scales is not rounded.
static double power_of_two(double x) { return x > 0.0 && isfinite(x) ? ldexp(1.0, ilogb(x)) : 1.0; }

/// [SZ.3] Units of v' are typical sizes, those of rows and multipliers make B and M about one: rows of motion d_i/|M|, columns of
/// v' d_j, rows of constraints and columns of eta 1/|B d|, columns of multipliers |M|/|B d|; as powers of two.
static void set_units(const as_integrator *s, asi_system *system) {
  const as_problem *p = s->problem;
  const int n = p->n, m = p->def.n_lambda, rows = s->redundancy.rows, stride = n + rows;
  const bool full = system == &s->step;
  const bool stages = full && s->def.method == AS_METHOD_SOI2 && m > 0;
  const int n_eta = full && s->def.method == AS_METHOD_INDEX2 ? m : 0;
  const bool least = system == &s->redundancy.least; // it has lengths in the place of M
  const double mass = power_of_two(least ? p->length * p->length : s->mass_size);
  const size_t row_bytes = (size_t)rows * sizeof(double);
  if (system->unit_mass == mass && memcmp(system->unit_rows, s->redundancy.per_row, row_bytes) == 0)
    return;
  system->unit_mass = mass;
  memcpy(system->unit_rows, s->redundancy.per_row, row_bytes);
  for (int i = 0; i < system->size; ++i) {
    const int k = system == &s->eta ? stride + i : stages ? i % stride : i;
    double row = 1.0, column = 1.0;
    if (k < n) {
      column = power_of_two(p->typical[k]);
      row = column / mass;
    } else if (k < stride) {
      row = power_of_two(s->redundancy.per_row[k - n]);
      column = row * mass;
    } else if (system == &s->eta || k < stride + n_eta) {
      row = column = power_of_two(s->redundancy.per_row[k - stride]);
    }
    system->row_unit[i] = row;
    system->column_unit[i] = column;
  }
  asi_system_set_units(system);
}

static as_status factor(as_integrator *s, asi_system *system, double t, const char *what) {
  int culprit = 0;
  if (system->sharing) system->sharing->rank = 0;
  if (s->eval.n_left_out > 0) close_empty_rows(s, system);
  if (system != &s->eta) ++s->statistics.factorizations; // it goes with another one
  const as_status status = asi_system_factor(system, &culprit);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(s->eval.error);
  return status ? fail_singular(s, system, t, what, culprit) : AS_OK;
}

as_status asi_factor(as_integrator *s, asi_system *system, double t, const char *what) {
  set_units(s, system);
  return factor(s, system, t, what);
}

as_status asi_factor_as_is(as_integrator *s, asi_system *system, double t, const char *what) {
  for (int i = 0; i < system->size; ++i) system->row_unit[i] = system->column_unit[i] = 1.0;
  system->unit_mass = (double)NAN;
  asi_system_set_units(system);
  return factor(s, system, t, what);
}

/// Names the unknown that is farthest out: the first that is not finite, or the largest.
static as_status fail_solution(as_integrator *s, const asi_system *system, double t,
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

as_status asi_solve(as_integrator *s, asi_system *system, double t, double *b) {
  if (system != &s->eta) ++s->statistics.solves;
  const as_status status = asi_system_solve(system, b);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(s->eval.error);
  if (status) return fail_solution(s, system, t, b);
  if (system->sharing && system->sharing->rank > 0) asi_low_rank_apply(system->sharing, b);
  return AS_OK;
}

// ---- create and destroy ---------------------------------------------------------------------------

as_integrator_def as_default_integrator_def(void) {
  const double unset = (double)NAN;
  return (as_integrator_def){
      .method = AS_METHOD_INDEX2,
      .step = unset,
      .rho_inf = 0.8,
      .coefficients = {unset, unset, unset, unset},
      .state_rho_inf = unset,
      .state_coefficients = {unset, unset, unset},
      .check_coefficients = true,
      .step_corrections = true,
      .improved_start = true,
      .perturbed_start = true,
      .project_start = true,
      .tolerance = {.rtol = 2e-5,
                    .atol_position = unset,
                    .atol_rotation = unset,
                    .atol_velocity = unset,
                    .atol_state = unset,
                    .first_step = unset,
                    .min_step = 0.0,
                    .max_step = (double)INFINITY,
                    .span = (double)NAN},
      .event_tolerance = unset,
      .newton = {.rtol = unset, .atol = unset, .max_iterations = 20, .reuse = true},
  };
}

static as_status choose_coefficients(as_integrator *s, as_error *error) {
  const as_coefficients *given = &s->def.coefficients;
  as_status status = AS_OK;
  s->c = *given;
  if (isnan(given->alpha_m) && isnan(given->alpha_f) && isnan(given->beta) && isnan(given->gamma))
    status = as_coefficients_chung_hulbert(s->def.rho_inf, &s->c, error);
  if (status == AS_OK && s->def.check_coefficients) status = as_coefficients_check(&s->c, error);
  if (status) return status;
  const as_problem *p = s->problem;
  if (!(isfinite(s->c.alpha_m) && isfinite(s->c.alpha_f) && isfinite(s->c.beta) &&
        isfinite(s->c.gamma) && s->c.beta >= 0.0 && s->c.gamma > 0.0 && s->c.alpha_m < 1.0 &&
        s->c.alpha_f < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "coefficients",
                    "alpha_m = %g and alpha_f = %g must be below 1, beta = %g not negative and "
                    "gamma = %g positive.",
                    s->c.alpha_m, s->c.alpha_f, s->c.beta, s->c.gamma);
  if (s->c.beta == 0.0 && p->def.n_lambda > 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "beta",
                    "beta = 0 (an explicit position update) cannot satisfy %d holonomic "
                    "constraints: choose beta > 0.",
                    p->def.n_lambda);
  s->D = s->c.alpha_m - s->c.alpha_f;
  if (p->def.n_lambda > 0 && s->def.method == AS_METHOD_INDEX3 &&
      (s->D >= 0.0 || s->c.beta <= 0.25 - 0.5 * s->D))
    asi_log(s, AS_LOG_WARNING,
            "These coefficients do not damp high frequencies (as with rho_inf = 1): errors of "
            "index-3 multipliers will oscillate and not die out.");
  return AS_OK;
}

static as_status choose_state_coefficients(as_integrator *s, as_error *error) {
  const as_state_coefficients *given = &s->def.state_coefficients;
  const double rho = isnan(s->def.state_rho_inf) ? s->def.rho_inf : s->def.state_rho_inf;
  as_status status = AS_OK;
  s->cx = *given;
  if (isnan(given->delta_m) && isnan(given->delta_f) && isnan(given->theta))
    status = as_coefficients_jansen(rho, &s->cx, error);
  if (status == AS_OK && s->def.check_coefficients)
    status = as_state_coefficients_check(&s->cx, error);
  if (status) return status;
  if (!(s->cx.delta_m < 1.0 && s->cx.delta_f < 1.0 && s->cx.theta > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "state_coefficients",
                    "delta_m = %g and delta_f = %g must be below 1, theta = %g positive.",
                    s->cx.delta_m, s->cx.delta_f, s->cx.theta);
  s->Dx = s->cx.delta_m - s->cx.delta_f;
  return AS_OK;
}

static as_status check_def(const as_problem *p, const as_integrator_def *def, as_error *error) {
  if (!(isnan(def->step) || (def->step > 0.0 && isfinite(def->step))))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "step",
                    "step = %g s is not a positive number.", def->step);
  if (def->method != AS_METHOD_INDEX3 && def->method != AS_METHOD_INDEX2 &&
      def->method != AS_METHOD_SOI2)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "method", "There is no method %d.",
                    (int)def->method);
  if (def->method == AS_METHOD_SOI2 && p->def.n_x + p->def.n_y > 0) {
    char name[64];
    const bool states = p->def.n_x > 0;
    asi_component_name(p, states ? AS_QUANTITY_X : AS_QUANTITY_Y, 0, name, sizeof name);
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, name,
        "SOI2 does not take first-order states and outputs, such as %s: its accelerations belong "
        "to t + D h, not to t, where a controller sees them; use index-2.",
        name);
  }
  if (!isnan(def->newton.rtol) && !(def->newton.rtol >= 0.0 && def->newton.rtol < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.rtol",
                    "newton.rtol = %g is not in [0, 1).", def->newton.rtol);
  if (def->newton.max_iterations < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.max_iterations",
                    "newton.max_iterations = %d is not positive.", def->newton.max_iterations);
  for (int i = 0; i < (def->newton.atol_component ? p->n : 1); ++i) {
    const double atol =
        def->newton.atol_component ? def->newton.atol_component[i] : def->newton.atol;
    const bool derived = isnan(atol) && !def->newton.atol_component;
    if (!derived && !(atol > 0.0 && isfinite(atol)))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.atol",
                      "newton.atol = %g (component %d) is not a positive number.", atol, i);
  }
  return AS_OK;
}

/// Hands out `count` doubles of the arena; on the first pass, with no arena yet, only counts. There is room for one more
/// where `count` is odd: loops may take two at a time.
static double *take(double *arena, size_t *used, size_t count) {
  double *const place = arena ? arena + *used : NULL;
  *used += count + count % 2;
  return place;
}

static size_t lay_out_values(asi_values *x, const as_problem *p, double *arena, size_t used) {
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda;
  x->q = take(arena, &used, (size_t)p->nq);
  x->v = take(arena, &used, n);
  x->vdot = take(arena, &used, n);
  x->a = take(arena, &used, n);
  x->lambda = take(arena, &used, m);
  x->psi = take(arena, &used, (size_t)p->def.n_psi);
  x->eta = take(arena, &used, m);
  x->x = take(arena, &used, (size_t)p->def.n_x);
  x->xdot = take(arena, &used, (size_t)p->def.n_x);
  x->w = take(arena, &used, (size_t)p->def.n_x);
  x->y = take(arena, &used, (size_t)p->def.n_y);
  return used;
}

/// Lays out all arrays and returns how many doubles they take.
static size_t lay_out(as_integrator *s, double *arena) {
  const as_problem *p = s->problem;
  const size_t n = (size_t)p->n, m = (size_t)p->def.n_lambda, k = (size_t)p->def.n_psi;
  const size_t nx = (size_t)p->def.n_x, ny = (size_t)p->def.n_y;
  const size_t unknowns =
      s->def.method == AS_METHOD_SOI2 ? 2 * (n + m + k) : n + 2 * m + k + nx + ny;
  const size_t soi2 = s->def.method == AS_METHOD_SOI2 ? n : 0;
  size_t used = lay_out_values(&s->now, p, arena, 0);
  used = lay_out_values(&s->next, p, arena, used);
  used = lay_out_values(&s->shown, p, arena, used);
  used = lay_out_values(&s->last.from, p, arena, used);
  used = lay_out_values(&s->last.to, p, arena, used);
  used = lay_out_values(&s->output.lines, p, arena, used);
  s->output.velocity = take(arena, &used, n);
  s->output.rest = take(arena, &used, n + m + k + nx + ny);
  s->output.block = take(arena, &used, asi_output_block_size(p));
  s->control.size = take(arena, &used, 2 * n + nx);
  s->control.new_size = take(arena, &used, 2 * n + nx);
  s->control.atol = take(arena, &used, 2 * n + nx);
  s->control.given_atol = take(arena, &used, 2 * n + nx);
  s->control.estimate = take(arena, &used, 2 * n + nx);
  for (int i = 0; i < 3; ++i) s->control.mean[i] = take(arena, &used, n + nx);
  for (int i = 0; i < 3; ++i) s->control.noise[i] = take(arena, &used, n);
  for (int i = 0; i < 3; ++i) s->control.slow[i] = take(arena, &used, n);
  s->control.third = take(arena, &used, n);
  s->control.held = take(arena, &used, n);
  s->control.inputs = take(arena, &used, 3 * (n + nx + m) + 2 * m + n);
  s->last.xi = take(arena, &used, n);
  for (int i = 0; i < 2; ++i) s->last.rate[i] = take(arena, &used, n);
  s->last.u = take(arena, &used, (size_t)p->def.n_u);
  s->impulse = take(arena, &used, m + k);
  s->restitution = take(arena, &used, m + k);
  s->target = take(arena, &used, m + k);
  s->rate.vdot = take(arena, &used, n);
  s->calm_vdot = take(arena, &used, n);
  s->calm_lambda = take(arena, &used, m);
  s->calm_psi = take(arena, &used, k);
  s->a_rate = take(arena, &used, n);
  const size_t watched = s->def.method == AS_METHOD_INDEX3 ? m : 0;
  for (int i = 0; i < 3; ++i) s->parasite.past[i] = take(arena, &used, watched);
  s->parasite.swing = take(arena, &used, watched);
  for (int i = 0; i < ASI_PATH; ++i) s->path.mean[i] = take(arena, &used, n);
  s->path.extra = take(arena, &used, n);
  s->path.change = take(arena, &used, n);
  s->path.foretold = take(arena, &used, n);
  s->rate.lambda = take(arena, &used, m);
  s->rate.psi = take(arena, &used, k);
  s->rate.xdot = take(arena, &used, nx);
  s->rate.y = take(arena, &used, ny);
  s->w0 = take(arena, &used, nx);
  s->atol = take(arena, &used, n);
  s->given_atol = take(arena, &used, n);
  s->v0 = take(arena, &used, n);
  s->a0 = take(arena, &used, n);
  s->xi = take(arena, &used, n);
  const bool has_eta = s->def.method == AS_METHOD_INDEX2 && m > 0;
  s->eta_path = has_eta ? take(arena, &used, n) : NULL;
  s->eta_change = has_eta ? take(arena, &used, n) : NULL;
  if (has_eta) {
    const asi_pattern *b = &p->pattern[AS_BLOCK_G_Q];
    const size_t entries = (size_t)asi_pattern_nnz(b);
    s->b_n =
        (as_matrix){.rows = b->rows, .cols = b->cols, .col_start = b->col_start, .row = b->row};
    s->b_n.value = take(arena, &used, entries);
    s->b_trial = take(arena, &used, entries);
    s->metric = take(arena, &used, entries);
  }
  s->p = take(arena, &used, soi2);
  s->p0 = take(arena, &used, soi2);
  s->a_before = take(arena, &used, soi2);
  s->p_before = take(arena, &used, soi2);
  s->f0 = take(arena, &used, soi2);
  s->v_tilde = take(arena, &used, soi2);
  s->turns = take(arena, &used, n);
  s->weight = take(arena, &used, n);
  s->work_n = take(arena, &used, n);
  s->z = take(arena, &used, unknowns);
  s->residual = take(arena, &used, unknowns);
  s->increment = take(arena, &used, unknowns);
  s->kkt_rhs = take(arena, &used, n + m + k + nx + ny);
  s->redundancy.rows = (int)(m + k);
  s->redundancy.column_scale = take(arena, &used, n);
  s->redundancy.inverse_D2 = take(arena, &used, m + k);
  s->redundancy.inverse_d2 = take(arena, &used, m + k);
  s->redundancy.per_row = take(arena, &used, m + k);
  s->redundancy.probe = take(arena, &used, n + m + k);
  s->redundancy.image = take(arena, &used, n + m + k);
  s->redundancy.force = take(arena, &used, n);
  s->redundancy.norm_weight = take(arena, &used, m + k);
  s->redundancy.favour = take(arena, &used, m + k);
  s->redundancy.shown = take(arena, &used, m + k);
  s->redundancy.seen = take(arena, &used, m + k);
  s->q_given = take(arena, &used, (size_t)p->nq);
  s->given.rows = take(arena, &used, 2 * m + k);
  s->q_best = take(arena, &used, (size_t)p->nq);
  for (int i = 0; i < ASI_HISTORY; ++i) s->predictor.z[i] = take(arena, &used, unknowns);
  return used;
}

/// [NW.13] how errors of v' ring on where q, in index-2 form v, is ruled by constraints
///
///     v'_n:  (1 - alpha_f) r + alpha_f = 0
///     q = 0:  beta r^2 + (1/2 + gamma - 2 beta) r + 1/2 - gamma + beta = 0,   v = 0:  gamma r + 1 - gamma = 0
static void set_ringing(asi_predictor *p, as_method method, const as_coefficients *c) {
  double rule[ASI_MOST_RINGING] = {1.0, (1.0 - c->gamma) / c->gamma};
  const double root = c->alpha_f / (1.0 - c->alpha_f);
  if (method == AS_METHOD_SOI2 || c->beta == 0.0) return;
  if (method == AS_METHOD_INDEX3) {
    rule[1] = (0.5 + c->gamma - 2.0 * c->beta) / c->beta;
    rule[2] = (0.5 - c->gamma + c->beta) / c->beta;
  }
  p->n_ringing = method == AS_METHOD_INDEX3 ? 3 : 2;
  p->ringing[0] = 1.0;
  for (int i = 1; i <= p->n_ringing; ++i)
    p->ringing[i] = (i < p->n_ringing ? rule[i] : 0.0) + root * rule[i - 1];
}

static as_status create_parts(as_integrator *s, as_error *error) {
  const as_problem *p = s->problem;
  as_status status = choose_coefficients(s, error);
  if (status == AS_OK && p->def.n_x > 0) status = choose_state_coefficients(s, error);
  if (status) return status;
  static const asi_method *const methods[] = {[AS_METHOD_INDEX3] = &asi_method_index3,
                                              [AS_METHOD_INDEX2] = &asi_method_index2,
                                              [AS_METHOD_SOI2] = &asi_method_soi2};
  s->method = methods[s->def.method];
  s->arena_size = lay_out(s, NULL);
  s->arena = asi_calloc(s->arena_size, sizeof(double));
  s->backup = asi_calloc(s->arena_size, sizeof(double));
  if (s->arena == NULL || s->backup == NULL) return asi_fail_memory(error);
  lay_out(s, s->arena);
  for (int i = 0; i < p->n; ++i)
    s->given_atol[i] =
        s->def.newton.atol_component ? s->def.newton.atol_component[i] : s->def.newton.atol;
  s->def.newton.atol_component = NULL;
  for (int i = 0; i < p->n; ++i) s->turns[i] = p->is_rotation[i] ? 1.0 : 0.0;
  // What stands behind an odd number is not seen by comparisons.
  if (p->n % 2) s->turns[p->n] = s->atol[p->n] = (double)NAN;
  status = asi_evaluator_init(&s->eval, p, &s->statistics, error);
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (p->present & AS_BLOCK_BIT(block))
      status = asi_matrix_init(&s->block[block], &p->pattern[block], error);
  if (status == AS_OK) status = s->method->create(s, error);
  if (status == AS_OK) status = asi_start_create(s, error);
  if (status == AS_OK) status = asi_output_create(s, error);
  if (status == AS_OK) status = asi_redundancy_init(s, error);
  if (status == AS_OK) status = asi_sampling_create(s, error);
  if (status == AS_OK) status = asi_control_create(s, error);
  if (status == AS_OK) status = asi_events_create(s, error);
  s->predictor.size = s->unknowns;
  s->predictor.n = p->n;
  s->predictor.per = p->per_typical;
  set_ringing(&s->predictor, s->def.method, &s->c);
  return status;
}

as_status as_integrator_create(const as_problem *problem, const as_integrator_def *def,
                               as_integrator **out, as_error *error) {
  if (problem == NULL || def == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_integrator_create needs a problem, a description and a place for the "
                    "integrator.");
  *out = NULL;
  as_status status = check_def(problem, def, error);
  if (status) return status;
  as_integrator *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  s->problem = problem;
  s->def = *def;
  status = create_parts(s, error);
  if (status) {
    as_integrator_destroy(s);
    return status;
  }
  *out = s;
  return AS_OK;
}

void as_integrator_destroy(as_integrator *s) {
  if (s == NULL) return;
  asi_system_free(&s->step);
  asi_system_free(&s->shared);
  asi_system_free(&s->eta);
  free(s->eta_part);
  asi_system_free(&s->kkt);
  asi_system_free(&s->projection);
  asi_system_free(&s->consistent);
  asi_system_free(&s->output.kkt);
  asi_system_free(&s->output.projection);
  asi_system_free(&s->output.consistent);
  asi_system_free(&s->output.stiff);
  free(s->last.inactive);
  free(s->last.implied);
  asi_motion_free(&s->motion);
  asi_evaluator_free(&s->eval);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) asi_matrix_free(&s->block[block]);
  asi_redundancy_free(&s->redundancy);
  asi_sampling_free(s);
  asi_events_free(s);
  free(s->arena);
  free(s->backup);
  free(s);
}

// ---- what the other files share -------------------------------------------------------------------

/// A call that has succeeded leaves no failure of a first attempt behind.
as_status asi_succeed(as_error *error) {
  if (error) {
    error->status = AS_OK;
    error->t = (double)NAN;
    error->component[0] = error->message[0] = '\0';
  }
  return AS_OK;
}

as_status asi_check_started(const as_integrator *s, as_error *error) {
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The integrator is NULL.");
  if (!s->started)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The integrator has not been started: call as_integrator_start first.");
  return AS_OK;
}

void asi_publish(as_integrator *s, double t, const asi_values *at) {
  s->state = (as_state){.t = t,
                        .q = at->q,
                        .v = at->v,
                        .vdot = at->vdot,
                        .a = at->a,
                        .a_offset = s->a_offset,
                        .lambda = at->lambda,
                        .psi = at->psi,
                        .eta = s->def.method == AS_METHOD_INDEX2 ? at->eta : NULL,
                        .x = at->x,
                        .xdot = at->xdot,
                        .w = at->w,
                        .w_offset = s->w_offset,
                        .y = at->y,
                        .u = s->eval.u};
}

// ---- what a caller may ask ------------------------------------------------------------------------

const as_state *as_integrator_state(const as_integrator *s) { return &s->state; }

as_status as_integrator_velocity(as_integrator *s, double *v, as_error *error) {
  const as_status started = asi_check_started(s, error);
  if (started) return started;
  if (v == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, "v",
                    "as_integrator_velocity needs a place for the velocity.");
  const as_problem *p = s->problem;
  as_start_report report;
  asi_output steps;
  s->eval.error = error;
  asi_output_begin(s, true, &steps);
  memcpy(v, s->state.v, (size_t)p->n * sizeof(double));
  as_status status = AS_OK;
  if (p->def.n_lambda + p->def.n_psi > 0)
    status = asi_project_velocity(s, s->state.t, s->state.q, v, true, false, &report);
  asi_output_end(s, &steps);
  return status;
}

as_status as_integrator_statistics(as_integrator *s, as_statistics *out, as_error *error) {
  if (s == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_integrator_statistics needs an integrator and a place for the numbers.");
  s->eval.error = error;
  *out = s->statistics;
  out->next_step = s->control.h;
  if (!isnan(out->next_step))
    out->next_step =
        fmin(fmax(out->next_step, s->def.tolerance.min_step), s->def.tolerance.max_step);
  if (!s->started) return AS_OK;
  asi_output steps;
  asi_output_begin(s, true, &steps);
  const as_status status =
      asi_drift(s, s->state.t, s->state.q, s->state.v, &out->position_drift, &out->velocity_drift);
  asi_output_end(s, &steps);
  return status;
}
