/// The state between mesh points: second order in every variable, exact where lines and cubics are, equal to
/// the mesh values at both ends, smooth across steps, left of a jump, and without a trace in later steps.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "subject.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double thetas[] = {0.1, 0.37, 0.5, 0.9};

/// SOI2 does not take first-order states and outputs.
static bool offers(as_method method, const subject *s) {
  return method != AS_METHOD_SOI2 || s->def.n_x + s->def.n_y == 0;
}

static void show(const run *r, double t) {
  as_error error = {0};
  must(as_integrator_interpolate(r->integrator, t, &error), &error);
  assert_true(as_integrator_state(r->integrator)->t == t);
}

// ---- subjects -------------------------------------------------------------------------------------

enum { MAX_SUBJECTS = 16 };

/// All spaces, all kinds of constraints and forces, states and outputs.
static int list_subjects(subject *x) {
  static manufactured made[] = {
      {.space = AS_SPACE_RN, .holonomic = true, .nonholonomic = true, .states = true},
      {.space = AS_SPACE_R3SO3, .holonomic = true, .nonholonomic = true, .general = true},
      {.space = AS_SPACE_SE3, .holonomic = true, .moving = true, .mass_varies = true},
      {.space = AS_SPACE_SE3, .holonomic = true, .nonholonomic = true, .states = true},
      {.space = AS_SPACE_R3SO3, .nonholonomic = true, .moving = true},
  };
  static const char *const names[] = {"made on R^4", "made on R^3xSO(3)", "made on SE(3)",
                                      "made on SE(3), states", "made on R^3xSO(3), k alone"};
  int n = 0;
  for (int i = 0; i < 5; ++i) x[n++] = subject_made(names[i], &made[i]);
  x[n++] = subject_plain(problem_pendulum());
  x[n++] = subject_plain(problem_double_pendulum());
  x[n++] = subject_plain(problem_free_rotation());
  x[n++] = subject_plain(problem_heavy_top_slow());
  x[n++] = subject_plain(problem_two_bodies_se3());
  x[n++] = subject_rolling(nonholonomic_disk());
  x[n++] = subject_mechatronic(mechatronic_cart_pole());
  x[n++] = subject_mechatronic(mechatronic_wheel_top());
  const double interval[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.4, 1.0, 0.5, 0.5};
  for (int i = 0; i < n; ++i) x[i].t_end = x[i].t0 + interval[i];
  return n;
}

// ---- sequences of steps -----------------------------------------------------------------------------

enum { COARSE = 128, MAX_STEPS = 2 * COARSE };
typedef enum pattern { FIXED, ALTERNATING, RANDOM, N_PATTERNS } pattern;
static const char *const pattern_names[] = {"fixed", "alternating", "random"};

/// n steps that sum up to one: equal ones, two sizes in turn, or drawn ones that are split into equal parts.
static void list_steps(pattern kind, int n, double *h) {
  const int drawn = COARSE / 4;
  uint64_t random = 99;
  double sum = 0.0, size = 1.0;
  for (int i = 0; i < n; ++i) {
    if (kind == ALTERNATING) size = i % 2 == 0 ? 1.0 : 2.0;
    if (kind == RANDOM && i % (n / drawn) == 0) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      double ratio = pow(2.0, (double)(random >> 11) / 4503599627370496.0 - 1.0);
      if (size * ratio > 2.0 || size * ratio < 0.5) ratio = 1.0 / ratio;
      size *= ratio;
    }
    h[i] = size;
    sum += size;
  }
  for (int i = 0; i < n; ++i) h[i] /= sum;
}

// ---- order ----------------------------------------------------------------------------------------

/// Sums up errors inside the last step, which began at t0, and shows its end again.
static void add_errors_inside(const subject *x, const run *r, double t0, double *sums) {
  const double t1 = as_integrator_state(r->integrator)->t;
  for (int k = 0; k < 4; ++k) {
    show(r, t0 + thetas[k] * (t1 - t0));
    subject_add_errors(x, as_problem_space(r->problem), as_integrator_state(r->integrator), sums);
  }
  show(r, t1);
}

