/// Products and eigenvalues of dense matrices, stored by columns, by BLAS and LAPACK.
#ifndef ALPHASTEP_REDUCTION_DENSE_H
#define ALPHASTEP_REDUCTION_DENSE_H

#include <stdbool.h>
#include <stddef.h>

/// C = C + factor op(A) op(B): C is m x n, the inner dimension is k; `ld` are lengths of columns.
void asi_dense_multiply(bool transpose_a, bool transpose_b, int m, int n, int k, double factor,
                        const double *a, int lda, const double *b, int ldb, double *c, int ldc);
/// B = B L^-T for the unit lower triangle L of n x n: rows of B are m.
void asi_dense_right_solve(int m, int n, const double *l, int ldl, double *b, int ldb);
/// B = L^-1 B, or L^-T B; B has m columns.
void asi_dense_left_solve(bool transpose, int n, int m, const double *l, int ldl, double *b,
                          int ldb);
/// Eigenvalues, increasing, and eigenvectors of a symmetric matrix, in its place. False: no convergence, or memory has run out.
bool asi_dense_eigen(int n, double *a, double *lambda);
/// The same of A x = lambda B x, with x^T B x = 1; B is lost. *defect: 0, or the first row (from 1) up to which B is not positive definite.
bool asi_dense_eigen_pair(int n, double *a, double *b, double *lambda, int *defect);

#endif
