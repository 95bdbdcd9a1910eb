/// Forces by formula: actuators, which act along a line or a joint's coordinate, and loads.
#ifndef ALPHASTEP_ELEMENTS_ACTUATOR_H
#define ALPHASTEP_ELEMENTS_ACTUATOR_H

#include "base/export.h"
#include "elements/gauge.h"
#include "elements/spring.h"

enum {
  ASI_GAUGES = 24, ///< quantities of the machine that an element's formulas may use
  ASI_EFFORTS = 6, ///< formulas of an element
};

/// An element's data; its first two bodies are those that it acts on.
typedef struct asi_actuator {
  int n_bodies;
  int first_turn; ///< the first held signal that remembers an angle; set when a model is built
  int n_efforts;
  int part[ASI_EFFORTS];             ///< of a load: which of force x y z, torque x y z
  asi_curve_ref effort[ASI_EFFORTS]; ///< formulas
  asi_load load;                     ///< of a load: where, and the components without formula
  asi_gauge line;                    ///< of an actuator: what it acts along
  int n_gauges;                      ///< behind this struct
} asi_actuator;

/// What its formulas depend on.
static inline const asi_gauge *asi_actuator_gauges(const asi_actuator *actuator) {
  return (const asi_gauge *)(const void *)(actuator + 1);
}

ASI_IO extern const as_element_type asi_actuator_type;
ASI_IO extern const as_element_type asi_formula_load_type;

/// What an actuator or a load changes by where held signals have changed, as an element of its own.
typedef struct asi_effort_change {
  const asi_actuator *actuator;
  const double *u_before; ///< held signals that were
} asi_effort_change;

/// Their functions; NULL for elements of other types.
const as_element_type *asi_effort_change_type(const as_element_type *type);

/// Derivatives of the force on its two bodies by some slots, states or outputs of blocks: ASI_PAIR numbers each.
int asi_actuator_by_slots(const asi_actuator *actuator, const as_element_type *type,
                          const as_element_input *in, const int *slot, int n, double *out);

/// Of an actuator: its distance or coordinate, the rate of it, the force or torque along it. AS_DONE or why not.
ASI_IO int asi_actuator_look(const asi_actuator *actuator, const as_element_input *in,
                             double out[3]);

#endif
