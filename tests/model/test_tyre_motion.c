/// Wheels and sledges on tyres in motion: parked on a slope, braked, backwards, in the air; order, invariance, mirror images, saved states,
/// equilibrium.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drive.h"
#include "machines.h"
#include "rig.h"
#include "tyres.h"

static const double g = 9.81;

/// A rigid body on four tyres that do not turn against it: a car with locked wheels.
static as_model *build_sledge(double slope, double speed, as_body_id *body) {
  as_builder *b = machine_builder(0, 0, -g);
  const as_tyre t = tyre_of("car");
  as_road_def road = as_default_road_def();
  road.normal[1] = -slope;
  const as_road_id id = tyre_road(b, &road);
  as_body_def def = machine_round_body("car", 1500.0, 1800.0, false);
  def.position[2] = 0.5;
  def.velocity[0] = speed;
  *body = machine_body(b, &def);
  for (int i = 0; i < 4; ++i) {
    as_tyre_def tyre = as_default_tyre_def();
    tyre.tyre = &t;
    tyre.body = *body;
    tyre.road = id;
    tyre.side = i % 2 ? -1 : 1;
    tyre.center[0] = i < 2 ? 1.4 : -1.4;
    tyre.center[1] = i % 2 ? -0.8 : 0.8;
    tyre.center[2] = 0.33 + slope * tyre.center[1];
    tyre_add(b, &tyre);
  }
  return machine_build(b);
}

static void advance(as_integrator *integrator, double t) {
  as_error error;
  if (as_integrator_advance(integrator, t, &error)) fail_msg("%s", error.message);
}

