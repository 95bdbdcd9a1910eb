/// Channels, runs and tables: against direct evaluation, against Newton's law, whatever the output times are.
#define _POSIX_C_SOURCE 200809L // setrlimit, mkdtemp

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/io.h"
#include "machines.h"
#include "rig.h"

static const double x_axis[3] = {1, 0, 0}, z_axis[3] = {0, 0, 1}, origin[3] = {0, 0, 0};

// ---- a machine with one of everything ---------------------------------------------------------------

static int swing(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.8 * t + 0.5 * sin(3.0 * t);
  out[1] = 0.8 + 1.5 * cos(3.0 * t);
  out[2] = -4.5 * sin(3.0 * t);
  return AS_DONE;
}

static as_body_id add_part(as_builder *b, const char *name, double x, double mass, bool se3) {
  as_body_def def = machine_round_body(name, mass, 0.05, se3);
  def.inertia[0] = 0.03;
  def.position[0] = x;
  return machine_body(b, &def);
}

/// A driven crank, a rod, a slider on a spring and a damper, pushed and twisted; a torsional spring in the
/// crank pin; a bead on the ground's spring. Names are as odd as they may be.
static as_model *build_engine(bool se3) {
  static const as_curve law = {.function = swing};
  const double pin[3] = {0.3, 0, 0}, wrist[3] = {1.3, 0, 0}, bead_at[3] = {0, 0, 1};
  as_error error;
  as_builder *b = machine_builder(0, -9.81, 0);
  const as_body_id crank = add_part(b, "crank", 0.1, 1.2, se3);
  const as_body_id rod = add_part(b, "rod, long", 0.8, 0.8, !se3);
  const as_body_id slider = add_part(b, "the \"slider\"", 1.3, 0.5, se3);
  const as_body_id bead = machine_point(b,
                                        "b\xc3\xa9"
                                        "ad *",
                                        0.3, bead_at, x_axis);
  const as_joint_id bearing =
      machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, crank, origin, z_axis);
  machine_joint(b, "crank pin", AS_JOINT_REVOLUTE, crank, rod, pin, z_axis);
  machine_joint(b, "wrist", AS_JOINT_SPHERICAL, rod, slider, wrist, NULL);
  machine_joint(b, "guide", AS_JOINT_CYLINDRICAL, AS_GROUND, slider, wrist, x_axis);
  as_motion_def motor = as_default_motion_def();
  motor.name = "motor";
  motor.joint = bearing;
  motor.law = &law;
  as_spring_def spring = as_default_spring_def(), string = spring;
  spring.name = "spring";
  spring.body[0] = AS_GROUND;
  spring.body[1] = slider;
  spring.point[0][0] = 2.0;
  spring.point[0][1] = 0.1;
  memcpy(spring.point[1], wrist, sizeof wrist);
  spring.stiffness = 30.0;
  spring.damping = 1.5;
  string.name = "string";
  string.body[0] = AS_GROUND;
  string.body[1] = bead;
  string.point[0][2] = 2.0;
  memcpy(string.point[1], bead_at, sizeof bead_at);
  string.stiffness = 20.0;
  as_torsion_def torsion = as_default_torsion_def();
  torsion.name = "twist";
  torsion.body[0] = crank;
  torsion.body[1] = rod;
  torsion.axis[2] = 1.0;
  torsion.stiffness = 2.0;
  torsion.damping = 0.3;
  as_load_def load = as_default_load_def();
  load.name = "push";
  load.body = slider;
  load.force[0] = 6.0;
  load.torque[0] = 0.01;
  memcpy(load.point, wrist, sizeof wrist);
  as_frame_def tip = as_default_frame_def();
  tip.name = "tip";
  tip.body = rod;
  tip.position[1] = 0.2;
  if (as_builder_add_motion(b, &motor, NULL, &error) ||
      as_builder_add_spring(b, &spring, NULL, &error) ||
      as_builder_add_spring(b, &string, NULL, &error) ||
      as_builder_add_torsion(b, &torsion, NULL, &error) ||
      as_builder_add_load(b, &load, NULL, &error) || as_builder_add_frame(b, &tip, NULL, &error))
    fail_msg("%s", error.message);
  return machine_build(b);
}

// ---- runs that are kept in memory -------------------------------------------------------------------

enum { MOST_ROWS = 2100 };

/// All rows of a run.
typedef struct kept {
  as_run *run;
  int columns, rows;
  double t[MOST_ROWS];
  double *value; ///< by rows
} kept;

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)error;
  kept *k = user;
  assert_int_equal(n, k->columns);
  assert_true(k->rows < MOST_ROWS);
  k->t[k->rows] = t;
  memcpy(k->value + (size_t)k->rows * (size_t)n, row, (size_t)n * sizeof *row);
  ++k->rows;
  return AS_OK;
}

static kept *keep_open(const as_model *m, const as_run_def *def) {
  as_error error;
  kept *k = calloc(1, sizeof *k);
  if (as_run_create(m, def, &k->run, &error)) fail_msg("%s", error.message);
  k->columns = as_channels_count(as_run_channels(k->run));
  k->value = calloc((size_t)k->columns * MOST_ROWS, sizeof *k->value);
  return k;
}

static kept *keep_run(const as_model *m, const as_run_def *def) {
  as_error error;
  kept *k = keep_open(m, def);
  if (as_run_go(k->run, keep_row, k, NULL, &error)) fail_msg("%s", error.message);
  return k;
}

static void keep_free(kept *k) {
  as_run_destroy(k->run);
  free(k->value);
  free(k);
}

