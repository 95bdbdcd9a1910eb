/// Automatic steps: where they end, what they depend on and what not, what happens to steps that are
/// rejected or cannot be solved, limits and tolerances, samples, redundant and singular constraints.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "problems/loops.h"
#include "subject.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};

/// SOI2 does not take first-order states and outputs.
static bool offers(as_method method, const subject *s) {
  return method != AS_METHOD_SOI2 || s->def.n_x + s->def.n_y == 0;
}

/// Each step may add `step_error` of its size, [SC.12].
static as_integrator_def automatic(as_method method, double step_error) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.tolerance.rtol = 3.0 * cbrt(step_error * step_error);
  return how;
}

static void advance(const run *r, double t) {
  as_error error = {0};
  must(as_integrator_advance(r->integrator, t, &error), &error);
  if (as_integrator_state(r->integrator)->t != t)
    fail_msg("at t = %.17g instead of %.17g", as_integrator_state(r->integrator)->t, t);
}

static void next(const run *r) {
  as_error error = {0};
  must(as_integrator_next(r->integrator, &error), &error);
}

static double drift_of(const run *r) {
  double position, velocity;
  as_error error;
  must(as_integrator_drift(r->integrator, &position, &velocity, &error), &error);
  return position;
}

static as_statistics statistics_of(const run *r) {
  as_statistics out;
  as_error error = {0};
  must(as_integrator_statistics(r->integrator, &out, &error), &error);
  return out;
}

static double time_of(const run *r) { return as_integrator_state(r->integrator)->t; }

// ---- subjects -------------------------------------------------------------------------------------

enum { MAX_SUBJECTS = 16 };

/// All spaces and kinds of constraints.
static int list_subjects(subject *x) {
  static manufactured made[] = {
      {.space = AS_SPACE_RN, .holonomic = true, .nonholonomic = true, .states = true},
      {.space = AS_SPACE_SE3, .holonomic = true, .moving = true, .mass_varies = true},
  };
  int n = 0;
  x[n++] = subject_made("made on R^4", &made[0]);
  x[n++] = subject_made("made on SE(3)", &made[1]);
  x[n++] = subject_plain(problem_oscillator());
  x[n++] = subject_plain(problem_pendulum());
  x[n++] = subject_plain(problem_driven_pendulum());
  x[n++] = subject_plain(problem_friction_wire());
  x[n++] = subject_plain(problem_free_rotation());
  x[n++] = subject_plain(problem_heavy_top_slow());
  x[n++] = subject_plain(problem_two_bodies_se3());
  x[n++] = subject_rolling(nonholonomic_rolling_disk());
  x[n++] = subject_mechatronic(mechatronic_cart_pole());
  for (int i = 0; i < n; ++i) x[i].t_end = x[i].t0 + 0.5;
  return n;
}

// ---- what callbacks see -----------------------------------------------------------------------------

enum { MAX_TIMES = 20000 };

/// Passes everything on to `inner`, adds a force that sets in at t = kick, and remembers times.
typedef struct watch {
  as_problem_def inner;
  int n;           ///< of velocities
  double kick;     ///< [s]
  double strength; ///< of the kick; 0: none
  double latest;   ///< the largest t that any callback has seen [s]
  bool list;       ///< list times of forces, those of trials that were given up left out
  int count;
  double times[MAX_TIMES];
} watch;

static watch *see(void *user, const as_point *at) {
  watch *w = user;
  w->latest = fmax(w->latest, at->t);
  return w;
}

static int watch_mass(const as_point *at, as_matrix *m, void *user) {
  const watch *w = see(user, at);
  return w->inner.mass(at, m, w->inner.user);
}

static int watch_force(const as_point *at, double *f, void *user) {
  watch *w = see(user, at);
  const int code = w->inner.force(at, f, w->inner.user);
  const double late = at->t - w->kick;
  for (int i = 0; i < w->n && late > 0.0; ++i)
    f[i] += w->strength * sin(1.0 + i) * (1.0 - exp(-300.0 * late));
  while (w->list && w->count > 0 && w->times[w->count - 1] >= at->t) --w->count;
  if (w->list && w->count < MAX_TIMES) w->times[w->count++] = at->t;
  return code;
}

#define WATCH_VECTOR(function, field)                                                              \
  static int function(const as_point *at, double *out, void *user) {                               \
    const watch *w = see(user, at);                                                                \
    return w->inner.field(at, out, w->inner.user);                                                 \
  }
WATCH_VECTOR(watch_constraint, constraint)
WATCH_VECTOR(watch_rate, constraint_rate)
WATCH_VECTOR(watch_acceleration, constraint_acceleration)
WATCH_VECTOR(watch_nonholonomic, nonholonomic)
WATCH_VECTOR(watch_nonholonomic_acceleration, nonholonomic_acceleration)
WATCH_VECTOR(watch_state_rate, state_rate)
WATCH_VECTOR(watch_output, output)

static int watch_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const watch *w = see(user, at);
  return w->inner.jacobian(at, wanted, blocks, w->inner.user);
}

/// The same problem, watched; `w` must outlive it.
static subject watched(const subject *s, watch *w) {
  subject x = *s;
  as_space *space = NULL;
  assert_int_equal(as_space_create(s->def.parts, s->def.n_parts, &space, NULL), AS_OK);
  *w = (watch){.inner = s->def, .n = as_space_nv(space), .latest = -(double)INFINITY};
  as_space_destroy(space);
  x.def.user = w;
  x.def.mass = watch_mass;
  x.def.force = watch_force;
  if (x.def.constraint) x.def.constraint = watch_constraint;
  if (x.def.constraint_rate) x.def.constraint_rate = watch_rate;
  if (x.def.constraint_acceleration) x.def.constraint_acceleration = watch_acceleration;
  if (x.def.nonholonomic) x.def.nonholonomic = watch_nonholonomic;
  if (x.def.nonholonomic_acceleration)
    x.def.nonholonomic_acceleration = watch_nonholonomic_acceleration;
  if (x.def.state_rate) x.def.state_rate = watch_state_rate;
  if (x.def.output) x.def.output = watch_output;
  if (x.def.jacobian) x.def.jacobian = watch_jacobian;
  return x;
}

// ---- where steps end --------------------------------------------------------------------------------

static void expect_same_work(const as_statistics *a, const as_statistics *b) {
  assert_int_equal(a->steps, b->steps);
  assert_int_equal(a->failed_steps, b->failed_steps);
  assert_int_equal(a->rejected_steps, b->rejected_steps);
  assert_int_equal(a->newton_iterations, b->newton_iterations);
  assert_int_equal(a->factorizations, b->factorizations);
  assert_int_equal(a->solves, b->solves);
  assert_int_equal(a->mass_evaluations, b->mass_evaluations);
  assert_int_equal(a->force_evaluations, b->force_evaluations);
  assert_int_equal(a->constraint_evaluations, b->constraint_evaluations);
  assert_int_equal(a->jacobian_evaluations, b->jacobian_evaluations);
  assert_true(a->last_step == b->last_step && a->next_step == b->next_step && a->error == b->error);
}

static void expect_same_run(const subject *x, const run *a, const run *b) {
  const snapshot one = snapshot_take(x, a), other = snapshot_take(x, b);
  const as_statistics work[] = {statistics_of(a), statistics_of(b)};
  expect_same_work(&work[0], &work[1]);
  assert_true(snapshot_same(&one, &other));
}

