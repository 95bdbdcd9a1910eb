/// Groups for a list of texts, and mirrored groups: the image of each thing moves as an image does, for all joints, forces and frames and whatever directions are
/// turned round; a machine that is written out is the same; what cannot be mirrored is refused.
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

static as_integrator *run(const as_machine *machine, double t) {
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(machine->model), &machine->simulation.integrator,
                           &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(machine->model), NULL, &error) ||
      as_integrator_advance(integrator, t, &error))
    fail_msg("%s", error.message);
  return integrator;
}

// ---- images -----------------------------------------------------------------------------------------

static const char *const joints[] = {
    "revolute", "cylindrical", "prismatic",         "screw",         "spherical",     "universal",
    "planar",   "distance",    "constant_velocity", "point_on_line", "point_on_plane"};
enum { JOINTS = sizeof joints / sizeof joints[0] };

/// One number of a state.
static double channel(const as_model *m, const as_state *at, const char *format, const char *name,
                      const char *side) {
  char text[128];
  const char *const list = text;
  as_channels *channels = NULL;
  as_error error;
  double out = 0.0;
  snprintf(text, sizeof text, format, name, side);
  if (as_channels_create(m, &list, 1, &channels, &error) ||
      as_channels_evaluate(channels, &(as_view){.state = at}, &out, &error))
    fail_msg("%s", error.message);
  as_channels_destroy(channels);
  return out;
}

/// Positions and rotations of the images of one body.
static void check_body(const as_model *m, const as_state *at, const char *name, const int sign[3]) {
  static const char *const vectors[] = {"position", "velocity", "acceleration"};
  static const char axes[] = "xyz";
  const int hands = sign[0] * sign[1] * sign[2];
  char format[64];
  for (int v = 0; v < 6; ++v)
    for (int k = 0; k < 3; ++k) {
      snprintf(format, sizeof format, "bodies.%%s%%s.%s%s.%c",
               v < 3    ? ""
               : v == 3 ? ""
                        : "angular_",
               v < 3    ? vectors[v]
               : v == 3 ? "quaternion"
                        : vectors[v - 3],
               axes[k]);
      const double written = channel(m, at, format, name, "A"),
                   image = channel(m, at, format, name, "B");
      assert_close(format, image, (v < 3 ? sign[k] : hands * sign[k]) * written,
                   1e-9 * (1.0 + fabs(written)));
    }
}

/// With one direction turned round.
static void check_images(const char *setting, const int sign[3]) {
  static const char *const others[] = {"free", "moved", "slow"};
  static const char *const same[] = {"joints.revolute%.0s%s.angle",
                                     "joints.prismatic%.0s%s.displacement",
                                     "joints.cylindrical%.0s%s.angle",
                                     "joints.screw%.0s%s.angle",
                                     "joints.universal%.0s%s.angle.x",
                                     "joints.universal%.0s%s.angle.y",
                                     "joints.planar%.0s%s.angle",
                                     "joints.planar%.0s%s.displacement.x",
                                     "joints.planar%.0s%s.displacement.y",
                                     "joints.point_on_line%.0s%s.displacement",
                                     "joints.point_on_plane%.0s%s.displacement.x",
                                     "joints.point_on_plane%.0s%s.displacement.y",
                                     "joints.turned%.0s%s.angle",
                                     "joints.drive%.0s%s.drive",
                                     "forces.spring%.0s%s.length",
                                     "forces.torsion%.0s%s.moment",
                                     "forces.motor%.0s%s.drive"};
  as_machine *machine = files_load("tests/files/mirror.yaml", &setting, 1);
  as_integrator *integrator = run(machine, 0.25);
  const as_model *m = machine->model;
  const as_state *at = as_integrator_state(integrator);
  for (int i = 0; i < JOINTS; ++i) check_body(m, at, joints[i], sign);
  for (int i = 0; i < 3; ++i) check_body(m, at, others[i], sign);
  for (size_t i = 0; i < sizeof same / sizeof same[0]; ++i) {
    const double written = channel(m, at, same[i], "", "A");
    if (fabs(written) < 1e-6) fail_msg("%s does not move", same[i]);
    assert_close(same[i], channel(m, at, same[i], "", "B"), written, 1e-9 * (1.0 + fabs(written)));
  }
  const double lead = channel(m, at, "joints.cylindrical%.0s%s.displacement", "", "A");
  const int hands = sign[0] * sign[1] * sign[2];
  assert_close("of a cylindrical joint",
               channel(m, at, "joints.cylindrical%.0s%s.displacement", "", "B"), hands * lead,
               1e-9);
  assert_close("side", channel(m, at, "blocks.high%.0s%s", "", "B"),
               -sign[0] * channel(m, at, "blocks.high%.0s%s", "", "A"), 1e-9);
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
}

