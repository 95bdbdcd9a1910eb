/// Fuzzes asi_csv_parse() and the tables made of what it reads: whatever a text holds, there are points that increase, or
/// a sentence with a line that is there. A table meets its points.
///
/// The first two bytes choose the columns. `fuzz_table --seeds=FOLDER` writes texts to begin with.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alphastep/alphastep.h"
#include "elements/curve.h"
#include "file/csv.h"
#include "fuzz/seeds.h"

static const char *const seeds[] = {
    "01x,y\n0,1\n1,2.5e-3\n2,-.5\n",
    "02# depth; T; force\r\n\r\n0;20.5;0\r\n0.01;20.6;100\r\n",
    "01\xef\xbb\xbf-1\t4\n+2 \t 5.\n 3  1e400\n",
    "10 1,2\n 2,1\n \"a\",b\n",
    "01a,b\n1,2\n1,2\n",
};

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  const char *folder = seeds_folder(*argc, *argv);
  if (folder == NULL) return 0;
  seeds_write_texts(folder, seeds, sizeof seeds / sizeof seeds[0]);
  exit(0);
}

static void check_sentence(const asi_csv *csv, const char *text, size_t size) {
  int lines = 1;
  for (size_t i = 0; i < size; ++i) lines += text[i] == '\n';
  must(csv->sentence[0] != '\0' && strlen(csv->sentence) < sizeof csv->sentence, "no sentence");
  must(csv->line >= 0 && csv->line <= lines, "the line is not there");
  for (const char *c = csv->sentence; *c; ++c) must(*c >= 0x20 && *c < 0x7f, "a strange character");
}

static void check_table(const asi_csv *csv, as_interpolation interpolation) {
  const int n = csv->n;
  as_error error;
  double *x = malloc(2 * (size_t)n * sizeof *x);
  must(x != NULL, "no memory");
  for (int i = 0; i < n; ++i) {
    x[i] = csv->number[2 * i];
    x[n + i] = csv->number[2 * i + 1];
  }
  asi_curve curve;
  const as_curve def = {.x = x, .y = x + n, .n = n, .interpolation = interpolation};
  must(asi_curve_init(&curve, &def, "The table", &error) == AS_OK, "a table is refused");
  for (int i = 0; i < n; ++i) {
    double out[3];
    must(asi_curve_evaluate(&curve, x[i], out) == 0, "a table has no value");
    if (i + 1 < n && isfinite(out[0]) && isfinite(out[1]))
      must(out[0] == x[n + i], "a table does not meet a point");
  }
  (void)asi_curve_integral(&curve, 1.0);
  asi_curve_free(&curve);
  free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  const int column[2] = {1 + data[0] % 4, 1 + data[1] % 4};
  char *text = malloc(size - 2 + 1); // of this size alone, so that reading behind it is seen
  must(text != NULL, "no memory");
  memcpy(text, data + 2, size - 2);
  const asi_csv csv = asi_csv_parse(text, size - 2, column);
  if (csv.number == NULL) {
    check_sentence(&csv, text, size - 2);
  } else {
    must(csv.n >= 2 && csv.sentence[0] == '\0', "points and a sentence");
    for (int i = 0; i < csv.n; ++i) {
      must(isfinite(csv.number[2 * i]) && isfinite(csv.number[2 * i + 1]), "not finite");
      must(i == 0 || csv.number[2 * i] > csv.number[2 * i - 2], "x does not increase");
    }
    check_table(&csv, AS_SPLINE);
    check_table(&csv, AS_MONOTONE);
    check_table(&csv, AS_LINEAR);
  }
  free(csv.number);
  free(text);
  return 0;
}
