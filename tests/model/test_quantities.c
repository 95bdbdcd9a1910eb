/// Energies, work and momenta of machines; and elements of the user's own.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"

static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};
static const double origin[3] = {0, 0, 0};
static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};

static as_integrator *start(const as_model *m, as_method method, double h) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = method;
  def.step = h;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

// ---- energy -------------------------------------------------------------------------------------------

/// phi = 0.8 t + 0.5 sin(3 t)
static int swing(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.8 * t + 0.5 * sin(3.0 * t);
  out[1] = 0.8 + 1.5 * cos(3.0 * t);
  out[2] = -4.5 * sin(3.0 * t);
  return AS_DONE;
}

static int pulse(double t, double out[3], void *user) {
  (void)user;
  out[0] = 1.0 + cos(5.0 * t);
  out[1] = -5.0 * sin(5.0 * t);
  out[2] = -25.0 * cos(5.0 * t);
  return AS_DONE;
}

/// A crank that is driven, a rod, a slider on a spring with a table and a damper; a torsional spring and
/// damper in the crank pin; a force on the slider that changes; a free body that is dragged along. With
/// everything that energy can flow through.
static as_model *build_engine(bool se3) {
  static const double strain[] = {-0.5, 0.0, 0.2, 0.6}, tension[] = {-30.0, 0.0, 8.0, 40.0};
  static const as_curve law = {.function = swing}, push = {.function = pulse};
  static const as_curve table = {.x = strain, .y = tension, .n = 4};
  const double pin[3] = {0.3, 0, 0}, wrist[3] = {1.3, 0, 0};
  as_error error;
  as_builder *b = machine_builder(0, -9.81, 0);
  as_body_def def = machine_round_body("crank", 1.2, 0.05, se3);
  def.position[0] = 0.1;
  def.angular_velocity[2] = 2.3;
  def.velocity[1] = 0.23;
  const as_body_id crank = machine_body(b, &def);
  def = machine_round_body("rod", 0.8, 0.1, se3);
  def.position[0] = 0.8;
  const as_body_id rod = machine_body(b, &def);
  def = machine_round_body("slider", 0.5, 0.02, se3);
  def.position[0] = 1.3;
  const as_body_id slider = machine_body(b, &def);
  const as_joint_id bearing =
      machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, crank, origin, z_axis);
  machine_joint(b, "crank pin", AS_JOINT_REVOLUTE, crank, rod, pin, z_axis);
  machine_joint(b, "wrist", AS_JOINT_SPHERICAL, rod, slider, wrist, NULL);
  machine_joint(b, "guide", AS_JOINT_POINT_ON_LINE, AS_GROUND, slider, wrist, x_axis);
  as_motion_def motor = as_default_motion_def();
  motor.joint = bearing;
  motor.law = &law;
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = AS_GROUND;
  spring.body[1] = slider;
  spring.point[0][0] = 2.0;
  spring.point[0][1] = 0.1;
  memcpy(spring.point[1], wrist, sizeof wrist);
  spring.damping = 1.5;
  spring.spring = &table;
  as_torsion_def torsion = as_default_torsion_def();
  torsion.body[0] = crank;
  torsion.body[1] = rod;
  torsion.axis[2] = 1.0;
  torsion.stiffness = 2.0;
  torsion.damping = 0.3;
  as_load_def load = as_default_load_def();
  load.body = slider;
  load.force[0] = 6.0;
  load.torque[0] = 0.01;
  memcpy(load.point, wrist, sizeof wrist);
  load.factor = &push;
  if (as_builder_add_motion(b, &motor, NULL, &error) ||
      as_builder_add_spring(b, &spring, NULL, &error) ||
      as_builder_add_torsion(b, &torsion, NULL, &error) ||
      as_builder_add_load(b, &load, NULL, &error))
    fail_msg("%s", error.message);
  return machine_build(b);
}

