/// Beams at rest: tangents of whole machines, references of statics by convergence, section forces, refusals.
///
/// References are solutions of the Cosserat equations by shooting, of order 8, to 12 digits.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "beams.h"
#include "core/kinematics/problem.h"
#include "drive.h"
#include "elements/vector.h"
#include "machines.h"
#include "rig.h"

#define PI 3.14159265358979323846

static const double none[3] = {0.0, 0.0, 0.0}, ex[3] = {1.0, 0.0, 0.0}, ey[3] = {0.0, 1.0, 0.0};

/// Coupled, curved and loaded, heavy, damped, on bodies off their centres: all blocks against differences.
static void test_blocks(void **state) {
  (void)state;
  for (int c = 0; c < 6; ++c) {
    as_builder *b = machine_builder(1.0, -2.0, -9.0);
    as_body_def hub = as_default_body_def();
    as_body_id body;
    as_error error;
    hub.mass = 2.0;
    for (int k = 0; k < 3; ++k) hub.inertia[k] = 0.3 + 0.1 * k;
    asi_set(-0.2, 0.1, 0.05, hub.position);
    asi_set(0.3, -0.5, 1.0, hub.angular_velocity);
    assert_int_equal(as_builder_add_body(b, &hub, &body, &error), AS_OK);
    as_beam_section section =
        beam_section((double[6]){900, 300, 400, 20, 30, 50}, 1.5, (double[3]){0.05, 0.02, 0.03});
    section.stiffness[3] = section.stiffness[18] = 15.0;
    section.stiffness[10] = section.stiffness[25] = -9.0;
    section.center[0] = c % 2 ? 0.03 : 0.0;
    section.center[1] = c % 2 ? -0.02 : 0.0;
    as_beam_station station[4];
    for (int i = 0; i < 4; ++i) {
      const double s = 0.35 * i;
      asi_set(sin(s), 1.0 - cos(s), 0.1 * i, station[i].position);
      beam_axes((double[3]){cos(s), sin(s), 0.28}, (double[3]){-sin(s), cos(s), 0.2 * i},
                station[i].quaternion);
      station[i].body = AS_NO_BODY;
    }
    station[0].body = c >= 4 ? AS_GROUND : body;
    const as_curve load[2] = {{.formula = "3*s - t"}, {.constant = 2.0, .slope = -1.0}};
    as_beam_def def = as_default_beam_def();
    def.station = station;
    def.n_stations = 4;
    def.section = &section;
    def.mass = c < 2 ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
    def.damping = c % 3 ? 0.02 : 0.0;
    def.load[1] = &load[0];
    def.following[2] = &load[1];
    asi_set(0.5, 1.0, -2.0, def.velocity);
    asi_set(1.0, 2.0, 3.0, def.angular_velocity);
    if (as_builder_add_beam(b, &def, NULL, &error)) fail_msg("%s", error.message);
    as_model *m = machine_build(b);
    as_check_def check = as_default_check_def();
    as_check_report report;
    check.near = (as_point){.q = as_model_initial(m)->q, .v = as_model_initial(m)->v};
    if (as_problem_check(as_model_problem(m), &check, &report, &error))
      fail_msg("case %d: %s", c, error.message);
    assert_true(c < 2 || report.block[AS_BLOCK_MA_Q] < 1e-6);
    as_model_destroy(m);
  }
}

/// A cantilever along x in a builder without gravity.
static as_builder *cantilever(as_beam_def *def, int n, double length) {
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  beam_straight(b, def, n, none, (double[3]){length, 0.0, 0.0}, ey, AS_GROUND, AS_NO_BODY);
  return b;
}

/// Rest of a load that grows in `steps` steps.
static const as_state *grow(bench *x, int steps) {
  double at[64];
  as_sweep_def sweep = as_default_sweep_def();
  for (int i = 0; i < steps; ++i) at[i] = (double)(i + 1) / steps;
  sweep.values = at;
  sweep.n_values = steps;
  as_initial initial = *as_model_initial(x->model);
  initial.t = at[0];
  if (as_analysis_sweep(x->analysis, &initial, &sweep, NULL, &x->error))
    fail_msg("%s", x->error.message);
  return as_analysis_state(x->analysis);
}

