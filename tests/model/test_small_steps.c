/// Steps so small that round-off in accelerations is more than the tolerance, where automatic steps begin with a shock (a beam at rest on a body
/// that moves), with light parts, with states that begin at zero and read what is rounded off: [SC.13]. Index-3, whose
/// accelerations have |q|/h^2 of it, is compared with index-2. All of these runs shrank to nothing, or never ended.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/results.h"
#include "files.h"

// A pin that is off the centre, and a spring: the machines to which parts are added.
#define PENDULUM                                                                                   \
  "alphastep: 1\n"                                                                                 \
  "bodies: {b: {mass: 2.5, inertia: [0.21, 0.22, 0.23], position: [-0.3, 0, -0.55]}}\n"            \
  "joints:\n"                                                                                      \
  "  pin: {type: revolute, bodies: [ground, b], point: [-0.26, -0.04, -0.74], axis: [0, 1, 0], "   \
  "start: {angle_rate: -3.7}}\n"                                                                   \
  "forces: {spring: {type: spring, bodies: [ground, b], point: [-0.23, 1.15, -1], second_point: "  \
  "[-0.5, -0.16, -0.75], stiffness: 59, damping: 1}}\n"
#define BEAM(FIRST, FROM, TO)                                                                      \
  "beams: {w: {line: {points: [" FROM ", " TO "]}, elements: 2, section: {type: circle, "          \
  "diameter: 0.02}, material: nylon, damping: 2e-3, first: " FIRST "}}\n"
#define TIME "simulate: {t_end: 0.4, max_steps: 20000}\n"

