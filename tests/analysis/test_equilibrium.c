/// Static equilibrium against answers worked out by hand: positions, reactions, frequencies, stability; and what is
/// said where there is none. Nothing is discretized, so errors are round-off.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "machines.h"
#include "rig.h"

static const double pi = 3.14159265358979323846, g = 9.81;
static const double origin[3] = {0}, z_axis[3] = {0, 0, 1};

// ---- pendulum -------------------------------------------------------------------------------------

static bench pendulum(double angle, bool se3) {
  as_builder *b = machine_builder(0, -g, 0);
  const as_body_id rod = bench_link(b, "rod", 2.0, 1.5, 0, 0, angle, se3);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, rod, origin, z_axis);
  return bench_make(b);
}

/// From anywhere it ends up hanging, and is stable with kappa = m g l/2 / (m l^2/3) = 3 g / (2 l).
static void pendulum_hangs(void **state) {
  (void)state;
  for (int k = 0; k < 20; ++k) {
    bench x = pendulum(-0.5 * pi + 0.3 * k - 2.9, k % 2);
    const as_state *s = bench_rest(&x);
    assert_near("angle", bench_angle(&x, s, "rod"), -0.5 * pi, 1e-14);
    assert_near("reaction", bench_reaction(&x, s, "pin").force[1], 2.0 * g, 1e-12);
    assert_near("frequency", x.found.softest, 1.5 * g / 1.5, 1e-12);
    assert_int_equal(x.found.stability, AS_STABLE);
    assert_int_equal(x.found.degrees_of_freedom, 1);
    assert_int_equal(x.found.n_negative, 0);
    assert_true(x.found.unbalanced < 1e-13);
    assert_true(x.found.position_drift < 1e-14);
    for (int i = 0; i < 6; ++i) assert_true(s->v[i] == 0.0 && fabs(s->vdot[i]) < 1e-13);
    bench_free(&x);
  }
}

static void upright_pendulum_stays(void **state) {
  (void)state;
  bench x = pendulum(0.5 * pi, false);
  const as_state *s = bench_rest(&x);
  assert_near("angle", bench_angle(&x, s, "rod"), 0.5 * pi, 1e-15);
  assert_int_equal(x.found.stability, AS_UNSTABLE);
  assert_int_equal(x.found.n_negative, 1);
  assert_near("growth", x.found.softest, -1.5 * g / 1.5, 1e-12);
  assert_non_null(strstr(x.found.softest_component, "rod"));
  assert_false(x.found.pushed);
  bench_free(&x);
}

// ---- springs and links ----------------------------------------------------------------------------

typedef struct lever_data {
  double m, l, k, rest;
} lever_data;

/// The torque of gravity and spring at an angle.
static double lever_torque(double angle, const void *user) {
  const lever_data *d = user;
  return -d->m * g * 0.5 * d->l * cos(angle) - d->k * (angle - d->rest);
}

static void lever_on_a_spring(void **state) {
  (void)state;
  const lever_data d = {3.0, 0.8, 25.0, 0.6};
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, -g, 0);
    const as_body_id lever = bench_link(b, "lever", d.m, d.l, 0, 0, d.rest, se3);
    machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, lever, origin, z_axis);
    bench_torsion(b, "spring", AS_GROUND, lever, d.k);
    bench x = bench_make(b);
    const double angle = bench_angle(&x, bench_rest(&x), "lever");
    const double exact = bench_root(lever_torque, &d, -0.5, 0.6);
    const double stiffness = d.k - d.m * g * 0.5 * d.l * sin(exact);
    assert_near("angle", angle, exact, 1e-14);
    assert_near("frequency", x.found.softest, stiffness / (d.m * d.l * d.l / 3.0), 1e-11);
    assert_int_equal(x.found.stability, AS_STABLE);
    bench_free(&x);
  }
}

/// A chain of point masses and massless links of equal length between two supports of the same height: the
/// horizontal force H is constant, the vertical one changes by m g at each mass; so with N links
/// span = sum l cos(atan((N/2 - 1/2 - i) m g / H)).
typedef struct chain_data {
  int n; ///< links
  double m, l, span;
} chain_data;

static double chain_slope(const chain_data *d, int i, double force) {
  return atan((0.5 * d->n - 0.5 - i) * d->m * g / force);
}

static double chain_span(double force, const void *user) {
  const chain_data *d = user;
  double span = 0.0;
  for (int i = 0; i < d->n; ++i) span += d->l * cos(chain_slope(d, i, force));
  return span - d->span;
}

