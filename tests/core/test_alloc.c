/// Memory: create takes all of it, nothing after that allocates, and wherever it runs out there is
/// an AS_ERR_MEMORY and no leak.
///
/// The linker sends every malloc, calloc, realloc and free of this program and of the library
/// through the functions here (-Wl,--wrap). Shared libraries keep their own: what LAPACK and KLU
/// take inside is not seen, nor is what cmocka takes.
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
#include "counting.h"
#include "problems/problems.h"

/// The wrapping itself works: otherwise every test below passes without testing anything.
static void test_wrapping(void **state) {
  (void)state;
  const long taken = memory.taken, live = memory.live;
  as_space *space = NULL;
  as_error error;
  assert_int_equal(as_space_create(&(as_space_part){AS_SPACE_SE3, 2}, 1, &space, &error), AS_OK);
  assert_true(memory.taken > taken);
  assert_true(memory.live > live);
  as_space_destroy(space);
  assert_int_equal(memory.live, live);
}

// ---- a problem with everything in it ------------------------------------------------------------

// A skate on the plane, q = (x, y, theta), pushed; k = -sin(theta) x' + cos(theta) y', g = x - y^2.

static int skate_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  (void)user;
  for (int i = 0; i < 3; ++i) as_matrix_add(m, i, i, 1.0 + i);
  return AS_DONE;
}

static int skate_force(const as_point *at, double *out, void *user) {
  (void)user;
  const double s = sin(at->q[2]), c = cos(at->q[2]);
  out[0] = 1.0 - at->lambda[0] + s * at->psi[0];
  out[1] = 2.0 * at->q[1] * at->lambda[0] - c * at->psi[0];
  out[2] = -at->v[2];
  return AS_DONE;
}

static int skate_constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] - at->q[1] * at->q[1];
  return AS_DONE;
}

static int skate_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = -sin(at->q[2]) * at->v[0] + cos(at->q[2]) * at->v[1];
  return AS_DONE;
}

static const as_space_part r3[] = {{AS_SPACE_RN, 3}};
static const double skate_q0[] = {0.25, 0.5, 0.3};
static const double skate_v0[] = {0.0, 0.0, 0.7};

/// A general force, all blocks differenced, over sparse patterns: every allocation there is.
static as_problem_def skate_def(void) {
  static const int all_start[] = {0, 1, 2, 3}, diagonal[] = {0, 1, 2};
  as_problem_def def = as_default_problem_def();
  def.parts = r3;
  def.n_parts = 1;
  def.n_lambda = def.n_psi = 1;
  def.force_kind = AS_FORCE_GENERAL;
  def.mass = skate_mass;
  def.force = skate_force;
  def.constraint = skate_constraint;
  def.nonholonomic = skate_nonholonomic;
  def.block[AS_BLOCK_M].pattern = (as_pattern){all_start, diagonal};
  def.block[AS_BLOCK_F_V].pattern = (as_pattern){all_start, diagonal};
  return def;
}

typedef struct subject {
  const char *name;
  as_problem_def def;
  const double *q0, *v0;
  double h;
} subject;

static subject as_given(const test_problem *p) {
  return (subject){p->name, p->def, p->q0, p->v0, p->t_end / 1000.0};
}

/// Without formulas: blocks, rate and acceleration differenced.
static subject as_differenced(const test_problem *p) {
  subject s = as_given(p);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    s.def.block[block].source = AS_BLOCK_DIFFERENCED;
  s.def.jacobian = NULL;
  s.def.constraint_rate = s.def.constraint_acceleration = NULL;
  return s;
}

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};

// ---- no allocation after create -----------------------------------------------------------------

static void must_be_ok(const subject *p, as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s: %s", p->name, as_status_name(status), error->message);
}

static void must_not_allocate(const subject *p, const char *what, long taken) {
  if (memory.taken != taken)
    fail_msg("%s: %s allocates %ld times", p->name, what, memory.taken - taken);
}

