/// Impacts, against calculations by hand: a bouncing ball, one that comes to rest and lifts off, a pendulum and
/// its stop.
///
/// Signs: M v' = f0 - B^T lambda, and impulses likewise: M (v+ - v-) = -B^T L.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "observe.h"
#include "problems/reference_ode.h"
#include "rig.h"

static const double gravity = 9.81;          // [m/s^2]
static const double automatic = (double)NAN; // a step
enum { MOST_EVENTS = 400 };

// ---- a ball above a floor ---------------------------------------------------------------------------

/// One dimension; the floor is a constraint, height = 0, that holds only where the ball has come to rest.
typedef struct ball {
  double mass;        ///< [kg]
  double restitution; ///< [-]
  double rest_below;  ///< an impact slower than this ends on the floor [m/s]
  double lift;        ///< an upward force grows at this rate [N/s]
  bool resting;
  int bounces;
  double t[MOST_EVENTS];       ///< of impacts [s]
  double impulse[MOST_EVENTS]; ///< of the one before each [N s]
  double energy[MOST_EVENTS];  ///< before each [J]
  const as_integrator *integrator;
} ball;

static int ball_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const ball *b = user;
  as_matrix_add(m, 0, 0, b->mass);
  return AS_DONE;
}

static int ball_force(const as_point *at, double *f, void *user) {
  const ball *b = user;
  f[0] = -b->mass * gravity + b->lift * at->t;
  return AS_DONE;
}

static int ball_floor(const as_point *at, double *g, void *user) {
  (void)user;
  g[0] = at->q[0];
  return AS_DONE;
}

/// A height that round-off would let cross zero again and again while the ball rests.
static int ball_height(const as_state *at, double *out, void *user) {
  const ball *b = user;
  *out = b->resting ? 1.0 : at->q[0];
  return AS_DONE;
}

static int ball_impact(as_event *event, void *user) {
  ball *b = user;
  assert_int_equal(event->direction, -1);
  assert_false(event->active[0]);
  assert_true(isnan(event->restitution[0]));
  assert_true(b->bounces < MOST_EVENTS);
  const double v = event->state->v[0];
  b->t[b->bounces] = event->state->t;
  b->energy[b->bounces] = 0.5 * b->mass * v * v + b->mass * gravity * event->state->q[0];
  if (b->integrator) b->impulse[b->bounces] = as_integrator_event(b->integrator).impulse[0];
  ++b->bounces;
  b->resting = fabs(v) < b->rest_below;
  event->active[0] = b->resting;
  event->restitution[0] = b->resting ? 0.0 : b->restitution;
  return AS_EVENT_CHANGE;
}

/// The floor may push, not pull: lambda is negative while it pushes.
static int ball_push(const as_state *at, double *out, void *user) {
  const ball *b = user;
  *out = b->resting ? at->lambda[0] : -1.0;
  return AS_DONE;
}

static int ball_lifts_off(as_event *event, void *user) {
  ball *b = user;
  assert_int_equal(event->direction, 1);
  assert_true(event->active[0]);
  b->resting = event->active[0] = false;
  return AS_EVENT_CHANGE;
}

static as_problem_def ball_def(ball *b) {
  static const as_space_part line = {AS_SPACE_RN, 1};
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.n_lambda = 1;
  def.mass_constant = def.scleronomic = true;
  def.mass = ball_mass;
  def.force = ball_force;
  def.constraint = ball_floor;
  def.user = b;
  return def;
}

static rig ball_rig(ball *b, as_method method, double step, double height) {
  const as_event_def events[] = {
      {.name = "impact", .value = ball_height, .direction = -1, .act = ball_impact, .user = b},
      {.name = "lift-off", .value = ball_push, .direction = 1, .act = ball_lifts_off, .user = b}};
  const as_problem_def def = ball_def(b);
  const as_integrator_def how = rig_how(method, step, events, 2);
  const as_initial initial = {.q = &height, .active = &b->resting};
  const rig r = rig_make(&def, &how, &initial);
  b->integrator = r.integrator;
  return r;
}

/// An event that happens when it is told to: at t[0], t[1], ...
typedef struct schedule {
  double t[32];
  int n, done;
} schedule;

static int schedule_value(const as_state *at, double *out, void *user) {
  const schedule *s = user;
  *out = s->done < s->n ? s->t[s->done] - at->t : 1.0;
  return AS_DONE;
}

