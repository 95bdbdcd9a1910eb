/// Rolling and skating in files.
#include "file/kinds.h"

typedef struct rolling_thing {
  as_rolling_def def;
  int shape;
} rolling_thing;

static const char *const shapes[] = {
    [AS_ROLLING_DISK] = "disk", [AS_ROLLING_SPHERE] = "sphere", NULL};

#define AT(field) offsetof(rolling_thing, field)
static const asi_key rolling_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`rolling`"},
    {"shape", ASI_KEY_CHOICE, AT(shape), .required = true, .choices = shapes,
     .text = "what rolls: a thin disk, on its rim, or a sphere"},
    {"radius", ASI_KEY_NUMBER, AT(def.radius), .required = true, .range = ASI_POSITIVE, .unit = "m",
     .text = "of what rolls"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "body of the plane, which may be `ground`, and body that rolls"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "bodies",
     .text = "z of the first is the normal of the plane; the second is at the centre, its z is the "
             "axis of a disk"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "a point of the plane, in the world at the start"},
    {"normal", ASI_KEY_VECTOR, AT(def.normal), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_ARROW,
     .text = "of the plane, to the side on which it rolls"},
    {"direction", ASI_KEY_VECTOR, AT(def.direction), .least = 3, .most = 3, .with = "bodies",
     .otherwise = "any", .mirror = ASI_MIRROR_ARROW,
     .text = "x of the frame of the plane, along which the first row of slipping is"},
    {"center", ASI_KEY_VECTOR, AT(def.center), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW, .text = "of what rolls"},
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .least = 3, .most = 3, .with = "bodies",
     .mirror = ASI_MIRROR_TURN, .text = "of a disk"},
};
#undef AT
static const asi_table rolling_table = {"rolling", &asi_any_joint_table, rolling_keys,
                                        ASI_COUNT(rolling_keys)};

static void prepare_rolling(void *out) { ((rolling_thing *)out)->def = as_default_rolling_def(); }

static as_status add_rolling(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                             as_error *error) {
  rolling_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  thing->def.shape = (as_rolling_shape)thing->shape;
  return as_builder_add_rolling(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_rolling_kind = {
    "rolling",
    0,
    &rolling_table,
    sizeof(rolling_thing),
    prepare_rolling,
    add_rolling,
    false,
    "a disk or a sphere of the second body rolls on a plane of the first without slipping"};

#define AT(field) offsetof(as_skate_def, field)
static const asi_key skate_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`skate`"},
    {"bodies", ASI_KEY_NAMES, AT(body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "body of the plane, which may be `ground`, and body of the blade"},
    {"frames", ASI_KEY_NAMES, AT(frame), .most = 2, .sort = ASI_SORT_FRAME, .instead_of = "bodies",
     .text = "z of the first is the normal of the plane; the second is at the point, its x is "
             "along the blade"},
    {"point", ASI_KEY_VECTOR, AT(point), .required = true, .least = 3, .most = 3, .with = "bodies",
     .unit = "m", .mirror = ASI_MIRROR_ARROW, .text = "of the blade, in the world at the start"},
    {"normal", ASI_KEY_VECTOR, AT(normal), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_ARROW, .text = "of the plane"},
    {"direction", ASI_KEY_VECTOR, AT(direction), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_ARROW, .text = "of the blade"},
};
#undef AT
static const asi_table skate_table = {"skate", &asi_any_joint_table, skate_keys,
                                      ASI_COUNT(skate_keys)};

static void prepare_skate(void *out) { *(as_skate_def *)out = as_default_skate_def(); }

static as_status add_skate(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  as_skate_def *def = read;
  (void)kind;
  def->name = name;
  return as_builder_add_skate(r->builder, def, NULL, error);
}

const asi_kind asi_skate_kind = {
    "skate",
    0,
    &skate_table,
    sizeof(as_skate_def),
    prepare_skate,
    add_skate,
    false,
    "a point of the second body moves over a plane of the first along its blade, not sideways"};
