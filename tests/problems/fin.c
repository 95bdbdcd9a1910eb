/// A rigid body that falls with a fin at the point a, which does not let that point move along the
/// second axis of the body; on R^3xSO(3) and on SE(3). u = R^T x', W in the body, G = R^T e_z.
///
///     0 = k = e2.(u + W x a) = u2 + W3 a1 - W1 a3
///     R^3xSO(3)   m x'' = -m g e_z - R e2 psi           J W' = -W x J W - (a x e2) psi
///     SE(3)       m u'  = -m g G - m W x u - e2 psi     likewise
///
/// On SE(3) k is linear in v alone: k_q = 0. Derivatives along R exp(w~): D(R e2) = -R e2~ w,
/// D u = u~ w (on R^3xSO(3)), D G = G~ w.
///
/// Reference: u2 = W1 a3 - W3 a1 leaves w = (u1, u3, W) free, (u, W) = N w, and
///
///     N^T diag(m, J) N w' = N^T (f0 on SE(3)),    psi = -m g G2 - m (W x u)_2 - m u2'
#include <math.h>
#include <stdbool.h>

#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

typedef struct fin {
  bool se3;
  double m;    ///< [kg]
  double J[9]; ///< about the centre of mass, body frame [kg m^2]
  double a[3]; ///< body frame [m]
  double g;    ///< [m/s^2]
} fin;

/// a x e2
static void lever(const fin *c, double *out) {
  out[0] = -c->a[2];
  out[1] = 0.0;
  out[2] = c->a[0];
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const fin *c = user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, c->m);
  }
  as_matrix_add_block(m, 3, 3, 3, 3, c->J);
  return AS_DONE;
}

/// f0 on SE(3) from G and (u, W).
static void force_in_body(const fin *c, const double *G, const double *v, double *out) {
  double turned[3];
  vec_cross(v + 3, v, turned);
  for (int i = 0; i < 3; i++) {
    out[i] = -c->m * (c->g * G[i] + turned[i]);
  }
  gyroscopic_torque(c->J, v + 3, out + 3);
}

static int force(const as_point *at, double *out, void *user) {
  const fin *c = user;
  double R[9];
  mat_from_quaternion(at->q + 3, R);
  force_in_body(c, R + 6, at->v, out);
  if (!c->se3) {
    out[0] = 0.0;
    out[1] = 0.0;
    out[2] = -c->m * c->g;
  }
  return AS_DONE;
}

/// u
static void velocity_in_body(const fin *c, const as_point *at, double *u) {
  double R[9];
  mat_from_quaternion(at->q + 3, R);
  if (c->se3) {
    reference_put(u, at->v, 3);
  } else {
    mat_t_vec(R, at->v, u);
  }
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  const fin *c = user;
  double u[3], arm[3];
  velocity_in_body(c, at, u);
  lever(c, arm);
  out[0] = u[1] + vec_dot(arm, at->v + 3);
  return AS_DONE;
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  const fin *c = user;
  double u[3], turned[3];
  velocity_in_body(c, at, u);
  vec_cross(u, at->v + 3, turned); // u' at x'' = 0
  out[0] = c->se3 ? 0.0 : turned[1];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const fin *c = user;
  double R[9], x[9];
  mat_from_quaternion(at->q + 3, R);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    double y[9];
    if (c->se3) { // of -m g G
      mat_skew(-c->m * c->g, R + 6, y);
    } else { // of -R e2 psi
      mat_skew(at->psi[0], (double[]){0.0, 1.0, 0.0}, x);
      mat_mat(1.0, R, x, y);
    }
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 0, 3, 3, 3, y);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    gyroscopic_tangent(c->J, at->v + 3, x);
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 3, 3, 3, 3, x);
    if (c->se3) { // of -m W x u
      mat_skew(-c->m, at->v + 3, x);
      as_matrix_add_block(&blocks[AS_BLOCK_F_V], 0, 0, 3, 3, x);
      mat_skew(c->m, at->v, x);
      as_matrix_add_block(&blocks[AS_BLOCK_F_V], 0, 3, 3, 3, x);
    }
  }
  if ((wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) && !c->se3) {
    double u[3];
    velocity_in_body(c, at, u);
    mat_skew(1.0, u, x);
    as_matrix_add_block(&blocks[AS_BLOCK_K_Q], 0, 3, 1, 3, x + 3);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    for (int i = 0; i < 3; i++) {
      as_matrix_add(&blocks[AS_BLOCK_K_V], 0, i, c->se3 ? (double)(i == 1) : R[3 * i + 1]);
    }
    double arm[3];
    lever(c, arm);
    as_matrix_add_block(&blocks[AS_BLOCK_K_V], 0, 3, 1, 3, arm);
  }
  return AS_DONE;
}

// Reference: y = (quaternion, x, w).

/// N, 6 x 5.
static void allowed(const fin *c, double *N) {
  for (int i = 0; i < 30; i++) {
    N[i] = 0.0;
  }
  N[0 * 5 + 0] = 1.0;
  N[2 * 5 + 1] = 1.0;
  N[1 * 5 + 2] = c->a[2];
  N[1 * 5 + 4] = -c->a[0];
  for (int i = 0; i < 3; i++) {
    N[(3 + i) * 5 + 2 + i] = 1.0;
  }
}

/// out = N w
static void expand(const double *N, const double *w, double *out) {
  for (int i = 0; i < 6; i++) {
    out[i] = 0.0;
    for (int j = 0; j < 5; j++) {
      out[i] += N[5 * i + j] * w[j];
    }
  }
}

