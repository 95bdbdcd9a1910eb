/// What channels there are: groups, their objects, the quantities of each.
#include <math.h>

#include "core/kinematics/problem.h"
#include "elements/coupling.h"
#include "results/channels.h"

int asi_source_size(const as_model *m, asi_source source) {
  static const int size[ASI_SOURCES] = {
      [ASI_SOURCE_BODY] = 13,     [ASI_SOURCE_ACCELERATION] = 6,
      [ASI_SOURCE_FRAME] = 9,     [ASI_SOURCE_REACTION] = 16,
      [ASI_SOURCE_DRIVE] = 1,     [ASI_SOURCE_COORDINATES] = 2 * AS_JOINT_COORDINATES,
      [ASI_SOURCE_ACTION] = 6,    [ASI_SOURCE_FLOW] = 3,
      [ASI_SOURCE_ENERGY] = 5,    [ASI_SOURCE_MOMENTUM] = 9,
      [ASI_SOURCE_SOLVER] = 3,    [ASI_SOURCE_DRIFT] = 2,
      [ASI_SOURCE_DISTANCE] = 2,  [ASI_SOURCE_EVENT] = 2,
      [ASI_SOURCE_SIGNAL] = 1,    [ASI_SOURCE_TURN] = 9,
      [ASI_SOURCE_TURN_RATE] = 3, [ASI_SOURCE_FRAME_TURN] = 9,
      [ASI_SOURCE_MAGNITUDE] = 1, [ASI_SOURCE_SECTION] = 23,
      [ASI_SOURCE_ELASTIC] = 2,   [ASI_SOURCE_POINT] = 9,
      [ASI_SOURCE_STRESS] = 7,
  };
  return source.kind == ASI_SOURCE_OWN ? m->element[m->force[source.object]].descriptor->n_values
                                       : size[source.kind];
}

/// Whether a force's own numbers may depend on blocks: by the formulas that it has.
static bool reads_signals(const as_model *m, int force) {
  return m->element[m->force[force]].descriptor->formulas != NULL;
}

bool asi_source_reads_rates(const as_model *model, asi_source source) {
  const as_problem_def *def = &as_model_problem(model)->def;
  const bool driven = (!def->scleronomic && def->n_lambda > 0) || def->n_psi > 0;
  // Friction reads multipliers; outputs y are solved for together with them.
  const bool general = def->force_kind == AS_FORCE_GENERAL || def->n_y > 0;
  switch (source.kind) {
  case ASI_SOURCE_ACCELERATION:
  case ASI_SOURCE_TURN_RATE:
  case ASI_SOURCE_REACTION:
  case ASI_SOURCE_SECTION:
  case ASI_SOURCE_DRIVE: return true;
  case ASI_SOURCE_SIGNAL: return def->n_y > 0;
  case ASI_SOURCE_OWN: return general && reads_signals(model, source.object);
  case ASI_SOURCE_ACTION:
  case ASI_SOURCE_FLOW: return general;
  case ASI_SOURCE_ENERGY: return general || driven;
  default: return false;
  }
}

const char *asi_group_name(asi_group group) {
  static const char *const name[ASI_GROUPS] = {"bodies", "frames",   "joints", "forces",
                                               "beams",  "flexible", "blocks", "events",
                                               "energy", "momentum", "solver", "drift"};
  return name[group];
}

bool asi_group_has_stations(asi_group group) {
  return group == ASI_GROUP_BODIES || group == ASI_GROUP_BEAMS || group == ASI_GROUP_FLEXIBLE;
}

bool asi_group_has_objects(asi_group group) { return group <= ASI_GROUP_EVENTS; }

const asi_names *asi_group_names(const as_model *m, const asi_names *events, asi_group group) {
  static const asi_entity_kind sort[] = {ASI_SORT_BODY,  ASI_SORT_FRAME,   ASI_SORT_JOINT,
                                         ASI_SORT_FORCE, ASI_SORT_STATION, ASI_SORT_FLEXIBLE_PART,
                                         ASI_SORT_BLOCK};
  static const asi_names none = {0};
  if (group < ASI_GROUP_EVENTS) return &m->names[sort[group]];
  return group == ASI_GROUP_EVENTS && events ? events : &none;
}

