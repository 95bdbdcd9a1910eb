/// Adds springs, loads and elements of the user's own to a builder.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "elements/spring.h"
#include "elements/vector.h"
#include "model/add_force.h"

const double asi_world_axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

as_spring_def as_default_spring_def(void) {
  return (as_spring_def){.cookie = ASI_COOKIE(as_spring_def),
                         .frame = {AS_NO_FRAME, AS_NO_FRAME},
                         .body = {AS_NO_BODY, AS_NO_BODY},
                         .length = (double)NAN};
}

as_torsion_def as_default_torsion_def(void) {
  return (as_torsion_def){.cookie = ASI_COOKIE(as_torsion_def),
                          .frame = {AS_NO_FRAME, AS_NO_FRAME},
                          .body = {AS_NO_BODY, AS_NO_BODY},
                          .angle = (double)NAN};
}

as_load_def as_default_load_def(void) {
  return (as_load_def){.cookie = ASI_COOKIE(as_load_def),
                       .frame = AS_NO_FRAME,
                       .body = AS_NO_BODY,
                       .reaction = AS_NO_BODY};
}

as_element_def as_default_element_def(void) {
  return (as_element_def){.cookie = ASI_COOKIE(as_element_def), .reads = AS_NO_JOINT};
}

enum { MOST_REFS = 224 };

/// The offsets of all curve references in an element's data; returns how many.
static int list_refs(const asi_force_def *def, size_t refs[MOST_REFS]) {
  static const size_t of_motion[] = {
      offsetof(asi_frame_motion, shift[0]), offsetof(asi_frame_motion, shift[1]),
      offsetof(asi_frame_motion, shift[2]), offsetof(asi_frame_motion, turn)};
  int n = 0;
  for (int i = 0; i < def->n_refs; ++i) refs[n++] = def->refs[i];
  for (int m = 0; m < def->n_motions; ++m)
    for (int k = 0; k < 4; ++k)
      refs[n++] = def->motions + (size_t)m * sizeof(asi_frame_motion) + of_motion[k];
  return n;
}

as_status asi_builder_force(as_builder *b, const asi_force_def *def, as_force_id *id,
                            as_error *error) {
  size_t refs[MOST_REFS];
  const int n_refs = list_refs(def, refs);
  as_status status =
      asi_builder_element(b, &def->element, &def->flags, def->data, def->size, refs, n_refs, error);
  void *array = b->force;
  if (status == AS_OK && !asi_grow(&array, b->n_forces, &b->room_forces, sizeof *b->force))
    status = asi_fail_memory(error);
  b->force = array;
  if (status == AS_OK)
    status = asi_names_add(&b->names[ASI_SORT_FORCE], ASI_SORT_FORCE, def->name, error);
  if (status) {
    asi_builder_reset(b, def->mark);
    return status;
  }
  b->force[b->n_forces] = b->n_elements - 1;
  if (id) *id = (as_force_id){b->n_forces};
  ++b->n_forces;
  return AS_OK;
}

void asi_flag_pair(bool *m) {
  for (int i = 0; i < ASI_PAIR * ASI_PAIR; ++i) m[i] = true;
}

asi_frame_motion asi_no_motion(void) {
  const asi_curve_ref none = {-1, NULL};
  return (asi_frame_motion){.shift = {none, none, none}, .turn = none, .turn_sign = 1.0};
}

bool asi_moves(const asi_frame_motion *m) {
  return m->turn.index >= 0 || m->shift[0].index >= 0 || m->shift[1].index >= 0 ||
         m->shift[2].index >= 0;
}

as_status asi_builder_ends(const as_builder *b, const asi_side_def def[2], const char *name,
                           asi_ends *ends, int body[2], as_error *error) {
  for (int s = 0; s < 2; ++s) {
    asi_marker side;
    const as_status status = asi_builder_side(b, &def[s], ASI_SORT_FORCE, name, &side, error);
    if (status) return status;
    ends->frame[s] = side.frame;
    ends->motion[s] = side.moving ? side.motion : asi_no_motion();
    body[s] = side.body;
    if (def[s].frame.index != ASI_NONE) continue;
    const as_status beside =
        asi_builder_check_offset(b, side.body, side.frame.p, ASI_SORT_FORCE, name, error);
    if (beside) return beside;
  }
  if (body[0] == body[1])
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The force \"%s\" has both ends on one body.", name);
  return AS_OK;
}

