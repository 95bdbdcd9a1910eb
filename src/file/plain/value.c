/// Values without YAML, see value.h: in an FMU. A text is a packed tree, or a single number.
#include "file/value.h"

#include <string.h>

#include "base/number.h"
#include "file/tree.h"

static asi_value *parse_number(const char *text, size_t size, int file, asi_arena *arena) {
  asi_value *v = asi_arena_take(arena, sizeof *v);
  char *copy = asi_arena_text(arena, text, size);
  if (v == NULL || copy == NULL) return NULL;
  const bool minus = copy[0] == '-';
  *v = (asi_value){.type = ASI_NUMBER, .file = file, .line = 1, .column = 1, .weight = 1};
  const size_t n = asi_scan_number(copy + minus, &v->number);
  v->text = copy;
  if (minus) v->number = -v->number;
  return n > 0 && copy[n + minus] == '\0' ? v : NULL;
}

asi_value *asi_value_parse(const char *text, size_t size, int file, asi_arena *arena,
                           asi_fault_fn *fault, void *user) {
  asi_value *v = asi_tree_is_packed(text, size) ? asi_tree_unpack(text, size, file, arena)
                                                : parse_number(text, size, file, arena);
  if (v == NULL && !arena->failed)
    fault(file, 1, 1, "it is neither a compiled model nor a number", user);
  return v;
}
