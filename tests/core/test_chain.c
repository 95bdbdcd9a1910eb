/// The chain of examples/chain: a large problem with sparse patterns, and what a large problem promises.
///
/// - its Jacobian blocks and constraint rates agree with differences;
/// - its tip converges with order 2 to values computed by others;
/// - dense and sparse linear algebra give the same motion;
/// - with new factors a step takes one Newton iteration or little more, and that is enough;
/// - memory grows like N, and steps after the first take none, KLU included.
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

#include "chain.h"
#include "core/driver/integrator.h"
#include "observe.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_names[] = {"index-3", "index-2"};

// ---- a counting allocator ---------------------------------------------------------------------------

/// Replaces malloc for the whole program, shared libraries too. Sanitizers and valgrind bring their own:
/// then nothing is counted, which memory_is_counted() finds out.
static struct {
  long taken; ///< allocations so far
  long bytes; ///< in use
} memory;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
#include <malloc.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static void *count(void *block) {
  ++memory.taken;
  memory.bytes += (long)malloc_usable_size(block);
  return block;
}

void *malloc(size_t size) { return count(__libc_malloc(size)); }

void *calloc(size_t n, size_t size) { return count(__libc_calloc(n, size)); }

void *realloc(void *block, size_t size) {
  memory.bytes -= (long)malloc_usable_size(block);
  return count(__libc_realloc(block, size));
}

void free(void *block) {
  memory.bytes -= (long)malloc_usable_size(block);
  __libc_free(block);
}
#endif

static bool memory_is_counted(void) {
  void *(*volatile take)(size_t) = malloc; // else the compiler may do without
  const long before = memory.taken;
  free(take(16));
  return memory.taken > before;
}

// ---- a run ------------------------------------------------------------------------------------------

typedef struct run {
  chain c;
  as_problem *problem;
  as_integrator *integrator;
} run;

static void stop_if(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static void run_init(run *r, int n_links) {
  *r = (run){0};
  assert_true(chain_init(&r->c, n_links));
}

/// Makes problem and integrator, and starts from horizontal at rest.
static void run_start_as(run *r, const as_integrator_def *def) {
  as_error error = {0};
  double *q0 = malloc(7 * (size_t)r->c.n_links * sizeof(double));
  assert_non_null(q0);
  chain_straight(&r->c, q0);
  const as_initial initial = {.q = q0};
  stop_if(as_problem_create(&r->c.def, &r->problem, &error), &error);
  stop_if(as_integrator_create(r->problem, def, &r->integrator, &error), &error);
  stop_if(as_integrator_start(r->integrator, &initial, NULL, &error), &error);
  free(q0);
}

static void run_start(run *r, as_method method, double h) {
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.step = h;
  run_start_as(r, &def);
}

static void run_advance(run *r, double t) {
  as_error error = {0};
  stop_if(as_integrator_advance(r->integrator, t, &error), &error);
}

static void run_close(run *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->problem);
  chain_free(&r->c);
}

// ---- Jacobian blocks and rates ----------------------------------------------------------------------

enum { LINKS = 4, N = 6 * LINKS, NQ = 7 * LINKS, M = 3 * LINKS };

typedef struct point {
  double q[NQ], v[N], lambda[M];
} point;

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/// Any point: constraints do not hold there.
static point random_point(const chain *c, const as_space *space, uint64_t *state) {
  point x;
  double xi[N];
  chain_straight(c, x.q);
  for (int i = 0; i < N; ++i) {
    xi[i] = random_number(state);
    x.v[i] = 2.0 * random_number(state);
  }
  for (int i = 0; i < M; ++i) x.lambda[i] = 10.0 * random_number(state);
  as_space_move(space, x.q, xi, x.q);
  return x;
}

static as_point as_point_of(const point *x) {
  return (as_point){.q = x->q, .v = x->v, .lambda = x->lambda};
}

