/// Starting values: the projections make the least mass-weighted change, v'_0 and lambda_0 are
/// those of the motion, and the corrections of a_0 and v_0 make the multipliers second order.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "problems/problems.h"

enum { MAX_SIZE = 32 };

// LAPACK: least squares.
void dgels_(const char *trans, const int *m, const int *n, const int *nrhs, double *a,
            const int *lda, double *b, const int *ldb, double *work, const int *lwork, int *info);

static void check_near(const char *problem, const char *what, double value, double expected,
                       double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%s: %s = %.17g, expected %.17g: off by %.3g > %.3g", problem, what, value, expected,
             fabs(value - expected), tolerance);
}

static double largest(const double *x, int n) {
  double m = 0.0;
  for (int i = 0; i < n; ++i) m = fmax(m, fabs(x[i]));
  return m;
}

// ---- a run --------------------------------------------------------------------------------------

typedef struct run {
  const char *name;
  as_problem *problem;
  as_integrator *integrator;
} run;

static run run_open(const char *name, const as_problem_def *problem_def,
                    const as_integrator_def *def) {
  run r = {.name = name};
  as_error error = {0};
  as_status status = as_problem_create(problem_def, &r.problem, &error);
  if (status == AS_OK) status = as_integrator_create(r.problem, def, &r.integrator, &error);
  if (status) fail_msg("%s: %s", name, error.message);
  assert_true(r.integrator->kin.problem->nq <= MAX_SIZE &&
              r.integrator->stepper.step.size <= MAX_SIZE);
  return r;
}

static void run_close(run *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->problem);
}

static as_start_report run_start(run *r, double t, const double *q, const double *v) {
  as_error error = {0};
  as_start_report report;
  memset(&report, 0xff, sizeof report); // every field must be written
  const as_initial initial = {.t = t, .q = q, .v = v};
  if (as_integrator_start(r->integrator, &initial, &report, &error))
    fail_msg("%s: %s", r->name, error.message);
  return report;
}

static void run_step(run *r, double h) {
  as_error error = {0};
  if (as_integrator_step(r->integrator, h, &error)) fail_msg("%s: %s", r->name, error.message);
}

// ---- a point on an ellipse ----------------------------------------------------------------------

typedef struct ellipse {
  double a, b;   ///< half axes
  double mx, my; ///< masses
} ellipse;

static int ellipse_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const ellipse *c = user;
  as_matrix_add(m, 0, 0, c->mx);
  as_matrix_add(m, 1, 1, c->my);
  return AS_DONE;
}

static int ellipse_force(const as_point *at, double *out, void *user) {
  (void)at;
  (void)user;
  out[0] = 0.0;
  out[1] = -1.0;
  return AS_DONE;
}

static int ellipse_constraint(const as_point *at, double *out, void *user) {
  const ellipse *c = user;
  const double x = at->q[0] / c->a, y = at->q[1] / c->b;
  out[0] = 0.5 * (x * x + y * y - 1.0);
  return AS_DONE;
}

static int ellipse_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks,
                            void *user) {
  const ellipse *c = user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, at->q[0] / (c->a * c->a));
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, at->q[1] / (c->b * c->b));
  }
  return AS_DONE;
}

static as_problem_def ellipse_def(ellipse *c) {
  static const as_space_part space[] = {{AS_SPACE_RN, 2}};
  as_problem_def def = as_default_problem_def();
  def.parts = space;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = ellipse_mass;
  def.force = ellipse_force;
  def.constraint = ellipse_constraint;
  def.jacobian = ellipse_jacobian;
  def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.user = c;
  return def;
}

