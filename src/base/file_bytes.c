/// Of files (file.h) what the standard library of C is enough for: whole contents, digests.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

unsigned char *asi_file_bytes(const char *path, size_t *size, const char **why) {
  FILE *file = asi_file_open(path, why);
  *size = 0;
  if (file == NULL) return NULL;
  const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  const bool found = end >= 0 && fseek(file, 0, SEEK_SET) == 0;
  unsigned char *bytes = found ? asi_calloc((size_t)end + 1, 1) : NULL;
  *why = found ? NULL : "its end cannot be found";
  if (bytes) *size = fread(bytes, 1, (size_t)end, file);
  if (bytes && *size != (size_t)end) {
    *why = "it cannot be read to its end";
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  return bytes;
}

char *asi_file_beside(const char *path, const char *tail) {
  const size_t size = strlen(path) + strlen(tail) + 1;
  char *beside = asi_calloc(size, 1);
  if (beside != NULL) snprintf(beside, size, "%s%s", path, tail);
  return beside;
}

as_status asi_fail_write(const char *path, int number, as_error *error) {
  if (number == ENOMEM) return asi_fail_memory(error);
  if (number == 0) // there is room on the disk for all that it writes
    return asi_fail(error, AS_ERR_MEMORY, (double)NAN, NULL,
                    "%.300s cannot be written: the HDF5 library failed, for want of memory or by "
                    "a fault of its own.",
                    path);
  return asi_fail(error, AS_ERR_FILE, (double)NAN, NULL, "%.300s cannot be written: %s.", path,
                  strerror(number));
}

// ---- digests ----------------------------------------------------------------------------------------

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

asi_digest asi_digest_begin(void) { return (asi_digest){.hash = 14695981039346656037u}; }

void asi_digest_add(asi_digest *d, const void *data, size_t size) {
  const unsigned char *byte = data, *end = byte + size;
  for (; byte < end && d->bytes % 8 != 0; ++byte) {
    d->rest |= (uint64_t)*byte << (8 * (d->bytes % 8));
    if (++d->bytes % 8 != 0) continue;
    d->hash = mix(d->hash, d->rest);
    d->rest = 0;
  }
  for (; end - byte >= 8; byte += 8, d->bytes += 8) {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= (uint64_t)byte[i] << (8 * i);
    d->hash = mix(d->hash, word);
  }
  for (; byte < end; ++byte, ++d->bytes) d->rest |= (uint64_t)*byte << (8 * (d->bytes % 8));
}

uint64_t asi_digest_end(const asi_digest *d) { return mix(mix(d->hash, d->rest), d->bytes); }
