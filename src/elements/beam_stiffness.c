/// What is elastic in a beam's element: its energy by d, with the strains that vary between its nodes condensed.
///
/// [BE.6] K* makes linear statics exact at the nodes: with Q(s) N the wrench that equilibrium asks for in the section at s,
///
///     K*^-1 = int_0^1 Q^T F Q ds    Q(s) = Ad(exp(-(1 - s) d0))^T S(d0)^T    F = K_section^-1
///
/// [BE.12] A section at s has the strains e(s) = F(s) N(s), N(s) = y + (s - 1/2) ad_d^T y, and it is the deformed line that says how forces become
/// moments. With F_k = int (s - 1/2)^k F ds, A = ad_d~^T and C = F_1 + F_2 A,
///
///     K*(d)^-1 = F*(d) = F_0 + F_1 A + A^T F_1 + A^T F_2 A      V = L e^T K*(d) e/2      e = (d - d0)/L
///     d~ = d0 + D (d - d0)    D = diag(1, k_2, k_3, 1, 1, 1)    k_i = (3 + 2 p_i)/5    p_i = phi_i/(1 + phi_i)    phi_2 = 12 EI_3/(GA_2 L^2)
///
/// where F_0 is such that F*(d0) is [BE.6]. With y = K* e, z = C y, B(y) x = ad_x^T y and G = de/dd - dF*/dd y, where V = max_y L (y^T e - y^T F* y/2),
///
///     N = dV/dd = y + L D B(y) z        G = I/L - (C^T B(y) - ad_z) D        dN/dd = L (G^T K* G - D B(y)^T F_2 B(y) D)
///
/// [BE.14] The rate of what is condensed is r = G d', so that damping adds tau L G^T s, s = K* r, and dissipates tau L r^T s. Of that, by d' and by d,
///
///     tau L G^T K* G        tau L (G^T K* X + D ((A_(C s) + B(s) C) dy + (B(y) F_2 B(s) + B(s) F_2 B(y)) D))        dy = K* G
///     X = dG d' - dF* s = (ad_q + ad_(C s) - C^T B(s)) D - C^T A_p dy - ad_p (C dy + F_2 B(y) D)        p = D d'   q = F_2 B(y) p
///
/// ad_a b = (w_a x u_b + u_a x w_b, w_a x w_b), A_a = ad_a^T: A_a (n, m) = (n x w_a, n x u_a + m x w_a). a~ F b~ of a diagonal F has the entries
/// F_k b_i a_j beside the diagonal, -(F_j a_k b_k + F_k a_j b_j) on it, i, j, k all different.
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"

enum { N = ASI_BEAM };

// ---- six numbers ------------------------------------------------------------------------------------

/// out += ad_a b
static inline void add_bracket(const double *a, const double *b, double *out) {
  asi_add_cross(1.0, a + 3, b, out);
  asi_add_cross(1.0, a, b + 3, out);
  asi_add_cross(1.0, a + 3, b + 3, out + 3);
}

/// out += ad_a^T y
static inline void add_dual(const double *a, const double *y, double *out) {
  asi_add_cross(1.0, y, a + 3, out);
  asi_add_cross(1.0, y, a, out + 3);
  asi_add_cross(1.0, y + 3, a + 3, out + 3);
}

/// x = D x
static inline void shrink(const asi_beam *b, double *x) {
  x[1] *= b->part[0];
  x[2] *= b->part[1];
}

/// out += M x, M symmetric
static inline void add_times(const double *M, const double *x, double *out) {
  for (int k = 0; k < N; ++k)
    for (int i = 0; i < N; ++i) out[i] += M[N * k + i] * x[k];
}

/// out = F_2 x
static inline void times_F2(const asi_beam *b, const double *x, double *out) {
  if (b->coupled) {
    memset(out, 0, N * sizeof *out);
    add_times(b->F2, x, out);
    return;
  }
  for (int i = 0; i < N; ++i) out[i] = b->F2[(N + 1) * i] * x[i];
}

/// out = C x
static inline void times_C(const asi_beam *b, const double *d, const double *x, double *out) {
  double Ax[N] = {0};
  add_dual(d, x, Ax);
  times_F2(b, Ax, out);
  if (b->tapered) add_times(b->F1, x, out);
}

