/// Two numbers at once, for which processors have one instruction.
#ifndef ALPHASTEP_BASE_TWO_H
#define ALPHASTEP_BASE_TWO_H

/// They need not stand at an even place.
typedef double asi_two __attribute__((vector_size(16), aligned(8), may_alias));

/// For functions that are called with constants, which then become loops of known lengths.
#define ASI_INLINED static inline __attribute__((always_inline))

ASI_INLINED asi_two asi_both(double x) { return (asi_two){x, x}; }
ASI_INLINED asi_two asi_load_two(const double *x) { return *(const asi_two *)x; }
ASI_INLINED void asi_store_two(double *x, asi_two two) { *(asi_two *)x = two; }

#endif
