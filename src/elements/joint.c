/// Joints of rows, see joint.h.
///
///     fixed           point   y_a . z_b   z_a . x_b   x_a . y_b
///     revolute        point   y_a . z_b  -x_a . z_b
///     prismatic       x_a . D   y_a . D   y_a . z_b   z_a . x_b   x_a . y_b
///     cylindrical     x_a . D   y_a . D   y_a . z_b  -x_a . z_b
///     spherical       point
///     universal       point   x_a . y_b
///     planar          z_a . D   y_a . z_b  -x_a . z_b
///     point on line   x_a . D   y_a . D
///     point on plane  z_a . D
///     distance        |D| - l
///     screw           x_a . D   y_a . D   y_a . z_b  -x_a . z_b   p phi - s
///     constant vel.   point   -phi
///
/// where D = P_a - P_b, s = -z_a . D, and phi is the angle about z (screw.c). The multiplier of u . w is the
/// torque about u x w: about x, y, z of the joint in turn. A fixed joint's last rows also vanish after half a turn
/// about an axis; a motion never gets there.
///
/// Constant velocity: B is reached from A by a bend alone, about an axis across both shafts. Let A turn by alpha
/// about its z and B by beta about its own, and let T be the bend between what they turn in: B against A is
/// R_z(-alpha) T R_z(beta), and phi = beta - alpha for any bend. In the row -phi the torque on B is, where phi = 0,
///
///     lambda s_q/c = lambda (x_a x y_b - y_a x x_b)/(1 + z_a . z_b)
///
/// along the bisector of the shafts; with its component along z_a, and along z_b, equal to lambda.
#include "elements/joint.h"

#include <string.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/vector.h"

enum { X, Y, Z };

static const asi_row point = {ASI_ROW_POINT, 0, 0, 1};
static const asi_row across_x = {ASI_ROW_SEPARATION, X, 0, 1};
static const asi_row across_y = {ASI_ROW_SEPARATION, Y, 0, 1};
static const asi_row across_z = {ASI_ROW_SEPARATION, Z, 0, 1};
static const asi_row y_on_z = {ASI_ROW_AXES, Y, Z, 1};
static const asi_row x_on_z = {ASI_ROW_AXES, X, Z, -1};
static const asi_row z_on_x = {ASI_ROW_AXES, Z, X, 1};
static const asi_row x_on_y = {ASI_ROW_AXES, X, Y, 1};
static const asi_row distance = {ASI_ROW_DISTANCE, 0, 0, 1};
static const asi_row untwisted = {ASI_ROW_TWIST, 0, 0, 1};
static const asi_row screw = {ASI_ROW_SCREW, 0, 0, 1};

static void put(asi_joint *joint, asi_row row) { joint->part[joint->n_parts++] = row; }

int asi_joint_rows(asi_joint *joint) {
  int rows = 0;
  joint->need = ASI_NEED_NOTHING;
  joint->turns = false;
  for (int k = 0; k < joint->n_parts; ++k) {
    rows += joint->part[k].kind == ASI_ROW_POINT ? 3 : 1;
    const asi_row_kind kind = (asi_row_kind)joint->part[k].kind;
    const bool turns = kind == ASI_ROW_AXES || kind == ASI_ROW_TWIST;
    const asi_need need = turns                   ? ASI_NEED_NOTHING
                          : kind == ASI_ROW_POINT ? ASI_NEED_VALUE
                                                  : ASI_NEED_ALWAYS;
    if (need > joint->need) joint->need = need;
    joint->turns = joint->turns || kind == ASI_ROW_AXES;
  }
  return rows;
}

