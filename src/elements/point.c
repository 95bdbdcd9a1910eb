/// Three rows: the origins of two frames coincide.
///
///     g    = P_a - P_b,  P = x + R p                        world axes: lambda is the force on the second body
///     g_q  = [ I   -R_a p_a~   -I   R_b p_b~ ]
///     g'   = P_a' - P_b'                                    D_q: -R_a W_a~,  R_b W_b~,  W = omega x p + p'
///     f    = [ -lambda   -p_a x R_a^T lambda   lambda   p_b x R_b^T lambda ]
///     f_q  = -p_a~ (R_a^T lambda)~,  p_b~ (R_b^T lambda)~   since D (R^T lambda) = (R^T lambda)~ dtheta
#include "elements/rows.h"
#include "elements/vector.h"

/// [-R_a a~   R_b b~] in the columns dtheta: row k of R a~ is R_k x a.
static void turn_columns(const double *a, const double *b, const double *Ra, const double *Rb,
                         double *row) {
  for (int k = 0; k < 3; ++k, row += ASI_PAIR) {
    asi_cross(a, Ra + 3 * k, row + ASI_TA);
    asi_cross(Rb + 3 * k, b, row + ASI_TB);
  }
}

void asi_point_rows(const asi_pair *pair, const as_element_input *in, const as_element_output *out,
                    int r) {
  const double *Ra = pair->a->R, *Rb = pair->b->R;
  if (out->g) asi_copy(pair->D, out->g + r);
  if (out->rate) asi_copy(pair->D1, out->rate + r);
  if (out->acceleration) asi_copy(pair->D2, out->acceleration + r);
  if (out->g_q) {
    double *row = out->g_q + r * ASI_PAIR;
    for (int k = 0; k < 3; ++k) {
      row[k * ASI_PAIR + ASI_XA + k] = 1.0;
      row[k * ASI_PAIR + ASI_XB + k] = -1.0;
    }
    turn_columns(pair->A.p, pair->B.p, Ra, Rb, row);
  }
  if (out->gdot_q) turn_columns(pair->wa, pair->wb, Ra, Rb, out->gdot_q + r * ASI_PAIR);
  if (out->f_q) {
    double la[3], lb[3];
    asi_rotate_back(Ra, in->lambda + r, la);
    asi_rotate_back(Rb, in->lambda + r, lb);
    asi_add_skew_skew(-1.0, pair->A.p, la, out->f_q + ASI_TA * ASI_PAIR + ASI_TA, ASI_PAIR);
    asi_add_skew_skew(1.0, pair->B.p, lb, out->f_q + ASI_TB * ASI_PAIR + ASI_TB, ASI_PAIR);
  }
}