/// Drawn as a V.
static as_builder *chain(const chain_data *d) {
  as_builder *b = machine_builder(0, -g, 0);
  const double drawn = acos(d->span / (d->n * d->l));
  double from[3] = {0}, to[3] = {0};
  as_body_id last = AS_GROUND;
  char name[32];
  for (int i = 0; i < d->n; ++i) {
    to[0] = from[0] + d->l * cos(drawn);
    to[1] = from[1] + (i < d->n / 2 ? -d->l : d->l) * sin(drawn);
    as_body_id next = AS_GROUND;
    snprintf(name, sizeof name, "mass %d", i);
    if (i < d->n - 1) next = machine_point(b, name, d->m, to, origin);
    snprintf(name, sizeof name, "link %d", i);
    machine_rod(b, name, last, next, from, to);
    last = next;
    memcpy(from, to, sizeof from);
  }
  return b;
}

static void check_chain(chain_data d, as_stability stability, double tolerance) {
  const double force = bench_root(chain_span, &d, 1e-3 * d.m * g, 1e6 * d.m * g);
  bench x = bench_make(chain(&d));
  const as_state *s = bench_rest(&x);
  double worst_position = 0.0, worst_tension = 0.0, at[2] = {0};
  char name[32];
  for (int i = 0; i < d.n; ++i) {
    const double slope = chain_slope(&d, i, force);
    at[0] += d.l * cos(slope);
    at[1] -= d.l * sin(slope);
    snprintf(name, sizeof name, "link %d", i);
    worst_tension =
        fmax(worst_tension, fabs(bench_lambda(&x, s, name) - force / cos(slope)) / (d.m * g));
    if (i == d.n - 1) break;
    snprintf(name, sizeof name, "mass %d", i);
    const as_body_motion mass = bench_body(&x, s, name);
    worst_position = fmax(worst_position, hypot(mass.x[0] - at[0], mass.x[1] - at[1]));
    worst_position = fmax(worst_position, fabs(mass.x[2]));
  }
  printf("  chain of %d links: %d iterations, positions off by %.1e, tensions by %.1e weights\n",
         d.n, x.found.iterations, worst_position, worst_tension);
  assert_true(worst_position < tolerance * d.n * d.l);
  assert_true(worst_tension < tolerance * d.n);
  assert_int_equal(x.found.stability, stability);
  assert_int_equal(x.found.degrees_of_freedom, 3 * (d.n - 1) - d.n);
  bench_free(&x);
}

static void chain_hangs_as_a_catenary(void **state) {
  (void)state;
  check_chain((chain_data){4, 0.3, 0.5, 1.5}, AS_STABLE, 1e-14);
  check_chain((chain_data){8, 0.3, 0.5, 3.0}, AS_STABLE, 1e-14);
  check_chain((chain_data){60, 0.1, 0.2, 7.0}, AS_STABLE, 1e-13);
}

static void long_chain_is_solved_sparsely(void **state) {
  (void)state;
  check_chain((chain_data){400, 0.1, 0.2, 50.0}, AS_STABILITY_UNKNOWN, 1e-11);
}

/// A four-bar linkage of revolute joints in space, three of whose rows are redundant, with a spring on its crank.
typedef struct four_bar {
  double crank, coupler, rocker, ground; ///< lengths
  double m[3];                           ///< masses
  double k, rest;                        ///< spring, and the crank's angle where it is drawn
} four_bar;

/// Angles of coupler and rocker, and their rates with that of the crank.
static void four_bar_solve(const four_bar *d, double crank, double angle[2], double rate[2]) {
  const double x = d->ground - d->crank * cos(crank), y = -d->crank * sin(crank), r = hypot(x, y);
  const double inner =
      (d->coupler * d->coupler + r * r - d->rocker * d->rocker) / (2.0 * d->coupler * r);
  angle[0] = atan2(y, x) + acos(inner);
  const double ex = d->crank * cos(crank) + d->coupler * cos(angle[0]) - d->ground;
  const double ey = d->crank * sin(crank) + d->coupler * sin(angle[0]);
  angle[1] = atan2(ey, ex);
  // crank e(t) + coupler e(a) = ground + rocker e(b): its derivative times e(b), times e(a)
  const double s = sin(angle[0] - angle[1]);
  rate[0] = -d->crank * sin(crank - angle[1]) / (d->coupler * s);
  rate[1] = -d->crank * sin(crank - angle[0]) / (d->rocker * s);
}

/// dV/d(crank)
static double four_bar_slope(double crank, const void *user) {
  const four_bar *d = user;
  double angle[2], rate[2];
  four_bar_solve(d, crank, angle, rate);
  return g * (0.5 * d->m[0] * d->crank * cos(crank) +
              d->m[1] * (d->crank * cos(crank) + 0.5 * d->coupler * cos(angle[0]) * rate[0]) +
              d->m[2] * 0.5 * d->rocker * cos(angle[1]) * rate[1]) +
         d->k * (crank - d->rest);
}

