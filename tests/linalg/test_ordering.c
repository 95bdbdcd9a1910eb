/// Linear solvers and the order of their unknowns.
///
/// - The order by bodies and joints is a permutation, whatever the graph looks like.
/// - Chains and trees fill hardly at all, and the fill grows like N.
/// - On a lattice of loops with coupled bodies it fills at most a third of what AMD does. Slow:
///   AMD's factors
///   alone take about 6 s.
/// - KLU: a stored zero diagonal costs nothing; answers are right also if old pivots have become
///   useless.
/// - KLU and dense LU agree, and refuse singular matrices by naming a column that depends on
///   others.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "core/kinematics/ordering.h"
#include "linalg/solver.h"
#include "problems/loops.h"

void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info, size_t jobu_length, size_t jobvt_length);

static void stop_if(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static void *take(size_t count, size_t size) {
  void *p = calloc(count + 1, size);
  assert_non_null(p);
  return p;
}

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static int random_below(uint64_t *state, int n) {
  return (int)(0.4999999 * (random_number(state) + 1.0) * n);
}

static void check_permutation(const char *what, const int *order, int n) {
  bool *seen = take((size_t)n, sizeof *seen);
  for (int i = 0; i < n; ++i) {
    if (order[i] < 0 || order[i] >= n || seen[order[i]])
      fail_msg("%s: order[%d] = %d is not new or not below %d", what, i, order[i], n);
    seen[order[i]] = true;
  }
  free(seen);
}

// ---- iteration matrices -------------------------------------------------------------------------

/// The iteration matrix of a problem's first step.
typedef struct iteration {
  test_problem *p;
  as_problem *problem;
  as_integrator *integrator;
  int n;
  const int *col_start, *row;
  double *value;
  asi_elimination graph; ///< by bodies and joints
} iteration;

static iteration iteration_open(test_problem *p, as_method method) {
  iteration it = {.p = p};
  as_error error = {0};
  as_integrator_def def = as_default_integrator_def();
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  def.method = method;
  def.step = 1e-3;
  stop_if(as_problem_create(&p->def, &it.problem, &error), &error);
  stop_if(as_integrator_create(it.problem, &def, &it.integrator, &error), &error);
  stop_if(as_integrator_start(it.integrator, &initial, NULL, &error), &error);
  if (method == AS_METHOD_INDEX2) { // the matrix with eta
    stop_if(asi_index2_couple(&it.integrator->stepper, &error), &error);
    it.integrator->stepper.active = &it.integrator->stepper.step;
  }
  stop_if(as_integrator_step(it.integrator, def.step, &error), &error);
  const asi_system *step = &it.integrator->stepper.step;
  it.n = step->size;
  it.col_start = step->pattern.col_start;
  it.row = step->pattern.row;
  it.value = step->value;
  stop_if(asi_order_by_graph(it.problem, it.n, &it.graph, &error), &error);
  check_permutation(p->name, it.graph.order, it.n);
  return it;
}

static void iteration_close(iteration *it) {
  asi_elimination_free(&it->graph);
  as_integrator_destroy(it->integrator);
  as_problem_destroy(it->problem);
  loops_free(it->p);
}

/// Entries of L + U with one order of KLU.
static double fill_of(const iteration *it, unsigned order) {
  asi_solver *solver = NULL;
  as_error error = {0};
  asi_solver_info info;
  int culprit = 0;
  stop_if(
      asi_sparse_lu_create(it->n, it->col_start, it->row, it->graph.order, order, &solver, &error),
      &error);
  assert_int_equal(solver->ops->factor(solver, it->value, &culprit), AS_OK);
  solver->ops->info(solver, &info);
  solver->ops->destroy(solver);
  return info.fill;
}

typedef test_problem *family(int n);

static test_problem *make_chain(int n) { return loops_tree(n, 1); }
static test_problem *make_tree(int n) { return loops_tree(n, 2); }
static test_problem *make_bush(int n) { return loops_tree(n, 5); }

/// Operations of a factorization and a solution by blocks.
static double work_by_blocks(const iteration *it, const asi_elimination *graph) {
  asi_solver *solver = NULL;
  as_error error = {0};
  asi_solver_info info;
  stop_if(asi_frontal_create(it->n, it->col_start, it->row, graph, &solver, &error), &error);
  assert_non_null(solver);
  solver->ops->info(solver, &info);
  solver->ops->destroy(solver);
  return info.factor_operations + info.solve_operations;
}

/// Of the orders from the leaves and with all bodies first, a step takes the one that is less work: the second for a
/// chain, whose bodies touch two joints, the first for a bush, whose bodies touch six.
static void test_less_work(void **state) {
  (void)state;
  family *const make[] = {make_chain, make_tree, make_bush};
  for (int i = 0; i < 3; ++i) {
    iteration it = iteration_open(make[i](100), AS_METHOD_INDEX3);
    asi_elimination first = {0};
    asi_solver_info info;
    as_error error = {0};
    stop_if(asi_order_bodies_first(it.problem, it.n, &first, &error), &error);
    check_permutation(it.p->name, first.order, it.n);
    const double leaves = work_by_blocks(&it, &it.graph), bodies = work_by_blocks(&it, &first);
    it.integrator->stepper.step.solver->ops->info(it.integrator->stepper.step.solver, &info);
    printf("%s: %.0f operations from the leaves, %.0f with bodies first\n", it.p->name, leaves,
           bodies);
    assert_true(info.factor_operations + info.solve_operations == fmin(leaves, bodies));
    if (i == 0) assert_true(bodies < 0.8 * leaves);
    if (i == 2) assert_true(leaves < 0.8 * bodies);
    asi_elimination_free(&first);
    iteration_close(&it);
  }
}

/// Within a small factor of the matrix's own entries, and linear.
static void test_fill_of_trees(void **state) {
  (void)state;
  family *const families[] = {make_chain, make_tree, make_bush, loops_nfourbar};
  const char *const names[] = {"chain", "tree", "bush", "nfourbar"};
  const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int f = 0; f < 4; ++f)
    for (int k = 0; k < 2; ++k) {
      double fill[2] = {0};
      for (int i = 0; i < 2; ++i) {
        iteration it = iteration_open(families[f](200 << i), methods[k]);
        fill[i] = fill_of(&it, ASI_ORDER_GIVEN);
        const double entries = it.col_start[it.n];
        print_message("%s %d, method %d: %d unknowns, %.0f entries, fill %.0f\n", names[f],
                      200 << i, (int)methods[k], it.n, entries, fill[i]);
        assert_true(fill[i] <= 2.0 * entries);
        iteration_close(&it);
      }
      assert_true(fill[1] >= 1.9 * fill[0] && fill[1] <= 2.1 * fill[0]);
    }
}

