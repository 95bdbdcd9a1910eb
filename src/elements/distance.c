/// One row: the distance of the origins of two frames is given, l(t) > 0.
///
///     g    = |D| - l,  D = P_a - P_b,  e = D/|D|            lambda is the tension: it pulls b towards a
///     g_q  = e^T C,  C = D_q D = [ I  -R_a p_a~  -I  R_b p_b~ ]
///     g'   = e . D' - l'          D_q: e^T D_q D' + D'^T N C,   N = (I - e e^T)/|D|
///     g''  = e . D'' + D'^T N D' - l''
///     f_q  = that of three point rows with multipliers lambda e, less lambda C^T N C
#include "alphastep/problem.h"
#include "elements/rows.h"
#include "elements/vector.h"
#include "elements/why.h"

void asi_distance_gradient(const asi_pair *pair, double *C) {
  for (int k = 0; k < 3 * ASI_PAIR; ++k) C[k] = 0.0;
  asi_add_identity(1.0, C + ASI_XA, ASI_PAIR);
  asi_add_times_skew(-1.0, pair->a->R, pair->A.p, C + ASI_TA, ASI_PAIR);
  asi_add_identity(-1.0, C + ASI_XB, ASI_PAIR);
  asi_add_times_skew(1.0, pair->b->R, pair->B.p, C + ASI_TB, ASI_PAIR);
}

/// N x
static void across(const double *e, double size, const double *x, double *out) {
  const double along = asi_dot(e, x);
  for (int k = 0; k < 3; ++k) out[k] = (x[k] - along * e[k]) / size;
}

/// row += factor x^T C
static void add_line(double factor, const double *x, const double *C, double *line) {
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < ASI_PAIR; ++j) line[j] += factor * x[k] * C[k * ASI_PAIR + j];
}

static void add_curvature(const asi_pair *pair, const double *e, double size, double lambda,
                          const double *C, double *f_q) {
  double pull[3], la[3], lb[3];
  for (int k = 0; k < 3; ++k) pull[k] = lambda * e[k];
  asi_rotate_back(pair->a->R, pull, la);
  asi_rotate_back(pair->b->R, pull, lb);
  asi_add_skew_skew(-1.0, pair->A.p, la, f_q + ASI_TA * ASI_PAIR + ASI_TA, ASI_PAIR);
  asi_add_skew_skew(1.0, pair->B.p, lb, f_q + ASI_TB * ASI_PAIR + ASI_TB, ASI_PAIR);
  for (int i = 0; i < ASI_PAIR; ++i) {
    const double column[3] = {C[i], C[ASI_PAIR + i], C[2 * ASI_PAIR + i]};
    double Nc[3];
    across(e, size, column, Nc);
    add_line(-lambda, Nc, C, f_q + i * ASI_PAIR);
  }
}

int asi_distance_row(const asi_pair *pair, const double length[3], const as_element_input *in,
                     const as_element_output *out, int r) {
  const double size = asi_norm(pair->D);
  if (!(size > 0.0)) return asi_retry(in, ASI_WHY_POINTS);
  double e[3], C[3 * ASI_PAIR], ND1[3];
  for (int k = 0; k < 3; ++k) e[k] = pair->D[k] / size;
  if (out->g) out->g[r] += size - length[0];
  if (out->rate) out->rate[r] += asi_dot(e, pair->D1) - length[1];
  if (out->gdot_q || out->acceleration) across(e, size, pair->D1, ND1);
  if (out->acceleration)
    out->acceleration[r] += asi_dot(e, pair->D2) + asi_dot(ND1, pair->D1) - length[2];
  if (out->g_q || out->gdot_q || out->f_q) asi_distance_gradient(pair, C);
  if (out->g_q) add_line(1.0, e, C, out->g_q + r * ASI_PAIR);
  if (out->gdot_q) {
    double *line = out->gdot_q + r * ASI_PAIR, e_in_a[3], e_in_b[3];
    add_line(1.0, ND1, C, line);
    asi_rotate_back(pair->a->R, e, e_in_a);
    asi_rotate_back(pair->b->R, e, e_in_b);
    asi_add_cross(1.0, pair->wa, e_in_a, line + ASI_TA); // -e^T R W~ = (W x R^T e)^T
    asi_add_cross(-1.0, pair->wb, e_in_b, line + ASI_TB);
  }
  if (out->f_q) add_curvature(pair, e, size, in->lambda[r], C, out->f_q);
  return AS_DONE;
}
