/// Equilibria of problems given by functions: tangents by differences, general forces, nonholonomic constraints,
/// states and outputs, forces without a potential, constraints that do not hold; and what is refused.
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
#include "rig.h"

/// A problem and its analysis.
typedef struct subject {
  as_problem *problem;
  as_analysis *analysis;
  as_equilibrium found;
  as_error error;
} subject;

static subject make(const as_problem_def *def) {
  subject x = {0};
  const as_analysis_def how = as_default_analysis_def();
  as_status status = as_problem_create(def, &x.problem, &x.error);
  if (status == AS_OK) status = as_analysis_create(x.problem, &how, &x.analysis, &x.error);
  if (status) fail_msg("%s", x.error.message);
  return x;
}

static void drop(subject *x) {
  as_analysis_destroy(x->analysis);
  as_problem_destroy(x->problem);
}

static const as_state *rest(subject *x, const as_initial *initial) {
  if (as_analysis_equilibrium(x->analysis, initial, &x->found, &x->error))
    fail_msg("%s", x->error.message);
  return as_analysis_state(x->analysis);
}

// ---- a bead on a wire -----------------------------------------------------------------------------

/// y = x^2 / 2, with weight and a spring towards x = 1: V = m g x^2 / 2 + k (x - 1)^2 / 2, x = k / (k + m g); with
/// friction nowhere. kappa = (m g + k) / (m (1 + x^2)).
static const double m = 2.0, g = 9.81, k = 30.0;

static int bead_mass(const as_point *at, as_matrix *mass, void *user) {
  (void)at, (void)user;
  as_matrix_add(mass, 0, 0, m);
  as_matrix_add(mass, 1, 1, m);
  return AS_DONE;
}

static int bead_force(const as_point *at, double *out, void *user) {
  out[0] = -k * (at->q[0] - 1.0) - 5.0 * at->v[0];
  out[1] = -m * g;
  if (user) { // general: the same, said in another way: -B^T (lambda + lambda^3)
    const double push = at->lambda[0] + 0.01 * pow(at->lambda[0], 3.0);
    out[0] += at->q[0] * push;
    out[1] -= push;
  }
  return AS_DONE;
}

static int bead_wire(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[1] - 0.5 * at->q[0] * at->q[0];
  return AS_DONE;
}

static as_problem_def bead(bool general) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  static char flag;
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = def.scleronomic = true;
  def.force_kind = general ? AS_FORCE_GENERAL : AS_FORCE_ADDITIVE;
  def.mass = bead_mass;
  def.force = bead_force;
  def.constraint = bead_wire;
  def.user = general ? &flag : NULL;
  return def;
}

static void bead_rests_where_it_should(void **state) {
  (void)state;
  for (int general = 0; general < 2; ++general) {
    const as_problem_def def = bead(general);
    subject x = make(&def);
    const double starts[] = {-3.0, 0.0, 0.9, 40.0};
    for (int i = 0; i < 4; ++i) {
      const double q[2] = {starts[i], 0.5 * starts[i] * starts[i]}, v[2] = {3.0, 4.0};
      const as_state *s = rest(&x, &(as_initial){.q = q, .v = v}); // v is not looked at
      const double exact = k / (k + m * g);
      // lambda as such by differences of B: 1e-11
      const double lambda = -m * g;
      const double found = s->lambda[0] + (general ? 0.01 * pow(s->lambda[0], 3.0) : 0.0);
      assert_near("x", s->q[0], exact, 1e-10);
      assert_near("y", s->q[1], 0.5 * exact * exact, 1e-10);
      assert_near("lambda", found, lambda, 1e-8);
      assert_near("kappa", x.found.softest, (m * g + k) / (m * (1.0 + exact * exact)), 1e-5);
      assert_int_equal(x.found.stability, AS_STABLE);
      assert_true(s->v[0] == 0.0 && s->v[1] == 0.0);
    }
    drop(&x);
  }
}

