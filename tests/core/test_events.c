/// Finding events and acting on them: order, mesh points, starts, directions, stops, samples. Impacts are in
/// test_impacts.c, constraints that begin to hold in test_locking.c, modes in test_switching.c, failures in
/// test_event_failures.c.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "problems/mechatronic.h"
#include "problems/problems.h"
#include "rig.h"

static const double automatic = (double)NAN; // a step
static const double pi = 3.14159265358979323846;

// ---- a particle that is watched --------------------------------------------------------------------------

enum { MOST = 64, MOST_EVENTS = 4 };

/// q'' = push - spring q + u in one dimension; each event watches scale (what - threshold).
typedef enum watched { PLACE, PLACE_SQUARED, PLACE_CUBED, SPEED, TIME } watched;

typedef struct record {
  int index, direction;
  double t, q, v;
  double v_after; ///< as earlier actions at the same time have left it
} record;

typedef struct world {
  double spring; ///< [1/s^2]
  double push;   ///< [m/s^2]
  struct {
    watched what;
    double threshold, scale;
    int answer;      ///< of the action
    double add_to_v; ///< what it changes [m/s]
  } event[MOST_EVENTS];
  record record[MOST];
  int n;
  double sampled[MOST]; ///< v as the sampler saw it
  int samples;
  int fail_at; ///< the action fails when it is called for this time; 0: never
  void (*spoil)(as_event *event);
} world;

typedef struct watch {
  world *w;
  int i;
} watch;

static int one_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int spring_force(const as_point *at, double *f, void *user) {
  const world *w = user;
  f[0] = w->push - w->spring * at->q[0] + (at->u ? at->u[0] : 0.0);
  return AS_DONE;
}

static int watch_value(const as_state *at, double *out, void *user) {
  const watch *k = user;
  const double q = at->q[0] - k->w->event[k->i].threshold;
  switch (k->w->event[k->i].what) {
  case PLACE: *out = q; break;
  case PLACE_SQUARED: *out = q * q; break;
  case PLACE_CUBED: *out = q * q * q; break;
  case SPEED: *out = at->v[0] - k->w->event[k->i].threshold; break;
  case TIME: *out = at->t - k->w->event[k->i].threshold; break;
  }
  *out *= k->w->event[k->i].scale;
  return AS_DONE;
}

static int watch_act(as_event *event, void *user) {
  const watch *k = user;
  world *w = k->w;
  assert_int_equal(event->index, k->i);
  assert_true(w->n < MOST);
  w->record[w->n++] = (record){.index = event->index,
                               .direction = event->direction,
                               .t = event->state->t,
                               .q = event->state->q[0],
                               .v = event->state->v[0],
                               .v_after = event->v[0]};
  event->v[0] += w->event[k->i].add_to_v;
  if (w->n == w->fail_at && w->spoil) w->spoil(event);
  return w->n == w->fail_at && !w->spoil ? AS_FATAL : w->event[k->i].answer;
}

/// A world of `n` events and its integrator.
typedef struct scene {
  world w;
  watch watches[MOST_EVENTS];
  as_event_def events[MOST_EVENTS];
  rig r;
} scene;

static void open_scene(scene *s, int n, const int *directions, as_method method, double step,
                       double q0, double v0) {
  static const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.mass_constant = true;
  def.mass = one_mass;
  def.force = spring_force;
  def.user = &s->w;
  for (int i = 0; i < n; ++i) {
    s->watches[i] = (watch){&s->w, i};
    if (s->w.event[i].scale == 0.0) s->w.event[i].scale = 1.0;
    s->events[i] = (as_event_def){.value = watch_value,
                                  .direction = directions ? directions[i] : 0,
                                  .act = watch_act,
                                  .user = &s->watches[i]};
  }
  as_integrator_def how = rig_how(method, step, s->events, n);
  s->r = rig_make(&def, &how, &(as_initial){.q = &q0, .v = &v0});
}

// ---- order -------------------------------------------------------------------------------------------------

