/// The rolling disk of [J] (7.2), R^5: y = (x, y, lean, heading, spin), z = y'. The disk touches
/// the plane at (x, y); its centre is at (x - r s3 s4, y + r s3 c4, r c3). s3 = sin(y3) and so on.
///
///     T = m/2 (z1^2 + z2^2 + r^2 z3^2 + r^2 z4^2 s3^2)
///         - m r (z3 c3 (z1 s4 - z2 c4) + z4 s3 (z1 c4 + z2 s4))
///         + I1/2 (z3^2 + z4^2 c3^2) + I2/2 (z5 + z4 s3)^2,          U = m g r c3
///     M = [ m                                                                       symmetric ]
///         [ 0           m                                                                     ]
///         [ -m r c3 s4  m r c3 c4   m r^2 + I1                                                ]
///         [ -m r s3 c4  -m r s3 s4  0           (m r^2 + I2) s3^2 + I1 c3^2                   ]
///         [ 0           0           0           I2 s3                           I2            ]
///     f0 = [ m r (-z3^2 s3 s4 + 2 z3 z4 c3 c4 - z4^2 s3 s4)  ]
///          [ m r ( z3^2 s3 c4 + 2 z3 z4 c3 s4 + z4^2 s3 c4)  ]
///          [ N z4^2 s3 c3 + I2 z4 z5 c3 + m g r s3           ]      N = m r^2 - I1 + I2
///          [ -(2 N z4 s3 + I2 z5) c3 z3                      ]
///          [ -I2 z3 z4 c3                                    ]
///     0 = k = (z1 - o r c4 z5, z2 - o r s4 z5)                      o = +1 or -1
///
/// [J] prints f4 without -I2 z5 z3 c3: then the energy is not kept. [J] also has o = +1, although
/// the T above turns the disk by z5 around (s4 c3, -c4 c3, s3), for which rolling is o = -1; with
/// o = +1 the contact runs against the spin: an ideal constraint too, but no rolling.
///
/// A guide may hold the disk besides: 0 = g = y3 - lean - bend sin(y4) - drive sin(W t).
///
/// Reference: the directions that k allows, in which z1 and z2 are known from z5:
///
///     (m r^2 + I1) z3' = f3 - o m r^2 c3 z4 z5 - lambda
///     M44 z4' + (I2 - o m r^2) s3 z5' = f4 + bend c4 lambda
///     (I2 - o m r^2) s3 z4' + (I2 + m r^2) z5' = (2 o m r^2 - I2) z3 z4 c3
///     c4 psi1 + s4 psi2 = m r (2 z3 z4 c3 + s3 z4' - o z5')
///     c4 psi2 - s4 psi1 = m r ((z3^2 + z4^2) s3 - o z4 z5 - c3 z3')
///
/// and with a guide also y3, z3 and lambda from y4, z4 and t.
#include <math.h>
#include <stdbool.h>

#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"

typedef struct disk {
  double m;         ///< [kg]
  double r;         ///< [m]
  double I1;        ///< about a diameter [kg m^2]
  double I2;        ///< about the axis [kg m^2]
  double g;         ///< [m/s^2]
  double o;         ///< +1: as [J] prints k; -1: rolls the way it spins
  bool printed;     ///< f4 as [J] prints it
  bool guided;      ///< by the following
  double lean;      ///< [rad]
  double bend;      ///< [rad]
  double drive;     ///< [rad]
  double frequency; ///< W [rad/s]
} disk;

// The derivatives of M and of f0 in y3 and y4 follow from these.
typedef struct angles {
  double s3, c3, s4, c4;
} angles;

static angles angles_of(const double *q) {
  return (angles){.s3 = sin(q[2]), .c3 = cos(q[2]), .s4 = sin(q[3]), .c4 = cos(q[3])};
}

/// I2 in the term of f4 that [J] lacks.
static double spin_inertia(const disk *d) { return d->printed ? 0.0 : d->I2; }

