/// Saved states: a run that is saved and taken up again, at every point and by another integrator, is bit for
/// bit the run that never was.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/driver/integrator.h"
#include "problems/loops.h"
#include "problems/mechatronic.h"
#include "problems/nonholonomic.h"
#include "problems/problems.h"
#include "saved.h"
#include "share.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};

typedef enum manner { FIXED, SEQUENCE, INTERPOLATED, LANDING, NEXT, MIXED, N_MANNERS } manner;
static const char *const manner_names[] = {"fixed",   "sequence", "interpolated",
                                           "landing", "next",     "mixed"};

enum { MOST_ACTIONS = 64 };

// ---- one run --------------------------------------------------------------------------------------

static bool interrupting; // answered to the integrator that asks

static bool interrupt(void *user) {
  (void)user;
  return interrupting;
}

static as_error error; // of the last call

typedef struct course {
  const saved_subject *subject;
  manner manner;
  as_integrator_def how;
  as_problem *problem;
} course;

static course prepare(const saved_subject *subject, as_method method, manner how) {
  course c = {.subject = subject, .manner = how, .how = as_default_integrator_def()};
  c.how.method = method;
  c.how.events = subject->events;
  c.how.n_events = subject->n_events;
  c.how.interrupt = interrupt;
  c.how.tolerance.land = how == LANDING;
  if (subject->rtol > 0.0) c.how.tolerance.rtol = subject->rtol;
  if (subject->max_iterations > 0) c.how.newton.max_iterations = subject->max_iterations;
  if (how == FIXED) c.how.step = subject->h;
  if (as_problem_create(&subject->def, &c.problem, &error)) fail_msg("%s", error.message);
  return c;
}

static as_integrator *make(const course *c) {
  as_integrator *integrator = NULL;
  if (as_integrator_create(c->problem, &c->how, &integrator, &error)) fail_msg("%s", error.message);
  return integrator;
}

static as_integrator *start(const course *c) {
  as_integrator *integrator = make(c);
  if (as_integrator_start(integrator, &c->subject->initial, NULL, &error))
    fail_msg("%s: %s", c->subject->name, error.message);
  return integrator;
}

/// One call, the i-th of a run.
static as_status act(const course *c, as_integrator *s, int i) {
  static const double ratio[] = {1.0, 1.0, 2.0, 0.5, 1.3, 0.1, 3.0, 1.0, 5.0, 0.02, 0.02};
  const double h = c->subject->h, t = as_integrator_state(s)->t;
  const double goal = c->subject->initial.t + (i + 1) * (c->manner == FIXED ? 2.5 : 1.7) * h;
  interrupting = i % 7 == 4;
  manner how = c->manner;
  if (how == MIXED) how = i % 5 < 2 ? NEXT : i % 5 == 2 ? SEQUENCE : INTERPOLATED;
  switch (how) {
  case SEQUENCE: return as_integrator_step(s, h * ratio[i % 11], &error);
  case NEXT: return as_integrator_next(s, &error);
  case INTERPOLATED:
    if (i % 3 == 2) return as_integrator_interpolate(s, t - 1e-3 * h, &error);
    break;
  default: break;
  }
  return as_integrator_advance(s, fmax(t, goal), &error);
}

/// A call and all that can be seen after it.
static void act_and_look(const course *c, as_integrator *s, int i, saved_view *view) {
  error = (as_error){0};
  view->size = 0;
  const as_status status = act(c, s, i);
  interrupting = false;
  saved_look(view, c->problem, s, status, &error);
  if (i % 4 == 3) { // projects with factors that steps use too
    double v[512] = {0};
    assert_true(c->problem->n <= 512);
    saved_note(view, v, as_integrator_velocity(s, v, &error) ? 0 : c->problem->n);
  }
}

static void must_load(const course *c, as_integrator *s, const unsigned char *data, size_t size,
                      int i) {
  if (as_integrator_load(s, data, size, &error))
    fail_msg("%s, %s, %s: the state after call %d is refused: %s", c->subject->name,
             method_names[c->how.method], manner_names[c->manner], i, error.message);
}