/// Three in one step, numbered against their order in time.
static void test_several_in_a_step(void **state) {
  (void)state;
  static const int answers[] = {AS_EVENT_CONTINUE, AS_EVENT_CHANGE};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 4; ++k) {
      scene s = {.w.event = {{.what = PLACE, .threshold = 0.58, .scale = 3.0},
                             {.what = PLACE, .threshold = 0.52},
                             {.what = TIME, .threshold = 0.55}}};
      for (int i = 0; i < 3; ++i) s.w.event[i].answer = answers[k % 2];
      open_scene(&s, 3, NULL, rig_methods[m], k < 2 ? 0.1 : automatic, 0.0, 1.0);
      rig_advance(&s.r, 1.0);
      static const int order[] = {1, 2, 0};
      static const double times[] = {0.52, 0.55, 0.58};
      assert_int_equal(s.w.n, 3);
      for (int i = 0; i < 3; ++i) {
        assert_int_equal(s.w.record[i].index, order[i]);
        assert_int_equal(s.w.record[i].direction, 1);
        assert_near("time", s.w.record[i].t, times[i], 1e-14);
        assert_near("place", s.w.record[i].q, times[i], 1e-14);
      }
      const as_event_report report = as_integrator_event(s.r.integrator);
      assert_int_equal(report.index, 0);
      assert_int_equal(report.direction, 1);
      assert_int_equal(report.count, 3);
      assert_true(report.t == s.w.record[2].t);
      rig_free(&s.r);
    }
}

/// An event that another one prevents does not happen.
static void test_prevented(void **state) {
  (void)state;
  scene s = {
      .w.event = {{.what = PLACE, .threshold = 0.58, .answer = AS_EVENT_CHANGE},
                  {.what = PLACE, .threshold = 0.52, .answer = AS_EVENT_CHANGE, .add_to_v = -2.0}}};
  const int rising[] = {1, 1};
  open_scene(&s, 2, rising, AS_METHOD_INDEX2, 0.1, 0.0, 1.0);
  const as_state *now = rig_advance(&s.r, 1.0);
  assert_int_equal(s.w.n, 1);
  assert_int_equal(s.w.record[0].index, 1);
  assert_near("place", now->q[0], 0.52 - 0.48, 1e-13);
  rig_free(&s.r);
}

/// At one time: all actions in the order of their numbers, the later ones see what the earlier ones have made of
/// the state, and it is one change.
static void test_simultaneous(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    scene s = {
        .w.event = {{.what = PLACE, .threshold = 0.5, .answer = AS_EVENT_CHANGE, .add_to_v = 1.0},
                    {.what = TIME, .threshold = 0.5, .scale = 7.0, .answer = AS_EVENT_CONTINUE},
                    {.what = PLACE,
                     .threshold = 0.5,
                     .scale = -4.0,
                     .answer = AS_EVENT_CHANGE,
                     .add_to_v = 2.0},
                    {.what = PLACE, .threshold = 2.5, .answer = AS_EVENT_CONTINUE}}};
    open_scene(&s, 4, NULL, rig_methods[m], 0.3, 0.0, 1.0);
    const as_state *now = rig_advance(&s.r, 1.0);
    assert_int_equal(s.w.n, 4);
    for (int i = 0; i < 3; ++i) {
      assert_int_equal(s.w.record[i].index, i);
      assert_int_equal(s.w.record[i].direction, i == 2 ? -1 : 1);
      assert_true(s.w.record[i].t == s.w.record[0].t && s.w.record[i].v == 1.0);
      assert_near("time", s.w.record[i].t, 0.5, 1e-14);
      assert_near("v so far", s.w.record[i].v_after, i == 0 ? 1.0 : 2.0, 1e-14);
    }
    assert_int_equal(s.w.record[3].index, 3);
    assert_near("the next one", s.w.record[3].t, 1.0, 1e-13);
    assert_near("place", now->q[0], 0.5 + 4.0 * 0.5, 1e-13);
    rig_free(&s.r);
  }
}

/// Closer together than the tolerance counts as one time.
static void test_tolerance(void **state) {
  (void)state;
  static const double tolerances[] = {1e-3, 1e-6};
  for (int k = 0; k < 2; ++k) {
    scene s = {
        .w.event = {{.what = PLACE, .threshold = 0.5002}, {.what = PLACE, .threshold = 0.5}}};
    open_scene(&s, 2, NULL, AS_METHOD_INDEX2, 0.3, 0.0, 1.0);
    as_integrator_destroy(s.r.integrator);
    as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.3, s.events, 2);
    const double q0 = 0.0, v0 = 1.0;
    how.event_tolerance = tolerances[k];
    assert_int_equal(as_integrator_create(s.r.problem, &how, &s.r.integrator, NULL), AS_OK);
    assert_int_equal(
        as_integrator_start(s.r.integrator, &(as_initial){.q = &q0, .v = &v0}, NULL, NULL), AS_OK);
    rig_advance(&s.r, 1.0);
    assert_int_equal(s.w.n, 2);
    assert_int_equal(s.w.record[0].index, k == 0 ? 0 : 1);
    assert_true((s.w.record[0].t == s.w.record[1].t) == (k == 0));
    for (int i = 0; i < 2; ++i) {
      assert_near("time", s.w.record[i].t, 0.5, 2.1 * tolerances[0]);
      if (k) assert_near("time", s.w.record[i].t, i ? 0.5002 : 0.5, tolerances[k]);
      if (k) assert_true(s.w.record[i].t >= (i ? 0.5002 : 0.5) - 1e-15); // behind the crossing
    }
    rig_free(&s.r);
  }
}

