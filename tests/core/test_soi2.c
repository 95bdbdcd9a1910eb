/// SOI2's two matrices: one shared by both stages while forces are soft, the full one when they are stiff.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "core/driver/integrator.h"
#include "problems/problems.h"

/// A unit pendulum in the plane with a spring -k x that pulls it to the vertical.
typedef struct spring {
  double k;
} spring;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  const spring *s = user;
  f[0] = -s->k * at->q[0];
  f[1] = -9.81;
  return AS_DONE;
}

static int constraint(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0) / 2.0;
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const spring *s = user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, -s->k - at->lambda[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 1, 1, -at->lambda[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, at->q[0]);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, at->q[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 0, at->v[0]);
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 1, at->v[1]);
  }
  return AS_DONE;
}

static as_problem_def pendulum_with_spring(spring *s) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = mass;
  def.force = force;
  def.constraint = constraint;
  def.jacobian = jacobian;
  def.block[AS_BLOCK_F_Q].source = def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_GDOT_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
  def.user = s;
  return def;
}

/// Newton's method with a new full matrix in each iteration: the ratio of increments falls with them.
static void check_quadratic(as_integrator *s, double h) {
  as_error error;
  double size[8], b[6];
  s->kin.eval.error = &error;
  s->stepper.t1 = s->state.t + h;
  assert_int_equal(s->stepper.method->begin(&s->stepper, h), AS_OK);
  s->stepper.active = &s->stepper.step;
  for (int i = 0; i < 8; ++i) {
    assert_int_equal(s->stepper.method->evaluate(&s->stepper, false), AS_OK);
    assert_int_equal(s->stepper.method->linearize(&s->stepper, true), AS_OK);
    for (int k = 0; k < 6; ++k) b[k] = s->stepper.residual[k];
    assert_int_equal(s->stepper.method->solve(&s->stepper, b), AS_OK);
    size[i] = asi_max_abs(b, 6);
    for (int k = 0; k < 6; ++k) s->stepper.z[k] -= b[k];
  }
  const double round_off = 1e-9 * (1.0 + asi_max_abs(s->stepper.z, 6));
  assert_true(size[7] < round_off);
  for (int i = 0; i < 6 && size[i + 1] > round_off; ++i) {
    const double ratio = size[i + 1] / size[i], next = size[i + 2] / size[i + 1];
    printf("   increments %.1e %.1e %.1e\n", size[i], size[i + 1], size[i + 2]);
    if (ratio < 0.1 && size[i + 2] > round_off) assert_true(next < 0.3 * ratio);
  }
}

/// h^2 k / m = 0.1, 10 and 1000: the iteration converges in a few steps each time, with the shared matrix
/// where forces are soft, with the full one where they are not.
static void test_stiff_spring(void **state) {
  (void)state;
  const double h = 0.01, stiffness[] = {0.1, 10.0, 1000.0};
  for (int i = 0; i < 3; ++i) {
    spring s = {stiffness[i] / (h * h)};
    const as_problem_def def = pendulum_with_spring(&s);
    as_integrator_def how = as_default_integrator_def();
    how.method = AS_METHOD_SOI2;
    how.newton.reuse = false;
    as_problem *problem = NULL;
    as_integrator *integrator = NULL;
    as_error error;
    as_statistics statistics;
    assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
    assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_OK);
    const double x = 1e-4, q[] = {x, -sqrt(1.0 - x * x)};
    assert_int_equal(as_integrator_start(integrator, &(as_initial){.q = q}, NULL, &error), AS_OK);
    enum { STEPS = 100 };
    for (int k = 0; k < STEPS; ++k)
      if (as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
    as_integrator_statistics(integrator, &statistics, &error);
    const bool full = integrator->stepper.active == &integrator->stepper.step;
    printf("h^2 k/m = %g: %s matrix, %.2f iterations a step, contraction %.1e, %ld failed\n",
           stiffness[i], full ? "full" : "shared", (double)statistics.newton_iterations / STEPS,
           statistics.contraction, statistics.failed_steps);
    assert_int_equal(full, i > 0);
    assert_int_equal(statistics.failed_steps, 0);
    assert_true(statistics.newton_iterations <= 10 * STEPS);
    // What the step does not resolve is damped in the end, though it may overshoot by h^2 k/m at first.
    assert_true(fabs(as_integrator_state(integrator)->q[0]) <= 1.05 * x);
    check_quadratic(integrator, h);
    as_integrator_destroy(integrator);
    as_problem_destroy(problem);
  }
}

