/// Quantities of a builder's machine by the names of their channels, for formulas.
#ifndef ALPHASTEP_MODEL_MEASURES_H
#define ALPHASTEP_MODEL_MEASURES_H

#include "elements/actuator.h"
#include "expression/expression.h"
#include "model/builder.h"

/// The quantities that the formulas of an element use, and the bodies that they are of.
typedef struct asi_measures {
  asi_gauge gauge[ASI_GAUGES];
  char name[ASI_GAUGES][ASI_EXPRESSION_NAME];
  int n;
  int body[AS_ELEMENT_BODIES]; ///< those that the element acts on first
  int n_bodies;
  bool too_many_bodies;
  bool no_memory;
  size_t data;   ///< where the element's data will begin
  bool of_block; ///< what follows from the forces may be used, too
} asi_measures;

/// Is it like a channel: `group.object.quantity`?
bool asi_is_channel(const char *name);

/// ASI_MEANS_SLOT with the number of a gauge, or ASI_MEANS_MISTAKE with a sentence.
asi_meaning asi_measures_find(as_builder *b, asi_measures *all, const char *name, asi_named *named);

/// The gauge of a joint's coordinate, with bodies as the joint has them; `turn` stays -1.
asi_gauge asi_joint_gauge(const as_builder *b, int joint, asi_coordinate of);

/// Which of the element's bodies a body is, added if it is not there; 0 if there are too many, which is noted.
int asi_measures_body(asi_measures *all, int body);

#endif
