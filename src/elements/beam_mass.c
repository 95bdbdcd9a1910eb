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
#include "base/simd.h"
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

// ---- evaluation: both bodies at once ----------------------------------------------------------------

/// A number of body A, and the same of body B.
typedef asi_simd2 two;

ASI_INLINED two swap(two x) { return (two){x[1], x[0]}; }

ASI_INLINED void pair(const double *a, const double *b, two out[3]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) out[i] = (two){a[i], b[i]};
}

/// out = a x b
ASI_INLINED void cross(const two *a, const two *b, two *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

ASI_INLINED two dot(const two *a, const two *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

ASI_INLINED void rotate(const two *R, const two *a, two *out) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) out[i] = dot(R + 3 * i, a);
}

ASI_INLINED void rotate_back(const two *R, const two *a, two *out) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

/// The two directors k of both bodies e; o is the other body.
typedef struct director {
  bool off;            ///< one of them is
  two c[3];            ///< in e
  two own[3], h[3];    ///< h_lb of e, and of o
  two back[3];         ///< Q^T h
  two near[2], far[2]; ///< T_kl of the directors l of e, and of o
} director;

/// Where the bodies are.
typedef struct ends {
  two R[9], Q[9]; ///< R_e, and R_o^T R_e
  director at[2];
} ends;

ASI_INLINED void set_ends(const asi_beam *b, const as_element_input *in, ends *x) {
  const double *A = in->body[0]->R, *B = in->body[1]->R;
  double Q[9];
  asi_multiply_transposed(A, B, Q);
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    x->R[i] = (two){A[i], B[i]};
    x->Q[i] = (two){Q[i % 3 * 3 + i / 3], Q[i]};
  }
#pragma GCC unroll 2
  for (int k = 0; k < 2; ++k) {
    director *at = &x->at[k];
    at->off = b->off[k] || b->off[2 + k];
    pair(b->c[k], b->c[2 + k], at->c);
    pair(b->h[k][0], b->h[2 + k][1], at->own);
    pair(b->h[k][1], b->h[2 + k][0], at->h);
#pragma GCC unroll 2
    for (int l = 0; l < 2; ++l) {
      at->near[l] = (two){b->T[k][l], b->T[2 + k][2 + l]};
      at->far[l] = (two){b->T[k][2 + l], b->T[2 + k][l]};
    }
    if (at->off) rotate_back(x->Q, at->h, at->back);
  }
}

/// Columns of the turn of each body: rows of the places of e and o, of the turns of e and o.
typedef struct columns {
  two near[9], far[9], own[9], other[9];
} columns;

/// [BE.9] W = R v~, own = h~ v~, other = h~ Q v~ = (Q v) (Q^T h)^T - (Q^T h . v) Q
ASI_INLINED void set_skew(const ends *x, const director *at, const two v[3], two W[9],
                          columns *out) {
  two seen[3];
  const two along = dot(at->own, v), across = dot(at->back, v);
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) cross(x->R + 3 * i, v, W + 3 * i);
  rotate(x->Q, v, seen);
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    out->own[i] = v[i / 3] * at->own[i % 3];
    out->other[i] = seen[i / 3] * at->back[i % 3] - across * x->Q[i];
  }
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) out->own[4 * i] -= along;
}

/// Likewise for omega~ c~ = c omega^T - (omega . c) I, added
ASI_INLINED void add_turning(const ends *x, const director *at, const two omega[3], two W[9],
                             columns *out) {
  two seen[3], moment[3], far[3];
  const two along = dot(omega, at->c), *h = at->h;
  rotate(x->R, at->c, seen);
  cross(at->own, at->c, moment);
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    W[i] += seen[i / 3] * omega[i % 3] - along * x->R[i];
    out->own[i] += moment[i / 3] * omega[i % 3];
  }
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const int y = (i + 1) % 3, z = (i + 2) % 3;
    out->own[3 * y + i] -= along * at->own[z];
    out->own[3 * z + i] += along * at->own[y];
  }
  rotate(x->Q, at->c, seen);
  cross(h, seen, far);
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    const int r = i / 3, j = i % 3, y = (r + 1) % 3, z = (r + 2) % 3;
    out->other[i] += far[r] * omega[j] - along * (h[y] * x->Q[3 * z + j] - h[z] * x->Q[3 * y + j]);
  }
}