static as_body_motion tip_of(const bench *x, const as_state *s) {
  as_body_motion at;
  as_model_body_motion(x->model, s,
                       as_model_beam_node(x->model, (as_beam_id){0},
                                          as_model_beam_stations(x->model, (as_beam_id){0}) - 1),
                       &at);
  return at;
}

/// Rolled up by a moment at its end: a circle, exactly, for any number of elements and both stiffnesses.
static void test_rollup(void **state) {
  (void)state;
  const as_beam_section section =
      beam_section((double[6]){1e4, 5e3, 5e3, 100, 100, 100}, 1.0, (double[3]){0.02, 0.01, 0.01});
  const as_curve factor = {.slope = 1.0};
  for (int c = 0; c < 3; ++c) {
    const int n = c == 0 ? 4 : 8;
    const double phi = c == 2 ? 2.0 * PI : PI / 2.0;
    as_beam_def def = as_default_beam_def();
    def.section = &section;
    def.plain = c == 1;
    as_builder *b = cantilever(&def, n, 10.0);
    beam_push(b, as_builder_beam_node(b, (as_beam_id){0}, n), none, (double[3]){0, 0, 10.0 * phi},
              false, &factor);
    bench x = bench_make(b);
    const as_state *s = grow(&x, 24);
    const as_body_motion tip = tip_of(&x, s);
    assert_near("x", tip.x[0], 10.0 * sin(phi) / phi, 2e-9);
    assert_near("y", tip.x[1], 10.0 * (1.0 - cos(phi)) / phi, 2e-9);
    for (int i = 0; i <= n; ++i) {
      as_beam_state at;
      assert_int_equal(as_model_beam_state(x.model, s, (as_beam_id){0}, i, &at, &x.error), AS_OK);
      assert_near("moment", at.moment[2], 10.0 * phi, 1e-6);
      assert_near("bending", at.bend[2], phi / 10.0, 1e-8);
      assert_near("force", asi_norm(at.force), 0.0, 1e-6);
    }
    bench_free(&x);
  }
}

typedef struct errors {
  double tip, moment;
} errors;

/// The bend of 45 degrees, radius 100, with a force of 600 across its plane.
static errors bend45(int n, bool plain) {
  const as_beam_section section = beam_section(
      (double[6]){1e7, 4166670, 4166670, 833300, 833300, 833300}, 1.0, (double[3]){2, 1, 1});
  static const double reference[3] = {-23.56129678571395, -13.605023009644047, 53.47610814028268},
                      root[3] = {9410.5793230207, -28289.62879976449, 0.0};
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_beam_station station[17];
  const as_curve factor = {.slope = 1.0};
  as_error error;
  for (int i = 0; i <= n; ++i) {
    const double a = PI / 4.0 * i / n;
    asi_set(100.0 * sin(a), 100.0 * (1.0 - cos(a)), 0.0, station[i].position);
    beam_axes((double[3]){cos(a), sin(a), 0.0}, (double[3]){-sin(a), cos(a), 0.0},
              station[i].quaternion);
    station[i].body = i ? AS_NO_BODY : AS_GROUND;
  }
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = n + 1;
  def.section = &section;
  def.plain = plain;
  if (as_builder_add_beam(b, &def, NULL, &error)) fail_msg("%s", error.message);
  beam_push(b, as_builder_beam_node(b, (as_beam_id){0}, n), (double[3]){0, 0, 600.0}, none, false,
            &factor);
  bench x = bench_make(b);
  const as_state *s = grow(&x, 6);
  const as_body_motion tip = tip_of(&x, s);
  as_beam_state at;
  double u[3], M[3];
  assert_int_equal(as_model_beam_state(x.model, s, (as_beam_id){0}, 0, &at, &x.error), AS_OK);
  asi_sum(tip.x, -1.0, station[n].position, u);
  asi_add(-1.0, reference, u);
  asi_sum(at.moment, -1.0, root, M); // axes of the root are the world's
  bench_free(&x);
  return (errors){asi_norm(u), asi_norm(M)};
}

