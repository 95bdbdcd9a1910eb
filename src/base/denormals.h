/// Flushes denormal numbers to zero while a step is taken: a decaying motion would otherwise be slowed down
/// tenfold and more by numbers below 1e-308 that nobody will miss. The setting belongs to the thread and is
/// put back afterwards.
#ifndef ALPHASTEP_BASE_DENORMALS_H
#define ALPHASTEP_BASE_DENORMALS_H

#if defined(__SSE2__)
#include <xmmintrin.h>

typedef unsigned int asi_float_mode;

static inline asi_float_mode asi_flush_denormals(void) {
  const unsigned int flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  const asi_float_mode before = _mm_getcsr();
  _mm_setcsr(before | flush_to_zero | denormals_are_zero);
  return before;
}

static inline void asi_restore_denormals(asi_float_mode mode) { _mm_setcsr(mode); }
static inline asi_float_mode asi_float_mode_now(void) { return _mm_getcsr(); }

#elif defined(__aarch64__) && defined(__GNUC__)
#include <stdint.h>

typedef uint64_t asi_float_mode;

static inline asi_float_mode asi_flush_denormals(void) {
  asi_float_mode before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | ((uint64_t)1 << 24)));
  return before;
}

static inline void asi_restore_denormals(asi_float_mode mode) {
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

static inline asi_float_mode asi_float_mode_now(void) {
  asi_float_mode now;
  __asm__ volatile("mrs %0, fpcr" : "=r"(now));
  return now;
}

#else

typedef int asi_float_mode;

static inline asi_float_mode asi_flush_denormals(void) { return 0; }
static inline void asi_restore_denormals(asi_float_mode mode) { (void)mode; }
static inline asi_float_mode asi_float_mode_now(void) { return 0; }

#endif

#endif
