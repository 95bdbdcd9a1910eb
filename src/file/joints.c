/// Joints and motions in files.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "elements/joint.h"
#include "file/kinds.h"
#include "file/reader.h"

// ---- coordinates ------------------------------------------------------------------------------------

/// What a coordinate is called.
enum {
  ANGLE,
  ANGLE_X,
  ANGLE_Y,
  DISPLACEMENT,
  DISPLACEMENT_X,
  DISPLACEMENT_Y,
  ROTATION_X,
  ROTATION_Y,
  ROTATION_Z,
  N_PLAIN = ROTATION_X, ///< those that can be prescribed
};

static int slot_of(asi_coordinate c) {
  switch (c.kind) {
  case ASI_COORDINATE_SHIFT:
    return c.axis == 2 ? DISPLACEMENT : c.axis == 1 ? DISPLACEMENT_Y : DISPLACEMENT_X;
  case ASI_COORDINATE_ANGLE: return ANGLE;
  case ASI_COORDINATE_ANGLE_A: return ANGLE_X;
  case ASI_COORDINATE_ANGLE_B: return ANGLE_Y;
  case ASI_COORDINATE_ROTATION: return ROTATION_X + c.axis;
  case ASI_COORDINATE_DIRECTION:
  case ASI_COORDINATE_HEADING: break;
  }
  return ANGLE;
}

const char *as_joint_coordinate_name(as_joint_kind kind, int coordinate) {
  return asi_joint_coordinate_name(kind, coordinate);
}

const char *const asi_coordinate_names[] = {
    "angle", "angle_x", "angle_y", "displacement", "displacement_x", "displacement_y", NULL};

as_status asi_choose_coordinate(const asi_reader *r, as_joint_id joint, int name, int *out,
                                as_error *error) {
  asi_coordinate all[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(r->builder->joint[joint.index].kind, all);
  int matches = 0;
  for (int i = 0; i < n; ++i)
    if (name < 0 ? slot_of(all[i]) < N_PLAIN : slot_of(all[i]) == name) {
      *out = i;
      ++matches;
    }
  if (matches == 1) return AS_OK;
  const char *of = asi_names_get(&r->builder->names[ASI_SORT_JOINT], joint.index);
  if (name >= 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, of, "The joint \"%s\" has no %s.", of,
                    asi_coordinate_names[name]);
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, of,
                  matches == 0 ? "The joint \"%s\" has no coordinate that could be meant."
                               : "The joint \"%s\" has several coordinates: say which.",
                  of);
}

// ---- starting values --------------------------------------------------------------------------------

/// NAN: not given.
typedef struct start_thing {
  double value[N_PLAIN], degrees[N_PLAIN], rate[N_PLAIN];
} start_thing;

static void clear_start(start_thing *s) {
  for (int i = 0; i < N_PLAIN; ++i) s->value[i] = s->degrees[i] = s->rate[i] = (double)NAN;
}

#define AT(field) offsetof(start_thing, field)
static const asi_key angle_keys[] = {
    {"angle", ASI_KEY_NUMBER, AT(value[ANGLE]), .unit = "rad", .text = "angle about the axis"},
    {"angle_deg", ASI_KEY_NUMBER, AT(degrees[ANGLE]), .unit = "degrees", .instead_of = "angle",
     .text = "the same in degrees"},
    {"angle_rate", ASI_KEY_NUMBER, AT(rate[ANGLE]), .unit = "rad/s", .text = "its rate"},
};
static const asi_key sliding_keys[] = {
    {"displacement", ASI_KEY_NUMBER, AT(value[DISPLACEMENT]), .unit = "m",
     .text = "displacement along the axis"},
    {"displacement_rate", ASI_KEY_NUMBER, AT(rate[DISPLACEMENT]), .unit = "m/s",
     .text = "its rate"},
};
static const asi_key plane_keys[] = {
    {"displacement_x", ASI_KEY_NUMBER, AT(value[DISPLACEMENT_X]), .unit = "m",
     .text = "displacement along x of the first frame"},
    {"displacement_x_rate", ASI_KEY_NUMBER, AT(rate[DISPLACEMENT_X]), .unit = "m/s",
     .text = "its rate"},
    {"displacement_y", ASI_KEY_NUMBER, AT(value[DISPLACEMENT_Y]), .unit = "m",
     .text = "displacement along y of the first frame"},
    {"displacement_y_rate", ASI_KEY_NUMBER, AT(rate[DISPLACEMENT_Y]), .unit = "m/s",
     .text = "its rate"},
};
static const asi_key cross_keys[] = {
    {"angle_x", ASI_KEY_NUMBER, AT(value[ANGLE_X]), .unit = "rad", .text = "angle about the axis"},
    {"angle_x_deg", ASI_KEY_NUMBER, AT(degrees[ANGLE_X]), .unit = "degrees",
     .instead_of = "angle_x", .text = "the same in degrees"},
    {"angle_x_rate", ASI_KEY_NUMBER, AT(rate[ANGLE_X]), .unit = "rad/s", .text = "its rate"},
    {"angle_y", ASI_KEY_NUMBER, AT(value[ANGLE_Y]), .unit = "rad",
     .text = "angle about the second axis"},
    {"angle_y_deg", ASI_KEY_NUMBER, AT(degrees[ANGLE_Y]), .unit = "degrees",
     .instead_of = "angle_y", .text = "the same in degrees"},
    {"angle_y_rate", ASI_KEY_NUMBER, AT(rate[ANGLE_Y]), .unit = "rad/s", .text = "its rate"},
};
#undef AT

