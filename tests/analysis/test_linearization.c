/// Linearization: A of random machines against differences of the nonlinear equations, closed forms, steady motions, singular
/// positions, large problems against dense matrices.
///
///     test_linearization              all
///     test_linearization FIRST COUNT  other random machines, with what became of them
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
#include "alphastep/io.h"
#include "core/kinematics/problem.h"
#include "files.h"
#include "linear_differences.h"
#include "random_machine.h"

static void say_state(const as_linearization *l, int i, char *text) {
  const as_quantity what = l->state[i].kind == AS_LINEAR_STATE ? AS_QUANTITY_X : AS_QUANTITY_V;
  as_problem_describe(l->problem, what, l->state[i].index, text, 80);
}

/// Outcomes of a random machine.
enum { COMPARED, REFUSED, NO_START, ROUGH };

static int random_one(uint64_t seed, bool tell) {
  random_machine made = random_machine_make(seed);
  as_machine *machine = NULL;
  as_messages *messages = calloc(1, sizeof *messages);
  as_error error = {0};
  int outcome = ROUGH;
  if (made.sort == RANDOM_FREE && !made.rough &&
      as_machine_parse(made.text, strlen(made.text), "random.yaml", NULL, 0, &machine, messages) ==
          AS_OK) {
    const as_problem *p = as_model_problem(machine->model);
    as_integrator_def def = as_default_integrator_def();
    as_integrator *run = NULL;
    as_linearization *l = NULL;
    def.step = made.t_end / 200.0;
    assert_int_equal(as_integrator_create(p, &def, &run, &error), AS_OK);
    outcome = NO_START;
    if (as_integrator_start(run, as_model_initial(machine->model), NULL, &error) == AS_OK &&
        as_integrator_advance(run, made.t_end / 4.0, &error) == AS_OK) {
      const as_state *at = as_integrator_state(run);
      const as_initial initial = {.t = at->t,
                                  .q = at->q,
                                  .v = at->v,
                                  .x = at->x,
                                  .lambda = at->lambda,
                                  .psi = at->psi,
                                  .u = at->u};
      as_linearization_def how = as_default_linearization_def();
      how.axes = AS_AXES_OWN;
      const as_status status = as_linearize(p, &initial, &how, &l, &error);
      outcome = status ? REFUSED : COMPARED;
      int i = 0, j = 0;
      double off = status ? 0.0 : linear_compare(l, 1.0, &i, &j);
      if (off > 1e-7) { // differences of stiff machines want other steps
        const double smaller = linear_compare(l, 0.1, &i, &j);
        off = smaller >= 0.0 ? fmin(off, smaller) : off;
      }
      if (off < 0.0) outcome = NO_START;
      if (tell || off > 1e-6) {
        char a[80] = "", b[80] = "";
        if (l && l->n_states > 0) say_state(l, i, a), say_state(l, j, b);
        print_message("seed %lu: %s, %d states, off by %.2g (%s by %s, %d %d)%s%s\n",
                      (unsigned long)seed, outcome == COMPARED ? "compared" : "not compared",
                      l ? l->n_states : 0, off, a, b, i, j, status ? ": " : "",
                      status ? error.message : "");
      }
      if (!tell) assert_true(off <= 1e-6);
      as_linearization_destroy(l);
    }
    as_integrator_destroy(run);
    as_machine_destroy(machine);
  }
  random_machine_free(&made);
  free(messages);
  return outcome;
}

static void test_random_machines(void **state) {
  (void)state;
  int count[4] = {0};
  for (uint64_t seed = 1; seed <= 150; ++seed) ++count[random_one(seed, false)];
  print_message("%d compared, %d refused, %d without a start, %d rough\n", count[COMPARED],
                count[REFUSED], count[NO_START], count[ROUGH]);
  assert_true(count[COMPARED] > 40);
  assert_true(count[REFUSED] < count[COMPARED] / 4);
}

// ---- closed forms -------------------------------------------------------------------------------------

/// A machine from text, linearized about its start or its equilibrium.
typedef struct looked {
  as_machine *machine;
  as_linearization *l;
  as_modes *modes;
  as_analysis *analysis;
} looked;

