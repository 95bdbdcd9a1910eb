/// Selections: names and patterns become channels, once; afterwards there are only numbers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/words.h"
#include "base/error.h"
#include "model/blocks.h"
#include "results/channels.h"
#include "results/rules.h"

enum {
  PARTS = 4,
  MOST_PARTS = 5, ///< with the number of a station, which belongs to its name
  MOST_LISTED = 8,
};

/// The parts of a name, from left to right.
typedef enum level { LEVEL_GROUP, LEVEL_OBJECT, LEVEL_QUANTITY, LEVEL_COMPONENT } level;

/// The deepest level where a selection found nothing, and what there is instead.
typedef struct miss {
  level where;
  asi_group group;
  char part[128];
  int distance; ///< of the nearest candidate; -1: there is none
  char nearest[64];
  int first_object; ///< whose candidates are listed
  int listed;
  char list[256];
} miss;

typedef struct selector {
  as_channels *out;
  int *slot[ASI_SOURCES]; ///< of each object: where its source's numbers begin, -1: nowhere yet
  bool *taken;            ///< of each value: it is a channel
  int room_taken;
  const char *text; ///< the selection as it was given
  char *part[MOST_PARTS];
  int n_parts;
  asi_group group; ///< that is looked at
  bool found;      ///< something, which may be a channel already
  bool explains;   ///< nothing was found: notes what there is instead
  miss miss;
  as_error *error;
} selector;

// ---- channels ---------------------------------------------------------------------------------------

static bool add_text(as_channels *c, const char *text) {
  const size_t size = strlen(text);
  if (c->text_used + size + 1 > c->text_room) {
    const size_t room = 2 * (c->text_room + size) + 256;
    char *grown = realloc(c->text, room);
    if (grown == NULL) return false;
    c->text = grown;
    c->text_room = room;
  }
  memcpy(c->text + c->text_used, text, size + 1);
  c->text_used += size;
  return true;
}

/// Where the numbers of a new source begin. -1: memory has run out.
static int add_source(selector *s, asi_source source) {
  as_channels *c = s->out;
  void *sources = c->source;
  if (!asi_grow(&sources, c->n_sources, &c->room_sources, sizeof *c->source)) return -1;
  c->source = sources;
  const int size = asi_source_size(c->model, source);
  while (s->room_taken < c->n_values + size) {
    const int room = 2 * s->room_taken + 64;
    bool *taken = realloc(s->taken, (size_t)room * sizeof *taken);
    if (taken == NULL) return -1;
    memset(taken + s->room_taken, 0, (size_t)(room - s->room_taken) * sizeof *taken);
    s->taken = taken;
    s->room_taken = room;
  }
  source.first = c->n_values;
  c->source[c->n_sources++] = source;
  c->n_values += size;
  return source.first;
}

/// Where the numbers of a source begin; a new one if it is not there yet. -1: memory has run out.
static int find_source(selector *s, asi_group group, int object, asi_source_kind kind) {
  as_channels *c = s->out;
  const int objects =
      asi_group_has_objects(group) ? asi_group_objects(c->model, c->events, group) : 1;
  if (s->slot[kind] == NULL) {
    s->slot[kind] = asi_calloc((size_t)objects, sizeof(int));
    if (s->slot[kind] == NULL) return -1;
    for (int i = 0; i < objects; ++i) s->slot[kind][i] = -1;
  }
  if (s->slot[kind][object] < 0)
    s->slot[kind][object] = add_source(s, (asi_source){.kind = kind, .object = object});
  return s->slot[kind][object];
}

