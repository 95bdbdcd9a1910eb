/// Rolling and skating against motions known by hand, with every method, on both spaces: second order in place,
/// velocity, acceleration, lambda and psi.
///
/// Each case gives the centre's place, velocity and acceleration and the force that the plane exerts, all in the
/// world at any time.
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

static const double g = 9.81;

static as_integrator *start(const as_model *m, as_method method, double h) {
  const as_integrator_def def = rig_how(method, h, NULL, 0);
  as_integrator *integrator = NULL;
  as_error error;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error))
    fail_msg("%s", error.message);
  return integrator;
}

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

/// What is known of a motion.
typedef struct exact {
  double x[3], v[3], a[3];
  double force[3]; ///< of the joint named "contact" on the body named "body"
} exact;

typedef struct motion_case {
  const char *name;
  as_model *(*build)(bool se3);
  void (*exact)(double t, exact *out);
  double t, h;
} motion_case;

/// The acceleration of the centre of mass: on SE(3) v' is of u = R^T v, so a = R (u' + omega x u).
static void acceleration(const as_model *m, const as_state *s, as_body_id body, bool se3,
                         double *out) {
  const double *a = s->vdot + as_model_body_v(m, body), *u = s->v + as_model_body_v(m, body);
  as_body_motion at;
  memcpy(out, a, 3 * sizeof(double));
  if (!se3) return;
  as_model_body_motion(m, s, body, &at);
  double sum[3];
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum[i] = a[i] + at.omega[j] * u[k] - at.omega[k] * u[j];
  }
  for (int i = 0; i < 3; ++i)
    out[i] = at.R[3 * i] * sum[0] + at.R[3 * i + 1] * sum[1] + at.R[3 * i + 2] * sum[2];
}

enum { ERRORS = 4 };

static void run(const motion_case *c, bool se3, as_method method, double h, double e[ERRORS]) {
  as_model *m = c->build(se3);
  as_integrator *integrator = start(m, method, h);
  as_error error;
  if (as_integrator_advance(integrator, c->t, &error)) fail_msg("%s: %s", c->name, error.message);
  const as_state *s = as_integrator_state(integrator);
  const as_body_id body = as_model_find_body(m, "body");
  exact known = {{0}, {0}, {0}, {0}};
  as_body_motion at;
  as_reaction r;
  double a[3];
  c->exact(c->t, &known);
  as_model_body_motion(m, s, body, &at);
  acceleration(m, s, body, se3, a);
  assert_int_equal(as_model_reaction(m, s, as_model_find_joint(m, "contact"), &r, &error), AS_OK);
  e[0] = distance(at.x, known.x);
  e[1] = distance(at.v, known.v);
  e[2] = distance(a, known.a);
  e[3] = distance(r.force, known.force);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// Second order, or exact to round-off.
static void check_orders(const motion_case *c) {
  static const char *const what[ERRORS] = {"place", "velocity", "acceleration", "force"};
  int failures = 0;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      double coarse[ERRORS], fine[ERRORS];
      run(c, se3, rig_methods[k], c->h, coarse);
      run(c, se3, rig_methods[k], c->h / 2.0, fine);
      for (int i = 0; i < ERRORS; ++i) {
        const double order = log2(coarse[i] / fine[i]);
        printf("  %-10s %-6s method %d %-12s %.2e %.2e  order %.2f\n", c->name, se3 ? "SE3" : "", k,
               what[i], coarse[i], fine[i], order);
        failures += coarse[i] > 1e-8 && !(order > 1.9);
        failures += !(fine[i] < 0.02);
      }
    }
  assert_int_equal(failures, 0);
}

// ---- a sphere down a slope ------------------------------------------------------------------------------------

/// 5/7 g sin(alpha) down, held back by 2/7 m g sin(alpha), pressed by m g cos(alpha).
static const double ball = 3.0, slope = 0.4, ball_radius = 0.2;

