/// Adds bodies and frames to a builder.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "model/builder.h"

as_body_def as_default_body_def(void) {
  const double missing = (double)NAN;
  return (as_body_def){.cookie = ASI_COOKIE(as_body_def),
                       .space = AS_SPACE_R3SO3,
                       .mass = missing,
                       .inertia = {missing, missing, missing, 0.0, 0.0, 0.0},
                       .quaternion = {1.0, 0.0, 0.0, 0.0}};
}

as_frame_def as_default_frame_def(void) {
  return (as_frame_def){.cookie = ASI_COOKIE(as_frame_def),
                        .body = AS_NO_BODY,
                        .quaternion = {1.0, 0.0, 0.0, 0.0},
                        .turn_axis = 2};
}

as_status asi_check_finite(const double *x, int n, const char *what, const char *sort,
                           const char *name, as_error *error) {
  for (int i = 0; i < n; ++i)
    if (!isfinite(x[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "Component %d of the %s of %s \"%s\" is %g.", i, what, sort, name, x[i]);
  return AS_OK;
}

as_status asi_unit_quaternion(const double *given, const char *sort, const char *name, double *out,
                              as_error *error) {
  const as_status status = asi_check_finite(given, 4, "quaternion", sort, name, error);
  if (status) return status;
  const double size = sqrt(asi_dot(given, given) + given[3] * given[3]);
  if (!(fabs(size - 1.0) <= 1e-6))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The quaternion of %s \"%s\" has the length %.9g instead of 1.", sort, name,
                    size);
  for (int i = 0; i < 4; ++i) out[i] = given[i] / size;
  return AS_OK;
}

static as_status check_body(const as_body_def *def, const char *name, double J[9],
                            as_error *error) {
  if (!(def->mass > 0.0 && isfinite(def->mass)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The mass of body \"%s\" is %g kg; it must be a positive number.", name,
                    def->mass);
  as_status status = asi_check_finite(def->position, 3, "position", "body", name, error);
  if (status == AS_OK) status = asi_check_finite(def->velocity, 3, "velocity", "body", name, error);
  if (status || def->kind == AS_BODY_POINT) return status;
  if (def->kind != AS_BODY_RIGID)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Body \"%s\" has the unknown kind %d.", name, (int)def->kind);
  if (def->space != AS_SPACE_R3SO3 && def->space != AS_SPACE_SE3)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "Body \"%s\" lives neither on R^3xSO(3) nor on SE(3).", name);
  status = asi_check_finite(def->center_of_mass, 3, "centre of mass", "body", name, error);
  if (status == AS_OK)
    status = asi_check_finite(def->angular_velocity, 3, "angular velocity", "body", name, error);
  if (status) return status;
  const double *I = def->inertia;
  const double tensor[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  memcpy(J, tensor, sizeof tensor);
  return asi_inertia_check(J, name, error);
}

static bool is_diagonal(const double J[9]) {
  for (int i = 0; i < 9; ++i)
    if (i % 4 != 0 && J[i] != 0.0) return false;
  return true;
}

static bool is_round(const double J[9]) { return is_diagonal(J) && J[0] == J[4] && J[0] == J[8]; }

void asi_body_note_inertia(asi_body *body) {
  body->round = body->n < 6 || is_round(body->J);
  body->principal = is_diagonal(body->J);
}

static bool is_zero(const double x[3]) { return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0; }

static asi_given note_given(const as_body_def *def, const double quaternion[4], bool rigid) {
  asi_given out = {.what = def->given, .fixed = def->fixed};
  asi_copy(def->position, out.position);
  asi_copy(def->velocity, out.velocity);
  if (!is_zero(def->position)) out.what |= AS_GIVEN_POSITION;
  if (!is_zero(def->velocity)) out.what |= AS_GIVEN_VELOCITY;
  memcpy(out.quaternion, quaternion, sizeof out.quaternion);
  if (!rigid) return out;
  asi_copy(def->angular_velocity, out.angular_velocity);
  if (!is_zero(def->angular_velocity)) out.what |= AS_GIVEN_ANGULAR_VELOCITY;
  if (!is_zero(quaternion + 1)) out.what |= AS_GIVEN_QUATERNION;
  return out;
}

as_status as_builder_add_body(as_builder *b, const as_body_def *def, as_body_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_body_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_BODY, def->name, store);
  const bool rigid = def->kind != AS_BODY_POINT;
  asi_body_start start = {.quaternion = {1.0, 0.0, 0.0, 0.0}};
  asi_body *body = &start.body;
  as_status status = check_body(def, name, body->J, error);
  if (status == AS_OK && rigid)
    status = asi_unit_quaternion(def->quaternion, "body", name, start.quaternion, error);
  if (status) return status;
  body->mass = def->mass;
  body->n = rigid ? 6 : 3;
  body->se3 = rigid && def->space == AS_SPACE_SE3;
  asi_body_note_inertia(body);
  asi_so3_matrix(start.quaternion, start.at.R);
  if (rigid) {
    asi_copy(def->center_of_mass, body->com);
    asi_copy(def->angular_velocity, start.at.omega);
  }
  asi_rotate(start.at.R, body->com, start.at.x);
  asi_add(1.0, def->position, start.at.x);
  asi_copy(def->velocity, start.at.v);
  start.given = note_given(def, start.quaternion, rigid);
  void *array = b->body;
  if (!asi_grow(&array, b->n_bodies, &b->room_bodies, sizeof *b->body))
    return asi_fail_memory(error);
  b->body = array;
  status = asi_names_add(&b->names[ASI_SORT_BODY], ASI_SORT_BODY, def->name, error);
  if (status) return status;
  b->body[b->n_bodies] = start;
  if (id) *id = (as_body_id){b->n_bodies};
  ++b->n_bodies;
  return AS_OK;
}

