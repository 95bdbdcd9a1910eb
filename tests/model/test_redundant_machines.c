/// Machines with redundant joints, each beside a twin in which the redundant rows are left out:
/// - the motion is the twin's, with every method, rho_inf, given and automatic steps;
/// - constraint forces are the twin's, and reactions the smallest that make them, by LAPACK's least squares on a B that is
///   differenced from the positions;
/// - wheels on one axle roll in circles, whichever rows are redundant on the way;
/// - rows that are redundant at one position only hold all the same; rows that contradict each other are refused;
/// - the message names the joints that share a direction.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/quantities.h"
#include "core/driver/integrator.h"
#include "core/kinematics/problem.h"
#include "machines.h"
#include "model/model.h"

// LAPACK: minimum-norm least squares by singular values.
void dgelss_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, double *s, const double *rcond, int *rank, double *work,
             const int *lwork, int *info);

enum { MOST = 64 };

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};

// ---- machines ---------------------------------------------------------------------------------------

static as_body_id add_body(as_builder *b, const char *name, double mass, const double inertia[3],
                           const double position[3], const double velocity[3],
                           const double angular_velocity[3]) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = mass;
  memcpy(def.inertia, inertia, 3 * sizeof(double));
  memcpy(def.position, position, sizeof def.position);
  if (velocity) memcpy(def.velocity, velocity, sizeof def.velocity);
  if (angular_velocity) memcpy(def.angular_velocity, angular_velocity, sizeof def.angular_velocity);
  return machine_body(b, &def);
}

/// A rotor with an eccentric mass in two bearings on a base that turns; the second one is `off` its place and its axis.
static as_model *build_rotor_off(bool twin, double off) {
  as_builder *b = machine_builder(0, 0, -9.81);
  const as_body_id base = add_body(b, "base", 5.0, (double[]){0.3, 0.3, 0.6}, (double[]){0, 0, 0},
                                   NULL, (double[]){0, 0, 3});
  const as_body_id rotor =
      add_body(b, "rotor", 1.0, (double[]){0.005, 0.011, 0.006}, (double[]){0.3, 0.3, 0.05},
               (double[]){-0.3, 0.9, 0}, (double[]){0, 12, 3});
  machine_joint(b, "column", AS_JOINT_REVOLUTE, AS_GROUND, base, (double[]){0, 0, 0}, z_axis);
  machine_joint(b, "b1", AS_JOINT_REVOLUTE, base, rotor, (double[]){0.3, 0.3, 0}, y_axis);
  if (!twin)
    machine_joint(b, "b2", AS_JOINT_REVOLUTE, base, rotor, (double[]){0.3 + off, 1.5, 0},
                  (double[]){off, 1, -off});
  return machine_build(b);
}

static as_model *build_rotor(bool twin) { return build_rotor_off(twin, 0.0); }

/// A door on three hinges of a cabin that swings.
static as_model *build_door(bool twin) {
  as_builder *b = machine_builder(0, 0, -9.81);
  const as_body_id cabin = add_body(b, "cabin", 50.0, (double[]){5, 5, 8}, (double[]){0, 0, 1},
                                    NULL, (double[]){0.5, 0.3, 1});
  const as_body_id door = add_body(b, "door", 15.0, (double[]){4, 1.5, 5}, (double[]){0.4, 0, 1},
                                   (double[]){0, 1.2, 0}, (double[]){0.5, 0.3, 3});
  machine_joint(b, "hook", AS_JOINT_SPHERICAL, AS_GROUND, cabin, (double[]){-0.5, 0, 2}, NULL);
  machine_joint(b, "h1", AS_JOINT_REVOLUTE, cabin, door, (double[]){0, 0, 0.2}, z_axis);
  for (int i = 2; i <= 3 && !twin; ++i)
    machine_joint(b, i == 2 ? "h2" : "h3", AS_JOINT_REVOLUTE, cabin, door,
                  (double[]){0, 0, i == 2 ? 1.0 : 1.9}, z_axis);
  return machine_build(b);
}

/// A planar four-bar linkage of hinges in space, or with a point on a line as the last joint; lengths in units of `unit` m.
static as_model *build_scaled_fourbar(bool twin, double unit) {
  as_builder *b = machine_builder(0, -9.81 * unit, 0);
  const double j = unit * unit;
  const as_body_id a =
      add_body(b, "a", 1.0, (double[]){0.01 * j, 0.08 * j, 0.09 * j}, (double[]){0, 0.5 * unit, 0},
               (double[]){-2 * unit, 0, 0}, (double[]){0, 0, 4});
  const as_body_id c = add_body(b, "b", 2.0, (double[]){0.1 * j, 0.3 * j, 0.3 * j},
                                (double[]){0.9 * unit, 1.25 * unit, 0.1 * unit}, NULL, NULL);
  const as_body_id d = add_body(b, "c", 1.5, (double[]){0.05 * j, 0.2 * j, 0.2 * j},
                                (double[]){1.9 * unit, 0.75 * unit, 0}, NULL, NULL);
  machine_joint(b, "p", AS_JOINT_REVOLUTE, AS_GROUND, a, (double[]){0, 0, 0}, z_axis);
  machine_joint(b, "q", AS_JOINT_REVOLUTE, a, c, (double[]){0, unit, 0}, z_axis);
  machine_joint(b, "r", AS_JOINT_REVOLUTE, c, d, (double[]){1.8 * unit, 1.5 * unit, 0}, z_axis);
  machine_joint(b, "s", twin ? AS_JOINT_POINT_ON_LINE : AS_JOINT_REVOLUTE, d, AS_GROUND,
                (double[]){2 * unit, 0, 0}, z_axis);
  return machine_build(b);
}

static as_model *build_fourbar(bool twin) { return build_scaled_fourbar(twin, 1.0); }
static as_model *build_small_fourbar(bool twin) { return build_scaled_fourbar(twin, 1e-3); }

/// out = (turn about z by `angle`, shift by `length` along the new x, turn about that by `twist`), applied to a frame.
static void move_along(double R[3][3], double p[3], double angle, double length, double twist) {
  double x[3], y[3], z[3];
  for (int i = 0; i < 3; ++i) {
    x[i] = cos(angle) * R[0][i] + sin(angle) * R[1][i];
    y[i] = -sin(angle) * R[0][i] + cos(angle) * R[1][i];
    p[i] += length * x[i];
  }
  for (int i = 0; i < 3; ++i) {
    z[i] = -sin(twist) * y[i] + cos(twist) * R[2][i];
    R[1][i] = cos(twist) * y[i] + sin(twist) * R[2][i];
    R[0][i] = x[i];
    R[2][i] = z[i];
  }
}

