/// States between steps: accelerations, multipliers and outputs belong to the time that is shown, constraints hold there,
/// and rows of a run say so.
///
/// A block on a guide, pushed across it by 100 sin(2 pi t) N, does not move: automatic steps are as long as seconds, and the
/// reaction does what it likes in between. Other problems have exact solutions: what is shown inside steps has to be about as
/// good as their ends.
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
#include "problems/loops.h"
#include "rig.h"
#include "subject.h"

static const double pi = 3.14159265358979323846;
static const char *const names[] = {"index-3", "index-2", "SOI2"};
static const double tolerances[] = {3e-2, 6.5e-3, 3e-4, 1.4e-5};

// ---- a guide ----------------------------------------------------------------------------------------

/// How the push goes: amplitude [N] times sin(omega t + phase).
typedef struct push {
  double amplitude, omega, phase;
} push;

static double push_at(const push *p, double t) {
  return p->amplitude * sin(p->omega * t + p->phase);
}

static int block_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 2; ++i) as_matrix_add(m, i, i, 2.0);
  return AS_DONE;
}

static int block_force(const as_point *at, double *f, void *user) {
  f[0] = 0.0;
  f[1] = push_at(user, at->t);
  return AS_DONE;
}

static int block_guide(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[1];
  return AS_DONE;
}

/// An output that follows the reaction.
static int block_output(const as_point *at, double *y, void *user) {
  (void)user;
  y[0] = 3.0 * at->lambda[0];
  return AS_DONE;
}

static as_problem_def block(push *p, bool output) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = block_mass;
  def.force = block_force;
  def.constraint = block_guide;
  if (output) def.n_y = 1, def.output = block_output;
  def.user = p;
  return def;
}

static void test_guide(void **state) {
  (void)state;
  static const double q[2] = {0.0, 0.0};
  push p = {100.0, 2.0 * pi, 0.3};
  for (int output = 0; output < 2; ++output)
    for (int m = 0; m < (output ? 2 : 3); ++m)
      for (int k = 0; k < 4; ++k) {
        const as_problem_def def = block(&p, output);
        as_integrator_def how = rig_how(rig_methods[m], (double)NAN, NULL, 0);
        how.tolerance.rtol = tolerances[k];
        rig r = rig_make(&def, &how, &(as_initial){.q = q});
        as_statistics work;
        as_error error;
        for (int i = 1; i <= 500; ++i) {
          const as_state *s = rig_advance(&r, 0.01 * i);
          const double exact = push_at(&p, s->t);
          assert_near("reaction", s->lambda[0], exact, 1e-6);
          assert_near("acceleration", s->vdot[1], 0.0, 1e-6);
          if (output) assert_near("output", s->y[0], 3.0 * exact, 1e-5);
        }
        must(as_integrator_statistics(r.integrator, &work, &error), &error);
        assert_true(work.steps < 50); // so long are they
        rig_free(&r);
      }
}

static void test_straight_lines(void **state) {
  (void)state;
  static const double q[2] = {0.0, 0.0};
  push p = {100.0, 2.0 * pi, 0.3};
  const as_problem_def def = block(&p, false);
  as_integrator_def how = rig_how(AS_METHOD_INDEX2, (double)NAN, NULL, 0);
  how.straight_lines = true;
  rig r = rig_make(&def, &how, &(as_initial){.q = q});
  double worst = 0.0;
  for (int i = 1; i <= 500; ++i) {
    const as_state *s = rig_advance(&r, 0.01 * i);
    worst = fmax(worst, fabs(s->lambda[0] - push_at(&p, s->t)));
  }
  assert_true(worst > 10.0); // as is asked for
  rig_free(&r);
}

// ---- an event that reads a reaction -----------------------------------------------------------------

static int above_fifty(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->lambda[0] - 50.0;
  return AS_DONE;
}

