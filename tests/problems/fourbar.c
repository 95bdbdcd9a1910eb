/// A planar four-bar linkage in space, see loops.h.
///
/// In the mechanism's own plane, with u(a) = (cos a, sin a) and the angles a_0, a_1, a_2 of crank,
/// coupler and rocker, D = (d, 0) the rocker's ground joint:
///
///     l_0 u(a_0) + l_1 u(a_1) = D + l_2 u(a_2)
///
/// Body i is turned by R_i = R Z(a_i) C_i^T: R takes the plane's axes to the world, Z turns about
/// the plane's normal, and C_i, any rotation, takes link axes (x along the link) to the body's own.
/// So its axis is n_i = C_i e_z in its own frame, and its angular velocity n_i a_i'.
///
/// Reference in a_0: with W = d(x_i, a_i)/da_0, (W^T M W) a_0'' = W^T (Q - M W' a_0').
#include <math.h>
#include <string.h>

#include "problems/mechanism.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

enum { LINKS = 3 };

static const double length[LINKS] = {0.5, 1.2, 1.0}; // [m]
static const double ground = 1.1;                    // d [m]
/// Centres of mass from the link's first joint, link axes [m]: also across the plane.
static const double centre[LINKS][3] = {{0.3, 0.05, 0.1}, {0.5, -0.2, 0.0}, {0.6, 0.1, -0.15}};
static const double link_mass[LINKS] = {2.0, 1.5, 1.0}; // [kg]
static const double inertia[LINKS][9] = {{0.10, 0.01, -0.02, 0.01, 0.12, 0.015, -0.02, 0.015, 0.15},
                                         {0.08, -0.01, 0.02, -0.01, 0.20, 0.03, 0.02, 0.03, 0.16},
                                         {0.05, 0.01, 0.01, 0.01, 0.09, -0.02, 0.01, -0.02, 0.11}};
/// Unit quaternions: of R, and of C_i^T.
static const double plane[4] = {0.5, 0.7, -0.1, 0.5};
static const double own[LINKS][4] = {
    {0.7, 0.1, 0.7, -0.1}, {0.1, 0.5, 0.7, -0.5}, {-0.5, 0.7, 0.5, 0.1}};
static const double gravity[3] = {2.0, -8.5, 3.0}; // in the plane's axes [m/s^2]

/// The links' angles and all that follows from them.
typedef struct pose {
  double angle[LINKS], rate[LINKS], second[LINKS];
  double x[LINKS][2], v[LINKS][2], a[LINKS][2]; ///< of the centres, in the plane
  double crank_acceleration;
} pose;

/// Coupler and rocker angles: the joint between them lies above the diagonal from crank tip to D.
static void close_loop(double *angle) {
  const double wx = ground - length[0] * cos(angle[0]), wy = -length[0] * sin(angle[0]);
  const double w = sqrt(wx * wx + wy * wy), along = atan2(wy, wx); // |along| < pi/2
  const double l1 = length[1], l2 = length[2];
  angle[1] = along + acos((w * w + l1 * l1 - l2 * l2) / (2.0 * w * l1));
  angle[2] = along + 3.14159265358979324 - acos((w * w + l2 * l2 - l1 * l1) / (2.0 * w * l2));
}

/// Solves l_1 u'(a_1) y_1 - l_2 u'(a_2) y_2 = b.
static void solve_loop(const double *angle, const double *b, double *y) {
  const double x1 = -length[1] * sin(angle[1]), y1 = length[1] * cos(angle[1]);
  const double x2 = length[2] * sin(angle[2]), y2 = -length[2] * cos(angle[2]);
  const double det = x1 * y2 - x2 * y1;
  y[1] = (b[0] * y2 - x2 * b[1]) / det;
  y[2] = (x1 * b[1] - b[0] * y1) / det;
}

