/// The test problems with nonholonomic constraints: their solutions, Jacobian blocks and rates.
///
/// Whoever trusts a convergence test must trust the problem's solution first. For every problem:
/// - its solution satisfies M v' = f, g = 0 and k = 0 and the derivatives of both, moves with v,
///   keeps the energy, and its v', lambda, psi are the only ones near that fit q and v;
/// - every formula that could be given is given, and agrees with differences;
/// - and where independent numbers exist, the solution agrees with them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

enum { MAX = 12 }; // more than any n, nq, n_lambda or n_psi here

// Comparison.

/// Fails unless |value - expected| <= tolerance; NAN fails.
static void check_near(const char *problem, const char *what, int i, double t, double value,
                       double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) {
    fail_msg("%s: %s[%d] = %.17g at t = %g, expected %.17g, off by %.3g > %.3g", problem, what, i,
             value, t, expected, fabs(value - expected), tolerance);
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
static void check_vector(const char *problem, const char *what, double t, const double *value,
                         const double *expected, int n, double relative) {
  double scale = largest(expected, n);
  for (int i = 0; i < n; i++) {
    check_near(problem, what, i, t, value[i], expected[i], relative * scale);
  }
}

// A problem with its space, and a point of it.

typedef struct subject {
  const nonholonomic_problem *p;
  as_problem *problem;
  const as_space *space;
  int n, nq, n_lambda, n_psi;
} subject;

static subject subject_open(const nonholonomic_problem *p) {
  subject s = {.p = p, .n_lambda = p->def.n_lambda, .n_psi = p->def.n_psi};
  as_error error;
  if (as_problem_create(&p->def, &s.problem, &error)) {
    fail_msg("%s: %s", p->name, error.message);
  }
  s.space = as_problem_space(s.problem);
  s.n = as_space_nv(s.space);
  s.nq = as_space_nq(s.space);
  assert_true(s.n <= MAX && s.nq <= MAX && s.n_lambda <= MAX && s.n_psi <= MAX);
  return s;
}

static void subject_close(subject *s) { as_problem_destroy(s->problem); }

typedef struct sample {
  double t;
  double q[MAX], v[MAX], vdot[MAX], lambda[MAX], psi[MAX];
} sample;

static sample solution(const subject *s, double t) {
  sample x = {.t = t};
  s->p->exact(s->p, t, x.q, x.v, x.vdot, x.lambda, x.psi);
  return x;
}

// Evaluation, with dense matrices and with what a function may not depend on left NULL.

typedef struct dense {
  double value[MAX * MAX];
  as_matrix m;
} dense;

static void dense_init(dense *d, int rows, int cols) {
  memset(d->value, 0, sizeof d->value);
  d->m = (as_matrix){.rows = rows, .cols = cols, .value = d->value, .dense = true};
}

static double entry(const dense *d, int i, int j) { return d->value[j * d->m.rows + i]; }

static void mass_at(const subject *s, const sample *x, dense *out) {
  dense_init(out, s->n, s->n);
  as_point at = {.t = x->t, .q = x->q};
  assert_int_equal(s->p->def.mass(&at, &out->m, s->p->def.user), AS_DONE);
  assert_false(out->m.stray);
}

/// G_Q or K_V.
static void gradient_at(const subject *s, as_block block, const sample *x, dense *out) {
  as_matrix blocks[AS_BLOCK_COUNT];
  memset(blocks, 0, sizeof blocks);
  dense_init(out, block == AS_BLOCK_G_Q ? s->n_lambda : s->n_psi, s->n);
  as_point at = {.t = x->t, .q = x->q, .v = block == AS_BLOCK_G_Q ? NULL : x->v};
  blocks[block] = out->m;
  assert_int_equal(s->p->def.jacobian(&at, AS_BLOCK_BIT(block), blocks, s->p->def.user), AS_DONE);
  assert_false(blocks[block].stray);
}

/// F_LAMBDA or F_PSI.
static void force_gradient_at(const subject *s, as_block block, const sample *x, dense *out) {
  as_matrix blocks[AS_BLOCK_COUNT];
  memset(blocks, 0, sizeof blocks);
  dense_init(out, s->n, block == AS_BLOCK_F_LAMBDA ? s->n_lambda : s->n_psi);
  as_point at = {.t = x->t, .q = x->q, .v = x->v, .lambda = x->lambda, .psi = x->psi};
  blocks[block] = out->m;
  assert_int_equal(s->p->def.jacobian(&at, AS_BLOCK_BIT(block), blocks, s->p->def.user), AS_DONE);
  assert_false(blocks[block].stray);
}

static void times(const dense *d, const double *x, double *out) {
  for (int i = 0; i < d->m.rows; i++) {
    out[i] = 0.0;
    for (int j = 0; j < d->m.cols; j++) {
      out[i] += entry(d, i, j) * x[j];
    }
  }
}

/// out -= d^T x; returns the largest product.
static double subtract_transposed(const dense *d, const double *x, double *out) {
  double size = 0.0;
  for (int j = 0; j < d->m.cols; j++) {
    for (int i = 0; i < d->m.rows; i++) {
      out[j] -= entry(d, i, j) * x[i];
      size = fmax(size, fabs(entry(d, i, j) * x[i]));
    }
  }
  return size;
}

static void evaluate(const subject *s, as_vector_fn *f, bool moving, const sample *x, double *out) {
  as_point at = {.t = x->t, .q = x->q, .v = moving ? x->v : NULL};
  assert_int_equal(f(&at, out, s->p->def.user), AS_DONE);
}

/// f with the constraint forces in it; returns the size of the terms that make it up.
static double total_force(const subject *s, const sample *x, double *out) {
  const as_problem_def *def = &s->p->def;
  as_point at = {.t = x->t, .q = x->q, .v = x->v};
  if (def->force_kind == AS_FORCE_GENERAL) {
    at.lambda = x->lambda;
    at.psi = x->psi;
  }
  assert_int_equal(def->force(&at, out, def->user), AS_DONE);
  double size = largest(out, s->n);
  if (def->force_kind == AS_FORCE_ADDITIVE) {
    dense d;
    if (s->n_lambda > 0) {
      gradient_at(s, AS_BLOCK_G_Q, x, &d);
      size = fmax(size, subtract_transposed(&d, x->lambda, out));
    }
    gradient_at(s, AS_BLOCK_K_V, x, &d);
    size = fmax(size, subtract_transposed(&d, x->psi, out));
  }
  return size;
}

// The tests over all problems.

typedef void subject_test(subject *s);

static void for_each_problem(subject_test *test) {
  for (int i = 0; i < nonholonomic_count(); i++) {
    subject s = subject_open(nonholonomic_get(i));
    test(&s);
    subject_close(&s);
  }
}

/// Times at which exact() is asked: start, end and between.
enum { TIMES = 6 };
static double test_time(const subject *s, int k) {
  return s->p->t0 + (s->p->t_end - s->p->t0) * k / (TIMES - 1);
}

static void starting_values_are_exact(subject *s) {
  sample x = solution(s, s->p->t0);
  double xi[MAX];
  as_space_difference(s->space, s->p->q0, x.q, xi);
  for (int i = 0; i < s->n; i++) {
    check_near(s->p->name, "q0", i, x.t, xi[i], 0.0, 1e-14);
  }
  check_vector(s->p->name, "v0", x.t, x.v, s->p->v0, s->n, 1e-14);
}

static void solution_satisfies_equations(subject *s) {
  const as_problem_def *def = &s->p->def;
  const char *name = s->p->name;
  for (int k = 0; k < TIMES; k++) {
    sample x = solution(s, test_time(s, k));
    double left[MAX], right[MAX], residual[MAX], product[MAX];
    dense d;
    mass_at(s, &x, &d);
    times(&d, x.vdot, left);
    double force_scale = total_force(s, &x, right) + 1e-3;
    for (int i = 0; i < s->n; i++) {
      check_near(name, "M v' - f", i, x.t, left[i], right[i], 1e-12 * force_scale);
    }
    double v_scale = 1.0 + largest(x.v, s->n);
    double a_scale = v_scale * v_scale + largest(x.vdot, s->n);
    if (s->n_lambda > 0) {
      evaluate(s, def->constraint, false, &x, residual);
      for (int i = 0; i < s->n_lambda; i++) {
        check_near(name, "g", i, x.t, residual[i], 0.0, 2e-14);
      }
      evaluate(s, def->constraint_rate, true, &x, residual);
      for (int i = 0; i < s->n_lambda; i++) {
        check_near(name, "g_t + B v", i, x.t, residual[i], 0.0, 1e-14 * v_scale);
      }
      evaluate(s, def->constraint_acceleration, true, &x, residual);
      gradient_at(s, AS_BLOCK_G_Q, &x, &d);
      times(&d, x.vdot, product);
      for (int i = 0; i < s->n_lambda; i++) {
        check_near(name, "d/dt(g_t + B v)", i, x.t, product[i], -residual[i], 1e-13 * a_scale);
      }
    }
    evaluate(s, def->nonholonomic, true, &x, residual);
    for (int i = 0; i < s->n_psi; i++) {
      check_near(name, "k", i, x.t, residual[i], 0.0, 1e-14 * v_scale * v_scale);
    }
    evaluate(s, def->nonholonomic_acceleration, true, &x, residual);
    gradient_at(s, AS_BLOCK_K_V, &x, &d);
    times(&d, x.vdot, product);
    for (int i = 0; i < s->n_psi; i++) {
      check_near(name, "dk/dt", i, x.t, product[i], -residual[i], 1e-13 * v_scale * a_scale);
    }
  }
}

/// q' = q o v~ and dv/dt = v', by differences of exact().
static void solution_moves_with_v(subject *s) {
  double h = 1e-3 * s->p->def.time_scale;
  for (int k = 0; k < TIMES; k++) {
    double t = test_time(s, k), q_rate[MAX] = {0}, v_rate[MAX] = {0};
    sample x = solution(s, t);
    const double shift[] = {-2.0, -1.0, 1.0, 2.0}, weight[] = {1.0, -8.0, 8.0, -1.0};
    for (int j = 0; j < 4; j++) {
      sample y = solution(s, t + shift[j] * h);
      double xi[MAX];
      as_space_difference(s->space, x.q, y.q, xi);
      for (int i = 0; i < s->n; i++) {
        q_rate[i] += weight[j] * xi[i] / (12.0 * h);
        v_rate[i] += weight[j] * y.v[i] / (12.0 * h);
      }
    }
    for (int i = 0; i < s->n; i++) {
      check_near(s->p->name, "q'", i, t, q_rate[i], x.v[i], 1e-8 * (1.0 + largest(x.v, s->n)));
      check_near(s->p->name, "v'", i, t, v_rate[i], x.vdot[i],
                 1e-8 * (1.0 + largest(x.vdot, s->n)));
    }
  }
}

/// Newton's method on M v' = f with the acceleration-level constraints, from values near those of
/// the solution, finds them: the system is regular, and v', lambda, psi belong to q, v.
static void accelerations_solve_the_start(subject *s) {
  const as_problem_def *def = &s->p->def;
  int n = s->n, m = s->n_lambda, size = n + m + s->n_psi;
  bool general = def->force_kind == AS_FORCE_GENERAL;
  for (int k = 0; k < TIMES; k++) {
    sample x = solution(s, test_time(s, k)), y = x;
    dense M, B, K, f_lambda, f_psi;
    mass_at(s, &x, &M);
    gradient_at(s, AS_BLOCK_K_V, &x, &K);
    if (m > 0) {
      gradient_at(s, AS_BLOCK_G_Q, &x, &B);
    }
    for (int i = 0; i < n; i++) {
      y.vdot[i] *= 0.9;
      y.lambda[i] *= 0.9;
      y.psi[i] *= 0.9;
    }
    for (int iteration = 0; iteration < (general ? 8 : 2); iteration++) {
      double A[9 * MAX * MAX] = {0}, r[3 * MAX], product[MAX] = {0}, f[MAX] = {0};
      if (general) {
        force_gradient_at(s, AS_BLOCK_F_PSI, &y, &f_psi);
      }
      if (general && m > 0) {
        force_gradient_at(s, AS_BLOCK_F_LAMBDA, &y, &f_lambda);
      }
      times(&M, y.vdot, product);
      total_force(s, &y, f);
      evaluate(s, def->nonholonomic_acceleration, true, &x, r + n + m);
      if (m > 0) {
        evaluate(s, def->constraint_acceleration, true, &x, r + n);
      }
      for (int i = 0; i < n; i++) {
        r[i] = product[i] - f[i];
        for (int j = 0; j < n; j++) {
          A[i * size + j] = entry(&M, i, j);
        }
        for (int j = 0; j < m; j++) {
          A[i * size + n + j] = general ? -entry(&f_lambda, i, j) : entry(&B, j, i);
          A[(n + j) * size + i] = entry(&B, j, i);
          r[n + j] += entry(&B, j, i) * y.vdot[i];
        }
        for (int j = 0; j < s->n_psi; j++) {
          A[i * size + n + m + j] = general ? -entry(&f_psi, i, j) : entry(&K, j, i);
          A[(n + m + j) * size + i] = entry(&K, j, i);
          r[n + m + j] += entry(&K, j, i) * y.vdot[i];
        }
      }
      reference_solve(size, A, r);
      for (int i = 0; i < size; i++) {
        double *unknown = i < n ? &y.vdot[i] : i < n + m ? &y.lambda[i - n] : &y.psi[i - n - m];
        *unknown -= r[i];
      }
    }
    check_vector(s->p->name, "start v'", x.t, y.vdot, x.vdot, n, 1e-12);
    check_vector(s->p->name, "start lambda", x.t, y.lambda, x.lambda, m, 1e-12);
    check_vector(s->p->name, "start psi", x.t, y.psi, x.psi, s->n_psi, 1e-12);
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
    check_near(s->p->name, "energy", k, x.t, now, start, 2e-13 * (fabs(start) + 1.0));
  }
}

static const as_block blocks_of_motion[] = {AS_BLOCK_MA_Q,     AS_BLOCK_F_Q,   AS_BLOCK_F_V,
                                            AS_BLOCK_F_LAMBDA, AS_BLOCK_F_PSI, AS_BLOCK_G_Q,
                                            AS_BLOCK_GDOT_Q,   AS_BLOCK_K_Q,   AS_BLOCK_K_V};

/// Does the problem have this block at all?
static bool has_block(const as_problem_def *def, as_block block) {
  bool general = def->force_kind == AS_FORCE_GENERAL;
  switch (block) {
  case AS_BLOCK_MA_Q: return !def->mass_constant;
  case AS_BLOCK_F_LAMBDA: return general && def->n_lambda > 0;
  case AS_BLOCK_F_PSI: return general;
  case AS_BLOCK_G_Q:
  case AS_BLOCK_GDOT_Q: return def->n_lambda > 0;
  default: return true;
  }
}

static void formulas_are_given(subject *s) {
  const as_problem_def *def = &s->p->def;
  for (size_t i = 0; i < sizeof blocks_of_motion / sizeof blocks_of_motion[0]; i++) {
    as_block block = blocks_of_motion[i];
    if (has_block(def, block) && def->block[block].source == AS_BLOCK_DIFFERENCED) {
      fail_msg("%s: block %d is not given", s->p->name, (int)block);
    }
  }
  assert_non_null(def->nonholonomic_acceleration);
  assert_true(def->n_lambda == 0 || def->constraint_rate != NULL);
  assert_true(def->n_lambda == 0 || def->constraint_acceleration != NULL);
}

static void formulas_match_differences(subject *s) {
  for (int k = 0; k < TIMES; k++) {
    sample x = solution(s, test_time(s, k));
    as_check_def def = as_default_check_def();
    def.near =
        (as_point){.t = x.t, .q = x.q, .v = x.v, .vdot = x.vdot, .lambda = x.lambda, .psi = x.psi};
    def.seed = (unsigned)k;
    def.tolerance = 1e-8;
    as_error error;
    if (as_problem_check(s->problem, &def, NULL, &error)) {
      fail_msg("%s: %s", s->p->name, error.message);
    }
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

static void test_motion(void **state) {
  (void)state;
  for_each_problem(solution_moves_with_v);
}

static void test_start(void **state) {
  (void)state;
  for_each_problem(accelerations_solve_the_start);
}

static void test_energy(void **state) {
  (void)state;
  for_each_problem(energy_is_kept);
}

static void test_formulas(void **state) {
  (void)state;
  for_each_problem(formulas_are_given);
  for_each_problem(formulas_match_differences);
}

// Independent numbers.

/// [J] (7.2) with f4 corrected: extrapolation of the index-reduced equations in 80 bits.
static void test_disk_reference(void **state) {
  (void)state;
  const nonholonomic_problem *p = nonholonomic_disk();
  static const double psi1[] = {0.372208163086, 13.419067732275};
  static const double y10[] = {1.024486015149, 0.020159250166, 4.443259949783, 0.100412799225,
                               1.925340266680};
  static const double z10[] = {0.081540795809, 0.008215369253, -3.494811110113, 0.050708691476,
                               0.081953606834};
  static const double psi10[] = {2.744856895635, -25.980101069052};
  double q[5], v[5], psi[2];
  p->exact(p, 1.0, NULL, NULL, NULL, NULL, psi);
  check_vector(p->name, "psi", 1.0, psi, psi1, 2, 1e-12);
  p->exact(p, 10.0, q, v, NULL, NULL, psi);
  check_vector(p->name, "y", 10.0, q, y10, 5, 1e-12);
  check_vector(p->name, "z", 10.0, v, z10, 5, 1e-12);
  check_vector(p->name, "psi", 10.0, psi, psi10, 2, 1e-12);
}

/// As [J] prints f4, the energy is not kept.
static void test_disk_printed(void **state) {
  (void)state;
  const nonholonomic_problem *p = nonholonomic_disk(), *printed = nonholonomic_disk_printed();
  double start = p->energy(p, printed->q0, printed->v0), worst = 0.0;
  for (int k = 0; k <= 20; k++) {
    double q[5], v[5];
    printed->exact(printed, 0.5 * k, q, v, NULL, NULL, NULL);
    worst = fmax(worst, fabs(p->energy(p, q, v) - start));
  }
  check_near(printed->name, "energy error", 0, 10.0, worst, 4.9e-3, 1e-4);
}

/// Chaplygin's sleigh: the edge (x, y), the heading, u, w and the lateral force; closed form and
/// quadrature with 20 digits.
static void test_sleigh_reference(void **state) {
  (void)state;
  static const double rows[][7] = {
      {1.0, 0.8235010280523353052688, 1.003301201874239894417, 1.467231285606897368894,
       1.673191826372095226353, 0.9746177974577402769479, 1.381968247917851899807},
      {2.0, 0.3585077856056082483951, 2.668852065606507955997, 2.114909695873111143161,
       1.807301740160160185136, 0.3984300121728988610769, 0.6102400460441643364251},
      {5.0, -3.663966360101140359579, 6.349650348860546374437, 2.518118973093921741273,
       1.832933726462331807197, 0.02449331963264226971333, 0.03804629798956948083116},
      {10.0, -11.21367277410798067031, 11.54555077116439318358, 2.544149716096392616413,
       1.833030269334013026162, 0.0002318140534211756955038, 0.0003601035396423957363692}};
  const nonholonomic_problem *p = nonholonomic_sleigh();
  const double a = 0.3;
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    double q[3], v[3], psi, t = rows[k][0];
    p->exact(p, t, q, v, NULL, NULL, &psi);
    double c = cos(q[2]), s = sin(q[2]);
    const double value[] = {q[0] - a * c, q[1] - a * s, q[2], c * v[0] + s * v[1], v[2], -psi};
    for (int i = 0; i < 6; i++) {
      check_near(p->name, "reference", i, t, value[i], rows[k][i + 1], 1e-14 * (1.0 + t));
    }
  }
}

/// The rolling disk in maximal coordinates: integrated in quadruple precision. The contact force is
/// -(psi, lambda).
static void test_rolling_disk_reference(void **state) {
  (void)state;
  static const struct {
    double t, q[7], v[6], contact[3];
  } rows[] = {
      {0.5,
       {2.20741532148613918956e+00, 9.93423818920576999999e-01, 9.32472654212180089851e-01,
        -6.98597528697136179703e-03, 4.74956704845850152138e-01, 3.06261071158336202236e-01,
        -8.24967563583084360551e-01},
       {3.91092330367310181214e+00, 4.33759886413527250644e+00, -2.17888555825422584691e+00,
        -8.01160580863376169816e+00, -1.24791887210835087476e+01, 1.57369918516166215363e+00},
       {-5.07057778984754906516e+02, 1.62609073594882194079e+02, -4.38650953444038278963e+02}},
      {1.0,
       {2.77719890894206658610e+00, 3.23552939857704103055e+00, 6.92281875202220860771e-01,
        4.33601552225025389826e-01, 2.94126827673199162557e-01, 2.29512119255465883753e-01,
        8.20245871837105675187e-01},
       {-4.57370410761363128620e-01, 2.84461232371774533091e+00, 5.08107874250685952541e-02,
        7.71769796797720054860e+00, 1.70227859011448632486e+01, -2.88073444358998363899e+00},
       {1.97531981636467245912e+02, 4.18820697057249203231e+01, 1.57349116374655781668e+03}},
      {1.5,
       {1.51863946311403968977e+00, 5.17980946219119461448e+00, 9.34778634690283066556e-01,
        -6.74689222133974618563e-01, 4.20892517559307071197e-01, 3.81095920637607366304e-01,
        -4.71603479071364686922e-01},
       {-5.11790058995228381948e+00, 2.84495863657729013514e+00, 2.13702452276198402392e+00,
        -4.27063936565694895860e+00, -1.41823952838858027875e+01, 1.63180828472565997199e+00},
       {-4.14203144932234526480e+02, -3.22865314092682036402e+02, -4.42194344348048675531e+02}},
      {2.0,
       {-8.89764519318870891271e-01, 5.41445916604683075214e+00, 9.99999998679896056343e-01,
        5.81032681081743855094e-01, 6.82112214051226943640e-01, -1.86271940896915221994e-01,
        4.03021978298441950997e-01},
       {-4.74558499504511246679e+00, -1.57592300298791858036e+00, -4.94137331702501863557e-06,
        1.14319061328126500057e+01, 9.71109453843998615909e+00, 4.99948617926735372061e+00},
       {-8.17842256644723213146e+01, 2.09670216671402475553e+02, 1.46941920990421812516e+02}},
  };
  const nonholonomic_problem *p = nonholonomic_rolling_disk();
  subject s = subject_open(p);
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    sample x = solution(&s, rows[k].t);
    double xi[6];
    const double contact[] = {-x.psi[0], -x.psi[1], -x.lambda[0]};
    as_space_difference(s.space, rows[k].q, x.q, xi);
    for (int i = 0; i < 6; i++) {
      check_near(p->name, "reference q", i, x.t, xi[i], 0.0, 1e-12);
    }
    check_vector(p->name, "reference v", x.t, x.v, rows[k].v, 6, 1e-12);
    check_vector(p->name, "contact force", x.t, contact, rows[k].contact, 3, 1e-12);
  }
  subject_close(&s);
}

/// On SE(3) the same motion as on R^3xSO(3), with velocities turned into the body.
static void test_formulations_agree(void **state) {
  (void)state;
  const nonholonomic_problem *world[] = {nonholonomic_rolling_disk(), nonholonomic_fin()};
  const nonholonomic_problem *body[] = {nonholonomic_rolling_disk_se3(), nonholonomic_fin_se3()};
  for (int k = 0; k < 2; k++) {
    subject s = subject_open(world[k]), b = subject_open(body[k]);
    sample x = solution(&s, s.p->t_end), y = solution(&b, b.p->t_end);
    double R[9], velocity[3];
    mat_from_quaternion(y.q + 3, R);
    mat_vec(R, y.v, velocity);
    check_vector(b.p->name, "q", x.t, y.q, x.q, 7, 1e-13);
    check_vector(b.p->name, "x'", x.t, velocity, x.v, 3, 1e-13);
    check_vector(b.p->name, "W", x.t, y.v + 3, x.v + 3, 3, 1e-13);
    check_vector(b.p->name, "lambda", x.t, y.lambda, x.lambda, s.n_lambda, 1e-13);
    check_vector(b.p->name, "psi", x.t, y.psi, x.psi, s.n_psi, 1e-13);
    subject_close(&s);
    subject_close(&b);
  }
}

/// The disk in R^5 moves as the one in maximal coordinates: with o = -1 and f4 corrected, its
/// equations are those of a rolling disk. The contact force along the plane is -psi in both.
static void test_disk_coordinates_agree(void **state) {
  (void)state;
  const nonholonomic_problem *angles = nonholonomic_disk_physical();
  const nonholonomic_problem *maximal = nonholonomic_rolling_disk_slow();
  for (int k = 0; k <= 6; k++) {
    double t = 0.5 * k, y[5], z[5], psi[2], q[7], v[6], force[2], R[9];
    angles->exact(angles, t, y, z, NULL, NULL, psi);
    maximal->exact(maximal, t, q, v, NULL, NULL, force);
    mat_from_quaternion(q + 3, R);
    double s3 = sin(y[2]), c3 = cos(y[2]), s4 = sin(y[3]), c4 = cos(y[3]);
    const double centre[] = {y[0] - s3 * s4, y[1] + s3 * c4, c3};
    const double axis[] = {c3 * s4, -c3 * c4, s3};
    check_vector(maximal->name, "centre", t, q, centre, 3, 1e-12);
    check_vector(maximal->name, "axis", t, (double[]){R[2], R[5], R[8]}, axis, 3, 1e-12);
    check_near(maximal->name, "spin", 0, t, v[5], z[4] + z[3] * s3, 1e-12);
    check_vector(maximal->name, "force", t, force, psi, 2, 1e-11);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_starting_values),
      cmocka_unit_test(test_equations),
      cmocka_unit_test(test_motion),
      cmocka_unit_test(test_start),
      cmocka_unit_test(test_energy),
      cmocka_unit_test(test_formulas),
      cmocka_unit_test(test_disk_reference),
      cmocka_unit_test(test_disk_printed),
      cmocka_unit_test(test_sleigh_reference),
      cmocka_unit_test(test_rolling_disk_reference),
      cmocka_unit_test(test_formulations_agree),
      cmocka_unit_test(test_disk_coordinates_agree),
  };
  return cmocka_run_group_tests_name("nonholonomic problems", tests, NULL, NULL);
}
