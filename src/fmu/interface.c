#include "fmu/interface.h"

#include <string.h>

#include "file/tree.h"

static void pass_text(asi_archive *a, const char **text, asi_arena *arena) {
  const bool reading = a->mode == ASI_ARCHIVE_READ;
  size_t length = reading ? 0 : strlen(*text);
  const char *copy = asi_tree_text(a, reading ? NULL : *text, &length, arena);
  if (reading) *text = copy;
  a->damaged = a->damaged || *text == NULL;
}

bool asi_exported_interface_archive(asi_archive *a, asi_exported_interface *face,
                                    asi_arena *arena) {
  const bool reading = a->mode == ASI_ARCHIVE_READ;
  int format = ASI_EXPORTED_FORMAT;
  asi_archive_int(a, &format, ASI_EXPORTED_FORMAT, ASI_EXPORTED_FORMAT);
  pass_text(a, &face->token, arena);
  pass_text(a, &face->model, arena);
  asi_archive_bool(a, &face->extrapolates);
  asi_archive_int(a, &face->n, 1, ASI_EXPORTED_MOST);
  if (reading && !a->damaged && (size_t)face->n <= a->size)
    face->variable = asi_arena_take(arena, (size_t)face->n * sizeof *face->variable);
  for (int i = 0; i < face->n && face->variable && !a->damaged; ++i) {
    asi_exported_variable *v = &face->variable[i];
    int kind = (int)v->kind;
    asi_archive_int(a, &kind, 0, ASI_EXPORTED_KINDS - 1);
    v->kind = (asi_exported_kind)kind;
    pass_text(a, &v->name, arena);
    pass_text(a, &v->target, arena);
    pass_text(a, &v->unit, arena);
    asi_archive_double(a, &v->start);
    asi_archive_bool(a, &v->feeds_through);
  }
  return !a->damaged && face->variable != NULL;
}
