/// Quantities of the machine by name, see measures.h. Names are those of channels (results/catalog.c): what depends on t, q
/// and v alone may stand in the formula of a force; a block may also read what follows from the forces. The rest is refused
/// with the reason.
#include "model/measures.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hint.h"
#include "base/text.h"
#include "elements/spring.h"
#include "model/add_force.h"

bool asi_is_channel(const char *name) { return strchr(name, '.') != NULL; }

/// A name in its parts, and where what it means goes.
typedef struct search {
  as_builder *b;
  asi_measures *all;
  asi_named *named;
  const char *name;
  char text[ASI_EXPRESSION_NAME];
  const char *part[4]; ///< group, object, quantity, component; "" where there is none
  asi_gauge gauge;
  int body[2];
} search;

__attribute__((format(printf, 2, 3))) static asi_meaning mistake(search *s, const char *format,
                                                                 ...) {
  va_list arguments;
  va_start(arguments, format);
  asi_format(s->named->sentence, ASI_SENTENCE_LENGTH, format, arguments);
  va_end(arguments);
  return ASI_MEANS_MISTAKE;
}

static asi_meaning refuse(search *s, const char *reason) {
  return mistake(s, "a %s cannot depend on %.60s: %s", s->all->of_block ? "block" : "force",
                 s->name, reason);
}

static bool is(const char *part, const char *name) { return strcmp(part, name) == 0; }

/// `names` end with NULL.
static asi_meaning no_quantity(search *s, const char *const *names) {
  asi_hint hint = {.word = s->part[2]};
  for (int i = 0; names[i]; ++i) asi_hint_try(&hint, names[i]);
  return mistake(s, "%.20s.%.40s has no quantity \"%.30s\" for a formula%s", s->part[0], s->part[1],
                 s->part[2], asi_hint_text(&hint));
}

/// x, y or z.
static bool take_component(search *s, asi_meaning *meaning) {
  const char *letter = s->part[3];
  const char *at = letter[0] && letter[1] == '\0' ? strchr("xyz", letter[0]) : NULL;
  if (at)
    s->gauge.part = (int)(at - "xyz");
  else
    *meaning = mistake(s, "%.60s needs a component: .x, .y or .z", s->name);
  return at != NULL;
}

static bool has_no_component(search *s, asi_meaning *meaning) {
  if (s->part[3][0] == '\0') return true;
  *meaning = mistake(s, "%.60s has no components", s->name);
  return false;
}

// ---- bodies and frames ------------------------------------------------------------------------------

static const char by_acceleration[] = "accelerations follow from the forces; a block may";

/// Accelerations, which only blocks may read, of bodies that are no nodes.
static asi_meaning check_acceleration(search *s, int body) {
  if (!s->all->of_block) return refuse(s, by_acceleration);
  if (body >= 0 && s->b->body[body].flexible > 0)
    return refuse(s, "that is a node of a flexible body, whose accelerations have no derivatives");
  if (body >= 0 && s->b->body[body].is_node)
    return refuse(s, "that is a node of a superelement, whose accelerations have no derivatives");
  return ASI_MEANS_SLOT;
}

static asi_meaning find_body(search *s, int body) {
  static const char *const names[] = {
      "position", "velocity", "angular_velocity", "acceleration", "angular_acceleration", NULL};
  const char *quantity = s->part[2];
  asi_meaning meaning = ASI_MEANS_SLOT;
  const bool linear = is(quantity, "acceleration"), angular = is(quantity, "angular_acceleration");
  if (linear || angular) meaning = check_acceleration(s, body);
  if (meaning != ASI_MEANS_SLOT) return meaning;
  if (is(quantity, "quaternion"))
    return refuse(s, "its sign may change; use an angle or positions of frames");
  if (is(quantity, "position"))
    s->gauge.kind = ASI_GAUGE_POSITION;
  else if (is(quantity, "velocity"))
    s->gauge.kind = ASI_GAUGE_VELOCITY;
  else if (is(quantity, "angular_velocity"))
    s->gauge.kind = ASI_GAUGE_BODY_SPIN;
  else if (linear)
    s->gauge.kind = ASI_GAUGE_ACCELERATION;
  else if (angular)
    s->gauge.kind = ASI_GAUGE_BODY_SPIN_RATE;
  else
    return no_quantity(s, names);
  if ((s->gauge.kind == ASI_GAUGE_BODY_SPIN || angular) && s->b->body[body].body.n < 6)
    return mistake(s, "the point mass \"%.60s\" does not turn", s->part[1]);
  s->body[0] = s->body[1] = body;
  for (int k = 0; k < 3; ++k)
    for (int e = 0; e < 2; ++e) s->gauge.ends.frame[e].axis[4 * k] = 1.0;
  take_component(s, &meaning);
  return meaning;
}

