/// Beams at rest from files against closed forms, shooting and published limit loads: by convergence in the number of elements, along branches
/// through limit points and buckling.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/beam.h"
#include "alphastep/io.h"
#include "elements/vector.h"
#include "files.h"
#include "rig.h"

enum { MOST_POINTS = 400, KEPT = 8 };
#define PI 3.14159265358979323846

/// A machine from a file at rest.
typedef struct rest {
  as_machine *machine;
  as_analysis *analysis;
  int n;
} rest;

static rest load(const char *name, int n, const char *const *settings, int n_settings) {
  char path[128], count[32];
  const char *all[KEPT] = {count};
  const as_analysis_def def = as_default_analysis_def();
  as_error error;
  rest x = {.n = n};
  snprintf(path, sizeof path, "tests/files/good/beams/%s.yaml", name);
  snprintf(count, sizeof count, "parameters.n=%d", n);
  for (int i = 0; i < n_settings; ++i) all[i + 1] = settings[i];
  x.machine = files_load(path, all, n_settings + 1);
  if (as_analysis_create(as_model_problem(x.machine->model), &def, &x.analysis, &error))
    fail_msg("%s", error.message);
  return x;
}

static void unload(rest *x) {
  as_analysis_destroy(x->analysis);
  as_machine_destroy(x->machine);
}

/// Its load, which is t, grows to 1.
static void grow(const rest *x, int steps) {
  double at[64];
  as_error error;
  as_sweep_def sweep = as_default_sweep_def();
  for (int i = 0; i < steps; ++i) at[i] = (double)(i + 1) / steps;
  sweep.values = at;
  sweep.n_values = steps;
  as_initial initial = *as_model_initial(x->machine->model);
  initial.t = at[0];
  if (as_analysis_sweep(x->analysis, &initial, &sweep, NULL, &error)) fail_msg("%s", error.message);
}

static as_beam_state section(const rest *x, int station) {
  as_beam_state out;
  as_error error;
  if (as_model_beam_state(x->machine->model, as_analysis_state(x->analysis), (as_beam_id){0},
                          station, &out, &error))
    fail_msg("%s", error.message);
  return out;
}

/// Distance of three numbers from those of a reference.
static double distance(const double *found, const double *reference) {
  double d[3];
  asi_sum(found, -1.0, reference, d);
  return asi_norm(d);
}

// ---- branches ---------------------------------------------------------------------------------------

typedef struct record {
  as_continuation_point point[MOST_POINTS];
  int count;
} record;

static int note(const as_continuation_point *p, void *user) {
  record *r = user;
  assert_true(r->count < MOST_POINTS);
  r->point[r->count++] = *p;
  return 0;
}

/// The value of the first point of a kind.
static double first(const record *r, as_continuation_kind kind) {
  for (int i = 0; i < r->count; ++i)
    if (r->point[i].kind == kind) return r->point[i].value;
  fail_msg("no such point on the branch");
  return 0.0;
}

static void follow(const rest *x, double to, int branch, record *r) {
  as_continuation_def path = as_default_continuation_def();
  as_continuation_report report;
  as_error error;
  path.from = 0.0;
  path.to = to;
  path.turned = -2.0 * to;
  path.branch = branch;
  path.receive = note;
  path.user = r;
  r->count = 0;
  if (as_analysis_continue(x->analysis, as_model_initial(x->machine->model), &path, &report,
                           &error))
    fail_msg("%s", error.message);
  assert_true(report.arrived);
}

// ---- loads ------------------------------------------------------------------------------------------

enum { TIP, ROOT, ERRORS };

/// Errors of the tip and of the root's moment of the bend of 45 degrees.
static void bend(int n, const char *force, bool plain, const double *u, const double *root,
                 double error[ERRORS]) {
  const char *const settings[] = {force, "beams.bend.plain=true"};
  rest x = load("bend45", n, settings, plain ? 2 : 1);
  grow(&x, 6);
  const double tip[3] = {100.0 * sin(PI / 4.0) + u[0], 100.0 * (1.0 - cos(PI / 4.0)) + u[1], u[2]};
  error[TIP] = distance(section(&x, n).position, tip);
  // Axes of the first section: x, then y towards the centre: the world's.
  error[ROOT] = distance(section(&x, 0).moment, root);
  unload(&x);
}

