/// A rigid body that rolls on the plane z = 0, in maximal coordinates, on R^3xSO(3) or on SE(3): a
/// disk with a sharp rim, or a ball whose centre of mass is not its middle.
///
/// x is the centre of mass, R the rotation, W the angular velocity in the body, u = R^T x',
/// G = R^T e_z the vertical as the body sees it, c(G) the contact as seen from the centre of mass:
///
///     disk   axis = third of the body     c = -r (G1, G2, 0)/sqrt(G1^2 + G2^2)
///     ball   middle at d                  c = d - r G
///
/// In both cases c moves along the surface, dc.G = 0. The contact's height and the velocity S of
/// the body's point there make one holonomic and two nonholonomic constraints:
///
///     0 = g = x3 + G.c         0 = k = (S1, S2),  S = x' + R (W x c);  S3 = g'
///
/// (-psi1, -psi2, -lambda) is the contact force. With p = R^T (psi1, psi2, lambda):
///
///     R^3xSO(3)   m x'' = -m g e_z - (psi1, psi2, lambda)         J W' = -W x J W - c x p
///     SE(3)       m u'  = -m g G - m W x u - p                    likewise
///
/// Derivatives along R exp(w~): D(R a) = -R a~ w, D G = G~ w, D c = C G~ w, D p = p~ w. With
/// s = W x c (+ u on SE(3)), D S = R (-s~ + W~ C G~) w and, at v' = 0, S' = R W x (s + C (G x W)).
///
/// Reference: rolling leaves the rotation free and nothing else, x' = R (c x W), and so
///
///     J W' - m c x (c x W') = -W x J W + m c x b,    b = W x (c x W) + c' x W + g G
///     -p = m (c x W' + b)
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"
#include "problems/rotation.h"

typedef struct roller {
  bool se3;
  bool ball;
  double m;              ///< [kg]
  double J[9];           ///< about the centre of mass, body frame [kg m^2]
  double r;              ///< [m]
  double middle[3];      ///< d of a ball, body frame [m]
  double g;              ///< [m/s^2]
  double reference_step; ///< [s]
} roller;

/// The body as the callbacks need it.
typedef struct pose {
  double R[9], G[3];
  double c[3], C[9]; ///< the contact and its derivative by G
} pose;

static pose pose_of(const roller *b, const double *quaternion) {
  pose o = {0};
  mat_from_quaternion(quaternion, o.R);
  memcpy(o.G, o.R + 6, sizeof o.G);
  double n = hypot(o.G[0], o.G[1]);
  for (int i = 0; i < 3; i++) {
    if (b->ball) {
      o.c[i] = b->middle[i] - b->r * o.G[i];
      o.C[4 * i] = -b->r;
    } else if (i < 2) {
      o.c[i] = -b->r * o.G[i] / n;
      for (int j = 0; j < 2; j++) {
        o.C[3 * i + j] = -b->r * ((double)(i == j) - o.G[i] * o.G[j] / (n * n)) / n;
      }
    }
  }
  return o;
}

/// s = W x c, and on SE(3) + u.
static void slip_in_body(const roller *b, const pose *o, const double *v, double *s) {
  vec_cross(v + 3, o->c, s);
  for (int i = 0; b->se3 && i < 3; i++) {
    s[i] += v[i];
  }
}

/// S
static void slip(const as_point *at, const roller *b, double *out) {
  pose o = pose_of(b, at->q + 3);
  double s[3];
  slip_in_body(b, &o, at->v, s);
  mat_vec(o.R, s, out);
  for (int i = 0; !b->se3 && i < 3; i++) {
    out[i] += at->v[i];
  }
}

/// S' at v' = 0.
static void slip_acceleration(const as_point *at, const roller *b, double *out) {
  pose o = pose_of(b, at->q + 3);
  const double *W = at->v + 3;
  double s[3], turn[3], creep[3];
  slip_in_body(b, &o, at->v, s);
  vec_cross(o.G, W, turn);
  mat_vec(o.C, turn, creep);
  for (int i = 0; i < 3; i++) {
    s[i] += creep[i];
  }
  vec_cross(W, s, s);
  mat_vec(o.R, s, out);
}

