/// Two point masses in the plane, the second hanging from the first: q = (x1, y1, x2, y2).
///
/// The first hangs from the origin on a rod; the second on a rod too (a double pendulum) or on a stiff,
/// damped spring. With d = r2 - r1, e = d/|d|:
///
///     m1 r1'' = (0, -m1 g) - lambda_1 r1 + (lambda_2 d or F e)    0 = (|r1|^2 - l1^2)/2
///     m2 r2'' = (0, -m2 g) - (lambda_2 d or F e)                  0 = (|d|^2 - l2^2)/2
///     F = k (|d| - l2) + c e.d'
///
/// Reference: theta, from below, for each rod; r2 itself behind a spring. The multipliers are what is left
/// of the forces along the rods.
#include <math.h>
#include <stdbool.h>

#include "problems/problems.h"
#include "problems/reference_ode.h"

typedef struct pendulums {
  double m[2];           ///< [kg]
  double l[2];           ///< [m]
  double g;              ///< [m/s^2]
  double k;              ///< of the spring [N/m]; 0: a rod
  double c;              ///< of the spring [N s/m]
  double reference_step; ///< [s]
} pendulums;

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const pendulums *c = user;
  for (int i = 0; i < 4; i++) as_matrix_add(m, i, i, c->m[i / 2]);
  return AS_DONE;
}

/// A spring at r2 - r1 = d with r2' - r1' = w.
typedef struct pull {
  double e[2];
  double length;
  double rate;  ///< of the length
  double force; ///< F
} pull;

static pull pull_at(const pendulums *c, const double *d, const double *w) {
  pull p = {.length = hypot(d[0], d[1])};
  for (int i = 0; i < 2; i++) p.e[i] = d[i] / p.length;
  p.rate = p.e[0] * w[0] + p.e[1] * w[1];
  p.force = c->k * (p.length - c->l[1]) + c->c * p.rate;
  return p;
}

static int force(const as_point *at, double *out, void *user) {
  const pendulums *c = user;
  const double *q = at->q, *v = at->v;
  for (int i = 0; i < 4; i++) out[i] = i % 2 == 1 ? -c->m[i / 2] * c->g : 0.0;
  if (c->k > 0.0) {
    const double d[2] = {q[2] - q[0], q[3] - q[1]}, w[2] = {v[2] - v[0], v[3] - v[1]};
    const pull p = pull_at(c, d, w);
    for (int i = 0; i < 2; i++) {
      out[i] += p.force * p.e[i];
      out[2 + i] -= p.force * p.e[i];
    }
  }
  return AS_DONE;
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1]; }

static void difference(const double *x, double *d) {
  for (int i = 0; i < 2; i++) d[i] = x[2 + i] - x[i];
}

static bool has_rod(const pendulums *c) { return !(c->k > 0.0); }

static int constraint(const as_point *at, double *out, void *user) {
  const pendulums *c = user;
  double d[2];
  difference(at->q, d);
  out[0] = 0.5 * (dot(at->q, at->q) - c->l[0] * c->l[0]);
  if (has_rod(c)) out[1] = 0.5 * (dot(d, d) - c->l[1] * c->l[1]);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  double d[2], w[2];
  difference(at->q, d);
  difference(at->v, w);
  out[0] = dot(at->q, at->v);
  if (has_rod(user)) out[1] = dot(d, w);
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  double w[2];
  difference(at->v, w);
  out[0] = dot(at->v, at->v);
  if (has_rod(user)) out[1] = dot(w, w);
  return AS_DONE;
}

/// Adds `tangent`, the derivative of a pull of the first mass towards the second by d, as it acts on both.
static void add_pull(as_matrix *b, double tangent[2][2]) {
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      as_matrix_add(b, i, j, -tangent[i][j]);
      as_matrix_add(b, i, 2 + j, tangent[i][j]);
      as_matrix_add(b, 2 + i, j, tangent[i][j]);
      as_matrix_add(b, 2 + i, 2 + j, -tangent[i][j]);
    }
}

/// F e by d: F' e e^T + (F/|d|) (I - e e^T) + (c/|d|) e (w - rate e)^T with F' = k; by w: c e e^T
static void spring_blocks(const pendulums *c, const as_point *at, as_block_set wanted,
                          as_matrix *blocks) {
  double d[2], w[2], by_d[2][2], by_w[2][2];
  difference(at->q, d);
  difference(at->v, w);
  const pull p = pull_at(c, d, w);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const double along = p.e[i] * p.e[j], across = (i == j ? 1.0 : 0.0) - along;
      by_d[i][j] = c->k * along + p.force / p.length * across +
                   c->c / p.length * p.e[i] * (w[j] - p.rate * p.e[j]);
      by_w[i][j] = c->c * along;
    }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) add_pull(&blocks[AS_BLOCK_F_Q], by_d);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) add_pull(&blocks[AS_BLOCK_F_V], by_w);
}

