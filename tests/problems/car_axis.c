/// The car axis of the Test Set for IVP Solvers: q = (xl, yl, xr, yr), the wheels' positions.
///
/// The left wheel sits on a spring over the origin, the right one over (xb, yb), moved by a bump:
/// yb = r sin(w t), xb = sqrt(L^2 - yb^2). With k = M eps^2/2 as mass and d the spring's vector,
///
///     k q'' = (L0/|d| - 1) d - (0, k g) - B^T lambda       for each wheel
///     0 = xb xl + yb yl,    0 = (xl - xr)^2 + (yl - yr)^2 - L^2
///
/// Our lambda is minus that of the test set. Reference: the chassis (xb, yb) has the angle psi, so
/// the left wheel is at s e with e = (-sin(psi), cos(psi)), and the right one at s e + L u with
/// u = (cos(phi), sin(phi)); two equations for s'' and phi''.
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct car_axis {
  double k;  ///< M eps^2/2
  double L;  ///< axis
  double L0; ///< spring at rest
  double r;  ///< height of the bump
  double w;  ///< its frequency
  double g;  ///< gravity
} car_axis;

/// (xb, yb) and its first and second derivatives.
typedef struct bump {
  double at[2];
  double rate[2];
  double second[2];
} bump;

static bump bump_at(const car_axis *c, double t) {
  double y = c->r * sin(c->w * t), y1 = c->r * c->w * cos(c->w * t), y2 = -c->w * c->w * y;
  double x = sqrt(c->L * c->L - y * y);
  double x1 = -y * y1 / x;
  return (bump){{x, y}, {x1, y1}, {-(y1 * y1 + y * y2 + x1 * x1) / x, y2}};
}

/// The springs' vectors, left and right.
static void spring_vectors(const bump *b, const double *q, double d[2][2]) {
  for (int i = 0; i < 2; i++) {
    d[0][i] = q[i];
    d[1][i] = q[2 + i] - b->at[i];
  }
}

static void applied_force(const car_axis *c, const bump *b, const double *q, double *out) {
  double d[2][2];
  spring_vectors(b, q, d);
  for (int wheel = 0; wheel < 2; wheel++) {
    double s = c->L0 / hypot(d[wheel][0], d[wheel][1]) - 1.0;
    out[2 * wheel] = s * d[wheel][0];
    out[2 * wheel + 1] = s * d[wheel][1] - c->k * c->g;
  }
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const car_axis *c = user;
  for (int i = 0; i < 4; i++) {
    as_matrix_add(m, i, i, c->k);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  bump b = bump_at(user, at->t);
  applied_force(user, &b, at->q, out);
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const car_axis *c = user;
  const double *q = at->q;
  bump b = bump_at(c, at->t);
  double x = q[0] - q[2], y = q[1] - q[3];
  out[0] = b.at[0] * q[0] + b.at[1] * q[1];
  out[1] = x * x + y * y - c->L * c->L;
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const double *q = at->q, *v = at->v;
  bump b = bump_at(user, at->t);
  out[0] = b.at[0] * v[0] + b.at[1] * v[1] + b.rate[0] * q[0] + b.rate[1] * q[1];
  out[1] = 2.0 * ((q[0] - q[2]) * (v[0] - v[2]) + (q[1] - q[3]) * (v[1] - v[3]));
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const double *q = at->q, *v = at->v;
  bump b = bump_at(user, at->t);
  double vx = v[0] - v[2], vy = v[1] - v[3];
  out[0] = 2.0 * (b.rate[0] * v[0] + b.rate[1] * v[1]) + b.second[0] * q[0] + b.second[1] * q[1];
  out[1] = 2.0 * (vx * vx + vy * vy);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const car_axis *c = user;
  const double *q = at->q, *v = at->v;
  bump b = bump_at(c, at->t);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    as_matrix *f = &blocks[AS_BLOCK_F_Q];
    double d[2][2];
    spring_vectors(&b, q, d);
    for (int wheel = 0; wheel < 2; wheel++) { // (L0/l - 1) I - L0 d d'/l^3
      double l = hypot(d[wheel][0], d[wheel][1]);
      for (int i = 0; i < 2; i++) {
        int row = 2 * wheel + i, other = 2 * (1 - wheel) + i;
        as_matrix_add(f, row, row, c->L0 / l - 1.0);
        for (int j = 0; j < 2; j++) {
          as_matrix_add(f, row, 2 * wheel + j, -c->L0 * d[wheel][i] * d[wheel][j] / (l * l * l));
        }
        as_matrix_add(f, row, row, -2.0 * at->lambda[1]);
        as_matrix_add(f, row, other, 2.0 * at->lambda[1]);
      }
    }
  }
  for (int i = 0; i < 2; i++) {
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, i, b.at[i]);
      as_matrix_add(&blocks[AS_BLOCK_G_Q], 1, i, 2.0 * (q[i] - q[2 + i]));
      as_matrix_add(&blocks[AS_BLOCK_G_Q], 1, 2 + i, -2.0 * (q[i] - q[2 + i]));
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, i, b.rate[i]);
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 1, i, 2.0 * (v[i] - v[2 + i]));
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 1, 2 + i, -2.0 * (v[i] - v[2 + i]));
    }
  }
  return AS_DONE;
}