static const double *row_of(const kept *k, int row) {
  return k->value + (size_t)row * (size_t)k->columns;
}

/// The column of a channel, which has to be there and to have this unit (NULL: any).
static int column(const kept *k, const char *name, const char *unit) {
  for (int i = 0; i < k->columns; ++i) {
    const as_channel c = as_channels_get(as_run_channels(k->run), i);
    if (strcmp(c.name, name) != 0) continue;
    if (unit) assert_string_equal(c.unit, unit);
    return i;
  }
  fail_msg("There is no channel %s.", name);
  return -1;
}

static double value(const kept *k, int row, const char *name) {
  return row_of(k, row)[column(k, name, NULL)];
}

static void vector(const kept *k, int row, const char *name, double out[3]) {
  char full[128];
  for (int i = 0; i < 3; ++i) {
    snprintf(full, sizeof full, "%s.%c", name, "xyz"[i]);
    out[i] = value(k, row, full);
  }
}

static as_run_def fixed_run(as_method method, double h, double t_end) {
  as_run_def def = as_default_run_def();
  def.integrator.method = method;
  def.integrator.step = h;
  def.t_end = t_end;
  return def;
}

static const char *const everything[] = {"*"};

// ---- channels ---------------------------------------------------------------------------------------

static void same(const char *what, const double *found, const double *expected, int n) {
  for (int i = 0; i < n; ++i) assert_near(what, found[i], expected[i], 0.0);
}

/// Every channel at step ends is what the model's functions say of the same state, bit for bit.
static void check_direct(bool se3, as_method method) {
  as_model *m = build_engine(se3);
  as_run_def def = fixed_run(method, 0.01, 0.3);
  def.channels = everything;
  def.n_channels = 1;
  def.interval = 0.1;
  kept *k = keep_run(m, &def);
  assert_int_equal(k->rows, 4);
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(m), &def.integrator, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      as_integrator_advance(integrator, 0.3, &error))
    fail_msg("%s", error.message);
  as_state s = *as_integrator_state(integrator);
  double v[64];
  if (method == AS_METHOD_INDEX3) {
    if (as_integrator_velocity(integrator, v, &error)) fail_msg("%s", error.message);
    s.v = v;
  }
  const double *row = row_of(k, 3);
  as_body_motion body;
  as_model_body_motion(m, &s, as_model_find_body(m, "rod, long"), &body);
  same("position", row + column(k, "bodies.rod, long.position.x", "m"), body.x, 3);
  same("velocity", row + column(k, "bodies.rod, long.velocity.x", "m/s"), body.v, 3);
  same("omega", row + column(k, "bodies.rod, long.angular_velocity.x", "rad/s"), body.omega, 3);
  same("quaternion", row + column(k, "bodies.rod, long.quaternion.w", "-"),
       s.q + as_model_body_q(m, (as_body_id){1}) + 3, 4);
  as_reaction reaction;
  const as_joint_id guide = as_model_find_joint(m, "guide");
  assert_int_equal(as_model_reaction(m, &s, guide, &reaction, &error), AS_OK);
  same("force", row + column(k, "joints.guide.force.x", "N"), reaction.force, 3);
  same("torque", row + column(k, "joints.guide.torque.x", "N m"), reaction.torque, 3);
  same("in joint", row + column(k, "joints.guide.force_in_joint.x", "N"), reaction.force_in_joint,
       3);
  same("in joint", row + column(k, "joints.guide.torque_in_joint.x", "N m"),
       reaction.torque_in_joint, 3);
  double c[AS_JOINT_COORDINATES], rate[AS_JOINT_COORDINATES];
  assert_int_equal(as_model_coordinates(m, &s, guide, NULL, c, rate, &error), AS_OK);
  same("displacement", row + column(k, "joints.guide.displacement", "m"), c, 1);
  same("angle", row + column(k, "joints.guide.angle", "rad"), c + 1, 1);
  same("rate", row + column(k, "joints.guide.displacement_rate", "m/s"), rate, 1);
  same("rate", row + column(k, "joints.guide.angle_rate", "rad/s"), rate + 1, 1);
  const as_joint_id wrist = as_model_find_joint(m, "wrist");
  assert_int_equal(as_model_coordinates(m, &s, wrist, NULL, c, rate, &error), AS_OK);
  for (int i = 0; i < 3; ++i) // taken along its axis once more
    assert_near("rotation", row[column(k, "joints.wrist.rotation.x", "rad") + i], c[i], 1e-15);
  same("rate", row + column(k, "joints.wrist.rotation_rate.x", "rad/s"), rate, 3);
  const as_joint_id motor = as_model_find_joint(m, "motor");
  same("drive", row + column(k, "joints.motor.drive", "N m"),
       s.lambda + as_model_joint_row(m, motor), 1);
  as_momentum momentum;
  as_model_momentum(m, &s, &momentum);
  same("linear", row + column(k, "momentum.linear.x", "kg m/s"), momentum.linear, 3);
  same("angular", row + column(k, "momentum.angular.x", "kg m^2/s"), momentum.angular, 3);
  same("centre", row + column(k, "momentum.center_of_mass.x", "m"), momentum.center_of_mass, 3);
  as_energy energy;
  assert_int_equal(as_model_energy(m, &s, &energy, &error), AS_OK);
  same("kinetic", row + column(k, "energy.kinetic", "J"), &energy.kinetic, 1);
  same("potential", row + column(k, "energy.potential", "J"), &energy.potential, 1);
  as_frame_motion tip;
  assert_int_equal(as_model_frame_motion(m, &s, as_model_find_frame(m, "tip"), &tip, &error),
                   AS_OK);
  same("tip", row + column(k, "frames.tip.position.x", "m"), tip.position, 3);
  same("tip", row + column(k, "frames.tip.velocity.x", "m/s"), tip.velocity, 3);
  same("tip", row + column(k, "frames.tip.angular_velocity.x", "rad/s"), tip.angular_velocity, 3);
  double drift[2];
  assert_int_equal(as_integrator_drift(integrator, &drift[0], &drift[1], &error), AS_OK);
  same("drift", row + column(k, "drift.position", "m"), &drift[0], 1);
  same("drift", row + column(k, "drift.velocity", "m/s"), &drift[1], 1);
  assert_near("h", row[column(k, "solver.h", "s")], 0.01, 1e-12);
  assert_true(row[column(k, "solver.newton_iterations", "-")] >= 1.0);
  as_integrator_destroy(integrator);
  keep_free(k);
  as_model_destroy(m);
}

