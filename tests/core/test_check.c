/// The problem checker finds every planted fault and no other; detected patterns are the true ones.
///
/// Planted faults: in a made-up problem that has every block (below), one at a time; in a chain of 100
/// links, where many columns are looked at together. The memory test needs the linker's --wrap for
/// malloc, calloc, realloc and free, as test_alloc does, and is skipped without.
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
#include "core/kinematics/problem.h"
#include "linalg/matrix.h"
#include "problems/nonholonomic.h"
#include "problems/problems.h"

#include "../examples/chain/chain.c" // NOLINT(bugprone-suspicious-include)

#include "counting.h" // below it: `memory` is a name there, too

static void must_be_ok(const char *what, as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s: %s", what, as_status_name(status), error->message);
}

static as_status check_def_near(const as_problem_def *def, const as_check_def *how,
                                as_check_report *report, as_error *error) {
  as_problem *problem = NULL;
  must_be_ok("create", as_problem_create(def, &problem, error), error);
  const as_status status = as_problem_check(problem, how, report, error);
  as_problem_destroy(problem);
  return status;
}

// ---- what is right passes -------------------------------------------------------------------------

static double worst_of(const as_check_report *r) {
  double worst = fmax(r->constraint_rate, r->constraint_acceleration);
  worst = fmax(worst, fmax(r->nonholonomic_acceleration, fmax(r->mass_constant, r->scleronomic)));
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) worst = fmax(worst, r->block[block]);
  return worst; // fmax passes over NAN
}

static as_problem_def without_formulas(const as_problem_def *given) {
  as_problem_def def = *given;
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    def.block[block].source = AS_BLOCK_DIFFERENCED;
  def.jacobian = NULL;
  def.constraint_rate = def.constraint_acceleration = def.nonholonomic_acceleration = NULL;
  return def;
}

static void must_pass(const char *name, const as_problem_def *given, as_point near) {
  const as_problem_def defs[] = {*given, without_formulas(given)};
  for (int d = 0; d < 2; ++d) {
    double worst = 0.0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      as_check_def how = as_default_check_def();
      as_check_report report;
      as_error error;
      how.near = near;
      how.seed = seed;
      must_be_ok(name, check_def_near(&defs[d], &how, &report, &error), &error);
      assert_null(report.fault.what);
      worst = fmax(worst, worst_of(&report));
      // All that there is was compared.
      assert_true(report.block[AS_BLOCK_F_Q] >= 0.0 && report.block[AS_BLOCK_F_V] >= 0.0);
      assert_true((report.block[AS_BLOCK_G_Q] >= 0.0) == (given->n_lambda > 0));
      assert_true((report.block[AS_BLOCK_K_V] >= 0.0) == (given->n_psi > 0));
      assert_true((report.block[AS_BLOCK_MA_Q] >= 0.0) == !given->mass_constant);
    }
    print_message("%-26s %s: worst relative error %.1e\n", name, d ? "differenced" : "given",
                  worst);
    assert_true(worst <= 1e-7);
  }
}

static void test_problems_pass(void **state) {
  (void)state;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    must_pass(p->name, &p->def, (as_point){.t = p->t0, .q = p->q0, .v = p->v0});
  }
  for (int i = 0; i < nonholonomic_count(); ++i) {
    const nonholonomic_problem *p = nonholonomic_get(i);
    must_pass(p->name, &p->def, (as_point){.t = p->t0, .q = p->q0, .v = p->v0});
  }
}

/// A chain, stretched out; with damping, so that the diagonal of F_V is not zero.
typedef struct chain_subject {
  chain c;
  double *q;
  as_check_def how;
} chain_subject;

static void chain_setup(chain_subject *s, int n_links) {
  assert_true(chain_init(&s->c, n_links));
  s->c.damping = 0.1;
  s->q = malloc(7 * (size_t)n_links * sizeof(double));
  assert_non_null(s->q);
  chain_straight(&s->c, s->q);
  s->how = as_default_check_def();
  s->how.near.q = s->q;
}

static void chain_teardown(chain_subject *s) {
  free(s->q);
  chain_free(&s->c);
}

static void test_chain_passes(void **state) {
  (void)state;
  const int sizes[] = {1, 2, 100, 1000};
  for (int i = 0; i < 4; ++i) {
    chain_subject s;
    as_check_report report;
    as_error error;
    chain_setup(&s, sizes[i]);
    must_be_ok("chain", check_def_near(&s.c.def, &s.how, &report, &error), &error);
    print_message("chain of %d: worst relative error %.1e\n", sizes[i], worst_of(&report));
    chain_teardown(&s);
  }
}

// ---- a problem with every block -------------------------------------------------------------------

// Each function is a sum over the entries (i, j) of its blocks, w sin(z_j + i) with z the argument:
// the entry is w cos(z_j + i). Most of the entries are in the pattern. M is different:
// M_ij = w (2 + sin q_{(i+j) mod n}).

enum { N = 5, N_LAMBDA = 3, N_PSI = 2, N_X = 4, N_Y = 3, LARGEST = 5 };

typedef enum plant {
  PLANT_NOTHING,
  PLANT_SIGN,    ///< an entry, or a row of a function, has the wrong sign
  PLANT_MISSING, ///< an entry is in the pattern, but the callback leaves it out
  PLANT_OUTSIDE, ///< the pattern lacks the entry
  PLANT_OUTSIDE_DIFFERENCED,
  PLANT_STRAY, ///< the callback adds an entry outside the pattern
  PLANT_ZERO,  ///< the block is declared zero
  PLANT_CONSTRAINT_RATE,
  PLANT_CONSTRAINT_ACCELERATION,
  PLANT_NONHOLONOMIC_ACCELERATION,
} plant;

typedef struct made_up {
  plant fault;
  as_block block;
  int row, col;
  bool mass_moves; ///< with q
  bool time_in_g, time_in_k;
  int col_start[AS_BLOCK_COUNT][LARGEST + 1];
  int rows[AS_BLOCK_COUNT][LARGEST * LARGEST];
  as_problem_def def;
} made_up;

static const as_space_part made_up_space = {AS_SPACE_RN, N};

static int rows_of(as_block block) {
  static const int size[] = {N, N, N_LAMBDA, N_LAMBDA, N_PSI, N_X, N_Y};
  return size[asi_block_describe(block).function];
}

static int cols_of(as_block block) {
  static const int size[] = {N, N, N, N_LAMBDA, N_PSI, N_X, N_Y};
  return size[asi_block_describe(block).argument];
}

