/// The predictor by itself: what it continues exactly, and which way it learns to take.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "core/stepper/predictor.h"
#include "problems/problems.h"

enum { SIZE = 5 }; // odd: the last component stands alone

static double room[ASI_HISTORY + 1][SIZE + 1];
static double units[SIZE + 1];

/// A predictor with the roots of a method, and a place for the unknowns of the next step.
static double *open_predictor(asi_predictor *p, as_method method, double rho_inf) {
  as_integrator_def def = as_default_integrator_def();
  const test_problem *problem = problem_pendulum();
  as_problem *made = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  def.method = method;
  def.rho_inf = rho_inf;
  if (as_problem_create(&problem->def, &made, &error) ||
      as_integrator_create(made, &def, &integrator, &error))
    fail_msg("%s", error.message);
  *p = integrator ? integrator->stepper.predictor : (asi_predictor){0};
  as_integrator_destroy(integrator);
  as_problem_destroy(made);
  p->size = p->n = SIZE;
  for (int i = 0; i <= SIZE; ++i) units[i] = 1.0;
  p->per = units;
  for (int i = 0; i < ASI_HISTORY; ++i) p->z[i] = room[i];
  asi_predictor_reset(p);
  return room[ASI_HISTORY];
}

typedef double motion(int k, double t, int component);

/// Steps through a motion; what the last prediction misses of it, at the most.
static double follow(asi_predictor *p, double *z, motion *of, int steps, double change) {
  double t = 0.0, miss = 0.0;
  for (int k = 0; k < steps; ++k) {
    t += 0.01 * (1.0 + change * sin(3.0 * k));
    double predicted[SIZE + 1] = {0.0};
    if (p->count > 0) asi_predictor_extrapolate(p, t, predicted);
    miss = 0.0;
    for (int i = 0; i < SIZE; ++i) {
      z[i] = of(k, t, i);
      miss = fmax(miss, fabs(z[i] - predicted[i]));
    }
    if (p->count > 0) asi_predictor_learn(p, t, z);
    z = asi_predictor_push(p, t, z);
  }
  return miss;
}

static double cubic(int k, double t, int i) {
  (void)k;
  return 1.0 + i * t - (2.0 + i) * t * t + 3.0 * t * t * t;
}

static double quartic(int k, double t, int i) { return cubic(k, t, i) - 20.0 * pow(t, 4); }

/// Polynomials through up to four points, also of steps that differ.
static void test_polynomials(void **state) {
  (void)state;
  asi_predictor p;
  double *z = open_predictor(&p, AS_METHOD_SOI2, 0.8);
  assert_true(follow(&p, z, cubic, 20, 0.2) < 1e-13);
  assert_int_equal(p.points, 4);
  z = open_predictor(&p, AS_METHOD_INDEX3, 0.8);
  assert_true(follow(&p, z, quartic, 20, 0.0) < 1e-5);
  assert_int_equal(p.points, 4);
  assert_false(p.extrapolates_parasites); // the error would be (1 + rho_inf)^3 times as large
}

static double damping;

/// An error of an index-3 run: the roots are all -damping, so it is one of these times a parabola.
static double parasitic_roots(int k, double t, int i) {
  return cubic(k, t, i) + (1.0 + k - 0.1 * i * k * k) * pow(-damping, k);
}

/// [NW.13] for Chung and Hulbert's coefficients the three roots of index-3 are -rho_inf
static void test_ringing(void **state) {
  (void)state;
  static const double radii[] = {0.3, 0.6, 0.8, 0.9, 1.0};
  for (int i = 0; i < 5; ++i) {
    asi_predictor p;
    damping = radii[i];
    double *z = open_predictor(&p, AS_METHOD_INDEX3, damping);
    const double miss = follow(&p, z, parasitic_roots, 12, 0.0);
    assert_true(p.extrapolates_parasites && p.n_parasitic_roots == 3);
    assert_true(miss < 1e-10);
    // Steps of another size: nothing is known of how it rings on.
    z = open_predictor(&p, AS_METHOD_INDEX3, damping);
    follow(&p, z, parasitic_roots, 12, 0.2);
    assert_false(p.extrapolates_parasites);
  }
}

