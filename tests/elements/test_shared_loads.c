/// Forces that depend on how redundant joints share their reactions: friction in bearings, hinges, guides and loops, teeth
/// that load bearings.
/// - a rotor in bearings, a door on hinges and a slide on guides follow an integration of their one equation of motion, in which
///   reactions are shared by hand: second order in motion, rates and reactions, with every method;
/// - gears in redundant bearings and closed loops with friction everywhere are second order, and their reactions least;
/// - Newton's method takes no more iterations than without redundant joints;
/// - nothing gives way: constraints hold to round-off.
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
#include "machines.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double z_axis[3] = {0, 0, 1};

// ---- a body on one axis, by hand ----------------------------------------------------------------------

enum { MOST_SUPPORTS = 3 };

/// A body in joints that stand along z, at z_i: it turns about z (bearings) or slides along it (guides). Frame: origin on
/// the axis.
typedef struct bench {
  const char *name;
  bool slides;
  int supports;
  double place[MOST_SUPPORTS]; ///< z of the joints [m]
  double mass, center[3];      ///< at the start [kg, m]
  double inertia[3]; ///< principal, about the center, axes as the world's at the start [kg m^2]
  double gravity[3]; ///< [m/s^2]
  double rate;       ///< at the start [rad/s, m/s]
  double mu, radius, length, shoulder, transition, small;
} bench;

static const bench benches[] = {{"rotor in two bearings",
                                 false,
                                 2,
                                 {0.0, 0.6},
                                 4.0,
                                 {0.02, 0.0, 0.2},
                                 {0.05, 0.05, 0.011},
                                 {0, -9.81, -2.0},
                                 30.0,
                                 0.3,
                                 0.05,
                                 0.1,
                                 0.06,
                                 0.05,
                                 0.01},
                                {"rotor in three bearings, in any order",
                                 false,
                                 3,
                                 {0.5, -0.3, 0.1},
                                 4.0,
                                 {0.02, 0.0, 0.2},
                                 {0.05, 0.05, 0.011},
                                 {0, -9.81, 0.5},
                                 30.0,
                                 0.3,
                                 0.05,
                                 0.1,
                                 0.06,
                                 0.05,
                                 0.01},
                                {"door on three hinges",
                                 false,
                                 3,
                                 {0.2, 1.0, 1.9},
                                 15.0,
                                 {0.4, 0.0, 1.0},
                                 {4.0, 1.5, 5.0},
                                 {0, 0, -9.81},
                                 3.0,
                                 0.4,
                                 0.02,
                                 0.1,
                                 0.03,
                                 0.02,
                                 0.01},
                                {"slide on two guides",
                                 true,
                                 2,
                                 {0.0, 0.5},
                                 3.0,
                                 {0.1, 0.2, 0.3},
                                 {0.1, 0.12, 0.15},
                                 {1.0, -9.81, 4.0},
                                 2.0,
                                 0.2,
                                 0.05,
                                 0.2,
                                 0.0,
                                 0.05,
                                 0.01}};
enum { N_BENCHES = sizeof benches / sizeof benches[0] };

/// Bodies turn about their center: the inertia about z, and products with it, at the center are those of principal axes.
static as_model *build_bench(const bench *d, bool twin) {
  as_error error;
  as_builder *b = machine_builder(d->gravity[0], d->gravity[1], d->gravity[2]);
  as_body_def def = as_default_body_def();
  def.name = "body";
  def.mass = d->mass;
  memcpy(def.inertia, d->inertia, 3 * sizeof(double));
  memcpy(def.position, d->center, sizeof def.position);
  if (d->slides) {
    def.velocity[2] = d->rate;
  } else {
    def.angular_velocity[2] = d->rate;
    def.velocity[0] = -d->rate * d->center[1];
    def.velocity[1] = d->rate * d->center[0];
  }
  const as_body_id body = machine_body(b, &def);
  static const char *const names[] = {"s1", "s2", "s3"};
  for (int i = 0; i < (twin ? 1 : d->supports); ++i) {
    const as_joint_id joint =
        machine_joint(b, names[i], d->slides ? AS_JOINT_PRISMATIC : AS_JOINT_REVOLUTE, AS_GROUND,
                      body, (double[]){0, 0, d->place[i]}, z_axis);
    as_joint_friction_def f = as_default_joint_friction_def();
    f.joint = joint;
    f.coefficient = d->mu;
    f.radius = d->radius;
    f.length = d->length;
    f.shoulder_radius = d->shoulder;
    f.transition_speed = d->transition;
    f.small_force = d->small;
    if (as_builder_add_joint_friction(b, &f, NULL, &error)) fail_msg("%s", error.message);
  }
  return machine_build(b);
}