/// A number as it is typed with so many digits; 0: all.
static double typed(double x, int digits) {
  char text[64];
  if (digits == 0) return x;
  snprintf(text, sizeof text, "%.*g", digits, x);
  return strtod(text, NULL);
}

enum { MOST_LINKS = 6 };

/// A ring of links by angles, lengths and twists, which closes; the last of its hinges is another joint in the twin.
static as_model *build_ring(int n, const double *angle, const double *length, const double *twist,
                            as_joint_kind last, int digits) {
  static const char *const names[] = {"", "A", "B", "C", "D", "E"};
  static const char *const hinges[] = {"j0", "j1", "j2", "j3", "j4", "j5"};
  as_builder *b = machine_builder(0.5, 1.0, -9.81);
  double R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, p[MOST_LINKS + 1][3] = {{0}};
  double axis[MOST_LINKS][3];
  for (int i = 0; i < n; ++i) {
    memcpy(axis[i], R[2], sizeof axis[i]);
    memcpy(p[i + 1], p[i], sizeof p[i]);
    move_along(R, p[i + 1], angle[i], length[i], twist[i]);
  }
  for (int k = 0; k < 3; ++k) assert_true(fabs(p[n][k]) < 1e-12); // it closes
  as_body_id link[MOST_LINKS] = {AS_GROUND};
  for (int i = 1; i < n; ++i) {
    double center[3];
    for (int k = 0; k < 3; ++k) center[k] = 0.5 * (p[i][k] + p[i + 1][k]);
    link[i] = add_body(b, names[i], 1.0 + 0.3 * i, (double[]){0.1, 0.12, 0.15}, center, NULL, NULL);
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) {
      p[i][k] = typed(p[i][k], digits);
      axis[i][k] = typed(axis[i][k], digits);
    }
    machine_joint(b, hinges[i], i == n - 1 ? last : AS_JOINT_REVOLUTE, link[(i + n - 1) % n],
                  link[i], p[i], axis[i]);
  }
  return machine_build(b);
}

/// Bennett's linkage: four hinges, neither parallel nor through a point, with opposite links alike and sin(twist)/length
/// the same for all. It moves though counting says that it does not. theta_2 follows from tan(theta_1/2) tan(theta_2/2) =
/// sin((beta + alpha)/2)/sin((beta - alpha)/2), theta_3 = 2 pi - theta_1, theta_4 = -theta_2.
static as_model *build_bennett_typed(bool twin, int digits) {
  const double alpha = 40.0 * acos(-1.0) / 180.0, beta = asin(1.5 * sin(alpha)), first = 1.0;
  const double second =
      2.0 * atan(sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha)) / tan(0.5 * first));
  return build_ring(4, (double[]){first, second, -first, -second}, (double[]){1.0, 1.5, 1.0, 1.5},
                    (double[]){alpha, beta, alpha, beta},
                    twin ? AS_JOINT_POINT_ON_LINE : AS_JOINT_REVOLUTE, digits);
}

static as_model *build_bennett(bool twin) { return build_bennett_typed(twin, 0); }

/// Bricard's linkage of threefold symmetry: six links of 1 m, twisted by 60 and -60 degrees in turn. With c = cos(60 degrees) and s =
/// sin(60 degrees) its angles meet c^2 + s^2 (cos a + cos b) + (1 + c^2) cos a cos b - 2 c sin a sin b = 0.
static as_model *build_bricard_typed(bool twin, int digits) {
  const double c = 0.5, s2 = 0.75, twist = acos(c), first = 1.9;
  const double x = s2 + (1.0 + c * c) * cos(first), y = -2.0 * c * sin(first);
  const double second = atan2(y, x) - acos(-(c * c + s2 * cos(first)) / hypot(x, y));
  return build_ring(6, (double[]){first, second, first, second, first, second},
                    (double[]){1, 1, 1, 1, 1, 1},
                    (double[]){twist, -twist, twist, -twist, twist, -twist},
                    twin ? AS_JOINT_CYLINDRICAL : AS_JOINT_REVOLUTE, digits);
}

static as_model *build_bricard(bool twin) { return build_bricard_typed(twin, 0); }