asi_ends asi_builder_resolve(const as_builder *b, const asi_ends *ends) {
  asi_ends with = *ends;
  for (int s = 0; s < 2; ++s) {
    asi_frame_motion *m = &with.motion[s];
    asi_curve_ref *const ref[4] = {&m->shift[0], &m->shift[1], &m->shift[2], &m->turn};
    for (int k = 0; k < 4; ++k)
      ref[k]->curve = ref[k]->index >= 0 ? &b->curve[ref[k]->index] : NULL;
  }
  return with;
}

as_status asi_check_not_negative(double x, const char *what, const char *name, as_error *error) {
  if (x >= 0.0 && isfinite(x)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The %s of force \"%s\" is %g.", what,
                  name, x);
}

as_status asi_check_axes(const as_builder *b, int body, const char *name, as_error *error) {
  if (body < 0 || b->body[body].body.n == 6) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The force \"%s\" needs the axes of the point mass \"%s\", which has none.", name,
                  asi_names_get(&b->names[ASI_SORT_BODY], body));
}

/// A torque would have nothing to turn.
static as_status check_turns(const as_builder *b, int body, const char *name, as_error *error) {
  if (body < 0 || b->body[body].body.n == 6) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                  "The torque of load \"%s\" is on the point mass \"%s\", which does not turn.",
                  name, asi_names_get(&b->names[ASI_SORT_BODY], body));
}

// ---- springs ----------------------------------------------------------------------------------------

/// What the law of a spring is made from.
typedef struct law_def {
  double stiffness, damping, rest;
  const as_curve *spring, *damper;
  const as_surface *both;
  const char *value, *rate; ///< what formulas call the coordinate and its rate
} law_def;

static as_status make_law(as_builder *b, const law_def *def, const char *name, asi_law *law,
                          as_error *error) {
  const char *const spring[ASI_OWN_SLOTS] = {def->value, NULL, "deflection"};
  const char *const damper[ASI_OWN_SLOTS] = {NULL, def->rate, NULL};
  const char *const both[ASI_OWN_SLOTS] = {def->value, def->rate, "deflection"};
  char what[96];
  *law = (asi_law){.stiffness = def->stiffness, .damping = def->damping, .rest = def->rest};
  as_status status = asi_check_not_negative(def->stiffness, "stiffness", name, error);
  if (status == AS_OK) status = asi_check_not_negative(def->damping, "damping", name, error);
  if (status) return status;
  if (!isfinite(def->rest))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The length or angle at rest of force \"%s\" is %g.", name, def->rest);
  b->law_reads_blocks = true;
  snprintf(what, sizeof what, "The spring of force \"%.48s\"", name);
  status = asi_builder_curve(b, def->spring, what, spring, &law->spring, error);
  snprintf(what, sizeof what, "The damper of force \"%.48s\"", name);
  if (status == AS_OK)
    status = asi_builder_curve(b, def->damper, what, damper, &law->damper, error);
  snprintf(what, sizeof what, "The law of force \"%.48s\"", name);
  if (status == AS_OK) status = asi_builder_surface(b, def->both, what, both, &law->both, error);
  b->law_reads_blocks = false;
  return status;
}

/// Blocks get their formulas when a model is built.
static bool moves_by_blocks(const asi_ends *resolved) {
  bool reads = false;
  for (int s = 0; s < 2; ++s) {
    const asi_frame_motion *m = &resolved->motion[s];
    const asi_curve *const all[] = {m->shift[0].curve, m->shift[1].curve, m->shift[2].curve,
                                    m->turn.curve};
    for (int k = 0; k < 4; ++k)
      reads = reads || (all[k] && all[k]->formula && asi_formula_reads_blocks(all[k]->formula));
  }
  return reads;
}

