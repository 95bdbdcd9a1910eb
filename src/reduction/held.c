/// See held.h.
#include "reduction/held.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/dense_lu.h"
#include "reduction/dense.h"

#define SMALLEST_RCOND 1e-13

void asi_sparse_multiply(const as_sparse *a, const double *x, double *y, int count) {
  memset(y, 0, (size_t)a->rows * (size_t)count * sizeof *y);
  for (int c = 0; c < count; ++c, x += a->cols, y += a->rows)
    for (int j = 0; j < a->cols; ++j)
      for (int k = a->col_start[j]; k < a->col_start[j + 1]; ++k)
        y[a->row[k]] += a->value[k] * x[j];
}

/// Entries of two matrices and the diagonal: K + r S S^T - s M, all zero so far.
static as_status make_sum(asi_held *h, as_error *error) {
  const as_sparse *a = h->K, *b = h->M;
  const size_t most = (size_t)a->col_start[h->n] + (size_t)b->col_start[h->n] + (size_t)h->n;
  as_entry *entry = asi_calloc(most, sizeof *entry);
  size_t n = 0;
  if (entry == NULL) return asi_fail_memory(error);
  for (int j = 0; j < h->n; ++j) {
    int p = a->col_start[j], q = b->col_start[j];
    const int p_end = a->col_start[j + 1], q_end = b->col_start[j + 1];
    bool diagonal = false;
    while (p < p_end || q < q_end) {
      const int from_a = p < p_end ? a->row[p] : h->n, from_b = q < q_end ? b->row[q] : h->n;
      const int i = from_a < from_b ? from_a : from_b;
      p += from_a == i;
      q += from_b == i;
      diagonal = diagonal || i == j;
      entry[n++] = (as_entry){i, j, 0.0};
    }
    if (!diagonal) entry[n++] = (as_entry){j, j, 0.0};
  }
  const as_status status = as_sparse_create(h->n, h->n, entry, n, &h->sum, error);
  free(entry);
  return status;
}

static int find(const as_sparse *a, int i, int j) {
  int low = a->col_start[j], high = a->col_start[j + 1] - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (a->row[middle] < i)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void add(as_sparse *sum, const as_sparse *a, double factor) {
  for (int j = 0; j < a->cols; ++j) {
    int at = sum->col_start[j];
    for (int k = a->col_start[j]; k < a->col_start[j + 1]; ++k) {
      while (sum->row[at] < a->row[k]) ++at;
      sum->value[at] += factor * a->value[k];
    }
  }
}

/// C C^T; rows of C are independent, as no node has two interfaces.
static as_status make_normal(asi_held *h, as_error *error) {
  const int k = h->constraints;
  h->normal = asi_calloc((size_t)k * (size_t)k, sizeof(double));
  h->normal_pivot = asi_calloc((size_t)k, sizeof(int));
  if (h->normal == NULL || h->normal_pivot == NULL) return asi_fail_memory(error);
  asi_dense_multiply(true, false, k, k, h->n, 1.0, h->C, h->n, h->C, h->n, h->normal, k);
  if (k > 0) (void)asi_lu_factor(k, h->normal, h->normal_pivot);
  return AS_OK;
}

as_status asi_held_project(const asi_held *h, double *x, int count) {
  const int k = h->constraints;
  if (k == 0) return AS_OK;
  double *part = asi_calloc((size_t)k * (size_t)count, sizeof *part);
  if (part == NULL) return AS_ERR_MEMORY;
  asi_dense_multiply(true, false, k, count, h->n, 1.0, h->C, h->n, x, h->n, part, k);
  for (int c = 0; c < count; ++c)
    asi_lu_solve(k, h->normal, h->normal_pivot, part + (ptrdiff_t)c * k);
  asi_dense_multiply(false, false, h->n, count, k, -1.0, h->C, h->n, part, k, x, h->n);
  free(part);
  return AS_OK;
}

as_status asi_held_init(asi_held *h, const as_sparse *K, const as_sparse *M, int constraints,
                        const double *C, int springs, const int *spring, as_error *error) {
  *h = (asi_held){.K = K,
                  .M = M,
                  .n = K->cols,
                  .constraints = constraints,
                  .springs = constraints > 0 ? springs : 0,
                  .C = C,
                  .spring = spring};
  h->borders = h->constraints + h->springs;
  for (int i = 0; i < h->springs; ++i)
    h->stiffness = fmax(h->stiffness, fabs(K->value[find(K, spring[i], spring[i])]));
  const size_t b = (size_t)h->borders;
  h->solved = asi_calloc(b * (size_t)h->n, sizeof(double));
  h->small = asi_calloc(b * b, sizeof(double));
  h->scale = asi_calloc(b, sizeof(double));
  h->pivot = asi_calloc(b, sizeof(int));
  as_status status = h->solved && h->small && h->scale && h->pivot ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) status = make_normal(h, error);
  if (status == AS_OK) status = make_sum(h, error);
  return status ? status : asi_ldl_analyse(&h->ldl, h->sum, error);
}

