/// What joints report: coordinates, rates and reactions, against what was put in by hand.
///
/// A body is placed so that a joint has given coordinates c + c' t, and loaded at the joint with a force and a
/// torque that the joint can carry and nothing else can: the reaction is their opposite. With the bodies'
/// order turned round, the body is the first: the reaction on the ground is the load itself.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"

// ---- poses ------------------------------------------------------------------------------------------

/// Position and quaternion.
typedef struct pose {
  double q[7];
} pose;

static as_space *se3;

static pose compose(pose a, pose b) {
  pose out = {{0}};
  as_space_compose(se3, a.q, b.q, out.q);
  return out;
}

static pose inverse(pose a) {
  pose out = {{0}};
  as_space_inverse(se3, a.q, out.q);
  return out;
}

static pose shift(double x, double y, double z) { return (pose){{x, y, z, 1, 0, 0, 0}}; }

static pose turn(int axis, double angle) {
  pose p = {{0, 0, 0, cos(angle / 2.0), 0, 0, 0}};
  p.q[4 + axis] = sin(angle / 2.0);
  return p;
}

/// By a rotation vector.
static pose spin(const double *w) {
  const double xi[6] = {0, 0, 0, w[0], w[1], w[2]};
  pose p = {{0}};
  as_space_exp(se3, xi, p.q);
  return p;
}

/// R a
static void rotate(pose p, const double *a, double *out) {
  const pose moved = compose(p, shift(a[0], a[1], a[2]));
  for (int i = 0; i < 3; ++i) out[i] = moved.q[i] - p.q[i];
}

// ---- joints by hand ---------------------------------------------------------------------------------

typedef struct joint_case {
  as_joint_kind kind;
  int n; ///< coordinates
  double c[AS_JOINT_COORDINATES], rate[AS_JOINT_COORDINATES];
  double force[3], torque[3]; ///< a load that the joint can carry, in the axes of A
} joint_case;

static const joint_case cases[] = {
    {AS_JOINT_FIXED, 0, {0}, {0}, {3, -4, 5}, {0.6, -0.7, 0.8}},
    {AS_JOINT_REVOLUTE, 1, {0.7}, {1.3}, {3, -4, 5}, {0.6, -0.7, 0}},
    {AS_JOINT_PRISMATIC, 1, {0.4}, {-0.6}, {3, -4, 0}, {0.6, -0.7, 0.8}},
    {AS_JOINT_CYLINDRICAL, 2, {0.4, 2.1}, {-0.6, 1.3}, {3, -4, 0}, {0.6, -0.7, 0}},
    {AS_JOINT_SPHERICAL, 3, {0.4, -1.1, 0.8}, {0}, {3, -4, 5}, {0, 0, 0}},
    {AS_JOINT_UNIVERSAL, 2, {0.4, -0.5}, {0.9, -1.2}, {3, -4, 5}, {0, 0, 0}},
    {AS_JOINT_PLANAR, 3, {0.4, -0.3, -2.5}, {0.8, 0.5, -1.1}, {0, 0, 5}, {0.6, -0.7, 0}},
    {AS_JOINT_POINT_ON_LINE, 4, {0.4, 0.3, -0.2, 0.5}, {0.7}, {3, -4, 0}, {0, 0, 0}},
    {AS_JOINT_POINT_ON_PLANE, 5, {0.4, 0.6, 0.3, -0.2, 0.5}, {0.7, -0.2}, {0, 0, 5}, {0, 0, 0}},
    {AS_JOINT_DISTANCE, 0, {0}, {0}, {0, 0, 0}, {0, 0, 0}},
    {AS_JOINT_SCREW, 2, {0.4, 2.1}, {-0.13, 1.3}, {3, -4, 5}, {0.6, -0.7, 0.5}}, // -0.1 m/rad
    {AS_JOINT_CONSTANT_VELOCITY, 3, {0.4, -0.3, 0}, {0}, {3, -4, 5}, {0, 0, 0}},
};

