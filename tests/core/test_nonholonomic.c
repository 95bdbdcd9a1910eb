/// Second order in q, v, v', a, lambda and psi with nonholonomic constraints, alone and together with
/// holonomic ones, for every method; energy where it is conserved.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/nonholonomic.h"

enum { MAX_SIZE = 32, N_VARIABLES = 6 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const char *const variables[N_VARIABLES] = {"q", "v", "v'", "a", "lambda", "psi"};

static double square(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

typedef struct outcome {
  double error[N_VARIABLES]; ///< at three times
  double energy;             ///< largest change of energy there
  double drift[2];           ///< of g, and of g' and k
} outcome;

/// Integrates with steps of h to t_end and sums up the errors at a half, three quarters and the end.
static outcome run(const nonholonomic_problem *p, as_integrator_def def, double h) {
  const double zero[MAX_SIZE] = {0};
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  outcome o = {0};
  def.step = h;
  as_status status = as_problem_create(&p->def, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, &def, &integrator, &error);
  if (status == AS_OK) {
    const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
    status = as_integrator_start(integrator, &initial, NULL, &error);
  }
  for (int i = 2; i <= 4 && status == AS_OK; ++i) {
    status = as_integrator_advance(integrator, p->t0 + (p->t_end - p->t0) * i / 4.0, &error);
    if (status) break;
    const as_state *s = as_integrator_state(integrator);
    const as_space *space = as_problem_space(problem);
    const int n = as_space_nv(space);
    double q[MAX_SIZE], v[MAX_SIZE], vdot[MAX_SIZE], a[MAX_SIZE], lambda[MAX_SIZE], psi[MAX_SIZE];
    double d[MAX_SIZE];
    p->exact(p, s->t, q, v, vdot, lambda, psi);
    p->exact(p, s->t + s->a_offset, NULL, NULL, a, NULL, NULL);
    as_space_difference(space, q, s->q, d);
    o.error[0] += square(d, zero, n);
    o.error[1] += square(v, s->v, n);
    o.error[2] += square(vdot, s->vdot, n);
    o.error[3] += square(a, s->a, n);
    o.error[4] += square(lambda, s->lambda, p->def.n_lambda);
    o.error[5] += square(psi, s->psi, p->def.n_psi);
    double drift[2];
    status = as_integrator_drift(integrator, &drift[0], &drift[1], &error);
    o.drift[0] = fmax(o.drift[0], drift[0]);
    o.drift[1] = fmax(o.drift[1], drift[1]);
    if (p->energy)
      o.energy = fmax(o.energy, fabs(p->energy(p, s->q, s->v) - p->energy(p, p->q0, p->v0)));
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error.message);
  for (int i = 0; i < N_VARIABLES; ++i) o.error[i] = sqrt(o.error[i]);
  return o;
}

/// The closed forms are so smooth that finer steps would only show round-off.
static double step_for(const nonholonomic_problem *p) {
  const double interval = p->t_end - p->t0;
  return interval / (interval <= 1.0 ? 200.0 : 2000.0);
}

static int check_order(const char *problem, const char *what, double coarse, double fine) {
  const double order = log2(coarse / fine);
  printf("  %-8s %10.3e %10.3e order %.3f\n", what, coarse, fine, order);
  if (order >= 1.9) return 0;
  print_error("%s: the error of %s falls from %g to %g: order %.3f < 1.9\n", problem, what, coarse,
              fine, order);
  return 1;
}

/// Order 2 everywhere at rho_inf 0.5; the constraints hold as each method promises.
static void check_method(int m) {
  int failures = 0;
  for (int i = 0; i < nonholonomic_count(); ++i) {
    const nonholonomic_problem *p = nonholonomic_get(i);
    as_integrator_def def = as_default_integrator_def();
    def.method = methods[m];
    def.rho_inf = 0.5;
    const double h = step_for(p);
    const outcome coarse = run(p, def, h), fine = run(p, def, h / 2.0);
    printf("%s, %s\n", p->name, method_names[m]);
    for (int k = 0; k < N_VARIABLES; ++k) {
      if (k == 4 && p->def.n_lambda == 0) continue;
      failures += check_order(p->name, variables[k], coarse.error[k], fine.error[k]);
    }
    if (p->energy && fine.energy > 1e-10)
      failures += check_order(p->name, "energy", coarse.energy, fine.energy);
    assert_true(fine.drift[0] < 1e-8);
    if (methods[m] != AS_METHOD_INDEX3 || p->def.n_lambda == 0) assert_true(fine.drift[1] < 1e-8);
  }
  assert_int_equal(failures, 0);
}

static void test_index3(void **state) {
  (void)state;
  check_method(0);
}

static void test_index2(void **state) {
  (void)state;
  check_method(1);
}

static void test_soi2(void **state) {
  (void)state;
  check_method(2);
}

/// SOI2's choices: M_alpha evaluated again, the implicit first step, the plain one.
static void test_soi2_choices(void **state) {
  (void)state;
  int failures = 0;
  for (int choice = 0; choice < 3; ++choice) {
    const nonholonomic_problem *problems[] = {nonholonomic_jn8(), nonholonomic_disk()};
    for (int i = 0; i < 2; ++i) {
      const nonholonomic_problem *p = problems[i];
      as_integrator_def def = as_default_integrator_def();
      def.method = AS_METHOD_SOI2;
      def.rho_inf = 0.5;
      def.soi2.reevaluate_mass = choice == 0;
      def.soi2.implicit_start = choice == 1;
      def.improved_start = choice != 2;
      const double h = step_for(p);
      const outcome coarse = run(p, def, h), fine = run(p, def, h / 2.0);
      printf("%s, choice %d\n", p->name, choice);
      for (int k = 0; k < N_VARIABLES; ++k)
        if (k != 4 || p->def.n_lambda > 0)
          failures += check_order(p->name, variables[k], coarse.error[k], fine.error[k]);
    }
  }
  assert_int_equal(failures, 0);
}

/// A start that violates both kinds of constraints is brought onto them.
static void test_projection(void **state) {
  (void)state;
  const nonholonomic_problem *p = nonholonomic_disk();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  as_start_report report;
  const as_integrator_def def = as_default_integrator_def();
  assert_int_equal(as_problem_create(&p->def, &problem, &error), AS_OK);
  assert_int_equal(as_integrator_create(problem, &def, &integrator, &error), AS_OK);
  double v[5];
  for (int i = 0; i < 5; ++i) v[i] = p->v0[i] + 0.01 * (i + 1);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = v};
  assert_int_equal(as_integrator_start(integrator, &initial, &report, &error), AS_OK);
  assert_true(report.velocity_residual > 1e-3);
  assert_true(report.velocity_drift < 1e-14);
  assert_true(report.velocity_change > 1e-3);
  assert_int_equal(report.degrees_of_freedom, 3);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_index3),     cmocka_unit_test(test_index2),
      cmocka_unit_test(test_soi2),       cmocka_unit_test(test_soi2_choices),
      cmocka_unit_test(test_projection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
