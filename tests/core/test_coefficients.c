/// The coefficients: formulas and refusals, and what they do to the linear oscillator.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "observe.h"
#include "problems/problems.h"
#include "rig.h"

// LAPACK: eigenvalues of a general matrix.
void dgeev_(const char *jobvl, const char *jobvr, const int *n, double *a, const int *lda,
            double *wr, double *wi, double *vl, const int *ldvl, double *vr, const int *ldvr,
            double *work, const int *lwork, int *info);

static void check_near(const char *what, double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%s = %.17g, expected %.17g: off by %.3g > %.3g", what, value, expected,
             fabs(value - expected), tolerance);
}

static void check_set(const as_coefficients *c, double alpha_m, double alpha_f, double beta,
                      double gamma) {
  check_near("alpha_m", c->alpha_m, alpha_m, 1e-15);
  check_near("alpha_f", c->alpha_f, alpha_f, 1e-15);
  check_near("beta", c->beta, beta, 1e-15);
  check_near("gamma", c->gamma, gamma, 1e-15);
}

/// A refusal: an argument error whose component and sentence name the culprit.
static void check_refused(as_status status, const as_error *error, const char *component,
                          const char *in_message) {
  assert_int_equal(status, AS_ERR_ARGUMENT);
  assert_int_equal(error->status, AS_ERR_ARGUMENT);
  assert_string_equal(error->component, component);
  if (strstr(error->message, in_message) == NULL)
    fail_msg("\"%s\" does not name %s", error->message, in_message);
}

// ---- formulas -----------------------------------------------------------------------------------

// Numbers by hand, as fractions.
static void test_chung_hulbert(void **state) {
  (void)state;
  as_coefficients c;
  assert_int_equal(as_coefficients_chung_hulbert(0.0, &c, NULL), AS_OK);
  check_set(&c, -1.0, 0.0, 1.0, 1.5);
  assert_int_equal(as_coefficients_chung_hulbert(0.5, &c, NULL), AS_OK);
  check_set(&c, 0.0, 1.0 / 3.0, 4.0 / 9.0, 5.0 / 6.0);
  assert_int_equal(as_coefficients_chung_hulbert(0.8, &c, NULL), AS_OK);
  check_set(&c, 1.0 / 3.0, 4.0 / 9.0, 25.0 / 81.0, 11.0 / 18.0);
  assert_int_equal(as_coefficients_chung_hulbert(1.0, &c, NULL), AS_OK);
  check_set(&c, 0.5, 0.5, 0.25, 0.5);
}

static void test_hht(void **state) {
  (void)state;
  as_coefficients c;
  assert_int_equal(as_coefficients_hht(0.0, &c, NULL), AS_OK);
  check_set(&c, 0.0, 0.0, 0.25, 0.5);
  assert_int_equal(as_coefficients_hht(-0.1, &c, NULL), AS_OK);
  check_set(&c, 0.0, 0.1, 0.3025, 0.6);
  assert_int_equal(as_coefficients_hht(-1.0 / 3.0, &c, NULL), AS_OK);
  check_set(&c, 0.0, 1.0 / 3.0, 4.0 / 9.0, 5.0 / 6.0); // the same as rho_inf = 0.5
}

static void test_newmark(void **state) {
  (void)state;
  as_coefficients c;
  assert_int_equal(as_coefficients_newmark(0.25, 0.5, &c, NULL), AS_OK);
  check_set(&c, 0.0, 0.0, 0.25, 0.5);
  assert_int_equal(as_coefficients_newmark(0.0, 0.5, &c, NULL), AS_OK);
  check_set(&c, 0.0, 0.0, 0.0, 0.5);
  assert_int_equal(as_coefficients_newmark(0.3025, 0.6, &c, NULL), AS_OK);
  check_set(&c, 0.0, 0.0, 0.3025, 0.6);
}

// Every set of the families with damping passes the check, over their whole range.
static void test_families_pass(void **state) {
  (void)state;
  as_coefficients c;
  as_error error = {0};
  for (int i = 0; i <= 100; ++i) {
    assert_int_equal(as_coefficients_chung_hulbert(i / 100.0, &c, &error), AS_OK);
    assert_int_equal(as_coefficients_check(&c, &error), AS_OK);
    assert_int_equal(as_coefficients_hht(-i / 300.0, &c, &error), AS_OK);
    assert_int_equal(as_coefficients_check(&c, &error), AS_OK);
  }
  assert_int_equal(as_coefficients_newmark(0.25, 0.5, &c, &error), AS_OK);
  assert_int_equal(as_coefficients_check(&c, &error), AS_OK);
}

