/// Kinematics of an interface node of a flexible body.
///
/// [FB.1] H = H_0 exp(d), d = (u, w) = (X_i - X_0 + z_u, z_w)
///
/// With exp(d) = (r, E), r = T(w)^T u and J = D_z r,
///
///     x = x_0 + R_0 r                          R = R_0 E
///     v = v_0 + R_0 (omega_0 x r + J z')       omega = E^T omega_0 + T(w) z_w'
///
/// so that (v; omega) = P (v_0; omega_0; z'), and a wrench f = (F world, tau) acts as P^T f:
///
///     on the frame F and r x R_0^T F + E tau,  on z  J^T R_0^T F + (0; T^T tau)
///
/// D_q of P^T f needs D_z (J^T b), the Hessian of b . r(z), which D_z (J z') is made of, too. With s = |w|^2, T = I - b w~ + c w~^2,
/// n = u x a, k = a (u.w) + u (a.w) - 2 (a.u) w, and for r = u + b w x u + c w x (w x u),
///
///     uw: D_w (T a)
///     ww: (4 b'' w.n + 4 c'' t) w w^T + 2 (b' w.n + c' t) I + 2 b' (w n^T + n w^T) + 2 c' (w k^T + k w^T)
///         + c (a u^T + u a^T - 2 (a.u) I),      t = (a.w)(u.w) - (a.u) s
///
/// A node without rotations has r = X_i - X_0 + z, J = I, and is a point.
#include "elements/view.h"

#include <string.h>

#include "elements/node.h"
#include "elements/vector.h"
#include "lie/rotation.h"

/// 4 d2/ds2 of b and c: sum (-1)^k k (k-1) s^(k-2) / (2k+2)! and / (2k+3)!, which is exact to a turn.
static void second_rates(double s, double *b, double *c) {
  double term = 1.0 / 720.0; // s^(k-2)/(2k+2)!
  *b = *c = 0.0;
  for (int k = 2; k < 30; ++k) {
    const double size = 4.0 * k * (k - 1) * term;
    *b += size;
    *c += size / (2 * k + 3);
    if (fabs(size) < 1e-20) break;
    term *= -s / ((2.0 * k + 3.0) * (2.0 * k + 4.0));
  }
}

/// D_z (J^T a), 6 x 6, symmetric.
static void hessian(const asi_view_now *now, const double *a, double *out) {
  const double *u = now->u, *w = now->w, s = asi_dot(w, w), au = asi_dot(a, u);
  double b, c, b1, c1, b2, c2, n[3], k[3], mixed[9]; // b1 = 2 b', b2 = 4 b''
  memset(out, 0, 36 * sizeof *out);
  if (!now->rotates) return;
  asi_so3_coefficients(s, &b, &c);
  asi_so3_coefficient_rates(s, &b1, &c1);
  second_rates(s, &b2, &c2);
  asi_tangent_rate(w, a, false, mixed);
  asi_add_matrix(1.0, mixed, out + 3, 6);
  asi_add_transposed(1.0, mixed, out + 18, 6);
  asi_cross(u, a, n);
  for (int i = 0; i < 3; ++i) k[i] = a[i] * asi_dot(u, w) + u[i] * asi_dot(a, w) - 2.0 * au * w[i];
  const double wn = asi_dot(w, n), t = asi_dot(a, w) * asi_dot(u, w) - au * s;
  double *ww = out + 21;
  asi_add_outer(b2 * wn + c2 * t, w, w, ww, 6);
  asi_add_identity(b1 * wn + c1 * t - 2.0 * c * au, ww, 6);
  asi_add_outer(b1, w, n, ww, 6);
  asi_add_outer(b1, n, w, ww, 6);
  asi_add_outer(c1, w, k, ww, 6);
  asi_add_outer(c1, k, w, ww, 6);
  asi_add_outer(c, a, u, ww, 6);
  asi_add_outer(c, u, a, ww, 6);
}

static void set_J(asi_view_now *now) {
  double by_w[9];
  memset(now->J, 0, sizeof now->J);
  if (!now->rotates) {
    asi_add_identity(1.0, now->J, 6);
    return;
  }
  asi_tangent_rate(now->w, now->u, true, by_w);
  asi_add_transposed(1.0, now->T, now->J, 6);
  asi_add_matrix(1.0, by_w, now->J + 3, 6);
}

