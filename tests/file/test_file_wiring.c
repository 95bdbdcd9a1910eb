/// What is said of blocks in files that are wired wrongly: each mistake with its line, its column and the name of the culprit.
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
#include "core/kinematics/problem.h"

/// Five lines; blocks begin in line 6.
#define HEAD                                                                                       \
  "alphastep: 1\n"                                                                                 \
  "bodies: {m: {type: point, mass: 2, position: [1, 0, 0]}}\n"                                     \
  "forces: {push: {type: load, body: m, force: [blocks.u, 0, 0]}}\n"                               \
  "simulate: {t_end: 0.1, step: 1e-2}\n"                                                           \
  "blocks:\n"
#define HEAD_SOI2                                                                                  \
  "alphastep: 1\nbodies: {m: {type: point, mass: 2}}\n\nsimulate: {t_end: 0.1, step: 1e-2, "       \
  "method: soi2}\nblocks:\n"

typedef struct mistake {
  const char *text;
  int line, column;
  const char *words;
} mistake;

static void expect(const char *head, const mistake *wrong, int n) {
  for (int i = 0; i < n; ++i) {
    char text[2048];
    as_machine *machine = NULL;
    as_messages messages;
    snprintf(text, sizeof text, "%s%s", head, wrong[i].text);
    if (as_machine_parse(text, strlen(text), "t.yaml", NULL, 0, &machine, &messages) == AS_OK)
      fail_msg("no complaint about\n%s", wrong[i].text);
    if (messages.n != 1)
      fail_msg("%d complaints about\n%s%s\n%s", messages.n, wrong[i].text, messages.message[0].text,
               messages.message[1].text);
    const as_message *m = &messages.message[0];
    if (m->line != wrong[i].line || m->column != wrong[i].column ||
        strstr(m->text, wrong[i].words) == NULL)
      fail_msg("%s\n%d:%d %s\nnot: %d:%d %s", wrong[i].text, m->line, m->column, m->text,
               wrong[i].line, wrong[i].column, wrong[i].words);
  }
}

#define EXPECT(head, list) expect(head, list, (int)(sizeof(list) / sizeof(list)[0]))

static void test_names(void **state) {
  (void)state;
  static const mistake wrong[] = {
      {"  u: {type: signal, formula: blocks.sped}\n  speed: {type: signal, formula: 1}\n", 6, 30,
       "there is no block \"sped\"; did you mean \"speed\"?"},
      {"  u: {type: signal, formula: 1 + v}\n  v: {type: signal, formula: 1}\n", 6, 34,
       "there is no quantity \"v\"; did you mean the block, blocks.v?"},
      {"  u: {type: signal, formula: block.v}\n  v: {type: signal, formula: 1}\n", 6, 30,
       "did you mean \"blocks\"?"},
      {"  u: {type: signal, formula: blocks.v.integal}\n  v: {type: pid, setpoint: 1, measured: 0, "
       "kp: 1}\n",
       6, 30, "the block \"v\" has no \"integal\"; did you mean \"integral\"?"},
      {"  u: {type: signal, formula: blocks.left-hand}\n  left-hand: {type: signal, formula: 1}\n",
       6, 30, "a name like this one stands in quotes: 'blocks.left-hand'"},
      {"  u: {type: signal, formula: blocks.\xc3\xbc}\n  \xc3\xbc: {type: signal, formula: 1}\n", 6,
       30, "stands in quotes: 'blocks.\xc3\xbc'"},
      {"  u: {type: signal, formula: blocks.v}\n  v: {type: linear, D: [[1], [2]], inputs: [t]}\n",
       6, 30, "the block \"v\" has no value of its own; it has: u1, y1, y2"},
      {"  u: {type: signal, formula: 1}\n  a.b: {type: signal, formula: 2}\n", 7, 3,
       "has a character that is not allowed"},
      {"  u: {type: signal, formula: 1}\n  u: {type: signal, formula: 2}\n", 7, 3,
       "\"u\" is there already, in line 6"},
      {"  u: {type: signal, formula: 1}\nstates: {x: 1}\n", 7, 1, "did you mean \"blocks\"?"},
      {"  u: {type: intgrator, input: 1}\n", 6, 13, "did you mean \"integrator\"?"},
      {"  u: {type: lookup, input: t, table: nope}\ntables: {hope: {points: [[0, 0], [1, 1]]}}\n",
       6, 38, "there is no table \"nope\"; did you mean \"hope\"?"},
      {"  u: {type: gyro, frame: f}\nframes: {g: {body: m}}\n", 6, 26, "there is no frame \"f\""},
      {"  u: {type: signal, formula: 1}\n  s: {type: state, rate: 1}\n"
       "events: {e: {when: t - 1, set: {blocks.t: 0}}}\n",
       8, 33, "there is no block \"t\""},
      {"  u: {type: pid, setpoint: 1, measured: 0, kp: 1}\n"
       "events: {e: {when: t - 1, set: {blocks.u.integrl: 0}}}\n",
       7, 33, "did you mean \"integral\"?"},
      {"  u: {type: signal, formula: 1}\nevents: {e: {when: t - 1, set: {blocks.u: 0}}}\n", 7, 33,
       "follows from its formula: only states and sampled blocks can be set"},
  };
  EXPECT(HEAD, wrong);
}