/// Loops alone: not worse than AMD. With coupled bodies: at most a third of AMD's.
static void test_fill_of_lattices(void **state) {
  (void)state;
  for (int springs = 0; springs < 2; ++springs) {
    iteration it = iteration_open(loops_lattice(32, springs), AS_METHOD_INDEX3);
    const double given = fill_of(&it, ASI_ORDER_GIVEN), amd = fill_of(&it, ASI_ORDER_AMD);
    print_message("lattice 32 x 32%s: %d unknowns, %d entries, fill %.0f, with AMD %.0f\n",
                  springs ? " with springs" : "", it.n, it.col_start[it.n], given, amd);
    assert_true(given <= (springs ? amd / 3.0 : amd));
    iteration_close(&it);
  }
}

// ---- any graph ----------------------------------------------------------------------------------

static int no_matrix(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)m, (void)user;
  return AS_DONE;
}

static int no_vector(const as_point *at, double *out, void *user) {
  (void)at, (void)out, (void)user;
  return AS_DONE;
}

static int no_blocks(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at, (void)wanted, (void)blocks, (void)user;
  return AS_DONE;
}

/// A random pattern with about `density` of the entries; the caller frees both arrays.
static as_pattern random_pattern(int rows, int cols, double density, uint64_t *state) {
  int *col_start = take((size_t)cols + 1, sizeof(int));
  int *row = take((size_t)rows * (size_t)cols, sizeof(int)), count = 0;
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i)
      if (random_number(state) < 2.0 * density - 1.0) row[count++] = i;
    col_start[j + 1] = count;
  }
  return (as_pattern){col_start, row};
}

