/// Blocks and forces of plugins: twins of formulas and bushings, tangents, order, samples, events, saved states, failures, wrong
/// descriptions.
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
#include "alphastep/survey.h"
#include "files.h"
#include "plugins.h"
#include "rig.h"

/// A machine and its integrator, started, with the plugins' events.
typedef struct plant {
  as_machine *machine;
  as_integrator *integrator;
  as_error error;
} plant;

static plant start(const char *text, double step) {
  plant p = {.machine = plugins_parse(text)};
  as_event_def events[8];
  as_integrator_def def = p.machine->simulation.integrator;
  const as_model *m = p.machine->model;
  assert_true(as_model_events(m, NULL) <= 8);
  if (step > 0.0) def.step = step;
  def.events = events;
  def.n_events = as_model_events(m, events);
  if (as_integrator_create(as_model_problem(m), &def, &p.integrator, &p.error) ||
      as_integrator_start(p.integrator, as_model_initial(m), NULL, &p.error))
    fail_msg("%s", p.error.message);
  return p;
}

static const as_state *advance(plant *p, double t) {
  if (as_integrator_advance(p->integrator, t, &p->error)) fail_msg("%s", p->error.message);
  return as_integrator_state(p->integrator);
}

static void stop(plant *p) {
  as_integrator_destroy(p->integrator);
  as_machine_destroy(p->machine);
}

static double value(const plant *p, const char *block, const char *output) {
  const as_model *m = p->machine->model;
  const as_signal_id id = as_model_find_signal(m, block, output);
  if (id.index < 0) fail_msg("no block %s", block);
  return as_model_signal_value(m, as_integrator_state(p->integrator), id);
}

static void expect_refused(const char *text, int line, const char *words) {
  const as_messages *m = plugins_refused(text);
  for (int i = 0; i < m->n; ++i)
    if (strstr(m->message[i].text, words) && (line == 0 || m->message[i].line == line)) return;
  fail_msg("line %d: %s, not: %s", m->message[0].line, m->message[0].text, words);
}

// ---- twins ------------------------------------------------------------------------------------------

/// A mass on a spring that a block pushes; a sampled signal reads the block at the instant of its sample.
#define MASS                                                                                       \
  "alphastep: 1\n"                                                                                 \
  "bodies: {m: {type: point, mass: 2, position: [0.4, 0, 0], velocity: [0, 0, 0]}}\n"              \
  "forces: {push: {type: load, body: m, force: [\"-8*bodies.m.position.x + blocks.b + "            \
  "0.1*blocks.read\", 0, 0]}}\n"                                                                   \
  "simulate: {t_end: 1, step: 0.01, newton: {rtol: 1e-13}}\n"                                      \
  "blocks:\n"                                                                                      \
  "  read: {type: sampled, period: 0.05, formula: \"blocks.b.second + t\"}\n"
#define INPUTS "inputs: {p: bodies.m.position.x, v: bodies.m.velocity.x}"
#define PLUGIN(which, more)                                                                        \
  MASS "  b: {type: plugin, file: test_plugin.so, plugin: " which ", " INPUTS                      \
       ", parameters: {shift: 0.7}, period: 0.05" more "}\n"
/// The same by formulas, as a template.
#define TWIN(more)                                                                                 \
  MASS "  b: {type: template, template: wild}\n"                                                   \
       "templates:\n"                                                                              \
       "  wild:\n"                                                                                 \
       "    blocks:\n"                                                                             \
       "      one: {type: state, start: 0.3, rate: \"-{.one} + sin(bodies.m.position.x)*{.two} + " \
       "2*bodies.m.velocity.x\"}\n"                                                                \
       "      two: {type: state, start: -0.2, rate: \"-2*{.two} + {.one}*bodies.m.position.x + "   \
       "{.s} + "                                                                                   \
       "0.7*t\"}\n"                                                                                \
       "      s: {type: sampled, period: 0.05, start: 0.1, formula: \"0.5*{.s} + "                 \
       "bodies.m.position.x "                                                                      \
       "+ {.one}\"" more "}\n"                                                                     \
       "      value: {type: signal, formula: \"{.one}*{.two} - 3*bodies.m.position.x - "           \
       "bodies.m.velocity.x\"}\n"                                                                  \
       "      second: {type: signal, formula: \"{.s} + {.one}^2 + bodies.m.velocity.x^2\"}\n"

