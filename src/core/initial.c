/// as_integrator_start: checks what it is given, brings it onto the constraints, finds their rank, and
/// solves for the rest.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/integrator.h"

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

/// How far rows are from implying each other: an angle, and what it makes at the largest lever arm.
static void say_apart(const as_integrator *s, double apart, char *text, size_t size) {
  const double length = s->redundancy.length;
  if (length > 0.0)
    asi_print(text, size, "%.1g rad, or %.1g m,", apart, apart * length);
  else
    asi_print(text, size, "%.1g of their size", apart);
}

/// Says which rows are redundant, or nearly.
static void warn_of_redundancy(const as_integrator *s, double t, const double *q, const double *v,
                               bool nearly) {
  const asi_redundancy *r = &s->redundancy;
  const int count = nearly ? r->n_nearly : r->n_redundant;
  const int *const rows = r->redundant + (nearly ? r->n_redundant : 0);
  if (count == 0 || s->def.log == NULL) return;
  char names[640] = "", apart[64], also[160] = "";
  const as_problem_def *def = &s->problem->def;
  const as_point at = {.t = t, .q = q, .v = v, .u = s->eval.u};
  if (def->describe_redundancy)
    def->describe_redundancy(&at, rows, count, r->group, names, sizeof names, def->user);
  if (names[0] == '\0') asi_name_rows(s->problem, rows, count, names, sizeof names);
  say_apart(s, nearly ? r->found_apart : r->rounded, apart, sizeof apart);
  if (nearly)
    asi_print(also, sizeof also,
              " They are about %s apart: if they are meant to be one, they take freedom from the "
              "machine.",
              apart);
  else if (r->rounded > 0.0)
    asi_print(also, sizeof also, " They are about %s apart, and are taken as one.", apart);
  asi_log(s, AS_LOG_WARNING, "%d of %d constraint rows %s %s: %s.%s %s", count, r->rows,
          count == 1 ? "is" : "are", nearly ? "nearly redundant" : "redundant", names, also,
          nearly             ? "Reactions may be far too large."
          : r->rounded > 0.0 ? "Reactions are those of least norm."
                             : "The motion is not affected; reactions are those of least norm.");
}

/// Finds rows that others imply, or nearly, at a point.
as_status asi_find_redundancy(as_integrator *s, double t, const double *q, const double *v,
                              double near, int most) {
  const as_problem_def *def = &s->problem->def;
  double *const multiplier = s->redundancy.seen; // any: what matters is where forces act
  const as_point at = {.t = t,
                       .q = q,
                       .v = v,
                       .lambda = multiplier,
                       .psi = multiplier + def->n_lambda,
                       .x = s->next.x,
                       .y = s->next.y};
  as_block_set wanted =
      AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V);
  if (def->force_kind == AS_FORCE_GENERAL)
    wanted |= AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA) | AS_BLOCK_BIT(AS_BLOCK_F_PSI);
  for (int i = 0; i < s->redundancy.rows; ++i) multiplier[i] = 1.0;
  asi_rows_update(s, true);
  as_status status = asi_blocks(s, &at, wanted);
  if (status == AS_OK) asi_redundancy_scale(s);
  if (status == AS_OK) asi_redundancy_favour(s);
  if (status == AS_OK) status = asi_redundancy_find(s, t, near, most);
  asi_rows_update(s, false);
  return status;
}

/// [RE.3] e where not all redundant rows are left out
static double redundant_compliance(const as_integrator *s) {
  return s->def.method == AS_METHOD_INDEX2 ? 1e-8 : 1e-6;
}

// Gaps of rows that are left out, relative to lengths, which count: smaller ones are projection's.
#define CLOSED 1e-8

/// The largest |g| of rows that are left out, relative to the largest lever arm.
static as_status measure_gap(as_integrator *s, double t, const double *q, double *gap) {
  const as_problem *p = s->problem;
  const asi_redundancy *r = &s->redundancy;
  const as_point at = {.t = t, .q = q};
  const double length = r->length > 0.0 ? r->length : p->length;
  double *const g = r->image;
  *gap = 0.0;
  if (p->def.n_lambda == 0 || r->n_implied == 0) return AS_OK;
  asi_rows_update(s, true);
  const as_status status = asi_eval_function(&s->eval, ASI_FN_G, &at, s->block, g);
  asi_rows_update(s, false);
  for (int i = 0; i < p->def.n_lambda && status == AS_OK; ++i)
    if (r->implied[i] && !s->eval.inactive[i] && g[i] != 0.0)
      *gap = asi_worse(*gap, fabs(g[i]) / sqrt(r->inverse_D2[i]) / length);
  return status;
}