typedef enum shape { STRAIGHT, CUBE, EXPONENTIAL, JUMP, LOPSIDED_JUMP, N_SHAPES } shape;

typedef struct shaped {
  shape shape;
  int calls;
  double t;
} shaped;

/// Passes zero where q = 0.517.
static int shaped_value(const as_state *at, double *out, void *user) {
  shaped *f = user;
  const double q = at->q[0] - 0.517;
  ++f->calls;
  switch (f->shape) {
  case STRAIGHT: *out = q; break;
  case CUBE: *out = q * q * q; break;
  case EXPONENTIAL: *out = expm1(200.0 * q); break;
  case JUMP: *out = q < 0.0 ? -1.0 : 1.0; break;
  case LOPSIDED_JUMP: *out = q < 0.0 ? -1.0 : 1e-9; break;
  case N_SHAPES: break;
  }
  return AS_DONE;
}

static int shaped_act(as_event *event, void *user) {
  shaped *f = user;
  f->t = event->state->t;
  return AS_EVENT_CONTINUE;
}

/// The search is quick where the function is smooth, and never much slower than halving.
static void test_search(void **state) {
  (void)state;
  static const int most[] = {16, 160, 24, 160, 160};
  for (int i = 0; i < N_SHAPES; ++i) {
    scene s = {.w.event = {{.what = PLACE, .threshold = 10.0}}};
    open_scene(&s, 1, NULL, AS_METHOD_INDEX2, 0.1, 0.0, 1.0);
    as_integrator_destroy(s.r.integrator);
    shaped f = {.shape = (shape)i};
    const as_event_def event = {.value = shaped_value, .act = shaped_act, .user = &f};
    const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.1, &event, 1);
    const double q0 = 0.0, v0 = 1.0;
    assert_int_equal(as_integrator_create(s.r.problem, &how, &s.r.integrator, NULL), AS_OK);
    assert_int_equal(
        as_integrator_start(s.r.integrator, &(as_initial){.q = &q0, .v = &v0}, NULL, NULL), AS_OK);
    rig_advance(&s.r, 1.0);
    printf("shape %d: %d calls in 10 steps\n", i, f.calls);
    assert_near("time", f.t, 0.517, i == CUBE ? 1e-6 : 1e-15);
    assert_true(f.calls <= 12 + most[i]);
    rig_free(&s.r);
  }
}

// ---- mesh points and starts --------------------------------------------------------------------------------

/// A crossing where a step ends happens once, there.
static void test_at_a_mesh_point(void **state) {
  (void)state;
  static const int answers[] = {AS_EVENT_CONTINUE, AS_EVENT_CHANGE, AS_EVENT_STOP,
                                AS_EVENT_CHANGE | AS_EVENT_STOP};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 8; ++k) {
      scene s = {
          .w.event = {{.what = PLACE, .threshold = k < 4 ? 0.5 : 0.3, .answer = answers[k % 4]}}};
      open_scene(&s, 1, NULL, rig_methods[m], k < 4 ? 0.125 : 0.1, 0.0, 1.0);
      const double at = k < 4 ? 0.5 : 0.3;
      if (answers[k % 4] & AS_EVENT_STOP) {
        const as_state *now = rig_advance_to(&s.r, 2.0, AS_STOPPED);
        assert_near("stopped", now->t, at, 1e-15);
      }
      rig_advance(&s.r, 2.0);
      assert_int_equal(s.w.n, 1);
      assert_int_equal(s.w.record[0].direction, 1);
      assert_near("time", s.w.record[0].t, at, 1e-15);
      rig_free(&s.r);
    }
}

