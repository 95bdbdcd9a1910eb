/// Evaluates a tyre many times, for bench/tyre.sh to count instructions.
///
/// usage: tyre FILE ROAD WHAT EVALUATIONS     ROAD plane, formula or rough; WHAT force or tangents
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "elements/tyre.h"
#include "model/model.h"

static void fail(const as_error *error) {
  fprintf(stderr, "tyre: %s\n", error->message);
  exit(1);
}

static as_model *build(const char *file, const char *road) {
  const as_model_def world = {{0.0, 0.0, -9.81}};
  as_builder *b = NULL;
  as_model *m = NULL;
  as_error error;
  as_tyre tyre;
  as_road_def surface = as_default_road_def();
  as_body_def wheel = as_default_body_def();
  as_tyre_def def = as_default_tyre_def();
  if (as_tyre_read(file, NULL, NULL, &tyre, &error)) fail(&error);
  wheel.mass = 400.0;
  for (int k = 0; k < 3; ++k) wheel.inertia[k] = 10.0;
  if (strcmp(road, "formula") == 0) surface.kind = AS_ROAD_FORMULA;
  if (strcmp(road, "rough") == 0) surface.kind = AS_ROAD_ROUGH;
  surface.formula = "0.01*sin(2*x)";
  surface.roughness = 256e-6;
  surface.start = -50.0;
  def.tyre = &tyre;
  if (as_builder_create(&world, &b, &error) || as_builder_add_body(b, &wheel, &def.body, &error) ||
      as_builder_add_road(b, &surface, &def.road, &error) ||
      as_builder_add_tyre(b, &def, NULL, &error) || as_builder_build(b, &m, &error))
    fail(&error);
  as_builder_destroy(b);
  return m;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: tyre FILE ROAD WHAT EVALUATIONS\n");
    return 2;
  }
  as_model *m = build(argv[1], argv[2]);
  const bool tangents = strcmp(argv[3], "tangents") == 0;
  const asi_placed *e = &m->element[0];
  const double state[2] = {0.01, -0.01};
  static double force[12], f_q[144], f_v[144], rate[2], rate_q[24], rate_v[24], rate_x[4], f_x[24];
  as_body_motion ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, wheel = ground;
  wheel.v[0] = 20.0;
  wheel.v[1] = 0.4;
  wheel.omega[1] = 60.0;
  as_element_input in = {.body = {&ground, &wheel}, .state = state};
  as_element_output out = {.force = force, .state_rate = rate};
  if (tangents)
    out = (as_element_output){.force = force,
                              .f_q = f_q,
                              .f_v = f_v,
                              .state_rate = rate,
                              .state_q = rate_q,
                              .state_v = rate_v,
                              .state_x = rate_x,
                              .f_x = f_x};
  double sum = 0.0;
  for (int i = 0; i < atoi(argv[4]); ++i) {
    wheel.x[0] = 1e-3 * i;
    wheel.x[2] = 0.33;
    if (e->e.type->evaluate(&in, &out, e->data)) return 1;
    sum += force[8];
  }
  as_model_destroy(m);
  return isfinite(sum) ? 0 : 1;
}
