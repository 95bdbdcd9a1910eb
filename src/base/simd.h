/// Two numbers at once, for which processors have one instruction.
#ifndef ALPHASTEP_BASE_SIMD_H
#define ALPHASTEP_BASE_SIMD_H

#include <math.h>
#include <stdbool.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// They need not stand at an even place.
typedef double asi_simd2 __attribute__((vector_size(16), aligned(8), may_alias));

/// For functions that are called with constants, which then become loops of known lengths.
#define ASI_INLINED static inline __attribute__((always_inline))

/// Of a function that is compiled for processors with AVX, too, which take the same operations by fewer instructions, with the same bits:
/// products and sums are not contracted. The loader chooses.
#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ &&           \
    !defined __SANITIZE_ADDRESS__
#define ASI_TWICE __attribute__((target_clones("avx", "default")))
#else
#define ASI_TWICE
#endif

ASI_INLINED asi_simd2 asi_simd_splat(double x) { return (asi_simd2){x, x}; }
ASI_INLINED asi_simd2 asi_simd_load(const double *x) { return *(const asi_simd2 *)x; }
ASI_INLINED void asi_simd_store(double *x, asi_simd2 two) { *(asi_simd2 *)x = two; }

/// The first of each, the second of each.
ASI_INLINED asi_simd2 asi_simd_unpack_low(asi_simd2 a, asi_simd2 b) {
  return (asi_simd2){a[0], b[0]};
}
ASI_INLINED asi_simd2 asi_simd_unpack_high(asi_simd2 a, asi_simd2 b) {
  return (asi_simd2){a[1], b[1]};
}

ASI_INLINED asi_simd2 asi_simd_abs(asi_simd2 a) { return (asi_simd2){fabs(a[0]), fabs(a[1])}; }

/// a where it is larger, else b.
ASI_INLINED asi_simd2 asi_simd_max(asi_simd2 a, asi_simd2 b) {
#ifdef __SSE2__
  return _mm_max_pd(a, b);
#else
  return (asi_simd2){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

/// Whether both are; not if one is NaN.
ASI_INLINED bool asi_simd_is_below(asi_simd2 a, double limit) {
#ifdef __SSE2__
  return _mm_movemask_pd(_mm_cmplt_pd(a, asi_simd_splat(limit))) == 3;
#else
  return a[0] < limit && a[1] < limit;
#endif
}

// ---- three numbers --------------------------------------------------------------------------------

typedef struct asi_three {
  asi_simd2 xy;
  double z;
} asi_three;

ASI_INLINED asi_three asi_load_three(const double *a) {
  return (asi_three){asi_simd_load(a), a[2]};
}
ASI_INLINED void asi_store_three(double *out, asi_three a) {
  asi_simd_store(out, a.xy);
  out[2] = a.z;
}
ASI_INLINED asi_three asi_times_three(double k, asi_three a) {
  return (asi_three){asi_simd_splat(k) * a.xy, k * a.z};
}
ASI_INLINED asi_three asi_plus_three(asi_three a, asi_three b) {
  return (asi_three){a.xy + b.xy, a.z + b.z};
}
ASI_INLINED asi_three asi_minus_three(asi_three a, asi_three b) {
  return (asi_three){a.xy - b.xy, a.z - b.z};
}

#endif
