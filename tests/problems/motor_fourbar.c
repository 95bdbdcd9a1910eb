/// A planar four-bar of uniform rods, with a DC motor on its crank.
///
/// q = (angles of crank, coupler, rocker), lengths a, b, c, ground d between the fixed pivots:
///
///     0 = a cos q1 + b cos q2 - c cos q3 - d,   0 = a sin q1 + b sin q2 - c sin q3
///     M = [m1 a^2/3 + m2 a^2, p cos(q1-q2), 0; ., m2 b^2/3, 0; 0, 0, m3 c^2/3],   p = m2 a b / 2
///
/// x = (current i, integral z of its error), y = (wanted current, voltage u):
///
///     L i' = u - R i - k q1',   z' = y1 - i,   y1 = s (w - q1'),   u = P (y1 - i) + I z
///
/// The torque on the crank is k i; the rocker works against a damper.
///
/// Reference: (q1, q1', i, z). The loop gives q2 and q3 in closed form and their rates linearly; with
/// q' = N q1', N^T M (N q1'' + n) = N^T f.
#include <math.h>

#include "problems/mechatronic.h"
#include "problems/reference_ode.h"

typedef struct fourbar {
  double a, b, c, d;  ///< [m]
  double m1, m2, m3;  ///< [kg]
  double g;           ///< [m/s^2]
  double damping;     ///< [N m s]
  double L, R, k;     ///< [H, ohm, N m/A]
  double P, I;        ///< of the current loop [V/A, V/(A s)]
  double speed, gain; ///< wanted [rad/s], and of the speed loop [A s]
} fourbar;

/// M, by rows.
static void mass_at(const fourbar *c, const double *q, double M[9]) {
  const double p = 0.5 * c->m2 * c->a * c->b * cos(q[0] - q[1]);
  const double full[9] = {(c->m1 / 3.0 + c->m2) * c->a * c->a,
                          p,
                          0.0,
                          p,
                          c->m2 * c->b * c->b / 3.0,
                          0.0,
                          0.0,
                          0.0,
                          c->m3 * c->c * c->c / 3.0};
  for (int i = 0; i < 9; i++) {
    M[i] = full[i];
  }
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  double M[9];
  mass_at(user, at->q, M);
  as_matrix_add_block(m, 0, 0, 3, 3, M);
  return AS_DONE;
}

static void force_at(const fourbar *c, const double *q, const double *v, double current,
                     double *out) {
  const double p = 0.5 * c->m2 * c->a * c->b * sin(q[0] - q[1]);
  out[0] = -p * v[1] * v[1] - (0.5 * c->m1 + c->m2) * c->g * c->a * cos(q[0]) + c->k * current;
  out[1] = p * v[0] * v[0] - 0.5 * c->m2 * c->g * c->b * cos(q[1]);
  out[2] = -0.5 * c->m3 * c->g * c->c * cos(q[2]) - c->damping * v[2];
}

static int force(const as_point *at, double *out, void *user) {
  force_at(user, at->q, at->v, at->x[0], out);
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const fourbar *c = user;
  const double *q = at->q;
  out[0] = c->a * cos(q[0]) + c->b * cos(q[1]) - c->c * cos(q[2]) - c->d;
  out[1] = c->a * sin(q[0]) + c->b * sin(q[1]) - c->c * sin(q[2]);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const fourbar *c = user;
  const double *q = at->q, *v = at->v;
  out[0] = -c->a * sin(q[0]) * v[0] - c->b * sin(q[1]) * v[1] + c->c * sin(q[2]) * v[2];
  out[1] = c->a * cos(q[0]) * v[0] + c->b * cos(q[1]) * v[1] - c->c * cos(q[2]) * v[2];
  return AS_DONE;
}

static void acceleration_terms(const fourbar *c, const double *q, const double *v, double *out) {
  const double w[3] = {c->a * v[0] * v[0], c->b * v[1] * v[1], -c->c * v[2] * v[2]};
  out[0] = -w[0] * cos(q[0]) - w[1] * cos(q[1]) - w[2] * cos(q[2]);
  out[1] = -w[0] * sin(q[0]) - w[1] * sin(q[1]) - w[2] * sin(q[2]);
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  acceleration_terms(user, at->q, at->v, out);
  return AS_DONE;
}

/// x' for given y.
static void motor(const fourbar *c, double speed, const double *x, const double *y, double *out) {
  out[0] = (y[1] - c->R * x[0] - c->k * speed) / c->L;
  out[1] = y[0] - x[0];
}

static int state_rate(const as_point *at, double *out, void *user) {
  motor(user, at->v[0], at->x, at->y, out);
  return AS_DONE;
}

static int output(const as_point *at, double *out, void *user) {
  const fourbar *c = user;
  out[0] = c->gain * (c->speed - at->v[0]);
  out[1] = c->P * (at->y[0] - at->x[0]) + c->I * at->x[1];
  return AS_DONE;
}