/// Without the wire it falls.
static void released_bead_falls(void **state) {
  (void)state;
  const as_problem_def def = bead(false);
  subject x = make(&def);
  const double q[2] = {0.3, 0.045};
  const bool active = false;
  const as_status status =
      as_analysis_equilibrium(x.analysis, &(as_initial){.q = q, .active = &active}, NULL, &x.error);
  assert_int_equal(status, AS_ERR_CONVERGENCE);
  assert_string_equal(x.error.component, "v[1]");
  drop(&x);
}

// ---- nonholonomic ---------------------------------------------------------------------------------

/// A skate (x, y, heading) on a plane, k = -sin x' + cos y' = 0, with forces F - c x along x and P along y. It glides along
/// its heading a to where (F - c x) cos a + P sin a = 0.
static const double F = 3.0, P = 1.5, c = 20.0;

static int skate_mass(const as_point *at, as_matrix *mass, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(mass, i, i, i < 2 ? 1.5 : 0.2);
  return AS_DONE;
}

static int skate_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = F - c * at->q[0];
  out[1] = P;
  out[2] = 0.0;
  return AS_DONE;
}

static int skate_blade(const as_point *at, double *out, void *user) {
  out[0] = -sin(at->q[2]) * at->v[0] + cos(at->q[2]) * at->v[1];
  if (user) out[0] -= *(const double *)user; // a speed to the side
  return AS_DONE;
}

static as_problem_def skate(void) {
  static const as_space_part space = {AS_SPACE_RN, 3};
  as_problem_def def = as_default_problem_def();
  def.parts = &space;
  def.n_parts = 1;
  def.n_psi = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = skate_mass;
  def.force = skate_force;
  def.nonholonomic = skate_blade;
  return def;
}

static void skate_glides_along_its_heading(void **state) {
  (void)state;
  const as_problem_def def = skate();
  subject x = make(&def);
  for (int i = 0; i < 5; ++i) {
    const double a = -0.9 + 0.4 * i, q[3] = {0.2, -0.4, a};
    const as_state *s = rest(&x, &(as_initial){.q = q});
    const double exact = (F + P * tan(a)) / c;
    assert_near("x", s->q[0], exact, 1e-9);
    assert_near("y", s->q[1], -0.4 + (exact - 0.2) * tan(a), 1e-9);
    assert_near("heading", s->q[2], a, 1e-12);
    // (F - c x, P) = psi (-sin a, cos a)
    assert_near("psi", s->psi[0], P / cos(a), 1e-8);
    assert_int_equal(x.found.stability, AS_NEUTRAL);
    assert_int_equal(x.found.degrees_of_freedom, 2);
    assert_int_equal(x.found.n_neutral, 1);
  }
  drop(&x);
}

static void prescribed_speed_allows_no_rest(void **state) {
  (void)state;
  double speed = 0.3;
  as_problem_def def = skate();
  def.user = &speed;
  subject x = make(&def);
  const double q[3] = {0};
  assert_int_equal(as_analysis_equilibrium(x.analysis, &(as_initial){.q = q}, NULL, &x.error),
                   AS_ERR_INCONSISTENT);
  assert_string_equal(x.error.component, "psi[0]");
  assert_non_null(strstr(x.error.message, "no rest"));
  // Nor is its motion prescribed.
  assert_int_equal(as_analysis_begin_motion(x.analysis, &(as_initial){.q = q}, NULL, &x.error),
                   AS_ERR_UNSUPPORTED);
  assert_non_null(strstr(x.error.message, "3 degrees of freedom"));
  drop(&x);
}

// ---- states and outputs ---------------------------------------------------------------------------

/// A mass on a spring, pushed by an actuator x' = 5 (2 - y - x) whose sensor reads y = 3 q + 0.1 y^3: then
/// k q = x, x = 2 - y.
static int servo_mass(const as_point *at, as_matrix *mass, void *user) {
  (void)at, (void)user;
  as_matrix_add(mass, 0, 0, m);
  return AS_DONE;
}

