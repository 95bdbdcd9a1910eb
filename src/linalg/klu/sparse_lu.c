/// Sparse LU with KLU.
///
/// Traps of KLU that are handled here:
/// - Its block triangular form costs much and gains nothing on mechanisms: btf = 0, and the pattern has
///   to hold the diagonal, zeros included.
/// - AMD does not know that multipliers have a zero diagonal; pivots leave it, and the fill it predicted
///   is lost. So the fill of each order is measured, and an order that eliminates a joint after its
///   bodies is preferred by its numbers.
/// - klu_refactor keeps the old pivots and may return success with a useless answer. Entries that grow a
///   hundred times more than with fresh pivots give it away; besides, the first solution is checked by its
///   componentwise backward error. Then the matrix is factorized anew, with a search for pivots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <klu.h>

#include "base/error.h"
#include "linalg/residual.h"
#include "linalg/solver.h"

// Ratio of smallest to largest pivot, columns scaled to one, below which a matrix counts as singular.
#define SINGULAR_PIVOT 1e-14
// Componentwise backward error above which a solution is not believed.
#define BAD_SOLUTION 1e-10
// Orders that know nothing of zero diagonals may fill catastrophically: measured on small matrices only.
enum { MAX_BLIND_ORDER = 500 };

typedef struct klu_solver {
  asi_solver base;
  int n;
  int *col_start; ///< n + 1; KLU wants pointers to non-const
  int *row;
  int *order; ///< n, or NULL
  unsigned allowed;
  const char *order_name;
  unsigned order_kind; ///< the order that was chosen
  double *value;       ///< of the last factorization
  double *full_value;  ///< of the last full factorization, which chose the pivots
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;
  bool refactored;    ///< the factors at hand use the pivots of an earlier matrix
  bool unchecked;     ///< and no solution has been looked at yet
  double *right_side; ///< n: b while a solution is checked
  double *residual;   ///< n
  double *magnitude;  ///< n: |A| |x| + |b|
  double *row_scale;  ///< n: KLU's, by rows, of the last full factorization
  double *column_max; ///< n: largest row-scaled entry of each column
  double growth;      ///< reciprocal pivot growth of the last full factorization
  double factor_operations;
  long full_factorizations;
} klu_solver;

static void free_factors(klu_solver *s) {
  if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
  if (s->symbolic) klu_free_symbolic(&s->symbolic, &s->common);
}

/// The status of the last KLU call as ours.
static as_status klu_status(const klu_solver *s) {
  switch (s->common.status) {
  case KLU_OK: return AS_OK;
  case KLU_SINGULAR: return AS_ERR_SINGULAR;
  default: return AS_ERR_MEMORY; // out of memory, or more entries than an int can count
  }
}

/// The largest entry of each column, rows scaled as KLU does: Rs[k] belongs to row Pnum[k].
static void measure_columns(klu_solver *s) {
  double *row_scale = s->row_scale;
  for (int k = 0; k < s->n; ++k) row_scale[s->numeric->Pnum[k]] = s->numeric->Rs[k];
  for (int j = 0; j < s->n; ++j) {
    double entry = 0.0;
    for (int k = s->col_start[j]; k < s->col_start[j + 1]; ++k)
      entry = fmax(entry, fabs(s->value[k]) / row_scale[s->row[k]]);
    s->column_max[j] = entry;
  }
}

/// Refuses factors with pivots that are round-off, given that each column is scaled to one: the first of
/// them stands in a column that depends on those eliminated before. The columns are measured at full
/// factorizations only: this is a test of magnitudes.
static as_status check_pivots(klu_solver *s, int *culprit) {
  const double *pivot = s->numeric->Udiag;
  const int *column = s->symbolic->Q; // pivot k eliminates column Q[k]
  double largest = 0.0;
  for (int k = 0; k < s->n; ++k) {
    const double scaled = fabs(pivot[k]) / s->column_max[column[k]];
    if (scaled > largest) largest = scaled;
  }
  for (int k = 0; k < s->n; ++k) {
    if (fabs(pivot[k]) > SINGULAR_PIVOT * largest * s->column_max[column[k]]) continue;
    *culprit = column[k];
    return AS_ERR_SINGULAR;
  }
  return AS_OK;
}

