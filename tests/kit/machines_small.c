/// Machines of few bodies, see machines.h. Their solutions are those of tests/problems.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "problems/loops.h"
#include "problems/problems.h"

static const double x_axis[3] = {1, 0, 0}, y_axis[3] = {0, 1, 0}, z_axis[3] = {0, 0, 1};
static const double origin[3] = {0, 0, 0};

// ---- pendulums of point masses ------------------------------------------------------------------------

static as_model *build_pendulum(int variant) {
  as_builder *b = machine_builder(0, -9.81, 0);
  const double start[3] = {-1, 0, 0};
  const as_body_id bob = machine_point(b, "bob", 1.0, start, origin);
  machine_rod(b, "rod", AS_GROUND, bob, origin, start);
  if (variant == 1)
    machine_joint(b, "plane", AS_JOINT_POINT_ON_PLANE, AS_GROUND, bob, start, z_axis);
  return machine_build(b);
}

static void read_pendulum(const as_model *m, const as_state *s, reading *r) {
  machine_read_body(m, s, (as_body_id){0}, 2, r);
  machine_read_tension(m, s, "rod", r);
}

static void pendulum_reference(double t, reading *r) {
  const test_problem *p = problem_pendulum_horizontal();
  double q[2], v[2];
  p->exact(p, t, q, v, NULL, NULL);
  reading_position(r, q, 2);
  reading_velocity(r, v, 2);
  reading_reaction(r, &(double){v[0] * v[0] + v[1] * v[1] - 9.81 * q[1]}, 1);
}

static as_model *build_double_pendulum(int variant) {
  (void)variant;
  as_builder *b = machine_builder(0, -9.81, 0);
  const double first[3] = {1, 0, 0}, second[3] = {2, 0, 0};
  const as_body_id upper = machine_point(b, "upper", 1.0, first, origin);
  const as_body_id lower = machine_point(b, "lower", 1.0, second, origin);
  machine_rod(b, "upper rod", AS_GROUND, upper, origin, first);
  machine_rod(b, "lower rod", upper, lower, first, second);
  return machine_build(b);
}

static void read_double_pendulum(const as_model *m, const as_state *s, reading *r) {
  machine_read_body(m, s, (as_body_id){0}, 2, r);
  machine_read_body(m, s, (as_body_id){1}, 2, r);
  machine_read_tension(m, s, "lower rod", r);
}

static void double_pendulum_reference(double t, reading *r) {
  const test_problem *p = problem_double_pendulum();
  double angle[2], w[2], bend[2], x[2] = {0}, v[2] = {0}, a[2] = {0};
  p->exact(p, t, angle, w, bend, NULL);
  for (int k = 0; k < 2; ++k) {
    const double s = sin(angle[k]), c = cos(angle[k]);
    x[0] += s, x[1] -= c;
    v[0] += w[k] * c, v[1] += w[k] * s;
    a[0] += bend[k] * c - w[k] * w[k] * s, a[1] += bend[k] * s + w[k] * w[k] * c;
    reading_position(r, x, 2);
    reading_velocity(r, v, 2);
  }
  // m (a - gravity) = tension along (-sin, cos) of the lower rod
  const double tension = -a[0] * sin(angle[1]) + (a[1] + 9.81) * cos(angle[1]);
  reading_reaction(r, &tension, 1);
}

static as_model *build_spherical_pendulum(int variant) {
  (void)variant;
  as_builder *b = machine_builder(0, 0, -9.81);
  const double start[3] = {sin(1.0), 0, -cos(1.0)}, velocity[3] = {0, 1.5, 0};
  const as_body_id bob = machine_point(b, "bob", 1.0, start, velocity);
  machine_rod(b, "rod", AS_GROUND, bob, origin, start);
  return machine_build(b);
}

static void read_spherical_pendulum(const as_model *m, const as_state *s, reading *r) {
  machine_read_body(m, s, (as_body_id){0}, 3, r);
  machine_read_tension(m, s, "rod", r);
}

static void spherical_pendulum_reference(double t, reading *r) {
  const test_problem *p = problem_spherical_pendulum();
  double q[3], v[3], lambda;
  p->exact(p, t, q, v, NULL, &lambda);
  reading_position(r, q, 3);
  reading_velocity(r, v, 3);
  reading_reaction(r, &lambda, 1);
}

