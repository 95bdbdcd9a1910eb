/// The test problems themselves: their solutions, their Jacobian blocks, their constraint rates.
///
/// Whoever trusts a convergence test must trust the problem's solution first. For every problem:
/// - its solution satisfies g = 0, g_t + B v = 0, their derivative, M v' = f and q' = q o v~, and
///   keeps the energy;
/// - each given Jacobian block agrees with differences of its function at random points;
/// - constraint_rate and constraint_acceleration agree with differences in time;
/// - and where independent numbers exist, the solution agrees with them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/problems.h"
#include "problems/reference_ode.h"
#include "problems/reference_values.h"
#include "problems/rotation.h"

enum { MAX = 16 }; // more than any n, nq or n_lambda here

// Comparison.

/// Fails unless |value - expected| <= tolerance; NAN fails.
static void check_near(const char *problem, const char *what, int i, int j, double value,
                       double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) {
    fail_msg("%s: %s(%d,%d) = %.17g, expected %.17g, off by %.3g > %.3g", problem, what, i, j,
             value, expected, fabs(value - expected), tolerance);
  }
}

static double largest(const double *x, int n) {
  double m = 0.0;
  for (int i = 0; i < n; i++) {
    m = fmax(m, fabs(x[i]));
  }
  return m;
}

/// Each number within `relative` of the largest expected one.
static void check_vector(const char *problem, const char *what, const double *value,
                         const double *expected, int n, double relative) {
  double scale = largest(expected, n);
  for (int i = 0; i < n; i++) {
    check_near(problem, what, i, 0, value[i], expected[i], relative * scale);
  }
}

// A problem with its space, and a point of it.

typedef struct subject {
  const test_problem *p;
  as_space *space;
  int n, nq, n_lambda;
} subject;

static subject subject_open(const test_problem *p) {
  subject s = {.p = p, .n_lambda = p->def.n_lambda};
  as_error error;
  assert_int_equal(as_space_create(p->def.parts, p->def.n_parts, &s.space, &error), AS_OK);
  s.n = as_space_nv(s.space);
  s.nq = as_space_nq(s.space);
  assert_true(s.n <= MAX && s.nq <= MAX && s.n_lambda <= MAX);
  return s;
}

static void subject_close(subject *s) { as_space_destroy(s->space); }

typedef struct sample {
  double t;
  double q[MAX], v[MAX], vdot[MAX], lambda[MAX];
} sample;

/// Where g and M are evaluated; what they may not depend on is NULL, as in the library.
static as_point point_of(const sample *x) { return (as_point){.t = x->t, .q = x->q}; }

/// Where the rates of g are evaluated.
static as_point moving_point_of(const sample *x) {
  return (as_point){.t = x->t, .q = x->q, .v = x->v};
}

/// Where forces are evaluated; an additive one does not see lambda.
static as_point force_point_of(const sample *x, as_force_kind kind) {
  const double *lambda = kind == AS_FORCE_GENERAL ? x->lambda : NULL;
  return (as_point){.t = x->t, .q = x->q, .v = x->v, .lambda = lambda};
}

static sample solution(const subject *s, double t) {
  sample x = {.t = t};
  s->p->exact(s->p, t, x.q, x.v, x.vdot, x.lambda);
  return x;
}

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/// A point near the solution at t, but on no constraint: everything is off by about a third.
static sample random_sample(const subject *s, double t, uint64_t *state) {
  sample x = solution(s, t);
  double xi[MAX];
  for (int i = 0; i < s->n; i++) {
    double size = s->p->def.typical != NULL ? s->p->def.typical[i] : 1.0;
    xi[i] = 0.3 * size * random_number(state);
  }
  as_space_move(s->space, x.q, xi, x.q);
  double rate = 1.0 + largest(x.v, s->n), bend = 1.0 + largest(x.vdot, s->n);
  double push = 1.0 + largest(x.lambda, s->n_lambda);
  for (int i = 0; i < s->n; i++) {
    x.v[i] += 0.3 * rate * random_number(state);
    x.vdot[i] += 0.3 * bend * random_number(state);
  }
  for (int i = 0; i < s->n_lambda; i++) {
    x.lambda[i] += 0.3 * push * random_number(state);
  }
  return x;
}