/// Mesh points on which it rises through 0.5 and comes back: q = 1.5 t - t^2 at 0.5 and 1.
static void test_back_at_the_next_mesh_point(void **state) {
  (void)state;
  static const int answers[] = {AS_EVENT_CONTINUE, AS_EVENT_CHANGE};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 2; ++k) {
      scene s = {
          .w = {.push = -2.0, .event = {{.what = PLACE, .threshold = 0.5, .answer = answers[k]}}}};
      open_scene(&s, 1, NULL, rig_methods[m], 0.5, 0.0, 1.5);
      rig_advance(&s.r, 3.0);
      assert_int_equal(s.w.n, 2);
      for (int i = 0; i < 2; ++i) {
        assert_near("time", s.w.record[i].t, 0.5 * (i + 1), 1e-14);
        assert_int_equal(s.w.record[i].direction, i ? -1 : 1);
      }
      rig_free(&s.r);
    }
}

/// Zero where it starts is no event; the next crossing is, whichever way it left. Leaving may be slow.
static void test_zero_at_start(void **state) {
  (void)state;
  static const watched functions[] = {PLACE, PLACE_CUBED};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 8; ++k) {
      const double v0 = k % 2 ? -1.0 : 1.0;
      scene s = {.w = {.spring = 1.0, .event = {{.what = functions[k / 2 % 2], .threshold = 0.0}}}};
      open_scene(&s, 1, NULL, rig_methods[m], k < 4 ? 0.01 : automatic, 0.0, v0);
      rig_advance(&s.r, 1.0);
      assert_int_equal(s.w.n, 0);
      assert_int_equal(as_integrator_event(s.r.integrator).index, -1);
      rig_advance(&s.r, 7.0);
      assert_int_equal(s.w.n, 2);
      for (int i = 0; i < 2; ++i) {
        assert_near("time", s.w.record[i].t, (i + 1) * pi, k < 4 ? 1e-4 : 1e-2);
        assert_int_equal(s.w.record[i].direction, (i ? 1 : -1) * (v0 > 0.0 ? 1 : -1));
      }
      rig_free(&s.r);
    }
  // From rest: the speed is zero and leaves at once.
  scene s = {.w = {.spring = 1.0, .event = {{.what = SPEED, .threshold = 0.0}}}};
  open_scene(&s, 1, NULL, AS_METHOD_INDEX2, 0.01, 1.0, 0.0);
  rig_advance(&s.r, 7.0);
  assert_int_equal(s.w.n, 2);
  assert_int_equal(s.w.record[0].direction, 1);
  assert_near("time", s.w.record[0].t, pi, 1e-4);
  rig_free(&s.r);
}

static void test_directions(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    scene s = {.w = {.spring = 1.0,
                     .event = {{.what = PLACE, .threshold = 0.0},
                               {.what = PLACE, .threshold = 0.0},
                               {.what = PLACE, .threshold = 0.0}}}};
    const int directions[] = {-1, 1, 0};
    open_scene(&s, 3, directions, AS_METHOD_INDEX2, k ? 0.01 : automatic, 1.0, 0.0); // cos t
    rig_advance(&s.r, 20.0); // crosses at pi/2 + k pi: 6 times
    int count[3] = {0};
    for (int i = 0; i < s.w.n; ++i) {
      const record *r = &s.w.record[i];
      const int crossing = (int)lround(r->t / pi - 0.5);
      assert_near("time", r->t, (crossing + 0.5) * pi, 2e-2);
      assert_int_equal(r->direction, crossing % 2 ? 1 : -1);
      if (r->index < 2) assert_int_equal(r->direction, directions[r->index]);
      ++count[r->index];
    }
    assert_true(count[0] == 3 && count[1] == 3 && count[2] == 6);
    rig_free(&s.r);
  }
}

/// A touch is not a crossing. A dip that lies between the ends of a step is two.
static void test_touch(void **state) {
  (void)state;
  scene s = {.w.event = {{.what = PLACE_SQUARED, .threshold = 0.5}}};
  open_scene(&s, 1, NULL, AS_METHOD_INDEX2, 0.07, 0.0, 1.0);
  rig_advance(&s.r, 1.0);
  assert_int_equal(s.w.n, 0);
  rig_free(&s.r);
  for (int k = 0; k < 2; ++k) { // cos t is below -0.995 from 3.04 to 3.24
    scene dip = {.w = {.spring = 1.0, .event = {{.what = PLACE, .threshold = -0.995}}}};
    open_scene(&dip, 1, NULL, AS_METHOD_INDEX2, k ? 0.05 : 0.42, 1.0, 0.0);
    rig_advance(&dip.r, 4.4);
    assert_int_equal(dip.w.n, 2);
    rig_free(&dip.r);
  }
}

