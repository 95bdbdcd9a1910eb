/// Kinematics and inverse dynamics against closed forms, at round-off; singular positions; freedom that is left;
/// and forces found that make the same motion when they are applied.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses.h"
#include "machines.h"
#include "rig.h"

static const double pi = 3.14159265358979323846, g = 9.81;
static const double origin[3] = {0}, z_axis[3] = {0, 0, 1}, x_axis[3] = {1, 0, 0};

static const as_state *begin(bench *x, as_motion_report *report) {
  if (as_analysis_begin_motion(x->analysis, as_model_initial(x->model), report, &x->error))
    fail_msg("%s", x->error.message);
  return as_analysis_state(x->analysis);
}

static const as_state *follow(bench *x, double t, as_motion_report *report) {
  if (as_analysis_follow_motion(x->analysis, t, report, &x->error))
    fail_msg("%s", x->error.message);
  return as_analysis_state(x->analysis);
}

// ---- slider-crank ---------------------------------------------------------------------------------

enum { CRANK, ROD, SLIDER };
static const double r = 0.3, l = 0.7, mass[3] = {1.2, 2.0, 3.0};

/// The crank's angle, not uniform.
static int crank_law(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.4 + 5.0 * t + 0.6 * sin(3.0 * t);
  out[1] = 5.0 + 1.8 * cos(3.0 * t);
  out[2] = -5.4 * sin(3.0 * t);
  return AS_DONE;
}

/// A number and its first two derivatives in time.
typedef struct jet {
  double v, d, dd;
} jet;

static jet jet_sin(jet a) {
  return (jet){sin(a.v), cos(a.v) * a.d, cos(a.v) * a.dd - sin(a.v) * a.d * a.d};
}
static jet jet_cos(jet a) {
  return (jet){cos(a.v), -sin(a.v) * a.d, -sin(a.v) * a.dd - cos(a.v) * a.d * a.d};
}
static jet jet_scale(double f, jet a) { return (jet){f * a.v, f * a.d, f * a.dd}; }
static jet jet_add(jet a, jet b) { return (jet){a.v + b.v, a.d + b.d, a.dd + b.dd}; }
/// asin, between -pi/2 and pi/2
static jet jet_asin(jet s) {
  const double c = sqrt(1.0 - s.v * s.v);
  return (jet){asin(s.v), s.d / c, s.dd / c + s.v * s.d * s.d / (c * c * c)};
}

/// Angles and centres of the three bodies, and the torque that drives the crank.
typedef struct crank_motion {
  jet angle[2]; ///< crank, rod
  jet x[3], y[3];
  double torque;
} crank_motion;

static crank_motion crank_exact(double t) {
  crank_motion m;
  double law[3];
  crank_law(t, law, NULL);
  const jet theta = {law[0], law[1], law[2]};
  const jet s = jet_sin(theta), c = jet_cos(theta);
  const jet phi = jet_asin(jet_scale(-r / l, s)); // r sin theta + l sin phi = 0
  m.angle[CRANK] = theta;
  m.angle[ROD] = phi;
  m.x[CRANK] = jet_scale(0.5 * r, c);
  m.y[CRANK] = jet_scale(0.5 * r, s);
  m.x[ROD] = jet_add(jet_scale(r, c), jet_scale(0.5 * l, jet_cos(phi)));
  m.y[ROD] = jet_scale(0.5 * r, s);
  m.x[SLIDER] = jet_add(jet_scale(r, c), jet_scale(l, jet_cos(phi)));
  m.y[SLIDER] = (jet){0};
  // Power: torque theta' = sum m a . v + J alpha omega + m g y'
  double power = 0.0;
  for (int i = 0; i < 3; ++i)
    power += mass[i] * (m.x[i].dd * m.x[i].d + (m.y[i].dd + g) * m.y[i].d);
  power += mass[CRANK] * r * r / 12.0 * theta.dd * theta.d;
  power += mass[ROD] * l * l / 12.0 * phi.dd * phi.d;
  m.torque = power / theta.d;
  return m;
}