/// Errors inside four steps of the last quarter.
static void drive(const subject *x, as_integrator_def how, pattern kind, int n, double *sums) {
  double h[MAX_STEPS];
  list_steps(kind, n, h);
  run r = run_start(x, &how);
  memset(sums, 0, SUBJECT_VARIABLES * sizeof *sums);
  for (int i = 0; i < n; ++i) {
    as_error error = {0};
    const double t0 = as_integrator_state(r.integrator)->t;
    must(as_integrator_step(r.integrator, h[i] * (x->t_end - x->t0), &error), &error);
    if (4 * i >= 3 * n && i % (n / 16) == n / 16 - 1) add_errors_inside(x, &r, t0, sums);
  }
  run_close(&r);
}

static int check_orders(const subject *x, const char *method, const char *steps,
                        const double *coarse, const double *fine, double refinement, double least) {
  int failures = 0;
  printf("%-26s %-8s %-12s", x->name, method, steps);
  for (int i = 0; i < SUBJECT_VARIABLES; ++i) {
    if (!subject_has(x, i)) continue;
    const double order = 0.5 * log(coarse[i] / fine[i]) / log(refinement);
    printf(" %s %.2f", subject_variable_names[i], order);
    if (order >= least) continue;
    print_error("%s, %s, %s steps: error of %s %g, then %g: order %.3f < %.2f\n", x->name, method,
                steps, subject_variable_names[i], sqrt(coarse[i]), sqrt(fine[i]), order, least);
    ++failures;
  }
  printf("\n");
  return failures;
}

static void test_order(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  int failures = 0;
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m)
      for (int kind = 0; kind < N_PATTERNS && offers(methods[m], &x[i]); ++kind) {
        double coarse[SUBJECT_VARIABLES], fine[SUBJECT_VARIABLES];
        as_integrator_def how = as_default_integrator_def();
        how.method = methods[m];
        how.rho_inf = 0.5;
        how.newton.rtol = 1e-10;
        drive(&x[i], how, (pattern)kind, COARSE, coarse);
        drive(&x[i], how, (pattern)kind, MAX_STEPS, fine);
        failures +=
            check_orders(&x[i], method_names[m], pattern_names[kind], coarse, fine, 2.0, 1.85);
      }
  assert_int_equal(failures, 0);
}

/// Errors at 20 times in the second half, and the number of steps there.
static long drive_automatic(const subject *x, as_integrator_def how, double *sums) {
  as_statistics half = {0}, end = {0};
  as_error error = {0};
  run r = run_start(x, &how);
  const double middle = 0.5 * (x->t0 + x->t_end);
  memset(sums, 0, SUBJECT_VARIABLES * sizeof *sums);
  must(as_integrator_advance(r.integrator, middle, &error), &error);
  must(as_integrator_statistics(r.integrator, &half, &error), &error);
  for (int i = 1; i <= 20; ++i) {
    const double t = middle + i * (x->t_end - middle) / 20.0;
    must(as_integrator_advance(r.integrator, t, &error), &error);
    assert_true(as_integrator_state(r.integrator)->t == t);
    subject_add_errors(x, as_problem_space(r.problem), as_integrator_state(r.integrator), sums);
  }
  must(as_integrator_statistics(r.integrator, &end, &error), &error);
  run_close(&r);
  return end.steps - half.steps;
}

/// With automatic steps the error falls as fast as the square of the number of steps.
static void test_order_automatic(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  int failures = 0;
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (!offers(methods[m], &x[i])) continue;
      double coarse[SUBJECT_VARIABLES], fine[SUBJECT_VARIABLES];
      as_integrator_def how = as_default_integrator_def();
      how.method = methods[m];
      how.rho_inf = 0.5;
      how.newton.rtol = 1e-10;
      how.tolerance.rtol = 1.4e-3;
      const long few = drive_automatic(&x[i], how, coarse);
      how.tolerance.rtol = 1.4e-3 / 16.0;
      const long many = drive_automatic(&x[i], how, fine);
      assert_true(many > few && few > 1);
      failures += check_orders(&x[i], method_names[m], "automatic", coarse, fine,
                               (double)many / (double)few, 1.7);
    }
  assert_int_equal(failures, 0);
}

// ---- a problem whose accelerations are straight lines -------------------------------------------------

// R^3, M = I, f0 = (t + u, 2 t + 1 + u, 3 t + u), g = q1, k = v2, x' = t + u, y = 2 t + 3 + u: v', lambda, psi,
// x' and y are linear in t, so that v and x are quadratic, and all but q is exact, between mesh points too.

static int line_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, 1.0);
  return AS_DONE;
}

