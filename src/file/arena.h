/// Memory that is given back all at once.
#ifndef ALPHASTEP_FILE_ARENA_H
#define ALPHASTEP_FILE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct asi_block asi_block;

/// Starts as {0}.
typedef struct asi_arena {
  asi_block *block; ///< the newest first
  bool failed;      ///< memory ran out
} asi_arena;

/// Zeroed memory for anything; NULL if there is none left.
void *asi_arena_take(asi_arena *arena, size_t size);
/// A copy of `length` characters with a zero behind them; NULL if there is no memory left.
char *asi_arena_text(asi_arena *arena, const char *text, size_t length);
/// Gives all back but one block, for use again.
void asi_arena_reset(asi_arena *arena);
void asi_arena_free(asi_arena *arena);

#endif