/// The same step with either matrix.
static void test_matrices_agree(void **state) {
  (void)state;
  const test_problem *const problems[] = {problem_pendulum(), problem_two_bodies(),
                                          problem_heavy_top_slow_se3(), problem_friction_wire()};
  for (int i = 0; i < 4; ++i) {
    const test_problem *p = problems[i];
    as_integrator *integrator[2];
    as_problem *problem = NULL;
    as_error error;
    as_integrator_def how = as_default_integrator_def();
    how.method = AS_METHOD_SOI2;
    how.newton.rtol = 1e-12;
    assert_int_equal(as_problem_create(&p->def, &problem, &error), AS_OK);
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(as_integrator_create(problem, &how, &integrator[k], &error), AS_OK);
      const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
      assert_int_equal(as_integrator_start(integrator[k], &initial, NULL, &error), AS_OK);
      if (k == 1) integrator[k]->stepper.active = &integrator[k]->stepper.step;
      for (int step = 0; step < 50; ++step)
        if (as_integrator_step(integrator[k], 1e-3, &error)) fail_msg("%s", error.message);
    }
    assert_true(integrator[0]->stepper.active == &integrator[0]->stepper.shared);
    const as_state *x = as_integrator_state(integrator[0]), *y = as_integrator_state(integrator[1]);
    for (int k = 0; k < problem->n; ++k) {
      assert_true(fabs(x->v[k] - y->v[k]) <= 1e-9 * (1.0 + fabs(y->v[k])));
      assert_true(fabs(x->vdot[k] - y->vdot[k]) <= 1e-7 * (1.0 + fabs(y->vdot[k])));
    }
    for (int k = 0; k < 2; ++k) as_integrator_destroy(integrator[k]);
    as_problem_destroy(problem);
  }
}

/// The full matrix is the derivative of the equations, but for f_q at the other stage's multipliers.
static void test_full_matrix(void **state) {
  (void)state;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    as_problem *problem = NULL;
    as_integrator *s = NULL;
    as_error error;
    as_integrator_def how = as_default_integrator_def();
    how.method = AS_METHOD_SOI2;
    assert_int_equal(as_problem_create(&p->def, &problem, &error), AS_OK);
    assert_int_equal(as_integrator_create(problem, &how, &s, &error), AS_OK);
    const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
    assert_int_equal(as_integrator_start(s, &initial, NULL, &error), AS_OK);
    const double h = p->t_end / 1000.0;
    const double big = 4.0 / (p->t_end * p->t_end); // about 1e-6 / (beta h^2)
    s->kin.eval.error = &error;
    s->stepper.t1 = p->t0 + h;
    assert_int_equal(s->stepper.method->begin(&s->stepper, h), AS_OK);
    s->stepper.active = &s->stepper.step;
    // Both stages alike, so that both see the same multipliers.
    const int stride = problem->n + p->def.n_lambda + p->def.n_psi, size = s->stepper.unknowns;
    for (int k = stride; k < size; ++k) s->stepper.z[k] = s->stepper.z[k - stride];
    assert_int_equal(s->stepper.method->evaluate(&s->stepper, false), AS_OK);
    assert_int_equal(s->stepper.method->linearize(&s->stepper, false), AS_OK);
    double value[64 * 64] = {0}, row_scale[64] = {0}, plus[64], worst = 0.0;
    assert_true(size <= 64);
    for (int j = 0; j < size; ++j)
      for (int k = s->stepper.step.pattern.col_start[j];
           k < s->stepper.step.pattern.col_start[j + 1]; ++k) {
        const int r = s->stepper.step.pattern.row[k];
        value[r * 64 + j] = s->stepper.step.value[k];
        row_scale[r] = fmax(row_scale[r], fabs(s->stepper.step.value[k]));
      }
    for (int j = 0; j < size; ++j) {
      // Accelerations are moved so far that q changes by about 1e-6.
      const double z = s->stepper.z[j];
      const int local = j < stride ? j : j - stride;
      const double e = local < problem->n ? big : 1e-3 * fmax(1.0, fabs(z));
      s->stepper.z[j] = z + e;
      assert_int_equal(s->stepper.method->evaluate(&s->stepper, false), AS_OK);
      for (int r = 0; r < size; ++r) plus[r] = s->stepper.residual[r];
      s->stepper.z[j] = z - e;
      assert_int_equal(s->stepper.method->evaluate(&s->stepper, false), AS_OK);
      for (int r = 0; r < size; ++r) {
        const double difference = (plus[r] - s->stepper.residual[r]) / (2.0 * e);
        const double off = fabs(difference - value[r * 64 + j]) / row_scale[r];
        if (off > worst) worst = off;
        if (!(off <= 1e-5))
          fail_msg("%s: row %d, column %d: matrix %g, differences %g", p->name, r, j,
                   value[r * 64 + j], difference);
      }
      s->stepper.z[j] = z;
    }
    printf("%-28s worst entry off by %.1e of its row\n", p->name, worst);
    as_integrator_destroy(s);
    as_problem_destroy(problem);
  }
}

/// Without holonomic constraints there is one stage and no second matrix.
static void test_no_overhead(void **state) {
  (void)state;
  const test_problem *p = problem_double_pendulum();
  as_problem *problem = NULL;
  as_integrator *s = NULL;
  as_error error;
  as_integrator_def how = as_default_integrator_def();
  how.method = AS_METHOD_SOI2;
  assert_int_equal(as_problem_create(&p->def, &problem, &error), AS_OK);
  assert_int_equal(as_integrator_create(problem, &how, &s, &error), AS_OK);
  assert_int_equal(s->stepper.unknowns, problem->n);
  assert_int_equal(s->stepper.shared.size, 0);
  as_integrator_destroy(s);
  as_problem_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stiff_spring),
      cmocka_unit_test(test_matrices_agree),
      cmocka_unit_test(test_full_matrix),
      cmocka_unit_test(test_no_overhead),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