static as_status fail_start(const asi_ends *resolved, const char *name, as_error *error) {
  if (moves_by_blocks(resolved))
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "A frame of force \"%s\" moves by blocks: the length or angle at which the "
                    "force is at rest must be given.",
                    name);
  return asi_fail(error, AS_ERR_RETRY, 0.0, name,
                  "The motion of a frame of force \"%s\" could not be evaluated at t = 0.", name);
}

static as_status start_length(const as_builder *b, const asi_ends *ends, const int body[2],
                              const char *name, double *out, as_error *error) {
  const asi_ends resolved = asi_builder_resolve(b, ends);
  asi_ends_now now;
  if (asi_ends_move(&resolved, 0.0, &now)) return fail_start(&resolved, name, error);
  const double *const p[2] = {now.A.p, now.B.p};
  double P[2][3];
  for (int s = 0; s < 2; ++s) {
    const as_body_motion *at = asi_builder_pose(b, body[s]);
    asi_rotate(at->R, p[s], P[s]);
    asi_add(1.0, at->x, P[s]);
  }
  asi_add(-1.0, P[1], P[0]);
  *out = asi_norm(P[0]);
  return AS_OK;
}

as_status as_builder_add_spring(as_builder *b, const as_spring_def *def, as_force_id *id,
                                as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_spring_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_spring, law.spring), offsetof(asi_spring, law.damper),
                                offsetof(asi_spring, law.both)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_spring data = {0};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_spring_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = sizeof refs / sizeof refs[0],
                         .motions = offsetof(asi_spring, ends.motion),
                         .n_motions = 2,
                         .mark = asi_builder_mark(b)};
  const asi_side_def side[2] = {{def->frame[0], def->body[0], def->point[0], asi_world_axes},
                                {def->frame[1], def->body[1], def->point[1], asi_world_axes}};
  as_status status = asi_builder_ends(b, side, name, &data.ends, force.element.body, error);
  if (status) return status;
  double length = def->length;
  if (isnan(length)) status = start_length(b, &data.ends, force.element.body, name, &length, error);
  if (status) return status;
  if (length < 0.0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The length of force \"%s\" is %g m; it must not be negative.", name, length);
  const law_def law = {def->stiffness, def->damping, length,   def->spring,
                       def->damper,    def->law,     "length", "length_rate"};
  status = make_law(b, &law, name, &data.law, error);
  if (status) {
    asi_builder_reset(b, force.mark);
    return status;
  }
  asi_flag_pair(force.flags.f_q);
  if (def->damping > 0.0 || def->damper || def->law) asi_flag_pair(force.flags.f_v);
  return asi_builder_force(b, &force, id, error);
}

static as_status start_angle(const as_builder *b, const asi_ends *ends, const int body[2],
                             const char *name, double *out, as_error *error) {
  const asi_ends resolved = asi_builder_resolve(b, ends);
  asi_ends_now now;
  if (asi_ends_move(&resolved, 0.0, &now)) return fail_start(&resolved, name, error);
  *out = asi_twist(asi_builder_pose(b, body[0]), asi_builder_pose(b, body[1]), &now.A, &now.B, 0.0);
  return AS_OK;
}

/// Rows and columns of rotations only.
static void flag_turns(bool *m) {
  for (int i = 0; i < ASI_PAIR; ++i)
    for (int j = 0; j < ASI_PAIR; ++j) m[i * ASI_PAIR + j] = i % 6 >= 3 && j % 6 >= 3;
}

static as_status torsion_ends(const as_builder *b, const as_torsion_def *def, const char *name,
                              asi_ends *ends, int body[2], as_error *error) {
  const bool by_frames = def->frame[0].index != ASI_NONE && def->frame[1].index != ASI_NONE;
  const bool has_axis = def->axis[0] != 0.0 || def->axis[1] != 0.0 || def->axis[2] != 0.0;
  const double origin[3] = {0};
  double axes[9];
  if (!asi_triad(def->axis, 2, def->second_axis, 0, axes) || (!by_frames && !has_axis))
    return asi_fail(
        error, AS_ERR_ARGUMENT, (double)NAN, name,
        "The torsional spring \"%s\" has no axis, or axes that are parallel or not finite.", name);
  const asi_side_def side[2] = {{def->frame[0], def->body[0], origin, axes},
                                {def->frame[1], def->body[1], origin, axes}};
  as_status status = asi_builder_ends(b, side, name, ends, body, error);
  for (int s = 0; s < 2 && status == AS_OK; ++s) status = asi_check_axes(b, body[s], name, error);
  return status;
}

