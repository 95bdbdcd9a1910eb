/// Responses of a linear system.
///
/// [LI.10] Frequency: A = Q H Q^T with H of Hessenberg form once, then C Q (i omega - H)^-1 Q^T B by Gaussian elimination, n^2 operations
/// each. Time: exp of [A B; 0 0] h once (scaling and squaring), then x_{k+1} = E x_k + F u with constant u.
#include "alphastep/response.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

void dgehrd_(const int *n, const int *ilo, const int *ihi, double *a, const int *lda, double *tau,
             double *work, const int *lwork, int *info);
void dormhr_(const char *side, const char *trans, const int *m, const int *n, const int *ilo,
             const int *ihi, const double *a, const int *lda, const double *tau, double *c,
             const int *ldc, double *work, const int *lwork, int *info, size_t side_length,
             size_t trans_length);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t transa_length,
            size_t transb_length);

static as_status check(const as_linear_system *s, int count, const void *out, as_error *error) {
  if (s == NULL || out == NULL || count < 0 || s->n < 0 || s->m < 0 || s->p < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A response needs a system, a place for numbers and a count of them.");
  const size_t n = (size_t)s->n, m = (size_t)s->m, p = (size_t)s->p;
  if (!asi_are_finite(s->a, n * n) || !asi_are_finite(s->b, n * m) ||
      !asi_are_finite(s->c, p * n) || !asi_are_finite(s->d, p * m))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "A response needs a system of finite numbers.");
  return AS_OK;
}

// ---- frequency ----------------------------------------------------------------------------------------

/// Solves (i omega - H) x = b in place for m columns of b; h is scratch that holds i omega - H.
static void solve(double complex *h, int n, double complex *b, int m) {
  for (int k = 0; k + 1 < n; ++k) {
    double complex *row = h + (size_t)k * (size_t)n, *next = row + n; // stored by rows
    if (cabs(next[k]) > cabs(row[k])) {
      for (int j = k; j < n; ++j) {
        const double complex x = row[j];
        row[j] = next[j];
        next[j] = x;
      }
      for (int j = 0; j < m; ++j) {
        double complex *column = b + (size_t)j * (size_t)n;
        const double complex x = column[k];
        column[k] = column[k + 1];
        column[k + 1] = x;
      }
    }
    if (next[k] == 0.0) continue;
    const double complex factor = next[k] / row[k];
    for (int j = k + 1; j < n; ++j) next[j] -= factor * row[j];
    for (int j = 0; j < m; ++j)
      b[(size_t)j * (size_t)n + (size_t)k + 1] -= factor * b[(size_t)j * (size_t)n + (size_t)k];
  }
  for (int j = 0; j < m; ++j)
    for (int i = n - 1; i >= 0; --i) {
      double complex sum = b[(size_t)j * (size_t)n + (size_t)i];
      for (int k = i + 1; k < n; ++k)
        sum -= h[(size_t)i * (size_t)n + (size_t)k] * b[(size_t)j * (size_t)n + (size_t)k];
      b[(size_t)j * (size_t)n + (size_t)i] = sum / h[(size_t)i * (size_t)n + (size_t)i];
    }
}

typedef struct reduced {
  double *h, *b, *c, *tau, *work;
  double complex *matrix, *x;
} reduced;

static bool take(reduced *r, const as_linear_system *s) {
  const size_t n = (size_t)s->n, m = (size_t)s->m, p = (size_t)s->p, most = n + m + p + 1;
  r->h = asi_calloc(n * n + 1, sizeof *r->h);
  r->b = asi_calloc(n * m + 1, sizeof *r->b);
  r->c = asi_calloc(n * p + 1, sizeof *r->c);
  r->tau = asi_calloc(n + 1, sizeof *r->tau);
  r->work = asi_calloc(64 * most, sizeof *r->work);
  r->matrix = asi_calloc(n * n + 1, sizeof *r->matrix);
  r->x = asi_calloc(n * m + 1, sizeof *r->x);
  return r->h && r->b && r->c && r->tau && r->work && r->matrix && r->x;
}

static void release(reduced *r) {
  void *const all[] = {r->h, r->b, r->c, r->tau, r->work, r->matrix, r->x};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
}

/// H, Q^T B and C Q.
static void reduce(reduced *r, const as_linear_system *s) {
  const int n = s->n, one = 1, size = 64 * (s->n + s->m + s->p + 1);
  const int p = s->p > 0 ? s->p : 1;
  int info = 0;
  memcpy(r->h, s->a, (size_t)n * (size_t)n * sizeof *r->h);
  memcpy(r->b, s->b, (size_t)n * (size_t)s->m * sizeof *r->b);
  memcpy(r->c, s->c, (size_t)n * (size_t)s->p * sizeof *r->c);
  dgehrd_(&n, &one, &n, r->h, &n, r->tau, r->work, &size, &info);
  if (s->m > 0)
    dormhr_("L", "T", &n, &s->m, &one, &n, r->h, &n, r->tau, r->b, &n, r->work, &size, &info, 1, 1);
  if (s->p > 0)
    dormhr_("R", "N", &s->p, &n, &one, &n, r->h, &n, r->tau, r->c, &p, r->work, &size, &info, 1, 1);
}

