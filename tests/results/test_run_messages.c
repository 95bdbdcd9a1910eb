/// What a reader of model files is told where a machine cannot be run: which joint, force or body, which quantity, when; in
/// the words of the file, not of the library.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "core/driver/integrator.h"
#include "machines.h"

#define HEAD "alphastep: 1\nsimulate: {t_end: 1, step: 0.01}\n"
#define BOB                                                                                        \
  HEAD                                                                                             \
      "gravity: [0, 0, -9.81]\nbodies:\n"                                                          \
      "  bob: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0], velocity: [0, 0.3, 0]}\n"
#define PIN                                                                                        \
  "joints:\n  pin: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}\n"
#define STRUT                                                                                      \
  "forces:\n  strut: {type: spring, bodies: [ground, bob], point: [0, 0, 0], second_point: [0.5, " \
  "0, 0], "
#define LOAD "forces:\n  gust: {type: load, body: bob, "

/// A triangle of two bars and the ground, and three wheels of which each meshes with both others: no freedom is left.
#define TRIANGLE                                                                                   \
  HEAD "bodies:\n"                                                                                 \
       "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}\n"                         \
       "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.75, 0, 0.4]}\n"                      \
       "joints:\n"                                                                                 \
       "  p: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"           \
       "  q: {type: revolute, bodies: [a, b], point: [1, 0, 0], axis: [0, 1, 0]}\n"                \
       "  r: {type: revolute, bodies: [ground, b], point: [0.5, 0, 0.8], axis: [0, 1, 0]}\n"
#define WHEELS                                                                                     \
  HEAD "bodies:\n"                                                                                 \
       "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"                           \
       "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}\n"                           \
       "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0.8660254037844386, 0]}\n"        \
       "joints:\n"                                                                                 \
       "  pa: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"          \
       "  pb: {type: revolute, bodies: [ground, b], point: [1, 0, 0], axis: [0, 0, 1]}\n"          \
       "  pc: {type: revolute, bodies: [ground, c], point: [0.5, 0.8660254037844386, 0], axis: "   \
       "[0, 0, "                                                                                   \
       "1]}\n"                                                                                     \
       "  ab: {type: gear, joints: [pa, pb], teeth: [20, 20]}\n"                                   \
       "  bc: {type: gear, joints: [pb, pc], teeth: [20, 20]}\n"                                   \
       "  ca: {type: gear, joints: [pc, pa], teeth: [20, 20]}\n"

static long steps_taken; ///< by the last run, rejected ones and failures of Newton's method counted
static char last_warning[600];

static void note_warning(as_log_level level, const char *message, void *user) {
  (void)user;
  if (level == AS_LOG_WARNING) snprintf(last_warning, sizeof last_warning, "%s", message);
}

static as_status ignore_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)user, (void)error;
  return AS_OK;
}

/// Runs a machine; its sentence if that fails, NULL if not.
static const char *fail_to_run(const char *text) {
  static as_messages messages;
  static as_error error;
  as_machine *m = NULL;
  as_run *run = NULL;
  if (as_machine_parse(text, strlen(text), "odd.yaml", NULL, 0, &m, &messages))
    return messages.message[0].text;
  as_run_def def = as_default_run_def();
  def.integrator = m->simulation.integrator;
  def.t_end = m->simulation.t_end;
  def.rules = m->rules;
  def.integrator.log = note_warning;
  as_status status = as_run_create(m->model, &def, &run, &error);
  if (status == AS_OK) status = as_run_go(run, ignore_row, NULL, NULL, &error);
  as_statistics made = {0};
  if (run) as_integrator_statistics(as_run_integrator(run), &made, NULL);
  steps_taken = made.steps + made.rejected_steps + made.failed_steps;
  as_run_destroy(run);
  as_machine_destroy(m);
  if (status == AS_OK) return NULL;
  assert_true(error.status == status);
  return error.message;
}

static void expect(const char *text, const char *sentence) {
  static const char *const foreign[] = {"callback", "block ",        "entry (", "lambda[",
                                        "psi[",     " v[",           " u[",     "G_Q",
                                        "typical",  "linear system", "_rate "};
  const char *found = fail_to_run(text);
  if (found == NULL) fail_msg("this runs:\n%s", text);
  if (strstr(found, sentence) == NULL) fail_msg("%s\n%s\nnot\n%s", text, found, sentence);
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; ++i)
    if (strstr(found, foreign[i])) fail_msg("%s\nspeaks of \"%s\"", found, foreign[i]);
}

