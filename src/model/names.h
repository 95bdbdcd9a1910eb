/// Names of bodies, frames, joints, forces, superelements, parameters, events, blocks, roads and so on: stored once, found by hashing.
#ifndef ALPHASTEP_MODEL_NAMES_H
#define ALPHASTEP_MODEL_NAMES_H

#include <stddef.h>

#include "alphastep/status.h"
#include "base/export.h"

typedef enum asi_entity_kind {
  ASI_SORT_BODY,
  ASI_SORT_FRAME,
  ASI_SORT_JOINT,
  ASI_SORT_FORCE,
  ASI_SORT_SUPERELEMENT,
  ASI_SORT_PARAMETER,
  ASI_SORT_TABLE,
  ASI_SORT_EVENT,
  ASI_SORT_BLOCK,
  ASI_SORT_BEAM,
  ASI_SORT_STATION, ///< of a beam
  ASI_SORT_FLEXIBLE,
  ASI_SORT_FLEXIBLE_PART, ///< an elastic coordinate, or a point of the mesh that is shown
  ASI_SORT_ROAD,
  ASI_SORTS
} asi_entity_kind;

/// The names of one sort of things, by number.
typedef struct asi_names {
  char *text; ///< all names, each with its end
  size_t used, room;
  size_t *start; ///< of each name
  int count, capacity;
  int *slot;   ///< hash table of numbers, -1: free
  int n_slots; ///< a power of two, or 0
} asi_names;

/// Appends a name (NULL: made of the sort and its number) and gives its number: the count so far. Refuses
/// what is not printable, has a `.` or a `/`, or is there already.
ASI_IO as_status asi_names_add(asi_names *names, asi_entity_kind sort, const char *name,
                               as_error *error);
/// Appends `whole.part`, of a thing that belongs to another.
as_status asi_names_add_part(asi_names *names, asi_entity_kind sort, const char *whole, int part,
                             as_error *error);
/// The same with a name of the part, which is checked.
as_status asi_names_add_member(asi_names *names, asi_entity_kind sort, const char *whole,
                               const char *part, as_error *error);
/// Forgets all names but the first `count`.
void asi_names_cut(asi_names *names, int count);
as_status asi_names_copy(asi_names *names, const asi_names *from, as_error *error);
ASI_IO void asi_names_free(asi_names *names);

/// The number of a name, -1 if there is none.
ASI_IO int asi_names_find(const asi_names *names, const char *name);
/// The name of a number; "" if there is none.
ASI_IO const char *asi_names_get(const asi_names *names, int number);

ASI_IO const char *asi_entity_kind_name(asi_entity_kind sort);

#endif
