/// A one-sided force F = E(x) D(c x') against a depth x, zero where x <= 0.
///
/// Elastic part: E = k y(x)^p. With an onset w the stiffness comes up smoothly, y' = 3 u^2 - 2 u^3, u = x/w:
///
///     y = w (u^3 - u^4/2)   for 0 < x < w,      y = x - w/2   beyond,      y = x   without an onset
///
/// y has two continuous derivatives; without an onset E has those of x^p: one if p > 1, two if p > 2. Or E is a curve, cut off
/// where it is negative: nothing pulls.
///
/// Damping part, with s = c x': Hunt and Crossley's 1 + s while the depth grows. While it shrinks 1 + s would pull
/// below s = -1; instead
///
///     D(s) = 1 + s   for s >= 0,      D(s) = 1/(1 - s + s^2) = (1 + s)/(1 + s^3)   for s < 0
///
/// which differs from 1 + s only at third order, has two continuous derivatives, is positive and increases
/// everywhere. So F >= 0, and E (D - 1) x' >= 0 is what it dissipates.
///
/// Or F = max(0, z(x, x')) is a function of two variables; then z(x, 0) counts as elastic and F - z(x, 0) as damping.
/// Where E or z is a formula that depends on t or on parameters, what would be elastic stores nothing and counts as
/// supplied.
#include "elements/penalty.h"

#include <math.h>

#include "alphastep/problem.h"
#include "elements/gauss.h"
#include "elements/surface.h"

/// E and E_x at x > 0.
static int elastic(const asi_penalty *p, const as_element_input *in, double x, double out[2]) {
  if (p->curve.curve) {
    double at[3];
    const asi_formula *formula = p->curve.curve->formula;
    const int code = formula ? asi_formula_law(formula, in, x, 0.0, 0.0, at)
                             : asi_curve_evaluate(p->curve.curve, x, at);
    if (code) return code;
    out[0] = fmax(at[0], 0.0);
    out[1] = at[0] < 0.0 ? 0.0 : at[1];
    return AS_DONE;
  }
  const double w = p->onset, u = x < w ? x / w : 1.0;
  const double y = x < w ? w * u * u * u * (1.0 - u / 2.0) : x - w / 2.0;
  const double power = p->stiffness * pow(y, p->exponent - 1.0);
  out[0] = power * y;
  out[1] = p->exponent * power * u * u * (3.0 - 2.0 * u);
  return AS_DONE;
}

/// D and D_s.
static void damping(double s, double out[2]) {
  if (s >= 0.0) {
    out[0] = 1.0 + s;
    out[1] = 1.0;
    return;
  }
  const double w = 1.0 - s + s * s;
  out[0] = 1.0 / w;
  out[1] = (1.0 - 2.0 * s) / (w * w);
}

static int given(const asi_curve *both, const as_element_input *in, double depth, double rate,
                 double out[3]) {
  const int code = both->formula ? asi_formula_law(both->formula, in, depth, rate, 0.0, out)
                                 : asi_surface_evaluate(both->surface, depth, rate, out);
  if (code == AS_DONE && out[0] < 0.0) out[0] = out[1] = out[2] = 0.0;
  return code;
}

int asi_penalty_evaluate(const asi_penalty *p, const as_element_input *in, double depth,
                         double rate, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  if (!(depth > 0.0)) return AS_DONE;
  if (p->both.curve) return given(p->both.curve, in, depth, rate, out);
  double E[2], D[2];
  const int code = elastic(p, in, depth, E);
  if (code) return code;
  damping(p->damping * rate, D);
  out[0] = E[0] * D[0];
  out[1] = E[1] * D[0];
  out[2] = E[0] * D[1] * p->damping;
  return AS_DONE;
}

/// Where E or z is cut off it depends on nothing.
int asi_penalty_by_slot(const asi_penalty *p, const as_element_input *in, double depth, double rate,
                        int slot, double *out) {
  const asi_curve *both = p->both.curve, *c = both ? both : p->curve.curve;
  double now[3], D[2] = {1.0, 0.0};
  *out = 0.0;
  if (!(depth > 0.0) || c == NULL || c->formula == NULL) return AS_DONE;
  const double with = both ? rate : 0.0;
  int code = asi_formula_law(c->formula, in, depth, with, 0.0, now);
  if (code || now[0] < 0.0) return code;
  code = asi_formula_law_by_slot(c->formula, in, depth, with, 0.0, slot, out);
  if (!both) damping(p->damping * rate, D);
  *out *= D[0];
  return code;
}

typedef struct at_rest {
  const asi_penalty *p;
  const as_element_input *in;
} at_rest;

static double force_at_rest(double x, const void *data) {
  const at_rest *a = data;
  double out[3];
  return asi_penalty_evaluate(a->p, a->in, x, 0.0, out) ? (double)NAN : out[0];
}

/// Whether a table or a function would pull somewhere, and may have been cut off. A spline overshoots its points.
static bool may_be_cut(const asi_curve *c) {
  double at[3];
  if (c->formula || c->given.function) return true;
  if (c->surface) return !asi_surface_pushes(c->surface);
  if (c->n == 0) return c->given.constant < 0.0 || c->given.slope < 0.0;
  bool pushes = c->given.interpolation != AS_SPLINE && c->slope[c->n - 1] >= 0.0;
  for (int i = 0; i < c->n && pushes; ++i) pushes = c->y[i] >= 0.0;
  return !pushes || asi_curve_evaluate(c, 0.0, at) || at[0] < 0.0;
}

/// What is given in the place of stiffness and damping; NULL: nothing.
static const asi_curve *curve_of(const asi_penalty *p) {
  return p->both.curve ? p->both.curve : p->curve.curve;
}
static bool varies(const asi_penalty *p) {
  const asi_curve *c = curve_of(p);
  return c && c->formula && c->formula->varies;
}

double asi_penalty_potential(const asi_penalty *p, const as_element_input *in, double depth) {
  enum { PIECES = 16 };
  const asi_curve *c = curve_of(p);
  const at_rest it = {p, in};
  if (!(depth > 0.0) || varies(p)) return 0.0;
  if (c && may_be_cut(c)) return asi_gauss_adaptive(force_at_rest, &it, 0.0, depth, 0.125);
  if (p->both.curve) return asi_surface_integral(p->both.curve->surface, depth);
  if (p->curve.curve) return asi_curve_integral(p->curve.curve, depth);
  const double w = p->onset, n = p->exponent + 1.0;
  const double soft = w > 0.0 ? asi_gauss(force_at_rest, &it, 0.0, fmin(depth, w), PIECES) : 0.0;
  if (depth <= w) return soft;
  return soft + p->stiffness / n * (pow(depth - w / 2.0, n) - pow(w / 2.0, n));
}

as_element_power asi_penalty_power(const asi_penalty *p, const as_element_input *in, double depth,
                                   double rate) {
  double now[3], still[3];
  if (asi_penalty_evaluate(p, in, depth, rate, now) ||
      asi_penalty_evaluate(p, in, depth, 0.0, still))
    return (as_element_power){.dissipated = (double)NAN};
  return (as_element_power){.dissipated = (now[0] - still[0]) * rate,
                            .supplied = varies(p) ? -still[0] * rate : 0.0};
}

int asi_penalty_formulas(const asi_penalty *law, const asi_formula **out) {
  const int n = asi_curve_formulas(law->curve.curve, out);
  return n + asi_curve_formulas(law->both.curve, out + n);
}
