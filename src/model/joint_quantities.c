/// Frames, joint coordinates and reactions.
///
/// Coordinates are of frame B as seen from A. With S = A^T B the relative rotation (columns: B's axes in A):
///
///     displacement   a_k . (P_b - P_a)            angle about z   atan2(y_a . x_b, x_a . x_b) = atan2(S_10, S_00)
///     universal, S = R_x(alpha) R_y(beta):        alpha = atan2(S_21, S_11),   beta = atan2(S_02, S_00)
///     rotation vector                             log S
///
/// Rates follow from the angular velocity w of B against A, in A's axes: w_z; alpha' = w_x; beta' = w along y_b;
/// and the displacement's a_k . (P_b - P_a)' + a_k' . (P_b - P_a).
#include "alphastep/quantities.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/coordinate.h"
#include "elements/coupling.h"
#include "elements/vector.h"
#include "lie/rotation.h"
#include "model/look.h"

/// A frame in the world.
typedef struct placed_frame {
  double P[3], V[3]; ///< origin and its velocity
  double axis[3][3];
  double W[3]; ///< angular velocity, world axes
} placed_frame;

/// Half of the sum of a x a' over the axes is their angular velocity.
static void spin_of(const double *axis, const double *axis1, double *out) {
  asi_set(0.0, 0.0, 0.0, out);
  for (int k = 0; k < 3; ++k) asi_add_cross(0.5, axis + 3 * k, axis1 + 3 * k, out);
}

static void place_frame(const as_body_motion *body, const asi_frame_now *now, placed_frame *out) {
  double rate[3], spin[3];
  asi_rotate(body->R, now->p, out->P);
  asi_add(1.0, body->x, out->P);
  asi_local_rate(body, now->p, now->p1, rate);
  asi_rotate(body->R, rate, out->V);
  asi_add(1.0, body->v, out->V);
  for (int k = 0; k < 3; ++k) asi_rotate(body->R, now->axis + 3 * k, out->axis[k]);
  spin_of(now->axis, now->axis1, spin);
  asi_add(1.0, body->omega, spin);
  asi_rotate(body->R, spin, out->W);
}

/// A frame that may move; one that a prescribed motion drives is taken as it is without the drive.
static bool frame_now(const asi_frame *frame, const asi_frame_motion *motion, double t,
                      double store[36], asi_frame_now *now) {
  if (motion) return asi_frame_move(frame, motion, t, store, now) == AS_DONE;
  *now = asi_frame_at_rest(frame);
  return true;
}

as_status as_model_frame_motion(const as_model *m, const as_state *state, as_frame_id frame,
                                as_frame_motion *out, as_error *error) {
  if (frame.index < 0 || frame.index >= m->n_frames)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "There is no frame %d.",
                    frame.index);
  const asi_marker *marker = &m->frame[frame.index];
  asi_frame_motion motion = marker->motion;
  if (marker->moving) {
    asi_curve_ref *const ref[4] = {&motion.shift[0], &motion.shift[1], &motion.shift[2],
                                   &motion.turn};
    for (int k = 0; k < 4; ++k)
      ref[k]->curve = ref[k]->index >= 0 ? &m->curve[ref[k]->index] : NULL;
  }
  double store[36];
  asi_frame_now now;
  as_body_motion body;
  if (!frame_now(&marker->frame, marker->moving ? &motion : NULL, state->t, store, &now))
    return asi_fail(error, AS_ERR_RETRY, state->t,
                    asi_names_get(&m->names[ASI_SORT_FRAME], frame.index),
                    "The motion of frame \"%s\" could not be evaluated at t = %.9g s.",
                    asi_names_get(&m->names[ASI_SORT_FRAME], frame.index), state->t);
  asi_model_motion(m, marker->body, state->q, state->v, &body);
  placed_frame placed;
  place_frame(&body, &now, &placed);
  asi_copy(placed.P, out->position);
  asi_copy(placed.V, out->velocity);
  asi_copy(placed.W, out->angular_velocity);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) out->R[3 * i + k] = placed.axis[k][i];
  return AS_OK;
}

/// Both frames of a joint in the world; of a coupling of torques those of its second joint.
static as_status joint_frames(const as_model *m, const as_state *state, as_joint_id id,
                              placed_frame frame[2], as_error *error) {
  as_status status = asi_check_joint(m, id, error);
  if (status) return status;
  const asi_joint_info *info = &m->joint[id.index];
  const asi_placed *p = &m->element[info->element];
  const asi_moving_joint *moving = info->moving && info->kind != AS_JOINT_MOTION ? p->data : NULL;
  const asi_coupling *coupling = info->kind == AS_JOINT_COUPLING ? p->data : NULL;
  const asi_frame *fixed = coupling ? coupling->side[1].frame : ((const asi_joint *)p->data)->frame;
  as_body_motion body[AS_ELEMENT_BODIES];
  asi_look(m, state, p, body);
  for (int s = 0; s < 2; ++s) {
    double store[36];
    asi_frame_now now;
    if (!frame_now(&fixed[s], moving ? &moving->motion[s] : NULL, state->t, store, &now))
      return asi_fail_element(m, info->element, state, error);
    place_frame(&body[coupling ? coupling->side[1].body[s] : s], &now, &frame[s]);
  }
  return AS_OK;
}

