// Estimated errors of runs (as_run_def.accuracy): how near they are to true ones, and that nothing else changes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/results_file.h"
#include "estimates.h"
#include "problems/automatic.h"
#include "results/accuracy.h"
#include "share.h"

enum { MOST = 4000 };

static as_machine *load(const char *path) {
  as_messages messages;
  as_machine *machine = NULL;
  if (as_machine_load(path, NULL, 0, &machine, &messages)) fail_msg("%s", messages.message[0].text);
  return machine;
}

static as_machine *parse(const char *text) {
  as_messages messages;
  as_machine *machine = NULL;
  if (as_machine_parse(text, strlen(text), "model.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}

static as_run_def run_def(const as_machine *machine) {
  as_run_def def = as_default_run_def();
  def.integrator = machine->simulation.integrator;
  def.t_end = machine->simulation.t_end;
  def.channels = machine->output.channels;
  def.n_channels = machine->output.n_channels;
  def.interval = machine->output.interval;
  def.rules = machine->rules;
  def.poses = true;
  def.accuracy = true;
  return def;
}

/// What a run gives, row by row.
typedef struct rows {
  as_run *run;
  int n; ///< numbers of a row
  long count;
  double t[MOST];
  double *value, *error;
} rows;

static as_status take(double t, const double *row, int n, void *user, as_error *error) {
  (void)error;
  rows *r = user;
  assert_true(r->count < MOST);
  const double *errors = as_run_errors(r->run);
  r->t[r->count] = t;
  for (int i = 0; i < n; ++i) {
    r->value[r->count * n + i] = row[i];
    r->error[r->count * n + i] = errors ? errors[i] : (double)NAN;
  }
  ++r->count;
  return AS_OK;
}

static rows *make_rows(const as_machine *machine, const as_run_def *def) {
  rows *r = calloc(1, sizeof *r);
  as_error error;
  assert_non_null(r);
  if (as_run_create(machine->model, def, &r->run, &error)) fail_msg("%s", error.message);
  r->n = as_channels_count(as_run_channels(r->run));
  r->value = calloc((size_t)MOST * (size_t)r->n, sizeof(double));
  r->error = calloc((size_t)MOST * (size_t)r->n, sizeof(double));
  return r;
}

static rows *run_rows(const as_machine *machine, const as_run_def *def, as_status expected) {
  rows *r = make_rows(machine, def);
  as_error error;
  const as_status status = as_run_go(r->run, take, r, NULL, &error);
  if (status != expected) fail_msg("%d: %s", (int)status, error.message);
  return r;
}

static void free_rows(rows *r) {
  as_run_destroy(r->run);
  free(r->value);
  free(r->error);
  free(r);
}

static int find(const rows *r, const char *name) {
  for (int i = 0; i < r->n; ++i)
    if (strcmp(as_channels_get(as_run_channels(r->run), i).name, name) == 0) return i;
  fail_msg("no channel %s", name);
  return -1;
}

// ---- machines

static const char ball[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  ball: {type: point, mass: 1, position: [0, 0, 1], velocity: [0.5, 0, 0]}\n"
    "  arm: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [2, 0, 0]}\n"
    "frames: {floor: {body: ground}, ball: {body: ball}}\n"
    "joints:\n"
    "  floor: {type: point_on_plane, frames: [floor, ball], active: false}\n"
    "  pin: {type: revolute, bodies: [ground, arm], point: [1.5, 0, 0], axis: [0, 1, 0]}\n"
    "forces:\n"
    "  drag: {type: load, body: ball, force: [0, 0, "
    "-2*bodies.ball.velocity.z*abs(bodies.ball.velocity.z)]}\n"
    "events:\n"
    "  bounce: {when: frames.ball.position.z, direction: falling, strike: floor, restitution: "
    "0.8}\n"
    "simulate: {t_end: 1.5, tol: {rtol: 1e-3}}\n"
    "output: {interval: 0.001, channels: [bodies, joints.pin, energy, drift, solver, events]}\n";

/// A rotor on a column that turns.
static const char rotor[] =
    "alphastep: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  base: {mass: 5, inertia: [0.3, 0.3, 0.6], position: [0, 0, 0], angular_velocity: [0, 0, "
    "3]}\n"
    "  rotor: {mass: 1, inertia: [0.005, 0.011, 0.006], position: [0.3, 0.3, 0.05], "
    "angular_velocity: [0, 12, 3], velocity: [-0.9, 0.9, 0]}\n"
    "joints:\n"
    "  column: {type: revolute, bodies: [ground, base], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  b1: {type: revolute, bodies: [base, rotor], point: [0.3, 0.3, 0], axis: [0, 1, 0]}\n"
    "simulate: {t_end: 1, step: 0.004}\n";

/// A stiff and a soft spring.
static const char springs[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  m: {mass: 10, inertia: [1, 1, 1], position: [1, 0, 0], velocity: [1, 0, 0]}\n"
    "  n: {mass: 2, inertia: [1, 1, 1], position: [0, 1, 0]}\n"
    "joints: {r: {type: prismatic, bodies: [ground, m], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
    "forces:\n"
    "  k: {type: spring, bodies: [ground, m], point: [0, 0, 0], second_point: [1, 0, 0], "
    "stiffness: 1e4, damping: 50, length: 1}\n"
    "  w: {type: spring, bodies: [m, n], point: [1, 0, 0], second_point: [0, 1, 0], stiffness: 20, "
    "damping: 1, length: 1}\n"
    "simulate: {t_end: 2, step: 0.004}\n";

/// A body on a guide that nothing moves, pushed across it: automatic steps do not see the force.
static const char guide[] =
    "alphastep: 1\n"
    "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
    "joints: {g: {type: prismatic, bodies: [ground, b], point: [0, 0, 0], axis: [1, 0, 0]}}\n"
    "forces: {push: {type: load, body: b, force: [0, 100*sin(2*pi*t), 0]}}\n"
    "simulate: {t_end: 5, step: 0.04}\n";

// ---- how good they are

typedef struct share {
  int channels, good;
} share;

static void add_share(const as_machine *machine, const char *name, double step, double rtol,
                      as_method method, share *all) {
  as_integrator_def how = machine->simulation.integrator;
  estimates e;
  as_error error;
  how.method = method;
  how.step = step;
  how.tolerance.rtol = rtol;
  const double t_end = fmin(machine->simulation.t_end, 2.0);
  const as_status status = estimates_measure(machine, &how, t_end, &e, &error);
  if (status == AS_ERR_UNSUPPORTED) return;
  if (status) fail_msg("%s: %s", name, error.message);
  assert_string_equal(e.accuracy.message, "");
  if (10 * e.good < 9 * e.channels)
    fail_msg("%s, method %d, step %g, rtol %g: %d of %d; %g %s ... %g %s", name, (int)method, step,
             rtol, e.good, e.channels, e.lowest, e.lowest_name, e.highest, e.highest_name);
  all->channels += e.channels;
  all->good += e.good;
}

static void add_shares(as_machine *machine, const char *name, share *all) {
  const double given = machine->simulation.integrator.step;
  const double step = isnan(given) ? 2e-3 * fmin(machine->simulation.t_end, 2.0) : 2.0 * given;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  for (int m = 0; m < 3; ++m) {
    add_share(machine, name, step, 1e-4, methods[m], all);
    add_share(machine, name, (double)NAN, 1e-4, methods[m], all);
  }
  add_share(machine, name, (double)NAN, 1e-5, AS_METHOD_INDEX2, all);
  as_machine_destroy(machine);
}

/// In 95 of 100 channels the estimate is within a factor 3 of the error.
static void estimates_are_near_errors(void **state) {
  (void)state;
  if (share_is_sample()) skip(); // what follows goes the same ways through the code
  static const char *const names[] = {"pendulum",     "double-pendulum", "four-bar",
                                      "robot-arm",    "heavy-top",       "slider-crank",
                                      "rolling-disk", "quarter-car",     "chain"};
  share all = {0, 0};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char path[512];
    snprintf(path, sizeof path, "%s/examples/machines/%s/model.yaml", SOURCE_DIR, names[i]);
    add_shares(load(path), names[i], &all);
  }
  add_shares(parse(rotor), "rotor", &all);
  add_shares(parse(springs), "springs", &all);
  add_shares(parse(guide), "guide", &all);
  add_shares(parse(ball), "ball", &all);
  print_message("%d of %d channels within a factor 3\n", all.good, all.channels);
  assert_true(all.channels > 1000);
  assert_true(all.good >= 0.95 * all.channels);
}

/// All components of a problem's state at the times at which its solution is known.
typedef struct course {
  double value[AUTOMATIC_TIMES][AUTOMATIC_VARIABLES][AUTOMATIC_MAX];
} course;

static as_status follow(const automatic_problem *p, const as_integrator_def *how, course *out,
                        as_error *error) {
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_status status = as_problem_create(&p->def, &problem, error);
  if (status == AS_OK) status = as_integrator_create(problem, how, &integrator, error);
  if (status == AS_OK) {
    const as_initial initial = {.t = p->t0, .q = p->q0, .v = p->v0, .x = p->x0};
    status = as_integrator_start(integrator, &initial, NULL, error);
  }
  for (int i = 0; i < AUTOMATIC_TIMES && status == AS_OK; ++i) {
    status = as_integrator_advance(integrator, p->times[i], error);
    if (status) break;
    const as_state *s = as_integrator_state(integrator);
    const double *const from[AUTOMATIC_VARIABLES] = {s->q, s->v, s->lambda, s->psi, s->x};
    for (int k = 0; k < AUTOMATIC_VARIABLES; ++k)
      if (p->count[k] > 0) memcpy(out->value[i][k], from[k], (size_t)p->count[k] * sizeof(double));
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  return status;
}

static void compare_courses(const automatic_problem *p, const course *own, const course *finer,
                            share *all) {
  for (int k = AUTOMATIC_V; k < AUTOMATIC_VARIABLES; ++k) // q may be on a group
    for (int c = 0; c < p->count[k]; ++c) {
      double off = 0.0, guess = 0.0;
      for (int i = 0; i < AUTOMATIC_TIMES; ++i) {
        if (isnan(p->exact[i][k][c])) continue;
        off = fmax(off, fabs(own->value[i][k][c] - p->exact[i][k][c]));
        guess =
            fmax(guess, fabs(asi_accuracy_estimate(own->value[i][k][c], finer->value[i][k][c])));
      }
      const double noise = 1e-7 * p->size[k][c];
      if (off <= noise && guess <= noise) continue;
      ++all->channels;
      all->good += guess >= off / 3.0 && guess <= 3.0 * off;
    }
}

/// The problems on which automatic steps are judged, whose solutions are known without this library.
static void estimates_hold_on_the_accuracy_set(void **state) {
  (void)state;
  if (share_is_sample()) skip(); // what follows goes the same ways through the code
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  static course own, finer;
  share all = {0, 0};
  for (int i = 0; i < automatic_count(); ++i) {
    automatic_problem *p = automatic_open(i);
    for (int m = 0; m < 3; ++m)
      for (double rtol = 1e-3; rtol > 5e-6; rtol *= 0.1) {
        as_integrator_def how = as_default_integrator_def();
        as_error error;
        how.method = methods[m];
        how.tolerance.rtol = rtol;
        const as_status status = follow(p, &how, &own, &error);
        if (status == AS_ERR_UNSUPPORTED) continue;
        if (status) fail_msg("%s: %s", p->name, error.message);
        how.tolerance.rtol = rtol / 4.0; // [AC.1]
        if (follow(p, &how, &finer, &error)) fail_msg("%s: %s", p->name, error.message);
        const share before = all;
        compare_courses(p, &own, &finer, &all);
        const int n = all.channels - before.channels, good = all.good - before.good;
        if (good < n)
          print_message("  %s, method %d, rtol %.0e: %d of %d\n", p->name, m, rtol, good, n);
      }
    automatic_close(p);
  }
  print_message("%d of %d components within a factor 3\n", all.good, all.channels);
  assert_true(all.channels > 200);
  assert_true(all.good >= 0.95 * all.channels);
}

/// A mass on a spring, against cos(w t).
static void an_oscillator_is_known_exactly(void **state) {
  (void)state;
  as_machine *machine =
      parse("alphastep: 1\n"
            "bodies: {m: {type: point, mass: 2, position: [1.5, 0, 0]}}\n"
            "forces: {k: {type: spring, bodies: [ground, m], point: [0, 0, 0], second_point: [1.5, "
            "0, 0], stiffness: 50, length: 1}}\n"
            "simulate: {t_end: 4, step: 0.01}\n");
  as_run_def def = run_def(machine);
  for (int automatic = 0; automatic < 2; ++automatic) {
    if (automatic) def.integrator.step = (double)NAN;
    rows *r = run_rows(machine, &def, AS_OK);
    const int c = find(r, "bodies.m.position.x");
    double worst = 0.0, apart = 0.0;
    for (long i = 0; i < r->count; ++i) {
      const double exact = 1.0 + 0.5 * cos(5.0 * r->t[i]);
      const double off = r->value[i * r->n + c] - exact;
      worst = fmax(worst, fabs(off));
      apart = fmax(apart, fabs(off - r->error[i * r->n + c]));
    }
    assert_true(apart <= 0.1 * worst); // with its sign: the value minus the error is better
    const as_channel_error e = as_run_channel_error(r->run, c);
    assert_true(worst > 1e-5);
    assert_true(fabs(e.largest - worst) <= 0.1 * worst);
    assert_true(e.rms > 0.2 * e.largest && e.rms < e.largest);
    assert_true(fabs(e.size - 1.5) < 0.01 && fabs(e.relative * e.size - e.largest) < 1e-15);
    free_rows(r);
  }
  as_machine_destroy(machine);
}

// ---- what is left as it was

static void rows_do_not_change(void **state) {
  (void)state;
  const char *const texts[] = {ball, rotor};
  for (int k = 0; k < 2; ++k) {
    as_machine *machine = parse(texts[k]);
    as_run_def def = run_def(machine);
    rows *with = run_rows(machine, &def, AS_OK);
    def.accuracy = false;
    rows *without = run_rows(machine, &def, AS_OK);
    assert_null(as_run_errors(without->run));
    assert_null(as_run_pose_errors(without->run));
    assert_true(isnan(as_run_channel_error(without->run, 0).largest));
    assert_int_equal(with->count, without->count);
    assert_memory_equal(with->value, without->value,
                        (size_t)with->count * (size_t)with->n * sizeof(double));
    as_statistics a, b;
    assert_int_equal(as_integrator_statistics(as_run_integrator(with->run), &a, NULL), AS_OK);
    assert_int_equal(as_integrator_statistics(as_run_integrator(without->run), &b, NULL), AS_OK);
    assert_int_equal(a.newton_iterations, b.newton_iterations);
    free_rows(with);
    free_rows(without);
    as_machine_destroy(machine);
  }
}

/// Steps, drift and counts have no errors; all else has.
static void what_measures_errors_has_none(void **state) {
  (void)state;
  as_machine *machine = parse(ball);
  as_run_def def = run_def(machine);
  rows *r = run_rows(machine, &def, AS_OK);
  for (int i = 0; i < r->n; ++i) {
    const char *name = as_channels_get(as_run_channels(r->run), i).name;
    const bool none = strncmp(name, "solver.", 7) == 0 || strncmp(name, "drift.", 6) == 0 ||
                      strcmp(name, "energy.balance") == 0 || strstr(name, ".count") != NULL;
    if (isnan(as_run_channel_error(r->run, i).largest) != none) fail_msg("%s", name);
  }
  free_rows(r);
  as_machine_destroy(machine);
}

// ---- events

/// Rows between a bounce of one run and the same of the other are not compared; the times of events have errors.
static void events_have_errors_of_time(void **state) {
  (void)state;
  as_machine *machine = parse(ball);
  as_run_def def = run_def(machine);
  def.integrator.tolerance.rtol = 3e-2;
  rows *r = run_rows(machine, &def, AS_OK);
  def.accuracy = false;
  def.integrator.tolerance.rtol = 1e-6;
  rows *fine = run_rows(machine, &def, AS_OK);
  const as_accuracy a = as_run_accuracy(r->run);
  const int speed = find(r, "bodies.ball.velocity.z");
  long unknown = 0;
  for (long i = 0; i < r->count; ++i) unknown += isnan(r->error[i * r->n + speed]);
  assert_string_equal(a.message, "");

  assert_true(a.rows_between_events > 0 && a.rows_between_events < 100);
  assert_int_equal(unknown, a.rows_between_events);
  assert_int_equal(a.rows + unknown, r->count);
  // A row that were compared across a bounce would be off by metres per second.
  assert_true(as_run_channel_error(r->run, speed).largest < 0.5);
  assert_int_equal(as_run_events(r->run), as_run_events(fine->run));
  for (long i = 0; i < as_run_events(r->run); ++i) {
    const double off = as_run_event(r->run, i).t - as_run_event(fine->run, i).t;
    const double ratio = as_run_event_error(r->run, i) / off;
    if (!(ratio > 0.5 && ratio < 2.0)) fail_msg("event %ld: %g of %g", i, ratio, off);
  }
  assert_true(isnan(as_run_event_error(r->run, as_run_events(r->run))));
  free_rows(r);
  free_rows(fine);
  as_machine_destroy(machine);
}

/// A pendulum that numerical damping keeps from where the finer one gets to.
static as_machine *damped_pendulum(const char *more) {
  char text[2000];
  snprintf(text, sizeof text,
           "alphastep: 1\n"
           "gravity: [0, 0, -9.81]\n"
           "bodies: {bob: {type: point, mass: 1, position: [1, 0, 0]}}\n"
           "joints: {rod: {type: distance, bodies: [ground, bob], point: [0, 0, 0], second_point: "
           "[1, 0, 0]}}\n"
           "%s"
           "simulate: {t_end: 4.5, step: 0.08, rho_inf: 0}\n",
           more);
  return parse(text);
}

/// The highest that the bob gets on the other side, by this run and by the finer one.
static void find_heights(double *coarse, double *fine) {
  as_machine *machine = damped_pendulum("");
  as_run_def def = run_def(machine);
  def.accuracy = false;
  double *const out[] = {coarse, fine};
  for (int k = 0; k < 2; ++k) {
    rows *r = run_rows(machine, &def, AS_OK);
    const int c = find(r, "bodies.bob.position.x");
    *out[k] = 0.0;
    for (long i = 0; i < r->count; ++i) // when it comes back
      if (r->t[i] > 1.5) *out[k] = fmax(*out[k], r->value[i * r->n + c]);
    def.integrator.step *= 0.5;
    free_rows(r);
  }
  as_machine_destroy(machine);
}

static void finer_runs_may_stop_or_fail(void **state) {
  (void)state;
  double coarse, fine;
  char more[400];
  find_heights(&coarse, &fine);
  assert_true(fine > coarse + 1e-3);
  const double between = 0.5 * (coarse + fine);
  const char *const expected[] = {"was stopped by an event", "the finer run failed"};
  for (int k = 0; k < 2; ++k) {
    if (k == 0)
      snprintf(more, sizeof more,
               "events: {far: {when: bodies.bob.position.x - %.9f, direction: rising, only_if: t > "
               "1.5, stop: true}}\n",
               between);
    else
      snprintf(more, sizeof more,
               "forces: {f: {type: load, body: bob, force: [\"0*sqrt(%.9f - "
               "bodies.bob.position.x*step(t, 1, 0, 1.2, 1))\", 0, 0]}}\n",
               between);
    as_machine *machine = damped_pendulum(more);
    as_run_def def = run_def(machine);
    rows *r = run_rows(machine, &def, AS_OK);
    const as_accuracy a = as_run_accuracy(r->run);
    if (strstr(a.message, expected[k]) == NULL) fail_msg("`%s`", a.message);
    assert_true(a.until > 1.5 && a.until < 4.0);
    const int c = find(r, "bodies.bob.position.x");
    for (long i = 0; i < r->count; ++i)
      assert_int_equal(isnan(r->error[i * r->n + c]), r->t[i] > a.until);
    free_rows(r);
    as_machine_destroy(machine);
  }
}

// ---- saving

typedef struct breaking {
  rows *rows;
  long at; ///< steps until it is interrupted
} breaking;

static bool is_time(void *user) {
  breaking *b = user;
  return b->at-- == 0;
}

static void saved_runs_go_on_bit_for_bit(void **state) {
  (void)state;
  static const char path[] = "test_estimates.bin";
  const char *const texts[] = {ball, rotor};
  for (int k = 0; k < 2; ++k) {
    as_machine *machine = parse(texts[k]);
    as_run_def def = run_def(machine);
    rows *whole = run_rows(machine, &def, AS_OK);
    for (long at = 1; at < 40; at += 13) {
      as_error error;
      breaking b = {.at = at};
      def.integrator.interrupt = is_time;
      def.integrator.interrupt_user = &b;
      rows *first = run_rows(machine, &def, AS_INTERRUPTED);
      if (as_run_save_file(first->run, path, &error)) fail_msg("%s", error.message);
      def.integrator.interrupt = NULL;
      rows *rest = make_rows(machine, &def);
      if (as_run_load_file(rest->run, path, &error)) fail_msg("%s", error.message);
      assert_int_equal(as_run_rows(rest->run), first->count);
      if (as_run_go(rest->run, take, rest, NULL, &error)) fail_msg("%s", error.message);
      const size_t n = (size_t)whole->n, before = (size_t)first->count;
      assert_int_equal(first->count + rest->count, whole->count);
      assert_memory_equal(rest->value, whole->value + before * n, (size_t)rest->count * n * 8);
      for (size_t i = 0; i < (size_t)rest->count * n; ++i) {
        const double a = rest->error[i], b0 = whole->error[before * n + i];
        assert_true(a == b0 || (isnan(a) && isnan(b0)));
      }
      for (int c = 0; c < whole->n; ++c) {
        const as_channel_error a = as_run_channel_error(whole->run, c);
        const as_channel_error e = as_run_channel_error(rest->run, c);
        assert_true(isnan(a.largest) ? isnan(e.largest) : a.largest == e.largest && a.rms == e.rms);
      }
      for (long i = 0; i < as_run_events(whole->run); ++i)
        assert_true(as_run_event_error(whole->run, i) == as_run_event_error(rest->run, i));
      // A run without estimates is another one.
      def.accuracy = false;
      rows *other = make_rows(machine, &def);
      assert_int_equal(as_run_load_file(other->run, path, &error), AS_ERR_FILE);
      assert_non_null(strstr(error.message, "what is recorded"));
      def.accuracy = true;
      free_rows(other);
      free_rows(first);
      free_rows(rest);
    }
    free_rows(whole);
    as_machine_destroy(machine);
  }
  remove(path);
}

// ---- files

static as_status record(double t, const double *row, int n, void *user, as_error *error) {
  void *const *both = user;
  as_run *run = both[0];
  return as_results_writer_row_errors(both[1], t, row, n, as_run_poses(run), as_run_errors(run),
                                      as_run_pose_errors(run), error);
}

static void files_have_errors(void **state) {
  (void)state;
  static const char path[] = "test_estimates.h5";
  as_machine *machine = parse(ball);
  as_run_def def = run_def(machine);
  rows *r = run_rows(machine, &def, AS_OK);
  as_run *run;
  as_results_writer *results;
  as_results_reader *reader;
  as_error error;
  if (as_run_create(machine->model, &def, &run, &error)) fail_msg("%s", error.message);
  as_results_writer_def what = as_default_results_writer_def();
  what.model = machine->model;
  what.channels = as_run_channels(run);
  what.errors = true;
  if (as_results_writer_create(path, &what, &results, &error)) fail_msg("%s", error.message);
  void *both[] = {run, results};
  if (as_run_go(run, record, both, NULL, &error)) fail_msg("%s", error.message);
  if (as_results_writer_close(results, &error)) fail_msg("%s", error.message);
  if (as_results_reader_open(path, &reader, &error)) fail_msg("%s", error.message);
  assert_int_equal(as_results_reader_rows(reader), r->count);
  double *column = calloc((size_t)r->count, sizeof *column);
  for (int c = 0; c < r->n; ++c) {
    const as_channel channel = as_channels_get(as_run_channels(r->run), c);
    const int number = as_results_reader_find(reader, channel.name);
    const int off = as_results_reader_error(reader, number);
    assert_true(number >= 0 && number < as_results_reader_values(reader));
    const bool none =
        strncmp(channel.name, "solver.", 7) == 0 || strncmp(channel.name, "drift.", 6) == 0;
    assert_int_equal(off < 0, none);
    if (none) continue;
    assert_true(off >= as_results_reader_values(reader));
    const as_channel named = as_results_reader_channel(reader, off);
    assert_string_equal(named.unit, channel.unit);
    assert_memory_equal(named.name, "errors.", 7);
    assert_string_equal(named.name + 7, channel.name);
    if (as_results_reader_read(reader, off, column, &error)) fail_msg("%s", error.message);
    for (long i = 0; i < r->count; ++i) {
      const double e = r->error[i * r->n + c];
      assert_true(column[i] == e || (isnan(e) && isnan(column[i])));
    }
  }
  assert_int_equal(as_results_reader_error(reader, -1), -1);
  assert_int_equal(as_results_reader_error(reader, as_results_reader_count(reader) - 1), -1);
  as_results_reader_close(reader);
  as_run_destroy(run);
  free(column);
  free_rows(r);
  as_machine_destroy(machine);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_are_near_errors),
      cmocka_unit_test(estimates_hold_on_the_accuracy_set),
      cmocka_unit_test(an_oscillator_is_known_exactly),
      cmocka_unit_test(rows_do_not_change),
      cmocka_unit_test(what_measures_errors_has_none),
      cmocka_unit_test(events_have_errors_of_time),
      cmocka_unit_test(finer_runs_may_stop_or_fail),
      cmocka_unit_test(saved_runs_go_on_bit_for_bit),
      cmocka_unit_test(files_have_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
