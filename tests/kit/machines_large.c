/// Machines of several bodies, see machines.h. Their solutions are those of tests/problems, or tables computed
/// by extrapolation in 128 bits.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "problems/problems.h"

static const double y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};
static const double origin[3] = {0, 0, 0};

/// A row of a table: NAN beyond it.
static const double *find_row(const double *table, int rows, int width, double t) {
  static double unknown[1 + 2 * READING_SIZE];
  for (int i = 0; i < 1 + 2 * READING_SIZE; ++i) unknown[i] = (double)NAN;
  for (int i = 0; i < rows; ++i)
    if (fabs(table[i * width] - t) < 1e-9) return table + (size_t)(i * width);
  return unknown;
}

// ---- Andrews' squeezer ----------------------------------------------------------------------------------

enum { LINKS = 7 };
static const double A[2] = {-0.06934, -0.00227}, B[2] = {-0.03635, 0.03273},
                    C[3] = {0.014, 0.072, 0};

/// The angles of the seven links from the seven coordinates.
static void link_angles(const double *q, double *angle) {
  const double all[LINKS] = {q[0], q[0] + q[1], q[2], q[3] + q[4], q[4], q[5] + q[6], q[6]};
  memcpy(angle, all, sizeof all);
}

/// p + the rotation by `angle` of (x, y), in the plane.
static void beyond(const double *p, double angle, double x, double y, double *out) {
  out[0] = p[0] + x * cos(angle) - y * sin(angle);
  out[1] = p[1] + x * sin(angle) + y * cos(angle);
  out[2] = 0.0;
}

/// 0: none redundant; 1: on SE(3); 2: revolute joints only, nine rows redundant.
static as_model *build_andrews(int variant) {
  static const double m[LINKS] = {0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498};
  static const double J[LINKS] = {2.194e-6, 4.41e-7,  5.255e-6, 5.667e-7,
                                  1.169e-5, 5.667e-7, 1.912e-5};
  static const double com[LINKS][2] = {
      {0.00092, 0},       {-0.0115, 0},        {0.01043, -0.01874}, {0, -(0.02 - 0.01421)},
      {0.02308, 0.00916}, {0.02 - 0.01421, 0}, {-0.00449, -0.01228}};
  const double q0[LINKS] = {-0.0617138900142764496, 0,
                            0.455279819163070380,   0.222668390165885885,
                            0.487364979543842550,   -0.222668390165885885,
                            1.23054744454982119};
  double angle[LINKS], place[LINKS][3], E[3], D[3];
  link_angles(q0, angle);
  beyond(origin, 0, 0, 0, place[0]);
  beyond(place[0], angle[0], 0.007, 0, place[1]); // F
  beyond(B, 0, 0, 0, place[2]);
  beyond(A, 0, 0, 0, place[4]);
  beyond(place[4], angle[4], 0.04, 0, place[3]); // G
  beyond(A, 0, 0, 0, place[6]);
  beyond(place[6], angle[6], 0, -0.04, place[5]); // H
  beyond(place[1], angle[1], -0.028, 0, E);
  beyond(place[2], angle[2], 0.02, -0.018, D);
  as_builder *b = machine_builder(0, 0, 0);
  for (int i = 0; i < LINKS; ++i) {
    char name[8];
    snprintf(name, sizeof name, "K%d", i + 1);
    as_body_def def = machine_round_body(name, m[i], J[i], variant == 1);
    machine_place_in_plane(&def, place[i][0], place[i][1], angle[i]);
    def.center_of_mass[0] = com[i][0];
    def.center_of_mass[1] = com[i][1];
    machine_body(b, &def);
  }
  const struct {
    const char *name;
    int first, second;
    const double *point;
  } pins[] = {{"O", AS_GROUND.index, 0, place[0]},
              {"F", 0, 1, place[1]},
              {"B", AS_GROUND.index, 2, place[2]},
              {"A5", AS_GROUND.index, 4, place[4]},
              {"G", 4, 3, place[3]},
              {"A7", AS_GROUND.index, 6, place[6]},
              {"H", 6, 5, place[5]},
              {"E3", 1, 2, E},
              {"E4", 1, 3, E},
              {"E6", 1, 5, E}};
  for (size_t i = 0; i < sizeof pins / sizeof pins[0]; ++i)
    machine_joint(b, pins[i].name,
                  pins[i].name[0] == 'E' && variant != 2 ? AS_JOINT_POINT_ON_LINE
                                                         : AS_JOINT_REVOLUTE,
                  (as_body_id){pins[i].first}, (as_body_id){pins[i].second}, pins[i].point, z_axis);
  as_error error;
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = AS_GROUND;
  spring.body[1] = (as_body_id){2};
  memcpy(spring.point[0], C, sizeof C);
  memcpy(spring.point[1], D, sizeof D);
  spring.stiffness = 4530.0;
  spring.length = 0.07785;
  as_load_def drive = as_default_load_def();
  drive.body = (as_body_id){0};
  drive.torque[2] = 0.033;
  if (as_builder_add_spring(b, &spring, NULL, &error) ||
      as_builder_add_load(b, &drive, NULL, &error))
    fail_msg("%s", error.message);
  return machine_build(b);
}

