/// Folders that results go to, and files in them.
#ifndef ALPHASTEP_CLI_FOLDER_H
#define ALPHASTEP_CLI_FOLDER_H

#include <stdio.h>

#include "alphastep/folder.h"
#include "cli.h"

/// Makes a folder, and those above it, unless it is there, and sees that it can be written to. Complains. Says whether
/// it has been made.
cli_exit folder_make(const char *folder, bool *made);
/// Whether there is anything in it; a folder that is not there is empty.
bool folder_is_used(const char *folder);
/// `folder/name`, to be freed; NULL if memory runs out.
char *folder_path(const char *folder, const char *name);
/// `pendulum-results` for `models/pendulum.yaml`, `pendulum/model.yaml` and `pendulum/study.yaml`, if the tail is `-results`; to be
/// freed. NULL if memory runs out.
char *folder_default(const char *file, const char *tail);
/// Whether two paths lead to the same file.
bool folder_same_file(const char *a, const char *b);
/// Refuses to write to a file that belongs to the run in a folder, by whatever path, except one of the name `may`
/// (NULL: none). Complains.
cli_exit folder_spare(const char *folder, const char *output, const char *may);

/// Writes a file in one piece: beside its place, then renamed; with `sync` forced to the disk. Complains. A signal that ends the process
/// leaves nothing beside it.
cli_exit folder_replace(const char *path, bool sync, as_write_fn *write, const void *user);
/// The same for a path that a user has given: what is no file is refused.
cli_exit folder_write(const char *path, as_write_fn *write, const void *user);
/// Removes the draft of a file that a process which has ended was writing, unless another one is writing it.
void folder_drop_draft(const char *path);
/// Locks a folder: nobody else writes to it until the lock is given back. Complains.
cli_exit folder_lock(const char *folder, as_folder_lock **lock);
/// Removes what has the name of a file and is none: a link, a pipe.
void folder_clear(const char *path);

#endif
