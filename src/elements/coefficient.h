/// Coefficients of friction: a number, or a function of the speed of sliding.
#ifndef ALPHASTEP_ELEMENTS_COEFFICIENT_H
#define ALPHASTEP_ELEMENTS_COEFFICIENT_H

#include "elements/curve.h"

typedef struct asi_coefficient {
  double number;
  asi_curve_ref law; ///< against the speed [m/s] instead; negative: zero
} asi_coefficient;

/// Its value and its derivative by the speed; AS_DONE or what the function returns.
int asi_coefficient_evaluate(const asi_coefficient *c, const as_element_input *in, double speed,
                             double out[2]);
/// Its derivative by a slot of its formula: a state or output of blocks.
int asi_coefficient_by_slot(const asi_coefficient *c, const as_element_input *in, double speed,
                            int slot, double *out);

#endif
