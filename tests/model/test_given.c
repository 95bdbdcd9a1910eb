/// Starts: what is given is kept, or it is said, with the joint that demands it; what is fixed is not changed.
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
#include "rig.h"

/// A machine from text, started.
typedef struct start {
  as_machine *machine;
  as_integrator *integrator;
  const as_state *state;
  as_start_report report;
  as_start_change *change;
  int n;
  as_status status;
  as_error error;
} start;

static as_machine *parse(const char *text) {
  as_messages *messages = calloc(1, sizeof *messages);
  as_machine *machine = NULL;
  assert_non_null(messages);
  if (as_machine_parse(text, strlen(text), "text", NULL, 0, &machine, messages))
    fail_msg("%s", messages->message[0].text);
  free(messages);
  return machine;
}

/// Starts; `s.status` may be a failure.
static start begin(const char *text, as_method method) {
  start s = {.machine = parse(text)};
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  const as_model *model = s.machine->model;
  s.status = as_integrator_create(as_model_problem(model), &how, &s.integrator, &s.error);
  if (s.status == AS_OK)
    s.status = as_integrator_start(s.integrator, as_model_initial(model), &s.report, &s.error);
  s.state = as_integrator_state(s.integrator);
  if (s.status) return s;
  if (as_model_start_changes(model, s.state, &s.report, &s.change, &s.n, &s.error))
    fail_msg("%s", s.error.message);
  return s;
}

static void finish(start *s) {
  as_start_changes_free(s->change);
  as_integrator_destroy(s->integrator);
  as_machine_destroy(s->machine);
}

static const as_start_change *find(const start *s, const char *body, as_start_quantity quantity) {
  for (int i = 0; i < s->n; ++i)
    if (s->change[i].quantity == quantity &&
        strcmp(as_model_body_name(s->machine->model, s->change[i].body), body) == 0)
      return &s->change[i];
  fail_msg("nothing of \"%s\" has changed", body);
  return NULL;
}

static void demanded_by(const start *s, const as_start_change *c, const char *joint) {
  assert_int_equal(c->n_joints, 1);
  assert_string_equal(as_model_joint_name(s->machine->model, c->joint[0]), joint);
}

static const double *velocity_of(const start *s, const char *body) {
  const as_model *m = s->machine->model;
  return s->state->v + as_model_body_v(m, as_model_find_body(m, body));
}

/// A top on its tip that spins and precesses: w about z moves its centre of mass with w r.
static const char top[] = "alphastep: 1\n"
                          "bodies:\n"
                          "  top: {mass: 15, inertia: [0.234375, 0.46875, 0.234375], position: [0, "
                          "1, 0], space: %s, %s angular_velocity: [0, 150, -4.61538]}\n"
                          "joints:\n"
                          "  tip: {type: spherical, bodies: [ground, top], point: [0, 0, 0]}\n";

static start begin_top(const char *space, const char *more, as_method method) {
  char text[1024];
  snprintf(text, sizeof text, top, space, more);
  return begin(text, method);
}

/// A velocity that is not written is found, to the last digits, and the one that is written does not change.
static void test_found(void **state) {
  (void)state;
  for (int k = 0; k < 6; ++k) {
    start s = begin_top(k < 3 ? "r3xso3" : "se3", "", rig_methods[k % 3]);
    if (s.status) fail_msg("%s", s.error.message);
    const double *v = velocity_of(&s, "top");
    assert_int_equal(s.n, 0);
    assert_near("v_x", v[0], 4.61538, 1e-13);
    assert_near("v_y", v[1], 0.0, 1e-13);
    assert_true(v[3] == 0.0 && v[4] == 150.0 && v[5] == -4.61538);
    assert_near("change", s.report.velocity_change, sqrt(15.0) * 4.61538, 1e-12);
    finish(&s);
  }
}

