/// Frequencies of a flexible body by itself, held at its frame or free, from its own arrays.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/reduction.h"
#include "base/error.h"
#include "reduction/dense.h"

/// Stiffness and mass for the n elastic coordinates, with the frame's six before them if it is free.
static void fill(const as_flexible_data *d, bool is_free, double *K, double *M) {
  const int n = d->coordinate_count, six = is_free ? 6 : 0, size = n + six;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      K[(ptrdiff_t)(i + six) * size + j + six] = d->K[(ptrdiff_t)i * n + j];
      M[(ptrdiff_t)(i + six) * size + j + six] = d->M[(ptrdiff_t)i * n + j];
    }
  for (int a = 0; a < 3 && is_free; ++a) {
    M[a * size + a] = d->mass;
    for (int b = 0; b < 3; ++b) {
      M[a * size + 3 + b] = M[(3 + b) * size + a] = d->A0[3 * a + b];
      M[(3 + a) * size + 3 + b] = d->J0[3 * a + b];
    }
    for (int j = 0; j < n; ++j) {
      M[a * size + 6 + j] = M[(6 + j) * size + a] = d->P[a * n + j];
      M[(3 + a) * size + 6 + j] = M[(6 + j) * size + 3 + a] = d->H0[a * n + j];
    }
  }
}

as_status as_flexible_frequencies(const as_flexible_data *data, bool is_free, double *out,
                                  as_error *error) {
  as_status status = as_flexible_check(data, error);
  if (status) return status;
  const int six = is_free ? 6 : 0, size = data->coordinate_count + six;
  const size_t n = (size_t)size;
  double *K = asi_calloc(n * n, sizeof *K), *M = asi_calloc(n * n, sizeof *M);
  double *lambda = asi_calloc(n, sizeof *lambda);
  int defect = 0;
  if (K == NULL || M == NULL || lambda == NULL) {
    status = asi_fail_memory(error);
  } else {
    fill(data, is_free, K, M);
    if (!asi_dense_eigen_pair(size, K, M, lambda, &defect))
      status = defect > 0 ? asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                                     "The mass of a flexible body is not positive definite.")
                          : asi_fail_memory(error);
  }
  for (int i = six; i < size && status == AS_OK; ++i)
    out[i - six] = sqrt(fmax(0.0, lambda[i])) / (2.0 * 3.14159265358979323846);
  free(K);
  free(M);
  free(lambda);
  return status;
}
