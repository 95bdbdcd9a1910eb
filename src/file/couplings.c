/// Gears and racks in files.
#include <math.h>

#include "base/error.h"
#include "file/kinds.h"

typedef struct gear_thing {
  as_gear_def def;
  double teeth[2];
} gear_thing;

#define AT(field) offsetof(gear_thing, field)
static const asi_key gear_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`gear`"},
    {"joints", ASI_KEY_NAMES, AT(def.joint), .required = true, .most = 2, .sort = ASI_SORT_JOINT,
     .text = "two joints with an angle about their axis, which carry the wheels"},
    {"teeth", ASI_KEY_VECTOR, AT(teeth), .required = true, .range = ASI_POSITIVE, .least = 2,
     .most = 2, .text = "of the first and the second wheel, whole numbers"},
    {"internal", ASI_KEY_BOOLEAN, AT(def.internal), .otherwise = "false",
     .text = "the wheels turn the same way about their axes, as a wheel in a ring does"},
};
#undef AT
static const asi_table gear_table = {"gear", &asi_any_joint_table, gear_keys, ASI_COUNT(gear_keys)};

static void prepare_gear(void *out) { ((gear_thing *)out)->def = as_default_gear_def(); }

static as_status add_gear(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  gear_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  for (int i = 0; i < 2; ++i) {
    if (thing->teeth[i] != floor(thing->teeth[i]) || thing->teeth[i] > 1e9)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "A wheel has %g teeth.",
                      thing->teeth[i]);
    thing->def.teeth[i] = (int)thing->teeth[i];
  }
  return as_builder_add_gear(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_gear_kind = {
    "gear",       0,        &gear_table, sizeof(gear_thing),
    prepare_gear, add_gear, true,        "two toothed wheels on two joints"};

#define AT(field) offsetof(as_rack_def, field)
static const asi_key rack_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`rack`"},
    {"pinion", ASI_KEY_NAME, AT(pinion), .required = true, .sort = ASI_SORT_JOINT,
     .text = "a joint with an angle about its axis, which carries the pinion"},
    {"rack", ASI_KEY_NAME, AT(rack), .required = true, .sort = ASI_SORT_JOINT,
     .text = "a joint with a displacement along its axis, which carries the rack"},
    {"radius", ASI_KEY_NUMBER, AT(radius), .required = true, .unit = "m",
     .text = "pitch radius of the pinion; negative: the rack goes backwards"},
};
#undef AT
static const asi_table rack_table = {"rack", &asi_any_joint_table, rack_keys, ASI_COUNT(rack_keys)};

static void prepare_rack(void *out) { *(as_rack_def *)out = as_default_rack_def(); }

static as_status add_rack(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  as_rack_def *def = read;
  (void)kind;
  def->name = name;
  return as_builder_add_rack(r->builder, def, NULL, error);
}

const asi_kind asi_rack_kind = {"rack",       0,        &rack_table, sizeof(as_rack_def),
                                prepare_rack, add_rack, true,        "a pinion that moves a rack"};