/// A block as a full matrix, by rows.
static void block_at(const chain *c, as_block block, const point *x, int rows, double full[][N]) {
  double value[N * N] = {0};
  as_matrix matrices[AS_BLOCK_COUNT] = {0};
  const as_pattern *pattern = &c->def.block[block].pattern;
  assert_true(pattern->col_start[N] <= N * N);
  matrices[block] = (as_matrix){.rows = rows,
                                .cols = N,
                                .col_start = pattern->col_start,
                                .row = pattern->row,
                                .value = value};
  const as_point at = as_point_of(x);
  if (block == AS_BLOCK_M)
    assert_int_equal(c->def.mass(&at, &matrices[block], c->def.user), AS_DONE);
  else
    assert_int_equal(c->def.jacobian(&at, AS_BLOCK_BIT(block), matrices, c->def.user), AS_DONE);
  memset(full, 0, (size_t)rows * sizeof full[0]);
  for (int j = 0; j < N; ++j)
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k)
      full[pattern->row[k]][j] = value[k];
}

/// f = f0 - B^T lambda, g and g' at a point.
static void total_force(const chain *c, const point *x, double *out) {
  double B[M][N];
  const as_point at = as_point_of(x);
  c->def.force(&at, out, c->def.user);
  block_at(c, AS_BLOCK_G_Q, x, M, B);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) out[j] -= B[i][j] * x->lambda[i];
}

static void position(const chain *c, const point *x, double *out) {
  const as_point at = {.q = x->q};
  c->def.constraint(&at, out, c->def.user);
}

static void rate(const chain *c, const point *x, double *out) {
  const as_point at = {.q = x->q, .v = x->v};
  c->def.constraint_rate(&at, out, c->def.user);
}

typedef void function(const chain *c, const point *x, double *out);

/// (f(x + e d) - f(x - e d)) / 2e along a direction d of q or of v.
static void differenced(const chain *c, const as_space *space, function *f, const point *x,
                        const double *direction, bool by_v, int rows, double *out) {
  const double e = 1e-5;
  double values[2][N];
  for (int side = 0; side < 2; ++side) {
    point moved = *x;
    double xi[N];
    for (int i = 0; i < N; ++i) xi[i] = (side ? -e : e) * direction[i];
    if (by_v)
      for (int i = 0; i < N; ++i) moved.v[i] += xi[i];
    else
      as_space_move(space, x->q, xi, moved.q);
    f(c, &moved, values[side]);
  }
  for (int i = 0; i < rows; ++i) out[i] = (values[0][i] - values[1][i]) / (2.0 * e);
}

static void check_block(const chain *c, const as_space *space, const point *x, as_block block,
                        const char *name, function *f, bool by_v, int rows) {
  double given[N][N];
  block_at(c, block, x, rows, given);
  for (int j = 0; j < N; ++j) {
    double direction[N] = {0}, column[N];
    direction[j] = 1.0;
    differenced(c, space, f, x, direction, by_v, rows, column);
    for (int i = 0; i < rows; ++i)
      if (!(fabs(given[i][j] - column[i]) <= 1e-8))
        fail_msg("%s(%d,%d) = %.12g, by differences %.12g", name, i, j, given[i][j], column[i]);
  }
}

