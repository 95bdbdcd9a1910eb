/// Probes, see probe.h. With n a direction in body axes (R^T e of a world axis e, or an axis of the frame), p the origin of the
/// frame in the body, alpha = omega' and
///
///     A = alpha x p + omega x (omega x p) + 2 omega x p' + p''
///
/// the acceleration of the origin is x'' + R A, and an accelerometer shows s = n . (R^T (x'' - g) + A), the specific force.
///
///     s_x'' = R n      s_alpha = p x n      s_omega = (omega x p) x n + p x (n x omega) + 2 p' x n
///     s_theta = n x R^T (x'' - g) along an axis of the frame, A x n along a world axis
///
/// Angular acceleration of a frame with the angular velocity S in its body: R (alpha + S' + omega x S).
///
/// Second derivatives of a joint's coordinates along or about an axis n of A that the joint keeps, with frames that rest in
/// their bodies, S = R_a^T R_b, y = R_a^T (P_b - x_a), k = omega_a x n:
///
///     angle          n . (S alpha_b - omega_a x S omega_b - alpha_a)
///     displacement   n . (G - 2 omega_a x V - alpha_a x y + omega_a x (omega_a x y))
///                    V = R_a^T (v_b - v_a) + S (omega_b x p_b)
///                    G = R_a^T (x_b'' - x_a'') + S (alpha_b x p_b + omega_b x (omega_b x p_b))
///
/// Reactions are those of as_model_reaction(): F = -g_x^T lambda and tau = -g_theta^T lambda on the second body, whose
/// derivatives by q are the joint's own f_q; T = R tau - (R p) x F about the joint.
#include "elements/probe.h"

#include <string.h>

#include "alphastep/problem.h"
#include "elements/vector.h"

bool asi_gauge_reads_acceleration(const asi_gauge *g) {
  return g->kind >= ASI_GAUGE_ACCELERATION && g->kind <= ASI_GAUGE_SPECIFIC_FORCE;
}

bool asi_gauge_reads_reaction(const asi_gauge *g) { return g->kind >= ASI_GAUGE_REACTION; }

/// Half of the sum of a x a^(k) over the axes.
static void half_sum(const double *axis, const double *other, double *out) {
  asi_set(0.0, 0.0, 0.0, out);
  for (int k = 0; k < 3; ++k) asi_add_cross(0.5, axis + 3 * k, other + 3 * k, out);
}

// ---- accelerations ----------------------------------------------------------------------------------

/// A, and the derivatives of n . A by omega and alpha.
static void find_local(const as_body_motion *body, const asi_body_acceleration *acc,
                       const asi_frame_now *frame, const double *n, double A[3],
                       asi_probe_reading *out) {
  double W[3], n_omega[3], *by_omega = out->at.v + ASI_TA;
  asi_cross(body->omega, frame->p, W);
  asi_cross(acc->alpha, frame->p, A);
  asi_add_cross(1.0, body->omega, W, A);
  asi_add_cross(2.0, body->omega, frame->p1, A);
  asi_add(1.0, frame->p2, A);
  asi_cross(n, body->omega, n_omega);
  asi_cross(W, n, by_omega);
  asi_add_cross(1.0, frame->p, n_omega, by_omega);
  asi_add_cross(2.0, frame->p1, n, by_omega);
  asi_cross(frame->p, n, out->a + ASI_TA);
}

static void read_acceleration(const asi_gauge *g, const as_body_motion *body,
                              const asi_body_acceleration *acc, const asi_frame_now *frame,
                              asi_probe_reading *out) {
  const double e[3] = {g->part == 0, g->part == 1, g->part == 2};
  double n[3], A[3];
  asi_rotate_back(body->R, e, n);
  find_local(body, acc, frame, n, A, out);
  out->at.value = acc->a[g->part] + asi_dot(n, A);
  asi_cross(A, n, out->at.q + ASI_TA);
  asi_copy(e, out->a + ASI_XA);
}