/// The angle s that minimises mx (a cos(s) - x)^2 + my (b sin(s) - y)^2, by search on a grid, then
/// bisection of the derivative.
static double nearest_angle(const ellipse *c, double x, double y) {
  const double pi = acos(-1.0);
  const int n = 1000;
  double best = (double)INFINITY, angle = 0.0;
  for (int i = 0; i < n; ++i) {
    const double s = 2.0 * pi * i / n;
    const double dx = c->a * cos(s) - x, dy = c->b * sin(s) - y;
    const double distance = c->mx * dx * dx + c->my * dy * dy;
    if (distance >= best) continue;
    best = distance;
    angle = s;
  }
  double low = angle - 2.0 * pi / n, high = angle + 2.0 * pi / n;
  for (int i = 0; i < 100; ++i) {
    const double s = 0.5 * (low + high);
    const double slope =
        -c->mx * (c->a * cos(s) - x) * c->a * sin(s) + c->my * (c->b * sin(s) - y) * c->b * cos(s);
    if (slope > 0.0)
      high = s;
    else
      low = s;
  }
  return 0.5 * (low + high);
}

static void check_nearest(ellipse c, double x, double y, double tolerance) {
  const as_problem_def problem_def = ellipse_def(&c);
  const as_integrator_def def = as_default_integrator_def();
  run r = run_open("ellipse", &problem_def, &def);
  const double q0[] = {x, y};
  const as_start_report report = run_start(&r, 0.0, q0, NULL);
  const double *q = as_integrator_state(r.integrator)->q;
  const double angle = nearest_angle(&c, x, y);
  const double near_x = c.a * cos(angle), near_y = c.b * sin(angle);
  check_near("ellipse", "x", q[0], near_x, tolerance);
  check_near("ellipse", "y", q[1], near_y, tolerance);
  const double dx = near_x - x, dy = near_y - y;
  check_near("ellipse", "position_change", report.position_change,
             sqrt(c.mx * dx * dx + c.my * dy * dy), 10.0 * tolerance);
  const double gx = x / c.a, gy = y / c.b;
  check_near("ellipse", "position_residual", report.position_residual,
             0.5 * fabs(gx * gx + gy * gy - 1.0), 1e-15);
  check_near("ellipse", "position_drift", report.position_drift, 0.0, 2e-14);
  run_close(&r);
}

static void test_circle(void **state) {
  (void)state;
  const ellipse circle = {1.0, 1.0, 1.0, 1.0};
  check_nearest(circle, 0.5, -0.3, 1e-11);
  check_nearest(circle, 1.1, 0.2, 1e-11);
  check_nearest(circle, -3.0, 4.0, 1e-11);
}

// The projection ends when g = 0 to round-off; along the ellipse g has only a quadratic effect.
static void test_ellipse(void **state) {
  (void)state;
  const ellipse flat = {2.0, 1.0, 1.0, 1.0}, heavy = {1.0, 1.0, 1.0, 5.0},
                both = {2.0, 1.0, 3.0, 0.7};
  check_nearest(flat, 1.501, 0.7, 3e-8);
  check_nearest(flat, 1.6, 0.7, 3e-8);
  check_nearest(flat, 1.0, -1.1, 3e-8);
  check_nearest(heavy, 0.8, 0.7, 3e-8);
  check_nearest(heavy, -0.5, 0.8, 3e-8);
  check_nearest(both, 1.5, 0.8, 3e-8);
}

// ---- least change in general --------------------------------------------------------------------