static void test_bend(void **state) {
  (void)state;
  static const struct {
    const char *force;
    double u[3], root[3];
  } cases[] = {{"parameters.F=300",
                {-11.932364257191693, -7.044980335476382, 40.19326644270517},
                {6673.302463760651, -17633.494158438913, 0.0}},
               {"parameters.F=450",
                {-18.47310878581866, -10.781646734469781, 48.50424213885073},
                {8328.453816093961, -23506.906199776233, 0.0}},
               {"parameters.F=600",
                {-23.56129678571395, -13.605023009644047, 53.47610814028268},
                {9410.5793230207, -28289.62879976449, 0.0}}};
  for (int i = 0; i < 3; ++i) {
    double error[3][ERRORS], plain[2][ERRORS];
    for (int c = 0; c < 3; ++c)
      bend(4 << c, cases[i].force, false, cases[i].u, cases[i].root, error[c]);
    for (int c = 0; c < 2; ++c)
      bend(4 << c, cases[i].force, true, cases[i].u, cases[i].root, plain[c]);
    print_message("  %s: %.1e %.1e %.1e, root %.1e %.1e %.1e; plain %.1e %.1e\n", cases[i].force,
                  error[0][TIP], error[1][TIP], error[2][TIP], error[0][ROOT], error[1][ROOT],
                  error[2][ROOT], plain[0][TIP], plain[1][TIP]);
    for (int c = 0; c < 2; ++c)
      for (int k = 0; k < ERRORS; ++k) assert_true(error[c + 1][k] < error[c][k] / 12.0);
    assert_true(error[2][TIP] < 3.6e-5 && error[2][ROOT] < 1.5e-2);
    for (int k = 0; k < ERRORS; ++k) {
      assert_true(plain[1][k] < plain[0][k] / 3.5 && plain[0][k] > 30.0 * error[0][k]);
    }
  }
}

/// A circle for any number of elements.
static void test_rollup(void **state) {
  (void)state;
  static const struct {
    const char *phi;
    double angle;
  } cases[] = {{"parameters.phi=pi/2", PI / 2.0},
               {"parameters.phi=pi", PI},
               {"parameters.phi=2*pi", 2.0 * PI}};
  for (int i = 0; i < 6; ++i) {
    const double phi = cases[i / 2].angle;
    const int n = i % 2 ? 8 : 3;
    rest x = load("rollup", n, &cases[i / 2].phi, 1);
    grow(&x, 24);
    const double tip[3] = {10.0 * sin(phi) / phi, 10.0 * (1.0 - cos(phi)) / phi, 0.0};
    assert_near("tip", distance(section(&x, n).position, tip), 0.0, 1e-8);
    for (int k = 0; k <= n; ++k) {
      const as_beam_state at = section(&x, k);
      const double moment[3] = {0.0, 0.0, 10.0 * phi};
      const double turned[3] = {cos(phi * k / n), sin(phi * k / n), 0.0},
                   along[3] = {at.R[0], at.R[3], at.R[6]};
      assert_near("moment", distance(at.moment, moment), 0.0, 1e-6);
      assert_near("force", asi_norm(at.force), 0.0, 1e-6);
      assert_near("axis", distance(along, turned), 0.0, 1e-8);
    }
    unload(&x);
  }
}

static void test_follower(void **state) {
  (void)state;
  static const struct {
    const char *F, *q;
    double x, z, angle, root;
  } cases[] = {{"parameters.F=2", "parameters.q=0", 0.7670731837035, 0.5741041845487,
                0.9682666683015, -1.815458625203},
               {"parameters.F=8", "parameters.q=0", -0.0744503198038, 0.632335462072,
                2.756828285083, -2.450786308742},
               {"parameters.F=0", "parameters.q=10", 0.3537192695326, 0.8304672946297,
                1.556245914851, (double)NAN}};
  for (int i = 0; i < 3; ++i) {
    double error[3][3];
    for (int c = 0; c < 3; ++c) {
      const int n = 4 << c;
      const char *const settings[] = {cases[i].F, cases[i].q};
      rest x = load("follower_load", n, settings, 2);
      grow(&x, 12);
      const as_beam_state tip = section(&x, n), root = section(&x, 0);
      error[c][0] = hypot(tip.position[0] - cases[i].x, tip.position[2] - cases[i].z);
      error[c][1] = fabs(atan2(tip.R[6], tip.R[0]) - cases[i].angle);
      error[c][2] = isnan(cases[i].root) ? 0.0 : fabs(root.moment[1] - cases[i].root);
      unload(&x);
    }
    print_message("  %s, %s: tip %.1e %.1e %.1e, angle %.1e %.1e %.1e, root %.1e %.1e %.1e\n",
                  cases[i].F, cases[i].q, error[0][0], error[1][0], error[2][0], error[0][1],
                  error[1][1], error[2][1], error[0][2], error[1][2], error[2][2]);
    for (int k = 0; k < 3; ++k)
      assert_true(error[2][k] <= error[0][k] / 200.0 && error[2][k] < 2e-5);
  }
}

