/// The machines of examples/machines: they are the ones that the builder makes, and they move as they should.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "machines.h"
#include "rig.h"

static as_model *build_known(const char *name) {
  for (int i = 0; i < n_machines_small; ++i)
    if (strcmp(machines_small[i].name, name) == 0) return machines_small[i].build(0);
  fail_msg("there is no machine %s", name);
  return NULL;
}

static as_model *build_chain(int n) {
  as_builder *b = machine_builder(0, 0, -9.81);
  for (int i = 0; i < n; ++i) {
    as_body_def link = machine_round_body(NULL, 1.0, 0.05 * 0.05 / 4.0 + 1.0 / 12.0, false);
    link.inertia[0] = 0.05 * 0.05 / 2.0;
    link.position[0] = i + 0.5;
    machine_body(b, &link);
  }
  for (int i = 0; i < n; ++i)
    machine_joint(b, NULL, AS_JOINT_SPHERICAL, (as_body_id){i - 1}, (as_body_id){i},
                  (double[]){i, 0, 0}, NULL);
  return machine_build(b);
}

/// Numbers of a file by expressions differ by round-off from those by hand.
#define SAME 1e-9

static void check_same(const char *name, as_model *by_hand, const char *const *settings, int n,
                       double step) {
  char path[128];
  snprintf(path, sizeof path, "examples/machines/%s/model.yaml", name);
  as_machine *m = files_load(path, settings, n);
  for (int k = 0; k < 3; ++k) files_same_motion(m->model, by_hand, rig_methods[k], step, 50, SAME);
  as_model_destroy(by_hand);
  as_machine_destroy(m);
}

static void test_same(void **state) {
  (void)state;
  const char *const slow[] = {"parameters.spin=1.5", "parameters.swing=-0.0461538"};
  const char *const links = "parameters.n=37";
  check_same("pendulum", build_known("pendulum"), NULL, 0, 0.01);
  check_same("double-pendulum", build_known("double pendulum"), NULL, 0, 0.005);
  check_same("heavy-top", build_known("fast top"), NULL, 0, 0.0005);
  check_same("heavy-top", build_known("slow top"), slow, 2, 0.002);
  check_same("chain", build_chain(10), NULL, 0, 0.002);
  check_same("chain", build_chain(37), &links, 1, 0.002);
}

/// Runs a machine as its file says.
static as_integrator *run(const as_machine *m, double t) {
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(m->model), &m->simulation.integrator, &integrator,
                           &error) ||
      as_integrator_start(integrator, as_model_initial(m->model), NULL, &error) ||
      as_integrator_advance(integrator, t, &error))
    fail_msg("%s", error.message);
  return integrator;
}

/// How far the end of a chain of ten links is off after a second; the reference was computed elsewhere.
static double chain_error(const char *step) {
  as_machine *m = files_load("examples/machines/chain/model.yaml", &step, 1);
  as_integrator *integrator = run(m, m->simulation.t_end);
  as_body_motion last;
  as_model_body_motion(m->model, as_integrator_state(integrator),
                       as_model_find_body(m->model, "link 10"), &last);
  const double error = hypot(last.x[0] + 0.5 * last.R[0] - 7.527507986527,
                             last.x[2] + 0.5 * last.R[6] + 4.906153396808);
  as_integrator_destroy(integrator);
  as_machine_destroy(m);
  return error;
}

static void test_chain(void **state) {
  (void)state;
  const double coarse = chain_error("simulate.step=1e-3"), fine = chain_error("simulate.step=5e-4");
  print_message("  off by %.2e, and %.2e with half the step\n", coarse, fine);
  assert_true(coarse < 1e-5 && log2(coarse / fine) > 1.9);
}

/// The rocker's angle from the crank's, by the law of cosines twice.
static double rocker_angle(double crank) {
  const double a = 1.0, b = 3.0, c = 2.5, base = 3.0;
  const double dx = base - a * cos(crank), dy = -a * sin(crank), d = hypot(dx, dy);
  const double inner = acos((c * c + d * d - b * b) / (2.0 * c * d));
  return atan2(-dy, -dx) - inner;
}

static void test_four_bar(void **state) {
  (void)state;
  as_error error;
  as_machine *m = files_load("examples/machines/four-bar/model.yaml", NULL, 0);
  const double start = 3.14159265358979323846 / 3.0, times[] = {0.0, 0.5, 1.7, 3.0};
  assert_true(m->assembled);
  print_message("  the largest gap is %.3f\n", m->assembly.gap);
  assert_true(m->assembly.gap > 0.001 && m->assembly.gap < 0.1);
  assert_int_equal(m->assembly.degrees_of_freedom, 0); // the motor has the last one
  assert_int_equal(m->assembly.n_redundant, 0);
  for (int i = 0; i < 4; ++i) {
    as_integrator *integrator = run(m, times[i]);
    const as_state *s = as_integrator_state(integrator);
    double angle;
    const double expected = rocker_angle(start + 2.0 * times[i]);
    assert_int_equal(as_model_coordinates(m->model, s, as_model_find_joint(m->model, "base"),
                                          &expected, &angle, NULL, &error),
                     AS_OK);
    assert_near("rocker", angle, expected,
                1e-6); // nothing to integrate, but between steps it is interpolated
    as_integrator_destroy(integrator);
  }
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same),
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_four_bar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