static void test_formulas(void **state) {
  (void)state;
  expect(BOB STRUT "law: 1/deflection}\n",
         "At t = 0 s force \"strut\" cannot be evaluated: The law of force \"strut\": 1 / 0 is not "
         "a number");
  expect(BOB STRUT "law: log(deflection)}\n", "The law of force \"strut\": log(0) is not a number");
  expect(BOB LOAD "force: [sqrt(0.2 - t), 0, 0]}\n",
         "force \"gust\" cannot be evaluated: The force x of load \"gust\": sqrt(-0.");
  expect(BOB LOAD "force: [1, 0, 0], factor: log(0.3 - t)}\n",
         "force \"gust\" cannot be evaluated: The factor of load \"gust\": log(");
  expect(BOB PIN "  drive: {type: motion, joint: pin, law: sqrt(t)}\n",
         "At t = 0 s joint \"drive\" cannot be evaluated: The law of motion \"drive\": the "
         "derivative of sqrt(0) is not finite");
  expect(BOB "tables: {x: {points: [[0, 0], [0.1, 1e200], [0.2, -1e300]]}}\n" PIN
             "  drive: {type: motion, joint: pin, law: x(t)*x(t)}\n",
         "joint \"drive\" cannot be evaluated: The law of motion \"drive\": a derivative");
  expect(
      BOB PIN "forces:\n  rub: {type: joint_friction, joint: pin, coefficient: log(speed - "
              "0.01), radius: 0.02}\n",
      "force \"rub\" cannot be evaluated: The friction coefficient of force \"rub\": log(-0.01)");
  expect(BOB PIN "forces:\n  motor: {type: actuator, joint: pin, force: 1/joints.pin.angle}\n",
         "force \"motor\" cannot be evaluated: The force of actuator \"motor\": 1 / 0");
  expect(BOB "events:\n  odd: {when: sqrt(0.3 - t) - 0.1*bodies.bob.position.x}\n", "vent \"odd\"");
  expect(BOB "parameters: {k: 1}\nevents:\n  odd: {when: t - 0.3, set: {k: 1/(k - 1)}}\n",
         "vent \"odd\"");
}

static void test_places(void **state) {
  (void)state;
  expect(BOB "forces:\n  strut: {type: spring, bodies: [ground, bob], point: [0.5, 0, 0], "
             "second_point: [0.5, 0, 0], stiffness: 10, length: 0.1}\n",
         "At t = 0 s force \"strut\" cannot be evaluated: its ends are in one place and it has a "
         "tension there");
  expect(BOB "joints:\n  rod: {type: distance, bodies: [ground, bob], point: [0.5, 0, 0], "
             "second_point: [0.5, 0, 0], length: 0.2}\n",
         "At t = 0 s joint \"rod\" cannot be evaluated: two points are in one place");
  expect(BOB "forces:\n  ram: {type: actuator, bodies: [ground, bob], point: [0.5, 0, 0], "
             "second_point: [0.5, 0, 0], force: 3}\n",
         "At t = 0 s force \"ram\" cannot be evaluated: two points are in one place");
  expect(HEAD "bodies:\n  bob: {mass: 1, inertia: [1, 1, 1], position: [1e300, 0, 0]}\n" PIN,
         "The joint \"pin\" is inf m from the centre of mass of one of its bodies");
}

/// Numbers that overflow: of an element, of a sum, of a body.
static void test_overflows(void **state) {
  (void)state;
  expect(BOB LOAD "force: [1e308, 0, 0], factor: 1000*t}\n",
         " s the force of \"gust\" is infinite.");
  expect(BOB STRUT "stiffness: 1e308, damping: 1e308}\n", " s the force of \"strut\" is ");
  expect(BOB STRUT "spring: {table: [[0, 0], [1e-300, 1e300], [1, 1.1e300]]}}\n",
         "At t = 0 s the force of \"strut\" is ");
  expect(BOB "forces:\n  a: {type: load, body: bob, force: [1.5e308, 0, 0]}\n"
             "  b: {type: load, body: bob, force: [1.5e308, 0, 0]}\n",
         "At t = 0 s the force on body \"bob\", velocity x is infinite.");
  expect(HEAD "gravity: [0, 0, 1e308]\nbodies:\n  bob: {mass: 100, inertia: [1, 1, 1]}\n",
         "At t = 0 s the force on body \"bob\", velocity z is infinite.");
  expect(HEAD
         "bodies:\n  bob: {mass: 1, inertia: [1, 2, 3], angular_velocity: [1e200, 2e200, 0]}\n",
         "At t = 0 s the force on body \"bob\", rotation ");
}