static void read_specific_force(const asi_gauge *g, const as_body_motion *body,
                                const asi_body_acceleration *acc, const asi_frame_now *frame,
                                const double *gravity, asi_probe_reading *out) {
  const double *n = frame->axis + 3 * g->part;
  double A[3], free[3], local[3];
  find_local(body, acc, frame, n, A, out);
  asi_sum(acc->a, -1.0, gravity, free);
  asi_rotate_back(body->R, free, local);
  out->at.value = asi_dot(n, local) + asi_dot(n, A);
  asi_cross(n, local, out->at.q + ASI_TA);
  asi_rotate(body->R, n, out->a + ASI_XA);
}

static void read_spin_rate(const asi_gauge *g, const as_body_motion *body,
                           const asi_body_acceleration *acc, const asi_frame_now *frame,
                           asi_probe_reading *out) {
  const double e[3] = {g->part == 0, g->part == 1, g->part == 2};
  double n[3], S[3], total[3];
  asi_rotate_back(body->R, e, n);
  half_sum(frame->axis, frame->axis1, S);
  half_sum(frame->axis, frame->axis2, total); // S'
  asi_add(1.0, acc->alpha, total);
  asi_add_cross(1.0, body->omega, S, total);
  out->at.value = asi_dot(n, total);
  asi_cross(total, n, out->at.q + ASI_TA);
  asi_cross(S, n, out->at.v + ASI_TA);
  asi_copy(n, out->a + ASI_TA);
}

/// n . (omega + S)
static void read_frame_spin(const asi_gauge *g, const as_body_motion *body,
                            const asi_frame_now *frame, asi_probe_reading *out) {
  const double *n = frame->axis + 3 * g->part;
  double S[3];
  half_sum(frame->axis, frame->axis1, S);
  out->at.value = asi_dot(n, body->omega) + asi_dot(n, S);
  asi_copy(n, out->at.v + ASI_TA);
}

// ---- coordinates of joints --------------------------------------------------------------------------

static void read_turn(const double *n, const as_body_motion *const body[2],
                      const asi_body_acceleration *const acc[2], asi_probe_reading *out) {
  const as_body_motion *A = body[0], *B = body[1];
  double S[9], m[3], k[3], k_b[3], beta[3], w[3];
  asi_multiply_transposed(A->R, B->R, S);
  asi_rotate_back(S, n, m);
  asi_cross(A->omega, n, k);
  asi_rotate_back(S, k, k_b);
  asi_rotate(S, acc[1]->alpha, beta);
  asi_rotate(S, B->omega, w);
  out->at.value = asi_dot(n, beta) + asi_dot(k, w) - asi_dot(n, acc[0]->alpha);
  asi_add(-1.0, n, out->a + ASI_TA);
  asi_copy(m, out->a + ASI_TB);
  asi_cross(n, w, out->at.v + ASI_TA);
  asi_copy(k_b, out->at.v + ASI_TB);
  asi_cross(n, beta, out->at.q + ASI_TA);
  asi_add_cross(1.0, k, w, out->at.q + ASI_TA);
  asi_cross(acc[1]->alpha, m, out->at.q + ASI_TB);
  asi_add_cross(1.0, B->omega, k_b, out->at.q + ASI_TB);
}

/// What the displacement is made of, and the derivatives of n . (...) by G, V and y: n, 2 k and e.
typedef struct shift {
  double S[9], y[3], V[3], G[3]; ///< see above
  double W[3], A[3];             ///< omega_b x p_b; alpha_b x p_b + omega_b x W
  double k[3], e[3];             ///< e = alpha_a x n + (n x omega_a) x omega_a
} shift;

static void find_shift(const double *n, const double *p, const as_body_motion *const body[2],
                       const asi_body_acceleration *const acc[2], shift *s) {
  const as_body_motion *A = body[0], *B = body[1];
  double d[3], part[3];
  asi_multiply_transposed(A->R, B->R, s->S);
  asi_sum(B->x, -1.0, A->x, d);
  asi_rotate_back(A->R, d, s->y);
  asi_rotate(s->S, p, part);
  asi_add(1.0, part, s->y);
  asi_cross(B->omega, p, s->W);
  asi_sum(B->v, -1.0, A->v, d);
  asi_rotate_back(A->R, d, s->V);
  asi_rotate(s->S, s->W, part);
  asi_add(1.0, part, s->V);
  asi_cross(acc[1]->alpha, p, s->A);
  asi_add_cross(1.0, B->omega, s->W, s->A);
  asi_sum(acc[1]->a, -1.0, acc[0]->a, d);
  asi_rotate_back(A->R, d, s->G);
  asi_rotate(s->S, s->A, part);
  asi_add(1.0, part, s->G);
  asi_cross(A->omega, n, s->k);
  asi_cross(acc[0]->alpha, n, s->e);
  asi_add_cross(-1.0, s->k, A->omega, s->e);
}