static void test_bend45(void **state) {
  (void)state;
  const errors a = bend45(4, false), b = bend45(8, false), c = bend45(16, false);
  assert_true(a.tip < 9e-3 && c.tip < 5.5e-5 && c.moment < 0.02);
  assert_true(log2(a.tip / b.tip) > 3.7 && log2(b.tip / c.tip) > 3.7);
  assert_true(log2(a.moment / b.moment) > 3.7 && log2(b.moment / c.moment) > 3.7);
  const errors d = bend45(4, true), e = bend45(8, true);
  assert_true(d.tip > 50.0 * a.tip);
  assert_near("order of K", log2(d.tip / e.tip), 2.0, 0.1);
  assert_near("order of K, moment", log2(d.moment / e.moment), 2.0, 0.1);
}

static double follower_error(int n, bool along) {
  const as_beam_section section =
      beam_section((double[6]){1e4, 5e3, 5e3, 1, 1, 1}, 1.0, (double[3]){0.02, 0.01, 0.01});
  const as_curve factor = {.slope = 1.0}, load = {.formula = "10*t"};
  as_beam_def def = as_default_beam_def();
  def.section = &section;
  if (along) def.following[2] = &load;
  as_builder *b = cantilever(&def, n, 1.0);
  if (!along)
    beam_push(b, as_builder_beam_node(b, (as_beam_id){0}, n), (double[3]){0, 0, 2.0}, none, true,
              &factor);
  bench x = bench_make(b);
  const as_body_motion tip = tip_of(&x, grow(&x, 10));
  const double dx = tip.x[0] - (along ? 0.3537192695326 : 0.7670731837035),
               dz = tip.x[2] - (along ? 0.8304672946297 : 0.5741041845487);
  bench_free(&x);
  return hypot(dx, dz);
}

static void test_follower_loads(void **state) {
  (void)state;
  assert_near("tip force, n = 4", follower_error(4, false), 4.6e-5, 1e-5);
  assert_near("n = 8", follower_error(8, false), 2.9e-6, 5e-7);
  assert_near("along it, n = 4", follower_error(4, true), 7.5e-4, 1e-4);
  assert_near("n = 8", follower_error(8, true), 4.6e-5, 5e-6);
}

/// Twisted by 90 degrees: linear and large loads.
static void test_pretwisted(void **state) {
  (void)state;
  const double E = 29e6, G = E / 2.44, w = 1.1, t = 0.32, A = w * t;
  const as_beam_section section =
      beam_section((double[6]){E * A, 5.0 / 6.0 * G * A, 5.0 / 6.0 * G * A, 116644.63137889343,
                               E * t * w * w * w / 12.0, E * w * t * t * t / 12.0},
                   1.0, (double[3]){0.02, 0.01, 0.01});
  static const double reference[3] = {-1.188879127199, 4.617085477582, 1.342363853852};
  double error[2];
  for (int c = 0; c < 3; ++c) {
    const int n = c == 0 ? 3 : c == 1 ? 8 : 16;
    as_builder *b = machine_builder(0.0, 0.0, 0.0);
    as_beam_station station[17];
    const as_curve factor = {.slope = 1.0};
    as_error slip;
    for (int i = 0; i <= n; ++i) {
      const double a = PI / 2.0 * i / n;
      asi_set(12.0 * i / n, 0.0, 0.0, station[i].position);
      beam_axes(ex, (double[3]){0.0, cos(a), sin(a)}, station[i].quaternion);
      station[i].body = i ? AS_NO_BODY : AS_GROUND;
    }
    as_beam_def def = as_default_beam_def();
    def.station = station;
    def.n_stations = n + 1;
    def.section = &section;
    if (as_builder_add_beam(b, &def, NULL, &slip)) fail_msg("%s", slip.message);
    const double force = c == 0 ? 1e-3 : 1000.0;
    beam_push(b, as_builder_beam_node(b, (as_beam_id){0}, n), (double[3]){0, force, 0}, none, false,
              &factor);
    bench x = bench_make(b);
    const as_body_motion tip = tip_of(&x, grow(&x, c == 0 ? 1 : 6));
    if (c == 0) { // exact at the nodes
      assert_near("along the force", tip.x[1] / force, 0.005429321478369, 2e-9);
      assert_near("across", tip.x[2] / force, 0.001718743864653, 2e-9);
    } else {
      const double u[3] = {tip.x[0] - 12.0 - reference[0], tip.x[1] - reference[1],
                           tip.x[2] - reference[2]};
      error[c - 1] = asi_norm(u);
    }
    bench_free(&x);
  }
  assert_true(error[0] < 0.02 && log2(error[0] / error[1]) > 1.9);
}

