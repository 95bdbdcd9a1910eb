/// The rotation of a spherical joint as a vector: what a body is turned by, up to half a turn about any axis.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/file.h"

static const char ball[] =
    "alphastep: 1\n"
    "bodies: {b: {mass: 2, inertia: [0.1, 0.2, 0.25]}}\n"
    "joints: {pin: {type: spherical, bodies: [ground, b], point: [0, 0, 0]}}\n";

static void test_turned(void **state) {
  (void)state;
  static as_messages messages;
  as_machine *machine = NULL;
  as_error error = {0};
  if (as_machine_parse(ball, strlen(ball), "ball", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  const as_joint_id pin = as_model_find_joint(machine->model, "pin");
  assert_int_equal(as_model_joint_coordinates(machine->model, pin), 3);
  for (int i = 0; i < 300; ++i) {
    // Axes all around, those of the body among them; turns up to half a one.
    double axis[3] = {sin(3.1 * i), cos(1.7 * i), sin(0.9 * i + 1.0)};
    if (i < 30)
      for (int k = 0; k < 3; ++k) axis[k] = k == i % 3 ? (i % 2 ? -1.0 : 1.0) : 0.0;
    const double size = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    const double angle = 3.1 * (i % 20 + 1) / 20.0;
    double q[7] = {0.0, 0.0, 0.0, cos(angle / 2.0)}, v[6] = {0.0, 0.0, 0.0, 1.0, -2.0, 3.0};
    double found[3], rate[3];
    for (int k = 0; k < 3; ++k) q[4 + k] = sin(angle / 2.0) * axis[k] / size;
    const as_state at = {.q = q, .v = v};
    assert_int_equal(as_model_coordinates(machine->model, &at, pin, NULL, found, rate, &error),
                     AS_OK);
    for (int k = 0; k < 3; ++k)
      assert_true(fabs(found[k] - angle * axis[k] / size) < 1e-12 / fabs(sin(angle)));
  }
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_turned)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