static void test_direct(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int i = 0; i < 3; ++i) check_direct(se3, rig_methods[i]);
}

/// m a = m g + sum of all forces on a body, out of channels alone: signs and frames of forces and reactions, and the
/// acceleration against differences of the velocity.
static void test_newtons_law(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *m = build_engine(se3);
    as_run_def def = fixed_run(AS_METHOD_INDEX2, 1e-3, 0.2);
    def.channels = everything;
    def.n_channels = 1;
    def.interval = 1e-3;
    kept *k = keep_run(m, &def);
    assert_int_equal(k->rows, 201);
    const int r = 150;
    const double g[3] = {0, -9.81, 0};
    double a[3], pin[3], wrist[3], guide[3], spring[3], push[3], before[3], after[3];
    vector(k, r, "joints.crank pin.force", pin);
    vector(k, r, "joints.wrist.force", wrist);
    vector(k, r, "joints.guide.force", guide);
    vector(k, r, "forces.spring.force", spring);
    vector(k, r, "forces.push.force", push);
    vector(k, r, "bodies.rod, long.acceleration", a);
    for (int i = 0; i < 3; ++i) assert_near("rod", 0.8 * (a[i] - g[i]), pin[i] - wrist[i], 1e-6);
    vector(k, r, "bodies.the \"slider\".acceleration", a);
    for (int i = 0; i < 3; ++i)
      assert_near("slider", 0.5 * (a[i] - g[i]), wrist[i] + guide[i] + spring[i] + push[i], 1e-6);
    assert_true(fabs(spring[0]) > 0.1 && fabs(wrist[0]) > 0.1);
    static const char *const rates[][2] = {
        {"bodies.rod, long.velocity", "bodies.rod, long.acceleration"},
        {"bodies.crank.velocity", "bodies.crank.acceleration"},
        {"bodies.crank.angular_velocity", "bodies.crank.angular_acceleration"},
        {"bodies.rod, long.position", "bodies.rod, long.velocity"}};
    for (int q = 0; q < 4; ++q) {
      vector(k, r - 1, rates[q][0], before);
      vector(k, r + 1, rates[q][0], after);
      vector(k, r, rates[q][1], a);
      for (int i = 0; i < 3; ++i)
        assert_near(rates[q][1], (after[i] - before[i]) / 2e-3, a[i], 2e-4);
    }
    // The tension pulls along the line, at the rate of its length; its parts flow.
    const double tension = value(k, r, "forces.spring.tension");
    const double length = value(k, r, "forces.spring.length");
    const double rate = value(k, r, "forces.spring.length_rate");
    const double size = sqrt(spring[0] * spring[0] + spring[1] * spring[1] + spring[2] * spring[2]);
    assert_near("tension", size, fabs(tension), 1e-12);
    assert_near("dissipated", value(k, r, "forces.spring.dissipated"), 1.5 * rate * rate, 1e-12);
    const double stretch = (tension - 1.5 * rate) / 30.0;
    assert_near("energy", value(k, r, "forces.spring.energy"), 15.0 * stretch * stretch, 1e-12);
    assert_near("length", length, stretch + hypot(0.7, 0.1), 1e-12);
    const double angle = value(k, r, "forces.twist.angle");
    assert_near("angle", angle, value(k, r, "joints.crank pin.angle"), 1e-12);
    assert_near("moment", value(k, r, "forces.twist.moment"),
                2.0 * angle + 0.3 * value(k, r, "forces.twist.angle_rate"), 1e-12);
    assert_near("moment", value(k, r, "forces.twist.torque.z"), -value(k, r, "forces.twist.moment"),
                1e-12);
    vector(k, r, "bodies.the \"slider\".velocity", a);
    assert_near("supplied", value(k, r, "forces.push.supplied"), 6.0 * a[0], 1e-3);
    keep_free(k);
    as_model_destroy(m);
  }
}

