/// Shortest decimals, see decimal.h: R. Giulietti, The Schubfach way to render doubles, 2020.
///
/// A number c 2^q is what all decimals between its neighbours' middles, (4c - 2) 2^(q-2) and (4c + 2) 2^(q-2), are read as. Scaled by a
/// power of ten so that this interval is at least one and less than ten wide, it holds at most one multiple of ten, which is
/// shorter, or one of the two integers about 4c 2^(q-2) / 4. Products with powers of ten are taken from 128 bits of these; what is
/// cut off only matters as being zero or not, which the lowest bit of a product keeps.
#include "base/decimal.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
  LEAST = -292, ///< powers of ten that are needed
  MOST = 324,
  WORDS = 40,    ///< of 32 bits: 10^324 has 1077, and 10^-292 is known to 128
  FRACTION = 52, ///< bits behind the first one
  BIAS = 1075,   ///< of the exponent of a whole number of 53 bits
  PLAIN = 17,    ///< digits before the point at most, as %.17g has
};

// ---- powers of ten ----------------------------------------------------------------------------------

typedef struct power {
  uint64_t high, low; ///< the first 128 bits of 10^k, rounded up
} power;

static power powers[MOST - LEAST + 1];
static pthread_once_t made = PTHREAD_ONCE_INIT;

/// The first 128 bits; `exact`: nothing was cut off before.
static power first_bits(const uint32_t *big, bool exact) {
  int top = WORDS - 1, shift = 0;
  while (big[top] == 0) --top;
  while ((big[top] << shift & 0x80000000u) == 0) ++shift;
  uint32_t word[4];
  for (int i = 0; i < 4; ++i) {
    const uint64_t two =
        (top >= i ? (uint64_t)big[top - i] << 32 : 0) | (top >= i + 1 ? big[top - i - 1] : 0);
    word[i] = (uint32_t)(two << shift >> 32);
  }
  power p = {(uint64_t)word[0] << 32 | word[1], (uint64_t)word[2] << 32 | word[3]};
  for (int i = top - 4; i >= 0 && exact; --i)
    exact = (i == top - 4 ? big[i] << shift : big[i]) == 0;
  if (!exact && ++p.low == 0) ++p.high;
  return p;
}

static void make_powers(void) {
  uint32_t big[WORDS] = {1};
  for (int k = 0; k <= MOST; ++k) {
    powers[k - LEAST] = first_bits(big, true);
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; ++i, carry >>= 32) {
      carry += 10 * (uint64_t)big[i];
      big[i] = (uint32_t)carry;
    }
  }
  memset(big, 0, sizeof big);
  big[WORDS - 1] = 0x80000000u;
  for (int k = -1; k >= LEAST; --k) {
    uint64_t rest = 0;
    for (int i = WORDS - 1; i >= 0; --i) {
      rest = rest << 32 | big[i];
      big[i] = (uint32_t)(rest / 10);
      rest %= 10;
    }
    powers[k - LEAST] = first_bits(big, false);
  }
}

// ---- digits -----------------------------------------------------------------------------------------

typedef struct decimal {
  uint64_t digits;
  int exponent; ///< of ten
} decimal;

static power multiply(uint64_t a, uint64_t b) {
  const uint64_t mask = 0xffffffffu, a1 = a >> 32, a0 = a & mask, b1 = b >> 32, b0 = b & mask;
  const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & mask);
  return (power){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (low & mask)};
}

/// The first 64 bits of x times a power, the lowest of them set if there is more than what rounding the power up has added.
static uint64_t scale(power ten, uint64_t x) {
  const uint64_t carried = multiply(ten.low, x).high;
  power p = multiply(ten.high, x);
  p.low += carried;
  if (p.low < carried) ++p.high;
  return p.high | (p.low > 1);
}

/// floor(n / 2^shift)
static int floor_shift(int n, int shift) {
  return n >= 0 ? n >> shift : -((-n + (1 << shift) - 1) >> shift);
}