static int schedule_act(as_event *event, void *user) {
  (void)event;
  ++((schedule *)user)->done;
  return AS_EVENT_CHANGE;
}

static as_status keep_schedule(schedule *s, double until) {
  ball b = {.mass = 1.0};
  const as_event_def event = {
      .name = "due", .value = schedule_value, .act = schedule_act, .user = s};
  const as_problem_def def = ball_def(&b);
  const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.1, &event, 1);
  const double height = 1.2;
  const bool off = false;
  rig r = rig_make(&def, &how, &(as_initial){.q = &height, .active = &off});
  const as_status status = as_integrator_advance(r.integrator, until, &r.error);
  rig_free(&r);
  return status;
}

/// Four times in a row in no time is not yet for ever, five times is; and what lies between counts: eight pairs, each a second
/// after the one before, are no row.
static void test_rows_in_no_time(void **state) {
  (void)state;
  schedule pairs = {.n = 16};
  for (int i = 0; i < 16; ++i) pairs.t[i] = 1.0 + i / 2 + (i % 2 ? 4e-8 : 0.0);
  assert_int_equal(keep_schedule(&pairs, 10.0), AS_OK);
  assert_int_equal(pairs.done, 16);
  for (int quick = 4; quick <= 5; ++quick) {
    schedule row = {.n = quick + 2, .t = {1.0, 2.0}};
    for (int i = 0; i < quick; ++i) row.t[2 + i] = row.t[1 + i] + 9e-8 * pow(0.9, i);
    assert_int_equal(keep_schedule(&row, 3.0), quick < 5 ? AS_OK : AS_ERR_ZENO);
    assert_int_equal(row.done, quick + 2);
  }
}

/// Times that come sooner in the same way, up to a factor of two, have an end that is close; others may go on.
static void test_steadily_sooner(void **state) {
  (void)state;
  const struct {
    double factor; ///< of the last ratio of times to the one before
    as_status status;
  } rows[] = {{0.49, AS_OK}, {0.51, AS_ERR_ZENO}, {1.98, AS_ERR_ZENO}, {2.02, AS_OK}};
  for (int i = 0; i < 4; ++i) {
    schedule row = {.n = 4, .t = {1.0, 2.0, 2.0002}};
    row.t[3] = row.t[2] + 4e-8 * rows[i].factor;
    assert_int_equal(keep_schedule(&row, 3.0), rows[i].status);
    assert_int_equal(row.done, 4);
  }
}

/// Times that come sooner by a hundred-thousandth each are sooner; by less they are not, and a row of them may go on.
static void test_hardly_sooner(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    schedule row = {.n = 7, .t = {1.0, 1000.0}};
    double gap = 9e-5;
    for (int k = 2; k < 7; ++k, gap *= 1.0 - (i ? 1.2e-5 : 0.8e-5)) row.t[k] = row.t[k - 1] + gap;
    const as_status status = keep_schedule(&row, 1001.0);
    assert_int_equal(status, i ? AS_ERR_ZENO : AS_OK);
    assert_int_equal(row.done, 7);
  }
}

/// A function that is bent to one side or the other, zero at 0.05 s, and how often it is asked for.
typedef struct bent {
  double side;
  int asked;
} bent;

static int bent_value(const as_state *at, double *out, void *user) {
  bent *b = user;
  ++b->asked;
  *out = b->side * expm1(b->side * 50.0 * (at->t - 0.0512345));
  return AS_DONE;
}

/// It is found in few evaluations: regula falsi by itself keeps one end, and is halved then.
static void test_few_evaluations(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    ball b = {.mass = 1.0};
    bent f = {.side = i ? -1.0 : 1.0};
    const as_event_def event = {.name = "bent", .value = bent_value, .user = &f};
    const as_problem_def def = ball_def(&b);
    const as_integrator_def how = rig_how(AS_METHOD_INDEX2, 0.1, &event, 1);
    const double height = 1.2;
    const bool off = false;
    rig r = rig_make(&def, &how, &(as_initial){.q = &height, .active = &off});
    rig_advance_to(&r, 0.1, AS_STOPPED);
    assert_true(f.asked <= 21); // 16 or 17; 25 without Illinois' weights
    rig_free(&r);
  }
}

