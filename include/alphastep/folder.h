/// Folders that results are written to: one writer at a time, files in one piece.
#ifndef ALPHASTEP_FOLDER_H
#define ALPHASTEP_FOLDER_H

#include <stdbool.h>
#include <stdio.h>

#include "alphastep/export.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Says what is to be written.
typedef void as_write_fn(FILE *out, const void *user);

/// Writes a file in one piece: beside its place, PATH.new, which is created anew (no link is followed, no pipe opened), then
/// renamed. Whatever happens, there is a whole file, the old or the new one; with `sync` also if the machine loses
/// its power. errno says why it failed.
AS_API as_status as_file_replace(const char *path, as_write_fn *write, const void *user, bool sync,
                                 as_error *error);

/// That this process alone writes to a folder.
typedef struct as_folder_lock as_folder_lock;

/// Locks a folder until it is unlocked or the process ends, however it ends; nothing is left in the folder.
/// AS_ERR_ARGUMENT with a sentence if someone else has it. Where folders cannot be locked, as on some network file
/// systems, it is as if nobody had.
AS_API as_status as_folder_lock_take(const char *folder, as_folder_lock **out, as_error *error);
AS_API void as_folder_lock_give(as_folder_lock *lock); ///< NULL is fine

#ifdef __cplusplus
}
#endif

#endif
