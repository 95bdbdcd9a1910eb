/// Machines with blocks against solutions that were computed without this library: quarter cars with and without an algebraic
/// loop, continuous and sampled; templates against closed forms; rest.
///
/// The values of the quarter cars are those of DOP853 with 1e-12, which Radau with 1e-9 confirms to 1e-8.
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
#include "expression/operation.h"
#include "rig.h"

static const double pi = 3.14159265358979323846;

static as_machine *parse(const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}

/// Channels at a time, by steps of a size.
static void run(as_machine *machine, double t, double step, const char *const *name, int n,
                double *out) {
  as_integrator *integrator = NULL;
  as_channels *channels = NULL;
  as_error error;
  as_integrator_def def = machine->simulation.integrator;
  def.step = step;
  const as_model *m = machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      as_integrator_advance(integrator, t, &error) ||
      as_channels_create(m, name, n, &channels, &error) ||
      as_channels_evaluate(channels, &(as_view){.state = as_integrator_state(integrator)}, out,
                           &error))
    fail_msg("%s", error.message);
  as_channels_destroy(channels);
  as_integrator_destroy(integrator);
}

// ---- quarter cars -----------------------------------------------------------------------------------

enum { MOST = 12 };

/// Errors fall by four when steps are halved, in every variable, and what is left after extrapolation is below `within` of the
/// sizes.
static void compare(as_machine *machine, double t, double step, const char *const *name, int n,
                    const double *expected, const double *size, double within) {
  double coarse[MOST], fine[MOST];
  run(machine, t, step, name, n, coarse);
  run(machine, t, step / 2.0, name, n, fine);
  for (int i = 0; i < n; ++i) {
    const double first = fabs(coarse[i] - expected[i]), second = fabs(fine[i] - expected[i]);
    assert_near(name[i], (4.0 * fine[i] - coarse[i]) / 3.0, expected[i], within * size[i]);
    if (first > 100.0 * within * size[i] && !(first > 3.4 * second && first < 4.6 * second))
      fail_msg("%s: errors %g, %g are not of second order", name[i], first, second);
  }
}

static as_machine *load(const char *file) {
  as_machine *machine = NULL;
  as_messages messages;
  char path[1024];
  snprintf(path, sizeof path, "%s/examples/machines/semi-active/%s", SOURCE_DIR, file);
  if (as_machine_load(path, NULL, 0, &machine, &messages)) fail_msg("%s", messages.message[0].text);
  return machine;
}

static const char *const of_car[] = {"bodies.body.position.z",
                                     "bodies.body.velocity.z",
                                     "bodies.wheel.position.z",
                                     "blocks.p_r",
                                     "blocks.i",
                                     "blocks.x1",
                                     "blocks.x2",
                                     "bodies.body.acceleration.z",
                                     "blocks.tension"};
static const double size_of_car[] = {0.026, 0.18, 0.021, 2.6e6, 0.92, 0.39, 0.19, 2.2, 1080.0};

static void test_continuous(void **state) {
  (void)state;
  static const double expected[] = {0.000642637492874813, 0.0172737029256085,  0.00705880753780502,
                                    748923.537123421,     0.00264595791051652, 0.30847933178041,
                                    0.0163530182462147,   0.966483498750013,   -333.26947833181976};
  as_machine *machine = load("model.yaml");
  compare(machine, 0.1, 4e-5, of_car, 9, expected, size_of_car, 3e-8);
  as_machine_destroy(machine);
}

static void test_sampled(void **state) {
  (void)state;
  static const double expected[] = {0.000642950837548603, 0.0172854000053543,  0.00705770985861639,
                                    749005.322296174,     0.00267796498060605, 0.308726542478234,
                                    0.0168469263660669,   0.9664742024828779,  -333.3024464453888};
  as_machine *machine = load("sampled.yaml");
  compare(machine, 0.1, 4e-5, of_car, 9, expected, size_of_car, 3e-8);
  as_machine_destroy(machine);
}

