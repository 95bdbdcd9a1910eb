/// as_integrator_start: checks what it is given, brings it onto the constraints, finds their rank, and
/// solves for the rest.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/driver/integrator.h"

/// How far rows are from implying each other: an angle, and what it makes at the largest lever arm.
static void say_apart(const as_integrator *s, double apart, char *text, size_t size) {
  const double length = s->kin.redundancy.length;
  if (length > 0.0)
    asi_print(text, size, "%.1g rad, or %.1g m,", apart, apart * length);
  else
    asi_print(text, size, "%.1g of their size", apart);
}

/// Says which rows are redundant, or nearly.
static void warn_of_redundancy(const as_integrator *s, double t, const double *q, const double *v,
                               bool nearly) {
  const asi_redundancy *r = &s->kin.redundancy;
  const int count = nearly ? r->n_nearly : r->n_redundant;
  const int *const rows = r->redundant + (nearly ? r->n_redundant : 0);
  if (count == 0 || s->def.log == NULL) return;
  char names[640] = "", apart[64], also[160] = "";
  const as_problem_def *def = &s->kin.problem->def;
  const as_point at = {.t = t, .q = q, .v = v, .u = s->kin.eval.u};
  if (def->describe_redundancy)
    def->describe_redundancy(&at, rows, count, r->group, names, sizeof names, def->user);
  if (names[0] == '\0') asi_name_rows(s->kin.problem, rows, count, names, sizeof names);
  say_apart(s, nearly ? r->found_apart : r->rounded, apart, sizeof apart);
  if (nearly)
    asi_print(also, sizeof also,
              " They are about %s apart: if they are meant to be one, they take freedom from the "
              "machine.",
              apart);
  else if (r->rounded > 0.0)
    asi_print(also, sizeof also, " They are about %s apart, and are taken as one.", apart);
  asi_log(&s->kin, AS_LOG_WARNING, "%d of %d constraint rows %s %s: %s.%s %s", count, r->rows,
          count == 1 ? "is" : "are", nearly ? "nearly redundant" : "redundant", names, also,
          nearly             ? "Reactions may be far too large."
          : r->rounded > 0.0 ? "Reactions are those of least norm."
                             : "The motion is not affected; reactions are those of least norm.");
}

/// [RE.3] e where not all redundant rows are left out
static double redundant_compliance(const as_integrator *s) {
  return s->def.method == AS_METHOD_INDEX2 ? 1e-8 : 1e-6;
}

// Gaps of rows that are left out, relative to lengths, which count: smaller ones are projection's.
#define CLOSED 1e-8

/// The largest |g| of rows that are left out, relative to the largest lever arm.
static as_status measure_gap(as_integrator *s, double t, const double *q, double *gap) {
  const as_problem *p = s->kin.problem;
  const asi_redundancy *r = &s->kin.redundancy;
  const as_point at = {.t = t, .q = q};
  const double length = r->length > 0.0 ? r->length : p->length;
  double *const g = r->image;
  *gap = 0.0;
  if (p->def.n_lambda == 0 || r->n_implied == 0) return AS_OK;
  asi_rows_update(&s->kin, true);
  const as_status status = asi_eval_function(&s->kin.eval, ASI_FN_G, &at, s->kin.block, g);
  asi_rows_update(&s->kin, false);
  for (int i = 0; i < p->def.n_lambda && status == AS_OK; ++i)
    if (r->implied[i] && !s->kin.eval.inactive[i] && g[i] != 0.0)
      *gap = asi_max_nan(*gap, fabs(g[i]) / sqrt(r->inverse_D2[i]) / length);
  return status;
}

/// [RE.10] Leaves out the rows that the others imply where q is, to as many digits as they are given with.
static as_status leave_out(as_integrator *s, double t, const double *q, const double *v) {
  asi_redundancy *r = &s->kin.redundancy;
  r->norm_known = false;
  r->limit = asi_redundancy_rounded(&s->kin);
  const as_point at = {.t = t, .q = q, .v = v, .x = s->stepper.next.x, .y = s->stepper.next.y};
  const as_status status =
      asi_find_redundancy(&s->kin, &at, asi_redundancy_near(&s->kin), ASI_MOST_REDUNDANT);
  r->limit = ASI_REDUNDANT;
  if (status == AS_OK) asi_rows_leave_out(&s->kin);
  return status;
}

