/// Gears, rolling, friction and contact from a file: the machine of tests/files/good/elements.yaml, built by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"
#include "machines.h"

enum { WHEEL_A, WHEEL_B, BAR, NUT, SHAFT, DISK, BALL, SLED, PAD, DOOR, HOPPER };

static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

static void set(double out[3], double x, double y, double z) { out[0] = x, out[1] = y, out[2] = z; }

static void add_body(as_builder *b, const char *name, double x, double y, double z, double vx,
                     double vy, double wy, double wz) {
  as_body_def def = machine_round_body(name, 1.0, 0.1, false);
  set(def.position, x, y, z);
  set(def.velocity, vx, vy, 0);
  set(def.angular_velocity, 0, wy, wz);
  machine_body(b, &def);
}

static void add_bodies(as_builder *b) {
  add_body(b, "wheel a", 0, 0, 0, 0, 0, 0, 1);
  add_body(b, "wheel b", 1, 0, 0, 0, 0, 0, 0);
  add_body(b, "bar", 0, 2, 0, 0, 0, 0, 0);
  add_body(b, "nut", 3, 0, 0, 0, 0, 0, 0);
  add_body(b, "shaft", 4, 0, 0.5, 0, 0, 0, 0);
  add_body(b, "disk", 6, 0, 0.5, 1, 0, 2, 0);
  add_body(b, "ball", 8, 0, 0.5, 1, 0, 2, 0);
  add_body(b, "sled", 10, 0, 0, 1, 0, 0, 0);
  add_body(b, "pad", 12, 0, 0, 0, 0, 0, 0);
  add_body(b, "door", 14, 0, 0, 0, 0.5, 0, 0);
  add_body(b, "hopper", 16, 0, 0.095, 0.2, 0, 0, 0);
}

static void add_screw_and_shaft(as_builder *b) {
  as_error error;
  as_joint_def screw = as_default_joint_def(), bend = screw;
  screw.name = "thread";
  screw.kind = AS_JOINT_SCREW;
  bend.name = "bend";
  bend.kind = AS_JOINT_CONSTANT_VELOCITY;
  screw.body[0] = bend.body[0] = AS_GROUND;
  screw.body[1] = (as_body_id){NUT};
  bend.body[1] = (as_body_id){SHAFT};
  screw.point[0] = 3;
  bend.point[0] = 4;
  screw.axis[2] = bend.axis[2] = 1;
  screw.lead = 0.02;
  set(bend.second_axis, 0.1, 0, 1);
  must(as_builder_add_joint(b, &screw, NULL, &error), &error);
  must(as_builder_add_joint(b, &bend, NULL, &error), &error);
}

static void add_rolling(as_builder *b) {
  as_error error;
  as_rolling_def disk = as_default_rolling_def();
  disk.name = "rim";
  disk.shape = AS_ROLLING_DISK;
  disk.body[0] = AS_GROUND;
  disk.body[1] = (as_body_id){DISK};
  disk.radius = 0.5;
  set(disk.point, 6, 0, 0);
  set(disk.normal, 0, 0, 1);
  set(disk.center, 6, 0, 0.5);
  set(disk.axis, 0, 1, 0);
  must(as_builder_add_rolling(b, &disk, NULL, &error), &error);
  as_rolling_def ball = disk;
  ball.name = "bowl";
  ball.shape = AS_ROLLING_SPHERE;
  ball.body[1] = (as_body_id){BALL};
  ball.point[0] = ball.center[0] = 8;
  set(ball.direction, 1, 1, 0);
  set(ball.axis, 0, 0, 0);
  must(as_builder_add_rolling(b, &ball, NULL, &error), &error);
}

static void add_sled(as_builder *b) {
  as_error error;
  machine_joint(b, "ice", AS_JOINT_PLANAR, AS_GROUND, (as_body_id){SLED}, (double[]){10, 0, 0},
                z_axis);
  as_skate_def blade = as_default_skate_def();
  blade.name = "blade";
  blade.body[0] = AS_GROUND;
  blade.body[1] = (as_body_id){SLED};
  set(blade.point, 10.2, 0, 0);
  set(blade.normal, 0, 0, 1);
  set(blade.direction, 1, 0.1, 0);
  must(as_builder_add_skate(b, &blade, NULL, &error), &error);
}

