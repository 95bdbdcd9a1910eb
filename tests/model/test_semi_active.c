/// The semi-active damper and its inverse against values that were computed without this library, tests/files/semi-active.
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
#include "alphastep/io.h"
#include "files.h"
#include "rig.h"

enum { MOST_ROWS = 256, COLUMNS = 6 };

typedef struct numbers {
  double row[MOST_ROWS][COLUMNS];
  int rows;
} numbers;

/// A file of numbers with one line of names.
static const numbers *read_numbers(const char *name) {
  static numbers all;
  char path[256];
  snprintf(path, sizeof path, "tests/files/semi-active/%s.csv", name);
  char *text = files_read(path);
  all.rows = 0;
  for (char *line = strchr(text, '\n') + 1; *line; ++all.rows) {
    assert_true(all.rows < MOST_ROWS);
    for (int k = 0;; ++k) {
      assert_true(k < COLUMNS);
      all.row[all.rows][k] = strtod(line, &line);
      if (*line++ != ',') break;
    }
  }
  free(text);
  return &all;
}

// ---- the inverse ------------------------------------------------------------------------------------

/// The current that a block finds.
static double current_for(double force, double speed, const char *rest) {
  char text[1024];
  as_error error;
  snprintf(text, sizeof text,
           "alphastep: 1\n"
           "bodies: {m: {type: point, mass: 1}}\n"
           "blocks: {i: {type: semi_active_inverse, force: %.17g, speed: %.17g%s}}\n",
           force, speed, rest);
  as_machine *machine = files_parse(text);
  const as_model *m = machine->model;
  as_integrator *integrator = NULL;
  const as_integrator_def def = machine->simulation.integrator;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  const double found =
      as_model_signal_value(m, as_integrator_state(integrator), as_model_find_signal(m, "i", NULL));
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
  return found;
}

/// Its formula, by another program.
static void test_inverse(void **state) {
  (void)state;
  const numbers *all = read_numbers("inverse");
  assert_int_equal(all->rows, 49);
  for (int i = 0; i < all->rows; ++i) {
    const double *row = all->row[i];
    assert_near("current", current_for(row[0], row[1], ", stroke: 0"), row[2], 1e-10);
  }
}

/// What the damper gives at a constant speed, up to 1 m/s, asks for the current that it has, where the relief stage of the valve is open
/// and the current is no limit.
static void test_round_trip(void **state) {
  (void)state;
  const numbers *all = read_numbers("characteristic");
  int open = 0;
  assert_int_equal(all->rows, 98);
  for (int i = 0; i < all->rows; ++i) {
    const double *row = all->row[i];
    const double gas = 4e5 * pow(1.2e-4 / (1.2e-4 + 3.8e-4 * row[0]), 1.3);
    const double opens = 1.5e5 + 3.75e6 * row[2] / 1.6;
    char stroke[64];
    if (row[3] - gas < opens || fabs(row[1]) > 1.0 || row[2] > 1.5) continue;
    snprintf(stroke, sizeof stroke, ", stroke: %g", row[0]);
    assert_near("current", current_for(row[5], row[1], stroke), row[2], 0.06);
    ++open;
  }
  assert_true(open >= 20);
}

// ---- the damper -------------------------------------------------------------------------------------

/// At rest the pressures are those at which nothing flows in or out, by bracketed root finding to 1e-15.
static void test_characteristic(void **state) {
  (void)state;
  const numbers *all = read_numbers("characteristic");
  assert_int_equal(all->rows, 98);
  for (int i = 0; i < all->rows; ++i) {
    const double *row = all->row[i];
    char text[1024];
    as_analysis *analysis = NULL;
    as_equilibrium found;
    as_error error;
    const as_analysis_def def = as_default_analysis_def();
    snprintf(text, sizeof text,
             "alphastep: 1\n"
             "bodies: {m: {type: point, mass: 1}}\n"
             "forces: {hold: {type: spring, bodies: [ground, m], point: [0, 0, -1], second_point: "
             "[0, 0, 0], stiffness: 100}}\n"
             "blocks: {d: {type: semi_active_damper, stroke: %.17g, speed: %.17g, current: %.17g, "
             "rebound: 1e6, compression: 5e5}}\n",
             row[0], row[1], row[2]);
    as_machine *machine = files_parse(text);
    if (as_analysis_create(as_model_problem(machine->model), &def, &analysis, &error) ||
        as_analysis_equilibrium(analysis, as_model_initial(machine->model), &found, &error))
      fail_msg("row %d: %s", i, error.message);
    const as_state *at = as_analysis_state(analysis);
    const double now[] = {at->x[0], at->x[1], at->y[0]};
    for (int k = 0; k < 3; ++k)
      assert_near("equilibrium", now[k], row[3 + k], 1e-8 * fabs(row[3 + k]));
    // What the description promises: a chamber that is filled through a check valve is close to where it is filled from.
    const double gas = 4e5 * pow(1.2e-4 / (1.2e-4 + 3.8e-4 * row[0]), 1.3);
    if (row[1] > 0.1) assert_true(now[1] < 1.2 * gas);
    if (row[1] < -0.1 && row[1] >= -0.3) assert_true(now[1] > now[0] && now[1] < now[0] + 1e5);
    as_analysis_destroy(analysis);
    as_machine_destroy(machine);
  }
}