/// The same where q is on the constraints, as far as can be: how far these rows are from being implied is known then.
static as_status leave_out_here(as_integrator *s, double t, const double *q, const double *v) {
  asi_redundancy *r = &s->kin.redundancy;
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
  asi_redundancy *r = &s->kin.redundancy;
  const as_status status = leave_out_here(s, t, q, v);
  if (status) return status;
  memcpy(r->redundant, r->found, (size_t)r->rows * sizeof(int));
  if (r->n_redundant == ASI_MOST_REDUNDANT) s->stepper.base_compliance = redundant_compliance(s);
  s->kin.compliance = s->stepper.base_compliance;
  warn_of_redundancy(s, t, q, v, false);
  warn_of_redundancy(s, t, q, v, true);
  report->n_redundant = r->n_redundant;
  report->n_nearly_redundant = r->n_nearly;
  report->redundant = r->redundant;
  report->redundancy_group = r->group;
  report->degrees_of_freedom =
      s->kin.problem->n - (r->rows - s->kin.eval.n_inactive - r->n_redundant);
  if (report->degrees_of_freedom == 0 && s->kin.problem->def.scleronomic)
    asi_log(&s->kin, AS_LOG_WARNING,
            "The constraints leave no freedom, and none of them moves: nothing will.");
  asi_system *const systems[] = {&s->stepper.step,       &s->stepper.shared, &s->kin.kkt,
                                 &s->kin.consistent,     &s->output.kkt,     &s->output.consistent,
                                 &s->stepper.jump.system};
  as_status reserved = AS_OK;
  for (int i = 0; i < 7 && reserved == AS_OK; ++i)
    reserved = asi_sharing_reserve(&s->kin, systems[i]);
  return reserved;
}

/// First guesses of v', lambda, psi, x' and y: those given, else zero and, for multipliers, `value`.
static void guess_values(as_integrator *s, const as_initial *initial, double value) {
  const as_problem *p = s->kin.problem;
  memset(s->stepper.next.vdot, 0, (size_t)p->n * sizeof(double));
  for (int i = 0; i < p->def.n_lambda; ++i)
    s->stepper.next.lambda[i] = initial->lambda ? initial->lambda[i] : value;
  for (int i = 0; i < p->def.n_psi; ++i)
    s->stepper.next.psi[i] = initial->psi ? initial->psi[i] : value;
  memset(s->stepper.next.xdot, 0, (size_t)p->def.n_x * sizeof(double));
  for (int i = 0; i < p->def.n_y; ++i) s->stepper.next.y[i] = initial->y ? initial->y[i] : 0.0;
}

/// [RE.10] Where rows contradict each other by the digits that they are given with, no position meets them all: those that the
/// others imply are left out. `status`: what was found without that.
static as_status project_rounded(as_integrator *s, double t, as_status status,
                                 as_start_report *report) {
  const asi_values *x = &s->stepper.next;
  const double residual = report->position_residual;
  as_error *const error = s->kin.eval.error;
  const double most = asi_redundancy_rounded(&s->kin);
  double gap = (double)INFINITY;
  s->kin.eval.error = NULL;
  as_status closer = leave_out(s, t, x->q, x->v);
  if (closer == AS_OK && s->kin.redundancy.n_implied > 0) {
    closer = asi_project_position(&s->kin, t, s->kin.q_given, x->q, true, report);
    if (closer == AS_OK) closer = measure_gap(s, t, x->q, &gap);
  }
  s->kin.eval.error = error;
  report->position_residual = residual;
  return closer == AS_OK && gap <= most ? AS_OK : status;
}

/// Brings q of s->next onto the constraints. `keep`: what may not be changed.
static as_status project_position(as_integrator *s, double t, const unsigned char *keep,
                                  bool may_move, as_start_report *report) {
  const asi_values *x = &s->stepper.next;
  as_space_normalize(s->kin.problem->space, x->q);
  memcpy(s->kin.q_given, x->q, (size_t)s->kin.problem->nq * sizeof(double));
  report->position_rows = s->kin.given.rows;
  if (s->kin.problem->def.n_lambda == 0) return AS_OK;
  s->kin.given.keep = keep;
  s->kin.given.positions = true;
  as_status status = asi_project_position(&s->kin, t, s->kin.q_given, x->q, may_move, report);
  if (status == AS_ERR_INCONSISTENT && may_move) status = project_rounded(s, t, status, report);
  s->kin.given.positions = false;
  s->kin.given.keep = NULL;
  return status;
}