/// kinetic + potential + dissipated - work stays, to second order; each part matters.
static void test_balance(void **state) {
  (void)state;
  static const char *const energy[] = {"energy"};
  as_model *m = build_engine(false);
  for (int i = 0; i < 3; ++i) {
    double worst[2] = {0};
    for (int fine = 0; fine < 2; ++fine) {
      as_run_def def = fixed_run(rig_methods[i], fine ? 1e-3 : 2e-3, 1.0);
      def.channels = energy;
      def.n_channels = 1;
      def.interval = 0.013; // between steps
      kept *k = keep_run(m, &def);
      assert_int_equal(k->columns, 5);
      for (int r = 0; r < k->rows; ++r)
        worst[fine] = fmax(worst[fine], fabs(value(k, r, "energy.balance")));
      const int last = k->rows - 1;
      assert_true(k->t[last] == 1.0);
      assert_true(value(k, last, "energy.dissipated") > 0.1);
      assert_true(fabs(value(k, last, "energy.work")) > 0.1);
      keep_free(k);
    }
    print_message("  method %d: balance off by %.2e, %.2e J\n", (int)rig_methods[i], worst[0],
                  worst[1]);
    assert_true(worst[0] < 5e-3 && log2(worst[0] / worst[1]) > 1.9);
  }
  as_model_destroy(m);
}

// ---- selections -------------------------------------------------------------------------------------

static as_channels *chosen(const as_model *m, const char *const *selections, int n) {
  as_error error;
  as_channels *c = NULL;
  if (as_channels_create(m, selections, n, &c, &error)) fail_msg("%s", error.message);
  return c;
}

static int count(const as_model *m, const char *selection) {
  as_channels *c = chosen(m, &selection, 1);
  const int n = as_channels_count(c);
  as_channels_destroy(c);
  return n;
}

static void test_selections(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  assert_int_equal(count(m, "bodies.*.position"), 12);
  assert_int_equal(count(m, "bodies.*.quaternion"), 12); // the bead has none
  assert_int_equal(count(m, "bodies.crank"), 19);
  assert_int_equal(count(m, "bodies.c*k.*.x"), 6); // quaternion, too
  assert_int_equal(count(m, "bodies.b\xc3\xa9"
                            "ad *.position"),
                   3); // by its own name
  assert_int_equal(count(m, "joints.guide.angle"), 1);
  assert_int_equal(count(m, "joints.*.angle"), 3);
  assert_int_equal(count(m, "joints.motor"), 13);
  assert_int_equal(count(m, "*.*.force.z"), 9);
  assert_int_equal(count(m, "solver"), 3);
  const char *const twice[] = {"bodies.crank.position.x", "bodies.*.position", "bodies.crank"};
  as_channels *c = chosen(m, twice, 3);
  assert_int_equal(as_channels_count(c), 12 + 16);
  assert_string_equal(as_channels_get(c, 0).name, "bodies.crank.position.x");
  assert_string_equal(as_channels_get(c, 1).name, "bodies.crank.position.y");
  assert_string_equal(as_channels_get(c, 3).name, "bodies.rod, long.position.x");
  assert_string_equal(as_channels_get(c, 12).name, "bodies.crank.quaternion.w");
  assert_string_equal(as_channels_get(c, 28).name, "");
  as_channels_destroy(c);
  as_model_destroy(m);
}

/// A skate has no drive, and its joint no place among the multipliers of positions.
static void test_skate(void **state) {
  (void)state;
  as_builder *b;
  as_error error;
  as_body_def body = as_default_body_def();
  as_skate_def skate = as_default_skate_def();
  body.mass = body.inertia[0] = body.inertia[1] = body.inertia[2] = 1.0;
  skate.body[0] = AS_GROUND;
  skate.normal[2] = skate.direction[0] = 1.0;
  for (int k = 0; k < 3; ++k) skate.point[k] = 0.0;
  if (as_builder_create(&(as_model_def){.gravity = {0, 0, 0}}, &b, &error) ||
      as_builder_add_body(b, &body, &skate.body[1], &error) ||
      as_builder_add_skate(b, &skate, NULL, &error))
    fail_msg("%s", error.message);
  as_model *m;
  if (as_builder_build(b, &m, &error)) fail_msg("%s", error.message);
  assert_int_equal(count(m, "joints.*.force"), 3);
  assert_int_equal(count(m, "joints"), 12);
  as_builder_destroy(b);
  as_model_destroy(m);
}

static void test_defaults(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  as_channels *c = chosen(m, NULL, 0);
  // 4 bodies: 12 + 12 + 12; joints: 3 angles, displacement, rotation, drive, 5 x 6; energy, drift, h
  assert_int_equal(as_channels_count(c), 36 + 3 + 1 + 3 + 1 + 30 + 5 + 2 + 1);
  as_channels_destroy(c);
  as_model_destroy(m);
  as_builder *b = machine_builder(0, 0, 0); // without joints and forces
  for (int i = 0; i <= AS_DEFAULT_BODIES; ++i) machine_point(b, NULL, 1.0, origin, origin);
  m = machine_build(b);
  c = chosen(m, NULL, 0);
  assert_int_equal(as_channels_count(c), 8);
  as_channels_destroy(c);
  assert_int_equal(count(m, "bodies.*.position"), 3 * (AS_DEFAULT_BODIES + 1));
  as_model_destroy(m);
}

static void refuse(const as_model *m, const char *selection, const char *words) {
  as_error error;
  as_channels *c = NULL;
  if (as_channels_create(m, &selection, 1, &c, &error) != AS_ERR_ARGUMENT)
    fail_msg("%s is not refused.", selection);
  assert_null(c);
  if (strstr(error.message, words) == NULL) fail_msg("`%s` is not in: %s", words, error.message);
}