/// max |U_j| over max |A_j|, the worst column's reciprocal: how much entries have grown in elimination.
static double reciprocal_growth(klu_solver *s) {
  klu_rgrowth(s->col_start, s->row, s->value, s->symbolic, s->numeric, &s->common);
  return s->common.rgrowth;
}

/// Analyses and factorizes with one order; on success the factors replace those at hand if they have
/// less fill.
static as_status try_order(klu_solver *s, unsigned kind, int *culprit) {
  static const struct {
    unsigned kind;
    const char *name;
  } names[] = {{ASI_ORDER_GIVEN, "bodies and joints"},
               {ASI_ORDER_NATURAL, "natural"},
               {ASI_ORDER_AMD, "AMD"},
               {ASI_ORDER_COLAMD, "COLAMD"}};
  klu_symbolic *symbolic = NULL;
  if (kind == ASI_ORDER_GIVEN || kind == ASI_ORDER_NATURAL) {
    int *order = kind == ASI_ORDER_GIVEN ? s->order : NULL;
    symbolic = klu_analyze_given(s->n, s->col_start, s->row, order, order, &s->common);
  } else {
    s->common.ordering = kind == ASI_ORDER_COLAMD;
    symbolic = klu_analyze(s->n, s->col_start, s->row, &s->common);
  }
  if (symbolic == NULL) return klu_status(s);
  klu_numeric *numeric = klu_factor(s->col_start, s->row, s->value, symbolic, &s->common);
  ++s->full_factorizations;
  if (numeric == NULL) {
    const as_status status = klu_status(s);
    if (status == AS_ERR_SINGULAR) *culprit = s->common.singular_col;
    klu_free_symbolic(&symbolic, &s->common);
    return status;
  }
  if (s->numeric && s->numeric->lnz + s->numeric->unz <= numeric->lnz + numeric->unz) {
    klu_free_numeric(&numeric, &s->common);
    klu_free_symbolic(&symbolic, &s->common);
    return AS_OK;
  }
  free_factors(s);
  s->symbolic = symbolic;
  s->numeric = numeric;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    if (names[i].kind == kind) s->order_name = names[i].name;
  s->order_kind = kind;
  return AS_OK;
}

/// Whether a diagonal entry is zero, or next to nothing in its column.
static bool has_zero_diagonal(const klu_solver *s) {
  for (int j = 0; j < s->n; ++j) {
    double diagonal = 0.0, largest = 0.0;
    for (int k = s->col_start[j]; k < s->col_start[j + 1]; ++k) {
      if (s->row[k] == j) diagonal = fabs(s->value[k]);
      largest = fmax(largest, fabs(s->value[k]));
    }
    if (diagonal <= 1e-5 * largest) return true;
  }
  return false;
}

/// The first factorization: tries the allowed orders and keeps the best.
static as_status choose_order(klu_solver *s, int *culprit) {
  unsigned orders = s->allowed;
  if (s->order == NULL) orders &= ~(unsigned)ASI_ORDER_GIVEN;
  if ((orders & ASI_ORDER_GIVEN) && s->n > MAX_BLIND_ORDER && has_zero_diagonal(s))
    orders = ASI_ORDER_GIVEN;
  as_status status = AS_OK;
  for (unsigned kind = ASI_ORDER_GIVEN; kind <= ASI_ORDER_COLAMD; kind *= 2)
    if (orders & kind) {
      const as_status tried = try_order(s, kind, culprit);
      if (tried != AS_OK && status == AS_OK) status = tried;
    }
  if (s->numeric == NULL) return status;
  klu_flops(s->symbolic, s->numeric, &s->common);
  s->factor_operations = s->common.flops;
  return AS_OK;
}