/// Across a slope of 6 %: after the swing of the suspension by tyres it stands, to round-off, and is held by K/sigma.
static void test_parked(void **state) {
  (void)state;
  as_body_id body;
  as_model *m = build_sledge(0.06, 0.0, &body);
  as_integrator *integrator = drive_start(m, AS_METHOD_INDEX3, 0.01);
  const as_state *s = as_integrator_state(integrator);
  advance(integrator, 40.0);
  double there[3], sideways = 0.0;
  memcpy(there, s->q, sizeof there);
  for (int i = 0; i < 4; ++i) {
    const as_tyre_contact c = tyre_look(m, s, (as_force_id){i});
    for (int k = 0; k < 3; ++k) sideways += c.force[1] * c.axes[3 + k] * (k == 1);
  }
  advance(integrator, 60.0);
  for (int k = 0; k < 3; ++k) {
    assert_near("speed", s->v[k], 0.0, 1e-9);
    assert_near("creep", s->q[k], there[k], 1e-9);
  }
  const double hold = 1500.0 * g * 0.06 / (1.0 + 0.06 * 0.06);
  assert_near("held", sideways, hold, 1e-4 * hold);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// Locked wheels from 5 m/s: it slides for about v/(mu g), mu that of locked wheels, and stands then.
static void test_braked(void **state) {
  (void)state;
  as_body_id body;
  as_model *m = build_sledge(0.0, 5.0, &body);
  as_integrator *integrator = drive_start(m, AS_METHOD_INDEX3, 0.005);
  const as_state *s = as_integrator_state(integrator);
  advance(integrator, 5.0);
  const double way = s->q[0];
  print_message("  %.4f m\n", way);
  assert_true(way > 25.0 / (2.0 * 1.25 * g) && way < 25.0 / (2.0 * 0.8 * g));
  advance(integrator, 15.0);
  assert_near("rest", s->v[0], 0.0, 1e-8);
  assert_near("creep", s->q[0], way, 1e-3);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// A wheel with a load that rolls freely upright, in a plane y = const without turning about x and z.
static as_model *build_roller(double speed, const as_road_def *road, as_method *method,
                              as_force_id *force) {
  as_builder *b = machine_builder(0, 0, -g);
  const as_tyre t = tyre_of("car");
  as_body_def axle = machine_round_body("axle", 380.0, 30.0, false);
  axle.position[2] = 0.332;
  axle.velocity[0] = speed;
  as_body_def wheel = tyre_wheel("wheel", 0, 0, 0.332, false);
  wheel.velocity[0] = speed;
  wheel.angular_velocity[1] = speed / 0.3375;
  (void)method;
  const as_body_id carrier = machine_body(b, &axle);
  as_tyre_def tyre = as_default_tyre_def();
  tyre.tyre = &t;
  tyre.body = machine_body(b, &wheel);
  if (road) tyre.road = tyre_road(b, road);
  const double point[3] = {0, 0, 0.332}, y[3] = {0, 1, 0};
  machine_joint(b, "hub", AS_JOINT_REVOLUTE, carrier, tyre.body, point, y);
  machine_joint(b, "rail", AS_JOINT_PLANAR, AS_GROUND, carrier, point, y);
  *force = tyre_add(b, &tyre);
  // The axle does not turn.
  as_torsion_def hold = as_default_torsion_def();
  as_error error;
  hold.body[0] = AS_GROUND;
  hold.body[1] = carrier;
  hold.axis[1] = 1.0;
  hold.stiffness = 1e4;
  hold.damping = 300.0;
  if (as_builder_add_torsion(b, &hold, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

/// Rolling resistance slows down, forwards and backwards alike: with the centre h above the road, m v' = F_x and J v'/R_e = M_y - h F_x.
static void test_backwards(void **state) {
  (void)state;
  double slowed[2];
  for (int i = 0; i < 2; ++i) {
    as_force_id force;
    const double v = i ? -8.0 : 8.0;
    as_model *m = build_roller(v, NULL, NULL, &force);
    as_integrator *integrator = drive_start(m, AS_METHOD_INDEX3, 0.005);
    const as_state *s = as_integrator_state(integrator);
    advance(integrator, 1.0);
    const double before = fabs(s->v[0]);
    advance(integrator, 3.0);
    slowed[i] = (before - fabs(s->v[0])) / 2.0;
    const as_tyre_contact c = tyre_look(m, s, force);
    assert_true(c.moment[1] * v < 0.0 && c.force[2] > 3900.0);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
  const double h = 0.344 - 400.0 * g / 280835.0, My = 0.01 * 0.344 * 400.0 * g;
  const double expected = My / (1.35 / 0.3375 + 400.0 * h);
  print_message("  %.5f and %.5f m/s^2, by hand %.5f\n", slowed[0], slowed[1], expected);
  assert_near("forwards", slowed[0], expected, 5e-3 * expected);
  assert_near("backwards", slowed[1], expected, 5e-3 * expected);
}

/// Thrown up it flies: 5 N and no more act on it; it lands and loses energy.
static void test_flight(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  for (int i = 0; i < 2; ++i) {
    as_builder *b = machine_builder(0, 0, -g);
    const as_tyre t = tyre_of("car");
    as_body_def wheel = tyre_wheel("wheel", 0, 0, 0.34, i == 1);
    wheel.mass = 300.0;
    wheel.velocity[0] = 10.0;
    wheel.velocity[2] = 2.0;
    wheel.angular_velocity[1] = 29.0;
    as_tyre_def tyre = as_default_tyre_def();
    tyre.tyre = &t;
    tyre.body = machine_body(b, &wheel);
    const as_force_id force = tyre_add(b, &tyre);
    as_model *m = machine_build(b);
    as_integrator *integrator = drive_start(m, methods[i], 1e-3);
    const as_state *s = as_integrator_state(integrator);
    as_error error;
    as_energy start, end;
    assert_int_equal(as_model_energy(m, s, &start, &error), AS_OK);
    advance(integrator, 0.2);
    assert_true(s->q[2] > 0.5);
    assert_near("in the air", tyre_look(m, s, force).force[2], 5.0, 0.01);
    advance(integrator, 0.43);
    assert_true(tyre_look(m, s, force).force[2] > 1000.0);
    advance(integrator, 3.0);
    assert_int_equal(as_model_energy(m, s, &end, &error), AS_OK);
    assert_true(end.kinetic + end.potential < start.kinetic + start.potential);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// Second order in q, v, v', lambda and in the states u and v, on a smooth road with hills.
static void test_order(void **state) {
  (void)state;
  static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2};
  as_road_def road = as_default_road_def();
  road.kind = AS_ROAD_FORMULA;
  road.formula = "0.01*(1 - cos(2*x))";
  as_force_id force;
  as_model *m = build_roller(3.0, &road, NULL, &force);
  for (int i = 0; i < 2; ++i) {
    double x[3][2];
    drive_orders("roller", m, methods[i], 2.5e-4, 0.3);
    for (int k = 0; k < 3; ++k) {
      as_integrator *integrator;
      const as_state *s = drive_to(m, methods[i], 2.5e-4 / (1 << k), 0.3, &integrator);
      memcpy(x[k], s->x, sizeof x[k]);
      as_integrator_destroy(integrator);
    }
    const double order = log2(fabs(x[0][0] - x[1][0]) / fabs(x[1][0] - x[2][0]));
    print_message("  u: order %.2f\n", order);
    assert_true(order > 1.8 && order < 2.2);
  }
  as_model_destroy(m);
}

/// The world turned about z and shifted on an inclined plane: the same motion, turned and shifted.
static void test_turned_world(void **state) {
  (void)state;
  double end[2][6];
  const double angle = 0.7, c = cos(angle), si = sin(angle), shift[3] = {13.0, -4.0, 2.0};
  for (int i = 0; i < 2; ++i) {
    as_builder *b = machine_builder(0, 0, -g);
    const as_tyre t = tyre_of("all_terms");
    as_road_def road = as_default_road_def();
    as_body_def wheel = tyre_wheel("wheel", 0, 0, 0.33, false);
    wheel.mass = 300.0;
    wheel.velocity[0] = 6.0;
    wheel.velocity[1] = 0.3;
    wheel.angular_velocity[0] = 0.2;
    wheel.angular_velocity[1] = 18.0;
    road.normal[0] = 0.08;
    road.normal[1] = -0.05;
    as_tyre_def tyre = as_default_tyre_def();
    tyre.tyre = &t;
    if (i == 1) {
      const double n[2] = {road.normal[0], road.normal[1]}, v[2] = {6.0, 0.3};
      road.normal[0] = c * n[0] - si * n[1];
      road.normal[1] = si * n[0] + c * n[1];
      wheel.velocity[0] = c * v[0] - si * v[1];
      wheel.velocity[1] = si * v[0] + c * v[1];
      wheel.quaternion[0] = cos(angle / 2.0);
      wheel.quaternion[3] = sin(angle / 2.0);
      memcpy(road.point, shift, sizeof shift);
      for (int k = 0; k < 3; ++k) wheel.position[k] += shift[k];
      tyre.axis[0] = -si;
      tyre.axis[1] = c;
    }
    tyre.body = machine_body(b, &wheel);
    tyre.road = tyre_road(b, &road);
    tyre_add(b, &tyre);
    as_model *m = machine_build(b);
    as_integrator *integrator = drive_start(m, AS_METHOD_INDEX3, 1e-3);
    advance(integrator, 0.5);
    const as_state *s = as_integrator_state(integrator);
    memcpy(end[i], s->q, 3 * sizeof(double));
    memcpy(end[i] + 3, s->x, 2 * sizeof(double));
    if (i == 1) {
      double x[3];
      for (int k = 0; k < 3; ++k) x[k] = end[1][k] - shift[k];
      end[1][0] = c * x[0] + si * x[1];
      end[1][1] = -si * x[0] + c * x[1];
      end[1][2] = x[2];
    }
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
  for (int k = 0; k < 5; ++k) assert_near("turned", end[1][k], end[0][k], 1e-9);
}

/// Two wheels that are mirror images have forces that are, whatever the tyre was measured on; and the road pushes back.
static void test_mirror_images(void **state) {
  (void)state;
  for (int right = 0; right < 2; ++right) {
    as_builder *b = machine_builder(0, 0, -g);
    as_tyre t = tyre_of("all_terms");
    t.measured_right = right == 1;
    for (int i = 0; i < 2; ++i) {
      const double mirror = i ? -1.0 : 1.0, roll = 0.05;
      as_body_def wheel = tyre_wheel(i ? "right" : "left", 0, 0.8 * mirror, 0.33, false);
      wheel.mass = 350.0;
      wheel.velocity[0] = 9.0;
      wheel.velocity[1] = 0.4 * mirror;
      wheel.angular_velocity[1] = 28.0;
      wheel.angular_velocity[2] = 0.3 * mirror;
      wheel.quaternion[0] = cos(roll / 2.0);
      wheel.quaternion[1] = mirror * sin(roll / 2.0);
      as_tyre_def tyre = as_default_tyre_def();
      tyre.tyre = &t;
      tyre.body = machine_body(b, &wheel);
      tyre.side = i ? -1 : 1;
      tyre.axis[1] = cos(roll);
      tyre.axis[2] = mirror * sin(roll);
      tyre_add(b, &tyre);
    }
    as_model *m = machine_build(b);
    as_integrator *integrator = drive_start(m, AS_METHOD_INDEX3, 1e-3);
    advance(integrator, 0.05);
    const as_state *s = as_integrator_state(integrator);
    const as_tyre_contact l = tyre_look(m, s, (as_force_id){0}),
                          r = tyre_look(m, s, (as_force_id){1});
    assert_true(fabs(l.force[1]) > 100.0 && fabs(l.moment[0]) > 1.0 && fabs(l.camber) > 0.01);
    assert_near("Fx", r.force[0], l.force[0], 1e-9 * fabs(l.force[0]) + 1e-9);
    assert_near("Fy", r.force[1], -l.force[1], 1e-9 * fabs(l.force[1]));
    assert_near("Mx", r.moment[0], -l.moment[0], 1e-8);
    assert_near("My", r.moment[1], l.moment[1], 1e-8);
    assert_near("Mz", r.moment[2], -l.moment[2], 1e-8);
    // On the ground about the origin, and on the wheel about its centre:
    as_wrench ground, wheel;
    as_error error;
    if (as_model_force(m, s, (as_force_id){0}, 0, &ground, &error) ||
        as_model_force(m, s, (as_force_id){0}, 1, &wheel, &error))
      fail_msg("%s", error.message);
    const double *x = s->q, *F = wheel.force;
    const double about[3] = {x[1] * F[2] - x[2] * F[1], x[2] * F[0] - x[0] * F[2],
                             x[0] * F[1] - x[1] * F[0]};
    for (int k = 0; k < 3; ++k) {
      assert_near("force", ground.force[k], -F[k], 1e-9);
      assert_near("torque", ground.torque[k], -(wheel.torque[k] + about[k]), 1e-8);
    }
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// A run that is saved and taken up again goes on the same way, in every bit.
static void test_saved(void **state) {
  (void)state;
  as_body_id body;
  as_model *m = build_sledge(0.02, 3.0, &body);
  as_integrator *one = drive_start(m, AS_METHOD_INDEX3, 0.005),
                *other = drive_start(m, AS_METHOD_INDEX3, 0.005);
  as_error error;
  size_t size = 0;
  advance(one, 0.3);
  if (as_integrator_save(one, NULL, &size, &error)) fail_msg("%s", error.message);
  void *data = malloc(size);
  assert_non_null(data);
  if (as_integrator_save(one, data, &size, &error) || as_integrator_load(other, data, size, &error))
    fail_msg("%s", error.message);
  advance(one, 0.8);
  advance(other, 0.8);
  const as_state *a = as_integrator_state(one), *b = as_integrator_state(other);
  assert_memory_equal(a->x, b->x, 8 * sizeof(double));
  assert_memory_equal(a->q, b->q, 7 * sizeof(double));
  free(data);
  as_integrator_destroy(one);
  as_integrator_destroy(other);
  as_model_destroy(m);
}

/// The equilibrium on a level road has u = v = 0 and carries the weight.
static void test_equilibrium(void **state) {
  (void)state;
  as_body_id body;
  as_model *m = build_sledge(0.0, 0.0, &body);
  const as_analysis_def def = as_default_analysis_def();
  as_analysis *analysis = NULL;
  as_equilibrium found;
  as_error error;
  if (as_analysis_create(as_model_problem(m), &def, &analysis, &error) ||
      as_analysis_equilibrium(analysis, as_model_initial(m), &found, &error))
    fail_msg("%s", error.message);
  const as_state *s = as_analysis_state(analysis);
  double carried = 0.0;
  for (int i = 0; i < 8; ++i) assert_near("string", s->x[i], 0.0, 1e-12);
  for (int i = 0; i < 4; ++i) carried += tyre_look(m, s, (as_force_id){i}).force[2];
  assert_near("weight", carried, 1500.0 * g, 1e-6);
  as_analysis_destroy(analysis);
  as_model_destroy(m);
}

/// Power that is supplied is what the energy changes by.
static void test_energy(void **state) {
  (void)state;
  as_body_id body;
  as_model *m = build_sledge(0.0, 5.0, &body);
  as_meter meter = {0};
  drive_balance(m, AS_METHOD_INDEX2, 1e-3, 0.2, 3.0, &meter);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parked),        cmocka_unit_test(test_braked),
      cmocka_unit_test(test_backwards),     cmocka_unit_test(test_flight),
      cmocka_unit_test(test_order),         cmocka_unit_test(test_turned_world),
      cmocka_unit_test(test_mirror_images), cmocka_unit_test(test_saved),
      cmocka_unit_test(test_energy),        cmocka_unit_test(test_equilibrium)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
