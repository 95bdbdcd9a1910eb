/// Sampled controllers: against the exact discrete solution of a linear plant, with delay, several rates and
/// offsets; a constrained plant; repeatability.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"

// ---- a mass on a spring with held forces ------------------------------------------------------------

static const double k = 4.0; // spring over mass: omega = 2 [1/s^2]

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

/// Two held forces: of the fast and of the slow controller.
static int force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = -k * at->q[0] + at->u[0] + at->u[1];
  return AS_DONE;
}

/// PID in discrete time: u = -Kp q - Kd v - Ki sum, the sum kept in a held signal of its own. Controller 0 has
/// (u, sum) = u[0], u[2]: its signals are u[0] alone; the sum is u[2] of another sampler at the same times.
static int fast(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = -3.0 * at->q[0] - 0.8 * at->v[0] - 0.5 * at->u[2];
  return AS_DONE;
}

static int sum(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] += 0.1 * at->q[0];
  return AS_DONE;
}

/// A slow one that sees the acceleration just before its sample.
static int slow(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = 0.2 * at->vdot[0];
  return AS_DONE;
}

typedef struct rates {
  double fast_delay, slow_offset, slow_delay;
} rates;

static as_problem_def spring(const rates *r, as_sampler_def *samplers) {
  static const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  samplers[0] = (as_sampler_def){
      .period = 0.1, .delay = r->fast_delay, .first = 0, .count = 1, .sample = fast};
  samplers[1] = (as_sampler_def){.period = 0.1, .first = 2, .count = 1, .sample = sum};
  samplers[2] = (as_sampler_def){.period = 0.25,
                                 .offset = r->slow_offset,
                                 .delay = r->slow_delay,
                                 .first = 1,
                                 .count = 1,
                                 .sample = slow};
  def.parts = &line;
  def.n_parts = 1;
  def.n_u = 3;
  def.samplers = samplers;
  def.n_samplers = 3;
  def.mass_constant = true;
  def.mass = mass;
  def.force = force;
  return def;
}

/// The exact state: between changes of u the motion is q* + A cos + B sin around the held equilibrium.
static void exact(const rates *r, double t_end, double *q, double *v) {
  const double w = sqrt(k);
  double t = 0.0, u[3] = {0, 0, 0}, pending_fast = 0, pending_slow = 0;
  double due_fast = (double)INFINITY, due_slow = (double)INFINITY;
  int next_fast = 0, next_slow = 0;
  *q = 1.0;
  *v = 0.0;
  for (;;) {
    const double tf = 0.1 * next_fast, ts = r->slow_offset + 0.25 * next_slow;
    const double next = fmin(fmin(tf, ts), fmin(fmin(due_fast, due_slow), t_end));
    const double dt = next - t, rest = (u[0] + u[1]) / k, c = cos(w * dt), s = sin(w * dt);
    const double q0 = *q - rest, v0 = *v;
    *q = rest + q0 * c + v0 / w * s;
    *v = -q0 * w * s + v0 * c;
    t = next;
    const double same = 1e-9;
    // All samples see the same point; then what is due takes effect.
    const double acceleration = -k * *q + u[0] + u[1], old_sum = u[2];
    if (fabs(t - tf) < same) {
      pending_fast = -3.0 * *q - 0.8 * *v - 0.5 * old_sum;
      u[2] = old_sum + 0.1 * *q;
      due_fast = tf + r->fast_delay;
      ++next_fast;
    }
    if (fabs(t - ts) < same) {
      pending_slow = 0.2 * acceleration;
      due_slow = ts + r->slow_delay;
      ++next_slow;
    }
    if (fabs(t - due_fast) < same) {
      u[0] = pending_fast;
      due_fast = (double)INFINITY;
    }
    if (fabs(t - due_slow) < same) {
      u[1] = pending_slow;
      due_slow = (double)INFINITY;
    }
    if (fabs(t - t_end) < same) return;
  }
}

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};

static void run_spring(const rates *r, as_method method, double h, double *q, double *v) {
  as_sampler_def samplers[3];
  const as_problem_def def = spring(r, samplers);
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  how.method = method;
  how.step = h;
  how.newton.rtol = 1e-11;
  assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
  assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_OK);
  const double q0 = 1.0;
  assert_int_equal(as_integrator_start(integrator, &(as_initial){.q = &q0}, NULL, &error), AS_OK);
  if (as_integrator_advance(integrator, 2.03, &error)) fail_msg("%s", error.message);
  const as_state *s = as_integrator_state(integrator);
  assert_true(s->t == 2.03);
  *q = s->q[0];
  *v = s->v[0];
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

/// Second order between and across samples, with and without delays.
static void test_discrete_solution(void **state) {
  (void)state;
  const rates cases[] = {{0.0, 0.0, 0.0}, {0.03, 0.0, 0.0}, {0.0, 0.07, 0.0}, {0.04, 0.011, 0.12}};
  for (int i = 0; i < 4; ++i) {
    double q, v;
    exact(&cases[i], 2.03, &q, &v);
    for (int m = 0; m < 3; ++m) {
      double error[2];
      for (int level = 0; level < 2; ++level) {
        double x, y;
        run_spring(&cases[i], methods[m], level == 0 ? 0.01 : 0.005, &x, &y);
        error[level] = hypot(x - q, y - v);
      }
      const double order = log2(error[0] / error[1]);
      printf("case %d, method %d: %.3e %.3e order %.3f\n", i, m, error[0], error[1], order);
      assert_true(order >= 1.9 && error[1] < 1e-3);
    }
  }
}

