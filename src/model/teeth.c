/// The geometry of teeth, from the frames of two joints on what carries the wheels: these do not depend on how well the
/// starting poses fit. With the lines O_i + s z_i of both axes, d = O_2 - O_1, h = z_1 . d, p = d - h z_1, a = |p|:
///
///     outer wheels   a = r_1 + r_2      share = r_1/a          of P = C_1 + share (C_2 - C_1)
///     a wheel in a   a = |r_2 - r_1|    share = r_1/(r_1 - r_2)
///     ring           r_1 : r_2 = z_1 : z_2
///     rack           P = C_1 + r u x z_1, u along the rack: there the pinion's rim moves as the rack does
///     bevel wheels   P = A + R u, A where the axes meet, u = (k_2 z_1 + k_1 z_2)/m: there both rims move alike, since the sum
///                    k_1 phi_1 + k_2 phi_2 is constant; r_i = |R k_i| |z_1 x z_2|/m
///
/// The force across u that is the torque lambda about z_2 is -lambda m/(R k_2 |z_1 x z_2|) along z_1 x z_2. The teeth of spur
/// wheels and racks are in a plane across the first axis; C_i are points of the wheels in it. The sum that is coupled is that
/// of the joints' coordinates up to a constant: with psi_i the direction of the other wheel in the axes of what
/// carries wheel i, phi_i = psi_i - (direction in the axes of the wheel itself); and likewise for racks.
#include "model/teeth.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/vector.h"

enum { X, Y, Z };

#define PARALLEL 1e-3 // sine of an angle up to which axes are parallel, or across each other
#define APART 1e-9    // distance of parallel axes that are not the same line [m]
#define IN_PLANE 1e-6 // part of the centre distance that origins may be apart along the axis
#define MEET 1e-3 // part of the way to the teeth that the axes of bevel wheels may miss each other
#define PITCH_POINT 0.01 // part of a radius that a given pitch point may be off
#define STEEPEST 1.5     // of angles of teeth [rad]

/// A frame of what carries a wheel, in the world.
typedef struct axle {
  double O[3], axis[3][3];
  int carrier;
  as_joint_kind kind;
  double advance; ///< how far the wheel is from O along z at the starting pose
  asi_frame wheel;
} axle;

static void place(const as_body_motion *body, const asi_frame *frame, double O[3],
                  double axis[3][3]) {
  asi_rotate(body->R, frame->p, O);
  asi_add(1.0, body->x, O);
  for (int k = 0; k < 3; ++k) asi_rotate(body->R, frame->axis + 3 * k, axis[k]);
}

static axle find_axle(const as_builder *b, const asi_mesh *mesh, int s) {
  const asi_joint_info *info = &b->joint[mesh->joint[s].index];
  const asi_element *e = &b->element[info->element];
  const int wheel = mesh->wheel[s];
  asi_joint joint;
  memcpy(&joint, b->data + e->data, sizeof joint);
  axle a = {.carrier = e->body[1 - wheel], .kind = info->kind, .wheel = joint.frame[wheel]};
  place(asi_builder_pose(b, a.carrier), &joint.frame[1 - wheel], a.O, a.axis);
  if (a.kind == AS_JOINT_REVOLUTE) return a;
  double C[3], axis[3][3];
  place(asi_builder_pose(b, e->body[wheel]), &a.wheel, C, axis);
  asi_add(-1.0, a.O, C);
  a.advance = asi_dot(a.axis[Z], C);
  return a;
}

/// How the axes are to each other.
typedef struct layout {
  axle on[2];
  double d[3], h, a;
  double same;  ///< 1: the axes of two wheels have the same direction, -1: opposite ones
  bool outer;   ///< no wheel is in the other
  double r[2];  ///< pitch radii
  double share; ///< of P
  bool bevel;
  double sine;    ///< |z_1 x z_2|
  double apex[2]; ///< of bevel wheels: where it is along each axis
  double miss;    ///< how far the axes are apart there
  double A[3];    ///< it, on the first axis
} layout;