/// Velocities for crank rate w, and accelerations for crank acceleration `bend`.
static void move(pose *s, double w, double bend) {
  const double *angle = s->angle;
  double b[2];
  s->rate[0] = w;
  b[0] = length[0] * sin(angle[0]) * w;
  b[1] = -length[0] * cos(angle[0]) * w;
  solve_loop(angle, b, s->rate);
  s->second[0] = bend;
  const double sign[LINKS] = {1.0, 1.0, -1.0};
  b[0] = length[0] * sin(angle[0]) * bend;
  b[1] = -length[0] * cos(angle[0]) * bend;
  for (int i = 0; i < LINKS; ++i) {
    b[0] += sign[i] * length[i] * cos(angle[i]) * s->rate[i] * s->rate[i];
    b[1] += sign[i] * length[i] * sin(angle[i]) * s->rate[i] * s->rate[i];
  }
  solve_loop(angle, b, s->second);
  for (int i = 0; i < LINKS; ++i) {
    // Coupler: on the crank's tip. Rocker: on D.
    const double l = i == 1 ? length[0] : 0.0, c0 = l * cos(angle[0]), s0 = l * sin(angle[0]);
    const double c = cos(angle[i]), k = sin(angle[i]), r = s->rate[i], r2 = s->second[i];
    const double px = c * centre[i][0] - k * centre[i][1], py = k * centre[i][0] + c * centre[i][1];
    s->x[i][0] = c0 + px + (i == 2 ? ground : 0.0);
    s->x[i][1] = s0 + py;
    s->v[i][0] = -s0 * w - py * r;
    s->v[i][1] = c0 * w + px * r;
    s->a[i][0] = -s0 * bend - c0 * w * w - py * r2 - px * r * r;
    s->a[i][1] = c0 * bend - s0 * w * w + px * r2 - py * r * r;
  }
}

/// n^T J n of a link about its axis.
static double axial_inertia(const mechanism *c, int i) {
  double momentum[3];
  const double *n = c->joint[i].axis;
  mat_vec(c->body[i].J, n, momentum);
  return vec_dot(n, momentum);
}

/// Everything at crank angle and rate.
static pose pose_at(const mechanism *c, double crank, double w) {
  pose s = {.angle = {crank}}, unit = {.angle = {crank}};
  close_loop(s.angle);
  memcpy(unit.angle, s.angle, sizeof s.angle);
  move(&unit, 1.0, 0.0); // v = W
  move(&s, w, 0.0);      // a = W' w
  double inertia_sum = 0.0, torque = 0.0;
  for (int i = 0; i < LINKS; ++i) {
    const double J = axial_inertia(c, i), m = c->body[i].m;
    for (int k = 0; k < 2; ++k) {
      inertia_sum += m * unit.v[i][k] * unit.v[i][k];
      torque += m * unit.v[i][k] * (gravity[k] - s.a[i][k]);
    }
    inertia_sum += J * unit.rate[i] * unit.rate[i];
    torque -= J * unit.rate[i] * s.second[i];
  }
  s.crank_acceleration = torque / inertia_sum;
  move(&s, w, s.crank_acceleration);
  return s;
}

/// y = (a_0, a_0')
static void crank_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  dy[0] = y[1];
  dy[1] = pose_at(context, y[0], y[1]).crank_acceleration;
}

static void multiply(const double *p, const double *r, double *out) {
  out[0] = p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3];
  out[1] = p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2];
  out[2] = p[0] * r[2] + p[2] * r[0] + p[3] * r[1] - p[1] * r[3];
  out[3] = p[0] * r[3] + p[3] * r[0] + p[1] * r[2] - p[2] * r[1];
}