static void test_linear(void **state) {
  (void)state;
  static const mistake wrong[] = {
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]]}\n", 6, 34,
       "the matrix B has 1 column, but `inputs` lists 0 formulas: an input is left open"},
      {"  u: {type: linear, A: [[1]], B: [[1, 2]], C: [[1]], inputs: [t]}\n", 6, 34,
       "the matrix B has 2 columns, but `inputs` lists 1 formula: an input is left open"},
      {"  u: {type: linear, A: [[1]], B: [[1], [2]], C: [[1]], inputs: [t]}\n", 6, 34,
       "the matrix B is 2 x 1; with 1 state, 1 input and 1 output it must be 1 x 1"},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]], inputs: [t, t]}\n", 6, 34,
       "the matrix B is 1 x 1; with 1 state, 2 inputs and 1 output it must be 1 x 2"},
      {"  u: {type: linear, A: [[1, 2]], B: [[1]], C: [[1]], inputs: [t]}\n", 6, 24,
       "the matrix A is 1 x 2; it must be square"},
      {"  u: {type: linear, A: [[1, 2], [3]], B: [[1], [1]], C: [[1, 1]], inputs: [t]}\n", 6, 33,
       "the first row has 2 numbers, this one 1"},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1, 2]], inputs: [t]}\n", 6, 44,
       "the matrix C is 1 x 2"},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]], D: [[1], [2]], inputs: [t]}\n", 6, 54,
       "the matrix D is 2 x 1"},
      {"  u: {type: linear, A: [[1]], B: [[1]], inputs: [t]}\n", 6, 3,
       "it has no outputs: neither C nor D is given"},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]], inputs: [t], outputs: [a, b]}\n", 6, 73,
       "there are 2 names of outputs, but 1 output"},
      {"  u: {type: signal, formula: blocks.v.a}\n  v: {type: linear, D: [[1], [2]], inputs: [t], "
       "outputs: [a, a]}\n",
       7, 62, "two outputs have the name \"a\""},
      {"  u: {type: signal, formula: blocks.v.a}\n  v: {type: linear, D: [[1], [2]], inputs: [t], "
       "outputs: [a, u1]}\n",
       7, 62, "\"u1\" is the name of an input already"},
      {"  u: {type: signal, formula: blocks.v.a}\n  v: {type: linear, D: [[1], [2]], inputs: [t], "
       "outputs: [a, value]}\n",
       7, 62, "cannot have an output \"value\""},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]], inputs: [t], start: [1, 2]}\n", 6, 71,
       "there are 2 numbers in start, but 1 state"},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]], inputs: [blocks.w]}\n", 6, 60,
       "there is no block \"w\""},
      {"  u: {type: linear, delay: 2, A: [[1]], B: [[1]], C: [[1]], inputs: [t]}\n", 6, 28,
       "\"delay\" can only be given with \"period\""},
      {"  u: {type: transfer_function, input: t, numerator: [1, 2, 3], denominator: [1, 2]}\n", 6,
       53, "the degree of the numerator, 2, is above that of the denominator, 1"},
      {"  u: {type: transfer_function, input: t, numerator: [1], denominator: [0, 0]}\n", 6, 71,
       "the denominator is zero"},
  };
  EXPECT(HEAD, wrong);
}

