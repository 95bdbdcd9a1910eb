/// Blocks of machines: tangents, twins written in C, exact solutions of sampled loops and linear systems, wiring mistakes.
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
#include "alphastep/linearization.h"
#include "rig.h"

/// A machine from a text; its integrator, started.
typedef struct plant {
  as_machine *machine;
  as_integrator *integrator;
  as_error error;
} plant;

static as_machine *parse(const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%d:%d %s", messages.message[0].line, messages.message[0].column,
             messages.message[0].text);
  return machine;
}

static plant start(const char *text, double step) {
  plant p = {.machine = parse(text)};
  as_integrator_def def = p.machine->simulation.integrator;
  if (step > 0.0) def.step = step;
  const as_model *m = p.machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &p.integrator, &p.error) ||
      as_integrator_start(p.integrator, as_model_initial(m), NULL, &p.error))
    fail_msg("%s", p.error.message);
  return p;
}

static const as_state *advance(plant *p, double t) {
  if (as_integrator_advance(p->integrator, t, &p->error)) fail_msg("%s", p->error.message);
  return as_integrator_state(p->integrator);
}

static double value(const plant *p, const char *block, const char *output) {
  const as_model *m = p->machine->model;
  const as_signal_id id = as_model_find_signal(m, block, output);
  if (id.index < 0) fail_msg("no block %s", block);
  return as_model_signal_value(m, as_integrator_state(p->integrator), id);
}

static void stop(plant *p) {
  as_integrator_destroy(p->integrator);
  as_machine_destroy(p->machine);
}

static void expect(const char *text, int line, const char *words) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages) == AS_OK)
    fail_msg("no complaint, but there should be: %s", words);
  for (int i = 0; i < messages.n; ++i)
    if (strstr(messages.message[i].text, words) && (line == 0 || messages.message[i].line == line))
      return;
  fail_msg("line %d: %s, not: %s", messages.message[0].line, messages.message[0].text, words);
}

// ---- tangents ---------------------------------------------------------------------------------------

#define MACHINE                                                                                    \
  "alphastep: 1\n"                                                                                 \
  "gravity: [0.3, -0.2, -9.81]\n"                                                                  \
  "tables: {profile: {points: [[-5, 1], [-1, -2], [0, 0.5], [2, 1.5], [6, -1]], interpolation: "   \
  "monotone}}\n"                                                                                   \
  "bodies:\n"                                                                                      \
  "  one: {mass: 1.5, inertia: [1, 1.2, 1.4], position: [0.2, 0.1, -0.3], angular_velocity: [1, "  \
  "-2, 0.5], velocity: [1, 0.2, -0.4]}\n"                                                          \
  "  two: {mass: 2, inertia: [1, 1.5, 1.1], space: se3, position: [1, -0.4, 0.3], velocity: "      \
  "[0.3, -1, 0.6], angular_velocity: [-0.7, 1.3, 2], rotation: {axis: [1, 2, 3], angle: 0.8}}\n"   \
  "  point: {type: point, mass: 1, position: [0.4, -0.2, 0.9], velocity: [1, 2, 3]}\n"             \
  "frames:\n"                                                                                      \
  "  A: {body: one, position: [0.3, -0.1, 0.2], rotation: {axis: [1, -1, 2], angle: 0.4}}\n"       \
  "  B: {body: two, position: [-0.2, 0.4, 0.1], rotation: {axis: [2, 1, -1], angle: 1.1}, turn: "  \
  "\"t - t^2\", turn_axis: y, shift_y: \"0.3*sin(2*t + 1)\"}\n"                                    \
  "  P: {body: point}\n"                                                                           \
  "joints:\n"                                                                                      \
  "  hinge: {type: revolute, bodies: [one, two], point: [0.5, 0, 0], axis: [1, 2, -1]}\n"          \
  "  ball: {type: spherical, bodies: [ground, one], point: [0, 0, 0]}\n"                           \
  "forces:\n"                                                                                      \
  "  spring: {type: spring, frames: [A, B], stiffness: 3, damping: 0.4, length: 0.5}\n"            \
  "  soft: {type: spring, frames: [A, B], stiffness: 2, length: 0.4, damper: "                     \
  "\"blocks.lag^2*length_rate*cos(length_rate)\", law: \"sin(blocks.mix)*deflection^2 + "          \
  "blocks.first*length_rate\"}\n"                                                                  \
  "  twist: {type: torsion, bodies: [one, two], axis: [1, 2, -1], stiffness: 1, spring: "          \
  "\"blocks.lag*sin(deflection)\"}\n"                                                              \
  "  act: {type: actuator, joint: hinge, force: \"blocks.mix*sin(blocks.lag) + blocks.lag^2 - "    \
  "0.1*blocks.sys.y2\"}\n"                                                                         \
  "  push: {type: load, frame: B, follows: true, force: [\"blocks.mix^2\", 0, "                    \
  "\"blocks.lag*frames.A.position.x\"], torque: [0, \"cos(blocks.first)\", 0], reaction: one}\n"   \
  "  pull: {type: load, body: point, force: [0, \"blocks.lag*blocks.first\", 1]}\n"

