/// Friction in joints, in files.
#include "file/kinds.h"

#define AT(field) offsetof(as_joint_friction_def, field)
static const asi_key keys[] = {
    {"type", ASI_KEY_KIND, 0, .required = true, .text = "`joint_friction`"},
    {"joint", ASI_KEY_NAME, AT(joint), .required = true, .sort = ASI_SORT_JOINT,
     .text = "the joint that rubs"},
    {"coefficient", ASI_KEY_CURVE, AT(coefficient_law), .range = ASI_NOT_NEGATIVE, .otherwise = "0",
     .text = "of dry friction, perhaps a function of the sliding `speed` [m/s]"},
    {"radius", ASI_KEY_NUMBER, AT(radius), .range = ASI_NOT_NEGATIVE, .unit = "m", .otherwise = "0",
     .text = "of the pin or ball; of a guide half its width, 0: torque about it does not count"},
    {"length", ASI_KEY_NUMBER, AT(length), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "0: bending moments do not count", .text = "of the bearing or guide"},
    {"shoulder_radius", ASI_KEY_NUMBER, AT(shoulder_radius), .range = ASI_NOT_NEGATIVE, .unit = "m",
     .otherwise = "0: axial force does not count",
     .text = "mean radius at which the shoulder of a pin rubs"},
    {"transition_speed", ASI_KEY_NUMBER, AT(transition_speed), .range = ASI_POSITIVE, .unit = "m/s",
     .otherwise = "1e-3", .text = "sliding speed at which friction is 0.7 of its full size"},
    {"small_force", ASI_KEY_NUMBER, AT(small_force), .range = ASI_POSITIVE, .unit = "N",
     .otherwise = "1e-3", .text = "normal force below which friction fades"},
    {"damping", ASI_KEY_VECTOR, AT(damping), .range = ASI_NOT_NEGATIVE, .least = 1,
     .most = AS_JOINT_COORDINATES, .unit = "N s/m, N m s", .otherwise = "0",
     .text = "viscous, of each coordinate of the joint"},
};
#undef AT
static const asi_table table = {"joint friction", NULL, keys, ASI_COUNT(keys)};

static void prepare(void *out) { *(as_joint_friction_def *)out = as_default_joint_friction_def(); }

static as_status add(asi_reader *r, const asi_kind *kind, const char *name, void *read,
                     as_error *error) {
  as_joint_friction_def *def = read;
  (void)kind;
  def->name = name;
  return as_builder_add_joint_friction(r->builder, def, NULL, error);
}

const asi_kind asi_joint_friction_kind = {
    "joint_friction",
    0,
    &table,
    sizeof(as_joint_friction_def),
    prepare,
    add,
    false,
    "friction in a joint: dry, by the reaction of the joint, and viscous"};
