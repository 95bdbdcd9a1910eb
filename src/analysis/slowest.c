/// The slowest modes of a large problem at rest or in steady motion.
///
/// [LI.9] Arnoldi's method for (A - s)^-1 with a real shift s > 0, which has the eigenvalues 1 / (lambda - s): those closest to s come first.
/// A is not formed. z = (A - s)^-1 b is one solution of a sparse system whose unknowns are xi, multipliers, dx and dy, with dv = s T xi + b_xi
/// and dv' = s U dv + b_v (steady_map.c; at rest T = U = 1):
///
///     (s^2 M U T + (M v')_q - s f_v T - f_q) xi - f_lambda dlambda - f_psi dpsi - f_x dx - f_y dy = f_v b_xi - M (s U b_xi + b_v)
///     B xi = 0,    (k_q + s k_v T) xi = -k_v b_xi,    and rows of x and y likewise
///
/// Several start vectors are taken at once, so that eigenvalues that several modes share are found as often.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/linearization.h"
#include "analysis/modes.h"
#include "base/definition.h"
#include "base/error.h"
#include "base/number.h"
#include "lie/space.h"

void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a,
            const int *lda, const double *x, const int *incx, const double *beta, double *y,
            const int *incy, size_t trans_length);

enum { STARTS = 4, LONGEST = 600, LOOK = 12, ATTEMPTS = 8 };
// Ritz values count if what they leave is below this part of them.
#define CONVERGED 1e-10
// What is left of a vector that those before it make up.
#define NOTHING 1e-13
// Eigenvalues below this part of the shift are zero.
#define ZERO 1e-4
// How far a shift may be from the size of the slowest mode.
#define OFF 3.0

typedef struct krylov {
  as_integrator *s;
  asi_system system;
  asi_steady_map map;
  as_axes axes;
  double turning[3];
  bool moves;
  int n, rows, nx, ny, size; ///< size: 2 n + n_x
  double shift;
  double noise;  ///< what round-off makes of a double zero
  double zero;   ///< eigenvalues below this are zero
  double *unit;  ///< size: components are seen in these
  double *basis; ///< size x (most + STARTS), by columns
  double *h;     ///< (most + STARTS) x most: OP V = V H
  int most, length;
  double *b, *work;             ///< right side; size
  double *matrix, *re, *im, *y; ///< eigenvalues of H
  double *lapack;
  int lapack_size;
} krylov;

