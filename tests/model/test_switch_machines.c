/// Machines whose forces and rates jump, against closed forms: at known times with given steps, by every method.
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
#include "rig.h"

static as_machine *parse(const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}

/// Channels at a time, by steps of a size; *steps: how many there were.
static void run(const as_machine *machine, as_method method, double t, double step,
                const char *const *name, int n, double *out, long *steps) {
  as_integrator *integrator = NULL;
  as_channels *channels = NULL;
  as_error error;
  as_integrator_def def = machine->simulation.integrator;
  def.step = step;
  def.method = method;
  const as_model *m = machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      as_integrator_advance(integrator, t, &error) ||
      as_channels_create(m, name, n, &channels, &error) ||
      as_channels_evaluate(channels, &(as_view){.state = as_integrator_state(integrator)}, out,
                           &error))
    fail_msg("%s", error.message);
  as_statistics statistics;
  if (as_integrator_statistics(integrator, &statistics, &error)) fail_msg("%s", error.message);
  if (steps) *steps = statistics.steps;
  as_channels_destroy(channels);
  as_integrator_destroy(integrator);
}

/// Whether an error falls by about four, or both are round-off.
static void assert_order(const char *what, double coarse, double fine, double least) {
  const double first = fabs(coarse), second = fabs(fine);
  if (!(first <= least && second <= least) && !(first > 3.3 * second && first < 5.0 * second))
    fail_msg("%s: errors %g, %g are not of second order", what, coarse, fine);
}

// ---- known times ------------------------------------------------------------------------------------

// A rod of mass 2 kg, its centre 0.5 m beside the hinge, 1 kg m^2 about it, with a torsional spring of 4 N m/rad: torque 1 N m from
// `from` on. angle = (1 - cos(2 s))/4, s = t - from; what the hinge bears is the centre's acceleration times its mass.
static const char rod[] =
    "alphastep: 1\n"
    "parameters: {from: 0.5}\n"
    "bodies: {rod: {mass: 2, inertia: [0.5, 0.5, 0.5], position: [0.5, 0, 0]}}\n"
    "joints: {hinge: {type: revolute, bodies: [ground, rod], point: [0, 0, 0], axis: [0, 0, 1], "
    "start: {angle: 0}}}\n"
    "forces:\n"
    "  spring: {type: actuator, joint: hinge, force: \"if(t >= from, 1, 0) - "
    "4*joints.hinge.angle\"}\n"
    "%s"
    "simulate: {t_end: 2, rho_inf: 0.8}\n";
static const char rod_state[] = "blocks: {lag: {type: state, rate: \"if(t >= from, 1, 0) - "
                                "2*blocks.lag\"}, twice: {type: signal, formula: 2*blocks.lag}}\n";

static void rod_expected(double t, double from, double out[7]) {
  const double s = fmax(0.0, t - from), angle = (1.0 - cos(2.0 * s)) / 4.0,
               rate = sin(2.0 * s) / 2.0, second = cos(2.0 * s);
  const double ax = -0.5 * (rate * rate * cos(angle) + second * sin(angle));
  const double ay = -0.5 * (rate * rate * sin(angle) - second * cos(angle));
  const double values[] = {angle, rate, ax, 2.0 * ax, 2.0 * ay, (1.0 - exp(-2.0 * s)) / 2.0, 0.0};
  memcpy(out, values, sizeof values);
  out[6] = 2.0 * out[5];
}

static const char *const of_rod[] = {
    "joints.hinge.angle",   "joints.hinge.angle_rate", "bodies.rod.acceleration.x",
    "joints.hinge.force.x", "joints.hinge.force.y",    "blocks.lag",
    "blocks.twice"};

/// The jump is on a mesh point, between two, right before and right behind one.
static void test_known_times(void **state) {
  (void)state;
  static const double from[] = {0.5, 0.30000000000000004, 0.5137, 0.5099999, 0.510003, 0.0};
  const struct {
    as_method method;
    bool states;
  } cases[] = {{AS_METHOD_INDEX3, true}, {AS_METHOD_INDEX2, true}, {AS_METHOD_SOI2, false}};
  char text[2000];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 6; ++i) {
      const int n = cases[k].states ? 7 : 5;
      double coarse[7], fine[7], expected[7];
      long steps;
      char value[40];
      snprintf(value, sizeof value, "from: %.17g}", from[i]);
      snprintf(text, sizeof text, rod, cases[k].states ? rod_state : "");
      char *const at = strstr(text, "from: 0.5}");
      memmove(at + strlen(value), at + 10, strlen(at + 10) + 1);
      memcpy(at, value, strlen(value));
      as_machine *machine = parse(text);
      run(machine, cases[k].method, 1.0, 0.01, of_rod, n, coarse, &steps);
      run(machine, cases[k].method, 1.0, 0.005, of_rod, n, fine, NULL);
      rod_expected(1.0, from[i], expected);
      for (int c = 0; c < n; ++c) {
        assert_near(of_rod[c], (4.0 * fine[c] - coarse[c]) / 3.0, expected[c], 5e-7);
        assert_order(of_rod[c], coarse[c] - expected[c], fine[c] - expected[c], 1e-9);
      }
      if (!(steps >= 100 && steps <= 102)) fail_msg("%ld steps", steps);
      as_machine_destroy(machine);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