static looked look_at(as_machine *machine, bool rest, const as_linearization_def *how) {
  looked x = {.machine = machine};
  as_error error;
  const as_problem *p = as_model_problem(machine->model);
  as_initial initial = *as_model_initial(machine->model);
  const as_analysis_def def = as_default_analysis_def();
  if (rest) {
    if (as_analysis_create(p, &def, &x.analysis, &error) ||
        as_analysis_equilibrium(x.analysis, &initial, NULL, &error))
      fail_msg("%s", error.message);
    const as_state *s = as_analysis_state(x.analysis);
    initial = (as_initial){.t = s->t, .q = s->q, .v = s->v, .x = s->x, .u = s->u};
  }
  const as_linearization_def usual = as_default_linearization_def();
  if (as_linearize(p, &initial, how ? how : &usual, &x.l, &error) ||
      as_modes_create(x.l, &x.modes, &error))
    fail_msg("%s", error.message);
  return x;
}

static void forget(looked *x) {
  as_modes_destroy(x->modes);
  as_linearization_destroy(x->l);
  as_analysis_destroy(x->analysis);
  as_machine_destroy(x->machine);
}

/// There is a mode with this eigenvalue, to `within` of its size.
static void assert_mode(const as_modes *m, double re, double im, double within) {
  double nearest = (double)INFINITY;
  for (int i = 0; i < m->n; ++i)
    nearest = fmin(nearest, hypot(m->mode[i].re - re, m->mode[i].im - im));
  if (!(nearest <= within * hypot(re, im))) {
    for (int i = 0; i < m->n; ++i) print_message("%.15g %.15g\n", m->mode[i].re, m->mode[i].im);
    fail_msg("no eigenvalue %.15g + %.15g i: the nearest is off by %.3g", re, im, nearest);
  }
}

/// A rod of 1.2 m and 2 kg: J = m l^2/3, and two of them.
static void test_pendulums(void **state) {
  (void)state;
  const double g = 9.81, l = 1.2, w = sqrt(1.5 * g / l);
  static const char *const spaces[] = {"r3xso3", "se3"};
  for (int k = 0; k < 2; ++k)
    for (int up = 0; up < 2; ++up) {
      char text[1024];
      snprintf(text, sizeof text,
               "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
               "  rod: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0, 0, %g], space: %s}\n"
               "joints:\n  pin: {type: revolute, bodies: [ground, rod], point: [0, 0, 0], axis: "
               "[0, 1, 0]}\n",
               up ? 0.6 : -0.6, spaces[k]);
      looked x = look_at(files_parse(text), false, NULL);
      assert_int_equal(x.l->n_states, 2);
      assert_true(x.l->accelerated < 0 || x.l->acceleration < 1e-12);
      assert_int_equal(x.modes->n_unstable, up);
      if (up) {
        assert_mode(x.modes, w, 0.0, 1e-12);
        assert_mode(x.modes, -w, 0.0, 1e-12);
        for (int i = 0; i < 2; ++i) assert_true(x.modes->mode[i].im == 0.0);
      } else {
        assert_mode(x.modes, 0.0, w, 1e-12);
        assert_true(fabs(x.modes->mode[0].re) <= 1e-9 * w);
        assert_true(fabs(x.modes->mode[0].frequency - w / 6.283185307179586) < 1e-9);
      }
      forget(&x);
    }
}

static void test_double_pendulum(void **state) {
  (void)state;
  looked x = look_at(
      files_parse(
          "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
          "  upper: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0, 0, -0.6]}\n"
          "  lower: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0, 0, -1.8]}\n"
          "joints:\n"
          "  pin: {type: revolute, bodies: [ground, upper], point: [0, 0, 0], axis: [0, 1, 0]}\n"
          "  knee: {type: revolute, bodies: [upper, lower], point: [0, 0, -1.2], axis: [0, 1, "
          "0]}\n"),
      false, NULL);
  // m l^2 [4/3 1/2; 1/2 1/3] a'' + m g l [3/2 0; 0 1/2] a = 0
  const double f = 9.81 / 1.2, a = 4.0 / 9.0 - 0.25, b = -(0.5 + 2.0 / 3.0) * f, c = 0.75 * f * f;
  for (int sign = -1; sign <= 1; sign += 2)
    assert_mode(x.modes, 0.0, sqrt((-b + sign * sqrt(b * b - 4.0 * a * c)) / (2.0 * a)), 1e-12);
  assert_int_equal(x.l->n_states, 4);
  for (int i = 0; i < x.modes->n; ++i)
    assert_true(fabs(x.modes->mode[i].re) <= 1e-9 * x.modes->mode[i].im);
  forget(&x);
}

