/// Gauges, see gauge.h. With e a unit vector of the world, p the origin of a frame in its body, W = omega x p + p' and
/// s the frame's own angular velocity in the body:
///
///     position   e . (x + R p)            q: e, p x R^T e
///     velocity   e . (v + R W)            q: 0, W x R^T e              v: e, p x R^T e
///     spin       e . R (omega + s)        q: 0, (omega + s) x R^T e    v: 0, R^T e
///
/// since -e^T R a~ = (a x R^T e)^T. A distance and a coordinate c are those of distance.c and coordinate.c: c_q, and of
/// its rate D_q c' and c_q.
#include "elements/gauge.h"

#include <stdio.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/bushing.h"
#include "elements/spring.h"
#include "elements/vector.h"
#include "elements/why.h"

bool asi_gauge_is_rate(const asi_gauge *g) {
  switch (g->kind) {
  case ASI_GAUGE_VELOCITY:
  case ASI_GAUGE_SPIN:
  case ASI_GAUGE_BODY_SPIN: return true;
  case ASI_GAUGE_ELEMENT: return g->descriptor->reads(g->part) & ASI_READS_VELOCITIES;
  case ASI_GAUGE_ACCELERATION:
  case ASI_GAUGE_SPIN_RATE:
  case ASI_GAUGE_BODY_SPIN_RATE:
  case ASI_GAUGE_TURN_ACCELERATION:
  case ASI_GAUGE_SHIFT_ACCELERATION:
  case ASI_GAUGE_SPECIFIC_FORCE:
  case ASI_GAUGE_FRAME_SPIN: return true;
  case ASI_GAUGE_REACTION:
  case ASI_GAUGE_DRIVE: return false;
  case ASI_GAUGE_POSITION:
  case ASI_GAUGE_DISTANCE:
  case ASI_GAUGE_COORDINATE:
  case ASI_GAUGE_ROTATION: break;
  }
  return g->rate;
}

/// Half of the sum of a x a' over the axes is their angular velocity.
static void spin_of(const asi_frame_now *frame, double *out) {
  asi_set(0.0, 0.0, 0.0, out);
  for (int k = 0; k < 3; ++k) asi_add_cross(0.5, frame->axis + 3 * k, frame->axis1 + 3 * k, out);
}

/// Of one frame.
static void read_frame(const asi_gauge *g, const as_body_motion *body, const asi_frame_now *frame,
                       asi_reading *out) {
  const double e[3] = {g->part == 0, g->part == 1, g->part == 2};
  double e_in_body[3], W[3], s[3], moved[3];
  asi_rotate_back(body->R, e, e_in_body);
  switch (g->kind) {
  case ASI_GAUGE_POSITION:
    asi_rotate(body->R, frame->p, moved);
    out->value = body->x[g->part] + moved[g->part];
    asi_copy(e, out->q + ASI_XA);
    asi_cross(frame->p, e_in_body, out->q + ASI_TA);
    break;
  case ASI_GAUGE_VELOCITY:
    asi_local_rate(body, frame->p, frame->p1, W);
    asi_rotate(body->R, W, moved);
    out->value = body->v[g->part] + moved[g->part];
    asi_cross(W, e_in_body, out->q + ASI_TA);
    asi_copy(e, out->v + ASI_XA);
    asi_cross(frame->p, e_in_body, out->v + ASI_TA);
    break;
  case ASI_GAUGE_SPIN:
    spin_of(frame, s);
    asi_add(1.0, body->omega, s);
    out->value = asi_dot(e_in_body, s);
    asi_cross(s, e_in_body, out->q + ASI_TA);
    asi_copy(e_in_body, out->v + ASI_TA);
    break;
  default: // ASI_GAUGE_BODY_SPIN
    out->value = body->omega[g->part];
    asi_copy(e, out->v + ASI_TA);
  }
}

/// A value and its rate as a sum of rows has them.
static void take(const asi_gauge *g, double value, double rate, const double *q,
                 const double *rate_q, asi_reading *out) {
  out->value = g->rate ? rate : value;
  memcpy(out->q, g->rate ? rate_q : q, sizeof out->q);
  if (g->rate) memcpy(out->v, q, sizeof out->v);
}

static int read_distance(const asi_gauge *g, const as_element_input *in, const asi_ends_now *ends,
                         asi_reading *out) {
  const double zero[3] = {0};
  asi_row_sum x = {0};
  const as_element_output line = {
      .g = &x.value, .g_q = x.q, .rate = &x.rate, .gdot_q = g->rate ? x.rate_q : NULL};
  asi_pair pair;
  asi_pair_init(&pair, in, &line, &ends->A, &ends->B, ASI_NEED_ALWAYS);
  const int code = asi_distance_row(&pair, zero, in, &line, 0);
  if (code == AS_DONE) take(g, x.value, x.rate, x.q, x.rate_q, out);
  return code;
}