static int list_terms(const as_problem *p, bool moves, double s, asi_term *term) {
  const int n = p->n, l = n + p->def.n_lambda, x = l + p->def.n_psi, y = x + p->def.n_x;
  const bool additive = p->def.force_kind == AS_FORCE_ADDITIVE;
  const double sign = additive ? 1.0 : -1.0;
  const asi_chain_factor via = ASI_CHAIN_IDENTITY;
  const asi_chain_factor once = moves ? ASI_CHAIN_T : via, twice = moves ? ASI_CHAIN_SECOND : via;
  const asi_term all[] = {
      {0, 0, AS_BLOCK_M, false, twice, s * s},
      {0, 0, AS_BLOCK_MA_Q, false, via, 1.0},
      {0, 0, AS_BLOCK_F_V, false, once, -s},
      {0, 0, AS_BLOCK_F_Q, false, via, -1.0},
      {0, n, additive ? AS_BLOCK_G_Q : AS_BLOCK_F_LAMBDA, additive, via, sign},
      {0, l, additive ? AS_BLOCK_K_V : AS_BLOCK_F_PSI, additive, via, sign},
      {0, x, AS_BLOCK_F_X, false, via, -1.0},
      {0, y, AS_BLOCK_F_Y, false, via, -1.0},
      {n, 0, AS_BLOCK_G_Q, false, via, 1.0},
      {l, 0, AS_BLOCK_K_V, false, once, s},
      {l, 0, AS_BLOCK_K_Q, false, via, 1.0},
      {x, 0, AS_BLOCK_PHI_Q, false, via, -1.0},
      {x, 0, AS_BLOCK_PHI_V, false, once, -s},
      {x, 0, AS_BLOCK_PHI_VDOT, false, twice, -s * s},
      {x, n, AS_BLOCK_PHI_LAMBDA, false, via, -1.0},
      {x, l, AS_BLOCK_PHI_PSI, false, via, -1.0},
      {x, x, AS_BLOCK_PHI_X, false, via, -1.0},
      {x, y, AS_BLOCK_PHI_Y, false, via, -1.0},
      {y, 0, AS_BLOCK_CHI_Q, false, via, -1.0},
      {y, 0, AS_BLOCK_CHI_V, false, once, -s},
      {y, 0, AS_BLOCK_CHI_VDOT, false, twice, -s * s},
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
  k->zero = fmax(ZERO * shift, k->noise);
  asi_steady_map_update(&k->map, shift, s->stepper.now.v);
  asi_system_set_factors(&k->system, terms, list_terms(p, k->moves, shift, terms));
  asi_system_assemble(&k->system, s->kin.block, &k->map.chain);
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
  asi_steady_map_velocity(&k->map, b_q, rate);
  for (int i = 0; i < n; ++i) rate[i] += b_v[i];
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
  asi_steady_map_position(&k->map, b, rate);
  for (int i = 0; i < n; ++i) {
    to[i] = b[i] / k->unit[i];
    to[n + i] = (rate[i] + b_q[i]) / k->unit[n + i];
  }
  for (int i = 0; i < k->nx; ++i) to[2 * n + i] = b[x + i];
  return AS_OK;
}

// ---- Arnoldi ----------------------------------------------------------------------------------------

static double *vector_at(const krylov *k, int j) { return k->basis + (size_t)j * (size_t)k->size; }

static double length_of(const double *w, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += w[i] * w[i];
  return sqrt(sum);
}

/// Makes a vector perpendicular to the first `count`, twice, and of length one; adds what was taken to h (may be NULL). A vector of which
/// only round-off is left is zero: there is nothing more in that direction.
static double orthogonalize(krylov *k, double *w, int count, double *h) {
  const int one = 1;
  const double plus = 1.0, minus = -1.0, zero = 0.0;
  const double before = length_of(w, k->size);
  for (int pass = 0; pass < 2 && count > 0; ++pass) {
    double *c = k->lapack;
    dgemv_("T", &k->size, &count, &plus, k->basis, &k->size, w, &one, &zero, c, &one, 1);
    dgemv_("N", &k->size, &count, &minus, k->basis, &k->size, c, &one, &plus, w, &one, 1);
    for (int i = 0; i < count && h; ++i) h[i] += c[i];
  }
  double length = length_of(w, k->size);
  if (length <= NOTHING * before) length = 0.0;
  for (int i = 0; i < k->size; ++i) w[i] = length > 0.0 ? w[i] / length : 0.0;
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

/// The smallest size of an eigenvalue that has not converged.
static double first_missing(const krylov *k, const double *left) {
  double least = (double)INFINITY;
  for (int i = 0; i < k->length; ++i)
    if (left[i] > CONVERGED) least = fmin(least, hypot(k->re[i], k->im[i]));
  return least;
}

/// Eigenvalues of H, as those of A, and how much each leaves; returns how many have converged that are slower than all that have not, free
/// motions not counted.
static int look(krylov *k, double *left) {
  const int m = k->length, one = 1, high = k->most + STARTS;
  int info = 0, good = 0;
  double none = 0.0;
  for (int j = 0; j < m; ++j)
    memcpy(k->matrix + (size_t)j * (size_t)m, k->h + (size_t)j * (size_t)high,
           (size_t)m * sizeof *k->h);
  if (!asi_are_finite(k->matrix, (size_t)m * (size_t)m)) return 0;
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
  }
  for (int i = 0; i < m; ++i) { // behind that: pairs are known by their signs
    const double square = k->re[i] * k->re[i] + k->im[i] * k->im[i];
    if (square == 0.0) left[i] = k->re[i] = (double)INFINITY; // of a vector that is zero
    if (square == 0.0) continue;
    k->re[i] = k->shift + k->re[i] / square;
    k->im[i] = -k->im[i] / square;
  }
  const double missing = first_missing(k, left);
  for (int i = 0; i < m; ++i) {
    const double size = hypot(k->re[i], k->im[i]);
    if (size < missing && size > k->zero && k->im[i] >= 0.0) ++good;
  }
  return good;
}

// ---- memory, and what was found ----------------------------------------------------------------------

static bool take_basis(krylov *k, int count) {
  k->most = 20 * count + 60 < LONGEST ? 20 * count + 60 : LONGEST;
  const size_t most = (size_t)k->most, size = (size_t)k->size, high = most + STARTS;
  k->lapack_size = 8 * (k->most + STARTS);
  k->basis = asi_calloc(size * high, sizeof(double));
  k->h = asi_calloc(most * high, sizeof(double));
  k->matrix = asi_calloc(most * most, sizeof(double));
  k->y = asi_calloc(most * most, sizeof(double));
  k->re = asi_calloc(most, sizeof(double));
  k->im = asi_calloc(most, sizeof(double));
  k->lapack = asi_calloc((size_t)k->lapack_size, sizeof(double));
  return k->basis && k->h && k->matrix && k->y && k->re && k->im && k->lapack;
}

static void release(krylov *k) {
  double *const all[] = {k->unit,   k->basis, k->h,  k->b,  k->work,
                         k->matrix, k->y,     k->re, k->im, k->lapack};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
  asi_system_free(&k->system);
  asi_steady_map_free(&k->map);
  as_integrator_destroy(k->s);
}

/// The smallest size of an eigenvalue that has converged and is not zero.
static double slowest(const krylov *k, const double *left) {
  double least = (double)INFINITY;
  for (int i = 0; i < k->length; ++i) {
    const double size = hypot(k->re[i], k->im[i]);
    if (left[i] <= CONVERGED && size > k->zero) least = fmin(least, size);
  }
  return least;
}

/// Whether all last vectors are zero: there are no more.
static bool is_whole(const krylov *k) {
  bool more = false;
  for (int j = 0; j < STARTS; ++j)
    more = more || length_of(vector_at(k, k->length + j), k->size) > 0.0;
  return !more;
}

/// Goes on until enough have converged; count = 0: until any has, which may not be the slowest.
static as_status search(krylov *k, int count, double *left) {
  as_status status = begin(k);
  while (status == AS_OK && k->length < k->most) {
    if (k->length + STARTS >= k->size || is_whole(k)) break;
    status = extend(k);
    if (status || k->length < 2 * count || k->length % LOOK != 0) continue;
    const int good = look(k, left);
    if (count > 0 ? good >= count : isfinite(slowest(k, left))) return AS_OK;
  }
  if (status == AS_OK) look(k, left);
  return status;
}

/// The eigenvector of an eigenvalue with im >= 0: size real parts, then imaginary ones, seen in units.
static void ritz_vector(const krylov *k, int i, double *out) {
  const int length = k->length;
  // LAPACK keeps the vector of the first of a pair, which here belongs to the other sign of im.
  const bool pair = k->im[i] != 0.0, second = pair && i > 0 && k->im[i - 1] == -k->im[i];
  const double *re = k->y + (size_t)(second ? i - 1 : i) * (size_t)length, *im = re + length;
  memset(out, 0, 2 * (size_t)k->size * sizeof *out);
  for (int j = 0; j < length; ++j) {
    const double *v = vector_at(k, j);
    const double b = pair ? (second ? -im[j] : im[j]) : 0.0;
    for (int c = 0; c < k->size; ++c) {
      out[c] += re[j] * v[c];
      out[k->size + c] += b * v[c];
    }
  }
}

static bool is_free(const krylov *k, int i) { return hypot(k->re[i], k->im[i]) <= k->zero; }

static as_status collect(krylov *k, int count, const double *left, as_modes *m, as_error *error) {
  const int n = k->n;
  double *z = asi_calloc(2 * (size_t)k->size, sizeof *z);
  const double missing = first_missing(k, left);
  if (z == NULL) return asi_fail_memory(error);
  for (int i = 0; i < k->length; ++i) {
    if (hypot(k->re[i], k->im[i]) >= missing || k->im[i] < 0.0) continue;
    const bool zero = is_free(k, i);
    as_mode *mode = (as_mode *)(size_t)&m->mode[m->n];
    double *shape = asi_modes_shape(m, m->n, n, 0);
    ritz_vector(k, i, z);
    for (int c = 0; c < n; ++c) {
      shape[c] = z[c] * k->unit[c];
      shape[n + c] = z[k->size + c] * k->unit[c];
    }
    asi_mode_normalize(shape, NULL, n, 0, k->s->kin.problem->typical);
    asi_mode_set(mode, zero ? 0.0 : k->re[i], zero ? 0.0 : k->im[i],
                 1e-9 * (hypot(k->re[i], k->im[i]) + k->shift));
    mode->shape = shape;
    ++m->n;
  }
  free(z);
  asi_modes_finish(m);
  int kept = 0; // the slowest of those that are not free
  for (int i = 0; i < m->n; ++i)
    if (!m->mode[i].free && ++kept > count) {
      m->n = i;
      asi_modes_finish(m);
    }
  if (m->n > 0) return AS_OK;
  return asi_fail(error, AS_ERR_CONVERGENCE, k->s->stepper.t, NULL,
                  "None of the slowest modes converged in %d iterations.", k->length);
}

/// Room for one application.
static bool take_step(krylov *k) {
  const size_t size = (size_t)k->size;
  k->unit = asi_calloc(size, sizeof(double));
  k->b = asi_calloc((size_t)k->system.size, sizeof(double));
  k->work = asi_calloc(size + (size_t)k->n, sizeof(double));
  return k->unit && k->b && k->work;
}

/// Refuses a state at rest in which something accelerates.
static as_status check_rest(const krylov *k, as_error *error) {
  const as_integrator *s = k->s;
  const as_problem *p = s->kin.problem;
  const double rate = s->kin.eval.rate;
  char name[64] = "";
  double most;
  const int which = asi_most_accelerated(p, s->stepper.now.vdot, s->stepper.now.xdot, &most);
  if (which < 0 || most <= 1e-6 * fmax(1.0, rate * rate)) return AS_OK;
  asi_component_name(p, which < p->n ? AS_QUANTITY_V : AS_QUANTITY_X,
                     which < p->n ? which : which - p->n, name, sizeof name);
  return asi_fail(error, AS_ERR_INCONSISTENT, s->stepper.t, name,
                  "This is no equilibrium: at t = %.9g s %s accelerates by %.6g.", s->stepper.t,
                  name, most);
}

/// The square root of round-off is what a double zero becomes, beside the fastest of all motions.
static double measure_noise(const krylov *k) {
  const as_matrix *m = &k->s->kin.block[AS_BLOCK_M], *f = &k->s->kin.block[AS_BLOCK_F_Q];
  double fastest = 0.0;
  for (int i = 0; i < k->n && f->value && f->cols > 0; ++i) {
    const int of_m = as_matrix_position(m, i, i), of_f = as_matrix_position(f, i, i);
    if (of_m >= 0 && of_f >= 0 && m->value[of_m] > 0.0)
      fastest = fmax(fastest, fabs(f->value[of_f]) / m->value[of_m]);
  }
  return 2.0 * sqrt(DBL_EPSILON * fastest);
}

/// `later`: how long the axes have turned [s].
static as_status start(krylov *k, const as_problem *p, const as_initial *initial,
                       const as_linearization_def *def, double later, as_error *error) {
  as_integrator_def how = as_default_integrator_def();
  how.method = AS_METHOD_INDEX3;
  as_status status = as_integrator_create(p, &how, &k->s, error);
  if (status == AS_OK) status = as_integrator_start(k->s, initial, NULL, error);
  if (status) return status;
  as_integrator *s = k->s;
  const asi_values *now = &s->stepper.now;
  s->kin.eval.error = error;
  k->n = p->n;
  k->rows = s->kin.redundancy.rows;
  k->nx = p->def.n_x;
  k->ny = p->def.n_y;
  k->size = 2 * k->n + k->nx;
  k->moves = !asi_linear_is_zero(now->v, p->n);
  k->axes = def->axes != AS_AXES_AUTOMATIC ? def->axes : k->moves ? AS_AXES_TURNING : AS_AXES_OWN;
  const bool rests = !k->moves;
  if (def->axes == AS_AXES_TURNING)
    memcpy(k->turning, def->turning, sizeof k->turning);
  else if (def->axes == AS_AXES_AUTOMATIC && !rests &&
           !asi_axes_guess(p, now->q, now->v, now->vdot, k->turning))
    memset(k->turning, 0, sizeof k->turning);
  k->moves = k->moves || !asi_linear_is_zero(k->turning, 3);
  if (rests) status = check_rest(k, error);
  if (status == AS_OK && asi_forces_see_least_norm(&s->kin))
    status =
        asi_fail(error, AS_ERR_UNSUPPORTED, s->stepper.t, NULL,
                 "Forces depend on reactions that redundant joints share: as_linearize() takes "
                 "that into account, modes of large problems do not.");
  if (status) return status;
  const as_point point = {.t = s->stepper.t,
                          .q = now->q,
                          .v = now->v,
                          .vdot = now->vdot,
                          .lambda = now->lambda,
                          .psi = now->psi,
                          .x = now->x,
                          .y = now->y};
  asi_term terms[ASI_MAX_TERMS];
  status = asi_blocks(&s->kin, &point, p->present);
  if (status == AS_OK) status = asi_steady_map_init(&k->map, p, error);
  if (status) return status;
  k->noise = measure_noise(k);
  asi_axes_find(&k->map.axes, p, k->axes, k->turning, later, now->q, now->v);
  status = asi_system_init(&k->system, p, &k->map.chain, ASI_UNKNOWNS_ONE_STAGE,
                           k->n + k->rows + k->nx + k->ny, terms,
                           list_terms(p, k->moves, 1.0, terms), NULL, error);
  if (status) return status;
  return take_step(k) ? AS_OK : asi_fail_memory(error);
}

// ---- whether the motion is steady -------------------------------------------------------------------

/// How much of a mode (A - s)^-1, a little later, does not leave as it is. z: 4 size, with the mode.
static as_status compare(const krylov *k, krylov *next, int i, double *z, double *change) {
  const size_t size = (size_t)k->size;
  double *w = z + 2 * size;
  for (size_t part = 0; part < 2; ++part) {
    double *from = z + part * size;
    for (size_t c = 0; c < size; ++c) from[c] *= k->unit[c];
    for (int half = 0; half < 2; ++half) {
      asi_axes_to(&k->map.axes, from + half * k->n);
      asi_axes_from(&next->map.axes, from + half * k->n);
    }
    for (size_t c = 0; c < size; ++c) from[c] /= next->unit[c];
    const as_status status = apply(next, from, w + part * size);
    if (status) return status;
  }
  double off = 0.0, most = 0.0;
  const double re = k->re[i] - k->shift, im = k->im[i];
  for (size_t c = 0; c < size; ++c) {
    const double a = re * w[c] - im * w[size + c], b = re * w[size + c] + im * w[c];
    off = fmax(off, hypot(a - z[c], b - z[size + c]));
    most = fmax(most, hypot(z[c], z[size + c]));
  }
  if (most > 0.0) *change = fmax(*change, off / most);
  return AS_OK;
}

/// The state a little later; numbers of it go to `store`.
static as_initial follow(const krylov *k, const as_initial *initial, double h, double *store) {
  const as_problem *p = k->s->kin.problem;
  const asi_values *now = &k->s->stepper.now;
  double *q = store, *v = q + p->nq, *x = v + k->n, *way = x + k->nx;
  for (int i = 0; i < k->n; ++i) {
    way[i] = h * now->v[i] + 0.5 * h * h * now->vdot[i];
    v[i] = now->v[i] + h * now->vdot[i];
  }
  as_space_move(p->space, now->q, way, q);
  for (int i = 0; i < k->nx; ++i) x[i] = now->x[i] + h * now->xdot[i];
  as_initial later = *initial;
  later.t = k->s->stepper.t + h;
  later.q = q;
  later.v = v;
  later.x = x;
  later.lambda = now->lambda;
  later.psi = now->psi;
  later.y = now->y;
  later.u = k->s->kin.eval.u;
  later.keep = NULL;
  return later;
}

/// [LI.9] Whether modes that were found are modes a little later, too; refuses them if not.
static as_status check_steady(krylov *k, const as_initial *initial, const as_linearization_def *def,
                              const double *left, const as_modes *m, as_error *error) {
  const as_problem *p = k->s->kin.problem;
  const size_t size = (size_t)k->size;
  const as_mode *last = m->n > 0 ? &m->mode[m->n - 1] : NULL;
  const double scale = 1e3 * asi_time_increment(&k->s->kin.eval, k->s->stepper.now.v);
  const double h = 1e-3 * ASI_ONWARD * scale;
  const double most = last ? hypot(last->re, last->im) * (1.0 + 1e-9) : 0.0;
  if (!k->moves) return AS_OK;
  krylov next = {0};
  double change = 0.0;
  double *store =
      asi_calloc(4 * size + (size_t)p->nq + 2 * (size_t)k->n + (size_t)k->nx + 1, sizeof *store);
  as_status status = store ? AS_OK : asi_fail_memory(error);
  if (status == AS_OK) {
    const as_initial later = follow(k, initial, h, store + 4 * size);
    as_linearization_def same = *def;
    same.axes = k->axes;
    memcpy(same.turning, k->turning, sizeof same.turning);
    status = start(&next, p, &later, &same, h, error);
  }
  if (status == AS_OK) status = factorize(&next, k->shift);
  for (int i = 0; i < k->length && status == AS_OK; ++i) {
    if (left[i] > CONVERGED || k->im[i] < 0.0 || is_free(k, i)) continue;
    if (hypot(k->re[i], k->im[i]) > most) continue;
    ritz_vector(k, i, store);
    status = compare(k, &next, i, store, &change);
  }
  release(&next);
  free(store);
  if (status) return status;
  if (change * (scale / h) <= ASI_UNSTEADY) return AS_OK;
  return asi_fail(error, AS_ERR_INCONSISTENT, k->s->stepper.t, NULL,
                  "The motion at t = %.9g s is not steady in these axes: modes change by %.2g of "
                  "themselves while something moves by its size. Modes of large problems are found "
                  "at rest and in steady motion.",
                  k->s->stepper.t, change * (scale / h));
}

/// Looks for a shift of the size of the slowest modes, in which units velocities are seen, too; factorizes with it.
static as_status find_shift(krylov *k, double *left, double *shift) {
  for (int attempt = 0;; ++attempt) {
    as_status status = factorize(k, *shift);
    if (status == AS_ERR_SINGULAR && attempt < ATTEMPTS) {
      *shift *= attempt % 2 == 0 ? 1.37 : 30.0; // an eigenvalue, or free motions of little inertia
      continue;
    }
    if (status == AS_OK) status = search(k, 0, left);
    const double least = status == AS_OK ? slowest(k, left) : *shift;
    if (status || attempt >= ATTEMPTS || !isfinite(least)) return status;
    if (least <= OFF * *shift && *shift <= OFF * least) return AS_OK;
    *shift = least;
  }
}

// ---- the whole --------------------------------------------------------------------------------------

static as_status check_arguments(const as_problem *problem, const as_linearization_def *def,
                                 int count, as_modes **out, as_error *error) {
  if (problem == NULL || def == NULL || out == NULL || count < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_modes_slowest needs a problem, a description, a place for the modes and a "
                    "positive count.");
  *out = NULL;
  const as_status status = ASI_CHECK_DEFINITION(as_linearization_def, def, error);
  return status ? status : asi_linear_check_turning(def, error);
}

as_status as_modes_slowest(const as_problem *problem, const as_initial *initial,
                           const as_linearization_def *def, int count, as_modes **out,
                           as_error *error) {
  krylov k = {0};
  as_modes *m = NULL;
  double *left = NULL, shift = 1.0;
  as_status status = check_arguments(problem, def, count, out, error);
  if (status) return status;
  status = start(&k, problem, initial, def, 0.0, error);
  if (status == AS_OK && !take_basis(&k, count)) status = asi_fail_memory(error);
  if (status == AS_OK && (left = asi_calloc((size_t)k.most, sizeof *left)) == NULL)
    status = asi_fail_memory(error);
  if (status == AS_OK) status = find_shift(&k, left, &shift);
  if (status == AS_OK) status = search(&k, count, left);
  if (status == AS_OK && (m = asi_modes_take(k.length, k.n, 0)) == NULL)
    status = asi_fail_memory(error);
  if (status == AS_OK) status = collect(&k, count, left, m, error);
  if (status == AS_OK) status = check_steady(&k, initial, def, left, m, error);
  if (status == AS_OK) {
    m->axes = k.axes;
    m->n_samplers = problem->def.n_samplers;
    memcpy(m->turning, k.turning, sizeof m->turning);
  }
  free(left);
  release(&k);
  if (status) {
    as_modes_destroy(m);
    return status;
  }
  *out = m;
  return asi_error_clear(error);
}
