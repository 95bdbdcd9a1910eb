#include "lie/rotation.h"

#include <math.h>

#include "base/simd.h"

/// Two quaternions, number by number.
typedef struct quaternions {
  asi_simd2 w, x, y, z;
} quaternions;

ASI_INLINED asi_simd2 pair(const double *a, const double *b) { return (asi_simd2){*a, *b}; }

ASI_INLINED quaternions load(const double *a, const double *b) {
  return (quaternions){pair(a, b), pair(a + 1, b + 1), pair(a + 2, b + 2), pair(a + 3, b + 3)};
}

ASI_INLINED void store(const quaternions *q, int which, double *out) {
  out[0] = q->w[which];
  out[1] = q->x[which];
  out[2] = q->y[which];
  out[3] = q->z[which];
}

// [LG.1] (a, x)(b, y) = (ab - x.y, a y + b x + x x y)
ASI_INLINED quaternions compose(quaternions a, quaternions b) {
  return (quaternions){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z, a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x};
}

void asi_so3_compose(const double *q1, const double *q2, double *out) {
  const quaternions q = compose(load(q1, q1), load(q2, q2));
  store(&q, 0, out);
}

// [LG.1] (a, x)^-1 = (a, -x)
void asi_so3_inverse(const double *q, double *out) {
  out[0] = q[0];
  for (int i = 1; i < 4; i++) out[i] = -q[i];
}

// 1/sqrt(1 + e) = 1 - e/2 + 3 e^2/8: products of unit quaternions need no root.
static const double almost_one = 1e-16; // e^2

static double inverse_root(double square) {
  const double e = square - 1.0;
  return e * e < almost_one ? 1.0 - 0.5 * e : 1.0 / sqrt(square);
}

ASI_INLINED asi_simd2 squares(quaternions q) {
  return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
}

ASI_INLINED quaternions scale(asi_simd2 factor, quaternions q) {
  return (quaternions){factor * q.w, factor * q.x, factor * q.y, factor * q.z};
}

ASI_INLINED quaternions normalize(quaternions q) {
  const asi_simd2 square = squares(q), e = square - asi_simd_splat(1.0);
  asi_simd2 factor = asi_simd_splat(1.0) - asi_simd_splat(0.5) * e;
  if (!asi_simd_is_below(e * e, almost_one))
    factor = (asi_simd2){inverse_root(square[0]), inverse_root(square[1])};
  return scale(factor, q);
}

void asi_so3_normalize(double *q) {
  const quaternions one = normalize(load(q, q));
  store(&one, 0, q);
}

// [LG.2] R v = v + a y + x x y with y = 2 x x v
static void rotate(double a, const double *x, const double *v, double *out) {
  double y[3], xy[3];
  asi_cross3(x, v, y);
  for (int i = 0; i < 3; i++) y[i] *= 2.0;
  asi_cross3(x, y, xy);
  for (int i = 0; i < 3; i++) out[i] = v[i] + (a * y[i] + xy[i]);
}

void asi_so3_rotate(const double *q, const double *v, double *out) { rotate(q[0], q + 1, v, out); }

void asi_so3_rotate_back(const double *q, const double *v, double *out) {
  rotate(-q[0], q + 1, v, out); // (-a, x) is the inverse too
}

// sin(x)/x keeps its accuracy down to the smallest x: only zero itself is special.
static double sinc(double x) { return x == 0.0 ? 1.0 : sin(x) / x; }

/// From the largest of its four numbers, which the diagonal tells: 4 w^2 = 1 + tr R, 4 x^2 = 1 + 2 R_xx - tr R ...
void asi_so3_from_matrix(const double *r, double *q) {
  const double trace = r[0] + r[4] + r[8];
  const double four[4] = {1.0 + trace, 1.0 + 2.0 * r[0] - trace, 1.0 + 2.0 * r[4] - trace,
                          1.0 + 2.0 * r[8] - trace};
  int k = 0;
  for (int i = 1; i < 4; ++i)
    if (four[i] > four[k]) k = i;
  const double wx = r[7] - r[5], wy = r[2] - r[6], wz = r[3] - r[1]; // 4 w x ...
  const double xy = r[1] + r[3], xz = r[2] + r[6], yz = r[5] + r[7];
  const double row[4][4] = {
      {four[0], wx, wy, wz}, {wx, four[1], xy, xz}, {wy, xy, four[2], yz}, {wz, xz, yz, four[3]}};
  for (int i = 0; i < 4; ++i) q[i] = row[k][i];
  asi_so3_normalize(q);
}

// 1/n! for the series [LG.6]
static const double inverse_factorial[] = {
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
    1.0 / 87178291200.0,
    1.0 / 1307674368000.0,
    1.0 / 20922789888000.0,
    1.0 / 355687428096000.0,
    1.0 / 6402373705728000.0,
    1.0 / 121645100408832000.0,
    1.0 / 2432902008176640000.0,
    1.0 / 51090942171709440000.0,
    1.0 / 1124000727777607680000.0,
    1.0 / 25852016738884976640000.0,
    1.0 / 620448401733239439360000.0,
    1.0 / 15511210043330985984000000.0,
    1.0 / 403291461126605635584000000.0,
    1.0 / 10888869450418352160768000000.0,
    1.0 / 304888344611713860501504000000.0,
    1.0 / 8841761993739701954543616000000.0,
    1.0 / 265252859812191058636308480000000.0,
    1.0 / 8222838654177922817725562880000000.0,
};

