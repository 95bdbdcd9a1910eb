/// Sorts pieces of products into parts, see product_parts.h.
#include "core/kinematics/product_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// So many parts for each thread: what they take is only estimated. Targets of fewer entries are not shared.
enum { PARTS_PER_THREAD = 4, LEAST_ENTRIES = 1000 };

/// The first entry that a piece writes, and the one behind its last.
static void span_of(const asi_block_product *s, int *first, int *end) {
  const int far = (s->count - 1) * s->dest_next, wide = (s->cols - 1) * s->dest_col;
  *first = s->dest + (far < 0 ? far : 0) + (wide < 0 ? wide : 0);
  *end = s->dest + (far > 0 ? far : 0) + (wide > 0 ? wide : 0) + s->rows;
}

static double work_of(const asi_block_product *s) {
  return 10.0 + (double)s->count * s->cols * s->rows * (s->inner > 0 ? s->inner : 1);
}

/// Notes for each entry how many pieces write on both sides of where it begins, and what is done for pieces that begin there.
static void note_pieces(const asi_product_plan *plan, int n_plans, int *across, double *work) {
  for (int k = 0; k < n_plans; ++k)
    for (int i = 0; i < plan[k].n_pieces; ++i) {
      int first, end;
      span_of(&plan[k].piece[i], &first, &end);
      ++across[first + 1];
      --across[end];
      work[first] += work_of(&plan[k].piece[i]);
    }
}

/// Begins parts where nothing is written on both sides, and about as much is done in each.
static void find_parts(asi_product_parts *parts, int n, const int *across, const double *work) {
  double all = 0.0, done = 0.0;
  int open = 0, part = 1;
  for (int e = 0; e < n; ++e) all += work[e];
  parts->entry[0] = 0;
  for (int e = 0; e < n; ++e) {
    open += across[e];
    for (; open == 0 && part < parts->n_parts && done >= all * part / parts->n_parts; ++part)
      parts->entry[part] = e;
    done += work[e];
  }
  for (; part <= parts->n_parts; ++part) parts->entry[part] = n;
}

static int part_of(const asi_product_parts *parts, int entry) {
  int low = 0, high = parts->n_parts - 1;
  while (low < high) { // the last part that begins at or before it
    const int middle = (low + high + 1) / 2;
    if (parts->entry[middle] <= entry)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static int part_of_piece(const asi_product_parts *parts, const asi_block_product *s) {
  int first, end;
  span_of(s, &first, &end);
  return part_of(parts, first);
}

/// Sorts the pieces of a plan by parts, in which they keep their order. False: out of memory.
static bool sort_pieces(const asi_product_parts *parts, asi_product_plan *plan, int *start) {
  if (plan->n_pieces == 0) return true;
  asi_block_product *sorted = asi_calloc((size_t)plan->n_pieces, sizeof *sorted);
  int *next = asi_calloc((size_t)parts->n_parts, sizeof(int));
  if (sorted && next) {
    for (int i = 0; i < plan->n_pieces; ++i) ++start[part_of_piece(parts, &plan->piece[i]) + 1];
    for (int p = 0; p < parts->n_parts; ++p) start[p + 1] += next[p] = start[p];
    for (int i = 0; i < plan->n_pieces; ++i)
      sorted[next[part_of_piece(parts, &plan->piece[i])]++] = plan->piece[i];
    memcpy(plan->piece, sorted, (size_t)plan->n_pieces * sizeof *sorted);
  }
  const bool ok = sorted && next;
  free(sorted);
  free(next);
  return ok;
}

as_status asi_product_parts_make(asi_product_parts *parts, const asi_pool *pool,
                                 asi_product_plan *plan, int n_plans, const asi_pattern *target,
                                 as_error *error) {
  const int n = asi_pattern_nnz(target), threads = asi_pool_threads(pool);
  *parts = (asi_product_parts){0};
  if (threads < 2 || n < LEAST_ENTRIES) return AS_OK;
  const size_t n_parts = (size_t)(PARTS_PER_THREAD * threads);
  int *across = asi_calloc((size_t)n + 2, sizeof(int));
  double *work = asi_calloc((size_t)n + 1, sizeof(double));
  parts->n_parts = (int)n_parts;
  parts->entry = asi_calloc(n_parts + 1, sizeof(int));
  parts->piece = asi_calloc((size_t)n_plans * (n_parts + 1), sizeof(int));
  bool ok = across && work && parts->entry && parts->piece;
  if (ok) {
    note_pieces(plan, n_plans, across, work);
    find_parts(parts, n, across, work);
  }
  for (int k = 0; k < n_plans && ok; ++k)
    ok = sort_pieces(parts, &plan[k], parts->piece + (size_t)k * (n_parts + 1));
  free(across);
  free(work);
  return ok ? AS_OK : asi_fail_memory(error);
}

void asi_product_parts_free(asi_product_parts *parts) {
  free(parts->entry);
  free(parts->piece);
  *parts = (asi_product_parts){0};
}

asi_product_plan asi_product_part(const asi_product_parts *parts, const asi_product_plan *plan,
                                  int number, int part) {
  const int *start = parts->piece + (size_t)number * (size_t)(parts->n_parts + 1) + part;
  return (asi_product_plan){.n_pieces = start[1] - start[0],
                            .piece = plan->piece ? plan->piece + start[0] : NULL};
}

void asi_product_part_clear(const asi_product_parts *parts, int part, double *value) {
  const int from = parts->entry[part];
  memset(value + from, 0, (size_t)(parts->entry[part + 1] - from) * sizeof *value);
}