/// Adds the channel that reads a place in values; the four parts of its name, NULL where there is none.
static bool add_place(selector *s, int place, const char *unit, const char *const part[PARTS]) {
  as_channels *c = s->out;
  s->found = true;
  if (s->taken[place]) return true;
  void *pick = c->pick, *name = c->name;
  void *units = (void *)c->unit;
  const bool room = asi_grow(&pick, c->n, &c->room[0], sizeof *c->pick);
  c->pick = pick;
  const bool room_name = asi_grow(&name, c->n, &c->room[1], sizeof *c->name);
  c->name = name;
  const bool room_unit = asi_grow(&units, c->n, &c->room[2], sizeof *c->unit);
  c->unit = units;
  if (!room || !room_name || !room_unit) return false;
  const size_t begin = c->text_used;
  bool written = add_text(c, part[0]);
  for (int i = 1; i < PARTS; ++i)
    if (part[i]) written = written && add_text(c, ".") && add_text(c, part[i]);
  if (!written) return false;
  ++c->text_used; // keep the end
  c->pick[c->n] = place;
  c->name[c->n] = begin;
  c->unit[c->n++] = unit;
  s->taken[place] = true;
  return true;
}

static bool add_channel(selector *s, asi_group group, int object, const asi_channel_quantity *q,
                        int component) {
  const int first = find_source(s, group, object, q->source);
  if (first < 0) return false;
  const char axis[2] = {q->axes[component], '\0'};
  const bool named = asi_group_has_objects(group);
  const char *const part[PARTS] = {
      asi_group_name(group),
      named ? asi_names_get(asi_group_names(s->out->model, s->out->events, group), object) : NULL,
      q->name, q->axes[0] ? axis : NULL};
  return add_place(s, first + q->first + component, q->unit, part);
}

static const char magnitude[] = "_magnitude";

/// bodies.B.velocity_magnitude: of a quantity with x, y and z. False: memory has run out.
static bool add_magnitude(selector *s, asi_group group, int object, const asi_channel_quantity *q,
                          const char *name) {
  as_channels *c = s->out;
  const int of = find_source(s, group, object, q->source);
  int place = -1;
  for (int i = 0; i < c->n_sources && place < 0 && of >= 0; ++i)
    if (c->source[i].kind == ASI_SOURCE_MAGNITUDE && c->source[i].other == of + q->first)
      place = c->source[i].first;
  if (place < 0 && of >= 0)
    place = add_source(s, (asi_source){.kind = ASI_SOURCE_MAGNITUDE, .other = of + q->first});
  const bool named = asi_group_has_objects(group);
  const char *const part[PARTS] = {
      asi_group_name(group),
      named ? asi_names_get(asi_group_names(c->model, c->events, group), object) : NULL, name,
      NULL};
  return place >= 0 && add_place(s, place, q->unit, part);
}

/// Whether a part of a selection is the name of a quantity and `_magnitude`.
static bool is_magnitude(const char *part, const char *quantity) {
  const size_t n = strlen(quantity);
  return strncmp(part, quantity, n) == 0 && strcmp(part + n, magnitude) == 0;
}

/// frames.A.distance.B
static bool add_distance(selector *s, int frame, int other, bool rate) {
  const as_channels *c = s->out;
  const asi_names *names = asi_group_names(c->model, NULL, ASI_GROUP_FRAMES);
  int first = -1;
  for (int i = 0; i < c->n_sources && first < 0; ++i)
    if (c->source[i].kind == ASI_SOURCE_DISTANCE && c->source[i].object == frame &&
        c->source[i].other == other)
      first = c->source[i].first;
  if (first < 0)
    first =
        add_source(s, (asi_source){.kind = ASI_SOURCE_DISTANCE, .object = frame, .other = other});
  if (first < 0) return false;
  const char *const part[PARTS] = {asi_group_name(ASI_GROUP_FRAMES), asi_names_get(names, frame),
                                   rate ? "distance_rate" : "distance",
                                   asi_names_get(names, other)};
  return add_place(s, first + rate, rate ? "m/s" : "m", part);
}

