/// Bodies and frames in files.
#include <math.h>

#include "file/kinds.h"

// ---- bodies -----------------------------------------------------------------------------------------

typedef struct body_thing {
  as_body_def def;
  int space;
  asi_turn turn;
  int first_shape; ///< -1: it has none
} body_thing;

static const char *const spaces[] = {"r3xso3", "se3", NULL};

#define AT(field) offsetof(body_thing, field)
static const asi_key body_keys[] = {
    {"type", ASI_KEY_KIND, 0, .text = "kind of body"},
    {"mass", ASI_KEY_NUMBER, AT(def.mass), .required = true, .range = ASI_POSITIVE, .unit = "kg",
     .text = "mass"},
    {"position", ASI_KEY_VECTOR, AT(def.position), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]", .mirror = ASI_MIRROR_ARROW,
     .text = "where the body's frame is in the world at the start: its centre of mass, unless "
             "`center_of_mass` says otherwise"},
    {"velocity", ASI_KEY_VECTOR, AT(def.velocity), .least = 3, .most = 3, .unit = "m/s",
     .otherwise = "[0, 0, 0], or what joints demand", .mirror = ASI_MIRROR_ARROW,
     .text = "of the centre of mass at the start, world axes"},
    {"fixed", ASI_KEY_BOOLEAN, AT(def.fixed), .otherwise = "false",
     .text = "the body starts exactly as described here, with what is not written at its default; "
             "if a joint then cannot hold, the start fails and names it"},
    {"shapes", ASI_KEY_SHAPES, AT(first_shape), .section = &asi_shapes,
     .text = "what is drawn, in the body's frame"},
};
static const asi_key rigid_keys[] = {
    {"inertia", ASI_KEY_VECTOR, AT(def.inertia), .required = true, .least = 3, .most = 6,
     .unit = "kg m^2", .mirror = ASI_MIRROR_INERTIA,
     .text =
         "about the centre of mass in body axes: xx, yy, zz and, if they are not zero, xy, xz, yz "
         "(entries of the tensor)"},
    {"center_of_mass", ASI_KEY_VECTOR, AT(def.center_of_mass), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]", .mirror = ASI_MIRROR_ARROW, .text = "in the body's frame"},
    {"quaternion", ASI_KEY_VECTOR, AT(def.quaternion), .least = 4, .most = 4,
     .otherwise = "[1, 0, 0, 0]", .mirror = ASI_MIRROR_QUATERNION,
     .text = "body to world at the start: w, x, y, z, of length 1"},
    {"rotation", ASI_KEY_OBJECT, AT(turn), .table = &asi_turn_table, .instead_of = "quaternion",
     .text = "body to world at the start, by axis and angle"},
    {"angular_velocity", ASI_KEY_VECTOR, AT(def.angular_velocity), .least = 3, .most = 3,
     .unit = "rad/s", .otherwise = "[0, 0, 0], or what joints demand", .mirror = ASI_MIRROR_TURN,
     .text = "at the start, body axes"},
    {"space", ASI_KEY_CHOICE, AT(space), .choices = spaces, .otherwise = "r3xso3",
     .text = "the group that the body's motion is computed on"},
};
#undef AT

static const asi_table point_table = {"point mass", NULL, body_keys, ASI_COUNT(body_keys)};
static const asi_table rigid_table = {"rigid body", &point_table, rigid_keys,
                                      ASI_COUNT(rigid_keys)};

static void prepare_body(void *out) {
  body_thing *thing = out;
  as_body_def *def = &thing->def;
  *def = as_default_body_def();
  // Until they are read: what is written counts as given, also where it is zero.
  def->position[0] = def->velocity[0] = def->angular_velocity[0] = def->quaternion[0] = (double)NAN;
  thing->turn = asi_default_turn();
  thing->first_shape = -1;
}

/// A number that was not written gets its default.
static void settle(double *first, double otherwise, unsigned what, unsigned *given) {
  if (isnan(*first))
    *first = otherwise;
  else
    *given |= what;
}

static void note_given(as_body_def *def) {
  settle(def->position, 0.0, AS_GIVEN_POSITION, &def->given);
  settle(def->velocity, 0.0, AS_GIVEN_VELOCITY, &def->given);
  settle(def->angular_velocity, 0.0, AS_GIVEN_ANGULAR_VELOCITY, &def->given);
  settle(def->quaternion, 1.0, AS_GIVEN_QUATERNION, &def->given);
}

