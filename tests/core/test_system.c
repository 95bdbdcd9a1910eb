/// Matrices put together from blocks: every entry against the sum of its terms, for blocks full of random numbers.
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
#include "core/kinematics/probe_points.h"
#include "machines.h"
#include "rig.h"

static uint64_t draws = 1;

static void fill_at_random(double *x, int n) {
  for (int i = 0; i < n; ++i) x[i] = asi_draw(&draws);
}

static size_t place(int row, int col, int rows) { return (size_t)row + (size_t)rows * (size_t)col; }

static double *dense_of(const as_matrix *m) {
  double *out = calloc((size_t)m->rows * (size_t)m->cols + 1, sizeof *out);
  assert_non_null(out);
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      out[place(m->row[k], j, m->rows)] = m->value[k];
  return out;
}

/// Column j of a term, added to that of the sum.
static void add_column(const asi_term *term, const as_matrix *block, const double *via, int inner,
                       int j, double *sum) {
  for (int col = 0; col < block->cols; ++col)
    for (int k = block->col_start[col]; k < block->col_start[col + 1]; ++k) {
      const int row = term->transposed ? col : block->row[k];
      const int of = term->transposed ? block->row[k] : col;
      const double right = via ? via[place(of, j, inner)] : of == j ? 1.0 : 0.0;
      sum[term->row + row] += term->factor * block->value[k] * right;
    }
}

/// All that was in the values before is to be gone.
static void check_system(asi_system *s, const as_integrator *of) {
  const asi_tangent_map *motion = &of->kin.tangent;
  const int n = s->size, nnz = asi_pattern_nnz(&s->pattern);
  if (s->solver == NULL) return;
  for (int k = 0; k < nnz; ++k) s->value[k] = (double)NAN;
  asi_system_assemble(s, of->kin.block, motion);
  double *const t = dense_of(&motion->t), *const t_bt = dense_of(&motion->t_bt);
  double *const column = calloc((size_t)n, sizeof *column);
  assert_non_null(column);
  for (int j = 0; j < n; ++j) {
    memset(column, 0, (size_t)n * sizeof *column);
    for (int i = 0; i < s->n_terms; ++i) {
      const asi_term *term = &s->term[i];
      const as_matrix *block = &of->kin.block[term->block];
      const int cols = term->via == ASI_CHAIN_T_BT ? motion->t_bt.cols
                       : term->transposed          ? block->rows
                                                   : block->cols;
      if (j < term->col || j >= term->col + cols || term->factor == 0.0) continue;
      const double *via = term->via == ASI_CHAIN_T ? t : term->via == ASI_CHAIN_T_BT ? t_bt : NULL;
      add_column(term, block, via, motion->t.rows, j - term->col, column);
    }
    for (int k = s->pattern.col_start[j]; k < s->pattern.col_start[j + 1]; ++k) {
      const double wanted = column[s->pattern.row[k]];
      if (!(fabs(s->value[k] - wanted) <= 1e-13))
        fail_msg("entry (%d, %d): %.17g, not %.17g", s->pattern.row[k], j, s->value[k], wanted);
    }
  }
  free(column);
  free(t_bt);
  free(t);
}

/// T B_n^T against the product.
static void check_motion(const as_integrator *s) {
  const asi_tangent_map *m = &s->kin.tangent;
  double *const t = dense_of(&m->t), *const out = dense_of(&m->t_bt);
  for (int j = 0; j < s->stepper.b_n.cols && s->stepper.b_n.value; ++j)
    for (int k = s->stepper.b_n.col_start[j]; k < s->stepper.b_n.col_start[j + 1]; ++k)
      for (int i = 0; i < m->t.rows; ++i)
        out[place(i, s->stepper.b_n.row[k], m->t.rows)] -=
            t[place(i, j, m->t.rows)] * s->stepper.b_n.value[k];
  for (size_t i = 0; i < (size_t)m->t_bt.rows * (size_t)m->t_bt.cols; ++i)
    assert_true(fabs(out[i]) <= 1e-13);
  free(out);
  free(t);
}