/// blocks.NAME or blocks.NAME.OUTPUT
static bool add_signal(selector *s, int block, int signal) {
  const as_model *m = s->out->model;
  const asi_signal *x = &m->blocks->signal[signal];
  if (s->slot[ASI_SOURCE_SIGNAL] == NULL) {
    s->slot[ASI_SOURCE_SIGNAL] = asi_calloc((size_t)m->blocks->n_signals, sizeof(int));
    if (s->slot[ASI_SOURCE_SIGNAL] == NULL) return false;
    for (int i = 0; i < m->blocks->n_signals; ++i) s->slot[ASI_SOURCE_SIGNAL][i] = -1;
  }
  int *first = &s->slot[ASI_SOURCE_SIGNAL][signal];
  if (*first < 0) *first = add_source(s, (asi_source){.kind = ASI_SOURCE_SIGNAL, .object = signal});
  const char *const part[PARTS] = {asi_group_name(ASI_GROUP_BLOCKS),
                                   asi_names_get(&m->names[ASI_SORT_BLOCK], block),
                                   x->output[0] ? x->output : NULL, NULL};
  return *first >= 0 && add_place(s, *first, x->unit, part);
}

// ---- matching ---------------------------------------------------------------------------------------

bool asi_matches(const char *pattern, const char *text) {
  const char *star = NULL, *again = NULL;
  while (*text) {
    if (*pattern == '*') {
      star = pattern++;
      again = text;
    } else if (*pattern == *text) {
      ++pattern;
      ++text;
    } else if (star) {
      pattern = star + 1;
      text = ++again;
    } else {
      return false;
    }
  }
  while (*pattern == '*') ++pattern;
  return *pattern == '\0';
}

static void note_miss(selector *s, level where, const char *part, int object, const char *name) {
  miss *m = &s->miss;
  if (!s->explains) return;
  if (m->distance < 0 || where > m->where) {
    *m = (miss){.where = where, .group = s->group, .distance = 1000, .first_object = object};
    snprintf(m->part, sizeof m->part, "%s", part);
  }
  if (where < m->where) return;
  const int distance = as_word_distance(part, name);
  if (distance < m->distance) {
    m->distance = distance;
    snprintf(m->nearest, sizeof m->nearest, "%s", name);
  }
  if (object != m->first_object || m->listed > MOST_LISTED) return;
  const size_t used = strlen(m->list);
  const bool fits = used + strlen(name) + sizeof ", , ..." < sizeof m->list;
  snprintf(m->list + used, sizeof m->list - used, "%s%s", m->listed ? ", " : "",
           m->listed < MOST_LISTED && fits ? name : "...");
  m->listed = fits ? m->listed + 1 : MOST_LISTED + 1;
}

/// Whether a name is what a part of the selection asks for; a part that is not there asks for anything.
static bool takes(selector *s, level where, int part, int object, const char *name) {
  if (part >= s->n_parts || asi_matches(s->part[part], name)) return true;
  note_miss(s, where, s->part[part], object, name);
  return false;
}

/// Distances of a frame, which have to be asked for by name; false: memory has run out.
static bool select_distances(selector *s, int frame, bool rate) {
  const asi_names *names = asi_group_names(s->out->model, NULL, ASI_GROUP_FRAMES);
  for (int i = 0; i < names->count; ++i)
    if (i != frame && takes(s, LEVEL_COMPONENT, 3, frame, asi_names_get(names, i)) &&
        !add_distance(s, frame, i, rate))
      return false;
  return true;
}

/// Signals of a block. Without a quantity: its own, or all if it has none.
static bool select_signals(selector *s, int block, int part) {
  const asi_control *c = s->out->model->blocks;
  const bool any = part >= s->n_parts;
  bool own = false;
  for (int i = c->block[block].first; i >= 0; i = c->signal[i].next)
    own = own || c->signal[i].output[0] == '\0';
  for (int i = c->block[block].first; i >= 0; i = c->signal[i].next) {
    const char *output = c->signal[i].output;
    if (any && own && output[0]) continue;
    if (!any && !takes(s, LEVEL_QUANTITY, part, block, output)) continue;
    if (part + 1 < s->n_parts) {
      note_miss(s, LEVEL_COMPONENT, s->part[part + 1], block, "");
      continue;
    }
    if (!add_signal(s, block, i)) return false;
  }
  return true;
}