/// Each formula in a signal and in a state, with states and outputs of others.
static void test_tangents(void **state) {
  (void)state;
  static const char *const formulas[] = {
      "bodies.one.acceleration.x*bodies.two.acceleration.y + bodies.point.acceleration.z",
      "bodies.one.angular_acceleration.y + bodies.two.angular_acceleration.z^2",
      "frames.A.acceleration.x*frames.B.acceleration.z + frames.B.acceleration.y",
      "frames.A.specific_force.z - frames.B.specific_force.x^2 + frames.B.specific_force.y",
      "frames.A.angular_acceleration.x + frames.B.angular_acceleration.y",
      "frames.A.angular_velocity_in_frame.z*frames.B.angular_velocity_in_frame.y",
      "frames.A.angular_velocity.z*frames.B.velocity.y + frames.A.distance.B",
      "joints.hinge.force.x*joints.ball.force.y + joints.hinge.force.z",
      "joints.hinge.torque.x + joints.hinge.torque.y*joints.hinge.torque.z",
      "joints.hinge.force_in_joint.x + joints.ball.force_in_joint.z*t",
      "joints.hinge.torque_in_joint.y - joints.hinge.torque_in_joint.x",
      "forces.spring.tension*joints.hinge.angle_rate + sin(joints.hinge.angle)",
      "profile(bodies.one.position.x)*bodies.point.velocity.z"};
  for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; ++i) {
    char text[8192];
    snprintf(text, sizeof text,
             MACHINE "blocks:\n"
                     "  mix: {type: signal, formula: \"%s + 0.3*blocks.lag*blocks.first\"}\n"
                     "  first: {type: signal, formula: \"0.2*blocks.mix^2 + t*blocks.lag\"}\n"
                     "  lag: {type: state, rate: \"(%s)*blocks.lag - blocks.mix\", start: 0.4}\n"
                     "  sys: {type: linear, A: [[-1, 0.5], [0, -2]], B: [[1], [0.5]], C: [[1, 0], "
                     "[2, 1]], D: [[0], [0.3]], inputs: [\"blocks.first*blocks.lag\"]}\n",
             formulas[i], formulas[i]);
    as_machine *machine = parse(text);
    const as_initial *at = as_model_initial(machine->model);
    as_check_def def = as_default_check_def();
    as_error error;
    def.near = (as_point){.t = 0.3, .q = at->q, .v = at->v, .x = at->x, .u = at->u};
    def.spread = 0.5;
    def.tolerance = 2e-6;
    if (as_problem_check(as_model_problem(machine->model), &def, NULL, &error))
      fail_msg("%s: %s", formulas[i], error.message);
    as_machine_destroy(machine);
  }
}