static void test_acceleration_loop(void **state) {
  (void)state;
  static const char *const name[] = {"bodies.s.position.z",
                                     "bodies.s.velocity.z",
                                     "bodies.u.position.z",
                                     "bodies.u.velocity.z",
                                     "blocks.x",
                                     "bodies.s.acceleration.z",
                                     "blocks.y"};
  static const double expected[] = {0.0203056519559459, -0.0746975865929548, -0.00883446147790221,
                                    0.11294901567479,   -0.0747729665748545, -0.677599043656592,
                                    430.309351137091};
  static const double size[] = {0.033, 0.18, 0.036, 0.5, 0.16, 1.5, 680.0};
  as_machine *machine = parse(
      "alphastep: 1\n"
      "parameters: {ks: 26000, cs: 300, kt: 280835, ct: 500, b: 4000, mv: 250, sigma: 0.8, Fm: "
      "900}\n"
      "bodies:\n"
      "  s: {type: point, mass: 400, position: [0, 0, 0.02]}\n"
      "  u: {type: point, mass: 45}\n"
      "forces:\n"
      "  up: {type: load, body: s, force: [0, 0, blocks.y - blocks.spring]}\n"
      "  down: {type: load, body: u, force: [0, 0, \"blocks.spring - blocks.y - "
      "kt*(bodies.u.position.z - blocks.road) - ct*(bodies.u.velocity.z - blocks.rate)\"]}\n"
      "blocks:\n"
      "  spring: {type: signal, formula: ks*(bodies.s.position.z - bodies.u.position.z) + "
      "cs*(bodies.s.velocity.z - bodies.u.velocity.z)}\n"
      "  y: {type: signal, formula: -Fm*tanh((b*blocks.x + mv*bodies.s.acceleration.z)/Fm)}\n"
      "  x: {type: state, rate: bodies.s.acceleration.z - sigma*blocks.x}\n"
      "  road: {type: signal, formula: 0.03*sin(2*pi*1.1*t) + 0.004*sin(2*pi*8*t)}\n"
      "  rate: {type: signal, formula: 2*pi*(0.033*cos(2*pi*1.1*t) + 0.032*cos(2*pi*8*t))}\n"
      "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n");
  compare(machine, 0.5, 1e-4, name, 7, expected, size, 3e-8);
  as_machine_destroy(machine);
}

// ---- templates --------------------------------------------------------------------------------------

/// What a block is at a time, and how far it may be off.
typedef struct expectation {
  const char *block;
  double value, within;
} expectation;