/// Brings v of s->next onto the constraints. `keep`: what is given, and what may not be changed.
static as_status project_velocity(as_integrator *s, double t, const unsigned char *keep,
                                  bool may_move, as_start_report *report) {
  const asi_values *x = &s->stepper.next;
  report->velocity_rows = s->kin.given.rows + s->kin.problem->def.n_lambda;
  s->kin.given.keep = keep;
  const as_status status =
      asi_project_start_velocity(&s->kin, t, x->q, x->v, may_move, x->vdot, report);
  s->kin.given.keep = NULL;
  return status;
}

/// Solves for v', lambda, psi, x' and y of s->next.
static as_status solve_rest(as_integrator *s, double t) {
  const as_problem *p = s->kin.problem;
  const asi_values *x = &s->stepper.next;
  for (int i = 0; i < s->kin.redundancy.rows && s->kin.eval.n_left_out > 0; ++i)
    if (s->kin.eval.left_out[i])
      *(i < p->def.n_lambda ? x->lambda + i : x->psi + i - p->def.n_lambda) = 0.0;
  const as_status status = asi_solve_acceleration(&s->kin, t, x, 0);
  memset(x->eta, 0, (size_t)p->def.n_lambda * sizeof(double));
  memcpy(x->a, x->vdot, (size_t)p->n * sizeof(double));
  memcpy(x->w, x->xdot, (size_t)p->def.n_x * sizeof(double));
  return status;
}

/// Makes s->next the current values; the next step is a first one.
static void go_on(as_integrator *s) {
  const asi_values old = s->stepper.now;
  s->stepper.now = s->stepper.next;
  s->stepper.next = old;
  s->stepper.a_offset = s->stepper.w_offset = 0.0;
  s->stepper.first = true;
  asi_path_forget(&s->stepper);
  s->stepper.damping.holds = false;
  asi_publish(s, s->stepper.t, &s->stepper.now);
}

// ---- start ----------------------------------------------------------------------------------------

/// Computes consistent values into s->next.
static as_status consistent_values(as_integrator *s, const as_initial *initial,
                                   as_start_report *report) {
  const as_problem *p = s->kin.problem;
  const asi_values *x = &s->stepper.next;
  const double t = initial->t;
  memcpy(x->q, initial->q, (size_t)p->nq * sizeof(double));
  for (int i = 0; i < p->n; ++i) x->v[i] = initial->v ? initial->v[i] : 0.0;
  for (int i = 0; i < p->def.n_x; ++i) x->x[i] = initial->x ? initial->x[i] : 0.0;
  report->degrees_of_freedom = p->n;
  asi_rows_take_all(&s->kin);
  s->kin.redundancy.rounded = 0.0;
  asi_set_active(&s->kin, initial->active);
  s->kin.compliance = s->stepper.base_compliance = 0.0;
  as_status status = project_position(s, t, initial->keep, s->def.project_start, report);
  if (status == AS_OK && s->kin.redundancy.rows > 0) {
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
    const as_error original = s->kin.eval.error ? *s->kin.eval.error : (as_error){0};
    const as_status first = status;
    status = solve_rest(s, t);
    if (status && s->kin.eval.error) *s->kin.eval.error = original;
    if (status) status = first;
  }
  return status;
}

/// Makes the consistent values in s->next a start at t.
static as_status begin(as_integrator *s, double t) {
  asi_zoh_start(s, t);
  s->stepper.t = t;
  s->stepper.last.known = false;
  go_on(s);
  asi_control_start(s);
  asi_index2_metric(&s->stepper);
  s->started = true;
  s->stepper.varying = s->stepper.forward = s->has_pending_events = false;
  asi_parasite_forget(&s->stepper);
  s->processed_until = s->stepper.t;
  s->report = (as_event_report){.index = -1, .impulse = s->impulse};
  memset(s->impulse, 0, (size_t)s->kin.redundancy.rows * sizeof(double));
  s->stepper.factor_h = (double)NAN;
  s->stepper.active = s->stepper.shared.size > 0 ? &s->stepper.shared : &s->stepper.step;
  s->stepper.coupled_steps = 0;
  s->stepper.history.fresh_contraction = 0.1;
  s->stepper.history.fresh_seen = false;
  s->stepper.history.fresh_norm = 1.0;
  s->stepper.history.contraction_age = 0;
  s->stepper.history.factor_ages_left = 0;
  s->stepper.factor_iterations = 0;
  s->stepper.history.first_norm = 0.0;
  s->stepper.history.refining = 1.0;
  s->stepper.history.refining_age = 0;
  asi_predictor_reset(&s->stepper.predictor);
  asi_jump_forget(&s->stepper);
  s->stepper.last_h = s->mesh.h = s->mesh.jump = (double)NAN;
  bool jumped = false;
  as_status status = asi_expect_speed(s);
  if (status == AS_OK) status = asi_zoh_act(s, &jumped);
  if (status == AS_OK) status = asi_events_start(s);
  if (status) return status; // and the run before goes on with its factors
  asi_system_forget(&s->stepper.step);
  asi_system_forget(&s->stepper.shared);
  asi_system_forget(&s->stepper.eta);
  return AS_OK;
}