static void read_shift(const double *n, const double *p, const as_body_motion *const body[2],
                       const asi_body_acceleration *const acc[2], asi_probe_reading *out) {
  shift s;
  find_shift(n, p, body, acc, &s);
  const as_body_motion *A = body[0], *B = body[1];
  double *q = out->at.q, *v = out->at.v, *a = out->a;
  double m[3], k[3], e[3], turned[3], omega_y[3];
  asi_rotate_back(s.S, n, m);
  asi_rotate_back(s.S, s.k, k);
  asi_rotate_back(s.S, s.e, e);
  out->at.value = asi_dot(n, s.G) + 2.0 * asi_dot(s.k, s.V) + asi_dot(s.e, s.y);
  asi_rotate(A->R, n, a + ASI_XB);
  asi_add(-1.0, a + ASI_XB, a + ASI_XA);
  asi_cross(n, s.y, a + ASI_TA);
  asi_cross(p, m, a + ASI_TB);
  asi_rotate(A->R, s.k, turned);
  asi_add(2.0, turned, v + ASI_XB);
  asi_add(-2.0, turned, v + ASI_XA);
  asi_cross(A->omega, s.y, omega_y);
  asi_add_cross(2.0, n, s.V, v + ASI_TA);
  asi_add_cross(1.0, omega_y, n, v + ASI_TA);
  asi_add_cross(-1.0, s.y, s.k, v + ASI_TA);
  asi_cross(m, B->omega, turned);
  asi_cross(s.W, m, v + ASI_TB);
  asi_add_cross(1.0, p, turned, v + ASI_TB);
  asi_add_cross(2.0, p, k, v + ASI_TB);
  asi_rotate(A->R, s.e, q + ASI_XB);
  asi_add(-1.0, q + ASI_XB, q + ASI_XA);
  asi_cross(n, s.G, q + ASI_TA);
  asi_add_cross(2.0, s.k, s.V, q + ASI_TA);
  asi_add_cross(1.0, s.e, s.y, q + ASI_TA);
  asi_cross(s.A, m, q + ASI_TB);
  asi_add_cross(2.0, s.W, k, q + ASI_TB);
  asi_add_cross(1.0, p, e, q + ASI_TB);
}

// ---- reactions --------------------------------------------------------------------------------------

/// Adds factor . of the rows `first` to `first + 2` of what the joint does to its second body, by q and by lambda.
static void add_rows(const double *factor, const double *f_q, const double *g_q, int n_rows,
                     int first, asi_probe_reading *out) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < ASI_PAIR; ++j) out->at.q[j] += factor[i] * f_q[(first + i) * ASI_PAIR + j];
    for (int r = 0; r < n_rows; ++r) out->lambda[r] -= factor[i] * g_q[r * ASI_PAIR + first + i];
  }
}