// ---- refusals -----------------------------------------------------------------------------------

static void test_parameters_out_of_range(void **state) {
  (void)state;
  as_error error;
  const as_coefficients untouched = {7.0, 7.0, 7.0, 7.0};
  as_coefficients c = untouched;
  const double bad_rho[] = {-0.01, 1.01, (double)NAN, (double)INFINITY, (double)-INFINITY};
  for (size_t i = 0; i < sizeof bad_rho / sizeof bad_rho[0]; ++i)
    check_refused(as_coefficients_chung_hulbert(bad_rho[i], &c, &error), &error, "rho_inf",
                  "rho_inf");
  const double bad_alpha[] = {0.01, -0.34, (double)NAN, (double)-INFINITY};
  for (size_t i = 0; i < sizeof bad_alpha / sizeof bad_alpha[0]; ++i)
    check_refused(as_coefficients_hht(bad_alpha[i], &c, &error), &error, "alpha", "alpha");
  check_refused(as_coefficients_newmark(-0.1, 0.5, &c, &error), &error, "beta", "beta");
  check_refused(as_coefficients_newmark((double)NAN, 0.5, &c, &error), &error, "beta", "beta");
  check_refused(as_coefficients_newmark(0.25, 0.0, &c, &error), &error, "gamma", "gamma");
  check_refused(as_coefficients_newmark(0.25, (double)NAN, &c, &error), &error, "gamma", "gamma");
  check_set(&c, 7.0, 7.0, 7.0, 7.0); // a refusal writes nothing
}

typedef struct refusal {
  as_coefficients c;
  const char *component;
  const char *in_message;
} refusal;

// One condition is violated at a time, by little; gamma = 1/2 - D otherwise.
static const refusal refusals[] = {
    {{0.0, 0.0, 0.25, 0.51}, "gamma", "gamma = 0.51"},
    {{0.4, 0.45, 0.3, 0.45}, "gamma", "1/2 - alpha_m + alpha_f = 0.55"},
    {{0.41, 0.4, 0.25, 0.49}, "alpha_m", "alpha_m = 0.41"},
    {{0.5, 0.51, 0.26, 0.51}, "alpha_f", "alpha_f = 0.51"},
    {{0.0, 0.0, 0.249, 0.5}, "beta", "beta = 0.249"},
    {{0.0, 0.1, 0.299, 0.6}, "beta", "= 0.3"},
};

static as_problem *make_problem(const as_problem_def *def) {
  as_problem *problem = NULL;
  as_error error;
  if (as_problem_create(def, &problem, &error)) fail_msg("%s", error.message);
  return problem;
}

/// The status of creating, and of course destroying, an integrator.
static as_status try_create(const as_problem *problem, const as_integrator_def *def,
                            as_error *error) {
  as_integrator *integrator = NULL;
  const as_status status = as_integrator_create(problem, def, &integrator, error);
  assert_true((integrator != NULL) == (status == AS_OK));
  as_integrator_destroy(integrator);
  return status;
}

static void test_refused_sets(void **state) {
  (void)state;
  as_problem *problem = make_problem(&problem_pendulum()->def);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    const refusal *r = &refusals[i];
    as_integrator_def def = as_default_integrator_def();
    as_error error;
    check_refused(as_coefficients_check(&r->c, &error), &error, r->component, r->in_message);
    def.coefficients = r->c;
    check_refused(try_create(problem, &def, &error), &error, r->component, r->in_message);
    def.check_coefficients = false;
    if (try_create(problem, &def, &error))
      fail_msg("refused without check_coefficients: %s", error.message);
  }
  as_problem_destroy(problem);
}