// ---- stops -------------------------------------------------------------------------------------------------

/// Stops at each of two events of one step; shows the state there; goes on, and is where it would have been.
static void test_stop(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 4; ++k) {
      const int answer = k % 2 ? AS_EVENT_STOP | AS_EVENT_CHANGE : AS_EVENT_STOP;
      scene s = {
          .w.event = {
              {.what = PLACE, .threshold = 0.58, .answer = answer, .add_to_v = k % 2 ? 0.5 : 0.0},
              {.what = PLACE, .threshold = 0.52, .answer = answer, .add_to_v = k % 2 ? 1.0 : 0.0}}};
      open_scene(&s, 2, NULL, rig_methods[m], k < 2 ? 0.1 : automatic, 0.0, 1.0);
      const as_state *now = rig_advance_to(&s.r, 2.0, AS_STOPPED);
      assert_near("first stop", now->t, 0.52, 1e-14);
      assert_near("place", now->q[0], 0.52, 1e-14);
      assert_near("speed", now->v[0], k % 2 ? 2.0 : 1.0, 1e-13);
      assert_true(s.r.error.status == AS_STOPPED && s.r.error.t == now->t);
      assert_string_equal(s.r.error.component, "1");
      assert_non_null(strstr(s.r.error.message, "Event 1 stopped the integration at t = 0.52"));
      assert_int_equal(as_integrator_event(s.r.integrator).index, 1);
      now = rig_advance_to(&s.r, 2.0, AS_STOPPED);
      assert_near("second stop", now->t, k % 2 ? 0.55 : 0.58, 1e-14);
      assert_near("place", now->q[0], 0.58, 1e-13);
      assert_int_equal(as_integrator_event(s.r.integrator).index, 0);
      now = rig_advance(&s.r, 2.0);
      assert_near("end", now->q[0], k % 2 ? 0.58 + 2.5 * 1.45 : 2.0, 1e-12);
      assert_int_equal(s.w.n, 2);
      assert_int_equal(as_integrator_event(s.r.integrator).count, 2);
      rig_free(&s.r);
    }
}

/// No action at all is a stop.
static void test_stop_without_action(void **state) {
  (void)state;
  scene s = {.w.event = {{.what = PLACE, .threshold = 0.5}}};
  open_scene(&s, 1, NULL, AS_METHOD_INDEX2, 0.1, 0.0, 1.0);
  as_integrator_destroy(s.r.integrator);
  s.events[0].act = NULL;
  char name[] = "half way";
  s.events[0].name = name;
  const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.3, s.events, 1);
  const double q0 = 0.0, v0 = 1.0;
  assert_int_equal(as_integrator_create(s.r.problem, &how, &s.r.integrator, NULL), AS_OK);
  memset(name, 'x', 4); // both were copied
  s.events[0].value = NULL;
  assert_int_equal(
      as_integrator_start(s.r.integrator, &(as_initial){.q = &q0, .v = &v0}, NULL, NULL), AS_OK);
  const as_state *now = rig_advance_to(&s.r, 1.0, AS_STOPPED);
  assert_near("stopped", now->t, 0.5, 1e-14);
  assert_non_null(strstr(s.r.error.message, "Event \"half way\" stopped"));
  // By single steps too: 0.6 is where the step that was stopped in ends.
  assert_int_equal(as_integrator_step(s.r.integrator, 0.3, &s.r.error), AS_OK);
  assert_near("then", now->t, 0.9, 1e-14);
  assert_near("place", now->q[0], 0.9, 1e-14);
  rig_free(&s.r);
}

// ---- what an event must not disturb ----------------------------------------------------------------------

static int roaming(const as_state *at, double *out, void *user) {
  (void)user;
  *out = sin(60.0 * at->q[0]) + 0.3 * at->v[0] + 0.01 * at->lambda[0] + 1e-3 * at->vdot[0];
  return AS_DONE;
}

static int count_only(as_event *event, void *user) {
  (void)event;
  ++*(int *)user;
  return AS_EVENT_CONTINUE;
}