/// Masses on a line between springs: 2 sqrt(k/m) sin(j pi / 2 (n + 1)), and with dampers alike.
static void test_spring_chain(void **state) {
  (void)state;
  enum { N = 8 };
  looked x = look_at(
      files_parse(
          "alphastep: 1\nrepeat:\n  - to: 8\n    bodies:\n      m ${i}: {mass: 3, inertia: [1, 1, "
          "1], position: [i, 0, 0]}\n    joints:\n      slide ${i}: {type: prismatic, bodies: "
          "[ground, 'm ${i}'], point: [i, 0, 0], axis: [1, 0, 0]}\n"
          "  - from: 2\n    to: 8\n    forces:\n      s ${i}: {type: spring, bodies: ['m ${i - "
          "1}', 'm ${i}'], point: [i - 1, 0, 0], second_point: [i, 0, 0], stiffness: 500, damping: "
          "0.4, length: 1}\n"
          "forces:\n  first: {type: spring, bodies: [ground, m 1], point: [0, 0, 0], second_point: "
          "[1, 0, 0], stiffness: 500, damping: 0.4, length: 1}\n"
          "  last: {type: spring, bodies: [m 8, ground], point: [8, 0, 0], second_point: [9, 0, "
          "0], "
          "stiffness: 500, damping: 0.4, length: 1}\n"),
      false, NULL);
  assert_int_equal(x.modes->n, N);
  for (int j = 1; j <= N; ++j) {
    const double w = 2.0 * sqrt(500.0 / 3.0) * sin(j * 3.14159265358979323846 / (2.0 * (N + 1)));
    const double re = -0.5 * 0.4 / 500.0 * w * w;
    assert_mode(x.modes, re, sqrt(w * w - re * re), 1e-11);
  }
  forget(&x);
}

/// A symmetric top on its point: J z'' - i L z' + m g l z = 0 for z = x + i y, L its spin's momentum. Seen in world axes.
static void test_rotor(void **state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    const double l = k % 2 ? 0.5 : -0.5, spin = k < 2 ? 40.0 : 12.0, mass = 2.0, jp = 0.1;
    const double jt = 0.08 + mass * l * l, momentum = jp * spin, gravity = mass * 9.81 * l;
    char text[1024];
    snprintf(text, sizeof text,
             "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
             "  top: {mass: 2, inertia: [0.08, 0.08, 0.1], position: [0, 0, %g], angular_velocity: "
             "[0, 0, %g], space: %s}\n"
             "joints:\n  tip: {type: spherical, bodies: [ground, top], point: [0, 0, 0]}\n",
             l, spin, k < 2 ? "r3xso3" : "se3");
    looked x = look_at(files_parse(text), false, NULL);
    assert_int_equal(x.l->axes, AS_AXES_TURNING);
    assert_true(x.l->unsteady < 1e-6);
    const double under = momentum * momentum - 4.0 * jt * gravity;
    for (int sign = -1; sign <= 1; sign += 2) {
      const double root = sqrt(fabs(under)) / (2.0 * jt) * sign;
      if (under > 0.0)
        assert_mode(x.modes, 0.0, fabs(momentum / (2.0 * jt) + root), 1e-9);
      else
        assert_mode(x.modes, root, momentum / (2.0 * jt), 1e-9);
    }
    assert_int_equal(x.modes->n_unstable, under < 0.0 ? 2 : 0);
    assert_int_equal(x.modes->n_free, 2); // the spin
    forget(&x);
  }
}

/// A top that precesses, its axis level: nutation with w^2 = W^2 + (L/J)^2, in axes that turn with it.
static void test_precession(void **state) {
  (void)state;
  const double l = 0.5, mass = 2.0, jp = 0.1, jt = 0.08 + mass * l * l, spin = 60.0;
  const double rate = mass * 9.81 * l / (jp * spin);
  char text[1024];
  snprintf(
      text, sizeof text,
      "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
      "  top: {mass: 2, inertia: [0.1, 0.08, 0.08], position: [0.5, 0, 0], velocity: [0, %.17g, "
      "0], angular_velocity: [%.17g, 0, %.17g]}\n"
      "joints:\n  tip: {type: spherical, bodies: [ground, top], point: [0, 0, 0]}\n",
      rate * l, spin, rate);
  as_linearization_def how = as_default_linearization_def();
  how.axes = AS_AXES_TURNING;
  how.turning[2] = rate;
  looked x = look_at(files_parse(text), false, &how);
  assert_true(x.l->unsteady < 1e-6);
  assert_mode(x.modes, 0.0, hypot(rate, jp * spin / jt), 1e-9);
  forget(&x);
  how.turning[2] = 0.0;
  x = look_at(files_parse(text), false, &how); // in axes that stand still it changes
  assert_true(x.l->unsteady > 1e-3);
  forget(&x);
}

