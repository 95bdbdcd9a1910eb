/// Couplings: coordinates of two joints that go together, as toothed wheels and racks make them.
#ifndef ALPHASTEP_ELEMENTS_COUPLING_H
#define ALPHASTEP_ELEMENTS_COUPLING_H

#include "alphastep/element.h"
#include "elements/joint.h"

/// A coordinate of a joint: the angle about z, or the displacement along it.
typedef struct asi_coupling_side {
  asi_frame frame[2];
  int body[2];   ///< which of the element's bodies have them
  bool angle;    ///< otherwise a displacement
  double factor; ///< k [1 or 1/m]
} asi_coupling_side;

/// g = -unit wrap(k_0 c_0 + k_1 c_1 - offset)
typedef struct asi_coupling {
  asi_coupling_side side[2];
  int n_bodies;
  double unit;   ///< [rad or m]
  double offset; ///< [rad]
} asi_coupling;

extern const as_element_type asi_coupling_type;

/// k_0 c_0 + k_1 c_1 where the bodies are: the offset that makes it hold there.
double asi_coupling_sum(const asi_coupling *coupling, const as_element_input *in);

/// Whether a step from one place to another has slipped.
bool asi_coupling_slips(const asi_coupling *coupling, const as_element_input *from,
                        const as_element_input *to);

/// A screw as a coupling of its displacement and its angle.
asi_coupling asi_coupling_of_screw(const asi_joint *joint);

/// Flags by rows of 6 n_bodies: f_q, g_q and gdot_q; all false on entry.
void asi_coupling_pattern(const asi_coupling *coupling, bool *f_q, bool *g_q, bool *gdot_q);

#endif