static bench four_bar_bench(const four_bar *d, bool se3) {
  as_builder *b = machine_builder(0, -g, 0);
  double angle[2], rate[2];
  four_bar_solve(d, d->rest, angle, rate);
  const double A[3] = {d->crank * cos(d->rest), d->crank * sin(d->rest), 0};
  const double D[3] = {d->ground, 0, 0};
  const double C[3] = {D[0] + d->rocker * cos(angle[1]), d->rocker * sin(angle[1]), 0};
  const as_body_id crank = bench_link(b, "crank", d->m[0], d->crank, 0, 0, d->rest, se3);
  const as_body_id coupler =
      bench_link(b, "coupler", d->m[1], d->coupler, A[0], A[1], angle[0], se3);
  const as_body_id rocker = bench_link(b, "rocker", d->m[2], d->rocker, D[0], D[1], angle[1], se3);
  machine_joint(b, "O", AS_JOINT_REVOLUTE, AS_GROUND, crank, origin, z_axis);
  machine_joint(b, "A", AS_JOINT_REVOLUTE, crank, coupler, A, z_axis);
  machine_joint(b, "C", AS_JOINT_REVOLUTE, coupler, rocker, C, z_axis);
  machine_joint(b, "D", AS_JOINT_REVOLUTE, AS_GROUND, rocker, D, z_axis);
  bench_torsion(b, "spring", AS_GROUND, crank, d->k);
  return bench_make(b);
}

static void four_bar_with_redundant_rows(void **state) {
  (void)state;
  const four_bar d = {0.3, 0.8, 0.5, 0.9, {1.0, 2.0, 1.5}, 12.0, 1.0};
  for (int se3 = 0; se3 < 2; ++se3) {
    bench x = four_bar_bench(&d, se3);
    const as_state *s = bench_rest(&x);
    const double exact = bench_root(four_bar_slope, &d, -0.5, 1.0);
    double angle[2], rate[2];
    four_bar_solve(&d, exact, angle, rate);
    assert_near("crank", bench_angle(&x, s, "crank"), exact, 1e-13);
    assert_near("coupler", bench_angle(&x, s, "coupler"), angle[0], 1e-13);
    assert_near("rocker", bench_angle(&x, s, "rocker"), angle[1], 1e-13);
    assert_int_equal(x.found.stability, AS_STABLE);
    assert_int_equal(x.found.degrees_of_freedom, 1);
    assert_int_equal(x.found.n_redundant, 3);
    // V'' by differences over the reduced mass, sum of J + m (l/2)^2 about fixed points, and the coupler's
    const double e = 1e-5;
    const double second =
        (four_bar_slope(exact + e, &d) - four_bar_slope(exact - e, &d)) / (2.0 * e);
    const double vx = -d.crank * sin(exact) - 0.5 * d.coupler * sin(angle[0]) * rate[0];
    const double vy = d.crank * cos(exact) + 0.5 * d.coupler * cos(angle[0]) * rate[0];
    const double mass =
        d.m[0] * d.crank * d.crank / 3.0 +
        d.m[1] * (vx * vx + vy * vy + d.coupler * d.coupler * rate[0] * rate[0] / 12) +
        d.m[2] * d.rocker * d.rocker * rate[1] * rate[1] / 3.0;
    assert_near("frequency", x.found.softest, second / mass, 1e-6);
    // All weight and no more hangs on the two pins of the ground.
    const double held = bench_reaction(&x, s, "O").force[1] + bench_reaction(&x, s, "D").force[1];
    assert_near("weight", held, 4.5 * g, 1e-11);
    bench_free(&x);
  }
}

/// N parallelograms in a row, N + 1 posts and N bars of revolute joints in space: 3 N redundant rows, one freedom. The first
/// post leans by a against its spring: k (a - a0) = ((N + 1) m / 2 + N M) g l sin a.
typedef struct row_data {
  int n;
  double post, bar, l, k, rest;
} row_data;

static double row_torque(double a, const void *user) {
  const row_data *d = user;
  return d->k * (a - d->rest) - (0.5 * (d->n + 1) * d->post + d->n * d->bar) * g * d->l * sin(a);
}

