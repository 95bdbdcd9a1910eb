/// The builder's memory and what adding things shares, see builder.h.
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "elements/surface.h"
#include "elements/vector.h"

// A point that is given in the world is at a mass if it is no further off than this, in m or parts of the mass's distance from the origin.
#define TYPED 1e-6

as_status as_builder_create(const as_model_def *def, as_builder **out, as_error *error) {
  if (out == NULL || def == NULL)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "as_builder_create needs a description and a place for the builder.");
  *out = NULL;
  for (int i = 0; i < 3; ++i)
    if (!isfinite(def->gravity[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, "gravity",
                      "Component %d of gravity is %g m/s^2.", i, def->gravity[i]);
  as_builder *b = asi_calloc(1, sizeof *b);
  if (b == NULL) return asi_fail_memory(error);
  asi_copy(def->gravity, b->gravity);
  *out = b;
  return AS_OK;
}

void as_builder_destroy(as_builder *b) {
  if (b == NULL) return;
  for (int s = 0; s < ASI_SORTS; ++s) asi_names_free(&b->names[s]);
  for (int i = 0; i < b->n_curves; ++i) asi_curve_free(&b->curve[i]);
  for (int i = 0; i < b->n_tables; ++i) asi_curve_free(&b->table[i]);
  for (int i = 0; i < b->n_superelements; ++i) asi_superelement_free(&b->superelement[i]);
  free(b->superelement);
  asi_flexibles_free(b->flexible, b->n_flexibles);
  free(b->flexible_part);
  free(b->body);
  free(b->frame);
  free(b->joint);
  free(b->force);
  free(b->element);
  free(b->pattern);
  free(b->curve);
  free(b->table);
  free(b->place);
  free(b->data);
  free(b->wanted);
  free(b->parameter);
  free(b->turn);
  free(b->block);
  free(b->signal);
  free(b->switch_);
  free(b->road);
  free(b->beam);
  free(b->station);
  asi_linear_blocks_free(b->linear, b->n_linear);
  free(b);
}

/// Copies an array in place of the pointer to it; `room` becomes `count`.
static bool copy_array(void **array, int count, int *room, size_t size) {
  void *copy = asi_calloc((size_t)count, size);
  if (copy && count > 0) memcpy(copy, *array, (size_t)count * size);
  *array = copy;
  *room = copy ? count : 0;
  return copy != NULL;
}

/// Copies superelements; what there is of them can be freed, also if memory runs out.
static bool copy_superelements(as_builder *c, const as_builder *b) {
  c->n_superelements = 0;
  c->room_superelements = b->n_superelements;
  c->superelement = asi_calloc((size_t)b->n_superelements, sizeof *c->superelement);
  if (c->superelement == NULL) return false;
  while (c->n_superelements < b->n_superelements) {
    const int i = c->n_superelements++;
    if (!asi_superelement_copy(&c->superelement[i], &b->superelement[i])) return false;
  }
  return true;
}

as_builder *asi_builder_copy(const as_builder *b) {
  as_builder *c = asi_calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  *c = *b;
  bool ok = true;
  for (int s = 0; s < ASI_SORTS; ++s) // each sets its own part, whatever the others did
    ok = (asi_names_copy(&c->names[s], &b->names[s], NULL) == AS_OK) && ok;
  const struct {
    void *from;
    int count;
    size_t size;
    int *room;
  } arrays[] = {
      {b->body, b->n_bodies, sizeof *b->body, &c->room_bodies},
      {b->frame, b->n_frames, sizeof *b->frame, &c->room_frames},
      {b->joint, b->n_joints, sizeof *b->joint, &c->room_joints},
      {b->force, b->n_forces, sizeof *b->force, &c->room_forces},
      {b->element, b->n_elements, sizeof *b->element, &c->room_elements},
      {b->pattern, b->n_patterns, sizeof *b->pattern, &c->room_patterns},
      {b->place, b->n_places, sizeof *b->place, &c->room_places},
      {b->wanted, b->n_wanted, sizeof *b->wanted, &c->room_wanted},
      {b->parameter, b->n_parameters, sizeof *b->parameter, &c->room_parameters},
      {b->turn, b->n_turns, sizeof *b->turn, &c->room_turns},
      {b->block, b->n_blocks, sizeof *b->block, &c->room_blocks},
      {b->signal, b->n_signals, sizeof *b->signal, &c->room_signals},
      {b->beam, b->n_beams, sizeof *b->beam, &c->room_beams},
      {b->station, b->n_stations, sizeof *b->station, &c->room_stations},
      {b->switch_, b->n_switches, sizeof *b->switch_, &c->room_switches},
      {b->flexible_part, b->n_flexible_parts, sizeof *b->flexible_part, &c->room_flexible_parts},
      {b->road, b->n_roads, sizeof *b->road, &c->room_roads}};
  enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
  void *copy[ARRAYS];
  for (int i = 0; i < ARRAYS; ++i) {
    copy[i] = arrays[i].from;
    ok = copy_array(&copy[i], arrays[i].count, arrays[i].room, arrays[i].size) && ok;
  }
  c->body = copy[0];
  c->frame = copy[1];
  c->joint = copy[2];
  c->force = copy[3];
  c->element = copy[4];
  c->pattern = copy[5];
  c->place = copy[6];
  c->wanted = copy[7];
  c->parameter = copy[8];
  c->turn = copy[9];
  c->block = copy[10];
  c->signal = copy[11];
  c->beam = copy[12];
  c->station = copy[13];
  c->switch_ = copy[14];
  c->flexible_part = copy[15];
  c->road = copy[16];
  c->data = asi_calloc(b->data_used, 1);
  c->data_room = b->data_used;
  if (c->data && b->data_used > 0) memcpy(c->data, b->data, b->data_used);
  if (!asi_curves_copy(b->curve, b->n_curves, &c->curve, &c->n_curves)) ok = false;
  if (!asi_curves_copy(b->table, b->n_tables, &c->table, &c->n_tables)) ok = false;
  c->room_curves = c->n_curves;
  c->room_tables = c->n_tables;
  asi_curves_set_tables(c->curve, c->n_curves, c->table);
  if (!copy_superelements(c, b)) ok = false;
  if (!asi_flexibles_copy(b->flexible, b->n_flexibles, &c->flexible, &c->n_flexibles)) ok = false;
  c->room_flexibles = c->n_flexibles;
  if (!asi_linear_blocks_copy(b->linear, b->n_linear, &c->linear, &c->n_linear)) ok = false;
  c->room_linear = c->n_linear;
  if (ok && c->data) return c;
  as_builder_destroy(c);
  return NULL;
}

bool asi_grow(void **array, int count, int *room, size_t size) {
  if (count < *room) return true;
  if (*room > (1 << 28)) return false;
  const int more = 2 * *room + 16;
  void *grown = realloc(*array, (size_t)more * size);
  if (grown == NULL) return false;
  *array = grown;
  *room = more;
  return true;
}

asi_mark asi_builder_mark(const as_builder *b) {
  return (asi_mark){b->n_elements, b->n_patterns, b->n_curves,
                    b->n_places,   b->n_turns,    b->data_used};
}

void asi_builder_reset(as_builder *b, asi_mark mark) {
  while (b->n_curves > mark.n_curves) asi_curve_free(&b->curve[--b->n_curves]);
  b->n_elements = mark.n_elements;
  b->n_patterns = mark.n_patterns;
  b->n_places = mark.n_places;
  b->n_turns = mark.n_turns;
  b->data_used = mark.data_used;
}

/// Room for one more curve.
static as_status grow_curves(as_builder *b, as_error *error) {
  void *array = b->curve;
  if (!asi_grow(&array, b->n_curves, &b->room_curves, sizeof *b->curve))
    return asi_fail_memory(error);
  b->curve = array;
  return AS_OK;
}

/// A formula in the place of a curve or surface.
static as_status add_formula(as_builder *b, const char *text, const char *what,
                             const char *const *own, bool smooth, asi_curve_ref *ref,
                             as_error *error) {
  asi_formula *formula = NULL;
  as_status status = grow_curves(b, error);
  if (status == AS_OK) status = asi_builder_formula(b, text, what, own, smooth, &formula, error);
  if (status) return status;
  b->curve[b->n_curves] = (asi_curve){.formula = formula};
  ref->index = b->n_curves++;
  return AS_OK;
}

as_status asi_builder_curve(as_builder *b, const as_curve *def, const char *what,
                            const char *const *own, asi_curve_ref *ref, as_error *error) {
  *ref = (asi_curve_ref){-1, NULL};
  if (def == NULL) return AS_OK;
  if (def->formula) return add_formula(b, def->formula, what, own, false, ref, error);
  as_status status = grow_curves(b, error);
  if (status == AS_OK) status = asi_curve_init(&b->curve[b->n_curves], def, what, error);
  if (status) return status;
  b->curve[b->n_curves].of_time = own == NULL;
  ref->index = b->n_curves++;
  return AS_OK;
}

as_status asi_builder_motion(as_builder *b, const as_curve *def, const char *what,
                             asi_curve_ref *ref, as_error *error) {
  *ref = (asi_curve_ref){-1, NULL};
  if (def && def->formula) return add_formula(b, def->formula, what, NULL, true, ref, error);
  if (def && def->n > 0 && def->function == NULL && def->interpolation == AS_LINEAR)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "%s has a table with straight pieces: its velocity would jump.", what);
  return asi_builder_curve(b, def, what, NULL, ref, error);
}