/// Rows without entries, bodies without joints, joints of many bodies, rows of one joint apart from
/// each other, nonholonomic rows: everything must come out exactly once.
static void test_any_graph(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int k = 0; k < 500; ++k) {
    const int n = 1 + random_below(&random, 20), m = random_below(&random, 15);
    const int n_psi = random_below(&random, 4);
    const double density = 0.25 * (1.0 + random_number(&random));
    const as_space_part part = {AS_SPACE_RN, n};
    int body[32], joint[32];
    const int bodies = 1 + random_below(&random, n),
              joints = m > 0 ? 1 + random_below(&random, m) : 0;
    for (int i = 0; i < n; ++i) body[i] = random_below(&random, bodies);
    for (int i = 0; i < m; ++i) joint[i] = random_below(&random, joints);
    as_problem_def def = as_default_problem_def();
    def.parts = &part;
    def.n_parts = 1;
    def.n_lambda = m;
    def.n_psi = n_psi;
    def.mass_constant = true;
    def.mass = no_matrix;
    def.force = def.constraint = def.nonholonomic = no_vector;
    def.jacobian = no_blocks;
    if (k % 3 != 0) def.body = body;
    if (k % 2 != 0) def.joint = joint;
    const struct {
      as_block block;
      int rows;
      double density;
    } blocks[] = {{AS_BLOCK_M, n, 0.0},          {AS_BLOCK_F_Q, n, k % 5 == 0 ? density : 0.0},
                  {AS_BLOCK_F_V, n, 0.0},        {AS_BLOCK_G_Q, m, density},
                  {AS_BLOCK_GDOT_Q, m, density}, {AS_BLOCK_K_V, n_psi, density},
                  {AS_BLOCK_K_Q, n_psi, density}};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i)
      def.block[blocks[i].block] = (as_block_def){
          AS_BLOCK_GIVEN, random_pattern(blocks[i].rows, n, blocks[i].density, &random)};
    as_problem *p = NULL;
    as_error error = {0};
    stop_if(as_problem_create(&def, &p, &error), &error);
    for (int with_eta = 0; with_eta < 2; ++with_eta) {
      asi_elimination graph = {0};
      const int size = n + m + n_psi + with_eta * m;
      stop_if(asi_order_by_graph(p, size, &graph, &error), &error);
      if (m + n_psi == 0)
        assert_null(graph.order);
      else
        check_permutation("random graph", graph.order, size);
      asi_elimination_free(&graph);
    }
    as_problem_destroy(p);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) {
      const as_pattern pattern = def.block[blocks[i].block].pattern;
      free((void *)(uintptr_t)pattern.col_start);
      free((void *)(uintptr_t)pattern.row);
    }
  }
}

// ---- small matrices -----------------------------------------------------------------------------

enum { MAX = 80 };

/// A matrix with its entries that are not zero, and its diagonal if wanted.
typedef struct matrix {
  int n;
  double a[MAX][MAX]; ///< by rows
  int col_start[MAX + 1];
  int row[MAX * MAX];
  double value[MAX * MAX];
} matrix;

/// The pattern of all that is not zero in `m` and in `other`, which may be NULL.
static void find_pattern(matrix *m, const matrix *other, bool diagonal) {
  int count = 0;
  for (int j = 0; j < m->n; ++j) {
    for (int i = 0; i < m->n; ++i)
      if (m->a[i][j] != 0.0 || (other && other->a[i][j] != 0.0) || (diagonal && i == j))
        m->row[count++] = i;
    m->col_start[j + 1] = count;
  }
}

