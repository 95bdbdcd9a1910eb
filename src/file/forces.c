/// Springs, torsional springs and loads in files.
#include <math.h>
#include <string.h>

#include "elements/vector.h"
#include "file/kinds.h"
#include "file/reader.h"

// ---- springs ----------------------------------------------------------------------------------------

typedef struct spring_thing {
  as_spring_def def;
} spring_thing;

#define AT(field) offsetof(spring_thing, field)
static const asi_key spring_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of force"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "first and second body; either may be `ground`"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "bodies", .text = "frames on the first and the second body"},
    {"point", ASI_KEY_VECTOR, AT(def.point[0]), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "its end on the first body, in the world at the start"},
    {"second_point", ASI_KEY_VECTOR, AT(def.point[1]), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "its end on the second body"},
    {"length", ASI_KEY_NUMBER, AT(def.length), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "as at the start", .text = "unstretched length"},
    {"stiffness", ASI_KEY_NUMBER, AT(def.stiffness), .range = ASI_NOT_NEGATIVE, .unit = "N/m",
     .otherwise = "0", .text = "stiffness"},
    {"damping", ASI_KEY_NUMBER, AT(def.damping), .range = ASI_NOT_NEGATIVE, .unit = "N s/m",
     .otherwise = "0", .text = "viscous damping"},
    {"spring", ASI_KEY_CURVE, AT(def.spring), .unit = "N",
     .text = "characteristic besides the stiffness, a function of the `deflection` [m]"},
    {"damper", ASI_KEY_CURVE, AT(def.damper), .unit = "N",
     .text = "characteristic besides the damping, a function of the `length_rate` [m/s]"},
    {"law", ASI_KEY_SURFACE, AT(def.law), .unit = "N",
     .text = "characteristic besides all these, a function of the `deflection` [m] and of the "
             "`length_rate` [m/s]; in a formula also of the `length` [m]"},
};
#undef AT
static const asi_table spring_table = {"spring", NULL, spring_keys, ASI_COUNT(spring_keys)};

static void prepare_spring(void *out) { ((spring_thing *)out)->def = as_default_spring_def(); }

static as_status add_spring(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                            as_error *error) {
  spring_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  return as_builder_add_spring(r->builder, &thing->def, NULL, error);
}

// ---- torsional springs ------------------------------------------------------------------------------

typedef struct torsion_thing {
  as_torsion_def def;
  double angle_deg;
} torsion_thing;

#define AT(field) offsetof(torsion_thing, field)
static const asi_key torsion_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of force"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "first and second body; either may be `ground`"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "bodies", .text = "frames on the first and the second body"},
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_TURN,
     .text = "z of both frames, in the world at the start"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .mirror = ASI_MIRROR_ARROW, .text = "x of both frames; without it any"},
    {"angle", ASI_KEY_NUMBER, AT(def.angle), .unit = "rad", .otherwise = "as at the start",
     .text = "angle of the second frame against the first at rest"},
    {"angle_deg", ASI_KEY_NUMBER, AT(angle_deg), .unit = "degrees", .instead_of = "angle",
     .text = "the same in degrees"},
    {"stiffness", ASI_KEY_NUMBER, AT(def.stiffness), .range = ASI_NOT_NEGATIVE, .unit = "N m/rad",
     .otherwise = "0", .text = "stiffness"},
    {"damping", ASI_KEY_NUMBER, AT(def.damping), .range = ASI_NOT_NEGATIVE, .unit = "N m s/rad",
     .otherwise = "0", .text = "viscous damping"},
    {"spring", ASI_KEY_CURVE, AT(def.spring), .unit = "N m",
     .text = "characteristic besides the stiffness, a function of the `deflection` [rad]"},
    {"damper", ASI_KEY_CURVE, AT(def.damper), .unit = "N m",
     .text = "characteristic besides the damping, a function of the `angle_rate` [rad/s]"},
    {"law", ASI_KEY_SURFACE, AT(def.law), .unit = "N m",
     .text = "characteristic besides all these, a function of the `deflection` [rad] and of the "
             "`angle_rate` [rad/s]; in a formula also of the `angle` [rad]"},
};
#undef AT
static const asi_table torsion_table = {"torsional spring", NULL, torsion_keys,
                                        ASI_COUNT(torsion_keys)};

static void prepare_torsion(void *out) {
  torsion_thing *thing = out;
  thing->def = as_default_torsion_def();
  thing->angle_deg = (double)NAN;
}

