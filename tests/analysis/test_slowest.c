/// The slowest modes of problems in steady motion, by Arnoldi's method, against those of the dense matrix; axes that are found.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "files.h"

/// The slowest modes against the dense ones, in the same axes; none may be missing.
static void compare(const as_machine *machine, const as_initial *initial,
                    const as_linearization_def *how, int count, double within) {
  const as_problem *p = as_model_problem(machine->model);
  as_linearization *l;
  as_modes *dense, *slow;
  as_error error;
  if (as_linearize(p, initial, how, &l, &error)) fail_msg("%s", error.message);
  if (!(l->unsteady < 3e-5))
    fail_msg("unsteady %g in (%g, %g, %g)", l->unsteady, l->turning[0], l->turning[1],
             l->turning[2]);
  if (as_modes_create(l, &dense, &error)) fail_msg("%s", error.message);
  if (as_modes_slowest(p, initial, how, count, &slow, &error)) fail_msg("%s", error.message);
  assert_int_equal(slow->axes, AS_AXES_TURNING);
  for (int i = 0; i < 3; ++i)
    if (l->axes == AS_AXES_TURNING && !(fabs(slow->turning[i] - l->turning[i]) < 1e-9))
      fail_msg("turning %d: %.12g, dense %.12g", i, slow->turning[i], l->turning[i]);
  int at = 0, found = 0;
  for (int i = 0; i < slow->n; ++i) {
    const as_mode *m = &slow->mode[i];
    if (m->free) continue;
    while (at < dense->n && dense->mode[at].free) ++at;
    assert_true(at < dense->n);
    // Those of one size may stand in another order.
    double nearest = (double)INFINITY;
    for (int k = 0; k < dense->n; ++k)
      nearest = fmin(nearest, hypot(dense->mode[k].re - m->re, dense->mode[k].im - m->im));
    const double size = hypot(m->re, m->im), other = hypot(dense->mode[at].re, dense->mode[at].im);
    if (nearest > within * size || fabs(other - size) > within * size)
      fail_msg("mode %d: %.12g + %.12g i, dense %.12g + %.12g i, off by %.3g", i, m->re, m->im,
               dense->mode[at].re, dense->mode[at].im, nearest / size);
    ++found;
    ++at;
  }
  assert_int_equal(found, count);
  as_modes_destroy(slow);
  as_modes_destroy(dense);
  as_linearization_destroy(l);
}

/// Discs on a hanging shaft of bushings that spins: whirl, in world axes.
static const char shaft[] =
    "alphastep: 1\ngravity: [0, 0, -9.81]\nparameters: {w: 30}\nrepeat:\n  - to: 12\n    bodies:\n"
    "      d ${i}: {%s mass: 1, inertia: [0.01, 0.01, 0.018], position: [0, 0, -0.2*i + 0.1], "
    "angular_velocity: [0, 0, w]}\n"
    "  - from: 2\n    to: 12\n    forces:\n      b ${i}: {type: bushing, bodies: ['d ${i - 1}', 'd "
    "${i}'], point: [0, 0, -0.2*(i - 1)], stiffness: [8.0e4, 8.0e4, 2.0e5, 90, 90, 300], damping: "
    "[1, 1, 2, 0.001*i, 0.001*i, 0.01]}\n"
    "joints:\n  hook: {type: spherical, bodies: [ground, d 1], point: [0, 0, 0]}\n";

static void test_shaft(void **state) {
  (void)state;
  const as_linearization_def how = as_default_linearization_def();
  static const char *const kind[] = {"", "space: se3,"};
  for (int k = 0; k < 2; ++k) {
    char text[1500];
    snprintf(text, sizeof text, shaft, kind[k]);
    as_machine *machine = files_parse(text);
    const as_analysis_def def = as_default_analysis_def();
    as_analysis *analysis;
    as_error error;
    as_initial initial = *as_model_initial(machine->model);
    assert_int_equal(as_analysis_create(as_model_problem(machine->model), &def, &analysis, &error),
                     AS_OK);
    assert_int_equal(as_analysis_equilibrium(analysis, &initial, NULL, &error), AS_OK);
    initial.q = as_analysis_state(analysis)->q;
    compare(machine, &initial, &how, 12, 1e-8);
    as_analysis_destroy(analysis);
    as_machine_destroy(machine);
  }
}

