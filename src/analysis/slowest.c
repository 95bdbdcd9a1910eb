/// The slowest modes of a large problem at rest.
///
/// [LI.9] Arnoldi's method for (A - s)^-1 with a real shift s > 0, which has the eigenvalues 1 / (lambda - s): those closest to s come first.
/// A is not formed. z = (A - s)^-1 b is one solution of a sparse system whose unknowns are xi, multipliers, dx and dy, with dv = s xi + b_xi and
/// dv' = s dv + b_v:
///
///     (s^2 M - s f_v - f_q) xi - f_lambda dlambda - f_psi dpsi - f_x dx - f_y dy = f_v b_xi - M (s b_xi + b_v)
///     B xi = 0,    (k_q + s k_v) xi = -k_v b_xi,    and rows of x and y likewise
///
/// Several start vectors are taken at once, so that eigenvalues that several modes share are found as often.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "analysis/modes.h"
#include "base/error.h"

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *incx, const double *beta, double *y,
            const int *incy, size_t trans_length);

enum { STARTS = 4, LONGEST = 600, LOOK = 12 };
// Ritz values count if what they leave is below this part of them.
#define CONVERGED 1e-10
// Eigenvalues below this part of the shift are zero.
#define ZERO 1e-4
// A shift that is this much larger than the slowest mode is made smaller.
#define TOO_LARGE 10.0

typedef struct krylov {
  as_integrator *s;
  asi_system system;
  int n, rows, nx, ny, size; ///< size: 2 n + n_x
  double shift;
  double *unit;  ///< size: components are seen in these
  double *basis; ///< size x (most + STARTS), by columns
  double *h;     ///< (most + STARTS) x most: OP V = V H
  int most, length;
  double *b, *work;             ///< right side; size
  double *matrix, *re, *im, *y; ///< eigenvalues of H
  double *lapack;
  int lapack_size;
} krylov;

static int list_terms(const as_problem *p, double s, asi_term *term) {
  const int n = p->n, l = n + p->def.n_lambda, x = l + p->def.n_psi, y = x + p->def.n_x;
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  const double sign = additive ? 1.0 : -1.0;
  const asi_chain_factor via = ASI_CHAIN_IDENTITY;
  const asi_term all[] = {
      {0, 0, AS_BLOCK_M, false, via, s * s},
      {0, 0, AS_BLOCK_F_V, false, via, -s},
      {0, 0, AS_BLOCK_F_Q, false, via, -1.0},
      {0, n, additive ? AS_BLOCK_G_Q : AS_BLOCK_F_LAMBDA, additive, via, sign},
      {0, l, additive ? AS_BLOCK_K_V : AS_BLOCK_F_PSI, additive, via, sign},
      {0, x, AS_BLOCK_F_X, false, via, -1.0},
      {0, y, AS_BLOCK_F_Y, false, via, -1.0},
      {n, 0, AS_BLOCK_G_Q, false, via, 1.0},
      {l, 0, AS_BLOCK_K_V, false, via, s},
      {l, 0, AS_BLOCK_K_Q, false, via, 1.0},
      {x, 0, AS_BLOCK_PHI_Q, false, via, -1.0},
      {x, 0, AS_BLOCK_PHI_V, false, via, -s},
      {x, 0, AS_BLOCK_PHI_VDOT, false, via, -s * s},
      {x, n, AS_BLOCK_PHI_LAMBDA, false, via, -1.0},
      {x, l, AS_BLOCK_PHI_PSI, false, via, -1.0},
      {x, x, AS_BLOCK_PHI_X, false, via, -1.0},
      {x, y, AS_BLOCK_PHI_Y, false, via, -1.0},
      {y, 0, AS_BLOCK_CHI_Q, false, via, -1.0},
      {y, 0, AS_BLOCK_CHI_V, false, via, -s},
      {y, 0, AS_BLOCK_CHI_VDOT, false, via, -s * s},
      {y, n, AS_BLOCK_CHI_LAMBDA, false, via, -1.0},
      {y, l, AS_BLOCK_CHI_PSI, false, via, -1.0},
      {y, x, AS_BLOCK_CHI_X, false, via, -1.0},
      {y, y, AS_BLOCK_CHI_Y, false, via, -1.0},
  };
  memcpy(term, all, sizeof all);
  return (int)(sizeof all / sizeof all[0]);
}

