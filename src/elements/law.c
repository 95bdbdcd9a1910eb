/// The law of a spring and a damper, see spring.h.
///
/// A law of two variables z(e, e') has no potential of its own. What it gives at rest, z(e, 0), counts as elastic; the
/// rest, (z(e, e') - z(e, 0)) e', counts as dissipated: together they are the power that it takes, whatever z is. A
/// formula that depends on t or on parameters, or has no value at e = 0, stores nothing: what it gives at rest counts as
/// supplied, -z(e, 0) e'.
#include <math.h>

#include "alphastep/problem.h"
#include "elements/spring.h"
#include "elements/surface.h"

/// One of the functions that it is made of: value, derivatives by e and by e'.
static int part(const asi_law *law, const asi_curve *c, const as_element_input *in, double e,
                double rate, double out[3]) {
  if (c->formula) return asi_formula_law(c->formula, in, e + law->rest, rate, law->rest, out);
  if (c->surface) return asi_surface_evaluate(c->surface, e, rate, out);
  double at[3];
  const bool of_rate = c == law->damper.curve;
  const int code = asi_curve_evaluate(c, of_rate ? rate : e, at);
  out[0] = at[0];
  out[1] = of_rate ? 0.0 : at[1];
  out[2] = of_rate ? at[1] : 0.0;
  return code;
}

int asi_law_evaluate(const asi_law *law, const as_element_input *in, double e, double rate,
                     double out[3]) {
  const asi_curve *const parts[3] = {law->spring.curve, law->damper.curve, law->both.curve};
  out[0] = law->stiffness * e + law->damping * rate;
  out[1] = law->stiffness;
  out[2] = law->damping;
  for (int i = 0; i < 3; ++i) {
    double z[3];
    if (parts[i] == NULL) continue;
    const int code = part(law, parts[i], in, e, rate, z);
    if (code) return code;
    for (int k = 0; k < 3; ++k) out[k] += z[k];
  }
  return AS_DONE;
}

int asi_law_by_slot(const asi_law *law, const as_element_input *in, double e, double rate, int slot,
                    double *out) {
  const asi_curve *const parts[3] = {law->spring.curve, law->damper.curve, law->both.curve};
  *out = 0.0;
  for (int i = 0; i < 3; ++i) {
    double z;
    if (parts[i] == NULL || parts[i]->formula == NULL) continue;
    const int code =
        asi_formula_law_by_slot(parts[i]->formula, in, e + law->rest, rate, law->rest, slot, &z);
    if (code) return code;
    *out += z;
  }
  return AS_DONE;
}

/// Whether what it gives at rest counts as supplied.
static bool drives(const asi_law *law, const asi_curve *c, const as_element_input *in) {
  return c->formula && !asi_formula_stores(c->formula, in, law->rest);
}

static double stored(const asi_law *law, const asi_curve *c, const as_element_input *in, double e) {
  if (drives(law, c, in)) return 0.0;
  if (c->formula) return asi_formula_integral(c->formula, in, law->rest, 0.0, e, 0.125);
  return c->surface ? asi_surface_integral(c->surface, e) : asi_curve_integral(c, e);
}

double asi_law_potential(const asi_law *law, const as_element_input *in, double e) {
  double sum = law->stiffness * e * e / 2.0;
  if (law->spring.curve) sum += stored(law, law->spring.curve, in, e);
  if (law->both.curve) sum += stored(law, law->both.curve, in, e);
  return sum;
}

bool asi_law_stores_by_formula(const asi_law *law) {
  const asi_curve *spring = law->spring.curve, *both = law->both.curve;
  return (spring && spring->formula) || (both && both->formula);
}

/// The nearest number with four bits.
static double round_coarsely(double x) {
  int exponent;
  const double mantissa = frexp(x, &exponent);
  return ldexp(round(16.0 * mantissa), exponent - 4);
}

double asi_law_potential_near(const asi_law *law, const as_element_input *in, double e,
                              asi_kept_potential *kept) {
  const asi_curve *const parts[2] = {law->spring.curve, law->both.curve};
  const double place = round_coarsely(e);
  if (kept->at != place) {
    kept->energy = asi_law_potential(law, in, place);
    kept->at = place;
  }
  double sum = kept->energy + law->stiffness * (e - place) * (e + place) / 2.0;
  for (int i = 0; i < 2; ++i) {
    if (parts[i] == NULL || drives(law, parts[i], in)) continue;
    sum += parts[i]->formula ? asi_formula_integral(parts[i]->formula, in, law->rest, place, e, 1.0)
                             : stored(law, parts[i], in, e) - stored(law, parts[i], in, place);
  }
  return sum;
}

as_element_power asi_law_power(const asi_law *law, const as_element_input *in, double e,
                               double rate) {
  const asi_curve *spring = law->spring.curve, *damper = law->damper.curve, *both = law->both.curve;
  double lost = law->damping * rate, driven = 0.0, now[3] = {0.0}, still[3] = {0.0};
  int code = AS_DONE;
  if (spring && drives(law, spring, in)) {
    code = part(law, spring, in, e, rate, still);
    driven += still[0];
  }
  if (damper && code == AS_DONE) {
    code = part(law, damper, in, e, rate, now);
    lost += now[0];
  }
  if (both && code == AS_DONE) {
    code = part(law, both, in, e, rate, now);
    if (code == AS_DONE) code = part(law, both, in, e, 0.0, still);
    lost += now[0] - still[0];
    if (drives(law, both, in)) driven += still[0];
  }
  if (code) return (as_element_power){.dissipated = (double)NAN};
  return (as_element_power){.dissipated = lost * rate, .supplied = -driven * rate};
}

int asi_law_by_slots(const asi_law *law, const as_element_input *in, const asi_law_view *x,
                     const int *slot, int n, double *out) {
  int code = AS_DONE;
  for (int i = 0; i < n && code == AS_DONE; ++i) {
    double by;
    code = asi_law_by_slot(law, in, x->value - law->rest, x->rate, slot[i], &by);
    for (int j = 0; j < ASI_PAIR; ++j) out[i * ASI_PAIR + j] = -by * x->q[j];
  }
  return code;
}

int asi_law_formulas(const asi_law *law, const asi_formula **out) {
  int n = asi_curve_formulas(law->spring.curve, out);
  n += asi_curve_formulas(law->damper.curve, out + n);
  return n + asi_curve_formulas(law->both.curve, out + n);
}

/// x, x' and S(x, x'): S has S_x x_q + S_x' D_q x' by places and S_x' x_q by velocities.
void asi_law_read(const asi_law_view *x, int number, double *value, double *by_q, double *by_v) {
  const double by_value = number == 0 ? 1.0 : number == 1 ? 0.0 : x->law[1];
  const double by_rate = number == 0 ? 0.0 : number == 1 ? 1.0 : x->law[2];
  *value = number == 0 ? x->value : number == 1 ? x->rate : x->law[0];
  for (int i = 0; i < ASI_PAIR; ++i) {
    by_q[i] = by_value * x->q[i] + by_rate * x->rate_q[i];
    by_v[i] = by_rate * x->q[i];
  }
}

unsigned asi_law_reads(int number) {
  return ASI_READS_PLACES | (number > 0 ? ASI_READS_VELOCITIES : 0u) |
         (number == 2 ? ASI_READS_LAW : 0u);
}
