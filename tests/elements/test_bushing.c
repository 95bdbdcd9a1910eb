/// Bushings: deflections and frequencies by hand, momentum, order, energy, refusals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "elements/bushing.h"
#include "machines.h"
#include "rig.h"

static const double pi = 3.14159265358979323846;
static const double origin[3] = {0, 0, 0};
static const double stiffness[6] = {900.0, 1600.0, 2500.0, 4.0, 9.0, 16.0};

static as_force_id add_bushing(as_builder *b, const as_bushing_def *def) {
  as_error error;
  as_force_id id = AS_NO_FORCE;
  if (as_builder_add_bushing(b, def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// Between the ground and a body, both frames at the body's centre of mass in the world's axes.
static as_bushing_def to_ground(as_body_id body) {
  as_bushing_def def = as_default_bushing_def();
  def.name = "mount";
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  memcpy(def.stiffness, stiffness, sizeof stiffness);
  return def;
}

/// A frame on the ground at the origin, and one on a body at its centre of mass.
static void frames_at_centers(as_builder *b, as_bushing_def *def) {
  for (int s = 0; s < 2; ++s) {
    as_error error;
    as_frame_def frame = as_default_frame_def();
    frame.body = def->body[s];
    if (as_builder_add_frame(b, &frame, &def->frame[s], &error)) fail_msg("%s", error.message);
  }
}

// ---- the ratio of the rotation vector ---------------------------------------------------------------

static void ratio(double c, double out[3]) { asi_rotation_ratio(c, sqrt(1.0 - c * c), out); }

/// rho(cos theta) = theta/(2 sin theta) and its derivatives: across the change from series to formula, against
/// differences, and at small angles 1/2 + (1 - c)/6 + (1 - c)^2/15.
static void test_ratio(void **state) {
  (void)state;
  for (int i = 1; i < 60; ++i) {
    const double theta = 0.05 * i, c = cos(theta), e = 1e-4 * (1.0 + c);
    double at[3], up[3], down[3];
    ratio(c, at);
    assert_near("rho", at[0], theta / (2.0 * sin(theta)), 1e-13 * at[0]);
    if (c + e >= 1.0) continue;
    ratio(c + e, up);
    ratio(c - e, down);
    assert_near("rho'", at[1], (up[0] - down[0]) / (2.0 * e), 1e-7 * fabs(at[1]));
    assert_near("rho''", at[2], (up[1] - down[1]) / (2.0 * e), 1e-7 * fabs(at[2]));
  }
  double at[3], series[3], formula[3];
  ratio(1.0, at);
  assert_near("rho(1)", at[0], 0.5, 1e-16);
  assert_near("rho'(1)", at[1], -1.0 / 6.0, 1e-16);
  assert_near("rho''(1)", at[2], 2.0 / 15.0, 1e-16);
  ratio(0.9 + 1e-13, series);
  ratio(0.9 - 1e-13, formula);
  for (int k = 0; k < 3; ++k) assert_near("both branches", series[k], formula[k], 3e-13);
}

// ---- deflections and frequencies --------------------------------------------------------------------

/// A body that is let go in the deflection which the statics of the loads gives stays there: F/k along each axis, and
/// about each axis an angle of T/k, also a large one.
static void test_deflection(void **state) {
  (void)state;
  for (int axis = 0; axis < 6; ++axis)
    for (int se3 = 0; se3 < 2; ++se3) {
      as_builder *b = machine_builder(0, 0, 0);
      as_error error;
      as_body_def body = machine_round_body("block", 2.0, 0.3, se3);
      const double load = axis < 3 ? 30.0 : 2.2 * stiffness[axis],
                   deflection = load / stiffness[axis];
      if (axis < 3) {
        body.position[axis] = deflection;
      } else { // 2.2 rad
        body.quaternion[0] = cos(deflection / 2.0);
        body.quaternion[1 + axis - 3] = sin(deflection / 2.0);
      }
      as_bushing_def def = to_ground(machine_body(b, &body));
      frames_at_centers(b, &def);
      add_bushing(b, &def);
      as_load_def push = as_default_load_def();
      push.body = def.body[1];
      memcpy(push.point, body.position, sizeof push.point);
      (axis < 3 ? push.force : push.torque)[axis % 3] = load;
      assert_int_equal(as_builder_add_load(b, &push, NULL, &error), AS_OK);
      as_model *model = machine_build(b);
      as_integrator *integrator = drive_start(model, AS_METHOD_INDEX2, 1e-3);
      const as_state *s = as_integrator_state(integrator);
      for (int i = 0; i < 6; ++i) assert_near("acceleration", s->vdot[i], 0.0, 1e-12 * load / 0.3);
      const as_wrench w = drive_force(model, s, (as_force_id){0});
      assert_near("force", axis < 3 ? w.force[axis] : w.torque[axis - 3], -load, 1e-12 * load);
      as_integrator_destroy(integrator);
      as_model_destroy(model);
    }
}

/// Along and about each axis of a body with three different moments, let go at a deflection: cosines of
/// sqrt(k/m) and sqrt(k/J), damped by exp(-c t/(2 m)).
static void test_frequencies(void **state) {
  (void)state;
  const double moment[3] = {0.2, 0.3, 0.4}, mass = 2.0, t = 0.7;
  for (int axis = 0; axis < 6; ++axis)
    for (int damped = 0; damped < 2; ++damped) {
      const double inertia = axis < 3 ? mass : moment[axis - 3], start = axis < 3 ? 0.05 : 1.0;
      const double c = damped ? 1.5 * inertia : 0.0, delta = c / (2.0 * inertia);
      const double w = sqrt(stiffness[axis] / inertia - delta * delta);
      const double exact = start * exp(-delta * t) * (cos(w * t) + delta / w * sin(w * t));
      double error[2];
      for (int k = 0; k < 2; ++k) {
        as_builder *b = machine_builder(0, 0, 0);
        as_body_def body = machine_round_body("block", mass, 0.0, axis % 2);
        memcpy(body.inertia, moment, sizeof moment);
        if (axis < 3) {
          body.position[axis] = start;
        } else {
          body.quaternion[0] = cos(start / 2.0);
          body.quaternion[1 + axis - 3] = sin(start / 2.0);
        }
        as_bushing_def def = to_ground(machine_body(b, &body));
        for (int i = 0; i < 6; ++i) def.damping[i] = c;
        frames_at_centers(b, &def);
        add_bushing(b, &def);
        as_model *model = machine_build(b);
        as_integrator *integrator;
        const as_state *s = drive_to(model, AS_METHOD_INDEX2, k ? 2.5e-4 : 5e-4, t, &integrator);
        const double found = axis < 3 ? s->q[axis] : 2.0 * atan2(s->q[4 + axis - 3], s->q[3]);
        error[k] = fabs(found - exact);
        as_integrator_destroy(integrator);
        as_model_destroy(model);
      }
      print_message("  direction %d: error %.1e, %.1e of %.3f\n", axis, error[0] / start,
                    error[1] / start, exact / start);
      assert_true(error[0] < 5e-3 * start && log2(error[0] / error[1]) > 1.8);
    }
}

/// A full matrix: a displacement alone gives the forces and torques of its columns.
static void fill(double *m, double diagonal, double size) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      m[6 * i + j] = i == j ? diagonal + i : size * ((i + 2 * j) % 5 + (j + 2 * i) % 5 - 4);
}

static void test_full_matrix(void **state) {
  (void)state;
  double K[36];
  fill(K, 50.0, 2.0);
  for (int axis = 0; axis < 3; ++axis) {
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def body = machine_round_body("block", 1.0, 1.0, axis == 1);
    body.position[axis] = 0.1;
    as_bushing_def def = to_ground(machine_body(b, &body));
    def.stiffness_matrix = K;
    frames_at_centers(b, &def);
    add_bushing(b, &def);
    as_model *model = machine_build(b);
    const as_state s = {.q = as_model_initial(model)->q, .v = as_model_initial(model)->v};
    const as_wrench w = drive_force(model, &s, (as_force_id){0});
    for (int i = 0; i < 3; ++i) {
      assert_near("force", w.force[i], -0.1 * K[6 * i + axis], 1e-13);
      assert_near("torque", w.torque[i], -0.1 * K[6 * (i + 3) + axis], 1e-13);
    }
    as_model_destroy(model);
  }
}

// ---- momentum, order, energy ------------------------------------------------------------------------

/// Two bodies that fly and tumble, joined by a bushing with full matrices away from their centres of mass.
static as_model *build_pair(bool se3, bool damped) {
  static double K[36], C[36];
  fill(K, 60.0, 2.0);
  fill(C, 1.5, 0.05);
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def def = machine_round_body("a", 2.0, 0.3, se3);
  def.inertia[0] = 0.5;
  def.angular_velocity[1] = 3.0;
  def.angular_velocity[2] = 1.0;
  as_bushing_def bushing = as_default_bushing_def();
  bushing.body[0] = machine_body(b, &def);
  def = machine_round_body("b", 1.0, 0.2, !se3);
  def.inertia[1] = 0.25;
  memcpy(def.quaternion, (double[]){0.0, 0.6, 0.0, 0.8}, sizeof def.quaternion);
  def.position[0] = 1.0;
  def.velocity[1] = 1.0;
  def.angular_velocity[0] = -2.0;
  bushing.body[1] = machine_body(b, &def);
  bushing.point[0] = 0.4;
  bushing.point[2] = 0.1;
  bushing.axis[0] = 1.0;
  bushing.stiffness_matrix = K;
  bushing.damping_matrix = damped ? C : NULL;
  add_bushing(b, &bushing);
  return machine_build(b);
}

static void test_momentum(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *model = build_pair(se3, true);
    double change[2];
    for (int k = 0; k < 2; ++k) {
      const as_state first = {.q = as_model_initial(model)->q, .v = as_model_initial(model)->v};
      as_integrator *integrator;
      const as_state *s = drive_to(model, AS_METHOD_INDEX2, k ? 0.001 : 0.002, 1.0, &integrator);
      as_momentum before, after;
      as_model_momentum(model, &first, &before);
      as_model_momentum(model, s, &after);
      change[k] = 0.0;
      for (int i = 0; i < 3; ++i)
        change[k] +=
            fabs(after.angular[i] - before.angular[i]) + fabs(after.linear[i] - before.linear[i]);
      as_integrator_destroy(integrator);
    }
    print_message("  momentum changes by %.2e, %.2e\n", change[0], change[1]);
    assert_true(change[0] < 1e-3 && log2(change[0] / change[1]) > 1.8);
    as_model_destroy(model);
  }
}

static void test_order(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *model = build_pair(se3, true);
    for (int k = 0; k < 3; ++k) drive_orders("pair", model, rig_methods[k], 0.004, 1.0);
    as_model_destroy(model);
  }
}

