/// Adds joints and prescribed motions to a builder.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/spring.h"
#include "elements/vector.h"
#include "model/builder.h"

as_joint_def as_default_joint_def(void) {
  return (as_joint_def){.cookie = ASI_COOKIE(as_joint_def),
                        .kind = AS_JOINT_NOT_GIVEN,
                        .frame = {AS_NO_FRAME, AS_NO_FRAME},
                        .body = {AS_NO_BODY, AS_NO_BODY},
                        .lead = (double)NAN};
}

as_motion_def as_default_motion_def(void) {
  return (as_motion_def){.cookie = ASI_COOKIE(as_motion_def), .joint = AS_NO_JOINT};
}

static bool is_zero(const double *a) { return a[0] == 0.0 && a[1] == 0.0 && a[2] == 0.0; }

/// The axes of a joint's frames in the world.
static as_status joint_axes(const as_joint_def *def, const char *name, double axes[9],
                            as_error *error) {
  const bool needs = def->kind != AS_JOINT_FIXED && def->kind != AS_JOINT_SPHERICAL &&
                     def->kind != AS_JOINT_DISTANCE;
  const bool universal = def->kind == AS_JOINT_UNIVERSAL;
  if (needs && is_zero(def->axis))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The %s joint \"%s\" has no axis.",
                    asi_joint_kind_name(def->kind), name);
  if (universal && is_zero(def->second_axis))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The universal joint \"%s\" has no second axis.", name);
  if (universal && !(fabs(asi_dot(def->axis, def->second_axis)) <=
                     1e-6 * asi_norm(def->axis) * asi_norm(def->second_axis)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The axes of the universal joint \"%s\" are not perpendicular.", name);
  static const double any[3] = {0};
  const double *beside = def->kind == AS_JOINT_CONSTANT_VELOCITY ? any : def->second_axis;
  const bool ok = universal ? asi_triad(def->axis, 0, def->second_axis, 1, axes)
                            : asi_triad(def->axis, 2, beside, 0, axes);
  if (!ok)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The axes of the joint \"%s\" are parallel or not finite.", name);
  return AS_OK;
}

/// Bends the axes so that z comes along `shaft`, on the shortest way: with the unit vectors z and w and n = z x w,
/// a -> a + n x a + n x (n x a)/(1 + z . w). False if they are opposite or not finite.
static bool bend_axes(const double *shaft, double axes[9]) {
  const double size = asi_norm(shaft);
  double n[3], z[3];
  asi_copy(axes + 6, z);
  asi_cross(z, shaft, n);
  for (int i = 0; i < 3; ++i) n[i] /= size;
  const double c = 1.0 + asi_dot(z, shaft) / size;
  if (!(c > 1e-6)) return false;
  for (int k = 0; k < 3; ++k) {
    double once[3], twice[3];
    asi_cross(n, axes + 3 * k, once);
    asi_cross(n, once, twice);
    asi_add(1.0, once, axes + 3 * k);
    asi_add(1.0 / c, twice, axes + 3 * k);
  }
  return true;
}

