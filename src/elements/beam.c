/// A geometrically exact beam of two nodes: the helicoidal element on SE(3).
///
/// [BE.1], [BE.2] End frames H = (x + R p, R A) on two bodies lie against each other by d = (u, w) = log(H_A^-1 H_B):
///
///     w = log(R_A^T R_B),   u = S(w)^T R_A^T (x_B - x_A)
///     d' = Z (nu_A; nu_B),  Z = [ -S(-d)  S(d) ],   S(d) = [ S(w) X; 0 S(w) ]
///     S(w) = I + w~/2 + g w~^2,   X = u~/2 + g (u~ w~ + w~ u~) + 2 g1 (w.u) w~^2
///
/// with motions nu and moves seen from the frames, s = |w|^2, g = (1 - (|w|/2) cot(|w|/2))/s, g1 = dg/ds, g2 = dg1/ds. With
/// the rest shape d0 and its arc length L, [BE.3] strains e = (d - d0)/L and stress N = K e + C e', [BE.5]
///
///     V = L e^T K e/2,   f = -Z^T N,   L e'^T C e' is dissipated
///     D f = -Z^T (K/L) D d + [ -W(-d; N); -W(d; N) ] D d - Z^T (C/L) D_q d'
///
/// where [BE.4] W(d; N) = D_d (S(d)^T N) and Y(d; nu) = D_d (S(d) nu) are made of parts that are odd and even in d,
///
///     O(y) = -g ((w x y)~ + w~ y~) + 2 g1 (w x (w x y)) w^T
///     E(y) = -g ((u x y)~ + u~ y~) + 2 g1 ((w x (u x y) + u x (w x y)) w^T + (w x (w x y)) u^T)
///            - 2 g1 (w.u) ((w x y)~ + w~ y~) + 4 g2 (w.u) (w x (w x y)) w^T
///     W(+-d; n, m) = [ 0  n~/2 +- O(n);  n~/2 +- O(n)  m~/2 +- (O(m) + E(n)) ]
///     Y(+-d; y, z) = [ -z~/2 +- O(z)  -y~/2 +- (O(y) + E(z));  0  -z~/2 +- O(z) ]
///
/// To moves (dx world, dtheta body): nu = P (v; omega), P = [ A^T R^T  -A^T p~; 0  A^T ]; D_q of P^T f adds -R (A f_u)~ and
/// D_q nu is (A^T (R^T v)~ dtheta; 0). e' does not depend on a common velocity: that of A is subtracted first, so no
/// digit is lost in a fast machine.
///
/// [BE.6] K* makes linear statics exact at the nodes: with Q(s) N the wrench that equilibrium asks for in the section at s,
///
///     K*^-1 = int_0^1 Q^T K_section^-1 Q ds,   Q(s) = Ad(exp(-(1 - s) d0))^T S(d0)^T
#include "elements/beam.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "elements/vector.h"
#include "elements/why.h"
#include "lie/rotation.h"

enum { N = ASI_BEAM };

/// g and its two derivatives. Formulas lose all digits at small angles: below s = 2.5 the series sum |B_2k|/(2k)! s^(k-1).
static void coefficients(double s, double g[3]) {
  static const double term[] = {
      0.08333333333333333,   0.001388888888888889,  3.306878306878307e-05,  8.267195767195768e-07,
      2.08767569878681e-08,  5.284190138687493e-10, 1.3382536530684679e-11, 3.3896802963225827e-13,
      8.586062056277845e-15, 2.174868698558062e-16, 5.5090028283602295e-18, 1.3954464685812522e-19,
      3.534707039629467e-21, 8.953517427037546e-23};
  if (s < 2.5) {
    g[0] = g[1] = g[2] = 0.0;
    for (int k = (int)(sizeof term / sizeof term[0]) - 1; k >= 0; --k) {
      g[2] = g[2] * s + 2.0 * g[1];
      g[1] = g[1] * s + g[0];
      g[0] = g[0] * s + term[k];
    }
    return;
  }
  const double half = sqrt(s) / 2.0, f = half / tan(half);
  const double f1 = (f - f * f - s / 4.0) / (2.0 * s);
  const double f2 = (-f1 - 2.0 * f * f1 - 0.25) / (2.0 * s);
  g[0] = (1.0 - f) / s;
  g[1] = (-f1 - g[0]) / s;
  g[2] = (-f2 - 2.0 * g[1]) / s;
}

