/// The problems of loops.h themselves: see test_problems.c. In addition
/// - Jacobian blocks are filled over their own patterns, so that an entry outside is noticed;
/// - the rank of B is what loops.h says;
/// - where lambda is not unique, B^T lambda is;
/// - what can be assembled is told from what cannot, by Gauss-Newton steps of least size.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/loops.h"

// LAPACK: minimum-norm least squares by singular values.
void dgelss_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, double *s, const double *rcond, int *rank, double *work,
             const int *lwork, int *info);

static void check_near(const char *problem, const char *what, int i, int j, double value,
                       double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) {
    fail_msg("%s: %s(%d,%d) = %.17g, expected %.17g, off by %.3g > %.3g", problem, what, i, j,
             value, expected, fabs(value - expected), tolerance);
  }
}

static double largest(const double *x, int n) {
  double m = 0.0;
  for (int i = 0; i < n; ++i) m = fmax(m, fabs(x[i]));
  return m;
}

static double dot(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

static double *numbers(int count) {
  double *x = calloc((size_t)count + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

// ---- a problem and a point of it ----------------------------------------------------------------

typedef struct subject {
  test_problem *p;
  as_space *space;
  int n, nq, m;
  double t;
  double *q, *v, *vdot, *lambda; ///< the point
} subject;

static subject subject_open(test_problem *p) {
  subject s = {.p = p, .m = p->def.n_lambda, .t = p->t0};
  assert_int_equal(as_space_create(p->def.parts, p->def.n_parts, &s.space, NULL), AS_OK);
  s.n = as_space_nv(s.space);
  s.nq = as_space_nq(s.space);
  s.q = numbers(s.nq);
  s.v = numbers(s.n);
  s.vdot = numbers(s.n);
  s.lambda = numbers(s.m);
  memcpy(s.q, p->q0, (size_t)s.nq * sizeof(double));
  memcpy(s.v, p->v0, (size_t)s.n * sizeof(double));
  return s;
}

static void subject_close(subject *s) {
  free(s->q);
  free(s->v);
  free(s->vdot);
  free(s->lambda);
  as_space_destroy(s->space);
  loops_free(s->p);
}

static void to_solution(subject *s, double t) {
  s->t = t;
  s->p->exact(s->p, t, s->q, s->v, s->vdot, s->lambda);
}

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/// Off the constraints, with any velocity and multipliers.
static void to_random(subject *s, uint64_t *state) {
  double *xi = numbers(s->n);
  for (int i = 0; i < s->n; ++i) {
    xi[i] = 0.3 * random_number(state);
    s->v[i] += random_number(state);
    s->vdot[i] = random_number(state);
  }
  for (int i = 0; i < s->m; ++i) s->lambda[i] = 5.0 * random_number(state);
  as_space_move(s->space, s->q, xi, s->q);
  free(xi);
}

// ---- evaluation ---------------------------------------------------------------------------------

/// A block over its own pattern, spread out: rows x cols numbers by columns, to be freed.
static double *block_at(const subject *s, as_block block) {
  const as_problem_def *def = &s->p->def;
  const int rows = block == AS_BLOCK_G_Q || block == AS_BLOCK_GDOT_Q ? s->m : s->n, cols = s->n;
  double *out = numbers(rows * cols);
  if (def->block[block].source == AS_BLOCK_ZERO) return out;
  const as_pattern *pattern = &def->block[block].pattern;
  const bool dense = pattern->col_start == NULL;
  as_matrix blocks[AS_BLOCK_COUNT];
  memset(blocks, 0, sizeof blocks);
  double *value = numbers(dense ? rows * cols : pattern->col_start[cols]);
  as_matrix m = {.rows = rows,
                 .cols = cols,
                 .col_start = pattern->col_start,
                 .row = pattern->row,
                 .value = value,
                 .dense = dense,
                 .stray_row = -1,
                 .stray_col = -1};
  as_point at = {.t = s->t, .q = s->q};
  if (block == AS_BLOCK_M) {
    assert_int_equal(def->mass(&at, &m, def->user), AS_DONE);
  } else {
    blocks[block] = m;
    if (block != AS_BLOCK_G_Q) at.v = s->v;
    if (block != AS_BLOCK_G_Q && block != AS_BLOCK_GDOT_Q) at.lambda = s->lambda;
    assert_int_equal(def->jacobian(&at, AS_BLOCK_BIT(block), blocks, def->user), AS_DONE);
    m = blocks[block];
  }
  assert_int_equal(m.stray_row, -1);
  if (dense) memcpy(out, value, (size_t)(rows * cols) * sizeof(double));
  for (int j = 0; j < cols && !dense; ++j)
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      out[j * rows + pattern->row[k]] = value[k];
  free(value);
  return out;
}

typedef void function(const subject *s, double *out);

static void constraint(const subject *s, double *out) {
  const as_point at = {.t = s->t, .q = s->q};
  assert_int_equal(s->p->def.constraint(&at, out, s->p->def.user), AS_DONE);
}

static void constraint_rate(const subject *s, double *out) {
  const as_point at = {.t = s->t, .q = s->q, .v = s->v};
  assert_int_equal(s->p->def.constraint_rate(&at, out, s->p->def.user), AS_DONE);
}

static void constraint_acceleration(const subject *s, double *out) {
  const as_point at = {.t = s->t, .q = s->q, .v = s->v};
  assert_int_equal(s->p->def.constraint_acceleration(&at, out, s->p->def.user), AS_DONE);
}

static void applied_force(const subject *s, double *out) {
  const as_point at = {.t = s->t, .q = s->q, .v = s->v};
  assert_int_equal(s->p->def.force(&at, out, s->p->def.user), AS_DONE);
}

/// f0 - B^T lambda
static void total_force(const subject *s, double *out) {
  double *B = block_at(s, AS_BLOCK_G_Q);
  applied_force(s, out);
  for (int j = 0; j < s->n; ++j) out[j] -= dot(B + j * s->m, s->lambda, s->m);
  free(B);
}

// ---- differences --------------------------------------------------------------------------------

typedef enum argument { BY_Q, BY_V, BY_TIME } argument;

static void evaluate_shifted(const subject *s, function *f, argument by, int j, double h,
                             double *out) {
  subject y = *s;
  double *xi = numbers(s->n), *q = numbers(s->nq), *v = numbers(s->n);
  memcpy(v, s->v, (size_t)s->n * sizeof(double));
  y.q = q;
  y.v = v;
  if (by == BY_Q) xi[j] = h;
  if (by == BY_V) v[j] += h;
  for (int i = 0; i < s->n && by == BY_TIME; ++i) xi[i] = h * s->v[i];
  as_space_move(s->space, s->q, xi, q);
  f(&y, out);
  free(xi);
  free(q);
  free(v);
}

/// Central, extrapolated once: the error is O(h^4).
static void difference(const subject *s, function *f, argument by, int j, double h, int rows,
                       double *out) {
  double *e = numbers(4 * rows);
  evaluate_shifted(s, f, by, j, h, e);
  evaluate_shifted(s, f, by, j, -h, e + rows);
  evaluate_shifted(s, f, by, j, 2.0 * h, e + 2 * rows);
  evaluate_shifted(s, f, by, j, -2.0 * h, e + 3 * rows);
  for (int i = 0; i < rows; ++i)
    out[i] = (8.0 * (e[i] - e[rows + i]) - (e[2 * rows + i] - e[3 * rows + i])) / (12.0 * h);
  free(e);
}

// ---- for each problem ---------------------------------------------------------------------------

typedef void subject_test(subject *s);

static void for_each_problem(subject_test *test) {
  const double in_plane[3] = {1e-3, 0.0, 0.0};
  test_problem *all[] = {loops_nfourbar(1),       loops_nfourbar(2),
                         loops_nfourbar(40),      loops_nfourbar_off(2, in_plane),
                         loops_fourbar(),         loops_fourbar_off(in_plane),
                         loops_pendulum_twice(),  loops_pendulum_contradictory(),
                         loops_lattice(1, false), loops_lattice(4, false),
                         loops_lattice(4, true),  loops_tree(7, 2)};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    subject s = subject_open(all[i]);
    test(&s);
    subject_close(&s);
  }
}

static const double test_times[] = {0.0, 0.3, 0.77, 1.5};
enum { TIMES = 4 };

/// Relative to the largest forces, of which lambda's grow near flat positions.
static void solution_satisfies_equations(subject *s) {
  if (s->p->exact == NULL) return;
  for (int k = 0; k < TIMES; ++k) {
    to_solution(s, test_times[k]);
    double *M = block_at(s, AS_BLOCK_M), *B = block_at(s, AS_BLOCK_G_Q);
    double *f = numbers(s->n), *unique = numbers(s->n), *g = numbers(3 * s->m);
    const bool known = s->m == 0 || !isnan(s->lambda[0]);
    applied_force(s, f);
    loops_constraint_force(s->p, s->t, unique);
    const double scale = 1.0 + largest(f, s->n) + (known ? largest(s->lambda, s->m) : 0.0);
    for (int i = 0; i < s->n; ++i) {
      double inertia = 0.0;
      for (int j = 0; j < s->n; ++j) inertia += M[j * s->n + i] * s->vdot[j];
      check_near(s->p->name, "f0 - M v'", i, k, f[i] - inertia, unique[i], 1e-12 * scale);
      if (known)
        check_near(s->p->name, "B^T lambda", i, k, dot(B + i * s->m, s->lambda, s->m), unique[i],
                   1e-12 * scale);
    }
    // Constraint forces do no work, and here v is the only free direction.
    check_near(s->p->name, "v . B^T lambda", k, 0, dot(s->v, unique, s->n), 0.0,
               1e-12 * scale * (1.0 + largest(s->v, s->n)) * s->n);
    constraint(s, g);
    constraint_rate(s, g + s->m);
    constraint_acceleration(s, g + 2 * s->m);
    const double v_scale = 1.0 + largest(s->v, s->n);
    const double a_scale = v_scale * v_scale + largest(s->vdot, s->n);
    for (int i = 0; i < s->m; ++i) {
      double second = g[2 * s->m + i];
      for (int j = 0; j < s->n; ++j) second += B[j * s->m + i] * s->vdot[j];
      check_near(s->p->name, "g", i, k, g[i], 0.0, 1e-14 * (1.0 + largest(s->q, s->nq)));
      check_near(s->p->name, "B v", i, k, g[s->m + i], 0.0, 1e-14 * v_scale);
      check_near(s->p->name, "d/dt (B v)", i, k, second, 0.0, 1e-13 * a_scale);
    }
    free(M);
    free(B);
    free(f);
    free(unique);
    free(g);
  }
}

static void solution_moves_with_v(subject *s) {
  if (s->p->exact == NULL) return;
  const double h = 1e-3 * s->p->def.time_scale;
  const int n = s->n, nq = s->nq;
  double *q = numbers(nq), *xi = numbers(4 * n), *v = numbers(4 * n);
  const double at[4] = {1.0, -1.0, 2.0, -2.0};
  for (int k = 0; k < TIMES; ++k) {
    to_solution(s, test_times[k]);
    for (int i = 0; i < 4; ++i) {
      s->p->exact(s->p, s->t + at[i] * h, q, v + i * n, NULL, NULL);
      as_space_difference(s->space, s->q, q, xi + i * n);
    }
    const double v_scale = 1.0 + largest(s->v, n), a_scale = 1.0 + largest(s->vdot, n);
    for (int j = 0; j < n; ++j) {
      const double rate =
          (8.0 * (xi[j] - xi[n + j]) - (xi[2 * n + j] - xi[3 * n + j])) / (12.0 * h);
      const double bend = (8.0 * (v[j] - v[n + j]) - (v[2 * n + j] - v[3 * n + j])) / (12.0 * h);
      check_near(s->p->name, "q'", j, k, rate, s->v[j], 1e-8 * v_scale);
      check_near(s->p->name, "v'", j, k, bend, s->vdot[j], 1e-8 * a_scale);
    }
  }
  free(q);
  free(xi);
  free(v);
}

static void energy_is_kept(subject *s) {
  if (s->p->exact == NULL) return;
  const double start = s->p->energy(s->p, s->p->q0, s->p->v0);
  for (int k = 0; k < TIMES; ++k) {
    to_solution(s, test_times[k]);
    check_near(s->p->name, "energy", k, 0, s->p->energy(s->p, s->q, s->v), start,
               1e-13 * (100.0 + fabs(start)));
  }
}

static void check_block(const subject *s, const char *name, as_block block, function *f,
                        argument by) {
  if (s->p->def.block[block].source == AS_BLOCK_DIFFERENCED) return;
  const int rows = block == AS_BLOCK_F_Q || block == AS_BLOCK_F_V ? s->n : s->m;
  double *given = block_at(s, block), *column = numbers(rows);
  const double scale = 1.0 + largest(given, rows * s->n);
  for (int j = 0; j < s->n; ++j) {
    difference(s, f, by, j, 1e-3, rows, column);
    for (int i = 0; i < rows; ++i)
      check_near(s->p->name, name, i, j, given[j * rows + i], column[i], 1e-8 * scale);
  }
  free(given);
  free(column);
}

static void blocks_match_differences(subject *s) {
  uint64_t state = 1;
  to_random(s, &state);
  check_block(s, "F_Q", AS_BLOCK_F_Q, total_force, BY_Q);
  check_block(s, "F_V", AS_BLOCK_F_V, total_force, BY_V);
  check_block(s, "G_Q", AS_BLOCK_G_Q, constraint, BY_Q);
  check_block(s, "GDOT_Q", AS_BLOCK_GDOT_Q, constraint_rate, BY_Q);
}

static void rates_match_differences(subject *s) {
  uint64_t state = 2;
  to_random(s, &state);
  const double h = 1e-3 / (1.0 + largest(s->v, s->n));
  double *given = numbers(s->m), *expected = numbers(s->m);
  constraint_rate(s, given);
  difference(s, constraint, BY_TIME, 0, h, s->m, expected);
  for (int i = 0; i < s->m; ++i)
    check_near(s->p->name, "constraint_rate", i, 0, given[i], expected[i],
               1e-8 * (1.0 + largest(expected, s->m)));
  constraint_acceleration(s, given);
  difference(s, constraint_rate, BY_TIME, 0, h, s->m, expected);
  for (int i = 0; i < s->m; ++i)
    check_near(s->p->name, "constraint_acceleration", i, 0, given[i], expected[i],
               1e-8 * (1.0 + largest(expected, s->m)));
  free(given);
  free(expected);
}

/// The conserved energy is the potential of the forces: its rate is v . (M v' - f0).
static void energy_belongs_to_force(subject *s) {
  uint64_t state = 3;
  to_random(s, &state);
  double *f = numbers(s->n), *xi = numbers(s->n), *q = numbers(s->nq), e[4];
  const double at[4] = {1.0, -1.0, 2.0, -2.0}, h = 1e-3 / (1.0 + largest(s->v, s->n));
  applied_force(s, f);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < s->n; ++j) xi[j] = at[i] * h * s->v[j];
    as_space_move(s->space, s->q, xi, q);
    e[i] = s->p->energy(s->p, q, s->v);
  }
  const double rate = (8.0 * (e[0] - e[1]) - (e[2] - e[3])) / (12.0 * h);
  check_near(s->p->name, "energy rate", 0, 0, rate, -dot(f, s->v, s->n), 1e-8 * (1.0 + fabs(rate)));
  free(f);
  free(xi);
  free(q);
}

