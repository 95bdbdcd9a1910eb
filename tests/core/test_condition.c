/// The iteration matrix of a step: that it is the derivative of the step's equations, and that its
/// condition does not depend on the step size.
///
/// The matrix is the one that the integrator itself assembled (core/integrator.h).
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

// LAPACK: singular values of a general matrix.
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info);

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
static const char *const method_names[] = {"index-3", "index-2"};

// ---- a started integrator -----------------------------------------------------------------------

typedef struct run {
  as_problem *problem;
  as_integrator *integrator;
} run;

static run run_open(const test_problem *p, const as_integrator_def *def) {
  run r = {0};
  as_error error = {0};
  const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0};
  as_status status = as_problem_create(&p->def, &r.problem, &error);
  if (status == AS_OK) status = as_integrator_create(r.problem, def, &r.integrator, &error);
  if (status == AS_OK) status = as_integrator_start(r.integrator, &initial, NULL, &error);
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error.message);
  assert_true(r.integrator->stepper.step.size <= MAX_SIZE);
  return r;
}

static void run_close(run *r) {
  as_integrator_destroy(r->integrator);
  as_problem_destroy(r->problem);
}

static void run_steps(run *r, const char *name, double h, int n) {
  as_error error = {0};
  for (int i = 0; i < n; ++i)
    if (as_integrator_step(r->integrator, h, &error))
      fail_msg("%s, h = %g: %s", name, h, error.message);
}

/// The assembled iteration matrix, by columns.
static void dense_matrix(const as_integrator *s, double *out) {
  const asi_system *a = &s->stepper.step;
  memset(out, 0, (size_t)(a->size * a->size) * sizeof(double));
  for (int j = 0; j < a->size; ++j)
    for (int k = a->pattern.col_start[j]; k < a->pattern.col_start[j + 1]; ++k)
      out[j * a->size + a->pattern.row[k]] = a->value[k];
}

// ---- the condition number -----------------------------------------------------------------------

/// The ratio of the largest and the smallest singular value of the matrix of the last step.
static double condition(const as_integrator *s) {
  double a[MAX_SIZE * MAX_SIZE], sigma[MAX_SIZE], none[1], work[8 * MAX_SIZE];
  const int n = s->stepper.step.size, one = 1, n_work = 8 * MAX_SIZE;
  int info = -1;
  dense_matrix(s, a);
  dgesvd_("N", "N", &n, &n, a, &n, sigma, none, &one, none, &one, work, &n_work, &info);
  assert_int_equal(info, 0);
  return sigma[0] / sigma[n - 1];
}

/// After three steps of size h.
static double condition_at(const test_problem *p, as_method method, double h) {
  as_integrator_def def = as_default_integrator_def();
  def.method = method;
  def.newton.reuse = false;
  run r = run_open(p, &def);
  run_steps(&r, p->name, h, 3);
  const double c = condition(r.integrator);
  run_close(&r);
  return c;
}

// To leading order in h the pendulum's matrix (m = 1, |B| = l = 1) is, along the rod,
//
//     index-3  [1 1; kap 0]    index-2  [1 1 0; kap 0 0; kap 0 -1/beta]    in (v', lambda, eta/h)
//
// and 1 across it: 2.887 and 6.335 for rho_inf = 0.8, where kap = 5/6 and beta = 25/81. (An unknown
// eta/(kap beta h) would bring the second down to 4.002.)
static void test_pendulum(void **state) {
  (void)state;
  const double expected[] = {2.88695, 6.33455};
  int failures = 0;
  for (int k = 0; k < 2; ++k) {
    for (int e = 2; e <= 6; ++e) {
      const double h = pow(10.0, -e);
      const double c = condition_at(problem_pendulum(), methods[k], h);
      if (fabs(c / expected[k] - 1.0) <= 1e-3) continue;
      print_error("%s, h = %g: condition %.6g, not %.6g\n", method_names[k], h, c, expected[k]);
      ++failures;
    }
  }
  assert_int_equal(failures, 0);
}

