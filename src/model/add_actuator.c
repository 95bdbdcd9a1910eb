/// Adds actuators and loads whose forces are formulas.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/definition.h"
#include "base/error.h"
#include "model/add_force.h"
#include "model/measures.h"
#include "model/scope.h"

as_actuator_def as_default_actuator_def(void) {
  return (as_actuator_def){.cookie = ASI_COOKIE(as_actuator_def),
                           .joint = AS_NO_JOINT,
                           .frame = {AS_NO_FRAME, AS_NO_FRAME},
                           .body = {AS_NO_BODY, AS_NO_BODY}};
}

/// An element by formulas that is being put together.
typedef struct making {
  as_builder *b;
  const char *name; ///< for messages
  asi_measures measures;
  asi_actuator head; ///< its data, but for the gauges
  asi_mark mark;
} making;

static making *begin(as_builder *b, const char *name, const int body[2]) {
  making *m = asi_calloc(1, sizeof *m);
  if (m == NULL) return NULL;
  m->b = b;
  m->name = name;
  m->mark = asi_builder_mark(b);
  m->measures.data = asi_builder_next_data(b);
  m->measures.n_bodies = 2; // also if the second is the ground
  m->measures.body[0] = body[0];
  m->measures.body[1] = body[1];
  m->head.line.turn = -1;
  m->head.load.factor.index = -1;
  m->head.load.motion = asi_no_motion();
  for (int e = 0; e < 2; ++e) m->head.line.ends.motion[e] = asi_no_motion();
  for (int k = 0; k < ASI_EFFORTS; ++k) m->head.effort[k].index = -1;
  return m;
}

/// Compiles a formula and keeps it among the builder's curves.
static as_status add_effort(making *m, const char *text, const char *what, int part,
                            as_error *error) {
  as_builder *b = m->b;
  const asi_wish wish = {
      .what = what, .time = true, .parameters = true, .measures = &m->measures, .signals = true};
  asi_expression *e = NULL;
  void *array = b->curve;
  if (!asi_grow(&array, b->n_curves, &b->room_curves, sizeof *b->curve))
    return asi_fail_memory(error);
  b->curve = array;
  const as_status status = asi_builder_compile(b, text, &wish, &e, error);
  if (status) return status;
  const bool fits = e->n_slots <= ASI_FORMULA_SLOTS;
  asi_formula *formula = fits ? asi_formula_make(e, text, false, what, b->table) : NULL;
  free(e);
  if (!fits)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, m->name,
                    "%s depends on more than %d quantities and parameters.", what,
                    ASI_FORMULA_SLOTS);
  if (formula == NULL) return asi_fail_memory(error);
  b->curve[b->n_curves] = (asi_curve){.formula = formula};
  m->head.part[m->head.n_efforts] = part;
  m->head.effort[m->head.n_efforts++].index = b->n_curves++;
  return AS_OK;
}

// ---- patterns ---------------------------------------------------------------------------------------

/// Rows of the bodies that it acts on, columns of what its formulas depend on.
static void flag_efforts(const making *m, const bool *pair, asi_element_flags *flags) {
  const int columns = 6 * m->measures.n_bodies;
  for (int i = 0; i < ASI_PAIR; ++i) {
    for (int j = 0; j < ASI_PAIR; ++j) flags->f_q[i * columns + j] = pair[i * ASI_PAIR + j];
    for (int k = 0; k < m->measures.n; ++k) {
      const asi_gauge *g = &m->measures.gauge[k];
      for (int j = 0; j < ASI_PAIR; ++j) {
        const int at = i * columns + 6 * g->body[j / 6] + j % 6;
        flags->f_q[at] = true;
        flags->f_v[at] = flags->f_v[at] || asi_gauge_is_rate(g);
      }
    }
  }
}

// ---- appending --------------------------------------------------------------------------------------

/// Offsets of all curve references; returns how many.
static int list_refs(const making *m, size_t *refs) {
  static const size_t of_motion[] = {
      offsetof(asi_frame_motion, shift[0]), offsetof(asi_frame_motion, shift[1]),
      offsetof(asi_frame_motion, shift[2]), offsetof(asi_frame_motion, turn)};
  int n = 0;
  for (int k = 0; k < m->head.n_efforts; ++k)
    refs[n++] = offsetof(asi_actuator, effort) + (size_t)k * sizeof(asi_curve_ref);
  refs[n++] = offsetof(asi_actuator, load.factor);
  for (int k = 0; k < 4; ++k) {
    refs[n++] = offsetof(asi_actuator, load.motion) + of_motion[k];
    for (size_t e = 0; e < 2; ++e) {
      const size_t motion = offsetof(asi_gauge, ends.motion) + e * sizeof(asi_frame_motion);
      refs[n++] = offsetof(asi_actuator, line) + motion + of_motion[k];
      for (size_t g = 0; g < (size_t)m->measures.n; ++g)
        refs[n++] = sizeof(asi_actuator) + g * sizeof(asi_gauge) + motion + of_motion[k];
    }
  }
  return n;
}