static void compare_twins(const char *one, const char *other) {
  static const char *const outputs[] = {NULL, "second", "one", "two", "s"};
  plant p = start(one, 0.0), q = start(other, 0.0);
  for (double t = 0.1; t < 1.05; t += 0.1) {
    const as_state *a = advance(&p, t), *b = advance(&q, t);
    assert_near("position", a->q[0], b->q[0], 1e-11);
    assert_near("acceleration", a->vdot[0], b->vdot[0], 1e-9);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; ++i)
      assert_near(outputs[i] ? outputs[i] : "", value(&p, "b", outputs[i]),
                  value(&q, "b", outputs[i]), 1e-10);
    assert_near("read", value(&p, "read", NULL), value(&q, "read", NULL), 1e-10);
  }
  stop(&p);
  stop(&q);
}

static void test_twins(void **state) {
  (void)state;
  compare_twins(PLUGIN("wild", ""), TWIN(""));
  compare_twins(PLUGIN("given", ""), TWIN(""));
  compare_twins(PLUGIN("given", ", delay: 0.02"), TWIN(", delay: 0.02"));
  compare_twins(PLUGIN("wild", ", offset: 0.03"), TWIN(", offset: 0.03"));
}

/// Starts: by `prepare`, by the file.
static void test_starts(void **state) {
  (void)state;
  plant p = start(PLUGIN("wild", ", start: {one: 0.5, s: 7}, offset: 0.03"), 0.0);
  assert_near("one", value(&p, "b", "one"), 0.5, 0.0);
  assert_near("two", value(&p, "b", "two"), -0.2, 1e-15);
  assert_near("s", value(&p, "b", "s"), 7.0, 0.0);
  advance(&p, 1.0);
  assert_near("count", value(&p, "b", "count"), 20.0, 0.0); // at 0.03, 0.08, ..., 0.98
  stop(&p);
}

// ---- tangents, order --------------------------------------------------------------------------------

static void test_tangents(void **state) {
  (void)state;
  static const char *const texts[] = {PLUGIN("wild", ""), PLUGIN("given", "")};
  for (int i = 0; i < 2; ++i) {
    as_machine *machine = plugins_parse(texts[i]);
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
}

/// Without samples: second order in q, v, v', x, y.
static void test_order(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "bodies: {m: {type: point, mass: 2, position: [0.4, 0, 0]}}\n"
      "forces: {push: {type: load, body: m, force: [\"-8*bodies.m.position.x + blocks.b\", 0, "
      "0]}}\n"
      "simulate: {t_end: 1, step: 0.01, newton: {rtol: 1e-13}}\n"
      "blocks: {b: {type: plugin, file: test_plugin.so, plugin: given, " INPUTS
      ", parameters: {shift: 0.7}, period: 0.05, offset: 100}}\n";
  static const double steps[] = {0.02, 0.01, 0.005};
  double found[3][6];
  for (int i = 0; i < 3; ++i) {
    plant p = start(text, steps[i]);
    const as_state *s = advance(&p, 1.0);
    const double list[6] = {s->q[0], s->v[0], s->vdot[0], s->x[0], s->x[1], value(&p, "b", NULL)};
    memcpy(found[i], list, sizeof list);
    stop(&p);
  }
  for (int k = 0; k < 6; ++k) {
    const double order = log2(fabs(found[0][k] - found[1][k]) / fabs(found[1][k] - found[2][k]));
    if (!(order > 1.8 && order < 2.3)) fail_msg("component %d: order %g", k, order);
  }
}

// ---- events, saved states ---------------------------------------------------------------------------

#define TRIANGLE                                                                                   \
  "alphastep: 1\n"                                                                                 \
  "bodies: {m: {type: point, mass: 2}}\n"                                                          \
  "forces: {push: {type: load, body: m, force: [blocks.b, 0, 0]}}\n"                               \
  "simulate: {t_end: 5, step: 0.03}\n"                                                             \
  "blocks: {b: {type: plugin, file: test_plugin.so, plugin: triangle}}\n"

/// A wave that goes up and down between -1 and 1 with rate 1.
static double triangle(double t) {
  const double x = fmod(t + 1.0, 4.0);
  return x < 2.0 ? x - 1.0 : 3.0 - x;
}

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)n, (void)error;
  *(double *)user = row[0];
  return AS_OK;
}

