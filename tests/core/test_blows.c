/// Automatic steps that come out of free fall into a stiff contact: [SC.17].
///
/// In free fall nothing changes, and steps are long. The one that meets the floor is a thousand times shorter, and what v' does in it
/// must not be looked for over the long ones before. Without damping a ball bounces for ever: energy says what a bounce has cost.
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
#include "machines.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const double g = 9.81, radius = 0.1;

/// A ball of 1 kg above a floor; in a guide it has constraints, too.
static as_model *build_ball(double height, double stiffness, bool guided) {
  as_error error;
  as_builder *b = machine_builder(0, 0, -g);
  as_body_def def = as_default_body_def();
  def.name = "ball";
  def.mass = 1.0;
  def.inertia[0] = def.inertia[1] = def.inertia[2] = 0.004;
  def.position[2] = height;
  const as_body_id ball = machine_body(b, &def);
  as_contact_def floor = as_default_contact_def();
  floor.body[0] = AS_GROUND;
  floor.body[1] = ball;
  memcpy(floor.normal, (double[]){0, 0, 1}, sizeof floor.normal);
  floor.center[2] = height;
  floor.radius = radius;
  floor.law.stiffness = stiffness;
  if (as_builder_add_contact(b, &floor, NULL, &error)) fail_msg("%s", error.message);
  if (guided)
    machine_joint(b, "guide", AS_JOINT_PRISMATIC, AS_GROUND, ball, (double[]){0, 0, height},
                  (double[]){0, 0, 1});
  return machine_build(b);
}

/// Of what the ball has at the start, at the end of a run of some bounces.
static double energy_share(double height, double stiffness, bool guided, as_method method,
                           double rtol, double end) {
  as_error error;
  as_model *model = build_ball(height, stiffness, guided);
  as_integrator *it = NULL;
  as_integrator_def how = as_default_integrator_def();
  as_body_motion ball;
  how.method = method;
  how.tolerance.rtol = rtol;
  how.tolerance.span = end;
  if (as_integrator_create(as_model_problem(model), &how, &it, &error) ||
      as_integrator_start(it, as_model_initial(model), NULL, &error) ||
      as_integrator_advance(it, end, &error))
    fail_msg("%s", error.message);
  as_model_body_motion(model, as_integrator_state(it), (as_body_id){0}, &ball);
  as_integrator_destroy(it);
  as_model_destroy(model);
  const double depth = fmax(radius - ball.x[2], 0.0);
  const double energy =
      0.5 * ball.v[2] * ball.v[2] + g * (ball.x[2] - radius) + stiffness * pow(depth, 2.5) / 2.5;
  return energy / (g * (height - radius));
}

static void test_bounces(void **state) {
  (void)state;
  double worst = 0.0;
  for (int i = 0; i < 60; ++i) {
    const double height = 0.3 + 0.0217 * i, stiffness = pow(10.0, 4.0 + (i * 7 % 13) / 2.0);
    const double rtol = i % 3 == 0 ? 1e-3 : i % 3 == 1 ? 3e-4 : 1e-4;
    const double end = 1.7 * sqrt(2.0 * (height - radius) / g);
    for (int m = 0; m < 3; ++m) {
      const double off =
          fabs(energy_share(height, stiffness, i % 2 == 1, methods[m], rtol, end) - 1.0) / rtol;
      worst = fmax(worst, off);
      if (!(off <= 10.0))
        fail_msg("%s, %g N/m^1.5 from %g m with rtol = %g: a bounce changes the energy by %g rtol",
                 method_names[m], stiffness, height, rtol, off);
    }
  }
  printf("energies are off by %.2g rtol at most\n", worst);
}

/// The drop that lost 9 % of its energy in the step that met the floor.
static void test_late_contact(void **state) {
  (void)state;
  for (int m = 0; m < 3; ++m) {
    const double share = energy_share(0.5, 1e9, false, methods[m], 1e-3, 1.0);
    printf("%s: %.5f of the energy after two bounces\n", method_names[m], share);
    assert_true(fabs(share - 1.0) <= 10.0 * 1e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounces),
                                     cmocka_unit_test(test_late_contact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
