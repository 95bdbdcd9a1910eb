/// Vectors and 3 x 3 matrices (stored by rows), and unit quaternions (w, x, y, z) that take body to
/// world.
#ifndef ALPHASTEP_VALIDATION_VECTOR3_H
#define ALPHASTEP_VALIDATION_VECTOR3_H

static inline void cross3(const double *a, const double *b, double *out) {
  double x = a[1] * b[2] - a[2] * b[1];
  double y = a[2] * b[0] - a[0] * b[2];
  double z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

/// a~, the matrix with a~ b = a x b.
static inline void skew3(const double *a, double *out) {
  out[0] = 0.0, out[1] = -a[2], out[2] = a[1];
  out[3] = a[2], out[4] = 0.0, out[5] = -a[0];
  out[6] = -a[1], out[7] = a[0], out[8] = 0.0;
}

/// factor A B.
static inline void multiply33(double factor, const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double sum = 0.0;
      for (int k = 0; k < 3; k++) sum += a[3 * i + k] * b[3 * k + j];
      out[3 * i + j] = factor * sum;
    }
  }
}

/// The rotation matrix R of a unit quaternion.
static inline void rotation33(const double *p, double *out) {
  double w = p[0], x = p[1], y = p[2], z = p[3];
  out[0] = 1.0 - 2.0 * (y * y + z * z), out[1] = 2.0 * (x * y - w * z);
  out[2] = 2.0 * (x * z + w * y);
  out[3] = 2.0 * (x * y + w * z), out[4] = 1.0 - 2.0 * (x * x + z * z);
  out[5] = 2.0 * (y * z - w * x);
  out[6] = 2.0 * (x * z - w * y), out[7] = 2.0 * (y * z + w * x);
  out[8] = 1.0 - 2.0 * (x * x + y * y);
}

/// A b; `out` must not be b.
static inline void apply33(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[3 * i] * b[0] + a[3 * i + 1] * b[1] + a[3 * i + 2] * b[2];
}

/// A^T b; `out` must not be b.
static inline void apply33_transposed(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[i] * b[0] + a[3 + i] * b[1] + a[6 + i] * b[2];
}

#endif
