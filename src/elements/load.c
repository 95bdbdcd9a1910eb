/// A force F and a torque T on a body at a point p, times a function of time; the torque may act back on a
/// second body.
///
/// In the world's axes:     f_x = F,     f_theta = p x R^T F + R^T T,     second body: -R_2^T T
///     D f_theta = p~ (R^T F)~ + (R^T T)~,     D f_theta2 = -(R_2^T T)~
/// In the frame's axes (A): F_b = A F, T_b = A T are fixed in the body:
///     f_x = R F_b,  f_theta = p x F_b + T_b,  D f_x = -R F_b~;  second body: -R_2^T R T_b,
///     D_theta = R_2^T R T_b~,  D_theta2 = -(R_2^T R T_b)~
///
/// A force that follows has no potential: f_q is not symmetric, and the work done on a way round is not zero. All of
/// it counts as supplied. p and A may be given functions of time.
#include <math.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/spring.h"
#include "elements/vector.h"

/// Force and torque now: in the world, and in the body's axes; where they act, from the body.
typedef struct wrench {
  double p[3];
  double force[3], torque[3], force_in_body[3], torque_in_body[3];
} wrench;

/// A vector of the frame's axes in those of the body.
static void out_of_frame(const double *axis, const double *x, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = x[0] * axis[i] + x[1] * axis[3 + i] + x[2] * axis[6 + i];
}

static int now(const asi_load *load, const as_element_input *in, wrench *w) {
  const double *R = in->body[0]->R;
  double factor[3] = {1.0, 0.0, 0.0}, store[36];
  asi_frame_now frame;
  int code = asi_frame_move(&load->frame, &load->motion, in->t, store, &frame);
  if (code == AS_DONE && load->factor.curve)
    code = asi_curve_evaluate(load->factor.curve, in->t, factor);
  if (code) return code;
  asi_copy(frame.p, w->p);
  double force[3] = {0}, torque[3] = {0};
  asi_add(factor[0], load->force, force);
  asi_add(factor[0], load->torque, torque);
  if (load->follows) {
    out_of_frame(frame.axis, force, w->force_in_body);
    out_of_frame(frame.axis, torque, w->torque_in_body);
    asi_rotate(R, w->force_in_body, w->force);
    asi_rotate(R, w->torque_in_body, w->torque);
  } else {
    asi_copy(force, w->force);
    asi_copy(torque, w->torque);
    asi_rotate_back(R, force, w->force_in_body);
    asi_rotate_back(R, torque, w->torque_in_body);
  }
  return AS_DONE;
}

static void add_tangent(const asi_load *load, const as_element_input *in, const wrench *w,
                        double *f_q) {
  double back[3];
  asi_rotate_back(in->body[1]->R, w->torque, back);
  asi_add_skew(-1.0, back, f_q + ASI_TB * ASI_PAIR + ASI_TB, ASI_PAIR);
  if (load->follows) {
    double S[9];
    asi_add_times_skew(-1.0, in->body[0]->R, w->force_in_body, f_q + ASI_XA * ASI_PAIR + ASI_TA,
                       ASI_PAIR);
    asi_multiply_transposed(in->body[1]->R, in->body[0]->R, S);
    asi_add_times_skew(1.0, S, w->torque_in_body, f_q + ASI_TB * ASI_PAIR + ASI_TA, ASI_PAIR);
    return;
  }
  double *turn = f_q + ASI_TA * ASI_PAIR + ASI_TA;
  asi_add_skew_skew(1.0, w->p, w->force_in_body, turn, ASI_PAIR);
  asi_add_skew(1.0, w->torque_in_body, turn, ASI_PAIR);
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_load *load = data;
  wrench w;
  const int code = now(load, in, &w);
  if (code) return code;
  if (out->force) {
    double back[3];
    asi_rotate_back(in->body[1]->R, w.torque, back);
    asi_add(1.0, w.force, out->force + ASI_XA);
    asi_add_cross(1.0, w.p, w.force_in_body, out->force + ASI_TA);
    asi_add(1.0, w.torque_in_body, out->force + ASI_TA);
    asi_add(-1.0, back, out->force + ASI_TB);
  }
  if (out->f_q) add_tangent(load, in, &w, out->f_q);
  return AS_DONE;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  double f[ASI_PAIR] = {0};
  const as_element_output force = {.force = f};
  out->supplied = evaluate(in, &force, data) ? (double)NAN : asi_pair_power(in, f);
}

const as_element_type asi_load_type = {"load", evaluate, NULL, power};

void asi_draw_load(const asi_load *load, asi_drawing *out) {
  *out = (asi_drawing){.kind = "load", .n = 1, .point = {load->frame.p}};
}

static void draw(const void *data, asi_drawing *out) { asi_draw_load(data, out); }

const asi_descriptor asi_load_descriptor = {.type = &asi_load_type, .on_first = true, .draw = draw};