static void row_of_four_bars(void **state) {
  (void)state;
  const row_data d = {6, 0.5, 1.0, 0.4, 60.0, 0.4};
  const double exact = bench_root(row_torque, &d, 0.4, 2.0);
  as_builder *b = machine_builder(0, -g, 0);
  const double up = 0.5 * pi - d.rest, dx = d.l * cos(up), dy = d.l * sin(up);
  as_body_id post = AS_NO_BODY, bar = AS_NO_BODY;
  for (int i = 0; i <= d.n; ++i) {
    const double foot[3] = {i, 0, 0}, head[3] = {i + dx, dy, 0};
    post = bench_link(b, i == d.n ? "last" : NULL, d.post, d.l, foot[0], foot[1], up, i % 2);
    machine_joint(b, NULL, AS_JOINT_REVOLUTE, AS_GROUND, post, foot, z_axis);
    if (i == 0) bench_torsion(b, "spring", AS_GROUND, post, d.k);
    if (i > 0) machine_joint(b, NULL, AS_JOINT_REVOLUTE, bar, post, head, z_axis);
    if (i == d.n) break;
    bar = bench_link(b, NULL, d.bar, 1.0, head[0], head[1], 0.0, i % 2);
    machine_joint(b, NULL, AS_JOINT_REVOLUTE, post, bar, head, z_axis);
  }
  bench x = bench_make(b);
  const as_state *s = bench_rest(&x);
  assert_near("angle", 0.5 * pi - bench_angle(&x, s, "last"), exact, 1e-11);
  assert_int_equal(x.found.n_redundant, 3 * d.n);
  assert_int_equal(x.found.degrees_of_freedom, 1);
  assert_int_equal(x.found.stability, AS_STABLE);
  const double mass = (d.n + 1) * d.post * d.l * d.l / 3.0 + d.n * d.bar * d.l * d.l;
  const double stiffness = d.k - (0.5 * (d.n + 1) * d.post + d.n * d.bar) * g * d.l * cos(exact);
  assert_near("frequency", x.found.softest, stiffness / mass, 1e-8);
  bench_free(&x);
}

/// A door on two like hinges, one above the other: what statics does not determine, how they share the weight, is
/// shared evenly; the couple that holds it level is determined.
static void door_on_two_hinges(void **state) {
  (void)state;
  const double low[3] = {0, 0, 0}, high[3] = {0, 0, 2}, mass = 30.0, width = 0.8;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def def = machine_round_body("door", mass, 4.0, false);
  def.position[0] = 0.5 * width;
  def.position[2] = 1.0;
  const as_body_id door = machine_body(b, &def);
  machine_joint(b, "low", AS_JOINT_REVOLUTE, AS_GROUND, door, low, z_axis);
  machine_joint(b, "high", AS_JOINT_REVOLUTE, AS_GROUND, door, high, z_axis);
  bench x = bench_make(b);
  const as_state *s = bench_rest(&x);
  const as_reaction r[2] = {bench_reaction(&x, s, "low"), bench_reaction(&x, s, "high")};
  assert_int_equal(x.found.n_redundant, 5);
  assert_int_equal(x.found.stability, AS_NEUTRAL);
  // How they share it is known to round-off over the compliance of 1e-8.
  assert_near("low", r[0].force[2], 0.5 * mass * g, 1e-5);
  assert_near("high", r[1].force[2], 0.5 * mass * g, 1e-5);
  assert_near("weight", r[0].force[2] + r[1].force[2], mass * g, 1e-11);
  // About y, at the lower hinge: the weight at half the width, the upper hinge at 2 m.
  const double moment = r[0].torque[1] + r[1].torque[1] + 2.0 * r[1].force[0];
  assert_near("moment", moment, -0.5 * width * mass * g, 1e-11);
  bench_free(&x);
}

/// A nut turns down its thread for four turns, until a stop bears it: k (depth) = m g.
static void nut_comes_down_on_a_stop(void **state) {
  (void)state;
  const double mass = 1.5, k = 1e5, lead = 0.05, moment = 0.4;
  as_builder *b = machine_builder(0, 0, -g);
  const as_body_def def = machine_round_body("nut", mass, moment, false);
  as_error error;
  as_joint_def screw = as_default_joint_def();
  as_stop_def stop = as_default_stop_def();
  screw.kind = AS_JOINT_SCREW;
  screw.body[0] = AS_GROUND;
  screw.body[1] = machine_body(b, &def);
  screw.axis[2] = 1.0;
  screw.lead = lead;
  assert_int_equal(as_builder_add_joint(b, &screw, &stop.joint, &error), AS_OK);
  stop.lower = -0.2;
  stop.law.stiffness = k;
  stop.law.exponent = 1.0;
  assert_int_equal(as_builder_add_stop(b, &stop, NULL, &error), AS_OK);
  bench x = bench_make(b);
  const as_state *s = bench_rest(&x);
  const double p = lead / 6.283185307179586477, depth = mass * g / k;
  assert_near("height", bench_body(&x, s, "nut").x[2], -0.2 - depth, 1e-9);
  assert_near("angle", bench_angle(&x, s, "nut"), -depth / p, 1e-7);
  assert_int_equal(x.found.stability, AS_STABLE);
  assert_near("softest", x.found.softest, k / (mass + moment / (p * p)), 1e-6);
  bench_free(&x);
}

