// Configuration spaces against power series in long double, finite differences, group laws and each
// other. Each test bounds the worst error it has seen and prints it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lie/rotation.h"
#include "lie/se3.h"
#include "lie/space.h"

static const double pi = 3.14159265358979323846;

static const as_space_kind groups[] = {AS_SPACE_SO3, AS_SPACE_R3SO3, AS_SPACE_SE3};

// Fails if value is above limit or NAN.
static void bound(const char *what, double value, double limit) {
  print_message("    %-52s %9.2e <= %.0e\n", what, value, limit);
  if (!(value <= limit)) fail_msg("%s: %.17g > %.17g", what, value, limit);
}

// The larger of both; NAN wins.
static double larger(double a, double b) { return a >= b || isnan(a) ? a : b; }

static double distance(int n, const double *a, const double *b) {
  double worst = 0.0;
  for (int i = 0; i < n; i++) worst = larger(worst, fabs(a[i] - b[i]));
  return worst;
}

static double length(int n, const double *a) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

// In [-1, 1], the same in every run of a test.
static uint64_t random_state;
static double random_number(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) * 0x1p-52 - 1.0;
}

static void random_vector(int n, double *x) {
  for (int i = 0; i < n; i++) x[i] = random_number();
}

static void random_rotation_vector(double angle, double *w) {
  do random_vector(3, w);
  while (length(3, w) < 0.1);
  const double k = angle / length(3, w);
  for (int i = 0; i < 3; i++) w[i] *= k;
}

static as_space *make(as_space_kind kind, int count) {
  as_space *space = NULL;
  assert_int_equal(as_space_create(&(as_space_part){kind, count}, 1, &space, NULL), AS_OK);
  return space;
}

// A random velocity of one factor with the given rotation angle.
static void random_velocity(as_space_kind kind, double angle, double *xi) {
  if (kind != AS_SPACE_SO3) random_vector(3, xi);
  random_rotation_vector(angle, kind == AS_SPACE_SO3 ? xi : xi + 3);
}

// ---- matrices in long double, n x n by rows, n <= 6

typedef struct matrix {
  int n;
  long double x[36];
} matrix;

static double error_of(double x, long double exact) {
  return fabs((double)((long double)x - exact));
}

static matrix identity(int n) {
  matrix m = {.n = n};
  for (int i = 0; i < n; i++) m.x[i * n + i] = 1.0L;
  return m;
}

static matrix times(matrix a, matrix b) {
  matrix m = {.n = a.n};
  for (int i = 0; i < a.n; i++) {
    for (int j = 0; j < a.n; j++) {
      for (int k = 0; k < a.n; k++) m.x[i * a.n + j] += a.x[i * a.n + k] * b.x[k * a.n + j];
    }
  }
  return m;
}

static matrix plus(matrix a, long double k, matrix b) {
  for (int i = 0; i < a.n * a.n; i++) a.x[i] += k * b.x[i];
  return a;
}

static void put_skew(matrix *m, int row, int col, const double *w) {
  long double *x = m->x + row * m->n + col;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    x[k * m->n + j] = (long double)w[i];
    x[j * m->n + k] = -(long double)w[i];
  }
}

// sum_k a^k/k!, a divided by 2^8 and the result squared 8 times
static matrix matrix_exp(matrix a) {
  matrix sum = identity(a.n), power = identity(a.n);
  long double k_factorial = 1.0L;
  for (int i = 0; i < a.n * a.n; i++) a.x[i] /= 256.0L;
  for (int k = 1; k < 20; k++) {
    power = times(power, a);
    k_factorial *= k;
    sum = plus(sum, 1.0L / k_factorial, power);
  }
  for (int i = 0; i < 8; i++) sum = times(sum, sum);
  return sum;
}

// The matrix of b -> [a, b].
static matrix adjoint(as_space_kind kind, const double *a) {
  matrix m = {.n = kind == AS_SPACE_SO3 ? 3 : 6};
  put_skew(&m, m.n - 3, m.n - 3, a + m.n - 3);
  if (kind == AS_SPACE_SE3) {
    put_skew(&m, 0, 0, a + 3);
    put_skew(&m, 0, 3, a);
  }
  return m;
}

// T = sum_k (-ad)^k/(k+1)!
static matrix tangent_series(as_space_kind kind, const double *xi) {
  const matrix ad = adjoint(kind, xi);
  matrix sum = {.n = ad.n}, power = identity(ad.n);
  long double k1_factorial = 1.0L;
  for (int k = 0; k < 60; k++) {
    k1_factorial *= k + 1;
    sum = plus(sum, (k % 2 == 0 ? 1.0L : -1.0L) / k1_factorial, power);
    power = times(power, ad);
  }
  return sum;
}

// ---- rotations and rigid motions

