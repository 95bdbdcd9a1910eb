#include "snapping.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"

const double truss_a = 1.0, truss_h = 0.2, truss_k = 1000.0;

static const double origin[3] = {0}, z_axis[3] = {0, 0, 1}, y_axis[3] = {0, 1, 0};

double truss_load(double y) {
  return 2.0 * truss_k * y * (hypot(truss_a, truss_h) / hypot(truss_a, y) - 1.0);
}

double truss_limit(double *y) {
  const double L = cbrt(hypot(truss_a, truss_h) * truss_a * truss_a);
  *y = sqrt(L * L - truss_a * truss_a);
  return truss_load(*y);
}

static void add_spring(as_builder *b, as_body_id first, const double at[3], as_body_id second,
                       double stiffness) {
  as_spring_def spring = as_default_spring_def();
  as_error error;
  spring.body[0] = first;
  spring.body[1] = second;
  memcpy(spring.point[0], at, sizeof spring.point[0]);
  memcpy(spring.point[1], (double[]){0, truss_h, 0}, sizeof spring.point[1]);
  spring.stiffness = stiffness;
  if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
}

bench truss_make(bool pushed) {
  as_builder *b = machine_builder(0, 0, 0);
  const double top[3] = {0, truss_h, 0}, down[3] = {0, -1, 0};
  const as_curve time = {.slope = 1.0};
  const as_body_id apex = machine_point(b, "apex", 0.5, top, origin);
  machine_joint(b, "guide", AS_JOINT_POINT_ON_LINE, AS_GROUND, apex, top, y_axis);
  for (int side = -1; side <= 1; side += 2)
    add_spring(b, AS_GROUND, (double[]){side * truss_a, 0, 0}, apex, truss_k);
  if (!pushed) {
    bench_load(b, "load", apex, top, down, &time);
    return bench_make(b);
  }
  const double above[3] = {0, truss_h + 1.0, 0};
  const as_body_id slide = machine_point(b, "slide", 0.5, above, origin);
  const as_joint_id rail =
      machine_joint(b, "rail", AS_JOINT_POINT_ON_LINE, AS_GROUND, slide, above, y_axis);
  bench_motion(b, "push", rail, &(as_curve){.slope = -1.0});
  add_spring(b, slide, above, apex, 20.0);
  return bench_make(b);
}

static int read_load(double t, double out[3], void *user) {
  (void)t;
  out[0] = *(const double *)user;
  out[1] = out[2] = 0.0;
  return AS_DONE;
}

bench column_make(double rest, double *load) {
  const double l = 0.5, m = 1.0, upright = 0.5 * 3.14159265358979323846;
  as_builder *b = machine_builder(0, 0, 0);
  const double middle[3] = {l * sin(rest), l * cos(rest), 0}, down[3] = {0, -1, 0};
  const double top[3] = {0, 2.0 * l * cos(rest), 0};
  const as_curve factor = {.function = read_load, .user = load};
  const as_body_id lower = bench_link(b, "lower", m, l, 0, 0, upright - rest, false);
  const as_body_id upper =
      bench_link(b, "upper", m, l, middle[0], middle[1], upright + rest, false);
  machine_joint(b, "foot", AS_JOINT_REVOLUTE, AS_GROUND, lower, origin, z_axis);
  machine_joint(b, "knee", AS_JOINT_REVOLUTE, lower, upper, middle, z_axis);
  machine_joint(b, "guide", AS_JOINT_POINT_ON_LINE, AS_GROUND, upper, top, y_axis);
  bench_torsion(b, "spring", lower, upper, 4.0);
  bench_load(b, "load", upper, top, down, &factor);
  return bench_make(b);
}