static const asi_table angle_start = {"start of an angle", NULL, angle_keys, ASI_COUNT(angle_keys)},
                       sliding_start = {"start of a displacement", NULL, sliding_keys,
                                        ASI_COUNT(sliding_keys)},
                       cylinder_start = {"start of a cylindrical joint", &angle_start, sliding_keys,
                                         ASI_COUNT(sliding_keys)},
                       plane_start = {"start on a plane", NULL, plane_keys, ASI_COUNT(plane_keys)},
                       planar_start = {"start of a planar joint", &angle_start, plane_keys,
                                       ASI_COUNT(plane_keys)},
                       cross_start = {"start of a universal joint", NULL, cross_keys,
                                      ASI_COUNT(cross_keys)};

static as_status set_start(asi_reader *r, as_joint_id joint, as_joint_kind kind,
                           const start_thing *start, as_error *error) {
  asi_coordinate all[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(kind, all);
  as_status status = AS_OK;
  for (int i = 0; i < n && status == AS_OK; ++i) {
    const int slot = slot_of(all[i]);
    if (slot >= N_PLAIN) continue;
    as_coordinate_def def = as_default_coordinate_def();
    def.joint = joint;
    def.coordinate = i;
    def.value = isnan(start->degrees[slot])
                    ? start->value[slot]
                    : start->degrees[slot] * (3.14159265358979323846 / 180.0);
    def.rate = start->rate[slot];
    if (isnan(def.value) && isnan(def.rate)) continue;
    status = as_builder_set_coordinate(r->builder, &def, error);
  }
  return status;
}

// ---- joints -----------------------------------------------------------------------------------------

typedef struct joint_thing {
  as_joint_def def;
  start_thing start;
} joint_thing;

#define AT(field) offsetof(joint_thing, field)
#define START_TEXT "where its coordinates are to start; the machine is then assembled"
#define X_AXIS "x of both frames, made perpendicular to the axis; without it any"

static const asi_key any_joint_keys[] = {
    {"active", ASI_KEY_ACTIVE, 0, .otherwise = "true",
     .text = "whether it holds at the start; an [event](#events) may activate it later"},
};
const asi_table asi_any_joint_table = {"any joint", NULL, any_joint_keys, 1};

static const asi_key joint_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "kind of joint"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "first and second body; either may be `ground`"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "bodies",
     .text = "frames on the first and the second body, its axis being their z"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "where it is, in the world at the start"},
};
static const asi_key loose_keys[] = {
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .least = 3, .most = 3, .with = "bodies",
     .mirror = ASI_MIRROR_TURN,
     .text = "z of both frames, in the world at the start; without it any"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .mirror = ASI_MIRROR_ARROW, .text = X_AXIS},
};
static const asi_key axis_keys[] = {
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_TURN,
     .text = "z of both frames, in the world at the start, of any length"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .mirror = ASI_MIRROR_ARROW, .text = X_AXIS},
};
/// The same of an axis to slide along.
static const asi_key slide_axis_keys[] = {
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_ARROW,
     .text = "z of both frames, in the world at the start, of any length"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .mirror = ASI_MIRROR_ARROW, .text = X_AXIS},
};
static const asi_key angle_joint_keys[] = {
    {"start", ASI_KEY_OBJECT, AT(start), .table = &angle_start, .text = START_TEXT},
};
static const asi_key sliding_joint_keys[] = {
    {"start", ASI_KEY_OBJECT, AT(start), .table = &sliding_start, .text = START_TEXT},
};
static const asi_key cylinder_joint_keys[] = {
    {"start", ASI_KEY_OBJECT, AT(start), .table = &cylinder_start, .text = START_TEXT},
};
static const asi_key plane_joint_keys[] = {
    {"start", ASI_KEY_OBJECT, AT(start), .table = &plane_start, .text = START_TEXT},
};
static const asi_key planar_joint_keys[] = {
    {"start", ASI_KEY_OBJECT, AT(start), .table = &planar_start, .text = START_TEXT},
};
static const asi_key universal_keys[] = {
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_TURN,
     .text = "x of the first frame, in the world at the start, of any length"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_TURN,
     .text = "y of the second frame, perpendicular to the axis"},
    {"start", ASI_KEY_OBJECT, AT(start), .table = &cross_start, .text = START_TEXT},
};
static const asi_key screw_keys[] = {
    {"lead", ASI_KEY_NUMBER, AT(def.lead), .required = true, .unit = "m",
     .mirror = ASI_MIRROR_NUMBER,
     .text = "how far the second body advances in a turn; negative: left-handed"},
    {"start", ASI_KEY_OBJECT, AT(start), .table = &cylinder_start, .text = START_TEXT},
};
static const asi_key shaft_keys[] = {
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_TURN,
     .text = "direction of the first shaft, in the world at the start, of any length"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .otherwise = "in line", .mirror = ASI_MIRROR_TURN, .text = "direction of the second shaft"},
};
static const asi_key distance_keys[] = {
    {"second_point", ASI_KEY_VECTOR, AT(def.second_point), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "the point on the second body; `point` is on the first"},
    {"length", ASI_KEY_CURVE, AT(def.length), .unit = "m", .otherwise = "as at the start",
     .text = "the distance, a function of time"},
};
#undef AT

