/// The law of a spring and a damper, see spring.h.
///
/// A law of two variables z(e, e') has no potential of its own. What it gives at rest, z(e, 0), counts as elastic; the
/// rest, (z(e, e') - z(e, 0)) e', counts as dissipated: together they are the power that it takes, whatever z is.
#include <math.h>

#include "alphastep/problem.h"
#include "elements/spring.h"
#include "elements/surface.h"

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
  if (law->both.curve) {
    const int code = asi_surface_evaluate(law->both.curve->surface, extension, rate, curve);
    if (code) return code;
    for (int k = 0; k < 3; ++k) out[k] += curve[k];
  }
  return AS_DONE;
}

double asi_law_potential(const asi_law *law, double extension) {
  double sum = law->stiffness * extension * extension / 2.0;
  if (law->spring.curve) sum += asi_curve_integral(law->spring.curve, extension);
  if (law->both.curve) sum += asi_surface_integral(law->both.curve->surface, extension);
  return sum;
}

double asi_law_dissipated(const asi_law *law, double extension, double rate) {
  double force = law->damping * rate, at[3], still[3];
  if (law->damper.curve) {
    if (asi_curve_evaluate(law->damper.curve, rate, at)) return (double)NAN;
    force += at[0];
  }
  if (law->both.curve) {
    const asi_surface *both = law->both.curve->surface;
    if (asi_surface_evaluate(both, extension, rate, at) ||
        asi_surface_evaluate(both, extension, 0.0, still))
      return (double)NAN;
    force += at[0] - still[0];
  }
  return force * rate;
}
