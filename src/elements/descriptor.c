/// The table of descriptors: one line for each kind of element.
#include "elements/descriptor.h"

static const asi_descriptor *const table[] = {
    &asi_actuator_descriptor,     &asi_bushing_descriptor,      &asi_contact_descriptor,
    &asi_coupling_descriptor,     &asi_formula_load_descriptor, &asi_friction_descriptor,
    &asi_joint_descriptor,        &asi_load_descriptor,         &asi_moving_joint_descriptor,
    &asi_plugin_force_descriptor, &asi_rolling_disk_descriptor, &asi_rolling_sphere_descriptor,
    &asi_skate_descriptor,        &asi_spring_descriptor,       &asi_stop_descriptor,
    &asi_torsion_descriptor,      &asi_tyre_descriptor,
};

void asi_draw_between(const char *kind, const asi_frame frame[2], asi_drawing *out) {
  *out = (asi_drawing){.kind = kind,
                       .n = 2,
                       .body = {0, 1},
                       .point = {frame[0].p, frame[1].p},
                       .axis = frame[0].axis + 6};
}

const asi_descriptor *asi_descriptor_of(const as_element_type *type) {
  static const asi_descriptor other = {.type = NULL};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
    if (table[i]->type == type) return table[i];
  return &other;
}