/// No block of the matrix grows or vanishes with h.
static void test_independent_of_step(void **state) {
  (void)state;
  int failures = 0;
  for (int i = 0; i < problem_count(); ++i) {
    const test_problem *p = problem_get(i);
    for (int k = 0; k < 2; ++k) {
      double least = (double)INFINITY, most = 0.0;
      for (int e = 3; e <= 6; ++e) {
        const double c = condition_at(p, methods[k], pow(10.0, -e));
        least = fmin(least, c);
        most = fmax(most, c);
      }
      printf("%-26s %s: condition %.6g .. %.6g\n", p->name, method_names[k], least, most);
      if (most / least <= 1.1) continue;
      print_error("%s, %s: the condition depends on h: %g .. %g\n", p->name, method_names[k], least,
                  most);
      ++failures;
    }
  }
  assert_int_equal(failures, 0);
}

// ---- a problem with everything ------------------------------------------------------------------

// No mechanism: smooth functions of all their arguments on R^2 x SO(3), so that no term of the
// iteration matrix is zero. q = (q0, q1, quaternion), one g(t,q), one k(t,q,v) not linear in v;
// all Jacobian blocks are differenced by the library.

static int all_mass(const as_point *at, as_matrix *m, void *user) {
  (void)user;
  const double *q = at->q;
  for (int i = 0; i < 5; ++i) as_matrix_add(m, i, i, 2.0 + 0.3 * i + 0.4 * sin(q[i] + 0.2 * at->t));
  as_matrix_add(m, 0, 3, 0.3 * q[2] * q[3]);
  as_matrix_add(m, 3, 0, 0.3 * q[2] * q[3]);
  as_matrix_add(m, 1, 4, 0.2 * cos(q[0]));
  as_matrix_add(m, 4, 1, 0.2 * cos(q[0]));
  return AS_DONE;
}

static int all_force(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q, *v = at->v;
  for (int i = 0; i < 5; ++i)
    out[i] = sin(at->t + i) - 3.0 * q[i] + 2.0 * q[(i + 2) % 6] * v[(i + 1) % 5] - v[i] * v[i];
  return AS_DONE;
}

static int all_constraint(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q;
  out[0] = q[0] - 0.5 * q[1] * q[1] + q[2] * q[3] + 2.0 * q[4] * q[5] - 0.1 * sin(at->t);
  return AS_DONE;
}

static int all_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q, *v = at->v;
  out[0] = v[1] - v[2] * cos(q[0]) + 2.0 * q[3] * v[4] + 0.2 * v[3] * v[3] - 0.3 * cos(at->t);
  return AS_DONE;
}

/// The force above with multipliers in it that act nonlinearly.
static int all_general_force(const as_point *at, double *out, void *user) {
  all_force(at, out, user);
  const double l = at->lambda[0], p = at->psi[0];
  out[0] -= l + 0.1 * sin(l + p);
  out[1] += at->q[1] * l - p;
  out[2] += p * cos(at->q[0]) - 0.5 * l;
  out[3] -= 0.3 * p * p + 0.2 * l * at->v[0];
  out[4] -= 0.4 * l + at->q[3] * p;
  return AS_DONE;
}

static test_problem problem_with_everything(as_force_kind kind) {
  static const as_space_part space[] = {{AS_SPACE_RN, 2}, {AS_SPACE_SO3, 1}};
  static const double q0[] = {0.4, -0.3, 0.8, 0.36, -0.48, 0.0};
  static const double v0[] = {0.7, -0.5, 0.9, 0.4, -0.6};
  const bool additive = kind == AS_FORCE_ADDITIVE;
  test_problem p = {.name = additive ? "everything, additive" : "everything, general",
                    .def = as_default_problem_def(),
                    .t0 = 0.3,
                    .q0 = q0,
                    .v0 = v0};
  p.def.parts = space;
  p.def.n_parts = 2;
  p.def.n_lambda = p.def.n_psi = 1;
  p.def.force_kind = kind;
  p.def.mass = all_mass;
  p.def.force = additive ? all_force : all_general_force;
  p.def.constraint = all_constraint;
  p.def.nonholonomic = all_nonholonomic;
  return p;
}

