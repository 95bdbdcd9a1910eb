/// Beams from files against references that were computed in other ways (shooting; spectral elements in space and Runge-Kutta of order 8 in
/// time), by convergence in the number of elements and in the step, with all methods; and beams of many elements without fill.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/beam.h"
#include "alphastep/io.h"
#include "elements/vector.h"
#include "files.h"
#include "rig.h"

enum { MOST = 16 };

static as_machine *load(const char *name, int n) {
  char path[128], setting[32];
  const char *const settings[] = {setting};
  snprintf(path, sizeof path, "tests/files/good/beams/%s.yaml", name);
  snprintf(setting, sizeof setting, "parameters.n=%d", n);
  return files_load(path, settings, 1);
}

/// Numbers of channels, one name or pattern after the other.
static void look(const as_machine *m, const as_state *state, const char *const *names, int n,
                 double *out) {
  as_channels *c = NULL;
  as_error error;
  const as_view view = {.state = state};
  if (as_channels_create(m->model, names, n, &c, &error)) fail_msg("%s", error.message);
  assert_true(as_channels_count(c) <= MOST);
  if (as_channels_evaluate(c, &view, out, &error)) fail_msg("%s", error.message);
  as_channels_destroy(c);
}

/// The channels after a run with a given step.
static void run(const as_machine *m, as_method method, double step, double t,
                const char *const *names, int n, double *out) {
  as_integrator *integrator = NULL;
  as_error error;
  as_integrator_def def = m->simulation.integrator;
  def.method = method;
  def.step = step;
  if (as_integrator_create(as_model_problem(m->model), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m->model), NULL, &error) ||
      as_integrator_advance(integrator, t, &error))
    fail_msg("%s", error.message);
  look(m, as_integrator_state(integrator), names, n, out);
  as_integrator_destroy(integrator);
}

// ---- statics ----------------------------------------------------------------------------------------

typedef struct spring {
  double force, moment;
} spring;

/// Force and moment about the axis at the guided end of a spring of five coils.
static spring pull(int n, const char *alpha, const char *dz) {
  char count[32];
  const char *const settings[] = {count, alpha, dz};
  snprintf(count, sizeof count, "parameters.n=%d", n);
  as_machine *m = files_load("tests/files/good/beams/helical_spring.yaml", settings, 3);
  as_analysis *a = NULL;
  as_error error;
  const as_analysis_def def = as_default_analysis_def();
  as_equilibrium found;
  if (as_analysis_create(as_model_problem(m->model), &def, &a, &error) ||
      as_analysis_equilibrium(a, as_model_initial(m->model), &found, &error))
    fail_msg("%s", error.message);
  static const char *const names[] = {"joints.drive.drive", "joints.slide.torque.z"};
  double out[2];
  look(m, as_analysis_state(a), names, 2, out);
  // The last section turned into the world is the joints' reaction.
  as_beam_state end;
  double world[3];
  assert_int_equal(
      as_model_beam_state(m->model, as_analysis_state(a), (as_beam_id){0}, n, &end, &error), AS_OK);
  asi_rotate(end.R, end.force, world);
  assert_near("end force", fabs(world[2]), fabs(out[0]), 1e-6 * fabs(out[0]) + 1e-9);
  as_analysis_destroy(a);
  as_machine_destroy(m);
  return (spring){out[0], out[1]};
}

static void test_spring(void **state) {
  (void)state;
  static const struct {
    const char *alpha, *dz;
    double force, moment;
  } cases[] = {{"parameters.alpha=5*pi/180", "parameters.dz=0.02", 199.100908061, 0.3369171695},
               {"parameters.alpha=5*pi/180", "parameters.dz=-0.01", -98.5152045696, -0.1626017523},
               {"parameters.alpha=12*pi/180", "parameters.dz=0.05", 509.369664604, 0.2142801793}};
  for (int i = 0; i < 3; ++i) {
    const spring coarse = pull(40, cases[i].alpha, cases[i].dz);
    const spring fine = pull(80, cases[i].alpha, cases[i].dz);
    const double e[2] = {fabs(coarse.force / cases[i].force - 1.0),
                         fabs(fine.force / cases[i].force - 1.0)};
    const double m[2] = {fabs(coarse.moment / cases[i].moment - 1.0),
                         fabs(fine.moment / cases[i].moment - 1.0)};
    print_message("  force %.1e, %.1e; moment %.1e, %.1e\n", e[0], e[1], m[0], m[1]);
    assert_true(e[1] < 3e-7 && e[1] < e[0] / 12.0);
    assert_true(m[1] < 1e-5 && m[1] < m[0] / 12.0);
  }
  // Small: the wire formula is off by a tenth of a percent.
  const spring small = pull(80, "parameters.alpha=5*pi/180", "parameters.dz=1e-6");
  assert_near("stiffness", small.force / 0.009885460791, 1.0, 4e-6);
}

