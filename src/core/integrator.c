/// The integrator's public functions: memory, steps, statistics.
#include "core/integrator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/denormals.h"
#include "base/error.h"

// ---- small tools shared by the integrator's files -------------------------------------------------

double asi_worse(double a, double b) { return isnan(a) || b <= a ? a : b; }

double asi_max_abs(const double *x, int n) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) {
    if (isnan(x[i])) return x[i];
    if (fabs(x[i]) > largest) largest = fabs(x[i]);
  }
  return largest;
}

as_status asi_blocks(as_integrator *s, const as_point *at, as_block_set wanted) {
  if (s->mass_known) wanted &= ~AS_BLOCK_BIT(AS_BLOCK_M);
  const as_status status = wanted ? asi_eval_blocks(&s->eval, at, wanted, s->block) : AS_OK;
  if (status == AS_OK && s->problem->def.mass_constant && (wanted & AS_BLOCK_BIT(AS_BLOCK_M)))
    s->mass_known = true;
  return status;
}

/// Names the unknown in a column of a system: v', lambda, psi, and then index-2's eta or SOI2's second
/// stage.
static void unknown_name(const as_problem *p, int columns, int column, char *text, size_t size) {
  const int psi = p->n + p->def.n_lambda, eta = psi + p->def.n_psi;
  const int states = columns - p->def.n_x - p->def.n_y; // kkt and projection have none
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
      "redundant constraint, or a motion without inertia).",
      what, t, name);
}

as_status asi_factor(as_integrator *s, asi_system *system, double t, const char *what) {
  int culprit = 0;
  ++s->statistics.factorizations;
  const as_status status = system->solver->ops->factor(system->solver, system->value, &culprit);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(s->eval.error);
  return status ? fail_singular(s, system, t, what, culprit) : AS_OK;
}

as_status asi_solve(as_integrator *s, asi_system *system, double t, double *b) {
  ++s->statistics.solves;
  const as_status status = system->solver->ops->solve(system->solver, b);
  if (status == AS_ERR_MEMORY) return asi_fail_memory(s->eval.error);
  if (status)
    return asi_fail(s->eval.error, AS_ERR_SINGULAR, t, NULL,
                    "A linear system could not be solved accurately at t = %.9g s.", t);
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
      .newton = {.rtol = 1e-8, .atol = 1e-12, .max_iterations = 20, .reuse = true},
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
  if (p->def.n_lambda > 0 && s->def.method == AS_METHOD_INDEX3 && s->def.log != NULL &&
      (s->D >= 0.0 || s->c.beta <= 0.25 - 0.5 * s->D))
    s->def.log(AS_LOG_WARNING,
               "These coefficients do not damp high frequencies (as with rho_inf = 1): errors of "
               "index-3 multipliers will oscillate and not die out.",
               s->def.log_user);
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
  if (def->method == AS_METHOD_SOI2 && p->def.n_x + p->def.n_y > 0)
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, p->def.n_x > 0 ? "x" : "y",
        "SOI2 does not take first-order states and outputs: its accelerations belong to "
        "t + D h, not to t, where a controller sees them; use index-2.");
  if (!(def->newton.rtol >= 0.0) || !(def->newton.rtol < 1.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.rtol",
                    "newton.rtol = %g is not in [0, 1).", def->newton.rtol);
  if (def->newton.max_iterations < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.max_iterations",
                    "newton.max_iterations = %d is not positive.", def->newton.max_iterations);
  for (int i = 0; i < (def->newton.atol_component ? p->n : 1); ++i) {
    const double atol =
        def->newton.atol_component ? def->newton.atol_component[i] : def->newton.atol;
    if (!(atol > 0.0 && isfinite(atol)))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "newton.atol",
                      "newton.atol = %g (component %d) is not a positive number.", atol, i);
  }
  return AS_OK;
}