/// Values over a pattern: that of `pattern`.
static double *values_of(const matrix *m, const matrix *pattern, double *value) {
  for (int j = 0; j < m->n; ++j)
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      value[k] = m->a[pattern->row[k]][j];
  return value;
}

/// max |x - y| / max |y|
static double distance(const double *x, const double *y, int n) {
  double off = 0.0, size = 0.0;
  for (int i = 0; i < n; ++i) {
    if (!(fabs(x[i] - y[i]) <= off)) off = fabs(x[i] - y[i]);
    size = fmax(size, fabs(y[i]));
  }
  return off / size;
}

typedef enum backend { DENSE, KLU, BLOCKS, BACKENDS } backend;
static const char *const backend_names[] = {"dense", "KLU", "blocks"};
enum { ALL_ORDERS = ASI_ORDER_GIVEN | ASI_ORDER_NATURAL | ASI_ORDER_AMD | ASI_ORDER_COLAMD };

static asi_solver *solver_for(const matrix *pattern, backend kind, unsigned orders) {
  asi_solver *solver = NULL;
  as_error error = {0};
  if (kind == DENSE)
    stop_if(asi_dense_create(pattern->n, pattern->col_start, pattern->row, &solver, &error),
            &error);
  if (kind == BLOCKS) { // five unknowns each, in their own order
    int order[MAX], first[MAX + 1];
    asi_elimination blocks = {order, first, 0};
    for (int i = 0; i < pattern->n; ++i) {
      order[i] = i;
      if (i % 5 == 0) first[blocks.n_blocks++] = i;
    }
    first[blocks.n_blocks] = pattern->n;
    stop_if(
        asi_frontal_create(pattern->n, pattern->col_start, pattern->row, &blocks, &solver, &error),
        &error);
  }
  if (solver == NULL)
    stop_if(asi_sparse_lu_create(pattern->n, pattern->col_start, pattern->row, NULL, orders,
                                 &solver, &error),
            &error);
  return solver;
}

/// Solves with a fresh dense factorization: the reference.
static void solve_dense(const matrix *m, const double *b, double *x) {
  static matrix full;
  int culprit = 0;
  full = *m;
  find_pattern(&full, NULL, true);
  asi_solver *solver = solver_for(&full, DENSE, 0);
  assert_int_equal(solver->ops->factor(solver, values_of(m, &full, full.value), &culprit), AS_OK);
  memcpy(x, b, (size_t)m->n * sizeof(double));
  assert_int_equal(solver->ops->solve(solver, x), AS_OK);
  solver->ops->destroy(solver);
}

/// About four entries per row, the largest `shift` columns off the diagonal, well conditioned; then
/// rows and columns scaled by up to 10^+-spread.
static void random_matrix(matrix *m, int n, int shift, double spread, double *column_scale,
                          uint64_t *state) {
  double row_scale[MAX];
  memset(m, 0, sizeof *m);
  m->n = n;
  for (int i = 0; i < n; ++i) {
    row_scale[i] = pow(10.0, spread * random_number(state));
    column_scale[i] = pow(10.0, spread * random_number(state));
    for (int k = 0; k < 3; ++k) {
      const int j = random_below(state, n);
      m->a[i][j] = random_number(state);
    }
    m->a[i][(i + shift) % n] = 4.0;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) m->a[i][j] *= row_scale[i] * column_scale[j];
}

