/// Channels are taken apart at their points, put in the order of the file and gathered into datasets.
#include "results/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/// One number of a line.
typedef struct cell {
  asi_group group;
  int object; ///< -1: the group has none
  const char *quantity, *unit;
  char axis; ///< '\0': none
  bool many; ///< see asi_layout
  int place;
} cell;

/// Takes `bodies.NAME.position.x` apart, in place. Stations of beams, and bodies there, are called `BEAM.3`; nodes of
/// flexible bodies `BODY.NODE`.
static cell take_apart(char *name, const asi_layout *l) {
  char *part[5] = {NULL}, *rest = name;
  int n = 0, next = 1;
  for (; rest && n < 5; ++n) {
    part[n] = rest;
    rest = strchr(rest, '.');
    if (rest) *rest++ = '\0';
  }
  cell c = {.group = (asi_group)0, .object = -1};
  while (strcmp(asi_group_name(c.group), part[0]) != 0) ++c.group;
  if (asi_group_has_objects(c.group)) {
    const asi_names *names = asi_group_names(l->model, l->events, c.group);
    c.object = asi_names_find(names, part[next++]);
    if (c.object < 0 && next < n) {
      char *point = part[next++] - 1;
      *point = '.';
      c.object = asi_names_find(names, part[1]);
    }
  }
  // A block's own signal is its `value` in the file.
  c.quantity = next < n ? part[next] : c.group == ASI_GROUP_BLOCKS ? ASI_HDF5_VALUE : "";
  const bool last = next + 1 >= n;
  // `frames.A.distance.B`: B is a name, not a component.
  const bool of_two = c.group == ASI_GROUP_FRAMES && strncmp(c.quantity, "distance", 8) == 0;
  if (of_two && !last) part[next][strlen(part[next])] = '.';
  c.axis = last || of_two ? '\0' : part[next + 1][0];
  return c;
}

static bool is_pose(const cell *c) {
  return c->group == ASI_GROUP_BODIES &&
         (strcmp(c->quantity, "position") == 0 || strcmp(c->quantity, "quaternion") == 0);
}

/// Lists what is in a line: channels, except of poses; poses. Returns how many.
static int list_cells(asi_layout *l, const as_channels *channels, cell *out) {
  const int n = as_channels_count(channels);
  int count = 0;
  char *text = l->text;
  for (int i = 0; i < n; ++i) {
    const as_channel channel = as_channels_get(channels, i);
    const size_t size = strlen(channel.name) + 1;
    memcpy(text, channel.name, size);
    cell c = take_apart(text, l);
    c.unit = channel.unit;
    // Blocks and elastic coordinates have units of their own.
    c.many = l->many && c.group != ASI_GROUP_BLOCKS && c.group != ASI_GROUP_FLEXIBLE;
    c.place = 1 + i;
    if (!is_pose(&c)) out[count++] = c;
    text += size;
  }
  for (int b = 0; b < l->model->n_bodies; ++b) {
    const int numbers = l->many || l->model->body[b].n == 6 ? AS_POSE : 3;
    for (int k = 0; k < numbers; ++k)
      out[count++] = (cell){.group = ASI_GROUP_BODIES,
                            .object = b,
                            .quantity = k < 3 ? "position" : "quaternion",
                            .unit = k < 3 ? "m" : "-",
                            .axis = "xyzwxyz"[k],
                            .many = l->many,
                            .place = 1 + n + AS_POSE * b + k};
  }
  return count;
}

/// The order of the file: cells of a dataset follow each other.
static int compare(const void *left, const void *right) {
  const cell *a = left, *b = right;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  const int quantity = strcmp(a->quantity, b->quantity);
  const int object = (a->object > b->object) - (a->object < b->object);
  const int axis = (a->axis > b->axis) - (a->axis < b->axis); // w x y z
  const int first = a->many ? quantity : object, second = a->many ? object : quantity;
  return first ? first : second ? second : axis;
}

static bool share_dataset(const cell *a, const cell *b) {
  return a->group == b->group && strcmp(a->quantity, b->quantity) == 0 &&
         (a->many || a->object == b->object);
}

static const char *frame_of(const cell *c) {
  if (c->group == ASI_GROUP_BLOCKS || strstr(c->quantity, "_magnitude")) return NULL;
  const bool rotates =
      strncmp(c->quantity, "angular_", 8) == 0 && strstr(c->quantity, "_in_world") == NULL;
  const bool local = strstr(c->quantity, "_in_joint") != NULL;
  if (c->group == ASI_GROUP_BODIES) {
    if (strcmp(c->quantity, "quaternion") == 0 || strcmp(c->quantity, "roll_pitch_yaw") == 0 ||
        strcmp(c->quantity, "euler_angles") == 0)
      return "body to world";
    return rotates ? "body" : "world";
  }
  if (c->group == ASI_GROUP_BEAMS)
    return !c->axis                                 ? NULL
           : strcmp(c->quantity, "position") == 0   ? "world"
           : strcmp(c->quantity, "deflection") == 0 ? "first section of the beam"
                                                    : "section";
  if (c->group == ASI_GROUP_FLEXIBLE)
    return strcmp(c->quantity, "deflection") == 0 || strncmp(c->quantity, "stress_", 7) == 0
               ? "frame of the body"
           : c->axis ? "world"
                     : NULL;
  if (c->group == ASI_GROUP_JOINTS)
    return local || (strcmp(c->quantity, "force") != 0 && strcmp(c->quantity, "torque") != 0)
               ? "first frame of the joint"
               : "world";
  if (strstr(c->quantity, "_in_frame")) return "frame";
  return c->axis ? "world" : NULL;
}