// Callbacks.

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const roller *b = user;
  for (int i = 0; i < 3; i++) {
    as_matrix_add(m, i, i, b->m);
  }
  as_matrix_add_block(m, 3, 3, 3, 3, b->J);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const roller *b = user;
  if (b->se3) {
    pose o = pose_of(b, at->q + 3);
    double turned[3];
    vec_cross(at->v + 3, at->v, turned);
    for (int i = 0; i < 3; i++) {
      out[i] = -b->m * (b->g * o.G[i] + turned[i]);
    }
  } else {
    out[0] = 0.0;
    out[1] = 0.0;
    out[2] = -b->m * b->g;
  }
  gyroscopic_torque(b->J, at->v + 3, out + 3);
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  pose o = pose_of(user, at->q + 3);
  out[0] = at->q[2] + vec_dot(o.G, o.c);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  double S[3];
  slip(at, user, S);
  out[0] = S[2];
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  double rate[3];
  slip_acceleration(at, user, rate);
  out[0] = rate[2];
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  double S[3];
  slip(at, user, S);
  out[0] = S[0];
  out[1] = S[1];
  return AS_DONE;
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  double rate[3];
  slip_acceleration(at, user, rate);
  out[0] = rate[0];
  out[1] = rate[1];
  return AS_DONE;
}

/// The derivative of S by v, 3 x 6: (I or R, -R c~).
static void slip_by_v(const roller *b, const pose *o, double *left, double *right) {
  static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  double skew[9];
  memcpy(left, b->se3 ? o->R : identity, sizeof identity);
  mat_skew(1.0, o->c, skew);
  mat_mat(-1.0, o->R, skew, right);
}

/// D S by the rotation, 3 x 3: R (-s~ + W~ C G~).
static void slip_by_q(const roller *b, const pose *o, const double *v, double *out) {
  double s[3], skew[9], creep[9], product[9], inner[9];
  slip_in_body(b, o, v, s);
  mat_skew(1.0, o->G, skew);
  mat_mat(1.0, o->C, skew, creep);
  mat_skew(1.0, v + 3, skew);
  mat_mat(1.0, skew, creep, inner);
  mat_skew(-1.0, s, product);
  for (int i = 0; i < 9; i++) {
    inner[i] += product[i];
  }
  mat_mat(1.0, o->R, inner, out);
}

static void add_f_q(const roller *b, const pose *o, const as_point *at, as_matrix *to) {
  const double F[3] = {at->psi[0], at->psi[1], at->lambda[0]};
  double p[3], skew_p[9], skew[9], creep[9], x[9];
  mat_t_vec(o->R, F, p);
  mat_skew(1.0, p, skew_p);
  if (b->se3) { // of -p - m g G
    double sum[3];
    for (int i = 0; i < 3; i++) {
      sum[i] = p[i] + b->m * b->g * o->G[i];
    }
    mat_skew(-1.0, sum, x);
    as_matrix_add_block(to, 0, 3, 3, 3, x);
  }
  mat_skew(-1.0, o->c, skew); // of -c x p: -c~ p~ + p~ C G~
  mat_mat(1.0, skew, skew_p, x);
  as_matrix_add_block(to, 3, 3, 3, 3, x);
  mat_skew(1.0, o->G, skew);
  mat_mat(1.0, o->C, skew, creep);
  mat_mat(1.0, skew_p, creep, x);
  as_matrix_add_block(to, 3, 3, 3, 3, x);
}

