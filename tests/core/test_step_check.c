/// A problem is asked about the end of each step: one that it finds too long is taken in parts.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "problems/problems.h"
#include "rig.h"

/// What the check is to find, and what it has seen.
static struct {
  double longest; ///< steps beyond are too long [s]
  int row;        ///< that it blames
  int code;       ///< that it returns for them
  double end;     ///< where the last step that it let pass ended [s]
  double passed;  ///< the longest step that it let pass [s]
  int asked;
} check;

static int check_step(const as_point *from, const as_point *to, const bool *inactive, int *row,
                      char *text, size_t size, void *user) {
  (void)user, (void)text, (void)size;
  assert_false(inactive[0]);
  ++check.asked;
  assert_true(from->t == check.end && to->t > from->t);
  assert_non_null(from->q);
  assert_non_null(to->v);
  if (to->t - from->t > check.longest) {
    *row = check.row;
    return check.code;
  }
  check.end = to->t;
  check.passed = fmax(check.passed, to->t - from->t);
  return AS_DONE;
}

static rig make(as_method method, double h) {
  const test_problem *p = problem_pendulum_horizontal();
  as_problem_def def = p->def;
  def.check_step = check_step;
  const as_integrator_def how = rig_how(method, h, NULL, 0);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  check.end = p->t0;
  check.passed = 0.0;
  check.asked = 0;
  return rig_make(&def, &how, &initial);
}

static void test_parts(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    check.longest = 0.005;
    check.code = AS_RETRY;
    check.row = 0;
    rig r = make(rig_methods[k], 0.01);
    rig_advance(&r, 0.1);
    as_statistics work;
    assert_int_equal(as_integrator_statistics(r.integrator, &work, &r.error), AS_OK);
    assert_true(work.steps >= 20 && work.failed_steps >= 10);
    assert_true(check.asked == work.steps + work.failed_steps);
    rig_free(&r);
  }
}

/// Automatic steps: each attempt is asked about, also the longest that it bears; one a bit longer is taken again, shorter.
static void test_automatic(void **state) {
  (void)state;
  check.code = AS_RETRY;
  check.row = 0;
  double longest = (double)INFINITY;
  long steps = 0;
  for (int pass = 0; pass < 3; ++pass) {
    check.longest = longest;
    rig r = make(AS_METHOD_INDEX2, (double)NAN);
    rig_advance(&r, 0.05);
    as_statistics work;
    assert_int_equal(as_integrator_statistics(r.integrator, &work, &r.error), AS_OK);
    assert_true(work.steps > 0 && check.end >= 0.05);
    assert_true(check.asked == work.steps + work.failed_steps + work.rejected_steps);
    assert_true(check.passed <= check.longest);
    if (pass == 1) assert_true(work.steps == steps && work.failed_steps == 0);
    if (pass == 2) assert_true(work.failed_steps > 0);
    longest = pass == 0 ? check.passed : nextafter(longest, 0.0);
    steps = work.steps;
    rig_free(&r);
  }
}

static void test_sentences(void **state) {
  (void)state;
  check.longest = 1e-6;
  check.code = AS_RETRY;
  const struct {
    int row;
    const char *words;
  } blamed[] = {{0, "where lambda[0] holds"}, {-1, "farther than can be told"}};
  for (int i = 0; i < 2; ++i) {
    check.row = blamed[i].row;
    rig r = make(AS_METHOD_INDEX2, 0.01);
    const as_state *s = rig_advance_to(&r, 0.1, AS_ERR_RETRY);
    assert_non_null(strstr(r.error.message, "from t = 0 s to 0.01 s is too long"));
    assert_non_null(strstr(r.error.message, blamed[i].words));
    assert_true(s->t == 0.0);
    rig_free(&r);
  }
  check.code = AS_FATAL;
  rig r = make(AS_METHOD_INDEX2, 0.01);
  rig_advance_to(&r, 0.1, AS_ERR_CALLBACK);
  assert_non_null(strstr(r.error.message, "check_step callback reported a fatal failure"));
  rig_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_automatic),
                                     cmocka_unit_test(test_sentences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
