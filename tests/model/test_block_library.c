/// Filters, sensors and actuators among the blocks, and second derivatives of joints' coordinates: against closed forms,
/// twins without blocks, and differences.
#include <complex.h>
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
    fail_msg("%d:%d %s", messages.message[0].line, messages.message[0].column,
             messages.message[0].text);
  return machine;
}

static void expect(const char *text, const char *words) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages) == AS_OK)
    fail_msg("no complaint, but there should be: %s", words);
  for (int i = 0; i < messages.n; ++i)
    if (strstr(messages.message[i].text, words)) return;
  fail_msg("%s, not: %s", messages.message[0].text, words);
}

/// A run that goes on, and its channels.
typedef struct run {
  as_integrator *integrator;
  as_channels *channels;
} run;

static run begin(const as_machine *machine, double step, const char *const *name, int n) {
  run r = {NULL, NULL};
  as_error error;
  as_integrator_def def = machine->simulation.integrator;
  def.step = step;
  const as_model *m = machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &r.integrator, &error) ||
      as_integrator_start(r.integrator, as_model_initial(m), NULL, &error) ||
      as_channels_create(m, name, n, &r.channels, &error))
    fail_msg("%s", error.message);
  return r;
}

static void look(const run *r, double t, double *out) {
  as_error error;
  if (as_integrator_advance(r->integrator, t, &error) ||
      as_channels_evaluate(r->channels, &(as_view){.state = as_integrator_state(r->integrator)},
                           out, &error))
    fail_msg("%s", error.message);
}

static void end(run *r) {
  as_channels_destroy(r->channels);
  as_integrator_destroy(r->integrator);
}

static void check_tangents(const as_machine *machine, const char *what) {
  const as_initial *at = as_model_initial(machine->model);
  as_check_def def = as_default_check_def();
  as_error error;
  def.near = (as_point){.t = 0.3, .q = at->q, .v = at->v, .x = at->x, .u = at->u};
  def.spread = 0.5;
  def.tolerance = 2e-6;
  if (as_problem_check(as_model_problem(machine->model), &def, NULL, &error))
    fail_msg("%s: %s", what, error.message);
}

// ---- second derivatives of coordinates --------------------------------------------------------------

#define ARM                                                                                        \
  "alphastep: 1\n"                                                                                 \
  "gravity: [0.3, -0.2, -9.81]\n"                                                                  \
  "bodies:\n"                                                                                      \
  "  one: {mass: 1.5, inertia: [1, 1.2, 1.4], position: [0.2, 0.1, -0.3]}\n"                       \
  "  two: {mass: 2, inertia: [1, 1.5, 1.1], space: se3, position: [1, -0.4, 0.3]}\n"               \
  "  three: {mass: 0.7, inertia: [0.3, 0.2, 0.1], position: [1.2, -0.1, 0.6]}\n"                   \
  "joints:\n"                                                                                      \
  "  ball: {type: spherical, bodies: [ground, one], point: [0, 0, 0]}\n"                           \
  "  hinge: {type: revolute, bodies: [one, two], point: [0.5, 0, 0], axis: [1, 2, -1]}\n"          \
  "  tube: {type: cylindrical, bodies: [two, three], point: [1, 0, 0.4], axis: [2, 1, 1]}\n"

static const char *const accelerations[] = {"joints.hinge.angle_acceleration",
                                            "joints.tube.angle_acceleration",
                                            "joints.tube.displacement_acceleration"};
static const char *const rates[] = {"joints.hinge.angle_rate", "joints.tube.angle_rate",
                                    "joints.tube.displacement_rate"};