/// Shows every asked time exactly; how many there are changes neither the steps nor the last state.
static void test_output_times(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (!offers(methods[m], &x[i])) continue;
      const as_integrator_def how = automatic(methods[m], 1e-4);
      run few = run_start(&x[i], &how), many = run_start(&x[i], &how);
      const double length = x[i].t_end - x[i].t0;
      advance(&few, x[i].t_end);
      for (int k = 1; k < 1000; ++k) advance(&many, x[i].t0 + k * length / 1000.0);
      advance(&many, x[i].t_end);
      expect_same_run(&x[i], &few, &many);
      next(&few);
      next(&many);
      expect_same_run(&x[i], &few, &many);
      // Backwards only inside what has been shown: time runs forward.
      as_error error = {0};
      assert_int_equal(as_integrator_advance(few.integrator, time_of(&few) - 1e-6, &error),
                       AS_ERR_ARGUMENT);
      run_close(&few);
      run_close(&many);
    }
}

/// The last step before t is neither tiny nor large, and nothing is evaluated behind t.
static void test_land(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  static watch w;
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 12 && offers(methods[m], &x[i]); ++k) {
        as_integrator_def how = automatic(methods[m], 1e-4);
        how.tolerance.land = true;
        const subject s = watched(&x[i], &w);
        // What is differenced in time looks a little ahead, wherever it is.
        const bool differenced = !s.def.scleronomic && (s.def.n_lambda + s.def.n_psi > 0) &&
                                 !(s.def.constraint_rate && s.def.constraint_acceleration);
        run r = run_start(&s, &how);
        const double t1 = s.t0 + 0.2, t2 = t1 + 0.2 + 0.0137 * k, t3 = t2 + 0.1;
        w.latest = -(double)INFINITY;
        advance(&r, t1);
        if (!differenced) assert_true(w.latest <= t1);
        w.list = true;
        advance(&r, t2);
        if (!differenced) assert_true(w.latest <= t2);
        w.list = false;
        assert_true(w.count >= 2 && w.count < MAX_TIMES);
        assert_true(w.times[w.count - 1] == t2);
        const double last = w.times[w.count - 1] - w.times[w.count - 2];
        const double before = w.count > 2 ? w.times[w.count - 2] - w.times[w.count - 3] : last;
        if (!(last > 0.3 * before && last < 2.1 * before))
          fail_msg("%s, %s: a step of %g s after one of %g s", s.name, method_names[m], last,
                   before);
        const as_statistics at_t2 = statistics_of(&r);
        assert_true(fabs(at_t2.last_step - last) <= 1e-12);
        // The size before the landing is remembered.
        assert_true(at_t2.next_step >= 0.3 * before);
        advance(&r, t3);
        run_close(&r);
      }
}

/// Without `land` a step may pass t: the next output inside it costs nothing.
static void test_pass(void **state) {
  (void)state;
  static watch w;
  const subject plain = subject_plain(problem_pendulum()), s = watched(&plain, &w);
  const as_integrator_def how = automatic(AS_METHOD_INDEX2, 1e-4);
  run r = run_start(&s, &how);
  advance(&r, 0.5);
  assert_true(w.latest > 0.5);
  const as_statistics before = statistics_of(&r);
  advance(&r, w.latest - 1e-9);
  const as_statistics after = statistics_of(&r);
  expect_same_work(&before, &after);
  run_close(&r);
}

static void test_next(void **state) {
  (void)state;
  const subject s = subject_plain(problem_heavy_top_slow());
  for (int m = 0; m < 3; ++m) {
    as_integrator_def how = automatic(methods[m], 1e-4);
    run r = run_start(&s, &how);
    assert_true(isnan(statistics_of(&r).next_step));
    for (int i = 1; i <= 40; ++i) {
      const double t0 = time_of(&r), announced = statistics_of(&r).next_step;
      const long rejected = statistics_of(&r).rejected_steps;
      next(&r);
      const as_statistics work = statistics_of(&r);
      assert_int_equal(work.steps, i);
      assert_true(work.last_step > 0.0 && fabs(time_of(&r) - t0 - work.last_step) <= 1e-15);
      assert_true(work.error > 0.0 && work.error <= 1.0 && work.next_step > 0.0);
      if (i > 1 && work.rejected_steps == rejected) assert_true(work.last_step == announced);
    }
    run_close(&r);
    how.step = 0.01;
    r = run_start(&s, &how);
    for (int i = 1; i <= 5; ++i) {
      next(&r);
      assert_true(fabs(time_of(&r) - s.t0 - 0.01 * i) <= 1e-15);
    }
    run_close(&r);
  }
}

// ---- repeatable -------------------------------------------------------------------------------------

/// Two runs have the same bits, also when they take turns, and a second start forgets the first.
static void test_repeatable(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (!offers(methods[m], &x[i])) continue;
      const as_integrator_def how = automatic(methods[m], 1e-4);
      as_error error = {0};
      run a = run_start(&x[i], &how), b = {.problem = a.problem};
      must(as_integrator_create(a.problem, &how, &b.integrator, &error), &error);
      const as_initial initial = subject_initial(&x[i]);
      must(as_integrator_start(b.integrator, &initial, NULL, &error), &error);
      for (int k = 0; k < 40; ++k) {
        next(&a);
        if (k % 2) next(&b), next(&b);
      }
      expect_same_run(&x[i], &a, &b);
      must(as_integrator_start(b.integrator, &initial, NULL, &error), &error);
      for (int k = 0; k < 40; ++k) next(&b);
      expect_same_run(&x[i], &a, &b);
      as_integrator_destroy(b.integrator);
      run_close(&a);
    }
}

// ---- rejected steps ---------------------------------------------------------------------------------

enum { MAX_ACCEPTED = 3000 };

/// A rejected step leaves nothing behind: an integrator that is given only the accepted sizes arrives at the
/// same state. But for one thing: what is stiff is found with the factors at hand, [GA.15], and these are those of the
/// rejected step then. On SE(3) the kick makes gyroscopic forces stiff; there both agree to the tolerance.
static void test_rejected(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  static watch w;
  static double h[MAX_ACCEPTED];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (!offers(methods[m], &x[i])) continue;
      as_integrator_def how = automatic(methods[m], 1e-4);
      how.newton.rtol = 1e-11;
      const subject s = watched(&x[i], &w);
      w.kick = s.t0 + 0.2;
      w.strength = 1000.0;
      run r = run_start(&s, &how);
      int count = 0;
      while (time_of(&r) < s.t0 + 0.3) {
        assert_true(count < MAX_ACCEPTED);
        next(&r);
        h[count++] = statistics_of(&r).last_step;
      }
      const as_statistics work = statistics_of(&r);
      if (work.rejected_steps == 0) fail_msg("%s: nothing was rejected", s.name);
      assert_int_equal(work.steps, count);
      run given = run_start(&s, &how);
      for (int k = 0; k < count; ++k) {
        as_error error = {0};
        must(as_integrator_step(given.integrator, h[k], &error), &error);
      }
      const snapshot a = snapshot_take(&s, &r), b = snapshot_take(&s, &given);
      const double distance = snapshot_distance(&a, &b);
      printf("%-20s %-8s %4d steps, %3ld rejected: %.1e\n", s.name, method_names[m], count,
             work.rejected_steps, distance);
      const bool stiff = strcmp(s.name, "made on SE(3)") == 0;
      if (!(distance <= (stiff ? 1e-3 : 1e-8)))
        fail_msg("%s, %s: off by %g", s.name, method_names[m], distance);
      run_close(&r);
      run_close(&given);
    }
}