static void must_be_same(const course *c, const saved_view *a, const saved_view *b,
                         const char *what, int i) {
  if (saved_same(a, b)) return;
  size_t at = 0;
  while (at < a->size && at < b->size && a->data[at] == b->data[at]) ++at;
  fail_msg("%s, %s, %s: %s differs at call %d (byte %zu of %zu)", c->subject->name,
           method_names[c->how.method], manner_names[c->manner], what, i, at, a->size);
}

/// What an uninterrupted run shows after each call, and what it saves.
typedef struct chronicle {
  saved_view view[MOST_ACTIONS + 1];
  unsigned char *state[MOST_ACTIONS + 1];
  size_t size[MOST_ACTIONS + 1];
} chronicle;

static void compare_bytes(const course *c, const chronicle *x, as_integrator *s, int i,
                          const char *what) {
  size_t size = 0;
  unsigned char *bytes = saved_bytes(s, &size);
  const unsigned char *expected = x->state[i];
  size_t at = 0;
  while (at < size && at < x->size[i] && bytes[at] == expected[at]) ++at;
  if (at < size || at < x->size[i]) {
    fail_msg("%s, %s, %s: %s saves something else after call %d (byte %zu of %zu)",
             c->subject->name, method_names[c->how.method], manner_names[c->manner], what, i, at,
             size);
  }
  free(bytes);
}

/// Handed over after each call: to a new integrator, or to and fro between two that know the past.
static void run_relay(const course *c, const chronicle *x, bool fresh) {
  const char *const what = fresh ? "a run handed on" : "a run handed to and fro";
  as_integrator *one = start(c), *other = make(c);
  saved_view view = {0}, before = {0};
  for (int i = 0; i < c->subject->actions; ++i) {
    size_t size = 0;
    unsigned char *bytes = saved_bytes(one, &size);
    before.size = view.size = 0;
    saved_glance(&before, c->problem, one);
    if (fresh) {
      as_integrator_destroy(other);
      other = make(c);
    }
    must_load(c, other, bytes, size, i - 1);
    free(bytes);
    saved_glance(&view, c->problem, other);
    must_be_same(c, &before, &view, "a state that was loaded", i - 1);
    as_integrator *const swap = one;
    one = other;
    other = swap;
    act_and_look(c, one, i, &view);
    must_be_same(c, &x->view[i + 1], &view, what, i);
    compare_bytes(c, x, one, i + 1, what);
  }
  saved_view_free(&view);
  saved_view_free(&before);
  as_integrator_destroy(one);
  as_integrator_destroy(other);
}

/// Taken up once and run to the end.
static void run_from(const course *c, const chronicle *x, int first) {
  as_integrator *s = make(c);
  saved_view view = {0};
  must_load(c, s, x->state[first], x->size[first], first - 1);
  for (int i = first; i < c->subject->actions; ++i) {
    act_and_look(c, s, i, &view);
    must_be_same(c, &x->view[i + 1], &view, "a run taken up", i);
  }
  saved_view_free(&view);
  as_integrator_destroy(s);
}

static long
    statuses[64]; // that calls have returned; failures are positive, AS_INTERRUPTED is the lowest

static long *count_of(as_status status) { return &statuses[status - AS_INTERRUPTED]; }

static void follow(const saved_subject *subject, as_method method, manner how) {
  const course c = prepare(subject, method, how);
  chronicle x = {0};
  saved_view view = {0};
  const int n = subject->actions;
  assert_true(n <= MOST_ACTIONS);
  // The run that never saves, and one that does after each call.
  as_integrator *plain = start(&c), *saving = start(&c);
  for (int i = -1; i < n; ++i) {
    if (i >= 0) {
      act_and_look(&c, plain, i, &x.view[i + 1]);
      act_and_look(&c, saving, i, &view);
      must_be_same(&c, &x.view[i + 1], &view, "a run that saves", i);
      as_status status;
      memcpy(&status, view.data, sizeof status);
      ++*count_of(status);
    }
    x.state[i + 1] = saved_bytes(saving, &x.size[i + 1]);
  }
  run_relay(&c, &x, true);
  run_relay(&c, &x, false);
  for (int first = 0; first < n; first += n / 2 + 1) run_from(&c, &x, first);
  for (int i = 0; i <= n; ++i) {
    saved_view_free(&x.view[i]);
    free(x.state[i]);
  }
  saved_view_free(&view);
  as_integrator_destroy(plain);
  as_integrator_destroy(saving);
  as_problem_destroy(c.problem);
}