/// The frames against each other. P, S and Z have no numbers below on the left, which products leave out.
typedef struct relation {
  double d[N], g[3];
  double P[2][N * N];
  double B[2][N * N]; ///< Z P: D_q d
} relation;

/// factor (even +- odd) of 3 x 3 matrices, odd = a~/2
static void set_signed(const double *even, const double *a, double sign, double factor,
                       double *out) {
  for (int i = 0; i < 3; ++i)
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) out[N * i + j] = factor * even[3 * i + j];
  asi_add_skew(factor * sign / 2.0, a, out, N);
}

/// What S(d) and S(-d) share: even parts of S(w) and X.
static void set_even(const double *d, const double *g, double S[9], double X[9]) {
  const double *u = d, *w = d + 3;
  memset(S, 0, 9 * sizeof *S);
  memset(X, 0, 9 * sizeof *X);
  asi_add_identity(1.0, S, 3);
  asi_add_skew_skew(g[0], w, w, S, 3);
  asi_add_skew_skew(g[0], u, w, X, 3);
  asi_add_skew_skew(g[0], w, u, X, 3);
  asi_add_skew_skew(2.0 * g[1] * asi_dot(w, u), w, w, X, 3);
}

/// factor S(sign d)
static void set_S(const double *d, const double *S, const double *X, double sign, double factor,
                  double *out) {
  memset(out, 0, N * N * sizeof *out);
  set_signed(S, d + 3, sign, factor, out);
  set_signed(X, d, sign, factor, out + 3);
  set_signed(S, d + 3, sign, factor, out + 3 * N + 3);
}

/// sum += factor row, six numbers
ASI_INLINED void add_row(double factor, const double *row, asi_simd2 sum[3]) {
  const asi_simd2 f = asi_simd_splat(factor);
  sum[0] += f * asi_simd_load(row);
  sum[1] += f * asi_simd_load(row + 2);
  sum[2] += f * asi_simd_load(row + 4);
}

/// The same of a row that begins with three zeros.
ASI_INLINED void add_right(double factor, const double *row, asi_simd2 sum[3]) {
  const asi_simd2 f = asi_simd_splat(factor);
  sum[1] += f * asi_simd_load(row + 2);
  sum[2] += f * asi_simd_load(row + 4);
}

/// sum += a B, a row times a matrix with nothing below on the left
ASI_INLINED void add_row_times(const double *a, const double *B, asi_simd2 sum[3]) {
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) add_row(a[k], B + N * k, sum);
#pragma GCC unroll 3
  for (int k = 3; k < N; ++k) add_right(a[k], B + N * k, sum);
}

ASI_INLINED void put(const asi_simd2 sum[3], double *out) {
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) asi_simd_store(out + 2 * j, sum[j]);
}

/// out += A B, where B has nothing below on the left
static void add_product(const double *A, const double *B, double *out, int stride) {
  for (int i = 0; i < N; ++i, out += stride) {
    asi_simd2 sum[3] = {asi_simd_load(out), asi_simd_load(out + 2), asi_simd_load(out + 4)};
    add_row_times(A + N * i, B, sum);
    put(sum, out);
  }
}

/// out += factor B^T K, where B has nothing below on the left
static void add_transposed_product(double factor, const double *B, const double *K, double *out) {
  for (int i = 0; i < N; ++i, out += N) {
    asi_simd2 sum[3] = {asi_simd_load(out), asi_simd_load(out + 2), asi_simd_load(out + 4)};
    for (int k = 0; k < 3; ++k) add_row(factor * B[N * k + i], K + N * k, sum);
    for (int k = 3; k < N && i >= 3; ++k) add_row(factor * B[N * k + i], K + N * k, sum);
    put(sum, out);
  }
}

