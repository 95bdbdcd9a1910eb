/// Vibrations of stiff springs that given steps do not follow are told, with the energy that velocities give them: [ST.17].
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"

static const double pi = 3.14159265358979323846;
static const char *const method_names[] = {"index3", "index2", "soi2"};

static struct {
  int told, unbalanced;
  double t, energy, all;
  char text[600], first[600];
} heard;

static void hear(as_log_level level, const char *message, void *user) {
  (void)user;
  heard.unbalanced += level == AS_LOG_WARNING && strstr(message, "balance of energies") != NULL;
  if (level != AS_LOG_WARNING || !strstr(message, "in vibrations of stiff springs")) return;
  ++heard.told;
  snprintf(heard.text, sizeof heard.text, "%s", message);
  char *rest = heard.text + strlen("From t = ");
  heard.t = strtod(rest, &rest);
  heard.energy = strtod(rest + strlen(" s on "), &rest);
  heard.all = strtod(rest + strlen(" J of the "), NULL);
}

static as_status no_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)user, (void)error;
  return AS_OK;
}

/// A run that is interrupted, saved and taken up again by another one.
typedef struct saver {
  long steps, stop_at;
} saver;

static bool interrupt(void *user) {
  saver *s = user;
  return s->stop_at > 0 && ++s->steps > s->stop_at;
}

static as_run *open_run(const as_machine *machine, saver *s) {
  static const char *const channels[] = {"energy"};
  as_error error;
  as_run *run = NULL;
  as_run_def def = as_default_run_def();
  def.integrator = machine->simulation.integrator;
  def.integrator.log = hear;
  def.integrator.interrupt = interrupt;
  def.integrator.interrupt_user = s;
  def.t_end = machine->simulation.t_end;
  def.channels = channels;
  def.n_channels = 1;
  def.rules = machine->rules;
  if (as_run_create(machine->model, &def, &run, &error)) fail_msg("%s", error.message);
  return run;
}

static void go(const char *text) {
  as_error error;
  as_machine *machine = files_parse(text);
  saver s = {0};
  as_run *run = open_run(machine, &s);
  memset(&heard, 0, sizeof heard);
  if (as_run_go(run, no_row, NULL, NULL, &error)) fail_msg("%s", error.message);
  as_run_destroy(run);
  as_machine_destroy(machine);
}

/// 2 kg with 1.5 m/s on a guide, and a spring along or across it that vibrates with 1 Hz; and 2 kg that fly by.
static void swing(int method, double rho_inf, double periods, int steps, const char *anchor,
                  double by) {
  char text[800];
  snprintf(text, sizeof text,
           "alphastep: 1\n"
           "parameters: {k: 8*pi^2}\n"
           "bodies: {a: {type: point, mass: 2, position: [1, 0, 0], velocity: [1.5, 0, 0]}, b: "
           "{type: point, mass: 2, position: [0, 0, 1], velocity: [0, %g, 0]}}\n"
           "joints: {guide: {type: point_on_line, bodies: [ground, a], point: [1, 0, 0], axis: [1, "
           "0, 0]}}\n"
           "forces: {s: {type: spring, bodies: [ground, a], point: %s, second_point: [1, 0, 0], "
           "stiffness: k}}\n"
           "simulate: {t_end: %.17g, step: %.17g, method: %s, rho_inf: %g}\n",
           by, anchor, steps * periods, periods, method_names[method], rho_inf);
  go(text);
}

/// What steps do not follow of the energy of an oscillation that turns by so many radians in each: (x/(1 + x))^2 with
/// x = kap beta turn^2.
static double lost(double rho, double turn) {
  const double alpha_m = (2.0 * rho - 1.0) / (rho + 1.0), alpha_f = rho / (rho + 1.0);
  const double beta = 0.25 * (1.0 + alpha_f - alpha_m) * (1.0 + alpha_f - alpha_m);
  const double x = (1.0 - alpha_f) / (1.0 - alpha_m) * beta * turn * turn;
  return x * x / ((1.0 + x) * (1.0 + x));
}

/// An oscillator is told of with what its steps do not follow, unless it has lost all of its energy before.
static void test_energy(void **state) {
  (void)state;
  int told = 0;
  static const double rho_inf[] = {0.0, 0.5, 0.8, 1.0}, periods[] = {0.2, 0.5, 1.0, 3.0, 30.0};
  for (int i = 0; i < 3 * 4 * 5; ++i) {
    const int method = i % 3;
    const double rho = rho_inf[i / 3 % 4], p = periods[i / 12];
    const double right = 2.25 * lost(rho, 2.0 * pi * p);
    swing(method, rho, p, 20, "[0, 0, 0]", 0.0);
    told += heard.told;
    if (heard.told == 0 && heard.unbalanced == 1) continue;
    if (heard.told != 1 || heard.t != 0.0 || !(fabs(heard.energy - right) < 6e-3 * right))
      fail_msg("%s, rho_inf %g, %g periods: told %d times, %g J instead of %g J: %s",
               method_names[method], rho, p, heard.told, heard.energy, right, heard.text);
    assert_non_null(strstr(heard.text, "mostly of body \"a\", velocity x"));
  }
  printf("%d of 60\n", told);
  assert_true(told > 40);
}

