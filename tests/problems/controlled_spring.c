/// [BA], first application: a mass on a spring, controlled with acceleration feedback.
///
///     m q'' = -k q + y2,   x' = -sigma x - b q'',   y1 = x,   y2 = y_max tanh(y1 / y_max)
///
/// Reference: the same as an ordinary differential equation in (q, q', x); y2 needs no q''.
#include <math.h>

#include "problems/mechatronic.h"
#include "problems/reference_ode.h"

typedef struct spring {
  double m;     ///< [kg]
  double k;     ///< [N/m]
  double sigma; ///< [1/s]
  double b;     ///< [N s/m]
  double y_max; ///< [N]
} spring;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const spring *c = user;
  as_matrix_add(m, 0, 0, c->m);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const spring *c = user;
  out[0] = -c->k * at->q[0] + at->y[1];
  return AS_DONE;
}

static int state_rate(const as_point *at, double *out, void *user) {
  const spring *c = user;
  out[0] = -c->sigma * at->x[0] - c->b * at->vdot[0];
  return AS_DONE;
}

static int output(const as_point *at, double *out, void *user) {
  const spring *c = user;
  out[0] = at->x[0];
  out[1] = c->y_max * tanh(at->y[0] / c->y_max);
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const spring *c = user;
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 0, -c->k);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Y)) as_matrix_add(&blocks[AS_BLOCK_F_Y], 0, 1, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_VDOT))
    as_matrix_add(&blocks[AS_BLOCK_PHI_VDOT], 0, 0, -c->b);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_PHI_X))
    as_matrix_add(&blocks[AS_BLOCK_PHI_X], 0, 0, -c->sigma);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_X)) as_matrix_add(&blocks[AS_BLOCK_CHI_X], 0, 0, 1.0);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_CHI_Y)) {
    const double e = cosh(at->y[0] / c->y_max);
    as_matrix_add(&blocks[AS_BLOCK_CHI_Y], 1, 0, 1.0 / (e * e));
  }
  return AS_DONE;
}

/// z = (q, q', x)
static void rhs(double t, const double *z, double *dz, const void *context) {
  (void)t;
  const spring *c = context;
  dz[0] = z[1];
  dz[1] = (-c->k * z[0] + c->y_max * tanh(z[2] / c->y_max)) / c->m;
  dz[2] = -c->sigma * z[2] - c->b * dz[1];
}

static void exact(const mechatronic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *x, double *y) {
  (void)lambda;
  const spring *c = p->def.user;
  double z[3] = {p->q0[0], p->v0[0], p->x0[0]}, dz[3];
  reference_ode(rhs, c, 3, p->t0, t, 0.1, z);
  rhs(t, z, dz, c);
  reference_put(q, z, 1);
  reference_put(v, z + 1, 1);
  reference_put(vdot, dz + 1, 1);
  reference_put(x, z + 2, 1);
  reference_put(y, (double[]){z[2], c->y_max * tanh(z[2] / c->y_max)}, 2);
}

const mechatronic_problem *mechatronic_spring(void) {
  static spring parameters = {.m = 1.0, .k = 1.0, .sigma = 0.1, .b = 1.4, .y_max = 1.0};
  static const as_space_part space[] = {{AS_SPACE_RN, 1}};
  static const double q0[] = {5.0}, v0[] = {0.0}, x0[] = {0.0};
  static mechatronic_problem problem = {
      .name = "spring",
      .def =
          {
              .parts = space,
              .n_parts = 1,
              .n_x = 1,
              .n_y = 2,
              .mass_constant = true,
              .mass = mass,
              .force = force,
              .state_rate = state_rate,
              .output = output,
              .jacobian = jacobian,
              .block = {MECHATRONIC_GIVEN(F_Q), MECHATRONIC_ZERO(F_V), MECHATRONIC_ZERO(F_X),
                        MECHATRONIC_GIVEN(F_Y), MECHATRONIC_ZERO(PHI_Q), MECHATRONIC_ZERO(PHI_V),
                        MECHATRONIC_GIVEN(PHI_VDOT), MECHATRONIC_GIVEN(PHI_X),
                        MECHATRONIC_ZERO(PHI_Y), MECHATRONIC_ZERO(CHI_Q), MECHATRONIC_ZERO(CHI_V),
                        MECHATRONIC_ZERO(CHI_VDOT), MECHATRONIC_GIVEN(CHI_X),
                        MECHATRONIC_GIVEN(CHI_Y)},
              .time_scale = 1.0,
              .user = &parameters,
          },
      .t0 = 0.0,
      .t_end = 5.0,
      .steps = 200,
      .q0 = q0,
      .v0 = v0,
      .x0 = x0,
      .exact = exact};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