/// With the motion, or with a torque on the crank that follows a curve.
static as_model *slider_crank(bool se3, const as_curve *torque) {
  const crank_motion m = crank_exact(0.0);
  const double A[3] = {2.0 * m.x[CRANK].v, 2.0 * m.y[CRANK].v, 0}, B[3] = {m.x[SLIDER].v, 0, 0};
  const as_curve law = {.function = crank_law, .constant = 0.0};
  as_error error;
  as_builder *b = machine_builder(0, -g, 0);
  const as_body_id crank = bench_link(b, "crank", mass[CRANK], r, 0, 0, m.angle[CRANK].v, se3);
  const as_body_id rod = bench_link(b, "rod", mass[ROD], l, A[0], A[1], m.angle[ROD].v, se3);
  as_body_def def = machine_round_body("slider", mass[SLIDER], 0.1, se3);
  machine_place_in_plane(&def, B[0], 0, 0);
  const as_body_id slider = machine_body(b, &def);
  // The frame on the ground is the world's, so that the joint's angle is the crank's.
  as_joint_def main = as_default_joint_def();
  as_frame_def frame = as_default_frame_def();
  frame.body = AS_GROUND;
  if (as_builder_add_frame(b, &frame, &main.frame[0], &error)) fail_msg("%s", error.message);
  frame.body = crank;
  frame.position[0] = -0.5 * r;
  if (as_builder_add_frame(b, &frame, &main.frame[1], &error)) fail_msg("%s", error.message);
  as_joint_id id;
  main.name = "main";
  main.kind = AS_JOINT_REVOLUTE;
  if (as_builder_add_joint(b, &main, &id, &error)) fail_msg("%s", error.message);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, crank, rod, A, z_axis);
  machine_joint(b, "wrist", AS_JOINT_REVOLUTE, rod, slider, B, z_axis);
  machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, slider, B, x_axis);
  if (torque == NULL) {
    bench_motion(b, "drive", id, &law);
    return machine_build(b);
  }
  as_load_def load = as_default_load_def();
  load.body = crank;
  load.torque[2] = 1.0;
  load.factor = torque;
  if (as_builder_add_load(b, &load, NULL, &error)) fail_msg("%s", error.message);
  as_coordinate_def start = as_default_coordinate_def();
  start.joint = id;
  start.rate = m.angle[CRANK].d;
  if (as_builder_set_coordinate(b, &start, &error) || as_builder_assemble(b, NULL, &error))
    fail_msg("%s", error.message);
  return machine_build(b);
}

static bench slider_crank_bench(bool se3) {
  bench x = {.model = slider_crank(se3, NULL)};
  const as_analysis_def def = as_default_analysis_def();
  if (as_analysis_create(as_model_problem(x.model), &def, &x.analysis, &x.error))
    fail_msg("%s", x.error.message);
  return x;
}

/// Largest errors of position, velocity, acceleration and torque; v' in body axes on SE(3).
static void compare(const bench *x, const as_state *s, bool se3, double worst[4]) {
  static const char *const name[3] = {"crank", "rod", "slider"};
  const crank_motion m = crank_exact(s->t);
  for (int i = 0; i < 3; ++i) {
    const as_body_motion at = bench_body(x, s, name[i]);
    const double *a = s->vdot + as_model_body_v(x->model, as_model_find_body(x->model, name[i]));
    double x_dd = m.x[i].dd, y_dd = m.y[i].dd;
    if (se3) { // u = R^T v, u' = R^T v' - omega x u
      const double c = at.R[0], n = at.R[3], w = at.omega[2];
      const double ax = x_dd + w * at.v[1], ay = y_dd - w * at.v[0];
      x_dd = c * ax + n * ay;
      y_dd = -n * ax + c * ay;
    }
    worst[0] = fmax(worst[0], hypot(at.x[0] - m.x[i].v, at.x[1] - m.y[i].v));
    worst[1] = fmax(worst[1], hypot(at.v[0] - m.x[i].d, at.v[1] - m.y[i].d));
    worst[2] = fmax(worst[2], hypot(a[0] - x_dd, a[1] - y_dd));
    if (i == SLIDER) continue;
    worst[0] = fmax(worst[0], fabs(remainder(atan2(at.R[3], at.R[0]) - m.angle[i].v, 2.0 * pi)));
    worst[1] = fmax(worst[1], fabs(at.omega[2] - m.angle[i].d));
    worst[2] = fmax(worst[2], fabs(a[5] - m.angle[i].dd));
  }
  worst[3] = fmax(worst[3], fabs(bench_lambda(x, s, "drive") - m.torque));
  worst[3] = fmax(worst[3], fabs(bench_reaction(x, s, "drive").torque[2] - m.torque));
}

