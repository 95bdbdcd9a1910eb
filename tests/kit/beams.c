/// Beams for tests, see beams.h.
#include "beams.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elements/vector.h"
#include "lie/rotation.h"

as_beam_section beam_section(const double stiffness[6], double mass, const double inertia[3]) {
  as_beam_section out = as_default_beam_section();
  for (int k = 0; k < 6; ++k) out.stiffness[7 * k] = stiffness[k];
  out.mass = mass;
  asi_copy(inertia, out.inertia);
  return out;
}

void beam_axes(const double x[3], const double y[3], double quaternion[4]) {
  double u[3], v[3], w[3];
  const double size = asi_norm(x);
  asi_set(x[0] / size, x[1] / size, x[2] / size, u);
  asi_copy(y, v);
  asi_add(-asi_dot(u, v), u, v);
  const double other = asi_norm(v);
  for (int k = 0; k < 3; ++k) v[k] /= other;
  asi_cross(u, v, w);
  const double R[9] = {u[0], v[0], w[0], u[1], v[1], w[1], u[2], v[2], w[2]};
  asi_so3_from_matrix(R, quaternion);
}

as_beam_id beam_straight(as_builder *b, as_beam_def *def, int n, const double from[3],
                         const double to[3], const double y[3], as_body_id first, as_body_id last) {
  as_beam_station *station = calloc((size_t)n + 1, sizeof *station);
  as_beam_id id;
  as_error error;
  double along[3];
  asi_sum(to, -1.0, from, along);
  for (int i = 0; i <= n; ++i) {
    asi_sum(from, (double)i / n, along, station[i].position);
    beam_axes(along, y, station[i].quaternion);
    station[i].body = i == 0 ? first : i == n ? last : AS_NO_BODY;
  }
  def->station = station;
  def->n_stations = n + 1;
  if (as_builder_add_beam(b, def, &id, &error)) fail_msg("%s", error.message);
  free(station);
  def->station = NULL;
  return id;
}

void beam_push(as_builder *b, as_body_id body, const double force[3], const double torque[3],
               bool follows, const as_curve *factor) {
  as_frame_def at = as_default_frame_def();
  as_load_def def = as_default_load_def();
  as_error error;
  at.body = body;
  if (as_builder_add_frame(b, &at, &def.frame, &error)) fail_msg("%s", error.message);
  asi_copy(force, def.force);
  asi_copy(torque, def.torque);
  def.follows = follows;
  def.factor = factor;
  if (as_builder_add_load(b, &def, NULL, &error)) fail_msg("%s", error.message);
}
