/// A geometrically exact beam element between frames of two bodies, see beam.c.
#ifndef ALPHASTEP_ELEMENTS_BEAM_H
#define ALPHASTEP_ELEMENTS_BEAM_H

#include <stdbool.h>

#include "elements/rows.h"

enum { ASI_BEAM = 6 }; ///< strains: axial, shear 2, shear 3, torsion, bending about 2, about 3

typedef struct asi_beam {
  asi_frame frame[2];            ///< of the end sections; axis 0 is along the reference line
  double length;                 ///< of the reference line [m]
  double rest[ASI_BEAM];         ///< d of the unloaded shape
  double K[ASI_BEAM * ASI_BEAM]; ///< K*, or the section's stiffness
  double C[ASI_BEAM * ASI_BEAM]; ///< of damping
  bool damped;
} asi_beam;

extern const as_element_type asi_beam_type;

/// Rest shape and stiffness from `frame`, the bodies' unloaded poses and the section's stiffness; C = tau K. False: the frames
/// are in one place or half a turn apart, or the section's stiffness is not positive definite.
bool asi_beam_init(asi_beam *beam, const as_body_motion *a, const as_body_motion *b,
                   const double *section, bool plain, double tau);

#endif