static const double angles[] = {0.0, 1e-300, 1e-155, 1e-12, 1e-8,      1e-4,       0.0999,      0.1,
                                1.0, 2.0,    3.0,    3.13,  3.1415926, 3.14159265, 3.1415926535};
enum { N_ANGLES = sizeof angles / sizeof *angles };

static void test_log_of_exp(void **state) {
  (void)state;
  const double near_pi[] = {pi - 1e-3, pi - 1e-8, pi - 1e-14};
  double rotation = 0.0, translation = 0.0;
  for (int g = 0; g < 3; g++) {
    as_space *space = make(groups[g], 1);
    const int nv = as_space_nv(space);
    for (int k = 0; k < N_ANGLES + 3; k++) {
      const double angle = k < N_ANGLES ? angles[k] : near_pi[k - N_ANGLES];
      for (int i = 0; i < 200; i++) {
        double xi[6], q[7], back[6];
        random_velocity(groups[g], angle, xi);
        as_space_exp(space, xi, q);
        as_space_log(space, q, back);
        const double error = distance(3, xi + nv - 3, back + nv - 3);
        if (angle == 0.0) assert_true(error == 0.0);
        if (angle > 0.0) rotation = larger(rotation, error / angle);
        if (nv == 6) translation = larger(translation, distance(3, xi, back));
        for (int j = 0; j < 4; j++) q[as_space_nq(space) - 4 + j] *= -1.0; // the same rotation
        as_space_log(space, q, back);
        if (angle > 0.0) {
          rotation = larger(rotation, distance(3, xi + nv - 3, back + nv - 3) / angle);
        }
      }
    }
    as_space_destroy(space);
  }
  bound("log(exp(xi)) - xi, rotation, relative", rotation, 4.0 * DBL_EPSILON);
  bound("log(exp(xi)) - xi, translation", translation, 16.0 * DBL_EPSILON);
}

// Of a turn by pi the log may give either axis; exp brings it back.
static void test_log_at_pi(void **state) {
  (void)state;
  double worst = 0.0, angle = 0.0;
  as_space *space = make(AS_SPACE_SE3, 1);
  for (int i = 0; i < 1000; i++) {
    double xi[6], q[7], back[6], again[7];
    random_velocity(AS_SPACE_SE3, pi, xi);
    as_space_exp(space, xi, q);
    if (i % 2 == 0) q[3] = i % 4 == 0 ? 0.0 : -0.0;
    as_space_log(space, q, back);
    as_space_exp(space, back, again);
    if (asi_dot3(q + 4, again + 4) < 0.0) {
      for (int j = 3; j < 7; j++) again[j] *= -1.0;
    }
    worst = larger(worst, distance(7, q, again));
    angle = larger(angle, length(3, back + 3) - pi);
  }
  as_space_destroy(space);
  bound("exp(log(q)) - q at pi", worst, 16.0 * DBL_EPSILON);
  bound("angle of log above pi", angle, 8.0 * DBL_EPSILON);
}

static void test_exp_series(void **state) {
  (void)state;
  double so3 = 0.0, se3 = 0.0, rotate = 0.0;
  for (int k = 0; k < 60; k++) {
    for (int i = 0; i < 20; i++) {
      double xi[6], q[7], r[9], v[3], rv[3], back[3];
      random_velocity(AS_SPACE_SE3, k < N_ANGLES ? angles[k] : 0.1 * k, xi);
      random_vector(3, v);

      matrix w = {.n = 3};
      put_skew(&w, 0, 0, xi + 3);
      const matrix turn = matrix_exp(w);
      asi_so3_exp(xi + 3, q);
      asi_so3_matrix(q, r);
      for (int j = 0; j < 9; j++) so3 = larger(so3, error_of(r[j], turn.x[j]));
      asi_so3_rotate(q, v, rv);
      asi_so3_rotate_back(q, rv, back);
      rotate = larger(rotate, distance(3, v, back));
      for (int j = 0; j < 3; j++) rotate = larger(rotate, fabs(asi_dot3(r + 3 * j, v) - rv[j]));

      matrix a = {.n = 4};
      put_skew(&a, 0, 0, xi + 3);
      for (int j = 0; j < 3; j++) a.x[4 * j + 3] = (long double)xi[j];
      const matrix motion = matrix_exp(a);
      asi_se3_exp(xi, q);
      asi_so3_matrix(q + 3, r);
      for (int j = 0; j < 3; j++) {
        se3 = larger(se3, error_of(q[j], motion.x[4 * j + 3]));
        for (int l = 0; l < 3; l++) {
          se3 = larger(se3, error_of(r[3 * j + l], motion.x[4 * j + l]));
        }
      }
    }
  }
  bound("exp on SO(3) against the matrix series", so3, 8.0 * DBL_EPSILON);
  bound("exp on SE(3) against the matrix series", se3, 8.0 * DBL_EPSILON);
  bound("R v against the matrix, R^T R v - v", rotate, 16.0 * DBL_EPSILON);
}

