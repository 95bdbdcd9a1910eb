/// Steps that change: each method driven with given sequences keeps second order in every variable, and
/// loses it without the corrections.
///
/// A sequence is made once on the unit interval and refined by splitting every step in two, so that orders
/// are real (alternating ones by twice as many pairs); they are taken between the two finest.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/nonholonomic.h"
#include "problems/problems.h"

enum { MAX_STEPS = 4096, MAX_SIZE = 32, N_VARIABLES = 5, LEVELS = 4 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const char *const variables[N_VARIABLES] = {"q", "v", "a", "lambda", "psi"};

// ---- sequences ------------------------------------------------------------------------------------

typedef struct sequence {
  const char *name;
  int n;
  int period;          ///< 2: an alternating one, refined by repetition
  double h[MAX_STEPS]; ///< sums up to one
} sequence;

static void normalize(sequence *s) {
  double sum = 0.0;
  for (int i = 0; i < s->n; ++i) sum += s->h[i];
  for (int i = 0; i < s->n; ++i) s->h[i] /= sum;
}

/// Two lengths in turn.
static sequence alternating(const char *name, double a, double b, int pairs) {
  sequence s = {.name = name, .n = 2 * pairs, .period = 2};
  for (int i = 0; i < s.n; ++i) s.h[i] = i % 2 == 0 ? a : b;
  normalize(&s);
  return s;
}

/// Growing by a factor for a while, then shrinking by it, and again.
static sequence geometric(const char *name, double factor, int run, int n) {
  sequence s = {.name = name, .n = n};
  double h = 1.0;
  for (int i = 0; i < n; ++i) {
    s.h[i] = h;
    h *= i / run % 2 == 0 ? factor : 1.0 / factor;
  }
  normalize(&s);
  return s;
}

/// Halved or doubled every few steps.
static sequence jumping(int every, int n) {
  sequence s = {.name = "halving/doubling", .n = n};
  for (int i = 0; i < n; ++i) s.h[i] = i / every % 2 == 0 ? 1.0 : 0.5;
  normalize(&s);
  return s;
}

/// Ratios of successive steps drawn from [0.5, 2], sizes kept within a factor of eight.
static sequence drawn(int n) {
  sequence s = {.name = "random", .n = n};
  uint64_t state = 4711;
  double h = 1.0;
  for (int i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double random = (double)(state >> 11) / 9007199254740992.0;
    double ratio = pow(2.0, 2.0 * random - 1.0);
    if (h * ratio > 2.83 || h * ratio < 0.354) ratio = 1.0 / ratio;
    h *= ratio;
    s.h[i] = h;
  }
  normalize(&s);
  return s;
}

static sequence refined(const sequence *s) {
  sequence fine = {.name = s->name, .n = 2 * s->n, .period = s->period};
  assert_true(fine.n <= MAX_STEPS);
  if (s->period == 2) {
    for (int i = 0; i < fine.n; ++i) fine.h[i] = s->h[i % 2] / 2.0;
    return fine;
  }
  for (int i = 0; i < s->n; ++i) fine.h[2 * i] = fine.h[2 * i + 1] = s->h[i] / 2.0;
  return fine;
}

// ---- subjects -------------------------------------------------------------------------------------

/// A problem of either kind.
typedef struct subject {
  const test_problem *plain;
  const nonholonomic_problem *rolling;
  double interval; ///< [s]
} subject;

static const as_problem_def *def_of(const subject *x) {
  assert_true(x->plain || x->rolling);
  return x->plain ? &x->plain->def : &x->rolling->def;
}

static void exact_at(const subject *x, double t, double *q, double *v, double *vdot, double *lambda,
                     double *psi) {
  if (x->plain)
    x->plain->exact(x->plain, t, q, v, vdot, lambda);
  else
    x->rolling->exact(x->rolling, t, q, v, vdot, lambda, psi);
}

static double square(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sum;
}

/// Drives a problem with a sequence and measures errors in its last quarter.
static void drive(const subject *x, as_integrator_def how, const sequence *s, double *error) {
  const double zero[MAX_SIZE] = {0};
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error failure = {0};
  as_initial initial = {0};
  if (x->plain)
    initial = (as_initial){.t = x->plain->t0, .q = x->plain->q0, .v = x->plain->v0};
  else if (x->rolling)
    initial = (as_initial){.t = x->rolling->t0, .q = x->rolling->q0, .v = x->rolling->v0};
  assert_int_equal(as_problem_create(def_of(x), &problem, &failure), AS_OK);
  assert_int_equal(as_integrator_create(problem, &how, &integrator, &failure), AS_OK);
  assert_int_equal(as_integrator_start(integrator, &initial, NULL, &failure), AS_OK);
  for (int k = 0; k < N_VARIABLES; ++k) error[k] = 0.0;
  int looked = 0;
  for (int i = 0; i < s->n; ++i) {
    if (as_integrator_step(integrator, s->h[i] * x->interval, &failure))
      fail_msg("%s: %s", s->name, failure.message);
    if (i < 3 * s->n / 4 || i % (s->n / 32) != s->n / 32 - 1) continue;
    const as_state *now = as_integrator_state(integrator);
    const as_space *space = as_problem_space(problem);
    const int n = as_space_nv(space);
    double q[MAX_SIZE], v[MAX_SIZE], a[MAX_SIZE], lambda[MAX_SIZE], psi[MAX_SIZE], d[MAX_SIZE];
    exact_at(x, now->t, q, v, NULL, lambda, psi);
    exact_at(x, now->t + now->a_offset, NULL, NULL, a, NULL, NULL);
    as_space_difference(space, q, now->q, d);
    error[0] += square(d, zero, n);
    error[1] += square(v, now->v, n);
    error[2] += square(a, now->a, n);
    error[3] += square(lambda, now->lambda, def_of(x)->n_lambda);
    error[4] += square(psi, now->psi, def_of(x)->n_psi);
    ++looked;
  }
  assert_true(looked >= 8);
  for (int k = 0; k < N_VARIABLES; ++k) error[k] = sqrt(error[k] / looked);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

/// Orders between the two finest of three refinements; NAN for what the problem does not have.
static void orders(const subject *x, as_integrator_def how, sequence s, double *order) {
  double error[LEVELS][N_VARIABLES];
  for (int level = 0; level < LEVELS; ++level) {
    drive(x, how, &s, error[level]);
    if (level + 1 < LEVELS) s = refined(&s);
  }
  for (int k = 0; k < N_VARIABLES; ++k) {
    const bool present = (k != 3 || def_of(x)->n_lambda > 0) && (k != 4 || def_of(x)->n_psi > 0);
    order[k] = present ? log2(error[LEVELS - 2][k] / error[LEVELS - 1][k]) : (double)NAN;
  }
}

static void print_orders(const char *problem, const char *method, const char *name, double rho,
                         const double *order) {
  printf("%-20s %-8s %-17s rho %.1f ", problem, method, name, rho);
  for (int k = 0; k < N_VARIABLES; ++k)
    if (!isnan(order[k])) printf(" %s %.2f", variables[k], order[k]);
  printf("\n");
}

static const char *name_of(const subject *x) {
  return x->plain ? x->plain->name : x->rolling->name;
}

static int subjects(subject *x) {
  int n = 0;
  x[n++] = (subject){.plain = problem_pendulum(), .interval = 1.0};
  x[n++] = (subject){.plain = problem_double_pendulum_slider(), .interval = 0.6};
  x[n++] = (subject){.plain = problem_two_bodies(), .interval = 0.4};
  x[n++] = (subject){.plain = problem_heavy_top_slow_se3(), .interval = 0.5};
  x[n++] = (subject){.rolling = nonholonomic_disk(), .interval = 2.0};
  x[n++] = (subject){.rolling = nonholonomic_jn8(), .interval = 1.0};
  return n;
}

// ---- with and without corrections -------------------------------------------------------------------

static void check_sequences(double rho, double least, const sequence *s, int n_sequences) {
  subject x[8];
  const int n = subjects(x);
  int failures = 0;
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < n_sequences; ++k) {
        as_integrator_def how = as_default_integrator_def();
        double order[N_VARIABLES];
        how.method = methods[m];
        how.rho_inf = rho;
        how.newton.rtol = 1e-10;
        orders(&x[i], how, s[k], order);
        print_orders(name_of(&x[i]), method_names[m], s[k].name, rho, order);
        for (int v = 0; v < N_VARIABLES; ++v) {
          if (isnan(order[v]) || order[v] >= least) continue;
          print_error("%s, %s, %s: order %.3f of %s < %.1f\n", name_of(&x[i]), method_names[m],
                      s[k].name, order[v], variables[v], least);
          ++failures;
        }
      }
  assert_int_equal(failures, 0);
}

static void test_all_sequences(void **state) {
  (void)state;
  const sequence s[] = {alternating("alternating 1:2", 1.0, 2.0, 64),
                        alternating("alternating 3:7", 0.3, 0.7, 64),
                        geometric("geometric", 1.1, 16, 128), jumping(5, 120), drawn(128)};
  check_sequences(0.5, 1.9, s, 5);
}

static void test_alternating_little_damping(void **state) {
  (void)state;
  const sequence s[] = {alternating("alternating 1:2", 1.0, 2.0, 128)};
  check_sequences(0.9, 1.7, s, 1);
}

/// Without the corrections at least one variable of each method falls to first order.
static void test_without_corrections(void **state) {
  (void)state;
  subject x[8];
  const int n = subjects(x);
  for (int m = 0; m < 3; ++m) {
    double lowest = 9.0;
    for (int i = 0; i < n; ++i) {
      as_integrator_def how = as_default_integrator_def();
      double order[N_VARIABLES];
      how.method = methods[m];
      how.rho_inf = 0.5;
      how.step_corrections = false;
      how.newton.rtol = 1e-10;
      orders(&x[i], how, alternating("without", 1.0, 2.0, 64), order);
      print_orders(name_of(&x[i]), method_names[m], "without", 0.5, order);
      for (int v = 0; v < N_VARIABLES; ++v) lowest = fmin(lowest, isnan(order[v]) ? 9.0 : order[v]);
    }
    assert_true(lowest < 1.3);
  }
}

/// A pattern of period two meets an eigenvalue -rho_inf of the method: the nearer to one, the larger the
/// error of a.
static void test_resonance(void **state) {
  (void)state;
  const double rho[] = {0.5, 0.9, 0.98, 0.998};
  double error[4][N_VARIABLES];
  for (int i = 0; i < 4; ++i) {
    const subject x = {.plain = problem_pendulum(), .interval = 1.0};
    as_integrator_def how = as_default_integrator_def();
    const sequence s = alternating("resonance", 1.0, 2.0, 256);
    how.rho_inf = rho[i];
    drive(&x, how, &s, error[i]);
    printf("alternating 1:2, rho_inf %.3f: q %.1e v %.1e a %.1e lambda %.1e\n", rho[i], error[i][0],
           error[i][1], error[i][2], error[i][3]);
  }
  assert_true(error[3][2] > 5.0 * error[0][2]);
}

static void test_ratios_beyond_the_reset(void **state) {
  (void)state;
  // Far beyond the ratio of 3 to 4 up to which the index-3 reset is stable: no garbage.
  const double ratios[] = {5.0, 10.0, 50.0};
  for (int i = 0; i < 3; ++i)
    for (int m = 0; m < 3; ++m) {
      const subject x = {.plain = problem_pendulum(), .interval = 1.0};
      as_integrator_def how = as_default_integrator_def();
      double error[N_VARIABLES];
      how.method = methods[m];
      const sequence s = alternating("steep", 1.0, ratios[i], 128);
      drive(&x, how, &s, error);
      printf("1:%g %s: q %.1e v %.1e a %.1e lambda %.1e\n", ratios[i], method_names[m], error[0],
             error[1], error[2], error[3]);
      assert_true(error[0] < 1e-3 && error[1] < 1e-2 && error[3] < 0.5);
    }
}

// ---- a step taken again -----------------------------------------------------------------------------

/// The two bodies with a force that can be made to fail.
static bool broken;

static int breakable_force(const as_point *at, double *f, void *user) {
  return broken ? AS_RETRY : problem_two_bodies()->def.force(at, f, user);
}

/// Everything that depends on h is made anew from saved originals: after a failed step of size 3 h a step of
/// size h gives the same bits as if nothing had happened, at the start and later.
static void test_taken_again(void **state) {
  (void)state;
  const test_problem *p = problem_two_bodies();
  as_problem_def def = p->def;
  def.force = breakable_force;
  for (int m = 0; m < 3; ++m) {
    as_problem *problem = NULL;
    as_integrator *integrator[2];
    as_error error;
    as_integrator_def how = as_default_integrator_def();
    how.method = methods[m];
    how.newton.reuse = false; // a failed step has lost the factors
    assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
    for (int k = 0; k < 2; ++k) {
      const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
      assert_int_equal(as_integrator_create(problem, &how, &integrator[k], &error), AS_OK);
      assert_int_equal(as_integrator_start(integrator[k], &initial, NULL, &error), AS_OK);
    }
    const double h[] = {1e-3, 2e-3, 2e-3, 1.5e-3, 3e-3, 3e-3};
    for (int i = 0; i < 6; ++i) {
      broken = true;
      assert_int_equal(as_integrator_step(integrator[0], 3.0 * h[i], &error), AS_ERR_RETRY);
      broken = false;
      for (int k = 0; k < 2; ++k)
        assert_int_equal(as_integrator_step(integrator[k], h[i], &error), AS_OK);
      const as_state *x = as_integrator_state(integrator[0]),
                     *y = as_integrator_state(integrator[1]);
      for (int j = 0; j < 14; ++j) assert_true(x->q[j] == y->q[j]);
      for (int j = 0; j < 12; ++j)
        assert_true(x->v[j] == y->v[j] && x->a[j] == y->a[j] && x->vdot[j] == y->vdot[j]);
      for (int j = 0; j < 6; ++j) assert_true(x->lambda[j] == y->lambda[j]);
    }
    for (int k = 0; k < 2; ++k) as_integrator_destroy(integrator[k]);
    as_problem_destroy(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_taken_again),
      cmocka_unit_test(test_all_sequences),
      cmocka_unit_test(test_alternating_little_damping),
      cmocka_unit_test(test_without_corrections),
      cmocka_unit_test(test_resonance),
      cmocka_unit_test(test_ratios_beyond_the_reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
