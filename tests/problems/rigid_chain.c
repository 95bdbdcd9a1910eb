/// Rigid bodies in a chain of spherical joints: the heavy top (one body) and two bodies, each on
/// R^3xSO(3) and on SE(3).
///
/// Body i has its centre of mass at x, rotation R, and, seen from there in its own frame, the joint
/// to the body (or the ground) before it at `inner` and to the one after it at `outer`:
///
///     0 = g_i = (x + R outer)_{i-1} - (x + R inner)_i       ground for i = 0
///
/// For the heavy top, ground = 0 and inner = -X: 0 = -x + R X, [ABC] section 5. With p = R^T lambda
/// the point x + R a has the Jacobian (I, -R a~) on R^3xSO(3) and (R, -R a~) on SE(3), and
///
///     R^3xSO(3)   m x'' = m gravity -+ lambda                         J W' = -W x J W -+ a~ p
///     SE(3)       m u'  = m R^T gravity - m W x u -+ p, x' = R u      likewise
///
/// (- for outer, + for inner). Derivatives along R exp(w~): D(R a) = -R a~ w, D(R^T l) = p~ w.
///
/// Reference: the bodies' rotations alone. x_i = ground + sum_j R_j c_ij with c_ii = -inner_i and
/// c_ij = outer_j - inner_j for j < i; d'Alembert's principle with D x_i = -sum_k R_k c_ik~ w_k:
///
///     J_k W_k' + W_k x J_k W_k + sum_i m_i c_ik~ R_k^T (x_i'' - gravity) = 0
///     x_i'' = sum_j R_j (-c_ij~ W_j' + W_j x (W_j x c_ij))
///
/// The joint forces are then lambda_i = m_i (x_i'' - gravity) + lambda_{i+1}.
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

enum { MAX_BODIES = 2 };

typedef struct body {
  double m;        ///< [kg]
  double J[9];     ///< about the centre of mass, body frame [kg m^2]
  double inner[3]; ///< joint to the body before, body frame [m]
  double outer[3]; ///< joint to the body after, body frame [m]
} body;

typedef struct chain {
  int n;
  bool se3;
  double gravity[3];     ///< [m/s^2]
  double ground[3];      ///< [m]
  double reference_step; ///< [s]
  body bodies[MAX_BODIES];
} chain;

static const double *q_of(const double *q, int i) { return q + 7 * i; }

static const double *v_of(const double *v, int i) { return v + 6 * i; }

static void rotation_of(const double *q, int i, double *R) {
  mat_from_quaternion(q_of(q, i) + 3, R);
}

// The joints' points.

/// x + R a
static void point(const double *q, int i, const double *a, double *out) {
  double R[9];
  rotation_of(q, i, R);
  mat_vec(R, a, out);
  for (int k = 0; k < 3; k++) {
    out[k] += q_of(q, i)[k];
  }
}

/// W x a, and on SE(3) u + W x a: what R turns into the point's velocity (less x' on R^3xSO(3)).
static void body_rate(const chain *c, const double *v, int i, const double *a, double *out) {
  vec_cross(v_of(v, i) + 3, a, out);
  for (int k = 0; c->se3 && k < 3; k++) {
    out[k] += v_of(v, i)[k];
  }
}

static void point_rate(const chain *c, const double *q, const double *v, int i, const double *a,
                       double *out) {
  double R[9], rate[3];
  rotation_of(q, i, R);
  body_rate(c, v, i, a, rate);
  mat_vec(R, rate, out);
  for (int k = 0; !c->se3 && k < 3; k++) {
    out[k] += v_of(v, i)[k];
  }
}

/// The point's acceleration at v' = 0.
static void point_acceleration(const chain *c, const double *q, const double *v, int i,
                               const double *a, double *out) {
  double R[9], rate[3], turned[3];
  rotation_of(q, i, R);
  body_rate(c, v, i, a, rate);
  vec_cross(v_of(v, i) + 3, rate, turned);
  mat_vec(R, turned, out);
}

