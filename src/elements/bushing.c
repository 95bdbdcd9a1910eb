/// A bushing between two frames: with six coordinates z of frame B against frame A, a stress
///
///     S_i = (K z + C z')_i + L_i(z_i, z_i')           K, C: 6 x 6, symmetric
///     f = -z_q^T S,    f_q = -z_q^T (K z_q + C D_q z') - sum_i S_i D_q z_i,q^T,    f_v = -z_q^T C z_q
///
/// where the derivatives of the laws L_i count with the diagonals of K and C. The potential z^T K z/2 depends on how
/// the frames lie against each other only, so momentum is kept; z'^T C z' is dissipated; each law has its own share
/// (law.c). z is the displacement P_b - P_a in the axes of A, each a separation row, then the rotation vector r of B
/// against A. Of all vectors that one could take it makes the torque about a fixed axis proportional to the angle,
/// up to half a turn; there, r is undefined (AS_RETRY). With the axes' products S_ij = a_i . b_j and
///
///     e_x = S_zy - S_yz, ...   (2 sin theta along the axis)         c = (S_xx + S_yy + S_zz - 1)/2 = cos theta
///     r = rho(c) e,      rho = theta/(2 sin theta)
///
/// everything is made of axes rows, whose gradients, rates and curvatures are known (axes.c):
///
///     r_q   = rho e_q + rho' e c_q                          r' = rho e' + rho' e c'
///     D r'  = rho e'_q + rho' (e' c_q + e_q c' + e c'_q) + rho'' e c' c_q
///     sum_i M_i D r_i,q^T = rho sum M_i D e_i,q^T + rho' (E^T c_q + c_q^T E) + (M . e) (rho'' c_q^T c_q + rho' D c_q^T)
///
/// with E = sum M_i e_i,q. rho obeys (1 - c^2) rho' = c rho - 1/2; near c = 1 it is a series in 1 - c. At delta from
/// half a turn rounding errors grow as delta^-2 in f_q.
#include "elements/bushing.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/coordinate.h"
#include "elements/descriptor.h"
#include "elements/vector.h"
#include "elements/why.h"

enum { X, Y, Z };

static const asi_row shift[3] = {
    {ASI_ROW_SEPARATION, X, 0, -1}, {ASI_ROW_SEPARATION, Y, 0, -1}, {ASI_ROW_SEPARATION, Z, 0, -1}};
static const asi_row sine[3][2] = {{{ASI_ROW_AXES, Z, Y, 1}, {ASI_ROW_AXES, Y, Z, -1}},
                                   {{ASI_ROW_AXES, X, Z, 1}, {ASI_ROW_AXES, Z, X, -1}},
                                   {{ASI_ROW_AXES, Y, X, 1}, {ASI_ROW_AXES, X, Y, -1}}};
static const asi_row trace[3] = {
    {ASI_ROW_AXES, X, X, 1}, {ASI_ROW_AXES, Y, Y, 1}, {ASI_ROW_AXES, Z, Z, 1}};

/// rho = sum b_n (1 - c)^n/2,  b_n = b_{n-1} n/(2 n + 1)
void asi_rotation_ratio(double c, double s, double out[3]) {
  const double e = 1.0 - c;
  if (e < 0.1) { // the terms fall by twenty
    enum { TERMS = 16 };
    double b = 0.5, power[3] = {1.0, 0.0, 0.0}; // e^n, n e^(n-1), n (n-1) e^(n-2)
    out[0] = out[1] = out[2] = 0.0;
    for (int n = 0; n < TERMS; ++n) {
      out[0] += b * power[0];
      out[1] -= b * power[1];
      out[2] += b * power[2];
      power[2] = power[2] * e + 2.0 * power[1];
      power[1] = power[1] * e + power[0];
      power[0] *= e;
      b *= (n + 1.0) / (2.0 * n + 3.0);
    }
    return;
  }
  out[0] = atan2(s, c) / (2.0 * s);
  out[1] = (c * out[0] - 0.5) / (s * s);
  out[2] = (out[0] + 3.0 * c * out[1]) / (s * s);
}

static void turn(asi_rotation *x, int i, unsigned wanted) {
  const asi_row_sum *e = &x->e[i], *c = &x->c;
  const double *rho = x->rho;
  asi_row_sum *r = &x->r[i];
  *r = (asi_row_sum){.value = rho[0] * e->value};
  if (wanted & ASI_SUM_RATE) r->rate = rho[0] * e->rate + rho[1] * e->value * c->rate;
  for (int j = 0; j < ASI_PAIR && wanted & ASI_SUM_Q; ++j)
    r->q[j] = rho[0] * e->q[j] + rho[1] * e->value * c->q[j];
  for (int j = 0; j < ASI_PAIR && wanted & ASI_SUM_RATE_Q; ++j)
    r->rate_q[j] = rho[0] * e->rate_q[j] +
                   rho[1] * (e->rate * c->q[j] + e->q[j] * c->rate + e->value * c->rate_q[j]) +
                   rho[2] * e->value * c->rate * c->q[j];
}

