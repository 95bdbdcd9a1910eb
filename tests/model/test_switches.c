/// Blocks that switch where a condition begins to hold: against closed forms, by each method, by builder and file.
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

static const double pi = 3.14159265358979323846;

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

static int order(as_event *event, void *user) {
  (void)user;
  event->u[0] = 1.0; // the first parameter
  return AS_EVENT_CHANGE | AS_EVENT_STOP;
}
static const as_event_def at_given_time = {.period = 10.0, .offset = 0.61, .act = order};

/// `step` 0: automatic steps. With parameters, the first one becomes 1 at 0.61 s, where advancing stops.
static plant start_by(const char *text, double step, as_method method) {
  plant p = {.machine = parse(text)};
  as_integrator_def def = p.machine->simulation.integrator;
  def.step = step > 0.0 ? step : (double)NAN;
  def.method = method;
  const as_model *m = p.machine->model;
  def.events = &at_given_time;
  def.n_events = strstr(text, "parameters") != NULL;
  if (as_integrator_create(as_model_problem(m), &def, &p.integrator, &p.error) ||
      as_integrator_start(p.integrator, as_model_initial(m), NULL, &p.error))
    fail_msg("%s", p.error.message);
  return p;
}

static plant start(const char *text, double step) { return start_by(text, step, AS_METHOD_INDEX2); }

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

static void assert_near(const char *what, double got, double wanted, double tolerance) {
  if (!(fabs(got - wanted) <= tolerance))
    fail_msg("%s: %.17g, not %.17g: off by %g", what, got, wanted, got - wanted);
}

static void expect(const char *text, int line, int column, const char *words) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages) == AS_OK)
    fail_msg("no complaint, but there should be: %s", words);
  for (int i = 0; i < messages.n; ++i)
    if (strstr(messages.message[i].text, words) && messages.message[i].line == line &&
        (column == 0 || messages.message[i].column == column))
      return;
  fail_msg("%d:%d: %s, not: %s", messages.message[0].line, messages.message[0].column,
           messages.message[0].text, words);
}

#define CART                                                                                       \
  "alphastep: 1\n"                                                                                 \
  "bodies: {cart: {type: point, mass: 2, position: [1, 0, 0]}}\n"                                  \
  "simulate: {t_end: 1, step: 0.013}\n"

// ---- by closed forms --------------------------------------------------------------------------------

/// x'' = -1 from where x passes 0.5 upwards, x'' = 1 from where it passes -0.5 downwards: parabolas.
static void oscillate(double until, double *x, double *v) {
  double t = 0.0, a = -1.0;
  *x = 1.0;
  *v = 0.0;
  for (;;) {
    const double limit = 0.5 * a, root = sqrt(*v * *v - 2.0 * a * (*x - limit));
    const double left = fmax((-*v + root) / a, (-*v - root) / a);
    const bool last = t + left > until;
    const double s = last ? until - t : left;
    *x += *v * s + 0.5 * a * s * s;
    *v += a * s;
    t += s;
    a = -a;
    if (last) return;
  }
}

static const char *const held =
    CART "forces: {f: {type: load, body: cart, force: [2*blocks.u, 0, 0]}}\n"
         "blocks:\n"
         "  u: {type: held, when: [bodies.cart.position.x > 0.5, -0.5 - bodies.cart.position.x], "
         "to: [-1, 1]}\n";
static const char *const hysteresis =
    CART "forces: {f: {type: load, body: cart, force: [2*blocks.u, 0, 0]}}\n"
         "blocks:\n"
         "  u: {type: hysteresis, input: bodies.cart.position.x, lower: -0.5, upper: 0.5, off: 1, "
         "on: -1}\n";

