/// Laws of bushings, stops, contacts and friction that read blocks, and motions and factors that read blocks of the time.
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

// ---- tangents ---------------------------------------------------------------------------------------

/// Deep in stops and contacts, so that these press wherever the check looks.
#define LAWS                                                                                       \
  "alphastep: 1\n"                                                                                 \
  "gravity: [0.3, -0.2, -9.81]\n"                                                                  \
  "bodies:\n"                                                                                      \
  "  one: {mass: 1.5, inertia: [1, 1.2, 1.4], position: [0.2, 0.1, -0.3], angular_velocity: [1, "  \
  "-2, 0.5], velocity: [1, 0.2, -0.4]}\n"                                                          \
  "  two: {mass: 2, inertia: [1, 1.5, 1.1], space: se3, position: [1, -0.4, 0.3], velocity: "      \
  "[0.3, -1, 0.6], angular_velocity: [-0.7, 1.3, 2], rotation: {axis: [1, 2, 3], angle: 0.4}}\n"   \
  "  sled: {mass: 1, inertia: [1, 1.1, 1.2], position: [0, 2, 0]}\n"                               \
  "joints:\n"                                                                                      \
  "  hinge: {type: revolute, bodies: [one, two], point: [0.5, 0, 0], axis: [1, 2, -1]}\n"          \
  "  guide: {type: prismatic, bodies: [ground, sled], point: [0, 2, 0], axis: [1, 0, 0.2]}\n"      \
  "forces:\n"                                                                                      \
  "  rubber: {type: bushing, bodies: [one, two], point: [0.4, 0, 0], axis: [1, 0, 2], stiffness: " \
  "[1, 2, 3, 1, 2, 3], law: {x: \"blocks.lag*displacement^3 + blocks.mix*displacement_rate\", z: " \
  "\"sin(blocks.first)*displacement\", about_y: \"blocks.mix^2*angle + blocks.sys.y2\"}}\n"        \
  "  end: {type: stop, joint: guide, upper: -10, law: {curve: \"depth^2*(2 + cos(blocks.mix))\", " \
  "damping: 0.1}}\n"                                                                               \
  "  other: {type: stop, joint: guide, lower: 10, law: {surface: \"depth*(3 + sin(blocks.lag)) + " \
  "blocks.first^2*tanh(depth_rate)\"}}\n"                                                          \
  "  cut: {type: stop, joint: guide, lower: 10, law: {curve: \"(blocks.lag - 20)*depth\"}}\n"      \
  "  floor: {type: contact, bodies: [ground, one], point: [0, 0, 0], normal: [0.2, 0.1, 1], "      \
  "center: [0.2, 0.1, -10], radius: 0.7, law: {curve: \"depth*(2 + sin(blocks.lag))\", damping: "  \
  "0.05}, friction: \"0.4 + 0.1*sin(blocks.mix)*exp(-speed)\", slip_speed: 0.3}\n"                 \
  "  wall: {type: contact, bodies: [one, two], point: [0, 0, 0], normal: [1, 0, 0.3], center: "    \
  "[-12, 0.1, -1], law: {surface: \"depth*(2 + blocks.first^2) + 0.1*depth_rate\"}, friction: "    \
  "\"0.5 + 0.2*cos(blocks.lag)\", slip_speed: 0.2}\n"                                              \
  "  rub: {type: joint_friction, joint: hinge, coefficient: \"0.3 + "                              \
  "0.1*sin(blocks.mix)*cos(blocks.first + speed)\", radius: 0.2, length: 0.3, shoulder_radius: "   \
  "0.4, transition_speed: 0.2, small_force: 0.1}\n"                                                \
  "  slide: {type: joint_friction, joint: guide, coefficient: \"0.3 + 0.1*tanh(blocks.lag)\", "    \
  "length: 0.3, transition_speed: 0.2, small_force: 0.1}\n"                                        \
  "blocks:\n"                                                                                      \
  "  mix: {type: signal, formula: \"joints.hinge.angle_rate + 0.3*blocks.lag*blocks.first\"}\n"    \
  "  first: {type: signal, formula: \"0.2*blocks.mix^2 + t*blocks.lag\"}\n"                        \
  "  lag: {type: state, rate: \"blocks.mix - blocks.lag\", start: 0.4}\n"                          \
  "  sys: {type: linear, A: [[-1, 0.5], [0, -2]], B: [[1], [0.5]], C: [[1, 0], [2, 1]], D: [[0], " \
  "[0.3]], inputs: [\"blocks.first*blocks.lag\"]}\n"