/// Written zeros are given: both share the change by their masses, w' = w J/(J + m r^2), and it is said.
static void test_contradiction(void **state) {
  (void)state;
  const double w = -4.61538 * 0.234375 / (0.234375 + 15.0);
  for (int k = 0; k < 6; ++k) {
    start s = begin_top(k < 3 ? "r3xso3" : "se3", "velocity: [0, 0, 0],", rig_methods[k % 3]);
    if (s.status) fail_msg("%s", s.error.message);
    assert_int_equal(s.n, 2);
    const as_start_change *c = find(&s, "top", AS_START_ANGULAR_VELOCITY);
    demanded_by(&s, c, "tip");
    assert_false(c->assembled);
    assert_true(c->given[1] == 150.0 && c->given[2] == -4.61538);
    assert_near("w", c->taken[2], w, 1e-12);
    c = find(&s, "top", AS_START_VELOCITY);
    demanded_by(&s, c, "tip");
    assert_near("v", c->taken[0], -w, 1e-12);
    char text[512];
    as_start_change_text(s.machine->model, c, text, sizeof text);
    assert_string_equal(text, "Body \"top\" starts with the velocity (0.0710058, 0, 0) m/s instead "
                              "of (0, 0, 0) m/s as given: joint \"tip\" demands it.");
    finish(&s);
  }
}

/// Values that were rounded when they were written are no news, nor is what follows from them.
static void test_rounded(void **state) {
  (void)state;
  start s = begin_top("r3xso3", "velocity: [4.615381, 0, 0],", AS_METHOD_INDEX2);
  if (s.status) fail_msg("%s", s.error.message);
  assert_int_equal(s.n, 0);
  finish(&s);
  s = begin_top("r3xso3", "velocity: [4.617, 0, 0],", AS_METHOD_INDEX2);
  if (s.status) fail_msg("%s", s.error.message);
  assert_int_equal(s.n, 2);
  finish(&s);
}

/// A crank whose angular velocity contradicts its motor, and the heavy rest of the machine, of which one velocity is given
/// that contradicts nothing: it stays, and only the motor is named.
static const char driven[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0], angular_velocity: [0, 0, 2]}\n"
    "  b: {mass: 1e4, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0]}\n"
    "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2.5, 0, 0], velocity: [0, 5, 0]}\n"
    "  far: {mass: 1, inertia: [1, 1, 1], position: [9, 0, 0], velocity: [1, 2, 3]}\n"
    "joints:\n"
    "  h: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  ab: {type: revolute, bodies: [a, b], point: [1, 0, 0], axis: [0, 0, 1]}\n"
    "  bc: {type: fixed, bodies: [b, c], point: [2, 0, 0]}\n"
    "  motor: {type: motion, joint: h, law: \"1.9*t\"}\n";

static void test_only_what_must(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    start s = begin(driven, rig_methods[k]);
    if (s.status) fail_msg("%s", s.error.message);
    assert_int_equal(s.n, 1);
    const as_start_change *c = find(&s, "a", AS_START_ANGULAR_VELOCITY);
    demanded_by(&s, c, "motor");
    assert_near("w", c->taken[2], 1.9, 1e-12);
    assert_near("v of c", velocity_of(&s, "c")[1], 5.0, 1e-9);
    // b turns about its joint with a, which moves with 1.9 m/s: 5 = 1.9 + 1.5 w
    assert_near("w of b", velocity_of(&s, "b")[5], 3.1 / 1.5, 1e-9);
    assert_near("v of b", velocity_of(&s, "b")[1], 1.9 + 0.5 * 3.1 / 1.5, 1e-9);
    finish(&s);
  }
}

/// Rolling: of a ball that is given a velocity the spin is found.
static void test_rolling(void **state) {
  (void)state;
  start s =
      begin("alphastep: 1\n"
            "bodies:\n"
            "  ball: {mass: 2, inertia: [0.2, 0.2, 0.2], position: [0, 0, 0.5], "
            "velocity: [0.7, 0.3, 0]}\n"
            "joints:\n"
            "  floor: {type: rolling, shape: sphere, bodies: [ground, ball], normal: [0, 0, 1], "
            "point: [0, 0, 0], center: [0, 0, 0.5], radius: 0.5}\n",
            AS_METHOD_INDEX2);
  if (s.status) fail_msg("%s", s.error.message);
  const double *v = velocity_of(&s, "ball");
  assert_int_equal(s.n, 0);
  assert_true(v[0] == 0.7 && v[1] == 0.3 && v[2] == 0.0);
  assert_near("w_x", v[3], -0.6, 1e-13);
  assert_near("w_y", v[4], 1.4, 1e-13);
  finish(&s);
}