/// Steps given by hand and automatic ones may be mixed.
static void test_mixed(void **state) {
  (void)state;
  static subject x[MAX_SUBJECTS];
  const int n = list_subjects(x);
  for (int i = 0; i < n; ++i)
    for (int m = 0; m < 3; ++m) {
      if (!offers(methods[m], &x[i])) continue;
      as_error error = {0};
      const as_integrator_def how = automatic(methods[m], 1e-4);
      run r = run_start(&x[i], &how);
      for (int k = 0; k < 3; ++k) must(as_integrator_step(r.integrator, 1e-3, &error), &error);
      for (int k = 0; k < 10; ++k) next(&r);
      must(as_integrator_step(r.integrator, 1e-4, &error), &error);
      for (int k = 0; k < 10; ++k) next(&r);
      const as_statistics work = statistics_of(&r);
      if (work.rejected_steps > 12 || work.last_step < 1e-4)
        fail_msg("%s, %s: %ld rejected, last step %g s", x[i].name, method_names[m],
                 work.rejected_steps, work.last_step);
      run_close(&r);
    }
}

// ---- steps that cannot be solved --------------------------------------------------------------------

static struct {
  double limit;  ///< from here on [s]
  int code;      ///< the force returns this,
  double number; ///< or has this in it,
  double only;   ///< the former only if it is further behind the limit than this [s]
} wall;

static int walled_force(const as_point *at, double *f, void *user) {
  const int code = problem_pendulum()->def.force(at, f, user);
  if (at->t <= wall.limit) return code;
  f[0] = wall.number;
  return at->t > wall.limit + wall.only ? wall.code : AS_DONE;
}

/// A point that cannot be evaluated makes the step smaller, and the run goes on.
static void test_smaller_steps(void **state) {
  (void)state;
  subject s = subject_plain(problem_pendulum());
  const subject plain = s;
  s.def.force = walled_force;
  for (int m = 0; m < 3; ++m)
    for (int fault = 0; fault < 4; ++fault) {
      const as_integrator_def how = automatic(methods[m], 1e-3);
      wall.code = fault == 0 || fault == 3 ? AS_RETRY : AS_DONE;
      wall.number = fault == 2 ? (double)INFINITY : (double)NAN;
      wall.only = 0.0;
      wall.limit = (double)INFINITY;
      run r = run_start(&s, &how);
      for (int i = 0; i < 10; ++i) next(&r);
      const as_statistics before = statistics_of(&r);
      const double most = 0.3 * before.next_step;
      for (int i = 0; i < 20; ++i) {
        wall.limit = time_of(&r) + most;
        next(&r);
        assert_true(statistics_of(&r).last_step <= most * (1.0 + 1e-12));
      }
      const as_statistics work = statistics_of(&r);
      assert_true(work.failed_steps >= 1 && work.failed_steps < 20);
      assert_true(work.last_step >= most / 16.0);
      wall.limit = (double)INFINITY;
      double sums[SUBJECT_VARIABLES] = {0};
      subject_add_errors(&plain, as_problem_space(r.problem), as_integrator_state(r.integrator),
                         sums);
      assert_true(sqrt(sums[SUBJECT_Q]) < 1e-2);
      // Nothing helps: the state stays, the failure is that of the first attempt, and afterwards the run goes
      // on.
      if (fault == 3) wall.only = 0.5 * statistics_of(&r).next_step;
      const snapshot one = snapshot_take(&s, &r);
      wall.limit = time_of(&r);
      as_error error = {0};
      const as_status status = as_integrator_next(r.integrator, &error);
      assert_int_equal(status, fault == 0 || fault == 3 ? AS_ERR_RETRY : AS_ERR_NONFINITE);
      assert_int_equal(error.status, status);
      assert_int_equal(error.message[strlen(error.message) - 1], '.');
      const snapshot other = snapshot_take(&s, &r);
      assert_true(snapshot_same(&one, &other));
      wall.limit = (double)INFINITY;
      next(&r);
      run_close(&r);
    }
}

// A ball flies against a wall at q = 1 that pushes back with 0.1/(1 - q); there is nothing behind it.

static int ball_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int ball_force(const as_point *at, double *f, void *user) {
  (void)user;
  if (!(at->q[0] < 1.0)) return AS_RETRY;
  f[0] = -0.1 / (1.0 - at->q[0]);
  return AS_DONE;
}

static const as_space_part line = {AS_SPACE_RN, 1};
static const as_space_part plane = {AS_SPACE_RN, 2};

static void test_bounce(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    subject s = {.name = "ball", .def = as_default_problem_def(), .v0 = {1.0}};
    s.def.parts = &line;
    s.def.n_parts = 1;
    s.def.mass_constant = true;
    s.def.mass = ball_mass;
    s.def.force = ball_force;
    as_integrator_def how = automatic(methods[m], 1e-5);
    how.tolerance.first_step = 3.0; // far behind the wall
    run r = run_start(&s, &how);
    advance(&r, 2.0);
    const as_state *end = as_integrator_state(r.integrator);
    const as_statistics work = statistics_of(&r);
    assert_true(work.failed_steps + work.rejected_steps > 0);
    // v^2/2 - log(1 - q)/10 is kept
    const double energy = end->v[0] * end->v[0] / 2.0 - 0.1 * log(1.0 - end->q[0]);
    printf("%s: %ld steps, %ld failed, %ld rejected, energy %.6f\n", method_names[m], work.steps,
           work.failed_steps, work.rejected_steps, energy);
    assert_true(end->v[0] < -0.9 && fabs(energy - 0.5) < 2e-3);
    run_close(&r);
  }
}

// ---- limits -----------------------------------------------------------------------------------------

static void expect_sentence(const as_error *error, as_status status, const char *culprit) {
  const size_t length = strlen(error->message);
  assert_int_equal(error->status, status);
  if (length < 10 || error->message[length - 1] != '.' || strstr(error->message, ". ") ||
      strstr(error->message, culprit) == NULL)
    fail_msg("not one sentence about %s: '%s'", culprit, error->message);
}

static void describe(as_quantity quantity, int index, char *text, size_t size, void *user) {
  (void)quantity, (void)user;
  snprintf(text, size, "part %d", index);
}

/// A step that would have to be smaller than allowed is an error that names the component.
static void test_min_step(void **state) {
  (void)state;
  static watch w;
  for (int m = 0; m < 3; ++m) {
    const subject plain = subject_plain(problem_pendulum());
    subject s = watched(&plain, &w);
    as_integrator_def how = automatic(methods[m], 1e-4);
    s.def.describe = describe;
    how.tolerance.min_step = 5e-3;
    w.kick = 0.2;
    w.strength = 300.0;
    run r = run_start(&s, &how);
    as_error error = {0};
    as_status status = AS_OK;
    snapshot before = snapshot_take(&s, &r);
    while (status == AS_OK && time_of(&r) < 1.0) {
      const double t0 = time_of(&r);
      before = snapshot_take(&s, &r);
      status = as_integrator_next(r.integrator, &error);
      if (status == AS_OK) assert_true(time_of(&r) - t0 >= 5e-3 * (1.0 - 1e-9));
    }
    assert_int_equal(status, AS_ERR_TOLERANCE);
    expect_sentence(&error, AS_ERR_TOLERANCE, "part ");
    assert_non_null(strstr(error.message, "0.005 s"));
    assert_true(strncmp(error.component, "part ", 5) == 0);
    assert_true(error.t == time_of(&r));
    const snapshot after = snapshot_take(&s, &r);
    assert_true(snapshot_same(&before, &after));
    // The same again, and without a place for the error.
    assert_int_equal(as_integrator_next(r.integrator, NULL), AS_ERR_TOLERANCE);
    assert_int_equal(as_integrator_advance(r.integrator, 1.0, &error), AS_ERR_TOLERANCE);
    const snapshot again = snapshot_take(&s, &r);
    assert_true(snapshot_same(&before, &again));
    // Without the kick it goes on.
    w.strength = 0.0;
    next(&r);
    run_close(&r);
  }
}