/// out -= C^T x
static inline void subtract_C_transposed(const asi_beam *b, const double *d, const double *x,
                                         double *out) {
  double F[N];
  times_F2(b, x, F);
  add_bracket(F, d, out); // -ad_d F
  if (!b->tapered) return;
  memset(F, 0, sizeof F);
  add_times(b->F1, x, F);
  for (int i = 0; i < N; ++i) out[i] -= F[i];
}

// ---- matrices ---------------------------------------------------------------------------------------

/// out += factor ad_a
ASI_INLINED void add_ad(double factor, const double *a, double *out) {
  asi_add_skew(factor, a + 3, out, N);
  asi_add_skew(factor, a, out + 3, N);
  asi_add_skew(factor, a + 3, out + 3 * N + 3, N);
}

/// out += factor B(y)
static void add_B(double factor, const double *y, double *out) {
  asi_add_skew(factor, y, out + 3, N);
  asi_add_skew(factor, y, out + 3 * N, N);
  asi_add_skew(factor, y + 3, out + 3 * N + 3, N);
}

/// out = (or +=) factor a~ F b~, F diagonal: every seventh number
ASI_INLINED void put_skew_diagonal_skew(bool adds, double factor, const double *a, const double *F,
                                        const double *b, double *out) {
  const double f = factor * F[0], g = factor * F[N + 1], h = factor * F[2 * (N + 1)];
  const double x = a[0] * b[0], y = a[1] * b[1], z = a[2] * b[2];
  const double all[9] = {-(g * z + h * y), h * b[0] * a[1],  g * b[0] * a[2], //
                         h * b[1] * a[0],  -(f * z + h * x), f * b[1] * a[2], //
                         g * b[2] * a[0],  f * b[2] * a[1],  -(f * y + g * x)};
#pragma GCC unroll 9
  for (int i = 0; i < 9; ++i) {
    double *const to = out + i / 3 * N + i % 3;
    *to = adds ? *to + all[i] : all[i];
  }
}

/// out += factor A B
ASI_INLINED void add_product(double factor, const double *A, const double *B, double *out) {
  for (int i = 0; i < N; ++i, out += N) {
    asi_simd2 sum[3] = {asi_simd_load(out), asi_simd_load(out + 2), asi_simd_load(out + 4)};
#pragma GCC unroll 6
    for (int k = 0; k < N; ++k) {
      const asi_simd2 a = asi_simd_splat(factor * A[N * i + k]);
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) sum[j] += a * asi_simd_load(B + N * k + 2 * j);
    }
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) asi_simd_store(out + 2 * j, sum[j]);
  }
}

static void transpose(const double *A, double *out) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) out[N * i + j] = A[N * j + i];
}

/// A = A D
ASI_INLINED void shrink_columns(const asi_beam *b, double *A) {
  for (int i = 0; i < N; ++i) shrink(b, A + N * i);
}

/// out += D A
ASI_INLINED void add_shrunk(const asi_beam *b, const double *A, double *out) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      out[N * i + j] += (i == 1 || i == 2 ? b->part[i - 1] : 1.0) * A[N * i + j];
}

// ---- K*(d) ------------------------------------------------------------------------------------------

/// m += A^T F_2 A + T F_1 A + (T F_1 A)^T, below the diagonal, for any F_1 and F_2; A T_1 = (v; 0)
static void add_general(const asi_beam *b, const double *d, const double *t, const double *v,
                        double *m) {
  double left[N * N], A[N * N] = {0}, FA[N * N] = {0};
  asi_add_skew(-1.0, d + 3, A, N);
  asi_add_skew(-1.0, d, A + 3 * N, N);
  asi_add_skew(-1.0, d + 3, A + 3 * N + 3, N);
  for (int i = 0; i < N; ++i) A[N * i] = i < 3 ? v[i] : 0.0;
  memcpy(left, b->F1, sizeof left);
  for (int j = 0; j < N; ++j)
    left[j] = t[0] * b->F1[j] + t[1] * b->F1[N + j] + t[2] * b->F1[2 * N + j];
  add_product(1.0, b->F2, A, FA);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < N; ++k)
        m[N * i + j] += A[N * k + i] * FA[N * k + j] + left[N * i + k] * A[N * k + j] +
                        A[N * k + i] * left[N * j + k];
}

