#include "subject.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

const char *const subject_variable_names[SUBJECT_VARIABLES] = {"q",   "v", "v'", "a", "lambda",
                                                               "psi", "x", "x'", "w", "y"};

// ---- adapters -------------------------------------------------------------------------------------

/// Copies starting values; those that are NULL are zero.
static void put_initial(subject *s, const double *q, const double *v, const double *x) {
  as_space *space = NULL;
  assert_int_equal(as_space_create(s->def.parts, s->def.n_parts, &space, NULL), AS_OK);
  assert_true(as_space_nq(space) <= SUBJECT_MAX && s->def.n_x <= SUBJECT_MAX);
  memcpy(s->q0, q, (size_t)as_space_nq(space) * sizeof(double));
  if (v) memcpy(s->v0, v, (size_t)as_space_nv(space) * sizeof(double));
  if (x) memcpy(s->x0, x, (size_t)s->def.n_x * sizeof(double));
  as_space_destroy(space);
}

subject subject_plain(const test_problem *p) {
  subject s = {.name = p->name, .def = p->def, .t0 = p->t0, .t_end = p->t_end, .plain = p};
  put_initial(&s, p->q0, p->v0, NULL);
  return s;
}

subject subject_rolling(const nonholonomic_problem *p) {
  subject s = {.name = p->name, .def = p->def, .t0 = p->t0, .t_end = p->t_end, .rolling = p};
  put_initial(&s, p->q0, p->v0, NULL);
  return s;
}

subject subject_mechatronic(const mechatronic_problem *p) {
  subject s = {.name = p->name, .def = p->def, .t0 = p->t0, .t_end = p->t_end, .mechatronic = p};
  put_initial(&s, p->q0, p->v0, p->x0);
  return s;
}

subject subject_made(const char *name, manufactured *m) {
  subject s = {.name = name, .def = manufactured_def(m), .t_end = 1.0, .made = m};
  manufactured_exact(m, 0.0, s.q0, s.v0, NULL, NULL, NULL);
  if (m->states) manufactured_exact_states(0.0, s.x0, NULL, NULL);
  return s;
}

as_initial subject_initial(const subject *s) {
  return (as_initial){.t = s->t0, .q = s->q0, .v = s->v0, .x = s->x0};
}

// ---- errors ---------------------------------------------------------------------------------------

typedef struct values {
  double q[SUBJECT_MAX], v[SUBJECT_MAX], vdot[SUBJECT_MAX];
  double lambda[SUBJECT_MAX], psi[SUBJECT_MAX];
  double x[SUBJECT_MAX], xdot[SUBJECT_MAX], y[SUBJECT_MAX];
} values;

static void exact_at(const subject *s, double t, values *z) {
  *z = (values){0};
  if (s->plain) s->plain->exact(s->plain, t, z->q, z->v, z->vdot, z->lambda);
  if (s->rolling) s->rolling->exact(s->rolling, t, z->q, z->v, z->vdot, z->lambda, z->psi);
  if (s->made) manufactured_exact(s->made, t, z->q, z->v, z->vdot, z->lambda, z->psi);
  if (s->made && s->made->states) manufactured_exact_states(t, z->x, z->xdot, z->y);
  if (s->mechatronic) {
    s->mechatronic->exact(s->mechatronic, t, z->q, z->v, z->vdot, z->lambda, z->x, z->y);
    const as_point at = {
        .t = t, .q = z->q, .v = z->v, .vdot = z->vdot, .lambda = z->lambda, .x = z->x, .y = z->y};
    assert_int_equal(s->def.state_rate(&at, z->xdot, s->def.user), AS_DONE);
  }
}

bool subject_has(const subject *s, int variable) {
  const bool x = s->def.n_x > 0;
  const bool has[SUBJECT_VARIABLES] = {
      true, true, true, true, s->def.n_lambda > 0, s->def.n_psi > 0, x, x, x, s->def.n_y > 0};
  return has[variable];
}

