/// Functions of two variables: tables and C functions; values, derivatives, bounds, integrals; springs with them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "elements/surface.h"
#include "machines.h"
#include "rig.h"

enum { NX = 5, NY = 4 };
static const double xs[NX] = {-1.0, -0.2, 0.5, 0.6, 2.0}, ys[NY] = {-3.0, -1.0, 0.5, 1.0};
static const as_interpolation kinds[2] = {AS_LINEAR, AS_MONOTONE};

static uint64_t seed = 7;

/// In [-1, 1].
static double random_number(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 4503599627370496.0 - 1.0;
}

static asi_surface *make(const double *z, as_interpolation kind) {
  asi_surface *s = NULL;
  as_error error;
  const as_surface def = {.x = xs, .y = ys, .z = z, .nx = NX, .ny = NY, .interpolation = kind};
  if (asi_surface_make(&def, "The surface", &s, &error)) fail_msg("%s", error.message);
  return s;
}

static double value(const asi_surface *s, double x, double y, int k) {
  double out[3];
  assert_int_equal(asi_surface_evaluate(s, x, y, out), AS_DONE);
  return out[k];
}

static void random_table(double *z) {
  for (int i = 0; i < NX * NY; ++i) z[i] = 5.0 * random_number();
  if (random_number() > 0.0) // steps
    for (int i = 0; i < NX * NY; ++i) z[i] = z[i] > 0.0 ? 5.0 : 0.0;
}

/// The table's values are met; derivatives agree with differences, beyond the ends too.
static void test_derivatives(void **state) {
  (void)state;
  for (int round = 0; round < 20; ++round) {
    double z[NX * NY];
    random_table(z);
    asi_surface *s = make(z, kinds[round % 2]);
    for (int i = 0; i < NX; ++i)
      for (int j = 0; j < NY; ++j)
        assert_near("point", value(s, xs[i], ys[j], 0), z[i * NY + j], 1e-13);
    for (int i = 0; i < 200; ++i) {
      const double x = 0.5 + 2.5 * random_number(), y = -1.0 + 3.5 * random_number(), e = 1e-6;
      assert_near("z_x", value(s, x, y, 1),
                  (value(s, x + e, y, 0) - value(s, x - e, y, 0)) / (2.0 * e), 1e-6);
      assert_near("z_y", value(s, x, y, 2),
                  (value(s, x, y + e, 0) - value(s, x, y - e, 0)) / (2.0 * e), 1e-6);
    }
    free(s);
  }
}

/// Everything goes on across the lines of the grid and its ends: the value always, derivatives of monotone tables.
static void test_smooth(void **state) {
  (void)state;
  for (int round = 0; round < 20; ++round) {
    double z[NX * NY];
    random_table(z);
    asi_surface *s = make(z, kinds[round % 2]);
    const double e = 1e-9;
    for (int i = 0; i < 60; ++i) {
      const double x = xs[i % NX], y = -1.0 + 3.0 * random_number();
      const double x2 = 0.5 + 2.0 * random_number(), y2 = ys[i % NY];
      for (int k = 0; k < (round % 2 ? 3 : 1); ++k) {
        assert_near("across x", value(s, x - e, y, k), value(s, x + e, y, k), 1e-5);
        assert_near("across y", value(s, x2, y2 - e, k), value(s, x2, y2 + e, k), 1e-5);
      }
    }
    free(s);
  }
}

/// No value leaves the range of the four corners of its cell.
static void test_no_overshoot(void **state) {
  (void)state;
  for (int round = 0; round < 200; ++round) {
    double z[NX * NY];
    random_table(z);
    asi_surface *s = make(z, kinds[round % 2]);
    for (int i = 0; i + 1 < NX; ++i)
      for (int j = 0; j + 1 < NY; ++j) {
        const double *p = z + i * NY + j;
        const double low = fmin(fmin(p[0], p[1]), fmin(p[NY], p[NY + 1]));
        const double high = fmax(fmax(p[0], p[1]), fmax(p[NY], p[NY + 1]));
        for (int k = 0; k < 20; ++k) {
          const double u = (1.0 + random_number()) / 2.0, v = (1.0 + random_number()) / 2.0;
          const double x = xs[i] + u * (xs[i + 1] - xs[i]), y = ys[j] + v * (ys[j + 1] - ys[j]);
          const double found = value(s, x, y, 0);
          assert_true(found >= low - 1e-12 && found <= high + 1e-12);
        }
      }
    free(s);
  }
}