static void test_backends_agree(void **state) {
  (void)state;
  static matrix m;
  uint64_t random = 7;
  for (int k = 0; k < 300; ++k) {
    const int n = 1 + random_below(&random, MAX);
    const double spread = k % 3 == 0 ? 4.0 : 0.0;
    const int shift = k % 2 == 0 ? random_below(&random, n) : 0;
    double scale[MAX], b[MAX] = {0}, expected[MAX], x[MAX];
    random_matrix(&m, n, shift, spread, scale, &random);
    find_pattern(&m, NULL, true);
    for (int i = 0; i < n; ++i) {
      expected[i] = 1.0 + random_number(&random);
      b[i] = 0.0;
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) b[i] += m.a[i][j] / scale[j] * expected[j];
    for (int kind = 0; kind < BACKENDS; ++kind) {
      asi_solver *solver = solver_for(&m, (backend)kind, ALL_ORDERS);
      for (int again = 0; again < 2; ++again) { // KLU: factor, then refactor
        int culprit = 0;
        const as_status status = solver->ops->factor(solver, values_of(&m, &m, m.value), &culprit);
        if (status)
          fail_msg("matrix %d, n = %d: %s says %s", k, n, backend_names[kind],
                   as_status_name(status));
        memcpy(x, b, sizeof x);
        assert_int_equal(solver->ops->solve(solver, x), AS_OK);
        for (int j = 0; j < n; ++j) x[j] *= scale[j];
        if (!(distance(x, expected, n) <= 1e-8))
          fail_msg("matrix %d, n = %d: %s is off by %g", k, n, backend_names[kind],
                   distance(x, expected, n));
      }
      solver->ops->destroy(solver);
    }
  }
}

// ---- singular matrices --------------------------------------------------------------------------

/// The rank of m, rows and columns scaled to one, without column `skip` (-1: with all).
static int rank_without(const matrix *m, int skip) {
  static double a[MAX * MAX];
  double s[MAX], work[16 * MAX], row_max[MAX] = {0};
  const int n = m->n, length = 16 * MAX, one = 1;
  int info = 0, cols = 0, rank = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) row_max[i] = fmax(row_max[i], fabs(m->a[i][j]));
  for (int j = 0; j < n; ++j) {
    double column_max = 0.0;
    if (j == skip) continue;
    for (int i = 0; i < n; ++i) {
      a[cols * n + i] = row_max[i] > 0.0 ? m->a[i][j] / row_max[i] : 0.0;
      column_max = fmax(column_max, fabs(a[cols * n + i]));
    }
    for (int i = 0; i < n && column_max > 0.0; ++i) a[cols * n + i] /= column_max;
    ++cols;
  }
  if (cols == 0) return 0;
  dgesvd_("N", "N", &n, &cols, a, &n, s, NULL, &one, NULL, &one, work, &length, &info, 1, 1);
  assert_int_equal(info, 0);
  for (int j = 0; j < cols; ++j) rank += s[j] > 1e-12 * s[0];
  return rank;
}

typedef enum fault { EMPTY_COLUMN, EMPTY_ROW, TWICE, SUM_OF_TWO, ROWS_TWICE, FAULTS } fault;
static const char *const fault_names[] = {"empty column", "empty row", "equal columns",
                                          "column a sum of two", "proportional rows"};

/// Makes a matrix singular. The entries keep their places: zeros stay in the pattern if m's was
/// found before.
static void spoil(matrix *m, fault kind, uint64_t *state) {
  const int n = m->n, a = random_below(state, n), b = (a + 1 + random_below(state, n - 1)) % n;
  const int c = (a + 1) % n == b ? (a + 2) % n : (a + 1) % n;
  for (int i = 0; i < n; ++i) switch (kind) {
    case EMPTY_COLUMN: m->a[i][a] = 0.0; break;
    case EMPTY_ROW: m->a[a][i] = 0.0; break;
    case TWICE: m->a[i][a] = m->a[i][b]; break;
    case SUM_OF_TWO: m->a[i][a] = 0.7 * m->a[i][b] - 1.3 * m->a[i][c]; break;
    case ROWS_TWICE: m->a[a][i] = 0.3 * m->a[b][i]; break;
    default: fail();
    }
}