static void take_frame(search *s, int end, int frame) {
  const asi_marker *marker = &s->b->frame[frame];
  s->b->frame[frame].used = true;
  s->gauge.ends.frame[end] = marker->frame;
  s->gauge.ends.motion[end] = marker->moving ? marker->motion : asi_no_motion();
  s->body[end] = marker->body;
}

static asi_meaning no_object(search *s, asi_entity_kind sort, const char *name) {
  asi_hint hint = {.word = name};
  const asi_names *names = &s->b->names[sort];
  for (int i = 0; i < names->count; ++i) asi_hint_try(&hint, asi_names_get(names, i));
  return mistake(s, "there is no %s \"%.40s\"%s", asi_entity_kind_name(sort), name,
                 asi_hint_text(&hint));
}

static asi_meaning find_distance(search *s, int frame) {
  const int other = asi_names_find(&s->b->names[ASI_SORT_FRAME], s->part[3]);
  if (s->part[3][0] == '\0') return mistake(s, "%.60s needs another frame: .NAME", s->name);
  if (other < 0) return no_object(s, ASI_SORT_FRAME, s->part[3]);
  take_frame(s, 0, frame);
  take_frame(s, 1, other);
  s->gauge.kind = ASI_GAUGE_DISTANCE;
  s->gauge.rate = is(s->part[2], "distance_rate");
  if (s->body[0] == s->body[1])
    return mistake(s, "the frames \"%.40s\" and \"%.40s\" are on one body", s->part[1], s->part[3]);
  return ASI_MEANS_SLOT;
}

static asi_meaning find_frame(search *s, int frame) {
  static const char *const names[] = {"position",
                                      "velocity",
                                      "angular_velocity",
                                      "distance",
                                      "distance_rate",
                                      "acceleration",
                                      "specific_force",
                                      "angular_acceleration",
                                      "angular_velocity_in_frame",
                                      NULL};
  const char *quantity = s->part[2];
  asi_meaning meaning = ASI_MEANS_SLOT;
  const bool linear = is(quantity, "acceleration"), angular = is(quantity, "angular_acceleration"),
             specific = is(quantity, "specific_force"),
             gyro = is(quantity, "angular_velocity_in_frame");
  if (gyro && !s->all->of_block) return refuse(s, "only a block may");
  if (linear || angular || specific) meaning = check_acceleration(s, s->b->frame[frame].body);
  if (meaning != ASI_MEANS_SLOT) return meaning;
  if (is(quantity, "distance") || is(quantity, "distance_rate")) return find_distance(s, frame);
  if (is(quantity, "position"))
    s->gauge.kind = ASI_GAUGE_POSITION;
  else if (is(quantity, "velocity"))
    s->gauge.kind = ASI_GAUGE_VELOCITY;
  else if (is(quantity, "angular_velocity"))
    s->gauge.kind = ASI_GAUGE_SPIN;
  else if (gyro)
    s->gauge.kind = ASI_GAUGE_FRAME_SPIN;
  else if (linear || angular || specific)
    s->gauge.kind = linear    ? ASI_GAUGE_ACCELERATION
                    : angular ? ASI_GAUGE_SPIN_RATE
                              : ASI_GAUGE_SPECIFIC_FORCE;
  else
    return no_quantity(s, names);
  take_frame(s, 0, frame);
  s->body[1] = s->body[0];
  take_component(s, &meaning);
  return meaning;
}

// ---- joints and forces ------------------------------------------------------------------------------

