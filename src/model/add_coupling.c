/// Adds gears and racks to a builder: couplings of the coordinates of two joints, see elements/coupling.c.
#include <math.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/coupling.h"
#include "model/builder.h"
#include "model/teeth.h"

static as_tooth_def default_tooth(void) {
  const double twenty_degrees = 0.34906585039886591538;
  return (as_tooth_def){.pressure_angle = twenty_degrees,
                        .point = {(double)NAN, (double)NAN, (double)NAN},
                        .small_force = 1e-3};
}

as_gear_def as_default_gear_def(void) {
  return (as_gear_def){.cookie = ASI_COOKIE(as_gear_def),
                       .joint = {AS_NO_JOINT, AS_NO_JOINT},
                       .tooth = default_tooth()};
}

as_rack_def as_default_rack_def(void) {
  return (as_rack_def){.cookie = ASI_COOKIE(as_rack_def),
                       .pinion = AS_NO_JOINT,
                       .rack = AS_NO_JOINT,
                       .radius = (double)NAN,
                       .tooth = default_tooth()};
}

/// What is to be coupled.
typedef struct coupling_def {
  const char *kind; ///< for messages
  const char *given_name, *name;
  as_joint_id joint[2];
  bool angle[2];
  double factor[2], unit;
  double radius; ///< of a rack's pinion
  const as_tooth_def *tooth;
} coupling_def;

static const asi_element *element_of(const as_builder *b, as_joint_id joint) {
  return &b->element[b->joint[joint.index].element];
}

/// Whether a joint has the coordinate.
static bool has_coordinate(as_joint_kind kind, bool angle) {
  asi_coordinate all[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(kind, all);
  for (int i = 0; i < n; ++i)
    if (all[i].kind == (angle ? ASI_COORDINATE_ANGLE : ASI_COORDINATE_SHIFT) && all[i].axis == 2)
      return true;
  return false;
}

static as_status check_joint(const as_builder *b, const coupling_def *def, int s, as_error *error) {
  const as_joint_id id = def->joint[s];
  if (id.index < 0 || id.index >= b->n_joints)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, def->name,
                    "The %s \"%s\" couples joint %d, which is not there.", def->kind, def->name,
                    id.index);
  const asi_joint_info *joint = &b->joint[id.index];
  const char *of = asi_names_get(&b->names[ASI_SORT_JOINT], id.index);
  if (!joint->ours || !has_coordinate(joint->kind, def->angle[s]))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, def->name,
                    "The %s \"%s\" needs %s z of joint \"%s\", which has none.", def->kind,
                    def->name, def->angle[s] ? "an angle about" : "a displacement along", of);
  if (joint->moving)
    return asi_fail(error, AS_ERR_UNSUPPORTED, (double)NAN, def->name,
                    "The %s \"%s\" couples joint \"%s\", which has a frame that moves.", def->kind,
                    def->name, of);
  return AS_OK;
}

/// Which body of each joint is the wheel: the one that the other joint does not have, or the second.
static as_status find_wheels(const as_builder *b, const coupling_def *def, int wheel[2],
                             as_error *error) {
  const int *first = element_of(b, def->joint[0])->body,
            *second = element_of(b, def->joint[1])->body;
  int shared = 0;
  wheel[0] = wheel[1] = 1;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      if (first[i] != second[j]) continue;
      wheel[0] = 1 - i;
      wheel[1] = 1 - j;
      ++shared;
    }
  if (shared < 2) return AS_OK;
  return asi_fail(
      error, AS_ERR_ARGUMENT, (double)NAN, def->name,
      "The %s \"%s\" couples joints \"%s\" and \"%s\", which are between the same bodies.",
      def->kind, def->name, asi_names_get(&b->names[ASI_SORT_JOINT], def->joint[0].index),
      asi_names_get(&b->names[ASI_SORT_JOINT], def->joint[1].index));
}

/// Sets a side; bodies of the element are the wheels, then what carries them.
static void set_side(const as_builder *b, const coupling_def *def, int s, const int wheel[2],
                     asi_coupling_side *side, asi_element *e) {
  const asi_element *of = element_of(b, def->joint[s]);
  asi_joint joint;
  memcpy(&joint, b->data + of->data, sizeof joint);
  memcpy(side->frame, joint.frame, sizeof side->frame);
  const int carrier = of->body[1 - wheel[s]];
  const int place = s == 1 && e->body[2] == carrier ? 2 : 2 + s;
  e->body[s] = of->body[wheel[s]];
  e->body[place] = carrier;
  e->n_bodies = place + 1;
  side->body[wheel[s]] = s;
  side->body[1 - wheel[s]] = place;
  side->of = (asi_coordinate){def->angle[s] ? ASI_COORDINATE_ANGLE : ASI_COORDINATE_SHIFT, 2};
  side->factor = wheel[s] == 1 ? def->factor[s] : -def->factor[s]; // as seen from the carrier
}

