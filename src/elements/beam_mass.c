/// The inertia of a beam element: mass along a cubic line between its nodes.
///
/// [BE.7] The line x(s) = sum H_k(s) y_k has four directors, two on each body b: y_k = sigma_k x_b + R_b c_k with sigma = (1, 0, 1, 0) and
/// c = (p_A, L a_A, p_B, L a_B), p the centre of mass of the end section and a its tangent, in the body. With
/// T_kl = L int rhoA H_k H_l ds the kinetic energy is sum T_kl y_k' . y_l' / 2. It comes from a field of positions, so it is the
/// same for all observers that move uniformly. On the left side of the equations of motion stand the force sum sigma_k F_k and the
/// torque sum c_k x R_b^T F_k of each body b, with [BE.8]
///
///     F_k = sum_l T_kl y_l''     y_l'' = sigma_l v_e' + R_e g_l     g_l = omega' x c_l + omega x (omega x c_l)     e of director l
///
/// [BE.15] What the line inside does besides the cubic one makes it heavier: T_22 = T_44 += c m, T_24 = T_42 -= c m, c = (1 + 3 phi)/720.
///
/// [BE.9] So each director l adds, to the columns of its body e and the rows of each body b, with h_lb = sum_k T_lk c_k over those of b,
///
///     M, by v':          sigma_l T_lb I,   sigma_l h_lb~ R_b^T              T_lb that of b's place
///     M, by omega':      -T_lb R_e c_l~,   -h_lb~ R_b^T R_e c_l~
///     D_q at fixed g_l:  -T_lb R_e g_l~,   -h_lb~ R_b^T R_e g_l~,   and c_k~ (R_b^T F_k)~ in (b, b)
///     D_omega of omega x (omega x c_l), which is -m_l = -((omega x c_l)~ + omega~ c_l~):   likewise with m_l
///
/// Weight is v_e' = -gravity. Of a body whose centre of mass is on the line (c = 0), sum_l T_kl of a lumped table, half the
/// mass, stands with the body; T is less by that. Then nothing is left of the lumped table itself.
#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/beam.h"
#include "elements/vector.h"

enum { D = ASI_DIRECTORS, ROW = ASI_PAIR };

/// T, and what a lumped one has at each end.
static void set_table(const asi_beam *b, const double *density, double T[D][D], double half[2]) {
  memset(T, 0, D * D * sizeof(double));
  half[0] = half[1] = 0.0;
  for (int p = 0; p < ASI_BEAM_POINTS; ++p) {
    const double s = asi_beam_point[p], mass = b->length * asi_beam_weight[p] * density[p];
    double H[D];
    asi_beam_hermite(s, H);
    for (int k = 0; k < D; ++k)
      for (int l = 0; l < D; ++l) T[k][l] += mass * H[k] * H[l];
    half[0] += mass * (1.0 - s);
    half[1] += mass * s;
  }
  const double inside = b->plain ? 0.0 : (half[0] + half[1]) * (1.0 + 3.0 * b->phi) / 720.0;
  for (int k = 1; k < D; k += 2)
    for (int l = 1; l < D; l += 2) T[k][l] += k == l ? inside : -inside;
}

void asi_beam_set_mass(asi_beam *b, const double density[ASI_BEAM_POINTS],
                       const double center[2][2], const bool rigid[2], bool hermite,
                       const double *gravity) {
  double T[D][D], half[2];
  set_table(b, density, T, half);
  if (!hermite) {
    memset(T, 0, sizeof T);
    T[0][0] = half[0];
    T[2][2] = half[1];
  }
  for (int e = 0; e < 2; ++e) {
    const asi_frame *f = &b->frame[e];
    double *c = b->c[2 * e];
    asi_copy(f->p, c);
    asi_add(center[e][0], f->axis + 3, c);
    asi_add(center[e][1], f->axis + 6, c);
    asi_set(0.0, 0.0, 0.0, b->c[2 * e + 1]);
    for (int k = 0; k < 3; ++k) asi_add(b->rest[k], f->axis + 3 * k, b->c[2 * e + 1]);
    b->lumped[e] = rigid[e] && asi_dot(c, c) == 0.0 ? half[e] : 0.0;
    T[2 * e][2 * e] -= b->lumped[e];
  }
  asi_copy(gravity, b->gravity);
  b->heavy = false;
  memcpy(b->T, T, sizeof b->T);
  for (int k = 0; k < D; ++k) {
    b->off[k] = asi_dot(b->c[k], b->c[k]) > 0.0;
    for (int e = 0; e < 2; ++e) {
      asi_set(0.0, 0.0, 0.0, b->h[k][e]);
      for (int l = 2 * e; l < 2 * e + 2; ++l) {
        asi_add(T[k][l], b->c[l], b->h[k][e]);
        b->heavy = b->heavy || T[k][l] != 0.0;
      }
    }
  }
}

