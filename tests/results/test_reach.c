/// [RE.12] Machines that are driven beyond their reach with automatic steps end there, with the time that geometry says; the same
/// machines go on where they turn back just before it.
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

enum { MOST = 4096 };

/// A machine's text, with `%T` for the time in the laws of its motions, and when its reach ends.
typedef struct subject {
  const char *name;
  char text[MOST];
  size_t used;
  double end; ///< [s]
  int slack;  ///< degrees of freedom that the motions leave
} subject;

static void add(subject *s, const char *format, ...) {
  va_list more;
  va_start(more, format);
  s->used += (size_t)vsnprintf(s->text + s->used, MOST - s->used, format, more);
  va_end(more);
  assert_true(s->used < MOST);
}

static void add_body(subject *s, const char *name, double x, double y) {
  add(s, "  %s: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [%.17g, %.17g, 0]}\n", name, x, y);
}

static void add_pin(subject *s, const char *name, const char *first, const char *second, double x,
                    double y) {
  add(s, "  %s: {type: revolute, bodies: [%s, %s], point: [%.17g, %.17g, 0], axis: [0, 0, 1]}\n",
      name, first, second, x, y);
}

/// A pin that closes a planar loop.
static void add_hook(subject *s, const char *name, const char *first, const char *second, double x,
                     double y) {
  add(s,
      "  %s: {type: point_on_line, bodies: [%s, %s], point: [%.17g, %.17g, 0], axis: [0, 0, 1]}\n",
      name, first, second, x, y);
}

static void add_guide(subject *s, const char *name, const char *first, const char *second, double x,
                      double y, int axis) {
  add(s, "  %s: {type: prismatic, bodies: [%s, %s], point: [%.17g, %.17g, 0], axis: [%d, %d, 0]}\n",
      name, first, second, x, y, axis == 0, axis == 1);
}

static void add_motion(subject *s, const char *joint, double rate) {
  add(s, "  drive %s: {type: motion, joint: %s, law: %.17g*%%T}\n", joint, joint, rate);
}

/// Links of lengths l on a ground link along x, the first at an angle; one of the two on the ground is driven.
static subject four_bar(const char *name, const double l[4], double angle, bool from_first,
                        double rate) {
  subject s = {.name = name};
  const double a[2] = {l[0] * cos(angle), l[0] * sin(angle)}, d = hypot(l[3] - a[0], a[1]);
  const double up =
      atan2(-a[1], l[3] - a[0]) + acos((l[1] * l[1] + d * d - l[2] * l[2]) / (2 * l[1] * d));
  const double b[2] = {a[0] + l[1] * cos(up), a[1] + l[1] * sin(up)};
  add(&s, "gravity: [0, -9.81, 0]\nbodies:\n");
  add_body(&s, "first", 0.5 * a[0], 0.5 * a[1]);
  add_body(&s, "coupler", 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]));
  add_body(&s, "last", 0.5 * (b[0] + l[3]), 0.5 * b[1]);
  add(&s, "joints:\n");
  add_pin(&s, "p", "ground", "first", 0, 0);
  add_pin(&s, "q", "first", "coupler", a[0], a[1]);
  add_hook(&s, "r", "coupler", "last", b[0], b[1]);
  add_pin(&s, "s", "ground", "last", l[3], 0);
  add_motion(&s, from_first ? "p" : "s", rate);
  // The angle of the driven link from the ground link, and that at which the two others are stretched or folded.
  const double own = from_first ? l[0] : l[2], other = from_first ? l[2] : l[0];
  const double start = from_first ? angle : atan2(b[1], l[3] - b[0]);
  const double opens = from_first ? rate : -rate;
  const double reach = opens > 0 ? l[1] + other : fabs(l[1] - other);
  s.end = (acos((own * own + l[3] * l[3] - reach * reach) / (2 * own * l[3])) - start) / opens;
  return s;
}

