/// N four-bar linkages in a row, planar, see loops.h.
///
/// Rod b has its centre at r, its angle phi, u = (cos phi, sin phi), and its ends at r -+ L/2 u.
/// Even rods are cranks, odd ones couplers; crank i is rod 2 i. The rows, two each:
///
///     6 i         pin of crank i          (r - L/2 u)_{2i} - (i L, 0)
///     6 i + 2     crank i, coupler i      (r + L/2 u)_{2i} - (r - L/2 u)_{2i+1}
///     6 i + 4     coupler i, crank i + 1  (r + L/2 u)_{2i+1} - (r + L/2 u)_{2i+2}
///
/// Derivatives by phi: u_phi = n = (-sin phi, cos phi), u_phiphi = -u.
///
/// Reference: psi'' = k sin(psi), phi = pi/2 - psi. With F_l, F_r the forces of its cranks on
/// coupler i, the couplers, which only translate with the tips' acceleration a, give F_ly = F_ry =
/// m (a_y + g)/2 and F_lx + F_rx = m a_x; the moment of crank i about its pin gives the force T =
/// -F_r,i-1 - F_l,i on its tip:
///
///     m L^2/3 psi'' = m g L/2 sin(psi) + L (T_x cos(psi) - T_y sin(psi))
#include <math.h>

#include "problems/loops_build.h"
#include "problems/reference_ode.h"

typedef struct nfourbar {
  int N;
  double m;         ///< [kg]
  double L;         ///< [m]
  double g;         ///< [m/s^2]
  double offset[2]; ///< of the last ground pin [m]
} nfourbar;

/// One end of a rod in a row of g: sign * (r + end L/2 u).
typedef struct rod_end {
  int row, rod;
  double end, sign;
} rod_end;

enum { ENDS_PER_CRANK = 5 }; ///< of pin, crank-coupler and coupler-crank

/// The k-th end of crank i's rows.
static rod_end end_of(int i, int k) {
  const int row = 6 * i, rod = 2 * i;
  const rod_end ends[ENDS_PER_CRANK] = {{row, rod, -1.0, 1.0},
                                        {row + 2, rod, 1.0, 1.0},
                                        {row + 2, rod + 1, -1.0, -1.0},
                                        {row + 4, rod + 1, 1.0, 1.0},
                                        {row + 4, rod + 2, 1.0, -1.0}};
  return ends[k];
}

/// The last crank has its pin only.
static int n_ends(const nfourbar *c, int i) { return i < c->N ? ENDS_PER_CRANK : 1; }

static int mass(const as_point *at, as_matrix *m, void *user) {
  const nfourbar *c = user;
  (void)at;
  for (int b = 0; b <= 2 * c->N; ++b) {
    as_matrix_add(m, 3 * b, 3 * b, c->m);
    as_matrix_add(m, 3 * b + 1, 3 * b + 1, c->m);
    as_matrix_add(m, 3 * b + 2, 3 * b + 2, c->m * c->L * c->L / 12.0);
  }
  return AS_DONE;
}

static int force(const as_point *at, double *f, void *user) {
  const nfourbar *c = user;
  (void)at;
  for (int b = 0; b <= 2 * c->N; ++b) {
    f[3 * b] = f[3 * b + 2] = 0.0;
    f[3 * b + 1] = -c->m * c->g;
  }
  return AS_DONE;
}

static void clear(const nfourbar *c, double *out) {
  for (int i = 0; i < 6 * c->N + 2; ++i) out[i] = 0.0;
}

static int constraint(const as_point *at, double *g, void *user) {
  const nfourbar *c = user;
  clear(c, g);
  for (int i = 0; i <= c->N; ++i) {
    for (int k = 0; k < n_ends(c, i); ++k) {
      const rod_end e = end_of(i, k);
      const double *q = at->q + 3 * e.rod;
      g[e.row] += e.sign * (q[0] + e.end * c->L / 2.0 * cos(q[2]));
      g[e.row + 1] += e.sign * (q[1] + e.end * c->L / 2.0 * sin(q[2]));
    }
    g[6 * i] -= i * c->L;
  }
  g[6 * c->N] -= c->offset[0];
  g[6 * c->N + 1] -= c->offset[1];
  return AS_DONE;
}