void asi_held_free(asi_held *h) {
  as_sparse_destroy(h->sum);
  asi_ldl_free(&h->ldl);
  free(h->solved);
  free(h->small);
  free(h->scale);
  free(h->pivot);
  free(h->normal);
  free(h->normal_pivot);
  *h = (asi_held){0};
}

static void set_borders(const asi_held *h, double *out) {
  const size_t n = (size_t)h->n;
  if (h->borders == 0) return;
  memcpy(out, h->C, (size_t)h->constraints * n * sizeof *out);
  memset(out + (size_t)h->constraints * n, 0, (size_t)h->springs * n * sizeof *out);
  for (int i = 0; i < h->springs; ++i)
    out[(size_t)(h->constraints + i) * n + (size_t)h->spring[i]] = h->stiffness;
}

/// B^T x for `count` columns: borders x count, added with a sign.
static void borders_of(const asi_held *h, const double *x, int count, double sign, double *out) {
  const int b = h->borders;
  if (b == 0) return;
  asi_dense_multiply(true, false, h->constraints, count, h->n, sign, h->C, h->n, x, h->n, out, b);
  for (int c = 0; c < count; ++c)
    for (int i = 0; i < h->springs; ++i)
      out[(ptrdiff_t)c * b + h->constraints + i] +=
          sign * h->stiffness * x[(ptrdiff_t)c * h->n + h->spring[i]];
}

/// The small matrix D - B^T A^-1 B, rows and columns scaled to ones on its diagonal, its factors and its negative eigenvalues.
static as_status make_small(asi_held *h, int *negative, as_error *error) {
  const int b = h->borders;
  const size_t size = (size_t)b * (size_t)b;
  set_borders(h, h->solved);
  if (asi_ldl_solve(&h->ldl, h->solved, b)) return asi_fail_memory(error);
  memset(h->small, 0, size * sizeof(double));
  borders_of(h, h->solved, b, -1.0, h->small);
  for (int i = h->constraints; i < b; ++i) h->small[(ptrdiff_t)i * (b + 1)] += h->stiffness;
  for (int i = 0; i < b; ++i) {
    const double d = fabs(h->small[(ptrdiff_t)i * (b + 1)]);
    h->scale[i] = d > 0.0 ? 1.0 / sqrt(d) : 1.0;
  }
  double norm = 0.0;
  for (int j = 0; j < b; ++j) {
    double sum = 0.0;
    for (int i = 0; i < b; ++i) {
      h->small[(ptrdiff_t)j * b + i] *= h->scale[i] * h->scale[j];
      sum += fabs(h->small[(ptrdiff_t)j * b + i]);
    }
    norm = fmax(norm, sum);
  }
  double *work = asi_calloc(size, sizeof *work);
  double *lambda = asi_calloc(5 * (size_t)b, sizeof *lambda);
  int *integers = asi_calloc((size_t)b, sizeof *integers);
  as_status status = AS_ERR_MEMORY;
  if (work && lambda && integers) {
    memcpy(work, h->small, size * sizeof(double));
    if (asi_dense_eigen(b, work, lambda)) status = AS_OK;
    *negative = 0;
    for (int i = 0; i < b; ++i) *negative += lambda[i] < 0.0;
  }
  if (status == AS_OK &&
      (asi_lu_factor(b, h->small, h->pivot) != 0 ||
       !(asi_lu_rcond(b, h->small, h->pivot, norm, lambda, integers) > SMALLEST_RCOND)))
    status = AS_ERR_SINGULAR;
  free(work);
  free(lambda);
  free(integers);
  return status == AS_ERR_MEMORY ? asi_fail_memory(error) : status;
}