/// B as seen from A when the coordinates are c.
static pose relative_pose(as_joint_kind kind, const double *c) {
  switch (kind) {
  case AS_JOINT_REVOLUTE: return turn(2, c[0]);
  case AS_JOINT_PRISMATIC: return shift(0, 0, c[0]);
  case AS_JOINT_SCREW:
  case AS_JOINT_CYLINDRICAL: return compose(shift(0, 0, c[0]), turn(2, c[1]));
  case AS_JOINT_CONSTANT_VELOCITY:
  case AS_JOINT_SPHERICAL: return spin(c);
  case AS_JOINT_UNIVERSAL: return compose(turn(0, c[0]), turn(1, c[1]));
  case AS_JOINT_PLANAR: return compose(shift(c[0], c[1], 0), turn(2, c[2]));
  case AS_JOINT_POINT_ON_LINE: return compose(shift(0, 0, c[0]), spin(c + 1));
  case AS_JOINT_POINT_ON_PLANE: return compose(shift(c[0], c[1], 0), spin(c + 2));
  case AS_JOINT_DISTANCE: return compose(shift(0.3, -0.4, 1.2), turn(1, 0.7)); // 1.3 m apart
  default: return shift(0, 0, 0);
  }
}

static const pose frame_a = {{0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5}}; // on the ground
static const pose frame_b = {{-0.4, 0.1, 0.2, 0.8, 0.0, 0.6, 0.0}};  // on the body

