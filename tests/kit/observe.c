#include "observe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static double distance2(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

enum { MAX_SIZE = 64 };

static void add_errors(const test_problem *p, const as_space *space, const as_state *s, errors *e) {
  double q[MAX_SIZE], v[MAX_SIZE], vdot[MAX_SIZE], lambda[MAX_SIZE], a[MAX_SIZE], d[MAX_SIZE];
  const int n = as_space_nv(space);
  const double zero[MAX_SIZE] = {0};
  assert_true(as_space_nq(space) <= MAX_SIZE);
  p->exact(p, s->t, q, v, vdot, lambda);
  p->exact(p, s->t + s->a_offset, NULL, NULL, a, NULL);
  as_space_difference(space, q, s->q, d);
  e->q += distance2(d, zero, n);
  e->v += distance2(v, s->v, n);
  e->vdot += distance2(vdot, s->vdot, n);
  e->a += distance2(a, s->a, n);
  e->lambda += distance2(lambda, s->lambda, p->def.n_lambda);
  if (s->eta) e->eta += distance2(s->eta, zero, p->def.n_lambda);
}

errors observe(const test_problem *p, as_integrator_def def, double h, const double *times,
               int n_times) {
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  errors e = {0};
  def.step = h;
  as_status status = as_problem_create(&p->def, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, &def, &integrator, &error);
  if (status == AS_OK) {
    const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
    status = as_integrator_start(integrator, &initial, NULL, &error);
  }
  for (int i = 0; i < n_times && status == AS_OK; ++i) {
    status = as_integrator_advance(integrator, times[i], &error);
    if (status == AS_OK)
      add_errors(p, as_problem_space(problem), as_integrator_state(integrator), &e);
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error.message);
  return (errors){sqrt(e.q), sqrt(e.v), sqrt(e.vdot), sqrt(e.a), sqrt(e.lambda), sqrt(e.eta)};
}

double observed_order(double coarse, double fine) { return log2(coarse / fine); }
