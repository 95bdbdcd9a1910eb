/// Redundant, contradictory and singular constraints.
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
#include "problems/loops.h"

enum { MAX_N = 260 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};

/// A problem with an integrator, and what its log said.
typedef struct run {
  test_problem *problem;
  as_problem *made;
  as_integrator *integrator;
  as_start_report report;
  as_error error;
  int warnings;
  char last_warning[600];
} run;

static void remember(as_log_level level, const char *message, void *user) {
  run *r = user;
  if (level != AS_LOG_WARNING) return; // steps that were rescued
  ++r->warnings;
  snprintf(r->last_warning, sizeof r->last_warning, "%s", message);
}

/// Makes and starts an integrator at t, q, v; the status is start's.
static as_status open_at(run *r, test_problem *p, as_method method, double h, double t,
                         const double *q, const double *v) {
  *r = (run){.problem = p};
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.step = h;
  def.log = remember;
  def.log_user = r;
  assert_int_equal(as_problem_create(&p->def, &r->made, &r->error), AS_OK);
  assert_int_equal(as_integrator_create(r->made, &def, &r->integrator, &r->error), AS_OK);
  return as_integrator_start(r->integrator, &(as_initial){.t = t, .q = q, .v = v}, &r->report,
                             &r->error);
}

static void open_run(run *r, test_problem *p, as_method method, double h) {
  const as_status status = open_at(r, p, method, h, p->t0, p->q0, p->v0);
  if (status) fail_msg("%s: %s", p->name, r->error.message);
}

static void close_run(run *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->made);
  loops_free(r->problem);
}

static void advance(run *r, double t) {
  const as_status status = as_integrator_advance(r->integrator, t, &r->error);
  if (status) fail_msg("%s: %s", r->problem->name, r->error.message);
}

static double distance(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

static void check_order(const char *what, double coarse, double fine, double least) {
  const double order = log2(coarse / fine);
  printf("  %-12s %10.3e %10.3e order %.3f\n", what, coarse, fine, order);
  if (!(order >= least))
    fail_msg("%s: order %.3f < %.2f (%g, %g)", what, order, least, coarse, fine);
}

// ---- redundant and consistent ---------------------------------------------------------------------

/// Each row is a joint of its own, scaled to one, and the least |lambda/d| gives each half of the force:
/// lambda = (1/2, 1/6) Lambda. Compliance shifts it by about e.
static void test_duplicate_row(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    double error[2][3];
    for (int level = 0; level < 2; ++level) {
      run r;
      open_run(&r, loops_pendulum_twice(), methods[m], level == 0 ? 0.02 : 0.01);
      assert_int_equal(r.report.n_redundant, 1);
      assert_int_equal(r.report.n_nearly_redundant, 0);
      assert_int_equal(r.report.degrees_of_freedom, 1);
      assert_int_equal(r.warnings, 1);
      assert_non_null(strstr(r.last_warning, "lambda["));
      advance(&r, 1.0);
      const as_state *s = as_integrator_state(r.integrator);
      double q[2], v[2], lambda[2];
      r.problem->exact(r.problem, 1.0, q, v, NULL, lambda);
      error[level][0] = distance(q, s->q, 2);
      error[level][1] = distance(v, s->v, 2);
      error[level][2] = distance(lambda, s->lambda, 2);
      assert_true(fabs(s->lambda[0] - 3.0 * s->lambda[1]) <= 1e-6 * fabs(s->lambda[0]));
      close_run(&r);
    }
    printf("pendulum twice, method %d\n", (int)methods[m]);
    check_order("q", error[0][0], error[1][0], 1.9);
    check_order("v", error[0][1], error[1][1], 1.9);
    check_order("lambda", error[0][2], error[1][2], 1.9);
  }
}