/// Twisted by 90 degrees, with a small load that is normal to the sections: by quadrature of the straight beam's equations.
static double twisted_error(int n) {
  const as_beam_section section = beam_section((double[6]){2e7, 1e7, 1e7, 300.0, 100.0, 2000.0},
                                               1.0, (double[3]){1e-4, 5e-5, 5e-5});
  static const double exact[3] = {1.0, -3.0868395605773776e-6, 6.971088828591339e-6};
  const as_curve load = {.constant = 0.01};
  as_beam_station station[9];
  as_error error;
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  for (int i = 0; i <= n; ++i) {
    const double a = PI / 2.0 * i / n;
    asi_set((double)i / n, 0.0, 0.0, station[i].position);
    beam_axes(ex, (double[3]){0.0, cos(a), sin(a)}, station[i].quaternion);
    station[i].body = i ? AS_NO_BODY : AS_GROUND;
  }
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = n + 1;
  def.section = &section;
  def.following[2] = &load;
  if (as_builder_add_beam(b, &def, NULL, &error)) fail_msg("%s", error.message);
  bench x = bench_make(b);
  as_body_motion tip = tip_of(&x, grow(&x, 1));
  asi_add(-1.0, exact, tip.x);
  bench_free(&x);
  return asi_norm(tip.x) / 7.62e-6;
}

static void test_load_on_twisted(void **state) {
  (void)state;
  const double two = twisted_error(2), four = twisted_error(4), eight = twisted_error(8);
  assert_true(two < 5e-3 && four < 3e-4 && eight < 2e-5);
  assert_true(log2(two / four) > 3.7 && log2(four / eight) > 3.7);
}

/// A closed ring, pressed together by two forces: half of it is given as n elements, its top is at (pi/4 - 2/pi) F R^3/EI + pi/4 F R (1/GA
/// + 1/EA) lower.
static double ring_error(int n) {
  const double R = 0.5, F = 1e-3, EA = 2e6, GA = 8e5, EI = 40.0;
  const as_beam_section section =
      beam_section((double[6]){EA, GA, GA, 30.0, EI, EI}, 1.0, (double[3]){1e-4, 5e-5, 5e-5});
  as_beam_station station[33];
  as_error error;
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  for (int i = 0; i <= 2 * n; ++i) {
    const double a = PI * i / n;
    asi_set(R * sin(a), R * (1.0 - cos(a)), 0.0, station[i].position);
    beam_axes((double[3]){cos(a), sin(a), 0.0}, (double[3]){-sin(a), cos(a), 0.0},
              station[i].quaternion);
    station[i].body = i % (2 * n) ? AS_NO_BODY : AS_GROUND;
  }
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = 2 * n + 1;
  def.section = &section;
  if (as_builder_add_beam(b, &def, NULL, &error)) fail_msg("%s", error.message);
  const as_body_id top = as_builder_beam_node(b, (as_beam_id){0}, n);
  beam_push(b, top, (double[3]){0, -F, 0}, none, false, NULL);
  bench x = bench_make(b);
  as_body_motion at;
  as_model_body_motion(x.model, grow(&x, 1), top, &at);
  const double exact =
      (PI / 4.0 - 2.0 / PI) * F * R * R * R / EI + PI / 4.0 * F * R * (1.0 / GA + 1.0 / EA);
  const double down = 2.0 * R - at.x[1];
  bench_free(&x);
  return fabs(down / exact - 1.0);
}