static bool has_entry(as_block block, int i, int j) {
  if (block == AS_BLOCK_GDOT_Q) block = AS_BLOCK_G_Q;
  if (block == AS_BLOCK_M || block == AS_BLOCK_MA_Q) return true;
  return (5 * i + 3 * j + i * j * (j + 1) + 2 * (int)block) % 7 < 5;
}

static double weight(as_block block, int i, int j) {
  return 0.5 + 0.1 * (double)((3 * i + 7 * j + 5 * (int)block) % 11);
}

static const double *argument(const as_point *at, as_block block) {
  const double *const all[] = {at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y};
  return all[asi_block_describe(block).argument];
}

static void add_function(const as_point *at, asi_function function, double *out) {
  for (int b = AS_BLOCK_F_Q; b < AS_BLOCK_COUNT; ++b) {
    const as_block block = (as_block)b;
    if (asi_block_describe(block).function != function) continue;
    for (int i = 0; i < rows_of(block); ++i)
      for (int j = 0; j < cols_of(block); ++j)
        if (has_entry(block, i, j)) out[i] += weight(block, i, j) * sin(argument(at, block)[j] + i);
  }
}

static double entry(const as_point *at, as_block block, int i, int j) {
  if (block == AS_BLOCK_MA_Q) { // M_ik v'_k for all k with (i + k) mod n = j
    const int k = (j - i + N) % N;
    return weight(AS_BLOCK_M, i, k) * cos(at->q[j]) * at->vdot[k];
  }
  if (block == AS_BLOCK_GDOT_Q) return -weight(AS_BLOCK_G_Q, i, j) * sin(at->q[j] + i) * at->v[j];
  return weight(block, i, j) * cos(argument(at, block)[j] + i);
}

static int made_up_mass(const as_point *at, as_matrix *m, void *user) {
  const made_up *p = user;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      as_matrix_add(m, i, j,
                    weight(AS_BLOCK_M, i, j) * (2.0 + p->mass_moves * sin(at->q[(i + j) % N])));
  return AS_DONE;
}

static int made_up_force(const as_point *at, double *out, void *user) {
  (void)user;
  memset(out, 0, N * sizeof(double));
  add_function(at, ASI_FN_F, out);
  return AS_DONE;
}

static int made_up_constraint(const as_point *at, double *out, void *user) {
  const made_up *p = user;
  memset(out, 0, N_LAMBDA * sizeof(double));
  add_function(at, ASI_FN_G, out);
  if (p->time_in_g) out[2] += sin(3.0 * at->t);
  return AS_DONE;
}

static int made_up_rate(const as_point *at, double *out, void *user) {
  const made_up *p = user;
  memset(out, 0, N_LAMBDA * sizeof(double));
  for (int i = 0; i < N_LAMBDA; ++i)
    for (int j = 0; j < N; ++j)
      if (has_entry(AS_BLOCK_G_Q, i, j)) out[i] += entry(at, AS_BLOCK_G_Q, i, j) * at->v[j];
  if (p->time_in_g) out[2] += 3.0 * cos(3.0 * at->t);
  if (p->fault == PLANT_CONSTRAINT_RATE) out[p->row] *= -1.0;
  return AS_DONE;
}

static int made_up_acceleration(const as_point *at, double *out, void *user) {
  const made_up *p = user;
  memset(out, 0, N_LAMBDA * sizeof(double));
  for (int i = 0; i < N_LAMBDA; ++i)
    for (int j = 0; j < N; ++j)
      if (has_entry(AS_BLOCK_G_Q, i, j)) out[i] += entry(at, AS_BLOCK_GDOT_Q, i, j) * at->v[j];
  if (p->time_in_g) out[2] -= 9.0 * sin(3.0 * at->t);
  if (p->fault == PLANT_CONSTRAINT_ACCELERATION) out[p->row] *= -1.0;
  return AS_DONE;
}

static int made_up_nonholonomic(const as_point *at, double *out, void *user) {
  const made_up *p = user;
  memset(out, 0, N_PSI * sizeof(double));
  add_function(at, ASI_FN_K, out);
  if (p->time_in_k) out[1] += sin(2.0 * at->t);
  return AS_DONE;
}

static int made_up_nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  const made_up *p = user;
  memset(out, 0, N_PSI * sizeof(double));
  for (int i = 0; i < N_PSI; ++i)
    for (int j = 0; j < N; ++j)
      if (has_entry(AS_BLOCK_K_Q, i, j)) out[i] += entry(at, AS_BLOCK_K_Q, i, j) * at->v[j];
  if (p->time_in_k) out[1] += 2.0 * cos(2.0 * at->t);
  if (p->fault == PLANT_NONHOLONOMIC_ACCELERATION) out[p->row] *= -1.0;
  return AS_DONE;
}

static int made_up_state_rate(const as_point *at, double *out, void *user) {
  (void)user;
  memset(out, 0, N_X * sizeof(double));
  add_function(at, ASI_FN_PHI, out);
  return AS_DONE;
}

static int made_up_output(const as_point *at, double *out, void *user) {
  (void)user;
  memset(out, 0, N_Y * sizeof(double));
  add_function(at, ASI_FN_CHI, out);
  return AS_DONE;
}

static int made_up_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks,
                            void *user) {
  const made_up *p = user;
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
    const as_block block = (as_block)b;
    if (!(wanted & AS_BLOCK_BIT(block))) continue;
    for (int i = 0; i < rows_of(block); ++i) {
      for (int j = 0; j < cols_of(block); ++j) {
        const bool here = p->block == block && p->row == i && p->col == j;
        if (here && (p->fault == PLANT_MISSING || p->fault == PLANT_OUTSIDE)) continue;
        if (!has_entry(block, i, j)) continue;
        as_matrix_add(&blocks[block], i, j,
                      entry(at, block, i, j) * (here && p->fault == PLANT_SIGN ? -1.0 : 1.0));
      }
    }
  }
  return AS_DONE;
}

