/// Forces along a beam element, per length of the unloaded beam.
///
/// [BE.10] The virtual work of q(s, t) on the line x(s) = sum H_k(s) y_k (beam_mass.c) is that of G_k = L int H_k q ds on the directors
/// y_k = sigma_k x_b + R_b c_k, by three points of Gauss:
///
///     q along world axes:        force sum sigma_k G_k              torque sum c_k x R_b^T G_k    (body axes)
///     q along the section's:     force sum sigma_k R_b A_b G_k      torque sum c_k x A_b G_k      G_k = L int H_k E_b q ds
///     D_q:                       c_k~ (R_b^T G_k)~ of the torque    -R_b (A_b G_k)~ of the force
///
/// E_b(s) says how the axes of the section at s lie against those at end b, unloaded: exp(s w0~), exp(-(1 - s) w0~). What they turn
/// besides is of second order, and almost the same seen from both ends.
#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"

enum { D = ASI_DIRECTORS, ROW = ASI_PAIR, POINTS = ASI_LOAD_POINTS };

static const double place[POINTS] = {0.11270166537925831, 0.5, 0.8872983346207417};
static const double weight[POINTS] = {5.0 / 18.0, 4.0 / 9.0, 5.0 / 18.0};

void asi_beam_set_load_axes(asi_beam *b) {
  for (int e = 0; e < 2; ++e)
    for (int p = 0; p < POINTS; ++p) {
      const double s = e == 0 ? place[p] : place[p] - 1.0, *w = b->rest + 3;
      const double turn[3] = {s * w[0], s * w[1], s * w[2]};
      double q[4];
      asi_so3_exp(turn, q);
      asi_so3_matrix(q, b->load_axes[e][p]);
    }
}

static int density(const asi_curve *c, const as_element_input *in, double s, double *out) {
  double at[3];
  const int code =
      c->formula ? asi_formula_law(c->formula, in, s, 0.0, 0.0, at) : asi_curve_evaluate(c, s, at);
  *out = at[0];
  return code;
}

/// G_k along world axes, and along those of the section at the end of director k.
static int forces(const asi_beam *b, const as_element_input *in, double G[2][D][3]) {
  memset(G, 0, 2 * D * 3 * sizeof(double));
  for (int i = 0; i < 6; ++i) {
    if (b->load[i].curve == NULL) continue;
    for (int p = 0; p < POINTS; ++p) {
      double q, H[D];
      const int code = density(b->load[i].curve, in, b->start + b->length * place[p], &q);
      if (code) return code;
      asi_beam_hermite(place[p], H);
      for (int k = 0; k < D; ++k) {
        const double part = b->length * weight[p] * q * H[k], *E = b->load_axes[k / 2][p] + i % 3;
        if (i < 3) G[0][k][i] += part;
        for (int j = 0; j < 3 && i >= 3; ++j) G[1][k][j] += part * E[3 * j];
      }
    }
  }
  return AS_DONE;
}

/// A G: from the section's axes to the body's.
static void to_body(const asi_frame *f, const double *G, double *out) {
  asi_set(0.0, 0.0, 0.0, out);
  for (int i = 0; i < 3; ++i) asi_add(G[i], f->axis + 3 * i, out);
}

int asi_beam_add_load(const asi_beam *b, const as_element_input *in, const as_element_output *out) {
  double G[2][D][3];
  const int code = forces(b, in, G);
  if (code) return code;
  for (int k = 0; k < D; ++k) {
    const int e = k / 2;
    const double *R = in->body[e]->R, *c = b->arm[k];
    double dead[3], follows[3], world[3];
    asi_rotate_back(R, G[0][k], dead);
    to_body(&b->frame[e], G[1][k], follows);
    asi_rotate(R, follows, world);
    if (out->force) {
      if (k % 2 == 0) asi_add(1.0, G[0][k], out->force + 6 * e);
      if (k % 2 == 0) asi_add(1.0, world, out->force + 6 * e);
      asi_add_cross(1.0, c, dead, out->force + 6 * e + 3);
      asi_add_cross(1.0, c, follows, out->force + 6 * e + 3);
    }
    if (out->f_q) {
      double *at = out->f_q + 6 * e * ROW + 6 * e + 3;
      asi_add_skew_skew(1.0, c, dead, at + 3 * ROW, ROW);
      if (k % 2 == 0) asi_add_times_skew(-1.0, R, follows, at, ROW);
    }
  }
  return AS_DONE;
}

double asi_beam_load_power(const asi_beam *b, const as_element_input *in) {
  double G[2][D][3], sum = 0.0;
  if (forces(b, in, G)) return (double)NAN;
  for (int k = 0; k < D; ++k) {
    const as_body_motion *body = in->body[k / 2];
    double turned[3], y[3] = {0.0, 0.0, 0.0}, follows[3], world[3];
    asi_cross(body->omega, b->arm[k], turned);
    asi_rotate(body->R, turned, y);
    if (k % 2 == 0) asi_add(1.0, body->v, y);
    to_body(&b->frame[k / 2], G[1][k], follows);
    asi_rotate(body->R, follows, world);
    sum += asi_dot(G[0][k], y) + asi_dot(world, y);
  }
  return sum;
}
