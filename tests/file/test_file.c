/// Model files: what is read is what was written, in YAML and in JSON, in every locale; and a machine from a file is
/// the machine that the builder makes.
#include <locale.h>
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
#include "files.h"
#include "lie/rotation.h"
#include "machines.h"
#include "rig.h"

static as_machine *parse(const char *text) {
  static as_messages messages;
  as_machine *m = NULL;
  if (as_machine_parse(text, strlen(text), "text.yaml", NULL, 0, &m, &messages))
    fail_msg("%s", messages.message[0].text);
  return m;
}

static double parameter(const as_machine *m, const char *name) {
  for (int i = 0; i < m->n_parameters; ++i)
    if (strcmp(m->parameters[i].name, name) == 0) return m->parameters[i].value;
  fail_msg("there is no parameter %s", name);
  return (double)NAN;
}

// ---- values -------------------------------------------------------------------------------------------

static void check_scalars(void) {
  as_machine *m = files_load("tests/files/good/scalars.yaml", NULL, 0);
  const struct {
    const char *name;
    double value;
  } expected[] = {{"a", 0.5}, {"b", 5.0},  {"c", 2.0},   {"d", -1500.0}, {"e", 0.01},
                  {"f", 1.0}, {"g", -4.0}, {"h", 512.0}, {"i", -5.0},    {"j", 1.0},
                  {"k", 6.0}, {"l", 7.0},  {"n", 9.0}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i)
    assert_near(expected[i].name, parameter(m, expected[i].name), expected[i].value, 0.0);
  assert_near("m", parameter(m, "m"), 0.0, 1e-15);
  assert_string_equal(m->title, "no");
  assert_string_equal(m->description, "0x1F");
  const char *const names[] = {"no", "yes", "12", "null"};
  for (int i = 0; i < 4; ++i) assert_int_equal(as_model_find_body(m->model, names[i]).index, i);
  as_machine_destroy(m);
}

static void test_scalars(void **state) {
  (void)state;
  check_scalars();
}

