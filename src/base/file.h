/// Files in a folder that others may write to, on a machine that may lose its power.
///
/// A file is written beside its place, PATH.new, which is created anew: what stands there, a link, a pipe, what a killed
/// process has left, is removed, not opened. It is forced to the disk, renamed, and the folder is forced to the disk:
/// whatever happens, there is a whole file, the old or the new one.
#ifndef ALPHASTEP_BASE_FILE_H
#define ALPHASTEP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "alphastep/status.h"
#include "base/export.h"

/// Opens a regular file for reading; links are followed. NULL: `why` and errno say why not. A pipe or a device is not waited for.
ASI_IO FILE *asi_file_open(const char *path, const char **why);
/// What no two open files have in common. False: it cannot be found.
ASI_IO bool asi_file_identity(FILE *file, unsigned long long *device, unsigned long long *number);
/// All bytes of a file, with a zero behind them; to be freed. NULL: `why` says why not; where that is NULL, memory has run out.
ASI_IO unsigned char *asi_file_bytes(const char *path, size_t *size, const char **why);
/// `path` and `tail`; to be freed. NULL: memory has run out.
ASI_IO char *asi_file_beside(const char *path, const char *tail);
/// What stands in the way of a file of this name: a folder, a device, a pipe. NULL: nothing, or what may be replaced.
ASI_IO const char *asi_file_obstacle(const char *path);
/// Creates a file for reading and writing, in place of whatever has this name. -1: errno says why not.
ASI_IO int asi_file_create(const char *path);
/// Forces a file to the disk; true where that cannot be done.
ASI_IO bool asi_file_sync(int file);
/// Forces the names in the folder of a file to the disk.
bool asi_folder_sync(const char *path);
/// Gives a whole, closed file its name. With `sync` the folder is forced to the disk; the file has been.
ASI_IO bool asi_file_rename(const char *from, const char *to, bool sync);
/// Writes bytes to a file where it stands. False: errno says why not.
ASI_IO bool asi_file_put(int file, const void *data, size_t size);
/// "PATH cannot be written: ..." for an error number: AS_ERR_FILE. For want of memory, which is also what HDF5 does not say (0):
/// AS_ERR_MEMORY.
ASI_IO as_status asi_fail_write(const char *path, int number, as_error *error);

/// A file that is being written beside its place. It is locked meanwhile: a second process that would write it is refused.
typedef struct asi_draft {
  FILE *file;
  char *path, *beside;
} asi_draft;

ASI_IO as_status asi_draft_open(asi_draft *output, const char *path, as_error *error);
/// Gives the file its name if all has been written (`status` is AS_OK), or removes it. Returns how it went.
ASI_IO as_status asi_draft_close(asi_draft *output, as_status status, bool sync, as_error *error);

/// A digest of bytes that come in pieces.
typedef struct asi_digest {
  uint64_t hash, rest; ///< rest: the last bytes that make no word yet
  uint64_t bytes;
} asi_digest;

ASI_IO asi_digest asi_digest_begin(void);
ASI_IO void asi_digest_add(asi_digest *digest, const void *data, size_t size);
ASI_IO uint64_t asi_digest_end(const asi_digest *digest);

#endif