static double distance2(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

void subject_add_errors(const subject *s, const as_space *space, const as_state *state,
                        double *sums) {
  const double zero[SUBJECT_MAX] = {0};
  const int n = as_space_nv(space), nx = s->def.n_x;
  double d[SUBJECT_MAX];
  values z, later;
  exact_at(s, state->t, &z);
  as_space_difference(space, z.q, state->q, d);
  sums[SUBJECT_Q] += distance2(d, zero, n);
  sums[SUBJECT_V] += distance2(z.v, state->v, n);
  sums[SUBJECT_VDOT] += distance2(z.vdot, state->vdot, n);
  sums[SUBJECT_LAMBDA] += distance2(z.lambda, state->lambda, s->def.n_lambda);
  sums[SUBJECT_PSI] += distance2(z.psi, state->psi, s->def.n_psi);
  sums[SUBJECT_X] += distance2(z.x, state->x, nx);
  sums[SUBJECT_XDOT] += distance2(z.xdot, state->xdot, nx);
  sums[SUBJECT_Y] += distance2(z.y, state->y, s->def.n_y);
  exact_at(s, state->t + state->a_offset, &later);
  sums[SUBJECT_A] += distance2(later.vdot, state->a, n);
  if (nx == 0) return;
  exact_at(s, state->t + state->w_offset, &later);
  sums[SUBJECT_W] += distance2(later.xdot, state->w, nx);
}

// ---- runs -----------------------------------------------------------------------------------------

void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

run run_start(const subject *s, const as_integrator_def *how) {
  run r = {0};
  as_error error = {0};
  const as_initial initial = subject_initial(s);
  must(as_problem_create(&s->def, &r.problem, &error), &error);
  must(as_integrator_create(r.problem, how, &r.integrator, &error), &error);
  must(as_integrator_start(r.integrator, &initial, NULL, &error), &error);
  return r;
}

void run_close(run *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->problem);
}

// ---- states as numbers ----------------------------------------------------------------------------

static void keep(snapshot *s, const double *x, int n) {
  assert_true(s->count + n <= SNAPSHOT_MAX);
  if (x && n > 0) memcpy(s->number + s->count, x, (size_t)n * sizeof(double));
  s->count += n;
}

snapshot snapshot_take(const subject *s, const run *r) {
  const as_state *now = as_integrator_state(r->integrator);
  const as_space *space = as_problem_space(r->problem);
  const int n = as_space_nv(space);
  snapshot out = {0};
  keep(&out, &now->t, 1);
  keep(&out, now->q, as_space_nq(space));
  keep(&out, now->v, n);
  keep(&out, now->vdot, n);
  keep(&out, now->a, n);
  keep(&out, &now->a_offset, 1);
  keep(&out, now->lambda, s->def.n_lambda);
  keep(&out, now->psi, s->def.n_psi);
  keep(&out, now->eta, s->def.n_lambda);
  keep(&out, now->x, s->def.n_x);
  keep(&out, now->xdot, s->def.n_x);
  keep(&out, now->w, s->def.n_x);
  keep(&out, &now->w_offset, 1);
  keep(&out, now->y, s->def.n_y);
  keep(&out, now->u, s->def.n_u);
  return out;
}

bool snapshot_same(const snapshot *a, const snapshot *b) {
  return a->count == b->count &&
         memcmp(a->number, b->number, (size_t)a->count * sizeof(double)) == 0;
}

double snapshot_distance(const snapshot *a, const snapshot *b) {
  double largest = 0.0;
  assert_int_equal(a->count, b->count);
  for (int i = 0; i < a->count; ++i) {
    const double d = fabs(a->number[i] - b->number[i]) / (1.0 + fabs(b->number[i]));
    if (isnan(d)) return d;
    largest = fmax(largest, d);
  }
  return largest;
}
