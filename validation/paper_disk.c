// A disk that rolls without sliding, q = (x, y, lean, heading, spin): (7.2) of Jay, "Convergence of
// the generalized-alpha method for constrained systems in mechanics with nonholonomic constraints",
// 2011. m = 2, r = 1, I1 = I2 = 2, g = 10. With s3 = sin(lean), c4 = cos(heading) and so on, and
// K = m r^2 - I1 + I2:
//
//     M = [ m           0           -m r c3 s4   -m r s3 c4                          0     ]
//         [ 0           m            m r c3 c4   -m r s3 s4                          0     ]
//         [ -m r c3 s4  m r c3 c4    m r^2 + I1   0                                  0     ]
//         [ -m r s3 c4  -m r s3 s4   0            m r^2 s3^2 + I1 c3^2 + I2 s3^2     I2 s3 ]
//         [ 0           0            0            I2 s3                              I2    ]
//
//     f0 = ( m r (-(v3^2 + v4^2) s3 s4 + 2 v3 v4 c3 c4),
//            m r ( (v3^2 + v4^2) s3 c4 + 2 v3 v4 c3 s4),
//            K v4^2 s3 c3 + I2 v4 v5 c3 + m g r s3,
//            -(2 K v4 s3 + I2 v5) c3 v3,
//            -I2 v3 v4 c3 )
//
//     k = (v1 - r c4 v5, v2 - r s4 v5)
//
// The paper prints the fourth force without -I2 v5 c3 v3; that disk does not keep its energy.
//
// Reference: v1, v2 eliminated by k = 0, which leaves
//
//     (m r^2 + I1) v3' = K v4^2 s3 c3 + (I2 - m r^2) v4 v5 c3 + m g r s3
//     [ m r^2 s3^2 + I1 c3^2 + I2 s3^2   (I2 - m r^2) s3 ] (v4')   ( -(2 K v4 s3 + I2 v5) c3 v3 )
//     [ (I2 - m r^2) s3                  m r^2 + I2      ] (v5') = ( (2 m r^2 - I2) v3 v4 c3    )
//
// and psi from the first two equations of motion.
#include <math.h>
#include <stddef.h>

#include "paper_problems.h"

enum { DIM = 5 };

// The numbers as macros, so that products of them are constants too.
#define MASS 2.0
#define RADIUS 1.0
#define INERTIA1 2.0 // about a diameter
#define INERTIA2 2.0 // about the axis
#define GRAVITY 10.0
#define MR (MASS * RADIUS)
#define MRR (MASS * RADIUS * RADIUS)
#define K (MRR - INERTIA1 + INERTIA2)

/// Sines and cosines of lean and heading.
typedef struct angles {
  double s3, c3, s4, c4;
} angles;

static angles angles_of(const double *q) {
  return (angles){sin(q[2]), cos(q[2]), sin(q[3]), cos(q[3])};
}

// ---- the problem; `user` points to the factor 1 or 0 of -I2 v5 c3 v3 in the fourth force

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)user;
  angles g = angles_of(at->q);
  const double corner[2][2] = {{-MR * g.c3 * g.s4, -MR * g.s3 * g.c4},
                               {MR * g.c3 * g.c4, -MR * g.s3 * g.s4}};
  for (int i = 0; i < 2; i++) {
    as_matrix_add(m, i, i, MASS);
    for (int j = 0; j < 2; j++) {
      as_matrix_add(m, i, 2 + j, corner[i][j]);
      as_matrix_add(m, 2 + j, i, corner[i][j]);
    }
  }
  as_matrix_add(m, 2, 2, MRR + INERTIA1);
  as_matrix_add(m, 3, 3, (MRR + INERTIA2) * g.s3 * g.s3 + INERTIA1 * g.c3 * g.c3);
  as_matrix_add(m, 3, 4, INERTIA2 * g.s3);
  as_matrix_add(m, 4, 3, INERTIA2 * g.s3);
  as_matrix_add(m, 4, 4, INERTIA2);
  return AS_DONE;
}