as_status asi_builder_surface(as_builder *b, const as_surface *def, const char *what,
                              const char *const *own, asi_curve_ref *ref, as_error *error) {
  *ref = (asi_curve_ref){-1, NULL};
  if (def == NULL) return AS_OK;
  if (def->formula) return add_formula(b, def->formula, what, own, false, ref, error);
  asi_surface *surface = NULL;
  as_status status = grow_curves(b, error);
  if (status == AS_OK) status = asi_surface_make(def, what, &surface, error);
  if (status) return status;
  b->curve[b->n_curves] = (asi_curve){.surface = surface};
  ref->index = b->n_curves++;
  return AS_OK;
}

int asi_builder_turn(as_builder *b, int joint, int coordinate) {
  for (int i = 0; i < b->n_turns; ++i)
    if (b->turn[i].joint == joint && b->turn[i].coordinate == coordinate) return i;
  void *array = b->turn;
  if (!asi_grow(&array, b->n_turns, &b->room_turns, sizeof *b->turn)) return -1;
  b->turn = array;
  b->turn[b->n_turns] = (asi_turning){joint, coordinate};
  return b->n_turns++;
}

static bool same_flags(const asi_element_flags *a, const asi_element_flags *b) {
  return a->n_bodies == b->n_bodies && a->n_rows == b->n_rows &&
         a->n_velocity_rows == b->n_velocity_rows && a->n_read == b->n_read &&
         a->n_states == b->n_states && a->force == b->force &&
         memcmp(a->k_q, b->k_q, sizeof a->k_q) == 0 && memcmp(a->k_v, b->k_v, sizeof a->k_v) == 0 &&
         memcmp(a->f_lambda, b->f_lambda, sizeof a->f_lambda) == 0 &&
         memcmp(a->f_q, b->f_q, sizeof a->f_q) == 0 && memcmp(a->f_v, b->f_v, sizeof a->f_v) == 0 &&
         memcmp(a->g_q, b->g_q, sizeof a->g_q) == 0 &&
         memcmp(a->gdot_q, b->gdot_q, sizeof a->gdot_q) == 0 &&
         memcmp(a->M, b->M, sizeof a->M) == 0 && memcmp(a->Ma_q, b->Ma_q, sizeof a->Ma_q) == 0;
}

