/// Fuzzes the readers of matrices in CSV and MAT files: whatever the bytes are, there is a matrix of finite numbers, a sentence, or neither
/// for want of the variable.
///
/// The first byte is `c` for CSV, or says which variable to look for: A, B, C or D. `fuzz_matrix --seeds=FOLDER` writes inputs to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/matrix.h"
#include "fuzz/seeds.h"

static const char *const texts[] = {
    "c1,2,3\n4,5,6\n",
    "c# a matrix\n1;2\n\n-3e-4;+.5\n",
    "c\xef\xbb\xbf 1 \t 2\n3 4\n",
    "c1,2\n3\n",
    "c1e400,2\n",
};

/// A matrix of MAT version 4: its type in decimal digits (order of bytes, 0, number, kind), rows, columns, name and bytes of numbers.
static void write_mat(const char *folder, size_t number, uint32_t type, uint32_t rows,
                      uint32_t columns, const char *name, size_t bytes) {
  unsigned char data[512] = {'D'};
  const uint32_t head[5] = {type, rows, columns, 0, (uint32_t)strlen(name) + 1};
  size_t n = 1;
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 4; ++k)
      data[n++] = (unsigned char)(head[i] >> (type >= 1000 ? 24 - 8 * k : 8 * k));
  memcpy(data + n, name, strlen(name) + 1);
  n += strlen(name) + 1;
  for (size_t i = 0; i < bytes; ++i)
    data[n++] = (unsigned char)(i % 8 == 7 ? 0x3f : i % 8 == 6 ? 0xf0 : 0);
  seeds_write(folder, number, data, n);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, texts, sizeof texts / sizeof texts[0]);
  size_t n = sizeof texts / sizeof texts[0];
  static const uint32_t size[] = {8, 4, 4, 2, 2, 1};
  for (uint32_t of = 0; of < 6; ++of) {
    write_mat(folder, n++, 10 * of, 2, 3, "A", 6 * size[of]);
    write_mat(folder, n++, 1000 + 10 * of, 3, 2, "A", 6 * size[of]);
  }
  write_mat(folder, n++, 2, 3, 3, "A", 72); // sparse
  write_mat(folder, n++, 0, 1, 1, "B", 8);
  exit(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const char name[2] = {"ABCD"[data[0] % 4], '\0'};
  char *copy = malloc(size); // so that reading behind the end is seen
  must(copy != NULL, "no memory");
  memcpy(copy, data + 1, size - 1);
  const bool csv = data[0] == 'c';
  asi_matrix m = csv ? asi_matrix_of_csv(copy, size - 1) : asi_matrix_of_mat(copy, size - 1, name);
  must(memchr(m.sentence, '\0', sizeof m.sentence) != NULL, "a sentence without an end");
  for (const char *c = m.sentence; *c; ++c) must(*c >= 0x20 && *c < 0x7f, "a strange character");
  must(!(m.number && m.sentence[0]), "a matrix and a sentence");
  must(!csv || m.number || m.sentence[0] || m.no_memory, "neither a matrix nor a sentence");
  if (m.number) must(m.rows > 0 && m.columns > 0, "a matrix without numbers");
  for (size_t i = 0; m.number && i < (size_t)m.rows * (size_t)m.columns; ++i)
    must(isfinite(m.number[i]), "a number that is not finite");
  free(m.number);
  free(copy);
  return 0;
}