static int servo_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->x[0] - k * at->q[0] - 2.0 * at->v[0] + at->u[0];
  return AS_DONE;
}

static int servo_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 5.0 * (2.0 - at->y[0] - at->x[0]);
  return AS_DONE;
}

static int servo_sensor(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 3.0 * at->q[0] + 0.1 * pow(at->y[0], 3.0);
  return AS_DONE;
}

static void states_come_to_rest_too(void **state) {
  (void)state;
  static const as_space_part space = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &space;
  def.n_parts = 1;
  def.n_x = def.n_y = def.n_u = 1;
  def.mass_constant = true;
  def.mass = servo_mass;
  def.force = servo_force;
  def.state_rate = servo_rate;
  def.output = servo_sensor;
  subject x = make(&def);
  const double q[1] = {0.7}, x0[1] = {-3.0}, u[1] = {0.25};
  const as_state *s = rest(&x, &(as_initial){.q = q, .x = x0, .u = u});
  assert_near("balance", s->x[0] + 0.25, k * s->q[0], 1e-11);
  assert_near("actuator", s->x[0], 2.0 - s->y[0], 1e-11);
  assert_near("sensor", s->y[0], 3.0 * s->q[0] + 0.1 * pow(s->y[0], 3.0), 1e-13);
  assert_near("rate", s->xdot[0], 0.0, 1e-11);
  assert_near("held", s->u[0], 0.25, 0.0);
  assert_int_equal(x.found.stability, AS_STABILITY_UNKNOWN);
  assert_int_equal(x.found.n_negative, -1);
  assert_int_equal(as_analysis_begin_motion(x.analysis, &(as_initial){.q = q}, NULL, &x.error),
                   AS_ERR_UNSUPPORTED);
  assert_non_null(strstr(x.error.message, "first-order states"));
  drop(&x);
}

// ---- a spring that saturates ----------------------------------------------------------------------

/// f = -atan(100 (q - 2)) + 0.5: far away Newton's method would go ever further, to and fro.
static int saturating(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 0.5 - atan(100.0 * (at->q[0] - 2.0));
  return AS_DONE;
}

static void saturating_spring_is_found_from_afar(void **state) {
  (void)state;
  static const as_space_part space = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &space;
  def.n_parts = 1;
  def.mass_constant = true;
  def.mass = servo_mass;
  def.force = saturating;
  subject x = make(&def);
  const double starts[] = {-300.0, 1.9, 2.5, 40.0};
  for (int i = 0; i < 4; ++i) {
    const as_state *s = rest(&x, &(as_initial){.q = &starts[i]});
    printf("  from %g: %d iterations\n", starts[i], x.found.iterations);
    assert_near("q", s->q[0], 2.0 + 0.01 * tan(0.5), 1e-13);
    assert_true(x.found.iterations < 60);
  }
  drop(&x);
}

// ---- forces without a potential -------------------------------------------------------------------

/// A point held by springs of 1 and 1.2 N/m and a force across, f = -diag(1, 1.2) q + s (y, -x): kappa is complex
/// for s > 0.1.
static int across(const as_point *at, double *out, void *user) {
  const double s = *(const double *)user;
  out[0] = -1.0 * at->q[0] + s * at->q[1] + 1.0;
  out[1] = -1.2 * at->q[1] - s * at->q[0];
  return AS_DONE;
}

static int unit_mass(const as_point *at, as_matrix *mass, void *user) {
  (void)at, (void)user;
  as_matrix_add(mass, 0, 0, 1.0);
  as_matrix_add(mass, 1, 1, 1.0);
  return AS_DONE;
}