/// The same with F_1 = 0 and F_2 diagonal, but for the first column.
ASI_INLINED void add_diagonal(const double *F2, const double *d, double *m) {
  const double *u = d, *w = d + 3, *Fw = F2 + 3 * (N + 1);
  put_skew_diagonal_skew(true, -1.0, w, F2, w, m);
  put_skew_diagonal_skew(true, -1.0, u, Fw, u, m);
  put_skew_diagonal_skew(true, -1.0, w, Fw, u, m + 3 * N);
  put_skew_diagonal_skew(true, -1.0, w, Fw, w, m + 3 * N + 3);
}

/// m = L D L^T, from and to below the diagonal; false: it is not positive.
ASI_INLINED bool factorize_matrix(double *m, double *inverse) {
#pragma GCC unroll 6
  for (int k = 0; k < N; ++k) {
    double row[N];
    double pivot = m[(N + 1) * k];
#pragma GCC unroll 6
    for (int j = 0; j < k; ++j) {
      double x = m[N * k + j];
#pragma GCC unroll 6
      for (int i = 0; i < j; ++i) x -= row[i] * m[N * j + i];
      row[j] = x; // L_kj D_j
      m[N * k + j] = x * inverse[j];
      pivot -= x * m[N * k + j];
    }
    if (!(pivot > 0.0) || !isfinite(pivot)) return false;
    inverse[k] = 1.0 / pivot;
  }
  return true;
}

/// T F*(d) T^T = L D L^T, where T puts t = u~/L into the first row: there bending leaves zeros, and what stretches the line is not found as the
/// small difference of what bends it. False: it is not positive.
ASI_INLINED bool factorize(const asi_beam *b, asi_beam_strain *x) {
  const double *u = x->d, *w = x->d + 3, per = 1.0 / b->length;
  double *const m = x->factor, *const t = x->t, v[3];
  for (int k = 0; k < 3; ++k) t[k] = per * u[k];
  asi_cross(t, w, v);
  const bool general = b->coupled || b->tapered;
  memcpy(m, b->F0, N * N * sizeof *m);
  if (!general) add_diagonal(b->F2, x->d, m);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) m[N * i] = asi_dot(b->F0 + N * i, t);
  m[0] = t[0] * m[0] + t[1] * m[N] + t[2] * m[2 * N];
  if (general) {
    add_general(b, x->d, t, v, m);
  } else {
    const double Fv[3] = {b->F2[0] * v[0], b->F2[N + 1] * v[1], b->F2[2 * (N + 1)] * v[2]};
    m[0] += asi_dot(v, Fv);
    m[N] += w[2] * Fv[0] - w[0] * Fv[2];
    m[2 * N] += w[0] * Fv[1] - w[1] * Fv[0];
  }
  return factorize_matrix(m, x->inverse);
}

/// out = K*(d) x
ASI_INLINED void solve(const asi_beam_strain *at, const double *x, double *out) {
  const double *m = at->factor;
  memcpy(out, x, N * sizeof *out);
  out[0] = asi_dot(at->t, x);
#pragma GCC unroll 6
  for (int i = 1; i < N; ++i)
#pragma GCC unroll 6
    for (int k = 0; k < i; ++k) out[i] -= m[N * i + k] * out[k];
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] *= at->inverse[i];
#pragma GCC unroll 6
  for (int i = N - 1; i > 0; --i)
#pragma GCC unroll 6
    for (int k = 0; k < i; ++k) out[k] -= m[N * i + k] * out[i];
  const double first = out[0];
  out[0] = 0.0;
  asi_add(first, at->t, out);
}

/// out = L G^T s, where Cs = C s
ASI_INLINED void times_G_transposed(const asi_beam *b, const asi_beam_strain *at, const double *s,
                                    const double *Cs, double *out) {
  double sum[N] = {0};
  add_dual(Cs, at->y, sum);
  add_dual(at->z, s, sum);
  shrink(b, sum);
  for (int i = 0; i < N; ++i) out[i] = s[i] + b->length * sum[i];
}