static as_joint_id add_universal(as_builder *b, const char *name, as_body_id first,
                                 as_body_id second, const double point[3], const double axis[3],
                                 const double second_axis[3]) {
  as_error error;
  as_joint_id id = AS_NO_JOINT;
  as_joint_def def = as_default_joint_def();
  def.name = name;
  def.kind = AS_JOINT_UNIVERSAL;
  def.body[0] = first;
  def.body[1] = second;
  memcpy(def.point, point, sizeof def.point);
  memcpy(def.axis, axis, sizeof def.axis);
  memcpy(def.second_axis, second_axis, sizeof def.second_axis);
  if (as_builder_add_joint(b, &def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

/// Sarrus' linkage: a table on two legs of three hinges each, parallel to x and to y. Both keep it from turning about z.
static as_model *build_sarrus(bool twin) {
  static const char *const links[] = {"a1", "a2", "b1", "b2"};
  static const char *const hinges[] = {"A1", "A2", "A3", "B1", "B2", "B3"};
  as_builder *b = machine_builder(0, 0, -1.0);
  const as_body_id table = add_body(b, "table", 3.0, (double[]){0.3, 0.3, 0.5},
                                    (double[]){0, 0, 1.6}, (double[]){0, 0, 0.3}, NULL);
  for (int k = 0; k < 2; ++k) {
    const double x = k, y = k - 1.0, *const axis = k == 0 ? x_axis : y_axis;
    const double low[3] = {x, y, 0}, knee[3] = {1.6 * x, 1.6 * y, 0.8}, high[3] = {x, y, 1.6};
    as_body_id link[2];
    for (int i = 0; i < 2; ++i)
      link[i] = add_body(b, links[2 * k + i], 1.0 + 0.2 * i + 0.3 * k, (double[]){0.08, 0.08, 0.09},
                         (double[]){1.3 * x, 1.3 * y, 0.4 + 0.8 * i}, NULL, NULL);
    machine_joint(b, hinges[3 * k], AS_JOINT_REVOLUTE, AS_GROUND, link[0], low, axis);
    machine_joint(b, hinges[3 * k + 1], AS_JOINT_REVOLUTE, link[0], link[1], knee, axis);
    if (k == 1 && twin)
      add_universal(b, hinges[5], link[1], table, high, axis, z_axis);
    else
      machine_joint(b, hinges[3 * k + 2], AS_JOINT_REVOLUTE, link[1], table, high, axis);
  }
  return machine_build(b);
}

/// Two shafts in two bearings each, and one between them with universal joints, which nothing lets slide.
static as_model *build_cardan(bool twin) {
  const double c = cos(0.4), s = sin(0.4);
  as_builder *b = machine_builder(0, 0, -9.81);
  const as_body_id in = add_body(b, "in", 2.0, (double[]){0.03, 0.02, 0.02},
                                 (double[]){-0.3, 0.01, 0}, NULL, (double[]){15, 0, 0});
  const as_body_id shaft = add_body(b, "shaft", 2.0, (double[]){0.02, 0.05, 0.05},
                                    (double[]){0.5 * c, 0.5 * s, 0}, NULL, NULL);
  const as_body_id out = add_body(b, "out", 3.0, (double[]){0.04, 0.03, 0.03},
                                  (double[]){c + 0.3, s + 0.005, 0}, NULL, NULL);
  machine_joint(b, "b1", AS_JOINT_REVOLUTE, AS_GROUND, in, (double[]){-0.5, 0, 0}, x_axis);
  if (!twin)
    machine_joint(b, "b2", AS_JOINT_REVOLUTE, AS_GROUND, in, (double[]){-0.1, 0, 0}, x_axis);
  add_universal(b, "u1", in, shaft, (double[]){0, 0, 0}, y_axis, z_axis);
  add_universal(b, "u2", shaft, out, (double[]){c, s, 0}, (double[]){-s, c, 0}, z_axis);
  machine_joint(b, "b3", twin ? AS_JOINT_CYLINDRICAL : AS_JOINT_REVOLUTE, AS_GROUND, out,
                (double[]){c + 0.1, s, 0}, x_axis);
  if (!twin)
    machine_joint(b, "b4", AS_JOINT_REVOLUTE, AS_GROUND, out, (double[]){c + 0.5, s, 0}, x_axis);
  return machine_build(b);
}

/// A table on two rails, the second one `off` its direction, that a crank and a rod with hinges move.
static as_model *build_table(bool twin, double off) {
  as_builder *b = machine_builder(0, 0, -9.81);
  const as_body_id crank =
      add_body(b, "crank", 2.0, (double[]){0.02, 0.02, 0.03}, (double[]){0, 0.1, 0},
               (double[]){-0.6, 0, 0}, (double[]){0, 0, 6});
  const as_body_id rod = add_body(b, "rod", 1.5, (double[]){0.01, 0.1, 0.1},
                                  (double[]){0.4, 0.1, 0.02}, (double[]){-1.2, 0, 0}, NULL);
  const as_body_id table = add_body(b, "table", 4.0, (double[]){0.1, 0.1, 0.15},
                                    (double[]){0.9, 0.05, 0.1}, (double[]){-1.2, 0, 0}, NULL);
  machine_joint(b, "shaft", AS_JOINT_REVOLUTE, AS_GROUND, crank, (double[]){0, 0, 0}, z_axis);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, crank, rod, (double[]){0, 0.2, 0}, z_axis);
  machine_joint(b, "wrist", twin ? AS_JOINT_POINT_ON_LINE : AS_JOINT_REVOLUTE, rod, table,
                (double[]){sqrt(0.96), 0, 0}, z_axis);
  machine_joint(b, "r1", AS_JOINT_PRISMATIC, AS_GROUND, table, (double[]){0.9, 0.3, 0}, x_axis);
  if (!twin)
    machine_joint(b, "r2", AS_JOINT_PRISMATIC, AS_GROUND, table, (double[]){0.9, -0.3, 0},
                  (double[]){1, -off, 0.5 * off});
  return machine_build(b);
}

/// Two gears in two bearings each, in a box that swings.
static as_model *build_gearbox(bool twin) {
  as_error error;
  as_builder *b = machine_builder(0, -9.81, 1.0);
  const as_body_id box =
      add_body(b, "box", 8.0, (double[]){0.3, 0.3, 0.4}, (double[]){0.15, -0.4, 0.1}, NULL, NULL);
  machine_joint(b, "hook", AS_JOINT_SPHERICAL, AS_GROUND, box, (double[]){0.1, 0, 0.1}, NULL);
  as_gear_def def = as_default_gear_def();
  for (int i = 0; i < 2; ++i) {
    const double x = i == 0 ? 0.0 : 0.3, inertia = i == 0 ? 0.03 : 0.05;
    const as_body_id wheel = add_body(
        b, i == 0 ? "w1" : "w2", 2.0 + i, (double[]){0.02 + 0.01 * i, 0.02 + 0.01 * i, inertia},
        (double[]){x + 0.01 + 0.02 * i, -0.4, 0.1}, NULL, (double[]){0, 0, i == 0 ? 20 : -10});
    def.joint[i] = machine_joint(b, i == 0 ? "a1" : "b1", AS_JOINT_REVOLUTE, box, wheel,
                                 (double[]){x, -0.4, 0}, z_axis);
    if (!twin)
      machine_joint(b, i == 0 ? "a2" : "b2", AS_JOINT_REVOLUTE, box, wheel,
                    (double[]){x, -0.4, 0.3}, z_axis);
  }
  def.name = "mesh";
  def.teeth[0] = 20;
  def.teeth[1] = 40;
  if (as_builder_add_gear(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

/// A sleigh on two parallel blades.
static as_model *build_sleigh(bool twin) {
  as_error error;
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id body =
      add_body(b, "sleigh", 3.0, (double[]){0.1, 0.3, 0.4}, (double[]){0.2, 0, 0},
               (double[]){1, 0.4, 0}, (double[]){0, 0, 2});
  machine_joint(b, "ice", AS_JOINT_PLANAR, AS_GROUND, body, (double[]){0, 0, 0}, z_axis);
  for (int i = 0; i < (twin ? 1 : 2); ++i) {
    as_skate_def def = as_default_skate_def();
    def.name = i == 0 ? "left" : "right";
    def.body[0] = AS_GROUND;
    def.body[1] = body;
    def.point[1] = i == 0 ? 0.3 : -0.3;
    memcpy(def.normal, z_axis, sizeof def.normal);
    memcpy(def.direction, x_axis, sizeof def.direction);
    if (as_builder_add_skate(b, &def, NULL, &error)) fail_msg("%s", error.message);
  }
  return machine_build(b);
}

/// Two wheels on one axle that roll on a plane; its weight pulls along x. Without a twin.
static as_model *build_wheels(double pull) {
  as_error error;
  as_builder *b = machine_builder(pull, 0, -9.81);
  const as_body_id axle =
      add_body(b, "axle", 3.0, (double[]){0.2, 0.05, 0.2}, (double[]){0.1, 0, 0.25},
               (double[]){1, 0.15, 0}, (double[]){0, 0, 1.5});
  machine_joint(b, "floor", AS_JOINT_PLANAR, AS_GROUND, axle, (double[]){0, 0, 0.25}, z_axis);
  for (int i = 0; i < 2; ++i) {
    const double y = i == 0 ? 0.5 : -0.5, spin = (1.0 - 1.5 * y) / 0.25;
    as_rolling_def def = as_default_rolling_def();
    const as_body_id wheel =
        add_body(b, i == 0 ? "left" : "right", 1.0, (double[]){0.02, 0.035, 0.02},
                 (double[]){0, y, 0.25}, (double[]){1.0 - 1.5 * y, 0, 0}, (double[]){0, spin, 1.5});
    machine_joint(b, i == 0 ? "pl" : "pr", AS_JOINT_REVOLUTE, axle, wheel, (double[]){0, y, 0.25},
                  y_axis);
    def.name = i == 0 ? "rl" : "rr";
    def.shape = AS_ROLLING_DISK;
    def.radius = 0.25;
    def.body[0] = AS_GROUND;
    def.body[1] = wheel;
    def.center[1] = y;
    def.center[2] = 0.25;
    memcpy(def.normal, z_axis, sizeof def.normal);
    memcpy(def.axis, y_axis, sizeof def.axis);
    if (as_builder_add_rolling(b, &def, NULL, &error)) fail_msg("%s", error.message);
  }
  return machine_build(b);
}

typedef struct subject {
  const char *name;
  as_model *(*build)(bool twin);
  double unit; ///< of lengths [m]
} subject;

static const subject subjects[] = {{"rotor in two bearings", build_rotor, 1.0},
                                   {"door on three hinges", build_door, 1.0},
                                   {"four-bar linkage", build_fourbar, 1.0},
                                   {"four-bar linkage of millimetres", build_small_fourbar, 1e-3},
                                   {"Bennett's linkage", build_bennett, 1.0},
                                   {"sleigh on two blades", build_sleigh, 1.0}};
enum { N_SUBJECTS = sizeof subjects / sizeof subjects[0] };

// ---- runs -------------------------------------------------------------------------------------------

typedef struct run {
  as_model *model;
  as_integrator *integrator;
} run;

static run start_run(as_model *model, const as_integrator_def *how) {
  as_error error;
  run r = {model, NULL};
  if (as_integrator_create(as_model_problem(model), how, &r.integrator, &error) ||
      as_integrator_start(r.integrator, as_model_initial(model), NULL, &error))
    fail_msg("%s", error.message);
  return r;
}

static void advance(const run *r, double t) {
  as_error error;
  if (as_integrator_advance(r->integrator, t, &error)) fail_msg("%s", error.message);
}

static void end_run(run *r) {
  as_integrator_destroy(r->integrator);
  as_model_destroy(r->model);
}

/// The largest difference of positions and velocities of bodies, in units of length.
static double distance(const run *a, const run *b, double unit) {
  double largest = 0.0;
  const as_state *p = as_integrator_state(a->integrator), *q = as_integrator_state(b->integrator);
  for (int i = 0; i < as_model_bodies(a->model); ++i) {
    as_body_motion x, y;
    as_model_body_motion(a->model, p, (as_body_id){i}, &x);
    as_model_body_motion(b->model, q, (as_body_id){i}, &y);
    for (int k = 0; k < 3; ++k) {
      largest = fmax(largest, fabs(x.x[k] - y.x[k]) / unit);
      largest = fmax(largest, fabs(x.v[k] - y.v[k]) / unit);
    }
    for (int k = 0; k < 9; ++k) largest = fmax(largest, fabs(x.R[k] - y.R[k]));
  }
  return largest;
}

static as_integrator_def given_steps(as_method method, double rho_inf, double h) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.rho_inf = rho_inf;
  how.step = h;
  return how;
}

/// With the same steps the motions differ by what Newton's method leaves in the machine, as much as it leaves in the twin, and, in long steps, by what its rows, other
/// ones than the twin's, make of v''_0 off the constraints, [ST.5]: that is of third order, and little beside the error of the step.
static void test_motion(void **state) {
  (void)state;
  static const double rho[] = {0.0, 0.8, 1.0}, steps[] = {0.02, 0.004};
  for (int i = 0; i < N_SUBJECTS; ++i)
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 6; ++k) {
        const as_integrator_def how = given_steps(methods[m], rho[k % 3], steps[k / 3]);
        as_integrator_def exactly = how;
        exactly.newton.rtol = 1e-12;
        run a = start_run(subjects[i].build(false), &how);
        run b = start_run(subjects[i].build(true), &exactly);
        run c = start_run(subjects[i].build(true), &how);
        double largest = 0.0, left = 0.0;
        for (int row = 1; row <= 20; ++row) {
          advance(&a, 0.05 * row);
          advance(&b, 0.05 * row);
          advance(&c, 0.05 * row);
          largest = fmax(largest, distance(&a, &b, subjects[i].unit));
          left = fmax(left, distance(&c, &b, subjects[i].unit));
        }
        end_run(&c);
        if (!(largest <= (steps[k / 3] > 0.01 ? 1e-4 : 1.2 * left + 2e-7)))
          fail_msg("%s, %s, rho_inf %g, h %g: the motion is off by %g", subjects[i].name,
                   method_names[m], rho[k % 3], steps[k / 3], largest);
        end_run(&a);
        end_run(&b);
      }
}

/// The motion along a run less that of the twin, at most.
static double off_twin(as_model *model, as_model *of_twin, const as_integrator_def *how, double t) {
  run a = start_run(model, how), b = start_run(of_twin, how);
  double most = distance(&a, &b, 1.0);
  for (int row = 1; row <= 8; ++row) {
    advance(&a, t * row / 8);
    advance(&b, t * row / 8);
    most = fmax(most, distance(&a, &b, 1.0));
  }
  end_run(&a);
  end_run(&b);
  return most;
}

/// [RE.10] What is one to 1e-5 is one: nothing jams, nothing is loaded by it, and no speed is lost.
static void test_digits(void **state) {
  (void)state;
  static const double offs[] = {1e-9, 4e-8, 1e-6};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 6; ++k) {
      const double off = offs[k / 2];
      const as_integrator_def how = given_steps(methods[m], 0.8, k % 2 ? (double)NAN : 0.005);
      run a = start_run(build_rotor_off(false, off), &how), b = start_run(build_rotor(true), &how);
      double most = 0.0;
      for (int row = 1; row <= 20; ++row) {
        as_reaction reaction;
        advance(&a, 0.05 * row);
        advance(&b, 0.05 * row);
        const as_state *at = as_integrator_state(a.integrator);
        assert_int_equal(
            as_model_reaction(a.model, at, as_model_find_joint(a.model, "b2"), &reaction, NULL),
            AS_OK);
        for (int i = 0; i < 3; ++i) most = fmax(most, fabs(reaction.force[i]));
      }
      if (!(distance(&a, &b, 1.0) <= 100.0 * off + 1e-6))
        fail_msg("%s: bearings that are %g apart: the motion is off by %g", method_names[m], off,
                 distance(&a, &b, 1.0));
      assert_true(most < 14.0);
      end_run(&a);
      end_run(&b);
    }
}

/// Linkages that move for all that counting says, with hinges as they are typed; rails where the rows that are kept become
/// dependent on the way.
static void test_typed(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    const as_integrator_def how = given_steps(methods[m], 0.8, 0.005);
    const double bennett = off_twin(build_bennett_typed(false, 6), build_bennett(true), &how, 1.0);
    const double bricard = off_twin(build_bricard_typed(false, 6), build_bricard(true), &how, 0.4);
    const double table = off_twin(build_table(false, 1e-7), build_table(true, 0.0), &how, 0.8);
    printf("%s: off by %.2g (Bennett's linkage, 6 digits), %.2g (Bricard's), %.2g (rails)\n",
           method_names[m], bennett, bricard, table);
    assert_true(bennett < 1e-5 && bricard < 1e-4 && table < 1e-4);
  }
}

/// Which rows are left out changes along the way of Bennett's linkage, and nothing else does.
static void test_other_rows(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    const as_integrator_def how = given_steps(methods[m], 0.8, 0.005);
    run a = start_run(build_bennett(false), &how), b = start_run(build_bennett(true), &how);
    const asi_redundancy *r = &a.integrator->kin.redundancy;
    bool before[MOST];
    int changes = 0;
    double largest = 0.0;
    memcpy(before, r->implied, (size_t)r->rows * sizeof(bool));
    for (int row = 1; row <= 64; ++row) {
      advance(&a, 0.05 * row);
      advance(&b, 0.05 * row);
      largest = fmax(largest, distance(&a, &b, 1.0));
      changes += memcmp(before, r->implied, (size_t)r->rows * sizeof(bool)) != 0;
      memcpy(before, r->implied, (size_t)r->rows * sizeof(bool));
    }
    printf("Bennett's linkage, %s: other rows %d times, off by %.2g\n", method_names[m], changes,
           largest);
    assert_true(changes > 0);
    assert_true(largest <= 2e-7);
    assert_int_equal(a.integrator->kin.statistics.failed_steps, 0);
    end_run(&a);
    end_run(&b);
  }
}

