/// Fuzzes as_sparse_parse(): whatever a text holds, there is a matrix that is what it should be, or a sentence.
/// What is read is written again and must be read as the same.
///
/// `fuzz_matrix_market --seeds=FOLDER` writes texts to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "fuzz/seeds.h"

static const char *const seeds[] = {
    "%%MatrixMarket matrix coordinate real general\n% x\n3 2 3\n3 1 -1.5e2\n1 2 .2\n3 1 7d0\n",
    "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n\n2 1 -3\n",
    "%%MatrixMarket matrix array real general\n2 2\n1\n2.5\n0\n-4e-3\n",
    "%%MatrixMarket matrix array real symmetric\r\n2 2\r\n1\r\n2\r\n3\r\n",
    "%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 1\n1 1\n",
};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  exit(0);
}

static void check(const as_sparse *m) {
  must(m->rows > 0 && m->cols > 0 && m->col_start[0] == 0, "the sizes are wrong");
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k) {
      must(m->row[k] >= 0 && m->row[k] < m->rows, "a row is outside");
      must(k == m->col_start[j] || m->row[k] > m->row[k - 1], "rows are not in order");
      must(isfinite(m->value[k]), "a value is not finite");
    }
}

/// Writes and reads again.
static void round_trip(const as_sparse *m) {
  const int n = m->col_start[m->cols];
  const size_t room = 128 + (size_t)n * 64;
  char *text = malloc(room);
  must(text != NULL, "out of memory");
  size_t used =
      (size_t)snprintf(text, room, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n",
                       m->rows, m->cols, n);
  for (int j = 0; j < m->cols; ++j)
    for (int k = m->col_start[j]; k < m->col_start[j + 1]; ++k)
      used += (size_t)snprintf(text + used, room - used, "%d %d %.17g\n", m->row[k] + 1, j + 1,
                               m->value[k]);
  as_sparse *again = NULL;
  must(as_sparse_parse(text, used, "again", &again, NULL) == AS_OK, "what was read is refused");
  must(again->col_start[m->cols] == n && memcmp(again->row, m->row, (size_t)n * sizeof(int)) == 0 &&
           memcmp(again->value, m->value, (size_t)n * sizeof(double)) == 0,
       "it is read as something else");
  as_sparse_destroy(again);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  as_error error = {0};
  as_sparse *m = NULL;
  char *text = malloc(size > 0 ? size : 1); // of the exact size, so that reading beyond it shows
  must(text != NULL, "out of memory");
  if (size > 0) memcpy(text, data, size);
  const as_status status = as_sparse_parse(text, size, "input", &m, &error);
  free(text);
  if (status == AS_OK) {
    check(m);
    round_trip(m);
    as_sparse_destroy(m);
    return 0;
  }
  must(m == NULL && error.message[0] != '\0', "it is refused without a sentence");
  return 0;
}