/// Places are moved by T_lb W.
ASI_INLINED void set_places(const director *at, const two W[9], columns *out) {
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    out->near[i] = at->near[0] * W[i];
    out->far[i] = at->far[0] * W[i];
  }
}

/// Adds a 3 x 3 block of both bodies, at a row and a column of body A's; `cross` to the rows of the other one.
ASI_INLINED void add_block(const two m[9], int row, bool crosses, double *out) {
  double *const a = out + (row + (crosses ? 6 : 0)) * ROW + 3, *const b =
                                                                   out +
                                                                   (row + (crosses ? 0 : 6)) * ROW +
                                                                   9;
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    a[i / 3 * ROW + i % 3] += m[i][0];
    b[i / 3 * ROW + i % 3] += m[i][1];
  }
}

ASI_INLINED void add_columns(const columns *c, double *out) {
  add_block(c->near, 0, false, out);
  add_block(c->far, 0, true, out);
  add_block(c->own, 3, false, out);
  add_block(c->other, 3, true, out);
}

ASI_INLINED void set_M(const ends *x, double *M) {
  double *const last = M + 6 * ROW;
  for (int k = 0; k < 2; ++k) {
    const two *c = x->at[k].c, v[3] = {-c[0], -c[1], -c[2]};
    columns to;
    two W[9];
    if (!x->at[k].off) continue;
    set_skew(x, &x->at[k], v, W, &to);
    set_places(&x->at[k], W, &to);
    add_columns(&to, M);
  }
  // symmetric
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      M[(3 + j) * ROW + i] = M[i * ROW + 3 + j];
      M[(9 + j) * ROW + i] = M[i * ROW + 9 + j];
      last[(ptrdiff_t)(j - 3) * ROW + 6 + i] = last[i * ROW + 3 + j];
      last[(3 + j) * ROW + 6 + i] = last[i * ROW + 9 + j];
      last[(3 + j) * ROW + 3 + i] = M[(3 + i) * ROW + 9 + j];
    }
    const director *at = &x->at[0];
    M[i * (ROW + 1)] = at->near[0][0];
    last[i * (ROW + 1) + 6] = at->near[0][1];
    M[i * (ROW + 1) + 6] = at->far[0][0];
    last[i * (ROW + 1)] = at->far[0][1];
  }
}

/// F_k of g and of accelerations of the bodies' places.
ASI_INLINED void set_forces(const ends *x, two g[2][3], const two a[3], two F[2][3]) {
  two y[2][3];
#pragma GCC unroll 2
  for (int k = 0; k < 2; ++k) {
    if (x->at[k].off)
      rotate(x->R, g[k], y[k]);
    else
      y[k][0] = y[k][1] = y[k][2] = asi_simd_splat(0.0);
  }
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    y[0][i] += a[i];
    const two first = swap(y[0][i]), second = swap(y[1][i]);
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const director *at = &x->at[k];
      F[k][i] =
          at->near[0] * y[0][i] + at->near[1] * y[1][i] + at->far[0] * first + at->far[1] * second;
    }
  }
}

/// out += D_q of -F_k with g, and of their torques.
ASI_INLINED void subtract_by_q(const ends *x, two g[2][3], two F[2][3], double *out) {
  for (int k = 0; k < 2; ++k) {
    const director *at = &x->at[k];
    columns to;
    two W[9], seen[3];
    if (!at->off) continue;
    set_skew(x, at, g[k], W, &to);
    set_places(at, W, &to);
    rotate_back(x->R, F[k], seen); // c~ seen~ = seen c^T - (c . seen) I
    const two along = dot(at->c, seen);
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) to.own[i] -= seen[i / 3] * at->c[i % 3];
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) to.own[4 * i] += along;
    add_columns(&to, out);
  }
}

