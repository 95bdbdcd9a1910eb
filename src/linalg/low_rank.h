/// A change of low rank of a matrix A that can be solved with:
///
///     (A + U K^-1 V) x = b,     x = y - D (K + V D)^-1 V y,     y = A^-1 b,  D = A^-1 U
///
/// by Sherman, Morrison and Woodbury. Rows of V are zero but for `width` numbers in a row.
#ifndef ALPHASTEP_LINALG_LOW_RANK_H
#define ALPHASTEP_LINALG_LOW_RANK_H

#include <stdbool.h>

#include "alphastep/status.h"
#include "base/archive.h"

typedef struct asi_low_rank {
  int rank;       ///< 0: there is no change
  int room;       ///< the largest rank that there is memory for
  int size;       ///< of A
  int width;      ///< numbers in a row of V
  double *change; ///< rank vectors: U, then D
  double *row;    ///< rank times width: V
  int *from;      ///< rank: where the numbers of a row stand
  double *small;  ///< rank^2, by columns: K, then the factors of K + V D
  int *pivot;     ///< rank
  double *work;   ///< size + rank
} asi_low_rank;

/// For matrices of this size; no memory is taken before it is needed.
asi_low_rank *asi_low_rank_create(int size, int width);
void asi_low_rank_destroy(asi_low_rank *u);
/// Makes room; the change is none yet.
as_status asi_low_rank_reserve(asi_low_rank *u, int rank);
/// Factorizes K + V D, with D, V and K at hand. A singular one: the change is none.
as_status asi_low_rank_factor(asi_low_rank *u, int rank);
/// y <- x
void asi_low_rank_apply(const asi_low_rank *u, double *y);
/// Saves or loads it.
void asi_low_rank_serialize(asi_low_rank *u, asi_archive *a);

#endif
