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

/// Frame B against frame A, in the axes of B. S has no numbers below on the left, which products leave out.
typedef struct relation {
  double d[N], g[3];
  double Et[9];     ///< E^T = (R_B A_B)^T: from the world
  double Qt[9];     ///< Q^T = E^T R_A: from body A
  double arm[2][3]; ///< rho and p
  double S[N * N];
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

/// (R A)^T
static void set_axes(const asi_frame *frame, bool tilted, const double *R, double *out) {
  if (tilted)
    for (int k = 0; k < 3; ++k) asi_rotate(R, frame->axis + 3 * k, out + 3 * k);
  else
    asi_set_transposed(R, out);
}

/// All but S; false within 1e-4 of half a turn.
static bool relate(const asi_beam *b, const as_body_motion *const body[2], relation *x) {
  double At[9], R[9], q[4], place[2][3], apart[3], between[3], r[3], once[3], twice[3];
  set_axes(&b->frame[0], b->tilted[0], body[0]->R, At);
  set_axes(&b->frame[1], b->tilted[1], body[1]->R, x->Et);
  asi_multiply(x->Et, body[0]->R, x->Qt);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) R[3 * i + j] = asi_dot(At + 3 * i, x->Et + 3 * j);
  asi_so3_from_matrix(R, q);
  asi_so3_log(q, x->d + 3);
  const double s = asi_dot(x->d + 3, x->d + 3), most = 3.14149265358979323846;
  if (!(s < most * most)) return false;
  coefficients(s, x->g);
  for (int e = 0; e < 2; ++e) asi_rotate(body[e]->R, b->frame[e].p, place[e]);
  asi_sum(body[1]->x, -1.0, body[0]->x, apart);
  asi_sum(place[1], -1.0, place[0], between);
  asi_sum(apart, 1.0, between, r);
  asi_add(1.0, place[1], apart);
  asi_rotate(x->Et, apart, x->arm[0]);
  for (int k = 0; k < 3; ++k) x->arm[1][k] = asi_dot(b->frame[1].axis + 3 * k, b->frame[1].p);
  asi_rotate(At, r, apart);
  asi_cross(x->d + 3, apart, once);
  asi_cross(x->d + 3, once, twice);
  for (int k = 0; k < 3; ++k) x->d[k] = apart[k] - once[k] / 2.0 + x->g[0] * twice[k];
  return true;
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

/// out += W(d; stress)
static void add_W(const relation *x, const double *stress, double *out) {
  const double *n = stress, *m = stress + 3;
  double On[9] = {0};
  asi_add_skew(0.5, n, On, 3);
  add_O(x, 1.0, n, On, 3);
  asi_add_matrix(1.0, On, out + 3, N);
  asi_add_matrix(1.0, On, out + 3 * N, N);
  asi_add_skew(0.5, m, out + 3 * N + 3, N);
  add_O(x, 1.0, m, out + 3 * N + 3, N);
  add_E(x, 1.0, n, out + 3 * N + 3, N);
}

/// Y(d; moving)
static void set_Y(const relation *x, const double *moving, double *out) {
  const double *y = moving, *z = moving + 3;
  memset(out, 0, N * N * sizeof *out);
  for (int k = 0; k < 2; ++k) {
    asi_add_skew(-0.5, z, out + k * (3 * N + 3), N);
    add_O(x, 1.0, z, out + k * (3 * N + 3), N);
  }
  asi_add_skew(-0.5, y, out + 3, N);
  add_O(x, 1.0, y, out + 3, N);
  add_E(x, 1.0, z, out + 3, N);
}

/// What an evaluation needs.
typedef struct bend {
  relation x;
  double strain[N], rate[N], stress[N];
  double wrench[N];                    ///< on frame B, in its axes
  double apart[3], spin[3], moving[N]; ///< where it is damped: Delta, Omega, delta'
} bend;

/// delta' = (Delta + A_B^T (omega_B x p_B) - Omega x rho; A_B^T omega_B - Omega)
static void set_moving(const asi_beam *b, const as_element_input *in, bend *at) {
  const as_body_motion *A = in->body[0], *B = in->body[1];
  const asi_frame *f = &b->frame[1];
  double apart[3], turning[3];
  asi_sum(B->v, -1.0, A->v, apart);
  asi_rotate(at->x.Et, apart, at->apart);
  asi_rotate(at->x.Qt, A->omega, at->spin);
  asi_cross(B->omega, f->p, turning);
  asi_cross(at->x.arm[0], at->spin, at->moving);
  for (int k = 0; k < 3; ++k) {
    at->moving[k] += at->apart[k] + asi_dot(f->axis + 3 * k, turning);
    at->moving[3 + k] = asi_dot(f->axis + 3 * k, B->omega) - at->spin[k];
  }
}

static int measure(const asi_beam *b, const as_element_input *in, bend *at) {
  double even[2][9];
  if (!relate(b, in->body, &at->x))
    return asi_retry(in, "its ends are turned by half a turn, where their rotation has no value");
  set_even(at->x.d, at->x.g, even[0], even[1]);
  set_S(at->x.d, even[0], even[1], 1.0, 1.0, at->x.S);
  for (int k = 0; k < N; ++k) at->strain[k] = (at->x.d[k] - b->rest[k]) / b->length;
  memset(at->rate, 0, sizeof at->rate);
  if (b->damped) {
    set_moving(b, in, at);
    times(at->x.S, false, at->moving, at->rate);
    for (int k = 0; k < N; ++k) at->rate[k] /= b->length;
  }
  for (int i = 0; i < N; ++i) {
    at->stress[i] = 0.0;
    for (int k = 0; k < N; ++k)
      at->stress[i] += b->K[N * i + k] * (at->strain[k] + b->tau * at->rate[k]);
  }
  times(at->x.S, true, at->stress, at->wrench);
  for (int k = 0; k < N; ++k) at->wrench[k] = -at->wrench[k];
  return AS_DONE;
}

static void add_force(const asi_beam *b, const bend *at, double *force) {
  const double *n = at->wrench, *m = n + 3;
  double pull[3], torque[3], turned[3];
  asi_rotate_back(at->x.Et, n, pull);
  asi_add(-1.0, pull, force);
  asi_add(1.0, pull, force + N);
  asi_copy(m, torque);
  asi_add_cross(1.0, at->x.arm[0], n, torque);
  asi_rotate_back(at->x.Qt, torque, turned);
  asi_add(-1.0, turned, force + 3);
  asi_copy(m, torque);
  asi_add_cross(1.0, at->x.arm[1], n, torque);
  for (int k = 0; k < 3; ++k) asi_add(torque[k], b->frame[1].axis + 3 * k, force + N + 3);
}

// Rows u, w, e of six unknowns and three: of delta, and of the turn of frame B alone.
enum { ROW = 10 };

/// out = sign (H_m + arm~ H_n), three rows
static void set_torque_rows(double sign, const double *H, const double *arm, double *out) {
  for (int i = 0; i < 3; ++i) {
    const double *m = H + (3 + i) * ROW, *y = H + (i + 1) % 3 * ROW, *z = H + (i + 2) % 3 * ROW;
    const asi_simd2 one = asi_simd_splat(sign), ay = asi_simd_splat(sign * arm[(i + 1) % 3]),
                    az = asi_simd_splat(sign * arm[(i + 2) % 3]);
#pragma GCC unroll 5
    for (int j = 0; j < ROW; j += 2)
      asi_simd_store(out + i * ROW + j, one * asi_simd_load(m + j) + ay * asi_simd_load(z + j) -
                                            az * asi_simd_load(y + j));
  }
}

/// T rows, T given by its transpose
static void turn_rows(const double *Tt, double *rows) {
#pragma GCC unroll 5
  for (int j = 0; j < ROW; j += 2) {
    const asi_simd2 x = asi_simd_load(rows + j), y = asi_simd_load(rows + ROW + j),
                    z = asi_simd_load(rows + 2 * ROW + j);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i)
      asi_simd_store(rows + i * ROW + j, asi_simd_splat(Tt[i]) * x + asi_simd_splat(Tt[3 + i]) * y +
                                             asi_simd_splat(Tt[6 + i]) * z);
  }
}

