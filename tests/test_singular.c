/// Singular positions with automatic steps:
/// - parallel four-bars of revolutes in space pass their flat positions, with every method and down to tolerances at which
///   round-off there is many times what a step may add; the motion is that of a pendulum, by Runge and Kutta's method;
/// - a linkage that is pulled beyond its reach ends with the names of its joints, each told once;
/// - cranks that rub in all joints jam before they are flat, and do not come through on other reactions.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/quantities.h"
#include "machines.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double gravity = 9.81;

// ---- machines ---------------------------------------------------------------------------------------

/// A rod of 1 m and 1 kg along x or y.
static as_body_id add_rod(as_builder *b, const char *name, bool along_x, double x, double y,
                          double velocity, double rate) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = 1.0;
  for (int k = 0; k < 3; ++k) def.inertia[k] = 1.0 / 12.0;
  def.inertia[along_x ? 0 : 1] = 1e-4;
  def.position[0] = x;
  def.position[1] = y;
  def.velocity[0] = velocity;
  def.angular_velocity[2] = rate;
  return machine_body(b, &def);
}

/// N four-bars in a row: N + 1 cranks, upright, N couplers across their tops, which move with 1 m/s.
static as_model *build_four_bars(int N) {
  const double z[] = {0, 0, 1};
  as_builder *b = machine_builder(0, -gravity, 0);
  as_body_id left = add_rod(b, "crank 0", false, 0.0, 0.5, 0.5, -1.0);
  machine_joint(b, "pin 0", AS_JOINT_REVOLUTE, AS_GROUND, left, (double[]){0, 0, 0}, z);
  for (int i = 1; i <= N; ++i) {
    char name[4][32];
    snprintf(name[0], sizeof name[0], "crank %d", i);
    snprintf(name[1], sizeof name[1], "coupler %d", i);
    snprintf(name[2], sizeof name[2], "left %d", i);
    snprintf(name[3], sizeof name[3], "right %d", i);
    const as_body_id right = add_rod(b, name[0], false, i, 0.5, 0.5, -1.0);
    const as_body_id coupler = add_rod(b, name[1], true, i - 0.5, 1.0, 1.0, 0.0);
    machine_joint(b, name[2], AS_JOINT_REVOLUTE, left, coupler, (double[]){i - 1, 1, 0}, z);
    machine_joint(b, name[3], AS_JOINT_REVOLUTE, coupler, right, (double[]){i, 1, 0}, z);
    snprintf(name[0], sizeof name[0], "pin %d", i);
    machine_joint(b, name[0], AS_JOINT_REVOLUTE, AS_GROUND, right, (double[]){i, 0, 0}, z);
    left = right;
  }
  return machine_build(b);
}

/// Their angle from upright has psi'' = k sin(psi).
static void solve_four_bars(int N, double t, double *psi, double *rate) {
  const double k = gravity * (0.5 * (N + 1) + N) / ((N + 1) / 3.0 + N);
  enum { STEPS = 20000 };
  const double h = t / STEPS;
  double p = 0.0, w = 1.0;
  for (int i = 0; i < STEPS; ++i) {
    const double a1 = k * sin(p), w2 = w + 0.5 * h * a1, a2 = k * sin(p + 0.5 * h * w);
    const double w3 = w + 0.5 * h * a2, a3 = k * sin(p + 0.5 * h * w2);
    const double w4 = w + h * a3, a4 = k * sin(p + h * w3);
    p += h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4);
    w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  *psi = p;
  *rate = w;
}

// ---- four-bars --------------------------------------------------------------------------------------

/// How far the cranks are from where they should be, and from how fast, against 1 m and the largest speed of 3.5 m/s.
static double error_of(const as_model *model, const as_state *state, int N) {
  double psi, rate, largest = 0.0;
  solve_four_bars(N, state->t, &psi, &rate);
  for (int i = 0; i < as_model_bodies(model); ++i) {
    as_body_motion motion;
    if (strncmp(as_model_body_name(model, i), "crank", 5) != 0) continue;
    const int number = atoi(as_model_body_name(model, i) + 6);
    as_model_body_motion(model, state, i, &motion);
    largest = fmax(largest, fabs(motion.x[0] - number - 0.5 * sin(psi)));
    largest = fmax(largest, fabs(motion.x[1] - 0.5 * cos(psi)));
    largest = fmax(largest, fabs(motion.v[0] - 0.5 * rate * cos(psi)) / 3.5);
    largest = fmax(largest, fabs(motion.v[1] + 0.5 * rate * sin(psi)) / 3.5);
  }
  return largest;
}

