/// Names, see names.h: open addressing with a table that is never more than half full.
#include "model/names.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"

const char *asi_entity_kind_name(asi_entity_kind sort) {
  static const char *const name[ASI_SORTS] = {"body",
                                              "frame",
                                              "joint",
                                              "force",
                                              "superelement",
                                              "parameter",
                                              "table",
                                              "event",
                                              "block",
                                              "beam",
                                              "station",
                                              "flexible body",
                                              "part of a flexible body",
                                              "road"};
  return name[sort];
}

static uint32_t hash(const char *text) {
  uint32_t h = 2166136261u; // FNV-1a
  for (; *text; ++text) h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}

const char *asi_names_get(const asi_names *names, int number) {
  return number >= 0 && number < names->count ? names->text + names->start[number] : "";
}

/// The slot that holds a name, or the free one where it would go.
static int find_slot(const asi_names *names, const char *name) {
  const uint32_t mask = (uint32_t)names->n_slots - 1;
  uint32_t i = hash(name) & mask;
  while (names->slot[i] >= 0 && strcmp(asi_names_get(names, names->slot[i]), name) != 0)
    i = (i + 1) & mask;
  return (int)i;
}

int asi_names_find(const asi_names *names, const char *name) {
  return name && names->n_slots > 0 ? names->slot[find_slot(names, name)] : -1;
}

static bool rehash(asi_names *names, int n_slots) {
  int *slot = asi_calloc((size_t)n_slots, sizeof(int));
  if (slot == NULL) return false;
  free(names->slot);
  names->slot = slot;
  names->n_slots = n_slots;
  for (int i = 0; i < n_slots; ++i) slot[i] = -1;
  for (int k = 0; k < names->count; ++k) slot[find_slot(names, asi_names_get(names, k))] = k;
  return true;
}

static as_status check_name(asi_entity_kind sort, const char *name, as_error *error) {
  const char *what = asi_entity_kind_name(sort);
  if (name[0] == '\0')
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, NULL, "A %s has an empty name.", what);
  size_t length = 0;
  for (const char *c = name; *c; c += length) {
    if (!asi_printable(c, &length) || *c == '.' || *c == '/')
      return asi_fail(
          error, AS_ERR_ARGUMENT, (double)NAN, NULL,
          "The name \"%.40s\" of %s %s has a character that is not allowed: . and / and what "
          "cannot be printed.",
          name, sort == ASI_SORT_EVENT ? "an" : "a", what);
  }
  return AS_OK;
}

/// Room for one more name of `size` bytes.
static bool make_room(asi_names *names, size_t size) {
  if (names->used + size > names->room) {
    const size_t room = 2 * (names->room + size) + 256;
    char *text = realloc(names->text, room);
    if (text == NULL) return false;
    names->text = text;
    names->room = room;
  }
  if (names->count == names->capacity) {
    const int capacity = 2 * names->capacity + 16;
    size_t *start = realloc(names->start, (size_t)capacity * sizeof *start);
    if (start == NULL) return false;
    names->start = start;
    names->capacity = capacity;
  }
  if (2 * (names->count + 1) > names->n_slots)
    return rehash(names, names->n_slots > 0 ? 2 * names->n_slots : 32);
  return true;
}

/// Appends a name that is known to be good.
static as_status append(asi_names *names, asi_entity_kind sort, const char *text, as_error *error) {
  if (asi_names_find(names, text) >= 0)
    return asi_fail(error, AS_ERR_ARGUMENT, (double)NAN, text, "There are two %s%s named \"%s\".",
                    sort == ASI_SORT_BODY ? "bodie" : asi_entity_kind_name(sort), "s", text);
  const size_t size = strlen(text) + 1;
  if (!make_room(names, size)) return asi_fail_memory(error);
  memcpy(names->text + names->used, text, size);
  names->start[names->count] = names->used;
  names->used += size;
  names->slot[find_slot(names, text)] = names->count;
  ++names->count;
  return AS_OK;
}

as_status asi_names_add(asi_names *names, asi_entity_kind sort, const char *name, as_error *error) {
  char made[32];
  if (name == NULL) { // the next number that nobody has taken
    int number = names->count;
    do snprintf(made, sizeof made, "%s %d", asi_entity_kind_name(sort), number++);
    while (asi_names_find(names, made) >= 0);
  }
  const char *text = name ? name : made;
  const as_status status = check_name(sort, text, error);
  return status ? status : append(names, sort, text, error);
}

as_status asi_names_add_part(asi_names *names, asi_entity_kind sort, const char *whole, int part,
                             as_error *error) {
  char number[16];
  snprintf(number, sizeof number, "%d", part);
  return asi_names_add_member(names, sort, whole, number, error);
}

as_status asi_names_add_member(asi_names *names, asi_entity_kind sort, const char *whole,
                               const char *part, as_error *error) {
  const as_status checked = check_name(sort, part, error);
  if (checked) return checked;
  const size_t size = strlen(whole) + strlen(part) + 2;
  char *text = malloc(size);
  if (text == NULL) return asi_fail_memory(error);
  snprintf(text, size, "%s.%s", whole, part);
  const as_status status = append(names, sort, text, error);
  free(text);
  return status;
}

void asi_names_cut(asi_names *names, int count) {
  if (count >= names->count) return;
  names->used = names->start[count];
  names->count = count;
  for (int i = 0; i < names->n_slots; ++i) names->slot[i] = -1;
  for (int k = 0; k < count; ++k) names->slot[find_slot(names, asi_names_get(names, k))] = k;
}

as_status asi_names_copy(asi_names *names, const asi_names *from, as_error *error) {
  *names = (asi_names){0};
  if (from->count == 0) return AS_OK;
  names->text = asi_calloc(from->used, 1);
  names->start = asi_calloc((size_t)from->count, sizeof *names->start);
  if (names->text == NULL || names->start == NULL) return asi_fail_memory(error);
  memcpy(names->text, from->text, from->used);
  memcpy(names->start, from->start, (size_t)from->count * sizeof *names->start);
  names->used = names->room = from->used;
  names->count = names->capacity = from->count;
  return rehash(names, from->n_slots) ? AS_OK : asi_fail_memory(error);
}

void asi_names_free(asi_names *names) {
  free(names->text);
  free(names->start);
  free(names->slot);
  *names = (asi_names){0};
}