static as_status take_motion(as_builder *b, const as_frame_def *def, const char *name,
                             asi_marker *out, as_error *error) {
  char what[96];
  as_status status = AS_OK;
  snprintf(what, sizeof what, "The motion of frame \"%.48s\"", name);
  for (int k = 0; k < 3 && status == AS_OK; ++k)
    status = asi_builder_motion(b, def->shift[k], what, &out->motion.shift[k], error);
  if (status == AS_OK) status = asi_builder_motion(b, def->turn, what, &out->motion.turn, error);
  if (status) return status;
  if (def->turn && (def->turn_axis < 0 || def->turn_axis > 2))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The frame \"%s\" turns about its axis %d, which is none of 0, 1, 2.", name,
                    def->turn_axis);
  out->motion.turn_axis = def->turn_axis;
  out->motion.turn_sign = 1.0;
  out->moving = def->turn || def->shift[0] || def->shift[1] || def->shift[2];
  return AS_OK;
}

as_status as_builder_add_frame(as_builder *b, const as_frame_def *def, as_frame_id *id,
                               as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_frame_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FRAME, def->name, store);
  const asi_mark mark = asi_builder_mark(b);
  asi_marker marker = {.body = def->body.index};
  double quaternion[4], axes[9], R[9];
  as_status status = asi_builder_check_body(b, def->body, ASI_SORT_FRAME, name, error);
  if (status == AS_OK)
    status = asi_check_finite(def->position, 3, "position", "frame", name, error);
  if (status == AS_OK)
    status = asi_unit_quaternion(def->quaternion, "frame", name, quaternion, error);
  if (status) return status;
  asi_so3_matrix(quaternion, R);
  for (int k = 0; k < 3; ++k) asi_set(R[k], R[3 + k], R[6 + k], axes + 3 * k);
  if (def->in_world) {
    const asi_side_def side = {AS_NO_FRAME, def->body, def->position, axes};
    status = asi_builder_side(b, &side, ASI_SORT_FRAME, name, &marker, error);
  } else {
    asi_copy(def->position, marker.frame.p);
    if (def->body.index >= 0) asi_add(-1.0, b->body[def->body.index].body.com, marker.frame.p);
    memcpy(marker.frame.axis, axes, sizeof axes);
  }
  if (status == AS_OK) status = take_motion(b, def, name, &marker, error);
  void *array = b->frame;
  if (status == AS_OK && !asi_grow(&array, b->n_frames, &b->room_frames, sizeof *b->frame))
    status = asi_fail_memory(error);
  b->frame = array;
  if (status == AS_OK)
    status = asi_names_add(&b->names[ASI_SORT_FRAME], ASI_SORT_FRAME, def->name, error);
  if (status) {
    asi_builder_reset(b, mark);
    return status;
  }
  b->frame[b->n_frames] = marker;
  if (id) *id = (as_frame_id){b->n_frames};
  ++b->n_frames;
  return AS_OK;
}