/// A B of two that have nothing below on the left.
static void set_product(const double *A, const double *B, double *out) {
  for (int i = 0; i < N; ++i) {
    asi_simd2 sum[3] = {asi_simd_splat(0.0), asi_simd_splat(0.0), asi_simd_splat(0.0)};
    if (i < 3)
      add_row_times(A + N * i, B, sum);
    else
      for (int k = 3; k < N; ++k) add_right(A[N * i + k], B + N * k, sum);
    put(sum, out + N * i);
  }
}

static void times(const double *A, bool transposed, const double *x, double *out) {
  for (int i = 0; i < N; ++i) {
    out[i] = 0.0;
    for (int k = 0; k < N; ++k) out[i] += (transposed ? A[N * k + i] : A[N * i + k]) * x[k];
  }
}

/// d, g and P; false within 1e-4 of half a turn.
static bool relate(const asi_frame frame[2], const as_body_motion *const body[2], relation *x) {
  double R[9], q[4], apart[3], r[3], place[2][3];
  memset(x->P, 0, sizeof x->P);
  for (int s = 0; s < 2; ++s) {
    asi_rotate(body[s]->R, frame[s].p, place[s]);
    for (int k = 0; k < 3; ++k) {
      const double *axis = frame[s].axis + 3 * k;
      asi_rotate(body[s]->R, axis, x->P[s] + N * k);
      asi_add_cross(-1.0, axis, frame[s].p, x->P[s] + N * k + 3);
      asi_copy(axis, x->P[s] + N * (k + 3) + 3);
    }
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R[3 * i + j] = asi_dot(x->P[0] + N * i, x->P[1] + N * j);
  asi_so3_from_matrix(R, q);
  asi_so3_log(q, x->d + 3);
  const double s = asi_dot(x->d + 3, x->d + 3), most = 3.14149265358979323846;
  if (!(s < most * most)) return false;
  coefficients(s, x->g);
  for (int k = 0; k < 3; ++k)
    apart[k] = body[1]->x[k] - body[0]->x[k] + (place[1][k] - place[0][k]);
  for (int k = 0; k < 3; ++k) r[k] = asi_dot(x->P[0] + N * k, apart);
  double once[3], twice[3];
  asi_cross(x->d + 3, r, once);
  asi_cross(x->d + 3, once, twice);
  for (int k = 0; k < 3; ++k) x->d[k] = r[k] - once[k] / 2.0 + x->g[0] * twice[k];
  return true;
}

static void set_gradient(relation *x) {
  double S[9], X[9], Z[N * N];
  set_even(x->d, x->g, S, X);
  for (int s = 0; s < 2; ++s) {
    const double sign = s ? 1.0 : -1.0;
    set_S(x->d, S, X, sign, sign, Z);
    set_product(Z, x->P[s], x->B[s]);
  }
}

/// out += factor O(y)
static void add_O(const relation *x, double factor, const double *y, double *out, int stride) {
  const double *w = x->d + 3;
  double wy[3], wwy[3];
  asi_cross(w, y, wy);
  asi_cross(w, wy, wwy);
  asi_add_skew(-factor * x->g[0], wy, out, stride);
  asi_add_skew_skew(-factor * x->g[0], w, y, out, stride);
  asi_add_outer(2.0 * factor * x->g[1], wwy, w, out, stride);
}

/// out += factor E(y)
static void add_E(const relation *x, double factor, const double *y, double *out, int stride) {
  const double *u = x->d, *w = x->d + 3, wu = asi_dot(w, u), *g = x->g;
  double wy[3], uy[3], wwy[3], mixed[3];
  asi_cross(w, y, wy);
  asi_cross(u, y, uy);
  asi_cross(w, wy, wwy);
  asi_cross(w, uy, mixed);
  asi_add_cross(1.0, u, wy, mixed);
  asi_add_skew(-factor * g[0], uy, out, stride);
  asi_add_skew_skew(-factor * g[0], u, y, out, stride);
  asi_add_outer(2.0 * factor * g[1], mixed, w, out, stride);
  asi_add_outer(2.0 * factor * g[1], wwy, u, out, stride);
  asi_add_skew(-2.0 * factor * g[1] * wu, wy, out, stride);
  asi_add_skew_skew(-2.0 * factor * g[1] * wu, w, y, out, stride);
  asi_add_outer(4.0 * factor * g[2] * wu, wwy, w, out, stride);
}

/// -W(-d; stress) and -W(d; stress), without what is above on the left, which is zero
static void set_W(const relation *x, const double *stress, double out[2][N * N]) {
  const double *n = stress, *m = stress + 3;
  double On[9] = {0}, Om[9] = {0};
  add_O(x, 1.0, n, On, 3);
  add_O(x, 1.0, m, Om, 3);
  add_E(x, 1.0, n, Om, 3);
  for (int s = 0; s < 2; ++s) {
    const double sign = s ? -1.0 : 1.0;
    double *W = out[s];
    memset(W, 0, 3 * N * sizeof *W);
    set_signed(On, n, -sign, sign, W + 3);
    set_signed(On, n, -sign, sign, W + 3 * N);
    set_signed(Om, m, -sign, sign, W + 3 * N + 3);
  }
}

/// D_d d' = Y(-d; nu_A) + Y(d; nu_B)
static void set_Y(const relation *x, const double *a, const double *b, double *out) {
  double sum[N], gap[N];
  for (int k = 0; k < N; ++k) {
    sum[k] = a[k] + b[k];
    gap[k] = b[k] - a[k];
  }
  memset(out, 0, N * N * sizeof *out);
  for (int k = 0; k < 2; ++k) {
    asi_add_skew(-0.5, sum + 3, out + k * (3 * N + 3), N);
    add_O(x, 1.0, gap + 3, out + k * (3 * N + 3), N);
  }
  asi_add_skew(-0.5, sum, out + 3, N);
  add_O(x, 1.0, gap, out + 3, N);
  add_E(x, 1.0, gap + 3, out + 3, N);
}

/// What an evaluation needs.
typedef struct bend {
  relation x;
  double strain[N], rate[N], stress[N], nu[2][N], v[2][3];
} bend;

static int measure(const asi_beam *b, const as_element_input *in, bend *at) {
  if (!relate(b->frame, in->body, &at->x))
    return asi_retry(in, "its ends are turned by half a turn, where their rotation has no value");
  set_gradient(&at->x);
  memset(at->rate, 0, sizeof at->rate);
  for (int k = 0; k < N; ++k) at->strain[k] = (at->x.d[k] - b->rest[k]) / b->length;
  for (int s = 0; s < 2 && b->damped; ++s) {
    double velocity[N], rate[N];
    asi_sum(in->body[s]->v, -1.0, in->body[0]->v, at->v[s]);
    asi_copy(at->v[s], velocity);
    asi_copy(in->body[s]->omega, velocity + 3);
    times(at->x.P[s], false, velocity, at->nu[s]);
    times(at->x.B[s], false, velocity, rate);
    for (int k = 0; k < N; ++k) at->rate[k] += rate[k] / b->length;
  }
  for (int i = 0; i < N; ++i) {
    at->stress[i] = 0.0;
    for (int k = 0; k < N; ++k)
      at->stress[i] += b->K[N * i + k] * at->strain[k] + b->C[N * i + k] * at->rate[k];
  }
  return AS_DONE;
}

/// D_q d' at fixed v, of one body's columns.
static void set_rate_q(const as_element_input *in, const bend *at, const double *Y, int s,
                       double *out) {
  const double *R = in->body[s]->R;
  double seen[3], back[3];
  memset(out, 0, N * N * sizeof *out);
  add_product(Y, at->x.B[s], out, N);
  asi_rotate_back(R, at->v[s], seen);
  for (int i = 0; i < N; ++i) { // B_x R (R^T v)~
    asi_rotate_back(R, at->x.B[s] + N * i, back);
    asi_add_cross(1.0, back, seen, out + N * i + 3);
  }
}

static void add_f_q(const asi_beam *b, const as_element_input *in, const bend *at, double *f_q) {
  double rate_q[2][N * N], Y[N * N], W[2][N * N];
  if (b->damped) set_Y(&at->x, at->nu[0], at->nu[1], Y);
  for (int s = 0; s < 2 && b->damped; ++s) set_rate_q(in, at, Y, s, rate_q[s]);
  set_W(&at->x, at->stress, W);
  for (int r = 0; r < 2; ++r) {
    double left[N * N] = {0}, damping[N * N] = {0}, f[3], world[N];
    double *const row = f_q + (ptrdiff_t)r * N * ASI_PAIR;
    add_transposed_product(1.0, at->x.P[r], W[r], left);
    add_transposed_product(-1.0 / b->length, at->x.B[r], b->K, left);
    for (int s = 0; s < 2; ++s) add_product(left, at->x.B[s], row + (ptrdiff_t)s * N, ASI_PAIR);
    if (b->damped) add_transposed_product(-1.0 / b->length, at->x.B[r], b->C, damping);
    for (int s = 0; s < 2 && b->damped; ++s)
      add_product(damping, rate_q[s], row + (ptrdiff_t)s * N, ASI_PAIR);
    // The force in body axes, of which D_q (R f) = -R f~ dtheta.
    times(at->x.B[r], true, at->stress, world);
    asi_rotate_back(in->body[r]->R, world, f);
    asi_add_times_skew(1.0, in->body[r]->R, f, row + (ptrdiff_t)r * N + 3, ASI_PAIR);
  }
}

static void add_f_v(const asi_beam *b, const bend *at, double *f_v) {
  for (int r = 0; r < 2; ++r) {
    double left[N * N] = {0};
    add_transposed_product(-1.0 / b->length, at->x.B[r], b->C, left);
    for (int s = 0; s < 2; ++s)
      add_product(left, at->x.B[s], f_v + (ptrdiff_t)r * N * ASI_PAIR + (ptrdiff_t)s * N, ASI_PAIR);
  }
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_beam *b = data;
  bend at;
  const int code = measure(b, in, &at);
  if (code) return code;
  for (int s = 0; s < 2 && out->force; ++s) {
    double f[N];
    times(at.x.B[s], true, at.stress, f);
    for (int k = 0; k < N; ++k) out->force[N * s + k] -= f[k];
  }
  if (out->f_q) add_f_q(b, in, &at, out->f_q);
  if (out->f_v && b->damped) add_f_v(b, &at, out->f_v);
  if (b->heavy) asi_beam_add_inertia(b, in, out);
  return b->loaded ? asi_beam_add_load(b, in, out) : AS_DONE;
}

static double quadratic(const double *M, const double *x) {
  double Mx[N], sum = 0.0;
  times(M, false, x, Mx);
  for (int k = 0; k < N; ++k) sum += x[k] * Mx[k];
  return sum;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_beam *b = data;
  bend at;
  if (measure(b, in, &at)) return (double)NAN;
  const double weight = b->heavy ? asi_beam_weight_potential(b, in) : 0.0;
  return b->length * quadratic(b->K, at.strain) / 2.0 + weight;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_beam *b = data;
  bend at;
  out->supplied = b->loaded ? asi_beam_load_power(b, in) : 0.0;
  out->dissipated = measure(b, in, &at) ? (double)NAN : b->length * quadratic(b->C, at.rate);
}

// ---- rest shape and K* ------------------------------------------------------------------------------

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

/// Q(s)^T
static void set_Q(const relation *rest, double s, double *out) {
  double back[N], R[9], q[4], x[3], Ad[N * N] = {0}, S[N * N], even[2][9];
  for (int k = 0; k < N; ++k) back[k] = -(1.0 - s) * rest->d[k];
  asi_so3_exp(back + 3, q);
  asi_so3_matrix(q, R);
  asi_so3_tangent_transposed_times(back + 3, back, x); // the inverse of u = S^T r
  asi_add_matrix(1.0, R, Ad, N);
  asi_add_matrix(1.0, R, Ad + 3 * N + 3, N);
  asi_add_skew_times(1.0, x, R, Ad + 3, N); // Ad(x, R) = [ R  x~ R; 0  R ]
  set_even(rest->d, rest->g, even[0], even[1]);
  set_S(rest->d, even[0], even[1], 1.0, 1.0, S);
  set_product(S, Ad, out); // Q^T = S Ad
}

/// out += factor Q^T F Q, where F is symmetric
static void add_compliance(double factor, const double *Qt, const double *F, double *out) {
  for (int i = 0; i < N; ++i) {
    double row[N], other[N];
    times(F, false, Qt + N * i, row);
    times(Qt, false, row, other);
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

bool asi_beam_shape(asi_beam *beam, const as_body_motion *a, const as_body_motion *b) {
  const as_body_motion *const body[2] = {a, b};
  relation rest;
  if (!relate(beam->frame, body, &rest)) return false;
  memcpy(beam->rest, rest.d, sizeof beam->rest);
  beam->length = asi_norm(beam->rest);
  for (int e = 0; e < 2; ++e) {
    asi_copy(beam->frame[e].p, beam->arm[2 * e]);
    asi_set(0.0, 0.0, 0.0, beam->arm[2 * e + 1]);
    for (int k = 0; k < 3; ++k)
      asi_add(rest.d[k], beam->frame[e].axis + 3 * k, beam->arm[2 * e + 1]);
  }
  return beam->length > 0.0;
}

bool asi_beam_stiffness(asi_beam *beam, const double section[ASI_BEAM_POINTS][36],
                        const double *middle, bool plain, double tau) {
  double sum[N * N] = {0};
  relation rest;
  memcpy(rest.d, beam->rest, sizeof rest.d);
  coefficients(asi_dot(rest.d + 3, rest.d + 3), rest.g);
  for (int k = 0; k < ASI_BEAM_POINTS; ++k) {
    double Qt[N * N], F[N * N];
    if (!asi_beam_invert(section[k], F)) return false;
    set_Q(&rest, asi_beam_point[k], Qt);
    add_compliance(asi_beam_weight[k], Qt, F, sum);
  }
  if (plain)
    memcpy(beam->K, middle, sizeof beam->K);
  else if (!asi_beam_invert(sum, beam->K))
    return false;
  beam->damped = tau != 0.0;
  for (int i = 0; i < N * N; ++i) beam->C[i] = tau * beam->K[i];
  return true;
}

bool asi_beam_init(asi_beam *beam, const as_body_motion *a, const as_body_motion *b,
                   const double *section, bool plain, double tau) {
  double all[ASI_BEAM_POINTS][36];
  for (int k = 0; k < ASI_BEAM_POINTS; ++k) memcpy(all[k], section, sizeof all[k]);
  return asi_beam_shape(beam, a, b) &&
         asi_beam_stiffness(beam, (const double(*)[36])all, section, plain, tau);
}

// ---- results ----------------------------------------------------------------------------------------

/// [BE.11] without what acts in between: N_A = S(-d)^T N and N_B = S(d)^T N
int asi_beam_ends(const asi_beam *b, const as_element_input *in, double end[2][ASI_BEAM],
                  double strain[ASI_BEAM]) {
  bend at;
  const int code = measure(b, in, &at);
  if (code) return code;
  double even[2][9];
  set_even(at.x.d, at.x.g, even[0], even[1]);
  for (int e = 0; e < 2; ++e) {
    double S[N * N];
    set_S(at.x.d, even[0], even[1], e ? 1.0 : -1.0, 1.0, S);
    times(S, true, at.stress, end[e]);
  }
  memcpy(strain, at.strain, sizeof at.strain);
  return AS_DONE;
}

const as_element_type asi_beam_type = {"beam", evaluate, potential, power};
