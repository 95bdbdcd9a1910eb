/// A list of modes that is being made.
#ifndef ALPHASTEP_ANALYSIS_MODES_H
#define ALPHASTEP_ANALYSIS_MODES_H

#include "alphastep/linearization.h"

/// Room for `modes` modes with shapes of n and vectors of n_states components; NULL: no memory.
as_modes *asi_modes_take(int modes, int n, int n_states);
/// Where the parts of shape and vector of a mode stand.
double *asi_modes_shape(as_modes *m, int mode, int n, int n_states);
double *asi_modes_vector(as_modes *m, int mode, int n, int n_states);
/// Fills what follows from an eigenvalue; what is below `noise` is zero.
void asi_mode_set(as_mode *mode, double re, double im, double noise);
/// Scales and turns shape and vector so that the largest component of the shape is 1 in typical sizes.
void asi_mode_normalize(double *shape, double *vector, int n, int n_states, const double *typical);
/// [LI.8] Eigenvalues of a dense matrix, zeros split off where singular values are below `limit` of the largest. -1: no memory, 1: LAPACK has
/// not converged.
int asi_eigenvalues(const double *a, int n, double limit, double *re, double *im);
/// Sorts, the slowest first, and counts.
void asi_modes_finish(as_modes *m);

#endif
