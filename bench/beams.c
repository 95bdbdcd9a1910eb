/// Measures beams: what a step of an element costs beside a link and its ball joint.
///
/// usage: beams count chain|hermite|lumped N METHOD STEPS   takes steps, for a tool that counts instructions
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "alphastep/beam.h"

static const as_method methods[] = {AS_METHOD_INDEX3, AS_METHOD_INDEX2, AS_METHOD_SOI2};
static const char *const method_names[] = {"index-3", "index-2", "soi2"};

static void stop_if(as_status status, const as_error *error) {
  if (status == AS_OK) return;
  fprintf(stderr, "beams: %s\n", error->message);
  exit(1);
}

static void *take(size_t count, size_t size) {
  void *block = calloc(count, size);
  if (block) return block;
  fprintf(stderr, "beams: out of memory\n");
  exit(1);
}

/// Links of 1 m and 1 kg, 5 cm thick, horizontal and at rest, as in machines.c.
static void add_chain(as_builder *b, int n) {
  as_body_id last = AS_GROUND;
  as_error error;
  for (int i = 0; i < n; ++i) {
    as_body_def link = as_default_body_def();
    link.mass = 1.0;
    link.inertia[0] = 0.00125;
    link.inertia[1] = link.inertia[2] = 0.0839583333333333333;
    link.position[0] = i + 0.5;
    as_joint_def joint = as_default_joint_def();
    joint.kind = AS_JOINT_SPHERICAL;
    joint.point[0] = i;
    joint.body[0] = last;
    stop_if(as_builder_add_body(b, &link, &last, &error), &error);
    joint.body[1] = last;
    stop_if(as_builder_add_joint(b, &joint, NULL, &error), &error);
  }
}

/// A soft rod of the same length and mass, clamped at one end.
static void add_rod(as_builder *b, int n, bool lumped) {
  as_error error;
  as_beam_section section = as_default_beam_section();
  static const double stiffness[6] = {1e4, 5e3, 5e3, 20.0, 30.0, 30.0};
  for (int k = 0; k < 6; ++k) section.stiffness[7 * k] = stiffness[k];
  section.mass = 1.0;
  section.inertia[0] = 2.0 * (section.inertia[1] = section.inertia[2] = 6e-4);
  as_beam_station *station = take((size_t)n + 1, sizeof *station);
  for (int i = 0; i <= n; ++i)
    station[i] = (as_beam_station){{i, 0, 0}, {1, 0, 0, 0}, i ? AS_NO_BODY : AS_GROUND};
  as_beam_def def = as_default_beam_def();
  def.station = station;
  def.n_stations = n + 1;
  def.section = &section;
  def.mass = lumped ? AS_BEAM_LUMPED : AS_BEAM_HERMITE;
  def.plain = lumped;
  stop_if(as_builder_add_beam(b, &def, NULL, &error), &error);
  free(station);
}

static int count(const char *kind, int n, const char *method, int steps) {
  as_error error;
  as_builder *b = NULL;
  as_model *m = NULL;
  as_integrator *integrator = NULL;
  as_integrator_def def = as_default_integrator_def();
  int chosen = 0;
  while (chosen < 3 && strcmp(method, method_names[chosen]) != 0) ++chosen;
  const bool chain = strcmp(kind, "chain") == 0, lumped = strcmp(kind, "lumped") == 0;
  if (n < 1 || steps < 0 || chosen == 3 || !(chain || lumped || strcmp(kind, "hermite") == 0))
    return 2;
  stop_if(as_builder_create(&(as_model_def){.gravity = {0, 0, -9.81}}, &b, &error), &error);
  if (chain)
    add_chain(b, n);
  else
    add_rod(b, n, lumped);
  stop_if(as_builder_build(b, &m, &error), &error);
  as_builder_destroy(b);
  def.method = methods[chosen];
  def.newton.rtol = def.newton.atol = 1e-3; // one iteration with new factors in each step
  def.newton.reuse = false;
  stop_if(as_integrator_create(as_model_problem(m), &def, &integrator, &error), &error);
  stop_if(as_integrator_start(integrator, as_model_initial(m), NULL, &error), &error);
  for (int i = 0; i < steps; ++i) stop_if(as_integrator_step(integrator, 5e-3, &error), &error);
  as_statistics work;
  stop_if(as_integrator_statistics(integrator, &work, &error), &error);
  printf("%ld\n", work.newton_iterations);
  fprintf(stderr, "%ld iterations, %ld factorizations, %ld solutions\n", work.newton_iterations,
          work.factorizations, work.solves);
  as_integrator_destroy(integrator);
  as_model_destroy(m);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "count") == 0 &&
      count(argv[2], (int)strtol(argv[3], NULL, 10), argv[4], (int)strtol(argv[5], NULL, 10)) == 0)
    return 0;
  fprintf(stderr, "usage: beams count chain|hermite|lumped N index-3|index-2|soi2 STEPS\n");
  return 2;
}