// Callbacks.

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    for (int k = 0; k < 3; k++) {
      as_matrix_add(m, 6 * i + k, 6 * i + k, c->bodies[i].m);
    }
    as_matrix_add_block(m, 6 * i + 3, 6 * i + 3, 3, 3, c->bodies[i].J);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    double m = c->bodies[i].m, *f = out + 6 * i;
    const double *v = v_of(at->v, i);
    if (c->se3) {
      double R[9], weight[3], turned[3];
      rotation_of(at->q, i, R);
      mat_t_vec(R, c->gravity, weight);
      vec_cross(v + 3, v, turned);
      for (int k = 0; k < 3; k++) {
        f[k] = m * (weight[k] - turned[k]);
      }
    } else {
      for (int k = 0; k < 3; k++) {
        f[k] = m * c->gravity[k];
      }
    }
    gyroscopic_torque(c->bodies[i].J, v + 3, f + 3);
  }
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    double before[3], here[3];
    memcpy(before, c->ground, sizeof before);
    if (i > 0) {
      point(at->q, i - 1, c->bodies[i - 1].outer, before);
    }
    point(at->q, i, c->bodies[i].inner, here);
    for (int k = 0; k < 3; k++) {
      out[3 * i + k] = before[k] - here[k];
    }
  }
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    double before[3] = {0}, here[3];
    if (i > 0) {
      point_rate(c, at->q, at->v, i - 1, c->bodies[i - 1].outer, before);
    }
    point_rate(c, at->q, at->v, i, c->bodies[i].inner, here);
    for (int k = 0; k < 3; k++) {
      out[3 * i + k] = before[k] - here[k];
    }
  }
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    double before[3] = {0}, here[3];
    if (i > 0) {
      point_acceleration(c, at->q, at->v, i - 1, c->bodies[i - 1].outer, before);
    }
    point_acceleration(c, at->q, at->v, i, c->bodies[i].inner, here);
    for (int k = 0; k < 3; k++) {
      out[3 * i + k] = before[k] - here[k];
    }
  }
  return AS_DONE;
}

/// Adds what the point at `a` of body i brings to joint j, where it counts with the sign s.
static void add_point(const chain *c, const as_point *at, as_block_set wanted, as_matrix *blocks,
                      int j, int i, const double *a, double s) {
  double R[9], skew[9], product[9];
  rotation_of(at->q, i, R);
  int row = 3 * j, col = 6 * i;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) { // s (I or R, -R a~)
    as_matrix *b = &blocks[AS_BLOCK_G_Q];
    for (int k = 0; k < 3; k++) {
      for (int l = 0; l < 3; l++) {
        as_matrix_add(b, row + k, col + l, s * (c->se3 ? R[3 * k + l] : (double)(k == l)));
      }
    }
    mat_skew(1.0, a, skew);
    mat_mat(-s, R, skew, product);
    as_matrix_add_block(b, row, col + 3, 3, 3, product);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) { // -s R rate~
    double rate[3];
    body_rate(c, at->v, i, a, rate);
    mat_skew(1.0, rate, skew);
    mat_mat(-s, R, skew, product);
    as_matrix_add_block(&blocks[AS_BLOCK_GDOT_Q], row, col + 3, 3, 3, product);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) { // of -s (lambda or p, a~ p): -s (0 or p~, a~ p~)
    as_matrix *b = &blocks[AS_BLOCK_F_Q];
    double p[3], lever[9];
    mat_t_vec(R, at->lambda + 3 * j, p);
    mat_skew(-s, p, skew);
    if (c->se3) {
      as_matrix_add_block(b, col, col + 3, 3, 3, skew);
    }
    mat_skew(1.0, a, lever);
    mat_mat(1.0, lever, skew, product);
    as_matrix_add_block(b, col + 3, col + 3, 3, 3, product);
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const chain *c = user;
  for (int i = 0; i < c->n; i++) {
    const body *b = &c->bodies[i];
    int col = 6 * i;
    double x[9];
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
      gyroscopic_tangent(b->J, v_of(at->v, i) + 3, x);
      as_matrix_add_block(&blocks[AS_BLOCK_F_V], col + 3, col + 3, 3, 3, x);
      if (c->se3) { // of -m W x u
        mat_skew(-b->m, v_of(at->v, i) + 3, x);
        as_matrix_add_block(&blocks[AS_BLOCK_F_V], col, col, 3, 3, x);
        mat_skew(b->m, v_of(at->v, i), x);
        as_matrix_add_block(&blocks[AS_BLOCK_F_V], col, col + 3, 3, 3, x);
      }
    }
    if ((wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) && c->se3) { // of m R^T gravity
      double R[9], weight[3];
      rotation_of(at->q, i, R);
      mat_t_vec(R, c->gravity, weight);
      mat_skew(b->m, weight, x);
      as_matrix_add_block(&blocks[AS_BLOCK_F_Q], col, col + 3, 3, 3, x);
    }
    add_point(c, at, wanted, blocks, i, i, b->inner, -1.0);
    if (i > 0) {
      add_point(c, at, wanted, blocks, i, i - 1, c->bodies[i - 1].outer, 1.0);
    }
  }
  return AS_DONE;
}

