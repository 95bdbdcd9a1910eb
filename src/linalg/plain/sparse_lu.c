/// Where a library is built without KLU: systems that cannot be eliminated by blocks go to dense LU, as long as they are not too large.
#include <math.h>

#include "base/error.h"
#include "linalg/solver.h"

// 128 MiB for a matrix, and some seconds for its factors.
enum { MOST_UNKNOWNS = 4096 };

as_status asi_sparse_lu_create(int n, const int *col_start, const int *row, const int *order,
                               unsigned allowed_orders, asi_solver **out, as_error *error) {
  (void)order;
  (void)allowed_orders;
  if (n > MOST_UNKNOWNS)
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, NULL,
        "A linear system of %d unknowns that cannot be eliminated by blocks needs KLU, and "
        "this library was built without it: %d is the most.",
        n, (int)MOST_UNKNOWNS);
  return asi_dense_create(n, col_start, row, out, error);
}
