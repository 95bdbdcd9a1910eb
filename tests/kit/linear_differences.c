#include "linear_differences.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/kinematics/problem.h"

static as_integrator *started(const as_problem *p, const as_state *at, as_error *error) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  const as_initial initial = {.t = at->t,
                              .q = at->q,
                              .v = at->v,
                              .x = at->x,
                              .lambda = at->lambda,
                              .psi = at->psi,
                              .y = at->y,
                              .u = at->u};
  def.method = AS_METHOD_INDEX3;
  if (as_integrator_create(p, &def, &integrator, error)) return NULL;
  if (as_integrator_start(integrator, &initial, NULL, error)) {
    as_integrator_destroy(integrator);
    return NULL;
  }
  return integrator;
}

/// Where a motion is after a time tau by its velocity and acceleration, seen from where the reference is then.
static void seen(const as_problem *p, const as_state *reference, const as_state *state, double tau,
                 double *q, double *xi) {
  const int n = p->n, nq = p->nq;
  for (int k = 0; k < 2; ++k) {
    const as_state *s = k == 0 ? reference : state;
    for (int i = 0; i < n; ++i) xi[i] = tau * s->v[i] + 0.5 * tau * tau * s->vdot[i];
    as_space_move(p->space, s->q, xi, q + k * nq);
  }
  as_space_difference(p->space, q, q + nq, xi);
}

/// Differences of the nonlinear equations along a column: the rates of all states. False: a start failed.
static bool difference(as_linearization *l, int j, double e, double *out) {
  static const double weight[] = {-1.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0, -2.0 / 3.0};
  static const double place[] = {2.0, -2.0, 1.0, -1.0};
  const as_problem *p = l->problem;
  as_error error;
  const as_state *moved;
  bool ok = true;
  double *q = calloc(2 * (size_t)p->nq, sizeof *q), *xi = calloc(2 * (size_t)p->n, sizeof *xi);
  as_integrator *reference = started(p, as_linearization_state(l), &error);
  const double tau = 1e-4;
  memset(out, 0, (size_t)l->n_states * sizeof *out);
  for (int k = 0; k < 4 && reference; ++k) {
    assert_int_equal(as_linearization_moved(l, j, place[k] * e, &moved, &error), AS_OK);
    as_integrator *other = started(p, moved, &error);
    ok = ok && other != NULL;
    if (!ok) break;
    const as_state *a = as_integrator_state(reference), *b = as_integrator_state(other);
    seen(p, a, b, tau, q, xi);
    seen(p, a, b, -tau, q, xi + p->n);
    for (int i = 0; i < l->n_states; ++i) {
      const as_linear_state s = l->state[i];
      const double rate = s.kind == AS_LINEAR_POSITION
                              ? (xi[s.index] - xi[p->n + s.index]) / (2.0 * tau)
                          : s.kind == AS_LINEAR_VELOCITY ? b->vdot[s.index] - a->vdot[s.index]
                                                         : b->xdot[s.index] - a->xdot[s.index];
      out[i] += weight[k] / e * rate;
    }
    as_integrator_destroy(other);
  }
  ok = ok && reference != NULL;
  as_integrator_destroy(reference);
  free(q);
  free(xi);
  return ok;
}

double linear_compare(as_linearization *l, double factor, int *worst_i, int *worst_j) {
  double *out = calloc((size_t)l->n_states + 1, sizeof *out), worst = 0.0;
  for (int j = 0; j < l->n_states && worst >= 0.0; ++j) {
    double size = 1.0;
    if (!difference(l, j, factor * as_linearization_reach(l, j), out)) worst = -1.0;
    for (int i = 0; i < l->n_states; ++i)
      size = fmax(size, fabs(l->a[(size_t)j * (size_t)l->n_states + (size_t)i]));
    for (int i = 0; i < l->n_states && worst >= 0.0; ++i) {
      const double off = fabs(out[i] - l->a[(size_t)j * (size_t)l->n_states + (size_t)i]) / size;
      if (off > worst || !isfinite(off)) {
        worst = isfinite(off) ? off : 1e300;
        *worst_i = i;
        *worst_j = j;
      }
    }
  }
  free(out);
  return worst;
}