static void slider_crank_follows_its_closed_form(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    bench x = slider_crank_bench(se3);
    as_motion_report report;
    double worst[4] = {0};
    compare(&x, begin(&x, &report), se3, worst);
    assert_int_equal(report.degrees_of_freedom, 0);
    assert_int_equal(report.n_redundant, 3);
    int parts = 0;
    // Fine and coarse steps, and backwards.
    const double times[] = {0.01, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 1.5, 3.7, 2.2, -1.0};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; ++i) {
      const as_state *s = follow(&x, times[i], &report);
      assert_true(s->t == times[i]);
      assert_int_equal(report.degrees_of_freedom, 0);
      assert_true(report.position_drift < 1e-13 && report.velocity_drift < 1e-12);
      parts += report.parts;
      compare(&x, s, se3, worst);
    }
    printf("  slider-crank%s: position %.1e, velocity %.1e, acceleration %.1e, torque %.1e; %d "
           "parts\n",
           se3 ? " on SE(3)" : "", worst[0], worst[1], worst[2], worst[3], parts);
    assert_true(worst[0] < 2e-13 && worst[1] < 5e-13 && worst[2] < 1e-11 && worst[3] < 5e-11);
    bench_free(&x);
  }
}

// ---- forces fed back ------------------------------------------------------------------------------

/// The torque that inverse dynamics finds at t.
static int torque_found(double t, double out[3], void *user) {
  bench *x = user;
  if (as_analysis_follow_motion(x->analysis, t, NULL, &x->error)) return AS_FATAL;
  out[0] = bench_lambda(x, as_analysis_state(x->analysis), "drive");
  out[1] = out[2] = 0.0;
  return AS_DONE;
}

/// The error of the crank's angle and rate, and of the slider, at t = 1 s.
static void run_forward(bench *x, as_method method, double h, double error_of[3]) {
  const as_curve torque = {.function = torque_found, .user = x};
  as_model *model = slider_crank(false, &torque);
  as_integrator_def def = as_default_integrator_def();
  as_integrator *integrator = NULL;
  as_error error;
  def.method = method;
  def.step = h;
  as_status status = as_integrator_create(as_model_problem(model), &def, &integrator, &error);
  if (status == AS_OK)
    status = as_integrator_start(integrator, as_model_initial(model), NULL, &error);
  if (status == AS_OK) status = as_integrator_advance(integrator, 1.0, &error);
  if (status) fail_msg("%s", error.message);
  const as_state *s = as_integrator_state(integrator);
  const crank_motion m = crank_exact(1.0);
  const bench forward = {.model = model};
  const as_body_motion crank = bench_body(&forward, s, "crank");
  error_of[0] = fabs(remainder(atan2(crank.R[3], crank.R[0]) - m.angle[CRANK].v, 2.0 * pi));
  error_of[1] = fabs(crank.omega[2] - m.angle[CRANK].d);
  error_of[2] = fabs(bench_body(&forward, s, "slider").x[0] - m.x[SLIDER].v);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
}

static void torque_fed_back_makes_the_motion(void **state) {
  (void)state;
  static const char *const what[3] = {"angle", "rate", "slider"};
  bench x = slider_crank_bench(false);
  begin(&x, NULL);
  for (int method = 0; method < 3; ++method) {
    double coarse[3], fine[3];
    run_forward(&x, rig_methods[method], 1e-2, coarse);
    run_forward(&x, rig_methods[method], 5e-3, fine);
    for (int i = 0; i < 3; ++i) {
      const double order = log2(coarse[i] / fine[i]);
      printf("  method %d, %-6s %.3e %.3e order %.3f\n", method, what[i], coarse[i], fine[i],
             order);
      assert_true(order > 1.9 && order < 2.3);
      assert_true(fine[i] < 1e-2);
    }
  }
  bench_free(&x);
}

// ---- a platform on six legs -----------------------------------------------------------------------