/// (u, W), its derivative and psi from G and w; wdot has 5 numbers.
static void motion(const fin *c, const double *G, const double *w, double *v, double *wdot,
                   double *vdot, double *psi) {
  double N[30], A[25], MN[30], f[6];
  allowed(c, N);
  expand(N, w, v);
  force_in_body(c, G, v, f);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 5; j++) {
      MN[5 * i + j] = i < 3 ? c->m * N[5 * i + j] : 0.0;
      for (int k = 0; i >= 3 && k < 3; k++) {
        MN[5 * i + j] += c->J[3 * (i - 3) + k] * N[5 * (3 + k) + j];
      }
    }
  }
  for (int i = 0; i < 5; i++) {
    wdot[i] = 0.0;
    for (int k = 0; k < 6; k++) {
      wdot[i] += N[5 * k + i] * f[k];
    }
    for (int j = 0; j < 5; j++) {
      A[5 * i + j] = 0.0;
      for (int k = 0; k < 6; k++) {
        A[5 * i + j] += N[5 * k + i] * MN[5 * k + j];
      }
    }
  }
  reference_solve(5, A, wdot);
  expand(N, wdot, vdot);
  *psi = f[1] - c->m * vdot[1];
}

static void motion_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  double R[9], v[6], vdot[6], psi;
  mat_from_quaternion(y, R);
  motion(context, R + 6, y + 7, v, dy + 7, vdot, &psi);
  quaternion_rate(y, v + 3, dy);
  mat_vec(R, v, dy + 4);
}

static void exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *psi) {
  (void)lambda;
  const fin *c = p->def.user;
  const double *q0 = p->q0, *v0 = p->v0;
  double u[3], R[9], v1[6], a1[6], wdot[5], multiplier;
  velocity_in_body(c, &(as_point){.q = q0, .v = v0}, u);
  double y[12] = {q0[3], q0[4], q0[5], q0[6], q0[0], q0[1], q0[2], u[0], u[2], v0[3], v0[4], v0[5]};
  reference_ode(motion_rhs, c, 12, p->t0, t, 0.02, y);
  double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
  for (int i = 0; i < 4; i++) {
    y[i] /= length;
  }
  mat_from_quaternion(y, R);
  motion(c, R + 6, y + 7, v1, wdot, a1, &multiplier);
  if (!c->se3) { // x' = R u, x'' = R (u' + W x u)
    double turned[3];
    vec_cross(v1 + 3, v1, turned);
    for (int i = 0; i < 3; i++) {
      turned[i] += a1[i];
      u[i] = v1[i];
    }
    mat_vec(R, u, v1);
    mat_vec(R, turned, a1);
  }
  reference_put(q, (double[]){y[4], y[5], y[6], y[0], y[1], y[2], y[3]}, 7);
  reference_put(v, v1, 6);
  reference_put(vdot, a1, 6);
  reference_put(psi, &multiplier, 1);
}

static double energy(const nonholonomic_problem *p, const double *q, const double *v) {
  const fin *c = p->def.user;
  double momentum[3];
  mat_vec(c->J, v + 3, momentum);
  return 0.5 * c->m * vec_dot(v, v) + 0.5 * vec_dot(v + 3, momentum) + c->m * c->g * q[2];
}

// Instances.

#define FIN                                                                                        \
  .m = 2.0, .J = {0.5, 0.05, 0.0, 0.05, 0.7, -0.1, 0.0, -0.1, 0.4}, .a = {-0.5, 0.1, 0.2}, .g = 9.81

#define FIN_DEF(parameters, space, k_q)                                                            \
  .def =                                                                                           \
      {                                                                                            \
          .parts = (space),                                                                        \
          .n_parts = 1,                                                                            \
          .n_psi = 1,                                                                              \
          .mass_constant = true,                                                                   \
          .scleronomic = true,                                                                     \
          .mass = mass,                                                                            \
          .force = force,                                                                          \
          .nonholonomic = nonholonomic,                                                            \
          .nonholonomic_acceleration = nonholonomic_acceleration,                                  \
          .jacobian = jacobian,                                                                    \
          .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_K_Q] = {.source = (k_q)},                                            \
                    [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},                                  \
          .time_scale = 0.2,                                                                       \
          .user = &(parameters),                                                                   \
  },                                                                                               \
  .t0 = 0.0, .t_end = 2.0, .q0 = start_q, .exact = exact, .energy = energy

static const double start_q[] = {0.0, 0.0, 0.0, 0.5, 0.5, -0.5, 0.5};

// W = (1, -2, 1.5), u = (3, 0.95, -0.4): u2 = W1 a3 - W3 a1.

const nonholonomic_problem *nonholonomic_fin(void) {
  static fin parameters = {FIN};
  static const as_space_part space[] = {{AS_SPACE_R3SO3, 1}};
  static const double v0[] = {-0.95, 0.4, 3.0, 1.0, -2.0, 1.5};
  static nonholonomic_problem problem = {
      .name = "fin", FIN_DEF(parameters, space, AS_BLOCK_GIVEN), .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_fin_se3(void) {
  static fin parameters = {FIN, .se3 = true};
  static const as_space_part space[] = {{AS_SPACE_SE3, 1}};
  static const double v0[] = {3.0, 0.95, -0.4, 1.0, -2.0, 1.5};
  static nonholonomic_problem problem = {
      .name = "fin_se3", FIN_DEF(parameters, space, AS_BLOCK_ZERO), .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