as_status asi_held_factor(asi_held *h, double shift, int *culprit, as_error *error) {
  *culprit = -1;
  memset(h->sum->value, 0, (size_t)h->sum->col_start[h->n] * sizeof(double));
  add(h->sum, h->K, 1.0);
  if (shift != 0.0) add(h->sum, h->M, -shift);
  for (int i = 0; i < h->springs; ++i)
    h->sum->value[find(h->sum, h->spring[i], h->spring[i])] += h->stiffness;
  as_status status = asi_ldl_factor(&h->ldl, h->sum, error);
  if (status == AS_ERR_SINGULAR) *culprit = h->ldl.culprit;
  int negative = 0;
  if (status == AS_OK && h->borders > 0) status = make_small(h, &negative, error);
  h->below = h->ldl.negative + negative - h->constraints;
  return status;
}

/// One solution, f and g given; lambda: borders x count, those of C first.
static as_status solve_once(const asi_held *h, double *x, int count, const double *g,
                            double *lambda) {
  const int b = h->borders;
  const as_status status = asi_ldl_solve(&h->ldl, x, count);
  if (status) return status;
  memset(lambda, 0, (size_t)b * (size_t)count * sizeof *lambda);
  for (int c = 0; c < count && g; ++c)
    memcpy(lambda + (ptrdiff_t)c * b, g + (ptrdiff_t)c * h->constraints,
           (size_t)h->constraints * sizeof *lambda);
  borders_of(h, x, count, -1.0, lambda);
  for (int c = 0; c < count; ++c) {
    double *l = lambda + (ptrdiff_t)c * b;
    for (int i = 0; i < b; ++i) l[i] *= h->scale[i];
    asi_lu_solve(b, h->small, h->pivot, l);
    for (int i = 0; i < b; ++i) l[i] *= h->scale[i];
  }
  asi_dense_multiply(false, false, h->n, count, b, -1.0, h->solved, h->n, lambda, b, x, h->n);
  return AS_OK;
}

/// With constraints the solution is refined once: K u + C^T lambda = f, C u = g.
as_status asi_held_solve(const asi_held *h, double *x, int count, const double *g) {
  const int b = h->borders, k = h->constraints;
  const size_t size = (size_t)h->n * (size_t)count, small = (size_t)k * (size_t)count;
  if (b == 0) return asi_ldl_solve(&h->ldl, x, count);
  double *f = asi_calloc(size, sizeof *f), *r = asi_calloc(size, sizeof *r);
  double *left = asi_calloc(small, sizeof *left);
  double *lambda = asi_calloc((size_t)b * (size_t)count, sizeof *lambda);
  as_status status = f && r && left && lambda ? AS_OK : AS_ERR_MEMORY;
  if (status == AS_OK) {
    memcpy(f, x, size * sizeof *f);
    status = solve_once(h, x, count, g, lambda);
  }
  if (status == AS_OK) {
    asi_sparse_multiply(h->K, x, r, count);
    asi_dense_multiply(false, false, h->n, count, k, 1.0, h->C, h->n, lambda, b, r, h->n);
    for (size_t i = 0; i < size; ++i) r[i] = f[i] - r[i];
    if (g) memcpy(left, g, small * sizeof *left);
    asi_dense_multiply(true, false, k, count, h->n, -1.0, h->C, h->n, x, h->n, left, k);
    status = solve_once(h, r, count, left, lambda);
  }
  for (size_t i = 0; i < size && status == AS_OK; ++i) x[i] += r[i];
  free(f);
  free(r);
  free(left);
  free(lambda);
  return status;
}
