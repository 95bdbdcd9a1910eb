/// Kinematics and inverse dynamics: the motion of a problem whose freedom is all prescribed.
///
/// [AN.5] At each time, without integration:
///
///     g(t,q) = 0,   g_t + B v = 0,   B v' + (g_t + B v)' = 0,   M v' = f(t,q,v,lambda,psi)
///
/// by the projections and the solve that start an integration. lambda are the forces that make the motion.
///
/// [AN.6] From one time to another, h apart, q o exp(h v + h^2/2 v') leads, and v + h v'. A part of the way counts
/// only if the position found is close to the one predicted, so that the motion stays in its branch.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/error.h"
#include "base/text.h"

// How far a position may be from where it was predicted: relative to the way, and in typical sizes.
#define RELATIVE_MISS 0.1
#define ABSOLUTE_MISS 1e-2
// The same where constraints do not determine all directions: what they leave is as good as the prediction.
#define SINGULAR_MISS 1e-6
// The longest rotation in one part [rad]: rows of joints may have other solutions half a turn away.
#define LONGEST_TURN 0.5

/// [AN.5] The values at t, near the predicted q and v that stand in `at`.
static as_status place(as_analysis *a, double t, const asi_values *at, as_motion_report *report) {
  const as_problem *p = a->problem;
  asi_kinematics *s = &a->kin;
  as_start_report start = {0};
  s->compliance = 0.0;
  memcpy(s->q_given, at->q, (size_t)p->nq * sizeof(double));
  as_status status = asi_project_position(s, t, s->q_given, at->q, true, &start);
  if (status == AS_OK) status = asi_project_velocity(s, t, at->q, at->v, true, true, &start);
  if (status == AS_OK) status = asi_analysis_rank(a, t, at, &report->degrees_of_freedom);
  if (status) return status;
  memset(at->vdot, 0, (size_t)p->n * sizeof(double));
  memset(at->lambda, 0, (size_t)p->def.n_lambda * sizeof(double));
  memset(at->psi, 0, (size_t)p->def.n_psi * sizeof(double));
  report->n_redundant = s->redundancy.n_redundant;
  report->redundant = s->redundancy.found;
  report->position_drift = start.position_drift;
  report->velocity_drift = start.velocity_drift;
  // In a singular position rows may contradict each other to round-off: no multipliers would serve them exactly.
  return asi_solve_acceleration(s, t, at, report->degrees_of_freedom > 0 ? 0 : ASI_EXACT_ROWS);
}

// ---- freedom --------------------------------------------------------------------------------------

/// A repeatable number between -1 and 1, different for each i.
static double scatter(int i) { return cos(1.0 + 2.3 * i + 0.7 * i * i); }

/// A direction that the position constraints allow, into a->step: M x + B^T mu = M z, B x = 0 for some z.
static as_status allowed_direction(as_analysis *a, double t) {
  const as_problem *p = a->problem;
  asi_kinematics *s = &a->kin;
  const asi_values *at = &a->here.at;
  const as_point point = {.t = t, .q = at->q, .v = at->v};
  asi_system *system = asi_projection_system(s);
  as_status status = asi_blocks(s, &point,
                                AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q) |
                                    AS_BLOCK_BIT(AS_BLOCK_K_V));
  if (status) return status;
  for (int i = 0; i < p->n; ++i) a->work[i] = scatter(i) * p->typical[i];
  memset(a->step, 0, asi_total_size(p) * sizeof(double));
  asi_matrix_multiply_add(&s->block[AS_BLOCK_M], 1.0, a->work, a->step);
  asi_system_assemble(system, s->block, &s->tangent);
  asi_add_compliance(s, system, ASI_ANALYSIS_COMPLIANCE);
  status = asi_factor(s, system, t, "what can move");
  return status ? status : asi_solve(s, system, t, a->step);
}

