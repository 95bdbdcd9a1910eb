/// Adds friction in joints to a builder.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/friction.h"
#include "model/builder.h"

as_joint_friction_def as_default_joint_friction_def(void) {
  return (as_joint_friction_def){.joint = AS_NONE, .transition_speed = 1e-3, .small_force = 1e-3};
}

/// A number that must be positive, or may be zero.
static as_status check_number(double value, bool positive, const char *name, const char *what,
                              as_error *error) {
  if (isfinite(value) && (positive ? value > 0.0 : value >= 0.0)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The %s of friction \"%s\" is %g; it must be a %s.", what, name, value,
                  positive ? "positive number" : "number that is not negative");
}

static as_status check_numbers(const as_joint_friction_def *def, as_joint_kind kind,
                               const char *name, as_error *error) {
  const bool rubs = def->coefficient > 0.0;
  const struct {
    double value;
    bool positive;
    const char *what;
  } numbers[] = {{def->coefficient, false, "coefficient"},
                 {def->radius, rubs && kind != AS_JOINT_PRISMATIC, "radius"},
                 {def->length, false, "length"},
                 {def->shoulder_radius, false, "shoulder radius"},
                 {def->transition_speed, true, "transition speed"},
                 {def->small_force, true, "small force"}};
  as_status status = AS_OK;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && status == AS_OK; ++i)
    status = check_number(numbers[i].value, numbers[i].positive, name, numbers[i].what, error);
  for (int j = 0; j < AS_JOINT_COORDINATES && status == AS_OK; ++j)
    status = check_number(def->damping[j], false, name, "damping", error);
  return status;
}

/// Whether there is such a joint, and friction for it.
static as_status check_joint(const as_builder *b, const as_joint_friction_def *def,
                             const char *name, as_error *error) {
  if (def->joint < 0 || def->joint >= b->n_joints)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The friction \"%s\" is in joint %d, which is not there.", name, def->joint);
  const asi_joint_info *joint = &b->joint[def->joint];
  const char *of = asi_names_get(&b->names[ASI_SORT_JOINT], def->joint);
  asi_coordinate c[AS_JOINT_COORDINATES];
  const int n = joint->ours ? asi_joint_coordinates(joint->kind, c) : 0;
  if (n == 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The friction \"%s\" is in joint \"%s\", which has no coordinates.", name, of);
  for (int j = n; j < AS_JOINT_COORDINATES; ++j)
    if (def->damping[j] != 0.0)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The friction \"%s\" damps coordinate %d of joint \"%s\", which has %d.",
                      name, j, of, n);
  if (joint->moving)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, name,
                    "The friction \"%s\" is in joint \"%s\", which has a frame that moves.", name,
                    of);
  if (def->coefficient > 0.0 && !asi_friction_is_known(joint->kind))
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, name,
        "The friction \"%s\" is in the %s joint \"%s\": there is a coefficient only for revolute, "
        "prismatic, cylindrical and spherical joints.",
        name, asi_joint_kind_name(joint->kind), of);
  return AS_OK;
}

/// A point mass has no rotation that could be resisted.
static as_status check_turns(const as_builder *b, const asi_friction *f, const int body[2],
                             const char *name, as_error *error) {
  bool turns = f->n_pads > 0;
  for (int j = 0; j < f->n_coordinates; ++j)
    turns = turns || (f->coordinate[j].kind != ASI_COORDINATE_SHIFT && f->damping[j] > 0.0);
  for (int s = 0; s < 2 && turns; ++s)
    if (body[s] >= 0 && b->body[body[s]].body.n < 6)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The friction \"%s\" resists turns of the point mass \"%s\".", name,
                      asi_names_get(&b->names[ASI_SORT_BODY], body[s]));
  return AS_OK;
}

as_status as_builder_add_joint_friction(as_builder *b, const as_joint_friction_def *def,
                                        as_force_id *id, as_error *error) {
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  as_status status = check_joint(b, def, name, error);
  if (status) return status;
  const as_joint_kind kind = b->joint[def->joint].kind;
  const asi_element *of = &b->element[b->joint[def->joint].element];
  status = check_numbers(def, kind, name, error);
  if (status) return status;
  asi_friction data = {
      .coefficient = def->coefficient, .speed = def->transition_speed, .small = def->small_force};
  asi_joint joint;
  memcpy(&joint, b->data + of->data, sizeof joint);
  memcpy(data.frame, joint.frame, sizeof data.frame);
  memcpy(data.damping, def->damping, sizeof data.damping);
  data.n_coordinates = asi_joint_coordinates(kind, data.coordinate);
  if (def->coefficient > 0.0)
    asi_friction_compose(&data, kind, def->radius, def->length, def->shoulder_radius);
  status = check_turns(b, &data, of->body, name, error);
  if (status) return status;
  bool f_q[ASI_PAIR * ASI_PAIR] = {0}, f_v[ASI_PAIR * ASI_PAIR] = {0};
  bool f_lambda[ASI_PAIR * AS_ELEMENT_ROWS] = {0};
  asi_friction_pattern(&data, f_q, f_v, f_lambda);
  as_element_def element = as_default_element_def();
  element.name = def->name;
  element.type = &asi_friction_type;
  element.n_bodies = 2;
  memcpy(element.body, of->body, 2 * sizeof element.body[0]);
  element.data = &data;
  element.data_size = sizeof data;
  element.reads = data.n_pads > 0 ? def->joint : AS_NONE;
  element.pattern = (as_element_pattern){.f_q = f_q, .f_v = f_v, .f_lambda = f_lambda};
  return as_builder_add_element(b, &element, id, error);
}