/// Tolerances that no step can meet end in an error, at t = 0 too, after few attempts. (With constraints what is below
/// round-off is no error, [SC.13].)
static void test_impossible(void **state) {
  (void)state;
  const subject s = subject_plain(problem_oscillator());
  for (int m = 0; m < 3; ++m)
    for (int later = 0; later < 2; ++later) {
      as_integrator_def how = automatic(methods[m], 0.0);
      as_error error = {0};
      how.tolerance.atol_position = how.tolerance.atol_velocity = 1e-30;
      how.tolerance.first_step = 1e-2;
      run r = run_start(&s, &how);
      const as_initial initial = {.t = later ? 1.0 : 0.0, .q = s.q0, .v = s.v0};
      must(as_integrator_start(r.integrator, &initial, NULL, &error), &error);
      const snapshot before = snapshot_take(&s, &r);
      const as_status status = as_integrator_next(r.integrator, &error);
      const as_statistics work = statistics_of(&r);
      if (status != AS_ERR_TOLERANCE || work.rejected_steps + work.failed_steps > 60)
        fail_msg("%s, t = %g: %s after %ld rejected and %ld failed attempts: %s", method_names[m],
                 initial.t, as_status_name(status), work.rejected_steps, work.failed_steps,
                 error.message);
      const snapshot after = snapshot_take(&s, &r);
      assert_true(snapshot_same(&before, &after));
      run_close(&r);
    }
}

static void test_max_step(void **state) {
  (void)state;
  static watch w;
  const subject plain = subject_plain(problem_oscillator());
  for (int m = 0; m < 3; ++m)
    for (int land = 0; land < 2; ++land) {
      as_integrator_def how = automatic(methods[m], 1e-2);
      const subject s = watched(&plain, &w);
      how.tolerance.max_step = 1e-3;
      how.tolerance.land = land;
      how.straight_lines = true; // forces are evaluated in steps only
      run r = run_start(&s, &how);
      advance(&r, 0.1);
      w.list = true;
      for (int k = 1; k <= 40; ++k) advance(&r, 0.1 + k * 0.0110007);
      assert_true(w.count > 300);
      for (int k = 1; k < w.count; ++k)
        if (!(w.times[k] - w.times[k - 1] <= 1e-3 * (1.0 + 1e-9)))
          fail_msg("a step of %.9g s", w.times[k] - w.times[k - 1]);
      assert_true(statistics_of(&r).next_step <= 1e-3);
      run_close(&r);
    }
}

static void test_first_step(void **state) {
  (void)state;
  const double sizes[] = {1e-6, 1e-4, 1e-3};
  const subject s = subject_plain(problem_two_bodies());
  for (int m = 0; m < 3; ++m)
    for (int i = 0; i < 3; ++i) {
      as_integrator_def how = automatic(methods[m], 1e-3);
      as_error error = {0};
      how.tolerance.first_step = sizes[i];
      run r = run_start(&s, &how);
      const as_initial initial = subject_initial(&s);
      for (int round = 0; round < 2; ++round) {
        next(&r);
        assert_true(statistics_of(&r).last_step == sizes[i]);
        must(as_integrator_start(r.integrator, &initial, NULL, &error), &error);
        assert_true(statistics_of(&r).next_step == sizes[i]);
      }
      run_close(&r);
    }
}

// ---- the size settles ---------------------------------------------------------------------------------

static int disk_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

static int pull(const as_point *at, double *f, void *user) {
  (void)user;
  for (int i = 0; i < 2; ++i) f[i] = -at->q[i];
  return AS_DONE;
}

/// A circle around the origin: all times are alike.
static subject circle(void) {
  subject s = {.name = "circle", .def = as_default_problem_def(), .q0 = {1.0}, .v0 = {0.0, 1.0}};
  s.def.parts = &plane;
  s.def.n_parts = 1;
  s.def.mass_constant = true;
  s.def.mass = disk_mass;
  s.def.force = pull;
  return s;
}

/// Where nothing changes h does not either; where little does it changes seldom, and factors are kept.
static void test_settles(void **state) {
  (void)state;
  const int steps = 300;
  for (int m = 0; m < 3; ++m)
    for (int digits = 3; digits <= 6; ++digits) {
      const double step_error = pow(10.0, -digits);
      const as_integrator_def how = automatic(methods[m], step_error);
      const subject s[] = {circle(), subject_plain(problem_heavy_top_fast())};
      for (int i = 0; i < 2; ++i) {
        run r = run_start(&s[i], &how);
        int changes = 0;
        // Sizes are known after one revolution.
        advance(&r, i == 0 ? 10.0 : 0.1);
        next(&r);
        const as_statistics before = statistics_of(&r);
        for (int k = 0; k < steps; ++k) {
          const double h = statistics_of(&r).last_step;
          next(&r);
          if (fabs(statistics_of(&r).last_step - h) > 1e-9 * h) ++changes;
        }
        const as_statistics after = statistics_of(&r);
        const long factorizations = after.factorizations - before.factorizations;
        const long rejected = after.rejected_steps - before.rejected_steps;
        printf("%-16s %-8s rtol %.1e: h = %.2e, %d changes, %ld rejected, %ld factorizations\n",
               s[i].name, method_names[m], how.tolerance.rtol, after.last_step, changes, rejected,
               factorizations);
        if (i == 0) assert_true(changes == 0 && factorizations <= steps / 10);
        assert_true(changes <= steps / 10 && rejected <= 3);
        run_close(&r);
      }
    }
}

/// Index-3 corrects its velocity in every step once h has changed, [ST.6]: with new factors in each step that takes one
/// solution where h is held, and lambda does not zigzag.
static void test_correction(void **state) {
  (void)state;
  test_problem *const chain = loops_tree(9, 1);
  const subject s = subject_plain(chain);
  const as_integrator_def how = automatic(AS_METHOD_INDEX3, 1e-4);
  run r = run_start(&s, &how);
  advance(&r, 0.2);
  next(&r);
  const as_statistics before = statistics_of(&r);
  double lambda[3] = {0}, zigzag = 0.0, way = 0.0;
  long steps = 0, changes = 0, rejected = 0;
  for (; time_of(&r) < 0.8; ++steps) {
    const as_statistics last = statistics_of(&r);
    next(&r);
    const as_statistics now = statistics_of(&r);
    rejected = now.rejected_steps - before.rejected_steps;
    if (fabs(now.last_step - last.last_step) > 1e-9 * last.last_step) ++changes;
    memmove(lambda + 1, lambda, 2 * sizeof(double));
    lambda[0] = as_integrator_state(r.integrator)->lambda[2];
    if (steps < 2) continue;
    zigzag += fabs(lambda[0] - 2.0 * lambda[1] + lambda[2]);
    way += fabs(lambda[0] - lambda[1]);
  }
  const as_statistics after = statistics_of(&r);
  const long estimates = steps + rejected; // [SC.9]
  const long solutions = (after.solves - before.solves) -
                         (after.newton_iterations - before.newton_iterations) - estimates;
  printf(
      "chain: %ld steps, %ld changes, %ld rejected, %ld solutions for corrections; zigzag %.3f\n",
      steps, changes, rejected, solutions, zigzag / way);
  assert_true(changes > 2 && changes < 2 * steps / 3);
  assert_true(solutions >= steps && solutions <= steps + 4 * (changes + rejected));
  assert_true(zigzag < 0.3 * way); // half of it if only steps that change were corrected
  run_close(&r);
  loops_free(chain);
}

