/// Adds forces of plugins to a builder.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "control/plugin.h"
#include "elements/plugin_force.h"
#include "model/add_force.h"

as_plugin_force_def as_default_plugin_force_def(void) {
  return (as_plugin_force_def){.cookie = ASI_COOKIE(as_plugin_force_def),
                               .frame = {AS_NO_FRAME, AS_NO_FRAME},
                               .body = {AS_NO_BODY, AS_NO_BODY}};
}

static as_status take_frames(as_builder *b, const as_plugin_force_def *def, const char *name,
                             asi_force_def *force, asi_ends *ends, as_error *error) {
  double axes[9];
  if (!asi_triad(def->axis, 2, def->second_axis, 0, axes))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The axes of the force \"%s\" are parallel or not finite.", name);
  const asi_side_def side[2] = {{def->frame[0], def->body[0], def->point, axes},
                                {def->frame[1], def->body[1], def->point, axes}};
  as_status status = asi_builder_ends(b, side, name, ends, force->element.body, error);
  for (int s = 0; s < 2 && status == AS_OK; ++s)
    status = asi_check_axes(b, force->element.body[s], name, error);
  return status;
}

as_status as_builder_add_plugin_force(as_builder *b, const as_plugin_force_def *def,
                                      as_force_id *id, as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_plugin_force_def, def, error);
  if (made) return made;
  char store[32], owner[80];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  const as_plugin_force *p = def->plugin;
  if (p == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The force \"%s\" has no plugin.",
                    name);
  as_status status = asi_plugin_check_force(p, error);
  if (status) return status;
  const size_t size = sizeof(asi_plugin_force_data) +
                      ((size_t)p->n_parameters + (size_t)p->n_constants) * sizeof(double);
  asi_plugin_force_data *data = asi_calloc(1, size);
  if (data == NULL) return asi_fail_memory(error);
  data->force = p;
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_plugin_force_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = data,
                         .size = size,
                         .motions = offsetof(asi_plugin_force_data, ends.motion),
                         .n_motions = 2,
                         .mark = asi_builder_mark(b)};
  snprintf(owner, sizeof owner, "force \"%.60s\"", name);
  const as_plugin_start start = {NULL, NULL, NULL};
  status = take_frames(b, def, name, &force, &data->ends, error);
  if (status == AS_OK)
    status = asi_plugin_prepare(p->parameter, p->n_parameters, p->n_constants, p->prepare, owner,
                                def->parameter, data->number, start, error);
  asi_flag_pair(force.flags.f_q);
  asi_flag_pair(force.flags.f_v);
  if (status == AS_OK)
    status = asi_builder_force(b, &force, id, error);
  else
    asi_builder_reset(b, force.mark);
  free(data);
  return status;
}
