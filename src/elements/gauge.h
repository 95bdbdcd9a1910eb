/// Gauges: quantities of the machine as formulas read them, each with its derivatives by q and v.
#ifndef ALPHASTEP_ELEMENTS_GAUGE_H
#define ALPHASTEP_ELEMENTS_GAUGE_H

#include "elements/coordinate.h"
#include "elements/descriptor.h"
#include "elements/ends.h"

typedef enum asi_gauge_kind {
  ASI_GAUGE_POSITION,   ///< a component of the origin of frame A, world axes
  ASI_GAUGE_VELOCITY,   ///< of its velocity
  ASI_GAUGE_SPIN,       ///< of the angular velocity of frame A, world axes
  ASI_GAUGE_BODY_SPIN,  ///< of the angular velocity of the first body, its own axes
  ASI_GAUGE_DISTANCE,   ///< of the origins of the two frames
  ASI_GAUGE_COORDINATE, ///< of frame B against frame A
  ASI_GAUGE_ROTATION,   ///< a component of the rotation vector of B against A
  ASI_GAUGE_ELEMENT,    ///< a quantity that the descriptor of a force lists
  // Those below are for blocks alone, see probe.h.
  ASI_GAUGE_ACCELERATION, ///< a component of the acceleration of the origin of frame A, world axes
  ASI_GAUGE_SPIN_RATE,    ///< of the angular acceleration of frame A, world axes
  ASI_GAUGE_BODY_SPIN_RATE,     ///< of the angular acceleration of the first body, its own axes
  ASI_GAUGE_TURN_ACCELERATION,  ///< second derivative of the angle of frame B about an axis of A
  ASI_GAUGE_SHIFT_ACCELERATION, ///< second derivative of its displacement along an axis of A
  ASI_GAUGE_SPECIFIC_FORCE,     ///< of acceleration less gravity, along the axes of frame A
  ASI_GAUGE_FRAME_SPIN,         ///< of the angular velocity of frame A, along its axes
  ASI_GAUGE_REACTION,           ///< force 0..2, torque 3..5, both in the joint's axes 6..8, 9..11
  ASI_GAUGE_DRIVE,              ///< the multiplier of a motion
} asi_gauge_kind;

typedef struct asi_gauge {
  asi_gauge_kind kind;
  int part;          ///< component; of an element the number
  bool rate;         ///< of a distance or a coordinate: its rate
  int body[2];       ///< which of the element's bodies
  int turn;          ///< of an angle: number of the held signal that remembers it; -1: none
  asi_coordinate of; ///< of a coordinate
  ptrdiff_t
      other; ///< of an element or joint: where its data are, in bytes from those of the reader
  const asi_descriptor *descriptor; ///< of an element
  int joint;                        ///< of a reaction or drive; of an element its number
  int n_rows;                       ///< of a reaction: how many rows the joint has
  const as_element_type *type;      ///< of a reaction: the joint's functions
  asi_ends ends;                    ///< the frames
} asi_gauge;

/// What a gauge shows, with derivatives by the moves and velocities of its two bodies.
typedef struct asi_reading {
  double value, q[ASI_PAIR], v[ASI_PAIR];
} asi_reading;

/// `data` are the element's; `turns` the held signals that remember angles. AS_RETRY where there is no such quantity or
/// it has no derivative.
int asi_gauge_read(const asi_gauge *gauge, const as_element_input *in, const void *data,
                   const double *turns, asi_reading *out);

/// Of ASI_GAUGE_ELEMENT, with derivatives by the element's states besides; `out` and `by_x` are zero on entry.
int asi_gauge_read_element(const asi_gauge *gauge, const as_element_input *in, const void *data,
                           asi_reading *out, double by_x[AS_ELEMENT_STATES]);

/// The value alone, the same in every bit.
int asi_gauge_value(const asi_gauge *gauge, const as_element_input *in, const void *data,
                    const double *turns, double *out);

/// Whether it depends on velocities.
bool asi_gauge_is_rate(const asi_gauge *gauge);

#endif
