/// What jumps at samples: second order in q, v, v', lambda, psi, x and y across them in every method, also in the first step behind
/// one; h as long as the period; values at samples that satisfy the equations; saved states.
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
#include "alphastep/file.h"
#include "core/driver/integrator.h"

/// A machine with sampled controllers.
typedef struct subject {
  const char *name, *text;
  double period;
  bool soi2;
} subject;

static const subject subjects[] = {
    {"two rods on a ball joint",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0], angular_velocity: [1, -2, "
     "0]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.15], position: [1.5, 0, 0.2]}\n"
     "joints:\n"
     "  shoulder: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  elbow: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: shoulder, force: blocks.u}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 20*(0.5*sin(4*t) - joints.shoulder.angle) - "
     "4*joints.shoulder.angle_rate, period: 0.08}\n",
     0.08, true},
    {"the same on SE(3), pushed beside its axes",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], space: se3, position: [0.5, 0, 0], "
     "angular_velocity: "
     "[1, -2, 0.5]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.15], space: se3, position: [1.5, 0, 0.2]}\n"
     "joints:\n"
     "  shoulder: {type: spherical, bodies: [ground, a], point: [0, 0, 0]}\n"
     "  elbow: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
     "frames:\n"
     "  hand: {body: b, position: [0.3, 0.2, 0.1]}\n"
     "forces:\n"
     "  wind: {type: load, frame: hand, force: [blocks.u, 3*blocks.w, -blocks.u]}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: -10*frames.hand.velocity.x, period: 0.08}\n"
     "  w: {type: sampled, formula: sin(5*t) - frames.hand.position.z, period: 0.16, delay: "
     "0.08}\n",
     0.08, true},
    {"a four-bar held twice",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  crank: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [0, 0, 0.25], angular_velocity: "
     "[0, 3, 0], velocity: [0.75, 0, 0]}\n"
     "  rod: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0.5], velocity: [1.5, 0, 0]}\n"
     "  rocker: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [1, 0, 0.25], angular_velocity: "
     "[0, 3, 0], velocity: [0.75, 0, 0]}\n"
     "joints:\n"
     "  A: {type: revolute, bodies: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  B: {type: revolute, bodies: [crank, rod], point: [0, 0, 0.5], axis: [0, 1, 0]}\n"
     "  C: {type: revolute, bodies: [rod, rocker], point: [1, 0, 0.5], axis: [0, 1, 0]}\n"
     "  D: {type: revolute, bodies: [ground, rocker], point: [1, 0, 0], axis: [0, 1, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: A, force: blocks.u}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 15*(joints.D.angle_rate - 2), period: 0.04}\n",
     0.04, true},
    {"a sleigh on a blade",
     "alphastep: 1\n"
     "bodies:\n"
     "  sleigh: {mass: 1, inertia: [0.2, 0.3, 0.5], center_of_mass: [0.3, 0, 0], velocity: [1, "
     "0.6, 0], "
     "angular_velocity: [0, 0, 2]}\n"
     "joints:\n"
     "  ice: {type: planar, bodies: [ground, sleigh], point: [0, 0, 0], axis: [0, 0, 1], "
     "second_axis: [1, 0, 0]}\n"
     "  blade: {type: skate, bodies: [ground, sleigh], point: [0, 0, 0], normal: [0, 0, 1], "
     "direction: [1, 0, 0]}\n"
     "frames:\n"
     "  nose: {body: sleigh, position: [0.4, 0.1, 0]}\n"
     "forces:\n"
     "  jet: {type: load, frame: nose, force: [blocks.u, -2*blocks.u, 0]}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: cos(6*t) - frames.nose.velocity.y, period: 0.1}\n",
     0.1, true},
    {"an actuator with a lag and an algebraic loop",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}\n"
     "joints:\n"
     "  pin: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: pin, force: blocks.y + blocks.x}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 20*(0.5 - joints.pin.angle), period: 0.08}\n"
     "  x: {type: state, rate: 10*(blocks.u - blocks.x)}\n"
     "  y: {type: signal, formula: 0.5*blocks.u - 0.1*bodies.a.acceleration.z + 0.2*blocks.y}\n",
     0.08, false},
    {"a sleeve that rubs by its reaction",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0], angular_velocity: [0, -2, "
     "0], velocity: [0, 0, 1]}\n"
     "joints:\n"
     "  pin: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: pin, force: blocks.u}\n"
     "  sleeve: {type: joint_friction, joint: pin, coefficient: 0.3, radius: 0.05, "
     "transition_speed: 0.2}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 10 + 20*(0.5*sin(3*t) - joints.pin.angle), period: 0.04}\n",
     0.04, true},
    {"a cart pushed by what an accelerometer and a reaction say",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  cart: {mass: 1, inertia: [0.01, 0.01, 0.01]}\n"
     "  pole: {mass: 0.4, inertia: [0.01, 0.01, 1e-3], position: [0, 0, 0.5]}\n"
     "joints:\n"
     "  rail: {type: prismatic, bodies: [ground, cart], point: [0, 0, -0.1], axis: [1, 0, 0]}\n"
     "  hook: {type: revolute, bodies: [cart, pole], point: [0, 0, 0], axis: [0, 1, 0], start: "
     "{angle: 0.3}}\n"
     "frames:\n"
     "  tip: {body: pole, position: [0, 0, 0.4]}\n"
     "forces:\n"
     "  push: {type: actuator, joint: rail, force: blocks.y}\n"
     "  twist: {type: actuator, joint: hook, force: 0.3*blocks.u + 2*blocks.x}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: \"sin(5*t) - 6*joints.hook.angle - "
     "1.5*joints.hook.angle_rate\", period: 0.04}\n"
     "  a: {type: signal, formula: 0.3*frames.tip.specific_force.x - 0.1*joints.hook.force.x + "
     "0.1*blocks.y}\n"
     "  y: {type: signal, formula: blocks.u*(1 + 0.2*blocks.x) - 0.5*blocks.a - 0.05*blocks.y^3}\n"
     "  x: {type: state, rate: (0.2*bodies.cart.acceleration.x + 0.3*blocks.u - blocks.x)/0.05}\n",
     0.04, false},
    {"a four-bar held twice, its motor with an inductance",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  crank: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [0, 0, 0.25], angular_velocity: "
     "[0, 3, 0], velocity: [0.75, 0, 0]}\n"
     "  rod: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0.5], velocity: [1.5, 0, 0]}\n"
     "  rocker: {mass: 1, inertia: [0.02, 0.02, 0.02], position: [1, 0, 0.25], angular_velocity: "
     "[0, 3, 0], velocity: [0.75, 0, 0]}\n"
     "joints:\n"
     "  A: {type: revolute, bodies: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  B: {type: revolute, bodies: [crank, rod], point: [0, 0, 0.5], axis: [0, 1, 0]}\n"
     "  C: {type: revolute, bodies: [rod, rocker], point: [1, 0, 0.5], axis: [0, 1, 0]}\n"
     "  D: {type: revolute, bodies: [ground, rocker], point: [1, 0, 0], axis: [0, 1, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: A, force: 2*blocks.i + 0.2*blocks.u}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 15*(joints.D.angle_rate - 2), period: 0.04}\n"
     "  i: {type: state, rate: (blocks.u - blocks.i - 0.5*joints.A.angle_rate + "
     "0.02*bodies.rod.acceleration.x)/0.05}\n",
     0.04, false},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static as_machine *load(const subject *x) {
  as_machine *machine = NULL;
  as_messages *messages = malloc(sizeof *messages);
  if (as_machine_parse(x->text, strlen(x->text), x->name, NULL, 0, &machine, messages))
    fail_msg("%s", messages->message[0].text);
  free(messages);
  return machine;
}