static as_status find_pattern(as_builder *b, const asi_element_flags *flags, int *out,
                              as_error *error) {
  // Elements of a kind follow each other, as a rule.
  for (int i = b->n_patterns - 1; i >= 0; --i)
    if (same_flags(&b->pattern[i], flags)) {
      *out = i;
      return AS_OK;
    }
  void *array = b->pattern;
  if (!asi_grow(&array, b->n_patterns, &b->room_patterns, sizeof *b->pattern))
    return asi_fail_memory(error);
  b->pattern = array;
  memcpy(&b->pattern[b->n_patterns], flags, sizeof *flags);
  *out = b->n_patterns++;
  return AS_OK;
}

size_t asi_builder_next_data(const as_builder *b) { return (b->data_used + 15) / 16 * 16; }

static bool take_data(as_builder *b, const void *data, size_t size, size_t *offset) {
  *offset = asi_builder_next_data(b);
  if (*offset + size > b->data_room) {
    const size_t room = 2 * (*offset + size) + 1024;
    unsigned char *grown = realloc(b->data, room);
    if (grown == NULL) return false;
    b->data = grown;
    b->data_room = room;
  }
  if (*offset > b->data_used) memset(b->data + b->data_used, 0, *offset - b->data_used);
  if (size > 0) memcpy(b->data + *offset, data, size);
  b->data_used = *offset + size;
  return true;
}