as_status as_builder_add_torsion(as_builder *b, const as_torsion_def *def, as_force_id *id,
                                 as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_torsion_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_torsion, law.spring),
                                offsetof(asi_torsion, law.damper), offsetof(asi_torsion, law.both)};
  char store[32];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  asi_torsion data = {0};
  asi_force_def force = {.name = def->name,
                         .element = {.type = &asi_torsion_type, .n_bodies = 2},
                         .flags = {.n_bodies = 2, .force = true},
                         .data = &data,
                         .size = sizeof data,
                         .refs = refs,
                         .n_refs = sizeof refs / sizeof refs[0],
                         .motions = offsetof(asi_torsion, ends.motion),
                         .n_motions = 2,
                         .mark = asi_builder_mark(b)};
  as_status status = torsion_ends(b, def, name, &data.ends, force.element.body, error);
  if (status) return status;
  double angle = def->angle;
  if (isnan(angle)) status = start_angle(b, &data.ends, force.element.body, name, &angle, error);
  if (status) return status;
  const law_def law = {def->stiffness, def->damping, angle,   def->spring,
                       def->damper,    def->law,     "angle", "angle_rate"};
  status = make_law(b, &law, name, &data.law, error);
  if (status) {
    asi_builder_reset(b, force.mark);
    return status;
  }
  flag_turns(force.flags.f_q);
  if (def->damping > 0.0 || def->damper || def->law) flag_turns(force.flags.f_v);
  return asi_builder_force(b, &force, id, error);
}

// ---- loads ------------------------------------------------------------------------------------------

static bool has_torque(const as_load_def *def) {
  for (int i = 0; i < 3; ++i)
    if (def->torque[i] != 0.0 || def->torque_formula[i]) return true;
  return false;
}

static bool has_formulas(const as_load_def *def) {
  for (int i = 0; i < 3; ++i)
    if (def->force_formula[i] || def->torque_formula[i]) return true;
  return false;
}

as_status as_builder_add_load(as_builder *b, const as_load_def *def, as_force_id *id,
                              as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_load_def, def, error);
  if (made) return made;
  static const size_t refs[] = {offsetof(asi_load, factor)};
  char store[32], what[96];
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  const as_body_id back = def->reaction.index == ASI_NONE ? AS_GROUND : def->reaction;
  const asi_side_def side = {def->frame, def->body, def->point, asi_world_axes};
  asi_marker marker;
  as_status status = asi_builder_side(b, &side, ASI_SORT_FORCE, name, &marker, error);
  if (status == AS_OK) status = asi_builder_check_body(b, back, ASI_SORT_FORCE, name, error);
  if (status) return status;
  for (int i = 0; i < 3; ++i)
    if (!isfinite(def->force[i]) || !isfinite(def->torque[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "Component %d of the load \"%s\" is %g N and %g N m.", i, name, def->force[i],
                      def->torque[i]);
  if (marker.body < 0 || marker.body == back.index)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The load \"%s\" acts on %s.", name,
                    marker.body < 0 ? "the ground" : "a body and, with its reaction, on itself");
  const bool turns = has_torque(def);
  if (turns) status = check_turns(b, marker.body, name, error);
  if (turns && status == AS_OK) status = check_turns(b, back.index, name, error);
  if (status) return status;
  asi_load data = {.frame = marker.frame,
                   .motion = marker.moving ? marker.motion : asi_no_motion(),
                   .follows = def->follows};
  asi_copy(def->force, data.force);
  asi_copy(def->torque, data.torque);
  asi_force_def force = {
      .name = def->name,
      .element = {.type = &asi_load_type, .body = {marker.body, back.index}, .n_bodies = 2},
      .flags = {.n_bodies = 2, .force = true},
      .data = &data,
      .size = sizeof data,
      .refs = refs,
      .n_refs = sizeof refs / sizeof refs[0],
      .motions = offsetof(asi_load, motion),
      .n_motions = 1,
      .mark = asi_builder_mark(b)};
  snprintf(what, sizeof what, "The factor of load \"%.48s\"", name);
  status = asi_builder_curve(b, def->factor, what, NULL, &data.factor, error);
  if (status) return status;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      bool *f_q = force.flags.f_q;
      f_q[(ASI_XA + i) * ASI_PAIR + ASI_TA + j] = def->follows;
      f_q[(ASI_TA + i) * ASI_PAIR + ASI_TA + j] = !def->follows;
      f_q[(ASI_TB + i) * ASI_PAIR + ASI_TA + j] = def->follows;
      f_q[(ASI_TB + i) * ASI_PAIR + ASI_TB + j] = true;
    }
  if (has_formulas(def)) {
    status = asi_builder_formula_load(b, def, name, &data, force.element.body, force.flags.f_q, id,
                                      error);
    if (status) asi_builder_reset(b, force.mark);
    return status;
  }
  return asi_builder_force(b, &force, id, error);
}