/// What the joints together have to do at the center: force and torque, without that of friction; for an acceleration of the
/// coordinate. At the angle x, turning with v, or sliding with v. In the world's axes.
static void load_of(const bench *d, double x, double v, double a, double force[3],
                    double torque[3]) {
  const double turn = d->slides ? 0.0 : x, c = cos(turn), s = sin(turn);
  const double r[2] = {c * d->center[0] - s * d->center[1], s * d->center[0] + c * d->center[1]};
  const double acceleration[3] = {d->slides ? 0.0 : -a * r[1] - v * v * r[0],
                                  d->slides ? 0.0 : a * r[0] - v * v * r[1], d->slides ? a : 0.0};
  for (int i = 0; i < 3; ++i) force[i] = d->mass * (acceleration[i] - d->gravity[i]);
  torque[0] = torque[1] = 0.0;
  torque[2] = d->slides ? 0.0 : d->inertia[2] * a;
}

typedef struct reaction {
  double force[3], moment[3]; ///< at the joint [N, N m]
} reaction;

/// Least sum |F_i|^2 + |M_i|^2/L^2 with sum F_i = F, sum (z_i - z_c) x F_i + M_i = M across the axis. In x the pair (F_x, M_y) goes by
/// itself, in y the pair (F_y, -M_x): F_i = (p + (z_i - z_c) q), M_i = L^2 q with multipliers p and q of the two conditions. Along
/// the axis forces (bearings), about it moments (guides), are shared alike.
static void share_load(const bench *d, double x, const double force[3], const double torque[3],
                       reaction *out) {
  const double turn = d->slides ? 0.0 : x, c = cos(turn), s = sin(turn);
  const double r[2] = {c * d->center[0] - s * d->center[1], s * d->center[0] + c * d->center[1]};
  double length2 = 0.0, sum1 = 0.0, sum2 = 0.0;
  for (int i = 0; i < d->supports; ++i) {
    const double z = d->place[i] - d->center[2];
    const double across = d->center[0] * d->center[0] + d->center[1] * d->center[1];
    // [RE.7] 3/2 |turn|^2/|move|^2 of the rows that move: the square of the distance, if these are three.
    length2 = fmax(length2, d->slides ? 0.75 * (across + 2.0 * z * z) : across + z * z);
    sum1 += z;
    sum2 += z * z;
  }
  const double n = d->supports;
  // Moments about the point of the axis beside the center: that of the force along z, which acts on the axis, and what the
  // torque asks for.
  const double axial = force[2]; // of shoulders, or friction
  const double m[2] = {torque[0] + r[1] * axial, torque[1] - r[0] * axial};
  // Sum (z_i F_x + M_y,i) = m_y, sum (-z_i F_y + M_x,i) = m_x
  const double by[2] = {m[1], -m[0]};
  for (int k = 0; k < 2; ++k) {
    const double a11 = n, a12 = sum1, a22 = sum2 + n * length2;
    const double det = a11 * a22 - a12 * a12;
    const double p = (a22 * force[k] - a12 * by[k]) / det, q = (a11 * by[k] - a12 * force[k]) / det;
    for (int i = 0; i < d->supports; ++i) {
      out[i].force[k] = p + (d->place[i] - d->center[2]) * q;
      if (k == 0)
        out[i].moment[1] = length2 * q;
      else
        out[i].moment[0] = -length2 * q;
    }
  }
  // About the axis: what forces across it, which act on it, leave of the torque.
  const double about = torque[2] + r[0] * force[1] - r[1] * force[0];
  for (int i = 0; i < d->supports; ++i) {
    out[i].force[2] = d->slides ? 0.0 : axial / n;
    out[i].moment[2] = d->slides ? about / n : 0.0;
  }
}