/// Between impacts the motion is a parabola, which every method follows exactly. From a height H with
/// restitution e: t_1 = sqrt(2 H/g), the flight after impact k takes 2 e^k t_1, and all end at
/// t_1 (1 + 2 e/(1 - e)).
static void bounce_to_the_end(as_method method, double step, double e) {
  ball b = {.mass = 0.3, .restitution = e};
  rig r = ball_rig(&b, method, step, 1.2);
  const double t1 = sqrt(2.0 * 1.2 / gravity), end = t1 * (1.0 + 2.0 * e / (1.0 - e));
  rig_advance_to(&r, 2.0 * end, AS_ERR_ZENO);
  double t = t1, v = gravity * t1, flight = 2.0 * e * t1;
  for (int k = 0; k < b.bounces; ++k) {
    assert_near("time of an impact", b.t[k], t, 1e-9);
    if (k < 12) { // later ones are as slow as round-off in height lets them
      assert_near("energy", b.energy[k], 0.5 * b.mass * v * v, 1e-9 * b.energy[0]);
      if (k > 0) assert_near("impulse", b.impulse[k], -(1.0 + e) * b.mass * v / e, 1e-8);
    }
    t += flight;
    v *= e;
    flight *= e;
  }
  // Five flights in a row below 1e-7 of the time since the first impact, or one after which the next would
  // take less than 1e-10 s.
  const double since = end - t1, by_share = ceil(log(1e-7 * since / (2.0 * t1)) / log(e)) + 5.0;
  const double unseen = ceil(log(1e-10 / (2.0 * t1)) / log(e));
  const int expected = (int)fmin(by_share, unseen);
  assert_in_range(b.bounces, expected - 1, expected + 1);
  assert_near("where it ends", r.error.t, end, 1e-6 * end);
  assert_non_null(strstr(r.error.message, "\"impact\""));
  assert_non_null(strstr(r.error.message, "again and again"));
  assert_string_equal(r.error.component, "\"impact\"");
  const as_event_report report = as_integrator_event(r.integrator);
  assert_int_equal(report.count, b.bounces);
  assert_int_equal(report.index, 0);
  assert_int_equal(report.direction, -1);
  assert_true(report.t == b.t[b.bounces - 1]);
  const as_state *s = as_integrator_state(r.integrator);
  assert_true(s->t == report.t && fabs(s->q[0]) < 1e-12 && s->v[0] > 0.0);
  // Asked again it does not go on for ever either, and can be started anew.
  const int before = b.bounces;
  rig_advance_to(&r, 2.0 * end, AS_ERR_ZENO);
  assert_true(b.bounces <= before + 10);
  const double height = 1.2;
  const bool off = false;
  const as_initial initial = {.q = &height, .active = &off};
  assert_int_equal(as_integrator_start(r.integrator, &initial, NULL, &r.error), AS_OK);
  assert_int_equal(as_integrator_event(r.integrator).index, -1);
  assert_int_equal(as_integrator_event(r.integrator).count, 0);
  b.bounces = 0;
  rig_advance(&r, 1.01 * t1);
  assert_int_equal(b.bounces, 1);
  assert_near("the first impact again", b.t[0], t1, 1e-9);
  rig_free(&r);
}

static void test_bouncing_ball(void **state) {
  (void)state;
  const double restitution[] = {0.5, 0.8, 0.2, 0.01};
  for (int m = 0; m < 3; ++m)
    for (int i = 0; i < 4; ++i) {
      bounce_to_the_end(rig_methods[m], 0.01, restitution[i]);
      bounce_to_the_end(rig_methods[m], 0.37, restitution[i]); // longer than most flights
      bounce_to_the_end(rig_methods[m], automatic, restitution[i]);
    }
}

/// Without loss it goes on for ever: no Zeno point, and the height is kept.
static void test_lossless_ball(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    ball b = {.mass = 0.3, .restitution = 1.0};
    rig r = ball_rig(&b, rig_methods[m], 0.01, 1.2);
    const double t1 = sqrt(2.0 * 1.2 / gravity);
    const as_state *s = rig_advance(&r, 200.0 * t1); // at the top again
    assert_int_equal(b.bounces, 100);
    assert_near("height", s->q[0], 1.2, 1e-8);
    assert_near("velocity", s->v[0], 0.0, 1e-7);
    rig_free(&r);
  }
}

