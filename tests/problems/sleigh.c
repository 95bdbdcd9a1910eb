/// A sleigh in the plane: a body on a knife edge, which glides along its heading but not sideways.
/// q = (x, y, theta): the centre of mass and the heading; the edge touches at a distance a behind.
///
///     M = diag(m, m, J)     f0 = (m slope, 0, 0)
///     0 = k = -sin(theta) (x' - U1) + cos(theta) (y' - U2) - a theta'
///
/// The plane itself moves with the velocity U = (A cos(W t), B sin(2 W t)) and is inclined along x.
/// -psi is the force on the edge, to the left.
///
/// Reference: along the heading e and the normal n, with the edge's velocity u e + s n, s = n.U,
///
///     u' = slope cos(theta) + (s + a w) w
///     (J/m + a^2) w' = -a (u w + s' + slope sin(theta)),    s' = n.U' - w e.U
///     -psi = m (u w + s' + a w' + slope sin(theta)),        edge' = u e + s n
///
/// Chaplygin's sleigh (slope = 0, U = 0) has the closed form u = h tanh(c), w = h/(k cosh(c)),
/// c = a h t/k^2 + atanh(u0/h), theta = (k/a)(gd(c) - gd(c0)), gd(c) = atan(sinh(c)), with
/// k^2 = J/m + a^2 and h^2 = u^2 + k^2 w^2; its place is a quadrature.
#include <math.h>

#include "problems/nonholonomic.h"
#include "problems/reference_ode.h"

typedef struct sleigh {
  double m;         ///< [kg]
  double J;         ///< about the centre of mass [kg m^2]
  double a;         ///< from the edge to the centre of mass [m]
  double slope;     ///< acceleration down the plane, along x [m/s^2]
  double speed[2];  ///< A, B of the plane [m/s]
  double frequency; ///< W of the plane [rad/s]
} sleigh;

/// U and U'
static void plane(const sleigh *c, double t, double *U, double *rate) {
  double W = c->frequency;
  U[0] = c->speed[0] * cos(W * t);
  U[1] = c->speed[1] * sin(2.0 * W * t);
  rate[0] = -c->speed[0] * W * sin(W * t);
  rate[1] = c->speed[1] * 2.0 * W * cos(2.0 * W * t);
}

static int mass(const as_point *at, as_matrix *m, void *user) {
  (void)at;
  const sleigh *c = user;
  as_matrix_add(m, 0, 0, c->m);
  as_matrix_add(m, 1, 1, c->m);
  as_matrix_add(m, 2, 2, c->J);
  return AS_DONE;
}

static int force(const as_point *at, double *out, void *user) {
  (void)at;
  const sleigh *c = user;
  out[0] = c->m * c->slope;
  out[1] = 0.0;
  out[2] = 0.0;
  return AS_DONE;
}

static int nonholonomic(const as_point *at, double *out, void *user) {
  const sleigh *c = user;
  double U[2], rate[2];
  plane(c, at->t, U, rate);
  out[0] = -sin(at->q[2]) * (at->v[0] - U[0]) + cos(at->q[2]) * (at->v[1] - U[1]) - c->a * at->v[2];
  return AS_DONE;
}

/// dk/dtheta
static double turn(const double *U, const double *q, const double *v) {
  return -cos(q[2]) * (v[0] - U[0]) - sin(q[2]) * (v[1] - U[1]);
}

static int nonholonomic_acceleration(const as_point *at, double *out, void *user) {
  double U[2], rate[2];
  plane(user, at->t, U, rate);
  out[0] = turn(U, at->q, at->v) * at->v[2] + sin(at->q[2]) * rate[0] - cos(at->q[2]) * rate[1];
  return AS_DONE;
}

