/// A model and its analysis, see analyses.h.
#include "analyses.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"

bench bench_make(as_builder *b) {
  bench x = {.model = machine_build(b)};
  const as_analysis_def def = as_default_analysis_def();
  if (as_analysis_create(as_model_problem(x.model), &def, &x.analysis, &x.error))
    fail_msg("%s", x.error.message);
  return x;
}

void bench_free(bench *x) {
  as_analysis_destroy(x->analysis);
  as_model_destroy(x->model);
}

const as_state *bench_rest(bench *x) {
  if (as_analysis_equilibrium(x->analysis, as_model_initial(x->model), &x->found, &x->error))
    fail_msg("%s", x->error.message);
  return as_analysis_state(x->analysis);
}

as_body_motion bench_body(const bench *x, const as_state *s, const char *body) {
  as_body_motion at;
  as_model_body_motion(x->model, s, as_model_find_body(x->model, body), &at);
  return at;
}

double bench_angle(const bench *x, const as_state *s, const char *body) {
  const as_body_motion at = bench_body(x, s, body);
  return atan2(at.R[3], at.R[0]);
}

as_reaction bench_reaction(const bench *x, const as_state *s, const char *joint) {
  as_reaction r;
  as_error error;
  if (as_model_reaction(x->model, s, as_model_find_joint(x->model, joint), &r, &error))
    fail_msg("%s", error.message);
  return r;
}

double bench_lambda(const bench *x, const as_state *s, const char *joint) {
  return s->lambda[as_model_joint_row(x->model, as_model_find_joint(x->model, joint))];
}

as_body_id bench_link(as_builder *b, const char *name, double mass, double l, double x, double y,
                      double angle, bool se3) {
  as_body_def def = machine_round_body(name, mass, mass * l * l / 12.0, se3);
  machine_place_in_plane(&def, x + 0.5 * l * cos(angle), y + 0.5 * l * sin(angle), angle);
  return machine_body(b, &def);
}

void bench_torsion(as_builder *b, const char *name, as_body_id first, as_body_id second,
                   double stiffness) {
  as_torsion_def def = as_default_torsion_def();
  as_error error;
  def.name = name;
  def.body[0] = first;
  def.body[1] = second;
  def.axis[2] = 1.0;
  def.stiffness = stiffness;
  if (as_builder_add_torsion(b, &def, NULL, &error)) fail_msg("%s", error.message);
}

void bench_load(as_builder *b, const char *name, as_body_id body, const double point[3],
                const double force[3], const as_curve *factor) {
  as_load_def def = as_default_load_def();
  as_error error;
  def.name = name;
  def.body = body;
  memcpy(def.point, point, sizeof def.point);
  memcpy(def.force, force, sizeof def.force);
  def.factor = factor;
  if (as_builder_add_load(b, &def, NULL, &error)) fail_msg("%s", error.message);
}

void bench_motion(as_builder *b, const char *name, as_joint_id joint, const as_curve *law) {
  as_motion_def def = as_default_motion_def();
  as_error error;
  def.name = name;
  def.joint = joint;
  def.law = law;
  if (as_builder_add_motion(b, &def, NULL, &error)) fail_msg("%s", error.message);
}

void bench_actuator(as_builder *b, as_joint_id joint, const char *force) {
  as_actuator_def def = as_default_actuator_def();
  as_error error;
  def.joint = joint;
  def.force = force;
  if (as_builder_add_actuator(b, &def, NULL, &error)) fail_msg("%s", error.message);
}

double bench_root(double (*f)(double x, const void *user), const void *user, double a, double b) {
  const bool rising = f(b, user) > 0.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (a + b);
    if ((f(middle, user) > 0.0) == rising)
      b = middle;
    else
      a = middle;
  }
  return 0.5 * (a + b);
}
