/// Stops of a joint coordinate c: a one-sided force F (penalty.c) beyond an upper and a lower limit,
///
///     S = F(c - upper, c') - F(lower - c, -c')           f = -S c_q^T          (coordinate.c)
///
/// so that S is the force that drives c back. The potential is that of the elastic parts.
#include "elements/stop.h"

#include <math.h>
#include <string.h>

#include "alphastep/problem.h"
#include "elements/coordinate.h"
#include "elements/descriptor.h"
#include "elements/why.h"

static const double half_a_turn = 3.14159265358979323846;

static int measure(const asi_stop *s, const as_element_input *in, asi_ends_now *ends,
                   asi_measure *x) {
  const int code = asi_ends_move(&s->ends, in->t, ends);
  if (code) return code;
  if (asi_measure_coordinate(x, s->coordinate, in, &ends->A, &ends->B, s->near)) return AS_DONE;
  return asi_retry(in, ASI_WHY_ANGLE);
}

/// S, S_c, S_c'
static int law(const asi_stop *s, const as_element_input *in, const asi_measure *x, double out[3]) {
  double above[3], below[3];
  int code = asi_penalty_evaluate(&s->law, in, x->value - s->upper, x->rate, above);
  if (code == AS_DONE)
    code = asi_penalty_evaluate(&s->law, in, s->lower - x->value, -x->rate, below);
  if (code) return code;
  out[0] = above[0] - below[0];
  out[1] = above[1] + below[1];
  out[2] = above[2] + below[2];
  return AS_DONE;
}

static int evaluate(const as_element_input *in, const as_element_output *out, const void *data) {
  const asi_stop *s = data;
  asi_ends_now ends;
  asi_measure x;
  double S[3];
  int code = measure(s, in, &ends, &x);
  if (code == AS_DONE) code = law(s, in, &x, S);
  if (code == AS_DONE && (S[0] != 0.0 || S[1] != 0.0)) asi_act_along(&x, S, out);
  return code;
}

/// The angle that it is at; false: it is a displacement, or has no value.
static bool find_angle(const asi_stop *s, const as_element_input *in, double *angle) {
  asi_ends_now ends;
  return s->coordinate.kind != ASI_COORDINATE_SHIFT &&
         asi_ends_move(&s->ends, in->t, &ends) == AS_DONE &&
         asi_coordinate_value(s->coordinate, in, &ends.A, &ends.B, s->near, false, angle);
}

/// Whether its torque jumps where the angle passes half a turn from the middle of the limits, and is that on the other side.
static bool has_jump(const asi_stop *s, const as_element_input *in) {
  double S[2][3];
  for (int k = 0; k < 2; ++k) {
    const asi_measure x = {.value = s->near + (k == 0 ? half_a_turn : -half_a_turn)};
    if (law(s, in, &x, S[k])) return false;
  }
  return fabs(S[1][0] - S[0][0]) > 1e-9 * (fabs(S[1][0]) + fabs(S[0][0]));
}

static int by_slots(const void *data, const as_element_input *in, const int *slot, int n,
                    double *out) {
  const asi_stop *s = data;
  asi_ends_now ends;
  asi_measure x;
  int code = measure(s, in, &ends, &x);
  memset(out, 0, (size_t)n * ASI_PAIR * sizeof(double));
  for (int k = 0; k < n && code == AS_DONE; ++k, out += ASI_PAIR) {
    double above, below = 0.0;
    code = asi_penalty_by_slot(&s->law, in, x.value - s->upper, x.rate, slot[k], &above);
    if (code == AS_DONE)
      code = asi_penalty_by_slot(&s->law, in, s->lower - x.value, -x.rate, slot[k], &below);
    const double S[3] = {above - below, 0.0, 0.0};
    if (code == AS_DONE) asi_act_along(&x, S, &(as_element_output){.force = out});
  }
  return code;
}

static double potential(const as_element_input *in, const void *data) {
  const asi_stop *s = data;
  asi_ends_now ends;
  asi_measure x;
  if (measure(s, in, &ends, &x)) return (double)NAN;
  return asi_penalty_potential(&s->law, in, x.value - s->upper) +
         asi_penalty_potential(&s->law, in, s->lower - x.value);
}

static void power(const as_element_input *in, as_element_power *out, const void *data) {
  const asi_stop *s = data;
  asi_ends_now ends;
  asi_measure x;
  double S[3], f[ASI_PAIR] = {0};
  if (measure(s, in, &ends, &x) || law(s, in, &x, S)) {
    out->dissipated = (double)NAN;
    return;
  }
  asi_act_along(&x, S, &(as_element_output){.force = f});
  const as_element_power above = asi_penalty_power(&s->law, in, x.value - s->upper, x.rate);
  const as_element_power below = asi_penalty_power(&s->law, in, s->lower - x.value, -x.rate);
  out->dissipated = above.dissipated + below.dissipated;
  out->supplied = above.supplied + below.supplied + S[0] * x.rate + asi_pair_power(in, f);
}

const as_element_type asi_stop_type = {"stop", evaluate, potential, power};

static void draw(const void *data, asi_drawing *out) {
  asi_draw_between("stop", ((const asi_stop *)data)->ends.frame, out);
}

static int formulas(const void *data, const asi_formula **out) {
  return asi_penalty_formulas(&((const asi_stop *)data)->law, out);
}

/// Whether the joint has turned so far away from its limits that it meets them from behind.
static bool jumps(const void *data, const as_element_input *from, const as_element_input *to) {
  double angle[2];
  return find_angle(data, from, &angle[0]) && find_angle(data, to, &angle[1]) &&
         fabs(angle[1] - angle[0]) > half_a_turn && has_jump(data, to);
}

const asi_descriptor asi_stop_descriptor = {
    .type = &asi_stop_type,
    .formulas = formulas,
    .by_slots = by_slots,
    .jumps = jumps,
    .jump = {"the joint of the stop",
             "turns by more than half a turn away from the middle of its limits, where it meets "
             "them from behind; give it both limits, or an event"},
    .draw = draw};
