/// Every element's formulas against differences: residuals, rates, accelerations, tangents.
///
/// Two bodies in random poses, on every pair of spaces, joined by one element at random frames;
/// rotations are anything, half of them within 1e-3 of half a turn. as_problem_check() compares all
/// blocks and rates of the model with differences at random points near by, off the constraints.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"

// ---- random poses -----------------------------------------------------------------------------------

static uint64_t seed = 1;

/// In [-1, 1].
static double random_number(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static void random_vector(double size, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = size * random_number();
}

/// A rotation by any angle, or by nearly pi.
static void random_quaternion(bool near_pi, double *q) {
  double axis[3], norm = 0.0;
  random_vector(1.0, axis);
  for (int i = 0; i < 3; ++i) norm += axis[i] * axis[i];
  const double half = near_pi ? 1.5707963267948966 + 5e-4 * random_number() : 3.0 * random_number();
  q[0] = cos(half);
  for (int i = 0; i < 3; ++i) q[1 + i] = sin(half) * axis[i] / sqrt(norm);
}

// ---- a pair of bodies -------------------------------------------------------------------------------

/// What a body of the pair is.
typedef enum space { GROUND, POINT, MOVING_NODE, R3SO3, SE3, NODE, PLANAR_NODE, SPACES } space;
static const char *const space_name[SPACES] = {
    "ground", "point", "node without rotations", "R3xSO3", "SE3", "node", "planar node"};

/// Whether it has nothing to turn.
static bool is_point(space kind) { return kind == POINT || kind == MOVING_NODE; }

typedef struct pair {
  as_builder *builder;
  as_body_id body[2];
  as_frame_id frame[2];
} pair;

/// A symmetric matrix of 7 x 7, some of its entries left out.
static as_sparse *random_matrix(double diagonal) {
  as_error error;
  as_entry entries[49];
  size_t n = 0;
  for (int i = 0; i < 7; ++i) {
    entries[n++] = (as_entry){i, i, diagonal + random_number()};
    for (int j = i + 1 + i % 2; j < 7; j += 2) {
      const double x = 0.2 * random_number();
      entries[n++] = (as_entry){i, j, x};
      entries[n++] = (as_entry){j, i, x};
    }
  }
  as_sparse *m = NULL;
  if (as_sparse_create(7, 7, entries, n, &m, &error)) fail_msg("%s", error.message);
  return m;
}

/// A node of a superelement that stands anywhere; rotations are as large as they get.
static as_body_id add_node(as_builder *b, space kind, bool near_pi) {
  static const as_superelement_node nodes[] = {
      [MOVING_NODE] = {{0.1, 0.2, -0.3}, {4, 6, 1, -1, -1, -1}},
      [NODE] = {{0.1, 0.2, -0.3}, {4, 6, 1, 0, 2, 5}},
      [PLANAR_NODE] = {{0.1, 0.2, -0.3}, {3, 1, -1, -1, -1, 2}}};
  as_error error;
  as_sparse *matrix[3] = {random_matrix(3.0), random_matrix(5.0), random_matrix(2.0)};
  double u[7], q[4], norm;
  as_superelement_def def = as_default_superelement_def();
  def.mass = matrix[0];
  def.stiffness = matrix[1];
  def.damping = matrix[2];
  def.node = &nodes[kind];
  def.n_nodes = 1;
  def.displacement = u;
  for (int i = 0; i < 7; ++i) u[i] = random_number();
  random_quaternion(near_pi, q);
  norm = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int k = 0; k < 3; ++k)
    if (nodes[kind].coordinate[3 + k] >= 0)
      u[nodes[kind].coordinate[3 + k]] = 2.0 * acos(fabs(q[0])) * q[1 + k] / norm;
  random_quaternion(near_pi, def.quaternion);
  random_vector(1.0, def.position);
  as_node_def node = {0};
  if (as_builder_add_superelement(b, &def, &node.superelement, &error))
    fail_msg("%s", error.message);
  as_body_id id = AS_NONE;
  if (as_builder_add_node(b, &node, &id, &error)) fail_msg("%s", error.message);
  for (int i = 0; i < 3; ++i) as_sparse_destroy(matrix[i]);
  return id;
}