/// The size of what is left of M d when it is fitted by B^T mu, against the size of M d; all at q.
static double not_normal(const test_problem *p, const as_problem *problem, double t,
                         const double *q, const double *d) {
  asi_evaluator e;
  as_statistics count = {0};
  as_error error = {0};
  as_matrix block[AS_BLOCK_COUNT] = {{0}};
  const as_point at = {.t = t, .q = q};
  const int n = problem->n, m = p->def.n_lambda, one = 1, n_work = 16 * MAX_SIZE;
  double a[MAX_SIZE * MAX_SIZE] = {0}, b[MAX_SIZE] = {0}, work[16 * MAX_SIZE];
  int info = -1;
  assert_int_equal(asi_evaluator_init(&e, problem, &count, &error), AS_OK);
  assert_int_equal(asi_matrix_init(&block[AS_BLOCK_M], &problem->pattern[AS_BLOCK_M], &error),
                   AS_OK);
  assert_int_equal(asi_matrix_init(&block[AS_BLOCK_G_Q], &problem->pattern[AS_BLOCK_G_Q], &error),
                   AS_OK);
  assert_int_equal(
      asi_eval_blocks(&e, &at, AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q), block),
      AS_OK);
  asi_matrix_multiply_add(&block[AS_BLOCK_M], 1.0, d, b);
  const as_matrix *g_q = &block[AS_BLOCK_G_Q];
  for (int j = 0; j < n; ++j)
    for (int k = g_q->col_start[j]; k < g_q->col_start[j + 1]; ++k)
      a[g_q->row[k] * n + j] = g_q->value[k]; // B^T by columns
  double total = 0.0, left = 0.0;
  for (int i = 0; i < n; ++i) total += b[i] * b[i];
  dgels_("N", &n, &m, &one, a, &n, b, &n, work, &n_work, &info);
  assert_int_equal(info, 0);
  for (int i = m; i < n; ++i) left += b[i] * b[i];
  asi_matrix_free(&block[AS_BLOCK_M]);
  asi_matrix_free(&block[AS_BLOCK_G_Q]);
  asi_evaluator_free(&e);
  return sqrt(left / total);
}

/// sqrt(d^T M d) at q.
static double mass_norm(const test_problem *p, const as_problem *problem, double t, const double *q,
                        const double *d) {
  as_matrix m = {0};
  as_error error = {0};
  double md[MAX_SIZE] = {0}, sum = 0.0;
  assert_int_equal(asi_matrix_init(&m, &problem->pattern[AS_BLOCK_M], &error), AS_OK);
  assert_int_equal(p->def.mass(&(as_point){.t = t, .q = q}, &m, p->def.user), AS_DONE);
  asi_matrix_multiply_add(&m, 1.0, d, md);
  for (int i = 0; i < problem->n; ++i) sum += d[i] * md[i];
  asi_matrix_free(&m);
  return sqrt(sum);
}

/// M d + B^T mu = 0 for the move d of q, and g = 0.
static void test_position_change_is_normal(void **state) {
  (void)state;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    if (p->def.n_lambda == 0) continue;
    const as_integrator_def def = as_default_integrator_def();
    run r = run_open(p->name, &p->def, &def);
    const as_problem *problem = r.problem;
    double xi[MAX_SIZE], q0[MAX_SIZE], d[MAX_SIZE];
    for (int j = 0; j < problem->n; ++j) xi[j] = 0.01 * problem->typical[j] * sin(2.0 + 3.0 * j);
    as_space_move(problem->space, p->q0, xi, q0);
    const as_start_report report = run_start(&r, p->t0, q0, p->v0);
    const double *q = as_integrator_state(r.integrator)->q;
    as_space_difference(problem->space, q0, q, d);
    const double angle = not_normal(p, problem, p->t0, q, d);
    printf("%-26s |g| %.1e -> %.1e in %d, not normal by %.1e of a move of %.1e\n", p->name,
           report.position_residual, report.position_drift, report.position_iterations, angle,
           report.position_change);
    check_near(p->name, "position_drift", report.position_drift, 0.0, 1e-13);
    check_near(p->name, "position_change", report.position_change,
               mass_norm(p, problem, p->t0, q, d), 1e-9 * report.position_change);
    assert_true(report.position_iterations > 0);
    check_near(p->name, "M d + B^T mu, over M d", angle, 0.0, 1e-5);
    run_close(&r);
  }
}