/// A pendulum falls from level until the wheel that it drives three times as fast, phi = 3 theta, meets its stop at 1 rad:
/// m g l cos theta = 3 k (phi - 1).
static void geared_pendulum_meets_a_stop(void **state) {
  (void)state;
  const double mass = 1.5, l = 0.5, k = 200.0;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, -g, 0);
    as_error error;
    as_body_def def = machine_round_body("pendulum", mass, 0.1, se3);
    def.position[0] = l;
    const as_body_id pendulum = machine_body(b, &def);
    def = machine_round_body("wheel", 1.0, 0.1, !se3);
    def.position[1] = 1.0;
    const as_body_id wheel = machine_body(b, &def);
    as_gear_def gear = as_default_gear_def();
    gear.joint[0] =
        machine_joint(b, "pivot", AS_JOINT_REVOLUTE, AS_GROUND, pendulum, origin, z_axis);
    gear.joint[1] =
        machine_joint(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, wheel, def.position, z_axis);
    gear.teeth[0] = 51;
    gear.teeth[1] = 17;
    assert_int_equal(as_builder_add_gear(b, &gear, NULL, &error), AS_OK);
    as_stop_def stop = as_default_stop_def();
    stop.joint = gear.joint[1];
    stop.lower = -1.0;
    stop.upper = 1.0;
    stop.law.stiffness = k;
    stop.law.exponent = 1.0;
    assert_int_equal(as_builder_add_stop(b, &stop, NULL, &error), AS_OK);
    bench x = bench_make(b);
    const as_state *s = bench_rest(&x);
    const double theta = -bench_angle(&x, s, "pendulum"), phi = bench_angle(&x, s, "wheel");
    assert_near("gear", phi, 3.0 * theta, 1e-9);
    assert_near("torque", 3.0 * k * (phi - 1.0), mass * g * l * cos(theta), 1e-6);
    assert_int_equal(x.found.stability, AS_STABLE);
    bench_free(&x);
  }
}

/// A ball that hangs in the air comes down on a plane: k depth^1.5 = m g. It may roll and slide and spin, but not sink.
static void ball_comes_down_on_a_plane(void **state) {
  (void)state;
  const double mass = 1.5, r = 0.3, k = 1e4;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, 0, -g);
    as_error error;
    as_body_def def = machine_round_body("ball", mass, 0.1, se3);
    def.position[2] = r + 0.2;
    as_contact_def floor = as_default_contact_def();
    floor.body[0] = AS_GROUND;
    floor.body[1] = machine_body(b, &def);
    floor.normal[2] = 1.0;
    floor.center[2] = r + 0.2;
    floor.radius = r;
    floor.law.stiffness = k;
    floor.friction = 0.3;
    floor.slip_speed = 0.01;
    assert_int_equal(as_builder_add_contact(b, &floor, NULL, &error), AS_OK);
    bench x = bench_make(b);
    const as_state *s = bench_rest(&x);
    assert_near("height", bench_body(&x, s, "ball").x[2], r - pow(mass * g / k, 2.0 / 3.0), 1e-9);
    assert_int_equal(x.found.stability, AS_NEUTRAL);
    assert_int_equal(x.found.n_neutral, 5);
    bench_free(&x);
  }
}

/// A ball rolls on a slope and hangs by a spring: it comes to rest where k (s - s0) = m g sin, the ground bears m g cos,
/// nothing holds its spin.
static void ball_rolls_to_rest(void **state) {
  (void)state;
  const double slope = 0.3, mass = 2.0, r = 0.1, k = 50.0, anchor[3] = {0, r, 0};
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(g * sin(slope), -g * cos(slope), 0);
    as_body_def def = machine_round_body("ball", mass, 0.4 * mass * r * r, se3);
    def.position[0] = 1.1;
    def.position[1] = r;
    def.position[2] = 0.4; // off its line: it will roll to the side too
    const as_body_id ball = machine_body(b, &def);
    as_rolling_def roll = as_default_rolling_def();
    as_spring_def spring = as_default_spring_def();
    as_error error;
    roll.name = "ground";
    roll.shape = AS_ROLLING_SPHERE;
    roll.body[0] = AS_GROUND;
    roll.body[1] = ball;
    roll.normal[1] = 1.0;
    roll.radius = r;
    memcpy(roll.center, def.position, sizeof roll.center);
    if (as_builder_add_rolling(b, &roll, NULL, &error)) fail_msg("%s", error.message);
    spring.body[0] = AS_GROUND;
    spring.body[1] = ball;
    memcpy(spring.point[0], anchor, sizeof anchor);
    memcpy(spring.point[1], def.position, sizeof def.position);
    spring.stiffness = k;
    spring.length = 0.8;
    if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
    bench x = bench_make(b);
    const as_state *s = bench_rest(&x);
    const as_body_motion at = bench_body(&x, s, "ball");
    assert_near("along", at.x[0], 0.8 + mass * g * sin(slope) / k, 1e-12);
    assert_near("height", at.x[1], r, 1e-14);
    assert_near("side", at.x[2], 0.0, 1e-12);
    const as_reaction ground = bench_reaction(&x, s, "ground");
    assert_near("normal", ground.force[1], mass * g * cos(slope), 1e-11);
    assert_near("friction", hypot(ground.force[0], ground.force[2]), 0.0, 1e-11);
    assert_int_equal(x.found.degrees_of_freedom, 3);
    assert_int_equal(x.found.stability, AS_NEUTRAL);
    assert_int_equal(x.found.n_neutral, 1);
    bench_free(&x);
  }
}

