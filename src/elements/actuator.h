/// Forces by formula: actuators, which act along a line or a joint's coordinate, and loads.
#ifndef ALPHASTEP_ELEMENTS_ACTUATOR_H
#define ALPHASTEP_ELEMENTS_ACTUATOR_H

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

extern const as_element_type asi_actuator_type;
extern const as_element_type asi_formula_load_type;

#endif
