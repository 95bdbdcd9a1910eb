/// What automatic steps cost beside Newton's method: solutions with the factors of a step are counted, and errors are to be those of
/// machines for which nothing is spared.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/kinematics/problem.h"
#include "machines.h"

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

/// Links of 1 m, level and at rest; with `loop` the last one hangs on the ground, too.
static as_model *build_chain(int n, bool loop) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_id last = AS_GROUND;
  for (int i = 0; i < n; ++i) {
    as_body_def link = machine_round_body(NULL, 1.0, 0.08, false);
    const double point[3] = {i, 0, 0};
    link.inertia[0] = 0.00125;
    link.position[0] = i + 0.5;
    const as_body_id body = machine_body(b, &link);
    machine_joint(b, NULL, AS_JOINT_SPHERICAL, last, body, point, NULL);
    last = body;
  }
  const double end[3] = {n, 0, 0};
  if (loop)
    machine_joint(b, NULL, AS_JOINT_POINT_ON_LINE, AS_GROUND, last, end, (double[]){1, 0, 0});
  return machine_build(b);
}

/// Automatic steps to t = 0.3 s; `end` receives q.
static as_statistics run(const as_model *m, as_method method, double rtol, double *end) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *s = NULL;
  as_error error = {0};
  as_statistics work;
  def.method = method;
  def.step = (double)NAN;
  def.tolerance.rtol = rtol;
  def.tolerance.land = true;
  must(as_integrator_create(as_model_problem(m), &def, &s, &error), &error);
  must(as_integrator_start(s, as_model_initial(m), NULL, &error), &error);
  must(as_integrator_advance(s, 0.3, &error), &error);
  must(as_integrator_statistics(s, &work, &error), &error);
  memcpy(end, as_integrator_state(s)->q,
         (size_t)as_space_nq(as_problem_space(as_model_problem(m))) * sizeof(double));
  as_integrator_destroy(s);
  return work;
}

enum { LINKS = 100, NUMBERS = 7 * LINKS };

// 6.3 and 1.8 solutions a step; all that is spared found in each step: 9 and 2.4.
static void test_solutions(void **state) {
  (void)state;
  static const struct {
    as_method method;
    double most;
  } cases[] = {{AS_METHOD_INDEX3, 7.5}, {AS_METHOD_INDEX2, 2.1}};
  as_model *m = build_chain(LINKS, false);
  for (int i = 0; i < 2; ++i) {
    double q[NUMBERS], fine[NUMBERS], off = 0.0;
    const as_statistics work = run(m, cases[i].method, 2e-5, q);
    run(m, cases[i].method, 2e-7, fine);
    for (int k = 0; k < NUMBERS; ++k) off = fmax(off, fabs(q[k] - fine[k]));
    print_message("%ld steps, %ld solutions, off by %.1e\n", work.steps, work.solves, off);
    assert_true((double)work.solves <= cases[i].most * (double)work.steps);
    assert_true(off <= 2e-5 * LINKS);
  }
  as_model_destroy(m);
}

static void test_loops_are_found(void **state) {
  (void)state;
  as_model *open = build_chain(3, false), *closed = build_chain(3, true);
  assert_true(as_model_problem(open)->is_forest);
  assert_false(as_model_problem(closed)->is_forest);
  as_model_destroy(open);
  as_model_destroy(closed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_solutions),
                                     cmocka_unit_test(test_loops_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