// ---- elements of the user's own -----------------------------------------------------------------------

static void take_flags(const bool *given, bool *out, int n) {
  for (int i = 0; i < n; ++i) out[i] = given == NULL || given[i];
}

static asi_entity_kind element_sort(const as_element_def *def) {
  return def->n_rows > 0 || def->n_velocity_rows > 0 ? ASI_SORT_JOINT : ASI_SORT_FORCE;
}

/// How many multipliers the element reads, and of which joint.
static as_status check_reads(const as_builder *b, const as_element_def *def, const char *name,
                             asi_element *e, as_error *error) {
  e->reads = def->reads.index == ASI_SELF ? b->n_joints : def->reads.index;
  if (def->reads.index == ASI_NONE) return AS_OK;
  if (def->forceless)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" has no force that could depend on multipliers.", name);
  if (def->reads.index == ASI_SELF) {
    e->n_read = def->n_rows;
  } else if (def->reads.index >= 0 && def->reads.index < b->n_joints) {
    e->n_read = b->element[b->joint[def->reads.index].element].n_rows;
  } else {
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" reads the multipliers of joint %d, which is not there.",
                    name, def->reads.index);
  }
  if (e->n_read == 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" reads the multipliers of %s%s%s, which has no rows.", name,
                    def->reads.index == ASI_SELF ? "itself" : "joint \"",
                    def->reads.index == ASI_SELF
                        ? ""
                        : asi_names_get(&b->names[ASI_SORT_JOINT], def->reads.index),
                    def->reads.index == ASI_SELF ? "" : "\"");
  return AS_OK;
}

static as_status check_element(const as_builder *b, const as_element_def *def, const char *name,
                               as_error *error) {
  const asi_entity_kind sort = element_sort(def);
  if (def->type == NULL || def->type->evaluate == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" has no evaluate function.", name);
  bool grounded = false;
  for (int i = 0; i < def->n_bodies && i < AS_ELEMENT_BODIES; ++i)
    grounded = grounded || def->body[i].index == ASI_GROUND;
  if (def->n_bodies < 1 || def->n_bodies > AS_ELEMENT_BODIES - !grounded || def->n_rows < 0 ||
      def->n_rows > AS_ELEMENT_ROWS)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" has %d bodies (1 to %d, and the ground) and %d rows (0 to "
                    "%d).",
                    name, def->n_bodies - grounded, AS_ELEMENT_BODIES - 1, def->n_rows,
                    AS_ELEMENT_ROWS);
  if (def->n_states < 0 || def->n_states > AS_ELEMENT_STATES)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" has %d states: 0 to %d are possible.", name, def->n_states,
                    AS_ELEMENT_STATES);
  if (def->n_velocity_rows < 0 || def->n_velocity_rows > AS_ELEMENT_ROWS)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The element \"%s\" has %d velocity rows (0 to %d).", name,
                    def->n_velocity_rows, AS_ELEMENT_ROWS);
  if (def->data_size > 0 && def->data == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The element \"%s\" has no data.",
                    name);
  for (int i = 0; i < def->n_bodies; ++i) {
    const as_status status = asi_builder_check_body(b, def->body[i], sort, name, error);
    if (status) return status;
    for (int j = 0; j < i; ++j)
      if (def->body[j].index == def->body[i].index && def->body[i].index >= 0)
        return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                        "The element \"%s\" has body \"%s\" twice.", name,
                        asi_names_get(&b->names[ASI_SORT_BODY], def->body[i].index));
  }
  return AS_OK;
}