static void run_without_memory(const subject *p, as_method method) {
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  as_statistics statistics;
  double v[64];
  const long live = memory.live;
  how.method = method;
  how.step = p->h;
  must_be_ok(p, as_problem_create(&p->def, &problem, &error), &error);
  must_be_ok(p, as_integrator_create(problem, &how, &integrator, &error), &error);
  assert_true(as_space_nv(as_problem_space(problem)) <= 64);
  const as_initial initial = {.q = p->q0, .v = p->v0};
  const long taken = memory.taken, held = memory.live;
  must_be_ok(p, as_integrator_start(integrator, &initial, NULL, &error), &error);
  must_not_allocate(p, "start", taken);
  must_be_ok(p, as_integrator_step(integrator, p->h, &error), &error);
  must_not_allocate(p, "the first step", taken);
  must_be_ok(p, as_integrator_advance(integrator, 10.0 * p->h, &error), &error);
  must_be_ok(p, as_integrator_step(integrator, 0.7 * p->h, &error), &error);
  must_not_allocate(p, "a step", taken);
  must_be_ok(p, as_integrator_velocity(integrator, v, &error), &error);
  must_not_allocate(p, "velocity", taken);
  must_be_ok(p, as_integrator_statistics(integrator, &statistics, &error), &error);
  must_not_allocate(p, "statistics", taken);
  const as_initial again = {.t = as_integrator_state(integrator)->t, .q = p->q0, .v = p->v0};
  must_be_ok(p, as_integrator_start(integrator, &again, NULL, &error), &error);
  must_not_allocate(p, "another start", taken);
  // Steps that fail, too; the second one need not.
  assert_int_equal(as_integrator_step(integrator, -1.0, &error), AS_ERR_ARGUMENT);
  (void)as_integrator_step(integrator, 1e6 * p->h, &error);
  must_not_allocate(p, "a failing step", taken);
  assert_int_equal(memory.live, held);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  assert_int_equal(memory.live, live);
}

/// The same with automatic steps, some of which are rejected, and states inside of them.
static void run_automatic_without_memory(const subject *p, as_method method) {
  as_integrator_def how = as_default_integrator_def();
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  const long live = memory.live;
  how.method = method;
  how.tolerance.first_step = 100.0 * p->h;
  must_be_ok(p, as_problem_create(&p->def, &problem, &error), &error);
  must_be_ok(p, as_integrator_create(problem, &how, &integrator, &error), &error);
  const as_initial initial = {.q = p->q0, .v = p->v0};
  const long taken = memory.taken;
  must_be_ok(p, as_integrator_start(integrator, &initial, NULL, &error), &error);
  for (int i = 0; i < 5; ++i) {
    const double t = as_integrator_state(integrator)->t;
    must_be_ok(p, as_integrator_next(integrator, &error), &error);
    const double end = as_integrator_state(integrator)->t;
    must_be_ok(p, as_integrator_interpolate(integrator, 0.5 * (t + end), &error), &error);
    must_be_ok(p, as_integrator_advance(integrator, end, &error), &error);
    must_not_allocate(p, "an automatic step", taken);
  }
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
  assert_int_equal(memory.live, live);
}

static void test_no_allocation(void **state) {
  (void)state;
  const subject skate = {"skate", skate_def(), skate_q0, skate_v0, 0.01};
  for (int m = 0; m < 2; ++m) {
    run_without_memory(&skate, methods[m]);
    run_automatic_without_memory(&skate, methods[m]);
    for (int i = 0; i < problem_count(); ++i) {
      const subject given = as_given(problem_get(i)), differenced = as_differenced(problem_get(i));
      run_without_memory(&given, methods[m]);
      run_without_memory(&differenced, methods[m]);
      run_automatic_without_memory(&given, methods[m]);
      run_automatic_without_memory(&differenced, methods[m]);
    }
  }
}

// ---- events ----------------------------------------------------------------------------------------

/// A pendulum with a stop that is struck, or holds, in turn: g_1 = x - 0.3.
static int stopped_constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
  out[1] = at->q[0] - 0.3;
  return AS_DONE;
}

static int stopped_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

static int stopped_force(const as_point *at, double *out, void *user) {
  (void)at, (void)user;
  out[0] = 0.0;
  out[1] = -9.81;
  return AS_DONE;
}

static int stopped_value(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0] - 0.3 + 1e-9 * at->t; // while the stop holds, no crossing by round-off
  return AS_DONE;
}

typedef struct stopped {
  bool hold; ///< the stop holds the bob instead of throwing it back
  int hits;
  double after; ///< it holds so long [s]
  double until;
} stopped;

static int stopped_hit(as_event *event, void *user) {
  stopped *s = user;
  ++s->hits;
  event->restitution[1] = s->hold ? 0.0 : 0.9;
  event->active[1] = s->hold;
  s->until = s->hold ? event->state->t + s->after : (double)INFINITY;
  return AS_EVENT_CHANGE;
}

static int stopped_timer(const as_state *at, double *out, void *user) {
  const stopped *s = user;
  *out = isfinite(s->until) ? at->t - s->until : -1.0;
  return AS_DONE;
}