/// A crank, a rod and a slider on a line that is `off` beside the crank's axis.
static subject slider(const char *name, double crank, double rod, double off, double angle,
                      bool by_crank, double rate) {
  subject s = {.name = name};
  const double a[2] = {crank * cos(angle), crank * sin(angle)};
  const double x = a[0] + sqrt(rod * rod - (a[1] - off) * (a[1] - off));
  add(&s, "bodies:\n");
  add_body(&s, "crank", 0.5 * a[0], 0.5 * a[1]);
  add_body(&s, "rod", 0.5 * (a[0] + x), 0.5 * (a[1] + off));
  add_body(&s, "slider", x, off);
  add(&s, "joints:\n");
  add_pin(&s, "p", "ground", "crank", 0, 0);
  add_hook(&s, "q", "crank", "rod", a[0], a[1]);
  add_pin(&s, "r", "slider", "rod", x, off);
  add_guide(&s, "s", "ground", "slider", x, off, 0);
  add_motion(&s, by_crank ? "p" : "s", rate);
  const double length = rate > 0 ? crank + rod : fabs(crank - rod);
  s.end = by_crank ? (asin((rod + off) / crank) - angle) / rate
                   : (sqrt(length * length - off * off) - x) / rate;
  return s;
}

/// An arm of two links whose hand is driven along a straight line, outwards or inwards.
static subject arm(const char *name, double upper, double lower, double vx, double vy) {
  subject s = {.name = name};
  const double a[2] = {upper * cos(0.9), upper * sin(0.9)};
  const double b[2] = {a[0] + lower * cos(0.7), a[1] - lower * sin(0.7)};
  add(&s, "bodies:\n");
  add_body(&s, "upper", 0.5 * a[0], 0.5 * a[1]);
  add_body(&s, "lower", 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]));
  add_body(&s, "cart", b[0], b[1]);
  add_body(&s, "hand", b[0], b[1]);
  add(&s, "joints:\n");
  add_pin(&s, "shoulder", "ground", "upper", 0, 0);
  add_pin(&s, "elbow", "upper", "lower", a[0], a[1]);
  add_guide(&s, "x", "ground", "cart", b[0], b[1], 0);
  add_guide(&s, "y", "cart", "hand", b[0], b[1], 1);
  add_hook(&s, "grip", "hand", "lower", b[0], b[1]);
  add_motion(&s, "x", vx);
  add_motion(&s, "y", vy);
  const double v2 = vx * vx + vy * vy, bv = b[0] * vx + b[1] * vy, b2 = b[0] * b[0] + b[1] * b[1];
  const double reach = bv > 0 ? upper + lower : fabs(upper - lower);
  const double root = sqrt(bv * bv - v2 * (b2 - reach * reach));
  s.end = (bv > 0 ? root - bv : -root - bv) / v2;
  return s;
}

/// A lift of two crossed bars of 2 m, whose foot is pulled out or pushed through.
static subject scissors(const char *name, double rate) {
  subject s = {.name = name};
  const double c = 2.0 * cos(0.5), h = 2.0 * sin(0.5);
  add(&s, "gravity: [0, -9.81, 0]\nbodies:\n");
  add_body(&s, "left", 0.5 * c, 0.5 * h);
  add_body(&s, "right", 0.5 * c, 0.5 * h);
  add_body(&s, "foot", c, 0);
  add_body(&s, "deck", 0.5 * c, h);
  add_body(&s, "shoe", c, h);
  add(&s, "joints:\n");
  add_pin(&s, "base", "ground", "left", 0, 0);
  add_pin(&s, "cross", "left", "right", 0.5 * c, 0.5 * h);
  add_guide(&s, "slide", "ground", "foot", c, 0, 0);
  add_hook(&s, "ankle", "foot", "right", c, 0);
  add_pin(&s, "top", "right", "deck", 0, h);
  add_guide(&s, "rail", "deck", "shoe", c, h, 0);
  add_hook(&s, "hook", "shoe", "left", c, h);
  add_motion(&s, "slide", rate);
  s.end = rate > 0 ? (2.0 - c) / rate : (-2.0 - c) / rate;
  return s;
}

