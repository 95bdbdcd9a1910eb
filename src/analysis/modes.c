/// Modes: eigenvalues and eigenvectors of A.
///
/// [LI.8] A is balanced. Then motions without stiffness are split off, by orthogonal transformations: with an orthonormal basis N of the
/// null space of A and P of the rest, [N P]^T A [N P] = [0 R; 0 A_2], and again with A_2 until it is regular. So each zero is
/// one, also where A has no full set of eigenvectors, and does not become a pair of small numbers. The eigenvalues of what is left
/// are LAPACK's.
#include "analysis/modes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "base/error.h"
#include "base/number.h"

void dgebal_(const char *job, const int *n, double *a, const int *lda, int *ilo, int *ihi,
             double *scale, int *info, size_t job_length);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info, size_t jobu_length, size_t jobvt_length);

// A singular value below this part of the largest is zero; the second where blocks are differenced.
#define NULL_LIMIT 1e-11
#define NULL_LIMIT_DIFFERENCED 1e-7
// Growth or decay below this part of an eigenvalue, or below that of the largest one, is round-off.
#define NEUTRAL 1e-9
#define NEUTRAL_OF_LARGEST 1e-13

static const double two_pi = 6.28318530717958647692;

// ---- lists of modes ---------------------------------------------------------------------------------

as_modes *asi_modes_take(int modes, int n, int n_states) {
  as_modes *m = asi_calloc(1, sizeof *m);
  const size_t each = 2 * ((size_t)n + (size_t)n_states);
  as_mode *mode = asi_calloc((size_t)modes + 1, sizeof *mode);
  double *store = asi_calloc((size_t)modes * each + 1, sizeof *store);
  if (m == NULL || mode == NULL || store == NULL) {
    free(m);
    free(mode);
    free(store);
    return NULL;
  }
  m->mode = mode;
  m->store = store;
  return m;
}

double *asi_modes_shape(as_modes *m, int mode, int n, int n_states) {
  return m->store + (size_t)mode * 2 * ((size_t)n + (size_t)n_states);
}

double *asi_modes_vector(as_modes *m, int mode, int n, int n_states) {
  return asi_modes_shape(m, mode, n, n_states) + 2 * (size_t)n;
}

void as_modes_destroy(as_modes *modes) {
  if (modes == NULL) return;
  free((void *)(size_t)modes->mode);
  free(modes->store);
  free(modes);
}

void asi_mode_set(as_mode *mode, double re, double im, double noise) {
  const double size = hypot(re, im);
  const bool neutral = fabs(re) <= NEUTRAL * size + noise;
  mode->re = re;
  mode->im = fabs(im);
  mode->free = size == 0.0;
  mode->frequency = mode->im / two_pi;
  mode->damping = size > 0.0 ? 0.0 - re / size : (double)NAN;
  mode->time = neutral ? (double)INFINITY : 1.0 / fabs(re);
}

void asi_mode_normalize(double *shape, double *vector, int n, int n_states, const double *typical) {
  int most = -1;
  double largest = 0.0;
  for (int i = 0; i < n; ++i) {
    const double size = hypot(shape[i], shape[n + i]) / typical[i];
    if (size > largest * (1.0 + 1e-9)) {
      largest = size;
      most = i;
    }
  }
  if (most < 0) return;
  const double re = shape[most], im = shape[n + most], square = re * re + im * im;
  const double factor[2] = {re / square * typical[most], -im / square * typical[most]};
  for (int k = 0; k < 2; ++k) {
    double *x = k == 0 ? shape : vector;
    const int size = k == 0 ? n : n_states;
    for (int i = 0; x && i < size; ++i) {
      const double a = x[i], b = x[size + i];
      x[i] = a * factor[0] - b * factor[1];
      x[size + i] = a * factor[1] + b * factor[0];
    }
  }
}

static int compare(const void *a, const void *b) {
  const as_mode *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  if (fabs(p - q) > 1e-9 * (p + q)) return p < q ? -1 : 1;
  return (x->re > y->re) - (x->re < y->re);
}

void asi_modes_finish(as_modes *m) {
  as_mode *mode = (as_mode *)(size_t)m->mode; // it is ours
  qsort(mode, (size_t)m->n, sizeof *mode, compare);
  m->n_states = m->n_unstable = m->n_free = 0;
  for (int i = 0; i < m->n; ++i) {
    const int count = mode[i].im != 0.0 ? 2 : 1;
    m->n_states += count;
    if (mode[i].free) m->n_free += count;
    if (mode[i].re > 0.0 && isfinite(mode[i].time)) m->n_unstable += count;
  }
}

// ---- eigenvalues --------------------------------------------------------------------------------------

/// What is worked on, by columns.
typedef struct eigen {
  int n;         ///< of A
  int zeros;     ///< split off so far
  double *a;     ///< n x n: U^-1 A U
  double *basis; ///< n x n: U
  double *sub, *vt, *work, *re, *im, *vector, *scale, *sigma;
  int work_size;
  double largest;
} eigen;