/// A factorization with a new search for pivots, in the order chosen before.
static as_status factor_anew(klu_solver *s, int *culprit) {
  if (s->symbolic == NULL) {
    const as_status status = choose_order(s, culprit);
    if (status) return status;
  } else {
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_factor(s->col_start, s->row, s->value, s->symbolic, &s->common);
    ++s->full_factorizations;
    if (s->numeric == NULL) {
      const as_status status = klu_status(s);
      if (status == AS_ERR_SINGULAR) *culprit = s->common.singular_col;
      return status;
    }
  }
  memcpy(s->full_value, s->value, (size_t)s->col_start[s->n] * sizeof(double));
  s->refactored = false;
  measure_columns(s);
  s->growth = reciprocal_growth(s);
  return check_pivots(s, culprit);
}

static as_status klu_backend_factor(asi_solver *solver, double *value, int *culprit) {
  klu_solver *s = (klu_solver *)solver;
  s->value = value;
  s->unchecked = false;
  *culprit = 0;
  if (s->n == 0) return AS_OK;
  if (s->numeric) {
    s->unchecked = klu_refactor(s->col_start, s->row, value, s->symbolic, s->numeric, &s->common) &&
                   s->common.status == KLU_OK && check_pivots(s, culprit) == AS_OK &&
                   reciprocal_growth(s) > 0.01 * s->growth;
    s->refactored = s->unchecked;
    if (s->unchecked) return AS_OK;
  }
  return factor_anew(s, culprit);
}

static bool is_good(klu_solver *s, const double *b, const double *x) {
  const asi_equations e = {s->n, s->col_start, s->row, s->value, s->row_scale, b};
  return asi_satisfies(&e, x, BAD_SOLUTION, 1e-6 * BAD_SOLUTION, s->residual, s->magnitude);
}

static as_status klu_backend_solve(asi_solver *solver, double *b) {
  klu_solver *s = (klu_solver *)solver;
  if (s->n == 0) return AS_OK;
  if (!s->unchecked) {
    klu_solve(s->symbolic, s->numeric, s->n, 1, b, &s->common);
    return AS_OK;
  }
  memcpy(s->right_side, b, (size_t)s->n * sizeof(double));
  klu_solve(s->symbolic, s->numeric, s->n, 1, b, &s->common);
  s->unchecked = false;
  if (is_good(s, s->right_side, b)) return AS_OK;
  int culprit = 0;
  const as_status status = factor_anew(s, &culprit);
  if (status) return status;
  memcpy(b, s->right_side, (size_t)s->n * sizeof(double));
  klu_solve(s->symbolic, s->numeric, s->n, 1, b, &s->common);
  if (is_good(s, s->right_side, b)) return AS_OK;
  // One step of refinement.
  klu_solve(s->symbolic, s->numeric, s->n, 1, s->residual, &s->common);
  for (int i = 0; i < s->n; ++i) b[i] += s->residual[i];
  return is_good(s, s->right_side, b) ? AS_OK : AS_ERR_SINGULAR;
}

static void klu_backend_info(const asi_solver *solver, asi_solver_info *out) {
  const klu_solver *s = (const klu_solver *)solver;
  const double fill =
      s->numeric ? (double)s->numeric->lnz + (double)s->numeric->unz - (double)s->n : 0.0;
  *out = (asi_solver_info){.backend = "KLU",
                           .order = s->order_name,
                           .fill = fill,
                           .factor_operations = s->factor_operations,
                           .solve_operations = 2.0 * fill,
                           .full_factorizations = s->full_factorizations};
}

/// Makes the factors again: the full factorization and then, with its pivots, the last one.
static as_status rebuild(klu_solver *s, unsigned kind, double *value) {
  int culprit = 0;
  s->value = s->full_value;
  const as_status status = try_order(s, kind, &culprit);
  if (status) return status;
  measure_columns(s);
  s->growth = reciprocal_growth(s);
  s->value = value;
  if (!s->refactored ||
      klu_refactor(s->col_start, s->row, value, s->symbolic, s->numeric, &s->common))
    return AS_OK;
  return klu_status(s);
}