static void test_ring(void **state) {
  (void)state;
  for (int n = 4; n <= 16; n *= 2) assert_true(ring_error(n) < 2e-6); // exact at nodes
}

/// A taper under its weight and a load: the root carries them exactly, the tip comes by the fourth order.
static int taper(double s, as_beam_section *out, void *user) {
  const double h = 1.0 - 0.5 * s;
  (void)user;
  *out = beam_section(
      (double[6]){1e5 * h, 4e4 * h, 4e4 * h, 50 * h * h * h, 80 * h * h * h, 60 * h * h * h},
      2.0 * h, (double[3]){0.02 * h, 0.01 * h, 0.01 * h});
  return 0;
}

static void test_taper_and_weight(void **state) {
  (void)state;
  double tip[4];
  for (int c = 0; c < 4; ++c) {
    const int n = 2 << c;
    as_builder *b = machine_builder(0, 0, -10.0);
    const as_curve load = {.formula = "-4*s"};
    as_beam_def def = as_default_beam_def();
    def.section_at = taper;
    def.load[2] = &load;
    beam_straight(b, &def, n, none, ex, ey, AS_GROUND, AS_NO_BODY);
    bench x = bench_make(b);
    const as_state *s = bench_rest(&x);
    as_beam_state at;
    assert_int_equal(as_model_beam_state(x.model, s, (as_beam_id){0}, 0, &at, &x.error), AS_OK);
    assert_near("weight and load at the root", at.force[2], -15.0 - 2.0, 1e-8);
    // -int s (20 (1 - s/2) + 4 s): about y it is positive, the arms are shortened a little
    assert_near("moment", at.moment[1], 20.0 / 3.0 + 4.0 / 3.0, 5e-2);
    tip[c] = tip_of(&x, s).x[2];
    assert_int_equal(as_model_beam_state(x.model, s, (as_beam_id){0}, n, &at, &x.error), AS_OK);
    assert_near("force at the free end", asi_norm(at.force), 0.0, 1e-9);
    assert_near("moment at the free end", asi_norm(at.moment), 0.0, 1e-9);
    assert_near("deflection", at.deflection[2], tip[c], 1e-12);
    bench_free(&x);
  }
  const double first = tip[0] - tip[3], second = tip[1] - tip[3], third = tip[2] - tip[3];
  assert_true(fabs(first) < 1e-2 && fabs(second / first) < 0.12 && fabs(third / second) < 0.12);
}

/// Fixed between two bodies on SE(3) with lumped mass, as a twin on R^3xSO(3).
static void test_refused(void **state) {
  (void)state;
  const as_beam_section good =
      beam_section((double[6]){1, 1, 1, 1, 1, 1}, 1.0, (double[3]){0.02, 0.01, 0.01});
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_error error;
  as_beam_station two[2] = {{{0, 0, 0}, {1, 0, 0, 0}, AS_GROUND},
                            {{1, 0, 0}, {1, 0, 0, 0}, AS_NO_BODY}};
  as_beam_def def = as_default_beam_def();
  as_beam_section bad = good;
  def.name = "blade";
  def.station = two;
  def.n_stations = 1;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "has 1 stations");
  def.n_stations = 2;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "has no section");
  def.section = &bad;
  bad.stiffness[7] = -1.0;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "has -1 in row 2, column 2");
  bad = good;
  bad.stiffness[1] = 0.5;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "is not symmetric");
  bad.stiffness[6] = 0.5, bad.stiffness[1] = 0.5, bad.stiffness[0] = 0.2;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "is not positive definite");
  bad = good;
  bad.mass = (double)NAN;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "has the mass nan kg/m");
  bad = good;
  bad.inertia[0] = 0.0;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error,
                 "inertia 0 kg m about its axis x");
  def.section = &good;
  two[1].position[0] = 0.0;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "are in one place");
  two[1].position[0] = -1.0;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "not along its line");
  two[1].position[0] = 1.0;
  beam_axes((double[3]){0.2, 1, 0}, (double[3]){-1, 0.2, 0}, two[1].quaternion);
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "it needs more elements");
  beam_axes(ex, ey, two[1].quaternion);
  two[0].body = (as_body_id){7};
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "body 7, which is not there");
  two[0].body = AS_GROUND;
  def.damping = -1.0;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error,
                 "damping of beam \"blade\" is -1");
  def.damping = 0.0;
  def.angular_velocity[2] = 100.0;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "it needs 4 or more");
  def.angular_velocity[2] = 0.0;
  const as_curve slip = {.formula = "2*ss"};
  def.load[0] = &slip;
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "ss");
  def.load[0] = NULL;
  // Nothing is left of what was refused.
  assert_int_equal(as_builder_add_beam(b, &def, NULL, &error), AS_OK);
  expect_refused(as_builder_add_beam(b, &def, NULL, &error), &error, "two beams named \"blade\"");
  as_model *m = machine_build(b);
  assert_int_equal(as_model_bodies(m), 1);
  assert_string_equal(as_model_body_name(m, (as_body_id){0}), "blade.1");
  assert_int_equal(as_model_find_body(m, "blade.1").index, 0);
  as_model_destroy(m);
}