static void test_tangents(void **state) {
  (void)state;
  as_machine *machine = files_parse(LAWS);
  const as_initial *at = as_model_initial(machine->model);
  as_check_def def = as_default_check_def();
  as_error error;
  def.near = (as_point){.t = 0.3, .q = at->q, .v = at->v, .x = at->x, .u = at->u};
  def.spread = 0.5;
  def.tolerance = 2e-6;
  if (as_problem_check(as_model_problem(machine->model), &def, NULL, &error))
    fail_msg("%s", error.message);
  as_machine_destroy(machine);
}

// ---- twins ------------------------------------------------------------------------------------------

/// A block dropped, a hub on a bushing, a driven sled, a hinge that rubs: %s are factors, a motion, and blocks.
#define TWIN                                                                                       \
  "alphastep: 1\n"                                                                                 \
  "gravity: [0, 0, -9.81]\n"                                                                       \
  "bodies:\n"                                                                                      \
  "  ball: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.6], velocity: [1, 0.3, 0], "     \
  "angular_velocity: [0, 3, 1]}\n"                                                                 \
  "  hub: {mass: 2, inertia: [1, 1.5, 1.1], position: [2, 0, 0], angular_velocity: [1, 0.5, 0]}\n" \
  "  sled: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 2, 0]}\n"                             \
  "  arm: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 2, 0]}\n"                            \
  "  door: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 4, 0], angular_velocity: [0, 0, "   \
  "2], velocity: [0, 1, 0]}\n"                                                                     \
  "joints:\n"                                                                                      \
  "  guide: {type: prismatic, bodies: [ground, sled], point: [0, 2, 0], axis: [1, 0, 0]}\n"        \
  "  drive: {type: motion, joint: guide, law: \"%s\"}\n"                                           \
  "  pin: {type: revolute, bodies: [sled, arm], point: [0, 2, 0], axis: [0, 1, 0]}\n"              \
  "  hinge: {type: revolute, bodies: [ground, door], point: [0, 4, 0], axis: [0, 0, 1]}\n"         \
  "forces:\n"                                                                                      \
  "  floor: {type: contact, bodies: [ground, ball], point: [0, 0, 0], normal: [0, 0, 1], center: " \
  "[0, 0, 0.6], radius: 0.5, law: {curve: \"2000*(%s)*depth^1.5\", damping: 0.3}, friction: "      \
  "\"0.3*(%s)\", slip_speed: 0.1}\n"                                                               \
  "  rubber: {type: bushing, bodies: [ground, hub], point: [2, 0, 0], stiffness: [200, 200, 200, " \
  "50, 50, 50], law: {z: \"100*(%s)*displacement + 3*displacement_rate\", about_x: "               \
  "\"10*(%s)*angle^3\"}}\n"                                                                        \
  "  rub: {type: joint_friction, joint: hinge, coefficient: \"0.3*(%s)\", radius: 0.1, length: "   \
  "0.2, transition_speed: 0.1}\n"                                                                  \
  "  end: {type: stop, joint: pin, upper: 0.7, law: {surface: \"200*(%s)*depth + depth_rate\"}}\n" \
  "  push: {type: load, body: door, force: [0, 3, 0], factor: \"%s\"}\n"                           \
  "simulate: {t_end: 1, step: 1e-3}\n%s"

static const char formula[] = "1 + 0.4*sin(5*t)", path[] = "0.2*sin(4*t)^2 + 0.1*t^3";