/// Masses that slide on a hub that turns, between springs: in axes that turn with it, which are found.
static const char ring[] =
    "alphastep: 1\nparameters: {w: 5, k: 300, m: 2, l: 0.5, r: 'k*l/(k - m*w^2)'}\nbodies:\n"
    "  hub: {mass: 3, inertia: [0.5, 0.5, 0.8], position: [0, 0, 0], angular_velocity: [0, 0, w]}\n"
    "joints:\n  axle: {type: revolute, bodies: [ground, hub], point: [0, 0, 0], axis: [0, 0, 1]}\n"
    "repeat:\n  - to: 8\n    bodies:\n      s ${i}: {%s mass: m, position: ['r*cos(i*pi/4)', "
    "'r*sin(i*pi/4)', 0], velocity: ['-w*r*sin(i*pi/4)', 'w*r*cos(i*pi/4)', 0]}\n"
    "    joints:\n      g ${i}: {type: %s, bodies: [hub, 's ${i}'], point: ['r*cos(i*pi/4)', "
    "'r*sin(i*pi/4)', 0], axis: ['cos(i*pi/4)', 'sin(i*pi/4)', 0]}\n"
    "    forces:\n      k ${i}: {type: spring, bodies: [hub, 's ${i}'], point: [0, 0, 0], "
    "second_point: ['r*cos(i*pi/4)', 'r*sin(i*pi/4)', 0], stiffness: k, length: l, damping: "
    "'i*0.1'}\n";

static void test_ring(void **state) {
  (void)state;
  static const char *const kind[][2] = {
      {"inertia: [0.01, 0.02, 0.015], angular_velocity: [0, 0, w],", "prismatic"},
      {"space: se3, inertia: [0.01, 0.02, 0.015], angular_velocity: [0, 0, w],", "prismatic"},
      {"type: point,", "point_on_line"}};
  for (int k = 0; k < 3; ++k) {
    char text[1500];
    snprintf(text, sizeof text, ring, kind[k][0], kind[k][1]);
    as_machine *machine = files_parse(text);
    as_linearization_def how = as_default_linearization_def();
    compare(machine, as_model_initial(machine->model), &how, 8, 1e-8);
    how.axes = AS_AXES_TURNING;
    how.turning[2] = 5.0;
    compare(machine, as_model_initial(machine->model), &how, 8, 1e-8);
    // In world axes it is no steady motion.
    as_modes *none;
    as_error error;
    how.turning[2] = 0.0;
    assert_int_equal(as_modes_slowest(as_model_problem(machine->model),
                                      as_model_initial(machine->model), &how, 4, &none, &error),
                     AS_ERR_INCONSISTENT);
    assert_non_null(strstr(error.message, "is not steady in these axes"));
    assert_null(none);
    as_machine_destroy(machine);
  }
}