/// On SE(3) only lumped mass may be.
static void test_spaces(void **state) {
  (void)state;
  const as_beam_section section =
      beam_section((double[6]){900, 300, 400, 20, 30, 50}, 1.5, (double[3]){0.05, 0.02, 0.03});
  double end[2][3];
  for (int c = 0; c < 3; ++c) {
    as_builder *b = machine_builder(0, 0, -9.81);
    as_body_def hub = machine_round_body("hub", 2.0, 0.3, c > 0);
    as_body_id body;
    as_error error;
    asi_set(1.0, 2.0, 3.0, hub.angular_velocity);
    assert_int_equal(as_builder_add_body(b, &hub, &body, &error), AS_OK);
    as_beam_def def = as_default_beam_def();
    def.section = &section;
    def.mass = c < 2 ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
    beam_straight(b, &def, 3, none, ex, ey, body, AS_NO_BODY);
    as_model *m = NULL;
    const as_status status = as_builder_build(b, &m, &error);
    as_builder_destroy(b);
    if (c == 2) {
      expect_refused(status, &error, "is on SE(3)");
      continue;
    }
    as_integrator *run;
    const as_state *s = drive_to(m, AS_METHOD_INDEX3, 1e-3, 0.2, &run);
    as_body_motion at;
    as_model_body_motion(m, s, as_model_find_body(m, "beam 0.3"), &at);
    asi_copy(at.x, end[c]);
    as_integrator_destroy(run);
    as_model_destroy(m);
  }
  for (int k = 0; k < 3; ++k) assert_near("twin", end[0][k], end[1][k], 1e-5);
}

/// How large a machine is: an element of a beam, or a body, where joints are beside centres by round-off.
static void test_length(void **state) {
  (void)state;
  const as_beam_section section =
      beam_section((double[6]){900, 300, 400, 20, 30, 50}, 1.5, (double[3]){0.05, 0.02, 0.03});
  for (int c = 0; c < 2; ++c) {
    as_builder *b = machine_builder(0, 0, 0);
    as_body_def wheel = machine_round_body("wheel", 2.0, 0.5, false);
    const as_body_id body = machine_body(b, &wheel);
    machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, body, (double[3]){0.0, 0.0, 1e-17},
                  (double[3]){1, 0, 0});
    as_beam_def def = as_default_beam_def();
    def.section = &section;
    if (c == 1) beam_straight(b, &def, 4, none, (double[3]){8.0, 0.0, 0.0}, ey, body, AS_NO_BODY);
    as_model *m = machine_build(b);
    assert_near("length", as_model_problem(m)->length, c == 0 ? 0.5 : 2.0, 1e-12);
    as_model_destroy(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks),     cmocka_unit_test(test_rollup),
      cmocka_unit_test(test_bend45),     cmocka_unit_test(test_follower_loads),
      cmocka_unit_test(test_pretwisted), cmocka_unit_test(test_taper_and_weight),
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_spaces),
      cmocka_unit_test(test_length),     cmocka_unit_test(test_load_on_twisted),
      cmocka_unit_test(test_ring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