static int mass(const as_point *at, as_matrix *m, void *user) {
  const disk *d = user;
  angles a = angles_of(at->q);
  double mr = d->m * d->r;
  const double M[] = {d->m,
                      0.0,
                      -mr * a.c3 * a.s4,
                      -mr * a.s3 * a.c4,
                      0.0, //
                      0.0,
                      d->m,
                      mr * a.c3 * a.c4,
                      -mr * a.s3 * a.s4,
                      0.0, //
                      -mr * a.c3 * a.s4,
                      mr * a.c3 * a.c4,
                      mr * d->r + d->I1,
                      0.0,
                      0.0, //
                      -mr * a.s3 * a.c4,
                      -mr * a.s3 * a.s4,
                      0.0,
                      (mr * d->r + d->I2) * a.s3 * a.s3 + d->I1 * a.c3 * a.c3,
                      d->I2 * a.s3, //
                      0.0,
                      0.0,
                      0.0,
                      d->I2 * a.s3,
                      d->I2};
  as_matrix_add_block(m, 0, 0, 5, 5, M);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  const disk *d = user;
  const double *z = at->v;
  angles a = angles_of(at->q);
  double mr = d->m * d->r, N = mr * d->r - d->I1 + d->I2;
  double squares = z[2] * z[2] + z[3] * z[3], cross = 2.0 * z[2] * z[3];
  out[0] = mr * (-squares * a.s3 * a.s4 + cross * a.c3 * a.c4);
  out[1] = mr * (squares * a.s3 * a.c4 + cross * a.c3 * a.s4);
  out[2] = (N * z[3] * a.s3 + d->I2 * z[4]) * a.c3 * z[3] + mr * d->g * a.s3;
  out[3] = -(2.0 * N * z[3] * a.s3 + spin_inertia(d) * z[4]) * a.c3 * z[2];
  out[4] = -d->I2 * z[2] * z[3] * a.c3;
  return AS_DONE;
}

static int constraint(const as_point *at, double *out, void *user) {
  const disk *d = user;
  out[0] = at->q[2] - d->lean - d->bend * sin(at->q[3]) - d->drive * sin(d->frequency * at->t);
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const disk *d = user;
  double W = d->frequency;
  out[0] = at->v[2] - d->bend * cos(at->q[3]) * at->v[3] - d->drive * W * cos(W * at->t);
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const disk *d = user;
  double W = d->frequency;
  out[0] = d->bend * sin(at->q[3]) * at->v[3] * at->v[3] + d->drive * W * W * sin(W * at->t);
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  const disk *d = user;
  const double *z = at->v;
  out[0] = z[0] - d->o * d->r * cos(at->q[3]) * z[4];
  out[1] = z[1] - d->o * d->r * sin(at->q[3]) * z[4];
  return AS_DONE;
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  const disk *d = user;
  const double *z = at->v;
  out[0] = d->o * d->r * sin(at->q[3]) * z[3] * z[4];
  out[1] = -d->o * d->r * cos(at->q[3]) * z[3] * z[4];
  return AS_DONE;
}

/// Columns y3 and y4 of D_q (M v').
static void add_ma_q(const disk *d, const as_point *at, as_matrix *b) {
  const double *w = at->vdot;
  angles a = angles_of(at->q);
  double mr = d->m * d->r, N = mr * d->r - d->I1 + d->I2;
  as_matrix_add(b, 0, 2, mr * (a.s3 * a.s4 * w[2] - a.c3 * a.c4 * w[3]));
  as_matrix_add(b, 0, 3, mr * (-a.c3 * a.c4 * w[2] + a.s3 * a.s4 * w[3]));
  as_matrix_add(b, 1, 2, mr * (-a.s3 * a.c4 * w[2] - a.c3 * a.s4 * w[3]));
  as_matrix_add(b, 1, 3, mr * (-a.c3 * a.s4 * w[2] - a.s3 * a.c4 * w[3]));
  as_matrix_add(b, 2, 2, mr * a.s3 * (a.s4 * w[0] - a.c4 * w[1]));
  as_matrix_add(b, 2, 3, -mr * a.c3 * (a.c4 * w[0] + a.s4 * w[1]));
  as_matrix_add(b, 3, 2,
                -mr * a.c3 * (a.c4 * w[0] + a.s4 * w[1]) + 2.0 * N * a.s3 * a.c3 * w[3] +
                    d->I2 * a.c3 * w[4]);
  as_matrix_add(b, 3, 3, mr * a.s3 * (a.s4 * w[0] - a.c4 * w[1]));
  as_matrix_add(b, 4, 2, d->I2 * a.c3 * w[3]);
}