/// Where two axes that are not parallel are closest.
static void find_apex(layout *l) {
  const double *z1 = l->on[0].axis[Z], *z2 = l->on[1].axis[Z];
  double n[3], with_z1[3], with_z2[3], other[3];
  asi_cross(z1, z2, n);
  asi_cross(l->d, z1, with_z1);
  asi_cross(l->d, z2, with_z2);
  l->apex[0] = asi_dot(with_z2, n) / asi_dot(n, n);
  l->apex[1] = asi_dot(with_z1, n) / asi_dot(n, n);
  asi_sum(l->on[0].O, l->apex[0], z1, l->A);
  asi_sum(l->on[1].O, l->apex[1], z2, other);
  asi_add(-1.0, l->A, other);
  l->miss = asi_norm(other);
}

static layout lay_out(const as_builder *b, const asi_mesh *mesh) {
  layout l = {.on = {find_axle(b, mesh, 0), find_axle(b, mesh, 1)}};
  const double *z1 = l.on[0].axis[Z], *z2 = l.on[1].axis[Z], *k = mesh->factor;
  double p[3];
  asi_sum(l.on[1].O, -1.0, l.on[0].O, l.d);
  l.h = asi_dot(z1, l.d);
  asi_sum(l.d, -l.h, z1, p);
  l.a = asi_norm(p);
  l.same = asi_dot(z1, z2) < 0.0 ? -1.0 : 1.0;
  l.outer = k[0] * k[1] * l.same > 0.0; // they turn opposite ways
  const double teeth[2] = {fabs(k[0]), l.outer ? fabs(k[1]) : -fabs(k[1])};
  l.share = teeth[0] / (teeth[0] + teeth[1]);
  for (int s = 0; s < 2; ++s) l.r[s] = l.a * fabs(teeth[s] / (teeth[0] + teeth[1]));
  asi_cross(z1, z2, p);
  l.sine = asi_norm(p);
  l.bevel = !mesh->rack && l.sine > PARALLEL;
  if (l.bevel) find_apex(&l);
  return l;
}

// ---- what is known ------------------------------------------------------------------------------------

static bool keeps_axis(as_joint_kind kind) {
  return kind == AS_JOINT_REVOLUTE || kind == AS_JOINT_CYLINDRICAL || kind == AS_JOINT_SCREW;
}

static bool keeps_direction(as_joint_kind kind) {
  return kind == AS_JOINT_PRISMATIC || kind == AS_JOINT_CYLINDRICAL || kind == AS_JOINT_SCREW;
}

static bool is_given(const double point[3]) {
  return !isnan(point[0]) || !isnan(point[1]) || !isnan(point[2]);
}

static const char *why_no_bevel(const asi_mesh *mesh, const layout *l) {
  if (!is_given(mesh->tooth->point))
    return "the axes of its wheels are not parallel, and no `point` says where its teeth meet";
  if (l->on[0].kind != AS_JOINT_REVOLUTE || l->on[1].kind != AS_JOINT_REVOLUTE)
    return "the axes of its wheels are not parallel, and it is not on two revolute joints";
  double from[3];
  asi_sum(mesh->tooth->point, -1.0, l->A, from);
  if (l->miss > MEET * asi_norm(from))
    return "the axes of its wheels neither are parallel nor meet";
  return NULL;
}

/// Why there is no pitch point, NULL: there is.
static const char *why_unknown(const asi_mesh *mesh, const layout *l) {
  const axle *on = l->on;
  if (l->bevel) return why_no_bevel(mesh, l);
  if (!keeps_axis(on[0].kind) || !(mesh->rack ? keeps_direction : keeps_axis)(on[1].kind))
    return "one of its joints lets the axis of a wheel move";
  if (mesh->rack)
    return fabs(asi_dot(on[0].axis[Z], on[1].axis[Z])) > PARALLEL
               ? "the rack does not move across the axis of the pinion"
               : NULL;
  if (!(l->a > APART)) return "its wheels turn about the same axis";
  if (!isfinite(l->share)) return "a wheel in a ring has fewer teeth than the ring";
  return NULL;
}

