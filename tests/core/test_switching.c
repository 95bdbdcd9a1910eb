/// Events that switch modes, parameters and constraints in the middle of a motion: periods and every variable
/// against closed forms and reference solutions glued at the events.
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "observe.h"
#include "problems/mechatronic.h"
#include "problems/problems.h"
#include "rig.h"

static const double automatic = (double)NAN; // a step

// ---- stick-slip ---------------------------------------------------------------------------------------

/// A block on a spring, on a belt that runs with u. It sticks, which is a constraint whose multiplier is the
/// friction force, until that exceeds the static friction; then it slips under kinetic friction until it is
/// as fast as the belt again.
///
///     stick: q' = u,                until  k q = F_s
///     slip:  m q'' = F_k - k q,     until  q' = u
///
/// With w = sqrt(k/m), A = (F_s - F_k)/k the slip takes (2 pi - 2 atan(A w/u))/w, and leads from F_k/k + A to
/// F_k/k - A, so that the block sticks for 2 A/u.
typedef struct block {
  double mass, spring;                ///< [kg], [N/m]
  double belt;                        ///< [m/s]
  double static_force, kinetic_force; ///< [N]
  bool holonomic;                     ///< sticks by g = q - q_s - u (t - t_s) instead of k = q' - u
  bool sticks;
  double q_s, t_s; ///< where and when it began to
  int n_sticks;
  double first, last; ///< when it did the second time (the first is not periodic yet) and last [s]
  double least, most; ///< friction while sticking, as seen at the events [N]
} block;

static double exact_period(const block *b) {
  const double w = sqrt(b->spring / b->mass), a = (b->static_force - b->kinetic_force) / b->spring;
  return (2.0 * acos(-1.0) - 2.0 * atan(a * w / b->belt)) / w + 2.0 * a / b->belt;
}

static int block_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const block *b = user;
  as_matrix_add(m, 0, 0, b->mass);
  return AS_DONE;
}

static int block_force(const as_point *at, double *f, void *user) {
  const block *b = user;
  f[0] = -b->spring * at->q[0] + (b->sticks ? 0.0 : b->kinetic_force);
  return AS_DONE;
}

static int block_place(const as_point *at, double *g, void *user) {
  const block *b = user;
  g[0] = at->q[0] - b->q_s - b->belt * (at->t - b->t_s);
  return AS_DONE;
}

static int block_speed(const as_point *at, double *k, void *user) {
  const block *b = user;
  k[0] = at->v[0] - b->belt;
  return AS_DONE;
}

static double friction(const block *b, const as_state *at) {
  return -(b->holonomic ? at->lambda[0] : at->psi[0]);
}

/// Static friction left; nothing to be noticed while it slips.
static int block_reserve(const as_state *at, double *out, void *user) {
  const block *b = user;
  *out = b->sticks ? b->static_force - fabs(friction(b, at)) : 1.0;
  return AS_DONE;
}

static int block_slips(as_event *event, void *user) {
  block *b = user;
  b->most = friction(b, event->state);
  b->sticks = event->active[0] = false;
  return AS_EVENT_CHANGE;
}

static int block_relative(const as_state *at, double *out, void *user) {
  const block *b = user;
  *out = b->sticks ? -1.0 : at->v[0] - b->belt;
  return AS_DONE;
}

static int block_sticks(as_event *event, void *user) {
  block *b = user;
  b->sticks = event->active[0] = true;
  b->q_s = event->q[0];
  b->t_s = event->state->t;
  if (++b->n_sticks == 2) b->first = event->state->t;
  b->last = event->state->t;
  return AS_EVENT_CHANGE;
}