static const double platform_mass = 8.0, platform_J[3] = {0.5, 0.7, 0.9};
static int leg_number[6] = {0, 1, 2, 3, 4, 5};

/// Feet on the ground, and in the platform.
static void leg_ends(int i, double foot[3], double head[3]) {
  const int pair_of_feet = (i + 1) / 2 * 2, pair_of_heads = i / 2 * 2 + 1;
  const double at_foot = pi / 3.0 * pair_of_feet + (i % 2 ? -0.2 : 0.2);
  const double at_head = pi / 3.0 * pair_of_heads + (i % 2 ? 0.3 : -0.3);
  foot[0] = 1.0 * cos(at_foot);
  foot[1] = 1.0 * sin(at_foot);
  foot[2] = 0.0;
  head[0] = 0.5 * cos(at_head);
  head[1] = 0.5 * sin(at_head);
  head[2] = -0.1;
}

/// Where the platform is to be: centre, and angle about z.
static void platform_law(double t, jet p[3], jet *angle) {
  p[0] = (jet){0.1 * sin(2.0 * t), 0.2 * cos(2.0 * t), -0.4 * sin(2.0 * t)};
  p[1] = (jet){0.1 * cos(3.0 * t), -0.3 * sin(3.0 * t), -0.9 * cos(3.0 * t)};
  p[2] = (jet){1.0 + 0.1 * sin(t), 0.1 * cos(t), -0.1 * sin(t)};
  *angle = (jet){0.3 * sin(1.5 * t), 0.45 * cos(1.5 * t), -0.675 * sin(1.5 * t)};
}

/// From foot to head, and its derivatives.
static void leg_vector(int i, double t, jet d[3]) {
  double foot[3], head[3];
  jet p[3], angle;
  leg_ends(i, foot, head);
  platform_law(t, p, &angle);
  const jet c = jet_cos(angle), s = jet_sin(angle);
  d[0] = jet_add(p[0], jet_add(jet_scale(head[0], c), jet_scale(-head[1], s)));
  d[1] = jet_add(p[1], jet_add(jet_scale(head[0], s), jet_scale(head[1], c)));
  d[2] = p[2];
  d[2].v += head[2];
  for (int k = 0; k < 3; ++k) d[k].v -= foot[k];
}

static int leg_length(double t, double out[3], void *user) {
  jet d[3];
  double dv = 0.0, vv = 0.0, da = 0.0, square = 0.0;
  leg_vector(*(const int *)user, t, d);
  for (int k = 0; k < 3; ++k) {
    square += d[k].v * d[k].v;
    dv += d[k].v * d[k].d;
    vv += d[k].d * d[k].d;
    da += d[k].v * d[k].dd;
  }
  out[0] = sqrt(square);
  out[1] = dv / out[0];
  out[2] = (vv + da - out[1] * out[1]) / out[0];
  return AS_DONE;
}

static bench platform(bool se3) {
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def def = machine_round_body("platform", platform_mass, 1.0, se3);
  memcpy(def.inertia, platform_J, sizeof platform_J);
  jet p[3], angle;
  platform_law(0.0, p, &angle);
  for (int k = 0; k < 3; ++k) def.position[k] = p[k].v;
  const as_body_id body = machine_body(b, &def);
  for (int i = 0; i < 6; ++i) {
    char name[16];
    jet d[3];
    as_error error;
    as_joint_def leg = as_default_joint_def();
    const as_curve length = {.function = leg_length, .user = &leg_number[i]};
    double head[3];
    snprintf(name, sizeof name, "leg %d", i);
    leg_vector(i, 0.0, d);
    leg.name = name;
    leg.kind = AS_JOINT_DISTANCE;
    leg.body[0] = AS_GROUND;
    leg.body[1] = body;
    leg_ends(i, leg.point, head);
    for (int k = 0; k < 3; ++k) leg.second_point[k] = leg.point[k] + d[k].v;
    leg.length = &length;
    if (as_builder_add_joint(b, &leg, NULL, &error)) fail_msg("%s", error.message);
  }
  return bench_make(b);
}