/// Errors of automatic steps against a twin with small ones: at most 1.5 times the twin's own.
static void test_automatic_motion(void **state) {
  (void)state;
  enum { ROWS = 10 };
  for (int i = 0; i < N_SUBJECTS; ++i) {
    for (int m = 0; m < 3; ++m)
      for (double rtol = 3e-2; rtol > 5e-5; rtol /= 21.5) { // 6.5e-5 is the last
        as_integrator_def how = as_default_integrator_def(), fine;
        how.method = methods[m];
        how.tolerance.rtol = rtol;
        fine = given_steps(AS_METHOD_INDEX2, 0.8, 2e-4);
        run a = start_run(subjects[i].build(false), &how);
        run b = start_run(subjects[i].build(true), &how);
        run c = start_run(subjects[i].build(true), &fine);
        double error = 0.0, of_twin = 0.0;
        for (int row = 1; row <= ROWS; ++row) {
          advance(&a, 0.1 * row);
          advance(&b, 0.1 * row);
          advance(&c, 0.1 * row);
          error = fmax(error, distance(&a, &c, subjects[i].unit));
          of_twin = fmax(of_twin, distance(&b, &c, subjects[i].unit));
        }
        if (!(error <= 1.5 * of_twin + 1e-6))
          fail_msg("%s, %s, rtol %g: off by %g, its twin by %g", subjects[i].name, method_names[m],
                   rtol, error, of_twin);
        end_run(&a);
        end_run(&b);
        end_run(&c);
      }
  }
}

