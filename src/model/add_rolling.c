/// Adds disks and spheres that roll, and skates, to a builder.
#include <math.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/rolling.h"
#include "elements/vector.h"
#include "model/builder.h"

as_rolling_def as_default_rolling_def(void) {
  return (as_rolling_def){.cookie = ASI_COOKIE(as_rolling_def),
                          .frame = {AS_NO_FRAME, AS_NO_FRAME},
                          .body = {AS_NO_BODY, AS_NO_BODY},
                          .radius = (double)NAN};
}

as_skate_def as_default_skate_def(void) {
  return (as_skate_def){.cookie = ASI_COOKIE(as_skate_def),
                        .frame = {AS_NO_FRAME, AS_NO_FRAME},
                        .body = {AS_NO_BODY, AS_NO_BODY}};
}

// The cosine of an angle that counts as zero.
static const double nearly_one = 1.0 - 1e-12;

/// Two frames by what a description gives, for rolling and skates alike.
typedef struct sides_def {
  const char *name;
  const as_frame_id *frame;
  const as_body_id *body;
  const double *point[2];
  const double *axes[2];
} sides_def;

static as_status fail_axis(const char *name, const char *what, as_error *error) {
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The joint \"%s\" has no %s.", name,
                  what);
}

static bool is_direction(const double *a) { return asi_norm(a) > 0.0 && isfinite(asi_norm(a)); }

static as_status two_sides(const as_builder *b, const sides_def *def, asi_frame frame[2],
                           as_body_id body[2], as_error *error) {
  for (int s = 0; s < 2; ++s) {
    const asi_side_def given = {def->frame[s], def->body[s], def->point[s], def->axes[s]};
    asi_marker side;
    const as_status status = asi_builder_side(b, &given, ASI_SORT_JOINT, def->name, &side, error);
    if (status) return status;
    if (side.moving)
      return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, def->name,
                      "The joint \"%s\" is on a frame that moves against its body.", def->name);
    if (side.body >= 0 && b->body[side.body].body.n < 6)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, def->name,
                      "The joint \"%s\" needs the axes of the point mass \"%s\", which has none.",
                      def->name, asi_names_get(&b->names[ASI_SORT_BODY], side.body));
    frame[s] = side.frame;
    body[s] = (as_body_id){side.body};
  }
  if (as_body_equal(body[0], body[1]))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, def->name, "The joint \"%s\" joins %s%s with itself.",
        def->name, body[0].index < 0 ? "the ground" : "body ",
        body[0].index < 0 ? "" : asi_names_get(&b->names[ASI_SORT_BODY], body[0].index));
  return AS_OK;
}

/// Axis `i` of the first frame times axis `j` of the second, at the starting pose.
static double start_cosine(const as_builder *b, const asi_frame frame[2], const as_body_id body[2],
                           int i, int j) {
  double u[3], w[3];
  asi_rotate(asi_builder_pose(b, body[0].index)->R, frame[0].axis + 3 * i, u);
  asi_rotate(asi_builder_pose(b, body[1].index)->R, frame[1].axis + 3 * j, w);
  return asi_dot(u, w);
}

/// Appends the element; its data begin with a joint, whose frames reactions are seen in.
static as_status append(as_builder *b, as_element_def *element, as_joint_id *id, as_error *error) {
  element->n_bodies = 2;
  element->forceless = true;
  as_element_id added;
  const as_status status = as_builder_add_element(b, element, &added, error);
  if (status) return status;
  b->joint[added.joint.index].ours = true;
  if (id) *id = added.joint;
  return AS_OK;
}

static as_status rolling_axes(const as_rolling_def *def, const char *name, double plane[9],
                              double disk[9], as_error *error) {
  const double any[3] = {0};
  const bool is_disk = def->shape == AS_ROLLING_DISK;
  if (def->frame[0].index == ASI_NONE && !is_direction(def->normal))
    return fail_axis(name, "normal", error);
  if (def->frame[1].index == ASI_NONE && is_disk && !is_direction(def->axis))
    return fail_axis(name, "axis", error);
  if (!asi_triad(def->normal, 2, def->direction, 0, plane))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The normal and the direction of the joint \"%s\" are parallel or not finite.",
                    name);
  asi_triad(is_disk ? def->axis : any, 2, any, 0, disk);
  return AS_OK;
}

as_status as_builder_add_rolling(as_builder *b, const as_rolling_def *def, as_joint_id *id,
                                 as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_rolling_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_JOINT, def->name, store);
  double plane[9], disk[9];
  if (def->shape != AS_ROLLING_DISK && def->shape != AS_ROLLING_SPHERE)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The joint \"%s\" rolls with the unknown shape %d.", name, (int)def->shape);
  if (!(def->radius > 0.0 && isfinite(def->radius)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The radius of joint \"%s\" is %g m; it must be a positive number.", name,
                    def->radius);
  as_status status = rolling_axes(def, name, plane, disk, error);
  if (status) return status;
  asi_rolling data = {.radius = def->radius};
  as_element_def element = as_default_element_def();
  const sides_def sides = {name, def->frame, def->body, {def->point, def->center}, {plane, disk}};
  status = two_sides(b, &sides, data.joint.frame, element.body, error);
  if (status) return status;
  if (def->shape == AS_ROLLING_DISK &&
      fabs(start_cosine(b, data.joint.frame, element.body, 2, 2)) > nearly_one)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The disk of joint \"%s\" lies flat on its plane: it has no lowest point.",
                    name);
  element.name = def->name;
  element.type = def->shape == AS_ROLLING_DISK ? &asi_rolling_disk_type : &asi_rolling_sphere_type;
  element.n_rows = 1;
  element.n_velocity_rows = 2;
  element.data = &data;
  element.data_size = sizeof data;
  return append(b, &element, id, error);
}

as_status as_builder_add_skate(as_builder *b, const as_skate_def *def, as_joint_id *id,
                               as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_skate_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_JOINT, def->name, store);
  const double any[3] = {0};
  double plane[9], blade[9];
  if (def->frame[0].index == ASI_NONE && !is_direction(def->normal))
    return fail_axis(name, "normal", error);
  if (def->frame[1].index == ASI_NONE && !is_direction(def->direction))
    return fail_axis(name, "direction", error);
  asi_triad(def->normal, 2, any, 0, plane);
  asi_triad(def->direction, 0, any, 2, blade);
  asi_skate data = {.joint = {.length = 0.0}};
  as_element_def element = as_default_element_def();
  const sides_def sides = {name, def->frame, def->body, {def->point, def->point}, {plane, blade}};
  const as_status status = two_sides(b, &sides, data.joint.frame, element.body, error);
  if (status) return status;
  if (fabs(start_cosine(b, data.joint.frame, element.body, 2, 0)) > nearly_one)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The blade of joint \"%s\" is across the plane: it has no side.", name);
  element.name = def->name;
  element.type = &asi_skate_type;
  element.n_velocity_rows = 1;
  element.data = &data;
  element.data_size = sizeof data;
  return append(b, &element, id, error);
}