/// Events that only continue leave every bit as it was, with fixed and automatic steps, at steps and between.
static void test_continue_disturbs_nothing(void **state) {
  (void)state;
  const test_problem *p = problem_pendulum();
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 2; ++k) {
      double q[2][20][2], lambda[2][20];
      int count = 0;
      for (int with = 0; with < 2; ++with) {
        const as_event_def event = {.value = roaming, .act = count_only, .user = &count};
        const as_integrator_def how = rig_how(rig_methods[m], k ? automatic : 0.01, &event, with);
        rig r = rig_make(&p->def, &how, &(as_initial){.q = p->q0, .v = p->v0});
        for (int i = 0; i < 20; ++i) {
          const as_state *s = rig_advance(&r, 0.0957 * (i + 1));
          memcpy(q[with][i], s->q, 2 * sizeof(double));
          lambda[with][i] = s->lambda[0];
        }
        rig_free(&r);
      }
      assert_true(count > 10);
      assert_memory_equal(q[0], q[1], sizeof q[0]);
      assert_memory_equal(lambda[0], lambda[1], sizeof lambda[0]);
    }
}

/// Automatic steps run past t. What lies behind t has not happened until it is asked for.
static void test_not_before_its_time(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    double q = 0.0;
    for (int with = 0; with < 2; ++with) {
      scene s = {
          .w = {
              .spring = 1.0,
              .event = {
                  {.what = PLACE, .threshold = 0.7, .answer = AS_EVENT_CHANGE, .add_to_v = -3.0}}}};
      const int down[] = {-1};
      open_scene(&s, with, down, rig_methods[m], automatic, 1.0, 0.0); // cos t
      as_integrator_destroy(s.r.integrator);
      as_integrator_def how = rig_how(rig_methods[m], automatic, s.events, with);
      how.tolerance.rtol = 0.14; // long steps
      const double q0 = 1.0;
      assert_int_equal(as_integrator_create(s.r.problem, &how, &s.r.integrator, NULL), AS_OK);
      assert_int_equal(as_integrator_start(s.r.integrator, &(as_initial){.q = &q0}, NULL, NULL),
                       AS_OK);
      const double at = acos(0.7);
      const as_state *now = as_integrator_state(s.r.integrator);
      // In small bites up to just before; the step that covers the event is taken long before.
      for (int i = 0; 0.01 * i < at - 0.03; ++i) rig_advance(&s.r, 0.01 * i);
      as_statistics work;
      as_integrator_statistics(s.r.integrator, &work, NULL);
      assert_true(work.last_step > 0.05);
      assert_int_equal(s.w.n, 0);
      assert_int_equal(as_integrator_event(s.r.integrator).count, 0);
      if (with) {
        assert_true(now->q[0] == q);
        rig_advance(&s.r, at + 0.02);
        assert_int_equal(s.w.n, 1);
        const double since = now->t - s.w.record[0].t;
        assert_near("time", s.w.record[0].t, at, 1e-2);
        assert_near("place", s.w.record[0].q, 0.7, 1e-14);
        assert_near("after", now->q[0], 0.7 + (s.w.record[0].v - 3.0) * since, 1e-3);
        // Back inside the step that the event has ended, up to the event.
        assert_int_equal(as_integrator_interpolate(s.r.integrator, s.w.record[0].t - 1e-3, NULL),
                         now->t - 1e-3 < s.w.record[0].t ? AS_OK : AS_ERR_ARGUMENT);
      }
      q = now->q[0];
      rig_free(&s.r);
    }
  }
}

/// The step that an event has ended can be looked at up to the event, as it was; not behind it.
static void test_interpolation_before_an_event(void **state) {
  (void)state;
  scene s = {.w.event = {{.what = PLACE,
                          .threshold = 0.55,
                          .answer = AS_EVENT_CHANGE | AS_EVENT_STOP,
                          .add_to_v = 2.0}}};
  open_scene(&s, 1, NULL, AS_METHOD_INDEX2, 0.1, 0.0, 1.0);
  rig_advance_to(&s.r, 1.0, AS_STOPPED);
  const as_state *now = as_integrator_state(s.r.integrator);
  assert_near("v after", now->v[0], 3.0, 1e-14);
  assert_int_equal(as_integrator_interpolate(s.r.integrator, 0.52, NULL), AS_OK);
  assert_near("q before", now->q[0], 0.52, 1e-14);
  assert_near("v before", now->v[0], 1.0, 1e-14);
  assert_int_equal(as_integrator_interpolate(s.r.integrator, 0.58, &s.r.error), AS_ERR_ARGUMENT);
  assert_int_equal(as_integrator_interpolate(s.r.integrator, s.w.record[0].t, NULL), AS_OK);
  assert_near("v after", now->v[0], 3.0, 1e-14);
  rig_advance(&s.r, 1.0);
  assert_near("end", now->q[0], 0.55 + 3.0 * 0.45, 1e-13);
  rig_free(&s.r);
}

