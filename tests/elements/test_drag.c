/// Drag: closed forms of a fall, tangents by differences, order, energy in wind, refusals.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/check.h"
#include "alphastep/drag.h"
#include "drive.h"
#include "machines.h"
#include "rig.h"

static void add_drag(as_builder *b, const as_drag_def *def) {
  as_error error;
  if (as_builder_add_drag(b, def, NULL, &error)) fail_msg("%s", error.message);
}

/// A drag in an updraught, which only moves the system in which the closed form holds.
static as_model *falling(double area, double viscous, bool se3) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def body = machine_round_body("ball", 2.0, 0.1, se3);
  body.velocity[2] = 3.0;
  as_drag_def def = as_default_drag_def();
  def.body = machine_body(b, &body);
  for (int i = 0; i < 3; ++i) def.area[i] = area;
  def.viscous = viscous;
  def.wind[2] = 3.0;
  add_drag(b, &def);
  return machine_build(b);
}

/// From rest in the fluid: v = v_end tanh(g t/v_end), h = v_end^2/g ln cosh(g t/v_end) with v_end^2 = 2 m g/(rho S); by the viscous
/// part alone v = v_end (1 - exp(-g t/v_end)) with v_end = m g/c.
static void test_fall(void **state) {
  (void)state;
  const double g = 9.81, t = 1.5, area = 0.4, c = 5.0;
  const double v_end[2] = {sqrt(2.0 * 2.0 * g / (1.225 * area)), 2.0 * g / c};
  for (int k = 0; k < 4; ++k) {
    const bool viscous = k % 2 == 1;
    const double V = v_end[viscous], T = g * t / V;
    const double v = viscous ? V * (1.0 - exp(-T)) : V * tanh(T);
    const double h = viscous ? V * (t - V / g * (1.0 - exp(-T))) : V * V / g * log(cosh(T));
    double error[2][2];
    for (int run = 0; run < 2; ++run) {
      as_model *m = falling(viscous ? 0.0 : area, viscous ? c : 0.0, k >= 2);
      as_integrator *integrator;
      const as_state *s = drive_to(m, AS_METHOD_INDEX2, run ? 5e-3 : 1e-2, t, &integrator);
      error[run][0] = fabs(3.0 - v - s->v[2]);
      error[run][1] = fabs(3.0 * t - h - s->q[2]);
      as_integrator_destroy(integrator);
      as_model_destroy(m);
    }
    for (int i = 0; i < 2; ++i) {
      assert_near(i == 0 ? "velocity" : "height", error[0][i], 0.0, 2e-4);
      assert_near("order", log2(error[0][i] / error[1][i]), 2.0, 0.1);
    }
  }
}

/// A plate that tumbles in the wind, with drags of three areas beside its centre of mass, round ones beside it and in it; another
/// with three areas in its centre; and a point mass.
static as_model *tumbling(bool se3) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def plate = machine_round_body("plate", 0.5, 0.02, se3);
  const double moment[3] = {0.01, 0.02, 0.03}, spin[3] = {3.0, -1.0, 2.0};
  memcpy(plate.inertia, moment, sizeof moment);
  memcpy(plate.angular_velocity, spin, sizeof spin);
  plate.quaternion[0] = 0.8;
  plate.quaternion[2] = 0.6;
  as_drag_def def = as_default_drag_def();
  def.body = machine_body(b, &plate);
  const double point[3] = {0.1, -0.05, 0.2}, area[3] = {0.02, 0.05, 0.3}, wind[3] = {4, -2, 1};
  memcpy(def.point, point, sizeof point);
  memcpy(def.area, area, sizeof area);
  memcpy(def.wind, wind, sizeof wind);
  def.viscous = 0.1;
  add_drag(b, &def);
  def.area[0] = def.area[1] = def.area[2] = 0.1;
  add_drag(b, &def);
  for (int i = 0; i < 3; ++i) def.point[i] = (double)NAN;
  add_drag(b, &def);
  plate.name = "other";
  plate.position[1] = 1.0;
  def.body = machine_body(b, &plate);
  memcpy(def.area, area, sizeof area);
  add_drag(b, &def);
  def.body = machine_point(b, "grain", 0.1, (const double[3]){1, 0, 0}, (const double[3]){0, 1, 0});
  add_drag(b, &def);
  return machine_build(b);
}

