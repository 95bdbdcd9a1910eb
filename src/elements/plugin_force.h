/// A force of a plugin between two frames.
#ifndef ALPHASTEP_ELEMENTS_PLUGIN_FORCE_H
#define ALPHASTEP_ELEMENTS_PLUGIN_FORCE_H

#include "alphastep/plugin.h"
#include "elements/bushing.h"

/// The element's data, with its numbers behind it.
typedef struct asi_plugin_force_data {
  asi_ends ends;
  const as_plugin_force *force;
  double number[]; ///< parameters, then constants
} asi_plugin_force_data;

extern const as_element_type asi_plugin_force_type;

/// Where the plugin is evaluated; x = NULL: with the frames at rest on each other.
as_plugin_force_point asi_plugin_force_point(const asi_plugin_force_data *d, double t,
                                             const asi_bend *x);

#endif
