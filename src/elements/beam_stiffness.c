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
/// where F_0 is such that F*(d0) is [BE.6]. With y = K* e, z = C y and B(y) x = ad_x^T y
///
///     N = dV/dd = y + L D B(y) z        dy = K* G dd        G = I/L - (C^T B(y) - ad_z) D
///     dN = dy + L D (B(dy) z + B(y) (C dy + F_2 B(y) D dd))
///
/// [BE.14] The rate of what is condensed is r = G d', so that damping adds tau L G^T s, s = K* r, and dissipates tau L r^T s:
///
///     G^T x = x/L + D (B(y) C x + B(x) z)      dF* s = (C^T B(s) - ad_(C s)) D dd      ds = K* (dG d' - dF* s)
///
/// ad_a b = (w_a x u_b + u_a x w_b, w_a x w_b), ad_a^T (n, m) = (n x w_a, n x u_a + m x w_a). Both are for two directions at once.
#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "elements/beam.h"
#include "elements/vector.h"
#include "lie/rotation.h"

enum { N = ASI_BEAM };
typedef asi_simd2 two;

// ---- for two vectors at once ------------------------------------------------------------------------

ASI_INLINED void splat(const double *a, two *out) {
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] = asi_simd_splat(a[i]);
}

/// out += a x b
ASI_INLINED void add_cross(const two *a, const two *b, two *out) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

/// out += ad_a b
ASI_INLINED void add_bracket(const two *a, const two *b, two *out) {
  add_cross(a + 3, b, out);
  add_cross(a, b + 3, out);
  add_cross(a + 3, b + 3, out + 3);
}

/// out += ad_a^T y
ASI_INLINED void add_dual(const two *a, const two *y, two *out) {
  add_cross(y, a + 3, out);
  add_cross(y, a, out + 3);
  add_cross(y + 3, a + 3, out + 3);
}

ASI_INLINED void clear(two *x) {
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) x[i] = asi_simd_splat(0.0);
}

/// x = D x
ASI_INLINED void shrink(const asi_beam *b, two *x) {
  x[1] *= asi_simd_splat(b->part[0]);
  x[2] *= asi_simd_splat(b->part[1]);
}

ASI_INLINED void add_times(const double *M, const two *x, two *out) {
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k) out[i] += asi_simd_splat(M[N * i + k]) * x[k];
}

/// out = F_2 x
ASI_INLINED void times_F2(const asi_beam *b, const two *x, two *out) {
  clear(out);
  if (b->coupled) {
    add_times(b->F2, x, out);
    return;
  }
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] = asi_simd_splat(b->F2[(N + 1) * i]) * x[i];
}

/// out += C x
ASI_INLINED void add_C(const asi_beam *b, const two *d, const two *x, two *out) {
  two Ax[N], F[N];
  clear(Ax);
  add_dual(d, x, Ax);
  times_F2(b, Ax, F);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] += F[i];
  if (b->tapered) add_times(b->F1, x, out);
}

/// out -= C^T x
ASI_INLINED void subtract_C_transposed(const asi_beam *b, const two *d, const two *x, two *out) {
  two F[N];
  times_F2(b, x, F);
  add_bracket(F, d, out); // -ad_d F
  if (!b->tapered) return;
  clear(F);
  add_times(b->F1, x, F);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] -= F[i];
}

// ---- K*(d) ------------------------------------------------------------------------------------------

/// m += A^T F_2 A + T F_1 A + (T F_1 A)^T, below the diagonal, for any F_1 and F_2
static void add_general(const asi_beam *b, const double *t, const double *A, double *m) {
  double left[N * N], FA[N * N] = {0};
  memcpy(left, b->F1, sizeof left);
  for (int j = 0; j < N; ++j)
    left[j] = t[0] * b->F1[j] + t[1] * b->F1[N + j] + t[2] * b->F1[2 * N + j];
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j) FA[N * i + j] += b->F2[N * i + k] * A[N * k + j];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = 0; k < N; ++k)
        m[N * i + j] += A[N * k + i] * FA[N * k + j] + left[N * i + k] * A[N * k + j] +
                        A[N * k + i] * left[N * j + k];
}