// Evaluation, with dense matrices.

typedef struct dense {
  double value[MAX * MAX];
  as_matrix m;
} dense;

static void dense_init(dense *d, int rows, int cols) {
  memset(d->value, 0, sizeof d->value);
  d->m = (as_matrix){.rows = rows,
                     .cols = cols,
                     .value = d->value,
                     .dense = true,
                     .stray_row = -1,
                     .stray_col = -1};
}

static double entry(const dense *d, int i, int j) { return d->value[j * d->m.rows + i]; }

static void block_size(const subject *s, as_block block, int *rows, int *cols) {
  bool of_constraint = block == AS_BLOCK_G_Q || block == AS_BLOCK_GDOT_Q;
  *rows = of_constraint ? s->n_lambda : s->n;
  *cols = block == AS_BLOCK_F_LAMBDA ? s->n_lambda : s->n;
}

/// One block at x; the callback is asked for this block only.
static void block_at(const subject *s, as_block block, const sample *x, dense *out) {
  as_matrix blocks[AS_BLOCK_COUNT];
  memset(blocks, 0, sizeof blocks);
  int rows, cols;
  block_size(s, block, &rows, &cols);
  dense_init(out, rows, cols);
  as_point at = point_of(x);
  if (block == AS_BLOCK_MA_Q) {
    at.vdot = x->vdot;
  } else if (block != AS_BLOCK_M && block != AS_BLOCK_G_Q) {
    at = block == AS_BLOCK_GDOT_Q ? moving_point_of(x) : force_point_of(x, AS_FORCE_GENERAL);
  }
  const as_problem_def *def = &s->p->def;
  if (block == AS_BLOCK_M) {
    assert_int_equal(def->mass(&at, &out->m, def->user), AS_DONE);
  } else {
    blocks[block] = out->m;
    assert_int_equal(def->jacobian(&at, AS_BLOCK_BIT(block), blocks, def->user), AS_DONE);
    out->m = blocks[block];
  }
  assert_int_equal(out->m.stray_row, -1);
}

static void times(const dense *d, const double *x, double *out) {
  for (int i = 0; i < d->m.rows; i++) {
    out[i] = 0.0;
    for (int j = 0; j < d->m.cols; j++) {
      out[i] += entry(d, i, j) * x[j];
    }
  }
}

typedef void function_of_sample(const subject *s, const sample *x, double *out);

static void mass_times_vdot(const subject *s, const sample *x, double *out) {
  dense m;
  block_at(s, AS_BLOCK_M, x, &m);
  times(&m, x->vdot, out);
}

/// f with the constraint forces in it.
static void total_force(const subject *s, const sample *x, double *out) {
  const as_problem_def *def = &s->p->def;
  as_point at = force_point_of(x, def->force_kind);
  assert_int_equal(def->force(&at, out, def->user), AS_DONE);
  if (def->force_kind == AS_FORCE_ADDITIVE && s->n_lambda > 0) {
    dense b;
    block_at(s, AS_BLOCK_G_Q, x, &b);
    for (int i = 0; i < s->n_lambda; i++) {
      for (int j = 0; j < s->n; j++) {
        out[j] -= entry(&b, i, j) * x->lambda[i];
      }
    }
  }
}

static void constraint(const subject *s, const sample *x, double *out) {
  as_point at = point_of(x);
  assert_int_equal(s->p->def.constraint(&at, out, s->p->def.user), AS_DONE);
}

static void constraint_rate(const subject *s, const sample *x, double *out) {
  as_point at = moving_point_of(x);
  assert_int_equal(s->p->def.constraint_rate(&at, out, s->p->def.user), AS_DONE);
}

static void constraint_acceleration(const subject *s, const sample *x, double *out) {
  as_point at = moving_point_of(x);
  assert_int_equal(s->p->def.constraint_acceleration(&at, out, s->p->def.user), AS_DONE);
}

// Differences: central, extrapolated once, so that the error is O(h^4).

typedef enum argument { BY_Q, BY_V, BY_LAMBDA, BY_TIME } argument;

