/// Branches of equilibria by arc length: limit points, branchings and what is beyond them, against closed forms and shooting.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "beams.h"
#include "machines.h"
#include "rig.h"
#include "snapping.h"

#define PI 3.14159265358979323846

static const double origin[3] = {0}, z_axis[3] = {0, 0, 1}, y_axis[3] = {0, 1, 0};

enum { MOST = 1024 };

/// What a continuation delivered.
typedef struct record {
  const bench *x;
  as_continuation_point point[MOST];
  double y[MOST]; ///< what `read` says
  double (*read)(const bench *x, const as_state *s);
  int count;
  int stop_at; ///< -1: never
  double parameter;
} record;

static int note(const as_continuation_point *point, void *user) {
  record *r = user;
  assert_true(r->count < MOST);
  r->point[r->count] = *point;
  r->y[r->count] = r->read(r->x, point->state);
  return r->count++ == r->stop_at;
}

static as_status run(bench *x, record *r, as_continuation_def *def,
                     as_continuation_report *report) {
  r->x = x;
  def->receive = note;
  def->user = r;
  as_initial initial = *as_model_initial(x->model);
  const as_status status = as_analysis_continue(x->analysis, &initial, def, report, &x->error);
  assert_int_equal(report->n_points, r->count);
  return status;
}

static void expect(as_status status, as_status wanted, const as_error *error) {
  if (status != wanted)
    fail_msg("%s instead of %s: %s", as_status_name(status), as_status_name(wanted),
             error->message);
}

/// The points of a kind; their number.
static int find(const record *r, as_continuation_kind kind, int *where, int most) {
  int n = 0;
  for (int i = 0; i < r->count; ++i)
    if (r->point[i].kind == kind && n < most) where[n++] = i;
  return n;
}

// ---- shallow truss --------------------------------------------------------------------------------

static double read_apex(const bench *x, const as_state *s) { return bench_body(x, s, "apex").x[1]; }

/// The slope of truss_load.
static double truss_slope(double y) {
  const double L = hypot(truss_a, y);
  return 2.0 * truss_k *
         (hypot(truss_a, truss_h) / L - 1.0 - y * y * hypot(truss_a, truss_h) / (L * L * L));
}

/// [AN.8] Tangents are those of the exact curve: 1/T_mu^2 = 1 + S^2 (way by mu)^2 / c^2 with one c for all points, and steps end in planes.
static void check_metric(const record *r, double span, bool pushed) {
  double c2 = 0.0;
  for (int i = 0; i < r->count; ++i) {
    const double turn = r->point[i].turn, slope = truss_slope(r->y[i]);
    const double by_mu = 1.0 / (pushed ? slope / 20.0 - 1.0 : slope);
    if (r->point[i].kind != AS_POINT_REGULAR) continue;
    const double found =
        span * span * (by_mu * by_mu + (pushed ? 1.0 : 0.0)) / (1.0 / (turn * turn) - 1.0);
    if (i == 0) c2 = found;
    assert_near("metric", found / c2, 1.0, 1e-5);
    const as_continuation_point *p = &r->point[i], *next = p + 1;
    if (i + 2 >= r->count || next->kind != AS_POINT_REGULAR) continue;
    const double dmu = next->value - p->value;
    const double along = span * by_mu * (r->y[i + 1] - r->y[i]) + (pushed ? span * dmu : 0.0);
    assert_near("plane", turn * (along / c2 + dmu / span), next->arc - p->arc, 1e-6);
  }
}

