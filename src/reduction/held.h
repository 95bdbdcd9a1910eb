/// The inside of a mesh whose interfaces are held: solutions with its stiffness, and how many frequencies it has below a limit.
///
/// Some interfaces hold averages only, C u = 0. The equations are then
///
///     [ K + r S S^T   C^T   r S ] [ u      ]   [ f ]
///     [ C             0     0   ] [ lambda ] = [ g ]
///     [ r S^T         0     r   ] [ mu     ]   [ 0 ]
///
/// S are some unit vectors that keep K + r S S^T from being singular; the last row takes them out again: mu = -S^T u. The first block is
/// factorized, the others are eliminated by a small dense matrix.
#ifndef ALPHASTEP_REDUCTION_HELD_H
#define ALPHASTEP_REDUCTION_HELD_H

#include "reduction/ldl.h"

typedef struct asi_held {
  const as_sparse *K, *M; ///< n x n, not owned
  int n;
  int constraints;   ///< rows of C
  int springs;       ///< columns of S
  const double *C;   ///< n x constraints, C^T by columns; not owned
  const int *spring; ///< unknowns; not owned
  double stiffness;  ///< r
  as_sparse *sum;    ///< K + r S S^T - s M
  asi_ldl ldl;
  int borders;    ///< constraints + springs
  double *solved; ///< n x borders: what the first block makes of its borders
  double *small;  ///< factors of the small matrix, scaled
  double *scale;
  int *pivot;
  double *normal; ///< factors of C C^T
  int *normal_pivot;
  int below; ///< eigenvalues of K u = lambda M u with C u = 0 below s
} asi_held;

/// C is NULL without constraints; springs are then not needed.
as_status asi_held_init(asi_held *h, const as_sparse *K, const as_sparse *M, int constraints,
                        const double *C, int springs, const int *spring, as_error *error);
void asi_held_free(asi_held *h);
/// Factorizes for the shift s and counts. AS_ERR_SINGULAR: *culprit is an unknown that nothing holds, or -1.
as_status asi_held_factor(asi_held *h, double shift, int *culprit, as_error *error);
/// Solves for `count` columns with the factors for s = 0, in place: f becomes u. g: constraints x count, NULL: zero.
as_status asi_held_solve(const asi_held *h, double *x, int count, const double *g);

/// Takes out what has come into x by round-off against C x = 0: x - C^T (C C^T)^-1 C x. AS_ERR_MEMORY if memory runs out.
as_status asi_held_project(const asi_held *h, double *x, int count);

/// y = A x for `count` columns.
void asi_sparse_multiply(const as_sparse *a, const double *x, double *y, int count);

#endif