/// [RE.10] Leaves out the rows that the others imply where q is, to as many digits as they are given with.
static as_status leave_out(as_integrator *s, double t, const double *q, const double *v) {
  asi_redundancy *r = &s->redundancy;
  r->norm_known = false;
  r->limit = asi_redundancy_rounded(s);
  const as_status status =
      asi_find_redundancy(s, t, q, v, asi_redundancy_near(s), ASI_MOST_REDUNDANT);
  r->limit = ASI_REDUNDANT;
  if (status == AS_OK) asi_rows_leave_out(s);
  return status;
}

/// The same where q is on the constraints, as far as can be: how far these rows are from being implied is known then.
static as_status leave_out_here(as_integrator *s, double t, const double *q, const double *v) {
  asi_redundancy *r = &s->redundancy;
  double gap = 0.0;
  as_status status = leave_out(s, t, q, v);
  if (status == AS_OK) status = measure_gap(s, t, q, &gap);
  if (status == AS_OK) r->rounded = fmax(r->found_rounded, gap > CLOSED ? gap : 0.0);
  return status;
}

/// Finds the rank of the constraints at the start, and leaves redundant rows out if it is short. If there are more than are
/// looked for, compliance bears the others.
static as_status prepare_constraints(as_integrator *s, double t, const double *q, const double *v,
                                     as_start_report *report) {
  asi_redundancy *r = &s->redundancy;
  const as_status status = leave_out_here(s, t, q, v);
  if (status) return status;
  memcpy(r->redundant, r->found, (size_t)r->rows * sizeof(int));
  if (r->n_redundant == ASI_MOST_REDUNDANT) s->base_compliance = redundant_compliance(s);
  s->compliance = s->base_compliance;
  warn_of_redundancy(s, t, q, v, false);
  warn_of_redundancy(s, t, q, v, true);
  report->n_redundant = r->n_redundant;
  report->n_nearly_redundant = r->n_nearly;
  report->redundant = r->redundant;
  report->redundancy_group = r->group;
  report->degrees_of_freedom = s->problem->n - (r->rows - s->eval.n_inactive - r->n_redundant);
  if (report->degrees_of_freedom == 0 && s->problem->def.scleronomic)
    asi_log(s, AS_LOG_WARNING,
            "The constraints leave no freedom, and none of them moves: nothing will.");
  return asi_sharing_reserve(s);
}

/// First guesses of v', lambda, psi, x' and y: those given, else zero and, for multipliers, `value`.
static void guess_values(as_integrator *s, const as_initial *initial, double value) {
  const as_problem *p = s->problem;
  memset(s->next.vdot, 0, (size_t)p->n * sizeof(double));
  for (int i = 0; i < p->def.n_lambda; ++i)
    s->next.lambda[i] = initial->lambda ? initial->lambda[i] : value;
  for (int i = 0; i < p->def.n_psi; ++i) s->next.psi[i] = initial->psi ? initial->psi[i] : value;
  memset(s->next.xdot, 0, (size_t)p->def.n_x * sizeof(double));
  for (int i = 0; i < p->def.n_y; ++i) s->next.y[i] = initial->y ? initial->y[i] : 0.0;
}

/// [EV.1] constraints that do not hold have empty rows and no multipliers
void asi_set_active(as_integrator *s, const bool *active) {
  s->eval.n_inactive = 0;
  for (int i = 0; i < s->redundancy.rows; ++i) {
    s->eval.inactive[i] = active != NULL && !active[i];
    s->eval.n_inactive += s->eval.inactive[i];
  }
  asi_rows_update(s, false);
}

/// [RE.10] Where rows contradict each other by the digits that they are given with, no position meets them all: those that the
/// others imply are left out. `status`: what was found without that.
static as_status project_rounded(as_integrator *s, double t, as_status status,
                                 as_start_report *report) {
  const asi_values *x = &s->next;
  const double residual = report->position_residual;
  as_error *const error = s->eval.error;
  const double most = asi_redundancy_rounded(s);
  double gap = (double)INFINITY;
  s->eval.error = NULL;
  as_status closer = leave_out(s, t, x->q, x->v);
  if (closer == AS_OK && s->redundancy.n_implied > 0) {
    closer = asi_project_position(s, t, s->q_given, x->q, true, report);
    if (closer == AS_OK) closer = measure_gap(s, t, x->q, &gap);
  }
  s->eval.error = error;
  report->position_residual = residual;
  return closer == AS_OK && gap <= most ? AS_OK : status;
}

