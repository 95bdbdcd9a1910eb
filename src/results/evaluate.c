/// Channels from a state: each source is evaluated once, then numbers are picked.
#include <math.h>
#include <string.h>

#include "alphastep/beam.h"
#include "alphastep/flexible_body.h"
#include "alphastep/quantities.h"
#include "base/error.h"
#include "elements/vector.h"
#include "model/look.h"
#include "results/channels.h"

// ---- bodies and frames ------------------------------------------------------------------------------

static void put_quaternion(const as_model *m, const as_state *state, int body, double *out) {
  static const double unit[4] = {1.0, 0.0, 0.0, 0.0};
  const asi_body *b = &m->body[body];
  if (b->view)
    asi_view_quaternion(b->view, state->q, out);
  else if (b->node)
    asi_node_quaternion(b->node, state->q, out);
  else
    memcpy(out, b->n == 6 ? state->q + b->q + 3 : unit, sizeof unit);
}

void asi_body_pose(const as_model *m, const as_state *state, int body, double *out) {
  as_body_motion at;
  as_model_body_motion(m, state, (as_body_id){body}, &at);
  asi_copy(at.x, out);
  put_quaternion(m, state, body, out + 3);
}

static void look_at_body(const as_model *m, const as_state *state, int body, double *out) {
  as_body_motion at;
  as_model_body_motion(m, state, (as_body_id){body}, &at);
  asi_copy(at.x, out);
  put_quaternion(m, state, body, out + 3);
  asi_copy(at.v, out + 7);
  asi_copy(at.omega, out + 10);
}

/// On SE(3), v = R u: v' = R (u' + omega x u).
static void look_at_acceleration(const as_model *m, const as_state *state, int body, double *out) {
  const asi_body *b = &m->body[body];
  if (b->view) {
    asi_view_acceleration(b->view, state->q, state->v, state->vdot, out);
    return;
  }
  if (b->node) {
    asi_node_acceleration(b->node, state->q, state->v, state->vdot, out);
    return;
  }
  const double *v = state->v + b->v, *vdot = state->vdot + b->v;
  asi_copy(vdot, out);
  if (b->n == 6) asi_copy(vdot + 3, out + 3);
  if (!b->se3) return;
  as_body_motion at;
  double local[3];
  as_model_body_motion(m, state, (as_body_id){body}, &at);
  asi_copy(vdot, local);
  asi_add_cross(1.0, v + 3, v, local);
  asi_rotate(at.R, local, out);
}

static as_status look_at_frame(const as_model *m, const as_state *state, int frame, double *out,
                               as_error *error) {
  as_frame_motion at;
  const as_status status = as_model_frame_motion(m, state, (as_frame_id){frame}, &at, error);
  if (status) return status;
  asi_copy(at.position, out);
  asi_copy(at.velocity, out + 3);
  asi_copy(at.angular_velocity, out + 6);
  return AS_OK;
}

static as_status look_at_distance(const as_model *m, const as_state *state, asi_source source,
                                  double *out, as_error *error) {
  as_frame_motion A, B;
  as_status status = as_model_frame_motion(m, state, (as_frame_id){source.object}, &A, error);
  if (status == AS_OK)
    status = as_model_frame_motion(m, state, (as_frame_id){source.other}, &B, error);
  if (status) return status;
  double d[3], v[3];
  asi_sum(A.position, -1.0, B.position, d);
  asi_sum(A.velocity, -1.0, B.velocity, v);
  out[0] = asi_norm(d);
  out[1] = out[0] > 0.0 ? asi_dot(d, v) / out[0] : 0.0;
  return AS_OK;
}

// ---- rotations --------------------------------------------------------------------------------------

/// Of R = Rz(yaw) Ry(pitch) Rx(roll), and of R = Rz(first) Rx(second) Rz(third). Where only a sum or a difference of two of them
/// is determined, the first of roll, pitch, yaw and the third of the Euler angles is 0.
static void put_angles(const double R[9], double out[6]) {
  const double c = hypot(R[0], R[3]), s = hypot(R[2], R[5]);
  const bool upright = c > 1e-12, tilted = s > 1e-12;
  out[0] = upright ? atan2(R[7], R[8]) : 0.0;
  out[1] = atan2(0.0 - R[6], c); // no -0
  out[2] = upright ? atan2(R[3], R[0]) : atan2(-R[1], R[4]);
  out[3] = tilted ? atan2(R[2], -R[5]) : atan2(R[3], R[0]);
  out[4] = atan2(s, R[8]);
  out[5] = tilted ? atan2(R[6], R[7]) : 0.0;
}

static void look_at_turn(const as_model *m, const as_state *state, int body, double *out) {
  as_body_motion at;
  as_model_body_motion(m, state, (as_body_id){body}, &at);
  put_angles(at.R, out);
  asi_rotate(at.R, at.omega, out + 6);
}