static void test_numbers(void **state) {
  (void)state;
  static const mistake wrong[] = {
      {"  u: {type: sampled, period: -1, formula: t}\n", 6, 30, "must be greater than 0 s"},
      {"  u: {type: sampled, period: .nan, formula: t}\n", 6, 30, "must be a finite number"},
      {"  u: {type: sampled, period: 1e-300, formula: t}\n", 6, 30,
       "would give more than 1e9 samples up to t_end = 0.1 s"},
      {"  u: {type: sample_and_hold, period: 1e-300, input: t}\n", 6, 38,
       "would give more than 1e9 samples"},
      {"  u: {type: sampled, period: 1, offset: -1, formula: t}\n", 6, 41, "must not be negative"},
      {"  u: {type: sampled, period: 1, delay: 1e300, formula: t}\n", 6, 3,
       "it must be 0 to a million periods"},
      {"  u: {type: lowpass, input: t, time_constant: -1}\n", 6, 47, "must be greater than 0 s"},
      {"  u: {type: saturation, input: t, lower: 1, upper: -1}\n", 6, 52,
       "the upper limit must be above the lower one, 1"},
      {"  u: {type: state, rate: t, start: .inf}\n", 6, 36, "must be a finite number"},
  };
  EXPECT(HEAD, wrong);
}

#define LEAKY(rate)                                                                                \
  "templates:\n"                                                                                   \
  "  leaky: {keys: {input: null, rate: 1}, blocks: {value: {type: state, rate: \"" rate "\"}}}\n"
#define USE "  u: {type: template, template: leaky, with: {input: t}}\n"