static bool take(eigen *e, int n) {
  const size_t all = (size_t)n * (size_t)n + 1;
  *e = (eigen){.n = n, .work_size = 16 * n + 64};
  double **const square[] = {&e->a, &e->basis, &e->sub, &e->vt, &e->vector};
  for (size_t i = 0; i < sizeof square / sizeof square[0]; ++i)
    if ((*square[i] = asi_calloc(all, sizeof(double))) == NULL) return false;
  double **const line[] = {&e->re, &e->im, &e->scale, &e->sigma};
  for (size_t i = 0; i < sizeof line / sizeof line[0]; ++i)
    if ((*line[i] = asi_calloc((size_t)n + 1, sizeof(double))) == NULL) return false;
  return (e->work = asi_calloc((size_t)e->work_size, sizeof(double))) != NULL;
}

static void release(eigen *e) {
  double *const all[] = {e->a,  e->basis, e->sub,    e->vt,    e->work,
                         e->re, e->im,    e->vector, e->scale, e->sigma};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
}

static double *at(double *m, int n, int i, int j) { return m + (size_t)j * (size_t)n + (size_t)i; }

static void copy_rest(eigen *e) {
  const int m = e->n - e->zeros;
  for (int j = 0; j < m; ++j)
    memcpy(at(e->sub, m, 0, j), at(e->a, e->n, e->zeros, e->zeros + j), (size_t)m * sizeof(double));
}

/// x <- x P for the columns from `first` on of the rows of a matrix; P has the rows of vt, the last first.
static void turn_columns(double *x, int rows, int first, const double *vt, int m, double *line) {
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < m; ++k) {
      line[k] = 0.0;
      for (int j = 0; j < m; ++j)
        line[k] += x[(size_t)(first + j) * (size_t)rows + (size_t)i] *
                   vt[(size_t)j * (size_t)m + (size_t)(m - 1 - k)];
    }
    for (int k = 0; k < m; ++k) x[(size_t)(first + k) * (size_t)rows + (size_t)i] = line[k];
  }
}

static void turn_rows(double *x, int n, int first, const double *vt, int m, double *line) {
  for (int j = 0; j < n; ++j) {
    double *column = at(x, n, first, j);
    for (int k = 0; k < m; ++k) {
      line[k] = 0.0;
      for (int i = 0; i < m; ++i)
        line[k] += vt[(size_t)i * (size_t)m + (size_t)(m - 1 - k)] * column[i];
    }
    memcpy(column, line, (size_t)m * sizeof *line);
  }
}

/// [LI.8] Splits motions without stiffness off.
static bool split_zeros(eigen *e, double limit) {
  for (bool first = true; e->zeros < e->n; first = false) {
    const int m = e->n - e->zeros, one = 1;
    int info = 0, nullity = 0;
    double none = 0.0;
    copy_rest(e);
    dgesvd_("N", "A", &m, &m, e->sub, &m, e->sigma, &none, &one, e->vt, &m, e->work, &e->work_size,
            &info, 1, 1);
    if (info != 0) return false;
    if (first) e->largest = e->sigma[0];
    while (nullity < m && e->sigma[m - 1 - nullity] <= limit * e->largest) ++nullity;
    if (nullity == 0) return true;
    turn_columns(e->a, e->n, e->zeros, e->vt, m, e->re);
    turn_rows(e->a, e->n, e->zeros, e->vt, m, e->re);
    turn_columns(e->basis, e->n, e->zeros, e->vt, m, e->re);
    for (int j = 0; j < nullity; ++j)
      memset(at(e->a, e->n, e->zeros, e->zeros + j), 0, (size_t)m * sizeof(double));
    e->zeros += nullity;
  }
  return true;
}

/// The eigenvector of A, balanced, from that of what is left: z = U (z1, w), with (lambda - A_11) z1 = A_12 w.
static void back(eigen *e, const double *w_re, const double *w_im, double re, double im,
                 double *out) {
  const int n = e->n, k = e->zeros;
  double *z_re = e->work, *z_im = e->work + n;
  const double square = re * re + im * im;
  for (int i = 0; i < n - k; ++i) {
    z_re[k + i] = w_re[i];
    z_im[k + i] = w_im ? w_im[i] : 0.0;
  }
  for (int i = k - 1; i >= 0; --i) {
    double a = 0.0, b = 0.0;
    for (int j = i + 1; j < n; ++j) {
      a += *at(e->a, n, i, j) * z_re[j];
      b += *at(e->a, n, i, j) * z_im[j];
    }
    z_re[i] = (a * re + b * im) / square;
    z_im[i] = (b * re - a * im) / square;
  }
  for (int i = 0; i < n; ++i) {
    out[i] = out[n + i] = 0.0;
    for (int j = 0; j < n; ++j) {
      out[i] += *at(e->basis, n, i, j) * z_re[j];
      out[n + i] += *at(e->basis, n, i, j) * z_im[j];
    }
    out[i] *= e->scale[i];
    out[n + i] *= e->scale[i];
  }
}

