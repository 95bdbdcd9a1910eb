/// Linear solvers behind one small vtable, over one fixed compressed-column pattern.
#ifndef ALPHASTEP_LINALG_SOLVER_H
#define ALPHASTEP_LINALG_SOLVER_H

#include "alphastep/status.h"

typedef struct asi_solver asi_solver;

typedef struct asi_solver_ops {
  const char *name;
  /// Factorizes the matrix with the given values. AS_ERR_SINGULAR if it is singular to working
  /// precision: then *culprit is a column that depends on others. The previous factors are lost.
  as_status (*factor)(asi_solver *solver, const double *value, int *culprit);
  /// Solves with the last factors, in place.
  void (*solve)(asi_solver *solver, double *b);
  void (*destroy)(asi_solver *solver);
} asi_solver_ops;

/// Each backend's struct starts with this.
struct asi_solver {
  const asi_solver_ops *ops;
};

/// Dense LU by LAPACK, rows and columns scaled. The pattern must outlive the solver.
as_status asi_dense_create(int n, const int *col_start, const int *row, asi_solver **out,
                           as_error *error);

#endif