// ---- single bodies ------------------------------------------------------------------------------------

/// 0: R^3xSO(3), 1: SE(3), 2: the body's frame is at the tip.
static as_model *build_top(int variant, double spin, double swing) {
  as_builder *b = machine_builder(0, 0, -9.81);
  as_body_def top = machine_round_body("top", 15.0, 0.234375, variant == 1);
  top.inertia[1] = 0.46875;
  if (variant == 2)
    top.center_of_mass[1] = 1.0;
  else
    top.position[1] = 1.0;
  top.angular_velocity[1] = spin;
  top.angular_velocity[2] = swing;
  top.velocity[0] = -swing;
  machine_joint(b, "tip", AS_JOINT_SPHERICAL, AS_GROUND, machine_body(b, &top), origin, NULL);
  return machine_build(b);
}

static as_model *build_slow_top(int variant) { return build_top(variant, 1.5, -0.0461538); }
static as_model *build_fast_top(int variant) { return build_top(variant, 150.0, -4.61538); }

static void read_top(const as_model *m, const as_state *s, reading *r) {
  as_body_motion at;
  as_model_body_motion(m, s, (as_body_id){0}, &at);
  machine_read_body(m, s, (as_body_id){0}, 3, r);
  reading_position(r, at.R, 3);
  reading_velocity(r, at.omega, 3);
  machine_read_force(m, s, "tip", 3, r);
}

static void rotation_row(const double *quaternion, double *out) {
  const double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
  out[0] = 1.0 - 2.0 * (y * y + z * z);
  out[1] = 2.0 * (x * y - w * z);
  out[2] = 2.0 * (x * z + w * y);
}

static void top_reference(const test_problem *p, double t, reading *r) {
  double q[7], v[6], lambda[3], row[3];
  p->exact(p, t, q, v, NULL, lambda);
  rotation_row(q + 3, row);
  reading_position(r, q, 3);
  reading_position(r, row, 3);
  reading_velocity(r, v, 6);
  reading_reaction(r, lambda, 3);
}

static void slow_top_reference(double t, reading *r) {
  top_reference(problem_heavy_top_slow(), t, r);
}
static void fast_top_reference(double t, reading *r) {
  top_reference(problem_heavy_top_fast(), t, r);
}

/// 0: R^3xSO(3), 1: SE(3), 2: held at the centre of mass.
static as_model *build_free_body(int variant) {
  as_builder *b = machine_builder(0, 0, 0);
  as_body_def body = machine_round_body("wing nut", 1.0, 1.0, variant == 1);
  body.inertia[1] = 2.0;
  body.inertia[2] = 2.5;
  const double omega[3] = {0.01, 5.0, 0.01};
  memcpy(body.angular_velocity, omega, sizeof omega);
  const as_body_id id = machine_body(b, &body);
  if (variant == 2) machine_joint(b, "pin", AS_JOINT_SPHERICAL, AS_GROUND, id, origin, NULL);
  return machine_build(b);
}

static void read_free_body(const as_model *m, const as_state *s, reading *r) {
  as_body_motion at;
  as_model_body_motion(m, s, (as_body_id){0}, &at);
  reading_position(r, at.R, 3);
  reading_velocity(r, at.omega, 3);
}

static void free_body_reference(double t, reading *r) {
  const test_problem *p = problem_free_rotation();
  double q[4], v[3], row[3];
  p->exact(p, t, q, v, NULL, NULL);
  rotation_row(q, row);
  reading_position(r, row, 3);
  reading_velocity(r, v, 3);
}

// ---- four-bars in a row -------------------------------------------------------------------------------