static void test_refused_selections(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  refuse(m, "body.crank", "group `body`");
  refuse(m, "boddies.crank", "did you mean `bodies`?");
  refuse(m, "nothing", "there are: bodies, frames, joints");
  refuse(m, "bodies.cranc.position", "did you mean `crank`?");
  refuse(m, "bodies.crank.positoin.x", "did you mean `position`?");
  refuse(m, "bodies.crank.angle", "there are: position, quaternion");
  refuse(m, "bodies.crank.position.w", "component `w`");
  refuse(m, "joints.guide.angle.x", "component `x`");
  refuse(m, "joints.wrist.angle", "there are: rotation, rotation_rate, force");
  refuse(m, "joints.*.angel", "did you mean `angle`?");
  refuse(m, "forces.sprnig.tension", "did you mean `spring`?");
  refuse(m, "energy.kinetik", "did you mean `kinetic`?");
  refuse(m, "bodies..position", "not like");
  refuse(m, "", "not like");
  refuse(m, "a.b.c.d.e", "not like");
  as_model_destroy(m);
  as_builder *b = machine_builder(0, 0, 0);
  machine_point(b, "p", 1.0, origin, origin);
  m = machine_build(b);
  refuse(m, "joints.tip", "there are none");
  refuse(m, "bodies.p.quaternion", "there are: position, velocity, acceleration");
  as_model_destroy(m);
}

// ---- turning ----------------------------------------------------------------------------------------

/// A wheel on an axle spins freely, many turns between two rows and more than half a turn in a step.
static void test_turns(void **state) {
  (void)state;
  static const char *const wanted[] = {"joints.axle.angle", "bodies.wheel.quaternion"};
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, 0, -9.81);
    as_body_def def = machine_round_body("wheel", 2.0, 0.1, se3);
    def.angular_velocity[2] = -300.0;
    const as_body_id wheel = machine_body(b, &def);
    machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, wheel, origin, z_axis);
    as_model *m = machine_build(b);
    as_run_def run = as_default_run_def();
    run.t_end = 2.0;
    run.channels = wanted;
    run.n_channels = 2;
    run.integrator.tolerance.max_step = 0.013; // 0.6 turns
    run.interval = 0.4;
    kept *k = keep_run(m, &run);
    assert_int_equal(k->rows, 6);
    for (int i = 0; i < k->rows; ++i) assert_near("angle", row_of(k, i)[0], -300.0 * k->t[i], 1e-3);
    keep_free(k);
    run.interval = 1e-3;
    k = keep_run(m, &run);
    for (int i = 1; i < k->rows; ++i) {
      const double *q = row_of(k, i) + 1, *before = row_of(k, i - 1) + 1;
      const double cosine =
          q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
      assert_true(cosine > 0.9);
      assert_near("|q|", q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-12);
    }
    keep_free(k);
    as_model_destroy(m);
  }
}

// ---- output times -----------------------------------------------------------------------------------

/// The same rows, bit for bit, whatever else is asked for; and the end is that of a run without rows.
static void test_times(void **state) {
  (void)state;
  static const double times[] = {0.1, 0.15, 0.2, 0.5};
  as_model *m = build_engine(false);
  for (int automatic = 0; automatic < 2; ++automatic) {
    as_run_def def = fixed_run(AS_METHOD_INDEX2, automatic ? (double)NAN : 3e-3, 0.5);
    def.interval = 0.05;
    kept *coarse = keep_run(m, &def);
    def.interval = 0.0125;
    kept *fine = keep_run(m, &def);
    def.times = times;
    def.n_times = 4;
    kept *list = keep_run(m, &def);
    assert_int_equal(coarse->rows, 11);
    assert_int_equal(fine->rows, 41);
    assert_int_equal(list->rows, 4);
    // Work is added up from row to row: energies may differ in the last bits, nothing else.
    const int n = column(coarse, "energy.kinetic", NULL);
    for (int i = 0; i < coarse->rows; ++i) {
      assert_near("t", coarse->t[i], fine->t[4 * i], 1e-15);
      if (coarse->t[i] == fine->t[4 * i])
        assert_memory_equal(row_of(coarse, i), row_of(fine, 4 * i), (size_t)n * sizeof(double));
    }
    for (int i = 0; i < 4; ++i) assert_true(list->t[i] == times[i]);
    assert_memory_equal(row_of(list, 3), row_of(fine, 40), (size_t)n * sizeof(double));
    assert_true(coarse->t[10] == 0.5);
    as_integrator *alone = NULL;
    as_error error;
    def.integrator.tolerance.span = 0.5; // as runs do
    if (as_integrator_create(as_model_problem(m), &def.integrator, &alone, &error) ||
        as_integrator_start(alone, as_model_initial(m), NULL, &error) ||
        as_integrator_advance(alone, 0.5, &error))
      fail_msg("%s", error.message);
    as_body_motion body;
    as_model_body_motion(m, as_integrator_state(alone), (as_body_id){0}, &body);
    same("end", row_of(fine, 40) + column(fine, "bodies.crank.position.x", NULL), body.x, 3);
    assert_true(as_integrator_state(as_run_integrator(list->run))->t == 0.5);
    as_integrator_destroy(alone);
    keep_free(coarse);
    keep_free(fine);
    keep_free(list);
  }
  as_model_destroy(m);
}

