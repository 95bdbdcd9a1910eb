/// The linear oscillator m q'' + k q = 0 in R^1, unconstrained.
///
/// q = q0 cos(w t) + v0/w sin(w t), w = sqrt(k/m).
#include <math.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct oscillator {
  double m; ///< [kg]
  double k; ///< [N/m]
} oscillator;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const oscillator *c = user;
  as_matrix_add(m, 0, 0, c->m);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const oscillator *c = user;
  out[0] = -c->k * at->q[0];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  (void)at;
  const oscillator *c = user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, -c->k);
  }
  return AS_DONE;
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  (void)lambda;
  const oscillator *c = p->def.user;
  double w = sqrt(c->k / c->m);
  double cosine = cos(w * (t - p->t0)), sine = sin(w * (t - p->t0));
  double position = p->q0[0] * cosine + p->v0[0] / w * sine;
  double velocity = -p->q0[0] * w * sine + p->v0[0] * cosine;
  double acceleration = -w * w * position;
  reference_put(q, &position, 1);
  reference_put(v, &velocity, 1);
  reference_put(vdot, &acceleration, 1);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const oscillator *c = p->def.user;
  return 0.5 * c->m * v[0] * v[0] + 0.5 * c->k * q[0] * q[0];
}

const test_problem *problem_oscillator(void) {
  static oscillator parameters = {.m = 2.0, .k = 18.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 1}};
  static const double q0[] = {1.0};
  static const double v0[] = {0.5};
  static test_problem problem = {
      .name = "oscillator",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .mass_constant = true,
              .scleronomic = true,
              .mass = mass,
              .force = force,
              .jacobian = jacobian,
              .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},
                        [AS_BLOCK_F_V] = {.source = AS_BLOCK_ZERO}},
              .time_scale = 1.0,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 2.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
