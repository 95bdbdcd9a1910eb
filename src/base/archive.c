#include "base/archive.h"

#include <limits.h>
#include <string.h>

void asi_archive_word(asi_archive *a, uint64_t *x) {
  if (a->mode == ASI_ARCHIVE_COUNT) {
    a->used += 8;
    return;
  }
  if (a->size - a->used < 8) {
    a->damaged = true;
    return;
  }
  unsigned char *byte = a->data + a->used;
  if (a->mode == ASI_ARCHIVE_WRITE) {
    for (int i = 0; i < 8; ++i) byte[i] = (unsigned char)(*x >> (8 * i));
  } else {
    *x = 0;
    for (int i = 0; i < 8; ++i) *x |= (uint64_t)byte[i] << (8 * i);
  }
  a->used += 8;
}

void asi_archive_double(asi_archive *a, double *x) {
  uint64_t bits = 0;
  memcpy(&bits, x, sizeof bits);
  asi_archive_word(a, &bits);
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged) memcpy(x, &bits, sizeof bits);
}

void asi_archive_doubles(asi_archive *a, double *x, size_t count) {
  if (a->mode == ASI_ARCHIVE_COUNT)
    a->used += 8 * count;
  else
    for (size_t i = 0; i < count && !a->damaged; ++i) asi_archive_double(a, x + i);
}

void asi_archive_bool(asi_archive *a, bool *x) {
  int value = *x;
  asi_archive_int(a, &value, 0, 1);
  *x = value != 0;
}

/// A whole number, as two's complement in 64 bits.
static void serialize_whole(asi_archive *a, int64_t *x, int64_t least, int64_t most) {
  uint64_t bits = (uint64_t)*x;
  int64_t value = 0;
  asi_archive_word(a, &bits);
  if (a->mode != ASI_ARCHIVE_READ || a->damaged) return;
  memcpy(&value, &bits, sizeof value);
  if (!a->trusted && (value < least || value > most))
    a->damaged = true;
  else
    *x = value;
}

void asi_archive_int(asi_archive *a, int *x, int least, int most) {
  int64_t value = *x;
  serialize_whole(a, &value, least, most);
  *x = (int)value;
}

void asi_archive_count(asi_archive *a, long *x) {
  int64_t value = *x;
  serialize_whole(a, &value, 0, LONG_MAX / 2);
  *x = (long)value;
}

uint64_t asi_checksum(const unsigned char *data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 1099511628211u;
  return hash;
}