/// Solves A x = b by elimination with pivots, in place.
static void solve6(double A[6][6], double b[6]) {
  for (int k = 0; k < 6; ++k) {
    int best = k;
    for (int i = k + 1; i < 6; ++i)
      if (fabs(A[i][k]) > fabs(A[best][k])) best = i;
    for (int j = 0; j < 6; ++j) {
      const double swap = A[k][j];
      A[k][j] = A[best][j];
      A[best][j] = swap;
    }
    const double swap = b[k];
    b[k] = b[best];
    b[best] = swap;
    for (int i = 0; i < 6; ++i) {
      if (i == k) continue;
      const double f = A[i][k] / A[k][k];
      for (int j = k; j < 6; ++j) A[i][j] -= f * A[k][j];
      b[i] -= f * b[k];
    }
  }
  for (int k = 0; k < 6; ++k) b[k] /= A[k][k];
}

/// The tensions of the legs, by Newton and Euler.
static void leg_tensions(double t, double out[6]) {
  double A[6][6];
  jet p[3], angle;
  platform_law(t, p, &angle);
  for (int i = 0; i < 6; ++i) {
    double foot[3], head[3], length = 0.0, pull[3], arm[3];
    jet d[3];
    leg_vector(i, t, d);
    leg_ends(i, foot, head);
    for (int k = 0; k < 3; ++k) length += d[k].v * d[k].v;
    for (int k = 0; k < 3; ++k) pull[k] = -d[k].v / sqrt(length);
    for (int k = 0; k < 3; ++k) arm[k] = d[k].v + foot[k] - p[k].v;
    for (int k = 0; k < 3; ++k) {
      const int u = (k + 1) % 3, v = (k + 2) % 3;
      A[k][i] = pull[k];
      A[3 + k][i] = arm[u] * pull[v] - arm[v] * pull[u];
    }
  }
  for (int k = 0; k < 3; ++k) out[k] = platform_mass * (p[k].dd + (k == 2 ? g : 0.0));
  out[3] = out[4] = 0.0;
  out[5] = platform_J[2] * angle.dd;
  solve6(A, out);
}

static void platform_legs_carry_it(void **state) {
  (void)state;
  for (int se3 = 0; se3 < 2; ++se3) {
    bench x = platform(se3);
    as_motion_report report;
    const as_state *s = begin(&x, &report);
    double worst[3] = {0}, heaviest = 0.0;
    assert_int_equal(report.degrees_of_freedom, 0);
    assert_int_equal(report.n_redundant, 0);
    for (int step = 0; step <= 20; ++step) {
      if (step > 0) s = follow(&x, 0.3 * step, &report);
      const as_body_motion at = bench_body(&x, s, "platform");
      jet p[3], angle;
      double tension[6];
      platform_law(s->t, p, &angle);
      leg_tensions(s->t, tension);
      for (int k = 0; k < 3; ++k) {
        worst[0] = fmax(worst[0], fabs(at.x[k] - p[k].v));
        worst[1] = fmax(worst[1], fabs(at.v[k] - p[k].d));
      }
      worst[0] = fmax(worst[0], fabs(atan2(at.R[3], at.R[0]) - angle.v));
      worst[1] = fmax(worst[1], fabs(at.omega[2] - angle.d));
      for (int i = 0; i < 6; ++i) {
        char name[16];
        snprintf(name, sizeof name, "leg %d", i);
        worst[2] = fmax(worst[2], fabs(bench_lambda(&x, s, name) - tension[i]));
        heaviest = fmax(heaviest, fabs(tension[i]));
      }
    }
    printf("  platform%s: position %.1e, velocity %.1e, legs %.1e of %.0f N\n",
           se3 ? " on SE(3)" : "", worst[0], worst[1], worst[2], heaviest);
    assert_true(worst[0] < 1e-13 && worst[1] < 1e-12 && worst[2] < 1e-10);
    assert_true(heaviest > 10.0);
    bench_free(&x);
  }
}

// ---- forces that depend on reactions --------------------------------------------------------------

/// s = 0.3 sin 2 t
static int to_and_fro(double t, double out[3], void *user) {
  (void)user;
  out[0] = 0.3 * sin(2.0 * t);
  out[1] = 0.6 * cos(2.0 * t);
  out[2] = -1.2 * sin(2.0 * t);
  return AS_DONE;
}

