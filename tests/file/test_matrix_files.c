/// Matrices of linear systems from CSV and MAT files: all forms, files that are cut anywhere, and the same system each way.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alphastep/alphastep.h"
#include "alphastep/io.h"
#include "file/matrix.h"

/// A MAT file that is being made.
typedef struct mat {
  unsigned char bytes[4096];
  size_t n;
  bool big;
} mat;

static void put(mat *m, const void *from, int size) {
  const unsigned char *bytes = from;
  const uint16_t one = 1;
  const bool here_big = *(const unsigned char *)&one == 0;
  for (int i = 0; i < size; ++i) m->bytes[m->n++] = bytes[here_big == m->big ? i : size - 1 - i];
}

static void put_word(mat *m, uint32_t x) { put(m, &x, 4); }

static void put_number(mat *m, int kind, double x) {
  const float single = (float)x;
  const int32_t word = (int32_t)x;
  const int16_t half = (int16_t)x;
  const uint16_t positive = (uint16_t)x;
  const uint8_t byte = (uint8_t)x;
  switch (kind) {
  case 0: put(m, &x, 8); break;
  case 1: put(m, &single, 4); break;
  case 2: put(m, &word, 4); break;
  case 3: put(m, &half, 2); break;
  case 4: put(m, &positive, 2); break;
  default: put(m, &byte, 1);
  }
}

/// Numbers by columns.
static void put_matrix(mat *m, const char *name, int kind, int what, int rows, int columns,
                       const double *number) {
  put_word(m, (uint32_t)((m->big ? 1000 : 0) + 10 * kind + what));
  put_word(m, (uint32_t)rows);
  put_word(m, (uint32_t)columns);
  put_word(m, 0);
  put_word(m, (uint32_t)strlen(name) + 1);
  memcpy(m->bytes + m->n, name, strlen(name) + 1);
  m->n += strlen(name) + 1;
  for (int i = 0; i < rows * columns; ++i) put_number(m, kind, number[i]);
}

static void expect_matrix(asi_matrix m, int rows, int columns, const double *by_rows) {
  if (m.number == NULL) fail_msg("%s", m.sentence);
  assert_int_equal(m.rows, rows);
  assert_int_equal(m.columns, columns);
  for (int i = 0; i < rows * columns; ++i)
    if (m.number[i] != by_rows[i]) fail_msg("entry %d: %g, not %g", i, m.number[i], by_rows[i]);
  free(m.number);
}

static void test_mat(void **state) {
  (void)state;
  static const double by_columns[] = {1, 2, 3, 40, 50, 60}, by_rows[] = {1, 3, 50, 2, 40, 60},
                      negative[] = {-7}, triples[] = {1, 2, 2, 2, 3, 3, -1.5, 0, 4},
                      dense[] = {0, -1.5, 0, 0, 0, 4};
  for (int big = 0; big < 2; ++big)
    for (int kind = 0; kind < 6; ++kind) {
      mat m = {.big = big};
      put_matrix(&m, "text", 5, 1, 1, 4, by_columns);
      put_matrix(&m, "A", kind, 0, 2, 3, by_columns);
      put_matrix(&m, "AB", kind, 0, 1, 1, negative);
      put_matrix(&m, "S", kind < 2 ? kind : 0, 2, 3, 3, triples);
      expect_matrix(asi_matrix_of_mat(m.bytes, m.n, "A"), 2, 3, by_rows);
      if (kind < 4) expect_matrix(asi_matrix_of_mat(m.bytes, m.n, "AB"), 1, 1, negative);
      expect_matrix(asi_matrix_of_mat(m.bytes, m.n, "S"), 2, 3, dense);
      const asi_matrix none = asi_matrix_of_mat(m.bytes, m.n, "B");
      assert_null(none.number);
      assert_string_equal(none.sentence, "");
      // Cut anywhere, it is refused or has no S.
      for (size_t n = 0; n < m.n; ++n) {
        unsigned char *copy = malloc(n > 0 ? n : 1);
        memcpy(copy, m.bytes, n);
        const asi_matrix cut = asi_matrix_of_mat(copy, n, "S");
        assert_null(cut.number);
        free(copy);
      }
    }
}

static void test_wrong_mat(void **state) {
  (void)state;
  static const double number[] = {1, 2, 3, 4, 5, (double)NAN};
  mat m = {.n = 0};
  put_matrix(&m, "A", 0, 0, 2, 3, number);
  put_matrix(&m, "S", 0, 2, 1, 3, number);
  put_matrix(&m, "T", 5, 1, 1, 1, number);
  put_matrix(&m, "Z", 0, 2, 2, 3, number);
  asi_matrix x = asi_matrix_of_mat(m.bytes, m.n, "A");
  assert_string_equal(x.sentence, "row 2, column 3 of A is not finite");
  x = asi_matrix_of_mat(m.bytes, m.n, "T");
  assert_string_equal(x.sentence, "T is a text");
  x = asi_matrix_of_mat(m.bytes, m.n, "Z");
  assert_non_null(strstr(x.sentence, "cannot be"));
  m.bytes[12] = 1; // complex: the rest does not fit
  x = asi_matrix_of_mat(m.bytes, m.n, "A");
  assert_string_equal(x.sentence, "A is complex");
  x = asi_matrix_of_mat("MATLAB 5.0 MAT-file, ", 21, "A");
  assert_string_equal(x.sentence, "no MAT file of version 4, or it is damaged at byte 0");
}