/// All that is selected of an object; `part` is that of the quantity. False: memory has run out.
static bool select_of_object(selector *s, asi_group group, int object, int part) {
  asi_channel_quantity q[ASI_QUANTITIES];
  const int n = asi_quantities(s->out->model, group, object, q);
  const char *quantity = part < s->n_parts ? s->part[part] : "";
  if (group == ASI_GROUP_BLOCKS) return select_signals(s, object, part);
  const bool rate = strcmp(quantity, "distance_rate") == 0;
  if (group == ASI_GROUP_FRAMES && (rate || strcmp(quantity, "distance") == 0))
    return select_distances(s, object, rate);
  for (int i = 0; i < n; ++i) {
    if (part + 1 == s->n_parts && strcmp(q[i].axes, "xyz") == 0 &&
        is_magnitude(quantity, q[i].name)) {
      if (!add_magnitude(s, group, object, &q[i], quantity)) return false;
      continue;
    }
    if (q[i].by_name && !s->explains && strcmp(quantity, q[i].name) != 0) continue;
    if (!takes(s, LEVEL_QUANTITY, part, object, q[i].name)) continue;
    const int components = q[i].axes[0] ? (int)strlen(q[i].axes) : 1;
    if (q[i].axes[0] == '\0' && part + 1 < s->n_parts) {
      note_miss(s, LEVEL_COMPONENT, s->part[part + 1], object, "");
      continue;
    }
    for (int k = 0; k < components; ++k) {
      const char axis[2] = {q[i].axes[k], '\0'};
      if (axis[0] && !takes(s, LEVEL_COMPONENT, part + 1, object, axis)) continue;
      if (!add_channel(s, group, object, &q[i], k)) return false;
    }
  }
  return true;
}

/// Whether `rod.small end` is there: a node, a coordinate or a point of a flexible body.
static bool is_part(const selector *s, asi_group group) {
  char name[256];
  const asi_names *names = asi_group_names(s->out->model, s->out->events, group);
  snprintf(name, sizeof name, "%s.%s", s->part[1], s->part[2]);
  return asi_names_find(names, name) >= 0;
}

/// Whether the third part is the number of a station or a part of a flexible body: `bodies.blade.3`, `beams.blade.*`. Of bodies a star
/// there means all quantities, unless the name before is a beam's or a flexible body's.
static bool has_number(const selector *s, asi_group group) {
  if (!asi_group_has_stations(group) || s->n_parts < 3) return false;
  const char *number = s->part[2];
  if (number[strspn(number, "0123456789")] == '\0' || is_part(s, group)) return true;
  if (group == ASI_GROUP_FLEXIBLE && number[strspn(number, "z0123456789*")] == '\0') return true;
  if (number[strspn(number, "0123456789*")] != '\0') return false;
  const as_model *m = s->out->model;
  return group == ASI_GROUP_BEAMS || asi_names_find(&m->names[ASI_SORT_BEAM], s->part[1]) >= 0 ||
         asi_names_find(&m->names[ASI_SORT_FLEXIBLE], s->part[1]) >= 0;
}

/// The beam alone means all its stations, the flexible body all its coordinates and points.
static bool is_of_whole(selector *s, asi_group group, int object) {
  const as_model *m = s->out->model;
  if (group == ASI_GROUP_FLEXIBLE && s->n_parts >= 2)
    return asi_matches(
        s->part[1], asi_names_get(&m->names[ASI_SORT_FLEXIBLE], m->flexible_part[object].flexible));
  if (group != ASI_GROUP_BEAMS || s->n_parts < 2) return false;
  return asi_matches(s->part[1], asi_names_get(&m->names[ASI_SORT_BEAM], m->station[object].beam));
}

