/// Vectors of three and 3 x 3 matrices, stored by rows: what every element needs, inline.
///
/// a~ is the matrix with a~ b = a x b. `add` functions add into a block of a larger matrix whose rows are
/// `stride` numbers apart. Loops over three are written out: compilers leave them as they are, at a cost.
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
  out[0] = a[0] + factor * b[0];
  out[1] = a[1] + factor * b[1];
  out[2] = a[2] + factor * b[2];
}

/// out += factor a
static inline void asi_add(double factor, const double *a, double *out) {
  out[0] += factor * a[0];
  out[1] += factor * a[1];
  out[2] += factor * a[2];
}

/// a x b; out is neither a nor b
static inline void asi_cross(const double *a, const double *b, double *out) {
  const double x = a[0], y = a[1], z = a[2], u = b[0], v = b[1], w = b[2];
  out[0] = y * w - z * v;
  out[1] = z * u - x * w;
  out[2] = x * v - y * u;
}

/// out += factor a x b
static inline void asi_add_cross(double factor, const double *a, const double *b, double *out) {
  const double x = a[0], y = a[1], z = a[2], u = b[0], v = b[1], w = b[2];
  out[0] += factor * (y * w - z * v);
  out[1] += factor * (z * u - x * w);
  out[2] += factor * (x * v - y * u);
}

/// R a: body to world; out is not a
static inline void asi_rotate(const double *R, const double *a, double *out) {
  const double x = a[0], y = a[1], z = a[2];
  out[0] = R[0] * x + R[1] * y + R[2] * z;
  out[1] = R[3] * x + R[4] * y + R[5] * z;
  out[2] = R[6] * x + R[7] * y + R[8] * z;
}

/// R^T a: world to body; out is not a
static inline void asi_rotate_back(const double *R, const double *a, double *out) {
  const double x = a[0], y = a[1], z = a[2];
  out[0] = R[0] * x + R[3] * y + R[6] * z;
  out[1] = R[1] * x + R[4] * y + R[7] * z;
  out[2] = R[2] * x + R[5] * y + R[8] * z;
}

/// A^T
static inline void asi_set_transposed(const double *A, double *out) {
  for (int i = 0; i < 3; ++i) asi_set(A[i], A[3 + i], A[6 + i], out + 3 * i);
}

/// A B
static inline void asi_multiply(const double *A, const double *B, double *out) {
  for (int i = 0; i < 9; i += 3) {
    const double x = A[i], y = A[i + 1], z = A[i + 2];
    out[i] = x * B[0] + y * B[3] + z * B[6];
    out[i + 1] = x * B[1] + y * B[4] + z * B[7];
    out[i + 2] = x * B[2] + y * B[5] + z * B[8];
  }
}

/// A^T B
static inline void asi_multiply_transposed(const double *A, const double *B, double *out) {
  for (int i = 0; i < 3; ++i) {
    const double x = A[i], y = A[3 + i], z = A[6 + i];
    out[3 * i] = x * B[0] + y * B[3] + z * B[6];
    out[3 * i + 1] = x * B[1] + y * B[4] + z * B[7];
    out[3 * i + 2] = x * B[2] + y * B[5] + z * B[8];
  }
}

/// out += factor A
static inline void asi_add_matrix(double factor, const double *A, double *out, int stride) {
  for (int i = 0; i < 9; i += 3, out += stride) {
    out[0] += factor * A[i];
    out[1] += factor * A[i + 1];
    out[2] += factor * A[i + 2];
  }
}

/// out += factor A^T
static inline void asi_add_transposed(double factor, const double *A, double *out, int stride) {
  for (int i = 0; i < 3; ++i, out += stride) {
    out[0] += factor * A[i];
    out[1] += factor * A[3 + i];
    out[2] += factor * A[6 + i];
  }
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
  const double x = a[0], y = a[1], z = a[2], diagonal = factor * asi_dot(a, b);
  double *second = out + stride, *third = second + stride;
  const double fx = factor * b[0], fy = factor * b[1], fz = factor * b[2];
  out[0] = out[0] + fx * x - diagonal;
  out[1] += fx * y;
  out[2] += fx * z;
  second[0] += fy * x;
  second[1] = second[1] + fy * y - diagonal;
  second[2] += fy * z;
  third[0] += fz * x;
  third[1] += fz * y;
  third[2] = third[2] + fz * z - diagonal;
}

/// A b~: row i is A_i x b, since a^T b~ = (a x b)^T
static inline void asi_times_skew(const double *A, const double *b, double *out) {
  asi_cross(A, b, out);
  asi_cross(A + 3, b, out + 3);
  asi_cross(A + 6, b, out + 6);
}

/// out += factor A b~
static inline void asi_add_times_skew(double factor, const double *A, const double *b, double *out,
                                      int stride) {
  asi_add_cross(factor, A, b, out);
  asi_add_cross(factor, A + 3, b, out + stride);
  asi_add_cross(factor, A + 6, b, out + 2 * stride);
}

/// a~ B
static inline void asi_skew_times(const double *a, const double *B, double *out) {
  const double x = a[0], y = a[1], z = a[2];
  out[0] = y * B[6] - z * B[3];
  out[1] = y * B[7] - z * B[4];
  out[2] = y * B[8] - z * B[5];
  out[3] = z * B[0] - x * B[6];
  out[4] = z * B[1] - x * B[7];
  out[5] = z * B[2] - x * B[8];
  out[6] = x * B[3] - y * B[0];
  out[7] = x * B[4] - y * B[1];
  out[8] = x * B[5] - y * B[2];
}

/// out += factor a~ B
static inline void asi_add_skew_times(double factor, const double *a, const double *B, double *out,
                                      int stride) {
  double turned[9];
  asi_skew_times(a, B, turned);
  asi_add_matrix(factor, turned, out, stride);
}

/// out += factor a b^T
static inline void asi_add_outer(double factor, const double *a, const double *b, double *out,
                                 int stride) {
  for (int i = 0; i < 3; ++i, out += stride) {
    const double x = factor * a[i];
    out[0] += x * b[0];
    out[1] += x * b[1];
    out[2] += x * b[2];
  }
}

/// out += factor I
static inline void asi_add_identity(double factor, double *out, int stride) {
  for (int i = 0; i < 3; ++i) out[i * stride + i] += factor;
}

#endif