static void exact_exp(const double *w, double *q) {
  const long double x = (long double)w[0], y = (long double)w[1], z = (long double)w[2];
  const long double angle = sqrtl(x * x + y * y + z * z);
  const long double k = sinl(angle / 2) / angle;
  q[0] = (double)cosl(angle / 2);
  q[1] = (double)(k * x);
  q[2] = (double)(k * y);
  q[3] = (double)(k * z);
}

/// Two rotations at once, by angles of all sizes and of any length, are the same in every bit as one by one, and right.
static void test_two_moves(void **state) {
  (void)state;
  for (int n = 0; n < 2000; n++) {
    double q[2][4], w[2][3], one[2][4], two[2][4];
    for (int k = 0; k < 2; k++) {
      random_vector(4, q[k]);
      if (random_number() > -0.5) asi_so3_normalize(q[k]);
      // Of all sizes, or around where a longer series begins.
      random_rotation_vector(
          n % 2 ? pow(10.0, -2.0 + 2.5 * random_number()) : 0.044 + 0.004 * random_number(), w[k]);
      asi_so3_move(q[k], w[k], one[k]);
    }
    asi_so3_move_two(q[0], w[0], q[1], w[1], two[0], two[1]);
    assert_memory_equal(one, two, sizeof one);
    double turn[4];
    exact_exp(w[0], turn);
    asi_so3_compose(q[0], turn, turn);
    asi_so3_normalize(turn);
    assert_true(distance(4, turn, one[0]) <= 4.0 * DBL_EPSILON);
  }
}

static void test_coefficients(void **state) {
  (void)state;
  double worst[4] = {0.0};
  for (int k = 0; k < 35000; k++) {
    const double th = k < 10000 ? pow(10.0, -1e-3 * k) : 2e-4 * (k - 9999); // up to 5
    double b, c, p, r;
    asi_so3_coefficients(th * th, &b, &c);
    asi_so3_coefficient_rates(th * th, &p, &r);
    const long double s = (long double)(th * th), x = sqrtl(s);
    long double exact[4] = {(1 - cosl(x)) / s, (x - sinl(x)) / (s * x)};
    exact[2] = (sinl(x) / x - 2 * exact[0]) / s;
    exact[3] = (exact[0] - 3 * exact[1]) / s;
    if (th < 2.0) {
      long double power = 1.0L, factorial = 1.0L; // (-s)^j, (2j+2)!
      for (int j = 0; j < 4; j++) exact[j] = 0.0L;
      for (int j = 0; j < 20; j++, power *= -s) {
        factorial *= (2 * j + 1) * (2 * j + 2);
        const long double f3 = factorial * (2 * j + 3), f4 = f3 * (2 * j + 4),
                          f5 = f4 * (2 * j + 5);
        exact[0] += power / factorial;
        exact[1] += power / f3;
        exact[2] -= power * (2 * j + 2) / f4;
        exact[3] -= power * (2 * j + 2) / f5;
      }
    }
    worst[0] = larger(worst[0], error_of(b, exact[0]) / fabs((double)exact[0]));
    worst[1] = larger(worst[1], error_of(c, exact[1]) / fabs((double)exact[1]));
    worst[2] = larger(worst[2], error_of(p, exact[2]) / fabs((double)exact[2]));
    worst[3] = larger(worst[3], error_of(r, exact[3]) / fabs((double)exact[3]));
  }
  // Towards 2 pi, where b and p are zero, a relative error means little.
  bound("b, relative, angles 1e-10 to 5", worst[0], 8.0 * DBL_EPSILON);
  bound("c", worst[1], 3.0 * DBL_EPSILON);
  bound("2 db/ds", worst[2], 8.0 * DBL_EPSILON);
  bound("2 dc/ds", worst[3], 8.0 * DBL_EPSILON);
}