static void mechanical_blocks(const fourbar *c, const as_point *at, as_block_set wanted,
                              as_matrix *blocks) {
  const double *q = at->q, *v = at->v;
  const double length[3] = {c->a, c->b, -c->c};
  const double weight[3] = {(0.5 * c->m1 + c->m2) * c->g * c->a, 0.5 * c->m2 * c->g * c->b,
                            0.5 * c->m3 * c->g * c->c};
  const double p = 0.5 * c->m2 * c->a * c->b;
  const double sine = p * sin(q[0] - q[1]), cosine = p * cos(q[0] - q[1]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
    const double *a = at->vdot, full[4] = {-sine * a[1], sine * a[1], -sine * a[0], sine * a[0]};
    as_matrix_add_block(&blocks[AS_BLOCK_MA_Q], 0, 0, 2, 2, full);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    const double full[4] = {-cosine * v[1] * v[1], cosine * v[1] * v[1], cosine * v[0] * v[0],
                            -cosine * v[0] * v[0]};
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 0, 0, 2, 2, full);
    for (int i = 0; i < 3; i++) { // weight, and -B^T lambda
      const double turned = length[i] * (at->lambda[0] * cos(q[i]) + at->lambda[1] * sin(q[i]));
      as_matrix_add(&blocks[AS_BLOCK_F_Q], i, i, weight[i] * sin(q[i]) + turned);
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    as_matrix_add(&blocks[AS_BLOCK_F_V], 0, 1, -2.0 * sine * v[1]);
    as_matrix_add(&blocks[AS_BLOCK_F_V], 1, 0, 2.0 * sine * v[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_V], 2, 2, -c->damping);
  }
  for (int i = 0; i < 3; i++) {
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, i, -length[i] * sin(q[i]));
      as_matrix_add(&blocks[AS_BLOCK_G_Q], 1, i, length[i] * cos(q[i]));
    }
    if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, i, -length[i] * cos(q[i]) * v[i]);
      as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 1, i, -length[i] * sin(q[i]) * v[i]);
    }
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const fourbar *c = user;
  const struct {
    as_block block;
    int row, col;
    double value;
  } entries[] = {{AS_BLOCK_F_X, 0, 0, c->k},           {AS_BLOCK_PHI_V, 0, 0, -c->k / c->L},
                 {AS_BLOCK_PHI_X, 0, 0, -c->R / c->L}, {AS_BLOCK_PHI_X, 1, 0, -1.0},
                 {AS_BLOCK_PHI_Y, 0, 1, 1.0 / c->L},   {AS_BLOCK_PHI_Y, 1, 0, 1.0},
                 {AS_BLOCK_CHI_V, 0, 0, -c->gain},     {AS_BLOCK_CHI_X, 1, 0, -c->P},
                 {AS_BLOCK_CHI_X, 1, 1, c->I},         {AS_BLOCK_CHI_Y, 1, 0, c->P}};
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
    if (wanted & AS_BLOCK_BIT(entries[i].block))
      as_matrix_add(&blocks[entries[i].block], entries[i].row, entries[i].col, entries[i].value);
  mechanical_blocks(c, at, wanted, blocks);
  return AS_DONE;
}

/// The whole motion that belongs to z = (q1, q1', i, z).
typedef struct motion {
  double q[3], v[3], vdot[3], lambda[2], x_rate[2], y[2];
} motion;

/// B2 b = -B1 crank - rest for the rates of coupler and rocker; b holds the result.
static void follow(const fourbar *c, const double *q, double crank, const double *rest, double *b) {
  double matrix[4] = {-c->b * sin(q[1]), c->c * sin(q[2]), c->b * cos(q[1]), -c->c * cos(q[2])};
  b[0] = c->a * sin(q[0]) * crank - rest[0];
  b[1] = -c->a * cos(q[0]) * crank - rest[1];
  reference_solve(2, matrix, b);
}