static const struct {
  const char *name, *text;
} machines[] = {
    {"a filtered reaction", PENDULUM
     "blocks: {f: {type: lowpass, input: joints.pin.force.z, time_constant: 0.02}}\n" TIME},
    {"a filtered reaction of a hub with spin",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies: {b: {mass: 0.4, inertia: [0.02, 0.018, 0.021], position: [0.4, 0.1, -0.3], "
     "space: se3}}\n"
     "joints:\n"
     "  pin: {type: revolute, bodies: [ground, b], point: [0.1, 0.3, -0.2], axis: [1, 2, -1], "
     "start: {angle_rate: 2}}\n"
     "  second: {type: revolute, bodies: [ground, b], point: [0.4, 0.9, -0.5], axis: [1, 2, -1]}\n"
     "blocks: {f: {type: lowpass, input: joints.pin.force.z, time_constant: 0.02}}\n"
     "forces: {drive: {type: actuator, joint: pin, force: 0.02*blocks.f - "
     "0.1*joints.pin.angle_rate}}\n" TIME},
    {"a beam at rest on a body that turns",
     PENDULUM BEAM("b", "[-0.3, 0, -0.55]", "[-0.2, 0.3, -0.3]") TIME},
    {"a beam on a slide",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies: {b: {mass: 2.7567, inertia: [0.0751, 0.0741, 0.091], position: [0.564, -0.2407, "
     "-0.3836]}}\n"
     "joints: {slide: {type: prismatic, bodies: [ground, b], point: [0.691, 0.0472, -0.6131], "
     "axis: [0.4953941, -0.8678784, 0.0370377]}}\n"
     "forces:\n"
     "  long: {type: spring, bodies: [ground, b], point: [1.5548, -1.97646, -0.30952], "
     "second_point: [0.564, -0.2407, -0.3836], stiffness: 482.4, damping: 0.64}\n"
     "  short: {type: spring, bodies: [ground, b], point: [-0.0481, 1.2055, 1.1541], "
     "second_point: [0.3309, -0.2971, -0.1156], stiffness: 86, damping: 0.88}\n" //
     BEAM("b", "[0.564, -0.2407, -0.3836]", "[0.59361, -0.572276, -0.161833]") TIME},
    {"a beam on the second of two bodies and a rod",
     "alphastep: 1\n"
     "gravity: [0, 0, -9.81]\n"
     "bodies:\n"
     "  b: {mass: 1.5255, inertia: [0.0388, 0.0363, 0.0364], position: [0.1267, 0.4906, -0.0369], "
     "space: se3}\n"
     "  c: {mass: 6.3081, inertia: [0.3785, 0.3855, 0.4001], position: [0.0007, 0.8517, -0.1034], "
     "angular_velocity: [-0.2773, -0.8028, -0.4897]}\n"
     "joints:\n"
     "  pin: {type: revolute, bodies: [ground, b], point: [-0.0878, 0.2119, 0.3038], axis: "
     "[0.57616, 0.66563, -0.47431], start: {angle_rate: 0.758}}\n"
     "  sleeve: {type: cylindrical, bodies: [b, c], point: [0.2239, 1.1359, -0.1665], axis: "
     "[0.97141, 0.215626, 0.0993413]}\n"
     "  rod: {type: distance, bodies: [c, b], point: [0.1199, 0.7475, -0.0783], second_point: "
     "[0.1699, 0.253, 0.0564]}\n"
     "forces: {drive: {type: actuator, joint: pin, force: blocks.u}}\n"
     "blocks: {u: {type: sampled, period: 0.013, formula: 34*(0.5 - joints.pin.angle) - "
     "3.6*joints.pin.angle_rate}}\n" //
     BEAM("c", "[0.0007, 0.8517, -0.1034]", "[-0.07268206, 0.7662876, -0.48722261]") TIME},
    {"a resonator that reads an acceleration of a body with a beam",
     PENDULUM "blocks:\n"
              "  p: {type: state, rate: blocks.q}\n"
              "  q: {type: state, rate: -400*blocks.p + 30*bodies.b.acceleration.z}\n" //
     BEAM("b", "[-0.3, 0, -0.55]", "[-0.38, -0.39, -0.49]") TIME},
};

typedef struct end {
  as_body_motion body;
  double signal;
} end;

static as_status take(double t, const double *row, int n, void *user, as_error *error) {
  (void)t, (void)error;
  if (n > 0) *(double *)user = row[0];
  return AS_OK;
}

static end go(const char *name, const char *text, const char *signal, as_method method) {
  as_error error;
  as_run *run = NULL;
  end out = {.signal = 0.0};
  as_machine *m = files_parse(text);
  as_run_def def = as_default_run_def();
  def.integrator = m->simulation.integrator;
  def.integrator.method = method;
  def.t_end = m->simulation.t_end;
  def.max_steps = m->simulation.max_steps;
  def.channels = &signal;
  def.n_channels = signal != NULL;
  if (as_run_create(m->model, &def, &run, &error) ||
      as_run_go(run, take, &out.signal, NULL, &error))
    fail_msg("%s: %s", name, error.message);
  as_model_body_motion(m->model, as_integrator_state(as_run_integrator(run)), (as_body_id){0},
                       &out.body);
  as_run_destroy(run);
  as_machine_destroy(m);
  return out;
}

static void test_small_steps(void **state) {
  (void)state;
  static const char *const signals[] = {"blocks.f", "blocks.f", NULL, NULL, "blocks.u", "blocks.p"};
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; ++i) {
    const end a = go(machines[i].name, machines[i].text, signals[i], AS_METHOD_INDEX3);
    const end b = go(machines[i].name, machines[i].text, signals[i], AS_METHOD_INDEX2);
    double off = 0.0;
    for (int k = 0; k < 3; ++k) off = fmax(off, fabs(a.body.x[k] - b.body.x[k]));
    const double of_signal = fabs(a.signal - b.signal) / fmax(fabs(b.signal), 1e-6);
    if (!(off <= 2e-5 && of_signal <= 1e-3)) // rtol is 2e-5
      fail_msg("%s: index-3 and index-2 are %.2g m apart, the signals by %.2g", machines[i].name,
               off, of_signal);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