static int line_force(const as_point *at, double *f, void *user) {
  (void)user;
  for (int i = 0; i < 3; ++i) f[i] = (1.0 + i) * at->t + (i == 1) + at->u[0];
  return AS_DONE;
}

static int line_constraint(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[1];
  return AS_DONE;
}

static int line_nonholonomic(const as_point *at, double *k, void *user) {
  (void)user;
  k[0] = at->v[2];
  return AS_DONE;
}

static int line_rate(const as_point *at, double *phi, void *user) {
  (void)user;
  phi[0] = at->t + at->u[0];
  return AS_DONE;
}

static int line_output(const as_point *at, double *chi, void *user) {
  (void)user;
  chi[0] = 2.0 * at->t + 3.0 + at->u[0];
  return AS_DONE;
}

static int count_up(const as_point *at, double *u, void *user) {
  (void)at, (void)user;
  u[0] += 1.0;
  return AS_DONE;
}

static const double period = 0.25;

/// Without a sampler u stays zero.
static subject line_subject(bool states, bool sampled) {
  static const as_space_part space = {AS_SPACE_RN, 3};
  static as_sampler_def sampler = {.first = 0, .count = 1, .sample = count_up};
  sampler.period = period;
  sampler.offset = period;
  subject s = {.name = "lines", .def = as_default_problem_def(), .t_end = 1.0};
  as_problem_def *def = &s.def;
  def->parts = &space;
  def->n_parts = 1;
  def->n_lambda = def->n_psi = def->n_u = 1;
  def->n_x = def->n_y = states;
  def->mass_constant = def->scleronomic = true;
  def->mass = line_mass;
  def->force = line_force;
  def->constraint = line_constraint;
  def->nonholonomic = line_nonholonomic;
  def->state_rate = states ? line_rate : NULL;
  def->output = states ? line_output : NULL;
  def->n_samplers = sampled;
  def->samplers = &sampler;
  s.v0[0] = 0.5;
  return s;
}

static void expect_near(const char *what, double t, double value, double expected,
                        double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%s at t = %.17g is %.15g instead of %.15g", what, t, value, expected);
}

/// Compares a shown state with the exact one, where u = 0, 1, ... counts the samples so far.
static void expect_lines(const subject *x, const as_state *s, double u) {
  const double t = s->t, tolerance = 1e-8;
  // The integral of u: 0 + 1 + ... over whole periods, and the rest.
  const double integral = period * u * (u - 1.0) / 2.0 + u * (t - period * u);
  expect_near("v'", t, s->vdot[0], t + u, tolerance);
  expect_near("v", t, s->v[0], 0.5 + t * t / 2.0 + integral, tolerance);
  expect_near("a", t, s->a[0], t + s->a_offset + u, tolerance);
  expect_near("q1", t, s->q[1], 0.0, tolerance);
  expect_near("v2", t, s->v[2], 0.0, tolerance);
  expect_near("lambda", t, s->lambda[0], 2.0 * t + 1.0 + u, tolerance);
  expect_near("psi", t, s->psi[0], 3.0 * t + u, tolerance);
  expect_near("u", t, s->u[0], u, 0.0);
  if (x->def.n_x == 0) return;
  expect_near("x", t, s->x[0], t * t / 2.0 + integral, tolerance);
  expect_near("x'", t, s->xdot[0], t + u, tolerance);
  expect_near("w", t, s->w[0], t + s->w_offset + u, tolerance);
  expect_near("y", t, s->y[0], 2.0 * t + 3.0 + u, tolerance);
}

static void test_lines(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int kind = 0; kind < N_PATTERNS; ++kind) {
      const subject x = line_subject(methods[m] != AS_METHOD_SOI2, false);
      as_integrator_def how = as_default_integrator_def();
      double h[MAX_STEPS];
      how.method = methods[m];
      how.newton.rtol = 1e-13;
      run r = run_start(&x, &how);
      list_steps((pattern)kind, COARSE / 4, h);
      for (int i = 0; i < COARSE / 4; ++i) {
        as_error error = {0};
        const double t0 = as_integrator_state(r.integrator)->t;
        must(as_integrator_step(r.integrator, 4.0 * h[i], &error), &error);
        const double t1 = as_integrator_state(r.integrator)->t;
        for (int k = 0; k < 4; ++k) {
          show(&r, t0 + thetas[k] * (t1 - t0));
          const as_state *s = as_integrator_state(r.integrator);
          expect_lines(&x, s, 0.0);
          // The offsets themselves move from that of one end to that of the other: never zero.
          assert_true(i == 0 || methods[m] != AS_METHOD_INDEX2 || fabs(s->a_offset) > 1e-6);
        }
        show(&r, t1);
      }
      run_close(&r);
    }
}