static bool select_of_objects(selector *s, asi_group group, int part) {
  const asi_names *names = asi_group_names(s->out->model, s->out->events, group);
  const int exact = s->n_parts > 1 ? asi_names_find(names, s->part[1]) : -1;
  if (exact >= 0) return select_of_object(s, group, exact, part);
  for (int i = 0; i < names->count; ++i)
    if ((is_of_whole(s, group, i) || takes(s, LEVEL_OBJECT, 1, 0, asi_names_get(names, i))) &&
        !select_of_object(s, group, i, part))
      return false;
  if (names->count == 0 && s->n_parts > 1) note_miss(s, LEVEL_OBJECT, s->part[1], 0, "");
  return true;
}

static bool select_of_group(selector *s, asi_group group) {
  if (!asi_group_has_objects(group)) return select_of_object(s, group, 0, 1);
  const bool joined = has_number(s, group);
  if (s->n_parts == MOST_PARTS && !joined) return true; // it is of no such group
  char *point = joined ? s->part[2] - 1 : NULL;         // between the name and the number
  if (point) *point = '.';
  const bool good = select_of_objects(s, group, joined ? 3 : 2);
  if (point) *point = '\0';
  return good;
}

static as_status select_of_groups(selector *s) {
  for (int g = 0; g < ASI_GROUPS; ++g) {
    if (!takes(s, LEVEL_GROUP, 0, 0, asi_group_name((asi_group)g))) continue;
    s->group = (asi_group)g;
    if (!select_of_group(s, (asi_group)g)) return asi_fail_memory(s->error);
  }
  return AS_OK;
}

// ---- selections -------------------------------------------------------------------------------------

static as_status fail_miss(const selector *s) {
  const miss *m = &s->miss;
  static const char *const what[] = {"group", NULL, "quantity", "component"};
  static const char *const objects[] = {"body", "frame",         "joint", "force",
                                        "beam", "flexible body", "block", "event"};
  char hint[320] = "";
  if (m->distance >= 0 && m->nearest[0] && as_word_is_close(m->part, m->distance))
    snprintf(hint, sizeof hint, "did you mean `%s`?", m->nearest);
  else if (m->list[0])
    snprintf(hint, sizeof hint, "there are: %s%s", m->list, m->listed > MOST_LISTED ? "" : ".");
  else
    snprintf(hint, sizeof hint, "there are none.");
  return asi_fail(s->error, AS_ERR_ARGUMENT, (double)NAN, s->text,
                  "The output `%.80s` names the %s `%.60s`, which is not there; %s", s->text,
                  m->where == LEVEL_OBJECT ? objects[m->group] : what[m->where], m->part, hint);
}

static as_status fail_form(const selector *s) {
  return asi_fail(s->error, AS_ERR_ARGUMENT, (double)NAN, s->text,
                  "The output `%.80s` is not like `bodies.NAME.position.x`: up to four parts with "
                  "points between them.",
                  s->text);
}

/// More parts than there are, and no group whose name was meant.
static bool has_too_many_parts(const selector *s) {
  const miss *m = &s->miss;
  bool known = false;
  if (s->n_parts < MOST_PARTS || m->where != LEVEL_GROUP) return false;
  for (int g = 0; g < ASI_GROUPS; ++g)
    known = known || asi_matches(s->part[0], asi_group_name((asi_group)g));
  return known || !as_word_is_close(m->part, m->distance);
}

/// Splits at points. False if there are too many parts or empty ones.
static bool split(selector *s, char *text) {
  s->n_parts = 0;
  for (char *part = text; part != NULL;) {
    char *point = strchr(part, '.');
    if (point) *point = '\0';
    if (*part == '\0' || s->n_parts == MOST_PARTS) return false;
    s->part[s->n_parts++] = part;
    part = point ? point + 1 : NULL;
  }
  return true;
}