/// Appends the element; `pair` are the entries of f_q of the bodies that it acts on.
static as_status append(making *m, const char *name, const as_element_type *type, const bool *pair,
                        as_force_id *id, as_error *error) {
  enum { MOST_REFS = ASI_EFFORTS + 13 + 8 * ASI_GAUGES };
  const asi_measures *all = &m->measures;
  const size_t size = sizeof(asi_actuator) + (size_t)all->n * sizeof(asi_gauge);
  size_t refs[MOST_REFS];
  asi_actuator *data = asi_calloc(1, size);
  if (data == NULL) return asi_fail_memory(error);
  m->head.n_bodies = all->n_bodies;
  m->head.n_gauges = all->n;
  memcpy(data, &m->head, sizeof m->head);
  memcpy(data + 1, all->gauge, (size_t)all->n * sizeof(asi_gauge));
  asi_force_def force = {.name = name,
                         .element = {.type = type, .n_bodies = all->n_bodies},
                         .flags = {.n_bodies = all->n_bodies, .force = true},
                         .data = data,
                         .size = size,
                         .refs = refs,
                         .n_refs = list_refs(m, refs),
                         .mark = m->mark};
  memcpy(force.element.body, all->body, sizeof all->body);
  for (int i = all->n_bodies; i < AS_ELEMENT_BODIES; ++i) force.element.body[i] = ASI_GROUND;
  flag_efforts(m, pair, &force.flags);
  const as_status status = asi_builder_force(m->b, &force, id, error);
  free(data);
  return status;
}

/// Takes back what a failure has left.
static as_status end(making *m, as_status status) {
  if (status) asi_builder_reset(m->b, m->mark);
  free(m);
  return status;
}

// ---- actuators --------------------------------------------------------------------------------------

static as_status find_joint(const as_builder *b, const as_actuator_def *def, const char *name,
                            asi_gauge *line, int body[2], as_error *error) {
  if (def->joint.index < 0 || def->joint.index >= b->n_joints || !b->joint[def->joint.index].ours)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The actuator \"%s\" is of joint %d, which is not there or has no coordinates.",
                    name, def->joint.index);
  asi_coordinate all[AS_JOINT_COORDINATES];
  const int n = asi_joint_coordinates(b->joint[def->joint.index].kind, all);
  const char *of = asi_names_get(&b->names[ASI_SORT_JOINT], def->joint.index);
  if (def->coordinate < 0 || def->coordinate >= n)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                    "The actuator \"%s\" is of coordinate %d of joint \"%s\", which has %d.", name,
                    def->coordinate, of, n);
  if (all[def->coordinate].kind == ASI_COORDINATE_ROTATION)
    return asi_fail(
        error, AS_ERR_UNSUPPORTED, (double)NAN, name,
        "The actuator \"%s\" is of a rotation vector of joint \"%s\": use a load with a torque and "
        "its reaction.",
        name, of);
  *line = asi_joint_gauge(b, def->joint.index, all[def->coordinate]);
  for (int e = 0; e < 2; ++e) body[e] = line->body[e];
  return AS_OK;
}

static as_status find_line(const as_builder *b, const as_actuator_def *def, const char *name,
                           asi_gauge *line, int body[2], as_error *error) {
  const asi_side_def side[2] = {{def->frame[0], def->body[0], def->point[0], asi_world_axes},
                                {def->frame[1], def->body[1], def->point[1], asi_world_axes}};
  line->kind = ASI_GAUGE_DISTANCE;
  return asi_builder_ends(b, side, name, &line->ends, body, error);
}

as_status as_builder_add_actuator(as_builder *b, const as_actuator_def *def, as_force_id *id,
                                  as_error *error) {
  const as_status made = ASI_CHECK_DEFINITION(as_actuator_def, def, error);
  if (made) return made;
  char store[32], what[96];
  bool pair[ASI_PAIR * ASI_PAIR];
  int body[2] = {ASI_GROUND, ASI_GROUND};
  const char *name = asi_builder_name(b, ASI_SORT_FORCE, def->name, store);
  if (def->force == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name, "The actuator \"%s\" has no force.",
                    name);
  asi_gauge line = {.turn = -1};
  as_status status = def->joint.index == ASI_NONE ? find_line(b, def, name, &line, body, error)
                                                  : find_joint(b, def, name, &line, body, error);
  if (status) return status;
  making *m = begin(b, name, body);
  if (m == NULL) return asi_fail_memory(error);
  m->head.line = line;
  m->head.line.body[0] = 0;
  m->head.line.body[1] = 1;
  snprintf(what, sizeof what, "The force of actuator \"%.48s\"", name);
  status = add_effort(m, def->force, what, 0, error);
  asi_flag_pair(pair);
  if (status == AS_OK) status = append(m, def->name, &asi_actuator_type, pair, id, error);
  return end(m, status);
}

// ---- loads ------------------------------------------------------------------------------------------

as_status asi_builder_formula_load(as_builder *b, const as_load_def *def, const char *name,
                                   const asi_load *load, const int body[2], const bool *pair,
                                   as_force_id *id, as_error *error) {
  making *m = begin(b, name, body);
  if (m == NULL) return asi_fail_memory(error);
  m->head.load = *load;
  as_status status = AS_OK;
  for (int k = 0; k < ASI_EFFORTS && status == AS_OK; ++k) {
    char what[96];
    const char *text = k < 3 ? def->force_formula[k] : def->torque_formula[k - 3];
    snprintf(what, sizeof what, "The %s %c of load \"%.48s\"", k < 3 ? "force" : "torque",
             "xyz"[k % 3], name);
    if (text) status = add_effort(m, text, what, k, error);
  }
  if (status == AS_OK) status = append(m, def->name, &asi_formula_load_type, pair, id, error);
  return end(m, status);
}