/// Switches are where they are, not at the ends of steps: parabolas are exact by each method.
static void test_oscillator(void **state) {
  (void)state;
  static const as_method method[] = {AS_METHOD_INDEX2, AS_METHOD_INDEX3, AS_METHOD_SOI2};
  for (int k = 0; k < 8; ++k) {
    const bool block = k >= 6;
    const double step = k % 2 ? 0.013 : 0.0;
    plant p = start_by(block ? hysteresis : held, step, method[block ? 0 : k / 2]);
    for (int i = 1; i <= 40; ++i) {
      double x, v;
      oscillate(0.5 * i, &x, &v);
      const as_state *s = advance(&p, 0.5 * i);
      assert_near("x", s->q[0], x, 2e-10);
      assert_near("v", s->v[0], v, 2e-10);
      assert_near("a", s->vdot[0], value(&p, "u", NULL), 1e-11);
    }
    assert_true(as_integrator_event(p.integrator).count >= 4);
    stop(&p);
  }
}

/// Where conditions begin to hold, by several forms of the same: held by `to: t`.
static void test_conditions(void **state) {
  (void)state;
  const double root = asin(0.5) / 3.0;
  static const char *const when[] = {
      "sin(3*t) > 0.5",
      "0.5 < sin(3*t)",
      "sin(3*t) - 0.5",
      "(sin(3*t) >= 0.5)*(t < 0.9)",
      "(sin(3*t) >= 0.5)*(t > 0.01)",
      "max(sin(3*t) > 0.5, t > 0.6)",
      "(sin(3*t) > 0.5) == 1",
      "if(t < 10, 0.5 <= sin(3*t), 0)",
      "blocks.y > 0.5",
  };
  for (int i = 0; i < (int)(sizeof when / sizeof when[0]); ++i)
    for (int automatic = 0; automatic < 2; ++automatic) {
      char text[1024];
      snprintf(text, sizeof text,
               CART "blocks:\n  at: {type: held, start: -1, when: \"%s\", to: t}\n"
                    "  y: {type: signal, formula: sin(3*t)}\n",
               when[i]);
      plant p = start(text, automatic ? 0.0 : 0.03);
      advance(&p, 0.1);
      assert_near(when[i], value(&p, "at", NULL), -1.0, 0.0);
      advance(&p, 1.0);
      assert_near(when[i], value(&p, "at", NULL), root, 1e-13);
      stop(&p);
    }
}

/// Jumps count, and what follows from them at the same time, in any order in the file.
static void test_jumps(void **state) {
  (void)state;
  plant p = start(
      CART "parameters: {wish: 0}\n"
           "events: {order: {every: 10, set: {wish: 1}}}\n"
           "blocks:\n"
           "  last: {type: held, start: -1, when: blocks.second > 0.5, to: blocks.second + t}\n"
           "  second: {type: held, when: blocks.first > 0.5, to: 2*blocks.first}\n"
           "  first: {type: held, when: \"blocks.jump > 0.5\", to: 3}\n"
           "  jump: {type: step, time: 0.25}\n"
           "  sample: {type: sampled, period: 0.1, offset: 0.05, formula: t > 0.4}\n"
           "  sampled: {type: held, when: blocks.sample, to: t}\n"
           "  ordered: {type: held, when: wish > 0, to: t}\n"
           "  there: {type: held, when: 1, to: 7}\n"
           "  same: {type: held, when: 1, to: 0}\n"
           "  early: {type: held, start: -1, when: t > 0.8, to: blocks.one}\n"
           "  one: {type: held, when: t > 0.8, to: 5}\n"
           "  two: {type: held, when: t > 0.8, to: blocks.one + blocks.state}\n"
           "  state: {type: state, rate: 0, when: t > 0.8, to: 100}\n"
           "  three: {type: held, when: t > 0.8, to: blocks.state}\n"
           "  count: {type: held, when: [blocks.jump, blocks.sample, wish], to: [blocks.count + 1, "
           "blocks.count + 1, blocks.count + 1]}\n",
      0.017);
  assert_near("there", value(&p, "there", NULL), 7.0, 0.0);
  advance(&p, 0.2);
  assert_near("last", value(&p, "last", NULL), -1.0, 0.0);
  advance(&p, 0.3);
  assert_near("first", value(&p, "first", NULL), 3.0, 0.0);
  assert_near("second", value(&p, "second", NULL), 6.0, 0.0);
  assert_near("last", value(&p, "last", NULL), 6.25, 1e-12);
  assert_int_equal(as_integrator_advance(p.integrator, 1.0, &p.error), AS_STOPPED);
  assert_near("ordered", value(&p, "ordered", NULL), 0.61, 1e-12); // at once
  advance(&p, 1.0);
  assert_near("early", value(&p, "early", NULL), 0.0, 0.0);
  assert_near("two", value(&p, "two", NULL), 5.0, 0.0);
  assert_near("three", value(&p, "three", NULL), 0.0, 0.0);
  assert_near("state", value(&p, "state", NULL), 100.0, 0.0);
  // there, same, last, second, first, sampled, ordered, the event, three times count, five at 0.8 s
  assert_int_equal(as_integrator_event(p.integrator).count, 16);
  assert_near("sampled", value(&p, "sampled", NULL), 0.45, 1e-12);
  assert_near("ordered", value(&p, "ordered", NULL), 0.61, 1e-12);
  assert_near("count", value(&p, "count", NULL), 3.0, 0.0);
  stop(&p);
}