static void add_f_q(const disk *d, const as_point *at, as_matrix *b) {
  const double *z = at->v, *psi = at->psi;
  angles a = angles_of(at->q);
  double mr = d->m * d->r, N = mr * d->r - d->I1 + d->I2;
  double squares = z[2] * z[2] + z[3] * z[3], cross = 2.0 * z[2] * z[3];
  double cos2 = a.c3 * a.c3 - a.s3 * a.s3;
  as_matrix_add(b, 0, 2, mr * (-squares * a.c3 * a.s4 - cross * a.s3 * a.c4));
  as_matrix_add(b, 0, 3, mr * (-squares * a.s3 * a.c4 - cross * a.c3 * a.s4));
  as_matrix_add(b, 1, 2, mr * (squares * a.c3 * a.c4 - cross * a.s3 * a.s4));
  as_matrix_add(b, 1, 3, mr * (-squares * a.s3 * a.s4 + cross * a.c3 * a.c4));
  as_matrix_add(b, 2, 2, N * cos2 * z[3] * z[3] - d->I2 * z[4] * a.s3 * z[3] + mr * d->g * a.c3);
  as_matrix_add(b, 3, 2, (-2.0 * N * z[3] * cos2 + spin_inertia(d) * z[4] * a.s3) * z[2]);
  as_matrix_add(b, 4, 2, d->I2 * z[2] * z[3] * a.s3);
  as_matrix_add(b, 4, 3, d->o * d->r * (-a.s4 * psi[0] + a.c4 * psi[1])); // of -k_v^T psi
  if (d->guided) {                                                        // of -B^T lambda
    as_matrix_add(b, 3, 3, -d->bend * a.s4 * at->lambda[0]);
  }
}

static void add_f_v(const disk *d, const as_point *at, as_matrix *b) {
  const double *z = at->v;
  angles a = angles_of(at->q);
  double mr = d->m * d->r, N = mr * d->r - d->I1 + d->I2, I2 = spin_inertia(d);
  as_matrix_add(b, 0, 2, 2.0 * mr * (-z[2] * a.s3 * a.s4 + z[3] * a.c3 * a.c4));
  as_matrix_add(b, 0, 3, 2.0 * mr * (-z[3] * a.s3 * a.s4 + z[2] * a.c3 * a.c4));
  as_matrix_add(b, 1, 2, 2.0 * mr * (z[2] * a.s3 * a.c4 + z[3] * a.c3 * a.s4));
  as_matrix_add(b, 1, 3, 2.0 * mr * (z[3] * a.s3 * a.c4 + z[2] * a.c3 * a.s4));
  as_matrix_add(b, 2, 3, (2.0 * N * z[3] * a.s3 + d->I2 * z[4]) * a.c3);
  as_matrix_add(b, 2, 4, d->I2 * z[3] * a.c3);
  as_matrix_add(b, 3, 2, -(2.0 * N * z[3] * a.s3 + I2 * z[4]) * a.c3);
  as_matrix_add(b, 3, 3, -2.0 * N * a.s3 * a.c3 * z[2]);
  as_matrix_add(b, 3, 4, -I2 * a.c3 * z[2]);
  as_matrix_add(b, 4, 2, -d->I2 * z[3] * a.c3);
  as_matrix_add(b, 4, 3, -d->I2 * z[2] * a.c3);
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const disk *d = user;
  double r = d->o * d->r, s4 = sin(at->q[3]), c4 = cos(at->q[3]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) {
    add_ma_q(d, at, &blocks[AS_BLOCK_MA_Q]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) {
    add_f_q(d, at, &blocks[AS_BLOCK_F_Q]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) {
    add_f_v(d, at, &blocks[AS_BLOCK_F_V]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 2, 1.0);
    as_matrix_add(&blocks[AS_BLOCK_G_Q], 0, 3, -d->bend * c4);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], 0, 3, d->bend * s4 * at->v[3]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 3, r * s4 * at->v[4]);
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 1, 3, -r * c4 * at->v[4]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    const double block[] = {1.0, 0.0, 0.0, 0.0, -r * c4, //
                            0.0, 1.0, 0.0, 0.0, -r * s4};
    as_matrix_add_block(&blocks[AS_BLOCK_K_V], 0, 0, 2, 5, block);
  }
  return AS_DONE;
}

// Reference: y = (x, y, lean, heading, spin, z3, z4, z5).

/// With a guide: lean and z3 from the rest.
static void follow_guide(const disk *d, double t, double *y) {
  if (d->guided) {
    double W = d->frequency;
    y[2] = d->lean + d->bend * sin(y[3]) + d->drive * sin(W * t);
    y[5] = d->bend * cos(y[3]) * y[6] + d->drive * W * cos(W * t);
  }
}