/// Like asi_builder_force(), for an element with rows.
static as_status append_joint(as_builder *b, const as_element_def *def, const asi_element *e,
                              const asi_element_flags *flags, asi_mark mark, as_element_id *id,
                              as_error *error) {
  as_status status = asi_builder_element(b, e, flags, def->data, def->data_size, NULL, 0, error);
  void *array = b->joint;
  if (status == AS_OK && !asi_grow(&array, b->n_joints, &b->room_joints, sizeof *b->joint))
    status = asi_fail_memory(error);
  b->joint = array;
  if (status == AS_OK)
    status = asi_names_add(&b->names[ASI_SORT_JOINT], ASI_SORT_JOINT, def->name, error);
  if (status) {
    asi_builder_reset(b, mark);
    return status;
  }
  b->joint[b->n_joints] = (asi_joint_info){.kind = AS_JOINT_OTHER, .element = b->n_elements - 1};
  if (id) *id = (as_element_id){{b->n_joints}, AS_NO_FORCE};
  ++b->n_joints;
  return AS_OK;
}

as_status as_builder_add_element(as_builder *b, const as_element_def *def, as_element_id *id,
                                 as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_element_def, def, error);
  if (made) return made;
  char store[32];
  const char *name = asi_builder_name(b, element_sort(def), def->name, store);
  asi_element e = {.type = def->type,
                   .n_bodies = def->n_bodies,
                   .n_rows = def->n_rows,
                   .n_velocity_rows = def->n_velocity_rows,
                   .n_states = def->n_states,
                   .rheonomic = def->rheonomic,
                   .inertia = def->inertia};
  as_status status = check_element(b, def, name, error);
  if (status == AS_OK) status = check_reads(b, def, name, &e, error);
  if (status) return status;
  const asi_mark mark = asi_builder_mark(b);
  const int columns = 6 * def->n_bodies;
  asi_element_flags flags = {0};
  flags.n_bodies = def->n_bodies;
  flags.n_rows = def->n_rows;
  flags.n_velocity_rows = def->n_velocity_rows;
  flags.n_states = def->n_states;
  flags.n_read = e.n_read;
  flags.force = !def->forceless;
  flags.theirs = true;
  take_flags(def->pattern.f_q, flags.f_q, columns * columns);
  if (!def->forceless || def->pattern.f_v)
    take_flags(def->pattern.f_v, flags.f_v, columns * columns);
  take_flags(def->pattern.g_q, flags.g_q, def->n_rows * columns);
  take_flags(def->pattern.gdot_q, flags.gdot_q, def->n_rows * columns);
  take_flags(def->pattern.k_q, flags.k_q, def->n_velocity_rows * columns);
  take_flags(def->pattern.k_v, flags.k_v, def->n_velocity_rows * columns);
  take_flags(def->pattern.f_lambda, flags.f_lambda, columns * e.n_read);
  if (def->inertia) take_flags(def->pattern.M, flags.M, columns * columns);
  if (def->inertia) take_flags(def->pattern.Ma_q, flags.Ma_q, columns * columns);
  for (int i = 0; i < AS_ELEMENT_BODIES; ++i)
    e.body[i] = i < def->n_bodies ? def->body[i].index : ASI_GROUND;
  if (element_sort(def) == ASI_SORT_JOINT) return append_joint(b, def, &e, &flags, mark, id, error);
  const asi_force_def force = {.name = def->name,
                               .element = e,
                               .flags = flags,
                               .data = def->data,
                               .size = def->data_size,
                               .mark = mark};
  as_force_id added;
  status = asi_builder_force(b, &force, &added, error);
  if (status == AS_OK && id) *id = (as_element_id){AS_NO_JOINT, added};
  return status;
}
