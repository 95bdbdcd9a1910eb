/// What descriptors share, and their table.
#include "elements/descriptor.h"

#include <math.h>

bool asi_turns_round(const double from[3], const double to[3]) {
  const double half_a_turn = 3.14159265358979323846;
  double way = 0.0;
  for (int i = 0; i < 3; ++i) way = hypot(way, to[i] - from[i]);
  return way > half_a_turn;
}

void asi_draw_between(const char *kind, const asi_frame frame[2], asi_drawing *out) {
  *out = (asi_drawing){.kind = kind,
                       .n = 2,
                       .body = {0, 1},
                       .point = {frame[0].p, frame[1].p},
                       .axis = frame[0].axis + 6};
}

#define ADDRESS(name) &asi_##name##_descriptor,
static const asi_descriptor *const table[] = {ASI_DESCRIPTORS(ADDRESS)};
#undef ADDRESS

const asi_descriptor *asi_descriptor_of(const as_element_type *type) {
  static const asi_descriptor other = {.type = NULL};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i)
    if (table[i]->type == type) return table[i];
  return &other;
}
