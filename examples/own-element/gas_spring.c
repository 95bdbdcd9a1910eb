/// With d = P_b - P_a, l = |d|, u = d / l and D the 3 x 12 matrix of d's derivatives,
///
///     D = [-I, R_a p_a~, I, -R_b p_b~]      l' = u . D v      D_q l = u^T D      D_q u = (I - u u^T) D / l
///
/// the push N = F (1 + (l - l_0)/s)^-n - c l' acts with f = N D^T u, and
///
///     f_v = -c (D^T u)(D^T u)^T
///     f_q = D^T u (N_l u^T D - c D_q l') + N D^T D_q u + N (p~ (R^T u)~ on both bodies' rotations)
///     D_q l' = (D v)^T D_q u + u^T [0, R_a (omega_a x p_a)~, 0, -R_b (omega_b x p_b)~]
///
/// Energy of the gas: the integral of the push, F s/(n - 1) (1 + (l - l_0)/s)^(1 - n).
#include "gas_spring.h"

#include <math.h>

#include "vector.h"

/// What everything is made of.
typedef struct push {
  double D[3 * COLUMNS], u[3], l, rate; ///< rate: l'
  double d1[3];                         ///< D v
  double N, slope;                      ///< push and its derivative by l
  double lever[COLUMNS];                ///< D^T u
} push;

static void add_point(const as_body_motion *body, const double *p, double sign, int first,
                      push *x) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double tilde[9], turned[9], reach[3], swing[3], speed[3];
  skew(p, tilde);
  multiply(body->R, tilde, turned);
  add_block(sign, identity, x->D, 0, first);
  add_block(-sign, turned, x->D, 0, first + 3);
  rotate(body->R, p, reach);
  cross(body->omega, p, swing);
  rotate(body->R, swing, speed);
  for (int i = 0; i < 3; ++i) {
    x->u[i] += sign * (body->x[i] + reach[i]); // d for now
    x->d1[i] += sign * (body->v[i] + speed[i]);
  }
}

static int look(const as_element_input *in, const gas_spring *g, push *x) {
  *x = (push){.l = 0.0};
  add_point(in->body[0], g->point[0], -1.0, XA, x);
  add_point(in->body[1], g->point[1], 1.0, XB, x);
  x->l = sqrt(dot(x->u, x->u));
  const double stroke = 1.0 + (x->l - g->length) / g->gas_length;
  if (!(x->l > 0.0 && stroke > 0.0)) return AS_RETRY; // no direction, or no room for the gas
  for (int i = 0; i < 3; ++i) x->u[i] /= x->l;
  x->rate = dot(x->u, x->d1);
  const double gas = g->force * pow(stroke, -g->exponent);
  x->N = gas - g->damping * x->rate;
  x->slope = -g->exponent * gas / (stroke * g->gas_length);
  for (int j = 0; j < COLUMNS; ++j)
    for (int i = 0; i < 3; ++i) x->lever[j] += x->D[i * COLUMNS + j] * x->u[i];
  return AS_DONE;
}

/// D_q u
static void direction_tangent(const push *x, double u_q[3 * COLUMNS]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      u_q[i * COLUMNS + j] = (x->D[i * COLUMNS + j] - x->u[i] * x->lever[j]) / x->l;
}

/// D_q l'
static void rate_tangent(const as_element_input *in, const gas_spring *g, const push *x,
                         const double *u_q, double rate_q[COLUMNS]) {
  for (int j = 0; j < COLUMNS; ++j) {
    rate_q[j] = 0.0;
    for (int i = 0; i < 3; ++i) rate_q[j] += x->d1[i] * u_q[i * COLUMNS + j];
  }
  for (int b = 0; b < 2;
       ++b) { // -u^T R (omega x p)~ = ((omega x p) x R^T u)^T, and the sign of the body
    double swing[3], u_in_body[3], turn[3];
    cross(in->body[b]->omega, g->point[b], swing);
    rotate_back(in->body[b]->R, x->u, u_in_body);
    cross(swing, u_in_body, turn);
    for (int i = 0; i < 3; ++i) rate_q[6 * b + 3 + i] += (b ? 1.0 : -1.0) * turn[i];
  }
}

static void add_f_q(const as_element_input *in, const gas_spring *g, const push *x, double *f_q) {
  double u_q[3 * COLUMNS], rate_q[COLUMNS];
  direction_tangent(x, u_q);
  rate_tangent(in, g, x, u_q, rate_q);
  for (int i = 0; i < COLUMNS; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      f_q[i * COLUMNS + j] += x->lever[i] * (x->slope * x->lever[j] - g->damping * rate_q[j]);
  add_product(x->N, x->D, u_q, f_q);
  for (int b = 0; b < 2; ++b) {
    double u_in_body[3], p[9], u[9], both[9];
    rotate_back(in->body[b]->R, x->u, u_in_body);
    skew(g->point[b], p);
    skew(u_in_body, u);
    multiply(p, u, both);
    add_block((b ? 1.0 : -1.0) * (1.0 - g->fault) * x->N, both, f_q, 6 * b + 3, 6 * b + 3);
  }
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const gas_spring *g = data;
  push x;
  const int code = look(in, g, &x);
  if (code) return code;
  for (int i = 0; i < COLUMNS && out->force; ++i) out->force[i] += x.N * x.lever[i];
  if (out->f_q) add_f_q(in, g, &x, out->f_q);
  for (int i = 0; i < COLUMNS && out->f_v; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      out->f_v[i * COLUMNS + j] -= g->damping * x.lever[i] * x.lever[j];
  return AS_DONE;
}

static double potential(const as_element_input *in, const void *data) {
  const gas_spring *g = data;
  push x;
  if (look(in, g, &x)) return (double)NAN;
  const double stroke = 1.0 + (x.l - g->length) / g->gas_length, n = g->exponent;
  if (n == 1.0) return -g->force * g->gas_length * log(stroke);
  return g->force * g->gas_length / (n - 1.0) * pow(stroke, 1.0 - n);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const gas_spring *g = data;
  push x;
  out->dissipated = look(in, g, &x) ? (double)NAN : g->damping * x.rate * x.rate;
}

const as_element_type gas_spring_type = {"gas spring", evaluate, potential, power};