/// M d + B^T mu = 0 for the change d of v, and g_t + B v = 0.
static void test_velocity_change_is_normal(void **state) {
  (void)state;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    if (p->def.n_lambda == 0) continue;
    const as_integrator_def def = as_default_integrator_def();
    run r = run_open(p->name, &p->def, &def);
    const as_problem *problem = r.problem;
    const int n = problem->n;
    double v0[MAX_SIZE], d[MAX_SIZE];
    for (int j = 0; j < n; ++j) v0[j] = p->v0[j] + sin(2.0 + 3.0 * j);
    const as_start_report report = run_start(&r, p->t0, p->q0, v0);
    const as_state *s = as_integrator_state(r.integrator);
    for (int j = 0; j < n; ++j) d[j] = s->v[j] - v0[j];
    const double angle = not_normal(p, problem, p->t0, s->q, d);
    double rate[MAX_SIZE];
    assert_int_equal(
        p->def.constraint_rate(&(as_point){.t = p->t0, .q = s->q, .v = v0}, rate, p->def.user),
        AS_DONE);
    printf("%-26s |g'| %.1e -> %.1e in %d, not normal by %.1e of a change of %.1e\n", p->name,
           report.velocity_residual, report.velocity_drift, report.velocity_iterations, angle,
           report.velocity_change);
    const double speed = 1.0 + largest(v0, n), residual = largest(rate, p->def.n_lambda);
    check_near(p->name, "velocity_residual", report.velocity_residual, residual, 1e-12 * speed);
    check_near(p->name, "velocity_drift", report.velocity_drift, 0.0, 1e-13 * speed);
    check_near(p->name, "velocity_change", report.velocity_change,
               mass_norm(p, problem, p->t0, s->q, d), 1e-9 * report.velocity_change);
    assert_true(report.velocity_iterations > 0);
    check_near(p->name, "M d + B^T mu, over M d", angle, 0.0, 1e-11);
    run_close(&r);
  }
}

// ---- consistent values --------------------------------------------------------------------------

/// Values on the constraints stay where they are, and v'_0 and lambda_0 are those of the motion.
static void test_consistent_values(void **state) {
  (void)state;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    const as_integrator_def def = as_default_integrator_def();
    run r = run_open(p->name, &p->def, &def);
    const int n = r.problem->n, m = p->def.n_lambda;
    double moved[MAX_SIZE], vdot[MAX_SIZE], lambda[MAX_SIZE];
    const as_start_report report = run_start(&r, p->t0, p->q0, p->v0);
    const as_state *s = as_integrator_state(r.integrator);
    as_space_difference(r.problem->space, p->q0, s->q, moved);
    p->exact(p, p->t0, NULL, NULL, vdot, lambda);
    const double size = 1.0 + largest(p->q0, r.problem->nq), speed = 1.0 + largest(p->v0, n);
    check_near(p->name, "t", s->t, p->t0, 0.0);
    check_near(p->name, "position_change", report.position_change, 0.0, 1e-14);
    check_near(p->name, "velocity_change", report.velocity_change, 0.0, 1e-14 * speed);
    for (int j = 0; j < n; ++j) {
      check_near(p->name, "the move of q", moved[j], 0.0, 1e-15 * size);
      check_near(p->name, "v", s->v[j], p->v0[j], 1e-15 * speed);
      check_near(p->name, "v'", s->vdot[j], vdot[j], 1e-12 * (1.0 + largest(vdot, n)));
      check_near(p->name, "a", s->a[j], s->vdot[j], 0.0);
    }
    for (int j = 0; j < m; ++j)
      check_near(p->name, "lambda", s->lambda[j], lambda[j], 1e-12 * (1.0 + largest(lambda, m)));
    run_close(&r);
  }
}