static as_status joint_sides(const as_builder *b, const as_joint_def *def, const char *name,
                             asi_marker side[2], as_error *error) {
  double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  as_status status = AS_OK;
  if (def->frame[0].index == ASI_NONE || def->frame[1].index == ASI_NONE)
    status = joint_axes(def, name, axes, error);
  const bool bent = def->kind == AS_JOINT_CONSTANT_VELOCITY && !is_zero(def->second_axis);
  for (int s = 0; s < 2 && status == AS_OK; ++s) {
    const bool other = s == 1 && def->kind == AS_JOINT_DISTANCE;
    if (s == 1 && bent && def->frame[1].index == ASI_NONE && !bend_axes(def->second_axis, axes))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The shafts of the joint \"%s\" are opposite or not finite.", name);
    const asi_side_def given = {def->frame[s], def->body[s], other ? def->second_point : def->point,
                                axes};
    status = asi_builder_side(b, &given, ASI_SORT_JOINT, name, &side[s], error);
  }
  if (status) return status;
  if (side[0].body == side[1].body)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The joint \"%s\" joins %s%s with itself.", name,
                    side[0].body < 0 ? "the ground" : "body ",
                    side[0].body < 0 ? "" : asi_names_get(&b->names[ASI_SORT_BODY], side[0].body));
  for (int s = 0; s < 2; ++s)
    if (side[s].body >= 0 && b->body[side[s].body].body.n < 6 && def->kind != AS_JOINT_SPHERICAL &&
        def->kind != AS_JOINT_DISTANCE &&
        !(s == 1 && (def->kind == AS_JOINT_POINT_ON_LINE || def->kind == AS_JOINT_POINT_ON_PLANE)))
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, name,
          "The %s joint \"%s\" needs the axes of the point mass \"%s\", which has none.",
          asi_joint_kind_name(def->kind), name,
          asi_names_get(&b->names[ASI_SORT_BODY], side[s].body));
  for (int s = 0; s < 2 && status == AS_OK; ++s) {
    if (def->frame[s].index != ASI_NONE) continue;
    double off[3]; // along a line and in a plane it does not matter
    asi_copy(side[s].frame.p, off);
    const double *z = side[s].frame.axis + 6, along = asi_dot(off, z);
    if (def->kind == AS_JOINT_POINT_ON_LINE) asi_add(-along, z, off);
    if (def->kind == AS_JOINT_POINT_ON_PLANE)
      for (int k = 0; k < 3; ++k) off[k] = along * z[k];
    status = asi_builder_check_offset(b, side[s].body, off, ASI_SORT_JOINT, name, error);
  }
  return status;
}

/// Appends the element of a joint, the joint and its name.
static as_status append(as_builder *b, const char *given_name, as_joint_kind kind,
                        const asi_moving_joint *m, const int body[2], bool moving, as_joint_id *id,
                        as_error *error) {
  static const size_t refs[] = {offsetof(asi_moving_joint, motion[0].shift[0]),
                                offsetof(asi_moving_joint, motion[0].shift[1]),
                                offsetof(asi_moving_joint, motion[0].shift[2]),
                                offsetof(asi_moving_joint, motion[0].turn),
                                offsetof(asi_moving_joint, motion[1].shift[0]),
                                offsetof(asi_moving_joint, motion[1].shift[1]),
                                offsetof(asi_moving_joint, motion[1].shift[2]),
                                offsetof(asi_moving_joint, motion[1].turn),
                                offsetof(asi_moving_joint, length)};
  asi_moving_joint data = *m;
  asi_element_flags flags = {0};
  flags.n_bodies = 2;
  flags.n_rows = asi_joint_rows(&data.joint);
  asi_joint_pattern(&data.joint, flags.f_q, flags.g_q, flags.gdot_q);
  const asi_element e = {.type = moving ? &asi_moving_joint_type : &asi_joint_type,
                         .body = {body[0], body[1]},
                         .n_bodies = 2,
                         .n_rows = flags.n_rows,
                         .rheonomic = moving};
  const size_t size = moving ? sizeof data : sizeof data.joint;
  const as_status status = asi_builder_element(
      b, &e, &flags, &data, size, refs, moving ? (int)(sizeof refs / sizeof refs[0]) : 0, error);
  if (status) return status;
  return asi_builder_joint(
      b, given_name,
      (asi_joint_info){.kind = kind, .element = b->n_elements - 1, .ours = true, .moving = moving},
      id, error);
}

/// The distance of two origins at the starting pose.
static double start_distance(const as_builder *b, const asi_marker side[2]) {
  double P[2][3];
  for (int s = 0; s < 2; ++s) {
    const as_body_motion *at = asi_builder_pose(b, side[s].body);
    asi_rotate(at->R, side[s].frame.p, P[s]);
    asi_add(1.0, at->x, P[s]);
  }
  return hypot(hypot(P[0][0] - P[1][0], P[0][1] - P[1][1]), P[0][2] - P[1][2]);
}