/// 0: revolute joints only, redundant; 1: none redundant, last joint of each loop lets the pin slide along
/// itself; 2: the same on SE(3), with spherical joints where an axis is held elsewhere.
static as_model *build_fourbars(int N, int variant) {
  as_builder *b = machine_builder(0, -9.81, 0);
  as_body_id crank[4], coupler[4];
  char name[32];
  for (int i = 0; i <= N; ++i) { // upright, tips move to the right with 1 m/s
    as_body_def rod = machine_round_body(NULL, 1.0, 1.0 / 12.0, variant == 2);
    machine_place_in_plane(&rod, i, 0.5, 1.5707963267948966);
    rod.velocity[0] = 0.5;
    rod.angular_velocity[2] = -1.0;
    crank[i] = machine_body(b, &rod);
    snprintf(name, sizeof name, "pin %d", i);
    machine_joint(b, name, AS_JOINT_REVOLUTE, AS_GROUND, crank[i], (double[]){i, 0, 0}, z_axis);
  }
  for (int i = 0; i < N; ++i) {
    as_body_def rod = machine_round_body(NULL, 1.0, 1.0 / 12.0, variant == 2);
    machine_place_in_plane(&rod, i + 0.5, 1.0, 0.0);
    rod.velocity[0] = 1.0;
    coupler[i] = machine_body(b, &rod);
    const as_joint_kind right = variant == 0 ? AS_JOINT_REVOLUTE : AS_JOINT_POINT_ON_LINE;
    snprintf(name, sizeof name, "left %d", i);
    machine_joint(b, name, AS_JOINT_REVOLUTE, crank[i], coupler[i], (double[]){i, 1, 0}, z_axis);
    snprintf(name, sizeof name, "right %d", i);
    machine_joint(b, name, right, crank[i + 1], coupler[i], (double[]){i + 1, 1, 0}, z_axis);
  }
  return machine_build(b);
}

static as_model *build_fourbar(int variant) { return build_fourbars(1, variant); }
static as_model *build_two_fourbars(int variant) { return build_fourbars(2, variant); }

static void read_fourbar(const as_model *m, const as_state *s, reading *r) {
  machine_read_body(m, s, (as_body_id){0}, 2, r);
  machine_read_body(m, s, (as_body_id){as_model_bodies(m) - 1}, 2, r);
  machine_read_force(m, s, "pin 0", 2, r);
}

static void fourbars_reference(int N, double t, reading *r) {
  test_problem *p = loops_nfourbar(N);
  double q[15], v[15], lambda[14], force[2];
  const int last = 3 * (2 * N - 1); // the last coupler
  p->exact(p, t, q, v, NULL, lambda);
  loops_free(p);
  reading_position(r, q, 2);
  reading_position(r, q + last, 2);
  reading_velocity(r, v, 2);
  reading_velocity(r, v + last, 2);
  force[0] = -lambda[0];
  force[1] = -lambda[1];
  reading_reaction(r, force, 2);
}

static void fourbar_reference(double t, reading *r) { fourbars_reference(1, t, r); }
static void two_fourbars_reference(double t, reading *r) { fourbars_reference(2, t, r); }

// ---- slider crank -------------------------------------------------------------------------------------

static void add_slider_crank_forces(as_builder *b, as_body_id crank, as_body_id rod, double x,
                                    double p) {
  as_error error;
  as_spring_def spring = as_default_spring_def();
  spring.body[0] = crank;
  spring.body[1] = rod;
  spring.point[0][1] = 0.25;
  spring.point[1][0] = x - cos(p) / 2.0;
  spring.point[1][1] = -sin(p) / 2.0;
  spring.stiffness = spring.damping = spring.length = 1.0;
  as_load_def load = as_default_load_def();
  load.body = rod;
  load.point[0] = x + cos(p);
  load.point[1] = sin(p);
  load.force[0] = 1.0;
  if (as_builder_add_spring(b, &spring, NULL, &error) ||
      as_builder_add_load(b, &load, NULL, &error))
    fail_msg("%s", error.message);
}