static as_status check_numbers(const asi_mesh *mesh, as_error *error) {
  const as_tooth_def *t = mesh->tooth;
  const bool angles =
      t->pressure_angle >= 0.0 && t->pressure_angle <= STEEPEST && fabs(t->helix_angle) <= STEEPEST;
  if (!angles)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, mesh->name,
        "The teeth of the %s \"%s\" have a pressure angle of %g rad and a helix angle of "
        "%g rad: from 0 to %g, and from %g to %g, are possible.",
        mesh->kind, mesh->name, t->pressure_angle, t->helix_angle, STEEPEST, -STEEPEST, STEEPEST);
  if (!(t->small_force > 0.0) || !isfinite(t->small_force))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, mesh->name,
                    "The small force of the %s \"%s\" is %g N; it must be a positive number.",
                    mesh->kind, mesh->name, t->small_force);
  if (is_given(t->point) && !isfinite(t->point[0] + t->point[1] + t->point[2]))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, mesh->name,
                    "The point of the %s \"%s\" must be three numbers.", mesh->kind, mesh->name);
  return AS_OK;
}

/// The thrust of a rack is no constraint force: it would do work if the pinion could give way.
static as_status check_thrust(const asi_mesh *mesh, const layout *l, as_error *error) {
  if (!mesh->rack || mesh->tooth->helix_angle == 0.0 || l->on[0].kind == AS_JOINT_REVOLUTE)
    return AS_OK;
  return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, mesh->name,
                  "The %s \"%s\" has a helix angle: its pinion must be on a revolute joint, which "
                  "holds it along its axis.",
                  mesh->kind, mesh->name);
}

/// Whether a given point is where the teeth meet.
static as_status check_point(const asi_mesh *mesh, const double P[3], double size,
                             as_error *error) {
  double off[3];
  asi_sum(mesh->tooth->point, -1.0, P, off);
  if (asi_norm(off) <= PITCH_POINT * size) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, mesh->name,
                  "The teeth of the %s \"%s\" could meet at (%.6g, %.6g, %.6g) m, %.3g m away from "
                  "its point.",
                  mesh->kind, mesh->name, P[0], P[1], P[2], asi_norm(off));
}

/// The plane of the teeth, along the first axis from O_1.
static as_status find_plane(const asi_mesh *mesh, const layout *l, double *plane,
                            const char **remark, as_error *error) {
  const double *given = mesh->tooth->point, *O = l->on[0].O, *z = l->on[0].axis[Z];
  if (!is_given(given)) {
    *plane = mesh->rack ? 0.0 : l->h / 2.0;
    if (!mesh->rack && fabs(l->h) > IN_PLANE * l->a)
      *remark = "has joints whose origins are apart along the axis: its teeth are taken midway. "
                "Its `point` says where they are";
    return AS_OK;
  }
  double P[3];
  asi_sum(given, -1.0, O, P);
  *plane = asi_dot(z, P);
  asi_sum(O, *plane, z, P);
  if (mesh->rack) {
    asi_add_cross(mesh->radius, l->on[1].axis[Z], z, P);
  } else {
    asi_add(l->share, l->d, P);
    asi_add(-l->share * l->h, z, P);
  }
  return check_point(mesh, P, mesh->rack ? fabs(mesh->radius) : fmin(l->r[0], l->r[1]), error);
}

// ---- the coupling -------------------------------------------------------------------------------------

static double angle_in(const axle *on, const double *vector) {
  return atan2(asi_dot(on->axis[Y], vector), asi_dot(on->axis[X], vector));
}

static asi_coupling_side side_of(const asi_tooth *t, int first, asi_coordinate_kind kind,
                                 double factor) {
  return (asi_coupling_side){.frame = {t->wheel[first], t->wheel[1 - first]},
                             .body = {first, 1 - first},
                             .of = {kind, Z},
                             .factor = factor};
}