/// Without projection inconsistent values are refused, and a refusal leaves the state as it was.
static void test_refusal_keeps_state(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  as_integrator_def def = as_default_integrator_def();
  def.project_start = false;
  run r = run_open(p->name, &p->def, &def);
  run_start(&r, p->t0, p->q0, p->v0);
  run_step(&r, 0.01);
  const as_state *s = as_integrator_state(r.integrator);
  const double before[] = {s->t, s->q[0], s->q[1], s->v[0], s->v[1], s->vdot[0], s->lambda[0]};
  const double off_q[] = {0.2, -0.9}, off_v[] = {1.0, 1.0};
  as_error error;
  for (int i = 0; i < 2; ++i) {
    const as_initial initial = {.t = 7.0, .q = i ? p->q0 : off_q, .v = i ? off_v : p->v0};
    assert_int_equal(as_integrator_start(r.integrator, &initial, NULL, &error),
                     AS_ERR_INCONSISTENT);
    assert_string_equal(error.component, "lambda[0]");
    const double after[] = {s->t, s->q[0], s->q[1], s->v[0], s->v[1], s->vdot[0], s->lambda[0]};
    const char *const names[] = {"t", "q[0]", "q[1]", "v[0]", "v[1]", "v'[0]", "lambda[0]"};
    for (int j = 0; j < 7; ++j)
      check_near("after a refused start", names[j], after[j], before[j], 0.0);
  }
  run_close(&r);
}

// ---- a_0 and v_0 --------------------------------------------------------------------------------

/// Can exact() be asked at any time?
static bool has_solution_near_start(const test_problem *p) {
  double vdot[MAX_SIZE];
  p->exact(p, p->t0 + 1e-3, NULL, NULL, vdot, NULL);
  return isfinite(vdot[0]);
}

static bool starts_at_rest(const test_problem *p) {
  double v[MAX_SIZE] = {0};
  p->exact(p, p->t0, NULL, v, NULL, NULL);
  return largest(v, MAX_SIZE) == 0.0;
}

/// v'' at t0 of the solution, by differences of v' over +-e and +-2e.
static void solution_jerk(const test_problem *p, double e, int n, double *out) {
  const double place[] = {-2.0, -1.0, 1.0, 2.0};
  const double weight[] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
  memset(out, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < 4; ++i) {
    double vdot[MAX_SIZE];
    p->exact(p, p->t0 + place[i] * e, NULL, NULL, vdot, NULL);
    for (int j = 0; j < n; ++j) out[j] += weight[i] / e * vdot[j];
  }
}

/// The largest error of the first step's a_0 as v'(t_0 + D h).
static double a0_error(const test_problem *p, bool improved, double h) {
  as_integrator_def def = as_default_integrator_def();
  double expected[MAX_SIZE], e = 0.0;
  def.improved_start = improved;
  run r = run_open(p->name, &p->def, &def);
  run_start(&r, p->t0, p->q0, p->v0);
  run_step(&r, h);
  p->exact(p, p->t0 + r.integrator->stepper.D * h, NULL, NULL, expected, NULL);
  for (int j = 0; j < r.problem->n; ++j)
    e = fmax(e, fabs(r.integrator->stepper.a0[j] - expected[j]));
  run_close(&r);
  return e;
}

// Second order if improved; first order if not, except where v'' = 0 at the start (at rest).
static void test_improved_a0(void **state) {
  (void)state;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    if (!has_solution_near_start(p)) continue;
    const double h = 1e-3 * p->def.time_scale;
    const double plain = log2(a0_error(p, false, 2.0 * h) / a0_error(p, false, h));
    const double improved = log2(a0_error(p, true, 2.0 * h) / a0_error(p, true, h));
    printf("%-26s a_0: order %.3f plain, %.3f improved\n", p->name, plain, improved);
    if (!(improved >= 1.9)) fail_msg("%s: a_0 has order %g only", p->name, improved);
    if (!starts_at_rest(p)) check_near(p->name, "order of plain a_0", plain, 1.0, 0.1);
  }
}

