/// Factors and singular values of small dense matrices, stored by columns: by LAPACK (lapack/) or by code of our own (plain/), whichever the
/// library was built with. Results differ by round-off.
#ifndef ALPHASTEP_LINALG_DENSE_LU_H
#define ALPHASTEP_LINALG_DENSE_LU_H

/// What calling these functions costs before they do anything, in operations.
extern const int asi_lu_call_factor, asi_lu_call_solve;
/// What statistics call it.
extern const char *const asi_lu_backend;

/// P A = L U of the n x n matrix a, in place. Row i was exchanged with row pivot[i], counted from 1. Returns 0, or the number of the first
/// pivot that is zero, counted from 1.
int asi_lu_factor(int n, double *a, int *pivot);
/// Solves A x = b in place.
void asi_lu_solve(int n, const double *lu, const int *pivot, double *b);
/// An estimate of 1 / (|A| |A^-1|) in the norm of column sums; `norm` is |A|. work: 4 n, integer_work: n.
double asi_lu_rcond(int n, const double *lu, const int *pivot, double norm, double *work,
                    int *integer_work);

/// The size of the work array of asi_svd_right, n or more.
int asi_svd_work(int m, int n);
/// Singular values of the m x n matrix a, which is lost, in falling order, min(m, n) of them, and all right singular vectors: row k of
/// the n x n matrix vt belongs to sigma[k]. Returns 0 unless the iteration did not converge. sigma: n.
int asi_svd_right(int m, int n, double *a, double *sigma, double *vt, double *work, int work_size);

#endif
