/// Probes: what blocks read besides gauges, since it follows from the forces: accelerations and reactions. Each with
/// its derivatives by positions, velocities, accelerations and multipliers.
#ifndef ALPHASTEP_ELEMENTS_PROBE_H
#define ALPHASTEP_ELEMENTS_PROBE_H

#include "elements/gauge.h"

/// A body's acceleration, as as_body_motion has its velocity.
typedef struct asi_body_acceleration {
  double a[3];     ///< of the centre of mass, world axes [m/s^2]
  double alpha[3]; ///< omega', body axes [rad/s^2]
} asi_body_acceleration;

/// What a probe is given besides the bodies of the row that reads it.
typedef struct asi_probe_input {
  const asi_body_acceleration *acceleration; ///< of each of the row's bodies
  const double *gravity;                     ///< [m/s^2]
  const double *lambda; ///< of a reaction: the multipliers of its joint; else NULL
} asi_probe_input;

/// What it shows, with derivatives by the moves, velocities and accelerations of its two bodies, and by the multipliers.
typedef struct asi_probe_reading {
  asi_reading at;
  double a[ASI_PAIR];
  double lambda[AS_ELEMENT_ROWS];
  double x[AS_ELEMENT_STATES]; ///< of an element: by its states
} asi_probe_reading;

/// Reads any gauge, or one that only blocks read; as asi_gauge_read().
int asi_probe_read(const asi_gauge *gauge, const as_element_input *in, const asi_probe_input *more,
                   const void *data, const double *turns, asi_probe_reading *out);

/// Whether it depends on accelerations, and on multipliers.
bool asi_gauge_reads_acceleration(const asi_gauge *gauge);
bool asi_gauge_reads_reaction(const asi_gauge *gauge);

#endif