/// What the motion decides at zero waits for what is beyond it: at the start the relay is on, so the cart moves back.
static void test_start_at_zero(void **state) {
  (void)state;
  plant p = start(CART "forces: {f: {type: load, body: cart, force: [2*blocks.u, 0, 0]}}\n"
                       "blocks:\n"
                       "  n: {type: held, when: bodies.cart.velocity.x > 0, to: blocks.n + 1}\n"
                       "  u: {type: hysteresis, input: bodies.cart.position.x, lower: -0.5, upper: "
                       "0.5, off: 1, on: -1}\n",
                  0.01);
  assert_near("n", value(&p, "n", NULL), 0.0, 0.0);
  advance(&p, 0.5);
  assert_near("n", value(&p, "n", NULL), 0.0, 0.0);
  advance(&p, 4.0); // back at v = 0 after 2 sqrt(3)
  assert_near("n", value(&p, "n", NULL), 1.0, 0.0);
  stop(&p);
}

/// The integral of cos(t) from 0 on, between -0.1 and 0.7.
static double limited(double t) {
  const double turn = fmod(t, 2.0 * pi);
  const double start =
      t < 2.0 * pi ? 0.0 : 0.9; // x = start + sin: from 0, later from -0.1 - sin(3 pi/2)
  if (turn < asin(0.7 - (t < 2.0 * pi ? 0.0 : 0.0)) && t < 2.0 * pi) return start + sin(t);
  if (turn < 0.5 * pi) return t < 2.0 * pi || turn > asin(-0.2) ? 0.7 : start + sin(t);
  if (turn < pi - asin(0.2)) return -0.3 + sin(t);
  if (turn < 1.5 * pi) return -0.1;
  return turn < 2.0 * pi + asin(-0.2) ? 0.9 + sin(t) : 0.7;
}