/// Makes the dataset of `n` cells, which are sorted.
static as_status make_dataset(asi_layout *l, const cell *c, int n, as_error *error) {
  asi_dataset *d = &l->dataset[l->n++];
  const bool many = c->many && c->object >= 0;
  *d = (asi_dataset){.group = c->group,
                     .object = many ? -1 : c->object,
                     .quantity = c->quantity,
                     .unit = c->unit,
                     .frame = frame_of(c),
                     .n_columns = 1};
  bool axis[128] = {false};
  for (int i = 0; i < n; ++i) {
    axis[(int)c[i].axis] = true;
    d->n_objects += i == 0 || c[i].object != c[i - 1].object;
  }
  if (!axis[0]) {
    d->n_columns = 0;
    for (int k = 1; k < 128; ++k)
      if (axis[k]) d->columns[d->n_columns++] = (char)k;
  }
  const int size = d->n_objects * d->n_columns;
  d->pick = asi_calloc((size_t)size, sizeof *d->pick);
  if (many) d->objects = asi_calloc((size_t)d->n_objects, sizeof *d->objects);
  if (d->pick == NULL || (many && d->objects == NULL)) return asi_fail_memory(error);
  for (int i = 0; i < size; ++i) d->pick[i] = -1;
  for (int i = 0, object = -1; i < n; ++i) {
    if (i == 0 || c[i].object != c[i - 1].object) ++object;
    if (many) d->objects[object] = c[i].object;
    const int column = c[i].axis ? (int)(strchr(d->columns, c[i].axis) - d->columns) : 0;
    d->pick[object * d->n_columns + column] = c[i].place;
  }
  return AS_OK;
}

bool asi_layout_has(const asi_layout *l, asi_group group, bool error) {
  for (int i = 0; i < l->n; ++i)
    if (l->dataset[i].group == group && l->dataset[i].error == error) return true;
  return false;
}

/// A dataset of errors for each that can have some; they stand `offset` further in a line.
static as_status add_errors(asi_layout *l, int offset, as_error *error) {
  for (int i = 0, n = l->n; i < n; ++i) {
    const asi_dataset *from = &l->dataset[i];
    if (from->group >= ASI_GROUP_SOLVER) continue; // steps, drift, the time
    asi_dataset *d = &l->dataset[l->n++];
    const size_t size = (size_t)from->n_objects * (size_t)from->n_columns;
    *d = *from;
    d->error = true;
    d->objects = from->objects ? asi_calloc((size_t)d->n_objects, sizeof *d->objects) : NULL;
    d->pick = asi_calloc(size, sizeof *d->pick);
    if (d->pick == NULL || (from->objects && d->objects == NULL)) return asi_fail_memory(error);
    if (from->objects) memcpy(d->objects, from->objects, (size_t)d->n_objects * sizeof *d->objects);
    for (size_t k = 0; k < size; ++k) d->pick[k] = from->pick[k] < 0 ? -1 : from->pick[k] + offset;
  }
  return AS_OK;
}

as_status asi_layout_make(asi_layout *l, const as_model *model, const as_channels *channels,
                          bool errors, as_error *error) {
  *l = (asi_layout){.model = model,
                    .events = channels->events,
                    .many = as_model_bodies(model) > ASI_HDF5_FEW_BODIES};
  const int n = as_channels_count(channels), most = n + AS_POSE * model->n_bodies;
  size_t size = 0;
  for (int i = 0; i < n; ++i) size += strlen(as_channels_get(channels, i).name) + 1;
  l->width = 1 + (errors ? 2 : 1) * most;
  l->text = asi_calloc(size, 1);
  l->dataset = asi_calloc(2 * (size_t)most + 1, sizeof *l->dataset);
  cell *list = asi_calloc((size_t)most, sizeof *list);
  as_status status = AS_OK;
  if (l->text == NULL || l->dataset == NULL || list == NULL) {
    status = asi_fail_memory(error);
  } else {
    const int count = list_cells(l, channels, list);
    qsort(list, (size_t)count, sizeof *list, compare);
    l->dataset[l->n++] = (asi_dataset){.group = ASI_GROUPS,
                                       .object = -1,
                                       .quantity = "time",
                                       .unit = "s",
                                       .n_objects = 1,
                                       .n_columns = 1,
                                       .pick = asi_calloc(1, sizeof(int))};
    if (l->dataset[0].pick == NULL) status = asi_fail_memory(error);
    for (int i = 0, end; i < count && status == AS_OK; i = end) {
      for (end = i + 1; end < count && share_dataset(&list[i], &list[end]);) ++end;
      status = make_dataset(l, list + i, end - i, error);
    }
    if (status == AS_OK && errors) status = add_errors(l, most, error);
  }
  free(list);
  return status;
}

void asi_layout_free(asi_layout *l) {
  for (int i = 0; i < l->n; ++i) {
    free(l->dataset[i].objects);
    free(l->dataset[i].pick);
  }
  free(l->dataset);
  free(l->text);
}
