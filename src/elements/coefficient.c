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