enum { MOST_NUMBERS = 4 };

/// Numbers of a machine at the times of a file, by steps of one size. Returns how many steps failed.
static long follow(const char *text, const numbers *at, double step,
                   const char *const name[MOST_NUMBERS], double out[MOST_ROWS][MOST_NUMBERS]) {
  as_machine *machine = files_parse(text);
  const as_model *m = machine->model;
  as_integrator *integrator = NULL;
  as_channels *channels = NULL;
  as_error error;
  as_integrator_def def = machine->simulation.integrator;
  def.step = step;
  int n = 0;
  while (n < MOST_NUMBERS && name[n]) ++n;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      as_channels_create(m, name, n, &channels, &error))
    fail_msg("%s", error.message);
  for (int i = 0; i < at->rows; ++i)
    if (as_integrator_advance(integrator, at->row[i][0], &error) ||
        as_channels_evaluate(channels, &(as_view){.state = as_integrator_state(integrator)}, out[i],
                             &error))
      fail_msg("step %g: %s", step, error.message);
  as_statistics statistics;
  if (as_integrator_statistics(integrator, &statistics, &error)) fail_msg("%s", error.message);
  const long failed = statistics.failed_steps;
  as_channels_destroy(channels);
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
  return failed;
}

static double largest(const numbers *all, int column) {
  double most = 0.0;
  for (int i = 0; i < all->rows; ++i) most = fmax(most, fabs(all->row[i][column]));
  return most;
}

/// Whole trajectories of a prescribed stroke: extrapolated from two steps, they are those of DOP853 and Radau.
static void expect_trajectory(const char *file, double amplitude, double frequency,
                              const char *rest, double step, double within) {
  static double coarse[MOST_ROWS][MOST_NUMBERS], fine[MOST_ROWS][MOST_NUMBERS];
  static const char *const name[MOST_NUMBERS] = {"blocks.d.rebound", "blocks.d.compression",
                                                 "blocks.d"};
  const numbers *all = read_numbers(file);
  char text[1024];
  snprintf(text, sizeof text,
           "alphastep: 1\n"
           "bodies: {m: {type: point, mass: 1}}\n"
           "blocks: {d: {type: semi_active_damper, stroke: %g*sin(2*pi*%g*t), speed: "
           "%g*2*pi*%g*cos(2*pi*%g*t), %s}}\n"
           "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n",
           amplitude, frequency, amplitude, frequency, frequency, rest);
  assert_int_equal(follow(text, all, step, name, coarse), 0);
  assert_int_equal(follow(text, all, step / 2.0, name, fine), 0);
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < all->rows; ++i) {
      const double best = (4.0 * fine[i][k] - coarse[i][k]) / 3.0;
      if (!(fabs(best - all->row[i][1 + k]) <= within * largest(all, 1 + k)))
        fail_msg("%s, %s at %g s: %.9g is not %.9g", file, name[k], all->row[i][0], best,
                 all->row[i][1 + k]);
    }
}

static void test_trajectories(void **state) {
  (void)state;
  static const char start[] = "rebound: 1278346.79930665, compression: 372751.270571529";
  char rest[256];
  snprintf(rest, sizeof rest, "current: \"if(t < 0.4, 0.2, 1.4)\", %s", start);
  expect_trajectory("sine_step", 0.03, 1.5, rest, 1e-4, 2e-6);
  snprintf(rest, sizeof rest, "current: \"if(t < 0.4, 0.2, 1.4 - 1.2*exp((0.4 - t)/0.005))\", %s",
           start);
  expect_trajectory("sine_step_lag", 0.03, 1.5, rest, 1e-4, 2e-6);
  expect_trajectory("sine_noair", 0.005, 10.0,
                    "current: 1, air: 0, rebound: 3126277.39686794, compression: 370237.477766399",
                    5e-5, 2e-6);
}

