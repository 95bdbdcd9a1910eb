/// What saves or costs work must not change the motion: formulas or differences, dense or sparse
/// patterns, factors kept over steps or made anew. And sparse patterns must save evaluations.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/problems.h"

enum { N_STEPS = 300, MAX_SIZE = 16 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_name[] = {"index-3", "index-2"};

// ---- two runs side by side ----------------------------------------------------------------------

typedef struct trace {
  double q[N_STEPS + 1][MAX_SIZE], v[N_STEPS + 1][MAX_SIZE], vdot[N_STEPS + 1][MAX_SIZE];
  double a[N_STEPS + 1][MAX_SIZE], lambda[N_STEPS + 1][MAX_SIZE];
  as_statistics statistics;
  int n, nq, n_lambda;
} trace;

static void keep(double *out, const double *x, int n) {
  assert_true(n <= MAX_SIZE);
  memcpy(out, x, (size_t)n * sizeof(double));
}

static void run(const test_problem *p, const as_problem_def *def, const as_integrator_def *how,
                double h, trace *out) {
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error = {0};
  as_status status = as_problem_create(def, &problem, &error);
  if (status == AS_OK) status = as_integrator_create(problem, how, &integrator, &error);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  for (int i = 0; i <= N_STEPS && status == AS_OK; ++i) {
    const as_state *s = as_integrator_state(integrator);
    out->n = as_space_nv(as_problem_space(problem));
    out->nq = as_space_nq(as_problem_space(problem));
    out->n_lambda = def->n_lambda;
    keep(out->q[i], s->q, out->nq);
    keep(out->v[i], s->v, out->n);
    keep(out->vdot[i], s->vdot, out->n);
    keep(out->a[i], s->a, out->n);
    keep(out->lambda[i], s->lambda, out->n_lambda);
    if (i < N_STEPS) status = as_integrator_step(integrator, h, &error);
  }
  if (status == AS_OK) status = as_integrator_statistics(integrator, &out->statistics, &error);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error.message);
}

static double largest(double (*x)[MAX_SIZE], int n) {
  double result = 0.0;
  for (int i = 0; i <= N_STEPS; ++i)
    for (int k = 0; k < n; ++k) result = fmax(result, fabs(x[i][k]));
  return result;
}

/// The largest difference of two histories over the largest number in them.
static double distance(double (*x)[MAX_SIZE], double (*y)[MAX_SIZE], int n) {
  double result = 0.0;
  for (int i = 0; i <= N_STEPS; ++i) {
    for (int k = 0; k < n; ++k) {
      const double d = fabs(x[i][k] - y[i][k]);
      if (!(d <= result)) result = d; // NAN too
    }
  }
  return result == 0.0 ? 0.0 : result / largest(x, n);
}

/// Relative to the largest number. q is compared in the numbers that store it.
typedef struct distances {
  double q, v, vdot, a, lambda;
} distances;

static distances compare(trace *x, trace *y) {
  return (distances){distance(x->q, y->q, x->nq), distance(x->v, y->v, x->n),
                     distance(x->vdot, y->vdot, x->n), distance(x->a, y->a, x->n),
                     distance(x->lambda, y->lambda, x->n_lambda)};
}

static int check(const char *problem, const char *method, const char *variable, double value,
                 double limit) {
  if (value <= limit) return 0;
  print_error("%s, %s: %s differs by %.3g > %.3g\n", problem, method, variable, value, limit);
  return 1;
}

static int check_all(const char *problem, const char *method, distances d, distances limit) {
  return check(problem, method, "q", d.q, limit.q) + check(problem, method, "v", d.v, limit.v) +
         check(problem, method, "v'", d.vdot, limit.vdot) +
         check(problem, method, "a", d.a, limit.a) +
         check(problem, method, "lambda", d.lambda, limit.lambda);
}

static as_problem_def without_formulas(const as_problem_def *given) {
  as_problem_def def = *given;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    def.block[block].source = AS_BLOCK_DIFFERENCED;
  def.jacobian = NULL;
  def.constraint_rate = def.constraint_acceleration = NULL;
  return def;
}

static as_integrator_def tight(as_method method) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.newton.rtol = 1e-10;
  return how;
}

// ---- every problem without its formulas ---------------------------------------------------------

/// Differences of g give B to about cbrt(eps)^2; that noise times |v| stands in g' = B v. Index-2
/// divides it by gamma h on its way to v', and the start by a thousandth of the time scale.
#define B_NOISE 4e-11

