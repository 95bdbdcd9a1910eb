/// `start:`: machines that start where they come to rest, with the velocities that are written: against closed forms and against the same
/// machine written there; joints that hold during the search only; mistakes.
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
#include "alphastep/tyre.h"
#include "files.h"

static void assert_close(const char *name, double value, double expected, double within) {
  if (!(fabs(value - expected) <= within)) fail_msg("%s: %.15g, not %.15g", name, value, expected);
}

static as_machine *parse(const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}

static as_integrator *start(const as_machine *machine, as_start_report *report) {
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(machine->model), &machine->simulation.integrator,
                           &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(machine->model), report, &error))
    fail_msg("%s", error.message);
  return integrator;
}

static void assert_unchanged(const as_machine *machine, const as_integrator *integrator,
                             const as_start_report *report) {
  as_start_change *changes = NULL;
  as_error error;
  char text[512];
  int n = 0;
  if (as_model_start_changes(machine->model, as_integrator_state(integrator), report, &changes, &n,
                             &error))
    fail_msg("%s", error.message);
  if (n > 0) as_start_change_text(machine->model, &changes[0], text, sizeof text);
  if (n > 0) fail_msg("%s", text);
  as_start_changes_free(changes);
}

/// A sledge in the plane y = 0, on a spring under its seat, 0.1 m behind its centre of mass, and one that turns it: where
/// it rests the spring carries the weight and the other one its moment about the seat. Pushed forwards by 1 N, held by a brake until it starts.
static void check_sledge(const char *space) {
  char setting[64];
  snprintf(setting, sizeof setting, "bodies.sledge.space=%s", space);
  const char *const list = setting;
  as_machine *machine = files_load("tests/files/good/begin.yaml", &list, 1);
  double angle = 0.0; // 40 angle = 3 + m g 0.1 cos angle, about the seat
  for (int i = 0; i < 50; ++i) angle = (3.0 + 2.0 * 9.81 * 0.1 * cos(angle)) / 40.0;
  as_start_report report;
  as_integrator *integrator = start(machine, &report);
  assert_true(machine->rested);
  assert_unchanged(machine, integrator, &report);
  const as_state *s = as_integrator_state(integrator);
  const double seat = -2.0 * 9.81 / 500.0;
  const double *q = s->q;
  double v[3] = {s->v[0], s->v[1], s->v[2]};
  if (strcmp(space, "se3") == 0) { // in the body's axes
    v[0] = cos(angle) * s->v[0] + sin(angle) * s->v[2];
    v[2] = -sin(angle) * s->v[0] + cos(angle) * s->v[2];
  }
  assert_close("x", q[0], 0.1 * cos(angle), 1e-12);
  assert_close("z", q[2], seat - 0.1 * sin(angle), 1e-12);
  assert_close("turn", 2.0 * asin(q[5]), angle, 1e-12);
  assert_close("state", s->x[0], seat, 1e-12);
  assert_close("speed", v[0], 3.0, 1e-12);
  assert_close("no speed", v[2], 0.0, 1e-12);
  as_error error;
  if (as_integrator_advance(integrator, 0.5, &error)) fail_msg("%s", error.message);
  // The brake holds no longer: the seat goes 3 t + t^2/4, pushed at the seat the sledge nods a little.
  const double gone = as_integrator_state(integrator)->q[0] - 0.1 * cos(angle);
  assert_close("way", gone, 3.0 * 0.5 + 0.25 * 0.25, 2e-4);
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
}

static void test_sledge(void **state) {
  (void)state;
  check_sledge("r3xso3");
  check_sledge("se3");
}

/// On its way to rest the wheel turns more than three times; the turns that it has made are those of the start.
static void test_held(void **state) {
  (void)state;
  as_machine *m =
      parse("alphastep: 1\n"
            "gravity: [0, 0, -9.81]\n"
            "parameters: {k: 30}\n"
            "bodies: {wheel: {mass: 1, inertia: [1, 1, 1], position: [0.2, 0, 0]}}\n"
            "joints: {axle: {type: revolute, bodies: [ground, wheel], point: [0, 0, 0], axis: [0, "
            "-1, 0]}}\n"
            "forces: {spring: {type: actuator, joint: axle, force: k*(20.5 - joints.axle.angle)}}\n"
            "events: {soft: {when: t - 10, set: {k: 1}}}\n"
            "start: {equilibrium: true}\n"
            "simulate: {t_end: 20, step: 1e-2}\n");
  double angle = 20.5;
  for (int i = 0; i < 100; ++i) angle = 20.5 - 9.81 * 0.2 * cos(angle - 20.0 + 20.0) / 30.0;
  as_integrator *integrator = start(m, NULL);
  as_error error;
  double c[AS_JOINT_COORDINATES] = {20.0};
  const double near[AS_JOINT_COORDINATES] = {20.0};
  if (as_model_coordinates(m->model, as_integrator_state(integrator),
                           as_model_find_joint(m->model, "axle"), near, c, NULL, &error))
    fail_msg("%s", error.message);
  assert_close("angle", c[0], angle, 1e-10);
  if (as_integrator_advance(integrator, 1.0, &error)) fail_msg("%s", error.message);
  assert_close("stays", as_integrator_state(integrator)->v[4], 0.0, 1e-9);
  as_integrator_destroy(integrator);
  as_machine_destroy(m);
}

