#include "lie/se3.h"

#include "lie/rotation.h"

// [LG.9] (x1, R1)(x2, R2) = (x1 + R1 x2, R1 R2)
void asi_se3_compose(const double *q1, const double *q2, double *out) {
  double shift[3];
  asi_so3_rotate(q1 + 3, q2, shift);
  for (int i = 0; i < 3; i++) out[i] = q1[i] + shift[i];
  asi_so3_compose(q1 + 3, q2 + 3, out + 3);
}

// [LG.9] (x, R)^-1 = (-R^T x, R^T)
void asi_se3_inverse(const double *q, double *out) {
  double x[3];
  asi_so3_rotate_back(q + 3, q, x);
  for (int i = 0; i < 3; i++) out[i] = -x[i];
  asi_so3_inverse(q + 3, out + 3);
}

// [LG.9] (x0, R0)^-1 (x1, R1) = (R0^T (x1 - x0), R0^T R1): the difference first, so that a pair far
// from the origin loses nothing
void asi_se3_between(const double *q0, const double *q1, double *out) {
  double x[3], inverse[4];
  for (int i = 0; i < 3; i++) x[i] = q1[i] - q0[i];
  asi_so3_rotate_back(q0 + 3, x, x);
  asi_so3_inverse(q0 + 3, inverse);
  asi_so3_compose(inverse, q1 + 3, out + 3);
  for (int i = 0; i < 3; i++) out[i] = x[i];
}

// [LG.10] exp(u, w) = (T(w)^T u, exp(w))
void asi_se3_exp(const double *xi, double *q) {
  asi_so3_tangent_transposed_times(xi + 3, xi, q);
  asi_so3_exp(xi + 3, q + 3);
}

// [LG.14] (x, R) o exp(u, w) = (x + R T(w)^T u, R exp(w))
void asi_se3_move(const double *q, const double *xi, double *out) {
  double shift[3];
  asi_so3_tangent_transposed_times(xi + 3, xi, shift);
  asi_so3_rotate(q + 3, shift, shift);
  asi_so3_move(q + 3, xi + 3, out + 3);
  for (int i = 0; i < 3; i++) out[i] = q[i] + shift[i];
}

// [LG.10] log(x, R) = (T(w)^-T x, w) with w = log(R)
void asi_se3_log(const double *q, double *xi) {
  asi_so3_log(q + 3, xi + 3);
  asi_so3_tangent_transposed_solve(xi + 3, q, xi);
}

// [LG.11] U = -b u~ + c (u~ w~ + w~ u~) + (w.u)(-p w~ + r w~^2)
static void coupling(const double *xi, double *m) {
  const double *u = xi, *w = xi + 3;
  const double s = asi_dot3(w, w), wu = asi_dot3(w, u);
  double b, c, p, r, odd[3], even[9];
  asi_so3_coefficients(s, &b, &c);
  asi_so3_coefficient_rates(s, &p, &r);
  for (int i = 0; i < 3; i++) odd[i] = -b * u[i] - wu * p * w[i];
  // u~ w~ + w~ u~ = w u^T + u w^T - 2 (w.u) I, w~^2 = w w^T - s I
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    even[4 * i] = -2.0 * c * (w[j] * u[j] + w[k] * u[k]) - wu * r * (w[j] * w[j] + w[k] * w[k]);
    even[3 * i + j] = c * (w[i] * u[j] + u[i] * w[j]) + wu * r * w[i] * w[j];
    even[3 * j + i] = even[3 * i + j];
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    m[4 * i] = even[4 * i];
    m[3 * j + k] = even[3 * j + k] - odd[i]; // row j, column k of odd~ is -odd_i
    m[3 * k + j] = even[3 * k + j] + odd[i];
  }
}

// [LG.11] T(xi) = [T(w) U; 0 T(w)]
void asi_se3_tangent(const double *xi, double *t, double *u) {
  asi_so3_tangent(xi + 3, t);
  coupling(xi, u);
}

static void add_coupling_times(const double *xi, double sign, const double *v, double *out) {
  double u[9];
  coupling(xi, u);
  for (int i = 0; i < 3; i++) out[i] += sign * asi_dot3(u + 3 * i, v);
}

// [LG.11] T(xi) (v, z) = (T v + U z, T z)
void asi_se3_tangent_times(const double *xi, const double *v, double *out) {
  double x[6];
  asi_so3_tangent_times(xi + 3, v, x);
  asi_so3_tangent_times(xi + 3, v + 3, x + 3);
  add_coupling_times(xi, 1.0, v + 3, x);
  for (int i = 0; i < 6; i++) out[i] = x[i];
}

// [LG.12] T(xi)^-1 (v, z) = (T^-1 (v - U y), y) with y = T^-1 z
void asi_se3_tangent_solve(const double *xi, const double *v, double *out) {
  double x[6] = {v[0], v[1], v[2]};
  asi_so3_tangent_solve(xi + 3, v + 3, x + 3);
  add_coupling_times(xi, -1.0, x + 3, x);
  asi_so3_tangent_solve(xi + 3, x, x);
  for (int i = 0; i < 6; i++) out[i] = x[i];
}

// [LG.13] [(u1, w1), (u2, w2)] = (w1 x u2 - w2 x u1, w1 x w2)
void asi_se3_bracket(const double *a, const double *b, double *out) {
  double au[3], bu[3];
  asi_cross3(a + 3, b, au);
  asi_cross3(b + 3, a, bu);
  asi_cross3(a + 3, b + 3, out + 3);
  for (int i = 0; i < 3; i++) out[i] = au[i] - bu[i];
}