static void test_events(void **state) {
  (void)state;
  plant p = start(TRIANGLE, 0.0);
  assert_int_equal(as_model_events(p.machine->model, NULL), 2);
  for (double t = 0.25; t < 6.0; t += 0.5) {
    advance(&p, t);
    assert_near("level", value(&p, "b", NULL), triangle(t), 1e-9);
  }
  stop(&p);
  // A run adds the events by itself.
  as_machine *machine = plugins_parse(TRIANGLE);
  as_run_def def = as_default_run_def();
  as_run *run = NULL;
  as_error error;
  def.integrator = machine->simulation.integrator;
  def.t_end = 4.5;
  double last = 0.0;
  static const char *const channels[] = {"blocks.b"};
  def.channels = channels;
  def.n_channels = 1;
  if (as_run_create(machine->model, &def, &run, &error) ||
      as_run_go(run, keep_row, &last, NULL, &error))
    fail_msg("%s", error.message);
  assert_near("level of the run", last, triangle(4.5), 1e-9);
  as_run_destroy(run);
  as_machine_destroy(machine);
}

/// A run that is saved and taken up goes on in the same bits.
static void test_saved(void **state) {
  (void)state;
  static const char *const texts[] = {PLUGIN("wild", ", delay: 0.02"), TRIANGLE};
  for (int i = 0; i < 2; ++i) {
    plant p = start(texts[i], 0.0), q = start(texts[i], 0.0);
    size_t size = 0;
    advance(&p, 0.56);
    assert_int_equal(as_integrator_save(p.integrator, NULL, &size, &p.error), AS_OK);
    void *bytes = malloc(size);
    assert_int_equal(as_integrator_save(p.integrator, bytes, &size, &p.error), AS_OK);
    if (as_integrator_load(q.integrator, bytes, size, &q.error)) fail_msg("%s", q.error.message);
    const as_state *a = advance(&p, 3.3), *b = advance(&q, 3.3);
    assert_memory_equal(a->q, b->q, 3 * sizeof(double));
    assert_memory_equal(a->x, b->x, 2 * sizeof(double));
    if (i == 0) assert_memory_equal(a->u, b->u, 3 * sizeof(double));
    free(bytes);
    stop(&p);
    stop(&q);
  }
}

// ---- forces -----------------------------------------------------------------------------------------

#define BODIES                                                                                     \
  "alphastep: 1\n"                                                                                 \
  "gravity: [0.3, -0.2, -9.81]\n"                                                                  \
  "bodies:\n"                                                                                      \
  "  one: {mass: 1.5, inertia: [1, 1.2, 1.4], position: [0.2, 0.1, -0.3], angular_velocity: [1, "  \
  "-2, 0.5], velocity: [1, 0.2, -0.4]}\n"                                                          \
  "  two: {mass: 2, inertia: [1, 1.5, 1.1], space: se3, position: [1, -0.4, 0.3], velocity: "      \
  "[0.3, -1, 0.6], angular_velocity: [-0.7, 1.3, 0.6]}\n"                                          \
  "joints: {ball: {type: spherical, bodies: [ground, one], point: [0, 0, 0]}}\n"                   \
  "simulate: {t_end: 1, step: 0.01}\n"                                                             \
  "forces:\n"
#define PLACE "bodies: [one, two], point: [0.6, 0, 0.1], axis: [1, 2, -1], second_axis: [1, 0, 0]"
#define FORCE(which)                                                                               \
  BODIES "  f: {type: plugin, file: test_plugin.so, plugin: " which ", " PLACE "}\n"
