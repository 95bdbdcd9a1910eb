/// Singular positions with automatic steps:
/// - parallel four-bars of revolutes in space pass their flat positions, with every method and down to tolerances at which
///   round-off there is many times what a step may add, wherever their steps happen to end; the motion is that of a pendulum, by
///   Runge and Kutta's method;
/// - so does a slider-crank that folds, of other masses and with inclined gravity, against its motion in one coordinate;
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
#include "four_bars.h"
#include "machines.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {
    [AS_METHOD_INDEX3] = "index-3", [AS_METHOD_INDEX2] = "index-2", [AS_METHOD_SOI2] = "SOI2"};
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

// ---- four-bars --------------------------------------------------------------------------------------

typedef struct run {
  int N;
  as_method method;
  double rtol, psi, rate, end; ///< from psi and rate at 0 to `end`
} run;

/// Ends the test if the run fails or is off by more than `most` rtol. Returns what it took.
static as_statistics run_four_bars(const run *r, double most) {
  as_error error = {0};
  const four_bars f = {.N = r->N};
  as_model *model = four_bars_build(&f, r->psi, r->rate, &error);
  as_integrator *integrator = NULL;
  as_integrator_def how = as_default_integrator_def();
  as_statistics work;
  double psi = r->psi, rate = r->rate;
  how.method = r->method;
  how.tolerance.rtol = r->rtol;
  if (model == NULL || as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
      as_integrator_advance(integrator, r->end, &error))
    fail_msg("N = %d, %s, rtol %g, from %.9g: %s", r->N, method_names[r->method], r->rtol, r->psi,
             error.message);
  if (as_integrator_statistics(integrator, &work, &error)) fail_msg("%s", error.message);
  four_bars_move(&f, r->end, &psi, &rate);
  const double off = four_bars_error(model, as_integrator_state(integrator), psi, rate);
  printf("N = %d, %s, rtol %.0e: %ld steps, %ld rejected, %ld failed, error %.2f rtol\n", r->N,
         method_names[r->method], r->rtol, work.steps, work.rejected_steps, work.failed_steps,
         off / r->rtol);
  if (!(off < most * r->rtol))
    fail_msg("N = %d, %s, rtol %g, from %.9g: the error is %g after %ld steps", r->N,
             method_names[r->method], r->rtol, r->psi, off, work.steps);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
  return work;
}

