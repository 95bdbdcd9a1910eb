/// Rates of frame B against frame A, see rates.h.
///
/// The displacement of P_b along an axis of A is that of a separation row with the opposite sign (separation.c).
/// The angular velocity about an axis u = R_s e that is fixed to the first body (s = a, o = b) is
///
///     c    = u . (R_o omega_o - R_s omega_s) = e . w - e . omega_s,    w = R_s^T R_o omega_o
///     by_v = [ -e  at theta_s,  b at theta_o ],                        b = R_o^T u
///     by_q = [ e x w at theta_s,  omega_o x b at theta_o ]
///     d/dt c at v' = 0: (e x w) . omega_s
///     D(-tau by_v^T): only b changes, D b = b~ dtheta_o - R_o^T R_s e~ dtheta_s
///
/// About an axis of the second body it is the same with the bodies exchanged, and the opposite sign.
#include "elements/rates.h"

#include <string.h>

#include "elements/vector.h"

asi_pair asi_rate_pair(const as_element_input *in, const asi_frame frame[2]) {
  double wanted = 0.0;
  const as_element_output all = {.g = &wanted, .rate = &wanted, .acceleration = &wanted};
  const asi_frame_now A = asi_frame_at_rest(&frame[0]), B = asi_frame_at_rest(&frame[1]);
  asi_pair pair;
  asi_pair_init(&pair, in, &all, &A, &B, ASI_NEED_ALWAYS);
  asi_pair_turn(&pair);
  return pair;
}

static asi_row shift_row(asi_coordinate what) {
  return (asi_row){ASI_ROW_SEPARATION, (signed char)what.axis, 0, -1};
}

/// An axis fixed to a body `self`, seen from the `other`.
typedef struct axle {
  const as_body_motion *self, *other;
  const double *e;
  double b[3];
  int self_turn, other_turn; ///< columns
  double sign;
} axle;

static axle axle_of(const asi_pair *pair, asi_coordinate what) {
  const bool on_second = what.kind == ASI_COORDINATE_ANGLE_B;
  axle x = {.self = on_second ? pair->b : pair->a,
            .other = on_second ? pair->a : pair->b,
            .e = (on_second ? pair->B.axis : pair->A.axis) + 3 * what.axis,
            .self_turn = on_second ? ASI_TB : ASI_TA,
            .other_turn = on_second ? ASI_TA : ASI_TB,
            .sign = on_second ? -1.0 : 1.0};
  double u[3];
  asi_rotate(x.self->R, x.e, u);
  asi_rotate_back(x.other->R, u, x.b);
  return x;
}

static void spin_rate(const axle *x, asi_rate *out) {
  double world[3], w[3], turn[3];
  asi_rotate(x->other->R, x->other->omega, world);
  asi_rotate_back(x->self->R, world, w);
  asi_cross(x->e, w, turn);
  out->value = x->sign * (asi_dot(x->e, w) - asi_dot(x->e, x->self->omega));
  out->change = x->sign * asi_dot(turn, x->self->omega);
  asi_add(-x->sign, x->e, out->by_v + x->self_turn);
  asi_add(x->sign, x->b, out->by_v + x->other_turn);
  asi_add(x->sign, turn, out->by_q + x->self_turn);
  asi_add_cross(x->sign, x->other->omega, x->b, out->by_q + x->other_turn);
}

void asi_rate_evaluate(const asi_pair *pair, asi_coordinate what, asi_rate *out) {
  memset(out, 0, sizeof *out);
  if (what.kind == ASI_COORDINATE_SHIFT) {
    const as_element_input in = {.body = {pair->a, pair->b}};
    const as_element_output rows = {
        .rate = &out->value, .acceleration = &out->change, .g_q = out->by_v, .gdot_q = out->by_q};
    asi_separation_row(pair, shift_row(what), &in, &rows, 0);
    return;
  }
  const axle x = axle_of(pair, what);
  spin_rate(&x, out);
}

void asi_rate_curvature(const asi_pair *pair, asi_coordinate what, double tau, double *f_q) {
  if (what.kind == ASI_COORDINATE_SHIFT) {
    const as_element_input in = {.body = {pair->a, pair->b}, .lambda = &tau};
    const as_element_output rows = {.f_q = f_q};
    asi_separation_row(pair, shift_row(what), &in, &rows, 0);
    return;
  }
  const axle x = axle_of(pair, what);
  double S[9];
  asi_multiply_transposed(x.other->R, x.self->R, S);
  double *row = f_q + x.other_turn * ASI_PAIR;
  asi_add_skew(-tau * x.sign, x.b, row + x.other_turn, ASI_PAIR);
  asi_add_times_skew(tau * x.sign, S, x.e, row + x.self_turn, ASI_PAIR);
}
