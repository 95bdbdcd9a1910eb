/// Arrays of numbers in JSON, see array.h: bytes, perhaps compressed, in base64.
#include "report/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum {
  SMALL = 512, ///< bytes that are not worth compressing
  LEVEL = 6,   ///< of compression
};

static void put_base64(FILE *out, const unsigned char *byte, size_t size) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char piece[4096];
  size_t used = 0;
  for (size_t i = 0; i < size; i += 3) {
    const size_t left = size - i;
    const unsigned bits = (unsigned)byte[i] << 16 | (left > 1 ? (unsigned)byte[i + 1] << 8 : 0u) |
                          (left > 2 ? (unsigned)byte[i + 2] : 0u);
    piece[used++] = digit[bits >> 18];
    piece[used++] = digit[bits >> 12 & 63];
    piece[used++] = left > 1 ? digit[bits >> 6 & 63] : '=';
    piece[used++] = left > 2 ? digit[bits & 63] : '=';
    if (used == sizeof piece) {
      fwrite(piece, 1, used, out);
      used = 0;
    }
  }
  if (used > 0) fwrite(piece, 1, used, out);
}

/// The compressed bytes, to be freed; NULL: they are not worth it, or there is no memory.
static unsigned char *compressed(const unsigned char *byte, size_t size, size_t *shorter) {
  uLongf room = compressBound((uLong)size);
  unsigned char *packed = size < SMALL ? NULL : malloc(room);
  if (packed == NULL) return NULL;
  if (compress2(packed, &room, byte, (uLong)size, LEVEL) == Z_OK && room < size - size / 8) {
    *shorter = room;
    return packed;
  }
  free(packed);
  return NULL;
}

static void put_array(FILE *out, const char *type, size_t n, const unsigned char *byte,
                      size_t size) {
  size_t shorter = 0;
  unsigned char *packed = compressed(byte, size, &shorter);
  fprintf(out, "{\"type\":\"%s\",\"n\":%zu,%s\"base64\":\"", type, n,
          packed ? "\"deflate\":true," : "");
  put_base64(out, packed ? packed : byte, packed ? shorter : size);
  fputs("\"}", out);
  free(packed);
}

/// Puts the lowest byte of each number first.
static void order_bytes(unsigned char *byte, size_t n, size_t width) {
  const uint16_t one = 1;
  if (*(const unsigned char *)&one == 1) return;
  for (size_t i = 0; i < n; ++i, byte += width)
    for (size_t k = 0; k < width / 2; ++k) {
      const unsigned char low = byte[width - 1 - k];
      byte[width - 1 - k] = byte[k];
      byte[k] = low;
    }
}

void asi_array_floats(FILE *out, float *x, size_t n) {
  order_bytes((unsigned char *)x, n, sizeof *x);
  put_array(out, "f32", n, (const unsigned char *)x, n * sizeof *x);
}

void asi_array_doubles(FILE *out, double *x, size_t n) {
  order_bytes((unsigned char *)x, n, sizeof *x);
  put_array(out, "f64", n, (const unsigned char *)x, n * sizeof *x);
}
