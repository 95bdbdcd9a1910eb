/// Adds stops and contacts to a builder.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/contact.h"
#include "elements/stop.h"
#include "elements/vector.h"
#include "model/add_force.h"

as_stop_def as_default_stop_def(void) {
  return (as_stop_def){.cookie = ASI_COOKIE(as_stop_def),
                       .joint = AS_NO_JOINT,
                       .lower = (double)NAN,
                       .upper = (double)NAN,
                       .law = {.stiffness = (double)NAN, .exponent = 1.5}};
}

as_contact_def as_default_contact_def(void) {
  return (as_contact_def){.cookie = ASI_COOKIE(as_contact_def),
                          .frame = {AS_NO_FRAME, AS_NO_FRAME},
                          .body = {AS_NO_BODY, AS_NO_BODY},
                          .law = {.stiffness = (double)NAN, .exponent = 1.5},
                          .slip_speed = (double)NAN};
}

as_status asi_builder_penalty(as_builder *b, const as_penalty *def, const char *name,
                              asi_penalty *out, as_error *error) {
  static const char *const elastic[ASI_OWN_SLOTS] = {"depth"}, *const whole[ASI_OWN_SLOTS] = {
                                                                   "depth", "depth_rate"};
  char what[96];
  *out = (asi_penalty){.stiffness = def->stiffness,
                       .exponent = def->exponent,
                       .damping = def->damping,
                       .onset = def->onset};
  if (!def->curve && !def->surface && !(def->stiffness > 0.0 && isfinite(def->stiffness)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The stiffness of force \"%s\" is %g; it must be a positive number.", name,
                    def->stiffness);
  if (!(def->exponent >= 1.0 && isfinite(def->exponent)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The exponent of force \"%s\" is %g; it must be one at least.", name,
                    def->exponent);
  as_status status = asi_check_not_negative(def->damping, "damping", name, error);
  if (status == AS_OK) status = asi_check_not_negative(def->onset, "onset", name, error);
  if (status) return status;
  if (def->curve && def->surface)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The force \"%s\" has both a curve and a surface.", name);
  snprintf(what, sizeof what, "The %s of force \"%.48s\"", def->curve ? "curve" : "surface", name);
  b->law_reads_blocks = true;
  status = asi_builder_curve(b, def->curve, what, elastic, &out->curve, error);
  if (status == AS_OK)
    status = asi_builder_surface(b, def->surface, what, whole, &out->both, error);
  b->law_reads_blocks = false;
  return status;
}

static bool is_damped(const as_penalty *def) { return def->surface || def->damping > 0.0; }

// ---- stops ------------------------------------------------------------------------------------------

static as_status check_limits(const as_stop_def *def, bool angle, const char *name,
                              as_error *error) {
  if (isnan(def->lower) && isnan(def->upper))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The stop \"%s\" has neither a lower nor an upper limit.", name);
  if (isinf(def->lower) || isinf(def->upper) || def->upper <= def->lower)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The stop \"%s\" has the limits %g and %g.", name, def->lower, def->upper);
  if (angle && def->upper - def->lower >= 6.28)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The stop \"%s\" lets an angle go from %g to %g rad, a whole turn: a state "
                    "does not know how often it has turned.",
                    name, def->lower, def->upper);
  return AS_OK;
}

/// The coordinate and the ends of the joint that it belongs to.
static as_status stop_ends(const as_builder *b, const as_stop_def *def, const char *name,
                           asi_stop *data, int body[2], as_error *error) {
  if (def->joint.index < 0 || def->joint.index >= b->n_joints || !b->joint[def->joint.index].ours)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The stop \"%s\" is of joint %d, which is not there or has no coordinates.",
                    name, def->joint.index);
  const asi_joint_info *info = &b->joint[def->joint.index];
  const asi_element *e = &b->element[info->element];
  const char *of = asi_names_get(&b->names[ASI_SORT_JOINT], def->joint.index);
  asi_coordinate all[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(info->kind, all);
  if (def->coordinate < 0 || def->coordinate >= n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The stop \"%s\" is of coordinate %d of joint \"%s\", which has %d.", name,
                    def->coordinate, of, n);
  data->coordinate = all[def->coordinate];
  if (data->coordinate.kind == ASI_COORDINATE_ROTATION)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, name,
                    "The stop \"%s\" is of a rotation vector of joint \"%s\", not of an angle.",
                    name, of);
  asi_moving_joint m;
  memcpy(&m, b->data + e->data, info->moving ? sizeof m : sizeof m.joint);
  for (int s = 0; s < 2; ++s) {
    data->ends.frame[s] = m.joint.frame[s];
    data->ends.motion[s] = info->moving ? m.motion[s] : asi_no_motion();
    body[s] = e->body[s];
  }
  return AS_OK;
}

