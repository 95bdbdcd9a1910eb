/// Screws, gears, racks and constant-velocity joints against numbers found by hand; what they do over many turns,
/// in assembly and with redundant parts; and what is refused.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "rig.h"

static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};
static const double origin[3] = {0, 0, 0};
static const double turn = 6.283185307179586;

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

// ---- shorthand ----------------------------------------------------------------------------------------

static as_body_id add_body(as_builder *b, const char *name, double mass, const double inertia[3],
                           const double position[3]) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = mass;
  memcpy(def.inertia, inertia, 3 * sizeof(double));
  memcpy(def.position, position, 3 * sizeof(double));
  return machine_body(b, &def);
}

static as_joint_id add_gear(as_builder *b, const char *name, as_joint_id first, as_joint_id second,
                            int z1, int z2, bool internal) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_gear_def def = as_default_gear_def();
  def.name = name;
  def.joint[0] = first;
  def.joint[1] = second;
  def.teeth[0] = z1;
  def.teeth[1] = z2;
  def.internal = internal;
  must(as_builder_add_gear(b, &def, &id, &error), &error);
  return id;
}

static as_joint_id add_screw(as_builder *b, as_body_id first, as_body_id second, double lead) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def def = as_default_joint_def();
  def.name = "screw";
  def.kind = AS_JOINT_SCREW;
  def.body[0] = first;
  def.body[1] = second;
  def.axis[2] = 1.0;
  def.lead = lead;
  must(as_builder_add_joint(b, &def, &id, &error), &error);
  return id;
}

static void add_torque(as_builder *b, as_body_id body, double x, double y, double z) {
  as_error error;
  as_load_def def = as_default_load_def();
  def.body = body;
  def.torque[0] = x;
  def.torque[1] = y;
  def.torque[2] = z;
  must(as_builder_add_load(b, &def, NULL, &error), &error);
}

static void add_motion(as_builder *b, const char *name, as_joint_id joint, int coordinate,
                       const as_curve *law) {
  as_error error;
  as_motion_def def = as_default_motion_def();
  def.name = name;
  def.joint = joint;
  def.coordinate = coordinate;
  def.law = law;
  must(as_builder_add_motion(b, &def, NULL, &error), &error);
}

static void want(as_builder *b, as_joint_id joint, int coordinate, double value, double rate) {
  as_error error;
  as_coordinate_def def = as_default_coordinate_def();
  def.joint = joint;
  def.coordinate = coordinate;
  def.value = value;
  def.rate = rate;
  must(as_builder_set_coordinate(b, &def, &error), &error);
}

static as_integrator *start(const as_model *m, as_method method, double h) {
  as_integrator *integrator = NULL;
  as_error error;
  const as_integrator_def how = rig_how(method, h, NULL, 0);
  must(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
  must(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  return integrator;
}

/// A coordinate of a joint, near where it was.
static double coordinate(const as_model *m, const as_state *s, as_joint_id joint, int which,
                         double near) {
  as_error error;
  double at[AS_JOINT_COORDINATES] = {0};
  at[which] = near;
  must(as_model_coordinates(m, s, joint, at, at, NULL, &error), &error);
  return at[which];
}

static as_reaction reaction(const as_model *m, const as_state *s, const char *joint) {
  as_error error;
  as_reaction r;
  must(as_model_reaction(m, s, as_model_find_joint(m, joint), &r, &error), &error);
  return r;
}

/// The multiplier of a gear: the torque on its second wheel.
static double wheel_torque(const as_model *m, const as_state *s, const char *gear) {
  return s->lambda[as_model_joint_row(m, as_model_find_joint(m, gear))];
}

/// A component of v' of a body: 0 ... 2 of x'', 3 ... 5 of the angular acceleration.
static double acceleration(const as_model *m, const as_state *s, const char *body, int component) {
  return s->vdot[as_model_body_v(m, as_model_find_body(m, body)) + component];
}

static double spin(const as_model *m, const as_state *s, const char *body, int component) {
  as_body_motion at;
  as_model_body_motion(m, s, as_model_find_body(m, body), &at);
  return at.R[3 * component] * at.omega[0] + at.R[3 * component + 1] * at.omega[1] +
         at.R[3 * component + 2] * at.omega[2];
}

// ---- screws -------------------------------------------------------------------------------------------

/// A press: a spindle in a bearing, with a right-handed thread of 20 mm, in a ram of 50 kg that does not turn: it has
/// a pin in a slot, 0.2 m off the axis, or a guide, with four rows too many. With p = 0.02 m/2 pi the ram goes by -p for
/// each radian of the spindle; seen from the ram, the inertia is m + J/p^2:
///     m s'' = F - m g,   J phi'' = T + p F,   s = -p phi          F on the ram, -p F the torque on it
static void check_press(as_method method, bool guided) {
  const double p = 0.02 / turn, J = 0.03, mass = 50.0, T = 1.5, g = 9.81;
  const double s2 = -(T / p + mass * g) / (mass + J / (p * p)), F = mass * (s2 + g);
  const double accuracy = guided ? 1e-6 : 1e-11; // what redundant rows cost
  as_builder *b = machine_builder(0, 0, -g);
  const as_body_id spindle = add_body(b, "spindle", 8.0, (double[]){0.1, 0.1, J}, origin);
  const as_body_id ram = add_body(b, "ram", mass, (double[]){1, 1, 1}, (double[]){0, 0, -0.5});
  const as_joint_id bearing =
      machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, spindle, origin, z_axis);
  if (guided)
    machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, ram, origin, z_axis);
  else
    machine_joint(b, "guide", AS_JOINT_POINT_ON_PLANE, AS_GROUND, ram, (double[]){0.2, 0, 0},
                  y_axis);
  const as_joint_id screw = add_screw(b, spindle, ram, 0.02);
  add_torque(b, spindle, 0, 0, T);
  as_error error;
  as_assembly_report report;
  must(as_builder_assemble(b, &report, &error), &error);
  assert_int_equal(report.degrees_of_freedom, 1);
  assert_int_equal(report.n_redundant, guided ? 4 : 0);
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, method, 0.01);
  const as_state *s = as_integrator_state(integrator);
  assert_near("ram", acceleration(m, s, "ram", 2), s2, accuracy);
  assert_near("spindle", acceleration(m, s, "spindle", 5), -s2 / p, accuracy / p);
  const as_reaction on_ram = reaction(m, s, "screw"), guide = reaction(m, s, "guide");
  assert_near("force of the screw", on_ram.force_in_joint[2], F, 100.0 * accuracy);
  assert_near("torque of the screw", on_ram.torque_in_joint[2], -p * F, accuracy);
  assert_near("the guide holds it", guided ? guide.torque[2] : 0.2 * guide.force[1], p * F,
              accuracy);
  must(as_integrator_advance(integrator, 1.0, &error), &error);
  const double way = coordinate(m, s, screw, 0, 0.0);
  assert_near("way of the ram", way, s2 / 2.0, 10.0 * accuracy);
  assert_near("angle of the screw", coordinate(m, s, screw, 1, way / p), way / p, 1e-6);
  assert_near("of the spindle", coordinate(m, s, bearing, 0, -way / p), -way / p, 1e-6);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_screw_press(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    check_press(rig_methods[k], false);
    check_press(rig_methods[k], true);
  }
}