static int shake(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = at->t > 0.5 ? 1e4 * sin(2000.0 * (at->t - 0.5)) : 0.0;
  return AS_DONE;
}

/// What a rejection has taught is not forgotten, even where max_step or a landing had cut the step short: h does
/// not grow for a while.
static void test_learns(void **state) {
  (void)state;
  subject s = {.name = "shaken", .def = as_default_problem_def(), .v0 = {1.0}};
  s.def.parts = &line;
  s.def.n_parts = 1;
  s.def.mass_constant = true;
  s.def.mass = ball_mass;
  s.def.force = shake;
  for (int limited = 0; limited < 2; ++limited) {
    as_integrator_def how = automatic(AS_METHOD_INDEX2, 1e-4);
    if (limited) how.tolerance.max_step = 0.05;
    run r = run_start(&s, &how);
    while (time_of(&r) < 0.6) {
      const long rejected = statistics_of(&r).rejected_steps;
      next(&r);
      const as_statistics work = statistics_of(&r);
      if (work.rejected_steps > rejected && work.next_step > work.last_step)
        fail_msg("after a rejection at t = %g s and a step of %g s comes one of %g s", time_of(&r),
                 work.last_step, work.next_step);
    }
    const as_statistics work = statistics_of(&r);
    printf("shaken: %ld steps, %ld rejected\n", work.steps, work.rejected_steps);
    assert_true(work.rejected_steps > 0);
    run_close(&r);
  }
}

// ---- tolerances ---------------------------------------------------------------------------------------

static long steps_to(const subject *s, const as_integrator_def *how, double t) {
  run r = run_start(s, how);
  advance(&r, t);
  const long steps = statistics_of(&r).steps;
  run_close(&r);
  return steps;
}

/// A smaller tolerance of one component makes more steps; the arrays are copied.
static void test_components(void **state) {
  (void)state;
  static manufactured m = {.space = AS_SPACE_RN, .holonomic = true, .states = true};
  const subject s = subject_made("made on R^4", &m);
  double q[4], v[4], x[2];
  as_integrator_def how = automatic(AS_METHOD_INDEX2, 0.0);
  how.tolerance.atol_position = how.tolerance.atol_velocity = how.tolerance.atol_state = 1e-3;
  const long usual = steps_to(&s, &how, 1.0);
  for (int i = 0; i < 4; ++i) q[i] = v[i] = 1e-3;
  for (int i = 0; i < 2; ++i) x[i] = 1e-3;
  how.tolerance.atol_q = q;
  how.tolerance.atol_v = v;
  how.tolerance.atol_x = x;
  // The same numbers one by one.
  how.tolerance.atol_position = how.tolerance.atol_velocity = how.tolerance.atol_state = 1e-9;
  assert_int_equal(steps_to(&s, &how, 1.0), usual);
  double *const arrays[] = {q, v, x};
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 2; ++k) {
      arrays[i][k] = 1e-8;
      const long more = steps_to(&s, &how, 1.0);
      printf("%c[%d]: %ld steps instead of %ld\n", "qvx"[i], k, more, usual);
      assert_true(more > 5 * usual);
      arrays[i][k] = 1e-3;
    }
  }
  as_error error = {0};
  run r = run_start(&s, &how);
  for (int i = 0; i < 4; ++i) q[i] = v[i] = (double)NAN;
  for (int i = 0; i < 2; ++i) x[i] = 1e-12;
  advance(&r, 1.0);
  must(as_integrator_start(r.integrator, &(as_initial){.q = s.q0, .v = s.v0, .x = s.x0}, NULL,
                           &error),
       &error);
  advance(&r, 1.0);
  assert_int_equal(statistics_of(&r).steps, usual);
  run_close(&r);
}

static int push(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = 10.0 + 5.0 * sin(20.0 * at->t);
  return AS_DONE;
}

/// Sizes are those of accepted states: a first attempt that would have led far away does not loosen the
/// tolerance of what follows.
static void test_sizes(void **state) {
  (void)state;
  subject s = {.name = "pushed", .def = as_default_problem_def()};
  s.def.parts = &line;
  s.def.n_parts = 1;
  s.def.mass_constant = true;
  s.def.mass = ball_mass;
  s.def.force = push;
  for (int m = 0; m < 3; ++m) {
    as_integrator_def how = automatic(methods[m], 1e-5);
    how.tolerance.first_step = 1e-4;
    const long near = steps_to(&s, &how, 1.0);
    how.tolerance.first_step = 100.0;
    const long far = steps_to(&s, &how, 1.0);
    printf("pushed, %s: %ld steps, %ld after an attempt of 100 s\n", method_names[m], near, far);
    assert_true(far > near / 2);
  }
}

/// Rotations have a tolerance of their own, in rad.
static void test_kinds(void **state) {
  (void)state;
  const subject s = subject_plain(problem_heavy_top_slow());
  for (int kind = 0; kind < 3; ++kind) {
    as_integrator_def how = automatic(AS_METHOD_INDEX2, 0.0);
    as_tolerance *tol = &how.tolerance;
    double *const atol[] = {&tol->atol_position, &tol->atol_rotation, &tol->atol_velocity};
    for (int i = 0; i < 3; ++i) *atol[i] = 1e-2;
    const long usual = steps_to(&s, &how, 0.3);
    *atol[kind] = 1e-7;
    const long more = steps_to(&s, &how, 0.3);
    printf("kind %d: %ld steps instead of %ld\n", kind, more, usual);
    assert_true(more > 5 * usual);
  }
}

/// rtol = 0 is allowed where all absolute tolerances are given; these are the errors at the end, about, and these follow
/// them in proportion.
static void test_absolute(void **state) {
  (void)state;
  const subject s = subject_plain(problem_pendulum());
  for (int m = 0; m < 3; ++m) {
    double last = (double)NAN;
    for (int digits = 3; digits <= 6; ++digits) {
      const double atol = pow(10.0, -digits);
      as_integrator_def how = automatic(methods[m], 0.0);
      how.tolerance.atol_position = how.tolerance.atol_velocity = atol;
      how.tolerance.atol_state = how.tolerance.atol_rotation = 1.0;
      run r = run_start(&s, &how);
      advance(&r, 1.0);
      double sums[SUBJECT_VARIABLES] = {0};
      subject_add_errors(&s, as_problem_space(r.problem), as_integrator_state(r.integrator), sums);
      const double q = sqrt(sums[SUBJECT_Q]), v = sqrt(sums[SUBJECT_V]);
      printf("%-8s atol %.0e: q off by %.2g, v by %.2g times that\n", method_names[m], atol,
             q / atol, v / atol);
      assert_true(q < 3.0 * atol && v < 10.0 * atol);
      if (digits > 3) assert_true(q / last > 0.06 && q / last < 0.16);
      last = q;
      run_close(&r);
    }
  }
}

static void refuse(const as_problem *problem, const as_integrator_def *how, const char *culprit) {
  as_integrator *integrator = NULL;
  as_error error = {0};
  const as_status status = as_integrator_create(problem, how, &integrator, &error);
  if (status != AS_ERR_ARGUMENT)
    fail_msg("%s: %s: '%s'", culprit, as_status_name(status), error.message);
  expect_sentence(&error, AS_ERR_ARGUMENT, culprit);
  assert_null(integrator);
}