/// The largest change of kinetic + potential + dissipated - forces - motions on the way.
static double imbalance(const as_model *m, as_method method, double h, as_meter *meter) {
  as_integrator *integrator = start(m, method, h);
  as_error error;
  double first = 0.0, worst = 0.0;
  *meter = (as_meter){0};
  for (int i = 0; i <= (int)lround(1.0 / h); ++i) {
    if (i > 0 && as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    as_energy energy = {0};
    if (as_meter_update(meter, m, s, &error) || as_model_energy(m, s, &energy, &error))
      fail_msg("%s", error.message);
    const double sum =
        energy.kinetic + energy.potential + meter->dissipated - meter->forces - meter->motions;
    if (i == 0) first = sum;
    worst = fmax(worst, fabs(sum - first));
  }
  as_integrator_destroy(integrator);
  return worst;
}

static void test_energy_balance(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; ++k) {
      as_model *m = build_engine(se3);
      as_meter meter;
      const double coarse = imbalance(m, methods[k], 0.002, &meter);
      const double fine = imbalance(m, methods[k], 0.001, &meter);
      print_message("  method %d: balance off by %.2e, %.2e; dissipated %.3f, forces %.3f, motions "
                    "%.3f J\n",
                    (int)methods[k], coarse, fine, meter.dissipated, meter.forces, meter.motions);
      assert_true(coarse < 2e-3);
      assert_true(log2(coarse / fine) > 1.9);
      // Each part matters: none may be missing unnoticed.
      assert_true(meter.dissipated > 0.1 && fabs(meter.forces) > 0.1 && fabs(meter.motions) > 0.1);
      as_model_destroy(m);
    }
}

// ---- momentum -----------------------------------------------------------------------------------------

/// Two bodies and a bead with a joint and a spring, flying freely: momenta stay, the centre of mass falls. Linear
/// momentum is kept to round-off where velocities are in the world; on SE(3) to second order.
static void check_momentum(bool se3, double tolerance) {
  const double g[3] = {0.3, 0.0, -9.81};
  as_builder *b = machine_builder(g[0], g[1], g[2]);
  as_error error;
  as_body_def def = machine_round_body("a", 2.0, 0.3, false);
  def.inertia[0] = 0.5;
  def.angular_velocity[1] = 3.0;
  def.angular_velocity[2] = 1.0;
  const as_body_id first = machine_body(b, &def);
  def = machine_round_body("b", 1.0, 0.2, se3);
  def.position[0] = 1.0;
  const as_body_id second = machine_body(b, &def);
  const as_body_id bead = machine_point(b, "c", 0.7, (double[]){0, 1, 0}, (double[]){1, 0, 2});
  machine_joint(b, "hinge", AS_JOINT_REVOLUTE, first, second, (double[]){0.5, 0, 0}, y_axis);
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = second;
  spring.body[1] = bead;
  spring.point[0][0] = 1.0;
  spring.point[1][1] = 1.0;
  spring.stiffness = 20.0;
  spring.damping = 0.5;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-3);
  as_momentum before, after;
  as_model_momentum(m, as_integrator_state(integrator), &before);
  const double t = 0.5;
  if (as_integrator_advance(integrator, t, &error)) fail_msg("%s", error.message);
  as_model_momentum(m, as_integrator_state(integrator), &after);
  assert_true(fabs(after.mass - 3.7) < 1e-14);
  for (int i = 0; i < 3; ++i) {
    const double expected = before.linear[i] + after.mass * g[i] * t;
    assert_true(fabs(after.linear[i] - expected) < tolerance);
    const double fall =
        before.center_of_mass[i] + before.linear[i] / after.mass * t + g[i] * t * t / 2.0;
    assert_true(fabs(after.center_of_mass[i] - fall) < 1e-5);
  }
  // About the centre of mass, angular momentum is kept: L - m c x v.
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double l0 = before.angular[i] - before.center_of_mass[j] * before.linear[k] +
                      before.center_of_mass[k] * before.linear[j];
    const double l1 = after.angular[i] - after.center_of_mass[j] * after.linear[k] +
                      after.center_of_mass[k] * after.linear[j];
    assert_true(fabs(l1 - l0) < 1e-5);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void test_momentum(void **state) {
  (void)state;
  check_momentum(false, 1e-8);
  check_momentum(true, 1e-5);
}