static int read_reaction(const asi_gauge *g, const as_element_input *in, const void *data,
                         const double *lambda, const asi_ends_now *ends, asi_probe_reading *out) {
  const void *joint = (const char *)data + g->other;
  const as_body_motion *A = in->body[0], *B = in->body[1];
  double g_q[AS_ELEMENT_ROWS * ASI_PAIR] = {0}, f_q[ASI_PAIR * ASI_PAIR] = {0};
  double F[3] = {0}, tau[3] = {0}, T[3], arm[3], e[3], n[3], moved[3], turned[3];
  as_element_input at = *in;
  at.lambda = lambda;
  const as_element_output want = {.g_q = g_q, .f_q = f_q};
  const int code = g->type->evaluate(&at, &want, joint);
  if (code) return code;
  for (int r = 0; r < g->n_rows; ++r) {
    asi_add(-lambda[r], g_q + r * ASI_PAIR + ASI_XB, F);
    asi_add(-lambda[r], g_q + r * ASI_PAIR + ASI_TB, tau);
  }
  const bool in_joint = g->part >= 6, torque = (g->part / 3) % 2 == 1;
  const double *axis = ends->A.axis + 3 * (g->part % 3);
  asi_set(g->part % 3 == 0, g->part % 3 == 1, g->part % 3 == 2, e);
  if (in_joint) asi_rotate(A->R, axis, e);
  const double *V = F;
  if (!torque) {
    add_rows(e, f_q, g_q, g->n_rows, ASI_XB, out);
  } else {
    asi_rotate(B->R, ends->B.p, arm);
    asi_rotate(B->R, tau, T);
    asi_add_cross(-1.0, arm, F, T);
    V = T;
    asi_rotate_back(B->R, e, n);
    add_rows(n, f_q, g_q, g->n_rows, ASI_TB, out);
    asi_add_cross(1.0, tau, n, out->at.q + ASI_TB);
    asi_cross(e, arm, moved);
    for (int i = 0; i < 3; ++i) moved[i] = -moved[i];
    add_rows(moved, f_q, g_q, g->n_rows, ASI_XB, out);
    asi_cross(F, e, moved);
    asi_rotate_back(B->R, moved, turned);
    asi_add_cross(-1.0, ends->B.p, turned, out->at.q + ASI_TB);
  }
  out->at.value = asi_dot(e, V);
  if (in_joint) {
    asi_rotate_back(A->R, V, turned);
    asi_add_cross(1.0, axis, turned, out->at.q + ASI_TA);
  }
  return AS_DONE;
}

// ---- all of them ------------------------------------------------------------------------------------

int asi_probe_read(const asi_gauge *g, const as_element_input *in, const asi_probe_input *more,
                   const void *data, const double *turns, asi_probe_reading *out) {
  memset(out, 0, sizeof *out);
  if (g->kind == ASI_GAUGE_ELEMENT) return asi_gauge_read_element(g, in, data, &out->at, out->x);
  if (g->kind < ASI_GAUGE_ACCELERATION) return asi_gauge_read(g, in, data, turns, &out->at);
  if (g->kind == ASI_GAUGE_DRIVE) {
    out->at.value = more->lambda[0];
    out->lambda[0] = 1.0;
    return AS_DONE;
  }
  as_element_input two = *in;
  asi_ends_now ends;
  const int code = asi_ends_move(&g->ends, in->t, &ends);
  if (code) return code;
  for (int s = 0; s < 2; ++s) two.body[s] = in->body[g->body[s]];
  if (g->kind == ASI_GAUGE_REACTION) return read_reaction(g, &two, data, more->lambda, &ends, out);
  const as_body_motion *body = two.body[0];
  const asi_body_acceleration *acc = &more->acceleration[g->body[0]];
  const asi_body_acceleration *const both[2] = {acc, &more->acceleration[g->body[1]]};
  switch (g->kind) {
  case ASI_GAUGE_TURN_ACCELERATION:
    read_turn(ends.A.axis + 3 * g->part, two.body, both, out);
    break;
  case ASI_GAUGE_SHIFT_ACCELERATION:
    read_shift(ends.A.axis + 3 * g->part, ends.B.p, two.body, both, out);
    break;
  case ASI_GAUGE_ACCELERATION: read_acceleration(g, body, acc, &ends.A, out); break;
  case ASI_GAUGE_SPECIFIC_FORCE:
    read_specific_force(g, body, acc, &ends.A, more->gravity, out);
    break;
  case ASI_GAUGE_SPIN_RATE: read_spin_rate(g, body, acc, &ends.A, out); break;
  case ASI_GAUGE_FRAME_SPIN: read_frame_spin(g, body, &ends.A, out); break;
  default: // ASI_GAUGE_BODY_SPIN_RATE
    out->at.value = acc->alpha[g->part];
    out->a[ASI_TA + g->part] = 1.0;
  }
  return AS_DONE;
}
