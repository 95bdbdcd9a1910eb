/// Tyres: tables of the Magic Formula by an independent implementation, numbers by hand, derivatives at many states, what turns and
/// mirrors with the world.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "elements/road.h"
#include "machines.h"
#include "rig.h"
#include "tyres.h"

static uint64_t seed = 1;

/// Between two numbers.
static double any(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

// ---- the formula ------------------------------------------------------------------------------------

/// To 1e-9 of the largest number of a column.
static void check_table(const char *name) {
  enum { COLUMNS = 13, INPUTS = 4, OUTPUTS = COLUMNS - INPUTS };
  const as_tyre t = tyre_of(name);
  int rows;
  double *table = tyre_table(name, COLUMNS, &rows), most[OUTPUTS] = {0}, off[OUTPUTS] = {0};
  for (int i = 0; i < rows; ++i) {
    const double *row = table + COLUMNS * i;
    as_tyre_force f;
    as_tyre_steady(&t, row[0], row[1], row[2], row[3], 16.6, &f);
    const double got[OUTPUTS] = {f.Fx,  f.Fy,  f.Mx,          f.My,         f.Mz,
                                 f.Fx0, f.Fy0, f.sigma_kappa, f.sigma_alpha};
    for (int k = 0; k < OUTPUTS; ++k) {
      most[k] = fmax(most[k], fabs(row[INPUTS + k]));
      off[k] = fmax(off[k], fabs(got[k] - row[INPUTS + k]));
    }
  }
  assert_true(rows > 100);
  for (int k = 0; k < OUTPUTS; ++k) assert_true(off[k] <= 1e-9 * most[k]);
  free(table);
}

static void test_tables(void **state) {
  (void)state;
  check_table("car");
  check_table("all_terms");
}

static void test_rolling_radius(void **state) {
  (void)state;
  const char *const names[] = {"car", "all_terms"};
  for (int i = 0; i < 2; ++i) {
    char path[64];
    int rows;
    const as_tyre t = tyre_of(names[i]);
    snprintf(path, sizeof path, "%s_radius", names[i]);
    double *table = tyre_table(path, 2, &rows);
    for (int k = 0; k < rows; ++k)
      assert_near("radius", as_tyre_rolling_radius(&t, table[2 * k]), table[2 * k + 1], 1e-12);
    free(table);
  }
}

/// Coefficients of friction at the nominal load are those of the file, and the side slip stiffness is
/// 21.92 3928.5 sin(2 atan(1/2.0012)); a table by an independent implementation.
static void test_by_hand(void **state) {
  (void)state;
  static const double facts[4][7] = {{2000, 1.137, 1.254, 41151, 39754, 0.313, 0.288},
                                     {3928.5, 1.049, 1.174, 68865, 87617, 0.659, 0.480},
                                     {4300, 1.032, 1.158, 72508, 98053, 0.722, 0.505},
                                     {6000, 0.954, 1.087, 83061, 151418, 0.982, 0.578}};
  const as_tyre t = tyre_of("car");
  for (int i = 0; i < 4; ++i) {
    const double Fz = facts[i][0], e = 1e-5;
    as_tyre_force f, g;
    double mu_x = 0.0, mu_y = 0.0;
    for (int k = 0; k <= 400; ++k) {
      as_tyre_steady(&t, 0.001 * k, 0.0, 0.0, Fz, 16.6, &f);
      as_tyre_steady(&t, 0.0, 0.001 * k, 0.0, Fz, 16.6, &g);
      mu_x = fmax(mu_x, f.Fx0 / Fz);
      mu_y = fmax(mu_y, -g.Fy0 / Fz);
    }
    assert_near("mu_y", mu_y, facts[i][1], 6e-4);
    assert_near("mu_x", mu_x, facts[i][2], 6e-4);
    as_tyre_steady(&t, 0.0, e, 0.0, Fz, 16.6, &f);
    as_tyre_steady(&t, 0.0, -e, 0.0, Fz, 16.6, &g);
    assert_near("by alpha", (g.Fy0 - f.Fy0) / (2.0 * e), facts[i][3], 1.0);
    as_tyre_steady(&t, e, 0.0, 0.0, Fz, 16.6, &f);
    as_tyre_steady(&t, -e, 0.0, 0.0, Fz, 16.6, &g);
    assert_near("by kappa", (f.Fx0 - g.Fx0) / (2.0 * e), facts[i][4], 2.0);
    assert_near("sigma_kappa", f.sigma_kappa, facts[i][5], 6e-4);
    assert_near("sigma_alpha", f.sigma_alpha, facts[i][6], 6e-4);
  }
  assert_near("K_y", 21.92 * 3928.5 * sin(2.0 * atan(1.0 / 2.0012)), 68865.0, 1.0);
}

// ---- roads ------------------------------------------------------------------------------------------

/// A class C road by an independent implementation of the same sums, to 1e-9 m; slopes and curvatures of all that are no formulas.
static void test_roads(void **state) {
  (void)state;
  static const double rows[][3] = {
      {5.0, -0.8, -0.00013289622943464971}, {5.0, 0.8, -0.0001016369801603982},
      {13.0, 0.0, -0.006382292393545516},   {23.0, -0.8, 0.007574125384546692},
      {57.3, 0.8, 0.001783090967427502},    {101.7, -0.8, 0.0018393366378187679},
      {200.0, 0.0, -0.00900972621061877},   {243.0, 0.8, 0.005650370074180661}};
  as_road_def def = as_default_road_def();
  double z[6], to[6], from[6];
  def.kind = AS_ROAD_ROUGH;
  def.roughness = 256e-6;
  def.start = 3.0;
  asi_curve road = {.road = asi_road_make(&def)};
  const as_element_input in = {.t = 0.0};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    assert_int_equal(asi_road_height(&road, &in, rows[i][0], rows[i][1], true, z), AS_DONE);
    assert_near("z", z[0], rows[i][2], 1e-9);
  }
  for (int kind = 0; kind < 3; ++kind) {
    static const as_road_kind kinds[] = {AS_ROAD_PLANE, AS_ROAD_ROUGH, AS_ROAD_BUMP};
    asi_curve_free(&road);
    def.kind = kinds[kind];
    def.normal[0] = 0.3;
    def.height = 0.02;
    def.length = 9.0;
    road.road = asi_road_make(&def);
    assert_int_equal(asi_road_is_plane(&road), kind == 0);
    for (int i = 0; i < 5; ++i) {
      const double x = 2.0 + 2.3 * i, y = 0.3 * i - 0.5, e = 1e-4;
      asi_road_height(&road, &in, x, y, true, z);
      asi_road_height(&road, &in, x + e, y, true, to);
      asi_road_height(&road, &in, x - e, y, true, from);
      assert_near("z_x", (to[0] - from[0]) / (2.0 * e), z[1], 1e-7);
      assert_near("z_xx", (to[1] - from[1]) / (2.0 * e), z[3], 1e-6);
      asi_road_height(&road, &in, x, y + e, true, to);
      asi_road_height(&road, &in, x, y - e, true, from);
      assert_near("z_y", (to[0] - from[0]) / (2.0 * e), z[2], 1e-7);
      assert_near("z_xy", (to[1] - from[1]) / (2.0 * e), z[4], 1e-6);
      assert_near("z_yy", (to[2] - from[2]) / (2.0 * e), z[5], 1e-6);
    }
  }
  asi_curve_free(&road);
}