/// Three of the twenty rows of a planar linkage in space are redundant. Motion, constraint force and the
/// multipliers themselves converge at second order; the latter against a finer run.
static void test_planar_linkage_in_space(void **state) {
  (void)state;
  enum { LEVELS = 4 };
  for (int m = 0; m < 2; ++m) {
    double q[3], v[3], force[3], lambda[LEVELS][20], change[3];
    for (int level = 0; level < LEVELS; ++level) {
      run r;
      open_run(&r, loops_fourbar(), methods[m], 0.004 / (1 << level));
      assert_int_equal(r.report.n_redundant, 3);
      assert_int_equal(r.report.degrees_of_freedom, 1);
      for (int i = 0; i < 3; ++i) assert_in_range(r.report.redundant[i], 0, 19);
      advance(&r, 0.4);
      const as_state *s = as_integrator_state(r.integrator);
      memcpy(lambda[level], s->lambda, sizeof lambda[level]);
      if (level < 3) {
        double exact_q[21], exact_v[18], exact_vdot[18], d[18];
        r.problem->exact(r.problem, 0.4, exact_q, exact_v, exact_vdot, NULL);
        as_space_difference(as_problem_space(r.made), exact_q, s->q, d);
        q[level] = distance(d, (const double[18]){0}, 18);
        v[level] = distance(exact_v, s->v, 18);
        force[level] = distance(exact_vdot, s->vdot, 18); // B^T lambda = f0 - M v'
      }
      close_run(&r);
    }
    for (int level = 0; level < 3; ++level)
      change[level] = distance(lambda[level], lambda[level + 1], 20);
    printf("linkage in space, method %d\n", (int)methods[m]);
    check_order("q", q[1], q[2], 1.9);
    check_order("v", v[1], v[2], 1.9);
    check_order("v'", force[1], force[2], 1.9);
    check_order("lambda", change[1], change[2], 1.9);
  }
}

/// Output and failed restarts leave the run as it was, redundant rows and all.
static void test_undisturbed(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    run r[2];
    for (int k = 0; k < 2; ++k) open_run(&r[k], loops_fourbar(), methods[m], 0.004);
    for (int i = 0; i < 50; ++i) {
      double v[18];
      for (int k = 0; k < 2; ++k)
        assert_int_equal(as_integrator_step(r[k].integrator, 0.004, &r[k].error), AS_OK);
      assert_int_equal(as_integrator_velocity(r[1].integrator, v, &r[1].error), AS_OK);
      if (i % 10 != 9) continue;
      double q[21];
      memcpy(q, r[1].problem->q0, sizeof q);
      q[0] += 100.0; // torn apart
      q[14] -= 100.0;
      const as_initial torn = {.t = 0.0, .q = q};
      const as_status status = as_integrator_start(r[1].integrator, &torn, NULL, &r[1].error);
      if (status == AS_OK) fail_msg("this should not assemble");
    }
    const as_state *x = as_integrator_state(r[0].integrator);
    const as_state *y = as_integrator_state(r[1].integrator);
    for (int i = 0; i < 21; ++i) assert_true(x->q[i] == y->q[i]);
    for (int i = 0; i < 20; ++i) assert_true(x->lambda[i] == y->lambda[i]);
    for (int k = 0; k < 2; ++k) close_run(&r[k]);
  }
}

// ---- contradictory --------------------------------------------------------------------------------

static void refused(test_problem *p, const char *name1, const char *name2) {
  for (int m = 0; m < 2; ++m) {
    run r;
    assert_int_equal(open_at(&r, p, methods[m], 0.01, p->t0, p->q0, p->v0), AS_ERR_INCONSISTENT);
    assert_non_null(strstr(r.error.message, name1));
    assert_non_null(strstr(r.error.message, name2));
    as_integrator_destroy(r.integrator);
    as_problem_destroy(r.made);
  }
  loops_free(p);
}

static void test_contradictions(void **state) {
  (void)state;
  refused(loops_pendulum_contradictory(), "lambda[0]", "lambda[1]");
  refused(loops_nfourbar_off(1, (const double[]){4.0, 0.0}), "lambda[", "cannot be reached");
  refused(loops_fourbar_off((const double[]){0.0, 0.0, 1e-3}), "lambda[", "contradict");
}

