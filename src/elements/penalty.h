/// The force of a stop or a contact against its depth: it pushes, it damps, it never pulls.
#ifndef ALPHASTEP_ELEMENTS_PENALTY_H
#define ALPHASTEP_ELEMENTS_PENALTY_H

#include "elements/curve.h"

typedef struct asi_penalty {
  double stiffness;    ///< [N/m^exponent]
  double exponent;     ///< >= 1
  double damping;      ///< [s/m]
  double onset;        ///< depth over which the stiffness comes up [m]; 0: at once
  asi_curve_ref curve; ///< elastic force against depth instead, perhaps a formula
  asi_curve_ref both;  ///< a surface or a formula: the whole force against depth and rate instead
} asi_penalty;

/// Force and its derivatives by depth and by its rate. AS_DONE or what the curve returns.
int asi_penalty_evaluate(const asi_penalty *p, const as_element_input *in, double depth,
                         double rate, double out[3]);
/// The derivative of the force by a slot of its formulas: a state or output of blocks.
int asi_penalty_by_slot(const asi_penalty *p, const as_element_input *in, double depth, double rate,
                        int slot, double *out);
double asi_penalty_potential(const asi_penalty *p, const as_element_input *in, double depth);
/// What the damping takes, >= 0 but of surfaces and formulas; and what a formula brings in that depends on t or on
/// parameters.
as_element_power asi_penalty_power(const asi_penalty *p, const as_element_input *in, double depth,
                                   double rate);

/// Its formulas; returns how many.
int asi_penalty_formulas(const asi_penalty *law, const struct asi_formula **out);

#endif
