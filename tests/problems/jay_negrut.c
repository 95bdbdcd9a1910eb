/// Two made-up problems in R^2 with M(t,y) not symmetric and a force that is not additive in the
/// multipliers: [JN] section 8, with a holonomic and a nonholonomic constraint, and [J] (7.1), with
/// a nonholonomic one alone. z = y'.
///
///     M = [ y1              y2 - exp(-2t) ]
///         [ sin(y1-exp(t))  y1 y2         ]
///     f = [ exp(t) (y1 z2 + 2 y2 z1)                + c1 ]
///         [ exp(-t) (y2 z2/2 - 2 y1 z1 y2 z2)       + c2 ]
///
/// [JN]  c1 = exp(2t) y1 lambda - y1 z2 psi - 2
///       c2 = exp(-t) y2 lambda^2 - y1 y2 z1 psi^3 + exp(3t)
///       g = y1^2 y2 - 1,    k = y1 z1 z2 + 2
/// [J]   c1 = exp(2t) y1 psi
///       c2 = exp(-t) y2 psi^2
///       k = z1^2 z2 + 6 y1 y2 z1 - 4
///
/// Both have y = (exp(t), exp(-2t)); lambda = exp(-t), psi = exp(t) in [JN], psi = exp(-t) in [J].
#include <math.h>

#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"

// What they share.

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)user;
  const double *y = at->q;
  as_matrix_add(m, 0, 0, y[0]);
  as_matrix_add(m, 0, 1, y[1] - exp(-2.0 * at->t));
  as_matrix_add(m, 1, 0, sin(y[0] - exp(at->t)));
  as_matrix_add(m, 1, 1, y[0] * y[1]);
  return AS_DONE;
}

/// f less c1, c2.
static void plain_force(const as_point *at, double *out) {
  const double *y = at->q, *z = at->v;
  out[0] = exp(at->t) * (y[0] * z[1] + 2.0 * y[1] * z[0]);
  out[1] = exp(-at->t) * (0.5 * y[1] * z[1] - 2.0 * y[0] * z[0] * y[1] * z[1]);
}

/// MA_Q, and of F_Q and F_V what does not come from c1, c2.
static void plain_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks) {
  const double *y = at->q, *z = at->v;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
    const double *a = at->vdot;
    const double block[] = {a[0], a[1], //
                            cos(y[0] - exp(at->t)) * a[0] + y[1] * a[1], y[0] * a[1]};
    as_matrix_add_block(&blocks[AS_BLOCK_MA_Q], 0, 0, 2, 2, block);
  }
  double e = exp(at->t);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    const double block[] = {e * z[1], e * 2.0 * z[0], //
                            -2.0 * z[0] * y[1] * z[1] / e,
                            (0.5 * z[1] - 2.0 * y[0] * z[0] * z[1]) / e};
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 0, 0, 2, 2, block);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    const double block[] = {e * 2.0 * y[1], e * y[0], //
                            -2.0 * y[0] * y[1] * z[1] / e,
                            (0.5 * y[1] - 2.0 * y[0] * z[0] * y[1]) / e};
    as_matrix_add_block(&blocks[AS_BLOCK_F_V], 0, 0, 2, 2, block);
  }
}

static void exact_motion(double t, double *q, double *v, double *vdot) {
  double up = exp(t), down = exp(-2.0 * t);
  reference_put(q, (double[]){up, down}, 2);
  reference_put(v, (double[]){up, -2.0 * down}, 2);
  reference_put(vdot, (double[]){up, 4.0 * down}, 2);
}

static const as_space_part space[] = {{AS_SPACE_RN, 2}};
static const double start_q[] = {1.0, 1.0};
static const double start_v[] = {1.0, -2.0};

// [JN] section 8.

static int jn8_force(const as_point *at, double *out, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  double t = at->t, lambda = at->lambda[0], psi = at->psi[0];
  plain_force(at, out);
  out[0] += exp(2.0 * t) * y[0] * lambda - y[0] * z[1] * psi - 2.0;
  out[1] += exp(-t) * y[1] * lambda * lambda - y[0] * y[1] * z[0] * psi * psi * psi + exp(3.0 * t);
  return AS_DONE;
}

static int jn8_constraint(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->q[0] * at->q[1] - 1.0;
  return AS_DONE;
}

static int jn8_constraint_rate(const as_point *at, double *out, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  out[0] = 2.0 * y[0] * y[1] * z[0] + y[0] * y[0] * z[1];
  return AS_DONE;
}

static int jn8_constraint_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  out[0] = 2.0 * y[1] * z[0] * z[0] + 4.0 * y[0] * z[0] * z[1];
  return AS_DONE;
}

static int jn8_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->q[0] * at->v[0] * at->v[1] + 2.0;
  return AS_DONE;
}

static int jn8_nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  out[0] = at->v[0] * at->v[0] * at->v[1];
  return AS_DONE;
}