/// J b, of six numbers
static void times_J(const asi_view_now *now, const double *b, double *out) {
  for (int i = 0; i < 3; ++i)
    out[i] = asi_dot(now->J + 6 * i, b) + asi_dot(now->J + 6 * i + 3, b + 3);
}

/// out += J^T a
static void add_J_back(const asi_view_now *now, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) {
    asi_add(a[i], now->J + 6 * i, out);
    asi_add(a[i], now->J + 6 * i + 3, out + 3);
  }
}

void asi_view_look(const asi_view *view, const double *q, const double *v, asi_view_now *now) {
  double quaternion[4];
  now->rotates = view->rotates;
  asi_so3_matrix(q + view->q + 3, now->R0);
  asi_sum(view->rest, 1.0, q + view->z_q, now->u);
  memset(now->w, 0, sizeof now->w);
  memset(now->z1, 0, sizeof now->z1);
  memset(now->omega0, 0, sizeof now->omega0);
  if (view->rotates) asi_copy(q + view->z_q + 3, now->w);
  if (v) {
    asi_copy(v + view->v + 3, now->omega0);
    memcpy(now->z1, v + view->z_v, (view->rotates ? 6 : 3) * sizeof *now->z1);
  }
  asi_so3_exp(now->w, quaternion);
  asi_so3_matrix(quaternion, now->E);
  asi_so3_tangent(now->w, now->T);
  asi_rotate_back(now->T, now->u, now->r);
  set_J(now);
  times_J(now, now->z1, now->Jz1);
  asi_tangent_rate(now->w, now->z1 + 3, false, now->spin);
  for (int i = 0; i < 3; ++i) {
    const double e[3] = {i == 0, i == 1, i == 2};
    double H[36];
    hessian(now, e, H);
    for (int j = 0; j < 6; ++j)
      now->Hz1[6 * i + j] = asi_dot(H + 6 * j, now->z1) + asi_dot(H + 6 * j + 3, now->z1 + 3);
  }
}

