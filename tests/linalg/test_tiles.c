/// Fronts by tiles of four and of eight columns against one pivot after the other: factors, what is left, sizes on the way, searches for pivots
/// and solutions are the same to the last bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linalg/tiles.h"

enum { MOST_PIVOTS = 26, MOST_OTHERS = 37, MOST = MOST_PIVOTS + MOST_OTHERS + 2 };

/// A front of its own, with all that an elimination writes.
typedef struct front {
  double P[2 * MOST * MOST]; ///< and L
  double S[MOST * MOST], below[MOST * MOST], beyond[MOST * MOST];
  double size[MOST], all_sizes[MOST], inverse[MOST];
  int swap[MOST];
  bool searched, doubtful, done;
} front;

typedef enum front_kind { PLAIN, WITH_SMALL_PIVOTS, SINGULAR } front_kind;

/// Numbers in [-1, 1], the same in every run.
static double random_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static void fill(front *f, front_kind kind, int w, int r, uint64_t seed) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  uint64_t state = seed;
  memset(f, 0, sizeof *f);
  for (int i = 0; i < w; ++i) {
    for (int j = 0; j < w + r; ++j) f->P[i * length + j] = random_number(&state);
    const bool exchanged = kind == WITH_SMALL_PIVOTS && w > 1 && i < (w & ~1); // two rows each
    f->P[i * length + (exchanged ? i ^ 1 : i)] += 40.0;
    if (exchanged) f->P[i * (length + 1)] *= 1e-3;
    if (kind == SINGULAR && i == w - 1)
      for (int j = 0; j < w; ++j) f->P[i * length + j] = i > 0 ? f->P[j] : 0.0;
    f->size[i] = f->P[i * (length + 1)] > 0.0 ? f->P[i * (length + 1)] : -f->P[i * (length + 1)];
  }
  for (int i = 0; i < r; ++i) {
    for (int j = 0; j < w; ++j) f->P[w * length + i * width + j] = random_number(&state);
    for (int j = 0; j < MOST; ++j) f->S[i * MOST + j] = random_number(&state);
    for (int j = 0; j < MOST; ++j) f->below[i * MOST + j] = random_number(&state);
    for (int j = 0; j < MOST; ++j) f->beyond[i * MOST + j] = random_number(&state);
  }
}

static int rest[MOST];

/// By tiles, the rows below the pivots in two parts, as threads would take them.
ASI_INLINED bool eliminate_large(front *f, const remains *to, int w, int r, double least,
                                 int quads) {
  const int width = w + (w & 1), length = width + r + (r & 1), half = r / 2;
  double *const L = f->P + w * length;
  double largest = 0.0;
  if (!eliminate_large_pivots(f->P, w, r, least, f->size, f->swap, &f->searched, &f->doubtful,
                              f->inverse, quads))
    return false;
  note_sizes(to, r, rest, f->all_sizes);
  for (int part = 0; part < 2; ++part)
    largest = larger(eliminate_large_rows(f->P, L, to, w, r, part * half, part ? r : half,
                                          f->inverse, rest, f->all_sizes, quads),
                     largest);
  if (!(largest * SMALL_PIVOT < 1.0)) f->doubtful = true;
  return true;
}

/// quads: 0, one pivot after the other.
ASI_INLINED void factor(front *f, int w, int r, int split, int quads) {
  const remains to = {.S = f->S,
                      .below = f->below,
                      .beyond = f->beyond,
                      .stride = MOST + 1, // even
                      .below_stride = MOST,
                      .beyond_stride = MOST,
                      .split = split};
  const double least = 1e-12;
  f->done = quads > 0 ? eliminate_large(f, &to, w, r, least, quads)
                      : eliminate_front(f->P, &to, w, r, least, f->size, f->swap, &f->searched,
                                        &f->doubtful, f->inverse, rest, f->all_sizes);
}

static void factor_plain(front *f, int w, int r, int split) { factor(f, w, r, split, 0); }
static void factor_tiled(front *f, int w, int r, int split) { factor(f, w, r, split, 1); }
static void factor_wide(front *f, int w, int r, int split) { factor(f, w, r, split, 2); }

/// Entries of rows that are wanted; those between them are nobody's.
static void expect_rows(const char *what, const double *a, const double *b, int rows, int stride,
                        int n) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j)
      if (memcmp(&a[i * stride + j], &b[i * stride + j], sizeof(double)) != 0)
        fail_msg("%s, row %d, column %d: %.17g and %.17g", what, i, j, a[i * stride + j],
                 b[i * stride + j]);
}

static void expect_same(const front *a, const front *b, int w, int r, int split) {
  const int width = w + (w & 1), length = width + r + (r & 1);
  assert_int_equal(a->done, b->done);
  if (!a->done) return;
  assert_int_equal(a->searched, b->searched);
  assert_int_equal(a->doubtful, b->doubtful);
  expect_rows("P", a->P, b->P, w, length, w + r);
  expect_rows("L", a->P + w * length, b->P + w * length, r, width, w);
  expect_rows("S", a->S, b->S, split, MOST + 1, r);
  expect_rows("S below", a->below, b->below, r - split, MOST, split);
  expect_rows("S beyond", a->beyond, b->beyond, r - split, MOST, r - split);
  expect_rows("inverse", a->inverse, b->inverse, 1, 0, w);
  expect_rows("sizes", a->all_sizes, b->all_sizes, 1, 0, r);
  if (a->searched) assert_memory_equal(a->swap, b->swap, (size_t)w * sizeof(int));
}

static void expect_same_solution(const front *f, int w, int r, int split, uint64_t seed) {
  double p[2][MOST], q[2][MOST], more[2][MOST];
  uint64_t state = seed;
  for (int i = 0; i < MOST; ++i) {
    p[0][i] = p[1][i] = random_number(&state);
    q[0][i] = q[1][i] = random_number(&state);
    more[0][i] = more[1][i] = random_number(&state);
  }
  forward_front(f->P, w, r, split, p[0], q[0], more[0]);
  forward_large(f->P, w, r, split, p[1], q[1], more[1]);
  assert_memory_equal(p[0], p[1], sizeof p[0]);
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  assert_memory_equal(more[0], more[1], sizeof more[0]);
  backward_front(f->P, f->inverse, w, r, split, p[0], q[0], more[0]);
  backward_large(f->P, f->inverse, w, r, split, p[1], q[1], more[1]);
  assert_memory_equal(p[0], p[1], sizeof p[0]);
}

static void test_same_bits(void **unused) {
  (void)unused;
  static front plain, tiled, wide;
  int searched = 0, failed = 0;
  for (int i = 0; i < MOST; ++i) rest[i] = i;
  for (int w = 1; w <= MOST_PIVOTS; ++w)
    for (int r = 0; r <= MOST_OTHERS; r += 1 + w % 3)
      for (int k = 0; k < 3; ++k) {
        const int split = k == 0 ? r : r / (k + 1);
        const uint64_t seed = (uint64_t)((w * 100 + r) * 3 + k);
        fill(&plain, (front_kind)((w + k) % 3), w, r, seed);
        tiled = wide = plain;
        factor_plain(&plain, w, r, split);
        factor_tiled(&tiled, w, r, split);
        factor_wide(&wide, w, r, split);
        expect_same(&plain, &tiled, w, r, split);
        expect_same(&plain, &wide, w, r, split);
        searched += plain.done && plain.searched;
        failed += !plain.done;
        if (plain.done) expect_same_solution(&tiled, w, r, split, seed);
      }
  assert_true(searched > 100);
  assert_true(failed > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