/// The problem with a fault in it.
static void make_up(made_up *p, plant fault, as_block faulty, int row, int col) {
  *p = (made_up){.fault = fault,
                 .block = faulty,
                 .row = row,
                 .col = col,
                 .mass_moves = true,
                 .time_in_g = true,
                 .time_in_k = true,
                 .def = as_default_problem_def()};
  as_problem_def *def = &p->def;
  def->cookie = as_default_problem_def().cookie;
  def->parts = &made_up_space;
  def->n_parts = 1;
  def->n_lambda = N_LAMBDA;
  def->n_psi = N_PSI;
  def->n_x = N_X;
  def->n_y = N_Y;
  def->force_kind = AS_FORCE_GENERAL;
  def->mass = made_up_mass;
  def->force = made_up_force;
  def->constraint = made_up_constraint;
  def->constraint_rate = made_up_rate;
  def->constraint_acceleration = made_up_acceleration;
  def->nonholonomic = made_up_nonholonomic;
  def->nonholonomic_acceleration = made_up_nonholonomic_acceleration;
  def->state_rate = made_up_state_rate;
  def->output = made_up_output;
  def->jacobian = made_up_jacobian;
  def->user = p;
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
    const as_block block = (as_block)b;
    int count = 0;
    def->block[b].source = AS_BLOCK_GIVEN;
    for (int j = 0; j < cols_of(block); ++j) {
      for (int i = 0; i < rows_of(block); ++i) {
        const bool here = block == faulty && i == row && j == col;
        const bool leave =
            fault == PLANT_OUTSIDE || fault == PLANT_OUTSIDE_DIFFERENCED || fault == PLANT_STRAY;
        if (has_entry(block, i, j) && !(here && leave)) p->rows[b][count++] = i;
      }
      p->col_start[b][j + 1] = count;
    }
    def->block[b].pattern = (as_pattern){p->col_start[b], p->rows[b]};
  }
  if (fault == PLANT_OUTSIDE_DIFFERENCED) def->block[faulty].source = AS_BLOCK_DIFFERENCED;
  if (fault == PLANT_ZERO) def->block[faulty].source = AS_BLOCK_ZERO;
}

static const double made_up_q[N] = {0.3, -0.2, 0.5, 0.1, -0.4};

static as_check_def near_made_up(void) {
  as_check_def how = as_default_check_def();
  how.near = (as_point){.t = 0.7, .q = made_up_q};
  return how;
}

static void test_made_up_passes(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    made_up p;
    as_check_report report;
    as_error error;
    as_check_def how = near_made_up();
    how.seed = seed;
    make_up(&p, PLANT_NOTHING, AS_BLOCK_M, -1, -1);
    must_be_ok("made up", check_def_near(&p.def, &how, &report, &error), &error);
    for (int block = AS_BLOCK_M + 1; block < AS_BLOCK_COUNT; ++block)
      assert_true(report.block[block] < 1e-8);
    assert_true(isnan(report.block[AS_BLOCK_M]) != 0);
    assert_true(isnan(report.mass_constant) && isnan(report.scleronomic));
    assert_true(report.constraint_rate < 1e-8 && report.constraint_acceleration < 1e-8 &&
                report.nonholonomic_acceleration < 1e-8);
    // Without rates g' rests on B, which may be differenced itself.
    p.def.constraint_rate = p.def.constraint_acceleration = p.def.nonholonomic_acceleration = NULL;
    must_be_ok("made up, no rates", check_def_near(&p.def, &how, &report, &error), &error);
    p.def.block[AS_BLOCK_G_Q].source = AS_BLOCK_DIFFERENCED;
    must_be_ok("made up, no B", check_def_near(&p.def, &how, &report, &error), &error);
  }
}

/// Plants a fault and expects it to be found and named.
static void expect_fault(made_up *p, const char *what, int row, int col) {
  as_check_report report;
  as_error error = {0};
  const as_check_def how = near_made_up();
  const as_status status = check_def_near(&p->def, &how, &report, &error);
  const as_check_fault *f = &report.fault;
  if (status != AS_ERR_ARGUMENT || f->what == NULL || strcmp(f->what, what) != 0 || f->row != row ||
      f->col != col)
    fail_msg("fault %d of %s at (%d, %d): %s, found %s (%d, %d): %s", (int)p->fault, what, row, col,
             as_status_name(status), f->what ? f->what : "nothing", f->row, f->col, error.message);
  assert_int_equal(error.status, AS_ERR_ARGUMENT);
  assert_true(error.t == f->t && f->t > 0.7);
  assert_non_null(strstr(error.message, what));
  assert_true(strlen(error.message) < sizeof error.message - 1);
  assert_true(error.component[0] != '\0');
}

static void test_wrong_entries(void **state) {
  (void)state;
  static made_up p;
  const plant plants[] = {PLANT_SIGN, PLANT_MISSING, PLANT_OUTSIDE, PLANT_OUTSIDE_DIFFERENCED};
  int count = 0;
  for (int b = AS_BLOCK_M + 1; b < AS_BLOCK_COUNT; ++b) {
    const as_block block = (as_block)b;
    for (int i = 0; i < rows_of(block); ++i) {
      for (int j = 0; j < cols_of(block); ++j) {
        if (!has_entry(block, i, j)) continue;
        for (size_t k = 0; k < sizeof plants / sizeof plants[0]; ++k, ++count) {
          make_up(&p, plants[k], block, i, j);
          expect_fault(&p, asi_block_describe(block).name, i, j);
        }
      }
    }
  }
  print_message("%d faults planted and found\n", count);
  assert_true(count > 1000);
}

/// The sentence itself, once.
static void test_sentence(void **state) {
  (void)state;
  static made_up p;
  as_check_report report;
  as_error error;
  char expected[320];
  const as_check_def how = near_made_up();
  make_up(&p, PLANT_SIGN, AS_BLOCK_F_Q, 3, 4);
  assert_int_equal(check_def_near(&p.def, &how, &report, &error), AS_ERR_ARGUMENT);
  snprintf(expected, sizeof expected,
           "Block F_Q, row 3 (v[3]), column 4: the jacobian callback gives %.9g, differences give "
           "%.9g at t = %.9g s.",
           report.fault.given, report.fault.differenced, report.fault.t);
  assert_string_equal(error.message, expected);
  assert_string_equal(error.component, "v[3]");
  assert_true(fabs(report.fault.given + report.fault.differenced) < 1e-8);
  // The report is complete, the fault of later blocks does not take its place.
  assert_true(report.block[AS_BLOCK_F_Q] > 1.99 && report.block[AS_BLOCK_CHI_Y] < 1e-8);
}

static void test_zero_blocks(void **state) {
  (void)state;
  static made_up p;
  for (int b = AS_BLOCK_M + 1; b < AS_BLOCK_COUNT; ++b) {
    const as_block block = (as_block)b;
    as_check_report report;
    as_error error;
    const as_check_def how = near_made_up();
    make_up(&p, PLANT_ZERO, block, 0, 0);
    if (block == AS_BLOCK_G_Q ||
        block == AS_BLOCK_K_V) { // refused before there is anything to check
      as_problem *problem = NULL;
      assert_int_equal(as_problem_create(&p.def, &problem, &error), AS_ERR_ARGUMENT);
      assert_non_null(strstr(error.message, asi_block_describe(block).name));
      continue;
    }
    assert_int_equal(check_def_near(&p.def, &how, &report, &error), AS_ERR_ARGUMENT);
    assert_string_equal(report.fault.what, asi_block_describe(block).name);
    assert_true(has_entry(block, report.fault.row, report.fault.col));
    assert_non_null(strstr(error.message, "AS_BLOCK_ZERO"));
  }
}