static const char all_templates[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "tables: {up: {points: [[0, 0], [1, 2], [2, 0]], interpolation: linear}}\n"
    "bodies: {m: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], angular_velocity: [0, 0, 2]}}\n"
    "frames: {f: {body: m, position: [0.1, 0, 0]}, g: {body: ground, position: [0, 0, 0]}}\n"
    "joints: {pin: {type: revolute, bodies: [ground, m], point: [0, 0, 0], axis: [0, 0, 1]}}\n"
    "blocks:\n"
    "  gain: {type: gain, input: t, gain: 2}\n"
    "  sum: {type: sum, input: blocks.gain, second: 1, third: 3, minus: t}\n"
    "  product: {type: product, input: t, second: 3, over: 2}\n"
    "  integrator: {type: integrator, input: t, gain: 2, start: 1}\n"
    "  limited: {type: limited_integrator, input: 1, lower: -0.2, upper: 0.2}\n"
    "  lowpass: {type: lowpass, input: 1, time_constant: 0.5}\n"
    "  derivative: {type: derivative, input: 3*t, time_constant: 0.1}\n"
    "  second: {type: second_order, input: 1, frequency: 1, damping: 0.25}\n"
    "  notch: {type: notch, input: \"sin(2*pi*t)\", frequency: 1, damping: 1, depth: 0}\n"
    "  lead: {type: lead_lag, input: 1, lead: 0.2, lag: 0.1, gain: 3}\n"
    "  pid: {type: pid, setpoint: 1, measured: 0.25, kp: 2, ki: 4, kd: 3, setpoint_weight: 0.5}\n"
    "  windup: {type: pid, setpoint: 1, measured: 0, kp: 1, ki: 10, upper: 2, tracking: 0.05}\n"
    "  saturation: {type: saturation, input: 3*t, lower: -1, upper: 1}\n"
    "  smooth: {type: smooth_saturation, input: t, lower: -1, upper: 3}\n"
    "  dead: {type: dead_zone, input: 3*t, lower: -1, upper: 1}\n"
    "  lookup: {type: lookup, input: t/2, table: up}\n"
    "  switch: {type: switch, condition: t > 0.5, input: 1, otherwise: 2}\n"
    "  delay: {type: delay, input: \"sin(t)\", time: 0.1}\n"
    "  step: {type: step, time: 0.3, before: 1, after: 5}\n"
    "  ramp: {type: ramp, slope: 2, time: 0.2, until: 0.7, before: 1}\n"
    "  sine: {type: sine, amplitude: 2, frequency: 0.3, phase: 0.5, mean: 1}\n"
    "  chirp: {type: chirp, from: 1, to: 2, time: 4}\n"
    "  pulse: {type: pulse, every: 0.4, width: 0.25, amplitude: 3}\n"
    "  table: {type: table, table: up}\n"
    "  hold: {type: sample_and_hold, input: t, period: 0.3}\n"
    "  quantiser: {type: quantiser, input: t, resolution: 0.4, period: 0.1}\n"
    "  acc: {type: accelerometer, frame: f, axis: x}\n"
    "  up: {type: accelerometer, frame: f, axis: z, bandwidth: 1}\n"
    "  gyro: {type: gyro, frame: f, axis: z}\n"
    "  distance: {type: distance, frame: f, other: g}\n"
    "  motor: {type: dc_motor, voltage: 12, speed: joints.pin.angle_rate, resistance: 2, "
    "inductance: "
    "0.5, constant: 0.1, gear: 3}\n"
    "  discrete: {type: discrete_pid, setpoint: 1, measured: t, kp: 2, ki: 4, kd: 0.5, period: "
    "0.1}\n"
    "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n";

static double discrete_pid(double t_end) {
  double integral = 0.0, before = 0.0, y = 0.0;
  for (int k = 0; 0.1 * k <= t_end; ++k) {
    const double e = 1.0 - 0.1 * k;
    y = 2.0 * e + integral + 0.4 * e + 0.5 * (e - before) / 0.1;
    integral += 0.4 * e;
    before = e;
  }
  return y;
}

static void test_templates(void **state) {
  (void)state;
  const double t = 0.95, w = 2.0 * pi, d = 0.25, wd = w * sqrt(1.0 - d * d);
  // Critically damped notch: sin(w t) - 2 w s/(s + w)^2 sin(w t); its transient is (w t) e^(-w t).
  const double notch = w * t * exp(-w * t) * 1.0;
  // 0.1 s behind by Pade's approximation: sine at 1 rad/s, and transients that have died away.
  const double phase = atan2(0.05, 1.0 - 0.01 / 12.0);
  // The integral settles where ki e = (raw - upper)/tracking: raw = upper + tracking ki.
  const double settled = 2.0;
  const double current = (12.0 - 0.3 * 2.0) / 2.0 * (1.0 - exp(-4.0 * t));
  const expectation all[] = {
      {"gain", 2.0 * t, 1e-12},
      {"sum", t + 4.0, 1e-12},
      {"product", 1.5 * t, 1e-12},
      {"integrator", 1.0 + t * t, 1e-5},
      {"limited", 0.2, 1e-12},
      {"lowpass", 1.0 - exp(-2.0 * t), 1e-5},
      {"derivative", 3.0 * (1.0 - exp(-10.0 * t)), 1e-5},
      {"second", 1.0 - exp(-d * w * t) * (cos(wd * t) + d * w / wd * sin(wd * t)), 1e-4},
      {"notch", notch, 1e-4},
      {"lead", 3.0 * (1.0 + exp(-10.0 * t)), 1e-4},
      {"pid", 2.0 * (0.5 - 0.25) + 4.0 * 0.75 * t + 3.0 * -0.25 / 0.01 * exp(-100.0 * t), 1e-5},
      {"windup", settled, 1e-12},
      {"saturation", 1.0, 1e-12},
      {"smooth", 1.0 + 2.0 * tanh((t - 1.0) / 2.0), 1e-12},
      {"dead", 3.0 * t - 1.0, 1e-12},
      {"lookup", t, 1e-12},
      {"switch", 1.0, 1e-12},
      {"delay", sin(t - 2.0 * phase), 1e-5},
      {"step", 5.0, 1e-12},
      {"ramp", 2.0, 1e-12},
      {"sine", 1.0 + 2.0 * sin(2.0 * pi * 0.3 * t + 0.5), 1e-12},
      {"chirp", sin(2.0 * pi * (t + t * t / 8.0)), 1e-12},
      {"pulse", 0.0, 1e-12},
      {"table", 2.0 * t, 1e-12},
      {"hold", 0.9, 1e-12},
      {"quantiser", 0.8, 1e-12},
      {"acc", -0.4, 1e-9},
      {"up", 9.81 * (1.0 - exp(-2.0 * pi * t)), 1e-4},
      {"gyro", 2.0, 1e-9},
      {"distance", 0.1, 1e-12},
      {"motor", 0.3 * current, 1e-5},
      {"discrete", discrete_pid(t), 1e-12},
  };
  as_machine *machine = parse(all_templates);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    char channel[64];
    double found;
    snprintf(channel, sizeof channel, "blocks.%s", all[i].block);
    const char *name = channel;
    run(machine, t, 1e-3, &name, 1, &found);
    assert_near(channel, found, all[i].value, all[i].within);
  }
  as_machine_destroy(machine);
}

