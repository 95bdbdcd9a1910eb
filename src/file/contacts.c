/// Bushings, stops and contacts in files.
#include <math.h>

#include "base/error.h"
#include "file/kinds.h"

// ---- what stops and contacts push with --------------------------------------------------------------

#define AT(field) offsetof(as_penalty, field)
static const asi_key penalty_keys[] = {
    {"stiffness", ASI_KEY_NUMBER, AT(stiffness), .required = true, .range = ASI_POSITIVE,
     .unit = "N/m^p, N m/rad^p", .text = "k of the elastic force k x^p at the depth x"},
    {"exponent", ASI_KEY_NUMBER, AT(exponent), .range = ASI_POSITIVE, .otherwise = "1.5",
     .text = "p, at least 1"},
    {"damping", ASI_KEY_NUMBER, AT(damping), .range = ASI_NOT_NEGATIVE, .unit = "s/m, s/rad",
     .otherwise = "0",
     .text = "c: while the depth grows the elastic force is multiplied by 1 + c x'"},
    {"onset", ASI_KEY_NUMBER, AT(onset), .range = ASI_NOT_NEGATIVE, .unit = "m, rad",
     .otherwise = "0", .text = "depth over which the stiffness comes up smoothly"},
    {"curve", ASI_KEY_CURVE, AT(curve), .unit = "N, N m", .instead_of = "stiffness",
     .text = "elastic force, a function of the `depth`, zero at zero"},
    {"surface", ASI_KEY_SURFACE, AT(surface), .unit = "N, N m", .instead_of = "stiffness",
     .text = "all of the force, a function of `depth` and `depth_rate`; where it is negative it "
             "counts as zero"},
};
#undef AT
static const asi_table penalty_table = {"contact law", NULL, penalty_keys, ASI_COUNT(penalty_keys)};

// ---- stops ------------------------------------------------------------------------------------------

typedef struct stop_thing {
  as_stop_def def;
  int coordinate;
  double degrees[2];
} stop_thing;

#define AT(field) offsetof(stop_thing, field)
static const asi_key stop_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`stop`"},
    {"joint", ASI_KEY_NAME, AT(def.joint), .required = true, .sort = ASI_SORT_JOINT,
     .text = "the joint that is stopped"},
    {"coordinate", ASI_KEY_CHOICE, AT(coordinate), .choices = asi_coordinate_names,
     .otherwise = "its only one", .text = "which of its coordinates"},
    {"lower", ASI_KEY_NUMBER, AT(def.lower), .unit = "m or rad", .otherwise = "none",
     .text = "lower limit"},
    {"lower_deg", ASI_KEY_NUMBER, AT(degrees[0]), .unit = "degrees", .instead_of = "lower",
     .text = "the same of an angle, in degrees"},
    {"upper", ASI_KEY_NUMBER, AT(def.upper), .unit = "m or rad", .otherwise = "none",
     .text = "upper limit"},
    {"upper_deg", ASI_KEY_NUMBER, AT(degrees[1]), .unit = "degrees", .instead_of = "upper",
     .text = "the same of an angle, in degrees"},
    {"law", ASI_KEY_OBJECT, AT(def.law), .required = true, .table = &penalty_table,
     .text = "what it pushes back with"},
};
#undef AT
static const asi_table stop_table = {"stop", NULL, stop_keys, ASI_COUNT(stop_keys)};

static void prepare_stop(void *out) {
  stop_thing *thing = out;
  thing->def = as_default_stop_def();
  thing->coordinate = -1;
  thing->degrees[0] = thing->degrees[1] = (double)NAN;
}