/// A run that ends before ten steps is told at its end; a hundredth of all energy is what matters.
static void test_limits(void **state) {
  (void)state;
  swing(1, 0.8, 3.0, 4, "[0, 0, 0]", 0.0);
  assert_int_equal(heard.told, 1);
  for (int k = 0; k < 2; ++k) {
    const double most = k ? 0.012 : 0.008, part = 2.25 * lost(0.8, 6.0 * pi);
    swing(1, 0.8, 3.0, 20, "[0, 0, 0]", sqrt(part / most - 2.25));
    assert_int_equal(heard.told, k);
  }
}

/// Nothing is told of vibrations that are followed, of velocities that stretch no spring, and of motions without springs.
static void test_silence(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    static const char *const pendulums[] = {
        "joints: {rod: {type: distance, bodies: [ground, a], point: [0, 0, 0], second_point: [1, "
        "0, 0]}}\n",
        "forces: {rod: {type: spring, bodies: [ground, a], point: [0, 0, 0], second_point: [1, 0, "
        "0], stiffness: 1.0e7}}\n"};
    char text[800];
    swing(i, 0.8, 1.0 / 12.0, 20, "[0, 0, 0]", 0.0);
    assert_int_equal(heard.told, 0);
    swing(i, 0.8, 3.0, 20, "[1, 1, 0]", 0.0);
    assert_int_equal(heard.told, 0);
    for (int k = 0; k < 2; ++k) {
      snprintf(text, sizeof text,
               "alphastep: 1\ngravity: [0, 0, -9.81]\n"
               "bodies: {a: {type: point, mass: 2, position: [1, 0, 0], velocity: [0, 0, -1]}}\n"
               "%ssimulate: {t_end: 2, step: %g, method: %s}\n",
               pendulums[k], k ? 0.02 : 0.1, method_names[i]);
      go(text);
      assert_int_equal(heard.told, 0);
    }
  }
}

/// Two bodies on a stiff bushing, struck at 0.25 s and twice more.
#define STRUCK                                                                                     \
  "alphastep: 1\n"                                                                                 \
  "bodies:\n"                                                                                      \
  "  hub: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [0, 0, 0]}\n"                           \
  "  arm: {mass: 0.5, inertia: [0.01, 0.01, 0.01], position: [0.5, 0, 0]}\n"                       \
  "forces: {pad: {type: bushing, bodies: [hub, arm], point: [0.25, 0, 0], stiffness: [1.0e7, "     \
  "1.0e7, 1.0e7, 1.0e5, 1.0e5, 1.0e5]}}\n"                                                         \
  "events: {hit: {every: 0.25, impulse: {body: arm, force: [0.5, 0, 0]}}}\n"
static const char struck[] = STRUCK "simulate: {t_end: 0.9, step: 1.0e-3}\n";
/// Vibrations go on, so energies balance.
static const char ringing[] = STRUCK "simulate: {t_end: 0.9, step: 1.0e-3, rho_inf: 1}\n";

/// Told of an event, once, also if the run is interrupted between the blow and the word, or behind both.
static void test_struck(void **state) {
  (void)state;
  static const char path[] = "test_vibrations_told.bin";
  as_error error;
  go(ringing);
  assert_true(heard.told == 1 && heard.unbalanced == 0);
  go(struck);
  assert_int_equal(heard.told, 1);
  assert_true(heard.t == 0.25);
  // A reduced mass of 1/3 kg, apart with 1 m/s.
  const double right = lost(0.8, 1e-3 * sqrt(3e7)) / 6.0;
  assert_true(fabs(heard.energy - right) < 6e-3 * right);
  assert_non_null(strstr(heard.text, "mostly of body \"arm\", velocity x"));
  memcpy(heard.first, heard.text, sizeof heard.first);
  for (int k = 0; k < 3; ++k) {
    static const long stops[] = {100, 255, 270};
    as_machine *machine = files_parse(struck);
    saver s = {.stop_at = stops[k]}, other = {0};
    as_run *run = open_run(machine, &s);
    heard.told = 0;
    assert_int_equal(as_run_go(run, no_row, NULL, NULL, &error), AS_INTERRUPTED);
    assert_int_equal(heard.told, k == 2);
    if (as_run_save_file(run, path, &error)) fail_msg("%s", error.message);
    as_run_destroy(run);
    run = open_run(machine, &other);
    if (as_run_load_file(run, path, &error)) fail_msg("%s", error.message);
    if (as_run_go(run, no_row, NULL, NULL, &error)) fail_msg("%s", error.message);
    assert_int_equal(heard.told, 1);
    assert_string_equal(heard.text, heard.first);
    as_run_destroy(run);
    as_machine_destroy(machine);
  }
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_energy), cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_silence), cmocka_unit_test(test_struck)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