static int jacobian(const as_point *at, as_block_set wanted, as_matrix *blocks, void *user) {
  const sleigh *c = user;
  double s = sin(at->q[2]), k = cos(at->q[2]);
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_F_Q)) { // of -k_v^T psi
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 0, 2, k * at->psi[0]);
    as_matrix_add(&blocks[AS_BLOCK_F_Q], 1, 2, s * at->psi[0]);
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_Q)) {
    double U[2], rate[2];
    plane(c, at->t, U, rate);
    as_matrix_add(&blocks[AS_BLOCK_K_Q], 0, 2, turn(U, at->q, at->v));
  }
  if (wanted & AS_BLOCK_BIT(AS_BLOCK_K_V)) {
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 0, -s);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 1, k);
    as_matrix_add(&blocks[AS_BLOCK_K_V], 0, 2, -c->a);
  }
  return AS_DONE;
}

// Reference.

/// The motion in the edge's own terms.
typedef struct edge {
  double x, y, theta, u, w;
  double udot, wdot;
  double s, sdot;
} edge;

/// Accelerations, s and s' from theta, u and w.
static void edge_accelerations(const sleigh *c, double t, edge *o) {
  double U[2], rate[2], s = sin(o->theta), k = cos(o->theta);
  plane(c, t, U, rate);
  o->s = -s * U[0] + k * U[1];
  o->sdot = -s * rate[0] + k * rate[1] - o->w * (k * U[0] + s * U[1]);
  o->udot = c->slope * k + (o->s + c->a * o->w) * o->w;
  o->wdot = -c->a * (o->u * o->w + o->sdot + c->slope * s) / (c->J / c->m + c->a * c->a);
}

static void put_edge(const sleigh *c, const edge *o, double *q, double *v, double *vdot,
                     double *psi) {
  double s = sin(o->theta), k = cos(o->theta), a = c->a;
  // The centre of mass: velocity and acceleration along e and n.
  double ve = o->u, vn = o->s + a * o->w;
  double ae = o->udot - vn * o->w, an = o->sdot + a * o->wdot + o->u * o->w;
  reference_put(q, (double[]){o->x + a * k, o->y + a * s, o->theta}, 3);
  reference_put(v, (double[]){k * ve - s * vn, s * ve + k * vn, o->w}, 3);
  reference_put(vdot, (double[]){k * ae - s * an, s * ae + k * an, o->wdot}, 3);
  reference_put(psi, (double[]){-c->m * (an + c->slope * s)}, 1);
}

static edge edge_start(const nonholonomic_problem *p) {
  const sleigh *c = p->def.user;
  const double *q = p->q0, *v = p->v0;
  double s = sin(q[2]), k = cos(q[2]);
  return (edge){.x = q[0] - c->a * k,
                .y = q[1] - c->a * s,
                .theta = q[2],
                .u = k * v[0] + s * v[1],
                .w = v[2]};
}

/// y = (x, y, theta, u, w)
static void edge_rhs(double t, const double *y, double *dy, const void *context) {
  edge o = {.theta = y[2], .u = y[3], .w = y[4]};
  edge_accelerations(context, t, &o);
  dy[0] = cos(y[2]) * o.u - sin(y[2]) * o.s;
  dy[1] = sin(y[2]) * o.u + cos(y[2]) * o.s;
  dy[2] = o.w;
  dy[3] = o.udot;
  dy[4] = o.wdot;
}

static void exact(const nonholonomic_problem *p, double t, double *q, double *v, double *vdot,
                  double *lambda, double *psi) {
  (void)lambda;
  const sleigh *c = p->def.user;
  edge o = edge_start(p);
  double y[] = {o.x, o.y, o.theta, o.u, o.w};
  reference_ode(edge_rhs, c, 5, p->t0, t, 0.05, y);
  o = (edge){.x = y[0], .y = y[1], .theta = y[2], .u = y[3], .w = y[4]};
  edge_accelerations(c, t, &o);
  put_edge(c, &o, q, v, vdot, psi);
}

// Chaplygin's closed form.

typedef struct chaplygin {
  double a, k, h, c0, theta0, t0;
} chaplygin;

static void chaplygin_at(const chaplygin *f, double t, double *theta, double *u, double *w) {
  double c = f->c0 + f->a * f->h * (t - f->t0) / (f->k * f->k);
  *u = f->h * tanh(c);
  *w = f->h / (f->k * cosh(c));
  *theta = f->theta0 + f->k / f->a * (atan(sinh(c)) - atan(sinh(f->c0)));
}