/// g = turn' x c, added
ASI_INLINED void add_turned(const ends *x, const two turn[3], two g[2][3]) {
#pragma GCC unroll 2
  for (int k = 0; k < 2; ++k) {
    two more[3];
    cross(turn, x->at[k].c, more);
    for (int i = 0; i < 3; ++i) g[k][i] += more[i];
  }
}

ASI_TWICE int asi_beam_inertia(const as_element_input *in, const double *a,
                               const as_element_inertia *out, const void *data) {
  const asi_beam *b = data;
  ends x;
  set_ends(b, in, &x);
  if (out->M) set_M(&x, out->M);
  if (!out->Ma_q) return AS_DONE;
  const two none = asi_simd_splat(0.0);
  two g[2][3] = {{none, none, none}, {none, none, none}}, F[2][3], place[3], turn[3];
  pair(a, a + 6, place);
  pair(a + 3, a + 9, turn);
  for (int i = 0; i < 3; ++i) {
    place[i] = -place[i];
    turn[i] = -turn[i];
  }
  add_turned(&x, turn, g);
  set_forces(&x, g, place, F);
  subtract_by_q(&x, g, F, out->Ma_q);
  return AS_DONE;
}

/// Adds D_omega of the forces of all directors: m = (omega x c)~ + omega~ c~.
ASI_INLINED void add_by_omega(const ends *x, const two omega[3], two spin[2][3], double *out) {
  for (int k = 0; k < 2; ++k) {
    columns to;
    two W[9];
    if (!x->at[k].off) continue;
    set_skew(x, &x->at[k], spin[k], W, &to);
    add_turning(x, &x->at[k], omega, W, &to);
    set_places(&x->at[k], W, &to);
    add_columns(&to, out);
  }
}

ASI_INLINED void add_force(const ends *x, two F[2][3], double *force) {
  two torque[3] = {asi_simd_splat(0.0), asi_simd_splat(0.0), asi_simd_splat(0.0)};
#pragma GCC unroll 2
  for (int k = 0; k < 2; ++k) {
    two seen[3], moment[3];
    if (!x->at[k].off) continue;
    rotate_back(x->R, F[k], seen);
    cross(x->at[k].c, seen, moment);
    for (int i = 0; i < 3; ++i) torque[i] += moment[i];
  }
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i)
#pragma GCC unroll 2
    for (int e = 0; e < 2; ++e) {
      force[6 * e + i] -= F[0][i][e];
      force[6 * e + 3 + i] -= torque[i][e];
    }
}

ASI_TWICE void asi_beam_add_inertia(const asi_beam *b, const as_element_input *in,
                                    const as_element_output *out) {
  ends x;
  two omega[3], up[3], g[2][3], F[2][3], spin[2][3];
  set_ends(b, in, &x);
  pair(in->body[0]->omega, in->body[1]->omega, omega);
  for (int i = 0; i < 3; ++i) up[i] = asi_simd_splat(-b->gravity[i]);
#pragma GCC unroll 2
  for (int k = 0; k < 2; ++k) {
    cross(omega, x.at[k].c, spin[k]);
    cross(omega, spin[k], g[k]);
  }
  const bool joined = out->f_q && in->acceleration;
  if (out->force || !joined) set_forces(&x, g, up, F);
  if (out->force) add_force(&x, F, out->force);
  if (joined) {
    const double *a = in->acceleration;
    two place[3], turn[3];
    pair(a, a + 6, place);
    pair(a + 3, a + 9, turn);
    for (int i = 0; i < 3; ++i) place[i] += up[i];
    add_turned(&x, turn, g);
    set_forces(&x, g, place, F);
  }
  if (out->f_q) subtract_by_q(&x, g, F, out->f_q);
  if (out->f_v) add_by_omega(&x, omega, spin, out->f_v);
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