// ---- derivatives ------------------------------------------------------------------------------------

static as_road_def road_of(int kind) {
  static const double x[] = {-30, -10, -2, 1, 3, 12, 30}, y[] = {-30, -3, 0, 2, 30};
  static double z[35];
  static as_surface table;
  as_road_def def = as_default_road_def();
  def.kind = (as_road_kind)(kind % 5);
  if (def.kind == AS_ROAD_PLANE) {
    def.point[2] = 0.1;
    def.normal[0] = 0.2;
    def.normal[1] = -0.15;
  }
  def.formula = "0.05*sin(1.3*x + 0.4) + 0.03*x*y/(1 + x^2) - 0.02*cos(y)";
  def.roughness = 1024e-6;
  def.start = -25.0;
  def.height = 0.05;
  def.length = 9.0;
  if (def.kind == AS_ROAD_BUMP) def.start = -4.0;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 5; ++j) z[5 * i + j] = 0.03 * sin(i + 0.5 * j) + 0.01 * j;
  table = (as_surface){.x = x, .y = y, .z = z, .nx = 7, .ny = 5, .interpolation = AS_MONOTONE};
  def.table = &table;
  return def;
}

/// A wheel as a variant has it: space, road, side, states, crown radius, centre beside the centre of mass, part of the formula.
static as_model *build_wheel(int variant, as_force_id *force) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_tyre t = tyre_of(variant % 2 ? "car" : "all_terms");
  as_body_def wheel = tyre_wheel("wheel", 0.4, 0.3, 0.33, variant % 3 == 1);
  const as_road_def road = road_of(variant);
  as_tyre_def def = as_default_tyre_def();
  def.body = machine_body(b, &wheel);
  def.tyre = &t;
  def.road = tyre_road(b, &road);
  def.side = variant % 4 < 2 ? 1 : -1;
  def.steady = variant % 7 == 6;
  def.crown_radius = variant % 3 == 2 ? 0.06 : 0.0;
  if (variant % 2) {
    def.center[0] = 0.42;
    def.center[1] = 0.27;
    def.center[2] = 0.36;
    def.axis[0] = 0.1;
    def.axis[1] = 1.0;
    def.axis[2] = 0.05;
  }
  t.mode = variant % 11 < 7 ? 4 : variant % 11 - 7;
  *force = tyre_add(b, &def);
  return machine_build(b);
}

