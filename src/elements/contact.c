/// A sphere of radius r (or a point, r = 0) on the second body against a plane on the first, with friction.
///
/// The plane goes through P_a across its normal u = R_a a, the centre is P_b. Depth and its rate are a separation row
/// (separation.c), x = r + u . (P_a - P_b). The normal force N(x, x') along u on the second body is penalty.c's:
///
///     f = -N x_q^T,    f_q = -x_q^T (N_x x_q + N_x' x'_q) - N D_q x_q^T,    f_v = -N_x' x_q^T x_q
///
/// Friction acts at Q = P_b - r u, against the velocity there of the second body as the first one sees it. In the first
/// body's axes, with S = R_a^T R_b, y = R_a^T (Q - x_a),
///
///     w   = R_a^T (v_b - v_a) + S (omega_b x p_b) + r a x S omega_b - omega_a x y
///     G   = D_v w = [ -R_a^T   y~   R_a^T   -S p_b~ + r a~ S ]
///
/// s = (I - a a^T) w is the slip. The friction is regularised, smooth everywhere, with e the slip speed:
///
///     phi = mu N h,   h = s/rho,   rho = sqrt(s . s + e^2),   D h = (I - h h^T) D s/rho,   D mu = mu' s . D s/|s|
///     f = -G^T phi,   f_v = -G^T D_v phi,   f_q = -G^T D_q phi - D_q(G^T) phi
///
/// where mu may be a function of |s|. It dissipates phi . s = mu N |s|^2/rho >= 0. At |s| = e it is 71 % of mu N; a body
/// at rest on a slope creeps.
#include "elements/contact.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/vector.h"

static const asi_row across_z = {ASI_ROW_SEPARATION, 2, 0, 1};

/// The normal direction: depth, its rate and gradients, and N.
typedef struct normal {
  asi_pair pair;
  double depth, rate, q[ASI_PAIR], rate_q[ASI_PAIR];
  double N[3]; ///< N, N_x, N_x'
} normal;

static int press(const asi_contact *c, const as_element_input *in, normal *n) {
  const asi_frame_now A = asi_frame_at_rest(&c->frame[0]), B = asi_frame_at_rest(&c->frame[1]);
  n->depth = c->radius;
  n->rate = 0.0;
  memset(n->q, 0, sizeof n->q);
  memset(n->rate_q, 0, sizeof n->rate_q);
  const as_element_output out = {
      .g = &n->depth, .g_q = n->q, .rate = &n->rate, .gdot_q = n->rate_q};
  asi_pair_init(&n->pair, in, &out, &A, &B, ASI_NEED_ALWAYS);
  asi_separation_row(&n->pair, across_z, in, &out, 0);
  return asi_penalty_evaluate(&c->law, in, n->depth, n->rate, n->N);
}

/// The tangential direction.
typedef struct slip {
  double a[3], y[3], S[9]; ///< normal, lever and relative rotation in the first body's axes
  double s[3], h[3], rho;
  double speed, mu[2]; ///< |s|, the coefficient there and its derivative
} slip;

static int slide(const asi_contact *c, const as_element_input *in, slip *t) {
  const as_body_motion *A = in->body[0], *B = in->body[1];
  double Q[3], dv[3], turn[3], spin[3], w[3], part[3];
  asi_copy(c->frame[0].axis + 6, t->a);
  asi_multiply_transposed(A->R, B->R, t->S);
  asi_rotate(B->R, c->frame[1].p, Q);
  asi_add(1.0, B->x, Q);
  asi_add(-1.0, A->x, Q);
  asi_rotate_back(A->R, Q, t->y);
  asi_add(-c->radius, t->a, t->y);
  asi_sum(B->v, -1.0, A->v, dv);
  asi_rotate_back(A->R, dv, w);
  asi_cross(B->omega, c->frame[1].p, turn);
  asi_rotate(t->S, turn, part);
  asi_add(1.0, part, w);
  asi_rotate(t->S, B->omega, spin);
  asi_add_cross(c->radius, t->a, spin, w);
  asi_add_cross(-1.0, A->omega, t->y, w);
  asi_sum(w, -asi_dot(t->a, w), t->a, t->s);
  t->rho = sqrt(asi_dot(t->s, t->s) + c->slip_speed * c->slip_speed);
  for (int k = 0; k < 3; ++k) t->h[k] = t->s[k] / t->rho;
  t->speed = asi_norm(t->s);
  return asi_coefficient_evaluate(&c->friction, in, t->speed, t->mu);
}