/// Adds the rows (x1, 0) and, with a second rod, (-d, d) of x = (x1, x2) with d = x2 - x1.
static void add_rows(const pendulums *c, const double *x, as_matrix *b) {
  for (int i = 0; i < 2; i++) {
    as_matrix_add(b, 0, i, x[i]);
    if (!has_rod(c)) continue;
    as_matrix_add(b, 1, i, x[i] - x[2 + i]);
    as_matrix_add(b, 1, 2 + i, x[2 + i] - x[i]);
  }
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const pendulums *c = user;
  const as_block_set of_spring = AS_BLOCK_BIT(AS_BLOCK_F_Q) | AS_BLOCK_BIT(AS_BLOCK_F_V);
  if (!has_rod(c) && (wanted & of_spring)) spring_blocks(c, at, wanted, blocks);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    for (int i = 0; i < 2; i++) as_matrix_add(&blocks[AS_BLOCK_F_Q], i, i, -at->lambda[0]);
    if (has_rod(c)) {
      double tangent[2][2] = {{at->lambda[1], 0.0}, {0.0, at->lambda[1]}};
      add_pull(&blocks[AS_BLOCK_F_Q], tangent);
    }
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) add_rows(c, at->q, &blocks[AS_BLOCK_G_Q]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) add_rows(c, at->v, &blocks[AS_BLOCK_GDOT_Q]);
  return AS_DONE;
}

// Reference.

/// A rod's vector, its rate and its second derivative, from its angle and that one's derivatives.
static void turn(double l, double angle, double rate, double second, double *r, double *v,
                 double *a) {
  const double s = l * sin(angle), k = l * cos(angle);
  r[0] = s;
  r[1] = -k;
  v[0] = k * rate;
  v[1] = s * rate;
  a[0] = k * second - s * rate * rate;
  a[1] = s * second + k * rate * rate;
}

/// y = (theta1, theta2, w1, w2), as in double_pendulum.c.
static void rods_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const pendulums *c = context;
  const double both = c->m[0] + c->m[1], l1 = c->l[0], l2 = c->l[1], m2 = c->m[1];
  const double cosine = m2 * l1 * l2 * cos(y[0] - y[1]), sine = m2 * l1 * l2 * sin(y[0] - y[1]);
  double M[4] = {both * l1 * l1, cosine, cosine, m2 * l2 * l2};
  dy[0] = y[2];
  dy[1] = y[3];
  dy[2] = -sine * y[3] * y[3] - both * c->g * l1 * sin(y[0]);
  dy[3] = sine * y[2] * y[2] - m2 * c->g * l2 * sin(y[1]);
  reference_solve(2, M, dy + 2);
}