/// In the step before a sample all values are those left of the jump, at its end those right of it.
static void test_before_a_jump(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int automatic = 0; automatic < 2; ++automatic) {
      const subject x = line_subject(methods[m] != AS_METHOD_SOI2, true);
      as_integrator_def how = as_default_integrator_def();
      how.method = methods[m];
      how.newton.rtol = 1e-13;
      if (!automatic) how.step = period / 5.0;
      run r = run_start(&x, &how);
      int jumps = 0;
      for (double t0 = 0.0; t0 < 1.1;) {
        as_error error = {0};
        must(as_integrator_next(r.integrator, &error), &error);
        const double t1 = as_integrator_state(r.integrator)->t, h = t1 - t0;
        const double left = floor(t0 / period + 1e-9), right = floor(t1 / period + 1e-9);
        if (right > left) {
          assert_true(automatic ? t1 == period * right : fabs(t1 - period * right) <= 1e-12);
          ++jumps;
        }
        expect_lines(&x, as_integrator_state(r.integrator), right);
        for (int k = 0; k < 4; ++k) {
          show(&r, t0 + thetas[k] * h);
          expect_lines(&x, as_integrator_state(r.integrator), left);
        }
        show(&r, t1 - 1e-13);
        expect_lines(&x, as_integrator_state(r.integrator), left);
        show(&r, t1);
        expect_lines(&x, as_integrator_state(r.integrator), right);
        show(&r, t0);
        expect_lines(&x, as_integrator_state(r.integrator), left);
        t0 = t1;
      }
      assert_int_equal(jumps, 4);
      run_close(&r);
    }
}

// ---- ends of steps ----------------------------------------------------------------------------------

static void expect_same(const char *what, const double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i)
    if (!(a[i] == b[i])) fail_msg("%s[%d] is %.17g instead of %.17g", what, i, a[i], b[i]);
}

/// What a state holds at the beginning of the last step, bit by bit; eta belongs to the step, not to a time.
static void expect_start(const subject *x, const run *r, const as_state *now,
                         const snapshot *before) {
  const as_space *space = as_problem_space(r->problem);
  const int nq = as_space_nq(space), n = as_space_nv(space), nx = x->def.n_x;
  const double *b = before->number;
  const struct {
    const char *name;
    const double *value;
    int count;
  } parts[] = {{"t", &now->t, 1},
               {"q", now->q, nq},
               {"v", now->v, n},
               {"v'", now->vdot, n},
               {"a", now->a, n},
               {"a_offset", &now->a_offset, 1},
               {"lambda", now->lambda, x->def.n_lambda},
               {"psi", now->psi, x->def.n_psi},
               {"eta", NULL, x->def.n_lambda},
               {"x", now->x, nx},
               {"x'", now->xdot, nx},
               {"w", now->w, nx},
               {"w_offset", &now->w_offset, 1},
               {"y", now->y, x->def.n_y},
               {"u", now->u, x->def.n_u}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    if (parts[i].value) expect_same(parts[i].name, parts[i].value, b, parts[i].count);
    b += parts[i].count;
  }
}

/// The places of unit quaternions in q.
static void expect_unit(const subject *x, const double *q) {
  for (int i = 0; i < x->def.n_parts; ++i) {
    const as_space_part part = x->def.parts[i];
    const int lead = part.kind == AS_SPACE_SO3 ? 0 : 3;
    for (int k = 0; k < part.count; ++k) {
      if (part.kind == AS_SPACE_RN) {
        ++q;
        continue;
      }
      const double *p = q + lead;
      const double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
      if (!(fabs(length - 1.0) <= 1e-15)) fail_msg("a quaternion has length 1 + %g", length - 1.0);
      q += lead + 4;
    }
  }
}

/// Takes one step of a run: of given size, or automatic.
static void take_step(const run *r, double h) {
  as_error error = {0};
  must(isnan(h) ? as_integrator_next(r->integrator, &error)
                : as_integrator_step(r->integrator, h, &error),
       &error);
}

