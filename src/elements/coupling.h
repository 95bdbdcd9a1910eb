/// Couplings: coordinates of two joints that go together, as toothed wheels and racks make them.
#ifndef ALPHASTEP_ELEMENTS_COUPLING_H
#define ALPHASTEP_ELEMENTS_COUPLING_H

#include "alphastep/element.h"
#include "elements/joint.h"
#include "elements/tooth.h"

/// A coordinate of one frame against another: an angle, or a displacement along z.
typedef struct asi_coupling_side {
  asi_frame frame[2];
  int body[2]; ///< which of the element's bodies have them
  asi_coordinate of;
  double factor; ///< k [1 or 1/m]
} asi_coupling_side;

enum { ASI_COUPLING_SIDES = 4 };

/// g = -unit wrap(sum of k c - offset). The first two bodies are the wheels. With torques only, the first two sides are
/// coordinates of the two joints; with tooth forces they are of one wheel against the other.
typedef struct asi_coupling {
  asi_coupling_side side[ASI_COUPLING_SIDES];
  int n_sides;
  int n_bodies;
  double unit;        ///< [rad or m]
  double offset;      ///< [rad]
  asi_frame wheel[2]; ///< of the joints, on the wheels
  asi_tooth tooth;
} asi_coupling;

extern const as_element_type asi_coupling_type;

/// The sum of k c where the bodies are: the offset that makes it hold there.
double asi_coupling_sum(const asi_coupling *coupling, const as_element_input *in);

/// Whether a step from one place to another has slipped.
bool asi_coupling_slips(const asi_coupling *coupling, const as_element_input *from,
                        const as_element_input *to);

/// A screw as a coupling of its displacement and its angle.
asi_coupling asi_coupling_of_screw(const asi_joint *joint);

/// Flags by rows of 6 n_bodies: f_q, g_q and gdot_q; all false on entry.
void asi_coupling_pattern(const asi_coupling *coupling, bool *f_q, bool *g_q, bool *gdot_q);

#endif