/// An impact slow enough ends on the floor: it holds with lambda = -m g, for good.
static void test_ball_comes_to_rest(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    for (int k = 0; k < 2; ++k) {
      ball b = {.mass = 0.3, .restitution = 0.6, .rest_below = 0.2};
      rig r = ball_rig(&b, rig_methods[m], k ? automatic : 0.01, 1.2);
      const double v1 = sqrt(2.0 * gravity * 1.2);
      rig_advance(&r, 20.0);
      // v1 0.6^k < 0.2: k = 7 is the eighth impact.
      assert_int_equal(b.bounces, (int)ceil(log(0.2 / v1) / log(0.6)) + 1);
      const as_state *s = as_integrator_state(r.integrator);
      assert_true(b.resting);
      assert_near("height", s->q[0], 0.0, 1e-14);
      assert_near("velocity", s->v[0], 0.0, 1e-14);
      assert_near("acceleration", s->vdot[0], 0.0, 1e-12);
      assert_near("push of the floor", s->lambda[0], -b.mass * gravity, 1e-12);
      const double last = v1 * pow(0.6, b.bounces - 1);
      assert_near("the last impulse", as_integrator_event(r.integrator).impulse[0], -b.mass * last,
                  1e-9);
      rig_free(&r);
    }
  }
}

/// At rest from the start, lifted by c t: takes off at t = m g/c, then height = c (t - t_0)^3/(6 m).
static void test_ball_lifts_off(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    double error[2] = {0};
    for (int level = 0; level < 3; ++level) {
      ball b = {.mass = 0.3, .restitution = 0.6, .lift = 2.0, .resting = true};
      const double off = b.mass * gravity / b.lift, end = off + 0.5;
      rig r = ball_rig(&b, rig_methods[m], level == 2 ? automatic : 0.02 / (1 + level), 0.0);
      const as_state *s = as_integrator_state(r.integrator);
      assert_near("push at the start", s->lambda[0], -b.mass * gravity, 1e-12);
      s = rig_advance(&r, 1.0);
      assert_near("push on the way", s->lambda[0], b.lift - b.mass * gravity, 1e-9);
      assert_near("height before", s->q[0], 0.0, 1e-14);
      s = rig_advance(&r, end);
      const as_event_report report = as_integrator_event(r.integrator);
      assert_int_equal(report.count, 1);
      assert_int_equal(report.index, 1);
      assert_near("lift-off", report.t, off, 1e-9);
      assert_near("no impulse", report.impulse[0], 0.0, 1e-12);
      assert_true(s->lambda[0] == 0.0);
      assert_near("acceleration after", s->vdot[0], b.lift * 0.5 / b.mass, 1e-6);
      const double height = b.lift * 0.125 / (6.0 * b.mass);
      if (level < 2) error[level] = fabs(s->q[0] - height);
      assert_near("height after", s->q[0], height, 1e-3);
      rig_free(&r);
    }
    const double order = log2(error[0] / error[1]);
    printf("lift-off, method %d: %.2e %.2e order %.2f\n", m, error[0], error[1], order);
    assert_true(order > 1.9);
  }
}

// ---- a pendulum and its stop --------------------------------------------------------------------------

/// q in the plane, rod of length l; the stop is the line x = l sin(angle_s), a second row that never holds.
typedef struct stopped {
  double mass, length, angle, restitution;
  int hits;
  double before[2]; ///< v at the last hit [m/s]
} stopped;

static int bob_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const stopped *p = user;
  as_matrix_add(m, 0, 0, p->mass);
  as_matrix_add(m, 1, 1, p->mass);
  return AS_DONE;
}

static int bob_force(const as_point *at, double *f, void *user) {
  (void)at;
  const stopped *p = user;
  f[0] = 0.0;
  f[1] = -p->mass * gravity;
  return AS_DONE;
}

static int rod_and_stop(const as_point *at, double *g, void *user) {
  const stopped *p = user;
  const double *q = at->q;
  g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - p->length * p->length);
  g[1] = q[0] - p->length * sin(p->angle);
  return AS_DONE;
}

static int rod_and_stop_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks,
                                 void *user) {
  (void)user;
  assert_true(wanted == AS_BLOCK_BIT(AS_BLOCK_G_Q));
  as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, at->q[0]);
  as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, at->q[1]);
  as_matrix_add(&blocks[AS_BLOCK_G_Q], 1, 0, 1.0);
  return AS_DONE;
}