/// An event that never happens, and is looked for with complete states inside steps.
static int never(const as_state *at, double *value, void *user) {
  (void)user;
  *value = isfinite(at->vdot[0]) ? 1.0 : 0.0;
  return AS_DONE;
}

static as_integrator *begin_watched(const as_machine *machine, as_method method, double h,
                                    bool watched) {
  static const as_event_def event = {.value = never};
  as_integrator_def def = as_default_integrator_def();
  as_integrator *s = NULL;
  as_error error;
  def.method = method;
  def.step = h;
  if (watched) def.events = &event;
  def.n_events = watched;
  if (!isnan(h)) def.newton.rtol = 1e-11;
  if (as_integrator_create(as_model_problem(machine->model), &def, &s, &error) ||
      as_integrator_start(s, as_model_initial(machine->model), NULL, &error))
    fail_msg("%s", error.message);
  return s;
}

static as_integrator *begin(const as_machine *machine, as_method method, double h) {
  return begin_watched(machine, method, h, false);
}

static void advance(as_integrator *s, double t) {
  as_error error;
  if (as_integrator_advance(s, t, &error)) fail_msg("%s", error.message);
}

// ---- order --------------------------------------------------------------------------------------------

enum { KINDS = 7, MOST = 64 };
static const char *const kinds[KINDS] = {"q", "v", "v'", "lambda", "psi", "x", "y"};

