/// Trees of values: looking into them, and as bytes.
///
/// A packed tree is a magic word, then values from the root on, depth first: type and flags, line, column, then the text of a scalar or the
/// number of items. What aliases share is written each time.
#include "file/tree.h"

#include <string.h>

#include "base/number.h"
#include "file/value.h"

// ---- looking ----------------------------------------------------------------------------------------

asi_value *asi_value_get(const asi_value *map, const char *key) {
  if (map == NULL || map->type != ASI_MAP) return NULL;
  for (int i = 0; i < map->count; ++i)
    if (strcmp(map->item[2 * i]->text, key) == 0) return map->item[2 * i + 1];
  return NULL;
}

const char *asi_value_what(const asi_value *value) {
  static const char *const what[] = {"nothing", "true or false", "a number",
                                     "a text",  "a list",        "a mapping"};
  return what[value->type];
}

// ---- bytes ------------------------------------------------------------------------------------------

static const char magic[8] = "as tree\n";
enum { QUOTED = 1 << 8, SETTING = 1 << 9 };

bool asi_tree_is_packed(const char *bytes, size_t size) {
  return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static void pass_words(asi_archive *a, char *text, size_t length) {
  for (size_t i = 0; i < length && !a->damaged; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    const size_t n = length - i < sizeof word ? length - i : sizeof word;
    for (size_t k = 0; k < n && a->mode != ASI_ARCHIVE_READ; ++k)
      word |= (uint64_t)(unsigned char)text[i + k] << (8 * k);
    asi_archive_word(a, &word);
    for (size_t k = 0; k < n && a->mode == ASI_ARCHIVE_READ; ++k)
      text[i + k] = (char)(unsigned char)(word >> (8 * k));
  }
}

char *asi_tree_text(asi_archive *a, const char *text, size_t *length, asi_arena *arena) {
  uint64_t size = *length;
  asi_archive_word(a, &size);
  if (a->mode != ASI_ARCHIVE_READ) {
    char piece[sizeof(uint64_t)];
    for (size_t i = 0; i < *length; i += sizeof piece) {
      const size_t n = *length - i < sizeof piece ? *length - i : sizeof piece;
      memcpy(piece, text + i, n);
      pass_words(a, piece, n);
    }
    return NULL;
  }
  *length = 0;
  a->damaged = a->damaged || size > a->size - a->used;
  char *copy = a->damaged ? NULL : asi_arena_take(arena, (size_t)size + 1);
  if (copy == NULL) return NULL;
  pass_words(a, copy, (size_t)size);
  *length = (size_t)size;
  return a->damaged ? NULL : copy;
}

void asi_tree_pack(const asi_value *root, bool (*from_setting)(int file, void *user), void *user,
                   asi_archive *a) {
  uint64_t head = (uint64_t)root->type | (root->quoted ? (uint64_t)QUOTED : 0) |
                  (from_setting(root->file, user) ? (uint64_t)SETTING : 0);
  int line = root->line, column = root->column, count = root->count;
  if (a->used == 0) pass_words(a, (char[]){"as tree\n"}, sizeof magic);
  asi_archive_word(a, &head);
  asi_archive_int(a, &line, 0, INT32_MAX);
  asi_archive_int(a, &column, 0, INT32_MAX);
  if (root->type != ASI_LIST && root->type != ASI_MAP) {
    size_t length = strlen(root->text);
    asi_tree_text(a, root->text, &length, NULL);
    asi_archive_double(a, (double[]){root->number});
    return;
  }
  asi_archive_int(a, &count, 0, ASI_MOST_VALUES);
  const int n = root->type == ASI_MAP ? 2 * count : count;
  for (int i = 0; i < n; ++i) asi_tree_pack(root->item[i], from_setting, user, a);
}

/// What is being unpacked.
typedef struct unpacking {
  asi_archive a;
  asi_arena *arena;
  int file;
  long values;
} unpacking;

static asi_value *unpack(unpacking *u, int depth);

static bool unpack_items(unpacking *u, asi_value *v, int depth) {
  asi_archive *a = &u->a;
  asi_archive_int(a, &v->count, 0, ASI_MOST_VALUES);
  const size_t n = (size_t)v->count * (v->type == ASI_MAP ? 2 : 1);
  if (a->damaged || n > (a->size - a->used) / 8) return false;
  v->item = asi_arena_take(u->arena, n * sizeof(asi_value *));
  for (size_t i = 0; i < n && v->item; ++i) {
    asi_value *item = v->item[i] = unpack(u, depth + 1);
    if (item == NULL || (v->type == ASI_MAP && i % 2 == 0 && item->text == NULL)) return false;
    v->weight += item->weight;
  }
  return v->item != NULL;
}

static asi_value *unpack(unpacking *u, int depth) {
  asi_archive *a = &u->a;
  uint64_t head = 0;
  asi_value *v = asi_arena_take(u->arena, sizeof *v);
  asi_archive_word(a, &head);
  const unsigned type = (unsigned)(head & 0xff);
  if (v == NULL || a->damaged || type > ASI_MAP || depth > ASI_MOST_DEPTH ||
      ++u->values > ASI_MOST_VALUES)
    return NULL;
  *v = (asi_value){.type = (asi_value_type)type,
                   .quoted = (head & QUOTED) != 0,
                   .file = head & SETTING ? 0 : u->file,
                   .weight = 1};
  asi_archive_int(a, &v->line, 0, INT32_MAX);
  asi_archive_int(a, &v->column, 0, INT32_MAX);
  if (v->type == ASI_LIST || v->type == ASI_MAP) return unpack_items(u, v, depth) ? v : NULL;
  size_t length = 0;
  v->text = asi_tree_text(a, NULL, &length, u->arena);
  asi_archive_double(a, &v->number);
  return v->text && !a->damaged ? v : NULL;
}

asi_value *asi_tree_unpack(const char *bytes, size_t size, int file, asi_arena *arena) {
  if (!asi_tree_is_packed(bytes, size)) return NULL;
  // The archive's bytes are not written while they are read.
  char *copy = asi_arena_text(arena, bytes, size);
  if (copy == NULL) return NULL;
  unpacking u = {.a = {.mode = ASI_ARCHIVE_READ,
                       .data = (unsigned char *)copy,
                       .size = size,
                       .used = sizeof magic},
                 .arena = arena,
                 .file = file};
  asi_value *root = unpack(&u, 0);
  return arena->failed ? NULL : root;
}
