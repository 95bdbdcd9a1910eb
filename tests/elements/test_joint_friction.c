/// Friction in joints against motions known by hand: blocks, drawers, wheels, sleeves, balls; and a pendulum on a
/// pin, integrated independently, for order 2 in everything and the energy balance.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/kinematics/problem.h"
#include "machines.h"
#include "rig.h"

static const double g = 9.81, mass = 2.0, mu = 0.3, radius = 0.05;
static const double origin[3] = {0};

static as_integrator *start(const as_model *m, as_method method, double h) {
  const as_integrator_def def = rig_how(method, h, NULL, 0);
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

static void advance(as_integrator *integrator, double t) {
  as_error error;
  if (as_integrator_advance(integrator, t, &error)) fail_msg("%s", error.message);
}

static as_force_id add_friction(as_builder *b, const as_joint_friction_def *def) {
  as_error error;
  as_force_id id = AS_NO_FORCE;
  if (as_builder_add_joint_friction(b, def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// Dry friction, sharp.
static as_joint_friction_def dry(as_joint_id joint) {
  as_joint_friction_def def = as_default_joint_friction_def();
  def.name = "friction";
  def.joint = joint;
  def.coefficient = mu;
  def.radius = radius;
  def.transition_speed = 1e-5;
  def.small_force = 1e-4;
  return def;
}

/// A body with one joint to the ground and friction in it, and what its coordinates do at a time.
typedef struct single {
  as_builder *builder;
  as_body_id body;
  as_joint_friction_def friction;
} single;

static single open_single(as_joint_kind kind, const as_body_def *body, const double axis[3],
                          double gx, double gz) {
  single s = {.builder = machine_builder(gx, 0, gz)};
  s.body = machine_body(s.builder, body);
  s.friction = dry(machine_joint(s.builder, "joint", kind, AS_GROUND, s.body, origin, axis));
  return s;
}

/// Rates of the coordinates at time t; destroys everything.
static void finish(single *s, as_method method, double h, double t, double *rates) {
  add_friction(s->builder, &s->friction);
  as_model *m = machine_build(s->builder);
  as_integrator *integrator = start(m, method, h);
  as_error error;
  advance(integrator, t);
  double c[AS_JOINT_COORDINATES];
  if (as_model_coordinates(m, as_integrator_state(integrator), (as_joint_id){0}, NULL, c, rates,
                           &error))
    fail_msg("%s", error.message);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void push(single *s, const double *point, const double *force, const double *torque) {
  as_error error;
  as_load_def load = as_default_load_def();
  load.body = s->body;
  memcpy(load.point, point, sizeof load.point);
  memcpy(load.force, force, sizeof load.force);
  memcpy(load.torque, torque, sizeof load.torque);
  if (as_builder_add_load(s->builder, &load, NULL, &error)) fail_msg("%s", error.message);
}

// ---- sliding --------------------------------------------------------------------------------------------------

/// Down a slope of angle alpha: g (sin(alpha) - mu cos(alpha)). The slope is level, gravity is not.
static single open_block(double alpha, double speed, bool se3) {
  as_body_def body = machine_round_body("block", mass, 0.1, se3);
  body.velocity[0] = speed;
  return open_single(AS_JOINT_PRISMATIC, &body, (double[]){1, 0, 0}, g * sin(alpha),
                     -g * cos(alpha));
}

static void test_block(void **state) {
  (void)state;
  const double alpha = 0.5;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      double v;
      single s = open_block(alpha, 1.0, se3);
      finish(&s, rig_methods[k], 0.01, 1.0, &v);
      assert_near("down", v, 1.0 + g * (sin(alpha) - mu * cos(alpha)), 1e-7);
      s = open_block(alpha, -4.0, se3); // upwards both pull down
      finish(&s, rig_methods[k], 0.01, 0.5, &v);
      assert_near("up", v, -4.0 + 0.5 * g * (sin(alpha) + mu * cos(alpha)), 1e-7);
    }
}

/// On a gentle slope it stays, but for a creep that makes friction as large as needed: with x = tan(alpha)/mu
/// and the transition speed c, v = c x/sqrt(1 - x^2).
static void test_creep(void **state) {
  (void)state;
  const double alpha = 0.2, x = tan(alpha) / mu, c = 1e-3;
  for (int k = 0; k < 3; ++k) {
    double v;
    single s = open_block(alpha, 0.5, false);
    s.friction.transition_speed = c;
    finish(&s, rig_methods[k], 0.002, 1.0, &v);
    assert_near("creep", v, c * x / sqrt(1.0 - x * x), 1e-7);
  }
}

/// A drawer that is pushed off its middle by d: the ends of its guide carry P d/L each, it moves with
/// P (1 - 2 mu d/L)/m. A torque T about the guide presses with T/r.
static void test_drawer(void **state) {
  (void)state;
  const double P = 5.0, d = 0.25, L = 0.4, T = 0.15;
  const double none[3] = {0};
  for (int k = 0; k < 3; ++k)
    for (int turned = 0; turned < 2; ++turned) { // aside or upwards
      double v;
      as_body_def body = machine_round_body("drawer", mass, 0.1, turned);
      body.velocity[0] = 0.5;
      const double aside[3] = {0, turned ? 0.0 : d, turned ? d : 0.0};
      single s = open_single(AS_JOINT_PRISMATIC, &body, (double[]){1, 0, 0}, 0, 0);
      s.friction.length = L;
      push(&s, aside, (double[]){P, 0, 0}, none);
      finish(&s, rig_methods[k], 0.01, 1.0, &v);
      assert_near("drawer", v, 0.5 + P / mass * (1.0 - 2.0 * mu * d / L), 1e-7);
      s = open_single(AS_JOINT_PRISMATIC, &body, (double[]){1, 0, 0}, 0, 0);
      push(&s, none, (double[]){P, 0, 0}, (double[]){T, 0, 0});
      finish(&s, rig_methods[k], 0.01, 1.0, &v);
      assert_near("twisted", v, 0.5 + (P - mu * T / radius) / mass, 1e-7);
    }
}

/// Its centre of mass h above the guide: friction itself presses the ends with mu N h/L, which changes nothing as
/// long as neither lifts off; from 2 mu h = L on no reaction will do, and that is said.
static void test_tall_block(void **state) {
  (void)state;
  const double L = 0.4;
  for (int k = 0; k < 3; ++k) {
    double v;
    as_error error = {0};
    as_body_def body = machine_round_body("block", mass, 0.1, k == 1);
    body.velocity[0] = 5.0;
    body.position[2] = 0.9 * L / (2.0 * mu);
    single s = open_single(AS_JOINT_PRISMATIC, &body, (double[]){1, 0, 0}, 0, -g);
    s.friction.length = L;
    finish(&s, rig_methods[k], 0.01, 1.0, &v);
    assert_near("tall", v, 5.0 - mu * g, 1e-7);
    body.position[2] = 1.2 * L / (2.0 * mu);
    s = open_single(AS_JOINT_PRISMATIC, &body, (double[]){1, 0, 0}, 0, -g);
    s.friction.length = L;
    add_friction(s.builder, &s.friction);
    assert_int_not_equal(as_builder_assemble(s.builder, NULL, &error), AS_OK);
    assert_non_null(strstr(error.message, "accelerations and multipliers could not be found"));
    error = (as_error){0};
    as_model *m = machine_build(s.builder);
    const as_integrator_def def = rig_how(rig_methods[k], 0.01, NULL, 0);
    as_integrator *integrator = NULL;
    assert_int_equal(as_integrator_create(as_model_problem(m), &def, &integrator, &error), AS_OK);
    assert_int_not_equal(as_integrator_start(integrator, as_model_initial(m), NULL, &error), AS_OK);
    assert_non_null(strstr(error.message, "accelerations and multipliers could not be found"));
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- turning ----------------------------------------------------------------------------------------------------

static const double moment = 0.06, spin = 20.0;

static single open_wheel(const double axis[3], bool se3) {
  as_body_def body = machine_round_body("wheel", mass, moment, se3);
  for (int i = 0; i < 3; ++i) body.angular_velocity[i] = spin * axis[i];
  return open_single(AS_JOINT_REVOLUTE, &body, axis, 0, -g);
}

/// J w' = -mu m g r: it stops after J w/(mu m g r).
static void test_wheel(void **state) {
  (void)state;
  const double slowing = mu * mass * g * radius / moment, stop = spin / slowing;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      double w;
      single s = open_wheel((double[]){0, 1, 0}, se3);
      finish(&s, rig_methods[k], stop / 200.0, stop / 2.0, &w);
      assert_near("half", w, spin / 2.0, 1e-6);
      s = open_wheel((double[]){0, 1, 0}, se3);
      s.friction.transition_speed = 1e-3;
      finish(&s, rig_methods[k], stop / 400.0, stop * 0.99, &w);
      assert_near("nearly", w, 0.01 * spin, 0.02);
      s = open_wheel((double[]){0, 1, 0}, se3);
      s.friction.transition_speed = 1e-3;
      finish(&s, rig_methods[k], stop / 400.0, stop * 1.1, &w);
      assert_near("stopped", w, 0.0, 1e-4);
    }
}

/// Standing on its shoulder; overhung by d from the middle of a bearing of length L, N = 2 m g d/L; and weightless.
static void test_bearings(void **state) {
  (void)state;
  const double d = 0.3, L = 0.2, shoulder = 0.08, t = 0.2;
  for (int k = 0; k < 3; ++k) {
    double w;
    single s = open_wheel((double[]){0, 0, -1}, k == 1);
    s.friction.shoulder_radius = shoulder;
    finish(&s, rig_methods[k], 0.01, t, &w);
    assert_near("shoulder", w, spin - t * mu * mass * g * shoulder / moment, 1e-6);
    as_body_def body = machine_round_body("wheel", mass, moment, k == 1);
    body.position[1] = d;
    body.angular_velocity[1] = spin;
    s = open_single(AS_JOINT_REVOLUTE, &body, (double[]){0, 1, 0}, 0, -g);
    s.friction.length = L;
    finish(&s, rig_methods[k], 0.01, t, &w);
    assert_near("overhung", w, spin - t * mu * 2.0 * mass * g * d / L * radius / moment, 1e-6);
    s = open_single(AS_JOINT_REVOLUTE, &body, (double[]){0, 1, 0}, 0, 0);
    finish(&s, rig_methods[k], 0.01, t, &w);
    assert_near("weightless", w, spin, 1e-12);
  }
}

/// The bearing does not know how its axes are turned about its own: whatever the direction of the load, a wheel that is
/// overhung is slowed alike, and so are a shaft in a guide and in a sleeve. With F and M, whose angle is not right, the ends
/// press with e = F/2 +- (M x axis)/L.
static void test_directions_of_loads(void **state) {
  (void)state;
  static const as_joint_kind kinds[] = {AS_JOINT_REVOLUTE, AS_JOINT_PRISMATIC,
                                        AS_JOINT_CYLINDRICAL};
  const double d = 0.3, L = 0.2, t = 0.05, torque = 4.0;
  for (int k = 0; k < 3; ++k) {
    double first[2] = {0}, rates[2] = {0};
    for (int turn = 0; turn < 8; ++turn) {
      const double phi = 0.3 + turn * 0.7, c = cos(phi), s = sin(phi);
      as_body_def body = machine_round_body("wheel", mass, moment, k == 1);
      body.position[1] = d;
      body.velocity[1] = k == 0 ? 0.0 : 2.0;
      body.angular_velocity[1] = k == 1 ? 0.0 : spin;
      single x = open_single(kinds[k], &body, (double[]){0, 1, 0}, g * s, -g * c);
      x.friction.length = L;
      push(&x, body.position, (double[]){0, 0, 0}, (double[]){torque * s, 0, -torque * c});
      finish(&x, AS_METHOD_INDEX2, 0.0025, t, rates);
      if (turn == 0) memcpy(first, rates, sizeof first);
      for (int i = 0; i < 2; ++i) assert_near("slowed alike", rates[i], first[i], 1e-7);
    }
    if (k > 0) continue;
    // Weight along -z: F = (0, 0, m g), M = -d m g x + torque z on the wheel; M x y = -d m g z - torque x.
    double N = 0.0;
    for (int end = -1; end <= 1; end += 2)
      N += hypot(end * torque / L, mass * g / 2.0 - end * d * mass * g / L);
    assert_near("slowed by", first[0], spin - t * mu * N * radius / moment, 1e-5);
  }
}

/// A shaft with J = m r^2 slides and turns in a sleeve: its surface slides in one direction, slower by mu g t.
static void test_sleeve(void **state) {
  (void)state;
  const double v0 = 1.2, w0 = 1.6 / radius, t = 0.3, left = (2.0 - mu * g * t) / 2.0;
  for (int k = 0; k < 3; ++k) {
    double rates[2];
    as_body_def body = machine_round_body("shaft", mass, mass * radius * radius, k == 1);
    body.velocity[0] = v0;
    body.angular_velocity[0] = -w0;
    single s = open_single(AS_JOINT_CYLINDRICAL, &body, (double[]){1, 0, 0}, 0, -g);
    finish(&s, rig_methods[k], 0.01, t, rates);
    assert_near("slides", rates[0], v0 * left, 1e-7);
    assert_near("turns", rates[1], -w0 * left, 1e-5);
  }
}

/// A ball in a socket, balanced: |w| falls by mu m g r t/J, its direction stays.
static void test_socket(void **state) {
  (void)state;
  const double w0[3] = {6.0, -3.0, 2.0}, t = 0.5,
               left = 1.0 - mu * mass * g * radius / moment * t / 7.0;
  for (int k = 0; k < 3; ++k) {
    double rates[3];
    as_body_def body = machine_round_body("ball", mass, moment, k == 1);
    memcpy(body.angular_velocity, w0, sizeof w0);
    single s = open_single(AS_JOINT_SPHERICAL, &body, NULL, 0, -g);
    finish(&s, rig_methods[k], 0.01, t, rates);
    for (int i = 0; i < 3; ++i) assert_near("w", rates[i], w0[i] * left, 1e-5);
  }
}

// ---- a pendulum on a pin -------------------------------------------------------------------------------------------

/// Smooth enough to be resolved. J about the pin; F the force of the pin along and across the arm:
///     J phi'' = -m g l sin(phi) - tau,  tau = mu N r (r phi')/sqrt((r phi')^2 + c^2) + d phi'
///     F = m (l phi'^2 + g cos(phi), l phi'' + g sin(phi)),   N = |F|^2/sqrt(|F|^2 + small^2)
typedef struct pendulum {
  double l, J, r, c, small, d;
} pendulum;

static const pendulum pin = {0.5, 2.0 * 0.25 + 0.06, 0.15, 0.3, 0.5, 0.04};

static double pin_acceleration(double phi, double w, double F[2]) {
  double a = 0.0;
  F[0] = mass * (pin.l * w * w + g * cos(phi));
  for (int i = 0; i < 60; ++i) { // contracts by mu r m l/J
    F[1] = mass * (pin.l * a + g * sin(phi));
    const double F2 = F[0] * F[0] + F[1] * F[1], y = pin.r * w;
    const double N = F2 / sqrt(F2 + pin.small * pin.small);
    const double tau = mu * N * pin.r * y / sqrt(y * y + pin.c * pin.c) + pin.d * w;
    a = (-mass * g * pin.l * sin(phi) - tau) / pin.J;
  }
  return a;
}

/// phi, phi', phi'' and |F| at t from phi = 2, phi' = 0, by the classical Runge-Kutta method.
static void pin_reference(double t, double out[4]) {
  enum { STEPS = 2000 };
  double phi = 2.0, w = 0.0, F[2];
  const double h = t / STEPS;
  for (int i = 0; i < STEPS; ++i) {
    const double a1 = pin_acceleration(phi, w, F), w2 = w + h / 2.0 * a1;
    const double a2 = pin_acceleration(phi + h / 2.0 * w, w2, F), w3 = w + h / 2.0 * a2;
    const double a3 = pin_acceleration(phi + h / 2.0 * w2, w3, F), w4 = w + h * a3;
    const double a4 = pin_acceleration(phi + h * w3, w4, F);
    phi += h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4);
    w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  out[0] = phi;
  out[1] = w;
  out[2] = pin_acceleration(phi, w, F);
  out[3] = hypot(F[0], F[1]);
}

/// About y; at phi = 0 it hangs along -z. The ground may be the first or the second body.
static as_model *build_pendulum(bool se3, bool turned_round) {
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def body = machine_round_body("arm", mass, 0.06, se3);
  const double sign = turned_round ? -1.0 : 1.0;
  body.position[0] = -pin.l * sin(2.0);
  body.position[2] = -pin.l * cos(2.0);
  const as_body_id id = machine_body(b, &body);
  as_joint_friction_def def =
      dry(machine_joint(b, "pin", AS_JOINT_REVOLUTE, turned_round ? id : AS_GROUND,
                        turned_round ? AS_GROUND : id, origin, (double[]){0, sign, 0}));
  def.radius = pin.r;
  def.transition_speed = pin.c;
  def.small_force = pin.small;
  def.damping[0] = pin.d;
  add_friction(b, &def);
  return machine_build(b);
}

enum { ERRORS = 4 };

static void pendulum_errors(bool se3, bool turned_round, as_method method, double h,
                            double e[ERRORS]) {
  const double t = 1.0;
  as_model *m = build_pendulum(se3, turned_round);
  as_integrator *integrator = start(m, method, h);
  double exact[4], angle[1] = {0}, rate[1];
  as_error error;
  as_reaction r = {{0}, {0}, {0}, {0}, {0}};
  pin_reference(t, exact);
  advance(integrator, t);
  const as_state *s = as_integrator_state(integrator);
  angle[0] = exact[0] - 2.0;
  if (as_model_coordinates(m, s, (as_joint_id){0}, angle, angle, rate, &error) ||
      as_model_reaction(m, s, (as_joint_id){0}, &r, &error))
    fail_msg("%s", error.message);
  e[0] = fabs(2.0 + angle[0] - exact[0]);
  e[1] = fabs(rate[0] - exact[1]);
  e[2] = fabs(s->vdot[4] - exact[2]); // omega_y
  e[3] = fabs(sqrt(r.force[0] * r.force[0] + r.force[2] * r.force[2]) - exact[3]);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_order(void **state) {
  (void)state;
  static const char *const what[ERRORS] = {"angle", "rate", "acceleration", "reaction"};
  int failures = 0;
  for (int variant = 0; variant < 4; ++variant)
    for (int k = 0; k < 3; ++k) {
      double coarse[ERRORS], fine[ERRORS];
      pendulum_errors(variant & 1, variant & 2, rig_methods[k], 0.005, coarse);
      pendulum_errors(variant & 1, variant & 2, rig_methods[k], 0.0025, fine);
      for (int i = 0; i < ERRORS; ++i) {
        const double order = log2(coarse[i] / fine[i]);
        printf("  pendulum %d method %d %-12s %.2e %.2e  order %.2f\n", variant, k, what[i],
               coarse[i], fine[i], order);
        failures += !(order > 1.9) || !(fine[i] < 1e-2);
      }
    }
  assert_int_equal(failures, 0);
}

static double balance(bool se3, as_method method, double h, double *heat) {
  as_model *m = build_pendulum(se3, false);
  as_integrator *integrator = start(m, method, h);
  as_error error;
  as_meter meter = {0};
  double before = 0.0, worst = 0.0;
  for (int i = 0; i <= lround(1.0 / h); ++i) {
    if (i > 0 && as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
    as_state now = *as_integrator_state(integrator);
    double v[6];
    as_energy energy = {0};
    assert_int_equal(as_integrator_velocity(integrator, v, &error), AS_OK);
    now.v = v;
    if (as_meter_update(&meter, m, &now, &error) || as_model_energy(m, &now, &energy, &error))
      fail_msg("%s", error.message);
    const double kept = energy.kinetic + energy.potential + meter.dissipated;
    if (i == 0) before = kept;
    worst = fmax(worst, fabs(kept - before));
  }
  *heat = meter.dissipated;
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return worst;
}

static void test_balance(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      double heat;
      const double coarse = balance(se3, rig_methods[k], 0.01, &heat);
      const double fine = balance(se3, rig_methods[k], 0.005, &heat);
      printf("  pendulum %s method %d: balance off by %.2e, %.2e of %.2f J\n", se3 ? "SE3" : "   ",
             k, coarse, fine, heat);
      assert_true(heat > 1.0 && log2(coarse / fine) > 1.9);
    }
}

/// Automatic steps follow the friction through a stop.
static void test_automatic(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    double v;
    single s = open_block(0.2, 2.0, false);
    s.friction.transition_speed = 1e-3;
    finish(&s, rig_methods[k], (double)NAN, 3.0, &v);
    const double x = tan(0.2) / mu;
    assert_near("creep", v, 1e-3 * x / sqrt(1.0 - x * x), 1e-5);
  }
}

// ---- viscous --------------------------------------------------------------------------------------------------------

/// The heat is the sum of damping times rate^2, as the joint's coordinates say, for every kind.
static void test_damping(void **state) {
  (void)state;
  static const as_joint_kind kinds[] = {
      AS_JOINT_REVOLUTE,  AS_JOINT_PRISMATIC, AS_JOINT_CYLINDRICAL,   AS_JOINT_SPHERICAL,
      AS_JOINT_UNIVERSAL, AS_JOINT_PLANAR,    AS_JOINT_POINT_ON_LINE, AS_JOINT_POINT_ON_PLANE};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def body = machine_round_body("first", 1.0, 1.0, k % 2);
    as_error error;
    as_joint_def joint = as_default_joint_def();
    as_joint_friction_def def = as_default_joint_friction_def();
    joint.kind = kinds[k];
    joint.axis[2] = joint.second_axis[0] = 1.0;
    joint.body[0] = machine_body(b, &body);
    body.name = "second";
    joint.body[1] = machine_body(b, &body);
    if (as_builder_add_joint(b, &joint, &def.joint, &error)) fail_msg("%s", error.message);
    as_model *plain = NULL;
    if (as_builder_build(b, &plain, &error)) fail_msg("%s", error.message);
    const int n = as_model_joint_coordinates(plain, (as_joint_id){0});
    as_model_destroy(plain);
    for (int j = 0; j < n; ++j) def.damping[j] = 0.5 + j;
    add_friction(b, &def);
    as_model *m = machine_build(b);
    assert_int_equal(as_model_problem(m)->def.force_kind, AS_FORCE_ADDITIVE);
    const double q[14] = {0.1, 0.2, 0.3, 0.8, 0.0, 0.6, 0.0, -0.3, 0.4, 0.1, 0.6, 0.64, 0.0, 0.48};
    const double v[12] = {1, -2, 3, 0.5, -0.4, 0.7, -1, 2, 0.3, 1.1, -0.6, 0.2};
    const as_state s = {.q = q, .v = v};
    double c[AS_JOINT_COORDINATES], rates[AS_JOINT_COORDINATES], sum = 0.0;
    as_power power = {0};
    if (as_model_coordinates(m, &s, (as_joint_id){0}, NULL, c, rates, &error) ||
        as_model_power(m, &s, &power, &error))
      fail_msg("%s", error.message);
    for (int j = 0; j < n; ++j) sum += def.damping[j] * rates[j] * rates[j];
    assert_near("heat", power.dissipated, sum, 1e-12);
    as_model_destroy(m);
  }
}

/// J w' = -d w.
static void test_decay(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    double w;
    single s = open_wheel((double[]){0, 1, 0}, k == 1);
    s.friction.coefficient = 0.0;
    s.friction.damping[0] = 0.1;
    finish(&s, rig_methods[k], 0.002, 0.5, &w);
    assert_near("w", w, spin * exp(-0.1 / moment * 0.5), 1e-4);
  }
}

// ---- building ---------------------------------------------------------------------------------------------------------

/// Assembly and friction get along.
static void test_assembly(void **state) {
  (void)state;
  as_error error;
  as_body_def body = machine_round_body("arm", mass, 0.06, true);
  body.position[2] = -0.5;
  single s = open_single(AS_JOINT_REVOLUTE, &body, (double[]){0, 1, 0}, 0, -g);
  add_friction(s.builder, &s.friction);
  as_coordinate_def wanted = as_default_coordinate_def();
  as_assembly_report report = {0};
  wanted.joint = (as_joint_id){0};
  wanted.value = 1.0;
  wanted.rate = 3.0;
  if (as_builder_set_coordinate(s.builder, &wanted, &error) ||
      as_builder_assemble(s.builder, &report, &error))
    fail_msg("%s", error.message);
  assert_int_equal(report.degrees_of_freedom, 1);
  as_model *m = machine_build(s.builder);
  assert_int_equal(as_model_problem(m)->def.force_kind, AS_FORCE_GENERAL);
  assert_near("v_x", as_model_initial(m)->v[4], 3.0, 1e-9);
  as_model_destroy(m);
}

/// What is held at rest has no accelerations but those of round-off, and starts all the same: arms that hang
/// on each other, at angles that no number has exactly.
static void test_held(void **state) {
  (void)state;
  enum { ARMS = 20 };
  const as_curve still = {0};
  const double y[3] = {0, 1, 0};
  as_error error;
  as_builder *b = machine_builder(0.3, 0, -g);
  as_body_id last = AS_GROUND;
  double place[3] = {0, 0, 0};
  for (int i = 0; i < ARMS; ++i) {
    const double angle = 0.3 + 0.7 * i;
    as_body_def arm = machine_round_body(NULL, mass, 0.06, false);
    arm.quaternion[0] = cos(angle / 2.0);
    arm.quaternion[2] = sin(angle / 2.0);
    arm.center_of_mass[2] = -0.5;
    memcpy(arm.position, place, sizeof place);
    const as_body_id id = machine_body(b, &arm);
    const as_joint_id joint = machine_joint(b, NULL, AS_JOINT_REVOLUTE, last, id, place, y);
    as_joint_friction_def friction = dry(joint);
    friction.name = NULL;
    add_friction(b, &friction);
    as_motion_def motion = as_default_motion_def();
    motion.joint = joint;
    motion.law = &still;
    if (as_builder_add_motion(b, &motion, NULL, &error)) fail_msg("%s", error.message);
    place[0] -= sin(angle);
    place[2] -= cos(angle);
    last = id;
  }
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.01);
  as_reaction hook;
  if (as_model_reaction(m, as_integrator_state(integrator), (as_joint_id){0}, &hook, &error))
    fail_msg("%s", error.message);
  assert_near("force", hook.force[2], ARMS * mass * g, 1e-9);
  assert_near("force", hook.force[0], -ARMS * mass * 0.3, 1e-9);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void refuse(as_builder *b, const as_joint_friction_def *def, const char *part) {
  as_error error = {0};
  assert_int_not_equal(as_builder_add_joint_friction(b, def, NULL, &error), AS_OK);
  if (strstr(error.message, part) == NULL) fail_msg("\"%s\" is not in: %s", part, error.message);
}

static void test_refusals(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def body = machine_round_body("body", 1.0, 1.0, false);
  const as_body_id id = machine_body(b, &body);
  const as_body_id dot = machine_point(b, "dot", 1.0, origin, origin);
  const double axis[3] = {0, 0, 1}, far[3] = {1, 0, 0};
  const as_joint_id hinge =
      machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, id, origin, axis);
  const as_joint_id rod = machine_rod(b, "rod", AS_GROUND, id, far, origin);
  const as_joint_id table = machine_joint(b, "table", AS_JOINT_PLANAR, AS_GROUND, id, origin, axis);
  const as_joint_id hook = machine_joint(b, "hook", AS_JOINT_SPHERICAL, id, dot, origin, NULL);
  as_joint_friction_def def = dry(AS_NO_JOINT);
  refuse(b, &def, "\"friction\" is in joint -2, which is not there");
  def.joint = rod;
  refuse(b, &def, "joint \"rod\", which has no coordinates");
  def.joint = table;
  refuse(b, &def, "planar joint \"table\"");
  def.joint = hook;
  refuse(b, &def, "resists turns of the point mass \"dot\"");
  def.joint = hinge;
  def.coefficient = -0.1;
  refuse(b, &def,
         "friction coefficient of force \"friction\" is -0.1; it must be a number that is not "
         "negative");
  def.coefficient = (double)NAN;
  refuse(b, &def, "friction coefficient of force \"friction\" is nan");
  def.coefficient = 0.1;
  def.radius = 0.0;
  refuse(b, &def, "radius of friction \"friction\" is 0; it must be a positive number");
  def.radius = 0.1;
  def.transition_speed = 0.0;
  refuse(b, &def, "transition speed of friction");
  def.transition_speed = 1e-3;
  def.damping[1] = 0.1;
  refuse(b, &def, "damps coordinate 1 of joint \"hinge\", which has 1");
  def.damping[1] = 0.0;
  as_frame_def frame = as_default_frame_def();
  const as_curve turning = {.slope = 1.0};
  frame.body = AS_GROUND;
  frame.turn = &turning;
  as_joint_def joint = as_default_joint_def();
  joint.name = "mill";
  joint.kind = AS_JOINT_REVOLUTE;
  joint.axis[2] = 1.0;
  joint.body[1] = id;
  if (as_builder_add_frame(b, &frame, &joint.frame[0], &error) ||
      as_builder_add_joint(b, &joint, &def.joint, &error))
    fail_msg("%s", error.message);
  refuse(b, &def, "joint \"mill\", which has a frame that moves");
  as_model *m = machine_build(b);
  assert_int_equal(as_model_forces(m), 0);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_block),
                                     cmocka_unit_test(test_creep),
                                     cmocka_unit_test(test_drawer),
                                     cmocka_unit_test(test_tall_block),
                                     cmocka_unit_test(test_wheel),
                                     cmocka_unit_test(test_bearings),
                                     cmocka_unit_test(test_directions_of_loads),
                                     cmocka_unit_test(test_sleeve),
                                     cmocka_unit_test(test_socket),
                                     cmocka_unit_test(test_order),
                                     cmocka_unit_test(test_balance),
                                     cmocka_unit_test(test_automatic),
                                     cmocka_unit_test(test_damping),
                                     cmocka_unit_test(test_decay),
                                     cmocka_unit_test(test_assembly),
                                     cmocka_unit_test(test_held),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