as_status asi_builder_element(as_builder *b, const asi_element *element,
                              const asi_element_flags *flags, const void *data, size_t size,
                              const size_t *refs, int n_refs, as_error *error) {
  asi_element e = *element;
  as_status status = find_pattern(b, flags, &e.pattern, error);
  if (status) return status;
  if (!take_data(b, data, size, &e.data)) return asi_fail_memory(error);
  for (int i = 0; i < n_refs; ++i) {
    asi_curve_ref ref;
    memcpy(&ref, b->data + e.data + refs[i], sizeof ref);
    if (ref.index < 0) continue;
    void *array = b->place;
    if (!asi_grow(&array, b->n_places, &b->room_places, sizeof *b->place))
      return asi_fail_memory(error);
    b->place = array;
    b->place[b->n_places++] = (asi_curve_place){e.data + refs[i], ref.index};
  }
  void *array = b->element;
  if (!asi_grow(&array, b->n_elements, &b->room_elements, sizeof *b->element))
    return asi_fail_memory(error);
  b->element = array;
  b->element[b->n_elements++] = e;
  return AS_OK;
}

as_status asi_builder_joint(as_builder *b, const char *name, asi_joint_info info, as_joint_id *id,
                            as_error *error) {
  void *array = b->joint;
  if (!asi_grow(&array, b->n_joints, &b->room_joints, sizeof *b->joint))
    return asi_fail_memory(error);
  b->joint = array;
  const as_status status = asi_names_add(&b->names[ASI_SORT_JOINT], ASI_SORT_JOINT, name, error);
  if (status) return status;
  b->joint[b->n_joints] = info;
  if (id) *id = (as_joint_id){b->n_joints};
  ++b->n_joints;
  return AS_OK;
}

as_status as_builder_set_active(as_builder *b, as_joint_id joint, bool active, as_error *error) {
  if (joint.index < 0 || joint.index >= b->n_joints)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL,
                    "Joint %d, which is to be %s at the start, is not there.", joint.index,
                    active ? "active" : "inactive");
  b->joint[joint.index].released = !active;
  return AS_OK;
}

as_status asi_builder_check_body(const as_builder *b, as_body_id body, asi_entity_kind sort,
                                 const char *what, as_error *error) {
  if (body.index == ASI_GROUND || (body.index >= 0 && body.index < b->n_bodies)) return AS_OK;
  return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, what,
                  "The %s \"%s\" is on body %d, which is not there.", asi_entity_kind_name(sort),
                  what, body.index);
}

const as_body_motion *asi_builder_pose(const as_builder *b, int body) {
  return body >= 0 ? &b->body[body].at : &asi_ground_motion;
}

