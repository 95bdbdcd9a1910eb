/// Forces between teeth. The constraint of a coupling (coupling.c) brings the force across the line of centres, and
/// that along the axes of helical wheels. What is left depends on the flank that bears: whichever it is, teeth press
/// wheels apart. With z the axis of the first wheel, C_1 and C_2 points of both axes in the plane of the teeth,
///
///     wheels    d = C_2 - C_1,  p = d - (z . d) z,  e = p/|p|        P = C_1 + share d
///     rack      e = u x z,  u along the rack                         P = C_1 + reach e
///     bevel     e, u constant sums of z_1 and z_2, C_1 the apex      P = C_1 + reach u
///
/// a force F acts on the second wheel and -F on the first, both at P, so that momentum is kept:
///
///     F = separating N e + thrust lambda z            N = lambda^2/sqrt(lambda^2 + small^2), |lambda| but for small ones
///
/// with u for z where wheels are bevel. Where wheels have a carrier in common, F is the whole force: with across lambda b, b = z x e
/// of wheels, u of a rack, z_1 x z_2 of bevel wheels, and the thrust of wheels; what the row of the coupling would do is taken
/// away there (coupling.c). Elsewhere the row is one between the wheels and brings these parts itself; of bevel wheels
/// a couple, which together with across lambda b in the apex is a force at P.
///
/// As long as bearings keep the centre distance and hold the wheels along their axes, all this does no work. A vector and its
/// derivatives are carried along together: D(R a) = R (dtheta x a). The torque about a centre of mass in the body's axes,
/// T = R^T ((P - x) x F), changes by R^T ((dP - dx) x F + (P - x) x dF) + T x dtheta.
#include "elements/tooth.h"

#include <math.h>
#include <string.h>

#include "elements/vector.h"

enum { COLUMNS = 12 };

/// A vector in the world, and how it changes with each column.
typedef struct changing {
  double at[3];
  double by[COLUMNS][3];
} changing;

/// R a, or x + R a, of the first or the second body.
static void put_on_body(const as_element_input *in, int b, const double *a, bool point,
                        changing *out) {
  static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  memset(out, 0, sizeof *out);
  asi_rotate(in->body[b]->R, a, out->at);
  if (point) asi_add(1.0, in->body[b]->x, out->at);
  for (int k = 0; k < 3; ++k) {
    double turned[3];
    asi_cross(unit[k], a, turned);
    asi_rotate(in->body[b]->R, turned, out->by[6 * b + 3 + k]);
    if (point) out->by[6 * b + k][k] = 1.0;
  }
}

/// Where and along what teeth press.
typedef struct contact {
  changing P, e;
  changing z; ///< of the first wheel; of bevel wheels u
  changing b; ///< across: z_1 x e, u of a rack, z_1 x z_2 of bevel wheels
  changing A; ///< apex of bevel wheels
} contact;

static void find_wheels(const asi_tooth *t, const changing *C1, const changing *C2, contact *c) {
  double d[3], p[3];
  asi_sum(C2->at, -1.0, C1->at, d);
  const double h = asi_dot(c->z.at, d);
  asi_sum(d, -h, c->z.at, p);
  const double length = asi_norm(p);
  for (int k = 0; k < 3; ++k) c->e.at[k] = p[k] / length;
  asi_sum(C1->at, t->share, d, c->P.at);
  for (int j = 0; j < COLUMNS; ++j) {
    double dd[3], dp[3];
    asi_sum(C2->by[j], -1.0, C1->by[j], dd);
    const double dh = asi_dot(c->z.by[j], d) + asi_dot(c->z.at, dd);
    asi_sum(dd, -dh, c->z.at, dp);
    asi_add(-h, c->z.by[j], dp);
    asi_add(-asi_dot(c->e.at, dp), c->e.at, dp);
    for (int k = 0; k < 3; ++k) c->e.by[j][k] = dp[k] / length;
    asi_sum(C1->by[j], t->share, dd, c->P.by[j]);
  }
}

/// first x second
static void cross_changing(const changing *first, const changing *second, changing *out) {
  asi_cross(first->at, second->at, out->at);
  for (int j = 0; j < COLUMNS; ++j) {
    asi_cross(first->by[j], second->at, out->by[j]);
    asi_add_cross(1.0, first->at, second->by[j], out->by[j]);
  }
}

/// factor[0] first + factor[1] second
static void mix(const double factor[2], const changing *first, const changing *second,
                changing *out) {
  for (int k = 0; k < 3; ++k) out->at[k] = factor[0] * first->at[k] + factor[1] * second->at[k];
  for (int j = 0; j < COLUMNS; ++j)
    for (int k = 0; k < 3; ++k)
      out->by[j][k] = factor[0] * first->by[j][k] + factor[1] * second->by[j][k];
}

static void find_rack(const asi_tooth *t, const changing *C1, const changing *u, contact *c) {
  c->b = *u;
  cross_changing(u, &c->z, &c->e);
  mix((double[]){1.0, t->reach}, C1, &c->e, &c->P);
}

static void find_bevel(const asi_tooth *t, const changing *C1, const changing *z2, contact *c) {
  const changing z1 = c->z;
  c->A = *C1;
  cross_changing(&z1, z2, &c->b);
  mix(t->apart, &z1, z2, &c->e);
  mix(t->along, &z1, z2, &c->z);
  mix((double[]){1.0, t->reach}, C1, &c->z, &c->P);
}