static void test_tangent(void **state) {
  (void)state;
  for (int g = 0; g < 3; g++) {
    as_space *space = make(groups[g], 1);
    const int nv = as_space_nv(space);
    double series = 0.0, inverse = 0.0, difference = 0.0;
    for (int k = 0; k < 60; k++) {
      double xi[6], v[6], tv[6], back[6];
      random_velocity(groups[g], k < N_ANGLES ? angles[k] : 0.1 * k, xi);
      random_vector(nv, v);
      as_space_tangent(space, xi, v, tv);
      as_space_tangent_inverse(space, xi, tv, back);
      inverse = larger(inverse, distance(nv, v, back));
      const matrix t = tangent_series(groups[g], xi);
      for (int i = 0; i < nv; i++) {
        long double sum = 0.0L;
        for (int j = 0; j < nv; j++) sum += t.x[i * nv + j] * (long double)v[j];
        series = larger(series, error_of(tv[i], sum));
      }

      // T v = (log(exp(xi)^-1 exp(xi + e v)) - log(exp(xi)^-1 exp(xi - e v))) / 2e + O(e^2)
      const double e = 1e-5;
      double q[7], q_moved[7], ahead[6], behind[6];
      as_space_exp(space, xi, q);
      for (int i = 0; i < nv; i++) ahead[i] = xi[i] + e * v[i];
      for (int i = 0; i < nv; i++) behind[i] = xi[i] - e * v[i];
      as_space_exp(space, ahead, q_moved);
      as_space_difference(space, q, q_moved, ahead);
      as_space_exp(space, behind, q_moved);
      as_space_difference(space, q, q_moved, behind);
      for (int i = 0; i < nv; i++) ahead[i] = (ahead[i] - behind[i]) / (2.0 * e);
      difference = larger(difference, distance(nv, tv, ahead));
    }
    as_space_destroy(space);
    bound("T v against its series", series, 16.0 * DBL_EPSILON);
    bound("T v against central differences", difference, 2e-9);
    bound("T^-1 T v - v, angles to 5.9", inverse, 32.0 * DBL_EPSILON);
  }
}

// T v = v - [xi, v]/2 + O(xi^2): the sign and the convention at small angles, without the series
static void test_tangent_first_order(void **state) {
  (void)state;
  for (int g = 0; g < 3; g++) {
    as_space *space = make(groups[g], 1);
    const int nv = as_space_nv(space);
    double xi[6], v[6], tv[6], bracket[6];
    random_vector(nv, xi);
    for (int i = 0; i < nv; i++) xi[i] *= 1e-9;
    random_vector(nv, v);
    as_space_tangent(space, xi, v, tv);
    as_space_bracket(space, xi, v, bracket);
    for (int i = 0; i < nv; i++) tv[i] += 0.5 * bracket[i];
    as_space_destroy(space);
    bound("T v - (v - [xi, v]/2), |xi| = 1e-9", distance(nv, tv, v), 4.0 * DBL_EPSILON);
  }
}

static void test_bracket(void **state) {
  (void)state;
  for (int g = 0; g < 3; g++) {
    as_space *space = make(groups[g], 1);
    const int nv = as_space_nv(space);
    double symmetry = 0.0, jacobi = 0.0, bch = 0.0, matrix_error = 0.0;
    for (int n = 0; n < 100; n++) {
      double x[3][6], ab[6], ba[6], sum[6] = {0.0};
      for (int k = 0; k < 3; k++) random_vector(nv, x[k]);
      as_space_bracket(space, x[0], x[1], ab);
      as_space_bracket(space, x[1], x[0], ba);
      for (int i = 0; i < nv; i++) symmetry = larger(symmetry, fabs(ab[i] + ba[i]));
      const matrix ad = adjoint(groups[g], x[0]);
      for (int i = 0; i < nv; i++) {
        long double y = 0.0L;
        for (int j = 0; j < nv; j++) y += ad.x[i * nv + j] * (long double)x[1][j];
        matrix_error = larger(matrix_error, error_of(ab[i], y));
      }
      for (int k = 0; k < 3; k++) {
        double inner[6];
        as_space_bracket(space, x[(k + 1) % 3], x[(k + 2) % 3], inner);
        as_space_bracket(space, x[k], inner, inner);
        for (int i = 0; i < nv; i++) sum[i] += inner[i];
      }
      for (int i = 0; i < nv; i++) jacobi = larger(jacobi, fabs(sum[i]));

      // log(exp(e a) exp(e b) exp(-e a) exp(-e b))/e^2 = [a, b] + O(e); averaged over +-e: O(e^2)
      const double e = 1e-3;
      double mean[6] = {0.0};
      for (int sign = -1; sign <= 1; sign += 2) {
        double q[7], step[6];
        as_space_identity(space, q);
        for (int k = 0; k < 4; k++) {
          const double h = (k < 2 ? e : -e) * sign;
          for (int i = 0; i < nv; i++) step[i] = h * x[k % 2][i];
          as_space_move(space, q, step, q);
        }
        as_space_log(space, q, step);
        for (int i = 0; i < nv; i++) mean[i] += 0.5 * step[i] / (e * e);
      }
      bch = larger(bch, distance(nv, mean, ab));
    }
    as_space_destroy(space);
    bound("[a, b] + [b, a]", symmetry, 2.0 * DBL_EPSILON);
    bound("[a, b] against the adjoint matrix", matrix_error, 2.0 * DBL_EPSILON);
    bound("Jacobi identity", jacobi, 16.0 * DBL_EPSILON);
    bound("[a, b] against the group commutator", bch, 1e-5);
  }
}

// ---- products

static const as_space_part four_kinds[] = {
    {AS_SPACE_RN, 5}, {AS_SPACE_SO3, 2}, {AS_SPACE_R3SO3, 2}, {AS_SPACE_SE3, 2}, {AS_SPACE_RN, 1}};