/// Steep narrow cells beside a wide one: the curves' slopes alone would lead beyond 1 between 0, 1, 1 and 1.
static void test_steep_neighbours(void **state) {
  (void)state;
  static const double x[4] = {-0.01, 0.0, 1.0, 2.0},
                      z[16] = {-20, -10, -10, -10, -10, 0, 1, 1, -10, 1, 1, 1, -10, 1, 1, 1};
  const as_surface def = {.x = x, .y = x, .z = z, .nx = 4, .ny = 4, .interpolation = AS_MONOTONE};
  asi_surface *s = NULL;
  as_error error;
  if (asi_surface_make(&def, "The surface", &s, &error)) fail_msg("%s", error.message);
  for (int i = 0; i <= 50; ++i)
    for (int j = 0; j <= 50; ++j) {
      const double found = value(s, i / 50.0, j / 50.0, 0);
      assert_true(found >= -1e-14 && found <= 1.0 + 1e-14);
    }
  free(s);
}

/// 3 + 2 x - y + 0.5 x y is met everywhere, beyond the ends too.
static void test_product(void **state) {
  (void)state;
  for (int k = 0; k < 2; ++k) {
    double z[NX * NY];
    for (int i = 0; i < NX; ++i)
      for (int j = 0; j < NY; ++j) z[i * NY + j] = 3.0 + 2.0 * xs[i] - ys[j] + 0.5 * xs[i] * ys[j];
    asi_surface *s = make(z, kinds[k]);
    for (int i = 0; i < 100; ++i) {
      const double x = 4.0 * random_number(), y = 5.0 * random_number();
      assert_near("z", value(s, x, y, 0), 3.0 + 2.0 * x - y + 0.5 * x * y, 1e-12);
      assert_near("z_x", value(s, x, y, 1), 2.0 + 0.5 * y, 1e-12);
      assert_near("z_y", value(s, x, y, 2), -1.0 + 0.5 * x, 1e-12);
    }
    // of 3 + 2 x along y = 0
    for (int i = -4; i <= 4; ++i)
      assert_near("integral", asi_surface_integral(s, i), 3.0 * i + i * i, 1e-12);
    free(s);
  }
}

/// The integral's derivative is the value; of a C function too.
static int bowl(double x, double y, double out[3], void *user) {
  (void)user;
  out[0] = cos(x) + x * y;
  out[1] = -sin(x) + y;
  out[2] = x;
  return AS_DONE;
}

/// Whether a table is certain not to pull at any x >= 0 where y = 0.
static void test_pushes(void **state) {
  (void)state;
  const struct {
    double x[3], y[2], z[3]; ///< z does not depend on y
    bool pushes;
  } tables[] = {
      {{0, 1, 2}, {-1, 1}, {0, 1, 2}, true},      {{0, 1, 2}, {0, 1}, {0, 1, 2}, true},
      {{0, 1, 2}, {1e-3, 1}, {0, 1, 2}, false},   {{0, 1, 2}, {-1, 0}, {0, 1, 2}, true},
      {{0, 1, 2}, {-1, -1e-3}, {0, 1, 2}, false}, {{0, 1, 2}, {-1, 1}, {2, 1, 1}, true},
      {{0, 1, 2}, {-1, 1}, {2, 2, 1}, false}, // it goes on to fall
      {{0, 1, 2}, {-1, 1}, {1, -1e-3, 1}, false}, {{0, 1, 2}, {-1, 1}, {-1e-3, 1, 2}, false},
      {{1, 2, 3}, {-1, 1}, {1, 2, 3}, true},      {{1, 2, 3}, {-1, 1}, {0.9, 2, 3}, false},
  };
  for (size_t i = 0; i < 2 * sizeof tables / sizeof tables[0]; ++i) {
    double z[6];
    for (int k = 0; k < 6; ++k) z[k] = tables[i / 2].z[k / 2];
    const as_surface def = {.x = tables[i / 2].x,
                            .y = tables[i / 2].y,
                            .z = z,
                            .nx = 3,
                            .ny = 2,
                            .interpolation = kinds[i % 2]};
    asi_surface *s = NULL;
    as_error error;
    if (asi_surface_make(&def, "The surface", &s, &error)) fail_msg("%s", error.message);
    if (asi_surface_pushes(s) != tables[i / 2].pushes) fail_msg("table %zu", i / 2);
    free(s);
  }
}