static as_body_id add_body(as_builder *b, space kind, bool near_pi) {
  as_error error;
  as_body_id id = AS_GROUND;
  if (kind == GROUND) return id;
  if (kind == NODE || kind == MOVING_NODE || kind == PLANAR_NODE) return add_node(b, kind, near_pi);
  as_body_def def = as_default_body_def();
  def.kind = kind == POINT ? AS_BODY_POINT : AS_BODY_RIGID;
  def.space = kind == SE3 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
  def.mass = 1.7;
  const double inertia[6] = {0.7, 0.9, 1.1, 0.05, -0.08, 0.03};
  memcpy(def.inertia, inertia, sizeof inertia);
  random_vector(1.0, def.position);
  if (kind != POINT) {
    random_vector(0.3, def.center_of_mass);
    random_quaternion(near_pi, def.quaternion);
  }
  if (as_builder_add_body(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

static pair pair_open(space first, space second, bool near_pi) {
  pair p;
  as_error error;
  const as_model_def model = {.gravity = {0.3, -1.0, -9.81}};
  assert_int_equal(as_builder_create(&model, &p.builder, &error), AS_OK);
  const space spaces[2] = {first, second};
  for (int s = 0; s < 2; ++s) {
    p.body[s] = add_body(p.builder, spaces[s], near_pi);
    as_frame_def frame = as_default_frame_def();
    frame.body = p.body[s];
    if (!is_point(spaces[s])) {
      random_vector(1.0, frame.position);
      random_quaternion(near_pi, frame.quaternion);
    }
    if (as_builder_add_frame(p.builder, &frame, &p.frame[s], &error)) fail_msg("%s", error.message);
  }
  // A third body, so that there is always one, and numbers are not trivial.
  add_body(p.builder, R3SO3, near_pi);
  return p;
}

/// Builds and checks; closes the builder.
static void pair_check(pair *p, const char *what, const char *spaces) {
  as_error error = {0};
  as_model *model = NULL;
  if (as_builder_build(p->builder, &model, &error))
    fail_msg("%s, %s: %s", what, spaces, error.message);
  as_builder_destroy(p->builder);
  double v[20], lambda[16], psi[8], zero = 0.0;
  for (int i = 0; i < 20; ++i) v[i] = random_number();
  for (int i = 0; i < 16; ++i) lambda[i] = 2.0 * random_number();
  for (int i = 0; i < 8; ++i) psi[i] = 2.0 * random_number();
  as_check_def def = as_default_check_def();
  def.near = (as_point){.t = 0.3, .q = as_model_initial(model)->q, .v = v, .lambda = lambda};
  def.near.psi = psi;
  def.near.x = def.near.y = &zero;
  def.spread = 0.3;
  def.seed = (unsigned)(seed >> 40);
  as_check_report report;
  if (as_problem_check(as_model_problem(model), &def, &report, &error))
    fail_msg("%s, %s: %s", what, spaces, error.message);
  as_model_destroy(model);
}

/// Calls `add` for every pair of spaces that it takes.
static void for_all_spaces(void (*add)(pair *p, int variant), int variant, const char *what,
                           bool points) {
  seed = 1; // so that what is added here does not change the poses of others
  for (int round = 0; round < 2; ++round)
    for (int first = GROUND; first < SPACES; ++first)
      for (int second = GROUND; second < SPACES; ++second) {
        if (first == GROUND && second == GROUND) continue;
        if (!points && (is_point((space)first) || is_point((space)second))) continue;
        char spaces[64];
        snprintf(spaces, sizeof spaces, "%s and %s", space_name[first], space_name[second]);
        pair p = pair_open((space)first, (space)second, round == 1);
        add(&p, variant);
        pair_check(&p, what, spaces);
      }
}

// ---- joints -----------------------------------------------------------------------------------------

static int wave(double t, double out[3], void *user) {
  const double w = *(const double *)user;
  out[0] = 0.4 + sin(w * t);
  out[1] = w * cos(w * t);
  out[2] = -w * w * sin(w * t);
  return AS_DONE;
}

static double frequency = 1.3;
static const as_curve swing = {.function = wave, .user = &frequency};
// No point of the table lies where it is differenced: its third derivative jumps there.
static const double times[] = {-1.0, -0.2, 0.2, 0.9, 1.4}, places[] = {0.0, 0.3, -0.2, 0.4, 0.1};
static const as_curve table = {.x = times, .y = places, .n = 5};

static void add_joint(pair *p, int kind) {
  as_error error;
  as_joint_def def = as_default_joint_def();
  def.kind = (as_joint_kind)kind;
  memcpy(def.frame, p->frame, sizeof def.frame);
  if (as_builder_add_joint(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static const char *const joint_name[] = {
    "fixed",     "revolute", "prismatic",     "cylindrical",    "spherical",
    "universal", "planar",   "point on line", "point on plane", "distance"};

static void test_joints(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    for_all_spaces(add_joint, kind, joint_name[kind],
                   kind == AS_JOINT_SPHERICAL || kind == AS_JOINT_DISTANCE);
}

/// The same between frames that move against their bodies, each in its own way.
static void add_moving_joint(pair *p, int kind) {
  as_error error;
  as_joint_def def = as_default_joint_def();
  def.kind = (as_joint_kind)kind;
  for (int s = 0; s < 2; ++s) {
    as_frame_def frame = as_default_frame_def();
    frame.body = p->body[s];
    random_vector(1.0, frame.position);
    random_quaternion(s == 1, frame.quaternion);
    frame.shift[s] = &table;
    frame.shift[2] = &swing;
    frame.turn = s ? &swing : &table;
    frame.turn_axis = 2 - s;
    if (as_builder_add_frame(p->builder, &frame, &def.frame[s], &error))
      fail_msg("%s", error.message);
  }
  const as_curve length = {.constant = 1.0, .slope = 0.3};
  def.length = kind == AS_JOINT_DISTANCE ? &length : NULL;
  if (as_builder_add_joint(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_moving_joints(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    for_all_spaces(add_moving_joint, kind, joint_name[kind], false);
}

/// A joint and a motion of each of its coordinates, as far as they can be prescribed.
static void add_motions(pair *p, int kind) {
  static const int driven[AS_JOINT_MOTION] = {
      [AS_JOINT_REVOLUTE] = 1,      [AS_JOINT_PRISMATIC] = 1, [AS_JOINT_CYLINDRICAL] = 2,
      [AS_JOINT_UNIVERSAL] = 2,     [AS_JOINT_PLANAR] = 3,    [AS_JOINT_POINT_ON_LINE] = 1,
      [AS_JOINT_POINT_ON_PLANE] = 2};
  as_error error;
  as_motion_def def = as_default_motion_def();
  as_joint_def joint = as_default_joint_def();
  joint.kind = (as_joint_kind)kind;
  memcpy(joint.frame, p->frame, sizeof joint.frame);
  if (as_builder_add_joint(p->builder, &joint, &def.joint, &error)) fail_msg("%s", error.message);
  for (int c = 0; c < driven[kind]; ++c) {
    def.coordinate = c;
    def.law = c % 2 ? &table : &swing;
    if (as_builder_add_motion(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
  }
}

static void test_motions(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    for_all_spaces(add_motions, kind, joint_name[kind], false);
}

// ---- forces -----------------------------------------------------------------------------------------

static const double strains[] = {-1.0, 0.0, 0.5, 1.5}, tensions[] = {-30.0, 0.0, 8.0, 40.0};
static const as_curve progressive = {
    .x = strains, .y = tensions, .n = 4, .interpolation = AS_SPLINE};

static void add_spring(pair *p, int variant) {
  as_error error;
  as_spring_def def = as_default_spring_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.stiffness = variant == 2 ? 0.0 : 11.0;
  def.damping = variant == 1 ? 3.0 : 0.0;
  def.length = 0.4;
  if (variant == 2) def.spring = def.damper = &progressive;
  if (as_builder_add_spring(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_springs(void **state) {
  (void)state;
  for (int variant = 0; variant < 3; ++variant) for_all_spaces(add_spring, variant, "spring", true);
}

static void add_torsion(pair *p, int variant) {
  as_error error;
  as_torsion_def def = as_default_torsion_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.stiffness = variant == 2 ? 0.0 : 7.0;
  def.damping = variant == 1 ? 2.0 : 0.0;
  if (variant == 2) def.spring = def.damper = &progressive;
  if (as_builder_add_torsion(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_torsions(void **state) {
  (void)state;
  for (int variant = 0; variant < 3; ++variant)
    for_all_spaces(add_torsion, variant, "torsional spring", false);
}

static void add_load(pair *p, int variant) {
  as_error error;
  as_load_def def = as_default_load_def();
  def.frame = p->frame[1];
  def.follows = variant & 1;
  def.reaction = variant & 2 ? p->body[0] : AS_NONE;
  random_vector(5.0, def.force);
  random_vector(5.0, def.torque);
  def.factor = &swing;
  if (p->body[1] == AS_GROUND) return;
  if (as_builder_add_load(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_loads(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; ++variant) for_all_spaces(add_load, variant, "load", true);
}

// ---- rolling and skating ----------------------------------------------------------------------------

static void add_rolling(pair *p, int shape) {
  as_error error;
  as_rolling_def def = as_default_rolling_def();
  def.shape = (as_rolling_shape)shape;
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.radius = 0.7;
  if (as_builder_add_rolling(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void add_skate(pair *p, int variant) {
  (void)variant;
  as_error error;
  as_skate_def def = as_default_skate_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  if (as_builder_add_skate(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_rolling(void **state) {
  (void)state;
  for_all_spaces(add_rolling, AS_ROLLING_DISK, "rolling disk", false);
  for_all_spaces(add_rolling, AS_ROLLING_SPHERE, "rolling sphere", false);
  for_all_spaces(add_skate, 0, "skate", false);
}

// ---- a force that reads a joint's multipliers -------------------------------------------------------

/// On both bodies: f = -N (v, omega), N = sqrt(1 + |read|^2).
static int drag_evaluate(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  (void)data;
  const double *r = in->read;
  const double N = sqrt(1.0 + r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  for (int i = 0; i < 12; ++i) {
    const as_body_motion *body = in->body[i / 6];
    const double speed = i % 6 < 3 ? body->v[i % 6] : body->omega[i % 6 - 3];
    if (out->force) out->force[i] = -N * speed;
    if (out->f_v) out->f_v[13 * i] = -N;
    for (int k = 0; k < 3 && out->f_lambda; ++k) out->f_lambda[3 * i + k] = -speed * r[k] / N;
  }
  return AS_DONE;
}

static void add_drag(pair *p, int kind) {
  static const as_element_type type = {"drag", drag_evaluate, NULL, NULL};
  as_error error;
  as_joint_def joint = as_default_joint_def();
  as_element_def def = as_default_element_def();
  joint.kind = (as_joint_kind)kind;
  memcpy(joint.frame, p->frame, sizeof joint.frame);
  if (as_builder_add_joint(p->builder, &joint, &def.reads, &error)) fail_msg("%s", error.message);
  def.type = &type;
  def.n_bodies = 2;
  def.body[0] = p->body[0];
  def.body[1] = p->body[1];
  if (as_builder_add_element(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_reading(void **state) {
  (void)state;
  for_all_spaces(add_drag, AS_JOINT_SPHERICAL, "drag", true);
}

// ---- friction in joints -----------------------------------------------------------------------------

static const int coordinates[AS_JOINT_MOTION] = {
    [AS_JOINT_REVOLUTE] = 1,      [AS_JOINT_PRISMATIC] = 1,     [AS_JOINT_CYLINDRICAL] = 2,
    [AS_JOINT_SPHERICAL] = 3,     [AS_JOINT_UNIVERSAL] = 2,     [AS_JOINT_PLANAR] = 3,
    [AS_JOINT_POINT_ON_LINE] = 4, [AS_JOINT_POINT_ON_PLANE] = 5};

/// Dry and viscous; smooth on the scale of the differences.
static void add_friction(pair *p, int kind) {
  as_error error;
  as_joint_def joint = as_default_joint_def();
  joint.kind = (as_joint_kind)kind;
  memcpy(joint.frame, p->frame, sizeof joint.frame);
  as_joint_friction_def def = as_default_joint_friction_def();
  if (as_builder_add_joint(p->builder, &joint, &def.joint, &error)) fail_msg("%s", error.message);
  def.coefficient = kind <= AS_JOINT_SPHERICAL ? 0.4 : 0.0;
  def.radius = 0.3;
  def.length = 0.6;
  def.shoulder_radius = 0.5;
  def.transition_speed = 0.4;
  def.small_force = 0.7;
  for (int j = 0; j < coordinates[kind]; ++j) def.damping[j] = 0.5 + 0.3 * j;
  if (as_builder_add_joint_friction(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_friction(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    if (coordinates[kind] > 0) for_all_spaces(add_friction, kind, joint_name[kind], false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joints),   cmocka_unit_test(test_moving_joints),
      cmocka_unit_test(test_motions),  cmocka_unit_test(test_springs),
      cmocka_unit_test(test_torsions), cmocka_unit_test(test_loads),
      cmocka_unit_test(test_rolling),  cmocka_unit_test(test_reading),
      cmocka_unit_test(test_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
