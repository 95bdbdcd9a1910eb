/// A torsional spring and damper about z of two frames: a torque S(phi, phi') on the first body about z, its
/// opposite on the second, against the angle phi of coordinate.c: f = -S phi_q^T.
///
/// Where a frame moves against its body phi depends on t besides; the motion brings in S phi_t = S phi' + f . v.
#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/coordinate.h"
#include "elements/descriptor.h"
#include "elements/spring.h"
#include "elements/why.h"

static const double half_a_turn = 3.14159265358979323846;

static const asi_coordinate about_z = {ASI_COORDINATE_ANGLE, 2};

double asi_twist(const as_body_motion *a, const as_body_motion *b, const asi_frame_now *A,
                 const asi_frame_now *B, double near) {
  const as_element_input in = {.body = {a, b}};
  asi_measure x;
  return asi_measure_coordinate(&x, about_z, &in, A, B, near) ? x.value : near;
}

static int measure(const asi_torsion *t, const as_element_input *in, asi_ends_now *ends,
                   asi_measure *x) {
  const int code = asi_ends_move(&t->ends, in->t, ends);
  if (code) return code;
  if (asi_measure_coordinate(x, about_z, in, &ends->A, &ends->B, t->law.rest)) return AS_DONE;
  return asi_retry(in, ASI_WHY_ANGLE);
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_torsion *t = data;
  asi_ends_now ends;
  asi_measure x;
  double law[3];
  int code = measure(t, in, &ends, &x);
  if (code == AS_DONE) code = asi_law_evaluate(&t->law, in, x.value - t->law.rest, x.rate, law);
  if (code == AS_DONE) asi_act_along(&x, law, out);
  return code;
}

static bool place(const asi_torsion *t, const as_element_input *in, double *angle) {
  asi_ends_now ends;
  asi_measure x;
  if (measure(t, in, &ends, &x)) return false;
  *angle = x.value;
  return true;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_torsion *t = data;
  double angle;
  if (!place(t, in, &angle)) return (double)NAN;
  return asi_law_potential(&t->law, in, angle - t->law.rest);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_torsion *t = data;
  asi_ends_now ends;
  asi_measure x;
  double law[3], f[ASI_PAIR] = {0};
  if (measure(t, in, &ends, &x) ||
      asi_law_evaluate(&t->law, in, x.value - t->law.rest, x.rate, law)) {
    out->dissipated = (double)NAN;
    return;
  }
  asi_act_along(&x, law, &(as_element_output){.force = f});
  *out = asi_law_power(&t->law, in, x.value - t->law.rest, x.rate);
  out->supplied += law[0] * x.rate + asi_pair_power(in, f);
}

static int look(const void *data, const as_element_input *in, double *out) {
  const asi_torsion *t = data;
  asi_ends_now ends;
  asi_measure x;
  double law[3];
  int code = measure(t, in, &ends, &x);
  if (code == AS_DONE) code = asi_law_evaluate(&t->law, in, x.value - t->law.rest, x.rate, law);
  if (code) return code;
  out[0] = x.value;
  out[1] = x.rate;
  out[2] = law[0];
  return AS_DONE;
}

/// AS_RETRY where there is no gradient, or what the law returns.
static int view(const asi_torsion *t, const as_element_input *in, asi_law_view *out) {
  asi_ends_now ends;
  asi_measure x;
  int code = measure(t, in, &ends, &x);
  if (code == AS_DONE)
    code = asi_law_evaluate(&t->law, in, x.value - t->law.rest, x.rate, out->law);
  if (code) return code;
  out->value = x.value;
  out->rate = x.rate;
  memcpy(out->q, x.q, sizeof out->q);
  memcpy(out->rate_q, x.rate_q, sizeof out->rate_q);
  return AS_DONE;
}

const as_element_type asi_torsion_type = {"torsional spring", evaluate, potential, power};

/// A moment acts at no point, the frames may be anywhere.
static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("torsion", ((const asi_torsion *)data)->ends.frame, out);
  out->at_joint = true;
}

static const asi_element_quantity quantities[] = {{"angle", "rad", "", 0},
                                                  {"angle_rate", "rad/s", "", 1},
                                                  {"moment", "N m", "", 2},
                                                  {.name = NULL}};

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  const asi_torsion *s = data;
  asi_law_view x;
  const int code = view(s, in, &x);
  return code ? code : asi_law_by_slots(&s->law, in, &x, slot, n, out);
}

static const asi_law *find_law(const void *data) { return &((const asi_torsion *)data)->law; }

static double potential_near(const void *data, const as_element_input *in,
                             asi_kept_potential *kept) {
  const asi_torsion *s = data;
  double x;
  if (!place(s, in, &x)) return (double)NAN;
  return asi_law_potential_near(&s->law, in, x - s->law.rest, kept);
}

/// Whether it has turned by more than half a turn, where its torque jumps.
static bool jumps(const void *data, const as_element_input *from, const as_element_input *to) {
  const asi_torsion *t = data;
  double now[2][3], law[2][3];
  if (look(t, from, now[0]) || look(t, to, now[1])) return false;
  if (fabs(now[1][0] - now[0][0]) <= half_a_turn) return false;
  for (int k = 0; k < 2; ++k)
    if (asi_law_evaluate(&t->law, to, k == 0 ? half_a_turn : -half_a_turn, 0.0, law[k]))
      return false;
  return fabs(law[1][0] - law[0][0]) > 1e-9 * (fabs(law[1][0]) + fabs(law[0][0]));
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
  return asi_law_formulas(&((const asi_torsion *)data)->law, out);
}

const asi_descriptor asi_torsion_descriptor = {.type = &asi_torsion_type,
                                               .quantities = quantities,
                                               .n_values = 3,
                                               .look = look,
                                               .reads = asi_law_reads,
                                               .read = read,
                                               .formulas = formulas,
                                               .by_slots = by_slots,
                                               .law = find_law,
                                               .potential_near = potential_near,
                                               .jumps = jumps,
                                               .jump = ASI_TURNS_ROUND,
                                               .draw = draw};