/// (R omega)' = R omega'
static void look_at_turn_rate(const as_model *m, const as_state *state, int body, double *out) {
  as_body_motion at;
  double all[6];
  as_model_body_motion(m, state, (as_body_id){body}, &at);
  look_at_acceleration(m, state, body, all);
  asi_rotate(at.R, all + 3, out);
}

static as_status look_at_frame_turn(const as_model *m, const as_state *state, int frame,
                                    double *out, as_error *error) {
  as_frame_motion at;
  const as_status status = as_model_frame_motion(m, state, (as_frame_id){frame}, &at, error);
  if (status) return status;
  put_angles(at.R, out);
  asi_rotate_back(at.R, at.angular_velocity, out + 6);
  return AS_OK;
}

// ---- joints -----------------------------------------------------------------------------------------

static as_status look_at_reaction(const as_model *m, const as_state *state, int joint, double *out,
                                  as_error *error) {
  as_reaction r;
  const as_status status = as_model_reaction(m, state, (as_joint_id){joint}, &r, error);
  if (status) return status;
  asi_copy(r.force, out);
  asi_copy(r.torque, out + 3);
  asi_copy(r.force_in_joint, out + 6);
  asi_copy(r.torque_in_joint, out + 9);
  asi_copy(r.force_in_joint, out + 12);
  out[15] = asi_norm(r.force);
  return AS_OK;
}

