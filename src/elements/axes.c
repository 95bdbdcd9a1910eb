/// One row: an axis u = R_a a of the first body is perpendicular to an axis w = R_b b of the second.
///
///     g    = s u . w                                        s = +-1
///     g_q  = s [ 0   (a x R_a^T w)^T   0   (b x R_b^T u)^T ]          since u . dw = u . (R_b dtheta x w)
///     g'   = s (u' . w + u . w')
///     g'_q = s [ 0   (W_a x R_a^T w + a x R_a^T w')^T   0   (W_b x R_b^T u + b x R_b^T u')^T ]
///     g''  = s (u'' . w + 2 u' . w' + u . w'')
///
/// The torque on the second body is lambda s u x w, in the world. With f_a = -lambda s a x R_a^T w,
///
///     D f_a = -lambda s a~ ((R_a^T w)~ dtheta_a - R_a^T R_b b~ dtheta_b)          and alike for b
///     a~ R_a^T R_b b~ = R_a^T u~ w~ R_b = (R_a^T w) (R_b^T u)^T - (u . w) R_a^T R_b
#include "elements/rows.h"
#include "elements/vector.h"

/// The axes in the world, and each as the other body sees it.
typedef struct axes {
  const double *a, *b;
  double u[3], w[3];
  double w_in_a[3], u_in_b[3];
} axes;

static axes look(const asi_pair *pair, asi_row row) {
  axes x = {.a = pair->A.axis + 3 * row.i, .b = pair->B.axis + 3 * row.j};
  asi_rotate(pair->a->R, x.a, x.u);
  asi_rotate(pair->b->R, x.b, x.w);
  asi_rotate_back(pair->a->R, x.w, x.w_in_a);
  asi_rotate_back(pair->b->R, x.u, x.u_in_b);
  return x;
}

/// The two blocks off the diagonal are each other's transposed.
static void curvature(const asi_pair *pair, const axes *x, double s, double *f_q) {
  const double cosine = asi_dot(x->u, x->w);
  double C[9]; // a~ R_a^T R_b b~
  asi_multiply_transposed(pair->a->R, pair->b->R, C);
  for (int i = 0; i < 3; ++i) {
    C[3 * i] = x->w_in_a[i] * x->u_in_b[0] - cosine * C[3 * i];
    C[3 * i + 1] = x->w_in_a[i] * x->u_in_b[1] - cosine * C[3 * i + 1];
    C[3 * i + 2] = x->w_in_a[i] * x->u_in_b[2] - cosine * C[3 * i + 2];
  }
  asi_add_skew_skew(-s, x->a, x->w_in_a, f_q + ASI_TA * ASI_PAIR + ASI_TA, ASI_PAIR);
  asi_add_matrix(s, C, f_q + ASI_TA * ASI_PAIR + ASI_TB, ASI_PAIR);
  asi_add_skew_skew(-s, x->b, x->u_in_b, f_q + ASI_TB * ASI_PAIR + ASI_TB, ASI_PAIR);
  asi_add_transposed(s, C, f_q + ASI_TB * ASI_PAIR + ASI_TA, ASI_PAIR);
}

void asi_axes_curvature(const asi_pair *pair, asi_row row, double lambda, double *f_q) {
  const axes x = look(pair, row);
  curvature(pair, &x, row.sign * lambda, f_q);
}

static void rates(const asi_pair *pair, asi_row row, const axes *x, const as_element_output *out,
                  int r) {
  const double s = row.sign, *a1 = pair->A.axis1 + 3 * row.i, *b1 = pair->B.axis1 + 3 * row.j;
  double Wa[3], Wb[3], u1[3], w1[3];
  asi_local_rate(pair->a, x->a, a1, Wa);
  asi_local_rate(pair->b, x->b, b1, Wb);
  asi_rotate(pair->a->R, Wa, u1);
  asi_rotate(pair->b->R, Wb, w1);
  if (out->rate) out->rate[r] += s * (asi_dot(u1, x->w) + asi_dot(x->u, w1));
  if (out->gdot_q) {
    double *line = out->gdot_q + r * ASI_PAIR, w1_in_a[3], u1_in_b[3];
    asi_rotate_back(pair->a->R, w1, w1_in_a);
    asi_rotate_back(pair->b->R, u1, u1_in_b);
    asi_add_cross(s, Wa, x->w_in_a, line + ASI_TA);
    asi_add_cross(s, x->a, w1_in_a, line + ASI_TA);
    asi_add_cross(s, Wb, x->u_in_b, line + ASI_TB);
    asi_add_cross(s, x->b, u1_in_b, line + ASI_TB);
  }
  if (out->acceleration) {
    double u2[3], w2[3];
    asi_world_acceleration(pair->a, x->a, a1, pair->A.axis2 + 3 * row.i, u2);
    asi_world_acceleration(pair->b, x->b, b1, pair->B.axis2 + 3 * row.j, w2);
    out->acceleration[r] += s * (asi_dot(u2, x->w) + 2.0 * asi_dot(u1, w1) + asi_dot(x->u, w2));
  }
}

void asi_axes_row(const asi_pair *pair, asi_row row, const as_element_input *in,
                  const as_element_output *out, int r) {
  const axes x = look(pair, row);
  const double s = row.sign;
  if (out->g) out->g[r] += s * asi_dot(x.u, x.w);
  if (out->g_q) {
    asi_add_cross(s, x.a, x.w_in_a, out->g_q + r * ASI_PAIR + ASI_TA);
    asi_add_cross(s, x.b, x.u_in_b, out->g_q + r * ASI_PAIR + ASI_TB);
  }
  if (out->rate || out->gdot_q || out->acceleration) rates(pair, row, &x, out, r);
  if (out->f_q) curvature(pair, &x, s * in->lambda[r], out->f_q);
}