as_status asi_builder_side(const as_builder *b, const asi_side_def *def, asi_entity_kind sort,
                           const char *name, asi_marker *out, as_error *error) {
  if (def->frame.index != ASI_NONE) {
    if (def->frame.index < 0 || def->frame.index >= b->n_frames)
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "The %s \"%s\" uses frame %d, which is not there.",
                      asi_entity_kind_name(sort), name, def->frame.index);
    b->frame[def->frame.index].used = true;
    *out = b->frame[def->frame.index];
    return AS_OK;
  }
  const as_status status = asi_builder_check_body(b, def->body, sort, name, error);
  if (status) return status;
  for (int i = 0; i < 3; ++i)
    if (!isfinite(def->point[i]))
      return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, name,
                      "A point of the %s \"%s\" has the coordinate %g.", asi_entity_kind_name(sort),
                      name, def->point[i]);
  const as_body_motion *at = asi_builder_pose(b, def->body.index);
  double from[3];
  *out = (asi_marker){.body = def->body.index};
  asi_sum(def->point, -1.0, at->x, from);
  asi_rotate_back(at->R, from, out->frame.p);
  for (int k = 0; k < 3; ++k) asi_rotate_back(at->R, def->axes + 3 * k, out->frame.axis + 3 * k);
  return AS_OK;
}

as_status asi_builder_check_offset(const as_builder *b, int body, const double off[3],
                                   asi_entity_kind sort, const char *name, as_error *error) {
  if (body < 0 || b->body[body].body.n >= 6 ||
      !(asi_norm(off) > TYPED * fmax(1.0, asi_norm(b->body[body].at.x))))
    return AS_OK;
  return asi_fail(
      error, AS_ERR_ARGUMENT, (double)NAN, name,
      "The %s \"%s\" acts %.6g m beside the point mass \"%s\", which has no extent and does "
      "not turn: let it act at the mass, or make that a rigid body.",
      asi_entity_kind_name(sort), name, asi_norm(off),
      asi_names_get(&b->names[ASI_SORT_BODY], body));
}

/// Of any length: squares neither overflow nor vanish.
static bool normalize(double *a) {
  int exponent = 0;
  (void)frexp(fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2]))), &exponent);
  for (int i = 0; i < 3; ++i) a[i] = ldexp(a[i], -exponent);
  const double size = asi_norm(a);
  if (!(size > 0.0) || !isfinite(size)) return false;
  for (int i = 0; i < 3; ++i) a[i] /= size;
  return true;
}

bool asi_triad(const double *main, int k, const double *second, int l, double axes[9]) {
  double u[3], w[3];
  asi_copy(main, u);
  asi_copy(second, w);
  if (u[0] == 0.0 && u[1] == 0.0 && u[2] == 0.0) u[k] = 1.0;
  if (!normalize(u)) return false;
  if (w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0) {
    int least = 0;
    for (int i = 1; i < 3; ++i)
      if (fabs(u[i]) < fabs(u[least])) least = i;
    w[least] = 1.0;
    if (fabs(u[l]) < 0.9)
      asi_set(l == 0, l == 1, l == 2, w); // the world's own, if it is not along u
  }
  if (!normalize(w)) return false;
  asi_add(-asi_dot(u, w), u, w);
  if (!(asi_norm(w) > 1e-6) || !normalize(w)) return false;
  asi_copy(u, axes + 3 * k);
  asi_copy(w, axes + 3 * l);
  const int m = 3 - k - l;
  // The third completes a right-handed triad.
  if ((k + 1) % 3 == l)
    asi_cross(u, w, axes + 3 * m);
  else
    asi_cross(w, u, axes + 3 * m);
  return true;
}

const char *asi_builder_name(const as_builder *b, asi_entity_kind sort, const char *name,
                             char store[32]) {
  if (name) return name;
  snprintf(store, 32, "%s %d", asi_entity_kind_name(sort), b->names[sort].count);
  return store;
}