/// Returns the hinge.
static as_joint_id add_joints(as_builder *b) {
  as_error error;
  const double zero[3] = {0};
  as_gear_def gear = as_default_gear_def();
  gear.name = "gear";
  gear.teeth[0] = 20;
  gear.teeth[1] = 30;
  gear.tooth.kind = AS_TOOTH_FORCE;
  gear.tooth.pressure_angle = 25.0 * 3.14159265358979323846 / 180.0;
  gear.tooth.helix_angle = 0.2;
  set(gear.tooth.point, 0.4, 0, 0.1);
  gear.tooth.small_force = 0.01;
  gear.joint[0] = machine_joint(b, "shaft a", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){WHEEL_A},
                                zero, z_axis);
  gear.joint[1] = machine_joint(b, "shaft b", AS_JOINT_REVOLUTE, AS_GROUND, (as_body_id){WHEEL_B},
                                x_axis, z_axis);
  as_rack_def rack = as_default_rack_def();
  rack.name = "rack";
  rack.pinion = gear.joint[0];
  rack.rack = machine_joint(b, "slide", AS_JOINT_PRISMATIC, AS_GROUND, (as_body_id){BAR},
                            (double[]){0, 2, 0}, y_axis);
  rack.radius = 0.25;
  rack.tooth.kind = AS_TOOTH_TORQUE;
  add_screw_and_shaft(b);
  add_rolling(b);
  add_sled(b);
  const as_joint_id hinge = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND,
                                          (as_body_id){DOOR}, (double[]){14, 0, 0.5}, x_axis);
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
  must(as_builder_add_rack(b, &rack, NULL, &error), &error);
  return hinge;
}

static void add_bushing(as_builder *b) {
  as_error error;
  as_bushing_def rubber = as_default_bushing_def();
  const double stiffness[6] = {1000, 2000, 3000, 10, 20, 30};
  double damping[36] = {0};
  for (int i = 0; i < 6; ++i) damping[7 * i] = i < 3 ? 1 : 2;
  damping[1] = damping[6] = 0.5;
  rubber.name = "rubber";
  rubber.body[0] = AS_GROUND;
  rubber.body[1] = (as_body_id){PAD};
  rubber.point[0] = 12;
  rubber.axis[1] = rubber.second_axis[0] = 1;
  memcpy(rubber.stiffness, stiffness, sizeof stiffness);
  rubber.damping_matrix = damping;
  must(as_builder_add_bushing(b, &rubber, NULL, &error), &error);
}

static void add_springs(as_builder *b) {
  as_error error;
  const double x[] = {-1, 0, 1}, y[] = {-1, 1}, z[] = {-10, -9, -1, 1, 9, 10},
               flat[] = {-2, -1, 1, 2};
  const double torque[] = {-3, 0, 1};
  const as_surface law = {.x = x, .y = y, .z = z, .nx = 3, .ny = 2, .interpolation = AS_MONOTONE};
  const as_surface twist_law = {
      .x = y, .y = y, .z = flat, .nx = 2, .ny = 2, .interpolation = AS_LINEAR};
  const as_curve linear = {.x = x, .y = torque, .n = 3, .interpolation = AS_LINEAR};
  as_spring_def leash = as_default_spring_def();
  leash.name = "leash";
  leash.body[0] = AS_GROUND;
  leash.body[1] = (as_body_id){PAD};
  set(leash.point[0], 12, 1, 0);
  set(leash.point[1], 12, 0, 0);
  leash.law = &law;
  as_torsion_def twist = as_default_torsion_def();
  twist.name = "twist";
  twist.body[0] = AS_GROUND;
  twist.body[1] = (as_body_id){DOOR};
  twist.axis[0] = 1;
  twist.law = &twist_law;
  twist.spring = &linear;
  must(as_builder_add_spring(b, &leash, NULL, &error), &error);
  must(as_builder_add_torsion(b, &twist, NULL, &error), &error);
}

