/// Integrals of functions without gaps: Gauss' rule with four points on equal pieces.
#ifndef ALPHASTEP_ELEMENTS_GAUSS_H
#define ALPHASTEP_ELEMENTS_GAUSS_H

/// The integral of f from `from` to `to`; exact for polynomials of degree seven on each piece.
static inline double asi_gauss(double (*f)(double x, const void *data), const void *data,
                               double from, double to, int pieces) {
  static const double node[2] = {0.33998104358485626, 0.86113631159405258};
  static const double weight[2] = {0.65214515486254614, 0.34785484513745386};
  const double half = (to - from) / (2.0 * pieces);
  double sum = 0.0;
  for (int i = 0; i < pieces; ++i)
    for (int k = 0; k < 4; ++k) {
      const double place = from + (2.0 * i + 1.0 + (k % 2 ? 1.0 : -1.0) * node[k / 2]) * half;
      sum += weight[k / 2] * f(place, data);
    }
  return sum * half;
}

#endif