asi_gauge asi_joint_gauge(const as_builder *b, int joint, asi_coordinate of) {
  const asi_joint_info *info = &b->joint[joint];
  const bool moving = info->moving && info->kind != AS_JOINT_MOTION;
  const unsigned char *data = b->data + b->element[info->element].data;
  asi_moving_joint at = {.length = {-1, NULL}};
  memcpy(&at, data, moving ? sizeof at : sizeof at.joint);
  const bool rotation = of.kind == ASI_COORDINATE_ROTATION;
  asi_gauge gauge = {.kind = rotation ? ASI_GAUGE_ROTATION : ASI_GAUGE_COORDINATE,
                     .part = of.axis,
                     .of = of,
                     .turn = -1};
  for (int e = 0; e < 2; ++e) {
    gauge.ends.frame[e] = at.joint.frame[e];
    gauge.ends.motion[e] = moving ? at.motion[e] : asi_no_motion();
    gauge.body[e] = b->element[info->element].body[e];
  }
  return gauge;
}

static asi_meaning find_coordinate(search *s, int joint, asi_coordinate of, int i, bool rate) {
  s->gauge = asi_joint_gauge(s->b, joint, of);
  s->gauge.rate = rate;
  s->body[0] = s->gauge.body[0];
  s->body[1] = s->gauge.body[1];
  const bool angle = of.kind != ASI_COORDINATE_SHIFT && of.kind != ASI_COORDINATE_ROTATION;
  if (!angle || rate) return ASI_MEANS_SLOT;
  s->gauge.turn = asi_builder_turn(s->b, joint, i);
  s->all->no_memory = s->gauge.turn < 0;
  return s->all->no_memory ? mistake(s, "no memory") : ASI_MEANS_SLOT;
}

/// The second derivative, which only blocks may read: of a displacement along, or an angle about an axis that the joint keeps.
static asi_meaning find_joint_acceleration(search *s, int joint, asi_coordinate of) {
  const asi_joint_info *info = &s->b->joint[joint];
  const bool shift = of.kind == ASI_COORDINATE_SHIFT;
  s->gauge = asi_joint_gauge(s->b, joint, of);
  s->gauge.kind = shift ? ASI_GAUGE_SHIFT_ACCELERATION : ASI_GAUGE_TURN_ACCELERATION;
  if (info->kind != AS_JOINT_REVOLUTE && info->kind != AS_JOINT_PRISMATIC &&
      info->kind != AS_JOINT_CYLINDRICAL)
    return refuse(s, "only those of revolute, prismatic and cylindrical joints can be read");
  if (info->moving) return refuse(s, "a frame of this joint moves in its body");
  asi_meaning meaning = ASI_MEANS_SLOT;
  for (int e = 0; e < 2 && meaning == ASI_MEANS_SLOT; ++e) {
    s->body[e] = s->gauge.body[e];
    meaning = check_acceleration(s, s->body[e]);
  }
  return meaning;
}

static const char *const reactions[] = {"force",           "torque", "force_in_joint",
                                        "torque_in_joint", "drive",  NULL};

/// Reactions, which only blocks may read; `which` of the names above.
static asi_meaning find_reaction(search *s, int joint, int which) {
  const asi_joint_info *info = &s->b->joint[joint];
  const asi_element *e = &s->b->element[info->element];
  const asi_coordinate none = {ASI_COORDINATE_SHIFT, 0};
  const bool drive = is(reactions[which], "drive");
  asi_meaning meaning = ASI_MEANS_SLOT;
  if (!s->all->of_block) return refuse(s, "reactions follow from the forces; a block may");
  if (!info->ours || e->n_bodies != 2 || e->n_velocity_rows > 0 || e->n_rows == 0)
    return refuse(s, "only reactions of joints between two bodies can be read");
  if (drive && info->kind != AS_JOINT_MOTION)
    return refuse(s, "it is no motion, which has a drive");
  s->gauge = asi_joint_gauge(s->b, joint, none);
  s->gauge.kind = drive ? ASI_GAUGE_DRIVE : ASI_GAUGE_REACTION;
  s->gauge.part = 0;
  s->gauge.joint = joint;
  s->gauge.n_rows = e->n_rows;
  s->gauge.type = e->type;
  s->gauge.other = (ptrdiff_t)e->data - (ptrdiff_t)s->all->data;
  s->body[0] = s->gauge.body[0];
  s->body[1] = s->gauge.body[1];
  if (drive)
    has_no_component(s, &meaning);
  else
    take_component(s, &meaning);
  s->gauge.part += 3 * which;
  return meaning;
}