static void flutter_is_unstable(void **state) {
  (void)state;
  static const as_space_part space = {AS_SPACE_RN, 2};
  for (int i = 0; i < 2; ++i) {
    double s = i ? 0.11 : 0.09;
    as_problem_def def = as_default_problem_def();
    def.parts = &space;
    def.n_parts = 1;
    def.mass_constant = true;
    def.mass = unit_mass;
    def.force = across;
    def.user = &s;
    subject x = make(&def);
    const double q[2] = {0};
    const as_state *at = rest(&x, &(as_initial){.q = q});
    const double determinant = 1.2 + s * s;
    assert_near("x", at->q[0], 1.2 / determinant, 1e-11);
    assert_near("y", at->q[1], -s / determinant, 1e-11);
    assert_int_equal(x.found.stability, i ? AS_UNSTABLE : AS_STABLE);
    assert_int_equal(x.found.n_negative, i ? 2 : 0);
    drop(&x);
  }
}

// ---- what is refused ------------------------------------------------------------------------------

static void nonsense_is_refused(void **state) {
  (void)state;
  const as_problem_def def = bead(false);
  subject x = make(&def);
  as_analysis *none = NULL;
  as_analysis_def how = as_default_analysis_def();
  const double q[2] = {0.3, 0.045}, bad[2] = {0.3, (double)NAN};
  how.max_iterations = 0;
  assert_int_equal(as_analysis_create(x.problem, &how, &none, &x.error), AS_ERR_ARGUMENT);
  assert_string_equal(x.error.component, "max_iterations");
  how = as_default_analysis_def();
  how.shortest_part = (double)NAN;
  assert_int_equal(as_analysis_create(x.problem, &how, &none, &x.error), AS_ERR_ARGUMENT);
  assert_string_equal(x.error.component, "shortest_part");
  assert_int_equal(as_analysis_create(NULL, &how, &none, &x.error), AS_ERR_ARGUMENT);
  assert_null(none);
  assert_int_equal(as_analysis_equilibrium(x.analysis, NULL, NULL, &x.error), AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_equilibrium(x.analysis, &(as_initial){.q = bad}, NULL, &x.error),
                   AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_equilibrium(NULL, &(as_initial){.q = q}, NULL, NULL),
                   AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_begin_motion(NULL, &(as_initial){.q = q}, NULL, NULL),
                   AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_follow_motion(x.analysis, 1.0, NULL, &x.error), AS_ERR_ARGUMENT);
  // A failure leaves the state as it was, a success no trace of failures on the way.
  rest(&x, &(as_initial){.t = 4.0, .q = q});
  assert_int_equal(x.error.status, AS_OK);
  const double before = as_analysis_state(x.analysis)->q[0];
  const bool active = false;
  as_analysis_equilibrium(x.analysis, &(as_initial){.q = q, .active = &active}, NULL, NULL);
  assert_true(as_analysis_state(x.analysis)->q[0] == before);
  assert_true(as_analysis_state(x.analysis)->t == 4.0);
  as_analysis_destroy(NULL);
  drop(&x);
}

static bool stop_soon(void *user) { return --*(int *)user < 0; }

static void search_can_be_interrupted(void **state) {
  (void)state;
  int calls = 3;
  const as_problem_def def = bead(false);
  as_analysis_def how = as_default_analysis_def();
  how.interrupt = stop_soon;
  how.interrupt_user = &calls;
  subject x = make(&def);
  as_analysis *analysis = NULL;
  assert_int_equal(as_analysis_create(x.problem, &how, &analysis, &x.error), AS_OK);
  const double q[2] = {-3.0, 4.5};
  assert_int_equal(as_analysis_equilibrium(analysis, &(as_initial){.q = q}, NULL, &x.error),
                   AS_INTERRUPTED);
  as_analysis_destroy(analysis);
  drop(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bead_rests_where_it_should),
      cmocka_unit_test(released_bead_falls),
      cmocka_unit_test(skate_glides_along_its_heading),
      cmocka_unit_test(prescribed_speed_allows_no_rest),
      cmocka_unit_test(states_come_to_rest_too),
      cmocka_unit_test(saturating_spring_is_found_from_afar),
      cmocka_unit_test(flutter_is_unstable),
      cmocka_unit_test(nonsense_is_refused),
      cmocka_unit_test(search_can_be_interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