/// An interval that does not divide t_end: the last row is at the end all the same.
static void test_last_row(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  machine_point(b, "stone", 1.0, origin, x_axis);
  as_model *m = machine_build(b);
  static const char *const wanted[] = {"bodies.stone.position"};
  static const struct {
    double interval, t_end;
    int rows;
  } cases[] = {{0.3, 1.0, 5}, {0.1, 1.0, 11}, {2.0, 1.0, 2}, {1.0 / 3.0, 1.0, 4}, {0.7, 2.1, 4}};
  for (int i = 0; i < 5; ++i) {
    as_run_def def = fixed_run(AS_METHOD_INDEX2, 0.04, cases[i].t_end);
    def.channels = wanted;
    def.n_channels = 1;
    def.interval = cases[i].interval;
    kept *k = keep_run(m, &def);
    assert_int_equal(k->rows, cases[i].rows);
    assert_true(k->t[0] == 0.0 && k->t[k->rows - 1] == cases[i].t_end);
    for (int r = 0; r < k->rows; ++r) {
      assert_near("x", row_of(k, r)[0], k->t[r], 1e-12);
      assert_near("z", row_of(k, r)[2], -9.81 / 2.0 * k->t[r] * k->t[r], 1e-10);
    }
    keep_free(k);
  }
  as_model_destroy(m);
}

/// A force that cannot be evaluated the first times: the step is taken in parts, and rows in all of them are
/// there. x'' = -x exactly solved by x = sin t.
static int n_refusals;

static int fragile(const as_element_input *in, const as_element_output *out, const void *data) {
  (void)data;
  if (in->t > 1.0 && n_refusals > 0) {
    --n_refusals;
    return AS_RETRY;
  }
  if (out->force) out->force[0] = -in->body[0]->x[0];
  if (out->f_q) out->f_q[0] = -1.0;
  return AS_DONE;
}

static void test_parts(void **state) {
  (void)state;
  static const as_element_type type = {"fragile", fragile, NULL, NULL};
  static const char *const wanted[] = {"bodies.bead", "solver.h"};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  as_element_def def = as_default_element_def();
  def.type = &type;
  def.n_bodies = 1;
  def.body[0] = machine_point(b, "bead", 1.0, origin, x_axis);
  if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_run_def run = fixed_run(AS_METHOD_INDEX2, 0.05, 1.5);
  run.channels = wanted;
  run.n_channels = 2;
  run.interval = 2e-3;
  n_refusals = 30; // more than two attempts with different predictions use up
  kept *k = keep_run(m, &run);
  assert_int_equal(n_refusals, 0);
  double least = 1.0;
  for (int i = 0; i < k->rows; ++i) {
    const double t = k->t[i];
    assert_near("x", value(k, i, "bodies.bead.position.x"), sin(t), 4e-4);
    assert_near("v", value(k, i, "bodies.bead.velocity.x"), cos(t), 4e-4);
    assert_near("a", value(k, i, "bodies.bead.acceleration.x"), -sin(t), 2e-3);
    if (i > 0) least = fmin(least, value(k, i, "solver.h"));
  }
  assert_true(least < 0.04); // there were parts
  keep_free(k);
  as_model_destroy(m);
}

// ---- ends -------------------------------------------------------------------------------------------

static bool count_down(void *user) { return --*(int *)user < 0; }

static void note_time(double t, void *user) {
  double *last = user;
  assert_true(t > *last);
  *last = t;
}

/// An interruption shows nowhere in the rows.
static void test_interruption(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  int left = 70;
  double reached = 0.0;
  as_error error;
  as_run_def def = fixed_run(AS_METHOD_INDEX2, 3e-3, 0.5);
  def.interval = 0.01;
  def.progress = note_time;
  def.progress_user = &reached;
  kept *whole = keep_run(m, &def);
  assert_true(reached == 0.5);
  reached = 0.0;
  def.integrator.interrupt = count_down;
  def.integrator.interrupt_user = &left;
  kept *k = keep_open(m, &def);
  assert_int_equal(as_run_go(k->run, keep_row, k, NULL, &error), AS_INTERRUPTED);
  assert_near("t", reached, 70 * 3e-3, 1e-12);
  assert_int_equal(k->rows, 22);
  left = 1000;
  assert_int_equal(as_run_go(k->run, keep_row, k, NULL, &error), AS_OK);
  assert_int_equal(k->rows, whole->rows);
  assert_memory_equal(k->value, whole->value,
                      (size_t)k->rows * (size_t)k->columns * sizeof(double));
  keep_free(k);
  keep_free(whole);
  as_model_destroy(m);
}

/// A stone bounces on the floor, at -1 m, without loss, and the run stops at the second bounce.
static int above_floor(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[2] + 1.0;
  return AS_DONE;
}

static int bounce(as_event *event, void *user) {
  int *bounces = user;
  event->v[2] = -event->v[2];
  return ++*bounces == 2 ? AS_EVENT_CHANGE | AS_EVENT_STOP : AS_EVENT_CHANGE;
}