enum { MIXED_NQ = 5 + 8 + 14 + 14 + 1, MIXED_NV = 5 + 6 + 12 + 12 + 1 };

static as_space *make_mixed(void) {
  as_space *space = NULL;
  assert_int_equal(as_space_create(four_kinds, 5, &space, NULL), AS_OK);
  assert_int_equal(as_space_nq(space), MIXED_NQ);
  assert_int_equal(as_space_nv(space), MIXED_NV);
  return space;
}

static void random_configuration(const as_space *space, double *q) {
  random_vector(as_space_nq(space), q);
  as_space_normalize(space, q);
}

static void test_group_axioms(void **state) {
  (void)state;
  as_space *space = make_mixed();
  double worst = 0.0, far = 0.0;
  for (int n = 0; n < 100; n++) {
    double a[MIXED_NQ], b[MIXED_NQ], c[MIXED_NQ], e[MIXED_NQ], x[MIXED_NQ], y[MIXED_NQ];
    random_configuration(space, a);
    random_configuration(space, b);
    random_configuration(space, c);
    as_space_identity(space, e);
    as_space_compose(space, a, b, x);
    as_space_compose(space, x, c, x);
    as_space_compose(space, b, c, y);
    as_space_compose(space, a, y, y);
    worst = larger(worst, distance(MIXED_NQ, x, y)); // (ab)c = a(bc)
    as_space_compose(space, a, e, x);
    as_space_compose(space, e, a, y);
    worst = larger(worst, distance(MIXED_NQ, x, a)); // ae = a = ea
    worst = larger(worst, distance(MIXED_NQ, y, a));
    as_space_inverse(space, a, x);
    as_space_compose(space, a, x, y);
    worst = larger(worst, distance(MIXED_NQ, y, e)); // a a^-1 = e = a^-1 a
    as_space_compose(space, x, a, y);
    worst = larger(worst, distance(MIXED_NQ, y, e));

    double xi[MIXED_NV], xi_log[MIXED_NV];
    as_space_compose(space, x, b, y);
    as_space_log(space, y, xi_log);
    as_space_difference(space, a, b, xi); // log(a^-1 b)
    worst = larger(worst, distance(MIXED_NV, xi, xi_log));
    as_space_move(space, a, xi, x); // a exp(xi) = b, quaternions up to their sign
    as_space_difference(space, b, x, xi);
    worst = larger(worst, length(MIXED_NV, xi));

    // A pair far from the origin is as close as it was near to it.
    const int se3 = 5 + 8 + 14;
    for (int i = 0; i < 3; i++) a[se3 + i] = 1048576.0 + a[se3 + i];
    for (int i = 0; i < 3; i++) b[se3 + i] = a[se3 + i] + 1e-6 * (i + 1); // rounds to 1e-10
    double d[3], x_body[3];
    for (int i = 0; i < 3; i++) d[i] = b[se3 + i] - a[se3 + i];
    asi_so3_rotate_back(a + se3 + 3, d, x_body);
    as_space_difference(space, a, b, xi);
    as_space_exp(space, xi, y);
    far = larger(far, distance(3, x_body, y + se3));
  }
  as_space_destroy(space);
  bound("group axioms, difference and move", worst, 64.0 * DBL_EPSILON);
  bound("difference of positions far away", far, 1e-20);
}

static void test_sparse_tangent(void **state) {
  (void)state;
  as_space *space = make_mixed();
  enum { NNZ = 5 + 2 * 9 + 2 * 12 + 2 * 27 + 1 };
  int col_start[MIXED_NV + 1], row[NNZ];
  double value[NNZ], xi[MIXED_NV], worst = 0.0;
  assert_int_equal(asi_space_tangent_nnz(space), NNZ);
  asi_space_tangent_pattern(space, col_start, row);
  assert_int_equal(col_start[0], 0);
  assert_int_equal(col_start[MIXED_NV], NNZ);
  for (int n = 0; n < 20; n++) {
    random_vector(MIXED_NV, xi);
    asi_space_tangent_fill(space, xi, value);
    for (int j = 0; j < MIXED_NV; j++) {
      double unit[MIXED_NV] = {0.0}, column[MIXED_NV] = {0.0};
      for (int k = col_start[j]; k < col_start[j + 1]; k++) {
        assert_true(k == col_start[j] || row[k] > row[k - 1]);
        assert_true(value[k] != 0.0);
        column[row[k]] = value[k];
      }
      unit[j] = 1.0;
      as_space_tangent(space, xi, unit, unit);
      worst = larger(worst, distance(MIXED_NV, unit, column));
    }
  }
  assert_false(asi_space_is_linear(space));
  as_space_destroy(space);
  space = make(AS_SPACE_RN, 3);
  assert_true(asi_space_is_linear(space));
  as_space_destroy(space);
  bound("sparse T against T v", worst, 4.0 * DBL_EPSILON);
}