/// Names what moves in a->step, one component of each body, up to six.
static void name_movers(const as_analysis *a, char *text, size_t size) {
  const as_problem *p = a->problem;
  double most = 0.0;
  int named = 0;
  asi_text list = asi_text_begin(text, size);
  for (int i = 0; i < p->n; ++i) most = fmax(most, fabs(a->step[i]) / p->typical[i]);
  for (int i = 0; i < p->n && named < 7;) {
    const int body = p->body_of[i];
    int mover = i;
    for (; i < p->n && p->body_of[i] == body; ++i)
      if (fabs(a->step[i]) / p->typical[i] > fabs(a->step[mover]) / p->typical[mover]) mover = i;
    if (!(fabs(a->step[mover]) / p->typical[mover] > 1e-5 * most)) continue;
    char name[64];
    asi_component_name(p, AS_QUANTITY_V, mover, name, sizeof name);
    asi_text_add(&list, "%s%s", named > 0 ? "; " : "", named < 6 ? name : "...");
    ++named;
  }
}

static as_status fail_free(as_analysis *a, double t, int freedom) {
  char names[480];
  const as_status status = allowed_direction(a, t);
  if (status) return status;
  name_movers(a, names, sizeof names);
  return asi_fail(a->kin.eval.error, AS_ERR_UNSUPPORTED, t, NULL,
                  "The motion is not prescribed: %d degree%s of freedom %s left by the position "
                  "constraints at t = %.9g s; what can move: %s.",
                  freedom, freedom == 1 ? "" : "s", freedom == 1 ? "is" : "are", t, names);
}

/// Refuses what position constraints do not determine. Nonholonomic rows are left out for a moment: where they
/// lead depends on the way.
static as_status check_freedom(as_analysis *a, double t) {
  const as_problem *p = a->problem;
  asi_kinematics *s = &a->kin;
  int freedom = p->n;
  const int inactive = s->eval.n_inactive;
  memcpy(a->was_inactive, s->eval.inactive, (size_t)s->redundancy.rows * sizeof(bool));
  for (int i = p->def.n_lambda; i < s->redundancy.rows; ++i) {
    s->eval.n_inactive += !s->eval.inactive[i];
    s->eval.inactive[i] = true;
  }
  asi_rows_update(s, false);
  as_status status = asi_analysis_rank(a, t, &a->here.at, &freedom);
  if (status == AS_OK && freedom > 0) status = fail_free(a, t, freedom);
  memcpy(s->eval.inactive, a->was_inactive, (size_t)s->redundancy.rows * sizeof(bool));
  s->eval.n_inactive = inactive;
  asi_rows_update(s, false);
  return status;
}

as_status as_analysis_begin_motion(as_analysis *a, const as_initial *initial,
                                   as_motion_report *report, as_error *error) {
  as_motion_report own = {.parts = 1};
  if (a == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "The analysis is NULL.");
  if (a->problem->def.n_x + a->problem->def.n_samplers > 0)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
                    "A problem with %s has a history: its motion cannot be found without "
                    "integrating it.",
                    a->problem->def.n_x > 0 ? "first-order states" : "sampled controllers");
  as_status status = asi_analysis_start(a, initial, error);
  if (status) return status;
  const asi_values *at = &a->here.at;
  for (int i = 0; i < a->problem->n; ++i) at->v[i] = initial->v ? initial->v[i] : 0.0;
  status = check_freedom(a, initial->t);
  if (status == AS_OK) status = place(a, initial->t, at, &own);
  if (status) return status;
  a->in_motion = true;
  asi_analysis_show(a, initial->t, at);
  if (report) *report = own;
  return asi_error_clear(error);
}

// ---- following ------------------------------------------------------------------------------------

/// [AN.6] into a->trial; the way to it into a->way.
static void predict(as_analysis *a, double h) {
  const as_problem *p = a->problem;
  const asi_values *from = &a->here.at, *to = &a->trial.at;
  for (int i = 0; i < p->n; ++i) {
    a->way[i] = h * from->v[i] + 0.5 * h * h * from->vdot[i];
    to->v[i] = from->v[i] + h * from->vdot[i];
  }
  as_space_move(p->space, from->q, a->way, to->q);
  memcpy(a->q_predicted, to->q, (size_t)p->nq * sizeof(double));
  memcpy(to->y, from->y, (size_t)p->def.n_y * sizeof(double));
}