// ---- one application --------------------------------------------------------------------------------

static as_status factorize(krylov *k, double shift) {
  as_integrator *s = k->s;
  const as_problem *p = s->kin.problem;
  asi_term terms[ASI_MAX_TERMS];
  const int x = k->n + k->rows, y = x + k->nx;
  k->shift = shift;
  asi_system_set_factors(&k->system, terms, list_terms(p, shift, terms));
  asi_system_assemble(&k->system, s->kin.block, &s->kin.tangent);
  for (int i = x; i < k->system.size; ++i)
    k->system.value[k->system.diagonal[i]] += i < y ? shift : 1.0;
  for (int i = 0; i < k->n; ++i) {
    k->unit[i] = p->typical[i];
    k->unit[k->n + i] = p->typical[i] * shift;
  }
  for (int i = 0; i < k->nx; ++i) k->unit[2 * k->n + i] = 1.0;
  return asi_factor(&s->kin, &k->system, s->stepper.t, "the slowest modes");
}

static void multiply(const krylov *k, as_block block, double factor, const double *x, double *out) {
  const as_matrix *m = &k->s->kin.block[block];
  if (m->value && m->cols > 0) asi_matrix_multiply_add(m, factor, x, out);
}

/// z = (A - s)^-1 b, both seen in units.
static as_status apply(krylov *k, const double *from, double *to) {
  const int n = k->n, x = n + k->rows, y = x + k->nx;
  double *b = k->b, *b_q = k->work, *b_v = b_q + n, *b_x = b_v + n, *rate = b_x + k->nx;
  for (int i = 0; i < k->size; ++i) b_q[i] = from[i] * k->unit[i];
  for (int i = 0; i < n; ++i) rate[i] = k->shift * b_q[i] + b_v[i];
  memset(b, 0, (size_t)k->system.size * sizeof *b);
  multiply(k, AS_BLOCK_F_V, 1.0, b_q, b);
  multiply(k, AS_BLOCK_M, -1.0, rate, b);
  multiply(k, AS_BLOCK_K_V, -1.0, b_q, b + n + k->s->kin.problem->def.n_lambda);
  for (int i = 0; i < k->nx; ++i) b[x + i] = -b_x[i];
  multiply(k, AS_BLOCK_PHI_V, 1.0, b_q, b + x);
  multiply(k, AS_BLOCK_PHI_VDOT, 1.0, rate, b + x);
  multiply(k, AS_BLOCK_CHI_V, 1.0, b_q, b + y);
  multiply(k, AS_BLOCK_CHI_VDOT, 1.0, rate, b + y);
  const as_status status = asi_solve(&k->s->kin, &k->system, k->s->stepper.t, b);
  if (status) return status;
  for (int i = 0; i < n; ++i) {
    to[i] = b[i] / k->unit[i];
    to[n + i] = (k->shift * b[i] + b_q[i]) / k->unit[n + i];
  }
  for (int i = 0; i < k->nx; ++i) to[2 * n + i] = b[x + i];
  return AS_OK;
}

// ---- Arnoldi ----------------------------------------------------------------------------------------

static double *vector_at(const krylov *k, int j) { return k->basis + (size_t)j * (size_t)k->size; }

