/// Sections of known outline: torsion constants against series, tables and Prandtl's stress function by differences; moments and shear
/// factors against sums over small pieces; materials; refusals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/beam.h"
#include "rig.h"

#define PI 3.14159265358979323846

static as_profile_properties compute(as_profile p) {
  as_profile_properties out;
  as_error error;
  if (as_profile_compute(&p, &out, &error)) fail_msg("%s", error.message);
  return out;
}

/// Timoshenko and Goodier's table of k1 = J/(h b^3), to its digits.
static void test_rectangle_table(void **state) {
  (void)state;
  static const double table[][2] = {{1.0, 0.1406}, {1.2, 0.166}, {1.5, 0.196},
                                    {2.0, 0.229},  {2.5, 0.249}, {3.0, 0.263},
                                    {4.0, 0.281},  {5.0, 0.291}, {10.0, 0.312}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    const double h = table[i][0] * 0.01;
    const double J = compute((as_profile){AS_PROFILE_RECTANGLE, 0.01, h, 0.0, 0.0}).J;
    const double turned = compute((as_profile){AS_PROFILE_RECTANGLE, h, 0.01, 0.0, 0.0}).J;
    assert_near("k1", J / (h * 1e-6), table[i][1], i == 0 ? 5e-5 : 6e-4);
    assert_near("turned", turned / J, 1.0, 1e-14);
  }
}

/// The series as it stands in books, with 20000 terms.
static void test_rectangle_series(void **state) {
  (void)state;
  for (double ratio = 1.0; ratio < 60.0; ratio *= 1.7) {
    double sum = 0.0;
    for (int n = 20001; n > 0; n -= 2) sum += tanh(n * PI * ratio / 2.0) / pow(n, 5.0);
    const double J = ratio / 3.0 * (1.0 - 192.0 / pow(PI, 5.0) / ratio * sum);
    assert_near("J", compute((as_profile){AS_PROFILE_RECTANGLE, 1.0, ratio, 0, 0}).J / J, 1.0,
                1e-13);
  }
}

// ---- pieces -----------------------------------------------------------------------------------------

static bool inside(const as_profile *p, double y, double z) {
  const double b = p->width / 2.0, h = p->height / 2.0;
  switch (p->kind) {
  case AS_PROFILE_RECTANGLE: return fabs(y) < b && fabs(z) < h;
  case AS_PROFILE_CIRCLE: return hypot(y, z) < b;
  case AS_PROFILE_TUBE: return hypot(y, z) < b && hypot(y, z) > b - p->wall;
  case AS_PROFILE_BOX:
    return fabs(y) < b && fabs(z) < h && !(fabs(y) < b - p->wall && fabs(z) < h - p->wall);
  default:
    return fabs(y) < b && fabs(z) < h && (fabs(z) > h - p->flange || fabs(y) < p->wall / 2.0);
  }
}

static const as_profile samples[] = {{AS_PROFILE_RECTANGLE, 0.4, 1.0, 0.0, 0.0},
                                     {AS_PROFILE_CIRCLE, 1.0, 0.0, 0.0, 0.0},
                                     {AS_PROFILE_TUBE, 1.0, 0.0, 0.2, 0.0},
                                     {AS_PROFILE_BOX, 0.5, 1.0, 0.1, 0.0},
                                     {AS_PROFILE_I, 0.6, 1.0, 0.1, 0.15}};

static void test_moments(void **state) {
  (void)state;
  enum { N = 800 };
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; ++i) {
    const as_profile *p = &samples[i];
    double A = 0.0, Iy = 0.0, Iz = 0.0, step = 1.0 / N;
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < N; ++k) {
        const double y = (j + 0.5) * step - 0.5, z = (k + 0.5) * step - 0.5;
        if (!inside(p, y, z)) continue;
        A += step * step;
        Iy += step * step * z * z;
        Iz += step * step * y * y;
      }
    const as_profile_properties x = compute(*p);
    assert_near("area", x.area / A, 1.0, 2e-4);
    assert_near("Iy", x.Iy / Iy, 1.0, 3e-4);
    assert_near("Iz", x.Iz / Iz, 1.0, 3e-4);
    if (p->kind == AS_PROFILE_CIRCLE || p->kind == AS_PROFILE_TUBE)
      assert_near("J", x.J / (Iy + Iz), 1.0, 3e-4);
  }
}

// ---- torsion by differences -------------------------------------------------------------------------

