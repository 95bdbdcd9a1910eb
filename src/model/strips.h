/// Six rows and three columns of a small matrix, added to columns of a problem's block.
#ifndef ALPHASTEP_MODEL_STRIPS_H
#define ALPHASTEP_MODEL_STRIPS_H

#include "base/simd.h"

/// Adds them by two rows, which are `columns` numbers apart.
ASI_INLINED void asi_add_strip(const double *from, int columns, double *restrict x,
                               double *restrict y, double *restrict z) {
#pragma GCC unroll 3
  for (int i = 0; i < 6; i += 2, from += 2 * columns) {
    const double *const second = from + columns;
    const asi_simd2 a = asi_simd_load(from), b = asi_simd_load(second), c = {from[2], second[2]};
    asi_simd_store(x + i, asi_simd_load(x + i) + asi_simd_unpack_low(a, b));
    asi_simd_store(y + i, asi_simd_load(y + i) + asi_simd_unpack_high(a, b));
    asi_simd_store(z + i, asi_simd_load(z + i) + c);
  }
}

#endif