static void add_mode(const as_linearization *l, as_modes *m, double re, double im, double noise) {
  const int n = as_space_nv(as_problem_space(l->problem)), i = m->n++;
  as_mode *mode = (as_mode *)(size_t)&m->mode[i];
  double *shape = asi_modes_shape(m, i, n, l->n_states);
  double *vector = asi_modes_vector(m, i, n, l->n_states);
  as_linearization_expand(l, vector, shape, NULL);
  as_linearization_expand(l, vector + l->n_states, shape + n, NULL);
  asi_mode_normalize(shape, vector, n, l->n_states, l->problem->typical);
  asi_mode_set(mode, re, im, noise);
  mode->shape = shape;
  mode->vector = vector;
}

static as_status find(const as_linearization *l, eigen *e, as_modes *m, as_error *error) {
  const int n = e->n, one = 1;
  int info = 0, low = 0, high = 0;
  double none = 0.0;
  memcpy(e->a, l->a, (size_t)n * (size_t)n * sizeof(double));
  for (int i = 0; i < n; ++i) *at(e->basis, n, i, i) = 1.0;
  dgebal_("S", &n, e->a, &n, &low, &high, e->scale, &info, 1);
  const as_block_set matter = 1u << AS_BLOCK_F_Q | 1u << AS_BLOCK_F_V | 1u << AS_BLOCK_G_Q;
  const bool given = (l->problem->present & matter & ~l->problem->given) == 0;
  if (info != 0 || !split_zeros(e, given ? NULL_LIMIT : NULL_LIMIT_DIFFERENCED))
    return asi_fail(error, AS_ERR_SINGULAR, (double)NAN, NULL,
                    "The modes could not be found: LAPACK's dgesvd did not converge.");
  const int left = n - e->zeros;
  copy_rest(e);
  if (!asi_are_finite(e->sub, (size_t)left * (size_t)left)) info = 1;
  if (left > 0 && info == 0)
    dgeev_("N", "V", &left, e->sub, &left, e->re, e->im, &none, &one, e->vector, &left, e->work,
           &e->work_size, &info, 1, 1);
  if (info != 0)
    return asi_fail(error, AS_ERR_SINGULAR, (double)NAN, NULL,
                    "The modes could not be found: LAPACK's dgeev did not converge.");
  for (int i = 0; i < e->zeros; ++i) {
    double *vector = asi_modes_vector(m, m->n, l->problem->n, n);
    for (int k = 0; k < n; ++k) vector[k] = *at(e->basis, n, k, i) * e->scale[k];
    add_mode(l, m, 0.0, 0.0, 0.0);
  }
  const double noise = (given ? NEUTRAL_OF_LARGEST : NULL_LIMIT_DIFFERENCED) * e->largest;
  for (int i = 0; i < left; ++i) {
    const bool pair = e->im[i] != 0.0;
    const double *re = at(e->vector, left, 0, i), *im = pair ? at(e->vector, left, 0, i + 1) : NULL;
    back(e, re, im, e->re[i], e->im[i], asi_modes_vector(m, m->n, l->problem->n, n));
    add_mode(l, m, e->re[i], e->im[i], noise);
    if (pair) ++i;
  }
  asi_modes_finish(m);
  return AS_OK;
}

int asi_eigenvalues(const double *a, int n, double limit, double *re, double *im) {
  eigen e = {0};
  const int one = 1;
  int info = 0, low = 0, high = 0;
  double none = 0.0;
  bool good = take(&e, n);
  if (!good) {
    release(&e);
    return -1;
  }
  memcpy(e.a, a, (size_t)n * (size_t)n * sizeof(double));
  good = asi_are_finite(a, (size_t)n * (size_t)n);
  if (good) dgebal_("S", &n, e.a, &n, &low, &high, e.scale, &info, 1);
  good = good && info == 0 && split_zeros(&e, limit);
  const int left = n - e.zeros;
  for (int i = 0; i < e.zeros; ++i) re[i] = im[i] = 0.0;
  if (good) copy_rest(&e);
  good = good && asi_are_finite(e.sub, (size_t)left * (size_t)left);
  if (good && left > 0)
    dgeev_("N", "N", &left, e.sub, &left, re + e.zeros, im + e.zeros, &none, &one, &none, &one,
           e.work, &e.work_size, &info, 1, 1);
  release(&e);
  return good && info == 0 ? 0 : 1;
}

as_status as_modes_create(const as_linearization *l, as_modes **out, as_error *error) {
  if (l == NULL || out == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_modes_create needs a linearization and a place for the modes.");
  *out = NULL;
  eigen e = {0};
  as_modes *m = asi_modes_take(l->n_states, l->problem->n, l->n_states);
  as_status status = m && take(&e, l->n_states) ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK && l->n_states > 0) status = find(l, &e, m, error);
  release(&e);
  if (status) {
    as_modes_destroy(m);
    return status;
  }
  m->axes = l->axes;
  m->n_samplers = l->n_samplers;
  memcpy(m->turning, l->turning, sizeof m->turning);
  *out = m;
  return AS_OK;
}