/// What can be assembled is: a pin moved by a millimetre, with redundant rows too.
static void test_assembly(void **state) {
  (void)state;
  for (int m = 0; m < 2; ++m) {
    run r;
    open_run(&r, loops_nfourbar_off(1, (const double[]){1e-3, 0.0}), methods[m], 0.005);
    assert_true(r.report.position_residual > 9e-4);
    assert_true(r.report.position_drift < 1e-14);
    assert_true(r.report.position_change > 1e-4 && r.report.position_change < 1e-2);
    close_run(&r);
    open_run(&r, loops_fourbar_off((const double[]){1e-3, 0.0, 0.0}), methods[m], 0.005);
    assert_true(r.report.position_drift < 1e-13);
    assert_int_equal(r.report.n_redundant, 3);
    advance(&r, 0.2);
    close_run(&r);
  }
}

// ---- singular positions ---------------------------------------------------------------------------

/// The worst angle error of the cranks against the closed form.
static double angle_error(const run *r, int N) {
  const as_state *s = as_integrator_state(r->integrator);
  double psi, rate, worst = 0.0;
  loops_nfourbar_angle(r->problem, s->t, &psi, &rate);
  for (int crank = 0; crank <= N; ++crank) // crank i is body 2 i, its angle pi/2 - psi
    worst = fmax(worst, fabs(s->q[6 * crank + 2] - (acos(-1.0) / 2.0 - psi)));
  return worst;
}

static double energy_change(run *r) {
  const as_state *s = as_integrator_state(r->integrator);
  double v[MAX_N];
  assert_int_equal(as_integrator_velocity(r->integrator, v, &r->error), AS_OK);
  return fabs(r->problem->energy(r->problem, s->q, v) -
              r->problem->energy(r->problem, r->problem->q0, r->problem->v0));
}

/// Several revolutions, two flat positions each, on the right branch and at second order.
static void test_flat_positions(void **state) {
  (void)state;
  const struct {
    int N;
    double t_end;
  } cases[] = {{1, 4.0}, {2, 4.0}, {40, 2.0}};
  for (int i = 0; i < 3; ++i) {
    for (int m = 0; m < 2; ++m) {
      double angle[3], energy[3];
      for (int level = 0; level < 3; ++level) {
        run r;
        open_run(&r, loops_nfourbar(cases[i].N), methods[m], 0.01 / (1 << level));
        assert_int_equal(r.report.n_redundant, 0);
        assert_int_equal(r.report.degrees_of_freedom, 1);
        advance(&r, cases[i].t_end);
        angle[level] = angle_error(&r, cases[i].N);
        energy[level] = energy_change(&r) / (2 * cases[i].N + 1);
        close_run(&r);
      }
      printf("N = %d, method %d: energy per rod %.1e %.1e %.1e\n", cases[i].N, (int)methods[m],
             energy[0], energy[1], energy[2]);
      check_order("angle", angle[1], angle[2], 1.8);
      assert_true(energy[2] <= 1e-4);
    }
  }
}

/// The time at which the linkage is flat for the first time.
static double flat_time(const test_problem *p) {
  double low = 0.0, high = 1.0, psi, rate;
  for (int i = 0; i < 60; ++i) {
    const double t = 0.5 * (low + high);
    loops_nfourbar_angle(p, t, &psi, &rate);
    *(psi < acos(0.0) ? &low : &high) = t;
  }
  return 0.5 * (low + high);
}

/// A mesh point exactly on the singularity, and a start there.
static void test_on_the_singularity(void **state) {
  (void)state;
  for (int N = 1; N <= 2; ++N) {
    for (int m = 0; m < 2; ++m) {
      test_problem *p = loops_nfourbar(N);
      const double t = flat_time(p);
      double through[3], from[3];
      loops_free(p);
      for (int level = 0; level < 3; ++level) {
        const int steps = 80 << level;
        const double h = t / steps;
        run r;
        open_run(&r, loops_nfourbar(N), methods[m], h);
        for (int i = 0; i < 3 * steps; ++i)
          if (as_integrator_step(r.integrator, h, &r.error)) fail_msg("%s", r.error.message);
        through[level] = angle_error(&r, N);
        close_run(&r);

        double q[15], v[15];
        p = loops_nfourbar(N);
        p->exact(p, t, q, v, NULL, NULL);
        const as_status status = open_at(&r, p, methods[m], h, t, q, v);
        if (status) fail_msg("flat start: %s", r.error.message);
        assert_int_equal(r.report.n_redundant + r.report.n_nearly_redundant, N);
        for (int i = 0; i < 2 * steps; ++i)
          if (as_integrator_step(r.integrator, h, &r.error)) fail_msg("%s", r.error.message);
        from[level] = angle_error(&r, N);
        close_run(&r);
      }
      printf("N = %d, method %d\n", N, (int)methods[m]);
      assert_true(through[0] < 2e-3 && from[0] < 1e-2);
      check_order("through it", through[0], through[2], 3.0); // two halvings
      check_order("from it", from[0], from[2], 3.0);
    }
  }
}

