/// as_integrator_start: checks what it is given, brings it onto the constraints, finds their rank, and
/// solves for the rest.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/integrator.h"

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
void asi_name_rows(const as_problem *p, const int *rows, int count, char *text, size_t size) {
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
  asi_name_rows(s->problem, r->redundant + (nearly ? r->n_redundant : 0), count, names,
                sizeof names);
  snprintf(message, sizeof message, "%d of %d constraint rows are %s: %s. %s", count, r->rows,
           nearly ? "nearly redundant" : "redundant", names,
           nearly ? "Their multipliers may be far too large."
                  : "Their multipliers are chosen as small as possible.");
  s->def.log(AS_LOG_WARNING, message, s->def.log_user);
}

/// Finds rows that others imply, or nearly, at a point.
as_status asi_find_redundancy(as_integrator *s, double t, const double *q, const double *v,
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
  const as_status status =
      asi_find_redundancy(s, t, q, v, asi_redundancy_near(s), ASI_MOST_REDUNDANT);
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
  s->t = initial->t;
  s->a_offset = s->w_offset = 0.0;
  s->last.known = false;
  asi_publish(s, s->t, &s->now);
  asi_control_start(s);
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
  return status ? status : asi_succeed(error);
}