/// Adds what a selection chooses, which may be nothing only if that is `allowed`.
static as_status select_text(selector *s, const char *text, bool allowed) {
  char *copy = text ? malloc(strlen(text) + 1) : NULL;
  if (text == NULL)
    return asi_fail(s->error, AS_ERR_ARGUMENT, (double)NAN, NULL, "A selected output is NULL.");
  if (copy == NULL) return asi_fail_memory(s->error);
  memcpy(copy, text, strlen(text) + 1);
  s->text = text;
  s->miss = (miss){.distance = -1};
  s->found = false;
  as_status status = AS_OK;
  if (!split(s, copy)) status = fail_form(s);
  s->explains = false;
  if (status == AS_OK) status = select_of_groups(s);
  if (status == AS_OK && !s->found && !allowed) {
    s->explains = true;
    (void)select_of_groups(s);
    status = has_too_many_parts(s) ? fail_form(s) : fail_miss(s);
  }
  free(copy);
  return status;
}

static as_status select_defaults(selector *s) {
  static const char *const small[] = {
      "bodies.*.position",     "bodies.*.quaternion", "bodies.*.velocity",     "joints.*.angle",
      "joints.*.displacement", "joints.*.rotation",   "joints.*.drive",        "joints.*.force",
      "joints.*.torque",       "beams.*.force",       "beams.*.moment",        "beams.*.deflection",
      "beams.*.stress",        "flexible.*.value",    "flexible.*.deflection", "flexible.*.mises",
  };
  static const char *const always[] = {"energy", "drift", "solver.h", "events.*.count"};
  const int n_small = sizeof small / sizeof small[0], n_always = sizeof always / sizeof always[0];
  const bool all = as_model_bodies(s->out->model) <= AS_DEFAULT_BODIES;
  as_status status = AS_OK;
  for (int i = 0; all && i < n_small && status == AS_OK; ++i)
    status = select_text(s, small[i], true);
  for (int i = 0; i < n_always && status == AS_OK; ++i) status = select_text(s, always[i], true);
  return status;
}

as_status asi_channels_create(const as_model *model, const asi_names *events,
                              const char *const *selections, int n, as_channels **out,
                              as_error *error) {
  *out = NULL;
  as_channels *c = asi_calloc(1, sizeof *c);
  if (c == NULL) return asi_fail_memory(error);
  c->model = model;
  c->events = events;
  selector s = {.out = c, .error = error};
  as_status status = n > 0 ? AS_OK : select_defaults(&s);
  for (int i = 0; i < n && status == AS_OK; ++i) status = select_text(&s, selections[i], false);
  for (int k = 0; k < ASI_SOURCES; ++k) free(s.slot[k]);
  free(s.taken);
  if (status == AS_OK) {
    c->values = asi_calloc((size_t)c->n_values, sizeof(double));
    if (c->values == NULL) status = asi_fail_memory(error);
  }
  if (status) {
    as_channels_destroy(c);
    return status;
  }
  *out = c;
  return AS_OK;
}

as_status as_channels_create(const as_model *model, const char *const *selections, int n,
                             as_channels **out, as_error *error) {
  return asi_channels_create(model, NULL, selections, n, out, error);
}

as_status as_channels_create_with(const as_model *model, const as_rules *rules,
                                  const char *const *selections, int n, as_channels **out,
                                  as_error *error) {
  return asi_channels_create(model, rules ? &rules->names : NULL, selections, n, out, error);
}

void as_channels_destroy(as_channels *c) {
  if (c == NULL) return;
  free(c->source);
  free(c->pick);
  free(c->name);
  free((void *)c->unit);
  free(c->text);
  free(c->values);
  free(c);
}

int as_channels_count(const as_channels *c) { return c->n; }

as_channel as_channels_get(const as_channels *c, int i) {
  if (i < 0 || i >= c->n) return (as_channel){"", ""};
  return (as_channel){c->text + c->name[i], c->unit[i]};
}
