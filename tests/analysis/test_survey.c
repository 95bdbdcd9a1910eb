/// What a survey says of machines whose answers are known.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/io.h"
#include "machines.h"
#include "rig.h"

static const double x_axis[3] = {1, 0, 0}, z_axis[3] = {0, 0, 1}, origin[3] = {0, 0, 0};

static as_survey *look(as_model *m, double step, double t_end) {
  as_integrator_def how = as_default_integrator_def();
  as_survey *s = NULL;
  as_error error;
  how.step = step;
  if (as_survey_create(m, &how, t_end, &s, &error)) fail_msg("%s", error.message);
  return s;
}

static bool warned(const as_survey *s, const char *words) {
  for (int i = 0; i < s->n_warnings; ++i)
    if (strstr(s->warning[i], words)) return true;
  return false;
}

static as_body_id bar(as_builder *b, const char *name, double x, double y, double angle) {
  as_body_def def = machine_round_body(name, 2.0, 0.1, false);
  machine_place_in_plane(&def, x, y, angle);
  return machine_body(b, &def);
}

/// A square of bars with revolute joints in 3D: one loop, one degree of freedom, three rows too many.
static void test_four_bar(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, -9.81, 0);
  const as_body_id left = bar(b, "left", 0.0, 0.5, 1.5707963267948966);
  const as_body_id top = bar(b, "top", 0.5, 1.0, 0.0);
  const as_body_id right = bar(b, "right", 1.01, 0.5, 1.5707963267948966);
  machine_joint(b, "a", AS_JOINT_REVOLUTE, AS_GROUND, left, origin, z_axis);
  machine_joint(b, "b", AS_JOINT_REVOLUTE, left, top, (double[]){0, 1, 0}, z_axis);
  machine_joint(b, "c", AS_JOINT_REVOLUTE, top, right, (double[]){1, 1, 0}, z_axis);
  machine_joint(b, "d", AS_JOINT_REVOLUTE, AS_GROUND, right, (double[]){1, 0, 0}, z_axis);
  as_model *m = machine_build(b);
  as_survey *s = look(m, 1e-3, 1.0);
  assert_int_equal(s->bodies, 3);
  assert_int_equal(s->joints, 4);
  assert_int_equal(s->forces, 0);
  assert_int_equal(s->velocities, 18);
  assert_int_equal(s->rows, 20);
  assert_int_equal(s->unknowns, 18 + 2 * 20); // index-2 has eta, too
  assert_int_equal(s->degrees_of_freedom, 1);
  assert_int_equal(s->n_redundant, 3);
  assert_int_equal(s->n_redundant_joints, 4);
  for (int i = 0; i < s->n_redundant_joints; ++i)
    assert_true(s->redundant[i].index >= 0 && s->redundant[i].index < 4);
  assert_int_equal(s->loops, 1);
  assert_near("mass", s->mass, 6.0, 1e-14);
  assert_near("centre", s->center_of_mass[0], (0.0 + 0.5 + 1.01) / 3.0, 1e-12);
  assert_near("size", s->size, 1.01, 1e-12);
  assert_true(s->gap == 0.0 && s->largest_move == 0.0 && as_body_equal(s->moved_body, AS_NO_BODY));
  assert_true(s->entries > 58 && s->fill >= s->entries / 2 && s->factor_operations > 1000.0);
  assert_true(s->solve_operations > 100.0 && s->solver != NULL);
  assert_true(isnan(s->fastest_period) && as_force_equal(s->fastest_force, AS_NO_FORCE));
  assert_int_equal(s->n_warnings, 1); // the integrator's own
  assert_true(warned(s, "3 of 20 constraint rows are redundant: joint"));
  as_survey_destroy(s);
  as_model_destroy(m);
}

/// A pendulum that is drawn with a gap: how far it moves.
static void test_gap(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  as_frame_def frame = as_default_frame_def();
  as_joint_def joint = as_default_joint_def();
  as_error error;
  as_body_def def = machine_round_body("bob", 1.0, 1.0, false);
  def.position[0] = 1.02;
  frame.body = machine_body(b, &def);
  frame.position[0] = -1.0;
  frame.name = "eye";
  joint.kind = AS_JOINT_SPHERICAL;
  as_status status = as_builder_add_frame(b, &frame, &joint.frame[1], &error);
  frame.body = AS_GROUND;
  frame.position[0] = 0.0;
  frame.name = "hook";
  if (status == AS_OK) status = as_builder_add_frame(b, &frame, &joint.frame[0], &error);
  frame.name = "spare";
  if (status == AS_OK) status = as_builder_add_frame(b, &frame, NULL, &error);
  if (status == AS_OK) status = as_builder_add_joint(b, &joint, NULL, &error);
  if (status) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_survey *s = look(m, 1e-3, 1.0);
  assert_near("gap", s->gap, 0.02, 1e-12);
  assert_near("move", s->largest_move, 0.02, 1e-9);
  assert_int_equal(s->moved_body.index, 0);
  assert_int_equal(s->degrees_of_freedom, 3);
  assert_int_equal(s->loops, 0);
  assert_int_equal(s->n_warnings, 1);
  assert_string_equal(s->warning[0],
                      "Body \"bob\" starts with the position (1, 0, 0) m instead of (1.02, 0, 0) m "
                      "as given: joint \"joint 0\" demands it.");
  assert_true(as_model_frame_used(m, (as_frame_id){0}) && as_model_frame_used(m, (as_frame_id){1}));
  assert_false(as_model_frame_used(m, (as_frame_id){2}));
  assert_int_equal(as_model_frames(m), 3);
  assert_string_equal(as_model_frame_name(m, (as_frame_id){2}), "spare");
  as_survey_destroy(s);
  as_model_destroy(m);
}