/// Angles are looked for where they would be at their last rate: so they may turn more than once a step.
static as_status look_at_coordinates(const as_channels *c, const as_state *state, int joint,
                                     double *values, as_error *error) {
  double near[AS_JOINT_COORDINATES];
  double *rate = values + AS_JOINT_COORDINATES;
  asi_coordinate kind[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(c->model->joint[joint].kind, kind);
  for (int i = 0; i < n; ++i) {
    near[i] = values[i];
    if (c->followed && kind[i].kind != ASI_COORDINATE_ROTATION)
      near[i] += (state->t - c->t) * rate[i];
  }
  return as_model_coordinates(c->model, state, (as_joint_id){joint},
                              c->followed ? near : c->model->joint[joint].start, values, rate,
                              error);
}

// ---- forces -----------------------------------------------------------------------------------------

/// On the second body, as reactions are, or on the first.
static as_status look_at_action(const as_model *m, const as_state *state, int element, double *out,
                                as_error *error) {
  const asi_placed *p = &m->element[element];
  const int on = p->e.n_bodies > 1 && !p->descriptor->on_first ? 1 : 0;
  double force[AS_ELEMENT_COLUMNS] = {0};
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = asi_look(m, state, p, body);
  const as_element_output want = {.force = force};
  if (p->e.type->evaluate(&in, &want, p->data)) return asi_fail_element(m, element, state, error);
  asi_copy(force + 6 * on, out);
  asi_rotate(body[on].R, force + 6 * on + 3, out + 3);
  return AS_OK;
}

static as_status look_at_own(const as_model *m, const as_state *state, int element, double *out,
                             as_error *error) {
  const asi_placed *p = &m->element[element];
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = asi_look(m, state, p, body);
  return p->descriptor->look(p->data, &in, out) ? asi_fail_element(m, element, state, error)
                                                : AS_OK;
}

static void look_at_flow(const as_model *m, const as_state *state, int element, double *out) {
  const asi_placed *p = &m->element[element];
  as_body_motion body[AS_ELEMENT_BODIES];
  as_element_power power = {0};
  const as_element_input in = asi_look(m, state, p, body);
  if (p->e.type->power) p->e.type->power(&in, &power, p->data);
  out[0] = p->e.type->potential ? p->e.type->potential(&in, p->data) : 0.0;
  out[1] = power.dissipated;
  out[2] = power.supplied;
}

static as_status look_at_section(const as_model *m, const as_state *state, int object, double *out,
                                 as_error *error) {
  const asi_station *s = &m->station[object];
  as_beam_state at;
  const as_status status = as_model_beam_state(m, state, (as_beam_id){s->beam},
                                               object - m->beam[s->beam].station, &at, error);
  if (status) return status;
  asi_copy(at.position, out);
  asi_copy(at.force, out + 3);
  asi_copy(at.moment, out + 6);
  asi_copy(at.strain, out + 9);
  asi_copy(at.bend, out + 12);
  asi_copy(at.deflection, out + 15);
  for (int i = 0; i < 5; ++i) out[18 + i] = at.stress[i];
  return AS_OK;
}

static void look_at_elastic(const as_model *m, const as_state *state, int object, double *out) {
  const asi_flexible_part *part = &m->flexible_part[object];
  const asi_flexible *f = &m->flexible[part->flexible];
  out[0] = state->q[f->z_q + part->coordinate];
  out[1] = state->v[f->z_v + part->coordinate];
}

static void look_at_point(const as_model *m, const as_state *state, int object, double *out) {
  const asi_flexible_part *part = &m->flexible_part[object];
  as_flexible_point_state at;
  as_model_flexible_point(m, state, (as_flexible_id){part->flexible}, part->point, &at);
  asi_copy(at.position, out);
  asi_copy(at.velocity, out + 3);
  asi_copy(at.deflection, out + 6);
}

static void look_at_stress(const as_model *m, const as_state *state, int object, double *out) {
  const asi_flexible_part *part = &m->flexible_part[object];
  as_model_flexible_stress(m, state, (as_flexible_id){part->flexible}, part->stress, out);
}

// ---- the machine as a whole -------------------------------------------------------------------------

static as_status look_at_energy(const as_model *m, const as_view *view, double *out,
                                as_error *error) {
  as_energy energy;
  const as_status status = as_model_energy(m, view->state, &energy, error);
  if (status) return status;
  out[0] = energy.kinetic;
  out[1] = energy.potential;
  out[2] = view->dissipated;
  out[3] = view->work;
  out[4] = energy.kinetic + energy.potential + view->dissipated - view->work - view->start_energy;
  return AS_OK;
}

static void look_at_momentum(const as_model *m, const as_state *state, double *out) {
  as_momentum momentum;
  as_model_momentum(m, state, &momentum);
  asi_copy(momentum.linear, out);
  asi_copy(momentum.angular, out + 3);
  asi_copy(momentum.center_of_mass, out + 6);
}

static as_status look_at(const as_channels *c, asi_source source, const as_view *view,
                         as_error *error) {
  const as_model *m = c->model;
  const as_state *state = view->state;
  const int object = source.object;
  double *out = c->values + source.first;
  switch (source.kind) {
  case ASI_SOURCE_BODY: look_at_body(m, state, object, out); break;
  case ASI_SOURCE_ACCELERATION: look_at_acceleration(m, state, object, out); break;
  case ASI_SOURCE_FRAME: return look_at_frame(m, state, object, out, error);
  case ASI_SOURCE_DISTANCE: return look_at_distance(m, state, source, out, error);
  case ASI_SOURCE_REACTION: return look_at_reaction(m, state, object, out, error);
  case ASI_SOURCE_COORDINATES: return look_at_coordinates(c, state, object, out, error);
  case ASI_SOURCE_DRIVE:
    out[0] = state->lambda[as_model_joint_row(m, (as_joint_id){object})];
    break;
  case ASI_SOURCE_ACTION: return look_at_action(m, state, m->force[object], out, error);
  case ASI_SOURCE_OWN: return look_at_own(m, state, m->force[object], out, error);
  case ASI_SOURCE_FLOW: look_at_flow(m, state, m->force[object], out); break;
  case ASI_SOURCE_ENERGY: return look_at_energy(m, view, out, error);
  case ASI_SOURCE_MOMENTUM: look_at_momentum(m, state, out); break;
  case ASI_SOURCE_TURN: look_at_turn(m, state, object, out); break;
  case ASI_SOURCE_TURN_RATE: look_at_turn_rate(m, state, object, out); break;
  case ASI_SOURCE_FRAME_TURN: return look_at_frame_turn(m, state, object, out, error);
  case ASI_SOURCE_MAGNITUDE: out[0] = asi_norm(c->values + source.other); break;
  case ASI_SOURCE_SOLVER:
    out[0] = view->h;
    out[1] = view->newton_iterations;
    out[2] = view->error;
    break;
  case ASI_SOURCE_DRIFT:
    out[0] = view->position_drift;
    out[1] = view->velocity_drift;
    break;
  case ASI_SOURCE_EVENT:
    out[0] = view->events ? view->events[2 * object] : 0.0;
    out[1] = view->events ? view->events[2 * object + 1] : (double)NAN;
    break;
  case ASI_SOURCE_SECTION: return look_at_section(m, state, object, out, error);
  case ASI_SOURCE_ELASTIC: look_at_elastic(m, state, object, out); break;
  case ASI_SOURCE_POINT: look_at_point(m, state, object, out); break;
  case ASI_SOURCE_STRESS: look_at_stress(m, state, object, out); break;
  case ASI_SOURCE_SIGNAL: out[0] = as_model_signal_value(m, state, (as_signal_id){object}); break;
  case ASI_SOURCES: break;
  }
  return AS_OK;
}

as_status as_channels_evaluate(as_channels *c, const as_view *view, double *out, as_error *error) {
  for (int i = 0; i < c->n_sources; ++i) {
    const as_status status = look_at(c, c->source[i], view, error);
    if (status) return status;
  }
  c->followed = true;
  c->t = view->state->t;
  for (int i = 0; i < c->n; ++i) out[i] = c->values[c->pick[i]];
  return AS_OK;
}

as_status as_channels_follow(as_channels *c, const as_state *state, as_error *error) {
  for (int i = 0; i < c->n_sources; ++i) {
    if (c->source[i].kind != ASI_SOURCE_COORDINATES) continue;
    const as_status status =
        look_at_coordinates(c, state, c->source[i].object, c->values + c->source[i].first, error);
    if (status) return status;
  }
  c->followed = true;
  c->t = state->t;
  return AS_OK;
}