/// out += sign row
ASI_INLINED void add_line(double sign, const double *row, double *out) {
  const asi_simd2 factor = asi_simd_splat(sign);
#pragma GCC unroll 6
  for (int j = 0; j < ASI_PAIR; j += 2)
    asi_simd_store(out + j, asi_simd_load(out + j) + factor * asi_simd_load(row + j));
}

/// The columns of the bodies' moves of one row, -(u delta_u + w delta_w + e w_B).
static void set_columns(const asi_beam *b, const relation *x, const double *row, double *out) {
  const double *u = row, *w = row + 3, *e = row + 6;
  double a[3], c[3];
  asi_rotate_back(x->Et, u, out);
  asi_set(-out[0], -out[1], -out[2], out + 6);
  asi_copy(w, a);
  asi_add_cross(-1.0, u, x->arm[0], a);
  asi_rotate_back(x->Qt, a, out + 3);
  asi_cross(u, x->arm[1], c);
  for (int k = 0; k < 3; ++k) c[k] -= w[k] + e[k];
  if (b->tilted[1])
    asi_rotate_back(b->frame[1].axis, c, out + 9);
  else
    asi_copy(c, out + 9);
}

/// Adds what H means for moves and forces of the bodies; the force, which turns with them, where it is given.
static void add_moves(const asi_beam *b, const relation *x, const double *H, const double *wrench,
                      double *out) {
  double rows[9 * ROW], line[ASI_PAIR];
  memcpy(rows, H, 3 * ROW * sizeof *rows);
  set_torque_rows(-1.0, H, x->arm[0], rows + 3 * ROW);
  set_torque_rows(1.0, H, x->arm[1], rows + 6 * ROW);
  if (wrench) {
    const double *n = wrench, *m = wrench + 3;
    asi_add_skew(1.0, n, rows + 6, ROW);
    asi_add_skew(-1.0, n, rows + 3 * ROW, ROW);
    asi_add_skew(-1.0, m, rows + 3 * ROW + 3, ROW);
    asi_add_skew_skew(-1.0, x->arm[0], n, rows + 3 * ROW + 3, ROW);
  }
  turn_rows(x->Et, rows);
  turn_rows(x->Qt, rows + 3 * ROW);
  if (b->tilted[1]) turn_rows(b->frame[1].axis, rows + 6 * ROW);
  for (int i = 0; i < 9; ++i) {
    set_columns(b, x, rows + i * ROW, line);
    if (i < 3) add_line(-1.0, line, out + i * ASI_PAIR);
    add_line(1.0, line, out + (i < 3 ? 6 + i : i < 6 ? i : 3 + i) * ASI_PAIR);
  }
}

