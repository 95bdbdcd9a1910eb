/// Adds friction in joints to a builder.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/friction.h"
#include "model/add_force.h"

as_joint_friction_def as_default_joint_friction_def(void) {
  return (as_joint_friction_def){.cookie = ASI_COOKIE(as_joint_friction_def),
                                 .joint = AS_NO_JOINT,
                                 .transition_speed = 1e-3,
                                 .small_force = 1e-3};
}

/// A function that is a number after all.
static bool is_constant(const asi_curve *c, double *out) {
  double at[3] = {0};
  if (c->formula && asi_formula_expression(c->formula)->n_slots > 0) return false;
  if (!c->formula && (c->given.function || c->n > 0 || c->given.slope != 0.0)) return false;
  const as_element_input nothing = {0};
  if (c->formula && asi_formula_law(c->formula, &nothing, 0.0, 0.0, 0.0, at)) return false;
  *out = c->formula ? at[0] : c->given.constant;
  return true;
}

as_status asi_builder_coefficient(as_builder *b, double number, const as_curve *law,
                                  const char *name, asi_coefficient *out, bool *rubs,
                                  as_error *error) {
  static const char *const own[ASI_OWN_SLOTS] = {"speed"};
  const asi_mark mark = asi_builder_mark(b);
  char what[96];
  snprintf(what, sizeof what, "The friction coefficient of force \"%.48s\"", name);
  *out = (asi_coefficient){.number = number};
  b->law_reads_blocks = true;
  const as_status status = asi_builder_curve(b, law, what, own, &out->law, error);
  b->law_reads_blocks = false;
  if (status) return status;
  if (law && is_constant(&b->curve[out->law.index], &out->number)) {
    asi_builder_reset(b, mark);
    out->law.index = -1;
  }
  *rubs = out->law.index >= 0 || out->number > 0.0;
  if (out->law.index >= 0 || (out->number >= 0.0 && isfinite(out->number))) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "%s is %g; it must be a number that is not negative.", what, out->number);
}

/// A number that must be positive, or may be zero.
static as_status check_number(double value, bool positive, const char *name, const char *what,
                              as_error *error) {
  if (isfinite(value) && (positive ? value > 0.0 : value >= 0.0)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The %s of friction \"%s\" is %g; it must be a %s.", what, name, value,
                  positive ? "positive number" : "number that is not negative");
}

static as_status check_numbers(const as_joint_friction_def *def, as_joint_kind kind, bool rubs,
                               const char *name, as_error *error) {
  const struct {
    double value;
    bool positive;
    const char *what;
  } numbers[] = {{def->radius, rubs && kind != AS_JOINT_PRISMATIC, "radius"},
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
  if (def->joint.index < 0 || def->joint.index >= b->n_joints)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The friction \"%s\" is in joint %d, which is not there.", name,
                    def->joint.index);
  const asi_joint_info *joint = &b->joint[def->joint.index];
  const char *of = asi_names_get(&b->names[ASI_SORT_JOINT], def->joint.index);
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
  return AS_OK;
}

static as_status check_kind(const as_builder *b, as_joint_id joint, const char *name,
                            as_error *error) {
  const as_joint_kind kind = b->joint[joint.index].kind;
  if (asi_friction_is_known(kind)) return AS_OK;
  return asi_fail(
      error, AS_ERR_UNSUPPORTED, (double)NAN, name,
      "The friction \"%s\" is in the %s joint \"%s\": there is a coefficient only for revolute, "
      "prismatic, cylindrical and spherical joints.",
      name, asi_joint_kind_name(kind), asi_names_get(&b->names[ASI_SORT_JOINT], joint.index));
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
  const as_status made = ASI_CHECK_DEFINITION(as_joint_friction_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_friction, coefficient.law)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  as_status status = check_joint(b, def, name, error);
  if (status) return status;
  const as_joint_kind kind = b->joint[def->joint.index].kind;
  const asi_element *of = &b->element[b->joint[def->joint.index].element];
  asi_friction data = {.speed = def->transition_speed, .small = def->small_force};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_friction_type,
                                     .n_bodies = 2,
                                     .body = {of->body[0], of->body[1]},
                                     .reads = ASI_NONE},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = sizeof refs / sizeof refs[0],
                         .mark = asi_builder_mark(b)};
  bool rubs = false;
  status = asi_builder_coefficient(b, def->coefficient, def->coefficient_law, name,
                                   &data.coefficient, &rubs, error);
  if (status == AS_OK && rubs) status = check_kind(b, def->joint, name, error);
  if (status == AS_OK) status = check_numbers(def, kind, rubs, name, error);
  asi_joint joint;
  memcpy(&joint, b->data + of->data, sizeof joint);
  memcpy(data.frame, joint.frame, sizeof data.frame);
  memcpy(data.damping, def->damping, sizeof data.damping);
  data.n_coordinates = asi_joint_coordinates(kind, data.coordinate);
  if (status == AS_OK && rubs)
    asi_friction_compose(&data, kind, def->radius, def->length, def->shoulder_radius);
  if (status == AS_OK) status = check_turns(b, &data, of->body, name, error);
  if (status) {
    asi_builder_reset(b, force.mark);
    return status;
  }
  if (data.n_pads > 0) {
    force.element.reads = def->joint.index;
    force.element.n_read = force.flags.n_read = of->n_rows;
  }
  asi_friction_pattern(&data, force.flags.f_q, force.flags.f_v, force.flags.f_lambda);
  return asi_builder_force(b, &force, id, error);
}