/// Prandtl's stress function on a grid: its Laplacian is -2, it is 0 outside and constant in the hole of a box, about which its
/// flow is twice the hole's area. J is twice its integral.
static double torsion(const as_profile *p, int n) {
  const double step = p->width / n;
  const int m = (int)lround(p->height / step), row = m + 1, size = (n + 1) * row;
  double *phi = calloc((size_t)size, sizeof *phi), hole = 0.0, sum = 0.0;
  char *kind = calloc((size_t)size, 1);
  long in_hole = 0;
  for (int a = 0; a < size; ++a) {
    const double y = step * (a / row) - p->width / 2.0, z = step * (a % row) - p->height / 2.0;
    const double tiny = 1e-9 * p->width;
    const as_profile less = {p->kind, p->width - tiny, p->height - tiny, p->wall - tiny,
                             p->flange - tiny};
    const bool within = fabs(y) < less.width / 2.0 && fabs(z) < less.height / 2.0;
    kind[a] = inside(&less, y, z) ? 1 : within && p->kind == AS_PROFILE_BOX ? 2 : 0;
    in_hole += kind[a] == 2;
  }
  const double over = 2.0 / (1.0 + sin(PI / (n > m ? n : m)));
  for (int turn = 0; turn < 4000; ++turn) {
    double change = 0.0, edge = 0.0;
    long count = 0;
    for (int a = row; a < size - row; ++a) {
      const int next[4] = {a - 1, a + 1, a - row, a + row};
      double value = step * step / 2.0;
      for (int k = 0; k < 4; ++k) {
        if (kind[a] == 1) value += 0.25 * (kind[next[k]] == 2 ? hole : phi[next[k]]);
        if (kind[a] == 2 && kind[next[k]] == 1) edge += phi[next[k]], ++count;
      }
      if (kind[a] != 1) continue;
      change = fmax(change, fabs(value - phi[a]));
      phi[a] += over * (value - phi[a]);
    }
    if (count > 0) {
      const double value = (edge + 2.0 * step * step * (double)in_hole) / (double)count;
      change = fmax(change, fabs(value - hole));
      hole = value;
    }
    if (change < 1e-11) break;
  }
  for (int a = 0; a < size; ++a) sum += kind[a] == 2 ? hole : phi[a];
  free(phi);
  free(kind);
  return 2.0 * sum * step * step;
}

