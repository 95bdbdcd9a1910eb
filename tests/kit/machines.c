/// Shorthand for building and reading machines, see machines.h.
#include "machines.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// ---- shorthand --------------------------------------------------------------------------------------

as_builder *machine_builder(double gx, double gy, double gz) {
  as_error error;
  as_builder *b = NULL;
  const as_model_def def = {.gravity = {gx, gy, gz}};
  if (as_builder_create(&def, &b, &error)) fail_msg("%s", error.message);
  return b;
}

as_body_id machine_body(as_builder *b, const as_body_def *def) {
  as_error error;
  as_body_id id = AS_NO_BODY;
  if (as_builder_add_body(b, def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

as_body_id machine_point(as_builder *b, const char *name, double mass, const double position[3],
                         const double velocity[3]) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.kind = AS_BODY_POINT;
  def.mass = mass;
  memcpy(def.position, position, sizeof def.position);
  memcpy(def.velocity, velocity, sizeof def.velocity);
  return machine_body(b, &def);
}

as_joint_id machine_joint(as_builder *b, const char *name, as_joint_kind kind, as_body_id first,
                          as_body_id second, const double point[3], const double axis[3]) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def def = as_default_joint_def();
  def.name = name;
  def.kind = kind;
  def.body[0] = first;
  def.body[1] = second;
  memcpy(def.point, point, sizeof def.point);
  if (axis) memcpy(def.axis, axis, sizeof def.axis);
  if (as_builder_add_joint(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

as_joint_id machine_rod(as_builder *b, const char *name, as_body_id first, as_body_id second,
                        const double point[3], const double second_point[3]) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def def = as_default_joint_def();
  def.name = name;
  def.kind = AS_JOINT_DISTANCE;
  def.body[0] = first;
  def.body[1] = second;
  memcpy(def.point, point, sizeof def.point);
  memcpy(def.second_point, second_point, sizeof def.second_point);
  if (as_builder_add_joint(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

as_model *machine_build(as_builder *b) {
  as_error error;
  as_model *model = NULL;
  if (as_builder_build(b, &model, &error)) fail_msg("%s", error.message);
  as_builder_destroy(b);
  return model;
}

static void put(double *to, int *n, const double *from, int count) {
  assert_true(*n + count <= READING_SIZE);
  memcpy(to + *n, from, (size_t)count * sizeof(double));
  *n += count;
}

void reading_position(reading *r, const double *x, int n) {
  put(r->position, &r->n_position, x, n);
}
void reading_velocity(reading *r, const double *x, int n) {
  put(r->velocity, &r->n_velocity, x, n);
}
void reading_reaction(reading *r, const double *x, int n) {
  put(r->reaction, &r->n_reaction, x, n);
}

/// Centre of mass and its velocity, `n` components.
void machine_read_body(const as_model *m, const as_state *s, as_body_id body, int n, reading *r) {
  as_body_motion at;
  as_model_body_motion(m, s, body, &at);
  reading_position(r, at.x, n);
  reading_velocity(r, at.v, n);
}

/// The angle about z in the world, within half a turn of `near`, and its rate.
void machine_read_angle(const as_model *m, const as_state *s, as_body_id body, double near,
                        reading *r) {
  as_body_motion at;
  as_model_body_motion(m, s, body, &at);
  const double angle = remainder(atan2(at.R[3], at.R[0]) - near, 6.283185307179586) + near;
  reading_position(r, &angle, 1);
  reading_velocity(r, &at.omega[2], 1);
}

/// Components of a reaction force, from `first` on.
void machine_read_force(const as_model *m, const as_state *s, const char *joint, int n,
                        reading *r) {
  as_error error;
  as_reaction reaction;
  if (as_model_reaction(m, s, as_model_find_joint(m, joint), &reaction, &error))
    fail_msg("%s", error.message);
  reading_reaction(r, reaction.force, n);
}

/// The size of the force in a rod: positive if it pulls.
void machine_read_tension(const as_model *m, const as_state *s, const char *joint, reading *r) {
  reading_reaction(r, s->lambda + as_model_joint_row(m, as_model_find_joint(m, joint)), 1);
}

/// A body of equal principal moments unless changed.
as_body_def machine_round_body(const char *name, double mass, double moment, bool se3) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = mass;
  for (int i = 0; i < 3; ++i) def.inertia[i] = moment;
  def.space = se3 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
  return def;
}

/// Places a body in the plane: reference point, angle about z.
void machine_place_in_plane(as_body_def *def, double x, double y, double angle) {
  def->position[0] = x;
  def->position[1] = y;
  def->quaternion[0] = cos(angle / 2.0);
  def->quaternion[3] = sin(angle / 2.0);
}