static int stopped_release(as_event *event, void *user) {
  stopped *s = user;
  s->until = (double)INFINITY;
  event->active[1] = false;
  return AS_EVENT_CHANGE;
}

/// Steps with events that do not happen, that restart, and that change which constraints hold take no memory.
static void test_events_without_memory(void **state) {
  (void)state;
  static const as_space_part plane = {AS_SPACE_RN, 2};
  static const bool free_swing[] = {true, false};
  static const double q0[] = {-0.6, -0.8};
  const as_method all[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 4; ++k) {
      stopped s = {.hold = k / 2, .after = 0.1, .until = (double)INFINITY};
      const as_event_def events[] = {
          {.value = stopped_value, .direction = 1, .act = stopped_hit, .user = &s},
          {.value = stopped_timer, .act = stopped_release, .user = &s}};
      as_problem_def def = as_default_problem_def();
      as_integrator_def how = as_default_integrator_def();
      as_problem *problem = NULL;
      as_integrator *integrator = NULL;
      as_error error;
      def.parts = &plane;
      def.n_parts = 1;
      def.n_lambda = 2;
      def.mass_constant = def.scleronomic = true;
      def.mass = stopped_mass;
      def.force = stopped_force;
      def.constraint = stopped_constraint;
      how.method = all[m];
      how.step = k % 2 ? (double)NAN : 0.01;
      how.events = events;
      how.n_events = 2;
      assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
      assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_OK);
      const long taken = memory.taken, held = memory.live;
      const as_initial initial = {.q = q0, .active = free_swing};
      assert_int_equal(as_integrator_start(integrator, &initial, NULL, &error), AS_OK);
      for (int i = 1; i <= 30; ++i)
        if (as_integrator_advance(integrator, 0.1 * i, &error)) fail_msg("%s", error.message);
      assert_true(s.hits > 0);
      if (memory.taken != taken)
        fail_msg("method %d, case %d: %ld allocations", m, k, memory.taken - taken);
      assert_int_equal(memory.live, held);
      as_integrator_destroy(integrator);
      as_problem_destroy(problem);
    }
}

// ---- each allocation failing in turn ------------------------------------------------------------

/// What is created; a function of this type stores the result in *out.
typedef as_status create_fn(const void *context, void **out, as_error *error);
typedef void destroy_fn(void *made);

/// Makes the first, the second ... allocation fail, alone or with all after it, until none is left.
static void fail_in_turn(const char *what, create_fn *create, destroy_fn *destroy,
                         const void *context) {
  as_error error;
  void *made = NULL;
  const long live = memory.live, before = memory.taken;
  assert_int_equal(create(context, &made, &error), AS_OK);
  const long needed = memory.taken - before;
  assert_non_null(made);
  assert_true(needed > 0 && memory.live > live);
  destroy(made);
  assert_int_equal(memory.live, live);
  for (int fail_on = 0; fail_on < 2; ++fail_on) {
    for (long n = 1; n <= needed; ++n) {
      void *out = &made; // anything but NULL
      error = (as_error){.status = AS_OK};
      memory.failed = 0;
      memory.fail_on = fail_on;
      memory.fail_at = n;
      const as_status status = create(context, &out, &error);
      memory.fail_at = 0;
      if (memory.failed == 0) fail_msg("%s: allocation %ld was not reached", what, n);
      if (status != AS_ERR_MEMORY || error.status != AS_ERR_MEMORY || error.message[0] == '\0')
        fail_msg("%s: allocation %ld of %ld fails, but the status is %s: %s", what, n, needed,
                 as_status_name(status), error.message);
      if (out != NULL) fail_msg("%s: allocation %ld fails, but *out is not NULL", what, n);
      if (memory.live != live)
        fail_msg("%s: allocation %ld of %ld fails: %ld blocks leak", what, n, needed,
                 memory.live - live);
    }
  }
  // The error struct is not required.
  memory.fail_at = 1;
  void *out = NULL;
  assert_int_equal(create(context, &out, NULL), AS_ERR_MEMORY);
  memory.fail_at = 0;
  print_message("%s: %ld allocations\n", what, needed);
}

static as_status create_space(const void *context, void **out, as_error *error) {
  (void)context;
  as_space *space = *out;
  const as_space_part parts[] = {{AS_SPACE_RN, 3}, {AS_SPACE_SE3, 2}};
  const as_status status = as_space_create(parts, 2, &space, error);
  *out = space;
  return status;
}

static void destroy_space(void *made) { as_space_destroy(made); }

static as_status create_problem(const void *context, void **out, as_error *error) {
  as_problem *problem = *out;
  const as_status status = as_problem_create(context, &problem, error);
  *out = problem;
  return status;
}