/// Returns the number of steps.
static long run_four_bars(int N, as_method method, double rtol, double end) {
  as_error error = {0};
  as_model *model = build_four_bars(N);
  as_integrator *integrator = NULL;
  as_integrator_def how = as_default_integrator_def();
  as_statistics work;
  how.method = method;
  how.tolerance.rtol = rtol;
  if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
      as_integrator_advance(integrator, end, &error))
    fail_msg("N = %d, %s, rtol %g: %s", N, method_names[method], rtol, error.message);
  if (as_integrator_statistics(integrator, &work, &error)) fail_msg("%s", error.message);
  const double off = error_of(model, as_integrator_state(integrator), N);
  printf("N = %d, %s, rtol %.0e: %ld steps, %ld rejected, %ld failed, error %.1f rtol\n", N,
         method_names[method], rtol, work.steps, work.rejected_steps, work.failed_steps,
         off / rtol);
  if (!(off < 5.0 * rtol && 20 * (work.rejected_steps + work.failed_steps) < work.steps))
    fail_msg("N = %d, %s, rtol %g: the error is %g after %ld steps", N, method_names[method], rtol,
             off, work.steps);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
  return work.steps;
}

/// Past two flat positions, near 0.72 s and 1.23 s.
static void test_four_bars(void **state) {
  (void)state;
  static const struct {
    int N;
    double rtol;
  } cases[] = {{2, 1e-7}, {3, 1e-7}, {5, 1e-6}, {10, 1e-5}, {20, 1e-4}, {80, 1e-3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    long steps[3];
    for (int m = 0; m < 3; ++m)
      steps[m] = run_four_bars(cases[i].N, methods[m], cases[i].rtol, 1.3);
    // Methods of one order need as many steps: round-off is not to leave any out.
    for (int m = 0; m < 3; ++m)
      if (!(10 * steps[m] > 9 * steps[1]))
        fail_msg("N = %d: %s leaves out steps", cases[i].N, method_names[m]);
  }
}

// ---- what cannot be passed --------------------------------------------------------------------------

static int count(const char *text, const char *part) {
  int found = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) ++found;
  return found;
}