/// The benchmark bicycle against Meijaard, Papadopoulos, Ruina and Schwab (2007), table 2.
static void test_bicycle(void **state) {
  (void)state;
  static const double published[][5] = {
      // v; caster, capsize, weave
      {1, -7.11008014637442, -3.13423125066578, 3.52696170990070, 0.80774027519930},
      {2, -8.67387984831735, -3.07158645641514, 2.68234517512745, 1.68066296590675},
      {3, -10.35101467245920, -2.63366137253667, 1.70675605663975, 2.31582447384325},
      {4, -12.15861426576447, -1.42944427361326, 0.41325331521125, 3.07910818603206},
      {5, -14.07838969279822, -0.32286642900409, -0.77534188219585, 4.46486771378823},
      {6, -16.08537123098026, -0.00406690076970, -1.52644486584142, 5.87673060598709},
      {7, -18.15788466125262, 0.10268170574766, -2.13875644258362, 7.19525913329805},
      {8, -20.27940894394569, 0.14327879765713, -2.69348683581097, 8.46037971396931},
      {9, -22.43788559040858, 0.15790184030917, -3.21675402252485, 9.69377351531791},
      {10, -24.62459635017404, 0.16105338653172, -3.72016840437287, 10.90681139476287},
  };
  for (size_t i = 0; i < sizeof published / sizeof published[0]; ++i) {
    const double *e = published[i];
    char setting[64];
    snprintf(setting, sizeof setting, "parameters.v=%g", e[0]);
    const char *const settings[] = {setting};
    looked x =
        look_at(files_load("examples/machines/bicycle/model.yaml", settings, 1), false, NULL);
    assert_int_equal(x.l->n_states, 10);
    assert_int_equal(x.modes->n_free, 6);
    assert_true(x.l->unsteady < 1e-6);
    assert_mode(x.modes, e[1], 0.0, 1e-11);
    assert_true(fabs(e[2]) > 0.0);
    assert_mode(x.modes, e[2], 0.0, 1e-9);
    assert_mode(x.modes, e[3], e[4], 1e-11);
    forget(&x);
  }
  // Between the weave speed and the capsize speed it is stable.
  static const double speed[] = {4.292382536634111, 6.024262015388371};
  for (int k = 0; k < 2; ++k)
    for (int side = -1; side <= 1; side += 2) {
      char setting[64];
      snprintf(setting, sizeof setting, "parameters.v=%.17g", speed[k] + 1e-8 * side);
      const char *const settings[] = {setting};
      looked x =
          look_at(files_load("examples/machines/bicycle/model.yaml", settings, 1), false, NULL);
      assert_int_equal(x.modes->n_unstable > 0, (k == 0) == (side < 0));
      forget(&x);
    }
}

// ---- inputs and outputs -------------------------------------------------------------------------------

/// A hinged rod with a force across its middle: it accelerates by 3 F / 4 m, and the hinge takes -F / 4.
static void test_direct(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
      "  rod: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0, 0, -0.6]}\n"
      "joints:\n  pin: {type: revolute, bodies: [ground, rod], point: [0, 0, 0], axis: [0, "
      "1, 0]}\n");
  const int n = as_problem_sizes(as_model_problem(machine->model)).v;
  double *force = calloc((size_t)n, sizeof *force), c[3 * 2], d[3];
  force[as_model_body_v(machine->model, (as_body_id){0})] = 1.0;
  const as_linear_input input = {.signal = -1, .force = force};
  as_linearization_def how = as_default_linearization_def();
  how.inputs = &input;
  how.n_inputs = 1;
  looked x = look_at(machine, false, &how);
  static const char *const names[] = {"bodies.rod.acceleration.x", "joints.pin.force.x",
                                      "bodies.rod.position.x"};
  as_channels *channels;
  as_error error;
  char name[128];
  assert_int_equal(as_channels_create(machine->model, names, 3, &channels, &error), AS_OK);
  assert_int_equal(as_channels_linearize(channels, x.l, c, d, &error), AS_OK);
  assert_true(fabs(d[0] - 3.0 / 8.0) < 1e-10);
  assert_true(fabs(d[1] + 0.25) < 1e-10);
  assert_true(fabs(d[2]) < 1e-12);
  as_linear_state_name(machine->model, x.l, 0, name, sizeof name);
  assert_string_equal(name, "bodies.rod.rotation.y");
  assert_string_equal(as_linear_state_unit(machine->model, x.l, 1), "rad/s");
  assert_true(fabs(c[0] - 1.5 * 9.81 / 1.2 * 0.6) < 1e-9); // x'' by the angle: -w^2 dx, dx = -0.6
  assert_true(fabs(c[2] + 0.6) < 1e-10);
  assert_true(fabs(x.l->b[1] + 0.6 / (2.0 * 1.44 / 3.0)) < 1e-12);
  as_channels_destroy(channels);
  free(force);
  forget(&x);
}

