/// Events by formulas: each action against numbers worked out by hand, order 2 across events, rows around them, sentences.
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
#include "alphastep/quantities.h"
#include "alphastep/survey.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const double g = 9.81;

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

static void near(double value, double wanted, double tolerance) {
  if (!(fabs(value - wanted) <= tolerance))
    fail_msg("%.17g is not %.17g to %.3g", value, wanted, tolerance);
}

// ---- machines ---------------------------------------------------------------------------------------

static as_builder *begin(double gravity) {
  as_error error;
  as_builder *b = NULL;
  must(as_builder_create(&(as_model_def){.gravity = {0.0, 0.0, -gravity}}, &b, &error), &error);
  return b;
}

static as_model *build(as_builder *b) {
  as_error error;
  as_model *model = NULL;
  must(as_builder_build(b, &model, &error), &error);
  as_builder_destroy(b);
  return model;
}

static as_body_id add_ball(as_builder *b, const char *name, double mass, double x, double z,
                           double vx) {
  as_error error;
  as_body_id id = {0};
  as_body_def def = as_default_body_def();
  def.name = name;
  def.kind = AS_BODY_POINT;
  def.mass = mass;
  def.position[0] = x;
  def.position[2] = z;
  def.velocity[0] = vx;
  must(as_builder_add_body(b, &def, &id, &error), &error);
  return id;
}

static as_body_id add_bar(as_builder *b, as_space_kind space) {
  as_error error;
  as_body_id id = {0};
  as_body_def def = as_default_body_def();
  def.name = "bar";
  def.space = space;
  def.mass = 2.0;
  def.inertia[0] = 0.01;
  def.inertia[1] = 0.2;
  def.inertia[2] = 0.19;
  def.position[0] = 0.5;
  must(as_builder_add_body(b, &def, &id, &error), &error);
  return id;
}

static as_joint_id add_joint(as_builder *b, as_joint_kind kind, const char *name, as_body_id first,
                             as_body_id second, const double axis[3]) {
  as_error error;
  as_joint_id id = {0};
  as_joint_def def = as_default_joint_def();
  def.kind = kind;
  def.name = name;
  def.body[0] = first;
  def.body[1] = second;
  memcpy(def.axis, axis, sizeof def.axis);
  must(as_builder_add_joint(b, &def, &id, &error), &error);
  return id;
}

/// A ball over a floor, which does not hold.
static as_model *ball_over_floor(double height) {
  as_error error;
  as_builder *b = begin(g);
  const as_body_id ball = add_ball(b, "ball", 0.5, 0.0, height, 0.0);
  as_frame_id frame[2];
  as_frame_def place = as_default_frame_def();
  place.body = AS_GROUND;
  must(as_builder_add_frame(b, &place, &frame[0], &error), &error);
  place.body = ball;
  must(as_builder_add_frame(b, &place, &frame[1], &error), &error);
  as_joint_def def = as_default_joint_def();
  def.kind = AS_JOINT_POINT_ON_PLANE;
  def.name = "floor";
  def.frame[0] = frame[0];
  def.frame[1] = frame[1];
  as_joint_id floor = {0};
  must(as_builder_add_joint(b, &def, &floor, &error), &error);
  must(as_builder_set_active(b, floor, false, &error), &error);
  return build(b);
}

/// A bar on a hinge at its end, from horizontal; `speed`: a motion turns it about y.
static as_model *bar_on_hinge(as_space_kind space, double gravity, double speed) {
  static const double y[3] = {0.0, 1.0, 0.0};
  as_error error;
  as_builder *b = begin(gravity);
  const as_body_id bar = add_bar(b, space);
  const as_joint_id hinge = add_joint(b, AS_JOINT_REVOLUTE, "hinge", AS_GROUND, bar, y);
  if (speed != 0.0) {
    as_motion_def drive = as_default_motion_def();
    drive.name = "drive";
    drive.joint = hinge;
    drive.law = &(as_curve){.slope = speed};
    must(as_builder_add_motion(b, &drive, NULL, &error), &error);
  }
  return build(b);
}

// ---- runs -------------------------------------------------------------------------------------------

enum { MOST_ROWS = 4000, MOST_COLUMNS = 16 };

typedef struct record {
  int n, columns;
  double t[MOST_ROWS];
  double row[MOST_ROWS][MOST_COLUMNS];
} record;

static record table;

static as_status keep_row(double t, const double *row, int n, void *user, as_error *error) {
  record *r = user;
  (void)error;
  assert_true(r->n < MOST_ROWS && n <= MOST_COLUMNS);
  r->columns = n;
  r->t[r->n] = t;
  memcpy(r->row[r->n++], row, (size_t)n * sizeof *row);
  return AS_OK;
}

static as_rules *make(const as_model *model, const as_rule_def *rule, int n) {
  as_error error;
  as_rules *rules = NULL;
  must(as_rules_create(model, &(as_rules_def){.rule = rule, .n = n}, &rules, &error), &error);
  return rules;
}

/// What a run is to be like.
typedef struct plan {
  as_method method;
  double step, t_end, interval;
  const char *const *channels;
  int n_channels;
} plan;

/// Saves a run once, behind a time.
typedef struct saver {
  as_run *run;
  double t;
} saver;

static const char saved_path[] = "test_rules.bin";
static saver saving = {.t = (double)INFINITY};

static void save_once(double t, void *user) {
  saver *s = user;
  as_error error;
  if (!(t >= s->t)) return;
  must(as_run_save_file(s->run, saved_path, &error), &error);
  s->t = (double)INFINITY;
}

static as_run *open_run(const as_model *model, const as_rules *rules, const plan *p) {
  as_error error;
  as_run *run = NULL;
  as_run_def def = as_default_run_def();
  def.integrator.method = p->method;
  def.integrator.step = p->step;
  def.integrator.newton.rtol = 1e-12;
  def.t_end = p->t_end;
  def.interval = p->interval;
  def.channels = p->channels;
  def.n_channels = p->n_channels;
  def.rules = rules;
  def.progress = save_once;
  def.progress_user = &saving;
  must(as_run_create(model, &def, &run, &error), &error);
  table.n = 0;
  return run;
}