/// A decimal comma, where the machine has such a locale.
static void test_locale(void **state) {
  (void)state;
  const char *const tries[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", "nl_NL.UTF-8"};
  const char *found = NULL;
  for (size_t i = 0; i < sizeof tries / sizeof tries[0] && !found; ++i)
    found = setlocale(LC_ALL, tries[i]);
  if (found == NULL) print_message("  no locale with a decimal comma here\n");
  check_scalars();
  if (found) assert_string_equal(localeconv()->decimal_point, ",");
  setlocale(LC_ALL, "C");
}

static void test_json(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/json.json", NULL, 0);
  assert_string_equal(m->title, "JSON \"quoted\" \xc3\xa9 / \\ \xf0\x9f\x98\x80 \\ud83d\\ude00");
  assert_int_equal(as_model_bodies(m->model), 4);
  assert_int_equal(as_model_find_body(m->model, "p3").index, 3);
  assert_int_equal(m->simulation.integrator.method, AS_METHOD_SOI2);
  assert_near("step", m->simulation.integrator.step, 0.01, 0.0);
  assert_near("interval", m->output.interval, 0.1, 0.0);
  assert_false(m->assembled);
  as_machine_destroy(m);
  m = files_load("tests/files/good/json_in_one_line.json", NULL, 0);
  assert_int_equal(as_model_forces(m->model), 1);
  as_machine_destroy(m);
}

static void test_defaults(void **state) {
  (void)state;
  as_machine *m = parse("alphastep: 1\nbodies: {a: {type: point, mass: 1}}\n");
  const as_integrator_def def = as_default_integrator_def();
  const as_integrator_def *read = &m->simulation.integrator;
  assert_true(isnan(m->simulation.t_end) && isnan(m->output.interval) && isnan(read->step));
  assert_int_equal(read->method, AS_METHOD_INDEX2);
  assert_near("rho_inf", read->rho_inf, 0.8, 0.0);
  assert_near("rtol", read->tolerance.rtol, 2e-5, 0.0);
  assert_true(isnan(read->tolerance.atol_position)); // a thousandth of rtol
  assert_true(isnan(read->newton.atol));             // from typical sizes
  assert_int_equal(read->newton.max_iterations, def.newton.max_iterations);
  assert_int_equal(m->n_shapes + m->output.n_times + m->output.n_channels + m->n_parameters, 0);
  assert_null(m->title);
  assert_int_equal(m->n_sources, 1);
  assert_string_equal(m->sources[0].text, "alphastep: 1\nbodies: {a: {type: point, mass: 1}}\n");
  as_machine_destroy(m);
}

static void check_simulation(const as_machine *m) {
  const as_integrator_def *def = &m->simulation.integrator;
  assert_near("t_end", m->simulation.t_end, 6.0, 0.0);
  assert_true(isnan(def->step));
  assert_int_equal(def->method, AS_METHOD_INDEX3);
  assert_int_equal(m->simulation.max_steps, 100000);
  assert_near("rho_inf", def->rho_inf, 0.6, 0.0);
  assert_near("rtol", def->tolerance.rtol, 1e-5, 0.0);
  assert_near("atol_position", def->tolerance.atol_position, 1e-6, 0.0);
  assert_near("atol_rotation", def->tolerance.atol_rotation, 1e-9, 0.0);
  assert_near("atol_velocity", def->tolerance.atol_velocity, 1e-9, 0.0);
  assert_near("first_step", def->tolerance.first_step, 1e-4, 0.0);
  assert_near("min_step", def->tolerance.min_step, 1e-9, 0.0);
  assert_near("max_step", def->tolerance.max_step, 0.1, 0.0);
  assert_near("newton rtol", def->newton.rtol, 1e-9, 0.0);
  assert_near("newton atol", def->newton.atol, 1e-11, 0.0);
  assert_int_equal(def->newton.max_iterations, 7);
  assert_false(def->newton.reuse);
}

/// Every option of the methods has a key, which sets what the same option in C sets, and nothing else.
static void test_methods(void **state) {
  (void)state;
  as_integrator_def def = as_default_integrator_def();
  as_coefficients c;
  static const char *const text[] = {"hht_alpha: -0.1",
                                     "newmark: [0.25, 0.5]",
                                     "coefficients: [0.1, 0.4, 0.4225, 0.8]",
                                     "state_rho_inf: 0.3",
                                     "state_coefficients: [0.1, 0.3, 0.7]",
                                     "improved_start: false",
                                     "perturbed_start: false",
                                     "project_start: false",
                                     "check_coefficients: false",
                                     "step_corrections: false",
                                     "method: soi2, implicit_start: true",
                                     "method: soi2, reevaluate_mass: true"};
  for (int i = 0; i < 12; ++i) {
    char all[256];
    snprintf(all, sizeof all,
             "alphastep: 1\nbodies: {a: {type: point, mass: 1}}\nsimulate: {t_end: 1, %s}\n",
             text[i]);
    as_machine *m = parse(all);
    as_integrator_def *read = &m->simulation.integrator;
    as_integrator_def expected = def;
    if (i == 0) assert_int_equal(as_coefficients_hht(-0.1, &expected.coefficients, NULL), AS_OK);
    if (i == 1)
      assert_int_equal(as_coefficients_newmark(0.25, 0.5, &expected.coefficients, NULL), AS_OK);
    c = (as_coefficients){.alpha_m = 0.1, .alpha_f = 0.4, .beta = 0.4225, .gamma = 0.8};
    if (i == 2) expected.coefficients = c;
    if (i == 3) expected.state_rho_inf = 0.3;
    if (i == 4)
      expected.state_coefficients =
          (as_state_coefficients){.delta_m = 0.1, .delta_f = 0.3, .theta = 0.7};
    if (i == 5) expected.improved_start = false;
    if (i == 6) expected.perturbed_start = false;
    if (i == 7) expected.project_start = false;
    if (i == 8) expected.check_coefficients = false;
    if (i == 9) expected.step_corrections = false;
    if (i >= 10) expected.method = AS_METHOD_SOI2;
    if (i == 10) expected.soi2.implicit_start = true;
    if (i == 11) expected.soi2.reevaluate_mass = true;
    assert_memory_equal(&read->coefficients, &expected.coefficients, sizeof c);
    assert_memory_equal(&read->state_coefficients, &expected.state_coefficients,
                        sizeof expected.state_coefficients);
    assert_memory_equal(&read->state_rho_inf, &expected.state_rho_inf, sizeof(double));
    assert_int_equal(read->method, expected.method);
    assert_int_equal(read->improved_start, expected.improved_start);
    assert_int_equal(read->perturbed_start, expected.perturbed_start);
    assert_int_equal(read->project_start, expected.project_start);
    assert_int_equal(read->check_coefficients, expected.check_coefficients);
    assert_int_equal(read->step_corrections, expected.step_corrections);
    assert_int_equal(read->soi2.implicit_start, expected.soi2.implicit_start);
    assert_int_equal(read->soi2.reevaluate_mass, expected.soi2.reevaluate_mass);
    as_machine_destroy(m);
  }
}

static void check_shapes(const as_machine *m) {
  assert_int_equal(m->n_shapes, 6);
  const as_shape *s =
      m->shapes; // the ground's come last, when things of files have been read, or first
  const as_body_id body = as_model_find_body(m->model, "shaped");
  const as_shape *box = NULL, *mesh = NULL, *line = NULL, *capsule = NULL, *sphere = NULL;
  for (int i = 0; i < 6; ++i) {
    if (s[i].kind == AS_SHAPE_BOX) box = &s[i];
    if (s[i].kind == AS_SHAPE_MESH) mesh = &s[i];
    if (s[i].kind == AS_SHAPE_POLYLINE) line = &s[i];
    if (s[i].kind == AS_SHAPE_CAPSULE) capsule = &s[i];
    if (s[i].kind == AS_SHAPE_SPHERE) sphere = &s[i];
    assert_int_equal(s[i].body.index, s[i].kind == AS_SHAPE_BOX ? AS_GROUND.index : body.index);
  }
  assert_true(box && mesh && line && capsule && sphere);
  assert_near("box", box->size[0], 10.0, 0.0);
  assert_near("opacity", box->color[3], 1.0, 0.0);
  assert_near("opacity", sphere->color[3], 0.5, 0.0);
  assert_true(isnan(line->color[0]));
  assert_int_equal(line->n_points, 3);
  assert_near("point", line->points[7], 1.0, 0.0);
  assert_near("turn", capsule->quaternion[1], sqrt(0.5), 1e-15);
  assert_near("scale", mesh->scale, 1e-3, 0.0);
  const char *end = strstr(mesh->file, "tests/files/good/part/meshes/part.stl");
  assert_non_null(end);
}

static void test_everything_else(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/everything.yaml", NULL, 0);
  check_simulation(m);
  check_shapes(m);
  assert_string_equal(m->title, "Everything");
  assert_string_equal(m->description, "All kinds of bodies,\njoints and forces.\n");
  assert_int_equal(m->output.n_times, 3);
  assert_near("time", m->output.times[1], 0.5, 0.0);
  assert_int_equal(m->output.n_channels, 2);
  assert_string_equal(m->output.channels[1], "energy.kinetic");
  assert_int_equal(m->output.channel_places[1].line, 63);
  assert_int_equal(m->output.channel_places[1].column, 67);
  assert_int_equal(m->n_frames, 5);
  assert_string_equal(m->frames[2], "corner");
  assert_int_equal(as_model_find_frame(m->model, "corner").index, 2);
  assert_int_equal(m->n_sources, 3);
  assert_non_null(strstr(m->sources[2].path, "part/more.yaml"));
  assert_near("m", parameter(m, "m"), 2.5, 0.0); // not what the included file says
  assert_near("fromCommon", parameter(m, "fromCommon"), 3.0, 0.0);
  for (int i = 0; i < m->n_parameters; ++i)
    assert_int_equal(m->parameters[i].used, strcmp(m->parameters[i].name, "unused") != 0);
  assert_true(m->assembled);
  assert_string_equal(as_model_body_name(m->model, (as_body_id){0}), "first of all");
  as_machine_destroy(m);
}

// ---- the same machine by hand -------------------------------------------------------------------------

static as_body_def rigid(const char *name, double mass, double x) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = mass;
  def.inertia[0] = 0.3, def.inertia[1] = 0.4, def.inertia[2] = 0.5;
  def.position[0] = x;
  def.position[1] = 1.0;
  return def;
}

