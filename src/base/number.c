/// Numbers in texts: see number.h.
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t digits(const char *text) { return strspn(text, "0123456789"); }

size_t asi_scan_number(const char *text, double *number) {
  const size_t whole = digits(text);
  size_t n = whole;
  if (whole > 1 && text[0] == '0') return 0; // octal elsewhere
  if (text[n] == '.') {
    const size_t part = digits(text + n + 1);
    if (whole + part == 0) return 0;
    n += 1 + part;
  }
  if (n == 0) return 0;
  if (text[n] == 'e' || text[n] == 'E') {
    const size_t sign = text[n + 1] == '+' || text[n + 1] == '-';
    const size_t power = digits(text + n + 1 + sign);
    if (power > 0) n += 1 + sign + power;
  }
  *number = strtod(text, NULL);
  return n;
}

bool asi_are_finite(const double *x, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; ++i) sum += 0.0 * x[i];
  return sum == 0.0;
}