static void test_pretwisted(void **state) {
  (void)state;
  // Linear: exact at the nodes.
  static const struct {
    const char *force;
    double c[3];
  } small[] = {{"parameters.Fy=1e-3", {0, 0.005429321478369, 0.001718743864653}},
               {"parameters.Fz=1e-3", {0, 0.001718743864653, 0.001749623338853}}};
  for (int i = 0; i < 2; ++i) {
    rest x = load("pretwisted", 2, &small[i].force, 1);
    grow(&x, 1);
    const as_beam_state tip = section(&x, 2);
    for (int k = 1; k < 3; ++k)
      assert_near("per force", tip.position[k] * 1e3, small[i].c[k], 2e-9);
    unload(&x);
  }
  static const struct {
    const char *force;
    double u[3], root[3], q[4];
  } large[] = {{"parameters.Fy=1000",
                {-1.188879127199, 4.617085477582, 1.342363853852},
                {-1342.363853852, 0, 10811.1208728},
                {0.686532597555, 0.6713368060172, 0.1137784303155, 0.2550183408617}},
               {"parameters.Fz=1000",
                {-0.3600923058245, 1.666912375535, 1.784102699573},
                {1666.912375535, -11639.90769418, 0},
                {0.6704770033619, 0.7173736957928, -0.01918705106842, 0.1883279735428}}};
  for (int i = 0; i < 2; ++i) {
    double error[3][3];
    for (int c = 0; c < 3; ++c) {
      const int n = 8 << c;
      rest x = load("pretwisted", n, &large[i].force, 1);
      grow(&x, 8);
      const as_beam_state tip = section(&x, n), root = section(&x, 0);
      const double *q = large[i].q;
      const double place[3] = {12.0 + large[i].u[0], large[i].u[1], large[i].u[2]};
      const double along[3] = {1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]),
                               2.0 * (q[1] * q[2] + q[0] * q[3]),
                               2.0 * (q[1] * q[3] - q[0] * q[2])};
      const double axis[3] = {tip.R[0], tip.R[3], tip.R[6]};
      error[c][0] = distance(tip.position, place);
      error[c][1] = distance(axis, along);
      error[c][2] = distance(root.moment, large[i].root);
      unload(&x);
    }
    print_message("  %s: tip %.1e %.1e %.1e, axis %.1e %.1e %.1e, root %.1e %.1e %.1e\n",
                  large[i].force, error[0][0], error[1][0], error[2][0], error[0][1], error[1][1],
                  error[2][1], error[0][2], error[1][2], error[2][2]);
    for (int c = 0; c < 2; ++c)
      for (int k = 0; k < 3; ++k) assert_true(error[c + 1][k] < error[c][k] / 11.0);
  }
}

// ---- buckling and snap-through ----------------------------------------------------------------------

/// Limit loads of a file, in their order.
static void limits(const char *name, int n, double to, int most, double *out) {
  record r;
  int found = 0;
  rest x = load(name, n, NULL, 0);
  follow(&x, to, 0, &r);
  for (int i = 0; i < r.count && found < most; ++i)
    if (r.point[i].kind == AS_POINT_LIMIT) out[found++] = r.point[i].value;
  assert_int_equal(found, most);
  unload(&x);
}

/// DaDeppo and Schmidt's arch, 8.97; the limit of many elements, with and without what tension does inside them, is 8.97286.
static void test_deep_arch(void **state) {
  (void)state;
  double coarse, fine;
  limits("arch", 8, 9.5, 1, &coarse);
  limits("arch", 16, 9.5, 1, &fine);
  assert_near("16 elements", fine, 8.97286, 0.01);
  assert_true(fabs(fine - 8.97286) < fabs(coarse - 8.97286) / 11.0);
}

/// Euler's column, to the errors of cubic elements with the geometric stiffness of the textbooks.
static void test_column(void **state) {
  (void)state;
  static const double most[3] = {7.6e-3, 5.3e-4, 3.5e-5};
  const double exact = PI * PI * 100.0 / 4.0;
  for (int c = 0; c < 3; ++c) {
    record r;
    rest x = load("column", 1 << c, NULL, 0);
    follow(&x, 300.0, 0, &r);
    const double error = first(&r, AS_POINT_BRANCHING) / exact - 1.0;
    assert_true(error > 0.8 * most[c] && error < most[c]);
    unload(&x);
  }
}