static void write_twin(char *text, size_t size, bool blocks) {
  const char *f = blocks ? "blocks.f" : formula, *g = blocks ? "2*blocks.half" : formula;
  const char *motion = blocks ? "0.2*blocks.s^2 + 0.1*blocks.s.cube" : path;
  // f is solved for with the machine, which it reads (in vain).
  snprintf(text, size, TWIN, motion, f, g, f, g, f, g, blocks ? "1 + 0.4*blocks.wave" : formula,
           blocks ? "templates: {both: {keys: {w: 1}, blocks: {value: {type: signal, formula: "
                    "\"sin({w}*t)\"}, cube: {type: signal, formula: \"t^3\"}}}}\n"
                    "blocks:\n"
                    "  f: {type: signal, formula: \"1 + 0.4*blocks.wave + "
                    "0*bodies.ball.acceleration.x\"}\n"
                    "  half: {type: signal, formula: \"blocks.f/2\"}\n"
                    "  wave: {type: signal, formula: \"sin(5*t)\"}\n"
                    "  s: {type: template, template: both, with: {w: 4}}\n"
                  : "");
}

static void test_twins(void **state) {
  (void)state;
  char one[8192], other[8192];
  write_twin(one, sizeof one, false);
  write_twin(other, sizeof other, true);
  for (as_method method = AS_METHOD_INDEX3; method <= AS_METHOD_INDEX2; ++method) {
    as_machine *a = files_parse(one), *b = files_parse(other);
    files_same_motion(a->model, b->model, method, 1e-3, 600, 1e-7);
    as_machine_destroy(a);
    as_machine_destroy(b);
  }
}

// ---- energy -----------------------------------------------------------------------------------------

enum { ENERGIES = 5, ROWS = 11 };
typedef struct table {
  double value[ROWS][ENERGIES];
  int n;
} table;

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  table *all = user;
  (void)t;
  (void)error;
  assert_true(n == ENERGIES && all->n < ROWS);
  memcpy(all->value[all->n++], row, sizeof all->value[0]);
  return AS_OK;
}

static void find_energies(const char *text, table *out) {
  static const char *const channels[] = {"energy.kinetic", "energy.potential", "energy.dissipated",
                                         "energy.work", "energy.balance"};
  as_machine *machine = files_parse(text);
  as_run_def def = as_default_run_def();
  as_run *run = NULL;
  as_error error;
  def.integrator = machine->simulation.integrator;
  def.t_end = 0.5;
  def.interval = 0.05;
  def.channels = channels;
  def.n_channels = ENERGIES;
  out->n = 0;
  if (as_run_create(machine->model, &def, &run, &error) ||
      as_run_go(run, keep_row, out, NULL, &error))
    fail_msg("%s", error.message);
  as_run_destroy(run);
  as_machine_destroy(machine);
}

/// Energies, heat and work are those of the twin; what laws that read blocks store at rest is supplied.
static void test_energies(void **state) {
  (void)state;
  char one[8192], other[8192];
  table a, b;
  write_twin(one, sizeof one, false);
  write_twin(other, sizeof other, true);
  find_energies(one, &a);
  find_energies(other, &b);
  assert_int_equal(a.n, ROWS);
  for (int i = 0; i < ROWS; ++i) {
    for (int k = 0; k < ENERGIES; ++k) assert_near("energy", b.value[i][k], a.value[i][k], 1e-6);
    assert_near("balance", b.value[i][ENERGIES - 1], 0.0, 1e-3);
  }
}

// ---- samples ----------------------------------------------------------------------------------------