/// Two weights on three rods between the ground and a cart that pulls them taut.
static subject rope(void) {
  subject s = {.name = "rope", .slack = 2};
  add(&s, "bodies:\n  a: {type: point, mass: 1, position: [1, 0.5, 0]}\n"
          "  b: {type: point, mass: 1, position: [2, 0.5, 0]}\n");
  add_body(&s, "cart", 3, 0);
  add(&s,
      "joints:\n  u: {type: distance, bodies: [ground, a], point: [0, 0, 0], second_point: [1, "
      "0.5, 0]}\n"
      "  v: {type: distance, bodies: [a, b], point: [1, 0.5, 0], second_point: [2, 0.5, 0]}\n"
      "  w: {type: distance, bodies: [b, cart], point: [2, 0.5, 0], second_point: [3, 0, 0]}\n");
  add_guide(&s, "rail", "ground", "cart", 3, 0, 0);
  add_motion(&s, "rail", 0.1);
  s.end = (1.0 + 2.0 * hypot(1.0, 0.5) - 3.0) / 0.1;
  return s;
}

enum { SUBJECTS = 13 };

static subject make(int i) {
  switch (i) {
  case 0: return four_bar("crank", (double[]){1, 1.6, 1.2, 3}, 1.05, true, 2);
  case 1: return four_bar("slow crank", (double[]){1, 1.6, 1.2, 3}, 1.05, true, 0.3);
  case 2: return four_bar("rocker out", (double[]){0.5, 2, 1.5, 2.2}, 1.05, false, -1);
  case 3: return four_bar("rocker in", (double[]){0.5, 2, 1.5, 2.2}, 1.05, false, 0.4);
  case 4: return four_bar("no crank", (double[]){1, 1.5, 1.4, 2.5}, 0.87, false, -1.5);
  case 5: return slider("short rod", 1, 0.4, 0, 0, true, 0.7);
  case 6: return slider("short rod beside", 1, 0.7, 0.2, 0.1, true, 1.1);
  case 7: return slider("pulled piston", 0.5, 1.2, 0, 0.8, false, 0.4);
  case 8: return slider("pushed piston", 0.5, 1.2, 0.1, 0.8, false, -0.4);
  case 9: return arm("arm out", 0.4, 0.35, 0.2, 0.05);
  case 10: return arm("arm in", 0.4, 0.2, -0.3, -0.1);
  case 11: return scissors("scissors", 0.15);
  default: return rope();
  }
}

static as_status ignore_row(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)row, (void)n, (void)user, (void)error;
  return AS_OK;
}

typedef struct outcome {
  as_status status;
  as_error error;
  double t, longest; ///< how far it came, its longest step [s]
  long attempts;
} outcome;

static double longest_step, last_time;

static void note_step(const as_state *state, void *user) {
  (void)user;
  longest_step = fmax(longest_step, state->t - last_time);
  last_time = state->t;
}

/// The subject with a law of time in its motions, and text behind it.
static void write_text(char *text, size_t size, const subject *s, const char *law,
                       const char *method, double rtol, double t_end, const char *more) {
  size_t used = (size_t)snprintf(text, size,
                                 "alphastep: 1\nsimulate: {t_end: %.17g, method: %s, tol: {rtol: "
                                 "%g}, max_steps: 20000}\n",
                                 t_end, method, rtol);
  const char *from = s->text;
  for (const char *place; (place = strstr(from, "%T")) != NULL; from = place + 2)
    used += (size_t)snprintf(text + used, size - used, "%.*s(%s)", (int)(place - from), from, law);
  used += (size_t)snprintf(text + used, size - used, "%s%s", from, more);
  assert_true(used < size);
}