static void couple_wheels(const asi_mesh *mesh, const layout *l, double plane, asi_coupling *c) {
  asi_tooth *t = &c->tooth;
  const double *k = mesh->factor, beta = mesh->tooth->helix_angle;
  double back[3] = {0};
  asi_add(-1.0, l->d, back);
  asi_add(plane - l->on[0].advance, t->wheel[0].axis + 3 * Z, t->wheel[0].p);
  asi_add(l->same * (plane - l->h) - l->on[1].advance, t->wheel[1].axis + 3 * Z, t->wheel[1].p);
  c->offset -= k[0] * angle_in(&l->on[0], l->d) + k[1] * angle_in(&l->on[1], back);
  c->side[0] = side_of(t, 0, ASI_COORDINATE_DIRECTION, -k[0]);
  c->side[1] = side_of(t, 1, ASI_COORDINATE_DIRECTION, -k[1]);
  t->share = l->share;
  t->separating =
      (l->outer ? 1.0 : -1.0) * tan(mesh->tooth->pressure_angle) / (cos(beta) * l->r[1]);
  t->small = mesh->tooth->small_force * l->r[1];
  if (beta == 0.0) return;
  const double twist = k[0] * tan(beta) / l->r[0];
  c->side[2] = side_of(t, 0, ASI_COORDINATE_SHIFT, twist * t->share);
  c->side[3] = side_of(t, 1, ASI_COORDINATE_SHIFT, -l->same * twist * (1.0 - t->share));
  c->n_sides = 4;
}

static void couple_rack(const asi_mesh *mesh, const layout *l, double plane, asi_coupling *c) {
  asi_tooth *t = &c->tooth;
  const double *k = mesh->factor, *u = l->on[1].axis[Z], beta = mesh->tooth->helix_angle;
  const double side = mesh->radius < 0.0 ? -1.0 : 1.0;
  asi_add(plane - l->on[0].advance, t->wheel[0].axis + 3 * Z, t->wheel[0].p);
  c->offset -= k[0] * angle_in(&l->on[0], u) - k[1] * asi_dot(u, l->d);
  c->side[0] = side_of(t, 0, ASI_COORDINATE_HEADING, -k[0]);
  c->side[1] = side_of(t, 1, ASI_COORDINATE_SHIFT, -k[1]);
  t->reach = mesh->radius;
  t->separating = side * tan(mesh->tooth->pressure_angle) / cos(beta);
  t->thrust = -side * tan(beta);
  t->small = mesh->tooth->small_force;
}

/// 1 or -1 times e presses the second wheel: away from the axis of the first, if that is the smaller one, and towards its
/// own, if it is smaller itself. The larger may be a ring.
static double pressing(const layout *l, const double *e, const double *u, double reach,
                       const double r[2]) {
  const int small = r[0] <= r[1] ? 0 : 1;
  const double *z = l->on[small].axis[Z];
  double radius[3];
  asi_sum(u, -asi_dot(z, u), z, radius);
  const double out = reach * asi_dot(e, radius);
  return (small == 0) == (out > 0.0) ? 1.0 : -1.0;
}

static as_status couple_bevel(const asi_mesh *mesh, const layout *l, asi_coupling *c,
                              as_error *error) {
  asi_tooth *t = &c->tooth;
  const double *z1 = l->on[0].axis[Z], *z2 = l->on[1].axis[Z], *k = mesh->factor;
  const double beta = mesh->tooth->helix_angle;
  double u[3] = {0}, from[3], P[3], e[3];
  asi_add(k[1], z1, u);
  asi_add(k[0], z2, u);
  const double m = asi_norm(u);
  for (int i = 0; i < 3; ++i) u[i] /= m;
  t->along[0] = k[1] / m;
  t->along[1] = k[0] / m;
  asi_sum(mesh->tooth->point, -1.0, l->A, from);
  t->reach = asi_dot(from, u);
  asi_sum(l->A, t->reach, u, P);
  const double r[2] = {fabs(t->reach * k[0]) * l->sine / m, fabs(t->reach * k[1]) * l->sine / m};
  const as_status status = check_point(mesh, P, fmin(r[0], r[1]), error);
  if (status) return status;
  for (int s = 0; s < 2; ++s)
    asi_add(l->apex[s], t->wheel[s].axis + 3 * Z, t->wheel[s].p); // on revolute joints
  c->offset -= k[0] * angle_in(&l->on[0], z2) + k[1] * angle_in(&l->on[1], z1);
  c->side[0] = side_of(t, 0, ASI_COORDINATE_HEADING, -k[0]);
  c->side[1] = side_of(t, 1, ASI_COORDINATE_HEADING, -k[1]);
  // e is what is left of z_1 across u
  const double h = asi_dot(z1, u), length = sqrt(1.0 - h * h);
  asi_sum(z1, -h, u, e);
  const double side = pressing(l, e, u, t->reach, r);
  t->apart[0] = side * (1.0 - h * t->along[0]) / length;
  t->apart[1] = side * -h * t->along[1] / length;
  const double force = -m / (t->reach * k[1] * l->sine); // along z_1 x z_2/|z_1 x z_2|, by lambda
  t->across = force / l->sine;
  t->separating = tan(mesh->tooth->pressure_angle) / (cos(beta) * r[1]);
  // turns b is where the rim of the first wheel goes, ahead u leads along z_1: right-handed teeth lean that way.
  const double turns = t->reach * k[0] < 0.0 ? -1.0 : 1.0, ahead = h < 0.0 ? -1.0 : 1.0;
  t->thrust = -force * turns * ahead * tan(beta);
  t->small = mesh->tooth->small_force * r[1];
  return AS_OK;
}