static asi_meaning find_joint(search *s, int joint) {
  const char *names[3 * AS_JOINT_COORDINATES + 1] = {NULL};
  asi_coordinate all[AS_JOINT_COORDINATES];
  const asi_joint_info *info = &s->b->joint[joint];
  const int n = info->ours ? asi_joint_coordinates(info->kind, all) : 0;
  bool named = false;
  for (int i = 0; reactions[i]; ++i)
    if (is(s->part[2], reactions[i])) return find_reaction(s, joint, i);
  for (int i = 0; i < n; ++i) {
    const asi_family family = asi_coordinate_family(all[i].kind);
    const char letter[2] = {asi_coordinate_letter(all, n, i), '\0'};
    const bool rate = is(s->part[2], family.rate_name);
    const bool second = is(s->part[2], family.acceleration_name);
    names[3 * i] = family.name;
    names[3 * i + 1] = family.rate_name;
    names[3 * i + 2] = family.acceleration_name;
    if (!rate && !second && !is(s->part[2], family.name)) continue;
    named = true;
    if (!is(s->part[3], letter)) continue;
    return second ? find_joint_acceleration(s, joint, all[i])
                  : find_coordinate(s, joint, all[i], i, rate);
  }
  if (!named) return no_quantity(s, names);
  return s->part[3][0] ? mistake(s, "%.60s is not there: no such component", s->name)
                       : mistake(s, "%.60s needs a component: .x, .y or .z", s->name);
}

/// Whether the law of a force depends on signals.
static bool law_reads_blocks(const as_builder *b, const asi_law *law) {
  const int parts[3] = {law->spring.index, law->damper.index, law->both.index};
  for (int i = 0; i < 3; ++i)
    if (parts[i] >= 0 && b->curve[parts[i]].formula &&
        asi_formula_reads_blocks(b->curve[parts[i]].formula))
      return true;
  return false;
}

/// The component of a quantity of `n`; 1: it has none.
static asi_meaning find_component(search *s, int n) {
  asi_meaning meaning = ASI_MEANS_SLOT;
  s->gauge.part = 0;
  if (n <= 1 ? !has_no_component(s, &meaning) : !take_component(s, &meaning)) return meaning;
  if (n > 1 && s->gauge.part >= n)
    return mistake(s, "%.60s is not there: it has the components .x and .y", s->name);
  return ASI_MEANS_SLOT;
}

/// A quantity that the force's descriptor lists.
static asi_meaning find_force(search *s, int force) {
  const int element = s->b->force[force];
  const asi_element *e = &s->b->element[element];
  const asi_descriptor *d = asi_descriptor_of(e->type);
  const char *names[ASI_ELEMENT_QUANTITIES + 1] = {NULL};
  const asi_element_quantity *found = NULL;
  int n = 0;
  if (d->reads == NULL)
    return mistake(s, "a %s cannot depend on %.60s: formulas read nothing of forces of its kind",
                   s->all->of_block ? "block" : "force", s->name);
  for (const asi_element_quantity *q = d->quantities; q->name; ++q) {
    if (!d->reads(q->first)) continue;
    names[n++] = q->name;
    if (is(s->part[2], q->name)) found = q;
  }
  if (found == NULL) return no_quantity(s, names);
  const asi_meaning meaning = find_component(s, (int)strlen(found->axes));
  if (meaning != ASI_MEANS_SLOT) return meaning;
  s->gauge.kind = ASI_GAUGE_ELEMENT;
  s->gauge.part += found->first;
  s->gauge.descriptor = d;
  s->gauge.other = (ptrdiff_t)e->data - (ptrdiff_t)s->all->data;
  s->gauge.joint = element;
  const unsigned reads = d->reads(s->gauge.part);
  if (reads & ASI_READS_LAW && law_reads_blocks(s->b, d->law(s->b->data + e->data)))
    return refuse(s, "its law depends on blocks; write its formula as a signal, and use that");
  if (reads & ASI_READS_STATES && !s->all->of_block && e->n_states > 0)
    return mistake(s,
                   "a force cannot depend on %.60s: it depends on the %s's states; a block may, "
                   "and a force on the block",
                   s->name, d->type->kind);
  s->body[0] = e->body[0];
  s->body[1] = e->body[1];
  return ASI_MEANS_SLOT;
}

// ---- all of them ------------------------------------------------------------------------------------

int asi_measures_body(asi_measures *all, int body) {
  for (int i = 0; i < all->n_bodies; ++i)
    if (all->body[i] == body) return i;
  const bool ground = body == ASI_GROUND; // it has room of its own
  int count = 0;
  for (int i = 0; i < all->n_bodies; ++i) count += all->body[i] != ASI_GROUND;
  if (!ground && count == AS_ELEMENT_BODIES - 1) {
    all->too_many_bodies = true;
    return 0;
  }
  all->body[all->n_bodies] = body;
  return all->n_bodies++;
}