/// From upright past two flat positions, near 0.72 s and 1.23 s.
static void test_four_bars(void **state) {
  (void)state;
  static const struct {
    int N;
    double rtol;
  } cases[] = {{2, 1e-7}, {3, 1e-7}, {5, 1e-6}, {10, 1e-5}, {20, 1e-5}, {80, 1e-3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    as_statistics work[3];
    for (int m = 0; m < 3; ++m)
      work[m] = run_four_bars(&(run){cases[i].N, methods[m], cases[i].rtol, 0.0, 1.0, 1.3}, 5.0);
    for (int m = 0; m < 3; ++m) {
      if (!(20 * (work[m].rejected_steps + work[m].failed_steps) < work[m].steps))
        fail_msg("N = %d: %s takes many steps again", cases[i].N, method_names[methods[m]]);
      // Methods of one order need as many steps: round-off is not to leave any out.
      if (!(10 * work[m].steps > 9 * work[1].steps))
        fail_msg("N = %d: %s leaves out steps", cases[i].N, method_names[methods[m]]);
    }
  }
}

/// Past one flat position, where steps end being a matter of chance: from many angles that differ by little.
static void test_passages(void **state) {
  (void)state;
  static const struct {
    int N, starts;
    double psi, rtol, end;
  } cases[] = {{2, 50, 1.5, 1e-5, 0.035},
               {10, 50, 1.5, 1e-5, 0.035},
               {10, 15, 1.35, 1e-6, 0.1},
               {20, 2, 1.5, 1e-7, 0.035},
               {40, 6, 1.35, 1e-5, 0.1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < cases[i].starts; ++k) {
        const double psi = cases[i].psi + 0.0137 * k / cases[i].starts;
        run_four_bars(&(run){cases[i].N, methods[m], cases[i].rtol, psi, 4.0, cases[i].end}, 1.0);
      }
}

/// From upright, past flat positions, to 10 s. The error at the end is that of one crank alone, which has no such positions:
/// the motion itself makes so much of what steps add (1e-6 more of the energy at the bottom are 1.5e-4 rad).
static void test_twins(void **state) {
  (void)state;
  static const four_bars all[] = {{.N = 1},
                                  {.N = 3},
                                  {.N = 3, .bend = 0.4},
                                  {.N = 2, .damping = 0.3},
                                  {.N = 2, .stiffness = 20.0, .damping = 0.1}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    for (int m = 0; m < 3; ++m) {
      const double rtol = 1e-4, end = 10.0;
      double off[2];
      for (int twin = 0; twin < 2; ++twin) {
        as_error error = {0};
        double psi = 0.0, rate = 1.0, ahead = 0.0;
        as_integrator *integrator = NULL;
        as_integrator_def how = as_default_integrator_def();
        as_model *model = twin ? four_bars_build_twin(&all[i], psi, rate, &ahead, &error)
                               : four_bars_build(&all[i], psi, rate, &error);
        how.method = methods[m];
        how.tolerance.rtol = rtol;
        how.tolerance.span = end;
        if (model == NULL ||
            as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
            as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
            as_integrator_advance(integrator, end, &error))
          fail_msg("four-bars %zu, %s: %s", i, method_names[methods[m]], error.message);
        four_bars_move(&all[i], end, &psi, &rate);
        off[twin] =
            four_bars_angle_error(model, as_integrator_state(integrator), psi + ahead, rate);
        as_integrator_destroy(integrator);
        as_model_destroy(model);
      }
      printf("four-bars %zu, %s: error %.2f rtol, twin %.2f rtol\n", i, method_names[methods[m]],
             off[0] / rtol, off[1] / rtol);
      if (!(off[0] < 3.0 * off[1] + rtol))
        fail_msg("four-bars %zu, %s: the error is %g, their twin's %g", i, method_names[methods[m]],
                 off[0], off[1]);
    }
}

// ---- a slider-crank that folds ----------------------------------------------------------------------

/// Crank and rod of 1 m, of other masses, in a plane in space; the slider passes the crank's pin where both stand upright, and
/// rod and crank could turn together from there on. Gravity is inclined.
static const double crank_mass = 1.0, rod_mass = 2.0, slider_mass = 0.7, moment = 0.1;
static const double pull[] = {3.0, -9.0, 0.0};

static as_body_id add_part(as_builder *b, const char *name, double mass, const double at[2],
                           const double v[2], double angle, double rate) {
  as_body_def def = machine_round_body(name, mass, moment, false);
  machine_place_in_plane(&def, at[0], at[1], angle);
  memcpy(def.velocity, v, 2 * sizeof(double));
  def.angular_velocity[2] = rate;
  return machine_body(b, &def);
}

static as_model *build_folding(double phi, double w) {
  const double z[] = {0, 0, 1}, c = cos(phi), s = sin(phi);
  as_builder *b = machine_builder(pull[0], pull[1], pull[2]);
  const as_body_id crank = add_part(b, "crank", crank_mass, (double[]){0.5 * c, 0.5 * s},
                                    (double[]){-0.5 * w * s, 0.5 * w * c}, phi, w);
  const as_body_id rod = add_part(b, "rod", rod_mass, (double[]){1.5 * c, 0.5 * s},
                                  (double[]){-1.5 * w * s, 0.5 * w * c}, -phi, -w);
  const as_body_id slider =
      add_part(b, "slider", slider_mass, (double[]){2 * c, 0}, (double[]){-2 * w * s, 0}, 0.0, 0.0);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, crank, (double[]){0, 0, 0}, z);
  machine_joint(b, "elbow", AS_JOINT_REVOLUTE, crank, rod, (double[]){c, s, 0}, z);
  machine_joint(b, "wrist", AS_JOINT_REVOLUTE, rod, slider, (double[]){2 * c, 0, 0}, z);
  machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, slider, (double[]){2 * c, 0, 0},
                (double[]){1, 0, 0});
  return machine_build(b);
}

/// phi'' of the machine with one coordinate: A phi'' + A' phi'^2/2 = Q
static double folding_rate(double phi, double w) {
  const double c = cos(phi), s = sin(phi);
  const double A = 0.25 * crank_mass + rod_mass * (2.25 * s * s + 0.25 * c * c) + 2.0 * moment +
                   4.0 * slider_mass * s * s;
  const double slope = (4.0 * rod_mass + 8.0 * slider_mass) * s * c;
  const double Q = -pull[0] * s * (0.5 * crank_mass + 1.5 * rod_mass + 2.0 * slider_mass) +
                   pull[1] * c * 0.5 * (crank_mass + rod_mass);
  return (Q - 0.5 * slope * w * w) / A;
}

static void move_folding(double t, double *phi, double *w) {
  enum { STEPS = 4000 };
  const double h = t / STEPS;
  for (int i = 0; i < STEPS; ++i) {
    const double p = *phi, v = *w, a1 = folding_rate(p, v);
    const double v2 = v + 0.5 * h * a1, a2 = folding_rate(p + 0.5 * h * v, v2);
    const double v3 = v + 0.5 * h * a2, a3 = folding_rate(p + 0.5 * h * v2, v3);
    const double v4 = v + h * a3, a4 = folding_rate(p + h * v3, v4);
    *phi += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
    *w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
}

static void test_folding(void **state) {
  (void)state;
  const double end = 0.5;
  enum { STARTS = 15 };
  for (int m = 0; m < 3; ++m)
    for (double rtol = 1e-3; rtol > 0.9e-7; rtol *= 0.1) {
      double worst = 0.0;
      for (int k = 0; k < (rtol > 1e-6 ? STARTS : 2); ++k) {
        double phi = 1.2 + 0.013 * k / STARTS, w = 3.0;
        as_error error = {0};
        as_model *model = build_folding(phi, w);
        as_integrator *integrator = NULL;
        as_integrator_def how = as_default_integrator_def();
        as_body_motion crank, slider;
        how.method = methods[m];
        how.tolerance.rtol = rtol;
        if (as_integrator_create(as_model_problem(model), &how, &integrator, &error) ||
            as_integrator_start(integrator, as_model_initial(model), NULL, &error) ||
            as_integrator_advance(integrator, end, &error))
          fail_msg("%s, rtol %g, start %d: %s", method_names[methods[m]], rtol, k, error.message);
        move_folding(end, &phi, &w);
        as_model_body_motion(model, as_integrator_state(integrator), (as_body_id){0}, &crank);
        as_model_body_motion(model, as_integrator_state(integrator), (as_body_id){2}, &slider);
        worst = fmax(worst, fabs(crank.x[0] - 0.5 * cos(phi)));
        worst = fmax(worst, fabs(slider.x[0] - 2.0 * cos(phi)));
        worst = fmax(worst, fabs(slider.v[0] + 2.0 * w * sin(phi)) / 6.0);
        as_integrator_destroy(integrator);
        as_model_destroy(model);
      }
      printf("folding slider-crank, %s, rtol %.0e: error %.2f rtol\n", method_names[methods[m]],
             rtol, worst / rtol);
      if (!(worst < 3.0 * rtol))
        fail_msg("%s, rtol %g: the error is %g", method_names[methods[m]], rtol, worst);
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
      printf("%s: %s\n", method_names[methods[m]], error.message);
      if (status == AS_OK || !strstr(error.message, "No position satisfies all constraints"))
        fail_msg("%s: a linkage beyond its reach says: %s", method_names[methods[m]],
                 error.message);
      for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (count(error.message, names[i]) != 1)
          fail_msg("%s: %s is not named once: %s", method_names[methods[m]], names[i],
                   error.message);
      const double t = as_integrator_state(integrator)->t;
      if (!(t > 0.79 && t < 0.81)) fail_msg("%s ends at t = %g s", method_names[methods[m]], t);
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
      as_model_body_motion(model, as_integrator_state(integrator), (as_body_id){1}, &crank);
      const double angle = atan2(crank.x[1], crank.x[0]);
      const double expected = 2.0 * cases[i].mu * 0.05 / (cases[i].N - 1);
      printf("%d cranks, %s: %.5f rad from flat, expected %.5f: %s\n", cases[i].N,
             method_names[methods[m]], angle, expected, error.message);
      if (status == AS_OK || !(fabs(angle - expected) < 0.02 * expected && -crank.omega[2] > 0.8))
        fail_msg("%d cranks, %s: they do not jam, but are %g rad from flat", cases[i].N,
                 method_names[methods[m]], angle);
      if (!strstr(error.message, "joint \"pin ") && !strstr(error.message, "joint \"head "))
        fail_msg("no joint is named: %s", error.message);
      as_integrator_destroy(integrator);
      as_model_destroy(model);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_four_bars), cmocka_unit_test(test_passages),
      cmocka_unit_test(test_twins),     cmocka_unit_test(test_folding),
      cmocka_unit_test(test_reach),     cmocka_unit_test(test_jam)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
