/// [SC.15] Automatic steps let go vibrations of undamped stiff parts that count neither in positions nor in velocities, and follow
/// those that do.
///
/// Machines that start from rest, whose weight, load or drive makes a stiff part vibrate by less than the tolerance of positions and a
/// few percent of the largest velocity. Each is compared with its twin with a small damping: where it is, and how many steps it takes;
/// before, most of them took a hundred times as many, and the beams and chains a thousand times.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"
#include "flexible_part.h"
#include "machines.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};

/// A steel beam that falls about a hinge.
static const char beam[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {c: 0}\n"
    "beams:\n"
    "  arm: {line: {points: [[0, 0, 0], [0.5, 0, 0]]}, elements: 4, damping: c, material: steel,\n"
    "    section: {type: rectangle, width: 0.02, height: 0.02}}\n"
    "joints: {pin: {type: revolute, bodies: [ground, arm.0], point: [0, 0, 0], axis: [0, 1, 0]}}\n"
    "simulate: {t_end: 0.5}\n"
    "output: {interval: 0.05, channels: [bodies.arm.4.position]}\n";

/// Six masses on stiff springs, pulled at one end, with a soft one at the other.
static const char chain[] = "alphastep: 1\n"
                            "parameters: {c: 0, k: 1e8}\n"
                            "bodies:\n"
                            "  m1: {type: point, mass: 1, position: [0, 0, 0]}\n"
                            "  m2: {type: point, mass: 2, position: [0.1, 0, 0]}\n"
                            "  m3: {type: point, mass: 1, position: [0.2, 0, 0]}\n"
                            "  m4: {type: point, mass: 0.5, position: [0.3, 0, 0]}\n"
                            "  m5: {type: point, mass: 1, position: [0.4, 0, 0]}\n"
                            "  m6: {type: point, mass: 3, position: [0.5, 0, 0]}\n"
                            "forces:\n"
                            "  soft: {type: spring, bodies: [ground, m1], point: [-1, 0, 0], "
                            "second_point: [0, 0, 0], stiffness: 400}\n"
                            "  s1: {type: spring, bodies: [m1, m2], point: [0, 0, 0], "
                            "second_point: [0.1, 0, 0], stiffness: k, damping: c}\n"
                            "  s2: {type: spring, bodies: [m2, m3], point: [0.1, 0, 0], "
                            "second_point: [0.2, 0, 0], stiffness: 2*k, damping: c}\n"
                            "  s3: {type: spring, bodies: [m3, m4], point: [0.2, 0, 0], "
                            "second_point: [0.3, 0, 0], stiffness: k, damping: c}\n"
                            "  s4: {type: spring, bodies: [m4, m5], point: [0.3, 0, 0], "
                            "second_point: [0.4, 0, 0], stiffness: 5*k, damping: c}\n"
                            "  s5: {type: spring, bodies: [m5, m6], point: [0.4, 0, 0], "
                            "second_point: [0.5, 0, 0], stiffness: k, damping: c}\n"
                            "  pull: {type: load, body: m6, force: [100, 0, 0]}\n"
                            "simulate: {t_end: 1}\n"
                            "output: {interval: 0.05, channels: [bodies.m6.position]}\n";

/// A load on a stiff spring behind an anchor that is moved.
static const char moved[] =
    "alphastep: 1\n"
    "parameters: {c: 0, k: 1e8}\n"
    "bodies:\n"
    "  anchor: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
    "  load: {mass: 10, inertia: [0.1, 0.1, 0.1], position: [-0.5, 0, 0]}\n"
    "joints:\n"
    "  lead: {type: prismatic, bodies: [ground, anchor], point: [0, 0, 0], axis: [1, 0, 0]}\n"
    "  drive: {type: motion, joint: lead, law: \"if(t < 0.1, 0, if(t < 0.13, t - 0.1 - "
    "0.03/(2*pi)*sin(2*pi*(t - 0.1)/0.03), 0.03))\"}\n"
    "  rail: {type: prismatic, bodies: [ground, load], point: [-0.5, 0, 0], axis: [1, 0, 0]}\n"
    "forces: {tow: {type: spring, bodies: [anchor, load], point: [0, 0, 0], second_point: [-0.5, "
    "0, 0], stiffness: k, damping: c}}\n"
    "simulate: {t_end: 0.5}\n"
    "output: {interval: 0.05, channels: [bodies.load.position]}\n";

/// A car's body on a frame, on stiff bushings, on tyres, dropped from where these are not loaded.
static const char bushed[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {c: 0, k: 1e7}\n"
    "bodies:\n"
    "  body: {mass: 1200, inertia: [400, 1500, 1700], position: [0, 0, 0.6]}\n"
    "  frame: {mass: 60, inertia: [10, 10, 20], position: [0, 0, 0.35]}\n"
    "forces:\n"
    "  left: {type: bushing, bodies: [body, frame], point: [0, 0.5, 0.4], stiffness: [k, k, k, k, "
    "k, k], damping: [c, c, c, c, c, c]}\n"
    "  right: {type: bushing, bodies: [body, frame], point: [0, -0.5, 0.4], stiffness: [k, k, k, "
    "k, k, k], damping: [c, c, c, c, c, c]}\n"
    "  front: {type: bushing, bodies: [ground, frame], point: [1.2, 0, 0], stiffness: [2e4, 2e4, "
    "2e5, 2e4, 0, 0], damping: [100, 100, 2000, 0, 0, 0]}\n"
    "  rear: {type: bushing, bodies: [ground, frame], point: [-1.2, 0, 0], stiffness: [2e4, 2e4, "
    "1e5, 2e4, 0, 0], damping: [100, 100, 2000, 0, 0, 0]}\n"
    "simulate: {t_end: 1}\n"
    "output: {interval: 0.05, channels: [bodies.body.position]}\n";

/// An overhung rotor on stiff bearings, run up through 40 Hz.
static const char rotor[] =
    "alphastep: 1\n"
    "parameters: {c: 0, k: 2e8}\n"
    "bodies:\n"
    "  shaft: {mass: 2, inertia: [0.02, 0.02, 0.02]}\n"
    "  wheel: {mass: 10, inertia: [0.08, 0.05, 0.05], position: [0.1, 1e-6, 0]}\n"
    "joints: {axle: {type: revolute, bodies: [shaft, wheel], point: [-0.2, 0, 0], axis: [1, 0, "
    "0]}}\n"
    "forces:\n"
    "  first: {type: bushing, bodies: [ground, shaft], point: [-0.2, 0, 0], stiffness: [k, k, k, "
    "k/100, 0, 0], damping: [c, c, c, c/100, 0, 0]}\n"
    "  second: {type: bushing, bodies: [ground, shaft], point: [0.2, 0, 0], stiffness: [k, k, k, "
    "k/100, 0, 0], damping: [c, c, c, c/100, 0, 0]}\n"
    "  motor: {type: load, body: wheel, torque: [80, 0, 0]}\n"
    "simulate: {t_end: 0.25}\n"
    "output: {interval: 0.05, channels: [bodies.wheel.position]}\n";

enum { MOST_ROWS = 64 };
typedef struct rows {
  int n;
  double at[MOST_ROWS][3];
  long steps;
} rows;

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)error;
  rows *to = user;
  assert_true(to->n < MOST_ROWS && n >= 3);
  memcpy(to->at[to->n++], row, 3 * sizeof(double));
  return AS_OK;
}