/// Of wheels on one carrier: the row stays one of the joints' coordinates, and the force is all here.
static void act_as_whole(const asi_mesh *mesh, const layout *l, const asi_coupling *joints,
                         asi_coupling *c) {
  asi_tooth *t = &c->tooth;
  const asi_tooth tooth = *t;
  const double *k = mesh->factor, beta = mesh->tooth->helix_angle;
  *c = *joints;
  *t = tooth;
  t->whole = true;
  if (t->kind == ASI_TOOTH_RACK) t->across = 1.0;
  if (t->kind != ASI_TOOTH_WHEELS) return;
  // z_2 x (P - C_2) is where the torque on the second wheel pushes; P - C_2 = (share - 1) (C_2 - C_1)
  t->across = (t->share < 1.0 ? -1.0 : 1.0) * l->same / l->r[1];
  const double twist = k[0] * tan(beta) / l->r[0];
  t->thrust = twist / k[1];
  for (int s = 0; s < 2 && beta != 0.0; ++s) {
    if (l->on[s].kind == AS_JOINT_REVOLUTE) continue;
    asi_coupling_side *side = &c->side[c->n_sides++];
    *side = c->side[s];
    side->of = (asi_coordinate){ASI_COORDINATE_SHIFT, Z};
    // as seen from the carrier, along the first axis
    side->factor = (s == 0 ? -twist : l->same * twist) * (mesh->wheel[s] == 1 ? 1.0 : -1.0);
    c->offset += side->factor * l->on[s].advance * (mesh->wheel[s] == 1 ? 1.0 : -1.0);
  }
}

as_status asi_builder_teeth(const as_builder *b, const asi_mesh *mesh, asi_coupling *c,
                            const char **remark, as_error *error) {
  const as_tooth_def *def = mesh->tooth;
  *remark = NULL;
  if (def->kind == AS_TOOTH_TORQUE) return AS_OK;
  as_status status = check_numbers(mesh, error);
  if (status) return status;
  const bool said = def->kind == AS_TOOTH_FORCE || is_given(def->point) || def->helix_angle != 0.0;
  const layout l = lay_out(b, mesh);
  const char *why = why_unknown(mesh, &l);
  if (why == NULL && !said && l.on[0].carrier != l.on[1].carrier)
    why = "its joints have no body in common";
  if (why && said)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, mesh->name,
                    "The %s \"%s\" cannot have a tooth force: %s. Torques alone are possible: "
                    "`force: torque`.",
                    mesh->kind, mesh->name, why);
  if (why) {
    *remark = why;
    return AS_OK;
  }
  const asi_coupling joints = *c;
  c->tooth = (asi_tooth){.kind = l.bevel      ? ASI_TOOTH_BEVEL
                                 : mesh->rack ? ASI_TOOTH_RACK
                                              : ASI_TOOTH_WHEELS};
  for (int s = 0; s < 2; ++s) c->tooth.wheel[s] = l.on[s].wheel;
  c->n_bodies = 2;
  double plane = 0.0;
  if (l.bevel) {
    status = couple_bevel(mesh, &l, c, error);
  } else {
    status = check_thrust(mesh, &l, error);
    if (status == AS_OK) status = find_plane(mesh, &l, &plane, remark, error);
    if (status == AS_OK) (mesh->rack ? couple_rack : couple_wheels)(mesh, &l, plane, c);
  }
  if (status == AS_OK && l.on[0].carrier == l.on[1].carrier) act_as_whole(mesh, &l, &joints, c);
  return status;
}
