/// Rotations in files: `rotation: {axis: [0, 0, 1], angle_deg: 30}`.
#include <math.h>

#include "base/error.h"
#include "file/reader.h"

#define AT(field) offsetof(asi_turn, field)
static const asi_key keys[] = {
    {"axis", ASI_KEY_VECTOR, AT(axis), .required = true, .least = 3, .most = 3,
     .mirror = ASI_MIRROR_TURN, .text = "axis of the rotation, of any length"},
    {"angle", ASI_KEY_NUMBER, AT(angle), .required = true, .unit = "rad", .text = "angle"},
    {"angle_deg", ASI_KEY_NUMBER, AT(angle_deg), .unit = "degrees", .instead_of = "angle",
     .text = "angle in degrees"},
};
#undef AT

const asi_table asi_turn_table = {"rotation", NULL, keys, ASI_COUNT(keys)};

asi_turn asi_default_turn(void) {
  return (asi_turn){.angle = (double)NAN, .angle_deg = (double)NAN};
}

as_status asi_turn_apply(const asi_turn *turn, double quaternion[4], as_error *error) {
  const double degree = 3.14159265358979323846 / 180.0;
  const double angle = isnan(turn->angle_deg) ? turn->angle : turn->angle_deg * degree;
  if (isnan(angle)) return AS_OK; // not given
  const double length = hypot(hypot(turn->axis[0], turn->axis[1]), turn->axis[2]);
  if (!(length > 0.0 && isfinite(length)))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "rotation",
                    "The axis of the rotation has the length %g.", length);
  quaternion[0] = cos(angle / 2.0);
  for (int k = 0; k < 3; ++k) quaternion[1 + k] = sin(angle / 2.0) * (turn->axis[k] / length);
  return AS_OK;
}
