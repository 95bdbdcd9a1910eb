/// Coefficients of friction, see coefficient.h.
#include "elements/coefficient.h"

#include "alphastep/problem.h"

int asi_coefficient_evaluate(const asi_coefficient *c, const as_element_input *in, double speed,
                             double out[2]) {
  const asi_curve *law = c->law.curve;
  out[0] = c->number;
  out[1] = 0.0;
  if (law == NULL) return AS_DONE;
  double at[3];
  const int code = law->formula ? asi_formula_law(law->formula, in, speed, 0.0, 0.0, at)
                                : asi_curve_evaluate(law, speed, at);
  const bool rubs = at[0] > 0.0; // it does not drive
  out[0] = rubs ? at[0] : 0.0;
  out[1] = rubs ? at[1] : 0.0;
  return code;
}

int asi_coefficient_by_slot(const asi_coefficient *c, const as_element_input *in, double speed,
                            int slot, double *out) {
  const asi_formula *law = c->law.curve ? c->law.curve->formula : NULL;
  double now[3];
  *out = 0.0;
  if (law == NULL) return AS_DONE;
  const int code = asi_formula_law(law, in, speed, 0.0, 0.0, now);
  if (code || now[0] < 0.0) return code; // it does not drive
  return asi_formula_law_by_slot(law, in, speed, 0.0, 0.0, slot, out);
}
