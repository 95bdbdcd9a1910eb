/// See lanczos.h.
///
/// With Q the basis so far, Q^T M Q = 1, and T = Q^T M K^-1 M Q: an eigenvector s of T for theta gives u = Q s, lambda = 1 / theta, and
/// what is left of K^-1 M u - theta u is what the last block lacks, R s_last. It has converged if that is below 1e-10 theta.
#include "reduction/lanczos.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "reduction/dense.h"

#define CONVERGED 1e-10
// Eigenvalues that differ by less are taken as one when a limit is put between them.
#define SAME 1e-7
// What is left of a vector when those before it are taken away, below which it is round-off.
#define LOST 1e-10
enum { BLOCK = 4, LARGEST_BLOCK = 32, ATTEMPTS = 4 };

typedef struct search {
  asi_held *h;
  size_t n;
  int dimension;          ///< of the space that constraints leave
  int length, last, most; ///< vectors so far; those of the last block; room
  double *q, *mq;         ///< n x most: the basis, and M times it
  double *t;              ///< most x most: T
  double *coupling;       ///< LARGEST_BLOCK x LARGEST_BLOCK: R
  double *next, *mnext;   ///< n x LARGEST_BLOCK
  int n_next;
  double *s, *theta; ///< eigenvectors and eigenvalues of T
  uint64_t random;
} search;

static double random_number(search *k) {
  k->random = k->random * 6364136223846793005u + 1442695040888963407u;
  return (double)(k->random >> 11) / 9007199254740992.0 - 0.5;
}

static void search_free(search *k) {
  double *const all[] = {k->q, k->mq, k->t, k->coupling, k->next, k->mnext, k->s, k->theta};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
}

static bool search_take(search *k) {
  const size_t room = (size_t)k->most, block = LARGEST_BLOCK;
  k->q = asi_calloc(k->n * room, sizeof(double));
  k->mq = asi_calloc(k->n * room, sizeof(double));
  k->t = asi_calloc(room * room, sizeof(double));
  k->s = asi_calloc(room * room, sizeof(double));
  k->theta = asi_calloc(room, sizeof(double));
  k->coupling = asi_calloc(block * block, sizeof(double));
  k->next = asi_calloc(k->n * block, sizeof(double));
  k->mnext = asi_calloc(k->n * block, sizeof(double));
  return k->q && k->mq && k->t && k->s && k->theta && k->coupling && k->next && k->mnext;
}

/// Takes the basis out of the next block, adding how much of it there was to `out` (most x block) unless that is NULL.
static void take_basis_out(const search *k, int block, double *out, double *work) {
  const int n = (int)k->n;
  memset(work, 0, (size_t)k->most * (size_t)block * sizeof *work);
  asi_dense_multiply(true, false, k->length, block, n, 1.0, k->mq, n, k->next, n, work, k->most);
  asi_dense_multiply(false, false, n, block, k->length, -1.0, k->q, n, work, k->most, k->next, n);
  for (int c = 0; c < block && out; ++c)
    for (int i = 0; i < k->length; ++i)
      out[(ptrdiff_t)c * k->most + i] += work[(ptrdiff_t)c * k->most + i];
}

static double dot(const double *a, const double *b, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Makes the vectors of the next block orthonormal in M, by Gram and Schmidt, twice; those that are lost are dropped. `size` are their
/// lengths before the basis was taken out. coupling: R, with next = new R.
static void orthonormalize(search *k, int block, const double *size) {
  const size_t n = k->n;
  memset(k->coupling, 0, (size_t)LARGEST_BLOCK * LARGEST_BLOCK * sizeof(double));
  k->n_next = 0;
  for (int c = 0; c < block; ++c) {
    double *v = k->next + (size_t)c * n, *to = k->next + (size_t)k->n_next * n;
    double *mto = k->mnext + (size_t)k->n_next * n;
    if (to != v) memcpy(to, v, n * sizeof *v);
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = 0; i < k->n_next; ++i) {
        const double part = dot(k->mnext + (size_t)i * n, to, n);
        for (size_t r = 0; r < n; ++r) to[r] -= part * k->next[(size_t)i * n + r];
        k->coupling[c * LARGEST_BLOCK + i] += part;
      }
    }
    asi_sparse_multiply(k->h->M, to, mto, 1);
    const double square = dot(to, mto, n), length = square > 0.0 ? sqrt(square) : 0.0;
    if (!(length > LOST * size[c])) continue;
    for (size_t r = 0; r < n; ++r) {
      to[r] /= length;
      mto[r] /= length;
    }
    k->coupling[c * LARGEST_BLOCK + k->n_next++] = length;
  }
}