enum { FIRST, SHAPED, FIXED, HINGED, SLIDER, PISTON, BALL, CROSS, PUCK, LINE, PLANE, BOB, CARRIED };

static void add_bodies(as_builder *b) {
  const double zero[3] = {0}, left[3] = {-1, 0, 0};
  machine_point(b, "first of all", 1.0, zero, zero);
  machine_point(b, "shaped", 3.0, left, zero);
  as_body_def body = rigid("fixed body", 2.5, 0);
  machine_body(b, &body);
  body = rigid("hinged", 2.5, 1);
  const double products[3] = {0.01, 0.02, -0.03}, center[3] = {0.1, 0.2, 0.3};
  memcpy(body.inertia + 3, products, sizeof products);
  memcpy(body.center_of_mass, center, sizeof center);
  const double half = 30.0 * (3.14159265358979323846 / 180.0) / 2.0;
  body.quaternion[0] = cos(half);
  body.quaternion[1] = body.quaternion[2] = sin(half) * (1.0 / hypot(hypot(1.0, 1.0), 0.0));
  machine_body(b, &body);
  body = rigid("slider", 1.0, 2);
  body.inertia[1] = body.inertia[2] = 0.3;
  body.quaternion[0] = 0.6, body.quaternion[2] = 0.8;
  body.space = AS_SPACE_SE3;
  body.velocity[2] = 0.25;
  machine_body(b, &body);
  body = rigid("piston", 1.25, 3);
  machine_body(b, &body);
  body = rigid("ball", 1.0, 4);
  for (int k = 0; k < 3; ++k) body.angular_velocity[k] = (k + 1) / 10.0;
  machine_body(b, &body);
  body = rigid("cross", 1.0, 5);
  machine_body(b, &body);
  body = rigid("puck", 1.0, 6);
  body.space = AS_SPACE_SE3;
  machine_body(b, &body);
  body = rigid("on line", 1.0, 7);
  machine_body(b, &body);
  machine_point(b, "on plane", 1.0, (double[]){8, 1, 0}, zero);
  machine_point(b, "bob", 1.0, (double[]){9, 1, 0}, (double[]){0.5, 0, 0});
  body = rigid("carried", 1.0, 10);
  machine_body(b, &body);
}

