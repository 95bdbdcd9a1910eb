/// Machines that go on from saved states: after each step a fresh integrator takes over, and both take the next one to
/// the same bits.
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
#include "machines.h"
#include "saved.h"
#include "share.h"

enum { STEPS = 30 };

typedef enum manner { FIXED, VARIED, AUTOMATIC, MANNERS } manner;
static const char *const manner_names[] = {"fixed", "varied", "automatic"};
static const char *const method_names[] = {"index-3", "index-2", "SOI2"};
static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};

static as_error error;

/// A chain of links, horizontal and at rest; with `heavy`, the last one weighs that much, and each pulls at a spring.
static as_model *build_chain(int n_links, as_joint_kind kind, as_space_kind space, double heavy,
                             double stiffness) {
  as_builder *b = machine_builder(0.0, 0.0, -9.81);
  as_body_id last = AS_GROUND;
  for (int i = 0; i < n_links; ++i) {
    as_body_def link = as_default_body_def();
    link.mass = i == n_links - 1 ? heavy : 1.0;
    link.inertia[0] = 0.00125 * link.mass;
    link.inertia[1] = link.inertia[2] = 0.084 * link.mass;
    link.position[0] = i + 0.5;
    link.space = space;
    const as_body_id body = machine_body(b, &link);
    const double point[] = {i, 0.0, 0.0}, axis[] = {0.0, 1.0, 0.0};
    char name[32];
    snprintf(name, sizeof name, "joint %d", i);
    machine_joint(b, name, kind, last, body, point, axis);
    last = body;
    if (stiffness <= 0.0) continue;
    as_spring_def spring = as_default_spring_def();
    spring.body[0] = AS_GROUND;
    spring.body[1] = body;
    spring.point[0][0] = spring.point[1][0] = i + 0.5;
    spring.point[0][2] = 1.0;
    spring.stiffness = stiffness;
    spring.length = 1.0;
    if (as_builder_add_spring(b, &spring, NULL, &error)) fail_msg("%s", error.message);
  }
  return machine_build(b);
}

static as_integrator *make(const as_model *m, as_method method, manner how, double h) {
  as_integrator_def def = as_default_integrator_def();
  as_integrator *s = NULL;
  def.method = method;
  if (how != AUTOMATIC) def.step = h;
  if (as_integrator_create(as_model_problem(m), &def, &s, &error)) fail_msg("%s", error.message);
  return s;
}

static void step(as_integrator *s, manner how, double h, int i) {
  const double varied[] = {1.0, 1.0, 0.7, 0.7, 0.7, 1.1, 1.1, 0.9, 1.3, 1.3, 1.3};
  const as_status status = how == VARIED ? as_integrator_step(s, h * varied[i % 11], &error)
                                         : as_integrator_next(s, &error);
  if (status) fail_msg("%s", error.message);
}

static void go_on_from_each_step(const char *name, as_model *m, double h) {
  static long count = 0;
  for (int method = 0; method < 3; ++method)
    for (int how = 0; how < MANNERS; ++how) {
      if (!share_has(count++)) continue;
      as_integrator *one = make(m, methods[method], (manner)how, h);
      if (as_integrator_start(one, as_model_initial(m), NULL, &error))
        fail_msg("%s", error.message);
      for (int i = 0; i < STEPS; ++i) {
        size_t size, one_size, other_size;
        unsigned char *bytes = saved_bytes(one, &size);
        as_integrator *other = make(m, methods[method], (manner)how, h);
        if (as_integrator_load(other, bytes, size, &error)) fail_msg("%s", error.message);
        step(one, (manner)how, h, i);
        step(other, (manner)how, h, i);
        unsigned char *of_one = saved_bytes(one, &one_size);
        unsigned char *of_other = saved_bytes(other, &other_size);
        if (one_size != other_size || memcmp(of_one, of_other, one_size) != 0)
          fail_msg("%s, %s, %s steps: what goes on from the state after step %d differs.", name,
                   method_names[method], manner_names[how], i);
        free(bytes);
        free(of_one);
        free(of_other);
        as_integrator_destroy(other);
      }
      as_integrator_destroy(one);
    }
  as_model_destroy(m);
}

static void test_chains(void **state) {
  (void)state;
  go_on_from_each_step("balls", build_chain(20, AS_JOINT_SPHERICAL, AS_SPACE_R3SO3, 1.0, 0.0),
                       0.01);
  go_on_from_each_step("hinges", build_chain(20, AS_JOINT_REVOLUTE, AS_SPACE_SE3, 1.0, 0.0), 0.01);
  go_on_from_each_step("heavy end", build_chain(20, AS_JOINT_REVOLUTE, AS_SPACE_R3SO3, 1e4, 0.0),
                       0.01);
}

/// A rotor whose two bearings rub by their own reactions, which they share; it comes to rest.
static as_model *build_rotor(void) {
  as_builder *b = machine_builder(0.0, -9.81, 2.0);
  as_body_def rotor = as_default_body_def();
  rotor.mass = 4.0;
  rotor.inertia[0] = rotor.inertia[1] = 0.05;
  rotor.inertia[2] = 0.011;
  rotor.position[0] = 0.02;
  rotor.position[2] = 0.2;
  rotor.angular_velocity[2] = 5.0;
  rotor.velocity[1] = 0.1;
  const as_body_id body = machine_body(b, &rotor);
  for (int i = 0; i < 2; ++i) {
    as_joint_friction_def f = as_default_joint_friction_def();
    f.joint = machine_joint(b, i == 0 ? "left" : "right", AS_JOINT_REVOLUTE, AS_GROUND, body,
                            (double[]){0.0, 0.0, 0.6 * i}, (double[]){0.0, 0.0, 1.0});
    f.coefficient = 0.3;
    f.radius = 0.05;
    f.length = 0.1;
    f.transition_speed = 0.05;
    if (as_builder_add_joint_friction(b, &f, NULL, &error)) fail_msg("%s", error.message);
  }
  return machine_build(b);
}

static void test_shared_loads(void **state) {
  (void)state;
  go_on_from_each_step("rotor", build_rotor(), 0.01);
}

static void test_stiff_chain(void **state) {
  (void)state;
  go_on_from_each_step("springs", build_chain(20, AS_JOINT_SPHERICAL, AS_SPACE_R3SO3, 1.0, 1e6),
                       0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains),
                                     cmocka_unit_test(test_shared_loads),
                                     cmocka_unit_test(test_stiff_chain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