/// Hands out `count` doubles of the arena; on the first pass, with no arena yet, only counts.
static double *take(double *arena, size_t *used, size_t count) {
  double *const place = arena ? arena + *used : NULL;
  *used += count;
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
  s->rate.vdot = take(arena, &used, n);
  s->a_rate = take(arena, &used, n);
  s->rate.lambda = take(arena, &used, m);
  s->rate.psi = take(arena, &used, k);
  s->rate.xdot = take(arena, &used, nx);
  s->rate.y = take(arena, &used, ny);
  s->w0 = take(arena, &used, nx);
  s->atol = take(arena, &used, n);
  s->v0 = take(arena, &used, n);
  s->a0 = take(arena, &used, n);
  s->xi = take(arena, &used, n);
  s->p = take(arena, &used, soi2);
  s->p0 = take(arena, &used, soi2);
  s->a_before = take(arena, &used, soi2);
  s->p_before = take(arena, &used, soi2);
  s->f0 = take(arena, &used, soi2);
  s->v_tilde = take(arena, &used, soi2);
  s->weight = take(arena, &used, n);
  s->work_n = take(arena, &used, n);
  s->z = take(arena, &used, unknowns);
  s->predicted = take(arena, &used, unknowns);
  s->residual = take(arena, &used, unknowns);
  s->increment = take(arena, &used, unknowns);
  s->kkt_rhs = take(arena, &used, n + m + k + nx + ny);
  s->redundancy.rows = (int)(m + k);
  s->redundancy.column_scale = take(arena, &used, n);
  s->redundancy.inverse_D2 = take(arena, &used, m + k);
  s->redundancy.inverse_d2 = take(arena, &used, m + k);
  s->redundancy.probe = take(arena, &used, n + m + k);
  s->q_given = take(arena, &used, (size_t)p->nq);
  s->q_best = take(arena, &used, (size_t)p->nq);
  for (int i = 0; i < ASI_HISTORY; ++i) s->predictor.z[i] = take(arena, &used, unknowns);
  return used;
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
    s->atol[i] =
        s->def.newton.atol_component ? s->def.newton.atol_component[i] : s->def.newton.atol;
  s->def.newton.atol_component = NULL;
  status = asi_evaluator_init(&s->eval, p, &s->statistics, error);
  for (int block = 0; block < AS_BLOCK_COUNT && status == AS_OK; ++block)
    if (p->present & AS_BLOCK_BIT(block))
      status = asi_matrix_init(&s->block[block], &p->pattern[block], error);
  if (status == AS_OK) status = s->method->create(s, error);
  if (status == AS_OK) status = asi_start_create(s, error);
  if (status == AS_OK) status = asi_redundancy_init(s, error);
  if (status == AS_OK) status = asi_sampling_create(s, error);
  s->predictor.size = s->unknowns;
  s->predictor.n = p->n;
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
  asi_system_free(&s->kkt);
  asi_system_free(&s->projection);
  asi_system_free(&s->consistent);
  asi_motion_free(&s->motion);
  asi_evaluator_free(&s->eval);
  asi_matrix_free(&s->b_n);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) asi_matrix_free(&s->block[block]);
  asi_redundancy_free(&s->redundancy);
  asi_sampling_free(s);
  free(s->arena);
  free(s->backup);
  free(s);
}

/// A call that has succeeded leaves no failure of a first attempt behind.
static as_status succeed(as_error *error) {
  if (error) {
    error->status = AS_OK;
    error->t = (double)NAN;
    error->component[0] = error->message[0] = '\0';
  }
  return AS_OK;
}

// ---- start ----------------------------------------------------------------------------------------

static as_status check_started(const as_integrator *s, as_error *error) {
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The integrator is NULL.");
  if (!s->started)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "The integrator has not been started: call as_integrator_start first.");
  return AS_OK;
}

static void publish(as_integrator *s) {
  const asi_values *now = &s->now;
  s->state.q = now->q;
  s->state.v = now->v;
  s->state.vdot = now->vdot;
  s->state.a = now->a;
  s->state.lambda = now->lambda;
  s->state.psi = now->psi;
  s->state.x = now->x;
  s->state.xdot = now->xdot;
  s->state.w = now->w;
  s->state.y = now->y;
  s->state.u = s->eval.u;
  s->state.eta = s->def.method == AS_METHOD_INDEX2 ? now->eta : NULL;
}

static as_status check_initial(as_integrator *s, const as_initial *initial, as_error *error) {
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The integrator is NULL.");
  if (initial == NULL || initial->q == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "q",
                    "as_integrator_start needs a starting configuration q.");
  if (!isfinite(initial->t))
    return asi_fail(error, AS_ERR_ARGUMENT, initial->t, "t", "The starting time %g is not finite.",
                    initial->t);
  const as_problem_def *def = &s->problem->def;
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
  for (int i = 0; initial->v && i < s->problem->n; ++i) {
    if (isfinite(initial->v[i])) continue;
    char name[64];
    asi_component_name(s->problem, AS_QUANTITY_V, i, name, sizeof name);
    return asi_fail(error, AS_ERR_ARGUMENT, initial->t, name, "The starting velocity of %s is %g.",
                    name, initial->v[i]);
  }
  return as_space_check(s->problem->space, initial->q, error);
}