static void test_stray_entries(void **state) {
  (void)state;
  static made_up p;
  const as_check_def how = near_made_up();
  for (int b = AS_BLOCK_M; b < AS_BLOCK_COUNT; ++b) {
    const as_block block = (as_block)b;
    for (int i = 0; i < rows_of(block); ++i) {
      for (int j = 0; j < cols_of(block); ++j) {
        as_error error;
        char place[64];
        if (!has_entry(block, i, j)) continue;
        make_up(&p, PLANT_STRAY, block, i, j);
        assert_int_equal(check_def_near(&p.def, &how, NULL, &error), AS_ERR_ARGUMENT);
        snprintf(place, sizeof place, "(%d, %d) of block %s", i, j, asi_block_describe(block).name);
        if (strstr(error.message, place) == NULL) fail_msg("%s: %s", place, error.message);
      }
    }
  }
}

static void test_wrong_functions(void **state) {
  (void)state;
  static made_up p;
  for (int row = 0; row < N_LAMBDA; ++row) {
    make_up(&p, PLANT_CONSTRAINT_RATE, AS_BLOCK_M, row, -1);
    expect_fault(&p, "constraint_rate", row, -1);
    make_up(&p, PLANT_CONSTRAINT_ACCELERATION, AS_BLOCK_M, row, -1);
    expect_fault(&p, "constraint_acceleration", row, -1);
  }
  for (int row = 0; row < N_PSI; ++row) {
    make_up(&p, PLANT_NONHOLONOMIC_ACCELERATION, AS_BLOCK_M, row, -1);
    expect_fault(&p, "nonholonomic_acceleration", row, -1);
  }
}

static void test_wrong_flags(void **state) {
  (void)state;
  static made_up p;
  as_check_report report;
  as_error error;
  const as_check_def how = near_made_up();
  make_up(&p, PLANT_NOTHING, AS_BLOCK_M, -1, -1);
  p.def.mass_constant = true;
  assert_int_equal(check_def_near(&p.def, &how, &report, &error), AS_ERR_ARGUMENT);
  assert_string_equal(report.fault.what, "mass_constant");
  assert_true(report.mass_constant > 1e-3);
  p.mass_moves = false;
  must_be_ok("constant mass", check_def_near(&p.def, &how, &report, &error), &error);
  assert_true(report.mass_constant == 0.0);

  p.def.scleronomic = true;
  expect_fault(&p, "scleronomic", 2, -1);
  p.time_in_g = false;
  expect_fault(&p, "scleronomic", 1, -1); // of k
  p.time_in_k = false;
  must_be_ok("scleronomic", check_def_near(&p.def, &how, &report, &error), &error);
  assert_true(report.scleronomic == 0.0);
}

// ---- faults in a large problem --------------------------------------------------------------------

enum { N_LINKS = 100 };

static struct {
  as_problem_def inner;
  as_block block; ///< the entry whose sign is changed
  int row, col;
  double stiffness; ///< of a spring that no pattern knows of
} large;

static int large_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const int code = large.inner.jacobian(at, wanted, blocks, user);
  if ((wanted & AS_BLOCK_BIT(large.block)) && large.row >= 0) {
    const int position = as_matrix_position(&blocks[large.block], large.row, large.col);
    assert_true(position >= 0);
    blocks[large.block].value[position] *= -1.0;
  }
  return code;
}

/// Link 70 feels the distance of links 3 and 50: both columns may be moved at the same time.
static int large_force(const as_point *at, double *out, void *user) {
  const int code = large.inner.force(at, out, user);
  out[6 * 70] += large.stiffness * (at->q[7 * 3] - at->q[7 * 50]);
  return code;
}

static void test_faults_in_a_large_problem(void **state) {
  (void)state;
  const struct {
    as_block block;
    const char *name;
    int row, col;
  } cases[] = {{AS_BLOCK_G_Q, "G_Q", 3 * 40 + 1, 6 * 40 + 4},
               {AS_BLOCK_G_Q, "G_Q", 3 * 99, 6 * 98},
               {AS_BLOCK_F_Q, "F_Q", 6 * 61 + 4, 6 * 61 + 3},
               {AS_BLOCK_F_V, "F_V", 6 * 7, 6 * 7},
               {AS_BLOCK_GDOT_Q, "GDOT_Q", 3 * 51 + 2, 6 * 50 + 5}};
  chain_subject s;
  as_check_report report;
  as_error error;
  chain_setup(&s, N_LINKS);
  large.inner = s.c.def;
  as_problem_def def = s.c.def;
  def.jacobian = large_jacobian;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    large.block = cases[i].block;
    large.row = cases[i].row;
    large.col = cases[i].col;
    assert_int_equal(check_def_near(&def, &s.how, &report, &error), AS_ERR_ARGUMENT);
    print_message("%s\n", error.message);
    assert_string_equal(report.fault.what, cases[i].name);
    assert_int_equal(report.fault.row, cases[i].row);
    assert_int_equal(report.fault.col, cases[i].col);
  }
  large.row = -1;
  def.force = large_force;
  must_be_ok("spring without stiffness", check_def_near(&def, &s.how, &report, &error), &error);
  large.stiffness = 0.01;
  for (int given = 0; given < 2; ++given) {
    if (given == 0) def.block[AS_BLOCK_F_Q].source = AS_BLOCK_DIFFERENCED;
    if (given == 1) def.block[AS_BLOCK_F_Q].source = AS_BLOCK_GIVEN;
    assert_int_equal(check_def_near(&def, &s.how, &report, &error), AS_ERR_ARGUMENT);
    print_message("%s\n", error.message);
    assert_string_equal(report.fault.what, "F_Q");
    assert_int_equal(report.fault.row, 6 * 70);
    assert_true(report.fault.col == 6 * 3 || report.fault.col == 6 * 50);
    assert_true(fabs(fabs(report.fault.differenced) - 0.01) < 1e-8);
  }
  chain_teardown(&s);
}

// ---- detected patterns ----------------------------------------------------------------------------