/// 100 sin(2 pi t/20) reaches 50 at 20/12 s, in the middle of a long step.
static void test_event(void **state) {
  (void)state;
  static const double q[2] = {0.0, 0.0};
  for (int m = 0; m < 3; ++m) {
    push p = {100.0, 2.0 * pi / 20.0, 0.0};
    const as_event_def event = {.name = "fifty", .value = above_fifty, .direction = 1};
    const as_problem_def def = block(&p, false);
    as_integrator_def how = rig_how(rig_methods[m], (double)NAN, &event, 1);
    how.tolerance.first_step = 3.0;
    rig r = rig_make(&def, &how, &(as_initial){.q = q});
    const as_state *s = rig_advance_to(&r, 5.0, AS_STOPPED);
    assert_near("time", s->t, 20.0 / 12.0, 1e-8);
    assert_near("reaction", s->lambda[0], 50.0, 1e-6);
    rig_free(&r);
  }
}

// ---- other problems -----------------------------------------------------------------------------------

enum { MAX_SUBJECTS = 16 };

static int list_subjects(subject *x) {
  static manufactured made[] = {
      {.space = AS_SPACE_RN, .holonomic = true, .nonholonomic = true, .states = true},
      {.space = AS_SPACE_R3SO3, .holonomic = true, .nonholonomic = true, .general = true},
      {.space = AS_SPACE_SE3, .holonomic = true, .moving = true, .mass_varies = true},
      {.space = AS_SPACE_SE3, .holonomic = true, .nonholonomic = true, .states = true},
  };
  int n = 0;
  x[n++] = subject_made("made on R^4", &made[0]);
  x[n++] = subject_made("made on R^3xSO(3)", &made[1]);
  x[n++] = subject_made("made on SE(3)", &made[2]);
  x[n++] = subject_made("made on SE(3), states", &made[3]);
  x[n++] = subject_plain(problem_pendulum());
  x[n++] = subject_plain(problem_heavy_top_slow());
  x[n++] = subject_rolling(nonholonomic_disk());
  x[n++] = subject_mechatronic(mechatronic_cart_pole());
  x[n++] = subject_mechatronic(mechatronic_wheel_top());
  const double interval[] = {1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 1.0, 0.5, 0.5};
  for (int i = 0; i < n; ++i) x[i].t_end = x[i].t0 + interval[i];
  return n;
}

/// The largest errors at the ends of automatic steps, and at places inside.
static void drive(const subject *x, as_integrator_def how, double *ends, double *inside) {
  static const double thetas[] = {0.15, 0.5, 0.8};
  run r = run_start(x, &how);
  const as_state *s = as_integrator_state(r.integrator);
  while (s->t < x->t_end) {
    as_error error = {0};
    const double t0 = s->t;
    must(as_integrator_next(r.integrator, &error), &error);
    const double t1 = s->t;
    for (int k = 0; k <= 3; ++k) {
      double sums[SUBJECT_VARIABLES] = {0};
      must(as_integrator_interpolate(r.integrator, k < 3 ? t0 + thetas[k] * (t1 - t0) : t1, &error),
           &error);
      subject_add_errors(x, as_problem_space(r.problem), s, sums);
      for (int i = 0; i < SUBJECT_VARIABLES; ++i) {
        double *const worst = k < 3 ? &inside[i] : &ends[i];
        *worst = fmax(*worst, sqrt(sums[i]));
      }
    }
  }
  run_close(&r);
}

/// Inside long steps v', lambda, psi and y are as good as at their ends; by straight lines they are up to 4.5 times worse.
static void test_as_good_as_ends(void **state) {
  (void)state;
  static const int variables[] = {SUBJECT_VDOT, SUBJECT_LAMBDA, SUBJECT_PSI, SUBJECT_XDOT,
                                  SUBJECT_Y};
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  int failures = 0;
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 3; ++k) {
        if (rig_methods[m] == AS_METHOD_SOI2 && x[i].def.n_x + x[i].def.n_y > 0) continue;
        as_integrator_def how = rig_how(rig_methods[m], (double)NAN, NULL, 0);
        how.tolerance.rtol = tolerances[k];
        double ends[SUBJECT_VARIABLES] = {0}, inside[SUBJECT_VARIABLES] = {0};
        drive(&x[i], how, ends, inside);
        for (int j = 0; j < 5; ++j) {
          const int v = variables[j];
          if (!subject_has(&x[i], v) || inside[v] <= 2.0 * ends[v]) continue;
          print_error("%s, %s, rtol %.0e: %s off by %.2e inside steps, %.2e at their ends\n",
                      x[i].name, names[m], tolerances[k], subject_variable_names[v], inside[v],
                      ends[v]);
          ++failures;
        }
      }
  assert_int_equal(failures, 0);
}

