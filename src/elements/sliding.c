/// Velocity rows as sums, see sliding.h: with k = sum of h(sigma) c, c = by_v . v,
///
///     k_v = h by_v           k_q = h by_q + c h_sigma sigma_q          k' at v' = 0: h c' + c h_sigma sigma'
///     D(-psi k_v^T) = D(-(psi h) by_v^T) at fixed h - psi h_sigma by_v^T sigma_q
#include "elements/sliding.h"

asi_cosine asi_cosine_of(const asi_pair *pair, int i, int j) {
  asi_cosine x = {0};
  const as_element_input in = {.body = {pair->a, pair->b}};
  const as_element_output out = {.g = &x.value, .g_q = x.q, .rate = &x.rate};
  asi_axes_row(pair, (asi_row){ASI_ROW_AXES, (signed char)i, (signed char)j, 1}, &in, &out, 0);
  return x;
}

void asi_sliding_add(const asi_sliding *k, double factor, asi_coordinate what, const asi_rate *c) {
  const as_element_output *out = k->out;
  const int first = k->row * ASI_PAIR;
  if (out->k) out->k[k->row] += factor * c->value;
  if (out->k_rate) out->k_rate[k->row] += factor * c->change;
  for (int i = 0; i < ASI_PAIR && out->k_v; ++i) out->k_v[first + i] += factor * c->by_v[i];
  for (int i = 0; i < ASI_PAIR && out->k_q; ++i) out->k_q[first + i] += factor * c->by_q[i];
  if (out->f_q) asi_rate_curvature(k->pair, what, k->psi * factor, out->f_q);
}

void asi_sliding_slope(const asi_sliding *k, double slope, const asi_cosine *sigma,
                       const asi_rate *c) {
  const as_element_output *out = k->out;
  if (out->k_rate) out->k_rate[k->row] += c->value * slope * sigma->rate;
  for (int i = 0; i < ASI_PAIR && out->k_q; ++i)
    out->k_q[k->row * ASI_PAIR + i] += c->value * slope * sigma->q[i];
  for (int i = 0; i < ASI_PAIR && out->f_q; ++i)
    for (int j = 0; j < ASI_PAIR; ++j)
      out->f_q[i * ASI_PAIR + j] -= k->psi * slope * c->by_v[i] * sigma->q[j];
}