static void test_truss(void **state) {
  (void)state;
  double y_limit;
  const double limit = truss_limit(&y_limit);
  for (int sign = 1; sign >= -1; sign -= 2) { // a negative load lifts the apex: no limit there
    record r = {.read = read_apex, .stop_at = -1};
    bench x = truss_make(false);
    as_continuation_def def = as_default_continuation_def();
    as_continuation_report report;
    def.from = 0.0;
    def.to = 2.0 * sign * limit;
    expect(run(&x, &r, &def, &report), AS_OK, &x.error);
    assert_true(report.arrived && report.last == def.to &&
                as_analysis_state(x.analysis)->t == def.to);
    for (int i = 0; i < r.count; ++i) {
      const double y = r.y[i];
      assert_near("load", r.point[i].value, truss_load(y), 1e-10 * limit);
      if (r.point[i].kind == AS_POINT_REGULAR)
        assert_int_equal(r.point[i].found.stability, fabs(y) > y_limit ? AS_STABLE : AS_UNSTABLE);
    }
    int where[4];
    assert_int_equal(find(&r, AS_POINT_LIMIT, where, 4), sign > 0 ? 2 : 0);
    assert_int_equal(report.n_limits, sign > 0 ? 2 : 0);
    assert_int_equal(report.n_branchings, 0);
    for (int i = 0; i < report.n_limits; ++i) {
      assert_near("limit load", r.point[where[i]].value, i == 0 ? limit : -limit, 1e-12 * limit);
      const as_continuation_point *p = &r.point[where[i]];
      assert_true(p[-1].arc < p->arc && p->arc < p[1].arc);
      assert_near("at", r.y[where[i]], i == 0 ? y_limit : -y_limit, 1e-8);
      assert_true(fabs(r.point[where[i]].turn) < 1e-7);
    }
    check_metric(&r, 2.0 * limit, false);
    bench_free(&x);
  }
}

/// The same by a spring that is pushed: mu = h - y + P/20, which turns round, too.
static void test_pushed_truss(void **state) {
  (void)state;
  record r = {.read = read_apex, .stop_at = -1};
  bench x = truss_make(true);
  as_continuation_def def = as_default_continuation_def();
  as_continuation_report report;
  def.from = 0.0;
  def.to = 1.0;
  expect(run(&x, &r, &def, &report), AS_OK, &x.error);
  assert_int_equal(report.n_limits, 2);
  for (int i = 0; i < r.count; ++i)
    assert_near("pushed", r.point[i].value, truss_h - r.y[i] + truss_load(r.y[i]) / 20.0, 1e-10);
  check_metric(&r, 1.0, true);
  bench_free(&x);
}

// ---- column ---------------------------------------------------------------------------------------

static int set_load(double value, void *user) {
  record *r = user;
  r->parameter = value;
  return value > 1e6;
}

static double read_tilt(const bench *x, const as_state *s) {
  return 0.5 * PI - bench_angle(x, s, "lower");
}

static void test_column(void **state) {
  (void)state;
  for (int branch = -1; branch <= 1; ++branch) {
    record r = {.read = read_tilt, .stop_at = -1};
    bench x = column_make(0.0, &r.parameter);
    as_continuation_def def = as_default_continuation_def();
    as_continuation_report report;
    def.from = 0.75;
    def.to = 24.0;
    def.set = set_load;
    def.branch = branch;
    expect(run(&x, &r, &def, &report), AS_OK, &x.error);
    int where[4];
    assert_int_equal(find(&r, AS_POINT_BRANCHING, where, 4), 1);
    assert_near("buckling load", r.point[where[0]].value, 16.0, 1e-6);
    assert_true(strstr(r.point[where[0]].found.softest_component, "body \""));
    assert_int_equal(report.n_limits, 0);
    for (int i = 0; i < r.count; ++i) {
      const double tilt = r.y[i], load = r.point[i].value;
      if (i <= where[0] || branch == 0) {
        assert_near("straight", tilt, 0.0, 1e-8);
      } else {
        assert_true(tilt * r.y[r.count - 1] > 0.0);
        assert_near("buckled", 8.0 * tilt, 0.5 * load * sin(tilt),
                    1e-9 + 1e-7 * (i == where[0] + 1));
        assert_int_equal(r.point[i].found.stability, AS_STABLE);
      }
    }
    assert_true(branch == 0 || fabs(r.y[r.count - 1]) > 0.5);
    if (branch == 0) assert_int_equal(r.point[r.count - 1].found.n_negative, 1);
    assert_true(r.parameter == 24.0);
    bench_free(&x);
  }
}

/// A spring by formula that softens, with a parameter of the model as the load: P = phi^3 - 3 phi^2 + 2.25 phi, limits 0.5 at
/// phi = 0.5 and 0 at 1.5.
static double read_turn(const bench *x, const as_state *s) { return bench_angle(x, s, "shaft"); }