/// m v' = -y - d v + x + u_1, y = k q, x' = -x/tau + c v' + u_0, all by differences but for sizes.
static int loop_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 2.0);
  return AS_DONE;
}
static int loop_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->y[0] - 0.3 * at->v[0] + at->x[0] + 4.0 * at->u[1];
  return AS_DONE;
}
static int loop_rate(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->x[0] / 0.5 + 0.7 * at->vdot[0] + at->u[0];
  return AS_DONE;
}
static int loop_output(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 50.0 * at->q[0];
  return AS_DONE;
}

static void test_states_and_outputs(void **state) {
  (void)state;
  as_problem_def def = as_default_problem_def();
  const as_space_part part = {AS_SPACE_RN, 1};
  as_problem *problem;
  as_error error;
  def.parts = &part;
  def.n_parts = 1;
  def.n_x = def.n_y = 1;
  def.n_u = 2;
  def.mass = loop_mass;
  def.mass_constant = true;
  def.force = loop_force;
  def.state_rate = loop_rate;
  def.output = loop_output;
  if (as_problem_create(&def, &problem, &error)) fail_msg("%s", error.message);
  const as_linear_input inputs[] = {{.signal = 0}, {.signal = 1}};
  as_linearization_def how = as_default_linearization_def();
  how.inputs = inputs;
  how.n_inputs = 2;
  as_linearization *l;
  const double q = 0.0;
  if (as_linearize(problem, &(as_initial){.q = &q}, &how, &l, &error))
    fail_msg("%s", error.message);
  const double a[3][3] = {
      {0.0, 1.0, 0.0}, {-25.0, -0.15, 0.5}, {-25.0 * 0.7, -0.15 * 0.7, -2.0 + 0.35}};
  const double b[3][2] = {{0.0, 0.0}, {0.0, 2.0}, {1.0, 1.4}};
  assert_int_equal(l->n_states, 3);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) assert_true(fabs(l->a[3 * j + i] - a[i][j]) < 1e-7);
    for (int j = 0; j < 2; ++j) assert_true(fabs(l->b[3 * j + i] - b[i][j]) < 1e-9);
  }
  as_linearization_destroy(l);
  const as_linear_input wrong = {.signal = 2};
  how.inputs = &wrong;
  how.n_inputs = 1;
  assert_int_equal(as_linearize(problem, &(as_initial){.q = &q}, &how, &l, &error),
                   AS_ERR_ARGUMENT);
  assert_null(l);
  as_problem_destroy(problem);
}

/// (1 + q^2) v' = 3 - q, about a state that accelerates.
static int uneven_mass(const as_point *at, as_matrix *m, void *user) {
  (void)user;
  as_matrix_add(m, 0, 0, 1.0 + at->q[0] * at->q[0]);
  return AS_DONE;
}
static int uneven_force(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 3.0 - at->q[0];
  return AS_DONE;
}

static void test_uneven_mass(void **state) {
  (void)state;
  as_problem_def def = as_default_problem_def();
  const as_space_part part = {AS_SPACE_RN, 1};
  as_problem *problem;
  as_linearization *l = NULL;
  as_error error;
  const as_linearization_def how = as_default_linearization_def();
  const double q = 0.5;
  def.parts = &part;
  def.n_parts = 1;
  def.mass = uneven_mass;
  def.force = uneven_force;
  if (as_problem_create(&def, &problem, &error) ||
      as_linearize(problem, &(as_initial){.q = &q}, &how, &l, &error))
    fail_msg("%s", error.message);
  assert_true(fabs(l->acceleration - 2.0) < 1e-12);
  assert_int_equal(l->accelerated, 0);
  assert_true(fabs(l->a[1] - (-1.0 - 2.0 * q * 2.0) / 1.25) < 1e-7);
  double unbalanced[1];
  as_state off = *as_linearization_state(l);
  const double vdot = 1.0;
  off.vdot = &vdot;
  assert_int_equal(as_problem_values(problem, &off, &(as_values){.unbalanced = unbalanced}, &error),
                   AS_OK);
  assert_true(fabs(unbalanced[0] - 1.25) < 1e-12);
  as_linearization_destroy(l);
  as_problem_destroy(problem);
}