static const asi_table
    joint_table = {"joint", &asi_any_joint_table, joint_keys, ASI_COUNT(joint_keys)},
    loose_table = {"fixed or spherical joint", &joint_table, loose_keys, ASI_COUNT(loose_keys)},
    axis_table = {"joint with an axis", &joint_table, axis_keys, ASI_COUNT(axis_keys)},
    angle_table = {"revolute joint", &axis_table, angle_joint_keys, 1},
    slide_axis_table = {"joint along an axis", &joint_table, slide_axis_keys,
                        ASI_COUNT(slide_axis_keys)},
    sliding_table = {"joint that slides", &slide_axis_table, sliding_joint_keys, 1},
    cylinder_table = {"cylindrical joint", &axis_table, cylinder_joint_keys, 1},
    plane_table = {"joint on a plane", &axis_table, plane_joint_keys, 1},
    planar_table = {"planar joint", &axis_table, planar_joint_keys, 1},
    screw_table = {"screw", &axis_table, screw_keys, ASI_COUNT(screw_keys)},
    shaft_table = {"constant-velocity joint", &joint_table, shaft_keys, ASI_COUNT(shaft_keys)},
    universal_table = {"universal joint", &joint_table, universal_keys, ASI_COUNT(universal_keys)},
    distance_table = {"distance joint", &joint_table, distance_keys, ASI_COUNT(distance_keys)};

static void prepare_joint(void *out) {
  joint_thing *thing = out;
  thing->def = as_default_joint_def();
  clear_start(&thing->start);
}

static as_status add_joint(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  joint_thing *thing = read;
  as_joint_id id;
  thing->def.name = name;
  thing->def.kind = (as_joint_kind)kind->code;
  const as_status status = as_builder_add_joint(r->builder, &thing->def, &id, error);
  return status ? status : set_start(r, id, thing->def.kind, &thing->start, error);
}

// ---- motions ----------------------------------------------------------------------------------------

typedef struct motion_thing {
  as_motion_def def;
  int coordinate; ///< its name; -1: the only one
} motion_thing;

