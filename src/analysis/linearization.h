/// What the files of a linearization share.
///
/// linearization.c  the linear system about a state: blocks, columns, axes
/// tangent.c        which components are free, and how the others follow from them
/// modes.c          eigenvalues of the dense matrix A
/// slowest.c        eigenvalues of large problems at rest
#ifndef ALPHASTEP_ANALYSIS_LINEARIZATION_H
#define ALPHASTEP_ANALYSIS_LINEARIZATION_H

#include "alphastep/linearization.h"
#include "core/driver/integrator.h"

/// Rows C z = r, of which some imply the others; the components of z are dependent ones, which follow, and free ones.
typedef struct asi_tangent {
  int n, rank;
  int *order; ///< n components: `rank` dependent ones, then the free ones, each in increasing order
  int *row;   ///< rank rows that imply the others
  double *factor; ///< rank x rank: LU of these rows in the dependent components
  int *pivot;     ///< rank
  double *rest;   ///< rank x (n - rank): these rows in the free components
} asi_tangent;

/// Chooses rows and components of the rows x n matrix c (by columns). Components of large weight are rather dependent; rows whose
/// singular value is below `limit` of the largest are implied by others. rank >= 0: it is known.
as_status asi_tangent_init(asi_tangent *t, const double *c, int rows, int n, const double *weight,
                           double limit, int rank, as_error *error);
/// The same rows and components with other numbers. AS_ERR_SINGULAR: they do not serve here.
as_status asi_tangent_update(asi_tangent *t, const double *c, int rows);
as_status asi_tangent_copy(asi_tangent *t, const asi_tangent *from);
void asi_tangent_free(asi_tangent *t);
/// Completes z, whose free components are given, so that C z = r in the rows kept; r may be NULL: zero. `work`: rank numbers.
void asi_tangent_complete(const asi_tangent *t, const double *r, double *z, double *work);

/// Names the component that accelerates most, from values that were started: its size in *most. -1: none.
int asi_most_accelerated(const as_problem *p, const double *vdot, const double *xdot, double *most);

// LAPACK
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *ipiv, double *b, const int *ldb, int *info, size_t trans_length);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t jobvl_length, size_t jobvr_length);

#endif