/// Constraints hold inside steps, at the level of positions and of velocities.
static void test_constraints(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (rig_methods[m] == AS_METHOD_SOI2 && x[i].def.n_x + x[i].def.n_y > 0) continue;
      as_integrator_def how = rig_how(rig_methods[m], (double)NAN, NULL, 0);
      run r = run_start(&x[i], &how);
      for (int k = 1; k <= 20; ++k) {
        as_error error = {0};
        double now[2];
        const double t = x[i].t0 + k * (x[i].t_end - x[i].t0) / 20.37;
        must(as_integrator_advance(r.integrator, t, &error), &error);
        must(as_integrator_drift(r.integrator, &now[0], &now[1], &error), &error);
        assert_near(x[i].name, now[0], 0.0, 1e-12);
        if (rig_methods[m] != AS_METHOD_INDEX3) assert_near("g'", now[1], 0.0, 1e-11);
      }
      run_close(&r);
    }
}

/// Rows that say the same share the force evenly, at any time.
static void test_redundant(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) {
      test_problem *twice = loops_pendulum_twice();
      as_integrator_def how = rig_how(rig_methods[m], (double)NAN, NULL, 0);
      how.tolerance.rtol = tolerances[k];
      rig r = rig_make(&twice->def, &how, &(as_initial){.q = twice->q0, .v = twice->v0});
      for (int i = 1; i <= 100; ++i) {
        const as_state *s = rig_advance(&r, 0.01234 * i);
        assert_near("share", s->lambda[0] / s->lambda[1], 3.0, 1e-5);
      }
      rig_free(&r);
      loops_free(twice);
    }
}

/// The same for rows of velocities.
static int block_rates(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[1];
  out[1] = 3.0 * at->v[1];
  return AS_DONE;
}

static void test_redundant_rates(void **state) {
  (void)state;
  push p = {100.0, 0.7, 0.3};
  for (int m = 0; m < 3; ++m) {
    as_problem_def def = block(&p, false);
    def.n_lambda = 0;
    def.n_psi = 2;
    def.constraint = NULL;
    def.nonholonomic = block_rates;
    const as_integrator_def how = rig_how(rig_methods[m], (double)NAN, NULL, 0);
    rig r = rig_make(&def, &how, &(as_initial){.q = (double[]){0.0, 0.0}});
    for (int i = 1; i <= 50; ++i) {
      const as_state *s = rig_advance(&r, 0.1234 * i);
      assert_near("first", s->psi[0], push_at(&p, s->t) / 2.0, 1e-4);
      assert_near("second", s->psi[1], push_at(&p, s->t) / 6.0, 1e-4);
    }
    rig_free(&r);
  }
}

// ---- beside a stiff spring ------------------------------------------------------------------------------

// A mass on a spring that no step resolves swings like a pendulum, T = 3 m g (-y)/l; beside it is the block on its guide.

static const double stiffness = 1e9, length = 1.5, gravity = 9.81;

static int both_masses(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 4; ++i) as_matrix_add(m, i, i, 2.0);
  return AS_DONE;
}

static double tension(const double *q) { return stiffness * (hypot(q[0], q[1]) - length); }

static int both_forces(const as_point *at, double *f, void *user) {
  const double r = hypot(at->q[0], at->q[1]), pull = tension(at->q);
  f[0] = -pull * at->q[0] / r;
  f[1] = -pull * at->q[1] / r - 2.0 * gravity;
  f[2] = 0.0;
  f[3] = push_at(user, at->t);
  return AS_DONE;
}

static int both_guide(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[3];
  return AS_DONE;
}

/// A state that decays, and an output that nobody reads, large beside all else.
static int both_rates(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -at->x[0];
  return AS_DONE;
}

static int both_outputs(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 1e6 * (2.0 + at->x[0]);
  return AS_DONE;
}

static int pendulum_force(const as_point *at, double *f, void *user) {
  double all[4];
  const as_point in_four = {.t = at->t, .q = (double[]){at->q[0], at->q[1], 0.0, 0.0}};
  const int code = both_forces(&in_four, all, user);
  memcpy(f, all, 2 * sizeof f[0]);
  return code;
}

