/// Actuators in files: forces by formula.
#include "file/kinds.h"

typedef struct actuator_thing {
  as_actuator_def def;
  int coordinate; ///< -1: the only one
} actuator_thing;

#define AT(field) offsetof(actuator_thing, field)
static const asi_key keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`actuator`"},
    {"joint", ASI_KEY_NAME, AT(def.joint), .required = true, .sort = ASI_SORT_JOINT,
     .text = "the joint whose coordinate it drives"},
    {"coordinate", ASI_KEY_CHOICE, AT(coordinate), .choices = asi_coordinate_names, .with = "joint",
     .otherwise = "its only one", .text = "which of its coordinates"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "joint", .text = "the frames that it pushes apart, along the line between them"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .most = 2, .sort = ASI_SORT_BODY, .instead_of = "joint",
     .text = "the bodies that it pushes apart; either may be `ground`"},
    {"point", ASI_KEY_VECTOR, AT(def.point[0]), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "its end on the first body, in the world at the start"},
    {"second_point", ASI_KEY_VECTOR, AT(def.point[1]), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "its end on the second body"},
    {"force", ASI_KEY_FORMULA, AT(def.force), .required = true, .unit = "N or N m",
     .text = "what makes the distance or the coordinate grow: of t, parameters, tables and "
             "quantities of the machine"},
};
#undef AT
static const asi_table table = {"actuator", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) {
  actuator_thing *thing = out;
  thing->def = as_default_actuator_def();
  thing->coordinate = -1;
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  actuator_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  as_status status = AS_OK;
  if (thing->def.joint.index != ASI_NONE)
    status = asi_choose_coordinate(r, thing->def.joint, thing->coordinate, &thing->def.coordinate,
                                   error);
  return status ? status : as_builder_add_actuator(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_actuator_kind = {"actuator",
                                    0,
                                    &table,
                                    sizeof(actuator_thing),
                                    prepare,
                                    add,
                                    true,
                                    .text =
                                        "a force by formula between two points or along or about a "
                                        "joint's coordinate"};
