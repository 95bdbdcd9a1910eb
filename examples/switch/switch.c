/// A toggle switch, without integrating anything: where its lever comes to rest, at which push it snaps over, and
/// which torque it takes to move it in a given way.
///
/// The lever turns about the origin. A stretched spring from its tip to a point below the origin pulls it away from
/// the middle to either side, a softer torsional spring holds against that.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double length = 0.06,
                    depth = 0.04; // of the lever, and of the spring's foot below its pin [m]
static const double from = 0.8, to = -0.8; // angles of the prescribed motion [rad]
static const double duration = 0.05;       // [s]

/// Starts and ends smoothly: from + (to - from) (10 s^3 - 15 s^4 + 6 s^5), s = t / duration.
static int move_over(double t, double out[3], void *user) {
  const double s = t / duration, way = to - from;
  (void)user;
  out[0] = from + way * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
  out[1] = way * 30.0 * s * s * (1.0 - 2.0 * s + s * s) / duration;
  out[2] = way * 60.0 * s * (1.0 - 3.0 * s + 2.0 * s * s) / (duration * duration);
  return AS_DONE;
}

/// The lever, drawn leaning to the left by an angle, and its pin; the pin's coordinate is the angle from upright.
static as_status add_lever(as_builder *b, double angle, as_body_id *lever, as_joint_id *pin,
                           as_error *error) {
  as_body_def body = as_default_body_def();
  as_frame_def frame = as_default_frame_def();
  as_joint_def joint = as_default_joint_def();
  body.name = "lever";
  body.mass = 0.02;
  body.inertia[0] = body.inertia[2] = body.mass * length * length / 12.0;
  body.inertia[1] = 1e-7;
  body.center_of_mass[1] = length / 2.0;
  body.quaternion[0] = cos(angle / 2.0);
  body.quaternion[3] = sin(angle / 2.0);
  joint.name = "pin";
  joint.kind = AS_JOINT_REVOLUTE;
  as_status status = as_builder_add_body(b, &body, lever, error);
  frame.body = AS_GROUND;
  if (status == AS_OK) status = as_builder_add_frame(b, &frame, &joint.frame[0], error);
  frame.body = *lever;
  if (status == AS_OK) status = as_builder_add_frame(b, &frame, &joint.frame[1], error);
  return status ? status : as_builder_add_joint(b, &joint, pin, error);
}

static as_status add_springs(as_builder *b, double angle, as_body_id lever, as_error *error) {
  as_spring_def spring = as_default_spring_def();
  as_torsion_def hold = as_default_torsion_def();
  spring.body[0] = AS_GROUND;
  spring.body[1] = lever;
  spring.point[0][1] = -depth;
  spring.point[1][0] = -length * sin(angle);
  spring.point[1][1] = length * cos(angle);
  spring.stiffness = 800.0;
  spring.length = 0.06;
  hold.body[0] = AS_GROUND;
  hold.body[1] = lever;
  hold.axis[2] = 1.0;
  hold.stiffness = 0.5;
  hold.angle = -angle; // slack where the lever is upright
  const as_status status = as_builder_add_spring(b, &spring, NULL, error);
  return status ? status : as_builder_add_torsion(b, &hold, NULL, error);
}

/// A finger pushes the tip to the right, with t newtons at the time t.
static as_status add_finger(as_builder *b, double angle, as_body_id lever, as_error *error) {
  static const as_curve time = {.slope = 1.0};
  as_load_def finger = as_default_load_def();
  finger.body = lever;
  finger.point[0] = -length * sin(angle);
  finger.point[1] = length * cos(angle);
  finger.force[0] = 1.0;
  finger.factor = &time;
  return as_builder_add_load(b, &finger, NULL, error);
}

/// The switch, pushed by a finger or moved by a law.
static as_status build(double angle, bool driven, as_model **model, as_error *error) {
  static const as_curve law = {.function = move_over};
  as_motion_def motion = as_default_motion_def();
  as_builder *b = NULL;
  as_body_id lever;
  as_status status = as_builder_create(&(as_model_def){.gravity = {0, -9.81, 0}}, &b, error);
  if (status == AS_OK) status = add_lever(b, angle, &lever, &motion.joint, error);
  if (status == AS_OK) status = add_springs(b, angle, lever, error);
  motion.name = "drive";
  motion.law = &law;
  if (status == AS_OK && driven) status = as_builder_add_motion(b, &motion, NULL, error);
  if (status == AS_OK && !driven) status = add_finger(b, angle, lever, error);
  if (status == AS_OK) status = as_builder_build(b, model, error);
  as_builder_destroy(b);
  return status;
}

