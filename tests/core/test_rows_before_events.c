/// Rows in the last step before an event show the machine as it was then: reactions of least norm of the joints that held, [RE.7].
///
/// A door on three hinges, the second of which holds from 0.7 s on, and the first only until 1.3 s. Between these times each hinge takes a
/// third of the torque, in all rows.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"

static const char door[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  door: {mass: 10, inertia: [1, 0.5, 0.6], position: [0.5, 0, 0.5], angular_velocity: [0, 0, "
    "1]}\n"
    "joints:\n"
    "  a: {type: revolute, bodies: [ground, door], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  b: {type: revolute, bodies: [ground, door], point: [0, 0, 1], axis: [0, 0, 1], active: "
    "false}\n"
    "  c: {type: revolute, bodies: [ground, door], point: [0, 0, 0.5], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  push: {type: load, body: door, force: [0, \"3*sin(5*t)\", 0]}\n"
    "events:\n"
    "  on: {when: t - 0.7, activate: b}\n"
    "  off: {when: t - 1.3, release: a}\n"
    "simulate: {t_end: 2}\n"
    "output: {interval: 0.0013, channels: [joints.*.torque.x]}\n";

typedef struct seen {
  int rows, between, off;
} seen;

static as_status look(double t, const double *torque, int n, void *user, as_error *error) {
  seen *s = user;
  (void)error;
  assert_int_equal(n, 3); // of a, b and c
  ++s->rows;
  if (fabs(t - 0.7) < 1e-6 || fabs(t - 1.3) < 1e-6) return AS_OK; // the event's own
  const bool a = t<1.3, b = t> 0.7;
  const double all = torque[0] + torque[1] + torque[2], each = all / (1.0 + a + b);
  s->between += a && b;
  s->off += !(fabs(torque[0] - (a ? each : 0.0)) <= 1e-7 * fabs(all) &&
              fabs(torque[1] - (b ? each : 0.0)) <= 1e-7 * fabs(all));
  return AS_OK;
}

static void go(const char *method, const char *steps) {
  char set[64];
  const char *settings[] = {set, steps};
  as_machine *machine = NULL;
  as_messages messages = {0};
  as_run *run = NULL;
  as_error error;
  as_run_def def = as_default_run_def();
  seen s = {0};
  snprintf(set, sizeof set, "simulate.method=%s", method);
  if (as_machine_parse(door, strlen(door), "door", settings, 2, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  def.integrator = machine->simulation.integrator;
  def.t_end = machine->simulation.t_end;
  def.channels = machine->output.channels;
  def.n_channels = machine->output.n_channels;
  def.interval = machine->output.interval;
  def.rules = machine->rules;
  if (as_run_create(machine->model, &def, &run, &error) || as_run_go(run, look, &s, NULL, &error))
    fail_msg("%s", error.message);
  printf("%s, %s: %d of %d rows are off\n", method, steps, s.off, s.rows);
  assert_true(s.between > 400 && s.rows > 1500);
  assert_int_equal(s.off, 0);
  as_run_destroy(run);
  as_machine_destroy(machine);
}

static void test_rows_before_events(void **state) {
  (void)state;
  static const char *const methods[] = {"index3", "index2", "soi2"};
  for (int i = 0; i < 3; ++i) {
    go(methods[i], "simulate.tol={rtol: 1e-3}");
    go(methods[i], "simulate.step=0.011");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_before_events)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
