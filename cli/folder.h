/// Folders that results go to, and files in them.
#ifndef ALPHASTEP_CLI_FOLDER_H
#define ALPHASTEP_CLI_FOLDER_H

#include <stdio.h>

#include "cli.h"

/// Makes a folder, and those above it, unless it is there, and sees that it can be written to. Complains.
cli_exit folder_make(const char *folder);
/// Whether there is anything in it; a folder that is not there is empty.
bool folder_is_used(const char *folder);
/// `folder/name`, to be freed; NULL if memory runs out.
char *folder_path(const char *folder, const char *name);
/// Refuses to write to a file that belongs to the run in a folder, by whatever path, except one of the name `may`
/// (NULL: none). Complains.
cli_exit folder_spare(const char *folder, const char *output, const char *may);

/// Writes a file in one piece: beside its place, then renamed. Complains.
cli_exit folder_replace(const char *path, void (*write)(FILE *out, const void *user),
                        const void *user);
/// The same for a path that a user has given: a device or a pipe is written to, not replaced.
cli_exit folder_write(const char *path, void (*write)(FILE *out, const void *user),
                      const void *user);

#endif
