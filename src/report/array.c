/// Arrays of numbers in JSON, see array.h: bytes, perhaps compressed, in base64.
#include "report/array.h"

#include <math.h>
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

/// The bytes of an array, behind what else is said of it.
static void put_bytes(FILE *out, unsigned char *byte, size_t n, size_t width, size_t columns,
                      size_t stride) {
  size_t shorter = 0;
  unsigned char *packed = compressed(byte, n, width, columns, stride, &shorter);
  fprintf(out, "%s\"base64\":\"", packed ? "\"deflate\":true,\"planes\":true," : "");
  if (packed == NULL) order_bytes(byte, n, width);
  put_base64(out, packed ? packed : byte, packed ? shorter : n * width);
  fputs("\"}", out);
  free(packed);
}

static void put_array(FILE *out, const char *type, unsigned char *byte, size_t n, size_t width,
                      size_t columns, size_t stride) {
  fprintf(out, "{\"type\":\"%s\",\"n\":%zu,", type, n);
  put_bytes(out, byte, n, width, columns, stride);
}

void asi_array_floats(FILE *out, float *x, size_t n, size_t columns, size_t stride) {
  put_array(out, "f32", (unsigned char *)x, n, sizeof *x, columns, stride);
}

void asi_array_doubles(FILE *out, double *x, size_t n) {
  put_array(out, "f64", (unsigned char *)x, n, sizeof *x, 1, 1);
}

// ---- multiples ----------------------------------------------------------------------------------------

int asi_array_exponent(double span, double largest) {
  enum { BITS = 24, MOST = 30 };
  int of_span, of_largest;
  frexp(span, &of_span);
  frexp(largest, &of_largest);
  return of_span - BITS > of_largest - MOST ? of_span - BITS : of_largest - MOST;
}

bool asi_array_multiples(FILE *out, double *x, size_t rows, size_t columns, const int *exponents) {
  const size_t n = rows * columns;
  uint32_t *bits = malloc((n > 0 ? n : 1) * sizeof *bits);
  if (bits == NULL) return false;
  for (size_t c = 0; c < columns; ++c) {
    uint32_t last = 0, step = 0;
    for (size_t r = 0; r < rows; ++r) {
      const double multiple = ldexp(x[r * columns + c], -exponents[c]);
      const uint32_t now = (uint32_t)(int32_t)lrint(multiple);
      const uint32_t change = now - last - step; // modulo 2^32
      step = now - last;
      last = now;
      bits[c * rows + r] = change >> 31 ? ~(change << 1) : change << 1;
    }
  }
  fprintf(out, "{\"type\":\"i32\",\"n\":%zu,\"columns\":%zu,\"exponents\":[", n, columns);
  for (size_t c = 0; c < columns; ++c) fprintf(out, c > 0 ? ",%d" : "%d", exponents[c]);
  fputs("],", out);
  put_bytes(out, (unsigned char *)bits, n, sizeof *bits, 1, 1);
  free(bits);
  return true;
}