static void check_model(const as_model *model, as_method method) {
  const as_problem *problem = as_model_problem(model);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *s = NULL;
  as_error error;
  def.method = method;
  def.step = 0.01;
  if (as_integrator_create(problem, &def, &s, &error)) fail_msg("%s", error.message);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    if (problem->present & AS_BLOCK_BIT(block))
      fill_at_random(s->kin.block[block].value, asi_pattern_nnz(&problem->pattern[block]));
  if (s->stepper.b_n.value)
    fill_at_random(s->stepper.b_n.value, s->stepper.b_n.col_start[s->stepper.b_n.cols]);
  if (s->kin.tangent.t_bt.value)
    for (int k = 0; k < asi_pattern_nnz(&s->kin.tangent.t_bt_pattern); ++k)
      s->kin.tangent.t_bt.value[k] = (double)NAN;
  fill_at_random(s->stepper.xi, problem->n);
  if (s->kin.tangent.t.value) {
    asi_tangent_map_update(&s->kin.tangent, problem, s->stepper.xi,
                           s->stepper.b_n.value ? &s->stepper.b_n : NULL);
    check_motion(s);
  }
  asi_system *const systems[] = {&s->stepper.step, &s->stepper.shared, &s->stepper.eta, &s->kin.kkt,
                                 &s->kin.projection};
  for (size_t i = 0; i < sizeof systems / sizeof systems[0]; ++i) {
    check_system(systems[i], s);
    for (int without = 0; without < systems[i]->n_terms; ++without) {
      const double factor = systems[i]->term[without].factor;
      systems[i]->term[without].factor = 0.0;
      check_system(systems[i], s);
      systems[i]->term[without].factor = factor;
    }
  }
  as_integrator_destroy(s);
}

static void check_machines(const machine *of, int count) {
  for (int i = 0; i < count; ++i)
    for (int variant = 0; variant < of[i].n_variants; ++variant) {
      as_model *model = of[i].build(variant);
      for (int method = 0; method < 3; ++method)
        if (method != AS_METHOD_SOI2 || as_model_problem(model)->def.n_x == 0)
          check_model(model, rig_methods[method]);
      as_model_destroy(model);
    }
}

static void test_machines(void **state) {
  (void)state;
  check_machines(machines_small, n_machines_small);
  check_machines(machines_large, n_machines_large);
}

/// A chain, perhaps with a heavier or otherwise odd link in the middle: where pieces at equal distances end.
static as_model *chain(int links, as_joint_kind kind, bool se3, int odd) {
  static const double z[3] = {0.3, 0.2, 1.0};
  as_builder *b = machine_builder(0.0, 0.0, -9.81);
  as_body_id before = AS_GROUND;
  for (int i = 0; i < links; ++i) {
    char name[16];
    snprintf(name, sizeof name, "b%d", i);
    as_body_def def = machine_round_body(name, 1.0, 0.1, se3 != (i == odd));
    machine_place_in_plane(&def, i + 0.5, 0.0, 0.1 * i);
    const as_body_id body = machine_body(b, &def);
    snprintf(name, sizeof name, "j%d", i);
    machine_joint(b, name, i == odd ? AS_JOINT_REVOLUTE : kind, before, body,
                  (double[3]){i, 0.0, 0.0}, z);
    before = body;
  }
  return machine_build(b);
}

static void test_chains(void **state) {
  (void)state;
  static const as_joint_kind kinds[] = {AS_JOINT_SPHERICAL, AS_JOINT_REVOLUTE,
                                        AS_JOINT_CYLINDRICAL};
  for (int kind = 0; kind < 3; ++kind)
    for (int se3 = 0; se3 < 2; ++se3)
      for (int odd = -1; odd < 20; odd += 19) {
        as_model *model = chain(37, kinds[kind], se3, odd);
        for (int method = 0; method < 3; ++method) check_model(model, rig_methods[method]);
        as_model_destroy(model);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines),
                                     cmocka_unit_test(test_chains)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