// Blocks of 3 x 3 of an element's matrix: rows and columns of a body's place or of its turn.
static double *place_turn(double *m, int row_body, int col_body) {
  return m + (ptrdiff_t)6 * row_body * ROW + (ptrdiff_t)6 * col_body + 3;
}
static double *turn_turn(double *m, int row_body, int col_body) {
  return place_turn(m, row_body, col_body) + (ptrdiff_t)3 * ROW;
}

/// out = sum over the directors of body e of T_kl g_l
static void weigh(const asi_beam *b, int k, int e, double g[D][3], double *out) {
  const double *t = b->T[k] + 2 * e, *x = g[2 * e], *y = g[2 * e + 1];
  for (int i = 0; i < 3; ++i) out[i] = t[0] * x[i] + t[1] * y[i];
}

/// out += factor a~ Q b~ = factor ((Q b) (Q^T a)^T - (Q^T a . b) Q), Q given by rows or, `transposed`, by columns
static void add_between(double factor, const double *a, const double *Q, bool transposed,
                        const double *b, double *out) {
  double back[3], turned[3];
  if (transposed) {
    asi_rotate(Q, a, back);
    asi_rotate_back(Q, b, turned);
    asi_add_transposed(-factor * asi_dot(back, b), Q, out, ROW);
  } else {
    asi_rotate_back(Q, a, back);
    asi_rotate(Q, b, turned);
    asi_add_matrix(-factor * asi_dot(back, b), Q, out, ROW);
  }
  asi_add_outer(factor, turned, back, out, ROW);
}

/// out += factor D_q of all F_k with g, and their torques; Q = R_A^T R_B.
static void add_by_q(const asi_beam *b, const as_element_input *in, const double *Q, double factor,
                     double g[D][3], double F[D][3], double *out) {
  for (int e = 0; e < 2; ++e) {
    const double *R = in->body[e]->R;
    for (int body = 0; body < 2; ++body) {
      double sum[3];
      weigh(b, 2 * body, e, g, sum);
      asi_add_times_skew(-factor, R, sum, place_turn(out, body, e), ROW);
    }
    for (int l = 2 * e; l < 2 * e + 2; ++l) {
      double seen[3], *const own = turn_turn(out, e, e);
      if (!b->off[l]) continue;
      asi_add_skew_skew(-factor, b->h[l][e], g[l], own, ROW);
      asi_rotate_back(R, F[l], seen);
      asi_add_skew_skew(factor, b->c[l], seen, own, ROW);
      add_between(-factor, b->h[l][1 - e], Q, e == 0, g[l], turn_turn(out, 1 - e, e));
    }
  }
}

/// F_k of g and of accelerations a_e of the bodies' places, `stride` numbers apart.
static void set_forces(const asi_beam *b, const as_element_input *in, double g[D][3],
                       const double *a, int stride, double F[D][3]) {
  double y[D][3];
  for (int l = 0; l < D; ++l) {
    asi_set(0.0, 0.0, 0.0, y[l]);
    if (b->off[l]) asi_rotate(in->body[l / 2]->R, g[l], y[l]);
    if (l % 2 == 0) asi_add(1.0, a + (ptrdiff_t)(l / 2) * stride, y[l]);
  }
  for (int k = 0; k < D; ++k) {
    asi_set(0.0, 0.0, 0.0, F[k]);
    for (int l = 0; l < D; ++l) asi_add(b->T[k][l], y[l], F[k]);
  }
}

static void set_M(const asi_beam *b, const as_element_input *in, double *M) {
  double Q[9];
  asi_multiply_transposed(in->body[0]->R, in->body[1]->R, Q);
  for (int l = 2; l < D; ++l)
    if (b->off[l]) add_between(-1.0, b->h[l][0], Q, false, b->c[l], turn_turn(M, 0, 1));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) turn_turn(M, 1, 0)[ROW * j + i] = turn_turn(M, 0, 1)[ROW * i + j];
  for (int e = 0; e < 2; ++e) {
    for (int l = 2 * e; l < 2 * e + 2; ++l)
      if (b->off[l]) asi_add_skew_skew(-1.0, b->h[l][e], b->c[l], turn_turn(M, e, e), ROW);
    for (int body = 0; body < 2; ++body) {
      double *const above = place_turn(M, body, e), *const below = M + (6 * e + 3) * ROW + 6 * body;
      asi_add_identity(b->T[2 * e][2 * body], above - 3, ROW);
      asi_add_times_skew(-1.0, in->body[e]->R, b->h[2 * body][e], above, ROW);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) below[ROW * j + i] = above[ROW * i + j];
    }
  }
}