/// The same with F_1 = 0 and F_2 diagonal. A has no numbers above on the right.
static void add_diagonal(const double *F2, const double *A, double *m) {
  for (int k = 0; k < N; ++k) {
    const double *row = A + N * k, f = F2[(N + 1) * k];
    const int end = k < 3 ? 3 : N;
    for (int i = 0; i < end; ++i) {
      const double by = f * row[i];
      for (int j = 0; j <= i; ++j) m[N * i + j] += by * row[j];
    }
  }
}

/// m = L D L^T, from and to below the diagonal; false: it is not positive.
static bool factorize_matrix(double *m, double *inverse) {
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
static bool factorize(const asi_beam *b, asi_beam_strain *x) {
  const double *u = x->d, *w = x->d + 3, per = 1.0 / b->length;
  double *const m = x->factor, *const t = x->t, v[3];
  for (int k = 0; k < 3; ++k) t[k] = per * u[k];
  asi_cross(t, w, v);
  // A = [ -w~ 0; -u~ -w~ ], and its first column A T_1 = (t x w; 0)
  const double A[N * N] = {v[0], w[2],  -w[1], 0.0,   0.0,   0.0,   //
                           v[1], 0.0,   w[0],  0.0,   0.0,   0.0,   //
                           v[2], -w[0], 0.0,   0.0,   0.0,   0.0,   //
                           0.0,  u[2],  -u[1], 0.0,   w[2],  -w[1], //
                           0.0,  0.0,   u[0],  -w[2], 0.0,   w[0],  //
                           0.0,  -u[0], 0.0,   w[1],  -w[0], 0.0};
  memcpy(m, b->F0, N * N * sizeof *m);
  for (int i = 0; i < N; ++i) m[N * i] = asi_dot(b->F0 + N * i, t);
  m[0] = t[0] * m[0] + t[1] * m[N] + t[2] * m[2 * N];
  if (b->coupled || b->tapered)
    add_general(b, t, A, m);
  else
    add_diagonal(b->F2, A, m);
  return factorize_matrix(m, x->inverse);
}

/// out = K*(d) x
ASI_INLINED void solve(const asi_beam_strain *at, const two *x, two *out) {
  const double *m = at->factor;
  two first = asi_simd_splat(0.0);
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) first += asi_simd_splat(at->t[k]) * x[k];
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] = x[i];
  out[0] = first;
#pragma GCC unroll 6
  for (int i = 1; i < N; ++i)
#pragma GCC unroll 6
    for (int k = 0; k < i; ++k) out[i] -= asi_simd_splat(m[N * i + k]) * out[k];
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] *= asi_simd_splat(at->inverse[i]);
#pragma GCC unroll 6
  for (int i = N - 1; i > 0; --i)
#pragma GCC unroll 6
    for (int k = 0; k < i; ++k) out[k] -= asi_simd_splat(m[N * i + k]) * out[i];
  first = out[0];
  out[0] = asi_simd_splat(0.0);
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) out[k] += asi_simd_splat(at->t[k]) * first;
}

/// out += D (B(y) Cx + B(x) z) L, where Cx = C x
ASI_INLINED void add_turned(const asi_beam *b, const two *y, const two *z, const two *x,
                            const two *Cx, two *out) {
  two sum[N];
  clear(sum);
  add_dual(Cx, y, sum);
  add_dual(z, x, sum);
  shrink(b, sum);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] += asi_simd_splat(b->length) * sum[i];
}

bool asi_beam_stress(const asi_beam *b, const double *d, const double *rate, asi_beam_strain *at) {
  for (int k = 0; k < N; ++k) at->strain[k] = (d[k] - b->rest[k]) / b->length;
  if (b->plain) {
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
  for (int k = 0; k < N; ++k) at->d[k] = d[k];
  for (int k = 0; k < 2; ++k)
    at->d[k + 1] = b->rest[k + 1] + b->part[k] * (d[k + 1] - b->rest[k + 1]);
  if (!factorize(b, at)) return false;
  two D[N], e[N], y[N], z[N], N_[N];
  splat(at->d, D);
  splat(at->strain, e);
  solve(at, e, y);
  clear(z);
  add_C(b, D, y, z);
  clear(N_);
  add_dual(z, y, N_);
  shrink(b, N_);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) N_[i] = y[i] + asi_simd_splat(b->length) * N_[i];
  for (int i = 0; i < N; ++i) {
    at->y[i] = y[i][0];
    at->z[i] = z[i][0];
    at->stress[i] = N_[i][0];
  }
  if (!rate) return true;
  two p[N], By[N], q[N], r[N], s[N], Cs[N];
  splat(rate, p);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) r[i] = p[i] / asi_simd_splat(b->length);
  shrink(b, p);
  clear(By);
  add_dual(p, y, By);
  times_F2(b, By, q);
  subtract_C_transposed(b, D, By, r);
  add_bracket(z, p, r);
  solve(at, r, s);
  clear(Cs);
  add_C(b, D, s, Cs);
  two sum[N];
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) sum[i] = s[i];
  add_turned(b, y, z, s, Cs, sum);
  for (int i = 0; i < N; ++i) {
    at->p[i] = p[i][0];
    at->q[i] = q[i][0];
    at->r[i] = r[i][0];
    at->s[i] = s[i][0];
    at->Cs[i] = Cs[i][0];
    at->stress[i] += b->tau * sum[i][0];
  }
  return true;
}