/// What grows beyond all numbers, or is none, is refused in bounded time.
static void test_responses_overflow(void **state) {
  (void)state;
  double a[] = {0.0, 1.0, 1.0, 0.0}, out[6];
  const double b[] = {0.0, 1.0}, c[] = {1.0, 0.0}, d[] = {0.0};
  const as_linear_system s = {2, 1, 1, a, b, c, d};
  as_error error;
  for (int kind = 0; kind < 2; ++kind) {
    const as_time_input input = kind ? AS_INPUT_IMPULSE : AS_INPUT_STEP;
    assert_int_equal(as_time_response(&s, input, 300.0, 3, out, &error), AS_OK);
    assert_int_equal(as_time_response(&s, input, 600.0, 3, out, &error), AS_ERR_NONFINITE);
    assert_int_equal(as_time_response(&s, input, 1e308, 3, out, &error), AS_ERR_NONFINITE);
  }
  a[1] = 1e308;
  assert_int_equal(as_time_response(&s, AS_INPUT_STEP, 10.0, 3, out, &error), AS_ERR_NONFINITE);
  a[1] = (double)INFINITY;
  assert_int_equal(as_time_response(&s, AS_INPUT_STEP, 1.0, 3, out, &error), AS_ERR_ARGUMENT);
  a[1] = (double)NAN;
  assert_int_equal(as_frequency_response(&s, (double[]){1.0}, 1, out, &error), AS_ERR_ARGUMENT);
}

/// m x'' + d x' + k x = u: closed forms in frequency and in time.
static void test_responses(void **state) {
  (void)state;
  const double m = 2.0, d = 0.6, k = 50.0, pi = 3.14159265358979323846;
  const double a[] = {0.0, -k / m, 1.0, -d / m}, b[] = {0.0, 1.0 / m},
               c[] = {1.0, -k / m, 0.0, -d / m};
  const double direct[] = {0.0, 1.0 / m};
  const as_linear_system s = {2, 1, 2, a, b, c, direct};
  const double w[] = {0.0, 4.9, 5.0, 40.0};
  double out[16], times[2 * 50];
  as_error error;
  assert_int_equal(as_frequency_response(&s, w, 4, out, &error), AS_OK);
  for (int i = 0; i < 4; ++i) {
    const double re = k - m * w[i] * w[i], im = d * w[i], square = re * re + im * im;
    assert_true(fabs(out[4 * i] - re / square) < 1e-13);
    assert_true(fabs(out[4 * i + 2] + im / square) < 1e-13);
    assert_true(fabs(out[4 * i + 1] + w[i] * w[i] * re / square) < 1e-12); // acceleration
    assert_true(fabs(out[4 * i + 3] - w[i] * w[i] * im / square) < 1e-12);
  }
  const double decay = d / (2.0 * m), wd = sqrt(k / m - decay * decay), h = 2.0 * pi / wd / 7.3;
  for (int impulse = 0; impulse < 2; ++impulse) {
    assert_int_equal(
        as_time_response(&s, impulse ? AS_INPUT_IMPULSE : AS_INPUT_STEP, h, 50, times, &error),
        AS_OK);
    for (int i = 0; i < 50; ++i) {
      const double t = i * h, e = exp(-decay * t);
      const double x = impulse ? e * sin(wd * t) / (m * wd)
                               : (1.0 - e * (cos(wd * t) + decay / wd * sin(wd * t))) / k;
      assert_true(fabs(times[2 * i] - x) < 1e-12);
    }
    assert_true(fabs(times[1] - (impulse ? -d / m / m : 1.0 / m)) < 1e-12);
  }
  assert_int_equal(as_time_response(&s, AS_INPUT_STEP, -1.0, 2, times, &error), AS_ERR_ARGUMENT);
}

