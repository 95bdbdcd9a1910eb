/// A libm of another make: preloaded, it changes the last bit of what the functions below return, up or down or not at
/// all, as a hash of argument and ALPHASTEP_OTHER_LIBM (a number) says. The same argument has the same value always.
/// What is exact stays exact, as in every libm: sin(0), cos(0), pow(3, 2).
///
///     LD_PRELOAD=build/gcc/tests/other_libm.so ALPHASTEP_OTHER_LIBM=1 build/gcc/alphastep run ...

#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

__attribute__((constructor)) static void read_seed(void) {
  const char *text = getenv("ALPHASTEP_OTHER_LIBM");
  seed = text ? strtoull(text, NULL, 10) : 1;
}

/// splitmix64
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// A mantissa that ends in 20 zeros was hardly rounded.
static int is_exact(double y) { return !isnormal(y) || (bits_of(y) & 0xfffff) == 0; }

static double shake(double y, double a, double b) {
  if (is_exact(y)) return y;
  const uint64_t way = mix(seed ^ mix(bits_of(a) ^ mix(bits_of(b)))) % 3;
  if (way == 0) return y;
  uint64_t bits = bits_of(y);
  bits += way == 1 ? 1u : UINT64_MAX; // the neighbour: mantissas carry into exponents
  memcpy(&y, &bits, sizeof y);
  return y;
}

/// Values beyond what a function can take on would be new.
static double at_most(double y, double bound) {
  return y > bound ? bound : y < -bound ? -bound : y;
}

#define REAL(name, type)                                                                           \
  static type real;                                                                                \
  if (!real) {                                                                                     \
    void *symbol = dlsym(RTLD_NEXT, name);                                                         \
    memcpy(&real, &symbol, sizeof real);                                                           \
  }

typedef double (*of_one)(double);
typedef double (*of_two)(double, double);

#define ONE(name, bound)                                                                           \
  double name(double x) {                                                                          \
    REAL(#name, of_one)                                                                            \
    return at_most(shake(real(x), x, 0.0), bound);                                                 \
  }
#define TWO(name, bound)                                                                           \
  double name(double x, double y) {                                                                \
    REAL(#name, of_two)                                                                            \
    return at_most(shake(real(x, y), x, y), bound);                                                \
  }

ONE(sin, 1.0)
ONE(cos, 1.0)
ONE(tan, HUGE_VAL)
ONE(asin, 1.5707963267948966)
ONE(acos, 3.141592653589793)
ONE(atan, 1.5707963267948966)
TWO(atan2, 3.141592653589793)
ONE(sinh, HUGE_VAL)
ONE(cosh, HUGE_VAL)
ONE(tanh, 1.0)
ONE(exp, HUGE_VAL)
ONE(exp2, HUGE_VAL)
ONE(expm1, HUGE_VAL)
ONE(log, HUGE_VAL)
ONE(log2, HUGE_VAL)
ONE(log10, HUGE_VAL)
ONE(log1p, HUGE_VAL)
ONE(cbrt, HUGE_VAL)
TWO(hypot, HUGE_VAL)

/// Powers of whole numbers are exact in every libm as long as doubles can hold them.
double pow(double x, double y) {
  REAL("pow", of_two)
  const double z = real(x, y);
  return x == rint(x) && z == rint(z) && fabs(z) < 0x1p53 ? z : shake(z, x, y);
}

void sincos(double x, double *s, double *c) {
  *s = sin(x);
  *c = cos(x);
}