static const as_block mechanical[] = {AS_BLOCK_M, AS_BLOCK_F_Q, AS_BLOCK_F_V, AS_BLOCK_G_Q,
                                      AS_BLOCK_GDOT_Q};
enum { N_MECHANICAL = sizeof mechanical / sizeof mechanical[0] };

static bool in_pattern(as_pattern p, int row, int col) {
  for (int k = p.col_start[col]; k < p.col_start[col + 1]; ++k)
    if (p.row[k] == row) return true;
  return false;
}

/// Whether all entries of `inner` are in `outer`.
static bool is_within(as_pattern inner, as_pattern outer, int cols) {
  for (int j = 0; j < cols; ++j)
    for (int k = inner.col_start[j]; k < inner.col_start[j + 1]; ++k)
      if (!in_pattern(outer, inner.row[k], j)) return false;
  return true;
}

static void expect_same(as_block block, as_pattern found, as_pattern truth, int cols) {
  if (!is_within(found, truth, cols) || !is_within(truth, found, cols))
    fail_msg("block %s: %d entries found, not the %d true ones", asi_block_describe(block).name,
             found.col_start[cols], truth.col_start[cols]);
}

/// The chain with callbacks that add entry by entry: from the chain's own, which knows positions.
typedef struct adding_chain {
  const chain *c;
  as_matrix own[AS_BLOCK_COUNT];
} adding_chain;

static void pass_on(const as_matrix *own, as_matrix *m) {
  for (int j = 0; j < own->cols; ++j)
    for (int k = own->col_start[j]; k < own->col_start[j + 1]; ++k)
      as_matrix_add(m, own->row[k], j, own->value[k]);
}

static int adding_mass(const as_point *at, as_matrix *m, void *user) {
  adding_chain *a = user;
  const int code = mass(at, &a->own[AS_BLOCK_M], a->c->def.user);
  pass_on(&a->own[AS_BLOCK_M], m);
  return code;
}

static int adding_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  adding_chain *a = user;
  const int code = jacobian(at, wanted, a->own, a->c->def.user);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (wanted & AS_BLOCK_BIT(block)) pass_on(&a->own[block], &blocks[block]);
  return code;
}

static int adding_force(const as_point *at, double *out, void *user) {
  return force(at, out, ((adding_chain *)user)->c->def.user);
}

static int adding_constraint(const as_point *at, double *out, void *user) {
  return constraint(at, out, ((adding_chain *)user)->c->def.user);
}

static int adding_rate(const as_point *at, double *out, void *user) {
  return constraint_rate(at, out, ((adding_chain *)user)->c->def.user);
}

static int adding_acceleration(const as_point *at, double *out, void *user) {
  return constraint_acceleration(at, out, ((adding_chain *)user)->c->def.user);
}

static as_problem_def add_up(adding_chain *a, const chain *c) {
  as_problem_def def = c->def;
  *a = (adding_chain){.c = c};
  def.mass = adding_mass;
  def.force = adding_force;
  def.constraint = adding_constraint;
  def.constraint_rate = adding_rate;
  def.constraint_acceleration = adding_acceleration;
  def.jacobian = adding_jacobian;
  def.user = a;
  for (int i = 0; i < N_MECHANICAL; ++i) {
    const as_block block = mechanical[i];
    const as_pattern p = c->def.block[block].pattern;
    const bool constraints = block == AS_BLOCK_G_Q || block == AS_BLOCK_GDOT_Q;
    const int n_entries = p.col_start ? p.col_start[6 * c->n_links] : 1;
    a->own[block] = (as_matrix){.rows = (constraints ? 3 : 6) * c->n_links,
                                .cols = 6 * c->n_links,
                                .col_start = p.col_start,
                                .row = p.row};
    a->own[block].value = calloc((size_t)n_entries + 1, sizeof(double));
    assert_non_null(a->own[block].value);
    def.block[block].pattern = (as_pattern){NULL, NULL};
  }
  return def;
}

static void add_up_free(adding_chain *a) {
  for (int block = 0; block < AS_BLOCK_COUNT; ++block) free(a->own[block].value);
}

static void test_detect_added(void **state) {
  (void)state;
  const int sizes[] = {1, 3, 1500};
  for (int i = 0; i < 3; ++i) {
    chain_subject s;
    adding_chain adding;
    as_patterns *patterns = NULL;
    as_error error;
    chain_setup(&s, sizes[i]);
    as_problem_def def = add_up(&adding, &s.c);
    must_be_ok("detect", as_problem_detect(&def, &s.how, &patterns, &error), &error);
    for (int b = 0; b < N_MECHANICAL; ++b)
      expect_same(mechanical[b], def.block[mechanical[b]].pattern,
                  s.c.def.block[mechanical[b]].pattern, 6 * sizes[i]);
    as_patterns_destroy(patterns);
    add_up_free(&adding);
    chain_teardown(&s);
  }
}

/// Each entry that is not zero at some point, by formula, must be found, and nothing outside the
/// formula's pattern.
static void test_detect_differenced(void **state) {
  (void)state;
  enum { LINKS = 200, COLS = 6 * LINKS };
  for (int variant = 0; variant < 3; ++variant) {
    chain_subject s;
    adding_chain adding;
    as_patterns *patterns = NULL;
    as_error error;
    chain_setup(&s, LINKS);
    as_problem_def def = add_up(&adding, &s.c);
    if (variant >= 1) def = without_formulas(&def);
    if (variant == 0) { // B stays given
      def.block[AS_BLOCK_F_Q].source = def.block[AS_BLOCK_F_V].source = AS_BLOCK_DIFFERENCED;
      def.block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_DIFFERENCED;
    }
    if (variant == 2) def.scleronomic = false;
    must_be_ok("detect", as_problem_detect(&def, &s.how, &patterns, &error), &error);

    // The values at a point of no special kind.
    double q[7 * LINKS], v[COLS], lambda[3 * LINKS], move[COLS];
    as_space *space = NULL;
    assert_int_equal(as_space_create(s.c.def.parts, 1, &space, &error), AS_OK);
    for (int i = 0; i < COLS; ++i) {
      move[i] = sin(1.0 + i * i);
      v[i] = cos(3.0 * i * i + 0.5);
      if (i < 3 * LINKS) lambda[i] = 1.0 + sin(7.0 * i);
    }
    as_space_move(space, s.q, move, q);
    as_space_destroy(space);
    const as_point at = {.q = q, .v = v, .lambda = lambda};
    jacobian(&at, ~0u, adding.own, &s.c);
    mass(&at, &adding.own[AS_BLOCK_M], &s.c);
    int generic = 0, found = 0;
    for (int b = 0; b < N_MECHANICAL; ++b) {
      const as_block block = mechanical[b];
      const as_matrix *m = &adding.own[block];
      const as_pattern p = def.block[block].pattern;
      for (int j = 0; j < COLS; ++j)
        for (int k = p.col_start[j]; k < p.col_start[j + 1]; ++k)
          if (!in_pattern(s.c.def.block[block].pattern, p.row[k], j))
            fail_msg("variant %d: entry (%d, %d) of %s is found", variant, p.row[k], j,
                     asi_block_describe(block).name);
      found += p.col_start[COLS];
      for (int j = 0; j < COLS; ++j) {
        for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k) {
          if (m->value[k] == 0.0) continue;
          ++generic;
          if (!in_pattern(p, m->row[k], j))
            fail_msg("entry (%d, %d) of %s is not found", m->row[k], j,
                     asi_block_describe(block).name);
        }
      }
    }
    print_message("variant %d: %d entries that are not zero, %d found\n", variant, generic, found);
    as_patterns_destroy(patterns);
    add_up_free(&adding);
    chain_teardown(&s);
  }
}