static void test_derivatives(void **state) {
  (void)state;
  chain c;
  as_space *space = NULL;
  uint64_t seed = 1;
  assert_true(chain_init(&c, LINKS));
  c.damping = 0.7;
  assert_int_equal(as_space_create(&c.part, 1, &space, NULL), AS_OK);
  for (int trial = 0; trial < 5; ++trial) {
    const point x = random_point(&c, space, &seed);
    check_block(&c, space, &x, AS_BLOCK_G_Q, "G_Q", position, false, M);
    check_block(&c, space, &x, AS_BLOCK_GDOT_Q, "GDOT_Q", rate, false, M);
    check_block(&c, space, &x, AS_BLOCK_F_Q, "F_Q", total_force, false, N);
    check_block(&c, space, &x, AS_BLOCK_F_V, "F_V", total_force, true, N);
    // g' = B v, and g'' at v' = 0: the change of g' along the motion.
    double B[M][N], given[M], expected[M];
    block_at(&c, AS_BLOCK_G_Q, &x, M, B);
    rate(&c, &x, given);
    for (int i = 0; i < M; ++i) {
      expected[i] = 0.0;
      for (int j = 0; j < N; ++j) expected[i] += B[i][j] * x.v[j];
      assert_true(fabs(given[i] - expected[i]) <= 1e-13);
    }
    const as_point at = {.q = x.q, .v = x.v};
    c.def.constraint_acceleration(&at, given, c.def.user);
    differenced(&c, space, rate, &x, x.v, false, M, expected);
    for (int i = 0; i < M; ++i) assert_true(fabs(given[i] - expected[i]) <= 1e-7);
  }
  as_space_destroy(space);
  chain_free(&c);
}

// ---- order --------------------------------------------------------------------------------------------

/// Distance of the tip from (x, 0, z) after a second.
static double tip_error(int n_links, as_method method, double h, double x, double z) {
  run r;
  double tip[3];
  run_init(&r, n_links);
  run_start(&r, method, h);
  run_advance(&r, 1.0);
  chain_tip(&r.c, as_integrator_state(r.integrator)->q, tip);
  run_close(&r);
  return sqrt((tip[0] - x) * (tip[0] - x) + tip[1] * tip[1] + (tip[2] - z) * (tip[2] - z));
}

static void test_order(void **state) {
  (void)state;
  static const struct {
    int n_links;
    double h, x, z; // the tip, from an independent program
    double error;   // at h: no more than this
  } cases[] = {{10, 2e-3, 7.527507986527, -4.906153396808, 5e-5},
               {100, 2e-3, 99.037539198921, -4.905, 1e-5}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    for (int k = 0; k < 2; ++k) {
      const double h = cases[i].h, x = cases[i].x, z = cases[i].z;
      const double coarse = tip_error(cases[i].n_links, methods[k], h, x, z);
      const double fine = tip_error(cases[i].n_links, methods[k], h / 2.0, x, z);
      const double order = observed_order(coarse, fine);
      printf("N = %-4d %s %10.3e %10.3e  order %.3f\n", cases[i].n_links, method_names[k], coarse,
             fine, order);
      assert_true(coarse < cases[i].error);
      assert_true(order > 1.95 && order < 2.05);
    }
  }
}

// ---- Newton iterations ----------------------------------------------------------------------------------

static as_integrator_def how_to_count(as_method method, bool reuse, double rtol) {
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.step = 1e-3;
  def.newton.reuse = reuse;
  def.newton.rtol = rtol;
  return def;
}

static long iterations_so_far(const run *r) {
  as_statistics work;
  as_error error;
  stop_if(as_integrator_statistics(r->integrator, &work, &error), &error);
  return work.newton_iterations;
}

/// Iterations in a second, 1000 steps, and the tip after it.
static long iterations_and_tip(const as_integrator_def *def, double *tip) {
  run r;
  run_init(&r, 100);
  run_start_as(&r, def);
  run_advance(&r, 1.0);
  chain_tip(&r.c, as_integrator_state(r.integrator)->q, tip);
  const long iterations = iterations_so_far(&r);
  run_close(&r);
  return iterations;
}

