/// The angle phi of frame B against frame A about z. With the axes x, y of both frames in the world,
///
///     s = y_a . x_b - x_a . y_b     c = x_a . x_b + y_a . y_b     phi = atan2(s, c),   n = s^2 + c^2
///
/// which is the angle about z where the z axes agree. Where they do not, B is reached from A by a turn about z by
/// phi and a bend about an axis across z, in either order: with the quaternion (w, x, y, z) of B against A,
/// s = 4 w z and c = 2 (w^2 - z^2), so phi = 2 atan2(z, w). It is smooth unless the z axes are opposite. s and c
/// are sums of axes rows (axes.c), whose derivatives are known; with m = s s_q + c c_q
///
///     phi_q  = (c s_q - s c_q)/n                  phi' = (c s' - s c')/n
///     phi'_q = (c s'_q - s c'_q + s' c_q - c' s_q)/n - 2 phi' m/n
///     phi''  = (c s'' - s c'' - 2 phi' (s s' + c c'))/n
///     D phi_q^T = (c D s_q^T - s D c_q^T + s_q^T c_q - c_q^T s_q)/n - 2 phi_q^T m/n
#include "elements/twist.h"

#include <math.h>

#include "alphastep/problem.h"
#include "elements/vector.h"

static const asi_row sine[2] = {{ASI_ROW_AXES, 1, 0, 1}, {ASI_ROW_AXES, 0, 1, -1}};
static const asi_row cosine[2] = {{ASI_ROW_AXES, 0, 0, 1}, {ASI_ROW_AXES, 1, 1, 1}};

static const double half_turn = 3.14159265358979323846;

double asi_unwrap(double angle, double near) {
  return angle - 2.0 * half_turn * floor((angle - near) / (2.0 * half_turn) + 0.5);
}

static void add_up(const asi_pair *pair, const asi_row rows[2], unsigned wanted,
                   asi_axes_sum *out) {
  const as_element_input in = {0};
  const bool tangent = wanted & ASI_TWIST_TANGENT, rate = wanted & ASI_TWIST_RATE;
  *out = (asi_axes_sum){0};
  const as_element_output to = {
      .g = &out->value,
      .g_q = tangent ? out->q : NULL,
      .rate = rate || (wanted & ASI_TWIST_ACCELERATION) ? &out->rate : NULL,
      .gdot_q = tangent && rate ? out->rate_q : NULL,
      .acceleration = wanted & ASI_TWIST_ACCELERATION ? &out->acceleration : NULL};
  for (int k = 0; k < 2; ++k) asi_axes_row(pair, rows[k], &in, &to, 0);
}

bool asi_twist_measure(const asi_pair *pair, double near, unsigned wanted, asi_twist_now *x) {
  add_up(pair, sine, wanted, &x->s);
  add_up(pair, cosine, wanted, &x->c);
  const asi_axes_sum *S = &x->s, *C = &x->c;
  const double s = S->value, c = C->value, n = s * s + c * c;
  x->n = n;
  if (!(n > 0.0)) return false;
  x->value = asi_unwrap(atan2(s, c), near);
  x->rate = (c * S->rate - s * C->rate) / n;
  x->acceleration =
      (c * S->acceleration - s * C->acceleration - 2.0 * x->rate * (s * S->rate + c * C->rate)) / n;
  for (int i = 0; i < ASI_PAIR && (wanted & ASI_TWIST_TANGENT); ++i) {
    x->q[i] = (c * S->q[i] - s * C->q[i]) / n;
    x->m[i] = s * S->q[i] + c * C->q[i];
    x->rate_q[i] = (c * S->rate_q[i] - s * C->rate_q[i] + S->rate * C->q[i] - C->rate * S->q[i] -
                    2.0 * x->rate * x->m[i]) /
                   n;
  }
  return true;
}

double asi_twist(const as_body_motion *a, const as_body_motion *b, const asi_frame_now *A,
                 const asi_frame_now *B, double near) {
  const asi_pair pair = {.a = a, .b = b, .A = *A, .B = *B};
  asi_twist_now x;
  return asi_twist_measure(&pair, near, 0, &x) ? x.value : near;
}

void asi_twist_curvature(const asi_pair *pair, const asi_twist_now *x, double torque, double *f_q) {
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

int asi_twist_row(const asi_pair *pair, double factor, double near, const as_element_input *in,
                  const as_element_output *out, int r) {
  unsigned wanted = 0;
  if (out->g_q || out->gdot_q || out->f_q) wanted |= ASI_TWIST_TANGENT;
  if (out->rate || out->gdot_q) wanted |= ASI_TWIST_RATE;
  if (out->acceleration) wanted |= ASI_TWIST_ACCELERATION;
  asi_twist_now x;
  if (!asi_twist_measure(pair, near, wanted, &x)) return AS_RETRY;
  if (out->g) out->g[r] += factor * x.value;
  if (out->rate) out->rate[r] += factor * x.rate;
  if (out->acceleration) out->acceleration[r] += factor * x.acceleration;
  for (int i = 0; i < ASI_PAIR && out->g_q; ++i) out->g_q[r * ASI_PAIR + i] += factor * x.q[i];
  for (int i = 0; i < ASI_PAIR && out->gdot_q; ++i)
    out->gdot_q[r * ASI_PAIR + i] += factor * x.rate_q[i];
  if (out->f_q) asi_twist_curvature(pair, &x, factor * in->lambda[r], out->f_q);
  return AS_DONE;
}