static double soft(double e2, double small) { return e2 / sqrt(e2 + small * small); }

/// Friction of all joints against the coordinate: a force or a torque.
static double friction_of(const bench *d, double v, const reaction *at) {
  double sum = 0.0;
  const double y = d->slides ? v : d->radius * v, y_s = d->shoulder * v;
  const double lever = d->slides ? 1.0 : d->radius;
  for (int i = 0; i < d->supports; ++i) {
    const double *f = at[i].force, *m = at[i].moment;
    for (int end = -1; end <= 1; end += 2) {
      const double e[2] = {0.5 * f[0] + end * m[1] / d->length,
                           0.5 * f[1] - end * m[0] / d->length};
      sum += lever * d->mu * soft(e[0] * e[0] + e[1] * e[1], d->small) * y /
             sqrt(y * y + d->transition * d->transition);
    }
    const double last = d->slides ? m[2] / d->radius : f[2];
    const double y_last = d->slides ? v : y_s, lever_last = d->slides ? 1.0 : d->shoulder;
    sum += lever_last * d->mu * soft(last * last, d->small) * y_last /
           sqrt(y_last * y_last + d->transition * d->transition);
  }
  return sum;
}

/// The acceleration: J a = (torque of weight) - friction(a), by secants.
static double acceleration_of(const bench *d, double x, double v, reaction *out) {
  double a[2] = {0.0, 1.0}, rest[2] = {0.0, 0.0};
  for (int k = 0; k < 60; ++k) {
    double force[3], torque[3];
    load_of(d, x, v, a[1], force, torque);
    share_load(d, x, force, torque, out);
    const double c = cos(x), s = sin(x);
    const double r[2] = {c * d->center[0] - s * d->center[1], s * d->center[0] + c * d->center[1]};
    // About the axis joints do nothing but rub; along it neither.
    const double needed = d->slides ? force[2] : torque[2] + r[0] * force[1] - r[1] * force[0];
    rest[1] = needed + friction_of(d, v, out);
    if (k == 0) {
      rest[0] = rest[1];
      a[0] = a[1];
      a[1] = 0.0;
      continue;
    }
    if (rest[1] == rest[0] || a[1] == a[0]) break;
    const double next = a[1] - rest[1] * (a[1] - a[0]) / (rest[1] - rest[0]);
    rest[0] = rest[1];
    a[0] = a[1];
    a[1] = next;
  }
  return a[1];
}