static void test_integrator(void **state) {
  (void)state;
  static const char *const text = CART
      "blocks:\n"
      "  x: {type: located_integrator, input: cos(t), lower: -0.1, upper: 0.7}\n"
      "  saw: {type: located_integrator, input: 2, start: 0.5, reset: blocks.saw >= 1, to: -1}\n"
      "  after: {type: located_integrator, input: 1 + t, reset: t > 0.7, to: 2 + blocks.saw}\n";
  double error[2] = {0.0, 0.0};
  for (int k = 0; k < 3; ++k) {
    const double step = k == 2 ? 0.0 : 0.04 / (k + 1);
    plant p = start(text, step);
    for (int i = 1; i <= 60; ++i) {
      const double t = 0.25 * i;
      advance(&p, t);
      const double off = fabs(value(&p, "x", NULL) - limited(t));
      if (k < 2) error[k] = fmax(error[k], off);
      if (k == 2 && off > 1e-4) fail_msg("x at %g s is off by %g", t, off);
      // From 0.5 to 1 in 0.25 s, then from -1 to 1 each second.
      assert_near("saw", value(&p, "saw", NULL), i == 1 ? -1.0 : -1.0 + 2.0 * fmod(t - 0.25, 1.0),
                  i % 4 == 1 ? 2.0 : 1e-11);
    }
    // 0.7 s: saw = -1 + 2 0.45
    const double t = 15.0, since = t + 0.5 * t * t - 0.7 - 0.5 * 0.49;
    assert_near("after", value(&p, "after", NULL), 2.0 - 1.0 + 0.9 + since, 1e-9);
    stop(&p);
  }
  if (!(error[0] < 2e-4 && error[1] < 0.35 * error[0] && error[1] > 1e-9))
    fail_msg("the integral is off by %g and %g", error[0], error[1]);
}

/// A ramp against limits: straight lines are exact, so is where they end.
static void test_saturation_and_backlash(void **state) {
  (void)state;
  plant p = start(CART "blocks:\n"
                       "  s: {type: located_saturation, input: 2*sin(3*t), lower: -1, upper: 1.5}\n"
                       "  b: {type: backlash, input: sin(t), rate: cos(t), width: 0.4}\n"
                       "  o: {type: backlash, input: 1 + sin(t), rate: cos(t), width: 0.4}\n"
                       "  r: {type: relay, input: sin(2*t)}\n"
                       "  turns: {type: held, when: \"-blocks.b.side*cos(t) > 0\", to: t}\n",
                  0.0137);
  double y = 0.0, o = 0.8;
  for (int i = 1; i <= 12000; ++i) { // the play, followed by small steps
    const double t = 1e-3 * i;
    y = fmax(sin(t) - 0.2, fmin(sin(t) + 0.2, y));
    o = fmax(0.8 + sin(t), fmin(1.2 + sin(t), o));
    if (i % 350) continue;
    advance(&p, t);
    assert_near("s", value(&p, "s", NULL), fmax(-1.0, fmin(1.5, 2.0 * sin(3.0 * t))), 1e-12);
    assert_near("b", value(&p, "b", NULL), y, 1e-6);
    assert_near("o", value(&p, "o", NULL), o, 1e-6);
    assert_near("r", value(&p, "r", NULL), sin(2.0 * t) > 0.0 ? 1.0 : -1.0, 0.0);
  }
  // It rests at 0.8 behind pi/2, at -0.8 behind 3 pi/2.
  const double turned = value(&p, "turns", NULL); // from the upper side to rest
  assert_near("turns", cos(turned), 0.0, 1e-12);
  stop(&p);
}

// ---- order ------------------------------------------------------------------------------------------

/// A pendulum with a motor that a hysteresis switches, its current a state: second order in all variables across switches.
static const char *const pendulum =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {arm: {mass: 1.3, inertia: [0.2, 0.3, 0.25], position: [0.5, 0, 0]}}\n"
    "joints: {hinge: {type: revolute, bodies: [ground, arm], point: [0, 0, 0], axis: [0, 1, 0]}}\n"
    "forces: {motor: {type: actuator, joint: hinge, force: blocks.current}}\n"
    "blocks:\n"
    "  mode: {type: hysteresis, input: joints.hinge.angle, lower: 1.2, upper: 1.6, off: 2, on: "
    "-2}\n"
    "  current: {type: state, rate: 4*(blocks.mode - blocks.current)}\n"
    "simulate: {t_end: 1, step: 0.01}\n";