/// Rows of H from two matrices for delta; e is zero.
static void set_rows(const double *from, double *H) {
  for (int i = 0; i < N; ++i) {
    memcpy(H + i * ROW, from + i * N, N * sizeof *H);
    memset(H + i * ROW + N, 0, (ROW - N) * sizeof *H);
  }
}

static void add_tangents(const asi_beam *b, const bend *at, double *f_q, double *f_v) {
  const relation *x = &at->x;
  double G[N * N] = {0}, left[N * N], sum[N * N] = {0}, T[N * N] = {0}, H[N * ROW];
  add_transposed_product(1.0 / b->length, x->S, b->K, G);
  memcpy(left, G, sizeof left);
  if (b->damped) {
    add_product(G, x->S, T, N);
    for (int i = 0; i < N * N; ++i) T[i] *= b->tau;
  }
  if (f_q) {
    add_W(x, at->stress, left);
    if (b->damped) {
      double Y[N * N];
      set_Y(x, at->moving, Y);
      for (int i = 0; i < N * N; ++i) Y[i] *= b->tau;
      add_product(G, Y, left, N);
    }
    add_product(left, x->S, sum, N);
    set_rows(sum, H);
    for (int i = 0; i < N && b->damped; ++i) {
      const double *u = T + N * i, *w = u + 3;
      double *const h = H + i * ROW, turn[3];
      asi_cross(x->arm[0], at->spin, turn);
      asi_add_cross(-1.0, u, at->spin, h);
      asi_add_cross(1.0, u, turn, h + 3);
      asi_add_cross(-1.0, w, at->spin, h + 3);
      asi_add_cross(1.0, u, at->apart, h + 6);
    }
    add_moves(b, x, H, at->wrench, f_q);
  }
  if (f_v && b->damped) {
    set_rows(T, H);
    add_moves(b, x, H, NULL, f_v);
  }
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_beam *b = data;
  bend at;
  const int code = measure(b, in, &at);
  if (code) return code;
  if (out->force) add_force(b, &at, out->force);
  if (out->f_q || (out->f_v && b->damped)) add_tangents(b, &at, out->f_q, out->f_v);
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
  out->dissipated =
      measure(b, in, &at) ? (double)NAN : b->tau * b->length * quadratic(b->K, at.rate);
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

static bool is_unit(const double *A) {
  for (int i = 0; i < 9; ++i)
    if (A[i] != (i % 4 == 0 ? 1.0 : 0.0)) return false;
  return true;
}

bool asi_beam_shape(asi_beam *beam, const as_body_motion *a, const as_body_motion *b) {
  const as_body_motion *const body[2] = {a, b};
  relation rest;
  for (int e = 0; e < 2; ++e) beam->tilted[e] = !is_unit(beam->frame[e].axis);
  if (!relate(beam, body, &rest)) return false;
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
  beam->tau = tau;
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