// ---- reactions --------------------------------------------------------------------------------------

/// B by differences of g along all directions of motion, by columns.
static void difference_b(const as_problem *p, const as_state *state, double *b) {
  const int n = p->n, rows = p->def.n_lambda;
  double *xi = calloc((size_t)n, sizeof *xi), *q = calloc((size_t)p->nq, sizeof *q);
  double *g = calloc((size_t)rows, sizeof *g);
  const double e = 1e-5;
  assert_true(xi && q && g);
  memset(b, 0, (size_t)n * (size_t)rows * sizeof *b);
  for (int j = 0; j < n; ++j)
    for (int side = -1; side <= 1; side += 2) {
      xi[j] = side * e;
      as_space_move(p->space, state->q, xi, q);
      const as_point at = {.t = state->t, .q = q};
      assert_int_equal(p->def.constraint(&at, g, p->def.user), AS_DONE);
      for (int i = 0; i < rows; ++i) b[j * rows + i] += side * g[i] / (2.0 * e);
      xi[j] = 0.0;
    }
  free(xi);
  free(q);
  free(g);
}

/// out = B^T lambda
static void force_of(const double *b, int n, int rows, const double *lambda, double *out) {
  for (int j = 0; j < n; ++j) {
    out[j] = 0.0;
    for (int i = 0; i < rows; ++i) out[j] += b[j * rows + i] * lambda[i];
  }
}

/// The largest distance from the centre of mass of a body to a joint's point.
static double lever_of(const as_model *m, const as_state *state, as_body_id body) {
  double largest = 0.0;
  for (int j = 0; j < as_model_joints(m); ++j) {
    const asi_element *e = &m->element[m->joint[j].element].e;
    as_reaction reaction;
    as_body_motion at;
    if (e->body[0] != body.index && e->body[1] != body.index) continue;
    assert_int_equal(as_model_reaction(m, state, (as_joint_id){j}, &reaction, NULL), AS_OK);
    as_model_body_motion(m, state, body, &at);
    largest = fmax(largest, hypot(hypot(reaction.point[0] - at.x[0], reaction.point[1] - at.x[1]),
                                  reaction.point[2] - at.x[2]));
  }
  return largest;
}