/// x moved by h along component j of an argument. BY_TIME: along the motion with v, at v' = 0.
static sample shifted(const subject *s, const sample *x, argument by, int j, double h) {
  sample y = *x;
  double xi[MAX] = {0};
  switch (by) {
  case BY_Q:
    xi[j] = h;
    as_space_move(s->space, x->q, xi, y.q);
    break;
  case BY_V: y.v[j] += h; break;
  case BY_LAMBDA: y.lambda[j] += h; break;
  case BY_TIME:
    for (int i = 0; i < s->n; i++) {
      xi[i] = h * x->v[i];
    }
    as_space_move(s->space, x->q, xi, y.q);
    y.t += h;
    break;
  }
  return y;
}

static void difference(const subject *s, function_of_sample *f, const sample *x, argument by, int j,
                       double h, int rows, double *out) {
  double plus[MAX], minus[MAX], plus2[MAX], minus2[MAX];
  sample a = shifted(s, x, by, j, h), b = shifted(s, x, by, j, -h);
  sample c = shifted(s, x, by, j, 2.0 * h), d = shifted(s, x, by, j, -2.0 * h);
  f(s, &a, plus);
  f(s, &b, minus);
  f(s, &c, plus2);
  f(s, &d, minus2);
  for (int i = 0; i < rows; i++) {
    out[i] = (8.0 * (plus[i] - minus[i]) - (plus2[i] - minus2[i])) / (12.0 * h);
  }
}

/// How far a block's argument is moved for a difference: about 1e-3 of its size.
static double increment(const subject *s, const sample *x, argument by, int j) {
  switch (by) {
  case BY_Q: return 1e-3 * (s->p->def.typical != NULL ? s->p->def.typical[j] : 1.0);
  case BY_V: return 1e-3 * (1.0 + largest(x->v, s->n));
  case BY_LAMBDA: return 1e-3 * (1.0 + largest(x->lambda, s->n_lambda));
  case BY_TIME:
  default: return 1e-3 * s->p->def.time_scale;
  }
}

// The tests over all problems.

typedef void subject_test(subject *s);

static void for_each_problem(subject_test *test) {
  for (int i = 0; i < problem_count(); i++) {
    subject s = subject_open(problem_get(i));
    test(&s);
    subject_close(&s);
  }
}

/// Times at which exact() is asked: start, end and between. Tabulated problems end these in thirds.
enum { TIMES = 4 };
static double test_time(const subject *s, int k) {
  return s->p->t0 + (s->p->t_end - s->p->t0) * k / (TIMES - 1);
}

static void starting_values_are_exact(subject *s) {
  sample x = solution(s, s->p->t0);
  double xi[MAX];
  as_space_difference(s->space, s->p->q0, x.q, xi);
  for (int i = 0; i < s->n; i++) {
    check_near(s->p->name, "q0", i, 0, xi[i], 0.0, 1e-14);
  }
  check_vector(s->p->name, "v0", x.v, s->p->v0, s->n, 1e-14);
}

static void solution_satisfies_equations(subject *s) {
  for (int k = 0; k < TIMES; k++) {
    sample x = solution(s, test_time(s, k));
    double left[MAX], right[MAX];
    mass_times_vdot(s, &x, left);
    total_force(s, &x, right);
    double force_scale = 1e-3 + largest(left, s->n) + largest(right, s->n);
    if (s->n_lambda > 0) { // the constraint forces, which cancel in f
      dense transposed;
      block_at(s, AS_BLOCK_G_Q, &x, &transposed);
      for (int i = 0; i < s->n_lambda; i++) {
        for (int j = 0; j < s->n; j++) {
          force_scale = fmax(force_scale, fabs(entry(&transposed, i, j) * x.lambda[i]));
        }
      }
    }
    for (int i = 0; i < s->n; i++) {
      check_near(s->p->name, "M v' - f", i, k, left[i], right[i], 1e-12 * force_scale);
    }
    if (s->n_lambda == 0) {
      continue;
    }
    double g[MAX], rate[MAX], second[MAX], product[MAX];
    dense b;
    constraint(s, &x, g);
    constraint_rate(s, &x, rate);
    constraint_acceleration(s, &x, second);
    block_at(s, AS_BLOCK_G_Q, &x, &b);
    times(&b, x.vdot, product);
    double v_scale = 1.0 + largest(x.v, s->n), a_scale = v_scale * v_scale + largest(x.vdot, s->n);
    for (int i = 0; i < s->n_lambda; i++) {
      check_near(s->p->name, "g", i, k, g[i], 0.0, 1e-14);
      check_near(s->p->name, "g_t + B v", i, k, rate[i], 0.0, 1e-14 * v_scale);
      check_near(s->p->name, "d/dt(g_t + B v)", i, k, product[i], -second[i], 1e-13 * a_scale);
    }
  }
}