/// Starts that cannot be: by the joint's name and that of its coordinate.
static void test_starts(void **state) {
  (void)state;
  static const char bob[] =
      HEAD "bodies:\n  bob: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], fixed: true}\n"
           "joints:\n  pin: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], "
           "axis: [0, 1, 0], start: ";
  char text[512];
  snprintf(text, sizeof text, "%s{angle: 0.5}}\n", bob);
  expect(text, "cannot be assembled with the angle of joint \"pin\" at 0.5: it comes as far as 0.");
  snprintf(text, sizeof text, "%s{angle_rate: 2}}\n", bob);
  expect(text, "joint \"pin, start of angle_rate\" off by ");
}

/// Clocks whose times cannot be told apart, or that would never come to an end.
static void test_clocks(void **state) {
  (void)state;
  expect(BOB "events:\n  tick: {every: 0.1, offset: -1e300, log: x}\n",
         "Event \"tick\" happens every 0.1 s from -1e+300 s on: it needs a positive period that is "
         "not lost in the digits of the offset.");
  expect(BOB "events:\n  tick: {every: 1e-300, log: x}\n",
         "Event \"tick\", every 1e-300 s, would happen more than 1e9 times up to t_end = 1 s.");
}

/// An axis may have any length.
static void test_lengths_of_axes(void **state) {
  (void)state;
  static const char *const axes[] = {"[0, 5e-324, 0]", "[0, 1e-200, 0]", "[1e300, 1e308, 0]"};
  for (size_t i = 0; i < sizeof axes / sizeof axes[0]; ++i) {
    static as_messages messages;
    char text[512];
    as_machine *m = NULL;
    snprintf(
        text, sizeof text,
        BOB "joints:\n  pin: {type: revolute, bodies: [ground, bob], point: [0, 0, 0], axis: %s}\n",
        axes[i]);
    if (as_machine_parse(text, strlen(text), "x.yaml", NULL, 0, &m, &messages))
      fail_msg("%s", messages.message[0].text);
    as_machine_destroy(m);
  }
}

/// A motion that is too quick: of a joint, where parameters, which the law of the spring has, are not at hand.
/// Machines without freedom stand still, and say so; those that are driven against themselves end at once, with the joint's name.
static void test_locked(void **state) {
  (void)state;
  static const char *const still[] = {
      TRIANGLE "forces:\n  push: {type: load, body: b, force: [30*t, 0, 5]}\n",
      WHEELS "forces:\n  push: {type: load, body: a, torque: [0, 0, 5*t]}\n"};
  static const char *const driven[][2] = {
      {TRIANGLE "  drive: {type: motion, joint: p, law: 0.5*t}\n", "joint \"drive\""},
      {TRIANGLE "  drive: {type: motion, joint: p, law: 0.5*t^2}\n", "joint \"drive\""},
      {WHEELS "  drive: {type: motion, joint: pa, law: 0.3*t^2}\n", "leave joint \""},
      {WHEELS "  drive: {type: motion, joint: pa, law: 0.3*t}\n", "joint \""}};
  for (int i = 0; i < 2; ++i) {
    last_warning[0] = '\0';
    const char *failure = fail_to_run(still[i]);
    if (failure) fail_msg("%s", failure);
    assert_non_null(strstr(last_warning, "leave no freedom"));
    assert_true(steps_taken < 1000);
  }
  for (int i = 0; i < 4; ++i) {
    expect(driven[i][0], driven[i][1]);
    assert_true(steps_taken < 100);
  }
}

