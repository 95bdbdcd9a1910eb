/// Sparse matrices of numbers, see alphastep/sparse.h.
#ifndef ALPHASTEP_LINALG_SPARSE_H
#define ALPHASTEP_LINALG_SPARSE_H

#include "alphastep/matrix.h"
#include "alphastep/sparse.h"

/// A copy of its own; NULL if memory runs out.
as_sparse *asi_sparse_copy(const as_sparse *from);
/// The rows and columns of a square matrix that `index` numbers from 0 to n - 1, in the order they come; others are -1. NULL: no memory.
as_sparse *asi_sparse_part(const as_sparse *from, const int *index, int n);

/// The same matrix for functions of linalg/matrix.h.
static inline as_matrix asi_sparse_view(const as_sparse *m) {
  return (as_matrix){.rows = m->rows,
                     .cols = m->cols,
                     .col_start = m->col_start,
                     .row = m->row,
                     .value = m->value};
}

/// How many entries are stored.
static inline int asi_sparse_nnz(const as_sparse *m) { return m->col_start[m->cols]; }

#endif
