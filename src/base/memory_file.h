/// Files of saved things: 16 bytes that say what it is, then format, length and checksum as words, then the body.
#ifndef ALPHASTEP_BASE_MEMORY_FILE_H
#define ALPHASTEP_BASE_MEMORY_FILE_H

#include "alphastep/status.h"
#include "base/archive.h"
#include "base/export.h"

typedef struct asi_memory_file {
  unsigned char *bytes;
  asi_archive body; ///< to be written to or read from
} asi_memory_file;

/// Makes a body of `size` bytes to be filled.
ASI_IO as_status asi_memory_file_make(asi_memory_file *file, const char magic[16], int format,
                                      size_t size, as_error *error);
/// Writes it beside its place and renames it: whatever happens, there is a whole file (with `sync` also without power).
ASI_IO as_status asi_memory_file_write(asi_memory_file *file, const char *path, bool sync,
                                       as_error *error);
/// Reads a file; one that is something else, of another format, cut off or damaged is refused.
ASI_IO as_status asi_memory_file_read(asi_memory_file *file, const char *path, const char magic[16],
                                      int format, as_error *error);
ASI_IO void asi_memory_file_free(asi_memory_file *file);

#endif
