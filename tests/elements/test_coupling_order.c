/// Screws, gears, racks and constant-velocity joints in motion: second order in positions, velocities, accelerations
/// and multipliers with every method, on R^3xSO(3) and on SE(3); energy kept to second order.
///
/// Each machine has one degree of freedom: a shaft with a heavy arm, and something that goes along with it. With phi,
/// the shaft's angle, it obeys an equation phi'' = F(phi, phi') that is found by hand and integrated by a
/// Runge-Kutta method with small steps. The whole stands askew in the world.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "rig.h"

// ---- askew --------------------------------------------------------------------------------------------

static const double askew[4] = {0.5, 0.1, -0.7,
                                0.5}; // from the axes of a machine to the world's: w x y z

static void compose(const double *p, const double *q, double *out) {
  out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  out[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  out[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  out[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

static void to_world(const double *a, double *out) {
  const double vector[4] = {0, a[0], a[1], a[2]};
  const double back[4] = {askew[0], -askew[1], -askew[2], -askew[3]};
  double half[4], turned[4];
  compose(askew, vector, half);
  compose(half, back, turned);
  memcpy(out, turned + 1, 3 * sizeof(double));
}

/// Gravity in the machine's axes: down along y, and somewhat along z.
static const double g = 9.81, gz = -2.0;

// ---- parts --------------------------------------------------------------------------------------------

static const double arm_mass = 1.3, arm_length = 0.4,
                    arm_start = 1.1;                      // [kg, m, rad from straight down]
static const double arm_inertia = 0.02 + 1.3 * 0.4 * 0.4; // about the axis [kg m^2]
static const double wheel_mass = 2.0, wheel_inertia = 0.05;

/// A body at a place in the machine's axes, its z along theirs, or turned about y by `bend`.
static as_body_id add_body(as_builder *b, const char *name, bool se3, const double *place,
                           double bend, as_body_def def) {
  const double turn[4] = {cos(bend / 2.0), 0, sin(bend / 2.0), 0};
  def.name = name;
  def.space = se3 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
  to_world(place, def.position);
  compose(askew, turn, def.quaternion);
  return machine_body(b, &def);
}

/// The heavy arm at the origin: its centre of mass hangs at arm_start from straight down.
static as_body_id add_arm(as_builder *b, bool se3) {
  as_body_def def = as_default_body_def();
  def.mass = arm_mass;
  def.center_of_mass[0] = arm_length * sin(arm_start);
  def.center_of_mass[1] = -arm_length * cos(arm_start);
  const double inertia[3] = {0.03, 0.015, 0.02};
  memcpy(def.inertia, inertia, sizeof inertia);
  return add_body(b, "arm", se3, (double[]){0, 0, 0}, 0.0, def);
}

static as_body_id add_wheel(as_builder *b, bool se3, const double *place, double bend) {
  as_body_def def = as_default_body_def();
  def.mass = wheel_mass;
  const double inertia[3] = {0.03, 0.035, wheel_inertia};
  memcpy(def.inertia, inertia, sizeof inertia);
  return add_body(b, "wheel", se3, place, bend, def);
}

static as_joint_id join(as_builder *b, const char *name, as_joint_kind kind, as_body_id first,
                        as_body_id second, const double *point, const double *axis) {
  double at[3], along[3];
  to_world(point, at);
  to_world(axis, along);
  return machine_joint(b, name, kind, first, second, at, along);
}

static const double origin[3] = {0, 0, 0}, z_axis[3] = {0, 0, 1};

static void must(as_status status, const as_error *error) {
  if (status) fail_msg("%s", error->message);
}

/// The torque of gravity on the arm about z.
static double arm_torque(double phi) { return -arm_mass * g * arm_length * sin(arm_start + phi); }

// ---- machines -----------------------------------------------------------------------------------------

/// The arm's joint is "shaft"; the joint with the multiplier, its last row, is "link".
typedef struct train {
  const char *name;
  void (*build)(as_builder *b, bool se3);
  double (*acceleration)(double phi, double rate);
  double (*lambda)(double phi, double rate, double acceleration);
} train;

/// Wheels with 17 and 43 teeth on parallel axes, the second on a joint whose first body it is.
static void build_gear(as_builder *b, bool se3) {
  as_error error;
  as_gear_def gear = as_default_gear_def();
  const double place[3] = {0.5, 0.2, 0.1};
  const as_body_id arm = add_arm(b, se3), wheel = add_wheel(b, !se3, place, 0.0);
  gear.name = "link";
  gear.joint[0] = join(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, z_axis);
  gear.joint[1] = join(b, "second", AS_JOINT_REVOLUTE, wheel, AS_GROUND, place, z_axis);
  gear.teeth[0] = 17;
  gear.teeth[1] = 43;
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
}

static double gear_acceleration(double phi, double rate) {
  (void)rate;
  return arm_torque(phi) / (arm_inertia + wheel_inertia * (17.0 / 43.0) * (17.0 / 43.0));
}

static double gear_lambda(double phi, double rate, double acceleration) {
  (void)phi;
  (void)rate;
  return -wheel_inertia * 17.0 / 43.0 * acceleration;
}

/// A bevel gear, 2 to 3, that turns the same way about an axis across, as an internal gear does.
static void build_bevel(as_builder *b, bool se3) {
  as_error error;
  as_gear_def gear = as_default_gear_def();
  const double place[3] = {0.3, 0.0, 0.3};
  const as_body_id arm = add_arm(b, se3), wheel = add_wheel(b, se3, place, 1.5707963267948966);
  gear.name = "link";
  gear.joint[0] = join(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, z_axis);
  gear.joint[1] =
      join(b, "second", AS_JOINT_CYLINDRICAL, AS_GROUND, wheel, place, (double[]){1, 0, 0});
  join(b, "collar", AS_JOINT_POINT_ON_PLANE, AS_GROUND, wheel, place, (double[]){1, 0, 0});
  gear.teeth[0] = 20;
  gear.teeth[1] = 30;
  gear.internal = true;
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
}

static double bevel_acceleration(double phi, double rate) {
  (void)rate;
  return arm_torque(phi) / (arm_inertia + wheel_inertia * 4.0 / 9.0);
}

static double bevel_lambda(double phi, double rate, double acceleration) {
  (void)phi;
  (void)rate;
  return wheel_inertia * 2.0 / 3.0 * acceleration;
}

/// The arm carries a planet with 19 teeth in a ring on the ground with 60. The planet's centre of mass is off its
/// axis. With psi = phi (1 - 60/19) the planet's angle, c(phi) its centre of mass, everything is a function of phi.
static const double planet_place = 0.3, planet_off = 0.07, planet_ratio = 1.0 - 60.0 / 19.0;

static void build_planet(as_builder *b, bool se3) {
  as_error error;
  as_gear_def gear = as_default_gear_def();
  const double place[3] = {0.3, 0.0, 0.2};
  as_body_def def = as_default_body_def();
  def.mass = wheel_mass;
  def.center_of_mass[0] = planet_off;
  const double inertia[3] = {0.03, 0.035, wheel_inertia};
  memcpy(def.inertia, inertia, sizeof inertia);
  const as_body_id arm = add_arm(b, se3), planet = add_body(b, "planet", se3, place, 0.0, def);
  gear.name = "link";
  gear.joint[0] = join(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, z_axis);
  gear.joint[1] = join(b, "pin", AS_JOINT_REVOLUTE, arm, planet, place, z_axis);
  gear.teeth[0] = 60;
  gear.teeth[1] = 19;
  gear.internal = true;
  must(as_builder_add_gear(b, &gear, NULL, &error), &error);
}

/// First and second derivative by phi of the planet's centre of mass.
static void planet_path(double phi, double first[2], double second[2]) {
  const double k = planet_ratio, a = planet_place, e = planet_off;
  first[0] = -a * sin(phi) - k * e * sin(k * phi);
  first[1] = a * cos(phi) + k * e * cos(k * phi);
  second[0] = -a * cos(phi) - k * k * e * cos(k * phi);
  second[1] = -a * sin(phi) - k * k * e * sin(k * phi);
}

/// M phi'' + M' phi'^2/2 = torque, M = I + J k^2 + m |c'|^2
static double planet_acceleration(double phi, double rate) {
  double c1[2], c2[2];
  planet_path(phi, c1, c2);
  const double inertia = arm_inertia + wheel_inertia * planet_ratio * planet_ratio +
                         wheel_mass * (c1[0] * c1[0] + c1[1] * c1[1]);
  const double half_slope = wheel_mass * (c1[0] * c2[0] + c1[1] * c2[1]);
  return (arm_torque(phi) - wheel_mass * g * c1[1] - half_slope * rate * rate) / inertia;
}

/// About the pin: J psi'' + r x m (c'' - gravity) = lambda.
static double planet_lambda(double phi, double rate, double acceleration) {
  double c1[2], c2[2];
  planet_path(phi, c1, c2);
  const double angle = planet_ratio * phi;
  const double r[2] = {planet_off * cos(angle), planet_off * sin(angle)};
  const double f[2] = {wheel_mass * (c1[0] * acceleration + c2[0] * rate * rate),
                       wheel_mass * (c1[1] * acceleration + c2[1] * rate * rate + g)};
  return wheel_inertia * planet_ratio * acceleration + r[0] * f[1] - r[1] * f[0];
}

/// The arm turns a pinion of 0.12 m, the rack moves along (0.6, 0.8, 0).
static void build_rack(as_builder *b, bool se3) {
  as_error error;
  as_rack_def rack = as_default_rack_def();
  const double place[3] = {0.2, -0.3, 0.1}, along[3] = {0.6, 0.8, 0.0};
  const as_body_id arm = add_arm(b, se3), bar = add_wheel(b, se3, place, 0.0);
  rack.name = "link";
  rack.pinion = join(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, z_axis);
  rack.rack = join(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, bar, place, along);
  rack.radius = -0.12;
  must(as_builder_add_rack(b, &rack, NULL, &error), &error);
}

static double rack_acceleration(double phi, double rate) {
  (void)rate;
  return (arm_torque(phi) + wheel_mass * 0.12 * g * 0.8) / (arm_inertia + wheel_mass * 0.12 * 0.12);
}

static double rack_lambda(double phi, double rate, double acceleration) {
  (void)phi;
  (void)rate;
  return wheel_mass * (-0.12 * acceleration + g * 0.8);
}

/// The arm on a left-handed screw in the ground, 0.9 m a turn.
static const double screw_advance = -0.9 / 6.283185307179586;

static void build_screw(as_builder *b, bool se3) {
  as_error error;
  const as_body_id arm = add_arm(b, se3);
  as_joint_def def = as_default_joint_def();
  def.name = "link";
  def.kind = AS_JOINT_SCREW;
  def.body[0] = AS_GROUND;
  def.body[1] = arm;
  def.lead = -0.9;
  to_world(z_axis, def.axis);
  must(as_builder_add_joint(b, &def, NULL, &error), &error);
}

static double screw_acceleration(double phi, double rate) {
  (void)rate;
  return (arm_torque(phi) + arm_mass * screw_advance * gz) /
         (arm_inertia + arm_mass * screw_advance * screw_advance);
}

static double screw_lambda(double phi, double rate, double acceleration) {
  (void)phi;
  (void)rate;
  return arm_mass * (screw_advance * acceleration - gz);
}

/// The arm's shaft goes on in one that is bent by half a radian.
static void build_bent(as_builder *b, bool se3) {
  as_error error;
  const double bend = 0.5, along[3] = {sin(bend), 0, cos(bend)}, place[3] = {along[0], 0, along[2]};
  const as_body_id arm = add_arm(b, se3), wheel = add_wheel(b, se3, place, bend);
  as_joint_def def = as_default_joint_def();
  join(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, arm, (double[]){0, 0, -0.5}, z_axis);
  def.name = "link";
  def.kind = AS_JOINT_CONSTANT_VELOCITY;
  def.body[0] = arm;
  def.body[1] = wheel;
  to_world(z_axis, def.axis);
  to_world(along, def.second_axis);
  must(as_builder_add_joint(b, &def, NULL, &error), &error);
  // The bearing of the second shaft: its point is held across, its axis by the joint.
  join(b, "second", AS_JOINT_POINT_ON_LINE, AS_GROUND, wheel, place, along);
}

static double bent_acceleration(double phi, double rate) {
  (void)rate;
  return arm_torque(phi) / (arm_inertia + wheel_inertia);
}

static double bent_lambda(double phi, double rate, double acceleration) {
  (void)phi;
  (void)rate;
  return wheel_inertia * acceleration;
}

static const train trains[] = {
    {"gear", build_gear, gear_acceleration, gear_lambda},
    {"bevel gear", build_bevel, bevel_acceleration, bevel_lambda},
    {"planet", build_planet, planet_acceleration, planet_lambda},
    {"rack", build_rack, rack_acceleration, rack_lambda},
    {"screw", build_screw, screw_acceleration, screw_lambda},
    {"constant velocity", build_bent, bent_acceleration, bent_lambda},
};

// ---- runs ---------------------------------------------------------------------------------------------

static const double rate_at_start = 2.5, end = 0.8;

/// phi and phi' at a time.
static void reference(const train *k, double t, double *phi, double *rate) {
  const int n = 4000;
  const double h = t / n;
  double x = 0.0, v = rate_at_start;
  for (int i = 0; i < n; ++i) {
    const double a1 = k->acceleration(x, v), v2 = v + h / 2.0 * a1;
    const double a2 = k->acceleration(x + h / 2.0 * v, v2), v3 = v + h / 2.0 * a2;
    const double a3 = k->acceleration(x + h / 2.0 * v2, v3), v4 = v + h * a3;
    const double a4 = k->acceleration(x + h * v3, v4);
    x += h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4);
    v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  }
  *phi = x;
  *rate = v;
}

enum { POSITION, VELOCITY, ACCELERATION, LAMBDA, ENERGY, QUANTITIES };
static const char *const quantity_name[QUANTITIES] = {"position", "velocity", "acceleration",
                                                      "lambda", "energy"};

static as_model *build(const train *k, bool se3) {
  double gravity[3];
  as_error error;
  to_world((double[]){0, -g, gz}, gravity);
  as_builder *b = machine_builder(gravity[0], gravity[1], gravity[2]);
  k->build(b, se3);
  // The rate at the start, by assembly: whatever is linked to the arm goes along.
  as_coordinate_def start = as_default_coordinate_def();
  start.joint = (as_joint_id){0};
  start.coordinate = k->build == build_screw ? 1 : 0;
  start.rate = rate_at_start;
  must(as_builder_set_coordinate(b, &start, &error), &error);
  must(as_builder_assemble(b, NULL, &error), &error);
  return machine_build(b);
}

static double energy_of(const as_model *m, const as_state *s) {
  as_error error;
  as_energy energy = {0};
  must(as_model_energy(m, s, &energy, &error), &error);
  return energy.kinetic + energy.potential;
}

static void run(const train *k, bool se3, as_method method, double h, double worst[QUANTITIES]) {
  as_model *m = build(k, se3);
  as_integrator *integrator = NULL;
  as_error error;
  const as_integrator_def how = rig_how(method, h, NULL, 0);
  must(as_integrator_create(as_model_problem(m), &how, &integrator, &error), &error);
  must(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  const as_state *s = as_integrator_state(integrator);
  const as_joint_id link = as_model_find_joint(m, "link");
  const int row = as_model_joint_row(m, link) + as_model_joint_rows(m, link) - 1;
  const int turn = as_model_body_v(m, as_model_find_body(m, "arm")) + 5;
  const double energy = energy_of(m, s);
  const int n = (int)lround(end / h);
  double at[AS_JOINT_COORDINATES] = {0};
  for (int i = 0; i < QUANTITIES; ++i) worst[i] = 0.0;
  for (int i = 0; i <= n; ++i) {
    if (i > 0) must(as_integrator_step(integrator, h, &error), &error);
    must(as_model_coordinates(m, s, (as_joint_id){0}, at, at, NULL, &error), &error);
    worst[ENERGY] = fmax(worst[ENERGY], fabs(energy_of(m, s) - energy));
    if (i % (n / 4) != 0) continue;
    double phi, rate;
    reference(k, s->t, &phi, &rate);
    const double acceleration = k->acceleration(phi, rate);
    const double off[4] = {at[k->build == build_screw] - phi, s->v[turn] - rate,
                           s->vdot[turn] - acceleration,
                           s->lambda[row] - k->lambda(phi, rate, acceleration)};
    for (int j = 0; j < 4; ++j) worst[j] = fmax(worst[j], fabs(off[j]));
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

static void check_method(as_method method) {
  int failures = 0;
  for (size_t i = 0; i < sizeof trains / sizeof trains[0]; ++i)
    for (int se3 = 0; se3 < 2; ++se3) {
      double coarse[QUANTITIES], fine[QUANTITIES];
      run(&trains[i], se3, method, 0.01, coarse);
      run(&trains[i], se3, method, 0.005, fine);
      for (int j = 0; j < QUANTITIES; ++j) {
        const double order = log2(coarse[j] / fine[j]);
        printf("  %-18s %s  %-12s %9.2e %9.2e  order %.3f\n", trains[i].name,
               se3 ? "SE3   " : "R3xSO3", quantity_name[j], coarse[j], fine[j], order);
        if (order >= 1.9) continue;
        ++failures;
        print_error("%s: the error of %s is %.2e, then %.2e: order %.3f\n", trains[i].name,
                    quantity_name[j], coarse[j], fine[j], order);
      }
    }
  assert_int_equal(failures, 0);
}

static void test_index3(void **state) {
  (void)state;
  check_method(AS_METHOD_INDEX3);
}

static void test_index2(void **state) {
  (void)state;
  check_method(AS_METHOD_INDEX2);
}

static void test_soi2(void **state) {
  (void)state;
  check_method(AS_METHOD_SOI2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_index3), cmocka_unit_test(test_index2),
                                     cmocka_unit_test(test_soi2)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