static bool plain_stress(const asi_beam *b, const double *rate, asi_beam_strain *at) {
  for (int k = 0; k < N; ++k) at->r[k] = rate ? rate[k] / b->length : 0.0;
  for (int i = 0; i < N; ++i) {
    at->stress[i] = at->s[i] = 0.0;
    for (int k = 0; k < N; ++k) {
      at->stress[i] += b->K[N * i + k] * (at->strain[k] + b->tau * at->r[k]);
      at->s[i] += b->K[N * i + k] * at->r[k];
    }
    at->y[i] = at->stress[i] - b->tau * at->s[i];
  }
  return true;
}

ASI_TWICE bool asi_beam_stress(const asi_beam *b, const double *d, const double *rate,
                               asi_beam_strain *at) {
  for (int k = 0; k < N; ++k) at->strain[k] = (d[k] - b->rest[k]) / b->length;
  if (b->plain) return plain_stress(b, rate, at);
  memcpy(at->d, d, sizeof at->d);
  for (int k = 0; k < 2; ++k)
    at->d[k + 1] = b->rest[k + 1] + b->part[k] * (d[k + 1] - b->rest[k + 1]);
  if (!factorize(b, at)) return false;
  double turned[N] = {0};
  solve(at, at->strain, at->y);
  times_C(b, at->d, at->y, at->z);
  add_dual(at->z, at->y, turned);
  shrink(b, turned);
  for (int i = 0; i < N; ++i) at->stress[i] = at->y[i] + b->length * turned[i];
  if (!rate) return true;
  double By[N] = {0}, damping[N];
  for (int i = 0; i < N; ++i) {
    at->p[i] = rate[i];
    at->r[i] = rate[i] / b->length;
  }
  shrink(b, at->p);
  add_dual(at->p, at->y, By);
  times_F2(b, By, at->q);
  subtract_C_transposed(b, at->d, By, at->r);
  add_bracket(at->z, at->p, at->r);
  solve(at, at->r, at->s);
  times_C(b, at->d, at->s, at->Cs);
  times_G_transposed(b, at, at->s, at->Cs, damping);
  for (int i = 0; i < N; ++i) at->stress[i] += b->tau * damping[i];
  return true;
}

/// Rows of L^-1 T M
ASI_INLINED void forward(const asi_beam_strain *at, double *M) {
  for (int j = 0; j < N; ++j)
    M[j] = at->t[0] * M[j] + at->t[1] * M[N + j] + at->t[2] * M[2 * N + j];
#pragma GCC unroll 3
  for (int c = 0; c < N; c += 2) {
    asi_simd2 x[N];
#pragma GCC unroll 6
    for (int i = 0; i < N; ++i) {
      x[i] = asi_simd_load(M + N * i + c);
#pragma GCC unroll 6
      for (int k = 0; k < i; ++k) x[i] -= asi_simd_splat(at->factor[N * i + k]) * x[k];
      asi_simd_store(M + N * i + c, x[i]);
    }
  }
}

/// out = T^T L^-T D^-1 P
static void backward(const asi_beam_strain *at, const double *P, double *out) {
#pragma GCC unroll 3
  for (int c = 0; c < N; c += 2) {
    asi_simd2 x[N];
#pragma GCC unroll 6
    for (int i = N - 1; i >= 0; --i) {
      x[i] = asi_simd_splat(at->inverse[i]) * asi_simd_load(P + N * i + c);
#pragma GCC unroll 6
      for (int k = i + 1; k < N; ++k) x[i] -= asi_simd_splat(at->factor[N * k + i]) * x[k];
    }
    const asi_simd2 first = x[0];
    x[0] = asi_simd_splat(0.0);
#pragma GCC unroll 6
    for (int i = 0; i < N; ++i) {
      if (i < 3) x[i] += asi_simd_splat(at->t[i]) * first;
      asi_simd_store(out + N * i + c, x[i]);
    }
  }
}