/// The parts of a state.
typedef struct values {
  int n[KINDS];
  double x[KINDS][MOST];
} values;

static void take(const as_integrator *s, values *out) {
  const as_problem *p = s->kin.problem;
  const as_state *at = as_integrator_state(s);
  const double *const from[KINDS] = {at->q, at->v, at->vdot, at->lambda, at->psi, at->x, at->y};
  const int n[KINDS] = {p->nq, p->n, p->n, p->def.n_lambda, p->def.n_psi, p->def.n_x, p->def.n_y};
  for (int k = 0; k < KINDS; ++k) {
    assert_true(n[k] <= MOST);
    out->n[k] = n[k];
    if (n[k] > 0) memcpy(out->x[k], from[k], (size_t)n[k] * sizeof(double));
  }
}

static double distance(const values *a, const values *b, int kind) {
  double sum = 0.0;
  for (int i = 0; i < a->n[kind]; ++i) sum = fmax(sum, fabs(a->x[kind][i] - b->x[kind][i]));
  return sum;
}

static double size_of(const values *a, int kind) {
  double most = 0.0;
  for (int i = 0; i < a->n[kind]; ++i) most = fmax(most, fabs(a->x[kind][i]));
  return most;
}

enum { SAMPLES = 5 };

/// At a sample, behind it, and at the end of the first step behind it and of the second: step h = period/n, the end at
/// SAMPLES periods and up to two steps of period/m later.
static void run(const subject *x, const as_machine *machine, as_method method, int n, int m,
                values out[3]) {
  as_integrator *s = begin(machine, method, x->period / n);
  for (int k = 0; k < 3; ++k) {
    advance(s, SAMPLES * x->period + k * x->period / m);
    take(s, &out[k]);
  }
  as_integrator_destroy(s);
}

/// What is left at step period/n against a reference that is far finer, at the same times.
static void errors(const subject *x, const as_machine *machine, as_method method, int n,
                   double out[3][KINDS]) {
  values at[3], fine[3];
  run(x, machine, method, n, n, at);
  run(x, machine, AS_METHOD_INDEX2, 1024, n, fine);
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < KINDS; ++i)
      out[k][i] = distance(&at[k], &fine[k], i) / fmax(size_of(&fine[k], i), 1e-3);
}