// ---- events and samples ------------------------------------------------------------------------------------

/// Holds the speed that it sees.
static int sample_speed(const as_point *at, double *u, void *user) {
  world *w = user;
  assert_true(w->samples < MOST);
  w->sampled[w->samples++] = at->v[0];
  u[0] = 0.0;
  u[1] = at->v[0];
  return AS_DONE;
}

/// An event before a sample in the same step, and one at the time of a sample: the sample sees what the events
/// have left. A free particle; v = 1 until q = 0.25, then 2, then 5 from t = 0.4 on; sampled at 0, 0.1, ...
static void test_samples(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 2; ++k) {
      scene s = {.w.event = {
                     {.what = PLACE, .threshold = 0.25, .answer = AS_EVENT_CHANGE, .add_to_v = 1.0},
                     {.what = TIME, .threshold = 0.4, .answer = AS_EVENT_CHANGE, .add_to_v = 3.0}}};
      const as_sampler_def sampler = {
          .period = 0.1, .first = 0, .count = 2, .sample = sample_speed};
      as_problem_def def = as_default_problem_def();
      def.parts = &line;
      def.n_parts = 1;
      def.n_u = 2;
      def.samplers = &sampler;
      def.n_samplers = 1;
      def.mass_constant = true;
      def.mass = one_mass;
      def.force = spring_force;
      def.user = &s.w;
      for (int i = 0; i < 2; ++i) {
        s.watches[i] = (watch){&s.w, i};
        s.w.event[i].scale = 1.0;
        s.events[i] = (as_event_def){.value = watch_value, .act = watch_act, .user = &s.watches[i]};
      }
      const double q0 = 0.0, v0 = 1.0;
      const as_integrator_def how = rig_how(rig_methods[m], k ? automatic : 0.1, s.events, 2);
      s.r = rig_make(&def, &how, &(as_initial){.q = &q0, .v = &v0});
      const as_state *now = rig_advance(&s.r, 0.55);
      assert_int_equal(s.w.n, 2);
      assert_near("event", s.w.record[0].t, 0.25, 1e-13);
      assert_near("event", s.w.record[1].t, 0.4, 1e-13);
      static const double seen[] = {1.0, 1.0, 1.0, 2.0, 5.0, 5.0};
      assert_int_equal(s.w.samples, 6);
      for (int i = 0; i < 6; ++i) assert_near("sample", s.w.sampled[i], seen[i], 1e-12);
      assert_near("held", now->u[1], 5.0, 1e-12);
      assert_near("place", now->q[0], 0.25 + 0.15 * 2.0 + 0.15 * 5.0, 1e-12);
      rig_free(&s.r);
    }
}

// ---- what a function may use ---------------------------------------------------------------------------------

typedef enum quantity { LAMBDA, VDOT, X, Y, U } quantity;

typedef struct probe {
  quantity what;
  double threshold;
  int count;
  double t, value;
} probe;

static double probe_read(const as_state *at, quantity what) {
  assert_true(at->q && at->v && at->vdot && at->lambda && at->x && at->y && at->u);
  switch (what) {
  case LAMBDA: return at->lambda[0];
  case VDOT: return at->vdot[0];
  case X: return at->x[0];
  case Y: return at->y[0];
  case U: return at->q[0] - at->u[0];
  }
  return 0.0;
}

static int probe_value(const as_state *at, double *out, void *user) {
  const probe *p = user;
  *out = probe_read(at, p->what) - p->threshold;
  return AS_DONE;
}

static int probe_act(as_event *event, void *user) {
  probe *p = user;
  if (p->count++ == 0) {
    p->t = event->state->t;
    p->value = probe_read(event->state, p->what);
  }
  return AS_EVENT_CONTINUE;
}

static int pendulum_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  as_matrix_add(m, 1, 1, 1.0);
  return AS_DONE;
}

static int pendulum_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = -0.2 * at->y[0] * at->v[0];
  f[1] = -9.81;
  return AS_DONE;
}

static int pendulum_rod(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
  return AS_DONE;
}

static int lagged_tension(const as_point *at, double *phi, void *user) {
  (void)user;
  phi[0] = 5.0 * (at->lambda[0] - at->x[0]);
  return AS_DONE;
}

static int measured_tension(const as_point *at, double *chi, void *user) {
  (void)user;
  chi[0] = 0.1 * (at->lambda[0] - at->x[0]);
  return AS_DONE;
}