int asi_group_objects(const as_model *m, const asi_names *events, asi_group group) {
  return asi_group_names(m, events, group)->count;
}

/// A list that is being filled.
typedef struct list {
  asi_channel_quantity *out;
  int n;
} list;

static void add(list *l, const char *name, const char *unit, asi_source_kind source, int first,
                const char *axes) {
  asi_channel_quantity *q = &l->out[l->n++];
  *q = (asi_channel_quantity){.name = name, .unit = unit, .source = source, .first = first};
  for (int i = 0; axes[i]; ++i) q->axes[i] = axes[i];
}

/// One that has to be asked for by its name.
static void add_hidden(list *l, const char *name, const char *unit, asi_source_kind source,
                       int first, const char *axes) {
  add(l, name, unit, source, first, axes);
  l->out[l->n - 1].by_name = true;
}

// ---- bodies and frames ------------------------------------------------------------------------------

static void add_body(list *l, const asi_body *body) {
  const bool turns = body->n == 6;
  add(l, "position", "m", ASI_SOURCE_BODY, 0, "xyz");
  if (turns) add(l, "quaternion", "-", ASI_SOURCE_BODY, 3, "wxyz");
  add(l, "velocity", "m/s", ASI_SOURCE_BODY, 7, "xyz");
  if (turns) add(l, "angular_velocity", "rad/s", ASI_SOURCE_BODY, 10, "xyz");
  add(l, "acceleration", "m/s^2", ASI_SOURCE_ACCELERATION, 0, "xyz");
  if (turns) add(l, "angular_acceleration", "rad/s^2", ASI_SOURCE_ACCELERATION, 3, "xyz");
  if (!turns) return;
  add_hidden(l, "roll_pitch_yaw", "rad", ASI_SOURCE_TURN, 0, "xyz");
  add_hidden(l, "euler_angles", "rad", ASI_SOURCE_TURN, 3, "123");
  add_hidden(l, "angular_velocity_in_world", "rad/s", ASI_SOURCE_TURN, 6, "xyz");
  add_hidden(l, "angular_acceleration_in_world", "rad/s^2", ASI_SOURCE_TURN_RATE, 0, "xyz");
}

static void add_frame(list *l) {
  add(l, "position", "m", ASI_SOURCE_FRAME, 0, "xyz");
  add(l, "velocity", "m/s", ASI_SOURCE_FRAME, 3, "xyz");
  add(l, "angular_velocity", "rad/s", ASI_SOURCE_FRAME, 6, "xyz");
  add_hidden(l, "roll_pitch_yaw", "rad", ASI_SOURCE_FRAME_TURN, 0, "xyz");
  add_hidden(l, "euler_angles", "rad", ASI_SOURCE_FRAME_TURN, 3, "123");
  add_hidden(l, "angular_velocity_in_frame", "rad/s", ASI_SOURCE_FRAME_TURN, 6, "xyz");
}

// ---- joints -----------------------------------------------------------------------------------------