/// Whatever the lead and the place of the ram, the guide has four rows too many; and the motor's speed given twice is
/// one more.
static void test_redundant_press(void **state) {
  (void)state;
  const double leads[] = {1e-3, 0.02, 0.3, 5.0}, places[] = {0.0, 0.1, 0.7, 3.0};
  const as_curve law = {.slope = 1.0};
  for (int i = 0; i < 32; ++i) {
    as_error error;
    as_assembly_report report;
    as_builder *b = machine_builder(0, 0, 0);
    const double place = places[i / 4 % 4];
    const as_body_id spindle = add_body(b, "spindle", 8.0, (double[]){0.1, 0.1, 0.1}, origin);
    const as_body_id ram =
        add_body(b, "ram", 50.0, (double[]){1, 1, 1}, (double[]){place, place / 3.0, -place});
    const as_joint_id bearing =
        machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, spindle, origin, z_axis);
    machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, ram, origin, z_axis);
    add_screw(b, spindle, ram, leads[i % 4]);
    const bool driven = i >= 16;
    if (driven) add_motion(b, "motor", bearing, 0, &law);
    if (driven) add_motion(b, "the same", bearing, 0, &law);
    must(as_builder_assemble(b, &report, &error), &error);
    if (report.degrees_of_freedom != !driven || report.n_redundant != (driven ? 5 : 4))
      fail_msg("lead %g m, ram at %g m: %d degrees of freedom, %d redundant rows", leads[i % 4],
               place, report.degrees_of_freedom, report.n_redundant);
    as_builder_destroy(b);
  }
}