// ---- any start ------------------------------------------------------------------------------------

/// A repeatable number between -1 and 1.
static double any(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) / 4503599627370496.0 - 1.0;
}

static void any_direction(uint64_t *seed, int n, double *out) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) out[i] = any(seed);
  for (int i = 0; i < n; ++i) sum += out[i] * out[i];
  for (int i = 0; i < n; ++i) out[i] /= sqrt(sum);
}

/// An arm of links in any position, with springs from their ends to anywhere.
static bench any_arm(uint64_t *seed, int links, double stiffness) {
  as_builder *b = machine_builder(0, 0, -g);
  double end[3] = {0};
  as_body_id last = AS_GROUND;
  as_error error;
  for (int i = 0; i < links; ++i) {
    as_body_def def = machine_round_body(NULL, exp(2.0 * any(seed)), 0.1, i % 2);
    as_joint_def joint = as_default_joint_def();
    as_spring_def spring = as_default_spring_def();
    double *q = def.quaternion, other[3];
    any_direction(seed, 4, q);
    const double along[3] = {1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]),
                             2.0 * (q[1] * q[2] + q[0] * q[3]), 2.0 * (q[1] * q[3] - q[0] * q[2])};
    for (int c = 0; c < 3; ++c) def.position[c] = end[c] + 0.5 * along[c];
    const as_body_id link = machine_body(b, &def);
    joint.kind = i == 0 ? AS_JOINT_UNIVERSAL : i == 1 ? AS_JOINT_REVOLUTE : AS_JOINT_SPHERICAL;
    joint.body[0] = last;
    joint.body[1] = link;
    memcpy(joint.point, end, sizeof end);
    any_direction(seed, 3, joint.axis);
    any_direction(seed, 3, other);
    for (int c = 0; c < 3; ++c) {
      const int u = (c + 1) % 3, v = (c + 2) % 3;
      joint.second_axis[c] = joint.axis[u] * other[v] - joint.axis[v] * other[u];
    }
    if (as_builder_add_joint(b, &joint, NULL, &error)) fail_msg("%s", error.message);
    spring.body[0] = AS_GROUND;
    spring.body[1] = last = link;
    for (int c = 0; c < 3; ++c) {
      end[c] += along[c];
      spring.point[0][c] = 3.0 * any(seed);
      spring.point[1][c] = end[c] + 0.2 * any(seed);
    }
    spring.stiffness = stiffness * exp(3.0 * any(seed));
    spring.length = 0.5 + fabs(any(seed));
    if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  }
  return bench_make(b);
}

static void any_start_ends_in_a_stable_place(void **state) {
  (void)state;
  const double stiffness[] = {0.01, 50.0, 1e4};
  uint64_t seed = 12345;
  for (int k = 0; k < 3; ++k) {
    int most = 0, pushed = 0;
    for (int i = 0; i < 60; ++i) {
      bench x = any_arm(&seed, 1 + i % 5, stiffness[k]);
      bench_rest(&x);
      if (x.found.stability != AS_STABLE)
        fail_msg("arm %d: stability %d, kappa %g", i, (int)x.found.stability, x.found.softest);
      // A billionth of the weights, or of the round-off of the stiff springs' forces.
      assert_true(x.found.unbalanced < 1e-10 * fmax(1.0, stiffness[k]));
      most = x.found.iterations > most ? x.found.iterations : most;
      pushed += x.found.pushed;
      bench_free(&x);
    }
    printf("  60 arms with springs of about %g N/m: at most %d iterations, %d pushed off\n",
           stiffness[k], most, pushed);
  }
}

// ---- buckling -------------------------------------------------------------------------------------