static void add_spring(as_builder *b, const char *name, as_body_id body, const double at[3],
                       double stiffness) {
  as_spring_def spring = as_default_spring_def();
  as_error error;
  spring.name = name;
  spring.body[0] = AS_GROUND;
  spring.body[1] = body;
  spring.point[0][2] = 3.0;
  memcpy(spring.point[1], at, sizeof spring.point[1]);
  spring.stiffness = stiffness;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
}

/// Two masses on springs: 2 pi sqrt(m/k).
static void test_periods(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  add_spring(b, "soft", machine_point(b, "a", 2.0, origin, origin), origin, 0.5);
  add_spring(b, "hard", machine_point(b, "b", 3.0, x_axis, origin), x_axis, 3e9);
  as_model *m = machine_build(b);
  as_survey *s = look(m, 1e-3, 10.0);
  assert_near("slow", s->slowest_period, 2.0 * 3.14159265358979 * 2.0, 1e-6);
  assert_near("fast", s->fastest_period, 2.0 * 3.14159265358979 * sqrt(1e-9), 1e-10);
  assert_string_equal(as_model_force_name(m, s->fastest_force), "hard");
  assert_string_equal(as_model_force_name(m, s->slowest_force), "soft");
  assert_true(warned(s, "Time scales are very different"));
  assert_true(warned(s, "do not resolve the period"));
  assert_false(warned(s, "takes many steps"));
  as_survey_destroy(s);
  s = look(m, (double)NAN, 100.0);
  assert_true(warned(s, "takes many steps"));
  assert_false(warned(s, "do not resolve"));
  as_survey_destroy(s);
  as_model_destroy(m);
}

/// A pendulum whose length, mass, moment and gravity are in some unit.
static as_survey *look_at_pendulum(double length, double mass, double moment, double gravity) {
  as_builder *b = machine_builder(0, 0, -gravity);
  as_body_def def = machine_round_body("bob", mass, moment, false);
  def.position[0] = length;
  const as_body_id bob = machine_body(b, &def);
  machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, bob, origin, z_axis);
  as_model *m = machine_build(b);
  as_survey *s = look(m, 1e-3, 1.0);
  as_model_destroy(m);
  return s;
}

static void test_units(void **state) {
  (void)state;
  static const struct {
    double length, mass, moment, gravity;
    const char *words; ///< NULL: no warning
  } cases[] = {
      {0.3, 2.0, 0.02, 9.81, NULL},             // a bar of 2 kg
      {0.05, 1000.0, 1.0, 9.81, NULL},          // a flywheel
      {8.0, 50000.0, 1e6, 1.62, NULL},          // a crane on the moon
      {300.0, 2.0, 2e4, 9810.0, "millimetres"}, // mm, N, kg
      {0.3, 2.0, 0.02, 0.00981, "hundredth"},   // gravity in mm/ms^2
      {300.0, 2.0, 2e4, 9.81, "away from the centre"} /* mm and m */,
      {0.3, 2.0, 2e4, 9.81, "is it in kg m^2?"},   // inertia in kg mm^2
      {0.3, 2.0, 2e-8, 9.81, "is it in kg m^2?"},  // in t mm^2
      {0.003, 2000.0, 2e-3, 9.81, "any material"}, // g
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    as_survey *s =
        look_at_pendulum(cases[i].length, cases[i].mass, cases[i].moment, cases[i].gravity);
    if (cases[i].words == NULL && s->n_warnings > 0) fail_msg("case %d: %s", (int)i, s->warning[0]);
    if (cases[i].words && !warned(s, cases[i].words))
      fail_msg("case %d: no warning with `%s`", (int)i, cases[i].words);
    as_survey_destroy(s);
  }
}

static void test_odd_bodies(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id heavy = machine_point(b, "heavy", 3e3, origin, origin);
  const as_body_id light = machine_point(b, "light", 1e-3, x_axis, origin);
  machine_rod(b, "rod", heavy, light, origin, x_axis);
  machine_point(b, "lost", 1.0, x_axis, origin);
  as_model *m = machine_build(b);
  as_survey *s = look(m, 1e-3, 1.0);
  assert_int_equal(s->n_warnings, 2);
  assert_true(warned(s, "mass of body \"light\""));
  assert_true(warned(s, "Nothing is attached to body \"lost\""));
  as_survey_destroy(s);
  as_model_destroy(m);
}

/// A start that cannot be is a failure, not a warning.
static void test_no_start(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  const as_body_id bob = machine_point(b, "bob", 1.0, x_axis, origin);
  const double far[3] = {9, 0, 0};
  machine_rod(b, "rod", AS_GROUND, bob, origin, x_axis);
  machine_rod(b, "other", AS_GROUND, bob, far, x_axis);
  as_joint_def joint = as_default_joint_def();
  as_curve length = {.constant = 2.0};
  as_error error;
  joint.kind = AS_JOINT_DISTANCE;
  joint.name = "third";
  joint.body[0] = AS_GROUND;
  joint.body[1] = bob;
  joint.point[1] = 1.0;
  joint.second_point[0] = 1.0;
  joint.length = &length;
  if (as_builder_add_joint(b, &joint, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_integrator_def how = as_default_integrator_def();
  as_survey *s = NULL;
  const as_status status = as_survey_create(m, &how, 1.0, &s, &error);
  assert_int_not_equal(status, AS_OK);
  assert_null(s);
  assert_true(strlen(error.message) > 10);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_four_bar),   cmocka_unit_test(test_gap),
      cmocka_unit_test(test_periods),    cmocka_unit_test(test_units),
      cmocka_unit_test(test_odd_bodies), cmocka_unit_test(test_no_start)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