static void test_parameter(void **state) {
  (void)state;
  record r = {.read = read_turn, .stop_at = -1};
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  const as_body_id shaft = bench_link(b, "shaft", 1.0, 1.0, -0.5, 0, 0, false);
  const as_joint_id pin =
      machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, shaft, origin, z_axis);
  if (as_builder_add_parameter(b, "spare", 7.0, NULL, &error) ||
      as_builder_add_parameter(b, "P", 5.0, NULL, &error))
    fail_msg("%s", error.message);
  bench_actuator(b, pin, "P - joints.pin.angle*(joints.pin.angle - 1.5)^2");
  bench x = bench_make(b);
  as_continuation_def def = as_default_continuation_def();
  as_continuation_report report;
  def.from = 0.0;
  def.to = 2.0;
  def.signal = as_model_find_parameter(x.model, "P").index;
  expect(run(&x, &r, &def, &report), AS_OK, &x.error);
  for (int i = 0; i < r.count; ++i)
    assert_near("load", r.point[i].value, r.y[i] * (r.y[i] - 1.5) * (r.y[i] - 1.5), 1e-9);
  assert_int_equal(report.n_limits, 2);
  int where[2];
  find(&r, AS_POINT_LIMIT, where, 2);
  assert_near("limit", r.point[where[0]].value, 0.5, 1e-11);
  assert_near("limit", r.point[where[1]].value, 0.0, 1e-11);
  const as_state *s = as_analysis_state(x.analysis);
  assert_true(s->u[def.signal] == 2.0 &&
              s->u[as_model_find_parameter(x.model, "spare").index] == 7.0);
  bench_free(&x);
}

// ---- beams ----------------------------------------------------------------------------------------

static double read_height(const bench *x, const as_state *s) {
  as_body_motion at;
  const int n = as_model_beam_stations(x->model, (as_beam_id){0}) - 1;
  as_model_body_motion(x->model, s, as_model_beam_node(x->model, (as_beam_id){0}, n / 2), &at);
  return at.x[1];
}

/// Deep circular arch of 215 degrees, clamped at one end, hinged at the other, a load on its crown: limit load 8.97 E I/R^2
/// (DaDeppo, Schmidt 1975, inextensible).
static double arch_limit(int n) {
  const double R = 100.0, EI = 1e6, half = 215.0 / 2.0 * PI / 180.0;
  record r = {.read = read_height, .stop_at = -1};
  const as_beam_section section =
      beam_section((double[6]){1e8, 5e7, 5e7, 1e9, 1e9, EI}, 1.0, (double[3]){2.0, 1.0, 1.0});
  as_builder *b = machine_builder(0.0, 0.0, 0.0);
  as_beam_station station[64];
  as_error error;
  for (int i = 0; i <= n; ++i) {
    const double s = half * (2.0 * i / n - 1.0);
    station[i] = (as_beam_station){.position = {R * sin(s), R * cos(s), 0}, .body = AS_NO_BODY};
    beam_axes((double[3]){cos(s), -sin(s), 0}, (double[3]){sin(s), cos(s), 0},
              station[i].quaternion);
  }
  station[0].body = AS_GROUND;
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = n + 1;
  def.section = &section;
  as_beam_id beam;
  if (as_builder_add_beam(b, &def, &beam, &error)) fail_msg("%s", error.message);
  const as_curve factor = {.slope = 1.0};
  machine_joint(b, "hinge", AS_JOINT_REVOLUTE, AS_GROUND, as_builder_beam_node(b, beam, n),
                station[n].position, z_axis);
  beam_push(b, as_builder_beam_node(b, beam, n / 2), (double[3]){0, -EI / (R * R), 0}, origin,
            false, &factor);
  bench x = bench_make(b);
  as_continuation_def path = as_default_continuation_def();
  as_continuation_report report;
  path.from = 0.0;
  path.to = 9.5;
  path.turned = -20.0;
  path.max_points = 1000;
  expect(run(&x, &r, &path, &report), AS_OK, &x.error);
  int where[4];
  assert_true(find(&r, AS_POINT_LIMIT, where, 4) >= 2); // it snaps down and comes up again
  const double found = r.point[where[0]].value;
  bench_free(&x);
  return found;
}