// ---- more templates ---------------------------------------------------------------------------------

/// Logic, limits and counters.
static void test_logic(void **state) {
  (void)state;
  const double t = 0.95;
  as_machine *machine = parse(
      "alphastep: 1\n"
      "bodies: {m: {type: point, mass: 1}}\n"
      "blocks:\n"
      "  rate: {type: rate_limit, input: 5, rising: 2, falling: 1, start: 1}\n"
      "  down: {type: rate_limit, input: -5, rising: 2, falling: 1, start: 1}\n"
      "  above: {type: comparison, input: t, above: 0.9}\n"
      "  below: {type: comparison, input: 0.9, above: t}\n"
      "  and: {type: and, input: blocks.above, second: blocks.below}\n"
      "  or: {type: or, input: blocks.above, second: blocks.below}\n"
      "  not: {type: not, input: blocks.above}\n"
      "  latch: {type: latch, set: t > 0.3, reset: t < 0.1, period: 0.1}\n"
      "  loose: {type: latch, set: t < 0.3, reset: t > 0.5, period: 0.1}\n"
      "  kept: {type: latch, set: t < 0.3, reset: 0, period: 0.1}\n"
      "  count: {type: counter, input: \"mod(t, 0.2) < 0.1\", period: 0.05, offset: 0.025}\n"
      "  reset: {type: reset_integrator, input: 2, reset: t < 0.45, to: 3, tracking: 0.01}\n"
      "  dead: {type: smooth_dead_zone, input: 3*t, lower: -1, upper: 1, width: 0.5}\n"
      "  relay: {type: smooth_relay, input: t - 1, off: 1, on: 3, width: 0.1}\n"
      "  high: {type: smooth_hysteresis, input: 0, half_width: 1, time_constant: 0.01, "
      "start: 0.5}\n"
      "  waits: {type: smooth_hysteresis, input: 0.45, half_width: 0.5, time_constant: 0.001, "
      "start: -0.86}\n"
      "  flips: {type: smooth_hysteresis, input: 0.55, half_width: 0.5, time_constant: 0.001, "
      "start: -0.86}\n"
      "  back: {type: smooth_hysteresis, input: -0.55, half_width: 0.5, time_constant: 0.001, "
      "start: 0.86}\n"
      "  force: {type: force_actuator, command: 7, time_constant: 0.2, upper: 5}\n"
      "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n");
  // tanh(1.5 x) = x, and tanh(c u/b + 1.5 x) = x at u/b = 0.9 (not yet over) and 1.1
  double fixed = 0.9, waits = -0.9, flips = 0.9;
  const double c = 1.5 / sqrt(3.0) - atanh(1.0 / sqrt(3.0));
  for (int i = 0; i < 1000; ++i) {
    fixed = tanh(1.5 * fixed);
    waits = tanh(0.9 * c + 1.5 * waits);
    flips = tanh(1.1 * c + 1.5 * flips);
  }
  const expectation all[] = {
      {"rate", 1.0 + 2.0 * t, 1e-9},
      {"down", 1.0 - t, 1e-9},
      {"above", 1.0, 0.0},
      {"below", 0.0, 0.0},
      {"and", 0.0, 0.0},
      {"or", 1.0, 0.0},
      {"not", 0.0, 0.0},
      {"latch", 1.0, 0.0},
      {"loose", 0.0, 0.0},
      {"kept", 1.0, 0.0},
      {"count", 5.0, 0.0}, // from 0, 0.2, 0.4, 0.6 and 0.8 s on
      {"reset", 3.0 + 2.0 * 0.5, 5e-3},
      {"dead",
       (3.0 * t - 1.0 + hypot(3.0 * t - 1.0, 0.5) + 3.0 * t + 1.0 - hypot(3.0 * t + 1.0, 0.5)) /
           2.0,
       1e-12},
      {"relay", 2.0 + tanh((t - 1.0) / 0.1), 1e-12},
      {"high", fixed, 1e-9},
      {"waits", waits, 1e-8},
      {"flips", flips, 1e-8},
      {"back", -flips, 1e-8},
      {"force", 5.0 * (1.0 - exp(-5.0 * t)), 1e-5},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    char channel[64];
    double found;
    snprintf(channel, sizeof channel, "blocks.%s", all[i].block);
    const char *name = channel;
    run(machine, t, 1e-3, &name, 1, &found);
    assert_near(channel, found, all[i].value, all[i].within);
  }
  as_machine_destroy(machine);
}

