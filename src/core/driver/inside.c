/// Looks for inputs inside a step that its ends do not show.
///
/// A step's error is estimated from what the step has seen. A machine that stands still while its steps grow sees nothing of a
/// force that comes and goes between their ends. So functions are looked at in between, with the state of the step's end: what
/// differs then from a straight line (constraints: from Hermite's cubic) is due to the time alone.
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/driver/integrator.h"

/// Inputs along a step.
typedef struct look {
  as_integrator *s;
  as_point at; ///< but for its time
  double t0, t1;
} look;

/// Values at a time: forces, then states' rates, then constraints.
static as_status evaluate(look *l, double t, double *out) {
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  l->at.t = t;
  as_status status = asi_eval_function(&s->kin.eval, ASI_FN_F, &l->at, s->kin.block, out);
  if (status == AS_OK && p->def.n_x > 0)
    status = asi_eval_function(&s->kin.eval, ASI_FN_PHI, &l->at, s->kin.block, out + p->n);
  if (status == AS_OK && p->def.n_lambda > 0 && !p->def.scleronomic)
    status =
        asi_eval_function(&s->kin.eval, ASI_FN_G, &l->at, s->kin.block, out + p->n + p->def.n_x);
  return status;
}

/// g_t at a time.
static as_status evaluate_rate(look *l, double t, const double *zero, double *out) {
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  if (p->def.n_lambda == 0 || p->def.scleronomic) return AS_OK;
  as_point at = l->at;
  at.t = t;
  at.v = zero;
  return asi_eval_function(&s->kin.eval, ASI_FN_GDOT, &at, s->kin.block, out);
}

/// [SC.11] what a departure of forces and rates moves over a whole step, in s->control.estimate; returns the largest
/// departure of a constraint, in typical sizes
static double depart(as_integrator *s, double theta, const double *from, const double *to,
                     const double *between, const double *rate0, const double *rate1) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, nx = p->def.n_x, m = p->def.scleronomic ? 0 : p->def.n_lambda;
  const as_matrix *mass = &s->kin.block[AS_BLOCK_M];
  const double h = s->stepper.h, rest = 1.0 - theta;
  double *e = s->control.estimate, gap = 0.0;
  for (int j = 0; j < n; ++j) {
    double inertia = 0.0;
    for (int k = mass->col_start[j]; k < mass->col_start[j + 1]; ++k)
      if (mass->row[k] == j) inertia = fabs(mass->value[k]);
    const double force = between[j] - rest * from[j] - theta * to[j];
    const double a = inertia > 0.0 ? force / inertia : 0.0;
    e[j] = 0.5 * h * h * a;
    e[n + j] = h * a;
  }
  for (int i = 0; i < nx; ++i)
    e[2 * n + i] = h * (between[n + i] - rest * from[n + i] - theta * to[n + i]);
  const double *g0 = from + n + nx, *g1 = to + n + nx, *g = between + n + nx;
  const double change = theta * theta * (3.0 - 2.0 * theta); // [DO.1]
  for (int i = 0; i < m; ++i) {
    const double cubic = g0[i] + change * (g1[i] - g0[i]) + theta * rest * rest * h * rate0[i] -
                         theta * theta * rest * h * rate1[i];
    gap = asi_max_nan(gap, fabs(g[i] - cubic) * s->kin.redundancy.per_row[i]);
  }
  return gap;
}

double asi_look_inside(as_integrator *s, int points, double allowed) {
  const as_problem *p = s->kin.problem;
  const size_t size = (size_t)p->n + (size_t)p->def.n_x + (size_t)p->def.n_lambda;
  double *const from = s->control.inputs, *const to = from + size, *const between = to + size;
  double *const rate0 = between + size, *const rate1 = rate0 + p->def.n_lambda;
  double *const zero = rate1 + p->def.n_lambda; // nothing is ever written there
  look l = {.s = s,
            .at = {.q = s->stepper.next.q,
                   .v = s->stepper.next.v,
                   .vdot = s->stepper.next.vdot,
                   .lambda = s->stepper.next.lambda,
                   .psi = s->stepper.next.psi,
                   .x = s->stepper.next.x,
                   .y = s->stepper.next.y},
            .t0 = s->stepper.t,
            .t1 = s->stepper.t1};
  as_error *const error = s->kin.eval.error;
  as_error ignored;
  s->kin.eval.error = &ignored;
  double seen = 1.0;
  as_status status = evaluate(&l, l.t0, from);
  if (status == AS_OK) status = evaluate(&l, l.t1, to);
  if (status == AS_OK) status = evaluate_rate(&l, l.t0, zero, rate0);
  if (status == AS_OK) status = evaluate_rate(&l, l.t1, zero, rate1);
  for (int k = 0; k < points && seen == 1.0 && status == AS_OK; ++k) {
    // Not at simple fractions of the step: there a wave may be zero.
    const double theta = (k + 0.38) / points;
    status = evaluate(&l, l.t0 + theta * s->stepper.h, between);
    if (status) break;
    const double gap = depart(s, theta, from, to, between, rate0, rate1);
    if (asi_control_measure(s, gap) > allowed) seen = theta;
  }
  s->kin.eval.error = error;
  return seen;
}