/// K^-1 M of `block` vectors whose M times is given, to the next block, and their lengths in M.
static as_status apply(search *k, const double *mq, int block, double *size) {
  memcpy(k->next, mq, k->n * (size_t)block * sizeof(double));
  const as_status status = asi_held_solve(k->h, k->next, block, NULL);
  if (status) return status;
  asi_sparse_multiply(k->h->M, k->next, k->mnext, block);
  for (int c = 0; c < block; ++c) {
    const double *v = k->next + (size_t)c * k->n;
    size[c] = sqrt(fmax(0.0, dot(v, k->mnext + (size_t)c * k->n, k->n)));
  }
  return AS_OK;
}

static void append_next(search *k) {
  const size_t at = (size_t)k->length * k->n, count = (size_t)k->n_next * k->n;
  memcpy(k->q + at, k->next, count * sizeof(double));
  memcpy(k->mq + at, k->mnext, count * sizeof(double));
  k->last = k->n_next;
  k->length += k->n_next;
}

/// Random vectors, made smooth by K^-1 M once.
static as_status begin(search *k, int block) {
  double size[LARGEST_BLOCK];
  double *start = asi_calloc(k->n * (size_t)block, sizeof *start);
  if (start == NULL) return AS_ERR_MEMORY;
  for (size_t i = 0; i < k->n * (size_t)block; ++i) k->next[i] = random_number(k);
  asi_sparse_multiply(k->h->M, k->next, start, block);
  const as_status status = apply(k, start, block, size);
  free(start);
  if (status) return status;
  k->length = 0;
  orthonormalize(k, block, size);
  append_next(k);
  return AS_OK;
}

/// Makes the next block from the last, and the columns of T that belong to it.
static as_status extend(search *k, double *work) {
  double size[LARGEST_BLOCK];
  const int block = k->last, from = k->length - block;
  double *column = k->t + (ptrdiff_t)from * k->most;
  const as_status status = apply(k, k->mq + (size_t)from * k->n, block, size);
  if (status) return status;
  memset(column, 0, (size_t)k->most * (size_t)block * sizeof *column);
  take_basis_out(k, block, column, work);
  // What is left is small: round-off against the constraints would grow from block to block.
  if (asi_held_project(k->h, k->next, block)) return AS_ERR_MEMORY;
  take_basis_out(k, block, column, work);
  orthonormalize(k, block, size);
  return AS_OK;
}

/// Eigenvalues of T, the largest first, and how many of them have converged without a gap. -1: memory has run out.
static int look(search *k) {
  const int n = k->length;
  // A column of T has the rows of the basis when it was made: those of its own block and before.
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i)
      k->s[(ptrdiff_t)j * n + i] = k->s[(ptrdiff_t)i * n + j] = k->t[(ptrdiff_t)j * k->most + i];
  if (!asi_dense_eigen(n, k->s, k->theta)) return -1;
  for (int good = 0;; ++good) {
    const int i = n - 1 - good;
    if (i < 0 || !(k->theta[i] > 0.0)) return good;
    const double *last = k->s + (ptrdiff_t)i * n + n - k->last;
    double sum = 0.0;
    for (int r = 0; r < k->n_next; ++r) {
      double x = 0.0;
      for (int c = 0; c < k->last; ++c) x += k->coupling[c * LARGEST_BLOCK + r] * last[c];
      sum += x * x;
    }
    if (!(sqrt(sum) <= CONVERGED * k->theta[i])) return good;
  }
}

static double lambda_of(const search *k, int i) { return 1.0 / k->theta[k->length - 1 - i]; }

/// Where a limit can be put behind `count` or more eigenvalues; 0: not among those that have converged.
static int find_gap(const search *k, int count, int good) {
  for (int i = count; i < good; ++i)
    if (lambda_of(k, i) - lambda_of(k, i - 1) > SAME * lambda_of(k, i)) return i;
  return 0;
}

