/// A spring and damper between two points: a tension S(l, l') along the line that joins them.
///
///     D = P_a - P_b,  l = |D|,  e = D/l,  l' = e . D'
///     f = -S l_q^T,   l_q = e^T C,  C = D_q D as in distance.c          S > 0 pulls the bodies together
///
/// With N = (I - e e^T)/l and l'_q = e^T D_q D' + D'^T N C (distance.c):
///
///     f_q = -l_q^T (S_l l_q + S_l' l'_q) - S D_q(l_q^T)                 f_v = -S_l' l_q^T l_q
///
/// D_q(l_q^T) S is the curvature of a distance row with the multiplier S, so that row does all the work.
/// Where an end moves against its body l depends on t besides; the motion brings in S l_t = S l' + f . v.
/// Where the points coincide the direction is undefined: no tension at rest, unless S(0, 0) is not zero (AS_RETRY).
#include "elements/spring.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/descriptor.h"
#include "elements/vector.h"
#include "elements/why.h"

/// The ends now; length, its rate and their gradients, as wanted.
typedef struct extension {
  asi_ends_now ends;
  double l, rate;
  double l_q[ASI_PAIR], rate_q[ASI_PAIR];
} extension;

/// Evaluates a distance row of zero length between the ends; `f_q` receives -S D_q(l_q^T) if it is not NULL.
static int measure(const as_element_input *in, bool rates, double tension, double *f_q,
                   extension *x) {
  const double zero[3] = {0};
  x->l = x->rate = 0.0;
  memset(x->l_q, 0, sizeof x->l_q);
  memset(x->rate_q, 0, sizeof x->rate_q);
  const as_element_output line = {
      .g = &x->l, .g_q = x->l_q, .rate = &x->rate, .gdot_q = rates ? x->rate_q : NULL, .f_q = f_q};
  as_element_input with = *in;
  with.lambda = &tension;
  with.why = NULL; // it is no failure
  asi_pair pair;
  asi_pair_init(&pair, in, &line, &x->ends.A, &x->ends.B, ASI_NEED_ALWAYS);
  return asi_distance_row(&pair, zero, &with, &line, 0);
}

/// out += factor C^T C, 12 x 12
static void add_square(double factor, const double *C, double *out) {
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < ASI_PAIR; ++j)
        out[i * ASI_PAIR + j] += factor * C[k * ASI_PAIR + i] * C[k * ASI_PAIR + j];
}

/// The points coincide: a law without tension there is stiff in all directions alike. Along a motion through this point e is
/// D'/|D'| behind it and S the tension at the speed |D'|; before it both have the other sign. So
///
///     f = -S(0, |D'|) C^T D'/|D'|     f_q = -S_l C^T C     f_v = -S_l' C^T C
static int at_zero_length(const asi_spring *s, const as_element_input *in, const asi_ends_now *ends,
                          const as_element_output *out) {
  double law[3], C[3 * ASI_PAIR], rate;
  int code = asi_law_evaluate(&s->law, in, -s->law.rest, 0.0, law);
  if (code) return code;
  if (law[0] != 0.0)
    return asi_retry(
        in, "its ends are in one place and it has a tension there, which has no direction");
  asi_pair pair;
  const as_element_output rates = {.rate = &rate};
  asi_pair_init(&pair, in, &rates, &ends->A, &ends->B, ASI_NEED_ALWAYS);
  asi_distance_gradient(&pair, C);
  const double speed = asi_norm(pair.D1);
  if (speed > 0.0) code = asi_law_evaluate(&s->law, in, -s->law.rest, speed, law);
  if (code) return code;
  for (int i = 0; i < ASI_PAIR && out->force && speed > 0.0; ++i)
    for (int k = 0; k < 3; ++k) out->force[i] -= law[0] * C[k * ASI_PAIR + i] * pair.D1[k] / speed;
  if (out->f_q) add_square(-law[1], C, out->f_q);
  if (out->f_v) add_square(-law[2], C, out->f_v);
  return AS_DONE;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_spring *s = data;
  extension x;
  int code = asi_ends_move(&s->ends, in->t, &x.ends);
  if (code) return code;
  if (measure(in, false, 0.0, NULL, &x)) return at_zero_length(s, in, &x.ends, out);
  double law[3];
  code = asi_law_evaluate(&s->law, in, x.l - s->law.rest, x.rate, law);
  if (code) return code;
  if (out->force)
    for (int i = 0; i < ASI_PAIR; ++i) out->force[i] -= law[0] * x.l_q[i];
  if (out->f_q) {
    measure(in, true, law[0], out->f_q, &x);
    for (int i = 0; i < ASI_PAIR; ++i)
      for (int j = 0; j < ASI_PAIR; ++j)
        out->f_q[i * ASI_PAIR + j] -= x.l_q[i] * (law[1] * x.l_q[j] + law[2] * x.rate_q[j]);
  }
  if (out->f_v)
    for (int i = 0; i < ASI_PAIR; ++i)
      for (int j = 0; j < ASI_PAIR; ++j) out->f_v[i * ASI_PAIR + j] -= law[2] * x.l_q[i] * x.l_q[j];
  return AS_DONE;
}

