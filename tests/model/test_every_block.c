/// Every kind of block in a closed loop with a machine: second order in q, v, v', lambda, x and y, automatic steps, runs that
/// are taken up again, rest.
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

/// A pendulum with a spring, on which a block acts. What it reads is `IN`: time, angle, rate and acceleration.
static const char format[] =
    "alphastep: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "tables: {bend: {points: [[-3, -2], [-1, -1.2], [0, 0.1], [1, 0.9], [3, 2.5]], interpolation: "
    "spline}}\n"
    "templates: {own: {keys: {input: null, gain: 1}, blocks: {value: {type: signal, formula: "
    "\"{gain}*{.lag} + 0.1*{input}\"}, lag: {type: state, rate: \"{input} - {.lag}\"}}}}\n"
    "bodies: {b: {mass: 2, inertia: [1, 1, 0.4], position: [0.5, 0, 0]}}\n"
    "frames:\n"
    "  seat: {body: b, position: [0.2, 0.1, 0], rotation: {axis: [0, 0, 1], angle: 0.3}}\n"
    "  wall: {body: ground, position: [1.5, 1, 0]}\n"
    "joints: {pin: {type: revolute, bodies: [ground, b], point: [0, 0, 0], axis: [0, 0, 1]}}\n"
    "forces:\n"
    "  spring: {type: torsion, bodies: [ground, b], axis: [0, 0, 1], stiffness: 20, damping: 0.5}\n"
    "  drive: {type: actuator, joint: pin, force: \"%s\"}\n"
    "blocks:\n"
    "  in: {type: signal, formula: \"%s + 0.5*joints.pin.angle + 0.2*joints.pin.angle_rate + "
    "0.02*joints.pin.angle_acceleration\"}\n"
    "%s\n"
    "simulate: {t_end: 1, step: 1e-2, rho_inf: 0.7}\n";

#define IN "input: blocks.in"
typedef struct block {
  const char *text;
  const char *force; ///< the block's torque; NULL: 2 blocks.b
  double step;       ///< for the order [s]; 0: 0.01
  bool moves;        ///< it has sources or states that do not come to rest
} block;

/// Those that are smooth.
static const block smooth[] = {
    {"  b: {type: signal, formula: sin(blocks.in) + 0.1*tanh(blocks.b)}", NULL, 0.0, false},
    {"  b: {type: state, rate: \"cos(blocks.in) - 2*blocks.b\", start: 0.2}", NULL, 0.0, false},
    {"  b: {type: gain, " IN ", gain: 1.5}", NULL, 0.0, false},
    {"  b: {type: sum, " IN ", second: blocks.in^2, third: 0.1, minus: 0.3*blocks.b}", NULL, 0.0,
     false},
    {"  b: {type: product, " IN ", second: 1 + blocks.in, over: 2 + blocks.in^2}", NULL, 0.0,
     false},
    {"  b: {type: integrator, " IN ", gain: 2, start: 0.1}", NULL, 0.0, true},
    {"  b: {type: lowpass, " IN ", time_constant: 0.2, start: 0.1}", NULL, 0.0, false},
    {"  b: {type: derivative, " IN ", time_constant: 0.2}", NULL, 0.0, false},
    {"  b: {type: second_order, " IN ", frequency: 1, damping: 0.4}", NULL, 0.0, false},
    {"  b: {type: notch, " IN ", frequency: 1, depth: 0.2}", NULL, 0.0, false},
    {"  b: {type: lead_lag, " IN ", gain: 1.2, lead: 0.1, lag: 0.3}", NULL, 0.0, false},
    {"  b: {type: pid, setpoint: 0.2, measured: blocks.in, kp: 2, ki: 3, kd: 0.4, filter: 0.2, "
     "setpoint_weight: 0.7, derivative_weight: 0.3}",
     NULL, 0.0, false},
    {"  b: {type: smooth_saturation, " IN ", lower: -0.5, upper: 0.8}", NULL, 0.0, false},
    {"  b: {type: smooth_dead_zone, " IN ", lower: -0.1, upper: 0.2, width: 0.4}", NULL, 0.0,
     false},
    {"  b: {type: smooth_relay, " IN ", off: -0.5, on: 1, width: 0.5}", NULL, 0.0, false},
    {"  b: {type: smooth_hysteresis, " IN ", half_width: 0.5, time_constant: 0.2, start: 0.3}",
     NULL, 0.0, false},
    {"  b: {type: delay, " IN ", time: 0.2}", NULL, 0.0, false},
    {"  b: {type: transfer_function, " IN ", numerator: [0.2, 3, 20], denominator: [1, 8, 30, 40]}",
     NULL, 0.0, false},
    {"  b: {type: transfer_function, " IN ", numerator: [1, 3], denominator: [2, 8]}", NULL, 0.0,
     false},
    {"  b: {type: linear, A: [[-1, 2], [-3, -2]], B: [[1, 0], [0.5, 1]], C: [[1, 0.5]], D: [[0.1, "
     "0.2]], inputs: [blocks.in, 0.1*blocks.b]}",
     NULL, 0.0, false},
    {"  b: {type: butterworth, " IN ", order: 3, frequency: 1}", NULL, 0.0, false},
    {"  b: {type: butterworth, " IN ", order: 2, pass: high, frequency: 0.5}", NULL, 0.0, false},
    {"  b: {type: butterworth, " IN ", order: 2, pass: band, frequency: 0.5, upper: 1.5}", NULL,
     0.0, false},
    {"  b: {type: butterworth, " IN ", order: 1, pass: stop, frequency: 0.5, upper: 1.5}", NULL,
     0.0, false},
    {"  b: {type: sine, amplitude: 0.8, frequency: 0.7, phase: 0.3, mean: 0.1}", NULL, 0.0, true},
    {"  b: {type: chirp, amplitude: 0.8, from: 0.3, to: 1, time: 1}", NULL, 0.0, true},
    {"  b: {type: lookup, " IN ", table: bend}", NULL, 0.0, false},
    {"  b: {type: accelerometer, frame: seat, axis: y, bandwidth: 2}", "0.1*blocks.b", 0.0, false},
    {"  b: {type: accelerometer, frame: seat, axis: x}", "0.1*blocks.b", 0.0, false},
    {"  b: {type: gyro, frame: seat, axis: z, bandwidth: 2, delay: 0.1}", NULL, 0.0, false},
    {"  b: {type: encoder, joint: pin, delay: 0.1}", NULL, 0.0, false},
    {"  b: {type: distance, frame: seat, other: wall, bandwidth: 1}", NULL, 0.0, false},
    {"  b: {type: force_sensor, joint: pin, axis: x, bandwidth: 2}", "0.02*blocks.b", 0.0, false},
    {"  b: {type: force_sensor, joint: pin, axis: y}", "0.02*blocks.b", 0.0, false},
    {"  b: {type: dc_motor, voltage: 6*blocks.in, speed: joints.pin.angle_rate, resistance: 2, "
     "inductance: 0.2, constant: 0.3, gear: 2, inertia: 0.02, acceleration: "
     "joints.pin.angle_acceleration}",
     NULL, 0.0, false},
    {"  b: {type: force_actuator, command: blocks.in, time_constant: 0.1}", NULL, 0.0, false},
    {"  b: {type: hydraulic_cylinder, position: 0.1*joints.pin.angle, speed: "
     "0.1*joints.pin.angle_rate, flow_a: 1e-5*blocks.in, flow_b: -1e-5*blocks.in - "
     "1e-10*(blocks.b.pressure_b - 1e5), area_a: 1e-3, "
     "area_b: 8e-4, volume_a: 3e-4, volume_b: 3e-4, bulk_modulus: 1e8, leakage: 1e-10, pressure_a: "
     "1e5, pressure_b: 1e5}",
     "0.01*blocks.b", 0.005, false},
    {"  b: {type: semi_active_damper, stroke: 0.1*joints.pin.angle, speed: "
     "0.1*joints.pin.angle_rate, current: 0.3 + 0.1*blocks.in, rebound: 4e5, compression: 4e5}",
     "-0.01*blocks.b", 2e-5, false},
    {"  b: {type: semi_active_inverse, force: 300 + 100*blocks.in, speed: 0.2 + "
     "0.1*joints.pin.angle_rate, stroke: 0.1*joints.pin.angle}",
     NULL, 0.0, false},
    {"  b: {type: template, template: own, with: {" IN ", gain: 1.3}}", NULL, 0.0, false},
};
enum { N_SMOOTH = sizeof smooth / sizeof smooth[0] };

/// The others.
static const char *const others[] = {
    "  b: {type: sampled, period: 0.03, formula: blocks.in - 0.3*blocks.b, delay: 0.07}",
    "  b: {type: limited_integrator, " IN ", lower: -0.1, upper: 0.1}",
    "  b: {type: pid, setpoint: 0, measured: blocks.in, kp: 2, ki: 3, lower: -0.4, upper: 0.3}",
    "  b: {type: saturation, " IN ", lower: -0.2, upper: 0.3}",
    "  b: {type: dead_zone, " IN ", lower: -0.2, upper: 0.3}",
    "  b: {type: table, table: bend}",
    "  b: {type: switch, condition: blocks.in > 0.1, input: 1, otherwise: 0.5}",
    "  b: {type: step, time: 0.33}",
    "  b: {type: ramp, time: 0.33, slope: 2, until: 0.61}",
    "  b: {type: pulse, every: 0.22}",
    "  b: {type: sample_and_hold, " IN ", period: 0.03}",
    "  b: {type: quantiser, " IN ", period: 0.03, resolution: 0.1}",
    "  b: {type: discrete_pid, setpoint: 0.2, measured: blocks.in, kp: 2, ki: 3, kd: 0.01, period: "
    "0.03}",
    "  b: {type: linear, A: [[0.9, 0.1], [0, 0.8]], B: [[0.1], [0.2]], C: [[1, 1]], inputs: "
    "[blocks.in], period: 0.03, delay: 0.01}",
    "  b: {type: transfer_function, " IN
    ", numerator: [0.3], denominator: [1, -0.7], period: 0.03}",
    "  b: {type: comparison, " IN "}",
    "  b: {type: latch, set: blocks.in > 0.1, reset: blocks.in < -0.1, period: 0.03}",
    "  b: {type: counter, input: blocks.in > 0.1, period: 0.03}",
    "  b: {type: rate_limit, " IN ", rising: 0.5, falling: 0.4, tracking: 0.05}",
    "  b: {type: reset_integrator, " IN ", reset: blocks.in > 0.3, tracking: 0.05}",
    "  b: {type: noise, period: 0.03, offset: 0.015}",
    "  b: {type: filtered_noise, period: 0.03, frequency: 3}",
    "  b: {type: encoder, joint: pin, bandwidth: 5, period: 0.03, resolution: 0.01, noise: 0.05, "
    "delay: 0.02}",
};
enum { N_OTHERS = sizeof others / sizeof others[0] };

/// A machine with a block, and its integrator.
typedef struct plant {
  as_machine *machine;
  as_integrator *integrator;
  as_error error;
} plant;

static as_machine *parse(const char *text, const char *force, const char *source) {
  char all[8192];
  as_machine *machine = NULL;
  as_messages messages;
  snprintf(all, sizeof all, format, force ? force : "2*blocks.b", source, text);
  if (as_machine_parse(all, strlen(all), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}

static plant start(const char *text, const char *force, as_method method, double step,
                   double rtol) {
  plant p = {.machine = parse(text, force, "0.3*sin(3*t)")};
  as_integrator_def def = p.machine->simulation.integrator;
  def.method = method;
  def.step = step;
  if (isnan(step)) def.tolerance.rtol = rtol;
  const as_model *m = p.machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &p.integrator, &p.error) ||
      as_integrator_start(p.integrator, as_model_initial(m), NULL, &p.error))
    fail_msg("%s: %s", text, p.error.message);
  return p;
}

static const as_state *advance(plant *p, const char *text, double t) {
  if (as_integrator_advance(p->integrator, t, &p->error))
    fail_msg("%s: %s", text, p->error.message);
  return as_integrator_state(p->integrator);
}

static void stop(plant *p) {
  as_integrator_destroy(p->integrator);
  as_machine_destroy(p->machine);
}

// ---- order ------------------------------------------------------------------------------------------

enum { VARIABLES = 6, MOST = 32 };
static const char *const variables[VARIABLES] = {"q", "v", "v'", "lambda", "x", "y"};

typedef struct snapshot {
  double value[VARIABLES][MOST];
  int n[VARIABLES];
} snapshot;

static void take(const plant *p, snapshot *out) {
  const as_state *s = as_integrator_state(p->integrator);
  const as_problem *problem = as_model_problem(p->machine->model);
  const double *const from[VARIABLES] = {s->q, s->v, s->vdot, s->lambda, s->x, s->y};
  const as_sizes size = as_problem_sizes(problem);
  const int n[VARIABLES] = {size.q, size.v, size.v, size.lambda, size.x, size.y};
  for (int k = 0; k < VARIABLES; ++k) {
    out->n[k] = n[k];
    assert_true(n[k] <= MOST);
    if (n[k] > 0) memcpy(out->value[k], from[k], (size_t)n[k] * sizeof(double));
  }
}

static double distance(const snapshot *a, const snapshot *b, int k) {
  double most = 0.0;
  for (int i = 0; i < a->n[k]; ++i) most = fmax(most, fabs(a->value[k][i] - b->value[k][i]));
  return most;
}

static double size_of(const snapshot *a, int k) {
  double most = 0.0;
  for (int i = 0; i < a->n[k]; ++i) most = fmax(most, fabs(a->value[k][i]));
  return most;
}

enum { TIMES = 4 };

/// Differences of runs with h, h/2 and h/4 fall by four, in every variable.
static void check_order(const block *of, as_method method) {
  static snapshot s[3][TIMES];
  const double h = of->step > 0.0 ? of->step : 0.01;
  for (int i = 0; i < 3; ++i) {
    plant p = start(of->text, of->force, method, h / (1 << i), 0.0);
    for (int k = 0; k < TIMES; ++k) {
      advance(&p, of->text, (h < 1e-3 ? 0.005 : 0.15) * (k + 1));
      take(&p, &s[i][k]);
    }
    stop(&p);
  }
  for (int k = 0; k < VARIABLES; ++k) {
    double first = 0.0, second = 0.0, size = 0.0;
    for (int t = 0; t < TIMES; ++t) {
      first = fmax(first, distance(&s[0][t], &s[1][t], k));
      second = fmax(second, distance(&s[1][t], &s[2][t], k));
      size = fmax(size, size_of(&s[2][t], k));
    }
    // Nothing but round-off, which index-3 divides by the square of the step.
    if (first <= 1e-8 * size + 1e-14 * 16.0 / (h * h)) continue;
    if (!(first > 3.3 * second && first < 4.8 * second))
      fail_msg("%s, method %d, %s: %g, then %g, %.2f times less (size %g)", of->text, (int)method,
               variables[k], first, second, first / second, size);
    if (!(second < 0.01 * size))
      fail_msg("%s, method %d, %s: %g is off by %g", of->text, (int)method, variables[k], size,
               second);
  }
}

static void test_order(void **state) {
  (void)state;
  for (int b = 0; b < N_SMOOTH; ++b) {
    check_order(&smooth[b], AS_METHOD_INDEX2);
    check_order(&smooth[b], AS_METHOD_INDEX3);
  }
}

// ---- automatic steps --------------------------------------------------------------------------------

/// They end where many given steps do, in states of blocks, too.
static void test_automatic(void **state) {
  (void)state;
  for (int b = 0; b < N_SMOOTH; ++b) {
    static snapshot fine, found;
    if (smooth[b].step > 0.0) continue; // stiff ones are looked at elsewhere
    plant p = start(smooth[b].text, smooth[b].force, AS_METHOD_INDEX2, 2.5e-4, 0.0);
    advance(&p, smooth[b].text, 0.6);
    take(&p, &fine);
    stop(&p);
    p = start(smooth[b].text, smooth[b].force, AS_METHOD_INDEX2, (double)NAN, 1e-5);
    advance(&p, smooth[b].text, 0.6);
    take(&p, &found);
    stop(&p);
    for (int k = 0; k < VARIABLES; ++k) {
      // The tolerance is on q, v and x; the others follow with a factor of their own.
      const bool controlled = k < 2 || k == 4;
      const double within = (controlled ? 1e-4 : 2e-3) * fmax(1.0, size_of(&fine, k));
      if (!(distance(&fine, &found, k) <= within))
        fail_msg("%s, %s: %g is off by %g", smooth[b].text, variables[k], size_of(&fine, k),
                 distance(&fine, &found, k));
    }
  }
}

// ---- saved states -----------------------------------------------------------------------------------

/// A run that is saved in between and taken up goes on in the same bits.
static void check_saved(const char *text, const char *force, double step) {
  const double middle = step > 0.0 && step < 1e-3 ? 0.004 : 0.31;
  plant p = start(text, force, AS_METHOD_INDEX2, step, 1e-4);
  plant again = start(text, force, AS_METHOD_INDEX2, step, 1e-4);
  static snapshot whole, rest;
  size_t size = 0;
  advance(&p, text, middle);
  if (as_integrator_save(p.integrator, NULL, &size, &p.error)) fail_msg("%s", p.error.message);
  void *bytes = malloc(size);
  if (as_integrator_save(p.integrator, bytes, &size, &p.error) ||
      as_integrator_load(again.integrator, bytes, size, &again.error))
    fail_msg("%s", p.error.message);
  const as_state *a = advance(&p, text, 2.0 * middle), *b = advance(&again, text, 2.0 * middle);
  const as_sizes sizes = as_problem_sizes(as_model_problem(p.machine->model));
  take(&p, &whole);
  take(&again, &rest);
  for (int k = 0; k < VARIABLES; ++k)
    if (memcmp(whole.value[k], rest.value[k], (size_t)whole.n[k] * sizeof(double)) != 0)
      fail_msg("%s, %s: other bits", text, variables[k]);
  if (sizes.u > 0) assert_memory_equal(a->u, b->u, (size_t)sizes.u * sizeof(double));
  free(bytes);
  stop(&p);
  stop(&again);
}

static void test_saved(void **state) {
  (void)state;
  for (int b = 0; b < N_SMOOTH; ++b)
    check_saved(smooth[b].text, smooth[b].force,
                smooth[b].step > 0.0 ? smooth[b].step : (double)NAN);
  for (int b = 0; b < N_OTHERS; ++b) {
    check_saved(others[b], NULL, 0.01);
    check_saved(others[b], NULL, (double)NAN);
  }
}

// ---- rest -------------------------------------------------------------------------------------------

/// An equilibrium is one of the blocks' states, too: a start from it stays.
static void test_rest(void **state) {
  (void)state;
  for (int b = 0; b < N_SMOOTH; ++b) {
    if (smooth[b].moves) continue;
    as_machine *machine = parse(smooth[b].text, smooth[b].force, "0.1");
    const as_problem *problem = as_model_problem(machine->model);
    const as_sizes size = as_problem_sizes(problem);
    as_analysis *analysis = NULL;
    as_integrator *integrator = NULL;
    as_equilibrium found;
    as_error error;
    const as_analysis_def def = as_default_analysis_def();
    if (as_analysis_create(problem, &def, &analysis, &error) ||
        as_analysis_equilibrium(analysis, as_model_initial(machine->model), &found, &error))
      fail_msg("%s: %s", smooth[b].text, error.message);
    const as_state *at = as_analysis_state(analysis);
    const as_initial initial = {
        .q = at->q, .v = at->v, .x = at->x, .y = at->y, .u = at->u, .lambda = at->lambda};
    const as_integrator_def how = as_default_integrator_def();
    if (as_integrator_create(problem, &how, &integrator, &error) ||
        as_integrator_start(integrator, &initial, NULL, &error))
      fail_msg("%s: %s", smooth[b].text, error.message);
    const as_state *now = as_integrator_state(integrator);
    for (int i = 0; i < size.v; ++i)
      if (!(fabs(now->vdot[i]) < 1e-7))
        fail_msg("%s: acceleration %d is %g", smooth[b].text, i, now->vdot[i]);
    for (int i = 0; i < size.x; ++i)
      if (!(fabs(now->xdot[i]) < 1e-7 * fmax(1.0, fabs(now->x[i]))))
        fail_msg("%s: state %d, %g, changes by %g", smooth[b].text, i, now->x[i], now->xdot[i]);
    as_integrator_destroy(integrator);
    as_analysis_destroy(analysis);
    as_machine_destroy(machine);
  }
}

// ---- energy -----------------------------------------------------------------------------------------

/// What forces by blocks bring in is work: energy, less work, more what is dissipated, stays, to second order.
static double find_balance(const as_machine *machine, double step) {
  as_integrator *integrator = NULL;
  as_error error;
  as_energy energy;
  as_meter meter = {0};
  const as_model *m = machine->model;
  as_integrator_def def = machine->simulation.integrator;
  def.step = step;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      as_meter_update(&meter, m, as_integrator_state(integrator), &error) ||
      as_model_energy(m, as_integrator_state(integrator), &energy, &error))
    fail_msg("%s", error.message);
  double balance = -(energy.kinetic + energy.potential);
  for (int k = 1; k * step < 1.0 + 1e-9; ++k)
    if (as_integrator_advance(integrator, k * step, &error) ||
        as_meter_update(&meter, m, as_integrator_state(integrator), &error))
      fail_msg("%s", error.message);
  if (as_model_energy(m, as_integrator_state(integrator), &energy, &error))
    fail_msg("%s", error.message);
  balance += energy.kinetic + energy.potential + meter.dissipated - meter.forces - meter.motions;
  assert_true(fabs(meter.forces) > 100.0 && fabs(meter.dissipated) > 10.0);
  as_integrator_destroy(integrator);
  return balance;
}

static void test_energy(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\ngravity: [0, -9.81, 0]\n"
      "bodies: {b: {mass: 2, inertia: [1, 1, 0.4], position: [0.5, 0, 0]}, c: {type: point, mass: "
      "1, "
      "position: [2, 0, 0]}}\n"
      "joints: {pin: {type: revolute, bodies: [ground, b], point: [0, 0, 0], axis: [0, 0, 1]}}\n"
      "forces:\n"
      "  drive: {type: actuator, joint: pin, force: blocks.m}\n"
      "  push: {type: load, body: c, force: [blocks.lag, 3*blocks.m, 0]}\n"
      "  s: {type: spring, bodies: [b, c], point: [0.5, 0, 0], second_point: [2, 0, 0], damping: "
      "0.3, "
      "stiffness: 30, length: 1.5}\n"
      "blocks:\n"
      "  m: {type: dc_motor, voltage: \"24*sin(9*t)\", speed: joints.pin.angle_rate, resistance: "
      "0.5, "
      "inductance: 0.01, constant: 0.05, gear: 20}\n"
      "  lag: {type: lowpass, input: \"50*cos(20*t) + bodies.c.acceleration.y\", time_constant: "
      "0.1}\n"
      "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n";
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  const double coarse = find_balance(machine, 2e-3), fine = find_balance(machine, 1e-3);
  if (!(fabs(fine) < 0.2 && coarse / fine > 3.7 && coarse / fine < 4.3))
    fail_msg("the energy is off by %g J, then by %g J", coarse, fine);
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order), cmocka_unit_test(test_automatic), cmocka_unit_test(test_saved),
      cmocka_unit_test(test_rest),  cmocka_unit_test(test_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
