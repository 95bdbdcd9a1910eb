/// Integrals of functions without gaps: Gauss' rule with four points on equal pieces.
#ifndef ALPHASTEP_ELEMENTS_GAUSS_H
#define ALPHASTEP_ELEMENTS_GAUSS_H

#include <math.h>

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

/// One piece, in halves: its integral, and in `slip` what a kink or a jump close to one of its ends, where no point looks,
/// may have hidden: 0.035 of the piece times how far the ends are from where the polynomial through all points leads.
static inline double asi_gauss_piece(double (*f)(double x, const void *data), const void *data,
                                     double from, double to, double *slip) {
  static const double node[4] = {-0.33998104358485626, 0.33998104358485626, -0.86113631159405258,
                                 0.86113631159405258};
  static const double weight[4] = {0.65214515486254614, 0.65214515486254614, 0.34785484513745386,
                                   0.34785484513745386};
  static const double lead[2][4] = {
      {-2.3527317618599466, 5.529858398355999, 1.8645171648626118, -12.736849280810718},
      {-2.785658880225327, 0.4649270585442808, 11.082993657012475, -0.06705635587937346}};
  const double quarter = (to - from) / 4.0;
  double sum = 0.0, first = 0.0, last = 0.0;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k) {
      const double value = f(from + (2.0 * i + 1.0 + node[k]) * quarter, data);
      sum += weight[k] * value;
      first += lead[i][k] * value;
      last += lead[1 - i][k ^ 1] * value;
    }
  *slip = 0.035 * fabs(to - from) * fmax(fabs(f(from, data) - first), fabs(f(to, data) - last));
  return sum * quarter;
}

/// The integral of a function with kinks and jumps, from x0 to x1. It is added up in pieces, to begin with of the share `first` of the
/// way, a power of two; a piece is halved until its halves say the same and its ends are where they should be, to 1e-13 of the
/// whole. So kinks are found, and cost a few dozen pieces each.
static inline double asi_gauss_adaptive(double (*f)(double x, const void *data), const void *data,
                                        double x0, double x1, double first) {
  enum { MOST_PIECES = 10000 }; // then they stay as they are
  const double least = 0x1p-32, way = x1 - x0;
  double sum = 0.0, size = 0.0, done = 0.0, width = first; // of the way
  for (int n = 0; done < 1.0; ++n) {
    const double from = x0 + done * way, to = x0 + (done + width) * way;
    double slip;
    const double whole = asi_gauss(f, data, from, to, 1);
    const double halves = asi_gauss_piece(f, data, from, to, &slip);
    size = fmax(size, fabs(halves) / width);
    if (fabs(whole - halves) + slip > 1e-13 * size && width > least && n < MOST_PIECES) {
      width /= 2.0;
      continue;
    }
    sum += halves;
    done += width;
    while (width < first && fmod(done, 2.0 * width) == 0.0) width *= 2.0;
  }
  return sum;
}

#endif