/// Coordinates that follow each other and have the same name are its components.
static void add_coordinates(list *l, as_joint_kind kind) {
  asi_coordinate c[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(kind, c);
  for (int first = 0, end; first < n; first = end) {
    const asi_family f = asi_coordinate_family(c[first].kind);
    char axes[AS_JOINT_COORDINATES + 1] = "";
    for (end = first; end < n && asi_coordinate_family(c[end].kind).name == f.name; ++end)
      axes[end - first] = asi_coordinate_letter(c, n, end);
    add(l, f.name, f.unit, ASI_SOURCE_COORDINATES, first, axes);
    add(l, f.rate_name, f.rate_unit, ASI_SOURCE_COORDINATES, AS_JOINT_COORDINATES + first, axes);
  }
}

static void add_joint(list *l, const as_model *m, int joint) {
  const asi_joint_info *info = &m->joint[joint];
  const asi_placed *p = &m->element[info->element];
  if (info->ours) add_coordinates(l, info->kind);
  if (info->ours && info->kind == AS_JOINT_MOTION) {
    const asi_joint *data = p->data;
    const bool turns = data->part[0].kind == ASI_ROW_AXES;
    add(l, "drive", turns ? "N m" : "N", ASI_SOURCE_DRIVE, 0, "");
  }
  if (p->e.n_bodies < 2) return;
  add(l, "force", "N", ASI_SOURCE_REACTION, 0, "xyz");
  add(l, "torque", "N m", ASI_SOURCE_REACTION, 3, "xyz");
  add(l, "force_in_joint", "N", ASI_SOURCE_REACTION, 6, "xyz");
  add(l, "torque_in_joint", "N m", ASI_SOURCE_REACTION, 9, "xyz");
  const asi_tooth *tooth =
      info->kind == AS_JOINT_COUPLING ? &((const asi_coupling *)p->data)->tooth : NULL;
  if (tooth == NULL || tooth->kind == ASI_TOOTH_NONE) return;
  if (tooth->kind != ASI_TOOTH_RACK) add(l, "wheel_torque", "N m", ASI_SOURCE_DRIVE, 0, "");
  add(l, "tangential_force", "N", ASI_SOURCE_REACTION, 12, "");
  add(l, "radial_force", "N", ASI_SOURCE_REACTION, 13, "");
  add(l, "axial_force", "N", ASI_SOURCE_REACTION, 14, "");
  add(l, "tooth_force", "N", ASI_SOURCE_REACTION, 15, "");
}

// ---- forces -----------------------------------------------------------------------------------------

static void add_force(list *l, const asi_placed *p) {
  const asi_descriptor *d = p->descriptor;
  const asi_element_quantity *own =
      d->find_quantities ? d->find_quantities(p->data) : d->quantities;
  for (; own && own->name; ++own)
    add(l, own->name, own->unit, ASI_SOURCE_OWN, own->first, own->axes);
  add(l, "force", "N", ASI_SOURCE_ACTION, 0, "xyz");
  add(l, "torque", "N m", ASI_SOURCE_ACTION, 3, "xyz");
  if (p->e.type->potential) add(l, "energy", "J", ASI_SOURCE_FLOW, 0, "");
  if (p->e.type->power) add(l, "dissipated", "W", ASI_SOURCE_FLOW, 1, "");
  if (p->e.type->power) add(l, "supplied", "W", ASI_SOURCE_FLOW, 2, "");
}

// ---- beams ------------------------------------------------------------------------------------------

static void add_section(list *l, const asi_station *s) {
  static const char *const stress[] = {"stress_top", "stress_bottom", "stress_left", "stress_right",
                                       "stress"};
  add(l, "position", "m", ASI_SOURCE_SECTION, 0, "xyz");
  add(l, "force", "N", ASI_SOURCE_SECTION, 3, "xyz");
  add(l, "moment", "N m", ASI_SOURCE_SECTION, 6, "xyz");
  add(l, "strain", "-", ASI_SOURCE_SECTION, 9, "xyz");
  add(l, "bend", "rad/m", ASI_SOURCE_SECTION, 12, "xyz");
  add(l, "deflection", "m", ASI_SOURCE_SECTION, 15, "xyz");
  for (int i = 0; i < 5 && !isnan(s->modulus); ++i)
    add(l, stress[i], "Pa", ASI_SOURCE_SECTION, 18 + i, "");
}

// ---- flexible bodies --------------------------------------------------------------------------------

/// Coordinates of nodes are lengths and angles, those of modes are what their shapes make them.
static const char *elastic_unit(const as_flexible_data *d, int coordinate, bool rate) {
  int first = 0;
  for (int node = 1; node < d->interface_count; ++node) {
    const int n = d->interface_rotations[node] ? 6 : 3;
    if (coordinate < first + 3) return rate ? "m/s" : "m";
    if (coordinate < first + n) return rate ? "rad/s" : "rad";
    first += n;
  }
  return rate ? "1/s" : "-";
}

static void add_part(list *l, const as_model *m, const asi_flexible_part *part) {
  static const char *const stress[] = {"stress_xx", "stress_yy", "stress_zz", "stress_xy",
                                       "stress_yz", "stress_zx", "mises"};
  if (part->coordinate >= 0) {
    const as_flexible_data *d = m->flexible[part->flexible].data;
    add(l, "value", elastic_unit(d, part->coordinate, false), ASI_SOURCE_ELASTIC, 0, "");
    add(l, "rate", elastic_unit(d, part->coordinate, true), ASI_SOURCE_ELASTIC, 1, "");
    return;
  }
  add(l, "position", "m", ASI_SOURCE_POINT, 0, "xyz");
  add(l, "velocity", "m/s", ASI_SOURCE_POINT, 3, "xyz");
  add(l, "deflection", "m", ASI_SOURCE_POINT, 6, "xyz");
  for (int i = 0; i < 7 && part->stress >= 0; ++i)
    add(l, stress[i], "Pa", ASI_SOURCE_STRESS, i, "");
}

// ---- the machine as a whole -------------------------------------------------------------------------

static void add_energy(list *l) {
  static const char *const name[] = {"kinetic", "potential", "dissipated", "work", "balance"};
  for (int i = 0; i < 5; ++i) add(l, name[i], "J", ASI_SOURCE_ENERGY, i, "");
}

static void add_momentum(list *l) {
  add(l, "linear", "kg m/s", ASI_SOURCE_MOMENTUM, 0, "xyz");
  add(l, "angular", "kg m^2/s", ASI_SOURCE_MOMENTUM, 3, "xyz");
  add(l, "center_of_mass", "m", ASI_SOURCE_MOMENTUM, 6, "xyz");
}

static void add_solver(list *l) {
  add(l, "h", "s", ASI_SOURCE_SOLVER, 0, "");
  add(l, "newton_iterations", "-", ASI_SOURCE_SOLVER, 1, "");
  add(l, "error", "-", ASI_SOURCE_SOLVER, 2, "");
}

int asi_quantities(const as_model *m, asi_group group, int object,
                   asi_channel_quantity out[ASI_QUANTITIES]) {
  list l = {out, 0};
  switch (group) {
  case ASI_GROUP_BODIES: add_body(&l, &m->body[object]); break;
  case ASI_GROUP_FRAMES: add_frame(&l); break;
  case ASI_GROUP_JOINTS: add_joint(&l, m, object); break;
  case ASI_GROUP_FORCES: add_force(&l, &m->element[m->force[object]]); break;
  case ASI_GROUP_BEAMS: add_section(&l, &m->station[object]); break;
  case ASI_GROUP_FLEXIBLE: add_part(&l, m, &m->flexible_part[object]); break;
  case ASI_GROUP_BLOCKS: break; // each has signals of its own: select.c
  case ASI_GROUP_EVENTS:
    add(&l, "count", "-", ASI_SOURCE_EVENT, 0, "");
    add(&l, "time", "s", ASI_SOURCE_EVENT, 1, "");
    break;
  case ASI_GROUP_ENERGY: add_energy(&l); break;
  case ASI_GROUP_MOMENTUM: add_momentum(&l); break;
  case ASI_GROUP_SOLVER: add_solver(&l); break;
  case ASI_GROUP_DRIFT:
    add(&l, "position", "m", ASI_SOURCE_DRIFT, 0, "");
    add(&l, "velocity", "m/s", ASI_SOURCE_DRIFT, 1, "");
    break;
  case ASI_GROUPS: break;
  }
  return l.n;
}
