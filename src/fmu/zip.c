#include "fmu/zip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"

enum {
  VERSION = 20,       ///< of the format: deflate, folders
  UTF8 = 1 << 11,     ///< names are
  DEFLATE = 8,        ///< the method
  DATE = 0x21,        ///< 1 January 1980, the first there is
  LOCAL = 0x04034b50, ///< marks
  ENTRY = 0x02014b50,
  END = 0x06054b50,
  MOST_MEMBERS = 65535,
};

typedef struct member {
  char *name;
  uint32_t crc, packed, size, at;
} member;

struct asi_zip_writer {
  FILE *file;
  uint64_t used;
  member *list;
  int n, room;
  as_status status;
  int number; ///< errno of the first write that failed
};

asi_zip_writer *asi_zip_begin(FILE *file) {
  asi_zip_writer *z = asi_calloc(1, sizeof *z);
  if (z) z->file = file;
  return z;
}

static void fail(asi_zip_writer *z, as_status status) {
  if (z->status == AS_OK) z->status = status;
}

static void put(asi_zip_writer *z, const void *bytes, size_t size) {
  if (z->status == AS_OK && size > 0 && fwrite(bytes, 1, size, z->file) != size) {
    z->number = errno;
    fail(z, AS_ERR_FILE);
  }
  z->used += size;
}

/// A number of `size` bytes, the lowest first.
static void put_number(asi_zip_writer *z, uint32_t x, int size) {
  unsigned char byte[4];
  for (int i = 0; i < size; ++i) byte[i] = (unsigned char)(x >> (8 * i));
  put(z, byte, (size_t)size);
}

/// What the heads of a member and of its entry in the directory share.
static void put_facts(asi_zip_writer *z, const member *m) {
  put_number(z, VERSION, 2);
  put_number(z, UTF8, 2);
  put_number(z, DEFLATE, 2);
  put_number(z, 0, 2);
  put_number(z, DATE, 2);
  put_number(z, m->crc, 4);
  put_number(z, m->packed, 4);
  put_number(z, m->size, 4);
  put_number(z, (uint32_t)strlen(m->name), 2);
  put_number(z, 0, 2);
}

/// Deflates without a head; NULL: no memory.
static unsigned char *deflate_all(const void *bytes, size_t size, size_t *packed) {
  z_stream s = {0};
  if (deflateInit2(&s, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return NULL;
  const size_t room = deflateBound(&s, (uLong)size);
  unsigned char *out = malloc(room + 1);
  unsigned char *in = malloc(size + 1);
  bool good = out && in;
  if (good) {
    memcpy(in, bytes, size);
    s.next_in = in;
    s.avail_in = (uInt)size;
    s.next_out = out;
    s.avail_out = (uInt)room;
    good = deflate(&s, Z_FINISH) == Z_STREAM_END;
    *packed = room - s.avail_out;
  }
  deflateEnd(&s);
  free(in);
  if (good) return out;
  free(out);
  return NULL;
}

void asi_zip_add(asi_zip_writer *z, const char *name, const void *bytes, size_t size) {
  void *array = z->list;
  size_t packed = 0;
  if (z->used + size > UINT32_MAX / 2 || z->n == MOST_MEMBERS) fail(z, AS_ERR_UNSUPPORTED);
  if (z->status) return;
  char *copy = malloc(strlen(name) + 1);
  unsigned char *out = deflate_all(size > 0 ? bytes : "", size, &packed);
  if (z->n == z->room) {
    z->room = 2 * z->room + 16;
    array = realloc(z->list, (size_t)z->room * sizeof *z->list);
    if (array) z->list = array;
  }
  if (copy == NULL || out == NULL || array == NULL) {
    free(copy);
    free(out);
    fail(z, AS_ERR_MEMORY);
    return;
  }
  strcpy(copy, name);
  z->list[z->n] = (member){copy, (uint32_t)crc32(0, size > 0 ? bytes : NULL, (uInt)size),
                           (uint32_t)packed, (uint32_t)size, (uint32_t)z->used};
  put_number(z, LOCAL, 4);
  put_facts(z, &z->list[z->n]);
  put(z, copy, strlen(copy));
  put(z, out, packed);
  free(out);
  ++z->n;
}

as_status asi_zip_end(asi_zip_writer *z) {
  const uint64_t at = z->used;
  for (int i = 0; i < z->n; ++i) {
    put_number(z, ENTRY, 4);
    put_number(z, VERSION, 2);
    put_facts(z, &z->list[i]);
    put_number(z, 0, 2);
    put_number(z, 0, 2);
    put_number(z, 0, 2);
    put_number(z, 0, 4);
    put_number(z, z->list[i].at, 4);
    put(z, z->list[i].name, strlen(z->list[i].name));
    free(z->list[i].name);
  }
  const uint32_t size = (uint32_t)(z->used - at);
  put_number(z, END, 4);
  put_number(z, 0, 4);
  put_number(z, (uint32_t)z->n, 2);
  put_number(z, (uint32_t)z->n, 2);
  put_number(z, size, 4);
  put_number(z, (uint32_t)at, 4);
  put_number(z, 0, 2);
  const as_status status = z->status;
  const int number = z->number;
  free(z->list);
  free(z);
  if (status == AS_ERR_FILE) errno = number;
  return status;
}