/// The shortest decimal in the interval of c 2^q; `narrow`: the neighbour below is half as far as that above.
static decimal shortest(uint64_t c, int q, bool narrow) {
  // k = floor(log10(2^q)), less a little if narrow; h = q + floor(log2(10^-k)) + 1: both exact for all doubles
  const int k = floor_shift(q * 1262611 - (narrow ? 524031 : 0), 22);
  const int h = q + floor_shift(-k * 1741647, 19) + 1;
  const power ten = powers[-k - LEAST];
  const uint64_t odd = c & 1; // the ends of the interval are read as c if it is even
  const uint64_t low = scale(ten, (4 * c - 2 + narrow) << h) + odd;
  const uint64_t at = scale(ten, 4 * c << h);
  const uint64_t high = scale(ten, (4 * c + 2) << h) - odd;
  const uint64_t s = at / 4, tens = s / 10;
  if (s >= 10) {
    const bool below = low <= 40 * tens, above = 40 * tens + 40 <= high;
    if (below != above) return (decimal){tens + above, k + 1};
  }
  const bool below = low <= 4 * s, above = 4 * s + 4 <= high;
  if (below != above) return (decimal){s + above, k};
  const uint64_t middle = 4 * s + 2;
  return (decimal){s + (at > middle || (at == middle && (s & 1))), k};
}

static decimal decimal_of(uint64_t bits) {
  const uint64_t fraction = bits & (((uint64_t)1 << FRACTION) - 1);
  const int exponent = (int)(bits >> FRACTION & 0x7ff);
  if (exponent == 0) return shortest(fraction, 1 - BIAS, false);
  const uint64_t c = (uint64_t)1 << FRACTION | fraction;
  const int q = exponent - BIAS;
  if (q <= 0 && q >= -FRACTION && (c & (((uint64_t)1 << -q) - 1)) == 0)
    return (decimal){c >> -q, 0}; // a whole number
  return shortest(c, q, fraction == 0 && exponent > 1);
}

// ---- text -------------------------------------------------------------------------------------------

/// The digits without zeros at their end, the first one first. Says how many there are.
static int digits_of(decimal *d, char *digit) {
  char back[20] = "";
  int n = 0;
  for (; d->digits % 10 == 0; ++d->exponent) d->digits /= 10;
  for (uint64_t left = d->digits; left > 0; left /= 10) back[n++] = (char)('0' + left % 10);
  for (int i = 0; i < n; ++i) digit[i] = back[n - 1 - i];
  return n;
}

static char *put(char *to, const char *text, int n) {
  memcpy(to, text, (size_t)n);
  return to + n;
}

static char *put_zeros(char *to, int n) {
  memset(to, '0', (size_t)n);
  return to + n;
}

static char *put_exponent(char *to, int x) {
  const int size = x < 0 ? -x : x;
  *to++ = 'e';
  *to++ = x < 0 ? '-' : '+';
  if (size >= 100) *to++ = (char)('0' + size / 100);
  *to++ = (char)('0' + size / 10 % 10);
  *to++ = (char)('0' + size % 10);
  return to;
}

size_t asi_decimal(char *to, double x) {
  const char *const begin = to;
  char digit[20];
  if (isnan(x)) return (size_t)(put(to, "nan", 3) - begin);
  if (signbit(x)) *to++ = '-';
  if (isinf(x)) return (size_t)(put(to, "inf", 3) - begin);
  if (x == 0.0) return (size_t)(put(to, "0", 1) - begin);
  (void)pthread_once(&made, make_powers);
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  decimal d = decimal_of(bits);
  const int n = digits_of(&d, digit), before = n + d.exponent; // the point's place
  if (before > PLAIN || before < -3) {
    to = put(to, digit, 1);
    if (n > 1) *to++ = '.';
    to = put(to, digit + 1, n - 1);
    to = put_exponent(to, before - 1);
  } else if (before <= 0) {
    to = put(to, "0.", 2);
    to = put(put_zeros(to, -before), digit, n);
  } else if (before >= n) {
    to = put_zeros(put(to, digit, n), before - n);
  } else {
    to = put(to, digit, before);
    *to++ = '.';
    to = put(to, digit + before, n - before);
  }
  return (size_t)(to - begin);
}