// Reference: y = (quaternion, W) of each body.

static const double *arm(const chain *c, int i, int j, double *out) {
  const body *b = &c->bodies[j];
  for (int k = 0; k < 3; k++) {
    out[k] = (j < i ? b->outer[k] : 0.0) - b->inner[k];
  }
  return out;
}

/// W' of all bodies from their rotations and W.
static void angular_accelerations(const chain *c, const double *y, double *alpha) {
  int n = c->n, n3 = 3 * n;
  double R[MAX_BODIES][9], A[9 * MAX_BODIES * MAX_BODIES] = {0};
  for (int k = 0; k < n; k++) {
    mat_from_quaternion(y + 7 * k, R[k]);
  }
  for (int k = 0; k < n; k++) {
    double *rhs = alpha + 3 * k;
    gyroscopic_torque(c->bodies[k].J, y + 7 * k + 4, rhs);
    for (int a = 0; a < 9; a++) {
      A[(3 * k + a / 3) * n3 + 3 * k + a % 3] += c->bodies[k].J[a];
    }
    for (int i = k; i < n; i++) { // bodies that move with rotation k
      double m = c->bodies[i].m, c_ik[3], left[9], world[3];
      mat_skew(m, arm(c, i, k, c_ik), left); // m c_ik~
      for (int a = 0; a < 3; a++) {
        world[a] = -c->gravity[a];
      }
      for (int j = 0; j <= i; j++) { // rotations that move body i
        double c_ij[3], skew[9], turn[9], first[9], block[9], spin[3], turned[3];
        const double *omega = y + 7 * j + 4;
        mat_skew(1.0, arm(c, i, j, c_ij), skew);
        mat_t_mat(R[k], R[j], turn);
        mat_mat(1.0, left, turn, first);
        mat_mat(-1.0, first, skew, block); // -m c_ik~ R_k^T R_j c_ij~
        for (int a = 0; a < 9; a++) {
          A[(3 * k + a / 3) * n3 + 3 * j + a % 3] += block[a];
        }
        vec_cross(omega, c_ij, spin);
        vec_cross(omega, spin, spin);
        mat_vec(R[j], spin, turned);
        for (int a = 0; a < 3; a++) {
          world[a] += turned[a];
        }
      }
      double own[3], torque[3];
      mat_t_vec(R[k], world, own);
      mat_vec(left, own, torque);
      for (int a = 0; a < 3; a++) {
        rhs[a] -= torque[a];
      }
    }
  }
  reference_solve(n3, A, alpha);
}

static void rotations_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const chain *c = context;
  double alpha[3 * MAX_BODIES];
  angular_accelerations(c, y, alpha);
  for (int k = 0; k < c->n; k++) {
    quaternion_rate(y + 7 * k, y + 7 * k + 4, dy + 7 * k);
    memcpy(dy + 7 * k + 4, alpha + 3 * k, 3 * sizeof *dy);
  }
}

/// a += b
static void add_to(double *a, const double *b) {
  for (int k = 0; k < 3; k++) {
    a[k] += b[k];
  }
}

/// The centre of mass of body i and its first and second derivatives.
static void centre(const chain *c, int i, const double *y, const double *alpha, double *x,
                   double *rate, double *second) {
  for (int k = 0; k < 3; k++) {
    x[k] = c->ground[k];
    rate[k] = second[k] = 0.0;
  }
  for (int j = 0; j <= i; j++) {
    const double *omega = y + 7 * j + 4;
    double R[9], c_ij[3], spin[3], bend[3], turned[3];
    mat_from_quaternion(y + 7 * j, R);
    mat_vec(R, arm(c, i, j, c_ij), turned);
    add_to(x, turned);
    vec_cross(omega, c_ij, spin); // W x c
    mat_vec(R, spin, turned);
    add_to(rate, turned);
    vec_cross(omega, spin, spin); // W x (W x c) + W' x c
    vec_cross(alpha + 3 * j, c_ij, bend);
    add_to(spin, bend);
    mat_vec(R, spin, turned);
    add_to(second, turned);
  }
}