/// Errors fall by 4 with each halving, from 32 steps in a period on; a first-order part of 0.5 % of what jumps would show.
static void test_order(void **state) {
  (void)state;
  static const char *const names[] = {"index-3", "index-2", "SOI2"};
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  static const char *const places[3] = {"at a sample", "one step behind", "two steps behind"};
  for (int i = 0; i < SUBJECTS; ++i) {
    const subject *x = &subjects[i];
    as_machine *machine = load(x);
    for (int m = 0; m < (x->soi2 ? 3 : 2); ++m) {
      double coarse[3][KINDS], fine[3][KINDS];
      errors(x, machine, methods[m], 32, coarse);
      errors(x, machine, methods[m], 64, fine);
      for (int p = 0; p < 3; ++p) {
        printf("%s, %s, %s:", x->name, names[m], places[p]);
        for (int k = 0; k < KINDS; ++k) {
          if (coarse[p][k] == 0.0) continue;
          const double order = log2(coarse[p][k] / fine[p][k]);
          printf(" %s %.1e %.2f", kinds[k], fine[p][k], order);
        }
        printf("\n");
      }
      for (int p = 0; p < 3; ++p)
        for (int k = 0; k < KINDS; ++k)
          if (fine[p][k] > 1e-9 && !(log2(coarse[p][k] / fine[p][k]) > 1.8))
            fail_msg("%s, %s, %s: order %.2f in %s", x->name, names[m], places[p],
                     log2(coarse[p][k] / fine[p][k]), kinds[k]);
    }
    as_machine_destroy(machine);
  }
}

/// One step in a period, and then two and four: the jump is in every step, and the method stays stable and of second order.
static void test_whole_period(void **state) {
  (void)state;
  static const char *const names[] = {"index-3", "index-2"};
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int i = 0; i < SUBJECTS; ++i) {
    subject x = subjects[i];
    as_machine *machine = load(&x);
    for (int m = 0; m < 2; ++m) {
      double at[3][3][KINDS];
      for (int k = 0; k < 3; ++k) errors(&x, machine, methods[m], 1 << k, at[k]);
      for (int k = 0; k < KINDS; ++k) {
        if (at[0][0][k] == 0.0) continue;
        printf("%s, %s, %s: %.2e %.2e %.2e\n", x.name, names[m], kinds[k], at[0][0][k], at[1][0][k],
               at[2][0][k]);
        assert_true(at[2][0][k] < 0.5 * at[0][0][k]);
      }
    }
    as_machine_destroy(machine);
  }
}

/// What jumps.
enum { JUMPS = 5 };
static const char *const jumps[JUMPS] = {"v'", "lambda", "psi", "x'", "y"};

typedef struct jump_values {
  double x[JUMPS][MOST];
} jump_values;

static void sizes(const as_problem *p, int n[JUMPS]) {
  n[0] = p->n, n[1] = p->def.n_lambda, n[2] = p->def.n_psi, n[3] = p->def.n_x, n[4] = p->def.n_y;
}

static void copy(const as_problem *p, const asi_values *at, jump_values *out) {
  const double *const from[JUMPS] = {at->vdot, at->lambda, at->psi, at->xdot, at->y};
  int n[JUMPS];
  sizes(p, n);
  for (int k = 0; k < JUMPS; ++k)
    if (n[k] > 0) memcpy(out->x[k], from[k], (size_t)n[k] * sizeof(double));
}

/// They as [ST.4] and [ST.8] have them where `s` is, with these held signals.
static void solve_anew(as_integrator *s, as_integrator *scratch, const double *u,
                       jump_values *out) {
  const as_problem *p = s->kin.problem;
  const asi_values *at = &scratch->stepper.next;
  asi_copy_values(p, &s->stepper.now, at);
  memcpy(scratch->kin.eval.u, u, (size_t)p->def.n_u * sizeof(double));
  assert_int_equal(asi_solve_acceleration(&scratch->kin, s->stepper.t, at, 0), AS_OK);
  copy(p, at, out);
}

