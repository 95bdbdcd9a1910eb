/// Starting a machine: assembly with wanted coordinates, degrees of freedom, redundant joints, and sentences
/// about what cannot be built or assembled.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "machines.h"

// ---- a four-bar, drawn carelessly ---------------------------------------------------------------------

typedef struct fourbar {
  as_builder *b;
  as_body_id crank, coupler, rocker;
  as_joint_id pin, knee, elbow, base;
} fourbar;

static as_body_id add_rod(as_builder *b, const char *name, double x0, double y0, double x1,
                          double y1, bool se3) {
  const double length = hypot(x1 - x0, y1 - y0);
  as_body_def rod = machine_round_body(name, length, length * length * length / 12.0, se3);
  machine_place_in_plane(&rod, (x0 + x1) / 2.0, (y0 + y1) / 2.0, atan2(y1 - y0, x1 - x0));
  return machine_body(b, &rod);
}

/// Frames at the ends of two rods, so that what is drawn need not fit.
static as_joint_id add_hinge(as_builder *b, const char *name, as_joint_kind kind, as_body_id first,
                             double x_first, as_body_id second, double x_second) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def joint = as_default_joint_def();
  joint.name = name;
  joint.kind = kind;
  const as_body_id body[2] = {first, second};
  const double x[2] = {x_first, x_second};
  for (int s = 0; s < 2; ++s) {
    as_frame_def frame = as_default_frame_def();
    frame.body = body[s];
    frame.position[0] = x[s];
    if (as_builder_add_frame(b, &frame, &joint.frame[s], &error)) fail_msg("%s", error.message);
  }
  if (as_builder_add_joint(b, &joint, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// Ground pins at 0 and `base`; crank 1, coupler 3, rocker 2.5. The last joint is revolute, and so redundant,
/// or lets the pin slide along itself.
static fourbar draw_fourbar(double base, bool redundant, bool se3) {
  fourbar f = {.b = machine_builder(0, -9.81, 0)};
  f.crank = add_rod(f.b, "crank", 0.0, 0.0, 0.6, 0.8, se3);
  f.coupler = add_rod(f.b, "coupler", 0.65, 0.8, 3.6, 1.6, se3);
  f.rocker = add_rod(f.b, "rocker", 3.0, 0.1, 3.5, 2.5, se3);
  f.pin = add_hinge(f.b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, 0.0, f.crank, -0.5);
  f.knee = add_hinge(f.b, "knee", AS_JOINT_REVOLUTE, f.crank, 0.5, f.coupler, -1.5);
  f.base = add_hinge(f.b, "base", AS_JOINT_REVOLUTE, AS_GROUND, base, f.rocker, -1.25);
  f.elbow = add_hinge(f.b, "elbow", redundant ? AS_JOINT_REVOLUTE : AS_JOINT_POINT_ON_LINE,
                      f.coupler, 1.5, f.rocker, 1.25);
  return f;
}

static void want(as_builder *b, as_joint_id joint, double value, double rate) {
  as_error error;
  as_coordinate_def def = as_default_coordinate_def();
  def.joint = joint;
  def.value = value;
  def.rate = rate;
  if (as_builder_set_coordinate(b, &def, &error)) fail_msg("%s", error.message);
}

/// The built machine holds together, and its crank has that angle and that rate.
static void check_start(const as_model *m, as_joint_id pin, double angle, double rate) {
  as_error error;
  const as_initial *initial = as_model_initial(m);
  const as_state s = {.q = initial->q, .v = initial->v};
  for (int j = 0; j < as_model_joints(m); ++j) {
    as_gap gap;
    assert_int_equal(as_model_gap(m, &s, (as_joint_id){j}, &gap, &error), AS_OK);
    assert_true(gap.position < 1e-9 && gap.velocity < 1e-9);
  }
  double c = angle, c_rate;
  assert_int_equal(as_model_coordinates(m, &s, pin, &c, &c, &c_rate, &error), AS_OK);
  if (!isnan(angle)) assert_true(fabs(c - angle) < 1e-9);
  if (!isnan(rate)) assert_true(fabs(c_rate - rate) < 1e-9);
}

static void test_coordinates(void **state) {
  (void)state;
  const double angles[] = {(double)NAN, 0.9, -1.5, 2.5, 7.0};
  for (int se3 = 0; se3 < 2; ++se3)
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i)
      for (int redundant = 0; redundant < 2; ++redundant) {
        fourbar f = draw_fourbar(3.0, redundant, se3);
        as_assembly_report report;
        as_error error;
        const double rate = i % 2 ? 2.0 : (double)NAN;
        want(f.b, f.pin, angles[i], rate);
        if (as_builder_assemble(f.b, &report, &error)) fail_msg("%s", error.message);
        assert_true(report.gap > 0.5 && report.gap < 1.0);
        assert_int_equal(report.gap_joint.index, f.elbow.index);
        assert_int_equal(report.degrees_of_freedom, 1);
        assert_int_equal(report.n_redundant, redundant ? 3 : 0);
        assert_int_equal(report.n_redundant_joints > 0, redundant);
        as_model *m = machine_build(f.b);
        check_start(m, f.pin, angles[i], rate);
        // The branch it is drawn in: the elbow is above the line from knee to base.
        const as_state s = {.q = as_model_initial(m)->q, .v = as_model_initial(m)->v};
        as_body_motion coupler, rocker;
        as_model_body_motion(m, &s, f.coupler, &coupler);
        as_model_body_motion(m, &s, f.rocker, &rocker);
        assert_true(coupler.R[0] * rocker.R[3] - coupler.R[3] * rocker.R[0] > 0.0);
        as_model_destroy(m);
      }
}

/// Velocities are projected once, where the machine is at last: a rod that is led round its pin over many positions has
/// the rate that is nearest to the velocities given, w = (m l v_t + J w_0)/(m l^2 + J). Gaps that are closed in steps do
/// not change it either.
static void test_velocities_given(void **state) {
  (void)state;
  const double v[2] = {1.5, -0.8}, spin = 0.7, l = 0.5, mass = 1.0, J = 1.0 / 12.0;
  const double angles[] = {2.5, -2.0, 7.0};
  for (size_t i = 0; i < sizeof angles / sizeof angles[0]; ++i) {
    as_builder *b = machine_builder(0, -9.81, 0);
    as_body_def rod = machine_round_body("rod", mass, J, false);
    machine_place_in_plane(&rod, 0.9, 0.4, 0.2); // not on its pin
    rod.velocity[0] = v[0];
    rod.velocity[1] = v[1];
    rod.angular_velocity[2] = spin;
    const as_body_id body = machine_body(b, &rod);
    const as_joint_id pin = add_hinge(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, 0.0, body, -l);
    want(b, pin, angles[i], (double)NAN);
    as_error error;
    as_assembly_report report;
    if (as_builder_assemble(b, &report, &error)) fail_msg("%s", error.message);
    as_model *m = machine_build(b);
    const double s = sin(angles[i]), c = cos(angles[i]), across = -v[0] * s + v[1] * c;
    const double rate = (mass * l * across + J * spin) / (mass * l * l + J);
    check_start(m, pin, angles[i], rate);
    const double moved = hypot(-rate * l * s - v[0], rate * l * c - v[1]), turned = rate - spin;
    const double change = sqrt(mass * moved * moved + J * turned * turned);
    assert_true(fabs(report.velocity_change / change - 1.0) < 1e-6);
    as_model_destroy(m);
  }
}

/// Nothing wanted, nothing to do: an assembled machine stays where it is.
static void test_least_change(void **state) {
  (void)state;
  fourbar f = draw_fourbar(3.0, false, false);
  as_assembly_report report;
  as_error error;
  assert_int_equal(as_builder_assemble(f.b, &report, &error), AS_OK);
  assert_true(report.largest_move > 1e-3);
  assert_int_equal(as_builder_assemble(f.b, &report, &error), AS_OK);
  assert_true(report.largest_move < 1e-9 && report.gap < 1e-9 && report.velocity_change < 1e-9);
  as_builder_destroy(f.b);
}

static void test_out_of_reach(void **state) {
  (void)state;
  fourbar f = draw_fourbar(8.0, false, false); // 1 + 3 + 2.5 < 8
  as_error error = {0};
  as_assembly_report report;
  assert_int_not_equal(as_builder_assemble(f.b, &report, &error), AS_OK);
  assert_non_null(strstr(error.message, "cannot be assembled"));
  assert_non_null(strstr(error.message, "joint \"base\" keeps a gap of"));
  print_message("  %s\n", error.message);
  as_builder_destroy(f.b);
  // A coordinate that cannot be reached: the rocker of this linkage does not turn all the way round.
  f = draw_fourbar(3.0, false, false);
  want(f.b, f.base, 4.5, (double)NAN);
  assert_int_not_equal(as_builder_assemble(f.b, &report, &error), AS_OK);
  assert_non_null(strstr(error.message, "the angle of joint \"base\" at 4.5: it comes as far as"));
  print_message("  %s\n", error.message);
  as_builder_destroy(f.b);
}

// ---- singular positions -------------------------------------------------------------------------------

/// A parallelogram passes its flat position, or stops and says where.
static void test_singular(void **state) {
  (void)state;
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < n_machines_small; ++i) {
      const machine *subject = &machines_small[i];
      if (strcmp(subject->name, "four-bar") != 0) continue;
      for (int variant = 0; variant < subject->n_variants; ++variant) {
        as_model *m = subject->build(variant);
        as_integrator_def def = as_default_integrator_def();
        as_integrator *integrator = NULL;
        as_error error = {0};
        reading now = {0}, exact = {0};
        def.method = methods[k];
        def.step = 1e-3;
        assert_int_equal(as_integrator_create(as_model_problem(m), &def, &integrator, &error),
                         AS_OK);
        assert_int_equal(as_integrator_start(integrator, as_model_initial(m), NULL, &error), AS_OK);
        if (as_integrator_advance(integrator, 1.0, &error)) { // flat at about 0.62 s
          print_message("  variant %d stops: %s\n", variant, error.message);
          assert_non_null(strstr(error.message, "joint \""));
        } else {
          subject->read(m, as_integrator_state(integrator), &now);
          subject->reference(1.0, &exact);
          for (int c = 0; c < 2; ++c) assert_true(fabs(now.position[c] - exact.position[c]) < 1e-2);
        }
        as_integrator_destroy(integrator);
        as_model_destroy(m);
      }
    }
}