/// out = (or +=) factor P^T D^-1 Q
ASI_INLINED void put_weighed(bool adds, const asi_beam_strain *at, double factor, const double *P,
                             const double *Q, double *out) {
  double weight[N];
  for (int k = 0; k < N; ++k) weight[k] = factor * at->inverse[k];
  for (int i = 0; i < N; ++i, out += N) {
    asi_simd2 sum[3];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) sum[j] = adds ? asi_simd_load(out + 2 * j) : asi_simd_splat(0.0);
#pragma GCC unroll 6
    for (int k = 0; k < N; ++k) {
      const asi_simd2 by = asi_simd_splat(weight[k] * P[N * k + i]);
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) sum[j] += by * asi_simd_load(Q + N * k + 2 * j);
    }
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) asi_simd_store(out + 2 * j, sum[j]);
  }
}

/// CB = -C^T B(y), out = L B(y) F_2 B(y)
ASI_INLINED void set_turning(const asi_beam *b, const asi_beam_strain *at, double *CB,
                             double *out) {
  const double *u = at->d, *w = at->d + 3, *n = at->y, *m = at->y + 3, L = b->length;
  const double *F = b->F2, *Fw = b->F2 + 3 * (N + 1);
  if (!b->coupled && !b->tapered) {
    put_skew_diagonal_skew(false, -1.0, u, Fw, n, CB);
    put_skew_diagonal_skew(false, -1.0, w, F, n, CB + 3);
    put_skew_diagonal_skew(true, -1.0, u, Fw, m, CB + 3);
    put_skew_diagonal_skew(false, -1.0, w, Fw, n, CB + 3 * N);
    put_skew_diagonal_skew(false, -1.0, w, Fw, m, CB + 3 * N + 3);
    put_skew_diagonal_skew(false, L, n, Fw, n, out);
    put_skew_diagonal_skew(false, L, n, Fw, m, out + 3);
    put_skew_diagonal_skew(false, L, m, Fw, n, out + 3 * N);
    put_skew_diagonal_skew(false, L, n, F, n, out + 3 * N + 3);
    put_skew_diagonal_skew(true, L, m, Fw, m, out + 3 * N + 3);
    return;
  }
  double B[N * N] = {0}, FB[N * N] = {0}, ad[N * N] = {0};
  memset(CB, 0, N * N * sizeof *CB);
  memset(out, 0, N * N * sizeof *out);
  add_B(1.0, at->y, B);
  add_product(1.0, b->F2, B, FB);
  add_ad(1.0, at->d, ad);
  add_product(-1.0, ad, FB, CB);
  add_product(-1.0, b->F1, B, CB);
  add_product(L, B, FB, out);
}

/// What damping adds to by_d; P = L^-1 T G.
static void add_damped(const asi_beam *b, const asi_beam_strain *at, const double *P,
                       double *by_d) {
  const double factor = b->tau * b->length;
  double By[N * N] = {0}, Bs[N * N] = {0}, Ct[N * N], C[N * N], dy[N * N], dz[N * N] = {0};
  double ad[N * N] = {0}, A[N * N], CA[N * N] = {0}, X[N * N] = {0}, FBs[N * N] = {0},
                M[N * N] = {0};
  add_B(1.0, at->y, By);
  add_B(1.0, at->s, Bs);
  add_ad(1.0, at->d, ad);
  memcpy(Ct, b->F1, sizeof Ct);
  add_product(1.0, ad, b->F2, Ct);
  transpose(Ct, C);
  backward(at, P, dy);
  add_product(1.0, b->F2, By, dz);
  shrink_columns(b, dz);
  add_product(1.0, C, dy, dz);
  add_ad(1.0, at->q, X);
  add_ad(1.0, at->Cs, X);
  add_product(-1.0, Ct, Bs, X);
  shrink_columns(b, X);
  memset(ad, 0, sizeof ad);
  add_ad(1.0, at->p, ad);
  transpose(ad, A);
  add_product(1.0, Ct, A, CA);
  add_product(-1.0, CA, dy, X);
  add_product(-1.0, ad, dz, X);
  forward(at, X);
  put_weighed(true, at, factor, P, X, by_d);
  memset(ad, 0, sizeof ad);
  add_ad(1.0, at->Cs, ad);
  transpose(ad, A);
  add_product(factor, A, dy, M);
  add_product(factor, Bs, dz, M);
  add_product(1.0, b->F2, Bs, FBs);
  shrink_columns(b, FBs);
  add_product(factor, By, FBs, M);
  add_shrunk(b, M, by_d);
}

