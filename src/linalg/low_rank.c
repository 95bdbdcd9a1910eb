/// Solving with a factorized matrix and a change of low rank, see low_rank.h.
#include "linalg/low_rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/dense_lu.h"

asi_low_rank *asi_low_rank_create(int size, int width) {
  asi_low_rank *u = asi_calloc(1, sizeof *u);
  if (u) *u = (asi_low_rank){.size = size, .width = width};
  return u;
}

static void free_arrays(asi_low_rank *u) {
  free(u->change);
  free(u->row);
  free(u->from);
  free(u->small);
  free(u->pivot);
  free(u->work);
  *u = (asi_low_rank){.size = u->size, .width = u->width};
}

void asi_low_rank_destroy(asi_low_rank *u) {
  if (u) free_arrays(u);
  free(u);
}

as_status asi_low_rank_reserve(asi_low_rank *u, int rank) {
  const size_t r = (size_t)rank;
  u->rank = 0;
  if (rank <= u->room) return AS_OK;
  free_arrays(u);
  u->change = asi_calloc(r * (size_t)u->size, sizeof(double));
  u->row = asi_calloc(r * (size_t)u->width, sizeof(double));
  u->from = asi_calloc(r, sizeof(int));
  u->small = asi_calloc(r * r, sizeof(double));
  u->pivot = asi_calloc(r, sizeof(int));
  u->work = asi_calloc((size_t)u->size + r, sizeof(double));
  if (u->change && u->row && u->from && u->small && u->pivot && u->work) {
    u->room = rank;
    return AS_OK;
  }
  free_arrays(u);
  return AS_ERR_MEMORY;
}

/// Row i of V times x.
static double product(const asi_low_rank *u, int i, const double *x) {
  const double *const row = u->row + (size_t)i * (size_t)u->width, *const at = x + u->from[i];
  double sum = 0.0;
  for (int k = 0; k < u->width; ++k) sum += row[k] * at[k];
  return sum;
}

static const double *column(const asi_low_rank *u, int j) {
  return u->change + (size_t)j * (size_t)u->size;
}

as_status asi_low_rank_factor(asi_low_rank *u, int rank) {
  for (int j = 0; j < rank; ++j)
    for (int i = 0; i < rank; ++i)
      u->small[(size_t)j * (size_t)rank + (size_t)i] += product(u, i, column(u, j));
  const bool regular = asi_lu_factor(rank, u->small, u->pivot) == 0;
  u->rank = regular ? rank : 0;
  return regular ? AS_OK : AS_ERR_SINGULAR;
}

void asi_low_rank_apply(const asi_low_rank *u, double *y) {
  double *const c = u->work + u->size;
  for (int i = 0; i < u->rank; ++i) c[i] = product(u, i, y);
  asi_lu_solve(u->rank, u->small, u->pivot, c);
  for (int j = 0; j < u->rank; ++j) {
    const double *const d = column(u, j);
    for (int i = 0; i < u->size; ++i) y[i] -= c[j] * d[i];
  }
}

void asi_low_rank_serialize(asi_low_rank *u, asi_archive *a) {
  int rank = u->rank;
  asi_archive_int(a, &rank, 0, 2 * u->width);
  // No memory for what is not there.
  const size_t least = (size_t)rank * (size_t)u->size * sizeof(double);
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged && least > a->size - a->used) a->damaged = true;
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged && asi_low_rank_reserve(u, rank))
    a->no_memory = a->damaged = true;
  if (a->damaged || rank == 0) return;
  const size_t r = (size_t)rank;
  asi_archive_doubles(a, u->change, r * (size_t)u->size);
  asi_archive_doubles(a, u->row, r * (size_t)u->width);
  asi_archive_doubles(a, u->small, r * r);
  for (int i = 0; i < rank; ++i) {
    asi_archive_int(a, &u->from[i], 0, u->size - u->width);
    asi_archive_int(a, &u->pivot[i], i + 1, rank);
  }
  u->rank = a->damaged ? 0 : rank;
}