static void read_all(const as_state *s, double *out) {
  memcpy(out, s->q, 7 * sizeof(double));
  memcpy(out + 7, s->v, 6 * sizeof(double));
  memcpy(out + 13, s->vdot, 6 * sizeof(double));
  memcpy(out + 19, s->lambda, 5 * sizeof(double));
  out[24] = s->x[0];
  out[25] = s->y[0];
}

static void test_order(void **state) {
  (void)state;
  static const int part[] = {0, 7, 13, 19, 24, 25, 26};
  double at[4][26];
  for (int k = 0; k < 4; ++k) {
    plant p = start(pendulum, k == 3 ? 0.01 / 64.0 : 0.01 / (1 << k));
    read_all(advance(&p, 4.0), at[k]);
    if (as_integrator_event(p.integrator).count < 3)
      fail_msg("%ld switches", as_integrator_event(p.integrator).count);
    stop(&p);
  }
  for (int i = 0; i < 5; ++i) {
    double e[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; ++k)
      for (int j = part[i]; j < part[i + 1]; ++j) e[k] = fmax(e[k], fabs(at[k][j] - at[3][j]));
    const double order = log2(e[1] / e[2]);
    if (!(order > 1.7 && e[2] > 1e-12)) fail_msg("part %d: %g %g %g", i, e[0], e[1], e[2]);
  }
}

/// A switch that sets what is there already leaves every bit as it is, and happens once.
static void test_no_change(void **state) {
  (void)state;
  char text[2048];
  snprintf(text, sizeof text, "%s", pendulum);
  const char *more = "  idle: {type: held, when: sin(7*t) > 0.3, to: 0}\n", *end = "simulate:";
  char *at = strstr(text, end);
  snprintf(at, sizeof text - (size_t)(at - text), "%s%s", more, strstr(pendulum, end));
  plant p = start(pendulum, 0.01), q = start(text, 0.01);
  double a[26], b[26];
  read_all(advance(&p, 2.0), a);
  read_all(advance(&q, 2.0), b);
  assert_memory_equal(a, b, sizeof a);
  assert_true(as_integrator_event(q.integrator).count > as_integrator_event(p.integrator).count);
  stop(&p);
  stop(&q);
  plant r = start(CART "blocks: {same: {type: held, when: 1, to: 0}}\n", 0.01);
  advance(&r, 0.5);
  assert_int_equal(as_integrator_event(r.integrator).count, 1);
  stop(&r);
}

static void test_tangents(void **state) {
  (void)state;
  as_machine *machine = parse(
      CART "forces: {f: {type: load, body: cart, force: [blocks.s + blocks.r + blocks.b, 0, 0]}}\n"
           "blocks:\n"
           "  s: {type: located_saturation, input: bodies.cart.position.x, lower: -9, upper: 9}\n"
           "  r: {type: relay, input: bodies.cart.position.x, on: bodies.cart.velocity.x}\n"
           "  b: {type: backlash, input: bodies.cart.position.x, rate: bodies.cart.velocity.x, "
           "width: 1e-3}\n"
           "  i: {type: located_integrator, input: bodies.cart.position.x*blocks.s, gain: 2}\n");
  const as_initial *at = as_model_initial(machine->model);
  as_check_def def = as_default_check_def();
  as_error error;
  def.near = (as_point){.t = 0.3, .q = at->q, .v = at->v, .x = at->x, .u = at->u};
  def.spread = 0.3;
  def.tolerance = 2e-6;
  if (as_problem_check(as_model_problem(machine->model), &def, NULL, &error))
    fail_msg("%s", error.message);
  as_machine_destroy(machine);
}

// ---- what ends, what is saved -----------------------------------------------------------------------