static void test_arch(void **state) {
  (void)state;
  const double coarse = arch_limit(8), fine = arch_limit(16);
  assert_near("limit load", fine, 8.97286, 0.01);
  assert_true(fabs(fine - 8.97286) < fabs(coarse - 8.97286) / 11.0);
}

/// Deep cantilever with a load on its end: buckles sideways (178.229263515 N by shooting).
static void test_lateral(void **state) {
  (void)state;
  double error[3];
  for (int c = 0; c < 3; ++c) {
    const int n = 4 << c;
    record r = {.read = read_height, .stop_at = -1};
    const as_beam_section section =
        beam_section((double[6]){17500000.0, 5608974.358974359, 5608974.358974359, 52.5560897436,
                                 3645.83333333333, 36.4583333333333},
                     0.675, (double[3]){1.4e-4, 1.4e-4, 1.4e-6});
    as_builder *b = machine_builder(0.0, 0.0, 0.0);
    const as_curve factor = {.slope = 1.0};
    as_beam_def def = as_default_beam_def();
    def.section = &section;
    beam_straight(b, &def, n, origin, (double[3]){1.0, 0.0, 0.0}, y_axis, AS_GROUND, AS_NO_BODY);
    beam_push(b, as_builder_beam_node(b, (as_beam_id){0}, n), (double[3]){0, 0, -1.0}, origin,
              false, &factor);
    bench x = bench_make(b);
    as_continuation_def path = as_default_continuation_def();
    as_continuation_report report;
    path.from = 0.0;
    path.to = 200.0;
    expect(run(&x, &r, &path, &report), AS_OK, &x.error);
    int where[4];
    assert_int_equal(find(&r, AS_POINT_BRANCHING, where, 4), 1);
    error[c] = r.point[where[0]].value / 178.229263515 - 1.0;
    assert_non_null(strstr(r.point[where[0]].found.softest_component, "velocity y"));
    bench_free(&x);
  }
  assert_true(error[2] < 2.5e-3 && error[1] / error[2] > 3.7 && error[0] / error[1] > 3.5);
}

/// Frame of two legs of 240 mm at a right angle, a strip of 30 x 0.6 mm on edge, clamped at one end, a load in its plane at the other: it buckles
/// sideways at 1.088 N (Argyris et al. 1979; Simo, Vu-Quoc 1986).
static void test_frame(void **state) {
  (void)state;
  enum { n = 8 };
  const double L = 240.0, E = 71240.0, G = E / (2.0 * 1.31), b = 0.6, w = 30.0;
  record r = {.read = read_height, .stop_at = -1};
  const as_beam_section section =
      beam_section((double[6]){E * b * w, G * b * w / 1.2, G * b * w / 1.2, G * w * b * b * b / 3.0,
                               E * w * b * b * b / 12.0, E * b * w * w * w / 12.0},
                   b * w, (double[3]){1400.0, 6.0, 1350.0});
  as_builder *m = machine_builder(0.0, 0.0, 0.0);
  as_beam_def def = as_default_beam_def();
  def.section = &section;
  const double corner[3] = {L, 0, 0}, end[3] = {L, L, 0}, minus_x[3] = {-1, 0, 0};
  const as_curve factor = {.slope = 1.0};
  def.name = "first";
  beam_straight(m, &def, n, origin, corner, y_axis, AS_GROUND, AS_NO_BODY);
  const as_body_id elbow = as_builder_beam_node(m, (as_beam_id){0}, n);
  def.name = "second";
  const as_beam_id second = beam_straight(m, &def, n, corner, end, minus_x, elbow, AS_NO_BODY);
  beam_push(m, as_builder_beam_node(m, second, n), (double[]){1.0, 0, 0}, origin, false, &factor);
  bench x = bench_make(m);
  as_continuation_def path = as_default_continuation_def();
  as_continuation_report report;
  path.from = 0.0;
  path.to = 2.0;
  path.branch = 1;
  expect(run(&x, &r, &path, &report), AS_OK, &x.error);
  int where[2];
  assert_int_equal(find(&r, AS_POINT_BRANCHING, where, 2), 1);
  assert_near("buckling load", r.point[where[0]].value, 1.088, 1e-3);
  // Beyond it the frame stands beside its plane, and holds twice the load.
  assert_true(report.arrived && report.n_left == 1);
  assert_int_equal(r.point[r.count - 1].found.stability, AS_STABLE);
  as_body_motion at;
  as_model_body_motion(x.model, as_analysis_state(x.analysis),
                       as_model_beam_node(x.model, second, n), &at);
  assert_true(fabs(at.x[2]) > 50.0);
  bench_free(&x);
}

