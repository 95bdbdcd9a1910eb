#include "base/archive.h"

#include <string.h>

void asi_archive_word(asi_archive *a, uint64_t *x) {
  if (a->mode != ASI_ARCHIVE_COUNT && a->size - a->used < 8) {
    a->damaged = true;
    return;
  }
  unsigned char *byte = a->data + a->used;
  if (a->mode == ASI_ARCHIVE_WRITE)
    for (int i = 0; i < 8; ++i) byte[i] = (unsigned char)(*x >> (8 * i));
  if (a->mode == ASI_ARCHIVE_READ) {
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

void asi_archive_int(asi_archive *a, int *x, int least, int most) {
  long value = *x;
  asi_archive_long(a, &value);
  if (a->mode != ASI_ARCHIVE_READ) return;
  if (value < least || value > most)
    a->damaged = true;
  else
    *x = (int)value;
}

void asi_archive_long(asi_archive *a, long *x) {
  uint64_t bits = (uint64_t)*x;
  asi_archive_word(a, &bits);
  if (a->mode == ASI_ARCHIVE_READ && !a->damaged) {
    int64_t value = 0;
    memcpy(&value, &bits, sizeof value);
    *x = (long)value;
  }
}

uint64_t asi_checksum(const unsigned char *data, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 1099511628211u;
  return hash;
}