// ---- a twin in C ------------------------------------------------------------------------------------

#define SPRING                                                                                     \
  "alphastep: 1\n"                                                                                 \
  "bodies: {mass: {type: point, mass: 1, position: [5, 0, 0]}}\n"                                  \
  "forces: {all: {type: load, body: mass, force: [\"blocks.actual - bodies.mass.position.x\", 0, " \
  "0]}}\n"                                                                                         \
  "blocks:\n"                                                                                      \
  "  actual: {type: signal, formula: \"tanh(blocks.wanted)\", unit: N}\n"                          \
  "  wanted: {type: signal, formula: blocks.x, unit: N}\n"                                         \
  "  x: {type: state, rate: \"-0.1*blocks.x - 1.4*bodies.mass.acceleration.x\"}\n"                 \
  "simulate: {t_end: 20, step: 0.1, rho_inf: 0.8, improved_start: false, perturbed_start: "        \
  "false}\n"

static int twin_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int twin_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->q[0] + at->y[1];
  return AS_DONE;
}

static int twin_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -0.1 * at->x[0] - 1.4 * at->vdot[0];
  return AS_DONE;
}

static int twin_output(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->x[0];
  out[1] = tanh(at->y[0]);
  return AS_DONE;
}

/// The first application of Bruels and Arnold 2008: the file gives what the problem in C gives.
static void test_controlled_spring(void **state) {
  (void)state;
  plant p = start(SPRING, 0.0);
  const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = def.n_x = 1;
  def.n_y = 2;
  def.mass_constant = true;
  def.mass = twin_mass;
  def.force = twin_force;
  def.state_rate = twin_rate;
  def.output = twin_output;
  as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.1, NULL, 0);
  how.rho_inf = 0.8;
  how.improved_start = how.perturbed_start = false;
  rig r = rig_make(&def, &how, &(as_initial){.q = (double[]){5.0}});
  for (int i = 1; i <= 4; ++i) {
    const as_state *a = advance(&p, 5.0 * i), *b = rig_advance(&r, 5.0 * i);
    assert_near("q", a->q[0], b->q[0], 1e-10);
    assert_near("v", a->v[0], b->v[0], 1e-10);
    assert_near("x", value(&p, "x", NULL), b->x[0], 1e-10);
    assert_near("y", value(&p, "actual", NULL), b->y[1], 1e-10);
  }
  rig_free(&r);
  stop(&p);
}

// ---- samples ----------------------------------------------------------------------------------------

#define CART                                                                                       \
  "alphastep: 1\n"                                                                                 \
  "bodies: {cart: {type: point, mass: 2, position: [1, 0, 0]}}\n"                                  \
  "forces: {push: {type: load, body: cart, force: [\"blocks.u\", 0, 0]}}\n"                        \
  "simulate: {t_end: 1, step: 1e-2, rho_inf: 1}\n"                                                 \
  "blocks:\n"

/// A double integrator under a sampled law has an exact solution, which constant accelerations keep.
static void test_sampled(void **state) {
  (void)state;
  static const struct {
    const char *keys;
    double delay;
  } cases[] = {
      {"", 0.0}, {", delay: 0.02", 0.02}, {", delay: 0.05", 0.05}, {", delay: 0.12", 0.12}};
  const double T = 0.05, m = 2.0;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
    char text[2048];
    snprintf(
        text, sizeof text,
        CART
        "  u: {type: sampled, period: 0.05, start: 0.5, formula: \"-20*bodies.cart.position.x - "
        "8*bodies.cart.velocity.x\"%s}\n",
        cases[c].keys);
    plant p = start(text, 0.0);
    double x = 1.0, v = 0.0, u = 0.5, t = 0.0, command[64];
    const double end = 1.0;
    // Between samples and effects, one after the other.
    for (int k = 0, next = 0; t < end - 1e-9;) {
      if (fabs(t - k * T) < 1e-9) {
        command[k] = -20.0 * x - 8.0 * v;
        ++k;
      }
      if (next < k && fabs(t - (next * T + cases[c].delay)) < 1e-9) u = command[next++];
      double to = fmin(k * T, end);
      if (next < k) to = fmin(to, next * T + cases[c].delay);
      const double h = to - t;
      x += h * v + h * h * u / (2.0 * m);
      v += h * u / m;
      t = to;
    }
    const as_state *at = advance(&p, end);
    assert_near("x", at->q[0], x, 1e-9);
    assert_near("v", at->v[0], v, 1e-9);
    stop(&p);
  }
}