/// A fault of a template is told where the template has it, once for all blocks of it, and if there are none.
static void test_templates(void **state) {
  (void)state;
  static const mistake wrong[] = {
      {"  u: {type: template, template: leaky}\n" LEAKY("{input} - {rate}*{}"), 6, 3,
       "missing: \"input\", which the template \"leaky\" needs"},
      {"  u: {type: template, template: leeky, with: {input: t}}\n" LEAKY("{input} - {rate}*{}"), 6,
       33, "there is no template \"leeky\"; did you mean \"leaky\"?"},
      {"  u: {type: template, template: leaky, with: {input: t, rat: 3}}\n" LEAKY(
           "{input} - {rate}*{}"),
       6, 57, "has no key \"rat\"; did you mean \"rate\"?"},
      {"  u: {type: template, template: leaky, with: {input: 3 + blocks.w}}\n" LEAKY(
           "{input} - {rate}*{}"),
       6, 58, "there is no block \"w\""},
      {USE LEAKY("{input} - {rat}*{}"), 8, 77, "{rat} is no key of the template"},
      {USE "  w: {type: template, template: leaky, with: {input: 2}}\n" LEAKY("{input} - rate*{}"),
       9, 77, "as the template is used here: there is no quantity \"rate\""},
      {USE LEAKY("{input} - {.z}"), 8, 77, "the block \"u\" has no \"z\""},
      {"  u: {type: signal, formula: 1}\n" LEAKY("{inpt}"), 8, 77, "{inpt} is no key"},
      {"  u: {type: signal, formula: 1}\ntemplates: {leaky: 3}\n", 7, 20, "must be a mapping"},
      {"  u: {type: signal, formula: 1}\ntemplates: {leaky: {keys: {a: 1}, blocks: {value: {type: "
       "gain}}}}\n",
       7, 44, "a template is made of signals, states, samples and what is held"},
  };
  EXPECT(HEAD, wrong);
  // Keys may stand for numbers, too; and names may have quotes.
  static const char good[] = HEAD
      "  u: {type: template, template: hold, with: {input: \"\\\"blocks.it's.integral\\\"\", T: "
      "0.25, x0: 3}}\n"
      "  it's: {type: pid, setpoint: 1, measured: 0, kp: 1, ki: 1}\n"
      "templates:\n"
      "  hold: {keys: {input: null, T: null, x0: 0}, blocks: {value: {type: sampled, period: "
      "\"{T}\", start: \"{x0}\", formula: \"{input} + ${n}*t\"}}}\n"
      "parameters: {n: 2}\n";
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(good, strlen(good), "t.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  const as_problem_def *def = &as_model_problem(machine->model)->def;
  assert_int_equal(def->n_samplers, 1);
  assert_true(def->samplers[0].period == 0.25);
  assert_true(as_model_initial(machine->model)->u[0] == 3.0);
  as_machine_destroy(machine);
}

static void test_method(void **state) {
  (void)state;
  static const mistake wrong[] = {
      {"  k: {type: sampled, period: 0.1, formula: t}\n  u: {type: signal, formula: t}\n", 7, 3,
       "the method soi2 takes sampled blocks, but no states and signals, such as those of the "
       "block "
       "\"u\""},
      {"  u: {type: linear, A: [[1]], B: [[1]], C: [[1]], inputs: [t]}\n", 6, 3,
       "such as those of the block \"u\""},
  };
  EXPECT(HEAD_SOI2, wrong);
}

/// All at once, each at its place.
static void test_together(void **state) {
  (void)state;
  static const char text[] =
      HEAD "  u: {type: signal, formula: blocks.sped}\n"
           "  a: {type: gain, input: 1}\n"
           "  b: {type: signal, formula: '1 +'}\n"
           "  c: {type: sampled, period: 0, formula: 1}\n"
           "  d: {type: linear, A: [[1]], B: [[1, 2]], C: [[1]], inputs: [t]}\n"
           "  e: {type: integrator, input: t, limit: 3}\n"
           "  f: {type: signal, formula: bodies.m.acceleraton.x}\n";
  as_machine *machine = NULL;
  as_messages messages;
  assert_int_not_equal(as_machine_parse(text, strlen(text), "t.yaml", NULL, 0, &machine, &messages),
                       AS_OK);
  assert_int_equal(messages.n, 7);
  for (int i = 0; i < 7; ++i) assert_int_equal(messages.message[i].line, 6 + i);
}

// ---- loops ------------------------------------------------------------------------------------------

/// Blocks with which a run ends, what is said, and how far it comes at least; -1: it does not start.
typedef struct ending {
  const char *blocks, *words;
  double after;
} ending;

static void expect_endings(const ending *cases, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    char text[2048];
    as_machine *machine = NULL;
    as_messages messages;
    as_integrator *integrator = NULL;
    as_error error;
    snprintf(text, sizeof text, HEAD "%s", cases[i].blocks);
    if (as_machine_parse(text, strlen(text), "t.yaml", NULL, 0, &machine, &messages))
      fail_msg("%s", messages.message[0].text);
    const as_model *m = machine->model;
    as_status status = as_integrator_create(as_model_problem(m), &machine->simulation.integrator,
                                            &integrator, &error);
    if (status == AS_OK)
      status = as_integrator_start(integrator, as_model_initial(m), NULL, &error);
    assert_int_equal(status == AS_OK, cases[i].after >= 0.0);
    if (status == AS_OK) status = as_integrator_advance(integrator, 0.1, &error);
    if (status == AS_OK) fail_msg("no complaint about\n%s", cases[i].blocks);
    if (strstr(error.message, cases[i].words) == NULL)
      fail_msg("%s\nnot: %s", error.message, cases[i].words);
    const as_state *at = as_integrator_state(integrator);
    if (cases[i].after >= 0.0 && (!(at->t >= cases[i].after - 1e-9) || !isfinite(at->q[0])))
      fail_msg("%s\nends at %g s with %g m", cases[i].blocks, at->t, at->q[0]);
    as_integrator_destroy(integrator);
    as_machine_destroy(machine);
  }
}