static as_status add_body(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  as_body_id id;
  body_thing *thing = read;
  thing->def.name = name;
  thing->def.kind = (as_body_kind)kind->code;
  thing->def.space = thing->space == 1 ? AS_SPACE_SE3 : AS_SPACE_R3SO3;
  as_status status = asi_turn_apply(&thing->turn, thing->def.quaternion, error);
  note_given(&thing->def);
  if (status == AS_OK) status = as_builder_add_body(r->builder, &thing->def, &id, error);
  if (status == AS_OK && thing->first_shape >= 0)
    asi_give_shapes(r, thing->first_shape, id, thing->def.center_of_mass);
  return status;
}

static const asi_kind rigid_kind = {
    "rigid",      AS_BODY_RIGID, &rigid_table,          sizeof(body_thing),
    prepare_body, add_body,      .text = "a rigid body"};
static const asi_kind point_kind = {"point",
                                    AS_BODY_POINT,
                                    &point_table,
                                    sizeof(body_thing),
                                    prepare_body,
                                    add_body,
                                    .text = "a point mass: three translations, nothing to turn"};
static const asi_kind *const body_kinds[] = {&rigid_kind, &point_kind, &asi_node_kind};
const asi_section asi_bodies = {"body", ASI_SORT_BODY, body_kinds, ASI_COUNT(body_kinds), true};

// ---- frames -----------------------------------------------------------------------------------------

typedef struct frame_thing {
  as_frame_def def;
  asi_turn turn;
} frame_thing;

static const char *const axes[] = {"x", "y", "z", NULL};

#define AT(field) offsetof(frame_thing, field)
static const asi_key frame_keys[] = {
    {"body", ASI_KEY_NAME, AT(def.body), .sort = ASI_SORT_BODY, .required = true,
     .text = "the body that it is fixed to; may be `ground`"},
    {"in_world", ASI_KEY_BOOLEAN, AT(def.in_world), .otherwise = "false",
     .text = "position and rotation are given in the world at the bodies' start, not in the body's "
             "frame"},
    {"position", ASI_KEY_VECTOR, AT(def.position), .least = 3, .most = 3, .unit = "m",
     .otherwise = "[0, 0, 0]", .mirror = ASI_MIRROR_ARROW, .text = "of its origin"},
    {"quaternion", ASI_KEY_VECTOR, AT(def.quaternion), .least = 4, .most = 4,
     .otherwise = "[1, 0, 0, 0]", .mirror = ASI_MIRROR_QUATERNION,
     .text = "frame to body (or world): w, x, y, z, of length 1"},
    {"rotation", ASI_KEY_OBJECT, AT(turn), .table = &asi_turn_table, .instead_of = "quaternion",
     .text = "the same, by axis and angle"},
    {"shift_x", ASI_KEY_CURVE, AT(def.shift[0]), .unit = "m",
     .text = "prescribed motion against the body along its x axis at rest, a function of time"},
    {"shift_y", ASI_KEY_CURVE, AT(def.shift[1]), .unit = "m", .text = "likewise along y"},
    {"shift_z", ASI_KEY_CURVE, AT(def.shift[2]), .unit = "m", .text = "likewise along z"},
    {"turn", ASI_KEY_CURVE, AT(def.turn), .unit = "rad",
     .text = "prescribed turn about `turn_axis`, after the shifts, a function of time"},
    {"turn_axis", ASI_KEY_CHOICE, AT(def.turn_axis), .choices = axes, .with = "turn",
     .otherwise = "z", .text = "axis of the frame that it turns about"},
};
#undef AT

static const asi_table frame_table = {"frame", NULL, frame_keys, ASI_COUNT(frame_keys)};

static void prepare_frame(void *out) {
  frame_thing *thing = out;
  thing->def = as_default_frame_def();
  thing->turn = asi_default_turn();
}

static as_status add_frame(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                           as_error *error) {
  frame_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  asi_mirror_frame(r, &thing->def);
  const as_status status = asi_turn_apply(&thing->turn, thing->def.quaternion, error);
  return status ? status : as_builder_add_frame(r->builder, &thing->def, NULL, error);
}

static const asi_kind frame_kind = {
    NULL,
    0,
    &frame_table,
    sizeof(frame_thing),
    prepare_frame,
    add_frame,
    .text = "a frame fixed to a body (a marker), or moved against it in a given way"};
static const asi_kind *const frame_kinds[] = {&frame_kind};
const asi_section asi_frames = {"frame", ASI_SORT_FRAME, frame_kinds, 1, true};
