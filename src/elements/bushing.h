/// A bushing: stiffness and damping in all six directions between two frames.
#ifndef ALPHASTEP_ELEMENTS_BUSHING_H
#define ALPHASTEP_ELEMENTS_BUSHING_H

#include "elements/spring.h"

enum { ASI_BUSHING = 6 };

typedef struct asi_bushing {
  asi_ends ends;
  double K[ASI_BUSHING * ASI_BUSHING]; ///< symmetric
  double C[ASI_BUSHING * ASI_BUSHING]; ///< symmetric
  asi_law law[ASI_BUSHING];            ///< of each coordinate besides; only `both`
} asi_bushing;

extern const as_element_type asi_bushing_type;

/// rho(c) = theta/(2 sin theta) at c = cos theta > -1 and s = sin theta >= 0, and its first two derivatives by c.
void asi_rotation_ratio(double c, double s, double out[3]);

#endif