int asi_joint_compose(asi_joint *joint, as_joint_kind kind) {
  joint->n_parts = 0;
  switch (kind) {
  case AS_JOINT_FIXED:
    put(joint, point);
    put(joint, y_on_z);
    put(joint, z_on_x);
    put(joint, x_on_y);
    break;
  case AS_JOINT_REVOLUTE:
    put(joint, point);
    put(joint, y_on_z);
    put(joint, x_on_z);
    break;
  case AS_JOINT_PRISMATIC:
    put(joint, across_x);
    put(joint, across_y);
    put(joint, y_on_z);
    put(joint, z_on_x);
    put(joint, x_on_y);
    break;
  case AS_JOINT_CYLINDRICAL:
  case AS_JOINT_SCREW:
    put(joint, across_x);
    put(joint, across_y);
    put(joint, y_on_z);
    put(joint, x_on_z);
    if (kind == AS_JOINT_SCREW) put(joint, screw);
    break;
  case AS_JOINT_SPHERICAL: put(joint, point); break;
  case AS_JOINT_UNIVERSAL:
    put(joint, point);
    put(joint, x_on_y);
    break;
  case AS_JOINT_PLANAR:
    put(joint, across_z);
    put(joint, y_on_z);
    put(joint, x_on_z);
    break;
  case AS_JOINT_POINT_ON_LINE:
    put(joint, across_x);
    put(joint, across_y);
    break;
  case AS_JOINT_POINT_ON_PLANE: put(joint, across_z); break;
  case AS_JOINT_DISTANCE: put(joint, distance); break;
  case AS_JOINT_CONSTANT_VELOCITY:
    put(joint, point);
    put(joint, untwisted);
    break;
  case AS_JOINT_NOT_GIVEN:
  case AS_JOINT_MOTION:
  case AS_JOINT_OTHER:
  case AS_JOINT_COUPLING: break;
  }
  return asi_joint_rows(joint);
}

const char *asi_joint_kind_name(as_joint_kind kind) {
  static const char *const name[] = {
      "fixed",  "revolute",      "prismatic",      "cylindrical", "spherical", "universal",
      "planar", "point-on-line", "point-on-plane", "distance",    "screw",     "constant-velocity",
      "motion", "coupling",      "other"};
  return name[kind];
}

// ---- pattern ----------------------------------------------------------------------------------------

static void flag(bool *m, int row, int col, int rows, int cols) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) m[(row + i) * ASI_PAIR + col + j] = true;
}

static void flag_turns(bool *f_q, bool coupled) {
  flag(f_q, ASI_TA, ASI_TA, 3, 3);
  flag(f_q, ASI_TB, ASI_TB, 3, 3);
  if (!coupled) return;
  flag(f_q, ASI_TA, ASI_TB, 3, 3);
  flag(f_q, ASI_TB, ASI_TA, 3, 3);
}

void asi_joint_pattern(const asi_joint *joint, bool *f_q, bool *g_q, bool *gdot_q) {
  int r = 0;
  for (int k = 0; k < joint->n_parts; ++k) {
    switch ((asi_row_kind)joint->part[k].kind) {
    case ASI_ROW_POINT:
      for (int i = 0; i < 3; ++i) {
        flag(g_q, r + i, ASI_XA + i, 1, 1);
        flag(g_q, r + i, ASI_XB + i, 1, 1);
      }
      flag(g_q, r, ASI_TA, 3, 3);
      flag(g_q, r, ASI_TB, 3, 3);
      flag(gdot_q, r, ASI_TA, 3, 3);
      flag(gdot_q, r, ASI_TB, 3, 3);
      flag_turns(f_q, false);
      r += 2;
      break;
    case ASI_ROW_AXES:
    case ASI_ROW_TWIST:
      flag(g_q, r, ASI_TA, 1, 3);
      flag(g_q, r, ASI_TB, 1, 3);
      flag(gdot_q, r, ASI_TA, 1, 3);
      flag(gdot_q, r, ASI_TB, 1, 3);
      flag_turns(f_q, true);
      break;
    case ASI_ROW_SEPARATION:
    case ASI_ROW_SCREW:
      flag(g_q, r, 0, 1, ASI_PAIR);
      flag(gdot_q, r, 0, 1, ASI_PAIR);
      flag_turns(f_q, true);
      flag(f_q, ASI_XA, ASI_TA, 3, 3);
      flag(f_q, ASI_XB, ASI_TA, 3, 3);
      flag(f_q, ASI_TA, ASI_XA, 3, 3);
      flag(f_q, ASI_TA, ASI_XB, 3, 3);
      break;
    case ASI_ROW_DISTANCE:
      flag(g_q, r, 0, 1, ASI_PAIR);
      flag(gdot_q, r, 0, 1, ASI_PAIR);
      flag(f_q, 0, 0, ASI_PAIR, ASI_PAIR);
      break;
    }
    ++r;
  }
}