/// Of a tumbling arm they are the differences of the rates.
static void test_joint_accelerations(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    char text[4096];
    snprintf(text, sizeof text,
             ARM "blocks:\n  a: {type: signal, formula: \"%s + 0.1*blocks.x\"}\n"
                 "  x: {type: state, rate: \"%s*blocks.x - blocks.a\", start: 0.3}\n"
                 "forces: {f: {type: actuator, joint: hinge, force: \"sin(blocks.a)\"}}\n",
             accelerations[i], accelerations[i]);
    as_machine *machine = parse(text);
    check_tangents(machine, accelerations[i]);
    as_machine_destroy(machine);
    const double h = 1e-4;
    const char *const name[] = {"blocks.a", rates[i]};
    double before[2], now[2], after[2];
    snprintf(text, sizeof text,
             ARM "blocks: {a: {type: signal, formula: %s}}\nsimulate: {t_end: 1, step: 1e-4}\n",
             accelerations[i]);
    machine = parse(text);
    run r = begin(machine, h, name, 2);
    look(&r, 0.8 - h, before);
    look(&r, 0.8, now);
    look(&r, 0.8 + h, after);
    assert_true(fabs(now[0]) > 0.5);
    assert_near(accelerations[i], now[0], (after[1] - before[1]) / (2.0 * h), 2e-5);
    end(&r);
    as_machine_destroy(machine);
  }
  expect("alphastep: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {u: {type: universal, "
         "bodies: [ground, b], point: [0, 0, 0], axis: [1, 0, 0], second_axis: [0, 1, 0]}}\n"
         "blocks: {a: {type: signal, formula: joints.u.angle_acceleration.x}}\n",
         "only those of revolute, prismatic and cylindrical joints");
  expect(ARM
         "forces: {f: {type: actuator, joint: hinge, force: joints.hinge.angle_acceleration}}\n",
         "accelerations follow from the forces; a block may");
}

// ---- Butterworth filters ----------------------------------------------------------------------------

/// 1/prod(S - p), with S what s becomes of the low-pass of 1 rad/s: the sections are not asked.
static double complex respond(int order, int pass, double w, double w1, double w2) {
  const double complex s = (double complex)I * w;
  const double complex band = (s * s + w1 * w2) / ((w2 - w1) * s);
  const double complex S = pass == 0 ? s / w1 : pass == 1 ? w1 / s : pass == 2 ? band : 1.0 / band;
  double complex H = 1.0;
  for (int k = 0; k < order; ++k)
    H /= S - cexp((double complex)I * pi * (2.0 * k + order + 1.0) / (2.0 * order));
  return H;
}

static void test_butterworth(void **state) {
  (void)state;
  static const char *const pass[] = {"low", "high", "band", "stop"};
  const double f = 1.3, t = 12.0;
  for (int order = 1; order <= 6; ++order)
    for (int p = 0; p < 4; ++p) {
      char text[1024], upper[32] = "";
      if (p >= 2) snprintf(upper, sizeof upper, ", upper: 2.1");
      snprintf(text, sizeof text,
               "alphastep: 1\nbodies: {m: {type: point, mass: 1}}\nblocks:\n"
               "  s: {type: butterworth, input: \"sin(2*pi*1.3*t)\", order: %d, pass: %s, "
               "frequency: 0.9%s}\n"
               "  c: {type: butterworth, input: \"cos(2*pi*1.3*t)\", order: %d, pass: %s, "
               "frequency: 0.9%s}\n"
               "simulate: {t_end: 12, step: 1e-3}\n",
               order, pass[p], upper, order, pass[p], upper);
      as_machine *machine = parse(text);
      const char *const name[] = {"blocks.c", "blocks.s"};
      double y[2];
      run r = begin(machine, 1e-3, name, 2);
      look(&r, t, y);
      end(&r);
      as_machine_destroy(machine);
      const double w = 2.0 * pi * f;
      const double complex H =
          respond(order, p, w, 2.0 * pi * 0.9, 2.0 * pi * 2.1) * cexp((double complex)I * w * t);
      assert_near(text, y[0], creal(H), 4e-4);
      assert_near(text, y[1], cimag(H), 4e-4);
    }
  expect("alphastep: 1\nblocks: {b: {type: butterworth, input: 1, order: 2, pass: band, frequency: "
         "3, upper: 2}}\n",
         "goes from 3 to 2 Hz");
  expect("alphastep: 1\nblocks: {b: {type: butterworth, input: 1, order: 51, frequency: 3}}\n",
         "it must be 1 to 50");
}

// ---- noise ------------------------------------------------------------------------------------------

