/// Flexible bodies in files: one HDF5 file each, written in one piece, with a digest at its end. docs/flexible-bodies.md has its layout.
///
///     as_flexible_data *rod;
///     if (as_flexible_read("rod.h5", &rod, &error)) puts(error.message);
///     ...
///     as_flexible_destroy(rod);
#ifndef ALPHASTEP_FLEXIBLE_FILE_H
#define ALPHASTEP_FLEXIBLE_FILE_H

#include "alphastep/export.h"
#include "alphastep/flexible.h"
#include "alphastep/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Writes a body, checked first. What has this name is replaced in one piece, or stays as it is.
AS_API as_status as_flexible_write(const char *path, const as_flexible_data *data, as_error *error);
/// Reads a body and checks it; to be destroyed. Failures are AS_ERR_FILE, and AS_ERR_MEMORY.
AS_API as_status as_flexible_read(const char *path, as_flexible_data **out, as_error *error);

#ifdef __cplusplus
}
#endif

#endif
