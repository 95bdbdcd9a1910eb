/// The drag of a fluid at a point p of a body, in the body's axes. With w the velocity of the fluid, K = A diag(density/2 area) A^T
/// and c the viscous part:
///
///     b = R^T (v - w)      u = b + omega x p + p'                  against the fluid
///     F = -(c u + |u| K u)                                         f_x = R F      f_theta = p x F
///     H = -D_u F = c 1 + |u| K + K u u^T/|u|                       0 for the last part at u = 0
///     u_theta = b~     u_v = R^T     u_omega = -p~                 D_theta (R F) = -R F~ - R H b~
///
/// What the wind does, f_x . w, counts as supplied, the rest -F . u as dissipated: both parts of F are against u.
#include "elements/drag.h"

#include <math.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/vector.h"

enum { COLUMNS = 6, X = 0, TURN = 3 };

typedef struct flow {
  double p[3], b[3], u[3], speed, F[3];
  double H[9];
} flow;

static int find_flow(const asi_drag *d, const as_element_input *in, flow *x) {
  const as_body_motion *body = in->body[0];
  double store[36], against[3], along[3];
  asi_frame_now frame;
  const int code = asi_frame_move(&d->frame, &d->motion, in->t, store, &frame);
  if (code) return code;
  asi_copy(frame.p, x->p);
  asi_sum(body->v, -1.0, d->wind, against);
  asi_rotate_back(body->R, against, x->b);
  asi_sum(x->b, 1.0, frame.p1, x->u);
  asi_add_cross(1.0, body->omega, x->p, x->u);
  x->speed = asi_norm(x->u);
  asi_set(0.0, 0.0, 0.0, x->F);
  for (int i = 0; i < 9; ++i) x->H[i] = 0.0;
  asi_add(-d->viscous, x->u, x->F);
  asi_add_identity(d->viscous, x->H, 3);
  for (int k = 0; k < 3; ++k) {
    const double *axis = frame.axis + 3 * k;
    along[k] = d->half[k] * asi_dot(axis, x->u);
    asi_add(-x->speed * along[k], axis, x->F);
    asi_add_outer(x->speed * d->half[k], axis, axis, x->H, 3);
    if (x->speed > 0.0) asi_add_outer(along[k] / x->speed, axis, x->u, x->H, 3);
  }
  return AS_DONE;
}

/// out += the rows of force and torque of a derivative -H D of F, 3 x 3
static void add_derivative(const as_body_motion *body, const flow *x, const double *D, int column,
                           double *out) {
  double HD[9], RHD[9];
  asi_multiply(x->H, D, HD);
  asi_multiply(body->R, HD, RHD);
  asi_add_matrix(-1.0, RHD, out + X * COLUMNS + column, COLUMNS);
  asi_add_skew_times(-1.0, x->p, HD, out + TURN * COLUMNS + column, COLUMNS);
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const as_body_motion *body = in->body[0];
  double D[9] = {0};
  flow x;
  const int code = find_flow(data, in, &x);
  if (code) return code;
  if (out->force) {
    asi_rotate(body->R, x.F, out->force + X);
    asi_cross(x.p, x.F, out->force + TURN);
  }
  if (out->f_q) {
    asi_add_skew(1.0, x.b, D, 3);
    add_derivative(body, &x, D, TURN, out->f_q);
    asi_add_times_skew(-1.0, body->R, x.F, out->f_q + X * COLUMNS + TURN, COLUMNS);
  }
  if (out->f_v) {
    asi_set_transposed(body->R, D);
    add_derivative(body, &x, D, X, out->f_v);
    for (int i = 0; i < 9; ++i) D[i] = 0.0;
    asi_add_skew(-1.0, x.p, D, 3);
    add_derivative(body, &x, D, TURN, out->f_v);
  }
  return AS_DONE;
}

/// What a frame's own motion in the body takes or gives is not counted.
static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_drag *d = data;
  flow x;
  double force[3];
  out->dissipated = (double)NAN;
  if (find_flow(d, in, &x)) return;
  asi_rotate(in->body[0]->R, x.F, force);
  out->dissipated = -asi_dot(x.F, x.u);
  out->supplied = asi_dot(force, in->body[0]->v) + out->dissipated;
  double turned[3];
  asi_cross(x.p, x.F, turned);
  out->supplied += asi_dot(turned, in->body[0]->omega);
}

const as_element_type asi_drag_type = {"drag", evaluate, NULL, power};

void asi_drag_pattern(const asi_drag *d, bool *f_q, bool *f_v) {
  const double *p = d->frame.p;
  bool fixed = d->motion.turn.index < 0, beside = p[0] != 0.0 || p[1] != 0.0 || p[2] != 0.0;
  for (int k = 0; k < 3; ++k) fixed = fixed && d->motion.shift[k].index < 0;
  beside = beside || !fixed;
  const bool round = d->half[0] == d->half[1] && d->half[1] == d->half[2];
  for (int i = 0; i < COLUMNS; ++i)
    for (int j = 0; j < COLUMNS; ++j) {
      const bool turns = i >= TURN || j >= TURN;
      f_q[COLUMNS * i + j] = j >= TURN && (i < TURN ? beside || !round : beside);
      f_v[COLUMNS * i + j] = !turns || beside;
    }
}

static int look(const void *data, const as_element_input *in, double *out) {
  flow x;
  const int code = find_flow(data, in, &x);
  if (code) return code;
  out[0] = x.speed;
  return AS_DONE;
}

static const asi_element_quantity quantities[] = {{"flow_speed", "m/s", "", 0}, {.name = NULL}};

static void draw(const void *data, asi_drawing *out) {
  *out = (asi_drawing){.kind = "load", .n = 1, .point = {((const asi_drag *)data)->frame.p}};
}

const asi_descriptor asi_drag_descriptor = {
    .type = &asi_drag_type, .quantities = quantities, .n_values = 1, .look = look, .draw = draw};