static void test_events(void **state) {
  (void)state;
  static const char *const wanted[] = {"bodies.stone", "solver.h"};
  const double g = 9.81, fall = sqrt(2.0 / g);
  as_builder *b = machine_builder(0, 0, -g);
  machine_point(b, "stone", 1.0, origin, x_axis);
  as_model *m = machine_build(b);
  for (int automatic = 0; automatic < 2; ++automatic) {
    int bounces = 0;
    as_error error;
    const as_event_def event = {
        .name = "floor", .value = above_floor, .direction = -1, .act = bounce, .user = &bounces};
    as_run_def def = fixed_run(AS_METHOD_INDEX2, automatic ? (double)NAN : 0.01, 2.0);
    def.integrator.events = &event;
    def.integrator.n_events = 1;
    def.channels = wanted;
    def.n_channels = 2;
    def.interval = 0.003;
    kept *k = keep_open(m, &def);
    assert_int_equal(as_run_go(k->run, keep_row, k, NULL, &error), AS_STOPPED);
    assert_near("t", as_integrator_state(as_run_integrator(k->run))->t, 3.0 * fall, 1e-6);
    assert_int_equal(k->rows, (int)(3.0 * fall / 0.003) + 2); // one where it stops
    assert_int_equal(as_run_go(k->run, keep_row, k, NULL, &error), AS_OK);
    assert_true(k->t[k->rows - 1] == 2.0);
    for (int i = 0; i < k->rows; ++i) {
      const double since = fmod(k->t[i] + fall, 2.0 * fall) - fall; // the top of each arc
      assert_near("z", value(k, i, "bodies.stone.position.z"), -g / 2.0 * since * since, 1e-5);
      if (fabs(since) < fall - 1e-5)
        assert_near("vz", value(k, i, "bodies.stone.velocity.z"), -g * since, 1e-5);
      assert_near("x", value(k, i, "bodies.stone.position.x"), k->t[i], 1e-9);
    }
    keep_free(k);
  }
  as_model_destroy(m);
}