/// 0: revolute joints and a prismatic one, redundant; 1: without a slider, the rod's end in the plane y = 0;
/// 2: on SE(3), with a spherical and a universal joint.
static as_model *build_slider_crank(int variant) {
  as_builder *b = machine_builder(0, 0, 0);
  const double p = asin(-0.5), x = cos(p);
  const double end[3] = {0, 0.5, 0}, pin[3] = {x, 0, 0};
  as_body_def crank = machine_round_body("crank", 1.0, 1.0, variant == 2);
  machine_place_in_plane(&crank, 0, 0, 1.5707963267948966);
  as_body_def rod = machine_round_body("rod", variant == 1 ? 1.0 : 0.6, 2.0, variant == 2);
  machine_place_in_plane(&rod, x, 0, p);
  const as_body_id c = machine_body(b, &crank), r = machine_body(b, &rod);
  machine_joint(b, "bearing", AS_JOINT_REVOLUTE, AS_GROUND, c, origin, z_axis);
  machine_joint(b, "crank pin", variant == 2 ? AS_JOINT_SPHERICAL : AS_JOINT_REVOLUTE, c, r, end,
                z_axis);
  if (variant == 1) {
    machine_joint(b, "guide", AS_JOINT_POINT_ON_PLANE, AS_GROUND, r, pin, y_axis);
  } else {
    as_body_def slider = machine_round_body("slider", 0.4, 0.1, variant == 2);
    machine_place_in_plane(&slider, x, 0, 0);
    const as_body_id s = machine_body(b, &slider);
    machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, s, pin, x_axis);
    if (variant == 0) {
      machine_joint(b, "wrist", AS_JOINT_REVOLUTE, s, r, pin, z_axis);
    } else {
      as_error error;
      as_joint_def wrist = as_default_joint_def();
      wrist.name = "wrist";
      wrist.kind = AS_JOINT_UNIVERSAL;
      wrist.body[0] = s;
      wrist.body[1] = r;
      memcpy(wrist.point, pin, sizeof pin);
      memcpy(wrist.axis, z_axis, sizeof z_axis);
      wrist.second_axis[0] = -sin(p); // across the rod
      wrist.second_axis[1] = cos(p);
      if (as_builder_add_joint(b, &wrist, NULL, &error)) fail_msg("%s", error.message);
    }
  }
  add_slider_crank_forces(b, c, r, x, p);
  return machine_build(b);
}

static void read_slider_crank(const as_model *m, const as_state *s, reading *r) {
  const double last = r->position[0];
  r->n_position = 0;
  machine_read_angle(m, s, (as_body_id){0}, last, r);
  machine_read_body(m, s, (as_body_id){1}, 1, r);
  machine_read_angle(m, s, (as_body_id){1}, 0.0, r);
  machine_read_force(m, s, "crank pin", 2, r);
}

static void slider_crank_reference(double t, reading *r) {
  const test_problem *p = problem_slider_crank();
  double q[3], v[3], lambda[2];
  p->exact(p, t, q, v, NULL, lambda);
  reading_position(r, q, 3);
  reading_velocity(r, v, 3);
  lambda[0] = -lambda[0];
  lambda[1] = -lambda[1];
  reading_reaction(r, lambda, 2);
}

// ---- all of them --------------------------------------------------------------------------------------

const machine machines_small[] = {
    {"pendulum", 2, build_pendulum, read_pendulum, pendulum_reference, 0.005, {0.5, 1.0, 1.5}},
    {"double pendulum",
     1,
     build_double_pendulum,
     read_double_pendulum,
     double_pendulum_reference,
     0.002,
     {0.5, 1.0, 1.5}},
    {"spherical pendulum",
     1,
     build_spherical_pendulum,
     read_spherical_pendulum,
     spherical_pendulum_reference,
     0.005,
     {0.5, 1.0, 1.5}},
    {"slow top", 3, build_slow_top, read_top, slow_top_reference, 0.002, {0.3, 0.5, 0.7}},
    {"fast top", 3, build_fast_top, read_top, fast_top_reference, 0.0005, {0.1, 0.15, 0.2}},
    {"free body", 3, build_free_body, read_free_body, free_body_reference, 0.002, {0.5, 1.0, 1.5}},
    {"four-bar", 3, build_fourbar, read_fourbar, fourbar_reference, 0.002, {0.2, 0.3, 0.4}},
    {"two four-bars",
     3,
     build_two_fourbars,
     read_fourbar,
     two_fourbars_reference,
     0.002,
     {0.2, 0.3, 0.4}},
    {"slider crank",
     3,
     build_slider_crank,
     read_slider_crank,
     slider_crank_reference,
     0.01,
     {1.0, 2.5, 5.0}},
};
const int n_machines_small = (int)(sizeof machines_small / sizeof machines_small[0]);