/// A sampled block that is continuous is the signal of the same formula: 2 x'' = -20 x - 8 x'.
static void test_continuous_sampling(void **state) {
  (void)state;
#define LAW "formula: \"-20*bodies.cart.position.x - 8*bodies.cart.velocity.x\"}\n"
  plant as_it_is = start(CART "  u: {type: sampled, period: 0.05, " LAW, 1e-3);
  plant p = start(CART "  u: {type: sampled, period: 0.05, sampling: continuous, " LAW, 1e-3);
  plant twin = start(CART "  u: {type: signal, " LAW, 1e-3);
  const double x = advance(&p, 0.99)->q[0], w = sqrt(6.0);
  assert_true(x == advance(&twin, 0.99)->q[0]);
  assert_near("x", x, exp(-2.0 * 0.99) * (cos(w * 0.99) + 2.0 / w * sin(w * 0.99)), 1e-5);
  assert_true(fabs(advance(&as_it_is, 0.99)->q[0] - x) > 1e-3);
  stop(&as_it_is);
  stop(&p);
  stop(&twin);
#undef LAW
  expect(CART "  u: {type: sampled, period: 1, delay: 0.1, formula: 1, sampling: continuous}\n", 6,
         "cannot be continuous: it has a delay");
  expect(CART "  u: {type: sampled, period: 1, state: true, formula: 1, sampling: continuous}\n", 6,
         "cannot be continuous: it is a state");
  expect(CART "  u: {type: sampled, period: 1, formula: blocks.u + 1, sampling: continuous}\n", 6,
         "cannot be continuous: it reads what it was before");
}

/// Samples at one time are taken in the order of their formulas, whatever the order in the file; a state is read as it was.
static void test_order_of_samples(void **state) {
  (void)state;
  plant p = start(CART "  u: {type: sampled, period: 0.1, formula: \"2*blocks.sum\"}\n"
                       "  sum: {type: signal, formula: \"blocks.a + 10*blocks.old\"}\n"
                       "  old: {type: sampled, period: 0.1, state: true, formula: blocks.a}\n"
                       "  a: {type: sampled, period: 0.2, formula: \"blocks.a + 1\"}\n",
                  0.0);
  advance(&p, 0.05);
  assert_near("u at 0", value(&p, "u", NULL), 2.0 * (1.0 + 0.0), 0.0);
  advance(&p, 0.15);
  assert_near("u at 0.1", value(&p, "u", NULL), 2.0 * (1.0 + 10.0), 0.0);
  advance(&p, 0.25);
  assert_near("u at 0.2", value(&p, "u", NULL), 2.0 * (2.0 + 10.0), 0.0);
  advance(&p, 0.35);
  assert_near("u at 0.3", value(&p, "u", NULL), 2.0 * (2.0 + 20.0), 0.0);
  stop(&p);
}

// ---- linear systems ---------------------------------------------------------------------------------

