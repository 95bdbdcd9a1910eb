/// The inertia of a beam element: mass along a cubic line between its nodes.
///
/// The line x(s) = sum H_k(s) y_k has four directors, two on each body b: y_k = sigma_k x_b + R_b c_k with sigma = (1, 0, 1, 0) and
/// c = (p_A, L a_A, p_B, L a_B), p the centre of mass of the end section and a its tangent, in the body. With
/// T_kl = L int rhoA H_k H_l ds the kinetic energy is sum T_kl y_k' . y_l' / 2. It comes from a field of positions, so it is the
/// same for all observers that move uniformly. With sums over the directors l of a body e,
///
///     n_ke = sum T_kl sigma_l     h_ke = sum T_kl c_l
///     F_k = sum_e n_ke v_e' + R_e (omega' x h_ke + omega x (omega x h_ke))
///
/// and on the left side of the equations of motion stand the force sum sigma_k F_k and the torque sum c_k x R_b^T F_k of each
/// body b. So
///
///     M:                       sigma_k [ n_ke I  -R_e h_ke~ ],   c_k~ R_b^T [ n_ke I  -R_e h_ke~ ]
///     D_q of F_k at fixed g_ke = omega' x h_ke, or omega x (omega x h_ke):   -R_e g_ke~, and c_k~ (R_b^T F_k)~ in (b, b)
///     D_omega of omega x (omega x h):   -((omega x h)~ + omega~ h~)
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
  for (int k = 0; k < D; ++k) {
    b->off[k] = asi_dot(b->c[k], b->c[k]) > 0.0;
    for (int e = 0; e < 2; ++e) {
      b->n[k][e] = T[k][2 * e];
      asi_set(0.0, 0.0, 0.0, b->h[k][e]);
      for (int l = 2 * e; l < 2 * e + 2; ++l) {
        asi_add(T[k][l], b->c[l], b->h[k][e]);
        b->heavy = b->heavy || T[k][l] != 0.0;
      }
    }
  }
}

/// out += factor c~ R^T m, m 3 x 3: what a director's world quantity does as a torque.
static void add_torque(double factor, const double *c, const double *R, const double *m,
                       double *out) {
  double seen[9];
  asi_multiply_transposed(R, m, seen);
  asi_add_skew_times(factor, c, seen, out, ROW);
}

/// Adds factor times a matrix of F_k by the rotation of body e, both to the force and to the torque.
static void add_by_turn(const asi_beam *b, const as_element_input *in, int k, int e, double factor,
                        const double *m, double *out) {
  const int body = k / 2;
  double *at = out + 6 * body * ROW + 6 * e + 3;
  if (k % 2 == 0) asi_add_matrix(factor, m, at, ROW);
  if (b->off[k]) add_torque(factor, b->c[k], in->body[body]->R, m, at + 3 * ROW);
}

/// out += factor D_q of all F_k with g, and their torques.
static void add_by_q(const asi_beam *b, const as_element_input *in, double factor,
                     double g[D][2][3], double F[D][3], double *out) {
  for (int k = 0; k < D; ++k) {
    for (int e = 0; e < 2; ++e) {
      double m[9];
      asi_times_skew(in->body[e]->R, g[k][e], m);
      add_by_turn(b, in, k, e, -factor, m, out);
    }
    if (!b->off[k]) continue;
    double seen[3];
    asi_rotate_back(in->body[k / 2]->R, F[k], seen);
    asi_add_skew_skew(factor, b->c[k], seen, out + (6 * (k / 2) + 3) * (ROW + 1), ROW);
  }
}

/// F_k of g and of accelerations a_e of the bodies' places, `stride` numbers apart.
static void set_forces(const asi_beam *b, const as_element_input *in, double g[D][2][3],
                       const double *a, int stride, double F[D][3]) {
  for (int k = 0; k < D; ++k) {
    asi_set(0.0, 0.0, 0.0, F[k]);
    for (int e = 0; e < 2; ++e) {
      double turned[3];
      asi_rotate(in->body[e]->R, g[k][e], turned);
      asi_add(1.0, turned, F[k]);
      asi_add(b->n[k][e], a + (ptrdiff_t)e * stride, F[k]);
    }
  }
}

static void set_M(const asi_beam *b, const as_element_input *in, double *M) {
  for (int k = 0; k < D; ++k) {
    const int body = k / 2;
    for (int e = 0; e < 2; ++e) {
      double m[9], *at = M + 6 * body * ROW + 6 * e;
      asi_times_skew(in->body[e]->R, b->h[k][e], m);
      add_by_turn(b, in, k, e, -1.0, m, M);
      if (k % 2 == 0) asi_add_identity(b->n[k][e], at, ROW);
      if (!b->off[k] || b->n[k][e] == 0.0) continue;
      const double *R = in->body[body]->R;
      const double back[9] = {R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]};
      asi_add_skew_times(b->n[k][e], b->c[k], back, at + 3 * ROW, ROW);
    }
  }
}

int asi_beam_inertia(const as_element_input *in, const double *a, const as_element_inertia *out,
                     const void *data) {
  const asi_beam *b = data;
  if (out->M) set_M(b, in, out->M);
  if (!out->Ma_q) return AS_DONE;
  double g[D][2][3], F[D][3];
  for (int k = 0; k < D; ++k)
    for (int e = 0; e < 2; ++e) asi_cross(a + 6 * e + 3, b->h[k][e], g[k][e]);
  set_forces(b, in, g, a, 6, F);
  add_by_q(b, in, 1.0, g, F, out->Ma_q);
  return AS_DONE;
}

void asi_beam_add_inertia(const asi_beam *b, const as_element_input *in,
                          const as_element_output *out) {
  double g[D][2][3], F[D][3], spin[D][2][3];
  const double up[3] = {-b->gravity[0], -b->gravity[1], -b->gravity[2]};
  for (int k = 0; k < D; ++k)
    for (int e = 0; e < 2; ++e) {
      asi_cross(in->body[e]->omega, b->h[k][e], spin[k][e]);
      asi_cross(in->body[e]->omega, spin[k][e], g[k][e]);
    }
  set_forces(b, in, g, up, 0, F);
  for (int k = 0; k < D && out->force; ++k) {
    double seen[3], *f = out->force + 6 * (k / 2);
    if (k % 2 == 0) asi_add(-1.0, F[k], f);
    asi_rotate_back(in->body[k / 2]->R, F[k], seen);
    asi_add_cross(-1.0, b->c[k], seen, f + 3);
  }
  if (out->f_q) add_by_q(b, in, -1.0, g, F, out->f_q);
  for (int k = 0; k < D && out->f_v; ++k)
    for (int e = 0; e < 2; ++e) {
      double by[9] = {0}, m[9];
      asi_add_skew(1.0, spin[k][e], by, 3);
      asi_add_skew_skew(1.0, in->body[e]->omega, b->h[k][e], by, 3);
      asi_multiply(in->body[e]->R, by, m);
      add_by_turn(b, in, k, e, 1.0, m, out->f_v);
    }
}

double asi_beam_weight_potential(const asi_beam *b, const as_element_input *in) {
  double sum = 0.0;
  for (int k = 0; k < D; ++k) {
    double y[3];
    asi_rotate(in->body[k / 2]->R, b->c[k], y);
    if (k % 2 == 0) asi_add(1.0, in->body[k / 2]->x, y);
    sum -= (b->n[k][0] + b->n[k][1]) * asi_dot(b->gravity, y);
  }
  return sum;
}
