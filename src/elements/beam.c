/// A geometrically exact beam of two nodes: the helicoidal element on SE(3).
///
/// [BE.1], [BE.2] End frames H = (x + R p, R A) on two bodies lie against each other by d = (u, w) = log(H_A^-1 H_B):
///
///     w = log(R_A^T R_B),   u = S(w)^T R_A^T (x_B - x_A)
///     d' = S(d) delta',     S(d) = [ S(w) X; 0 S(w) ],   delta: how frame B moves against A, in the axes of B
///     S(w) = I + w~/2 + g w~^2,   X = u~/2 + g (u~ w~ + w~ u~) + 2 g1 (w.u) w~^2
///
/// with s = |w|^2, g = (1 - (|w|/2) cot(|w|/2))/s, g1 = dg/ds, g2 = dg1/ds. With the rest shape d0 and its arc length L, [BE.3]
/// strains e = (d - d0)/L and stress N(d, d') = dV/dd + damping by beam_stiffness.c, C = D_d' N, [BE.5]
///
///     (n, m) = -S^T N on frame B, in its axes
///     D (n, m) = -H delta - T_u Delta~ w_B,   T = S^T C S
///     H = S^T D_d N S + W(d; N) S + S^T C Y(d; delta') S + T [ -Omega~ (rho x Omega)~; 0 -Omega~ ]
///
/// where [BE.4] W(d; N) = D_d (S(d)^T N) and Y(d; nu) = D_d (S(d) nu) are made of parts that are odd and even in d,
///
///     O(y) = -g ((w x y)~ + w~ y~) + 2 g1 (w x (w x y)) w^T
///     E(y) = -g ((u x y)~ + u~ y~) + 2 g1 ((w x (u x y) + u x (w x y)) w^T + (w x (w x y)) u^T)
///            - 2 g1 (w.u) ((w x y)~ + w~ y~) + 4 g2 (w.u) (w x (w x y)) w^T
///     W(d; n, m) = [ 0  n~/2 + O(n);  n~/2 + O(n)  m~/2 + O(m) + E(n) ]
///     Y(d; y, z) = [ -z~/2 + O(z)  -y~/2 + O(y) + E(z);  0  -z~/2 + O(z) ]
///
/// [BE.13] To moves (dx world, dtheta body) and forces of the bodies, with E = R_B A_B, Q = R_A^T E, arms rho = E^T (X_B - x_A) from body
/// A's centre to frame B and p = A_B^T p_B, w_B = A_B^T dtheta_B:
///
///     delta = (E^T (dx_B - dx_A) + rho~ Q^T dtheta_A - p~ w_B,  w_B - Q^T dtheta_A)
///     force on B  E n              D = E (D n - n~ w_B)       force on A: minus that
///     torque on B A_B (m + p x n)  torque on A  -Q (m + rho x n)
///     D of that = -Q (D m + rho~ D n - n~ delta_u - (m~ + rho~ n~) delta_w)
///
/// For delta' v and omega stand for the moves, Omega = Q^T omega_A, Delta = E^T (v_B - v_A): it does not depend on a common
/// velocity, so no digit is lost in a fast machine.
#include "elements/beam.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "elements/vector.h"
#include "elements/why.h"
#include "lie/rotation.h"

enum { N = ASI_BEAM };

/// g and its two derivatives. Formulas lose all digits at small angles: below s = 2.5 the series sum |B_2k|/(2k)! s^(k-1).
void asi_beam_coefficients(double s, double g[3]) {
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

/// S(d), of which g is known
void asi_beam_set_S(const double *d, const double *g, double *out) {
  const double *u = d, *w = d + 3, ww = asi_dot(w, w), wu = asi_dot(w, u);
  const double k = 2.0 * g[1] * wu;
  double near[3];
  for (int j = 0; j < 3; ++j) near[j] = g[0] * u[j] + k * w[j];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) { // a~ b~ + b~ a~ = a b^T + b a^T - 2 (a . b) I
    double *const S = out + N * i, *const low = S + 3 * N;
    const double x = g[0] * w[i];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      S[j] = x * w[j];
      S[3 + j] = x * u[j] + near[i] * w[j];
      low[j] = 0.0;
    }
    S[i] += 1.0 - g[0] * ww;
    S[3 + i] -= 2.0 * g[0] * wu + k * ww;
  }
  asi_add_skew(0.5, w, out, N);
  asi_add_skew(0.5, u, out + 3, N);
  for (int i = 0; i < 3; ++i) asi_copy(out + N * i, out + N * (3 + i) + 3);
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

