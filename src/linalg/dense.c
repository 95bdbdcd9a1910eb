/// Dense LU: for systems of up to some dozens of unknowns.
///
/// The matrix is scaled by rows, then by columns, to largest entries of one, so that the condition
/// estimate that decides on singularity knows neither units nor masses. A = R^-1 (L U) C^-1.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "linalg/dense_lu.h"
#include "linalg/solver.h"

typedef struct dense_solver {
  asi_solver base;
  int n;
  const int *col_start;
  const int *row;
  double *lu;           ///< n x n, by columns
  double *row_scale;    ///< n
  double *column_scale; ///< n
  double *work;         ///< 4 n
  int *pivot;           ///< n
  int *integer_work;    ///< n
  long factorizations;
} dense_solver;

// Below this reciprocal condition number of the scaled matrix the solution has no correct digit.
#define SINGULAR_RCOND (4.0 * DBL_EPSILON)
// A pivot of the scaled matrix that is nothing but round-off.
#define NEGLIGIBLE_PIVOT 1e-14

/// As fmax(), which is a call.
static double larger(double most, double x) { return x > most ? x : most; }

/// Row and column scales; returns the first empty column, or -1.
static int scale(dense_solver *s, const double *value) {
  memset(s->row_scale, 0, (size_t)s->n * sizeof(double));
  for (int j = 0; j < s->n; ++j)
    for (int p = s->col_start[j]; p < s->col_start[j + 1]; ++p)
      s->row_scale[s->row[p]] = larger(s->row_scale[s->row[p]], fabs(value[p]));
  for (int i = 0; i < s->n; ++i) {
    s->row_scale[i] = s->row_scale[i] > 0.0 ? 1.0 / s->row_scale[i] : 1.0;
  }
  for (int j = 0; j < s->n; ++j) {
    double largest = 0.0;
    for (int p = s->col_start[j]; p < s->col_start[j + 1]; ++p)
      largest = larger(largest, fabs(value[p]) * s->row_scale[s->row[p]]);
    if (!(largest > 0.0)) return j;
    s->column_scale[j] = 1.0 / largest;
  }
  return -1;
}

static as_status dense_factor(asi_solver *solver, double *value, int *culprit) {
  dense_solver *s = (dense_solver *)solver;
  const int n = s->n;
  if (n == 0) return AS_OK;
  ++s->factorizations;
  *culprit = scale(s, value);
  if (*culprit >= 0) return AS_ERR_SINGULAR;
  memset(s->lu, 0, (size_t)n * (size_t)n * sizeof(double));
  double norm = 0.0;
  for (int j = 0; j < n; ++j) {
    double *column = s->lu + (size_t)j * (size_t)n;
    double sum = 0.0;
    for (int p = s->col_start[j]; p < s->col_start[j + 1]; ++p) {
      const int i = s->row[p];
      column[i] = value[p] * s->row_scale[i] * s->column_scale[j];
      sum += fabs(column[i]);
    }
    norm = fmax(norm, sum);
  }
  const bool regular = asi_lu_factor(n, s->lu, s->pivot) == 0;
  const double rcond =
      regular ? asi_lu_rcond(n, s->lu, s->pivot, norm, s->work, s->integer_work) : 0.0;
  if (rcond > SINGULAR_RCOND) return AS_OK;
  // The first negligible pivot, or the smallest, stands in a column that depends on those before it.
  *culprit = 0;
  for (int j = 0; j < n; ++j) {
    const double pivot = fabs(s->lu[(size_t)j * ((size_t)n + 1)]);
    if (pivot < fabs(s->lu[(size_t)*culprit * ((size_t)n + 1)])) *culprit = j;
    if (!(pivot > NEGLIGIBLE_PIVOT)) {
      *culprit = j;
      break;
    }
  }
  return AS_ERR_SINGULAR;
}

static as_status dense_solve(asi_solver *solver, double *b) {
  const dense_solver *s = (const dense_solver *)solver;
  if (s->n == 0) return AS_OK;
  for (int i = 0; i < s->n; ++i) b[i] *= s->row_scale[i];
  asi_lu_solve(s->n, s->lu, s->pivot, b);
  for (int j = 0; j < s->n; ++j) b[j] *= s->column_scale[j];
  return AS_OK;
}

static void dense_info(const asi_solver *solver, asi_solver_info *out) {
  const dense_solver *s = (const dense_solver *)solver;
  const double n = s->n;
  *out = (asi_solver_info){.backend = asi_lu_backend,
                           .order = "natural",
                           .fill = n * n,
                           .factor_operations = 2.0 / 3.0 * n * n * n + asi_lu_call_factor,
                           .solve_operations = 2.0 * n * n + asi_lu_call_solve,
                           .full_factorizations = s->factorizations};
}

static void dense_serialize(asi_solver *solver, double *value, asi_archive *a) {
  dense_solver *s = (dense_solver *)solver;
  const size_t n = (size_t)s->n;
  (void)value;
  asi_archive_count(a, &s->factorizations);
  if (s->factorizations == 0) return;
  asi_archive_doubles(a, s->lu, n * n);
  asi_archive_doubles(a, s->row_scale, n);
  asi_archive_doubles(a, s->column_scale, n);
  for (size_t i = 0; i < n; ++i) asi_archive_int(a, &s->pivot[i], 1, s->n);
}

static void dense_destroy(asi_solver *solver) {
  dense_solver *s = (dense_solver *)solver;
  free(s->lu);
  free(s->row_scale);
  free(s->column_scale);
  free(s->work);
  free(s->pivot);
  free(s->integer_work);
  free(s);
}

static void dense_forget(asi_solver *solver) { ((dense_solver *)solver)->factorizations = 0; }

static const asi_solver_ops dense_ops = {
    .factor = dense_factor,
    .solve = dense_solve,
    .forget = dense_forget,
    .info = dense_info,
    .serialize = dense_serialize,
    .destroy = dense_destroy,
};

as_status asi_dense_create(int n, const int *col_start, const int *row, asi_solver **out,
                           as_error *error) {
  dense_solver *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  const size_t count = (size_t)n;
  *s = (dense_solver){.base = {&dense_ops}, .n = n, .col_start = col_start, .row = row};
  s->lu = asi_calloc(count * count, sizeof(double));
  s->row_scale = asi_calloc(count, sizeof(double));
  s->column_scale = asi_calloc(count, sizeof(double));
  s->work = asi_calloc(4 * count, sizeof(double));
  s->pivot = asi_calloc(count, sizeof(int));
  s->integer_work = asi_calloc(count, sizeof(int));
  if (!s->lu || !s->row_scale || !s->column_scale || !s->work || !s->pivot || !s->integer_work) {
    dense_destroy(&s->base);
    return asi_fail_memory(error);
  }
  for (int i = 0; i < n; ++i) s->pivot[i] = i + 1; // so that a damaged file does no harm
  *out = &s->base;
  return AS_OK;
}