static as_status add_coupling(as_builder *b, const coupling_def *def, as_joint_id *id,
                              as_error *error) {
  int wheel[2];
  as_status status = check_joint(b, def, 0, error);
  if (status == AS_OK) status = check_joint(b, def, 1, error);
  if (status == AS_OK) status = find_wheels(b, def, wheel, error);
  if (status) return status;
  asi_coupling data;
  asi_element e = {.type = &asi_coupling_type, .n_rows = 1};
  memset(&data, 0, sizeof data);
  data.unit = def->unit;
  data.n_sides = 2;
  for (int s = 0; s < 2; ++s) {
    set_side(b, def, s, wheel, &data.side[s], &e);
    data.wheel[s] = data.side[s].frame[wheel[s]];
  }
  data.n_bodies = e.n_bodies;
  as_element_input at = {0};
  for (int i = 0; i < e.n_bodies; ++i) at.body[i] = asi_builder_pose(b, e.body[i]);
  data.offset = asi_coupling_sum(&data, &at);
  if (!isfinite(data.offset))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, def->name,
                    "The %s \"%s\" finds the axes of a joint opposite at the start.", def->kind,
                    def->name);
  const asi_mesh mesh = {.kind = def->kind,
                         .name = def->name,
                         .joint = {def->joint[0], def->joint[1]},
                         .wheel = {wheel[0], wheel[1]},
                         .rack = !def->angle[1],
                         .factor = {def->factor[0], def->factor[1]},
                         .radius = def->radius,
                         .tooth = def->tooth};
  const char *remark = NULL;
  status = asi_builder_teeth(b, &mesh, &data, &remark, error);
  if (status) return status;
  e.n_bodies = data.n_bodies;
  asi_element_flags flags = {0};
  flags.n_bodies = e.n_bodies;
  flags.n_rows = 1;
  if (asi_tooth_reads(&data.tooth)) {
    e.reads = b->n_joints; // itself
    e.n_read = flags.n_read = 1;
    flags.force = true;
    for (int i = 0; i < 6 * e.n_bodies; ++i) flags.f_lambda[i] = true;
  }
  asi_coupling_pattern(&data, flags.f_q, flags.g_q, flags.gdot_q);
  const asi_mark mark = asi_builder_mark(b);
  status = asi_builder_element(b, &e, &flags, &data, sizeof data, NULL, 0, error);
  if (status == AS_OK)
    status = asi_builder_joint(
        b, def->given_name,
        (asi_joint_info){.kind = AS_JOINT_COUPLING, .element = b->n_elements - 1, .remark = remark},
        id, error);
  if (status) asi_builder_reset(b, mark);
  return status;
}

static int common_divisor(int a, int b) {
  while (b != 0) {
    const int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

as_status as_builder_add_gear(as_builder *b, const as_gear_def *def, as_joint_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_gear_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_JOINT, def->name, store);
  if (def->teeth[0] < 1 || def->teeth[1] < 1)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The wheels of the gear \"%s\" have %d and %d teeth; both must have some.",
                    name, def->teeth[0], def->teeth[1]);
  const int common = common_divisor(def->teeth[0], def->teeth[1]);
  const int first = def->teeth[0] / common, second = def->teeth[1] / common; // no rest
  const coupling_def coupling = {.kind = "gear",
                                 .given_name = def->name,
                                 .name = name,
                                 .joint = {def->joint[0], def->joint[1]},
                                 .angle = {true, true},
                                 .factor = {def->internal ? -first : first, second},
                                 .unit = 1.0 / second,
                                 .tooth = &def->tooth};
  return add_coupling(b, &coupling, id, error);
}

as_status as_builder_add_rack(as_builder *b, const as_rack_def *def, as_joint_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_rack_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_JOINT, def->name, store);
  if (!isfinite(def->radius) || def->radius == 0.0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The radius of the rack and pinion \"%s\" is %g m; it must be a number other "
                    "than 0.",
                    name, def->radius);
  const coupling_def coupling = {.kind = "rack and pinion",
                                 .given_name = def->name,
                                 .name = name,
                                 .joint = {def->pinion, def->rack},
                                 .angle = {true, false},
                                 .factor = {-1.0, 1.0 / def->radius},
                                 .unit = def->radius,
                                 .radius = def->radius,
                                 .tooth = &def->tooth};
  return add_coupling(b, &coupling, id, error);
}