/// A rod that hangs from a cart whose motion is prescribed: J a'' + (m g + F) h a = m h u'', driven by M u'' + m (u'' - h a'').
static void test_motion_input(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
      "  cart: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
      "  rod: {mass: 2, inertia: [0.24, 0.24, 0.001], position: [0, 0, -0.6], velocity: "
      "[1.5, 0, 0], angular_velocity: [0, 0, 0]}\n"
      "joints:\n  rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, 0], axis: "
      "[1, 0, 0]}\n"
      "  move: {type: motion, joint: rail, law: {slope: 1.5}}\n"
      "  pin: {type: revolute, bodies: [cart, rod], point: [0, 0, 0], axis: [0, 1, 0]}\n"
      "forces:\n  weight: {type: load, body: rod, point: [0, 0, -0.6], force: [0, 0, -3]}\n");
  const int rows = as_problem_sizes(as_model_problem(machine->model)).lambda;
  double *moves = calloc((size_t)rows, sizeof *moves), c[3 * 4], d[3];
  moves[as_model_joint_row(machine->model, as_model_find_joint(machine->model, "move"))] = 1.0;
  const as_linear_input input = {.signal = -1, .moves = moves};
  as_linearization_def how = as_default_linearization_def();
  how.inputs = &input;
  how.n_inputs = 1;
  looked x = look_at(machine, false, &how);
  static const char *const names[] = {"joints.rail.displacement", "joints.move.drive",
                                      "bodies.rod.acceleration.x"};
  as_channels *channels;
  as_error error;
  assert_int_equal(x.l->n_states, 4);
  assert_int_equal(x.l->state[2].kind, AS_LINEAR_INPUT);
  assert_int_equal(x.l->state[3].kind, AS_LINEAR_RATE);
  const double *a = x.l->a, *b = x.l->b, stiffness = (2.0 * 9.81 + 3.0) * 0.6 / 0.96;
  assert_true(fabs(a[1] + stiffness) < 1e-10 && fabs(a[1 + 4]) < 1e-10);
  assert_true(a[2 + 3 * 4] == 1.0 && a[2 + 2 * 4] == 0.0 && b[3] == 1.0 && b[2] == 0.0);
  assert_true(fabs(b[1] - 1.25) < 1e-11);
  assert_int_equal(as_channels_create(machine->model, names, 3, &channels, &error), AS_OK);
  assert_int_equal(as_channels_linearize(channels, x.l, c, d, &error), AS_OK);
  assert_true(fabs(c[3 * 2] - 1.0) < 1e-10 && fabs(d[0]) < 1e-12);
  assert_true(fabs(d[1] - 1.5) < 1e-10 && fabs(d[2] - 0.25) < 1e-10);
  assert_true(fabs(c[1] - 2.0 * 0.6 * stiffness) < 1e-8);
  as_channels_destroy(channels);
  free(moves);
  forget(&x);
}

// ---- redundant, singular, large -----------------------------------------------------------------------

static void test_redundant(void **state) {
  (void)state;
  looked x = look_at(
      files_parse(
          "alphastep: 1\ngravity: [0, -9.81, 0]\nbodies:\n"
          "  door: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0, -0.4, 0]}\n"
          "joints:\n"
          "  one: {type: revolute, bodies: [ground, door], point: [0, 0, 0.5], axis: [0, 0, 1]}\n"
          "  two: {type: revolute, bodies: [ground, door], point: [0, 0, -0.5], axis: [0, 0, "
          "1]}\n"),
      false, NULL);
  assert_int_equal(x.l->n_redundant, 5);
  assert_int_equal(x.l->n_states, 2);
  assert_mode(x.modes, 0.0, sqrt(2.0 * 9.81 * 0.4 / (0.1 + 2.0 * 0.16)), 1e-10);
  static const char *const names[] = {"joints.one.force.x", "joints.two.force.x"};
  as_channels *channels;
  as_error error;
  double c[4], d[1];
  assert_int_equal(as_channels_create(x.machine->model, names, 2, &channels, &error), AS_OK);
  assert_int_equal(as_channels_linearize(channels, x.l, c, d, &error), AS_OK);
  assert_true(fabs(c[0]) > 1.0);
  assert_true(fabs(c[0] - c[1]) < 1e-6 * fabs(c[0])); // each takes half
  as_channels_destroy(channels);
  forget(&x);
}

/// A parallelogram laid flat may go on as one or as its mirror image: there is no linear motion.
static void test_singular(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\nbodies:\n"
      "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}\n"
      "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2, 0, 0]}\n"
      "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2.5, 0, 0]}\n"
      "joints:\n"
      "  p: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
      "  q: {type: revolute, bodies: [a, b], point: [1, 0, 0], axis: [0, 0, 1]}\n"
      "  r: {type: revolute, bodies: [b, c], point: [3, 0, 0], axis: [0, 0, 1]}\n"
      "  s: {type: revolute, bodies: [c, ground], point: [2, 0, 0], axis: [0, 0, 1]}\n");
  const as_linearization_def how = as_default_linearization_def();
  as_linearization *l;
  as_error error;
  assert_int_equal(as_linearize(as_model_problem(machine->model), as_model_initial(machine->model),
                                &how, &l, &error),
                   AS_ERR_SINGULAR);
  assert_null(l);
  assert_non_null(strstr(error.message, "is singular"));
  as_machine_destroy(machine);
}