static void test_ends(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m)
      for (int automatic = 0; automatic < 2 && offers(methods[m], &x[i]); ++automatic) {
        as_integrator_def how = as_default_integrator_def();
        how.method = methods[m];
        run r = run_start(&x[i], &how);
        for (int step = 0; step < 30; ++step) {
          const snapshot before = snapshot_take(&x[i], &r);
          const double t0 = as_integrator_state(r.integrator)->t;
          take_step(&r, automatic ? (double)NAN : step % 2 ? 0.01 : 0.015);
          const snapshot after = snapshot_take(&x[i], &r);
          const double t1 = as_integrator_state(r.integrator)->t;
          for (int k = 0; k < 4; ++k) {
            show(&r, t0 + thetas[k] * (t1 - t0));
            expect_unit(&x[i], as_integrator_state(r.integrator)->q);
          }
          show(&r, t0);
          expect_start(&x[i], &r, as_integrator_state(r.integrator), &before);
          show(&r, t1);
          const snapshot again = snapshot_take(&x[i], &r);
          assert_true(snapshot_same(&again, &after));
        }
        run_close(&r);
      }
}

// ---- derivatives at the ends ------------------------------------------------------------------------

typedef struct ends {
  double q[SUBJECT_MAX], v[SUBJECT_MAX], vdot[SUBJECT_MAX], x[SUBJECT_MAX], xdot[SUBJECT_MAX];
} ends;

static ends ends_at(const subject *x, const run *r, double t) {
  ends e = {0};
  const as_space *space = as_problem_space(r->problem);
  const size_t n = (size_t)as_space_nv(space) * sizeof(double);
  const size_t nx = (size_t)x->def.n_x * sizeof(double);
  show(r, t);
  const as_state *s = as_integrator_state(r->integrator);
  memcpy(e.q, s->q, (size_t)as_space_nq(space) * sizeof(double));
  memcpy(e.v, s->v, n);
  memcpy(e.vdot, s->vdot, n);
  memcpy(e.x, s->x, nx);
  memcpy(e.xdot, s->xdot, nx);
  return e;
}

static void expect_rate(const char *name, const char *what, const double *near, const double *far,
                        const double *rate, int n, double h, double tolerance) {
  for (int i = 0; i < n; ++i) {
    // far is a difference over twice the distance h of near: the error of first order cancels
    const double slope = 2.0 * near[i] / h - far[i] / (2.0 * h);
    if (!(fabs(slope - rate[i]) <= tolerance * (1.0 + fabs(rate[i]))))
      fail_msg("%s: %s[%d] changes at a rate of %.12g instead of %.12g", name, what, i, slope,
               rate[i]);
  }
}

/// q' = v, v's slope is v' and x's is x' at both ends of a step, by differences inside.
static void check_rates(const subject *x, const run *r, double t, double h) {
  const as_space *space = as_problem_space(r->problem);
  const int n = as_space_nv(space), nx = x->def.n_x;
  const ends at = ends_at(x, r, t), near = ends_at(x, r, t + h), far = ends_at(x, r, t + 2.0 * h);
  double d[2][SUBJECT_MAX];
  as_space_difference(space, at.q, near.q, d[0]);
  as_space_difference(space, at.q, far.q, d[1]);
  expect_rate(x->name, "q", d[0], d[1], at.v, n, h, 1e-7);
  for (int i = 0; i < n; ++i) d[0][i] = near.v[i] - at.v[i];
  for (int i = 0; i < n; ++i) d[1][i] = far.v[i] - at.v[i];
  expect_rate(x->name, "v", d[0], d[1], at.vdot, n, h, 1e-5);
  for (int i = 0; i < nx; ++i) d[0][i] = near.x[i] - at.x[i];
  for (int i = 0; i < nx; ++i) d[1][i] = far.x[i] - at.x[i];
  expect_rate(x->name, "x", d[0], d[1], at.xdot, nx, h, 1e-5);
}

static void test_smooth(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (!offers(methods[m], &x[i])) continue;
      as_integrator_def how = as_default_integrator_def();
      how.straight_lines = true; // cubics as they are
      how.method = methods[m];
      run r = run_start(&x[i], &how);
      const double h = (x[i].t_end - x[i].t0) / 25.0;
      for (int step = 0; step < 8; ++step) {
        const double t0 = as_integrator_state(r.integrator)->t;
        take_step(&r, step % 2 ? h : 0.6 * h);
        const double t1 = as_integrator_state(r.integrator)->t;
        check_rates(&x[i], &r, t0, 1e-4 * (t1 - t0));
        check_rates(&x[i], &r, t1, -1e-4 * (t1 - t0));
        show(&r, t1);
      }
      run_close(&r);
    }
}

