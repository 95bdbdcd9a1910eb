/// A differential between two wheels: a motor turns a pinion, the pinion a crown wheel on a case, and a bevel wheel
/// in the case shares the torque between the wheels, whatever their speeds.
///
/// The motor is led to 300 rad/s by a smooth law. The wheels wade through mud: 2 N m for each rad/s on the left, three
/// times as much on the right. Prints the speeds, the torques on both wheels, the motor's torque, and how well the
/// energy balance closes.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>

static const double speed = 300.0; // of the motor [rad/s]

enum { PINION, CASE, LEFT, RIGHT, BEVEL, BODIES };

/// The motor's angle: speed (t - s + s exp(-t/s)) with s = 0.2 s.
static int run_up(double t, double out[3], void *user) {
  const double s = 0.2, e = exp(-t / s);
  (void)user;
  out[0] = speed * (t - s + s * e);
  out[1] = speed * (1.0 - e);
  out[2] = speed * e / s;
  return AS_DONE;
}

/// The car drives along x; wheels turn about y.
static as_status add_bodies(as_builder *b, as_body_id id[BODIES], as_error *error) {
  static const struct {
    const char *name;
    double mass, inertia[3], position[3];
  } body[BODIES] = {
      [PINION] = {"pinion", 2.0, {0.002, 0.004, 0.004}, {-0.2, 0.03, 0.0}},
      [CASE] = {"case", 6.0, {0.05, 0.04, 0.05}, {0.0, 0.0, 0.0}},
      [LEFT] = {"left", 20.0, {0.6, 0.9, 0.6}, {0.0, 0.7, 0.0}},
      [RIGHT] = {"right", 20.0, {0.6, 0.9, 0.6}, {0.0, -0.7, 0.0}},
      [BEVEL] = {"bevel", 0.3, {2e-4, 1e-4, 1e-4}, {0.04, 0.0, 0.0}},
  };
  as_status status = AS_OK;
  for (int i = 0; i < BODIES && status == AS_OK; ++i) {
    as_body_def def = as_default_body_def();
    def.name = body[i].name;
    def.mass = body[i].mass;
    for (int k = 0; k < 3; ++k) {
      def.inertia[k] = body[i].inertia[k];
      def.position[k] = body[i].position[k];
    }
    status = as_builder_add_body(b, &def, &id[i], error);
  }
  return status;
}

/// Each body turns about x or y: pinion and case in the ground, the rest in the case.
static as_status add_axles(as_builder *b, const as_body_id id[BODIES], as_joint_id axle[BODIES],
                           as_error *error) {
  static const int axis[BODIES] = {[PINION] = 0, [CASE] = 1, [LEFT] = 1, [RIGHT] = 1, [BEVEL] = 0};
  static const char *const name[BODIES] = {"pinion", "case", "left", "right", "bevel"};
  as_status status = AS_OK;
  for (int i = 0; i < BODIES && status == AS_OK; ++i) {
    as_joint_def def = as_default_joint_def();
    def.name = name[i];
    def.kind = AS_JOINT_REVOLUTE;
    def.body[0] = i == PINION || i == CASE ? AS_GROUND : id[CASE];
    def.body[1] = id[i];
    def.axis[axis[i]] = 1.0;
    def.point[1] = i == PINION ? 0.03 : 0.0;
    status = as_builder_add_joint(b, &def, &axle[i], error);
  }
  return status;
}

static as_status add_gears(as_builder *b, const as_joint_id axle[BODIES], as_error *error) {
  // About their axes, the right wheel turns as the bevel wheel does and the left one against it.
  const struct {
    const char *name;
    int wheel[2], teeth[2];
    bool internal;
  } mesh[] = {{"crown mesh", {PINION, CASE}, {11, 41}, true},
              {"left mesh", {BEVEL, LEFT}, {10, 16}, false},
              {"right mesh", {BEVEL, RIGHT}, {10, 16}, true}};
  as_status status = AS_OK;
  for (int i = 0; i < 3 && status == AS_OK; ++i) {
    as_gear_def gear = as_default_gear_def();
    gear.name = mesh[i].name;
    gear.internal = mesh[i].internal;
    gear.tooth.kind = AS_TOOTH_TORQUE; // bevel wheels
    for (int s = 0; s < 2; ++s) {
      gear.joint[s] = axle[mesh[i].wheel[s]];
      gear.teeth[s] = mesh[i].teeth[s];
    }
    status = as_builder_add_gear(b, &gear, NULL, error);
  }
  return status;
}