/// At samples x+ = a x + (1 - a) w exactly; and the deviation is the one that was asked for.
static void test_filtered_noise(void **state) {
  (void)state;
  const double T = 0.01, f = 4.0, a = exp(-2.0 * pi * f * T), gain = sqrt((1.0 + a) / (1.0 - a));
  as_machine *machine =
      parse("alphastep: 1\nbodies: {m: {type: point, mass: 1}}\nblocks: {n: {type: filtered_noise, "
            "seed: 5, deviation: 2, mean: 3, frequency: 4, period: 0.01, start: 3}}\n"
            "simulate: {t_end: 12, step: 1e-3}\n");
  const char *const name[] = {"blocks.n"};
  run r = begin(machine, 2.5e-4, name, 1);
  double x = 3.0, found, squares = 0.0;
  enum { N = 4000 };
  for (int k = 0; k < 50; ++k) {
    x = a * x + (1.0 - a) * (3.0 + 2.0 * gain * asi_random_normal(5.0, k));
    look(&r, T * (k + 1) - 1e-9, &found);
    assert_near("filtered noise", found, x, 3e-4);
  }
  end(&r);
  as_machine_destroy(machine);
  for (int k = 0; k < N; ++k) {
    x = a * x + (1.0 - a) * (3.0 + 2.0 * gain * asi_random_normal(5.0, k));
    squares += (x - 3.0) * (x - 3.0) / N;
  }
  assert_near("deviation", sqrt(squares), 2.0, 0.2);
}

// ---- sensors ----------------------------------------------------------------------------------------

/// A disk turns with 2 rad/s about an axis along which gravity acts.
#define DISK                                                                                       \
  "alphastep: 1\ngravity: [0, 0, -9.81]\n"                                                         \
  "bodies: {m: {mass: 3, inertia: [1, 1, 1], position: [0, 0, 0], angular_velocity: [0, 0, 2]}}\n" \
  "frames: {f: {body: m, position: [0.1, 0, 0]}, g: {body: ground, position: [0.5, 0, 0]}}\n"      \
  "joints: {pin: {type: revolute, bodies: [ground, m], point: [0, 0, 0], axis: [0, 0, 1]}}\n"

static double round_to(double x, double step) { return step * floor(x / step + 0.5); }

static void test_sensors(void **state) {
  (void)state;
  as_machine *machine = parse(
      DISK "blocks:\n"
           "  plain: {type: encoder, joint: pin}\n"
           "  slow: {type: encoder, joint: pin, bandwidth: 2}\n"
           "  late: {type: encoder, joint: pin, delay: 0.1}\n"
           "  both: {type: encoder, joint: pin, bandwidth: 2, delay: 0.05}\n"
           "  steps: {type: encoder, joint: pin, resolution: 0.05, period: 0.1}\n"
           "  noisy: {type: encoder, joint: pin, period: 0.1, offset: 0.05, noise: 0.2, seed: 9}\n"
           "  all: {type: encoder, joint: pin, bandwidth: 2, period: 0.1, noise: 0.2, seed: 9, "
           "resolution: 0.05, delay: 0.03}\n"
           "  weight: {type: force_sensor, joint: pin, axis: z}\n"
           "  held: {type: force_sensor, joint: pin, axis: z, period: 0.1, delay: 0.25}\n"
           "  spin: {type: gyro, frame: f, axis: z, delay: 0.02}\n"
           "  free: {type: accelerometer, frame: f, axis: x, period: 0.1, resolution: 0.3}\n"
           "  gap: {type: distance, frame: f, other: g, bandwidth: 1, start: 0.4}\n"
           "  lag: {type: signal, formula: blocks.all.lag}\n"
           "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n");
  static const char *const name[] = {"blocks.plain", "blocks.slow",  "blocks.late", "blocks.both",
                                     "blocks.steps", "blocks.noisy", "blocks.all",  "blocks.weight",
                                     "blocks.held",  "blocks.spin",  "blocks.free", "blocks.lag"};
  enum { N = sizeof name / sizeof name[0] };
  double y[N];
  run r = begin(machine, 1e-3, name, N);
  const double t = 0.92, w = 4.0 * pi;
  look(&r, t, y);
  // A ramp 2 t behind a lag of the rate w: 2 t - 2 (1 - e^(-w t))/w; a delay shifts it.
  const double lag = 2.0 * t - 2.0 / w * (1.0 - exp(-w * t));
  const double sampled = 1.8 - 2.0 / w * (1.0 - exp(-w * 0.9));
  const double noise = 0.2 * asi_random_normal(9.0, 9.0);
  assert_near(name[0], y[0], 2.0 * t, 1e-9);
  assert_near(name[1], y[1], lag, 1e-5);
  assert_near(name[2], y[2], 2.0 * (t - 0.1), 1e-5);
  assert_near(name[3], y[3], lag - 2.0 * 0.05, 1e-4); // transients of both are gone
  assert_near(name[4], y[4], round_to(1.8, 0.05), 1e-9);
  assert_near(name[5], y[5], 1.7 + 0.2 * asi_random_normal(9.0, 8.0), 1e-9);
  // 0.9 s has not taken effect yet: the sample at 0.8 s
  const double before = 1.6 - 2.0 / w * (1.0 - exp(-w * 0.8));
  assert_near(name[6], y[6], round_to(before + 0.2 * asi_random_normal(9.0, 8.0), 0.05), 1e-9);
  assert_near(name[7], y[7], 3.0 * 9.81, 1e-9);
  assert_near(name[8], y[8], 3.0 * 9.81, 1e-9);
  assert_near(name[9], y[9], 2.0, 1e-6);
  assert_near(name[10], y[10], round_to(-0.4, 0.3), 1e-12);
  assert_near(name[11], y[11], lag, 1e-5);
  look(&r, 0.94, y);
  assert_near(name[6], y[6], round_to(sampled + noise, 0.05), 1e-9);
  end(&r);
  as_machine_destroy(machine);
  expect(DISK "blocks: {e: {type: encoder, joint: pin, noise: 0.1}}\n", "noise");
  expect(DISK "blocks: {e: {type: encoder, joint: pin, period: 0.1, noise: 0.1, seed: 0.5}}\n",
         "must be a whole number");
  expect(DISK "blocks: {e: {type: gyro, frame: nowhere}}\n", "nowhere");
}