// ---- coordinates ------------------------------------------------------------------------------------

/// Rotation vectors of the same rotation differ by whole turns along its axis: the one closest to `near`.
static void unwrap_vector(double *w, const double *near) {
  const double angle = asi_norm(w);
  if (near == NULL || angle < 1e-8) return;
  double along[3];
  for (int i = 0; i < 3; ++i) along[i] = w[i] / angle;
  const double turns = asi_unwrap(angle, asi_dot(near, along));
  for (int i = 0; i < 3; ++i) w[i] = turns * along[i];
}

/// log S by way of the quaternion of the axes.
static void rotation_vector(const double S[3][3], double *out) {
  double q[4];
  const double trace = S[0][0] + S[1][1] + S[2][2];
  int k = 0; // the largest of 1 + trace and 1 + 2 S_ii - trace is the safest root
  for (int i = 1; i < 3; ++i)
    if (S[i][i] > S[k][k]) k = i;
  if (trace > S[k][k]) {
    const double r = sqrt(1.0 + trace);
    asi_set((S[2][1] - S[1][2]) / (2.0 * r), (S[0][2] - S[2][0]) / (2.0 * r),
            (S[1][0] - S[0][1]) / (2.0 * r), q + 1);
    q[0] = r / 2.0;
  } else {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double r = sqrt(1.0 + S[k][k] - S[i][i] - S[j][j]);
    q[1 + k] = r / 2.0;
    q[1 + i] = (S[i][k] + S[k][i]) / (2.0 * r);
    q[1 + j] = (S[j][k] + S[k][j]) / (2.0 * r);
    q[0] = (S[j][i] - S[i][j]) / (2.0 * r);
  }
  asi_so3_normalize(q);
  asi_so3_log(q, out);
}

/// Everything that coordinates are read from.
typedef struct relative {
  double S[3][3];     ///< B's axes in A
  double d[3], d1[3]; ///< P_b - P_a in A's axes, and its rate there
  double w[3];        ///< angular velocity of B against A, A's axes
} relative;

static relative compare(const placed_frame frame[2]) {
  const placed_frame *A = &frame[0], *B = &frame[1];
  relative r;
  double d[3], v[3], w[3];
  asi_sum(B->P, -1.0, A->P, d);
  asi_sum(B->V, -1.0, A->V, v);
  asi_add_cross(-1.0, A->W, d, v);
  asi_sum(B->W, -1.0, A->W, w);
  for (int i = 0; i < 3; ++i) {
    r.d[i] = asi_dot(A->axis[i], d);
    r.d1[i] = asi_dot(A->axis[i], v);
    r.w[i] = asi_dot(A->axis[i], w);
    for (int j = 0; j < 3; ++j) r.S[i][j] = asi_dot(A->axis[i], B->axis[j]);
  }
  return r;
}

static double coordinate(const relative *r, asi_coordinate c) {
  switch (c.kind) {
  case ASI_COORDINATE_SHIFT: return r->d[c.axis];
  case ASI_COORDINATE_ANGLE: return atan2(r->S[1][0], r->S[0][0]);
  case ASI_COORDINATE_ANGLE_A: return atan2(r->S[2][1], r->S[1][1]);
  case ASI_COORDINATE_ANGLE_B: return atan2(r->S[0][2], r->S[0][0]);
  case ASI_COORDINATE_ROTATION:
  case ASI_COORDINATE_DIRECTION:
  case ASI_COORDINATE_HEADING: break;
  }
  double vector[3];
  rotation_vector(r->S, vector);
  return vector[c.axis];
}

static double coordinate_rate(const relative *r, asi_coordinate c) {
  if (c.kind == ASI_COORDINATE_SHIFT) return r->d1[c.axis];
  if (c.kind == ASI_COORDINATE_ANGLE_B)
    return r->w[0] * r->S[0][1] + r->w[1] * r->S[1][1] + r->w[2] * r->S[2][1];
  return r->w[c.axis];
}

int as_model_joint_coordinates(const as_model *m, as_joint_id joint) {
  asi_coordinate c[AS_JOINT_COORDINATES];
  if (joint.index < 0 || joint.index >= m->n_joints || !m->joint[joint.index].ours) return 0;
  return asi_joint_coordinates(m->joint[joint.index].kind, c);
}

