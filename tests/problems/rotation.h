/// The few formulas for rotations that the test problems need, apart from the library's own.
///
/// Matrices are stored by rows; quaternions are w x y z and take body to world.
#ifndef TESTS_PROBLEMS_ROTATION_H
#define TESTS_PROBLEMS_ROTATION_H

static inline void vec_cross(const double *a, const double *b, double *out) {
  double x = a[1] * b[2] - a[2] * b[1];
  double y = a[2] * b[0] - a[0] * b[2];
  double z = a[0] * b[1] - a[1] * b[0];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

static inline double vec_dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// out = A x; out must not be x.
static inline void mat_vec(const double *A, const double *x, double *out) {
  for (int i = 0; i < 3; i++) {
    out[i] = A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
  }
}

/// out = A^T x; out must not be x.
static inline void mat_t_vec(const double *A, const double *x, double *out) {
  for (int i = 0; i < 3; i++) {
    out[i] = A[i] * x[0] + A[3 + i] * x[1] + A[6 + i] * x[2];
  }
}

/// out = s A B; out must be neither A nor B.
static inline void mat_mat(double s, const double *A, const double *B, double *out) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = s * (A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j]);
    }
  }
}

/// out = A^T B; out must be neither A nor B.
static inline void mat_t_mat(const double *A, const double *B, double *out) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
    }
  }
}

/// The skew matrix a~ with a~ b = a x b, times s.
static inline void mat_skew(double s, const double *a, double *out) {
  out[0] = 0.0;
  out[1] = -s * a[2];
  out[2] = s * a[1];
  out[3] = s * a[2];
  out[4] = 0.0;
  out[5] = -s * a[0];
  out[6] = -s * a[1];
  out[7] = s * a[0];
  out[8] = 0.0;
}

/// The rotation matrix of a unit quaternion.
static inline void mat_from_quaternion(const double *p, double *R) {
  double w = p[0], x = p[1], y = p[2], z = p[3];
  R[0] = 1.0 - 2.0 * (y * y + z * z);
  R[1] = 2.0 * (x * y - w * z);
  R[2] = 2.0 * (x * z + w * y);
  R[3] = 2.0 * (x * y + w * z);
  R[4] = 1.0 - 2.0 * (x * x + z * z);
  R[5] = 2.0 * (y * z - w * x);
  R[6] = 2.0 * (x * z - w * y);
  R[7] = 2.0 * (y * z + w * x);
  R[8] = 1.0 - 2.0 * (x * x + y * y);
}

/// p' = p o (0, Omega) / 2, Omega in the body frame.
static inline void quaternion_rate(const double *p, const double *omega, double *out) {
  out[0] = 0.5 * (-p[1] * omega[0] - p[2] * omega[1] - p[3] * omega[2]);
  out[1] = 0.5 * (p[0] * omega[0] + p[2] * omega[2] - p[3] * omega[1]);
  out[2] = 0.5 * (p[0] * omega[1] + p[3] * omega[0] - p[1] * omega[2]);
  out[3] = 0.5 * (p[0] * omega[2] + p[1] * omega[1] - p[2] * omega[0]);
}

/// -Omega x J Omega
static inline void gyroscopic_torque(const double *J, const double *omega, double *out) {
  double momentum[3];
  mat_vec(J, omega, momentum);
  vec_cross(momentum, omega, out);
}

/// The derivative of gyroscopic_torque() by Omega: (J Omega)~ - Omega~ J.
static inline void gyroscopic_tangent(const double *J, const double *omega, double *out) {
  double momentum[3], skew[9], product[9];
  mat_vec(J, omega, momentum);
  mat_skew(1.0, omega, skew);
  mat_mat(1.0, skew, J, product);
  mat_skew(1.0, momentum, skew);
  for (int i = 0; i < 9; i++) {
    out[i] = skew[i] - product[i];
  }
}

#endif