/// Where two bodies have entries, see test_differences.c: body b moves with columns 6 b ... 6 b + 5. The
/// formula writes an identity with its zeros.
static bool two_bodies_entry(as_block block, bool formula, int i, int j) {
  const int body = j / 6, column = j % 6;
  const bool turns = column >= 3;
  if (block == AS_BLOCK_M || block == AS_BLOCK_F_Q || block == AS_BLOCK_F_V) {
    if (i / 6 != body) return false;
    if (turns) return i % 6 >= 3;
    return block == AS_BLOCK_M && i == j;
  }
  if (i / 3 < body) return false; // joint 0 holds body 0, joint 1 both
  if (turns) return true;
  return block == AS_BLOCK_G_Q && (formula || i % 3 == column);
}

static void test_detect_two_bodies(void **state) {
  (void)state;
  const test_problem *p = problem_two_bodies();
  for (int formula = 0; formula < 2; ++formula) {
    as_problem_def def = formula ? p->def : without_formulas(&p->def);
    as_check_def how = as_default_check_def();
    as_patterns *patterns = NULL;
    as_error error;
    how.near = (as_point){.q = p->q0, .v = p->v0};
    must_be_ok("detect", as_problem_detect(&def, &how, &patterns, &error), &error);
    for (int b = 0; b < N_MECHANICAL; ++b) {
      const as_block block = mechanical[b];
      const int rows = block == AS_BLOCK_G_Q || block == AS_BLOCK_GDOT_Q ? 6 : 12;
      for (int j = 0; j < 12; ++j)
        for (int i = 0; i < rows; ++i)
          if (in_pattern(def.block[block].pattern, i, j) != two_bodies_entry(block, formula, i, j))
            fail_msg("formula %d: entry (%d, %d) of %s", formula, i, j,
                     asi_block_describe(block).name);
    }
    // What was found is complete.
    must_be_ok("check", check_def_near(&def, &how, NULL, &error), &error);
    as_patterns_destroy(patterns);
  }
}

/// Every block of the made-up problem, given and differenced; a pattern that is given stays.
static void test_detect_every_block(void **state) {
  (void)state;
  static made_up p;
  for (int variant = 0; variant < 3; ++variant) {
    as_patterns *patterns = NULL;
    as_error error;
    const as_check_def how = near_made_up();
    make_up(&p, PLANT_NOTHING, AS_BLOCK_M, -1, -1);
    as_problem_def def = p.def;
    for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
      if (variant > 0) def.block[b].source = AS_BLOCK_DIFFERENCED;
      def.block[b].pattern = (as_pattern){NULL, NULL};
    }
    if (variant == 2) def.block[AS_BLOCK_PHI_X].source = AS_BLOCK_ZERO;
    def.block[AS_BLOCK_CHI_Q].pattern = p.def.block[AS_BLOCK_F_Q].pattern;
    // Not the true pattern of CHI_Q, but one that fits into its rows.
    static int few[N + 1], first_row[1];
    def.block[AS_BLOCK_CHI_Q].pattern = (as_pattern){few, first_row};
    must_be_ok("detect", as_problem_detect(&def, &how, &patterns, &error), &error);
    for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
      if (b == AS_BLOCK_CHI_Q) {
        assert_ptr_equal(def.block[b].pattern.col_start, few);
      } else if (variant == 2 && b == AS_BLOCK_PHI_X) {
        assert_null(def.block[b].pattern.col_start);
      } else {
        expect_same((as_block)b, def.block[b].pattern, p.def.block[b].pattern,
                    cols_of((as_block)b));
      }
    }
    as_patterns_destroy(patterns);
  }
}

// ---- runs with detected patterns ------------------------------------------------------------------

typedef struct final {
  double *q, *v, *lambda;
} final;

static void run(const as_problem_def *def, const double *q0, const double *v0, double h, int steps,
                final *out) {
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  how.newton.rtol = 1e-11;
  must_be_ok("create", as_problem_create(def, &problem, &error), &error);
  must_be_ok("create", as_integrator_create(problem, &how, &integrator, &error), &error);
  const as_initial initial = {.q = q0, .v = v0};
  must_be_ok("start", as_integrator_start(integrator, &initial, NULL, &error), &error);
  for (int i = 0; i < steps; ++i)
    must_be_ok("step", as_integrator_step(integrator, h, &error), &error);
  const as_state *s = as_integrator_state(integrator);
  const int nq = as_space_nq(as_problem_space(problem)), n = as_space_nv(as_problem_space(problem));
  out->q = malloc((size_t)nq * sizeof(double));
  out->v = malloc((size_t)n * sizeof(double));
  out->lambda = malloc((size_t)def->n_lambda * sizeof(double));
  assert_true(out->q && out->v && out->lambda);
  memcpy(out->q, s->q, (size_t)nq * sizeof(double));
  memcpy(out->v, s->v, (size_t)n * sizeof(double));
  memcpy(out->lambda, s->lambda, (size_t)def->n_lambda * sizeof(double));
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

static double distance(const double *x, const double *y, int n) {
  double largest = 0.0, size = 0.0;
  for (int i = 0; i < n; ++i) {
    largest = fmax(largest, fabs(x[i] - y[i]));
    size = fmax(size, fabs(x[i]));
  }
  return largest / size;
}

static void compare_runs(const char *name, const as_problem_def *given, as_problem_def def,
                         const as_check_def *how, double h, int nq, int n) {
  as_patterns *patterns = NULL;
  as_error error;
  final a, b;
  must_be_ok("detect", as_problem_detect(&def, how, &patterns, &error), &error);
  run(given, how->near.q, how->near.v, h, 20, &a);
  run(&def, how->near.q, how->near.v, h, 20, &b);
  as_patterns_destroy(patterns);
  const double q = distance(a.q, b.q, nq), v = distance(a.v, b.v, n);
  const double lambda = distance(a.lambda, b.lambda, given->n_lambda);
  print_message("%s: q %.1e v %.1e lambda %.1e\n", name, q, v, lambda);
  assert_true(q <= 1e-12);
  assert_true(v <= 1e-12);
  assert_true(lambda <= 1e-9); // round-off, divided by h
  double *const all[] = {a.q, a.v, a.lambda, b.q, b.v, b.lambda};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) free(all[i]);
}