static void test_integral(void **state) {
  (void)state;
  double z[NX * NY];
  asi_surface *all[3] = {NULL};
  as_error error;
  random_table(z);
  for (int k = 0; k < 2; ++k) all[k] = make(z, kinds[k]);
  const as_surface function = {.function = bowl};
  assert_int_equal(asi_surface_make(&function, "The surface", &all[2], &error), AS_OK);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 100; ++i) {
      const double x = 3.0 * random_number(), e = 1e-5;
      assert_near("value",
                  (asi_surface_integral(all[k], x + e) - asi_surface_integral(all[k], x - e)) /
                      (2.0 * e),
                  value(all[k], x, 0.0, 0), 1e-3);
    }
    assert_true(asi_surface_integral(all[k], 0.0) == 0.0);
    if (k == 2) assert_near("sine", asi_surface_integral(all[k], 1.2), sin(1.2), 1e-13);
    free(all[k]);
  }
}

// ---- springs ----------------------------------------------------------------------------------------

static int straight(double x, double y, double out[3], void *user) {
  (void)user;
  out[0] = 40.0 * x + 3.0 * y;
  out[1] = 40.0;
  out[2] = 3.0;
  return AS_DONE;
}

enum { PLAIN, FUNCTION, LINEAR, MONOTONE, DRY };