/// The mean period over `n` of them.
static double period(as_method method, double step, double rtol, bool holonomic, int n) {
  block b = {.mass = 1.3,
             .spring = 40.0,
             .belt = 0.35,
             .static_force = 12.0,
             .kinetic_force = 7.0,
             .holonomic = holonomic,
             .sticks = true};
  static const as_space_part line = {AS_SPACE_RN, 1};
  const as_event_def events[] = {
      {.name = "slip", .value = block_reserve, .direction = -1, .act = block_slips, .user = &b},
      {.name = "stick", .value = block_relative, .direction = 1, .act = block_sticks, .user = &b}};
  as_integrator_def how = rig_how(method, step, events, 2);
  how.tolerance.rtol = rtol;
  as_problem_def def = as_default_problem_def();
  def.parts = &line;
  def.n_parts = 1;
  def.n_lambda = holonomic;
  def.n_psi = !holonomic;
  def.mass_constant = true;
  def.scleronomic = !holonomic;
  def.mass = block_mass;
  def.force = block_force;
  def.constraint = holonomic ? block_place : NULL;
  def.nonholonomic = holonomic ? NULL : block_speed;
  def.user = &b;
  const double q0 = 0.0;
  rig r = rig_make(&def, &how, &(as_initial){.q = &q0, .v = &b.belt});
  const double T = exact_period(&b);
  // The first slip, after F_s/(k u).
  const double slip = b.static_force / (b.spring * b.belt);
  const as_state *s = rig_advance(&r, 0.5 * slip);
  assert_near("q while it sticks", s->q[0], 0.5 * slip * b.belt, 1e-10);
  assert_near("friction while it sticks", -(holonomic ? s->lambda[0] : s->psi[0]),
              0.5 * b.static_force, 1e-8);
  s = rig_advance(&r, 1.01 * slip);
  assert_near("first slip", as_integrator_event(r.integrator).t, slip, 1e-9);
  assert_near("friction when it slips", b.most, b.static_force, 1e-9);
  assert_true((holonomic ? s->lambda[0] : s->psi[0]) == 0.0);
  rig_advance(&r, slip + (n + 1.0) * T);
  assert_int_equal(b.n_sticks, n + 1);
  rig_free(&r);
  return (b.last - b.first) / (n - 1);
}

static void test_stick_slip(void **state) {
  (void)state;
  const block b = {
      .mass = 1.3, .spring = 40.0, .belt = 0.35, .static_force = 12.0, .kinetic_force = 7.0};
  const double exact = exact_period(&b);
  for (int m = 0; m < 3; ++m) {
    for (int kind = 0; kind < 2; ++kind) {
      double error[3] = {0};
      for (int level = 0; level < 3; ++level)
        error[level] =
            fabs(period(rig_methods[m], 0.01 / (1 << level), 1e-4, kind == 1, 6) - exact);
      const double order = 0.5 * log2(error[0] / error[2]);
      printf("stick-slip, method %d, %s: period off by %.1e %.1e %.1e order %.2f\n", m,
             kind ? "g" : "k", error[0], error[1], error[2], order);
      assert_true(order > 1.9 && error[2] < 1e-4);
      const double rough = fabs(period(rig_methods[m], automatic, 6.5e-3, kind == 1, 6) - exact);
      const double fine = fabs(period(rig_methods[m], automatic, 6.5e-5, kind == 1, 6) - exact);
      printf("  automatic: rtol 6.5e-3: %.1e, 6.5e-5: %.1e\n", rough, fine);
      assert_true(rough < 1e-2 && fine < 1e-4);
    }
  }
}

// ---- a controller that switches with hysteresis -----------------------------------------------------------

/// A heater that is switched on below `low` and off above `high`: x' = y - x/tau, y = p (on) or 0, and a body
/// that the warmth drives, q'' = x. In each mode x goes to x_e = p tau or 0 like exp(-t/tau).
typedef struct heater {
  double tau, power, low, high;
  bool on;
  int switches;
  double t[32];
} heater;

static int unit_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at, (void)user;
  as_matrix_add(m, 0, 0, 1.0);
  return AS_DONE;
}

static int heater_force(const as_point *at, double *f, void *user) {
  (void)user;
  f[0] = at->x[0];
  return AS_DONE;
}

static int heater_rate(const as_point *at, double *phi, void *user) {
  const heater *c = user;
  phi[0] = at->y[0] - at->x[0] / c->tau;
  return AS_DONE;
}

static int heater_output(const as_point *at, double *chi, void *user) {
  (void)at;
  const heater *c = user;
  chi[0] = c->on ? c->power : 0.0;
  return AS_DONE;
}