static as_status set_length(as_builder *b, const as_joint_def *def, const char *name,
                            const asi_marker side[2], asi_moving_joint *m, as_error *error) {
  char what[96];
  m->joint.length = start_distance(b, side);
  if (def->length == NULL && !(m->joint.length > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The points of the distance joint \"%s\" coincide at the start.", name);
  snprintf(what, sizeof what, "The length of joint \"%.48s\"", name);
  return asi_builder_motion(b, def->length, what, &m->length, error);
}

/// A screw that is as it is at the starting pose.
static as_status set_lead(const as_builder *b, const as_joint_def *def, const char *name,
                          const asi_marker side[2], asi_joint *joint, as_error *error) {
  if (!isfinite(def->lead) || def->lead == 0.0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The lead of the screw joint \"%s\" is %g m; it must be a number other than 0.",
                    name, def->lead);
  if (side[0].moving || side[1].moving)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, name,
                    "The screw joint \"%s\" has a frame that moves: add a motion of its angle "
                    "instead.",
                    name);
  const asi_frame_now A = asi_frame_at_rest(&side[0].frame), B = asi_frame_at_rest(&side[1].frame);
  const as_element_input at = {
      .body = {asi_builder_pose(b, side[0].body), asi_builder_pose(b, side[1].body)}};
  const as_element_output nothing = {0};
  asi_pair pair;
  double z[3];
  asi_pair_init(&pair, &at, &nothing, &A, &B, ASI_NEED_ALWAYS);
  asi_rotate(pair.a->R, A.axis + 6, z);
  joint->advance = def->lead / 6.283185307179586477;
  joint->offset = -asi_dot(z, pair.D) - joint->advance * asi_twist(pair.a, pair.b, &A, &B, 0.0);
  return AS_OK;
}

as_status as_builder_add_joint(as_builder *b, const as_joint_def *def, as_joint_id *id,
                               as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_joint_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_JOINT, def->name, store);
  if (def->kind == AS_JOINT_NOT_GIVEN)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The kind of the joint \"%s\" is not given.", name);
  if ((int)def->kind < 0 || def->kind >= AS_JOINT_MOTION)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The joint \"%s\" has the unknown kind %d.", name, (int)def->kind);
  const asi_mark mark = asi_builder_mark(b);
  asi_marker side[2];
  as_status status = joint_sides(b, def, name, side, error);
  if (status) return status;
  asi_moving_joint m = {.length = {-1, NULL}};
  bool moving = false;
  for (int s = 0; s < 2; ++s) {
    m.joint.frame[s] = side[s].frame;
    m.motion[s] = side[s].motion;
    if (!side[s].moving) {
      for (int k = 0; k < 3; ++k) m.motion[s].shift[k].index = -1;
      m.motion[s].turn.index = -1;
    }
    moving = moving || side[s].moving;
  }
  asi_joint_compose(&m.joint, def->kind);
  if (def->kind == AS_JOINT_DISTANCE) status = set_length(b, def, name, side, &m, error);
  if (def->kind == AS_JOINT_SCREW) status = set_lead(b, def, name, side, &m.joint, error);
  moving = moving || m.length.index >= 0;
  if (status == AS_OK) {
    const int body[2] = {side[0].body, side[1].body};
    status = append(b, def->name, def->kind, &m, body, moving, id, error);
  }
  if (status) asi_builder_reset(b, mark);
  return status;
}