ASI_TWICE void asi_beam_stress_tangents(const asi_beam *b, const asi_beam_strain *at, double *by_d,
                                        double *by_rate) {
  const double per = 1.0 / b->length;
  if (b->plain) {
    for (int k = 0; k < N * N; ++k) by_d[k] = b->K[k] * per;
    for (int k = 0; k < N * N && by_rate; ++k) by_rate[k] = b->tau * b->K[k] * per;
    return;
  }
  double P[N * N], turned[N * N];
  set_turning(b, at, P, turned);
  add_ad(1.0, at->z, P);
  shrink_columns(b, P);
  for (int i = 0; i < N; ++i) P[(N + 1) * i] += per; // G
  forward(at, P);
  put_weighed(false, at, b->length, P, P, by_d);
  for (int k = 0; k < N * N && by_rate; ++k) by_rate[k] = b->tau * by_d[k];
  shrink_columns(b, turned);
  add_shrunk(b, turned, by_d);
  if (by_rate) add_damped(b, at, P, by_d);
}

// ---- from the section -------------------------------------------------------------------------------

static double product(const double *a, const double *b) {
  return asi_dot(a, b) + asi_dot(a + 3, b + 3);
}

/// The inverse of a symmetric positive definite matrix, by Gauss and Jordan; false: it is not.
bool asi_beam_invert(const double *from, double *out) {
  double m[N * N];
  memcpy(m, from, sizeof m);
  memset(out, 0, N * N * sizeof *out);
  for (int k = 0; k < N; ++k) out[N * k + k] = 1.0;
  for (int k = 0; k < N; ++k) {
    const double pivot = m[N * k + k];
    if (!(pivot > 1e-14 * fabs(from[N * k + k])) || !isfinite(pivot)) return false;
    for (int j = 0; j < N; ++j) {
      m[N * k + j] /= pivot;
      out[N * k + j] /= pivot;
    }
    for (int i = 0; i < N; ++i) {
      const double factor = i == k ? 0.0 : m[N * i + k];
      for (int j = 0; j < N; ++j) {
        m[N * i + j] -= factor * m[N * k + j];
        out[N * i + j] -= factor * out[N * k + j];
      }
    }
  }
  return true;
}

static void multiply(const double *A, const double *B, double *out) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      out[N * i + j] = 0.0;
      for (int k = 0; k < N; ++k) out[N * i + j] += A[N * i + k] * B[N * k + j];
    }
}

/// A^T B
static void multiply_transposed(const double *A, const double *B, double *out) {
  double At[N * N];
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k) At[N * i + k] = A[N * k + i];
  multiply(At, B, out);
}

/// Q(s)^T
static void set_Q(const double *d, const double *g, double s, double *out) {
  double back[N], R[9], q[4], x[3], Ad[N * N] = {0}, S[N * N];
  for (int k = 0; k < N; ++k) back[k] = -(1.0 - s) * d[k];
  asi_so3_exp(back + 3, q);
  asi_so3_matrix(q, R);
  asi_so3_tangent_transposed_times(back + 3, back, x); // the inverse of u = S^T r
  asi_add_matrix(1.0, R, Ad, N);
  asi_add_matrix(1.0, R, Ad + 3 * N + 3, N);
  asi_add_skew_times(1.0, x, R, Ad + 3, N); // Ad(x, R) = [ R  x~ R; 0  R ]
  asi_beam_set_S(d, g, S);
  multiply(S, Ad, out); // Q^T = S Ad
}

/// out += factor Q^T F Q, where F is symmetric
static void add_compliance(double factor, const double *Qt, const double *F, double *out) {
  for (int i = 0; i < N; ++i) {
    double row[N], other[N];
    for (int j = 0; j < N; ++j) row[j] = product(F + N * j, Qt + N * i);
    for (int j = 0; j < N; ++j) other[j] = product(Qt + N * j, row);
    for (int j = 0; j < N; ++j) out[N * i + j] += factor * other[j];
  }
}