static distances noise(const test_problem *p, double h, trace *x) {
  const double v = largest(x->v, x->n), vdot = largest(x->vdot, x->n);
  const double bend = 30.0 * B_NOISE * v * (1.0 / h + 1e3 / p->def.time_scale) / vdot;
  // Jacobians only: both runs end within Newton's tolerance of 1e-10 of v'.
  if (x->n_lambda == 0) return (distances){1e-11, 1e-10, 2e-9, 2e-9, 0.0};
  const double straight = 50.0 * B_NOISE; // of q and v, in the worst of several roundings
  return (distances){straight, straight, bend, bend, bend};
}

static void test_problems_without_formulas(void **state) {
  (void)state;
  static trace given, differenced;
  int failures = 0;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    const as_problem_def def = without_formulas(&p->def);
    for (int m = 0; m < 2; ++m) {
      as_integrator_def how = tight(methods[m]);
      const double h = p->t_end / 1000.0;
      run(p, &p->def, &how, h, &given);
      run(p, &def, &how, h, &differenced);
      const distances d = compare(&given, &differenced), limit = noise(p, h, &given);
      // How good the blocks are shows with new factors in each step; otherwise their cost is weighed.
      how.newton.reuse = false;
      run(p, &p->def, &how, h, &given);
      run(p, &def, &how, h, &differenced);
      const double iterations = (double)given.statistics.newton_iterations / N_STEPS;
      const double iterations_d = (double)differenced.statistics.newton_iterations / N_STEPS;
      print_message(
          "%-26s %s q %.1e v %.1e v' %.1e (%.1e) lambda %.1e; iterations per step %.2f -> "
          "%.2f, factorizations %ld -> %ld\n",
          p->name, method_name[m], d.q, d.v, d.vdot, limit.vdot, d.lambda, iterations, iterations_d,
          given.statistics.factorizations, differenced.statistics.factorizations);
      failures += check_all(p->name, method_name[m], d, limit);
      if (!(iterations_d <= 1.5 * iterations + 1.0)) {
        print_error("%s, %s: %.2f Newton iterations per step instead of %.2f\n", p->name,
                    method_name[m], iterations_d, iterations);
        ++failures;
      }
    }
  }
  assert_int_equal(failures, 0);
}

// ---- factors kept over steps --------------------------------------------------------------------

/// Kept factors must not stop Newton's method early in any variable, not in lambda either: on SE(3)
/// v' may be exact while lambda is still far off.
static void test_kept_factors(void **state) {
  (void)state;
  static trace fresh, kept;
  int failures = 0;
  long factorizations[2] = {0};
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    for (int m = 0; m < 2; ++m) {
      as_integrator_def how = as_default_integrator_def();
      const double h = p->t_end / 1000.0;
      how.method = methods[m];
      run(p, &p->def, &how, h, &kept);
      how.newton.reuse = false;
      how.newton.rtol = 1e-13;
      run(p, &p->def, &how, h, &fresh);
      const distances d = compare(&fresh, &kept);
      print_message("%-26s %s q %.1e v %.1e v' %.1e a %.1e lambda %.1e\n", p->name, method_name[m],
                    d.q, d.v, d.vdot, d.a, d.lambda);
      // Newton's default tolerance is 1e-8 in v'; lambda follows from v' with some loss.
      failures += check_all(p->name, method_name[m], d, (distances){2e-9, 1e-8, 1e-6, 1e-6, 1e-5});
      factorizations[0] += kept.statistics.factorizations;
      factorizations[1] += fresh.statistics.factorizations;
    }
  }
  assert_int_equal(failures, 0);
  print_message("%ld factorizations instead of %ld\n", factorizations[0], factorizations[1]);
  assert_true(4 * factorizations[0] < 3 * factorizations[1]);
}

// ---- sparse patterns ----------------------------------------------------------------------------

enum { MAX_ENTRIES = 256 };

/// A pattern that is filled in any order.
typedef struct sparsity {
  bool has[MAX_SIZE][MAX_SIZE]; ///< [column][row]
  int col_start[MAX_SIZE + 1];
  int row[MAX_ENTRIES];
} sparsity;

static void add_entries(sparsity *s, int row, int col, int rows, int cols) {
  for (int j = col; j < col + cols; ++j)
    for (int i = row; i < row + rows; ++i) s->has[j][i] = true;
}

