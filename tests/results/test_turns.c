/// Channels that have to be asked for by name: angles of rotations, angular velocities and accelerations in other axes,
/// magnitudes; of a tumbling body on each space.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "rig.h"

enum { MOST = 64 };

static as_machine *parse(const char *text) {
  as_machine *machine = NULL;
  as_messages messages;
  if (as_machine_parse(text, strlen(text), "test.yaml", NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  return machine;
}

static int look(const as_machine *m, const as_state *at, const char *const *name, int n,
                double *out) {
  as_channels *c = NULL;
  as_error error;
  if (as_channels_create(m->model, name, n, &c, &error) ||
      as_channels_evaluate(c, &(as_view){.state = at}, out, &error))
    fail_msg("%s", error.message);
  const int count = as_channels_count(c);
  as_channels_destroy(c);
  return count;
}

typedef double matrix[9];

/// About axis x, y or z: 0, 1, 2.
static void turn(int axis, double angle, matrix out) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  memset(out, 0, sizeof(matrix));
  out[4 * axis] = 1.0;
  out[4 * i] = out[4 * j] = cos(angle);
  out[3 * i + j] = -sin(angle);
  out[3 * j + i] = sin(angle);
}

static void multiply(const matrix a, const matrix b, matrix out) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] = 0.0;
      for (int k = 0; k < 3; ++k) out[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
}

/// R of three turns, one after the other about axes that move.
static void compose(const int axis[3], const double angle[3], matrix out) {
  matrix a, b, c, ab;
  turn(axis[0], angle[0], a);
  turn(axis[1], angle[1], b);
  turn(axis[2], angle[2], c);
  multiply(a, b, ab);
  multiply(ab, c, out);
}

static void from_quaternion(const double p[4], matrix out) {
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  const matrix R = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                    2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                    2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(out, R, sizeof R);
}

static const int roll_pitch_yaw[3] = {2, 1, 0}, euler[3] = {2, 0, 2};

#define BODY(space, turned)                                                                        \
  "alphastep: 1\n"                                                                                 \
  "bodies: {b: {mass: 2, inertia: [1, 2, 2.8], space: " space ", velocity: [1, 2, -2], "           \
  "angular_velocity: [3, -2, 1]" turned "}}\n"                                                     \
  "frames: {f: {body: b, position: [0.1, 0.2, 0.3], rotation: {axis: [1, 0, 0], angle: 0.7}}}\n"   \
  "simulate: {t_end: 1, step: 1e-3}\n"

static void check(const as_machine *m, const as_state *at, double omega_world[3], double alpha[3]) {
  static const char *const name[] = {"bodies.b.quaternion",
                                     "bodies.b.roll_pitch_yaw",
                                     "bodies.b.euler_angles",
                                     "bodies.b.angular_velocity",
                                     "bodies.b.angular_velocity_in_world",
                                     "bodies.b.angular_acceleration_in_world",
                                     "bodies.b.velocity_magnitude",
                                     "frames.f.roll_pitch_yaw",
                                     "frames.f.euler_angles",
                                     "frames.f.angular_velocity_in_frame",
                                     "frames.f.velocity",
                                     "frames.f.velocity_magnitude"};
  double y[MOST];
  matrix R, found, f, turned;
  assert_int_equal(look(m, at, name, 12, y), 4 + 3 + 3 + 3 + 3 + 3 + 1 + 3 + 3 + 3 + 3 + 1);
  from_quaternion(y, R);
  compose(roll_pitch_yaw, (double[]){y[6], y[5], y[4]}, found);
  for (int i = 0; i < 9; ++i) assert_near("roll, pitch, yaw", found[i], R[i], 1e-12);
  compose(euler, y + 7, found);
  for (int i = 0; i < 9; ++i) assert_near("Euler angles", found[i], R[i], 1e-12);
  for (int i = 0; i < 3; ++i) {
    omega_world[i] = y[13 + i];
    alpha[i] = y[16 + i];
    const double turned_omega = R[3 * i] * y[10] + R[3 * i + 1] * y[11] + R[3 * i + 2] * y[12];
    assert_near("angular velocity", y[13 + i], turned_omega, 1e-12);
  }
  assert_near("|v|", y[19], 3.0, 1e-5);
  turn(0, 0.7, turned);
  multiply(R, turned, f);
  compose(roll_pitch_yaw, (double[]){y[22], y[21], y[20]}, found);
  for (int i = 0; i < 9; ++i) assert_near("of the frame", found[i], f[i], 1e-12);
  compose(euler, y + 23, found);
  for (int i = 0; i < 9; ++i) assert_near("of the frame", found[i], f[i], 1e-12);
  for (int i = 0; i < 3; ++i) // f^T omega
    assert_near("in the frame", y[26 + i], f[i] * y[13] + f[3 + i] * y[14] + f[6 + i] * y[15],
                1e-12);
  assert_near("|v| of the frame", y[32], sqrt(y[29] * y[29] + y[30] * y[30] + y[31] * y[31]),
              1e-12);
}