/// q' = q o v~ and dv/dt = v', by differences of exact(); not for tables.
static void solution_moves_with_v(subject *s) {
  double h = 2e-4 * s->p->def.time_scale;
  for (int k = 0; k < TIMES; k++) {
    double t = test_time(s, k);
    sample x = solution(s, t);
    sample p1 = solution(s, t + h), m1 = solution(s, t - h);
    if (isnan(p1.q[0])) {
      return;
    }
    sample p2 = solution(s, t + 2.0 * h), m2 = solution(s, t - 2.0 * h);
    double one[MAX] = {0}, two[MAX] = {0}, xp[MAX], xm[MAX];
    as_space_difference(s->space, x.q, p1.q, xp);
    as_space_difference(s->space, x.q, m1.q, xm);
    for (int i = 0; i < s->n; i++) {
      one[i] = xp[i] - xm[i];
    }
    as_space_difference(s->space, x.q, p2.q, xp);
    as_space_difference(s->space, x.q, m2.q, xm);
    for (int i = 0; i < s->n; i++) {
      two[i] = xp[i] - xm[i];
    }
    double v_scale = 1e-8 * (1.0 + largest(x.v, s->n));
    double a_scale = 1e-8 * (1.0 + largest(x.vdot, s->n));
    for (int i = 0; i < s->n; i++) {
      check_near(s->p->name, "q'", i, k, (8.0 * one[i] - two[i]) / (12.0 * h), x.v[i], v_scale);
      double vdot = (8.0 * (p1.v[i] - m1.v[i]) - (p2.v[i] - m2.v[i])) / (12.0 * h);
      check_near(s->p->name, "v'", i, k, vdot, x.vdot[i], a_scale);
    }
  }
}

/// [M B^T; B 0] (v', lambda) = (f0, -d/dt(g_t + B v) at v' = 0) has the tabulated solution.
static void accelerations_solve_the_start(subject *s) {
  int n = s->n, m = s->n_lambda, size = n + m;
  if (s->p->def.force_kind == AS_FORCE_GENERAL) {
    return;
  }
  for (int k = 0; k < TIMES; k++) {
    sample x = solution(s, test_time(s, k));
    double A[4 * MAX * MAX] = {0}, rhs[2 * MAX];
    dense M, B;
    block_at(s, AS_BLOCK_M, &x, &M);
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        A[i * size + j] = entry(&M, i, j);
      }
    }
    as_point at = force_point_of(&x, AS_FORCE_ADDITIVE);
    assert_int_equal(s->p->def.force(&at, rhs, s->p->def.user), AS_DONE);
    if (m > 0) {
      block_at(s, AS_BLOCK_G_Q, &x, &B);
      constraint_acceleration(s, &x, rhs + n);
      for (int i = 0; i < m; i++) {
        rhs[n + i] = -rhs[n + i];
        for (int j = 0; j < n; j++) {
          A[(n + i) * size + j] = A[j * size + n + i] = entry(&B, i, j);
        }
      }
    }
    reference_solve(size, A, rhs);
    double a_scale = 1.0 + largest(x.vdot, n), l_scale = 1.0 + largest(x.lambda, m);
    for (int i = 0; i < n; i++) {
      check_near(s->p->name, "start v'", i, k, rhs[i], x.vdot[i], 1e-11 * a_scale);
    }
    for (int i = 0; i < m; i++) {
      check_near(s->p->name, "start lambda", i, k, rhs[n + i], x.lambda[i], 1e-11 * l_scale);
    }
  }
}

