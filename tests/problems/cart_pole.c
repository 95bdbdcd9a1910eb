/// An inverted pendulum on a cart, held upright by a controller that sees positions only.
///
/// q = (cart, bob), each in the plane; the cart on its rail, the bob on a rod:
///
///     m_c cart'' = (u, -m_c g) + constraint forces,   m_b bob'' = (0, -m_b g) + constraint forces
///     0 = cart_y,   0 = (|bob - cart|^2 - l^2) / 2
///
/// x estimates (s, s', angle, angle'), s the cart's place, the angle from upright; y = (u, measured
/// angle):
///
///     x' = A x + b y1 + L (s - x1, y2 - x3),   y1 = -K x,   y2 = atan2(bob_x - s, bob_y - cart_y)
///
/// with A and b of the motion linearized about upright, K the LQR gain for weights
/// diag(10, 1, 10, 1) and 1, L likewise for diag(1, 100, 1, 400) and 0.1, rounded.
///
/// Reference: (s, s', angle, angle', x), with
///     (m_c + m_b) s'' + m_b l cos(angle) angle'' = u + m_b l sin(angle) angle'^2
///     cos(angle) s'' + l angle'' = g sin(angle)
#include <math.h>

#include "problems/mechatronic.h"
#include "problems/reference_ode.h"

typedef struct cart_pole {
  double mc, mb; ///< cart and bob [kg]
  double l;      ///< [m]
  double g;      ///< [m/s^2]
  double K[4];
  double L[4][2];
} cart_pole;

/// A and b.
static void linear_model(const cart_pole *c, double A[4][4], double b[4]) {
  for (int i = 0; i < 4; i++) {
    b[i] = 0.0;
    for (int j = 0; j < 4; j++) {
      A[i][j] = 0.0;
    }
  }
  A[0][1] = A[2][3] = 1.0;
  A[1][2] = -c->mb * c->g / c->mc;
  A[3][2] = (c->mc + c->mb) * c->g / (c->mc * c->l);
  b[1] = 1.0 / c->mc;
  b[3] = -1.0 / (c->mc * c->l);
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const cart_pole *c = user;
  for (int i = 0; i < 4; i++) {
    as_matrix_add(m, i, i, i < 2 ? c->mc : c->mb);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const cart_pole *c = user;
  out[0] = at->y[0];
  out[1] = -c->mc * c->g;
  out[2] = 0.0;
  out[3] = -c->mb * c->g;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const cart_pole *c = user;
  const double *q = at->q, dx = q[2] - q[0], dy = q[3] - q[1];
  out[0] = q[1];
  out[1] = 0.5 * (dx * dx + dy * dy - c->l * c->l);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  const double *q = at->q, *v = at->v;
  out[0] = v[1];
  out[1] = (q[2] - q[0]) * (v[2] - v[0]) + (q[3] - q[1]) * (v[3] - v[1]);
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  const double *v = at->v, dx = v[2] - v[0], dy = v[3] - v[1];
  out[0] = 0.0;
  out[1] = dx * dx + dy * dy;
  return AS_DONE;
}

/// x' for given measurements.
static void observer(const cart_pole *c, const double *x, double u, double s, double angle,
                     double *out) {
  double A[4][4], b[4];
  linear_model(c, A, b);
  for (int i = 0; i < 4; i++) {
    out[i] = b[i] * u + c->L[i][0] * (s - x[0]) + c->L[i][1] * (angle - x[2]);
    for (int j = 0; j < 4; j++) {
      out[i] += A[i][j] * x[j];
    }
  }
}

static int state_rate(const as_point *at, double *out, void *user) {
  observer(user, at->x, at->y[0], at->q[0], at->y[1], out);
  return AS_DONE;
}

static double gain(const cart_pole *c, const double *x) {
  return -(c->K[0] * x[0] + c->K[1] * x[1] + c->K[2] * x[2] + c->K[3] * x[3]);
}

static int output(const as_point *at, double *out, void *user) {
  out[0] = gain(user, at->x);
  out[1] = atan2(at->q[2] - at->q[0], at->q[3] - at->q[1]);
  return AS_DONE;
}

/// Row `row` of the derivative of a function of bob - cart, whose own derivative is d.
static void add_relative(as_matrix *m, int row, const double *d) {
  for (int i = 0; i < 2; i++) {
    as_matrix_add(m, row, i, -d[i]);
    as_matrix_add(m, row, 2 + i, d[i]);
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const cart_pole *c = user;
  const double d[2] = {at->q[2] - at->q[0], at->q[3] - at->q[1]};
  double A[4][4], b[4];
  linear_model(c, A, b);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) { // -lambda (D_q d)^T (D_q d)
    for (int i = 0; i < 4; i++) {
      as_matrix_add(&blocks[AS_BLOCK_F_Q], i, i, -at->lambda[1]);
      as_matrix_add(&blocks[AS_BLOCK_F_Q], i, (i + 2) % 4, at->lambda[1]);
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Y)) as_matrix_add(&blocks[AS_BLOCK_F_Y], 0, 0, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, 1.0);
    add_relative(&blocks[AS_BLOCK_G_Q], 1, d);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    add_relative(&blocks[AS_BLOCK_GDOT_Q], 1, (double[]){at->v[2] - at->v[0], at->v[3] - at->v[1]});
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_Q)) { // of atan2(d_x, d_y)
    const double r2 = d[0] * d[0] + d[1] * d[1];
    add_relative(&blocks[AS_BLOCK_CHI_Q], 1, (double[]){d[1] / r2, -d[0] / r2});
  }
  for (int i = 0; i < 4; i++) {
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_Q))
      as_matrix_add(&blocks[AS_BLOCK_PHI_Q], i, 0, c->L[i][0]);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_Y)) {
      as_matrix_add(&blocks[AS_BLOCK_PHI_Y], i, 0, b[i]);
      as_matrix_add(&blocks[AS_BLOCK_PHI_Y], i, 1, c->L[i][1]);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_X))
      as_matrix_add(&blocks[AS_BLOCK_CHI_X], 0, i, -c->K[i]);
    for (int j = 0; j < 4 && (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_X)); j++) {
      const double measured = j == 0 ? c->L[i][0] : j == 2 ? c->L[i][1] : 0.0;
      as_matrix_add(&blocks[AS_BLOCK_PHI_X], i, j, A[i][j] - measured);
    }
  }
  return AS_DONE;
}