/// Lists names of rows, up to eight of them.
static void name_rows(const as_problem *p, const int *rows, int count, char *text, size_t size) {
  text[0] = '\0';
  for (int i = 0; i < count && i < 8; ++i) {
    const bool holonomic = rows[i] < p->def.n_lambda;
    char name[64];
    asi_component_name(p, holonomic ? AS_QUANTITY_LAMBDA : AS_QUANTITY_PSI,
                       holonomic ? rows[i] : rows[i] - p->def.n_lambda, name, sizeof name);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "", name);
  }
  const size_t used = strlen(text);
  if (count > 8) snprintf(text + used, size - used, ", ...");
}

/// Says which rows are redundant, or nearly.
static void warn_of_redundancy(const as_integrator *s, bool nearly) {
  const asi_redundancy *r = &s->redundancy;
  const int count = nearly ? r->n_nearly : r->n_redundant;
  if (count == 0 || s->def.log == NULL) return;
  char names[256], message[512];
  name_rows(s->problem, r->redundant + (nearly ? r->n_redundant : 0), count, names, sizeof names);
  snprintf(message, sizeof message, "%d of %d constraint rows are %s: %s. %s", count, r->rows,
           nearly ? "nearly redundant" : "redundant", names,
           nearly ? "Their multipliers may be far too large."
                  : "Their multipliers are chosen as small as possible.");
  s->def.log(AS_LOG_WARNING, message, s->def.log_user);
}

/// Finds rows that others imply, or nearly, at a point.
static as_status find_redundancy(as_integrator *s, double t, const double *q, const double *v,
                                 double near, int most) {
  const as_point at = {.t = t, .q = q, .v = v};
  const as_status status = asi_blocks(
      s, &at, AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V));
  if (status) return status;
  asi_redundancy_scale(s);
  return asi_redundancy_find(s, t, near, most);
}

/// Finds the rank of the constraints at the start and switches the compliance on if it is short.
static as_status prepare_constraints(as_integrator *s, double t, const double *q, const double *v,
                                     as_start_report *report) {
  const asi_redundancy *r = &s->redundancy;
  const as_status status = find_redundancy(s, t, q, v, asi_redundancy_near(s), ASI_MOST_REDUNDANT);
  if (status) return status;
  memcpy(r->redundant, r->found, (size_t)r->rows * sizeof(int));
  if (r->n_redundant > 0)
    s->base_compliance = s->def.method == AS_METHOD_INDEX3 ? 1e-6 : 1e-8; // [RE.3]
  s->compliance = s->base_compliance;
  warn_of_redundancy(s, false);
  warn_of_redundancy(s, true);
  report->n_redundant = r->n_redundant;
  report->n_nearly_redundant = r->n_nearly;
  report->redundant = r->redundant;
  report->degrees_of_freedom = s->problem->n - (r->rows - r->n_redundant);
  return AS_OK;
}

/// The given x, and first guesses of v', lambda, psi, x' and y: those given, else zero and `value`.
static void guess_values(as_integrator *s, const as_initial *initial, double value) {
  const as_problem *p = s->problem;
  memset(s->next.vdot, 0, (size_t)p->n * sizeof(double));
  for (int i = 0; i < p->def.n_lambda; ++i)
    s->next.lambda[i] = initial->lambda ? initial->lambda[i] : value;
  for (int i = 0; i < p->def.n_psi; ++i) s->next.psi[i] = initial->psi ? initial->psi[i] : value;
  for (int i = 0; i < p->def.n_x; ++i) s->next.x[i] = initial->x ? initial->x[i] : 0.0;
  memset(s->next.xdot, 0, (size_t)p->def.n_x * sizeof(double));
  for (int i = 0; i < p->def.n_y; ++i) s->next.y[i] = initial->y ? initial->y[i] : 0.0;
}