// Numbers that no step can use are refused with and without the check.
static void test_unusable_numbers(void **state) {
  (void)state;
  const double bad[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
  const char *const names[] = {"alpha_m = ", "alpha_f = ", "beta = ", "gamma = "};
  as_problem *problem = make_problem(&problem_pendulum()->def);
  for (int i = 0; i < 12; ++i) {
    double c[] = {0.0, 0.0, 0.25, 0.5};
    char in_message[32];
    c[i % 4] = bad[i / 4];
    snprintf(in_message, sizeof in_message, "%s%g", names[i % 4], bad[i / 4]);
    as_integrator_def def = as_default_integrator_def();
    as_error error;
    def.coefficients = (as_coefficients){c[0], c[1], c[2], c[3]};
    check_refused(as_coefficients_check(&def.coefficients, &error), &error, "coefficients",
                  in_message);
    check_refused(try_create(problem, &def, &error), &error, "coefficients", in_message);
    def.check_coefficients = false;
    const as_status status = try_create(problem, &def, &error);
    if (status == AS_OK) fail_msg("%s is accepted without check_coefficients", in_message);
    check_refused(status, &error, "coefficients", in_message);
  }
  as_problem_destroy(problem);
}

// The integrator passes on what the families refuse.
static void test_integrator_rho_out_of_range(void **state) {
  (void)state;
  as_problem *problem = make_problem(&problem_oscillator()->def);
  as_integrator_def def = as_default_integrator_def();
  as_error error;
  const double bad[] = {-0.1, 1.1, (double)NAN};
  for (int i = 0; i < 6; ++i) {
    def.rho_inf = bad[i / 2];
    def.check_coefficients = i % 2 == 0;
    check_refused(try_create(problem, &def, &error), &error, "rho_inf", "rho_inf");
  }
  as_problem_destroy(problem);
}

static void test_explicit_needs_no_constraints(void **state) {
  (void)state;
  as_integrator_def def = as_default_integrator_def();
  as_error error;
  assert_int_equal(as_coefficients_newmark(0.0, 0.5, &def.coefficients, &error), AS_OK);
  for (int i = 0; i < 4; ++i) {
    def.method = i % 2 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
    def.check_coefficients = i / 2 == 0;
    as_problem *constrained = make_problem(&problem_pendulum()->def);
    as_problem *free_problem = make_problem(&problem_oscillator()->def);
    check_refused(try_create(constrained, &def, &error), &error, "beta", "beta = 0");
    assert_int_equal(try_create(free_problem, &def, &error), AS_OK);
    as_problem_destroy(constrained);
    as_problem_destroy(free_problem);
  }
}

// ---- the warning of undamped index-3 multipliers ------------------------------------------------

static void count_warning(as_log_level level, const char *message, void *user) {
  assert_int_equal(level, AS_LOG_WARNING);
  assert_non_null(strstr(message, "rho_inf = 1"));
  ++*(int *)user;
}

static int warnings_of(const test_problem *p, as_method method, double rho_inf,
                       const as_coefficients *coefficients) {
  as_problem *problem = make_problem(&p->def);
  as_integrator_def def = as_default_integrator_def();
  as_error error;
  int count = 0;
  def.method = method;
  def.rho_inf = rho_inf;
  if (coefficients) def.coefficients = *coefficients;
  def.log = count_warning;
  def.log_user = &count;
  if (try_create(problem, &def, &error)) fail_msg("%s", error.message);
  def.log = NULL; // and nobody need listen
  if (try_create(problem, &def, &error)) fail_msg("%s", error.message);
  as_problem_destroy(problem);
  return count;
}

static void test_warning(void **state) {
  (void)state;
  as_coefficients newmark, hht;
  assert_int_equal(as_coefficients_newmark(0.25, 0.5, &newmark, NULL), AS_OK);
  assert_int_equal(as_coefficients_hht(-0.1, &hht, NULL), AS_OK);
  const test_problem *pendulum = problem_pendulum();
  assert_int_equal(warnings_of(pendulum, AS_METHOD_INDEX3, 1.0, NULL), 1);
  assert_int_equal(warnings_of(pendulum, AS_METHOD_INDEX3, 0.8, &newmark), 1);
  assert_int_equal(warnings_of(pendulum, AS_METHOD_INDEX3, 0.8, NULL), 0);
  assert_int_equal(warnings_of(pendulum, AS_METHOD_INDEX3, 0.8, &hht), 0);
  assert_int_equal(warnings_of(pendulum, AS_METHOD_INDEX2, 1.0, NULL), 0);
  assert_int_equal(warnings_of(pendulum, AS_METHOD_INDEX2, 0.8, NULL), 0);
  assert_int_equal(warnings_of(problem_oscillator(), AS_METHOD_INDEX3, 1.0, NULL), 0);
}

// ---- Stoermer's method --------------------------------------------------------------------------

typedef struct explicit_case {
  const test_problem *(*problem)(void);
  double h;
  double times[3];
} explicit_case;

static void test_explicit_is_second_order(void **state) {
  (void)state;
  const explicit_case cases[] = {{problem_oscillator, 0.01, {0.5, 1.0, 1.4}},
                                 {problem_double_pendulum, 0.002, {0.5, 1.0, 1.5}},
                                 {problem_free_rotation, 0.002, {0.5, 1.0, 1.5}}};
  as_integrator_def def = as_default_integrator_def();
  assert_int_equal(as_coefficients_newmark(0.0, 0.5, &def.coefficients, NULL), AS_OK);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const explicit_case *c = &cases[i];
    const test_problem *p = c->problem();
    const errors coarse = observe(p, def, c->h, c->times, 3);
    const errors fine = observe(p, def, c->h / 2.0, c->times, 3);
    const double q = observed_order(coarse.q, fine.q), v = observed_order(coarse.v, fine.v);
    const double a = observed_order(coarse.vdot, fine.vdot);
    printf("%s: order %.3f in q, %.3f in v, %.3f in v'\n", p->name, q, v, a);
    if (!(fmin(fmin(q, v), a) >= 1.9 && fmax(fmax(q, v), a) <= 2.1))
      fail_msg("%s: order %g in q, %g in v, %g in v', not 2", p->name, q, v, a);
  }
}

