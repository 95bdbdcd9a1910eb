/// Input files of CalculiX and Abaqus, as far as they say where nodes are, which sets they form, and what the surface is:
///
///     *NODE[, NSET=name]                   number, x, y, z
///     *ELEMENT, TYPE=C3D10[, ...]          number, nodes: over lines, until there are as many as the type has
///     *NSET, NSET=name[, GENERATE]         nodes, or names of sets; first, last[, step]
///
/// Everything else is of no concern. Solids: C3D4, C3D6, C3D8, C3D10, C3D15, C3D20, whatever letter follows; shells: S3, S4, S6, S8.
#include "file/mesh_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MOST_CORNERS = 20, MOST_FACES = 6 };

/// Faces of a kind of element, seen from outside: nodes by their place, corners first, then those between; -1: none.
typedef struct shape {
  const char *name;
  int nodes;
  bool solid;
  signed char face[MOST_FACES][8];
} shape;

static const shape shapes[] = {
    {"C3D4", 4, true, {{0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {2, 0, 3, -1}}},
    {"C3D10",
     10,
     true,
     {{0, 2, 1, -1, 6, 5, 4},
      {0, 1, 3, -1, 4, 8, 7},
      {1, 2, 3, -1, 5, 9, 8},
      {2, 0, 3, -1, 6, 7, 9}}},
    {"C3D6", 6, true, {{0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}},
    {"C3D15",
     15,
     true,
     {{0, 2, 1, -1, 8, 7, 6},
      {3, 4, 5, -1, 9, 10, 11},
      {0, 1, 4, 3, 6, 13, 9, 12},
      {1, 2, 5, 4, 7, 14, 10, 13},
      {2, 0, 3, 5, 8, 12, 11, 14}}},
    {"C3D8",
     8,
     true,
     {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}},
    {"C3D20",
     20,
     true,
     {{0, 3, 2, 1, 11, 10, 9, 8},
      {4, 5, 6, 7, 12, 13, 14, 15},
      {0, 1, 5, 4, 8, 17, 12, 16},
      {1, 2, 6, 5, 9, 18, 13, 17},
      {2, 3, 7, 6, 10, 19, 14, 18},
      {3, 0, 4, 7, 11, 16, 15, 19}}},
    {"S3", 3, false, {{0, 1, 2, -1}}},
    {"S6", 6, false, {{0, 1, 2, -1, 3, 4, 5}}},
    {"S4", 4, false, {{0, 1, 2, 3}}},
    {"S8", 8, false, {{0, 1, 2, 3, 4, 5, 6, 7}}},
};

/// The shape of a type: its name, and letters behind it.
static const shape *find_shape(asi_fe_word type) {
  const shape *found = NULL;
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; ++i) {
    const size_t n = strlen(shapes[i].name);
    if (type.n < n || !asi_fe_is((asi_fe_word){type.at, n}, shapes[i].name)) continue;
    if (type.n > n && type.at[n] >= '0' && type.at[n] <= '9') continue;
    found = &shapes[i];
  }
  return found;
}

static int compare_longs(const void *a, const void *b) {
  const long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

static as_status add_faces(as_mesh_files *f, const shape *s, const long *node, as_error *error) {
  for (int i = 0; i < MOST_FACES; ++i) {
    const signed char *of = s->face[i];
    if (of[0] == of[1]) break; // there are no more
    const as_status status =
        asi_fe_grow(&f->face, f->n_faces, &f->room_faces, sizeof *f->face, error);
    if (status) return status;
    asi_fe_face *face = &f->face[f->n_faces++];
    *face = (asi_fe_face){.corners = of[3] < 0 ? 3 : 4};
    for (int c = 0; c < face->corners; ++c) face->node[c] = node[(int)of[c]];
    const bool between = of[4] != 0 || of[5] != 0;
    for (int c = 0; c < face->corners && between; ++c) face->node[4 + c] = node[(int)of[4 + c]];
    memcpy(face->key + 4 - face->corners, face->node, (size_t)face->corners * sizeof(long));
    qsort(face->key, 4, sizeof(long), compare_longs);
    if (!s->solid) face->key[0] = -f->n_faces; // of its own
  }
  return AS_OK;
}

// ---- keywords ---------------------------------------------------------------------------------------

enum { SKIPPED, NODES, ELEMENTS, SETS };

/// What the lines after a keyword are.
typedef struct section {
  int kind;
  const shape *shape;
  int set; ///< -1: none
  bool generate;
  long node[MOST_CORNERS + 1]; ///< of an element over several lines
  int count;
} section;

/// The value of `NAME=value`, or an empty word.
static asi_fe_word value_of(asi_fe_word w, const char *name) {
  const char *equals = memchr(w.at, '=', w.n);
  if (equals == NULL) return (asi_fe_word){w.at, 0};
  asi_fe_word key = {w.at, (size_t)(equals - w.at)};
  while (key.n > 0 && (key.at[key.n - 1] == ' ' || key.at[key.n - 1] == '\t')) --key.n;
  if (!asi_fe_is(key, name)) return (asi_fe_word){w.at, 0};
  asi_fe_word value = {equals + 1, w.n - (size_t)(equals + 1 - w.at)};
  while (value.n > 0 && (value.at[0] == ' ' || value.at[0] == '\t')) {
    ++value.at;
    --value.n;
  }
  return value;
}

static as_status open_set(as_mesh_files *f, const asi_fe_text *t, asi_fe_word name, section *s) {
  const asi_fe_set *set = asi_fe_find_set(f, name, true);
  if (set == NULL && name.n > 80) return asi_fe_refuse(t, "The name of a set is too long.");
  if (set == NULL) return asi_fail_memory(t->error);
  s->set = (int)(set - f->set);
  return AS_OK;
}

static as_status begin_section(as_mesh_files *f, asi_fe_text *t, section *s) {
  asi_fe_word w = {t->line, 0};
  (void)asi_fe_next_word(t, false, &w);
  *s = (section){.kind = SKIPPED, .set = -1};
  if (asi_fe_is(w, "*NODE")) s->kind = NODES;
  if (asi_fe_is(w, "*ELEMENT")) s->kind = ELEMENTS;
  if (asi_fe_is(w, "*NSET")) s->kind = SETS;
  while (s->kind != SKIPPED && asi_fe_next_word(t, false, &w)) {
    const asi_fe_word set = value_of(w, "NSET"), type = value_of(w, "TYPE");
    if (set.n > 0 && s->kind != ELEMENTS) {
      const as_status status = open_set(f, t, set, s);
      if (status) return status;
    }
    if (type.n > 0 && s->kind == ELEMENTS) s->shape = find_shape(type);
    if (asi_fe_is(w, "GENERATE")) s->generate = true;
  }
  if (s->kind == SETS && s->set < 0) return asi_fe_refuse(t, "*NSET has no name, NSET=...");
  return AS_OK;
}

static as_status take_node(as_mesh_files *f, asi_fe_text *t, const section *s) {
  static const int none[6] = {-1, -1, -1, -1, -1, -1};
  asi_fe_word w;
  long id;
  double x[3] = {0};
  if (!asi_fe_next_word(t, false, &w) || !asi_fe_whole(w, &id))
    return asi_fe_refuse(t, "A node begins with its number.");
  for (int c = 0; c < 3 && asi_fe_next_word(t, false, &w); ++c) // what is left away is 0
    if (w.n > 0 && !asi_fe_number(w, &x[c]))
      return asi_fe_refuse(t, "\"%.*s\" is not a number.", asi_fe_shown(w), w.at);
  as_status status = asi_fe_add_node(f, t, id, x, none);
  if (status == AS_OK && s->set >= 0) status = asi_fe_set_add(&f->set[s->set], id, t->error);
  return status;
}

static as_status take_element(as_mesh_files *f, asi_fe_text *t, section *s) {
  asi_fe_word w;
  while (asi_fe_next_word(t, false, &w)) {
    if (w.n == 0) continue; // a comma at the end of the line
    if (!asi_fe_whole(w, &s->node[s->count]))
      return asi_fe_refuse(t, "\"%.*s\" is no number of a node.", asi_fe_shown(w), w.at);
    if (++s->count <= s->shape->nodes) continue;
    s->count = 0;
    const as_status status = add_faces(f, s->shape, s->node + 1, t->error);
    if (status) return status;
  }
  return AS_OK;
}

static as_status generate(as_mesh_files *f, asi_fe_text *t, const section *s) {
  long range[3] = {0, 0, 1};
  asi_fe_word w;
  int count = 0;
  while (count < 3 && asi_fe_next_word(t, false, &w) && w.n > 0)
    if (!asi_fe_whole(w, &range[count++]))
      return asi_fe_refuse(t, "\"%.*s\" is not a whole number.", asi_fe_shown(w), w.at);
  if (count < 2 || range[2] < 1 || range[1] < range[0])
    return asi_fe_refuse(t, "A range is `first, last, step`, with the last not before the first.");
  if ((range[1] - range[0]) / range[2] >= f->n_nodes)
    return asi_fe_refuse(t, "The range has more nodes than have been read so far, %d.", f->n_nodes);
  as_status status = AS_OK;
  for (long i = range[0]; i <= range[1] && status == AS_OK; i += range[2])
    status = asi_fe_set_add(&f->set[s->set], i, t->error);
  return status;
}

static as_status take_set(as_mesh_files *f, asi_fe_text *t, const section *s) {
  if (s->generate) return generate(f, t, s);
  asi_fe_word w;
  as_status status = AS_OK;
  while (status == AS_OK && asi_fe_next_word(t, false, &w)) {
    long id;
    if (w.n == 0) continue;
    if (asi_fe_whole(w, &id)) {
      status = asi_fe_set_add(&f->set[s->set], id, t->error);
      continue;
    }
    const asi_fe_set *other = asi_fe_find_set(f, w, false);
    if (other == NULL || other == &f->set[s->set])
      return asi_fe_refuse(t, "\"%.*s\" is neither a node nor a set that stands before.",
                           asi_fe_shown(w), w.at);
    // Sets of sets may grow fast: no more than all nodes.
    if (f->set[s->set].n + other->n > f->n_nodes)
      return asi_fe_refuse(t, "The set has more nodes than have been read so far, %d.", f->n_nodes);
    for (int i = 0; i < other->n && status == AS_OK; ++i)
      status = asi_fe_set_add(&f->set[s->set], other->nodes[i], t->error);
  }
  return status;
}

as_status asi_fe_parse_inp(as_mesh_files *f, asi_fe_text *t) {
  section s = {.kind = SKIPPED, .set = -1};
  as_status status = AS_OK;
  while (status == AS_OK && asi_fe_next_line(t)) {
    const asi_fe_word line = asi_fe_columns(t, 0, (size_t)(t->line_end - t->line));
    if (line.n > 1 && line.at[0] == '*' && line.at[1] == '*') continue;
    if (line.at[0] == '*') {
      if (s.count > 0) return asi_fe_refuse(t, "The element before has too few nodes.");
      status = begin_section(f, t, &s);
    } else if (s.kind == NODES) {
      status = take_node(f, t, &s);
    } else if (s.kind == ELEMENTS && s.shape) {
      status = take_element(f, t, &s);
    } else if (s.kind == SETS) {
      status = take_set(f, t, &s);
    }
  }
  if (status == AS_OK && s.count > 0)
    status = asi_fe_refuse(t, "The last element has too few nodes.");
  return status;
}

// ---- the surface ------------------------------------------------------------------------------------

static int compare_faces(const void *a, const void *b) {
  const asi_fe_face *x = a, *y = b;
  for (int i = 0; i < 4; ++i)
    if (x->key[i] != y->key[i]) return (x->key[i] > y->key[i]) - (x->key[i] < y->key[i]);
  return 0;
}

static as_status add_triangle(as_mesh_files *f, long a, long b, long c, as_error *error) {
  const as_status status =
      asi_fe_grow(&f->triangle, f->n_triangles, &f->room_triangles, sizeof *f->triangle, error);
  if (status) return status;
  const long corner[3] = {a, b, c};
  memcpy(f->triangle[f->n_triangles++], corner, sizeof corner);
  return AS_OK;
}

/// Each corner with the nodes beside it, and what is left in the middle.
static as_status split_face(as_mesh_files *f, const asi_fe_face *face, as_error *error) {
  const long *p = face->node, *m = face->node + 4;
  const int n = face->corners;
  as_status status = AS_OK;
  if (m[0] == 0) {
    status = add_triangle(f, p[0], p[1], p[2], error);
    return status || n == 3 ? status : add_triangle(f, p[0], p[2], p[3], error);
  }
  for (int i = 0; i < n && status == AS_OK; ++i)
    status = add_triangle(f, p[i], m[i], m[(i + n - 1) % n], error);
  if (status == AS_OK) status = add_triangle(f, m[0], m[1], m[2], error);
  return status || n == 3 ? status : add_triangle(f, m[0], m[2], m[3], error);
}

as_status asi_fe_find_surface(as_mesh_files *f, as_error *error) {
  as_status status = AS_OK;
  if (f->n_faces > 0) qsort(f->face, (size_t)f->n_faces, sizeof *f->face, compare_faces);
  for (int i = 0, next; i < f->n_faces && status == AS_OK; i = next) {
    for (next = i + 1; next < f->n_faces && compare_faces(&f->face[i], &f->face[next]) == 0;)
      ++next;
    if (next == i + 1) status = split_face(f, &f->face[i], error);
  }
  return status;
}