static void library_takes_it(subject *s) {
  as_problem *problem = NULL;
  as_error error = {0};
  if (as_problem_create(&s->p->def, &problem, &error))
    fail_msg("%s: %s", s->p->name, error.message);
  as_problem_destroy(problem);
}

static void test_equations(void **state) {
  (void)state;
  for_each_problem(solution_satisfies_equations);
}

static void test_motion(void **state) {
  (void)state;
  for_each_problem(solution_moves_with_v);
}

static void test_energy(void **state) {
  (void)state;
  for_each_problem(energy_is_kept);
  for_each_problem(energy_belongs_to_force);
}

static void test_blocks(void **state) {
  (void)state;
  for_each_problem(blocks_match_differences);
}

static void test_rates(void **state) {
  (void)state;
  for_each_problem(rates_match_differences);
}

static void test_library(void **state) {
  (void)state;
  for_each_problem(library_takes_it);
}

// ---- rank and assembly --------------------------------------------------------------------------

/// Least squares with least |x|: b is replaced by x; returns the rank of A (rows x cols, by
/// columns).
static int least_squares(int rows, int cols, double *A, double *b, double rcond) {
  const int one = 1, longest = rows > cols ? rows : cols, length = 8 * (rows + cols) + 64;
  double *singular = numbers(longest), *work = numbers(length);
  int rank = 0, info = 0;
  dgelss_(&rows, &cols, &one, A, &rows, b, &longest, singular, &rcond, &rank, work, &length, &info);
  assert_int_equal(info, 0);
  free(singular);
  free(work);
  return rank;
}

