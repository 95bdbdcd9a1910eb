/// Forces that follow their body, and springs and loads on frames that move: by hand, with order and energy.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "machines.h"
#include "rig.h"

static const double origin[3] = {0, 0, 0}, z_axis[3] = {0, 0, 1};

// ---- a thruster -------------------------------------------------------------------------------------

/// A disk pushed along its own y axis at x = p, without gravity: it turns by phi = p F t^2/(2 J), and its centre of mass
/// is accelerated by F/m (-sin phi, cos phi).
static const double force = 3.0, lever = 0.1, mass = 2.0, moment = 0.15;

static double angle_at(double t) { return lever * force * t * t / (2.0 * moment); }

/// Velocity and position of the centre of mass by Simpson's rule: x(t) is the integral of (t - s) a(s).
static void thrust(double t, double v[2], double x[2]) {
  enum { N = 4000 };
  for (int k = 0; k < 2; ++k) v[k] = x[k] = 0.0;
  for (int i = 0; i <= N; ++i) {
    const double s = t * i / N, weight = (i == 0 || i == N ? 1.0
                                          : i % 2          ? 4.0
                                                           : 2.0) *
                                         t / (3.0 * N);
    const double a[2] = {-force / mass * sin(angle_at(s)), force / mass * cos(angle_at(s))};
    for (int k = 0; k < 2; ++k) {
      v[k] += weight * a[k];
      x[k] += weight * (t - s) * a[k];
    }
  }
}

