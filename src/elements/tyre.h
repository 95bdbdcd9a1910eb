/// The force element of a tyre on a road: the ground, then the wheel's body.
#ifndef ALPHASTEP_ELEMENTS_TYRE_H
#define ALPHASTEP_ELEMENTS_TYRE_H

#include "alphastep/element.h"
#include "base/export.h"
#include "elements/magic.h"
#include "elements/road.h"

enum { ASI_TYRE_STATES = 2 }; ///< u and v

/// The element's data.
typedef struct asi_tyre {
  as_tyre tyre;
  double center[3], axis[3]; ///< in the wheel's body
  double crown;              ///< radius of the cross-section [m]
  double side;               ///< 1: as it was measured, -1: on the other side
  bool steady;               ///< it has no states
  asi_curve_ref road;        ///< none: the plane z = 0
} asi_tyre;

extern const as_element_type asi_tyre_type;

/// AS_DONE or why there is no contact to be looked at.
int asi_tyre_look(const asi_tyre *tyre, const as_element_input *in, as_tyre_contact *out);

/// What formulas may read of a tyre: parts of asi_tyre_read().
typedef enum asi_tyre_part {
  ASI_TYRE_KAPPA,
  ASI_TYRE_ALPHA,
  ASI_TYRE_CAMBER,
  ASI_TYRE_FX,
  ASI_TYRE_FY,
  ASI_TYRE_FZ,
  ASI_TYRE_MX,
  ASI_TYRE_MY,
  ASI_TYRE_MZ,
  ASI_TYRE_DEFLECTION,
  ASI_TYRE_RADIUS,
  ASI_TYRE_VX,
  ASI_TYRE_VY,
  ASI_TYRE_U,
  ASI_TYRE_V,
  ASI_TYRE_PARTS
} asi_tyre_part;

/// A part's value, with derivatives by the moves and velocities of ground and wheel, 12 numbers each, and by the states; AS_DONE
/// or why not.
int asi_tyre_read(const asi_tyre *tyre, const as_element_input *in, asi_tyre_part part,
                  double *value, double *by_q, double *by_v, double by_x[ASI_TYRE_STATES]);
/// Whether a part depends on the states, if there are any.
bool asi_tyre_part_reads_states(asi_tyre_part part);

#endif