static as_status go(as_run *run, as_error *error) {
  return as_run_go(run, keep_row, &table, NULL, error);
}

static const double *last_row(void) { return table.row[table.n - 1]; }

// ---- actions ----------------------------------------------------------------------------------------

/// From 1 m: the first impact after sqrt(2/g), the next after 2 e v/g, 2 e^2 v/g, ...
static void test_bounces(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.ball.position.z", "bodies.ball.velocity.z",
                                         "events.bounce.count", "events.bounce.time"};
  const double e = 0.8, t1 = sqrt(2.0 / g), v = g * t1;
  as_model *model = ball_over_floor(1.0);
  const as_joint_id floor = as_model_find_joint(model, "floor");
  as_rule_def rule = as_default_rule_def();
  rule.name = "bounce";
  rule.when = "bodies.ball.position.z";
  rule.direction = -1;
  rule.strike = &floor;
  rule.n_strike = 1;
  rule.restitution = e;
  as_rules *rules = make(model, &rule, 1);
  for (int m = 0; m < 3; ++m) {
    as_error error;
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.01, 2.1, 0.05, channels, 4});
    must(go(run, &error), &error);
    double due = t1, speed = v;
    assert_int_equal(as_run_events(run), 3);
    for (int i = 0; i < 3; ++i) {
      const as_event_record event = as_run_event(run, i);
      near(event.t, due, 1e-12);
      assert_string_equal(event.name, "bounce");
      assert_int_equal(event.direction, -1);
      speed *= e;
      due += 2.0 * speed / g;
    }
    for (int i = 0; i < table.n; ++i) { // each row is on the parabola of its own flight
      double from = t1, up = v, count = 0.0;
      while (table.t[i] > from) {
        up *= e;
        from += 2.0 * up / g;
        count += 1.0;
      }
      const double last = count > 0.0 ? from - 2.0 * up / g : 0.0, dt = table.t[i] - last;
      const double rise = count > 0.0 ? up : 0.0, low = count > 0.0 ? 0.0 : 1.0;
      near(table.row[i][0], low + rise * dt - 0.5 * g * dt * dt, 1e-11);
      near(table.row[i][1], rise - g * dt, 1e-11);
      near(table.row[i][2], count, 0.0);
      if (count > 0.0)
        near(table.row[i][3], last, 1e-12);
      else
        assert_true(isnan(table.row[i][3]));
    }
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// Momentum is kept when two sliders lock: 2 kg at 3 m/s and 1 kg at rest go on with 2 m/s; 3 J are lost.
static void test_locks(void **state) {
  (void)state;
  static const double x[3] = {1.0, 0.0, 0.0};
  static const char *const channels[] = {"bodies.a.velocity.x", "bodies.b.velocity.x",
                                         "energy.kinetic",      "energy.dissipated",
                                         "energy.balance",      "bodies.b.position.x"};
  as_error error;
  as_builder *b = begin(0.0);
  const as_body_id first = add_ball(b, "a", 2.0, 0.0, 0.0, 3.0);
  const as_body_id second = add_ball(b, "b", 1.0, 1.5, 0.0, 0.0);
  add_joint(b, AS_JOINT_POINT_ON_LINE, "rail a", AS_GROUND, first, x);
  add_joint(b, AS_JOINT_POINT_ON_LINE, "rail b", AS_GROUND, second, x);
  as_frame_id frame[2];
  as_frame_def place = as_default_frame_def();
  place.body = first;
  must(as_builder_add_frame(b, &place, &frame[0], &error), &error);
  place.body = second;
  must(as_builder_add_frame(b, &place, &frame[1], &error), &error);
  as_joint_def hook = as_default_joint_def();
  hook.kind = AS_JOINT_SPHERICAL;
  hook.name = "hook";
  hook.frame[0] = frame[0];
  hook.frame[1] = frame[1];
  as_joint_id joint = {0};
  must(as_builder_add_joint(b, &hook, &joint, &error), &error);
  must(as_builder_set_active(b, joint, false, &error), &error);
  as_model *model = build(b);
  as_rule_def rule = as_default_rule_def();
  rule.name = "couple";
  rule.when = "bodies.b.position.x - bodies.a.position.x";
  rule.direction = -1;
  rule.activate = &joint;
  rule.n_activate = 1;
  as_rules *rules = make(model, &rule, 1);
  for (int m = 0; m < 3; ++m) {
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.03, 1.0, 0.1, channels, 6});
    must(go(run, &error), &error);
    near(as_run_event(run, 0).t, 0.5, 1e-13);
    for (int i = 0; i < table.n; ++i) { // row 5, at 0.5 s, is after it
      near(table.row[i][0], i < 5 ? 3.0 : 2.0, 1e-12);
      near(table.row[i][1], i < 5 ? 0.0 : 2.0, 1e-12);
      near(table.row[i][2], i < 5 ? 9.0 : 6.0, 1e-11);
      near(table.row[i][3], i < 5 ? 0.0 : 3.0, 1e-11);
      near(table.row[i][4], 0.0, 1e-11);
    }
    near(last_row()[5], 2.5, 1e-12);
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// Released at some angle the bar's centre of mass flies a parabola from there, and its spin stays.
static void test_release(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.bar.position.x", "bodies.bar.position.z",
                                         "bodies.bar.velocity.x", "bodies.bar.velocity.z",
                                         "joints.hinge.force.z",  "bodies.bar.angular_velocity.y",
                                         "energy.balance",        "events.drop.count"};
  static const as_space_kind spaces[] = {AS_SPACE_R3SO3, AS_SPACE_SE3};
  // m g l/2 sin(phi) = J w^2/2 about the hinge, J = 0.2 + 2 (0.5)^2 = 0.7
  const double angle = 1.0, w = sqrt(2.0 * 2.0 * g * 0.5 * sin(angle) / 0.7);
  const double x0 = 0.5 * cos(angle), z0 = -0.5 * sin(angle);
  const double vx = -0.5 * w * sin(angle), vz = -0.5 * w * cos(angle);
  for (int c = 0; c < 6; ++c) {
    as_model *model = bar_on_hinge(spaces[c % 2], g, 0.0);
    const as_joint_id hinge = as_model_find_joint(model, "hinge");
    as_rule_def rule = as_default_rule_def();
    rule.name = "drop";
    rule.when = "joints.hinge.angle - 1";
    rule.direction = +1;
    rule.release = &hinge;
    rule.n_release = 1;
    as_rules *rules = make(model, &rule, 1);
    double wrong[2][7] = {{0}};
    for (int k = 0; k < 2; ++k) {
      as_error error;
      const plan p = {methods[c / 2], k == 0 ? 2e-3 : 1e-3, 1.0, 1.0, channels, 8};
      as_run *run = open_run(model, rules, &p);
      must(go(run, &error), &error);
      const double dt = 1.0 - as_run_event(run, 0).t;
      const double *row = last_row();
      const double exact[7] = {
          x0 + vx * dt, z0 + vz * dt - 0.5 * g * dt * dt, vx, vz - g * dt, 0.0, w, 0.0};
      for (int i = 0; i < 7; ++i) wrong[k][i] = fabs(row[i] - exact[i]);
      assert_true(row[4] == 0.0 && row[7] == 1.0);
      as_run_destroy(run);
    }
    for (int i = 0; i < 7; ++i) { // second order in all of them
      if (i == 4) continue;
      if (!(wrong[0][i] < 1e-3 && wrong[1][i] < wrong[0][i] / 3.4))
        fail_msg("case %d, column %d: off by %g, then by %g", c, i, wrong[0][i], wrong[1][i]);
    }
    as_rules_destroy(rules);
    as_model_destroy(model);
  }
}