/// A bolt of 2 kg in the ground, driven by its angle, three turns a second: it climbs 3 leads a second, 60 in
/// all, and the motor lifts its weight: T = p m g.
static void test_driven_screw(void **state) {
  (void)state;
  const as_curve law = {.slope = 3.0 * turn};
  const double leads[2] = {0.004, -0.004};
  for (int k = 0; k < 6; ++k) {
    const double lead = leads[k % 2];
    as_builder *b = machine_builder(0, 0, -9.81);
    const as_body_id bolt = add_body(b, "bolt", 2.0, (double[]){0.01, 0.01, 0.001}, origin);
    const as_joint_id screw = add_screw(b, AS_GROUND, bolt, lead);
    add_motion(b, "motor", screw, 1, &law);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[k / 2], 0.01);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    must(as_integrator_advance(integrator, 20.0, &error), &error);
    assert_near("height", coordinate(m, s, screw, 0, 0.0), 60.0 * lead, 1e-9);
    assert_near("motor", reaction(m, s, "motor").torque[2], lead / turn * 2.0 * 9.81, 1e-8);
    assert_near("thread", reaction(m, s, "screw").force[2], 2.0 * 9.81, 1e-7);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- gears --------------------------------------------------------------------------------------------

typedef struct gear_train {
  as_model *model;
  as_joint_id shaft[3];
  double J[3];
} gear_train;

/// Three shafts: 17 teeth drive 40, on whose shaft 13 drive 50 in an internal gear.
static gear_train build_gear_train(double torque, double speed) {
  gear_train g = {.J = {0.02, 0.3, 2.0}};
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_id body[3];
  for (int i = 0; i < 3; ++i) {
    const double place[3] = {0.4 * i, 0.1 * i, 0};
    const char *const name[3] = {"first", "second", "third"};
    body[i] = add_body(b, name[i], 1.0 + i, (double[]){1.5, 1.5, g.J[i]}, place);
    g.shaft[i] = machine_joint(b, name[i], AS_JOINT_REVOLUTE, AS_GROUND, body[i], place, z_axis);
  }
  add_gear(b, "outer", g.shaft[0], g.shaft[1], 17, 40, false);
  add_gear(b, "inner", g.shaft[1], g.shaft[2], 13, 50, true);
  if (torque != 0.0) add_torque(b, body[0], 0, 0, torque);
  as_error error;
  as_assembly_report report;
  want(b, g.shaft[0], 0, (double)NAN, speed);
  must(as_builder_assemble(b, &report, &error), &error);
  assert_int_equal(report.degrees_of_freedom, 1);
  assert_int_equal(report.n_redundant, 0);
  g.model = machine_build(b);
  return g;
}

static const double ratio_2 = -17.0 / 40.0, ratio_3 = -17.0 / 40.0 * 13.0 / 50.0;

/// Seen from the first shaft: J_1 + J_2 (17/40)^2 + J_3 (17/40 13/50)^2.
static void test_gear_train(void **state) {
  (void)state;
  const double T = 0.7;
  for (int k = 0; k < 3; ++k) {
    const gear_train g = build_gear_train(T, 0.0);
    as_integrator *integrator = start(g.model, rig_methods[k], 0.01);
    const as_state *s = as_integrator_state(integrator);
    const double sum = g.J[0] + g.J[1] * ratio_2 * ratio_2 + g.J[2] * ratio_3 * ratio_3;
    const double phi2 = T / sum, third = g.J[2] * ratio_3 * phi2;
    const double second = g.J[1] * ratio_2 * phi2 + third * 13.0 / 50.0;
    assert_near("first", acceleration(g.model, s, "first", 5), phi2, 1e-9);
    assert_near("second", acceleration(g.model, s, "second", 5), ratio_2 * phi2, 1e-9);
    assert_near("third", acceleration(g.model, s, "third", 5), ratio_3 * phi2, 1e-9);
    // The axes are hypot(0.4, 0.1) m apart, the radius of the third is 50/37 of that, and the pitch point is beyond
    // the second, from the third.
    const as_reaction outer = reaction(g.model, s, "outer"), inner = reaction(g.model, s, "inner");
    const double apart = hypot(0.4, 0.1);
    assert_near("on the second", wheel_torque(g.model, s, "outer"), second, 1e-9);
    assert_near("on the third", wheel_torque(g.model, s, "inner"), third, 1e-9);
    assert_near("at a lever", outer.force_in_joint[0] * apart * 40.0 / 57.0, second, 1e-9);
    assert_near("at another", inner.force_in_joint[0] * apart * 50.0 / 37.0, third, 1e-9);
    assert_near("no torque", fabs(inner.torque[2]) + fabs(outer.torque[2]), 0.0, 1e-9);
    assert_near("where, outer", outer.point[0], 0.4 * 17.0 / 57.0, 1e-12);
    assert_near("where, inner", inner.point[0], 0.8 - 0.4 * 50.0 / 37.0, 1e-12);
    as_integrator_destroy(integrator);
    as_model_destroy(g.model);
  }
}

/// After 1000 turns everything is in phase, to round-off; the angles are followed all the way.
static void test_thousand_turns(void **state) {
  (void)state;
  const double h = 0.013, speed = 10.0 * turn;
  const gear_train g = build_gear_train(0.0, speed);
  as_integrator *integrator = start(g.model, AS_METHOD_INDEX2, h);
  const as_state *s = as_integrator_state(integrator);
  as_error error;
  double phi[3] = {0}, worst = 0.0;
  const double ratio[3] = {1.0, ratio_2, ratio_3};
  while (phi[0] < 1000.0 * turn) {
    must(as_integrator_step(integrator, h, &error), &error);
    for (int i = 0; i < 3; ++i) {
      phi[i] = coordinate(g.model, s, g.shaft[i], 0, phi[i] + ratio[i] * speed * h);
      worst = fmax(worst, fabs(phi[i] - ratio[i] * phi[0]));
    }
  }
  assert_near("the first shaft", phi[0], speed * s->t, 1e-6);
  print_message("  after %.0f turns the shafts are out of phase by %.1e rad at most\n",
                phi[0] / turn, worst);
  assert_true(worst < 1e-9); // a tooth of the first is 0.37 rad
  as_integrator_destroy(integrator);
  as_model_destroy(g.model);
}

/// A step of several turns does not slip a tooth either: along the motion the row is linear.
static void test_long_steps(void **state) {
  (void)state;
  const double h = 0.7, speed = 10.0 * turn;
  for (int k = 0; k < 3; ++k) {
    const gear_train g = build_gear_train(0.0, speed);
    as_integrator *integrator = start(g.model, rig_methods[k], h);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    const double ratio[3] = {1.0, ratio_2, ratio_3};
    must(as_integrator_advance(integrator, 10.0 * h, &error), &error);
    for (int i = 0; i < 3; ++i) {
      const double expected = ratio[i] * speed * 10.0 * h;
      assert_near("angle", coordinate(g.model, s, g.shaft[i], 0, expected), expected, 1e-8);
    }
    as_integrator_destroy(integrator);
    as_model_destroy(g.model);
  }
}

/// A clutch opens: wheels that no longer mesh may run past each other, in steps as long as before.
static int half_a_second(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->t - 0.5;
  return AS_DONE;
}

static int open_clutch(as_event *event, void *user) {
  event->active[*(const int *)user] = false;
  return AS_EVENT_CHANGE;
}

static void test_clutch(void **state) {
  (void)state;
  const double T = 4.0;
  for (int k = 0; k < 3; ++k) {
    const gear_train g = build_gear_train(T, 0.0);
    int row = as_model_joint_row(g.model, as_model_find_joint(g.model, "outer"));
    const as_event_def opens = {
        .name = "clutch", .value = half_a_second, .direction = 1, .act = open_clutch, .user = &row};
    const as_integrator_def how = rig_how(rig_methods[k], 0.01, &opens, 1);
    as_integrator *integrator = NULL;
    as_error error;
    must(as_integrator_create(as_model_problem(g.model), &how, &integrator, &error), &error);
    must(as_integrator_start(integrator, as_model_initial(g.model), NULL, &error), &error);
    must(as_integrator_advance(integrator, 1.0, &error), &error);
    const as_state *s = as_integrator_state(integrator);
    const double sum = g.J[0] + g.J[1] * ratio_2 * ratio_2 + g.J[2] * ratio_3 * ratio_3;
    const double together = T / sum * 0.5;
    assert_near("the first", spin(g.model, s, "first", 2), together + T / g.J[0] * 0.5, 1e-8);
    assert_near("the second", spin(g.model, s, "second", 2), ratio_2 * together, 1e-8);
    assert_near("the third", spin(g.model, s, "third", 2), ratio_3 * together, 1e-8);
    as_statistics work;
    must(as_integrator_statistics(integrator, &work, &error), &error);
    assert_int_equal(work.failed_steps, 0);
    as_integrator_destroy(integrator);
    as_model_destroy(g.model);
  }
}

/// The gap is how far the second wheel is from where it meshes: at most half a tooth.
static void test_out_of_mesh(void **state) {
  (void)state;
  const gear_train g = build_gear_train(0.0, 0.0);
  const as_joint_id outer = as_model_find_joint(g.model, "outer");
  double q[21];
  memcpy(q, as_model_initial(g.model)->q, sizeof q);
  const double v[18] = {0};
  const as_state s = {.q = q, .v = v};
  as_gap gap;
  as_error error;
  for (int tenths = 0; tenths <= 20; ++tenths) { // of a tooth
    const double phi = turn / 40.0 * tenths / 10.0;
    const int at = as_model_body_q(g.model, (as_body_id){1}) + 3;
    q[at] = cos(phi / 2.0);
    q[at + 3] = sin(phi / 2.0);
    must(as_model_gap(g.model, &s, outer, &gap, &error), &error);
    assert_near("gap", gap.position, fabs(remainder(phi, turn / 40.0)), 1e-12);
  }
  as_model_destroy(g.model);
}

/// A planetary gear: sun 24, planets 18, ring 60 on the ground. The sun runs 1 + 60/24 = 3.5 times as fast as the
/// carrier, and a torque on the sun is held by 3.5 times as much on the carrier and 2.5 on the ring.
static as_model *build_planetary(int planets, double sun_torque, double carrier_torque,
                                 double speed, as_assembly_report *report) {
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  const as_body_id carrier = add_body(b, "carrier", 3.0, (double[]){0.2, 0.2, 0.3}, origin);
  const as_joint_id main =
      machine_joint(b, "main", AS_JOINT_REVOLUTE, AS_GROUND, carrier, origin, z_axis);
  const as_body_id sun = add_body(b, "sun", 1.0, (double[]){0.02, 0.02, 0.01}, origin);
  const as_joint_id shaft =
      machine_joint(b, "sun shaft", AS_JOINT_REVOLUTE, carrier, sun, origin, z_axis);
  for (int i = 0; i < planets; ++i) {
    char name[32];
    const double place[3] = {0.21 * cos(turn * i / 3.0), 0.21 * sin(turn * i / 3.0), 0};
    snprintf(name, sizeof name, "planet %d", i);
    const as_body_id planet = add_body(b, name, 0.5, (double[]){0.01, 0.01, 0.008}, place);
    const as_joint_id pin =
        machine_joint(b, name, AS_JOINT_REVOLUTE, planet, carrier, place, z_axis);
    snprintf(name, sizeof name, "inner mesh %d", i);
    add_gear(b, name, shaft, pin, 24, 18, false);
    snprintf(name, sizeof name, "outer mesh %d", i);
    add_gear(b, name, pin, main, 18, 60, true); // what turns about it, but the carrier: the ring
  }
  if (sun_torque != 0.0) add_torque(b, sun, 0, 0, sun_torque);
  if (carrier_torque != 0.0) add_torque(b, carrier, 0, 0, carrier_torque);
  want(b, main, 0, (double)NAN, speed);
  must(as_builder_assemble(b, report, &error), &error);
  return machine_build(b);
}

static void test_planetary(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k)
    for (int planets = 1; planets <= 3; planets += 2) {
      as_assembly_report report;
      as_model *m = build_planetary(planets, 0.0, 0.0, 2.0, &report);
      assert_int_equal(report.degrees_of_freedom, 1);
      assert_int_equal(report.n_redundant, planets - 1);
      as_integrator *integrator = start(m, rig_methods[k], 0.01);
      const as_state *s = as_integrator_state(integrator);
      as_error error;
      must(as_integrator_advance(integrator, 3.0, &error), &error);
      const double carrier = coordinate(m, s, (as_joint_id){0}, 0, 6.0),
                   sun = coordinate(m, s, (as_joint_id){1}, 0, 15.0);
      assert_near("carrier", carrier, 6.0, 1e-4); // to second order
      assert_near("sun, from the carrier", sun, 2.5 * carrier, planets > 1 ? 1e-7 : 1e-10);
      double v[30]; // of five bodies
      as_state at = *s;
      must(as_integrator_velocity(integrator, v, &error), &error);
      at.v = v;
      const double speed = spin(m, &at, "carrier", 2), accuracy = planets > 1 ? 1e-6 : 1e-9;
      assert_near("speed of the carrier", speed, 2.0, 1e-4);
      assert_near("sun", spin(m, &at, "sun", 2), 3.5 * speed, accuracy);
      assert_near("planet", spin(m, &at, "planet 0", 2), speed * (1.0 - 60.0 / 18.0), accuracy);
      as_integrator_destroy(integrator);
      as_model_destroy(m);
    }
}

