/// Compressed numbers: zlib gives back what was packed, byte for byte, and the room that was promised is enough.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "results/pack.h"

static asi_packer packer;

static uint64_t seed;

static uint64_t draw(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed >> 33;
}

/// Packs and unpacks; returns the size in between.
static size_t pass(const unsigned char *byte, size_t size, size_t plane, size_t columns,
                   size_t stride) {
  const size_t room = asi_pack_bound(size);
  unsigned char *packed = malloc(room + 16), *back = malloc(size + 1);
  memset(packed + room, 0x5a, 16);
  const size_t n = asi_pack(&packer, byte, size, plane, columns, stride, packed);
  uLongf got = (uLongf)size + 1;
  assert_true(n <= room);
  for (int i = 0; i < 16; ++i) assert_int_equal(packed[room + (size_t)i], 0x5a);
  assert_int_equal(uncompress(back, &got, packed, (uLong)n), Z_OK);
  assert_true(got == size);
  if (size > 0) assert_memory_equal(back, byte, size);
  free(packed);
  free(back);
  return n;
}

/// Bytes of many kinds, planes and distances of many sizes.
static void test_bytes(void **state) {
  (void)state;
  enum { MOST = 100000 };
  unsigned char *byte = malloc(MOST);
  seed = 1;
  for (int round = 0; round < 400; ++round) {
    const size_t size = round < 40 ? (size_t)round : draw() % (round % 7 == 0 ? MOST : 9000);
    const size_t period = 1 + draw() % 300;
    const int kind = round % 8;
    for (size_t i = 0; i < size; ++i) {
      const uint64_t x = draw();
      byte[i] =
          (unsigned char)(kind == 0   ? x
                          : kind == 1 ? 0
                          : kind == 2 ? x % 3
                          : kind == 3 ? (i % 40 < 20 ? 7 : x) // runs and noise
                          : kind == 4 ? i % period
                          : kind == 5 ? (x % 60 ? byte[i < period ? i : i - period] : x)
                          : kind == 6
                              ? (uint64_t)__builtin_ctzll(x | 1u << 20) // codes of all lengths
                              : i / 300);
    }
    const size_t columns = draw() % 5, stride = round % 3 ? period : draw() % 50000;
    pass(byte, size, draw() % (size / 4 + 2), columns, stride);
  }
  free(byte);
}

/// Counts like Fibonacci's numbers give the longest codes, which have to be cut to 15 bits.
static void test_long_codes(void **state) {
  (void)state;
  unsigned char *byte = malloc(ASI_PACK_BLOCK);
  size_t n = 0;
  for (size_t symbol = 0, a = 1, b = 1; n + a <= ASI_PACK_BLOCK; ++symbol) {
    for (size_t i = 0; i < a; ++i) byte[n++] = (unsigned char)(17 * symbol + 1);
    const size_t next = a + b;
    a = b, b = next;
  }
  seed = 2;
  for (size_t i = n - 1; i > 0; --i) { // without runs
    const size_t k = draw() % (i + 1);
    const unsigned char kept = byte[i];
    byte[i] = byte[k];
    byte[k] = kept;
  }
  assert_true(pass(byte, n, n, 1, 1) < n / 2);
  free(byte);
}

/// Numbers of a smooth motion: as small as zlib makes them, or nearly. Noise is not made larger.
static void test_numbers(void **state) {
  (void)state;
  enum { ROWS = 64, OBJECTS = 100, COLUMNS = 3, N = ROWS * OBJECTS * COLUMNS };
  double *x = malloc(N * sizeof *x);
  unsigned char *planes = malloc(N * sizeof *x), *packed = malloc(2 * N * sizeof *x);
  for (int row = 0, i = 0; row < ROWS; ++row)
    for (int object = 0; object < OBJECTS; ++object)
      for (int column = 0; column < COLUMNS; ++column, ++i)
        x[i] = column == 1 ? 0.0 : object + sin(0.0137 * row + 0.1 * object + column);
  asi_shuffle(x, N, sizeof *x, planes);
  for (size_t i = 0; i < N; ++i)
    for (size_t k = 0; k < 8; ++k) {
      uint64_t bits;
      memcpy(&bits, &x[i], sizeof bits);
      assert_int_equal(planes[k * N + i], bits >> 8 * k & 255);
    }
  uLongf usual = 2 * N * sizeof *x;
  assert_int_equal(compress2(packed, &usual, planes, N * sizeof *x, 1), Z_OK);
  const size_t size = pass(planes, N * sizeof *x, N, COLUMNS, (size_t)OBJECTS * COLUMNS);
  assert_true(10 * size < 11 * usual);
  seed = 3;
  for (size_t i = 0; i < N * sizeof *x; ++i) planes[i] = (unsigned char)draw();
  assert_true(pass(planes, N * sizeof *x, N, COLUMNS, 300) < N * sizeof *x + 1000);
  memset(planes, 0, N * sizeof *x);
  assert_true(pass(planes, N * sizeof *x, N, COLUMNS, 300) < 3000);
  free(x);
  free(planes);
  free(packed);
}

/// Numbers of other sizes than eight bytes, and fewer than eight of them.
static void test_shuffle(void **state) {
  (void)state;
  unsigned char out[64];
  uint32_t few[3];
  uint64_t one[9];
  for (uint32_t i = 0; i < 3; ++i) few[i] = 0x03020100u + 0x10101010u * i;
  for (uint64_t i = 0; i < 9; ++i) one[i] = 0x0706050403020100u + 0x1010101010101010u * (i % 5);
  asi_shuffle(few, 3, 4, out);
  for (int i = 0; i < 12; ++i) assert_int_equal(out[i], 16 * (i % 3) + i / 3);
  unsigned char planes[72];
  asi_shuffle(one, 9, 8, planes);
  for (int i = 0; i < 72; ++i) assert_int_equal(planes[i], 16 * (i % 9 % 5) + i / 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_long_codes),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_shuffle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