static void test_runs_agree(void **state) {
  (void)state;
  const test_problem *two = problem_two_bodies();
  as_check_def how = as_default_check_def();
  how.near = (as_point){.q = two->q0, .v = two->v0};
  compare_runs("two bodies", &two->def, two->def, &how, 1e-3, 14, 12);

  chain_subject s;
  adding_chain adding;
  chain_setup(&s, 30);
  compare_runs("chain", &s.c.def, add_up(&adding, &s.c), &s.how, 1e-2, 210, 180);
  // Formulas for the constraints, differences for the force: these stand in the Jacobian only.
  add_up_free(&adding);
  as_problem_def def = add_up(&adding, &s.c);
  def.block[AS_BLOCK_F_Q].source = def.block[AS_BLOCK_F_V].source = AS_BLOCK_DIFFERENCED;
  compare_runs("chain, differenced", &s.c.def, def, &s.how, 1e-2, 210, 180);
  add_up_free(&adding);
  chain_teardown(&s);
}

// ---- bad arguments --------------------------------------------------------------------------------

static void expect_refused(const as_problem_def *def, const as_check_def *how, const char *word) {
  as_error error = {0};
  as_patterns *patterns = (as_patterns *)&error; // anything but NULL
  as_problem_def copy = *def;
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) copy.block[b].pattern = (as_pattern){NULL, NULL};
  const as_problem_def before = copy;
  assert_int_equal(check_def_near(def, how, NULL, &error), AS_ERR_ARGUMENT);
  if (strstr(error.message, word) == NULL) fail_msg("no \"%s\" in: %s", word, error.message);
  error = (as_error){0};
  assert_int_equal(as_problem_detect(&copy, how, &patterns, &error), AS_ERR_ARGUMENT);
  if (strstr(error.message, word) == NULL) fail_msg("no \"%s\" in: %s", word, error.message);
  assert_null(patterns);
  assert_memory_equal(&copy, &before, sizeof copy);
}