static void test_energy(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int damped = 0; damped < 2; ++damped) {
      as_model *model = build_pair(se3, damped);
      for (int k = 0; k < 3; ++k) {
        as_meter meter;
        drive_balance(model, rig_methods[k], 0.004, 1.0, 2e-2, &meter);
        assert_true(damped ? meter.dissipated > 0.5 : meter.dissipated == 0.0);
      }
      as_model_destroy(model);
    }
}

static int shake(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.2 * sin(6.0 * t);
  out[1] = 1.2 * cos(6.0 * t);
  out[2] = -7.2 * sin(6.0 * t);
  return AS_DONE;
}

/// A body in a bushing whose other frame is shaken and turned: the work of that is counted.
static void test_shaken(void **state) {
  (void)state;
  static const as_curve law = {.function = shake};
  as_builder *b = machine_builder(0, 0, -9.81);
  as_error error;
  as_body_def body = machine_round_body("block", 2.0, 0.3, false);
  body.inertia[2] = 0.5;
  as_bushing_def def = to_ground(machine_body(b, &body));
  for (int i = 0; i < 6; ++i) def.damping[i] = i < 3 ? 10.0 : 0.3;
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.shift[0] = frame.turn = &law;
  frame.turn_axis = 1;
  assert_int_equal(as_builder_add_frame(b, &frame, &def.frame[0], &error), AS_OK);
  add_bushing(b, &def);
  as_model *model = machine_build(b);
  for (int k = 0; k < 3; ++k) {
    as_meter meter;
    drive_balance(model, rig_methods[k], 0.002, 1.0, 3e-3, &meter);
    assert_true(meter.forces > 1.0);
    drive_orders("shaken", model, rig_methods[k], 0.002, 1.0);
  }
  as_model_destroy(model);
}