// ---- motion -----------------------------------------------------------------------------------------

/// Two legs at a right angle, pushed out of their plane: largest error of elbow and tip, and the reference's own digits.
static double right_angle(int n, double step, as_method method) {
  static const double reference[6] = {7.99558025089, -0.567501906429, 5.17130140904,
                                      10.4722409035, 9.04982814853,   4.16662817901};
  static const char *const names[] = {"frames.elbow.position", "frames.tip.position"};
  double out[MOST], worst = 0.0;
  as_machine *m = load("right_angle", n);
  run(m, method, step, 4.0, names, 2, out);
  for (int k = 0; k < 6; ++k) worst = fmax(worst, fabs(out[k] - reference[k]));
  as_machine_destroy(m);
  return worst;
}

static void test_right_angle(void **state) {
  (void)state;
  const double two = right_angle(2, 0.02, AS_METHOD_INDEX2);
  const double four = right_angle(4, 0.02, AS_METHOD_INDEX2);
  const double eight = right_angle(8, 0.01, AS_METHOD_INDEX2);
  print_message("  %.4f, %.4f, %.4f with 2, 4, 8 elements a leg\n", two, four, eight);
  assert_true(two < 0.13 && four < 0.045 && eight < 0.012);
  assert_true(eight < four / 3.5);
  // What is left of two elements goes with the fourth power of the mesh, and the rest with the second.
  assert_true(fabs((4.0 * eight - four) / 3.0) < 2e-3);
}

/// A rod that is spun up: stretch and bending of its end against its root, extrapolated in the step.
static void test_spin_up(void **state) {
  (void)state;
  static const double reference[2] = {-0.0126546362459, -0.468476183441};
  double error[2][2];
  for (int k = 0; k < 2; ++k) {
    char along[40], across[40];
    const char *const names[] = {along, across};
    const int n = k == 0 ? 3 : 6;
    double coarse[MOST], fine[MOST];
    snprintf(along, sizeof along, "beams.rod.%d.deflection.x", n);
    snprintf(across, sizeof across, "beams.rod.%d.deflection.y", n);
    as_machine *m = load("spin_up", n);
    run(m, AS_METHOD_INDEX2, 0.01, 5.0, names, 2, coarse);
    run(m, AS_METHOD_INDEX2, 0.005, 5.0, names, 2, fine);
    for (int i = 0; i < 2; ++i)
      error[k][i] = fabs((4.0 * fine[i] - coarse[i]) / 3.0 - reference[i]);
    as_machine_destroy(m);
  }
  print_message("  along %.1e, %.1e; across %.1e, %.1e\n", error[0][0], error[1][0], error[0][1],
                error[1][1]);
  for (int i = 0; i < 2; ++i) assert_true(error[1][i] < error[0][i] / 3.5);
  assert_true(error[1][0] < 3e-6 && error[1][1] < 6e-6);
}

/// A slider-crank: where the slider is and how fast, and how far the middle of the rod is off its chord.
static void slider_crank(int n, double step, double out[3]) {
  char first[32], middle[32], last[32];
  const char *const names[] = {first, last, middle, "bodies.slider.velocity.x"};
  double x[MOST];
  snprintf(first, sizeof first, "bodies.rod.0.position");
  snprintf(last, sizeof last, "bodies.rod.%d.position", n);
  snprintf(middle, sizeof middle, "beams.rod.%d.position", n / 2);
  as_machine *m = load("slider_crank", n);
  run(m, AS_METHOD_INDEX2, step, 0.06, names, 4, x);
  as_machine_destroy(m);
  const double dx = x[3] - x[0], dy = x[4] - x[1];
  out[0] = x[3];
  out[1] = (dx * (x[7] - x[1]) - dy * (x[6] - x[0])) / hypot(dx, dy);
  out[2] = x[9];
}