static void add_door(as_builder *b, as_joint_id hinge) {
  as_error error;
  as_joint_friction_def rub = as_default_joint_friction_def();
  rub.name = "rub";
  rub.joint = hinge;
  rub.coefficient = 0.2;
  rub.radius = 0.02;
  rub.length = 0.1;
  rub.shoulder_radius = 0.03;
  rub.transition_speed = 0.01;
  rub.small_force = 0.1;
  rub.damping[0] = 0.05;
  as_stop_def stop = as_default_stop_def();
  stop.name = "catch";
  stop.joint = hinge;
  stop.lower = -1 * (3.14159265358979323846 / 180.0);
  stop.upper = 0.005;
  stop.law = (as_penalty){.stiffness = 1e4, .exponent = 1.2, .damping = 0.1, .onset = 0.001};
  must(as_builder_add_joint_friction(b, &rub, NULL, &error), &error);
  must(as_builder_add_stop(b, &stop, NULL, &error), &error);
}

static void add_contacts(as_builder *b) {
  as_error error;
  const double depth[] = {0, 0.01, 0.02}, force[] = {0, 100, 400};
  const double x[] = {0, 0.1}, y[] = {-1, 1}, z[] = {0, 0, 500, 600};
  const as_curve curve = {.x = depth, .y = force, .n = 3, .interpolation = AS_MONOTONE};
  const as_surface surface = {.x = x, .y = y, .z = z, .nx = 2, .ny = 2, .interpolation = AS_LINEAR};
  as_contact_def landing = as_default_contact_def();
  landing.name = "landing";
  landing.body[0] = AS_GROUND;
  landing.body[1] = (as_body_id){HOPPER};
  set(landing.point, 16, 0, 0);
  set(landing.normal, 0, 0, 2);
  set(landing.center, 16, 0, 0.095);
  as_contact_def corner = landing;
  landing.radius = 0.1;
  landing.law.curve = &curve;
  landing.law.damping = 0.5;
  landing.friction = 0.3;
  landing.slip_speed = 0.01;
  corner.name = "corner";
  set(corner.center, 16.05, 0, -0.001);
  corner.law.surface = &surface;
  must(as_builder_add_contact(b, &landing, NULL, &error), &error);
  must(as_builder_add_contact(b, &corner, NULL, &error), &error);
}

static void add_drag(as_builder *b) {
  as_error error;
  as_drag_def breeze = as_default_drag_def();
  breeze.name = "breeze";
  breeze.body = (as_body_id){PAD};
  set(breeze.point, 12, 0.1, 0);
  set(breeze.area, 0.1, 0.2, 0.3);
  breeze.viscous = 0.5;
  breeze.density = 1.1;
  set(breeze.wind, 3, 0, -1);
  must(as_builder_add_drag(b, &breeze, NULL, &error), &error);
}

static void test_by_hand(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/elements.yaml", NULL, 0);
  as_builder *b = machine_builder(0, 0, -9.81);
  add_bodies(b);
  const as_joint_id hinge = add_joints(b);
  add_bushing(b);
  add_drag(b);
  add_springs(b);
  add_door(b, hinge);
  add_contacts(b);
  as_model *by_hand = machine_build(b);
  files_same_motion(m->model, by_hand, AS_METHOD_INDEX2, 1e-3, 60, 1e-8);
  for (int i = 0; i < as_model_joints(by_hand); ++i)
    assert_string_equal(as_model_joint_name(m->model, (as_joint_id){i}),
                        as_model_joint_name(by_hand, (as_joint_id){i}));
  for (int i = 0; i < as_model_forces(by_hand); ++i)
    assert_string_equal(as_model_force_name(m->model, (as_force_id){i}),
                        as_model_force_name(by_hand, (as_force_id){i}));
  as_model_destroy(by_hand);
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
