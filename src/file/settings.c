/// Values from outside, `path.to.value=text`: the text is YAML, like what it replaces.
///
/// What a path names must be there, except that a key which the format knows may be new in its mapping, and so may be the mapping: an
/// unknown one is found by the reader. `null` takes a key away. Items of lists are counted from 0.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/reader.h"

typedef struct setting {
  char *path;       ///< its parts, each ended by a zero
  const char *part; ///< the part at hand
  size_t length;    ///< of the whole path
  asi_value *value;
  int file;
} setting;

static bool is_last(const setting *s) { return s->part + strlen(s->part) == s->path + s->length; }
static void next_part(setting *s) { s->part += strlen(s->part) + 1; }

/// Where the value of a part is kept in a list or a mapping; NULL: nowhere.
static asi_value **find_slot(asi_value *in, const char *part) {
  if (in->type == ASI_MAP)
    for (int i = 0; i < in->count; ++i)
      if (strcmp(in->item[2 * i]->text, part) == 0) return &in->item[2 * i + 1];
  if (in->type == ASI_LIST && part[0] != '\0' && strspn(part, "0123456789") == strlen(part)) {
    const long i = strtol(part, NULL, 10);
    if (i < in->count) return &in->item[i];
  }
  return NULL;
}

/// A value of its own, which no alias shares.
static asi_value *unshare(asi_reader *r, asi_value **slot) {
  const asi_value *old = *slot;
  const size_t n = (size_t)old->count * (old->type == ASI_MAP ? 2 : 1);
  asi_value *copy = asi_arena_take(r->arena, sizeof *copy);
  asi_value **item = asi_arena_take(r->arena, n * sizeof(asi_value *));
  if (copy == NULL || item == NULL) return NULL;
  *copy = *old;
  if (n > 0) memcpy(item, old->item, n * sizeof(asi_value *));
  copy->item = item;
  *slot = copy;
  return copy;
}

static void remove_key(asi_value *map, asi_value **slot) {
  const ptrdiff_t i = (slot - map->item) / 2;
  for (ptrdiff_t k = i; k < map->count - 1; ++k) {
    map->item[2 * k] = map->item[2 * k + 2];
    map->item[2 * k + 1] = map->item[2 * k + 3];
  }
  --map->count;
}

static void add_key(asi_reader *r, asi_value *map, const setting *s) {
  const size_t n = 2 * (size_t)map->count;
  asi_value **item = asi_arena_take(r->arena, (n + 2) * sizeof(asi_value *));
  asi_value *key = asi_arena_take(r->arena, sizeof *key);
  char *text = asi_arena_text(r->arena, s->part, strlen(s->part));
  if (item == NULL || key == NULL || text == NULL) return;
  if (n > 0) memcpy(item, map->item, n * sizeof(asi_value *));
  *key = (asi_value){.type = ASI_TEXT, .file = s->file, .quoted = true, .text = text, .weight = 1};
  item[n] = key;
  item[n + 1] = s->value;
  map->item = item;
  ++map->count;
}

/// Does a mapping hold names of the user's, that must be there? At the root or in a group: at odd depth.
static bool holds_names(const char *key, int depth) {
  const asi_key *row = depth % 2 == 1 ? asi_table_find(&asi_root_table, key) : NULL;
  return row && (row->type == ASI_KEY_THINGS || row->type == ASI_KEY_PARAMETERS ||
                 row->type == ASI_KEY_TABLES);
}

/// An empty mapping for a part that is not there, where the format may have one; NULL: it has none.
static asi_value *add_section(asi_reader *r, asi_value *in, const setting *s, const char *above,
                              int depth) {
  if (in->type != ASI_MAP || (above && holds_names(above, depth)) ||
      (depth == 0 && !asi_table_find(&asi_root_table, s->part)))
    return NULL;
  asi_value *section = asi_arena_take(r->arena, sizeof *section);
  if (section == NULL) return NULL;
  *section = (asi_value){.type = ASI_MAP, .file = s->file, .weight = 1};
  setting of_section = *s;
  of_section.value = section;
  add_key(r, in, &of_section);
  return section;
}

static void complain_missing(asi_reader *r, const setting *s, const asi_value *in,
                             const char *above) {
  asi_hint hint = {.word = s->part};
  for (int i = 0; in->type == ASI_MAP && i < in->count; ++i)
    asi_hint_try(&hint, in->item[2 * i]->text);
  asi_complain(r, s->value, "there is no \"%.80s\" in %.80s%s", s->part, above ? above : "the file",
               asi_hint_text(&hint));
}

static void apply(asi_reader *r, asi_value *root, setting *s) {
  asi_value *in = root;
  const char *above = NULL;
  for (int depth = 0;; ++depth) {
    asi_value **slot = find_slot(in, s->part);
    const bool last = is_last(s);
    asi_value *added = slot == NULL && !last ? add_section(r, in, s, above, depth) : NULL;
    if (slot == NULL && added == NULL &&
        (!last || in->type != ASI_MAP || (above && holds_names(above, depth)))) {
      complain_missing(r, s, in, above);
      return;
    }
    if (last) {
      if (slot == NULL)
        add_key(r, in, s);
      else if (s->value->type == ASI_NULL && in->type == ASI_MAP)
        remove_key(in, slot);
      else
        *slot = s->value;
      return;
    }
    in = added ? added : unshare(r, slot);
    if (in == NULL) return;
    above = s->part;
    next_part(s);
  }
}

/// Has a file the first part, and the second one if that is a name of the user's?
static bool has_start(asi_value *root, const setting *s) {
  asi_value **slot = root ? find_slot(root, s->part) : NULL;
  if (slot == NULL || is_last(s) || !holds_names(s->part, 1)) return slot != NULL;
  return find_slot(*slot, s->part + strlen(s->part) + 1) != NULL;
}

/// The file that a path is about: of several the one that counts most; the model file if there is none.
static asi_value *root_with(const asi_reader *r, const setting *s) {
  for (int f = r->n_order - 1; f >= 0; --f) {
    asi_value *root = r->file[r->order[f]].root;
    if (has_start(root, s)) return root;
  }
  return r->file[0].root;
}

static void apply_text(asi_reader *r, const char *text, int file) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    asi_complain_file(r, file, "a setting is path.to.value=text");
    return;
  }
  setting s = {.length = (size_t)(equals - text), .file = file};
  s.path = asi_arena_text(r->arena, text, s.length);
  if (s.path == NULL) return;
  s.value = asi_value_parse(equals + 1, strlen(equals + 1), file, r->arena, asi_complain_fault, r);
  if (s.value == NULL) return;
  for (char *c = s.path; *c; ++c)
    if (*c == '.') *c = '\0';
  s.part = s.path;
  if (strcmp(s.part, "include") == 0) {
    asi_complain(r, s.value, "what a file includes cannot be set from outside");
    return;
  }
  asi_value *root = root_with(r, &s);
  if (root && root->type == ASI_MAP) apply(r, root, &s);
}

void asi_apply_settings(asi_reader *r, const char *const *settings, int n) {
  for (int i = 0; i < n && !r->arena->failed; ++i) {
    const size_t length = strlen(settings[i]);
    char *path = asi_arena_take(r->arena, length + 7);
    if (path == NULL) return;
    snprintf(path, length + 7, "--set %s", settings[i]);
    const int file = asi_add_file(r, (asi_file){.path = path, .setting = true});
    if (file < 0) return;
    apply_text(r, settings[i], file);
  }
}