static void test_slider_crank(void **state) {
  (void)state;
  static const double reference[3] = {0.347721775476, -0.00149530965396, 24.8066400491};
  double coarse[3], fine[3], half[3];
  slider_crank(2, 5e-5, coarse);
  slider_crank(2, 2.5e-5, half);
  for (int k = 0; k < 3; ++k) coarse[k] = (4.0 * half[k] - coarse[k]) / 3.0 - reference[k];
  slider_crank(4, 5e-5, fine);
  slider_crank(4, 2.5e-5, half);
  for (int k = 0; k < 3; ++k) fine[k] = (4.0 * half[k] - fine[k]) / 3.0 - reference[k];
  print_message("  slider %.1e, %.1e; middle %.1e, %.1e\n", coarse[0], fine[0], coarse[1], fine[1]);
  assert_true(fabs(coarse[0]) < 2e-6 && fabs(fine[0]) < 2e-7);
  assert_true(fabs(fine[1]) < 4e-8 && fabs(fine[1]) < fabs(coarse[1]) / 3.5);
  assert_true(fabs(fine[2]) < 5e-4);
}

// ---- steps ------------------------------------------------------------------------------------------

/// Every method is of second order in the step: positions, rotations, velocities, section forces and reactions. Waves along the rod, of which
/// steps of 5e-5 are half a period, are damped.
static void test_steps(void **state) {
  (void)state;
  static const char *const names[] = {"bodies.rod.4.position.x",   "beams.rod.2.position.y",
                                      "bodies.rod.2.quaternion.z", "bodies.slider.velocity.x",
                                      "beams.rod.2.moment.z",      "beams.rod.1.force.y",
                                      "beams.rod.0.force.x",       "joints.pin.force.x"};
  enum { N = sizeof names / sizeof names[0] };
  static const double steps[] = {5e-5, 2.5e-5, 6.25e-6};
  static const char *const settings[] = {"parameters.n=4", "beams.rod.damping=5e-6"};
  as_machine *m = files_load("tests/files/good/beams/slider_crank.yaml", settings, 2);
  double limit[MOST];
  run(m, AS_METHOD_INDEX2, steps[2], 0.06, names, N, limit);
  for (int k = 0; k < 3; ++k) {
    double out[2][MOST];
    for (int i = 0; i < 2; ++i) run(m, rig_methods[k], steps[i], 0.06, names, N, out[i]);
    for (int i = 0; i < N; ++i) {
      const double e0 = fabs(out[0][i] - limit[i]), e1 = fabs(out[1][i] - limit[i]);
      if (!(e1 < e0 / 4.0))
        fail_msg("method %d, %s: %.2e, %.2e: order %.2f", k, names[i], e0, e1, log2(e0 / e1));
    }
  }
  as_machine_destroy(m);
}

// ---- many elements ----------------------------------------------------------------------------------

/// The matrix of a step grows as the beam does and gets no entries when it is factorized.
static void test_many(void **state) {
  (void)state;
  as_survey *survey[2];
  for (int k = 0; k < 2; ++k) {
    as_error error;
    as_machine *m = load("cantilever", k == 0 ? 200 : 1000);
    if (as_survey_create(m->model, &m->simulation.integrator, 0.1, &survey[k], &error))
      fail_msg("%s", error.message);
    as_machine_destroy(m);
  }
  assert_string_equal(survey[1]->solver, "blocks");
  assert_true(survey[1]->fill <= 1.01 * survey[1]->entries);
  assert_true(survey[1]->factor_operations < 5.1 * survey[0]->factor_operations);
  assert_true(survey[1]->solve_operations < 5.1 * survey[0]->solve_operations);
  for (int k = 0; k < 2; ++k) as_survey_destroy(survey[k]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spring),  cmocka_unit_test(test_right_angle),
      cmocka_unit_test(test_spin_up), cmocka_unit_test(test_slider_crank),
      cmocka_unit_test(test_steps),   cmocka_unit_test(test_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