/// Loops that are singular or have no solution end with the names of the blocks in them, at the start and later.
static void test_singular_loops(void **state) {
  (void)state;
  static const ending cases[] = {
      {"  u: {type: signal, formula: blocks.u + 1}\n", "block \"u\" is not determined", -1.0},
      {"  u: {type: signal, formula: 2 - (-blocks.u)}\n", "block \"u\" is not determined", -1.0},
      {"  u: {type: signal, formula: blocks.v}\n  v: {type: signal, formula: blocks.w + 1}\n"
       "  w: {type: gain, input: blocks.u, gain: 1}\n",
       "in a loop with u, v is not determined", -1.0},
      {"  u: {type: signal, formula: blocks.s + 1}\n"
       "  s: {type: linear, D: [[1]], inputs: [blocks.u]}\n",
       "block \"u\" in a loop with s.u1, s is not determined", -1.0},
      {"  u: {type: signal, formula: 2*bodies.m.acceleration.x + 1}\n",
       "block \"u\" is not determined", -1.0},
      {"  u: {type: signal, formula: 20*t*blocks.u + 1}\n", "block \"u\" is not determined", 0.04},
      {"  u: {type: signal, formula: \"if(t > 0.053, blocks.u + 1, 3)\"}\n",
       "block \"u\" is not determined", 0.05},
      {"  u: {type: signal, formula: \"if(t > 0.053, 2*bodies.m.acceleration.x + 1, 3)\"}\n",
       "block \"u\" is not determined", 0.05},
      {"  u: {type: signal, formula: blocks.u^2 + 1}\n", "block \"u\" still changes", -1.0},
      {"  u: {type: signal, formula: blocks.u^2 + 3*t}\n", "block \"u\" still changes", 0.05},
  };
  expect_endings(cases, sizeof cases / sizeof cases[0]);
}

/// Formulas that are no numbers from some time on: the block and the time are named, what was reached is kept.
static void test_no_numbers(void **state) {
  (void)state;
  static const ending cases[] = {
      {"  u: {type: signal, formula: sqrt(0.053 - t)}\n",
       "At t = 0.06 s block \"u\" cannot be evaluated: The formula of block \"u\": sqrt(-0.007) is "
       "not a number",
       0.05},
      {"  u: {type: state, rate: log(0.053 - t)}\n", "block \"u\" cannot be evaluated", 0.05},
      {"  u: {type: sampled, period: 0.01, formula: sqrt(0.053 - t)}\n",
       "At t = 0.06 s block \"u\" cannot be evaluated: The formula of block \"u\": sqrt(-0.007)",
       0.05},
      {"  u: {type: sampled, period: 0.01, formula: blocks.v}\n"
       "  v: {type: signal, formula: \"sqrt(0.053 - t) + 0*blocks.w\"}\n"
       "  w: {type: sampled, period: 0.01, formula: 1}\n",
       "At t = 0.06 s block \"v\" cannot be evaluated", 0.05},
      {"  u: {type: linear, A: [[1e200]], B: [[1e200]], C: [[1e-300]], inputs: [1], period: "
       "0.01}\n",
       "block \"u\" cannot be evaluated", 0.0},
      {"  u: {type: product, input: 1, over: \"if(t > 0.053, 0, 1)\"}\n",
       "block \"u\" cannot be evaluated: The formula of block \"u\": 1 / 0 is not a number", 0.05},
      {"  u: {type: transfer_function, input: \"if(t > 0.053, sqrt(-t), 1)\", numerator: [1], "
       "denominator: [1, 1]}\n",
       "block \"u\" cannot be evaluated: Input 1 of block \"u\": sqrt(-0.053) is not a number",
       0.05},
      {"  u: {type: linear, A: [[1e6]], B: [[1e300]], C: [[1e300]], inputs: [1e10]}\n",
       "the rate of block \"u.x1\" is infinite", -1.0},
  };
  expect_endings(cases, sizeof cases / sizeof cases[0]);
}