/// x, v at the time t by Runge and Kutta.
static void reference(const bench *d, double t, double *x, double *v) {
  const int steps = 4000;
  const double h = t / steps;
  reaction unused[MOST_SUPPORTS];
  *x = 0.0;
  *v = d->rate;
  for (int i = 0; i < steps; ++i) {
    const double k1 = acceleration_of(d, *x, *v, unused);
    const double v2 = *v + 0.5 * h * k1, k2 = acceleration_of(d, *x + 0.5 * h * *v, v2, unused);
    const double v3 = *v + 0.5 * h * k2, k3 = acceleration_of(d, *x + 0.5 * h * v2, v3, unused);
    const double v4 = *v + h * k3, k4 = acceleration_of(d, *x + h * v3, v4, unused);
    *x += h / 6.0 * (*v + 2.0 * v2 + 2.0 * v3 + v4);
    *v += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
}

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

static as_integrator_def given_steps(as_method method, double rho_inf, double h) {
  as_integrator_def how = as_default_integrator_def();
  how.method = method;
  how.rho_inf = rho_inf;
  how.step = h;
  return how;
}

/// What is expected of a bench at 0.4 s.
typedef struct outcome {
  double x, v;
  reaction at[MOST_SUPPORTS];
} outcome;

static const double t_bench = 0.4;

/// Errors of the coordinate, its rate, reactions.
static void bench_errors(const bench *d, const outcome *expected, const as_integrator_def *how,
                         double error[3]) {
  run r = start_run(build_bench(d, false), how);
  advance(&r, t_bench);
  const as_state *state = as_integrator_state(r.integrator);
  const double x = expected->x;
  as_body_motion at;
  as_model_body_motion(r.model, state, (as_body_id){0}, &at);
  error[0] =
      d->slides ? fabs(at.x[2] - d->center[2] - x) : hypot(at.R[0] - cos(x), at.R[3] - sin(x));
  error[1] = fabs((d->slides ? at.v[2] : at.omega[2]) - expected->v);
  error[2] = 0.0;
  for (int i = 0; i < d->supports; ++i) {
    as_reaction shown;
    assert_int_equal(as_model_reaction(r.model, state, (as_joint_id){i}, &shown, NULL), AS_OK);
    for (int k = 0; k < 3; ++k)
      error[2] = fmax(error[2], fabs(shown.force[k] - expected->at[i].force[k]));
  }
  assert_true(r.integrator->stepper.base_compliance == 0.0);
  end_run(&r);
}

static void check_second_order(const char *name, const char *what, double coarse, double fine) {
  if (!(fine <= 0.35 * coarse + 1e-8))
    fail_msg("%s: %s is off by %g, %g", name, what, coarse, fine);
}

static void test_benches(void **state) {
  (void)state;
  static const double rho[] = {0.0, 0.5, 0.8, 1.0};
  for (int i = 0; i < N_BENCHES; ++i) {
    outcome expected;
    reference(&benches[i], t_bench, &expected.x, &expected.v);
    acceleration_of(&benches[i], expected.x, expected.v, expected.at);
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 4; ++k) {
        double error[2][3];
        for (int level = 0; level < 2; ++level) {
          const as_integrator_def how = given_steps(methods[m], rho[k], level ? 0.0025 : 0.005);
          bench_errors(&benches[i], &expected, &how, error[level]);
        }
        printf("%s, %s, rho_inf %g: x %.2e %.2e, v %.2e %.2e, F %.2e %.2e\n", benches[i].name,
               method_names[m], rho[k], error[0][0], error[1][0], error[0][1], error[1][1],
               error[0][2], error[1][2]);
        // One of the two may happen to pass zero; 0.1 s makes them alike.
        check_second_order(benches[i].name, "the motion", hypot(error[0][0], 0.1 * error[0][1]),
                           hypot(error[1][0], 0.1 * error[1][1]));
        check_second_order(benches[i].name, "a reaction", error[0][2], error[1][2]);
      }
  }
}

// ---- other machines -----------------------------------------------------------------------------------

static as_body_id add_body(as_builder *b, const char *name, double mass, const double inertia[3],
                           const double position[3], const double angular_velocity[3]) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = mass;
  memcpy(def.inertia, inertia, 3 * sizeof(double));
  memcpy(def.position, position, sizeof def.position);
  if (angular_velocity) memcpy(def.angular_velocity, angular_velocity, sizeof def.angular_velocity);
  return machine_body(b, &def);
}

/// A hinge that rubs.
static as_joint_id add_hinge(as_builder *b, const char *name, as_body_id first, as_body_id second,
                             const double point[3], const double axis[3], double mu) {
  as_error error;
  const as_joint_id joint = machine_joint(b, name, AS_JOINT_REVOLUTE, first, second, point, axis);
  as_joint_friction_def f = as_default_joint_friction_def();
  f.joint = joint;
  f.coefficient = mu;
  f.radius = 0.03;
  f.length = 0.1;
  f.shoulder_radius = 0.05;
  f.transition_speed = 0.02;
  f.small_force = 0.1;
  if (as_builder_add_joint_friction(b, &f, NULL, &error)) fail_msg("%s", error.message);
  return joint;
}