static void test_repeatable(void **state) {
  (void)state;
  const rates r = {0.04, 0.011, 0.12};
  double q[2], v[2];
  for (int i = 0; i < 2; ++i) run_spring(&r, AS_METHOD_INDEX2, 0.007, &q[i], &v[i]);
  assert_true(q[0] == q[1] && v[0] == v[1]);
}

// ---- a pendulum whose joint force is measured -----------------------------------------------------

static int bob_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

static int bob_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = at->u[0];
  f[1] = -9.81;
  return AS_DONE;
}

static int rod(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0) / 2.0;
  return AS_DONE;
}

/// Pushes sideways in proportion to the rod's force.
static int push(const as_point *at, double *u, void *user) {
  int *samples = user;
  ++*samples;
  u[0] = -0.05 * at->lambda[0] * at->q[0] - 0.3 * at->v[0];
  return AS_DONE;
}

/// theta'' = -9.81 sin(theta) + u cos(theta), by fine Runge-Kutta steps between samples.
static void exact_pendulum(double t_end, double *angle, double *rate) {
  double th = 0.5, w = 0.0, u = 0.0;
  for (int sample = 0; sample < (int)lround(t_end / 0.05); ++sample) {
    const double lambda = w * w + 9.81 * cos(th) + u * sin(th);
    u = -0.05 * lambda * sin(th) - 0.3 * w * cos(th);
    for (int i = 0; i < 500; ++i) {
      const double h = 0.05 / 500.0;
      double kt[4] = {0}, kw[4] = {0};
      for (int j = 0; j < 4; ++j) {
        const double c = j == 0 ? 0.0 : j == 3 ? h : h / 2.0;
        const double a = th + (j ? c * kt[j - 1] : 0.0), b = w + (j ? c * kw[j - 1] : 0.0);
        kt[j] = b;
        kw[j] = -9.81 * sin(a) + u * cos(a);
      }
      th += h / 6.0 * (kt[0] + 2 * kt[1] + 2 * kt[2] + kt[3]);
      w += h / 6.0 * (kw[0] + 2 * kw[1] + 2 * kw[2] + kw[3]);
    }
  }
  *angle = th;
  *rate = w;
}

static void test_constrained(void **state) {
  (void)state;
  static const as_space_part plane = {AS_SPACE_RN, 2};
  double angle, rate;
  exact_pendulum(1.0, &angle, &rate);
  for (int m = 0; m < 3; ++m) {
    double error[2];
    for (int level = 0; level < 2; ++level) {
      int samples = 0;
      const as_sampler_def sampler = {.period = 0.05, .first = 0, .count = 1, .sample = push};
      as_problem_def def = as_default_problem_def();
      as_integrator_def how = as_default_integrator_def();
      as_problem *problem = NULL;
      as_integrator *integrator = NULL;
      as_error failure;
      def.parts = &plane;
      def.n_parts = 1;
      def.n_lambda = 1;
      def.n_u = 1;
      def.samplers = &sampler;
      def.n_samplers = 1;
      def.mass_constant = def.scleronomic = true;
      def.mass = bob_mass;
      def.force = bob_force;
      def.constraint = rod;
      def.user = &samples;
      how.method = methods[m];
      how.step = level == 0 ? 0.005 : 0.0025;
      assert_int_equal(as_problem_create(&def, &problem, &failure), AS_OK);
      assert_int_equal(as_integrator_create(problem, &how, &integrator, &failure), AS_OK);
      const double q0[] = {sin(0.5), -cos(0.5)};
      const as_initial initial = {.q = q0};
      assert_int_equal(as_integrator_start(integrator, &initial, NULL, &failure), AS_OK);
      if (as_integrator_advance(integrator, 1.0, &failure)) fail_msg("%s", failure.message);
      const as_state *s = as_integrator_state(integrator);
      assert_int_equal(samples, 21); // at 0, 0.05, ... 1
      error[level] = hypot(s->q[0] - sin(angle), s->q[1] + cos(angle));
      as_integrator_destroy(integrator);
      as_problem_destroy(problem);
    }
    const double order = log2(error[0] / error[1]);
    printf("pendulum, method %d: %.3e %.3e order %.3f\n", m, error[0], error[1], order);
    assert_true(order >= 1.9);
  }
}

static void test_refused(void **state) {
  (void)state;
  const as_sampler_def bad[] = {
      {.period = 0.0, .count = 1, .sample = fast},
      {.period = 0.1, .delay = 0.1, .count = 1, .sample = fast},
      {.period = 0.1, .first = 3, .count = 1, .sample = fast},
      {.period = 0.1, .count = 1},
      {.period = (double)NAN, .count = 1, .sample = fast},
  };
  const char *const culprits[] = {"period", "delay", "u[3]", "sample", "period"};
  for (int i = 0; i < 5; ++i) {
    as_sampler_def samplers[3];
    const rates r = {0};
    as_problem_def def = spring(&r, samplers);
    as_problem *problem = NULL;
    as_error error;
    samplers[0] = bad[i];
    assert_int_equal(as_problem_create(&def, &problem, &error), AS_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, culprits[i]));
    assert_null(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_discrete_solution),
      cmocka_unit_test(test_repeatable),
      cmocka_unit_test(test_constrained),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