static int rank_of_b(const subject *s) {
  double *B = block_at(s, AS_BLOCK_G_Q), *x = numbers(s->n + s->m);
  const int rank = least_squares(s->m, s->n, B, x, 1e-8);
  free(B);
  free(x);
  return rank;
}

/// Goes where |g| is least, from the starting values; returns max |g| there. Directions that are
/// nearly free are left alone: redundant rows that contradict each other make such directions.
static double assemble(subject *s) {
  double *x = numbers(s->n + s->m), *g = numbers(s->m);
  constraint(s, g);
  for (int k = 0; k < 200; ++k) {
    double *B = block_at(s, AS_BLOCK_G_Q);
    for (int i = 0; i < s->m; ++i) x[i] = -g[i];
    least_squares(s->m, s->n, B, x, 1e-2);
    const double size = largest(x, s->n);
    for (int i = 0; i < s->n && size > 0.1; ++i) x[i] *= 0.1 / size;
    as_space_move(s->space, s->q, x, s->q);
    free(B);
    constraint(s, g);
  }
  const double residual = largest(g, s->m);
  free(x);
  free(g);
  return residual;
}

static void test_ranks(void **state) {
  (void)state;
  const int sizes[] = {1, 2, 40};
  for (int k = 0; k < 3; ++k) {
    const int N = sizes[k];
    subject s = subject_open(loops_nfourbar(N));
    assert_int_equal(s.n, 6 * N + 3);
    assert_int_equal(s.m, 6 * N + 2);
    assert_int_equal(rank_of_b(&s), s.m);
    for (int b = 0; b <= 2 * N; ++b) { // flat, to the right
      s.q[3 * b] = 0.5 + (b - b % 2) * 0.5 + b % 2;
      s.q[3 * b + 1] = s.q[3 * b + 2] = 0.0;
    }
    double *g = numbers(s.m);
    constraint(&s, g);
    check_near("nfourbar", "flat g", N, 0, largest(g, s.m), 0.0, 1e-14);
    assert_int_equal(rank_of_b(&s), s.m - N);
    free(g);
    subject_close(&s);
  }
  test_problem *full[] = {loops_lattice(2, false), loops_lattice(8, true), loops_tree(20, 3)};
  for (int k = 0; k < 3; ++k) {
    subject s = subject_open(full[k]);
    assert_int_equal(rank_of_b(&s), s.m);
    subject_close(&s);
  }
  subject s = subject_open(loops_fourbar());
  for (int k = 0; k <= 20; ++k) {
    to_solution(&s, 0.05 * k);
    assert_int_equal(rank_of_b(&s), 17);
  }
  subject_close(&s);
  s = subject_open(loops_pendulum_twice());
  assert_int_equal(rank_of_b(&s), 1);
  subject_close(&s);
}

