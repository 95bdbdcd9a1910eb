/// Machines against known motions: second order in positions, velocities and reactions, with every method; and
/// in every way that a machine is modelled, the large ones with index-2 only, to save time.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"

typedef struct errors {
  double position, velocity, reaction;
} errors;

static double distance2(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

/// Equal steps of h, or automatic ones by a tolerance if h is NAN.
static errors run(const machine *subject, int variant, as_method method, double h, double rtol) {
  as_model *model = subject->build(variant);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error = {0};
  errors e = {0};
  def.method = method;
  def.step = h;
  if (isnan(h)) def.tolerance.rtol = rtol;
  as_status status = as_integrator_create(as_model_problem(model), &def, &integrator, &error);
  if (status == AS_OK)
    status = as_integrator_start(integrator, as_model_initial(model), NULL, &error);
  reading now = {0}, exact = {0};
  if (status == AS_OK) subject->reference(0.0, &now);
  for (int i = 0; i < 3 && status == AS_OK && isfinite(subject->times[i]); ++i) {
    status = as_integrator_advance(integrator, subject->times[i], &error);
    if (status) break;
    now.n_position = now.n_velocity = now.n_reaction = 0;
    exact = (reading){0};
    subject->read(model, as_integrator_state(integrator), &now);
    subject->reference(subject->times[i], &exact);
    assert_int_equal(now.n_position, exact.n_position);
    assert_int_equal(now.n_velocity, exact.n_velocity);
    assert_int_equal(now.n_reaction, exact.n_reaction);
    e.position += distance2(now.position, exact.position, now.n_position);
    e.velocity += distance2(now.velocity, exact.velocity, now.n_velocity);
    e.reaction += distance2(now.reaction, exact.reaction, now.n_reaction);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(model);
  if (status) fail_msg("%s, variant %d: %s", subject->name, variant, error.message);
  return (errors){sqrt(e.position), sqrt(e.velocity), sqrt(e.reaction)};
}

static int check(const char *name, int variant, const char *what, double coarse, double fine) {
  const double order = log2(coarse / fine);
  printf("  %-20s %d  %-8s %10.3e %10.3e  order %.3f\n", name, variant, what, coarse, fine, order);
  if (order >= 1.9) return 0;
  print_error("%s, variant %d: the error of %s falls from %g to %g: order %.3f < 1.9\n", name,
              variant, what, coarse, fine, order);
  return 1;
}

enum { ALL = 9 };

/// At most so many variants of each.
static void check_machines(const machine *machines, int n, as_method method, int most) {
  int failures = 0;
  for (int i = 0; i < n; ++i) {
    const machine *m = &machines[i];
    for (int variant = 0; variant < m->n_variants && variant < most; ++variant) {
      const errors coarse = run(m, variant, method, m->h, 0.0);
      const errors fine = run(m, variant, method, m->h / 2.0, 0.0);
      failures += check(m->name, variant, "position", coarse.position, fine.position);
      if (coarse.velocity > 0.0)
        failures += check(m->name, variant, "velocity", coarse.velocity, fine.velocity);
      if (coarse.reaction > 0.0)
        failures += check(m->name, variant, "reaction", coarse.reaction, fine.reaction);
    }
  }
  assert_int_equal(failures, 0);
}

static void test_index3(void **state) {
  (void)state;
  check_machines(machines_small, n_machines_small, AS_METHOD_INDEX3, ALL);
  check_machines(machines_large, n_machines_large, AS_METHOD_INDEX3, 1);
}

static void test_index2(void **state) {
  (void)state;
  check_machines(machines_small, n_machines_small, AS_METHOD_INDEX2, ALL);
  check_machines(machines_large, n_machines_large, AS_METHOD_INDEX2, ALL);
}

static void test_soi2(void **state) {
  (void)state;
  check_machines(machines_small, n_machines_small, AS_METHOD_SOI2, ALL);
  check_machines(machines_large, n_machines_large, AS_METHOD_SOI2, 1);
}

/// Automatic steps and dense output work for machines as for any problem: errors follow the tolerance.
static void test_automatic(void **state) {
  (void)state;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  const machine *const subjects[] = {&machines_small[0], &machines_small[8], &machines_large[1]};
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i)
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; ++k) {
      const errors loose = run(subjects[i], 0, methods[k], (double)NAN, 3e-2);
      const errors tight = run(subjects[i], 0, methods[k], (double)NAN, 1.4e-3);
      print_message("  %-16s method %d: error of position %.1e, then %.1e; velocity %.1e, %.1e\n",
                    subjects[i]->name, (int)methods[k], loose.position, tight.position,
                    loose.velocity, tight.velocity);
      assert_true(tight.position < 2e-3 && tight.position < loose.position / 4.0);
      assert_true(tight.velocity < loose.velocity / 4.0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_index3), cmocka_unit_test(test_index2),
                                     cmocka_unit_test(test_soi2), cmocka_unit_test(test_automatic)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
