/// Sparse LU by blocks: against dense LU on random matrices of trees, stars, loops and mechanisms; KLU where
/// blocks do not do, and the way back; memory; saved factors; fill on a lattice of loops.
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

#include "base/pool.h"
#include "core/driver/integrator.h"
#include "core/kinematics/ordering.h"
#include "counting.h"
#include "linalg/fronts.h"
#include "linalg/residual.h"
#include "linalg/solver.h"
#include "problems/loops.h"

static void *take(size_t n, size_t size) {
  void *p = calloc(n + 1, size);
  assert_non_null(p);
  return p;
}

static void stop_if(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static int random_below(uint64_t *state, int n) {
  return (int)(0.4999999 * (random_number(state) + 1.0) * n);
}

// ---- matrices of blocks -------------------------------------------------------------------------------

enum { MAX = 400, MAX_BLOCKS = 100 };

/// A matrix, its blocks in their order of elimination, and the pattern of blocks: unknowns are shuffled.
typedef struct matrix {
  int n, n_blocks;
  int order[MAX], first[MAX_BLOCKS + 1];
  bool coupled[MAX_BLOCKS][MAX_BLOCKS];
  int col_start[MAX + 1];
  int *row;      ///< MAX * MAX
  double *value; ///< MAX * MAX
  double *a;     ///< MAX * MAX, by rows
} matrix;

static matrix make_matrix(void) {
  matrix m = {0};
  m.row = take((size_t)MAX * MAX, sizeof(int));
  m.value = take((size_t)MAX * MAX, sizeof(double));
  m.a = take((size_t)MAX * MAX, sizeof(double));
  return m;
}

static void free_matrix(matrix *m) {
  free(m->row);
  free(m->value);
  free(m->a);
}

static double *entry(matrix *m, int i, int j) {
  return m->a + m->order[i] * MAX + m->order[j];
} // by places in the order

/// Gives blocks sizes and clears everything.
static void set_blocks(matrix *m, int n_blocks, const int *sizes, uint64_t *random) {
  memset(m->a, 0, (size_t)MAX * MAX * sizeof(double));
  memset(m->coupled, 0, sizeof m->coupled);
  assert_true(n_blocks <= MAX_BLOCKS);
  m->n_blocks = n_blocks;
  for (int i = 0; i < n_blocks; ++i) m->first[i + 1] = m->first[i] + sizes[i];
  m->n = m->first[n_blocks];
  assert_true(m->n <= MAX);
  for (int i = 0; i < m->n; ++i) {
    const int other = random_below(random, i + 1);
    m->order[i] = m->order[other];
    m->order[other] = i;
  }
}

static void couple(matrix *m, int x, int y) { m->coupled[x][y] = m->coupled[y][x] = true; }

/// Random entries in coupled blocks, a few of them zero; on diagonal blocks `dominant` besides.
static void fill_blocks(matrix *m, double dominant, uint64_t *random) {
  for (int x = 0; x < m->n_blocks; ++x)
    for (int y = 0; y < m->n_blocks; ++y)
      for (int i = m->first[x]; i < m->first[x + 1]; ++i)
        for (int j = m->first[y]; j < m->first[y + 1]; ++j) {
          const double number = random_number(random);
          if (x == y || (m->coupled[x][y] && fabs(number) > 0.1)) *entry(m, i, j) = number;
          if (i == j) *entry(m, i, j) += number > 0.0 ? dominant : -dominant;
        }
}

/// Finds the pattern of entries that are not zero, with the diagonal.
static void find_pattern(matrix *m) {
  int k = 0;
  for (int j = 0; j < m->n; ++j) {
    for (int i = 0; i < m->n; ++i)
      if (m->a[i * MAX + j] != 0.0 || i == j) m->row[k++] = i;
    m->col_start[j + 1] = k;
  }
}

static double *values_of(matrix *m) {
  for (int j = 0; j < m->n; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      m->value[k] = m->a[m->row[k] * MAX + j];
  return m->value;
}

static as_status create(matrix *m, asi_solver **out) {
  as_error error;
  const asi_elimination e = {m->order, m->first, m->n_blocks};
  return asi_frontal_create(m->n, m->col_start, m->row, &e, out, &error);
}

static asi_solver *solver_of(matrix *m) {
  asi_solver *solver = NULL;
  find_pattern(m);
  assert_int_equal(create(m, &solver), AS_OK);
  assert_non_null(solver);
  return solver;
}

static const char *backend_of(const asi_solver *solver) {
  asi_solver_info info;
  solver->ops->info(solver, &info);
  return info.backend;
}

static long count_of(const asi_solver *solver) {
  asi_solver_info info;
  solver->ops->info(solver, &info);
  return info.full_factorizations;
}

/// Solves by dense LU, of which the solver here shares nothing.
static void solve_dense(matrix *m, const double *b, double *x) {
  asi_solver *dense = NULL;
  as_error error;
  int culprit = 0;
  stop_if(asi_dense_create(m->n, m->col_start, m->row, &dense, &error), &error);
  assert_int_equal(dense->ops->factor(dense, values_of(m), &culprit), AS_OK);
  memcpy(x, b, (size_t)m->n * sizeof(double));
  assert_int_equal(dense->ops->solve(dense, x), AS_OK);
  dense->ops->destroy(dense);
}

/// Factorizes and solves twice, for two right sides; both must be those of dense LU, each component relative
/// to the largest after division by `scale`, which may be NULL.
static void must_agree(const char *what, matrix *m, asi_solver *solver, const double *scale,
                       uint64_t *random) {
  double b[MAX] = {0}, x[MAX] = {0}, y[MAX] = {0};
  int culprit = -1;
  const as_status status = solver->ops->factor(solver, values_of(m), &culprit);
  if (status) fail_msg("%s, n = %d: %s", what, m->n, as_status_name(status));
  for (int again = 0; again < 2; ++again) {
    for (int i = 0; i < m->n; ++i) b[i] = 0.0;
    for (int j = 0; j < m->n; ++j) {
      const double size = random_number(random) * (scale ? scale[j] : 1.0);
      for (int i = 0; i < m->n; ++i) b[i] += m->a[i * MAX + j] * size;
    }
    solve_dense(m, b, y);
    memcpy(x, b, sizeof x);
    assert_int_equal(solver->ops->solve(solver, x), AS_OK);
    double off = 0.0, largest = 0.0;
    for (int i = 0; i < m->n; ++i) {
      const double unit = scale ? scale[i] : 1.0;
      largest = fmax(largest, fabs(y[i]) / unit);
      if (!(fabs(x[i] - y[i]) / unit <= off)) off = fabs(x[i] - y[i]) / unit;
    }
    if (!(off <= 1e-9 * largest)) fail_msg("%s, n = %d: off by %g", what, m->n, off / largest);
  }
}

typedef enum shape { TREE, STAR, CHAIN, LOOPS, SHAPES } shape;
static const char *const shape_names[] = {"tree", "star", "chain", "loops"};

static void random_blocks(matrix *m, shape kind, uint64_t *random) {
  int sizes[MAX_BLOCKS] = {0}, n = 2 + random_below(random, 38);
  for (int i = 0; i < n; ++i) sizes[i] = 2 + random_below(random, i % 7 == 0 ? 14 : 6);
  sizes[0] += 2 * n; // enough pivots to a front
  if (sizes[0] > 24) sizes[0] = 24;
  set_blocks(m, n, sizes, random);
  for (int i = 0; i < n - 1; ++i) {
    if (kind == STAR) couple(m, i, n - 1);
    if (kind == CHAIN) couple(m, i, i + 1);
    if (kind == TREE || kind == LOOPS) couple(m, i, i + 1 + random_below(random, n - 1 - i));
  }
  for (int k = 0; k < n / 3 && kind == LOOPS; ++k)
    couple(m, random_below(random, n), random_below(random, n));
}

/// Unsymmetric matrices, refactorized with other values too.
static void test_against_dense(void **state) {
  (void)state;
  uint64_t random = 5;
  matrix m = make_matrix();
  for (int k = 0; k < 80; ++k) {
    const shape kind = (shape)(k % SHAPES);
    random_blocks(&m, kind, &random);
    fill_blocks(&m, 12.0, &random);
    asi_solver *solver = solver_of(&m);
    must_agree(shape_names[kind], &m, solver, NULL, &random);
    for (int i = 0; i < m.n; ++i)
      for (int j = 0; j < m.n; ++j) m.a[i * MAX + j] *= 1.0 + 0.2 * random_number(&random);
    must_agree(shape_names[kind], &m, solver, NULL, &random);
    assert_string_equal(backend_of(solver), "blocks");
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

/// Rows and columns in units up to 10^6 times larger or smaller than others.
static void test_scales(void **state) {
  (void)state;
  uint64_t random = 6;
  matrix m = make_matrix();
  for (int k = 0; k < 40; ++k) {
    double unit[MAX] = {0};
    const bool alike = k % 2 == 0; // rows as columns: what units of bodies and joints do
    random_blocks(&m, (shape)(k / 2 % SHAPES), &random);
    fill_blocks(&m, 12.0, &random);
    for (int i = 0; i < m.n; ++i) {
      const double own = pow(10.0, 6.0 * random_number(&random));
      const double row = alike ? own : pow(10.0, 6.0 * random_number(&random));
      unit[i] = 1.0 / own;
      for (int j = 0; j < m.n; ++j) m.a[i * MAX + j] *= row;
      for (int j = 0; j < m.n; ++j) m.a[j * MAX + i] *= own;
    }
    asi_solver *solver = solver_of(&m);
    must_agree("scaled", &m, solver, unit, &random);
    if (alike) assert_string_equal(backend_of(solver), "blocks");
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

/// Fronts of w pivots with r others, beside a second child of the same parent: each size, odd and even.
static void test_sizes(void **state) {
  (void)state;
  uint64_t random = 7;
  matrix m = make_matrix();
  for (int w = 1; w <= 13; ++w)
    for (int r = 1; r <= 13; ++r) {
      const int sizes[] = {w, 11, r};
      set_blocks(&m, 3, sizes, &random);
      couple(&m, 0, 2);
      couple(&m, 1, 2);
      fill_blocks(&m, 6.0, &random);
      asi_solver *solver = solver_of(&m);
      must_agree("sizes", &m, solver, NULL, &random);
      assert_string_equal(backend_of(solver), "blocks");
      solver->ops->destroy(solver);
    }
  free_matrix(&m);
}

/// One block; those that are too small or too large are left to KLU, and so is a front that is.
static void test_one_block(void **state) {
  (void)state;
  uint64_t random = 8;
  matrix m = make_matrix();
  for (int w = 1; w <= 26; ++w) {
    asi_solver *solver = NULL;
    set_blocks(&m, 1, &w, &random);
    fill_blocks(&m, 3.0, &random);
    find_pattern(&m);
    assert_int_equal(create(&m, &solver), AS_OK);
    assert_int_equal(solver != NULL, w >= 3 && w <= 24);
    if (solver == NULL) continue;
    must_agree("one block", &m, solver, NULL, &random);
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

/// A hub that is eliminated before all that it touches: a front of 48000 unknowns, whose places an int
/// cannot count.
static void test_huge_front(void **state) {
  (void)state;
  enum { W = 24, BLOCKS = 2000, N = W * BLOCKS };
  int *col_start = take(N + 1, sizeof(int)), *row = take(3 * (size_t)N, sizeof(int)), k = 0;
  int *order = take(N, sizeof(int)), *first = take(BLOCKS + 1, sizeof(int));
  for (int j = 0; j < N; ++j) {
    order[j] = j;
    if (j > 0) row[k++] = 0;
    row[k++] = j;
    for (int i = j + 1; i < N && j == 0; ++i) row[k++] = i;
    col_start[j + 1] = k;
  }
  for (int i = 0; i <= BLOCKS; ++i) first[i] = W * i;
  const asi_elimination e = {order, first, BLOCKS};
  asi_solver *solver = NULL;
  as_error error;
  stop_if(asi_frontal_create(N, col_start, row, &e, &solver, &error), &error);
  assert_null(solver);
  free(col_start);
  free(row);
  free(order);
  free(first);
}

// ---- mechanisms: bodies with masses, joints without a diagonal ----------------------------------------

/// A chain of bodies, each held by the one before with three rows, eliminated from its end: body, joint, ...
/// Bodies have mass m. With `twice` the last joint has three more rows, which are sums of the others.
static void make_mechanism(matrix *m, int bodies, double mass, bool twice, uint64_t *random) {
  int sizes[MAX_BLOCKS] = {0}, n = 0;
  for (int i = 0; i < bodies; ++i) {
    sizes[n++] = 6;
    sizes[n++] = i == 0 && twice ? 6 : 3;
  }
  set_blocks(m, n, sizes, random);
  for (int i = 0; i < bodies; ++i)
    for (int k = 0; k < (i + 1 < bodies ? 12 : 6); ++k) {
      const int joint = m->first[2 * i + 1];
      const int body = m->first[k < 6 ? 2 * i : 2 * i + 2] + k % 6; // this one and the next
      double b[6];
      for (int row = 0; row < 3; ++row) b[row] = random_number(random);
      for (int row = 3; row < 6; ++row) b[row] = 0.7 * b[row - 3] - 1.3 * b[(row + 1) % 3];
      if (k < 6) *entry(m, body, body) = mass * (1.0 + 0.3 * random_number(random));
      for (int row = 0; row < sizes[2 * i + 1]; ++row)
        *entry(m, joint + row, body) = *entry(m, body, joint + row) = b[row];
    }
}

/// Multipliers are measured in units of the mass.
static void set_units(const matrix *m, double mass, double *unit) {
  for (int i = 0; i < m->n_blocks; ++i)
    for (int k = m->first[i]; k < m->first[i + 1]; ++k) unit[m->order[k]] = i % 2 == 0 ? 1.0 : mass;
}

static void test_mechanisms(void **state) {
  (void)state;
  uint64_t random = 9;
  matrix m = make_matrix();
  for (int k = 0; k < 20; ++k) {
    const double mass = pow(10.0, k - 10);
    double unit[MAX] = {0};
    make_mechanism(&m, 8, mass, false, &random);
    set_units(&m, mass, unit);
    asi_solver *solver = solver_of(&m);
    must_agree("mechanism", &m, solver, unit, &random);
    assert_string_equal(backend_of(solver), "blocks");
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

/// Adds a ball joint's entries for one of its bodies: positions by a diagonal, rotations by a full matrix.
static void hold(matrix *m, int joint, int body, double sign, uint64_t *random) {
  for (int i = 0; i < 3; ++i) {
    const int row = m->first[joint] + i, x = m->first[body] + i;
    *entry(m, row, x) = *entry(m, x, row) = sign;
    for (int j = 0; j < 3; ++j) {
      const int turn = m->first[body] + 3 + j;
      *entry(m, row, turn) = random_number(random);
      *entry(m, turn, row) = *entry(m, row, turn) * (1.0 + 1e-3 * random_number(random));
    }
  }
}

/// Bodies with a mass and a full 3 x 3 inertia, all of them eliminated before the joints, each joint between two of
/// them or one and the ground; loops have some joints more.
static void make_balls(matrix *m, shape kind, int bodies, double mass, uint64_t *random) {
  int sizes[MAX_BLOCKS], joints = bodies + (kind == LOOPS ? bodies / 4 : 0);
  for (int i = 0; i < bodies + joints; ++i) sizes[i] = i < bodies ? 6 : 3;
  set_blocks(m, bodies + joints, sizes, random);
  for (int i = 0; i < bodies; ++i)
    for (int j = 0; j < 3; ++j) {
      const int x = m->first[i] + j, turn = m->first[i] + 3;
      *entry(m, x, x) = mass;
      for (int k = 0; k < 3; ++k)
        *entry(m, turn + j, turn + k) = mass * ((j == k ? 1.0 : 0.0) + 0.1 * random_number(random));
    }
  for (int i = 0; i < joints; ++i) {
    const int body = i % bodies;
    int other = body - 1; // -1: the ground
    if (kind == STAR && body > 0) other = 0;
    if (kind == TREE && body > 0) other = random_below(random, body);
    if (i >= bodies) other = (body + bodies / 2) % bodies;
    hold(m, bodies + i, body, 1.0, random);
    if (other >= 0) hold(m, bodies + i, other, -1.0, random);
  }
}

/// Bodies that come first fall apart into single unknowns and rotations; in a chain all that they leave goes straight
/// to where it belongs.
static void test_bodies_first(void **state) {
  (void)state;
  uint64_t random = 20;
  matrix m = make_matrix();
  for (int k = 0; k < 60; ++k) {
    const shape kind = (shape)(k % SHAPES);
    const int bodies = 2 + random_below(&random, kind == STAR ? 8 : 30);
    const double mass = pow(10.0, 4.0 * random_number(&random));
    double unit[MAX] = {0};
    make_balls(&m, kind, bodies, mass, &random);
    for (int i = 0; i < m.n; ++i) unit[m.order[i]] = i < 6 * bodies ? 1.0 : mass;
    asi_solver *solver = solver_of(&m);
    must_agree(shape_names[kind], &m, solver, unit, &random);
    assert_string_equal(backend_of(solver), "blocks");
    asi_fronts fronts;
    as_error error;
    const asi_elimination e = {m.order, m.first, m.n_blocks};
    stop_if(asi_fronts_init(&fronts, m.n, m.col_start, m.row, &e, &error), &error);
    if (kind != STAR) assert_true(fronts.n_singles > 0 && fronts.n_singles <= 3 * bodies);
    if (kind == CHAIN) {
      assert_int_equal(fronts.n_singles, 3 * bodies);
      assert_int_equal(fronts.n_stack, 0);
      assert_true(fronts.largest <= 9);
    }
    asi_fronts_free(&fronts);
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

static int block_at(const matrix *m, int place) {
  int block = 0;
  while (m->first[block + 1] <= place) ++block;
  return block;
}

/// Three pivots whose rows are almost parallel are not taken at once: that would cost the digits by which they are.
static void test_flat_pivots(void **state) {
  (void)state;
  uint64_t random = 21;
  matrix m = make_matrix();
  const int sizes[] = {3, 3, 3, 3, 6};
  for (int k = 0; k < 60; ++k) {
    double b[MAX] = {0}, x[MAX] = {0}, residual[MAX] = {0}, magnitude[MAX] = {0}, size[MAX] = {0};
    const double flat = pow(10.0, -1.0 - k % 5);
    int culprit = 0;
    set_blocks(&m, 5, sizes, &random);
    for (int i = 0; i < 4; ++i) couple(&m, i, i + 1);
    fill_blocks(&m, 3.0, &random);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 9; ++j) {
        const int row = j / 3, column = j % 3;
        double *const a = entry(&m, m.first[i] + row, m.first[i] + column);
        *a = row == column ? 1.0 : row < column ? random_number(&random) / flat : 0.0;
      }
    for (int i = 0; i < m.n; ++i) // little is coupled, so nothing grows
      for (int j = 0; j < m.n; ++j)
        if (block_at(&m, i) != block_at(&m, j)) *entry(&m, i, j) *= flat * flat;
    asi_solver *solver = solver_of(&m);
    for (int j = 0; j < m.n; ++j) { // whose solution is about 1
      const double one = random_number(&random);
      for (int i = 0; i < m.n; ++i) b[i] += m.a[i * MAX + j] * one;
    }
    for (int i = 0; i < m.n; ++i)
      for (int j = 0; j < m.n; ++j) size[i] = fmax(size[i], fabs(m.a[i * MAX + j]));
    for (int again = 0; again < 2; ++again) { // the second time such pivots are no surprise
      memcpy(x, b, sizeof x);
      assert_int_equal(solver->ops->factor(solver, values_of(&m), &culprit), AS_OK);
      assert_int_equal(solver->ops->solve(solver, x), AS_OK);
    }
    const asi_equations e = {m.n, m.col_start, m.row, m.value, size, b};
    if (!asi_satisfies(&e, x, 1e-13, 1e-19, residual, magnitude))
      fail_msg("flat by %g: not solved", flat);
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

/// Whatever the masses, rows that depend on each other are found, and named.
static void test_singular(void **state) {
  (void)state;
  uint64_t random = 10;
  matrix m = make_matrix();
  for (int k = 0; k < 20; ++k) {
    int culprit = -1, place = 0;
    make_mechanism(&m, 6, pow(10.0, k - 10), true, &random);
    asi_solver *solver = solver_of(&m);
    const as_status status = solver->ops->factor(solver, values_of(&m), &culprit);
    if (status != AS_ERR_SINGULAR) fail_msg("mass 1e%d: %s", k - 10, as_status_name(status));
    while (place < m.n && m.order[place] != culprit) ++place;
    assert_in_range(place, m.first[1], m.first[2] - 1);
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
}

// ---- KLU, and back -------------------------------------------------------------------------------------

/// Makes the first block singular; the matrix is not: what it is coupled to holds it.
static void spoil_block(matrix *m) {
  for (int i = m->first[0]; i < m->first[1]; ++i) {
    for (int j = m->first[0]; j < m->first[1]; ++j) *entry(m, i, j) = 0.0;
    *entry(m, i, m->first[1] + i) = *entry(m, m->first[1] + i, i) = 2.0 + i;
  }
}

static void test_pivots_in_block(void **state) {
  (void)state;
  uint64_t random = 11;
  matrix m = make_matrix();
  const int sizes[] = {6, 6, 5, 6, 3, 6};
  set_blocks(&m, 6, sizes, &random);
  for (int i = 0; i < 5; ++i) couple(&m, i, i + 1);
  fill_blocks(&m, 9.0, &random);
  // Rows of blocks moved around: no pivot is on its diagonal.
  for (int b = 0; b < 6; ++b)
    for (int i = m.first[b]; i < m.first[b + 1]; ++i)
      for (int j = m.first[b]; j < m.first[b + 1]; ++j)
        *entry(&m, i, j) = i + 1 == j || (i + 1 == m.first[b + 1] && j == m.first[b]) ? 9.0 : 0.0;
  asi_solver *solver = solver_of(&m);
  must_agree("pivots off the diagonal", &m, solver, NULL, &random);
  assert_string_equal(backend_of(solver), "blocks");
  solver->ops->destroy(solver);
  free_matrix(&m);
}

/// Two matrices over one pattern: blocks do for one, not for the other.
typedef struct pair_of_matrices {
  matrix good, bad;
} pair_of_matrices;

static pair_of_matrices make_pair(uint64_t *random) {
  pair_of_matrices p = {make_matrix(), make_matrix()};
  const int sizes[] = {6, 6, 5, 6, 4, 7, 6, 6, 6}; // enough for KLU
  set_blocks(&p.good, 9, sizes, random);
  for (int i = 0; i < 8; ++i) couple(&p.good, i, i + 1);
  fill_blocks(&p.good, 9.0, random);
  const matrix own = p.bad;
  p.bad = p.good;
  p.bad.row = own.row;
  p.bad.value = own.value;
  p.bad.a = own.a;
  memcpy(p.bad.a, p.good.a, (size_t)MAX * MAX * sizeof(double));
  for (int i = 0; i < 6; ++i) // over one pattern
    if (*entry(&p.good, i, 6 + i) == 0.0 || *entry(&p.good, 6 + i, i) == 0.0)
      *entry(&p.good, i, 6 + i) = *entry(&p.good, 6 + i, i) = 0.5;
  spoil_block(&p.bad);
  find_pattern(&p.good);
  memcpy(p.bad.col_start, p.good.col_start, sizeof p.bad.col_start);
  memcpy(p.bad.row, p.good.row, (size_t)MAX * MAX * sizeof(int));
  return p;
}

static void free_pair(pair_of_matrices *p) {
  free_matrix(&p->good);
  free_matrix(&p->bad);
}

/// KLU takes over at once, and only for the matrix that needs it.
static void test_klu_and_back(void **state) {
  (void)state;
  uint64_t random = 12;
  pair_of_matrices p = make_pair(&random);
  asi_solver *solver = solver_of(&p.good);
  for (int round = 0; round < 8; ++round) {
    must_agree("good", &p.good, solver, NULL, &random);
    assert_string_equal(backend_of(solver), "blocks");
    for (int i = 0; i < round; ++i) {
      must_agree("bad", &p.bad, solver, NULL, &random);
      assert_string_equal(backend_of(solver), "KLU");
    }
  }
  assert_int_equal(count_of(solver), 1 + 28);
  solver->ops->destroy(solver);
  free_pair(&p);
}

/// A pivot that is smaller and smaller beside what it is coupled to: solutions as they are, refined ones, then those of KLU, each
/// right to the digits that dense LU has.
static void test_small_pivots(void **state) {
  (void)state;
  uint64_t random = 17;
  pair_of_matrices p = make_pair(&random);
  asi_solver *solver = solver_of(&p.good);
  long by_blocks = 0, by_klu = 0;
  must_agree("good", &p.good, solver, NULL, &random);
  for (int j = 1; j < 6; ++j) *entry(&p.good, 0, j) = *entry(&p.good, j, 0) = 0.0;
  *entry(&p.good, 0, 6) = *entry(&p.good, 6, 0) = 9.0;
  for (int k = 0; k < 64; ++k) {
    const long before = count_of(solver);
    *entry(&p.good, 0, 0) = pow(10.0, -0.25 * k);
    must_agree("small pivot", &p.good, solver, NULL, &random);
    ++*(count_of(solver) > before ? &by_klu : &by_blocks);
    if (k < 40 && count_of(solver) > before) fail_msg("1e%g: KLU", -0.25 * k);
  }
  print_message("%ld matrices solved by blocks, %ld by KLU\n", by_blocks, by_klu);
  assert_true(by_blocks > 40 && by_klu > 5);
  solver->ops->destroy(solver);
  free_pair(&p);
}

/// KLU keeps the pivots of the matrix before; entries do not grow, but the first solution is far off in a small row: then, and only
/// then, it searches for pivots again.
static void test_klu_first_solution(void **state) {
  (void)state;
  enum { N = 3 };
  const int col_start[] = {0, 3, 6, 9}, row[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  double before[] = {1, -0.1, -0.1, 0, 1, 0.1, -0.1, 0.1, 1};
  double after[] = {1, -1e-6, 0, 1e-12, 1e-8, 1, -1e-8, 1e-6, 0};
  const struct {
    double b[N], x[N];
    int anew;
  } cases[] = {
      {{1, -1e-4, 1e-12}, {0.9999990099999901, 1e-12, -99.00000099000003}, 1},
      {{1 + 1e-12 - 1e-8, 1e-8, 1}, {1, 1, 1}, 0},
  };
  for (int i = 0; i < 2; ++i) {
    as_error error;
    asi_solver *solver = NULL;
    asi_solver_info info[2];
    int culprit;
    double x[N] = {1, 1, 1};
    stop_if(asi_sparse_lu_create(N, col_start, row, NULL, ASI_ORDER_NATURAL, &solver, &error),
            &error);
    assert_int_equal(solver->ops->factor(solver, before, &culprit), AS_OK);
    assert_int_equal(solver->ops->solve(solver, x), AS_OK);
    assert_int_equal(solver->ops->factor(solver, after, &culprit), AS_OK);
    solver->ops->info(solver, &info[0]);
    assert_int_equal(info[0].full_factorizations, 1);
    memcpy(x, cases[i].b, sizeof x);
    assert_int_equal(solver->ops->solve(solver, x), AS_OK);
    solver->ops->info(solver, &info[1]);
    for (int k = 0; k < N; ++k) assert_true(fabs(x[k] / cases[i].x[k] - 1.0) < 1e-9);
    assert_int_equal(info[1].full_factorizations, 1 + cases[i].anew);
    solver->ops->destroy(solver);
  }
}

/// The same where the first right side leaves out the part with that pivot, as a part at rest does: that such a
/// solution is good says nothing about the next, and what comes before it changes nothing.
static void test_part_at_rest(void **state) {
  (void)state;
  uint64_t random = 20;
  matrix m = make_matrix();
  const int sizes[] = {6, 6, 6, 6};
  set_blocks(&m, 4, sizes, &random);
  couple(&m, 0, 1);
  couple(&m, 2, 3);
  fill_blocks(&m, 9.0, &random);
  for (int j = 1; j < 6; ++j) *entry(&m, 0, j) = *entry(&m, j, 0) = 0.0;
  *entry(&m, 0, 6) = *entry(&m, 6, 0) = 9.0;
  for (int k = 0; k < 48; ++k) {
    *entry(&m, 0, 0) = pow(10.0, -0.25 * k);
    asi_solver *solver = solver_of(&m), *fresh = solver_of(&m);
    double b[MAX] = {0}, x[2][MAX];
    int culprit = 0;
    assert_int_equal(solver->ops->factor(solver, values_of(&m), &culprit), AS_OK);
    assert_int_equal(fresh->ops->factor(fresh, m.value, &culprit), AS_OK);
    for (int i = 12; i < 24; ++i) b[m.order[i]] = random_number(&random);
    assert_int_equal(solver->ops->solve(solver, b), AS_OK);
    for (int i = 0; i < m.n; ++i) x[0][i] = x[1][i] = random_number(&random);
    assert_int_equal(solver->ops->solve(solver, x[0]), AS_OK);
    assert_int_equal(fresh->ops->solve(fresh, x[1]), AS_OK);
    assert_memory_equal(x[0], x[1], (size_t)m.n * sizeof(double));
    must_agree("moves", &m, solver, NULL, &random);
    solver->ops->destroy(solver);
    fresh->ops->destroy(fresh);
  }
  free_matrix(&m);
}

/// Changes a matrix over its pattern as no machine should: an entry, it and its mirror image, a diagonal, a row
/// or a row with its column, by up to 10^13.
static void spoil(matrix *m, int how, uint64_t *random) {
  const double factor = pow(10.0, 13.0 * random_number(random));
  const int column = random_below(random, m->n);
  const int first = m->col_start[column], count = m->col_start[column + 1] - first;
  const int row = how == 2 ? column : m->row[first + random_below(random, count)];
  if (how <= 2) m->a[row * MAX + column] *= factor;
  if (how == 1) m->a[column * MAX + row] *= factor;
  for (int j = 0; j < m->n && how > 2; ++j) {
    m->a[row * MAX + j] *= factor;
    if (how == 4) m->a[j * MAX + row] *= factor;
  }
}

/// Matrices that change out of all proportion: a solution by blocks satisfies the equations, whether the solver
/// looked at it or not.
static void test_growth(void **state) {
  (void)state;
  uint64_t random = 18;
  matrix m = make_matrix();
  int kept = 0, late = 0;
  double b[MAX] = {0}, x[MAX] = {0}, residual[MAX] = {0}, magnitude[MAX] = {0}, size[MAX] = {0};
  for (int k = 0; k < 1500; ++k) {
    if (k % 2 == 0) random_blocks(&m, (shape)(k / 2 % SHAPES), &random);
    if (k % 2 == 0) fill_blocks(&m, 6.0, &random);
    if (k % 4 == 1) make_mechanism(&m, 6, pow(10.0, 3.0 * random_number(&random)), false, &random);
    if (k % 4 == 3)
      make_balls(&m, (shape)(k / 4 % SHAPES), 8, pow(10.0, 3.0 * random_number(&random)), &random);
    asi_solver *solver = solver_of(&m);
    must_agree("at first", &m, solver, NULL, &random);
    for (int i = 0; i < 1 + k % 3; ++i) spoil(&m, (k + i) / 2 % 5, &random);
    for (int i = 0; i < m.n; ++i) {
      b[i] = random_number(&random);
      size[i] = 0.0;
      for (int j = 0; j < m.n; ++j) size[i] = fmax(size[i], fabs(m.a[i * MAX + j]));
    }
    int culprit = 0;
    const as_status status = solver->ops->factor(solver, values_of(&m), &culprit);
    const bool blocks = strcmp(backend_of(solver), "blocks") == 0;
    const long before = count_of(solver);
    memcpy(x, b, sizeof x);
    if (status == AS_OK && solver->ops->solve(solver, x) == AS_OK) {
      const bool still = blocks && count_of(solver) == before;
      const asi_equations e = {m.n, m.col_start, m.row, m.value, size, b};
      if (still && !asi_satisfies(&e, x, 1e-10, 1e-15, residual, magnitude))
        fail_msg("matrix %d is not solved", k);
      kept += still;
      late += blocks && !still;
    }
    solver->ops->destroy(solver);
  }
  print_message("%d matrices solved by blocks, %d given up after a solution\n", kept, late);
  assert_true(kept > 1000 && late > 0);
  free_matrix(&m);
}

/// Numbers that are none do no harm to the matrices after them.
static void test_not_numbers(void **state) {
  (void)state;
  uint64_t random = 13;
  const double none[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e308};
  pair_of_matrices p = make_pair(&random);
  for (int k = 0; k < 4; ++k)
    for (int place = 0; place < p.good.n; place += 3) {
      asi_solver *solver = solver_of(&p.good);
      double b[MAX] = {0};
      int culprit = 0;
      b[0] = 1.0;
      values_of(&p.good)[p.good.col_start[place]] = none[k];
      if (solver->ops->factor(solver, p.good.value, &culprit) == AS_OK &&
          solver->ops->solve(solver, b) == AS_OK && k == 0) {
        bool seen = false;
        for (int i = 0; i < p.good.n; ++i) seen = seen || isnan(b[i]);
        assert_true(seen);
      }
      must_agree("after it", &p.good, solver, NULL, &random);
      must_agree("after it", &p.good, solver, NULL, &random);
      assert_string_equal(backend_of(solver), "blocks");
      solver->ops->destroy(solver);
    }
  free_pair(&p);
}

/// Matrices far from the one whose sizes are known: entries a million times larger or smaller, a row and a
/// column that become those of a constraint that does not hold.
static void test_changes(void **state) {
  (void)state;
  uint64_t random = 14;
  matrix m = make_matrix(), start = make_matrix();
  for (int k = 0; k < 12; ++k) {
    const double mass = k % 2 == 0 ? 1e-3 : 1e3, factor = k % 4 < 2 ? 1e6 : 1e-6;
    double unit[MAX] = {0};
    make_mechanism(&m, 8, mass, false, &random);
    asi_solver *solver = solver_of(&m);
    set_units(&m, mass, unit);
    must_agree("at first", &m, solver, unit, &random);
    memcpy(start.a, m.a, (size_t)MAX * MAX * sizeof(double));
    for (int i = 0; i < m.n; ++i) // bodies become stiff or soft
      m.a[i * MAX + i] *= factor;
    set_units(&m, factor * mass, unit);
    must_agree("stiff", &m, solver, unit, &random);
    set_units(&m, mass, unit);
    memcpy(m.a, start.a, (size_t)MAX * MAX * sizeof(double));
    const int joint = m.first[1 + 2 * (k % 7)];
    for (int i = 0; i < m.n; ++i) *entry(&m, i, joint) = *entry(&m, joint, i) = 0.0;
    *entry(&m, joint, joint) = 1.0;
    must_agree("released", &m, solver, unit, &random);
    memcpy(m.a, start.a, (size_t)MAX * MAX * sizeof(double));
    must_agree("held again", &m, solver, unit, &random);
    assert_string_equal(backend_of(solver), "blocks");
    solver->ops->destroy(solver);
  }
  free_matrix(&m);
  free_matrix(&start);
}

// ---- memory and saved factors --------------------------------------------------------------------------

/// Create takes all memory, or says that there is none and gives back what it took.
static void test_memory(void **state) {
  (void)state;
  uint64_t random = 15;
  pair_of_matrices p = make_pair(&random);
  asi_solver *solver = NULL;
  const long before = memory.live;
  long n = 1;
  for (;; ++n) {
    memory.fail_at = n;
    const as_status status = create(&p.good, &solver);
    memory.fail_at = 0;
    if (status == AS_OK) break;
    assert_int_equal(status, AS_ERR_MEMORY);
    assert_null(solver);
    assert_int_equal(memory.live, before);
  }
  assert_true(n > 20);
  double b[MAX] = {0};
  int culprit = 0;
  const long taken = memory.taken;
  for (int i = 0; i < 5; ++i) {
    assert_int_equal(solver->ops->factor(solver, values_of(&p.good), &culprit), AS_OK);
    assert_int_equal(solver->ops->solve(solver, b), AS_OK);
    assert_int_equal(solver->ops->solve(solver, b), AS_OK);
  }
  assert_int_equal(memory.taken, taken);
  // KLU needs some of its own: without it there are no factors, and there is nothing to save.
  for (long fail = 1; fail <= 8; ++fail) {
    asi_archive a = {.mode = ASI_ARCHIVE_COUNT};
    memory.fail_at = fail;
    assert_int_equal(solver->ops->factor(solver, values_of(&p.bad), &culprit), AS_ERR_MEMORY);
    memory.fail_at = 0;
    solver->ops->serialize(solver, p.bad.value, &a);
    assert_false(a.damaged);
    must_agree("memory is back", &p.bad, solver, NULL, &random);
    for (int i = 0; strcmp(backend_of(solver), "blocks") != 0; ++i) {
      assert_true(i < 2000);
      must_agree("good", &p.good, solver, NULL, &random);
    }
  }
  solver->ops->destroy(solver);
  assert_int_equal(memory.live, before);
  free_pair(&p);
}

/// Hands factors to another solver and compares what both do from there on, to the last bit.
static void must_continue(pair_of_matrices *p, asi_solver *solver, const matrix *last) {
  static unsigned char data[1 << 18];
  double value[MAX * 20];
  asi_archive out = {.mode = ASI_ARCHIVE_WRITE, .data = data, .size = sizeof data};
  memcpy(value, last->value, (size_t)p->good.col_start[p->good.n] * sizeof(double));
  solver->ops->serialize(solver, value, &out);
  assert_false(out.damaged);
  asi_solver *other = solver_of(&p->good);
  asi_archive in = {.mode = ASI_ARCHIVE_READ, .data = data, .size = out.used};
  other->ops->serialize(other, value, &in);
  assert_false(in.damaged);
  assert_int_equal(in.used, out.used);
  assert_string_equal(backend_of(other), backend_of(solver));
  asi_solver *const both[] = {solver, other};
  double x[2][MAX] = {{0}};
  for (int i = 0; i < p->good.n; ++i) x[0][i] = x[1][i] = 1.0 + i;
  for (int s = 0; s < 2; ++s) assert_int_equal(both[s]->ops->solve(both[s], x[s]), AS_OK);
  assert_memory_equal(x[0], x[1], sizeof x[0]);
  other->ops->destroy(other);
}

static void test_saved(void **state) {
  (void)state;
  uint64_t random = 16;
  pair_of_matrices p = make_pair(&random);
  asi_solver *solver = solver_of(&p.good);
  for (int i = 0; i < 16; ++i) { // by blocks, by KLU, by blocks
    matrix *m = i % 8 < 2 || i % 8 > 4 ? &p.good : &p.bad;
    double b[MAX] = {0};
    int culprit = 0;
    for (int k = 0; k < p.good.n; ++k) {
      double *diagonal = entry(m, k, k);
      *diagonal *= 1.0 + 0.1 * random_number(&random);
      b[k] = random_number(&random);
    }
    assert_int_equal(solver->ops->factor(solver, values_of(m), &culprit), AS_OK);
    assert_int_equal(solver->ops->solve(solver, b), AS_OK);
    must_continue(&p, solver, m);
  }
  solver->ops->destroy(solver);
  free_pair(&p);
}

/// One that forgets is like a new one, to the last bit, whoever has factorized before and does so then.
static void test_forgets(void **state) {
  (void)state;
  uint64_t random = 23;
  pair_of_matrices p = make_pair(&random);
  asi_solver *used = solver_of(&p.good);
  for (int i = 0; i < 32; ++i) {
    matrix *m = i & 4 ? &p.good : &p.bad; // several times the same one
    asi_solver *const both[] = {used, solver_of(&p.good)};
    double x[2][MAX] = {{0}};
    used->ops->forget(used);
    for (int k = 0; k < p.good.n; ++k)
      for (int j = 0; j < p.good.n; ++j) *entry(m, k, j) *= 1.0 + 0.5 * random_number(&random);
    for (int k = 0; k < p.good.n; ++k) x[0][k] = x[1][k] = random_number(&random);
    for (int s = 0; s < 2; ++s) {
      int culprit = 0;
      assert_int_equal(both[s]->ops->factor(both[s], values_of(m), &culprit), AS_OK);
      assert_int_equal(both[s]->ops->solve(both[s], x[s]), AS_OK);
    }
    assert_string_equal(backend_of(used), backend_of(both[1]));
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    both[1]->ops->destroy(both[1]);
    if (i % 3 == 0) must_agree("between", i & 1 ? &p.bad : &p.good, used, NULL, &random);
  }
  used->ops->destroy(used);
  free_pair(&p);
}

/// A front whose pivots were searched, and need not be from then on: factors loaded are those that were saved, not
/// those that the next factorization will make.
static void test_saved_exchange(void **state) {
  (void)state;
  uint64_t random = 19;
  pair_of_matrices p = make_pair(&random);
  const double block[3][3] = {{9.0, 9.0, 0.0}, {9.0, 9.001, 1.0}, {0.0, 2e-3, 9.0}};
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      if (i < 3 || j < 3) *entry(&p.good, i, j) = i < 3 && j < 3 ? block[i][j] : 0.0;
  asi_solver *solver = solver_of(&p.good);
  for (int i = 0; i < 3; ++i) {
    double b[MAX] = {0};
    int culprit = 0;
    for (int k = 0; k < p.good.n; ++k) b[k] = random_number(&random);
    assert_int_equal(solver->ops->factor(solver, values_of(&p.good), &culprit), AS_OK);
    assert_int_equal(solver->ops->solve(solver, b), AS_OK);
    assert_string_equal(backend_of(solver), "blocks");
    must_continue(&p, solver, &p.good);
  }
  solver->ops->destroy(solver);
  free_pair(&p);
}

// ---- threads ---------------------------------------------------------------------------------------------

/// Threads make the same of a matrix, to the last bit, of one out of all proportion, too: which pivots are small, and whether solutions
/// hold, are found by parts.
static void test_threads(void **state) {
  enum { MATRICES = 400 };
  (void)state;
  matrix m = make_matrix();
  uint64_t random = 33;
  int refused = 0, others = 0;
  asi_pool *pool = NULL;
  as_error error;
  stop_if(asi_pool_create(3, &pool, &error), &error);
  for (int k = 0; k < MATRICES; ++k) {
    asi_solver *solver[2];
    double b[MAX] = {0}, x[2][MAX];
    int culprit[2] = {0, 0};
    as_status status[2];
    random_blocks(&m, (shape)(k % SHAPES), &random);
    fill_blocks(&m, k % 3 == 0 ? 12.0 : 1.0, &random);
    for (int i = 0; i < MAX * MAX; ++i)
      if (m.a[i] != 0.0) m.a[i] *= pow(10.0, (double)(k % 7) * random_number(&random));
    for (int t = 0; t < 2; ++t) solver[t] = solver_of(&m);
    stop_if(solver[1]->ops->use_threads(solver[1], pool, &error), &error);
    for (int t = 0; t < 2; ++t)
      status[t] = solver[t]->ops->factor(solver[t], values_of(&m), &culprit[t]);
    assert_int_equal(status[0], status[1]);
    assert_int_equal(culprit[0], culprit[1]);
    refused += status[0] != AS_OK;
    others += status[0] == AS_OK && strcmp(backend_of(solver[0]), "blocks") != 0;
    for (int again = 0; again < 3 && status[0] == AS_OK; ++again) {
      for (int i = 0; i < m.n; ++i) b[i] = random_number(&random);
      for (int t = 0; t < 2; ++t) {
        memcpy(x[t], b, sizeof b);
        status[t] = solver[t]->ops->solve(solver[t], x[t]);
      }
      assert_int_equal(status[0], status[1]);
      if (memcmp(x[0], x[1], (size_t)m.n * sizeof(double)) != 0)
        fail_msg("%s, matrix %d: other bits with threads", shape_names[k % SHAPES], k);
    }
    assert_string_equal(backend_of(solver[0]), backend_of(solver[1]));
    for (int t = 0; t < 2; ++t) solver[t]->ops->destroy(solver[t]);
  }
  print_message("%d of %d matrices are singular, %d go to another solver\n", refused, MATRICES,
                others);
  assert_true(refused + others < MATRICES / 2);
  asi_pool_destroy(pool);
  free_matrix(&m);
}

// ---- fill ------------------------------------------------------------------------------------------------

/// On a lattice of loops the factors are at most an eighth larger than KLU's with the same order, which has to
/// leave the diagonal for pivots; their operations are counted as KLU counts them.
static void test_lattice(void **state) {
  (void)state;
  test_problem *p = loops_lattice(32, false);
  as_problem *problem = NULL;
  as_integrator *s = NULL;
  as_error error = {0};
  as_integrator_def def = as_default_integrator_def();
  const as_initial initial = {.q = p->q0, .v = p->v0};
  def.method = AS_METHOD_INDEX3;
  stop_if(as_problem_create(&p->def, &problem, &error), &error);
  stop_if(as_integrator_create(problem, &def, &s, &error), &error);
  stop_if(as_integrator_start(s, &initial, NULL, &error), &error);
  stop_if(as_integrator_step(s, 1e-3, &error), &error);
  asi_solver_info blocks, klu;
  s->stepper.step.solver->ops->info(s->stepper.step.solver, &blocks);
  assert_string_equal(blocks.backend, "blocks");
  asi_elimination graph;
  asi_solver *solver = NULL;
  int culprit = 0;
  const int n = s->stepper.step.size, *col_start = s->stepper.step.pattern.col_start,
            *row = s->stepper.step.pattern.row;
  stop_if(asi_order_by_graph(problem, n, &graph, &error), &error);
  stop_if(asi_sparse_lu_create(n, col_start, row, graph.order, ASI_ORDER_GIVEN, &solver, &error),
          &error);
  assert_int_equal(solver->ops->factor(solver, s->stepper.step.scaled, &culprit), AS_OK);
  solver->ops->info(solver, &klu);
  asi_fronts fronts;
  stop_if(asi_fronts_init(&fronts, n, col_start, row, &graph, &error), &error);
  print_message("fill %.0f, KLU's %.0f; operations %.3g, KLU's %.3g; largest front %d; stack %zu\n",
                blocks.fill, klu.fill, fronts.operations, klu.factor_operations, fronts.largest,
                fronts.n_stack);
  assert_true(blocks.fill <= 1.125 * klu.fill);
  assert_true(fronts.operations <= 1.2 * klu.factor_operations);
  assert_true(blocks.factor_operations < klu.factor_operations);
  assert_true(fronts.n_stack <= 4 * (size_t)fronts.largest * (size_t)fronts.largest);
  double *x = take((size_t)n, sizeof(double)), *y = take((size_t)n, sizeof(double)), off = 0.0;
  for (int i = 0; i < n; ++i) x[i] = y[i] = 1.0;
  assert_int_equal(solver->ops->solve(solver, x), AS_OK);
  assert_int_equal(s->stepper.step.solver->ops->solve(s->stepper.step.solver, y), AS_OK);
  const double size = asi_max_abs(x, n);
  for (int i = 0; i < n; ++i) off = asi_max_nan(off, fabs(x[i] - y[i]));
  assert_true(off <= 1e-9 * size);
  free(x);
  free(y);
  asi_fronts_free(&fronts);
  asi_elimination_free(&graph);
  solver->ops->destroy(solver);
  as_integrator_destroy(s);
  as_problem_destroy(problem);
  loops_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_dense),
      cmocka_unit_test(test_scales),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_one_block),
      cmocka_unit_test(test_huge_front),
      cmocka_unit_test(test_mechanisms),
      cmocka_unit_test(test_bodies_first),
      cmocka_unit_test(test_flat_pivots),
      cmocka_unit_test(test_singular),
      cmocka_unit_test(test_pivots_in_block),
      cmocka_unit_test(test_klu_and_back),
      cmocka_unit_test(test_small_pivots),
      cmocka_unit_test(test_klu_first_solution),
      cmocka_unit_test(test_not_numbers),
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_saved),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_lattice),
      cmocka_unit_test(test_growth),
      cmocka_unit_test(test_saved_exchange),
      cmocka_unit_test(test_part_at_rest),
      cmocka_unit_test(test_forgets),
  };
  return cmocka_run_group_tests_name("frontal", tests, NULL, NULL);
}