static void energy_is_kept(subject *s) {
  if (s->p->energy == NULL) {
    return;
  }
  double start = s->p->energy(s->p, s->p->q0, s->p->v0);
  for (int k = 0; k < TIMES; k++) {
    sample x = solution(s, test_time(s, k));
    double now = s->p->energy(s->p, x.q, x.v);
    // T = v M v/2 says how large the terms are that cancel in the sum.
    double product[MAX] = {0}, kinetic = 0.0;
    memcpy(x.vdot, x.v, sizeof x.v);
    mass_times_vdot(s, &x, product);
    for (int i = 0; i < s->n; i++) {
      kinetic += 0.5 * product[i] * x.v[i];
    }
    check_near(s->p->name, "energy", k, 0, now, start, 1e-13 * (fabs(start) + kinetic + 1.0));
  }
}

static void check_block(const subject *s, const char *name, as_block block, function_of_sample *f,
                        argument by, const sample *x) {
  const as_problem_def *def = &s->p->def;
  if (block == AS_BLOCK_MA_Q && def->mass_constant) {
    return;
  }
  as_block_source source = def->block[block].source;
  if (source == AS_BLOCK_DIFFERENCED && block != AS_BLOCK_G_Q) {
    return;
  }
  dense given;
  int rows, cols;
  block_size(s, block, &rows, &cols);
  dense_init(&given, rows, cols);
  if (source != AS_BLOCK_ZERO) {
    block_at(s, block, x, &given);
  }
  double columns[MAX][MAX], scale = 0.0;
  for (int j = 0; j < cols; j++) {
    double h = increment(s, x, by, j);
    difference(s, f, x, by, j, h, rows, columns[j]);
    scale = fmax(scale, largest(columns[j], rows));
  }
  for (int j = 0; j < cols; j++) {
    for (int i = 0; i < rows; i++) {
      check_near(s->p->name, name, i, j, entry(&given, i, j), columns[j][i], 1e-8 * (scale + 1e-3));
    }
  }
}

static void blocks_match_differences(subject *s) {
  uint64_t state = 1;
  for (int k = 0; k < TIMES; k++) {
    sample x = random_sample(s, test_time(s, k), &state);
    check_block(s, "MA_Q", AS_BLOCK_MA_Q, mass_times_vdot, BY_Q, &x);
    check_block(s, "F_Q", AS_BLOCK_F_Q, total_force, BY_Q, &x);
    check_block(s, "F_V", AS_BLOCK_F_V, total_force, BY_V, &x);
    if (s->n_lambda > 0) {
      if (s->p->def.force_kind == AS_FORCE_GENERAL) {
        check_block(s, "F_LAMBDA", AS_BLOCK_F_LAMBDA, total_force, BY_LAMBDA, &x);
      }
      check_block(s, "G_Q", AS_BLOCK_G_Q, constraint, BY_Q, &x);
      check_block(s, "GDOT_Q", AS_BLOCK_GDOT_Q, constraint_rate, BY_Q, &x);
    }
  }
}

/// g' = constraint_rate and, at v' = 0, its derivative = constraint_acceleration, off the manifold.
static void rates_match_differences(subject *s) {
  if (s->n_lambda == 0) {
    return;
  }
  uint64_t state = 2;
  for (int k = 0; k < TIMES; k++) {
    sample x = random_sample(s, test_time(s, k), &state);
    double h = 0.1 * increment(s, &x, BY_TIME, 0);
    double given[MAX], expected[MAX];
    constraint_rate(s, &x, given);
    difference(s, constraint, &x, BY_TIME, 0, h, s->n_lambda, expected);
    check_vector(s->p->name, "constraint_rate", given, expected, s->n_lambda, 1e-8);
    constraint_acceleration(s, &x, given);
    difference(s, constraint_rate, &x, BY_TIME, 0, h, s->n_lambda, expected);
    check_vector(s->p->name, "constraint_acceleration", given, expected, s->n_lambda, 1e-8);
  }
}

static void test_starting_values(void **state) {
  (void)state;
  for_each_problem(starting_values_are_exact);
}

static void test_equations(void **state) {
  (void)state;
  for_each_problem(solution_satisfies_equations);
}

static void test_start(void **state) {
  (void)state;
  for_each_problem(accelerations_solve_the_start);
}

static void test_motion(void **state) {
  (void)state;
  for_each_problem(solution_moves_with_v);
}