/// Makes a vector perpendicular to the first `count`, twice, and of length one; adds what was taken to h (may be NULL).
static double orthogonalize(krylov *k, double *w, int count, double *h) {
  const int one = 1;
  const double plus = 1.0, minus = -1.0, zero = 0.0;
  double sum = 0.0;
  for (int pass = 0; pass < 2 && count > 0; ++pass) {
    double *c = k->lapack;
    dgemv_("T", &k->size, &count, &plus, k->basis, &k->size, w, &one, &zero, c, &one, 1);
    dgemv_("N", &k->size, &count, &minus, k->basis, &k->size, c, &one, &plus, w, &one, 1);
    for (int i = 0; i < count && h; ++i) h[i] += c[i];
  }
  for (int i = 0; i < k->size; ++i) sum += w[i] * w[i];
  const double length = sqrt(sum);
  for (int i = 0; i < k->size && length > 0.0; ++i) w[i] /= length;
  return length;
}

/// Start vectors: any numbers, brought onto the constraints by one application.
static as_status begin(krylov *k) {
  unsigned long long state = 88172645463325252ULL;
  k->length = 0;
  for (int j = 0; j < STARTS; ++j) {
    double *w = vector_at(k, j);
    for (int i = 0; i < k->size; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      w[i] = (double)(state >> 11) * 0x1p-53 - 0.5;
    }
    for (int pass = 0; pass < 2; ++pass) {
      const as_status status = apply(k, w, w);
      if (status) return status;
      orthogonalize(k, w, j, NULL);
    }
  }
  memset(k->h, 0, (size_t)k->most * (size_t)(k->most + STARTS) * sizeof *k->h);
  return AS_OK;
}

static as_status extend(krylov *k) {
  const int j = k->length, next = j + STARTS;
  double *w = vector_at(k, next), *h = k->h + (size_t)j * (size_t)(k->most + STARTS);
  const as_status status = apply(k, vector_at(k, j), w);
  if (status) return status;
  h[next] = orthogonalize(k, w, next, h);
  ++k->length;
  return AS_OK;
}

/// Eigenvalues of H, as those of A, and how much each leaves; returns how many slow ones have converged, free motions not counted.
static int look(krylov *k, double *left) {
  const int m = k->length, one = 1, high = k->most + STARTS;
  int info = 0, good = 0;
  double none = 0.0;
  for (int j = 0; j < m; ++j)
    memcpy(k->matrix + (size_t)j * (size_t)m, k->h + (size_t)j * (size_t)high,
           (size_t)m * sizeof *k->h);
  dgeev_("N", "V", &m, k->matrix, &m, k->re, k->im, &none, &one, k->y, &m, k->lapack,
         &k->lapack_size, &info, 1, 1);
  if (info != 0) return 0;
  for (int i = 0; i < m; ++i) {
    const bool pair = k->im[i] != 0.0,
               second = pair && i > 0 && k->im[i] == -k->im[i - 1] && k->im[i] < 0.0;
    const double *re = k->y + (size_t)(second ? i - 1 : i) * (size_t)m, *im = re + m;
    double sum = 0.0;
    for (int r = m; r < m + STARTS; ++r) {
      double a = 0.0, b = 0.0;
      for (int j = m > STARTS ? m - STARTS : 0; j < m; ++j) {
        const double h = k->h[(size_t)j * (size_t)high + (size_t)r];
        a += h * re[j];
        if (pair) b += h * im[j];
      }
      sum += a * a + b * b;
    }
    left[i] = sqrt(sum) / hypot(k->re[i], k->im[i]);
    const double square = k->re[i] * k->re[i] + k->im[i] * k->im[i];
    k->re[i] = k->shift + k->re[i] / square;
    k->im[i] = -k->im[i] / square;
    const bool is_free = hypot(k->re[i], k->im[i]) <= ZERO * k->shift;
    if (left[i] <= CONVERGED && !is_free && k->im[i] >= 0.0) ++good;
  }
  return good;
}

// ---- the whole --------------------------------------------------------------------------------------

