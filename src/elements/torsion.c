/// A torsional spring and damper about z of two frames: a torque S(phi, phi') on the first body about z, its
/// opposite on the second. With the axes x, y of both frames in the world,
///
///     s = y_a . x_b - x_a . y_b     c = x_a . x_b + y_a . y_b     phi = atan2(s, c),   n = s^2 + c^2
///
/// which is the angle about z where the z axes agree, and smooth unless they are opposite. s and c are sums of
/// axes rows (axes.c), whose gradients, rates and curvatures are known; with m = s s_q + c c_q
///
///     phi_q  = (c s_q - s c_q)/n                  phi' = (c s' - s c')/n
///     phi'_q = (c s'_q - s c'_q + s' c_q - c' s_q)/n - 2 phi' m/n
///     D phi_q^T = (c D s_q^T - s D c_q^T + s_q^T c_q - c_q^T s_q)/n - 2 phi_q^T m/n
///     f = -S phi_q^T,   f_q = -phi_q^T (S_phi phi_q + S_phi' phi'_q) - S D phi_q^T,   f_v = -S_phi' phi_q^T phi_q
#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/spring.h"
#include "elements/vector.h"

static const asi_row sine[2] = {{ASI_ROW_AXES, 1, 0, 1}, {ASI_ROW_AXES, 0, 1, -1}};
static const asi_row cosine[2] = {{ASI_ROW_AXES, 0, 0, 1}, {ASI_ROW_AXES, 1, 1, 1}};

/// A sum of two axes rows.
typedef struct sum {
  double value, rate, q[ASI_PAIR], rate_q[ASI_PAIR];
} sum;

static sum add_up(const asi_pair *pair, const asi_row rows[2], const as_element_input *in) {
  sum x = {0};
  const as_element_output out = {.g = &x.value, .g_q = x.q, .rate = &x.rate, .gdot_q = x.rate_q};
  for (int k = 0; k < 2; ++k) asi_axes_row(pair, rows[k], in, &out, 0);
  return x;
}

/// Brings an angle within half a turn of another.
static double unwrap(double angle, double near) {
  const double turn = 6.283185307179586477;
  return angle - turn * floor((angle - near) / turn + 0.5);
}

typedef struct twist {
  sum s, c;
  double n, phi, rate;
  double q[ASI_PAIR], m[ASI_PAIR], rate_q[ASI_PAIR];
} twist;

static bool measure(const asi_pair *pair, const as_element_input *in, double near, twist *x) {
  x->s = add_up(pair, sine, in);
  x->c = add_up(pair, cosine, in);
  const double s = x->s.value, c = x->c.value;
  x->n = s * s + c * c;
  if (!(x->n > 0.0)) return false;
  x->phi = unwrap(atan2(s, c), near);
  x->rate = (c * x->s.rate - s * x->c.rate) / x->n;
  for (int i = 0; i < ASI_PAIR; ++i) {
    x->q[i] = (c * x->s.q[i] - s * x->c.q[i]) / x->n;
    x->m[i] = s * x->s.q[i] + c * x->c.q[i];
    x->rate_q[i] = (c * x->s.rate_q[i] - s * x->c.rate_q[i] + x->s.rate * x->c.q[i] -
                    x->c.rate * x->s.q[i] - 2.0 * x->rate * x->m[i]) /
                   x->n;
  }
  return true;
}

double asi_twist(const as_body_motion *a, const as_body_motion *b, const asi_frame_now *A,
                 const asi_frame_now *B, double near) {
  const as_element_input in = {.body = {a, b}};
  const as_element_output out = {0};
  asi_pair pair;
  asi_pair_init(&pair, &in, &out, A, B, ASI_NEED_NOTHING);
  twist x;
  return measure(&pair, &in, near, &x) ? x.phi : near;
}

static void add_curvature(const asi_pair *pair, const twist *x, double torque, double *f_q) {
  const double s = x->s.value / x->n, c = x->c.value / x->n;
  for (int k = 0; k < 2; ++k) {
    asi_axes_curvature(pair, sine[k], torque * c, f_q);
    asi_axes_curvature(pair, cosine[k], -torque * s, f_q);
  }
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j)
      f_q[i * ASI_PAIR + j] -=
          torque / x->n * (x->s.q[i] * x->c.q[j] - x->c.q[i] * x->s.q[j] - 2.0 * x->q[i] * x->m[j]);
}

static asi_pair pair_of(const asi_torsion *s, const as_element_input *in) {
  const as_element_output out = {0};
  const asi_frame_now A = asi_frame_at_rest(&s->frame[0]), B = asi_frame_at_rest(&s->frame[1]);
  asi_pair pair;
  asi_pair_init(&pair, in, &out, &A, &B, ASI_NEED_NOTHING);
  return pair;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_torsion *t = data;
  const asi_pair pair = pair_of(t, in);
  twist x;
  double law[3];
  if (!measure(&pair, in, t->law.rest, &x)) return AS_RETRY;
  const int code = asi_law_evaluate(&t->law, x.phi - t->law.rest, x.rate, law);
  if (code) return code;
  for (int i = 0; i < ASI_PAIR; ++i) {
    if (out->force) out->force[i] -= law[0] * x.q[i];
    for (int j = 0; j < ASI_PAIR; ++j) {
      if (out->f_q) out->f_q[i * ASI_PAIR + j] -= x.q[i] * (law[1] * x.q[j] + law[2] * x.rate_q[j]);
      if (out->f_v) out->f_v[i * ASI_PAIR + j] -= law[2] * x.q[i] * x.q[j];
    }
  }
  if (out->f_q) add_curvature(&pair, &x, law[0], out->f_q);
  return AS_DONE;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_torsion *t = data;
  const asi_pair pair = pair_of(t, in);
  twist x;
  if (!measure(&pair, in, t->law.rest, &x)) return (double)NAN;
  return asi_law_potential(&t->law, x.phi - t->law.rest);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_torsion *t = data;
  const asi_pair pair = pair_of(t, in);
  twist x;
  out->dissipated =
      measure(&pair, in, t->law.rest, &x) ? asi_law_dissipated(&t->law, x.rate) : (double)NAN;
}

int asi_torsion_look(const asi_torsion *t, const as_element_input *in, double out[3]) {
  const asi_pair pair = pair_of(t, in);
  twist x;
  double law[3];
  if (!measure(&pair, in, t->law.rest, &x)) return AS_RETRY;
  const int code = asi_law_evaluate(&t->law, x.phi - t->law.rest, x.rate, law);
  out[0] = x.phi;
  out[1] = x.rate;
  out[2] = law[0];
  return code;
}

const as_element_type asi_torsion_type = {"torsional spring", evaluate, potential, power};