/// Two links of length l with a spring k between them, upright, pressed by P: V = k (2 a)^2 / 2 - 2 P l (1 - cos a),
/// so that it buckles at P = 2 k / l, and kappa = 3 (2 k - P l) / (m l^2).
static bench column(double tilt, double m, double l, double k, double force) {
  as_builder *b = machine_builder(0, 0, 0);
  const double line[3] = {0, 1, 0}, middle[3] = {l * sin(tilt), l * cos(tilt), 0};
  const double top[3] = {0, 2.0 * l * cos(tilt), 0}, load[3] = {0, -force, 0};
  const as_body_id lower = bench_link(b, "lower", m, l, 0, 0, 0.5 * pi - tilt, false);
  const as_body_id upper =
      bench_link(b, "upper", m, l, middle[0], middle[1], 0.5 * pi + tilt, true);
  machine_joint(b, "foot", AS_JOINT_REVOLUTE, AS_GROUND, lower, origin, z_axis);
  machine_joint(b, "knee", AS_JOINT_REVOLUTE, lower, upper, middle, z_axis);
  machine_joint(b, "guide", AS_JOINT_POINT_ON_LINE, AS_GROUND, upper, top, line);
  as_torsion_def spring = as_default_torsion_def();
  as_error error;
  spring.body[0] = lower;
  spring.body[1] = upper;
  spring.axis[2] = 1.0;
  spring.stiffness = k;
  spring.angle = -2.0 * tilt;
  if (as_builder_add_torsion(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  bench_load(b, "load", upper, top, load, NULL);
  return bench_make(b);
}

static void column_buckles_at_its_load(void **state) {
  (void)state;
  const double m = 0.7, l = 0.6, k = 5.0, critical = 2.0 * k / l;
  const double part[] = {0.0, 0.5, 0.999999, 1.000001, 1.5};
  for (int i = 0; i < 5; ++i) {
    const double force = part[i] * critical;
    bench x = column(0.0, m, l, k, force);
    bench_rest(&x);
    assert_int_equal(x.found.stability, part[i] < 1.0 ? AS_STABLE : AS_UNSTABLE);
    assert_near("kappa", x.found.softest, 3.0 * (2.0 * k - force * l) / (m * l * l), 1e-10);
    bench_free(&x);
  }
}

typedef struct buckled {
  double k, l, force;
} buckled;

static double buckled_torque(double angle, const void *user) {
  const buckled *d = user;
  return 2.0 * d->k * angle - d->force * d->l * sin(angle);
}

/// From a small tilt it goes to the buckled shape, 2 k a = P l sin a.
static void column_finds_its_buckled_shape(void **state) {
  (void)state;
  const buckled d = {5.0, 0.6, 1.2 * 10.0 / 0.6};
  const double exact = bench_root(buckled_torque, &d, 0.3, 2.0);
  const double tilts[] = {1e-3, -1e-3, 0.2};
  for (int i = 0; i < 3; ++i) {
    bench x = column(tilts[i], 0.7, d.l, d.k, d.force);
    const double angle = 0.5 * pi - bench_angle(&x, bench_rest(&x), "lower");
    assert_near("tilt", angle, tilts[i] > 0.0 ? exact : -exact, 1e-13);
    assert_int_equal(x.found.stability, AS_STABLE);
    bench_free(&x);
  }
}

/// A pendulum, drawn exactly upright on a sprung table that is not yet where it comes to rest: the table sinks,
/// the upright position is found, and left.
static void symmetric_start_is_pushed_off(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, -g, 0);
  const double up[3] = {0, 1, 0}, below[3] = {0, -1, 0};
  as_body_def table = machine_round_body("table", 4.0, 0.1, false);
  const as_body_id t = machine_body(b, &table);
  const as_body_id rod = bench_link(b, "rod", 1.0, 1.0, 0, 0, 0.5 * pi, false);
  machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, t, origin, up);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, t, rod, origin, z_axis);
  as_spring_def spring = as_default_spring_def();
  as_error error;
  spring.body[0] = AS_GROUND;
  spring.body[1] = t;
  memcpy(spring.point[0], below, sizeof below);
  spring.stiffness = 200.0;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  bench x = bench_make(b);
  const as_state *s = bench_rest(&x);
  assert_true(x.found.pushed);
  assert_int_equal(x.found.stability, AS_STABLE);
  assert_near("angle", bench_angle(&x, s, "rod"), -0.5 * pi, 1e-13);
  assert_near("table", bench_body(&x, s, "table").x[1], -5.0 * g / 200.0, 1e-14);
  bench_free(&x);
}

// ---- free motions, and no rest --------------------------------------------------------------------

static void free_motions_are_neutral(void **state) {
  (void)state;
  const double x_axis[3] = {1, 0, 0};
  as_builder *b = machine_builder(0, -g, 0);
  as_body_def cart = machine_round_body("cart", 4.0, 0.1, false);
  const as_body_id c = machine_body(b, &cart);
  const as_body_id rod = bench_link(b, "rod", 1.0, 1.0, 0, 0, 0.3, false);
  machine_joint(b, "rail", AS_JOINT_PRISMATIC, AS_GROUND, c, origin, x_axis);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, c, rod, origin, z_axis);
  bench x = bench_make(b);
  const as_state *s = bench_rest(&x);
  assert_near("angle", bench_angle(&x, s, "rod"), -0.5 * pi, 1e-14);
  assert_int_equal(x.found.stability, AS_NEUTRAL);
  assert_int_equal(x.found.n_neutral, 1);
  assert_int_equal(x.found.n_negative, 0);
  // The centre of mass moves straight down.
  assert_near("centre", 4.0 * bench_body(&x, s, "cart").x[0] + bench_body(&x, s, "rod").x[0],
              0.5 * cos(0.3), 1e-6);
  bench_free(&x);

  b = machine_builder(0, 0, 0);
  as_body_def stone = machine_round_body("stone", 4.0, 0.1, true);
  machine_body(b, &stone);
  x = bench_make(b);
  bench_rest(&x);
  assert_int_equal(x.found.stability, AS_NEUTRAL);
  assert_int_equal(x.found.n_neutral, 6);
  bench_free(&x);
}

