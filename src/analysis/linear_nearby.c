/// States close to one that has been linearized, along the columns of its linear system.
#include <math.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"

const as_state *as_linearization_state(const as_linearization *l) { return &l->inside->s->state; }

as_status as_linearization_moved(as_linearization *linearization, int index, double amount,
                                 const as_state **out, as_error *error) {
  asi_linear *l = linearization->inside;
  as_integrator *s = l->s;
  const as_problem *p = s->kin.problem;
  const asi_values *now = &s->stepper.now, *to = &l->moved;
  if (index < 0 || index >= l->columns)
    return asi_fail(error, AS_ERR_ARGUMENT, s->stepper.t, NULL, "There is no column %d of %d.",
                    index, l->columns);
  const asi_linear_column by = asi_linear_column_at(l, index);
  const int m = p->def.n_lambda;
  for (int i = 0; i < l->n; ++i) {
    to->a[i] = amount * by.xi[i];
    to->v[i] = now->v[i] + amount * by.dv[i];
    to->vdot[i] = now->vdot[i] + amount * by.dvdot[i];
  }
  as_space_move(p->space, now->q, to->a, to->q);
  for (int i = 0; i < m; ++i) to->lambda[i] = l->lambda[i] + amount * by.multiplier[i];
  for (int i = 0; i < p->def.n_psi; ++i) to->psi[i] = l->psi[i] + amount * by.multiplier[m + i];
  for (int i = 0; i < l->nx; ++i) to->x[i] = now->x[i] + amount * by.dx[i];
  for (int i = 0; i < l->nx; ++i) to->xdot[i] = now->xdot[i] + amount * by.dxdot[i];
  for (int i = 0; i < l->ny; ++i) to->y[i] = now->y[i] + amount * by.dy[i];
  for (int i = 0; i < p->def.n_u; ++i) l->moved_u[i] = s->kin.eval.u[i];
  const int input = index - l->out.n_states;
  if (input >= 0 && l->signal[input] >= 0) l->moved_u[l->signal[input]] += amount;
  s->kin.eval.error = error;
  if (l->out.n_redundant > 0) {
    const as_status status =
        asi_least_norm_at(&s->kin, s->stepper.t, to->q, to->v, to->lambda, to->psi);
    if (status) return status;
  }
  l->moved_state = s->state;
  l->moved_state.q = to->q;
  l->moved_state.v = to->v;
  l->moved_state.vdot = l->moved_state.a = to->vdot;
  l->moved_state.lambda = to->lambda;
  l->moved_state.psi = to->psi;
  l->moved_state.x = to->x;
  l->moved_state.xdot = l->moved_state.w = to->xdot;
  l->moved_state.y = to->y;
  l->moved_state.u = l->moved_u;
  *out = &l->moved_state;
  return AS_OK;
}

double as_linearization_reach(const as_linearization *linearization, int index) {
  const asi_linear *l = linearization->inside;
  const double rate = l->s->kin.eval.rate, *typical = l->s->kin.problem->typical;
  const asi_linear_column by = asi_linear_column_at(l, index);
  double most = 0.0;
  for (int i = 0; i < l->n; ++i)
    most = fmax(most, (fabs(by.xi[i]) + fabs(by.dv[i]) / rate) / typical[i]);
  for (int i = 0; i < l->nx; ++i)
    most = fmax(most, fabs(by.dx[i]) / fmax(1.0, fabs(l->s->stepper.now.x[i])));
  if (most > 0.0) return 1e-3 / most;
  for (int i = 0; i < l->n; ++i) most = fmax(most, fabs(by.dvdot[i]) / (rate * rate) / typical[i]);
  return most > 0.0 ? 1.0 / most : 1.0;
}

void as_linearization_expand(const as_linearization *linearization, const double *states,
                             double *position, double *velocity) {
  const asi_linear *l = linearization->inside;
  if (position) memset(position, 0, (size_t)l->n * sizeof *position);
  if (velocity) memset(velocity, 0, (size_t)l->n * sizeof *velocity);
  for (int j = 0; j < l->out.n_states; ++j) {
    const asi_linear_column by = asi_linear_column_at(l, j);
    for (int i = 0; i < l->n && position; ++i) position[i] += states[j] * by.xi[i];
    for (int i = 0; i < l->n && velocity; ++i) velocity[i] += states[j] * by.dv[i];
  }
}