// ---- ends -----------------------------------------------------------------------------------------

static void test_ends(void **state) {
  (void)state;
  record r = {.read = read_apex, .stop_at = 3};
  bench x = truss_make(false);
  as_continuation_def def = as_default_continuation_def();
  as_continuation_report report;
  double y_limit;
  const double limit = truss_limit(&y_limit);
  def.from = 0.0;
  def.to = 2.0 * limit;
  expect(run(&x, &r, &def, &report), AS_STOPPED, &x.error);
  assert_true(r.count == 4 && as_analysis_state(x.analysis)->t == r.point[3].value);
  r.count = 0;
  r.stop_at = -1;
  def.max_points = 7;
  expect(run(&x, &r, &def, &report), AS_ERR_CONVERGENCE, &x.error);
  assert_non_null(strstr(x.error.message, "there are enough points"));
  assert_true(r.count == 7 && as_analysis_state(x.analysis)->t == report.last);
  r.count = 0;
  def.max_points = 1000;
  def.turned = -0.5 * limit; // on its way down it comes below that
  expect(run(&x, &r, &def, &report), AS_ERR_CONVERGENCE, &x.error);
  assert_non_null(strstr(x.error.message, "it turned back"));
  assert_true(report.n_limits == 1 && !report.arrived);
  bench_free(&x);
}

static void test_nonsense(void **state) {
  (void)state;
  bench x = truss_make(false);
  const as_initial *initial = as_model_initial(x.model);
  as_continuation_def def = as_default_continuation_def();
  assert_int_equal(as_analysis_continue(x.analysis, initial, &def, NULL, &x.error),
                   AS_ERR_ARGUMENT);
  assert_non_null(strstr(x.error.message, "from nan to nan"));
  static const double ends[][2] = {
      {0.0, 5e-324}, {-1e308, 1e308}, {1.0, 1.0}, {0.0, (double)INFINITY}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
    def.from = ends[i][0];
    def.to = ends[i][1];
    assert_int_equal(as_analysis_continue(x.analysis, initial, &def, NULL, &x.error),
                     AS_ERR_ARGUMENT);
  }
  def.from = 0.0;
  def.to = 1.0;
  def.first_step = -1.0;
  assert_int_equal(as_analysis_continue(x.analysis, initial, &def, NULL, &x.error),
                   AS_ERR_ARGUMENT);
  def.first_step = 0.1;
  def.turned = 0.5;
  assert_int_equal(as_analysis_continue(x.analysis, initial, &def, NULL, &x.error),
                   AS_ERR_ARGUMENT);
  assert_non_null(strstr(x.error.message, "turned = 0.5"));
  def.turned = -0.5;
  def.max_points = 1;
  assert_int_equal(as_analysis_continue(x.analysis, initial, &def, NULL, &x.error),
                   AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_continue(x.analysis, initial, NULL, NULL, &x.error),
                   AS_ERR_ARGUMENT);
  assert_int_equal(as_analysis_continue(NULL, initial, &def, NULL, &x.error), AS_ERR_ARGUMENT);
  bench_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_truss),     cmocka_unit_test(test_pushed_truss),
      cmocka_unit_test(test_parameter), cmocka_unit_test(test_column),
      cmocka_unit_test(test_lateral),   cmocka_unit_test(test_arch),
      cmocka_unit_test(test_frame),     cmocka_unit_test(test_ends),
      cmocka_unit_test(test_nonsense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