as_status as_model_coordinates(const as_model *m, const as_state *state, as_joint_id joint,
                               const double *near, double *coordinates, double *rates,
                               as_error *error) {
  const int n = as_model_joint_coordinates(m, joint);
  if (n == 0) return asi_check_joint(m, joint, error);
  placed_frame frame[2] = {{{0}, {0}, {{0}}, {0}}};
  const as_status status = joint_frames(m, state, joint, frame, error);
  if (status) return status;
  const relative r = compare(frame);
  asi_coordinate c[AS_JOINT_COORDINATES];
  asi_joint_coordinates(m->joint[joint.index].kind, c);
  double old[AS_JOINT_COORDINATES] = {0};
  if (near) memcpy(old, near, (size_t)n * sizeof(double));
  for (int i = 0; i < n; ++i) {
    if (rates) rates[i] = coordinate_rate(&r, c[i]);
    if (coordinates == NULL) continue;
    const bool angle = c[i].kind != ASI_COORDINATE_SHIFT && c[i].kind != ASI_COORDINATE_ROTATION;
    coordinates[i] = coordinate(&r, c[i]);
    if (angle) coordinates[i] = asi_unwrap(coordinates[i], old[i]);
  }
  if (coordinates && near && c[n - 1].kind == ASI_COORDINATE_ROTATION)
    unwrap_vector(coordinates + n - 3, old + n - 3);
  return AS_OK;
}

// ---- reactions --------------------------------------------------------------------------------------

/// [force; torque about the centre of mass] on the second body is -g_q^T lambda - k_v^T psi; moved to the point.
as_status as_model_reaction(const as_model *m, const as_state *state, as_joint_id joint,
                            as_reaction *out, as_error *error) {
  as_status status = asi_check_joint(m, joint, error);
  if (status) return status;
  const asi_joint_info *info = &m->joint[joint.index];
  const asi_placed *p = &m->element[info->element];
  if ((state->lambda == NULL && p->e.n_rows > 0) ||
      (state->psi == NULL && p->e.n_velocity_rows > 0))
    return asi_fail(error, AS_ERR_ARGUMENT, state->t, NULL,
                    "A reaction needs a state with lambda%s.",
                    p->e.n_velocity_rows > 0 ? " and psi" : "");
  *out = (as_reaction){{0}, {0}, {0}, {0}, {0}};
  if (p->e.n_bodies < 2) return AS_OK;
  double g_q[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS] = {0}, torque[3] = {0}, from[3];
  double k_v[AS_ELEMENT_ROWS * AS_ELEMENT_COLUMNS] = {0};
  as_body_motion body[AS_ELEMENT_BODIES];
  const as_element_input in = asi_look(m, state, p, body);
  const asi_coupling *coupling = info->kind == AS_JOINT_COUPLING ? p->data : NULL;
  const bool teeth = coupling && coupling->tooth.kind != ASI_TOOTH_NONE;
  double f[AS_ELEMENT_COLUMNS] = {0}; // of teeth, besides what the row does
  const as_element_output want = {.g_q = g_q, .k_v = k_v, .force = teeth ? f : NULL};
  if (p->e.type->evaluate(&in, &want, p->data))
    return asi_fail_element(m, info->element, state, error);
  asi_copy(f + 6, out->force);
  asi_copy(f + 9, torque);
  for (int r = 0; r < p->e.n_rows; ++r) {
    const double *line = g_q + r * 6 * p->e.n_bodies + 6;
    asi_add(-in.lambda[r], line, out->force);
    asi_add(-in.lambda[r], line + 3, torque);
  }
  for (int r = 0; r < p->e.n_velocity_rows; ++r) {
    const double *line = k_v + r * 6 * p->e.n_bodies + 6;
    asi_add(-in.psi[r], line, out->force);
    asi_add(-in.psi[r], line + 3, torque);
  }
  asi_rotate(body[1].R, torque, out->torque);
  asi_copy(body[1].x, out->point);
  const double *axis[3];
  placed_frame frame[2] = {{{0}, {0}, {{0}}, {0}}};
  double first[3][3];
  if (teeth) {
    asi_tooth_frame(&coupling->tooth, &in, out->point, first);
    for (int k = 0; k < 3; ++k) axis[k] = first[k];
  } else if (info->ours || coupling) {
    status = joint_frames(m, state, joint, frame, error);
    if (status) return status;
    asi_copy(frame[1].P, out->point);
    for (int k = 0; k < 3; ++k) axis[k] = frame[0].axis[k];
  } else {
    for (int k = 0; k < 3; ++k) { // columns of R
      asi_set(body[0].R[k], body[0].R[3 + k], body[0].R[6 + k], first[k]);
      axis[k] = first[k];
    }
  }
  asi_sum(out->point, -1.0, body[1].x, from);
  asi_add_cross(-1.0, from, out->force, out->torque);
  for (int k = 0; k < 3; ++k) {
    out->force_in_joint[k] = asi_dot(axis[k], out->force);
    out->torque_in_joint[k] = asi_dot(axis[k], out->torque);
  }
  return AS_OK;
}
