/// Adds the drag of a fluid to a builder.
#include <math.h>
#include <stddef.h>

#include "alphastep/drag.h"
#include "base/definition.h"
#include "base/error.h"
#include "elements/drag.h"
#include "elements/vector.h"
#include "model/add_force.h"

as_drag_def as_default_drag_def(void) {
  return (as_drag_def){.cookie = ASI_COOKIE(as_drag_def),
                       .frame = AS_NO_FRAME,
                       .body = AS_NO_BODY,
                       .point = {(double)NAN, (double)NAN, (double)NAN},
                       .density = 1.225};
}

static as_status check(const as_drag_def *def, const char *name, as_error *error) {
  as_status status = asi_check_not_negative(def->viscous, "viscous drag", name, error);
  if (status == AS_OK) status = asi_check_not_negative(def->density, "density", name, error);
  for (int i = 0; i < 3 && status == AS_OK; ++i) {
    status = asi_check_not_negative(def->area[i], "drag area", name, error);
    if (status == AS_OK && !isfinite(def->wind[i]))
      status =
          asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                   "Component %d of the wind of drag \"%s\" is %g m/s.", i + 1, name, def->wind[i]);
  }
  const double all = def->viscous + def->density * (def->area[0] + def->area[1] + def->area[2]);
  if (status == AS_OK && !(all > 0.0))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The drag \"%s\" has neither areas in a fluid with a density nor a viscous "
                    "part: it does nothing.",
                    name);
  return status;
}

/// The place, from the centre of mass where none is given.
static as_status find_place(const as_builder *b, const as_drag_def *def, const char *name,
                            asi_marker *out, as_error *error) {
  asi_side_def side = {def->frame, def->body, def->point, asi_world_axes};
  const bool by_body = def->frame.index == ASI_NONE;
  as_status status = AS_OK;
  if (by_body) status = asi_builder_check_body(b, def->body, ASI_SORT_FORCE, name, error);
  if (status) return status;
  if (by_body && def->body.index >= 0 && isnan(def->point[0]))
    side.point = b->body[def->body.index].at.x;
  if (!by_body || def->body.index >= 0)
    status = asi_builder_side(b, &side, ASI_SORT_FORCE, name, out, error);
  else
    out->body = ASI_GROUND;
  if (status) return status;
  if (out->body < 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The drag \"%s\" acts on the ground.", name);
  if (by_body)
    status = asi_builder_check_offset(b, out->body, out->frame.p, ASI_SORT_FORCE, name, error);
  return status;
}

as_status as_builder_add_drag(as_builder *b, const as_drag_def *def, as_force_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_drag_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_marker marker;
  as_status status = check(def, name, error);
  if (status == AS_OK) status = find_place(b, def, name, &marker, error);
  if (status) return status;
  asi_drag data = {.frame = marker.frame,
                   .motion = marker.moving ? marker.motion : asi_no_motion(),
                   .viscous = def->viscous};
  for (int i = 0; i < 3; ++i) data.half[i] = def->density / 2.0 * def->area[i];
  asi_copy(def->wind, data.wind);
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_drag_type, .body = {marker.body}, .n_bodies = 1},
                         .flags = {.n_bodies = 1, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .motions = offsetof(asi_drag, motion),
                         .n_motions = 1,
                         .mark = asi_builder_mark(b)};
  asi_drag_pattern(&data, force.flags.f_q, force.flags.f_v);
  return asi_builder_force(b, &force, id, error);
}
