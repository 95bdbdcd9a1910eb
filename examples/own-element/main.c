/// A machine with two elements of our own: a lever whose roller runs in an elliptic slot of a carriage, held up
/// by a gas spring that stands on the carriage.
///
/// First the tangents are checked against differences, of the elements as they are and of a gas spring with a
/// term missing. Then the machine runs, with the whole balance of energy, once more with half the step.
#include <alphastep/alphastep.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ellipse.h"
#include "gas_spring.h"

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "%s: %s\n", as_status_name(status), error->message);
  exit(1);
}

typedef struct machine {
  as_model *model;
  as_body_id carriage, lever;
  as_element_id slot; // a joint
} machine;

static void add_bodies(as_builder *b, machine *m) {
  as_error error;
  as_body_def carriage = as_default_body_def(), lever = as_default_body_def();
  carriage.name = "carriage";
  carriage.mass = 4.0;
  carriage.inertia[0] = carriage.inertia[1] = carriage.inertia[2] = 0.1;
  stop_if(as_builder_add_body(b, &carriage, &m->carriage, &error), &error);
  lever.name = "lever";
  lever.space = AS_SPACE_SE3;
  lever.mass = 1.5;
  lever.inertia[0] = lever.inertia[1] = 0.03;
  lever.inertia[2] = 0.005;
  lever.position[0] = 0.4; // its roller, 0.2 m along its z, is at the right end of the slot
  lever.position[2] = -0.2;
  lever.angular_velocity[0] = 2.0;
  stop_if(as_builder_add_body(b, &lever, &m->lever, &error), &error);
  as_joint_def rail = as_default_joint_def();
  rail.name = "rail";
  rail.kind = AS_JOINT_PRISMATIC;
  rail.body[0] = AS_GROUND;
  rail.body[1] = m->carriage;
  rail.axis[0] = 1.0;
  stop_if(as_builder_add_joint(b, &rail, NULL, &error), &error);
}

static void add_own_elements(as_builder *b, machine *m, double fault) {
  as_error error;
  const ellipse slot = {.half = {0.4, 0.25}, .point = {0, 0, 0.2}};
  const gas_spring spring = {.point = {{0, -0.6, 0}, {0, 0, -0.1}},
                             .force = 30.0,
                             .length = 0.7,
                             .gas_length = 0.3,
                             .exponent = 1.4,
                             .damping = 4.0,
                             .fault = fault};
  as_element_def def = as_default_element_def();
  def.name = "slot";
  def.type = &ellipse_type;
  def.body[0] = m->carriage;
  def.body[1] = m->lever;
  def.n_bodies = 2;
  def.n_rows = 2; // so it is a joint
  def.forceless = true;
  def.data = &slot;
  def.data_size = sizeof slot;
  stop_if(as_builder_add_element(b, &def, &m->slot, &error), &error);
  def = as_default_element_def();
  def.name = "gas spring";
  def.type = &gas_spring_type;
  def.body[0] = m->carriage;
  def.body[1] = m->lever;
  def.n_bodies = 2;
  def.data = &spring;
  def.data_size = sizeof spring;
  stop_if(as_builder_add_element(b, &def, NULL, &error), &error);
}

static machine make(double fault) {
  machine m = {0};
  as_builder *b;
  as_error error;
  const as_model_def def = {.gravity = {0, -9.81, 0}};
  stop_if(as_builder_create(&def, &b, &error), &error);
  add_bodies(b, &m);
  add_own_elements(b, &m, fault);
  stop_if(as_builder_build(b, &m.model, &error), &error);
  as_builder_destroy(b);
  return m;
}

// ---- checking ---------------------------------------------------------------------------------------