static as_frame_id add_frame(as_builder *b, as_body_id body, pose at) {
  as_error error;
  as_frame_id id = AS_NO_FRAME;
  as_frame_def def = as_default_frame_def();
  def.body = body;
  memcpy(def.position, at.q, sizeof def.position);
  memcpy(def.quaternion, at.q + 3, sizeof def.quaternion);
  if (as_builder_add_frame(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// The body's pose when the joint's coordinates are c + t c', for either order of the bodies.
static pose body_pose(const joint_case *k, bool turned_round, double t) {
  double c[AS_JOINT_COORDINATES];
  for (int i = 0; i < AS_JOINT_COORDINATES; ++i) c[i] = k->c[i] + t * k->rate[i];
  pose relative = relative_pose(k->kind, c);
  if (turned_round) relative = inverse(relative);
  return compose(compose(frame_a, relative), inverse(frame_b));
}

/// The load in the world's axes; the axes are those of A, on whichever body.
static void world_load(const joint_case *k, pose a, double *force, double *torque) {
  rotate(a, k->force, force);
  rotate(a, k->torque, torque);
  if (k->kind == AS_JOINT_UNIVERSAL) { // about x_a x y_b = (0, -y_b.z, y_b.y) in A
    const double along[3] = {0, -sin(k->c[0]), cos(k->c[0])};
    double torque_in_a[3];
    for (int i = 0; i < 3; ++i) torque_in_a[i] = 0.9 * along[i];
    rotate(a, torque_in_a, torque);
  }
  if (k->kind == AS_JOINT_CONSTANT_VELOCITY) { // along the bisector: z turned by half of the bend
    const double half[3] = {k->c[0] / 2.0, k->c[1] / 2.0, 0};
    rotate(compose(a, spin(half)), (double[]){0, 0, 0.9}, torque);
  }
  if (k->kind == AS_JOINT_DISTANCE) {
    const double pull[3] = {0.3 * 2.0, -0.4 * 2.0, 1.2 * 2.0}; // 2.6 N outwards
    rotate(a, pull, force);
  }
}

static void check_vector(const char *what, const joint_case *k, const double *value,
                         const double *expected, int n, double tolerance) {
  for (int i = 0; i < n; ++i)
    if (!(fabs(value[i] - expected[i]) <= tolerance))
      fail_msg("joint kind %d, %s %d: %.12g instead of %.12g", (int)k->kind, what, i, value[i],
               expected[i]);
}

static void check_reaction(const joint_case *k, const as_model *m, const as_state *s, pose a,
                           const double *point, const double *force, const double *torque) {
  as_error error;
  as_reaction r;
  double back[3];
  assert_int_equal(as_model_reaction(m, s, (as_joint_id){0}, &r, &error), AS_OK);
  check_vector("point", k, r.point, point, 3, 1e-12);
  check_vector("force", k, r.force, force, 3, 1e-8);
  check_vector("torque", k, r.torque, torque, 3, 1e-8);
  rotate(a, r.force_in_joint, back);
  check_vector("force in the joint", k, back, force, 3, 1e-8);
  rotate(a, r.torque_in_joint, back);
  check_vector("torque in the joint", k, back, torque, 3, 1e-8);
}

/// A load at the end of the body's frame, and the joint between the two frames.
static as_model *build(const joint_case *k, bool turned_round, as_space_kind space, bool moving) {
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const double e = 1e-4;
  const pose at = body_pose(k, turned_round, 0.0), before = body_pose(k, turned_round, -e),
             after = body_pose(k, turned_round, e);
  as_body_def body = machine_round_body("body", 2.0, 0.4, space == AS_SPACE_SE3);
  memcpy(body.position, at.q, sizeof body.position);
  memcpy(body.quaternion, at.q + 3, sizeof body.quaternion);
  if (moving) {
    double xi[6], back[6];
    as_space_difference(se3, at.q, after.q, xi);
    as_space_difference(se3, at.q, before.q, back);
    for (int i = 0; i < 3; ++i) {
      body.velocity[i] = (after.q[i] - before.q[i]) / (2.0 * e);
      body.angular_velocity[i] = (xi[3 + i] - back[3 + i]) / (2.0 * e);
    }
  }
  const as_body_id id = machine_body(b, &body);
  as_joint_def joint = as_default_joint_def();
  joint.name = "joint";
  joint.kind = k->kind;
  joint.lead = -0.6283185307179586;
  const as_frame_id on_ground = add_frame(b, AS_GROUND, frame_a),
                    on_body = add_frame(b, id, frame_b);
  joint.frame[turned_round] = on_ground;
  joint.frame[!turned_round] = on_body;
  if (as_builder_add_joint(b, &joint, NULL, &error)) fail_msg("%s", error.message);
  // The load acts on the body at the joint's point, the origin of frame B.
  const pose a = turned_round ? compose(at, frame_b) : frame_a;
  const pose second = compose(a, relative_pose(k->kind, k->c));
  as_load_def load = as_default_load_def();
  load.body = id;
  memcpy(load.point, second.q, sizeof load.point);
  world_load(k, a, load.force, load.torque);
  if (turned_round)
    for (int i = 0; i < 3; ++i) load.force[i] = -load.force[i], load.torque[i] = -load.torque[i];
  if (as_builder_add_load(b, &load, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void check_case(const joint_case *k, bool turned_round, as_space_kind space, bool moving) {
  as_model *m = build(k, turned_round, space, moving);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  as_start_report report;
  def.step = 1e-3;
  assert_int_equal(as_integrator_create(as_model_problem(m), &def, &integrator, &error), AS_OK);
  if (as_integrator_start(integrator, as_model_initial(m), &report, &error))
    fail_msg("%s", error.message);
  const as_state *s = as_integrator_state(integrator);
  assert_true(report.position_residual < 1e-12); // the joint's pose is what we think it is
  assert_true(report.velocity_residual < 1e-6);
  assert_int_equal(as_model_joint_coordinates(m, (as_joint_id){0}), k->n);
  double c[AS_JOINT_COORDINATES], rate[AS_JOINT_COORDINATES];
  assert_int_equal(as_model_coordinates(m, s, (as_joint_id){0}, k->c, c, rate, &error), AS_OK);
  check_vector("coordinate", k, c, k->c, k->n, 1e-10);
  if (moving) check_vector("rate", k, rate, k->rate, k->n, 1e-6);
  if (!moving) { // at rest, and it stays so: the load is carried
    const pose at = body_pose(k, turned_round, 0.0);
    const pose a = turned_round ? compose(at, frame_b) : frame_a;
    const pose second = compose(a, relative_pose(k->kind, k->c));
    double force[3], torque[3];
    world_load(k, a, force, torque);
    for (int i = 0; i < 3; ++i) force[i] = -force[i], torque[i] = -torque[i];
    check_reaction(k, m, s, a, second.q, force, torque);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void check_all(bool moving) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    for (int order = 0; order < 2; ++order) {
      check_case(&cases[i], order == 1, AS_SPACE_R3SO3, moving);
      check_case(&cases[i], order == 1, AS_SPACE_SE3, moving);
    }
}

static void test_statics(void **state) {
  (void)state;
  check_all(false);
}

static void test_coordinates(void **state) {
  (void)state;
  check_all(true);
}

// ---- machines at rest, by hand ------------------------------------------------------------------------

static void start(const as_model *m, as_integrator **out) {
  as_integrator_def def = as_default_integrator_def();
  as_error error;
  def.step = 1e-3;
  assert_int_equal(as_integrator_create(as_model_problem(m), &def, out, &error), AS_OK);
  if (as_integrator_start(*out, as_model_initial(m), NULL, &error)) fail_msg("%s", error.message);
}

/// A bracket of 2 kg, its centre of mass 0.3 m from the wall: the wall carries 19.62 N and 5.886 N m.
static void test_cantilever(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def bracket = machine_round_body("bracket", 2.0, 0.1, false);
  bracket.position[0] = 0.3;
  const as_joint_id wall = machine_joint(b, "wall", AS_JOINT_FIXED, AS_GROUND,
                                         machine_body(b, &bracket), (double[]){0, 0, 0}, NULL);
  as_model *m = machine_build(b);
  as_integrator *integrator;
  start(m, &integrator);
  as_reaction r;
  as_error error;
  assert_int_equal(as_model_reaction(m, as_integrator_state(integrator), wall, &r, &error), AS_OK);
  const joint_case none = {.kind = AS_JOINT_FIXED};
  check_vector("force", &none, r.force, (double[]){0, 0, 19.62}, 3, 1e-10);
  check_vector("torque", &none, r.torque, (double[]){0, -5.886, 0}, 3, 1e-10);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// An arm held level by a motor: the motor's torque is m g l about the hinge, the hinge itself carries m g.
static void test_motor(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def arm = machine_round_body("arm", 2.0, 0.1, true);
  arm.position[0] = 0.3;
  const as_body_id id = machine_body(b, &arm);
  as_motion_def hold = as_default_motion_def();
  const as_curve still = {0};
  as_joint_id motor;
  as_error error;
  hold.joint = machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, id, (double[]){0, 0, 0},
                             (double[]){0, 1, 0});
  hold.name = "motor";
  hold.law = &still;
  assert_int_equal(as_builder_add_motion(b, &hold, &motor, &error), AS_OK);
  as_model *m = machine_build(b);
  as_integrator *integrator;
  start(m, &integrator);
  as_reaction r;
  const joint_case none = {.kind = AS_JOINT_MOTION};
  assert_int_equal(as_model_reaction(m, as_integrator_state(integrator), motor, &r, &error), AS_OK);
  check_vector("motor force", &none, r.force, (double[]){0, 0, 0}, 3, 1e-10);
  check_vector("motor torque", &none, r.torque, (double[]){0, -5.886, 0}, 3, 1e-9);
  assert_int_equal(as_model_reaction(m, as_integrator_state(integrator), hold.joint, &r, &error),
                   AS_OK);
  check_vector("hinge force", &none, r.force, (double[]){0, 0, 19.62}, 3, 1e-10);
  check_vector("hinge torque", &none, r.torque, (double[]){0, 0, 0}, 3, 1e-9);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// Angles go on after whole turns if the last ones are given.
static void test_unwrapping(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def rotor = machine_round_body("rotor", 1.0, 0.2, false);
  rotor.angular_velocity[2] = -10.0;
  const as_joint_id axle =
      machine_joint(b, "axle", AS_JOINT_CYLINDRICAL, AS_GROUND, machine_body(b, &rotor),
                    (double[]){0, 0, 0}, (double[]){0, 0, 1});
  as_model *m = machine_build(b);
  as_integrator *integrator;
  start(m, &integrator);
  as_error error;
  double c[2] = {0}, wrapped[2];
  for (int i = 1; i <= 20; ++i) {
    assert_int_equal(as_integrator_advance(integrator, 0.1 * i, &error), AS_OK);
    const as_state *s = as_integrator_state(integrator);
    assert_int_equal(as_model_coordinates(m, s, axle, c, c, NULL, &error), AS_OK);
    assert_int_equal(as_model_coordinates(m, s, axle, NULL, wrapped, NULL, &error), AS_OK);
    assert_true(fabs(c[1] + i) < 1e-9);
    assert_true(fabs(wrapped[1]) <= 3.15);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static int wave(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.3 * sin(2.0 * t);
  out[1] = 0.6 * cos(2.0 * t);
  out[2] = -1.2 * sin(2.0 * t);
  return AS_DONE;
}

/// A frame that moves against a body that moves: where it is, by hand; how fast, by differences.
static void test_moving_frame(void **state) {
  (void)state;
  static const as_curve swing = {.function = wave}, turns = {.slope = 3.0};
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def rotor = machine_round_body("rotor", 1.0, 0.2, true);
  rotor.angular_velocity[2] = 2.0;
  as_frame_def def = as_default_frame_def();
  def.body = machine_body(b, &rotor);
  def.position[0] = 1.0;
  def.shift[0] = &swing;
  def.turn = &turns;
  as_error error;
  as_frame_id id;
  assert_int_equal(as_builder_add_frame(b, &def, &id, &error), AS_OK);
  as_model *m = machine_build(b);
  const double e = 1e-5, t0 = 0.4;
  as_frame_motion at[3];
  for (int k = 0; k < 3; ++k) { // the rotor turns evenly
    const double t = t0 + (k - 1) * e, q[7] = {0, 0, 0, cos(t), 0, 0, sin(t)};
    const double v[6] = {0, 0, 0, 0, 0, 2.0};
    const as_state s = {.t = t, .q = q, .v = v};
    assert_int_equal(as_model_frame_motion(m, &s, id, &at[k], &error), AS_OK);
  }
  const double radius = 1.0 + 0.3 * sin(2.0 * t0);
  const joint_case none = {.kind = AS_JOINT_MOTION};
  check_vector("position", &none, at[1].position,
               (double[]){radius * cos(2.0 * t0), radius * sin(2.0 * t0), 0}, 3, 1e-12);
  check_vector("x axis", &none, (double[]){at[1].R[0], at[1].R[3], at[1].R[6]},
               (double[]){cos(5.0 * t0), sin(5.0 * t0), 0}, 3, 1e-12);
  check_vector("angular velocity", &none, at[1].angular_velocity, (double[]){0, 0, 5.0}, 3, 1e-12);
  double speed[3];
  for (int i = 0; i < 3; ++i) speed[i] = (at[2].position[i] - at[0].position[i]) / (2.0 * e);
  check_vector("velocity", &none, at[1].velocity, speed, 3, 1e-8);
  as_model_destroy(m);
}

static int open_space(void **state) {
  (void)state;
  return as_space_create(&(as_space_part){AS_SPACE_SE3, 1}, 1, &se3, NULL) != AS_OK;
}

static int close_space(void **state) {
  (void)state;
  as_space_destroy(se3);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statics),    cmocka_unit_test(test_coordinates),
      cmocka_unit_test(test_cantilever), cmocka_unit_test(test_motor),
      cmocka_unit_test(test_unwrapping), cmocka_unit_test(test_moving_frame)};
  return cmocka_run_group_tests(tests, open_space, close_space);
}
