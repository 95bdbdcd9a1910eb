/// Vectors of three and matrices of 3 x 12 by rows: the columns are those of two bodies, as elements write them.
#ifndef OWN_ELEMENT_VECTOR_H
#define OWN_ELEMENT_VECTOR_H

/// Where the columns of dx and dtheta of the two bodies begin.
enum { XA = 0, TA = 3, XB = 6, TB = 9, COLUMNS = 12 };

static inline double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/// R a: body to world
static inline void rotate(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = dot(R + 3 * i, a);
}

/// R^T a: world to body
static inline void rotate_back(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

/// The matrix a~ with a~ b = a x b
static inline void skew(const double *a, double out[9]) {
  const double m[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int i = 0; i < 9; ++i) out[i] = m[i];
}

/// A B
static inline void multiply(const double *A, const double *B, double out[9]) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/// Adds factor A at a corner of a matrix of 12 columns.
static inline void add_block(double factor, const double *A, double *m, int row, int col) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m[(row + i) * COLUMNS + col + j] += factor * A[3 * i + j];
}

/// Adds factor A^T B of two 3 x 12 matrices to a 12 x 12 one.
static inline void add_product(double factor, const double *A, const double *B, double *m) {
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < COLUMNS; ++i)
      for (int j = 0; j < COLUMNS; ++j)
        m[i * COLUMNS + j] += factor * A[k * COLUMNS + i] * B[k * COLUMNS + j];
}

#endif