/// A block is moved along a slope with dry friction, which depends on its reaction: the drive's force is
/// m s'' + m g sin + mu N s'/sqrt(s'^2 + v_t^2), N = (m g cos)^2/sqrt((m g cos)^2 + small^2).
static void block_with_friction_is_driven(void **state) {
  (void)state;
  const double slope = 0.4, m = 5.0, mu = 0.3, speed = 1e-2, small = 0.5;
  const as_curve law = {.function = to_and_fro};
  as_error error;
  as_builder *b = machine_builder(-g * sin(slope), -g * cos(slope), 0);
  as_body_def def = machine_round_body("block", m, 0.1, true);
  const as_body_id block = machine_body(b, &def);
  as_joint_friction_def friction = as_default_joint_friction_def();
  friction.joint = machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, block, origin, x_axis);
  friction.coefficient = mu;
  friction.transition_speed = speed;
  friction.small_force = small;
  if (as_builder_add_joint_friction(b, &friction, NULL, &error)) fail_msg("%s", error.message);
  bench_motion(b, "drive", friction.joint, &law);
  bench x = bench_make(b);
  const as_state *s = begin(&x, NULL);
  const double weight = m * g * cos(slope), N = weight * weight / hypot(weight, small);
  for (int i = 0; i <= 40; ++i) {
    double law_at[3];
    if (i > 0) s = follow(&x, 0.1 * i, NULL);
    to_and_fro(s->t, law_at, NULL);
    const double rubs = mu * N * law_at[1] / hypot(law_at[1], speed);
    assert_near("drive", bench_lambda(&x, s, "drive"), m * law_at[2] + m * g * sin(slope) + rubs,
                1e-11);
    assert_near("guide", bench_reaction(&x, s, "guide").force[1], weight, 1e-11);
  }
  bench_free(&x);
}

// ---- singular positions, impossible ones, freedom ---------------------------------------------------

/// A parallelogram whose crank turns with 1 rad/s from `angle`; flat at multiples of pi.
static bench parallelogram(double angle) {
  const double a = 0.4, w = 1.0;
  const as_curve law = {.slope = 1.0};
  const double A[3] = {a * cos(angle), a * sin(angle), 0}, D[3] = {w, 0, 0};
  const double C[3] = {A[0] + w, A[1], 0};
  as_builder *b = machine_builder(0, -g, 0);
  const as_body_id left = bench_link(b, "left", 1.0, a, 0, 0, angle, false);
  const as_body_id bar = bench_link(b, "bar", 2.0, w, A[0], A[1], 0.0, false);
  const as_body_id right = bench_link(b, "right", 1.0, a, D[0], D[1], angle, false);
  const as_joint_id main =
      machine_joint(b, "O", AS_JOINT_REVOLUTE, AS_GROUND, left, origin, z_axis);
  machine_joint(b, "A", AS_JOINT_REVOLUTE, left, bar, A, z_axis);
  machine_joint(b, "C", AS_JOINT_REVOLUTE, bar, right, C, z_axis);
  machine_joint(b, "D", AS_JOINT_REVOLUTE, AS_GROUND, right, D, z_axis);
  bench_motion(b, "drive", main, &law);
  return bench_make(b);
}

/// It passes its flat positions as a parallelogram, also when it stops there; what is undetermined there is
/// said.
static void parallelogram_passes_flat_positions(void **state) {
  (void)state;
  bench x = parallelogram(0.5);
  as_motion_report report;
  begin(&x, &report);
  assert_int_equal(report.degrees_of_freedom, 0);
  double worst = 0.0, worst_flat = 0.0, t = 0.0;
  for (int i = 1, flats = 0; i <= 60; ++i) {
    const double next_flat = pi * (flats + 1) - 0.5;
    const bool flat = 0.16 * (i - flats) > next_flat;
    t = flat ? next_flat : 0.16 * (i - flats);
    flats += flat;
    const as_state *s = follow(&x, t, &report);
    double *of = flat ? &worst_flat : &worst;
    *of = fmax(*of, fabs(remainder(bench_angle(&x, s, "right") - 0.5 - t, 2.0 * pi)));
    *of = fmax(*of, fabs(bench_angle(&x, s, "bar")));
    *of = fmax(*of, fabs(bench_body(&x, s, "right").omega[2] - 1.0));
    assert_int_equal(report.degrees_of_freedom, flat ? 1 : 0);
    assert_int_equal(report.n_redundant, flat ? 4 : 3);
  }
  assert_true(t > 9.0);
  printf("  parallelogram: off by %.1e, in flat positions by %.1e\n", worst, worst_flat);
  assert_true(worst < 1e-10 && worst_flat < 1e-5);
  bench_free(&x);
}