static void test_energy(void **state) {
  (void)state;
  for_each_problem(energy_is_kept);
}

static void test_blocks(void **state) {
  (void)state;
  for_each_problem(blocks_match_differences);
}

static void test_rates(void **state) {
  (void)state;
  for_each_problem(rates_match_differences);
}

// Independent numbers: quadruple-precision extrapolation, elliptic functions, published tables.

static void check_references(const test_problem *p, const reference *rows, size_t n_rows,
                             double tolerance) {
  subject s = subject_open(p);
  for (size_t k = 0; k < n_rows; k++) {
    const reference *r = &rows[k];
    sample x = solution(&s, r->t);
    if (largest(r->q, REFERENCE_NUMBERS) > 0.0) {
      double xi[MAX];
      as_space_difference(s.space, r->q, x.q, xi);
      for (int i = 0; i < s.n; i++) {
        check_near(p->name, "reference q", i, (int)k, xi[i], 0.0,
                   tolerance * (1.0 + largest(r->q, s.nq)));
      }
    }
    for (int i = 0; i < s.n; i++) {
      check_near(p->name, "reference v", i, (int)k, x.v[i], r->v[i],
                 tolerance * (1.0 + largest(r->v, s.n)));
    }
    for (int i = 0; i < s.n_lambda && largest(r->lambda, REFERENCE_NUMBERS) > 0.0; i++) {
      check_near(p->name, "reference lambda", i, (int)k, x.lambda[i], r->lambda[i],
                 tolerance * (largest(r->lambda, s.n_lambda) + 1e-3));
    }
  }
  subject_close(&s);
}