static void add_diagonal(sparsity *s, int row, int col) {
  for (int i = 0; i < 3; ++i) s->has[col + i][row + i] = true;
}

static as_pattern finish(sparsity *s, int cols) {
  int count = 0;
  for (int j = 0; j < cols; ++j) {
    s->col_start[j] = count;
    for (int i = 0; i < MAX_SIZE; ++i)
      if (s->has[j][i]) s->row[count++] = i;
  }
  s->col_start[cols] = count;
  return (as_pattern){s->col_start, s->row};
}

/// Where two bodies with spherical joints have entries: body b moves with columns 6 b ... 6 b + 5,
/// joint 0 holds body 0, joint 1 both. The formula on R^3xSO(3) writes an identity with its zeros.
static void use_true_patterns(as_problem_def *def, bool se3, sparsity *of) {
  const bool full = se3 || def->jacobian != NULL;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) of[block] = (sparsity){0};
  for (int b = 0; b < 2; ++b) {
    const int move = 6 * b, turn = move + 3;
    add_diagonal(&of[AS_BLOCK_M], move, move);
    add_entries(&of[AS_BLOCK_M], turn, turn, 3, 3);
    add_entries(&of[AS_BLOCK_F_Q], se3 ? move : turn, turn, se3 ? 6 : 3, 3);
    add_entries(&of[AS_BLOCK_F_V], turn, turn, 3, 3);
    if (se3) add_entries(&of[AS_BLOCK_F_V], move, move, 3, 6);
    for (int joint = b; joint < 2; ++joint) {
      if (full)
        add_entries(&of[AS_BLOCK_G_Q], 3 * joint, move, 3, 3);
      else
        add_diagonal(&of[AS_BLOCK_G_Q], 3 * joint, move);
      add_entries(&of[AS_BLOCK_G_Q], 3 * joint, turn, 3, 3);
      add_entries(&of[AS_BLOCK_GDOT_Q], 3 * joint, turn, 3, 3);
    }
  }
  const as_block sparse[] = {AS_BLOCK_M, AS_BLOCK_F_Q, AS_BLOCK_F_V, AS_BLOCK_G_Q, AS_BLOCK_GDOT_Q};
  for (size_t i = 0; i < sizeof sparse / sizeof sparse[0]; ++i)
    def->block[sparse[i]].pattern = finish(&of[sparse[i]], 12);
}

/// Counts calls of the force and the constraint on their way to the problem's own functions.
typedef struct counter {
  as_problem_def inner;
  long force, constraint;
} counter;

static int count_force(const as_point *at, double *out, void *user) {
  counter *c = user;
  ++c->force;
  return c->inner.force(at, out, c->inner.user);
}

static int count_constraint(const as_point *at, double *out, void *user) {
  counter *c = user;
  ++c->constraint;
  return c->inner.constraint(at, out, c->inner.user);
}

static int pass_mass(const as_point *at, as_matrix *m, void *user) {
  counter *c = user;
  return c->inner.mass(at, m, c->inner.user);
}

static as_problem_def counted(counter *c, const as_problem_def *def) {
  as_problem_def result = *def;
  *c = (counter){.inner = *def};
  result.mass = pass_mass;
  result.force = count_force;
  result.constraint = count_constraint;
  result.user = c;
  return result;
}

static void test_true_patterns(void **state) {
  (void)state;
  static trace dense, sparse;
  static sparsity patterns[AS_BLOCK_COUNT];
  const test_problem *const problems[] = {problem_two_bodies(), problem_two_bodies_se3()};
  int failures = 0;
  for (int i = 0; i < 2; ++i) {
    const test_problem *p = problems[i];
    for (int m = 0; m < 2; ++m) {
      const as_integrator_def how = tight(methods[m]);
      const double h = p->t_end / 1000.0;

      // By formula: the same numbers, but perhaps another solver, other round-off and other
      // decisions on when to renew the factors; so equal to Newton's tolerance.
      as_problem_def def = p->def;
      run(p, &def, &how, h, &dense);
      use_true_patterns(&def, i == 1, patterns);
      run(p, &def, &how, h, &sparse);
      failures += check_all(p->name, method_name[m], compare(&dense, &sparse),
                            (distances){1e-11, 1e-10, 1e-7, 1e-7, 1e-7});

      // Differenced: several columns are moved at once, which changes the round-off.
      counter dense_calls, sparse_calls;
      const as_problem_def plain = without_formulas(&p->def);
      as_problem_def patterned = plain;
      use_true_patterns(&patterned, i == 1, patterns);
      def = counted(&dense_calls, &plain);
      run(p, &def, &how, h, &dense);
      def = counted(&sparse_calls, &patterned);
      run(p, &def, &how, h, &sparse);
      failures += check_all(p->name, method_name[m], compare(&dense, &sparse), noise(p, h, &dense));
      print_message("%-26s %s differenced: %ld -> %ld forces, %ld -> %ld constraints\n", p->name,
                    method_name[m], dense_calls.force, sparse_calls.force, dense_calls.constraint,
                    sparse_calls.constraint);
      assert_true(sparse_calls.force < dense_calls.force);
      assert_true(sparse_calls.constraint < dense_calls.constraint);
    }
  }
  assert_int_equal(failures, 0);
}