// ---- nearly redundant -----------------------------------------------------------------------------

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, 1.0);
  return AS_DONE;
}

static int weight(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = f[1] = 0.0;
  f[2] = -9.81;
  return AS_DONE;
}

/// Two planes that differ by a small angle.
static int two_planes(const as_point *at, double *g, void *user) {
  const double angle = *(const double *)user;
  g[0] = at->q[2];
  g[1] = at->q[2] + angle * at->q[0];
  return AS_DONE;
}

static void name_row(as_quantity quantity, int index, char *text, size_t size, void *user) {
  (void)user;
  snprintf(text, size, "%s %d", quantity == AS_QUANTITY_LAMBDA ? "plane" : "axis", index);
}

static void test_nearly_redundant(void **state) {
  (void)state;
  const double angles[] = {0.0, 1e-12, 1e-6, 1e-4, 0.1};
  const int redundant[] = {1, 1, 1, 0, 0}, nearly[] = {0, 0, 0, 1, 0};
  for (int i = 0; i < 5; ++i) {
    const as_space_part part = {AS_SPACE_RN, 3};
    as_problem_def def = as_default_problem_def();
    double angle = angles[i];
    def.parts = &part;
    def.n_parts = 1;
    def.n_lambda = 2;
    def.mass_constant = def.scleronomic = true;
    def.mass = unit_mass;
    def.force = weight;
    def.constraint = two_planes;
    def.describe = name_row;
    def.user = &angle;
    run r = {0};
    as_integrator_def how = as_default_integrator_def();
    how.log = remember;
    how.log_user = &r;
    assert_int_equal(as_problem_create(&def, &r.made, &r.error), AS_OK);
    assert_int_equal(as_integrator_create(r.made, &how, &r.integrator, &r.error), AS_OK);
    const double q[] = {0.0, 0.0, 0.0};
    if (as_integrator_start(r.integrator, &(as_initial){.q = q}, &r.report, &r.error))
      fail_msg("%g: %s", angle, r.error.message);
    assert_int_equal(r.report.n_redundant, redundant[i]);
    assert_int_equal(r.report.n_nearly_redundant, nearly[i]);
    assert_int_equal(r.warnings, redundant[i] + nearly[i]);
    if (r.warnings > 0) assert_non_null(strstr(r.last_warning, "plane"));
    as_integrator_destroy(r.integrator);
    as_problem_destroy(r.made);
  }
}

// ---- nonholonomic rows that repeat holonomic ones ---------------------------------------------------

static int sphere(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] + at->q[2] * at->q[2] - 1.0) / 2.0;
  return AS_DONE;
}

/// The rate of `sphere`, and something of its own.
static int sphere_rate(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = 2.0 * (at->q[0] * at->v[0] + at->q[1] * at->v[1] + at->q[2] * at->v[2]);
  k[1] = at->q[0] * at->v[1] - at->q[1] * at->v[0];
  return AS_DONE;
}