/// z = (s, s', angle, angle', x)
static void rhs(double t, const double *z, double *dz, const void *context) {
  (void)t;
  const cart_pole *c = context;
  const double u = gain(c, z + 4), sine = sin(z[2]), cosine = cos(z[2]);
  double matrix[4] = {c->mc + c->mb, c->mb * c->l * cosine, cosine, c->l};
  double b[2] = {u + c->mb * c->l * sine * z[3] * z[3], c->g * sine};
  reference_solve(2, matrix, b);
  dz[0] = z[1];
  dz[1] = b[0];
  dz[2] = z[3];
  dz[3] = b[1];
  observer(c, z + 4, u, z[0], z[2], dz + 4);
}

static void exact(const mechatronic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *x, double *y) {
  const cart_pole *c = p->def.user;
  const double *q0 = p->q0, *v0 = p->v0, *x0 = p->x0;
  const double dx = q0[2] - q0[0], dy = q0[3] - q0[1];
  double z[8] = {
      q0[0], v0[0], atan2(dx, dy), (dy * (v0[2] - v0[0]) - dx * (v0[3] - v0[1])) / (c->l * c->l),
      x0[0], x0[1], x0[2],         x0[3]};
  double dz[8];
  reference_ode(rhs, c, 8, p->t0, t, 0.02, z);
  rhs(t, z, dz, c);
  const double w = z[3], sine = c->l * sin(z[2]), cosine = c->l * cos(z[2]);
  const double ax = dz[1] + cosine * dz[3] - sine * w * w, ay = -sine * dz[3] - cosine * w * w;
  // m_b bob'' = (0, -m_b g) - lambda_2 (bob - cart)
  const double rod = -c->mb * (ax * sine + (ay + c->g) * cosine) / (c->l * c->l);
  reference_put(q, (double[]){z[0], 0.0, z[0] + sine, cosine}, 4);
  reference_put(v, (double[]){z[1], 0.0, z[1] + cosine * w, -sine * w}, 4);
  reference_put(vdot, (double[]){dz[1], 0.0, ax, ay}, 4);
  reference_put(lambda, (double[]){rod * cosine - c->mc * c->g, rod}, 2);
  reference_put(x, z + 4, 4);
  reference_put(y, (double[]){gain(c, z + 4), z[2]}, 2);
}

const mechatronic_problem *mechatronic_cart_pole(void) {
  static cart_pole parameters = {
      .mc = 1.0,
      .mb = 0.2,
      .l = 0.5,
      .g = 9.81,
      .K = {-3.16228, -4.30243, -38.9331, -8.36426},
      .L = {{8.56402, -0.12585}, {31.67916, -2.49138}, {-0.12585, 13.85792}, {-0.33044, 91.02889}}};
  static const as_space_part space[] = {{AS_SPACE_RN, 4}};
  // The rod leans by asin(0.28); the observer starts from zero.
  static const double q0[] = {0.1, 0.0, 0.24, 0.48}, v0[] = {0.2, 0.0, 0.2, 0.0};
  static const double x0[] = {0.0, 0.0, 0.0, 0.0};
  static mechatronic_problem problem = {
      .name = "cart_pole",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 2,
              .n_x = 4,
              .n_y = 2,
              .mass_constant = true,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .state_rate = state_rate,
              .output = output,
              .jacobian = jacobian,
              .block = {MECHATRONIC_GIVEN(F_Q), MECHATRONIC_ZERO(F_V), MECHATRONIC_ZERO(F_X),
                        MECHATRONIC_GIVEN(F_Y), MECHATRONIC_GIVEN(G_Q), MECHATRONIC_GIVEN(GDOT_Q),
                        MECHATRONIC_GIVEN(PHI_Q), MECHATRONIC_ZERO(PHI_V),
                        MECHATRONIC_ZERO(PHI_VDOT), MECHATRONIC_ZERO(PHI_LAMBDA),
                        MECHATRONIC_GIVEN(PHI_X), MECHATRONIC_GIVEN(PHI_Y),
                        MECHATRONIC_GIVEN(CHI_Q), MECHATRONIC_ZERO(CHI_V),
                        MECHATRONIC_ZERO(CHI_VDOT), MECHATRONIC_ZERO(CHI_LAMBDA),
                        MECHATRONIC_GIVEN(CHI_X), MECHATRONIC_ZERO(CHI_Y)},
              .time_scale = 0.2,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 2.0,
      .steps = 400,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
