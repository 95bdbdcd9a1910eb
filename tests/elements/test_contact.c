/// Spheres and points against planes: bounces, sliding and rolling by hand; momentum, order, energy, refusals.
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

static const double origin[3] = {0, 0, 0};

static as_force_id add_contact(as_builder *b, const as_contact_def *def) {
  as_error error;
  as_force_id id = AS_NO_FORCE;
  if (as_builder_add_contact(b, def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// A body on the floor z = 0 of the ground.
static as_contact_def on_floor(as_body_id body, const double *center, double radius,
                               double stiffness) {
  as_contact_def def = as_default_contact_def();
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.normal[2] = 3.0;
  memcpy(def.center, center, sizeof def.center);
  def.radius = radius;
  def.law.stiffness = stiffness;
  return def;
}

// ---- bounces ----------------------------------------------------------------------------------------

/// A ball against a wall without gravity, Hertz' law: the depth x_m has 2 k x_m^(5/2)/5 = m v^2/2, the contact
/// lasts 2 x_m/v times the integral of 1/sqrt(1 - u^(5/2)), 1.4716, and the ball leaves as fast as it came.
static void test_hertz(void **state) {
  (void)state;
  const double m = 0.2, k = 1e6, v = 3.0, r = 0.03, gap = 0.002, h = 5e-6, end = 0.01;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def ball = machine_round_body("ball", m, 0.4 * m * r * r, se3);
    ball.position[2] = r + gap;
    ball.velocity[2] = -v;
    const as_body_id id = machine_body(b, &ball);
    const as_contact_def def = on_floor(id, ball.position, r, k);
    add_contact(b, &def);
    as_model *model = machine_build(b);
    as_integrator *integrator = drive_start(model, AS_METHOD_INDEX2, h);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    double depth = 0.0, force = 0.0;
    while (s->t < end) {
      if (as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
      depth = fmax(depth, r - s->q[2]);
      force = fmax(force, drive_force(model, s, (as_force_id){0}).force[2]);
    }
    const double deepest = pow(5.0 * m * v * v / (4.0 * k), 0.4);
    const double left = s->t - (s->q[2] - r) / s->v[2], came = gap / v;
    print_message("  depth %.7f of %.7f m, contact %.7f of %.7f s\n", depth, deepest, left - came,
                  2.943275 * deepest / v);
    assert_near("depth", depth, deepest, 1e-5 * deepest);
    assert_near("force", force, k * pow(deepest, 1.5), 1e-5 * k * pow(deepest, 1.5));
    assert_near("contact", left - came, 2.943275 * deepest / v, 1e-5 * (left - came));
    assert_near("speed", s->v[2], v, 1e-5 * v);
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
}

/// A ball dropped from 0.5 m bounces back to 0.5 m, again and again.
static void test_dropped_ball(void **state) {
  (void)state;
  const double r = 0.05, height = 0.5;
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def ball = machine_round_body("ball", 1.0, 0.001, false);
  ball.position[2] = r + height;
  const as_body_id id = machine_body(b, &ball);
  const as_contact_def def = on_floor(id, ball.position, r, 1e6);
  add_contact(b, &def);
  as_model *model = machine_build(b);
  as_integrator *integrator = drive_start(model, AS_METHOD_INDEX3, 1e-5);
  const as_state *s = as_integrator_state(integrator);
  as_error error;
  double top = 0.0, before = 0.0;
  int bounces = 0;
  while (bounces < 3) {
    const double speed = s->v[2];
    if (as_integrator_step(integrator, 1e-5, &error)) fail_msg("%s", error.message);
    if (speed < 0.0 && s->v[2] >= 0.0) before = 0.0;
    before = fmax(before, s->q[2] - r);
    if (!(speed > 0.0 && s->v[2] <= 0.0)) continue;
    top = before;
    ++bounces;
    assert_near("height", top, height, 1e-6);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

/// Automatic steps find the bounces: a ball thrown with a backspin that stops it, m v r = J w, comes to rest on the
/// floor; without damping and friction the energy stays.
static void test_automatic(void **state) {
  (void)state;
  const double m = 1.0, r = 0.05, moment = 0.001, g = 9.81;
  for (int rough = 0; rough < 2; ++rough) {
    as_builder *b = machine_builder(0, 0, -g);
    as_error error;
    as_body_def ball = machine_round_body("ball", m, moment, false);
    ball.position[2] = 0.5;
    ball.velocity[0] = 1.0;
    ball.angular_velocity[1] = -m * r / moment;
    const as_body_id id = machine_body(b, &ball);
    as_contact_def def = on_floor(id, ball.position, r, 1e6);
    if (rough) {
      def.friction = 0.3;
      def.slip_speed = 1e-3;
      def.law.damping = 1.0;
    }
    add_contact(b, &def);
    as_model *model = machine_build(b);
    as_integrator_def how = as_default_integrator_def();
    how.tolerance.rtol = 3e-4;
    as_integrator *integrator = NULL;
    as_statistics work = {0};
    as_energy energy = {0};
    if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
        as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
        as_integrator_advance(integrator, 3.0, &error) ||
        as_integrator_statistics(integrator, &work, &error) ||
        as_model_energy(model, as_integrator_state(integrator), &energy, &error))
      fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    const double start = m * g * 0.5 + m / 2.0 + pow(m * r, 2) / (2.0 * moment);
    print_message("  %ld steps, energy %.6f of %.6f J\n", work.steps,
                  energy.kinetic + energy.potential, start);
    if (rough) {
      assert_near("speed", s->v[0], 0.0, 1e-4);
      assert_near("spin", s->v[4], 0.0, 1e-3);
    } else {
      assert_near("energy", energy.kinetic + energy.potential, start, 1e-3 * start);
    }
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
}

// ---- friction ---------------------------------------------------------------------------------------

/// How far friction mu s/sqrt(s^2 + e^2) lets a body slide: the integral of sqrt(v^2 + e^2) over mu g.
static double sliding(double v, double e, double mu, double g) {
  return (v * sqrt(v * v + e * e) + e * e * asinh(v / e)) / (2.0 * mu * g);
}

/// A block slides on the floor and stops after v^2/(2 mu g), and a little for the regularisation: as a point, and
/// as a body on four feet.
static void test_block(void **state) {
  (void)state;
  const double m = 2.0, g = 9.81, mu = 0.3, v = 2.0, e = 0.01, k = 1e6;
  const double expected = sliding(v, e, mu, g);
  assert_near("regularisation", expected, v * v / (2.0 * mu * g), 2e-4);
  for (int kind = 0; kind < 3; ++kind) {
    as_builder *b = machine_builder(0, 0, -g);
    const int feet = kind == 0 ? 1 : 4;
    const double depth = pow(m * g / feet / k, 1.0 / 1.5), low = kind == 0 ? 0.0 : 0.02;
    as_body_def block = machine_round_body("block", m, 0.05, kind == 2);
    if (kind == 0) block.kind = AS_BODY_POINT;
    block.position[2] = low - depth;
    block.velocity[0] = 0.6 * v;
    block.velocity[1] = 0.8 * v;
    const as_body_id id = machine_body(b, &block);
    for (int i = 0; i < feet; ++i) {
      const double place[3] = {kind == 0 ? 0.0
                               : i % 2   ? 0.3
                                         : -0.3,
                               kind == 0 ? 0.0
                               : i / 2   ? 0.2
                                         : -0.2,
                               block.position[2] - low};
      as_contact_def def = on_floor(id, place, 0.0, k);
      def.friction = mu;
      def.slip_speed = e;
      def.law.damping = 5.0;
      add_contact(b, &def);
    }
    as_model *model = machine_build(b);
    as_integrator *integrator;
    const as_state *s = drive_to(model, AS_METHOD_INDEX2, 2e-4, 1.2, &integrator);
    print_message("  %s stops after %.6f m of %.6f\n", kind == 0 ? "point" : "block",
                  hypot(s->q[0], s->q[1]), expected);
    assert_near("distance", hypot(s->q[0], s->q[1]), expected, kind == 0 ? 1e-6 : 1e-5);
    assert_near("speed", hypot(s->v[0], s->v[1]), 0.0, 1e-6);
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
}

/// On a slope of tan a < mu a body creeps: mu s/sqrt(s^2 + e^2) = tan a.
static void test_creep(void **state) {
  (void)state;
  const double a = 0.2, mu = 0.5, e = 1e-3, m = 1.3, g = 9.81, k = 1e5;
  const double depth = pow(m * g * cos(a) / k, 1.0 / 1.5);
  const double speed = e * tan(a) / sqrt(mu * mu - tan(a) * tan(a));
  as_builder *b = machine_builder(g * sin(a), 0, -g * cos(a)); // the slope's own axes
  const as_body_id id =
      machine_point(b, "bead", m, (double[]){0, 0, -depth}, (double[]){speed, 0, 0});
  as_contact_def def = on_floor(id, origin, 0.0, k);
  memcpy(def.center, (double[]){0, 0, -depth}, sizeof def.center);
  def.friction = mu;
  def.slip_speed = e;
  add_contact(b, &def);
  as_model *model = machine_build(b);
  as_integrator *integrator;
  const as_state *s = drive_to(model, AS_METHOD_INDEX2, 1e-3, 0.5, &integrator);
  assert_near("speed", s->v[0], speed, 1e-9);
  assert_near("way", s->q[0], 0.5 * speed, 1e-9);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

/// A ball thrown without spin slides and ends up rolling at 5/7 of its speed, whatever the friction, since its
/// angular momentum about a line in the floor stays; it loses m v^2/7.
static void test_sliding_ball(void **state) {
  (void)state;
  const double m = 0.7, r = 0.1, v = 3.0, mu = 0.25, g = 9.81, k = 1e6;
  const double depth = pow(m * g / k, 1.0 / 1.5);
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, 0, -g);
    as_body_def ball = machine_round_body("ball", m, 0.4 * m * r * r, se3);
    memcpy(ball.quaternion, (double[]){0.0, 0.6, 0.0, 0.8}, sizeof ball.quaternion); // half a turn
    ball.position[2] = r - depth;
    ball.velocity[0] = v;
    const as_body_id id = machine_body(b, &ball);
    as_contact_def def = on_floor(id, ball.position, r, k);
    def.friction = mu;
    def.slip_speed = 0.01;
    add_contact(b, &def);
    as_model *model = machine_build(b);
    as_meter meter;
    drive_imbalance(model, AS_METHOD_INDEX2, 2e-4, 0.5, &meter);
    as_integrator *integrator;
    const as_state *s = drive_to(model, AS_METHOD_INDEX2, 2e-4, 0.5, &integrator);
    as_body_motion at;
    as_model_body_motion(model, s, id, &at);
    double spin[3];
    for (int i = 0; i < 3; ++i)
      spin[i] =
          at.R[3 * i] * at.omega[0] + at.R[3 * i + 1] * at.omega[1] + at.R[3 * i + 2] * at.omega[2];
    print_message("  %s: speed %.7f of %.7f, spin %.6f of %.6f, loss %.5f of %.5f\n",
                  se3 ? "SE(3)" : "R3xSO3", at.v[0], 5.0 * v / 7.0, spin[1], 5.0 * v / 7.0 / r,
                  meter.dissipated, m * v * v / 7.0);
    assert_near("speed", at.v[0], 5.0 * v / 7.0, 5e-6);
    assert_near("spin", spin[1], 5.0 * v / 7.0 / r, 5e-5);
    assert_near("spin across", hypot(spin[0], spin[2]), 0.0, 1e-9);
    assert_near("loss", meter.dissipated, m * v * v / 7.0, 1e-4);
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
}

// ---- bodies on bodies -------------------------------------------------------------------------------

/// A spinning ball thrown against a free plate, both without gravity, with damping and friction; the contact sets in
/// smoothly.
static as_model *build_plate(bool se3) {
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def plate = machine_round_body("plate", 3.0, 0.2, se3);
  plate.inertia[2] = 0.35;
  plate.position[2] = -0.1;
  plate.angular_velocity[0] = 0.4;
  plate.angular_velocity[2] = -0.7;
  const as_body_id first = machine_body(b, &plate);
  as_body_def ball = machine_round_body("ball", 0.5, 0.002, !se3);
  memcpy(ball.quaternion, (double[]){0.6, 0.0, 0.8, 0.0}, sizeof ball.quaternion);
  ball.center_of_mass[0] = 0.02;
  ball.inertia[1] = 0.003;
  ball.position[0] = 0.1;
  ball.position[2] = 0.13;
  ball.velocity[0] = 1.0;
  ball.velocity[2] = -2.0;
  ball.angular_velocity[0] = 8.0;
  const as_body_id second = machine_body(b, &ball);
  as_contact_def def = as_default_contact_def();
  def.body[0] = first;
  def.body[1] = second;
  def.normal[2] = 1.0;
  memcpy(def.center, ball.position, sizeof def.center);
  def.radius = 0.1;
  def.law = (as_penalty){.stiffness = 2000.0, .exponent = 1.0, .damping = 0.2, .onset = 0.02};
  def.friction = 0.4;
  def.slip_speed = 0.3;
  add_contact(b, &def);
  return machine_build(b);
}

static void test_momentum(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *model = build_plate(se3);
    double change[2];
    for (int k = 0; k < 2; ++k) {
      const as_initial *start = as_model_initial(model);
      const as_state first = {.q = start->q, .v = start->v};
      as_integrator *integrator;
      const as_state *s = drive_to(model, AS_METHOD_INDEX2, k ? 2.5e-4 : 5e-4, 0.2, &integrator);
      as_momentum before, after;
      as_model_momentum(model, &first, &before);
      as_model_momentum(model, s, &after);
      change[k] = 0.0;
      for (int i = 0; i < 3; ++i) {
        change[k] += fabs(after.angular[i] - before.angular[i]);
        change[k] += fabs(after.linear[i] - before.linear[i]);
      }
      assert_true(s->v[2] < -0.1); // the plate was hit
      as_integrator_destroy(integrator);
    }
    print_message("  momentum changes by %.2e, %.2e\n", change[0], change[1]);
    assert_true(change[0] < 1e-4 && log2(change[0] / change[1]) > 1.8);
    as_model_destroy(model);
  }
}

static void test_order(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *model = build_plate(se3);
    for (int k = 0; k < 3; ++k) drive_orders("plate", model, rig_methods[k], 5e-4, 0.15);
    as_model_destroy(model);
  }
}

static void test_energy(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *model = build_plate(se3);
    for (int k = 0; k < 3; ++k) {
      as_meter meter;
      drive_balance(model, rig_methods[k], 5e-4, 0.15, 1e-3, &meter);
      assert_true(meter.dissipated > 0.1);
    }
    as_model_destroy(model);
  }
}

// ---- refusals ---------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  static const as_curve shaking = {.slope = 1.0};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id bead = machine_point(b, "bead", 1.0, origin, origin);
  as_contact_def def = on_floor(bead, origin, 0.0, 1.0), bad;
  def.name = "floor";
  bad = def;
  bad.normal[2] = 0.0;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "normal of the contact \"floor\" is zero");
  bad = def;
  bad.body[1] = AS_GROUND;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error, "both ends on one body");
  bad = def;
  bad.body[0] = bead;
  bad.body[1] = AS_GROUND;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "\"floor\" needs the axes of the point mass \"bead\"");
  bad = def;
  bad.radius = -0.1;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "radius of force \"floor\" is -0.1");
  bad = def;
  bad.friction = (double)NAN;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "friction coefficient of force \"floor\" is nan");
  bad.friction = 0.3;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "slip speed of force \"floor\" is nan m/s");
  bad = def;
  bad.law.stiffness = (double)NAN;
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "stiffness of force \"floor\" is nan");
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.shift[2] = &shaking;
  bad = def;
  assert_int_equal(as_builder_add_frame(b, &frame, &bad.frame[0], &error), AS_OK);
  expect_refused(as_builder_add_contact(b, &bad, NULL, &error), &error,
                 "\"floor\" is on a frame that moves");
  as_model *m = machine_build(b);
  assert_int_equal(as_model_forces(m), 0);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hertz),     cmocka_unit_test(test_dropped_ball),
      cmocka_unit_test(test_automatic), cmocka_unit_test(test_block),
      cmocka_unit_test(test_creep),     cmocka_unit_test(test_sliding_ball),
      cmocka_unit_test(test_momentum),  cmocka_unit_test(test_order),
      cmocka_unit_test(test_energy),    cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