/// A mass on a bushing whose stiffness is sampled: between samples it swings with constant stiffness.
static void test_sampled_stiffness(void **state) {
  (void)state;
  const double T = 0.05;
  const char *text =
      "alphastep: 1\n"
      "bodies: {hub: {mass: 2, inertia: [1, 1, 1], velocity: [0, 0, 1]}}\n"
      "forces: {rubber: {type: bushing, bodies: [ground, hub], point: [0, 0, 0], law: {z: "
      "\"blocks.k*displacement\"}}}\n"
      "blocks: {k: {type: sampled, period: 0.05, formula: \"400 + 200*sin(3*t) + "
      "1e3*bodies.hub.position.z\", start: 0}}\n"
      "simulate: {t_end: 1, step: 1e-3}\n";
  double off[2];
  for (int fine = 0; fine < 2; ++fine) {
    as_machine *machine = files_parse(text);
    as_integrator_def def = machine->simulation.integrator;
    as_integrator *i = NULL;
    as_error error;
    def.step = fine ? 0.0025 : 0.005;
    if (as_integrator_create(as_model_problem(machine->model), &def, &i, &error) ||
        as_integrator_start(i, as_model_initial(machine->model), NULL, &error) ||
        as_integrator_advance(i, 1.0, &error))
      fail_msg("%s", error.message);
    double z = 0.0, v = 1.0;
    for (int k = 0; k < 20; ++k) {
      const double w = sqrt((400.0 + 200.0 * sin(3.0 * k * T) + 1e3 * z) / 2.0);
      const double c = cos(w * T), s = sin(w * T), z0 = z;
      z = c * z0 + s / w * v;
      v = -w * s * z0 + c * v;
    }
    const as_state *at = as_integrator_state(i);
    off[fine] = hypot(at->q[2] - z, (at->v[2] - v) / 14.0);
    as_integrator_destroy(i);
    as_machine_destroy(machine);
  }
  assert_true(off[0] < 1e-2);
  assert_near("order", log2(off[0] / off[1]), 2.0, 0.15);
}

// ---- what is refused --------------------------------------------------------------------------------

static void expect(const char *text, const char *words) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages) == AS_OK)
    fail_msg("no complaint, but there should be: %s", words);
  for (int i = 0; i < messages.n; ++i)
    if (strstr(messages.message[i].text, words)) return;
  fail_msg("%s, not: %s", messages.message[0].text, words);
}

/// Motions read formulas of the time, and nothing else.
static void test_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"{type: state, rate: 1, start: 0}", "is or reads blocks.a, which is no formula of its own"},
      {"{type: sampled, period: 0.1, formula: t}", "is or reads blocks.a"},
      {"{type: held, when: t > 1, to: 2}", "is or reads blocks.a"},
      {"{type: linear, D: [[1]], inputs: [t]}", "is or reads blocks.a"},
      {"{type: signal, formula: bodies.sled.position.x}", "the block \"a\" reads the machine"},
      {"{type: signal, formula: p*t}", "depends on the parameter \"p\", which an event may set"},
      {"{type: signal, formula: 2*blocks.b}", "is or reads blocks.b"},
      {"{type: signal, formula: 2*blocks.a}", "depends on itself"},
      {"{type: signal, formula: \"line(t)\"}", "a table with straight pieces"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    char text[2048];
    snprintf(text, sizeof text,
             "alphastep: 1\n"
             "parameters: {p: 1}\n"
             "tables: {line: {points: [[0, 0], [1, 1], [2, 4]], interpolation: linear}}\n"
             "bodies: {sled: {mass: 1, inertia: [1, 1, 1]}}\n"
             "joints:\n"
             "  guide: {type: prismatic, bodies: [ground, sled], point: [0, 0, 0], axis: [1, 0, "
             "0]}\n"
             "  drive: {type: motion, joint: guide, law: blocks.a}\n"
             "events: {later: {when: t > 5, set: {p: 2}}}\n"
             "blocks:\n  a: %s\n  b: {type: state, rate: 1}\n",
             wrong[i][0]);
    expect(text, wrong[i][1]);
  }
  expect("alphastep: 1\n"
         "bodies: {one: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}}\n"
         "frames: {moving: {body: ground, shift_x: blocks.a}, fixed: {body: one}}\n"
         "forces: {spring: {type: spring, frames: [moving, fixed], stiffness: 1}}\n"
         "blocks: {a: {type: signal, formula: t}}\n",
         "moves by blocks: the length or angle at which the force is at rest must be given");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tangents), cmocka_unit_test(test_twins),
                                     cmocka_unit_test(test_energies),
                                     cmocka_unit_test(test_sampled_stiffness),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