static void test_images(void **state) {
  (void)state;
  check_images("repeat.0.mirror=x", (const int[]){-1, 1, 1});
  check_images("repeat.0.mirror=y", (const int[]){1, -1, 1});
  check_images("repeat.0.mirror=z", (const int[]){1, 1, -1});
}

// ---- written out ------------------------------------------------------------------------------------

static const char in_quarters[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "repeat:\n"
    "  - mirror: y\n"
    "    names: [left, right]\n"
    "    repeat:\n"
    "      - {index: end, mirror: x, names: [front, rear], bodies: {\"${end} ${side}\": {mass: 1, "
    "inertia: [1, 2, 2.5, 0.1, 0.2, 0.3], position: [3, 2, 1], angular_velocity: [1, 2, 3], "
    "quaternion: [0.5, 0.5, -0.5, 0.5]}}, forces: {\"push ${end} ${side}\": {type: load, body: "
    "\"${end} ${side}\", force: [1, 2 + end + side, t], torque: [t, 2, 3]}}}\n"
    "simulate: {t_end: 1, step: 1e-2}\n";
#define REST "mass: 1, inertia: [1, 2, 2.5, "
static const char by_hand[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  front left: {" REST "0.1, 0.2, 0.3], position: [3, 2, 1], angular_velocity: [1, 2, 3], "
    "quaternion: [0.5, 0.5, -0.5, 0.5]}\n"
    "  rear left: {" REST "-0.1, -0.2, 0.3], position: [-3, 2, 1], angular_velocity: [1, -2, -3], "
    "quaternion: [0.5, 0.5, 0.5, -0.5]}\n"
    "  front right: {" REST
    "-0.1, 0.2, -0.3], position: [3, -2, 1], angular_velocity: [-1, 2, -3], "
    "quaternion: [0.5, -0.5, -0.5, -0.5]}\n"
    "  rear right: {" REST
    "0.1, -0.2, -0.3], position: [-3, -2, 1], angular_velocity: [-1, -2, 3], "
    "quaternion: [0.5, -0.5, 0.5, 0.5]}\n"
    "forces:\n"
    "  push front left: {type: load, body: front left, force: [1, 4, t], torque: [t, 2, 3]}\n"
    "  push rear left: {type: load, body: rear left, force: [-1, 2, t], torque: [t, -2, -3]}\n"
    "  push front right: {type: load, body: front right, force: [1, -2, t], torque: [-t, 2, -3]}\n"
    "  push rear right: {type: load, body: rear right, force: [-1, 0, t], torque: [-t, -2, 3]}\n"
    "simulate: {t_end: 1, step: 1e-2}\n";

static void test_written_out(void **state) {
  (void)state;
  as_machine *one = parse(in_quarters), *other = parse(by_hand);
  as_integrator *a = run(one, 0.5), *b = run(other, 0.5);
  const as_problem *p = as_model_problem(one->model);
  assert_int_equal(as_model_bodies(one->model), 4);
  const as_state *x = as_integrator_state(a), *y = as_integrator_state(b);
  (void)p;
  for (int i = 0; i < 28; ++i) assert_close("q", x->q[i], y->q[i], 1e-13);
  for (int i = 0; i < 24; ++i) assert_close("v'", x->vdot[i], y->vdot[i], 1e-12);
  as_integrator_destroy(a);
  as_integrator_destroy(b);
  as_machine_destroy(one);
  as_machine_destroy(other);
}

/// A group for each of some texts is that with numbers, but for the names.
static void test_each(void **state) {
  (void)state;
  as_machine *one =
      parse("alphastep: 1\nrepeat:\n"
            "  - {index: part, from: 4, each: [hub, rim, tyre], repeat: [{mirror: y, names: [l, "
            "r], bodies: "
            "{\"${part} ${side}\": {type: point, mass: part, position: [part, 2, 0]}}}]}\n"
            "simulate: {t_end: 1}\n");
  static const char *const names[] = {"hub l", "hub r", "rim l", "rim r", "tyre l", "tyre r"};
  assert_int_equal(as_model_bodies(one->model), 6);
  const as_initial *start = as_model_initial(one->model);
  for (int i = 0; i < 6; ++i) {
    const as_body_id body = as_model_find_body(one->model, names[i]);
    assert_int_equal(body.index, i);
    assert_close("x", start->q[3 * i], i / 2 + 4, 0.0);
    assert_close("y", start->q[3 * i + 1], i % 2 ? -2.0 : 2.0, 0.0);
  }
  as_machine_destroy(one);
}

// ---- mistakes ---------------------------------------------------------------------------------------

static void expect(const char *rest, const char *sentence) {
  static as_messages messages;
  as_machine *machine = NULL;
  char text[2000];
  snprintf(text, sizeof text, "alphastep: 1\nrepeat:\n  - %s\n", rest);
  const as_status status =
      as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages);
  if (status != AS_ERR_ARGUMENT || strstr(messages.message[0].text, sentence) == NULL)
    fail_msg("%s: \"%s\"", sentence, status ? messages.message[0].text : "nothing");
}

static void test_mistakes(void **state) {
  (void)state;
  expect("{mirror: w, names: [l, r]}", "3:14");
  expect("{mirror: y}", "missing: \"names\"");
  expect("{each: [a, b], to: 2}", "only one of \"to\" and \"each\" can be given");
  expect("{each: [a, b], mirror: y, names: [l, r]}",
         "only one of \"each\" and \"mirror\" can be given");
  expect("{each: [a, b, a]}", "\"a\" stands here twice");
  expect("{each: [a, b], bodies: {\"${i + 1}\": {type: point, mass: i - 1}}}",
         "must be greater than 0 kg, not 0");
  expect("{names: [l, r], to: 2}", "\"names\" can only be given with \"mirror\"");
  expect("{mirror: y, names: [l, r], to: 2}", "only one of \"to\" and \"mirror\" can be given");
  expect("{mirror: y, names: [l, r], from: 2}", "\"from\" says nothing beside \"mirror\"");
  expect("{mirror: y, names: [l, r, s]}", "must be two names, not 3");
  expect("{mirror: y, names: [l, l]}", "are both called \"l\"");
  expect("{mirror: y, names: [l, r], bodies: {a: {type: point, mass: 1}}}",
         "There are two bodies named \"a\"");
  expect("{mirror: y, names: [l, r], bodies: {\"a${side}\": {type: point, mass: 1}}, forces: "
         "{\"f${side}\": {type: load, body: \"a${side}\", force: [1, 2*q, 3]}}}",
         "test.yaml:3:");
  expect(
      "{mirror: y, names: [l, r], bodies: {\"a${side}\": {mass: 1, inertia: [1, 1, 1]}}, forces: "
      "{\"b${side}\": {type: bushing, bodies: [ground, \"a${side}\"], point: [0, 0, 0], law: "
      "{}}}}",
      "what has \"law\" cannot be mirrored: write both outside of the group (side = r)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_images),
      cmocka_unit_test(test_written_out),
      cmocka_unit_test(test_each),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