static const double start_angle = 0.4, start_rate = 9.0; // enough to revolve

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const mechanism *c = p->def.user;
  double R[9], y[2] = {start_angle, start_rate};
  reference_ode(crank_rhs, c, 2, p->t0, t, 0.01, y);
  const pose s = pose_at(c, y[0], y[1]);
  mat_from_quaternion(plane, R);
  for (int i = 0; i < LINKS; ++i) {
    const double x[3] = {s.x[i][0], s.x[i][1], centre[i][2]};
    const double rate[3] = {s.v[i][0], s.v[i][1], 0.0}, second[3] = {s.a[i][0], s.a[i][1], 0.0};
    const double *axis = c->joint[i].axis;
    if (q != NULL) {
      const double turn[4] = {cos(s.angle[i] / 2.0), 0.0, 0.0, sin(s.angle[i] / 2.0)};
      double in_plane[4];
      mat_vec(R, x, q + 7 * i);
      multiply(turn, own[i], in_plane);
      multiply(plane, in_plane, q + 7 * i + 3);
    }
    if (v != NULL) mat_vec(R, rate, v + 6 * i);
    if (vdot != NULL) mat_vec(R, second, vdot + 6 * i);
    for (int k = 0; k < 3; ++k) {
      if (v != NULL) v[6 * i + 3 + k] = s.rate[i] * axis[k];
      if (vdot != NULL) vdot[6 * i + 3 + k] = s.second[i] * axis[k];
    }
  }
  for (int i = 0; i < p->def.n_lambda && lambda != NULL; ++i) lambda[i] = (double)NAN;
}

/// Link axes to the body's own: C_i a.
static void to_body(int i, const double *a, double *out) {
  double Ct[9];
  mat_from_quaternion(own[i], Ct);
  mat_t_vec(Ct, a, out);
}

/// A point of link i, given in link axes from its first joint, in the body's frame from its centre.
static void point_of(int i, const double *a, double *out) {
  const double from_centre[3] = {a[0] - centre[i][0], a[1] - centre[i][1], a[2] - centre[i][2]};
  to_body(i, from_centre, out);
}

/// The joints around the loop; joint i = 0, 1, 2 has link i for its body a.
static void give_joints(mechanism *c, const double *offset) {
  const double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, zero[3] = {0};
  const double end[LINKS][3] = {{length[0], 0, 0}, {length[1], 0, 0}, {length[2], 0, 0}};
  const double pin[3] = {ground + offset[0], offset[1], offset[2]};
  double R[9];
  mat_from_quaternion(plane, R);
  // Crank on ground, coupler on crank, rocker on coupler, rocker on ground.
  const int a[4] = {0, 1, 2, 2}, b[4] = {-1, 0, 1, -1};
  const double *at_a[4] = {zero, zero, end[2], zero}, *at_b[4] = {zero, end[0], end[1], pin};
  for (int i = 0; i < 4; ++i) {
    mechanism_joint *j = &c->joint[i];
    j->a = a[i];
    j->b = b[i];
    j->revolute = true;
    point_of(a[i], at_a[i], j->pa);
    to_body(a[i], e[2], j->axis);
    if (b[i] < 0) {
      mat_vec(R, at_b[i], j->pb);
    } else {
      point_of(b[i], at_b[i], j->pb);
    }
    for (int k = 0; k < 2; ++k) {
      if (b[i] < 0)
        mat_vec(R, e[k], j->across[k]);
      else
        to_body(b[i], e[k], j->across[k]);
    }
  }
}

static test_problem *make(const char *name, const double *offset) {
  test_problem *p = mechanism_new(name, LINKS, 4, 0);
  mechanism *c = p->def.user;
  double *q0 = loops_take(p, 13 * LINKS, sizeof *q0), *v0 = q0 + 7 * LINKS, R[9];
  for (int i = 0; i < LINKS; ++i) {
    c->body[i].m = link_mass[i];
    memcpy(c->body[i].J, inertia[i], sizeof inertia[i]);
  }
  mat_from_quaternion(plane, R);
  mat_vec(R, gravity, c->gravity);
  give_joints(c, offset);
  mechanism_define(p);
  p->def.time_scale = 0.1;
  p->t_end = 1.5;
  exact(p, 0.0, q0, v0, NULL, NULL);
  p->q0 = q0;
  p->v0 = v0;
  return p;
}

test_problem *loops_fourbar(void) {
  const double none[3] = {0};
  test_problem *p = make("fourbar", none);
  p->exact = exact;
  return p;
}

test_problem *loops_fourbar_off(const double offset[3]) { return make("fourbar_off", offset); }