// ---- steps that do not resolve check valves -----------------------------------------------------------

/// [NW.17] A quarter car with a controller, the inverse and the damper in one system, whose check valves take 0.01 ms. All steps are
/// solved, and errors are those of the method: over the largest values, behind 0.5 s, of both positions and accelerations of
/// the body, the pressure in the rebound chamber, the current.
static const char quarter[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  body: {type: point, mass: 400, position: [0, 0, 0]}\n"
    "  wheel: {type: point, mass: 45, position: [0, 0, 0]}\n"
    "forces:\n"
    "  on_body: {type: load, body: body, force: [0, 0, -blocks.strut]}\n"
    "  on_wheel: {type: load, body: wheel, force: [0, 0, blocks.strut + blocks.tyre]}\n"
    "blocks:\n"
    "  road: {type: signal, formula: 0.015*sin(2*pi*1.3*t) + 0.003*(sin(2*pi*9*t + 1) - sin(1))}\n"
    "  rate: {type: signal, formula: 0.039*pi*cos(2*pi*1.3*t) + 0.054*pi*cos(2*pi*9*t + 1)}\n"
    "  tyre: {type: signal, formula: -280835*(bodies.wheel.position.z - blocks.road) - "
    "500*(bodies.wheel.velocity.z - blocks.rate)}\n"
    "  x: {type: signal, formula: bodies.body.position.z - bodies.wheel.position.z}\n"
    "  v: {type: signal, formula: bodies.body.velocity.z - bodies.wheel.velocity.z}\n"
    "  strut: {type: signal, formula: 26000*blocks.x + blocks.d + 113.4965}\n"
    "  d: {type: semi_active_damper, stroke: blocks.x, speed: blocks.v, current: blocks.i, "
    "rebound: "
    "4e5, compression: 4e5}\n"
    "  i: {type: lowpass, input: blocks.wanted, time_constant: 0.005, start: 0.3}\n"
    "  measured: {type: signal, formula: bodies.body.acceleration.z + 0.3}\n"
    "  x1: {type: state, start: 0.3, rate: 0.5*(blocks.measured - blocks.x1)}\n"
    "  x2: {type: state, rate: blocks.measured - blocks.x1 - blocks.x2}\n"
    "  wanted: {type: semi_active_inverse, force: 6000*blocks.x2, stroke: blocks.x, speed: "
    "blocks.v}\n"
    "simulate: {t_end: 2, step: 1e-3, rho_inf: 0.9}\n";

static void test_quarter(void **state) {
  (void)state;
  static const double most[][1 + MOST_NUMBERS] = {{0.01, 0.03, 0.25, 0.11, 0.5},
                                                  {0.005, 0.006, 0.18, 0.09, 0.3},
                                                  {0.0025, 0.0015, 0.027, 0.016, 0.05},
                                                  {0.001, 0.0002, 0.005, 0.0027, 0.007}};
  static const char *const name[MOST_NUMBERS] = {
      "bodies.body.position.z", "bodies.body.acceleration.z", "blocks.d.rebound", "blocks.i"};
  static double found[MOST_ROWS][MOST_NUMBERS];
  const numbers *all = read_numbers("quarter");
  for (size_t c = 0; c < sizeof most / sizeof most[0]; ++c) {
    const long failed = follow(quarter, all, most[c][0], name, found);
    if (!(failed <= 2)) fail_msg("step %g: %ld steps failed", most[c][0], failed);
    for (int k = 0; k < MOST_NUMBERS; ++k) {
      double error = 0.0;
      for (int i = 51; i < all->rows; ++i)
        error = fmax(error, fabs(found[i][k] - all->row[i][1 + k]) / largest(all, 1 + k));
      if (!(error <= most[c][1 + k]))
        fail_msg("step %g, %s: %g > %g", most[c][0], name[k], error, most[c][1 + k]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_characteristic), cmocka_unit_test(test_trajectories),
      cmocka_unit_test(test_quarter),        cmocka_unit_test(test_inverse),
      cmocka_unit_test(test_round_trip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