static int read_coordinate(const asi_gauge *g, const as_element_input *in, const asi_ends_now *ends,
                           const double *turns, asi_reading *out) {
  asi_measure x;
  const double near = g->turn >= 0 && turns ? turns[g->turn] : 0.0;
  if (g->rate) {
    if (!asi_measure_coordinate(&x, g->of, in, &ends->A, &ends->B, near))
      return asi_retry(in, ASI_WHY_ANGLE);
    take(g, x.value, x.rate, x.q, x.rate_q, out);
    return AS_DONE;
  }
  if (!asi_measure_place(&x, g->of, in, &ends->A, &ends->B, near))
    return asi_retry(in, ASI_WHY_ANGLE);
  out->value = x.value;
  memcpy(out->q, x.q, sizeof out->q);
  return AS_DONE;
}

/// a_i . (W_b - W_a), which is what rotation_rate is. With S the angular velocity of a frame in its body and u = R_a a:
/// by theta_a a x R_a^T (W_b - W_a) + a x S_a, by theta_b S_b x R_b^T u.
static void read_relative_spin(const asi_gauge *g, const as_element_input *in,
                               const asi_ends_now *ends, asi_reading *out) {
  const as_body_motion *A = in->body[0], *B = in->body[1];
  const double *a = ends->A.axis + 3 * g->part;
  double Sa[3], Sb[3], Wb[3], Wb_in_a[3], u[3], u_in_b[3];
  spin_of(&ends->A, Sa);
  spin_of(&ends->B, Sb);
  asi_add(1.0, A->omega, Sa);
  asi_add(1.0, B->omega, Sb);
  asi_rotate(B->R, Sb, Wb);
  asi_rotate_back(A->R, Wb, Wb_in_a);
  asi_rotate(A->R, a, u);
  asi_rotate_back(B->R, u, u_in_b);
  out->value = asi_dot(a, Wb_in_a) - asi_dot(a, Sa);
  asi_cross(a, Wb_in_a, out->q + ASI_TA); // S_a falls out of the sum
  asi_cross(Sb, u_in_b, out->q + ASI_TB);
  asi_add(-1.0, a, out->v + ASI_TA);
  asi_copy(u_in_b, out->v + ASI_TB);
}

static int read_rotation(const asi_gauge *g, const as_element_input *in, const asi_ends_now *ends,
                         asi_reading *out) {
  asi_rotation x;
  asi_pair pair;
  if (g->rate) {
    read_relative_spin(g, in, ends, out);
    return AS_DONE;
  }
  asi_pair_init(&pair, in, &(as_element_output){0}, &ends->A, &ends->B, ASI_NEED_NOTHING);
  asi_pair_turn(&pair);
  const int code = asi_rotation_measure(&x, &pair, in, ASI_SUM_TANGENTS);
  const asi_row_sum *r = &x.r[g->part];
  if (code == AS_DONE) take(g, r->value, r->rate, r->q, r->rate_q, out);
  return code;
}

int asi_gauge_read_element(const asi_gauge *g, const as_element_input *in, const void *data,
                           asi_reading *out, double by_x[AS_ELEMENT_STATES]) {
  as_element_input two = *in;
  for (int s = 0; s < 2; ++s) two.body[s] = in->body[g->body[s]];
  return g->descriptor->read((const char *)data + g->other, &two, g->part, &out->value, out->q,
                             out->v, by_x);
}

int asi_gauge_read(const asi_gauge *g, const as_element_input *in, const void *data,
                   const double *turns, asi_reading *out) {
  as_element_input two = *in;
  asi_ends_now ends;
  for (int s = 0; s < 2; ++s) two.body[s] = in->body[g->body[s]];
  memset(out, 0, sizeof *out);
  if (g->kind == ASI_GAUGE_ELEMENT) {
    double by_x[AS_ELEMENT_STATES] = {0};
    return asi_gauge_read_element(g, in, data, out, by_x);
  }
  const int code = asi_ends_move(&g->ends, in->t, &ends);
  if (code) return code;
  if (g->kind == ASI_GAUGE_DISTANCE) return read_distance(g, &two, &ends, out);
  if (g->kind == ASI_GAUGE_COORDINATE) return read_coordinate(g, &two, &ends, turns, out);
  if (g->kind == ASI_GAUGE_ROTATION) return read_rotation(g, &two, &ends, out);
  read_frame(g, two.body[0], &ends.A, out);
  return AS_DONE;
}

int asi_gauge_value(const asi_gauge *g, const as_element_input *in, const void *data,
                    const double *turns, double *out) {
  asi_reading x;
  if (g->kind != ASI_GAUGE_COORDINATE) {
    const int code = asi_gauge_read(g, in, data, turns, &x);
    *out = x.value;
    return code;
  }
  as_element_input two = *in;
  asi_ends_now ends;
  const double near = g->turn >= 0 && turns ? turns[g->turn] : 0.0;
  for (int s = 0; s < 2; ++s) two.body[s] = in->body[g->body[s]];
  const int code = asi_ends_move(&g->ends, in->t, &ends);
  if (code) return code;
  const bool found = asi_coordinate_value(g->of, &two, &ends.A, &ends.B, near, g->rate, out);
  return found ? AS_DONE : asi_retry(&two, ASI_WHY_ANGLE);
}