static void test_refused(void **state) {
  (void)state;
  static manufactured m = {.space = AS_SPACE_RN, .holonomic = true, .states = true};
  const subject s = subject_made("made on R^4", &m);
  const double nan = (double)NAN, inf = (double)INFINITY;
  as_error error = {0};
  as_problem *problem = NULL;
  must(as_problem_create(&s.def, &problem, &error), &error);
  as_integrator_def how = as_default_integrator_def();
  as_tolerance *tol = &how.tolerance;
  const as_tolerance good = *tol;
  const struct {
    double *place;
    const char *name;
    bool may_be_zero, may_be_nan, may_be_infinite;
  } numbers[] = {
      {&tol->rtol, "rtol", false, false, false}, // zero needs absolute ones
      {&tol->atol_position, "atol_position", false, true, false},
      {&tol->atol_rotation, "atol_rotation", false, true, false},
      {&tol->atol_velocity, "atol_velocity", false, true, false},
      {&tol->atol_state, "atol_state", false, true, false},
      {&tol->first_step, "first_step", false, true, false},
      {&tol->min_step, "min_step", true, false, false},
      {&tol->max_step, "max_step", false, false, true},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
    const double bad[] = {-1e-3, 0.0, nan, inf, -inf};
    for (int k = 0; k < 5; ++k) {
      *tol = good;
      *numbers[i].place = bad[k];
      const bool allowed = (bad[k] == 0.0 && numbers[i].may_be_zero) ||
                           (isnan(bad[k]) && numbers[i].may_be_nan) ||
                           (bad[k] == inf && numbers[i].may_be_infinite);
      as_integrator *integrator = NULL;
      if (!allowed) {
        refuse(problem, &how, bad[k] == 0.0 && i == 0 ? "tolerance" : numbers[i].name);
      } else {
        must(as_integrator_create(problem, &how, &integrator, &error), &error);
        as_integrator_destroy(integrator);
      }
    }
  }
  *tol = good;
  tol->rtol = 1.0;
  refuse(problem, &how, "rtol");
  *tol = good;
  tol->min_step = 2e-3;
  tol->max_step = 1e-3;
  refuse(problem, &how, "min_step");
  const double bad[] = {-1.0, 0.0, nan, inf};
  for (int k = 0; k < 4; ++k) {
    const double four[] = {1e-3, 1e-3, bad[k], 1e-3}, two[] = {1e-3, bad[k]};
    *tol = good;
    tol->atol_q = four;
    refuse(problem, &how, "q[2]");
    *tol = good;
    tol->atol_v = four;
    refuse(problem, &how, "v[2]");
    *tol = good;
    tol->atol_x = two;
    refuse(problem, &how, "x[1]");
  }
  as_problem_destroy(problem);
}

// ---- at rest ------------------------------------------------------------------------------------------

static int nothing(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 6; ++i) f[i] = 0.0;
  return AS_DONE;
}

static int body_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 6; ++i) as_matrix_add(m, i, i, 1.0 + i);
  return AS_DONE;
}

/// At rest, where nothing ever happens: few steps, and everything stays as it is.
static void test_at_rest(void **state) {
  (void)state;
  static const as_space_part body = {AS_SPACE_SE3, 1};
  subject s[3] = {subject_plain(problem_oscillator()),
                  subject_plain(problem_pendulum()),
                  {.name = "body", .def = as_default_problem_def(), .q0 = {0, 0, 0, 1}}};
  s[0].q0[0] = s[0].v0[0] = 0.0;
  s[1].q0[0] = s[1].v0[0] = s[1].v0[1] = 0.0;
  s[1].q0[1] = -1.0;
  s[2].def.parts = &body;
  s[2].def.n_parts = 1;
  s[2].def.mass_constant = true;
  s[2].def.mass = body_mass;
  s[2].def.force = nothing;
  for (int i = 0; i < 3; ++i)
    for (int m = 0; m < 3; ++m)
      for (int land = 0; land < 2; ++land) {
        as_integrator_def how = automatic(methods[m], 1e-4);
        how.tolerance.land = land;
        run r = run_start(&s[i], &how);
        const as_state *now = as_integrator_state(r.integrator);
        const double t0 = now->t, q0 = now->q[0], q1 = i == 1 ? now->q[1] : 0.0;
        advance(&r, t0 + 10.0);
        now = as_integrator_state(r.integrator);
        const as_statistics work = statistics_of(&r);
        printf("%s, %s: %ld steps, last %g s\n", s[i].name, method_names[m], work.steps,
               work.last_step);
        assert_true(work.steps <= 200 && work.last_step <= 30.0);
        assert_true(fabs(now->q[0] - q0) < 1e-12 && fabs(now->v[0]) < 1e-12);
        if (i == 1) assert_true(fabs(now->q[1] - q1) < 1e-12);
        for (int k = 0; k < 10; ++k) next(&r);
        assert_true(isfinite(time_of(&r)));
        run_close(&r);
      }
}

// Two masses in a line, a spring between them; the second one is held until t = 1, then moved by
// s = (t - 1)^4/10.

static double course(double t) { return t > 1.0 ? pow(t - 1.0, 4.0) / 10.0 : 0.0; }

static int spring_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = 25.0 * (at->q[1] - at->q[0]);
  f[1] = -f[0];
  return AS_DONE;
}

static int guide(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[1] - course(at->t);
  return AS_DONE;
}

/// q'' = 25 (s - q) from rest: s - s''/25 + s''''/625 (1 - cos 5 (t - 1))
static double follower(double t) {
  const double d = t - 1.0;
  if (d <= 0.0) return 0.0;
  return course(t) - 1.2 * d * d / 25.0 + 2.4 / 625.0 * (1.0 - cos(5.0 * d));
}

static void test_driven_later(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    subject s = {.name = "driven later", .def = as_default_problem_def()};
    s.def.parts = &plane;
    s.def.n_parts = 1;
    s.def.n_lambda = 1;
    s.def.mass_constant = true;
    s.def.mass = disk_mass;
    s.def.force = spring_force;
    s.def.constraint = guide;
    s.def.time_scale = 1.0;
    as_integrator_def how = automatic(methods[m], 1e-5);
    how.tolerance.max_step = 0.1;
    run r = run_start(&s, &how);
    double error = 0.0;
    for (int k = 1; k <= 60; ++k) {
      advance(&r, 0.05 * k);
      const as_state *now = as_integrator_state(r.integrator);
      error = fmax(error, fabs(now->q[0] - follower(now->t)));
    }
    const as_statistics work = statistics_of(&r);
    printf("driven later, %s: %ld steps, %ld rejected, error %.1e\n", method_names[m], work.steps,
           work.rejected_steps, error);
    assert_true(error < 2e-3 && work.steps < 1000);
    run_close(&r);
  }
}

// A point on a line that is moved by s = sin t + A sin(1000 t), so little that q does not show it: v has to.

static const double tremor = 3e-6; // A [m]

static int trembling(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[0] - sin(at->t) - tremor * sin(1000.0 * at->t);
  return AS_DONE;
}

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int no_force(const as_point *at, double *f, void *user) {
  (void)at;
  (void)user;
  f[0] = 0.0;
  return AS_DONE;
}

