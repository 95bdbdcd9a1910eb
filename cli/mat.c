// MAT files of version 4, see mat.h: for each matrix five numbers, its name and its elements, little-endian.
#include "mat.h"

#include <stdint.h>
#include <string.h>

static void write_word(FILE *out, uint32_t x) {
  for (int i = 0; i < 4; i++) putc((int)(x >> (8 * i) & 255), out);
}

static void write_double(FILE *out, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  for (int i = 0; i < 8; i++) putc((int)(bits >> (8 * i) & 255), out);
}

void mat_head(FILE *out, const char *name, mat_type type, long rows, long columns) {
  write_word(out, (uint32_t)type);
  write_word(out, (uint32_t)rows);
  write_word(out, (uint32_t)columns);
  write_word(out, 0); // real
  write_word(out, (uint32_t)strlen(name) + 1);
  fwrite(name, 1, strlen(name) + 1, out);
}

void mat_matrix(FILE *out, const char *name, const double *values, long rows, long columns) {
  mat_head(out, name, MAT_DOUBLE, rows, columns);
  for (long i = 0; i < rows * columns; i++) write_double(out, values[i]);
}

void mat_lines(FILE *out, const char *name, const char *const *line, long n) {
  size_t width = 0;
  for (long i = 0; i < n; i++) width = strlen(line[i]) > width ? strlen(line[i]) : width;
  mat_head(out, name, MAT_TEXT, n, (long)width);
  for (size_t k = 0; k < width; k++)
    for (long i = 0; i < n; i++) putc(k < strlen(line[i]) ? (unsigned char)line[i][k] : ' ', out);
}