/// Follows a subject by all methods in all manners, or by this build's share of them; which ones those are differs from subject to subject.
static void follow_some(const saved_subject *subject, bool all) {
  static long count = 0;
  ++count;
  for (int m = 0; m < 3; ++m) {
    if (methods[m] == AS_METHOD_SOI2 && subject->def.n_x + subject->def.n_y > 0) continue;
    for (int how = 0; how < N_MANNERS; ++how, ++count)
      if (all || share_has(count)) follow(subject, methods[m], (manner)how);
  }
}

static void follow_all(const saved_subject *subject) { follow_some(subject, true); }
static void follow_share(const saved_subject *subject) { follow_some(subject, false); }

// ---- the problems ---------------------------------------------------------------------------------

static saved_subject of_problem(const test_problem *p, double share) {
  return (saved_subject){.name = p->name,
                         .def = p->def,
                         .initial = {.t = p->t0, .q = p->q0, .v = p->v0},
                         .h = share * (p->t_end - p->t0),
                         .actions = 11};
}

static void test_spaces_and_constraints(void **state) {
  (void)state;
  const test_problem *problems[] = {
      problem_oscillator(),         problem_double_pendulum(),        problem_pendulum(),
      problem_driven_pendulum(),    problem_double_pendulum_slider(), problem_friction_wire(),
      problem_car_axis(),           problem_free_rotation(),          problem_heavy_top_slow(),
      problem_heavy_top_slow_se3(), problem_two_bodies_se3(),         problem_free_body()};
  for (size_t i = 0; i < sizeof problems / sizeof problems[0]; ++i) {
    const saved_subject subject = of_problem(problems[i], 0.005);
    follow_share(&subject);
  }
}

/// Equal steps with a large Newton tolerance, each by another integrator: what was seen of Newton's method and of the ringing
/// of its errors goes along.
static void test_relay_of_equal_steps(void **state) {
  (void)state;
  const test_problem *problems[] = {problem_pendulum(), problem_heavy_top_slow()};
  for (int k = 0; k < 6; ++k) {
    const saved_subject subject = of_problem(problems[k % 2], 0.005);
    course c = prepare(&subject, methods[k / 2], SEQUENCE);
    c.how.newton.rtol = 1e-4;
    c.how.newton.atol = 1e-7;
    as_integrator *plain = start(&c), *runner = start(&c);
    for (int i = 0; i < 150; ++i) {
      size_t size = 0;
      unsigned char *bytes = saved_bytes(runner, &size);
      as_integrator_destroy(runner);
      runner = make(&c);
      must_load(&c, runner, bytes, size, i);
      free(bytes);
      if (as_integrator_step(plain, subject.h, &error) ||
          as_integrator_step(runner, subject.h, &error))
        fail_msg("%s", error.message);
      const as_state *x = as_integrator_state(plain), *y = as_integrator_state(runner);
      assert_memory_equal(x->vdot, y->vdot, (size_t)c.problem->n * sizeof(double));
    }
    as_statistics a, b;
    as_integrator_statistics(plain, &a, &error);
    as_integrator_statistics(runner, &b, &error);
    assert_int_equal(a.newton_iterations, b.newton_iterations);
    assert_int_equal(a.factorizations, b.factorizations);
    as_integrator_destroy(plain);
    as_integrator_destroy(runner);
    as_problem_destroy(c.problem);
  }
}

/// Blocks that are differenced, over steps that are too long for old factors.
static void test_differenced(void **state) {
  (void)state;
  saved_subject subject = of_problem(problem_two_bodies(), 0.02);
  for (int block = 0; block < AS_BLOCK_COUNT; ++block)
    subject.def.block[block].source = AS_BLOCK_DIFFERENCED;
  subject.def.jacobian = NULL;
  subject.def.constraint_rate = subject.def.constraint_acceleration = NULL;
  follow_share(&subject);
}