/// Computes consistent values into s->next.
static as_status consistent_values(as_integrator *s, const as_initial *initial,
                                   as_start_report *report) {
  const as_problem *p = s->problem;
  const asi_values *x = &s->next;
  const size_t n = (size_t)p->n * sizeof(double);
  as_status status = AS_OK;
  memcpy(s->q_given, initial->q, (size_t)p->nq * sizeof(double));
  as_space_normalize(p->space, s->q_given);
  memcpy(x->q, s->q_given, (size_t)p->nq * sizeof(double));
  if (p->def.n_lambda > 0) status = asi_project_position(s, initial->t, s->q_given, x->q, report);
  if (initial->v)
    memcpy(x->v, initial->v, n);
  else
    memset(x->v, 0, n);
  report->degrees_of_freedom = p->n;
  s->compliance = s->base_compliance = 0.0;
  if (status == AS_OK && p->def.n_lambda + p->def.n_psi > 0)
    status = asi_project_velocity(s, initial->t, x->q, x->v, s->def.project_start, true, report);
  if (status == AS_OK && p->def.n_lambda + p->def.n_psi > 0)
    status = prepare_constraints(s, initial->t, x->q, x->v, report);
  memset(x->eta, 0, (size_t)p->def.n_lambda * sizeof(double));
  if (status == AS_OK) {
    guess_values(s, initial, 0.0);
    status = asi_solve_acceleration(s, initial->t, x);
  }
  const bool guessed = initial->lambda == NULL || initial->psi == NULL;
  if ((status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE) && guessed &&
      p->def.force_kind == AS_FORCE_GENERAL) {
    // A force with a power of the multipliers does not depend on them at zero.
    guess_values(s, initial, 1.0);
    const as_error original = s->eval.error ? *s->eval.error : (as_error){0};
    const as_status first = status;
    status = asi_solve_acceleration(s, initial->t, x);
    if (status && s->eval.error) *s->eval.error = original;
    if (status) status = first;
  }
  memcpy(x->a, x->vdot, n);
  memcpy(x->w, x->xdot, (size_t)p->def.n_x * sizeof(double));
  return status;
}

as_status as_integrator_start(as_integrator *s, const as_initial *initial, as_start_report *report,
                              as_error *error) {
  as_status status = check_initial(s, initial, error);
  if (status) return status;
  as_start_report own_report = {0};
  const as_integrator saved = *s;
  memcpy(s->backup, s->arena, s->arena_size * sizeof(double));
  memcpy(s->held, s->eval.u, (size_t)s->problem->def.n_u * sizeof(double));
  s->statistics = (as_statistics){0};
  s->eval.error = error;
  s->mass_known = false;
  for (int i = 0; i < s->problem->def.n_u; ++i) s->eval.u[i] = initial->u ? initial->u[i] : 0.0;
  status = consistent_values(s, initial, &own_report);
  if (status) {
    *s = saved;
    memcpy(s->arena, s->backup, s->arena_size * sizeof(double));
    memcpy(s->eval.u, s->held, (size_t)s->problem->def.n_u * sizeof(double));
    s->mass_known = false; // blocks may hold anything now
    if (s->problem->def.force_kind == AS_FORCE_GENERAL)
      s->factor_h = (double)NAN; // [NW.7] reads f_lambda
    return status;
  }
  asi_sampling_start(s, initial->t);
  const asi_values old = s->now;
  s->now = s->next;
  s->next = old;
  publish(s);
  s->state.t = initial->t;
  s->state.a_offset = s->state.w_offset = 0.0;
  s->started = s->first = true;
  s->varying = s->forward = false;
  s->factor_h = (double)NAN;
  s->fresh_contraction = 0.1;
  s->fresh_seen = false;
  s->contraction_age = 0;
  s->first_norm = 0.0;
  asi_predictor_reset(&s->predictor);
  s->last_h = (double)NAN;
  if (report) *report = own_report;
  status = asi_sampling_act(s);
  return status ? status : succeed(error);
}

// ---- step -----------------------------------------------------------------------------------------

// How far constraints may give way while compliance carries a step over a singular position.
#define MAX_GIVE 1e-5

/// Tries one step of size h that ends at t1 (t + h to round-off), with compliance e.
static as_status try_step(as_integrator *s, double h, double t1, double e) {
  s->t1 = t1;
  s->compliance = e;
  as_status status = s->method->begin(s, h);
  if (status == AS_OK) status = asi_newton(s);
  if (status == AS_OK && e > s->base_compliance && s->statistics.position_residual > MAX_GIVE)
    status = AS_ERR_CONVERGENCE;
  s->compliance = s->base_compliance;
  if (status) {
    ++s->statistics.failed_steps;
    s->factor_h = (double)NAN;
    return status;
  }
  s->method->accept(s);
  publish(s);
  s->state.t = t1;
  s->last_h = s->statistics.last_step = h;
  s->first = s->forward = false;
  ++s->factor_age;
  ++s->statistics.steps;
  return AS_OK;
}