static void test_planetary_torques(void **state) {
  (void)state;
  as_assembly_report report;
  as_model *m = build_planetary(1, 4.0, -14.0, 0.0, &report);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.01);
  const as_state *s = as_integrator_state(integrator);
  assert_near("at rest", acceleration(m, s, "sun", 5), 0.0, 1e-9);
  // 4 N m come in at the sun, 4 18/24 = 3 N m act on the planet both ways, 3 60/18 = 10 N m on the ring.
  assert_near("on the planet", wheel_torque(m, s, "inner mesh 0"), -3.0, 1e-9);
  assert_near("on the ring", wheel_torque(m, s, "outer mesh 0"), -10.0, 1e-9);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// A differential: a case about y carries two side gears about y, with 16 teeth, and a spider about x, with 10. T acts
/// on the case, the wheels have different inertias. With the case's speed O, the spider's S and k = 10/16:
///     speeds of the wheels O -+ k S,   (C + L + R) O' + k (R - L) S' = T,   k (R - L) O' + (k^2 (L + R) + J) S' = 0
/// so the case runs at the mean of the wheels, and with J -> 0 their torques are equal.
static as_builder *draw_differential(int z1, int z2, double J, double L, double R) {
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id housing = add_body(b, "case", 4.0, (double[]){0.1, 0.05, 0.1}, origin);
  const as_body_id left = add_body(b, "left", 8.0, (double[]){0.4, L, 0.4}, (double[]){0, 0.7, 0});
  const as_body_id right =
      add_body(b, "right", 8.0, (double[]){0.4, R, 0.4}, (double[]){0, -0.7, 0});
  const as_body_id spider =
      add_body(b, "spider", 0.5, (double[]){J, 0.6 * J, 0.6 * J}, (double[]){0.04, 0, 0});
  machine_joint(b, "case", AS_JOINT_REVOLUTE, AS_GROUND, housing, origin, y_axis);
  const as_joint_id l = machine_joint(b, "left", AS_JOINT_REVOLUTE, housing, left, origin, y_axis);
  const as_joint_id r =
      machine_joint(b, "right", AS_JOINT_REVOLUTE, housing, right, origin, y_axis);
  const as_joint_id x =
      machine_joint(b, "spider", AS_JOINT_REVOLUTE, housing, spider, origin, x_axis);
  add_gear(b, "left mesh", x, l, z1, z2, false);
  add_gear(b, "right mesh", x, r, z1, z2, true);
  return b;
}