as_status as_builder_add_stop(as_builder *b, const as_stop_def *def, as_force_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_stop_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_stop, law.curve), offsetof(asi_stop, law.both)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_stop data = {.lower = isnan(def->lower) ? (double)-INFINITY : def->lower,
                   .upper = isnan(def->upper) ? (double)INFINITY : def->upper};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_stop_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = sizeof refs / sizeof refs[0],
                         .motions = offsetof(asi_stop, ends.motion),
                         .n_motions = 2,
                         .mark = asi_builder_mark(b)};
  as_status status = stop_ends(b, def, name, &data, force.element.body, error);
  const bool angle = data.coordinate.kind != ASI_COORDINATE_SHIFT;
  if (status == AS_OK) status = check_limits(def, angle, name, error);
  if (status == AS_OK) status = asi_builder_penalty(b, &def->law, name, &data.law, error);
  if (status) return status;
  data.near = isnan(def->lower)   ? def->upper
              : isnan(def->upper) ? def->lower
                                  : (def->lower + def->upper) / 2.0;
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j) {
      const bool there = !angle || (i % 6 >= 3 && j % 6 >= 3);
      force.flags.f_q[i * ASI_PAIR + j] = there;
      force.flags.f_v[i * ASI_PAIR + j] = there && is_damped(&def->law);
    }
  return asi_builder_force(b, &force, id, error);
}

// ---- contacts ---------------------------------------------------------------------------------------

static as_status contact_ends(const as_builder *b, const as_contact_def *def, const char *name,
                              asi_contact *data, int body[2], as_error *error) {
  const bool flat = def->normal[0] == 0.0 && def->normal[1] == 0.0 && def->normal[2] == 0.0;
  const double any[3] = {0};
  double axes[9];
  if (!asi_triad(def->normal, 2, any, 0, axes) || (flat && def->frame[0].index == ASI_NONE))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The normal of the contact \"%s\" is zero or not finite.", name);
  const asi_side_def side[2] = {{def->frame[0], def->body[0], def->point, axes},
                                {def->frame[1], def->body[1], def->center, axes}};
  asi_ends ends;
  as_status status = asi_builder_ends(b, side, name, &ends, body, error);
  if (status == AS_OK) status = asi_check_axes(b, body[0], name, error);
  if (status) return status;
  for (int s = 0; s < 2; ++s) {
    if (asi_moves(&ends.motion[s]))
      return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, name,
                      "The contact \"%s\" is on a frame that moves against its body; fix a body to "
                      "that frame.",
                      name);
    data->frame[s] = ends.frame[s];
  }
  return AS_OK;
}

as_status as_builder_add_contact(as_builder *b, const as_contact_def *def, as_force_id *id,
                                 as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_contact_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_contact, law.curve), offsetof(asi_contact, law.both),
                                offsetof(asi_contact, friction.law)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_contact data = {.radius = def->radius, .slip_speed = def->slip_speed};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_contact_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = sizeof refs / sizeof refs[0],
                         .mark = asi_builder_mark(b)};
  as_status status = contact_ends(b, def, name, &data, force.element.body, error);
  if (status == AS_OK) status = asi_check_not_negative(def->radius, "radius", name, error);
  if (status == AS_OK)
    status = asi_builder_coefficient(b, def->friction, def->friction_law, name, &data.friction,
                                     &data.rubs, error);
  if (status == AS_OK && data.rubs && !(def->slip_speed > 0.0 && isfinite(def->slip_speed)))
    status = asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The slip speed of force \"%s\" is %g m/s; friction needs a positive one.",
                      name, def->slip_speed);
  if (status == AS_OK) status = asi_builder_penalty(b, &def->law, name, &data.law, error);
  if (status) {
    asi_builder_reset(b, force.mark);
    return status;
  }
  asi_flag_pair(force.flags.f_q);
  if (is_damped(&def->law) || data.rubs) asi_flag_pair(force.flags.f_v);
  return asi_builder_force(b, &force, id, error);
}