static rows go(const char *text, double c, as_method method, double rtol) {
  char set[64];
  const char *settings[] = {set};
  snprintf(set, sizeof set, "parameters.c=%g", c);
  as_machine *read = NULL;
  as_messages messages = {0};
  as_error error;
  rows out = {0};
  if (as_machine_parse(text, strlen(text), "machine", settings, 1, &read, &messages))
    fail_msg("%s", messages.message[0].text);
  as_run_def def = as_default_run_def();
  def.integrator.method = method;
  def.integrator.tolerance.rtol = rtol;
  def.t_end = read->simulation.t_end;
  def.interval = read->output.interval;
  def.channels = read->output.channels;
  def.n_channels = read->output.n_channels;
  def.max_steps = 200000;
  as_run *run = NULL;
  as_status status = as_run_create(read->model, &def, &run, &error);
  if (status == AS_OK) status = as_run_go(run, keep_row, &out, NULL, &error);
  as_statistics work;
  if (status == AS_OK) status = as_integrator_statistics(as_run_integrator(run), &work, &error);
  if (status) fail_msg("%s", error.message);
  out.steps = work.steps;
  as_run_destroy(run);
  as_machine_destroy(read);
  return out;
}

typedef struct twin {
  const char *name, *text;
  double c;   ///< damping of the twin
  long most;  ///< steps at 2e-5
  double off; ///< how far both may be apart at 2e-5 [m]
} twin;

static const twin twins[] = {{"beam", beam, 1e-6, 1500, 2e-5},
                             {"chain", chain, 200.0, 4000, 4e-5},
                             {"moved", moved, 2000.0, 1500, 5e-6},
                             {"bushed", bushed, 200.0, 3000, 4e-5},
                             {"rotor", rotor, 2000.0, 4000, 1e-6}};

static void test_twins(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof twins / sizeof twins[0]; ++k)
    for (int i = 0; i < 6; ++i) {
      const double rtol = i < 3 ? 2e-5 : 1e-3;
      const rows damped = go(twins[k].text, twins[k].c, methods[i % 3], rtol),
                 undamped = go(twins[k].text, 0.0, methods[i % 3], rtol);
      double off = 0.0;
      assert_int_equal(damped.n, undamped.n);
      for (int r = 0; r < damped.n; ++r)
        for (int x = 0; x < 3; ++x) off = fmax(off, fabs(damped.at[r][x] - undamped.at[r][x]));
      printf("%-7s %-7s rtol %.0e: %ld steps, damped %ld, off by %.1e m\n", twins[k].name,
             method_names[i % 3], rtol, undamped.steps, damped.steps, off);
      const double share = sqrt(2e-5 / rtol);
      if (!((double)undamped.steps < (double)twins[k].most * share + 100.0 &&
            off < twins[k].off / share / share))
        fail_msg("%s, %s", twins[k].name, method_names[i % 3]);
    }
}