/// Copies which rows hold, and which are left out.
static void keep_rows(as_integrator *s) {
  const size_t size = (size_t)s->kin.redundancy.rows * sizeof(bool);
  memcpy(s->was_inactive, s->kin.eval.inactive, size);
  memcpy(s->kin.redundancy.was_implied, s->kin.redundancy.implied, size);
}

/// Puts the copy back; their numbers are known.
static void take_rows_back(as_integrator *s) {
  const size_t size = (size_t)s->kin.redundancy.rows * sizeof(bool);
  memcpy(s->kin.eval.inactive, s->was_inactive, size);
  memcpy(s->kin.redundancy.implied, s->kin.redundancy.was_implied, size);
  asi_rows_update(&s->kin, false);
}

as_status as_integrator_start(as_integrator *s, const as_initial *initial, as_start_report *report,
                              as_error *error) {
  if (s == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The integrator is NULL.");
  as_status status = asi_check_initial(s->kin.problem, initial, error);
  if (status) return status;
  as_start_report own_report = {0};
  const bool started = s->started;
  const as_state state = s->state;
  asi_snapshot_take(s);
  s->kin.statistics = (as_statistics){0};
  s->stepper.blow.kinetic[1] = s->stepper.blow.stored[1] = s->stepper.blow.vibration = 0.0;
  s->kin.eval.error = error;
  s->kin.mass_known = false;
  s->kin.eval.rate = asi_rate_at_rest(s);
  asi_system_forget(&s->kin.kkt); // a run that is started again is like a new one
  asi_system_forget(&s->kin.consistent);
  asi_system_forget(&s->kin.projection);
  for (int i = 0; i < s->kin.problem->def.n_u; ++i)
    s->kin.eval.u[i] = initial->u ? initial->u[i] : 0.0;
  status = consistent_values(s, initial, &own_report);
  if (status == AS_OK) status = begin(s, initial->t);
  if (status == AS_OK) status = asi_show_reactions(s);
  if (status) {
    asi_snapshot_restore(s);
    if (!started)
      s->state =
          state; // else what was shown has been put back: now and next may have changed places
    s->started = started;
    s->kin.mass_known = false; // blocks may hold anything now
    if (s->kin.problem->def.force_kind == AS_FORCE_GENERAL)
      s->stepper.factor_h = (double)NAN; // [NW.7] reads f_lambda
    return status;
  }
  if (report) *report = own_report;
  return asi_error_clear(error);
}

// ---- restarts -------------------------------------------------------------------------------------

/// [EV.2] struck constraints, active or not, take part in the projection of v, and leave it with
/// -restitution times the rate they came with
static as_status set_targets(as_integrator *s, const double *restitution) {
  const as_problem *p = s->kin.problem;
  const int m = p->def.n_lambda, rows = s->kin.redundancy.rows;
  bool any = false;
  for (int i = 0; i < rows; ++i) {
    if (isnan(restitution[i])) continue;
    any = true;
    s->kin.eval.n_inactive -= s->kin.eval.inactive[i];
    s->kin.eval.inactive[i] = false;
  }
  asi_rows_update(&s->kin, false);
  if (!any) return AS_OK;
  const as_point at = {.t = s->stepper.t, .q = s->stepper.next.q, .v = s->stepper.next.v};
  as_status status = AS_OK;
  if (m > 0) status = asi_blocks(&s->kin, &at, asi_eval_needs(p, ASI_FN_GDOT));
  if (status == AS_OK && m > 0)
    status = asi_eval_function(&s->kin.eval, ASI_FN_GDOT, &at, s->kin.block, s->kin.target);
  if (status == AS_OK && p->def.n_psi > 0)
    status = asi_eval_function(&s->kin.eval, ASI_FN_K, &at, s->kin.block, s->kin.target + m);
  for (int i = 0; i < rows; ++i)
    s->kin.target[i] = isnan(restitution[i]) ? 0.0 : -restitution[i] * s->kin.target[i];
  return status;
}

/// Positions of s->next onto the constraints that hold from now on, velocities also onto those that are
/// struck; then the rest.
static as_status complete_change(as_integrator *s, const bool *active, const double *restitution,
                                 bool others) {
  const as_problem *p = s->kin.problem;
  const asi_values *x = &s->stepper.next;
  const int rows = s->kin.redundancy.rows;
  as_start_report report = {0};
  as_status status = AS_OK;
  asi_set_active(&s->kin, active);
  as_space_normalize(p->space, x->q);
  memcpy(s->kin.q_given, x->q, (size_t)p->nq * sizeof(double));
  if (others && s->kin.redundancy.rounded > 0.0) status = leave_out(s, s->stepper.t, x->q, x->v);
  if (status == AS_OK && p->def.n_lambda > 0)
    status = asi_project_position(&s->kin, s->stepper.t, s->kin.q_given, x->q, true, &report);
  if (status == AS_ERR_INCONSISTENT) status = project_rounded(s, s->stepper.t, status, &report);
  if (status == AS_OK) status = set_targets(s, restitution);
  if (status == AS_OK && others && rows > 0) status = leave_out_here(s, s->stepper.t, x->q, x->v);
  if (status == AS_OK && rows > 0)
    status = asi_project_velocity(&s->kin, s->stepper.t, x->q, x->v, true, true, &report);
  if (status == AS_OK) memcpy(s->impulse, s->kin.multiplier, (size_t)rows * sizeof(double));
  memset(s->kin.target, 0, (size_t)rows * sizeof(double));
  if (status == AS_OK && s->kin.redundancy.n_redundant > 0) // struck rows are among them
    status = asi_least_norm_at(&s->kin, s->stepper.t, x->q, x->v, s->impulse,
                               s->impulse + p->def.n_lambda);
  asi_set_active(&s->kin, active);
  if (status == AS_OK && others) status = prepare_constraints(s, s->stepper.t, x->q, x->v, &report);
  return status ? status : solve_rest(s, s->stepper.t);
}

as_status asi_restart(as_integrator *s, const bool *active, const double *restitution) {
  const int rows = s->kin.redundancy.rows;
  bool others = false;
  for (int i = 0; i < rows; ++i) others = others || active[i] == s->kin.eval.inactive[i];
  keep_rows(s);
  const int n_inactive = s->kin.eval.n_inactive, n_implied = s->kin.redundancy.n_implied;
  const double compliance = s->stepper.base_compliance, rounded = s->kin.redundancy.rounded;
  const bool close = s->kin.redundancy.close;
  if (others) s->kin.compliance = s->stepper.base_compliance = 0.0;
  if (others) asi_rows_take_all(&s->kin);
  s->kin.mass_known = false; // parameters may have changed
  const as_status status = complete_change(s, active, restitution, others);
  s->stepper.factor_h = (double)NAN;
  if (status) {
    s->kin.eval.n_inactive = n_inactive;
    s->kin.redundancy.n_implied = n_implied;
    s->kin.redundancy.rounded = rounded;
    s->kin.redundancy.close = close;
    take_rows_back(s);
    s->kin.compliance = s->stepper.base_compliance = compliance;
    return status;
  }
  go_on(s);
  asi_jump_forget(&s->stepper);
  s->stepper.forward = true;
  return AS_OK;
}

as_status asi_restart_forces(as_integrator *s) {
  asi_copy_values(s->kin.problem, &s->stepper.now, &s->stepper.next);
  const as_status status = solve_rest(s, s->stepper.t);
  if (status) return status;
  go_on(s);
  s->stepper.forward = true;
  return AS_OK;
}

as_status asi_restart_exactly(as_integrator *s) {
  const asi_values *x = &s->stepper.next;
  as_start_report report;
  asi_copy_values(s->kin.problem, &s->stepper.now, x);
  as_status status = AS_OK;
  if (s->kin.redundancy.rows > 0)
    status = asi_project_velocity(&s->kin, s->stepper.t, x->q, x->v, true, false, &report);
  if (status == AS_OK) status = solve_rest(s, s->stepper.t);
  if (status) return status;
  asi_interpolation_keep_end(s);
  go_on(s);
  asi_jump_forget(&s->stepper);
  s->stepper.forward = true;
  return AS_OK;
}
