// NumPy's .npz, see npz.h. An array is `\x93NUMPY`, a version, the length of a description in Python's words, and its elements.
#include "npz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 16 };

typedef struct bytes {
  unsigned char *data;
  size_t n;
} bytes;

static void put(bytes *b, const void *data, size_t n) {
  memcpy(b->data + b->n, data, n);
  b->n += n;
}

static void put_number(bytes *b, uint64_t x, int size) {
  for (int i = 0; i < size; i++) b->data[b->n++] = (unsigned char)(x >> (8 * i) & 255);
}

static size_t longest(const npz_array *a) {
  size_t width = 1;
  for (long i = 0; i < a->rows; i++)
    width = strlen(a->line[i]) > width ? strlen(a->line[i]) : width;
  return width;
}

/// An array as a file of NumPy; text is ASCII with what is not replaced by `?`.
static bool make(const npz_array *a, bytes *out) {
  const size_t width = a->values ? 0 : longest(a);
  const size_t size = a->values ? 8 * (size_t)(a->rows * a->columns) : 4 * width * (size_t)a->rows;
  char head[160];
  int n = a->values ? snprintf(head, sizeof head,
                               "{'descr': '<f8', 'fortran_order': True, 'shape': (%ld, %ld), }",
                               a->rows, a->columns)
                    : snprintf(head, sizeof head,
                               "{'descr': '<U%zu', 'fortran_order': False, 'shape': (%ld,), }",
                               width, a->rows);
  const int total = (10 + n + 1 + 63) / 64 * 64; // elements begin at a multiple of 64
  *out = (bytes){malloc(size + (size_t)total), 0};
  if (out->data == NULL) return false;
  put(out, "\x93NUMPY\x01\x00", 8);
  put_number(out, (uint64_t)(total - 10), 2);
  put(out, head, (size_t)n);
  while (out->n < (size_t)total - 1) out->data[out->n++] = ' ';
  out->data[out->n++] = '\n';
  for (long i = 0; a->values && i < a->rows * a->columns; i++) {
    uint64_t bits;
    memcpy(&bits, &a->values[i], sizeof bits);
    put_number(out, bits, 8);
  }
  for (long i = 0; !a->values && i < a->rows; i++)
    for (size_t k = 0; k < width; k++) {
      const unsigned char c = k < strlen(a->line[i]) ? (unsigned char)a->line[i][k] : 0;
      put_number(out, c < 128 ? c : '?', 4);
    }
  return true;
}

static uint32_t checksum(const bytes *b) { // CRC-32
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < b->n; i++) {
    crc ^= b->data[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

/// What a ZIP file says of a file in it, before the file and once more at its end.
static void put_entry(bytes *b, bool at_end, const char *name, const bytes *file, uint32_t crc,
                      size_t place) {
  put_number(b, at_end ? 0x02014b50 : 0x04034b50, 4);
  if (at_end) put_number(b, 20, 2);
  put_number(b, 20, 2);
  put_number(b, 0, 4);          // no flags, stored
  put_number(b, 0x00210000, 4); // 1980-01-01
  put_number(b, crc, 4);
  put_number(b, file->n, 4);
  put_number(b, file->n, 4);
  put_number(b, strlen(name), 2);
  put_number(b, 0, 2);
  if (at_end) {
    put_number(b, 0, 2 + 2 + 2);
    put_number(b, 0, 4);
    put_number(b, place, 4);
  }
  put(b, name, strlen(name));
}

bool npz_write(FILE *out, const npz_array *array, int n) {
  unsigned char room[MOST_ARRAYS * 128];
  bytes end = {room, 0};
  size_t place = 0;
  if (n > MOST_ARRAYS) return false;
  for (int i = 0; i < n; i++) {
    unsigned char start[128];
    bytes file, head = {start, 0};
    char name[40];
    if (!make(&array[i], &file)) return false;
    snprintf(name, sizeof name, "%.30s.npy", array[i].name);
    const uint32_t crc = checksum(&file);
    put_entry(&head, false, name, &file, crc, 0);
    put_entry(&end, true, name, &file, crc, place);
    fwrite(head.data, 1, head.n, out);
    fwrite(file.data, 1, file.n, out);
    place += head.n + file.n;
    free(file.data);
  }
  fwrite(end.data, 1, end.n, out);
  unsigned char tail[32];
  bytes last = {tail, 0};
  put_number(&last, 0x06054b50, 4);
  put_number(&last, 0, 4);
  put_number(&last, (uint64_t)n, 2);
  put_number(&last, (uint64_t)n, 2);
  put_number(&last, end.n, 4);
  put_number(&last, place, 4);
  put_number(&last, 0, 2);
  fwrite(last.data, 1, last.n, out);
  return true;
}
