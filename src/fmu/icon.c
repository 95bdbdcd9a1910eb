/// A double pendulum, drawn point by point and written as PNG: 8 bits of grey and of opacity.
#include "fmu/icon.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIDE = 128, ROW = 1 + 2 * SIDE, ROOM = 1 << 16 };

/// Distance of (x, y) from a line between two points.
static double distance(double x, double y, const double *a, const double *b) {
  const double dx = b[0] - a[0], dy = b[1] - a[1];
  double s = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy);
  s = fmin(fmax(s, 0.0), 1.0);
  return hypot(x - a[0] - s * dx, y - a[1] - s * dy);
}

/// How much of the point is covered by what is drawn, 0 to 1.
static double ink(double x, double y) {
  static const double pin[] = {40, 18}, elbow[] = {62, 66}, end[] = {98, 90}, left[] = {22, 18},
                      right[] = {58, 18};
  double d = distance(x, y, left, right) - 3.0;
  d = fmin(d, distance(x, y, pin, elbow) - 3.0);
  d = fmin(d, distance(x, y, elbow, end) - 3.0);
  d = fmin(d, hypot(x - elbow[0], y - elbow[1]) - 9.0);
  d = fmin(d, hypot(x - end[0], y - end[1]) - 14.0);
  return fmin(fmax(0.5 - d, 0.0), 1.0);
}

static void put32(unsigned char *to, uint32_t x) {
  for (int i = 0; i < 4; ++i) to[i] = (unsigned char)(x >> (24 - 8 * i));
}

/// Appends a chunk whose data stand in place already; returns its length.
static size_t chunk(unsigned char *at, const char *type, size_t size) {
  put32(at, (uint32_t)size);
  memcpy(at + 4, type, 4);
  put32(at + 8 + size, (uint32_t)crc32(0, at + 4, (uInt)size + 4));
  return size + 12;
}

unsigned char *asi_exported_icon(size_t *size) {
  static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  unsigned char *out = malloc(ROOM), *image = calloc(SIDE, ROW);
  uLongf packed = ROOM - 128;
  size_t used = sizeof signature;
  for (int i = 0; image && i < SIDE * SIDE; ++i) {
    unsigned char *at = image + i / SIDE * ROW + 1 + 2 * (i % SIDE);
    at[0] = 40;
    at[1] = (unsigned char)lround(255.0 * ink(i % SIDE + 0.5, i / SIDE + 0.5));
  }
  if (out && image) {
    memcpy(out, signature, sizeof signature);
    put32(out + used + 8, SIDE);
    put32(out + used + 12, SIDE);
    memcpy(out + used + 16, (unsigned char[]){8, 4, 0, 0, 0}, 5);
    used += chunk(out + used, "IHDR", 13);
  }
  const bool good =
      out && image && compress2(out + used + 8, &packed, image, SIDE * ROW, 9) == Z_OK;
  free(image);
  if (!good) {
    free(out);
    return NULL;
  }
  used += chunk(out + used, "IDAT", packed);
  used += chunk(out + used, "IEND", 0);
  *size = used;
  return out;
}