/// Noise is decided by integers; the values are those of a computation in Python. Mean and deviation are those of a sample.
static void test_noise(void **state) {
  (void)state;
  enum { N = 1000 };
  double sum = 0.0, squares = 0.0;
  as_machine *machine = parse(
      "alphastep: 1\n"
      "bodies: {m: {type: point, mass: 1}}\n"
      "blocks: {n: {type: noise, seed: 7, period: 0.1}, three: {type: noise, "
      "seed: 8, mean: 2, deviation: 3, period: 0.2}, late: {type: noise, seed: 7, period: 0.1, "
      "offset: 0.05}}\n"
      "simulate: {t_end: 1, step: 0.05}\n");
  const char *const name[] = {"blocks.n", "blocks.three", "blocks.late"};
  double found[3];
  for (int k = 0; k < 9; ++k) { // an offset of half a period: each number once
    run(machine, 0.1 * k + 0.07, 0.05, name, 3, found);
    assert_near("noise", found[2], asi_random_normal(7.0, k), 0.0);
  }
  run(machine, 0.33, 0.05, name, 3, found);
  assert_near("noise", found[0], 0.02702932618558407, 0.0);
  assert_near("noise", found[1], 2.0 + 3.0 * -0.0966402783524245, 1e-15);
  as_machine_destroy(machine);
  for (int k = 0; k < N; ++k) {
    const double x = asi_random_normal(1.0, k);
    sum += x;
    squares += x * x;
  }
  assert_near("mean", sum / N, 0.0, 0.1);
  assert_near("variance", squares / N, 1.0, 0.15);
  assert_true(isnan(asi_random_normal(0.5, 1.0)));
}