static void test_nonholonomic(void **state) {
  (void)state;
  const nonholonomic_problem *problems[] = {
      nonholonomic_jn8(),          nonholonomic_j71(),
      nonholonomic_disk_guided(),  nonholonomic_sleigh_moving(),
      nonholonomic_speed_varied(), nonholonomic_rolling_disk_se3(),
      nonholonomic_fin()};
  for (size_t i = 0; i < sizeof problems / sizeof problems[0]; ++i) {
    const nonholonomic_problem *p = problems[i];
    const saved_subject subject = {.name = p->name,
                                   .def = p->def,
                                   .initial = {.t = p->t0, .q = p->q0, .v = p->v0},
                                   .h = 0.005 * (p->t_end - p->t0),
                                   .actions = 11};
    follow_share(&subject);
  }
}

static void test_states_and_outputs(void **state) {
  (void)state;
  for (int i = 0; i < mechatronic_count(); ++i) {
    const mechatronic_problem *p = mechatronic_get(i);
    const saved_subject subject = {.name = p->name,
                                   .def = p->def,
                                   .initial = {.t = p->t0, .q = p->q0, .v = p->v0, .x = p->x0},
                                   .h = (p->t_end - p->t0) / p->steps,
                                   .actions = 11};
    follow_share(&subject);
  }
}

/// Redundant rows, with compliance; positions where all rows depend on each other.
static void test_redundant_and_singular(void **state) {
  (void)state;
  test_problem *fourbar = loops_fourbar(), *twice = loops_pendulum_twice(),
               *flat = loops_nfourbar(2);
  saved_subject subject = of_problem(fourbar, 0.005);
  follow_share(&subject);
  subject = of_problem(twice, 0.005);
  follow_share(&subject);
  // Steps that fail say which rows depend on others, besides those that always do.
  subject.max_iterations = 1;
  subject.actions = 2; // each of its steps is tried many times
  subject.h *= 10.0;
  memset(statuses, 0, sizeof statuses);
  follow_share(&subject);
  print_message("  %ld steps failed\n", *count_of(AS_ERR_CONVERGENCE));
  assert_true(*count_of(AS_ERR_CONVERGENCE) > 0);
  subject = of_problem(flat, 0.01);
  subject.actions = 40;
  follow_share(&subject);
  loops_free(fourbar);
  loops_free(twice);
  loops_free(flat);
}

// The linkages with the constraint force as a part of f, so that projections have a matrix of their own; and
// with a state and a sampler, so that accelerations are found anew, with a third matrix, every now and then.

enum { LINKAGES = 4, N_V = 3 * (2 * LINKAGES + 1), N_ROWS = 6 * LINKAGES + 2 };

static struct {
  as_problem_def def;        ///< as it was
  as_pattern b;              ///< of B
  int col_start[N_ROWS + 1]; ///< of B^T
  int row[6 * N_ROWS];
  double value[6 * N_ROWS]; ///< of B
  as_matrix blocks[AS_BLOCK_COUNT];
} linkages;

static int whole_force(const as_point *at, double *f, void *user) {
  as_matrix *b = &linkages.blocks[AS_BLOCK_G_Q];
  memset(linkages.value, 0, sizeof linkages.value);
  *b = (as_matrix){.rows = N_ROWS,
                   .cols = N_V,
                   .col_start = linkages.b.col_start,
                   .row = linkages.b.row,
                   .value = linkages.value};
  int code = linkages.def.force(at, f, user);
  if (code == AS_DONE)
    code = linkages.def.jacobian(at, AS_BLOCK_BIT(AS_BLOCK_G_Q), linkages.blocks, user);
  for (int j = 0; j < N_V; ++j)
    for (int k = b->col_start[j]; k < b->col_start[j + 1]; ++k)
      f[j] -= b->value[k] * at->lambda[b->row[k]];
  return code;
}

static void transpose(const as_pattern *b) {
  int count = 0;
  for (int i = 0; i < N_ROWS; ++i) {
    linkages.col_start[i] = count;
    for (int j = 0; j < N_V; ++j)
      for (int k = b->col_start[j]; k < b->col_start[j + 1]; ++k)
        if (b->row[k] == i) {
          assert_true(count < 6 * N_ROWS);
          linkages.row[count++] = j;
        }
  }
  linkages.col_start[N_ROWS] = count;
}