/// Whether a->trial is close enough to its prediction; the component that misses most.
static bool is_close(as_analysis *a, bool singular, int *worst) {
  const as_problem *p = a->problem;
  double way = 0.0, turn = 0.0, miss = 0.0;
  as_space_difference(p->space, a->q_predicted, a->trial.at.q, a->work);
  for (int i = 0; i < p->n; ++i) {
    way = fmax(way, fabs(a->way[i]) / p->typical[i]);
    if (p->is_rotation[i]) turn = fmax(turn, fabs(a->way[i]));
    if (fabs(a->work[i]) / p->typical[i] <= miss) continue;
    miss = fabs(a->work[i]) / p->typical[i];
    *worst = i;
  }
  if (singular) return miss <= SINGULAR_MISS;
  return turn <= LONGEST_TURN && miss <= fmax(RELATIVE_MISS * way, ABSOLUTE_MISS);
}

/// A part of the way, from t to t + h.
static as_status follow_part(as_analysis *a, double t, double h, as_motion_report *report) {
  int worst = 0;
  predict(a, h);
  const as_status status = place(a, t + h, &a->trial.at, report);
  const bool singular = report->degrees_of_freedom > 0;
  if (status == AS_OK && singular) // forces would accelerate what is free only here
    memcpy(a->trial.at.vdot, a->here.at.vdot, (size_t)a->problem->n * sizeof(double));
  if (status || is_close(a, singular, &worst)) return status;
  char name[64];
  asi_component_name(a->problem, AS_QUANTITY_V, worst, name, sizeof name);
  return asi_fail(a->kin.eval.error, AS_ERR_CONVERGENCE, t + h, name,
                  "%s is not where its velocity and acceleration lead (a jump in what is "
                  "prescribed, or another branch).",
                  name);
}

static as_status fail_to_follow(as_analysis *a, as_status status, double t) {
  as_error *error = a->kin.eval.error;
  if (error == NULL) return status;
  const as_error inner = *error;
  return asi_fail(error, status, t, inner.component,
                  "The motion cannot be followed beyond t = %.9g s: %.400s", t, inner.message);
}

/// From a->here at `now` to t, in as many parts as it takes.
static as_status follow_all(as_analysis *a, double now, double t, as_motion_report *report) {
  double h = t - now;
  const double shortest = a->def.shortest_part * fabs(h);
  while (now != t) {
    as_status status = asi_analysis_interrupted(a, now);
    const bool last = fabs(h) >= fabs(t - now);
    if (last) h = t - now;
    if (status == AS_OK) status = follow_part(a, now, h, report);
    if (status == AS_OK) {
      now = last ? t : now + h;
      asi_statics_accept(a, now);
      ++report->parts;
      h *= 2.0;
      continue;
    }
    h *= 0.5;
    if (!as_status_is_recoverable(status) && status != AS_ERR_INCONSISTENT) return status;
    if (fabs(h) < shortest) return fail_to_follow(a, status, now);
  }
  return AS_OK;
}

as_status as_analysis_follow_motion(as_analysis *a, double t, as_motion_report *report,
                                    as_error *error) {
  if (a == NULL || !a->in_motion)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "There is no motion to follow: call as_analysis_begin_motion first.");
  if (!isfinite(t))
    return asi_fail(error, AS_ERR_ARGUMENT, t, "t", "The time %g is not finite.", t);
  asi_kinematics *s = &a->kin;
  as_motion_report own = {0};
  s->eval.error = error;
  asi_copy_values(a->problem, &a->now, &a->here.at);
  asi_analysis_restore_signals(a); // another analysis may have failed since
  if (t == a->state.t) return place(a, t, &a->here.at, report ? report : &own);
  const as_status status = follow_all(a, a->state.t, t, &own);
  if (status) {
    asi_analysis_restore_signals(a);
    return status;
  }
  asi_analysis_show(a, t, &a->here.at);
  if (report) *report = own;
  return asi_error_clear(error);
}
