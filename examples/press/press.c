/// A press built from bodies, joints and forces: a motor turns a crank, a rod drives a ram down onto a pad.
///
/// The crank starts from rest, is led to full speed by a smooth law, and then turns evenly. The pad is a
/// spring with a table: nothing until the ram touches it, then stiffer and stiffer; a damper beside it. The
/// machine is drawn carelessly and assembled. Prints the crank's angle, the ram's height, the force in the
/// wrist, the motor's torque and how well the energy balance closes.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double crank_length = 0.1, rod_length = 0.35; // [m]
static const double speed = 12.566370614359172;            // two turns a second [rad/s]

/// The crank's angle: speed (t - s + s exp(-t/s)) with s = 0.1 s.
static int run_up(double t, double out[3], void *user) {
  const double s = 0.1, e = exp(-t / s);
  (void)user;
  out[0] = speed * (t - s + s * e);
  out[1] = speed * (1.0 - e);
  out[2] = speed * e / s;
  return AS_DONE;
}

/// A rod of a kilogram per 0.1 m, upright or level, its frame in its middle.
static as_body_def rod(const char *name, double length) {
  as_body_def def = as_default_body_def();
  def.name = name;
  def.mass = 10.0 * length;
  def.inertia[0] = 1e-4;
  def.inertia[1] = def.inertia[2] = def.mass * length * length / 12.0;
  return def;
}

static as_status add_bodies(as_builder *b, as_body_id id[3], as_error *error) {
  as_body_def crank = rod("crank", crank_length), link = rod("rod", rod_length);
  as_body_def ram = as_default_body_def();
  crank.position[0] = crank_length / 2.0; // level, to the right
  link.position[0] = 0.05;                // somewhere below, leaning a little
  link.position[1] = -0.15;
  link.quaternion[0] = cos(0.9);
  link.quaternion[3] = -sin(0.9);
  ram.name = "ram";
  ram.mass = 8.0;
  ram.inertia[0] = ram.inertia[1] = ram.inertia[2] = 0.02;
  ram.position[1] = -0.3;
  as_status status = as_builder_add_body(b, &crank, &id[0], error);
  if (status == AS_OK) status = as_builder_add_body(b, &link, &id[1], error);
  if (status == AS_OK) status = as_builder_add_body(b, &ram, &id[2], error);
  return status;
}

/// A joint about or along `axis` (1 y, 2 z) between points on the x axes of two bodies.
static as_status join(as_builder *b, const char *name, as_joint_kind kind, int axis,
                      const as_body_id body[2], const double x[2], as_joint_id *id,
                      as_error *error) {
  as_joint_def joint = as_default_joint_def();
  as_status status = AS_OK;
  joint.name = name;
  joint.kind = kind;
  for (int s = 0; s < 2 && status == AS_OK; ++s) {
    as_frame_def frame = as_default_frame_def();
    frame.body = body[s];
    frame.position[0] = x[s];
    if (axis == 1) { // turned about x, so that its z lies along y
      frame.quaternion[0] = sqrt(0.5);
      frame.quaternion[1] = -sqrt(0.5);
    }
    status = as_builder_add_frame(b, &frame, &joint.frame[s], error);
  }
  return status ? status : as_builder_add_joint(b, &joint, id, error);
}

static as_status add_joints(as_builder *b, const as_body_id id[3], as_error *error) {
  static const as_curve law = {.function = run_up};
  as_motion_def motor = as_default_motion_def();
  as_status status = join(b, "bearing", AS_JOINT_REVOLUTE, 2, (as_body_id[]){AS_GROUND, id[0]},
                          (double[]){0.0, -crank_length / 2.0}, &motor.joint, error);
  if (status == AS_OK)
    status = join(b, "crank pin", AS_JOINT_REVOLUTE, 2, (as_body_id[]){id[0], id[1]},
                  (double[]){crank_length / 2.0, -rod_length / 2.0}, NULL, error);
  // The crank pin keeps the rod in the plane already: the wrist may slide along its pin.
  if (status == AS_OK)
    status = join(b, "wrist", AS_JOINT_POINT_ON_LINE, 2, (as_body_id[]){id[2], id[1]},
                  (double[]){0.0, rod_length / 2.0}, NULL, error);
  if (status == AS_OK)
    status = join(b, "guide", AS_JOINT_PRISMATIC, 1, (as_body_id[]){AS_GROUND, id[2]},
                  (double[]){0.0, 0.0}, NULL, error);
  motor.name = "motor";
  motor.law = &law;
  return status ? status : as_builder_add_motion(b, &motor, NULL, error);
}

