/// Numbers in a row of bytes that means the same on every machine: little-endian, doubles as IEEE 754.
///
/// One function describes what belongs to an object, by calling these for each part; it counts, writes or
/// reads, as the archive is set.
#ifndef ALPHASTEP_BASE_ARCHIVE_H
#define ALPHASTEP_BASE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

typedef enum asi_archive_mode {
  ASI_ARCHIVE_COUNT,
  ASI_ARCHIVE_WRITE,
  ASI_ARCHIVE_READ
} asi_archive_mode;

typedef struct asi_archive {
  asi_archive_mode mode;
  unsigned char *data;
  size_t size;    ///< room, or what there is to read
  size_t used;    ///< bytes so far
  bool trusted;   ///< reading: our own copy, whose numbers may be anything
  bool damaged;   ///< reading: too short, or a number that cannot be
  bool no_memory; ///< reading: memory ran out
} asi_archive;

ASI_IO void asi_archive_word(asi_archive *a, uint64_t *x);
ASI_IO void asi_archive_double(asi_archive *a, double *x);
ASI_IO void asi_archive_doubles(asi_archive *a, double *x, size_t count);
ASI_IO void asi_archive_bool(asi_archive *a, bool *x);
/// A whole number; one outside least ... most is damage.
ASI_IO void asi_archive_int(asi_archive *a, int *x, int least, int most);
/// Something that is counted, and counted on: a number that is negative or next to overflow is damage.
ASI_IO void asi_archive_count(asi_archive *a, long *x);

/// FNV-1a, 64 bit.
ASI_IO uint64_t asi_checksum(const unsigned char *data, size_t size);

#endif