/// A strip under a tension that is 250 times 12 E I/L^2 of its elements: with a small load across, w = (P/T) (l - tanh(k l)/k),
/// k^2 = T/(E I). Its elements do not follow the bend at the clamp, of 5 mm, but they do not give way either.
static void test_taut(void **state) {
  (void)state;
  const double E = 210e9, EI = E * 0.01 * 1.25e-10 / 12.0, k = sqrt(1000.0 / EI);
  const double across = (1.0 - tanh(k) / k) / 1000.0, along = 1000.0 / (E * 5e-6);
  double error[3];
  for (int c = 0; c < 3; ++c) {
    const int n = 4 << c;
    rest x = load("taut", n, NULL, 0);
    grow(&x, 4);
    const as_beam_state tip = section(&x, n);
    assert_near("along", tip.position[0] - 1.0, along, 1e-3 * along);
    error[c] = 1.0 - tip.position[2] / across;
    unload(&x);
  }
  assert_true(error[0] > 0.0 && error[0] < 0.03);
  assert_true(error[1] < error[0] / 1.8 && error[2] < error[1] / 1.8);
}

/// Snaps down at one load and up again at another: by shooting on the Cosserat equations of half of it.
static void test_shallow_arch(void **state) {
  (void)state;
  static const double exact[2] = {262.6730, 60.3049};
  double coarse[2], fine[2];
  limits("shallow_arch", 8, 400.0, 2, coarse);
  limits("shallow_arch", 16, 400.0, 2, fine);
  for (int k = 0; k < 2; ++k) {
    assert_near("16 elements", fine[k], exact[k], 1e-4 * exact[k]);
    assert_true(fabs(fine[k] - exact[k]) < fabs(coarse[k] - exact[k]) / 10.0);
  }
  // A higher one goes aside before its limit load, in its plane, where round-off comes in between: the branching is passed.
  record r;
  static const char *const high[] = {"parameters.H=0.02"};
  rest x = load("shallow_arch", 16, high, 1);
  follow(&x, 4000.0, 0, &r);
  assert_near("branching", first(&r, AS_POINT_BRANCHING), 1085.8521, 0.002);
  assert_true(first(&r, AS_POINT_LIMIT) > 1200.0);
  unload(&x);
}

static void test_sideways(void **state) {
  (void)state;
  double error[3];
  for (int c = 0; c < 3; ++c) {
    record r;
    rest x = load("deep_strip", 4 << c, NULL, 0);
    follow(&x, 200.0, 0, &r);
    error[c] = first(&r, AS_POINT_BRANCHING) / 178.229263515 - 1.0;
    unload(&x);
  }
  print_message("  sideways %.1e %.1e %.1e\n", error[0], error[1], error[2]);
  assert_true(fabs(error[2]) < 5e-6 && error[1] < error[0] / 13.0 && error[2] < error[1] / 13.0);
  static const char *const plain[] = {"beams.strip.plain=true"};
  record r;
  rest x = load("deep_strip", 8, plain, 1);
  follow(&x, 200.0, 0, &r);
  assert_near("plain", first(&r, AS_POINT_BRANCHING) / 178.229263515 - 1.0, 1.2e-2, 1e-3);
  unload(&x);
}

/// The frame at a right angle (1.088 N), and on along the buckled branch.
static void test_frame(void **state) {
  (void)state;
  record r;
  rest x = load("frame", 8, NULL, 0);
  follow(&x, 2.0, 1, &r);
  assert_near("buckling load", first(&r, AS_POINT_BRANCHING), 1.088, 1e-3);
  assert_int_equal(r.point[r.count - 1].found.stability, AS_STABLE);
  as_body_motion end;
  as_model_body_motion(x.machine->model, as_analysis_state(x.analysis),
                       as_model_find_body(x.machine->model, "second.8"), &end);
  assert_true(fabs(end.x[2]) > 50.0);
  unload(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bend),      cmocka_unit_test(test_rollup),
      cmocka_unit_test(test_follower),  cmocka_unit_test(test_pretwisted),
      cmocka_unit_test(test_deep_arch), cmocka_unit_test(test_shallow_arch),
      cmocka_unit_test(test_sideways),  cmocka_unit_test(test_frame),
      cmocka_unit_test(test_column),    cmocka_unit_test(test_taut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