// Up to this squared half angle, 0.5 rad a time step, seven terms of cos and sinc leave nothing.
static const double short_limit = 0.0625;
// Below this one, 0.04 rad, four do.
static const double shortest_limit = 0x1p-11;

/// sum_k (-s)^k / (2k + n)! of two s, each with its n, so many terms; even and odd k apart, which need not wait for each
/// other.
ASI_INLINED asi_simd2 series(asi_simd2 s, int n0, int n1, int terms) {
  const asi_simd2 s2 = s * s;
  asi_simd2 part[2] = {{0.0, 0.0}, {0.0, 0.0}};
  for (int k = terms - 1; k >= 0; k--) {
    asi_simd2 sum = {inverse_factorial[2 * k + n0], inverse_factorial[2 * k + n1]};
    if (k + 2 < terms) sum += s2 * part[k % 2];
    part[k % 2] = sum;
  }
  return part[0] - s * part[1];
}

/// Two rotation vectors, and the squares of half their angles.
typedef struct turns {
  asi_simd2 x, y, z, u;
} turns;

ASI_INLINED turns load_turns(const double *a, const double *b) {
  const asi_simd2 x = pair(a, b), y = pair(a + 1, b + 1), z = pair(a + 2, b + 2);
  return (turns){x, y, z, asi_simd_splat(0.25) * (x * x + y * y + z * z)};
}

// [LG.3] exp(w) = (cos(th/2), sin(th/2)/th w)
ASI_INLINED quaternions exp_by(turns w, asi_simd2 cosine, asi_simd2 sine_over) {
  const asi_simd2 k = asi_simd_splat(0.5) * sine_over;
  return (quaternions){cosine, k * w.x, k * w.y, k * w.z};
}

/// The cosine of half an angle, and its sine over it.
ASI_INLINED asi_simd2 half_angle(double u) {
  if (u < shortest_limit) return series(asi_simd_splat(u), 0, 1, 4);
  if (u <= short_limit) return series(asi_simd_splat(u), 0, 1, 7);
  return (asi_simd2){cos(sqrt(u)), sinc(sqrt(u))};
}

ASI_INLINED quaternions exp_of(turns w) {
  const asi_simd2 first = half_angle(w.u[0]), second = half_angle(w.u[1]);
  return exp_by(w, asi_simd_unpack_low(first, second), asi_simd_unpack_high(first, second));
}

void asi_so3_exp(const double *w, double *q) {
  const quaternions e = exp_of(load_turns(w, w));
  store(&e, 0, q);
}

// [LG.14] for any angles and any quaternions
static __attribute__((noinline)) void move_any(const double *q1, const double *w1, const double *q2,
                                               const double *w2, double *out1, double *out2) {
  const quaternions q = normalize(compose(load(q1, q2), exp_of(load_turns(w1, w2))));
  store(&q, 0, out1);
  store(&q, 1, out2);
}

// [LG.14] here for the angles of small steps
void asi_so3_move_two(const double *q1, const double *w1, const double *q2, const double *w2,
                      double *out1, double *out2) {
  const turns w = load_turns(w1, w2);
  if (asi_simd_is_below(w.u, shortest_limit)) {
    const quaternions e = exp_by(w, series(w.u, 0, 0, 4), series(w.u, 1, 1, 4));
    const quaternions q = compose(load(q1, q2), e);
    const asi_simd2 excess = squares(q) - asi_simd_splat(1.0);
    if (asi_simd_is_below(excess * excess, almost_one)) {
      const quaternions unit = scale(asi_simd_splat(1.0) - asi_simd_splat(0.5) * excess, q);
      store(&unit, 0, out1);
      store(&unit, 1, out2);
      return;
    }
  }
  move_any(q1, w1, q2, w2, out1, out2);
}

void asi_so3_move(const double *q, const double *w, double *out) {
  asi_so3_move_two(q, w, q, w, out, out);
}

// [LG.4] log((a, x)) = 2 atan2(|x|, a)/|x| x, with (-a, -x) in place of (a, x) if a < 0
void asi_so3_log(const double *q, double *w) {
  const double sign = q[0] < 0.0 ? -1.0 : 1.0;
  const double a = sign * q[0];
  const double n = sqrt(asi_dot3(q + 1, q + 1));
  // An n that has lost digits to underflow cancels: atan2(n, a) is n/a there.
  const double k = sign * 2.0 * (n > 0.0 ? atan2(n, a) / n : 1.0 / a);
  const double x = k * q[1], y = k * q[2], z = k * q[3];
  w[0] = x;
  w[1] = y;
  w[2] = z;
}