static void test_singular_matrices(void **state) {
  (void)state;
  static matrix m;
  uint64_t random = 11;
  for (int k = 0; k < 40 * FAULTS; ++k) {
    const fault kind = (fault)(k % FAULTS);
    const int n = 3 + random_below(&random, 40);
    double scale[MAX];
    random_matrix(&m, n, 0, k % 2 == 0 ? 2.0 : 0.0, scale, &random);
    spoil(&m, kind, &random);
    find_pattern(&m, NULL, true);
    const int rank = rank_without(&m, -1);
    assert_true(rank < n);
    for (int b = 0; b < BACKENDS; ++b) {
      int culprit = -1;
      asi_solver *solver = solver_for(&m, (backend)b, ALL_ORDERS);
      const as_status status = solver->ops->factor(solver, values_of(&m, &m, m.value), &culprit);
      if (status != AS_ERR_SINGULAR)
        fail_msg("%s, matrix %d, n = %d: %s says %s", fault_names[kind], k, n, backend_names[b],
                 as_status_name(status));
      assert_in_range(culprit, 0, n - 1);
      if (rank_without(&m, culprit) != rank)
        fail_msg("%s, matrix %d, n = %d: %s names column %d, which does not depend on others",
                 fault_names[kind], k, n, backend_names[b], culprit);
      solver->ops->destroy(solver);
    }
  }
}

/// In these only one column is not to blame; each backend must leave it alone.
static void test_singular_by_hand(void **state) {
  (void)state;
  static matrix m;
  const struct {
    const char *name;
    double a[3][3];
    int innocent;
  } cases[] = {{"empty row", {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}}, 0},
               {"empty column", {{1, 0, 2}, {0, 0, 3}, {2, 0, 1}}, -1},
               {"equal columns", {{0, 2, 2}, {1, 1, 1}, {1, 3, 3}}, 0},
               {"round-off", {{1, 0.1, 0.3}, {1, 0.2, 0.6}, {2, 0.3, 0.9}}, 0},
               {"round-off, then zero", {{-2.7, -0.9, -0.4}, {0.6, 0.2, 0}, {-2.4, -0.8, 0}}, 2},
               {"round-off, scaled", {{1e9, 1e2, 3e8}, {1e3, 2e-4, 6e2}, {2, 3e-7, 0.9}}, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k)
    for (int b = 0; b < BACKENDS; ++b) {
      int culprit = -1;
      m.n = 3;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m.a[i][j] = cases[k].a[i][j];
      find_pattern(&m, NULL, true);
      asi_solver *solver = solver_for(&m, (backend)b, ALL_ORDERS);
      const as_status status = solver->ops->factor(solver, values_of(&m, &m, m.value), &culprit);
      if (status != AS_ERR_SINGULAR || culprit == cases[k].innocent || culprit < 0 || culprit > 2)
        fail_msg("%s: %s says %s, column %d", cases[k].name, backend_names[b],
                 as_status_name(status), culprit);
      solver->ops->destroy(solver);
    }
}

/// A matrix that becomes singular, and regular again, over the same pattern and with the same
/// solver.
static void test_singular_then_regular(void **state) {
  (void)state;
  static matrix good, bad;
  uint64_t random = 13;
  for (int k = 0; k < 10 * FAULTS; ++k) {
    const int n = 50;
    double scale[MAX], b[MAX] = {0}, expected[MAX], x[MAX];
    random_matrix(&good, n, 0, 0.0, scale, &random);
    bad = good;
    spoil(&bad, (fault)(k % FAULTS), &random);
    find_pattern(&good, &bad, true);
    for (int i = 0; i < n; ++i) b[i] = random_number(&random);
    solve_dense(&good, b, expected);
    for (int kind = 0; kind < BACKENDS; ++kind) {
      asi_solver *solver = solver_for(&good, (backend)kind, ALL_ORDERS);
      for (int round = 0; round < 4; ++round) {
        int culprit = -1;
        const matrix *m = round % 2 == 0 ? &good : &bad;
        as_status status = solver->ops->factor(solver, values_of(m, &good, good.value), &culprit);
        memcpy(x, b, sizeof x);
        if (status == AS_OK) status = solver->ops->solve(solver, x); // old pivots may pass at first
        if (status != (m == &good ? AS_OK : AS_ERR_SINGULAR))
          fail_msg("%s, matrix %d, round %d: %s says %s", fault_names[k % FAULTS], k, round,
                   backend_names[kind], as_status_name(status));
        if (status) continue;
        if (!(distance(x, expected, n) <= 1e-8))
          fail_msg("%s, matrix %d, round %d: %s is off by %g", fault_names[k % FAULTS], k, round,
                   backend_names[kind], distance(x, expected, n));
      }
      solver->ops->destroy(solver);
    }
  }
}