static int too_warm(const as_state *at, double *out, void *user) {
  const heater *c = user;
  *out = at->x[0] - c->high;
  return AS_DONE;
}

static int too_cold(const as_state *at, double *out, void *user) {
  const heater *c = user;
  *out = at->x[0] - c->low;
  return AS_DONE;
}

static int switch_heater(as_event *event, void *user) {
  heater *c = user;
  assert_int_equal(c->on, event->index == 0);
  assert_near("y before", event->state->y[0], c->on ? c->power : 0.0, 1e-12);
  c->on = event->index == 1;
  c->t[c->switches++] = event->state->t;
  return AS_EVENT_CHANGE;
}

/// Time, x and the integrals of x from mode to mode; ends at t.
static int exact_heater(const heater *c, double t, double *x, double *v, double *q, double *times) {
  double now = 0.0;
  bool on = true;
  int switches = 0;
  *x = *v = *q = 0.0;
  for (;;) {
    const double e = on ? c->power * c->tau : 0.0, threshold = on ? c->high : c->low;
    const double next = now + c->tau * log((*x - e) / (threshold - e));
    const double d = fmin(next, t) - now, decay = exp(-d / c->tau), dev = *x - e, tau = c->tau;
    *q += *v * d + 0.5 * e * d * d + dev * tau * (d - tau * (1.0 - decay));
    *v += e * d + dev * tau * (1.0 - decay);
    *x = e + dev * decay;
    if (next >= t) return switches;
    times[switches++] = now = next;
    *x = threshold;
    on = !on;
  }
}

static void test_hysteresis(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  static const double end = 4.0, q0 = 0.0;
  for (int m = 0; m < 2; ++m) { // SOI2 has no x and y
    double error[3][5] = {{0}};
    for (int level = 0; level < 3; ++level) {
      heater c = {.tau = 0.7, .power = 3.0, .low = 1.0, .high = 1.4, .on = true};
      const as_event_def events[] = {
          {.name = "warm", .value = too_warm, .direction = 1, .act = switch_heater, .user = &c},
          {.name = "cold", .value = too_cold, .direction = -1, .act = switch_heater, .user = &c}};
      const double h = level == 2 ? automatic : 0.02 / (1 + level);
      as_integrator_def how = rig_how(rig_methods[m], h, events, 2);
      how.tolerance.rtol = 3e-4;
      as_problem_def def = as_default_problem_def();
      def.parts = &line;
      def.n_parts = 1;
      def.n_x = def.n_y = 1;
      def.mass_constant = true;
      def.mass = unit_mass;
      def.force = heater_force;
      def.state_rate = heater_rate;
      def.output = heater_output;
      def.user = &c;
      rig r = rig_make(&def, &how, &(as_initial){.q = &q0});
      for (int k = 0; k <= 20; ++k) {
        double x, v, q, times[32] = {0};
        const as_state *s = rig_advance(&r, end + 0.02 * k);
        const int switches = exact_heater(&c, s->t, &x, &v, &q, times);
        assert_int_equal(c.switches, switches);
        double *e = error[level];
        e[0] = fmax(e[0], fabs(s->x[0] - x));
        e[1] = fmax(e[1], fabs(s->q[0] - q));
        e[2] = fmax(e[2], fabs(s->v[0] - v));
        e[3] = fmax(e[3], fabs(s->xdot[0] - ((c.on ? c.power : 0.0) - x / c.tau)));
        for (int i = 0; i < switches; ++i) e[4] = fmax(e[4], fabs(c.t[i] - times[i]));
        assert_true(s->y[0] == (c.on ? c.power : 0.0));
      }
      assert_true(c.switches > 8);
      rig_free(&r);
    }
    printf("heater, method %d:", m);
    for (int i = 0; i < 5; ++i) {
      const double order = log2(error[0][i] / error[1][i]);
      printf(" %.1e order %.2f,", error[1][i], order);
      assert_true(order > 1.85);
      assert_true(error[2][i] < 1e-3); // automatic
    }
    printf(" for x, q, v, x' and the times of switching\n");
  }
}

// ---- one event whose function changes with the mode ------------------------------------------------------

