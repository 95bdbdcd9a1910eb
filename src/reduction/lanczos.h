/// The lowest eigenvalues of K u = lambda M u with C u = 0: block Lanczos for K^-1 M, all vectors kept orthogonal in M, and a count of the
/// eigenvalues below a limit by the signs of pivots, so that none is missed.
#ifndef ALPHASTEP_REDUCTION_LANCZOS_H
#define ALPHASTEP_REDUCTION_LANCZOS_H

#include "reduction/held.h"

typedef struct asi_eigen {
  int count;
  double *lambda; ///< increasing
  double *vector; ///< n x count, u^T M u = 1
} asi_eigen;

/// Finds `count`; fewer if there are no more. Needs K factorized with shift 0; the factors may be others afterwards.
as_status asi_lanczos(asi_held *h, int count, asi_eigen *out, as_error *error);
void asi_eigen_free(asi_eigen *e);

#endif