#define CHECK_REFERENCES(name, tolerance)                                                          \
  check_references(problem_##name(), (name), sizeof(name) / sizeof(name)[0], (tolerance))

static void test_references(void **state) {
  (void)state;
  CHECK_REFERENCES(pendulum, 1e-13);
  CHECK_REFERENCES(pendulum_horizontal, 1e-12);
  CHECK_REFERENCES(spherical_pendulum, 1e-12);
  CHECK_REFERENCES(double_pendulum, 1e-11); // errors grow 143-fold until t = 10
  CHECK_REFERENCES(heavy_top_slow, 1e-12);
  CHECK_REFERENCES(heavy_top_fast, 1e-12);
  CHECK_REFERENCES(slider_crank, 1e-12);
  CHECK_REFERENCES(car_axis, 1e-11); // stiff springs: the last bits of sin and cos show 1e-12
  CHECK_REFERENCES(free_rotation, 1e-12);
}

/// W and lambda early in the fast heavy top's motion.
static void test_heavy_top_early(void **state) {
  (void)state;
  const test_problem *p = problem_heavy_top_fast();
  const reference *r = &heavy_top_fast_early;
  double q[7], v[6], lambda[3];
  p->exact(p, r->t, q, v, NULL, lambda);
  check_vector(p->name, "q", q, r->q, 7, 1e-12);
  check_vector(p->name, "W", v + 3, r->v + 3, 3, 1e-12);
  check_vector(p->name, "lambda", lambda, r->lambda, 3, 1e-12);
}

/// The spherical pendulum in angles is at the place of the one in R^3.
static void test_spherical_angles_reference(void **state) {
  (void)state;
  const test_problem *p = problem_spherical_pendulum_angles();
  for (size_t k = 0; k < sizeof spherical_pendulum / sizeof spherical_pendulum[0]; k++) {
    double q[2];
    p->exact(p, spherical_pendulum[k].t, q, NULL, NULL, NULL);
    double r[3] = {sin(q[0]) * cos(q[1]), sin(q[0]) * sin(q[1]), -cos(q[0])};
    check_vector(p->name, "r", r, spherical_pendulum[k].q, 3, 1e-12);
  }
}

/// The double pendulum of points is at the place of the one in angles.
static void test_double_pendulum_points_reference(void **state) {
  (void)state;
  const test_problem *p = problem_double_pendulum_points();
  for (size_t k = 0; k < sizeof double_pendulum / sizeof double_pendulum[0]; k++) {
    const reference *r = &double_pendulum[k];
    double q[4], v[4];
    p->exact(p, r->t, q, v, NULL, NULL);
    const double s[2] = {sin(r->q[0]), sin(r->q[1])}, c[2] = {cos(r->q[0]), cos(r->q[1])};
    const double w[2] = {r->v[0], r->v[1]};
    check_vector(p->name, "r", q, (double[]){s[0], -c[0], s[0] + s[1], -c[0] - c[1]}, 4, 1e-11);
    check_vector(
        p->name, "r'", v,
        (double[]){c[0] * w[0], s[0] * w[0], c[0] * w[0] + c[1] * w[1], s[0] * w[0] + s[1] * w[1]},
        4, r->t > 0.0 ? 1e-11 : 0.0);
  }
}

/// What holds for the problems of the list holds for the stiff one too, which is left out there because round-off
/// in its length is multiplied by its stiffness.
static void test_stiff_pendulum(void **state) {
  (void)state;
  subject s = subject_open(problem_stiff_pendulum());
  starting_values_are_exact(&s);
  blocks_match_differences(&s);
  rates_match_differences(&s);
  for (int k = 0; k < TIMES; k++) {
    const sample x = solution(&s, test_time(&s, k));
    double left[MAX] = {0}, right[MAX] = {0}, g = (double)NAN, rate = (double)NAN;
    mass_times_vdot(&s, &x, left);
    total_force(&s, &x, right);
    for (int i = 0; i < s.n; i++) check_near(s.p->name, "M v' - f", i, k, left[i], right[i], 1e-7);
    constraint(&s, &x, &g);
    constraint_rate(&s, &x, &rate);
    check_near(s.p->name, "g", 0, k, g, 0.0, 1e-14);
    check_near(s.p->name, "g_t + B v", 0, k, rate, 0.0, 1e-13);
    // The fast vibration, damped like exp(-1000 t) and more, is not there: the spring is as long as its slow
    // force makes it.
    const double d[2] = {x.q[2] - x.q[0], x.q[3] - x.q[1]}, length = hypot(d[0], d[1]);
    const double pull = -(x.vdot[2] * d[0] + (x.vdot[3] + 9.81) * d[1]) / length;
    check_near(s.p->name, "length", 0, k, 1e8 * (length - 1.0), pull, 1e-2);
  }
  subject_close(&s);
}

/// On SE(3) the same motion as on R^3xSO(3), with velocities turned into the body.
static void test_formulations_agree(void **state) {
  (void)state;
  const test_problem *world[] = {problem_heavy_top_slow(), problem_heavy_top_fast(),
                                 problem_two_bodies()};
  const test_problem *body[] = {problem_heavy_top_slow_se3(), problem_heavy_top_fast_se3(),
                                problem_two_bodies_se3()};
  for (int k = 0; k < 3; k++) {
    subject s = subject_open(world[k]), b = subject_open(body[k]);
    sample x = solution(&s, s.p->t_end), y = solution(&b, b.p->t_end);
    check_vector(b.p->name, "q", y.q, x.q, s.nq, 1e-14);
    check_vector(b.p->name, "lambda", y.lambda, x.lambda, s.n_lambda, 1e-14);
    for (int i = 0; i < s.n / 6; i++) {
      double R[9], velocity[3];
      mat_from_quaternion(y.q + 7 * i + 3, R);
      mat_vec(R, y.v + 6 * i, velocity);
      check_vector(b.p->name, "x'", velocity, x.v + 6 * i, 3, 1e-14);
      check_vector(b.p->name, "W", y.v + 6 * i + 3, x.v + 6 * i + 3, 3, 1e-14);
    }
    subject_close(&s);
    subject_close(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_starting_values),
      cmocka_unit_test(test_equations),
      cmocka_unit_test(test_start),
      cmocka_unit_test(test_motion),
      cmocka_unit_test(test_energy),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_rates),
      cmocka_unit_test(test_references),
      cmocka_unit_test(test_heavy_top_early),
      cmocka_unit_test(test_spherical_angles_reference),
      cmocka_unit_test(test_double_pendulum_points_reference),
      cmocka_unit_test(test_stiff_pendulum),
      cmocka_unit_test(test_formulations_agree),
  };
  return cmocka_run_group_tests_name("problems", tests, NULL, NULL);
}