/// Step responses have closed forms.
static void test_linear(void **state) {
  (void)state;
  plant p = start(CART "  u: {type: signal, formula: 0}\n"
                       "  tf: {type: transfer_function, input: 1, numerator: [3, 1], denominator: "
                       "[2, 6, 50]}\n"
                       "  z: {type: transfer_function, input: \"1 + t\", numerator: [0.5, 0.2], "
                       "denominator: [1, -0.7], period: 0.1}\n"
                       "  both: {type: linear, A: [[0, 1], [-4, 0]], C: [[1, 0], [0, 1]], start: "
                       "[1, 0], outputs: [c, s]}\n",
                  1e-3);
  advance(&p, 0.95);
  // (3 s + 1)/(2 s^2 + 6 s + 50): a = 1.5, w^2 = 25 - a^2
  const double t = 0.95, a = 1.5, w = sqrt(25.0 - a * a);
  const double rise = 1.0 / 50.0 - exp(-a * t) * (cos(w * t) / 50.0 + a / (50.0 * w) * sin(w * t));
  const double rate = 1.5 * exp(-a * t) * sin(w * t) / w;
  assert_near("tf", value(&p, "tf", NULL), rise + rate, 2e-6);
  assert_near("c", value(&p, "both", "c"), cos(2.0 * t), 2e-6);
  assert_near("s", value(&p, "both", "s"), -2.0 * sin(2.0 * t), 4e-6);
  double x = 0.0, y = 0.0;
  for (int k = 0; k < 10; ++k) {
    const double input = 1.0 + 0.1 * k;
    y = (0.2 + 0.5 * 0.7) * x + 0.5 * input;
    x = 0.7 * x + input;
  }
  assert_near("z", value(&p, "z", NULL), y, 1e-12);
  stop(&p);
}

/// A template of the user's own makes what it says.
static void test_own_template(void **state) {
  (void)state;
  plant p = start(
      "templates:\n"
      "  leaky: {keys: {input: null, rate: 1}, blocks: {value: {type: state, rate: \"{input} - "
      "{rate}*{}\"}, twice: {type: signal, formula: \"2*{}\"}, last: {type: sampled, period: 0.1, "
      "formula: \"{.twice} + {input}\"}}}\n" CART
      "  u: {type: template, template: leaky, with: {input: 2 + 1, rate: 1 + 1}}\n",
      1e-3);
  advance(&p, 0.95);
  assert_near("u", value(&p, "u", NULL), 1.5 * (1.0 - exp(-1.9)), 1e-6);
  assert_near("twice", value(&p, "u", "twice"), 3.0 * (1.0 - exp(-1.9)), 2e-6);
  assert_near("last", value(&p, "u", "last"), 3.0 * (1.0 - exp(-1.8)) + 3.0, 2e-6);
  stop(&p);
  expect(
      "templates: {a: {keys: {k: null}, blocks: {value: {type: signal, formula: \"{k}\"}}}}\n" CART
      "  u: {type: template, template: a}\n",
      7, "missing: \"k\"");
  expect("templates: {a: {blocks: {value: {type: signal, formula: \"{k}\"}}}}\n" CART
         "  u: {type: template, template: a}\n",
         1, "{k} is no key of the template");
}

// ---- saving -----------------------------------------------------------------------------------------

/// A run that is saved and taken up goes on in the same bits.
static void test_saved(void **state) {
  (void)state;
  const char *text =
      CART "  u: {type: sampled, period: 0.03, delay: 0.04, formula: "
           "\"-20*bodies.cart.position.x - 8*blocks.speed\"}\n"
           "  speed: {type: lowpass, input: bodies.cart.velocity.x, time_constant: 0.1}\n";
  plant p = start(text, 0.0), q = start(text, 0.0);
  advance(&p, 0.5);
  size_t size = 0;
  if (as_integrator_save(p.integrator, NULL, &size, &p.error)) fail_msg("%s", p.error.message);
  void *bytes = malloc(size);
  if (as_integrator_save(p.integrator, bytes, &size, &p.error)) fail_msg("%s", p.error.message);
  if (as_integrator_load(q.integrator, bytes, size, &q.error)) fail_msg("%s", q.error.message);
  const as_state *a = advance(&p, 1.0), *b = advance(&q, 1.0);
  assert_memory_equal(a->q, b->q, 3 * sizeof(double));
  assert_memory_equal(a->x, b->x, sizeof(double));
  assert_memory_equal(a->u, b->u, 2 * sizeof(double));
  free(bytes);
  stop(&p);
  stop(&q);
}

