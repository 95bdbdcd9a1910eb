/// Drag in files.
#include <math.h>

#include "alphastep/drag.h"
#include "file/kinds.h"

typedef struct drag_thing {
  as_drag_def def;
  double area; ///< NAN: not given
} drag_thing;

#define AT(field) offsetof(drag_thing, field)
static const asi_key keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`drag`"},
    {"body", ASI_KEY_NAME, AT(def.body), .required = true, .sort = ASI_SORT_BODY,
     .text = "the body that it acts on"},
    {"frame", ASI_KEY_NAME, AT(def.frame), .sort = ASI_SORT_FRAME, .instead_of = "body",
     .text = "a frame on a body: where it acts, and the axes of `areas`"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .least = 3, .most = 3, .with = "body", .unit = "m",
     .otherwise = "the centre of mass", .mirror = ASI_MIRROR_ARROW,
     .text = "where it acts, in the world at the start"},
    {"area", ASI_KEY_NUMBER, AT(area), .range = ASI_NOT_NEGATIVE, .unit = "m^2", .otherwise = "0",
     .text = "drag coefficient times area, the same in all directions"},
    {"areas", ASI_KEY_VECTOR, AT(def.area), .range = ASI_NOT_NEGATIVE, .least = 3, .most = 3,
     .unit = "m^2", .instead_of = "area",
     .text = "the same along x, y and z of `frame`, with `body` of the world at the start"},
    {"viscous", ASI_KEY_NUMBER, AT(def.viscous), .range = ASI_NOT_NEGATIVE, .unit = "N s/m",
     .otherwise = "0", .text = "drag in proportion to the velocity, besides"},
    {"density", ASI_KEY_NUMBER, AT(def.density), .range = ASI_NOT_NEGATIVE, .unit = "kg/m^3",
     .otherwise = "1.225", .text = "of the fluid; without it that of air at sea level"},
    {"wind", ASI_KEY_VECTOR, AT(def.wind), .least = 3, .most = 3, .unit = "m/s",
     .otherwise = "[0, 0, 0]", .mirror = ASI_MIRROR_ARROW,
     .text = "velocity of the fluid, in the world"},
};
#undef AT
static const asi_table table = {"drag", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) {
  drag_thing *thing = out;
  thing->def = as_default_drag_def();
  thing->area = (double)NAN;
}

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  drag_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  for (int i = 0; i < 3 && !isnan(thing->area); ++i) thing->def.area[i] = thing->area;
  return as_builder_add_drag(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_drag_kind = {
    "drag",  0,   &table, sizeof(drag_thing),
    prepare, add, false,  "the force of air or water against a body that moves in it"};
