/// Flexible bodies without HDF5: in an FMU, where a file holds what flexible_archive.h writes.
#include "alphastep/flexible_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "file/flexible_archive.h"

static as_status fail(const char *path, const char *why, as_error *error) {
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be used: %s", path, why);
}

/// All bytes of a file; to be freed.
static as_status read_bytes(const char *path, unsigned char **out, size_t *size, as_error *error) {
  const char *why = "it is too large";
  FILE *file = asi_file_open(path, &why);
  long end = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) end = ftell(file);
  *out = NULL;
  *size = end > 0 ? (size_t)end : 0;
  if (file && end > 0 && fseek(file, 0, SEEK_SET) == 0) {
    *out = malloc(*size);
    if (*out && fread(*out, 1, *size, file) != *size) {
      free(*out);
      *out = NULL;
      why = "it cannot be read";
    }
  }
  if (file) fclose(file);
  return *out ? AS_OK : fail(path, why, error);
}

as_status as_flexible_read(const char *path, as_flexible_data **out, as_error *error) {
  unsigned char *bytes;
  size_t size;
  as_status status = read_bytes(path, &bytes, &size, error);
  *out = NULL;
  if (status) return status;
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
