/// A slider-crank with a spring and damper between the middles of its parts (the example
/// idaSlCrank_dns of SUNDIALS): q = (crank angle, slider position x, rod angle p).
///
///     diag(J1, m2, J2) q'' = Q - B^T lambda
///     0 = x - cos(p) - a cos(q),    0 = -sin(p) - a sin(q)
///
/// The spring's length is l = sqrt(L), with
///
///     L = x^2 - x (cos(p) + a cos(q)) + (1 + a^2)/4 + a/2 cos(p - q)
///     Q = -s L_q + (0, F, -F sin(p)),    s = [k (l - l0) + c l'] / (2 l),    l' = L_q v / (2 l)
///
/// Reference in the crank angle: sin(p) = -a sin(q), x = cos(p) + a cos(q), and with the columns
/// W = d(q, x, p)/dq, (W^T M W) q'' = W^T (Q - M W' q').
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct slider_crank {
  double a;    ///< crank length [m]; the rod has length 1
  double M[3]; ///< J1 [kg m^2], m2 [kg], J2 [kg m^2]
  double k;    ///< [N/m]
  double c;    ///< [N s/m]
  double l0;   ///< [m]
  double F;    ///< [N]
} slider_crank;

/// The spring: L, its gradient and its Hessian.
typedef struct spring {
  double L;
  double gradient[3];
  double hessian[3][3];
} spring;

static spring spring_at(const slider_crank *c, const double *q) {
  double a = c->a, x = q[1];
  double s1 = sin(q[0]), c1 = cos(q[0]), s2 = sin(q[2]), c2 = cos(q[2]);
  double s21 = sin(q[2] - q[0]), c21 = cos(q[2] - q[0]);
  return (spring){
      .L = x * x - x * (c2 + a * c1) + 0.25 * (1.0 + a * a) + 0.5 * a * c21,
      .gradient = {a * (x * s1 + 0.5 * s21), 2.0 * x - c2 - a * c1, x * s2 - 0.5 * a * s21},
      .hessian = {{a * (x * c1 - 0.5 * c21), a * s1, 0.5 * a * c21},
                  {a * s1, 2.0, s2},
                  {0.5 * a * c21, s2, x * c2 - 0.5 * a * c21}},
  };
}

/// s = [k (l - l0) + c l'] / (2 l)
static double spring_factor(const slider_crank *c, const spring *e, const double *v) {
  double rate = e->gradient[0] * v[0] + e->gradient[1] * v[1] + e->gradient[2] * v[2];
  return 0.5 * c->k * (1.0 - c->l0 / sqrt(e->L)) + 0.25 * c->c * rate / e->L;
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const slider_crank *c = user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, c->M[i]);
  }
  return AS_DONE;
}

static void applied_force(const slider_crank *c, const double *q, const double *v, double *out) {
  spring e = spring_at(c, q);
  double s = spring_factor(c, &e, v);
  out[0] = -s * e.gradient[0];
  out[1] = -s * e.gradient[1] + c->F;
  out[2] = -s * e.gradient[2] - c->F * sin(q[2]);
}