static void test_tangents(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    as_model *m = tumbling(se3);
    as_integrator *integrator;
    as_error error;
    for (double t = 0.1; t < 0.6; t += 0.2) {
      const as_state *s = drive_to(m, AS_METHOD_INDEX2, 1e-3, t, &integrator);
      as_check_def check = as_default_check_def();
      check.near = (as_point){.t = s->t, .q = s->q, .v = s->v};
      if (as_problem_check(as_model_problem(m), &check, NULL, &error))
        fail_msg("%s", error.message);
      as_integrator_destroy(integrator);
    }
    drive_orders("tumbling plate", m, AS_METHOD_INDEX2, 4e-3, 0.2);
    as_meter meter = {0};
    drive_balance(m, AS_METHOD_INDEX2, 2e-3, 0.5, 1e-2, &meter);
    assert_true(meter.dissipated > 1.0 && fabs(meter.forces) > 1.0); // both parts count
    as_model_destroy(m);
  }
}

/// The wind supplies F . w, all else is dissipated.
static void test_power(void **state) {
  (void)state;
  as_model *m = tumbling(false);
  as_integrator *integrator;
  as_error error;
  as_power power;
  const as_state *s = drive_to(m, AS_METHOD_INDEX2, 1e-3, 0.2, &integrator);
  const double wind[3] = {4, -2, 1};
  double supplied = 0.0;
  for (int k = 0; k < as_model_forces(m); ++k) {
    as_wrench w;
    assert_int_equal(as_model_force(m, s, (as_force_id){k}, 0, &w, &error), AS_OK);
    for (int i = 0; i < 3; ++i) supplied += w.force[i] * wind[i];
  }
  assert_int_equal(as_model_power(m, s, &power, &error), AS_OK);
  assert_near("supplied", power.forces, supplied, 1e-13 * fabs(supplied));
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_refused(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, 0, 0);
  as_error error;
  as_body_def body = machine_round_body("ball", 2.0, 0.1, false);
  as_drag_def good = as_default_drag_def(), def;
  good.name = "air";
  good.body = machine_body(b, &body);
  def = good;
  expect_refused(as_builder_add_drag(b, &def, NULL, &error), &error, "\"air\" has neither areas");
  good.viscous = 1.0;
  def = good;
  def.area[1] = -1.0;
  expect_refused(as_builder_add_drag(b, &def, NULL, &error), &error,
                 "drag area of force \"air\" is -1");
  def = good;
  def.density = (double)NAN;
  expect_refused(as_builder_add_drag(b, &def, NULL, &error), &error, "density of force \"air\" is");
  def = good;
  def.wind[2] = (double)INFINITY;
  expect_refused(as_builder_add_drag(b, &def, NULL, &error), &error, "Component 3 of the wind");
  def = good;
  def.body = AS_GROUND;
  expect_refused(as_builder_add_drag(b, &def, NULL, &error), &error, "acts on the ground");
  def = good;
  def.body = AS_NO_BODY;
  assert_int_not_equal(as_builder_add_drag(b, &def, NULL, &error), AS_OK);
  def = good;
  def.body = machine_point(b, "grain", 0.1, (const double[3]){0, 0, 0}, (const double[3]){0, 0, 0});
  def.point[0] = 1.0;
  def.point[1] = def.point[2] = 0.0;
  assert_int_not_equal(as_builder_add_drag(b, &def, NULL, &error), AS_OK); // beside a point mass
  as_builder_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fall), cmocka_unit_test(test_tangents),
                                     cmocka_unit_test(test_power), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