/// Two bars; frames of the first leave a gap of 0.05 m at the ground. %s: more of a, of b, of the model.
static const char bars[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.55, 0, 0]%s}\n"
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0]%s}\n"
    "  lone: {mass: 1, inertia: [1, 1, 1], position: [0, 5, 0], velocity: [1, 0, 0]}\n"
    "frames:\n"
    "  g: {body: ground}\n"
    "  end: {body: a, position: [-0.5, 0, 0]}\n"
    "joints:\n"
    "  hinge: {type: spherical, frames: [g, end]}\n"
    "  pin: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
    "%s";

static start begin_bars(const char *a, const char *b, const char *model) {
  char text[1024];
  snprintf(text, sizeof text, bars, a, b, model);
  return begin(text, AS_METHOD_INDEX2);
}

static void test_positions(void **state) {
  (void)state;
  start s = begin_bars("", "", "");
  if (s.status) fail_msg("%s", s.error.message);
  assert_int_equal(s.n, 2); // equal masses along a line: both go all the way
  for (int i = 0; i < 2; ++i) {
    const as_start_change *c = find(&s, i ? "b" : "a", AS_START_POSITION);
    demanded_by(&s, c, "hinge"); // of b, too, which it is not on
    assert_false(c->assembled);
    assert_near("given", c->given[0], i ? 1.5 : 0.55, 0.0);
    assert_near("taken", c->taken[0], i ? 1.45 : 0.5, 1e-9);
  }
  finish(&s);
  // Assembly was asked for: what it did is known, but is no contradiction.
  s = begin_bars("", "", "assemble: true\n");
  if (s.status) fail_msg("%s", s.error.message);
  assert_int_equal(s.n, 2);
  assert_true(find(&s, "a", AS_START_POSITION)->assembled);
  assert_near("taken", find(&s, "b", AS_START_POSITION)->taken[0], 1.45, 1e-9);
  assert_int_equal(s.change[0].n_joints, 0);
  finish(&s);
  // Of velocities nothing was asked for.
  s = begin_bars(", velocity: [1, 0, 0]", "", "assemble: true\n");
  if (s.status) fail_msg("%s", s.error.message);
  assert_false(find(&s, "a", AS_START_VELOCITY)->assembled);
  demanded_by(&s, find(&s, "a", AS_START_VELOCITY), "hinge");
  finish(&s);
}

/// A bar between the ground and a slider, drawn with gaps at both ends; the slider stands where it stands.
static const char slider[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  bar: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.4, 0.1, 0]}\n"
    "  slider: {mass: 0.01, inertia: [1, 1, 1], position: [0.8, 0.07, 0], rotation: {axis: [1, 2, "
    "3], angle: 0.3}, velocity: [0.25, 0, 0], angular_velocity: [0, 0, 0], %s}\n"
    "frames:\n"
    "  g: {body: ground}\n"
    "  tail: {body: bar, position: [-0.5, 0, 0]}\n"
    "  head: {body: bar, position: [0.5, 0, 0]}\n"
    "  eye: {body: slider}\n"
    "joints:\n"
    "  hinge: {type: spherical, frames: [g, tail]}\n"
    "  pin: {type: point_on_line, frames: [eye, head]}\n"
    "%s";

static start begin_slider(const char *space, bool fixed, const char *model) {
  char text[1024], more[64];
  snprintf(more, sizeof more, "space: %s, fixed: %s", space, fixed ? "true" : "false");
  snprintf(text, sizeof text, slider, more, model);
  return begin(text, AS_METHOD_INDEX2);
}