// Where beta = 0 and f does not depend on v, the iteration matrix is M and q is known before v':
// one iteration solves the step, and a second one, which only confirms it, changes nothing.
static void test_explicit_iterates_with_mass(void **state) {
  (void)state;
  const test_problem *p = problem_oscillator(); // m = 2
  as_problem *problem = make_problem(&p->def);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error = {0};
  assert_int_equal(as_coefficients_newmark(0.0, 0.5, &def.coefficients, &error), AS_OK);
  assert_int_equal(as_integrator_create(problem, &def, &integrator, &error), AS_OK);
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  assert_int_equal(as_integrator_start(integrator, &initial, NULL, &error), AS_OK);
  assert_int_equal(integrator->stepper.step.size, 1);
  long iterations = 0;
  for (int i = 0; i < 50; ++i) {
    as_statistics s;
    if (as_integrator_step(integrator, 0.01, &error)) fail_msg("%s", error.message);
    assert_int_equal(as_integrator_statistics(integrator, &s, &error), AS_OK);
    check_near("the iteration matrix", integrator->stepper.step.value[0], 2.0, 0.0);
    assert_true(s.newton_iterations - iterations <= 2);
    check_near("the second increment over the first", s.contraction, 0.0, 1e-9);
    iterations = s.newton_iterations;
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

// ---- the linear oscillator q'' + w^2 q = 0 ------------------------------------------------------

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int spring(const as_point *at, double *out, void *user) {
  const double w = *(const double *)user;
  out[0] = -w * w * at->q[0];
  return AS_DONE;
}

static int spring_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at;
  const double w = *(const double *)user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, -w * w);
  return AS_DONE;
}

static as_problem *make_oscillator(double *w) {
  static const as_space_part space[] = {{AS_SPACE_RN, 1}};
  as_problem_def def = as_default_problem_def();
  def.parts = space;
  def.n_parts = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = unit_mass;
  def.force = spring;
  def.jacobian = spring_jacobian;
  def.block[AS_BLOCK_F_Q].source = AS_BLOCK_GIVEN;
  def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
  def.user = w;
  return make_problem(&def);
}

/// An integrator of the oscillator with the plain start a_0 = v'_0.
static as_integrator *start_oscillator(const as_problem *problem, const as_coefficients *c,
                                       double q, double v) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.coefficients = *c;
  def.improved_start = false;
  as_status status = as_integrator_create(problem, &def, &integrator, &error);
  if (status == AS_OK)
    status = as_integrator_start(integrator, &(as_initial){.q = &q, .v = &v}, NULL, &error);
  if (status) fail_msg("%s", error.message);
  return integrator;
}