static outcome run_text(const char *text) {
  static as_messages messages;
  outcome out = {.status = AS_OK};
  as_machine *m = NULL;
  as_run *run = NULL;
  if (as_machine_parse(text, strlen(text), "reach.yaml", NULL, 0, &m, &messages))
    fail_msg("%s\n%s", text, messages.message[0].text);
  as_run_def def = as_default_run_def();
  def.integrator = m->simulation.integrator;
  def.integrator.step_taken = note_step;
  def.t_end = m->simulation.t_end;
  def.max_steps = m->simulation.max_steps;
  def.rules = m->rules;
  longest_step = last_time = 0.0;
  if (as_run_create(m->model, &def, &run, &out.error)) fail_msg("%s", out.error.message);
  out.status = as_run_go(run, ignore_row, NULL, NULL, &out.error);
  as_statistics made = {0};
  as_integrator_statistics(as_run_integrator(run), &made, NULL);
  out.attempts = made.steps + made.rejected_steps + made.failed_steps;
  out.t = last_time;
  out.longest = longest_step;
  as_run_destroy(run);
  as_machine_destroy(m);
  return out;
}

static const char *const methods[] = {"index3", "index2", "soi2"};
static char text[2 * MOST];

/// The time in "No position satisfies all constraints at t = %g s."
static double told_end(const outcome *o) {
  static const char sentence[] = "No position satisfies all constraints at t = ";
  const char *found = strstr(o->error.message, sentence);
  return found ? strtod(found + sizeof sentence - 1, NULL) : (double)NAN;
}

static void test_beyond(void **state) {
  (void)state;
  static const double rtol[] = {1e-3, 1e-4};
  for (int i = 0; i < SUBJECTS * 3 * 2; ++i) {
    const subject s = make(i / 6);
    write_text(text, sizeof text, &s, "t", methods[i % 3], rtol[i / 3 % 2], 8.0, "");
    const outcome o = run_text(text);
    // Before there were 150 to 340 and 480 to 1200 attempts.
    const long most = i / 3 % 2 == 0 ? 150 : 500;
    const bool good = o.status == AS_ERR_SINGULAR && o.attempts < most &&
                      fabs(told_end(&o) - s.end) < 2e-3 * o.longest && s.end - o.t <= o.longest &&
                      strstr(o.error.message, "Where they are closest, ") != NULL &&
                      strstr(o.error.message, "\"drive ") != NULL;
    if (!good)
      fail_msg("%s, %s, rtol %g: status %d at t = %g, %ld attempts, end %g: %s", s.name,
               methods[i % 3], rtol[i / 3 % 2], (int)o.status, o.t, o.attempts, s.end,
               o.error.message);
  }
}

static void expect_done(const subject *s, const char *what) {
  const outcome o = run_text(text);
  if (o.status != AS_OK) fail_msg("%s, %s: at t = %g: %s", s->name, what, o.t, o.error.message);
}

/// They turn back at a share of their reach, or the run ends there, or an event lets go.
static void test_before(void **state) {
  (void)state;
  static const double left[] = {1e-2, 1e-4, 1e-6};
  for (int i = 0; i < SUBJECTS * 3; ++i) {
    const subject s = make(i / 3);
    char law[64], what[64];
    // The weights on a rope that is all but taut swing across it, with steps as short as that.
    const double share = 1.0 - fmax(left[i % 3], s.slack > 0 ? 1e-4 : 0.0);
    snprintf(law, sizeof law, "%.17g*sin(t)", s.end * share);
    snprintf(what, sizeof what, "%g before its end", left[i % 3]);
    write_text(text, sizeof text, &s, law, methods[i % 3], 1e-4, 2.0, "");
    expect_done(&s, what);
    write_text(text, sizeof text, &s, "t", methods[i % 3], 1e-3, s.end * (1.0 - left[i % 3]), "");
    expect_done(&s, "to a time before its end");
  }
}

/// Within the last step before the end, which is 2 ms, the motor is switched off by an event.
static void test_event_before(void **state) {
  (void)state;
  const subject s = make(0);
  char more[128];
  snprintf(more, sizeof more, "events:\n  off: {when: joints.p.angle - %.17g, release: drive p}\n",
           2.0 * (s.end - 2e-4));
  for (int i = 0; i < 3; ++i) {
    write_text(text, sizeof text, &s, "t", methods[i], 1e-4, s.end + 0.1, more);
    expect_done(&s, "let go");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_beyond), cmocka_unit_test(test_before),
                                     cmocka_unit_test(test_event_before)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