static int one_threshold(const as_state *at, double *out, void *user) {
  const heater *c = user;
  *out = c->on ? c->high - at->x[0] : at->x[0] - c->low;
  return AS_DONE;
}

static int switch_over(as_event *event, void *user) {
  heater *c = user;
  assert_int_equal(event->direction, -1);
  c->on = !c->on;
  c->t[c->switches++] = event->state->t;
  return AS_EVENT_CHANGE;
}

/// A function that jumps when the event happens has the sign of its new value.
static void test_function_that_jumps(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  static const double q0 = 0.0;
  for (int direction = -1; direction <= 0; ++direction) {
    for (int k = 0; k < 2; ++k) {
      heater c = {.tau = 0.7, .power = 3.0, .low = 1.0, .high = 1.4, .on = true};
      const as_event_def event = {
          .value = one_threshold, .direction = direction, .act = switch_over, .user = &c};
      const as_integrator_def how = rig_how(AS_METHOD_INDEX2, k ? 0.13 : 0.01, &event, 1);
      as_problem_def def = as_default_problem_def();
      def.parts = &line;
      def.n_parts = 1;
      def.n_x = def.n_y = 1;
      def.mass_constant = true;
      def.mass = unit_mass;
      def.force = heater_force;
      def.state_rate = heater_rate;
      def.output = heater_output;
      def.user = &c;
      rig r = rig_make(&def, &how, &(as_initial){.q = &q0});
      rig_advance(&r, 4.0);
      double x, v, q, times[32] = {0};
      assert_int_equal(c.switches, exact_heater(&c, 4.0, &x, &v, &q, times));
      for (int i = 0; i < c.switches; ++i) assert_near("time", c.t[i], times[i], k ? 2e-2 : 2e-4);
      rig_free(&r);
    }
  }
}

/// A clock: an event sets the time of the next one. Ticks that are quick, but regular, are no accumulation, even
/// long after the first.
typedef struct ticking {
  double next, period; ///< [s]
  int ticks;
} ticking;

static int free_force(const as_point *at, double *f, void *user) {
  (void)at, (void)user;
  f[0] = 0.0;
  return AS_DONE;
}

static int until_tick(const as_state *at, double *out, void *user) {
  const ticking *c = user;
  *out = at->t - c->next;
  return AS_DONE;
}

static int tick(as_event *event, void *user) {
  ticking *c = user;
  assert_near("tick", event->state->t, c->next, 1e-12);
  c->next += c->ticks++ == 0 ? 300.0 : c->period;
  return AS_EVENT_CHANGE;
}

static void test_clock(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  static const double q0 = 0.0, v0 = 1.0, periods[] = {2e-5, 3e-7, 0.37};
  for (int k = 0; k < 6; ++k) {
    ticking c = {.next = 0.5, .period = periods[k % 3]};
    const as_event_def event = {.value = until_tick, .direction = k % 2, .act = tick, .user = &c};
    const as_integrator_def how = rig_how(AS_METHOD_INDEX2, k < 3 ? 0.1 : automatic, &event, 1);
    as_problem_def def = as_default_problem_def();
    def.parts = &line;
    def.n_parts = 1;
    def.mass_constant = true;
    def.mass = unit_mass;
    def.force = free_force;
    rig r = rig_make(&def, &how, &(as_initial){.q = &q0, .v = &v0});
    const as_state *now = rig_advance(&r, 300.5 + 200.5 * c.period);
    assert_int_equal(c.ticks, 202);
    assert_near("place", now->q[0], now->t, 1e-9);
    rig_free(&r);
  }
}

// ---- changed parameters --------------------------------------------------------------------------------

/// An oscillator whose spring and mass change each time it passes q = 0 downwards.
typedef struct oscillator {
  double mass, spring;
  double earliest; ///< the earliest time at which the force was asked for since the last change [s]
  double changed;  ///< [s]
  int changes;
} oscillator;

static int oscillator_mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const oscillator *o = user;
  as_matrix_add(m, 0, 0, o->mass);
  return AS_DONE;
}