/// G, 3 x 12.
static void slip_by_velocity(const asi_contact *c, const as_element_input *in, const slip *t,
                             double *G) {
  memset(G, 0, 3 * ASI_PAIR * sizeof(double));
  asi_add_transposed(-1.0, in->body[0]->R, G + ASI_XA, ASI_PAIR);
  asi_add_skew(1.0, t->y, G + ASI_TA, ASI_PAIR);
  asi_add_transposed(1.0, in->body[0]->R, G + ASI_XB, ASI_PAIR);
  asi_add_times_skew(-1.0, t->S, c->frame[1].p, G + ASI_TB, ASI_PAIR);
  asi_add_skew_times(c->radius, t->a, t->S, G + ASI_TB, ASI_PAIR);
}

/// D_q y: R_a^T (dx_b - dx_a - R_b p_b~ dtheta_b) + (y + r a)~ dtheta_a, since Q - x_a = P_b - x_a - r u.
static void lever_gradient(const asi_contact *c, const as_element_input *in, const slip *t,
                           double *Y) {
  double to_center[3];
  asi_sum(t->y, c->radius, t->a, to_center);
  memset(Y, 0, 3 * ASI_PAIR * sizeof(double));
  asi_add_transposed(-1.0, in->body[0]->R, Y + ASI_XA, ASI_PAIR);
  asi_add_skew(1.0, to_center, Y + ASI_TA, ASI_PAIR);
  asi_add_transposed(1.0, in->body[0]->R, Y + ASI_XB, ASI_PAIR);
  asi_add_times_skew(-1.0, t->S, c->frame[1].p, Y + ASI_TB, ASI_PAIR);
}

/// out += factor b~ M, 3 x 12
static void add_skew_rows(double factor, const double *b, const double *M, double *out) {
  for (int j = 0; j < ASI_PAIR; ++j) {
    const double column[3] = {M[j], M[ASI_PAIR + j], M[2 * ASI_PAIR + j]};
    double turned[3];
    asi_cross(b, column, turned);
    for (int k = 0; k < 3; ++k) out[k * ASI_PAIR + j] += factor * turned[k];
  }
}

/// D_q w at fixed velocities. With D(R_a^T z) = (R_a^T z)~ dtheta_a and D(S z) = (S z)~ dtheta_a - S z~ dtheta_b:
///     theta_a: (R_a^T (v_b - v_a) + S (omega_b x p_b))~ + r a~ (S omega_b)~
///     theta_b: -S (omega_b x p_b)~ - r a~ S omega_b~            and -omega_a~ D_q y
static void slip_by_position(const asi_contact *c, const as_element_input *in, const slip *t,
                             const double *Y, double *W) {
  const as_body_motion *A = in->body[0], *B = in->body[1];
  double dv[3], seen[3], turn[3], part[3], spin[3], Sw[9];
  memset(W, 0, 3 * ASI_PAIR * sizeof(double));
  asi_sum(B->v, -1.0, A->v, dv);
  asi_rotate_back(A->R, dv, seen);
  asi_cross(B->omega, c->frame[1].p, turn);
  asi_rotate(t->S, turn, part);
  asi_add(1.0, part, seen);
  asi_rotate(t->S, B->omega, spin);
  asi_add_skew(1.0, seen, W + ASI_TA, ASI_PAIR);
  asi_add_skew_skew(c->radius, t->a, spin, W + ASI_TA, ASI_PAIR);
  asi_add_times_skew(-1.0, t->S, turn, W + ASI_TB, ASI_PAIR);
  asi_times_skew(t->S, B->omega, Sw);
  asi_add_skew_times(-c->radius, t->a, Sw, W + ASI_TB, ASI_PAIR);
  add_skew_rows(-1.0, A->omega, Y, W);
}