static int distance_to_stop(const as_state *at, double *out, void *user) {
  const stopped *p = user;
  *out = p->length * sin(p->angle) - at->q[0];
  return AS_DONE;
}

static int hit(as_event *event, void *user) {
  stopped *p = user;
  assert_true(event->active[0] && !event->active[1]);
  memcpy(p->before, event->state->v, sizeof p->before);
  ++p->hits;
  event->restitution[1] = p->restitution;
  return AS_EVENT_CHANGE;
}

static as_problem_def stopped_def(stopped *p) {
  static const as_space_part plane = {AS_SPACE_RN, 2};
  as_problem_def def = as_default_problem_def();
  def.parts = &plane;
  def.n_parts = 1;
  def.n_lambda = 2;
  def.mass_constant = def.scleronomic = true;
  def.mass = bob_mass;
  def.force = bob_force;
  def.constraint = rod_and_stop;
  def.jacobian = rod_and_stop_jacobian;
  def.block[AS_BLOCK_G_Q].source = AS_BLOCK_GIVEN;
  def.user = p;
  return def;
}

static rig stopped_rig(stopped *p, const as_integrator_def *how, double angle0) {
  static const bool active[] = {true, false};
  const double q0[] = {p->length * sin(angle0), -p->length * cos(angle0)};
  const as_problem_def def = stopped_def(p);
  const as_initial initial = {.q = q0, .active = active};
  return rig_make(&def, how, &initial);
}

static as_event_def stop_event(stopped *p) {
  return (as_event_def){
      .name = "stop", .value = distance_to_stop, .direction = -1, .act = hit, .user = p};
}

static void swing_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const stopped *p = context;
  dy[0] = y[1];
  dy[1] = -gravity / p->length * sin(y[0]);
}

/// (angle, rate) at t after all the hits on the way, which are found by Newton's method on a solution good to
/// round-off. Writes their times.
static int exact_swing(const stopped *p, double angle0, double t, double *y, double *times) {
  double now = 0.0;
  int hits = 0;
  y[0] = angle0;
  y[1] = 0.0;
  for (;;) {
    // Walk until the angle has passed the stop.
    double next[2] = {y[0], y[1]}, at = now;
    while (at < t) {
      const double to = fmin(at + 0.02, t);
      reference_ode(swing_rhs, p, 2, at, to, 0.02, next);
      at = to;
      if (next[0] > p->angle && next[1] > 0.0) break;
    }
    if (!(next[0] > p->angle && next[1] > 0.0)) {
      memcpy(y, next, 2 * sizeof *y);
      return hits;
    }
    for (int i = 0; i < 8; ++i) {
      const double to = at - (next[0] - p->angle) / next[1];
      reference_ode(swing_rhs, p, 2, at, to, 0.02, next);
      at = to;
    }
    times[hits++] = now = at;
    y[0] = p->angle;
    y[1] = -p->restitution * next[1];
  }
}

/// The velocities and both impulses of one hit by hand. With the angle s of the stop, l angle' = u before:
/// u+ = -e u, and m (u+ - u) (cos s, sin s) + L_0 l (sin s, -cos s) + L_1 (1, 0) = 0.
static void test_pendulum_hits_stop(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    for (int k = 0; k < 2; ++k) {
      stopped p = {.mass = 0.7, .length = 1.3, .angle = 0.4, .restitution = 0.7};
      const as_event_def event = stop_event(&p);
      as_integrator_def how = rig_how(rig_methods[m], k ? automatic : 0.002, &event, 1);
      how.tolerance.rtol = 3e-4;
      rig r = stopped_rig(&p, &how, -1.0);
      // From rest at -1 rad: (l angle')^2/2 = g l (cos s - cos 1).
      const double u = sqrt(2.0 * gravity * p.length * (cos(p.angle) - cos(1.0)));
      double exact[2], times[16];
      exact_swing(&p, -1.0, 1.0, exact, times);
      rig_advance(&r, times[0] + 1e-3);
      const as_event_report report = as_integrator_event(r.integrator);
      assert_int_equal(report.count, 1);
      assert_near("time of the hit", report.t, times[0], k ? 1e-4 : 2e-5);
      const double c = cos(p.angle), s = sin(p.angle), jump = -(1.0 + p.restitution) * u;
      assert_near("v_x before", p.before[0], u * c, k ? 5e-4 : 1e-4);
      assert_near("v_y before", p.before[1], u * s, k ? 5e-4 : 1e-4);
      assert_near("impulse of the rod", report.impulse[0], p.mass * jump * s / (c * p.length),
                  k ? 5e-4 : 1e-4);
      assert_near("impulse of the stop", report.impulse[1], -p.mass * jump / c, k ? 5e-4 : 1e-4);
      rig_free(&r);
    }
  }
}