/// Square roots of the weights: 1 for a force, 1 over the larger lever of the two bodies for a torque. The first three rows
/// of a spherical joint or a hinge are a force, the others a torque.
static void norm_weights(const as_model *m, const as_state *state, double *weight) {
  for (int j = 0; j < as_model_joints(m); ++j) {
    const asi_element *e = &m->element[m->joint[j].element].e;
    double length = 0.0;
    for (int b = 0; b < 2; ++b)
      if (e->body[b] >= 0) length = fmax(length, lever_of(m, state, (as_body_id){e->body[b]}));
    for (int r = 0; r < as_model_joint_rows(m, (as_joint_id){j}); ++r)
      weight[as_model_joint_row(m, (as_joint_id){j}) + r] = r < 3 ? 1.0 : 1.0 / length;
  }
}

/// The least weighted lambda with B^T lambda = force, by singular values.
static void least_lambda(const double *b, int n, int rows, const double *weight,
                         const double *force, double *lambda) {
  double *a = calloc((size_t)n * (size_t)rows, sizeof *a);
  const int most = n > rows ? n : rows, one = 1, lwork = 20 * most;
  double *x = calloc((size_t)most, sizeof *x), *s = calloc((size_t)most, sizeof *s);
  double *work = calloc((size_t)lwork, sizeof *work);
  const double rcond = 1e-7;
  int rank = 0, info = 0;
  assert_true(a && x && s && work);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) a[i * n + j] = b[j * rows + i] / weight[i];
  memcpy(x, force, (size_t)n * sizeof *x);
  dgelss_(&n, &rows, &one, a, &n, x, &most, s, &rcond, &rank, work, &lwork, &info);
  assert_int_equal(info, 0);
  for (int i = 0; i < rows; ++i) lambda[i] = x[i] / weight[i];
  free(a);
  free(x);
  free(s);
  free(work);
}

static double largest(const double *x, int n) {
  double m = 0.0;
  for (int i = 0; i < n; ++i) m = fmax(m, fabs(x[i]));
  return m;
}

static double largest_difference(const double *x, const double *y, int n) {
  double m = 0.0;
  for (int i = 0; i < n; ++i) m = fmax(m, fabs(x[i] - y[i]));
  return m;
}

/// Compares forces with the twin's, if steps are the same, and lambda with the least one. With automatic steps positions are
/// off the constraints a little, and so is what the rows imply.
static void check_reactions(const char *name, const run *a, const run *twin, double tolerance,
                            const double *weight) {
  const as_problem *p = as_model_problem(a->model);
  const as_state *state = as_integrator_state(a->integrator);
  const int n = p->n, rows = p->def.n_lambda;
  double b[MOST * MOST], force[MOST], other[MOST], least[MOST];
  assert_true(n <= MOST && rows <= MOST);
  difference_b(p, state, b);
  force_of(b, n, rows, state->lambda, force);
  least_lambda(b, n, rows, weight, force, least);
  const double size = largest(least, rows), off = largest_difference(least, state->lambda, rows);
  if (!(off <= (twin ? 1e-9 : 1e-4) * size))
    fail_msg("%s, t = %g: reactions are off the least ones by %g of %g", name, state->t, off, size);
  if (twin == NULL) return;
  const as_state *of_twin = as_integrator_state(twin->integrator);
  const as_problem *q = as_model_problem(twin->model);
  difference_b(q, of_twin, b);
  force_of(b, n, q->def.n_lambda, of_twin->lambda, other);
  if (!(largest_difference(force, other, n) <= tolerance * largest(other, n)))
    fail_msg("%s, t = %g: forces are off the twin's by %g of %g", name, state->t,
             largest_difference(force, other, n), largest(other, n));
}

static void test_reactions(void **state) {
  (void)state;
  for (int i = 0; i < 5; ++i)
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 4; ++k) {
        static const double steps[] = {0.02, 0.002, (double)NAN, (double)NAN};
        as_integrator_def how = given_steps(methods[m], 0.8, steps[k]);
        how.tolerance.rtol = k == 2 ? 3e-2 : 3e-4;
        run a = start_run(subjects[i].build(false), &how);
        run b = start_run(subjects[i].build(true), &how);
        double weight[MOST];
        norm_weights(a.model, as_integrator_state(a.integrator), weight);
        check_reactions(subjects[i].name, &a, &b, 1e-4, weight);
        for (int row = 1; row <= 10; ++row) {
          advance(&a, 0.1 * row);
          advance(&b, 0.1 * row);
          check_reactions(subjects[i].name, &a, k < 2 ? &b : NULL, k == 0 ? 1e-3 : 1e-4, weight);
        }
        end_run(&a);
        end_run(&b);
      }
}

/// More machines, with one rho_inf for each method: the twin's motion, reactions of least norm, no more than 1.5 times the iterations.
static void test_more_machines(void **state) {
  (void)state;
  static const subject more[] = {{"Sarrus' linkage", build_sarrus, 1.0},
                                 {"Bricard's linkage", build_bricard, 1.0},
                                 {"shafts with universal joints", build_cardan, 1.0}};
  static const double rho[] = {0.5, 1.0, 0.0};
  for (int i = 0; i < 3; ++i)
    for (int m = 0; m < 3; ++m) {
      const as_integrator_def how = given_steps(methods[m], rho[m], 0.01);
      run a = start_run(more[i].build(false), &how), b = start_run(more[i].build(true), &how);
      double weight[MOST], most = 0.0;
      norm_weights(a.model, as_integrator_state(a.integrator), weight);
      for (int row = 1; row <= 4; ++row) {
        advance(&a, 0.1 * row);
        advance(&b, 0.1 * row);
        most = fmax(most, distance(&a, &b, 1.0));
        check_reactions(more[i].name, &a, &b, 1e-4, weight);
      }
      if (!(most <= 1e-5))
        fail_msg("%s, %s: the motion is off by %g", more[i].name, method_names[m], most);
      end_run(&a);
      end_run(&b);
    }
}

static as_model *build_straight_table(bool twin) { return build_table(twin, 0.0); }