static void add_f_v(const roller *b, const double *v, as_matrix *to) {
  double x[9];
  gyroscopic_tangent(b->J, v + 3, x);
  as_matrix_add_block(to, 3, 3, 3, 3, x);
  if (b->se3) { // of -m W x u
    mat_skew(-b->m, v + 3, x);
    as_matrix_add_block(to, 0, 0, 3, 3, x);
    mat_skew(b->m, v, x);
    as_matrix_add_block(to, 0, 3, 3, 3, x);
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const roller *b = user;
  pose o = pose_of(b, at->q + 3);
  double left[9], right[9];
  slip_by_v(b, &o, left, right);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    add_f_q(b, &o, at, &blocks[AS_BLOCK_F_Q]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    add_f_v(b, at->v, &blocks[AS_BLOCK_F_V]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add_block(&blocks[AS_BLOCK_G_Q], 0, 0, 1, 3, left + 6);
    as_matrix_add_block(&blocks[AS_BLOCK_G_Q], 0, 3, 1, 3, right + 6);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add_block(&blocks[AS_BLOCK_K_V], 0, 0, 2, 3, left);
    as_matrix_add_block(&blocks[AS_BLOCK_K_V], 0, 3, 2, 3, right);
  }
  if (wanted & (AS_BLOCK_BIT(AS_BLOCK_GDOT_Q) | AS_BLOCK_BIT(AS_BLOCK_K_Q))) {
    double x[9];
    slip_by_q(b, &o, at->v, x);
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
      as_matrix_add_block(&blocks[AS_BLOCK_GDOT_Q], 0, 3, 1, 3, x + 6);
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
      as_matrix_add_block(&blocks[AS_BLOCK_K_Q], 0, 3, 2, 3, x);
    }
  }
  return AS_DONE;
}

// Reference: y = (quaternion, W, x1, x2).

/// W', x' and x'' from the rotation and W, and the contact force in the world.
static void rolling(const roller *b, const double *y, double *alpha, double *velocity,
                    double *second, double *contact) {
  const double *W = y + 4;
  pose o = pose_of(b, y);
  double forward[3], turn[3], creep[3], rate[3], bend[3], torque[3], skew[9], A[9];
  vec_cross(o.c, W, forward);
  mat_vec(o.R, forward, velocity);
  vec_cross(o.G, W, turn);
  mat_vec(o.C, turn, creep);
  vec_cross(W, forward, bend); // b
  vec_cross(creep, W, rate);
  for (int i = 0; i < 3; i++) {
    bend[i] += rate[i] + b->g * o.G[i];
  }
  gyroscopic_torque(b->J, W, alpha);
  vec_cross(o.c, bend, torque);
  mat_skew(1.0, o.c, skew);
  mat_mat(-b->m, skew, skew, A);
  for (int i = 0; i < 3; i++) {
    alpha[i] += b->m * torque[i];
  }
  for (int i = 0; i < 9; i++) {
    A[i] += b->J[i];
  }
  reference_solve(3, A, alpha);
  vec_cross(o.c, alpha, rate);
  for (int i = 0; i < 3; i++) {
    bend[i] = b->m * (bend[i] + rate[i]);
  }
  mat_vec(o.R, bend, contact);
  for (int i = 0; i < 3; i++) {
    second[i] = contact[i] / b->m - (i == 2 ? b->g : 0.0);
  }
}

static void rolling_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  double velocity[3], second[3], contact[3];
  quaternion_rate(y, y + 4, dy);
  rolling(context, y, dy + 4, velocity, second, contact);
  dy[7] = velocity[0];
  dy[8] = velocity[1];
}

static void exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *psi) {
  const roller *b = p->def.user;
  double y[9], alpha[3], velocity[3], second[3], contact[3];
  reference_put(y, p->q0 + 3, 4);
  reference_put(y + 4, p->v0 + 3, 3);
  reference_put(y + 7, p->q0, 2);
  reference_ode(rolling_rhs, b, 9, p->t0, t, b->reference_step, y);
  double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
  for (int i = 0; i < 4; i++) {
    y[i] /= length;
  }
  rolling(b, y, alpha, velocity, second, contact);
  pose o = pose_of(b, y);
  if (b->se3) { // u and u' = R^T x'' - W x u
    double u[3], udot[3], turned[3];
    mat_t_vec(o.R, velocity, u);
    mat_t_vec(o.R, second, udot);
    vec_cross(y + 4, u, turned);
    for (int i = 0; i < 3; i++) {
      velocity[i] = u[i];
      second[i] = udot[i] - turned[i];
    }
  }
  reference_put(q, (double[]){y[7], y[8], -vec_dot(o.G, o.c), y[0], y[1], y[2], y[3]}, 7);
  reference_put(v, (double[]){velocity[0], velocity[1], velocity[2], y[4], y[5], y[6]}, 6);
  reference_put(vdot, (double[]){second[0], second[1], second[2], alpha[0], alpha[1], alpha[2]}, 6);
  reference_put(lambda, (double[]){-contact[2]}, 1);
  reference_put(psi, (double[]){-contact[0], -contact[1]}, 2);
}

