/// A bushing: stiffness and damping in all six directions between two frames.
#ifndef ALPHASTEP_ELEMENTS_BUSHING_H
#define ALPHASTEP_ELEMENTS_BUSHING_H

#include "elements/coordinate.h"
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

/// The rotation vector r of B against A and what it is made of, see bushing.c.
typedef struct asi_rotation {
  asi_row_sum e[3], c, r[3];
  double rho[3];
} asi_rotation;

/// AS_RETRY within 1e-4 of half a turn. `wanted`: ASI_SUM_RATE and the like.
int asi_rotation_measure(asi_rotation *x, const asi_pair *pair, const as_element_input *in,
                         unsigned wanted);

/// The six coordinates z of B against A and what they are made of; S is what acts along them, for who fills it in.
typedef struct asi_bend {
  asi_ends_now ends;
  asi_pair pair;
  asi_row_sum z[ASI_BUSHING];
  asi_rotation turn;
  double S[ASI_BUSHING];
} asi_bend;

/// AS_DONE or why not.
int asi_bend_measure(const asi_ends *ends, const as_element_input *in, unsigned wanted,
                     asi_bend *x);
/// force -= z_q^T S
void asi_bend_force(const asi_bend *x, double *force);
/// f_q -= sum_i S_i D_q z_i,q^T
void asi_bend_curvature(const asi_bend *x, const as_element_input *in, double *f_q);

#endif
