/// Gears and racks in files.
#include <math.h>

#include "base/error.h"
#include "file/kinds.h"

/// What the teeth of wheels and of racks have in common, as it is read; it comes first in both.
typedef struct teeth_thing {
  as_tooth_def def;
  int kind;            ///< of tooth_kinds, -1: not said
  double angle_deg[2]; ///< pressure angle and helix angle, NAN: not in degrees
} teeth_thing;

static const char *const tooth_kinds[] = {"tooth", "torque", NULL};

#define AT(field) offsetof(teeth_thing, field)
static const asi_key teeth_keys[] = {
    {"force", ASI_KEY_CHOICE, AT(kind), .choices = tooth_kinds,
     .otherwise = "`tooth` where the pitch point is known",
     .text = "`tooth`: a force at the pitch point, which bearings and frames carry; `torque`: "
             "torques only"},
    {"pressure_angle", ASI_KEY_NUMBER, AT(def.pressure_angle), .range = ASI_NOT_NEGATIVE,
     .unit = "rad", .otherwise = "20 degrees",
     .text = "in the section across the teeth, at most 1.5; 0: nothing presses them apart"},
    {"pressure_angle_deg", ASI_KEY_NUMBER, AT(angle_deg[0]), .range = ASI_NOT_NEGATIVE,
     .unit = "degrees", .instead_of = "pressure_angle", .text = "the same in degrees"},
    {"helix_angle", ASI_KEY_NUMBER, AT(def.helix_angle), .unit = "rad", .otherwise = "0",
     .mirror = ASI_MIRROR_NUMBER,
     .text = "positive: the teeth of the first wheel, the pinion, are right-handed"},
    {"helix_angle_deg", ASI_KEY_NUMBER, AT(angle_deg[1]), .unit = "degrees",
     .instead_of = "helix_angle", .mirror = ASI_MIRROR_NUMBER, .text = "the same in degrees"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .least = 3, .most = 3, .unit = "m",
     .otherwise = "at the origins of the joints", .mirror = ASI_MIRROR_ARROW,
     .text = "where the teeth meet, in the world at the start"},
    {"small_force", ASI_KEY_NUMBER, AT(def.small_force), .range = ASI_POSITIVE, .unit = "N",
     .otherwise = "1e-3", .text = "tangential force below which the one that presses apart fades"},
};
#undef AT
static const asi_table teeth_table = {"teeth", &asi_any_joint_table, teeth_keys,
                                      ASI_COUNT(teeth_keys)};

static teeth_thing default_teeth(void) {
  return (teeth_thing){
      .def = as_default_gear_def().tooth, .kind = -1, .angle_deg = {(double)NAN, (double)NAN}};
}

static as_tooth_def teeth_of(const teeth_thing *read) {
  const double degree = 3.14159265358979323846 / 180.0;
  as_tooth_def def = read->def;
  if (read->kind >= 0) def.kind = read->kind == 0 ? AS_TOOTH_FORCE : AS_TOOTH_TORQUE;
  if (!isnan(read->angle_deg[0])) def.pressure_angle = read->angle_deg[0] * degree;
  if (!isnan(read->angle_deg[1])) def.helix_angle = read->angle_deg[1] * degree;
  return def;
}

typedef struct gear_thing {
  teeth_thing teeth;
  as_gear_def def;
  double numbers[2];
} gear_thing;

#define AT(field) offsetof(gear_thing, field)
static const asi_key gear_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`gear`"},
    {"joints", ASI_KEY_NAMES, AT(def.joint), .required = true, .most = 2, .sort = ASI_SORT_JOINT,
     .text = "two joints with an angle about their axis, which carry the wheels"},
    {"teeth", ASI_KEY_VECTOR, AT(numbers), .required = true, .range = ASI_POSITIVE, .least = 2,
     .most = 2, .text = "of the first and the second wheel, whole numbers"},
    {"internal", ASI_KEY_BOOLEAN, AT(def.internal), .otherwise = "false",
     .text = "the wheels turn the same way about their axes, as a wheel in a ring does"},
};
#undef AT
static const asi_table gear_table = {"gear", &teeth_table, gear_keys, ASI_COUNT(gear_keys)};

static void prepare_gear(void *out) {
  *(gear_thing *)out = (gear_thing){.def = as_default_gear_def(), .teeth = default_teeth()};
}

static as_status add_gear(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  gear_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  for (int i = 0; i < 2; ++i) {
    if (thing->numbers[i] != floor(thing->numbers[i]) || thing->numbers[i] > 1e9)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "A wheel has %g teeth.",
                      thing->numbers[i]);
    thing->def.teeth[i] = (int)thing->numbers[i];
  }
  thing->def.tooth = teeth_of(&thing->teeth);
  return as_builder_add_gear(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_gear_kind = {
    "gear",       0,        &gear_table, sizeof(gear_thing),
    prepare_gear, add_gear, true,        "two toothed wheels on two joints"};

typedef struct rack_thing {
  teeth_thing teeth;
  as_rack_def def;
} rack_thing;

#define AT(field) offsetof(rack_thing, def.field)
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
static const asi_table rack_table = {"rack", &teeth_table, rack_keys, ASI_COUNT(rack_keys)};

static void prepare_rack(void *out) {
  *(rack_thing *)out = (rack_thing){.def = as_default_rack_def(), .teeth = default_teeth()};
}

static as_status add_rack(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  rack_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  thing->def.tooth = teeth_of(&thing->teeth);
  return as_builder_add_rack(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_rack_kind = {"rack",       0,        &rack_table, sizeof(rack_thing),
                                prepare_rack, add_rack, true,        "a pinion that moves a rack"};