// ---- nothing else changes -----------------------------------------------------------------------------

static void expect_same_work(const as_statistics *a, const as_statistics *b) {
  assert_int_equal(a->steps, b->steps);
  assert_int_equal(a->failed_steps, b->failed_steps);
  assert_int_equal(a->rejected_steps, b->rejected_steps);
  assert_int_equal(a->newton_iterations, b->newton_iterations);
  assert_int_equal(a->factorizations, b->factorizations);
  assert_int_equal(a->solves, b->solves);
  assert_int_equal(a->mass_evaluations, b->mass_evaluations);
  assert_int_equal(a->force_evaluations, b->force_evaluations);
  assert_int_equal(a->constraint_evaluations, b->constraint_evaluations);
  assert_int_equal(a->jacobian_evaluations, b->jacobian_evaluations);
  assert_true(a->last_step == b->last_step && a->error == b->error);
}

/// Interpolating, projecting and measuring between mesh points, also in vain, leaves later steps as they are.
static void test_no_trace(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m)
      for (int automatic = 0; automatic < 2 && offers(methods[m], &x[i]); ++automatic) {
        as_integrator_def how = as_default_integrator_def();
        how.method = methods[m];
        run a = run_start(&x[i], &how), b = run_start(&x[i], &how);
        as_statistics work[2];
        as_error error = {0};
        for (int step = 0; step < 25; ++step) {
          const double h = automatic ? (double)NAN : step % 5 == 2 ? 0.008 : 0.01;
          const double t0 = as_integrator_state(a.integrator)->t;
          take_step(&a, h);
          take_step(&b, h);
          const double t1 = as_integrator_state(a.integrator)->t;
          assert_true(as_integrator_state(b.integrator)->t == t1);
          for (int k = 0; k < 4; ++k) {
            double v[SUBJECT_MAX];
            show(&b, t0 + thetas[k] * (t1 - t0));
            if (k % 2) continue;
            must(as_integrator_velocity(b.integrator, v, &error), &error);
            must(as_integrator_statistics(b.integrator, &work[1], &error), &error);
          }
          assert_int_equal(as_integrator_interpolate(b.integrator, t1 + 1.0, &error),
                           AS_ERR_ARGUMENT);
        }
        must(as_integrator_statistics(a.integrator, &work[0], &error), &error);
        must(as_integrator_statistics(b.integrator, &work[1], &error), &error);
        expect_same_work(&work[0], &work[1]);
        show(&b, as_integrator_state(a.integrator)->t);
        const snapshot one = snapshot_take(&x[i], &a), other = snapshot_take(&x[i], &b);
        if (!snapshot_same(&one, &other)) fail_msg("%s, %s", x[i].name, method_names[m]);
        run_close(&a);
        run_close(&b);
      }
}

// ---- what the other functions say of a shown state ----------------------------------------------------

static double pendulum_residual(const subject *x, const as_state *s, const double *v) {
  const as_point at = {.t = s->t, .q = s->q, .v = v};
  double out;
  const int code = v ? x->def.constraint_rate(&at, &out, x->def.user)
                     : x->def.constraint(&at, &out, x->def.user);
  assert_int_equal(code, AS_DONE);
  return fabs(out);
}

/// The drift and the projected velocity are those at the shown time, not at the end of the step.
static void test_shown_state(void **state) {
  (void)state;
  const subject x = subject_plain(problem_pendulum());
  assert_non_null(x.def.constraint_rate);
  for (int m = 0; m < 3; ++m) {
    as_integrator_def how = as_default_integrator_def();
    double end[2], inside[2];
    as_error error = {0};
    double v[2];
    how.straight_lines = true; // nothing holds the constraints between mesh points
    how.method = methods[m];
    how.newton.rtol = 1e-12;
    run r = run_start(&x, &how);
    for (int step = 0; step < 4; ++step) take_step(&r, 0.1);
    const as_state *s = as_integrator_state(r.integrator);
    const double t1 = s->t;
    must(as_integrator_drift(r.integrator, &end[0], &end[1], &error), &error);
    show(&r, t1 - 0.04);
    must(as_integrator_drift(r.integrator, &inside[0], &inside[1], &error), &error);
    must(as_integrator_velocity(r.integrator, v, &error), &error);
    const double g = pendulum_residual(&x, s, NULL), gdot = pendulum_residual(&x, s, s->v);
    assert_true(end[0] < 1e-12);
    assert_true(g > 1e-8 && gdot > 1e-8);
    assert_true(fabs(inside[0] - g) <= 1e-15);
    assert_true(fabs(inside[1] - gdot) <= 1e-14);
    assert_true(pendulum_residual(&x, s, v) < 1e-12);
    assert_true(hypot(v[0] - s->v[0], v[1] - s->v[1]) < 1e-2); // projected from the shown one
    assert_true(s->t == t1 - 0.04);
    run_close(&r);
  }
}