// ---- what is refused ----------------------------------------------------------------------------------

static void expect(as_status status, const as_error *error, const char *words) {
  if (status == AS_OK) fail_msg("accepted: %s", words);
  if (strstr(error->message, words) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error->message, words);
}

static void test_bodies_refused(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_body_def def = as_default_body_def();
  def.name = "crank";
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "mass of body \"crank\" is nan kg");
  def.mass = -1.0;
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "mass of body \"crank\" is -1 kg");
  def.mass = 1.0;
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "inertia of body \"crank\"");
  const double flat[6] = {1, 1, 2.5, 0, 0, 0}, odd[6] = {1, 1, 1, 2, 0, 0}, good[6] = {1, 1, 1.5};
  memcpy(def.inertia, flat, sizeof flat);
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "largest principal moment 2.5");
  memcpy(def.inertia, odd, sizeof odd);
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "not positive definite");
  memcpy(def.inertia, good, sizeof good);
  def.quaternion[1] = 0.1;
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "quaternion of body \"crank\"");
  def.quaternion[1] = 0.0;
  def.position[1] = (double)INFINITY;
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "position of body \"crank\"");
  def.position[1] = 0.0;
  def.name = "a/b";
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "not allowed");
  def.name = "crank";
  assert_int_equal(as_builder_add_body(b, &def, NULL, &error), AS_OK);
  expect(as_builder_add_body(b, &def, NULL, &error), &error, "two bodies named \"crank\"");
  as_builder_destroy(b);
}

