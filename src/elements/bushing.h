/// A bushing: stiffness and damping in all six directions between two frames.
#ifndef ALPHASTEP_ELEMENTS_BUSHING_H
#define ALPHASTEP_ELEMENTS_BUSHING_H

#include "base/export.h"
#include "elements/coordinate.h"
#include "elements/spring.h"

enum { ASI_BUSHING = 6 };

typedef struct asi_bushing {
  asi_ends ends;
  double K[ASI_BUSHING * ASI_BUSHING]; ///< symmetric
  double C[ASI_BUSHING * ASI_BUSHING]; ///< symmetric
  asi_law law[ASI_BUSHING];            ///< of each coordinate besides; only `both`
} asi_bushing;

ASI_IO extern const as_element_type asi_bushing_type;

/// The rotation vector of B against A; false where there is none, or where no torque depends on it.
bool asi_bushing_turn(const asi_bushing *bushing, const as_element_input *in, double r[3]);

/// rho(c) = theta/(2 sin theta) at c = cos theta > -1 and s = sin theta >= 0, and its first two derivatives by c.
void asi_rotation_ratio(double c, double s, double out[3]);

/// The rotation vector r of B against A and what it is made of, see bushing.c.
typedef struct asi_rotation {
  asi_row_sum e[3], c, r[3];
  double rho[3];
} asi_rotation;

/// AS_RETRY within 1e-4 of half a turn.
int asi_rotation_measure(asi_rotation *x, const asi_pair *pair, const as_element_input *in);

#endif