static int oscillator_force(const as_point *at, double *f, void *user) {
  oscillator *o = user;
  o->earliest = fmin(o->earliest, at->t);
  f[0] = -o->spring * at->q[0];
  return AS_DONE;
}

static int place(const as_state *at, double *out, void *user) {
  (void)user;
  *out = at->q[0];
  return AS_DONE;
}

static int change_oscillator(as_event *event, void *user) {
  oscillator *o = user;
  if (o->changes > 0) assert_true(o->earliest >= o->changed); // it did not look back
  o->spring *= 3.0;
  o->mass *= 0.8;
  o->changed = event->state->t;
  o->earliest = (double)INFINITY;
  ++o->changes;
  return AS_EVENT_CHANGE;
}

/// From q = 1 at rest: a quarter of a period to the first passage, a whole one of each kind after it; the speed
/// at q = 0 is the same each time.
static void test_parameters(void **state) {
  (void)state;
  static const as_space_part line = {AS_SPACE_RN, 1};
  static const double q0 = 1.0;
  const double pi = acos(-1.0);
  for (int m = 0; m < 3; ++m) {
    double error[2] = {0};
    for (int level = 0; level < 2; ++level) {
      oscillator o = {.mass = 2.0, .spring = 8.0, .earliest = (double)INFINITY};
      const as_event_def event = {
          .name = "pass", .value = place, .direction = -1, .act = change_oscillator, .user = &o};
      as_integrator_def how = rig_how(rig_methods[m], level ? 0.0025 : 0.005, &event, 1);
      as_problem_def def = as_default_problem_def();
      def.parts = &line;
      def.n_parts = 1;
      def.mass_constant = true;
      def.mass = oscillator_mass;
      def.force = oscillator_force;
      def.user = &o;
      rig r = rig_make(&def, &how, &(as_initial){.q = &q0});
      double w = 2.0, t = 0.5 * pi / w;
      const double speed = w;
      for (int k = 0; k < 3; ++k) t += 2.0 * pi / (w *= sqrt(3.0 / 0.8));
      w *= sqrt(3.0 / 0.8);
      const as_state *s = rig_advance(&r, t + 0.1);
      assert_int_equal(o.changes, 4);
      assert_true(o.earliest >= o.changed);
      error[level] =
          hypot(s->q[0] + speed / w * sin(0.1 * w), s->v[0] / w + speed / w * cos(0.1 * w));
      assert_near("acceleration", s->vdot[0], -w * w * s->q[0], 1e-1);
      rig_free(&r);
    }
    const double order = log2(error[0] / error[1]);
    printf("parameters, method %d: %.1e %.1e order %.2f\n", m, error[0], error[1], order);
    assert_true(order > 1.9);
  }
}

// ---- order 2 in every variable across a restart ---------------------------------------------------------

enum { MOST = 32 };

/// At a place that the exact motion passes at t = `at` the velocity is multiplied by `factor`, and x shifted.
typedef struct kick {
  int component; ///< of q
  double place;
  double factor;
  double shift;
  int n, n_x;
  int count;
} kick;

static int kick_place(const as_state *at, double *out, void *user) {
  const kick *k = user;
  *out = k->count > 0 ? 1.0 : at->q[k->component] - k->place;
  return AS_DONE;
}

static int do_kick(as_event *event, void *user) {
  kick *k = user;
  for (int i = 0; i < k->n; ++i) event->v[i] *= k->factor;
  for (int i = 0; i < k->n_x; ++i) event->x[i] += k->shift;
  ++k->count;
  return AS_EVENT_CHANGE | AS_EVENT_STOP;
}

/// The largest errors of every variable.
enum { OF_Q, OF_V, OF_VDOT, OF_A, OF_LAMBDA, OF_X, OF_XDOT, OF_Y, N_ERRORS };
typedef struct all_errors {
  double of[N_ERRORS];
} all_errors;

static double largest(double old, const double *x, const double *y, int n) {
  for (int i = 0; i < n; ++i) old = fmax(old, fabs(x[i] - y[i]));
  return old;
}