static bool place(const asi_spring *s, const as_element_input *in, double *length) {
  extension x;
  if (asi_ends_move(&s->ends, in->t, &x.ends)) return false;
  *length = measure(in, false, 0.0, NULL, &x) ? 0.0 : x.l;
  return true;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_spring *s = data;
  double l;
  if (!place(s, in, &l)) return (double)NAN;
  return asi_law_potential(&s->law, in, l - s->law.rest);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_spring *s = data;
  extension x;
  double law[3], f[ASI_PAIR] = {0};
  out->dissipated = (double)NAN;
  if (asi_ends_move(&s->ends, in->t, &x.ends)) return;
  if (measure(in, false, 0.0, NULL, &x)) x.l = x.rate = 0.0;
  if (asi_law_evaluate(&s->law, in, x.l - s->law.rest, x.rate, law)) return;
  for (int i = 0; i < ASI_PAIR; ++i) f[i] = -law[0] * x.l_q[i];
  *out = asi_law_power(&s->law, in, x.l - s->law.rest, x.rate);
  out->supplied += law[0] * x.rate + asi_pair_power(in, f);
}

static int look(const void *data, const as_element_input *in, double *out) {
  const asi_spring *s = data;
  extension x;
  double law[3];
  int code = asi_ends_move(&s->ends, in->t, &x.ends);
  if (code) return code;
  if (measure(in, false, 0.0, NULL, &x)) x.l = x.rate = 0.0;
  code = asi_law_evaluate(&s->law, in, x.l - s->law.rest, x.rate, law);
  out[0] = x.l;
  out[1] = x.rate;
  out[2] = law[0];
  return code;
}

/// AS_RETRY where there is no gradient, or what the law returns.
static int view(const asi_spring *s, const as_element_input *in, asi_law_view *out) {
  extension x;
  int code = asi_ends_move(&s->ends, in->t, &x.ends);
  if (code == AS_DONE) code = measure(in, true, 0.0, NULL, &x);
  if (code == AS_DONE) code = asi_law_evaluate(&s->law, in, x.l - s->law.rest, x.rate, out->law);
  if (code) return code;
  out->value = x.l;
  out->rate = x.rate;
  memcpy(out->q, x.l_q, sizeof out->q);
  memcpy(out->rate_q, x.rate_q, sizeof out->rate_q);
  return AS_DONE;
}

const as_element_type asi_spring_type = {"spring", evaluate, potential, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("spring", ((const asi_spring *)data)->ends.frame, out);
}

static const asi_element_quantity quantities[] = {
    {"length", "m", "", 0}, {"length_rate", "m/s", "", 1}, {"tension", "N", "", 2}, {.name = NULL}};

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  const asi_spring *s = data;
  asi_law_view x;
  const int code = view(s, in, &x);
  return code ? code : asi_law_by_slots(&s->law, in, &x, slot, n, out);
}

static const asi_ends *find_line(const void *data) { return &((const asi_spring *)data)->ends; }

static const asi_law *find_law(const void *data) { return &((const asi_spring *)data)->law; }

static double potential_near(const void *data, const as_element_input *in,
                             asi_kept_potential *kept) {
  const asi_spring *s = data;
  double x;
  if (!place(s, in, &x)) return (double)NAN;
  return asi_law_potential_near(&s->law, in, x - s->law.rest, kept);
}

static int read(const void *data, const as_element_input *in, int number, double *value,
                double *by_q, double *by_v, double by_x[AS_ELEMENT_STATES]) {
  asi_law_view x;
  const int code = view(data, in, &x);
  (void)by_x;
  if (code == AS_DONE) asi_law_read(&x, number, value, by_q, by_v);
  return code;
}

static int formulas(const void *data, const asi_formula **out) {
  return asi_law_formulas(&((const asi_spring *)data)->law, out);
}

const asi_descriptor asi_spring_descriptor = {.type = &asi_spring_type,
                                              .quantities = quantities,
                                              .n_values = 3,
                                              .look = look,
                                              .reads = asi_law_reads,
                                              .read = read,
                                              .formulas = formulas,
                                              .by_slots = by_slots,
                                              .law = find_law,
                                              .potential_near = potential_near,
                                              .line = find_line,
                                              .draw = draw};