static double velocity_ringing(int k, double t, int i) {
  return cubic(k, t, i) + pow(-0.8, k) + i * pow(-7.0 / 11.0, k);
}

/// Of index-2 with rho_inf = 0.8: alpha_f = 4/9, gamma = 11/18, and the roots are -4/5 and -7/11.
static void test_ringing_of_velocities(void **state) {
  (void)state;
  asi_predictor p;
  double *z = open_predictor(&p, AS_METHOD_INDEX2, 0.8);
  assert_true(follow(&p, z, velocity_ringing, 14, 0.0) < 1e-11);
  assert_true(p.extrapolates_parasites && p.n_parasitic_roots == 2);
}

/// A pendulum after some steps of which one ends beside the constraint, for index-2 with a velocity that does: v' of
/// the next steps, less that without such an error.
static void follow_error(as_method method, double rho_inf, int steps, double (*d)[2]) {
  const test_problem *problem = problem_pendulum();
  const as_initial initial = {.t = problem->t0, .q = problem->q0, .v = problem->v0};
  for (int pass = 0; pass < 2; ++pass) {
    as_integrator_def def = as_default_integrator_def();
    as_problem *made = NULL;
    as_integrator *s = NULL;
    as_error error;
    def.method = method;
    def.rho_inf = rho_inf;
    def.newton.rtol = 1e-12;
    if (as_problem_create(&problem->def, &made, &error) ||
        as_integrator_create(made, &def, &s, &error) ||
        as_integrator_start(s, &initial, NULL, &error))
      fail_msg("%s", error.message);
    for (int k = 0; k < 5 + steps && s != NULL; ++k) {
      for (int i = 0; i < 2 && k == 5 && pass == 0; ++i) {
        if (method == AS_METHOD_INDEX3)
          s->stepper.now.q[i] += 1e-9 * s->stepper.now.q[i];
        else
          s->stepper.now.v[i] += 1e-7 * s->stepper.now.q[i];
      }
      if (as_integrator_step(s, 1e-3, &error)) fail_msg("%s", error.message);
      for (int i = 0; i < 2 && k >= 5; ++i)
        d[k - 5][i] = pass == 0 ? s->stepper.now.vdot[i] : d[k - 5][i] - s->stepper.now.vdot[i];
    }
    as_integrator_destroy(s);
    as_problem_destroy(made);
  }
}

/// [NW.13] errors of a run ring on as foretold: R(E) (E - 1) leaves next to nothing of them
static void test_errors_ring(void **state) {
  (void)state;
  enum { STEPS = 24 };
  for (int k = 0; k < 6; ++k) {
    const as_method method = k % 2 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
    const double rho_inf = 0.5 + 0.2 * (k / 2); // NOLINT(bugprone-integer-division)
    double d[STEPS][2] = {{0.0}}, largest = 0.0, left = 0.0;
    asi_predictor p;
    open_predictor(&p, method, rho_inf);
    follow_error(method, rho_inf, STEPS, d);
    for (int i = 0; i < 2 * STEPS; ++i) largest = fmax(largest, fabs(d[i / 2][i % 2]));
    for (int i = 0; i < 2; ++i)
      for (int n = p.n_parasitic_roots + 1; n < STEPS; ++n) {
        double sum = 0.0;
        for (int j = 0; j <= p.n_parasitic_roots; ++j)
          sum += p.parasitic_roots[j] * (d[n - j][i] - d[n - j - 1][i]);
        left = fmax(left, fabs(sum));
      }
    printf("method %d, rho_inf %g: error %.1e, not foretold %.1e\n", (int)method, rho_inf, largest,
           left);
    assert_true(largest > 1e-5);
    assert_true(left < 0.001 * largest);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_polynomials),
      cmocka_unit_test(test_ringing),
      cmocka_unit_test(test_ringing_of_velocities),
      cmocka_unit_test(test_errors_ring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