/// The row of a coordinate that is to follow `law`, see axes.c and separation.c. The frame that moves is set
/// so that g = law - coordinate near zero: the multiplier drives the second body forward.
static void drive_row(asi_coordinate c, asi_curve_ref law, asi_moving_joint *m) {
  asi_frame_motion *A = &m->motion[0], *B = &m->motion[1];
  m->joint.n_parts = 1;
  switch (c.kind) {
  case ASI_COORDINATE_SHIFT: // u . (P_a + law u - P_b)
    m->joint.part[0] = (asi_row){ASI_ROW_SEPARATION, (signed char)c.axis, 0, 1};
    A->shift[c.axis] = law;
    break;
  case ASI_COORDINATE_ANGLE: // y of A, turned by law about z, against x of B: -sin(phi - law)
    m->joint.part[0] = (asi_row){ASI_ROW_AXES, 1, 0, -1};
    A->turn = law;
    A->turn_axis = 2;
    break;
  case ASI_COORDINATE_ANGLE_A: // z of A, turned by law about x, against y of B
    m->joint.part[0] = (asi_row){ASI_ROW_AXES, 2, 1, -1};
    A->turn = law;
    A->turn_axis = 0;
    break;
  case ASI_COORDINATE_ANGLE_B: // z of B, turned back by law about y, against x of A
    m->joint.part[0] = (asi_row){ASI_ROW_AXES, 0, 2, -1};
    B->turn = law;
    B->turn_axis = 1;
    B->turn_sign = -1.0;
    break;
  case ASI_COORDINATE_ROTATION:
  case ASI_COORDINATE_DIRECTION:
  case ASI_COORDINATE_HEADING: break;
  }
}

static as_status check_motion(const as_builder *b, const as_motion_def *def, const char *name,
                              asi_coordinate *c, as_error *error) {
  if (def->joint.index < 0 || def->joint.index >= b->n_joints || !b->joint[def->joint.index].ours)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The motion \"%s\" is of joint %d, which is not there or has no coordinates.",
                    name, def->joint.index);
  if (def->law == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The motion \"%s\" has no law.",
                    name);
  const asi_joint_info *joint = &b->joint[def->joint.index];
  const char *of = asi_names_get(&b->names[ASI_SORT_JOINT], def->joint.index);
  asi_coordinate all[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(joint->kind, all);
  if (def->coordinate < 0 || def->coordinate >= n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The motion \"%s\" is of coordinate %d of joint \"%s\", which has %d.", name,
                    def->coordinate, of, n);
  *c = all[def->coordinate];
  if (c->kind == ASI_COORDINATE_ROTATION)
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, name,
        "The motion \"%s\" is of a rotation vector of joint \"%s\", which cannot follow a "
        "function component by component: fix it to a frame that moves.",
        name, of);
  if (joint->moving)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, name,
                    "The motion \"%s\" is of joint \"%s\", which has a frame that moves already.",
                    name, of);
  return AS_OK;
}

as_status as_builder_add_motion(as_builder *b, const as_motion_def *def, as_joint_id *id,
                                as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_motion_def, def, error);
  if (made) return made;
  char store[32], what[96];
  const char *name = asi_builder_name(b, ASI_SORT_JOINT, def->name, store);
  const asi_mark mark = asi_builder_mark(b);
  asi_coordinate coordinate = {ASI_COORDINATE_SHIFT, 0};
  asi_curve_ref law;
  as_status status = check_motion(b, def, name, &coordinate, error);
  if (status) return status;
  snprintf(what, sizeof what, "The law of motion \"%.48s\"", name);
  status = asi_builder_motion(b, def->law, what, &law, error);
  if (status) return status;
  const asi_element *of = &b->element[b->joint[def->joint.index].element];
  asi_moving_joint m = {.length = {-1, NULL}};
  memcpy(&m.joint, b->data + of->data, sizeof m.joint);
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < 3; ++k) m.motion[s].shift[k].index = -1;
    m.motion[s].turn.index = -1;
    m.motion[s].turn_sign = 1.0;
  }
  drive_row(coordinate, law, &m);
  const int body[2] = {of->body[0], of->body[1]};
  status = append(b, def->name, AS_JOINT_MOTION, &m, body, true, id, error);
  if (status) asi_builder_reset(b, mark);
  return status;
}