enum { MAX_SPLITS = 6 };

/// [RE.5] A step that has failed with `status` is tried again with more compliance, which carries it over
/// a singular position, and then in two parts of 0.6 h and 0.4 h: halves would meet the singular point
/// again.
static as_status rescue_step(as_integrator *s, double h, double t1, as_status status, int splits) {
  static const double compliance[] = {1e-4, 1e-2};
  for (int i = 0; i < 2 && s->redundancy.rows > 0; ++i)
    if (status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE)
      status = try_step(s, h, t1, compliance[i]);
  const double middle = s->state.t + 0.6 * h;
  if (!as_status_is_recoverable(status) || splits == MAX_SPLITS) return status;
  const struct { double from, to; } parts[] = {{s->state.t, middle}, {middle, t1}};
  status = AS_OK;
  for (int i = 0; i < 2 && status == AS_OK; ++i) {
    const double part = parts[i].to - parts[i].from;
    status = try_step(s, part, parts[i].to, s->base_compliance);
    if (as_status_is_recoverable(status))
      status = rescue_step(s, part, parts[i].to, status, splits + 1);
  }
  return status;
}

/// After a step has failed for good: adds to its error which constraint rows are close to dependent where it
/// began. The arena is put back afterwards: the search measures the rows anew.
static void explain_failure(as_integrator *s, as_status status, as_error *error) {
  const asi_redundancy usual = s->redundancy;
  if (error == NULL || usual.rows == 0 ||
      (status != AS_ERR_SINGULAR && status != AS_ERR_CONVERGENCE))
    return;
  as_error ignored;
  s->eval.error = &ignored;
  const double near = 10.0 * asi_redundancy_near(s);
  const as_status found =
      find_redundancy(s, s->state.t, s->now.q, s->now.v, near, usual.n_redundant + 8);
  const int count = s->redundancy.n_redundant + s->redundancy.n_nearly;
  if (found == AS_OK && count > usual.n_redundant) {
    char names[200];
    name_rows(s->problem, s->redundancy.found, count, names, sizeof names);
    const size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used,
             " The constraints are close to singular where it began: %s depend on the others.",
             names);
  }
  s->eval.error = error;
  s->redundancy = usual;
  memcpy(s->arena, s->backup, s->arena_size * sizeof(double));
}

/// A step that leaves everything as it was if it fails, with the error of its first attempt.
static as_status take_safe_step(as_integrator *s, double h, double t1, as_error *error) {
  if (!(h > 0.0 && isfinite(h) && t1 > s->state.t))
    return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, "step",
                    "A step of %g s from t = %.9g s does not move forward in time.", h, s->state.t);
  s->eval.error = error;
  const struct {
    double contraction, fresh_contraction, first_norm;
    long contraction_age;
    bool fresh_seen;
    asi_system *active;
  } memory = {s->contraction,     s->fresh_contraction, s->first_norm,
              s->contraction_age, s->fresh_seen,        s->active};
  const as_status status = try_step(s, h, t1, s->base_compliance);
  if (!as_status_is_recoverable(status)) return status;
  s->contraction = memory.contraction;
  s->fresh_contraction = memory.fresh_contraction;
  s->first_norm = memory.first_norm;
  s->contraction_age = memory.contraction_age;
  s->fresh_seen = memory.fresh_seen;
  s->active = memory.active;
  const as_integrator saved = *s;
  as_error ignored;
  memcpy(s->backup, s->arena, s->arena_size * sizeof(double));
  s->eval.error = &ignored;
  const as_status rescued = rescue_step(s, h, t1, status, 0);
  if (rescued == AS_OK) {
    s->eval.error = error;
    return AS_OK;
  }
  as_statistics statistics = s->statistics; // work was done, but no step
  statistics.steps = saved.statistics.steps;
  statistics.last_step = saved.statistics.last_step;
  *s = saved;
  memcpy(s->arena, s->backup, s->arena_size * sizeof(double));
  s->statistics = statistics;
  explain_failure(s, status, error);
  s->factor_h = (double)NAN;
  return status;
}