/// v also between steps: none pass over a vibration that constraints prescribe.
static void test_tremor(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    subject s = {.name = "trembling", .def = as_default_problem_def()};
    s.def.parts = &line;
    s.def.n_parts = 1;
    s.def.n_lambda = 1;
    s.def.mass_constant = true;
    s.def.mass = unit_mass;
    s.def.force = no_force;
    s.def.constraint = trembling;
    s.def.time_scale = 1.0;
    s.v0[0] = 1.0 + 1000.0 * tremor;
    const as_integrator_def how = automatic(methods[m], 1e-4);
    run r = run_start(&s, &how);
    double error = 0.0;
    for (int k = 1; k <= 500; ++k) {
      advance(&r, 4e-4 * k);
      const as_state *now = as_integrator_state(r.integrator);
      error = fmax(error, fabs(now->v[0] - cos(now->t) - 1000.0 * tremor * cos(1000.0 * now->t)));
    }
    const as_statistics work = statistics_of(&r);
    printf("trembling, %s: %ld steps, %ld rejected, v off by %.1e\n", method_names[m], work.steps,
           work.rejected_steps, error);
    assert_true(error < 400.0 * tremor && work.steps < 1000);
    run_close(&r);
  }
}

// ---- samples --------------------------------------------------------------------------------------------

enum { MAX_SAMPLES = 200 };

/// A mass on a spring; u = -3 q - v at each sample.
typedef struct sampled {
  int count;
  double times[MAX_SAMPLES];
} sampled;

static int held_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = -4.0 * at->q[0] + at->u[0];
  return AS_DONE;
}

static int feed_back(const as_point *at, double *u, void *user) {
  sampled *log = user;
  assert_true(log->count < MAX_SAMPLES);
  log->times[log->count++] = at->t;
  u[0] = -3.0 * at->q[0] - at->v[0];
  return AS_DONE;
}

static subject sampled_subject(sampled *log, as_sampler_def *sampler, double period) {
  subject s = {.name = "sampled", .def = as_default_problem_def(), .q0 = {1.0}};
  *sampler = (as_sampler_def){.period = period, .count = 1, .sample = feed_back};
  *log = (sampled){0};
  s.def.parts = &line;
  s.def.n_parts = 1;
  s.def.n_u = 1;
  s.def.samplers = sampler;
  s.def.n_samplers = 1;
  s.def.mass_constant = true;
  s.def.mass = ball_mass;
  s.def.force = held_force;
  s.def.user = log;
  return s;
}

/// q and v at t; u jumps at multiples of the period.
static void held_exact(double t, double period, double *q, double *v) {
  *q = 1.0;
  *v = 0.0;
  for (int k = 0; k * period < t - 1e-9; ++k) {
    const double dt = fmin(period, t - k * period), rest = (-3.0 * *q - *v) / 4.0;
    const double a = *q - rest, b = *v / 2.0, c = cos(2.0 * dt), s = sin(2.0 * dt);
    *q = rest + a * c + b * s;
    *v = 2.0 * (b * c - a * s);
  }
}

/// Steps end on samples exactly, and the error falls with the square of the number of steps.
static void test_samples(void **state) {
  (void)state;
  const double period = 0.7;
  for (int m = 0; m < 3; ++m)
    for (int land = 0; land < 2; ++land) {
      double error[2] = {0}, steps[2];
      for (int level = 0; level < 2; ++level) {
        static sampled log;
        as_sampler_def sampler;
        const subject s = sampled_subject(&log, &sampler, period);
        as_integrator_def how = automatic(methods[m], level == 0 ? 1e-4 : 1e-4 / 64.0);
        how.tolerance.land = land;
        run r = run_start(&s, &how);
        for (int k = 1; k <= 50; ++k) {
          double q, v;
          const double t = 0.11 * k;
          advance(&r, t);
          held_exact(t, period, &q, &v);
          const as_state *now = as_integrator_state(r.integrator);
          error[level] += hypot(now->q[0] - q, now->v[0] - v);
        }
        steps[level] = (double)statistics_of(&r).steps;
        assert_int_equal(log.count, 8); // at 0, 0.7 ... 4.9
        for (int k = 0; k < 8; ++k) assert_true(log.times[k] == k * period);
        run_close(&r);
      }
      const double order = log(error[0] / error[1]) / log(steps[1] / steps[0]);
      printf("samples, %s%s: %g and %g steps, %.1e and %.1e, order %.2f\n", method_names[m],
             land ? ", land" : "", steps[0], steps[1], error[0] / 50, error[1] / 50, order);
      assert_true(order >= 1.8);
    }
}

/// Asked times that are samples to round-off: 3 * 0.7 is less than 2.1, 3 * 0.1 more than 0.3. u is the new
/// one, as with given steps, and no step of round-off size is made.
static void test_at_samples(void **state) {
  (void)state;
  const double periods[] = {0.7, 0.1, 0.3};
  for (int i = 0; i < 3; ++i)
    for (int way = 0; way < 3; ++way) {
      static sampled log;
      as_sampler_def sampler;
      const subject s = sampled_subject(&log, &sampler, periods[i]);
      as_integrator_def how = automatic(AS_METHOD_INDEX2, 1e-4);
      if (way == 2) how.step = periods[i] / 20.0;
      how.tolerance.land = way == 1;
      run r = run_start(&s, &how);
      for (int k = 1; k <= 12; ++k) {
        char text[32];
        double t = 0.0;
        snprintf(text, sizeof text, "%.1f", k * periods[i]);
        assert_int_equal(sscanf(text, "%lf", &t), 1); // NOLINT(cert-err34-c)
        advance(&r, t);
        const as_state *now = as_integrator_state(r.integrator);
        const double u = -3.0 * now->q[0] - now->v[0];
        if (!(fabs(now->u[0] - u) < 1e-6))
          fail_msg("period %g, way %d: u = %.9g instead of %.9g at t = %.17g", periods[i], way,
                   now->u[0], u, now->t);
        if (way == 1) assert_true(statistics_of(&r).last_step > 1e-6);
      }
      run_close(&r);
    }
}

// ---- redundant and singular constraints -------------------------------------------------------------------

static double position_error(const subject *s, const run *r) {
  double sums[SUBJECT_VARIABLES] = {0};
  subject_add_errors(s, as_problem_space(r->problem), as_integrator_state(r->integrator), sums);
  return sqrt(sums[SUBJECT_Q]);
}

static void test_redundant(void **state) {
  (void)state;
  test_problem *p[] = {loops_pendulum_twice(), loops_fourbar()};
  for (int i = 0; i < 2; ++i) {
    const subject s = subject_plain(p[i]);
    for (int m = 0; m < 3; ++m)
      for (int land = 0; land < 2; ++land) {
        as_integrator_def how = automatic(methods[m], 1e-5);
        how.tolerance.land = land;
        run r = run_start(&s, &how);
        advance(&r, s.t0 + 0.5);
        advance(&r, s.t0 + 1.0);
        const as_statistics work = statistics_of(&r);
        const double error = position_error(&s, &r);
        printf("%-16s %-8s: %ld steps, %ld rejected, %ld failed, error %.1e, drift %.1e\n", s.name,
               method_names[m], work.steps, work.rejected_steps, work.failed_steps, error,
               drift_of(&r));
        assert_true(error < 1e-2 && work.steps < 3000 && work.failed_steps <= 5);
        run_close(&r);
      }
    loops_free(p[i]);
  }
}