/// Three shafts in two or three bearings each in a box that hangs on two hinges.
static as_model *build_housing(bool twin) {
  static const char *const shafts[] = {"s1", "s2", "s3"};
  static const double place[] = {0.15, 0.35, 0.6}, rate[] = {40.0, -25.0, 12.0};
  as_builder *b = machine_builder(0, 0, -9.81);
  const as_body_id box =
      add_body(b, "box", 20.0, (double[]){0.8, 0.9, 1.1}, (double[]){0.3, 0, -0.4}, NULL, NULL);
  machine_joint(b, "h1", AS_JOINT_REVOLUTE, AS_GROUND, box, (double[]){0, -0.3, 0}, y_axis);
  if (!twin)
    machine_joint(b, "h2", AS_JOINT_REVOLUTE, AS_GROUND, box, (double[]){0, 0.4, 0}, y_axis);
  for (int i = 0; i < 3; ++i) {
    const double x = place[i];
    const as_body_id shaft =
        add_body(b, shafts[i], 2.0 + i, (double[]){0.03, 0.03 + 0.01 * i, 0.022},
                 (double[]){x + 0.003, 0.02 * i, -0.4}, NULL, (double[]){0, rate[i], 0});
    machine_joint(b, NULL, AS_JOINT_REVOLUTE, box, shaft, (double[]){x, -0.2, -0.4}, y_axis);
    for (int k = 0; k < (twin ? 0 : 1 + i % 2); ++k)
      machine_joint(b, NULL, i == 2 ? AS_JOINT_CYLINDRICAL : AS_JOINT_REVOLUTE, box, shaft,
                    (double[]){x, 0.25 - 0.2 * k, -0.4}, y_axis);
  }
  return machine_build(b);
}

/// Newton's method iterates as it does for twins; machines are looked at together: for one, whether new factors or more iterations are
/// cheaper may be a tie.
static void test_iterations(void **state) {
  (void)state;
  static const subject all[] = {{"rotor in two bearings", build_rotor, 1.0},
                                {"door on three hinges", build_door, 1.0},
                                {"four-bar linkage", build_fourbar, 1.0},
                                {"four-bar linkage of millimetres", build_small_fourbar, 1e-3},
                                {"Bennett's linkage", build_bennett, 1.0},
                                {"sleigh on two blades", build_sleigh, 1.0},
                                {"Sarrus' linkage", build_sarrus, 1.0},
                                {"Bricard's linkage", build_bricard, 1.0},
                                {"shafts with universal joints", build_cardan, 1.0},
                                {"table on two rails", build_straight_table, 1.0},
                                {"gears in a box", build_gearbox, 1.0},
                                {"shafts in a box", build_housing, 1.0}};
  static const double steps[] = {0.002, 0.01, 0.03, (double)NAN, (double)NAN};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 5; ++k) {
      long sum[2] = {0, 0};
      for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        for (int twin = 0; twin < 2; ++twin) {
          as_integrator_def how = given_steps(methods[m], 0.8, steps[k]);
          how.tolerance.rtol = k == 3 ? 1e-3 : 1e-5;
          run r = start_run(all[i].build(twin), &how);
          advance(&r, 0.3);
          sum[twin] += r.integrator->kin.statistics.newton_iterations;
          end_run(&r);
        }
      }
      printf("%s, h %g: %ld iterations, without redundant joints %ld\n", method_names[m], steps[k],
             sum[0], sum[1]);
      assert_true((double)sum[0] <= 1.3 * (double)sum[1]);
    }
}

/// Multipliers of rows that are left out stay zero as they are solved for, too: what round-off leaves there does not add up.
static void test_left_out(void **state) {
  (void)state;
  as_integrator_def how = given_steps(AS_METHOD_INDEX3, 1.0, (double)NAN);
  how.tolerance.rtol = 1e-6;
  run r = start_run(build_gearbox(false), &how);
  const as_problem *p = as_model_problem(r.model);
  double most = 0.0, size = 0.0;
  advance(&r, 0.2);
  const double *const multiplier = r.integrator->stepper.predictor.z[0] + p->n;
  for (int i = 0; i < p->def.n_lambda; ++i) {
    size = fmax(size, fabs(r.integrator->stepper.now.lambda[i]));
    if (r.integrator->kin.redundancy.implied[i]) most = fmax(most, fabs(multiplier[i]));
  }
  if (!(most <= 1e-9 * size))
    fail_msg("rows that are left out have multipliers of %g beside %g", most, size);
  end_run(&r);
}

/// The numbers: default settings, 4898 N was shown where 12.7 N is right.
static void test_bearing_load(void **state) {
  (void)state;
  const as_integrator_def how = as_default_integrator_def();
  run r = start_run(build_rotor(false), &how);
  double most = 0.0;
  for (int row = 1; row <= 100; ++row) {
    as_reaction reaction;
    advance(&r, 0.02 * row);
    for (int b = 0; b < 2; ++b) {
      const as_joint_id bearing = as_model_find_joint(r.model, b == 0 ? "b1" : "b2");
      assert_int_equal(
          as_model_reaction(r.model, as_integrator_state(r.integrator), bearing, &reaction, NULL),
          AS_OK);
      most = fmax(most, largest(reaction.force, 3));
    }
  }
  printf("bearing forces up to %.4g N\n", most);
  assert_true(most > 12.0 && most < 14.0);
  end_run(&r);
}

// ---- wheels -----------------------------------------------------------------------------------------

/// Left to itself the axle goes round in circles: energy stays, the path has second order, and which rows are redundant
/// changes with the heading.
static void test_wheels(void **state) {
  (void)state;
  static const double rho[] = {0.0, 0.8, 1.0};
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) {
      double error[2], energy_error[2];
      const as_integrator_def fine = given_steps(AS_METHOD_INDEX2, 0.8, 1e-3);
      for (int half = 0; half < 2; ++half) {
        const as_integrator_def how = given_steps(methods[m], rho[k], half ? 0.01 : 0.02);
        run a = start_run(build_wheels(0.0), &how), b = start_run(build_wheels(0.0), &fine);
        as_energy start, now;
        as_model_energy(a.model, as_integrator_state(a.integrator), &start, NULL);
        error[half] = energy_error[half] = 0.0;
        for (int row = 1; row <= 40; ++row) {
          advance(&a, 0.25 * row);
          advance(&b, 0.25 * row);
          as_model_energy(a.model, as_integrator_state(a.integrator), &now, NULL);
          energy_error[half] = fmax(energy_error[half], fabs(now.kinetic / start.kinetic - 1.0));
          error[half] = fmax(error[half], distance(&a, &b, 1.0));
        }
        end_run(&a);
        end_run(&b);
      }
      printf("wheels, %s, rho_inf %g: path %.2g %.2g, energy %.2g %.2g\n", method_names[m], rho[k],
             error[0], error[1], energy_error[0], energy_error[1]);
      assert_true(energy_error[0] < 5e-3 && energy_error[1] < 0.35 * energy_error[0] + 1e-9);
      assert_true(error[1] < 0.35 * error[0]);
    }
}