/// Both chambers closed: p' = -+E A v/V exactly; y is the integral.
static void test_cylinder(void **state) {
  (void)state;
  as_machine *machine =
      parse("alphastep: 1\n"
            "bodies: {m: {type: point, mass: 1}}\n"
            "blocks: {c: {type: hydraulic_cylinder, position: 0.01*sin(3*t), speed: 0.03*cos(3*t), "
            "flow_a: 0, flow_b: 0, area_a: 2e-3, area_b: 1e-3, volume_a: 1e-4, volume_b: 2e-4, "
            "pressure_a: 5e6, pressure_b: 4e6}}\n"
            "simulate: {t_end: 1, step: 1e-3}\n");
  const char *const name[] = {"blocks.c.pressure_a", "blocks.c.pressure_b", "blocks.c"};
  // p_a' = -E d ln(V_a)/dt, so p_a = p_a(0) - E ln(V_a/V_a(0)), and likewise p_b.
  const double x = 0.01 * sin(1.5), E = 1.4e9;
  const double a = 5e6 - E * log(1.0 + 20.0 * x), b = 4e6 - E * log(1.0 - 5.0 * x);
  const double expected[] = {a, b, 2e-3 * a - 1e-3 * b}, size[] = {2.5e8, 7e7, 5e5};
  compare(machine, 0.5, 2e-3, name, 3, expected, size, 1e-8);
  as_machine_destroy(machine);
}

/// Strokes are prescribed; the values are those of Radau and DOP853, to 1e-7 of the largest.
static as_machine *damper(const char *stroke, const char *speed, const char *rest) {
  char text[2048];
  snprintf(text, sizeof text,
           "alphastep: 1\n"
           "bodies: {m: {type: point, mass: 1}}\n"
           "blocks: {d: {type: semi_active_damper, stroke: \"%s\", speed: \"%s\", %s}}\n"
           "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n",
           stroke, speed, rest);
  return parse(text);
}

static void test_damper(void **state) {
  (void)state;
  static const char *const name[] = {"blocks.d.rebound", "blocks.d.compression", "blocks.d"};
  static const double size[] = {4e6, 3e6, 2200.0};
  static const double of_step[] = {1097041.90265379, 1139352.48711642, -451.444597991392};
  static const double of_lag[] = {1968080.55651832, 1999254.36934686, -771.102052936419};
  static const double of_oil[] = {2932945.81975266, 2981419.08079448, -1155.36169124659};
  as_machine *machine =
      damper("0.03*sin(3*pi*t)", "0.09*pi*cos(3*pi*t)",
             "current: 0.2, rebound: 1278346.79930665, compression: 372751.270571529");
  compare(machine, 0.3, 2e-5, name, 3, of_step, size, 1e-7);
  as_machine_destroy(machine);
  machine = damper("0.005*sin(20*pi*t)", "0.1*pi*cos(20*pi*t)",
                   "current: 1, air: 0, rebound: 3126277.39686794, compression: 370237.477766399");
  compare(machine, 0.05, 1e-5, name, 3, of_oil, size, 1e-7);
  as_machine_destroy(machine);
  machine = damper("0.03*sin(3*pi*t)", "0.09*pi*cos(3*pi*t)",
                   "current: \"if(t < 0.4, 0.2, 1.4 - 1.2*exp((0.4 - t)/0.005))\", rebound: "
                   "1278346.79930665, compression: 372751.270571529");
  compare(machine, 0.41, 2e-5, name, 3, of_lag, size, 1e-7);
  as_machine_destroy(machine);
}