// ---- elements of the user's own -------------------------------------------------------------------------

/// A rope over pulleys: sum of factor_i z_i = length.
typedef struct rope {
  double factor[3], length;
} rope;

static int rope_evaluate(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const rope *r = data;
  if (out->g) out->g[0] = -r->length;
  for (int b = 0; b < 3; ++b) {
    if (out->g) out->g[0] += r->factor[b] * in->body[b]->x[2];
    if (out->g_q) out->g_q[6 * b + 2] = r->factor[b];
    if (out->rate) out->rate[0] += r->factor[b] * in->body[b]->v[2];
  }
  return AS_DONE;
}

static const as_element_type rope_type = {"rope", rope_evaluate, NULL, NULL};

/// Drag of the air, quadratic: f = -c |v| v.
static int drag_evaluate(const as_element_input *in, const as_element_output *out,
                         const void *data) {
  const double c = *(const double *)data, *v = in->body[0]->v;
  const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int i = 0; i < 3; ++i) {
    if (out->force) out->force[i] = -c * speed * v[i];
    for (int j = 0; j < 3 && out->f_v && speed > 0.0; ++j)
      out->f_v[6 * i + j] = -c * (v[i] * v[j] / speed + (i == j ? speed : 0.0));
  }
  return AS_DONE;
}

static void drag_power(const as_element_input *in, as_element_power *out, const void *data) {
  const double c = *(const double *)data, *v = in->body[0]->v;
  out->dissipated = c * pow(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 1.5);
}

static const as_element_type drag_type = {"drag", drag_evaluate, NULL, drag_power};