/// Two gears, each in two bearings that rub; a weight on the second.
static as_model *build_gears(bool twin) {
  as_error error;
  as_builder *b = machine_builder(0, -9.81, 1.0);
  const as_body_id wheel[2] = {add_body(b, "w1", 2.0, (double[]){0.02, 0.02, 0.03},
                                        (double[]){0, 0, 0.1}, (double[]){0, 0, 20}),
                               add_body(b, "w2", 3.0, (double[]){0.03, 0.03, 0.05},
                                        (double[]){0.33, 0, 0.1}, (double[]){0, 0, -10})};
  as_gear_def def = as_default_gear_def();
  for (int i = 0; i < 2; ++i) {
    const double x = i == 0 ? 0.0 : 0.3;
    def.joint[i] =
        add_hinge(b, i == 0 ? "a1" : "b1", AS_GROUND, wheel[i], (double[]){x, 0, 0}, z_axis, 0.2);
    if (!twin)
      add_hinge(b, i == 0 ? "a2" : "b2", AS_GROUND, wheel[i], (double[]){x, 0, 0.3}, z_axis, 0.2);
  }
  def.name = "mesh";
  def.teeth[0] = 20;
  def.teeth[1] = 40;
  if (as_builder_add_gear(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

/// A triangle of hinges, which cannot move, with a gear between two of them and a rail that holds it, too; a pendulum hangs from
/// it.
static as_model *build_triangle(bool twin) {
  as_error error;
  as_builder *b = machine_builder(-6, -4, -1);
  const double axis[3] = {-0.187350124060079, 0.97247086318188103, -0.13856533216125966};
  const as_body_id arm =
      add_body(b, "arm", 0.6, (double[]){0.03, 0.03, 0.02}, (double[]){1.0, 0.3, 1.1}, NULL);
  const as_body_id bar =
      add_body(b, "bar", 2.2, (double[]){0.013, 0.032, 0.031}, (double[]){1.4, 0.2, 1.2}, NULL);
  const as_body_id weight =
      add_body(b, "weight", 1.0, (double[]){0.02, 0.02, 0.02}, (double[]){1.2, 0.5, 1.3}, NULL);
  as_gear_def def = as_default_gear_def();
  def.joint[0] = add_hinge(b, "j0", AS_GROUND, arm,
                           (double[]){1.137455924, 0.449855784, 0.945048117}, axis, 0.0);
  def.joint[1] =
      add_hinge(b, "j1", arm, bar, (double[]){1.126358588, 0.104984178, 1.586987242}, axis, 0.0);
  add_hinge(b, "j2", bar, AS_GROUND, (double[]){1.309974881, 0.185447467, 1.524962966}, axis, 0.0);
  add_hinge(b, "j3", bar, weight, (double[]){1.2, 0.1, 1.2}, (double[]){0.6, 0, 0.8}, 0.1);
  def.teeth[0] = 33;
  def.teeth[1] = 21;
  if (twin) return machine_build(b);
  machine_joint(b, "rail", AS_JOINT_POINT_ON_LINE, AS_GROUND, bar, (double[]){0.2, -0.2, 0},
                z_axis);
  if (as_builder_add_gear(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

/// A planar loop of hinges in space; all rub.
static as_model *build_loop(bool twin) {
  as_builder *b = machine_builder(0.5, -9.81, 2.0);
  const as_body_id a = add_body(b, "a", 1.0, (double[]){0.01, 0.08, 0.09}, (double[]){0, 0.5, 0.05},
                                (double[]){0, 0, 4});
  const as_body_id c =
      add_body(b, "b", 2.0, (double[]){0.1, 0.3, 0.3}, (double[]){0.9, 1.25, 0.1}, NULL);
  const as_body_id d =
      add_body(b, "c", 1.5, (double[]){0.05, 0.2, 0.2}, (double[]){1.9, 0.75, 0}, NULL);
  add_hinge(b, "p", AS_GROUND, a, (double[]){0, 0, 0}, z_axis, 0.3);
  add_hinge(b, "q", a, c, (double[]){0, 1, 0}, z_axis, 0.3);
  add_hinge(b, "r", c, d, (double[]){1.8, 1.5, 0}, z_axis, 0.3);
  if (twin)
    machine_joint(b, "s", AS_JOINT_POINT_ON_LINE, d, AS_GROUND, (double[]){2, 0, 0}, z_axis);
  else
    add_hinge(b, "s", d, AS_GROUND, (double[]){2, 0, 0}, z_axis, 0.3);
  return machine_build(b);
}

/// Bennett's linkage, whose hinges are not parallel; all rub. Closing angles as in test_redundant_machines.c.
static as_model *build_bennett(bool twin) {
  static const char *const names[] = {"", "A", "B", "C"}, *const hinges[] = {"j0", "j1", "j2",
                                                                             "j3"};
  as_builder *b = machine_builder(0.5, 1.0, -9.81);
  const double pi = acos(-1.0), length[2] = {1.0, 1.5};
  const double alpha = 40.0 * pi / 180.0, beta = asin(1.5 * sin(alpha)), first = 1.0;
  const double second =
      2.0 * atan(sin(0.5 * (beta + alpha)) / sin(0.5 * (beta - alpha)) / tan(0.5 * first));
  const double twist[2] = {alpha, beta}, angle[4] = {first, second, -first, -second};
  double R[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, p[5][3] = {{0}}, axis[4][3];
  for (int i = 0; i < 4; ++i) {
    double x[3], y[3];
    memcpy(axis[i], R[2], sizeof axis[i]);
    for (int k = 0; k < 3; ++k) {
      x[k] = cos(angle[i]) * R[0][k] + sin(angle[i]) * R[1][k];
      y[k] = -sin(angle[i]) * R[0][k] + cos(angle[i]) * R[1][k];
      p[i + 1][k] = p[i][k] + length[i % 2] * x[k];
    }
    for (int k = 0; k < 3; ++k) {
      const double z = -sin(twist[i % 2]) * y[k] + cos(twist[i % 2]) * R[2][k];
      R[1][k] = cos(twist[i % 2]) * y[k] + sin(twist[i % 2]) * R[2][k];
      R[0][k] = x[k];
      R[2][k] = z;
    }
  }
  as_body_id link[4] = {AS_GROUND};
  for (int i = 1; i < 4; ++i) {
    double center[3];
    for (int k = 0; k < 3; ++k) center[k] = 0.5 * (p[i][k] + p[i + 1][k]);
    link[i] = add_body(b, names[i], 1.0 + 0.3 * i, (double[]){0.1, 0.12, 0.15}, center, NULL);
  }
  for (int i = 0; i < 4; ++i)
    if (i == 3 && twin)
      machine_joint(b, hinges[i], AS_JOINT_POINT_ON_LINE, link[2], link[3], p[i], axis[i]);
    else
      add_hinge(b, hinges[i], link[(i + 3) % 4], link[i], p[i], axis[i], 0.3);
  return machine_build(b);
}

static const struct subject {
  const char *name;
  as_model *(*build)(bool twin);
} subjects[] = {{"gears in two bearings each", build_gears},
                {"triangle with a gear", build_triangle},
                {"planar loop", build_loop},
                {"Bennett's linkage", build_bennett}};
enum { N_SUBJECTS = sizeof subjects / sizeof subjects[0] };

// ---- what has to hold in a state ----------------------------------------------------------------------

void dgelss_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, double *s, const double *rcond, int *rank, double *work,
             const int *lwork, int *info);

enum { MOST = 64 };

/// How far lambda is off the least one that makes the same B^T lambda, by singular values, and the largest.
static double off_least(const run *r, double *size) {
  const as_problem *p = as_model_problem(r->model);
  const as_state *state = as_integrator_state(r->integrator);
  const double *const weight = r->integrator->kin.redundancy.norm_weight;
  const int n = p->n, rows = p->def.n_lambda, most = n > rows ? n : rows, one = 1,
            lwork = 20 * MOST;
  static double a[MOST * MOST], b[MOST * MOST], x[MOST], s[MOST], work[20 * MOST];
  double xi[MOST] = {0}, q[2 * MOST], g[MOST], off = 0.0;
  const double e = 1e-5, rcond = 1e-7;
  int rank = 0, info = 0;
  assert_true(most <= MOST && p->nq <= 2 * MOST);
  memset(b, 0, sizeof b);
  memset(x, 0, sizeof x);
  for (int j = 0; j < n; ++j)
    for (int side = -1; side <= 1; side += 2) {
      xi[j] = side * e;
      as_space_move(p->space, state->q, xi, q);
      const as_point at = {.t = state->t, .q = q, .u = r->integrator->kin.eval.u};
      assert_int_equal(p->def.constraint(&at, g, p->def.user), AS_DONE);
      for (int i = 0; i < rows; ++i) b[j * rows + i] += side * g[i] / (2.0 * e);
      xi[j] = 0.0;
    }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < rows; ++i) {
      x[j] += b[j * rows + i] * state->lambda[i];
      a[i * n + j] = b[j * rows + i] / sqrt(weight[i]);
    }
  dgelss_(&n, &rows, &one, a, &n, x, &most, s, &rcond, &rank, work, &lwork, &info);
  assert_int_equal(info, 0);
  *size = 0.0;
  for (int i = 0; i < rows; ++i) {
    const double least = x[i] / sqrt(weight[i]);
    off = fmax(off, fabs(state->lambda[i] - least));
    *size = fmax(*size, fabs(least));
  }
  return off;
}

/// The largest |M v' - f| with the multipliers that are shown, and the largest f.
static double off_balance(const run *r, double *size) {
  as_integrator *s = r->integrator;
  const as_problem *p = as_model_problem(r->model);
  const as_state *state = as_integrator_state(s);
  double f[MOST], ma[MOST] = {0}, off = 0.0;
  const as_point at = {.t = state->t,
                       .q = state->q,
                       .v = state->v,
                       .lambda = state->lambda,
                       .psi = state->psi,
                       .u = s->kin.eval.u};
  as_matrix m = s->kin.block[AS_BLOCK_M];
  double values[MOST * MOST];
  m.value = values;
  memset(values, 0, sizeof values);
  assert_int_equal(p->def.mass(&at, &m, p->def.user), AS_DONE);
  assert_int_equal(p->def.force(&at, f, p->def.user), AS_DONE);
  *size = 0.0;
  for (int j = 0; j < p->n; ++j)
    for (int k = m.col_start[j]; k < m.col_start[j + 1]; ++k)
      ma[m.row[k]] += m.value[k] * state->vdot[j];
  for (int i = 0; i < p->n; ++i) {
    off = fmax(off, fabs(ma[i] - f[i]));
    *size = fmax(*size, fabs(f[i]));
  }
  return off;
}

enum { ROWS = 5, MOST_BODIES = 4 };

/// What is looked at along a run.
typedef struct trace {
  as_body_motion motion[ROWS][MOST_BODIES];
  double lambda[ROWS][MOST];
  double least, balance; ///< the largest, relative
  long iterations;
} trace;

static void follow(as_model *model, const as_integrator_def *how, trace *out) {
  run r = start_run(model, how);
  out->least = out->balance = 0.0;
  for (int row = 0; row < ROWS; ++row) {
    double size, off;
    advance(&r, 0.08 * (row + 1));
    const as_state *state = as_integrator_state(r.integrator);
    off = off_least(&r, &size);
    out->least = fmax(out->least, off / size);
    off = off_balance(&r, &size);
    out->balance = fmax(out->balance, off / size);
    for (int i = 0; i < as_model_bodies(model); ++i)
      as_model_body_motion(model, state, (as_body_id){i}, &out->motion[row][i]);
    memcpy(out->lambda[row], state->lambda,
           (size_t)as_model_problem(model)->def.n_lambda * sizeof(double));
  }
  assert_true(r.integrator->stepper.base_compliance == 0.0);
  out->iterations = r.integrator->kin.statistics.newton_iterations;
  end_run(&r);
}

/// The largest differences of motions and of multipliers.
static void compare(const trace *a, const trace *b, double *motion, double *lambda) {
  *motion = *lambda = 0.0;
  for (int row = 0; row < ROWS; ++row) {
    for (int i = 0; i < MOST_BODIES; ++i) {
      const as_body_motion *x = &a->motion[row][i], *y = &b->motion[row][i];
      for (int k = 0; k < 3; ++k)
        *motion = fmax(*motion, fmax(fabs(x->x[k] - y->x[k]), fabs(x->v[k] - y->v[k])));
      for (int k = 0; k < 9; ++k) *motion = fmax(*motion, fabs(x->R[k] - y->R[k]));
    }
    for (int i = 0; i < MOST; ++i)
      *lambda = fmax(*lambda, fabs(a->lambda[row][i] - b->lambda[row][i]));
  }
}

static void test_machines(void **state) {
  (void)state;
  static const double rho[] = {0.0, 0.5, 0.8, 1.0};
  static trace fine, one, twin;
  for (int i = 0; i < N_SUBJECTS; ++i) {
    const as_integrator_def how_fine = given_steps(AS_METHOD_INDEX2, 0.8, 2e-4);
    memset(&fine, 0, sizeof fine);
    memset(&one, 0, sizeof one);
    follow(subjects[i].build(false), &how_fine, &fine);
    for (int m = 0; m < 3; ++m)
      for (int k = 0; k < 4; ++k) {
        double motion[2], lambda[2];
        long iterations[2] = {0, 0};
        for (int level = 0; level < 2; ++level) {
          const as_integrator_def how = given_steps(methods[m], rho[k], level ? 0.002 : 0.004);
          follow(subjects[i].build(false), &how, &one);
          compare(&one, &fine, &motion[level], &lambda[level]);
          if (!(one.least <= 1e-9 && (m == 2 || one.balance <= 1e-6)))
            fail_msg("%s, %s: reactions are off the least ones by %g, forces off balance by %g",
                     subjects[i].name, method_names[m], one.least, one.balance);
          follow(subjects[i].build(true), &how, &twin);
          iterations[0] += one.iterations;
          iterations[1] += twin.iterations;
        }
        printf("%s, %s, rho_inf %g: motion %.2e %.2e, lambda %.2e %.2e, iterations %ld, twin %ld\n",
               subjects[i].name, method_names[m], rho[k], motion[0], motion[1], lambda[0],
               lambda[1], iterations[0], iterations[1]);
        check_second_order(subjects[i].name, "the motion", motion[0], motion[1]);
        check_second_order(subjects[i].name, "a reaction", lambda[0], lambda[1]);
        assert_true((double)iterations[0] <= 1.5 * (double)iterations[1]);
      }
  }
}

/// As long as all of them slide: with one joint there is another friction, and another motion. New factors count as iterations do: a
/// machine makes more of those, or of these, as it costs less.
static void test_iterations(void **state) {
  (void)state;
  for (int i = 0; i < N_BENCHES; ++i)
    for (int m = 0; m < 3; ++m) {
      long iterations[2], jacobians[2];
      for (int twin = 0; twin < 2; ++twin) {
        const as_integrator_def how = given_steps(methods[m], 0.8, 0.0025);
        run r = start_run(build_bench(&benches[i], twin), &how);
        advance(&r, 0.12);
        iterations[twin] = r.integrator->kin.statistics.newton_iterations;
        jacobians[twin] = r.integrator->kin.statistics.jacobian_evaluations;
        end_run(&r);
      }
      printf("%s, %s: %ld iterations and %ld Jacobians, with one joint %ld and %ld\n",
             benches[i].name, method_names[m], iterations[0], jacobians[0], iterations[1],
             jacobians[1]);
      assert_true((double)(iterations[0] + jacobians[0]) <=
                  1.5 * (double)(iterations[1] + jacobians[1]));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_benches),
                                     cmocka_unit_test(test_machines),
                                     cmocka_unit_test(test_iterations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