#define BUSHING                                                                                    \
  BODIES "  f: {type: bushing, " PLACE                                                             \
         ", stiffness: [40, 40, 40, 10, 10, 10], damping: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]}\n"

static void test_force_twin(void **state) {
  (void)state;
  as_machine *one = plugins_parse(FORCE("bush_plain")), *other = plugins_parse(BUSHING);
  files_same_motion(one->model, other->model, AS_METHOD_INDEX2, 0.01, 60, 1e-9);
  as_machine_destroy(one);
  as_machine_destroy(other);
}

static void test_force_tangents(void **state) {
  (void)state;
  static const char *const texts[] = {FORCE("bush"), FORCE("bush_given")};
  for (int i = 0; i < 2; ++i) {
    as_machine *machine = plugins_parse(texts[i]);
    const as_initial *at = as_model_initial(machine->model);
    as_check_def def = as_default_check_def();
    as_error error;
    def.near = (as_point){.t = 0.3, .q = at->q, .v = at->v};
    def.spread = 0.5;
    def.tolerance = 2e-6;
    if (as_problem_check(as_model_problem(machine->model), &def, NULL, &error))
      fail_msg("%s", error.message);
    as_machine_destroy(machine);
  }
}

// ---- wrong derivatives ------------------------------------------------------------------------------

/// How many warnings of a survey have some words.
static int count_warnings(const char *text, const char *words) {
  as_machine *machine = plugins_parse(text);
  as_survey *survey = NULL;
  as_error error;
  int n = 0;
  if (as_survey_create(machine->model, &machine->simulation.integrator, 1.0, &survey, &error))
    fail_msg("%s", error.message);
  for (int i = 0; i < survey->n_warnings; ++i) n += strstr(survey->warning[i], words) != NULL;
  as_survey_destroy(survey);
  as_machine_destroy(machine);
  return n;
}

static void test_checker(void **state) {
  (void)state;
  const char *words = "the derivative of the rate of two by p";
  assert_int_equal(count_warnings(PLUGIN("wrong", ""), words), 1);
  assert_int_equal(count_warnings(PLUGIN("given", ""), "derivative"), 0);
  assert_int_equal(count_warnings(PLUGIN("wild", ""), "derivative"), 0);
  words = "gives 0 for the derivative of second by v";
  assert_int_equal(count_warnings(PLUGIN("narrow", ""), words), 1);
  words = "the derivative of its force along x by z'";
  assert_int_equal(count_warnings(FORCE("bush_wrong"), words), 1);
  assert_int_equal(count_warnings(FORCE("bush_given"), "derivative"), 0);
}

/// There is a loop by way of a block where `direct` says so.
static void test_loops(void **state) {
  (void)state;
  static const char *const inputs[] = {"p: blocks.b.second, v: 0", "p: 0, v: 0.1*blocks.b.second"};
  for (int i = 0; i < 2; ++i) {
    char text[1024];
    snprintf(text, sizeof text,
             "alphastep: 1\nbodies: {m: {type: point, mass: 2}}\nsimulate: {t_end: 1, step: 0.02}\n"
             "blocks: {b: {type: plugin, file: test_plugin.so, plugin: given, period: 0.1, "
             "parameters: {shift: 0}, inputs: {%s}}}\n",
             inputs[i]);
    plant p = start(text, 0.0);
    const as_model *m = p.machine->model;
    assert_int_equal(as_model_signal_loop(m, as_model_find_signal(m, "b", "second")) >= 0, i == 1);
    advance(&p, 0.3);
    const double v = i == 0 ? 0.0 : value(&p, "b", "v"), one = value(&p, "b", "one");
    assert_near("second", value(&p, "b", "second"), value(&p, "b", "s") + one * one + v * v, 1e-9);
    stop(&p);
  }
}

// ---- failures ---------------------------------------------------------------------------------------

