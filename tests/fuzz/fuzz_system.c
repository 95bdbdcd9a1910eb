/// Fuzzes asi_matrix_of_csv() and asi_matrix_of_mat(): whatever bytes hold, there is a matrix of finite numbers, or a sentence, or
/// in a MAT file no such variable.
///
/// The first byte chooses: `c` a text, anything else a MAT file, of which A, B and a name that is not there are asked for.
/// `fuzz_system --seeds=FOLDER` writes inputs to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "file/matrix.h"
#include "fuzz/seeds.h"

static const char *const seeds[] = {
    "c1,2,3\n4,5,6\n",
    "ca;b\n# text\n1e3;-2\n\n3;4.\n",
    ("c\xef\xbb\xbf"
     "1 2\n3\n"),
    "c1,2\nx,1e999\n",
};

#define WORD(a) a "\0\0\0"
// A 2 x 1 of bytes, then B 1 x 1 a double; the same with the greatest byte first; a sparse one.
static const char small[] =
    "m" WORD("\62") WORD("\2") WORD("\1") WORD("\0") WORD("\2") "A\0\7\11" WORD("\0") WORD("\1")
        WORD("\1") WORD("\0") WORD("\2") "B\0\0\0\0\0\0\0\360?";
static const char large[] = "m\0\0\4\32\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\2A\0\377\376";
static const char sparse[] =
    "m" WORD("\64") WORD("\3") WORD("\3") WORD("\0") WORD("\2") "A\0\1\2\2\1\3\3\5\6\0";

static void write_seed(const char *folder, const char *name, const char *bytes, size_t size) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  must(file != NULL && fwrite(bytes, 1, size, file) == size, "a seed cannot be written");
  fclose(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  write_seed(folder, "small", small, sizeof small - 1);
  write_seed(folder, "large", large, sizeof large - 1);
  write_seed(folder, "sparse", sparse, sizeof sparse - 1);
  exit(0);
}

static void check(asi_matrix *m, bool may_be_missing) {
  must(!m->no_memory, "out of memory");
  if (m->sentence[0]) must(m->number == NULL && strlen(m->sentence) < sizeof m->sentence, "both");
  if (!may_be_missing) must((m->number == NULL) == (m->sentence[0] != '\0'), "neither");
  for (size_t i = 0; m->number && i < (size_t)m->rows * (size_t)m->columns; ++i)
    must(isfinite(m->number[i]), "a number is not finite");
  if (m->number) must(m->rows > 0 && m->columns > 0, "it is empty");
  free(m->number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"A", "B", "no such"};
  if (size == 0) return 0;
  char *bytes = malloc(size); // of the exact size, so that reading beyond it shows
  must(bytes != NULL, "out of memory");
  memcpy(bytes, data + 1, size - 1);
  if (data[0] == 'c') {
    asi_matrix m = asi_matrix_of_csv(bytes, size - 1);
    check(&m, false);
  }
  for (int i = 0; i < 3 && data[0] != 'c'; ++i) {
    asi_matrix m = asi_matrix_of_mat(bytes, size - 1, names[i]);
    check(&m, true);
  }
  free(bytes);
  return 0;
}
