/// Flexible bodies without HDF5: in an FMU, where a file holds what flexible_archive.h writes.
#include "alphastep/flexible_file.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "file/flexible_archive.h"

static as_status fail(const char *path, const char *why, as_error *error) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be used: %s", path, why);
}

as_status as_flexible_read(const char *path, as_flexible_data **out, as_error *error) {
  const char *why = NULL;
  size_t size;
  unsigned char *bytes = asi_file_bytes(path, &size, &why);
  as_status status = AS_OK;
  *out = NULL;
  if (bytes == NULL) return why ? fail(path, why, error) : asi_fail_memory(error);
  asi_archive a = {.mode = ASI_ARCHIVE_READ, .data = bytes, .size = size};
  as_flexible_data d = {0};
  asi_arena arena = {0};
  const bool good = asi_flexible_archive(&a, &d, &arena) && a.used == a.size;
  free(bytes);
  status = arena.failed ? asi_fail_memory(error)
           : good       ? as_flexible_copy(&d, out, error)
                        : fail(path, "it is damaged", error);
  asi_arena_free(&arena);
  return status;
}