static int follow_angle(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[2] - 3.0 * at->x[0];
  return AS_DONE;
}

static int sample_angle(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = at->q[2];
  return AS_DONE;
}

static int twelve_times(const as_state *at, double *out, void *user) {
  (void)user;
  out[0] = sin(12.0 * at->q[2]);
  return AS_DONE;
}

static int knock(as_event *event, void *user) {
  (void)user;
  event->v[0] += 0.05;
  return AS_EVENT_CHANGE;
}

static saved_subject make_general(const test_problem *p, bool controlled) {
  static const int first_row[] = {0};
  static int velocity_start[N_V + 1];
  static const int one_start[] = {0, 1};
  static const as_sampler_def sampler = {.period = 0.07, .count = 1, .sample = sample_angle};
  static const as_event_def event = {.name = "knock", .value = twelve_times, .act = knock};
  saved_subject s = of_problem(p, 0.01);
  linkages.def = p->def;
  linkages.b = p->def.block[AS_BLOCK_G_Q].pattern;
  transpose(&linkages.b);
  s.name = controlled ? "controlled linkages" : "general linkages";
  s.def.force_kind = AS_FORCE_GENERAL;
  s.def.force = whole_force;
  s.def.block[AS_BLOCK_F_LAMBDA].pattern = (as_pattern){linkages.col_start, linkages.row};
  s.actions = 28;
  s.events = &event; // impulses show how projections are rounded
  s.n_events = controlled ? 0 : 1;
  if (!controlled) return s;
  for (int j = 3; j <= N_V; ++j) velocity_start[j] = 1;
  for (int block = AS_BLOCK_PHI_Q; block <= AS_BLOCK_PHI_Y; ++block)
    s.def.block[block].source = AS_BLOCK_ZERO;
  s.def.n_x = 1;
  s.def.state_rate = follow_angle;
  s.def.block[AS_BLOCK_F_X].source = AS_BLOCK_ZERO;
  s.def.block[AS_BLOCK_PHI_V] = (as_block_def){AS_BLOCK_DIFFERENCED, {velocity_start, first_row}};
  s.def.block[AS_BLOCK_PHI_X] = (as_block_def){AS_BLOCK_DIFFERENCED, {one_start, first_row}};
  s.def.n_u = 1;
  s.def.samplers = &sampler;
  s.def.n_samplers = 1;
  return s;
}

static void test_sparse_general(void **state) {
  (void)state;
  test_problem *p = loops_nfourbar(LINKAGES);
  const saved_subject general = make_general(p, false), controlled = make_general(p, true);
  follow_share(&general);
  follow_share(&controlled);
  loops_free(p);
}

/// Sparse factors, many of them made with the pivots of an earlier matrix.
static void test_sparse(void **state) {
  (void)state;
  test_problem *flat = loops_nfourbar(6), *lattice = loops_lattice(3, true);
  saved_subject subject = of_problem(flat, 0.01);
  subject.actions = 28;
  follow_share(&subject);
  subject = of_problem(lattice, 0.02);
  subject.actions = 8;
  follow_share(&subject);
  loops_free(flat);
  loops_free(lattice);
}

static void test_samplers(void **state) {
  (void)state;
  const saved_subject samplers = saved_samplers(), pendulum = saved_sampled_pendulum();
  follow_all(&samplers);
  follow_all(&pendulum);
}

static void test_events(void **state) {
  (void)state;
  const saved_subject subjects[] = {saved_ball(), saved_zeno(), saved_stops(), saved_tiny()};
  memset(statuses, 0, sizeof statuses);
  for (int i = 0; i < 4; ++i) follow_all(&subjects[i]);
  assert_true(*count_of(AS_STOPPED) > 10 && *count_of(AS_ERR_ZENO) > 0);
  // One bounce in each call, until it has been too many.
  const saved_subject zeno = saved_zeno();
  memset(statuses, 0, sizeof statuses);
  follow(&zeno, AS_METHOD_INDEX2, NEXT);
  assert_true(*count_of(AS_ERR_ZENO) > 0);
  const saved_subject ticks = saved_ticks();
  memset(statuses, 0, sizeof statuses);
  follow(&ticks, AS_METHOD_INDEX2, FIXED);
  follow(&ticks, AS_METHOD_INDEX2, SEQUENCE);
  assert_true(*count_of(AS_ERR_ZENO) > 0);
}