/// A bead that swings on a spring: plain, or by laws of two variables that say the same; DRY is another one.
static as_model *build_bead(int kind) {
  static const double x[3] = {-0.5, 0.1, 0.4}, y[3] = {-2.0, 0.5, 1.5};
  static double z[9], dry[9];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      z[3 * i + j] = 40.0 * x[i] + 3.0 * y[j];
      dry[3 * i + j] = 40.0 * x[i] + (2.0 + x[i]) * (j - 1) + 5.0 * x[i] * x[i];
    }
  static as_surface law[5] = {
      [FUNCTION] = {.function = straight},
      [LINEAR] = {.x = x, .y = y, .z = z, .nx = 3, .ny = 3, .interpolation = AS_LINEAR},
      [MONOTONE] = {.x = x, .y = y, .z = z, .nx = 3, .ny = 3, .interpolation = AS_MONOTONE},
      [DRY] = {.x = x, .y = y, .z = dry, .nx = 3, .ny = 3, .interpolation = AS_MONOTONE}};
  as_builder *b = machine_builder(0, 0, -9.81);
  as_error error;
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = AS_GROUND;
  spring.body[1] = machine_point(b, "bead", 0.8, (double[]){1.0, 0, 0}, (double[]){0, 0.5, 1.0});
  spring.point[1][0] = 1.0;
  if (kind == PLAIN) {
    spring.stiffness = 40.0;
    spring.damping = 3.0;
  } else {
    spring.law = &law[kind];
  }
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void test_same_spring(void **state) {
  (void)state;
  double q[4][3];
  as_meter meter[4];
  for (int kind = PLAIN; kind <= MONOTONE; ++kind) {
    as_model *m = build_bead(kind);
    as_integrator *integrator;
    const as_state *s = drive_to(m, AS_METHOD_INDEX2, 0.002, 1.0, &integrator);
    memcpy(q[kind], s->q, sizeof q[kind]);
    drive_imbalance(m, AS_METHOD_INDEX2, 0.002, 1.0, &meter[kind]);
    for (int i = 0; i < 3; ++i) assert_near("position", q[kind][i], q[PLAIN][i], 1e-10);
    assert_near("loss", meter[kind].dissipated, meter[PLAIN].dissipated, 1e-9);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A spring of 30 N/m that becomes 90 N/m beyond a kink: period pi (sqrt(m/30) + sqrt(m/90)). The error stays below a
/// multiple of h^2, however steps and kinks lie.
static void test_kinks(void **state) {
  (void)state;
  static const double x[3] = {-1.0, 0.0, 1.0}, y[3] = {-30.0, 0.0, 90.0};
  static const as_curve table = {.x = x, .y = y, .n = 3, .interpolation = AS_LINEAR};
  static const int steps[] = {50, 71, 100, 137, 200, 283, 400, 571, 800};
  const double m = 0.8, pi = 3.14159265358979323846;
  const double period = pi * (sqrt(m / 30.0) + sqrt(m / 90.0));
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = AS_GROUND;
  spring.body[1] = machine_point(b, "bead", m, (double[]){2, 0, 0}, (double[]){1.5, 0, 0});
  spring.point[1][0] = 2.0;
  spring.spring = &table;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  as_model *model = machine_build(b);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    const double h = period / steps[i];
    as_integrator *integrator;
    const as_state *s = drive_to(model, AS_METHOD_INDEX2, h, 3.0 * period, &integrator);
    const double off = hypot((s->q[0] - 2.0) * sqrt(60.0 / m), s->v[0] - 1.5);
    print_message("  %d steps a period: error %.2e, %.1f (h/period)^2\n", steps[i], off,
                  off * steps[i] * steps[i]);
    assert_true(off < 200.0 / steps[i] / steps[i]);
    as_integrator_destroy(integrator);
  }
  as_model_destroy(model);
}

static void test_spring_balance(void **state) {
  (void)state;
  as_model *m = build_bead(DRY);
  for (int k = 0; k < 3; ++k) {
    as_meter meter;
    drive_balance(m, rig_methods[k], 0.002, 1.0, 5e-4, &meter);
    assert_true(meter.dissipated > 0.5);
    drive_orders("spring", m, rig_methods[k], 0.002, 1.0);
  }
  as_model_destroy(m);
}

// ---- refusals ---------------------------------------------------------------------------------------

static void refuse(as_builder *b, const as_surface *law, const char *part) {
  as_error error;
  as_spring_def spring = as_default_spring_def();
  spring.name = "strut";
  spring.body[0] = AS_GROUND;
  spring.body[1] = (as_body_id){0};
  spring.point[1][0] = 1.0;
  spring.law = law;
  expect_refused(as_builder_add_spring(b, &spring, NULL, &error), &error, part);
}

static void test_refused(void **state) {
  (void)state;
  double z[NX * NY] = {0}, x[NX], bad_z[NX * NY] = {0};
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  machine_point(b, "bead", 1.0, (double[]){1, 0, 0}, (double[]){0, 0, 0});
  const as_surface def = {.x = xs, .y = ys, .z = z, .nx = NX, .ny = NY, .interpolation = AS_LINEAR};
  as_surface bad = def;
  bad.nx = 1;
  refuse(b, &bad, "law of force \"strut\" has a table of 1 by 4 points");
  bad = def;
  bad.interpolation = AS_SPLINE;
  refuse(b, &bad, "linear or monotone");
  memcpy(x, xs, sizeof x);
  bad = def;
  bad.x = x;
  x[2] = x[1];
  refuse(b, &bad, "x does not increase from -0.2 to -0.2");
  x[2] = (double)NAN;
  refuse(b, &bad, "x = nan in its table");
  bad = def;
  bad.z = bad_z;
  bad_z[NY + 2] = (double)INFINITY;
  refuse(b, &bad, "z = inf at (-0.2, 0.5)");
  // Motions may not have kinks.
  static const double t[] = {0.0, 1.0, 2.0};
  const as_curve kinked = {.x = t, .y = t, .n = 3, .interpolation = AS_LINEAR};
  as_frame_def frame = as_default_frame_def();
  frame.name = "cam";
  frame.body = AS_GROUND;
  frame.shift[0] = &kinked;
  expect_refused(as_builder_add_frame(b, &frame, NULL, &error), &error,
                 "motion of frame \"cam\" has a table with straight pieces");
  as_model *m = machine_build(b);
  assert_int_equal(as_model_forces(m), 0);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derivatives),  cmocka_unit_test(test_smooth),
      cmocka_unit_test(test_no_overshoot), cmocka_unit_test(test_steep_neighbours),
      cmocka_unit_test(test_product),      cmocka_unit_test(test_pushes),
      cmocka_unit_test(test_integral),     cmocka_unit_test(test_same_spring),
      cmocka_unit_test(test_kinks),        cmocka_unit_test(test_spring_balance),
      cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