static void read_andrews(const as_model *m, const as_state *s, reading *r) {
  reading x = {0};
  for (int i = 0; i < LINKS; ++i) machine_read_angle(m, s, (as_body_id){i}, 0.0, &x);
  for (int i = 0; i < LINKS;
       ++i) { // sines and cosines would do, but a turn more or less does not matter
    const double sine = sin(x.position[i]);
    reading_position(r, &sine, 1);
  }
  reading_velocity(r, x.velocity, LINKS);
  machine_read_force(m, s, "E3", 2, r);
  machine_read_force(m, s, "E4", 2, r);
  machine_read_force(m, s, "E6", 2, r);
}

static void andrews_reference(double t, reading *r) {
  const test_problem *p = problem_andrews();
  double q[LINKS], v[LINKS], lambda[6], angle[LINKS];
  p->exact(p, t, q, v, NULL, lambda);
  link_angles(q, angle);
  for (int i = 0; i < LINKS; ++i) angle[i] = sin(angle[i]);
  reading_position(r, angle, LINKS);
  link_angles(v, angle);
  reading_velocity(r, angle, LINKS);
  reading_reaction(r, lambda, 6);
}

// ---- flyball governor -----------------------------------------------------------------------------------

/// One arm with its ball: a rod of 1 m and 0.3 kg from A at (side 0.05, 0, 1), 30 degrees below the horizontal,
/// 5 kg at its end; a spring and damper from its middle to the slider.
static void add_arm(as_builder *b, as_body_id shaft, as_body_id slider, double side, bool se3) {
  const double spin = 0.16 * 2.0 * 3.141592653589793, sine = 0.5, cosine = sqrt(0.75);
  const double com = (0.3 * 0.5 + 5.0 * 1.0) / 5.3; // from A
  const double across =
      0.3 * (1.0 + 1e-4) / 12.0 + 0.3 * (com - 0.5) * (com - 0.5) + 5.0 * (1.0 - com) * (1.0 - com);
  const double start[3] = {side * 0.05, 0, 1}, middle[3] = {side * (0.05 + 0.5 * cosine), 0, 0.75};
  as_error error;
  as_body_def arm = machine_round_body(side > 0 ? "arm" : "other arm", 5.3, across, se3);
  arm.inertia[0] = 0.3 * 2e-4 / 12.0;
  memcpy(arm.position, start, sizeof start);
  arm.center_of_mass[0] = side * com;
  arm.quaternion[0] = cos(0.2617993877991494); // 15 degrees
  arm.quaternion[2] = side * sin(0.2617993877991494);
  // The spin is about the world's z: R^T e_z = (-side sine, 0, cosine).
  arm.angular_velocity[0] = -side * sine * spin;
  arm.angular_velocity[2] = cosine * spin;
  arm.velocity[1] = side * (0.05 + com * cosine) * spin;
  const as_body_id id = machine_body(b, &arm);
  machine_joint(b, side > 0 ? "hinge" : "other hinge", AS_JOINT_REVOLUTE, shaft, id, start, y_axis);
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = slider;
  spring.body[1] = id;
  spring.point[0][0] = side * 0.05;
  spring.point[0][2] = 0.5;
  memcpy(spring.point[1], middle, sizeof middle);
  spring.stiffness = 4000.0;
  spring.damping = 200.0;
  spring.length = 0.5;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
}