// ---- KLU's traps --------------------------------------------------------------------------------

/// Multipliers have no diagonal; KLU is given one of zeros. It costs at most the zeros themselves.
static void test_stored_diagonal(void **state) {
  (void)state;
  family *const families[] = {make_chain, make_tree, loops_nfourbar};
  for (int f = 0; f < 3; ++f) {
    iteration it = iteration_open(families[f](60), AS_METHOD_INDEX3);
    const double with = fill_of(&it, ASI_ORDER_GIVEN);
    int *col_start = take((size_t)it.n + 1, sizeof(int)), count = 0, dropped = 0;
    int *row = take((size_t)it.col_start[it.n], sizeof(int));
    double *value = take((size_t)it.col_start[it.n], sizeof(double));
    for (int j = 0; j < it.n; ++j) {
      bool diagonal = false;
      for (int k = it.col_start[j]; k < it.col_start[j + 1]; ++k) {
        diagonal = diagonal || it.row[k] == j;
        if (j >= it.problem->n && it.row[k] == j) {
          assert_true(it.value[k] == 0.0);
          ++dropped;
          continue;
        }
        row[count] = it.row[k];
        value[count++] = it.value[k];
      }
      assert_true(diagonal);
      col_start[j + 1] = count;
    }
    assert_int_equal(dropped, it.problem->def.n_lambda);
    iteration without = it;
    without.col_start = col_start;
    without.row = row;
    without.value = value;
    assert_true(with <= fill_of(&without, ASI_ORDER_GIVEN) + dropped);
    free(col_start);
    free(row);
    free(value);
    iteration_close(&it);
  }
}

/// AMD and others fill a large system with multipliers catastrophically, also if its diagonal holds
/// a small compliance instead of zeros: they must not even be tried.
static void test_blind_orders(void **state) {
  (void)state;
  iteration it = iteration_open(loops_tree(300, 2), AS_METHOD_INDEX3);
  for (int compliant = 0; compliant < 2; ++compliant) {
    asi_solver *solver = NULL;
    as_error error = {0};
    asi_solver_info info;
    int culprit = 0;
    for (int j = it.problem->n; j < it.n; ++j)
      for (int k = it.col_start[j]; k < it.col_start[j + 1]; ++k)
        if (it.row[k] == j) it.value[k] = compliant ? -1e-10 : 0.0;
    stop_if(asi_sparse_lu_create(it.n, it.col_start, it.row, it.graph.order, ALL_ORDERS, &solver,
                                 &error),
            &error);
    assert_int_equal(solver->ops->factor(solver, it.value, &culprit), AS_OK);
    solver->ops->info(solver, &info);
    assert_string_equal(info.order, "bodies and joints");
    assert_int_equal(info.full_factorizations, 1);
    solver->ops->destroy(solver);
  }
  iteration_close(&it);
}

/// A well conditioned band matrix with, from row `at` on, a cluster: a cyclic permutation, of
/// condition one, plus `pivot` on its diagonal. KLU pivots on the diagonal while that is large and
/// refactors with it when it is tiny: then the last pivot is about pivot^(1 - size), and that is
/// how much round-off grows. `coupled` to the rest, or not.
static void cluster_matrix(matrix *m, int n, int at, int size, double pivot, bool coupled) {
  memset(m, 0, sizeof *m);
  m->n = n;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const bool row = i >= at && i < at + size, col = j >= at && j < at + size;
      const double band = i == j       ? 4.0
                          : i == j + 1 ? -1.0 - 0.01 * i
                          : i + 1 == j ? -1.0 + 0.01 * i
                                       : 0.0;
      if (row && col)
        m->a[i][j] = i == j ? pivot : at + (i - at + 1) % size == j ? 1.0 : 0.0;
      else if (row == col || coupled)
        m->a[i][j] = row == col ? band : 0.1 * band;
    }
}