/// With new factors in each step one iteration does, but for the first steps, and a thousand times tighter
/// tolerance moves the tip by less than a hundredth of its error; so with kept factors.
static void test_one_iteration_is_enough(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    as_integrator_def def = how_to_count(methods[k], false, 1e-11);
    double tight[3], tip[3];
    iterations_and_tip(&def, tight);
    const double error = hypot(tight[0] - 99.037539198921, tight[2] + 4.905);
    for (int reuse = 0; reuse < 2; ++reuse) {
      def = how_to_count(methods[k], reuse, 1e-8);
      const long iterations = iterations_and_tip(&def, tip);
      const double moved = hypot(tip[0] - tight[0], tip[2] - tight[2]);
      printf(
          "%s, %s factors: %ld iterations in 1000 steps; error of the tip %.2e, by Newton %.1e\n",
          method_names[k], reuse ? "kept" : "new", iterations, error, moved);
      assert_true(moved <= 0.01 * error);
      if (!reuse) assert_true(iterations <= 1030);
    }
  }
}

/// Far from the origin round-off of positions reaches v' through eta. It is not taken for slow convergence.
static void test_round_off_takes_no_iterations(void **state) {
  (void)state;
  run r;
  run_init(&r, 10000);
  const as_integrator_def def = how_to_count(AS_METHOD_INDEX2, false, 1e-8);
  run_start_as(&r, &def);
  run_advance(&r, 0.03);
  const long before = iterations_so_far(&r);
  run_advance(&r, 0.045);
  const long iterations = iterations_so_far(&r) - before;
  run_close(&r);
  printf("10000 links: %ld iterations in 15 steps\n", iterations);
  assert_true(iterations <= 19); // 1.3 a step
}

// ---- dense and sparse ---------------------------------------------------------------------------------

/// The chain with dense patterns: its matrices are filled over the sparse ones, and copied.
typedef struct dense_chain {
  const chain *c;
  as_matrix sparse[AS_BLOCK_COUNT];
} dense_chain;

static void copy_entries(const as_matrix *from, as_matrix *to) {
  for (int j = 0; j < from->cols; ++j)
    for (int k = from->col_start[j]; k < from->col_start[j + 1]; ++k)
      as_matrix_add(to, from->row[k], j, from->value[k]);
}

static int dense_mass(const as_point *at, as_matrix *m, void *user) {
  dense_chain *d = user;
  const int result = d->c->def.mass(at, &d->sparse[AS_BLOCK_M], d->c->def.user);
  copy_entries(&d->sparse[AS_BLOCK_M], m);
  return result;
}

static int dense_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  dense_chain *d = user;
  const int result = d->c->def.jacobian(at, wanted, d->sparse, d->c->def.user);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (wanted & AS_BLOCK_BIT(block)) copy_entries(&d->sparse[block], &blocks[block]);
  return result;
}

// The other functions have nothing to do with patterns.
static int dense_force(const as_point *at, double *out, void *user) {
  const chain *c = ((dense_chain *)user)->c;
  return c->def.force(at, out, c->def.user);
}

static int dense_constraint(const as_point *at, double *out, void *user) {
  const chain *c = ((dense_chain *)user)->c;
  return c->def.constraint(at, out, c->def.user);
}

static int dense_rate(const as_point *at, double *out, void *user) {
  const chain *c = ((dense_chain *)user)->c;
  return c->def.constraint_rate(at, out, c->def.user);
}

static int dense_acceleration(const as_point *at, double *out, void *user) {
  const chain *c = ((dense_chain *)user)->c;
  return c->def.constraint_acceleration(at, out, c->def.user);
}

/// Puts dense patterns over r's problem.
static void make_dense(run *r, const chain *original, dense_chain *d) {
  as_problem_def *def = &r->c.def;
  *d = (dense_chain){.c = original};
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) {
    const as_pattern *pattern = &original->def.block[block].pattern;
    if (pattern->row == NULL) continue;
    const int cols = 6 * original->n_links;
    d->sparse[block] =
        (as_matrix){.cols = cols,
                    .col_start = pattern->col_start,
                    .row = pattern->row,
                    .value = calloc((size_t)pattern->col_start[cols], sizeof(double))};
    assert_non_null(d->sparse[block].value);
    def->block[block].pattern = (as_pattern){0};
  }
  def->mass = dense_mass;
  def->jacobian = dense_jacobian;
  def->force = dense_force;
  def->constraint = dense_constraint;
  def->constraint_rate = dense_rate;
  def->constraint_acceleration = dense_acceleration;
  def->user = d;
}