static bool take(krylov *k, int count) {
  k->most = 20 * count + 60 < LONGEST ? 20 * count + 60 : LONGEST;
  const size_t most = (size_t)k->most, size = (size_t)k->size, high = most + STARTS;
  k->lapack_size = 8 * (k->most + STARTS);
  k->unit = asi_calloc(size, sizeof(double));
  k->basis = asi_calloc(size * high, sizeof(double));
  k->h = asi_calloc(most * high, sizeof(double));
  k->b = asi_calloc((size_t)k->system.size, sizeof(double));
  k->work = asi_calloc(size + (size_t)k->n, sizeof(double));
  k->matrix = asi_calloc(most * most, sizeof(double));
  k->y = asi_calloc(most * most, sizeof(double));
  k->re = asi_calloc(most, sizeof(double));
  k->im = asi_calloc(most, sizeof(double));
  k->lapack = asi_calloc((size_t)k->lapack_size, sizeof(double));
  return k->unit && k->basis && k->h && k->b && k->work && k->matrix && k->y && k->re && k->im &&
         k->lapack;
}

static void release(krylov *k) {
  double *const all[] = {k->unit,   k->basis, k->h,  k->b,  k->work,
                         k->matrix, k->y,     k->re, k->im, k->lapack};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
  asi_system_free(&k->system);
  as_integrator_destroy(k->s);
}

/// Goes on until enough have converged.
static as_status search(krylov *k, int count, double *left) {
  as_status status = begin(k);
  while (status == AS_OK && k->length < k->most) {
    if (k->length + STARTS >= k->size) break; // it is the whole space
    status = extend(k);
    if (status == AS_OK && k->length >= 2 * count && k->length % LOOK == 0 &&
        look(k, left) >= count)
      return AS_OK;
  }
  if (status == AS_OK) look(k, left);
  return status;
}

static int collect(krylov *k, int count, const double *left, as_modes *m) {
  const int n = k->n, length = k->length;
  int found = 0;
  for (int i = 0; i < length; ++i) {
    const double size = hypot(k->re[i], k->im[i]);
    if (left[i] > CONVERGED || k->im[i] < 0.0) continue;
    const bool is_free = size <= ZERO * k->shift;
    as_mode *mode = (as_mode *)(size_t)&m->mode[m->n];
    double *shape = asi_modes_shape(m, m->n, n, 0);
    // LAPACK keeps the vector of the first of a pair, which here belongs to the other sign of im.
    const bool pair = k->im[i] != 0.0, second = pair && i > 0 && k->im[i - 1] == -k->im[i];
    const double *re = k->y + (size_t)(second ? i - 1 : i) * (size_t)length, *im = re + length;
    for (int j = 0; j < length; ++j) {
      const double *v = vector_at(k, j);
      for (int c = 0; c < n; ++c) {
        shape[c] += re[j] * v[c] * k->unit[c];
        if (pair) shape[n + c] += (second ? -im[j] : im[j]) * v[c] * k->unit[c];
      }
    }
    asi_mode_normalize(shape, NULL, n, 0, k->s->kin.problem->typical);
    asi_mode_set(mode, is_free ? 0.0 : k->re[i], is_free ? 0.0 : k->im[i],
                 1e-9 * (size + k->shift));
    mode->shape = shape;
    ++m->n;
    if (!is_free) ++found;
  }
  asi_modes_finish(m);
  int kept = 0; // the slowest of those that are not free
  for (int i = 0; i < m->n; ++i)
    if (!m->mode[i].free && ++kept > count) {
      m->n = i;
      asi_modes_finish(m);
    }
  return found;
}

static double slowest(const krylov *k, const double *left) {
  double least = (double)INFINITY;
  for (int i = 0; i < k->length; ++i) {
    const double size = hypot(k->re[i], k->im[i]);
    if (left[i] <= CONVERGED && size > ZERO * k->shift) least = fmin(least, size);
  }
  return least;
}