/// A relay that slides along its limit has no end of switches: an error that names it.
static void test_sliding(void **state) {
  (void)state;
  plant p = start(CART "forces: {f: {type: load, body: cart, force: [-blocks.u, 0, 0]}}\n"
                       "blocks: {u: {type: relay, input: bodies.cart.position.x + "
                       "bodies.cart.velocity.x}}\n",
                  0.01);
  assert_int_equal(as_integrator_advance(p.integrator, 10.0, &p.error), AS_ERR_ZENO);
  assert_non_null(strstr(p.error.message, "\"blocks.u\" happens again and again"));
  assert_non_null(strstr(p.error.message, "hysteresis"));
  stop(&p);
  plant q = {.machine = parse(CART "blocks:\n"
                                   "  a: {type: held, when: blocks.b < 0.5, to: 1}\n"
                                   "  b: {type: held, when: [blocks.a > 0.5, blocks.a < 0.5], to: "
                                   "[1, 0]}\n"
                                   "  c: {type: held, when: blocks.b > 0.5, to: 1 - blocks.c}\n"
                                   "  d: {type: held, when: [blocks.c > 0.5, blocks.d > 0.5], to: "
                                   "[1, 0]}\n"
                                   "  e: {type: held, when: [blocks.e > 0.5, blocks.e < 0.5], to: "
                                   "[0, 1]}\n")};
  as_integrator_def def = q.machine->simulation.integrator;
  const as_model *m = q.machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &q.integrator, &q.error))
    fail_msg("%s", q.error.message);
  assert_int_equal(as_integrator_start(q.integrator, as_model_initial(m), NULL, &q.error),
                   AS_ERR_ZENO);
  assert_non_null(strstr(q.error.message, "\"blocks.e\""));
  stop(&q);
}

/// A formula without a value stops the run, and names the block; the state stays.
static void test_no_value(void **state) {
  (void)state;
  plant p = start(CART "blocks: {u: {type: held, when: t > 0.5, to: sqrt(0.1 - t)}}\n", 0.01);
  assert_int_not_equal(as_integrator_advance(p.integrator, 1.0, &p.error), AS_OK);
  assert_non_null(strstr(p.error.message, "blocks.u"));
  assert_near("u", value(&p, "u", NULL), 0.0, 0.0);
  stop(&p);
}

static void test_saved(void **state) {
  (void)state;
  plant p = start(pendulum, 0.0), q = start(pendulum, 0.0);
  for (int i = 0; i < 8; ++i) {
    size_t size = 0;
    advance(&p, 0.21 * (i + 1));
    if (as_integrator_save(p.integrator, NULL, &size, &p.error)) fail_msg("%s", p.error.message);
    void *bytes = malloc(size);
    if (as_integrator_save(p.integrator, bytes, &size, &p.error)) fail_msg("%s", p.error.message);
    if (as_integrator_load(q.integrator, bytes, size, &q.error)) fail_msg("%s", q.error.message);
    free(bytes);
    double a[26], b[26];
    read_all(advance(&p, 0.21 * (i + 2)), a);
    read_all(advance(&q, 0.21 * (i + 2)), b);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(as_integrator_event(p.integrator).count,
                     as_integrator_event(q.integrator).count);
  }
  stop(&p);
  stop(&q);
}

// ---- by the builder, and by a problem ---------------------------------------------------------------