static void plain_force(const double *q, const double *v, double factor, double *out) {
  angles g = angles_of(q);
  double squares = v[2] * v[2] + v[3] * v[3];
  double product = v[2] * v[3];
  out[0] = MR * (-squares * g.s3 * g.s4 + 2.0 * product * g.c3 * g.c4);
  out[1] = MR * (squares * g.s3 * g.c4 + 2.0 * product * g.c3 * g.s4);
  out[2] = K * v[3] * v[3] * g.s3 * g.c3 + INERTIA2 * v[3] * v[4] * g.c3 + MR * GRAVITY * g.s3;
  out[3] = -(2.0 * K * v[3] * g.s3 + factor * INERTIA2 * v[4]) * g.c3 * v[2];
  out[4] = -INERTIA2 * product * g.c3;
}

static int force(const as_point *at, double *out, void *user) {
  plain_force(at->q, at->v, *(const double *)user, out);
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  (void)user;
  angles g = angles_of(at->q);
  out[0] = at->v[0] - RADIUS * g.c4 * at->v[4];
  out[1] = at->v[1] - RADIUS * g.s4 * at->v[4];
  return AS_DONE;
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  (void)user;
  angles g = angles_of(at->q);
  out[0] = RADIUS * g.s4 * at->v[3] * at->v[4];
  out[1] = -RADIUS * g.c4 * at->v[3] * at->v[4];
  return AS_DONE;
}

/// D_q (M v')
static void add_mass_by_q(const as_point *at, as_matrix *block) {
  angles g = angles_of(at->q);
  const double *a = at->vdot;
  double by_lean[DIM] = {
      MR * (g.s3 * g.s4 * a[2] - g.c3 * g.c4 * a[3]),
      -MR * (g.s3 * g.c4 * a[2] + g.c3 * g.s4 * a[3]),
      MR * g.s3 * (g.s4 * a[0] - g.c4 * a[1]),
      -MR * g.c3 * (g.c4 * a[0] + g.s4 * a[1]) + 2.0 * K * g.s3 * g.c3 * a[3] +
          INERTIA2 * g.c3 * a[4],
      INERTIA2 * g.c3 * a[3],
  };
  double by_heading[DIM] = {
      MR * (-g.c3 * g.c4 * a[2] + g.s3 * g.s4 * a[3]),
      -MR * (g.c3 * g.s4 * a[2] + g.s3 * g.c4 * a[3]),
      -MR * g.c3 * (g.c4 * a[0] + g.s4 * a[1]),
      MR * g.s3 * (g.s4 * a[0] - g.c4 * a[1]),
      0.0,
  };
  as_matrix_add_block(block, 0, 2, DIM, 1, by_lean);
  as_matrix_add_block(block, 0, 3, DIM, 1, by_heading);
}

/// D_q (f0 - k_v^T psi)
static void add_force_by_q(const as_point *at, double factor, as_matrix *block) {
  angles g = angles_of(at->q);
  const double *v = at->v;
  double squares = v[2] * v[2] + v[3] * v[3];
  double product = v[2] * v[3];
  double c2 = g.c3 * g.c3 - g.s3 * g.s3; // cos(2 lean)
  double by_lean[DIM] = {
      -MR * (squares * g.c3 * g.s4 + 2.0 * product * g.s3 * g.c4),
      MR * (squares * g.c3 * g.c4 - 2.0 * product * g.s3 * g.s4),
      K * v[3] * v[3] * c2 - INERTIA2 * v[3] * v[4] * g.s3 + MR * GRAVITY * g.c3,
      -2.0 * K * product * c2 + factor * INERTIA2 * v[4] * g.s3 * v[2],
      INERTIA2 * product * g.s3,
  };
  double by_heading[DIM] = {
      -MR * (squares * g.s3 * g.c4 + 2.0 * product * g.c3 * g.s4),
      MR * (-squares * g.s3 * g.s4 + 2.0 * product * g.c3 * g.c4),
      0.0,
      0.0,
      RADIUS * (-g.s4 * at->psi[0] + g.c4 * at->psi[1]),
  };
  as_matrix_add_block(block, 0, 2, DIM, 1, by_lean);
  as_matrix_add_block(block, 0, 3, DIM, 1, by_heading);
}

