/// Linear solvers behind one small vtable, over one fixed compressed-column pattern.
///
/// create (analyse) -> factor (with new values, as often as needed) -> solve. Memory is taken by create
/// and by the first factor; later factorizations reuse it.
#ifndef ALPHASTEP_LINALG_SOLVER_H
#define ALPHASTEP_LINALG_SOLVER_H

#include "alphastep/status.h"
#include "base/archive.h"
#include "base/pool.h"

typedef struct asi_solver asi_solver;

/// What a factorization cost and looks like.
typedef struct asi_solver_info {
  const char *backend;
  const char *order;        ///< how unknowns are ordered
  double fill;              ///< entries of L + U, diagonal of L not counted
  double factor_operations; ///< those of KLU that take the same time
  double solve_operations;
  long full_factorizations; ///< with a new search for pivots
} asi_solver_info;

typedef struct asi_solver_ops {
  /// Factorizes the matrix with the given values, which are not modified and must stay until the next
  /// solve.
  /// AS_ERR_SINGULAR if it is singular to working precision: then *culprit is a column that depends on
  /// others. The previous factors are lost. AS_ERR_MEMORY if memory runs out.
  as_status (*factor)(asi_solver *solver, double *value, int *culprit);
  /// Solves with the last factors, in place.
  as_status (*solve)(asi_solver *solver, double *b);
  /// Forgets what earlier matrices were like, so that the next factors are those of a new solver. NULL: it does not, and
  /// the factors may differ by round-off.
  void (*forget)(asi_solver *solver);
  void (*info)(const asi_solver *solver, asi_solver_info *out);
  /// Saves what it takes to make the same factors again, to the last bit, or makes them; `value` holds the
  /// values of the last factorization.
  void (*serialize)(asi_solver *solver, double *value, asi_archive *a);
  void (*destroy)(asi_solver *solver);
  /// Another solver over the same pattern, which borrows what was found at create: the first must outlive it. NULL: there is none.
  as_status (*twin)(const asi_solver *solver, asi_solver **out, as_error *error);
  /// From now on it works in the threads of a pool, which must outlive it and belongs to nobody else meanwhile; so do its twins. The results are the
  /// same, to the last bit. NULL: it has no use for them.
  as_status (*use_threads)(asi_solver *solver, asi_pool *pool, as_error *error);
} asi_solver_ops;

/// Each backend's struct starts with this.
struct asi_solver {
  const asi_solver_ops *ops;
};

/// Dense LU is faster than KLU for matrices smaller than this.
enum { ASI_MIN_SPARSE = 50 };

/// Dense LU (dense_lu.h), rows and columns scaled. The pattern must outlive the solver.
as_status asi_dense_create(int n, const int *col_start, const int *row, asi_solver **out,
                           as_error *error);

/// The orders that the sparse solver may choose from: a set of bits.
enum {
  ASI_ORDER_GIVEN = 1,   ///< the permutation handed to create
  ASI_ORDER_NATURAL = 2, ///< as the columns come
  ASI_ORDER_AMD = 4,
  ASI_ORDER_COLAMD = 8,
};

/// An order of elimination by blocks: unknowns that may be taken as one, small dense matrix.
typedef struct asi_elimination {
  int *order; ///< the k-th unknown to eliminate; NULL: there is none
  int *first; ///< n_blocks + 1: where blocks begin in the order
  int n_blocks;
} asi_elimination;

void asi_elimination_free(asi_elimination *e);

/// Sparse LU by KLU (klu/). The order with the least measured fill is taken at the first factorization.
/// `order` may be NULL; copied. The pattern must outlive the solver. A library built without KLU (plain/) takes dense LU, and refuses
/// systems that are too large for it.
as_status asi_sparse_lu_create(int n, const int *col_start, const int *row, const int *order,
                               unsigned allowed_orders, asi_solver **out, as_error *error);

/// Sparse LU by blocks, pivots searched within each only; matrices for which that fails go to KLU, or to dense LU if
/// they are small. *out is NULL if these are to be preferred: blocks are too small or too large.
as_status asi_frontal_create(int n, const int *col_start, const int *row,
                             const asi_elimination *elimination, asi_solver **out, as_error *error);

#endif