// A chain of masses between springs and dampers: F_Q has three colours, F_V one.

enum { N_MASSES = 12, N_COLOURS_Q = 3, N_COLOURS_V = 1 };

static int chain_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  for (int i = 0; i < N_MASSES; ++i) as_matrix_add(m, i, i, 1.0 + 0.1 * i);
  return AS_DONE;
}

static int chain_force(const as_point *at, double *out, void *user) {
  (void)user;
  for (int i = 0; i < N_MASSES; ++i) {
    const double left = i > 0 ? at->q[i - 1] : 0.0, right = i + 1 < N_MASSES ? at->q[i + 1] : 0.0;
    const double a = at->q[i] - left, b = right - at->q[i];
    out[i] = b + b * b * b - a - a * a * a - 0.1 * at->v[i] * at->v[i] * at->v[i];
  }
  return AS_DONE;
}

/// One linearization costs two evaluations per colour and nothing else.
static void test_colours(void **state) {
  (void)state;
  static sparsity tridiagonal, diagonal;
  tridiagonal = diagonal = (sparsity){0};
  for (int j = 0; j < N_MASSES; ++j) {
    diagonal.has[j][j] = true;
    for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < N_MASSES; ++i) tridiagonal.has[j][i] = true;
  }
  as_problem_def def = as_default_problem_def();
  def.parts = &(as_space_part){AS_SPACE_RN, N_MASSES};
  def.n_parts = 1;
  def.mass_constant = true;
  def.mass = chain_mass;
  def.force = chain_force;
  for (int sparse = 0; sparse < 2; ++sparse) {
    as_integrator_def how = as_default_integrator_def();
    as_problem *problem = NULL;
    as_integrator *integrator = NULL;
    as_error error;
    as_statistics before, after;
    double q0[N_MASSES];
    for (int i = 0; i < N_MASSES; ++i) q0[i] = 0.3 * sin(1.0 + i);
    how.newton.reuse = false;
    if (sparse) {
      def.block[AS_BLOCK_M].pattern = finish(&diagonal, N_MASSES);
      def.block[AS_BLOCK_F_V].pattern = def.block[AS_BLOCK_M].pattern;
      def.block[AS_BLOCK_F_Q].pattern = finish(&tridiagonal, N_MASSES);
    }
    assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
    assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_OK);
    const as_initial initial = {.q = q0};
    assert_int_equal(as_integrator_start(integrator, &initial, NULL, &error), AS_OK);
    assert_int_equal(as_integrator_step(integrator, 0.1, &error), AS_OK); // start's work is in it
    assert_int_equal(as_integrator_statistics(integrator, &before, &error), AS_OK);
    for (int i = 0; i < 10; ++i)
      assert_int_equal(as_integrator_step(integrator, 0.1, &error), AS_OK);
    assert_int_equal(as_integrator_statistics(integrator, &after, &error), AS_OK);
    const long colours = sparse ? N_COLOURS_Q + N_COLOURS_V : 2 * N_MASSES;
    const long linearized = after.jacobian_evaluations - before.jacobian_evaluations;
    assert_true(linearized >= 10);
    assert_int_equal(after.force_evaluations - before.force_evaluations,
                     after.newton_iterations - before.newton_iterations + 2 * colours * linearized);
    as_integrator_destroy(integrator);
    as_problem_destroy(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_problems_without_formulas),
      cmocka_unit_test(test_kept_factors),
      cmocka_unit_test(test_true_patterns),
      cmocka_unit_test(test_colours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