/// What fails says so, and rows up to there are kept.
static void test_failures(void **state) {
  (void)state;
  static const as_element_type type = {"fragile", fragile, NULL, NULL};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  as_element_def def = as_default_element_def();
  def.name = "glass";
  def.type = &type;
  def.n_bodies = 1;
  def.body[0] = machine_point(b, "bead", 1.0, origin, x_axis);
  if (as_builder_add_element(b, &def, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_run_def run = fixed_run(AS_METHOD_INDEX2, 0.05, 1.5);
  run.interval = 0.1;
  n_refusals = 1000000000;
  kept *k = keep_open(m, &run);
  assert_int_equal(as_run_go(k->run, keep_row, k, NULL, &error), AS_ERR_RETRY);
  n_refusals = 0;
  assert_int_equal(k->rows, 11);
  assert_near("t", k->t[10], 1.0, 1e-12);
  keep_free(k);
  run.max_steps = 12;
  k = keep_open(m, &run);
  assert_int_equal(as_run_go(k->run, keep_row, k, NULL, &error), AS_ERR_TOLERANCE);
  assert_non_null(strstr(error.message, "12 steps"));
  assert_int_equal(k->rows, 7);
  keep_free(k);
  as_model_destroy(m);
}

static void refuse_run(const as_model *m, const as_run_def *def, const char *words) {
  as_error error;
  as_run *run = NULL;
  assert_int_not_equal(as_run_create(m, def, &run, &error), AS_OK);
  assert_null(run);
  if (strstr(error.message, words) == NULL) fail_msg("`%s` is not in: %s", words, error.message);
}

static void test_refused_runs(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  const double bad[] = {0.1, 0.1}, late[] = {0.5, 3.0}, early[] = {-0.5};
  const char *wrong = "bodies.krank";
  as_run_def def = as_default_run_def();
  refuse_run(m, &def, "t_end = nan");
  def.t_end = (double)INFINITY;
  refuse_run(m, &def, "t_end = inf");
  def.t_end = 1.0;
  def.interval = 0.0;
  refuse_run(m, &def, "interval of 0 s");
  def.interval = 1e-12;
  refuse_run(m, &def, "1e9 rows");
  def.interval = (double)NAN;
  def.times = bad;
  def.n_times = 2;
  refuse_run(m, &def, "Output time 1, 0.1 s");
  def.times = late;
  refuse_run(m, &def, "Output time 1, 3 s");
  def.times = early;
  def.n_times = 1;
  refuse_run(m, &def, "Output time 0, -0.5 s");
  def.n_times = 0;
  def.channels = &wrong;
  def.n_channels = 1;
  refuse_run(m, &def, "did you mean `crank`?");
  def.n_channels = 0;
  def.integrator.step = -1.0;
  refuse_run(m, &def, "step = -1");
  as_model_destroy(m);
}

// ---- tables -----------------------------------------------------------------------------------------

static char folder[] = "alphastep-results-XXXXXX"; // where the test runs
static char path[64];

static int make_folder(void **state) {
  (void)state;
  signal(SIGXFSZ, SIG_IGN);
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/results.csv", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  remove(path);
  return rmdir(folder);
}

static char *read_all(const char *name) {
  FILE *file = fopen(name, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 22);
  const size_t n = fread(text, 1, (1 << 22) - 1, file);
  assert_true(n < (1 << 22) - 1);
  fclose(file);
  return text;
}

/// The next field of a line, with quotes taken off; returns where the one after it begins.
static char *next_field(char *from, char *out) {
  const bool quoted = *from == '"';
  if (quoted) ++from;
  for (;; ++from) {
    if (quoted && from[0] == '"' && from[1] == '"')
      ++from;
    else if (quoted && *from == '"')
      break;
    else if (!quoted && (*from == ',' || *from == '\n'))
      break;
    *out++ = *from;
  }
  *out = '\0';
  if (quoted) ++from;
  assert_true(*from == ',' || *from == '\n');
  return from + 1;
}

/// What is written is what is read, names and bits.
static void test_csv(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  as_channels *c = chosen(m, everything, 1);
  const int n = as_channels_count(c);
  as_csv *csv = NULL;
  as_error error;
  double *row = calloc((size_t)n, sizeof *row);
  if (as_csv_create(path, c, &csv, &error)) fail_msg("%s", error.message);
  for (int r = 0; r < 100; ++r) {
    for (int i = 0; i < n; ++i) row[i] = pow(-1.37, (r - 50) * 13 + i) / 3.0;
    if (r == 7) row[0] = (double)NAN, row[1] = -(double)INFINITY, row[2] = -0.0, row[3] = 5e-324;
    assert_int_equal(as_csv_row(r / 3.0, row, n, csv, &error), AS_OK);
  }
  assert_int_equal(as_csv_row(0.0, row, n - 1, csv, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_csv_close(csv, &error), AS_OK);
  char *text = read_all(path), *at = text, field[256], expected[256];
  at = next_field(at, field);
  assert_string_equal(field, "time [s]");
  bool odd = false;
  for (int i = 0; i < n; ++i) {
    at = next_field(at, field);
    const as_channel channel = as_channels_get(c, i);
    snprintf(expected, sizeof expected, "%s [%s]", channel.name, channel.unit);
    assert_string_equal(field, expected);
    odd = odd || strstr(field, "the \"slider\"");
  }
  assert_true(odd && at[-1] == '\n');
  for (int r = 0; r < 100; ++r) {
    at = next_field(at, field);
    assert_true(strtod(field, NULL) == r / 3.0);
    for (int i = 0; i < n; ++i) {
      double x = pow(-1.37, (r - 50) * 13 + i) / 3.0;
      at = next_field(at, field);
      const double read = strtod(field, NULL);
      if (r == 7 && i < 4) {
        static const char *const special[] = {"nan", "-inf", "-0", "5e-324"};
        assert_string_equal(field, special[i]);
      } else {
        assert_memory_equal(&read, &x, sizeof x);
      }
    }
    assert_true(at[-1] == '\n');
  }
  assert_true(*at == '\0');
  free(text);
  free(row);
  as_channels_destroy(c);
  as_model_destroy(m);
}

/// Two runs write the same bytes; flushed rows are in the file while it goes on.
static void test_reproducible(void **state) {
  (void)state;
  char *text[2];
  for (int i = 0; i < 2; ++i) {
    as_model *m = build_engine(false);
    as_run_def def = as_default_run_def();
    def.t_end = 0.3;
    as_run *run = NULL;
    as_csv *csv = NULL;
    as_error error;
    if (as_run_create(m, &def, &run, &error) ||
        as_csv_create(path, as_run_channels(run), &csv, &error) ||
        as_run_go(run, as_csv_row, csv, NULL, &error) || as_csv_flush(csv, &error))
      fail_msg("%s", error.message);
    text[i] = read_all(path);
    if (as_csv_close(csv, &error)) fail_msg("%s", error.message);
    char *closed = read_all(path);
    assert_string_equal(text[i], closed);
    free(closed);
    as_run_destroy(run);
    as_model_destroy(m);
  }
  assert_string_equal(text[0], text[1]);
  int lines = 0;
  for (const char *c = text[0]; *c; ++c) lines += *c == '\n';
  assert_int_equal(lines, 502);
  free(text[0]);
  free(text[1]);
}

/// A full disk: the run ends with AS_ERR_FILE, and the file has whole lines only.
static void test_full_disk(void **state) {
  (void)state;
  as_model *m = build_engine(false);
  as_run_def def = fixed_run(AS_METHOD_INDEX2, 1e-3, 0.5);
  struct rlimit old, small = {200001, 200001};
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small.rlim_max = old.rlim_max;
  as_run *run = NULL;
  as_csv *csv = NULL;
  as_error error;
  if (as_run_create(m, &def, &run, &error) ||
      as_csv_create(path, as_run_channels(run), &csv, &error))
    fail_msg("%s", error.message);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  const as_status status = as_run_go(run, as_csv_row, csv, NULL, &error);
  const as_status again = as_csv_row(9.0, NULL, as_channels_count(as_run_channels(run)), csv, NULL);
  const long rows = as_csv_rows(csv);
  as_csv_close(csv, NULL);
  setrlimit(RLIMIT_FSIZE, &old);
  assert_int_equal(status, AS_ERR_FILE);
  assert_int_equal(again, AS_ERR_FILE);
  assert_non_null(strstr(error.message, path));
  char *text = read_all(path);
  const size_t size = strlen(text);
  assert_true(size > 100000 && size <= 200001 && text[size - 1] == '\n');
  long lines = 0;
  for (const char *c = text; *c; ++c) lines += *c == '\n';
  assert_int_equal(lines, rows + 1);
  free(text);
  assert_int_equal(as_csv_create("/dev/full", as_run_channels(run), &csv, &error), AS_ERR_FILE);
  assert_null(csv);
  assert_int_equal(as_csv_create("/nowhere/x.csv", as_run_channels(run), &csv, &error),
                   AS_ERR_FILE);
  assert_non_null(strstr(error.message, "/nowhere/x.csv cannot be written: No such file"));
  as_run_destroy(run);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_direct),
                                     cmocka_unit_test(test_newtons_law),
                                     cmocka_unit_test(test_balance),
                                     cmocka_unit_test(test_selections),
                                     cmocka_unit_test(test_skate),
                                     cmocka_unit_test(test_defaults),
                                     cmocka_unit_test(test_refused_selections),
                                     cmocka_unit_test(test_turns),
                                     cmocka_unit_test(test_times),
                                     cmocka_unit_test(test_last_row),
                                     cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_interruption),
                                     cmocka_unit_test(test_events),
                                     cmocka_unit_test(test_failures),
                                     cmocka_unit_test(test_refused_runs),
                                     cmocka_unit_test(test_csv),
                                     cmocka_unit_test(test_reproducible),
                                     cmocka_unit_test(test_full_disk)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
