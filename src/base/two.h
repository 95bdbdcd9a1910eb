/// Two numbers at once, for which processors have one instruction.
#ifndef ALPHASTEP_BASE_TWO_H
#define ALPHASTEP_BASE_TWO_H

#include <math.h>
#include <stdbool.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// They need not stand at an even place.
typedef double asi_two __attribute__((vector_size(16), aligned(8), may_alias));

/// For functions that are called with constants, which then become loops of known lengths.
#define ASI_INLINED static inline __attribute__((always_inline))

ASI_INLINED asi_two asi_both(double x) { return (asi_two){x, x}; }
ASI_INLINED asi_two asi_load_two(const double *x) { return *(const asi_two *)x; }
ASI_INLINED void asi_store_two(double *x, asi_two two) { *(asi_two *)x = two; }

/// The first of each, the second of each.
ASI_INLINED asi_two asi_firsts(asi_two a, asi_two b) { return (asi_two){a[0], b[0]}; }
ASI_INLINED asi_two asi_seconds(asi_two a, asi_two b) { return (asi_two){a[1], b[1]}; }

ASI_INLINED asi_two asi_sizes(asi_two a) { return (asi_two){fabs(a[0]), fabs(a[1])}; }

/// a where it is larger, else b.
ASI_INLINED asi_two asi_larger(asi_two a, asi_two b) {
#ifdef __SSE2__
  return _mm_max_pd(a, b);
#else
  return (asi_two){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
#endif
}

/// Whether both are; not if one is NaN.
ASI_INLINED bool asi_are_below(asi_two a, double limit) {
#ifdef __SSE2__
  return _mm_movemask_pd(_mm_cmplt_pd(a, asi_both(limit))) == 3;
#else
  return a[0] < limit && a[1] < limit;
#endif
}

// ---- three numbers --------------------------------------------------------------------------------

typedef struct asi_three {
  asi_two xy;
  double z;
} asi_three;

ASI_INLINED asi_three asi_load_three(const double *a) { return (asi_three){asi_load_two(a), a[2]}; }
ASI_INLINED void asi_store_three(double *out, asi_three a) {
  asi_store_two(out, a.xy);
  out[2] = a.z;
}
ASI_INLINED asi_three asi_times_three(double k, asi_three a) {
  return (asi_three){asi_both(k) * a.xy, k * a.z};
}
ASI_INLINED asi_three asi_plus_three(asi_three a, asi_three b) {
  return (asi_three){a.xy + b.xy, a.z + b.z};
}
ASI_INLINED asi_three asi_minus_three(asi_three a, asi_three b) {
  return (asi_three){a.xy - b.xy, a.z - b.z};
}

#endif