/// What the rate adds to dN for a direction: d~ its part for d~, dz of z, of which dy has the part Cdy.
ASI_INLINED void add_damped(const asi_beam *b, const asi_beam_strain *at, const two *d,
                            const two *y, const two *z, const two *by, const two *dy, const two *dz,
                            two *out) {
  two p[N], q[N], s[N], Cs[N], a[N], F[N], r[N], ds[N], Cds[N], sum[N];
  splat(at->p, p);
  splat(at->q, q);
  splat(at->s, s);
  splat(at->Cs, Cs);
  clear(r);
  add_bracket(q, by, r);
  clear(a);
  add_dual(p, dy, a);
  add_dual(by, s, a); // dF* s
  subtract_C_transposed(b, d, a, r);
  add_bracket(dz, p, r);
  add_bracket(Cs, by, r);
  solve(at, r, ds);
  clear(Cds);
  add_C(b, d, ds, Cds);
  clear(a);
  add_dual(by, s, a);
  times_F2(b, a, F);
  clear(sum);
  add_dual(Cs, dy, sum);
  add_dual(F, y, sum);
  add_dual(dz, s, sum);
  shrink(b, sum);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) sum[i] = asi_simd_splat(b->length) * sum[i] + ds[i];
  add_turned(b, y, z, ds, Cds, sum);
#pragma GCC unroll 6
  for (int i = 0; i < N; ++i) out[i] += asi_simd_splat(b->tau) * sum[i];
}

void asi_beam_stress_tangents(const asi_beam *b, const asi_beam_strain *at, double *by_d,
                              double *by_rate) {
  const double per = 1.0 / b->length;
  if (b->plain) {
    for (int k = 0; k < N * N; ++k) by_d[k] = b->K[k] * per;
    for (int k = 0; k < N * N && by_rate; ++k) by_rate[k] = b->tau * b->K[k] * per;
    return;
  }
  two d[N], y[N], z[N];
  splat(at->d, d);
  splat(at->y, y);
  splat(at->z, z);
  for (int c = 0; c < N; c += 2) {
    two by[N], By[N], dy[N], dz[N], Cdy[N], sum[N];
    clear(sum);
    sum[c][0] = per;
    sum[c + 1][1] = per;
    clear(by);
    by[c][0] = by[c + 1][1] = 1.0;
    shrink(b, by);
    clear(By);
    add_dual(by, y, By);
    subtract_C_transposed(b, d, By, sum);
    add_bracket(z, by, sum);
    solve(at, sum, dy);
    clear(Cdy);
    add_C(b, d, dy, Cdy);
    times_F2(b, By, dz);
    if (by_rate) {
#pragma GCC unroll 6
      for (int i = 0; i < N; ++i) sum[i] = dy[i];
      add_turned(b, y, z, dy, Cdy, sum);
      for (int i = 0; i < N; ++i)
        asi_simd_store(by_rate + N * i + c, asi_simd_splat(b->tau) * sum[i]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < N; ++i) {
      dz[i] += Cdy[i];
      sum[i] = dy[i];
    }
    add_turned(b, y, z, dy, dz, sum);
    if (by_rate) add_damped(b, at, d, y, z, by, dy, dz, sum);
    for (int i = 0; i < N; ++i) asi_simd_store(by_d + N * i + c, sum[i]);
  }
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
