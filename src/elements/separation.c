/// One row: the origin of frame B lies in the plane through the origin of frame A across an axis u = R_a a.
///
///     g    = u . D,  D = P_a - P_b                          lambda is the force along u on the second body
///     g_q  = [ u^T   (a x m)^T   -u^T   -(p_b x R_b^T u)^T ],   m = R_a^T D - p_a = R_a^T (x_a - P_b)
///     g'   = u' . D + u . D'
///     g''  = u'' . D + 2 u' . D' + u . D''
///
/// g' is differentiated with D u = -R_a a~, D u' = -R_a W~ (W = omega x a + a'), D D' = -R_a W_pa~ and
/// R_b W_pb~, and D itself as in g_q:
///
///     x_a: u'^T    theta_a: W x R_a^T D + p_a x W + a x R_a^T D' + W_pa x a
///     x_b: -u'^T   theta_b: -(p_b x R_b^T u') - (W_pb x R_b^T u)
///
/// f = -lambda g_q^T changes by D u as above, D m = m~ dtheta_a + R_a^T (dx_a - dx_b + R_b p_b~ dtheta_b)
/// and D (R_b^T u) = (R_b^T u)~ dtheta_b - R_b^T R_a a~ dtheta_a.
#include "elements/rows.h"
#include "elements/vector.h"

static void curvature(const asi_pair *pair, const double *a, const double *m, const double *u_in_b,
                      double lambda, double *f_q) {
  enum { w = ASI_PAIR };
  const double *pb = pair->B.p;
  double Raa[9], aRt[9] = {0}, S[9], Spb[9], St[9], Sta[9];
  asi_times_skew(pair->a->R, a, Raa); // R_a a~
  asi_add_matrix(lambda, Raa, f_q + ASI_XA * w + ASI_TA, w);
  asi_add_matrix(-lambda, Raa, f_q + ASI_XB * w + ASI_TA, w);
  asi_add_transposed(-1.0, Raa, aRt, 3); // a~ R_a^T = -(R_a a~)^T
  asi_add_matrix(-lambda, aRt, f_q + ASI_TA * w + ASI_XA, w);
  asi_add_matrix(lambda, aRt, f_q + ASI_TA * w + ASI_XB, w);
  asi_add_skew_skew(-lambda, a, m, f_q + ASI_TA * w + ASI_TA, w);
  asi_multiply_transposed(pair->a->R, pair->b->R, S);
  asi_multiply_transposed(pair->b->R, pair->a->R, St);
  asi_times_skew(S, pb, Spb);
  asi_times_skew(St, a, Sta);
  asi_add_skew_times(-lambda, a, Spb, f_q + ASI_TA * w + ASI_TB, w);
  asi_add_skew_skew(lambda, pb, u_in_b, f_q + ASI_TB * w + ASI_TB, w);
  asi_add_skew_times(-lambda, pb, Sta, f_q + ASI_TB * w + ASI_TA, w);
}

static void rates(const asi_pair *pair, asi_row row, const double *u, const double *u_in_b,
                  const as_element_output *out, int r) {
  const double *a = pair->A.axis + 3 * row.i, *a1 = pair->A.axis1 + 3 * row.i;
  const double s = row.sign;
  double W[3], u1[3];
  asi_local_rate(pair->a, a, a1, W);
  asi_rotate(pair->a->R, W, u1);
  if (out->rate) out->rate[r] += s * (asi_dot(u1, pair->D) + asi_dot(u, pair->D1));
  if (out->gdot_q) {
    double *line = out->gdot_q + r * ASI_PAIR, D_in_a[3], D1_in_a[3], u1_in_b[3];
    asi_rotate_back(pair->a->R, pair->D, D_in_a);
    asi_rotate_back(pair->a->R, pair->D1, D1_in_a);
    asi_rotate_back(pair->b->R, u1, u1_in_b);
    asi_add(s, u1, line + ASI_XA);
    asi_add(-s, u1, line + ASI_XB);
    asi_add_cross(s, W, D_in_a, line + ASI_TA);
    asi_add_cross(s, pair->A.p, W, line + ASI_TA);
    asi_add_cross(s, a, D1_in_a, line + ASI_TA);
    asi_add_cross(s, pair->wa, a, line + ASI_TA);
    asi_add_cross(-s, pair->B.p, u1_in_b, line + ASI_TB);
    asi_add_cross(-s, pair->wb, u_in_b, line + ASI_TB);
  }
  if (out->acceleration) {
    double u2[3];
    asi_world_acceleration(pair->a, a, a1, pair->A.axis2 + 3 * row.i, u2);
    out->acceleration[r] +=
        s * (asi_dot(u2, pair->D) + 2.0 * asi_dot(u1, pair->D1) + asi_dot(u, pair->D2));
  }
}

void asi_separation_row(const asi_pair *pair, asi_row row, const as_element_input *in,
                        const as_element_output *out, int r) {
  const double *a = pair->A.axis + 3 * row.i, s = row.sign;
  double u[3], m[3], u_in_b[3];
  asi_rotate(pair->a->R, a, u);
  asi_rotate_back(pair->a->R, pair->D, m);
  asi_add(-1.0, pair->A.p, m);
  asi_rotate_back(pair->b->R, u, u_in_b);
  if (out->g) out->g[r] += s * asi_dot(u, pair->D);
  if (out->g_q) {
    double *line = out->g_q + r * ASI_PAIR;
    asi_add(s, u, line + ASI_XA);
    asi_add(-s, u, line + ASI_XB);
    asi_add_cross(s, a, m, line + ASI_TA);
    asi_add_cross(-s, pair->B.p, u_in_b, line + ASI_TB);
  }
  if (out->rate || out->gdot_q || out->acceleration) rates(pair, row, u, u_in_b, out, r);
  if (out->f_q) curvature(pair, a, m, u_in_b, s * in->lambda[r], out->f_q);
}
