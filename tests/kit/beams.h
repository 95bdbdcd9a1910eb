/// Beams for tests: straight ones and arcs.
#ifndef TESTS_BEAMS_H
#define TESTS_BEAMS_H

#include "alphastep/alphastep.h"

/// A beam's section by its numbers: EA, GA2, GA3, GJ, EI2, EI3; mass per length and inertia about 1, 2, 3.
as_beam_section beam_section(const double stiffness[6], double mass, const double inertia[3]);

/// Quaternion of axes whose x and y are given.
void beam_axes(const double x[3], const double y[3], double quaternion[4]);

/// A straight beam of n elements from a to b, y of its sections near `y`. Stations are nodes but for the ends, if bodies are
/// given. `def` has the rest. Fails the test if the library does.
as_beam_id beam_straight(as_builder *b, as_beam_def *def, int n, const double from[3],
                         const double to[3], const double y[3], as_body_id first, as_body_id last);

/// A dead force and torque on a body, at its centre; `factor` may be NULL.
void beam_push(as_builder *b, as_body_id body, const double force[3], const double torque[3],
               bool follows, const as_curve *factor);

#endif
