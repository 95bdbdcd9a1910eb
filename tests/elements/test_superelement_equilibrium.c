/// Superelements at rest: a beam with a body on its tip and a hanging bar, under their weight.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig.h"
#include "structures.h"

static void stop_if(as_status status, const as_error *error) {
  if (status) fail_msg("%s: %s", as_status_name(status), error->message);
}

/// A machine at rest.
typedef struct rest {
  as_model *model;
  as_analysis *analysis;
  as_equilibrium found;
} rest;

/// Builds, closes the builder and finds where it comes to rest.
static rest find_rest(as_builder *b) {
  rest r = {0};
  as_error error;
  const as_analysis_def def = as_default_analysis_def();
  stop_if(as_builder_build(b, &r.model, &error), &error);
  as_builder_destroy(b);
  stop_if(as_analysis_create(as_model_problem(r.model), &def, &r.analysis, &error), &error);
  stop_if(as_analysis_equilibrium(r.analysis, as_model_initial(r.model), &r.found, &error), &error);
  return r;
}

static void close_rest(rest *r) {
  as_analysis_destroy(r->analysis);
  as_model_destroy(r->model);
}

/// Clamped by a fixed joint; weight q per length, W of a body that sticks out by d: the tip sinks by
/// q L^4/(8 EI) + W L^3/(3 EI) + W d L^2/(2 EI), to first order in gravity.
static void test_beam(void **state) {
  (void)state;
  const beam_section section = {2000.0, 2.0, 3.0, 4.5, 2.0, 0.01};
  const double L = 1.5, d = 0.2, g = 1e-4, EI = section.EIy;
  const double q = section.mass * g, W = 0.5 * g;
  as_error error;
  as_builder *b = NULL;
  as_superelement_id beam;
  as_body_id root, tip, body;
  as_joint_id clamp;
  structure s = structure_beam(4, L, &section);
  const as_superelement_def def = structure_def(&s);
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -g}}, &b, &error), &error);
  stop_if(as_builder_add_superelement(b, &def, &beam, &error), &error);
  stop_if(as_builder_add_node(b, &(as_node_def){"root", beam, 0}, &root, &error), &error);
  stop_if(as_builder_add_node(b, &(as_node_def){"tip", beam, 4}, &tip, &error), &error);
  as_body_def mass = as_default_body_def();
  mass.mass = 0.5;
  mass.inertia[0] = mass.inertia[1] = mass.inertia[2] = 0.03;
  mass.position[0] = L + d;
  stop_if(as_builder_add_body(b, &mass, &body, &error), &error);
  as_joint_def joint = as_default_joint_def();
  joint.kind = AS_JOINT_FIXED;
  joint.body[0] = AS_GROUND;
  joint.body[1] = root;
  stop_if(as_builder_add_joint(b, &joint, &clamp, &error), &error);
  joint.body[0] = tip;
  joint.body[1] = body;
  joint.point[0] = L;
  stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  rest r = find_rest(b);
  as_body_motion at;
  as_reaction reaction;
  as_model_body_motion(r.model, as_analysis_state(r.analysis), tip, &at);
  const double sinks = (q * L * L / 8.0 + W * L / 3.0 + W * d / 2.0) * L * L / EI;
  assert_near("tip", at.x[2], -sinks, 1e-9 * sinks);
  stop_if(as_model_reaction(r.model, as_analysis_state(r.analysis), clamp, &reaction, &error),
          &error);
  assert_near("force", reaction.force[2], W + q * L, 1e-9 * W);
  assert_near("torque", reaction.torque[1], -(W * (L + d) + q * L * L / 2.0), 1e-6 * W);
  assert_int_equal(r.found.stability, AS_STABLE);
  assert_int_equal(r.found.degrees_of_freedom, 24);
  close_rest(&r);
  structure_free(&s);
}

/// Hanging from the ground: its end sinks by m g L^2/(2 EA), m the mass per length.
static void test_hanging_bar(void **state) {
  (void)state;
  enum { LARGE = 10000 };
  as_error error;
  as_builder *b = NULL;
  structure s = structure_bar(LARGE, 10.0, 1e6, 3.0, false, true);
  as_superelement_def def = structure_def(&s);
  def.quaternion[0] = def.quaternion[2] = sqrt(0.5); // its x points down
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error), &error);
  stop_if(as_builder_add_superelement(b, &def, NULL, &error), &error);
  rest r = find_rest(b);
  const double sinks = 3.0 * 9.81 * 10.0 * 10.0 / (2.0 * 1e6);
  assert_near("end", as_analysis_state(r.analysis)->q[LARGE - 1], sinks, 1e-8 * sinks);
  close_rest(&r);
  structure_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_beam),
                                     cmocka_unit_test(test_hanging_bar)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