/// All of the motion from s, phi and their rates.
typedef struct motion {
  double second[2]; ///< s'', phi''
  double q[4], v[4], vdot[4], lambda[2];
} motion;

static motion motion_at(const car_axis *c, double t, const double *y) {
  double s = y[0], phi = y[1], s1 = y[2], phi1 = y[3], L = c->L;
  bump b = bump_at(c, t);
  // psi' and psi'' from sin(psi) = yb/L
  double psi1 = b.rate[1] / b.at[0];
  double psi2 = (b.second[1] - psi1 * b.rate[0]) / b.at[0];
  double along[2] = {b.at[0] / L, b.at[1] / L};
  const double e[2] = {-along[1], along[0]};
  const double u[2] = {cos(phi), sin(phi)}, side[2] = {-u[1], u[0]};
  motion m;
  double bias[2], F[4];
  for (int i = 0; i < 2; i++) { // e' = -psi' along, along' = psi' e
    double e1 = -psi1 * along[i], e2 = -psi2 * along[i] - psi1 * psi1 * e[i];
    m.q[i] = s * e[i];
    m.q[2 + i] = m.q[i] + L * u[i];
    m.v[i] = s1 * e[i] + s * e1;
    m.v[2 + i] = m.v[i] + L * phi1 * side[i];
    bias[i] = 2.0 * s1 * e1 + s * e2;
  }
  applied_force(c, &b, m.q, F);
  // Both wheels along e, the right one along `side`.
  double cross = L * (e[0] * side[0] + e[1] * side[1]);
  double A[4] = {2.0, cross, cross, L * L};
  m.second[0] = m.second[1] = 0.0;
  for (int i = 0; i < 2; i++) {
    m.second[0] += e[i] * ((F[i] + F[2 + i]) / c->k - 2.0 * bias[i] + L * phi1 * phi1 * u[i]);
    m.second[1] += L * side[i] * (F[2 + i] / c->k - bias[i]);
  }
  reference_solve(2, A, m.second);
  double left = 0.0, right = 0.0;
  for (int i = 0; i < 2; i++) {
    m.vdot[i] = m.second[0] * e[i] + bias[i];
    m.vdot[2 + i] = m.vdot[i] + L * (m.second[1] * side[i] - phi1 * phi1 * u[i]);
    left += along[i] * (F[i] - c->k * m.vdot[i]);
    right += u[i] * (F[2 + i] - c->k * m.vdot[2 + i]);
  }
  m.lambda[1] = right / (2.0 * L);
  m.lambda[0] = (left + right * (along[0] * u[0] + along[1] * u[1])) / L;
  return m;
}

/// y = (s, phi, s', phi')
static void reduced_rhs(double t, const double *y, double *dy, const void *context) {
  motion m = motion_at(context, t, y);
  dy[0] = y[2];
  dy[1] = y[3];
  dy[2] = m.second[0];
  dy[3] = m.second[1];
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const car_axis *c = p->def.user;
  // At t0 = 0 the chassis is level: s is up, and psi' = r w/L turns the left wheel back.
  double x = p->q0[2] - p->q0[0], height = p->q0[3] - p->q0[1];
  double vx = p->v0[2] - p->v0[0], vy = p->v0[3] - p->v0[1];
  double y[4] = {p->q0[1], atan2(height, x), p->v0[1], (x * vy - height * vx) / (c->L * c->L)};
  reference_ode(reduced_rhs, c, 4, p->t0, t, 0.01, y);
  motion m = motion_at(c, t, y);
  reference_put(q, m.q, 4);
  reference_put(v, m.v, 4);
  reference_put(vdot, m.vdot, 4);
  reference_put(lambda, m.lambda, 2);
}

const test_problem *problem_car_axis(void) {
  static car_axis parameters = {.k = 5e-4, .L = 1.0, .L0 = 0.5, .r = 0.1, .w = 10.0, .g = 1.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 4}};
  static const double q0[] = {0.0, 0.5, 1.0, 0.5};
  static const double v0[] = {-0.5, 0.0, -0.5, 0.0};
  static test_problem problem = {
      .name = "car_axis",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 2,
              .mass_constant = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_ZERO},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 0.1,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 3.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