/// A stiff bar of finite elements that falls about a hinge at its first node; where its last node is behind 0.5 s.
static long drop(double beta, as_method method, double x[3]) {
  part_def def = part_blade(0.0, 0.3, 8, 4);
  for (int i = 0; i < 6; ++i) def.stiffness[i] *= i < 3 ? 12.0 : 1000.0;
  def.mass *= 12.0;
  for (int i = 0; i < 2; ++i) def.inertia[i] *= 100.0;
  def.beta = beta;
  part bar = part_make(&def);
  static const double none[3] = {0.0, 0.0, 0.0};
  as_builder *b = machine_builder(0.0, 0.0, -9.81);
  const as_flexible_id id = part_add(b, "bar", &bar, none, none, none);
  as_error error;
  machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, as_builder_flexible_node(b, id, 0), none,
                (double[3]){0.0, 1.0, 0.0});
  as_model *m = machine_build(b);
  as_integrator *run = NULL;
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.tolerance.span = 0.5;
  as_statistics work;
  as_body_motion tip;
  if (as_integrator_create(as_model_problem(m), &how, &run, &error) ||
      as_integrator_start(run, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  if (as_integrator_advance(run, 0.5, &error) || as_integrator_statistics(run, &work, &error))
    fail_msg("%s", error.message);
  as_model_body_motion(m, as_integrator_state(run), as_model_flexible_node(m, id, 1), &tip);
  memcpy(x, tip.x, sizeof tip.x);
  as_integrator_destroy(run);
  as_model_destroy(m);
  part_free(&bar);
  return work.steps;
}

static void test_finite_elements(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    double x[2][3], off = 0.0;
    const long undamped = drop(0.0, methods[m], x[0]), damped = drop(1e-6, methods[m], x[1]);
    for (int k = 0; k < 3; ++k) off = fmax(off, fabs(x[0][k] - x[1][k]));
    printf("%-7s %ld steps, damped %ld, off by %.1e m\n", method_names[m], undamped, damped, off);
    assert_true(undamped < 1500 && off < 2e-5);
  }
}

// ---- vibrations that count ------------------------------------------------------------------------

typedef struct pair {
  double omega; ///< of the second mass, on a spring [rad/s]
} pair;

static int unit_mass(const as_point *at, as_matrix *out, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 2; ++i) as_matrix_add(out, i, i, 1.0);
  return AS_DONE;
}

static int spring(const as_point *at, double *out, void *user) {
  const pair *p = user;
  out[0] = -at->q[0];
  out[1] = -p->omega * p->omega * at->q[1];
  return AS_DONE;
}

/// A mass that swings with cos t beside one that swings with A cos(omega t): the largest error of that one's place until t = 1,
/// and how far it still swings at the end.
static double follow(double omega, double amplitude, as_method method, double rtol, long *steps,
                     double *left) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  pair p = {omega};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = unit_mass;
  def.force = spring;
  def.user = &p;
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  if (as_problem_create(&def, &problem, &error)) fail_msg("%s", error.message);
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.tolerance.rtol = rtol;
  const double q[2] = {1.0, amplitude}, v[2] = {0.0, 0.0};
  const as_initial initial = {.q = q, .v = v};
  as_status status = as_integrator_create(problem, &how, &integrator, &error);
  if (status == AS_OK) status = as_integrator_start(integrator, &initial, NULL, &error);
  double worst = 0.0;
  *left = 0.0;
  for (int i = 1; i <= 200 && status == AS_OK; ++i) {
    status = as_integrator_advance(integrator, 0.005 * i, &error);
    const as_state *s = as_integrator_state(integrator);
    if (i > 100) *left = fmax(*left, fabs(s->q[1]));
    worst = fmax(worst, fabs(s->q[1] - amplitude * cos(omega * s->t)));
  }
  as_statistics work;
  if (status == AS_OK) status = as_integrator_statistics(integrator, &work, &error);
  if (status) fail_msg("%s", error.message);
  *steps = work.steps;
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return worst;
}

/// What counts in positions is followed to their tolerance, what counts in velocities too; what does in neither is not.
static void test_followed(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    static const double rtol = 1e-5;
    long steps[3];
    double left[3];
    const double place = follow(200.0, 5e-5, methods[m], rtol, &steps[0], &left[0]);
    (void)follow(1e3, 1e-4, methods[m], 1e-3, &steps[1], &left[1]);
    (void)follow(2000.0, 3e-7, methods[m], rtol, &steps[2], &left[2]);
    printf("%-7s off by %.1e, swings by %.1e, %.1e; %ld, %ld, %ld steps\n", method_names[m], place,
           left[1], left[2], steps[0], steps[1], steps[2]);
    assert_true(place < 1e-5 && left[0] > 4.5e-5 && left[1] > 0.7e-4);
    assert_true(left[2] < 5e-7 && steps[2] < 1500);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins),
                                     cmocka_unit_test(test_finite_elements),
                                     cmocka_unit_test(test_followed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