static motion motion_at(const fourbar *c, const double *z) {
  static const double none[2] = {0.0, 0.0};
  motion s;
  // From the crank's tip to the rocker's pivot: the two circles meet on the upper side.
  const double ex = c->d - c->a * cos(z[0]), ey = -c->a * sin(z[0]), e2 = ex * ex + ey * ey;
  const double along = (e2 + c->b * c->b - c->c * c->c) / (2.0 * sqrt(e2));
  s.q[0] = z[0];
  s.q[1] = atan2(ey, ex) + acos(along / c->b);
  s.q[2] =
      atan2(c->a * sin(z[0]) + c->b * sin(s.q[1]), c->a * cos(z[0]) + c->b * cos(s.q[1]) - c->d);
  double N[3] = {1.0}, n[3] = {0.0}, terms[2], M[9], f[3], inertia = 0.0, torque = 0.0;
  follow(c, s.q, 1.0, none, N + 1);
  for (int i = 0; i < 3; i++) {
    s.v[i] = N[i] * z[1];
  }
  acceleration_terms(c, s.q, s.v, terms);
  follow(c, s.q, 0.0, terms, n + 1);
  mass_at(c, s.q, M);
  force_at(c, s.q, s.v, z[2], f);
  for (int i = 0; i < 3; i++) {
    torque += N[i] * f[i];
    for (int j = 0; j < 3; j++) {
      inertia += N[i] * M[3 * i + j] * N[j];
      torque -= N[i] * M[3 * i + j] * n[j];
    }
  }
  for (int i = 0; i < 3; i++) {
    s.vdot[i] = N[i] * torque / inertia + n[i];
  }
  // The rows of coupler and rocker of B^T lambda = f - M v'
  double matrix[4] = {-c->b * sin(s.q[1]), c->b * cos(s.q[1]), c->c * sin(s.q[2]),
                      -c->c * cos(s.q[2])};
  for (int i = 0; i < 2; i++) {
    s.lambda[i] = f[1 + i];
    for (int j = 0; j < 3; j++) {
      s.lambda[i] -= M[3 * (1 + i) + j] * s.vdot[j];
    }
  }
  reference_solve(2, matrix, s.lambda);
  s.y[0] = c->gain * (c->speed - z[1]);
  s.y[1] = c->P * (s.y[0] - z[2]) + c->I * z[3];
  motor(c, z[1], z + 2, s.y, s.x_rate);
  return s;
}

static void rhs(double t, const double *z, double *dz, const void *context) {
  (void)t;
  const motion s = motion_at(context, z);
  dz[0] = z[1];
  dz[1] = s.vdot[0];
  dz[2] = s.x_rate[0];
  dz[3] = s.x_rate[1];
}

static void exact(const mechatronic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *x, double *y) {
  const fourbar *c = p->def.user;
  double z[4] = {p->q0[0], p->v0[0], p->x0[0], p->x0[1]};
  reference_ode(rhs, c, 4, p->t0, t, 0.01, z);
  const motion s = motion_at(c, z);
  reference_put(q, s.q, 3);
  reference_put(v, s.v, 3);
  reference_put(vdot, s.vdot, 3);
  reference_put(lambda, s.lambda, 2);
  reference_put(x, z + 2, 2);
  reference_put(y, s.y, 2);
}

const mechatronic_problem *mechatronic_fourbar(void) {
  static fourbar parameters = {.a = 0.3,
                               .b = 1.0,
                               .c = 0.8,
                               .d = 0.9,
                               .m1 = 1.0,
                               .m2 = 2.0,
                               .m3 = 1.5,
                               .g = 9.81,
                               .damping = 0.5,
                               .L = 0.02,
                               .R = 1.0,
                               .k = 0.8,
                               .P = 0.5,
                               .I = 20.0,
                               .speed = 6.0,
                               .gain = 4.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 3}};
  // The crank upright, at rest.
  static const double q0[] = {1.5707963267948966, 0.5227853934218085, 1.6127688890867267};
  static const double v0[] = {0.0, 0.0, 0.0}, x0[] = {0.0, 0.0};
  static mechatronic_problem problem = {
      .name = "motor_fourbar",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 2,
              .n_x = 2,
              .n_y = 2,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .constraint = constraint,
              .constraint_rate = constraint_rate,
              .constraint_acceleration = constraint_acceleration,
              .state_rate = state_rate,
              .output = output,
              .jacobian = jacobian,
              .block = {MECHATRONIC_GIVEN(MA_Q), MECHATRONIC_GIVEN(F_Q), MECHATRONIC_GIVEN(F_V),
                        MECHATRONIC_GIVEN(F_X), MECHATRONIC_ZERO(F_Y), MECHATRONIC_GIVEN(G_Q),
                        MECHATRONIC_GIVEN(GDOT_Q), MECHATRONIC_ZERO(PHI_Q),
                        MECHATRONIC_GIVEN(PHI_V), MECHATRONIC_ZERO(PHI_VDOT),
                        MECHATRONIC_ZERO(PHI_LAMBDA), MECHATRONIC_GIVEN(PHI_X),
                        MECHATRONIC_GIVEN(PHI_Y), MECHATRONIC_ZERO(CHI_Q), MECHATRONIC_GIVEN(CHI_V),
                        MECHATRONIC_ZERO(CHI_VDOT), MECHATRONIC_ZERO(CHI_LAMBDA),
                        MECHATRONIC_GIVEN(CHI_X), MECHATRONIC_GIVEN(CHI_Y)},
              .time_scale = 0.1,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 1.0,
      .steps = 1600,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
