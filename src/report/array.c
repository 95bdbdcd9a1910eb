/// Arrays of numbers in JSON, see array.h: bytes, perhaps compressed, in base64.
#include "report/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "results/pack.h"

enum { SMALL = 512 }; ///< bytes that are not worth compressing

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

/// The compressed planes of `n` numbers, to be freed; NULL: they are not worth it, or there is no memory.
static unsigned char *compressed(const void *numbers, size_t n, size_t width, size_t columns,
                                 size_t stride, size_t *shorter) {
  const size_t size = n * width;
  if (size < SMALL) return NULL;
  unsigned char *packed = malloc(asi_pack_bound(size)), *planes = malloc(size);
  asi_packer *packer = malloc(sizeof *packer);
  *shorter = size;
  if (packed && planes && packer) {
    asi_shuffle(numbers, n, width, planes);
    *shorter = asi_pack(packer, planes, size, n, columns, stride, packed);
  }
  free(planes);
  free(packer);
  if (*shorter < size - size / 8) return packed;
  free(packed);
  return NULL;
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

static void put_array(FILE *out, const char *type, unsigned char *byte, size_t n, size_t width,
                      size_t columns, size_t stride) {
  size_t shorter = 0;
  unsigned char *packed = compressed(byte, n, width, columns, stride, &shorter);
  fprintf(out, "{\"type\":\"%s\",\"n\":%zu,%s\"base64\":\"", type, n,
          packed ? "\"deflate\":true,\"planes\":true," : "");
  if (packed == NULL) order_bytes(byte, n, width);
  put_base64(out, packed ? packed : byte, packed ? shorter : n * width);
  fputs("\"}", out);
  free(packed);
}

void asi_array_floats(FILE *out, float *x, size_t n, size_t columns, size_t stride) {
  put_array(out, "f32", (unsigned char *)x, n, sizeof *x, columns, stride);
}

void asi_array_doubles(FILE *out, double *x, size_t n) {
  put_array(out, "f64", (unsigned char *)x, n, sizeof *x, 1, 1);
}