int asi_rotation_measure(asi_rotation *x, const asi_pair *pair, const as_element_input *in,
                         unsigned wanted) {
  const double least = 1e-8; // 1 + cos theta: within 1e-4 of half a turn
  for (int i = 0; i < 3; ++i) x->e[i] = asi_axes_sum(pair, sine[i], 2, in, wanted);
  x->c = asi_axes_sum(pair, trace, 3, in, wanted);
  x->c.value = fmin((x->c.value - 1.0) / 2.0, 1.0);
  x->c.rate /= 2.0;
  for (int j = 0; j < ASI_PAIR; ++j) {
    x->c.q[j] /= 2.0;
    x->c.rate_q[j] /= 2.0;
  }
  const double e[3] = {x->e[0].value, x->e[1].value, x->e[2].value};
  if (!(1.0 + x->c.value > least))
    return asi_retry(in, "it is turned by half a turn, where its angles have no value");
  asi_rotation_ratio(x->c.value, asi_norm(e) / 2.0, x->rho);
  for (int i = 0; i < 3; ++i) turn(x, i, wanted);
  return AS_DONE;
}

/// The coordinates with the laws.
typedef struct bend {
  asi_bend at;
  double by_z[ASI_BUSHING], by_rate[ASI_BUSHING]; ///< derivatives of the laws
} bend;

int asi_bend_measure(const asi_ends *ends, const as_element_input *in, unsigned wanted,
                     asi_bend *x) {
  int code = asi_ends_move(ends, in->t, &x->ends);
  if (code) return code;
  memset(x->z, 0, sizeof x->z);
  for (int i = 0; i < 3; ++i) {
    asi_row_sum *z = &x->z[i];
    const as_element_output out = {.g = &z->value,
                                   .g_q = wanted & ASI_SUM_Q ? z->q : NULL,
                                   .rate = wanted & ASI_SUM_RATE ? &z->rate : NULL,
                                   .gdot_q = wanted & ASI_SUM_RATE_Q ? z->rate_q : NULL};
    if (i == 0) asi_pair_init(&x->pair, in, &out, &x->ends.A, &x->ends.B, ASI_NEED_ALWAYS);
    asi_separation_row(&x->pair, shift[i], in, &out, 0);
  }
  asi_pair_turn(&x->pair);
  code = asi_rotation_measure(&x->turn, &x->pair, in, wanted);
  if (code) return code;
  for (int i = 0; i < 3; ++i) x->z[3 + i] = x->turn.r[i];
  return AS_DONE;
}

static int measure(const asi_bushing *b, const as_element_input *in, unsigned wanted, bend *all) {
  asi_bend *x = &all->at;
  const int code = asi_bend_measure(&b->ends, in, wanted, x);
  if (code) return code;
  for (int i = 0; i < ASI_BUSHING; ++i) {
    x->S[i] = 0.0;
    for (int k = 0; k < ASI_BUSHING; ++k)
      x->S[i] +=
          b->K[ASI_BUSHING * i + k] * x->z[k].value + b->C[ASI_BUSHING * i + k] * x->z[k].rate;
    double law[3];
    const int failed = asi_law_evaluate(&b->law[i], in, x->z[i].value, x->z[i].rate, law);
    if (failed) return failed;
    x->S[i] += law[0];
    all->by_z[i] = law[1];
    all->by_rate[i] = law[2];
  }
  return AS_DONE;
}

void asi_bend_curvature(const asi_bend *x, const as_element_input *in, double *f_q) {
  const double *M = x->S + 3, *rho = x->turn.rho, *c_q = x->turn.c.q;
  double E[ASI_PAIR] = {0}, Me = 0.0;
  as_element_input with = *in;
  const as_element_output out = {.f_q = f_q};
  for (int i = 0; i < 3; ++i) {
    with.lambda = &x->S[i];
    asi_separation_row(&x->pair, shift[i], &with, &out, 0);
    for (int k = 0; k < 2; ++k) asi_axes_curvature(&x->pair, sine[i][k], rho[0] * M[i], f_q);
    for (int j = 0; j < ASI_PAIR; ++j) E[j] += M[i] * x->turn.e[i].q[j];
    Me += M[i] * x->turn.e[i].value;
  }
  for (int k = 0; k < 3; ++k) asi_axes_curvature(&x->pair, trace[k], rho[1] * Me / 2.0, f_q);
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j)
      f_q[i * ASI_PAIR + j] -=
          rho[1] * (E[i] * c_q[j] + c_q[i] * E[j]) + rho[2] * Me * c_q[i] * c_q[j];
}

/// out -= z_q^T D, D = K z_q + C D_q z', or C z_q alone
static void add_stiffness(const asi_bushing *b, const bend *x, bool by_velocity, double *out) {
  for (int i = 0; i < ASI_BUSHING; ++i) {
    double line[ASI_PAIR] = {0};
    for (int k = 0; k < ASI_BUSHING; ++k) {
      const double K = b->K[ASI_BUSHING * i + k] + (i == k ? x->by_z[i] : 0.0);
      const double C = b->C[ASI_BUSHING * i + k] + (i == k ? x->by_rate[i] : 0.0);
      if (C == 0.0 && (by_velocity || K == 0.0)) continue; // most of them, off the diagonal
      for (int j = 0; j < ASI_PAIR; ++j)
        line[j] +=
            by_velocity ? C * x->at.z[k].q[j] : K * x->at.z[k].q[j] + C * x->at.z[k].rate_q[j];
    }
    for (int j = 0; j < ASI_PAIR; ++j)
      for (int l = 0; l < ASI_PAIR; ++l) out[j * ASI_PAIR + l] -= x->at.z[i].q[j] * line[l];
  }
}