as_status as_frequency_response(const as_linear_system *s, const double *omega, int count,
                                double *out, as_error *error) {
  as_status status = check(s, count, out, error);
  reduced r = {0};
  if (status) return status;
  const int n = s->n;
  const size_t size = (size_t)s->p * (size_t)s->m;
  if (!take(&r, s)) status = asi_fail_memory(error);
  if (status == AS_OK && n > 0) reduce(&r, s);
  for (int k = 0; k < count && status == AS_OK; ++k) {
    double *re = out + 2 * size * (size_t)k, *im = re + size;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double h = j >= i - 1 ? r.h[(size_t)j * (size_t)n + (size_t)i] : 0.0;
        r.matrix[(size_t)i * (size_t)n + (size_t)j] =
            -h + (i == j ? omega[k] : 0.0) * (double complex)I;
      }
    for (size_t i = 0; i < (size_t)n * (size_t)s->m; ++i) r.x[i] = r.b[i];
    solve(r.matrix, n, r.x, s->m);
    for (int j = 0; j < s->m; ++j)
      for (int i = 0; i < s->p; ++i) {
        const size_t at = (size_t)j * (size_t)s->p + (size_t)i;
        double complex sum = s->d[at];
        for (int l = 0; l < n; ++l)
          sum += r.c[(size_t)l * (size_t)s->p + (size_t)i] * r.x[(size_t)j * (size_t)n + (size_t)l];
        re[at] = creal(sum);
        im[at] = cimag(sum);
      }
  }
  release(&r);
  return status;
}

// ---- time ---------------------------------------------------------------------------------------------

static void product(const double *a, const double *b, double *c, int n) {
  const double one = 1.0, zero = 0.0;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
}

/// e <- exp(e); x and y are scratch of the same size. False: e is not finite.
static bool exponential(double *e, int n, double *x, double *y) {
  enum { TERMS = 18 };
  const size_t all = (size_t)n * (size_t)n;
  double norm = 0.0;
  int squarings = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += fabs(e[(size_t)j * (size_t)n + (size_t)i]);
    norm = fmax(norm, sum);
  }
  if (!(norm <= DBL_MAX) || !asi_are_finite(e, all)) return false;
  for (; norm > 0.5; norm *= 0.5) ++squarings;
  for (size_t i = 0; i < all; ++i) e[i] = ldexp(e[i], -squarings);
  memset(x, 0, all * sizeof *x);
  for (int i = 0; i < n; ++i) x[(size_t)i * (size_t)n + (size_t)i] = 1.0;
  for (int term = TERMS; term > 0; --term) { // 1 + e (1 + e/2 (1 + e/3 (...)))
    product(e, x, y, n);
    for (size_t i = 0; i < all; ++i) x[i] = y[i] / term;
    for (int i = 0; i < n; ++i) x[(size_t)i * (size_t)n + (size_t)i] += 1.0;
  }
  memcpy(e, x, all * sizeof *e);
  for (int k = 0; k < squarings; ++k) {
    product(e, e, x, n);
    memcpy(e, x, all * sizeof *e);
  }
  return asi_are_finite(e, all);
}

static as_status fail_overflow(double t, as_error *error) {
  return asi_fail(error, AS_ERR_NONFINITE, (double)NAN, "h",
                  "The response overflows at %.9g s: give a shorter time.", t);
}

as_status as_time_response(const as_linear_system *s, as_time_input input, double h, int count,
                           double *out, as_error *error) {
  as_status status = check(s, count, out, error);
  if (status) return status;
  if (!(h > 0.0 && isfinite(h)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "h", "h = %g is not positive.", h);
  const int n = s->n, m = s->m, all = n + m;
  const size_t square = (size_t)all * (size_t)all + 1;
  double *e = asi_calloc(square, sizeof *e), *x = asi_calloc(square, sizeof *x);
  double *y = asi_calloc(square, sizeof *y);
  if (!e || !x || !y) status = asi_fail_memory(error);
  if (status == AS_OK) {
    for (int j = 0; j < all; ++j)
      for (int i = 0; i < n; ++i)
        e[(size_t)j * (size_t)all + (size_t)i] =
            h * (j < n ? s->a[(size_t)j * (size_t)n + (size_t)i]
                       : s->b[(size_t)(j - n) * (size_t)n + (size_t)i]);
    if (!exponential(e, all, x, y)) status = fail_overflow(h, error);
  }
  for (int j = 0; j < m && status == AS_OK; ++j) {
    const bool step = input == AS_INPUT_STEP;
    memset(x, 0, (size_t)all * sizeof *x);
    if (step) x[n + j] = 1.0;
    for (int i = 0; i < n && !step; ++i) x[i] = s->b[(size_t)j * (size_t)n + (size_t)i];
    for (int k = 0; k < count && status == AS_OK; ++k) {
      double *to = out + (size_t)k * (size_t)s->p * (size_t)m + (size_t)j * (size_t)s->p;
      for (int i = 0; i < s->p; ++i) {
        to[i] = step ? s->d[(size_t)j * (size_t)s->p + (size_t)i] : 0.0;
        for (int l = 0; l < n; ++l) to[i] += s->c[(size_t)l * (size_t)s->p + (size_t)i] * x[l];
      }
      if (!asi_are_finite(to, (size_t)s->p)) status = fail_overflow(k * h, error);
      memset(y, 0, (size_t)all * sizeof *y);
      for (int l = 0; l < all; ++l)
        for (int i = 0; i < all && x[l] != 0.0; ++i)
          y[i] += e[(size_t)l * (size_t)all + (size_t)i] * x[l];
      memcpy(x, y, (size_t)all * sizeof *x);
    }
  }
  free(e);
  free(x);
  free(y);
  return status;
}