static int jn8_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  double e = exp(at->t);
  plain_jacobian(at, wanted, blocks);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    double lambda = at->lambda[0], psi = at->psi[0], cube = psi * psi * psi;
    const double block[] = {e * e * lambda - z[1] * psi, 0.0, //
                            -y[1] * z[0] * cube, lambda * lambda / e - y[0] * z[0] * cube};
    as_matrix_add_block(&blocks[AS_BLOCK_F_Q], 0, 0, 2, 2, block);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    double psi = at->psi[0];
    as_matrix_add(&blocks[AS_BLOCK_F_V], 0, 1, -y[0] * psi);
    as_matrix_add(&blocks[AS_BLOCK_F_V], 1, 0, -y[0] * y[1] * psi * psi * psi);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_LAMBDA)) {
    as_matrix_add(&blocks[AS_BLOCK_F_LAMBDA], 0, 0, e * e * y[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_LAMBDA], 1, 0, 2.0 * y[1] * at->lambda[0] / e);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_PSI)) {
    double psi = at->psi[0];
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 0, 0, -y[0] * z[1]);
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 1, 0, -3.0 * y[0] * y[1] * z[0] * psi * psi);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 0, 2.0 * y[0] * y[1]);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 1, y[0] * y[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 0, 2.0 * y[1] * z[0] + 2.0 * y[0] * z[1]);
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 1, 2.0 * y[0] * z[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 0, z[0] * z[1]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, y[0] * z[1]);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 1, y[0] * z[0]);
  }
  return AS_DONE;
}

static void jn8_exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                      double *lambda, double *psi) {
  (void)p;
  exact_motion(t, q, v, vdot);
  reference_put(lambda, (double[]){exp(-t)}, 1);
  reference_put(psi, (double[]){exp(t)}, 1);
}

const nonholonomic_problem *nonholonomic_jn8(void) {
  static nonholonomic_problem problem = {
      .name = "jn8",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_lambda = 1,
              .n_psi = 1,
              .scleronomic = true,
              .force_kind = AS_FORCE_GENERAL,
              .mass = mass,
              .force = jn8_force,
              .constraint = jn8_constraint,
              .constraint_rate = jn8_constraint_rate,
              .constraint_acceleration = jn8_constraint_acceleration,
              .nonholonomic = jn8_nonholonomic,
              .nonholonomic_acceleration = jn8_nonholonomic_acceleration,
              .jacobian = jn8_jacobian,
              .block = {[AS_BLOCK_MA_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_LAMBDA] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_PSI] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_K_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 1.0,
          },
      .t0 = 0.0,
      .t_end = 1.0,
      .q0 = start_q,
      .v0 = start_v,
      .exact = jn8_exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

// [J] (7.1).

static int j71_force(const as_point *at, double *out, void *user) {
  (void)user;
  double psi = at->psi[0];
  plain_force(at, out);
  out[0] += exp(2.0 * at->t) * at->q[0] * psi;
  out[1] += exp(-at->t) * at->q[1] * psi * psi;
  return AS_DONE;
}

static int j71_nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  out[0] = z[0] * z[0] * z[1] + 6.0 * y[0] * y[1] * z[0] - 4.0;
  return AS_DONE;
}

static int j71_nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  out[0] = 6.0 * z[0] * (y[1] * z[0] + y[0] * z[1]);
  return AS_DONE;
}

static int j71_jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)user;
  const double *y = at->q, *z = at->v;
  double e = exp(at->t);
  plain_jacobian(at, wanted, blocks);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    double psi = at->psi[0];
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, e * e * psi);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 1, 1, psi * psi / e);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_PSI)) {
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 0, 0, e * e * y[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_PSI], 1, 0, 2.0 * y[1] * at->psi[0] / e);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 0, 6.0 * y[1] * z[0]);
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 1, 6.0 * y[0] * z[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, 2.0 * z[0] * z[1] + 6.0 * y[0] * y[1]);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 1, z[0] * z[0]);
  }
  return AS_DONE;
}

static void j71_exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                      double *lambda, double *psi) {
  (void)p;
  (void)lambda;
  exact_motion(t, q, v, vdot);
  reference_put(psi, (double[]){exp(-t)}, 1);
}

const nonholonomic_problem *nonholonomic_j71(void) {
  static nonholonomic_problem problem = {
      .name = "j71",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_psi = 1,
              .scleronomic = true,
              .force_kind = AS_FORCE_GENERAL,
              .mass = mass,
              .force = j71_force,
              .nonholonomic = j71_nonholonomic,
              .nonholonomic_acceleration = j71_nonholonomic_acceleration,
              .jacobian = j71_jacobian,
              .block = {[AS_BLOCK_MA_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_PSI] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_K_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},
              .time_scale = 1.0,
          },
      .t0 = 0.0,
      .t_end = 1.0,
      .q0 = start_q,
      .v0 = start_v,
      .exact = j71_exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