static asi_meaning add(search *s) {
  asi_measures *all = s->all;
  for (int e = 0; e < 2; ++e) s->gauge.body[e] = asi_measures_body(all, s->body[e]);
  if (all->too_many_bodies)
    return mistake(s, "with %.40s it would depend on more than %d bodies", s->name,
                   AS_ELEMENT_BODIES - 1);
  if (all->n == ASI_GAUGES)
    return mistake(s, "it depends on more than %d quantities of the machine", ASI_GAUGES);
  snprintf(all->name[all->n], sizeof all->name[0], "%s", s->name);
  all->gauge[all->n] = s->gauge;
  s->named->index = all->n++;
  return ASI_MEANS_SLOT;
}

/// Into four parts, the last one of which may have points.
static void split(search *s) {
  snprintf(s->text, sizeof s->text, "%s", s->name);
  char *rest = s->text;
  for (int i = 0; i < 4; ++i) {
    s->part[i] = rest ? rest : "";
    rest = rest && i < 3 ? strchr(rest, '.') : NULL;
    if (rest) *rest++ = '\0';
  }
}

/// `bodies.blade.3.position.x`: nodes of beams and of flexible bodies have a point in their names.
static void join_node(search *s) {
  const char *number = s->part[2];
  const bool of_flexible = asi_names_find(&s->b->names[ASI_SORT_FLEXIBLE], s->part[1]) >= 0;
  if (!is(s->part[0], "bodies") || number[0] == '\0' ||
      (number[strspn(number, "0123456789")] && !of_flexible))
    return;
  s->text[number - s->text - 1] = '.';
  s->part[2] = s->part[3];
  char *rest = s->part[3][0] ? strchr(s->text + (s->part[3] - s->text), '.') : NULL;
  if (rest) *rest++ = '\0';
  s->part[3] = rest ? rest : "";
}

static asi_meaning no_group(search *s) {
  static const char *const groups[] = {"bodies", "frames", "joints", "forces", "blocks", NULL};
  static const struct {
    const char *name, *reason;
  } others[] = {{"energy", "it is of the whole machine, and part of it is summed up"},
                {"momentum", "it is of the whole machine"},
                {"events", "events have happened before"},
                {"solver", "it is known after a step only"},
                {"drift", "it is known after a step only"},
                {"beams", "it follows from accelerations; outputs and events may read it"},
                {"flexible", "outputs and events may read it, forces the nodes"}};
  asi_hint hint = {.word = s->part[0]};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i)
    if (is(s->part[0], others[i].name)) return refuse(s, others[i].reason);
  for (int i = 0; groups[i]; ++i) asi_hint_try(&hint, groups[i]);
  return mistake(s, "there is no quantity \"%.60s\"%s", s->name, asi_hint_text(&hint));
}

asi_meaning asi_measures_find(as_builder *b, asi_measures *all, const char *name,
                              asi_named *named) {
  static const struct {
    const char *group;
    asi_entity_kind sort;
    asi_meaning (*find)(search *s, int object);
  } groups[] = {{"bodies", ASI_SORT_BODY, find_body},
                {"frames", ASI_SORT_FRAME, find_frame},
                {"joints", ASI_SORT_JOINT, find_joint},
                {"forces", ASI_SORT_FORCE, find_force}};
  for (int k = 0; k < all->n; ++k)
    if (is(name, all->name[k])) {
      named->index = k;
      return ASI_MEANS_SLOT;
    }
  search s = {.b = b, .all = all, .named = named, .name = name, .gauge = {.turn = -1}};
  for (int e = 0; e < 2; ++e) s.gauge.ends.motion[e] = asi_no_motion();
  split(&s);
  join_node(&s);
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; ++g) {
    if (!is(s.part[0], groups[g].group)) continue;
    const int object = asi_names_find(&b->names[groups[g].sort], s.part[1]);
    if (object < 0) return no_object(&s, groups[g].sort, s.part[1]);
    const asi_meaning meaning = groups[g].find(&s, object);
    return meaning == ASI_MEANS_SLOT ? add(&s) : meaning;
  }
  return no_group(&s);
}