// ---- mistakes ---------------------------------------------------------------------------------------

static void test_mistakes(void **state) {
  (void)state;
  const char *both = CART "  u: {type: signal, formula: blocks.sped}\n"
                          "  speed: {type: state, rate: \"1 + bodies.cart.acceleraton.x\"}\n";
  expect(both, 6, "there is no block \"sped\"; did you mean \"speed\"?");
  expect(both, 7, "has no quantity \"acceleraton\"");
  expect(CART "  u: {type: signal, formula: blocks.v.y}\n  v: {type: signal, formula: 1}\n", 6,
         "the block \"v\" has no \"y\"");
  expect(CART "  u: {type: sampled, period: 1, formula: blocks.v}\n"
              "  v: {type: sampled, period: 2, formula: blocks.u}\n",
         7, "depend on each other at the same instant");
  expect(CART "  u: {type: sampled, period: 0, formula: 1}\n", 6, "must be");
  expect(CART "  u: {type: gain, input: blocks.w, gain: 2}\n", 6, "there is no block \"w\"");
  expect(CART "  u: {type: linear, A: [[1]], B: [[1, 2]], C: [[1]], inputs: [t]}\n", 6,
         "the matrix B has 2 columns");
  expect(CART "  u: {type: pd, input: 1}\n", 6, "there is no block of type \"pd\"");
  expect(CART "  v: {type: signal, formula: 1}\n", 3, "there is no block \"u\"");
  expect("alphastep: 1\nbodies: {a: {type: point, mass: 1}}\n"
         "forces: {s: {type: load, body: a, force: [bodies.a.acceleration.x, 0, 0]}}\n",
         3, "a block may");
}