/// A crank and a rod of 1 m, bent, whose end a motion pulls along x with 1 m/s: stretched at 0.8 s.
static as_model *build_reach(void) {
  const double z[] = {0, 0, 1};
  as_error error = {0};
  as_builder *b = machine_builder(0, -gravity, 0);
  as_body_def def = machine_round_body("slider", 1.0, 0.1, false);
  machine_place_in_plane(&def, 1.2, 0.0, 0.0);
  const as_body_id slider = machine_body(b, &def);
  def = machine_round_body("crank", 1.0, 0.1, false);
  machine_place_in_plane(&def, 0.3, 0.4, atan2(0.8, 0.6));
  const as_body_id crank = machine_body(b, &def);
  def = machine_round_body("rod", 1.0, 0.1, false);
  machine_place_in_plane(&def, 0.9, 0.4, -atan2(0.8, 0.6));
  const as_body_id rod = machine_body(b, &def);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, crank, (double[]){0, 0, 0}, z);
  machine_joint(b, "elbow", AS_JOINT_REVOLUTE, crank, rod, (double[]){0.6, 0.8, 0}, z);
  machine_joint(b, "wrist", AS_JOINT_REVOLUTE, rod, slider, (double[]){1.2, 0, 0}, z);
  as_motion_def motion = as_default_motion_def();
  motion.name = "drive";
  motion.joint = machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, slider,
                               (double[]){1.2, 0, 0}, (double[]){1, 0, 0});
  motion.law = &(as_curve){.formula = "t"};
  if (as_builder_add_motion(b, &motion, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_reach(void **state) {
  (void)state;
  // The guide holds nothing along x.
  static const char *const names[] = {"\"pin\"", "\"elbow\"", "\"wrist\"", "\"drive\""};
  for (int m = 0; m < 3; ++m)
    for (int automatic = 0; automatic < 2; ++automatic) {
      as_error error = {0};
      as_model *model = build_reach();
      as_integrator *integrator = NULL;
      as_integrator_def how = as_default_integrator_def();
      how.method = methods[m];
      if (!automatic) how.step = 1e-3;
      if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
          as_integrator_start(integrator, as_model_initial(model), NULL, &error))
        fail_msg("%s", error.message);
      const as_status status = as_integrator_advance(integrator, 2.0, &error);
      printf("%s: %s\n", method_names[m], error.message);
      if (status == AS_OK || !strstr(error.message, "close to a singular position"))
        fail_msg("%s: a linkage beyond its reach says: %s", method_names[m], error.message);
      for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (count(error.message, names[i]) != 1)
          fail_msg("%s: %s is not named once: %s", method_names[m], names[i], error.message);
      const double t = as_integrator_state(integrator)->t;
      if (!(t > 0.79 && t < 0.81)) fail_msg("%s ends at t = %g s", method_names[m], t);
      as_integrator_destroy(integrator);
      as_model_destroy(model);
    }
}

/// N cranks on one coupler of N - 1 m, no gravity; all joints rub at 5 cm.
static as_model *build_rubbing(int N, double mu) {
  const double z[] = {0, 0, 1};
  as_error error = {0};
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def def = machine_round_body("coupler", N - 1, 1.0, false);
  def.position[0] = 0.5 * (N - 1);
  def.position[1] = def.velocity[0] = 1.0;
  const as_body_id coupler = machine_body(b, &def);
  for (int i = 0; i < N; ++i) {
    char name[2][32];
    as_joint_friction_def rubs = as_default_joint_friction_def();
    rubs.coefficient = mu;
    rubs.radius = 0.05;
    snprintf(name[0], sizeof name[0], "crank %d", i);
    const as_body_id crank = add_rod(b, name[0], false, i, 0.5, 0.5, -1.0);
    snprintf(name[0], sizeof name[0], "pin %d", i);
    snprintf(name[1], sizeof name[1], "head %d", i);
    const as_joint_id joints[] = {
        machine_joint(b, name[0], AS_JOINT_REVOLUTE, AS_GROUND, crank, (double[]){i, 0, 0}, z),
        machine_joint(b, name[1], AS_JOINT_REVOLUTE, crank, coupler, (double[]){i, 1, 0}, z)};
    for (int k = 0; k < 2; ++k) {
      rubs.joint = joints[k];
      if (as_builder_add_joint_friction(b, &rubs, NULL, &error)) fail_msg("%s", error.message);
    }
  }
  return machine_build(b);
}

/// With the angle d to the flat position and the force S along the coupler, friction at its ends leaves torques on two cranks
/// that differ by 2 l (d S - c |S|) + ..., c = 2 mu r/L: reactions grow without bound where d = c. The cranks still turn then.
static void test_jam(void **state) {
  (void)state;
  static const struct {
    int N;
    double mu, rtol;
  } cases[] = {{2, 0.3, 1e-3}, {2, 0.5, 1e-4}, {3, 0.2, 1e-4}, {3, 0.3, 1e-4}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    for (int m = 0; m < 3; ++m) {
      as_error error = {0};
      as_model *model = build_rubbing(cases[i].N, cases[i].mu);
      as_integrator *integrator = NULL;
      as_integrator_def how = as_default_integrator_def();
      as_body_motion crank;
      how.method = methods[m];
      how.tolerance.rtol = cases[i].rtol;
      if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
          as_integrator_start(integrator, as_model_initial(model), NULL, &error))
        fail_msg("%s", error.message);
      const as_status status = as_integrator_advance(integrator, 4.0, &error);
      as_model_body_motion(model, as_integrator_state(integrator), 1, &crank);
      const double angle = atan2(crank.x[1], crank.x[0]);
      const double expected = 2.0 * cases[i].mu * 0.05 / (cases[i].N - 1);
      printf("%d cranks, %s: %.5f rad from flat, expected %.5f: %s\n", cases[i].N, method_names[m],
             angle, expected, error.message);
      if (status == AS_OK || !(fabs(angle - expected) < 0.02 * expected && -crank.omega[2] > 0.8))
        fail_msg("%d cranks, %s: they do not jam, but are %g rad from flat", cases[i].N,
                 method_names[m], angle);
      if (!strstr(error.message, "joint \"pin ") && !strstr(error.message, "joint \"head "))
        fail_msg("no joint is named: %s", error.message);
      as_integrator_destroy(integrator);
      as_model_destroy(model);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_four_bars), cmocka_unit_test(test_reach),
                                     cmocka_unit_test(test_jam)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