/// Starting values that are said to be consistent.
static void start_is_consistent(subject *s) {
  double *g = numbers(2 * s->m);
  constraint(s, g);
  constraint_rate(s, g + s->m);
  check_near(s->p->name, "g", 0, 0, largest(g, s->m), 0.0, 1e-14 * (1.0 + largest(s->q, s->nq)));
  check_near(s->p->name, "B v", 0, 0, largest(g + s->m, s->m), 0.0, 1e-14);
  free(g);
}

static void test_many_bodies(void **state) {
  (void)state;
  test_problem *all[] = {loops_lattice(1, true), loops_lattice(2, false), loops_lattice(8, true),
                         loops_tree(1, 1),       loops_tree(50, 1),       loops_tree(50, 3)};
  const int joints[] = {1, 6, 114, 1, 50, 50};
  for (int k = 0; k < 6; ++k) {
    subject s = subject_open(all[k]);
    assert_int_equal(s.m, 3 * joints[k]);
    start_is_consistent(&s);
    subject_close(&s);
  }
}

static void check_assembly(test_problem *p, double least, double most) {
  subject s = subject_open(p);
  const double residual = assemble(&s);
  if (!(residual >= least && residual <= most))
    fail_msg("%s: |g| = %g, not in %g ... %g", p->name, residual, least, most);
  subject_close(&s);
}

