/// Stability: the stiffness on what the constraints leave free, over the mass.
///
/// [AN.4] With Z a basis of the null space of [B; k_v] and K = -f_q, which holds the geometric stiffness of the
/// constraint forces, the equilibrium is stable if all eigenvalues kappa of
///
///     Z^T K Z z = kappa Z^T M Z z
///
/// are real and positive: kappa is the square of a circular frequency. A negative one grows, one that is zero
/// to round-off is a free motion, and a complex pair (forces without a potential) is flutter, and grows too.
/// Z comes from a QR factorization of the scaled constraint matrix of redundancy.c, whose rank is known.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/error.h"
#include "base/number.h"

void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
             const double *a, const int *lda, const double *tau, double *c, const int *ldc,
             double *work, const int *lwork, int *info, size_t side_length, size_t trans_length);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb, size_t side_length, size_t uplo_length, size_t trans_length,
            size_t diag_length);
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info, size_t jobvl_length, size_t jobvr_length);

// What an eigenvalue may be off, relative to the largest stiffness: by formula, and by differences.
#define NOISE 1e-12
#define DIFFERENCE_NOISE 1e-7

/// Dense matrices, by columns.
typedef struct reduction {
  int n, rows, free; ///< free: columns of Z
  double *g;         ///< n x rows: the scaled constraint matrix, transposed
  double *tau;       ///< rows
  int *pivot;        ///< rows
  double *z;         ///< n x free
  double *kz;        ///< n x free
  double *k, *m;     ///< free x free: Z^T K Z, Z^T M Z
  double *re, *im;   ///< free: eigenvalues
  double *vector;    ///< free x free
  double *work;
  int work_size;
} reduction;

static void free_reduction(reduction *r) {
  free(r->g);
  free(r->tau);
  free(r->pivot);
  free(r->z);
  free(r->kz);
  free(r->k);
  free(r->m);
  free(r->re);
  free(r->im);
  free(r->vector);
  free(r->work);
}

static bool take_reduction(reduction *r, int n, int rows, int free_columns) {
  const size_t N = (size_t)n, R = (size_t)rows, F = (size_t)free_columns;
  *r = (reduction){.n = n, .rows = rows, .free = free_columns, .work_size = 64 * (n + rows) + 64};
  r->g = asi_calloc(N * R, sizeof(double));
  r->tau = asi_calloc(R, sizeof(double));
  r->pivot = asi_calloc(R, sizeof(int));
  r->z = asi_calloc(N * F, sizeof(double));
  r->kz = asi_calloc(N * F, sizeof(double));
  r->k = asi_calloc(F * F, sizeof(double));
  r->m = asi_calloc(F * F, sizeof(double));
  r->re = asi_calloc(F, sizeof(double));
  r->im = asi_calloc(F, sizeof(double));
  r->vector = asi_calloc(F * F, sizeof(double));
  r->work = asi_calloc((size_t)r->work_size, sizeof(double));
  return r->g && r->tau && r->pivot && r->z && r->kz && r->k && r->m && r->re && r->im &&
         r->vector && r->work;
}

/// Adds a block's entries, scaled, to the columns of the transposed constraint matrix.
static void put_rows(const asi_kinematics *s, as_block block, int first, reduction *r) {
  const as_matrix *b = &s->block[block];
  if (!(s->problem->present & AS_BLOCK_BIT(block))) return;
  for (int j = 0; j < b->cols; ++j)
    for (int k = b->col_start[j]; k < b->col_start[j + 1]; ++k) {
      const int row = first + b->row[k];
      r->g[(size_t)row * (size_t)r->n + (size_t)j] =
          b->value[k] * s->redundancy.column_scale[j] / sqrt(s->redundancy.inverse_D2[row]);
    }
}

/// Z: the last columns of Q in G^T P = Q R, scaled back.
static bool find_free(const asi_kinematics *s, reduction *r) {
  int info = 0;
  for (int c = 0; c < r->free; ++c)
    r->z[(size_t)c * (size_t)r->n + (size_t)(r->n - r->free + c)] = 1.0;
  if (r->rows == 0) return true;
  put_rows(s, AS_BLOCK_G_Q, 0, r);
  put_rows(s, AS_BLOCK_K_V, s->problem->def.n_lambda, r);
  const int reflectors = r->n < r->rows ? r->n : r->rows;
  dgeqp3_(&r->n, &r->rows, r->g, &r->n, r->pivot, r->tau, r->work, &r->work_size, &info);
  if (info == 0)
    dormqr_("L", "N", &r->n, &r->free, &reflectors, r->g, &r->n, r->tau, r->z, &r->n, r->work,
            &r->work_size, &info, 1, 1);
  for (int c = 0; c < r->free; ++c)
    for (int i = 0; i < r->n; ++i)
      r->z[(size_t)c * (size_t)r->n + (size_t)i] *= s->redundancy.column_scale[i];
  return info == 0;
}

/// out = factor Z^T A Z
static void reduce(const as_matrix *a, double factor, reduction *r, double *out) {
  const size_t n = (size_t)r->n;
  memset(r->kz, 0, n * (size_t)r->free * sizeof(double));
  for (int c = 0; c < r->free; ++c)
    asi_matrix_multiply_add(a, factor, r->z + (size_t)c * n, r->kz + (size_t)c * n);
  for (int c = 0; c < r->free; ++c)
    for (int i = 0; i < r->free; ++i) {
      double sum = 0.0;
      for (size_t j = 0; j < n; ++j) sum += r->z[(size_t)i * n + j] * r->kz[(size_t)c * n + j];
      out[(size_t)c * (size_t)r->free + (size_t)i] = sum;
    }
}