static as_frame_id add_frame(as_builder *b, as_frame_def def, const char *name, as_body_id body,
                             double x, double y, double z) {
  as_error error;
  as_frame_id id = AS_NO_FRAME;
  def.name = name;
  def.body = body;
  def.position[0] = x, def.position[1] = y, def.position[2] = z;
  if (as_builder_add_frame(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

static void add_frames(as_builder *b, as_frame_id id[5]) {
  static const double x[] = {0, 1, 2, 3}, y[] = {0, 0.5, 0.25, 0};
  const as_curve shift = {.slope = 0.5}, path = {.x = x, .y = y, .n = 4}, turn = {.slope = 1.0};
  const as_frame_def plain = as_default_frame_def();
  as_frame_def moving = plain, corner = plain, mark = plain;
  moving.shift[0] = &shift;
  moving.shift[1] = &path;
  moving.turn = &turn;
  moving.turn_axis = 1;
  corner.in_world = true;
  const double half = 3.14159265358979323846 / 2.0 / 2.0;
  corner.quaternion[0] = cos(half);
  corner.quaternion[3] = sin(half);
  mark.quaternion[0] = 0.8, mark.quaternion[1] = 0.6;
  id[0] = add_frame(b, moving, "path", AS_GROUND, 10, 1, 0);
  id[1] = add_frame(b, plain, "middle of carried", (as_body_id){CARRIED}, 0, 0, 0);
  id[2] = add_frame(b, corner, "corner", (as_body_id){BALL}, 4, 1.5, 0);
  id[3] = add_frame(b, mark, "mark", AS_GROUND, 4, 2, 0);
  id[4] = add_frame(b, plain, "side of ball", (as_body_id){BALL}, 0, 0, 0.1);
}

static void start_at(as_builder *b, as_joint_id joint, int coordinate, double value, double rate) {
  as_error error;
  as_coordinate_def def = as_default_coordinate_def();
  def.joint = joint;
  def.coordinate = coordinate;
  def.value = value;
  def.rate = rate;
  if (as_builder_set_coordinate(b, &def, &error)) fail_msg("%s", error.message);
}

static as_joint_id add_joint(as_builder *b, const char *name, as_joint_kind kind, as_body_id body,
                             double x, double y, const double axis[3]) {
  return machine_joint(b, name, kind, AS_GROUND, body, (double[]){x, y, 0}, axis);
}

static as_joint_id add_cross_joint(as_builder *b, const char *name, as_joint_kind kind,
                                   as_body_id body, double x) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def def = as_default_joint_def();
  def.name = name;
  def.kind = kind;
  def.body[0] = AS_GROUND;
  def.body[1] = body;
  def.point[0] = x;
  def.axis[0] = def.second_axis[1] = 1.0;
  if (as_builder_add_joint(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

static void drive(as_builder *b, const char *name, as_joint_id joint, int coordinate,
                  const as_curve *law) {
  as_error error;
  as_motion_def def = as_default_motion_def();
  def.name = name;
  def.joint = joint;
  def.coordinate = coordinate;
  def.law = law;
  if (as_builder_add_motion(b, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void add_rod_and_carrier(as_builder *b, const as_frame_id frame[5]) {
  as_error error;
  const as_curve length = {.constant = 1.0, .slope = 0.05};
  as_joint_def rod = as_default_joint_def(), carrier = rod;
  rod.name = "rod";
  rod.kind = AS_JOINT_DISTANCE;
  rod.body[0] = AS_GROUND;
  rod.body[1] = (as_body_id){BOB};
  rod.point[0] = rod.second_point[0] = 9.0;
  rod.second_point[1] = 1.0;
  rod.length = &length;
  carrier.name = "carrier";
  carrier.kind = AS_JOINT_FIXED;
  carrier.frame[0] = frame[0];
  carrier.frame[1] = frame[1];
  if (as_builder_add_joint(b, &rod, NULL, &error) ||
      as_builder_add_joint(b, &carrier, NULL, &error))
    fail_msg("%s", error.message);
}

static void add_joints(as_builder *b, const as_frame_id frame[5]) {
  const double nan = (double)NAN, degree = 3.14159265358979323846 / 180.0;
  const double z[3] = {0, 0, 1};
  add_cross_joint(b, "fix", AS_JOINT_FIXED, (as_body_id){FIXED}, 0);
  const as_joint_id hinge =
      add_joint(b, "hinge", AS_JOINT_REVOLUTE, (as_body_id){HINGED}, 1, 0, (double[]){0, 0, 2});
  start_at(b, add_joint(b, "slide", AS_JOINT_PRISMATIC, (as_body_id){SLIDER}, 2, 0, z), 0, 0.1,
           0.2);
  const as_joint_id piston =
      add_joint(b, "piston", AS_JOINT_CYLINDRICAL, (as_body_id){PISTON}, 3, 0, (double[]){1, 0, 1});
  start_at(b, piston, 1, 10 * degree, 0.5);
  add_joint(b, "ball", AS_JOINT_SPHERICAL, (as_body_id){BALL}, 4, 0, NULL);
  const as_joint_id cross = add_cross_joint(b, "cross", AS_JOINT_UNIVERSAL, (as_body_id){CROSS}, 5);
  start_at(b, cross, 0, 0.2, nan);
  start_at(b, cross, 1, -15 * degree, nan);
  const as_joint_id table = add_joint(b, "table", AS_JOINT_PLANAR, (as_body_id){PUCK}, 6, 1, z);
  start_at(b, table, 0, nan, 1.0);
  start_at(b, table, 1, 0.1, nan);
  add_joint(b, "line", AS_JOINT_POINT_ON_LINE, (as_body_id){LINE}, 7, 0, (double[]){0, 1, 1});
  add_joint(b, "plane", AS_JOINT_POINT_ON_PLANE, (as_body_id){PLANE}, 8, 1, z);
  add_rod_and_carrier(b, frame);
  const double t[] = {0, 1, 2}, angle[] = {0, 1, 3};
  drive(b, "motor", hinge, 0, &(as_curve){.x = t, .y = angle, .n = 3});
  drive(b, "lift", piston, 0, &(as_curve){.slope = 0.125});
}

static void add_springs(as_builder *b, const as_frame_id frame[5]) {
  const double x[] = {-1, 0, 2}, y[] = {-5, 0, 20};
  const as_curve stretch = {.x = x, .y = y, .n = 3, .interpolation = AS_MONOTONE},
                 rate = {.slope = 0.5};
  as_error error;
  as_spring_def spring = as_default_spring_def(), string = spring;
  spring.name = "spring";
  spring.body[0] = (as_body_id){BOB};
  spring.body[1] = (as_body_id){PLANE};
  spring.point[0][0] = 9, spring.point[1][0] = 8;
  spring.point[0][1] = spring.point[1][1] = 1;
  spring.stiffness = 100, spring.damping = 2, spring.length = 0.9;
  spring.spring = &stretch;
  spring.damper = &rate;
  string.name = "string";
  string.frame[0] = frame[3];
  string.frame[1] = frame[4];
  string.stiffness = 10;
  as_torsion_def torsion = as_default_torsion_def(), twist = torsion;
  torsion.name = "torsion";
  torsion.body[0] = AS_GROUND;
  torsion.body[1] = (as_body_id){CROSS};
  torsion.axis[2] = torsion.second_axis[0] = 1;
  torsion.stiffness = 3, torsion.damping = 0.1;
  torsion.angle = 5 * (3.14159265358979323846 / 180.0);
  twist.name = "twist";
  twist.frame[0] = frame[3];
  twist.frame[1] = frame[2];
  twist.stiffness = 1;
  if (as_builder_add_spring(b, &spring, NULL, &error) ||
      as_builder_add_spring(b, &string, NULL, &error) ||
      as_builder_add_torsion(b, &torsion, NULL, &error) ||
      as_builder_add_torsion(b, &twist, NULL, &error))
    fail_msg("%s", error.message);
}

static void add_loads(as_builder *b, const as_frame_id frame[5]) {
  const as_curve ramp = {.slope = 2};
  as_error error;
  as_load_def push = as_default_load_def(), pull = push, corner = push;
  push.name = "push";
  push.body = (as_body_id){PUCK};
  push.point[0] = 6, push.point[1] = 1; // the centre of mass
  push.force[0] = push.torque[2] = 1;
  push.follows = true;
  push.factor = &ramp;
  pull.name = "pull";
  pull.body = (as_body_id){LINE};
  pull.point[0] = 7, pull.point[1] = 2;
  pull.force[1] = 1, pull.torque[1] = 0.5;
  pull.reaction = (as_body_id){BALL};
  corner.name = "at frame";
  corner.frame = frame[2];
  corner.force[2] = 1;
  if (as_builder_add_load(b, &push, NULL, &error) || as_builder_add_load(b, &pull, NULL, &error) ||
      as_builder_add_load(b, &corner, NULL, &error))
    fail_msg("%s", error.message);
}

/// The machine of tests/files/good/everything.yaml.
static as_model *build_everything(void) {
  as_error error;
  as_frame_id frame[5];
  as_builder *b = machine_builder(0, -9.81, 1);
  add_bodies(b);
  add_frames(b, frame);
  add_joints(b, frame);
  add_springs(b, frame);
  add_loads(b, frame);
  if (as_builder_assemble(b, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_by_hand(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/everything.yaml", NULL, 0);
  as_model *by_hand = build_everything();
  files_same_motion(m->model, by_hand, AS_METHOD_INDEX2, 1e-2, 30, 1e-8);
  for (int i = 0; i < as_model_joints(by_hand); ++i)
    assert_string_equal(as_model_joint_name(m->model, (as_joint_id){i}),
                        as_model_joint_name(by_hand, (as_joint_id){i}));
  for (int i = 0; i < as_model_forces(by_hand); ++i)
    assert_string_equal(as_model_force_name(m->model, (as_force_id){i}),
                        as_model_force_name(by_hand, (as_force_id){i}));
  as_model_destroy(by_hand);
  as_machine_destroy(m);
}

// ---- repeat, anchors, settings --------------------------------------------------------------------------

static void test_repeat(void **state) {
  (void)state;
  as_machine *m = files_load("tests/files/good/repeat.yaml", NULL, 0);
  assert_int_equal(as_model_bodies(m->model), 12);
  assert_int_equal(as_model_forces(m->model), 8);
  assert_int_equal(as_model_find_force(m->model, "along 3 2").index, 6);
  assert_int_equal(as_model_find_frame(m->model, "mark 33").index, 11);
  const as_body_id body = as_model_find_body(m->model, "node 2 3");
  assert_int_equal(body.index, 7);
  assert_near("x", as_model_initial(m->model)->q[3 * body.index], 2.0, 0.0);
  assert_near("y", as_model_initial(m->model)->q[3 * body.index + 1], 3.0, 0.0);
  as_machine_destroy(m);
}

/// Shapes of the ground in groups: each turn has its own, mirror images stand on the other side.
static void test_ground_shapes(void **state) {
  (void)state;
  static const char text[] =
      "alphastep: 1\n"
      "bodies: {stone: {type: point, mass: 1}}\n"
      "shapes: [{type: strip, points: [[0, 0, 0], [9, 0, 0], [9, 9, 0]], width: 3, dash: [2, 1]}]\n"
      "repeat:\n"
      "  - {to: 3, shapes: [{type: cone, radius: 0.2, top: 0.05, length: 0.5, position: [3*i, 1, "
      "0.25]}, {type: wheel, radius: 0.3, width: 0.1*i}]}\n"
      "  - {mirror: z, names: [above, below], shapes: [{type: cone, radius: 0.2, length: 1, "
      "position: [0, 0, 2], quaternion: [0.6, 0, 0.8, 0]}]}\n";
  as_messages messages;
  as_machine *m = NULL;
  assert_int_equal(as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &m, &messages),
                   AS_OK);
  assert_int_equal(m->n_shapes, 9);
  const as_shape *s = m->shapes;
  for (int i = 0; i < 9; ++i) assert_int_equal(s[i].body.index, AS_GROUND.index);
  assert_int_equal(s[0].kind, AS_SHAPE_STRIP);
  assert_int_equal(s[0].n_points, 3);
  assert_near("width", s[0].width, 3.0, 0.0);
  assert_near("gap", s[0].dash[1], 1.0, 0.0);
  for (int i = 1; i <= 3; ++i) {
    assert_int_equal(s[2 * i - 1].kind, AS_SHAPE_CONE);
    assert_near("x", s[2 * i - 1].position[0], 3.0 * i, 0.0);
    assert_near("top", s[2 * i - 1].top, 0.05, 0.0);
    assert_int_equal(s[2 * i].kind, AS_SHAPE_WHEEL);
    assert_near("width", s[2 * i].length, 0.1 * i, 1e-15);
  }
  double up[2][3]; // where the tops are from the feet
  for (int i = 0; i < 2; ++i) asi_so3_rotate(s[7 + i].quaternion, (double[]){0.0, 0.0, 1.0}, up[i]);
  assert_near("place", s[8].position[2], -2.0, 0.0);
  assert_near("across", up[0][0], 0.96, 1e-12);
  for (int k = 0; k < 3; ++k) assert_near("top", up[1][k], k < 2 ? up[0][k] : -up[0][k], 1e-12);
  as_machine_destroy(m);
  static const char lots[] = "alphastep: 1\nbodies: {stone: {type: point, mass: 1}}\nrepeat: [{to: "
                             "1000000, shapes: [{type: sphere, radius: "
                             "1}, {type: sphere, radius: 1}, {type: sphere, radius: 1}]}]\n";
  assert_int_equal(as_machine_parse(lots, strlen(lots), "test.yaml", NULL, 0, &m, &messages),
                   AS_ERR_ARGUMENT);
  assert_non_null(strstr(messages.message[0].text, "more than 2000000 things"));
}

/// Time and memory grow with the machine: a test that hangs or needs gigabytes fails.
static void test_large(void **state) {
  (void)state;
  const char *const setting = "parameters.n=100000";
  as_machine *m = files_load("examples/machines/chain/model.yaml", &setting, 1);
  assert_int_equal(as_model_bodies(m->model), 100000);
  assert_int_equal(as_model_joints(m->model), 100000);
  assert_int_equal(as_model_find_body(m->model, "link 100000").index, 99999);
  assert_int_equal(m->n_shapes, 100000);
  as_machine_destroy(m);
}

static void test_anchors(void **state) {
  (void)state;
  const char text[] =
      "alphastep: 1\nbodies:\n  a: &a {type: point, mass: 1, position: &p [1, 2, 3]}\n"
      "  b: *a\n  c: {type: point, mass: 2, position: *p}\n";
  static as_messages messages;
  as_machine *m = parse(text);
  assert_int_equal(as_model_bodies(m->model), 3);
  assert_near("z", as_model_initial(m->model)->q[8], 3.0, 0.0);
  as_machine_destroy(m);
  // A setting changes one of them only.
  const char *const setting = "bodies.b.position.2=7";
  assert_int_equal(as_machine_parse(text, strlen(text), "text.yaml", &setting, 1, &m, &messages),
                   AS_OK);
  const double *q = as_model_initial(m->model)->q;
  assert_near("a", q[2], 3.0, 0.0);
  assert_near("b", q[5], 7.0, 0.0);
  assert_near("c", q[8], 3.0, 0.0);
  as_machine_destroy(m);
}

static void test_settings(void **state) {
  (void)state;
  const char *const settings[] = {"parameters.m=7",
                                  "simulate.tol=null",
                                  "simulate.step=two/8",
                                  "simulate.newton.reuse=true",
                                  "gravity=[0, 0, -1.62]",
                                  "output.times.1=0.75",
                                  "parameters.fromCommon=4",
                                  "title=another title",
                                  "bodies.bob.velocity=[m, 0, 0]",
                                  "assemble=false"};
  as_machine *m = files_load("tests/files/good/everything.yaml", settings, 10);
  assert_near("m", parameter(m, "m"), 7.0, 0.0);
  assert_near("fromCommon", parameter(m, "fromCommon"), 4.0, 0.0);
  assert_near("step", m->simulation.integrator.step, 0.25, 0.0);
  assert_true(m->simulation.integrator.newton.reuse);
  assert_near("time", m->output.times[1], 0.75, 0.0);
  assert_string_equal(m->title, "another title");
  assert_string_equal(m->parameters[0].place.file, "--set parameters.m=7");
  as_machine_destroy(m);
  // A section that the file does not have.
  const char *const new[] = {"simulate.newton.rtol=1e-5", "output.interval=0.5"};
  m = files_load("tests/files/rolling.yaml", new, 2);
  assert_near("rtol", m->simulation.integrator.newton.rtol, 1e-5, 0.0);
  assert_near("interval", m->output.interval, 0.5, 0.0);
  as_machine_destroy(m);
}

static void test_settings_refused(void **state) {
  (void)state;
  const struct {
    const char *setting, *message;
  } cases[] = {
      {"simulate.stp=1", "simulate: there is no key \"stp\" here; did you mean \"step\"?"},
      {"bodies.tip.mass=1", "there is no \"tip\" in bodies; did you mean \"top\"?"},
      {"bodies.new={type: point, mass: 1}", "there is no \"new\" in bodies"},
      {"bodies.top.mass=-3", "bodies.top.mass: must be greater than 0 kg, not -3"},
      {"parameters.spinn=3", "there is no \"spinn\" in parameters; did you mean \"spin\"?"},
      {"gravity.3=1", "there is no \"3\" in gravity"},
      {"gravity.-1=1", "there is no \"-1\" in gravity"},
      {"gravity.99999999999999999999=1", "there is no \"99999999999999999999\" in gravity"},
      {"simulate.tool.rtol=1", "simulate: there is no key \"tool\" here; did you mean \"tol\"?"},
      {"simulte.tol.rtol=1", "there is no \"simulte\" in the file; did you mean \"simulate\"?"},
      {"simulate.step.h=1", "there is no \"h\" in step"},
      {"simulate.step=[", "did not find expected node content"},
      {"simulate.step=", "nothing is written here"},
      {"nonsense", "a setting is path.to.value=text"},
      {"=1", "a setting is path.to.value=text"},
      {"a..b=1", "there is no \"a\" in the file"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const as_messages *m =
        files_refused("examples/machines/heavy-top/model.yaml", &cases[i].setting, 1);
    char line[256];
    snprintf(line, sizeof line, "--set %s: error: %s", cases[i].setting, cases[i].message);
    if (m->n != 1 || strncmp(m->message[0].text, line, strlen(line)) != 0)
      fail_msg("%d messages, the first: %s\ninstead of: %s", m->n, m->message[0].text, line);
  }
}

// ---- limits -------------------------------------------------------------------------------------------

static void refuse_text(const char *text, size_t size, const char *sentence) {
  static as_messages messages;
  as_machine *m = NULL;
  assert_int_equal(as_machine_parse(text, size, "text.yaml", NULL, 0, &m, &messages),
                   AS_ERR_ARGUMENT);
  assert_null(m);
  if (messages.n != 1 || strstr(messages.message[0].text, sentence) == NULL)
    fail_msg("%s\ninstead of: %s", messages.message[0].text, sentence);
}

/// `head`, then `part` again and again.
static char *many(const char *head, const char *part, size_t count, size_t *size) {
  const size_t a = strlen(head), b = strlen(part);
  char *text = malloc(a + b * count + 1);
  assert_non_null(text);
  memcpy(text, head, a + 1);
  for (size_t i = 0; i < count; ++i) memcpy(text + a + b * i, part, b);
  *size = a + b * count;
  text[*size] = '\0';
  return text;
}

static void test_limits(void **state) {
  (void)state;
  size_t size;
  char *text = many("alphastep: 1\n#", "0123456789abcdef", 4 << 20, &size);
  refuse_text(text, size, "text.yaml: error: the file has more than 64 MiB");
  free(text);
  text = many("alphastep: 1\nparameters: {a: [", "0,", 4000001, &size);
  refuse_text(text, size, "more than 4000000 values");
  free(text);
  text = many("", "&a 1,", 1001, &size);
  char *list = many("[", text, 1, &size);
  refuse_text(list, size, "text.yaml:1:5002: error: more than 1000 anchors");
  free(list);
  free(text);
}

static void test_unreadable(void **state) {
  (void)state;
  static as_messages messages;
  as_machine *m = NULL;
  assert_int_equal(as_machine_load("nothing.yaml", NULL, 0, &m, &messages), AS_ERR_FILE);
  assert_string_equal(messages.message[0].text,
                      "nothing.yaml: error: the file cannot be read: No such file or directory");
  assert_int_equal(as_machine_load("/", NULL, 0, &m, &messages), AS_ERR_FILE);
  assert_string_equal(
      messages.message[0].text,
      "/: error: the file cannot be read: it is no file, but a folder, a device or a pipe");
  assert_null(m);
}

// ---- the page of keys ---------------------------------------------------------------------------------

static void test_page(void **state) {
  (void)state;
  char *page = files_read("docs/model-file.md");
  const size_t length = as_file_reference(NULL, 0);
  char *keys = malloc(length + 1);
  assert_non_null(keys);
  assert_int_equal(as_file_reference(keys, length + 1), length);
  if (strstr(page, keys) == NULL)
    fail_msg("docs/model-file.md does not hold what `alphastep schema --keys` prints");
  char part[10] = "xxxxxxxxx";
  assert_int_equal(as_file_reference(part, 5), length); // as snprintf does
  assert_memory_equal(part, keys, 4);
  assert_string_equal(part + 4, "");
  assert_int_equal(part[5], 'x');
  free(keys);
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalars),       cmocka_unit_test(test_locale),
      cmocka_unit_test(test_json),          cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_methods),       cmocka_unit_test(test_everything_else),
      cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_repeat),
      cmocka_unit_test(test_large),         cmocka_unit_test(test_anchors),
      cmocka_unit_test(test_settings),      cmocka_unit_test(test_settings_refused),
      cmocka_unit_test(test_limits),        cmocka_unit_test(test_unreadable),
      cmocka_unit_test(test_ground_shapes), cmocka_unit_test(test_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
