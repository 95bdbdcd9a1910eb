/// Dense factors and singular values by LAPACK, see dense_lu.h.
#include "linalg/dense_lu.h"

#include <stddef.h>

// LAPACK's Fortran interface: lengths of character arguments come last.
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *ipiv, double *b, const int *ldb, int *info, size_t trans_length);
void dgecon_(const char *norm, const int *n, const double *a, const int *lda, const double *anorm,
             double *rcond, double *work, int *iwork, int *info, size_t norm_length);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info, size_t jobu_length, size_t jobvt_length);

const int asi_lu_call_factor = 3000, asi_lu_call_solve = 300;
const char *const asi_lu_backend = "dense LAPACK";

int asi_lu_factor(int n, double *a, int *pivot) {
  int info = 0;
  dgetrf_(&n, &n, a, &n, pivot, &info);
  return info;
}

void asi_lu_solve(int n, const double *lu, const int *pivot, double *b) {
  const int one = 1;
  int info = 0;
  dgetrs_("N", &n, &one, lu, &n, pivot, b, &n, &info, 1);
}

double asi_lu_rcond(int n, const double *lu, const int *pivot, double norm, double *work,
                    int *integer_work) {
  double rcond = 0.0;
  int info = 0;
  (void)pivot; // |P A| = |A|
  dgecon_("1", &n, lu, &n, &norm, &rcond, work, integer_work, &info, 1);
  return rcond;
}

int asi_svd_work(int m, int n) { return 8 * (m + n) + 64; }

int asi_svd_right(int m, int n, double *a, double *sigma, double *vt, double *work, int work_size) {
  const int one = 1;
  int info = 0;
  dgesvd_("N", "A", &m, &n, a, &m, sigma, &(double){0}, &one, vt, &n, work, &work_size, &info, 1,
          1);
  return info;
}