/// K <- L^-1 K L^-T and Z <- Z L^-T with M = L L^T: then the mass is one in all directions.
static bool divide_by_mass(reduction *r) {
  const double one = 1.0;
  int info = 0;
  dpotrf_("L", &r->free, r->m, &r->free, &info, 1);
  if (info != 0) return false;
  dtrsm_("L", "L", "N", "N", &r->free, &r->free, &one, r->m, &r->free, r->k, &r->free, 1, 1, 1, 1);
  dtrsm_("R", "L", "T", "N", &r->free, &r->free, &one, r->m, &r->free, r->k, &r->free, 1, 1, 1, 1);
  dtrsm_("R", "L", "T", "N", &r->n, &r->free, &one, r->m, &r->free, r->z, &r->n, 1, 1, 1, 1);
  return true;
}

/// The eigenvalue that has k smaller ones.
static int find_mode(const reduction *r, int k) {
  for (int i = 0; i < r->free; ++i) {
    int smaller = 0;
    for (int j = 0; j < r->free; ++j) smaller += j < i ? r->re[j] <= r->re[i] : r->re[j] < r->re[i];
    if (smaller == k) return i;
  }
  return 0;
}

/// What eigenvalues say; the softest direction, or the wanted one, goes to a->mode.
static void classify(as_analysis *a, const reduction *r, double largest, as_equilibrium *found) {
  const as_problem *p = a->problem;
  const as_block_set formulas = AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_G_Q);
  const bool given = (p->present & formulas & ~p->given) == 0;
  const double zero = (given ? NOISE : DIFFERENCE_NOISE) * largest;
  const int softest = find_mode(r, 0);
  const int shown = a->wanted_mode > 0 ? find_mode(r, a->wanted_mode) : softest;
  found->n_negative = found->n_neutral = 0;
  for (int i = 0; i < r->free; ++i) {
    if (r->re[i] < -zero || fabs(r->im[i]) > 1e3 * zero)
      ++found->n_negative;
    else if (r->re[i] <= zero)
      ++found->n_neutral;
  }
  found->stability = found->n_negative > 0  ? AS_UNSTABLE
                     : found->n_neutral > 0 ? AS_NEUTRAL
                                            : AS_STABLE;
  found->softest = r->re[softest];
  a->kappa = r->re[shown];
  const double *y = r->vector + (size_t)shown * (size_t)r->free;
  memset(a->mode, 0, (size_t)p->n * sizeof(double));
  for (int c = 0; c < r->free; ++c)
    for (int i = 0; i < p->n; ++i) a->mode[i] += r->z[(size_t)c * (size_t)p->n + (size_t)i] * y[c];
  int most = 0;
  for (int i = 1; i < p->n; ++i)
    if (fabs(a->mode[i]) / p->typical[i] > fabs(a->mode[most]) / p->typical[most]) most = i;
  asi_component_name(p, AS_QUANTITY_V, most, found->softest_component,
                     sizeof found->softest_component);
}

static as_status fail_stability(const as_analysis *a, double t, const char *why) {
  return asi_fail(a->kin.eval.error, AS_ERR_SINGULAR, t, NULL,
                  "The stability of the equilibrium at t = %.9g s could not be found: %s.", t, why);
}

static as_status find_eigenvalues(as_analysis *a, double t, reduction *r, as_equilibrium *found) {
  asi_kinematics *s = &a->kin;
  const int one = 1;
  double none = 0.0;
  int info = 0;
  if (!find_free(s, r)) return fail_stability(a, t, "LAPACK's dgeqp3 failed");
  if (a->problem->present & AS_BLOCK_BIT(AS_BLOCK_F_Q))
    reduce(&s->block[AS_BLOCK_F_Q], -1.0, r, r->k);
  reduce(&s->block[AS_BLOCK_M], 1.0, r, r->m);
  if (!divide_by_mass(r)) return fail_stability(a, t, "a motion has no inertia");
  const double largest = asi_max_abs(r->k, r->free * r->free);
  if (!asi_are_finite(r->k, (size_t)r->free * (size_t)r->free))
    return fail_stability(a, t, "a stiffness is too large to compute with");
  dgeev_("N", "V", &r->free, r->k, &r->free, r->re, r->im, &none, &one, r->vector, &r->free,
         r->work, &r->work_size, &info, 1, 1);
  if (info != 0) return fail_stability(a, t, "LAPACK's dgeev did not converge");
  classify(a, r, fmax(largest, a->stiffness), found);
  return AS_OK;
}

as_status asi_stability(as_analysis *a, double t, as_equilibrium *found) {
  const as_problem *p = a->problem;
  asi_kinematics *s = &a->kin;
  const asi_values *at = &a->here.at;
  found->stability = AS_STABILITY_UNKNOWN;
  found->n_negative = found->n_neutral = -1;
  found->softest = (double)NAN;
  found->softest_component[0] = '\0';
  a->kappa = (double)NAN;
  if (p->n > a->def.stability_limit || p->def.n_x + p->def.n_y > 0) return AS_OK;
  if (found->degrees_of_freedom == 0) {
    found->stability = AS_STABLE;
    found->n_negative = found->n_neutral = 0;
    return AS_OK;
  }
  const as_point point = {.t = t, .q = at->q, .v = at->v, .lambda = at->lambda, .psi = at->psi};
  as_status status = asi_blocks(s, &point,
                                AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_F_Q) |
                                    AS_BLOCK_BIT(AS_BLOCK_G_Q) | AS_BLOCK_BIT(AS_BLOCK_K_V));
  if (status) return status;
  asi_redundancy_scale(s);
  reduction r;
  status = take_reduction(&r, p->n, s->redundancy.rows, found->degrees_of_freedom)
               ? find_eigenvalues(a, t, &r, found)
               : asi_fail_memory(s->eval.error);
  free_reduction(&r);
  return status;
}