/// out = (or +=) A B, where B has nothing below on the left
ASI_INLINED void put_product(bool adds, const double *A, const double *B, double *out, int stride) {
  for (int i = 0; i < N; ++i, out += stride) {
    asi_simd2 sum[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    for (int j = 0; j < 3 && adds; ++j) sum[j] = asi_simd_load(out + 2 * j);
    add_row_times(A + N * i, B, sum);
    put(sum, out);
  }
}

/// out = B^T K, where B has nothing below on the left
ASI_INLINED void set_transposed_product(const double *B, const double *K, double *out) {
  for (int i = 0; i < N; ++i, out += N) {
    asi_simd2 sum[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    for (int k = 0; k < 3; ++k) add_row(B[N * k + i], K + N * k, sum);
    for (int k = 3; k < N && i >= 3; ++k) add_row(B[N * k + i], K + N * k, sum);
    put(sum, out);
  }
}

ASI_INLINED void times(const double *A, bool transposed, const double *x, double *out) {
  for (int i = 0; i < N; ++i) {
    out[i] = 0.0;
    for (int k = 0; k < N; ++k) out[i] += (transposed ? A[N * k + i] : A[N * i + k]) * x[k];
  }
}

/// All but S; false within 1e-4 of half a turn.
ASI_INLINED bool relate(const asi_beam *b, const as_body_motion *const body[2], relation *x) {
  const double *const RA = body[0]->R, *const RB = body[1]->R;
  double R[9], q[4], apart[3], r[3], between[3], once[3], twice[3];
  if (b->tilted[1])
    for (int k = 0; k < 3; ++k) asi_rotate(RB, b->frame[1].axis + 3 * k, x->Et + 3 * k);
  else
    asi_set_transposed(RB, x->Et);
  asi_multiply(x->Et, RA, x->Qt);
  for (int i = 0; i < 3; ++i) {
    if (b->tilted[0])
      asi_rotate(x->Qt, b->frame[0].axis + 3 * i, R + 3 * i);
    else
      asi_set(x->Qt[i], x->Qt[3 + i], x->Qt[6 + i], R + 3 * i);
  }
  asi_so3_from_matrix(R, q);
  asi_so3_log(q, x->d + 3);
  const double s = asi_dot(x->d + 3, x->d + 3), most = 3.14149265358979323846;
  if (!(s < most * most)) return false;
  asi_beam_coefficients(s, x->g);
  asi_sum(body[1]->x, -1.0, body[0]->x, apart);
  asi_copy(apart, between);
  asi_set(0.0, 0.0, 0.0, x->arm[1]);
  if (!b->centered) {
    asi_rotate(RB, b->frame[1].p, r);
    asi_add(1.0, r, apart);
    asi_rotate(RA, b->frame[0].p, once);
    asi_add(-1.0, once, r);
    asi_add(1.0, r, between);
    for (int k = 0; k < 3; ++k) x->arm[1][k] = asi_dot(b->frame[1].axis + 3 * k, b->frame[1].p);
  }
  asi_rotate(x->Et, apart, x->arm[0]);
  asi_rotate_back(RA, between, r);
  if (b->tilted[0]) {
    asi_copy(r, between);
    for (int k = 0; k < 3; ++k) r[k] = asi_dot(b->frame[0].axis + 3 * k, between);
  }
  asi_cross(x->d + 3, r, once);
  asi_cross(x->d + 3, once, twice);
  for (int k = 0; k < 3; ++k) x->d[k] = r[k] - once[k] / 2.0 + x->g[0] * twice[k];
  return true;
}

/// out += O(n) + half n~, far += O(m) + E(n) + half m~. With a~ b~ = b a^T - (a . b) I,
///
///     O(n) = a w^T + g (w.n) I - g (w x n)~        a = -g n + 2 g1 w x (w x n)
///     O(m) + E(n) = b w^T + a u^T + (g (w.m + u.n) + k (w.n)) I - (g (w x m + u x n) + k w x n)~
///     b = -g m - k n + 2 g1 (w x (w x m + u x n) + u x (w x n)) + 4 g2 (w.u) w x (w x n)        k = 2 g1 (w.u)
ASI_INLINED void add_odd(const relation *x, const double *n, const double *m, double half,
                         double *out, double *far) {
  const double *u = x->d, *w = x->d + 3, *g = x->g, wu = asi_dot(w, u);
  const double k = 2.0 * g[1] * wu;
  double wn[3], wwn[3], turn[3], a[3], b[3], skew[3];
  asi_cross(w, n, wn);
  asi_cross(w, wn, wwn);
  asi_cross(w, m, turn);
  asi_add_cross(1.0, u, n, turn);
  asi_cross(w, turn, b);
  asi_add_cross(1.0, u, wn, b);
  for (int i = 0; i < 3; ++i) {
    a[i] = 2.0 * g[1] * wwn[i] - g[0] * n[i];
    b[i] = 2.0 * g[1] * b[i] + 4.0 * g[2] * wu * wwn[i] - g[0] * m[i] - k * n[i];
    skew[i] = half * n[i] - g[0] * wn[i];
    turn[i] = half * m[i] - g[0] * turn[i] - k * wn[i];
  }
  const double gwn = g[0] * asi_dot(w, n);
  asi_add_outer(1.0, a, w, out, N);
  asi_add_identity(gwn, out, N);
  asi_add_skew(1.0, skew, out, N);
  asi_add_outer(1.0, b, w, far, N);
  asi_add_outer(1.0, a, u, far, N);
  asi_add_identity(g[0] * (asi_dot(w, m) + asi_dot(u, n)) + k * asi_dot(w, n), far, N);
  asi_add_skew(1.0, turn, far, N);
}

/// out += W(d; stress)
ASI_INLINED void add_W(const relation *x, const double *stress, double *out) {
  double On[3 * N] = {0};
  add_odd(x, stress, stress + 3, 0.5, On, out + 3 * N + 3);
  for (int i = 0; i < 3; ++i) {
    asi_add(1.0, On + N * i, out + N * i + 3);
    asi_add(1.0, On + N * i, out + N * (i + 3));
  }
}

/// Y(d; moving)
static void set_Y(const relation *x, const double *moving, double *out) {
  memset(out, 0, N * N * sizeof *out);
  add_odd(x, moving + 3, moving, -0.5, out, out + 3);
  for (int i = 0; i < 3; ++i) asi_copy(out + N * i, out + N * (i + 3) + 3);
}

/// What an evaluation needs.
typedef struct bend {
  relation x;
  asi_beam_strain at;
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

ASI_INLINED int measure(const asi_beam *b, const as_element_input *in, bend *at) {
  double rate[N] = {0.0};
  if (!relate(b, in->body, &at->x))
    return asi_retry(in, "its ends are turned by half a turn, where their rotation has no value");
  if (!(at->x.d[0] > 0.0)) return asi_retry(in, "it is pressed together to nothing");
  asi_beam_set_S(at->x.d, at->x.g, at->x.S);
  if (b->damped) {
    set_moving(b, in, at);
    times(at->x.S, false, at->moving, rate);
  }
  if (!asi_beam_stress(b, at->x.d, b->damped ? rate : NULL, &at->at))
    return asi_retry(in, "it is strained so far that it has no stiffness");
  times(at->x.S, true, at->at.stress, at->wrench);
  for (int k = 0; k < N; ++k) at->wrench[k] = -at->wrench[k];
  return AS_DONE;
}

ASI_INLINED void add_force(const asi_beam *b, const bend *at, double *force) {
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
ASI_INLINED void set_torque_rows(double sign, const double *H, const double *arm, double *out) {
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
ASI_INLINED void turn_rows(const double *restrict Tt, double *restrict rows) {
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

/// Tt^T v
ASI_INLINED void turn_two(const double *Tt, const asi_simd2 v[3], asi_simd2 out[3]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i)
    out[i] = asi_simd_splat(Tt[i]) * v[0] + asi_simd_splat(Tt[3 + i]) * v[1] +
             asi_simd_splat(Tt[6 + i]) * v[2];
}

/// out = v - u x arm
ASI_INLINED void shift_two(const double *arm, const asi_simd2 u[3], const asi_simd2 v[3],
                           asi_simd2 out[3]) {
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const int y = (i + 1) % 3, z = (i + 2) % 3;
    out[i] = v[i] - (u[y] * asi_simd_splat(arm[z]) - u[z] * asi_simd_splat(arm[y]));
  }
}

ASI_INLINED void add_pair(double *to, asi_simd2 two) {
  asi_simd_store(to, asi_simd_load(to) + two);
}

/// The columns of the bodies' moves of two rows, of -(u delta_u + w delta_w + e w_B), added to rows of `out`; the first `minus` of
/// them subtracted from those of body A.
ASI_INLINED void add_two(const asi_beam *b, const relation *x, const double *rows, int minus,
                         double *first, double *second) {
  asi_simd2 h[9], column[ASI_PAIR], a[3], c[3];
#pragma GCC unroll 9
  for (int j = 0; j < 9; ++j) h[j] = (asi_simd2){rows[j], rows[ROW + j]};
  turn_two(x->Et, h, column);
  shift_two(x->arm[0], h, h + 3, a);
  turn_two(x->Qt, a, column + 3);
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) column[6 + j] = -column[j];
  if (b->centered) {
    for (int j = 0; j < 3; ++j) c[j] = h[3 + j];
  } else {
    shift_two(x->arm[1], h, h + 3, c);
  }
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j) c[j] = -c[j] - h[6 + j];
  if (b->tilted[1]) {
    turn_two(b->frame[1].axis, c, column + 9);
  } else {
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) column[9 + j] = c[j];
  }
#pragma GCC unroll 6
  for (int j = 0; j < ASI_PAIR; j += 2) {
    const asi_simd2 one = asi_simd_unpack_low(column[j], column[j + 1]);
    const asi_simd2 two = asi_simd_unpack_high(column[j], column[j + 1]);
    add_pair(first + j, one);
    if (second) add_pair(second + j, two);
    if (minus > 0) add_pair(first - 6 * ASI_PAIR + j, -one);
    if (minus > 1) add_pair(second - 6 * ASI_PAIR + j, -two);
  }
}

/// Adds what H means for moves and forces of the bodies; the force, which turns with them, where it is given.
ASI_INLINED void add_moves(const asi_beam *b, const relation *x, const double *H,
                           const double *wrench, double *out) {
  double rows[10 * ROW]; // one to make it even
  memcpy(rows, H, 3 * ROW * sizeof *rows);
  memset(rows + 9 * ROW, 0, ROW * sizeof *rows);
  set_torque_rows(-1.0, H, x->arm[0], rows + 3 * ROW);
  if (b->centered)
    memcpy(rows + 6 * ROW, H + 3 * ROW, 3 * ROW * sizeof *rows);
  else
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
  double *const torque[2] = {out + 3 * ASI_PAIR, out + 9 * ASI_PAIR}, *const pull =
                                                                          out + 6 * ASI_PAIR;
  add_two(b, x, rows, 2, pull, pull + ASI_PAIR);
  add_two(b, x, rows + 2 * ROW, 1, pull + 2 * ASI_PAIR, torque[0]);
  add_two(b, x, rows + 4 * ROW, 0, torque[0] + ASI_PAIR, torque[0] + 2 * ASI_PAIR);
  add_two(b, x, rows + 6 * ROW, 0, torque[1], torque[1] + ASI_PAIR);
  add_two(b, x, rows + 8 * ROW, 0, torque[1] + 2 * ASI_PAIR, NULL);
}

/// H = A S for delta; e is zero.
ASI_INLINED void set_rows(const double *A, const double *S, double *H) {
  put_product(false, A, S, H, ROW);
  for (int i = 0; i < N; ++i) memset(H + i * ROW + N, 0, (ROW - N) * sizeof *H);
}

ASI_INLINED void add_tangents(const asi_beam *b, const bend *at, double *f_q, double *f_v) {
  const relation *x = &at->x;
  double K[N * N], damping[N * N], C[N * N], left[N * N], T[N * ROW], H[N * ROW];
  asi_beam_stress_tangents(b, &at->at, K, b->damped ? damping : NULL);
  if (b->damped) {
    set_transposed_product(x->S, damping, C);
    set_rows(C, x->S, T);
  }
  if (f_q) {
    set_transposed_product(x->S, K, left);
    add_W(x, at->at.stress, left);
    if (b->damped) {
      double Y[N * N];
      set_Y(x, at->moving, Y);
      put_product(true, C, Y, left, N);
    }
    set_rows(left, x->S, H);
    for (int i = 0; i < N && b->damped; ++i) {
      const double *u = T + i * ROW, *w = u + 3;
      double *const h = H + i * ROW, turn[3];
      asi_cross(x->arm[0], at->spin, turn);
      asi_add_cross(-1.0, u, at->spin, h);
      asi_add_cross(1.0, u, turn, h + 3);
      asi_add_cross(-1.0, w, at->spin, h + 3);
      asi_add_cross(1.0, u, at->apart, h + 6);
    }
    add_moves(b, x, H, at->wrench, f_q);
  }
  if (f_v && b->damped) add_moves(b, x, T, NULL, f_v);
}

ASI_TWICE static int evaluate(const as_element_input *in, const as_element_output *out,
                              const void *data) {
  const asi_beam *b = data;
  bend at;
  const int code = measure(b, in, &at);
  if (code) return code;
  if (out->force) add_force(b, &at, out->force);
  if (out->f_q || (out->f_v && b->damped)) add_tangents(b, &at, out->f_q, out->f_v);
  if (b->heavy) asi_beam_add_inertia(b, in, out);
  return b->loaded ? asi_beam_add_load(b, in, out) : AS_DONE;
}

static double product(const double *a, const double *b) {
  return asi_dot(a, b) + asi_dot(a + 3, b + 3);
}

static double potential(const as_element_input *in, const void *data) {
  const asi_beam *b = data;
  bend at;
  if (measure(b, in, &at)) return (double)NAN;
  const double weight = b->heavy ? asi_beam_weight_potential(b, in) : 0.0;
  return b->length * product(at.at.y, at.at.strain) / 2.0 + weight;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_beam *b = data;
  bend at;
  out->supplied = b->loaded ? asi_beam_load_power(b, in) : 0.0;
  out->dissipated = 0.0;
  if (measure(b, in, &at))
    out->dissipated = (double)NAN;
  else if (b->damped)
    out->dissipated = b->tau * b->length * product(at.at.r, at.at.s);
}

// ---- rest shape -------------------------------------------------------------------------------------

static bool is_unit(const double *A) {
  for (int i = 0; i < 9; ++i)
    if (A[i] != (i % 4 == 0 ? 1.0 : 0.0)) return false;
  return true;
}

bool asi_beam_shape(asi_beam *beam, const as_body_motion *a, const as_body_motion *b) {
  const as_body_motion *const body[2] = {a, b};
  relation rest;
  for (int e = 0; e < 2; ++e) beam->tilted[e] = !is_unit(beam->frame[e].axis);
  beam->centered = asi_norm(beam->frame[0].p) == 0.0 && asi_norm(beam->frame[1].p) == 0.0;
  if (!relate(beam, body, &rest)) return false;
  memcpy(beam->rest, rest.d, sizeof beam->rest);
  asi_beam_set_load_axes(beam);
  beam->length = asi_norm(beam->rest);
  for (int e = 0; e < 2; ++e) {
    asi_copy(beam->frame[e].p, beam->arm[2 * e]);
    asi_set(0.0, 0.0, 0.0, beam->arm[2 * e + 1]);
    for (int k = 0; k < 3; ++k)
      asi_add(rest.d[k], beam->frame[e].axis + 3 * k, beam->arm[2 * e + 1]);
  }
  return beam->length > 0.0;
}

// ---- results ----------------------------------------------------------------------------------------

/// [BE.11] without what acts in between: N_A = S(-d)^T N and N_B = S(d)^T N
int asi_beam_ends(const asi_beam *b, const as_element_input *in, double end[2][ASI_BEAM],
                  double strain[ASI_BEAM]) {
  bend at;
  const int code = measure(b, in, &at);
  if (code) return code;
  for (int e = 0; e < 2; ++e) {
    double S[N * N], d[N];
    for (int k = 0; k < N; ++k) d[k] = e ? at.x.d[k] : -at.x.d[k];
    asi_beam_set_S(d, at.x.g, S);
    times(S, true, at.at.stress, end[e]);
  }
  memcpy(strain, at.at.strain, sizeof at.at.strain);
  return AS_DONE;
}

const as_element_type asi_beam_type = {"beam", evaluate, potential, power};