static void klu_backend_serialize(asi_solver *solver, double *value, asi_archive *a) {
  klu_solver *s = (klu_solver *)solver;
  bool known = s->numeric != NULL;
  asi_archive_bool(a, &known);
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged) {
    free_factors(s);
    s->full_factorizations = 0;
  }
  if (!known || a->damaged) return;
  int kind = (int)s->order_kind;
  long full = s->full_factorizations;
  asi_archive_int(a, &kind, ASI_ORDER_GIVEN, ASI_ORDER_COLAMD);
  asi_archive_doubles(a, s->full_value, (size_t)s->col_start[s->n]);
  asi_archive_bool(a, &s->refactored);
  asi_archive_double(a, &s->factor_operations); // of the first factors, not of these
  asi_archive_count(a, &full);
  if (a->mode != ASI_ARCHIVE_READ || a->damaged) return;
  const bool fits = kind == ASI_ORDER_NATURAL || kind == ASI_ORDER_AMD ||
                    kind == ASI_ORDER_COLAMD || (kind == ASI_ORDER_GIVEN && s->order != NULL);
  const as_status status = fits ? rebuild(s, (unsigned)kind, value) : AS_ERR_FILE;
  if (status) a->damaged = true;
  if (status == AS_ERR_MEMORY) a->no_memory = true;
  s->full_factorizations = full;
  s->unchecked = false; // a solution follows each factorization
}

static void klu_backend_destroy(asi_solver *solver) {
  klu_solver *s = (klu_solver *)solver;
  free_factors(s);
  free(s->col_start);
  free(s->row);
  free(s->order);
  free(s->right_side);
  free(s->residual);
  free(s->magnitude);
  free(s->row_scale);
  free(s->column_max);
  free(s->full_value);
  free(s);
}

static const asi_solver_ops klu_ops = {
    .factor = klu_backend_factor,
    .solve = klu_backend_solve,
    .info = klu_backend_info,
    .serialize = klu_backend_serialize,
    .destroy = klu_backend_destroy,
};

as_status asi_sparse_lu_create(int n, const int *col_start, const int *row, const int *order,
                               unsigned allowed_orders, asi_solver **out, as_error *error) {
  klu_solver *s = asi_calloc(1, sizeof *s);
  if (s == NULL) return asi_fail_memory(error);
  const size_t count = (size_t)n, nnz = (size_t)col_start[n];
  *s = (klu_solver){.base = {&klu_ops}, .n = n, .allowed = allowed_orders, .order_name = "none"};
  s->col_start = asi_calloc(count + 1, sizeof(int));
  s->row = asi_calloc(nnz, sizeof(int));
  s->order = order ? asi_calloc(count, sizeof(int)) : NULL;
  s->right_side = asi_calloc(count, sizeof(double));
  s->residual = asi_calloc(count, sizeof(double));
  s->magnitude = asi_calloc(count, sizeof(double));
  s->row_scale = asi_calloc(count, sizeof(double));
  s->column_max = asi_calloc(count, sizeof(double));
  s->full_value = asi_calloc(nnz, sizeof(double));
  if (!s->col_start || !s->row || (order && !s->order) || !s->right_side || !s->residual ||
      !s->magnitude || !s->row_scale || !s->column_max || !s->full_value) {
    klu_backend_destroy(&s->base);
    return asi_fail_memory(error);
  }
  memcpy(s->col_start, col_start, (count + 1) * sizeof(int));
  memcpy(s->row, row, nnz * sizeof(int));
  if (order) memcpy(s->order, order, count * sizeof(int));
  klu_defaults(&s->common);
  s->common.btf = 0;
  s->common.halt_if_singular = 0; // pivots are looked at in check_pivots
  *out = &s->base;
  return AS_OK;
}
