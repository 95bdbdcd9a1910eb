/// No FMUs, see fmus.h: in an FMU.
#include "file/fmus.h"

#include "file/table.h"

void asi_declare_fmus(asi_reader *r, const asi_value *map) {
  if (map == NULL || map->type != ASI_MAP || map->count == 0) return;
  asi_complain(r, map, "an FMU cannot have FMUs of its own");
  r->no_plugin = true;
}

void asi_fmus_close(asi_open_fmu *list) { (void)list; }

static as_status add_none(asi_reader *r, const asi_kind *kind, const char *name, void *thing,
                          as_error *error) {
  (void)r;
  (void)kind;
  (void)name;
  (void)thing;
  (void)error;
  return AS_ERR_UNSUPPORTED; // nothing gets here
}

static const asi_table table = {0};
static const asi_kind none = {.table = &table, .size = 1, .add = add_none};
static const asi_kind *const kinds[] = {&none};
const asi_section asi_fmu_section = {"FMU", ASI_SORT_BLOCK, kinds, 1, true};