static void find_contact(const asi_tooth *t, const as_element_input *in, contact *c) {
  changing C1, other;
  put_on_body(in, 0, t->wheel[0].p, true, &C1);
  put_on_body(in, 0, t->wheel[0].axis + 6, false, &c->z);
  if (t->kind == ASI_TOOTH_WHEELS) {
    put_on_body(in, 1, t->wheel[1].p, true, &other);
    find_wheels(t, &C1, &other, c);
    cross_changing(&c->z, &c->e, &c->b);
    return;
  }
  put_on_body(in, 1, t->wheel[1].axis + 6, false, &other);
  if (t->kind == ASI_TOOTH_RACK)
    find_rack(t, &C1, &other, c);
  else
    find_bevel(t, &C1, &other, c);
}

/// Adds the wrench of F at P on the second body and its opposite on the first, to every `stride`th number.
static void add_wrench(const as_element_input *in, const double *P, const double *F, double *out,
                       int stride) {
  for (int b = 0; b < 2; ++b) {
    const double sign = b == 0 ? -1.0 : 1.0;
    double arm[3], moment[3], torque[3];
    asi_sum(P, -1.0, in->body[b]->x, arm);
    asi_cross(arm, F, moment);
    asi_rotate_back(in->body[b]->R, moment, torque);
    for (int k = 0; k < 3; ++k) {
      out[(6 * b + k) * stride] += sign * F[k];
      out[(6 * b + 3 + k) * stride] += sign * torque[k];
    }
  }
}

/// A force at a point: factor times the direction, whose slope is by lambda.
static void pull(const as_element_input *in, const changing *P, const changing *direction,
                 double factor, double slope, const as_element_output *out, int columns) {
  double F[3] = {0};
  asi_add(factor, direction->at, F);
  if (out->force) add_wrench(in, P->at, F, out->force, 1);
  if (out->f_lambda) {
    double by[3] = {0};
    asi_add(slope, direction->at, by);
    add_wrench(in, P->at, by, out->f_lambda, 1);
  }
  if (out->f_q == NULL) return;
  for (int j = 0; j < COLUMNS; ++j) {
    double dF[3] = {0};
    asi_add(factor, direction->by[j], dF);
    add_wrench(in, P->at, dF, out->f_q + j, columns);
  }
  for (int b = 0; b < 2; ++b) {
    const double sign = b == 0 ? -1.0 : 1.0;
    double arm[3], moment[3], torque[3];
    asi_sum(P->at, -1.0, in->body[b]->x, arm);
    asi_cross(arm, F, moment);
    asi_rotate_back(in->body[b]->R, moment, torque);
    for (int j = 0; j < COLUMNS; ++j) {
      double moved[3], change[3];
      asi_copy(P->by[j], moved);
      if (j / 6 == b && j % 6 < 3) moved[j % 6] -= 1.0;
      asi_cross(moved, F, moment);
      asi_rotate_back(in->body[b]->R, moment, change);
      for (int k = 0; k < 3; ++k) out->f_q[(6 * b + 3 + k) * columns + j] += sign * change[k];
    }
    asi_add_skew(sign, torque, out->f_q + (6 * b + 3) * columns + 6 * b + 3, columns);
  }
}

bool asi_tooth_reads(const asi_tooth *t) {
  return t->kind != ASI_TOOTH_NONE &&
         (t->separating != 0.0 || t->thrust != 0.0 || t->across != 0.0);
}

void asi_tooth_evaluate(const asi_tooth *t, const as_element_input *in,
                        const as_element_output *out, int columns) {
  if (!asi_tooth_reads(t) || !(out->force || out->f_q || out->f_lambda)) return;
  contact c;
  find_contact(t, in, &c);
  const double lambda = in->read[0], s2 = lambda * lambda + t->small * t->small, s = sqrt(s2);
  const double slope = lambda * (s2 + t->small * t->small) / (s2 * s);
  pull(in, &c.P, &c.e, t->separating * lambda * lambda / s, t->separating * slope, out, columns);
  if (t->thrust != 0.0) pull(in, &c.P, &c.z, t->thrust * lambda, t->thrust, out, columns);
  if (t->across != 0.0)
    pull(in, t->whole ? &c.P : &c.A, &c.b, t->across * lambda, t->across, out, columns);
}

void asi_tooth_frame(const asi_tooth *t, const as_element_input *in, double point[3],
                     double axis[3][3]) {
  contact c;
  find_contact(t, in, &c);
  asi_copy(c.P.at, point);
  double x[3], z[3];
  asi_rotate(in->body[1]->R, t->wheel[1].axis + 6, z);
  double pressed = 1.0; // where e points to, it presses
  double forward = 1.0;
  if (t->kind == ASI_TOOTH_RACK) {
    asi_copy(z, x);
    pressed = t->reach < 0.0 ? -1.0 : 1.0;
  } else if (t->kind == ASI_TOOTH_BEVEL) {
    asi_copy(c.b.at, x);
    forward = (t->across < 0.0 ? -1.0 : 1.0) / asi_norm(x);
  } else { // z_2 x (P - C_2), in which C_2 is ahead unless the second wheel is the one in the ring
    asi_cross(z, c.e.at, x);
    forward = t->share < 1.0 ? -1.0 : 1.0;
    pressed = t->share < 0.0 || t->share > 1.0 ? -1.0 : 1.0;
  }
  for (int k = 0; k < 3; ++k) {
    axis[0][k] = forward * x[k];
    axis[1][k] = pressed * c.e.at[k];
  }
  asi_cross(axis[0], axis[1], axis[2]);
}