// ---- what is refused ------------------------------------------------------------------------------------

static void refuse(const subject *x, const run *r, double t) {
  as_error error = {0};
  const snapshot before = snapshot_take(x, r);
  assert_int_equal(as_integrator_interpolate(r->integrator, t, &error), AS_ERR_ARGUMENT);
  assert_int_equal(error.status, AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "not inside the last step"));
  assert_int_equal(error.message[strlen(error.message) - 1], '.');
  assert_int_equal(as_integrator_interpolate(r->integrator, t, NULL), AS_ERR_ARGUMENT);
  const snapshot after = snapshot_take(x, r);
  assert_true(snapshot_same(&before, &after));
}

static void test_refused(void **state) {
  (void)state;
  const subject x = subject_plain(problem_heavy_top_slow());
  const as_integrator_def how = as_default_integrator_def();
  const double nan = (double)NAN, inf = (double)INFINITY;
  const as_initial again = {.t = 7.0, .q = x.q0, .v = x.v0};
  as_error error = {0};
  run r = run_start(&x, &how);
  for (int round = 0; round < 2; ++round) {
    // Before any step there is only the start.
    const double start = round == 0 ? x.t0 : 7.0;
    const double others[] = {start - 1e-9, start + 1e-9, nan, inf, -inf};
    for (int i = 0; i < 5; ++i) refuse(&x, &r, others[i]);
    show(&r, start);
    take_step(&r, 0.01);
    take_step(&r, 0.02);
    const double t1 = as_integrator_state(r.integrator)->t;
    const double outside[] = {t1 - 0.02001, t1 + 1e-9, nan, inf, -inf};
    for (int i = 0; i < 5; ++i) refuse(&x, &r, outside[i]);
    show(&r, t1 - 0.015);
    for (int i = 0; i < 5; ++i) refuse(&x, &r, outside[i]);
    show(&r, t1 - 0.019); // backwards inside the step
    show(&r, t1);
    must(as_integrator_start(r.integrator, &again, NULL, &error), &error);
  }
  run_close(&r);
}

// ---- a step that fails --------------------------------------------------------------------------------

static bool broken;

static int breakable_force(const as_point *at, double *f, void *user) {
  return broken ? AS_RETRY : problem_two_bodies()->def.force(at, f, user);
}

/// A failed step changes neither what is shown nor what may be shown of the step before it.
static void test_after_failure(void **state) {
  (void)state;
  subject x = subject_plain(problem_two_bodies());
  x.def.force = breakable_force;
  for (int m = 0; m < 3; ++m)
    for (int automatic = 0; automatic < 2; ++automatic) {
      as_integrator_def how = as_default_integrator_def();
      as_error error = {0};
      how.method = methods[m];
      run r = run_start(&x, &how);
      for (int step = 0; step < 5; ++step) take_step(&r, 2e-3);
      const double t1 = as_integrator_state(r.integrator)->t;
      show(&r, t1 - 1e-3);
      const snapshot before = snapshot_take(&x, &r);
      broken = true;
      const as_status status = automatic ? as_integrator_next(r.integrator, &error)
                                         : as_integrator_step(r.integrator, 3e-3, &error);
      broken = false;
      assert_int_equal(status, AS_ERR_RETRY);
      const snapshot after = snapshot_take(&x, &r);
      assert_true(snapshot_same(&before, &after));
      show(&r, t1);
      show(&r, t1 - 1e-3);
      const snapshot again = snapshot_take(&x, &r);
      assert_true(snapshot_same(&before, &again));
      run_close(&r);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),    cmocka_unit_test(test_order_automatic),
      cmocka_unit_test(test_lines),    cmocka_unit_test(test_before_a_jump),
      cmocka_unit_test(test_ends),     cmocka_unit_test(test_smooth),
      cmocka_unit_test(test_no_trace), cmocka_unit_test(test_shown_state),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_after_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