static void test_differential(void **state) {
  (void)state;
  const double T = 6.0, L = 0.5, R = 0.2, k = 10.0 / 16.0;
  for (int i = 0; i < 6; ++i) {
    const double J = i % 2 ? 0.02 : 1e-7;
    // The case turns with the spider, whose mass is 0.04 m off the axis.
    const double C = 0.05 + 0.6 * J + 0.5 * 0.04 * 0.04;
    as_builder *b = draw_differential(10, 16, J, L, R);
    add_torque(b, (as_body_id){0}, 0, T, 0);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[i / 2], 0.005);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    const double a = C + L + R, c = k * (R - L), d = k * k * (L + R) + J;
    const double O = T * d / (a * d - c * c), S = -c / d * O;
    assert_near("case", acceleration(m, s, "case", 4), O, 1e-8);
    assert_near("left", acceleration(m, s, "left", 4), O - k * S, 1e-8);
    assert_near("right", acceleration(m, s, "right", 4), O + k * S, 1e-8);
    const double tl = reaction(m, s, "left mesh").torque[1],
                 tr = reaction(m, s, "right mesh").torque[1];
    assert_near("torque on the left wheel", tl, L * (O - k * S), 1e-8);
    assert_near("torque on the right wheel", tr, R * (O + k * S), 1e-8);
    if (J < 1e-6) assert_near("equal torques", tl, tr, 1e-4);
    must(as_integrator_advance(integrator, 1.0, &error), &error);
    double v[24];
    as_state at = *s;
    must(as_integrator_velocity(integrator, v, &error), &error);
    at.v = v;
    const double left = spin(m, &at, "left", 1), right = spin(m, &at, "right", 1);
    assert_near("mean of the wheels", spin(m, &at, "case", 1), (left + right) / 2.0, 1e-9);
    assert_near("difference of the wheels", right - left, 2.0 * k * S, 1e-4); // to second order
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// The same with 1009 and 1600 teeth, running fast: the spider's rotation is made of two about different axes, and
/// a step of a radian begins Newton's method many teeth off. Steps that would slip are taken in parts, and the
/// wheels stay together. The log says why.
static void count_slips(as_log_level level, const char *message, void *user) {
  (void)level;
  if (strstr(message, "is too long to tell where joint \"")) ++*(int *)user;
}

static void test_no_slip(void **state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    as_builder *b = draw_differential(1009, 1600, 0.02, 0.5, 0.2);
    as_error error;
    want(b, (as_joint_id){0}, 0, (double)NAN, 20.0);
    want(b, (as_joint_id){3}, 0, (double)NAN, 30.0);
    must(as_builder_assemble(b, NULL, &error), &error);
    as_model *m = machine_build(b);
    int remarks = 0;
    as_integrator *integrator = NULL;
    // At last, automatic steps.
    as_integrator_def how = rig_how(rig_methods[k % 3], k < 3 ? 0.03 : (double)NAN, NULL, 0);
    how.log = count_slips;
    how.log_user = &remarks;
    must(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
    must(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
    const as_state *s = as_integrator_state(integrator);
    double spider = 0.0;
    for (int i = 1; i <= 30; ++i) {
      must(as_integrator_advance(integrator, 0.03 * i, &error), &error);
      spider = coordinate(m, s, (as_joint_id){3}, 0, spider + 0.9);
      const double side = 1009.0 / 1600.0 * spider; // a tooth is 0.004 rad
      const double accuracy = k < 3 ? 1e-8 : 1e-5;  // between automatic steps
      assert_near("left", coordinate(m, s, (as_joint_id){1}, 0, -side), -side, accuracy);
      assert_near("right", coordinate(m, s, (as_joint_id){2}, 0, side), side, accuracy);
    }
    assert_near("the spider runs on", spider, 30.0 * 0.9, 0.5);
    as_statistics work;
    must(as_integrator_statistics(integrator, &work, &error), &error);
    print_message("  method %d: %ld steps, %ld attempts failed, %d remarks\n",
                  (int)rig_methods[k % 3], work.steps, work.failed_steps, remarks);
    if (k < 3) assert_true(work.failed_steps > 0 && remarks > 0);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A motor given twice, an arm with another on it, and a wheel that goes with the arm, far off its axle: the one redundant
/// row is found wherever the wheel is, though rows are of very different sizes.
static void test_far_off_axis(void **state) {
  (void)state;
  const as_curve law = {.slope = 0.5};
  for (int i = 0; i < 40; ++i) {
    as_error error;
    as_assembly_report report;
    as_builder *b = machine_builder(0, 0, 0);
    const double inertia[3] = {0.2, 0.3, 0.3};
    const as_body_id arm = add_body(b, "arm", 1.0, inertia, (double[]){0.5, 0, 0});
    const as_body_id fore = add_body(b, "forearm", 1.0, inertia, (double[]){1.5, 0, 0});
    const as_body_id wheel = add_body(b, "wheel", 1.0, inertia, (double[]){1.1 + 0.2 * i, 0, 0});
    const as_joint_id shoulder =
        machine_joint(b, "shoulder", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, y_axis);
    add_motion(b, "motor", shoulder, 0, &law);
    machine_joint(b, "elbow", AS_JOINT_SPHERICAL, arm, fore, x_axis, NULL);
    const as_joint_id axle =
        machine_joint(b, "axle", AS_JOINT_CYLINDRICAL, AS_GROUND, wheel, x_axis, y_axis);
    add_gear(b, "gear", shoulder, axle, 20, 30, false);
    add_motion(b, "the same", shoulder, 0, &law);
    must(as_builder_assemble(b, &report, &error), &error);
    if (report.degrees_of_freedom != 4 || report.n_redundant != 1)
      fail_msg("case %d: %d degrees of freedom, %d redundant rows", i, report.degrees_of_freedom,
               report.n_redundant);
    as_builder_destroy(b);
  }
}

// ---- rack and pinion ----------------------------------------------------------------------------------

/// A pinion of 50 mm with a torque T, a rack of 6 kg that is pushed back by F: (J + m r^2) phi'' = T - r F. Both may be
/// the first body of their joints.
static void test_rack(void **state) {
  (void)state;
  const double r = 0.05, J = 0.01, mass = 6.0, T = 2.0, F = 25.0;
  for (int i = 0; i < 6; ++i) {
    const bool back = i % 2;
    as_builder *b = machine_builder(0, 0, 0);
    const as_body_id wheel = add_body(b, "pinion", 1.0, (double[]){0.01, 0.01, J}, origin);
    const as_body_id bar =
        add_body(b, "rack", mass, (double[]){0.1, 0.2, 0.3}, (double[]){0.3, -0.05, 0});
    as_rack_def def = as_default_rack_def();
    def.name = "mesh";
    def.pinion = machine_joint(b, "bearing", AS_JOINT_REVOLUTE, back ? wheel : AS_GROUND,
                               back ? AS_GROUND : wheel, origin, z_axis);
    def.rack = machine_joint(b, "guide", AS_JOINT_PRISMATIC, back ? bar : AS_GROUND,
                             back ? AS_GROUND : bar, (double[]){0, -0.05, 0}, x_axis);
    def.radius = r;
    as_error error;
    must(as_builder_add_rack(b, &def, NULL, &error), &error);
    add_torque(b, wheel, 0, 0, T);
    as_load_def push = as_default_load_def();
    push.body = bar;
    push.point[1] = -0.05;
    push.force[0] = -F;
    must(as_builder_add_load(b, &push, NULL, &error), &error);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[i / 2], 0.01);
    const as_state *s = as_integrator_state(integrator);
    const double phi2 = (T - r * F) / (J + mass * r * r);
    assert_near("pinion", acceleration(m, s, "pinion", 5), phi2, 1e-9);
    assert_near("rack", acceleration(m, s, "rack", 0), r * phi2, 1e-10);
    const as_reaction mesh = reaction(m, s, "mesh");
    assert_near("force on the rack", mesh.force[0], mass * r * phi2 + F, 1e-9);
    assert_near("no torque there", mesh.torque[2], 0.0, 1e-9);
    must(as_integrator_advance(integrator, 2.0, &error), &error); // seven turns
    const double way =
        back ? -coordinate(m, s, def.rack, 0, 0.0) : coordinate(m, s, def.rack, 0, 0.0);
    assert_near("way", way, r * phi2 * 2.0, 1e-9);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- constant velocity --------------------------------------------------------------------------------

/// Two shafts, 30 degrees apart, with a joint between them where they meet: constant-velocity or universal. The first
/// is in a bearing and driven, the second braked by a torque; its end is held on a line, which may swing about x
/// and so change the bend.
static const double bend = 3.14159265358979323846 / 6.0, speed = 5.0, brake = 3.0;

static as_model *build_shafts(as_joint_kind kind, const as_curve *swing) {
  static const as_curve law = {.slope = 5.0};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const double c = cos(bend), n = sin(bend), along[3] = {0, -n, c}, across[3] = {0, c, n};
  const as_body_id first = add_body(b, "first", 1.0, (double[]){0.02, 0.02, 0.03}, origin);
  as_body_def def = machine_round_body("second", 1.0, 0.02, false);
  def.quaternion[0] = cos(bend / 2.0);
  def.quaternion[1] = sin(bend / 2.0);
  const as_body_id second = machine_body(b, &def);
  add_motion(b, "motor",
             machine_joint(b, "input", AS_JOINT_REVOLUTE, AS_GROUND, first, origin, z_axis), 0,
             &law);
  as_joint_def joint = as_default_joint_def();
  joint.name = "joint";
  joint.kind = kind;
  joint.body[0] = first;
  joint.body[1] = second;
  const bool universal = kind == AS_JOINT_UNIVERSAL;
  memcpy(joint.axis, universal ? x_axis : z_axis, sizeof joint.axis);
  memcpy(joint.second_axis, universal ? across : along, sizeof joint.second_axis);
  must(as_builder_add_joint(b, &joint, NULL, &error), &error);
  as_joint_def line = as_default_joint_def();
  as_frame_def on_ground = as_default_frame_def(), on_shaft = as_default_frame_def();
  line.kind = AS_JOINT_POINT_ON_LINE;
  on_ground.body = AS_GROUND;
  memcpy(on_ground.quaternion, def.quaternion, sizeof on_ground.quaternion);
  on_ground.turn = swing;
  on_ground.turn_axis = 0;
  on_shaft.body = second;
  on_shaft.position[2] = 0.5;
  must(as_builder_add_frame(b, &on_ground, &line.frame[0], &error), &error);
  must(as_builder_add_frame(b, &on_shaft, &line.frame[1], &error), &error);
  must(as_builder_add_joint(b, &line, NULL, &error), &error);
  as_load_def load = as_default_load_def();
  load.body = second;
  for (int i = 0; i < 3; ++i) load.torque[i] = -brake * along[i];
  load.follows = true;
  must(as_builder_add_load(b, &load, NULL, &error), &error);
  return machine_build(b);
}

/// The angle of a shaft that is bent about x, near where it was: of its x axis against that of the world.
static double shaft_angle(const as_model *m, const as_state *s, const char *body, double bent,
                          double near) {
  as_body_motion at;
  as_model_body_motion(m, s, as_model_find_body(m, body), &at);
  const double angle = atan2(cos(bent) * at.R[3] + sin(bent) * at.R[6], at.R[0]);
  return near + remainder(angle - near, turn);
}

/// The second shaft turns as the first does, all the way round; the motor's torque is the brake's. The joint's torque
/// is along the bisector, with that component about both shafts.
static void test_constant_velocity(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    as_model *m = build_shafts(AS_JOINT_CONSTANT_VELOCITY, NULL);
    as_integrator *integrator = start(m, rig_methods[k], 0.01);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    double worst = 0.0, in = 0.0, out = 0.0;
    for (int i = 0; i < 1000; ++i) {
      must(as_integrator_step(integrator, 0.01, &error), &error);
      in = shaft_angle(m, s, "first", 0.0, in);
      out = shaft_angle(m, s, "second", bend, out);
      worst = fmax(worst, fabs(out - in));
    }
    print_message("  method %d: over %.0f turns the angles differ by %.1e rad at most\n",
                  (int)rig_methods[k], in / turn, worst);
    assert_near("angle", in, speed * s->t, 1e-9);
    assert_true(worst < 1e-12);
    const as_reaction on_second = reaction(m, s, "joint");
    const double half = bend / 2.0, size = brake / cos(half);
    assert_near("motor", reaction(m, s, "motor").torque[2], brake, 1e-8);
    assert_near("along the bisector, x", on_second.torque[0], 0.0, 1e-8);
    assert_near("along the bisector, y", on_second.torque[1], -size * sin(half), 1e-8);
    assert_near("along the bisector, z", on_second.torque[2], size * cos(half), 1e-8);
    const as_joint_id joint = as_model_find_joint(m, "joint");
    assert_near("lambda", s->lambda[as_model_joint_row(m, joint) + 3], brake, 1e-8);
    double rotation[3];
    must(as_model_coordinates(m, s, joint, NULL, rotation, NULL, &error), &error);
    assert_near("bend", hypot(rotation[0], rotation[1]), bend, 1e-12);
    assert_near("no twist", rotation[2], 0.0, 1e-12);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A universal joint instead: tan out = cos(bend) tan in, ahead and behind by up to 4.1 degrees.
static void test_universal_ripple(void **state) {
  (void)state;
  as_model *m = build_shafts(AS_JOINT_UNIVERSAL, NULL);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 0.01);
  const as_state *s = as_integrator_state(integrator);
  as_error error;
  double in = 0.0, out = 0.0, ripple = 0.0;
  for (int i = 0; i < 300; ++i) {
    must(as_integrator_step(integrator, 0.01, &error), &error);
    in = shaft_angle(m, s, "first", 0.0, in);
    out = shaft_angle(m, s, "second", bend, out);
    ripple = fmax(ripple, fabs(out - in));
    const double expected = atan2(cos(bend) * sin(in), cos(in));
    assert_near("output", remainder(out - expected, turn), 0.0, 1e-10);
  }
  assert_near("ripple", ripple, asin(pow(tan(bend / 2.0), 2.0)), 1e-4);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static int sway(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.6 * sin(2.0 * t);
  out[1] = 1.2 * cos(2.0 * t);
  out[2] = -2.4 * sin(2.0 * t);
  return AS_DONE;
}

/// While the bend changes between -4 and 64 degrees, the second shaft still turns as the first.
static void test_changing_bend(void **state) {
  (void)state;
  const as_curve swing = {.function = sway};
  for (int k = 0; k < 3; ++k) {
    as_model *m = build_shafts(AS_JOINT_CONSTANT_VELOCITY, &swing);
    as_integrator *integrator = start(m, rig_methods[k], 0.01);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    double in = 0.0, out = 0.0;
    for (int i = 0; i < 400; ++i) {
      must(as_integrator_step(integrator, 0.01, &error), &error);
      in = shaft_angle(m, s, "first", 0.0, in);
      out = shaft_angle(m, s, "second", bend + 0.6 * sin(2.0 * s->t), out);
      assert_near("output", out, in, 1e-10);
    }
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- assembly -----------------------------------------------------------------------------------------

/// A coordinate leads, the rest follows; what contradicts is refused.
static void test_assembly(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id bolt = add_body(b, "bolt", 2.0, (double[]){0.1, 0.1, 0.1}, origin);
  const as_body_id wheel = add_body(b, "wheel", 2.0, (double[]){0.1, 0.1, 0.1}, x_axis);
  const as_joint_id screw = add_screw(b, AS_GROUND, bolt, 0.1);
  const as_joint_id axle =
      machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, wheel, x_axis, z_axis);
  add_gear(b, "gear", screw, axle, 31, 47, false);
  want(b, screw, 0, 0.13, 0.2); // 1.3 turns, 2 turns a second
  must(as_builder_assemble(b, NULL, &error), &error);
  as_model *m = NULL;
  must(as_builder_build(b, &m, &error), &error);
  const as_initial *initial = as_model_initial(m);
  const as_state s = {.q = initial->q, .v = initial->v};
  const double follows = -1.3 * turn * 31.0 / 47.0;
  assert_near("angle", coordinate(m, &s, screw, 1, 1.3 * turn), 1.3 * turn, 1e-9);
  assert_near("wheel", coordinate(m, &s, axle, 0, follows), follows, 1e-9);
  assert_near("rate", spin(m, &s, "wheel", 2), -2.0 * turn * 31.0 / 47.0, 1e-9);
  as_model_destroy(m);
  want(b, axle, 0, follows + 0.05, (double)NAN);
  assert_int_not_equal(as_builder_assemble(b, NULL, &error), AS_OK);
  assert_non_null(
      strstr(error.message, "cannot be assembled with the angle of joint \"axle\" at -"));
  print_message("  %s\n", error.message);
  as_builder_destroy(b);
}

// ---- what is refused ----------------------------------------------------------------------------------

static void expect(as_status status, const as_error *error, const char *words) {
  if (status == AS_OK) fail_msg("accepted: %s", words);
  if (strstr(error->message, words) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", error->message, words);
}

static void test_refused(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id one = add_body(b, "one", 1.0, (double[]){1, 1, 1}, origin);
  const as_body_id two = add_body(b, "two", 1.0, (double[]){1, 1, 1}, x_axis);
  const as_joint_id first =
      machine_joint(b, "first", AS_JOINT_REVOLUTE, AS_GROUND, one, origin, z_axis);
  const as_joint_id second =
      machine_joint(b, "second", AS_JOINT_REVOLUTE, AS_GROUND, two, x_axis, z_axis);
  const as_joint_id ball = machine_joint(b, "ball", AS_JOINT_SPHERICAL, one, two, origin, NULL);
  as_gear_def gear = as_default_gear_def();
  gear.name = "pair";
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error,
         "wheels of the gear \"pair\" have 0 and 0 teeth");
  gear.teeth[0] = gear.teeth[1] = 20;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "couples joint -2, which is not");
  gear.joint[0] = first;
  gear.joint[1] = ball;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error,
         "needs an angle about z of joint \"ball\"");
  gear.joint[1] = first;
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "between the same bodies");
  as_rack_def rack = as_default_rack_def();
  rack.name = "bar";
  rack.pinion = first;
  rack.rack = second;
  expect(as_builder_add_rack(b, &rack, NULL, &error), &error,
         "radius of the rack and pinion \"bar\" is nan m");
  rack.radius = 0.1;
  expect(as_builder_add_rack(b, &rack, NULL, &error), &error,
         "needs a displacement along z of joint \"second\"");
  as_joint_def joint = as_default_joint_def();
  joint.name = "thread";
  joint.kind = AS_JOINT_SCREW;
  joint.body[0] = one;
  joint.body[1] = two;
  joint.axis[2] = 1.0;
  expect(as_builder_add_joint(b, &joint, NULL, &error), &error,
         "lead of the screw joint \"thread\" is nan m");
  joint.lead = 0.0;
  expect(as_builder_add_joint(b, &joint, NULL, &error), &error, "is 0 m");
  const as_curve law = {.slope = 1.0};
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  frame.turn = &law;
  must(as_builder_add_frame(b, &frame, &joint.frame[0], &error), &error);
  joint.lead = 0.1;
  expect(as_builder_add_joint(b, &joint, NULL, &error), &error, "has a frame that moves");
  joint.kind = AS_JOINT_REVOLUTE;
  joint.name = "moving";
  must(as_builder_add_joint(b, &joint, &gear.joint[1], &error), &error);
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error,
         "joint \"moving\", which has a frame that moves");
  joint.kind = AS_JOINT_CONSTANT_VELOCITY;
  joint.name = "bent";
  joint.frame[0] = AS_NO_FRAME;
  joint.second_axis[2] = -1.0;
  expect(as_builder_add_joint(b, &joint, NULL, &error), &error, "shafts of the joint \"bent\"");
  as_model *m = NULL;
  gear.joint[1] = second;
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
  expect(as_builder_add_gear(b, &gear, NULL, &error), &error, "two joints named \"pair\"");
  must(as_builder_build(b, &m, &error), &error); // nothing refused has left a trace
  assert_int_equal(as_model_joints(m), 5);
  assert_int_equal(as_model_joint_rows(m, as_model_find_joint(m, "pair")), 1);
  as_model_destroy(m);
  as_builder_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_screw_press),
                                     cmocka_unit_test(test_redundant_press),
                                     cmocka_unit_test(test_driven_screw),
                                     cmocka_unit_test(test_gear_train),
                                     cmocka_unit_test(test_thousand_turns),
                                     cmocka_unit_test(test_long_steps),
                                     cmocka_unit_test(test_clutch),
                                     cmocka_unit_test(test_out_of_mesh),
                                     cmocka_unit_test(test_planetary),
                                     cmocka_unit_test(test_planetary_torques),
                                     cmocka_unit_test(test_differential),
                                     cmocka_unit_test(test_no_slip),
                                     cmocka_unit_test(test_far_off_axis),
                                     cmocka_unit_test(test_rack),
                                     cmocka_unit_test(test_constant_velocity),
                                     cmocka_unit_test(test_universal_ripple),
                                     cmocka_unit_test(test_changing_bend),
                                     cmocka_unit_test(test_assembly),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