/// -D_q(G^T) phi. With f_xb = -R_a phi = -f_xa, f_theta_a = y x phi,
/// f_theta_b = -p_b x S^T phi + r S^T (a x phi) and D(S^T z) = (S^T z)~ dtheta_b - S^T z~ dtheta_a.
static void add_turning(const asi_contact *c, const as_element_input *in, const slip *t,
                        const double *phi, const double *Y, double *f_q) {
  enum { w = ASI_PAIR };
  const double *pb = c->frame[1].p;
  double across[3], phi_b[3], across_b[3], St[9], St_phi[9];
  asi_cross(t->a, phi, across);
  asi_rotate_back(t->S, phi, phi_b);
  asi_rotate_back(t->S, across, across_b);
  asi_add_times_skew(1.0, in->body[0]->R, phi, f_q + ASI_XB * w + ASI_TA, w);
  asi_add_times_skew(-1.0, in->body[0]->R, phi, f_q + ASI_XA * w + ASI_TA, w);
  add_skew_rows(-1.0, phi, Y, f_q + ASI_TA * w);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) St[3 * i + j] = t->S[3 * j + i];
  asi_times_skew(St, phi, St_phi);
  asi_add_skew_skew(-1.0, pb, phi_b, f_q + ASI_TB * w + ASI_TB, w);
  asi_add_skew_times(1.0, pb, St_phi, f_q + ASI_TB * w + ASI_TA, w);
  asi_add_skew(c->radius, across_b, f_q + ASI_TB * w + ASI_TB, w);
  asi_add_times_skew(-c->radius, St, across, f_q + ASI_TB * w + ASI_TA, w);
}

/// With ds = (I - a a^T) dw: D phi = mu (h dN + N (ds - h h . ds)/rho) + mu' N h (s . ds)/|s|, then out -= G^T D phi
static void add_friction(const normal *n, const slip *t, const double *G, const double *dN,
                         const double *dw, double *out) {
  const double mu = t->mu[0], slope = t->speed > 0.0 ? t->mu[1] * n->N[0] / t->speed : 0.0;
  for (int j = 0; j < ASI_PAIR; ++j) {
    double ds[3] = {dw[j], dw[ASI_PAIR + j], dw[2 * ASI_PAIR + j]}, dphi[3];
    asi_add(-asi_dot(t->a, ds), t->a, ds);
    const double along = asi_dot(t->h, ds);
    for (int k = 0; k < 3; ++k)
      dphi[k] = mu * (t->h[k] * dN[j] + n->N[0] * (ds[k] - along * t->h[k]) / t->rho) +
                slope * asi_dot(t->s, ds) * t->h[k];
    for (int i = 0; i < ASI_PAIR; ++i)
      for (int k = 0; k < 3; ++k) out[i * ASI_PAIR + j] -= G[k * ASI_PAIR + i] * dphi[k];
  }
}

