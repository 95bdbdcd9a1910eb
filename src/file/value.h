/// A file as a tree of values, each of which knows where it was written.
#ifndef ALPHASTEP_FILE_VALUE_H
#define ALPHASTEP_FILE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "file/arena.h"

/// Limits, so that no file can take all memory or time.
enum {
  ASI_MOST_BYTES = 64 << 20, ///< of a file
  ASI_MOST_VALUES = 4000000, ///< of a file, what aliases repeat counted each time
  ASI_MOST_DEPTH = 64,       ///< of lists and mappings inside each other
  ASI_MOST_ANCHORS = 1000,   ///< of a file
};

typedef enum asi_value_type {
  ASI_NULL, ///< null, or nothing at all
  ASI_BOOLEAN,
  ASI_NUMBER,
  ASI_TEXT,
  ASI_LIST,
  ASI_MAP,
} asi_value_type;

typedef struct asi_value asi_value;

struct asi_value {
  asi_value_type type;
  int file;         ///< number of the file
  int line, column; ///< from 1
  bool quoted;      ///< a text in quotes or a block of text
  int count;        ///< of the items of a list, of the keys of a mapping
  long weight;      ///< how many values it is made of
  double number;    ///< of a number; 1 of true
  const char *text; ///< of a scalar, as written
  asi_value **item; ///< of a list: the items; of a mapping: key, value, key, value ...
};

/// Is told what is wrong with a text, and where.
typedef void asi_fault_fn(int file, int line, int column, const char *sentence, void *user);

/// Reads a whole YAML or JSON text, with a zero behind it, into values in the arena. NULL: it is none; or, if arena->failed, there is no
/// memory. Of small faults the tree is free: what is wrong has been left out of it.
asi_value *asi_value_parse(const char *text, size_t size, int file, asi_arena *arena,
                           asi_fault_fn *fault, void *user);

/// The value of a key, NULL if it is not there (or this is no mapping).
asi_value *asi_value_get(const asi_value *map, const char *key);

/// `a list`, `a number` ...: for messages.
const char *asi_value_what(const asi_value *value);

#endif