/// Wheels start without slip: on a slope by the speed along it, whatever was written of their spin.
static void check_wheel(const as_machine *machine, const as_state *s, const char *tyre,
                        const char *wheel, double speed, double load) {
  as_tyre_contact contact;
  as_error error;
  if (as_model_tyre(machine->model, s, as_model_find_force(machine->model, tyre), &contact, &error))
    fail_msg("%s", error.message);
  const as_body_id body = as_model_find_body(machine->model, wheel);
  const double *omega = s->v + as_model_body_v(machine->model, body) + 3;
  assert_close("along", contact.speed[0], speed, 1e-9 * speed);
  assert_close("spin", omega[1], speed / contact.rolling_radius, 1e-9 * omega[1]);
  assert_close("load", contact.force[2], load, 1e-6 * load);
  assert_close("no string", contact.u, 0.0, 0.0);
}

static void test_rolling(void **state) {
  (void)state;
  as_machine *machine = files_load("tests/files/rolling.yaml", NULL, 0);
  as_start_report report;
  as_integrator *integrator = start(machine, &report);
  assert_unchanged(machine, integrator, &report);
  const as_state *s = as_integrator_state(integrator);
  // The slope carries, with nothing along it but what `stay` holds, m g over the cosine.
  check_wheel(machine, s, "tyre", "wheel", 12.0 * sqrt(1.01), 400.0 * 9.81 * sqrt(1.01));
  check_wheel(machine, s, "other tyre", "other", 12.0, 300.0 * 9.81);
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
}

// ---- mistakes ---------------------------------------------------------------------------------------

static void expect(const char *rest, const char *sentence) {
  static as_messages messages;
  as_machine *machine = NULL;
  char text[2000];
  snprintf(
      text, sizeof text,
      "alphastep: 1\ngravity: [0, 0, -9.81]\n"
      "bodies: {ball: {type: point, mass: 1, position: [0, 0, 1]}}\n"
      "joints:\n"
      "  rope: {type: distance, bodies: [ground, ball], point: [0, 0, 3], second_point: [0, 0, 1], "
      "active: false}\n"
      "  wall: {type: point_on_plane, bodies: [ground, ball], point: [0, 0, 1], axis: [0, 1, 0]}\n"
      "simulate: {t_end: 1}\n%s\n",
      rest);
  const as_status status =
      as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages);
  if (sentence == NULL && status) fail_msg("%s: %s", rest, messages.message[0].text);
  if (sentence && (status != AS_ERR_ARGUMENT || strstr(messages.message[0].text, sentence) == NULL))
    fail_msg("%s: \"%s\"", sentence, status ? messages.message[0].text : "nothing");
  if (status == AS_OK) as_machine_destroy(machine);
}

static void test_mistakes(void **state) {
  (void)state;
  expect("start: {equilibrium: true, hold: [rope]}", NULL);
  expect("start: {equilibrium: false, hold: [rope]}", NULL);
  expect("start: {equilibrium: true}",
         "test.yaml:8:22: error: start: No equilibrium was found from this start at t = 0 s");
  expect("start: {equilibrium: true, hold: [rop]}",
         "test.yaml:8:35: error: start.hold.0: there is no joint \"rop\"; did you mean \"rope\"?");
  expect("start: {equilibrium: true, hold: [rope, wall]}",
         "start.hold.1: the joint \"wall\" holds anyway; with `active: false` it would hold only "
         "here");
  expect("start: {hold: [rope]}", "\"hold\" can only be given with \"equilibrium\"");
  expect("start: {rolling: true}", "test.yaml:8:18: error: start: there is no tyre");
  expect("start: {rest: true}", "there is no key \"rest\" here");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sledge),
      cmocka_unit_test(test_held),
      cmocka_unit_test(test_rolling),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