/// 0: R^3xSO(3), 1: SE(3).
static as_model *build_flyball(int variant) {
  const double spin = 0.16 * 2.0 * 3.141592653589793;
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def shaft = machine_round_body("shaft", 0.3, 0.3 * 1.0001 / 12.0, variant == 1);
  shaft.inertia[2] = 0.3 * 2e-4 / 12.0;
  shaft.position[2] = 0.5;
  as_body_def slider = machine_round_body("slider", 3.0, 3.0 * 0.02 / 12.0, variant == 1);
  slider.position[2] = 0.5;
  shaft.angular_velocity[2] = slider.angular_velocity[2] = spin;
  const as_body_id first = machine_body(b, &shaft), second = machine_body(b, &slider);
  machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, first, origin, z_axis);
  machine_joint(b, "guide", AS_JOINT_PRISMATIC, first, second, slider.position, z_axis);
  add_arm(b, first, second, 1.0, variant == 1);
  add_arm(b, first, second, -1.0, variant == 1);
  return machine_build(b);
}

/// s, beta, the shaft's angle (unwrapped from the last reading), and their rates.
static void read_flyball(const as_model *m, const as_state *s, reading *r) {
  static const char *const joints[3] = {"guide", "hinge", "bearing"};
  static const double start[3] = {0.5, 0.5235987755982989, 0.0};
  as_error error;
  for (int i = 0; i < 3; ++i) {
    double x = r->position[i] - start[i], rate;
    if (as_model_coordinates(m, s, as_model_find_joint(m, joints[i]), &x, &x, &rate, &error))
      fail_msg("%s", error.message);
    x += start[i];
    reading_position(r, &x, 1);
    reading_velocity(r, &rate, 1);
  }
}

static void flyball_reference(double t, reading *r) {
  static const double table[][7] = {
      {0.0, 0.5, 0.5235987755982989, 0.0, 0.0, 0.0, 1.0053096491487339},
      {0.25, 0.2854792890259568, 0.7894029926253485, 0.28411401644720874, -1.4786322533686942,
       2.083063706689621, 1.4819376389542156},
      {0.5, 0.00993711610034316, 1.3835719898668886, 1.5282756082156377, -0.13841042312752982,
       0.7403840372594938, 14.947696723610605},
      {0.75, 0.23982645865293645, 0.852237048218133, 3.169684489743911, 1.5166139988217664,
       -2.2859275460751243, 1.6801788421298256},
  };
  const double *row = find_row(table[0], 4, 7, t);
  reading_position(r, row + 1, 3);
  reading_velocity(r, row + 4, 3);
}

// ---- car axis -------------------------------------------------------------------------------------------

/// The road under the right wheel: y = r sin(w t), x = sqrt(1 - y^2); value and two derivatives.
static void road(double t, double x[3], double y[3]) {
  const double r = 0.1, w = 10.0;
  y[0] = r * sin(w * t);
  y[1] = r * w * cos(w * t);
  y[2] = -w * w * y[0];
  x[0] = sqrt(1.0 - y[0] * y[0]);
  x[1] = -y[0] * y[1] / x[0];
  x[2] = -(y[1] * y[1] + y[0] * y[2] + x[1] * x[1]) / x[0];
}

static int road_x(double t, double out[3], void *user) {
  double y[3];
  (void)user;
  road(t, out, y);
  return AS_DONE;
}

static int road_y(double t, double out[3], void *user) {
  double x[3];
  (void)user;
  road(t, x, out);
  return AS_DONE;
}

/// Minus the slope of the line from the origin to the road.
static int road_angle(double t, double out[3], void *user) {
  double x[3], y[3];
  (void)user;
  road(t, x, y);
  out[0] = -asin(y[0]);
  out[1] = -y[1] / x[0];
  out[2] = -(y[2] * x[0] - y[1] * x[1]) / (x[0] * x[0]);
  return AS_DONE;
}