/// [ABC] (56)(57): M dv + B^T mu = 0, B dv = B l/h, l = h^3/6 [(1 - 6 beta - 3 D) v'' + [v,v']/2]
static void test_perturbed_v0(void **state) {
  (void)state;
  int seen = 0; // problems where dv is not zero
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    if (p->def.n_lambda == 0 || !has_solution_near_start(p)) continue;
    const double h = 1e-3 * p->def.time_scale;
    as_integrator_def def = as_default_integrator_def();
    def.method = AS_METHOD_INDEX3;
    run r = run_open(p->name, &p->def, &def);
    as_integrator *s = r.integrator;
    const int n = r.problem->n;
    double jerk[MAX_SIZE], l[MAX_SIZE], dv[MAX_SIZE], q[MAX_SIZE], v[MAX_SIZE], vdot[MAX_SIZE];
    solution_jerk(p, h, n, jerk);
    p->exact(p, p->t0, q, v, vdot, NULL);
    as_space_bracket(r.problem->space, v, vdot, l);
    for (int j = 0; j < n; ++j)
      l[j] = h * h / 6.0 *
             ((1.0 - 6.0 * s->stepper.c.beta - 3.0 * s->stepper.D) * jerk[j] + 0.5 * l[j]);
    run_start(&r, p->t0, p->q0, p->v0);
    run_step(&r, h);
    for (int j = 0; j < n; ++j) dv[j] = s->stepper.v0[j] - p->v0[j];
    // B x = (g_t + B (v + x)) - (g_t + B v)
    double rate[3][MAX_SIZE], shifted[MAX_SIZE];
    for (int k = 0; k < 3; ++k) {
      for (int j = 0; j < n; ++j)
        shifted[j] = p->v0[j] + (k == 0 ? 0.0 : k == 1 ? l[j] : dv[j]) / (h * h);
      p->def.constraint_rate(&(as_point){.t = p->t0, .q = p->q0, .v = shifted}, rate[k],
                             p->def.user);
    }
    double off = 0.0, size = 0.0;
    for (int j = 0; j < p->def.n_lambda; ++j) {
      off = fmax(off, fabs(rate[2][j] - rate[1][j]));
      size = fmax(size, fabs(rate[1][j] - rate[0][j]));
    }
    printf("%-26s |B dv| = %.3e h^2, off by %.1e h^2\n", p->name, size, off);
    const double scale = size + 1e-3 * largest(jerk, n);
    check_near(p->name, "|B dv - B l/h| / h^2", off, 0.0, 1e-4 * scale);
    if (p->def.force_kind == AS_FORCE_ADDITIVE && size > 1e-3 * largest(jerk, n))
      check_near(p->name, "M dv + B^T mu, over M dv", not_normal(p, r.problem, p->t0, p->q0, dv),
                 0.0, 1e-7);
    if (size > 1e-3 * largest(jerk, n)) ++seen;
    run_close(&r);
  }
  assert_true(seen >= 5);
}

/// The largest error of lambda in [0, 1.2 s], 60 steps of 0.02 s: pendulum, index-3, rho_inf 0.9.
static double early_lambda_error(bool corrected, double h) {
  const test_problem *p = problem_pendulum();
  as_integrator_def def = as_default_integrator_def();
  def.method = AS_METHOD_INDEX3;
  def.rho_inf = 0.9;
  def.improved_start = def.perturbed_start = corrected;
  run r = run_open(p->name, &p->def, &def);
  run_start(&r, p->t0, p->q0, p->v0);
  const as_state *s = as_integrator_state(r.integrator);
  const int n = (int)lround(1.2 / h);
  double e = 0.0;
  for (int i = 0; i < n; ++i) {
    double lambda;
    run_step(&r, h);
    p->exact(p, s->t, NULL, NULL, NULL, &lambda);
    e = fmax(e, fabs(s->lambda[0] - lambda));
  }
  run_close(&r);
  return e;
}

// Without the corrections an error of order h is excited, which oscillates.
static void test_early_lambda(void **state) {
  (void)state;
  const char *const names[] = {"order of lambda, plain start", "order of lambda, corrected start"};
  for (int k = 0; k < 2; ++k) {
    const double coarse = early_lambda_error(k == 1, 0.02), fine = early_lambda_error(k == 1, 0.01);
    printf("%s: %.4g %.4g\n", names[k], coarse, fine);
    check_near("pendulum", names[k], log2(coarse / fine), k ? 2.0 : 1.0, 0.1);
  }
}

// ---- starting again -----------------------------------------------------------------------------