/// What jumps at a sample is the difference of two solutions of [ST.4] and [ST.8], with and without the change of u: to Newton's tolerance, or, where
/// [SA.7] is solved, to 1e-6, and what forces that are not linear in multipliers make of those being off by O(h^2).
static void test_jumps(void **state) {
  (void)state;
  for (int i = 0; i < SUBJECTS; ++i) {
    const subject *x = &subjects[i];
    as_machine *machine = load(x);
    as_integrator *s = begin(machine, AS_METHOD_INDEX2, x->period / 8);
    as_integrator *scratch = begin(machine, AS_METHOD_INDEX2, x->period / 8);
    advance(s, SAMPLES * x->period);
    assert_true(s->stepper.last.jumped);
    assert_false(s->stepper.first); // steps go on
    jump_values before, after, now, old;
    solve_anew(s, scratch, s->stepper.last.u, &before);
    solve_anew(s, scratch, s->kin.eval.u, &after);
    copy(s->kin.problem, &s->stepper.now, &now);
    copy(s->kin.problem, &s->stepper.last.to, &old);
    int n[JUMPS];
    sizes(s->kin.problem, n);
    for (int k = 0; k < JUMPS; ++k) {
      double off = 0.0, jump = 0.0, size = 0.0;
      for (int j = 0; j < n[k]; ++j) {
        const double wanted = after.x[k][j] - before.x[k][j];
        size = fmax(size, fabs(after.x[k][j]));
        jump = fmax(jump, fabs(wanted));
        off = fmax(off, fabs(now.x[k][j] - old.x[k][j] - wanted));
      }
      if (jump == 0.0) continue;
      printf("%s: %s jumps by %.3g, off by %.1e\n", x->name, jumps[k], jump, off);
      assert_true(jump > 1e-3 * size);
      assert_true(off < 1e-8 * size + 1e-5 * jump);
    }
    as_integrator_destroy(s);
    as_integrator_destroy(scratch);
    as_machine_destroy(machine);
  }
}

/// A point that nothing but a sampled force pushes: behind a jump all that is remembered of steps is as if the new force had always been there,
/// means of v on the straight line through the velocity of now, and v' of earlier steps that of now.
static void test_memory(void **state) {
  (void)state;
  static const subject push = {
      "a push",
      "alphastep: 1\n"
      "bodies: {a: {type: point, mass: 2, velocity: [3, 0, 0]}}\n"
      "forces: {wind: {type: load, body: a, force: [blocks.u, 0, 2*blocks.u]}}\n"
      "blocks: {u: {type: sampled, formula: \"floor(9*sin(700*t))\", period: 4e-3}}\n",
      4e-3, false};
  as_machine *machine = load(&push);
  for (int m = 0; m < 2; ++m) {
    as_integrator *s = begin(machine, m == 0 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3, 1e-3);
    const asi_stepper *x = &s->stepper;
    int seen = 0;
    for (int k = 1; k <= 50; ++k) {
      advance(s, k * 4e-3);
      if (!x->last.jumped || k < 3) continue;
      assert_true(x->path.count > 1 && x->predictor.count > 1);
      double back = 0.0;
      for (int i = 0; i < x->path.count; ++i) {
        for (int j = 0; j < 3; ++j)
          assert_true(fabs(x->path.mean[i][j] - x->now.v[j] +
                           (back + 0.5 * x->path.h[i]) * x->now.vdot[j]) < 1e-12);
        back += x->path.h[i];
      }
      for (int i = 0; i < x->predictor.count; ++i)
        for (int j = 0; j < 3; ++j) assert_true(fabs(x->predictor.z[i][j] - x->now.vdot[j]) < 1e-9);
      ++seen;
    }
    assert_true(seen > 20);
    as_integrator_destroy(s);
  }
  as_machine_destroy(machine);
}

// ---- stiff springs, factors that steps do not keep ------------------------------------------------------