/// (z3', z4', z5', lambda) at y, which follows the guide.
static void accelerations(const disk *d, double t, const double *y, double *out) {
  double s3 = sin(y[2]), c3 = cos(y[2]), s4 = sin(y[3]), c4 = cos(y[3]);
  double z3 = y[5], z4 = y[6], z5 = y[7];
  double mrr = d->m * d->r * d->r, N = mrr - d->I1 + d->I2, W = d->frequency;
  double bend = d->guided ? d->bend : 0.0;
  double A[16] = {mrr + d->I1,
                  0.0,
                  0.0,
                  1.0, //
                  0.0,
                  (mrr + d->I2) * s3 * s3 + d->I1 * c3 * c3,
                  (d->I2 - d->o * mrr) * s3,
                  -bend * c4, //
                  0.0,
                  (d->I2 - d->o * mrr) * s3,
                  d->I2 + mrr,
                  0.0, //
                  1.0,
                  -bend * c4,
                  0.0,
                  0.0};
  out[0] = N * z4 * z4 * s3 * c3 + (d->I2 - d->o * mrr) * z4 * z5 * c3 + d->m * d->g * d->r * s3;
  out[1] = -(2.0 * N * z4 * s3 + spin_inertia(d) * z5) * c3 * z3;
  out[2] = (2.0 * d->o * mrr - d->I2) * z3 * z4 * c3;
  out[3] = -bend * s4 * z4 * z4 - d->drive * W * W * sin(W * t);
  if (!d->guided) { // lambda = 0
    A[3] = A[12] = out[3] = 0.0;
    A[15] = 1.0;
  }
  reference_solve(4, A, out);
}

static void reduced_rhs(double t, const double *y, double *dy, const void *context) {
  const disk *d = context;
  double at[8], second[4];
  for (int i = 0; i < 8; i++) {
    at[i] = y[i];
  }
  follow_guide(d, t, at);
  accelerations(d, t, at, second);
  dy[0] = d->o * d->r * cos(at[3]) * at[7];
  dy[1] = d->o * d->r * sin(at[3]) * at[7];
  dy[2] = at[5];
  dy[3] = at[6];
  dy[4] = at[7];
  dy[5] = second[0];
  dy[6] = second[1];
  dy[7] = second[2];
}

/// Everything from the reduced state.
static void put_disk(const disk *d, double t, const double *y, double *q, double *v, double *vdot,
                     double *lambda, double *psi) {
  double s3 = sin(y[2]), c3 = cos(y[2]), s4 = sin(y[3]), c4 = cos(y[3]), second[4];
  double z3 = y[5], z4 = y[6], z5 = y[7], r = d->o * d->r;
  accelerations(d, t, y, second);
  double along = d->m * d->r * (2.0 * z3 * z4 * c3 + s3 * second[1] - d->o * second[2]);
  double across = d->m * d->r * ((z3 * z3 + z4 * z4) * s3 - d->o * z4 * z5 - c3 * second[0]);
  reference_put(q, y, 5);
  reference_put(v, (double[]){r * c4 * z5, r * s4 * z5, z3, z4, z5}, 5);
  reference_put(vdot,
                (double[]){r * (c4 * second[2] - s4 * z4 * z5), r * (s4 * second[2] + c4 * z4 * z5),
                           second[0], second[1], second[2]},
                5);
  if (d->guided) {
    reference_put(lambda, &second[3], 1);
  }
  reference_put(psi, (double[]){c4 * along - s4 * across, s4 * along + c4 * across}, 2);
}

static void exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *psi) {
  const disk *d = p->def.user;
  double y[8];
  reference_put(y, p->q0, 5);
  reference_put(y + 5, p->v0 + 2, 3);
  reference_ode(reduced_rhs, d, 8, p->t0, t, 0.04, y);
  follow_guide(d, t, y);
  put_disk(d, t, y, q, v, vdot, lambda, psi);
}

/// With the lean kept, heading and spin turn evenly and the contact runs around a circle.
static void held_exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                       double *lambda, double *psi) {
  const disk *d = p->def.user;
  double z4 = p->v0[3], z5 = p->v0[4], R = d->o * d->r * z5 / z4, since = t - p->t0;
  double heading = p->q0[3] + z4 * since;
  double y[8] = {p->q0[0] + R * (sin(heading) - sin(p->q0[3])),
                 p->q0[1] - R * (cos(heading) - cos(p->q0[3])),
                 d->lean,
                 heading,
                 p->q0[4] + z5 * since,
                 0.0,
                 z4,
                 z5};
  put_disk(d, t, y, q, v, vdot, lambda, psi);
}