/// Compares every formula with differences, far from the start: bodies turned by anything up to half a turn, with
/// velocities and multipliers.
static as_status check(const machine *m, double *worst, as_error *error) {
  const as_problem *problem = as_model_problem(m->model);
  double v[12], lambda[16], move[12], q[14];
  for (int i = 0; i < 12; ++i) v[i] = sin(1.0 + 2.0 * i);
  for (int i = 0; i < 12; ++i) move[i] = 1.7 * cos(2.0 * i);
  for (int i = 0; i < 16; ++i) lambda[i] = cos(1.0 + 3.0 * i);
  as_space_move(as_problem_space(problem), as_model_initial(m->model)->q, move, q);
  as_check_def def = as_default_check_def();
  def.near = (as_point){.q = q, .v = v, .lambda = lambda};
  def.spread = 0.3;
  def.n_points = 10;
  as_check_report report;
  const as_status status = as_problem_check(problem, &def, &report, error);
  *worst = fmax(report.constraint_rate, report.constraint_acceleration);
  for (int i = 0; i < AS_BLOCK_COUNT; ++i) *worst = fmax(*worst, report.block[i]); // NAN: nothing
  return status;
}

static void check_both(void) {
  as_error error;
  double worst;
  machine right = make(0.0), wrong = make(1.0);
  stop_if(check(&right, &worst, &error), &error);
  printf("formulas and differences agree to %.1e\n", worst);
  if (check(&wrong, &worst, &error) == AS_OK) exit(1);
  printf("with a term missing: %s\n", error.message);
  as_model_destroy(right.model);
  as_model_destroy(wrong.model);
}

// ---- running ----------------------------------------------------------------------------------------

/// The energy that there is and has gone, less what was there at the start.
static double total_energy(const machine *m, const as_state *s, as_meter *meter) {
  as_error error;
  as_energy energy;
  stop_if(as_meter_update(meter, m->model, s, &error), &error);
  stop_if(as_model_energy(m->model, s, &energy, &error), &error);
  return energy.kinetic + energy.potential + meter->dissipated;
}

static void print_row(const machine *m, const as_state *s, double lost) {
  as_error error;
  as_body_motion carriage, lever;
  as_gap gap;
  as_model_body_motion(m->model, s, m->carriage, &carriage);
  as_model_body_motion(m->model, s, m->lever, &lever);
  stop_if(as_model_gap(m->model, s, m->slot.joint, &gap, &error), &error);
  const double *lambda = s->lambda + as_model_joint_row(m->model, m->slot.joint);
  const double x = lever.x[0] + 0.2 * lever.R[2] - carriage.x[0];
  const double y = lever.x[1] + 0.2 * lever.R[5] - carriage.x[1];
  printf("%.1f  %9.6f %9.6f %9.6f %9.4f %9.4f  %.1e  %.1e\n", s->t, carriage.x[0], x, y, lambda[0],
         lambda[1], gap.position, lost);
}

/// Runs for a second and returns the largest error of the energy balance.
static double run(const machine *m, double h, int print_each) {
  as_error error;
  as_integrator *integrator;
  as_integrator_def def = as_default_integrator_def();
  def.step = h;
  stop_if(as_integrator_create(as_model_problem(m->model), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m->model), NULL, &error), &error);
  as_meter meter = {0};
  const as_state *s = as_integrator_state(integrator);
  const double start = total_energy(m, s, &meter);
  double largest = 0.0;
  const int steps = (int)lround(1.0 / h);
  for (int i = 0; i <= steps; ++i) {
    if (i > 0) stop_if(as_integrator_step(integrator, h, &error), &error);
    s = as_integrator_state(integrator);
    const double lost = i > 0 ? total_energy(m, s, &meter) - start : 0.0;
    largest = fmax(largest, fabs(lost));
    if (print_each > 0 && i % print_each == 0) print_row(m, s, fabs(lost));
  }
  as_integrator_destroy(integrator);
  return largest;
}

int main(void) {
  check_both();
  machine m = make(0.0);
  puts("t [s] carriage x [m], roller in the slot x, y [m], multipliers [N], gap [m], energy [J]");
  const double coarse = run(&m, 2e-3, 50), fine = run(&m, 1e-3, 0);
  printf("energy balances to %.1e J, with half the step to %.1e J: order %.1f\n", coarse, fine,
         log2(coarse / fine));
  as_model_destroy(m.model);
  return 0;
}
