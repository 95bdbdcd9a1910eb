#include "tyres.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machines.h"

as_tyre tyre_of(const char *name) {
  char path[512];
  as_tyre out;
  as_error error;
  snprintf(path, sizeof path, "%s/tests/files/tyres/%s.tir", SOURCE_DIR, name);
  if (as_tyre_read(path, NULL, NULL, &out, &error)) fail_msg("%s", error.message);
  return out;
}

double *tyre_table(const char *name, int columns, int *rows) {
  char path[512], line[1024];
  double *out = NULL;
  *rows = 0;
  snprintf(path, sizeof path, "%s/tests/files/tyres/%s.csv", SOURCE_DIR, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  while (fgets(line, sizeof line, file)) {
    out = realloc(out, (size_t)(*rows + 1) * (size_t)columns * sizeof *out);
    char *at = line;
    for (int k = 0; k < columns; ++k) {
      out[*rows * columns + k] = strtod(at, &at);
      if (*at == ',') ++at;
    }
    ++*rows;
  }
  fclose(file);
  return out;
}

as_body_def tyre_wheel(const char *name, double x, double y, double z, bool se3) {
  as_body_def def = machine_round_body(name, 20.0, 0.75, se3);
  def.inertia[1] = 1.35;
  def.position[0] = x;
  def.position[1] = y;
  def.position[2] = z;
  return def;
}

as_force_id tyre_add(as_builder *b, const as_tyre_def *def) {
  as_error error;
  as_force_id id = AS_NO_FORCE;
  if (as_builder_add_tyre(b, def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

as_road_id tyre_road(as_builder *b, const as_road_def *def) {
  as_error error;
  as_road_id id = AS_NO_ROAD;
  if (as_builder_add_road(b, def, &id, &error)) fail_msg("%s", error.message);
  return id;
}

as_tyre_contact tyre_look(const as_model *m, const as_state *state, as_force_id force) {
  as_error error;
  as_tyre_contact out = {.kappa = 0.0};
  if (as_model_tyre(m, state, force, &out, &error)) fail_msg("%s", error.message);
  return out;
}
