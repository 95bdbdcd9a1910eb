/// Newton's matrix with first-order states and outputs: a linear machine with a linear controller, each of which reads all that there is of the
/// other, is solved by one correction, with steps of any size. What a wrong entry leaves of an error is seen in the second one.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/file.h"
#include "core/driver/integrator.h"

/// Points that nothing turns, two of them tied, pushed by what states and an output make of all that can be read.
static const char loop[] =
    "alphastep: 1\n"
    "bodies:\n"
    "  a: {type: point, mass: 2, position: [1, 0, 0], velocity: [1, 0, 0]}\n"
    "  b: {type: point, mass: 3, position: [1, 0, 0], velocity: [1, 0, 0]}\n"
    "  c: {type: point, mass: 1, position: [0, 0, 0], velocity: [0, 2, 0]}\n"
    "joints:\n"
    "  tie: {type: spherical, bodies: [a, b], point: [1, 0, 0]}\n"
    "forces:\n"
    "  push: {type: load, body: a, force: [blocks.y + 3*blocks.x, 0, blocks.w]}\n"
    "  pull: {type: load, body: c, force: [0, -2*blocks.w, 5*blocks.x - blocks.y]}\n"
    "blocks:\n"
    "  x: {type: state, start: 1, rate: -5*blocks.x + 9*bodies.a.position.x - "
    "4*bodies.c.velocity.y + 0.7*bodies.a.acceleration.x + 2*blocks.y + "
    "0.3*joints.tie.force.x}\n"
    "  w: {type: state, rate: blocks.x - 2*blocks.w + 3*bodies.c.position.y + "
    "0.4*bodies.c.acceleration.z}\n"
    "  y: {type: signal, formula: 4*blocks.x - 60*bodies.a.position.x - 5*bodies.a.velocity.x - "
    "0.5*bodies.a.acceleration.x + 3*bodies.c.velocity.z "
    "+ 0.2*joints.tie.force.x}\n";

static void test_one_correction(void **state) {
  (void)state;
  static as_messages messages;
  static const as_method methods[] = {AS_METHOD_INDEX2, AS_METHOD_INDEX3};
  static const double steps[] = {2e-3, 0.02, 0.1};
  as_machine *machine = NULL;
  if (as_machine_parse(loop, strlen(loop), "loop", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  for (int i = 0; i < 6; ++i) {
    as_integrator_def def = as_default_integrator_def();
    as_integrator *s = NULL;
    as_error error = {0};
    def.method = methods[i % 2];
    def.rho_inf = 0.3;
    def.newton.reuse = false; // the matrix of each step by itself
    if (as_integrator_create(as_model_problem(machine->model), &def, &s, &error) ||
        as_integrator_start(s, as_model_initial(machine->model), NULL, &error))
      fail_msg("%s", error.message);
    for (int k = 0; k < 20; ++k) {
      // Steps of changing size bring in what they correct.
      if (as_integrator_step(s, steps[i / 2] * (1.0 + 0.2 * (k % 3)), &error))
        fail_msg("%s", error.message);
      assert_true(s->stepper.history.fresh_seen);
      assert_true(s->stepper.history.fresh_contraction < 1e-6);
    }
    as_integrator_destroy(s);
  }
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_correction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