/// A motor at 2 rad/s that is switched off at 7 rad, more than a turn; then the bar turns on by itself.
static void test_switched_off(void **state) {
  (void)state;
  static const char *const channels[] = {"joints.hinge.angle", "joints.hinge.angle_rate",
                                         "joints.drive.drive", "joints.hinge.force.x"};
  as_model *model = bar_on_hinge(AS_SPACE_R3SO3, 0.0, 2.0);
  const as_joint_id drive = as_model_find_joint(model, "drive");
  as_rule_def rule[2] = {as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "off";
  rule[0].when = "joints.hinge.angle - 7";
  rule[0].direction = +1;
  rule[0].release = &drive;
  rule[0].n_release = 1;
  rule[1].name = "enough";
  rule[1].when = "joints.hinge.angle - 6*pi";
  rule[1].stop = true;
  as_rules *rules = make(model, rule, 2);
  for (int m = 0; m < 3; ++m) {
    as_error error;
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.005, 20.0, 0.25, channels, 4});
    assert_int_equal(go(run, &error), AS_STOPPED);
    near(as_run_event(run, 0).t, 3.5, 1e-9);
    near(as_run_event(run, 1).t, 3.0 * 3.14159265358979323846, 6e-5);
    near(table.t[table.n - 1], as_run_event(run, 1).t, 0.0); // a row where it stops
    near(last_row()[0], 6.0 * 3.14159265358979323846, 1e-9);
    for (int i = 0; i < table.n; ++i) {
      near(table.row[i][0], 2.0 * table.t[i], 1e-4);
      near(table.row[i][1], 2.0, 6e-5);
    }
    near(last_row()[2], 0.0, 0.0);
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// Three events of an instant, of which the one in the middle stops: it is the one that is named.
static void test_who_stops(void **state) {
  (void)state;
  static const char *const channels[] = {"events.first.count", "events.stopper.count",
                                         "events.last.count"};
  static const char *const name[] = {"first", "stopper", "last"};
  as_model *model = ball_over_floor(1.0);
  as_rule_def rule[3];
  for (int i = 0; i < 3; ++i) {
    rule[i] = as_default_rule_def();
    rule[i].name = name[i];
    rule[i].when = "t - 0.2";
    rule[i].stop = i == 1;
  }
  as_rules *rules = make(model, rule, 3);
  as_error error;
  as_run *run = open_run(model, rules, &(plan){methods[0], 0.01, 1.0, 0.1, channels, 3});
  assert_int_equal(go(run, &error), AS_STOPPED);
  assert_non_null(strstr(error.message, "\"stopper\" stopped"));
  for (int i = 0; i < 3; ++i) near(last_row()[i], 1.0, 0.0);
  as_run_destroy(run);
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// A wheel that turns by 5 rad a step: turns are counted although the formula is looked at to and fro in a step.
static void test_fast_turns(void **state) {
  (void)state;
  static const char *const channels[] = {"joints.axle.angle"};
  as_error error;
  as_builder *b = begin(0.0);
  as_body_def def = as_default_body_def();
  def.name = "wheel";
  def.mass = 1.0;
  def.inertia[0] = def.inertia[1] = 0.5;
  def.inertia[2] = 1.0;
  def.angular_velocity[2] = 100.0;
  as_body_id wheel = {0};
  must(as_builder_add_body(b, &def, &wheel, &error), &error);
  add_joint(b, AS_JOINT_REVOLUTE, "axle", AS_GROUND, wheel, (double[3]){0.0, 0.0, 1.0});
  as_model *model = build(b);
  as_rule_def rule[2] = {as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "one";
  rule[0].when = "joints.axle.angle - 101.5";
  rule[1].name = "two";
  rule[1].when = "203 - joints.axle.angle";
  as_rules *rules = make(model, rule, 2);
  for (int m = 0; m < 3; ++m) {
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.05, 3.0, 0.5, channels, 1});
    must(go(run, &error), &error);
    assert_int_equal(as_run_events(run), 2);
    near(as_run_event(run, 0).t, 1.015, 1e-10);
    near(as_run_event(run, 1).t, 2.03, 1e-10);
    assert_int_equal(as_run_event(run, 1).direction, -1);
    near(last_row()[0], 300.0, 1e-9);
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// An impulse on a free bar: m dv = P, J domega = r x P + L.
static void test_impulse(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.bar.velocity.x",
                                         "bodies.bar.velocity.y",
                                         "bodies.bar.velocity.z",
                                         "bodies.bar.angular_velocity.x",
                                         "bodies.bar.angular_velocity.y",
                                         "bodies.bar.angular_velocity.z",
                                         "energy.work",
                                         "energy.balance"};
  for (int c = 0; c < 12; ++c) {
    as_error error;
    as_builder *b = begin(0.0);
    add_bar(b, c % 2 ? AS_SPACE_SE3 : AS_SPACE_R3SO3);
    as_model *model = build(b);
    as_rule_impulse hit = as_default_rule_impulse();
    hit.body = as_model_find_body(model, "bar");
    hit.point[0] = 1.0; // 0.5 m from the centre of mass
    hit.point[1] = hit.point[2] = 0.0;
    hit.force[1] = "2*t"; // 1 N s at 0.5 s
    hit.force[2] = "-3";
    hit.torque[0] = "0.02";
    hit.follows = c >= 6; // it has not turned yet: the same
    as_rule_def rule = as_default_rule_def();
    rule.name = "hit";
    rule.when = "t - 0.5";
    rule.impulse = &hit;
    rule.n_impulse = 1;
    as_rules *rules = make(model, &rule, 1);
    as_run *run = open_run(model, rules, &(plan){methods[c / 2 % 3], 0.3, 0.5, 0.5, channels, 8});
    must(go(run, &error), &error);
    near(as_run_event(run, 0).t, 0.5, 2e-16);
    // r x P = (0.5, 0, 0) x (0, 1, -3) = (0, 1.5, 0.5)
    const double exact[6] = {0.0, 0.5, -1.5, 0.02 / 0.01, 1.5 / 0.2, 0.5 / 0.19};
    for (int i = 0; i < 6; ++i) near(last_row()[i], exact[i], 1e-12);
    const double T = 0.5 * 2.0 * 2.5 + 0.5 * (0.01 * 4.0 + 1.5 * 7.5 + 0.5 * 0.5 / 0.19);
    near(last_row()[6], T, 1e-11);
    near(last_row()[7], 0.0, 1e-11);
    as_run_destroy(run);
    as_rules_destroy(rules);
    as_model_destroy(model);
  }
}

/// The bar turned by 90 degrees about z: its x is the world's y. The same components in the world's axes and in its own.
static void test_impulse_on_turned(void **state) {
  (void)state;
  static const char *const channels[] = {
      "bodies.bar.velocity.x",         "bodies.bar.velocity.y",
      "bodies.bar.velocity.z",         "bodies.bar.angular_velocity.x",
      "bodies.bar.angular_velocity.y", "bodies.bar.angular_velocity.z"};
  // in the world: r x P = (0, 0.5, 0) x (2, 0, -3) = (-1.5, 0, -1), which is (0, 1.5, -1) in its axes;
  // in its axes: (0.5, 0, 0) x (2, 0, -3) = (0, 1.5, 0)
  static const double right[2][6] = {{1.0, 0.0, -1.5, 0.0, 7.5, -1.0 / 0.19},
                                     {0.0, 1.0, -1.5, 0.0, 7.5, 0.0}};
  for (int c = 0; c < 8; ++c) {
    as_error error;
    as_builder *b = begin(0.0);
    as_body_def def = as_default_body_def();
    def.name = "bar";
    def.space = c & 1 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
    def.mass = 2.0;
    memcpy(def.inertia, (double[6]){0.01, 0.2, 0.19}, sizeof def.inertia);
    def.quaternion[0] = def.quaternion[3] = sqrt(0.5);
    as_body_id bar = {0};
    must(as_builder_add_body(b, &def, &bar, &error), &error);
    as_frame_def end = as_default_frame_def();
    end.body = bar;
    end.position[0] = 0.5;
    as_frame_id frame = {0};
    must(as_builder_add_frame(b, &end, &frame, &error), &error);
    as_model *model = build(b);
    as_rule_impulse hit = as_default_rule_impulse();
    if (c & 4) {
      hit.frame = frame;
    } else {
      hit.body = bar;
      memcpy(hit.point, (double[3]){0.0, 0.5, 0.0}, sizeof hit.point);
    }
    hit.follows = (c & 2) != 0;
    hit.force[0] = "2";
    hit.force[2] = "-3";
    as_rule_def rule = as_default_rule_def();
    rule.name = "hit";
    rule.when = "t - 0.5";
    rule.impulse = &hit;
    rule.n_impulse = 1;
    as_rules *rules = make(model, &rule, 1);
    as_run *run = open_run(model, rules, &(plan){AS_METHOD_INDEX2, 0.3, 0.5, 0.5, channels, 6});
    must(go(run, &error), &error);
    for (int i = 0; i < 6; ++i) near(last_row()[i], right[hit.follows][i], 1e-12);
    as_run_destroy(run);
    as_rules_destroy(rules);
    as_model_destroy(model);
  }
}

/// On a hinge the same impulse is shared with the hinge: J_hinge domega = r x P.
static void test_impulse_on_joint(void **state) {
  (void)state;
  static const char *const channels[] = {"joints.hinge.angle_rate", "bodies.bar.velocity.z"};
  as_error error;
  as_model *model = bar_on_hinge(AS_SPACE_SE3, 0.0, 0.0);
  as_rule_impulse hit = as_default_rule_impulse();
  hit.body = as_model_find_body(model, "bar");
  hit.point[0] = 1.0;
  hit.point[1] = hit.point[2] = 0.0;
  hit.force[2] = "-1.4";
  as_rule_def rule = as_default_rule_def();
  rule.name = "hit";
  rule.when = "t - 0.5";
  rule.impulse = &hit;
  rule.n_impulse = 1;
  as_rules *rules = make(model, &rule, 1);
  for (int m = 0; m < 3; ++m) {
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.3, 0.5, 0.5, channels, 2});
    must(go(run, &error), &error);
    near(last_row()[0], 1.4 / 0.7, 1e-12);
    near(last_row()[1], -0.5 * 2.0, 1e-12);
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

// ---- parameters -------------------------------------------------------------------------------------

/// A thrust along x that a parameter gives.
static int thrust(const as_element_input *in, const as_element_output *out, const void *data) {
  (void)data;
  if (out->force) out->force[0] = in->u[0];
  return AS_DONE;
}

static void thrust_power(const as_element_input *in, as_element_power *out, const void *data) {
  (void)data;
  out->supplied = in->u[0] * in->body[0]->v[0];
}

static const as_element_type thrust_type = {
    .kind = "thrust", .evaluate = thrust, .power = thrust_power};

static as_model *rocket(as_parameter_id *parameter) {
  as_error error;
  as_builder *b = begin(0.0);
  as_element_def def = as_default_element_def();
  def.type = &thrust_type;
  def.name = "engine";
  def.body[0] = add_ball(b, "rocket", 2.0, 0.0, 0.0, 0.0);
  def.n_bodies = 1;
  must(as_builder_add_parameter(b, "thrust", 6.0, parameter, &error), &error);
  must(as_builder_add_element(b, &def, NULL, &error), &error);
  return build(b);
}

/// 3 m/s^2 until 4.5 m/s, at 1.5 s; then half the thrust until 2 s, then none. All of it exact, energies too.
static void test_set(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.rocket.velocity.x", "bodies.rocket.position.x",
                                         "energy.work", "energy.balance", "events.half.count"};
  as_error error;
  as_parameter_id parameter = {0};
  as_model *model = rocket(&parameter);
  const as_rule_setting half = {.parameter = parameter, .value = "thrust/2"},
                        none = {.parameter = parameter, .value = "0"};
  as_rule_def rule[2] = {as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "half";
  rule[0].when = "bodies.rocket.velocity.x - thrust*k";
  rule[0].times = 1;
  rule[0].set = &half;
  rule[0].n_set = 1;
  rule[1].name = "off";
  rule[1].when = "t - 2";
  rule[1].set = &none;
  rule[1].n_set = 1;
  const as_rule_constant k = {"k", 0.75};
  as_rules *rules = NULL;
  must(as_rules_create(model,
                       &(as_rules_def){.rule = rule, .n = 2, .constant = &k, .n_constants = 1},
                       &rules, &error),
       &error);
  for (int m = 0; m < 3; ++m) {
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.08, 3.0, 0.1, channels, 5});
    must(go(run, &error), &error);
    assert_int_equal(as_run_events(run), 2);
    near(as_run_event(run, 0).t, 1.5, 1e-14);
    near(as_run_event(run, 1).t, 2.0, 1e-15);
    for (int i = 0; i < table.n; ++i) {
      const double t = table.t[i], a = fmin(t, 1.5), c = fmax(0.0, fmin(t - 1.5, 0.5));
      const double v = 3.0 * a + 1.5 * c, rest = fmax(0.0, t - 2.0);
      near(table.row[i][0], v, 1e-12);
      near(table.row[i][1], 1.5 * a * a + 4.5 * c + 0.75 * c * c + 5.25 * rest, 1e-12);
      near(table.row[i][2], v * v, 1e-10); // the trapezoidal rule is exact here
      near(table.row[i][3], 0.0, 1e-10);
      near(table.row[i][4], i >= 15 ? 1.0 : 0.0, 0.0);
    }
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// Two rules at the same instant see what was set by the one before; values of one rule are found before any is set.
static void test_together(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.rocket.velocity.x"};
  as_error error;
  as_parameter_id parameter = {0};
  as_model *model = rocket(&parameter);
  const as_rule_setting more = {.parameter = parameter, .value = "thrust + 1"},
                        twice = {.parameter = parameter, .value = "2*thrust"};
  as_rule_def rule[3] = {as_default_rule_def(), as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "more";
  rule[0].when = "t - 1";
  rule[0].set = &more;
  rule[0].n_set = 1;
  rule[1] = rule[0];
  rule[1].name = "never";
  rule[1].only_if = "bodies.rocket.velocity.x > 100";
  rule[2] = rule[0];
  rule[2].name = "twice";
  rule[2].set = &twice;
  as_rules *rules = make(model, rule, 3);
  as_run *run = open_run(model, rules, &(plan){AS_METHOD_INDEX2, 0.08, 2.0, 1.0, channels, 1});
  must(go(run, &error), &error);
  assert_int_equal(as_run_events(run), 2);
  assert_string_equal(as_run_event(run, 0).name, "more");
  assert_string_equal(as_run_event(run, 1).name, "twice");
  near(last_row()[0], 3.0 + 7.0, 1e-12); // 2 (6 + 1) N on 2 kg
  assert_null(as_run_event(run, 2).name);
  as_run_destroy(run);
  as_rules_destroy(rules);
  as_model_destroy(model);
}

// ---- saved runs -------------------------------------------------------------------------------------

/// Takes up a run that was stopped once more: where it was not heard of it ends as it did, at once; then it goes on.
static void expect_stop_again(as_run *run, const record *until, const as_error *why) {
  as_error error;
  must(as_run_load_file(run, saved_path, &error), &error);
  assert_int_equal(as_run_rows(run), until->n);
  assert_int_equal(go(run, &error), AS_STOPPED);
  assert_string_equal(error.message, why->message);
  assert_string_equal(error.component, why->component);
  assert_true(error.t == why->t);
  assert_int_equal(table.n, 0);
  assert_int_equal(as_run_rows(run), until->n - 1); // one only because it was stopped
}

/// The rest of a run behind its stop, with the rows that count before it.
static void expect_rest(as_run *run, const record *until, const record *whole) {
  as_error error;
  table.n = 0;
  assert_int_equal(as_run_rows(run), until->n - 1);
  must(go(run, &error), &error);
  assert_int_equal(until->n - 1 + table.n, whole->n);
  for (int i = 0; i < table.n; ++i)
    assert_memory_equal(table.row[i], whole->row[until->n - 1 + i], 3 * sizeof(double));
  as_run_destroy(run);
}

/// A process is killed after a run was stopped and saved, before or after it could tell anybody.
static void test_saved_where_it_stops(void **state) {
  (void)state;
  static const char *const channels[] = {"joints.hinge.angle", "events"};
  static record until, whole;
  as_error error, why;
  as_model *model = bar_on_hinge(AS_SPACE_R3SO3, 0.0, 2.0);
  as_rule_def rule = as_default_rule_def();
  rule.name = "enough";
  rule.when = "joints.hinge.angle - 2.73"; // between two rows and two steps
  rule.stop = true;
  as_rules *rules = make(model, &rule, 1);
  const plan p = {AS_METHOD_INDEX2, 0.01, 3.0, 0.35, channels, 2};
  as_run *run = open_run(model, rules, &p);
  saving = (saver){run, 1.365 - 1e-6};
  assert_int_equal(go(run, &why), AS_STOPPED);
  until = table;
  as_run_keep_stop(run, true); // as long as the caller says so
  must(as_run_save_file(run, saved_path, &error), &error);
  as_run_keep_stop(run, false);
  assert_int_equal(as_run_rows(run), until.n - 1);
  must(go(run, &error), &error);
  whole = table;
  whole.n -= 1;
  for (int i = until.n - 1; i < whole.n; ++i)
    memcpy(whole.row[i], table.row[i + 1], sizeof whole.row[i]);
  as_run_keep_stop(run, true); // it is not where it was stopped any more
  assert_int_equal(go(run, &error), AS_OK);
  as_run_destroy(run);
  run = open_run(model, rules, &p);
  expect_stop_again(run, &until, &why);
  expect_rest(run, &until, &whole);

  run = open_run(model, rules, &p); // saved from `progress`
  saving = (saver){run, why.t};
  assert_int_equal(go(run, &error), AS_STOPPED);
  as_run *next = open_run(model, rules, &p);
  expect_stop_again(next, &until, &why);
  expect_rest(next, &until, &whole);

  must(as_run_save_file(run, saved_path, &error), &error); // the caller has heard of it
  as_run_destroy(run);
  run = open_run(model, rules, &p);
  must(as_run_load_file(run, saved_path, &error), &error);
  expect_rest(run, &until, &whole);
  as_rules_destroy(rules);
  as_model_destroy(model);
  remove(saved_path);
}

/// A run that is saved in the middle and taken up by another goes on bit for bit: rows, counts, times, turns.
static void test_saved(void **state) {
  (void)state;
  static const char *const channels[] = {"joints.hinge.angle", "events"};
  static record whole;
  as_error error;
  as_model *model = bar_on_hinge(AS_SPACE_R3SO3, 0.0, 2.0);
  const as_joint_id drive = as_model_find_joint(model, "drive");
  as_rule_def rule[2] = {as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "turn";
  rule[0].when = "sin(joints.hinge.angle)";
  rule[0].times = 4;
  rule[1].name = "off";
  rule[1].when = "joints.hinge.angle - 5*pi - 0.5";
  rule[1].release = &drive;
  rule[1].n_release = 1;
  as_rules *rules = make(model, rule, 2);
  plan p = {AS_METHOD_INDEX2, 0.01, 12.0, 0.35, channels, 2};
  as_run *run = open_run(model, rules, &p);
  must(go(run, &error), &error);
  assert_int_equal(as_run_events(run), 5);
  whole = table;
  as_run_destroy(run);
  for (int k = 0; k < 3; ++k) { // before and after the motor is switched off
    run = open_run(model, rules, &p);
    saving = (saver){run, k == 0 ? 5.0 : k == 1 ? 8.2 : 9.0};
    must(go(run, &error), &error);
    as_run_destroy(run);
    run = open_run(model, rules, &p);
    must(as_run_load_file(run, saved_path, &error), &error);
    const int first = (int)as_run_rows(run);
    assert_true(first > 10);
    must(go(run, &error), &error);
    assert_int_equal(first + table.n, whole.n);
    for (int i = 0; i < table.n; ++i)
      assert_memory_equal(table.row[i], whole.row[first + i], 5 * sizeof(double));
    assert_int_equal(as_run_events(run), 5);
    assert_string_equal(as_run_event(run, 1).name, "turn");
    assert_string_equal(as_run_event(run, 4).name, "off");
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  rule[0].name = "another";
  rules = make(model, rule, 2);
  static const char *const one[] = {"joints.hinge.angle"};
  p.channels = one;
  p.n_channels = 1;
  run = open_run(model, rules, &p);
  assert_int_equal(as_run_load_file(run, saved_path, &error), AS_ERR_FILE);
  as_run_destroy(run);
  as_rules_destroy(rules);
  as_model_destroy(model);
  remove(saved_path);
}

// ---- failures ---------------------------------------------------------------------------------------

static void expect_words(const as_error *error, const char *const *words) {
  for (; *words; ++words)
    if (strstr(error->message, *words) == NULL)
      fail_msg("\"%s\" is not in: %s", *words, error->message);
}

#define EXPECT(error, ...) expect_words(error, (const char *const[]){__VA_ARGS__, NULL})

/// A joint that is apart is not closed by moving bodies, unless the gap is allowed.
static void test_gap(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.ball.position.z", "events.catch.count"};
  as_model *model = ball_over_floor(1.0);
  const as_joint_id floor = as_model_find_joint(model, "floor");
  as_rule_def rule = as_default_rule_def();
  rule.name = "catch";
  rule.when = "bodies.ball.position.z - 0.25";
  rule.activate = &floor;
  rule.n_activate = 1;
  for (int k = 0; k < 2; ++k) {
    as_error error;
    rule.gap = k == 0 ? 1e-6 : 0.3;
    as_rules *rules = make(model, &rule, 1);
    as_run *run = open_run(model, rules, &(plan){AS_METHOD_INDEX2, 0.01, 1.0, 0.1, channels, 2});
    const as_status status = go(run, &error);
    if (k == 0) {
      assert_int_equal(status, AS_ERR_CALLBACK);
      EXPECT(&error, "\"catch\"", "\"floor\"", "0.25", "t = 0.391");
      assert_int_equal(as_run_events(run), 0);
      // What came before is kept; the last row is where it could not go on.
      near(last_row()[0], 0.25, 1e-9);
      assert_int_equal(go(run, &error), AS_ERR_CALLBACK); // and it stays where it was
      near(as_integrator_state(as_run_integrator(run))->q[2], 0.25, 0.1);
    } else {
      must(status, &error);
      near(last_row()[0], 0.0, 1e-12);
    }
    as_run_destroy(run);
    as_rules_destroy(rules);
  }
  as_model_destroy(model);
}

/// A joint that cannot hold together with others: the sentence names the event, and nothing has happened.
static void test_impossible(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.ball.position.z", "events.squeeze.count"};
  as_error error;
  as_builder *b = begin(g);
  const as_body_id ball = add_ball(b, "ball", 0.5, 0.0, 0.0, 1.0);
  add_joint(b, AS_JOINT_POINT_ON_PLANE, "floor", AS_GROUND, ball, (double[3]){0.0, 0.0, 1.0});
  as_joint_def def = as_default_joint_def();
  def.kind = AS_JOINT_POINT_ON_PLANE;
  def.name = "ceiling";
  as_frame_def place = as_default_frame_def();
  place.body = AS_GROUND;
  place.position[2] = 1.0;
  must(as_builder_add_frame(b, &place, &def.frame[0], &error), &error);
  place = as_default_frame_def();
  place.body = ball;
  must(as_builder_add_frame(b, &place, &def.frame[1], &error), &error);
  as_joint_id ceiling = {0};
  must(as_builder_add_joint(b, &def, &ceiling, &error), &error);
  must(as_builder_set_active(b, ceiling, false, &error), &error);
  as_model *model = build(b);
  as_rule_def rule = as_default_rule_def();
  rule.name = "squeeze";
  rule.when = "t - 0.25";
  rule.activate = &ceiling;
  rule.n_activate = 1;
  rule.gap = 2.0;
  as_rules *rules = make(model, &rule, 1);
  for (int m = 0; m < 3; ++m) {
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.1, 1.0, 0.1, channels, 2});
    const as_status status = go(run, &error);
    assert_true(status != AS_OK && status != AS_STOPPED);
    EXPECT(&error, "\"squeeze\"", "t = 0.25");
    assert_int_equal(as_run_events(run), 0);
    near(as_integrator_state(as_run_integrator(run))->q[2], 0.0, 1e-12);
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// Formulas that have no value: in a condition, and in an action, which leaves everything as it was.
static void test_no_number(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.rocket.velocity.x"};
  as_error error;
  as_parameter_id parameter = {0};
  as_model *model = rocket(&parameter);
  const as_rule_setting wrong = {.parameter = parameter, .value = "1 + sqrt(1 - t)"};
  as_rule_def rule = as_default_rule_def();
  rule.name = "odd";
  rule.when = "sqrt(0.5 - t) - 2";
  as_rules *rules = make(model, &rule, 1);
  as_run *run = open_run(model, rules, &(plan){AS_METHOD_INDEX2, 0.08, 2.0, 0.1, channels, 1});
  assert_int_equal(go(run, &error), AS_ERR_CALLBACK);
  EXPECT(&error, "\"odd\"", "when", "column 1", "sqrt(-0.06");
  as_run_destroy(run);
  as_rules_destroy(rules);
  rule.when = "t - 1.5";
  rule.set = &wrong;
  rule.n_set = 1;
  rules = make(model, &rule, 1);
  run = open_run(model, rules, &(plan){AS_METHOD_INDEX2, 0.08, 2.0, 0.1, channels, 1});
  assert_int_equal(go(run, &error), AS_ERR_CALLBACK);
  EXPECT(&error, "\"odd\"", "set", "column 5", "sqrt(-0.5) is not a number", "t = 1.5");
  near(as_integrator_state(as_run_integrator(run))->u[0], 6.0, 0.0);
  assert_int_equal(as_run_events(run), 0);
  as_run_destroy(run);
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// A ball that bounces faster and faster is noticed, by name.
static void test_chattering(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.ball.position.z"};
  as_error error;
  as_model *model = ball_over_floor(1.0);
  const as_joint_id floor = as_model_find_joint(model, "floor");
  as_rule_def rule = as_default_rule_def();
  rule.name = "bounce";
  rule.when = "bodies.ball.position.z";
  rule.direction = -1;
  rule.strike = &floor;
  rule.n_strike = 1;
  rule.restitution = 0.3;
  as_rules *rules = make(model, &rule, 1);
  as_run *run = open_run(model, rules, &(plan){AS_METHOD_INDEX2, 0.01, 2.0, 0.1, channels, 1});
  assert_int_equal(go(run, &error), AS_ERR_ZENO);
  EXPECT(&error, "\"bounce\"", "again and again");
  assert_true(as_run_events(run) > 5);
  as_run_destroy(run);
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// Fast impacts bounce, the first slow one activates the floor, and the ball rests on it with its weight.
static void test_rests(void **state) {
  (void)state;
  static const char *const channels[] = {"bodies.ball.position.z", "bodies.ball.velocity.z",
                                         "joints.floor.force.z",   "events.rest.count",
                                         "energy.dissipated",      "energy.balance"};
  as_model *model = ball_over_floor(1.0);
  const as_joint_id floor = as_model_find_joint(model, "floor");
  as_rule_def rule[2] = {as_default_rule_def(), as_default_rule_def()};
  rule[0].name = "bounce";
  rule[0].when = "bodies.ball.position.z";
  rule[0].direction = -1;
  rule[0].only_if = "bodies.ball.velocity.z < -0.1";
  rule[0].strike = &floor;
  rule[0].n_strike = 1;
  rule[0].restitution = 0.3;
  rule[1] = rule[0];
  rule[1].name = "rest";
  rule[1].only_if = "bodies.ball.velocity.z >= -0.1";
  rule[1].n_strike = 0;
  rule[1].activate = &floor;
  rule[1].n_activate = 1;
  as_rules *rules = make(model, rule, 2);
  for (int m = 0; m < 3; ++m) {
    as_error error;
    as_run *run = open_run(model, rules, &(plan){methods[m], 0.01, 2.0, 0.1, channels, 6});
    must(go(run, &error), &error);
    // sqrt(2 g) 0.3^k falls below 0.1 m/s for k = 4
    assert_int_equal(as_run_events(run), 5);
    assert_string_equal(as_run_event(run, 4).name, "rest");
    near(last_row()[0], 0.0, 1e-12);
    near(last_row()[1], 0.0, 1e-12);
    near(last_row()[2], 0.5 * g, 1e-10);
    near(last_row()[4], 0.5 * g, 1e-10);
    near(last_row()[5], 0.0, 1e-10);
    as_run_destroy(run);
  }
  as_rules_destroy(rules);
  as_model_destroy(model);
}

/// What as_rules_create() refuses, and how.
static void test_refused(void **state) {
  (void)state;
  as_error error;
  as_rules *rules = NULL;
  as_parameter_id parameter = {0};
  as_model *model = rocket(&parameter);
  static const struct {
    const char *when;
    const char *words[4];
  } formula[] = {
      {"bodies.roket.velocity.x", {"\"one\"", "when", "column 1", "did you mean `rocket`"}},
      {"1 + bodies.rocket.velocty.x", {"column 5", "`velocty`", "did you mean `velocity`"}},
      {"bodies.rocket.velocity", {"3 numbers", "choose one"}},
      {"energy.balance - 1", {"energy.balance", "summed up along the run"}},
      {"energy.work", {"summed up along the run"}},
      {"solver.h", {"belongs to the steps"}},
      {"drift.position", {"ends of steps"}},
      {"events.one.count - 3", {"counts events"}},
      {"thrst - 1", {"thrst", "did you mean \"thrust\""}},
      {"t -", {"column 4"}},
      {"bodies.rocket.angle - 1", {"`angle`"}},
  };
  for (size_t i = 0; i < sizeof formula / sizeof formula[0]; ++i) {
    as_rule_def rule = as_default_rule_def();
    rule.name = "one";
    rule.when = formula[i].when;
    const as_rules_def def = {.rule = &rule, .n = 1};
    assert_int_equal(as_rules_create(model, &def, &rules, &error), AS_ERR_ARGUMENT);
    assert_null(rules);
    for (int k = 0; k < 4 && formula[i].words[k]; ++k) EXPECT(&error, formula[i].words[k]);
  }
  const as_joint_id missing = {4};
  const as_rule_setting unknown = {.parameter = {7}, .value = "1"};
  as_rule_impulse hit = as_default_rule_impulse();
  hit.body = AS_GROUND;
  as_rule_impulse twist = as_default_rule_impulse();
  twist.body = (as_body_id){0};
  twist.torque[1] = "1";
  as_rule_def wrong[] = {
      {.name = "one"},
      {.name = "one", .when = "t", .direction = 2},
      {.name = "one", .when = "t", .times = -1},
      {.name = "one", .when = "t", .restitution = 1.5},
      {.name = "one", .when = "t", .gap = (double)NAN},
      {.name = "one", .when = "t", .release = &missing, .n_release = 1},
      {.name = "one", .when = "t", .activate = &missing, .n_activate = 1},
      {.name = "one", .when = "t", .strike = &missing, .n_strike = 1},
      {.name = "one", .when = "t", .set = &unknown, .n_set = 1},
      {.name = "one", .when = "t", .impulse = &hit, .n_impulse = 1},
      {.name = "one", .when = "t", .impulse = &twist, .n_impulse = 1},
      {.name = "o.e", .when = "t"},
      {.when = "t"},
      {.name = "one", .when = "t", .every = 1.0},
      {.name = "one", .every = -0.5},
      {.name = "one", .every = (double)NAN},
      {.name = "one", .every = 0.5, .offset = (double)INFINITY},
      {.name = "one", .every = 0.5, .direction = 1},
  };
  static const char *const words[] = {"no formula",
                                      "direction 2",
                                      "-1 times",
                                      "1.5",
                                      "nan",
                                      "release",
                                      "activate",
                                      "strike",
                                      "parameter 7",
                                      "the ground",
                                      "point mass \"rocket\"",
                                      "o.e",
                                      "no name",
                                      "both a formula",
                                      "every -0.5 s",
                                      "every nan s",
                                      "from inf s",
                                      "no direction"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    const as_rules_def def = {.rule = &wrong[i], .n = 1};
    wrong[i].cookie = as_default_rule_def().cookie;
    assert_int_equal(as_rules_create(model, &def, &rules, &error), AS_ERR_ARGUMENT);
    EXPECT(&error, words[i]);
  }
  as_rule_def two[2] = {as_default_rule_def(), as_default_rule_def()};
  two[0].name = two[1].name = "same";
  two[0].when = two[1].when = "t";
  assert_int_equal(as_rules_create(model, &(as_rules_def){.rule = two, .n = 2}, &rules, &error),
                   AS_ERR_ARGUMENT);
  EXPECT(&error, "two events", "same");
  as_model_destroy(model);
}

/// Joints that do not hold at the start: degrees of freedom, rows and gaps are those of what holds.
static void test_survey(void **state) {
  (void)state;
  as_error error;
  as_survey *survey = NULL;
  as_model *model = ball_over_floor(1.0);
  as_integrator_def how = as_default_integrator_def();
  must(as_survey_create(model, &how, 1.0, &survey, &error), &error);
  assert_int_equal(survey->degrees_of_freedom, 3);
  assert_int_equal(survey->rows, 0);
  assert_int_equal(survey->inactive_joints, 1);
  assert_int_equal(survey->n_redundant, 0);
  near(survey->gap, 0.0, 0.0);
  near(survey->largest_move, 0.0, 0.0);
  assert_false(as_model_joint_is_active(model, (as_joint_id){0}));
  as_survey_destroy(survey);
  as_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounces),    cmocka_unit_test(test_locks),
      cmocka_unit_test(test_release),    cmocka_unit_test(test_switched_off),
      cmocka_unit_test(test_fast_turns), cmocka_unit_test(test_impulse_on_turned),
      cmocka_unit_test(test_impulse),    cmocka_unit_test(test_impulse_on_joint),
      cmocka_unit_test(test_set),        cmocka_unit_test(test_together),
      cmocka_unit_test(test_saved),      cmocka_unit_test(test_saved_where_it_stops),
      cmocka_unit_test(test_gap),        cmocka_unit_test(test_impossible),
      cmocka_unit_test(test_no_number),  cmocka_unit_test(test_chattering),
      cmocka_unit_test(test_rests),      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_survey),     cmocka_unit_test(test_who_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
