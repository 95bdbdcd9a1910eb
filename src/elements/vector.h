/// Vectors of three and 3 x 3 matrices, stored by rows: what every element needs, inline.
///
/// a~ is the matrix with a~ b = a x b. `add` functions add into a block of a larger matrix whose rows are
/// `stride` numbers apart.
#ifndef ALPHASTEP_ELEMENTS_VECTOR_H
#define ALPHASTEP_ELEMENTS_VECTOR_H

#include <math.h>

static inline double asi_dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double asi_norm(const double *a) { return sqrt(asi_dot(a, a)); }

static inline void asi_copy(const double *a, double *out) {
  out[0] = a[0];
  out[1] = a[1];
  out[2] = a[2];
}

static inline void asi_set(double x, double y, double z, double *out) {
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/// out = a + factor b
static inline void asi_sum(const double *a, double factor, const double *b, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = a[i] + factor * b[i];
}

/// out += factor a
static inline void asi_add(double factor, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] += factor * a[i];
}

/// a x b; out is neither a nor b
static inline void asi_cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/// out += factor a x b
static inline void asi_add_cross(double factor, const double *a, const double *b, double *out) {
  out[0] += factor * (a[1] * b[2] - a[2] * b[1]);
  out[1] += factor * (a[2] * b[0] - a[0] * b[2]);
  out[2] += factor * (a[0] * b[1] - a[1] * b[0]);
}

/// R a: body to world; out is not a
static inline void asi_rotate(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

/// R^T a: world to body; out is not a
static inline void asi_rotate_back(const double *R, const double *a, double *out) {
  for (int i = 0; i < 3; ++i) out[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
}

/// A B
static inline void asi_multiply(const double *A, const double *B, double *out) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/// A^T B
static inline void asi_multiply_transposed(const double *A, const double *B, double *out) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

/// out += factor A
static inline void asi_add_matrix(double factor, const double *A, double *out, int stride) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[i * stride + j] += factor * A[3 * i + j];
}

/// out += factor A^T
static inline void asi_add_transposed(double factor, const double *A, double *out, int stride) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[i * stride + j] += factor * A[3 * j + i];
}

/// out += factor a~
static inline void asi_add_skew(double factor, const double *a, double *out, int stride) {
  out[1] -= factor * a[2];
  out[2] += factor * a[1];
  out[stride] += factor * a[2];
  out[stride + 2] -= factor * a[0];
  out[2 * stride] -= factor * a[1];
  out[2 * stride + 1] += factor * a[0];
}

/// out += factor a~ b~ = factor (b a^T - (a . b) I)
static inline void asi_add_skew_skew(double factor, const double *a, const double *b, double *out,
                                     int stride) {
  const double ab = asi_dot(a, b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) out[i * stride + j] += factor * b[i] * a[j];
    out[i * stride + i] -= factor * ab;
  }
}

/// A b~: row i is A_i x b, since a^T b~ = (a x b)^T
static inline void asi_times_skew(const double *A, const double *b, double *out) {
  for (int i = 0; i < 3; ++i) asi_cross(A + 3 * i, b, out + 3 * i);
}

/// out += factor A b~
static inline void asi_add_times_skew(double factor, const double *A, const double *b, double *out,
                                      int stride) {
  for (int i = 0; i < 3; ++i) asi_add_cross(factor, A + 3 * i, b, out + i * stride);
}

/// out += factor a~ B
static inline void asi_add_skew_times(double factor, const double *a, const double *B, double *out,
                                      int stride) {
  for (int j = 0; j < 3; ++j) {
    out[j] += factor * (a[1] * B[6 + j] - a[2] * B[3 + j]);
    out[stride + j] += factor * (a[2] * B[j] - a[0] * B[6 + j]);
    out[2 * stride + j] += factor * (a[0] * B[3 + j] - a[1] * B[j]);
  }
}

/// out += factor a b^T
static inline void asi_add_outer(double factor, const double *a, const double *b, double *out,
                                 int stride) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[i * stride + j] += factor * a[i] * b[j];
}

/// out += factor I
static inline void asi_add_identity(double factor, double *out, int stride) {
  for (int i = 0; i < 3; ++i) out[i * stride + i] += factor;
}

#endif