static void test_assembly(void **state) {
  (void)state;
  const double near[3] = {1e-3, 0.0, 0.0}, far[3] = {4.0, 0.0, 0.0}, across[3] = {0.0, 0.0, 1e-3};
  check_assembly(loops_nfourbar_off(1, near), 0.0, 1e-14);
  check_assembly(loops_nfourbar_off(2, near), 0.0, 1e-14);
  check_assembly(loops_nfourbar_off(1, far), 0.1, 4.0);
  check_assembly(loops_nfourbar_off(2, far), 0.1, 4.0);
  check_assembly(loops_fourbar_off(near), 0.0, 1e-14);
  check_assembly(loops_fourbar_off(far), 0.1, 4.0);
  check_assembly(loops_fourbar_off(across), 1e-5, 1e-3);
  check_assembly(loops_pendulum_contradictory(), 0.049, 0.11);
}

// ---- numbers from elsewhere ---------------------------------------------------------------------

/// Elliptic functions in closed form, 20 digits.
static void test_nfourbar_references(void **state) {
  (void)state;
  static const struct {
    int N;
    double t, psi, rate;
  } rows[] = {
      {1, 1, 3.405352987937057896602, 6.875591948593315020917},
      {1, 2, 6.36034732633128852335, 1.034434845796021224227},
      {1, 4, 12.72600323025247401866, 1.139887869703673865222},
      {1, 5, 16.94527726821502549019, 5.678977607488001585351},
      {1, 10, 31.91474129773802450861, 1.966934719440319456327},
      {2, 1, 3.337870803105097731818, 6.807385240869445536734},
      {2, 2, 6.341033361312331605655, 1.018964591438536706549},
      {2, 4, 12.68425959351397191786, 1.076511180085543021957},
      {2, 5, 16.65435348665348262561, 6.105067553519620988803},
      {2, 10, 31.75059718698610181708, 1.506642180841829469894},
  };
  static const double energies[] = {0.0, 20.45333333333333333333, 35.835};
  for (int N = 1; N <= 2; ++N) {
    test_problem *p = loops_nfourbar(N);
    check_near(p->name, "energy", N, 0, p->energy(p, p->q0, p->v0), energies[N], 1e-13);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
      double psi, rate;
      if (rows[i].N != N) continue;
      loops_nfourbar_angle(p, rows[i].t, &psi, &rate);
      check_near(p->name, "psi", N, (int)i, psi, rows[i].psi, 1e-11);
      check_near(p->name, "psi'", N, (int)i, rate, rows[i].rate, 1e-11);
    }
    loops_free(p);
  }
}