/// The axle's ends are point masses; the left one stays on the line through the origin across the road's
/// slope, the right one hangs on a spring from a small mass that the road carries.
static as_model *build_car_axis(int variant) {
  const double left[3] = {0, 0.5, 0}, right[3] = {1, 0.5, 0}, wheel[3] = {1, 0, 0};
  const double v[3] = {-0.5, 0, 0}, v_wheel[3] = {0, 1, 0};
  static const as_curve x = {.function = road_x}, y = {.function = road_y},
                        angle = {.function = road_angle};
  (void)variant;
  as_error error;
  as_builder *b = machine_builder(0, -1, 0);
  const as_body_id l = machine_point(b, "left", 5e-4, left, v);
  const as_body_id r = machine_point(b, "right", 5e-4, right, v);
  const as_body_id w = machine_point(b, "wheel", 1e-3, wheel, v_wheel);
  machine_rod(b, "axle", l, r, left, right);
  as_frame_def frame = as_default_frame_def();
  as_frame_id slope, carried, center;
  frame.name = "slope"; // z along the world's x, x against its z
  frame.body = AS_GROUND;
  frame.quaternion[0] = frame.quaternion[2] = sqrt(0.5);
  frame.turn = &angle;
  frame.turn_axis = 0;
  as_status status = as_builder_add_frame(b, &frame, &slope, &error);
  frame = as_default_frame_def();
  frame.name = "road";
  frame.body = AS_GROUND;
  frame.shift[0] = &x;
  frame.shift[1] = &y;
  if (status == AS_OK) status = as_builder_add_frame(b, &frame, &carried, &error);
  frame = as_default_frame_def();
  for (int i = 0; i < 2 && status == AS_OK; ++i) {
    as_joint_def joint = as_default_joint_def();
    joint.name = i ? "contact" : "guide";
    joint.kind = i ? AS_JOINT_SPHERICAL : AS_JOINT_POINT_ON_PLANE;
    frame.body = i ? w : l;
    status = as_builder_add_frame(b, &frame, &center, &error);
    joint.frame[0] = i ? carried : slope;
    joint.frame[1] = center;
    if (status == AS_OK) status = as_builder_add_joint(b, &joint, NULL, &error);
  }
  for (int i = 0; i < 2 && status == AS_OK; ++i) {
    as_spring_def spring = as_default_spring_def();
    spring.body[0] = i ? w : AS_GROUND;
    spring.body[1] = i ? r : l;
    if (i) memcpy(spring.point[0], wheel, sizeof wheel);
    memcpy(spring.point[1], i ? right : left, sizeof left);
    spring.stiffness = 1.0;
    spring.length = 0.5;
    status = as_builder_add_spring(b, &spring, NULL, &error);
  }
  if (status) fail_msg("%s", error.message);
  return machine_build(b);
}

static void read_car_axis(const as_model *m, const as_state *s, reading *r) {
  machine_read_body(m, s, (as_body_id){0}, 2, r);
  machine_read_body(m, s, (as_body_id){1}, 2, r);
  const double force[2] = {s->lambda[as_model_joint_row(m, as_model_find_joint(m, "guide"))],
                           s->lambda[as_model_joint_row(m, as_model_find_joint(m, "axle"))]};
  reading_reaction(r, force, 2);
}

static void car_axis_reference(double t, reading *r) {
  const test_problem *p = problem_car_axis();
  double q[4], v[4], lambda[2];
  p->exact(p, t, q, v, NULL, lambda);
  reading_position(r, q, 4);
  reading_velocity(r, v, 4);
  // Theirs: g = (xb xl + yb yl, |l - r|^2 - 1).
  const double force[2] = {-lambda[0], 2.0 * lambda[1]};
  reading_reaction(r, force, 2);
}

// ---- chains ---------------------------------------------------------------------------------------------

/// N point masses of 1/N kg on rods of 1/N m.
static as_model *build_beads(int N) {
  as_builder *b = machine_builder(0, -9.81, 0);
  as_body_id last = AS_GROUND;
  for (int i = 0; i < N; ++i) {
    const double from[3] = {(double)i / N, 0, 0}, to[3] = {(double)(i + 1) / N, 0, 0};
    const as_body_id bead = machine_point(b, NULL, 1.0 / N, to, origin);
    machine_rod(b, NULL, last, bead, from, to);
    last = bead;
  }
  return machine_build(b);
}