// ---- evaluation -------------------------------------------------------------------------------------

static int evaluate_parts(const asi_joint *joint, const asi_frame_now *A, const asi_frame_now *B,
                          const double length[3], const as_element_input *in,
                          const as_element_output *out) {
  asi_pair pair;
  asi_pair_init(&pair, in, out, A, B, joint->need);
  if (joint->turns) asi_pair_turn(&pair);
  int r = 0;
  for (int k = 0; k < joint->n_parts; ++k) {
    const asi_row row = joint->part[k];
    if (row.kind == ASI_ROW_POINT) {
      asi_point_rows(&pair, in, out, r);
      r += 3;
    } else if (row.kind == ASI_ROW_AXES) {
      asi_axes_row(&pair, row, in, out, r++);
    } else if (row.kind == ASI_ROW_SEPARATION) {
      asi_separation_row(&pair, row, in, out, r++);
    } else {
      const int code = row.kind == ASI_ROW_DISTANCE ? asi_distance_row(&pair, length, in, out, r)
                       : row.kind == ASI_ROW_TWIST
                           ? asi_twist_row(&pair, -1.0, 0.0, in, out, r)
                           : asi_screw_row(&pair, joint->advance, joint->offset, in, out, r);
      if (code) return code;
      ++r;
    }
  }
  return AS_DONE;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_joint *joint = data;
  const asi_frame_now A = asi_frame_at_rest(&joint->frame[0]);
  const asi_frame_now B = asi_frame_at_rest(&joint->frame[1]);
  const double length[3] = {joint->length, 0.0, 0.0};
  return evaluate_parts(joint, &A, &B, length, in, out);
}

/// With c and s the cosine and sine of the turn about axis k, n and m the next two axes: n turns to c n + s m.
/// Derivatives: a' = w (k x a), a'' = w' (k x a) + w^2 k x (k x a).
static void turn_axes(const double *axis, int k, const double angle[3], double *out) {
  const double *along = axis + 3 * k, *n = axis + 3 * ((k + 1) % 3), *m = axis + 3 * ((k + 2) % 3);
  const double c = cos(angle[0]), s = sin(angle[0]);
  double *now[3] = {out + 3 * k, out + 3 * ((k + 1) % 3), out + 3 * ((k + 2) % 3)};
  for (int i = 0; i < 3; ++i) {
    now[0][i] = along[i];
    now[1][i] = c * n[i] + s * m[i];
    now[2][i] = c * m[i] - s * n[i];
  }
  for (int a = 0; a < 3; ++a) {
    double once[3], twice[3];
    asi_cross(along, out + 3 * a, once);
    asi_cross(along, once, twice);
    for (int i = 0; i < 3; ++i) {
      out[9 + 3 * a + i] = angle[1] * once[i];
      out[18 + 3 * a + i] = angle[2] * once[i] + angle[1] * angle[1] * twice[i];
    }
  }
}

int asi_frame_move(const asi_frame *frame, const asi_frame_motion *motion, double t, double *store,
                   asi_frame_now *now) {
  *now = asi_frame_at_rest(frame);
  int code = AS_DONE;
  if (motion->turn.curve) {
    double angle[3];
    code = asi_curve_evaluate(motion->turn.curve, t, angle);
    for (int i = 0; i < 3; ++i) angle[i] *= motion->turn_sign;
    if (code) return code;
    turn_axes(frame->axis, motion->turn_axis, angle, store);
    now->axis = store;
    now->axis1 = store + 9;
    now->axis2 = store + 18;
  }
  bool shifted = false;
  double *p = store + 27;
  memset(p, 0, 9 * sizeof(double));
  for (int k = 0; k < 3 && code == AS_DONE; ++k) {
    if (motion->shift[k].curve == NULL) continue;
    double shift[3];
    code = asi_curve_evaluate(motion->shift[k].curve, t, shift);
    for (int order = 0; order < 3; ++order)
      asi_add(shift[order], frame->axis + 3 * k, p + 3 * order);
    shifted = true;
  }
  if (!shifted || code) return code;
  asi_add(1.0, frame->p, p);
  now->p = p;
  now->p1 = p + 3;
  now->p2 = p + 6;
  return AS_DONE;
}