/// Any other multipliers with the same force are longer.
static void test_pendulum_twice_lambda(void **state) {
  (void)state;
  test_problem *p = loops_pendulum_twice();
  const double scales[][2] = {{1.0, 1.0 / 3.0}, {1.0, 1.0}, {2.0, 0.1}};
  double lambda[2], single[2], other[2];
  problem_pendulum()->exact(problem_pendulum(), 1.0, NULL, NULL, NULL, single);
  for (int k = 0; k < 3; ++k) {
    const double *d = scales[k];
    loops_pendulum_twice_lambda(p, 1.0, d, lambda);
    check_near(p->name, "force", k, 0, lambda[0] + 3.0 * lambda[1], single[0], 1e-12);
    for (int sign = -1; sign <= 1; sign += 2) {
      other[0] = lambda[0] + 0.03 * sign;
      other[1] = lambda[1] - 0.01 * sign;
      assert_true(hypot(other[0] / d[0], other[1] / d[1]) >
                  hypot(lambda[0] / d[0], lambda[1] / d[1]));
    }
  }
  p->exact(p, 1.0, NULL, NULL, NULL, lambda);
  check_near(p->name, "lambda", 0, 0, lambda[0], single[0] / 2.0, 1e-12);
  check_near(p->name, "lambda", 1, 0, lambda[1], single[0] / 6.0, 1e-12);
  loops_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equations),
      cmocka_unit_test(test_motion),
      cmocka_unit_test(test_energy),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_library),
      cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_many_bodies),
      cmocka_unit_test(test_assembly),
      cmocka_unit_test(test_nfourbar_references),
      cmocka_unit_test(test_pendulum_twice_lambda),
  };
  return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