// ---- what is said -----------------------------------------------------------------------------------

static char said[4096];

static void listen(as_log_level level, const char *message, void *user) {
  (void)level;
  (void)user;
  snprintf(said, sizeof said, "%s", message);
}

static void must_say(as_model *model, const char *text) {
  as_integrator_def how = as_default_integrator_def();
  how.log = listen;
  said[0] = '\0';
  run r = start_run(model, &how);
  if (strstr(said, text) == NULL) fail_msg("\"%s\" does not say: %s", said, text);
  end_run(&r);
}

static void test_words(void **state) {
  (void)state;
  must_say(build_rotor(false), "joints \"b1\" and \"b2\" both hold \"rotor\" along x, y and z");
  must_say(build_door(false), "joints \"h1\", \"h2\" and \"h3\" all hold \"door\" along");
  must_say(build_sleigh(false), "joints \"left\" and \"right\" both hold \"sleigh\" along y");
  must_say(build_fourbar(false), "joints \"p\", \"q\", \"r\" and \"s\" make loops");
  must_say(build_rotor_off(false, 4e-7), "e-07 m, apart, and are taken as one");
  must_say(build_rotor_off(false, 1e-3), "joints \"b1\" and \"b2\" both hold \"rotor\"");
  must_say(build_rotor_off(false, 1e-3), "they take freedom from the machine");
  must_say(build_gearbox(false), "joints \"a1\" and \"a2\" both hold \"w1\" along");
  must_say(build_cardan(false), "joints \"b3\" and \"b4\" both hold \"out\"");
}

/// A slide that two motions drive, which drift apart: the rows stay dependent, but no motion meets both.
static void test_contradiction(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m)
    for (int automatic = 0; automatic < 2; ++automatic) {
      as_error error = {0};
      as_builder *b = machine_builder(0, 0, 0);
      const as_body_id slide = add_body(b, "slide", 1.0, (double[]){0.1, 0.1, 0.1},
                                        (double[]){0, 0, 0}, (double[]){0.1, 0, 0}, NULL);
      const as_joint_id guide = machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, slide,
                                              (double[]){0, 0, 0}, x_axis);
      for (int k = 0; k < 2; ++k) {
        as_motion_def def = as_default_motion_def();
        const as_curve law = {.formula = k == 0 ? "0.1*t" : "0.1*t + 0.001*t^2"};
        def.name = k == 0 ? "first" : "second";
        def.joint = guide;
        def.law = &law;
        if (as_builder_add_motion(b, &def, NULL, &error)) fail_msg("%s", error.message);
      }
      as_integrator_def how = given_steps(methods[m], 0.8, automatic ? (double)NAN : 0.01);
      run r = start_run(machine_build(b), &how);
      const as_status status = as_integrator_advance(r.integrator, 1.0, &error);
      if (status == AS_OK || strstr(error.message, "contradict") == NULL)
        fail_msg("%s: contradictory motions are taken: %s", method_names[m], error.message);
      end_run(&r);
    }
}

/// A hub with arms: its joints are at its centre, but for some digits or not at all. No row of a tree is redundant.
static void test_hub(void **state) {
  (void)state;
  static const double beside[] = {0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1};
  for (size_t k = 0; k < sizeof beside / sizeof beside[0]; ++k) {
    as_builder *b = machine_builder(0, 0, 0);
    const as_body_id hub = add_body(b, "hub", 3.0, (double[]){0.5, 0.5, 0.8}, (double[]){0, 0, 0},
                                    NULL, (double[]){0, 0, 5});
    machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, hub, (double[]){0, 0, 0}, z_axis);
    for (int i = 0; i < 3; ++i) {
      const double c = cos(2.1 * i), s = sin(2.1 * i);
      char name[2][8];
      snprintf(name[0], sizeof name[0], "arm %d", i);
      snprintf(name[1], sizeof name[1], "slide %d", i);
      const as_body_id arm =
          add_body(b, name[0], 2.0, (double[]){0.01, 0.02, 0.015}, (double[]){0.6 * c, 0.6 * s, 0},
                   (double[]){-3 * s, 3 * c, 0}, (double[]){0, 0, 5});
      machine_joint(b, name[1], AS_JOINT_PRISMATIC, hub, arm,
                    (double[]){-beside[k] * s, beside[k] * c, 0}, (double[]){c, s, 0});
    }
    as_model *m = machine_build(b);
    as_integrator_def def = as_default_integrator_def();
    as_start_report report;
    as_integrator *integrator;
    as_error error;
    def.step = 1e-3;
    assert_int_equal(as_integrator_create(as_model_problem(m), &def, &integrator, &error), AS_OK);
    if (as_integrator_start(integrator, as_model_initial(m), &report, &error))
      fail_msg("%g: %s", beside[k], error.message);
    assert_int_equal(report.n_redundant, 0);
    assert_int_equal(report.degrees_of_freedom, 4);
    // Arms that nothing holds go straight on: r^2 = 0.6^2 + (3 t)^2 if the hub had no inertia; momentum is kept with it.
    assert_int_equal(as_integrator_advance(integrator, 0.1, &error), AS_OK);
    const as_state *at = as_integrator_state(integrator);
    double momentum = 0.0;
    for (int i = 0; i < as_model_bodies(m); ++i) {
      as_body_motion body;
      as_model_body_motion(m, at, (as_body_id){i}, &body);
      momentum += (i == 0 ? 0.8 : 0.015) * body.omega[2] +
                  (i == 0 ? 0.0 : 2.0) * (body.x[0] * body.v[1] - body.x[1] * body.v[0]);
    }
    assert_true(fabs(momentum - (0.8 + 3 * 0.015 + 6 * 0.36) * 5.0) < 1e-4);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_motion),        cmocka_unit_test(test_other_rows),
      cmocka_unit_test(test_digits),        cmocka_unit_test(test_typed),
      cmocka_unit_test(test_more_machines), cmocka_unit_test(test_iterations),
      cmocka_unit_test(test_left_out),      cmocka_unit_test(test_automatic_motion),
      cmocka_unit_test(test_reactions),     cmocka_unit_test(test_bearing_load),
      cmocka_unit_test(test_wheels),        cmocka_unit_test(test_words),
      cmocka_unit_test(test_contradiction), cmocka_unit_test(test_hub)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