/// Brings q of s->next onto the constraints. `keep`: what may not be changed.
static as_status project_position(as_integrator *s, double t, const unsigned char *keep,
                                  bool may_move, as_start_report *report) {
  const asi_values *x = &s->next;
  as_space_normalize(s->problem->space, x->q);
  memcpy(s->q_given, x->q, (size_t)s->problem->nq * sizeof(double));
  report->position_rows = s->given.rows;
  if (s->problem->def.n_lambda == 0) return AS_OK;
  s->given.keep = keep;
  s->given.positions = true;
  as_status status = asi_project_position(s, t, s->q_given, x->q, may_move, report);
  if (status == AS_ERR_INCONSISTENT && may_move) status = project_rounded(s, t, status, report);
  s->given.positions = false;
  s->given.keep = NULL;
  return status;
}

/// Brings v of s->next onto the constraints. `keep`: what is given, and what may not be changed.
static as_status project_velocity(as_integrator *s, double t, const unsigned char *keep,
                                  bool may_move, as_start_report *report) {
  const asi_values *x = &s->next;
  report->velocity_rows = s->given.rows + s->problem->def.n_lambda;
  s->given.keep = keep;
  const as_status status = asi_project_start_velocity(s, t, x->q, x->v, may_move, x->vdot, report);
  s->given.keep = NULL;
  return status;
}