void asi_bend_force(const asi_bend *x, double *force) {
  for (int i = 0; i < ASI_BUSHING; ++i)
    for (int j = 0; j < ASI_PAIR; ++j) force[j] -= x->S[i] * x->z[i].q[j];
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_bushing *b = data;
  bend x;
  const int code = measure(b, in, ASI_SUM_RATE | ASI_SUM_Q | (out->f_q ? ASI_SUM_RATE_Q : 0), &x);
  if (code) return code;
  if (out->force) asi_bend_force(&x.at, out->force);
  if (out->f_q) {
    add_stiffness(b, &x, false, out->f_q);
    asi_bend_curvature(&x.at, in, out->f_q);
  }
  if (out->f_v) add_stiffness(b, &x, true, out->f_v);
  return AS_DONE;
}

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  const asi_bushing *b = data;
  asi_bend x;
  int code = asi_bend_measure(&b->ends, in, ASI_SUM_RATE | ASI_SUM_Q, &x);
  memset(out, 0, (size_t)n * ASI_PAIR * sizeof(double));
  for (int k = 0; k < n && code == AS_DONE; ++k, out += ASI_PAIR) {
    for (int i = 0; i < ASI_BUSHING && code == AS_DONE; ++i)
      code = asi_law_by_slot(&b->law[i], in, x.z[i].value, x.z[i].rate, slot[k], &x.S[i]);
    if (code == AS_DONE) asi_bend_force(&x, out);
  }
  return code;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_bushing *b = data;
  asi_bend x;
  if (asi_bend_measure(&b->ends, in, 0, &x)) return (double)NAN;
  double sum = 0.0;
  for (int i = 0; i < ASI_BUSHING; ++i) {
    sum += asi_law_potential(&b->law[i], in, x.z[i].value);
    for (int k = 0; k < ASI_BUSHING; ++k)
      sum += b->K[ASI_BUSHING * i + k] * x.z[i].value * x.z[k].value / 2.0;
  }
  return sum;
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_bushing *b = data;
  bend x;
  double f[ASI_PAIR] = {0};
  out->dissipated = (double)NAN;
  if (measure(b, in, ASI_SUM_RATE | ASI_SUM_Q, &x)) return;
  asi_bend_force(&x.at, f);
  out->dissipated = 0.0;
  out->supplied = asi_pair_power(in, f); // S . z_t = S . z' + f . v, where a frame moves
  for (int i = 0; i < ASI_BUSHING; ++i) {
    const as_element_power law = asi_law_power(&b->law[i], in, x.at.z[i].value, x.at.z[i].rate);
    out->dissipated += law.dissipated;
    out->supplied += law.supplied + x.at.S[i] * x.at.z[i].rate;
    for (int k = 0; k < ASI_BUSHING; ++k)
      out->dissipated += b->C[ASI_BUSHING * i + k] * x.at.z[i].rate * x.at.z[k].rate;
  }
}

/// The rotation vector of B against A; false where there is none, or where no torque depends on it.
static bool find_turn(const asi_bushing *b, const as_element_input *in, double r[3]) {
  asi_bend x;
  bool held = false;
  for (int i = 3; i < ASI_BUSHING; ++i) {
    held = held || b->law[i].both.curve != NULL;
    for (int k = 0; k < ASI_BUSHING; ++k) held = held || b->K[ASI_BUSHING * i + k] != 0.0;
  }
  if (!held || asi_bend_measure(&b->ends, in, 0, &x)) return false;
  for (int i = 0; i < 3; ++i) r[i] = x.z[3 + i].value;
  return true;
}

const as_element_type asi_bushing_type = {"bushing", evaluate, potential, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("bushing", ((const asi_bushing *)data)->ends.frame, out);
}

_Static_assert((int)ASI_BUSHING <= (int)ASI_ELEMENT_FORMULAS, "that many formulas");

static int formulas(const void *data, const asi_formula **out) {
  const asi_bushing *b = data;
  int n = 0;
  for (int i = 0; i < ASI_BUSHING; ++i) n += asi_curve_formulas(b->law[i].both.curve, out + n);
  return n;
}

static bool jumps(const void *data, const as_element_input *from, const as_element_input *to) {
  double r[2][3];
  return find_turn(data, from, r[0]) && find_turn(data, to, r[1]) && asi_turns_round(r[0], r[1]);
}

const asi_descriptor asi_bushing_descriptor = {.type = &asi_bushing_type,
                                               .formulas = formulas,
                                               .by_slots = by_slots,
                                               .jumps = jumps,
                                               .jump = ASI_TURNS_ROUND,
                                               .draw = draw};