static const char *backend(const run *r) {
  asi_solver_info info;
  r->integrator->stepper.active->solver->ops->info(r->integrator->stepper.active->solver, &info);
  return info.backend;
}

static double largest_difference(const double *x, const double *y, int n) {
  double d = 0.0;
  for (int i = 0; i < n; ++i) d = fmax(d, fabs(x[i] - y[i]));
  return d;
}

static void test_backends(void **state) {
  (void)state;
  enum { FEW = 12 };
  for (int k = 0; k < 2; ++k) {
    run sparse, dense;
    dense_chain wrapped;
    run_init(&sparse, FEW);
    run_init(&dense, FEW);
    make_dense(&dense, &sparse.c, &wrapped);
    run_start(&sparse, methods[k], 1e-3);
    run_start(&dense, methods[k], 1e-3);
    assert_string_equal(backend(&sparse), "blocks");
    assert_string_equal(backend(&dense), "dense LAPACK");
    run_advance(&sparse, 0.2);
    run_advance(&dense, 0.2);
    const as_state *s = as_integrator_state(sparse.integrator);
    const as_state *d = as_integrator_state(dense.integrator);
    const double q = largest_difference(s->q, d->q, 7 * FEW);
    const double v = largest_difference(s->v, d->v, 6 * FEW);
    const double lambda = largest_difference(s->lambda, d->lambda, 3 * FEW);
    printf("%s: dense and sparse differ by %.1e in q, %.1e in v, %.1e in lambda\n", method_names[k],
           q, v, lambda);
    assert_true(q < 1e-10 && v < 1e-9);
    assert_true(lambda < 1e-4); // of 100 N; index-3 has round-off of eps |q| / h^2 in it
    run_close(&sparse);
    run_close(&dense);
    for (int block = 0; block < AS_BLOCK_COUNT; ++block) free(wrapped.sparse[block].value);
  }
}

// ---- memory -------------------------------------------------------------------------------------------

/// Bytes taken by problem and integrator, the factors included.
static long bytes_of(int n_links, as_method method) {
  run r;
  run_init(&r, n_links);
  const long before = memory.bytes;
  run_start(&r, method, 1e-3);
  run_advance(&r, 2e-3);
  const long bytes = memory.bytes - before;
  run_close(&r);
  return bytes;
}

static void test_memory_is_linear(void **state) {
  (void)state;
  if (!memory_is_counted()) skip();
  for (int k = 0; k < 2; ++k) {
    const long small = bytes_of(1000, methods[k]), medium = bytes_of(2000, methods[k]);
    const long large = bytes_of(4000, methods[k]);
    const double ratio = (double)(large - medium) / (double)(medium - small);
    printf(
        "%s: %ld bytes a link; from 2000 to 4000 links %.3f times what it is from 1000 to 2000\n",
        method_names[k], (large - medium) / 2000, ratio);
    assert_true(ratio > 1.95 && ratio < 2.05);
  }
}

static void test_no_allocation_in_steps(void **state) {
  (void)state;
  if (!memory_is_counted()) skip();
  const double steps[] = {1e-3, (double)NAN}; // given and automatic
  for (int k = 0; k < 4; ++k) {
    run r;
    run_init(&r, 100);
    run_start(&r, methods[k % 2], steps[k / 2]);
    run_advance(&r, 1e-3); // the first factorization looks for an order of elimination
    const long before = memory.taken;
    run_advance(&r, 0.2);
    const long taken = memory.taken - before;
    run_close(&r);
    assert_int_equal(taken, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_one_iteration_is_enough),
      cmocka_unit_test(test_round_off_takes_no_iterations),
      cmocka_unit_test(test_backends),
      cmocka_unit_test(test_memory_is_linear),
      cmocka_unit_test(test_no_allocation_in_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