static int force(const as_point *at, double *out, void *user) {
  applied_force(user, at->q, at->v, out);
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const slider_crank *c = user;
  const double *q = at->q;
  out[0] = q[1] - cos(q[2]) - c->a * cos(q[0]);
  out[1] = -sin(q[2]) - c->a * sin(q[0]);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const slider_crank *c = user;
  const double *q = at->q, *v = at->v;
  out[0] = v[1] + sin(q[2]) * v[2] + c->a * sin(q[0]) * v[0];
  out[1] = -cos(q[2]) * v[2] - c->a * cos(q[0]) * v[0];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const slider_crank *c = user;
  const double *q = at->q, *v = at->v;
  out[0] = cos(q[2]) * v[2] * v[2] + c->a * cos(q[0]) * v[0] * v[0];
  out[1] = sin(q[2]) * v[2] * v[2] + c->a * sin(q[0]) * v[0] * v[0];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const slider_crank *c = user;
  const double *q = at->q, *v = at->v;
  double a_sin = c->a * sin(q[0]), a_cos = c->a * cos(q[0]);
  double s2 = sin(q[2]), c2 = cos(q[2]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_F_Q];
    const double *lambda = at->lambda;
    spring e = spring_at(c, q);
    double s = spring_factor(c, &e, v);
    double rate = e.gradient[0] * v[0] + e.gradient[1] * v[1] + e.gradient[2] * v[2];
    for (int j = 0; j < 3; j++) {
      double bend = e.hessian[j][0] * v[0] + e.hessian[j][1] * v[1] + e.hessian[j][2] * v[2];
      double s_j = 0.25 * c->k * c->l0 * e.gradient[j] / (e.L * sqrt(e.L)) +
                   0.25 * c->c * (bend - rate * e.gradient[j] / e.L) / e.L;
      for (int i = 0; i < 3; i++) {
        as_matrix_add(b, i, j, -e.gradient[i] * s_j - s * e.hessian[i][j]);
      }
    }
    as_matrix_add(b, 2, 2, -c->F * c2);
    as_matrix_add(b, 0, 0, -a_cos * lambda[0] - a_sin * lambda[1]);
    as_matrix_add(b, 2, 2, -c2 * lambda[0] - s2 * lambda[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    spring e = spring_at(c, q);
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 3; i++) {
        as_matrix_add(&blocks[AS_BLOCK_F_V], i, j,
                      -0.25 * c->c * e.gradient[i] * e.gradient[j] / e.L);
      }
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_G_Q];
    as_matrix_add(b, 0, 0, a_sin);
    as_matrix_add(b, 0, 1, 1.0);
    as_matrix_add(b, 0, 2, s2);
    as_matrix_add(b, 1, 0, -a_cos);
    as_matrix_add(b, 1, 2, -c2);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix *b = &blocks[AS_BLOCK_GDOT_Q];
    as_matrix_add(b, 0, 0, a_cos * v[0]);
    as_matrix_add(b, 0, 2, c2 * v[2]);
    as_matrix_add(b, 1, 0, a_sin * v[0]);
    as_matrix_add(b, 1, 2, s2 * v[2]);
  }
  return AS_DONE;
}

/// Everything from the crank angle and its rate.
static void expand(const slider_crank *c, double angle, double rate, double *q, double *v,
                   double *vdot, double *Q) {
  double s1 = sin(angle), c1 = cos(angle);
  double s2 = -c->a * s1, c2 = sqrt(1.0 - s2 * s2);
  // p' cos(p) = -a cos(q) q', and once more; x' = -sin(p) p' - a sin(q) q', and once more.
  double p_q = -c->a * c1 / c2;
  double p_qq = (c->a * s1 + s2 * p_q * p_q) / c2;
  double x_q = -s2 * p_q - c->a * s1;
  double x_qq = -s2 * p_qq - c2 * p_q * p_q - c->a * c1;
  const double W[3] = {1.0, x_q, p_q}, bias[3] = {0.0, x_qq * rate * rate, p_qq * rate * rate};
  q[0] = angle;
  q[1] = c2 + c->a * c1;
  q[2] = asin(s2);
  for (int i = 0; i < 3; i++) {
    v[i] = W[i] * rate;
  }
  applied_force(c, q, v, Q);
  double inertia = 0.0, torque = 0.0;
  for (int i = 0; i < 3; i++) {
    inertia += W[i] * c->M[i] * W[i];
    torque += W[i] * (Q[i] - c->M[i] * bias[i]);
  }
  for (int i = 0; i < 3; i++) {
    vdot[i] = W[i] * torque / inertia + bias[i];
  }
}

/// y = (crank angle, its rate)
static void crank_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  double q[3], v[3], vdot[3], Q[3];
  expand(context, y[0], y[1], q, v, vdot, Q);
  dy[0] = y[1];
  dy[1] = vdot[0];
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const slider_crank *c = p->def.user;
  double y[2] = {p->q0[0], p->v0[0]};
  double q1[3], v1[3], a1[3], Q[3];
  reference_ode(crank_rhs, c, 2, p->t0, t, 0.05, y);
  expand(c, y[0], y[1], q1, v1, a1, Q);
  // The rows of x and p: Q - M a = lambda1, sin(p) lambda1 - cos(p) lambda2.
  double l0 = Q[1] - c->M[1] * a1[1];
  double l1 = (sin(q1[2]) * l0 - (Q[2] - c->M[2] * a1[2])) / cos(q1[2]);
  reference_put(q, q1, 3);
  reference_put(v, v1, 3);
  reference_put(vdot, a1, 3);
  reference_put(lambda, (double[]){l0, l1}, 2);
}

const test_problem *problem_slider_crank(void) {
  static slider_crank parameters = {
      .a = 0.5, .M = {1.0, 1.0, 2.0}, .k = 1.0, .c = 1.0, .l0 = 1.0, .F = 1.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 3}};
  static const double q0[] = {1.5707963267948966, 0.8660254037844386, -0.5235987755982989};
  static const double v0[] = {0.0, 0.0, 0.0};
  static test_problem problem = {
      .name = "slider_crank",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 2,
              .mass_constant = true,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 1.0,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 10.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