// ---- motors -----------------------------------------------------------------------------------------

/// A rotor on the joint's coordinate, and the same inertia on the body that turns about a fixed axis: the same motion.
static void test_rotor(void **state) {
  (void)state;
  enum { N = 3 };
  static const char *const name[N] = {"joints.pin.angle", "joints.pin.angle_rate",
                                      "blocks.m.current"};
  static const char format[] =
      "alphastep: 1\ngravity: [0, -9.81, 0]\n"
      "bodies: {b: {mass: 2, inertia: [1, 1, %s], position: [0.3, 0, 0]}}\n"
      "joints: {pin: {type: revolute, bodies: [ground, b], point: [0, 0, 0], axis: [0, 0, 1]}}\n"
      "blocks: {m: {type: dc_motor, voltage: \"24*sin(3*t)\", speed: joints.pin.angle_rate, "
      "resistance: 0.5, inductance: 0.01, constant: 0.05, gear: 20%s}}\n"
      "forces: {drive: {type: actuator, joint: pin, force: blocks.m}}\n"
      "simulate: {t_end: 1, step: 1e-3, rho_inf: 0.9}\n";
  double with[N], twin[N], without[N];
  static const char *const inertia[] = {"0.1", "0.1 + 400*3e-4", "0.1"};
  static const char *const rotor[] = {
      ", inertia: 3e-4, acceleration: joints.pin.angle_acceleration", "", ""};
  double *const out[] = {with, twin, without};
  for (int i = 0; i < 3; ++i) {
    char text[2048];
    snprintf(text, sizeof text, format, inertia[i], rotor[i]);
    as_machine *machine = parse(text);
    run r = begin(machine, 1e-3, name, N);
    look(&r, 1.0, out[i]);
    end(&r);
    as_machine_destroy(machine);
  }
  for (int i = 0; i < N; ++i) assert_near(name[i], with[i], twin[i], 1e-8 * fabs(twin[i]));
  assert_true(fabs(with[0] - without[0]) > 0.01); // it matters
  expect("alphastep: 1\nblocks: {m: {type: dc_motor, voltage: 1, speed: 0, resistance: 1, "
         "inductance: 1, constant: 1, inertia: 1}}\n",
         "acceleration");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joint_accelerations),
      cmocka_unit_test(test_butterworth),
      cmocka_unit_test(test_filtered_noise),
      cmocka_unit_test(test_sensors),
      cmocka_unit_test(test_rotor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
