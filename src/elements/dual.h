/// Dual numbers: a value and its derivatives by some variables, for formulas too long to be differentiated by hand.
///
/// Each function takes how many derivatives there are as a constant, which inlining makes a count of unrolled loops: with n = 0
/// values alone are left, in the same order of operations. What f(a) is by the chain rule, f' da, is asi_dual_chain().
#ifndef ALPHASTEP_ELEMENTS_DUAL_H
#define ALPHASTEP_ELEMENTS_DUAL_H

#include <math.h>

enum { ASI_DUALS = 8 }; ///< the most variables

typedef struct asi_dual {
  double x;
  double d[ASI_DUALS];
} asi_dual;

#define ASI_INLINED static inline __attribute__((always_inline))

ASI_INLINED asi_dual asi_dual_constant(double x) { return (asi_dual){.x = x}; }

/// Variable number `i`.
ASI_INLINED asi_dual asi_dual_variable(double x, int i) {
  asi_dual out = {.x = x};
  out.d[i] = 1.0;
  return out;
}

/// f(a), of which the value and the derivative by a are known.
ASI_INLINED asi_dual asi_dual_chain(const int n, double f, double f1, asi_dual a) {
  asi_dual out = {.x = f};
  for (int i = 0; i < n; ++i) out.d[i] = f1 * a.d[i];
  return out;
}

/// The same of f(a, b).
ASI_INLINED asi_dual asi_dual_chain_two(const int n, double f, double fa, asi_dual a, double fb,
                                        asi_dual b) {
  asi_dual out = {.x = f};
  for (int i = 0; i < n; ++i) out.d[i] = fa * a.d[i] + fb * b.d[i];
  return out;
}

ASI_INLINED asi_dual asi_dual_add(const int n, asi_dual a, asi_dual b) {
  asi_dual out = {.x = a.x + b.x};
  for (int i = 0; i < n; ++i) out.d[i] = a.d[i] + b.d[i];
  return out;
}

ASI_INLINED asi_dual asi_dual_subtract(const int n, asi_dual a, asi_dual b) {
  asi_dual out = {.x = a.x - b.x};
  for (int i = 0; i < n; ++i) out.d[i] = a.d[i] - b.d[i];
  return out;
}

/// c + f a
ASI_INLINED asi_dual asi_dual_line(const int n, double c, double f, asi_dual a) {
  return asi_dual_chain(n, c + f * a.x, f, a);
}

ASI_INLINED asi_dual asi_dual_scale(const int n, double f, asi_dual a) {
  return asi_dual_chain(n, f * a.x, f, a);
}

ASI_INLINED asi_dual asi_dual_multiply(const int n, asi_dual a, asi_dual b) {
  return asi_dual_chain_two(n, a.x * b.x, b.x, a, a.x, b);
}

ASI_INLINED asi_dual asi_dual_divide(const int n, asi_dual a, asi_dual b) {
  const double over = 1.0 / b.x, x = a.x / b.x;
  return asi_dual_chain_two(n, x, over, a, -x * over, b);
}

ASI_INLINED asi_dual asi_dual_square(const int n, asi_dual a) {
  return asi_dual_chain(n, a.x * a.x, 2.0 * a.x, a);
}

/// Of a > 0.
ASI_INLINED asi_dual asi_dual_sqrt(const int n, asi_dual a) {
  const double x = sqrt(a.x);
  return asi_dual_chain(n, x, 0.5 / x, a);
}

/// The sign of zero is that of the right.
ASI_INLINED asi_dual asi_dual_abs(const int n, asi_dual a) {
  return asi_dual_scale(n, a.x < 0.0 ? -1.0 : 1.0, a);
}

ASI_INLINED asi_dual asi_dual_sin(const int n, asi_dual a) {
  return asi_dual_chain(n, sin(a.x), n > 0 ? cos(a.x) : 0.0, a);
}

ASI_INLINED asi_dual asi_dual_cos(const int n, asi_dual a) {
  return asi_dual_chain(n, cos(a.x), n > 0 ? -sin(a.x) : 0.0, a);
}

ASI_INLINED asi_dual asi_dual_tan(const int n, asi_dual a) {
  const double x = tan(a.x);
  return asi_dual_chain(n, x, 1.0 + x * x, a);
}

ASI_INLINED asi_dual asi_dual_atan(const int n, asi_dual a) {
  return asi_dual_chain(n, atan(a.x), 1.0 / (1.0 + a.x * a.x), a);
}

ASI_INLINED asi_dual asi_dual_exp(const int n, asi_dual a) {
  const double x = exp(a.x);
  return asi_dual_chain(n, x, x, a);
}

ASI_INLINED asi_dual asi_dual_tanh(const int n, asi_dual a) {
  const double x = tanh(a.x);
  return asi_dual_chain(n, x, 1.0 - x * x, a);
}

/// At most `most`.
ASI_INLINED asi_dual asi_dual_most(asi_dual a, double most) {
  return a.x > most ? asi_dual_constant(most) : a;
}

/// The smooth positive part (a + sqrt(a^2 + e^2))/2; for a < 0 without cancellation.
ASI_INLINED asi_dual asi_dual_positive(const int n, asi_dual a, double e) {
  const double s = sqrt(a.x * a.x + e * e);
  const double x = a.x < 0.0 ? e * e / (2.0 * (s - a.x)) : (a.x + s) / 2.0;
  return asi_dual_chain(n, x, x / s, a); // (1 + a/s)/2 = x/s
}

/// The smooth absolute value a^2/sqrt(a^2 + e^2).
ASI_INLINED asi_dual asi_dual_speed(const int n, asi_dual a, double e) {
  const double s2 = a.x * a.x + e * e, s = sqrt(s2);
  return asi_dual_chain(n, a.x * a.x / s, a.x * (s2 + e * e) / (s2 * s), a);
}

#endif