static int constraint_rate(const as_point *at, double *out, void *user) {
  const nfourbar *c = user;
  clear(c, out);
  for (int i = 0; i <= c->N; ++i)
    for (int k = 0; k < n_ends(c, i); ++k) {
      const rod_end e = end_of(i, k);
      const double *v = at->v + 3 * e.rod, phi = at->q[3 * e.rod + 2];
      out[e.row] += e.sign * (v[0] - e.end * c->L / 2.0 * sin(phi) * v[2]);
      out[e.row + 1] += e.sign * (v[1] + e.end * c->L / 2.0 * cos(phi) * v[2]);
    }
  return AS_DONE;
}

static int constraint_acceleration(const as_point *at, double *out, void *user) {
  const nfourbar *c = user;
  clear(c, out);
  for (int i = 0; i <= c->N; ++i)
    for (int k = 0; k < n_ends(c, i); ++k) {
      const rod_end e = end_of(i, k);
      const double w = at->v[3 * e.rod + 2], phi = at->q[3 * e.rod + 2];
      const double s = e.sign * e.end * c->L / 2.0;
      out[e.row] -= s * cos(phi) * w * w;
      out[e.row + 1] -= s * sin(phi) * w * w;
    }
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const nfourbar *c = user;
  for (int i = 0; i <= c->N; ++i)
    for (int k = 0; k < n_ends(c, i); ++k) {
      const rod_end e = end_of(i, k);
      const int angle = 3 * e.rod + 2;
      const double s = e.sign * e.end * c->L / 2.0;
      const double s_cos = s * cos(at->q[angle]), s_sin = s * sin(at->q[angle]);
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_G_Q)) {
        as_matrix *b = &blocks[AS_BLOCK_G_Q];
        as_matrix_add(b, e.row, angle - 2, e.sign);
        as_matrix_add(b, e.row + 1, angle - 1, e.sign);
        as_matrix_add(b, e.row, angle, -s_sin);
        as_matrix_add(b, e.row + 1, angle, s_cos);
      }
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_GDOT_Q)) {
        as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], e.row, angle, -s_cos * at->v[angle]);
        as_matrix_add(&blocks[AS_BLOCK_GDOT_Q], e.row + 1, angle, -s_sin * at->v[angle]);
      }
      if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) // of -B^T lambda
        as_matrix_add(&blocks[AS_BLOCK_F_Q], angle, angle,
                      s_cos * at->lambda[e.row] + s_sin * at->lambda[e.row + 1]);
    }
  return AS_DONE;
}

// Reference.

static double stiffness(const nfourbar *c) {
  return c->g / c->L * (0.5 * (c->N + 1) + c->N) / ((c->N + 1) / 3.0 + c->N);
}

/// y = (psi, psi')
static void angle_rhs(double t, const double *y, double *dy, const void *context) {
  (void)t;
  dy[0] = y[1];
  dy[1] = stiffness(context) * sin(y[0]);
}

static void angle_at(const test_problem *p, double t, double *y) {
  y[0] = 0.0;
  y[1] = 1.0;
  reference_ode(angle_rhs, p->def.user, 2, p->t0, t, 0.05, y);
}

void loops_nfourbar_angle(const test_problem *p, double t, double *psi, double *rate) {
  double y[2];
  angle_at(p, t, y);
  *psi = y[0];
  *rate = y[1];
}

/// Writes what a rod's centre and angle are, unless `to` is NULL.
static void put_rod(double *to, int rod, double x, double y, double phi) {
  if (to != NULL) reference_put(to + 3 * rod, (double[]){x, y, phi}, 3);
}

static void put_lambda(const nfourbar *c, double psi, double bend, const double a[2],
                       double *lambda) {
  const double m = c->m, L = c->L, up = m * (a[1] + c->g);
  double before = 0.0; // F_rx of the coupler before
  for (int i = 0; i <= c->N; ++i) {
    const double Ty = i == 0 || i == c->N ? -up / 2.0 : -up;
    const double Tx = (m * L / 3.0 * bend - (m * c->g / 2.0 - Ty) * sin(psi)) / cos(psi);
    double *row = lambda + 6 * i;
    row[0] = Tx - m * a[0] / 2.0; // the tip moves twice as far as the centre
    row[1] = Ty - m * (a[1] / 2.0 + c->g);
    if (i == c->N) break;
    row[2] = -Tx - before;
    row[3] = up / 2.0;
    before = m * a[0] - row[2];
    row[4] = -before; // the coupler's end counts with +: it is pulled by -lambda
    row[5] = -up / 2.0;
  }
}

