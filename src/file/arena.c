#include "file/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 };

struct asi_block {
  asi_block *older;
  size_t used, room;
  max_align_t data[];
};

static asi_block *add_block(asi_arena *arena, size_t size) {
  const size_t room = size > BLOCK ? size : BLOCK;
  asi_block *block = room < SIZE_MAX / 2 ? malloc(sizeof *block + room) : NULL;
  if (block == NULL) {
    arena->failed = true;
    return NULL;
  }
  *block = (asi_block){.older = arena->block, .room = room};
  arena->block = block;
  return block;
}

void *asi_arena_take(asi_arena *arena, size_t size) {
  const size_t unit = alignof(max_align_t);
  const size_t whole = (size + unit - 1) / unit * unit;
  asi_block *block = arena->block;
  if (block == NULL || block->room - block->used < whole) block = add_block(arena, whole);
  if (block == NULL) return NULL;
  void *at = (unsigned char *)block->data + block->used;
  block->used += whole;
  return memset(at, 0, whole);
}

char *asi_arena_text(asi_arena *arena, const char *text, size_t length) {
  char *copy = asi_arena_take(arena, length + 1);
  if (copy && length > 0) memcpy(copy, text, length);
  return copy;
}

void asi_arena_reset(asi_arena *arena) {
  while (arena->block && arena->block->older) {
    asi_block *older = arena->block->older;
    free(arena->block);
    arena->block = older;
  }
  if (arena->block) arena->block->used = 0;
}

void asi_arena_free(asi_arena *arena) {
  asi_arena_reset(arena);
  free(arena->block);
  *arena = (asi_arena){0};
}