/// The same by the builder: one sentence with the block's name each, after which the builder is as before.
static void test_builder_mistakes(void **state) {
  (void)state;
  static const double one[] = {1.0, 0.0}, strange[] = {(double)NAN};
  static const char *const t[] = {"t"}, *const twice[] = {"a", "a"};
  as_signal_def s[12];
  static const char *const words[] = {"has no name",
                                      "The block \"v\" has no formula",
                                      "Two blocks write \"u\"",
                                      "cannot have an output \"a b\"",
                                      "cannot have an output \"value\"",
                                      "The start of block \"v\" is inf",
                                      "The period of block \"v\" is nan",
                                      "The period of block \"v\" is -1",
                                      "The offset of block \"v\" is -1",
                                      "The delay of block \"v\" is inf",
                                      "there is no block \"w\"",
                                      "The unit of block \"v\""};
  as_builder *b = NULL;
  as_error error;
  assert_int_equal(as_builder_create(&(as_model_def){0}, &b, &error), AS_OK);
  as_body_def body = as_default_body_def();
  body.name = "m";
  body.mass = 1.0;
  body.kind = AS_BODY_POINT;
  if (as_builder_add_body(b, &body, NULL, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < 12; ++i) {
    s[i] = as_default_signal_def();
    s[i].block = "v";
    s[i].formula = "1";
    if (i >= 6 && i <= 9) {
      s[i].kind = AS_SIGNAL_SAMPLED;
      s[i].period = 1.0;
    }
  }
  s[0].block = NULL;
  s[1].formula = NULL;
  s[2].block = "u";
  s[3].output = "a b";
  s[4].output = "value";
  s[5].start = (double)INFINITY;
  s[6].period = (double)NAN;
  s[7].period = -1.0;
  s[8].offset = -1.0;
  s[9].delay = (double)INFINITY;
  s[10].formula = "blocks.w";
  s[11].unit = "a\nb";
  as_signal_def first = as_default_signal_def();
  first.block = "u";
  first.formula = "1";
  if (as_builder_add_signal(b, &first, NULL, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < 12; ++i) {
    assert_int_not_equal(as_builder_add_signal(b, &s[i], NULL, &error), AS_OK);
    if (strstr(error.message, words[i]) == NULL) fail_msg("%s, not: %s", error.message, words[i]);
  }
  static const char *const of_linear[] = {
      "has 1 states, 1 inputs and 0 outputs", "Row 1, column 1 of the matrix A of block \"l\"",
      "Input 1 of block \"l\" is left open", "must be less than its period",
      "Two blocks write \"l.a\""};
  for (int i = 0; i < 5; ++i) {
    as_linear_def l = as_default_linear_def();
    l.block = "l";
    l.n_states = l.n_inputs = l.n_outputs = 1;
    l.A = l.B = l.C = one;
    l.input = t;
    if (i == 0) l.n_outputs = 0;
    if (i == 1) l.A = strange;
    if (i == 2) l.input = NULL;
    if (i == 3) l.period = 1.0, l.delay = 2.0;
    if (i == 4) l.n_outputs = 2, l.output = twice;
    assert_int_not_equal(as_builder_add_linear(b, &l, &error), AS_OK);
    if (strstr(error.message, of_linear[i]) == NULL)
      fail_msg("%s, not: %s", error.message, of_linear[i]);
  }
  as_model *model = NULL;
  if (as_builder_declare_signal(b, "later", NULL, &error)) fail_msg("%s", error.message);
  assert_int_not_equal(as_builder_build(b, &model, &error), AS_OK);
  assert_non_null(
      strstr(error.message, "The block \"later\" is declared, but it has not been added"));
  first.block = "later";
  if (as_builder_add_signal(b, &first, NULL, &error) || as_builder_build(b, &model, &error))
    fail_msg("%s", error.message);
  assert_int_equal(as_problem_sizes(as_model_problem(model)).y, 2);
  as_model_destroy(model);
  as_builder_destroy(b);
}

/// Without its delay the loop would be one in an instant; with it, and at other times, it is none.
static void test_no_loops(void **state) {
  (void)state;
  as_machine *machine =
      parse(CART "  u: {type: sampled, period: 1, formula: blocks.v}\n"
                 "  v: {type: sampled, period: 2, delay: 0.5, formula: blocks.u}\n");
  as_machine_destroy(machine);
  machine = parse(CART "  u: {type: sampled, period: 1, formula: blocks.v}\n"
                       "  v: {type: sampled, period: 1, offset: 0.5, formula: blocks.u}\n");
  as_machine_destroy(machine);
}

/// SOI2 has no states and outputs, but samples.
static void test_soi2(void **state) {
  (void)state;
  plant p = {.machine = parse(CART "  u: {type: signal, formula: t}\n")};
  as_integrator_def def = p.machine->simulation.integrator;
  def.method = AS_METHOD_SOI2;
  assert_int_not_equal(
      as_integrator_create(as_model_problem(p.machine->model), &def, &p.integrator, &p.error),
      AS_OK);
  assert_non_null(strstr(p.error.message, "block \"u\""));
  as_machine_destroy(p.machine);
  p = start(CART "  u: {type: sampled, period: 0.1, formula: t}\n", 0.0);
  advance(&p, 0.55);
  assert_near("u", value(&p, "u", NULL), 0.5, 1e-12);
  stop(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tangents),
      cmocka_unit_test(test_controlled_spring),
      cmocka_unit_test(test_sampled),
      cmocka_unit_test(test_continuous_sampling),
      cmocka_unit_test(test_order_of_samples),
      cmocka_unit_test(test_linear),
      cmocka_unit_test(test_saved),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_builder_mistakes),
      cmocka_unit_test(test_no_loops),
      cmocka_unit_test(test_soi2),
      cmocka_unit_test(test_own_template),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