static as_status add_torsion(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                             as_error *error) {
  torsion_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  if (!isnan(thing->angle_deg))
    thing->def.angle = thing->angle_deg * (3.14159265358979323846 / 180.0);
  return as_builder_add_torsion(r->builder, &thing->def, NULL, error);
}

// ---- loads ------------------------------------------------------------------------------------------

typedef struct load_thing {
  as_load_def def;
  const char *force[3], *torque[3]; ///< NULL: not given
} load_thing;

#define AT(field) offsetof(load_thing, field)
static const asi_key load_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of force"},
    {"body", ASI_KEY_NAME, AT(def.body), .required = true, .sort = ASI_SORT_BODY,
     .text = "the body that it acts on"},
    {"frame", ASI_KEY_NAME, AT(def.frame), .sort = ASI_SORT_FRAME, .instead_of = "body",
     .text = "a frame that it acts at"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .least = 3, .most = 3, .with = "body", .unit = "m",
     .otherwise = "the centre of mass", .mirror = ASI_MIRROR_ARROW,
     .text = "where the force acts, in the world at the start"},
    {"force", ASI_KEY_FORMULAS, AT(force), .most = 3, .unit = "N", .otherwise = "[0, 0, 0]",
     .mirror = ASI_MIRROR_ARROW,
     .text = "force; each component may depend on t, parameters, tables and quantities of the "
             "machine"},
    {"torque", ASI_KEY_FORMULAS, AT(torque), .most = 3, .unit = "N m", .otherwise = "[0, 0, 0]",
     .mirror = ASI_MIRROR_TURN, .text = "torque, likewise"},
    {"follows", ASI_KEY_BOOLEAN, AT(def.follows), .otherwise = "false",
     .text = "force and torque turn with the body: they are in the axes of `frame`, or with `body` "
             "in the axes that the world has at the start"},
    {"reaction", ASI_KEY_NAME, AT(def.reaction), .sort = ASI_SORT_BODY, .otherwise = "nobody",
     .text = "the body that the torque acts back on"},
    {"factor", ASI_KEY_CURVE, AT(def.factor), .otherwise = "1",
     .text = "a function of time that force and torque are multiplied by"},
};
#undef AT
static const asi_table load_table = {"load", NULL, load_keys, ASI_COUNT(load_keys)};

static void prepare_load(void *out) {
  load_thing *thing = out;
  thing->def = as_default_load_def();
  thing->def.point[0] = (double)NAN; // not given
}

/// A component that does not change is a number.
static void take_component(asi_reader *r, const char *text, double *number, const char **formula) {
  asi_parse_error slip;
  if (text == NULL || asi_read_plain(text, number)) return;
  if (asi_evaluate(r, text, strlen(text), number, &slip)) return;
  *formula = text;
  *number = 0.0;
}

static as_status add_load(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  load_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  if (isnan(thing->def.point[0]))
    asi_copy(asi_builder_pose(r->builder, thing->def.body.index)->x, thing->def.point);
  for (int i = 0; i < 3; ++i) {
    take_component(r, thing->force[i], &thing->def.force[i], &thing->def.force_formula[i]);
    take_component(r, thing->torque[i], &thing->def.torque[i], &thing->def.torque_formula[i]);
  }
  return as_builder_add_load(r->builder, &thing->def, NULL, error);
}

// ---- all of them ------------------------------------------------------------------------------------

static const asi_kind
    spring_kind = {"spring",
                   0,
                   &spring_table,
                   sizeof(spring_thing),
                   prepare_spring,
                   add_spring,
                   .text = "a spring and damper between two points: tension = stiffness (l - "
                           "length) + damping l' + "
                           "spring(l - length) + damper(l') + law(l - length, l')"},
    torsion_kind =
        {"torsion",
         0,
         &torsion_table,
         sizeof(torsion_thing),
         prepare_torsion,
         add_torsion,
         .text =
             "a torsional spring and damper about an axis of two bodies, within half a turn of its "
             "angle at rest"},
    load_kind = {"load",       0,
                 &load_table,  sizeof(load_thing),
                 prepare_load, add_load,
                 .late = true, .text = "a force and a torque on a body, times a function of time"};
static const asi_kind *const kinds[] = {&spring_kind,
                                        &torsion_kind,
                                        &load_kind,
                                        &asi_actuator_kind,
                                        &asi_joint_friction_kind,
                                        &asi_bushing_kind,
                                        &asi_stop_kind,
                                        &asi_contact_kind,
                                        &asi_drag_kind,
                                        &asi_tyre_kind,
                                        &asi_plugin_force_kind};
const asi_section asi_forces = {"force", ASI_SORT_FORCE, kinds, ASI_COUNT(kinds), false};