static as_status add_stop(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                          as_error *error) {
  stop_thing *thing = read;
  const double degree = 3.14159265358979323846 / 180.0;
  (void)kind;
  thing->def.name = name;
  if (!isnan(thing->degrees[0])) thing->def.lower = thing->degrees[0] * degree;
  if (!isnan(thing->degrees[1])) thing->def.upper = thing->degrees[1] * degree;
  const as_status status =
      asi_choose_coordinate(r, thing->def.joint, thing->coordinate, &thing->def.coordinate, error);
  return status ? status : as_builder_add_stop(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_stop_kind = {
    "stop",       0,
    &stop_table,  sizeof(stop_thing),
    prepare_stop, add_stop,
    false,        "stops of a coordinate of a joint beyond one or two limits"};

// ---- contacts ---------------------------------------------------------------------------------------

#define AT(field) offsetof(as_contact_def, field)
static const asi_key contact_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`contact`"},
    {"bodies", ASI_KEY_NAMES, AT(body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "body of the plane, which may be `ground`, and body of the sphere"},
    {"frames", ASI_KEY_NAMES, AT(frame), .most = 2, .sort = ASI_SORT_FRAME, .instead_of = "bodies",
     .text = "z of the first is the outward normal of the plane; the second is at the centre"},
    {"point", ASI_KEY_VECTOR, AT(point), .required = true, .least = 3, .most = 3, .with = "bodies",
     .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "a point of the plane, in the world at the start"},
    {"normal", ASI_KEY_VECTOR, AT(normal), .required = true, .least = 3, .most = 3,
     .with = "bodies", .mirror = ASI_MIRROR_ARROW, .text = "out of the plane"},
    {"center", ASI_KEY_VECTOR, AT(center), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW, .text = "of the sphere"},
    {"radius", ASI_KEY_NUMBER, AT(radius), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "0: a point", .text = "of the sphere"},
    {"law", ASI_KEY_OBJECT, AT(law), .required = true, .table = &penalty_table,
     .text = "what it pushes back with"},
    {"friction", ASI_KEY_CURVE, AT(friction_law), .range = ASI_NOT_NEGATIVE, .otherwise = "0",
     .text = "coefficient of friction, perhaps a function of the slip `speed` [m/s]"},
    {"slip_speed", ASI_KEY_NUMBER, AT(slip_speed), .required = true, .range = ASI_POSITIVE,
     .with = "friction", .unit = "m/s", .text = "slip at which friction is 0.7 of its full size"},
};
#undef AT
static const asi_table contact_table = {"contact", NULL, contact_keys, ASI_COUNT(contact_keys)};

static void prepare_contact(void *out) { *(as_contact_def *)out = as_default_contact_def(); }

static as_status add_contact(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                             as_error *error) {
  as_contact_def *def = read;
  (void)kind;
  def->name = name;
  return as_builder_add_contact(r->builder, def, NULL, error);
}

const asi_kind asi_contact_kind = {
    "contact",       0,
    &contact_table,  sizeof(as_contact_def),
    prepare_contact, add_contact,
    false,           "a sphere or a point against a plane, with friction"};

// ---- bushings ---------------------------------------------------------------------------------------

#define AT(i) ((i) * sizeof(const as_surface *))
#define ALONG "force, a function of `displacement` [m] and `displacement_rate` [m/s]"
#define ABOUT "torque, a function of `angle` [rad] and `angle_rate` [rad/s]"
static const asi_key law_keys[] = {
    {"x", ASI_KEY_SURFACE, AT(0), .unit = "N", .otherwise = "0", .text = ALONG " along x"},
    {"y", ASI_KEY_SURFACE, AT(1), .unit = "N", .otherwise = "0", .text = ALONG " along y"},
    {"z", ASI_KEY_SURFACE, AT(2), .unit = "N", .otherwise = "0", .text = ALONG " along z"},
    {"about_x", ASI_KEY_SURFACE, AT(3), .unit = "N m", .otherwise = "0", .text = ABOUT " about x"},
    {"about_y", ASI_KEY_SURFACE, AT(4), .unit = "N m", .otherwise = "0", .text = ABOUT " about y"},
    {"about_z", ASI_KEY_SURFACE, AT(5), .unit = "N m", .otherwise = "0", .text = ABOUT " about z"},
};
#undef AT
#undef ALONG
#undef ABOUT
static const asi_table law_table = {"bushing law", NULL, law_keys, ASI_COUNT(law_keys)};

typedef struct bushing_thing {
  as_bushing_def def;
  asi_rows stiffness, damping;
} bushing_thing;

#define AT(field) offsetof(bushing_thing, field)
static const asi_key bushing_keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`bushing`"},
    {"bodies", ASI_KEY_NAMES, AT(def.body), .required = true, .most = 2, .sort = ASI_SORT_BODY,
     .text = "first and second body; either may be `ground`"},
    {"frames", ASI_KEY_NAMES, AT(def.frame), .most = 2, .sort = ASI_SORT_FRAME,
     .instead_of = "bodies",
     .text = "frames on the first and the second body; unloaded where they coincide"},
    {"point", ASI_KEY_VECTOR, AT(def.point), .required = true, .least = 3, .most = 3,
     .with = "bodies", .unit = "m", .mirror = ASI_MIRROR_ARROW,
     .text = "where it is, in the world at the start; unloaded there"},
    {"axis", ASI_KEY_VECTOR, AT(def.axis), .least = 3, .most = 3, .with = "bodies",
     .otherwise = "that of the world", .mirror = ASI_MIRROR_ARROW, .text = "z of both frames"},
    {"second_axis", ASI_KEY_VECTOR, AT(def.second_axis), .least = 3, .most = 3, .with = "bodies",
     .otherwise = "any", .mirror = ASI_MIRROR_ARROW, .text = "x of both frames"},
    {"stiffness", ASI_KEY_VECTOR, AT(def.stiffness), .range = ASI_NOT_NEGATIVE, .least = 6,
     .most = 6, .unit = "N/m, N m/rad", .otherwise = "0",
     .text = "along x, y, z and about x, y, z"},
    {"stiffness_matrix", ASI_KEY_ROWS, AT(stiffness), .least = 6, .most = 6,
     .unit = "N/m, N, N m/rad", .instead_of = "stiffness", .mirror = ASI_MIRROR_REFUSED,
     .text = "six rows, symmetric, without negative eigenvalues"},
    {"damping", ASI_KEY_VECTOR, AT(def.damping), .range = ASI_NOT_NEGATIVE, .least = 6, .most = 6,
     .unit = "N s/m, N m s/rad", .otherwise = "0", .text = "along x, y, z and about x, y, z"},
    {"damping_matrix", ASI_KEY_ROWS, AT(damping), .least = 6, .most = 6,
     .unit = "N s/m, N s, N m s/rad", .instead_of = "damping", .mirror = ASI_MIRROR_REFUSED,
     .text = "likewise"},
    {"law", ASI_KEY_OBJECT, AT(def.law), .table = &law_table, .mirror = ASI_MIRROR_REFUSED,
     .text = "forces and torques besides, each by a law of its own"},
};
#undef AT
static const asi_table bushing_table = {"bushing", NULL, bushing_keys, ASI_COUNT(bushing_keys)};

static void prepare_bushing(void *out) { ((bushing_thing *)out)->def = as_default_bushing_def(); }

static as_status add_bushing(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                             as_error *error) {
  bushing_thing *thing = read;
  (void)kind;
  thing->def.name = name;
  if (thing->stiffness.n > 6 || thing->damping.n > 6)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "A matrix of bushing \"%s\" has more than six rows.", name);
  thing->def.stiffness_matrix = thing->stiffness.number;
  thing->def.damping_matrix = thing->damping.number;
  return as_builder_add_bushing(r->builder, &thing->def, NULL, error);
}

const asi_kind asi_bushing_kind = {
    "bushing",
    0,
    &bushing_table,
    sizeof(bushing_thing),
    prepare_bushing,
    add_bushing,
    false,
    "stiffness and damping in six directions between two frames that coincide when it is unloaded"};