/// The state just after a hit, as the library has it: velocity reversed, rod satisfied, momentum balance to
/// round-off.
static int hit_and_stop(as_event *event, void *user) { return hit(event, user) | AS_EVENT_STOP; }

static void test_momentum_of_hit(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    stopped p = {.mass = 0.7, .length = 1.3, .angle = 0.4, .restitution = 0.7};
    as_event_def event = stop_event(&p);
    event.act = hit_and_stop;
    const as_integrator_def how = rig_how(rig_methods[m], 0.01, &event, 1);
    rig r = stopped_rig(&p, &how, -1.0);
    const as_state *s = rig_advance_to(&r, 5.0, AS_STOPPED);
    const as_event_report report = as_integrator_event(r.integrator);
    assert_true(s->t == report.t);
    for (int i = 0; i < 2; ++i) {
      const double b0 = s->q[i], b1 = i == 0 ? 1.0 : 0.0;
      assert_near("momentum", p.mass * (s->v[i] - p.before[i]),
                  -b0 * report.impulse[0] - b1 * report.impulse[1], 1e-13);
    }
    // Index-3 comes with a velocity that is off the rod by O(h^2); after the hit it is not.
    assert_near("rate of the rod", s->q[0] * s->v[0] + s->q[1] * s->v[1], 0.0, 1e-14);
    assert_near("rate of the stop", s->v[0], -p.restitution * p.before[0], 1e-13);
    assert_near("rod", hypot(s->q[0], s->q[1]), p.length, 1e-13);
    // v' and lambda belong to the new velocity: m (v.v) + f.q = lambda l^2.
    const double v2 = s->v[0] * s->v[0] + s->v[1] * s->v[1];
    assert_near("rod after the hit", s->lambda[0],
                p.mass * (v2 - gravity * s->q[1]) / (p.length * p.length), 1e-10);
    assert_true(s->lambda[1] == 0.0);
    assert_true(s->a_offset == 0.0 && s->a[0] == s->vdot[0] && s->a[1] == s->vdot[1]);
    rig_free(&r);
  }
}

/// Adds a state to the largest errors.
static void compare_swing(const stopped *p, const as_state *s, errors *e) {
  double y[2], times[16], dy[2];
  assert_int_equal(exact_swing(p, -1.0, s->t, y, times), p->hits);
  swing_rhs(s->t, y, dy, p);
  const double l = p->length, c = cos(y[0]), sn = sin(y[0]), w = y[1];
  const double vdot[] = {l * (c * dy[1] - sn * w * w), l * (sn * dy[1] + c * w * w)};
  const double lambda = p->mass * (w * w + gravity / l * c);
  e->q = fmax(e->q, hypot(s->q[0] - l * sn, s->q[1] + l * c));
  e->v = fmax(e->v, hypot(s->v[0] - l * c * w, s->v[1] - l * sn * w));
  e->vdot = fmax(e->vdot, hypot(s->vdot[0] - vdot[0], s->vdot[1] - vdot[1]));
  e->lambda = fmax(e->lambda, fabs(s->lambda[0] - lambda));
}