/// Goes on until `count` have converged and there is a gap behind them. *found: those before the gap; *whole: there are no others.
static as_status search_on(search *k, int block, int count, int *found, bool *whole) {
  double *work = asi_calloc((size_t)k->most * LARGEST_BLOCK, sizeof *work);
  as_status status = work ? begin(k, block) : AS_ERR_MEMORY;
  *found = 0;
  *whole = false;
  while (status == AS_OK && k->length > 0) {
    status = extend(k, work);
    if (status) break;
    *whole = k->n_next == 0 || k->length == k->dimension;
    if (*whole) k->n_next = 0;
    if (k->length + k->n_next > k->dimension) k->n_next = k->dimension - k->length;
    const bool full = k->length + k->n_next > k->most;
    if (*whole || full || (k->length > count && k->length / block % 4 == 0)) {
      const int good = look(k);
      if (good < 0) status = AS_ERR_MEMORY;
      *found = *whole ? good : find_gap(k, count, good);
      if (good < 0 || *whole || *found > 0) break;
      if (full) {
        status = AS_ERR_CONVERGENCE;
        break;
      }
    }
    append_next(k);
  }
  if (status == AS_OK && k->length == 0) *whole = true; // nothing inside has mass
  free(work);
  return status;
}

/// Whether there are as many eigenvalues below the gap as have been found.
static as_status verify(search *k, int found, bool whole, bool *all, as_error *error) {
  int culprit = 0;
  *all = whole;
  if (whole) return AS_OK;
  const double low = lambda_of(k, found - 1), high = lambda_of(k, found);
  for (int attempt = 1; attempt <= ATTEMPTS; ++attempt) {
    const double limit = low + (high - low) * (0.3 + 0.1 * attempt);
    const as_status status = asi_held_factor(k->h, limit, &culprit, error);
    if (status == AS_ERR_SINGULAR) continue;
    *all = k->h->below == found;
    return status;
  }
  return AS_OK;
}

static as_status collect(const search *k, int count, asi_eigen *out, as_error *error) {
  const int n = (int)k->n;
  out->lambda = asi_calloc((size_t)count, sizeof(double));
  out->vector = asi_calloc(k->n * (size_t)count, sizeof(double));
  if (out->lambda == NULL || out->vector == NULL) return asi_fail_memory(error);
  out->count = count;
  for (int i = 0; i < count; ++i) {
    out->lambda[i] = lambda_of(k, i);
    asi_dense_multiply(false, false, n, 1, k->length, 1.0, k->q, n,
                       k->s + (ptrdiff_t)(k->length - 1 - i) * k->length, k->length,
                       out->vector + (size_t)i * k->n, n);
  }
  return AS_OK;
}

void asi_eigen_free(asi_eigen *e) {
  free(e->lambda);
  free(e->vector);
  *e = (asi_eigen){0};
}

as_status asi_lanczos(asi_held *h, int count, asi_eigen *out, as_error *error) {
  *out = (asi_eigen){0};
  if (count == 0 || h->n == 0) return AS_OK;
  search k = {.h = h,
              .n = (size_t)h->n,
              .dimension = h->n - h->constraints,
              .most = 4 * count + 100,
              .random = 1};
  if (k.most > k.dimension) k.most = k.dimension;
  as_status status = search_take(&k) ? AS_OK : asi_fail_memory(error);
  bool all = false;
  int found = 0, block = BLOCK;
  for (int attempt = 0; status == AS_OK && !all && attempt < ATTEMPTS; ++attempt, block *= 2) {
    bool whole = false;
    int culprit = 0;
    const int width = block < k.most ? block : k.most;
    status = search_on(&k, width, count, &found, &whole);
    if (status == AS_ERR_MEMORY) asi_fail_memory(error);
    if (status == AS_ERR_CONVERGENCE && block < LARGEST_BLOCK) {
      status = AS_OK;
      continue;
    }
    if (status == AS_OK) status = verify(&k, found, whole, &all, error);
    if (status == AS_OK && !all) status = asi_held_factor(h, 0.0, &culprit, error);
  }
  if (status == AS_ERR_CONVERGENCE || (status == AS_OK && !all))
    status =
        asi_fail(error, AS_ERR_CONVERGENCE, (double)NAN, NULL,
                 "%d fixed-interface modes could not be found with %d vectors.", count, k.most);
  if (status == AS_OK) status = collect(&k, found < count ? found : count, out, error);
  search_free(&k);
  return status;
}
