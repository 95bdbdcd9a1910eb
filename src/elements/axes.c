/// One row: an axis u = R_a a of the first body is perpendicular to an axis w = R_b b of the second. Each as the other
/// body sees it is m = R_a^T w = S b and n = R_b^T u = S^T a, with S = R_a^T R_b; W = omega x a + a' is the rate of an
/// axis, Z its second derivative, from its own body.
///
///     g    = s u . w = s a . m                              s = +-1
///     g_q  = s [ 0   (a x m)^T   0   (b x n)^T ]            since u . dw = u . (R_b dtheta x w)
///     g'   = s (u' . w + u . w') = s (W_a . m + W_b . n)
///     g'_q = s [ 0   (W_a x m + a x S W_b)^T   0   (W_b x n + b x S^T W_a)^T ]
///     g''  = s (u'' . w + 2 u' . w' + u . w'') = s (Z_a . m + 2 W_a . S W_b + Z_b . n)
///
/// The torque on the second body is lambda s u x w, in the world. With f_a = -lambda s a x m,
///
///     D f_a = -lambda s a~ (m~ dtheta_a - S b~ dtheta_b)          and alike for b
///     a~ S b~ = R_a^T u~ w~ R_b = m n^T - (u . w) S
#include "elements/rows.h"
#include "elements/vector.h"

/// The axes, each also as the other body sees it.
typedef struct axes {
  const double *a, *b;
  double m[3], n[3];
} axes;

static axes look(const asi_pair *pair, asi_row row) {
  axes x = {.a = pair->A.axis + 3 * row.i, .b = pair->B.axis + 3 * row.j};
  asi_rotate(pair->S, x.b, x.m);
  asi_rotate_back(pair->S, x.a, x.n);
  return x;
}

/// The two blocks off the diagonal are each other's transposed.
static void curvature(const asi_pair *pair, const axes *x, double s, double *f_q) {
  const double cosine = asi_dot(x->a, x->m);
  double C[9]; // a~ S b~
  for (int i = 0; i < 3; ++i) {
    C[3 * i] = x->m[i] * x->n[0] - cosine * pair->S[3 * i];
    C[3 * i + 1] = x->m[i] * x->n[1] - cosine * pair->S[3 * i + 1];
    C[3 * i + 2] = x->m[i] * x->n[2] - cosine * pair->S[3 * i + 2];
  }
  asi_add_skew_skew(-s, x->a, x->m, f_q + ASI_TA * ASI_PAIR + ASI_TA, ASI_PAIR);
  asi_add_matrix(s, C, f_q + ASI_TA * ASI_PAIR + ASI_TB, ASI_PAIR);
  asi_add_skew_skew(-s, x->b, x->n, f_q + ASI_TB * ASI_PAIR + ASI_TB, ASI_PAIR);
  asi_add_transposed(s, C, f_q + ASI_TB * ASI_PAIR + ASI_TA, ASI_PAIR);
}

void asi_axes_curvature(const asi_pair *pair, asi_row row, double lambda, double *f_q) {
  const axes x = look(pair, row);
  curvature(pair, &x, row.sign * lambda, f_q);
}

static void rates(const asi_pair *pair, asi_row row, const axes *x, const as_element_output *out,
                  int r) {
  const double s = row.sign, *a1 = pair->A.axis1 + 3 * row.i, *b1 = pair->B.axis1 + 3 * row.j;
  double Wa[3], Wb[3], Wb_in_a[3], Wa_in_b[3];
  asi_local_rate(pair->a, x->a, a1, Wa);
  asi_local_rate(pair->b, x->b, b1, Wb);
  asi_rotate(pair->S, Wb, Wb_in_a);
  if (out->rate) out->rate[r] += s * (asi_dot(Wa, x->m) + asi_dot(Wb, x->n));
  if (out->gdot_q) {
    double *line = out->gdot_q + r * ASI_PAIR;
    asi_rotate_back(pair->S, Wa, Wa_in_b);
    asi_add_cross(s, Wa, x->m, line + ASI_TA);
    asi_add_cross(s, x->a, Wb_in_a, line + ASI_TA);
    asi_add_cross(s, Wb, x->n, line + ASI_TB);
    asi_add_cross(s, x->b, Wa_in_b, line + ASI_TB);
  }
  if (out->acceleration) {
    double Za[3], Zb[3];
    asi_local_acceleration(pair->a, x->a, a1, pair->A.axis2 + 3 * row.i, Za);
    asi_local_acceleration(pair->b, x->b, b1, pair->B.axis2 + 3 * row.j, Zb);
    out->acceleration[r] +=
        s * (asi_dot(Za, x->m) + 2.0 * asi_dot(Wa, Wb_in_a) + asi_dot(Zb, x->n));
  }
}

void asi_axes_row(const asi_pair *pair, asi_row row, const as_element_input *in,
                  const as_element_output *out, int r) {
  const axes x = look(pair, row);
  const double s = row.sign;
  if (out->g) out->g[r] += s * asi_dot(x.a, x.m);
  if (out->g_q) {
    asi_add_cross(s, x.a, x.m, out->g_q + r * ASI_PAIR + ASI_TA);
    asi_add_cross(s, x.b, x.n, out->g_q + r * ASI_PAIR + ASI_TB);
  }
  if (out->rate || out->gdot_q || out->acceleration) rates(pair, row, &x, out, r);
  if (out->f_q) curvature(pair, &x, s * in->lambda[r], out->f_q);
}
