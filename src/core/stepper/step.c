/// One step: its equations are solved, with other redundant rows left out if need be, and checked; or it is accepted.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "core/stepper/stepper.h"

/// [NW.16] The rotation xi of a body is neither close to h v_0, nor to h v_0 + h^2 v'_0/2, nor to what the path predicts.
static bool body_jumps(const asi_stepper *s) {
  const double h = s->h, far = asi_path_reach(s);
  for (int i = 0; i < s->kin->problem->n; ++i) {
    if (!s->kin->problem->is_rotation[i]) continue;
    double off[3] = {0.0, 0.0, s->path.count > 0 ? 0.0 : (double)INFINITY};
    for (int k = i; k < i + 3; ++k) {
      const double by_v = s->xi[k] - h * s->now.v[k], by_a = by_v - 0.5 * h * h * s->now.vdot[k];
      const double by_path = s->xi[k] - h * asi_path_mean(s, far, k);
      off[0] += by_v * by_v;
      off[1] += by_a * by_a;
      off[2] += by_path * by_path;
    }
    if (!(fmin(off[0], fmin(off[1], off[2])) <= s->expert.most_turn * s->expert.most_turn))
      return true;
    i += 2;
  }
  return false;
}

static as_status fail_jump(const asi_stepper *s, const char *why) {
  return asi_fail(s->kin->eval.error, AS_ERR_RETRY, s->t, "check_step",
                  "The step from t = %.9g s to %.9g s is too long: %s.", s->t, s->t1, why);
}

as_status asi_check_end(const asi_stepper *s) {
  const as_problem_def *def = &s->kin->problem->def;
  if (def->check_step == NULL) return AS_OK;
  const as_point from = {
      .t = s->t, .q = s->now.q, .v = s->now.v, .x = s->now.x, .y = s->now.y, .u = s->kin->eval.u};
  const as_point to = {.t = s->t1,
                       .q = s->next.q,
                       .v = s->next.v,
                       .x = s->next.x,
                       .y = s->next.y,
                       .u = s->kin->eval.u};
  char name[64], why[200] = "it turns, or goes, farther than can be told";
  int row = -1;
  const int code =
      def->check_step(&from, &to, s->kin->eval.inactive, &row, why, sizeof why, def->user);
  if (code == AS_DONE) return AS_OK;
  if (code < 0)
    return asi_fail(s->kin->eval.error, AS_ERR_CALLBACK, s->t, "check_step",
                    "The check_step callback reported a fatal failure at t = %.9g s (it returned "
                    "%d).",
                    s->t1, code);
  if (row < 0 || row >= def->n_lambda) return fail_jump(s, why);
  asi_component_name(s->kin->problem, AS_QUANTITY_LAMBDA, row, name, sizeof name);
  return asi_fail(s->kin->eval.error, AS_ERR_RETRY, s->t, name,
                  "The step from t = %.9g s to %.9g s is too long to tell where %s holds.", s->t,
                  s->t1, name);
}

/// Solves the equations of a step.
static as_status attempt(asi_stepper *s, double h, double t1, double e) {
  s->t1 = t1;
  s->kin->compliance = e;
  s->blow.kinetic[0] = s->blow.stored[0] = s->blow.vibration = 0.0;
  s->kin->redundancy.prepared = false;
  as_status status = s->method->begin(s, h);
  if (status == AS_OK) status = asi_newton(s);
  if (status == AS_OK && e > s->base_compliance && s->left.position > s->expert.most_give)
    status = AS_ERR_CONVERGENCE;
  s->kin->compliance = s->base_compliance;
  if (status == AS_OK) {
    asi_index2_keep_b(s);
    s->method->update(s); // the last increment has changed z
    status = asi_see_least_norm(s, s->next.lambda, s->next.psi);
  }
  if (status == AS_OK && body_jumps(s))
    return fail_jump(s, "a body turns by far more than its velocity and acceleration say");
  return status ? status : asi_check_end(s);
}