/// Order 2 in every variable, in the largest error over the steps after the first hit. Stopped at each hit the
/// steps go on from there with their full size.
static void test_order_after_hits(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    errors e[2] = {{0}};
    for (int level = 0; level < 2; ++level) {
      stopped p = {.mass = 0.7, .length = 1.3, .angle = 0.4, .restitution = 0.7};
      as_event_def event = stop_event(&p);
      event.act = hit_and_stop;
      const double h = 0.005 / (1 << level);
      as_integrator_def how = rig_how(rig_methods[m], h, &event, 1);
      how.newton.rtol = 1e-11;
      rig r = stopped_rig(&p, &how, -1.0);
      const as_state *s = as_integrator_state(r.integrator);
      for (int after = 0; s->t < 4.5; ++after) {
        const as_status status = as_integrator_step(r.integrator, h, &r.error);
        assert_true(status == AS_OK || status == AS_STOPPED);
        if (status == AS_STOPPED) after = 0;
        // The first steps after a hit, and some of the others.
        if (p.hits > 0 && after > 0 && (after < 4 || after % 11 == 0))
          compare_swing(&p, s, &e[level]);
      }
      assert_int_equal(p.hits, 3);
      rig_free(&r);
    }
    const double q = observed_order(e[0].q, e[1].q), v = observed_order(e[0].v, e[1].v);
    const double vdot = observed_order(e[0].vdot, e[1].vdot);
    const double lambda = observed_order(e[0].lambda, e[1].lambda);
    printf("hits, method %d: q %.1e order %.2f, v %.1e %.2f, v' %.1e %.2f, lambda %.1e %.2f\n", m,
           e[1].q, q, e[1].v, v, e[1].vdot, vdot, e[1].lambda, lambda);
    assert_true(q > 1.9 && v > 1.9 && vdot > 1.9 && lambda > 1.9);
  }
}

/// The same where the caller asks for every mesh point of steps that know nothing of events: no short step is
/// taken to come back to it, which would leave an error of first order in index-3's lambda.
static void test_order_on_a_mesh(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    errors e[3] = {{0}};
    for (int level = 0; level < 3; ++level) {
      stopped p = {.mass = 0.7, .length = 1.3, .angle = 0.4, .restitution = 0.7};
      const as_event_def event = stop_event(&p);
      const double h = 0.01 / (1 << level);
      as_integrator_def how = rig_how(rig_methods[m], h, &event, 1);
      how.newton.rtol = 1e-11;
      rig r = stopped_rig(&p, &how, -1.0);
      for (int k = 1; k * h < 4.5; ++k) {
        const as_state *s = rig_advance(&r, k * h);
        if (p.hits > 0 && k % 3 == 0) compare_swing(&p, s, &e[level]);
      }
      assert_int_equal(p.hits, 3);
      rig_free(&r);
    }
    for (int level = 1; level < 3; ++level) {
      const double q = observed_order(e[level - 1].q, e[level].q);
      const double lambda = observed_order(e[level - 1].lambda, e[level].lambda);
      printf("mesh, method %d: q %.1e order %.2f, lambda %.1e order %.2f\n", m, e[level].q, q,
             e[level].lambda, lambda);
      assert_true(q > 1.9 && lambda > 1.9);
    }
  }
}

/// With automatic steps the errors follow the tolerance.
static void test_tolerance_after_hits(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    errors e[2] = {{0}};
    for (int level = 0; level < 2; ++level) {
      stopped p = {.mass = 0.7, .length = 1.3, .angle = 0.4, .restitution = 0.7};
      const as_event_def event = stop_event(&p);
      as_integrator_def how = rig_how(rig_methods[m], automatic, &event, 1);
      how.tolerance.rtol = level ? 3e-4 : 6.5e-3;
      rig r = stopped_rig(&p, &how, -1.0);
      for (int k = 0; k < 8; ++k) compare_swing(&p, rig_advance(&r, 4.2 + 0.04 * k), &e[level]);
      rig_free(&r);
    }
    printf("hits, method %d: rtol 6.5e-3: q %.1e lambda %.1e; 3e-4: q %.1e lambda %.1e\n", m,
           e[0].q, e[0].lambda, e[1].q, e[1].lambda);
    assert_true(e[0].q < 3e-2 && e[1].q < 2e-3 && e[1].q < 0.1 * e[0].q);
    assert_true(e[0].lambda < 0.1 && e[1].lambda < 0.1 * e[0].lambda);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bouncing_ball),        cmocka_unit_test(test_lossless_ball),
      cmocka_unit_test(test_rows_in_no_time),      cmocka_unit_test(test_steadily_sooner),
      cmocka_unit_test(test_hardly_sooner),        cmocka_unit_test(test_few_evaluations),
      cmocka_unit_test(test_ball_comes_to_rest),   cmocka_unit_test(test_ball_lifts_off),
      cmocka_unit_test(test_pendulum_hits_stop),   cmocka_unit_test(test_momentum_of_hit),
      cmocka_unit_test(test_order_after_hits),     cmocka_unit_test(test_order_on_a_mesh),
      cmocka_unit_test(test_tolerance_after_hits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