static int hold_place(const as_point *at, double *u, void *user) {
  (void)user;
  u[0] = at->q[0] - 0.15;
  return AS_DONE;
}

/// Functions of lambda, v', x, y and of held signals: what the action sees is on the threshold, and it is where
/// the state, as shown without events, passes it.
static void test_functions_of_everything(void **state) {
  (void)state;
  static const as_space_part plane = {AS_SPACE_RN, 2};
  static const double q0[] = {0.8, -0.6};
  const as_sampler_def sampler = {.period = 0.1, .first = 0, .count = 1, .sample = hold_place};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = def.n_x = def.n_y = def.n_u = 1;
  def.samplers = &sampler;
  def.n_samplers = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = pendulum_mass;
  def.force = pendulum_force;
  def.constraint = pendulum_rod;
  def.state_rate = lagged_tension;
  def.output = measured_tension;
  for (int m = 0; m < 2; ++m)
    for (int k = 0; k < 2; ++k) {
      probe probes[] = {{.what = LAMBDA, .threshold = 12.0},
                        {.what = VDOT, .threshold = -3.0},
                        {.what = X, .threshold = 4.0},
                        {.what = Y, .threshold = 0.3},
                        {.what = U, .threshold = -0.01}};
      as_event_def events[5];
      for (int i = 0; i < 5; ++i)
        events[i] = (as_event_def){.value = probe_value, .act = probe_act, .user = &probes[i]};
      as_integrator_def how = rig_how(rig_methods[m], k ? automatic : 0.01, events, 5);
      rig r = rig_make(&def, &how, &(as_initial){.q = q0});
      rig_advance(&r, 1.0);
      rig_free(&r);
      how.n_events = 0;
      for (int i = 0; i < 5; ++i) {
        const probe *p = &probes[i];
        if (p->count == 0) fail_msg("quantity %d does not pass %g", (int)p->what, p->threshold);
        // B and its rate, which lambda and v' are solved from, are differences here.
        const bool exact = p->what == X || p->what == U;
        assert_near("value", p->value, p->threshold, exact ? 1e-10 : 1e-7);
        r = rig_make(&def, &how, &(as_initial){.q = q0});
        const as_state *s = rig_advance(&r, p->t);
        // Fixed steps land there instead of interpolating.
        assert_near("shown", probe_read(s, p->what), p->threshold, k ? exact ? 1e-9 : 1e-7 : 2e-2);
        rig_free(&r);
      }
    }
}

// ---- failures ------------------------------------------------------------------------------------------------

static void spoil_v(as_event *event) { event->v[0] = (double)NAN; }

static void test_failing_actions(void **state) {
  (void)state;
  static const char *const messages[] = {
      "The action of event 0 failed at t = 0.52 s (it returned -1", "An event has set v[0] to"};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 4; ++k) {
      scene s = {.w = {.fail_at = 1,
                       .spoil = k % 2 ? spoil_v : NULL,
                       .event = {{.what = PLACE, .threshold = 0.52, .answer = AS_EVENT_CHANGE}}}};
      open_scene(&s, 1, NULL, rig_methods[m], k < 2 ? 0.1 : automatic, 0.0, 1.0);
      rig_advance_to(&s.r, 1.0, AS_ERR_CALLBACK);
      assert_non_null(strstr(s.r.error.message, messages[k % 2]));
      assert_near("time", s.r.error.t, 0.52, 1e-13);
      // The action may do better when it is asked again.
      const as_state *now = rig_advance(&s.r, 1.0);
      assert_int_equal(s.w.n, 2);
      assert_near("time", s.w.record[1].t, 0.52, 1e-13);
      assert_near("place", now->q[0], 1.0, 1e-13);
      rig_free(&s.r);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_several_in_a_step),
      cmocka_unit_test(test_prevented),
      cmocka_unit_test(test_simultaneous),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_search),
      cmocka_unit_test(test_at_a_mesh_point),
      cmocka_unit_test(test_back_at_the_next_mesh_point),
      cmocka_unit_test(test_zero_at_start),
      cmocka_unit_test(test_directions),
      cmocka_unit_test(test_touch),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_stop_without_action),
      cmocka_unit_test(test_continue_disturbs_nothing),
      cmocka_unit_test(test_not_before_its_time),
      cmocka_unit_test(test_interpolation_before_an_event),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_functions_of_everything),
      cmocka_unit_test(test_failing_actions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