// Three points leave 3e-6 in an arc of 0.5 rad.
const double asi_beam_point[ASI_BEAM_POINTS] = {0.03376524289842399, 0.16939530676686773,
                                                0.38069040695840156, 0.6193095930415985,
                                                0.8306046932331322,  0.966234757101576};
const double asi_beam_weight[ASI_BEAM_POINTS] = {0.08566224618958518, 0.1803807865240693,
                                                 0.23395696728634552, 0.23395696728634552,
                                                 0.1803807865240693,  0.08566224618958518};

/// F_1 and F_2
static void add_moments(asi_beam *b, int point, const double *F) {
  const double s = asi_beam_point[point] - 0.5, weight = asi_beam_weight[point];
  for (int k = 0; k < N * N; ++k) {
    b->F1[k] += weight * s * F[k];
    b->F2[k] += weight * s * s * F[k];
  }
}

/// F_0 from F*(d0), and what is zero of the others
static void finish_moments(asi_beam *b, const double *F) {
  double A[N * N] = {0}, C[N * N], CA[N * N], AF[N * N];
  asi_add_skew(-1.0, b->rest + 3, A, N);
  asi_add_skew(-1.0, b->rest, A + 3 * N, N);
  asi_add_skew(-1.0, b->rest + 3, A + 3 * N + 3, N);
  multiply(b->F2, A, C);
  multiply_transposed(A, C, CA);
  multiply_transposed(A, b->F1, AF);
  b->coupled = b->tapered = false;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const int k = N * i + j;
      b->F0[k] = F[k] - CA[k] - AF[k] - AF[N * j + i];
      const double size = sqrt(b->F2[(N + 1) * i] * b->F2[(N + 1) * j]);
      if (fabs(b->F1[k]) > 1e-14 * size) b->tapered = true;
      if (i != j && b->F2[k] != 0.0) b->coupled = true;
    }
}

bool asi_beam_stiffness(asi_beam *b, const double section[ASI_BEAM_POINTS][36],
                        const double *middle, bool plain, double tau) {
  double sum[N * N] = {0}, mean[3] = {0}, g[3];
  asi_beam_coefficients(asi_dot(b->rest + 3, b->rest + 3), g);
  memset(b->F1, 0, sizeof b->F1);
  memset(b->F2, 0, sizeof b->F2);
  for (int k = 0; k < ASI_BEAM_POINTS; ++k) {
    double Qt[N * N], F[N * N];
    if (!asi_beam_invert(section[k], F)) return false;
    set_Q(b->rest, g, asi_beam_point[k], Qt);
    add_compliance(asi_beam_weight[k], Qt, F, sum);
    add_moments(b, k, F);
    for (int i = 0; i < 3; ++i) mean[i] += asi_beam_weight[k] * F[(N + 1) * i];
  }
  b->plain = plain;
  b->phi = 0.0;
  b->damped = tau != 0.0;
  b->tau = tau;
  memcpy(b->K, middle, sizeof b->K);
  if (plain) return true;
  finish_moments(b, sum);
  for (int k = 0; k < 2; ++k) { // shear 2 and bending 3, shear 3 and bending 2
    const double phi = mean[k + 1] / (b->length * b->length * b->F2[(N + 1) * (5 - k)]);
    b->part[k] = (3.0 + 2.0 * phi / (1.0 + phi)) / 5.0;
    b->phi = k > 0 ? fmin(b->phi, phi) : phi;
  }
  return true;
}

bool asi_beam_init(asi_beam *beam, const as_body_motion *a, const as_body_motion *b,
                   const double *section, bool plain, double tau) {
  double all[ASI_BEAM_POINTS][36];
  for (int k = 0; k < ASI_BEAM_POINTS; ++k) memcpy(all[k], section, sizeof all[k]);
  return asi_beam_shape(beam, a, b) &&
         asi_beam_stiffness(beam, (const double(*)[36])all, section, plain, tau);
}
