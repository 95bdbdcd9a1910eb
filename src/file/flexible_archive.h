/// Flexible bodies as bytes, for FMUs.
#ifndef ALPHASTEP_FILE_FLEXIBLE_ARCHIVE_H
#define ALPHASTEP_FILE_FLEXIBLE_ARCHIVE_H

#include "alphastep/flexible.h"
#include "base/archive.h"
#include "file/arena.h"

/// Counts, writes or reads `d`, then into the arena, unchecked. False: damaged, or no memory.
bool asi_flexible_archive(asi_archive *a, as_flexible_data *d, asi_arena *arena);

#endif