static void test_beside_a_stiff_spring(void **state) {
  (void)state;
  static const as_space_part four = {AS_SPACE_RN, 4}, two = {AS_SPACE_RN, 2};
  static const double q[4] = {1.5, 0.0, 0.0, 0.0}, x = 1.0;
  push p = {100.0, 40.0 * pi, 0.3}; // several times a step
  for (int i = 0; i < 5; ++i) {
    const bool states = i > 2; // instead of the block; not with SOI2, which is the last method
    as_problem_def def = block(&p, false);
    def.parts = states ? &two : &four;
    def.mass = states ? block_mass : both_masses;
    def.force = states ? pendulum_force : both_forces;
    def.constraint = states ? NULL : both_guide;
    if (states) {
      def.n_lambda = 0;
      def.n_x = def.n_y = 1;
      def.state_rate = both_rates;
      def.output = both_outputs;
    }
    as_integrator_def how = rig_how(rig_methods[i % 3], (double)NAN, NULL, 0);
    how.tolerance.rtol = 1e-5;
    rig r = rig_make(&def, &how, &(as_initial){.q = q, .x = states ? &x : NULL});
    for (int k = 1; k <= 300; ++k) {
      const as_state *s = rig_advance(&r, 0.00617 * k);
      if (states) assert_near("output", s->y[0], 1e6 * (2.0 + exp(-s->t)), 100.0);
      if (!states) assert_near("reaction", s->lambda[0], push_at(&p, s->t), 1e-5);
      assert_near("tension", tension(s->q), -6.0 * gravity * s->q[1] / length, 0.05);
    }
    rig_free(&r);
  }
}

// ---- rows of a run --------------------------------------------------------------------------------------

static const char guide_text[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  block: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
    "  arm: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}\n"
    "joints:\n"
    "  guide: {type: prismatic, bodies: [ground, block], point: [0, 0, 0], axis: [1, 0, 0]}\n"
    "  hinge: {type: revolute, bodies: [ground, arm], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  push: {type: load, body: block, force: [0, \"100*sin(2*pi*t)\", 0]}\n"
    "  pull: {type: load, body: arm, force: [0, 2, 0]}\n";

typedef struct seen {
  double reaction, gap, drift; ///< the largest ones; of gaps what is beyond drift
  long rows;
} seen;

/// Channels: reaction, position of the arm, drift.
static as_status look(double t, const double *row, int n, void *user, as_error *error) {
  seen *s = user;
  (void)n, (void)error;
  s->reaction = fmax(s->reaction, fabs(row[0] + 100.0 * sin(2.0 * pi * t)));
  const double gap = fabs(hypot(row[1], row[2]) - 1.0);
  s->gap = fmax(s->gap, gap - row[3]);
  s->drift = fmax(s->drift, row[3]);
  ++s->rows;
  return AS_OK;
}

static void test_rows(void **state) {
  (void)state;
  static const char *const channels[] = {"joints.guide.force.y", "bodies.arm.position.x",
                                         "bodies.arm.position.y", "drift.position"};
  as_error error = {0};
  as_machine *machine = NULL;
  as_messages messages;
  assert_int_equal(as_machine_parse(guide_text, sizeof guide_text - 1, "guide.yaml", NULL, 0,
                                    &machine, &messages),
                   AS_OK);
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) {
      as_run_def def = as_default_run_def();
      as_run *rows = NULL;
      seen s = {0};
      def.integrator.method = rig_methods[m];
      def.integrator.tolerance.rtol = tolerances[k];
      def.t_end = 5.0;
      def.interval = 0.0123;
      def.channels = channels;
      def.n_channels = 4;
      must(as_run_create(machine->model, &def, &rows, &error), &error);
      must(as_run_go(rows, look, &s, NULL, &error), &error);
      assert_true(s.rows > 400);
      assert_near("reaction", s.reaction, 0.0, 1e-6);
      assert_near("drift", s.drift, 0.0, 1e-6);
      assert_true(s.gap <= 1e-14); // drift says no less than what the row shows
      as_run_destroy(rows);
    }
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_guide),
      cmocka_unit_test(test_straight_lines),
      cmocka_unit_test(test_event),
      cmocka_unit_test(test_as_good_as_ends),
      cmocka_unit_test(test_constraints),
      cmocka_unit_test(test_redundant),
      cmocka_unit_test(test_redundant_rates),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_beside_a_stiff_spring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