static void test_failures(void **state) {
  (void)state;
  static const struct {
    int how;
    const char *words;
  } cases[] = {{1, "the plugin's rate x is no number"},
               {2, "the oil?is gone"},
               {3, "the oil?is gone"},
               {4, "the plugin's derivative is infinite"},
               {5, "the plugin's sample s is no number"},
               {6, "the plugin returned 5"},
               {7, "the plugin's new state x is no number"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char text[1024];
    snprintf(text, sizeof text,
             "alphastep: 1\nbodies: {m: {type: point, mass: 2}}\nsimulate: {t_end: 1, step: "
             "0.02}\nblocks: {\"my block\": {type: plugin, file: test_plugin.so, plugin: failing, "
             "period: 0.05, parameters: {how: %d}}}\n",
             cases[i].how);
    plant p = start(text, 0.0);
    const as_status status = as_integrator_advance(p.integrator, 1.0, &p.error);
    if (status == AS_OK) fail_msg("%d: it should fail", cases[i].how);
    if (!strstr(p.error.message, cases[i].words) || !strstr(p.error.message, "block \"my block\""))
      fail_msg("%d: %s", cases[i].how, p.error.message);
    assert_true(as_integrator_state(p.integrator)->t <= 0.31);
    stop(&p);
  }
}

static void test_mistakes(void **state) {
  (void)state;
#define BLOCK(keys) MASS "  b: {type: plugin, file: test_plugin.so, " keys "}\n"
  expect_refused(BLOCK("plugin: wilt, " INPUTS), 7, "no block \"wilt\"; did you mean \"wild\"?");
  expect_refused(BLOCK(INPUTS), 7, "has 6 blocks: say which one by `plugin:`");
  expect_refused(BLOCK("plugin: wild, period: 0.05, " INPUTS), 7,
                 "The parameter \"shift\" of block \"b\" is missing (added).");
  expect_refused(BLOCK("plugin: wild, " INPUTS ", parameters: {shift: 1}"), 7,
                 "needs a period: the plugin \"wild\" has sampled numbers");
  expect_refused(BLOCK("plugin: triangle, period: 1"), 0,
                 "has a period, but nothing of the plugin \"triangle\" is sampled");
  expect_refused(BLOCK("plugin: wild, period: 0.05, parameters: {shft: 1}, " INPUTS), 7,
                 "no parameter \"shft\"; did you mean \"shift\"?");
  expect_refused(BLOCK("plugin: wild, period: 0.05, parameters: {shift: 1}, inputs: {p: 1, w: 2}"),
                 7, "no input \"w\"");
  expect_refused(BLOCK("plugin: wild, period: 0.05, parameters: {shift: 1}, inputs: {p: 1}"), 7,
                 "Input \"v\" of block \"b\" is left open.");
  expect_refused(BLOCK("plugin: wild, period: 0.05, parameters: {shift: 1, gain: -1}, " INPUTS), 7,
                 "refuses the parameters of block \"b\": a gain of -1 is negative");
  expect_refused(BLOCK("plugin: wild, period: 0.05, delay: 0.05, parameters: {shift: 1}, " INPUTS),
                 7, "must be less than its period");
  expect_refused(
      BLOCK("plugin: wild, period: 0.05, parameters: {shift: 1}, start: {on: 1}, " INPUTS), 7,
      "no state \"on\"; did you mean \"one\"?");
  expect_refused(FORCE("bush_plane"), 9, "no force \"bush_plane\"; did you mean \"bush_plain\"?");
  // Formulas of inputs are told at their place.
  expect_refused(BLOCK("plugin: wild, period: 0.05, parameters: {shift: 1}, inputs: {p: "
                       "bodies.n.position.x, v: 0}"),
                 7, "there is no body \"n\"");
}

/// Descriptions that cannot be used.
static void test_descriptions(void **state) {
  (void)state;
  const as_plugin_block good = *plugins_block("triangle");
  as_plugin_quantity twice[2] = {{"a", NULL, 0, 0, NULL}, {"a", NULL, 0, 0, NULL}};
  as_plugin_quantity odd[2] = {{"a", NULL, 0, 0, NULL}, {"a b", NULL, 0, 0, NULL}};
  as_plugin_event event = {"e", 3, 0, NULL};
  as_plugin_block bad[9];
  for (int i = 0; i < 9; ++i) bad[i] = good;
  bad[0].name = "not a word";
  bad[1].n_states = -1;
  bad[2].n_outputs = 65;
  bad[3].state = NULL;
  bad[4].state = twice;
  bad[5].state = odd;
  bad[6].evaluate = NULL;
  bad[7].event = &event;
  bad[8].n_states = bad[8].n_outputs = bad[8].n_events = 0;
  static const char *const words[] = {
      "has no proper name",         "counts -1 inputs",         "counts 65 inputs",
      "that it does not list",      "has two quantities \"a\"", "without a proper name",
      "but no function `evaluate`", "is of output 3",           "has no states, no outputs"};
  for (int i = 0; i < 9; ++i) {
    as_builder *b = NULL;
    as_error error;
    assert_int_equal(as_builder_create(&(as_model_def){0}, &b, &error), AS_OK);
    as_plugin_block_def def = as_default_plugin_block_def();
    def.block = "b";
    def.plugin = &bad[i];
    assert_int_equal(as_builder_add_plugin_block(b, &def, &error), AS_ERR_ARGUMENT);
    if (!strstr(error.message, words[i])) fail_msg("%d: %s", i, error.message);
    def.plugin = &good; // the builder is as before
    if (as_builder_add_plugin_block(b, &def, &error)) fail_msg("%s", error.message);
    assert_int_equal(as_builder_add_plugin_block(b, &def, &error), AS_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "Two blocks write"));
    as_builder_destroy(b);
  }
}