static double angle_of(const as_model *model, const as_state *state) {
  double angle = 0.0;
  as_model_coordinates(model, state, as_model_find_joint(model, "pin"), NULL, &angle, NULL, NULL);
  return angle;
}

static const char *name_of(as_stability stability) {
  return stability == AS_STABLE ? "stable" : stability == AS_UNSTABLE ? "unstable" : "neutral";
}

/// Equilibria from a few starts.
static as_status come_to_rest(as_error *error) {
  static const double starts[] = {0.0, 0.01, 1.5, -0.3};
  as_status status = AS_OK;
  for (int i = 0; i < 4 && status == AS_OK; ++i) {
    const as_analysis_def def = as_default_analysis_def();
    as_model *model = NULL;
    as_analysis *analysis = NULL;
    as_equilibrium found;
    status = build(starts[i], false, &model, error);
    if (status == AS_OK)
      status = as_analysis_create(as_model_problem(model), &def, &analysis, error);
    if (status == AS_OK)
      status = as_analysis_equilibrium(analysis, as_model_initial(model), &found, error);
    if (status == AS_OK)
      printf("from %5.2f rad: rests at %9.6f rad, %s, kappa %.3f 1/s^2\n", starts[i],
             angle_of(model, as_analysis_state(analysis)), name_of(found.stability), found.softest);
    as_analysis_destroy(analysis);
    as_model_destroy(model);
  }
  return status;
}

static int print_equilibrium(double push, const as_state *state, const as_equilibrium *found,
                             void *user) {
  printf("%5.1f N  %9.6f rad  kappa %10.3f 1/s^2%s\n", push, angle_of(user, state), found->softest,
         found->jumped ? "  snapped over" : "");
  return 0;
}

/// Pushed to the right until it snaps over, and back.
static as_status push(as_error *error) {
  static const double values[] = {0, 1, 2, 3, 1, 0, -1, -2, -3};
  const as_analysis_def def = as_default_analysis_def();
  as_sweep_def sweep = as_default_sweep_def();
  as_sweep_report report;
  as_model *model = NULL;
  as_analysis *analysis = NULL;
  as_status status = build(0.5, false, &model, error);
  if (status == AS_OK) status = as_analysis_create(as_model_problem(model), &def, &analysis, error);
  sweep.values = values;
  sweep.n_values = sizeof values / sizeof values[0];
  sweep.receive = print_equilibrium;
  sweep.user = model;
  sweep.jump = true;
  if (status == AS_OK)
    status = as_analysis_sweep(analysis, as_model_initial(model), &sweep, &report, error);
  if (status == AS_OK)
    printf("it snaps over at %.4f N; snapped %d times\n", report.lost[0], report.n_jumps);
  as_analysis_destroy(analysis);
  as_model_destroy(model);
  return status;
}

/// The torque of a given motion.
static as_status drive(as_error *error) {
  const as_analysis_def def = as_default_analysis_def();
  as_model *model = NULL;
  as_analysis *analysis = NULL;
  as_status status = build(from, true, &model, error);
  if (status == AS_OK) status = as_analysis_create(as_model_problem(model), &def, &analysis, error);
  if (status == AS_OK)
    status = as_analysis_begin_motion(analysis, as_model_initial(model), NULL, error);
  for (int i = 0; i <= 10 && status == AS_OK; ++i) {
    status = as_analysis_follow_motion(analysis, duration * i / 10.0, NULL, error);
    if (status) break;
    const as_state *s = as_analysis_state(analysis);
    const int row = as_model_joint_row(model, as_model_find_joint(model, "drive"));
    printf("%5.3f s  %9.6f rad  %9.4f rad/s  %10.3f rad/s^2  torque %9.6f N m\n", s->t,
           angle_of(model, s), s->v[5], s->vdot[5], s->lambda[row]);
  }
  as_analysis_destroy(analysis);
  as_model_destroy(model);
  return status;
}

int main(void) {
  as_error error;
  as_status status = come_to_rest(&error);
  if (status == AS_OK) status = push(&error);
  if (status == AS_OK) status = drive(&error);
  if (status) fprintf(stderr, "%s\n", error.message);
  return status ? 1 : 0;
}
