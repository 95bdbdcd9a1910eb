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
#include "elements/body.h"
#include "elements/spring.h"
#include "elements/vector.h"
#include "machines.h"

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

/// Half of any angle, or of nearly pi.
static double random_half(bool near_pi) {
  return near_pi ? 1.5707963267948966 + 5e-4 * random_number() : 3.0 * random_number();
}

/// A rotation by any angle, or by nearly pi.
static void random_quaternion(bool near_pi, double *q) {
  double axis[3], norm = 0.0;
  random_vector(1.0, axis);
  for (int i = 0; i < 3; ++i) norm += axis[i] * axis[i];
  const double half = random_half(near_pi);
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
  double spread; ///< of the points looked at
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
  as_body_id id = AS_NO_BODY;
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
  memcpy(def.inertia, inertia, (near_pi ? 3 : 6) * sizeof inertia[0]); // in principal axes, or not
  random_vector(1.0, def.position);
  if (kind != POINT) {
    random_vector(0.3, def.center_of_mass);
    random_quaternion(near_pi, def.quaternion);
  }
  if (as_builder_add_body(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

static pair pair_open(space first, space second, bool near_pi) {
  pair p = {.spread = 0.3};
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

static void compose(const double *p, const double *q, double *out) {
  out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  out[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  out[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/// Frames on two bodies whose z axes point much the same way, within 1 rad; turned against each other about z by
/// twice `half`.
static void aligned_frames(const as_body_id body[2], double half, as_frame_def frame[2]) {
  const double twist[4] = {cos(half), 0, 0, sin(half)};
  const double tilt = 0.5 * random_number(), about = 3.0 * random_number();
  const double bend[4] = {cos(tilt), sin(tilt) * cos(about), sin(tilt) * sin(about), 0};
  double turned[4];
  for (int s = 0; s < 2; ++s) {
    frame[s] = as_default_frame_def();
    frame[s].body = body[s];
    frame[s].in_world = true;
    random_vector(1.0, frame[s].position);
  }
  random_quaternion(random_number() > 0.0, frame[0].quaternion);
  compose(frame[0].quaternion, twist, turned);
  compose(turned, bend, frame[1].quaternion);
}

static void add_frames(as_builder *b, const as_frame_def def[2], as_frame_id out[2]) {
  as_error error;
  for (int s = 0; s < 2; ++s)
    if (as_builder_add_frame(b, &def[s], &out[s], &error)) fail_msg("%s", error.message);
}

/// Frames for a joint: any, but those of a screw and of a constant-velocity joint as aligned as they need to be.
static void joint_frames(const pair *p, int kind, as_frame_id out[2]) {
  as_frame_def frame[2];
  memcpy(out, p->frame, sizeof p->frame);
  if (kind != AS_JOINT_SCREW && kind != AS_JOINT_CONSTANT_VELOCITY) return;
  aligned_frames(p->body,
                 kind == AS_JOINT_SCREW ? random_half(random_number() > 0.0) : random_number(),
                 frame);
  add_frames(p->builder, frame, out);
}

/// Builds and checks; closes the builder.
static void pair_check(pair *p, const char *what, const char *spaces) {
  as_error error = {0};
  as_model *model = NULL;
  if (as_builder_build(p->builder, &model, &error))
    fail_msg("%s, %s: %s", what, spaces, error.message);
  as_builder_destroy(p->builder);
  double v[40], lambda[16], psi[8], zero = 0.0;
  for (int i = 0; i < 40; ++i) v[i] = random_number();
  for (int i = 0; i < 16; ++i) lambda[i] = 2.0 * random_number();
  for (int i = 0; i < 8; ++i) psi[i] = 2.0 * random_number();
  as_check_def def = as_default_check_def();
  def.near = (as_point){.t = 0.3, .q = as_model_initial(model)->q, .v = v, .lambda = lambda};
  def.near.psi = psi;
  def.near.x = def.near.y = &zero;
  def.near.u = as_model_initial(model)->u;
  def.spread = p->spread;
  def.seed = (unsigned)(seed >> 40);
  as_check_report report;
  if (as_problem_check(as_model_problem(model), &def, &report, &error))
    fail_msg("%s, %s: %s", what, spaces, error.message);
  as_model_destroy(model);
}

/// Calls `add` for every pair of spaces that it takes, or for every so many of them, others for other variants.
static void for_spaces(void (*add)(pair *p, int variant), int variant, const char *what,
                       bool points, int every) {
  int count = variant;
  seed = 1; // so that what is added here does not change the poses of others
  for (int round = 0; round < 2; ++round)
    for (int first = GROUND; first < SPACES; ++first)
      for (int second = GROUND; second < SPACES; ++second) {
        if (first == GROUND && second == GROUND) continue;
        if (!points && (is_point((space)first) || is_point((space)second))) continue;
        if (++count % every != 0) continue;
        char spaces[64];
        snprintf(spaces, sizeof spaces, "%s and %s", space_name[first], space_name[second]);
        pair p = pair_open((space)first, (space)second, round == 1);
        add(&p, variant);
        pair_check(&p, what, spaces);
      }
}

static void for_all_spaces(void (*add)(pair *p, int variant), int variant, const char *what,
                           bool points) {
  for_spaces(add, variant, what, points, 1);
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
static const as_curve formula = {.formula = "0.4 + sin(1.3*t)*(1 + 0.1*cos(t)^2)"};
// No point of the table lies where it is differenced: its third derivative jumps there.
static const double times[] = {-1.0, -0.2, 0.2, 0.9, 1.4}, places[] = {0.0, 0.3, -0.2, 0.4, 0.1};
static const as_curve table = {.x = times, .y = places, .n = 5};

static void add_joint(pair *p, int kind) {
  as_error error;
  as_joint_def def = as_default_joint_def();
  def.kind = (as_joint_kind)kind;
  def.lead = -9.0;
  joint_frames(p, kind, def.frame);
  if (as_builder_add_joint(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static const char *const joint_name[] = {
    "fixed",  "revolute",      "prismatic",      "cylindrical", "spherical", "universal",
    "planar", "point on line", "point on plane", "distance",    "screw",     "constant velocity"};

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
  as_frame_def frame[2];
  aligned_frames(p->body, 0.3 * random_number(), frame);
  for (int s = 0; s < 2; ++s) {
    if (kind != AS_JOINT_CONSTANT_VELOCITY) {
      frame[s].in_world = false;
      random_quaternion(s == 1, frame[s].quaternion);
    }
    frame[s].shift[s] = &table;
    frame[s].shift[2] = s ? &swing : &formula;
    frame[s].turn = s ? &formula : &table;
    frame[s].turn_axis = 2 - s;
  }
  add_frames(p->builder, frame, def.frame);
  const as_curve length = {.constant = 1.0, .slope = 0.3};
  def.length = kind == AS_JOINT_DISTANCE ? &length : NULL;
  if (as_builder_add_joint(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_moving_joints(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    if (kind != AS_JOINT_SCREW) // which refuses
      for_all_spaces(add_moving_joint, kind, joint_name[kind], false);
}

/// A joint and a motion of each of its coordinates, as far as they can be prescribed.
static void add_motions(pair *p, int kind) {
  static const int driven[AS_JOINT_MOTION] = {
      [AS_JOINT_REVOLUTE] = 1,       [AS_JOINT_PRISMATIC] = 1, [AS_JOINT_CYLINDRICAL] = 2,
      [AS_JOINT_UNIVERSAL] = 2,      [AS_JOINT_PLANAR] = 3,    [AS_JOINT_POINT_ON_LINE] = 1,
      [AS_JOINT_POINT_ON_PLANE] = 2, [AS_JOINT_SCREW] = 2};
  as_error error;
  as_motion_def def = as_default_motion_def();
  as_joint_def joint = as_default_joint_def();
  joint.kind = (as_joint_kind)kind;
  joint.lead = 11.0;
  joint_frames(p, kind, joint.frame);
  if (as_builder_add_joint(p->builder, &joint, &def.joint, &error)) fail_msg("%s", error.message);
  for (int c = 0; c < driven[kind]; ++c) {
    def.coordinate = c;
    def.law = c % 2 ? &table : kind % 2 ? &swing : &formula;
    if (as_builder_add_motion(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
  }
}

static void test_motions(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    for_all_spaces(add_motions, kind, joint_name[kind], false);
}

// ---- couplings --------------------------------------------------------------------------------------

/// Variants: bit 0 a rack, bit 1 four bodies instead of a carrier, bits 2 and 3 a joint turned round. The pair are
/// the wheels. Only the coupling counts: its joints are there for their frames.
static void add_coupling(pair *p, int variant) {
  as_error error;
  const bool near_pi = random_number() > 0.0, rack = variant & 1;
  const as_body_id carrier = add_body(p->builder, near_pi ? SE3 : R3SO3, near_pi);
  const as_body_id other = variant & 2 ? add_body(p->builder, R3SO3, near_pi) : carrier;
  as_joint_id joint[2];
  p->spread = 0.05; // well within a quarter of a tooth
  for (int s = 0; s < 2; ++s) {
    const bool back = variant & (4 << s);
    const as_body_id by = s ? other : carrier;
    as_joint_def def = as_default_joint_def();
    def.kind = s && rack ? AS_JOINT_PRISMATIC : AS_JOINT_REVOLUTE;
    as_frame_def frame[2];
    aligned_frames((as_body_id[]){back ? p->body[s] : by, back ? by : p->body[s]},
                   random_half(near_pi), frame);
    add_frames(p->builder, frame, def.frame);
    if (as_builder_add_joint(p->builder, &def, &joint[s], &error)) fail_msg("%s", error.message);
  }
  if (rack) {
    as_rack_def def = as_default_rack_def();
    def.pinion = joint[0];
    def.rack = joint[1];
    def.radius = variant & 4 ? -1.1 : 0.9;
    def.tooth.kind = AS_TOOTH_TORQUE;
    if (as_builder_add_rack(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
  } else {
    as_gear_def def = as_default_gear_def();
    def.joint[0] = joint[0];
    def.joint[1] = joint[1];
    def.teeth[0] = 34;
    def.teeth[1] = 51;
    def.internal = variant & 8;
    def.tooth.kind = AS_TOOTH_TORQUE;
    if (as_builder_add_gear(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
  }
}

static void test_couplings(void **state) {
  (void)state;
  for (int variant = 0; variant < 16; ++variant)
    for_all_spaces(add_coupling, variant, variant & 1 ? "rack" : "gear", false);
}

/// The force between teeth. Variants: bit 0 a rack, bits 1 and 2 a joint turned round, bit 3 a wheel in a ring, bit 4
/// helical, bit 5 the second axis points the other way or the rack goes backwards, bit 6 bevel, bit 7
/// two carriers. The frames of the carrier are as they
/// must be; wheels are a little off, as they are within an iteration.
static void add_teeth(pair *p, int variant) {
  as_error error;
  const bool rack = variant & 1, ring = variant & 8, opposite = variant & 32;
  const bool bevel = variant & 64;
  const as_body_id first_carrier = add_body(p->builder, SE3, false);
  const as_body_id second_carrier =
      variant & 128 ? add_body(p->builder, R3SO3, false) : first_carrier;
  const double half = 0.785398163397448;
  double place[3], first[4], second[4];
  as_joint_id joint[2];
  p->spread = 0.02;
  random_vector(1.0, place);
  random_quaternion(false, first);
  const double twist[4] = {cos(0.3), 0, 0, sin(0.3)}, over[4] = {0, 1, 0, 0};
  const double across[4] = {cos(half), 0, sin(half), 0};
  const double bent[4] = {cos(0.6), sin(0.6), 0, 0};
  compose(first, rack ? across : bevel ? bent : opposite ? over : twist, second);
  for (int s = 0; s < 2; ++s) {
    const bool back = variant & (2 << s);
    as_frame_def frame[2];
    as_joint_def def = as_default_joint_def();
    def.kind = s == 0 || bevel ? AS_JOINT_REVOLUTE
               : rack          ? AS_JOINT_PRISMATIC
                               : AS_JOINT_CYLINDRICAL;
    for (int side = 0; side < 2; ++side) {
      const bool wheel = side == (back ? 0 : 1);
      const double a = 0.1 * random_number(), c = 0.1 * random_number();
      const double bend[4] = {cos(a), sin(a) * cos(c), sin(a) * sin(c), 0};
      double off[3], turn[4];
      random_vector(0.05, off);
      frame[side] = as_default_frame_def();
      frame[side].body = wheel ? p->body[s] : s ? second_carrier : first_carrier;
      frame[side].in_world = true;
      for (int k = 0; k < 3; ++k)
        frame[side].position[k] = place[k] + (k == 0 && !bevel) * 1.5 * s + (wheel ? off[k] : 0.0);
      const double spin[4] = {cos(1.0), 0, 0, sin(1.0)};
      compose(s ? second : first, wheel ? bend : (double[]){1, 0, 0, 0}, turn);
      compose(turn, wheel && !(s && rack) ? spin : (double[]){1, 0, 0, 0}, frame[side].quaternion);
    }
    add_frames(p->builder, frame, def.frame);
    if (as_builder_add_joint(p->builder, &def, &joint[s], &error)) fail_msg("%s", error.message);
  }
  as_gear_def gear = as_default_gear_def();
  as_rack_def bar = as_default_rack_def();
  gear.tooth.kind = AS_TOOTH_FORCE;
  gear.tooth.helix_angle = variant & 16 ? 0.3 : 0.0;
  gear.tooth.small_force = 0.5;
  bar.tooth = gear.tooth;
  bar.pinion = gear.joint[0] = joint[0];
  bar.rack = gear.joint[1] = joint[1];
  bar.radius = opposite ? -0.4 : 0.6;
  gear.teeth[0] = 34;
  gear.teeth[1] = 51;
  gear.internal = ring != opposite;
  for (int k = 0; bevel && k < 3; ++k) { // z_2 z_1 + z_1 z_2
    const double *q[2] = {first, second};
    gear.tooth.point[k] = place[k];
    for (int s = 0; s < 2; ++s) {
      const double *a = q[s];
      const double z[3] = {2.0 * (a[1] * a[3] + a[0] * a[2]), 2.0 * (a[2] * a[3] - a[0] * a[1]),
                           1.0 - 2.0 * (a[1] * a[1] + a[2] * a[2])};
      gear.tooth.point[k] += 0.2 * z[k] * (s == 0 ? 3.0 : gear.internal ? -2.0 : 2.0);
    }
  }
  const as_status status = rack ? as_builder_add_rack(p->builder, &bar, NULL, &error)
                                : as_builder_add_gear(p->builder, &gear, NULL, &error);
  if (status) fail_msg("variant %d: %s", variant, error.message);
}

static void test_teeth(void **state) {
  (void)state;
  for (int variant = 0; variant < 256; ++variant) {
    const bool rack = variant & 1, bevel = variant & 64, turned = variant & 6;
    if ((bevel && (rack || variant & 32)) || (variant & 128 && turned)) continue;
    for_spaces(add_teeth, variant,
               rack    ? "teeth of a rack"
               : bevel ? "teeth of bevel wheels"
                       : "teeth of wheels",
               false, 5);
  }
}

// ---- forces -----------------------------------------------------------------------------------------

static const double strains[] = {-1.0, 0.0, 0.5, 1.5}, tensions[] = {-30.0, 0.0, 8.0, 40.0};
static const as_curve progressive = {
    .x = strains, .y = tensions, .n = 4, .interpolation = AS_SPLINE};

/// A parameter and a table for formulas.
static void add_names(pair *p) {
  as_error error;
  if (as_builder_add_parameter(p->builder, "gain", 1.7, NULL, &error) ||
      as_builder_add_table(p->builder, "soft", &progressive, &error))
    fail_msg("%s", error.message);
}

static void add_spring(pair *p, int variant) {
  static const as_curve spring = {.formula = "gain*deflection^3 + 0.3*sin(t)*length"},
                        damper = {.formula = "tanh(length_rate)*gain + 0.2*soft(length_rate)"};
  static const as_surface law = {.formula =
                                     "5*sin(deflection + t) + 2*length_rate*exp(0.1*length)"};
  as_error error;
  as_spring_def def = as_default_spring_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.stiffness = variant == 2 ? 0.0 : 11.0;
  def.damping = variant == 1 ? 3.0 : 0.0;
  def.length = 0.4;
  if (variant == 2) def.spring = def.damper = &progressive;
  if (variant == 3) {
    add_names(p);
    def.spring = &spring;
    def.damper = &damper;
    def.law = &law;
  }
  if (as_builder_add_spring(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_springs(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; ++variant) for_all_spaces(add_spring, variant, "spring", true);
}

/// A body moved by h along or about one of its six directions: displacements in the world, turns in the body.
static void move_body(as_body_motion *body, int k, double h) {
  const double c = cos(h), s = sin(h),
               turn[3][9] = {{1, 0, 0, 0, c, -s, 0, s, c},
                             {c, 0, s, 0, 1, 0, -s, 0, c},
                             {c, -s, 0, s, c, 0, 0, 0, 1}};
  double R[9];
  if (k < 3) body->x[k] += h;
  if (k < 3) return;
  asi_multiply(body->R, turn[k - 3], R);
  memcpy(body->R, R, sizeof R);
}

/// Points that coincide to the last bit, away from the bodies' origins: a spring and a damper at rest are stiff in all
/// directions alike. The tangents against differences; places and half turns are exact numbers.
static void test_springs_of_no_length(void **state) {
  (void)state;
  const double h = 1e-5;
  asi_spring spring = {.law = {.stiffness = 11.0, .damping = 3.0}};
  as_body_motion body[2] = {asi_ground_motion, asi_ground_motion};
  memcpy(body[0].x, (double[]){0.0, 0.5, -0.25}, sizeof body[0].x);
  memcpy(body[1].x, (double[]){1.0, 0.5, -0.25}, sizeof body[1].x);
  memcpy(body[1].R, (double[]){-1, 0, 0, 0, 1, 0, 0, 0, -1}, sizeof body[1].R);
  memcpy(spring.ends.frame[0].p, (double[]){0.5, -1.25, 1.5}, sizeof spring.ends.frame[0].p);
  memcpy(spring.ends.frame[1].p, (double[]){0.5, -1.25, -1.5}, sizeof spring.ends.frame[1].p);
  double f_q[144] = {0}, f_v[144] = {0};
  const as_element_input in = {.body = {&body[0], &body[1]}};
  assert_int_equal(
      asi_spring_type.evaluate(&in, &(as_element_output){.f_q = f_q, .f_v = f_v}, &spring),
      AS_DONE);
  for (int j = 0; j < 24; ++j) {
    double f[2][12] = {{0}};
    const double *found = j < 12 ? f_q : f_v;
    for (int side = 0; side < 2; ++side) {
      as_body_motion moved[2] = {body[0], body[1]};
      const double by = side ? h : -h;
      const int k = j % 6;
      if (j < 12)
        move_body(&moved[j / 6], k, by);
      else
        *(k < 3 ? &moved[j / 6 - 2].v[k] : &moved[j / 6 - 2].omega[k - 3]) = by;
      const as_element_input there = {.body = {&moved[0], &moved[1]}};
      assert_int_equal(
          asi_spring_type.evaluate(&there, &(as_element_output){.force = f[side]}, &spring),
          AS_DONE);
    }
    for (int i = 0; i < 12; ++i) {
      const double expected = (f[1][i] - f[0][i]) / (2.0 * h);
      if (!(fabs(found[12 * i + j % 12] - expected) < 1e-6))
        fail_msg("%s (%d, %d): %g, not %g", j < 12 ? "f_q" : "f_v", i, j % 12,
                 found[12 * i + j % 12], expected);
    }
  }
}

/// One that runs through its own point has the damper's force there as right before and right after.
static void test_damper_through_its_point(void **state) {
  (void)state;
  double force[3];
  for (int k = -1; k <= 1; ++k) {
    as_error error;
    as_wrench on;
    as_builder *b = machine_builder(0, 0, 0);
    const double x = 1e-9 * k;
    const as_body_id body =
        machine_point(b, "mass", 2.0, (double[]){0.6 * x, 0.8 * x, 0.0}, (double[]){3, 4, 0});
    as_spring_def def = as_default_spring_def();
    def.body[0] = AS_GROUND;
    def.body[1] = body;
    memcpy(def.point[1], (double[]){0.6 * x, 0.8 * x, 0.0}, sizeof def.point[1]);
    def.damping = 7.0;
    def.length = 0.0;
    if (as_builder_add_spring(b, &def, NULL, &error)) fail_msg("%s", error.message);
    as_model *m = machine_build(b);
    const as_state at = {.q = as_model_initial(m)->q, .v = as_model_initial(m)->v};
    if (as_model_force(m, &at, (as_force_id){0}, 1, &on, &error)) fail_msg("%s", error.message);
    force[k + 1] = on.force[0];
    as_model_destroy(m);
  }
  for (int k = 0; k < 3; ++k)
    if (!(fabs(force[k] + 21.0) < 1e-6)) fail_msg("%d: %g N, not -21 N", k - 1, force[k]);
}

static void add_torsion(pair *p, int variant) {
  static const as_curve spring = {.formula = "gain*sin(deflection) + 0.3*sin(t)*cos(angle)"},
                        damper = {.formula = "tanh(angle_rate)*gain"};
  static const as_surface law = {.formula = "2*angle_rate*exp(0.1*angle)*gain"};
  as_error error;
  as_torsion_def def = as_default_torsion_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.stiffness = variant == 2 ? 0.0 : 7.0;
  def.damping = variant == 1 ? 2.0 : 0.0;
  if (variant == 2) def.spring = def.damper = &progressive;
  if (variant == 3) {
    add_names(p);
    def.spring = &spring;
    def.damper = &damper;
    def.law = &law;
  }
  if (as_builder_add_torsion(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_torsions(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; ++variant)
    for_all_spaces(add_torsion, variant, "torsional spring", false);
}

/// Tension or torque of two variables: a function, and tables of either kind.
static int softening(double x, double y, double out[3], void *user) {
  (void)user;
  out[0] = 5.0 * sin(x) + 2.0 * y * exp(0.1 * x);
  out[1] = 5.0 * cos(x) + 0.2 * y * exp(0.1 * x);
  out[2] = 2.0 * exp(0.1 * x);
  return AS_DONE;
}

static const double grid_x[] = {-40.0, 40.0}, grid_y[] = {-60.0, 60.0},
                    grid_z[] = {-90.0, -11.0, 7.0, 80.0};
static const as_surface surface[3] = {
    {.function = softening},
    {.x = grid_x, .y = grid_y, .z = grid_z, .nx = 2, .ny = 2, .interpolation = AS_LINEAR},
    {.x = grid_x, .y = grid_y, .z = grid_z, .nx = 2, .ny = 2, .interpolation = AS_MONOTONE}};

static void add_surface_spring(pair *p, int variant) {
  as_error error;
  as_spring_def def = as_default_spring_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.length = 0.4;
  def.law = &surface[variant];
  if (as_builder_add_spring(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void add_surface_torsion(pair *p, int variant) {
  as_error error;
  as_torsion_def def = as_default_torsion_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.law = &surface[variant];
  if (as_builder_add_torsion(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_surfaces(void **state) {
  (void)state;
  for (int variant = 0; variant < 3; ++variant) {
    for_all_spaces(add_surface_spring, variant, "spring with a surface", true);
    for_all_spaces(add_surface_torsion, variant, "torsional spring with a surface", false);
  }
}

/// Gives the pair frames whose axes differ by less than a radian, somewhere in the world: what measures angles is
/// smooth around there.
static void align_frames(pair *p) {
  as_error error;
  double q[4], w[3];
  random_quaternion(true, q);
  for (int s = 0; s < 2; ++s) {
    as_frame_def frame = as_default_frame_def();
    frame.body = p->body[s];
    frame.in_world = true;
    random_vector(1.0, frame.position);
    memcpy(frame.quaternion, q, sizeof q);
    if (as_builder_add_frame(p->builder, &frame, &p->frame[s], &error))
      fail_msg("%s", error.message);
    random_vector(0.25, w); // q o (1, w), normalized
    const double n = 1.0 / sqrt(1.0 + w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    const double r[4] = {n * q[0], n * q[1], n * q[2], n * q[3]};
    q[0] = r[0] - r[1] * w[0] - r[2] * w[1] - r[3] * w[2];
    q[1] = r[1] + r[0] * w[0] + r[2] * w[2] - r[3] * w[1];
    q[2] = r[2] + r[0] * w[1] + r[3] * w[0] - r[1] * w[2];
    q[3] = r[3] + r[0] * w[2] + r[1] * w[1] - r[2] * w[0];
  }
}

/// Gives the pair frames that move.
static void move_frames(pair *p) {
  as_error error;
  for (int s = 0; s < 2; ++s) {
    as_frame_def frame = as_default_frame_def();
    frame.body = p->body[s];
    random_vector(1.0, frame.position);
    random_quaternion(s == 1, frame.quaternion);
    frame.shift[s] = &table;
    frame.shift[2] = &swing;
    frame.turn = s ? &swing : &table;
    frame.turn_axis = 2 - s;
    if (as_builder_add_frame(p->builder, &frame, &p->frame[s], &error))
      fail_msg("%s", error.message);
  }
}

static void add_bushing(pair *p, int variant) {
  as_error error;
  as_bushing_def def = as_default_bushing_def();
  double K[36], C[36], G[36], H[36]; // K = G G^T, C = H H^T: full, without negative eigenvalues
  align_frames(p);
  memcpy(def.frame, p->frame, sizeof def.frame);
  for (int i = 0; i < 6; ++i) {
    def.stiffness[i] = 3.0 + i;
    def.damping[i] = variant == 0 ? 0.0 : 0.3 + 0.2 * i;
  }
  for (int i = 0; i < 36; ++i) {
    G[i] = random_number();
    H[i] = random_number();
  }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      K[6 * i + j] = C[6 * i + j] = 0.0;
      for (int k = 0; k < 6; ++k) {
        K[6 * i + j] += G[6 * i + k] * G[6 * j + k];
        C[6 * i + j] += H[6 * i + k] * H[6 * j + k];
      }
    }
  def.stiffness_matrix = variant == 2 ? K : NULL;
  def.damping_matrix = variant == 2 ? C : NULL;
  const as_surface along = {.formula = "gain*displacement^3 + 0.2*displacement_rate*cos(t)"},
                   about = {.formula = "sin(2*angle)*(1 + 0.1*angle_rate) + soft(angle_rate)"};
  if (variant == 2) {
    add_names(p);
    for (int i = 0; i < 6; ++i) def.law[i] = i == 1 || i == 5 ? NULL : i < 3 ? &along : &about;
  }
  if (as_builder_add_bushing(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_bushings(void **state) {
  (void)state;
  for (int variant = 0; variant < 3; ++variant)
    for_all_spaces(add_bushing, variant, "bushing", false);
}

/// Springs and loads between frames that move.
static void add_moving_force(pair *p, int variant) {
  move_frames(p);
  if (variant == 0) add_spring(p, 1);
  if (variant == 1) add_torsion(p, 1);
  if (variant < 2 || p->body[1].index == AS_GROUND.index) return;
  as_error error;
  as_load_def load = as_default_load_def();
  load.frame = p->frame[1];
  load.reaction = p->body[0];
  load.follows = variant == 3;
  random_vector(5.0, load.force);
  random_vector(5.0, load.torque);
  if (as_builder_add_load(p->builder, &load, NULL, &error)) fail_msg("%s", error.message);
}

static void test_moving_forces(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; ++variant)
    for_all_spaces(add_moving_force, variant, "force on moving frames", false);
}

/// Stops that are pressed, by a radian or by metres. Bit 0: damped; bit 1: at the lower limit; bit 2: by formula.
static int stop_joint, stop_coordinate;

static void add_stop(pair *p, int variant) {
  as_error error;
  as_joint_def joint = as_default_joint_def();
  as_stop_def def = as_default_stop_def();
  align_frames(p);
  joint.kind = (as_joint_kind)stop_joint;
  memcpy(joint.frame, p->frame, sizeof joint.frame);
  if (as_builder_add_joint(p->builder, &joint, &def.joint, &error)) fail_msg("%s", error.message);
  def.coordinate = stop_coordinate;
  const bool shift = stop_joint != AS_JOINT_REVOLUTE && stop_joint != AS_JOINT_UNIVERSAL &&
                     !(stop_joint == AS_JOINT_CYLINDRICAL && stop_coordinate == 1) &&
                     !(stop_joint == AS_JOINT_PLANAR && stop_coordinate == 2);
  if (variant & 2)
    def.lower = shift ? 9.0 : 1.5;
  else
    def.upper = shift ? -9.0 : -1.5;
  def.law = (as_penalty){.stiffness = 4.0, .exponent = 2.3, .onset = 0.02};
  if (variant & 1) def.law.damping = 0.7;
  const as_curve elastic = {.formula = "gain*depth*(1 + 0.1*cos(t + depth))"};
  const as_surface whole = {.formula = "depth*(5 + sin(t)) + gain*(1 + 0.1*tanh(depth_rate))"};
  if (variant & 4) {
    add_names(p);
    def.law.curve = variant & 1 ? &elastic : NULL;
    def.law.surface = variant & 1 ? NULL : &whole;
  }
  if (as_builder_add_stop(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_stops(void **state) {
  (void)state;
  static const int coordinates[AS_JOINT_MOTION] = {
      [AS_JOINT_REVOLUTE] = 1,      [AS_JOINT_PRISMATIC] = 1, [AS_JOINT_CYLINDRICAL] = 2,
      [AS_JOINT_UNIVERSAL] = 2,     [AS_JOINT_PLANAR] = 3,    [AS_JOINT_POINT_ON_LINE] = 1,
      [AS_JOINT_POINT_ON_PLANE] = 2};
  for (stop_joint = 0; stop_joint < AS_JOINT_MOTION; ++stop_joint)
    for (stop_coordinate = 0; stop_coordinate < coordinates[stop_joint]; ++stop_coordinate)
      for (int variant = 0; variant < 8; variant += variant < 4 || stop_coordinate > 0 ? 1 : 8)
        for_spaces(add_stop, variant, joint_name[stop_joint], false, 2);
}

/// Deep contact, so that the points around are in contact too. Bit 0: damped; bit 1: with friction; bit 2: a point;
/// bit 3: by formula.
static void add_contact(pair *p, int variant) {
  as_error error;
  as_contact_def def = as_default_contact_def();
  memcpy(def.frame, p->frame, sizeof def.frame);
  def.law = (as_penalty){.stiffness = 0.5, .exponent = 1.5, .onset = 1.0};
  def.law.damping = variant & 1 ? 0.3 : 0.0;
  def.friction = variant & 2 ? 0.6 : 0.0;
  def.slip_speed = 0.8;
  const as_surface whole = {.formula = "gain*depth*(5 + 0.3*depth_rate/(1 + depth_rate^2))"};
  const as_curve rub = {.formula = "0.3 + 0.2*gain*exp(-(speed/4)^2) + 0.01*soft(speed)*sin(t)"};
  if (variant & 8) {
    add_names(p);
    def.law.surface = &whole;
    def.friction_law = &rub;
  }
  if (variant & 4) { // the plane far above the point
    as_frame_def frame = as_default_frame_def();
    frame.body = p->body[0];
    random_quaternion(false, frame.quaternion);
    const double *q = frame.quaternion; // 9 m along its own z
    frame.position[0] = 18.0 * (q[1] * q[3] + q[0] * q[2]);
    frame.position[1] = 18.0 * (q[2] * q[3] - q[0] * q[1]);
    frame.position[2] = 9.0 * (1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]));
    if (as_builder_add_frame(p->builder, &frame, &def.frame[0], &error))
      fail_msg("%s", error.message);
  } else {
    def.radius = 9.0;
  }
  const as_status status = as_builder_add_contact(p->builder, &def, NULL, &error);
  if (status && strstr(error.message, "the axes of the point mass")) return; // no plane on it
  if (status) fail_msg("%s", error.message);
}

static void test_contacts(void **state) {
  (void)state;
  for (int variant = 0; variant < 16; variant += variant < 8 ? 1 : 4)
    for_all_spaces(add_contact, variant, "contact", true);
}

static void add_load(pair *p, int variant) {
  as_error error;
  as_load_def def = as_default_load_def();
  def.frame = p->frame[1];
  def.follows = variant & 1;
  def.reaction = variant & 2 ? p->body[0] : AS_NO_BODY;
  random_vector(5.0, def.force);
  random_vector(5.0, def.torque);
  def.factor = &swing;
  if (p->body[1].index == AS_GROUND.index) return;
  as_status status = as_builder_add_load(p->builder, &def, NULL, &error);
  if (status && strstr(error.message, "which does not turn")) { // a point mass: force alone
    memset(def.torque, 0, sizeof def.torque);
    status = as_builder_add_load(p->builder, &def, NULL, &error);
  }
  if (status) fail_msg("%s", error.message);
}

static void test_loads(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; ++variant) for_all_spaces(add_load, variant, "load", true);
}

// ---- rolling and skating ----------------------------------------------------------------------------

/// Forces by formula, of what frames do on bodies of every kind.
static void add_formula_force(pair *p, int variant) {
  static const char *const formulas[] = {
      "'frames.frame 0.position.x'*'frames.frame 1.velocity.y' + 3*'frames.frame 0.position.z'",
      "'frames.frame 1.distance.frame 0'^2 - 'frames.frame 0.distance_rate.frame 1'*2",
      "sin('frames.frame 0.velocity.z')*'frames.frame 1.position.y' + t",
      "'frames.frame 1.angular_velocity.x'*'frames.frame 0.angular_velocity.y'"};
  as_error error;
  if (variant < 4) {
    as_actuator_def def = as_default_actuator_def();
    memcpy(def.frame, p->frame, sizeof def.frame);
    def.force = formulas[variant];
    if (as_builder_add_actuator(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
    return;
  }
  as_load_def def = as_default_load_def();
  if (p->body[1].index == AS_GROUND.index) return;
  def.frame = p->frame[1];
  def.follows = variant == 5;
  def.force[0] = 2.0;
  def.force_formula[1] = formulas[0];
  def.force_formula[2] = formulas[variant - 3];
  if (as_builder_add_load(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_formula_forces(void **state) {
  (void)state;
  for (int variant = 0; variant < 6; ++variant)
    for_all_spaces(add_formula_force, variant, "force by formula", true);
}

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
static void add_friction(pair *p, int variant) {
  const int kind = variant % AS_JOINT_MOTION;
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
  const as_curve rub = {.formula = "0.3 + 0.2*gain*exp(-(speed/2)^2) + 0.02*speed*cos(t)"};
  if (variant >= AS_JOINT_MOTION) {
    add_names(p);
    def.coefficient_law = &rub;
  }
  if (as_builder_add_joint_friction(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

static void test_friction(void **state) {
  (void)state;
  for (int kind = 0; kind < AS_JOINT_MOTION; ++kind)
    if (coordinates[kind] > 0) for_all_spaces(add_friction, kind, joint_name[kind], false);
  for (int kind = 0; kind <= AS_JOINT_SPHERICAL; ++kind)
    if (coordinates[kind] > 0)
      for_all_spaces(add_friction, AS_JOINT_MOTION + kind, "coefficient by formula", false);
}

// ---- elements of others, with patterns of their own ---------------------------------------------------

/// w_y of a body in its own axes is 0.3 rad/s; and by how much a body moves along x another is turned about its own x.
static int spin_row(const as_element_input *in, const as_element_output *out, const void *data) {
  (void)data;
  if (out->k) out->k[0] = in->body[0]->omega[1] - 0.3;
  if (out->k_v) out->k_v[4] += 1.0;
  return AS_DONE;
}

static int turned_by_speed(const as_element_input *in, const as_element_output *out,
                           const void *data) {
  (void)data;
  if (out->force) out->force[3] -= 2.0 * in->body[1]->v[0];
  if (out->f_v) out->f_v[3 * 12 + 6] -= 2.0;
  return AS_DONE;
}

static void add_own(pair *p, int variant) {
  static const as_element_type spin = {.kind = "spin", .evaluate = spin_row};
  static const as_element_type turned = {.kind = "turned", .evaluate = turned_by_speed};
  static const bool none[144], k_v[12] = {[4] = true}, f_v[144] = {[3 * 12 + 6] = true};
  as_error error;
  as_element_def def = as_default_element_def();
  def.type = variant == 0 ? &spin : &turned;
  def.n_bodies = variant + 1;
  def.n_velocity_rows = variant == 0;
  def.forceless = variant == 0;
  def.body[0] = variant == 0 && p->body[0].index == AS_GROUND.index ? p->body[1] : p->body[0];
  def.body[1] = variant == 0 ? AS_GROUND : p->body[1];
  def.pattern = (as_element_pattern){.f_q = none, .k_q = none, .k_v = k_v};
  if (variant == 1) def.pattern.f_v = f_v;
  if (as_builder_add_element(p->builder, &def, NULL, &error)) fail_msg("%s", error.message);
}

/// What depends on their numbers through the coordinates of bodies and nodes is found by the library.
static void test_own_patterns(void **state) {
  (void)state;
  for_all_spaces(add_own, 0, "spin", false);
  for_all_spaces(add_own, 1, "turned by speed", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_patterns),
                                     cmocka_unit_test(test_joints),
                                     cmocka_unit_test(test_moving_joints),
                                     cmocka_unit_test(test_motions),
                                     cmocka_unit_test(test_couplings),
                                     cmocka_unit_test(test_teeth),
                                     cmocka_unit_test(test_springs),
                                     cmocka_unit_test(test_springs_of_no_length),
                                     cmocka_unit_test(test_damper_through_its_point),
                                     cmocka_unit_test(test_torsions),
                                     cmocka_unit_test(test_loads),
                                     cmocka_unit_test(test_surfaces),
                                     cmocka_unit_test(test_bushings),
                                     cmocka_unit_test(test_moving_forces),
                                     cmocka_unit_test(test_stops),
                                     cmocka_unit_test(test_contacts),
                                     cmocka_unit_test(test_rolling),
                                     cmocka_unit_test(test_friction),
                                     cmocka_unit_test(test_reading),
                                     cmocka_unit_test(test_formula_forces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