/// The torque that gives a joint its acceleration is not determined while `start` holds the joint, but the machine is
/// assembled: it starts where one that is drawn there does.
static void test_start_in_loop(void **state) {
  (void)state;
  static const char format[] =
      "alphastep: 1\ngravity: [0, -9.81, 0]\n"
      "bodies: {b: {mass: 2, inertia: [1, 1, 0.1], position: [%s, 0], rotation: {axis: [0, 0, 1], "
      "angle: %s}}}\n"
      "joints: {pin: {type: revolute, bodies: [ground, b], point: [0, 0, 0], axis: [0, 0, 1]%s}}\n"
      "forces: {d: {type: actuator, joint: pin, force: blocks.torque}}\n"
      "blocks:\n"
      "  wanted: {type: signal, formula: 3 - 0.5*joints.pin.angle_rate}\n"
      "  torque: {type: signal, formula: blocks.torque + 0.2*(blocks.wanted - "
      "bodies.b.angular_acceleration.z)}\n"
      "simulate: {t_end: 1, step: 1e-2}\n";
  static const char *const drawn[2][3] = {
      {"0.3, 0", "0", ", start: {angle: 0.5, angle_rate: 0.2}"},
      {"0.3*cos(0.5), 0.3*sin(0.5)", "0.5", ", start: {angle: 0, angle_rate: 0.2}"}};
  double torque[2];
  for (int i = 0; i < 2; ++i) {
    char text[2048];
    as_machine *machine = NULL;
    as_messages messages;
    as_integrator *integrator = NULL;
    as_error error;
    snprintf(text, sizeof text, format, drawn[i][0], drawn[i][1], drawn[i][2]);
    if (as_machine_parse(text, strlen(text), "t.yaml", NULL, 0, &machine, &messages))
      fail_msg("%s", messages.message[0].text);
    const as_model *m = machine->model;
    if (as_integrator_create(as_model_problem(m), &machine->simulation.integrator, &integrator,
                             &error) ||
        as_integrator_start(integrator, as_model_initial(m), NULL, &error))
      fail_msg("%s", error.message);
    const as_state *at = as_integrator_state(integrator);
    torque[i] = as_model_signal_value(m, at, as_model_find_signal(m, "torque", NULL));
    // J w' = T - m g r cos(angle), w' = 3 - 0.5 w
    const double expected = (0.1 + 2.0 * 0.09) * (3.0 - 0.1) + 2.0 * 9.81 * 0.3 * 0.87758256189037;
    assert_true(torque[i] > expected - 1e-9 && torque[i] < expected + 1e-9);
    as_integrator_destroy(integrator);
    as_machine_destroy(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),          cmocka_unit_test(test_linear),
      cmocka_unit_test(test_numbers),        cmocka_unit_test(test_templates),
      cmocka_unit_test(test_method),         cmocka_unit_test(test_together),
      cmocka_unit_test(test_singular_loops), cmocka_unit_test(test_no_numbers),
      cmocka_unit_test(test_start_in_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