// What all functions make of one state, in the order of `all_functions`.
enum { N_Q = 5, N_V = 5 };

static void all_functions(const as_space *space, const double *q0, const double *q1,
                          const double *xi, const double *v, double *const *q, double *const *out) {
  as_space_identity(space, q[0]);
  as_space_compose(space, q0, q1, q[1]);
  as_space_inverse(space, q0, q[2]);
  as_space_exp(space, xi, q[3]);
  as_space_move(space, q0, xi, q[4]);
  as_space_log(space, q0, out[0]);
  as_space_difference(space, q0, q1, out[1]);
  as_space_tangent(space, xi, v, out[2]);
  as_space_tangent_inverse(space, xi, v, out[3]);
  as_space_bracket(space, xi, v, out[4]);
}

static double *numbers(int n) {
  double *x = calloc((size_t)n, sizeof *x);
  assert_non_null(x);
  return x;
}

static void test_thousands_of_parts(void **state) {
  (void)state;
  enum { N_PARTS = 5000, LONGEST = 50 };
  static as_space_part parts[N_PARTS];
  int nq = 0, nv = 0;
  for (int i = 0; i < N_PARTS; i++) {
    parts[i].kind = (as_space_kind)((int)(2.0 * (random_number() + 1.0)) % 4);
    if (i == 0) parts[i].kind = AS_SPACE_SO3;
    parts[i].count = 1 + (int)(2.0 * (random_number() + 1.0));
    if (i == 1) parts[i] = (as_space_part){AS_SPACE_RN, LONGEST}; // q is v moved by a few places
    const as_space_kind kind = parts[i].kind;
    nq += parts[i].count * (kind == AS_SPACE_RN ? 1 : kind == AS_SPACE_SO3 ? 4 : 7);
    nv += parts[i].count * (kind == AS_SPACE_RN ? 1 : kind == AS_SPACE_SO3 ? 3 : 6);
  }
  as_space *space = NULL;
  assert_int_equal(as_space_create(parts, N_PARTS, &space, NULL), AS_OK);
  assert_int_equal(as_space_nq(space), nq);
  assert_int_equal(as_space_nv(space), nv);

  double *q0 = numbers(nq), *q1 = numbers(nq), *xi = numbers(nv), *v = numbers(nv);
  double *q[N_Q], *out[N_V];
  for (int i = 0; i < N_Q; i++) q[i] = numbers(nq);
  for (int i = 0; i < N_V; i++) out[i] = numbers(nv);
  random_configuration(space, q0);
  random_configuration(space, q1);
  random_vector(nv, xi);
  random_vector(nv, v);
  all_functions(space, q0, q1, xi, v, q, out);
  assert_int_equal(as_space_check(space, q0, NULL), AS_OK);

  // One by one the factors give the same numbers, to the last bit.
  int at_q = 0, at_v = 0;
  for (int i = 0; i < N_PARTS; i++) {
    const int copies = parts[i].kind == AS_SPACE_RN ? 1 : parts[i].count;
    as_space *one = make(parts[i].kind, parts[i].kind == AS_SPACE_RN ? parts[i].count : 1);
    const int one_nq = as_space_nq(one), one_nv = as_space_nv(one);
    for (int k = 0; k < copies; k++, at_q += one_nq, at_v += one_nv) {
      double one_q[N_Q][LONGEST], one_out[N_V][LONGEST];
      double *q_rows[N_Q], *out_rows[N_V];
      for (int j = 0; j < N_Q; j++) q_rows[j] = one_q[j];
      for (int j = 0; j < N_V; j++) out_rows[j] = one_out[j];
      all_functions(one, q0 + at_q, q1 + at_q, xi + at_v, v + at_v, q_rows, out_rows);
      for (int j = 0; j < N_Q; j++) {
        assert_memory_equal(one_q[j], q[j] + at_q, (size_t)one_nq * sizeof(double));
      }
      for (int j = 0; j < N_V; j++) {
        assert_memory_equal(one_out[j], out[j] + at_v, (size_t)one_nv * sizeof(double));
      }
    }
    as_space_destroy(one);
  }
  assert_int_equal(at_q, nq);

  // Each output in the place of each input, also where q takes the place of v.
  const size_t q_bytes = (size_t)nq * sizeof(double), v_bytes = (size_t)nv * sizeof(double);
  double *x = numbers(nq);
#define IN_PLACE(input, in_bytes, call, expected, out_bytes)                                       \
  memcpy(x, input, in_bytes);                                                                      \
  call;                                                                                            \
  assert_memory_equal(x, expected, out_bytes)
  IN_PLACE(q0, q_bytes, as_space_compose(space, x, q1, x), q[1], q_bytes);
  IN_PLACE(q1, q_bytes, as_space_compose(space, q0, x, x), q[1], q_bytes);
  IN_PLACE(q0, q_bytes, as_space_inverse(space, x, x), q[2], q_bytes);
  IN_PLACE(xi, v_bytes, as_space_exp(space, x, x), q[3], q_bytes);
  IN_PLACE(q0, q_bytes, as_space_move(space, x, xi, x), q[4], q_bytes);
  IN_PLACE(xi, v_bytes, as_space_move(space, q0, x, x), q[4], q_bytes);
  IN_PLACE(q0, q_bytes, as_space_log(space, x, x), out[0], v_bytes);
  IN_PLACE(q0, q_bytes, as_space_difference(space, x, q1, x), out[1], v_bytes);
  IN_PLACE(q1, q_bytes, as_space_difference(space, q0, x, x), out[1], v_bytes);
  IN_PLACE(xi, v_bytes, as_space_tangent(space, x, v, x), out[2], v_bytes);
  IN_PLACE(v, v_bytes, as_space_tangent(space, xi, x, x), out[2], v_bytes);
  IN_PLACE(xi, v_bytes, as_space_tangent_inverse(space, x, v, x), out[3], v_bytes);
  IN_PLACE(v, v_bytes, as_space_tangent_inverse(space, xi, x, x), out[3], v_bytes);
  IN_PLACE(xi, v_bytes, as_space_bracket(space, x, v, x), out[4], v_bytes);
  IN_PLACE(v, v_bytes, as_space_bracket(space, xi, x, x), out[4], v_bytes);
#undef IN_PLACE

  // Both inputs and the output at once.
  memcpy(x, q0, q_bytes);
  as_space_compose(space, x, x, x);
  as_space_compose(space, q0, q0, q[0]);
  assert_memory_equal(x, q[0], q_bytes);

  for (int i = 0; i < N_Q; i++) free(q[i]);
  for (int i = 0; i < N_V; i++) free(out[i]);
  free(q0);
  free(q1);
  free(xi);
  free(v);
  free(x);
  as_space_destroy(space);
}