static as_status add_drive(as_builder *b, const as_body_id id[BODIES],
                           const as_joint_id axle[BODIES], as_error *error) {
  static const as_curve law = {.function = run_up};
  as_motion_def motor = as_default_motion_def();
  motor.name = "motor";
  motor.joint = axle[PINION];
  motor.law = &law;
  as_status status = as_builder_add_motion(b, &motor, NULL, error);
  for (int i = LEFT; i <= RIGHT && status == AS_OK; ++i) {
    as_torsion_def mud = as_default_torsion_def();
    mud.body[0] = AS_GROUND;
    mud.body[1] = id[i];
    mud.axis[1] = 1.0;
    mud.damping = i == LEFT ? 2.0 : 6.0;
    status = as_builder_add_torsion(b, &mud, NULL, error);
  }
  return status;
}

static as_status build(as_model **model, as_assembly_report *report, as_error *error) {
  as_builder *b = NULL;
  as_body_id id[BODIES];
  as_joint_id axle[BODIES];
  as_status status = as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, error);
  if (status == AS_OK) status = add_bodies(b, id, error);
  if (status == AS_OK) status = add_axles(b, id, axle, error);
  if (status == AS_OK) status = add_gears(b, axle, error);
  if (status == AS_OK) status = add_drive(b, id, axle, error);
  if (status == AS_OK) status = as_builder_assemble(b, report, error);
  if (status == AS_OK) status = as_builder_build(b, model, error);
  as_builder_destroy(b);
  return status;
}

/// The angular velocity of a body about y of the world.
static double spin(const as_model *m, const as_state *s, const char *body) {
  as_body_motion at;
  as_model_body_motion(m, s, as_model_find_body(m, body), &at);
  return at.R[3] * at.omega[0] + at.R[4] * at.omega[1] + at.R[5] * at.omega[2];
}

static as_status print_line(const as_model *m, const as_state *s, const as_meter *meter,
                            double first, as_error *error) {
  static const char *const name[3] = {"left mesh", "right mesh", "motor"};
  as_reaction r[3];
  as_energy energy;
  as_status status = as_model_energy(m, s, &energy, error);
  for (int i = 0; i < 3 && status == AS_OK; ++i)
    status = as_model_reaction(m, s, as_model_find_joint(m, name[i]), &r[i], error);
  if (status) return status;
  const double balance = energy.kinetic + energy.potential + meter->dissipated - meter->motions;
  printf("%4.2f  %9.5f  %9.5f  %9.5f  %9.4f  %9.4f  %9.5f  %.1e\n", s->t, spin(m, s, "case"),
         spin(m, s, "left"), spin(m, s, "right"), r[0].torque[1], r[1].torque[1], r[2].torque[0],
         fabs(balance - first));
  return AS_OK;
}

static as_status run(const as_model *m, as_integrator *integrator, as_error *error) {
  as_meter meter = {0};
  double first = 0.0;
  as_status status = as_integrator_start(integrator, as_model_initial(m), NULL, error);
  printf(
      "t [s]  case      left       right [rad/s]  left     right [N m]  motor [N m]  energy [J]\n");
  for (int i = 0; i <= 2000 && status == AS_OK; ++i) {
    if (i > 0) status = as_integrator_step(integrator, 1e-3, error);
    const as_state *s = as_integrator_state(integrator);
    as_energy energy;
    if (status == AS_OK) status = as_meter_update(&meter, m, s, error);
    if (status == AS_OK && i == 0) {
      status = as_model_energy(m, s, &energy, error);
      first = energy.kinetic + energy.potential;
    }
    if (status == AS_OK && i % 250 == 0) status = print_line(m, s, &meter, first, error);
  }
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
    printf("%d degrees of freedom, %d redundant rows\n", report.degrees_of_freedom,
           report.n_redundant);
    status = as_integrator_create(as_model_problem(model), &def, &integrator, &error);
  }
  if (status == AS_OK) status = run(model, integrator, &error);
  as_integrator_destroy(integrator);
  as_model_destroy(model);
  if (status) fprintf(stderr, "differential: %s\n", error.message);
  return status ? 1 : 0;
}
