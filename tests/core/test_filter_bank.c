/// Thousands of first-order states beside a chain of links: the sparse solver takes them, and its
/// factors grow by a few entries for each.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chain.h"
#include "core/driver/integrator.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_names[] = {"index-3", "index-2"};

static void stop_if(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

/// n_x first-order filters beside a chain of links: filter i follows the vertical speed of link i
/// mod n_links with a time constant of its own, and pulls on that link against it. The chain comes
/// first, so that its own callbacks take this as their `user`.
typedef struct bank {
  chain c;
  int n_x;
  int *pattern;
} bank;

static int driven_by(const bank *b, int filter) { return 6 * (filter % b->c.n_links) + 2; }

static double time_constant(const bank *b, int filter) { return 0.01 + 0.2 * filter / b->n_x; }

static const double pull = 1e-3; // [N s/m]

static as_problem_def chain_def; // the chain's own callbacks

static int bank_force(const as_point *at, double *f, void *user) {
  const bank *b = user;
  const int status = chain_def.force(at, f, user);
  for (int i = 0; i < b->n_x; ++i) f[driven_by(b, i)] -= pull * at->x[i];
  return status;
}

static int bank_rate(const as_point *at, double *out, void *user) {
  const bank *b = user;
  for (int i = 0; i < b->n_x; ++i)
    out[i] = (at->v[driven_by(b, i)] - at->x[i]) / time_constant(b, i);
  return AS_DONE;
}

static int bank_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const bank *b = user;
  for (int i = 0; i < b->n_x; ++i) {
    const double rate = 1.0 / time_constant(b, i);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_X))
      as_matrix_add(&blocks[AS_BLOCK_F_X], driven_by(b, i), i, -pull);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_V))
      as_matrix_add(&blocks[AS_BLOCK_PHI_V], i, driven_by(b, i), rate);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_X)) as_matrix_add(&blocks[AS_BLOCK_PHI_X], i, i, -rate);
  }
  return chain_def.jacobian(at, wanted, blocks, user);
}

/// Patterns of F_X, PHI_V and PHI_X into b->pattern and the description.
static void bank_patterns(bank *b) {
  const int n = 6 * b->c.n_links;
  as_problem_def *def = &b->c.def;
  b->pattern = malloc((size_t)(n + 1 + 3 * b->n_x + 2 * (b->n_x + 1)) * sizeof(int));
  assert_non_null(b->pattern);
  int *start_x = b->pattern, *row_f = start_x + b->n_x + 1, *row_x = row_f + b->n_x;
  int *start_v = row_x + b->n_x, *row_v = start_v + n + 1;
  for (int i = 0; i <= b->n_x; ++i) start_x[i] = i; // one entry in each column
  for (int i = 0; i < b->n_x; ++i) {
    row_f[i] = driven_by(b, i);
    row_x[i] = i;
  }
  int count = 0;
  for (int column = 0; column < n; ++column) {
    start_v[column] = count;
    for (int i = column / 6; column % 6 == 2 && i < b->n_x; i += b->c.n_links) row_v[count++] = i;
  }
  start_v[n] = count;
  def->block[AS_BLOCK_F_X] = (as_block_def){AS_BLOCK_GIVEN, {start_x, row_f}};
  def->block[AS_BLOCK_PHI_X] = (as_block_def){AS_BLOCK_GIVEN, {start_x, row_x}};
  def->block[AS_BLOCK_PHI_V] = (as_block_def){AS_BLOCK_GIVEN, {start_v, row_v}};
  def->block[AS_BLOCK_PHI_Q].source = AS_BLOCK_ZERO;
  def->block[AS_BLOCK_PHI_VDOT].source = AS_BLOCK_ZERO;
  def->block[AS_BLOCK_PHI_LAMBDA].source = AS_BLOCK_ZERO;
}

static void bank_init(bank *b, int n_links, int n_x) {
  *b = (bank){.n_x = n_x};
  assert_true(chain_init(&b->c, n_links));
  chain_def = b->c.def;
  bank_patterns(b);
  b->c.def.n_x = n_x;
  b->c.def.force = bank_force;
  b->c.def.state_rate = bank_rate;
  b->c.def.jacobian = bank_jacobian;
  b->c.def.user = b;
}

/// Ten steps of 1 ms; the entries of the factors of a step.
static double fill_of(int n_links, int n_x, as_method method, const char **backend) {
  bank b;
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  bank_init(&b, n_links, n_x);
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.step = 1e-3;
  double *q0 = malloc(7 * (size_t)n_links * sizeof(double));
  assert_non_null(q0);
  chain_straight(&b.c, q0);
  stop_if(as_problem_create(&b.c.def, &problem, &error), &error);
  stop_if(as_integrator_create(problem, &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, &(as_initial){.q = q0}, NULL, &error), &error);
  stop_if(as_integrator_advance(integrator, 1e-2, &error), &error);
  // A filter lags behind the speed of its link.
  const as_state *s = as_integrator_state(integrator);
  for (int i = 0; i < n_x; ++i) {
    const double v = s->v[driven_by(&b, i)];
    assert_true(fabs(s->x[i]) <= fabs(v) + 1e-6);
  }
  asi_solver_info info;
  integrator->stepper.active->solver->ops->info(integrator->stepper.active->solver, &info);
  *backend = info.backend;
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  free(q0);
  free(b.pattern);
  chain_free(&b.c);
  return info.fill;
}

static void test_filter_bank(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    const char *backend[3];
    const double few = fill_of(100, 500, methods[m], &backend[0]);
    const double some = fill_of(100, 1000, methods[m], &backend[1]);
    const double many = fill_of(100, 2000, methods[m], &backend[2]);
    printf("%s: %.0f, %.0f, %.0f entries for 500, 1000, 2000 states: %.2f a "
           "state\n",
           method_names[m], few, some, many, (many - some) / 1000.0);
    for (int i = 0; i < 3; ++i) assert_string_equal(backend[i], "blocks");
    const double ratio = (many - some) / (some - few);
    assert_true(ratio > 1.9 && ratio < 2.1);
    assert_true((many - some) / 1000.0 < 10.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_filter_bank)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
