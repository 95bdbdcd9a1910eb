/// The state anywhere in the last step.
///
/// q, v and x are cubics through the values and rates at both ends, q in the coordinates xi of the step,
/// q = q_0 o exp(xi(theta)), so that it stays on the group; v', lambda, psi, y and the auxiliary variables
/// are straight lines, the first guess of what between.c solves for. All are continuous across steps and second order. Where
/// values jump at the end of the step (a sample, an event), its own end is kept.
#include <string.h>

#include "core/driver/integrator.h"

static void copy(double *to, const double *from, int n) {
  memcpy(to, from, (size_t)n * sizeof(double));
}

void asi_interpolation_keep_end(as_integrator *s) {
  const as_problem *p = s->kin.problem;
  if (!s->stepper.last.known || s->stepper.last.jumped) return;
  s->stepper.last.jumped = true;
  asi_copy_values(p, &s->stepper.now, &s->stepper.last.to);
  copy(s->stepper.last.u, s->kin.eval.u, p->def.n_u);
  memcpy(s->stepper.last.inactive, s->kin.eval.inactive,
         (size_t)s->kin.redundancy.rows * sizeof(bool));
  s->stepper.last.n_inactive = s->kin.eval.n_inactive;
  memcpy(s->stepper.last.implied, s->kin.redundancy.implied,
         (size_t)s->kin.redundancy.rows * sizeof(bool));
  s->stepper.last.n_implied = s->kin.redundancy.n_implied;
  copy(s->stepper.last.norm_weight, s->kin.redundancy.norm_weight, s->kin.redundancy.rows);
  s->stepper.last.compliance = s->stepper.base_compliance;
}

static void linear(double *out, double theta, const double *from, const double *to, int n) {
  for (int i = 0; i < n; ++i) out[i] = from[i] + theta * (to[i] - from[i]);
}

/// [DO.1] theta^2 (3 - 2 theta), theta (1 - theta)^2 h, -theta^2 (1 - theta) h: the weights of x_1 - x_0, x'_0
/// and x'_1 in Hermite's cubic
typedef struct cubic {
  double change, from, to;
} cubic;

static cubic cubic_at(double theta, double h) {
  const double rest = 1.0 - theta;
  return (cubic){theta * theta * (3.0 - 2.0 * theta), theta * rest * rest * h,
                 -theta * theta * rest * h};
}

/// [EX.3] 16 theta^2 (1 - theta)^2 (d + (theta - 1/2) d') on top of a cubic leads it through the middle of the step, with the rate there
static void bend(double *out, double theta, const double *departure, int size, int n) {
  const double at = 4.0 * theta * (1.0 - theta), from_middle = theta - 0.5;
  for (int i = 0; i < n; ++i)
    out[i] += at * at * (departure[i] + from_middle * departure[size + i]);
}

static void hermite(double *out, cubic c, const double *x0, const double *rate0, const double *x1,
                    const double *rate1, int n) {
  for (int i = 0; i < n; ++i)
    out[i] = x0[i] + c.change * (x1[i] - x0[i]) + c.from * rate0[i] + c.to * rate1[i];
}

/// [DO.2] q = q_0 o exp(xi(theta)) with xi(0) = 0, xi(1) = xi, xi'(0) = h q'_0, xi'(1) = h T(xi)^-1 q'_1
static void move(as_integrator *s, double theta, const double *q0) {
  const as_problem *p = s->kin.problem;
  const cubic c = cubic_at(theta, s->stepper.last.h);
  double *const xi = s->scratch.move;
  as_space_tangent_inverse(p->space, s->stepper.last.xi, s->stepper.last.rate[1], xi);
  for (int i = 0; i < p->n; ++i)
    xi[i] = c.change * s->stepper.last.xi[i] + c.from * s->stepper.last.rate[0][i] + c.to * xi[i];
  if (s->stepper.last.has_middle)
    bend(xi, theta, s->stepper.last.middle, 2 * p->n + p->def.n_x, p->n);
  as_space_move(p->space, q0, xi, s->shown.q);
  if (c.change == 0.0) copy(s->shown.q, q0, p->nq);
}

void asi_interpolation_show(as_integrator *s, double t) {
  asi_publish(s, s->stepper.t, &s->stepper.now);
  if (t == s->stepper.t || !s->stepper.last.known) return;
  const as_problem *p = s->kin.problem;
  const asi_values *from = &s->stepper.last.from,
                   *to = s->stepper.last.jumped ? &s->stepper.last.to : &s->stepper.now;
  const double theta = (t - s->stepper.last.t0) / s->stepper.last.h;
  const cubic c = cubic_at(theta, s->stepper.last.h);
  const asi_values *out = &s->shown;
  move(s, theta, from->q);
  hermite(out->v, c, from->v, from->vdot, to->v, to->vdot, p->n);
  hermite(out->x, c, from->x, from->xdot, to->x, to->xdot, p->def.n_x);
  if (s->stepper.last.has_middle) {
    const int size = 2 * p->n + p->def.n_x;
    bend(out->v, theta, s->stepper.last.middle + p->n, size, p->n);
    bend(out->x, theta, s->stepper.last.middle + 2 * p->n, size, p->def.n_x);
  }
  linear(out->vdot, theta, from->vdot, to->vdot, p->n);
  linear(out->a, theta, from->a, to->a, p->n);
  linear(out->lambda, theta, from->lambda, to->lambda, p->def.n_lambda);
  linear(out->psi, theta, from->psi, to->psi, p->def.n_psi);
  linear(out->xdot, theta, from->xdot, to->xdot, p->def.n_x);
  linear(out->w, theta, from->w, to->w, p->def.n_x);
  linear(out->y, theta, from->y, to->y, p->def.n_y);
  copy(out->eta, to->eta, p->def.n_lambda);
  asi_publish(s, t, out);
  linear(&s->state.a_offset, theta, &s->stepper.last.a_offset[0], &s->stepper.last.a_offset[1], 1);
  linear(&s->state.w_offset, theta, &s->stepper.last.w_offset[0], &s->stepper.last.w_offset[1], 1);
  if (s->stepper.last.jumped) s->state.u = s->stepper.last.u;
}

void asi_interpolation_show_end(as_integrator *s) {
  asi_publish(s, s->stepper.last.t0 + s->stepper.last.h, &s->stepper.last.to);
  s->state.u = s->stepper.last.u;
}