static as_model *build_four_beads(int variant) { return (void)variant, build_beads(4); }
static as_model *build_eight_beads(int variant) { return (void)variant, build_beads(8); }

static void read_last(const as_model *m, const as_state *s, reading *r) {
  machine_read_body(m, s, (as_body_id){as_model_bodies(m) - 1}, 2, r);
}

static void beads_reference(const double *table, double t, reading *r) {
  const double *row = find_row(table, 3, 5, t);
  reading_position(r, row + 1, 2);
  reading_velocity(r, row + 3, 2);
}

static void four_beads_reference(double t, reading *r) {
  static const double table[][5] = {
      {0.2, 0.947385718410317, -0.1961993360795066, -0.8355704663054676, -1.9619544461959182},
      {0.4, 0.5371680803581528, -0.7754829537320596, -3.9145247661321303, -3.5845342238019504},
      {0.6, -0.5111317347071489, -0.7695370272974005, -3.9302782484569234, 2.427207429798594}};
  beads_reference(table[0], t, r);
}

static void eight_beads_reference(double t, reading *r) {
  static const double table[][5] = {
      {0.2, 0.9397048067619556, -0.19619999996221898, -0.8788404864949836, -1.9619999953581138},
      {0.4, 0.5014369034174405, -0.7835962796721189, -4.319493540226579, -3.8457642020503098},
      {0.6, -0.596078243298794, -0.6827395300409222, -3.5795521101270795, 2.065778750147924}};
  beads_reference(table[0], t, r);
}

/// Ten links of 1 m and 1 kg, 5 cm thick. 0: R^3xSO(3); 1: SE(3); 2: revolute joints.
static as_model *build_links(int variant) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_id last = AS_GROUND;
  for (int i = 0; i < 10; ++i) {
    as_body_def link = machine_round_body(NULL, 1.0, 0.0839583333333333333, variant == 1);
    link.inertia[0] = 0.00125;
    link.position[0] = i + 0.5;
    const as_body_id id = machine_body(b, &link);
    machine_joint(b, NULL, variant == 2 ? AS_JOINT_REVOLUTE : AS_JOINT_SPHERICAL, last, id,
                  (double[]){i, 0, 0}, y_axis);
    last = id;
  }
  as_frame_def tip = as_default_frame_def();
  as_error error;
  tip.name = "tip";
  tip.body = last;
  tip.position[0] = 0.5;
  if (as_builder_add_frame(b, &tip, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void read_links(const as_model *m, const as_state *s, reading *r) {
  as_error error;
  as_frame_motion tip;
  if (as_model_frame_motion(m, s, as_model_find_frame(m, "tip"), &tip, &error))
    fail_msg("%s", error.message);
  const double xz[2] = {tip.position[0], tip.position[2]};
  reading_position(r, xz, 2);
}

static void links_reference(double t, reading *r) {
  static const double tip[2] = {7.527507986527, -4.906153396808},
                      unknown[2] = {(double)NAN, (double)NAN};
  reading_position(r, t == 1.0 ? tip : unknown, 2);
}

// ---- all of them ----------------------------------------------------------------------------------------

const machine machines_large[] = {
    {"Andrews",
     3,
     build_andrews,
     read_andrews,
     andrews_reference,
     1e-5,
     {0.01, (double)NAN, (double)NAN}},
    {"flyball", 2, build_flyball, read_flyball, flyball_reference, 0.001, {0.25, 0.5, 0.75}},
    {"car axis", 1, build_car_axis, read_car_axis, car_axis_reference, 0.0005, {0.5, 1.0, 1.5}},
    {"4 beads", 1, build_four_beads, read_last, four_beads_reference, 0.001, {0.2, 0.4, 0.6}},
    {"8 beads", 1, build_eight_beads, read_last, eight_beads_reference, 0.0005, {0.2, 0.4, 0.6}},
    {"10 links",
     3,
     build_links,
     read_links,
     links_reference,
     0.002,
     {1.0, (double)NAN, (double)NAN}},
};
const int n_machines_large = (int)(sizeof machines_large / sizeof machines_large[0]);