static void test_joints_refused(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_model *m = NULL;
  expect(as_builder_build(b, &m, &error), &error, "no bodies");
  as_body_def body = machine_round_body("crank", 1.0, 1.0, false);
  const as_body_id crank = machine_body(b, &body);
  const as_body_id bead = machine_point(b, "bead", 1.0, (double[]){0, 0, 0}, (double[]){0, 0, 0});
  as_joint_def def = as_default_joint_def();
  def.name = "pin";
  def.kind = AS_JOINT_REVOLUTE;
  expect(as_builder_add_joint(b, &def, NULL, &error), &error, "no axis");
  def.axis[2] = 2.0;
  def.second_axis[2] = 1.0;
  expect(as_builder_add_joint(b, &def, NULL, &error), &error, "parallel");
  def.second_axis[2] = 0.0;
  expect(as_builder_add_joint(b, &def, NULL, &error), &error, "not there");
  def.body[0] = def.body[1] = crank;
  expect(as_builder_add_joint(b, &def, NULL, &error), &error, "with itself");
  def.body[1] = bead;
  expect(as_builder_add_joint(b, &def, NULL, &error), &error, "point mass \"bead\"");
  def.body[1] = AS_GROUND;
  def.point[0] = (double)NAN;
  expect(as_builder_add_joint(b, &def, NULL, &error), &error,
         "joint \"pin\" has the coordinate nan");
  def.point[0] = 0.0;
  as_joint_id pin;
  assert_int_equal(as_builder_add_joint(b, &def, &pin, &error), AS_OK);
  expect(as_builder_add_joint(b, &def, NULL, &error), &error, "two joints named \"pin\"");
  as_motion_def motion = as_default_motion_def();
  const as_curve law = {.slope = 1.0};
  const double x[2] = {1.0, 1.0}, y[2] = {0.0, 1.0};
  const as_curve bad = {.x = x, .y = y, .n = 2};
  motion.name = "motor";
  motion.joint = pin;
  expect(as_builder_add_motion(b, &motion, NULL, &error), &error, "no law");
  motion.law = &bad;
  expect(as_builder_add_motion(b, &motion, NULL, &error), &error, "does not increase");
  motion.law = &law;
  motion.coordinate = 1;
  expect(as_builder_add_motion(b, &motion, NULL, &error), &error, "which has 1");
  as_spring_def spring = as_default_spring_def();
  spring.name = "coil";
  spring.body[0] = crank;
  spring.body[1] = AS_GROUND;
  spring.stiffness = -5.0;
  expect(as_builder_add_spring(b, &spring, NULL, &error), &error,
         "stiffness of force \"coil\" is -5");
  assert_int_equal(as_builder_build(b, &m, &error), AS_OK); // nothing refused has left a trace
  assert_int_equal(as_model_joints(m), 1);
  assert_int_equal(as_model_forces(m), 0);
  assert_int_equal(as_model_find_joint(m, "pin").index, pin.index);
  assert_int_equal(as_model_find_joint(m, "motor").index, AS_NO_JOINT.index);
  assert_int_equal(as_model_find_body(m, "bead").index, bead.index);
  as_model_destroy(m);
  as_builder_destroy(b);
}

/// Thousands of names, each found.
static void test_names(void **state) {
  (void)state;
  enum { MANY = 5000 };
  as_builder *b = machine_builder(0, 0, 0);
  char name[32];
  for (int i = 0; i < MANY; ++i) {
    snprintf(name, sizeof name, "bead number %d", i * 7);
    machine_point(b, name, 1.0, (double[]){i, 0, 0}, (double[]){0, 0, 0});
  }
  as_model *m = machine_build(b);
  for (int i = 0; i < MANY; ++i) {
    snprintf(name, sizeof name, "bead number %d", i * 7);
    assert_int_equal(as_model_find_body(m, name).index, i);
    assert_string_equal(as_model_body_name(m, (as_body_id){i}), name);
  }
  assert_int_equal(as_model_find_body(m, "bead number 1").index, AS_NO_BODY.index);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coordinates),    cmocka_unit_test(test_velocities_given),
      cmocka_unit_test(test_least_change),   cmocka_unit_test(test_out_of_reach),
      cmocka_unit_test(test_singular),       cmocka_unit_test(test_bodies_refused),
      cmocka_unit_test(test_joints_refused), cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