/// What is fixed stays to the last bit, and others go the whole way, also when the machine is assembled.
static void test_fixed(void **state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    const char *space = k % 2 ? "se3" : "r3xso3", *model = k < 2 ? "" : "assemble: true\n";
    start s = begin_slider(space, true, model), free_one = begin_slider(space, false, model);
    if (s.status) fail_msg("%s", s.error.message);
    if (free_one.status) fail_msg("%s", free_one.error.message);
    const as_model *m = s.machine->model;
    const as_body_id body = as_model_find_body(m, "slider");
    const double *q = s.state->q + as_model_body_q(m, body), *v = velocity_of(&s, "slider");
    const double length = sqrt(14.0);
    assert_true(q[0] == 0.8 && q[1] == 0.07 && q[2] == 0.0);
    for (int i = 0; i < 3; ++i)
      assert_near("quaternion", q[4 + i], sin(0.15) * (i + 1) / length, 1e-15);
    as_body_motion at;
    as_model_body_motion(m, s.state, body, &at);
    assert_near("v_x", at.v[0], 0.25, 1e-15);
    assert_true(v[3] == 0.0 && v[4] == 0.0 && v[5] == 0.0);
    assert_true(s.report.position_drift < 1e-12 && s.report.velocity_drift < 1e-12);
    for (int i = 0; i < s.n; ++i)
      assert_int_equal(s.change[i].body.index, as_model_find_body(m, "bar").index);
    // Without it the light slider moves.
    assert_true(fabs(free_one.state->q[as_model_body_q(m, body) + 1] - 0.07) > 1e-3);
    finish(&s);
    finish(&free_one);
  }
}

/// Both ends of a bar of 0.95 m are 1 m apart and fixed: the joint is named, before and in assembly.
static void test_fixed_contradiction(void **state) {
  (void)state;
  start s = begin_bars(", fixed: true", "", "");
  assert_int_equal(s.status, AS_ERR_INCONSISTENT);
  assert_non_null(strstr(s.error.message, "starting position"));
  assert_non_null(strstr(s.error.message, "joint \"hinge\", row 1"));
  assert_null(strstr(s.error.message, "pin"));
  assert_non_null(strstr(s.error.message, "what is fixed"));
  finish(&s);
  char text[1024];
  snprintf(text, sizeof text, bars, ", fixed: true", "", "assemble: true\n");
  as_messages *messages = calloc(1, sizeof *messages);
  as_machine *machine = NULL;
  assert_non_null(messages);
  assert_int_equal(as_machine_parse(text, strlen(text), "text", NULL, 0, &machine, messages),
                   AS_ERR_ARGUMENT);
  assert_non_null(strstr(messages->message[0].text, "joint \"hinge\""));
  free(messages);
}

/// Velocities that fit are kept; those that do not are refused with the joint.
static void test_fixed_velocity(void **state) {
  (void)state;
  start s = begin_top("r3xso3", "velocity: [4.61538, 0, 0], fixed: true,", AS_METHOD_INDEX2);
  if (s.status) fail_msg("%s", s.error.message);
  assert_int_equal(s.n, 0);
  assert_true(velocity_of(&s, "top")[0] == 4.61538);
  finish(&s);
  // Not written: its default is kept.
  for (int k = 0; k < 2; ++k) {
    s = begin_top(k ? "se3" : "r3xso3", "fixed: true,", AS_METHOD_INDEX3);
    assert_int_equal(s.status, AS_ERR_INCONSISTENT);
    assert_non_null(strstr(s.error.message, "starting velocity"));
    assert_non_null(strstr(s.error.message, "joint \"tip\", row 1"));
    finish(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found),          cmocka_unit_test(test_contradiction),
      cmocka_unit_test(test_rounded),        cmocka_unit_test(test_only_what_must),
      cmocka_unit_test(test_rolling),        cmocka_unit_test(test_positions),
      cmocka_unit_test(test_fixed),          cmocka_unit_test(test_fixed_contradiction),
      cmocka_unit_test(test_fixed_velocity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