static void step_oscillator(as_integrator *integrator, double h) {
  as_error error;
  if (as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
}

typedef struct discrete {
  int n;
  double q, v, a;
} discrete;

// w = 2 pi, h = 0.1, rho_inf = 1, q_0 = 1, v_0 = 0: from the recursion in 40 digits.
static const discrete trapezoidal[] = {
    {1, 0.8203396752925507, -3.5932064941489865, -32.38571227862229},
    {10, 0.980995441028358, 1.219131363752513, -38.72814768888831},
    {100, -0.37268173024866114, 5.830539784013179, 14.712884980271134},
};

static void test_discrete_values(void **state) {
  (void)state;
  double w = 2.0 * acos(-1.0);
  as_problem *problem = make_oscillator(&w);
  as_coefficients c;
  assert_int_equal(as_coefficients_chung_hulbert(1.0, &c, NULL), AS_OK);
  as_integrator *integrator = start_oscillator(problem, &c, 1.0, 0.0);
  const as_state *s = as_integrator_state(integrator);
  int n = 0;
  for (size_t i = 0; i < sizeof trapezoidal / sizeof trapezoidal[0]; ++i) {
    const discrete *expected = &trapezoidal[i];
    for (; n < expected->n; ++n) step_oscillator(integrator, 0.1);
    check_near("q", s->q[0], expected->q, 1e-13);
    check_near("v", s->v[0], expected->v, w * 1e-13);
    check_near("a", s->a[0], expected->a, w * w * 1e-13);
    check_near("v'", s->vdot[0], expected->a, w * w * 1e-13); // a = v' where alpha_m = alpha_f
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

/// The textbook form, solved for a_1 by hand in extended precision:
/// (1 - alpha_m) a_1 + alpha_m a_0 = -w^2 [(1 - alpha_f) q_1 + alpha_f q_0].
static void textbook_step(const as_coefficients *c, long double w2, long double h, long double *q,
                          long double *v, long double *a) {
  const long double am = (long double)c->alpha_m, af = (long double)c->alpha_f;
  const long double beta = (long double)c->beta, gamma = (long double)c->gamma;
  const long double free_q = *q + h * *v + h * h * (0.5L - beta) * *a;
  const long double a1 = -(am * *a + w2 * ((1.0L - af) * free_q + af * *q)) /
                         (1.0L - am + w2 * (1.0L - af) * beta * h * h);
  *q = free_q + h * h * beta * a1;
  *v += h * ((1.0L - gamma) * *a + gamma * a1);
  *a = a1;
}

// All families, and a set by hand, against the textbook recursion over 200 steps.
static void test_textbook_recursion(void **state) {
  (void)state;
  as_coefficients sets[6] = {[5] = {0.1, 0.3, 0.4, 0.7}};
  assert_int_equal(as_coefficients_chung_hulbert(0.0, &sets[0], NULL), AS_OK);
  assert_int_equal(as_coefficients_chung_hulbert(0.9, &sets[1], NULL), AS_OK);
  assert_int_equal(as_coefficients_hht(-0.2, &sets[2], NULL), AS_OK);
  assert_int_equal(as_coefficients_newmark(0.25, 0.5, &sets[3], NULL), AS_OK);
  assert_int_equal(as_coefficients_newmark(0.0, 0.5, &sets[4], NULL), AS_OK);
  double w = 2.0 * acos(-1.0);
  const double h = 0.05;
  as_problem *problem = make_oscillator(&w);
  for (size_t i = 0; i < sizeof sets / sizeof sets[0]; ++i) {
    as_integrator *integrator = start_oscillator(problem, &sets[i], 1.0, 2.0);
    const as_state *s = as_integrator_state(integrator);
    const long double w2 = (long double)w * (long double)w;
    long double q = 1.0L, v = 2.0L, a = -w2;
    for (int n = 1; n <= 200; ++n) {
      step_oscillator(integrator, h);
      textbook_step(&sets[i], w2, (long double)h, &q, &v, &a);
      check_near("q", s->q[0], (double)q, 1e-12);
      check_near("v", s->v[0], (double)v, 1e-11);
      check_near("a", s->a[0], (double)a, 1e-10);
      check_near("v'", s->vdot[0], (double)(-w2 * q), 1e-10);
    }
    as_integrator_destroy(integrator);
  }
  as_problem_destroy(problem);
}

// ---- spectral radii -----------------------------------------------------------------------------

enum { N_OMEGA = 9 };
static const double omegas[N_OMEGA] = {0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0};

typedef struct spectrum {
  double rho_inf;
  double radius[N_OMEGA]; ///< for each Omega = w h
} spectrum;

// From the amplification matrix of the textbook form in 40 digits.
static const spectrum spectra[] = {
    {0,
     {0.9999999950019991, 0.9999519176521886, 0.9842429788050618, 0.9065633333045496,
      0.7071067811865476, 0.3989892809641389, 0.242535625036333, 0.04783128168313899,
      0.01006649115854498}},
    {0.5,
     {0.9999999998148271, 0.9999981604239169, 0.9990113986869682, 0.9893127860157751,
      0.9371323065477974, 0.7864275520916995, 0.682528421486448, 0.5371736239040017,
      0.5078471682713986}},
    {0.8,
     {0.9999999999931415, 0.9999999316155782, 0.9999601108355054, 0.9994746140137885,
      0.9952858630225647, 0.9679093849820494, 0.9297917671531131, 0.8346376087743739,
      0.8077212457527148}},
    {0.9,
     {0.999999999999271, 0.9999999927292413, 0.9999957229268215, 0.9999422589036514,
      0.9994378368792345, 0.9947922551227233, 0.9837630770882052, 0.9284486709628258,
      0.9066308038629003}},
    {1, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
};

/// The matrix that takes (q, h v, h^2 a) over one step of the library, by columns: one step from
/// each unit vector. No public start has a_0 off v'_0 freely, so a_0 is put into the state by hand.
static void amplification(const as_problem *problem, const as_coefficients *c, double h,
                          double *matrix) {
  for (int j = 0; j < 3; ++j) {
    as_integrator *integrator =
        start_oscillator(problem, c, j == 0 ? 1.0 : 0.0, j == 1 ? 1.0 / h : 0.0);
    integrator->stepper.now.a[0] = j == 2 ? 1.0 / (h * h) : 0.0;
    step_oscillator(integrator, h);
    const as_state *s = as_integrator_state(integrator);
    matrix[3 * j] = s->q[0];
    matrix[3 * j + 1] = h * s->v[0];
    matrix[3 * j + 2] = h * h * s->a[0];
    as_integrator_destroy(integrator);
  }
}

static double spectral_radius(double *matrix) {
  double re[3], im[3], none[1], work[64];
  const int n = 3, one = 1, n_work = 64;
  int info = -1;
  dgeev_("N", "N", &n, matrix, &n, re, im, none, &one, none, &one, work, &n_work, &info);
  assert_int_equal(info, 0);
  return fmax(fmax(hypot(re[0], im[0]), hypot(re[1], im[1])), hypot(re[2], im[2]));
}

static void test_spectra(void **state) {
  (void)state;
  double w = 2.0;
  as_problem *problem = make_oscillator(&w);
  for (size_t i = 0; i < sizeof spectra / sizeof spectra[0]; ++i) {
    as_coefficients c;
    assert_int_equal(as_coefficients_chung_hulbert(spectra[i].rho_inf, &c, NULL), AS_OK);
    for (int k = 0; k < N_OMEGA; ++k) {
      double matrix[9];
      amplification(problem, &c, omegas[k] / w, matrix);
      const double radius = spectral_radius(matrix);
      if (!(fabs(radius - spectra[i].radius[k]) <= 1e-9))
        fail_msg("rho_inf = %g, Omega = %g: spectral radius %.15g, expected %.15g",
                 spectra[i].rho_inf, omegas[k], radius, spectra[i].radius[k]);
    }
  }
  as_problem_destroy(problem);
}

// ---- steps that shrink ---------------------------------------------------------------------------

/// The oscillator with w = 1 by hand, for steps of any size: [GA.5] to [GA.7], with d_0 = D h_0 and a_0 = v'_0.
typedef struct by_hand {
  as_coefficients c;
  double q, v, a, vdot, d; ///< after the last step
  double a_rate;           ///< of that step: a's change over its time
  double gamma;            ///< of that step, before [GA.7]
  int steps;
} by_hand;

static void step_by_hand(by_hand *x, double h) {
  const as_coefficients *c = &x->c;
  const double D = c->alpha_m - c->alpha_f;
  if (x->steps++ == 0) x->d = D * h;
  double d0 = x->d, d1 = (D * h - c->alpha_m * d0) / (1.0 - c->alpha_m), a0 = x->a;
  double gamma = x->gamma = (0.5 * h - d0) / (h + d1 - d0);
  if (gamma < 0.4 || gamma > 1.6 * c->gamma) {
    a0 += (D * h - d0) * x->a_rate;
    d0 = d1 = D * h;
    gamma = c->gamma;
  }
  const double q = x->q + h * x->v + h * h * (0.5 - c->beta) * a0; // with a_1 = 0
  const double rest = (1.0 - c->alpha_f) * -q + c->alpha_f * x->vdot - c->alpha_m * a0;
  const double a1 = rest / (1.0 - c->alpha_m + (1.0 - c->alpha_f) * h * h * c->beta);
  x->q = q + h * h * c->beta * a1;
  x->v += h * ((1.0 - gamma) * a0 + gamma * a1);
  x->vdot = -x->q;
  x->a_rate = (a1 - a0) / (h + d1 - d0);
  x->a = a1;
  x->d = d1;
}

enum { SHRINKING = 4 };

/// The library and the formulas after steps of 0.1 s, each 0.3 times the one before, a last one of `last` times the one before
/// and an equal one behind it. Returns gamma_n of the last but one.
static double shrink(const as_problem *problem, double last, bool compare) {
  by_hand x = {.q = 1.0, .vdot = -1.0, .a = -1.0};
  assert_int_equal(as_coefficients_chung_hulbert(0.8, &x.c, NULL), AS_OK);
  as_integrator *s = compare ? start_oscillator(problem, &x.c, 1.0, 0.0) : NULL;
  double h = 0.1, gamma = 0.0;
  for (int i = 0; i < SHRINKING + 2; ++i) {
    step_by_hand(&x, h);
    if (compare) step_oscillator(s, h);
    if (i == SHRINKING) gamma = x.gamma;
    h *= i < SHRINKING - 1 ? 0.3 : i == SHRINKING - 1 ? last : 1.0;
  }
  if (compare) {
    check_near("q", s->state.q[0], x.q, 1e-14);
    check_near("v", s->state.v[0], x.v, 1e-14);
    check_near("a", s->state.a[0], x.a, 1e-12);
    as_integrator_destroy(s);
  }
  return gamma;
}

/// gamma_n at its limits and a bit beyond, [GA.7].
static void test_shrinking_steps(void **state) {
  (void)state;
  double w = 1.0;
  as_problem *problem = make_oscillator(&w);
  as_coefficients c;
  assert_int_equal(as_coefficients_chung_hulbert(0.8, &c, NULL), AS_OK);
  const struct {
    double inside, outside, limit;
  } sides[] = {{0.2, 0.25, 1.6 * c.gamma}, {0.5, 0.35, 0.4}};
  for (int i = 0; i < 2; ++i) {
    double inside = sides[i].inside, outside = sides[i].outside;
    for (int k = 0; k < 40; ++k) {
      const double middle = 0.5 * (inside + outside), gamma = shrink(problem, middle, false);
      if ((gamma > sides[i].limit) == (i == 0))
        outside = middle;
      else
        inside = middle;
    }
    check_near("gamma", shrink(problem, inside, true), sides[i].limit, 1e-9);
    check_near("gamma", shrink(problem, outside, true), sides[i].limit, 1e-9);
  }
  as_problem_destroy(problem);
}

/// The same for a state x' = -x, [GA.12].
static int decay(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->x[0];
  return AS_DONE;
}

static int no_force(const as_point *at, double *out, void *user) {
  (void)at, (void)user;
  out[0] = 0.0;
  return AS_DONE;
}

typedef struct state_by_hand {
  as_state_coefficients c;
  double x, w, d;
  int steps, moved; ///< how often w was moved instead
} state_by_hand;

static void step_state_by_hand(state_by_hand *s, double h) {
  const as_state_coefficients *c = &s->c;
  const double D = c->delta_m - c->delta_f, rate = -s->x;
  if (s->steps++ == 0) s->d = D * h;
  double d0 = s->d, d1 = (D * h - c->delta_m * d0) / (1.0 - c->delta_m), w0 = s->w;
  double theta = (0.5 * h - d0) / (h + d1 - d0);
  if (s->steps > 1 && (theta < 0.4 || theta > 1.6 * c->theta)) {
    w0 = rate + D * h * (w0 - rate) / d0;
    d1 = D * h;
    theta = c->theta;
    ++s->moved;
  }
  const double x = s->x + h * (1.0 - theta) * w0; // with w_1 = 0
  const double rest = (1.0 - c->delta_f) * -x + c->delta_f * rate - c->delta_m * w0;
  s->w = rest / (1.0 - c->delta_m + (1.0 - c->delta_f) * h * theta);
  s->x = x + h * theta * s->w;
  s->d = d1;
}

static void test_states_in_shrinking_steps(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  as_integrator_def how = as_default_integrator_def();
  as_error error;
  const double zero = 0.0, one = 1.0;
  def.parts = &line;
  def.n_parts = def.n_x = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = unit_mass;
  def.force = no_force;
  def.state_rate = decay;
  how.improved_start = false;
  as_problem *problem = make_problem(&def);
  int moved = 0, kept = 0;
  for (int i = 1; i <= 30; ++i) {
    as_integrator *s = NULL;
    as_status status = as_integrator_create(problem, &how, &s, &error);
    const as_initial initial = {.q = &zero, .v = &zero, .x = &one};
    if (status == AS_OK) status = as_integrator_start(s, &initial, NULL, &error);
    if (status) fail_msg("%s", error.message);
    state_by_hand x = {.c = s->stepper.cx, .x = 1.0, .w = -1.0};
    double h = 0.1;
    for (int k = 0; k < SHRINKING + 2; ++k) {
      step_state_by_hand(&x, h);
      step_oscillator(s, h);
      h *= k < SHRINKING - 1 ? 0.3 : k == SHRINKING - 1 ? 0.03 * i : 1.0;
    }
    check_near("x", s->state.x[0], x.x, 1e-10);
    check_near("w", s->stepper.now.w[0], x.w, 1e-7);
    ++*(x.moved ? &moved : &kept);
    as_integrator_destroy(s);
  }
  assert_true(moved > 0 && kept > 0);
  as_problem_destroy(problem);
}

// ---- steps that grow -----------------------------------------------------------------------------

/// lambda and v of a pendulum after two equal steps and one `ratio` times as long.
static void grow(double ratio, double *lambda, double *v) {
  const test_problem *p = problem_pendulum_horizontal();
  const as_integrator_def how = rig_how(AS_METHOD_INDEX3, (double)NAN, NULL, 0);
  rig r = rig_make(&p->def, &how, &(as_initial){.t = p->t0, .q = p->q0, .v = p->v0});
  for (int i = 0; i < 3; ++i) step_oscillator(r.integrator, i < 2 ? 0.01 : 0.01 * ratio);
  *lambda = as_integrator_state(r.integrator)->lambda[0];
  *v = as_integrator_state(r.integrator)->v[0];
  rig_free(&r);
}

/// Velocities are corrected up to a ratio of steps of beta / |1/6 - beta - D/2|, and only projected beyond, [GA.10]: there,
/// and nowhere near, results jump.
static void test_growing_steps(void **state) {
  (void)state;
  as_coefficients c;
  assert_int_equal(as_coefficients_chung_hulbert(as_default_integrator_def().rho_inf, &c, NULL),
                   AS_OK);
  const double D = c.alpha_m - c.alpha_f, limit = c.beta / fabs(1.0 / 6.0 - c.beta - 0.5 * D);
  assert_true(limit > 3.0 && limit < 4.0);
  double lambda[4], v[4];
  for (int i = 0; i < 4; ++i) grow(limit * (1.0 + 1e-6 * (i - 1.5)), &lambda[i], &v[i]);
  for (int i = 0; i < 3; i += 2) {
    check_near("lambda", lambda[i + 1], lambda[i], 1e-5);
    check_near("v", v[i + 1], v[i], 1e-6);
  }
  assert_true(fabs(lambda[2] - lambda[1]) > 1e-2 && fabs(v[2] - v[1]) > 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chung_hulbert),
      cmocka_unit_test(test_hht),
      cmocka_unit_test(test_newmark),
      cmocka_unit_test(test_families_pass),
      cmocka_unit_test(test_parameters_out_of_range),
      cmocka_unit_test(test_refused_sets),
      cmocka_unit_test(test_unusable_numbers),
      cmocka_unit_test(test_integrator_rho_out_of_range),
      cmocka_unit_test(test_explicit_needs_no_constraints),
      cmocka_unit_test(test_warning),
      cmocka_unit_test(test_explicit_is_second_order),
      cmocka_unit_test(test_explicit_iterates_with_mass),
      cmocka_unit_test(test_discrete_values),
      cmocka_unit_test(test_textbook_recursion),
      cmocka_unit_test(test_spectra),
      cmocka_unit_test(test_shrinking_steps),
      cmocka_unit_test(test_states_in_shrinking_steps),
      cmocka_unit_test(test_growing_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