/// Behind a sample the spring is where it will be long before the first step ends.
static const subject stiff[] = {
    {"two links, a stiff damped spring between them",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.1], position: [1.2, 0, 0]}\n"
     "joints:\n"
     "  pin: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  elbow: {type: revolute, bodies: [a, b], point: [1, 0, 0], axis: [0, 1, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: pin, force: 20*blocks.u}\n"
     "  flex: {type: torsion, bodies: [a, b], axis: [0, 1, 0], stiffness: 1e6, damping: 1000}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: sin(6*t) + 0.5 - joints.pin.angle_rate, period: 0.04}\n",
     0.04, false},
    {"the same, with what an accelerometer says in the torque",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.1], position: [1.2, 0, 0]}\n"
     "joints:\n"
     "  pin: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  elbow: {type: revolute, bodies: [a, b], point: [1, 0, 0], axis: [0, 1, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: pin, force: 20*blocks.u + 0.5*blocks.y}\n"
     "  flex: {type: torsion, bodies: [a, b], axis: [0, 1, 0], stiffness: 1e6, damping: 1000}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: sin(6*t) + 0.5 - joints.pin.angle_rate, period: 0.04}\n"
     "  y: {type: signal, formula: -bodies.b.acceleration.z}\n",
     0.04, false}};

/// [SA.9] Steps go on. v' and lambda at the sample are those of the force there; behind it v' is off by a quarter of what it is with a start at each
/// sample (the second machine: by a thirtieth, and q and v by half).
static void test_stiff(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  static const char *const names[] = {"index-3", "index-2"};
  /// q, v, v' and lambda, at the sample and behind it.
  static const double most[2][2][4] = {{{5e-7, 1e-5, 2e-5, 2e-5}, {5e-7, 1e-4, 3e-2, 1.5e-3}},
                                       {{6e-5, 7e-5, 5e-4, 1e-4}, {6e-5, 7e-5, 3e-2, 1e-3}}};
  for (int i = 0; i < 2; ++i) {
    as_machine *machine = load(&stiff[i]);
    for (int m = 0; m < 2; ++m) {
      values at[3], fine[3];
      as_integrator *s = begin(machine, methods[m], stiff[i].period / 32);
      advance(s, SAMPLES * stiff[i].period);
      assert_true(s->stepper.last.jumped && s->stepper.jump.calm && !s->stepper.first);
      as_integrator_destroy(s);
      run(&stiff[i], machine, methods[m], 32, 32, at);
      run(&stiff[i], machine, AS_METHOD_INDEX2, 1024, 32, fine);
      for (int place = 0; place < 3; ++place)
        for (int k = 0; k < 4; ++k) {
          const double off = distance(&at[place], &fine[place], k) / size_of(&fine[place], k);
          if (!(off < most[i][place > 0][k]))
            fail_msg("%s, %s, %d steps behind: %s is off by %.2g", stiff[i].name, names[m], place,
                     kinds[k], off);
        }
    }
    as_machine_destroy(machine);
  }
}

/// Steps that make their factors anew keep the last ones for jumps.
static void test_without_reuse(void **state) {
  (void)state;
  for (int i = 0; i < SUBJECTS; ++i) {
    const subject *x = &subjects[i];
    as_machine *machine = load(x);
    as_integrator_def def = as_default_integrator_def();
    as_integrator *s = NULL;
    as_error error;
    values at, usual[3];
    def.step = x->period / 16;
    def.newton.rtol = 1e-11;
    def.newton.reuse = false;
    if (as_integrator_create(as_model_problem(machine->model), &def, &s, &error) ||
        as_integrator_start(s, as_model_initial(machine->model), NULL, &error))
      fail_msg("%s", error.message);
    advance(s, SAMPLES * x->period);
    assert_false(s->stepper.first);
    take(s, &at);
    run(x, machine, AS_METHOD_INDEX2, 16, 16, usual);
    for (int k = 0; k < KINDS; ++k) {
      const double off = distance(&at, &usual[0], k), size = size_of(&usual[0], k);
      if (!(off <= 1e-6 * fmax(size, 1e-3)))
        fail_msg("%s: %s is off by %.2g of %.2g", x->name, kinds[k], off, size);
    }
    as_integrator_destroy(s);
    as_machine_destroy(machine);
  }
}