/// A step that flushes denormals, and the samples at its end.
static as_status take_step(as_integrator *s, double h, double t1, as_error *error) {
  const asi_float_mode mode = asi_flush_denormals();
  as_status status = take_safe_step(s, h, t1, error);
  if (status == AS_OK && s->problem->def.n_samplers > 0) status = asi_sampling_act(s);
  asi_restore_denormals(mode);
  return status ? status : succeed(error);
}

/// Steps from the current time to t: `most` at the most, the last one stretched or shortened.
static as_status take_steps(as_integrator *s, double most, double t, as_error *error) {
  const double t0 = s->state.t;
  const long n = (long)fmax(1.0, round((t - t0) / most));
  for (long i = 1; i < n; ++i) {
    const as_status status = take_step(s, most, t0 + (double)i * most, error);
    if (status) return status;
  }
  const double rest = t - (t0 + (double)(n - 1) * most);
  return take_step(s, fabs(rest - most) <= 1e-9 * most ? most : rest, t, error);
}

/// The same with samples on the way: equal steps from one to the next.
static as_status take_sampled_steps(as_integrator *s, double most, double t, as_error *error) {
  while (s->state.t < t) {
    const double next = asi_sampling_next(s), gap = fmin(next, t) - s->state.t;
    // A sample next to t is at t.
    const double end = t - fmin(next, t) <= 1e-10 * most ? t : fmin(next, t);
    const double n = fmax(1.0, ceil(gap / most - 1e-9));
    const as_status status = take_steps(s, gap / n, end, error);
    if (status) return status;
  }
  return AS_OK;
}

as_status as_integrator_step(as_integrator *s, double h, as_error *error) {
  const as_status status = check_started(s, error);
  if (status) return status;
  const bool sampled = s->problem->def.n_samplers > 0 && h > 0.0 && isfinite(h);
  return sampled ? take_sampled_steps(s, h, s->state.t + h, error)
                 : take_step(s, h, s->state.t + h, error);
}

as_status as_integrator_advance(as_integrator *s, double t, as_error *error) {
  const as_status started = check_started(s, error);
  if (started) return started;
  const double h = s->def.step, t0 = s->state.t;
  if (!(h > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, t0, "step",
                    "as_integrator_advance needs a step size in the integrator's description.");
  if (!(t >= t0 && isfinite(t)))
    return asi_fail(error, AS_ERR_ARGUMENT, t0, "t",
                    "Cannot advance from t = %.9g s to %.9g s: time runs forward.", t0, t);
  if (!((t - t0) / h < 9e15))
    return asi_fail(error, AS_ERR_ARGUMENT, t0, "step",
                    "From t = %.9g s to %.9g s there are too many steps of %g s.", t0, t, h);
  if (t == t0) return AS_OK;
  return s->problem->def.n_samplers > 0 ? take_sampled_steps(s, h, t, error)
                                        : take_steps(s, h, t, error);
}

// ---- what a caller may ask ------------------------------------------------------------------------

const as_state *as_integrator_state(const as_integrator *s) { return &s->state; }

as_status as_integrator_velocity(as_integrator *s, double *v, as_error *error) {
  const as_status started = check_started(s, error);
  if (started) return started;
  if (v == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, s->state.t, "v",
                    "as_integrator_velocity needs a place for the velocity.");
  const as_problem *p = s->problem;
  const as_statistics saved = s->statistics;
  as_start_report report;
  s->eval.error = error;
  memcpy(v, s->now.v, (size_t)p->n * sizeof(double));
  as_status status = AS_OK;
  if (p->def.n_lambda + p->def.n_psi > 0)
    status = asi_project_velocity(s, s->state.t, s->now.q, v, true, false, &report);
  s->statistics = saved; // output is not the integrator's work
  return status;
}

as_status as_integrator_statistics(as_integrator *s, as_statistics *out, as_error *error) {
  if (s == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_integrator_statistics needs an integrator and a place for the numbers.");
  const as_statistics saved = s->statistics;
  s->eval.error = error;
  *out = saved;
  const as_status status = s->started ? asi_drift(s, s->state.t, s->now.q, s->now.v,
                                                  &out->position_drift, &out->velocity_drift)
                                      : AS_OK;
  s->statistics = saved;
  return status;
}