static as_status start(krylov *k, const as_problem *p, const as_initial *initial, as_error *error) {
  as_integrator_def how = as_default_integrator_def();
  how.method = AS_METHOD_INDEX3;
  as_status status = as_integrator_create(p, &how, &k->s, error);
  if (status == AS_OK) status = as_integrator_start(k->s, initial, NULL, error);
  if (status) return status;
  as_integrator *s = k->s;
  s->kin.eval.error = error;
  k->n = p->n;
  k->rows = s->kin.redundancy.rows;
  k->nx = p->def.n_x;
  k->ny = p->def.n_y;
  k->size = 2 * k->n + k->nx;
  char name[64] = "";
  double most;
  const int which = asi_most_accelerated(p, s->stepper.now.vdot, s->stepper.now.xdot, &most);
  const double rate = s->kin.eval.rate;
  if (asi_max_motion(p, s->stepper.now.v) > 1e-6 * rate)
    return asi_fail(error, AS_ERR_INCONSISTENT, s->stepper.t, NULL,
                    "The problem moves at t = %.9g s: modes of large problems are found at rest "
                    "only.",
                    s->stepper.t);
  if (which >= 0 && most > 1e-6 * fmax(1.0, rate * rate)) {
    asi_component_name(p, which < p->n ? AS_QUANTITY_V : AS_QUANTITY_X,
                       which < p->n ? which : which - p->n, name, sizeof name);
    return asi_fail(error, AS_ERR_INCONSISTENT, s->stepper.t, name,
                    "This is no equilibrium: at t = %.9g s %s accelerates by %.6g.", s->stepper.t,
                    name, most);
  }
  if (asi_forces_see_least_norm(&s->kin))
    return asi_fail(error, AS_ERR_UNSUPPORTED, s->stepper.t, NULL,
                    "Forces depend on reactions that redundant joints share: as_linearize() takes "
                    "that into account, modes of large problems do not.");
  const as_point point = {.t = s->stepper.t,
                          .q = s->stepper.now.q,
                          .v = s->stepper.now.v,
                          .vdot = s->stepper.now.vdot,
                          .lambda = s->stepper.now.lambda,
                          .psi = s->stepper.now.psi,
                          .x = s->stepper.now.x,
                          .y = s->stepper.now.y};
  asi_term terms[ASI_MAX_TERMS];
  status = asi_blocks(&s->kin, &point, p->present);
  if (status) return status;
  return asi_system_init(&k->system, p, &s->kin.tangent, ASI_UNKNOWNS_ONE_STAGE,
                         k->n + k->rows + k->nx + k->ny, terms, list_terms(p, 1.0, terms), error);
}

as_status as_modes_slowest(const as_problem *problem, const as_initial *initial, int count,
                           as_modes **out, as_error *error) {
  if (problem == NULL || out == NULL || count < 1)
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, NULL,
        "as_modes_slowest needs a problem, a place for the modes and a positive count.");
  *out = NULL;
  krylov k = {0};
  as_modes *m = NULL;
  double *left = NULL, shift = 1.0;
  as_status status = start(&k, problem, initial, error);
  if (status == AS_OK && !take(&k, count)) status = asi_fail_memory(error);
  if (status == AS_OK && (left = asi_calloc((size_t)k.most, sizeof *left)) == NULL)
    status = asi_fail_memory(error);
  for (int attempt = 0; attempt < 4 && status == AS_OK; ++attempt) {
    status = factorize(&k, shift);
    if (status == AS_ERR_SINGULAR && attempt < 3) { // an eigenvalue
      shift *= 1.37;
      status = AS_OK;
      continue;
    }
    if (status == AS_OK) status = search(&k, count, left);
    const double least = status == AS_OK ? slowest(&k, left) : shift;
    if (status || !(least * TOO_LARGE < shift)) break;
    shift = least;
  }
  if (status == AS_OK && (m = asi_modes_take(k.length, k.n, 0)) == NULL)
    status = asi_fail_memory(error);
  if (status == AS_OK && collect(&k, count, left, m) == 0 && m->n == 0)
    status = asi_fail(error, AS_ERR_CONVERGENCE, k.s->stepper.t, NULL,
                      "None of the slowest modes converged in %d iterations.", k.length);
  free(left);
  release(&k);
  if (status) {
    as_modes_destroy(m);
    return status;
  }
  *out = m;
  return asi_error_clear(error);
}