/// [RE.12] A crank of 1 m that is driven beyond the reach of a coupler of 1.6 m and a rocker of 1.2 m, 3 m away, and a slider whose rod
/// is too short for its crank: every run ends there with the joints of the loop, whatever the steps are.
static void test_out_of_reach(void **state) {
  (void)state;
  static const char *const machines[][3] = {
      {"gravity: [0, -9.81, 0]\nassemble: true\nbodies:\n"
       "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.25, 0.43, 0], "
       "rotation: {axis: [0, 0, 1], angle_deg: 60}}\n"
       "  coupler: {mass: 1.6, inertia: [0.3, 0.3, 0.3], position: [1.3, 0.9, 0], "
       "rotation: {axis: [0, 0, 1], angle_deg: 5}}\n"
       "  rocker: {mass: 1.2, inertia: [0.2, 0.2, 0.2], position: [2.7, 0.5, 0], "
       "rotation: {axis: [0, 0, 1], angle_deg: 110}}\n"
       "frames:\n  a: {body: crank, position: [-0.5, 0, 0]}\n  b: {body: crank, position: [0.5, 0, "
       "0]}\n"
       "  c: {body: coupler, position: [-0.8, 0, 0]}\n  d: {body: coupler, position: [0.8, 0, 0]}\n"
       "  e: {body: rocker, position: [0.6, 0, 0]}\n  f: {body: rocker, position: [-0.6, 0, 0]}\n"
       "  g: {body: ground}\n  h: {body: ground, position: [3, 0, 0]}\n"
       "joints:\n  pin: {type: revolute, frames: [g, a]}\n  knee: {type: revolute, frames: [b, "
       "c]}\n"
       "  elbow: {type: point_on_line, frames: [d, e]}\n  base: {type: revolute, frames: [h, f]}\n"
       "  motor: {type: motion, joint: pin, law: {constant: 1.0472, slope: 2}}\n",
       "\"knee\"", "\"motor\""},
      {"bodies:\n  crank: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n"
       "  rod: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.2, 0, 0]}\n"
       "  slider: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.4, 0, 0]}\n"
       "joints:\n  pin: {type: revolute, bodies: [ground, crank], point: [0, 0, 0], axis: [0, 0, "
       "1]}\n"
       "  big end: {type: point_on_line, bodies: [crank, rod], point: [1, 0, 0], axis: [0, 0, 1]}\n"
       "  wrist: {type: revolute, bodies: [slider, rod], point: [1.4, 0, 0], axis: [0, 0, 1]}\n"
       "  guide: {type: prismatic, bodies: [ground, slider], point: [1.4, 0, 0], axis: [1, 0, 0]}\n"
       "  motor: {type: motion, joint: pin, law: 0.7*t}\n",
       "\"big end\"", "\"motor\""}};
  static const char *const methods[] = {"index3", "index2", "soi2"};
  static const char *const steps[] = {"step: 0.001", "step: 0.02", "tol: {rtol: 1e-4}"};
  for (int i = 0; i < 2 * 3 * 3; ++i) {
    char text[2048];
    const char *const *const subject = machines[i / 9];
    snprintf(text, sizeof text, "alphastep: 1\nsimulate: {t_end: 3, method: %s, %s}\n%s",
             methods[i % 3], steps[i / 3 % 3], subject[0]);
    for (int k = 1; k < 3; ++k) expect(text, subject[k]);
    assert_true(steps_taken < (i / 3 % 3 < 2 ? 2000 : 300));
    expect(text, "No position satisfies all constraints at t = 0.");
  }
}

static void test_motions(void **state) {
  (void)state;
  expect(BOB "parameters: {k: 5}\n" PIN
             "  drive: {type: motion, joint: pin, law: {constant: 0, slope: 1e308}}\n" STRUT
             "law: k*deflection}\n",
         " of joint \"");
}

static as_status solve_badly(asi_solver *solver, double *b) {
  (void)solver;
  b[0] = 1e9;
  b[2] = (double)NAN;
  return AS_ERR_SINGULAR;
}

/// A solution that does not satisfy its equations names the body.
static void test_bad_solution(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, -9.81);
  machine_point(b, "bob", 1.0, (double[]){0, 0, 0}, (double[]){0, 0, 0});
  as_model *m = machine_build(b);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *s = NULL;
  as_error error = {0};
  def.step = 0.01;
  assert_int_equal(as_integrator_create(as_model_problem(m), &def, &s, &error), AS_OK);
  assert_int_equal(as_integrator_start(s, as_model_initial(m), NULL, &error), AS_OK);
  const asi_solver_ops *usual = s->stepper.step.solver->ops;
  asi_solver_ops bad = *usual;
  bad.solve = solve_badly;
  s->stepper.step.solver->ops = &bad;
  assert_int_equal(as_integrator_step(s, 0.01, &error), AS_ERR_SINGULAR);
  s->stepper.step.solver->ops = usual;
  if (strstr(error.message,
             "cannot be solved accurately: body \"bob\", velocity z comes out as ") == NULL)
    fail_msg("%s", error.message);
  as_integrator_destroy(s);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formulas),     cmocka_unit_test(test_places),
      cmocka_unit_test(test_overflows),    cmocka_unit_test(test_lengths_of_axes),
      cmocka_unit_test(test_starts),       cmocka_unit_test(test_clocks),
      cmocka_unit_test(test_motions),      cmocka_unit_test(test_locked),
      cmocka_unit_test(test_out_of_reach), cmocka_unit_test(test_bad_solution)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