/// u = R^T x' and u' = R^T x'' - W x u, in place of x' and x''.
static void into_body(const double *quaternion, const double *omega, double *rate, double *second) {
  double R[9], u[3], udot[3], turned[3];
  mat_from_quaternion(quaternion, R);
  mat_t_vec(R, rate, u);
  mat_t_vec(R, second, udot);
  vec_cross(omega, u, turned);
  for (int k = 0; k < 3; k++) {
    rate[k] = u[k];
    second[k] = udot[k] - turned[k];
  }
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const chain *c = p->def.user;
  int n = c->n;
  double y[7 * MAX_BODIES] = {0}, alpha[3 * MAX_BODIES];
  for (int i = 0; i < n; i++) {
    memcpy(y + 7 * i, q_of(p->q0, i) + 3, 4 * sizeof *y);
    memcpy(y + 7 * i + 4, v_of(p->v0, i) + 3, 3 * sizeof *y);
  }
  reference_ode(rotations_rhs, c, 7 * n, p->t0, t, c->reference_step, y);
  for (int i = 0; i < n; i++) {
    double *r = y + 7 * i;
    double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    for (int k = 0; k < 4; k++) {
      r[k] /= length;
    }
  }
  angular_accelerations(c, y, alpha);

  double q1[7 * MAX_BODIES], v1[6 * MAX_BODIES], a1[6 * MAX_BODIES], l1[3 * MAX_BODIES];
  double pull[3] = {0}; // lambda of the joint after body i
  for (int i = n - 1; i >= 0; i--) {
    const double *quaternion = y + 7 * i, *omega = y + 7 * i + 4;
    double *rate = v1 + 6 * i, *second = a1 + 6 * i;
    centre(c, i, y, alpha, q1 + 7 * i, rate, second);
    for (int k = 0; k < 3; k++) {
      pull[k] += c->bodies[i].m * (second[k] - c->gravity[k]);
    }
    memcpy(l1 + 3 * i, pull, sizeof pull);
    if (c->se3) {
      into_body(quaternion, omega, rate, second);
    }
    memcpy(q1 + 7 * i + 3, quaternion, 4 * sizeof *y);
    memcpy(v1 + 6 * i + 3, omega, 3 * sizeof *y);
    memcpy(a1 + 6 * i + 3, alpha + 3 * i, 3 * sizeof *alpha);
  }
  reference_put(q, q1, 7 * n);
  reference_put(v, v1, 6 * n);
  reference_put(vdot, a1, 6 * n);
  reference_put(lambda, l1, 3 * n);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const chain *c = p->def.user;
  double sum = 0.0;
  for (int i = 0; i < c->n; i++) {
    const body *b = &c->bodies[i];
    const double *vi = v_of(v, i);
    double momentum[3];
    mat_vec(b->J, vi + 3, momentum);
    sum += 0.5 * b->m * vec_dot(vi, vi) + 0.5 * vec_dot(vi + 3, momentum);
    sum -= b->m * vec_dot(c->gravity, q_of(q, i));
  }
  return sum;
}

// Instances.

#define CHAIN_DEF(parameters, space, n_bodies, scale)                                              \
  .def =                                                                                           \
      {                                                                                            \
          .parts = (space),                                                                        \
          .n_parts = 1,                                                                            \
          .n_lambda = 3 * (n_bodies),                                                              \
          .mass_constant = true,                                                                   \
          .scleronomic = true,                                                                     \
          .mass = mass,                                                                            \
          .force = force,                                                                          \
          .constraint = constraint,                                                                \
          .constraint_rate = constraint_rate,                                                      \
          .constraint_acceleration = constraint_acceleration,                                      \
          .jacobian = jacobian,                                                                    \
          .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},                               \
          .time_scale = (scale),                                                                   \
          .user = &(parameters),                                                                   \
  },                                                                                               \
  .t0 = 0.0, .exact = exact, .energy = energy

#define HEAVY_TOP                                                                                  \
  .n = 1, .gravity = {0.0, 0.0, -9.81},                                                            \
  .bodies = {{.m = 15.0,                                                                           \
              .J = {0.234375, 0.0, 0.0, 0.0, 0.46875, 0.0, 0.0, 0.0, 0.234375},                    \
              .inner = {0.0, -1.0, 0.0}}}

