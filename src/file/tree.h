/// Trees of values as bytes: what a compiled model (alphastep/fmu.h) has in place of YAML.
#ifndef ALPHASTEP_FILE_TREE_H
#define ALPHASTEP_FILE_TREE_H

#include "base/archive.h"
#include "file/value.h"

/// Whether `bytes` begin as a packed tree does.
bool asi_tree_is_packed(const char *bytes, size_t size);
/// Counts or writes a tree. `from_setting` says which values came from outside: a path that one gives is relative to the model file, not to
/// the file that it stands in.
void asi_tree_pack(const asi_value *root, bool (*from_setting)(int file, void *user), void *user,
                   asi_archive *a);
/// Reads one into the arena; its values belong to a file of this number. NULL: it is damaged; or, if arena->failed, there is no memory.
asi_value *asi_tree_unpack(const char *bytes, size_t size, int file, asi_arena *arena);

/// Bytes in an archive, padded to whole words; reading gives a copy in the arena with a zero behind it, NULL if there is none.
char *asi_tree_text(asi_archive *a, const char *text, size_t *length, asi_arena *arena);

#endif