/// The pad, from the ground 0.6 m below: the ram touches it at a distance of 0.2 m.
static as_status add_pad(as_builder *b, as_body_id ram, as_error *error) {
  static const double gap[] = {-0.06, -0.04, -0.02, 0.0, 0.1};
  static const double tension[] = {-9000.0, -4000.0, -1000.0, 0.0, 0.0}; // pushes where negative
  static const as_curve table = {.x = gap, .y = tension, .n = 5, .interpolation = AS_MONOTONE};
  as_spring_def pad = as_default_spring_def();
  pad.name = "pad";
  pad.body[0] = AS_GROUND;
  pad.body[1] = ram;
  pad.point[0][1] = -0.6;
  pad.point[1][1] = -0.3;
  pad.length = 0.2;
  pad.spring = &table;
  pad.damping = 40.0;
  return as_builder_add_spring(b, &pad, NULL, error);
}

static as_status build(as_model **model, as_assembly_report *report, as_error *error) {
  as_builder *b = NULL;
  as_body_id id[3];
  as_status status = as_builder_create(&(as_model_def){.gravity = {0, -9.81, 0}}, &b, error);
  if (status == AS_OK) status = add_bodies(b, id, error);
  if (status == AS_OK) status = add_joints(b, id, error);
  if (status == AS_OK) status = add_pad(b, id[2], error);
  if (status == AS_OK) status = as_builder_assemble(b, report, error);
  if (status == AS_OK) status = as_builder_build(b, model, error);
  as_builder_destroy(b);
  return status;
}

/// One line of the table; `angle` is the crank's, last time and now.
static as_status print_line(const as_model *m, const as_state *s, const as_meter *meter,
                            double first, double *angle, as_error *error) {
  as_reaction wrist, motor;
  as_body_motion ram;
  as_energy energy;
  as_status status =
      as_model_coordinates(m, s, as_model_find_joint(m, "bearing"), angle, angle, NULL, error);
  if (status == AS_OK)
    status = as_model_reaction(m, s, as_model_find_joint(m, "wrist"), &wrist, error);
  if (status == AS_OK)
    status = as_model_reaction(m, s, as_model_find_joint(m, "motor"), &motor, error);
  if (status == AS_OK) status = as_model_energy(m, s, &energy, error);
  if (status) return status;
  as_model_body_motion(m, s, as_model_find_body(m, "ram"), &ram);
  const double balance = energy.kinetic + energy.potential + meter->dissipated - meter->motions;
  printf("%4.2f  %10.6f  %10.6f  %10.4f  %10.5f  %.1e\n", s->t, *angle, ram.x[1], wrist.force[1],
         motor.torque[2], fabs(balance - first));
  return AS_OK;
}

static as_status run(const as_model *m, as_integrator *integrator, as_error *error) {
  const double h = 5e-4;
  as_meter meter = {0};
  double first = 0.0, angle = 0.0;
  as_status status = as_integrator_start(integrator, as_model_initial(m), NULL, error);
  printf("t [s]  angle [rad]  ram [m]    wrist [N]  motor [N m]  energy [J]\n");
  for (int i = 0; i <= 2000 && status == AS_OK; ++i) {
    if (i > 0) status = as_integrator_step(integrator, h, error);
    const as_state *s = as_integrator_state(integrator);
    as_energy energy;
    if (status == AS_OK) status = as_meter_update(&meter, m, s, error);
    if (status == AS_OK && i == 0) {
      status = as_model_energy(m, s, &energy, error);
      first = energy.kinetic + energy.potential;
    }
    if (status == AS_OK && i % 200 == 0) status = print_line(m, s, &meter, first, &angle, error);
  }
  if (status == AS_OK)
    printf("the motor has done %.4f J of work, the pad has turned %.4f J into heat\n",
           meter.motions, meter.dissipated);
  return status;
}

int main(void) {
  as_error error = {0};
  as_model *model = NULL;
  as_integrator *integrator = NULL;
  as_assembly_report report;
  const as_integrator_def def = as_default_integrator_def();
  as_status status = build(&model, &report, &error);
  if (status == AS_OK) {
    printf("assembled: the largest gap was %.4f m at joint \"%s\"; %d degrees of freedom, %d "
           "redundant rows\n",
           report.gap, as_model_joint_name(model, report.gap_joint), report.degrees_of_freedom,
           report.n_redundant);
    status = as_integrator_create(as_model_problem(model), &def, &integrator, &error);
  }
  if (status == AS_OK) status = run(model, integrator, &error);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
  if (status) fprintf(stderr, "press: %s\n", error.message);
  return status ? 1 : 0;
}