static void expect_no_rest(bench *x, const char *culprit) {
  as_equilibrium untouched = {.iterations = -7};
  const as_status status =
      as_analysis_equilibrium(x->analysis, as_model_initial(x->model), &untouched, &x->error);
  assert_int_equal(status, AS_ERR_CONVERGENCE);
  assert_int_equal(untouched.iterations, -7);
  printf("  %s\n", x->error.message);
  assert_non_null(strstr(x->error.message, "No equilibrium was found"));
  assert_non_null(strstr(x->error.message, culprit));
  assert_non_null(strstr(x->error.component, culprit));
}

static void falling_body_is_named(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, -g, 0);
    const as_body_id rod = bench_link(b, "rod", 20.0, 1.0, 0, 0, 1.0, false);
    machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, rod, origin, z_axis);
    as_body_def ball = machine_round_body("ball", 0.5, 0.1, se3);
    ball.position[0] = 3.0;
    machine_body(b, &ball);
    bench x = bench_make(b);
    expect_no_rest(&x, "body \"ball\"");
    assert_non_null(strstr(x.error.message, "-9.81"));
    bench_free(&x);
  }
}

static void driven_rotor_is_named(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def rotor = machine_round_body("rotor", 1.0, 0.2, false);
  const as_body_id r = machine_body(b, &rotor);
  as_load_def motor = as_default_load_def();
  as_error error;
  machine_joint(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, r, origin, z_axis);
  motor.body = r;
  motor.torque[2] = 3.0;
  if (as_builder_add_load(b, &motor, NULL, &error)) fail_msg("%s", error.message);
  bench x = bench_make(b);
  expect_no_rest(&x, "body \"rotor\", rotation z");
  bench_free(&x);
}

// ---- time stands still ----------------------------------------------------------------------------

/// x = t^3: at t = 0.5 s the support accelerates with 3 m/s^2, but time is held.
static int cubic(double t, double out[3], void *user) {
  (void)user;
  out[0] = t * t * t;
  out[1] = 3.0 * t * t;
  out[2] = 6.0 * t;
  return AS_DONE;
}

static void time_is_held(void **state) {
  (void)state;
  const double x_axis[3] = {1, 0, 0};
  const as_curve law = {.function = cubic};
  as_builder *b = machine_builder(0, -g, 0);
  as_body_def cart = machine_round_body("cart", 4.0, 0.1, false);
  const as_body_id c = machine_body(b, &cart);
  const as_body_id rod = bench_link(b, "rod", 1.0, 1.0, 0, 0, 0.3, false);
  const as_joint_id rail =
      machine_joint(b, "rail", AS_JOINT_PRISMATIC, AS_GROUND, c, origin, x_axis);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, c, rod, origin, z_axis);
  bench_motion(b, "drive", rail, &law);
  bench x = bench_make(b);
  as_initial initial = *as_model_initial(x.model);
  initial.t = 0.5;
  if (as_analysis_equilibrium(x.analysis, &initial, &x.found, &x.error))
    fail_msg("%s", x.error.message);
  const as_state *s = as_analysis_state(x.analysis);
  assert_near("angle", bench_angle(&x, s, "rod"), -0.5 * pi, 1e-14);
  assert_near("cart", bench_body(&x, s, "cart").x[0], 0.125, 1e-14);
  assert_near("drive", bench_lambda(&x, s, "drive"), 0.0, 1e-12);
  assert_true(s->t == 0.5);
  bench_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_hangs),
      cmocka_unit_test(upright_pendulum_stays),
      cmocka_unit_test(lever_on_a_spring),
      cmocka_unit_test(chain_hangs_as_a_catenary),
      cmocka_unit_test(long_chain_is_solved_sparsely),
      cmocka_unit_test(four_bar_with_redundant_rows),
      cmocka_unit_test(row_of_four_bars),
      cmocka_unit_test(door_on_two_hinges),
      cmocka_unit_test(nut_comes_down_on_a_stop),
      cmocka_unit_test(geared_pendulum_meets_a_stop),
      cmocka_unit_test(ball_comes_down_on_a_plane),
      cmocka_unit_test(ball_rolls_to_rest),
      cmocka_unit_test(any_start_ends_in_a_stable_place),
      cmocka_unit_test(column_buckles_at_its_load),
      cmocka_unit_test(column_finds_its_buckled_shape),
      cmocka_unit_test(symmetric_start_is_pushed_off),
      cmocka_unit_test(free_motions_are_neutral),
      cmocka_unit_test(falling_body_is_named),
      cmocka_unit_test(driven_rotor_is_named),
      cmocka_unit_test(time_is_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