static void test_torsion(void **state) {
  (void)state;
  static const struct {
    as_profile p;
    double most; ///< relative error
  } cases[] = {{{AS_PROFILE_RECTANGLE, 1.0, 2.0, 0.0, 0.0}, 1e-4},
               {{AS_PROFILE_BOX, 1.0, 1.0, 0.1, 0.0}, 2e-3},
               {{AS_PROFILE_BOX, 1.0, 2.0, 0.1, 0.0}, 2e-3},
               {{AS_PROFILE_BOX, 1.0, 1.0, 0.2, 0.0}, 1.4e-2},
               {{AS_PROFILE_I, 1.0, 1.0, 0.1, 0.1}, 8e-3},
               {{AS_PROFILE_I, 1.0, 2.0, 0.1, 0.2}, 8e-3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const double coarse = torsion(&cases[i].p, 40), fine = torsion(&cases[i].p, 80);
    const double J = (4.0 * fine - coarse) / 3.0; // near: corners let it converge more slowly
    print_message("  torsion of case %zu: %.3e\n", i, compute(cases[i].p).J / J - 1.0);
    assert_near("J", compute(cases[i].p).J / J, 1.0, cases[i].most);
  }
}

// ---- shear ------------------------------------------------------------------------------------------

/// Shear factors of thin walls by sums over the walls: 1/k = A/I^2 sum S^2/t ds.
static double factor_of_i(double b, double h, double t, double f) {
  enum { N = 2000 };
  const double H = h - f;
  double A = 2.0 * b * f + H * t, I = b * f * H * H / 2.0 + t * H * H * H / 12.0, sum = 0.0;
  for (int i = 0; i < N; ++i) {
    const double u = (i + 0.5) * b / 2.0 / N, z = (i + 0.5) * H / 2.0 / N;
    const double flange = f * u * H / 2.0, web = f * b * H / 2.0 + t * (H * H / 4.0 - z * z) / 2.0;
    sum += 4.0 * flange * flange / f * b / 2.0 / N + 2.0 * web * web / t * H / 2.0 / N;
  }
  return I * I / (A * sum);
}

static double factor_of_box(double across, double apart, double t) {
  enum { N = 2000 };
  const double a = apart / 2.0;
  double A = 2.0 * t * (across + apart), I = 0.0, sum = 0.0;
  for (int i = 0; i < N; ++i) {
    const double u = (i + 0.5) * across / 2.0 / N, z = (i + 0.5) * a / N;
    const double flat = t * u * a, upright = t * across / 2.0 * a + t * (a * a - z * z) / 2.0;
    I += 4.0 * t * (a * a * across / 2.0 + z * z * a) / N;
    sum += 4.0 * (flat * flat * across / 2.0 + upright * upright * a) / t / N;
  }
  return I * I / (A * sum);
}

static void test_shear(void **state) {
  (void)state;
  const as_profile_properties i = compute(samples[4]), box = compute(samples[3]);
  assert_near("I", i.shear_z, factor_of_i(0.6, 1.0, 0.1, 0.15), 1e-5);
  assert_near("I flanges", i.shear_y, 5.0 / 6.0 * 2.0 * 0.6 * 0.15 / i.area, 1e-12);
  assert_near("box z", box.shear_z, factor_of_box(0.4, 0.9, 0.1), 1e-5);
  assert_near("box y", box.shear_y, factor_of_box(0.9, 0.4, 0.1), 1e-5);
  // A thin tube has a half, a full circle 6/7.
  assert_near("thin", compute((as_profile){AS_PROFILE_TUBE, 1.0, 0, 1e-6, 0}).shear_y, 0.5, 1e-6);
  assert_near("full", compute(samples[1]).shear_z, 6.0 / 7.0, 1e-15);
  assert_near("rectangle", compute(samples[0]).shear_z, 5.0 / 6.0, 1e-15);
}

// ---- sections ---------------------------------------------------------------------------------------

static void test_sections(void **state) {
  (void)state;
  as_material steel;
  as_beam_section x;
  as_error error;
  assert_true(as_material_find("steel", &steel));
  assert_false(as_material_find("steal", &steel) || as_material_find(NULL, &steel));
  for (int i = 0; as_material_name(i); ++i)
    assert_true(as_material_find(as_material_name(i), &steel));
  assert_true(as_material_find("steel", &steel));
  const as_profile p = {AS_PROFILE_RECTANGLE, 0.02, 0.01, 0.0, 0.0};
  assert_int_equal(as_beam_section_of_profile(&p, &steel, &x, &error), AS_OK);
  assert_near("EA", x.stiffness[0], 210e9 * 2e-4, 1e-3);
  assert_near("GA", x.stiffness[7], 210e9 / 2.6 * 2e-4 * 5.0 / 6.0, 1e-3);
  assert_near("EIy", x.stiffness[28], 210e9 * 0.02 * 1e-6 / 12.0, 1e-9);
  assert_near("EIz", x.stiffness[35], 210e9 * 0.01 * 8e-6 / 12.0, 1e-9);
  assert_near("mass", x.mass, 7850 * 2e-4, 1e-12);
  assert_near("polar", x.inertia[0], x.inertia[1] + x.inertia[2], 1e-18);
  assert_near("about y", x.inertia[1], 7850 * 0.02 * 1e-6 / 12.0, 1e-15);
  assert_true(x.height[0] == 0.02 && x.height[1] == 0.01 && !x.round && x.modulus == 210e9);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    as_profile p;
    const char *says;
  } cases[] = {{{AS_PROFILE_RECTANGLE, -1.0, 1.0, 0, 0}, "width -1 m"},
               {{AS_PROFILE_RECTANGLE, 1.0, (double)NAN, 0, 0}, "height nan m"},
               {{AS_PROFILE_CIRCLE, 0.0, 0, 0, 0}, "diameter 0 m"},
               {{AS_PROFILE_TUBE, 1.0, 0, 0.5, 0}, "walls of 0.5 m"},
               {{AS_PROFILE_TUBE, 1.0, 0, 0.0, 0}, "wall 0 m"},
               {{AS_PROFILE_BOX, 1.0, 0.3, 0.2, 0}, "walls of 0.2 m"},
               {{AS_PROFILE_I, 1.0, 1.0, 2.0, 0.1}, "walls of 2 m"},
               {{AS_PROFILE_I, 1.0, 1.0, 0.1, 0.5}, "flanges of 0.5 m"},
               {{AS_PROFILE_I, 1.0, 1.0, 0.1, (double)INFINITY}, "flange inf m"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    as_profile_properties out;
    as_error error;
    assert_int_equal(as_profile_compute(&cases[i].p, &out, &error), AS_ERR_ARGUMENT);
    if (!strstr(error.message, cases[i].says)) fail_msg("%s", error.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rectangle_table), cmocka_unit_test(test_rectangle_series),
      cmocka_unit_test(test_moments),         cmocka_unit_test(test_torsion),
      cmocka_unit_test(test_shear),           cmocka_unit_test(test_sections),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