static void test_builder(void **state) {
  (void)state;
  as_error error;
  as_builder *b = NULL;
  as_model *model = NULL;
  as_integrator *integrator = NULL;
  as_builder_create(&(as_model_def){.gravity = {0, 0, 0}}, &b, &error);
  as_signal_def x = as_default_signal_def(), n = as_default_signal_def(),
                y = as_default_signal_def();
  x.block = n.block = y.block = "saw";
  x.kind = AS_SIGNAL_STATE;
  x.formula = "1";
  n.kind = AS_SIGNAL_HELD;
  n.output = "teeth";
  y.output = "y";
  y.formula = "2*blocks.saw";
  as_body_def body = as_default_body_def();
  body.kind = AS_BODY_POINT;
  body.mass = 1.0;
  as_builder_declare_signal(b, "saw", NULL, &error);
  if (as_builder_add_body(b, &body, NULL, &error) || as_builder_add_signal(b, &x, NULL, &error) ||
      as_builder_add_signal(b, &n, NULL, &error) || as_builder_add_signal(b, &y, NULL, &error))
    fail_msg("%s", error.message);
  const as_setting set[] = {{NULL, "blocks.saw - 1"}, {"teeth", "blocks.saw.teeth + blocks.saw"}};
  as_switch_def def = as_default_switch_def();
  def.block = "saw";
  def.when = "blocks.saw.y > 2";
  def.set = set;
  def.n_set = 2;
  if (as_builder_add_switch(b, &def, &error)) fail_msg("%s", error.message);
  // What is wrong adds nothing.
  const struct {
    const char *block, *when;
    as_setting set;
    int n;
    const char *words;
  } wrong[] = {{"saw", "1 +", {NULL, "1"}, 1, "A condition of block \"saw\""},
               {"saw", "t > 1", {"y", "1"}, 1, "solved for"},
               {"saw", "t > 1", {"z", "1"}, 1, "has not been added"},
               {"saw", "t > 1", {NULL, "blocks.y"}, 1, "no block \"y\""},
               {"saw", "t > 1", {NULL, NULL}, 1, "to what"},
               {"saw", "t > 1", {NULL, "1"}, 0, "1 to 4 settings"},
               {"saw", NULL, {NULL, "1"}, 1, "needs a condition"},
               {"sow", "t > 1", {NULL, "1"}, 1, "no block \"sow\""}};
  for (int i = 0; i < (int)(sizeof wrong / sizeof wrong[0]); ++i) {
    as_switch_def bad = as_default_switch_def();
    bad.block = wrong[i].block;
    bad.when = wrong[i].when;
    bad.set = &wrong[i].set;
    bad.n_set = wrong[i].n;
    assert_int_equal(as_builder_add_switch(b, &bad, &error), AS_ERR_ARGUMENT);
    if (strstr(error.message, wrong[i].words) == NULL) fail_msg("%s", error.message);
  }
  n.formula = "1";
  n.output = "other";
  assert_int_equal(as_builder_add_signal(b, &n, NULL, &error), AS_ERR_ARGUMENT);
  if (as_builder_build(b, &model, &error)) fail_msg("%s", error.message);
  as_builder_destroy(b);
  as_integrator_def how = as_default_integrator_def();
  how.step = 0.03;
  if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
      as_integrator_advance(integrator, 3.5, &error))
    fail_msg("%s", error.message);
  const as_state *s = as_integrator_state(integrator);
  assert_near("saw", as_model_signal_value(model, s, as_model_find_signal(model, "saw", NULL)), 0.5,
              1e-12);
  assert_near("teeth", as_model_signal_value(model, s, as_model_find_signal(model, "saw", "teeth")),
              3.0, 1e-12);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

static int no_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}
static int fall(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->u[0];
  return AS_DONE;
}
static int above(const as_state *at, double *out, void *user) {
  *out = at->q[0] - *(const double *)user;
  return AS_DONE;
}
static int push(as_event *event, void *user) {
  (void)user;
  event->u[0] += 1.0;
  return AS_EVENT_CHANGE;
}
static int look(as_event *event, void *user) {
  *(int *)user = event->index;
  return AS_EVENT_CONTINUE;
}
static int early(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->t - 0.25;
  return AS_DONE;
}