// ---- refusals ---------------------------------------------------------------------------------------

/// Half a turn has no rotation vector.
static void test_half_a_turn(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def body = machine_round_body("block", 1.0, 1.0, false);
  as_bushing_def def = to_ground(machine_body(b, &body));
  frames_at_centers(b, &def);
  add_bushing(b, &def);
  as_model *model = machine_build(b);
  for (int k = 0; k < 2; ++k) {
    const double angle = k ? pi : pi - 1e-3;
    const double q[7] = {0, 0, 0, cos(angle / 2.0), 0, 0, sin(angle / 2.0)}, v[6] = {0};
    const as_state s = {.q = q, .v = v};
    as_error error;
    as_energy energy;
    const as_status status = as_model_energy(model, &s, &energy, &error);
    if (k)
      expect_refused(
          status, &error,
          "force \"mount\" could not be evaluated at t = 0 s: it is turned by half a turn");
    else
      assert_near("energy", energy.potential, 16.0 * angle * angle / 2.0, 1e-8);
  }
  as_model_destroy(model);
}

static void test_refused(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def body = machine_round_body("block", 1.0, 1.0, false);
  const as_body_id block = machine_body(b, &body),
                   bead = machine_point(b, "bead", 1.0, origin, origin);
  as_bushing_def def = to_ground(block), bad = def;
  double K[36];
  bad.stiffness[4] = -1.0;
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error,
                 "stiffness of bushing \"mount\" has -1 in row 5, column 5");
  bad = def;
  bad.damping[2] = (double)NAN;
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error,
                 "damping of bushing \"mount\" has nan in row 3");
  bad = def;
  fill(K, 60.0, 1.0);
  K[3] += 1.0;
  bad.stiffness_matrix = K;
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error, "not symmetric");
  fill(K, 1.0, 10.0);
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error, "negative eigenvalue");
  memset(K, 0, sizeof K);
  K[1] = K[6] = 1.0; // zeros on the diagonal
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error, "negative eigenvalue");
  bad = def;
  bad.body[1] = bead;
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error,
                 "needs the axes of the point mass \"bead\"");
  bad = def;
  bad.axis[0] = bad.second_axis[0] = 1.0;
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error,
                 "axes of the bushing \"mount\" are parallel");
  bad = def;
  bad.body[0] = block;
  expect_refused(as_builder_add_bushing(b, &bad, NULL, &error), &error, "both ends on one body");
  for (int i = 0; i < 36; ++i) K[i] = 1.0; // of rank one: allowed
  def.stiffness_matrix = K;
  add_bushing(b, &def);
  as_model *m = machine_build(b);
  assert_int_equal(as_model_forces(m), 1);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ratio),       cmocka_unit_test(test_deflection),
      cmocka_unit_test(test_frequencies), cmocka_unit_test(test_full_matrix),
      cmocka_unit_test(test_momentum),    cmocka_unit_test(test_order),
      cmocka_unit_test(test_energy),      cmocka_unit_test(test_shaken),
      cmocka_unit_test(test_half_a_turn), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