// ---- the derivative -----------------------------------------------------------------------------

/// "v'[2]", "lambda[0]", ...: an unknown, or with `row` the equation in its place.
static void name_of(const as_integrator *s, int i, bool row, char *text, size_t size) {
  const int n = s->kin.problem->n, m = s->kin.problem->def.n_lambda, k = s->kin.problem->def.n_psi;
  const bool stabilized = s->def.method == AS_METHOD_INDEX2;
  if (i < n)
    snprintf(text, size, "%s[%d]", row ? "M v' - f" : "v'", i);
  else if (i < n + m)
    snprintf(text, size, "%s[%d]", !row ? "lambda" : stabilized ? "g'" : "g", i - n);
  else if (i < n + m + k)
    snprintf(text, size, "%s[%d]", row ? "k" : "psi", i - n - m);
  else
    snprintf(text, size, "%s[%d]", row ? "g" : "eta/h", i - n - m - k);
}

/// By how much an unknown is moved: so much that q moves by about 1e-4 of its typical size.
static double increment_of(const as_integrator *s, int j) {
  const as_problem *p = s->kin.problem;
  const int n = p->n, m = p->def.n_lambda, k = p->def.n_psi;
  const double h2 = s->stepper.h * s->stepper.h;
  if (j < n) return 1e-4 * p->typical[j] / h2;
  if (j < n + m + k) return 1e-3 * (1.0 + fabs(s->stepper.z[j]));
  double largest = 0.0; // of the row of B
  for (int c = 0; c < n; ++c) {
    const int at = as_matrix_position(&s->stepper.b_n, j - n - m - k, c);
    if (at >= 0) largest = fmax(largest, fabs(s->stepper.b_n.value[at]) / p->typical[c]);
  }
  return 1e-4 / (h2 * largest);
}

static void residual_at(as_integrator *s, const char *name, const double *z, double *out) {
  memcpy(s->stepper.z, z, (size_t)s->stepper.step.size * sizeof(double));
  if (s->stepper.eta_path) asi_index2_path(&s->stepper);
  if (s->stepper.method->evaluate(&s->stepper, false))
    fail_msg("%s: %s", name, s->kin.eval.error->message);
  memcpy(out, s->stepper.residual, (size_t)s->stepper.step.size * sizeof(double));
}

/// Column j of the derivative: (8 (r(e) - r(-e)) - (r(2e) - r(-2e))) / (12 e)
static void difference_column(as_integrator *s, const char *name, const double *z, int j,
                              double *out) {
  const int size = s->stepper.step.size;
  const double e = increment_of(s, j), place[] = {-2.0, -1.0, 1.0, 2.0};
  const double weight[] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
  double moved[MAX_SIZE], r[MAX_SIZE];
  memset(out, 0, (size_t)size * sizeof(double));
  for (int i = 0; i < 4; ++i) {
    memcpy(moved, z, (size_t)size * sizeof(double));
    moved[j] += place[i] * e;
    residual_at(s, name, moved, r);
    for (int k = 0; k < size; ++k) out[k] += weight[i] / e * r[k];
  }
}