void asi_view_motion(const asi_view *view, const double *q, const double *v, as_body_motion *out) {
  double R0[9], u[3], r[3], inside[3];
  asi_so3_matrix(q + view->q + 3, R0);
  asi_sum(view->rest, 1.0, q + view->z_q, u);
  const double *w = q + view->z_q + 3, *z1 = v ? v + view->z_v : NULL;
  *out = (as_body_motion){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (view->rotates) {
    double quaternion[4], E[9];
    asi_so3_tangent_transposed_times(w, u, r);
    asi_so3_exp(w, quaternion);
    asi_so3_matrix(quaternion, E);
    asi_multiply(R0, E, out->R);
    if (v) {
      double by_w[9], turned[3];
      asi_rotate_back(E, v + view->v + 3, out->omega);
      asi_so3_tangent_times(w, z1 + 3, turned);
      asi_add(1.0, turned, out->omega);
      asi_so3_tangent_transposed_times(w, z1, inside);
      asi_tangent_rate(w, u, true, by_w);
      asi_rotate(by_w, z1 + 3, turned);
      asi_add(1.0, turned, inside);
    }
  } else {
    asi_copy(u, r);
    if (v) asi_copy(z1, inside);
  }
  asi_rotate(R0, r, out->x);
  asi_add(1.0, q + view->q, out->x);
  if (v == NULL) return;
  asi_add_cross(1.0, v + view->v + 3, r, inside);
  asi_rotate(R0, inside, out->v);
  asi_add(1.0, v + view->v, out->v);
}

void asi_view_quaternion(const asi_view *view, const double *q, double out[4]) {
  double turn[4];
  memcpy(out, q + view->q + 3, 4 * sizeof *out);
  if (!view->rotates) {
    out[0] = 1.0;
    out[1] = out[2] = out[3] = 0.0;
    return;
  }
  asi_so3_exp(q + view->z_q + 3, turn);
  asi_so3_compose(out, turn, out);
}

void asi_view_acceleration(const asi_view *view, const double *q, const double *v,
                           const double *vdot, double out[6]) {
  asi_view_now now;
  double z2[6] = {0}, inside[3], seen[3];
  asi_view_look(view, q, v, &now);
  asi_view_bias(&now, out);
  memcpy(z2, vdot + view->z_v, (view->rotates ? 6 : 3) * sizeof *z2);
  const double *alpha = vdot + view->v + 3;
  times_J(&now, z2, inside);
  asi_add_cross(1.0, alpha, now.r, inside);
  asi_rotate(now.R0, inside, seen);
  asi_add(1.0, seen, out);
  asi_add(1.0, vdot + view->v, out);
  if (!view->rotates) return;
  asi_rotate_back(now.E, alpha, seen);
  asi_add(1.0, seen, out + 3);
  asi_rotate(now.T, z2 + 3, seen);
  asi_add(1.0, seen, out + 3);
}

void asi_view_spread(const asi_view_now *now, const double x[6], double frame[6], double z[6]) {
  double a[3], turned[3];
  asi_rotate_back(now->R0, x, a);
  asi_add(1.0, x, frame);
  asi_add_cross(1.0, now->r, a, frame + 3);
  memset(z, 0, 6 * sizeof *z);
  add_J_back(now, a, z);
  if (!now->rotates) return;
  asi_rotate(now->E, x + 3, turned);
  asi_add(1.0, turned, frame + 3);
  asi_rotate_back(now->T, x + 3, turned);
  asi_add(1.0, turned, z + 3);
}

/// omega_0 x r + J z', seen from the frame
static void inner_velocity(const asi_view_now *now, double *out) {
  asi_copy(now->Jz1, out);
  asi_add_cross(1.0, now->omega0, now->r, out);
}

// D_q v = R_0 [ -(omega_0 x r + J z')~   omega_0~ J + D_z (J z') ],  D_w omega = (E^T omega_0)~ T + D_w (T z_w')
void asi_view_add_rate(const asi_view_now *now, const double x[6], double turn[3], double z[6]) {
  double a[3], c[3], seen[3];
  asi_rotate_back(now->R0, x, a);
  inner_velocity(now, c);
  asi_add_cross(1.0, c, a, turn);
  asi_cross(a, now->omega0, c);
  add_J_back(now, c, z);
  for (int i = 0; i < 3; ++i) {
    asi_add(a[i], now->Hz1 + 6 * i, z);
    asi_add(a[i], now->Hz1 + 6 * i + 3, z + 3);
  }
  if (!now->rotates) return;
  asi_rotate_back(now->E, now->omega0, seen);
  asi_cross(x + 3, seen, c);
  asi_rotate_back(now->T, c, seen);
  asi_add(1.0, seen, z + 3);
  asi_rotate_back(now->spin, x + 3, seen);
  asi_add(1.0, seen, z + 3);
}

void asi_view_bias(const asi_view_now *now, double out[6]) {
  double s[3], a[3], seen[3], rate[3];
  inner_velocity(now, s);
  asi_add(1.0, now->Jz1, s);
  asi_cross(now->omega0, s, a);
  for (int i = 0; i < 3; ++i)
    a[i] += asi_dot(now->Hz1 + 6 * i, now->z1) + asi_dot(now->Hz1 + 6 * i + 3, now->z1 + 3);
  asi_rotate(now->R0, a, out);
  asi_set(0.0, 0.0, 0.0, out + 3);
  if (!now->rotates) return;
  asi_rotate_back(now->E, now->omega0, seen);
  asi_rotate(now->T, now->z1 + 3, rate);
  asi_add_cross(1.0, seen, rate, out + 3);
  asi_rotate(now->spin, now->z1 + 3, rate);
  asi_add(1.0, rate, out + 3);
}

void asi_view_curvature(const asi_view_now *now, const double f[6], double out[81]) {
  double a[3], H[36], turned[9], by_w[9];
  asi_rotate_back(now->R0, f, a);
  memset(out, 0, 81 * sizeof *out);
  asi_add_skew_skew(1.0, now->r, a, out, 9);
  for (int j = 0; j < 6; ++j) { // -a~ J above, J^T a~ below
    double column[3] = {now->J[j], now->J[6 + j], now->J[12 + j]}, product[3];
    asi_cross(column, a, product);
    for (int i = 0; i < 3; ++i) {
      out[9 * i + 3 + j] += product[i];
      out[9 * (3 + j) + i] += product[i];
    }
  }
  hessian(now, a, H);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) out[9 * (3 + i) + 3 + j] += H[6 * i + j];
  if (!now->rotates) return;
  asi_skew_times(f + 3, now->T, turned); // -E tau~ T
  asi_multiply(now->E, turned, by_w);
  asi_add_matrix(-1.0, by_w, out + 6, 9);
  asi_tangent_rate(now->w, f + 3, true, by_w);
  asi_add_matrix(1.0, by_w, out + 60, 9);
}