/// [RE.6] Rows that are left out must hold as well as the others do; if they do not, they were redundant at one position
/// only. Where a step fails others may be left out.
static as_status choose_rows(asi_stepper *s, as_status status, bool *changed) {
  bool hold = true;
  *changed = false;
  if (status == AS_OK) status = asi_rows_check(s, &hold);
  if (status == AS_OK && !hold) {
    status = asi_rows_choose(s, s->t1, s->next.q, s->next.v, true, changed);
    return status || *changed ? status : asi_rows_fail(s);
  }
  if (status != AS_ERR_SINGULAR && status != AS_ERR_CONVERGENCE) return status;
  as_error ignored, *const error = s->kin->eval.error;
  s->kin->eval.error = &ignored;
  if (asi_rows_choose(s, s->t, s->now.q, s->now.v, false, changed)) *changed = false;
  s->kin->eval.error = error;
  return status;
}

enum { MAX_CHOICES = 3 };

as_status asi_solve_step(asi_stepper *s, double h, double t1, double e) {
  asi_redundancy *r = &s->kin->redundancy;
  as_status status = r->doubtful ? asi_rows_doubt(s) : AS_OK;
  bool changed = false;
  if (status == AS_OK) status = attempt(s, h, t1, e);
  for (int i = 0; i < MAX_CHOICES && r->n_implied > 0; ++i) {
    status = choose_rows(s, status, &changed);
    if (!changed) break;
    status = attempt(s, h, t1, e);
  }
  if (status) {
    ++s->kin->statistics.failed_steps;
    s->factor_h = (double)NAN;
  }
  return status;
}

/// Keeps where the step began: the values at its start are in s->next, now.
static void remember(asi_stepper *s, double t0, double a_offset, double w_offset) {
  const asi_values scratch = s->last.from;
  double *const xi = s->last.xi;
  s->last.from = s->next;
  s->next = scratch;
  s->last.xi = s->xi;
  s->xi = xi;
  s->last.known = true;
  s->last.jumped = s->last.has_middle = false;
  s->last.factor_h = s->factor_h;
  s->last.t0 = t0;
  s->last.h = s->t - t0;
  s->last.a_offset[0] = a_offset;
  s->last.a_offset[1] = s->a_offset;
  s->last.w_offset[0] = w_offset;
  s->last.w_offset[1] = s->w_offset;
}

void asi_stepper_accept(asi_stepper *s) {
  const double t0 = s->t, a_offset = s->a_offset, w_offset = s->w_offset;
  asi_damping_note(s); // judges predictions, which the path's note changes
  asi_path_note(s);
  s->method->accept(s);
  asi_rows_watch(s);
  s->t = s->t1;
  asi_follow(s->kin, s->t, &s->now);
  remember(s, t0, a_offset, w_offset);
  s->last_h = s->kin->statistics.last_step = s->h;
  s->first = s->forward = false;
  s->blow.kinetic[1] += s->blow.kinetic[0];
  s->blow.stored[1] += s->blow.stored[0];
  ++s->factor_age;
  ++s->kin->statistics.steps;
}

void asi_stepper_accept_end(asi_stepper *s) {
  const double t0 = s->t, a_offset = s->a_offset, w_offset = s->w_offset;
  const size_t n = (size_t)s->kin->problem->n * sizeof(double);
  const asi_values start = s->now;
  s->now = s->next;
  s->next = start;
  s->a_offset = s->w_offset = 0.0;
  s->factor_h = (double)NAN;
  s->damping.holds = s->varying = false;
  asi_path_forget(s);
  asi_parasite_forget(s);
  asi_jump_forget(s);
  s->t = s->t1;
  asi_follow(s->kin, s->t, &s->now);
  remember(s, t0, a_offset, w_offset);
  memcpy(s->last.rate[0], s->last.from.v, n);
  memcpy(s->last.rate[1], s->now.v, n);
  s->last_h = s->kin->statistics.last_step = s->h;
  s->first = s->forward = true;
  ++s->kin->statistics.steps;
}