/// Past the flat positions of four-bar linkages, where the constraints lose rank: how a large step happens to meet such a
/// position decides its error, which is therefore looked at for some tolerances close to each other.
static void test_singular(void **state) {
  (void)state;
  enum { CLOSE = 12 };
  for (int N = 1; N <= 2; ++N) {
    test_problem *p = loops_nfourbar(N);
    const subject s = subject_plain(p);
    const double end = s.t0 + 3.0;
    double psi, rate;
    loops_nfourbar_angle(p, end, &psi, &rate);
    assert_true(fabs(psi) > 3.0); // at least one flat position is behind
    for (int m = 0; m < 2; ++m)
      for (int digits = 3; digits <= 5; ++digits) {
        const double step_error = pow(10.0, -digits), rtol = 3.0 * pow(step_error, 2.0 / 3.0);
        double error = 0.0;
        long steps = 0;
        for (int k = 0; k < CLOSE; ++k) {
          const as_integrator_def how = automatic(methods[m], step_error * pow(0.95, k));
          run r = run_start(&s, &how);
          advance(&r, end);
          error += position_error(&s, &r) / CLOSE;
          steps = statistics_of(&r).steps;
          run_close(&r);
        }
        printf("N = %d, %s, rtol %.1e: %ld steps, error %.1e\n", N, method_names[m], rtol, steps,
               error);
        assert_true(error < 20.0 * rtol && steps < 20000);
      }
    loops_free(p);
  }
}

/// [SC.13] With small tolerances, past one flat position: round-off there is many tolerances of a step, in any size of it, and
/// must not stop the run.
static void test_singular_and_tight(void **state) {
  (void)state;
  test_problem *p = loops_nfourbar(1);
  const subject s = subject_plain(p);
  for (int m = 0; m < 3; ++m)
    for (int digits = 5; digits <= 7; ++digits) {
      as_integrator_def how = as_default_integrator_def();
      how.method = methods[m];
      how.tolerance.rtol = pow(10.0, -digits);
      run r = run_start(&s, &how);
      advance(&r, s.t0 + 0.9);
      const double error = position_error(&s, &r);
      const as_statistics work = statistics_of(&r);
      printf("%s, rtol %.0e: %ld steps, %ld rejected, error %.1e\n", method_names[m],
             how.tolerance.rtol, work.steps, work.rejected_steps, error);
      assert_true(error < 20.0 * how.tolerance.rtol && work.rejected_steps < 100);
      run_close(&r);
    }
  loops_free(p);
}

// ---- rotations, and rest ----------------------------------------------------------------------------

static int round_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, 1.0);
  return AS_DONE;
}

/// A torque that turns with the ball.
static int round_torque(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = 0.0;
  f[1] = 3.0;
  f[2] = -2.0;
  return AS_DONE;
}

/// A ball with a constant torque in its own axes: v is linear in time, so that the error of a step on SO(3) is
/// the bracket [v, v'] h^3/12 and nothing else.
static void test_bracket(void **state) {
  (void)state;
  static const as_space_part space = {AS_SPACE_SO3, 1};
  const double q0[] = {1.0, 0.0, 0.0, 0.0}, v0[] = {4.0, 1.0, 0.5}, h = 1e-2, atol = 1e-2;
  for (int m = 0; m < 3; ++m) {
    as_problem *problem = NULL;
    as_problem_def def = as_default_problem_def();
    def.parts = &space;
    def.n_parts = 1;
    def.mass_constant = true;
    def.mass = round_mass;
    def.force = round_torque;
    assert_int_equal(as_problem_create(&def, &problem, NULL), AS_OK);
    double q[2][4], error = 0.0;
    for (int fine = 0; fine < 2; ++fine) {
      as_integrator *integrator = NULL;
      as_integrator_def how = automatic(methods[m], 0.0);
      how.tolerance.atol_position = how.tolerance.atol_velocity = how.tolerance.atol_state = 1.0;
      how.tolerance.atol_rotation = atol;
      how.tolerance.first_step = h;
      if (fine) how.step = h / 64.0;
      const as_initial initial = {.q = q0, .v = v0};
      as_statistics work;
      assert_int_equal(as_integrator_create(problem, &how, &integrator, NULL), AS_OK);
      assert_int_equal(as_integrator_start(integrator, &initial, NULL, NULL), AS_OK);
      if (fine)
        assert_int_equal(as_integrator_advance(integrator, h, NULL), AS_OK);
      else
        assert_int_equal(as_integrator_next(integrator, NULL), AS_OK);
      assert_int_equal(as_integrator_statistics(integrator, &work, NULL), AS_OK);
      if (!fine) error = work.error;
      memcpy(q[fine], as_integrator_state(integrator)->q, sizeof q[fine]);
      as_integrator_destroy(integrator);
    }
    double d[3];
    as_space_difference(as_problem_space(problem), q[0], q[1], d);
    const double tolerated = pow(atol / 3.0, 1.5); // [SC.12], size 1 rad
    const double found = sqrt((d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / 3.0) / tolerated;
    printf("%s: error %.3e, estimated %.3e tolerances\n", method_names[m], found, error);
    assert_true(found > 0.0 && fabs(error / found - 1.0) < 0.1);
    as_problem_destroy(problem);
  }
}

static int damped_weight(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = -5.0 * at->v[0];
  f[1] = -5.0 * at->v[1] - 9.81;
  return AS_DONE;
}

/// A pendulum that comes to rest: steps grow without end, and the constraint still holds to a tenth of the
/// tolerance.
static void test_rest(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  for (int m = 0; m < 3; ++m) {
    as_problem *problem = NULL;
    as_integrator *integrator = NULL;
    as_problem_def def = p->def;
    const double step_error = 1e-4;
    const as_integrator_def how = automatic(methods[m], step_error);
    const as_initial initial = {.q = p->q0, .v = p->v0};
    as_statistics work = {0};
    double worst = 0.0;
    def.force = damped_weight;
    def.block[AS_BLOCK_F_Q] = def.block[AS_BLOCK_F_V] = (as_block_def){0}; // differenced
    assert_int_equal(as_problem_create(&def, &problem, NULL), AS_OK);
    assert_int_equal(as_integrator_create(problem, &how, &integrator, NULL), AS_OK);
    assert_int_equal(as_integrator_start(integrator, &initial, NULL, NULL), AS_OK);
    for (int i = 0; i < 300; ++i) {
      assert_int_equal(as_integrator_next(integrator, NULL), AS_OK);
      double drift[2];
      assert_int_equal(as_integrator_drift(integrator, &drift[0], &drift[1], NULL), AS_OK);
      if (i >= 200) worst = fmax(worst, drift[0]);
    }
    assert_int_equal(as_integrator_statistics(integrator, &work, NULL), AS_OK);
    printf("%s: steps of %.1e s at rest, |g| up to %.1e\n", method_names[m], work.last_step, worst);
    assert_true(work.last_step > 1e3 && worst < 0.1 * step_error); // [SC.8], size 1 m
    as_integrator_destroy(integrator);
    as_problem_destroy(problem);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bracket),      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_output_times), cmocka_unit_test(test_land),
      cmocka_unit_test(test_pass),         cmocka_unit_test(test_next),
      cmocka_unit_test(test_repeatable),   cmocka_unit_test(test_rejected),
      cmocka_unit_test(test_mixed),        cmocka_unit_test(test_smaller_steps),
      cmocka_unit_test(test_bounce),       cmocka_unit_test(test_min_step),
      cmocka_unit_test(test_impossible),   cmocka_unit_test(test_max_step),
      cmocka_unit_test(test_first_step),   cmocka_unit_test(test_settles),
      cmocka_unit_test(test_correction),   cmocka_unit_test(test_learns),
      cmocka_unit_test(test_components),   cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_kinds),        cmocka_unit_test(test_absolute),
      cmocka_unit_test(test_refused),      cmocka_unit_test(test_at_rest),
      cmocka_unit_test(test_driven_later), cmocka_unit_test(test_samples),
      cmocka_unit_test(test_at_samples),   cmocka_unit_test(test_redundant),
      cmocka_unit_test(test_singular),     cmocka_unit_test(test_singular_and_tight),
      cmocka_unit_test(test_tremor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