static void test_bad_arguments(void **state) {
  (void)state;
  static made_up p;
  const double nan = (double)NAN, bad[] = {nan, 0.0, -1.0, (double)INFINITY};
  const double bad_vector[LARGEST] = {0.0, nan, 0.0, 0.0, 0.0};
  as_check_def how;
  as_error error;
  as_patterns *patterns = NULL;
  make_up(&p, PLANT_NOTHING, AS_BLOCK_M, -1, -1);
  for (int i = 0; i < 4; ++i) {
    how = near_made_up(), how.spread = bad[i], expect_refused(&p.def, &how, "spread");
    how = near_made_up(), how.increment = bad[i], expect_refused(&p.def, &how, "increment");
    how = near_made_up(), how.tolerance = bad[i], expect_refused(&p.def, &how, "tolerance");
  }
  how = near_made_up(), how.n_points = 0, expect_refused(&p.def, &how, "n_points");
  how = near_made_up(), how.near.t = nan, expect_refused(&p.def, &how, "near.t");
  how = near_made_up(), how.near.q = NULL, expect_refused(&p.def, &how, "near.q");
  how = near_made_up(), how.near.q = bad_vector, expect_refused(&p.def, &how, "nan");
  how = near_made_up(), how.near.v = bad_vector, expect_refused(&p.def, &how, "near.v[1]");
  how = near_made_up(), how.near.vdot = bad_vector, expect_refused(&p.def, &how, "near.vdot[1]");
  how = near_made_up(), how.near.lambda = bad_vector;
  expect_refused(&p.def, &how, "near.lambda[1]");
  how = near_made_up(), how.near.psi = bad_vector, expect_refused(&p.def, &how, "near.psi[1]");
  how = near_made_up(), how.near.x = bad_vector, expect_refused(&p.def, &how, "near.x[1]");
  how = near_made_up(), how.near.y = bad_vector, expect_refused(&p.def, &how, "near.y[1]");

  how = near_made_up();
  as_problem *problem = NULL;
  assert_int_equal(as_problem_create(&p.def, &problem, &error), AS_OK);
  error.message[0] = '\0';
  assert_int_equal(as_problem_check(NULL, &how, NULL, &error), AS_ERR_ARGUMENT);
  assert_true(error.message[0] != '\0');
  assert_int_equal(as_problem_check(problem, NULL, NULL, NULL), AS_ERR_ARGUMENT);
  assert_int_equal(as_problem_check(problem, &how, NULL, NULL), AS_OK);
  as_problem_destroy(problem);
  assert_int_equal(as_problem_detect(NULL, &how, &patterns, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_problem_detect(&p.def, NULL, &patterns, &error), AS_ERR_ARGUMENT);
  assert_int_equal(as_problem_detect(&p.def, &how, NULL, &error), AS_ERR_ARGUMENT);
  as_patterns_destroy(NULL);

  // What as_problem_create() refuses.
  as_problem_def def = p.def;
  def.n_lambda = -1;
  assert_int_equal(as_problem_detect(&def, &how, &patterns, &error), AS_ERR_ARGUMENT);
  def = p.def;
  def.jacobian = NULL;
  assert_int_equal(as_problem_detect(&def, &how, &patterns, &error), AS_ERR_ARGUMENT);
  def = p.def;
  def.parts = NULL;
  assert_int_equal(as_problem_detect(&def, &how, &patterns, &error), AS_ERR_ARGUMENT);
  assert_null(patterns);
}

/// Callbacks that fail, and a matrix entry that does not exist.
static int outcome;

static int failing_force(const as_point *at, double *out, void *user) {
  made_up_force(at, out, user);
  if (outcome == 0) out[2] = (double)NAN;
  return outcome;
}

static int wild_mass(const as_point *at, as_matrix *m, void *user) {
  made_up_mass(at, m, user);
  as_matrix_add(m, N, 0, 1.0);
  return AS_DONE;
}

static void test_failing_callbacks(void **state) {
  (void)state;
  static made_up p;
  const struct {
    int code;
    as_status status;
  } cases[] = {{0, AS_ERR_NONFINITE}, {AS_RETRY, AS_ERR_RETRY}, {AS_FATAL, AS_ERR_CALLBACK}};
  as_error error;
  as_patterns *patterns = NULL;
  const as_check_def how = near_made_up();
  make_up(&p, PLANT_NOTHING, AS_BLOCK_M, -1, -1);
  for (int b = 0; b < AS_BLOCK_COUNT; ++b) {
    p.def.block[b].source = AS_BLOCK_DIFFERENCED;
    p.def.block[b].pattern = (as_pattern){NULL, NULL};
  }
  p.def.force = failing_force;
  for (int i = 0; i < 3; ++i) {
    outcome = cases[i].code;
    assert_int_equal(check_def_near(&p.def, &how, NULL, &error), cases[i].status);
    assert_int_equal(as_problem_detect(&p.def, &how, &patterns, &error), cases[i].status);
    assert_null(patterns);
    assert_non_null(strstr(error.message, "force"));
  }
  p.def.force = made_up_force;
  p.def.mass = wild_mass;
  assert_int_equal(as_problem_detect(&p.def, &how, &patterns, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "(5, 0) of block M"));
}

// ---- the same seed, the same numbers --------------------------------------------------------------

static void test_repeatable(void **state) {
  (void)state;
  static made_up p;
  as_check_report first, second;
  as_error error;
  as_check_def how = near_made_up();
  make_up(&p, PLANT_SIGN, AS_BLOCK_F_V, 2, 1);
  assert_true(has_entry(AS_BLOCK_F_V, 2, 1));
  assert_int_equal(check_def_near(&p.def, &how, &first, &error), AS_ERR_ARGUMENT);
  assert_int_equal(check_def_near(&p.def, &how, &second, &error), AS_ERR_ARGUMENT);
  assert_true(first.fault.given == second.fault.given && first.fault.t == second.fault.t);
  assert_true(first.block[AS_BLOCK_CHI_Q] == second.block[AS_BLOCK_CHI_Q]);
  how.seed = 2;
  assert_int_equal(check_def_near(&p.def, &how, &second, &error), AS_ERR_ARGUMENT);
  assert_true(first.fault.given != second.fault.given && first.fault.t != second.fault.t);
}

typedef struct memory_context {
  const as_problem *problem;
  as_problem_def def; ///< without patterns
  as_check_def how;
} memory_context;

static as_status check_in_context(const memory_context *c, as_error *error) {
  return as_problem_check(c->problem, &c->how, NULL, error);
}

static as_status detect_in_context(const memory_context *c, as_error *error) {
  as_patterns *patterns = NULL;
  as_problem_def def = c->def;
  const as_status status = as_problem_detect(&def, &c->how, &patterns, error);
  assert_int_equal(status == AS_OK, patterns != NULL);
  if (status) assert_memory_equal(&def, &c->def, sizeof def);
  as_patterns_destroy(patterns);
  return status;
}

static void fail_in_turn(const char *what, as_status (*call)(const memory_context *, as_error *),
                         const memory_context *c) {
  as_error error;
  const long live = memory.live, before = memory.taken;
  must_be_ok(what, call(c, &error), &error);
  const long needed = memory.taken - before;
  assert_true(needed > 10 && memory.live == live);
  for (int fail_on = 0; fail_on < 2; ++fail_on) {
    for (long n = 1; n <= needed; ++n) {
      memory.fail_on = fail_on;
      memory.fail_at = n;
      error = (as_error){.status = AS_OK};
      const as_status status = call(c, &error);
      memory.fail_at = 0;
      if (status != AS_ERR_MEMORY || error.status != AS_ERR_MEMORY || memory.live != live)
        fail_msg("%s: allocation %ld of %ld: %s, %ld blocks leak", what, n, needed,
                 as_status_name(status), memory.live - live);
    }
  }
  print_message("%s: %ld allocations\n", what, needed);
}

static void test_out_of_memory(void **state) {
  (void)state;
  static made_up p;
  for (int variant = 0; variant < 2; ++variant) {
    as_error error;
    as_problem *problem = NULL;
    make_up(&p, PLANT_NOTHING, AS_BLOCK_M, -1, -1);
    if (variant == 1) { // zeros, flags, nothing given
      for (int b = 0; b < AS_BLOCK_COUNT; ++b) p.def.block[b].source = AS_BLOCK_DIFFERENCED;
      p.def.mass_constant = p.def.scleronomic = true;
      p.mass_moves = p.time_in_g = p.time_in_k = false;
    }
    memory_context context = {.def = p.def, .how = near_made_up()};
    for (int b = 0; b < AS_BLOCK_COUNT; ++b)
      context.def.block[b].pattern = (as_pattern){NULL, NULL};
    must_be_ok("create", as_problem_create(&p.def, &problem, &error), &error);
    context.problem = problem;
    fail_in_turn("check", check_in_context, &context);
    as_problem_destroy(problem);
    fail_in_turn("detect", detect_in_context, &context);
  }
  // A block that is zero as declared.
  as_error error;
  as_problem *problem = NULL;
  const test_problem *driven = problem_driven_pendulum();
  memory_context context = {.def = driven->def, .how = as_default_check_def()};
  context.how.near.q = driven->q0;
  must_be_ok("create", as_problem_create(&driven->def, &problem, &error), &error);
  context.problem = problem;
  fail_in_turn("check, zero block", check_in_context, &context);
  as_problem_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_problems_pass),     cmocka_unit_test(test_chain_passes),
      cmocka_unit_test(test_made_up_passes),    cmocka_unit_test(test_wrong_entries),
      cmocka_unit_test(test_sentence),          cmocka_unit_test(test_zero_blocks),
      cmocka_unit_test(test_stray_entries),     cmocka_unit_test(test_wrong_functions),
      cmocka_unit_test(test_wrong_flags),       cmocka_unit_test(test_faults_in_a_large_problem),
      cmocka_unit_test(test_detect_added),      cmocka_unit_test(test_detect_differenced),
      cmocka_unit_test(test_detect_two_bodies), cmocka_unit_test(test_detect_every_block),
      cmocka_unit_test(test_runs_agree),        cmocka_unit_test(test_bad_arguments),
      cmocka_unit_test(test_failing_callbacks), cmocka_unit_test(test_repeatable),
      cmocka_unit_test(test_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