/// Factors of jumps are theirs: looking for an event with complete states does not change a bit.
static void test_watched(void **state) {
  (void)state;
  for (int i = 0; i < SUBJECTS; ++i) {
    const subject *x = &subjects[i];
    as_machine *machine = load(x);
    values at[2];
    for (int watched = 0; watched < 2; ++watched) {
      as_integrator *s = begin_watched(machine, AS_METHOD_INDEX2, x->period / 4, watched);
      advance(s, SAMPLES * x->period);
      take(s, &at[watched]);
      as_integrator_destroy(s);
    }
    for (int k = 0; k < KINDS; ++k)
      if (distance(&at[0], &at[1], k) != 0.0)
        fail_msg("%s: %s differs by %.2g", x->name, kinds[k], distance(&at[0], &at[1], k));
    as_machine_destroy(machine);
  }
}

// ---- responses ----------------------------------------------------------------------------------------

/// The first machines, sampled with 1 kHz; the second force of the second one changes now and then, beside the first one.
static const subject fast[] = {
    {"two rods on a ball joint, 1 kHz",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0], angular_velocity: [1, -2, "
     "0]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.15], position: [1.5, 0, 0.2]}\n"
     "joints:\n"
     "  shoulder: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  elbow: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: shoulder, force: blocks.u}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 20*(0.5*sin(4*t) - joints.shoulder.angle) - "
     "4*joints.shoulder.angle_rate, period: 1e-3}\n",
     1e-3, true},
    {"two rods pushed from two sides, 1 kHz",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], space: se3, position: [0.5, 0, 0], "
     "angular_velocity: [1, -2, 0.5]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.15], space: se3, position: [1.5, 0, 0.2]}\n"
     "joints:\n"
     "  shoulder: {type: spherical, bodies: [ground, a], point: [0, 0, 0]}\n"
     "  elbow: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
     "frames:\n"
     "  hand: {body: b, position: [0.3, 0.2, 0.1]}\n"
     "forces:\n"
     "  wind: {type: load, frame: hand, force: [blocks.u, blocks.w, -blocks.u]}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: 5*sin(20*t) - 3*frames.hand.velocity.x, period: 1e-3}\n"
     "  w: {type: sampled, formula: \"0.01*floor(20*frames.hand.position.z)\", period: 1e-3}\n",
     1e-3, true},
    {"two fast rods, a motor that holds its torque for 150 ms",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  a: {mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0], angular_velocity: [0, -12, "
     "0]}\n"
     "  b: {mass: 1, inertia: [0.05, 0.1, 0.15], position: [1.5, 0, 0.2]}\n"
     "joints:\n"
     "  shoulder: {type: revolute, bodies: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}\n"
     "  elbow: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
     "forces:\n"
     "  motor: {type: actuator, joint: shoulder, force: blocks.u}\n"
     "blocks:\n"
     "  u: {type: sampled, formula: \"20*sin(30*min(t, 0.1)) + 3*floor(4*t + 1e-6)\", period: "
     "1e-3}\n",
     1e-3, true},
};

