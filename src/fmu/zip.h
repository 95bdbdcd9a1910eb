/// Writing zip archives: deflated members, with one date for all, so that equal contents make equal bytes.
#ifndef ALPHASTEP_FMU_ZIP_H
#define ALPHASTEP_FMU_ZIP_H

#include <stddef.h>
#include <stdio.h>

#include "alphastep/status.h"

typedef struct asi_zip_writer asi_zip_writer;

/// Begins an archive at the start of a file, which stays the caller's. NULL: no memory.
asi_zip_writer *asi_zip_begin(FILE *file);
/// Adds a member; `name` has / between folders. What fails is told by asi_zip_end().
void asi_zip_add(asi_zip_writer *zip, const char *name, const void *bytes, size_t size);
/// Writes the directory and frees. AS_ERR_FILE: errno says why; AS_ERR_UNSUPPORTED: more than 4 GiB; AS_ERR_MEMORY.
as_status asi_zip_end(asi_zip_writer *zip);

#endif