/// Solves for v', lambda, psi, x' and y of s->next.
static as_status solve_rest(as_integrator *s, double t) {
  const as_problem *p = s->problem;
  const asi_values *x = &s->next;
  for (int i = 0; i < s->redundancy.rows && s->eval.n_left_out > 0; ++i)
    if (s->eval.left_out[i])
      *(i < p->def.n_lambda ? x->lambda + i : x->psi + i - p->def.n_lambda) = 0.0;
  const as_status status = asi_solve_acceleration(s, t, x, 0);
  memset(x->eta, 0, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(x->a, x->vdot, (size_t)p->n * sizeof(double));
  memcpy(x->w, x->xdot, (size_t)p->def.n_x * sizeof(double));
  return status;
}

/// Makes s->next the current values; the next step is a first one.
static void go_on(as_integrator *s) {
  const asi_values old = s->now;
  s->now = s->next;
  s->next = old;
  s->a_offset = s->w_offset = 0.0;
  s->first = true;
  asi_path_forget(s);
  asi_publish(s, s->t, &s->now);
}

// ---- start ----------------------------------------------------------------------------------------

/// Computes consistent values into s->next.
static as_status consistent_values(as_integrator *s, const as_initial *initial,
                                   as_start_report *report) {
  const as_problem *p = s->problem;
  const asi_values *x = &s->next;
  const double t = initial->t;
  memcpy(x->q, initial->q, (size_t)p->nq * sizeof(double));
  for (int i = 0; i < p->n; ++i) x->v[i] = initial->v ? initial->v[i] : 0.0;
  for (int i = 0; i < p->def.n_x; ++i) x->x[i] = initial->x ? initial->x[i] : 0.0;
  report->degrees_of_freedom = p->n;
  asi_rows_take_all(s);
  s->redundancy.rounded = 0.0;
  asi_set_active(s, initial->active);
  s->compliance = s->base_compliance = 0.0;
  as_status status = project_position(s, t, initial->keep, s->def.project_start, report);
  if (status == AS_OK && s->redundancy.rows > 0) {
    status = prepare_constraints(s, t, x->q, x->v, report);
    if (status == AS_OK)
      status = project_velocity(s, t, initial->keep, s->def.project_start, report);
  }
  if (status) return status;
  guess_values(s, initial, 0.0);
  status = solve_rest(s, t);
  const bool guessed = initial->lambda == NULL || initial->psi == NULL;
  if ((status == AS_ERR_SINGULAR || status == AS_ERR_CONVERGENCE) && guessed &&
      p->def.force_kind == AS_FORCE_GENERAL) {
    // A force with a power of the multipliers does not depend on them at zero.
    guess_values(s, initial, 1.0);
    const as_error original = s->eval.error ? *s->eval.error : (as_error){0};
    const as_status first = status;
    status = solve_rest(s, t);
    if (status && s->eval.error) *s->eval.error = original;
    if (status) status = first;
  }
  return status;
}

/// Makes the consistent values in s->next a start at t.
static as_status begin(as_integrator *s, double t) {
  asi_sampling_start(s, t);
  s->t = t;
  s->last.known = false;
  go_on(s);
  asi_control_start(s);
  asi_index2_metric(s);
  s->started = true;
  s->varying = s->forward = s->open = false;
  asi_parasite_forget(s);
  s->settled = s->t;
  s->report = (as_event_report){.index = -1, .impulse = s->impulse};
  memset(s->impulse, 0, (size_t)s->redundancy.rows * sizeof(double));
  s->factor_h = (double)NAN;
  s->active = s->shared.size > 0 ? &s->shared : &s->step;
  s->coupled_steps = 0;
  s->seen.fresh_contraction = 0.1;
  s->seen.fresh_seen = false;
  s->seen.fresh_norm = 1.0;
  s->seen.contraction_age = 0;
  s->seen.ageing_left = 0;
  s->factor_iterations = 0;
  s->seen.first_norm = 0.0;
  s->seen.refining = 1.0;
  s->seen.refining_age = 0;
  asi_predictor_reset(&s->predictor);
  s->last_h = s->mesh.h = (double)NAN;
  bool jumped = false;
  as_status status = asi_sampling_act(s, &jumped);
  if (status == AS_OK) status = asi_events_start(s);
  if (status) return status; // and the run before goes on with its factors
  asi_system_forget(&s->step);
  asi_system_forget(&s->shared);
  asi_system_forget(&s->eta);
  return AS_OK;
}

/// Copies which rows hold, and which are left out.
static void keep_rows(as_integrator *s) {
  const size_t size = (size_t)s->redundancy.rows * sizeof(bool);
  memcpy(s->was_inactive, s->eval.inactive, size);
  memcpy(s->redundancy.was_implied, s->redundancy.implied, size);
}

/// Puts the copy back; their numbers are known.
static void take_rows_back(as_integrator *s) {
  const size_t size = (size_t)s->redundancy.rows * sizeof(bool);
  memcpy(s->eval.inactive, s->was_inactive, size);
  memcpy(s->redundancy.implied, s->redundancy.was_implied, size);
  asi_rows_update(s, false);
}

as_status as_integrator_start(as_integrator *s, const as_initial *initial, as_start_report *report,
                              as_error *error) {
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The integrator is NULL.");
  as_status status = asi_check_initial(s->problem, initial, error);
  if (status) return status;
  as_start_report own_report = {0};
  const as_integrator saved = *s;
  memcpy(s->backup, s->arena, s->arena_size * sizeof(double));
  asi_sampling_keep(s);
  asi_events_keep(s);
  keep_rows(s);
  s->statistics = (as_statistics){0};
  s->blow.kinetic[1] = s->blow.stored[1] = 0.0;
  s->eval.error = error;
  s->mass_known = false;
  s->eval.rate = asi_rate_at_rest(s);
  asi_system_forget(&s->kkt); // a run that is started again is like a new one
  asi_system_forget(&s->consistent);
  asi_system_forget(&s->projection);
  for (int i = 0; i < s->problem->def.n_u; ++i) s->eval.u[i] = initial->u ? initial->u[i] : 0.0;
  status = consistent_values(s, initial, &own_report);
  if (status == AS_OK) status = begin(s, initial->t);
  if (status == AS_OK) status = asi_show_reactions(s);
  if (status) {
    const asi_system least = s->redundancy.least; // which may have been made
    *s = saved;
    s->redundancy.least = least;
    memcpy(s->arena, s->backup, s->arena_size * sizeof(double));
    asi_sampling_take_back(s);
    asi_events_take_back(s);
    take_rows_back(s);
    s->mass_known = false; // blocks may hold anything now
    if (s->problem->def.force_kind == AS_FORCE_GENERAL)
      s->factor_h = (double)NAN; // [NW.7] reads f_lambda
    return status;
  }
  if (report) *report = own_report;
  return asi_succeed(error);
}

// ---- restarts -------------------------------------------------------------------------------------

/// [EV.2] struck constraints, active or not, take part in the projection of v, and leave it with
/// -restitution times the rate they came with
static as_status set_targets(as_integrator *s, const double *restitution) {
  const as_problem *p = s->problem;
  const int m = p->def.n_lambda, rows = s->redundancy.rows;
  bool any = false;
  for (int i = 0; i < rows; ++i) {
    if (isnan(restitution[i])) continue;
    any = true;
    s->eval.n_inactive -= s->eval.inactive[i];
    s->eval.inactive[i] = false;
  }
  asi_rows_update(s, false);
  if (!any) return AS_OK;
  const as_point at = {.t = s->t, .q = s->next.q, .v = s->next.v};
  as_status status = AS_OK;
  if (m > 0) status = asi_blocks(s, &at, asi_eval_needs(p, ASI_FN_GDOT));
  if (status == AS_OK && m > 0)
    status = asi_eval_function(&s->eval, ASI_FN_GDOT, &at, s->block, s->target);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_function(&s->eval, ASI_FN_K, &at, s->block, s->target + m);
  for (int i = 0; i < rows; ++i)
    s->target[i] = isnan(restitution[i]) ? 0.0 : -restitution[i] * s->target[i];
  return status;
}

/// Positions of s->next onto the constraints that hold from now on, velocities also onto those that are
/// struck; then the rest.
static as_status complete_change(as_integrator *s, const bool *active, const double *restitution,
                                 bool others) {
  const as_problem *p = s->problem;
  const asi_values *x = &s->next;
  const int rows = s->redundancy.rows;
  as_start_report report = {0};
  as_status status = AS_OK;
  asi_set_active(s, active);
  as_space_normalize(p->space, x->q);
  memcpy(s->q_given, x->q, (size_t)p->nq * sizeof(double));
  if (others && s->redundancy.rounded > 0.0) status = leave_out(s, s->t, x->q, x->v);
  if (status == AS_OK && p->def.n_lambda > 0)
    status = asi_project_position(s, s->t, s->q_given, x->q, true, &report);
  if (status == AS_ERR_INCONSISTENT) status = project_rounded(s, s->t, status, &report);
  if (status == AS_OK) status = set_targets(s, restitution);
  if (status == AS_OK && others && rows > 0) status = leave_out_here(s, s->t, x->q, x->v);
  if (status == AS_OK && rows > 0)
    status = asi_project_velocity(s, s->t, x->q, x->v, true, true, &report);
  if (status == AS_OK) memcpy(s->impulse, s->residual, (size_t)rows * sizeof(double));
  memset(s->target, 0, (size_t)rows * sizeof(double));
  if (status == AS_OK && s->redundancy.n_redundant > 0) // struck rows are among them
    status = asi_least_norm_at(s, s->t, x->q, x->v, s->impulse, s->impulse + p->def.n_lambda);
  asi_set_active(s, active);
  if (status == AS_OK && others) status = prepare_constraints(s, s->t, x->q, x->v, &report);
  return status ? status : solve_rest(s, s->t);
}

as_status asi_restart(as_integrator *s, const bool *active, const double *restitution) {
  const int rows = s->redundancy.rows;
  bool others = false;
  for (int i = 0; i < rows; ++i) others = others || active[i] == s->eval.inactive[i];
  keep_rows(s);
  const int n_inactive = s->eval.n_inactive, n_implied = s->redundancy.n_implied;
  const double compliance = s->base_compliance, rounded = s->redundancy.rounded;
  const bool close = s->redundancy.close;
  if (others) s->compliance = s->base_compliance = 0.0;
  if (others) asi_rows_take_all(s);
  s->mass_known = false; // parameters may have changed
  const as_status status = complete_change(s, active, restitution, others);
  s->factor_h = (double)NAN;
  if (status) {
    s->eval.n_inactive = n_inactive;
    s->redundancy.n_implied = n_implied;
    s->redundancy.rounded = rounded;
    s->redundancy.close = close;
    take_rows_back(s);
    s->compliance = s->base_compliance = compliance;
    return status;
  }
  go_on(s);
  s->forward = true;
  return AS_OK;
}

as_status asi_restart_forces(as_integrator *s) {
  asi_copy_values(s->problem, &s->now, &s->next);
  const as_status status = solve_rest(s, s->t);
  if (status) return status;
  go_on(s);
  s->forward = true;
  return AS_OK;
}