static double energy(const nonholonomic_problem *p, const double *q, const double *v) {
  const roller *b = p->def.user;
  double momentum[3];
  mat_vec(b->J, v + 3, momentum);
  return 0.5 * b->m * vec_dot(v, v) + 0.5 * vec_dot(v + 3, momentum) + b->m * b->g * q[2];
}

// Instances.

static const as_space_part r3so3[] = {{AS_SPACE_R3SO3, 1}};
static const as_space_part se3[] = {{AS_SPACE_SE3, 1}};

#define ROLLING(parameters, space, scale)                                                          \
  .def =                                                                                           \
      {                                                                                            \
          .parts = (space),                                                                        \
          .n_parts = 1,                                                                            \
          .n_lambda = 1,                                                                           \
          .n_psi = 2,                                                                              \
          .mass_constant = true,                                                                   \
          .scleronomic = true,                                                                     \
          .mass = mass,                                                                            \
          .force = force,                                                                          \
          .constraint = constraint,                                                                \
          .constraint_rate = constraint_rate,                                                      \
          .constraint_acceleration = constraint_acceleration,                                      \
          .nonholonomic = nonholonomic,                                                            \
          .nonholonomic_acceleration = nonholonomic_acceleration,                                  \
          .jacobian = jacobian,                                                                    \
          .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN},                                \
                    [AS_BLOCK_K_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},                                  \
          .time_scale = (scale),                                                                   \
          .user = &(parameters),                                                                   \
  },                                                                                               \
  .t0 = 0.0, .exact = exact, .energy = energy

#define TIPPING_DISK                                                                               \
  .m = 15.0, .J = {3.75, 0.0, 0.0, 0.0, 3.75, 0.0, 0.0, 0.0, 7.5}, .r = 1.0, .g = 9.81,            \
  .reference_step = 0.005

// Upright, the body's z axis along the world's y axis.
static const double disk_q0[] = {0.0, 0.0, 1.0, 0.0, 0.0, 0.7071067811865476, 0.7071067811865476};

const nonholonomic_problem *nonholonomic_rolling_disk(void) {
  static roller parameters = {TIPPING_DISK};
  static const double v0[] = {5.0, 0.0, 0.0, 0.0, 15.0, 5.0};
  static nonholonomic_problem problem = {.name = "rolling_disk",
                                         ROLLING(parameters, r3so3, 0.05),
                                         .t_end = 2.0,
                                         .q0 = disk_q0,
                                         .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_rolling_disk_se3(void) {
  static roller parameters = {TIPPING_DISK, .se3 = true};
  static const double v0[] = {-5.0, 0.0, 0.0, 0.0, 15.0, 5.0};
  static nonholonomic_problem problem = {.name = "rolling_disk_se3",
                                         ROLLING(parameters, se3, 0.05),
                                         .t_end = 2.0,
                                         .q0 = disk_q0,
                                         .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

/// nonholonomic_disk_physical() in maximal coordinates.
const nonholonomic_problem *nonholonomic_rolling_disk_slow(void) {
  static roller parameters = {.m = 2.0,
                              .J = {2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0},
                              .r = 1.0,
                              .g = 10.0,
                              .reference_step = 0.02};
  static const double q0[] = {0.1, 0.28, 0.96, 0.8, 0.6, 0.0, 0.0};
  static const double v0[] = {-2.86, 0.192, -0.056, -0.2, -0.48, 2.86};
  static nonholonomic_problem problem = {.name = "rolling_disk_slow",
                                         ROLLING(parameters, r3so3, 0.3),
                                         .t_end = 3.0,
                                         .q0 = q0,
                                         .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_rolling_ball(void) {
  static roller parameters = {.se3 = true,
                              .ball = true,
                              .m = 1.2,
                              .J = {0.13, 0.01, 0.0, 0.01, 0.15, -0.005, 0.0, -0.005, 0.11},
                              .r = 0.5,
                              .middle = {0.05, -0.1, 0.15},
                              .g = 9.81,
                              .reference_step = 0.02};
  static const double q0[] = {0.0, 0.0, 0.38312, 0.8, 0.0, 0.36, -0.48};
  static const double v0[] = {-0.1112, -0.9478, -0.4836, 2.0, -1.0, 1.5};
  static nonholonomic_problem problem = {
      .name = "rolling_ball", ROLLING(parameters, se3, 0.2), .t_end = 3.0, .q0 = q0, .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
