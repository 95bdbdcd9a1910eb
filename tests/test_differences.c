/// What a problem does not give by formula is differenced: the same motion, nearly the same number of
/// Newton iterations, and over a sparse pattern few evaluations.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/problems.h"

enum { N_STEPS = 100, MAX_SIZE = 16 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_name[] = {"index-3", "index-2"};

// ---- two runs side by side ----------------------------------------------------------------------

typedef struct trace {
  double q[N_STEPS + 1][MAX_SIZE], v[N_STEPS + 1][MAX_SIZE], vdot[N_STEPS + 1][MAX_SIZE];
  double a[N_STEPS + 1][MAX_SIZE], lambda[N_STEPS + 1][MAX_SIZE];
  as_statistics statistics;
  int n, n_lambda;
} trace;

static void keep(double *out, const double *x, int n) {
  assert_true(n <= MAX_SIZE);
  memcpy(out, x, (size_t)n * sizeof(double));
}

static void run(const test_problem *p, const as_problem_def *def, const as_integrator_def *how,
                double h, trace *out) {
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  as_status status = as_problem_create(def, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, how, &integrator, &error);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  for (int i = 0; i <= N_STEPS && status == AS_OK; ++i) {
    const as_state *s = as_integrator_state(integrator);
    out->n = as_space_nv(as_problem_space(problem));
    out->n_lambda = def->n_lambda;
    keep(out->q[i], s->q, as_space_nq(as_problem_space(problem)));
    keep(out->v[i], s->v, out->n);
    keep(out->vdot[i], s->vdot, out->n);
    keep(out->a[i], s->a, out->n);
    keep(out->lambda[i], s->lambda, out->n_lambda);
    if (i < N_STEPS) status = as_integrator_step(integrator, h, &error);
  }
  if (status == AS_OK) status = as_integrator_statistics(integrator, &out->statistics, &error);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error.message);
}

/// The largest difference of two histories over the largest number in them.
static double distance(double (*x)[MAX_SIZE], double (*y)[MAX_SIZE], int n) {
  double largest = 0.0, scale = 0.0;
  for (int i = 0; i <= N_STEPS; ++i) {
    for (int k = 0; k < n; ++k) {
      const double d = fabs(x[i][k] - y[i][k]);
      if (!(d <= largest)) largest = d; // NAN too
      scale = fmax(scale, fabs(x[i][k]));
    }
  }
  return largest == 0.0 ? 0.0 : largest / scale;
}

/// Differences of q are taken in the numbers that store it: quaternions keep their sign.
typedef struct distances {
  double q, v, vdot, a, lambda;
} distances;

static distances compare(trace *x, trace *y) {
  return (distances){distance(x->q, y->q, MAX_SIZE), distance(x->v, y->v, x->n),
                     distance(x->vdot, y->vdot, x->n), distance(x->a, y->a, x->n),
                     distance(x->lambda, y->lambda, x->n_lambda)};
}

static int check(const char *problem, const char *method, const char *variable, double value,
                 double limit) {
  if (value <= limit) return 0;
  print_error("%s, %s: %s differs by %.3g > %.3g\n", problem, method, variable, value, limit);
  return 1;
}

static int check_all(const char *problem, const char *method, distances d, distances limit) {
  return check(problem, method, "q", d.q, limit.q) + check(problem, method, "v", d.v, limit.v) +
         check(problem, method, "v'", d.vdot, limit.vdot) +
         check(problem, method, "a", d.a, limit.a) +
         check(problem, method, "lambda", d.lambda, limit.lambda);
}

static as_problem_def without_formulas(const as_problem_def *given) {
  as_problem_def def = *given;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    def.block[block].source = AS_BLOCK_DIFFERENCED;
  def.jacobian = NULL;
  def.constraint_rate = def.constraint_acceleration = NULL;
  return def;
}

static as_integrator_def tight(as_method method) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.newton.rtol = 1e-11;
  return how;
}

// ---- every problem without its formulas ---------------------------------------------------------

static void test_problems_without_formulas(void **state) {
  (void)state;
  static trace given, differenced;
  int failures = 0;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    const as_problem_def def = without_formulas(&p->def);
    for (int m = 0; m < 2; ++m) {
      const as_integrator_def how = tight(methods[m]);
      const double h = p->t_end / 1000.0;
      run(p, &p->def, &how, h, &given);
      run(p, &def, &how, h, &differenced);
      const distances d = compare(&given, &differenced);
      const double iterations = (double)given.statistics.newton_iterations / N_STEPS;
      const double iterations_d = (double)differenced.statistics.newton_iterations / N_STEPS;
      print_message("%-26s %s q %.1e v %.1e v' %.1e a %.1e lambda %.1e, iterations %.2f -> %.2f, "
                    "factorizations %ld -> %ld; at start v' %.1e lambda %.1e\n",
                    p->name, method_name[m], d.q, d.v, d.vdot, d.a, d.lambda, iterations,
                    iterations_d, given.statistics.factorizations,
                    differenced.statistics.factorizations, 0.0, 0.0);
      failures += check_all(p->name, method_name[m], d, (distances){1e-10, 1e-9, 1e-8, 1e-8, 1e-7});
      if (!(iterations_d <= 1.5 * iterations + 1.0)) {
        print_error("%s, %s: %.2f Newton iterations per step instead of %.2f\n", p->name,
                    method_name[m], iterations_d, iterations);
        ++failures;
      }
    }
  }
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_problems_without_formulas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