static void test_failed_and_interrupted(void **state) {
  (void)state;
  const saved_subject wall = saved_wall(AS_RETRY), end = saved_wall(AS_FATAL);
  memset(statuses, 0, sizeof statuses);
  for (int how = 0; how < N_MANNERS; ++how) {
    follow(&wall, AS_METHOD_INDEX3, (manner)how);
    follow(&wall, AS_METHOD_INDEX2, (manner)how);
    follow(&end, AS_METHOD_SOI2, (manner)how);
  }
  assert_true(*count_of(AS_ERR_RETRY) > 10 && *count_of(AS_ERR_CALLBACK) > 10);
  assert_true(*count_of(AS_INTERRUPTED) > 10);
}

/// A force of another problem that can be evaluated every second time only behind some time.
typedef struct walled {
  as_vector_fn *force;
  double limit;
  int calls;
} walled;
static walled wall;

static int walled_force(const as_point *at, double *out, void *user) {
  if (at->t > wall.limit && ++wall.calls % 2 == 0) return AS_RETRY;
  return wall.force(at, out, user);
}

/// The declared state, but for the work that was done and the factors, which are made anew.
static void copy_declared(as_integrator *s, unsigned char *out) {
  const as_statistics work = s->kin.statistics;
  s->kin.statistics = (as_statistics){0};
  s->stepper.factor_h = s->stepper.factor_gamma = s->stepper.factor_compliance = (double)NAN;
  s->stepper.factor_age = s->stepper.factor_iterations = 0;
  asi_snapshot_take(s);
  memcpy(out, s->snapshot.bytes, s->snapshot.size);
  s->kin.statistics = work;
}

/// A step that fails for good, all its parts too, leaves no trace in what later steps depend on.
static void test_failed_step_is_undone(void **state) {
  (void)state;
  static const as_method all[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
  const test_problem *of = problem_pendulum();
  as_problem_def def = of->def;
  wall.force = def.force;
  def.force = walled_force;
  for (int m = 0; m < 3; ++m) {
    as_integrator_def how = as_default_integrator_def();
    how.method = all[m];
    how.step = 0.02;
    const as_initial from = {.q = of->q0, .v = of->v0};
    as_problem *p = NULL;
    as_integrator *s = NULL;
    wall.limit = (double)INFINITY;
    if (as_problem_create(&def, &p, &error) || as_integrator_create(p, &how, &s, &error) ||
        as_integrator_start(s, &from, NULL, &error))
      fail_msg("%s", error.message);
    unsigned char *before = saved_room(s->snapshot.size), *after = saved_room(s->snapshot.size);
    for (int i = 1; i <= 6; ++i) {
      const double t = as_integrator_state(s)->t;
      copy_declared(s, before);
      wall.limit = t;
      assert_int_equal(as_integrator_step(s, 0.02, &error), AS_ERR_RETRY);
      copy_declared(s, after);
      assert_true(memcmp(before, after, s->snapshot.size) == 0);
      wall.limit = (double)INFINITY;
      if (as_integrator_next(s, &error)) fail_msg("%s", error.message);
    }
    free(before);
    free(after);
    as_integrator_destroy(s);
    as_problem_destroy(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failed_step_is_undone),
      cmocka_unit_test(test_spaces_and_constraints),
      cmocka_unit_test(test_relay_of_equal_steps),
      cmocka_unit_test(test_differenced),
      cmocka_unit_test(test_nonholonomic),
      cmocka_unit_test(test_states_and_outputs),
      cmocka_unit_test(test_redundant_and_singular),
      cmocka_unit_test(test_sparse),
      cmocka_unit_test(test_sparse_general),
      cmocka_unit_test(test_samplers),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_failed_and_interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