static double energy(const nonholonomic_problem *p, const double *q, const double *v) {
  const disk *d = p->def.user;
  angles a = angles_of(q);
  double mr = d->m * d->r, spin = v[4] + v[3] * a.s3;
  // The centre's velocity.
  double x = v[0] - d->r * (a.c3 * a.s4 * v[2] + a.s3 * a.c4 * v[3]);
  double y = v[1] + d->r * (a.c3 * a.c4 * v[2] - a.s3 * a.s4 * v[3]);
  double z = -d->r * a.s3 * v[2];
  return 0.5 * d->m * (x * x + y * y + z * z) + 0.5 * d->I2 * spin * spin +
         0.5 * d->I1 * (v[2] * v[2] + v[3] * v[3] * a.c3 * a.c3) + mr * d->g * a.c3;
}

// Instances.

static const as_space_part space[] = {{AS_SPACE_RN, 5}};

#define DISK .m = 2.0, .r = 1.0, .I1 = 2.0, .I2 = 2.0, .g = 10.0

#define FREE(parameters)                                                                           \
  .parts = space, .n_parts = 1, .n_psi = 2, .mass = mass, .force = force,                          \
  .nonholonomic = nonholonomic, .nonholonomic_acceleration = nonholonomic_acceleration,            \
  .jacobian = jacobian, .block = {[AS_BLOCK_MA_Q] = {.source = AS_BLOCK_GIVEN},                    \
                                  [AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                     \
                                  [AS_BLOCK_F_V] = {.source = AS_BLOCK_GIVEN},                     \
                                  [AS_BLOCK_G_Q] = {.source = AS_BLOCK_GIVEN},                     \
                                  [AS_BLOCK_GDOT_Q] = {.source = AS_BLOCK_GIVEN},                  \
                                  [AS_BLOCK_K_Q] = {.source = AS_BLOCK_GIVEN},                     \
                                  [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},                    \
  .time_scale = 0.3, .user = &(parameters)

#define GUIDED(parameters)                                                                         \
  FREE(parameters), .n_lambda = 1, .constraint = constraint, .constraint_rate = constraint_rate,   \
                    .constraint_acceleration = constraint_acceleration

static const double jay_q0[] = {0.1, 0.0, 0.3, 0.0, 1.0};
static const double jay_v0[] = {0.1, 0.0, 0.02, -0.02, 0.1};

const nonholonomic_problem *nonholonomic_disk(void) {
  static disk parameters = {DISK, .o = 1.0};
  static nonholonomic_problem problem = {
      .name = "disk",
      .def = {FREE(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 10.0,
      .q0 = jay_q0,
      .v0 = jay_v0,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_disk_printed(void) {
  static disk parameters = {DISK, .o = 1.0, .printed = true};
  static nonholonomic_problem problem = {
      .name = "disk_printed",
      .def = {FREE(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 10.0,
      .q0 = jay_q0,
      .v0 = jay_v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_disk_physical(void) {
  static disk parameters = {DISK, .o = -1.0};
  static const double q0[] = {0.1, 0.0, 0.2837941092083279, 0.0, 0.0}; // sin(lean) = 0.28
  static const double v0[] = {-3.0, 0.0, 0.2, -0.5, 3.0};
  static nonholonomic_problem problem = {
      .name = "disk_physical",
      .def = {FREE(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 3.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_disk_held(void) {
  static disk parameters = {DISK, .o = -1.0, .guided = true, .lean = 0.4};
  static const double q0[] = {0.0, 0.0, 0.4, 0.0, 0.0};
  static const double v0[] = {-2.0, 0.0, 0.0, 1.2, 2.0};
  static nonholonomic_problem problem = {
      .name = "disk_held",
      .def = {GUIDED(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 3.0,
      .q0 = q0,
      .v0 = v0,
      .exact = held_exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_disk_guided(void) {
  static disk parameters = {DISK, .o = -1.0, .guided = true, .lean = 0.2, .bend = 0.5};
  static const double q0[] = {0.0, 0.0, 0.2, 0.0, 0.0};
  static const double v0[] = {-2.0, 0.0, 0.6, 1.2, 2.0};
  static nonholonomic_problem problem = {
      .name = "disk_guided",
      .def = {GUIDED(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 3.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_disk_driven(void) {
  static disk parameters = {DISK,        .o = -1.0,     .guided = true,  .lean = 0.2,
                            .bend = 0.3, .drive = 0.25, .frequency = 2.0};
  static const double q0[] = {0.0, 0.0, 0.2, 0.0, 0.0};
  static const double v0[] = {-2.0, 0.0, 0.86, 1.2, 2.0};
  static nonholonomic_problem problem = {
      .name = "disk_driven",
      .def = {GUIDED(parameters)},
      .t0 = 0.0,
      .t_end = 3.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