/// A point mass on a spring goes round: in axes that turn with it, r'' = 2 w r t' + ..., whose modes are 0, 0, w (out of the plane) and
/// sqrt(k/m + 3 w^2) of the distance from the centre; l = r - m w^2 r/k.
static void test_orbit(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\nbodies:\n  s: {type: point, mass: 2, position: [0.48, 0, 0.36], velocity: [0, "
      "3, 0]}\nforces:\n  k: {type: spring, bodies: [ground, s], point: [0, 0, 0], second_point: "
      "[0.48, 0, 0.36], stiffness: 300, length: 0.5}\n");
  const as_linearization_def how = as_default_linearization_def();
  as_linearization *l;
  as_modes *m;
  as_error error;
  assert_int_equal(as_linearize(as_model_problem(machine->model), as_model_initial(machine->model),
                                &how, &l, &error),
                   AS_OK);
  assert_int_equal(l->axes, AS_AXES_TURNING);
  const double turning[3] = {-3.0, 0.0, 4.0}; // across the plane of (0.8, 0, 0.6) and (0, 1, 0)
  for (int i = 0; i < 3; ++i) assert_true(fabs(l->turning[i] - turning[i]) < 1e-9);
  if (!(l->unsteady < 3e-5))
    fail_msg("unsteady %g in (%g, %g, %g)", l->unsteady, l->turning[0], l->turning[1],
             l->turning[2]);
  assert_int_equal(as_modes_create(l, &m, &error), AS_OK);
  assert_int_equal(m->n_free, 2);
  assert_true(fabs(m->mode[m->n - 2].im - 5.0) < 1e-9);
  assert_true(fabs(m->mode[m->n - 1].im - sqrt(150.0 + 75.0)) < 1e-9);
  as_modes_destroy(m);
  as_linearization_destroy(l);
  as_machine_destroy(machine);
}

/// Monocycles: wheels that roll upright behind each other, with a frame on springs above each: nonholonomic rows, and redundant ones.
static void test_rolling(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\ngravity: [0, 0, -9.81]\nparameters: {v: 4, r: 0.3}\nrepeat:\n  - to: 6\n"
      "    bodies:\n"
      "      w ${i}: {mass: 2, inertia: [0.06, 0.12, 0.06], position: [-2*i, 0, r], velocity: [v, "
      "0, "
      "0], angular_velocity: [0, v/r, 0]}\n"
      "      f ${i}: {mass: 5 + i, inertia: [0.8, 0.9, 0.7], position: [-2*i, 0, 0.25*r], "
      "velocity: "
      "[v, 0, 0]}\n"
      "    joints:\n"
      "      a ${i}: {type: revolute, bodies: ['f ${i}', 'w ${i}'], point: [-2*i, 0, r], axis: [0, "
      "1, 0]}\n"
      "      c ${i}: {type: rolling, shape: disk, radius: r, bodies: [ground, 'w ${i}'], point: "
      "[0, "
      "0, 0], normal: [0, 0, 1], direction: [1, 0, 0], center: [-2*i, 0, r], axis: [0, 1, 0]}\n"
      "  - from: 2\n    to: 6\n    forces:\n"
      "      s ${i}: {type: bushing, bodies: ['f ${i - 1}', 'f ${i}'], point: [-2*i + 1, 0, r], "
      "stiffness: [400, 50, 90, 10, 20, 30], damping: [3, 1, 1, 0.1, 0.1, 0.2]}\n");
  const as_linearization_def how = as_default_linearization_def();
  compare(machine, as_model_initial(machine->model), &how, 10, 1e-8);
  as_machine_destroy(machine);
}

/// A cart on two wheels goes round: axes turn with it, rows of both wheels against slipping aside are the same.
static void test_cart(void **state) {
  (void)state;
  as_machine *machine = files_parse(
      "alphastep: 1\ngravity: [0, 0, -9.81]\nparameters: {v: 4, w: 1.5, r: 0.3, d: 0.4}\nbodies:\n"
      "  frame: {mass: 6, inertia: [0.5, 0.6, 0.7], position: [0, 0, 0.1], velocity: [v, 0, 0], "
      "angular_velocity: [0, 0, w]}\n"
      "  left: {mass: 2, inertia: [0.06, 0.12, 0.06], position: [0, d, r], velocity: [v - w*d, 0, "
      "0], "
      "angular_velocity: [0, (v - w*d)/r, w]}\n"
      "  right: {mass: 2, inertia: [0.06, 0.12, 0.06], position: [0, -d, r], velocity: [v + w*d, "
      "0, "
      "0], angular_velocity: [0, (v + w*d)/r, w]}\n"
      "joints:\n"
      "  a: {type: revolute, bodies: [frame, left], point: [0, d, r], axis: [0, 1, 0]}\n"
      "  b: {type: revolute, bodies: [frame, right], point: [0, -d, r], axis: [0, 1, 0]}\n"
      "  c: {type: rolling, shape: disk, radius: r, bodies: [ground, left], point: [0, 0, 0], "
      "normal: "
      "[0, 0, 1], direction: [1, 0, 0], center: [0, d, r], axis: [0, 1, 0]}\n"
      "  e: {type: rolling, shape: disk, radius: r, bodies: [ground, right], point: [0, 0, 0], "
      "normal: "
      "[0, 0, 1], direction: [1, 0, 0], center: [0, -d, r], axis: [0, 1, 0]}\n");
  const as_linearization_def how = as_default_linearization_def();
  compare(machine, as_model_initial(machine->model), &how, 1, 1e-8);
  as_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shaft),   cmocka_unit_test(test_ring), cmocka_unit_test(test_orbit),
      cmocka_unit_test(test_rolling), cmocka_unit_test(test_cart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