static void check_same_state(const run *r, const as_state *x, const as_state *y) {
  const as_problem *p = r->problem;
  const size_t n = (size_t)p->n * sizeof(double), m = (size_t)p->def.n_lambda * sizeof(double);
  if (x->t != y->t || memcmp(x->q, y->q, (size_t)p->nq * sizeof(double)) != 0 ||
      memcmp(x->v, y->v, n) != 0 || memcmp(x->vdot, y->vdot, n) != 0 ||
      memcmp(x->a, y->a, n) != 0 || memcmp(x->lambda, y->lambda, m) != 0 ||
      x->a_offset != y->a_offset)
    fail_msg("%s: a restarted run differs from a fresh one at t = %g", r->name, x->t);
}

/// A restart forgets all that was before: the run is bitwise that of a fresh integrator.
static void test_restart(void **state) {
  (void)state;
  for (int i = 0; i < 2 * problem_count(); ++i) {
    const test_problem *p = problem_get(i / 2);
    const double h = 1e-3 * p->def.time_scale;
    as_integrator_def def = as_default_integrator_def();
    def.method = i % 2 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
    run used = run_open(p->name, &p->def, &def), fresh = run_open(p->name, &p->def, &def);
    run_start(&used, p->t0, p->q0, p->v0);
    for (int k = 0; k < 20; ++k) run_step(&used, h); // leaves a usable factorization behind
    run_start(&used, p->t0, p->q0, p->v0);
    run_start(&fresh, p->t0, p->q0, p->v0);
    for (int k = 0; k < 20; ++k) {
      run_step(&used, h);
      run_step(&fresh, h);
      check_same_state(&used, as_integrator_state(used.integrator),
                       as_integrator_state(fresh.integrator));
    }
    as_statistics x, y;
    as_error error;
    assert_int_equal(as_integrator_statistics(used.integrator, &x, &error), AS_OK);
    assert_int_equal(as_integrator_statistics(fresh.integrator, &y, &error), AS_OK);
    assert_int_equal(x.steps, 20);
    assert_int_equal(x.newton_iterations, y.newton_iterations);
    assert_int_equal(x.factorizations, y.factorizations);
    assert_int_equal(x.force_evaluations, y.force_evaluations);
    run_close(&used);
    run_close(&fresh);
  }
}

/// The same with automatic steps, whose sizes follow from those before: after a run through which they have become long.
static void test_restart_automatic(void **state) {
  (void)state;
  for (int i = 0; i < 2 * problem_count(); ++i) {
    const test_problem *p = problem_get(i / 2);
    as_integrator_def def = as_default_integrator_def();
    def.method = i % 2 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
    run used = run_open(p->name, &p->def, &def), fresh = run_open(p->name, &p->def, &def);
    as_error error;
    run_start(&used, p->t0, p->q0, p->v0);
    for (int k = 0; k < 40; ++k)
      if (as_integrator_next(used.integrator, &error)) break;
    run_start(&used, p->t0, p->q0, p->v0);
    run_start(&fresh, p->t0, p->q0, p->v0);
    for (int k = 0; k < 40; ++k) {
      const as_status status = as_integrator_next(used.integrator, &error);
      assert_int_equal(status, as_integrator_next(fresh.integrator, &error));
      check_same_state(&used, as_integrator_state(used.integrator),
                       as_integrator_state(fresh.integrator));
      if (status) break;
    }
    run_close(&used);
    run_close(&fresh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_circle),
      cmocka_unit_test(test_ellipse),
      cmocka_unit_test(test_position_change_is_normal),
      cmocka_unit_test(test_velocity_change_is_normal),
      cmocka_unit_test(test_consistent_values),
      cmocka_unit_test(test_refusal_keeps_state),
      cmocka_unit_test(test_improved_a0),
      cmocka_unit_test(test_perturbed_v0),
      cmocka_unit_test(test_early_lambda),
      cmocka_unit_test(test_restart),
      cmocka_unit_test(test_restart_automatic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