/// Solves right sides in turn with a solver that has factorized the first matrix, then the second,
/// and compares with dense LU. `quiet`: the first right side is zero in and around the cluster.
static void check_trap(int size, double pivot, unsigned orders, bool coupled, bool quiet) {
  static matrix first, second;
  const int n = 60, at = 20;
  asi_solver_info info;
  int culprit = 0;
  double b[MAX], x[MAX], expected[MAX];
  cluster_matrix(&first, n, at, size, 4.0, coupled);
  cluster_matrix(&second, n, at, size, pivot, coupled);
  find_pattern(&first, &second, true);
  asi_solver *solver = solver_for(&first, KLU, orders);
  assert_int_equal(solver->ops->factor(solver, values_of(&first, &first, first.value), &culprit),
                   AS_OK);
  values_of(&second, &first, first.value);
  assert_int_equal(solver->ops->factor(solver, first.value, &culprit), AS_OK);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < n; ++i) {
      const bool inside = i >= at && i < at + size;
      b[i] = quiet && k == 0 && inside ? 0.0 : 1.0 + 0.1 * ((i + k) % 7);
    }
    solve_dense(&second, b, expected);
    memcpy(x, b, sizeof x);
    assert_int_equal(solver->ops->solve(solver, x), AS_OK);
    solver->ops->info(solver, &info);
    const double off = distance(x, expected, n);
    if (!(off <= 1e-8))
      fail_msg("cluster of %d, pivot %g, order %s%s%s, solution %d: off by %g", size, pivot,
               info.order, coupled ? ", coupled" : "", quiet ? ", quiet first" : "", k, off);
  }
  solver->ops->destroy(solver);
}

enum { MAX_CLUSTER = 8 };

/// Pivots of all sizes; those just above 10^(-14/size) pass a test of ratios of pivots, and harm
/// most.
static void check_traps(bool coupled, bool quiet) {
  const unsigned orders[] = {ASI_ORDER_NATURAL, ASI_ORDER_AMD, ASI_ORDER_COLAMD};
  const double pivots[] = {1e-1, 1e-2, 1e-4, 1e-8, 1e-12, 1e-15, 1e-20, 1e-200, 0.0};
  for (int size = 2; size <= MAX_CLUSTER; ++size)
    for (int o = 0; o < 3; ++o) {
      for (size_t k = 0; k < sizeof pivots / sizeof pivots[0]; ++k)
        check_trap(size, pivots[k], orders[o], coupled, quiet);
      check_trap(size, pow(10.0, -13.5 / size), orders[o], coupled, quiet);
    }
}

static void test_old_pivots(void **state) {
  (void)state;
  check_traps(false, false);
  check_traps(true, false);
}

/// The first right side does not touch the useless pivots; the second does.
static void test_old_pivots_unnoticed(void **state) {
  (void)state;
  check_traps(false, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_any_graph),
      cmocka_unit_test(test_less_work),
      cmocka_unit_test(test_fill_of_trees),
      cmocka_unit_test(test_backends_agree),
      cmocka_unit_test(test_singular_matrices),
      cmocka_unit_test(test_singular_by_hand),
      cmocka_unit_test(test_singular_then_regular),
      cmocka_unit_test(test_stored_diagonal),
      cmocka_unit_test(test_blind_orders),
      cmocka_unit_test(test_old_pivots),
      cmocka_unit_test(test_old_pivots_unnoticed),
      cmocka_unit_test(test_fill_of_lattices),
  };
  return cmocka_run_group_tests_name("ordering", tests, NULL, NULL);
}