/// A linear system that lets a sampled signal through is found anew at samples, too.
static void test_samples_by_way_of_blocks(void **state) {
  (void)state;
  plant p = start("alphastep: 1\n"
                  "bodies: {m: {type: point, mass: 2}}\n"
                  "simulate: {t_end: 1, step: 0.02}\n"
                  "blocks:\n"
                  "  u: {type: sampled, period: 0.1, formula: \"2*blocks.way\"}\n"
                  "  way: {type: linear, D: [[10]], inputs: [blocks.a]}\n"
                  "  a: {type: sampled, period: 0.1, formula: \"blocks.a + 1\"}\n",
                  0.0);
  advance(&p, 0.15);
  assert_near("u", value(&p, "u", NULL), 40.0, 0.0);
  stop(&p);
  // So are inputs and outputs of plugins: s+ = 0.5 s + p + one, with p = 10 a, and `second` by way of s.
  p = start("alphastep: 1\n"
            "bodies: {m: {type: point, mass: 2}}\n"
            "simulate: {t_end: 1, step: 0.02}\n"
            "blocks:\n"
            "  u: {type: sampled, period: 0.1, formula: blocks.b.second}\n"
            "  b: {type: plugin, file: test_plugin.so, plugin: given, inputs: {p: blocks.way, v: "
            "0}, period: 0.1, "
            "parameters: {shift: 0}, start: {one: 0, two: 0}}\n"
            "  way: {type: linear, D: [[10]], inputs: [blocks.a]}\n"
            "  a: {type: sampled, period: 0.1, formula: \"blocks.a + 1\"}\n",
            0.0);
  advance(&p, 0.05);
  assert_near("s", value(&p, "b", "s"), 0.05 + 10.0, 1e-15);
  assert_near("u by way of s", value(&p, "u", NULL), 0.05 + 10.0, 1e-15);
  stop(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_twins),        cmocka_unit_test(test_starts),
      cmocka_unit_test(test_tangents),     cmocka_unit_test(test_order),
      cmocka_unit_test(test_events),       cmocka_unit_test(test_saved),
      cmocka_unit_test(test_force_twin),   cmocka_unit_test(test_force_tangents),
      cmocka_unit_test(test_checker),      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_failures),     cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_descriptions), cmocka_unit_test(test_samples_by_way_of_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