static void print_orders(const char *name, int method, const all_errors *e, bool states) {
  static const char *const names[] = {"q", "v", "v'", "a", "lambda", "x", "x'", "y"};
  printf("%s, method %d:", name, method);
  for (int i = 0; i < (states ? N_ERRORS : OF_X); ++i) {
    const double order = log2(e[0].of[i] / e[1].of[i]);
    printf(" %s %.1e %.2f", names[i], e[1].of[i], order);
    if (!(order > 1.85)) fail_msg("%s: order %.2f of %s", name, order, names[i]);
  }
  printf("\n");
}

/// Steps of h past the kick and some time on; the largest errors after it.
static all_errors kicked(const test_problem *p, as_method method, double h, double at, double end,
                         int component) {
  double q[MOST], v[MOST], vdot[MOST], a[MOST], lambda[MOST], d[MOST];
  const double zero[MOST] = {0};
  p->exact(p, at, q, v, vdot, lambda);
  as_problem *problem = NULL;
  assert_int_equal(as_problem_create(&p->def, &problem, NULL), AS_OK);
  const int n = as_space_nv(as_problem_space(problem));
  as_problem_destroy(problem);
  // From there on: the same problem, started with what the kick leaves.
  double q1[MOST], v1[MOST];
  memcpy(q1, q, sizeof q1);
  kick k = {.component = component, .place = q[component], .factor = -0.6, .n = n};
  for (int i = 0; i < n; ++i) v1[i] = k.factor * v[i];
  test_problem after = *p;
  after.t0 = at;
  after.q0 = q1;
  after.v0 = v1;
  const as_event_def event = {.name = "kick", .value = kick_place, .act = do_kick, .user = &k};
  as_integrator_def how = rig_how(method, h, &event, 1);
  how.newton.rtol = 1e-11;
  rig r = rig_make(&p->def, &how, &(as_initial){.t = p->t0, .q = p->q0, .v = p->v0});
  const as_space *space = as_problem_space(r.problem);
  all_errors e = {{0}};
  const as_state *s = rig_advance_to(&r, end, AS_STOPPED);
  assert_near("the kick", s->t, at, 1e-2 * (end - at));
  while (s->t < end) {
    const as_status status = as_integrator_step(r.integrator, h, &r.error);
    if (status) fail_msg("%s", r.error.message);
    after.exact(&after, s->t, q, v, vdot, lambda);
    after.exact(&after, s->t + s->a_offset, NULL, NULL, a, NULL);
    as_space_difference(space, q, s->q, d);
    e.of[OF_Q] = largest(e.of[OF_Q], d, zero, n);
    e.of[OF_V] = largest(e.of[OF_V], s->v, v, n);
    e.of[OF_VDOT] = largest(e.of[OF_VDOT], s->vdot, vdot, n);
    e.of[OF_A] = largest(e.of[OF_A], s->a, a, n);
    e.of[OF_LAMBDA] = largest(e.of[OF_LAMBDA], s->lambda, lambda, p->def.n_lambda);
  }
  assert_int_equal(k.count, 1);
  rig_free(&r);
  return e;
}

static void test_order_across_restarts(void **state) {
  (void)state;
  const struct {
    const test_problem *p;
    double at, end;
    int component;
    int steps;
  } cases[] = {{problem_pendulum(), 0.15, 0.6, 0, 100},
               {problem_spherical_pendulum(), 0.1, 0.5, 0, 100},
               {problem_heavy_top_slow(), 0.15, 0.4, 2, 200},
               {problem_two_bodies_se3(), 0.1, 0.3, 0, 200}};
  for (int i = 0; i < 4; ++i)
    for (int m = 0; m < 3; ++m) {
      all_errors e[2];
      for (int level = 0; level < 2; ++level)
        e[level] = kicked(cases[i].p, rig_methods[m], cases[i].end / (cases[i].steps << level),
                          cases[i].at, cases[i].end, cases[i].component);
      print_orders(cases[i].p->name, m, e, false);
    }
}