static void destroy_problem(void *made) { as_problem_destroy(made); }

typedef struct integrator_context {
  const as_problem *problem;
  as_integrator_def def;
} integrator_context;

static as_status create_integrator(const void *context, void **out, as_error *error) {
  const integrator_context *c = context;
  as_integrator *integrator = *out;
  const as_status status = as_integrator_create(c->problem, &c->def, &integrator, error);
  *out = integrator;
  return status;
}

static void destroy_integrator(void *made) { as_integrator_destroy(made); }

static void check_problem(const subject *p) {
  const long live = memory.live;
  char what[128];
  as_error error;
  as_problem *problem = NULL;
  const as_event_def event = {.name = "never", .value = stopped_value};
  must_be_ok(p, as_problem_create(&p->def, &problem, &error), &error);
  for (int m = 0; m < 2; ++m) {
    integrator_context context = {problem, as_default_integrator_def()};
    context.def.method = methods[m];
    context.def.events = &event;
    context.def.n_events = 1;
    snprintf(what, sizeof what, "%s, integrator, method %d", p->name, (int)methods[m]);
    fail_in_turn(what, create_integrator, destroy_integrator, &context);
  }
  snprintf(what, sizeof what, "%s, problem", p->name);
  fail_in_turn(what, create_problem, destroy_problem, &p->def);
  as_problem_destroy(problem);
  assert_int_equal(memory.live, live);
}

static void test_space_out_of_memory(void **state) {
  (void)state;
  fail_in_turn("space", create_space, destroy_space, NULL);
}

static void test_out_of_memory(void **state) {
  (void)state;
  const subject subjects[] = {
      {"skate", skate_def(), skate_q0, skate_v0, 0.01},
      as_given(problem_oscillator()),
      as_given(problem_pendulum()),
      as_differenced(problem_pendulum()),
      as_given(problem_friction_wire()),
      as_differenced(problem_friction_wire()),
      as_given(problem_two_bodies_se3()),
      as_differenced(problem_two_bodies_se3()),
      as_differenced(problem_double_pendulum_slider()),
  };
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; ++i) check_problem(&subjects[i]);
}

/// One call after the other, each of its allocations failing in turn: it says so, leaks nothing, and the state
/// is as it was.
static void test_saving_out_of_memory(void **state) {
  (void)state;
  const as_problem_def def = skate_def();
  const as_integrator_def how = as_default_integrator_def();
  const as_initial initial = {.q = skate_q0, .v = skate_v0};
  const char *const path = "test_alloc.state";
  static unsigned char before[16384], after[16384];
  as_problem *problem = NULL;
  as_integrator *integrator = NULL;
  as_error error;
  assert_int_equal(as_problem_create(&def, &problem, &error), AS_OK);
  assert_int_equal(as_integrator_create(problem, &how, &integrator, &error), AS_OK);
  assert_int_equal(as_integrator_start(integrator, &initial, NULL, &error), AS_OK);
  assert_int_equal(as_integrator_step(integrator, 0.01, &error), AS_OK);
  size_t size = sizeof before;
  assert_int_equal(as_integrator_save(integrator, before, &size, &error), AS_OK);
  assert_int_equal(as_integrator_save_file(integrator, path, &error), AS_OK);
  for (int call = 0; call < 3; ++call) {
    const long live = memory.live;
    long failures = 0;
    for (long n = 1;; ++n) {
      memory.failed = 0;
      memory.fail_on = 0;
      memory.fail_at = n;
      as_status status = AS_OK;
      if (call == 0) status = as_integrator_save_file(integrator, path, &error);
      if (call == 1) status = as_integrator_load(integrator, before, size, &error);
      if (call == 2) status = as_integrator_load_file(integrator, path, &error);
      memory.fail_at = 0;
      assert_int_equal(memory.live, live);
      if (status == AS_OK && memory.failed == 0) break;
      size_t now = sizeof after;
      assert_int_equal(as_integrator_save(integrator, after, &now, NULL), AS_OK);
      assert_int_equal(now, size);
      assert_memory_equal(before, after, size);
      assert_int_equal(status, AS_ERR_MEMORY);
      ++failures;
    }
    assert_true(failures > 0);
  }
  remove(path);
  as_integrator_destroy(integrator);
  as_problem_destroy(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrapping),
      cmocka_unit_test(test_no_allocation),
      cmocka_unit_test(test_events_without_memory),
      cmocka_unit_test(test_space_out_of_memory),
      cmocka_unit_test(test_out_of_memory),
      cmocka_unit_test(test_saving_out_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