/// Two weights and a movable pulley between them, each on another space: z_1 + z_2 + 2 z_3 = const. With the
/// rope's tension T: m_i a_i = T c_i - m_i g, so T = g (c_1 + c_2 + c_3) / (sum of c_i^2/m_i).
static void test_user_constraint(void **state) {
  (void)state;
  const double mass[3] = {1.0, 2.0, 3.0}, g = 9.81;
  const rope data = {{1.0, 1.0, 2.0}, 0.0};
  as_builder *b = machine_builder(0, 0, -g);
  as_error error;
  as_element_def def = as_default_element_def();
  def.name = "rope";
  def.type = &rope_type;
  def.n_bodies = 3;
  def.n_rows = 1;
  def.data = &data;
  def.data_size = sizeof data;
  def.forceless = true;
  def.body[0] = machine_point(b, "left", mass[0], origin, origin);
  as_body_def body = machine_round_body("right", mass[1], 1.0, false);
  def.body[1] = machine_body(b, &body);
  body = machine_round_body("pulley", mass[2], 1.0, true);
  body.quaternion[0] = 0.6; // any: nothing turns
  body.quaternion[1] = 0.8;
  def.body[2] = machine_body(b, &body);
  as_element_id id;
  if (as_builder_add_element(b, &def, &id, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  assert_int_equal(as_model_find_joint(m, "rope").index, id.joint.index);
  as_check_def check = as_default_check_def();
  check.near.q = as_model_initial(m)->q;
  check.spread = 1.0;
  if (as_problem_check(as_model_problem(m), &check, NULL, &error)) fail_msg("%s", error.message);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-3);
  if (as_integrator_advance(integrator, 1.0, &error)) fail_msg("%s", error.message);
  const as_state *s = as_integrator_state(integrator);
  double sum = 0.0;
  for (int i = 0; i < 3; ++i) sum += data.factor[i] * data.factor[i] / mass[i];
  const double tension = 4.0 * g / sum;
  assert_true(fabs(s->lambda[as_model_joint_row(m, id.joint)] + tension) < 1e-7); // f = -lambda c
  for (int i = 0; i < 3; ++i) {
    as_body_motion at;
    as_model_body_motion(m, s, (as_body_id){i}, &at);
    assert_true(fabs(at.x[2] - (tension * data.factor[i] / mass[i] - g) / 2.0) < 1e-7);
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// A parachute: v = -v_end tanh(g t / v_end), v_end^2 = m g/c.
static void test_user_force(void **state) {
  (void)state;
  const double m0 = 2.0, g = 9.81, c = 0.5, end = sqrt(m0 * g / c);
  for (int se3 = 0; se3 < 2; ++se3) {
    as_builder *b = machine_builder(0, 0, -g);
    as_error error;
    as_body_def body = machine_round_body("jumper", m0, 1.0, se3);
    body.angular_velocity[0] = 2.0; // tumbling does not matter
    as_element_def def = as_default_element_def();
    def.name = "parachute";
    def.type = &drag_type;
    def.n_bodies = 1;
    def.data = &c;
    def.data_size = sizeof c;
    def.body[0] = machine_body(b, &body);
    as_element_id id;
    if (as_builder_add_element(b, &def, &id, &error)) fail_msg("%s", error.message);
    as_model *m = machine_build(b);
    assert_int_equal(as_model_find_force(m, "parachute").index, id.force.index);
    const double v[6] = {1, -2, 3, 0.3, 0.4, 0.5};
    as_check_def check = as_default_check_def();
    check.near.q = as_model_initial(m)->q;
    check.near.v = v;
    check.spread = 0.5;
    if (as_problem_check(as_model_problem(m), &check, NULL, &error)) fail_msg("%s", error.message);
    as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-3);
    as_meter meter = {0};
    as_energy energy;
    for (int i = 0; i <= 1000; ++i) {
      if (i > 0 && as_integrator_step(integrator, 1e-3, &error)) fail_msg("%s", error.message);
      if (as_meter_update(&meter, m, as_integrator_state(integrator), &error))
        fail_msg("%s", error.message);
    }
    as_body_motion at;
    as_model_body_motion(m, as_integrator_state(integrator), (as_body_id){0}, &at);
    assert_true(fabs(at.v[2] + end * tanh(g / end)) < 1e-5);
    assert_int_equal(as_model_energy(m, as_integrator_state(integrator), &energy, &error), AS_OK);
    const double spin = 2.0; // J omega^2/2, as at the start
    assert_true(fabs(energy.kinetic + energy.potential + meter.dissipated - spin) < 1e-4);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

/// Power of a motion is known with its multipliers only: without them it is left out.
static void test_power_without_multipliers(void **state) {
  (void)state;
  as_builder *b = machine_builder(0, -9.81, 0);
  as_error error;
  as_body_def arm = machine_round_body("arm", 2.0, 1.0, false);
  arm.position[0] = 0.5;
  const as_body_id body = machine_body(b, &arm);
  as_motion_def drive = as_default_motion_def();
  const as_curve turn = {.slope = 3.0};
  drive.joint = machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, body, origin,
                              (const double[]){0.0, 0.0, 1.0});
  drive.law = &turn;
  if (as_builder_add_motion(b, &drive, NULL, &error)) fail_msg("%s", error.message);
  as_model *m = machine_build(b);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-3);
  as_state at = *as_integrator_state(integrator);
  as_power power;
  if (as_model_power(m, &at, &power, &error)) fail_msg("%s", error.message);
  assert_true(fabs(power.motions - 2.0 * 9.81 * 0.5 * 3.0) < 1e-6);
  at.lambda = NULL;
  if (as_model_power(m, &at, &power, &error)) fail_msg("%s", error.message);
  assert_true(power.motions == 0.0);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_power_without_multipliers), cmocka_unit_test(test_energy_balance),
      cmocka_unit_test(test_momentum), cmocka_unit_test(test_user_constraint),
      cmocka_unit_test(test_user_force)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