static int rub(const asi_contact *c, const as_element_input *in, const normal *n,
               const as_element_output *out) {
  slip t;
  double G[3 * ASI_PAIR], phi[3], dN[ASI_PAIR];
  const int code = slide(c, in, &t);
  if (code) return code;
  slip_by_velocity(c, in, &t, G);
  for (int k = 0; k < 3; ++k) phi[k] = t.mu[0] * n->N[0] * t.h[k];
  if (out->force)
    for (int i = 0; i < ASI_PAIR; ++i)
      for (int k = 0; k < 3; ++k) out->force[i] -= G[k * ASI_PAIR + i] * phi[k];
  if (out->f_q) {
    double Y[3 * ASI_PAIR], W[3 * ASI_PAIR];
    lever_gradient(c, in, &t, Y);
    slip_by_position(c, in, &t, Y, W);
    for (int j = 0; j < ASI_PAIR; ++j) dN[j] = n->N[1] * n->q[j] + n->N[2] * n->rate_q[j];
    add_friction(n, &t, G, dN, W, out->f_q);
    add_turning(c, in, &t, phi, Y, out->f_q);
  }
  if (out->f_v) {
    for (int j = 0; j < ASI_PAIR; ++j) dN[j] = n->N[2] * n->q[j];
    add_friction(n, &t, G, dN, G, out->f_v);
  }
  return AS_DONE;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_contact *c = data;
  normal n;
  const int code = press(c, in, &n);
  if (code || !(n.depth > 0.0)) return code;
  for (int i = 0; i < ASI_PAIR; ++i) {
    if (out->force) out->force[i] -= n.N[0] * n.q[i];
    for (int j = 0; j < ASI_PAIR; ++j) {
      if (out->f_q) out->f_q[i * ASI_PAIR + j] -= n.q[i] * (n.N[1] * n.q[j] + n.N[2] * n.rate_q[j]);
      if (out->f_v) out->f_v[i * ASI_PAIR + j] -= n.N[2] * n.q[i] * n.q[j];
    }
  }
  if (out->f_q) { // -N D_q x_q^T
    as_element_input with = *in;
    with.lambda = n.N;
    asi_separation_row(&n.pair, across_z, &with, &(as_element_output){.f_q = out->f_q}, 0);
  }
  return c->rubs ? rub(c, in, &n, out) : AS_DONE;
}

/// N h mu by a slot: h (N_slot mu + N mu_slot), along G^T.
static int rub_by_slot(const asi_contact *c, const as_element_input *in, const normal *n,
                       double by_N, int slot, double *out) {
  slip t;
  double G[3 * ASI_PAIR], by_mu = 0.0;
  int code = slide(c, in, &t);
  if (code == AS_DONE) code = asi_coefficient_by_slot(&c->friction, in, t.speed, slot, &by_mu);
  if (code) return code;
  slip_by_velocity(c, in, &t, G);
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int k = 0; k < 3; ++k)
      out[i] -= G[k * ASI_PAIR + i] * t.h[k] * (by_N * t.mu[0] + n->N[0] * by_mu);
  return AS_DONE;
}

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  const asi_contact *c = data;
  normal now;
  int code = press(c, in, &now);
  memset(out, 0, (size_t)n * ASI_PAIR * sizeof(double));
  for (int k = 0; k < n && code == AS_DONE && now.depth > 0.0; ++k, out += ASI_PAIR) {
    double by_N;
    code = asi_penalty_by_slot(&c->law, in, now.depth, now.rate, slot[k], &by_N);
    for (int i = 0; i < ASI_PAIR; ++i) out[i] -= by_N * now.q[i];
    if (code == AS_DONE && c->rubs) code = rub_by_slot(c, in, &now, by_N, slot[k], out);
  }
  return code;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_contact *c = data;
  normal n;
  return press(c, in, &n) ? (double)NAN : asi_penalty_potential(&c->law, in, n.depth);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_contact *c = data;
  normal n;
  if (press(c, in, &n)) {
    out->dissipated = (double)NAN;
    return;
  }
  *out = asi_penalty_power(&c->law, in, n.depth, n.rate);
  slip t;
  if (c->rubs)
    out->dissipated += slide(c, in, &t) ? (double)NAN : t.mu[0] * n.N[0] * asi_dot(t.h, t.s);
}

const as_element_type asi_contact_type = {"contact", evaluate, potential, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("contact", ((const asi_contact *)data)->frame, out);
}

static int formulas(const void *data, const asi_formula **out) {
  const asi_contact *c = data;
  const int n = asi_penalty_formulas(&c->law, out);
  return n + asi_curve_formulas(c->friction.law.curve, out + n);
}

const asi_descriptor asi_contact_descriptor = {
    .type = &asi_contact_type, .formulas = formulas, .by_slots = by_slots, .draw = draw};
