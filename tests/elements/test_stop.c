/// Stops in joint coordinates: impacts by hand, restitution by quadrature, order, energy, refusals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "elements/penalty.h"
#include "machines.h"
#include "rig.h"

static const double pi = 3.14159265358979323846;
static const double origin[3] = {0, 0, 0}, x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0},
                    z_axis[3] = {0, 0, 1};

static as_force_id add_stop(as_builder *b, as_joint_id joint, int coordinate, double lower,
                            double upper, as_penalty law) {
  as_error error;
  as_force_id id = AS_NO_FORCE;
  as_stop_def def = as_default_stop_def();
  def.name = "stop";
  def.joint = joint;
  def.coordinate = coordinate;
  def.lower = lower;
  def.upper = upper;
  def.law = law;
  if (as_builder_add_stop(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// A bead on a wire along x that flies at `speed` between stops at -d and d.
static as_model *build_bead(double mass, double speed, double d, as_penalty law) {
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id bead = machine_point(b, "bead", mass, origin, (double[]){speed, 0, 0});
  const as_joint_id wire =
      machine_joint(b, "wire", AS_JOINT_POINT_ON_LINE, AS_GROUND, bead, origin, x_axis);
  add_stop(b, wire, 0, -d, d, law);
  return machine_build(b);
}

// ---- the law itself ---------------------------------------------------------------------------------

/// Derivatives against differences, inside the onset and beyond; two continuous derivatives where they are promised;
/// the elastic force is the derivative of the potential; it never pulls and never brings energy.
static void test_law(void **state) {
  (void)state;
  static const asi_penalty laws[] = {{1e3, 1.0, 0.5, 0.1, {-1, NULL}, {-1, NULL}},
                                     {2e3, 1.5, 2.0, 0.2, {-1, NULL}, {-1, NULL}},
                                     {5e3, 2.5, 1.0, 0.0, {-1, NULL}, {-1, NULL}},
                                     {1e3, 1.0, 0.0, 0.0, {-1, NULL}, {-1, NULL}}};
  for (size_t k = 0; k < sizeof laws / sizeof laws[0]; ++k) {
    const asi_penalty *p = &laws[k];
    for (int i = -3; i < 40; ++i)
      for (int j = -20; j <= 20; ++j) {
        const double x = 0.0101 * i, v = 0.501 * j, e = 1e-6;
        double at[3], deep[3], shallow[3], fast[3], slow[3];
        asi_penalty_evaluate(p, NULL, x, v, at);
        asi_penalty_evaluate(p, NULL, x + e, v, deep);
        asi_penalty_evaluate(p, NULL, x - e, v, shallow);
        asi_penalty_evaluate(p, NULL, x, v + e, fast);
        asi_penalty_evaluate(p, NULL, x, v - e, slow);
        assert_true(at[0] >= 0.0 && asi_penalty_power(p, NULL, x, v).dissipated >= 0.0);
        if (i == 0) continue;
        assert_near("by depth", at[1], (deep[0] - shallow[0]) / (2.0 * e), 1e-3 + 1e-6 * at[1]);
        assert_near("by rate", at[2], (fast[0] - slow[0]) / (2.0 * e), 1e-5 + 1e-6 * at[2]);
        if (j != 0) continue;
        const double slope =
            (asi_penalty_potential(p, NULL, x + e) - asi_penalty_potential(p, NULL, x - e)) /
            (2.0 * e);
        assert_near("potential", slope, at[0], 1e-6 + 1e-8 * at[0]);
      }
    for (int i = 0; i < 2 && p->onset > 0.0; ++i) { // where the onset begins and ends
      const double x = i * p->onset, e = 1e-7 * p->onset;
      double before[3], after[3];
      asi_penalty_evaluate(p, NULL, x - e, 0.0, before);
      asi_penalty_evaluate(p, NULL, x + e, 0.0, after);
      // Two continuous derivatives: the first one changes by e times the second.
      assert_near("slope", after[1], before[1],
                  1e-4 * p->stiffness * pow(p->onset, p->exponent - 1.0));
    }
  }
}

// ---- impacts by hand --------------------------------------------------------------------------------

/// Linear stops: a contact is half a period of the mass on the spring, pi sqrt(m/k); the largest force is
/// v sqrt(k m), the largest depth v sqrt(m/k). The bead comes back after 4 d/v + 2 pi sqrt(m/k).
static void test_rattle(void **state) {
  (void)state;
  const double m = 0.5, k = 2e4, v = 2.0, d = 0.05, h = 2e-5;
  const double contact = pi * sqrt(m / k), period = 4.0 * d / v + 2.0 * contact;
  as_model *model = build_bead(m, v, d, (as_penalty){.stiffness = k, .exponent = 1.0});
  as_integrator *integrator = drive_start(model, AS_METHOD_INDEX2, h);
  const as_state *s = as_integrator_state(integrator);
  as_error error;
  double right = 0.0, left = 0.0, depth = 0.0, inside = 0.0;
  while (s->t < period - h / 2.0) {
    if (as_integrator_step(integrator, fmin(h, period - s->t), &error))
      fail_msg("%s", error.message);
    const double force = drive_force(model, s, (as_force_id){0}).force[0];
    right = fmax(right, -force);
    left = fmax(left, force);
    depth = fmax(depth, s->q[0] - d);
    if (s->q[0] > d) inside += h;
  }
  print_message("  force %.4f and %.4f of %.4f N, contact %.6f of %.6f s\n", right, left,
                v * sqrt(k * m), inside, contact);
  assert_near("force on the right", right, v * sqrt(k * m), 2e-3);
  assert_near("force on the left", left, v * sqrt(k * m), 2e-3);
  assert_near("depth", depth, v * sqrt(m / k), 1e-7);
  assert_near("contact", inside, contact, 2.0 * h);
  assert_near("position after a period", s->q[0], 0.0, 5e-6);
  assert_near("velocity after a period", s->v[0], v, 5e-5);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

/// The damping factor as it is documented.
static double factor(double s) { return s >= 0.0 ? 1.0 + s : 1.0 / (1.0 - s + s * s); }

/// m v dv = -E(x) D(c v) dx: what goes in is the integral of v/D(c v) up to v, what comes out that of v/D(-c v), and
/// both are the integral of E/m. Simpson's rule; the rebound speed by halving.
static double energy_like(double (*D)(double), double c, double speed, double sign) {
  enum { N = 2000 };
  double sum = 0.0;
  for (int i = 0; i <= N; ++i) {
    const double v = speed * i / N, weight = i == 0 || i == N ? 1.0 : i % 2 ? 4.0 : 2.0;
    sum += weight * v / D(sign * c * v);
  }
  return sum * speed / (3.0 * N);
}

static double rebound(double (*D)(double), double c, double speed) {
  const double in = energy_like(D, c, speed, 1.0);
  double low = 0.0, high = speed;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2.0;
    if (energy_like(D, c, middle, -1.0) < in)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Restitution depends on c v alone, not on the stiffness, the exponent or the onset. For small c v it is
/// 1 - 2 c v/3, Hunt and Crossley's.
static void test_restitution(void **state) {
  (void)state;
  static const double speeds[] = {0.05, 0.5, 2.0, 20.0};
  for (int k = 0; k < 3; ++k)
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; ++i) {
      const double v = speeds[i], c = 1.0;
      const as_penalty law = {.stiffness = k == 1 ? 3e5 : 1e4,
                              .exponent = k == 0 ? 1.0 : 1.5,
                              .damping = c,
                              .onset = k == 2 ? 1e-4 : 0.0};
      as_model *model = build_bead(0.5, v, 0.001, law);
      as_integrator *integrator = drive_start(model, AS_METHOD_INDEX3, 1e-5);
      const as_state *s = as_integrator_state(integrator);
      as_error error;
      double least = 0.0;
      do {
        if (as_integrator_step(integrator, fmin(1e-5, 1e-4 / v), &error))
          fail_msg("%s", error.message);
        least = fmin(least, -drive_force(model, s, (as_force_id){0}).force[0]);
      } while (s->v[0] > 0.0 || s->q[0] > 0.001);
      print_message("  c v = %-5g: rebound %.6f of %.6f\n", c * v, -s->v[0] / v,
                    rebound(factor, c, v) / v);
      assert_near("rebound", -s->v[0] / v, rebound(factor, c, v) / v, 3e-5);
      if (v < 0.1)
        assert_near("rebound, small", -s->v[0] / v, 1.0 - 2.0 * c * v / 3.0, 2.0 * v * v);
      assert_true(least >= 0.0); // it never pulls
      as_integrator_destroy(integrator);
      as_model_destroy(model);
    }
}

/// Hunt and Crossley's own law as a function of two variables, which is cut off where it would pull.
static int hunt_crossley(double x, double v, double out[3], void *user) {
  const double k = 1e4, c = *(const double *)user, e = k * x * sqrt(x);
  out[0] = e * (1.0 + c * v);
  out[1] = 1.5 * k * sqrt(x) * (1.0 + c * v);
  out[2] = e * c;
  return AS_DONE;
}

static double plain_factor(double s) { return 1.0 + s; }

static void test_surface(void **state) {
  (void)state;
  static double c[2] = {0.4, 30.0};
  for (int k = 0; k < 2; ++k) {
    const as_surface law = {.function = hunt_crossley, .user = &c[k]};
    as_model *model = build_bead(0.5, 1.0, 0.001, (as_penalty){.surface = &law, .exponent = 1.0});
    as_integrator *integrator = drive_start(model, AS_METHOD_INDEX2, 1e-5);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    double least = 0.0;
    while (s->t < 0.5) {
      if (as_integrator_step(integrator, 1e-5, &error)) fail_msg("%s", error.message);
      if (s->q[0] > 0.0) least = fmin(least, -drive_force(model, s, (as_force_id){0}).force[0]);
      if (s->q[0] < 0.0005 && s->v[0] < 0.0) break;
    }
    print_message("  c v = %g: rebound %.6f\n", c[k], -s->v[0]);
    // For a large c v it cannot come back faster than 1/c, where the force vanishes.
    if (k == 0) assert_near("rebound", -s->v[0], rebound(plain_factor, c[0], 1.0), 1e-5);
    if (k == 1) assert_near("rebound", -s->v[0], 1.0 / c[1], 1e-5);
    assert_true(least >= 0.0);
    as_meter meter;
    drive_balance(model, AS_METHOD_INDEX2, 1e-4, 0.1, 1e-4, &meter);
    assert_true(meter.dissipated > 0.1);
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
}

/// The elastic force as a table of depth: straight pieces, so that the potential is known. The bead of energy 0.25 J
/// goes in by 0.01 m (0.05 J) and then by e more: 10 e + 1000 e^2 = 0.2.
static void test_curve(void **state) {
  (void)state;
  static const double x[] = {0.0, 0.01, 0.02}, y[] = {0.0, 10.0, 30.0};
  static const as_curve table = {.x = x, .y = y, .n = 3, .interpolation = AS_LINEAR};
  as_model *model = build_bead(0.5, 1.0, 0.01, (as_penalty){.curve = &table, .exponent = 1.0});
  as_integrator *integrator = drive_start(model, AS_METHOD_INDEX2, 1e-5);
  const as_state *s = as_integrator_state(integrator);
  as_error error;
  as_energy energy;
  double depth = 0.0;
  while (s->v[0] > 0.0) {
    if (as_integrator_step(integrator, 1e-5, &error)) fail_msg("%s", error.message);
    depth = fmax(depth, s->q[0] - 0.01);
  }
  assert_near("depth", depth, 0.01 + (sqrt(100.0 + 800.0) - 10.0) / 2000.0, 1e-7);
  assert_int_equal(as_model_energy(model, s, &energy, &error), AS_OK);
  assert_near("energy", energy.kinetic + energy.potential, 0.25, 1e-6);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

/// A curve that goes below zero does not make a stop pull: the bead goes on with what the first millimetre took, and that
/// is what the stop stores.
static void test_curve_below_zero(void **state) {
  (void)state;
  static const double x[] = {0.0, 0.001, 0.002}, y[] = {0.0, 10.0, -10.0};
  static const double rates[] = {-1.0, 1.0}, z[] = {0.0, 0.0, 10.0, 10.0, -10.0, -10.0};
  static const as_curve straight = {.x = x, .y = y, .n = 3, .interpolation = AS_LINEAR};
  static const as_curve spline = {.x = x, .y = y, .n = 3};
  static const as_surface table = {
      .x = x, .y = rates, .z = z, .nx = 3, .ny = 2, .interpolation = AS_LINEAR};
  static const as_penalty laws[] = {{.curve = &straight, .exponent = 1.0},
                                    {.surface = &table, .exponent = 1.0},
                                    {.curve = &spline, .exponent = 1.0}};
  const double taken = 0.005 + 0.0025; // to 1 mm, and on to 1.5 mm, where the curve is zero [J]
  for (int k = 0; k < 3; ++k) {
    as_model *model = build_bead(0.5, 1.0, 0.01, laws[k]);
    as_integrator *integrator = drive_start(model, AS_METHOD_INDEX2, 1e-5);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    as_energy energy;
    if (as_integrator_advance(integrator, 0.03, &error)) fail_msg("%s", error.message);
    assert_int_equal(as_model_energy(model, s, &energy, &error), AS_OK);
    assert_near("energy", energy.kinetic + energy.potential, 0.25, 1e-6);
    if (k < 2) assert_near("speed", s->v[0], sqrt(1.0 - 2.0 * taken / 0.5), 1e-6);
    if (k < 2) assert_near("stored", energy.potential, taken, 1e-13);
    as_integrator_destroy(integrator);
    as_model_destroy(model);
  }
}

// ---- every coordinate -------------------------------------------------------------------------------

typedef struct coordinate_case {
  as_joint_kind kind;
  int coordinate;
} coordinate_case;

static const coordinate_case coordinates[] = {
    {AS_JOINT_REVOLUTE, 0},      {AS_JOINT_PRISMATIC, 0},      {AS_JOINT_CYLINDRICAL, 0},
    {AS_JOINT_CYLINDRICAL, 1},   {AS_JOINT_UNIVERSAL, 0},      {AS_JOINT_UNIVERSAL, 1},
    {AS_JOINT_PLANAR, 0},        {AS_JOINT_PLANAR, 1},         {AS_JOINT_PLANAR, 2},
    {AS_JOINT_POINT_ON_LINE, 0}, {AS_JOINT_POINT_ON_PLANE, 0}, {AS_JOINT_POINT_ON_PLANE, 1}};

/// A stop sees the coordinate that as_model_coordinates() reports: led to c beyond the limit at 0.3 (or -0.3), it holds
/// the energy k (|c| - 0.3)^3/3.
static void test_coordinates(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof coordinates / sizeof coordinates[0]; ++i)
    for (int sign = -1; sign < 2; sign += 2) {
      const coordinate_case *c = &coordinates[i];
      as_error error;
      as_builder *b = machine_builder(0, 0, 0);
      as_body_def base = machine_round_body("base", 1.0, 0.2, i % 2), arm = base;
      arm.name = "arm";
      arm.position[0] = 0.4;
      arm.space = AS_SPACE_R3SO3;
      const as_body_id first = machine_body(b, &base), second = machine_body(b, &arm);
      as_joint_def joint = as_default_joint_def();
      joint.kind = c->kind;
      joint.body[0] = first;
      joint.body[1] = second;
      memcpy(joint.axis, (double[]){0.6, 0.0, 0.8}, sizeof joint.axis);
      memcpy(joint.second_axis, (double[]){0.8, 0.0, -0.6}, sizeof joint.second_axis);
      as_coordinate_def wanted = as_default_coordinate_def();
      if (as_builder_add_joint(b, &joint, &wanted.joint, &error)) fail_msg("%s", error.message);
      wanted.coordinate = c->coordinate;
      wanted.value = sign * 0.8;
      add_stop(b, wanted.joint, c->coordinate, -0.3, 0.3,
               (as_penalty){.stiffness = 6.0, .exponent = 2.0});
      if (as_builder_set_coordinate(b, &wanted, &error) || as_builder_assemble(b, NULL, &error))
        fail_msg("%s", error.message);
      as_model *model = machine_build(b);
      const as_initial *start = as_model_initial(model);
      const as_state s = {.q = start->q, .v = start->v};
      as_energy energy;
      double value[AS_JOINT_COORDINATES];
      if (as_model_energy(model, &s, &energy, &error) ||
          as_model_coordinates(model, &s, wanted.joint, NULL, value, NULL, &error))
        fail_msg("%s", error.message);
      assert_near("coordinate", value[c->coordinate], sign * 0.8, 1e-8);
      assert_near("energy", energy.potential, 6.0 * 0.125 / 3.0, 1e-7);
      as_model_destroy(model);
    }
}

// ---- order and energy -------------------------------------------------------------------------------

/// A pendulum that falls against a stop with a smooth onset, on a cart that a stop holds too.
static as_model *build_pendulum(bool se3, double damping) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def def = machine_round_body("cart", 2.0, 0.1, se3);
  def.velocity[0] = 0.7;
  const as_body_id cart = machine_body(b, &def);
  def = machine_round_body("arm", 1.0, 0.05, se3);
  def.inertia[0] = 0.08;
  def.position[0] = 0.5;
  def.velocity[0] = 0.7;
  const as_body_id arm = machine_body(b, &def);
  const as_joint_id rail =
      machine_joint(b, "rail", AS_JOINT_PRISMATIC, AS_GROUND, cart, origin, x_axis);
  const as_joint_id hinge = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, cart, arm, origin, y_axis);
  const as_penalty law = {.stiffness = 150.0, .exponent = 1.0, .damping = damping, .onset = 0.3};
  add_stop(b, hinge, 0, (double)NAN, 0.5, law);
  as_stop_def def2 = as_default_stop_def();
  as_error error;
  def2.joint = rail;
  def2.upper = 0.1;
  def2.lower = -3.0;
  def2.law = law;
  if (as_builder_add_stop(b, &def2, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_order(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *model = build_pendulum(se3, 0.4);
    for (int k = 0; k < 3; ++k) drive_orders("pendulum", model, rig_methods[k], 0.004, 0.8);
    as_model_destroy(model);
  }
}

static void test_energy(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int damped = 0; damped < 2; ++damped) {
      as_model *model = build_pendulum(se3, damped ? 0.4 : 0.0);
      for (int k = 0; k < 3; ++k) {
        as_meter meter;
        drive_balance(model, rig_methods[k], 0.004, 1.0, 1e-2, &meter);
        assert_true(damped ? meter.dissipated > 1.0 : meter.dissipated == 0.0);
      }
      as_model_destroy(model);
    }
}

/// A joint whose frame is moved: the stop goes with it and pushes a bead ahead, which flies on at twice the speed.
static void test_moving_stop(void **state) {
  (void)state;
  static const as_curve pushed = {.slope = 1.5};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.shift[2] = &pushed;
  as_joint_def wire = as_default_joint_def();
  wire.kind = AS_JOINT_POINT_ON_LINE;
  assert_int_equal(as_builder_add_frame(b, &frame, &wire.frame[0], &error), AS_OK);
  frame = as_default_frame_def();
  frame.body = machine_point(b, "bead", 0.5, (double[]){0, 0, 0.1}, origin);
  assert_int_equal(as_builder_add_frame(b, &frame, &wire.frame[1], &error), AS_OK);
  as_joint_id id;
  assert_int_equal(as_builder_add_joint(b, &wire, &id, &error), AS_OK);
  add_stop(b, id, 0, 0.02, (double)NAN, (as_penalty){.stiffness = 3e4, .exponent = 1.5});
  as_model *model = machine_build(b);
  as_meter meter;
  drive_balance(model, AS_METHOD_INDEX2, 1e-4, 0.1, 5e-5, &meter);
  as_integrator *integrator;
  const as_state *s = drive_to(model, AS_METHOD_INDEX2, 5e-5, 0.1, &integrator);
  assert_near("speed", s->v[2], 3.0, 2e-4);
  assert_near("work", meter.forces, 0.25 * 9.0,
              1e-3); // all of the bead's energy comes from the motion
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

// ---- refusals ---------------------------------------------------------------------------------------

static void test_refused(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def arm = machine_round_body("arm", 1.0, 0.1, false);
  const as_body_id id = machine_body(b, &arm);
  as_stop_def def = as_default_stop_def();
  def.name = "bump";
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "stop \"bump\" is of joint -2");
  def.joint = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, id, origin, z_axis);
  def.coordinate = 1;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "coordinate 1 of joint \"hinge\", which has 1");
  def.coordinate = 0;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "neither a lower nor an upper limit");
  def.upper = -1.0;
  def.lower = 1.0;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error, "the limits 1 and -1");
  def.upper = 8.0;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error, "a whole turn");
  def.upper = 2.0;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "stiffness of force \"bump\" is nan");
  def.law.stiffness = 10.0;
  def.law.exponent = 0.5;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "exponent of force \"bump\" is 0.5");
  def.law.exponent = 1.0;
  def.law.damping = -1.0;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "damping of force \"bump\" is -1");
  def.law.damping = 0.0;
  def.law.onset = (double)NAN;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "onset of force \"bump\" is nan");
  def.law.onset = 0.0;
  static const as_curve table = {.slope = 1.0};
  static const as_surface surface = {.nx = 3};
  def.law.surface = &surface;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "surface of force \"bump\" has a table of 3 by 0 points");
  def.law.curve = &table;
  expect_refused(as_builder_add_stop(b, &def, NULL, &error), &error,
                 "\"bump\" has both a curve and a surface");
  def.law.curve = NULL;
  def.law.surface = NULL;
  const as_joint_id ball =
      machine_joint(b, "ball", AS_JOINT_SPHERICAL, AS_GROUND, id, origin, NULL);
  as_stop_def turn = def;
  turn.joint = ball;
  expect_refused(as_builder_add_stop(b, &turn, NULL, &error), &error,
                 "rotation vector of joint \"ball\"");
  as_model *m = NULL;
  assert_int_equal(as_builder_build(b, &m, &error), AS_OK);
  assert_int_equal(as_model_forces(m), 0); // nothing refused has left a trace
  as_model_destroy(m);
  as_force_id stop;
  assert_int_equal(as_builder_add_stop(b, &def, &stop, &error), AS_OK);
  as_joint_friction_def friction = as_default_joint_friction_def();
  friction.name = "brake";
  friction.joint = def.joint;
  friction.coefficient = friction.radius = 0.1;
  as_force_id brake;
  assert_int_equal(as_builder_add_joint_friction(b, &friction, &brake, &error), AS_OK);
  m = machine_build(b);
  assert_int_equal(as_model_find_force(m, "bump").index, stop.index);
  const as_state s = {.q = as_model_initial(m)->q, .v = as_model_initial(m)->v};
  as_wrench w;
  expect_refused(as_model_force(m, &s, (as_force_id){7}, 0, &w, &error), &error,
                 "There is no force 7");
  expect_refused(as_model_force(m, &s, brake, 0, &w, &error), &error,
                 "\"brake\" depends on reactions: it needs a state with lambda");
  as_power power;
  expect_refused(as_model_power(m, &s, &power, &error), &error,
                 "\"brake\" depends on reactions: it needs a state with lambda");
  expect_refused(as_model_force(m, &s, stop, 2, &w, &error), &error,
                 "force \"bump\" has no body 2: it has 2");
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_law),
                                     cmocka_unit_test(test_rattle),
                                     cmocka_unit_test(test_restitution),
                                     cmocka_unit_test(test_curve),
                                     cmocka_unit_test(test_curve_below_zero),
                                     cmocka_unit_test(test_surface),
                                     cmocka_unit_test(test_coordinates),
                                     cmocka_unit_test(test_order),
                                     cmocka_unit_test(test_energy),
                                     cmocka_unit_test(test_moving_stop),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