/// The thruster's frame lies askew on the disk, and on SE(3) the disk's frame is not its centre of mass.
static as_model *build_disk(bool se3) {
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_body_def disk = machine_round_body("disk", mass, moment, se3);
  if (se3) {
    disk.center_of_mass[1] = 0.3;
    disk.position[1] = -0.3;
  }
  as_frame_def nozzle = as_default_frame_def();
  nozzle.body = machine_body(b, &disk);
  nozzle.position[0] = lever;
  nozzle.position[1] = disk.center_of_mass[1];
  memcpy(nozzle.quaternion, (double[]){sqrt(0.5), 0, 0, -sqrt(0.5)}, sizeof nozzle.quaternion);
  as_load_def jet = as_default_load_def();
  if (as_builder_add_frame(b, &nozzle, &jet.frame, &error)) fail_msg("%s", error.message);
  jet.follows = true;
  jet.force[0] = -force; // x of the nozzle is -y of the disk
  if (as_builder_add_load(b, &jet, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_thruster(void **state) {
  (void)state;
  const double t = 2.0;
  double v[2], x[2];
  thrust(t, v, x);
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *m = build_disk(se3);
    double error[2];
    for (int k = 0; k < 2; ++k) {
      as_integrator *integrator;
      const as_state *s = drive_to(m, AS_METHOD_INDEX2, k ? 0.005 : 0.01, t, &integrator);
      as_body_motion at;
      as_model_body_motion(m, s, (as_body_id){0}, &at);
      error[k] = fabs(at.omega[2] - lever * force * t / moment);
      for (int i = 0; i < 2; ++i) error[k] += fabs(at.x[i] - x[i]) + fabs(at.v[i] - v[i]);
      error[k] += fabs(at.R[3] - sin(angle_at(t)));
      as_integrator_destroy(integrator);
    }
    print_message("  errors %.2e, %.2e\n", error[0], error[1]);
    assert_true(error[0] < 2e-3 && log2(error[0] / error[1]) > 1.9);
    as_meter meter;
    drive_balance(m, AS_METHOD_INDEX2, 0.01, t, 2e-3, &meter);
    assert_near("work", meter.forces,
                mass * (v[0] * v[0] + v[1] * v[1]) / 2.0 +
                    moment * pow(lever * force * t / moment, 2) / 2.0,
                1e-3);
    as_model_destroy(m);
  }
}

/// No potential: a metre along x, a quarter turn about the disk's centre, a metre back, a quarter back. The force is
/// along y at first and along -x after the turn: the metre back brings F, the turns cancel.
static void test_no_potential(void **state) {
  (void)state;
  as_model *m = build_disk(false);
  double work = 0.0;
  for (int k = 0; k < 2; ++k) {
    const double q[7] = {0, 0, 0, k ? sqrt(0.5) : 1.0, 0, 0, k ? sqrt(0.5) : 0.0};
    const double v[6] = {k ? -1.0 : 1.0, 0, 0, 0, 0, 0};
    const as_state s = {.q = q, .v = v};
    as_error error;
    as_power power;
    assert_int_equal(as_model_power(m, &s, &power, &error), AS_OK);
    work += power.forces; // for a second each
  }
  assert_near("work on a way round", work, force, 1e-14);
  as_model_destroy(m);
}

/// A frame that turns against its body takes the force along: a constant force in a frame that turns at w drives a point
/// on a circle, v = F/(m w) (sin w t, 1 - cos w t).
static void test_turning_frame(void **state) {
  (void)state;
  static const as_curve turning = {.slope = 4.0};
  const double w = 4.0, F = 2.5, t = 1.3;
  for (int follows = 0; follows < 2; ++follows) {
    as_builder *b = machine_builder(0, 0, 0);
    as_error error;
    as_frame_def frame = as_default_frame_def();
    as_body_def disk = machine_round_body("disk", mass, moment, false);
    frame.body = machine_body(b, &disk);
    frame.turn = &turning;
    frame.turn_axis = 2;
    as_load_def push = as_default_load_def();
    if (as_builder_add_frame(b, &frame, &push.frame, &error)) fail_msg("%s", error.message);
    push.follows = follows;
    push.force[0] = F;
    if (as_builder_add_load(b, &push, NULL, &error)) fail_msg("%s", error.message);
    as_model *m = machine_build(b);
    as_integrator *integrator;
    const as_state *s = drive_to(m, AS_METHOD_INDEX2, 1e-3, t, &integrator);
    const double c = F / (mass * w);
    assert_near("v_x", s->v[0], follows ? c * sin(w * t) : F * t / mass, 1e-6);
    assert_near("v_y", s->v[1], follows ? c * (1.0 - cos(w * t)) : 0.0, 1e-6);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A nozzle that is shifted along x at 0.2 m/s pushes along y of its disk: the torque F 0.2 t makes it spin at
/// F 0.2 t^2/(2 J).
static void test_shifted_nozzle(void **state) {
  (void)state;
  static const as_curve shifting = {.slope = 0.2};
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_frame_def frame = as_default_frame_def();
  as_body_def disk = machine_round_body("disk", mass, moment, true);
  frame.body = machine_body(b, &disk);
  frame.shift[0] = &shifting;
  as_load_def jet = as_default_load_def();
  if (as_builder_add_frame(b, &frame, &jet.frame, &error)) fail_msg("%s", error.message);
  jet.follows = true;
  jet.force[1] = force;
  if (as_builder_add_load(b, &jet, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_integrator *integrator;
  const as_state *s = drive_to(m, AS_METHOD_INDEX2, 1e-3, 1.3, &integrator);
  assert_near("spin", s->v[5], force * 0.2 * 1.3 * 1.3 / (2.0 * moment), 1e-6);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

// ---- springs on frames that move --------------------------------------------------------------------

static const double amplitude = 0.05, drive = 7.0;

static int shake(double t, double out[3], void *user) {
  (void)user;
  out[0] = amplitude * sin(drive * t);
  out[1] = amplitude * drive * cos(drive * t);
  out[2] = -amplitude * drive * drive * sin(drive * t);
  return AS_DONE;
}

/// A bead on a spring along x whose other end is shaken: m x'' + k x = k a sin(w t), at rest at first, has
/// x = a k/(k - m w^2) (sin w t - w/w0 sin w0 t).
static void test_shaken_spring(void **state) {
  (void)state;
  static const as_curve law = {.function = shake};
  const double m = 0.5, k = 60.0, w0 = sqrt(k / m), t = 1.5;
  const double gain = amplitude * k / (k - m * drive * drive);
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.shift[0] = &law;
  as_spring_def spring = as_default_spring_def();
  spring.body[1] = machine_point(b, "bead", m, (double[]){1, 0, 0}, origin);
  if (as_builder_add_frame(b, &frame, &spring.frame[0], &error)) fail_msg("%s", error.message);
  spring.point[1][0] = 1.0;
  spring.stiffness = k;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  as_model *model = machine_build(b);
  as_integrator *integrator;
  const as_state *s = drive_to(model, AS_METHOD_INDEX2, 5e-4, t, &integrator);
  assert_near("x", s->q[0] - 1.0, gain * (sin(drive * t) - drive / w0 * sin(w0 * t)), 5e-6);
  assert_near("v", s->v[0], gain * drive * (cos(drive * t) - cos(w0 * t)), 5e-5);
  as_meter meter;
  drive_balance(model, AS_METHOD_INDEX2, 2e-3, t, 1e-4, &meter);
  assert_true(fabs(meter.forces) > 5e-3);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

/// The same about an axis, with a damper: a wheel in a bearing that a shaken torsional spring turns.
static void test_shaken_torsion(void **state) {
  (void)state;
  static const as_curve law = {.function = shake};
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_body_def wheel = machine_round_body("wheel", 1.0, 0.4, true);
  as_torsion_def spring = as_default_torsion_def();
  spring.body[1] = machine_body(b, &wheel);
  machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, spring.body[1], origin, z_axis);
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.turn = &law;
  frame.turn_axis = 2;
  if (as_builder_add_frame(b, &frame, &spring.frame[0], &error)) fail_msg("%s", error.message);
  spring.axis[2] = 1.0;
  spring.stiffness = 60.0 * 0.4 / 0.5;
  as_torsion_def damper = spring;
  damper.stiffness = 0.0;
  damper.damping = 0.2;
  if (as_builder_add_torsion(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  as_model *plain = NULL;
  if (as_builder_build(b, &plain, &error)) fail_msg("%s", error.message);
  if (as_builder_add_torsion(b, &damper, NULL, &error)) fail_msg("%s", error.message);
  as_model *damped = machine_build(b);
  const double t = 1.5, w0 = sqrt(60.0 / 0.5);
  const double gain = amplitude * w0 * w0 / (w0 * w0 - drive * drive);
  as_integrator *integrator;
  const as_state *s = drive_to(plain, AS_METHOD_INDEX2, 5e-4, t, &integrator);
  assert_near("angle", 2.0 * atan2(s->q[6], s->q[3]),
              gain * (sin(drive * t) - drive / w0 * sin(w0 * t)), 5e-6);
  for (int k = 0; k < 3; ++k) {
    as_meter meter;
    drive_balance(damped, rig_methods[k], 2e-3, t, 1e-4, &meter);
    assert_true(meter.dissipated > 0.01 && meter.forces > 0.01);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(plain);
  as_model_destroy(damped);
}

/// Point masses do not turn: a torque on them, or one that acts back on them, would be lost.
static void test_point_masses(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id bead = machine_point(b, "bead", 1.0, origin, origin);
  const as_body_def round = machine_round_body("disk", mass, moment, false);
  const as_body_id disk = machine_body(b, &round);
  as_error error;
  as_load_def load = as_default_load_def();
  load.name = "motor";
  load.body = bead;
  load.force[0] = force;
  assert_int_equal(as_builder_add_load(b, &load, NULL, &error), AS_OK);
  load.name = "second motor";
  load.torque[2] = 1.0;
  assert_int_equal(as_builder_add_load(b, &load, NULL, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message, "The torque of load \"second motor\" is on the point mass "
                                     "\"bead\", which does not turn.");
  load.body = disk;
  load.reaction = bead;
  assert_int_equal(as_builder_add_load(b, &load, NULL, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "is on the point mass \"bead\""));
  as_torsion_def torsion = as_default_torsion_def();
  torsion.name = "coil";
  torsion.axis[2] = 1.0;
  for (int s = 0; s < 2; ++s) {
    torsion.body[s] = bead;
    torsion.body[1 - s] = disk;
    assert_int_equal(as_builder_add_torsion(b, &torsion, NULL, &error), AS_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "\"coil\" needs the axes of the point mass \"bead\""));
  }
  as_model *m = machine_build(b);
  assert_int_equal(as_model_forces(m), 1);
  as_model_destroy(m);
}

static int refuse(double x, double out[3], void *user) {
  (void)x;
  out[0] = out[1] = out[2] = 0.0;
  return *(const int *)user;
}

/// Starts, and expects what the sentence says.
static void expect_start(as_builder *b, as_status status, const char *sentence) {
  as_error error;
  as_model *m = machine_build(b);
  as_integrator *integrator = NULL;
  const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.01, NULL, 0);
  assert_int_equal(as_integrator_create(as_model_problem(m), &how, &integrator, &error), AS_OK);
  assert_int_equal(as_integrator_start(integrator, as_model_initial(m), NULL, &error), status);
  if (status) assert_string_equal(error.message, sentence);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// A spring that pulls where its ends coincide has no direction; who cannot be evaluated is named.
static void test_named_failures(void **state) {
  (void)state;
  as_error error;
  for (int k = 0; k < 4; ++k) {
    int code = k == 2 ? 7 : -3; // any number is as good as AS_RETRY or AS_FATAL
    const as_curve curve = {.function = refuse, .user = &code};
    as_builder *b = machine_builder(0, 0, 0);
    as_spring_def spring = as_default_spring_def();
    spring.name = "stuck";
    spring.body[0] = AS_GROUND;
    spring.body[1] = machine_point(b, "bead", 1.0, origin, origin);
    spring.stiffness = 10.0;
    spring.length = k == 0 ? 0.1 : 0.0;
    spring.spring = k < 2 ? NULL : &curve;
    assert_int_equal(as_builder_add_spring(b, &spring, NULL, &error), AS_OK);
    expect_start(b, (as_status[]){AS_ERR_RETRY, AS_OK, AS_ERR_RETRY, AS_ERR_CALLBACK}[k],
                 k == 0
                     ? "At t = 0 s force \"stuck\" cannot be evaluated: its ends are in one place "
                       "and it has a tension there, which has no direction."
                     : "At t = 0 s force \"stuck\" cannot be evaluated.");
  }
  const as_curve length = {.constant = 1.0};
  as_builder *b = machine_builder(0, 0, 0);
  as_spring_def spring = as_default_spring_def();
  spring.name = "short";
  spring.length = -0.1;
  spring.body[0] = AS_GROUND;
  spring.body[1] = machine_point(b, "anchor", 1.0, origin, origin);
  assert_int_equal(as_builder_add_spring(b, &spring, NULL, &error), AS_ERR_ARGUMENT);
  assert_string_equal(error.message,
                      "The length of force \"short\" is -0.1 m; it must not be negative.");
  as_joint_def rod = as_default_joint_def();
  rod.name = "rod";
  rod.kind = AS_JOINT_DISTANCE;
  rod.length = &length;
  rod.body[0] = AS_GROUND;
  rod.body[1] = machine_point(b, "bead", 1.0, origin, origin);
  assert_int_equal(as_builder_add_joint(b, &rod, NULL, &error), AS_OK);
  expect_start(b, AS_ERR_RETRY,
               "At t = 0 s joint \"rod\" cannot be evaluated: two points are in one place: their "
               "distance has no direction there.");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thruster),      cmocka_unit_test(test_no_potential),
      cmocka_unit_test(test_turning_frame), cmocka_unit_test(test_shifted_nozzle),
      cmocka_unit_test(test_shaken_spring), cmocka_unit_test(test_shaken_torsion),
      cmocka_unit_test(test_point_masses),  cmocka_unit_test(test_named_failures)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