// R^3 x SO(3): positions add, in world; the rotation is that of SO(3).
static void test_uncoupled_motion(void **state) {
  (void)state;
  as_space *space = make(AS_SPACE_R3SO3, 1);
  double q[7] = {1.0, 2.0, 3.0, 0.6, 0.0, 0.8, 0.0}, xi[6] = {0.5, 0.25, -1.0, 0.3, -0.2, 0.1};
  double out[7], turn[4], rotated[4];
  as_space_move(space, q, xi, out);
  asi_so3_exp(xi + 3, turn);
  asi_so3_compose(q + 3, turn, rotated);
  for (int i = 0; i < 3; i++) assert_true(out[i] == q[i] + xi[i]);
  bound("rotation of R^3 x SO(3) against SO(3)", distance(4, out + 3, rotated), 2.0 * DBL_EPSILON);
  as_space_destroy(space);
}

// ---- many steps

static void test_million_moves(void **state) {
  (void)state;
  enum { N = 1000000 };
  as_space *space = make(AS_SPACE_SE3, 1);
  double q[7], xi[6], worst = 0.0;
  as_space_identity(space, q);
  for (int i = 0; i < N; i++) {
    random_vector(6, xi);
    as_space_move(space, q, xi, q);
    worst = larger(worst, fabs(length(4, q + 3) - 1.0));
  }
  bound("| |quaternion| - 1 | over 1e6 random moves", worst, 1e-14);

  // 1000 turns of a screw in 1e6 steps; the closed form is one exp of the whole motion.
  const double step[6] = {1e-3, -2e-3, 5e-4, 3e-3, 4e-3, 3.80863e-3};
  double total[6], whole[7], xi_error[6];
  as_space_identity(space, q);
  for (int i = 0; i < N; i++) as_space_move(space, q, step, q);
  for (int i = 0; i < 6; i++) total[i] = N * step[i];
  as_space_exp(space, total, whole);
  as_space_difference(space, whole, q, xi_error);
  as_space_destroy(space);
  // The rounding of equal steps repeats, so the error grows with N, by a small part of an eps each;
  // the tilt of the axis meets the 500 m of its path.
  const double tilt = 0.1 * N * DBL_EPSILON;
  bound("screw after 1000 turns: angle", length(3, xi_error + 3), tilt);
  bound("screw after 1000 turns: position, 500 m", length(3, xi_error), 500.0 * tilt);
}

// ---- refusals