/// y = (theta1, w1, r2, r2').
static void spring_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  const pendulums *c = context;
  double r[2], v[2], bend[2];
  turn(c->l[0], y[0], y[1], 0.0, r, v, bend);
  const pull p =
      pull_at(c, (double[]){y[2] - r[0], y[3] - r[1]}, (double[]){y[4] - v[0], y[5] - v[1]});
  const double along[2] = {cos(y[0]), sin(y[0])};
  dy[0] = y[1];
  dy[1] = (-c->g * along[1] + p.force / c->m[0] * dot(p.e, along)) / c->l[0];
  dy[2] = y[4];
  dy[3] = y[5];
  dy[4] = -p.force / c->m[1] * p.e[0];
  dy[5] = -p.force / c->m[1] * p.e[1] - c->g;
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const pendulums *c = p->def.user;
  const double *q0 = p->q0, *v0 = p->v0;
  double r[4], w[4], a[4], y[6], dy[6], pulls[2];
  const double angle = atan2(q0[0], -q0[1]);
  const double rate = (q0[0] * v0[1] - q0[1] * v0[0]) / (c->l[0] * c->l[0]);
  if (has_rod(c)) {
    double d[2], u[2];
    difference(q0, d);
    difference(v0, u);
    y[0] = angle;
    y[1] = atan2(d[0], -d[1]);
    y[2] = rate;
    y[3] = (d[0] * u[1] - d[1] * u[0]) / (c->l[1] * c->l[1]);
    reference_ode(rods_rhs, c, 4, p->t0, t, c->reference_step, y);
    rods_rhs(t, y, dy, c);
    turn(c->l[0], y[0], y[2], dy[2], r, w, a);
    turn(c->l[1], y[1], y[3], dy[3], r + 2, w + 2, a + 2);
    for (int i = 0; i < 2; i++) {
      // lambda_2 d = m2 (gravity - r2'')
      pulls[i] = c->m[1] * ((i == 1 ? -c->g : 0.0) - a[i] - a[2 + i]);
    }
    if (lambda) lambda[1] = dot(pulls, r + 2) / (c->l[1] * c->l[1]);
    for (int i = 0; i < 2; i++) r[2 + i] += r[i], w[2 + i] += w[i], a[2 + i] += a[i];
  } else {
    y[0] = angle;
    y[1] = rate;
    reference_put(y + 2, q0 + 2, 2);
    reference_put(y + 4, v0 + 2, 2);
    reference_ode(spring_rhs, c, 6, p->t0, t, c->reference_step, y);
    spring_rhs(t, y, dy, c);
    turn(c->l[0], y[0], y[1], dy[1], r, w, a);
    reference_put(r + 2, y + 2, 2);
    reference_put(w + 2, y + 4, 2);
    reference_put(a + 2, dy + 4, 2);
    for (int i = 0; i < 2; i++) pulls[i] = c->m[1] * ((i == 1 ? -c->g : 0.0) - a[2 + i]);
  }
  // lambda_1 r1 = m1 (gravity - r1'') + what the second one pulls with
  const double rest[2] = {pulls[0] - c->m[0] * a[0], pulls[1] - c->m[0] * (c->g + a[1])};
  if (lambda) lambda[0] = dot(rest, r) / (c->l[0] * c->l[0]);
  reference_put(q, r, 4);
  reference_put(v, w, 4);
  reference_put(vdot, a, 4);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const pendulums *c = p->def.user;
  double sum = 0.0;
  for (int i = 0; i < 2; i++)
    sum += c->m[i] * (0.5 * dot(v + 2 * i, v + 2 * i) + c->g * q[2 * i + 1]);
  return sum;
}

static const as_space_part space[] = {{AS_SPACE_RN, 4}};

#define PENDULUMS(parameters, rows, f_v)                                                           \
  .def =                                                                                           \
      {                                                                                            \
          .parts = space,                                                                          \
          .n_parts = 1,                                                                            \
          .n_lambda = (rows),                                                                      \
          .mass_constant = true,                                                                   \
          .scleronomic = true,                                                                     \
          .mass = mass,                                                                            \
          .force = force,                                                                          \
          .constraint = constraint,                                                                \
          .constraint_rate = constraint_rate,                                                      \
          .constraint_acceleration = constraint_acceleration,                                      \
          .jacobian = jacobian,                                                                    \
          .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_F_V] = {.source = (f_v)},                                            \
                    [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},                                   \
                    [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN}},                               \
          .time_scale = 1.0,                                                                       \
          .user = &(parameters),                                                                   \
  },                                                                                               \
  .t0 = 0.0, .exact = exact

const test_problem *problem_double_pendulum_points(void) {
  static pendulums parameters = {
      .m = {1.0, 1.0}, .l = {1.0, 1.0}, .g = 9.81, .reference_step = 0.02};
  static const double q0[] = {1.0, 0.0, 2.0, 0.0};
  static const double v0[] = {0.0, 0.0, 0.0, 0.0};
  static test_problem problem = {.name = "double_pendulum_points",
                                 PENDULUMS(parameters, 2, AS_BLOCK_ZERO),
                                 .t_end = 3.0,
                                 .q0 = q0,
                                 .v0 = v0,
                                 .energy = energy};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const test_problem *problem_stiff_pendulum(void) {
  // k = 1e8 N/m: sqrt(k/m) = 1e4 rad/s, damped by a tenth of the critical c = 2 sqrt(k m). Reference steps between
  // 15 and 150 us agree to 1e-12 in q, 1e-10 in v and 3e-7 in lambda, where 1e8 times round-off shows.
  static pendulums parameters = {
      .m = {1.0, 1.0}, .l = {1.0, 1.0}, .g = 9.81, .k = 1e8, .c = 2e3, .reference_step = 1e-4};
  // theta = (1, 0.6), at rest; the spring stretched by F/k with F = g cos(1) c/(2 - c^2), c = cos(0.4),
  // which is what two rods would have to pull with, and so changes slowly.
  static const double q0[] = {0.8414709848078965, -0.5403023058681398, 1.406113482138763,
                              -1.3656379557647256};
  static const double v0[] = {0.0, 0.0, 0.0, 0.0};
  static test_problem problem = {.name = "stiff_pendulum",
                                 PENDULUMS(parameters, 1, AS_BLOCK_GIVEN),
                                 .t_end = 2.0,
                                 .q0 = q0,
                                 .v0 = v0};
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