static void test_repeated_rate(void **state) {
  (void)state;
  const as_method all[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  for (int m = 0; m < 3; ++m) {
    const as_space_part part = {AS_SPACE_RN, 3};
    as_problem_def def = as_default_problem_def();
    def.parts = &part;
    def.n_parts = 1;
    def.n_lambda = 1;
    def.n_psi = 2;
    def.mass_constant = def.scleronomic = true;
    def.mass = unit_mass;
    def.force = weight;
    def.constraint = sphere;
    def.nonholonomic = sphere_rate;
    run r = {0};
    as_integrator_def how = as_default_integrator_def();
    how.method = all[m];
    how.step = 0.005;
    how.log = remember;
    how.log_user = &r;
    assert_int_equal(as_problem_create(&def, &r.made, &r.error), AS_OK);
    assert_int_equal(as_integrator_create(r.made, &how, &r.integrator, &r.error), AS_OK);
    const double q[] = {0.6, 0.0, -0.8}, v[] = {0.8, 0.0, 0.6};
    const as_initial initial = {.q = q, .v = v};
    if (as_integrator_start(r.integrator, &initial, &r.report, &r.error))
      fail_msg("%s", r.error.message);
    assert_int_equal(r.report.n_redundant, 1);
    assert_int_equal(r.report.degrees_of_freedom, 1);
    assert_true(r.report.redundant[0] == 0 ||
                r.report.redundant[0] == 1); // g, or the first row of k
    assert_true(strstr(r.last_warning, "lambda[0]") || strstr(r.last_warning, "psi[0]"));
    const as_status status = as_integrator_advance(r.integrator, 0.5, &r.error);
    if (status) fail_msg("%s", r.error.message);
    const as_state *s = as_integrator_state(r.integrator);
    assert_true(fabs(s->q[1]) < 1e-9); // a plane pendulum
    const double energy = (s->v[0] * s->v[0] + s->v[2] * s->v[2]) / 2.0 + 9.81 * s->q[2];
    assert_true(fabs(energy - (0.5 - 9.81 * 0.8)) < 2e-3);
    as_integrator_destroy(r.integrator);
    as_problem_destroy(r.made);
  }
}

// ---- how far constraints give way --------------------------------------------------------------------

static int single_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int no_force(const as_point *at, double *out, void *user) {
  (void)at, (void)user;
  *out = 0.0;
  return AS_DONE;
}

/// Holds q until 0.05 s; from then on it moves nothing, and is off by a gap.
static int loose_row(const as_point *at, double *out, void *user) {
  *out = at->t < 0.05 ? at->q[0] : *(const double *)user;
  return AS_DONE;
}

static int loose_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q))
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, at->t < 0.05 ? 1.0 : 0.0);
  return AS_DONE;
}

/// [RE.5] Compliance carries a step as long as constraints give way by 1e-5, and not beyond.
static void test_give(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  static const as_method with_positions[] = {AS_METHOD_INDEX3, AS_METHOD_SOI2};
  for (int i = 0; i < 4; ++i) {
    double gap = i & 1 ? 1.0001e-5 : 0.9999e-5;
    const double zero = 0.0;
    test_problem p = {.name = "loose row", .def = as_default_problem_def()};
    p.def.parts = &line;
    p.def.n_parts = p.def.n_lambda = 1;
    p.def.mass_constant = true;
    p.def.mass = single_mass;
    p.def.force = no_force;
    p.def.constraint = loose_row;
    p.def.jacobian = loose_jacobian;
    p.def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
    p.def.user = &gap;
    run r;
    assert_int_equal(open_at(&r, &p, with_positions[i / 2], 0.1, 0.0, &zero, &zero), AS_OK);
    const as_status status = as_integrator_step(r.integrator, 0.1, &r.error);
    assert_int_equal(status, i & 1 ? AS_ERR_SINGULAR : AS_OK);
    const double t = as_integrator_state(r.integrator)->t;
    assert_true(status ? t < 0.05 : t == 0.1); // the parts before it are there
    as_integrator_destroy(r.integrator);
    as_problem_destroy(r.made);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_give),
      cmocka_unit_test(test_repeated_rate),
      cmocka_unit_test(test_undisturbed),
      cmocka_unit_test(test_duplicate_row),
      cmocka_unit_test(test_planar_linkage_in_space),
      cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_assembly),
      cmocka_unit_test(test_flat_positions),
      cmocka_unit_test(test_on_the_singularity),
      cmocka_unit_test(test_nearly_redundant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