/// Jumps that are not solved for are those of [SA.3] to 1e-4 of what jumps, wherever the force points and however long it was constant, and many
/// are not, where it changes at each sample.
static void test_responses(void **state) {
  (void)state;
  for (int i = 0; i < 3; ++i) {
    as_machine *machine = load(&fast[i]);
    const bool always = i < 2;
    for (int m = 0; m < 2; ++m) {
      const as_method method = m == 0 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
      as_integrator *s = begin(machine, method, 1e-3), *scratch = begin(machine, method, 1e-3);
      int without = 0;
      double worst = 0.0;
      for (int k = 1; k <= 300; ++k) {
        const asi_response *r = &s->stepper.jump.response;
        jump_values before, after;
        advance(s, k * 1e-3);
        assert_true(s->stepper.last.jumped || !always);
        if (!s->stepper.last.jumped) continue;
        without += r->change.count > 0 && r->change.t[0] < s->stepper.t;
        solve_anew(s, scratch, s->stepper.last.u, &before);
        solve_anew(s, scratch, s->kin.eval.u, &after);
        double off = 0.0, jump = 0.0, size = 0.0;
        for (int j = 0; j < s->kin.problem->n; ++j) {
          const double wanted = after.x[0][j] - before.x[0][j];
          size = fmax(size, fabs(after.x[0][j]));
          jump = fmax(jump, fabs(wanted));
          off = fmax(off, fabs(s->stepper.now.vdot[j] - s->stepper.last.to.vdot[j] - wanted));
        }
        const bool started = k > 2; // not as a start
        if (started && off > 1e-9 * size) worst = fmax(worst, off / jump);
      }
      printf("%s, %s: %d of 300 jumps without a solution, off by %.1e\n", fast[i].name,
             m == 0 ? "index-2" : "index-3", without, worst);
      assert_true(without > 100 || !always);
      assert_true(worst < 1e-4);
      as_integrator_destroy(s);
      as_integrator_destroy(scratch);
    }
    as_machine_destroy(machine);
  }
}

/// `s` saved and taken up goes on in the same bits.
static void must_go_on(as_integrator *s, as_integrator *other, double end) {
  as_error error;
  size_t size = 0;
  assert_int_equal(as_integrator_save(s, NULL, &size, &error), AS_OK);
  void *bytes = malloc(size);
  assert_non_null(bytes);
  assert_int_equal(as_integrator_save(s, bytes, &size, &error), AS_OK);
  assert_int_equal(as_integrator_load(other, bytes, size, &error), AS_OK);
  advance(s, end);
  advance(other, end);
  values a, b;
  take(s, &a);
  take(other, &b);
  for (int kind = 0; kind < KINDS; ++kind) assert_true(distance(&a, &b, kind) == 0.0);
  free(bytes);
  as_integrator_destroy(other);
}

/// A run that is taken up where a jump has not been solved for.
static void test_saved_responses(void **state) {
  (void)state;
  as_machine *machine = load(&fast[0]);
  as_integrator *s = begin(machine, AS_METHOD_INDEX2, 1e-3);
  const asi_response *r = &s->stepper.jump.response;
  int k = 50;
  for (advance(s, 0.05);
       k < 200 && (!(r->change.until > s->stepper.t) || r->change.t[0] == s->stepper.t); ++k)
    advance(s, k * 1e-3);
  assert_true(k < 200);
  must_go_on(s, begin(machine, AS_METHOD_INDEX2, 1e-3), 0.3);
  as_integrator_destroy(s);
  as_machine_destroy(machine);
}

/// Runs that are taken up at samples, where factors of [SA.7] are kept, and between them, with events that are looked for, too; NAN: automatic
/// steps.
static void test_saved_jumps(void **state) {
  (void)state;
  for (int i = 0; i < SUBJECTS + 2; ++i) {
    const subject *x = i < SUBJECTS ? &subjects[i] : &stiff[i - SUBJECTS];
    as_machine *machine = load(x);
    for (int k = 0; k < 8; ++k) {
      const as_method method = k % 2 == 0 ? AS_METHOD_INDEX2 : AS_METHOD_INDEX3;
      const double step = k % 4 < 2 ? x->period / 8 : (double)NAN;
      as_integrator *s = begin_watched(machine, method, step, k >= 4);
      advance(s, (SAMPLES + 0.2 * k) * x->period);
      must_go_on(s, begin_watched(machine, method, step, k >= 4), (SAMPLES + 3) * x->period);
      as_integrator_destroy(s);
    }
    as_machine_destroy(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),         cmocka_unit_test(test_whole_period),
      cmocka_unit_test(test_jumps),         cmocka_unit_test(test_memory),
      cmocka_unit_test(test_responses),     cmocka_unit_test(test_saved_responses),
      cmocka_unit_test(test_saved_jumps),   cmocka_unit_test(test_stiff),
      cmocka_unit_test(test_without_reuse), cmocka_unit_test(test_watched)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