/// The same with x and y.
static all_errors kicked_with_states(const mechatronic_problem *p, as_method method, double h,
                                     double at, double end, int component) {
  double q[MOST], v[MOST], vdot[MOST], a[MOST], lambda[MOST], x[MOST], y[MOST];
  double q1[MOST], v1[MOST], x1[MOST];
  p->exact(p, at, q, v, NULL, NULL, x, NULL);
  as_problem *problem = NULL;
  assert_int_equal(as_problem_create(&p->def, &problem, NULL), AS_OK);
  const int n = as_space_nv(as_problem_space(problem)), n_x = p->def.n_x;
  as_problem_destroy(problem);
  kick k = {.component = component,
            .place = q[component],
            .factor = 0.5,
            .shift = 0.05,
            .n = n,
            .n_x = n_x};
  memcpy(q1, q, sizeof q1);
  for (int i = 0; i < n; ++i) v1[i] = k.factor * v[i];
  for (int i = 0; i < n_x; ++i) x1[i] = x[i] + k.shift;
  mechatronic_problem after = *p;
  after.t0 = at;
  after.q0 = q1;
  after.v0 = v1;
  after.x0 = x1;
  const as_event_def event = {.name = "kick", .value = kick_place, .act = do_kick, .user = &k};
  as_integrator_def how = rig_how(method, h, &event, 1);
  how.newton.rtol = 1e-11;
  rig r = rig_make(&p->def, &how, &(as_initial){.t = p->t0, .q = p->q0, .v = p->v0, .x = p->x0});
  all_errors e = {{0}};
  const as_state *s = rig_advance_to(&r, end, AS_STOPPED);
  assert_near("the kick", s->t, at, 1e-2 * (end - at));
  while (s->t < end) {
    const double d = 1e-4;
    double ahead[MOST], behind[MOST];
    const as_status status = as_integrator_step(r.integrator, h, &r.error);
    if (status) fail_msg("%s", r.error.message);
    after.exact(&after, s->t, q, v, vdot, lambda, x, y);
    after.exact(&after, s->t + s->a_offset, NULL, NULL, a, NULL, NULL, NULL);
    after.exact(&after, s->t + d, NULL, NULL, NULL, NULL, ahead, NULL);
    after.exact(&after, s->t - d, NULL, NULL, NULL, NULL, behind, NULL);
    e.of[OF_Q] = largest(e.of[OF_Q], s->q, q, n); // in R^n
    e.of[OF_V] = largest(e.of[OF_V], s->v, v, n);
    e.of[OF_VDOT] = largest(e.of[OF_VDOT], s->vdot, vdot, n);
    e.of[OF_A] = largest(e.of[OF_A], s->a, a, n);
    e.of[OF_LAMBDA] = largest(e.of[OF_LAMBDA], s->lambda, lambda, p->def.n_lambda);
    e.of[OF_X] = largest(e.of[OF_X], s->x, x, n_x);
    for (int i = 0; i < n_x; ++i)
      e.of[OF_XDOT] = fmax(e.of[OF_XDOT], fabs(s->xdot[i] - (ahead[i] - behind[i]) / (2.0 * d)));
    e.of[OF_Y] = largest(e.of[OF_Y], s->y, y, p->def.n_y);
  }
  assert_int_equal(k.count, 1);
  rig_free(&r);
  return e;
}

static void test_order_with_states(void **state) {
  (void)state;
  const struct {
    const mechatronic_problem *p;
    double at, end;
    int component;
    int steps;
  } cases[] = {{mechatronic_cart_pole(), 0.12, 0.4, 0, 200},
               {mechatronic_force_sensor(), 0.08, 0.5, 0, 200}};
  for (int i = 0; i < 2; ++i)
    for (int m = 0; m < 2; ++m) {
      all_errors e[2];
      for (int level = 0; level < 2; ++level)
        e[level] =
            kicked_with_states(cases[i].p, rig_methods[m], cases[i].end / (cases[i].steps << level),
                               cases[i].at, cases[i].end, cases[i].component);
      print_orders(cases[i].p->name, m, e, true);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stick_slip),          cmocka_unit_test(test_hysteresis),
      cmocka_unit_test(test_function_that_jumps), cmocka_unit_test(test_clock),
      cmocka_unit_test(test_parameters),          cmocka_unit_test(test_order_across_restarts),
      cmocka_unit_test(test_order_with_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