/// The slowest modes by Arnoldi's method against those of the dense matrix: a damped chain in space, whose modes come in pairs.
static void test_slowest(void **state) {
  (void)state;
  looked x = look_at(
      files_parse(
          "alphastep: 1\ngravity: [0, 0, -9.81]\n"
          "repeat:\n  - to: 40\n    bodies:\n      l ${i}: {mass: 1, inertia: [0.09, 0.09, 0.02], "
          "position: [0, 0, 0.5 - i]}\n    forces:\n      d ${i}: {type: spring, bodies: [ground, "
          "'l "
          "${i}'], point: [5, 0.1*i, 0.5 - i], second_point: [0, 0, 0.5 - i], damping: 0.2 + "
          "0.01*i, "
          "stiffness: 0.3, length: 4}\n"
          "  - from: 2\n    to: 40\n    joints:\n      b ${i}: {type: universal, bodies: ['l ${i - "
          "1}', 'l ${i}'], point: [0, 0, 1 - i], axis: [1, 0, 0], second_axis: [0, 1, 0]}\n"
          "joints:\n  hook: {type: universal, bodies: [ground, l 1], point: [0, 0, 0], axis: [1, "
          "0, "
          "0], second_axis: [0, 1, 0]}\n"),
      true, NULL);
  const as_state *rest = as_linearization_state(x.l);
  const as_initial initial = {.t = rest->t, .q = rest->q, .v = rest->v};
  const as_linearization_def how = as_default_linearization_def();
  as_modes *slow;
  as_error error;
  const as_problem *p = as_model_problem(x.machine->model);
  if (as_modes_slowest(p, &initial, &how, 12, &slow, &error)) fail_msg("%s", error.message);
  assert_int_equal(slow->n, 12);
  for (int i = 0; i < slow->n; ++i) {
    const as_mode *m = &slow->mode[i];
    assert_mode(x.modes, m->re, m->im, 1e-8);
    double off = (double)INFINITY; // the shape too, of modes that stand alone
    for (int k = 0; k < x.modes->n; ++k) {
      const as_mode *d = &x.modes->mode[k];
      if (hypot(d->re - m->re, d->im - m->im) > 1e-6 * hypot(m->re, m->im)) continue;
      double sum = 0.0;
      for (int j = 0; j < 2 * p->n; ++j) sum = fmax(sum, fabs(d->shape[j] - m->shape[j]));
      off = fmin(off, sum);
    }
    assert_true(off < 1e-4);
  }
  // Somewhere else it is no equilibrium.
  as_modes *none;
  const as_status status =
      as_modes_slowest(p, as_model_initial(x.machine->model), &how, 3, &none, &error);
  assert_int_equal(status, AS_ERR_INCONSISTENT);
  assert_non_null(strstr(error.message, "accelerates by"));
  as_modes_destroy(slow);
  forget(&x);
}

/// Blocks by themselves.
static void test_blocks(void **state) {
  (void)state;
  as_machine *machine =
      files_parse("alphastep: 1\nbodies:\n  a: {mass: 3, inertia: [1, 2, 2.5], position: "
                  "[0, 0, 0]}\n");
  as_matrix block[AS_BLOCK_COUNT];
  const as_initial *initial = as_model_initial(machine->model);
  const as_state at = {.q = initial->q, .v = initial->v};
  as_error error;
  assert_int_equal(as_problem_blocks(as_model_problem(machine->model), &at,
                                     AS_BLOCK_BIT(AS_BLOCK_M) | AS_BLOCK_BIT(AS_BLOCK_G_Q), block,
                                     &error),
                   AS_OK);
  assert_true(block[AS_BLOCK_M].value[as_matrix_position(&block[AS_BLOCK_M], 1, 1)] == 3.0);
  assert_true(block[AS_BLOCK_M].value[as_matrix_position(&block[AS_BLOCK_M], 5, 5)] == 2.5);
  assert_null(block[AS_BLOCK_G_Q].value);
  as_blocks_free(block);
  as_machine_destroy(machine);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    const uint64_t first = strtoull(argv[1], NULL, 10);
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int outcome[4] = {0};
    for (uint64_t seed = first; seed < first + count; ++seed) ++outcome[random_one(seed, true)];
    printf("%d compared, %d refused, %d without a start, %d rough\n", outcome[0], outcome[1],
           outcome[2], outcome[3]);
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulums),
      cmocka_unit_test(test_double_pendulum),
      cmocka_unit_test(test_spring_chain),
      cmocka_unit_test(test_rotor),
      cmocka_unit_test(test_precession),
      cmocka_unit_test(test_bicycle),
      cmocka_unit_test(test_direct),
      cmocka_unit_test(test_motion_input),
      cmocka_unit_test(test_states_and_outputs),
      cmocka_unit_test(test_uneven_mass),
      cmocka_unit_test(test_responses),
      cmocka_unit_test(test_responses_overflow),
      cmocka_unit_test(test_redundant),
      cmocka_unit_test(test_singular),
      cmocka_unit_test(test_slowest),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_random_machines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