#define AT(field) offsetof(motion_thing, field)
static const asi_key motion_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`motion`"},
    {"joint", ASI_KEY_NAME, AT(def.joint), .required = true, .sort = ASI_SORT_JOINT,
     .text = "the joint that it drives"},
    {"coordinate", ASI_KEY_CHOICE, AT(coordinate), .choices = asi_coordinate_names,
     .otherwise = "the joint's only one", .text = "which of the joint's coordinates"},
    {"law", ASI_KEY_CURVE, AT(def.law), .required = true, .unit = "m or rad",
     .text = "the coordinate, a function of time"},
};
#undef AT

static const asi_table motion_table = {"motion", &asi_any_joint_table, motion_keys,
                                       ASI_COUNT(motion_keys)};

static void prepare_motion(void *out) {
  motion_thing *thing = out;
  thing->def = as_default_motion_def();
  thing->coordinate = -1;
}

static as_status add_motion(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                            as_error *error) {
  motion_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  const as_status status =
      asi_choose_coordinate(r, thing->def.joint, thing->coordinate, &thing->def.coordinate, error);
  return status ? status : as_builder_add_motion(r->builder, &thing->def, NULL, error);
}

// ---- all of them ------------------------------------------------------------------------------------

#define JOINT(type, code, table, text)                                                             \
  { type, code, &(table), sizeof(joint_thing), prepare_joint, add_joint, false, text }
static const asi_kind
    fixed_kind = JOINT("fixed", AS_JOINT_FIXED, loose_table, "leaves nothing free"),
    revolute_kind = JOINT("revolute", AS_JOINT_REVOLUTE, angle_table,
                          "a hinge: leaves the angle about the axis"),
    prismatic_kind = JOINT("prismatic", AS_JOINT_PRISMATIC, sliding_table,
                           "a slider: leaves the displacement along the axis"),
    cylindrical_kind = JOINT("cylindrical", AS_JOINT_CYLINDRICAL, cylinder_table,
                             "leaves the displacement along the axis and the angle about it"),
    screw_kind = JOINT("screw", AS_JOINT_SCREW, screw_table,
                       "displacement along the axis and angle about it go together"),
    spherical_kind =
        JOINT("spherical", AS_JOINT_SPHERICAL, loose_table, "a ball joint: leaves all rotations"),
    universal_kind =
        JOINT("universal", AS_JOINT_UNIVERSAL, universal_table,
              "a Cardan joint: leaves the angles about two perpendicular axes, one on each body"),
    constant_velocity_kind =
        JOINT("constant_velocity", AS_JOINT_CONSTANT_VELOCITY, shaft_table,
              "a homokinetic joint: the shafts bend against each other and turn alike"),
    planar_kind =
        JOINT("planar", AS_JOINT_PLANAR, planar_table,
              "leaves displacements in the plane across the axis and the angle about the axis"),
    point_on_line_kind = JOINT("point_on_line", AS_JOINT_POINT_ON_LINE, sliding_table,
                               "a point of the second body stays on a line of the first"),
    point_on_plane_kind =
        JOINT("point_on_plane", AS_JOINT_POINT_ON_PLANE, plane_table,
              "a point of the second body stays in a plane of the first, across the axis"),
    distance_kind = JOINT("distance", AS_JOINT_DISTANCE, distance_table,
                          "a massless rod: keeps the distance of two points"),
    motion_kind = {"motion",
                   AS_JOINT_MOTION,
                   &motion_table,
                   sizeof(motion_thing),
                   prepare_motion,
                   add_motion,
                   true,
                   "makes a displacement or an angle of a joint follow a function of time; its "
                   "reaction is the "
                   "force or torque that drives"};
static const asi_kind *const kinds[] = {
    &fixed_kind,    &revolute_kind,      &prismatic_kind,      &cylindrical_kind,
    &screw_kind,    &spherical_kind,     &universal_kind,      &constant_velocity_kind,
    &planar_kind,   &point_on_line_kind, &point_on_plane_kind, &distance_kind,
    &motion_kind,   &asi_gear_kind,      &asi_rack_kind,       &asi_rolling_kind,
    &asi_skate_kind};
const asi_section asi_joints = {"joint", ASI_SORT_JOINT, kinds, ASI_COUNT(kinds), false};