static void test_tumbling(void **state) {
  (void)state;
  static const char *const text[] = {BODY("r3xso3", ""), BODY("se3", "")};
  for (int s = 0; s < 2; ++s) {
    as_machine *m = parse(text[s]);
    as_integrator *integrator = NULL;
    as_error error;
    double omega[3][3], alpha[3][3];
    if (as_integrator_create(as_model_problem(m->model), &m->simulation.integrator, &integrator,
                             &error) ||
        as_integrator_start(integrator, as_model_initial(m->model), NULL, &error))
      fail_msg("%s", error.message);
    for (int k = 0; k < 600; ++k) {
      if (as_integrator_step(integrator, 1e-3, &error)) fail_msg("%s", error.message);
      if (k >= 597) check(m, as_integrator_state(integrator), omega[k - 597], alpha[k - 597]);
    }
    for (int i = 0; i < 3; ++i)
      assert_near("angular acceleration", alpha[1][i], (omega[2][i] - omega[0][i]) / 2e-3, 1e-4);
    assert_true(fabs(alpha[1][0]) + fabs(alpha[1][1]) > 0.5);
    as_integrator_destroy(integrator);
    as_machine_destroy(m);
  }
}

/// Where angles are not determined they make the same rotation all the same.
static void test_upright(void **state) {
  (void)state;
  static const char *const text[] = {
      BODY("r3xso3", ""), BODY("r3xso3", ", rotation: {axis: [0, 1, 0], angle_deg: 90}"),
      BODY("se3", ", rotation: {axis: [0, 1, 0], angle_deg: -90}"),
      BODY("r3xso3", ", rotation: {axis: [0, 0, 1], angle_deg: 40}"),
      BODY("r3xso3", ", rotation: {axis: [1, 0, 0], angle_deg: 180}")};
  for (int i = 0; i < 5; ++i) {
    as_machine *m = parse(text[i]);
    const as_initial *from = as_model_initial(m->model);
    const double zero[6] = {0};
    const as_state at = {.q = from->q, .v = from->v, .vdot = zero};
    double omega[3], alpha[3];
    check(m, &at, omega, alpha);
    as_machine_destroy(m);
  }
}

/// Patterns do not select them; a wrong name gets a guess.
static void test_selections(void **state) {
  (void)state;
  as_machine *m = parse(BODY("r3xso3", ""));
  const as_initial *from = as_model_initial(m->model);
  const double zero[6] = {0};
  const as_state at = {.q = from->q, .v = from->v, .vdot = zero};
  double y[MOST];
  assert_int_equal(look(m, &at, (const char *const[]){"bodies.b"}, 1, y), 19);
  assert_int_equal(look(m, &at, (const char *const[]){"bodies.*.*"}, 1, y), 19);
  assert_int_equal(look(m, &at, (const char *const[]){"bodies.*.roll_pitch_yaw"}, 1, y), 3);
  assert_int_equal(look(m, &at, (const char *const[]){"bodies.b.euler_angles.2"}, 1, y), 1);
  assert_int_equal(
      look(m, &at,
           (const char *const[]){"momentum.linear_magnitude", "bodies.*.velocity_magnitude"}, 2, y),
      2);
  assert_near("momentum", y[0], 6.0, 1e-12);
  as_channels *c = NULL;
  as_error error;
  const char *wrong = "bodies.b.roll_pitch_yav.x";
  assert_int_not_equal(as_channels_create(m->model, &wrong, 1, &c, &error), AS_OK);
  assert_non_null(strstr(error.message, "did you mean `roll_pitch_yaw`?"));
  wrong = "bodies.b.quaternion_magnitude";
  assert_int_not_equal(as_channels_create(m->model, &wrong, 1, &c, &error), AS_OK);
  as_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tumbling),
                                     cmocka_unit_test(test_upright),
                                     cmocka_unit_test(test_selections)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