/// The rank is found at every angle, also near the flat ones, where one more row is nearly redundant.
static void rank_is_found_near_singular_positions(void **state) {
  (void)state;
  for (int i = 0; i < 200; ++i) {
    const double angle = i < 100 ? 0.03 * (i + 1) : pi - pow(10.0, -0.03 * (i - 100));
    as_integrator *integrator = NULL;
    as_start_report report = {0};
    bench x = parallelogram(angle);
    const as_integrator_def def = as_default_integrator_def();
    as_initial initial = *as_model_initial(x.model);
    as_status status = as_integrator_create(as_model_problem(x.model), &def, &integrator, &x.error);
    if (status == AS_OK) status = as_integrator_start(integrator, &initial, &report, &x.error);
    if (status) fail_msg("angle %.9g: %s", angle, x.error.message);
    if (report.n_redundant != 3 || report.degrees_of_freedom != 0)
      fail_msg("angle %.9g: %d redundant rows, %d degrees of freedom", angle, report.n_redundant,
               report.degrees_of_freedom);
    as_integrator_destroy(integrator);
    bench_free(&x);
  }
}

/// The slider of a slider-crank is driven outwards, beyond crank and rod stretched out at 1 m.
static void unreachable_position_is_named(void **state) {
  (void)state;
  const as_curve law = {.slope = 0.1};
  const double out = 0.8, c = (r * r + out * out - l * l) / (2.0 * r * out), angle = acos(c);
  const double A[3] = {r * cos(angle), r * sin(angle), 0}, B[3] = {out, 0, 0};
  as_builder *b = machine_builder(0, -g, 0);
  const as_body_id crank = bench_link(b, "crank", 1.0, r, 0, 0, angle, false);
  const as_body_id rod = bench_link(b, "rod", 1.0, l, A[0], A[1], atan2(-A[1], out - A[0]), false);
  as_body_def def = machine_round_body("slider", 1.0, 0.1, false);
  machine_place_in_plane(&def, out, 0, 0);
  const as_body_id slider = machine_body(b, &def);
  machine_joint(b, "main", AS_JOINT_REVOLUTE, AS_GROUND, crank, origin, z_axis);
  machine_joint(b, "pin", AS_JOINT_REVOLUTE, crank, rod, A, z_axis);
  machine_joint(b, "wrist", AS_JOINT_REVOLUTE, rod, slider, B, z_axis);
  const as_joint_id guide =
      machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, slider, B, x_axis);
  bench_motion(b, "push", guide, &law);
  bench x = bench_make(b);
  begin(&x, NULL);
  follow(&x, 1.9, NULL);
  // 1.99 is reached; stretched out at t = 2, it cannot go on.
  const as_state *s = follow(&x, 1.99, NULL);
  assert_near("slider", bench_body(&x, s, "slider").x[0], 0.999, 1e-13);
  const as_status status = as_analysis_follow_motion(x.analysis, 2.5, NULL, &x.error);
  printf("  %s\n", x.error.message);
  assert_true(status == AS_ERR_INCONSISTENT || status == AS_ERR_CONVERGENCE);
  assert_non_null(strstr(x.error.message, "cannot be followed beyond t = "));
  assert_near("time", x.error.t, 2.0, 1e-4);
  assert_true(x.error.component[0] != '\0');
  // The state is the one before.
  assert_true(as_analysis_state(x.analysis)->t == 1.99);
  bench_free(&x);
}

static int jumping_law(double t, double out[3], void *user) {
  (void)user;
  out[0] = t < 0.5 ? 0.0 : 0.7;
  out[1] = out[2] = 0.0;
  return AS_DONE;
}