/// At rest the pressures are those at which nothing flows in or out: stroke, speed, current, both pressures and the tension, by bracketed
/// root finding to 1e-15.
static void test_damper_characteristic(void **state) {
  (void)state;
  static const double row[][6] = {
      {0.0, -2.0, 0, 1940629.59763984, 2275998.95455802, -1070.34175244585},
      {0.0, -0.6, 0.4, 1815711.84731537, 1913769.54331044, -781.289736502827},
      {0.0, 0.05, 0.8, 735905.785053105, 393329.303015806, 137.599436521668},
      {0.0, 2.0, 1.2, 5594533.5575679, 204509.69778621, 3429.62503738196},
      {0.0, -0.2, 1.6, 2607006.96508834, 2636905.33459418, -1012.59568689052},
      {0.0, 1.0, 1.6, 5307832.3558272, 303916.613459102, 3145.51343051639},
      {-0.06, 0.3, 0, 980762.452302467, 497068.382946511, 188.214330729426},
      {0.06, -0.3, 1.6, 3940645.45427253, 3984185.39230534, -1533.26542954097}};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
    char text[1024];
    as_analysis *analysis = NULL;
    as_equilibrium found;
    as_error error;
    const as_analysis_def def = as_default_analysis_def();
    snprintf(text, sizeof text,
             "alphastep: 1\n"
             "bodies: {m: {type: point, mass: 1}}\n"
             "forces: {hold: {type: spring, bodies: [ground, m], point: [0, 0, -1], second_point: "
             "[0, 0, 0], stiffness: 100}}\n"
             "blocks: {d: {type: semi_active_damper, stroke: %.17g, speed: %.17g, current: %.17g, "
             "rebound: 1e6, compression: 5e5}}\n"
             "simulate: {t_end: 1}\n",
             row[i][0], row[i][1], row[i][2]);
    as_machine *machine = parse(text);
    if (as_analysis_create(as_model_problem(machine->model), &def, &analysis, &error) ||
        as_analysis_equilibrium(analysis, as_model_initial(machine->model), &found, &error))
      fail_msg("row %d: %s", (int)i, error.message);
    const as_state *at = as_analysis_state(analysis);
    const double found_now[] = {at->x[0], at->x[1], at->y[0]};
    for (int k = 0; k < 3; ++k)
      if (!(fabs(found_now[k] - row[i][3 + k]) <= 1e-8 * fabs(row[i][3 + k])))
        fail_msg("row %d: %.15g is not %.15g", (int)i, found_now[k], row[i][3 + k]);
    as_analysis_destroy(analysis);
    as_machine_destroy(machine);
  }
}

// ---- rest -------------------------------------------------------------------------------------------

/// At rest states do not change: an integral controller carries the weight.
static void test_rest(void **state) {
  (void)state;
  as_machine *machine =
      parse("alphastep: 1\n"
            "gravity: [0, 0, -9.81]\n"
            "bodies: {m: {type: point, mass: 2, position: [0, 0, 0.3]}}\n"
            "forces: {lift: {type: load, body: m, force: [-bodies.m.position.x, "
            "-bodies.m.position.y, blocks.pid]}}\n"
            "blocks: {pid: {type: pid, setpoint: 0.5, measured: bodies.m.position.z, kp: 10, ki: "
            "4}}\n");
  as_analysis *analysis = NULL;
  as_equilibrium found;
  as_error error;
  const as_analysis_def def = as_default_analysis_def();
  if (as_analysis_create(as_model_problem(machine->model), &def, &analysis, &error) ||
      as_analysis_equilibrium(analysis, as_model_initial(machine->model), &found, &error))
    fail_msg("%s", error.message);
  const as_state *at = as_analysis_state(analysis);
  const as_signal_id integral = as_model_find_signal(machine->model, "pid", "integral");
  assert_near("z", at->q[2], 0.5, 1e-9);
  assert_near("integral", as_model_signal_value(machine->model, at, integral), 2.0 * 9.81, 1e-8);
  as_analysis_destroy(analysis);
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_acceleration_loop),
      cmocka_unit_test(test_continuous),
      cmocka_unit_test(test_sampled),
      cmocka_unit_test(test_templates),
      cmocka_unit_test(test_logic),
      cmocka_unit_test(test_noise),
      cmocka_unit_test(test_cylinder),
      cmocka_unit_test(test_damper),
      cmocka_unit_test(test_damper_characteristic),
      cmocka_unit_test(test_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
