/// See dense.h.
#include "reduction/dense.h"

#include <stdlib.h>

#include "base/error.h"

// Fortran interfaces: lengths of character arguments come last.
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t transa_length,
            size_t transb_length);
void dtrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t side_length, size_t uplo_length, size_t transa_length,
            size_t diag_length);
void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t jobz_length, size_t uplo_length);
void dsygv_(const int *itype, const char *jobz, const char *uplo, const int *n, double *a,
            const int *lda, double *b, const int *ldb, double *w, double *work, const int *lwork,
            int *info, size_t jobz_length, size_t uplo_length);

void asi_dense_multiply(bool transpose_a, bool transpose_b, int m, int n, int k, double factor,
                        const double *a, int lda, const double *b, int ldb, double *c, int ldc) {
  const double one = 1.0;
  if (m == 0 || n == 0 || k == 0) return;
  dgemm_(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &m, &n, &k, &factor, a, &lda, b, &ldb,
         &one, c, &ldc, 1, 1);
}

void asi_dense_right_solve(int m, int n, const double *l, int ldl, double *b, int ldb) {
  const double one = 1.0;
  if (m > 0 && n > 0) dtrsm_("R", "L", "T", "U", &m, &n, &one, l, &ldl, b, &ldb, 1, 1, 1, 1);
}

void asi_dense_left_solve(bool transpose, int n, int m, const double *l, int ldl, double *b,
                          int ldb) {
  const double one = 1.0;
  if (m > 0 && n > 0)
    dtrsm_("L", "L", transpose ? "T" : "N", "U", &n, &m, &one, l, &ldl, b, &ldb, 1, 1, 1, 1);
}

bool asi_dense_eigen(int n, double *a, double *lambda) {
  const int size = 34 * n + 8;
  int info = 0;
  double *work = asi_calloc((size_t)size, sizeof *work);
  if (work == NULL) return false;
  if (n > 0) dsyev_("V", "L", &n, a, &n, lambda, work, &size, &info, 1, 1);
  free(work);
  return info == 0;
}

bool asi_dense_eigen_pair(int n, double *a, double *b, double *lambda, int *defect) {
  const int size = 34 * n + 8, first = 1;
  int info = 0;
  *defect = 0;
  double *work = asi_calloc((size_t)size, sizeof *work);
  if (work == NULL) return false;
  if (n > 0) dsygv_(&first, "V", "L", &n, a, &n, b, &n, lambda, work, &size, &info, 1, 1);
  free(work);
  if (info > n) *defect = info - n;
  return info == 0;
}