static void jump_in_a_law_is_found(void **state) {
  (void)state;
  const as_curve law = {.function = jumping_law};
  as_builder *b = machine_builder(0, -g, 0);
  const as_body_id arm = bench_link(b, "arm", 1.0, 1.0, 0, 0, 0, false);
  const as_joint_id pin =
      machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, z_axis);
  bench_motion(b, "drive", pin, &law);
  bench x = bench_make(b);
  begin(&x, NULL);
  assert_int_equal(as_analysis_follow_motion(x.analysis, 1.0, NULL, &x.error), AS_ERR_CONVERGENCE);
  printf("  %s\n", x.error.message);
  assert_non_null(strstr(x.error.message, "\"arm\""));
  assert_near("time", x.error.t, 0.5, 1e-5);
  bench_free(&x);
}

static void freedom_is_counted_and_named(void **state) {
  (void)state;
  const as_curve law = {.slope = 1.0};
  as_builder *b = machine_builder(0, -g, 0);
  const double end[3] = {1, 0, 0};
  const as_body_id arm = bench_link(b, "arm", 1.0, 1.0, 0, 0, 0, false);
  const as_body_id hand = bench_link(b, "hand", 1.0, 1.0, 1.0, 0, 0, true);
  const as_joint_id pin =
      machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, arm, origin, z_axis);
  machine_joint(b, "ball", AS_JOINT_SPHERICAL, arm, hand, end, NULL);
  bench_motion(b, "drive", pin, &law);
  bench x = bench_make(b);
  as_motion_report report = {.parts = -7};
  const as_status status =
      as_analysis_begin_motion(x.analysis, as_model_initial(x.model), &report, &x.error);
  printf("  %s\n", x.error.message);
  assert_int_equal(status, AS_ERR_UNSUPPORTED);
  assert_int_equal(report.parts, -7);
  assert_non_null(strstr(x.error.message, "3 degrees of freedom are left"));
  assert_non_null(strstr(x.error.message, "body \"hand\""));
  assert_null(strstr(x.error.message, "body \"arm\""));
  assert_int_equal(as_analysis_follow_motion(x.analysis, 1.0, NULL, &x.error), AS_ERR_ARGUMENT);
  bench_free(&x);
}

/// A shaft that is wound up against a spring by formula: the spring has no end, and the drive pays for each turn. A part of
/// the way that fails leaves the turns as they were.
static void drive_winds_a_spring(void **state) {
  (void)state;
  const as_curve law = {.slope = 5.0};
  as_builder *b = machine_builder(0, 0, 0);
  const as_body_id shaft = bench_link(b, "shaft", 1.0, 1.0, -0.5, 0, 0, true);
  const as_joint_id pin =
      machine_joint(b, "pin", AS_JOINT_REVOLUTE, AS_GROUND, shaft, origin, z_axis);
  bench_actuator(b, pin, "-2*joints.pin.angle + sqrt(20.5 - t)*0");
  bench_motion(b, "drive", pin, &law);
  bench x = bench_make(b);
  begin(&x, NULL);
  const double times[] = {0.3, 1.0, 1.3, 9.7, 20.0, 3.0, -4.0};
  for (int i = 0; i < 7; ++i) {
    const as_state *s = follow(&x, times[i], NULL);
    assert_near("turns", s->u[0], 5.0 * times[i], 1e-12);
    assert_near("torque", fabs(bench_lambda(&x, s, "drive")), fabs(10.0 * times[i]), 1e-11);
    if (times[i] != 3.0) continue;
    assert_int_not_equal(as_analysis_follow_motion(x.analysis, 21.0, NULL, &x.error), AS_OK);
    assert_near("turns as they were", as_analysis_state(x.analysis)->u[0], 15.0, 1e-12);
  }
  bench_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slider_crank_follows_its_closed_form),
      cmocka_unit_test(torque_fed_back_makes_the_motion),
      cmocka_unit_test(platform_legs_carry_it),
      cmocka_unit_test(block_with_friction_is_driven),
      cmocka_unit_test(parallelogram_passes_flat_positions),
      cmocka_unit_test(rank_is_found_near_singular_positions),
      cmocka_unit_test(unreachable_position_is_named),
      cmocka_unit_test(jump_in_a_law_is_found),
      cmocka_unit_test(freedom_is_counted_and_named),
      cmocka_unit_test(drive_winds_a_spring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