/// A state: `kind` 0 rolling, 1 at rest, 2 backwards, 3 sliding fast, 4 above the road, 5 crawling.
static void any_state(int kind, double *q, double *v, double *x) {
  static const double along[] = {20.0, 0.0, -8.0, 15.0, 10.0, 0.3}, lift[] = {0, 0, 0, 0, 0.2, 0};
  const double angle[3] = {any(-0.4, 0.4), any(-3, 3), any(-0.5, 0.5)};
  q[0] = any(-2, 4);
  q[1] = any(-2, 2);
  q[2] = 0.34 + any(-0.12, 0.03) + lift[kind];
  // Spin first, then camber, then heading.
  double w = 1.0, u[3] = {0, 0, 0};
  static const int axis[3] = {2, 0, 1};
  const double turn[3] = {angle[2], angle[0], angle[1]};
  for (int i = 0; i < 3; ++i) {
    const double c = cos(turn[i] / 2.0), s = sin(turn[i] / 2.0), w0 = w, u0[3] = {u[0], u[1], u[2]};
    const int k = axis[i], l = (k + 1) % 3, m = (k + 2) % 3;
    w = w0 * c - u0[k] * s;
    u[k] = u0[k] * c + w0 * s;
    u[l] = u0[l] * c + u0[m] * s;
    u[m] = u0[m] * c - u0[l] * s;
  }
  q[3] = w;
  for (int i = 0; i < 3; ++i) q[4 + i] = u[i];
  const double speed = along[kind], rest = kind == 1 ? 0.02 : 1.0;
  v[0] = speed + rest * any(-1, 1);
  v[1] = rest * any(-2, 2);
  v[2] = rest * any(-0.5, 0.5);
  v[3] = rest * any(-1, 1);
  v[4] = (kind == 3 ? -0.5 : 1.0) * speed / 0.335 + rest * any(-2, 2);
  v[5] = rest * any(-1, 1);
  x[0] = any(-0.03, 0.03);
  x[1] = any(-0.04, 0.04);
}

/// All tangents against differences: force and rates of the states by positions, velocities and states.
static void test_tangents(void **state) {
  (void)state;
  double worst = 0.0;
  for (int variant = 0; variant < 44; ++variant) {
    as_force_id force;
    as_model *m = build_wheel(variant, &force);
    for (int kind = 0; kind < 6; ++kind) {
      double q[7], v[6], x[2];
      as_check_def def = as_default_check_def();
      as_check_report report;
      as_error error;
      any_state(kind, q, v, x);
      if (variant % 7 == 6 && (kind == 1 || kind == 5)) continue; // steady state needs speed
      def.near = (as_point){.q = q, .v = v, .x = x};
      def.spread = 1e-6;
      def.n_points = 1;
      def.increment = 2e-5;
      def.tolerance = 2e-6;
      if (as_problem_check(as_model_problem(m), &def, &report, &error))
        fail_msg("variant %d, state %d: %s", variant, kind, error.message);
      for (int k = 0; k < AS_BLOCK_COUNT; ++k)
        if (report.block[k] > worst) worst = report.block[k];
    }
    as_model_destroy(m);
  }
  print_message("  worst %.2g\n", worst);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_rolling_radius),
                                     cmocka_unit_test(test_by_hand), cmocka_unit_test(test_roads),
                                     cmocka_unit_test(test_tangents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
