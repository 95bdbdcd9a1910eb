/// Inputs of a linear system: what one unit of each adds to the functions of the problem.
#include <math.h>
#include <stdlib.h>

#include "analysis/linearization.h"
#include "base/error.h"

/// What one unit of a held signal adds to f, phi and chi, by differences. It may not move constraints.
static as_status differentiate_signal(asi_linear *l, int signal, double *out) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double place[] = {2.0, -2.0, 1.0, -1.0};
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const int n = l->n, m = p->def.n_lambda;
  const as_point point = asi_linear_point(l);
  const double was = s->kin.eval.u[signal], e = 1e-3 * fmax(1.0, fabs(was));
  double *f = l->moved.a, *g = asi_calloc(3 * (size_t)l->rows + 1, sizeof *g);
  double *moved = asi_calloc(3 * (size_t)l->rows + 1, sizeof *moved);
  as_status status = g && moved ? AS_OK : asi_fail_memory(s->kin.eval.error);
  for (int k = 0; k < 4 && status == AS_OK; ++k) {
    double *value[ASI_FUNCTIONS] = {0};
    value[ASI_FN_F] = f;
    if (m > 0) value[ASI_FN_G] = g;
    if (m > 0) value[ASI_FN_GDOT] = g + m;
    if (p->def.n_psi > 0) value[ASI_FN_K] = g + 2 * (size_t)m;
    if (l->nx > 0) value[ASI_FN_PHI] = l->moved.xdot;
    if (l->ny > 0) value[ASI_FN_CHI] = l->moved.y;
    s->kin.eval.u[signal] = was + place[k] * e;
    status = asi_functions(&s->kin, &point, value, 0);
    for (int i = 0; i < n && status == AS_OK; ++i) out[i] += weight[k] / e * f[i];
    for (int i = 0; i < l->nx && status == AS_OK; ++i)
      out[n + i] += weight[k] / e * l->moved.xdot[i];
    for (int i = 0; i < l->ny && status == AS_OK; ++i)
      out[n + l->nx + i] += weight[k] / e * l->moved.y[i];
    for (int i = 0; i < 2 * m + p->def.n_psi; ++i) moved[i] += place[k] > 0 ? g[i] : -g[i];
  }
  s->kin.eval.u[signal] = was;
  if (status == AS_OK && !asi_linear_is_zero(moved, 2 * m + p->def.n_psi))
    status = asi_fail(s->kin.eval.error, AS_ERR_UNSUPPORTED, s->stepper.t, NULL,
                      "Held signal %d moves a constraint: only what forces, states and outputs "
                      "depend on can be an input.",
                      signal);
  free(g);
  free(moved);
  return status;
}

as_status asi_linear_find_inputs(asi_linear *l, const as_linearization_def *def) {
  const size_t height = (size_t)(l->n + l->nx + l->ny);
  for (int k = 0; k < l->out.n_inputs; ++k) {
    const as_linear_input *input = &def->inputs[k];
    double *column = l->input + (size_t)k * height;
    l->signal[k] = input->signal;
    double *moves = l->moves + (size_t)k * (size_t)l->s->kin.problem->def.n_lambda;
    for (int i = 0; input->moves && i < l->s->kin.problem->def.n_lambda; ++i)
      moves[i] = input->moves[i];
    l->driving[k] = input->moves != NULL;
    l->n_driving += l->driving[k];
    for (int i = 0; input->force && i < l->n; ++i) column[i] += input->force[i];
    for (int i = 0; input->rate && i < l->nx; ++i) column[l->n + i] += input->rate[i];
    for (int i = 0; input->output && i < l->ny; ++i) column[l->n + l->nx + i] += input->output[i];
    if (input->signal < 0) continue;
    if (input->signal >= l->s->kin.problem->def.n_u)
      return asi_fail(l->s->kin.eval.error, AS_ERR_ARGUMENT, l->s->stepper.t, NULL,
                      "There is no held signal %d: the problem has %d.", input->signal,
                      l->s->kin.problem->def.n_u);
    const as_status status = differentiate_signal(l, input->signal, column);
    if (status) return status;
  }
  return AS_OK;
}