#define TWO_BODIES                                                                                 \
  .n = 2, .gravity = {0.0, 0.0, -9.81}, .ground = {0.1, -0.2, 0.3}, .reference_step = 0.02,        \
  .bodies = {                                                                                      \
      {.m = 3.0,                                                                                   \
       .J = {0.3, 0.02, -0.04, 0.02, 0.5, 0.03, -0.04, 0.03, 0.42},                                \
       .inner = {0.2, -0.3, 0.4},                                                                  \
       .outer = {-0.25, 0.35, 0.15}},                                                              \
      {.m = 1.7,                                                                                   \
       .J = {0.12, -0.01, 0.015, -0.01, 0.2, 0.02, 0.015, 0.02, 0.16},                             \
       .inner = {0.3, 0.2, -0.1}},                                                                 \
  }

static const as_space_part r3so3[] = {{AS_SPACE_R3SO3, 1}};
static const as_space_part se3[] = {{AS_SPACE_SE3, 1}};
static const as_space_part r3so3_twice[] = {{AS_SPACE_R3SO3, 2}};
static const as_space_part se3_twice[] = {{AS_SPACE_SE3, 2}};

// Upright along y, at x = X; x' = W x X is the same in both frames.
static const double top_q0[] = {0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0};
static const double slow_v0[] = {0.0461538, 0.0, 0.0, 0.0, 1.5, -0.0461538};
static const double fast_v0[] = {4.61538, 0.0, 0.0, 0.0, 150.0, -4.61538};

const test_problem *problem_heavy_top_slow(void) {
  static chain parameters = {HEAVY_TOP, .reference_step = 0.02};
  static test_problem problem = {.name = "heavy_top_slow",
                                 CHAIN_DEF(parameters, r3so3, 1, 1.0),
                                 .t_end = 2.0,
                                 .q0 = top_q0,
                                 .v0 = slow_v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_heavy_top_fast(void) {
  static chain parameters = {HEAVY_TOP, .reference_step = 0.005};
  static test_problem problem = {.name = "heavy_top_fast",
                                 CHAIN_DEF(parameters, r3so3, 1, 0.01),
                                 .t_end = 1.0,
                                 .q0 = top_q0,
                                 .v0 = fast_v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_heavy_top_slow_se3(void) {
  static chain parameters = {HEAVY_TOP, .reference_step = 0.02, .se3 = true};
  static test_problem problem = {.name = "heavy_top_slow_se3",
                                 CHAIN_DEF(parameters, se3, 1, 1.0),
                                 .t_end = 2.0,
                                 .q0 = top_q0,
                                 .v0 = slow_v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_heavy_top_fast_se3(void) {
  static chain parameters = {HEAVY_TOP, .reference_step = 0.005, .se3 = true};
  static test_problem problem = {.name = "heavy_top_fast_se3",
                                 CHAIN_DEF(parameters, se3, 1, 0.01),
                                 .t_end = 1.0,
                                 .q0 = top_q0,
                                 .v0 = fast_v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

static const double two_q0[] = {-0.2,  0.2,   0.1,   0.5, 0.5, -0.5, 0.5, //
                                -0.73, 0.138, 0.166, 0.8, 0.0, 0.36, -0.48};

const test_problem *problem_two_bodies(void) {
  static chain parameters = {TWO_BODIES};
  static const double v0[] = {-0.46,    -0.05,     0.59,     1.5,  -2.0, 0.7, //
                              -0.10144, -1.092136, 0.304648, -0.8, 1.2,  2.5};
  static test_problem problem = {.name = "two_bodies",
                                 CHAIN_DEF(parameters, r3so3_twice, 2, 0.5),
                                 .t_end = 1.0,
                                 .q0 = two_q0,
                                 .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_two_bodies_se3(void) {
  static chain parameters = {TWO_BODIES, .se3 = true};
  static const double v0[] = {0.59,    0.46,      0.05,     1.5,  -2.0, 0.7, //
                              0.63488, -0.772072, 0.544696, -0.8, 1.2,  2.5};
  static test_problem problem = {.name = "two_bodies_se3",
                                 CHAIN_DEF(parameters, se3_twice, 2, 0.5),
                                 .t_end = 1.0,
                                 .q0 = two_q0,
                                 .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