static void exact(const test_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda) {
  const nfourbar *c = p->def.user;
  double y[2];
  angle_at(p, t, y);
  const double w = y[1], bend = stiffness(c) * sin(y[0]);
  const double s = c->L * sin(y[0]), k = c->L * cos(y[0]);
  const double a[2] = {k * bend - s * w * w, -s * bend - k * w * w}; // of the tips
  for (int i = 0; i <= c->N; ++i) {
    const double pin = i * c->L;
    put_rod(q, 2 * i, pin + s / 2.0, k / 2.0, 1.5707963267948966 - y[0]);
    put_rod(v, 2 * i, k * w / 2.0, -s * w / 2.0, -w);
    put_rod(vdot, 2 * i, a[0] / 2.0, a[1] / 2.0, -bend);
    if (i == c->N) break;
    put_rod(q, 2 * i + 1, pin + s + c->L / 2.0, k, 0.0);
    put_rod(v, 2 * i + 1, k * w, -s * w, 0.0);
    put_rod(vdot, 2 * i + 1, a[0], a[1], 0.0);
  }
  if (lambda != NULL) put_lambda(c, y[0], bend, a, lambda);
}

static double energy(const test_problem *p, const double *q, const double *v) {
  const nfourbar *c = p->def.user;
  double sum = 0.0;
  for (int b = 0; b <= 2 * c->N; ++b, q += 3, v += 3)
    sum +=
        c->m * ((v[0] * v[0] + v[1] * v[1] + c->L * c->L / 12.0 * v[2] * v[2]) / 2.0 + c->g * q[1]);
  return sum;
}

static void give_patterns(test_problem *p, int N) {
  const int n = 3 * (2 * N + 1);
  const nfourbar *c = p->def.user;
  place_list M = {0}, F_Q = {0}, G_Q = {0}, GDOT_Q = {0};
  for (int j = 0; j < n; ++j) places_add(&M, j, j, 1, 1);
  for (int i = 0; i <= N; ++i)
    for (int k = 0; k < n_ends(c, i); ++k) {
      const rod_end e = end_of(i, k);
      const int angle = 3 * e.rod + 2;
      places_add(&G_Q, e.row, angle - 2, 1, 1);
      places_add(&G_Q, e.row + 1, angle - 1, 1, 1);
      places_add(&G_Q, e.row, angle, 2, 1);
      places_add(&GDOT_Q, e.row, angle, 2, 1);
      places_add(&F_Q, angle, angle, 1, 1);
    }
  places_give(&M, p, AS_BLOCK_M, n);
  places_give(&F_Q, p, AS_BLOCK_F_Q, n);
  places_give(&G_Q, p, AS_BLOCK_G_Q, n);
  places_give(&GDOT_Q, p, AS_BLOCK_GDOT_Q, n);
  p->def.block[AS_BLOCK_F_V].source = AS_BLOCK_ZERO;
}

test_problem *loops_nfourbar(int N) {
  test_problem *p = loops_new("nfourbar");
  nfourbar *c = loops_take(p, 1, sizeof *c);
  as_space_part *part = loops_take(p, 1, sizeof *part);
  const int n = 3 * (2 * N + 1);
  int *body = loops_take(p, (size_t)n, sizeof *body);
  double *q0 = loops_take(p, 2 * (size_t)n, sizeof *q0), *v0 = q0 + n;
  *c = (nfourbar){.N = N, .m = 1.0, .L = 1.0, .g = 9.81};
  *part = (as_space_part){AS_SPACE_RN, n};
  for (int j = 0; j < n; ++j) body[j] = j / 3;
  as_problem_def *def = &p->def;
  def->cookie = as_default_problem_def().cookie;
  def->parts = part;
  def->n_parts = 1;
  def->n_lambda = 6 * N + 2;
  def->mass_constant = true;
  def->scleronomic = true;
  def->mass = mass;
  def->force = force;
  def->constraint = constraint;
  def->constraint_rate = constraint_rate;
  def->constraint_acceleration = constraint_acceleration;
  def->jacobian = jacobian;
  def->body = body;
  def->time_scale = 0.3;
  def->user = c;
  give_patterns(p, N);
  p->t_end = 2.0;
  p->exact = exact;
  p->energy = energy;
  exact(p, 0.0, q0, v0, NULL, NULL);
  p->q0 = q0;
  p->v0 = v0;
  return p;
}

test_problem *loops_nfourbar_off(int N, const double offset[2]) {
  test_problem *p = loops_nfourbar(N);
  nfourbar *c = p->def.user;
  p->name = "nfourbar_off";
  p->exact = NULL;
  c->offset[0] = offset[0];
  c->offset[1] = offset[1];
  return p;
}