int asi_beam_inertia(const as_element_input *in, const double *a, const as_element_inertia *out,
                     const void *data) {
  const asi_beam *b = data;
  if (out->M) set_M(b, in, out->M);
  if (!out->Ma_q) return AS_DONE;
  double g[D][3], F[D][3], Q[9];
  for (int l = 0; l < D; ++l) asi_cross(a + (ptrdiff_t)6 * (l / 2) + 3, b->c[l], g[l]);
  set_forces(b, in, g, a, 6, F);
  asi_multiply_transposed(in->body[0]->R, in->body[1]->R, Q);
  add_by_q(b, in, Q, 1.0, g, F, out->Ma_q);
  return AS_DONE;
}

/// Adds D_omega of the forces of all directors.
static void add_by_omega(const asi_beam *b, const as_element_input *in, const double *Q,
                         double spin[D][3], double *out) {
  for (int l = 0; l < D; ++l) {
    const int e = l / 2;
    double m[9] = {0.0}, turned[9];
    if (!b->off[l]) continue;
    asi_add_skew(1.0, spin[l], m, 3);
    asi_add_skew_skew(1.0, in->body[e]->omega, b->c[l], m, 3);
    asi_multiply(in->body[e]->R, m, turned);
    for (int body = 0; body < 2; ++body)
      asi_add_matrix(b->T[l][2 * body], turned, place_turn(out, body, e), ROW);
    asi_add_skew_times(1.0, b->h[l][e], m, turn_turn(out, e, e), ROW);
    if (e == 0)
      asi_multiply_transposed(Q, m, turned);
    else
      asi_multiply(Q, m, turned);
    asi_add_skew_times(1.0, b->h[l][1 - e], turned, turn_turn(out, 1 - e, e), ROW);
  }
}

void asi_beam_add_inertia(const asi_beam *b, const as_element_input *in,
                          const as_element_output *out) {
  double g[D][3], F[D][3], spin[D][3], Q[9];
  const double up[3] = {-b->gravity[0], -b->gravity[1], -b->gravity[2]};
  for (int l = 0; l < D; ++l) {
    const double *omega = in->body[l / 2]->omega;
    asi_cross(omega, b->c[l], spin[l]);
    asi_cross(omega, spin[l], g[l]);
  }
  set_forces(b, in, g, up, 0, F);
  for (int k = 0; k < D && out->force; ++k) {
    double seen[3], *f = out->force + (ptrdiff_t)6 * (k / 2);
    if (k % 2 == 0) asi_add(-1.0, F[k], f);
    if (!b->off[k]) continue;
    asi_rotate_back(in->body[k / 2]->R, F[k], seen);
    asi_add_cross(-1.0, b->c[k], seen, f + 3);
  }
  if (out->f_q == NULL && out->f_v == NULL) return;
  asi_multiply_transposed(in->body[0]->R, in->body[1]->R, Q);
  if (out->f_q && in->acceleration) {
    double a[2][3];
    for (int e = 0; e < 2; ++e) asi_sum(up, 1.0, in->acceleration + 6 * e, a[e]);
    for (int l = 0; l < D; ++l)
      asi_add_cross(1.0, in->acceleration + (ptrdiff_t)6 * (l / 2) + 3, b->c[l], g[l]);
    set_forces(b, in, g, a[0], 3, F);
  }
  if (out->f_q) add_by_q(b, in, Q, -1.0, g, F, out->f_q);
  if (out->f_v) add_by_omega(b, in, Q, spin, out->f_v);
}

double asi_beam_weight_potential(const asi_beam *b, const as_element_input *in) {
  double sum = 0.0;
  for (int k = 0; k < D; ++k) {
    double y[3];
    asi_rotate(in->body[k / 2]->R, b->c[k], y);
    if (k % 2 == 0) asi_add(1.0, in->body[k / 2]->x, y);
    sum -= (b->T[k][0] + b->T[k][2]) * asi_dot(b->gravity, y);
  }
  return sum;
}