/// Derivatives of f0 by v
static void add_force_by_v(const as_point *at, double factor, as_matrix *block) {
  angles g = angles_of(at->q);
  const double *v = at->v;
  double d[DIM][3] = {
      // by v3, v4, v5
      {2.0 * MR * (-v[2] * g.s3 * g.s4 + v[3] * g.c3 * g.c4),
       2.0 * MR * (v[2] * g.c3 * g.c4 - v[3] * g.s3 * g.s4), 0.0},
      {2.0 * MR * (v[2] * g.s3 * g.c4 + v[3] * g.c3 * g.s4),
       2.0 * MR * (v[2] * g.c3 * g.s4 + v[3] * g.s3 * g.c4), 0.0},
      {0.0, 2.0 * K * v[3] * g.s3 * g.c3 + INERTIA2 * v[4] * g.c3, INERTIA2 * v[3] * g.c3},
      {-(2.0 * K * v[3] * g.s3 + factor * INERTIA2 * v[4]) * g.c3, -2.0 * K * g.s3 * g.c3 * v[2],
       -factor * INERTIA2 * g.c3 * v[2]},
      {-INERTIA2 * v[3] * g.c3, -INERTIA2 * v[2] * g.c3, 0.0},
  };
  as_matrix_add_block(block, 0, 2, DIM, 3, d[0]);
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  double factor = *(const double *)user;
  angles g = angles_of(at->q);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_MA_Q)) add_mass_by_q(at, &blocks[AS_BLOCK_MA_Q]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) add_force_by_q(at, factor, &blocks[AS_BLOCK_F_Q]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_V)) add_force_by_v(at, factor, &blocks[AS_BLOCK_F_V]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 3, RADIUS * g.s4 * at->v[4]);
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 1, 3, -RADIUS * g.c4 * at->v[4]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, 1.0);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 1, 1, 1.0);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 4, -RADIUS * g.c4);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 1, 4, -RADIUS * g.s4);
  }
  return AS_DONE;
}

static as_status make(double *factor, as_problem **out, as_error *error) {
  static const as_block given[] = {AS_BLOCK_MA_Q, AS_BLOCK_F_Q, AS_BLOCK_F_V, AS_BLOCK_K_Q,
                                   AS_BLOCK_K_V};
  as_space_part coordinates = {AS_SPACE_RN, DIM};
  as_problem_def def = as_default_problem_def();
  def.parts = &coordinates;
  def.n_parts = 1;
  def.n_psi = 2;
  def.scleronomic = true;
  def.mass = mass;
  def.force = force;
  def.nonholonomic = nonholonomic;
  def.nonholonomic_acceleration = nonholonomic_acceleration;
  def.jacobian = jacobian;
  def.user = factor;
  for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
    def.block[given[i]].source = AS_BLOCK_GIVEN;
  }
  return as_problem_create(&def, out, error);
}

as_status disk_problem(as_problem **out, as_error *error) {
  static double whole = 1.0;
  return make(&whole, out, error);
}

as_status disk_printed_problem(as_problem **out, as_error *error) {
  static double printed = 0.0;
  return make(&printed, out, error);
}

double disk_energy(const double *q, const double *v) {
  angles g = angles_of(q);
  double turn = v[4] + v[3] * g.s3; // about the axis
  double kinetic =
      0.5 * MASS * (v[0] * v[0] + v[1] * v[1]) +
      0.5 * MRR * (v[2] * v[2] + v[3] * v[3] * g.s3 * g.s3) -
      MR * (v[2] * g.c3 * (v[0] * g.s4 - v[1] * g.c4) + v[3] * g.s3 * (v[0] * g.c4 + v[1] * g.s4)) +
      0.5 * INERTIA1 * (v[2] * v[2] + v[3] * v[3] * g.c3 * g.c3) + 0.5 * INERTIA2 * turn * turn;
  return kinetic + MR * GRAVITY * g.c3;
}