/// Goes to the middle of a step of size h after two shorter ones, so that gamma_n is not nominal,
/// and away from the solution, so that no residual is small.
static void enter_step(run *r, const test_problem *p, double h, as_error *error) {
  as_integrator *s = r->integrator;
  const int n = s->kin.problem->n;
  const double scale = p->def.time_scale; // NAN where the library is to find it
  const double shorter = scale < 0.3 ? 0.02 * scale : 0.006;
  run_steps(r, p->name, shorter, 2);
  s->kin.eval.error = error;
  s->stepper.t1 = s->state.t + h;
  if (s->stepper.method->begin(&s->stepper, h)) fail_msg("%s: %s", p->name, error->message);
  const double bend = 1.0 + asi_max_abs(s->stepper.z, n);
  const double push = 1.0 + asi_max_abs(s->stepper.z + n, s->stepper.step.size - n);
  for (int j = 0; j < s->stepper.step.size; ++j)
    s->stepper.z[j] += 0.1 * sin(1.0 + j) * (j < n ? bend : push);
  if (s->stepper.eta_path) asi_index2_path(&s->stepper);
}

static int check_tangent(const test_problem *p, int method, double h, double tolerance) {
  as_integrator_def def = as_default_integrator_def();
  as_error error = {0};
  double a[MAX_SIZE * MAX_SIZE], z[MAX_SIZE], column[MAX_SIZE], row_scale[MAX_SIZE] = {0};
  def.method = methods[method];
  run r = run_open(p, &def);
  as_integrator *s = r.integrator;
  const int size = s->stepper.step.size;
  enter_step(&r, p, h, &error);
  memcpy(z, s->stepper.z, sizeof(double) * (size_t)size);
  residual_at(s, p->name, z, column);
  if (s->stepper.method->linearize(&s->stepper, false)) fail_msg("%s: %s", p->name, error.message);
  dense_matrix(s, a);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j) row_scale[i] = fmax(row_scale[i], fabs(a[j * size + i]));
  double worst = 0.0, given = 0.0, expected = 0.0;
  int worst_row = 0, worst_col = 0;
  for (int j = 0; j < size; ++j) {
    difference_column(s, p->name, z, j, column);
    for (int i = 0; i < size; ++i) {
      const double e = fabs(a[j * size + i] - column[i]) / row_scale[i];
      if (e <= worst) continue; // NAN is not <=
      worst = e;
      worst_row = i;
      worst_col = j;
      given = a[j * size + i];
      expected = column[i];
    }
  }
  char row[32], col[32];
  name_of(s, worst_row, true, row, sizeof row);
  name_of(s, worst_col, false, col, sizeof col);
  run_close(&r);
  printf("%-26s %s h = %-5g: off by %.1e of the row's largest entry\n", p->name,
         method_names[method], h, worst);
  if (worst <= tolerance) return 0;
  print_error(
      "%s, %s, h = %g: d %s / d %s is %.12g, differences say %.12g: off by %.3g of the row's "
      "largest entry (%.3g)\n",
      p->name, method_names[method], h, row, col, given, expected, worst, row_scale[worst_row]);
  return 1;
}

static void test_tangent(void **state) {
  (void)state;
  int failures = 0;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < problem_count(); ++i) {
      failures += check_tangent(problem_get(i), k, 0.01, 1e-8);
      if (problem_get(i)->def.time_scale > 0.2) // else q would turn many times
        failures += check_tangent(problem_get(i), k, 0.1, 1e-8);
    }
  assert_int_equal(failures, 0);
}

/// Every term of the matrix at once, psi's too.
static void test_tangent_of_everything(void **state) {
  (void)state;
  int failures = 0;
  for (int k = 0; k < 2; ++k) {
    const test_problem additive = problem_with_everything(AS_FORCE_ADDITIVE);
    const test_problem general = problem_with_everything(AS_FORCE_GENERAL);
    const double h[] = {0.01, 0.1};
    for (int i = 0; i < 2; ++i) {
      failures += check_tangent(&additive, k, h[i], 1e-7);
      failures += check_tangent(&general, k, h[i], 1e-7);
    }
  }
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_independent_of_step),
      cmocka_unit_test(test_tangent),
      cmocka_unit_test(test_tangent_of_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