/// A problem's own events, behind those of the integrator; `user` is the problem's unless they have one.
static void test_problem(void **state) {
  (void)state;
  double limit = 0.5;
  int seen = -1;
  as_error error;
  as_problem *problem;
  as_integrator *integrator;
  const as_space_part part = {AS_SPACE_RN, 1};
  as_event_def own = {
      .name = "push", .value = above, .direction = 1, .act = push, .condition = true};
  as_problem_def def = as_default_problem_def();
  def.parts = &part;
  def.n_parts = 1;
  def.mass = no_mass;
  def.force = fall;
  def.n_u = 1;
  def.events = &own;
  def.n_events = 1;
  def.user = &limit;
  if (as_problem_create(&def, &problem, &error)) fail_msg("%s", error.message);
  own.act = NULL; // it has been copied
  as_integrator_def how = as_default_integrator_def();
  const as_event_def other = {.value = early, .act = look, .user = &seen};
  how.step = 0.04;
  how.events = &other;
  how.n_events = 1;
  const double q = 0.0, v = 1.0;
  if (as_integrator_create(problem, &how, &integrator, &error) ||
      as_integrator_start(integrator, &(as_initial){.q = &q, .v = &v}, NULL, &error) ||
      as_integrator_advance(integrator, 1.0, &error))
    fail_msg("%s", error.message);
  assert_int_equal(seen, 0);
  const as_event_report report = as_integrator_event(integrator);
  assert_int_equal(report.index, 1);
  assert_int_equal(report.count, 2);
  assert_near("t", report.t, 0.5, 1e-12);
  assert_near("q", as_integrator_state(integrator)->q[0], 1.0 - 0.125, 1e-12);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  own.act = push;
  own.direction = 0;
  if (as_problem_create(&def, &problem, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "condition"));
  as_problem_destroy(problem);
  def.events = NULL;
  assert_int_equal(as_problem_create(&def, &problem, &error), AS_ERR_ARGUMENT);
}

// ---- files ------------------------------------------------------------------------------------------

static void test_own_template(void **state) {
  (void)state;
  plant p = start("templates:\n"
                  "  saw: {keys: {top: 1}, blocks: {value: {type: state, rate: 1, when: \"{} > "
                  "{top}\", to: \"{} - {top}\"}, n: {type: held, when: \"{} > {top}/2\", to: "
                  "\"{.n} + 1\"}}}\n" CART "blocks:\n"
                  "  u: {type: template, template: saw, with: {top: 0.5}}\n",
                  0.03);
  advance(&p, 1.6);
  assert_near("u", value(&p, "u", NULL), 0.1, 1e-12);
  assert_near("n", value(&p, "u", "n"), 3.0, 0.0);
  stop(&p);
}

static void test_mistakes(void **state) {
  (void)state;
  expect(CART "blocks:\n  u: {type: held, when: [t > 1, t > 2], to: 3}\n", 5, 0,
         "There are 2 conditions in `when`, but 1 formulas in `to`");
  expect(CART "blocks:\n  u: {type: held, when: t > 1}\n", 5, 0, "missing");
  expect(CART "blocks:\n  u: {type: state, rate: 1, to: 3}\n", 5, 0, "when");
  expect(CART "blocks:\n  u: {type: held, when: blocks.w > 1, to: 3}\n", 5, 25,
         "there is no block \"w\"");
  expect(CART "blocks:\n  u: {type: held, when: [t > 1, t > 2], to: [1, blocks.w]}\n", 5, 49,
         "there is no block \"w\"");
  expect(CART "blocks:\n  u: {type: hysteresis, input: t, lower: 1, upper: 1}\n", 5, 52,
         "the upper limit must be above the lower one, 1");
  expect(CART "blocks:\n  u: {type: backlash, input: t, width: 1}\n", 5, 0, "rate");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_oscillator),   cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_jumps),        cmocka_unit_test(test_start_at_zero),
      cmocka_unit_test(test_integrator),   cmocka_unit_test(test_saturation_and_backlash),
      cmocka_unit_test(test_order),        cmocka_unit_test(test_no_change),
      cmocka_unit_test(test_tangents),     cmocka_unit_test(test_sliding),
      cmocka_unit_test(test_no_value),     cmocka_unit_test(test_saved),
      cmocka_unit_test(test_builder),      cmocka_unit_test(test_problem),
      cmocka_unit_test(test_own_template), cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