static void refused(const as_space_part *parts, int n_parts, const char *sentence) {
  as_space *space = (as_space *)&random_state; // anything but NULL
  as_error error = {.status = AS_OK};
  assert_int_equal(as_space_create(parts, n_parts, &space, &error), AS_ERR_ARGUMENT);
  assert_int_equal(error.status, AS_ERR_ARGUMENT);
  assert_null(space);
  if (strstr(error.message, sentence) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", error.message, sentence);
  }
  assert_int_equal(error.message[strlen(error.message) - 1], '.');
  assert_int_equal(as_space_create(parts, n_parts, &space, NULL), AS_ERR_ARGUMENT);
}

static void test_create_refuses(void **state) {
  (void)state;
  const as_space_part good = {AS_SPACE_SE3, 1};
  as_error error;
  assert_int_equal(as_space_create(&good, 1, NULL, &error), AS_ERR_ARGUMENT);
  assert_non_null(strstr(error.message, "out is NULL"));
  refused(NULL, 1, "parts is NULL");
  refused(&good, 0, "n_parts = 0");
  refused(&good, -3, "n_parts = -3");
  refused((as_space_part[]){good, {AS_SPACE_RN, 0}}, 2, "parts[1].count = 0");
  refused((as_space_part[]){good, {AS_SPACE_SO3, -1}}, 2, "parts[1].count = -1");
  int unknown = 17;
  as_space_part strange = good;
  memcpy(&strange.kind, &unknown, sizeof strange.kind);
  refused(&strange, 1, "parts[0].kind = 17");
  unknown = -1;
  memcpy(&strange.kind, &unknown, sizeof strange.kind);
  refused(&strange, 1, "parts[0].kind = -1");
  refused((as_space_part[]){{AS_SPACE_RN, INT_MAX}, {AS_SPACE_RN, 1}}, 2, "parts[1]");
  refused((as_space_part[]){{AS_SPACE_SO3, INT_MAX}}, 1, "8589934588 numbers in q");
  refused((as_space_part[]){{AS_SPACE_SE3, INT_MAX / 7}}, 1, "entries in its tangent operator");
  as_space *space = NULL;
  assert_int_equal(as_space_create(&(as_space_part){AS_SPACE_RN, INT_MAX}, 1, &space, NULL), AS_OK);
  assert_int_equal(as_space_nq(space), INT_MAX);
  as_space_destroy(space);
  as_space_destroy(NULL);
}

static void test_check_refuses(void **state) {
  (void)state;
  as_space *space = make_mixed();
  double q[MIXED_NQ];
  as_error error;
  as_space_identity(space, q);
  assert_int_equal(as_space_check(space, q, &error), AS_OK);
  const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < MIXED_NQ; i++) {
      const double keep = q[i];
      q[i] = bad[k];
      assert_int_equal(as_space_check(space, q, &error), AS_ERR_ARGUMENT);
      assert_non_null(strstr(error.message, "is not finite."));
      q[i] = keep;
    }
  }
  const int quaternions[] = {5, 9, 16, 23, 30, 37};
  for (int k = 0; k < 6; k++) {
    double *w = q + quaternions[k];
    const double good[] = {1.0 + 0.99e-6, 1.0 - 0.99e-6, -1.0},
                 wrong[] = {1.0 + 1.01e-6, 1.0 - 1.01e-6, 0.0, 1e200};
    for (int i = 0; i < 3; i++) {
      *w = good[i];
      assert_int_equal(as_space_check(space, q, NULL), AS_OK);
    }
    for (int i = 0; i < 4; i++) {
      *w = wrong[i];
      assert_int_equal(as_space_check(space, q, &error), AS_ERR_ARGUMENT);
      assert_non_null(strstr(error.message, "further than 1e-06 from 1."));
    }
    *w = 5.0;
    as_space_normalize(space, q);
    assert_true(*w == 1.0);
  }
  q[9] = 1.5;
  as_space_check(space, q, &error);
  assert_string_equal(error.message, "The quaternion q[9..12] has length 1.5, further than 1e-06 "
                                     "from 1.");
  as_space_destroy(space);
}

static int seed(void **state) {
  (void)state;
  random_state = 42;
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_log_of_exp, seed),
      cmocka_unit_test_setup(test_log_at_pi, seed),
      cmocka_unit_test_setup(test_exp_series, seed),
      cmocka_unit_test_setup(test_two_moves, seed),
      cmocka_unit_test_setup(test_coefficients, seed),
      cmocka_unit_test_setup(test_tangent, seed),
      cmocka_unit_test_setup(test_tangent_first_order, seed),
      cmocka_unit_test_setup(test_bracket, seed),
      cmocka_unit_test_setup(test_group_axioms, seed),
      cmocka_unit_test_setup(test_sparse_tangent, seed),
      cmocka_unit_test_setup(test_thousands_of_parts, seed),
      cmocka_unit_test_setup(test_uncoupled_motion, seed),
      cmocka_unit_test_setup(test_million_moves, seed),
      cmocka_unit_test_setup(test_create_refuses, seed),
      cmocka_unit_test_setup(test_check_refuses, seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