static int evaluate_moving(const as_element_input *in, const as_element_output *out,
                           const void *data) {
  const asi_moving_joint *m = data;
  double store[2][36], length[3] = {m->joint.length, 0.0, 0.0};
  asi_frame_now A = asi_frame_at_rest(&m->joint.frame[0]), B = A;
  int code = asi_frame_move(&m->joint.frame[0], &m->motion[0], in->t, store[0], &A);
  if (code == AS_DONE)
    code = asi_frame_move(&m->joint.frame[1], &m->motion[1], in->t, store[1], &B);
  if (code == AS_DONE && m->length.curve) code = asi_curve_evaluate(m->length.curve, in->t, length);
  return code ? code : evaluate_parts(&m->joint, &A, &B, length, in, out);
}

const as_element_type asi_joint_type = {"joint", evaluate, NULL, NULL};
const as_element_type asi_moving_joint_type = {"joint", evaluate_moving, NULL, NULL};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between(NULL, ((const asi_joint *)data)->frame, out);
}

const asi_descriptor asi_joint_descriptor = {.type = &asi_joint_type, .draw = draw};
const asi_descriptor asi_moving_joint_descriptor = {.type = &asi_moving_joint_type, .draw = draw};

// ---- coordinates ------------------------------------------------------------------------------------

int asi_joint_coordinates(as_joint_kind kind, asi_coordinate out[AS_JOINT_COORDINATES]) {
  int n = 0;
  const bool rotations = kind == AS_JOINT_SPHERICAL || kind == AS_JOINT_POINT_ON_LINE ||
                         kind == AS_JOINT_POINT_ON_PLANE || kind == AS_JOINT_CONSTANT_VELOCITY;
  if (kind == AS_JOINT_PLANAR || kind == AS_JOINT_POINT_ON_PLANE) {
    out[n++] = (asi_coordinate){ASI_COORDINATE_SHIFT, X};
    out[n++] = (asi_coordinate){ASI_COORDINATE_SHIFT, Y};
  }
  if (kind == AS_JOINT_PRISMATIC || kind == AS_JOINT_CYLINDRICAL || kind == AS_JOINT_SCREW ||
      kind == AS_JOINT_POINT_ON_LINE)
    out[n++] = (asi_coordinate){ASI_COORDINATE_SHIFT, Z};
  if (kind == AS_JOINT_REVOLUTE || kind == AS_JOINT_CYLINDRICAL || kind == AS_JOINT_SCREW ||
      kind == AS_JOINT_PLANAR)
    out[n++] = (asi_coordinate){ASI_COORDINATE_ANGLE, Z};
  if (kind == AS_JOINT_UNIVERSAL) {
    out[n++] = (asi_coordinate){ASI_COORDINATE_ANGLE_A, X};
    out[n++] = (asi_coordinate){ASI_COORDINATE_ANGLE_B, Y};
  }
  for (int k = 0; rotations && k < 3; ++k) out[n++] = (asi_coordinate){ASI_COORDINATE_ROTATION, k};
  return n;
}

const char *asi_joint_coordinate_name(as_joint_kind kind, int coordinate) {
  static const char *const shifts[] = {"displacement_x", "displacement_y", "displacement"};
  static const char *const rotations[] = {"rotation_x", "rotation_y", "rotation_z"};
  asi_coordinate all[AS_JOINT_COORDINATES];
  if (coordinate < 0 || coordinate >= asi_joint_coordinates(kind, all)) return "";
  switch (all[coordinate].kind) {
  case ASI_COORDINATE_SHIFT: return shifts[all[coordinate].axis];
  case ASI_COORDINATE_ANGLE_A: return "angle_x";
  case ASI_COORDINATE_ANGLE_B: return "angle_y";
  case ASI_COORDINATE_ROTATION: return rotations[all[coordinate].axis];
  case ASI_COORDINATE_ANGLE:
  case ASI_COORDINATE_DIRECTION:
  case ASI_COORDINATE_HEADING: break;
  }
  return "angle";
}