static void test_csv(void **state) {
  (void)state;
  static const double both[] = {1, 2.5, -3, 4};
  static const struct {
    const char *text, *sentence;
    int line;
  } wrong[] = {{"1,2\n3\n", "1 numbers, but rows before have 2", 2},
               {"1,2\n3,x\n", "\"x\" in column 2 is no number", 2},
               {"1,2\n3,1e999\n", "a number is too large", 2},
               {"a,b\nc,d\n", "\"c\" in column 1 is no number", 2},
               {"1,2,\n", "\"\" in column 3 is no number", 1},
               {"# nothing\n", "there are no numbers", 0}};
  static const char *const good[] = {"1,2.5\n-3,4\n", "a;b\n1; 2.5\n\n# x\n-3;4",
                                     ("\xef\xbb\xbf"
                                      "1 2.5\r\n -3\t4 \r\n")};
  for (int i = 0; i < 3; ++i)
    expect_matrix(asi_matrix_of_csv(good[i], strlen(good[i])), 2, 2, both);
  for (int i = 0; i < 6; ++i) {
    const asi_matrix m = asi_matrix_of_csv(wrong[i].text, strlen(wrong[i].text));
    assert_null(m.number);
    assert_string_equal(m.sentence, wrong[i].sentence);
    assert_int_equal(m.line, wrong[i].line);
  }
}

// ---- in a model file --------------------------------------------------------------------------------

static void write_file(const char *path, const void *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

static double run(const char *folder, const char *keys) {
  char text[2048], path[1024];
  as_machine *machine = NULL;
  as_messages messages;
  as_integrator *integrator;
  as_error error;
  const int n = snprintf(text, sizeof text,
                         "alphastep: 1\nbodies: {c: {type: point, mass: 2}}\nblocks:\n"
                         "  l: {type: linear, %s, inputs: [sin(t)]}\n"
                         "simulate: {t_end: 1, step: 0.01}\n",
                         keys);
  snprintf(path, sizeof path, "%s/model.yaml", folder);
  if (as_machine_parse(text, (size_t)n, path, NULL, 0, &machine, &messages))
    fail_msg("%s", messages.message[0].text);
  as_integrator_def def = machine->simulation.integrator;
  const as_model *m = machine->model;
  if (as_integrator_create(as_model_problem(m), &def, &integrator, &error) ||
      as_integrator_start(integrator, as_model_initial(m), NULL, &error) ||
      as_integrator_advance(integrator, 1.0, &error))
    fail_msg("%s", error.message);
  const double y =
      as_model_signal_value(m, as_integrator_state(integrator), as_model_find_signal(m, "l", NULL));
  as_integrator_destroy(integrator);
  as_machine_destroy(machine);
  return y;
}

static void expect(const char *folder, const char *keys, const char *words) {
  char text[2048], path[1024];
  as_machine *machine = NULL;
  as_messages messages;
  const int n = snprintf(text, sizeof text,
                         "alphastep: 1\nbodies: {c: {type: point, mass: 2}}\nblocks:\n"
                         "  l: {type: linear, %s, inputs: [sin(t)]}\n",
                         keys);
  snprintf(path, sizeof path, "%s/model.yaml", folder);
  assert_int_not_equal(as_machine_parse(text, (size_t)n, path, NULL, 0, &machine, &messages),
                       AS_OK);
  if (strstr(messages.message[0].text, words) == NULL || messages.message[0].line != 4)
    fail_msg("%s, not: %s", messages.message[0].text, words);
}

/// The same system in the file, from CSV files, from one MAT file, and from single variables of it.
static void test_system(void **state) {
  (void)state;
  static const double A[] = {-1, 0.25, 0.5, -2}, B[] = {1, 3}, C[] = {1, -1}, D[] = {0.5};
  char folder[] = "/tmp/alphastep-matrix-XXXXXX", path[1024];
  assert_non_null(mkdtemp(folder));
  mat m = {.n = 0};
  put_matrix(&m, "A", 0, 0, 2, 2, A);
  put_matrix(&m, "B", 0, 0, 2, 1, B);
  put_matrix(&m, "C", 0, 0, 1, 2, C);
  put_matrix(&m, "D", 0, 0, 1, 1, D);
  snprintf(path, sizeof path, "%s/all.mat", folder);
  write_file(path, m.bytes, m.n);
  snprintf(path, sizeof path, "%s/A.csv", folder);
  static const char rows[] = "x1,x2\n-1,0.5\n0.25,-2\n";
  write_file(path, rows, sizeof rows - 1);
  const double y =
      run(folder, "A: [[-1, 0.5], [0.25, -2]], B: [[1], [3]], C: [[1, -1]], D: [[0.5]]");
  assert_true(y != 0.0);
  assert_true(run(folder, "file: all.mat") == y);
  assert_true(run(folder, "A_file: A.csv, B_file: all.mat, C: [[1, -1]], D_file: all.mat") == y);
  assert_true(run(folder, "A_file: A.csv, file: all.mat") == y);
  assert_true(run(folder, "A_file: A.csv, file: all.mat, D: [[0]]") != y);
  expect(folder, "file: A.csv", "is no .mat file");
  expect(folder, "A_file: none.csv, C: [[1]]", "none.csv cannot be read");
  expect(folder, "A_file: all.mat, file: none.mat", "none.mat cannot be read");
  put_matrix(&m, "other", 0, 0, 1, 1, D);
  snprintf(path, sizeof path, "%s/other.mat", folder);
  write_file(path, m.bytes + m.n - 34, 34);
  expect(folder, "A_file: other.mat, C: [[1]]", "other.mat has no variable A");
  expect(folder, "A: [[1]], file: all.mat", "the matrix B is 2 x 1");
  static const char *const files[] = {"all.mat", "A.csv", "other.mat"};
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    unlink(path);
  }
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mat),
      cmocka_unit_test(test_wrong_mat),
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
