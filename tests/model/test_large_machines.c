/// Large machines: chains and trees factorize without fill, driven ones too; everything is linear in the number
/// of bodies; and the chain moves as the one written by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chain.h"
#include "core/driver/integrator.h"
#include "machines.h"
#include "model/model.h"

/// Link i hangs on link (i - 1)/branches; a chain for branches = 1. With `driven`, each joint is a hinge whose
/// angle is prescribed.
static as_model *build_tree(int n, int branches, as_joint_kind kind, int driven) {
  static const as_curve law = {0}; // held as it is
  as_error error;
  as_builder *b = machine_builder(0, 0, -9.81);
  for (int i = 0; i < n; ++i) {
    as_body_def link = machine_round_body(NULL, 1.0, 0.0839583333333333333, false);
    link.inertia[0] = 0.00125;
    const int parent = i > 0 ? (i - 1) / branches : AS_GROUND.index;
    int level = 0;
    for (int k = i; k > 0; k = (k - 1) / branches) ++level;
    link.position[0] = level + 0.5;
    const as_body_id id = machine_body(b, &link);
    const as_joint_id joint = machine_joint(b, NULL, kind, (as_body_id){parent}, id,
                                            (double[]){level, 0, 0}, (double[]){0, 1, 0});
    if (i >= driven) continue;
    as_motion_def motion = as_default_motion_def();
    motion.joint = joint;
    motion.law = &law;
    if (as_builder_add_motion(b, &motion, NULL, &error)) fail_msg("%s", error.message);
  }
  return machine_build(b);
}

static as_integrator *open_run(const as_problem *problem, const as_initial *initial,
                               as_method method) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = method;
  def.step = 1e-3;
  if (as_integrator_create(problem, &def, &integrator, &error) ||
      as_integrator_start(integrator, initial, NULL, &error) ||
      as_integrator_step(integrator, 1e-3, &error))
    fail_msg("%s", error.message);
  return integrator;
}

/// Entries of the factors of a step's matrix, over those of the matrix.
static double fill_of(const as_model *m, as_method method, double *entries) {
  as_integrator *integrator = open_run(as_model_problem(m), as_model_initial(m), method);
  asi_solver_info info;
  integrator->stepper.active->solver->ops->info(integrator->stepper.active->solver, &info);
  const double matrix = asi_pattern_nnz(&integrator->stepper.active->pattern);
  as_integrator_destroy(integrator);
  if (entries) *entries = info.fill;
  return info.fill / matrix;
}

static void test_no_fill(void **state) {
  (void)state;
  const struct {
    const char *name;
    int branches;
    as_joint_kind kind;
    int driven;
  } cases[] = {{"chain of balls", 1, AS_JOINT_SPHERICAL, 0},
               {"chain of hinges", 1, AS_JOINT_REVOLUTE, 0},
               {"chain of driven hinges", 1, AS_JOINT_REVOLUTE, 1000},
               {"tree of balls", 3, AS_JOINT_SPHERICAL, 0},
               {"tree of hinges", 3, AS_JOINT_REVOLUTE, 0},
               {"tree of cylinders", 2, AS_JOINT_CYLINDRICAL, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    for (int k = 0; k < 2; ++k) {
      as_model *small = build_tree(150, cases[i].branches, cases[i].kind, cases[i].driven);
      as_model *large = build_tree(1500, cases[i].branches, cases[i].kind, cases[i].driven);
      double few, many;
      const as_method method = k ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
      fill_of(small, method, &few);
      const double ratio = fill_of(large, method, &many);
      print_message(
          "  %-26s method %d: factors/matrix %.2f, ten times the bodies %.3f times the fill\n",
          cases[i].name, (int)method, ratio, many / few);
      // Pivots inside a block fill it; nothing grows from link to link.
      assert_true(ratio < 2.5);
      assert_true(many / few < 10.6);
      as_model_destroy(small);
      as_model_destroy(large);
    }
}

/// The same chain by hand (examples/chain): the same numbers to round-off.
static void test_by_hand(void **state) {
  (void)state;
  enum { LINKS = 200 };
  chain c;
  as_problem *problem = NULL;
  as_error error;
  double *q0 = calloc(7 * LINKS, sizeof(double));
  assert_non_null(q0);
  assert_true(chain_init(&c, LINKS));
  chain_straight(&c, q0);
  double typical[6 * LINKS]; // as the model has them: from the middle of a link to its joints
  for (int i = 0; i < 6 * LINKS; ++i) typical[i] = i % 6 < 3 ? 0.5 * c.length : 1.0;
  c.def.typical = typical;
  assert_int_equal(as_problem_create(&c.def, &problem, &error), AS_OK);
  as_model *m = build_tree(LINKS, 1, AS_JOINT_SPHERICAL, 0);
  const as_initial start = {.q = q0};
  for (int k = 0; k < 2; ++k) {
    const as_method method = k ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
    as_integrator *by_hand = open_run(problem, &start, method);
    as_integrator *built = open_run(as_model_problem(m), as_model_initial(m), method);
    assert_int_equal(as_integrator_advance(by_hand, 0.1, &error), AS_OK);
    assert_int_equal(as_integrator_advance(built, 0.1, &error), AS_OK);
    const as_state *x = as_integrator_state(by_hand), *y = as_integrator_state(built);
    for (int i = 0; i < 7 * LINKS; ++i) assert_true(fabs(x->q[i] - y->q[i]) < 1e-9);
    // Theirs is g = second less first: the opposite sign.
    for (int i = 0; i < 3 * LINKS; ++i) assert_true(fabs(x->lambda[i] + y->lambda[i]) < 1e-5);
    as_integrator_destroy(by_hand);
    as_integrator_destroy(built);
  }
  as_model_destroy(m);
  as_problem_destroy(problem);
  chain_free(&c);
  free(q0);
}

/// Thousands of bodies are no trouble; the bench has more.
static void test_many(void **state) {
  (void)state;
  as_model *m = build_tree(10000, 1, AS_JOINT_SPHERICAL, 0);
  as_integrator *integrator = open_run(as_model_problem(m), as_model_initial(m), AS_METHOD_INDEX3);
  as_error error;
  double drift[2];
  assert_int_equal(as_integrator_step(integrator, 1e-3, &error), AS_OK);
  assert_int_equal(as_integrator_drift(integrator, &drift[0], &drift[1], &error), AS_OK);
  assert_true(drift[0] < 1e-10);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_fill), cmocka_unit_test(test_by_hand),
                                     cmocka_unit_test(test_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