// Below this squared angle (just above pi^2) c, p and r are summed as series: their closed forms
// cancel, while the terms of the series add up to at most four times the sum.
static const double series_limit = 10.0;

// As many terms as leave a remainder below 1e-17 of the sum; a time step's angle needs few.
static int series_terms(double s) { return s < 0.01 ? 5 : 14; }

// [LG.5] b = (1 - cos th)/th^2 = sinc(th/2)^2/2, c = (th - sin th)/th^3
// [LG.6] c = sum_k (-s)^k/(2k+3)!, b = sum_k (-s)^k/(2k+2)!, the latter up to the angles of a time step
static void long_coefficients(double s, double *b, double *c) {
  const double th = sqrt(s);
  const double half_sinc = sinc(0.5 * th);
  *b = 0.5 * half_sinc * half_sinc;
  if (s < series_limit) {
    double sum = 0.0;
    for (int k = series_terms(s) - 1; k >= 0; k--) sum = inverse_factorial[2 * k + 3] - s * sum;
    *c = sum;
  } else {
    *c = (1.0 - sinc(th)) / s;
  }
}

ASI_INLINED void coefficients(double s, double *b, double *c) {
  if (s > short_limit) {
    long_coefficients(s, b, c);
    return;
  }
  const asi_simd2 both = series(asi_simd_splat(s), 2, 3, 7);
  *b = both[0];
  *c = both[1];
}

void asi_so3_coefficients(double s, double *b, double *c) { coefficients(s, b, c); }

// [LG.7] p = 2 db/ds = (sinc th - 2b)/s, r = 2 dc/ds = (b - 3c)/s
// [LG.6] p = -sum_k (-s)^k (2k+2)/(2k+4)!, r = -sum_k (-s)^k (2k+2)/(2k+5)!
void asi_so3_coefficient_rates(double s, double *p, double *r) {
  if (s < series_limit) {
    double p_sum = 0.0, r_sum = 0.0;
    for (int k = series_terms(s) - 1; k >= 0; k--) {
      p_sum = (2 * k + 2) * inverse_factorial[2 * k + 4] - s * p_sum;
      r_sum = (2 * k + 2) * inverse_factorial[2 * k + 5] - s * r_sum;
    }
    *p = -p_sum;
    *r = -r_sum;
  } else {
    double b, c;
    asi_so3_coefficients(s, &b, &c);
    *p = (sinc(sqrt(s)) - 2.0 * b) / s;
    *r = (b - 3.0 * c) / s;
  }
}

// v + k1 w x v + k2 w x (w x v): the form of T, T^-1 and their transposes
static void quadratic_times(const double *w, double k1, double k2, const double *v, double *out) {
  double wv[3], wwv[3];
  asi_cross3(w, v, wv);
  asi_cross3(w, wv, wwv);
  for (int i = 0; i < 3; i++) out[i] = v[i] + (k1 * wv[i] + k2 * wwv[i]);
}

// [LG.5] T(w) = I - b w~ + c w~^2
void asi_so3_tangent(const double *w, double *t) {
  double b, c;
  const double x = w[0], y = w[1], z = w[2];
  coefficients(asi_dot3(w, w), &b, &c);
  t[0] = 1.0 - c * (y * y + z * z);
  t[1] = c * x * y + b * z;
  t[2] = c * x * z - b * y;
  t[3] = c * x * y - b * z;
  t[4] = 1.0 - c * (x * x + z * z);
  t[5] = c * y * z + b * x;
  t[6] = c * x * z + b * y;
  t[7] = c * y * z - b * x;
  t[8] = 1.0 - c * (x * x + y * y);
}

// [LG.5] T(w) v
void asi_so3_tangent_times(const double *w, const double *v, double *out) {
  double b, c;
  coefficients(asi_dot3(w, w), &b, &c);
  quadratic_times(w, -b, c, v, out);
}

// [LG.5] T(w)^T v = T(-w) v
void asi_so3_tangent_transposed_times(const double *w, const double *v, double *out) {
  double b, c;
  coefficients(asi_dot3(w, w), &b, &c);
  quadratic_times(w, b, c, v, out);
}

// [LG.8] d(s) = (1 - (th/2) cot(th/2))/th^2 = (b(s/4) - c(s/4)) / (4 sinc(th/2))
static double inverse_coefficient(double s) {
  double b, c;
  coefficients(0.25 * s, &b, &c);
  return (b - c) / (4.0 * sinc(0.5 * sqrt(s)));
}

// [LG.8] T(w)^-1 = I + w~/2 + d w~^2
void asi_so3_tangent_solve(const double *w, const double *v, double *out) {
  quadratic_times(w, 0.5, inverse_coefficient(asi_dot3(w, w)), v, out);
}

// [LG.8] T(w)^-T = T(-w)^-1
void asi_so3_tangent_transposed_solve(const double *w, const double *v, double *out) {
  quadratic_times(w, -0.5, inverse_coefficient(asi_dot3(w, w)), v, out);
}
