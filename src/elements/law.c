/// The law of a spring and a damper, see spring.h.
#include <math.h>

#include "alphastep/problem.h"
#include "elements/spring.h"

int asi_law_evaluate(const asi_law *law, double extension, double rate, double out[3]) {
  out[0] = law->stiffness * extension + law->damping * rate;
  out[1] = law->stiffness;
  out[2] = law->damping;
  double curve[3];
  if (law->spring.curve) {
    const int code = asi_curve_evaluate(law->spring.curve, extension, curve);
    if (code) return code;
    out[0] += curve[0];
    out[1] += curve[1];
  }
  if (law->damper.curve) {
    const int code = asi_curve_evaluate(law->damper.curve, rate, curve);
    if (code) return code;
    out[0] += curve[0];
    out[2] += curve[1];
  }
  return AS_DONE;
}

double asi_law_potential(const asi_law *law, double extension) {
  const double curve = law->spring.curve ? asi_curve_integral(law->spring.curve, extension) : 0.0;
  return law->stiffness * extension * extension / 2.0 + curve;
}

double asi_law_dissipated(const asi_law *law, double rate) {
  double curve[3] = {0};
  if (law->damper.curve && asi_curve_evaluate(law->damper.curve, rate, curve)) return (double)NAN;
  return (law->damping * rate + curve[0]) * rate;
}
