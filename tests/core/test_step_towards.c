/// One step towards a time: many of them take the same steps as one as_integrator_advance(), to the last bit; where the state is inside
/// the last step, they go to its end first; they never pass the time that is asked for.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/quantities.h"
#include "machines.h"

static as_model *build_pendulum(void) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def def = machine_round_body("bob", 1.0, 0.1, false);
  def.position[0] = 1.0;
  const as_body_id bob = machine_body(b, &def);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, bob, (double[]){0, 0, 0},
                (double[]){0, 1, 0});
  return machine_build(b);
}

static as_integrator *begin(const as_model *model, double h) {
  as_error error = {0};
  as_integrator *s = NULL;
  as_integrator_def how = as_default_integrator_def();
  how.step = h;
  if (as_integrator_create(as_model_problem(model), &how, &s, &error) ||
      as_integrator_start(s, as_model_initial(model), NULL, &error))
    fail_msg("%s", error.message);
  return s;
}

static void check_same(const as_model *model, const as_state *a, const as_state *b) {
  const size_t n = sizeof(double) * 6, nq = sizeof(double) * 7;
  (void)model;
  assert_true(a->t == b->t);
  assert_memory_equal(a->q, b->q, nq);
  assert_memory_equal(a->v, b->v, n);
  assert_memory_equal(a->vdot, b->vdot, n);
}

/// To 0.7 s at once, and step by step, with a stop at 0.31 s on the way.
static void check(double h) {
  as_error error = {0};
  as_model *model = build_pendulum();
  as_integrator *whole = begin(model, h), *steps = begin(model, h);
  static const double ends[] = {0.31, 0.7};
  for (int k = 0; k < 2; ++k) {
    if (as_integrator_advance(whole, ends[k], &error)) fail_msg("%s", error.message);
    long calls = 0;
    double last = as_integrator_state(steps)->t;
    while (last < ends[k]) {
      if (as_integrator_step_towards(steps, ends[k], &error)) fail_msg("%s", error.message);
      const double t = as_integrator_state(steps)->t;
      assert_true(t > last && t <= ends[k]);
      last = t;
      ++calls;
    }
    as_statistics work;
    if (as_integrator_statistics(steps, &work, &error)) fail_msg("%s", error.message);
    assert_true(calls >= 3);
    if (k == 0) assert_true(work.steps == calls); // a call is a step
    check_same(model, as_integrator_state(whole), as_integrator_state(steps));
  }
  as_statistics one, other;
  if (as_integrator_statistics(whole, &one, &error) ||
      as_integrator_statistics(steps, &other, &error))
    fail_msg("%s", error.message);
  assert_true(one.steps == other.steps && one.steps > 10);
  as_integrator_destroy(whole);
  as_integrator_destroy(steps);
  as_model_destroy(model);
}

static void test_fixed(void **state) {
  (void)state;
  check(0.01);
  check(0.013); // no divisor of the times
}

static void test_automatic(void **state) {
  (void)state;
  check((double)NAN);
}

static void test_refused(void **state) {
  (void)state;
  as_error error = {0};
  as_model *model = build_pendulum();
  as_integrator *s = begin(model, 0.01);
  if (as_integrator_advance(s, 0.1, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_integrator_step_towards(s, 0.05, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_step_towards(NULL, 0.05, &error), AS_ERR_ARGUMENT);
  as_integrator_destroy(s);
  as_model_destroy(model);
}

/// What a step callback has been told.
typedef struct told {
  as_integrator *integrator;
  int steps;
  double last;
  double middle; ///< q there, by interpolation
} told;

static void note_step(const as_state *end, void *user) {
  told *x = user;
  as_error error;
  const double t = end->t;
  assert_true(t > x->last && end->q && end->vdot && end->lambda);
  if (as_integrator_interpolate(x->integrator, 0.5 * (x->last + t), &error))
    fail_msg("%s", error.message);
  x->middle = as_integrator_state(x->integrator)->q[2];
  x->last = t;
  ++x->steps;
}

/// Each step is told once, with the state at its end; looking into it changes nothing.
static void test_told(void **state) {
  (void)state;
  static const double sizes[] = {0.01, (double)NAN};
  as_model *model = build_pendulum();
  for (int k = 0; k < 2; ++k) {
    as_error error = {0};
    told x = {.steps = 0};
    as_integrator *plain = begin(model, sizes[k]);
    as_integrator_def how = as_default_integrator_def();
    how.step = sizes[k];
    how.step_taken = note_step;
    how.step_user = &x;
    if (as_integrator_create(as_model_problem(model), &how, &x.integrator, &error) ||
        as_integrator_start(x.integrator, as_model_initial(model), NULL, &error))
      fail_msg("%s", error.message);
    assert_int_equal(x.steps, 0);
    as_statistics work;
    if (as_integrator_advance(plain, 0.5, &error) ||
        as_integrator_advance(x.integrator, 0.5, &error) ||
        as_integrator_statistics(x.integrator, &work, &error))
      fail_msg("%s", error.message);
    assert_int_equal(x.steps, work.steps);
    assert_true(x.steps > 10 && x.last >= 0.5 && x.middle < 0.0);
    check_same(model, as_integrator_state(plain), as_integrator_state(x.integrator));
    // What the callback has looked at is not what a single step shows.
    if (isfinite(sizes[k]) && (as_integrator_step(plain, sizes[k], &error) ||
                               as_integrator_step(x.integrator, sizes[k], &error)))
      fail_msg("%s", error.message);
    if (isnan(sizes[k]) && (as_integrator_step_towards(plain, 1.0, &error) ||
                            as_integrator_step_towards(x.integrator, 1.0, &error)))
      fail_msg("%s", error.message);
    check_same(model, as_integrator_state(plain), as_integrator_state(x.integrator));
    as_integrator_destroy(plain);
    as_integrator_destroy(x.integrator);
  }
  as_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_told), cmocka_unit_test(test_fixed),
                                     cmocka_unit_test(test_automatic),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