static as_model *build_slope(bool se3) {
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def body = machine_round_body("body", ball, 0.4 * ball * ball_radius * ball_radius, se3);
  as_rolling_def def = as_default_rolling_def();
  def.name = "contact";
  def.shape = AS_ROLLING_SPHERE;
  def.normal[0] = sin(slope);
  def.normal[2] = cos(slope);
  for (int i = 0; i < 3; ++i) def.center[i] = body.position[i] = ball_radius * def.normal[i];
  def.body[0] = AS_GROUND;
  def.body[1] = machine_body(b, &body);
  def.radius = ball_radius;
  if (as_builder_add_rolling(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void exact_slope(double t, exact *out) {
  const double down[3] = {cos(slope), 0, -sin(slope)}, up[3] = {sin(slope), 0, cos(slope)};
  const double a = 5.0 / 7.0 * g * sin(slope);
  for (int i = 0; i < 3; ++i) {
    out->x[i] = ball_radius * up[i] + a * t * t / 2.0 * down[i];
    out->v[i] = a * t * down[i];
    out->a[i] = a * down[i];
    out->force[i] = ball * g * (cos(slope) * up[i] - 2.0 / 7.0 * sin(slope) * down[i]);
  }
}

static void test_slope(void **state) {
  (void)state;
  check_orders(&(motion_case){"slope", build_slope, exact_slope, 1.0, 0.005});
}

// ---- a sphere on a turntable ------------------------------------------------------------------------------------

/// On a table that turns with W a ball goes round on a circle with 2/7 W, wherever it is.
static const double table_speed = 3.0;
static const double ball_start[3] = {0.8, 0.1, 0.2}, ball_velocity[3] = {0.3, 0.9, 0.0};

static as_model *build_turntable(bool se3) {
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def table = machine_round_body("table", 10.0, 1.0, se3);
  table.angular_velocity[2] = table_speed;
  const as_body_id on = machine_body(b, &table);
  as_body_def body = machine_round_body("body", ball, 0.4 * ball * ball_radius * ball_radius, se3);
  memcpy(body.position, ball_start, sizeof ball_start);
  memcpy(body.velocity, ball_velocity, sizeof ball_velocity);
  // v + omega x (-r z) = W z x x
  body.angular_velocity[0] = -(ball_velocity[1] - table_speed * ball_start[0]) / ball_radius;
  body.angular_velocity[1] = (ball_velocity[0] + table_speed * ball_start[1]) / ball_radius;
  body.angular_velocity[2] = 1.7;
  as_motion_def drive = as_default_motion_def();
  const as_curve law = {.slope = table_speed};
  drive.joint = machine_joint(b, "axle", AS_JOINT_REVOLUTE, AS_GROUND, on, (double[]){0, 0, 0},
                              (double[]){0, 0, 1});
  drive.law = &law;
  if (as_builder_add_motion(b, &drive, NULL, &error)) fail_msg("%s", error.message);
  as_rolling_def def = as_default_rolling_def();
  def.name = "contact";
  def.shape = AS_ROLLING_SPHERE;
  def.normal[2] = 1.0;
  def.body[0] = on;
  def.body[1] = machine_body(b, &body);
  memcpy(def.center, ball_start, sizeof ball_start);
  def.radius = ball_radius;
  if (as_builder_add_rolling(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void exact_turntable(double t, exact *out) {
  const double W = 2.0 / 7.0 * table_speed, c = cos(W * t), s = sin(W * t);
  const double *v = ball_velocity;
  // x' = W z x (x - x_c): x(0) - x_c = -z x v(0)/W
  const double arm[2] = {v[1] / W, -v[0] / W};
  const double now[2] = {c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]};
  for (int i = 0; i < 2; ++i) {
    out->x[i] = ball_start[i] - arm[i] + now[i];
    out->a[i] = -W * W * now[i];
    out->force[i] = ball * out->a[i];
  }
  out->x[2] = ball_radius;
  out->v[0] = -W * now[1];
  out->v[1] = W * now[0];
  out->force[2] = ball * g;
}

static void test_turntable(void **state) {
  (void)state;
  check_orders(&(motion_case){"turntable", build_turntable, exact_turntable, 1.0, 0.005});
}

/// What the table's drive brings in is what the ball gains.
static double turntable_balance(bool se3, as_method method, double h) {
  as_model *m = build_turntable(se3);
  as_integrator *integrator = start(m, method, h);
  as_error error;
  as_meter meter = {0};
  double before = 0.0, worst = 0.0, gained = 0.0;
  for (int i = 0; i <= lround(1.0 / h); ++i) {
    if (i > 0 && as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
    as_state now = *as_integrator_state(integrator);
    double v[12];
    as_energy energy = {0};
    assert_int_equal(as_integrator_velocity(integrator, v, &error), AS_OK);
    now.v = v;
    if (as_meter_update(&meter, m, &now, &error) || as_model_energy(m, &now, &energy, &error))
      fail_msg("%s", error.message);
    const double kept = energy.kinetic + energy.potential - meter.motions;
    if (i == 0) before = kept;
    worst = fmax(worst, fabs(kept - before));
    gained = fmax(gained, fabs(meter.motions));
  }
  assert_true(gained > 1.0);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return worst;
}

static void test_turntable_energy(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      const double coarse = turntable_balance(se3, rig_methods[k], 0.005);
      const double fine = turntable_balance(se3, rig_methods[k], 0.0025);
      printf("  turntable %s method %d: balance off by %.2e, %.2e J\n", se3 ? "SE3" : "   ", k,
             coarse, fine);
      assert_true(log2(coarse / fine) > 1.9);
    }
}

// ---- a disk in circles --------------------------------------------------------------------------------------------

/// A disk whose axis makes the angle theta with the vertical and whose centre goes round with W on a circle of the
/// radius R, top inwards. Its spin about its own axis is nu = -W R/r; angular momentum and the contact force's
/// torque about the centre give, with c = cos(theta), s = sin(theta),
///     W^2 = m g r c/(s (I_t c + R (I_a/r + m r)))
static const double disk = 2.0, disk_radius = 0.5, theta = 1.2, circle = 1.5;

static double disk_axial(void) { return disk * disk_radius * disk_radius / 2.0; }

static double disk_rate(void) {
  const double c = cos(theta), s = sin(theta), axial = disk_axial(), across = axial / 2.0;
  return sqrt(disk * g * disk_radius * c /
              (s * (across * c + circle * (axial / disk_radius + disk * disk_radius))));
}

static as_model *build_disk(bool se3) {
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  const double W = disk_rate(), c = cos(theta), s = sin(theta);
  as_body_def body = machine_round_body("body", disk, disk_axial() / 2.0, se3);
  body.inertia[2] = disk_axial();
  // At the start its axis is (s, 0, c): turned by theta about y.
  body.quaternion[0] = cos(theta / 2.0);
  body.quaternion[2] = sin(theta / 2.0);
  body.position[0] = circle;
  body.position[2] = disk_radius * s;
  body.velocity[1] = W * circle;
  // omega = W (n - c w) + nu w; n in the body's axes is (-s, 0, c).
  body.angular_velocity[0] = -W * s;
  body.angular_velocity[2] = W * c - W * c - W * circle / disk_radius;
  as_rolling_def def = as_default_rolling_def();
  def.name = "contact";
  def.shape = AS_ROLLING_DISK;
  def.normal[2] = 2.0;
  def.body[0] = AS_GROUND;
  def.body[1] = machine_body(b, &body);
  memcpy(def.center, body.position, sizeof def.center);
  def.axis[0] = s;
  def.axis[2] = c;
  def.radius = disk_radius;
  if (as_builder_add_rolling(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

static void exact_disk(double t, exact *out) {
  const double W = disk_rate(), c = cos(W * t), s = sin(W * t);
  const double out_x[3] = {c, s, 0}, along[3] = {-s, c, 0};
  for (int i = 0; i < 3; ++i) {
    out->x[i] = circle * out_x[i];
    out->v[i] = W * circle * along[i];
    out->a[i] = -W * W * circle * out_x[i];
    out->force[i] = disk * out->a[i];
  }
  out->x[2] = disk_radius * sin(theta);
  out->force[2] = disk * g;
}

static void test_disk(void **state) {
  (void)state;
  check_orders(&(motion_case){"disk", build_disk, exact_disk, 2.0, 0.02});
}

/// A disk that wobbles: its energy stays, the better the smaller the step; both rows hold.
static double wobble(bool se3, as_method method, double h) {
  as_model *m = build_disk(se3);
  as_integrator *integrator = start(m, method, h);
  as_error error;
  as_energy energy;
  // Faster about its axis than for the circle.
  double v[6];
  as_initial initial = *as_model_initial(m);
  memcpy(v, initial.v, sizeof v);
  v[5] *= 1.3;
  initial.v = v;
  if (as_integrator_start(integrator, &initial, NULL, &error)) fail_msg("%s", error.message);
  const as_state *s = as_integrator_state(integrator);
  assert_int_equal(as_model_energy(m, s, &energy, &error), AS_OK);
  const double before = energy.kinetic + energy.potential;
  double worst = 0.0;
  for (int i = 0; i < lround(1.0 / h); ++i) {
    if (as_integrator_step(integrator, h, &error)) fail_msg("%s", error.message);
    double projected[6];
    as_gap gap;
    assert_int_equal(as_integrator_velocity(integrator, projected, &error), AS_OK);
    as_state now = *s;
    now.v = projected;
    assert_int_equal(as_model_energy(m, &now, &energy, &error), AS_OK);
    assert_int_equal(as_model_gap(m, &now, (as_joint_id){0}, &gap, &error), AS_OK);
    assert_true(gap.position < 1e-7 && gap.velocity < 1e-7);
    worst = fmax(worst, fabs(energy.kinetic + energy.potential - before));
  }
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return worst;
}

static void test_wobble(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3)
    for (int k = 0; k < 3; ++k) {
      const double coarse = wobble(se3, rig_methods[k], 0.01);
      const double fine = wobble(se3, rig_methods[k], 0.005);
      printf("  wobbling %s method %d: energy off by %.2e, %.2e J\n", se3 ? "SE3" : "   ", k,
             coarse, fine);
      assert_true(log2(coarse / fine) > 1.9 && fine < 0.01);
    }
}

// ---- Chaplygin's sleigh ---------------------------------------------------------------------------------------------

/// Its edge is a behind the centre of mass. With u along the blade, w the turning, k^2 = J/m + a^2, H^2 = u^2 +
/// k^2 w^2 and c = a H t/k^2 + atanh(u_0/H): u = H tanh(c), w = H/(k cosh(c)), heading (k/a)(gd(c) - gd(c_0)). The edge
/// goes u along the heading; the blade pushes to the left with m (u w + a w').
static const double sleigh = 2.0, sleigh_J = 0.5, sleigh_a = 0.4, sleigh_u = -1.0, sleigh_w = 1.5;

static as_model *build_sleigh(bool se3) {
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def body = machine_round_body("body", sleigh, sleigh_J, se3);
  body.position[0] = sleigh_a;
  body.velocity[0] = sleigh_u;
  body.velocity[1] = sleigh_a * sleigh_w;
  body.angular_velocity[2] = sleigh_w;
  const as_body_id id = machine_body(b, &body);
  machine_joint(b, "ice", AS_JOINT_PLANAR, AS_GROUND, id, (double[]){0, 0, 0}, (double[]){0, 0, 1});
  as_skate_def def = as_default_skate_def();
  def.name = "contact";
  def.body[0] = AS_GROUND;
  def.body[1] = id;
  def.normal[2] = 1.0;
  def.direction[0] = 1.0;
  if (as_builder_add_skate(b, &def, NULL, &error)) fail_msg("%s", error.message);
  return machine_build(b);
}

typedef struct sleigh_now {
  double u, w, heading;
} sleigh_now;

static sleigh_now sleigh_at(double t) {
  const double k = sqrt(sleigh_J / sleigh + sleigh_a * sleigh_a);
  const double H = sqrt(sleigh_u * sleigh_u + k * k * sleigh_w * sleigh_w);
  const double c0 = atanh(sleigh_u / H), c = sleigh_a * H * t / (k * k) + c0;
  return (sleigh_now){H * tanh(c), H / (k * cosh(c)),
                      k / sleigh_a * (atan(sinh(c)) - atan(sinh(c0)))};
}

static void exact_sleigh(double t, exact *out) {
  enum { PARTS = 2000 };
  const double k2 = sleigh_J / sleigh + sleigh_a * sleigh_a, a = sleigh_a;
  double edge[2] = {0};
  for (int i = 0; i <= PARTS; ++i) { // Simpson's rule
    const sleigh_now now = sleigh_at(t * i / PARTS);
    const double weight = (i == 0 || i == PARTS ? 1.0 : i % 2 ? 4.0 : 2.0) * t / (3.0 * PARTS);
    edge[0] += weight * now.u * cos(now.heading);
    edge[1] += weight * now.u * sin(now.heading);
  }
  const sleigh_now now = sleigh_at(t);
  const double e[2] = {cos(now.heading), sin(now.heading)}, n[2] = {-e[1], e[0]};
  const double du = a * now.w * now.w, dw = -a * now.u * now.w / k2;
  for (int i = 0; i < 2; ++i) {
    out->x[i] = edge[i] + a * e[i];
    out->v[i] = now.u * e[i] + a * now.w * n[i];
    out->a[i] = (du - a * now.w * now.w) * e[i] + (now.u * now.w + a * dw) * n[i];
    out->force[i] = sleigh * (now.u * now.w + a * dw) * n[i];
  }
}

static void test_sleigh(void **state) {
  (void)state;
  check_orders(&(motion_case){"sleigh", build_sleigh, exact_sleigh, 2.0, 0.02});
}

// ---- quantities, assembly ---------------------------------------------------------------------------------------------

/// In the plane's axes the force on a disk is (psi_x, psi_y, lambda).
static void test_reaction(void **state) {
  (void)state;
  as_model *m = build_disk(true);
  as_integrator *integrator = start(m, AS_METHOD_INDEX2, 1e-2);
  const as_state *s = as_integrator_state(integrator);
  as_error error;
  as_reaction r;
  assert_int_equal(as_model_joint_rows(m, (as_joint_id){0}), 1);
  assert_int_equal(as_model_joint_velocity_rows(m, (as_joint_id){0}), 2);
  assert_int_equal(as_model_joint_coordinates(m, (as_joint_id){0}), 0);
  assert_int_equal(as_model_reaction(m, s, (as_joint_id){0}, &r, &error), AS_OK);
  const double W = disk_rate();
  assert_near("psi_x", s->psi[0], -disk * W * W * circle, 1e-9);
  assert_near("psi_y", s->psi[1], 0.0, 1e-9);
  assert_near("lambda", s->lambda[0], disk * g, 1e-9);
  assert_near("x in the joint", r.force_in_joint[0], s->psi[0], 1e-12);
  assert_near("z in the joint", r.force_in_joint[2], s->lambda[0], 1e-12);
  assert_near("point", r.point[0], circle, 1e-12);
  // About the centre: rho x F, rho = -r (s n - c h): r (g c - W^2 R s) m about -y at the start.
  assert_near("torque", r.torque[1],
              -disk_radius * disk * (g * cos(theta) - W * W * circle * sin(theta)), 1e-9);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
}

/// A ball in the air that slips comes onto the plane, rolling.
static void test_assembly(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def body = machine_round_body("body", ball, 0.4 * ball * ball_radius * ball_radius, true);
  body.position[2] = 0.5;
  body.velocity[0] = 0.7;
  body.velocity[2] = 0.3;
  body.given = AS_GIVEN_ANGULAR_VELOCITY; // zero; otherwise it would be found from v
  as_rolling_def def = as_default_rolling_def();
  def.name = "contact";
  def.shape = AS_ROLLING_SPHERE;
  def.normal[2] = 1.0;
  def.body[0] = AS_GROUND;
  def.body[1] = machine_body(b, &body);
  def.center[2] = 0.5;
  def.radius = ball_radius;
  as_assembly_report report = {0};
  if (as_builder_add_rolling(b, &def, NULL, &error) || as_builder_assemble(b, &report, &error))
    fail_msg("%s", error.message);
  assert_near("gap", report.gap, 0.3, 1e-12);
  assert_int_equal(report.degrees_of_freedom, 3);
  as_model *m = machine_build(b);
  const as_initial *initial = as_model_initial(m);
  // v and omega share the change by their masses: v = 5/7 of 0.7, as a push at the contact makes it.
  assert_near("height", initial->q[2], ball_radius, 1e-10);
  assert_near("v_x", initial->v[0], 0.5, 1e-10);
  assert_near("omega_y", initial->v[4], 0.5 / ball_radius, 1e-10);
  as_model_destroy(m);
}

/// Two blades of one skate say the same: it is found out and named, and the motion is that of one blade, each with half
/// the force.
static void test_redundant(void **state) {
  (void)state;
  const double w = 0.7, speed = 1.5;
  for (int k = 0; k < 3; ++k) {
    as_error error;
    as_builder *b = machine_builder(0, 0, -g);
    as_body_def body = machine_round_body("body", sleigh, sleigh_J, k == 1);
    body.velocity[0] = speed;
    body.angular_velocity[2] = w;
    const as_body_id id = machine_body(b, &body);
    machine_joint(b, "ice", AS_JOINT_PLANAR, AS_GROUND, id, (double[]){0, 0, 0},
                  (double[]){0, 0, 1});
    as_skate_def def = as_default_skate_def();
    def.body[0] = AS_GROUND;
    def.body[1] = id;
    def.normal[2] = def.direction[0] = 1.0;
    as_joint_id blade[2] = {AS_NO_JOINT, AS_NO_JOINT};
    as_assembly_report report = {0};
    for (int i = 0; i < 2; ++i)
      if (as_builder_add_skate(b, &def, &blade[i], &error)) fail_msg("%s", error.message);
    if (as_builder_assemble(b, &report, &error)) fail_msg("%s", error.message);
    assert_int_equal(report.degrees_of_freedom, 2);
    assert_int_equal(report.n_redundant, 1);
    assert_int_equal(report.n_redundant_joints, 1);
    assert_true(report.redundant_joint[0].index == blade[0].index ||
                report.redundant_joint[0].index == blade[1].index);
    as_model *m = machine_build(b);
    as_integrator *integrator = start(m, rig_methods[k], 0.005);
    if (as_integrator_advance(integrator, 1.0, &error)) fail_msg("%s", error.message);
    const as_state *s = as_integrator_state(integrator);
    as_body_motion at;
    as_model_body_motion(m, s, id, &at);
    assert_near("x", at.x[0], speed / w * sin(w), 1e-5);
    for (int i = 0; i < 2; ++i) assert_near("psi", s->psi[i], sleigh * speed * w / 2.0, 1e-4);
    as_integrator_destroy(integrator);
    as_model_destroy(m);
  }
}

// ---- refusals -----------------------------------------------------------------------------------------------------------

static void refuse_rolling(as_builder *b, const as_rolling_def *def, const char *part) {
  as_error error = {0};
  assert_int_not_equal(as_builder_add_rolling(b, def, NULL, &error), AS_OK);
  if (strstr(error.message, part) == NULL) fail_msg("\"%s\" is not in: %s", part, error.message);
}

static void refuse_skate(as_builder *b, const as_skate_def *def, const char *part) {
  as_error error = {0};
  assert_int_not_equal(as_builder_add_skate(b, def, NULL, &error), AS_OK);
  if (strstr(error.message, part) == NULL) fail_msg("\"%s\" is not in: %s", part, error.message);
}

static void test_refusals(void **state) {
  (void)state;
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def body = machine_round_body("body", 1.0, 1.0, false);
  const as_body_id id = machine_body(b, &body);
  const as_body_id point = machine_point(b, "dot", 1.0, (double[]){0, 0, 0}, (double[]){0, 0, 0});
  as_rolling_def def = as_default_rolling_def();
  def.name = "wheel";
  def.body[0] = AS_GROUND;
  def.body[1] = id;
  refuse_rolling(b, &def, "radius of joint \"wheel\" is nan m");
  def.radius = 0.3;
  refuse_rolling(b, &def, "\"wheel\" has no normal");
  def.normal[2] = 1.0;
  refuse_rolling(b, &def, "\"wheel\" has no axis");
  def.axis[1] = 1.0;
  def.direction[2] = 1.0;
  refuse_rolling(b, &def, "\"wheel\" are parallel");
  def.direction[2] = 0.0;
  def.body[1] = point;
  refuse_rolling(b, &def, "point mass \"dot\"");
  def.body[1] = (as_body_id){17};
  refuse_rolling(b, &def, "\"wheel\" is on body 17");
  def.body[1] = AS_GROUND;
  refuse_rolling(b, &def, "\"wheel\" joins the ground with itself");
  def.body[1] = id;
  def.shape = (as_rolling_shape)5;
  refuse_rolling(b, &def, "unknown shape 5");
  as_skate_def skate = as_default_skate_def();
  skate.name = "blade";
  skate.body[0] = AS_GROUND;
  skate.body[1] = id;
  refuse_skate(b, &skate, "\"blade\" has no normal");
  skate.normal[2] = 1.0;
  refuse_skate(b, &skate, "\"blade\" has no direction");
  skate.direction[0] = 1.0;
  as_frame_def frame = as_default_frame_def();
  const as_curve turning = {.slope = 1.0};
  frame.body = id;
  frame.turn = &turning;
  if (as_builder_add_frame(b, &frame, &skate.frame[1], &error)) fail_msg("%s", error.message);
  refuse_skate(b, &skate, "\"blade\" is on a frame that moves");
  // A disk that lies flat touches nowhere in particular.
  def.shape = AS_ROLLING_DISK;
  def.axis[1] = 0.0;
  def.axis[2] = 1.0;
  refuse_rolling(b, &def, "disk of joint \"wheel\" lies flat");
  skate.frame[1] = AS_NO_FRAME;
  skate.direction[0] = 0.0;
  skate.direction[2] = 1.0;
  refuse_skate(b, &skate, "blade of joint \"blade\" is across the plane");
  as_model *m = machine_build(b);
  assert_int_equal(as_model_joints(m), 0);
  as_model_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_slope),
                                     cmocka_unit_test(test_turntable),
                                     cmocka_unit_test(test_turntable_energy),
                                     cmocka_unit_test(test_disk),
                                     cmocka_unit_test(test_wobble),
                                     cmocka_unit_test(test_sleigh),
                                     cmocka_unit_test(test_reaction),
                                     cmocka_unit_test(test_redundant),
                                     cmocka_unit_test(test_assembly),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