// ---- the reference

disk_motion disk_start(void) {
  return (disk_motion){.q = {0.1, 0.0, 0.3, 0.0, 1.0}, .rate = {0.02, -0.02, 0.1}};
}

/// The time derivative of a motion.
static disk_motion slope(const disk_motion *motion) {
  angles g = angles_of(motion->q);
  const double *u = motion->rate;
  double m11 = (MRR + INERTIA2) * g.s3 * g.s3 + INERTIA1 * g.c3 * g.c3;
  double m12 = (INERTIA2 - MRR) * g.s3;
  double m22 = MRR + INERTIA2;
  double r1 = -(2.0 * K * u[1] * g.s3 + INERTIA2 * u[2]) * g.c3 * u[0];
  double r2 = (2.0 * MRR - INERTIA2) * u[0] * u[1] * g.c3;
  double det = m11 * m22 - m12 * m12;
  disk_motion d;
  d.q[0] = RADIUS * g.c4 * u[2];
  d.q[1] = RADIUS * g.s4 * u[2];
  for (int i = 0; i < 3; i++) d.q[2 + i] = u[i];
  d.rate[0] = (K * u[1] * u[1] * g.s3 * g.c3 + (INERTIA2 - MRR) * u[1] * u[2] * g.c3 +
               MR * GRAVITY * g.s3) /
              (MRR + INERTIA1);
  d.rate[1] = (m22 * r1 - m12 * r2) / det;
  d.rate[2] = (m11 * r2 - m12 * r1) / det;
  return d;
}

/// motion += s d
static void add(disk_motion *motion, double s, const disk_motion *d) {
  for (int i = 0; i < DIM; i++) motion->q[i] += s * d->q[i];
  for (int i = 0; i < 3; i++) motion->rate[i] += s * d->rate[i];
}

void disk_advance(disk_motion *motion, double h) {
  const double longest = 5e-4; // RK4's error at t = 10 is then below 2e-12 in q and v, 2e-11 in psi
  const double at[4] = {0.0, 0.5, 0.5, 1.0};
  const double weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  int n = (int)ceil(h / longest);
  double s = h / n;
  for (int i = 0; i < n; i++) {
    disk_motion start = *motion;
    disk_motion k = {{0.0}, {0.0}};
    for (int stage = 0; stage < 4; stage++) {
      disk_motion here = start;
      add(&here, at[stage] * s, &k);
      k = slope(&here);
      add(motion, weight[stage] * s, &k);
    }
  }
}

void disk_coordinates(const disk_motion *motion, double *q, double *v) {
  disk_motion d = slope(motion);
  for (int i = 0; i < DIM; i++) {
    q[i] = motion->q[i];
    v[i] = d.q[i];
  }
}

void disk_multipliers(const disk_motion *motion, double *psi) {
  angles g = angles_of(motion->q);
  const double *u = motion->rate;
  disk_motion d = slope(motion);
  double q[DIM], v[DIM], f[DIM];
  disk_coordinates(motion, q, v);
  plain_force(q, v, 1.0, f);
  double speed_rate = RADIUS * d.rate[2];          // of r v5
  double turn = RADIUS * u[1] * u[2];              // v4 r v5
  double x_rate = speed_rate * g.c4 - turn * g.s4; // v1'
  double y_rate = speed_rate * g.s4 + turn * g.c4; // v2'
  psi[0] = f[0] - MASS * x_rate + MR * (g.c3 * g.s4 * d.rate[0] + g.s3 * g.c4 * d.rate[1]);
  psi[1] = f[1] - MASS * y_rate - MR * (g.c3 * g.c4 * d.rate[0] - g.s3 * g.s4 * d.rate[1]);
}
