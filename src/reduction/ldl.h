/// Factors L D L^T of large sparse symmetric matrices, without exchanges of rows: of stiffness matrices, and of K - s M, whose number of
/// negative pivots is the number of eigenvalues below s (Sylvester).
///
/// Multifrontal: columns with nearly the same rows are one dense front, worked on by BLAS. The order is AMD's.
#ifndef ALPHASTEP_REDUCTION_LDL_H
#define ALPHASTEP_REDUCTION_LDL_H

#include "alphastep/sparse.h"
#include "alphastep/status.h"

/// Columns first ... first + w - 1 in the order of elimination, and the r rows below them.
typedef struct asi_ldl_front {
  int first, w, r;
  int parent;   ///< -1: a root
  size_t rows;  ///< where the list of the r rows begins, by places in the order
  size_t store; ///< where its (w + r) x w numbers begin, by columns
} asi_ldl_front;

typedef struct asi_ldl {
  int n, n_fronts, largest; ///< largest: w + r
  int *order, *place;       ///< the k-th unknown, and the place of an unknown
  asi_ldl_front *front;
  int *rows;
  double *l, *d, *inverse;
  size_t entries;    ///< of l
  double operations; ///< of a factorization
  int negative;      ///< pivots
  int culprit;       ///< if it is singular: an unknown that depends on others
} asi_ldl;

/// Finds the fronts of a symmetric matrix; only its pattern is read. Both triangles are there.
as_status asi_ldl_analyse(asi_ldl *f, const as_sparse *a, as_error *error);
/// Factorizes a matrix of that pattern. AS_ERR_SINGULAR: a pivot is round-off, nothing but `culprit` is of use.
as_status asi_ldl_factor(asi_ldl *f, const as_sparse *a, as_error *error);
/// Solves for `count` columns of n numbers, in place. AS_ERR_MEMORY if memory runs out.
as_status asi_ldl_solve(const asi_ldl *f, double *x, int count);
void asi_ldl_free(asi_ldl *f);

#endif