/// y = (x, y): the quadrature.
static void place_rhs(double t, const double *y, double *dy, const void *context) {
  (void)y;
  double theta, u, w;
  chaplygin_at(context, t, &theta, &u, &w);
  dy[0] = u * cos(theta);
  dy[1] = u * sin(theta);
}

static void chaplygin_exact(const nonholonomic_problem *p, double t, double *q, double *v,
                            double *vdot, double *lambda, double *psi) {
  (void)lambda;
  const sleigh *c = p->def.user;
  edge o = edge_start(p);
  double k = sqrt(c->J / c->m + c->a * c->a), h = hypot(o.u, k * o.w);
  chaplygin f = {.a = c->a, .k = k, .h = h, .c0 = atanh(o.u / h), .theta0 = o.theta, .t0 = p->t0};
  double place[] = {o.x, o.y};
  reference_ode(place_rhs, &f, 2, p->t0, t, 0.05, place);
  o.x = place[0];
  o.y = place[1];
  chaplygin_at(&f, t, &o.theta, &o.u, &o.w);
  edge_accelerations(c, t, &o);
  put_edge(c, &o, q, v, vdot, psi);
}

static double energy(const nonholonomic_problem *p, const double *q, const double *v) {
  (void)q;
  const sleigh *c = p->def.user;
  return 0.5 * c->m * (v[0] * v[0] + v[1] * v[1]) + 0.5 * c->J * v[2] * v[2];
}

// Instances.

static const as_space_part space[] = {{AS_SPACE_RN, 3}};

#define SLEIGH(parameters)                                                                         \
  .parts = space, .n_parts = 1, .n_psi = 1, .mass_constant = true, .mass = mass, .force = force,   \
  .nonholonomic = nonholonomic, .nonholonomic_acceleration = nonholonomic_acceleration,            \
  .jacobian = jacobian,                                                                            \
  .block = {[AS_BLOCK_F_Q] = {.source = AS_BLOCK_GIVEN},                                           \
            [AS_BLOCK_F_V] = {.source = AS_BLOCK_ZERO},                                            \
            [AS_BLOCK_K_Q] = {.source = AS_BLOCK_GIVEN},                                           \
            [AS_BLOCK_K_V] = {.source = AS_BLOCK_GIVEN}},                                          \
  .time_scale = 0.5, .user = &(parameters)

const nonholonomic_problem *nonholonomic_sleigh(void) {
  static sleigh parameters = {.m = 1.0, .J = 0.5, .a = 0.3};
  static const double q0[] = {0.3, 0.0, 0.0}; // the edge at 0, u = 1, w = 2
  static const double v0[] = {1.0, 0.6, 2.0};
  static nonholonomic_problem problem = {
      .name = "sleigh",
      .def = {SLEIGH(parameters), .scleronomic = true},
      .t0 = 0.0,
      .t_end = 10.0,
      .q0 = q0,
      .v0 = v0,
      .exact = chaplygin_exact,
      .energy = energy,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}

const nonholonomic_problem *nonholonomic_sleigh_moving(void) {
  static sleigh parameters = {
      .m = 1.5, .J = 0.4, .a = 0.2, .slope = 2.0, .speed = {0.8, 0.5}, .frequency = 1.3};
  // Heading (0.6, 0.8), along which the edge runs with 1; U(0) = (0.8, 0), so s = -0.64; w = 0.7.
  static const double q0[] = {0.0, 0.0, 0.9272952180016122};
  static const double v0[] = {1.0, 0.5, 0.7};
  static nonholonomic_problem problem = {
      .name = "sleigh_moving",
      .def = {SLEIGH(parameters)},
      .t0 = 0.0,
      .t_end = 3.0,
      .q0 = q0,
      .v0 = v0,
      .exact = exact,
  };
  problem.def.cookie = as_default_problem_def().cookie;
  return &problem;
}
